/* SPDX-License-Identifier: Apache-2.0
 * widen.h - vectors of f64 from integers of at most 32 bits, as many as a v_f64 has lanes; exact. */
#ifndef TESS_SIMD_WIDEN_H
#define TESS_SIMD_WIDEN_H

#include <string.h>

#include "simd/simd.h"

#define WIDEN_EACH(type)                     \
    type x[TESS_F64_LANES];                  \
    v_f64 v = {0};                           \
    memcpy(x, p, sizeof x);                  \
    for (int i = 0; i < TESS_F64_LANES; i++) \
        v[i] = (double)x[i];                 \
    return v

#if defined(__AVX512F__)
#define WIDEN(name, type, load, widen) \
    TESS_INLINE v_f64 v_f64_of_##name(const void *p) { return (v_f64)widen(load((const __m128i *)p)); }
#define WIDEN_U8(x) _mm512_cvtepi32_pd(_mm256_cvtepu8_epi32(x))
#define WIDEN_I8(x) _mm512_cvtepi32_pd(_mm256_cvtepi8_epi32(x))
#define WIDEN_U16(x) _mm512_cvtepi32_pd(_mm256_cvtepu16_epi32(x))
#define WIDEN_I16(x) _mm512_cvtepi32_pd(_mm256_cvtepi16_epi32(x))
WIDEN(u8, uint8_t, _mm_loadl_epi64, WIDEN_U8)
WIDEN(i8, int8_t, _mm_loadl_epi64, WIDEN_I8)
WIDEN(u16, uint16_t, _mm_loadu_si128, WIDEN_U16)
WIDEN(i16, int16_t, _mm_loadu_si128, WIDEN_I16)
TESS_INLINE v_f64 v_f64_of_i32(const void *p) { return (v_f64)_mm512_cvtepi32_pd(_mm256_loadu_si256((const __m256i *)p)); }
TESS_INLINE v_f64 v_f64_of_u32(const void *p) { return (v_f64)_mm512_cvtepu32_pd(_mm256_loadu_si256((const __m256i *)p)); }
#elif defined(__AVX2__)
#define WIDEN(name, type, load, widen)                 \
    TESS_INLINE v_f64 v_f64_of_##name(const void *p) { \
        type x[TESS_F64_LANES];                        \
        __m128i all = _mm_setzero_si128();             \
        memcpy(x, p, sizeof x);                        \
        memcpy(&all, x, sizeof x);                     \
        return (v_f64)_mm256_cvtepi32_pd(widen(all));  \
    }
WIDEN(u8, uint8_t, , _mm_cvtepu8_epi32)
WIDEN(i8, int8_t, , _mm_cvtepi8_epi32)
WIDEN(u16, uint16_t, , _mm_cvtepu16_epi32)
WIDEN(i16, int16_t, , _mm_cvtepi16_epi32)
TESS_INLINE v_f64 v_f64_of_i32(const void *p) { return (v_f64)_mm256_cvtepi32_pd(_mm_loadu_si128((const __m128i *)p)); }
TESS_INLINE v_f64 v_f64_of_u32(const void *p) { WIDEN_EACH(uint32_t); }
#else
TESS_INLINE v_f64 v_f64_of_u8(const void *p) { WIDEN_EACH(uint8_t); }
TESS_INLINE v_f64 v_f64_of_i8(const void *p) { WIDEN_EACH(int8_t); }
TESS_INLINE v_f64 v_f64_of_u16(const void *p) { WIDEN_EACH(uint16_t); }
TESS_INLINE v_f64 v_f64_of_i16(const void *p) { WIDEN_EACH(int16_t); }
TESS_INLINE v_f64 v_f64_of_u32(const void *p) { WIDEN_EACH(uint32_t); }
TESS_INLINE v_f64 v_f64_of_i32(const void *p) { WIDEN_EACH(int32_t); }
#endif

#endif
