/* SPDX-License-Identifier: Apache-2.0
 * gpu_fft_predict.c - what correlations by Fourier transforms will count on a GPU.
 *
 * All pairs of tiles do the same but where they meet the arrays and where columns beyond their outputs are left out. So one pair's passes are walked here, warp by
 * warp, under the card's rules (gpu/predict.c), for each number of wanted columns that comes up, and counted as often as it does; and each tile's
 * runs in the arrays, once for all tiles that lie alike. Of a butterfly's points only the first is looked at: the others lie in the same banks, turned round.
 * Predicted for arrays whose first element lies at a sector, axes that lie forwards. */
#include "ops/correlate/gpu_fft_predict.h"

static fft_axis axis_with(int64_t n, int64_t side) {
    fft_axis a = {.n = n, .side = side, .head = n >= 32, .middle = n >= 256, .m = n / 8};
    a.step = a.middle ? a.m / 8 : 1;
    a.last = a.middle ? a.step : a.head ? a.m : n;
    a.first = a.last == 32 ? 8 : a.last == 16 ? 4 : 1;
    a.radix = a.first > 1 ? 4 : a.last;
    a.inner = a.head ? 7 * a.m * side : 0;
    a.tail = a.inner + (a.middle ? 7 * a.step * side : 0);
    a.least = a.tail + (a.first - 1) * (a.last / a.first) * side;
    return a;
}
static int64_t place(const fft_axis *a, int64_t j) { return j / a->step * a->m + j % a->step; }

typedef enum part { HEAD, MIDDLE, TAIL } part;
static int64_t points(const fft_axis *a, part which) { return which == TAIL ? a->last : 8; }
static int64_t items(const fft_axis *a, part which) { return a->n / points(a, which); }

/* What a warp's lanes work at: a column or row, and the number of its butterfly; -1: nothing. */
typedef struct lanes {
    int64_t along[32], number[32], active;
} lanes;

/* Items first .. first + 31 of a pass over `across` columns or rows, those from `wanted` on left out. */
static lanes take(int64_t first, int64_t across, int64_t count, int64_t wanted) {
    lanes l = {.active = 0};
    for (int i = 0; i < 32; i++) {
        const bool on = first + i < across * count && (first + i) % across < wanted;
        l.along[i] = on ? (first + i) % across : -1;
        l.number[i] = on ? (first + i) / across : -1;
        l.active += on;
    }
    return l;
}

/* ---- requests ---- */

/* `count` accesses of points, the first as given, the others all as far on in every lane. */
static void shared(fft_walk *w, const int64_t *point, int64_t count, bool store) {
    tess_gpu_shared_cost cost = {0, 0, 0};
    int32_t address[32];
    const double times = (double)count * w->times;
    for (int i = 0; i < 32; i++)
        address[i] = point[i] < 0 ? -1 : (int32_t)(point[i] * w->number);
    tess_gpu_shared_request(&cost, address, (int)w->number, store);
    *(store ? &w->sum->shared_st_requests : &w->sum->shared_ld_requests) += cost.requests * times;
    *(store ? &w->sum->shared_st_wavefronts : &w->sum->shared_ld_wavefronts) += cost.wavefronts * times;
    *(store ? &w->sum->shared_st_conflicts : &w->sum->shared_ld_conflicts) += cost.conflicts * times;
}

/* Accesses of what is the same for all lanes, or of one lane. */
static void plain_shared(fft_walk *w, int64_t count, bool store) {
    *(store ? &w->sum->shared_st_requests : &w->sum->shared_ld_requests) += (double)count * w->times;
    *(store ? &w->sum->shared_st_wavefronts : &w->sum->shared_ld_wavefronts) += (double)count * w->times;
}

static void barriers(fft_walk *w, int64_t threads, int count) { w->sum->barriers += (double)(threads / 32 * count) * w->times; }

/* ---- butterflies ---- */

enum { FLOPS_4 = 16, FLOPS_8 = 60, FLOPS_TURN = 6, FLOPS_PRODUCT = 6, FLOPS_ADD_PRODUCT = 8 };

/* Loads of the roots of results 1 .. radix - 1, lists of `count`, by the lanes at their places of them. */
static void roots(fft_walk *w, int64_t table, int radix, int64_t count, const int64_t *at) {
    for (int q = 1; q < radix; q++) {
        int64_t byte[32];
        for (int i = 0; i < 32; i++)
            byte[i] = at[i] < 0 ? -1 : (table + (q - 1) * count + at[i]) * w->number;
        tess_correlate_fft_count_global(w, byte, false);
    }
}

/* The tail's level of blocks of radix * m points: lanes that work at `side`, all of a block's roots. A list serves all blocks. */
static void level(fft_walk *w, const fft_axis *a, const int64_t *side, int64_t active, int64_t table, int radix, int64_t m, bool read) {
    const bool turned = m * a->side > 1;
    w->sum->flops += w->times * (double)(active * (a->last / radix) * ((radix == 4 ? FLOPS_4 : FLOPS_8) + (turned ? (radix - 1) * FLOPS_TURN : 0)));
    for (int64_t j = 0; turned && read && j < m; j++) {
        int64_t at[32];
        for (int i = 0; i < 32; i++)
            at[i] = side[i] < 0 ? -1 : j * a->side + side[i];
        roots(w, table, radix, m * a->side, at);
    }
}

/* Arithmetic and, with `read`, roots of what the lanes transform. A stripe's first column has its roots at a sector's start, as the first of all has. */
static void butterflies(fft_walk *w, const fft_axis *a, part which, const lanes *l, bool read) {
    const int64_t before = a == &w->rows ? w->tables.rows / w->number : 0;
    int64_t side[32], at[32];
    for (int i = 0; i < 32; i++) {
        side[i] = l->number[i] < 0 ? -1 : a->side > 1 ? l->along[i] : 0;
        at[i] = l->number[i] < 0 ? -1 : (which == MIDDLE ? l->number[i] % a->step : l->number[i]) * a->side + side[i];
    }
    if (which == TAIL) {
        if (a->first > 1)
            level(w, a, side, l->active, before + a->tail, (int)a->first, a->last / a->first, read);
        level(w, a, side, l->active, before + a->least, (int)a->radix, 1, read);
        return;
    }
    const int64_t lists = (which == HEAD ? a->m : a->step) * a->side;
    w->sum->flops += w->times * (double)(l->active * (FLOPS_8 + (lists > 1 ? 7 * FLOPS_TURN : 0)));
    if (lists > 1)
        roots(w, before + (which == HEAD ? 0 : a->inner), 8, lists, at);
}

/* The product of the rows' tails with the spectrum. */
static void products(fft_walk *w, const lanes *l, bool first) {
    for (int64_t i = 0; i < w->rows.last; i++) {
        int64_t byte[32];
        for (int k = 0; k < 32; k++)
            byte[k] = l->number[k] < 0 ? -1 : w->tables.spectrum + ((l->number[k] * w->rows.last + i) * w->fft->a + l->along[k]) * w->number;
        tess_correlate_fft_count_global(w, byte, false);
    }
    w->sum->flops += w->times * (double)(l->active * w->rows.last * (first ? FLOPS_PRODUCT : FLOPS_ADD_PRODUCT));
}

/* ---- passes ---- */

/* Where a point of the grid stands in shared memory. */
typedef int64_t standing(const fft_walk *w, int64_t row, int64_t column);

/* A pass over the columns (rows) of the axis in shared memory. */
static void pass(fft_walk *w, const fft_axis *a, part which, standing *at, int64_t across, int64_t wanted, bool gets, bool puts) {
    for (int64_t first = 0; first < across * items(a, which); first += 32) {
        const lanes l = take(first, across, items(a, which), wanted);
        int64_t point[32];
        for (int i = 0; i < 32; i++) {
            const int64_t n = l.number[i], from = which == HEAD ? n : which == MIDDLE ? place(a, n) : n * a->last;
            point[i] = n < 0 ? -1 : a == &w->columns ? at(w, from, l.along[i]) : at(w, l.along[i], from);
        }
        if (gets)
            shared(w, point, points(a, which), false);
        butterflies(w, a, which, &l, true);
        if (puts)
            shared(w, point, points(a, which), true);
    }
}

/* The rows' tails there and back, with the product between. Roots are read once, the same for all items: by a thread's first, where there is one piece. */
static void middle_of_rows(fft_walk *w, standing *at, int64_t across, int64_t threads, bool first, bool last) {
    const fft_axis *a = &w->rows;
    for (int64_t item = 0; item < across * items(a, TAIL); item += 32) {
        const lanes l = take(item, across, items(a, TAIL), across);
        int64_t point[32];
        for (int i = 0; i < 32; i++)
            point[i] = l.number[i] < 0 ? -1 : at(w, l.along[i], l.number[i] * a->last);
        shared(w, point, a->last, false);
        butterflies(w, a, TAIL, &l, item < threads || w->fft->pieces > 1);
        products(w, &l, first);
        if (!first)
            shared(w, point, a->last, false);
        if (last)
            butterflies(w, a, TAIL, &l, false);
        shared(w, point, a->last, true);
    }
}

/* Of the pair in shared memory: what one warp writes of both tiles, what each warp reads of it for points and for outputs. */
enum { PAIR_STORES = 7, PLANE_READS = 10, LINE_READS = 8, GIVE_READS = 4 };
static void read_pair(fft_walk *w, int64_t threads) { plain_shared(w, threads / 32 * (w->fft->plane ? PLANE_READS : LINE_READS), false); }

/* ---- one launch ---- */

static int64_t in_tile(const fft_walk *w, int64_t row, int64_t column) { return row * (w->fft->b + 1) + column; }

static void tile_pair(fft_walk *w, int64_t wanted) {
    const tess_correlate_fft *fft = w->fft;
    const fft_axis *c = &w->columns, *r = &w->rows;
    const int64_t threads = tess_correlate_fft_tile_block(w->p).threads, a = fft->a, b = fft->b;
    for (int64_t piece = 0; piece < fft->pieces; piece++) {
        plain_shared(w, PAIR_STORES, true);
        read_pair(w, threads);
        if (c->head)
            pass(w, c, HEAD, in_tile, b, b, false, true);
        if (c->middle)
            pass(w, c, MIDDLE, in_tile, b, b, true, true);
        pass(w, c, TAIL, in_tile, b, b, c->head, true);
        if (r->head)
            pass(w, r, HEAD, in_tile, a, a, true, true);
        if (r->middle)
            pass(w, r, MIDDLE, in_tile, a, a, true, true);
        middle_of_rows(w, in_tile, a, threads, piece == 0, piece == fft->pieces - 1);
        barriers(w, threads, 3 + c->head + c->middle + r->head + r->middle);
    }
    if (r->middle)
        pass(w, r, MIDDLE, in_tile, a, a, true, true);
    if (r->head)
        pass(w, r, HEAD, in_tile, a, a, true, true);
    pass(w, c, TAIL, in_tile, b, wanted, true, c->head);
    if (c->middle)
        pass(w, c, MIDDLE, in_tile, b, wanted, true, true);
    if (c->head)
        pass(w, c, HEAD, in_tile, b, wanted, true, false);
    plain_shared(w, threads / 32 * (GIVE_READS + (fft->plane ? 2 : 0)), false);
    barriers(w, threads, c->head + c->middle + r->head + r->middle);
}

/* ---- three launches ---- */

static int64_t gap(const fft_walk *w, int64_t across, const fft_axis *a, int64_t at) { return across * w->number < 128 ? at / a->last : 0; }
static int64_t in_stripe(const fft_walk *w, int64_t row, int64_t column) {
    return (row + gap(w, w->stripe.across, &w->columns, row)) * w->stripe.across + column;
}
static int64_t in_bundle(const fft_walk *w, int64_t row, int64_t column) {
    const int64_t across = w->bundle.across, b = w->fft->b,
                  pitch = b + gap(w, across, &w->rows, b) + (across * w->number < 128 ? 128 / w->number / across : 1);
    return row * pitch + column + gap(w, across, &w->rows, column);
}

/* The columns' tails between a stripe and the workspace; the first column of a stripe begins a sector there. */
static void room_of_columns(fft_walk *w, bool store, int64_t wanted) {
    const int64_t across = w->stripe.across, count = items(&w->columns, TAIL);
    for (int64_t first = 0; first < across * count; first += 32) {
        const lanes l = take(first, across, count, wanted);
        for (int64_t i = 0; i < w->columns.last; i++) {
            int64_t byte[32];
            for (int k = 0; k < 32; k++)
                byte[k] = l.number[k] < 0 ? -1 : ((l.number[k] * w->columns.last + i) * w->fft->b + l.along[k]) * w->number;
            tess_correlate_fft_count_global(w, byte, store);
        }
    }
}

/* The rows' heads between a bundle and the workspace, where lanes lie along the row; wanted: columns. */
static void heads_of_rows(fft_walk *w, bool back, int64_t wanted) {
    const int64_t m = w->rows.m, across = w->bundle.across;
    for (int64_t first = 0; first < across * m; first += 32) {
        lanes l = {.active = 0};
        int64_t point[32];
        for (int k = 0; k < 32; k++) {
            const bool on = first + k < across * m;
            l.along[k] = on ? (first + k) / m : -1;
            l.number[k] = on ? (first + k) % m : -1;
            l.active += on;
            point[k] = on ? in_bundle(w, l.along[k], l.number[k]) : -1;
        }
        shared(w, point, 8, !back);
        butterflies(w, &w->rows, HEAD, &l, true);
        for (int q = 0; q < 8; q++) {
            int64_t byte[32];
            for (int k = 0; k < 32; k++) {
                const int64_t c = l.number[k] + q * m;
                byte[k] = l.number[k] < 0 || c >= wanted ? -1 : (l.along[k] * w->fft->b + c) * w->number;
            }
            tess_correlate_fft_count_global(w, byte, back);
        }
    }
}

static void stripe_forward(fft_walk *w) {
    const int64_t across = w->stripe.across, b = w->fft->b;
    const fft_axis *c = &w->columns;
    plain_shared(w, PAIR_STORES, true);
    read_pair(w, tess_min64(w->stripe.threads, across * c->m));
    pass(w, c, HEAD, in_stripe, across, b, false, true);
    if (c->middle)
        pass(w, c, MIDDLE, in_stripe, across, b, true, true);
    pass(w, c, TAIL, in_stripe, across, b, true, false);
    room_of_columns(w, true, b);
    barriers(w, w->stripe.threads, 2 + c->middle);
}

static void bundle_through(fft_walk *w, int64_t wanted) {
    const int64_t across = w->bundle.across, pieces = w->fft->pieces;
    const fft_axis *r = &w->rows;
    for (int64_t piece = 0; piece < pieces; piece++) {
        heads_of_rows(w, false, w->fft->b);
        if (r->middle)
            pass(w, r, MIDDLE, in_bundle, across, across, true, true);
        middle_of_rows(w, in_bundle, across, w->bundle.threads, piece == 0, piece == pieces - 1);
        barriers(w, w->bundle.threads, 2 + r->middle);
    }
    if (r->middle)
        pass(w, r, MIDDLE, in_bundle, across, across, true, true);
    heads_of_rows(w, true, wanted);
    barriers(w, w->bundle.threads, r->middle);
}

static void stripe_back(fft_walk *w, int64_t wanted) {
    const int64_t across = w->stripe.across;
    const fft_axis *c = &w->columns;
    plain_shared(w, PAIR_STORES, true);
    room_of_columns(w, false, wanted);
    pass(w, c, TAIL, in_stripe, across, wanted, false, true);
    if (c->middle)
        pass(w, c, MIDDLE, in_stripe, across, wanted, true, true);
    pass(w, c, HEAD, in_stripe, across, wanted, true, false);
    plain_shared(w, tess_min64(w->stripe.threads, across * c->m) / 32 * GIVE_READS, false);
    barriers(w, w->stripe.threads, 2 + c->middle);
}

static void passes_pair(fft_walk *w, int64_t wanted) {
    const int64_t across = w->stripe.across;
    const double pairs = w->times;
    w->times = pairs * (double)(w->fft->b / across * w->fft->pieces);
    stripe_forward(w);
    w->times = pairs * (double)(w->fft->a / w->bundle.across);
    bundle_through(w, wanted);
    w->times = pairs * (double)(wanted / across);
    stripe_back(w, across);
    w->times = wanted % across ? pairs : 0;
    stripe_back(w, wanted % across);
}

static bool forwards(const tess_array *array) {
    for (int d = 0; d < array->ndim; d++)
        if (array->stride[d] < 0)
            return false;
    return true;
}

static void predict(const tess_problem *base, tess_gpu_prediction *out, bool passes) {
    static const tess_gpu_device h200 = {.shared_block_optin = 232448, .shared_sm = 233472};
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const tess_gpu_device *device = out->device ? out->device : &h200;
    fft_walk w = {.sum = out, .p = p, .fft = p->fft, .number = 2 * (int64_t)tess_type_size(p->compute), .tables = tess_correlate_gpu_fft_places(p)};
    if (!forwards(&p->in) || !forwards(&p->out) || tess_is_complex(p->out.type))
        return;
#define X(name) out->name = 0;
    TESS_GPU_PREDICTION_LIST(X)
#undef X
    out->constant_requests = -1; /* the compiler reads some parameters at computed addresses */
    if (p->out.count == 0)
        return;
    w.columns = axis_with(w.fft->a, w.fft->plane ? 1 : w.fft->b);
    w.rows = axis_with(w.fft->b, 1);
    tess_correlate_fft_blocks(p, device, &w.stripe, &w.bundle);
    tess_correlate_fft_each_pair(&w, passes ? w.stripe.across : w.fft->b, passes, passes ? passes_pair : tile_pair);
}

void tess_correlate_predict_fft_tile(const tess_problem *base, tess_gpu_prediction *out) {
    static const tess_gpu_device h200 = {.shared_block_optin = 232448};
    predict(base, out, tess_correlate_fft_by_passes(base, out->device ? out->device : &h200));
}
void tess_correlate_predict_fft_passes(const tess_problem *base, tess_gpu_prediction *out) { predict(base, out, true); }
