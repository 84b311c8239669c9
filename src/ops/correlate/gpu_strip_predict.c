/* SPDX-License-Identifier: Apache-2.0
 * gpu_strip_predict.c - what correlate/strip2d will count: the copies of a row of a block's tile are walked for each place that rows have within a line, and for each kind of block along the row.
 *
 * A row inside the array, one beyond its ends that another one stands for, and one of constants are brought in different ways (gpu_ring.cuh), and it is counted how many of each there are: rows of
 * one way that begin at the same place of a line count alike. Predicted for arrays that begin at a line. */
#include <stdlib.h>

#include "ops/correlate/gpu_fast_mask.h"

enum { LINE = FRAME_LINE };
static const int64_t origin = (int64_t)1 << 40; /* before both arrays: addresses are positive */

/* The names of gpu_ring.cuh. */
typedef struct walk {
    tess_gpu_prediction *sum;
    double times;
    const tess_correlate_frame *f;
    strip2d_shape s;
    bool whole;
    int64_t size, left, right, copy, spare, vector, read, near_left, near_right, pad_left, pad_right, tile, row;
} walk;

static walk walk_of(const tess_correlate_frame *f, const strip2d_shape *s, bool whole, tess_gpu_prediction *out) {
    walk w = {.sum = out, .times = 1, .f = f, .s = *s, .whole = whole, .size = f->in, .left = before(f), .right = after(f)};
    w.vector = 16 / w.size;
    w.copy = whole ? w.vector : w.size < 4 ? 4 / w.size : 1;
    w.spare = whole || w.size >= 4 ? 0 : w.copy;
    w.read = tess_min64(s->columns, w.vector);
    w.near_left = up_to(w.left, w.read);
    w.near_right = up_to(w.right, w.read);
    w.pad_left = up_to(w.near_left, whole ? 2 * w.vector : w.vector);
    w.tile = s->threads * s->columns;
    w.row = tess_correlate_frame_ring(f, whole, w.tile, s->columns, w.left, w.right, 0);
    w.pad_right = w.row - w.pad_left - w.tile;
    return w;
}

int64_t tess_correlate_frame_resolve(const tess_correlate_frame *f, int64_t i, int64_t n) {
    const bool below = i < 0;
    if (i >= 0 && i < n)
        return i;
    switch (f->boundary) {
    case TESS_BOUNDARY_NEAREST: i = below ? 0 : n - 1; break;
    case TESS_BOUNDARY_REFLECT: i = below ? -1 - i : 2 * n - 1 - i; break;
    case TESS_BOUNDARY_MIRROR: i = below ? -i : 2 * n - 2 - i; break;
    case TESS_BOUNDARY_WRAP: i = below ? i + n : i - n; break;
    default: return -1;
    }
    return tess_max64(0, tess_min64(i, n - 1));
}

int64_t tess_correlate_frame_resolve_x(const tess_correlate_frame *f, int64_t i) {
    const int64_t group = f->pass->group, pixel = i >= 0 ? i / group : -((group - 1 - i) / group),
                  at = tess_correlate_frame_resolve(f, pixel, f->x.n / group);
    return at < 0 ? -1 : at * group + (i - pixel * group);
}

/* ---- rows on their way in ---- */

/* copy_element() of each lane, -1 = none: narrow ones pass through a register. */
static void copy_elements(const walk *w, const int64_t *from, const int64_t *to) {
    tess_gpu_count_global(w->sum, w->times, from, w->size, false);
    if (w->size < 4)
        tess_gpu_count_shared(w->sum, w->times, to, w->size, true);
}

/* A row inside the array, which begins at byte `from`: copies of the thread's own, and the elements that no copy covers. */
static void row_inside(const walk *w, int64_t x, int64_t from) {
    const int64_t n = w->f->x.n, begin = x - w->pad_left, end = tess_min64(x + w->tile + w->pad_right, w->f->x.m + w->right);
    const int64_t loose = w->left + w->copy + w->spare + w->left + w->right,
                  uncovered = w->spare ? tess_max64(n / w->copy * w->copy - w->spare, 0) : n / w->copy * w->copy;
    for (int64_t first = 0; first * w->copy < w->row; first += 32) {
        int64_t copy[32], to[32], next[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t at = (first + lane) * w->copy;
            const bool inside = at < w->row && begin + at >= 0 && begin + at + w->copy + w->spare <= n;
            copy[lane] = inside ? from + (begin + at) * w->size : -1;
            to[lane] = inside ? at * w->size : -1;
            if (w->spare) { /* a word made of the two that it lies across */
                copy[lane] = inside ? copy[lane] / 4 * 4 : -1;
                next[lane] = inside ? copy[lane] + 4 : -1;
            }
        }
        if (w->whole) {
            tess_gpu_count_copies(w->sum, w->times, copy, to);
        } else {
            tess_gpu_count_global(w->sum, w->times, copy, w->spare ? 4 : w->size, false);
            if (w->spare) {
                tess_gpu_count_global(w->sum, w->times, next, 4, false);
                tess_gpu_count_shared(w->sum, w->times, to, 4, true);
            }
        }
    }
    for (int64_t first = 0; first < loose; first += 32) {
        int64_t element[32], to[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t i = first + lane, column = i < w->left ? i - w->left : tess_max64(uncovered, begin) + i - w->left;
            const bool there = i < loose && column >= begin && column < end && tess_correlate_frame_resolve_x(w->f, column) >= 0;
            element[lane] = there ? from + tess_correlate_frame_resolve_x(w->f, column) * w->size : -1;
            to[lane] = there ? (column - begin) * w->size : -1;
        }
        copy_elements(w, element, to);
    }
}

/* copy_anywhere() of a row: vectors where they lie inside, else one element after another; `there`: it is none of constants. */
static void row_anywhere(const walk *w, int64_t x, int64_t from, bool there) {
    const int64_t n = w->f->x.n, step = w->whole ? w->vector : 1;
    for (int64_t first = 0; first * step < w->row; first += 32) {
        int64_t copy[32], to[32], element[32], ghost[32], column[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t at = (first + lane) * step;
            column[lane] = x - w->pad_left + at;
            const bool inside = w->whole && at < w->row && there && column[lane] >= 0 && column[lane] + step <= n;
            copy[lane] = inside ? from + column[lane] * w->size : -1;
            to[lane] = at < w->row ? at * w->size : -1;
        }
        tess_gpu_count_copies(w->sum, w->times, copy, to);
        for (int64_t i = 0; i < step; i++) {
            int64_t place[32];
            for (int lane = 0; lane < 32; lane++) {
                const bool single = to[lane] >= 0 && copy[lane] < 0;
                const int64_t at = single && there ? tess_correlate_frame_resolve_x(w->f, column[lane] + i) : -1;
                element[lane] = at >= 0 ? from + at * w->size : -1;
                place[lane] = at >= 0 ? to[lane] + i * w->size : -1;
                ghost[lane] = single && at < 0 ? to[lane] + i * w->size : -1;
            }
            copy_elements(w, element, place);
            tess_gpu_count_shared(w->sum, w->times, ghost, w->size, true);
        }
    }
}

/* ---- a block ---- */

/* Constants in all of the ring, where a block has ghost cells; and a barrier. */
static void prepare_ring(const walk *w) {
    const int64_t all = w->s.stages * w->row;
    for (tess_gpu_kind n = {0}; tess_gpu_next_kind(&n, tess_ceil_div(all, 32), 0, 1, 1);) {
        int64_t to[32];
        for (int lane = 0; lane < 32; lane++)
            to[lane] = n.at * 32 + lane < all ? (n.at * 32 + lane) * w->size : -1;
        tess_gpu_count_shared(w->sum, w->times * n.times, to, w->size, true);
    }
    w->sum->barriers += w->times * (double)(w->s.threads / 32);
}

/* Windows of all threads, by vectors; where one word of a vector is used, it is loaded alone. */
static void read_windows(const walk *w) {
    const int64_t window = w->near_left + w->s.columns + w->near_right, vector = w->read * w->size;
    const int64_t begin = (w->near_left - w->left) * w->size / 4, end = tess_ceil_div((w->near_left + w->s.columns + w->right) * w->size, 4);
    for (int64_t i = 0; i < window * w->size; i += vector) {
        const int64_t first = tess_max64(begin, i / 4), used = tess_min64(end, (i + vector) / 4) - first;
        int64_t from[32];
        for (int lane = 0; lane < 32; lane++)
            from[lane] = (w->pad_left + lane * w->s.columns - w->near_left) * w->size + (used == 1 ? first * 4 : i);
        tess_gpu_count_shared(w->sum, w->times * (double)(w->s.threads / 32), from, used == 1 ? 4 : vector, false);
    }
}

/* A row of results at byte `to`: by threads as they stand, in vectors where all of a thread's exist. */
static void write_row(const walk *w, int64_t x, int64_t to) {
    const int64_t v = w->s.columns, size = w->f->out, m = w->f->x.m, bytes = tess_min64(16, v * size);
    for (int64_t first = 0; first < w->s.threads; first += 32) {
        int64_t at[32];
        for (int64_t b = 0; b < v * size; b += bytes) {
            for (int lane = 0; lane < 32; lane++) {
                const int64_t column = x + (first + lane) * v;
                at[lane] = column + v <= m ? to + column * size + b : -1;
            }
            tess_gpu_count_global(w->sum, w->times, at, bytes, true);
        }
        for (int64_t i = 0; i < v; i++) {
            for (int lane = 0; lane < 32; lane++) {
                const int64_t column = x + (first + lane) * v;
                at[lane] = column + v > m && column + i < m ? to + (column + i) * size : -1;
            }
            tess_gpu_count_global(w->sum, w->times, at, size, true);
        }
    }
}

/* By way of shared memory, so that neighbours store neighbours. */
static void spread_row(const walk *w, int64_t x, int64_t to) {
    const int64_t v = w->s.columns, size = w->f->out, m = w->f->x.m, bytes = tess_min64(16, v * size);
    int64_t at[32], from[32];
    for (int64_t first = 0; first < w->s.threads; first += 32) {
        for (int64_t b = 0; b < v * size; b += bytes) {
            for (int lane = 0; lane < 32; lane++)
                at[lane] = lane * v * size + b;
            tess_gpu_count_shared(w->sum, w->times, at, bytes, true);
        }
        for (int64_t i = 0; i < v; i++) {
            for (int lane = 0; lane < 32; lane++) {
                const int64_t column = x + first * v + i * 32 + lane;
                at[lane] = column < m ? to + column * size : -1;
                from[lane] = column < m ? (i * 32 + lane) * size : -1;
            }
            tess_gpu_count_shared(w->sum, w->times, from, size, false);
            tess_gpu_count_global(w->sum, w->times, at, size, true);
        }
    }
}

/* ---- all of them ---- */

void tess_correlate_frame_places(const tess_correlate_frame *f, bool out, double *times) {
    for (int i = 0; i < LINE; i++)
        times[i] = i == 0;
    for (int b = 0; b < f->batch; b++) {
        const tess_correlate_axis *axis = &f->pass->axis[f->batch_axis[b]];
        const int64_t step = out ? axis->out_stride : axis->in_stride;
        double next[LINE] = {0};
        for (tess_gpu_kind n = {0}; tess_gpu_next_kind(&n, axis->m, 0, 0, LINE / tess_gcd(LINE, llabs(step)));)
            for (int i = 0; i < LINE; i++)
                next[(i + n.at * step) & (LINE - 1)] += times[i] * n.times;
        for (int i = 0; i < LINE; i++)
            times[i] = next[i];
    }
}

/* Rows that strips bring, by where they begin. */
typedef struct rows {
    double inside[LINE], beyond[LINE], constant, out[LINE], turns;
} rows;

static void add_places(double *sum, const double *arrays, int64_t byte) {
    for (int i = 0; i < LINE; i++)
        sum[(i + byte) & (LINE - 1)] += arrays[i];
}

static void rows_of(rows *all, const tess_correlate_frame *f, int64_t height) {
    double in[LINE], out[LINE];
    *all = (rows){.turns = 0};
    tess_correlate_frame_places(f, false, in);
    tess_correlate_frame_places(f, true, out);
    for (int64_t y = 0; y < f->y.m; y += height) {
        const int64_t turns = tess_min64(height, f->y.m - y) + f->y.width - 1;
        all->turns += (double)turns * (double)f->arrays;
        for (int64_t r = 0; r < turns; r++) {
            const int64_t row = y - f->y.before + r, at = tess_correlate_frame_resolve(f, row, f->y.n);
            if (at < 0)
                all->constant += (double)f->arrays;
            else
                add_places(row == at ? all->inside : all->beyond, in, at * f->y.in_stride);
        }
    }
    for (int64_t y = 0; y < f->y.m; y++)
        add_places(all->out, out, y * f->y.out_stride);
}

double tess_correlate_frame_conversions(const tess_correlate_frame *f, tess_type work, int64_t elements) {
    const tess_type from = f->pass->from;
    return work == tess_f32 && (from == tess_u8 || from == tess_i8 || from == tess_u16 || from == tess_i16) ? (double)elements : 0;
}

/* Operations of a thread and turn. */
static double operations(const walk *w, const tess_correlate_problem *p) {
    const double conversions = tess_correlate_frame_conversions(w->f, p->work, w->left + w->s.columns + w->right);
    if (conversions > 0 && w->f->pass->group > w->s.columns) /* some of a window are used by none */
        return -1;
    return (double)(2 * w->f->x.width * w->f->y.width * w->s.columns) + conversions;
}

static void predict_strips(const tess_problem *base, tess_gpu_prediction *out, bool whole) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const tess_correlate_frame f = known_frame(base, 1);
    const strip2d_shape s = tess_correlate_strip2d_of(&f, work_size(base), whole, device_meant(out));
    walk w = walk_of(&f, &s, whole, out);
    rows all;
    rows_of(&all, &f, s.height);
    const int64_t across = tess_ceil_div(f.x.m, w.tile);
    const double threads = (double)(across * s.threads), each = operations(&w, p), strips = (double)(tess_ceil_div(f.y.m, s.height) * f.arrays);
    tess_gpu_count_from_zero(out);
    for (tess_gpu_kind n = {0}; tess_gpu_next_kind(&n, across, 2, 3, 1);) {
        const int64_t x = n.at * w.tile;
        for (int i = 0; i < LINE; i++) {
            w.times = n.times * all.inside[i];
            if (w.times > 0)
                row_inside(&w, x, origin + i);
            w.times = n.times * all.beyond[i];
            if (w.times > 0)
                row_anywhere(&w, x, origin + i, true);
            w.times = n.times * all.out[i];
            if (w.times > 0)
                (whole ? write_row : spread_row)(&w, x, origin + i);
        }
        w.times = n.times * all.constant;
        if (w.times > 0)
            row_anywhere(&w, x, origin, false);
        w.times = n.times * strips;
        if (x < w.pad_left || x + w.tile + w.pad_right > f.x.n)
            prepare_ring(&w);
        w.times = n.times * all.turns;
        read_windows(&w);
        out->barriers += w.times * (double)(s.threads / 32);
    }
    out->constant_requests = -1;
    out->flops = each < 0 ? -1 : threads * all.turns * each;
    if (!whole && f.out == 8) /* which the compiler lays down by halves or whole, as it likes */
        out->shared_st_requests = out->shared_st_wavefronts = out->shared_st_conflicts = -1;
}

void tess_correlate_predict_strip2d(const tess_problem *base, tess_gpu_prediction *out) { predict_strips(base, out, true); }
void tess_correlate_predict_strip2d_odd(const tess_problem *base, tess_gpu_prediction *out) { predict_strips(base, out, false); }
