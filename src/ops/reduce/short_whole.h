/* SPDX-License-Identifier: Apache-2.0
 * short_whole.h - sums and means of short rows of 1, 2, 4 or 8 lines (16 to 128 f32, 8 to 64 f64), many sixteens of rows in one call (AVX-512); included by cpu_short.c.
 *
 * Memory is read by half lines strictly in address order, which the words of here.h hold, and by few instructions: sixteen rows written out are so many
 * loads, each some KiB from its last place, that the processor does not see the stream (rows of 128 f32 on a Zen 4: 68 % of reading, by a loop 96). The upper half of a row's
 * lanes is added as it is read; what is left of a row, half a vector, passes L1, and sixteen of those halve together. A mean is its sum times a power of two, which
 * rounds as the division does. */
#ifndef TESS_OPS_REDUCE_SHORT_WHOLE_H
#define TESS_OPS_REDUCE_SHORT_WHOLE_H

#include "core/maker.h"
#include "simd/here.h"
#include "simd/touch.h"

#if defined(__AVX512F__) && defined(__AVX512VL__)
typedef float whole_f32 __attribute__((vector_size(32), aligned(1), may_alias));
typedef double whole_f64 __attribute__((vector_size(32), aligned(1), may_alias));

#if TESS_HERE
#define WHOLE_WORDS(name, letter)                                                                 \
    TESS_INLINE whole_##name whole_load_##name(const char *p) {                                   \
        whole_##name v;                                                                           \
        __asm__ volatile("vmovup" letter " %1, %0" : "=v"(v) : "m"(*(const whole_##name *)p));    \
        return v;                                                                                 \
    }                                                                                             \
    TESS_INLINE whole_##name whole_add_##name(whole_##name v, const char *p) {                    \
        __asm__ volatile("vaddp" letter " %1, %0, %0" : "+v"(v) : "m"(*(const whole_##name *)p)); \
        return v;                                                                                 \
    }
#else
#define WHOLE_WORDS(name, letter)                                                                  \
    TESS_INLINE whole_##name whole_load_##name(const char *p) { return *(const whole_##name *)p; } \
    TESS_INLINE whole_##name whole_add_##name(whole_##name v, const char *p) { return v + *(const whole_##name *)p; }
#endif
WHOLE_WORDS(f32, "s")
WHOLE_WORDS(f64, "d")

/* Of 64 bytes each, two halves far apart. */
TESS_INLINE __m512 whole_pair_f32(const float *low, const float *high) {
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm256_load_ps(low)), _mm256_load_ps(high), 1);
}
TESS_INLINE __m512d whole_pair_f64(const double *low, const double *high) {
    return _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_load_pd(low)), _mm256_load_pd(high), 1);
}

/* The sums of sixteen rows of eight lanes. Rows i, i + 4, i + 8, i + 12 end as element i of lanes 0 to 3. */
TESS_INLINE void whole_halve_f32(float *to, const float *row, float factor, reduce_short_size size) {
    __m512 by_four[4], by_two[2];
    _Pragma("GCC unroll 4") for (int i = 0; i < 4; i++) {
        const __m512 a = whole_pair_f32(row + 8 * i, row + 8 * (i + 4)), b = whole_pair_f32(row + 8 * (i + 8), row + 8 * (i + 12));
        by_four[i] = _mm512_shuffle_f32x4(a, b, 0x88) + _mm512_shuffle_f32x4(a, b, 0xdd);
    }
    _Pragma("GCC unroll 2") for (int i = 0; i < 2; i++) {
        const __m512d a = (__m512d)by_four[2 * i], b = (__m512d)by_four[2 * i + 1];
        by_two[i] = (__m512)_mm512_unpacklo_pd(a, b) + (__m512)_mm512_unpackhi_pd(a, b);
    }
    __m512 sums = _mm512_shuffle_ps(by_two[0], by_two[1], 0x88) + _mm512_shuffle_ps(by_two[0], by_two[1], 0xdd);
    sums = (sums + _mm512_setzero_ps()) * _mm512_set1_ps(factor);
    if (size == REDUCE_SHORT_PAST)
        _mm512_stream_ps(to, (__m512)v_f32_canonical((v_f32)sums));
    else
        _mm512_storeu_ps(to, sums);
}

/* Of twice eight rows of four lanes. Rows i, i + 2, i + 4, i + 6 end as element i of lanes 0 to 3. */
TESS_INLINE void whole_halve_f64(double *to, const double *row, double factor, reduce_short_size size) {
    _Pragma("GCC unroll 2") for (int eight = 0; eight < 16; eight += 8, row += 32) {
        __m512d by_two[2];
        _Pragma("GCC unroll 2") for (int i = 0; i < 2; i++) {
            const __m512d a = whole_pair_f64(row + 4 * i, row + 4 * (i + 2)), b = whole_pair_f64(row + 4 * (i + 4), row + 4 * (i + 6));
            by_two[i] = _mm512_shuffle_f64x2(a, b, 0x88) + _mm512_shuffle_f64x2(a, b, 0xdd);
        }
        __m512d sums = _mm512_unpacklo_pd(by_two[0], by_two[1]) + _mm512_unpackhi_pd(by_two[0], by_two[1]);
        sums = (sums + _mm512_setzero_pd()) * _mm512_set1_pd(factor);
        if (size == REDUCE_SHORT_PAST)
            _mm512_stream_pd(to + eight, (__m512d)v_f64_canonical((v_f64)sums));
        else
            _mm512_storeu_pd(to + eight, sums);
    }
}

/* AT_ONCE: rows an iteration of the loop that reads. */
#define WHOLE_ROWS(name, type, LINES, AT_ONCE)                                                                                                       \
    TESS_INLINE void whole_loop_##name##_##LINES(type *to, const char *rows, int64_t step, int64_t count, type factor, reduce_short_size size,       \
                                                 const int64_t ahead) {                                                                              \
        enum { LANES = 32 / sizeof(type) };                                                                                                          \
        const bool pages = LINES == 1 && tess_cpu_reads_halves();                                                                                    \
        _Alignas(64) type half[REDUCE_SHORT_ROWS * LANES];                                                                                           \
        for (int64_t i = 0; i < count; i += REDUCE_SHORT_ROWS) {                                                                                     \
            if (pages)                                                                                                                               \
                tess_ask_page(rows, REDUCE_SHORT_ROWS *LINES * 64);                                                                                  \
            _Pragma("GCC unroll 1") for (int r = 0; r < REDUCE_SHORT_ROWS; r += AT_ONCE)                                                             \
                _Pragma("GCC unroll 4") for (int s = 0; s < AT_ONCE; s++, rows += step) {                                                            \
                whole_##name a[LINES];                                                                                                               \
                _Pragma("GCC unroll 16") for (int v = 0; v < 2 * LINES; v++) {                                                                       \
                    if (ahead != 0 && v % 2 == 0)                                                                                                    \
                        tess_prefetch_l2(rows + v * 32 + ahead);                                                                                     \
                    a[v % LINES] = v < LINES ? whole_load_##name(rows + v * 32) : whole_add_##name(a[v % LINES], rows + v * 32);                     \
                }                                                                                                                                    \
                _Pragma("GCC unroll 4") for (int w = LINES / 2; w > 0; w /= 2) _Pragma("GCC unroll 8") for (int v = 0; v < w; v++) a[v] += a[v + w]; \
                memcpy(half + (r + s) * LANES, &a[0], 32);                                                                                           \
            }                                                                                                                                        \
            whole_halve_##name(to + i, half, factor, size);                                                                                          \
        }                                                                                                                                            \
    }                                                                                                                                                \
    static void whole_##name##_##LINES(type *to, const char *rows, int64_t step, int64_t count, type factor, reduce_short_size size) {               \
        if ((LINES > 1 || tess_cpu_asks_ahead() || (size != REDUCE_SHORT_CACHED && tess_cpu_is_zen5())) && step <= 1024)                             \
            whole_loop_##name##_##LINES(to, rows, step, count, factor, size, reduce_short_ahead(true));                                              \
        else                                                                                                                                         \
            whole_loop_##name##_##LINES(to, rows, step, count, factor, size, 0);                                                                     \
    }
#define WHOLE(name, type)                                                                                                                    \
    WHOLE_ROWS(name, type, 1, 4)                                                                                                             \
    WHOLE_ROWS(name, type, 2, 1)                                                                                                             \
    WHOLE_ROWS(name, type, 4, 1)                                                                                                             \
    WHOLE_ROWS(name, type, 8, 1)                                                                                                             \
    static bool whole_rows_##name(void *sums, const char *rows, int64_t step, int64_t count, int64_t k, bool mean, reduce_short_size size) { \
        const type factor = mean ? (type)1 / (type)k : 1;                                                                                    \
        switch (k * (int64_t)sizeof(type)) {                                                                                                 \
        case 64: whole_##name##_1(sums, rows, step, count, factor, size); return true;                                                       \
        case 128: whole_##name##_2(sums, rows, step, count, factor, size); return true;                                                      \
        case 256: whole_##name##_4(sums, rows, step, count, factor, size); return true;                                                      \
        case 512: whole_##name##_8(sums, rows, step, count, factor, size); return true;                                                      \
        default: return false;                                                                                                               \
        }                                                                                                                                    \
    }
WHOLE(f32, float)
WHOLE(f64, double)
#define WHOLE_KERNELS .whole = {[tess_f32] = whole_rows_f32, [tess_f64] = whole_rows_f64},
#else
#define WHOLE_KERNELS
#endif

#endif
