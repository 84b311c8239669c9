/* SPDX-License-Identifier: Apache-2.0
 * gpu_line_predict.c - what correlate/line will count: a block of each kind is walked, for each place within a sector at which rows begin.
 *
 * Predicted for arrays that begin at a sector. */
#include "ops/correlate/gpu_ring_predict.h"

enum { THREADS = LINE_THREADS };

/* The names of gpu_line.cu. */
typedef struct walk {
    tess_gpu_prediction *sum;
    double times;
    const tess_correlate_frame *f;
    int64_t size, v, left_words, right_words, held;
    double flops; /* of a vector */
} walk;

static void load(const walk *w, const int64_t *at, int64_t offset, int64_t bytes) {
    int64_t from[32];
    for (int lane = 0; lane < 32 && bytes > 0; lane++)
        from[lane] = at[lane] < 0 ? -1 : at[lane] + offset;
    if (bytes > 0)
        tess_gpu_count_global(w->sum, w->times, from, bytes, false);
}

/* A vector of each lane, -1 = none, and the words beside it. */
static void bring_inside(const walk *w, const int64_t *at) {
    const int64_t left = 4 * w->left_words, right = 4 * w->right_words;
    load(w, at, 0, 16);
    load(w, at, -left, left == 12 ? 4 : left);
    if (left == 12)
        load(w, at, -8, 8);
    load(w, at, 16, right == 12 ? 8 : right);
    if (right == 12)
        load(w, at, 24, 4);
}

/* Element by element, of the row that begins at byte `row`. */
static void bring_anywhere(const walk *w, const int64_t *x, int64_t row) {
    for (int64_t i = 0; i < w->held; i++) {
        int64_t from[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t at = x[lane] < 0 ? -1 : tess_correlate_frame_resolve_x(w->f, x[lane] - w->left_words * 4 / w->size + i);
            from[lane] = at < 0 ? -1 : row + at * w->size;
        }
        tess_gpu_count_global(w->sum, w->times, from, w->size, false);
    }
}

/* The outputs of each lane from column x on, -1 = none. */
static void store(const walk *w, const int64_t *x, int64_t row) {
    const int64_t m = w->f->x.m;
    int64_t to[32];
    for (int lane = 0; lane < 32; lane++)
        to[lane] = x[lane] >= 0 && x[lane] + w->v <= m ? row + x[lane] * w->size : -1;
    tess_gpu_count_global(w->sum, w->times, to, 16, true);
    for (int64_t i = 0; i < w->v; i++) {
        for (int lane = 0; lane < 32; lane++)
            to[lane] = x[lane] >= 0 && x[lane] + w->v > m && x[lane] + i < m ? row + (x[lane] + i) * w->size : -1;
        tess_gpu_count_global(w->sum, w->times, to, w->size, true);
    }
}

/* Vectors from column `begin` on, of rows of which `in` and `out` say where they begin. */
static void block(walk *w, int64_t begin, int64_t columns, double times, const double *in, const double *out) {
    const int64_t n = w->f->x.n, m = w->f->x.m;
    const bool whole = begin >= w->v && begin + columns + w->v <= n && begin + columns <= m;
    for (int64_t first = begin; first < begin + columns; first += 32 * w->v) {
        int64_t x[32];
        int lanes = 0;
        for (int lane = 0; lane < 32; lane++) {
            x[lane] = first + lane * w->v < m ? first + lane * w->v : -1;
            lanes += x[lane] >= 0;
        }
        for (int i = 0; i < FRAME_LINE && lanes > 0; i++) {
            int64_t inside[32], ends[32];
            for (int lane = 0; lane < 32; lane++) {
                const bool near = whole || (x[lane] >= w->v && x[lane] + 2 * w->v <= n);
                inside[lane] = x[lane] >= 0 && near ? TESS_GPU_ORIGIN + i + x[lane] * w->size : -1;
                ends[lane] = near ? -1 : x[lane];
            }
            w->times = times * in[i];
            if (w->times > 0) {
                bring_inside(w, inside);
                bring_anywhere(w, ends, TESS_GPU_ORIGIN + i);
            }
            w->sum->flops += w->times * lanes * w->flops;
            w->times = times * out[i];
            if (w->times > 0)
                store(w, x, TESS_GPU_ORIGIN + i);
        }
    }
}

void tess_correlate_predict_line(const tess_problem *base, tess_gpu_prediction *out) {
    const tess_correlate_frame f = known_frame(base, 0);
    const line_shape s = tess_correlate_line_of(base, &f);
    walk w = {.sum = out, .f = &f, .size = f.in, .v = 16 / f.in};
    double in_places[FRAME_LINE], out_places[FRAME_LINE];
    w.left_words = tess_ceil_div(before(&f) * f.in, 4);
    w.right_words = tess_ceil_div(after(&f) * f.in, 4);
    w.held = (w.left_words + 4 + w.right_words) * 4 / f.in;
    if (!s.bytes)
        w.flops = (double)(2 * f.x.width * w.v) + (s.raised ? 0 : tess_correlate_frame_conversions(&f, tess_f32, before(&f) + w.v + after(&f)));
    tess_correlate_frame_places(&f, false, in_places);
    tess_correlate_frame_places(&f, true, out_places);
    tess_gpu_count_from_zero(out);
    const int64_t columns = s.vectors * THREADS * w.v;
    for (tess_gpu_kind n = {0}; tess_gpu_next_kind(&n, tess_ceil_div(f.x.m, columns), 1, 3, 1);)
        block(&w, n.at * columns, columns, n.times, in_places, out_places);
    out->constant_requests = -1;
}
