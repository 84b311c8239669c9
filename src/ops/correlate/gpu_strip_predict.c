/* SPDX-License-Identifier: Apache-2.0
 * gpu_strip_predict.c - what correlate/strip2d will count: the copies of a row of a block's tile are walked for each place that rows have within a line, and for each kind of block along the row.
 *
 * A row inside the array, one beyond its ends that another one stands for, and one of constants are brought in different ways (gpu_ring.cuh), and it is counted how many of each there are: rows of
 * one way that begin at the same place of a line count alike. Predicted for arrays that begin at a line. */
#include "ops/correlate/gpu_ring_predict.h"

enum { LINE = FRAME_LINE };

/* ---- a block ---- */

static void read_windows(ring_walk *w, double turns) {
    int64_t row[32] = {0}, along[32];
    for (int lane = 0; lane < 32; lane++)
        along[lane] = lane;
    w->times = turns * (double)(w->threads / 32);
    tess_correlate_ring_read(w, row, along);
    w->sum->barriers += w->times;
}

/* A row of results at byte `to`, by threads as they stand. */
static void write_row(const ring_walk *w, int64_t x, int64_t to) {
    for (int64_t first = 0; first < w->threads; first += 32) {
        int64_t column[32], at[32];
        for (int lane = 0; lane < 32; lane++) {
            column[lane] = x + (first + lane) * w->columns;
            at[lane] = to + column[lane] * w->f->out;
        }
        tess_correlate_frame_write(w->sum, w->times, w->f, w->columns, column, at);
    }
}

/* ---- all of them ---- */

/* Rows that strips bring, by where they begin. */
typedef struct rows {
    double inside[LINE], beyond[LINE], constant, out[LINE], turns;
} rows;

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
                tess_correlate_frame_add_places(row == at ? all->inside : all->beyond, in, at * f->y.in_stride);
        }
    }
    for (int64_t y = 0; y < f->y.m; y++)
        tess_correlate_frame_add_places(all->out, out, y * f->y.out_stride);
}

/* Operations of a thread and turn. */
static double operations(const ring_walk *w, tess_type work) {
    const double conversions = tess_correlate_frame_conversions(w->f, work, w->left + w->columns + w->right);
    if (conversions > 0 && w->f->pass->group > w->columns) /* some of a window are used by none */
        return -1;
    return (double)(2 * w->f->x.width * w->f->y.width * w->columns) + conversions;
}

void tess_correlate_strip2d_predict(const tess_correlate_frame *given, tess_type work, bool whole, tess_gpu_prediction *out) {
    const tess_correlate_frame f = *given;
    const strip2d_shape s = tess_correlate_strip2d_of(&f, (int64_t)tess_type_size(work), whole, device_meant(out));
    ring_walk w = tess_correlate_ring_of(&f, s.columns, s.threads, s.threads, whole, out);
    rows all;
    rows_of(&all, &f, s.height);
    const int64_t across = tess_ceil_div(f.x.m, w.tile);
    const double threads = (double)(across * s.threads), each = operations(&w, work), strips = (double)(tess_ceil_div(f.y.m, s.height) * f.arrays);
    tess_gpu_count_from_zero(out);
    for (tess_gpu_kind n = {0}; tess_gpu_next_kind(&n, across, 2, 3, 1);) {
        const int64_t x = n.at * w.tile;
        for (int i = 0; i < LINE; i++) {
            w.times = n.times * all.inside[i];
            if (w.times > 0)
                tess_correlate_ring_row_inside(&w, x, TESS_GPU_ORIGIN + i);
            w.times = n.times * all.beyond[i];
            if (w.times > 0)
                tess_correlate_ring_rows_anywhere(&w, x, &(int64_t){TESS_GPU_ORIGIN + i}, 1);
            w.times = n.times * all.out[i];
            if (w.times > 0 && whole)
                write_row(&w, x, TESS_GPU_ORIGIN + i);
            else if (w.times > 0)
                tess_correlate_ring_spread(&w, x, w.tile, TESS_GPU_ORIGIN + i);
        }
        w.times = n.times * all.constant;
        if (w.times > 0)
            tess_correlate_ring_rows_anywhere(&w, x, &(int64_t){-1}, 1);
        w.times = n.times * strips;
        if (tess_correlate_ring_reaches_edge(&w, x))
            tess_correlate_ring_prepare(&w, s.stages);
        read_windows(&w, n.times * all.turns);
    }
    out->constant_requests = -1;
    out->flops = each < 0 ? -1 : threads * all.turns * each;
    if (f.in == 2 ||
        f.pass->group > s.columns) /* of some masks the compiler loads words of a window, and not vectors; of far taps no more than is used */
        out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
    if (!whole && f.out == 8) /* which the compiler lays down by halves or whole, as it likes */
        out->shared_st_requests = out->shared_st_wavefronts = out->shared_st_conflicts = -1;
}

static void predict_strips(const tess_problem *base, tess_gpu_prediction *out, bool whole) {
    const tess_correlate_frame f = known_frame(base, 1);
    tess_correlate_strip2d_predict(&f, tess_correlate_gpu_of(base)->work, whole, out);
}

void tess_correlate_predict_strip2d(const tess_problem *base, tess_gpu_prediction *out) { predict_strips(base, out, true); }
void tess_correlate_predict_strip2d_odd(const tess_problem *base, tess_gpu_prediction *out) { predict_strips(base, out, false); }
