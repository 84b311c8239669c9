/* SPDX-License-Identifier: Apache-2.0
 * cpu_runs.c - the fast axis is kept: rows, or pieces of rows, are copied whole.
 *
 * When the runs are short the two axes above them are walked in blocks, so that the cache lines at both ends of a run, which it shares with its
 * neighbours in in and in out, are still there when the neighbours come. Runs of at most 64 bytes that follow each other in both arrays are turned in a
 * buffer in L1, from which rows of the result go out in whole lines: in place, the rows of a block meet in a few sets of the cache. Long runs are cut, so
 * that a few of them are work for many threads. */
#include <string.h>

#include "ops/transpose/transpose.h"
#include "simd/lanes.h"

tess_status TESS_ISA_NAME(tess_transpose_runs)(const tess_problem *base, const tess_run *run);

enum { STAGE_SIDE = 512, STAGE = 40 << 10, LINES_SIDE = 768, LINES_STAGE = 60 << 10, SHORT_RUN = 64 };

typedef struct runs {
    int64_t bytes, p_in, p_out, q_in, q_out;
    int64_t q_size;
    bool stream;
} runs;

static void copy_block(const void *argument, const char *in, char *out, int64_t p, int64_t np, int64_t q, int64_t nq) {
    const runs *r = argument;
    (void)p;
    (void)q;
    for (int64_t i = 0; i < np; i++)
        for (int64_t k = 0; k < nq; k++)
            tess_copy_run(out + i * r->p_out + k * r->q_out, in + i * r->p_in + k * r->q_in, r->bytes);
}

/* The runs of a row of in, p after p, to places `pitch` apart, LOOSE bytes each: what is too much is written over by the next row, or lies behind the last.
 * The last run is copied exactly, since nothing need follow it in memory. */
#define SPREAD(LOOSE)                                                                                       \
    TESS_INLINE void spread_##LOOSE(char *to, int64_t pitch, const char *from, int64_t bytes, int64_t np) { \
        const int64_t loose = np - tess_min64(np, tess_ceil_div(LOOSE, bytes));                             \
        for (int64_t i = 0; i < loose; i++)                                                                 \
            memcpy(to + i * pitch, from + i * bytes, LOOSE);                                                \
        for (int64_t i = loose; i < np; i++)                                                                \
            tess_copy_run(to + i * pitch, from + i * bytes, bytes);                                         \
    }
SPREAD(4)
SPREAD(8)
SPREAD(16)
SPREAD(32)
SPREAD(64)

/* How many of these runs make whole lines. */
static int64_t runs_in_lines(int64_t bytes) {
    int64_t count = 64;
    while (count > 1 && bytes % (64 / (count / 2)) == 0)
        count /= 2;
    return count;
}
/* How many make a row of the buffer: some STAGE_SIDE bytes, and whole lines. */
static int64_t stage_side(int64_t bytes) {
    const int64_t count = runs_in_lines(bytes);
    return tess_max64(1, STAGE_SIDE / (bytes * count)) * count;
}
/* Bytes between those rows: an odd number of lines, and room for what is too much. */
static int64_t stage_pitch(int64_t bytes, int64_t nq) { return ((nq * bytes + SHORT_RUN + 63) / 64 | 1) * 64; }

static void staged_block(const void *argument, const char *in, char *out, int64_t p, int64_t np, int64_t q, int64_t nq) {
    enum { ROWS_AHEAD = 16 };
    const runs *r = argument;
    const int64_t pitch = stage_pitch(r->bytes, nq), bytes = np * r->bytes;
    _Alignas(64) char stage[LINES_STAGE];
    (void)p;
    for (int64_t k = 0; k < nq; k++) {
        const char *from = in + k * r->q_in;
        char *to = stage + k * r->bytes;
        if (q + k + ROWS_AHEAD < r->q_size)
            for (int64_t line = 0; line < bytes; line += 64)
                tess_prefetch_l2(from + ROWS_AHEAD * r->q_in + line);
        if (r->bytes <= 4)
            spread_4(to, pitch, from, r->bytes, np);
        else if (r->bytes <= 8)
            spread_8(to, pitch, from, r->bytes, np);
        else if (r->bytes <= 16)
            spread_16(to, pitch, from, r->bytes, np);
        else if (r->bytes <= 32)
            spread_32(to, pitch, from, r->bytes, np);
        else
            spread_64(to, pitch, from, r->bytes, np);
    }
    for (int64_t i = 0; i < np; i++)
        if (r->stream)
            tess_stream_copy(out + i * r->p_out, stage + i * pitch, nq * r->bytes);
        else
            memcpy(out + i * r->p_out, stage + i * pitch, (size_t)(nq * r->bytes));
    if (r->stream)
        tess_stream_fence();
}

/* Long runs of a result that no cache holds. */
static void stream_block(const void *argument, const char *in, char *out, int64_t p, int64_t np, int64_t q, int64_t nq) {
    const runs *r = argument;
    (void)p;
    (void)q;
    for (int64_t i = 0; i < np; i++)
        for (int64_t k = 0; k < nq; k++)
            tess_stream_copy(out + i * r->p_out + k * r->q_out, in + i * r->p_in + k * r->q_in, r->bytes);
    tess_stream_fence();
}

tess_status TESS_ISA_NAME(tess_transpose_runs)(const tess_problem *base, const tess_run *run) {
    enum { BLOCK_BYTES = 1 << 15, LONG_RUN = 1 << 16, LARGE = 8 << 20 };
    const transpose_problem *problem = (const transpose_problem *)base;
    if (problem->place == TRANSPOSE_NOTHING)
        return TESS_OK;
    transpose_problem cut = *problem;
    int last = cut.ndim - 1;
    if (last >= 0 && cut.shape[last] * cut.size > LONG_RUN &&
        last + 1 < TESS_MAX_NDIM) { /* [n] becomes [n / k, k] by the largest divisor that is short enough */
        int64_t most = LONG_RUN / cut.size, k = most;
        while (cut.shape[last] % k != 0)
            k--;
        if (k >= 256) {
            for (int list = 0; list < 2; list++) {
                cut.stride[list][last + 1] = cut.size;
                cut.stride[list][last] = cut.size * k;
            }
            cut.shape[last] /= k;
            cut.shape[last + 1] = k;
            cut.ndim++;
        }
    }
    transpose_plane plane;
    tess_transpose_plane_of(&plane, &cut, true);
    runs r = {.bytes = cut.size, .p_in = plane.p_in, .p_out = plane.p_out, .q_in = plane.q_in, .q_out = plane.q_out, .q_size = plane.q_size};
    if (cut.ndim > 0)
        r.bytes *= cut.shape[cut.ndim - 1];
    if (plane.p_size > 1 && r.bytes <= SHORT_RUN && plane.p_in == r.bytes && plane.q_out == r.bytes && plane.p_size * r.bytes >= STAGE_SIDE / 4 &&
        plane.q_size * r.bytes >= STAGE_SIDE / 4) {
        r.stream = problem->base.bytes / 2 >= LARGE;
        /* where all rows of in begin at the same place of a line, pieces of them are whole lines too; 3 bytes gained nothing certain */
        const bool lines = r.q_in % 64 == 0 && r.bytes > 4;
        const int64_t q_side = stage_side(r.bytes), count = runs_in_lines(r.bytes);
        int64_t p_side =
            tess_min64((lines ? LINES_STAGE : STAGE) / stage_pitch(r.bytes, q_side), tess_max64(1, (lines ? LINES_SIDE : STAGE_SIDE) / r.bytes));
        if (lines && p_side > count)
            p_side = p_side / count * count;
        return tess_transpose_blocks(problem, run, &plane, p_side, q_side, 1, r.bytes, staged_block, &r);
    }
    int64_t side = 4;
    while (side < 64 && r.bytes < BLOCK_BYTES / (side * side)) /* a zero stride makes runs of any length */
        side *= 2;
    int64_t q_block = plane.p_size > 1 ? side : tess_max64(side, BLOCK_BYTES / tess_max64(1, r.bytes));
    bool stream = problem->base.bytes / 2 >= LARGE && r.bytes >= 1024;
    return tess_transpose_blocks(problem, run, &plane, side, q_block, 1, r.bytes, stream ? stream_block : copy_block, &r);
}
