/* SPDX-License-Identifier: Apache-2.0
 * cpu_runs.c - the fast axis is kept: rows, or pieces of rows, are copied whole.
 *
 * When the runs are short the two axes above them are walked in blocks, so that the cache lines at both ends of a run, which it shares with its
 * neighbours in in and in out, are still there when the neighbours come. Runs of at most 64 bytes that follow each other in both arrays are turned in a
 * buffer in L1, from which rows of the result go out in whole lines: in place, the rows of a block meet in a few sets of the cache. Runs of 3 bytes, as of
 * pictures, are turned as words in registers on their way to the buffer. Long runs are cut, so
 * that a few of them are work for many threads. */
#include <string.h>

#include "ops/transpose/put_lines.h"
#include "ops/transpose/transpose.h"
#include "simd/square.h"

tess_status TESS_ISA_NAME(tess_transpose_runs)(const tess_problem *base, const tess_run *run);

enum { STAGE_SIDE = 512, STAGE = 40 << 10, LINES_SIDE = 768, LINES_STAGE = 74 << 10, SHORT_RUN = 64, STRIP = 8 };

typedef struct runs {
    int64_t bytes, p_in, p_out, q_in, q_out;
    int64_t q_size, side, before; /* side: rows that are turned at a time; before: bytes for what waits in front of each row of the result */
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

/* Asks for all lines of a piece of a row: where rows begin within a line it has one more. */
TESS_INLINE void ask_ahead(const char *piece, int64_t bytes) {
    for (int64_t line = -(int64_t)((uintptr_t)piece % LINE); line < bytes; line += LINE)
        tess_prefetch_l2(piece + line);
}

#if TESS_VECTOR_BYTES == 32 || defined(__AVX512VBMI__)
/* Runs of 3 bytes, as many as a vector has words, from as many rows: widened to words, turned in registers, and narrowed again. */
enum { THREE = 3, THREES = TESS_F32_LANES, THREES_SIDE = 256 };

/* May read up to 16 bytes more than the runs have. */
TESS_INLINE v_f32 threes_load(const char *from) {
#if TESS_VECTOR_BYTES == 64
    const __m512i word = _mm512_set_epi32(0x002f2e2d, 0x002c2b2a, 0x00292827, 0x00262524, 0x00232221, 0x00201f1e, 0x001d1c1b, 0x001a1918, 0x00171615,
                                          0x00141312, 0x0011100f, 0x000e0d0c, 0x000b0a09, 0x00080706, 0x00050403, 0x00020100);
    return (v_f32)_mm512_permutexvar_epi8(word, _mm512_loadu_si512(from));
#else
    const __m256i word =
        _mm256_set_epi8(-1, 15, 14, 13, -1, 12, 11, 10, -1, 9, 8, 7, -1, 6, 5, 4, -1, 11, 10, 9, -1, 8, 7, 6, -1, 5, 4, 3, -1, 2, 1, 0);
    return (v_f32)_mm256_shuffle_epi8(_mm256_loadu2_m128i((const __m128i *)(const void *)(from + 8), (const __m128i *)(const void *)from), word);
#endif
}
/* Writes up to 16 bytes more than the runs have. */
TESS_INLINE void threes_store(char *to, v_f32 v) {
#if TESS_VECTOR_BYTES == 64
    const __m512i three = _mm512_set_epi32(0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x3e3d3c3a, 0x39383635, 0x34323130, 0x2e2d2c2a, 0x29282625,
                                           0x24222120, 0x1e1d1c1a, 0x19181615, 0x14121110, 0x0e0d0c0a, 0x09080605, 0x04020100);
    v_bytes_store(to, (v_bytes)_mm512_permutexvar_epi8(three, (__m512i)v));
#else
    const __m256i three =
        _mm256_set_epi8(-1, -1, -1, -1, 14, 13, 12, 10, 9, 8, 6, 5, 4, 2, 1, 0, -1, -1, -1, -1, 14, 13, 12, 10, 9, 8, 6, 5, 4, 2, 1, 0);
    const __m256i packed = _mm256_shuffle_epi8((__m256i)v, three);
    _mm_storeu_si128((__m128i *)(void *)to, _mm256_castsi256_si128(packed));
    _mm_storeu_si128((__m128i *)(void *)(to + 12), _mm256_extracti128_si256(packed, 1));
#endif
}

/* THREES rows of in, np <= THREES_SIDE runs each, to places `pitch` apart. The rows pass L1 first: turned as they lie, so many lines of one set, each of which two turns need, push
 * each other out. ahead: bytes to what is asked for meanwhile, or 0. */
static void spread_threes(char *to, int64_t pitch, const char *in, int64_t step, int64_t np, int64_t ahead) {
    enum { APART = THREES_SIDE * THREE + LINE };
    _Alignas(64) char row[THREES * APART];
    const int64_t bytes = np * THREE, whole = bytes / LINE * LINE;
    int64_t i = 0;
    for (int k = 0; k < THREES; k++, in += step) {
        if (ahead != 0)
            ask_ahead(in + ahead, bytes);
        for (int64_t line = 0; line < whole; line += LINE)
            for (int part = 0; part < LINE; part += TESS_VECTOR_BYTES)
                v_bytes_store(row + k * APART + line + part, v_bytes_load(in + line + part));
        memcpy(row + k * APART + whole, in + whole, (size_t)(bytes - whole));
    }
    for (; i + THREES <= np; i += THREES) {
        v_f32 v[THREES];
        for (int k = 0; k < THREES; k++)
            v[k] = threes_load(row + k * APART + i * THREE);
        v_f32_square(v);
        for (int k = 0; k < THREES; k++)
            threes_store(to + (i + k) * pitch, v[k]);
    }
    for (int k = 0; k < THREES; k++)
        spread_4(to + i * pitch + k * THREE, pitch, row + k * APART + i * THREE, THREE, np - i);
}
#else
enum { THREE = 3, THREES = INT32_MAX };
static void spread_threes(char *to, int64_t pitch, const char *in, int64_t step, int64_t np, int64_t ahead) {
    (void)to, (void)pitch, (void)in, (void)step, (void)np, (void)ahead;
}
#endif

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
/* Bytes between those rows: an odd number of lines, room for what waits before them, and for what is too much. */
static int64_t stage_pitch(int64_t before, int64_t bytes, int64_t nq) { return ((before + nq * bytes + SHORT_RUN + 63) / 64 | 1) * 64; }

/* np columns of nq runs, r->side rows of them at a time. What ends within a line of the result waits in the buffer for the rows that follow. */
static void staged_block(const void *argument, const char *in, char *out, int64_t p, int64_t np, int64_t q, int64_t nq) {
    const runs *r = argument;
    const int64_t pitch = stage_pitch(r->before, r->bytes, r->side), bytes = np * r->bytes;
    const int64_t rows_ahead = r->bytes == THREE ? 32 : 16;
    _Alignas(64) char stage[LINES_STAGE];
    (void)p;
    for (int64_t done = 0, n; done < nq; done += n, in += n * r->q_in, out += n * r->bytes) {
        n = tess_min64(nq - done, r->side);
        for (int64_t k = 0, rows; k < n; k += rows) {
            const char *from = in + k * r->q_in;
            char *to = stage + r->before + k * r->bytes;
            rows = r->bytes == THREE && n - k >= THREES ? THREES : 1;
            const int64_t ahead = q + done + k + rows + rows_ahead <= r->q_size ? rows_ahead * r->q_in : 0;
            if (ahead != 0 && rows == 1)
                ask_ahead(from + ahead, bytes);
            if (rows > 1)
                spread_threes(to, pitch, from, r->q_in, np, ahead);
            else if (r->bytes <= 4)
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
        for (int64_t i = 0; i < np; i++) {
            char *to = out + i * r->p_out, *row = stage + i * pitch;
            if (r->before > 0)
                tess_put_lines(to, row, done > 0 ? (int64_t)((uintptr_t)to % LINE) : 0, n * r->bytes, done + n == nq);
            else if (r->stream)
                tess_stream_copy(to, row, n * r->bytes);
            else
                memcpy(to, row, (size_t)(n * r->bytes));
        }
    }
}

/* A piece of a run that is cut. */
static void copy_piece(const void *argument, const char *in, char *out, int64_t p, int64_t np, int64_t q, int64_t nq) {
    (void)p, (void)np, (void)q;
    tess_copy_run(out, in, nq * ((const runs *)argument)->bytes);
}
static void stream_piece(const void *argument, const char *in, char *out, int64_t p, int64_t np, int64_t q, int64_t nq) {
    (void)p, (void)np, (void)q;
    tess_stream_copy(out, in, nq * ((const runs *)argument)->bytes);
}

/* Long runs of a result that no cache holds. */
static void stream_block(const void *argument, const char *in, char *out, int64_t p, int64_t np, int64_t q, int64_t nq) {
    const runs *r = argument;
    (void)p;
    (void)q;
    for (int64_t i = 0; i < np; i++)
        for (int64_t k = 0; k < nq; k++)
            tess_stream_copy(out + i * r->p_out + k * r->q_out, in + i * r->p_in + k * r->q_in, r->bytes);
}

tess_status TESS_ISA_NAME(tess_transpose_runs)(const tess_problem *base, const tess_run *run) {
    enum { BLOCK_BYTES = 1 << 15, LONG_RUN = 1 << 16, LONG_LEAST = 1 << 10, LARGE = 8 << 20, AGAIN = 32 << 20 };
    const transpose_problem *problem = (const transpose_problem *)base;
    if (problem->place == TRANSPOSE_NOTHING)
        return TESS_OK;
    const int64_t run_bytes = problem->size * (problem->ndim > 0 ? problem->shape[problem->ndim - 1] : 1);
    const bool is_long = run_bytes > LONG_RUN;
    transpose_plane plane;
    tess_transpose_plane_of(&plane, problem, !is_long);
    runs r = {.bytes = run_bytes, .p_in = plane.p_in, .p_out = plane.p_out, .q_in = plane.q_in, .q_out = plane.q_out, .q_size = plane.q_size};
    if (plane.p_size > 1 && r.bytes <= SHORT_RUN && plane.p_in == r.bytes && plane.q_out == r.bytes && plane.p_size * r.bytes >= STAGE_SIDE / 4 &&
        plane.q_size * r.bytes >= STAGE_SIDE / 4) {
        r.stream = problem->base.bytes / 2 >= LARGE;
        /* where all rows of in begin at the same place of a line, pieces of them are whole lines too */
        const bool lines = r.q_in % 64 == 0 && (r.bytes > 4 || r.bytes == THREE);
        uint64_t places = (uint64_t)(uintptr_t)(run->out + problem->first[TRANSPOSE_OUT]) | (uint64_t)plane.p_out;
        for (int d = 0; d < plane.ndim; d++)
            places |= (uint64_t)plane.stride[TRANSPOSE_OUT][d];
        r.before = r.stream && places % LINE != 0 ? LINE : 0;
        r.side = stage_side(r.bytes);
        const int64_t count = runs_in_lines(r.bytes), pitch = stage_pitch(r.before, r.bytes, r.side);
        int64_t p_side = tess_min64((lines ? LINES_STAGE : STAGE) / pitch, tess_max64(1, (lines ? LINES_SIDE : STAGE_SIDE) / r.bytes));
        if (lines && p_side > count)
            p_side = p_side / count * count;
        else if (r.bytes == THREE && p_side > 16)
            p_side = p_side / 16 * 16;
        return tess_transpose_blocks(problem, run, &plane, p_side, r.before > 0 ? STRIP * r.side : r.side, 1, r.bytes, staged_block, &r);
    }
    int64_t side = 4;
    while (side < 64 && r.bytes < BLOCK_BYTES / (side * side)) /* a zero stride makes runs of any length */
        side *= 2;
    int64_t q_block = plane.p_size > 1 ? side : tess_max64(side, BLOCK_BYTES / tess_max64(1, r.bytes));
    bool stream = problem->base.bytes / 2 >= LARGE && r.bytes >= 1024;
    /* What is copied again and again is read from the caches, and the copies that memcpy makes are quicker while the result fits the last one. */
    for (int d = 0; d < problem->ndim && problem->base.bytes / 2 <= AGAIN; d++)
        stream = stream && (problem->stride[TRANSPOSE_IN][d] != 0 || problem->shape[d] == 1);
    if (is_long) { /* q walks along it */
        r.bytes = problem->size;
        return tess_transpose_blocks(problem, run, &plane, 1, LONG_RUN / r.bytes, LONG_LEAST / r.bytes, r.bytes, stream ? stream_piece : copy_piece,
                                     &r);
    }
    return tess_transpose_blocks(problem, run, &plane, side, q_block, 1, r.bytes, stream ? stream_block : copy_block, &r);
}
