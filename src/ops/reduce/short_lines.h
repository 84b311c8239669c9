/* SPDX-License-Identifier: Apache-2.0
 * short_lines.h - short rows of one or two bytes an element turned into lines: term j of 64 rows of bytes, or of 32 of 16 bits, is one line of 64 bytes; included by
 * cpu_short.c.
 *
 *     rows, `step` apart            lines
 *     | a0 a1 a2 ..                 | a0 b0 c0 .. |
 *     | b0 b1 b2 ..          ->     | a1 b1 c1 .. |
 *     | c0 c1 c2 ..                 | a2 b2 c2 .. |
 *
 * Each 16-byte lane of a vector takes rows of its own, as many as a lane has elements, 16 bytes of each, and interleaves them as tiles do (tile.h). Rows of less are
 * read together with what follows them, of which nothing comes out; those without gaps whose length is a power of two need only as many vectors as they have
 * elements. */
#ifndef TESS_OPS_REDUCE_SHORT_LINES_H
#define TESS_OPS_REDUCE_SHORT_LINES_H

#include <string.h>

#include "ops/reduce/reduce.h"
#include "simd/apart.h"

/* As many levels of interleaving as turn a lane's elements, over N vectors. */
TESS_INLINE void zip_levels(const int S, const int N, v_bytes *t) {
    TESS_UNROLL for (int level = 1; level < 16 / S; level *= 2) {
        v_bytes n[16];
        TESS_UNROLL for (int i = 0; i < N / 2; i++) {
            n[2 * i] = v_zip_low(S, t[i], t[i + N / 2]);
            n[2 * i + 1] = v_zip_high(S, t[i], t[i + N / 2]);
        }
        TESS_UNROLL for (int i = 0; i < N; i++) t[i] = n[i];
    }
}

/* The first W of the elements in the 16 bytes that are read of each row. */
TESS_INLINE void lines_apart(const int S, const int W, char *to, const char *rows, int64_t step) {
    const int K = 16 / S;
    for (int lane = 0; lane < 4; lane += TESS_LANES) {
        v_bytes t[16];
        TESS_UNROLL for (int i = 0; i < K; i++) t[i] = v_lanes_apart(rows + (lane * K + i) * step, K * step);
        zip_levels(S, K, t);
        TESS_UNROLL for (int j = 0; j < W; j++) v_bytes_store(to + j * 64 + lane * 16, t[j]);
    }
}

/* Rows of W elements without gaps; W: 2, 4 or 8. */
TESS_INLINE void lines_dense(const int S, const int W, char *to, const char *rows) {
    for (int lane = 0; lane < 4; lane += TESS_LANES) {
        v_bytes t[16];
        TESS_UNROLL for (int i = 0; i < W; i++) t[i] = v_lanes_apart(rows + (lane * W + i) * 16, W * 16);
        zip_levels(S, W, t);
        TESS_UNROLL for (int j = 0; j < W; j++) v_bytes_store(to + j * 64 + lane * 16, t[j]);
    }
}

/* Of three, as of pixels: each byte of a line is one of 192. */
#if defined(__AVX512VBMI__)
enum { HAS_THREES = 1 };
TESS_INLINE void lines_of_threes(const int S, char *to, const char *rows) {
    const v_bytes byte = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                          22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
                          44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    const v_bytes first = (byte & (uint8_t)-S) * 3 + (byte & (uint8_t)(S - 1));
    const __m512i a = _mm512_loadu_si512(rows), b = _mm512_loadu_si512(rows + 64), c = _mm512_loadu_si512(rows + 128);
    TESS_UNROLL for (int g = 0; g < 3; g++) {
        const __m512i at = (__m512i)(first + (uint8_t)(g * S));
        const __m512i early = _mm512_permutex2var_epi8(a, at, b); /* of the lowest seven bits of `at` */
        _mm512_storeu_si512(to + g * 64, _mm512_mask_permutexvar_epi8(early, _mm512_movepi8_mask(at), at, c));
    }
}
#else
enum { HAS_THREES = 0 };
TESS_INLINE void lines_of_threes(const int S, char *to, const char *rows) {
    (void)S;
    (void)to;
    (void)rows;
}
#endif

/* Rows of less than 16 bytes. */
#define FEW_LINES(S)                                                                 \
    static void few_lines_##S(char *to, const char *rows, int64_t step, int64_t k) { \
        const bool dense = step == k * S;                                            \
        if (dense && k == 3 && HAS_THREES)                                           \
            lines_of_threes(S, to, rows);                                            \
        else if (dense && k == 2)                                                    \
            lines_dense(S, 2, to, rows);                                             \
        else if (dense && k == 4)                                                    \
            lines_dense(S, 4, to, rows);                                             \
        else if (dense && S == 1 && k == 8)                                          \
            lines_dense(S, 8, to, rows);                                             \
        else if (k <= 2)                                                             \
            lines_apart(S, 2, to, rows, step);                                       \
        else if (k <= 4)                                                             \
            lines_apart(S, 4, to, rows, step);                                       \
        else if (k <= 8)                                                             \
            lines_apart(S, 8, to, rows, step);                                       \
        else                                                                         \
            lines_apart(S, 16 / S, to, rows, step);                                  \
    }
FEW_LINES(1)
FEW_LINES(2)

/* count <= 64 / S rows of k <= 256 elements; what lies before `end`, and behind the lowest row's first byte, may be read. Lines of fewer rows are filled up with zeros.
 * ahead: what is asked for, as many bytes as the rows are, beside the tiles that take as many; or NULL. */
#define LINES(S)                                                                                                                    \
    static TESS_NOINLINE void lines_16_##S(char *to, const char *rows, int64_t step) { lines_apart(S, 16 / S, to, rows, step); }    \
    static void lines_##S(char *to, const char *rows, int64_t step, int64_t count, int64_t k, const char *end, const char *ahead) { \
        enum { ROWS_OF_LINE = 64 / S, TILE = ROWS_OF_LINE * 16 };                                                                   \
        const int64_t bytes = k * S, highest = step > 0 ? (count - 1) * step : 0;                                                   \
        char copy[ROWS_OF_LINE * REDUCE_LANES * S];                                                                                 \
        if (count < ROWS_OF_LINE || (bytes < 16 && end - (rows + highest) < 16)) {                                                  \
            const int64_t pitch = tess_max64(16, bytes);                                                                            \
            memset(copy, 0, (size_t)(ROWS_OF_LINE * pitch));                                                                        \
            for (int64_t r = 0; r < count; r++)                                                                                     \
                memcpy(copy + r * pitch, rows + r * step, (size_t)bytes);                                                           \
            rows = copy;                                                                                                            \
            step = pitch;                                                                                                           \
        }                                                                                                                           \
        for (int64_t at = 0; at < bytes && bytes >= 16; at += 16) {                                                                 \
            for (int i = 0; ahead && i < TILE; i += 64)                                                                             \
                tess_prefetch_l2(ahead + at * ROWS_OF_LINE + i);                                                                    \
            at = tess_min64(at, bytes - 16);                                                                                        \
            lines_16_##S(to + at / S * 64, rows + at, step);                                                                        \
        }                                                                                                                           \
        for (int64_t at = 0; ahead && at < ROWS_OF_LINE * bytes && bytes < 16; at += 64)                                            \
            tess_prefetch_l2(ahead + at);                                                                                           \
        if (bytes < 16)                                                                                                             \
            few_lines_##S(to, rows, step, k);                                                                                       \
    }
LINES(1)
LINES(2)

#endif
