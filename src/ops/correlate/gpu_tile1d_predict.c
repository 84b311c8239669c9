/* SPDX-License-Identifier: Apache-2.0
 * gpu_tile1d_predict.c - what correlate/tile1d will count: a block of each kind is walked, for each place within a line at which rows begin.
 *
 * Predicted for arrays that begin at a line. Not predicted: loads of windows from shared memory, of which the compiler loads words alone that are used alone, or once more. */
#include "ops/correlate/gpu_ring_predict.h"

enum { EACH = TILE1D_EACH, PIECE = 64, LONG = 128 };

/* The names of gpu_tile1d.cu. */
typedef struct walk {
    tess_gpu_prediction *sum;
    double times;
    const tess_correlate_frame *f;
    bool rows_whole;
    int64_t threads, tile, pad_left, wide, at_once;
} walk;

static int64_t place(int64_t element, int64_t size) { return element * size + element / EACH * (size == 1 ? 0 : 16); }

/* Element number of the lane's turn number j, of `count` that threads take in turn, some turns at a time; -1: there is none. */
static int64_t element_of(const walk *w, int64_t thread, int64_t count, bool left, int64_t j) {
    const int64_t over = count - thread, turn = tess_gpu_turn_of(over > 0 ? tess_ceil_div(over, w->threads) : 0, w->at_once, true, left, j);
    return turn < 0 ? -1 : thread + turn * w->threads;
}

/* ---- the tile on its way in ---- */

static void bring_inside(const walk *w, int64_t from) {
    const int64_t size = w->f->in, vector = 16 / size, vectors = w->wide / vector;
    for (int64_t first = 0; first < vectors; first += 32) {
        int64_t load[32], store[32];
        for (int lane = 0; lane < 32; lane++) {
            load[lane] = first + lane < vectors ? from + (first + lane) * 16 : -1;
            store[lane] = first + lane < vectors ? place((first + lane) * vector, size) : -1;
        }
        tess_gpu_count_global(w->sum, w->times, load, 16, false);
        tess_gpu_count_shared(w->sum, w->times, store, 16, true);
    }
}

static void bring_anywhere(const walk *w, int64_t x, int64_t row) {
    const int64_t size = w->f->in;
    for (int64_t thread = 0; thread < w->threads; thread += 32)
        for (int left = 0; left < 2; left++)
            for (int64_t j = 0; j * w->threads < w->wide; j++) {
                int64_t load[32], store[32], ghost[32];
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t e = element_of(w, thread + lane, w->wide, left, j), at = e < 0 ? -1 : tess_correlate_frame_resolve_x(w->f, x + e);
                    load[lane] = at < 0 ? -1 : row + at * size;
                    store[lane] = at < 0 ? -1 : place(e, size);
                    ghost[lane] = e < 0 || at >= 0 ? -1 : place(e, size);
                }
                tess_gpu_count_global(w->sum, w->times, load, size, false);
                if (size < 4)
                    tess_gpu_count_shared(w->sum, w->times, store, size, true);
                tess_gpu_count_shared(w->sum, w->times, ghost, size, true);
            }
}

/* ---- results on their way out ---- */

static void lay_down(const walk *w) {
    const int64_t size = w->f->out;
    for (int64_t thread = 0; thread < w->threads; thread += 32)
        for (int64_t b = 0; b < EACH * size; b += 16) {
            int64_t to[32];
            for (int lane = 0; lane < 32; lane++)
                to[lane] = place((thread + lane) * EACH, size) + b;
            tess_gpu_count_shared(w->sum, w->times, to, 16, true);
        }
}

/* From column x on, of a row at byte `row`. */
static void take_up(const walk *w, int64_t x, int64_t row) {
    const int64_t size = w->f->out, there = 16 / size, m = tess_min64(w->f->x.m - x, w->tile);
    const bool vectors = w->rows_whole && x + w->tile <= w->f->x.m;
    const int64_t count = vectors ? w->tile / there : m, each = vectors ? there : 1;
    for (int64_t thread = 0; thread < w->threads; thread += 32)
        for (int left = 0; left < 2; left++)
            for (int64_t j = 0; j * w->threads < count; j++) {
                int64_t to[32];
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t e = element_of(w, thread + lane, count, left, j);
                    to[lane] = e < 0 ? -1 : row + (x + e * each) * size;
                }
                tess_gpu_count_global(w->sum, w->times, to, each * size, true);
            }
}

/* ---- all of them ---- */

void tess_correlate_tile1d_predict(const tess_correlate_frame *given, tess_type work, bool whole, tess_gpu_prediction *out) {
    const tess_correlate_frame f = *given;
    walk w = {.sum = out, .f = &f, .rows_whole = whole, .threads = tess_correlate_tile1d_threads(&f, whole), .at_once = whole ? 1 : 4};
    double in[FRAME_LINE], results[FRAME_LINE];
    w.tile = w.threads * EACH;
    w.pad_left = up_to(before(&f), EACH);
    w.wide = up_to(w.pad_left + w.tile + after(&f), EACH);
    tess_correlate_frame_places(&f, false, in);
    tess_correlate_frame_places(&f, true, results);
    const int64_t blocks = tess_ceil_div(f.x.m, w.tile), reach = tess_ceil_div(w.wide, w.tile), taps = f.x.width,
                  pieces = taps > LONG ? tess_ceil_div(taps, PIECE) : 1;
    const double warps = (double)(w.threads / 32);
    tess_gpu_count_from_zero(out);
    for (tess_gpu_kind n = {0}; tess_gpu_next_kind(&n, blocks, reach, reach + 1, 1);) {
        const int64_t x = n.at * w.tile;
        for (int i = 0; i < FRAME_LINE; i++) {
            w.times = n.times * in[i];
            if (w.times > 0 && whole && x >= w.pad_left && x + w.wide - w.pad_left <= f.x.n)
                bring_inside(&w, TESS_GPU_ORIGIN + i + (x - w.pad_left) * f.in);
            else if (w.times > 0)
                bring_anywhere(&w, x - w.pad_left, TESS_GPU_ORIGIN + i);
            w.times = n.times * results[i];
            if (w.times > 0)
                take_up(&w, x, TESS_GPU_ORIGIN + i);
        }
        w.times = n.times * (double)f.arrays;
        lay_down(&w);
        out->barriers += w.threads == 32 ? 0 : 3 * w.times * warps;
    }
    out->flops =
        (double)(blocks * f.arrays * w.threads) *
        ((double)(2 * taps * EACH) + tess_correlate_frame_conversions(&f, work, (taps - pieces) * tess_min64(f.pass->group, EACH) + pieces * EACH));
    out->constant_requests = -1;
    out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
}

static void predict_tiles(const tess_problem *base, tess_gpu_prediction *out, bool whole) {
    const tess_correlate_frame f = known_frame(base, 0);
    tess_correlate_tile1d_predict(&f, tess_correlate_gpu_of(base)->work, whole, out);
}

void tess_correlate_predict_tile1d(const tess_problem *base, tess_gpu_prediction *out) { predict_tiles(base, out, true); }
void tess_correlate_predict_tile1d_odd(const tess_problem *base, tess_gpu_prediction *out) { predict_tiles(base, out, false); }
