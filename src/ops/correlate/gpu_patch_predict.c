/* SPDX-License-Identifier: Apache-2.0
 * gpu_patch_predict.c - what correlate/patch, patch_bytes and patch_separable will count, in registers (gpu_patch.cuh): each kind of warp is walked, along rows and down them, for each place within a sector at which arrays begin.
 *
 * Predicted for arrays that begin at a sector. Narrow elements in whole rows, which patch takes by way of shared memory, are gpu_patch_shared_predict.c's. */
#include <stdlib.h>

#include "ops/correlate/gpu_fast_mask.h"
#include "ops/correlate/gpu_pair.h"
#include "ops/correlate/gpu_ring_predict.h"

enum { SECTOR = 32 };

/* The names of gpu_patch.cuh, gpu_whole_rows.cuh and gpu_shifted_rows.cuh. */
typedef struct walk {
    tess_gpu_prediction *sum;
    double times;
    const tess_correlate_frame *f;
    patch_shape s;
    bool whole;
    int64_t rows, left, right, lap_left, lap_right, own;
    int64_t beside_left, beside_right, h, reach; /* of whole rows */
    int64_t near, vector;                        /* of rows that begin anywhere */
    int64_t first, y;                            /* of the warp */
} walk;

static int64_t power_above(int64_t n) { return n <= 1 ? 1 : 2 * power_above((n + 1) / 2); }

/* lapped: warps overlap (LAPPED=1). */
static walk walk_of(const tess_correlate_frame *f, patch_shape s, bool whole, bool lapped, tess_gpu_prediction *out) {
    walk w = {.sum = out, .f = f, .s = s, .whole = whole, .rows = s.rows + f->y.width - 1, .left = before(f), .right = after(f)};
    const int64_t v = s.columns;
    if (whole) {
        w.beside_left = tess_ceil_div(w.left, v);
        w.beside_right = tess_ceil_div(w.right, v);
        w.h = w.left + w.right == 0 || s.direct || lapped ? 0 : tess_max64(power_above(tess_max64(w.left, w.right)), 4 / f->in);
        w.lap_left = lapped ? w.beside_left : 0;
        w.lap_right = lapped ? w.beside_right : 0;
        w.reach = s.direct ? tess_max64(w.beside_left, w.beside_right) * v : w.h;
    } else {
        const int64_t with = tess_ceil_div(v - 1 + w.left + w.right, v), less = tess_ceil_div(v - 2 + w.left + w.right, v);
        w.near = w.left == 0 || lapped ? 0 : less < with ? w.left - 1 : w.left;
        w.vector = v * f->in;
        w.lap_left = 1 + (lapped ? tess_ceil_div(w.left, v) : 0);
        w.lap_right = lapped ? 1 + tess_ceil_div(w.right, v) : tess_ceil_div(v - 1 + w.near + w.right, v);
    }
    w.own = (32 - w.lap_left - w.lap_right) * v;
    return w;
}

static bool columns_inside(const walk *w) {
    const int64_t v = w->s.columns, n = w->f->x.n, m = w->f->x.m;
    if (w->whole)
        return w->first >= w->reach && w->first + 32 * v + w->reach <= n && w->first + (32 - w->lap_right) * v <= m;
    return w->first - w->near - (v - 1) >= 0 && w->first - w->near + 32 * v <= n && w->first + w->lap_left * v - (v - 1) >= 0 &&
           w->first + (32 - w->lap_right) * v <= m;
}
static bool columns_idle(const walk *w) { return w->first + w->lap_left * w->s.columns - (w->whole ? 0 : w->s.columns - 1) >= w->f->x.m; }
static bool writes(const walk *w, int lane) { return lane >= w->lap_left && lane < 32 - w->lap_right; }
static bool is_inside(const walk *w) {
    const int64_t top = w->y - w->f->y.before;
    return columns_inside(w) && top >= 0 && top + w->rows <= w->f->y.n && w->y + w->s.rows <= w->f->y.m;
}

/* ---- whole rows ---- */

/* Whether a window has the word of element i of vector number g from the lane's own on, or (DIRECT=0) of the edges of the warp. */
static bool is_met(const walk *w, int64_t g, int64_t i) {
    const int64_t each = tess_max64(1, 4 / w->f->in), v = w->s.columns, word = i / each * each;
    if (g == 0)
        return true;
    if (!w->s.direct)
        return word < w->right || word + each > w->h - w->left;
    return g < 0 ? g * v + word + each > -w->left : (g - 1) * v + word < w->right;
}

/* Vector number g of n elements from each lane's column x on, of the row that begins at byte `row` and is `there`. */
static void load_resolved(const walk *w, const int64_t *x, int64_t g, int64_t n, int64_t row, bool there) {
    const int64_t size = w->f->in;
    int64_t at[32];
    for (int lane = 0; lane < 32; lane++)
        at[lane] = there && x[lane] >= 0 && x[lane] + n <= w->f->x.n && n % w->s.columns == 0 ? row + x[lane] * size : -1;
    tess_gpu_count_global(w->sum, w->times, at, n * size, false);
    for (int64_t i = 0; i < n; i++) {
        int64_t element[32];
        for (int lane = 0; lane < 32; lane++)
            element[lane] = at[lane] >= 0 || !is_met(w, g, i) ? -1 : row + tess_max64(tess_correlate_frame_resolve_x(w->f, x[lane] + i), 0) * size;
        tess_gpu_count_global(w->sum, w->times, element, size, false);
    }
}

/* A row of whose elements all are read as vectors, or each by the boundary's rule. */
static void load_row(const walk *w, int64_t row, bool there, bool inside) {
    const int64_t v = w->s.columns, size = w->f->in, least = w->s.direct ? -w->beside_left : 0, most = w->s.direct ? w->beside_right : w->h > 0;
    for (int64_t g = least; g <= most; g++) {
        const bool edge = !w->s.direct && g > 0;
        const int64_t n = edge ? w->h : v;
        int64_t x[32], at[32];
        for (int lane = 0; lane < 32; lane++) {
            x[lane] = edge ? (lane < 16 ? w->first - w->reach : w->first + 32 * v) : w->first + (lane + g) * v;
            at[lane] = row + x[lane] * size;
        }
        if (inside)
            tess_gpu_count_global(w->sum, w->times, at, n * size, false);
        else
            load_resolved(w, x, g, n, row, there);
    }
}

static void load_whole(const walk *w, int64_t array) {
    const tess_correlate_frame *f = w->f;
    for (int64_t r = 0; r < w->rows; r++) {
        const int64_t y = tess_correlate_frame_resolve(f, w->y - f->y.before + r, f->y.n);
        load_row(w, array + tess_max64(y, 0) * f->y.in_stride, y >= 0, is_inside(w));
    }
}

static void store_whole(const walk *w, int64_t array) {
    const tess_correlate_frame *f = w->f;
    for (int64_t r = 0; r < w->s.rows && w->y + r < f->y.m; r++) {
        int64_t x[32], to[32];
        for (int lane = 0; lane < 32; lane++) {
            x[lane] = w->first + lane * w->s.columns;
            to[lane] = writes(w, lane) ? array + (w->y + r) * f->y.out_stride + x[lane] * f->out : -1;
        }
        tess_correlate_frame_write(w->sum, w->times, f, w->s.columns, x, to);
    }
}

/* ---- rows that begin anywhere ---- */

static int64_t down_to(int64_t n, int64_t step) { return n / step * step; }

/* Whether the vector at byte `at` reaches beyond the array that begins at byte `array`. */
static bool reaches_beyond(const walk *w, int64_t at, int64_t array) {
    const tess_correlate_frame *f = w->f;
    const int64_t last = array + (f->y.n - 1) * f->y.in_stride;
    return at < tess_min64(array, last) || at + w->vector > tess_max64(array, last) + f->x.n * f->in;
}

static void load_inside(const walk *w, int64_t row) {
    int64_t at[32];
    for (int lane = 0; lane < 32; lane++)
        at[lane] = down_to(row + (w->first + lane * w->s.columns - w->near) * w->f->in, w->vector);
    tess_gpu_count_global(w->sum, w->times, at, w->vector, false);
}

/* The row at byte `row`: vectors that meet it, the elements that stand beside it, one a lane, and those of vectors that reach beyond the array. */
static void load_ends(const walk *w, int64_t row, int64_t array, bool ends, bool corners) {
    const tess_correlate_frame *f = w->f;
    const int64_t size = f->in, v = w->s.columns, n = f->x.n, more = tess_max64(0, f->x.m - n);
    int64_t at[32], beside[32], begin[32];
    for (int lane = 0; lane < 32; lane++) {
        const int64_t x = w->first + lane * v - w->near, vector = down_to(row + x * size, w->vector),
                      from = lane < w->left ? lane - w->left : n + lane - w->left;
        const bool beyond = corners && reaches_beyond(w, vector, array), brings = ends && lane < w->left + w->right + more;
        const int64_t column = brings ? tess_correlate_frame_resolve_x(f, from) : -1;
        at[lane] = x + v > 0 && x - (v - 1) < n && !beyond ? vector : -1;
        beside[lane] = column < 0 ? -1 : row + column * size;
        begin[lane] = beyond ? (vector - row) / size : n;
    }
    tess_gpu_count_global(w->sum, w->times, at, w->vector, false);
    if (w->left + w->right > 0)
        tess_gpu_count_global(w->sum, w->times, beside, size, false);
    for (int64_t i = 0; i < v && corners; i++) {
        for (int lane = 0; lane < 32; lane++)
            at[lane] = begin[lane] + i >= 0 && begin[lane] + i < n ? row + (begin[lane] + i) * size : -1;
        tess_gpu_count_global(w->sum, w->times, at, size, false);
    }
}

static void load_shifted(const walk *w, int64_t array) {
    const tess_correlate_frame *f = w->f;
    const int64_t v = w->s.columns, top = w->y - f->y.before, step = llabs(f->y.in_stride) / f->in;
    const bool inside = is_inside(w), ends = w->first - w->near - (v - 1) < 0 || w->first - w->near + 32 * v > f->x.n,
               corners = ends && (top <= 0 || top + w->rows >= f->y.n || step < tess_max64(f->x.n, 2 * v));
    for (int64_t r = 0; r < w->rows; r++) {
        const int64_t y = tess_correlate_frame_resolve(f, top + r, f->y.n), row = array + y * f->y.in_stride;
        if (inside)
            load_inside(w, row);
        else if (y >= 0)
            load_ends(w, row, array, ends, corners);
    }
}

static void store_shifted(const walk *w, int64_t array) {
    const tess_correlate_frame *f = w->f;
    const int64_t v = w->s.columns, size = f->out, vector = tess_min64(v * size, 16);
    for (int64_t r = 0; r < w->s.rows && w->y + r < f->y.m; r++) {
        int64_t to[32], x[32], at[32], count[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t column = w->first + lane * v, place = array + (w->y + r) * f->y.out_stride + column * size;
            to[lane] = v * size >= 4 ? down_to(place, vector) : place;
            x[lane] = column - (place - to[lane]) / size;
            count[lane] = writes(w, lane) ? tess_min64(v, f->x.m - x[lane]) : 0;
        }
        for (int64_t b = 0; b < v * size; b += vector) {
            for (int lane = 0; lane < 32; lane++)
                at[lane] = v * size >= 4 && x[lane] >= 0 && count[lane] == v ? to[lane] + b : -1;
            tess_gpu_count_global(w->sum, w->times, at, vector, true);
        }
        for (int64_t i = 0; i < v; i++) {
            for (int lane = 0; lane < 32; lane++)
                at[lane] = (v * size < 4 || x[lane] < 0 || count[lane] < v) && x[lane] + i >= 0 && i < count[lane] ? to[lane] + i * size : -1;
            tess_gpu_count_global(w->sum, w->times, at, size, true);
        }
    }
}

/* ---- all of them ---- */

static void fold(double *places) {
    for (int i = SECTOR; i < FRAME_LINE; i++) {
        places[i % SECTOR] += places[i];
        places[i] = 0;
    }
}

/* `each`: operations of a warp. */
static void predict_warps(walk *w, double each) {
    const tess_correlate_frame *f = w->f;
    const int64_t height = w->s.rows, along = tess_ceil_div(f->x.m + (w->whole ? 0 : w->s.columns - 1), w->own), down = tess_ceil_div(f->y.m, height);
    const int64_t aside = tess_ceil_div(w->reach + w->near + 2 * w->s.columns, w->own) + 1, ends = 2 + tess_ceil_div(f->y.width, height);
    const int64_t step = tess_gcd(w->own * f->in, w->own * f->out), rows = tess_gcd(llabs(height * f->y.in_stride), llabs(height * f->y.out_stride));
    double in[FRAME_LINE], out[FRAME_LINE];
    tess_correlate_frame_places(f, false, in);
    tess_correlate_frame_places(f, true, out);
    fold(in);
    fold(out);
    tess_gpu_count_from_zero(w->sum);
    for (tess_gpu_kind i = {0}; tess_gpu_next_kind(&i, along, aside, aside + 2, SECTOR / tess_gcd(SECTOR, step));)
        for (tess_gpu_kind j = {0}; tess_gpu_next_kind(&j, down, ends, ends, SECTOR / tess_gcd(SECTOR, rows));) {
            w->first = i.at * w->own - w->lap_left * w->s.columns;
            w->y = j.at * height;
            if (columns_idle(w))
                continue;
            for (int k = 0; k < SECTOR; k++) {
                w->times = i.times * j.times * in[k];
                if (w->times > 0)
                    (w->whole ? load_whole : load_shifted)(w, TESS_GPU_ORIGIN + k);
                w->times = i.times * j.times * out[k];
                if (w->times > 0)
                    (w->whole ? store_whole : store_shifted)(w, TESS_GPU_ORIGIN + k);
            }
            w->sum->flops += i.times * j.times * (double)f->arrays * each;
        }
    w->sum->constant_requests = -1;
}

static void predict_patch(const tess_problem *base, tess_gpu_prediction *out, bool whole) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const tess_correlate_frame f = known_frame(base, 1);
    if (whole && p->work == tess_f32 && tess_correlate_patch_shared_takes(&f)) {
        tess_correlate_predict_patch_shared(base, out);
        return;
    }
    walk w = walk_of(&f, tess_correlate_patch_of(base, &f, whole), whole, false, out);
    const int64_t v = w.s.columns;
    const double conversions = w.s.raised ? 0 : tess_correlate_frame_conversions(&f, p->work, w.rows * (w.left + v + w.right));
    predict_warps(&w, 32 * ((double)(2 * w.s.rows * v * f.x.width * f.y.width) + conversions));
    /* Some of a window are used by none; of integers' rows that are not there the compiler leaves out some under a mask of one row; a mask of one column's last term is added where it is stored. */
    if ((conversions > 0 && (f.pass->group > v || (f.y.width == 1 && f.y.m % w.s.rows))) || (!whole && f.x.width == 1))
        out->flops = -1;
}

static void predict_bytes(const tess_problem *base, tess_gpu_prediction *out, bool whole) {
    const tess_correlate_frame f = known_frame(base, 1);
    patch_shared_shape shape;
    if (whole && tess_correlate_patch_dots_of(&shape, &f, device_meant(out))) {
        tess_correlate_predict_patch_dots(&f, &shape, out);
        return;
    }
    walk w = walk_of(&f, tess_correlate_patch_bytes_of(&f, whole), whole, false, out);
    predict_warps(&w, 0);
}

/* A list of two masks (gpu_patch_separable.cu). */
static void predict_pair(const tess_problem *base, tess_gpu_prediction *out, bool whole) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const char *why;
    tess_correlate_pair two;
    tess_correlate_pair_of(&two, base, whole, &why); /* true, because `fits` was */
    const patch_pair_shape s = tess_correlate_patch_pair_of(&two, p);
    const tess_correlate_frame *f = &two.frame;
    if (s.kernel == FLAT_LIST)
        tess_correlate_predict_flat_list(&two, &s, out);
    if (s.kernel == PATCH_LIST_ODD)
        tess_correlate_predict_patch_list_odd(&two, &s, out);
    if (s.kernel == PATCH_LIST)
        tess_correlate_predict_patch_list(&two, &s, out);
    if (s.kernel != PATCH_SEPARABLE)
        return;
    const bool rows_first = two.rows == 0;
    walk w = walk_of(f, (patch_shape){.columns = s.columns, .rows = s.rows}, whole, !rows_first, out);
    predict_warps(&w, 0);
    out->flops = -1; /* which last terms are made where results are stored, and which conversions twice, is the compiler's */
}

void tess_correlate_predict_patch_separable(const tess_problem *base, tess_gpu_prediction *out) { predict_pair(base, out, true); }
void tess_correlate_predict_patch_separable_odd(const tess_problem *base, tess_gpu_prediction *out) { predict_pair(base, out, false); }
void tess_correlate_predict_patch(const tess_problem *base, tess_gpu_prediction *out) { predict_patch(base, out, true); }
void tess_correlate_predict_patch_odd(const tess_problem *base, tess_gpu_prediction *out) { predict_patch(base, out, false); }
void tess_correlate_predict_patch_bytes(const tess_problem *base, tess_gpu_prediction *out) { predict_bytes(base, out, true); }
void tess_correlate_predict_patch_bytes_odd(const tess_problem *base, tess_gpu_prediction *out) { predict_bytes(base, out, false); }
