/* SPDX-License-Identifier: Apache-2.0
 * gpu_columns_predict.c - what reduce/tree_columns will count: each row of each strip of columns is one request, wherever the rows that stand between them go in the tree.
 *
 * A strip lies as another one of its set, but for the last one, which may be narrower, and a set as another one that begins at the same place of a sector. Predicted for arrays that begin at a
 * sector. Flops: none where no order matters; of sums an addition for each row of a thread's turns, there or not, for each pair of lanes and of eight nodes in `finish`, there or not; of complex numbers two. Not of products
 * and where NaNs are left out: where rows are not there the compiler computes or not as it likes. */
#include "ops/reduce/gpu_reduce.h"

typedef struct walk {
    tess_reduce_gpu_walk nodes;
    const reduce_problem *p;
    tess_reduce_gpu_columns_shape s;
    int64_t width, batches;
} walk;

/* Whole strips of a set and the last one: what is counted of a strip of so many columns. */
static void strips(const walk *w, double sets, void (*count)(const walk *w, int64_t columns, int64_t place), int64_t place) {
    const int64_t each = 32 * w->s.vector, whole = w->width / each, rest = w->width % each;
    walk some = *w;
    some.nodes.times = sets * (double)whole;
    if (whole > 0)
        count(&some, each, place);
    some.nodes.times = sets;
    if (rest > 0)
        count(&some, rest, place);
}

/* A strip's rows in all leaves. */
static void rows(const walk *w, int64_t columns, int64_t place) {
    const int last = w->p->rank - 1;
    double begins[32] = {0};
    begins[place] = w->nodes.times;
    tess_reduce_gpu_spread(begins, w->p->size, w->p->stride[0], last);
    w->nodes.sum->global_ld_requests += w->nodes.times * (double)w->p->k;
    for (int i = 0; i < 32; i++)
        w->nodes.sum->global_ld_sectors += begins[i] * tess_gpu_run_sectors(w->p->size[last], i, w->p->stride[0][last], columns * w->nodes.size);
}

/* Rows that begin anywhere: one of a strip that begins at byte `at`, whose threads [from, to) ask for both vectors of memory that hold theirs. */
static void ragged_row(const walk *w, double times, int64_t at, int64_t from, int64_t to) {
    int64_t load[32];
    for (int second = 0; second < 2; second++) {
        for (int lane = 0; lane < 32; lane++)
            load[lane] = lane >= from && lane < to ? (at + lane * 16) / 16 * 16 + second * 16 : -1;
        tess_gpu_count_global(w->nodes.sum, times, load, 16, false);
    }
}

static void ragged_rows(const walk *w, int64_t columns, int64_t place) {
    const int64_t step = w->p->stride[0][0], threads = tess_ceil_div(columns, w->s.vector);
    for (tess_gpu_kind row = {0}; tess_gpu_next_kind(&row, w->p->k, 0, 0, 32 / tess_gcd(32, step));)
        ragged_row(w, w->nodes.times * row.times, place + row.at * step, 0, threads);
}

/* The array's last row, of which the last threads read an element at a time; where it ends whole rounds they have read what came with it in a round of their own. */
static void ragged_end(const walk *w, int64_t end) {
    const reduce_problem *p = w->p;
    const int64_t size = w->nodes.size, step = p->stride[0][0], each = 32 * w->s.vector, n = p->k - (w->s.leaves - 1) * w->s.leaf,
                  rows = tess_ceil_div(n - (n - 1) % w->s.rows, w->s.rows);
    for (int64_t column = 0; column < w->width; column += each) {
        const int64_t at = end - (w->width - column) * size, threads = tess_ceil_div(tess_min64(each, w->width - column), w->s.vector);
        int64_t whole = threads, load[32];
        while (whole > 0 && (at + (whole - 1) * 16) / 16 * 16 + 32 > end)
            whole--;
        if (whole == threads)
            continue;
        ragged_row(w, -1, at, 0, threads);
        ragged_row(w, 1, at, 0, whole);
        for (int64_t v = 0; v < w->s.vector; v++) {
            for (int lane = 0; lane < 32; lane++)
                load[lane] = lane >= whole && lane < threads && at + lane * 16 + v * size < end ? at + lane * 16 + v * size : -1;
            tess_gpu_count_global(w->nodes.sum, 1, load, size, false);
        }
        for (int64_t before = 1; rows % w->s.rounds == 0 && before < w->s.rounds; before++) {
            const int64_t other = at - before * w->s.rows * step;
            ragged_row(w, -1, other, 0, threads);
            ragged_row(w, 1, other, 0, whole);
            ragged_row(w, 1, other, whole, threads);
        }
    }
}

/* Stores of neighbouring columns, `step` bytes from one to the next, by words. */
static void any_stores(const walk *w, int64_t columns, int64_t place, int64_t step, int64_t size, int64_t words) {
    int64_t store[32];
    for (int64_t i = 0; i < columns; i += 32)
        for (int64_t word = 0; word < words; word++) {
            for (int lane = 0; lane < 32; lane++)
                store[lane] = i + lane < columns ? TESS_REDUCE_GPU_ORIGIN + place + (i + lane) * step + word * 8 : -1;
            tess_gpu_count_global(w->nodes.sum, w->nodes.times, store, size / words, true);
        }
}

/* Stores of each column of a vector, `step` bytes from one to the next, by words. */
static void stores(const walk *w, int64_t columns, int64_t place, int64_t step, int64_t size, int64_t words) {
    if (w->s.any) {
        any_stores(w, columns, place, step, size, words);
        return;
    }
    for (int64_t v = 0; v < w->s.vector; v++)
        for (int64_t word = 0; word < words; word++) {
            int64_t store[32];
            for (int lane = 0; lane < 32; lane++) {
                const int64_t column = lane * w->s.vector + v;
                store[lane] = column < columns ? TESS_REDUCE_GPU_ORIGIN + place + column * step + word * 8 : -1;
            }
            tess_gpu_count_global(w->nodes.sum, w->nodes.times, store, size / words, true);
        }
}

static void results(const walk *w, int64_t columns, int64_t place) {
    stores(w, columns, place, w->p->kept_stride[1][w->p->kept - 1], w->p->out.itemsize, 1);
}

static void partials(const walk *w, int64_t columns, int64_t place) { stores(w, columns, place, w->nodes.node, w->nodes.node, w->nodes.words); }

/* A block's warps halve their nodes in shared memory by vectors of up to 16 bytes: all but the first lay theirs down once, for another one to load. */
static void meetings(const walk *w, int64_t columns, int64_t place) {
    const int64_t all = w->nodes.node * w->s.vector, bytes = tess_gcd(all, 16);
    const double accesses = w->nodes.times * (w->s.warps - 1) * (double)(all / bytes);
    int64_t at[32];
    (void)place;
    for (int lane = 0; lane < 32; lane++)
        at[lane] = lane * w->s.vector < columns ? lane * bytes : -1;
    tess_gpu_count_shared(w->nodes.sum, accesses, at, bytes, true);
    tess_gpu_count_shared(w->nodes.sum, accesses, at, bytes, false);
}

/* What no order can change: a warp's access to shared memory, what meets at at[], of two fields one after the other (as in gpu_sets_predict.c). */
static void any_shared(const walk *w, double times, const int64_t *at, bool store) {
    const reduce_problem *p = w->p;
    const bool one = p->operation == TESS_ALL && w->s.leaves == 1 && !store;
    const bool two = (p->kind == REDUCE_ARG && p->in.itemsize > 2) || (p->kind == REDUCE_COUNT && p->omit);
    int64_t second[32];
    for (int lane = 0; lane < 32; lane++)
        second[lane] = at[lane] < 0 ? -1 : at[lane] + w->s.met / 2;
    if (!(two && p->kind == REDUCE_ARG && w->s.rows == 1 && !store)) /* the key of a single node is not asked for */
        tess_gpu_count_shared(w->nodes.sum, times, at, two ? w->s.met / 2 : w->s.met, store);
    if (two && !one)
        tess_gpu_count_shared(w->nodes.sum, times, second, w->s.leaves > 1 || tess_is_complex(p->in.type) ? 8 : 4, store);
}

/* Each warp's nodes, a vector's one by one; then a thread a column, which reads those of all warps. */
static void any_meetings(const walk *w, int64_t columns, int64_t place) {
    int64_t at[32];
    (void)place;
    for (int64_t v = 0; v < w->s.vector; v++) {
        for (int lane = 0; lane < 32; lane++)
            at[lane] = lane * w->s.vector < columns ? tess_reduce_gpu_columns_spot(&w->s, lane * w->s.vector + v) * w->s.met : -1;
        any_shared(w, w->nodes.times * w->s.rows, at, true);
    }
    for (int64_t i = 0; i < columns; i += 32) {
        for (int lane = 0; lane < 32; lane++)
            at[lane] = i + lane < columns ? tess_reduce_gpu_columns_spot(&w->s, i + lane) * w->s.met : -1;
        any_shared(w, w->nodes.times * w->s.rows, at, false);
    }
}

/* A thread a column, whose leaves' nodes lie a set's width apart. */
static void finish(const walk *w) {
    const reduce_problem *p = w->p;
    const int64_t begin = TESS_REDUCE_GPU_ORIGIN + tess_reduce_gpu_below(p, 1);
    for (int64_t first = 0; first < p->outputs; first += 32) {
        int64_t at[32];
        for (int lane = 0; lane < 32; lane++)
            at[lane] = first + lane < p->outputs ? begin + tess_reduce_gpu_place(p->kept_size, p->kept_stride[1], p->kept, first + lane) : -1;
        tess_gpu_count_global(w->nodes.sum, 1, at, p->out.itemsize, true);
        for (tess_gpu_kind leaf = {0}; tess_gpu_next_kind(&leaf, w->s.leaves, 0, 0, 32);)
            for (int64_t word = 0; word < w->nodes.words; word++) {
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t output = first + lane, node = (output / w->width * w->s.leaves + leaf.at) * w->width + output % w->width;
                    at[lane] = output < p->outputs ? node * w->nodes.node + word * 8 : -1;
                }
                tess_gpu_count_global(w->nodes.sum, leaf.times, at, w->nodes.node / w->nodes.words, false);
            }
    }
}

/* Of a leaf's n elements: an addition for each of a thread's rows, there or not, and for each pair of the lanes of a class. */
static int64_t additions(const walk *w, int64_t n) {
    const int64_t turn = w->s.rows * 256, squares = w->p->map == REDUCE_SQUARE ? 2 : 1;
    int64_t taken = 0;
    for (int64_t lane = 0; lane < 64; lane++)
        taken += n > lane ? tess_ceil_div(n - lane, turn) * w->s.rows * 4 : 0;
    return taken * squares + REDUCE_LANES - w->s.split;
}

static double flops(const walk *w) {
    const reduce_problem *p = w->p;
    const bool pairs = tess_is_complex(p->in.type), end = p->operation == TESS_MEAN || p->operation == TESS_NORM2;
    if (tess_reduce_gpu_any_order(p) || p->omit || p->kind == REDUCE_PROD || (pairs && p->map != REDUCE_PLAIN))
        return tess_reduce_gpu_predict_flops(p);
    const int64_t whole = p->k / REDUCE_LEAF, rest = p->k % REDUCE_LEAF, paired = w->s.leaves > 1 ? tess_ceil_div(w->s.leaves, 8) * 8 - 1 : 0;
    return (double)p->outputs * (double)(whole * additions(w, REDUCE_LEAF) + (rest > 0 ? additions(w, rest) : 0) + paired + end) * (pairs ? 2 : 1);
}

void tess_reduce_predict_columns(const tess_problem *base, tess_gpu_prediction *out) {
    const reduce_problem *p = (const reduce_problem *)base;
    const int last = p->kept - 1;
    walk w = {.p = p, .s = tess_reduce_gpu_columns_shape_of(p), .width = p->kept_size[last]};
    double begins[32];
    w.batches = w.width > 0 ? p->outputs / w.width : 0;
    tess_reduce_gpu_count_begin(&w.nodes, p, out);
    tess_reduce_gpu_places(p, 0, last, begins);
    for (int i = 0; i < 32; i++)
        if (begins[i] > 0)
            strips(&w, begins[i], w.s.ragged ? ragged_rows : rows, i);
    if (w.s.ragged) {
        int64_t end = p->k * p->stride[0][0];
        bool in_order = p->stride[0][0] >= w.width * w.nodes.size;
        for (int d = last - 1; d >= 0; d--) { /* sets that lie apart, later ones further on */
            in_order = in_order && p->kept_stride[0][d] >= end;
            end = p->kept_size[d] * p->kept_stride[0][d];
        }
        end = w.width * w.nodes.size + (p->k - 1) * p->stride[0][0];
        for (int d = 0; d < last; d++)
            end += (p->kept_size[d] - 1) * p->kept_stride[0][d];
        if (in_order)
            ragged_end(&w, TESS_REDUCE_GPU_ORIGIN + end);
        else
            out->global_ld_requests = out->global_ld_sectors = -1;
    }
    const int64_t blocks = w.batches * w.s.leaves;
    strips(&w, (double)blocks, w.s.any ? any_meetings : meetings, 0);
    if (w.s.leaves == 1) {
        tess_reduce_gpu_places(p, 1, last, begins);
        for (int i = 0; i < 32; i++)
            if (begins[i] > 0)
                strips(&w, begins[i], results, i);
    } else {
        const int64_t step = w.width * w.nodes.node;
        for (tess_gpu_kind leaf = {0}; tess_gpu_next_kind(&leaf, blocks, 0, 0, 32 / tess_gcd(32, step));)
            strips(&w, leaf.times, partials, leaf.at * step % 32);
        finish(&w);
    }
    for (int64_t warps = w.s.any ? 2 : w.s.warps; warps > 1; warps /= 2)
        out->barriers += (double)(blocks * w.s.strips * w.s.warps);
    tess_reduce_gpu_count_end(&w.nodes, p, true);
    out->flops = flops(&w);
    if (w.s.any && p->kind == REDUCE_ARG && w.s.leaves > 1 && p->in.itemsize > 2) /* the compiler's own choice of what to load */
        out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
    if (p->kept <= 3 && p->rank == 1) /* the compiler reads sizes and steps of more axes at computed addresses */
        out->constant_requests = 0;
}
