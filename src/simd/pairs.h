/* SPDX-License-Identifier: Apache-2.0
 * pairs.h - vectors of complex numbers as they lie in memory, real and imaginary parts in turn: a product added on is two fused multiply-adds of whole vectors,
 * of the real parts, each twice, and of the imaginary ones. No part is moved away from its partner. */
#ifndef TESS_SIMD_PAIRS_H
#define TESS_SIMD_PAIRS_H

#include "simd/simd.h"

/* Lanes 0, 0, 2, 2, 4, 4 .. of v; lanes 1, 1, 3, 3 .. */
TESS_INLINE v_f32 v_f32_evens(v_f32 v) {
#if defined(__AVX512F__)
    return (v_f32)_mm512_moveldup_ps((__m512)v);
#elif defined(__AVX2__)
    return (v_f32)_mm256_moveldup_ps((__m256)v);
#elif defined(__SSE2__)
    return (v_f32)_mm_shuffle_ps((__m128)v, (__m128)v, 0xa0);
#else
    for (int i = 1; i < TESS_F32_LANES; i += 2)
        v[i] = v[i - 1];
    return v;
#endif
}
TESS_INLINE v_f32 v_f32_odds(v_f32 v) {
#if defined(__AVX512F__)
    return (v_f32)_mm512_movehdup_ps((__m512)v);
#elif defined(__AVX2__)
    return (v_f32)_mm256_movehdup_ps((__m256)v);
#elif defined(__SSE2__)
    return (v_f32)_mm_shuffle_ps((__m128)v, (__m128)v, 0xf5);
#else
    for (int i = 1; i < TESS_F32_LANES; i += 2)
        v[i - 1] = v[i];
    return v;
#endif
}
TESS_INLINE v_f64 v_f64_evens(v_f64 v) {
#if defined(__AVX512F__)
    return (v_f64)_mm512_movedup_pd((__m512d)v);
#elif defined(__AVX2__)
    return (v_f64)_mm256_movedup_pd((__m256d)v);
#elif defined(__SSE2__)
    return (v_f64)_mm_unpacklo_pd((__m128d)v, (__m128d)v);
#else
    for (int i = 1; i < TESS_F64_LANES; i += 2)
        v[i] = v[i - 1];
    return v;
#endif
}
TESS_INLINE v_f64 v_f64_odds(v_f64 v) {
#if defined(__AVX512F__)
    return (v_f64)_mm512_permute_pd((__m512d)v, 0xff);
#elif defined(__AVX2__)
    return (v_f64)_mm256_permute_pd((__m256d)v, 0xf);
#elif defined(__SSE2__)
    return (v_f64)_mm_unpackhi_pd((__m128d)v, (__m128d)v);
#else
    for (int i = 1; i < TESS_F64_LANES; i += 2)
        v[i - 1] = v[i];
    return v;
#endif
}

/* even, odd, even, odd .. */
TESS_INLINE v_f32 v_f32_turns(float even, float odd) {
#if defined(__AVX512F__)
    return (v_f32)_mm512_mask_mov_ps((__m512)v_f32_all(even), 0xaaaa, (__m512)v_f32_all(odd));
#elif defined(__AVX2__)
    return (v_f32)_mm256_blend_ps((__m256)v_f32_all(even), (__m256)v_f32_all(odd), 0xaa);
#elif defined(__SSE2__)
    return (v_f32)_mm_unpacklo_ps((__m128)v_f32_all(even), (__m128)v_f32_all(odd));
#else
    v_f32 v = v_f32_all(even);
    for (int i = 1; i < TESS_F32_LANES; i += 2)
        v[i] = odd;
    return v;
#endif
}
TESS_INLINE v_f64 v_f64_turns(double even, double odd) {
#if defined(__AVX512F__)
    return (v_f64)_mm512_mask_mov_pd((__m512d)v_f64_all(even), 0xaa, (__m512d)v_f64_all(odd));
#elif defined(__AVX2__)
    return (v_f64)_mm256_blend_pd((__m256d)v_f64_all(even), (__m256d)v_f64_all(odd), 0xa);
#elif defined(__SSE2__)
    return (v_f64)_mm_unpacklo_pd((__m128d)v_f64_all(even), (__m128d)v_f64_all(odd));
#else
    v_f64 v = v_f64_all(even);
    for (int i = 1; i < TESS_F64_LANES; i += 2)
        v[i] = odd;
    return v;
#endif
}

/* What a weight b is multiplied with: the real parts of a vector by (re b, im b), then the imaginary ones by (-im b, re b). */
typedef struct v_f32_weight {
    v_f32 by_real, by_imaginary;
} v_f32_weight;
typedef struct v_f64_weight {
    v_f64 by_real, by_imaginary;
} v_f64_weight;
TESS_INLINE v_f32_weight v_f32_weight_of(const float *b) { return (v_f32_weight){v_f32_turns(b[0], b[1]), v_f32_turns(-b[1], b[0])}; }
TESS_INLINE v_f64_weight v_f64_weight_of(const double *b) { return (v_f64_weight){v_f64_turns(b[0], b[1]), v_f64_turns(-b[1], b[0])}; }

/* sum + x * b: to each part of the sum first what the real part of x gives. */
TESS_INLINE v_f32 v_f32_fma_pairs(v_f32 x, const v_f32_weight *b, v_f32 sum) {
    return v_f32_fma(v_f32_odds(x), b->by_imaginary, v_f32_fma(v_f32_evens(x), b->by_real, sum));
}
TESS_INLINE v_f64 v_f64_fma_pairs(v_f64 x, const v_f64_weight *b, v_f64 sum) {
    return v_f64_fma(v_f64_odds(x), b->by_imaginary, v_f64_fma(v_f64_evens(x), b->by_real, sum));
}

#endif
