/* SPDX-License-Identifier: Apache-2.0
 * half.h - words that load and store narrower numbers as a vector of wider ones: f16 and bf16 as f32, f32 and i32 in twice their width.
 *
 * Every f16, bf16 and f32 is a number of the wider type, so there is nothing to round; NaNs of f16 become quiet. */
#ifndef TESS_SIMD_HALF_H
#define TESS_SIMD_HALF_H

#include "simd/simd.h"

TESS_INLINE float tess_f32_of_bits(uint32_t u) {
    float x;
    memcpy(&x, &u, 4);
    return x;
}
TESS_INLINE uint32_t tess_bits_of_f32(float x) {
    uint32_t u;
    memcpy(&u, &x, 4);
    return u;
}

/* Branch-free so that loops vectorise. Exponents are moved by a multiplication, which also brings f16 subnormals into place. */
TESS_INLINE float tess_f32_of_f16(uint16_t h) {
    uint32_t magnitude = (uint32_t)(h & 0x7fff) << 13;
    float scaled = tess_f32_of_bits(magnitude) * 0x1p112f;
    uint32_t u = magnitude >= 0x0f800000u ? magnitude | 0x7f800000u : tess_bits_of_f32(scaled); /* infinity and NaN */
    u |= magnitude > 0x0f800000u ? 0x00400000u : 0;                                             /* quiet, as the instruction makes it */
    return tess_f32_of_bits(u | (uint32_t)(h & 0x8000) << 16);
}
TESS_INLINE float tess_f32_of_bf16(uint16_t b) { return tess_f32_of_bits((uint32_t)b << 16); }

TESS_INLINE v_f32 v_f32_of_f16(const void *p) {
#if defined(__AVX512F__)
    return (v_f32)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
#elif defined(__F16C__)
    return (v_f32)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
#else
    uint16_t h[TESS_F32_LANES];
    v_f32 v;
    memcpy(h, p, sizeof h);
    for (int i = 0; i < TESS_F32_LANES; i++)
        v[i] = tess_f32_of_f16(h[i]);
    return v;
#endif
}
TESS_INLINE v_f32 v_f32_of_bf16(const void *p) {
#if defined(__AVX512F__)
    return (v_f32)_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p)), 16);
#elif defined(__AVX2__)
    return (v_f32)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p)), 16);
#else
    uint16_t b[TESS_F32_LANES];
    v_f32 v;
    memcpy(b, p, sizeof b);
    for (int i = 0; i < TESS_F32_LANES; i++)
        v[i] = tess_f32_of_bf16(b[i]);
    return v;
#endif
}

#if defined(__F16C__) || defined(__AVX512F__)
enum { TESS_HAS_F16 = 1 }; /* v_f32_of_f16 is an instruction, and v_f32_to_f16 is there */
/* Rounded to nearest even; NaNs become the canonical one. */
TESS_INLINE void v_f32_to_f16(void *p, v_f32 v) {
    v = v_f32_canonical(v);
#if defined(__AVX512F__)
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtps_ph((__m512)v, _MM_FROUND_TO_NEAREST_INT));
#else
    _mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT));
#endif
}
#else
enum { TESS_HAS_F16 = 0 };
TESS_INLINE void v_f32_to_f16(void *p, v_f32 v) {
    (void)p;
    (void)v;
}
#endif

/* As many as a v_f64 has lanes. */
TESS_INLINE v_f64 v_f64_of_f32(const void *p) {
#if defined(__AVX512F__)
    return (v_f64)_mm512_cvtps_pd(_mm256_loadu_ps((const float *)p));
#elif defined(__AVX2__)
    return (v_f64)_mm256_cvtps_pd(_mm_loadu_ps((const float *)p));
#else
    float x[TESS_F64_LANES];
    v_f64 v = {0}; /* gcc 13 sees uninitialised lanes otherwise */
    memcpy(x, p, sizeof x);
    for (int i = 0; i < TESS_F64_LANES; i++)
        v[i] = (double)x[i];
    return v;
#endif
}
TESS_INLINE v_f64 v_f64_of_f16(const void *p) {
#if defined(__AVX512F__)
    return (v_f64)_mm512_cvtps_pd(_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p)));
#elif defined(__F16C__)
    return (v_f64)_mm256_cvtps_pd(_mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)p)));
#else
    uint16_t h[TESS_F64_LANES];
    v_f64 v = {0}; /* gcc 13 sees uninitialised lanes otherwise */
    memcpy(h, p, sizeof h);
    for (int i = 0; i < TESS_F64_LANES; i++)
        v[i] = (double)tess_f32_of_f16(h[i]);
    return v;
#endif
}
TESS_INLINE v_i64 v_i64_of_i32(const void *p) {
#if defined(__AVX512F__)
    return (v_i64)_mm512_cvtepi32_epi64(_mm256_loadu_si256((const __m256i *)p));
#elif defined(__AVX2__)
    return (v_i64)_mm256_cvtepi32_epi64(_mm_loadu_si128((const __m128i *)p));
#else
    int32_t x[TESS_F64_LANES];
    v_i64 v = {0};
    memcpy(x, p, sizeof x);
    for (int i = 0; i < TESS_F64_LANES; i++)
        v[i] = (int64_t)x[i];
    return v;
#endif
}

#endif
