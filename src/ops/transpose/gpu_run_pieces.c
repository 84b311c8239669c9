/* SPDX-License-Identifier: Apache-2.0
 * gpu_run_pieces.c - the row transpose/run_pieces: runs of bytes and 16-bit elements that begin anywhere; its launch (gpu_run_pieces.cu), and what it counts. */
#include "ops/transpose/gpu_predict.h"

extern const char tess_kernel_transpose_gpu_run_pieces_cu[];
static const tess_gpu_text gpu_run_pieces = {"transpose/gpu_run_pieces.cu", tess_kernel_transpose_gpu_run_pieces_cu};

enum {
    THREADS = 128,
    MOST_RUN = 2048,
    ROOM = 640 /* vectors of a block */,
    MOST = 4096 /* blocks that are walked each by itself: they begin anywhere */
};

typedef struct pieces {
    transpose_gpu_long_runs runs;
    int64_t vectors, each, tiles; /* that a run touches at most; runs of a block, blocks of a row of out */
} pieces;

static bool pieces_of(const tess_problem *base, pieces *s, const char **why) {
    if (!tess_transpose_gpu_long_runs_of(base, &s->runs, why))
        return false;
    *why = "needs elements of 1 or 2 bytes, in runs of 4 bytes to 2 KiB";
    if (s->runs.size > 2 || s->runs.run > MOST_RUN)
        return false;
    const int64_t q_size = s->runs.plane.q_size;
    s->vectors = (s->runs.run + 16 - s->runs.size + 15) / 16;
    s->tiles = tess_max64(1, tess_ceil_div(q_size, tess_max64(1, ROOM / s->vectors)));
    s->each = tess_ceil_div(q_size, s->tiles);
    s->tiles = tess_ceil_div(q_size, tess_max64(1, s->each));
    *why = "needs fewer than 2^31 blocks";
    return s->tiles * s->runs.plane.p_size * s->runs.plane.count < INT32_MAX;
}

bool tess_transpose_gpu_run_pieces_fit(const tess_problem *base, const char **why) {
    pieces s;
    return pieces_of(base, &s, why);
}

/* Measured on an H200 (notes-gpu.md): runs of 101 and 202 bytes. */
bool tess_transpose_gpu_run_pieces_pay(const tess_problem *base, const char **why) {
    pieces s;
    if (!pieces_of(base, &s, why) || !tess_transpose_gpu_long_runs_pay(base, why))
        return false;
    *why = "needs runs of at most 512 bytes: longer ones have few ends";
    return s.runs.run <= 512;
}

static void lay_run_pieces(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const char *why;
    pieces s;
    (void)device;
    if (!pieces_of(base, &s, &why))
        return;
    transpose_gpu_matrices m = tess_transpose_gpu_matrices_of(base);
    m.plane = s.runs.plane;
    m.size = s.runs.size;
    const int64_t more[] = {s.runs.plane.p_in, s.runs.low, s.runs.high};
    tess_gpu_unit(layout, &gpu_run_pieces);
    tess_gpu_option(layout, "-DSIZE=%d", (int)s.runs.size);
    tess_gpu_option(layout, "-DBATCH=%d", s.runs.plane.ndim);
    tess_gpu_option(layout, "-DRUN=%d", (int)s.runs.run);
    tess_gpu_option(layout, "-DEACH=%d", (int)tess_max64(1, s.each));
    tess_gpu_option(layout, "-DTHREADS=%d", THREADS);
    tess_gpu_step *step = tess_gpu_launch_of(layout, "run_pieces", s.tiles * s.runs.plane.p_size * s.runs.plane.count, 1, 1, THREADS, 0);
    tess_transpose_gpu_pass(layout, step, &m, more, TESS_COUNT(more));
    layout->alignment = s.runs.size;
}

/* ---- what it counts: each block, warp by warp and request by request ---- */

typedef struct block {
    const pieces *s;
    int64_t in, out, runs; /* where its first run lies, of so many */
} block;

static int64_t begin_of(const block *b, int64_t run) { return b->in + run * b->s->runs.plane.q_in; }
static int64_t place_of(const block *b, int64_t run) { return run * b->s->vectors * 16 + (begin_of(b, run) & 15); }

static void count_way_in(tess_gpu_prediction *sum, const block *b) {
    const pieces *s = b->s;
    const int64_t low = TESS_GPU_ORIGIN + s->runs.low, high = TESS_GPU_ORIGIN + s->runs.high, size = s->runs.size;
    for (int64_t first = 0; first < b->runs * s->vectors; first += 32) {
        int64_t zero[32], from[32], to[32], load[32], store[32], single[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t i = first + lane, run = begin_of(b, i / s->vectors), vector = (run & ~(int64_t)15) + i % s->vectors * 16;
            const bool there = i < b->runs * s->vectors, needed = there && vector < run + s->runs.run,
                       whole = needed && vector >= low && vector + 16 <= high;
            zero[lane] = there && !needed ? i * 16 : -1;
            from[lane] = whole ? vector : -1;
            to[lane] = whole ? i * 16 : -1;
            single[lane] = needed && !whole ? vector : -1;
        }
        tess_gpu_count_shared(sum, 1, zero, 16, true);
        tess_gpu_count_copies(sum, 1, from, to);
        for (int64_t k = 0; k < 16; k += size) {
            for (int lane = 0; lane < 32; lane++) {
                const int64_t run = begin_of(b, (first + lane) / s->vectors), at = single[lane] + k;
                load[lane] = single[lane] >= 0 && at >= run && at < run + s->runs.run ? at : -1;
                store[lane] = single[lane] >= 0 ? (first + lane) * 16 + k : -1;
            }
            tess_gpu_count_global(sum, 1, load, size, false);
            tess_gpu_count_shared(sum, 1, store, size, true);
        }
    }
}

/* The two words that hold four bytes from `at` on. */
static void count_cut(tess_gpu_prediction *sum, const int64_t *at) {
    int64_t two[2][32];
    for (int lane = 0; lane < 32; lane++) {
        two[0][lane] = at[lane] < 0 ? -1 : at[lane] & ~(int64_t)3;
        two[1][lane] = at[lane] < 0 ? -1 : two[0][lane] + (at[lane] % 4 ? 4 : 0);
    }
    tess_gpu_count_shared(sum, 1, two[0], 4, false);
    tess_gpu_count_shared(sum, 1, two[1], 4, false);
}

static void count_way_out(tess_gpu_prediction *sum, const block *b) {
    const int64_t run = b->s->runs.run, size = b->s->runs.size, bytes = b->runs * run, lead = b->out & 15;
    for (int64_t first = -lead; first < bytes; first += 32 * 16) {
        int64_t store[32], at[32], next[32], to[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t start = first + lane * 16;
            store[lane] = start >= 0 && start + 16 <= bytes ? b->out + start : -1;
        }
        for (int64_t w = 0; w < 16; w += 4) {
            for (int lane = 0; lane < 32; lane++) {
                const int64_t k = first + lane * 16 + w, inside = k % run;
                at[lane] = store[lane] < 0 ? -1 : place_of(b, k / run) + inside;
                next[lane] = store[lane] < 0 || inside + 4 <= run ? -1 : place_of(b, k / run + 1) + inside - run;
            }
            count_cut(sum, at);
            count_cut(sum, next);
        }
        tess_gpu_count_global(sum, 1, store, 16, true);
        for (int64_t k = 0; k < 16; k += size) {
            for (int lane = 0; lane < 32; lane++) {
                const int64_t start = first + lane * 16, here = tess_max64(0, start) + k;
                const bool there = store[lane] < 0 && here < start + 16 && here < bytes;
                at[lane] = there ? place_of(b, here / run) + here % run : -1;
                to[lane] = there ? b->out + here : -1;
            }
            tess_gpu_count_shared(sum, 1, at, size, false);
            tess_gpu_count_global(sum, 1, to, size, true);
        }
    }
}

void tess_transpose_predict_run_pieces(const tess_problem *base, tess_gpu_prediction *out) {
    const transpose_problem *p = (const transpose_problem *)base;
    const char *why;
    pieces s;
    if (!pieces_of(base, &s, &why))
        return;
    const transpose_plane *m = &s.runs.plane;
    const int64_t blocks = s.tiles * m->p_size * m->count;
    if (blocks > MOST)
        return;
    tess_gpu_count_from_zero(out);
    out->constant_requests = -1;
    for (int64_t number = 0; number < blocks; number++) {
        const int64_t q = number % s.tiles * s.each, row = number / s.tiles % m->p_size;
        int64_t matrix = number / s.tiles / m->p_size;
        block b = {&s, TESS_GPU_ORIGIN + p->first[TRANSPOSE_IN] + row * m->p_in + q * m->q_in,
                   TESS_GPU_ORIGIN + p->first[TRANSPOSE_OUT] + row * m->p_out + q * s.runs.run, tess_min64(s.each, m->q_size - q)};
        for (int d = m->ndim - 1; d >= 0; matrix /= m->shape[d--]) {
            b.in += matrix % m->shape[d] * m->stride[TRANSPOSE_IN][d];
            b.out += matrix % m->shape[d] * m->stride[TRANSPOSE_OUT][d];
        }
        count_way_in(out, &b);
        count_way_out(out, &b);
        out->barriers += THREADS / 32;
    }
}

const tess_gpu_row tess_transpose_gpu_run_pieces_row = {.headers = tess_transpose_gpu_headers,
                                                        .production = true,
                                                        .least_arch = 80,
                                                        .lay_out = lay_run_pieces,
                                                        .predict = tess_transpose_predict_run_pieces};
