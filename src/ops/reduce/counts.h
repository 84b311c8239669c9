/* SPDX-License-Identifier: Apache-2.0
 * counts.h - how many elements are zero, and how many NaN: of a run, and of rows of columns, eight at once; included by cpu_order.c. */
#ifndef TESS_OPS_REDUCE_COUNTS_H
#define TESS_OPS_REDUCE_COUNTS_H

#include <string.h>

#include "ops/reduce/eight_floats.h"

#define READ(U, p, i, stride) \
    U u;                      \
    memcpy(&u, (const char *)(p) + (i) * (stride), sizeof u)

/* The elements of one width count alike but for the sign bit and where NaNs begin; a counter of the same width needs no widening, so rounds are as
 * many as it can count. A comparison of vectors gives -1. mask drops the sign. */
#define COUNT_LOOP(name, U, mask, is_nan, nans_too)                                                \
    TESS_NOINLINE static void name(const char *p, int64_t rounds, int64_t *zeros, int64_t *nans) { \
        typedef U vector __attribute__((vector_size(TESS_VECTOR_BYTES)));                          \
        const bool ahead = tess_cpu_asks_ahead();                                                  \
        for (int64_t m; rounds > 0; rounds -= m) {                                                 \
            vector zero[4] = {{0}}, nan[4] = {{0}};                                                \
            m = tess_min64(rounds, 192);                                                           \
            for (int64_t r = 0; r < m; r++, p += 4 * TESS_VECTOR_BYTES) {                          \
                if (ahead)                                                                         \
                    tess_prefetch_ahead(p + 4096, 4 * TESS_VECTOR_BYTES);                          \
                for (int v = 0; v < 4; v++) {                                                      \
                    vector u;                                                                      \
                    memcpy(&u, p + v * TESS_VECTOR_BYTES, sizeof u);                               \
                    zero[v] -= (vector)((u & (U)(mask)) == 0);                                     \
                    if (nans_too)                                                                  \
                        nan[v] -= (vector)(is_nan);                                                \
                }                                                                                  \
            }                                                                                      \
            for (int v = 0; v < 4; v++)                                                            \
                for (int i = 0; i < TESS_VECTOR_BYTES / (int)sizeof(U); i++) {                     \
                    *zeros += (int64_t)zero[v][i];                                                 \
                    *nans += (int64_t)nan[v][i];                                                   \
                }                                                                                  \
        }                                                                                          \
    }
#define COUNT_ROWS(name, U, mask, is_nan)                                                                                                           \
    /* A vector of columns of R rows, or what is left of one, on top of what was counted. */                                                        \
    TESS_INLINE void zeros_at_##name(U *zero, U *nan, const char *const *p, int64_t at, const int R, const int64_t bytes, const bool nans_too) {    \
        typedef U vector __attribute__((vector_size(TESS_VECTOR_BYTES)));                                                                           \
        vector z, q = {0};                                                                                                                          \
        memcpy(&z, (char *)zero + at, sizeof z);                                                                                                    \
        if (nans_too)                                                                                                                               \
            memcpy(&q, (char *)nan + at, sizeof q);                                                                                                 \
        TESS_UNROLL for (int k = 0; k < R; k++) {                                                                                                   \
            vector u = {0};                                                                                                                         \
            memcpy(&u, p[k] + at, (size_t)bytes);                                                                                                   \
            z -= (vector)((u & (U)(mask)) == 0);                                                                                                    \
            if (nans_too)                                                                                                                           \
                q -= (vector)(is_nan);                                                                                                              \
        }                                                                                                                                           \
        memcpy((char *)zero + at, &z, sizeof z);                                                                                                    \
        if (nans_too)                                                                                                                               \
            memcpy((char *)nan + at, &q, sizeof q);                                                                                                 \
    }                                                                                                                                               \
    /* R rows, 8 or 1. */                                                                                                                           \
    TESS_INLINE void zeros_of_##name(U *zero, U *nan, const char *const *p, const char *const *next, const int R, int64_t n, const bool nans_too) { \
        const int64_t bytes = n * (int64_t)sizeof(U), whole = bytes / TESS_VECTOR_BYTES * TESS_VECTOR_BYTES;                                        \
        for (int64_t line = 0; R == 1 && next[0] != p[0] && line < bytes; line += 64)                                                               \
            tess_prefetch_l2(next[0] + line);                                                                                                       \
        for (int64_t at = 0; at < whole; at += TESS_VECTOR_BYTES) {                                                                                 \
            if (R == EIGHT_ROWS)                                                                                                                    \
                reduce_ask_eight(p, next, at, bytes);                                                                                               \
            zeros_at_##name(zero, nan, p, at, R, TESS_VECTOR_BYTES, nans_too);                                                                      \
        }                                                                                                                                           \
        if (whole < bytes)                                                                                                                          \
            zeros_at_##name(zero, nan, p, whole, R, bytes - whole, nans_too);                                                                       \
    }                                                                                                                                               \
    static void count_rows_##name(int64_t *restrict zeros, int64_t *restrict nans, const char *base, const int64_t *offsets, int64_t rows,          \
                                  int64_t n, bool omit) {                                                                                           \
        enum { PART = 16384 / sizeof(U) };                                                                                                          \
        _Alignas(64) U zero[PART], nan[PART];                                                                                                       \
        const int64_t most = sizeof(U) == 1 ? 192 : 4096;                                                                                           \
        for (int64_t first = 0, m; first < rows; first += m) {                                                                                      \
            m = tess_min64(most, rows - first);                                                                                                     \
            for (int64_t from = 0; from < n; from += PART) {                                                                                        \
                const int64_t width = tess_min64(PART, n - from);                                                                                   \
                const size_t whole = (size_t)(width * (int64_t)sizeof(U) + TESS_VECTOR_BYTES - 1) / TESS_VECTOR_BYTES * TESS_VECTOR_BYTES;          \
                const char *at = base + from * (int64_t)sizeof(U);                                                                                  \
                memset(zero, 0, whole);                                                                                                             \
                memset(nan, 0, whole);                                                                                                              \
                for (int64_t r = first, taken; r < first + m; r += taken) {                                                                         \
                    const char *p[EIGHT_ROWS], *next[EIGHT_ROWS];                                                                                   \
                    taken = reduce_eight_rows(p, next, at, offsets, r, first + m, width * (int64_t)sizeof(U));                                      \
                    if (taken == 1)                                                                                                                 \
                        zeros_of_##name(zero, nan, p, next, 1, width, omit);                                                                        \
                    else if (omit)                                                                                                                  \
                        zeros_of_##name(zero, nan, p, next, EIGHT_ROWS, width, true);                                                               \
                    else                                                                                                                            \
                        zeros_of_##name(zero, nan, p, next, EIGHT_ROWS, width, false);                                                              \
                }                                                                                                                                   \
                for (int64_t c = 0; c < width; c++) {                                                                                               \
                    zeros[from + c] += (int64_t)zero[c];                                                                                            \
                    nans[from + c] += (int64_t)nan[c];                                                                                              \
                }                                                                                                                                   \
            }                                                                                                                                       \
        }                                                                                                                                           \
    }
#define COUNT(name, U, mask, is_nan)                                                                                      \
    COUNT_LOOP(count_zeros_##name, U, mask, is_nan, false)                                                                \
    COUNT_LOOP(count_both_##name, U, mask, is_nan, true)                                                                  \
    COUNT_ROWS(name, U, mask, is_nan)                                                                                     \
    static void count_##name(const void *elements, int64_t stride, int64_t n, bool omit, int64_t *zeros, int64_t *nans) { \
        const char *p = elements;                                                                                         \
        *zeros = *nans = 0;                                                                                               \
        if (stride == (int64_t)sizeof(U)) {                                                                               \
            const int64_t width = 4 * TESS_VECTOR_BYTES / (int64_t)sizeof(U);                                             \
            (omit ? count_both_##name : count_zeros_##name)(p, n / width, zeros, nans);                                   \
            p += n / width * width * (int64_t)sizeof(U);                                                                  \
            n %= width;                                                                                                   \
        }                                                                                                                 \
        for (int64_t i = 0; i < n; i++) {                                                                                 \
            READ(U, p, i, stride);                                                                                        \
            *zeros += (u & (U)(mask)) == 0;                                                                               \
            *nans += (is_nan);                                                                                            \
        }                                                                                                                 \
    }
COUNT(8, uint8_t, -1, u != u)
COUNT(16, uint16_t, -1, u != u)
COUNT(32, uint32_t, -1, u != u)
COUNT(64, uint64_t, -1, u != u)
COUNT(f16, uint16_t, 0x7fff, (u & 0x7fff) > 0x7c00)
COUNT(bf16, uint16_t, 0x7fff, (u & 0x7fff) > 0x7f80)
COUNT(f32, uint32_t, INT32_MAX, (u & INT32_MAX) > 0x7f800000)
COUNT(f64, uint64_t, INT64_MAX, (u & INT64_MAX) > 0x7ff0000000000000)

#define COUNT_COMPLEX(name, type)                                                                                         \
    static void count_##name(const void *elements, int64_t stride, int64_t n, bool omit, int64_t *zeros, int64_t *nans) { \
        const char *p = elements;                                                                                         \
        int64_t zero = 0, nan = 0;                                                                                        \
        (void)omit;                                                                                                       \
        for (int64_t i = 0; i < n; i++, p += stride) {                                                                    \
            type part[2];                                                                                                 \
            memcpy(part, p, sizeof part);                                                                                 \
            zero += part[0] == 0 && part[1] == 0;                                                                         \
            nan += part[0] != part[0] || part[1] != part[1];                                                              \
        }                                                                                                                 \
        *zeros = zero;                                                                                                    \
        *nans = nan;                                                                                                      \
    }
COUNT_COMPLEX(c64, float)
COUNT_COMPLEX(c128, double)

#endif
