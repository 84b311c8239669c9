/* SPDX-License-Identifier: Apache-2.0
 * gpu_wide_predict.c - what correlate/wide will count: a row of a tile is walked for each kind of tile along it and for each place within a sector at which rows begin.
 *
 * Predicted for arrays that begin at a sector. Not predicted: loads from shared memory, since the rows of threads of a warp meet the mask's first and last row at different turns. */
#include <stdlib.h>
#include <string.h>

#include "ops/correlate/boundary.h"
#include "ops/correlate/gpu_ring_predict.h"
#include "ops/correlate/gpu_wide.h"

enum { SECTOR = 32 };
static const tess_correlate_axis single = {1, 1, 0, 0, 1, 0};

/* The names of gpu_wide.cu. */
typedef struct walk {
    tess_gpu_prediction *sum;
    double times;
    tess_correlate_wide_shape s;
    tess_boundary boundary;
    const tess_correlate_axis *x, *y;
    int64_t size, in, out, high, wide, rows, weights, pitch; /* size: of a sum */
} walk;

/* ---- by where rows begin ---- */

static void add_places(double *sum, const double *places, int64_t byte, int64_t times) {
    for (int i = 0; i < SECTOR; i++)
        sum[((i + byte) % SECTOR + SECTOR) % SECTOR] += places[i] * (double)times;
}

/* Of an axis the elements from number i on, `count` of them, `step` apart: those inside begin at the same places again after as many as a sector has bytes, at the latest; those
 * beyond the ends, which are few, by the boundary's rule. */
static void add_elements(const walk *w, double *sum, const double *places, const tess_correlate_axis *a, int64_t i, int64_t step, int64_t count) {
    const int64_t low = i < 0 ? tess_min64(count, tess_ceil_div(-i, step)) : 0,
                  high = i < a->n ? tess_min64(count, tess_ceil_div(a->n - i, step)) : 0;
    for (int64_t j = low; j < tess_min64(high, low + SECTOR); j++)
        add_places(sum, places, (i + j * step) * a->in_stride, tess_ceil_div(high - j, SECTOR));
    for (int64_t j = low > 0 ? 0 : high; j < count; j = j + 1 == low ? high : j + 1) {
        const int64_t at = tess_boundary_index(w->boundary, a->n, i + j * step);
        if (at >= 0)
            add_places(sum, places, at * a->in_stride, 1);
    }
}

static bool is_outer(const walk *w, int d) {
    for (int k = 0; k < w->s.outer; k++)
        if (w->s.pass->order[k] == d)
            return true;
    return false;
}

/* Planes that blocks bring and make, of one tile each. */
static void planes_of(const walk *w, double *in, double *out) {
    for (int i = 0; i < SECTOR; i++)
        in[i] = out[i] = i == 0;
    for (int d = -1; d < w->s.pass->ndim; d++) { /* -1: the elements of a pixel */
        const tess_correlate_axis colours = {w->s.pass->group, w->s.pass->group, w->in, w->out, 1, 0}, *a = d < 0 ? &colours : &w->s.pass->axis[d];
        double next_in[SECTOR] = {0}, next_out[SECTOR] = {0};
        const int64_t width = d >= 0 && is_outer(w, d) ? a->width : 1, before = d >= 0 && is_outer(w, d) ? a->before : 0;
        if (d >= 0 && (d == w->s.x || d == w->s.y))
            continue;
        for (int64_t t = 0; t < width; t++)
            add_elements(w, next_in, in, a, t - before, 1, a->m);
        for (int64_t at = 0; at < tess_min64(a->m, SECTOR); at++)
            add_places(next_out, out, at * a->out_stride, tess_ceil_div(a->m - at, SECTOR));
        memcpy(in, next_in, sizeof next_in);
        memcpy(out, next_out, sizeof next_out);
    }
}

/* ---- a block ---- */

/* The mask's plane that begins at byte `from`. The compiler takes four turns at a time, and those left over before. */
static void bring_weights(const walk *w, int64_t from) {
    const int64_t all = w->s.width_y * w->weights;
    for (int64_t thread = 0; thread < w->s.threads; thread += 32)
        for (int left = 1; left >= 0; left--)
            for (int64_t j = 0; j * w->s.threads < all; j++) {
                int64_t at[32], to[32];
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t over = all - thread - lane,
                                  turn = tess_gpu_turn_of(over > 0 ? tess_ceil_div(over, w->s.threads) : 0, 4, true, left, j),
                                  i = thread + lane + turn * w->s.threads, column = turn < 0 ? 0 : i % w->weights;
                    at[lane] = turn >= 0 && column < w->s.width_x ? from + (i / w->weights * w->s.width_x + column) * w->size : -1;
                    to[lane] = turn < 0 ? -1 : i * w->size;
                }
                tess_gpu_count_global(w->sum, w->times, at, w->size, false);
                tess_gpu_count_shared(w->sum, w->times, to, w->size, true);
            }
}

/* A row of the tile whose first output is column x, of the array's row at byte `row`; -1: none. */
static void bring_row(const walk *w, int64_t x, int64_t row) {
    for (int64_t c = 0; c < w->pitch; c += 32) {
        int64_t at[32], to[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t column = c + lane < w->pitch && row >= 0 ? tess_boundary_index(w->boundary, w->x->n, x - w->x->before + c + lane) : -1;
            at[lane] = column < 0 ? -1 : row + column * w->x->in_stride;
            to[lane] = c + lane < w->pitch ? (c + lane) * w->size : -1;
        }
        if (row >= 0)
            tess_gpu_count_global(w->sum, w->times, at, w->in, false);
        else
            tess_gpu_count_shared(w->sum, w->times, to, w->size, true);
    }
}

/* Results of the tile from row y and column x on, of the plane that begins at byte `to`. */
static void store(const walk *w, int64_t y, int64_t x, int64_t to) {
    for (int64_t first = 0; first < w->high * w->wide; first += 32) {
        int64_t at[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t row = y + (first + lane) / w->wide, column = x + (first + lane) % w->wide;
            at[lane] = row < w->y->m && column < w->x->m ? to + row * w->y->out_stride + column * w->x->out_stride : -1;
        }
        tess_gpu_count_global(w->sum, w->times, at, w->out, true);
    }
}

static void lay_sums(const walk *w) {
    for (int64_t thread = 0; thread < w->s.threads; thread += 32)
        for (int64_t y = 0; y < w->s.rows; y++)
            for (int64_t x = 0; x < w->s.columns; x += 16 / w->size) {
                int64_t to[32];
                for (int lane = 0; lane < 32; lane++)
                    to[lane] =
                        (((thread + lane) / w->s.across * w->s.rows + y) * w->wide + (thread + lane) % w->s.across * w->s.columns + x) * w->size;
                tess_gpu_count_shared(w->sum, w->times, to, 16, true);
            }
}

/* ---- all of them ---- */

static void add_pass(walk *w, const tess_correlate_problem *p) {
    double in[SECTOR], out[SECTOR], rows[SECTOR] = {0}, tiles = 0, planes = 1;
    const int64_t down = tess_ceil_div(w->y->m, w->high), across = tess_ceil_div(w->x->m, w->wide);
    planes_of(w, in, out);
    for (int i = 0; i < SECTOR; i++)
        tiles += out[i];
    for (int k = 0; k < w->s.outer; k++)
        planes *= (double)w->s.pass->axis[w->s.pass->order[k]].width;
    for (int64_t r = 0; r < w->rows; r++)
        add_elements(w, rows, in, w->y, r - w->y->before, w->high, down);
    const double blocks = tiles * (double)(down * across);
    for (tess_gpu_kind i = {0};
         tess_gpu_next_kind(&i, across, 1 + tess_ceil_div(w->pitch, w->wide), 1 + tess_ceil_div(w->pitch, w->wide),
                            SECTOR / tess_gcd(SECTOR, tess_gcd(llabs(w->wide * w->x->in_stride), llabs(w->wide * w->x->out_stride))));)
        for (int k = 0; k < SECTOR; k++) {
            w->times = i.times * rows[k];
            if (w->times > 0)
                bring_row(w, i.at * w->wide, TESS_GPU_ORIGIN + k);
            for (tess_gpu_kind j = {0};
                 out[k] > 0 && tess_gpu_next_kind(&j, down, 0, 1, SECTOR / tess_gcd(SECTOR, llabs(w->high * w->y->out_stride)));) {
                w->times = i.times * j.times * out[k];
                store(w, j.at * w->high, i.at * w->wide, TESS_GPU_ORIGIN + k);
            }
        }
    w->times = blocks * planes * (double)w->rows;
    bring_row(w, 0, -1);
    for (int64_t t = 0; t < (int64_t)planes; t++) {
        w->times = blocks;
        bring_weights(w, TESS_GPU_ORIGIN + t * w->s.width_y * w->s.width_x * w->size);
    }
    w->times = blocks;
    lay_sums(w);
    w->sum->barriers += blocks * (double)(w->s.threads / 32) * (2 * planes * (double)tess_ceil_div(w->rows, w->s.band) + 2);
    if (p->work == tess_f32 || p->work == tess_f64)
        w->sum->flops += blocks * planes * 2 * (double)(w->s.threads * w->s.rows * w->s.columns * w->s.width_y * w->s.width_x);
}

void tess_correlate_predict_wide(const tess_problem *base, tess_gpu_prediction *out) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const char *why;
    int count;
    const tess_correlate_pass *pass = tess_correlate_gpu_passes(p, &count);
    tess_gpu_count_from_zero(out);
    for (int k = 0; k < count; k++) {
        walk w = {.sum = out, .boundary = p->boundary, .size = (int64_t)tess_type_size(p->work)};
        tess_correlate_wide_of(&w.s, p, &pass[k], &why); /* true, because `fits` was */
        w.x = &pass[k].axis[w.s.x];
        w.y = w.s.y >= 0 ? &pass[k].axis[w.s.y] : &single;
        w.in = (int64_t)tess_type_size(pass[k].from);
        w.out = (int64_t)tess_type_size(pass[k].to);
        w.high = w.s.down * w.s.rows;
        w.wide = w.s.across * w.s.columns;
        w.rows = w.high + w.s.width_y - 1;
        w.weights = tess_ceil_div(w.s.width_x * w.size, 16) * 16 / w.size;
        w.pitch = w.wide + w.weights;
        add_pass(&w, p);
    }
    out->constant_requests = -1;
    out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
}
