/* SPDX-License-Identifier: Apache-2.0
 * short_tiny.h - sums, means and extremes of rows of 2, 3, 4 and 8 f32 and 2, 3 and 4 f64 without gaps (AVX-512): colours, places in space, quaternions; included by cpu_short.c.
 *
 * Sixteen such rows are a few vectors, which halve as they lie: of two vectors one is made that holds the left halves of their rows and one that holds the right ones, until a
 * lane is a row. Of three elements a row the terms are picked by permutes. Many sixteens go in one call: calls, masks and copies for each of them took 17 ns, be a row 12 bytes long
 * or 32 (Zen 5), where memory brings 32 rows of 3 f32 in that time. Extremes of vectors with NaNs or -0 among them are left to keys (short_kinds.h). */
#ifndef TESS_OPS_REDUCE_SHORT_TINY_H
#define TESS_OPS_REDUCE_SHORT_TINY_H

#include "core/maker.h"
#include "ops/reduce/short_dense.h"
#include "simd/simd.h"
#include "simd/touch.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__)
TESS_INLINE __m512 tiny_join_f32(__m512 a, __m512 b, const reduce_tiny_fold fold) {
    return fold == REDUCE_TINY_LEAST ? _mm512_min_ps(a, b) : fold == REDUCE_TINY_GREATEST ? _mm512_max_ps(a, b) : _mm512_add_ps(a, b);
}
TESS_INLINE __m512d tiny_join_f64(__m512d a, __m512d b, const reduce_tiny_fold fold) {
    return fold == REDUCE_TINY_LEAST ? _mm512_min_pd(a, b) : fold == REDUCE_TINY_GREATEST ? _mm512_max_pd(a, b) : _mm512_add_pd(a, b);
}

/* Halves of the rows of two vectors, joined: rows of 8, 4 and 2 elements, whose left halves are 128 bits, 64 bits and one element. */
TESS_INLINE __m512 tiny_halve_f32(__m512 a, __m512 b, const int k, const reduce_tiny_fold fold) {
    if (k == 8)
        return tiny_join_f32(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xdd), fold);
    if (k == 4)
        return tiny_join_f32((__m512)_mm512_unpacklo_pd((__m512d)a, (__m512d)b), (__m512)_mm512_unpackhi_pd((__m512d)a, (__m512d)b), fold);
    return tiny_join_f32(_mm512_shuffle_ps(a, b, 0x88), _mm512_shuffle_ps(a, b, 0xdd), fold);
}
TESS_INLINE __m512d tiny_halve_f64(__m512d a, __m512d b, const int k, const reduce_tiny_fold fold) {
    if (k == 4)
        return tiny_join_f64(_mm512_shuffle_f64x2(a, b, 0x88), _mm512_shuffle_f64x2(a, b, 0xdd), fold);
    return tiny_join_f64(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b), fold);
}

/* Term g of as many rows of three as a vector has lanes. */
TESS_INLINE __m512 tiny_third_f32(const __m512 *v, const int g) { return (__m512)dense_third_4((__m512i)v[0], (__m512i)v[1], (__m512i)v[2], g); }
TESS_INLINE __m512d tiny_third_f64(const __m512d *v, const int g) { return (__m512d)dense_third_8((__m512i)v[0], (__m512i)v[1], (__m512i)v[2], g); }

/* Where row i of a vector's is in the end. */
TESS_INLINE __m512i tiny_order_f32(const int k) {
    return k == 2 ? _mm512_setr_epi32(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15)
                  : _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
}
TESS_INLINE __m512i tiny_order_f64(const int k) {
    (void)k;
    return _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
}

/* As many rows as a vector has lanes, from k vectors; then the rows of a problem, as many as are whole vectors of results, up to the first that keys are wanted for. awkward: NaNs and -0. */
#define TINY(name, type, vector, letters)                                                                                                            \
    TESS_INLINE vector tiny_rows_##name(vector *v, const int k, const reduce_tiny_fold fold) {                                                       \
        if (k == 3)                                                                                                                                  \
            return tiny_join_##name(tiny_join_##name(tiny_third_##name(v, 0), tiny_third_##name(v, 2), fold), tiny_third_##name(v, 1), fold);        \
        _Pragma("GCC unroll 3") for (int w = k; w > 1; w /= 2) _Pragma("GCC unroll 4") for (int i = 0; i < w / 2; i++) v[i] =                        \
            tiny_halve_##name(v[2 * i], v[2 * i + 1], w, fold);                                                                                      \
        return _mm512_permutexvar_##letters(tiny_order_##name(k), v[0]);                                                                             \
    }                                                                                                                                                \
    TESS_INLINE int64_t tiny_loop_##name(type *to, const char *p, int64_t count, const int k, const reduce_tiny_fold fold, reduce_short_size size) { \
        enum { LANES = 64 / sizeof(type), AWKWARD = 0x85 };                                                                                          \
        const bool ordered = fold == REDUCE_TINY_LEAST || fold == REDUCE_TINY_GREATEST, pages = tess_cpu_reads_halves();                             \
        const int64_t ahead = tess_cpu_is_zen5() ? (size == REDUCE_SHORT_CACHED ? 0 : 12288) : tess_cpu_asks_ahead() ? 2048 : 0;                     \
        int64_t i = 0;                                                                                                                               \
        for (; i + LANES <= count; i += LANES, p += 64 * k) {                                                                                        \
            vector v[8];                                                                                                                             \
            unsigned awkward = 0;                                                                                                                    \
            if (pages)                                                                                                                               \
                tess_ask_page(p, 64 * k);                                                                                                            \
            _Pragma("GCC unroll 8") for (int m = 0; m < k; m++) {                                                                                    \
                if (ahead != 0)                                                                                                                      \
                    tess_prefetch_l2(p + ahead + 64 * m);                                                                                            \
                v[m] = _mm512_loadu_##letters(p + 64 * m);                                                                                           \
                if (ordered)                                                                                                                         \
                    awkward |= _mm512_fpclass_##letters##_mask(v[m], AWKWARD);                                                                       \
            }                                                                                                                                        \
            if (awkward)                                                                                                                             \
                break;                                                                                                                               \
            vector r = tiny_rows_##name(v, k, fold);                                                                                                 \
            if (!ordered)                                                                                                                            \
                r += _mm512_setzero_##letters();                                                                                                     \
            if (fold == REDUCE_TINY_MEAN)                                                                                                            \
                r /= _mm512_set1_##letters((type)k);                                                                                                 \
            if (size == REDUCE_SHORT_PAST)                                                                                                           \
                _mm512_stream_##letters(to + i, (vector)v_##name##_canonical((v_##name)r));                                                          \
            else                                                                                                                                     \
                _mm512_storeu_##letters(to + i, r);                                                                                                  \
        }                                                                                                                                            \
        return i;                                                                                                                                    \
    }
#define TINY_FOLDS(name, type, k)                                                                                                \
    static int64_t tiny_##name##_##k(type *to, const char *rows, int64_t count, reduce_tiny_fold fold, reduce_short_size size) { \
        switch (fold) {                                                                                                          \
        case REDUCE_TINY_SUM: return tiny_loop_##name(to, rows, count, k, REDUCE_TINY_SUM, size);                                \
        case REDUCE_TINY_MEAN: return tiny_loop_##name(to, rows, count, k, REDUCE_TINY_MEAN, size);                              \
        case REDUCE_TINY_LEAST: return tiny_loop_##name(to, rows, count, k, REDUCE_TINY_LEAST, size);                            \
        default: return tiny_loop_##name(to, rows, count, k, REDUCE_TINY_GREATEST, size);                                        \
        }                                                                                                                        \
    }
TINY(f32, float, __m512, ps)
TINY(f64, double, __m512d, pd)
TINY_FOLDS(f32, float, 2)
TINY_FOLDS(f32, float, 3)
TINY_FOLDS(f32, float, 4)
TINY_FOLDS(f32, float, 8)
TINY_FOLDS(f64, double, 2)
TINY_FOLDS(f64, double, 3)
TINY_FOLDS(f64, double, 4)

static int64_t tiny_f32(void *to, const char *rows, int64_t count, int64_t k, reduce_tiny_fold fold, reduce_short_size size) {
    switch (k) {
    case 2: return tiny_f32_2(to, rows, count, fold, size);
    case 3: return tiny_f32_3(to, rows, count, fold, size);
    case 4: return tiny_f32_4(to, rows, count, fold, size);
    case 8: return tiny_f32_8(to, rows, count, fold, size);
    default: return 0;
    }
}
static int64_t tiny_f64(void *to, const char *rows, int64_t count, int64_t k, reduce_tiny_fold fold, reduce_short_size size) {
    switch (k) {
    case 2: return tiny_f64_2(to, rows, count, fold, size);
    case 3: return tiny_f64_3(to, rows, count, fold, size);
    case 4: return tiny_f64_4(to, rows, count, fold, size);
    default: return 0;
    }
}
#define TINY_KERNELS .tiny = {[tess_f32] = tiny_f32, [tess_f64] = tiny_f64},
#else
#define TINY_KERNELS
#endif

#endif
