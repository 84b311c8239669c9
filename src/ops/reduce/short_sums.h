/* SPDX-License-Identifier: Apache-2.0
 * short_sums.h - sums of sixteen short rows that never leave the registers (AVX-512); included by cpu_short.c.
 *
 * The first halvings of a row's lanes add whole vectors; only what is left, one vector a row, is turned, and halves on the way: of two rows one vector
 * is made that holds the left parts of both and one that holds the right ones, and their sum is the next level of both. That is 30 permutes and 15
 * additions for sixteen rows of f32, where turning them first takes 64 and a passage through L1. Lanes without elements count as +0, which no sum notices
 * that has +0 added in the end. */
#ifndef TESS_OPS_REDUCE_SHORT_SUMS_H
#define TESS_OPS_REDUCE_SHORT_SUMS_H

#include "simd/simd.h"

#if defined(__AVX512F__)
/* The sixteen sums of one vector each. Row 4 L + i ends as element i of lane L. */
TESS_INLINE void network_f32(float *to, const __m512 *row) {
    __m512 by_eight[8], by_four[4], by_two[2];
    for (int i = 0; i < 4; i++)
        for (int half = 0; half < 2; half++) {
            const __m512 a = row[8 * half + i], b = row[8 * half + i + 4];
            by_eight[2 * i + half] = _mm512_shuffle_f32x4(a, b, 0x44) + _mm512_shuffle_f32x4(a, b, 0xee);
        }
    for (int i = 0; i < 4; i++) {
        const __m512 a = by_eight[2 * i], b = by_eight[2 * i + 1];
        by_four[i] = _mm512_shuffle_f32x4(a, b, 0x88) + _mm512_shuffle_f32x4(a, b, 0xdd);
    }
    for (int i = 0; i < 2; i++) {
        const __m512d a = (__m512d)by_four[2 * i], b = (__m512d)by_four[2 * i + 1];
        by_two[i] = (__m512)_mm512_unpacklo_pd(a, b) + (__m512)_mm512_unpackhi_pd(a, b);
    }
    const __m512 sums = _mm512_shuffle_ps(by_two[0], by_two[1], 0x88) + _mm512_shuffle_ps(by_two[0], by_two[1], 0xdd);
    _mm512_storeu_ps(to, sums + _mm512_setzero_ps());
}

/* Twice eight. Row 2 L + i ends as element i of lane L. */
TESS_INLINE void network_f64(double *to, const __m512d *row) {
    for (int eight = 0; eight < 16; eight += 8) {
        __m512d by_four[4], by_two[2];
        for (int i = 0; i < 2; i++)
            for (int half = 0; half < 2; half++) {
                const __m512d a = row[eight + 4 * half + i], b = row[eight + 4 * half + i + 2];
                by_four[2 * i + half] = _mm512_shuffle_f64x2(a, b, 0x44) + _mm512_shuffle_f64x2(a, b, 0xee);
            }
        for (int i = 0; i < 2; i++) {
            const __m512d a = by_four[2 * i], b = by_four[2 * i + 1];
            by_two[i] = _mm512_shuffle_f64x2(a, b, 0x88) + _mm512_shuffle_f64x2(a, b, 0xdd);
        }
        const __m512d sums = _mm512_unpacklo_pd(by_two[0], by_two[1]) + _mm512_unpackhi_pd(by_two[0], by_two[1]);
        _mm512_storeu_pd(to + eight, sums + _mm512_setzero_pd());
    }
}

/* VECTORS: of a row, rounded up to a power of two, so that the lower half of them is whole. */
#define SUM_ROWS(name, type, vector, letters, VECTORS)                                                                                              \
    static void sum_rows_##name##_##VECTORS(type *to, const char *rows, int64_t step, int64_t k, int64_t ahead) {                                   \
        enum { LANES = 64 / sizeof(type), SURE = VECTORS / 2 };                                                                                     \
        vector row[REDUCE_SHORT_ROWS];                                                                                                              \
        uint16_t filled[VECTORS];                                                                                                                   \
        for (int v = SURE; v < VECTORS; v++) {                                                                                                      \
            const int64_t left = k - v * LANES;                                                                                                     \
            filled[v] = (uint16_t)(left <= 0 ? 0 : left >= LANES ? 0xffff : (1 << left) - 1);                                                       \
        }                                                                                                                                           \
        for (int r = 0; r < REDUCE_SHORT_ROWS; r++) {                                                                                               \
            const char *p = rows + r * step;                                                                                                        \
            vector x[VECTORS];                                                                                                                      \
            _Pragma("GCC unroll 32") for (int v = 0; v < VECTORS; v++) {                                                                            \
                if (ahead != 0)                                                                                                                     \
                    tess_prefetch_l2(p + v * 64 + ahead);                                                                                           \
                x[v] = v < SURE ? _mm512_loadu_##letters(p + v * 64) : _mm512_maskz_loadu_##letters((SUM_MASK_##name)filled[v], p + v * 64);        \
            }                                                                                                                                       \
            _Pragma("GCC unroll 8") for (int w = VECTORS / 2; w > 0; w /= 2) _Pragma("GCC unroll 16") for (int v = 0; v < w; v++) x[v] += x[v + w]; \
            row[r] = x[0];                                                                                                                          \
        }                                                                                                                                           \
        network_##name(to, row);                                                                                                                    \
    }
#define SUM_MASK_f32 __mmask16
#define SUM_MASK_f64 __mmask8
SUM_ROWS(f32, float, __m512, ps, 1)
SUM_ROWS(f32, float, __m512, ps, 2)
SUM_ROWS(f32, float, __m512, ps, 4)
SUM_ROWS(f32, float, __m512, ps, 8)
SUM_ROWS(f32, float, __m512, ps, 16)
SUM_ROWS(f64, double, __m512d, pd, 1)
SUM_ROWS(f64, double, __m512d, pd, 2)
SUM_ROWS(f64, double, __m512d, pd, 4)
SUM_ROWS(f64, double, __m512d, pd, 8)
SUM_ROWS(f64, double, __m512d, pd, 16)
SUM_ROWS(f64, double, __m512d, pd, 32)

/* Up to 256 elements from p on, as `load` makes vectors of them, add up to one vector as a row's do. */
#define SEGMENT(name, type, vector, element, load)                                                       \
    TESS_INLINE vector segment_##name(const element *p, int64_t n, const double mean) {                  \
        enum { LANES = 64 / sizeof(type), MOST = REDUCE_LANES / LANES };                                 \
        vector x[MOST];                                                                                  \
        if (n <= LANES)                                                                                  \
            return load((1u << n) - 1, p, mean);                                                         \
        const int vectors = (int)tess_ceil_div(n, LANES);                                                \
        for (int v = 0; v < vectors - 1; v++)                                                            \
            x[v] = load((1u << LANES) - 1, p + v * LANES, mean);                                         \
        x[vectors - 1] = load((1u << (n - (vectors - 1) * LANES)) - 1, p + (vectors - 1) * LANES, mean); \
        for (int have = vectors, w = MOST / 2; w > 0; have = tess_min64(have, w), w /= 2)                \
            for (int v = 0; v + w < have; v++)                                                           \
                x[v] += x[v + w];                                                                        \
        return x[0];                                                                                     \
    }
#define LOAD_F32(mask, p, mean) ((void)(mean), _mm512_maskz_loadu_ps((__mmask16)(mask), p))
#define LOAD_F64(mask, p, mean) ((void)(mean), _mm512_maskz_loadu_pd((__mmask8)(mask), p))
#define LOAD_WIDE(mask, p, mean) ((void)(mean), _mm512_cvtps_pd(_mm256_maskz_loadu_ps((__mmask8)(mask), p)))
/* Squares of what elements are beside the mean, and zeros. */
TESS_INLINE __m512d square_apart(__mmask8 mask, __m512d x, double mean) {
    const __m512d d = _mm512_maskz_sub_pd(mask, x, _mm512_set1_pd(mean));
    return d * d;
}
#define APART_F64(mask, p, mean) square_apart((__mmask8)(mask), LOAD_F64(mask, p, 0), mean)
#define APART_WIDE(mask, p, mean) square_apart((__mmask8)(mask), LOAD_WIDE(mask, p, 0), mean)
SEGMENT(f32, float, __m512, float, LOAD_F32)
SEGMENT(f64, double, __m512d, double, LOAD_F64)
SEGMENT(wide, double, __m512d, float, LOAD_WIDE)
SEGMENT(apart_f64, double, __m512d, double, APART_F64)
SEGMENT(apart_wide, double, __m512d, float, APART_WIDE)

/* Sixteen segments; of longer ones the sum stands in the first lane, and nothing beside it. */
#define SUM_SEGMENTS(name, type, vector, letters)                                                                         \
    static void sum_segments_##name(void *sums, const char *elements, const int64_t *offsets, int64_t split,              \
                                    void (*rows)(void *sums, const char *rows, int64_t step, int64_t count, int64_t k)) { \
        vector row[REDUCE_SHORT_ROWS];                                                                                    \
        for (int r = 0; r < REDUCE_SHORT_ROWS; r++) {                                                                     \
            const int64_t n = offsets[r + 1] - offsets[r];                                                                \
            const type *p = (const type *)(const void *)elements + offsets[r];                                            \
            type one = 0;                                                                                                 \
            if (n <= REDUCE_LANES) {                                                                                      \
                row[r] = segment_##name(p, n, 0);                                                                         \
                continue;                                                                                                 \
            }                                                                                                             \
            if (n < split)                                                                                                \
                rows(&one, (const char *)p, 0, 1, n);                                                                     \
            row[r] = _mm512_maskz_loadu_##letters(1, &one);                                                               \
        }                                                                                                                 \
        network_##name(sums, row);                                                                                        \
    }
SUM_SEGMENTS(f32, float, __m512, ps)
SUM_SEGMENTS(f64, double, __m512d, pd)

/* Means and squared deviations of sixteen segments; what is longer, or empty, is left. */
#define MOMENT_SEGMENTS(type, element, summed, squared)                                                                 \
    static void moment_segments_##type(double *mean, double *m2, const char *elements, const int64_t *offsets) {        \
        __m512d row[REDUCE_SHORT_ROWS];                                                                                 \
        for (int r = 0; r < REDUCE_SHORT_ROWS; r++) {                                                                   \
            const int64_t n = offsets[r + 1] - offsets[r];                                                              \
            row[r] = summed((const element *)(const void *)elements + offsets[r], n <= REDUCE_LANES ? n : 0, 0);        \
        }                                                                                                               \
        network_f64(mean, row);                                                                                         \
        for (int r = 0; r < REDUCE_SHORT_ROWS; r++) {                                                                   \
            const int64_t n = offsets[r + 1] - offsets[r];                                                              \
            mean[r] /= (double)(n > 0 ? n : 1);                                                                         \
            row[r] = squared((const element *)(const void *)elements + offsets[r], n <= REDUCE_LANES ? n : 0, mean[r]); \
        }                                                                                                               \
        network_f64(m2, row);                                                                                           \
    }
MOMENT_SEGMENTS(f32, float, segment_wide, segment_apart_wide)
MOMENT_SEGMENTS(f64, double, segment_f64, segment_apart_f64)

/* false: rows that are better turned. Rows of less than a line, or far apart, are asked for by the caller, or not at all. */
#define SUM_IN_REGISTERS(name, type)                                                                                                             \
    static bool sum_in_registers_##name(type *to, const char *rows, int64_t step, int64_t count, int64_t k) {                                    \
        const int64_t vectors = tess_ceil_div(k * (int64_t)sizeof(type), 64), ahead = step >= 64 && step <= 1024 ? reduce_short_ahead(true) : 0; \
        if (count != REDUCE_SHORT_ROWS || k * (int64_t)sizeof(type) < 16)                                                                        \
            return false;                                                                                                                        \
        if (vectors <= 1)                                                                                                                        \
            sum_rows_##name##_1(to, rows, step, k, ahead);                                                                                       \
        else if (vectors <= 2)                                                                                                                   \
            sum_rows_##name##_2(to, rows, step, k, ahead);                                                                                       \
        else if (vectors <= 4)                                                                                                                   \
            sum_rows_##name##_4(to, rows, step, k, ahead);                                                                                       \
        else if (vectors <= 8)                                                                                                                   \
            sum_rows_##name##_8(to, rows, step, k, ahead);                                                                                       \
        else                                                                                                                                     \
            sum_most_##name(vectors <= 16, to, rows, step, k, ahead);                                                                            \
        return true;                                                                                                                             \
    }
#define sum_most_f32(few, to, rows, step, k, ahead) sum_rows_f32_16(to, rows, step, k, ahead)
#define sum_most_f64(few, to, rows, step, k, ahead) (few ? sum_rows_f64_16 : sum_rows_f64_32)(to, rows, step, k, ahead)
SUM_IN_REGISTERS(f32, float)
SUM_IN_REGISTERS(f64, double)
#else
#define sum_segments_f32 NULL
#define sum_segments_f64 NULL
#define moment_segments_f32 NULL
#define moment_segments_f64 NULL
#define sum_in_registers_f32(to, rows, step, count, k) false
#define sum_in_registers_f64(to, rows, step, count, k) false
#endif

#endif
