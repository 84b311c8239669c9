/* SPDX-License-Identifier: Apache-2.0
 * narrow.h - vectors of f32 from small integers, and back with rounding half to even and saturation, NaN giving 0.
 *
 * v_f32_from_u8(p) reads TESS_F32_LANES elements. tess_u8_of_f32(to, from) writes 4 * TESS_F32_LANES of them, read from `from` (any alignment), by
 * the rule of tessera.h section 3: clamped first and rounded after, which is the same because the limits are whole. TESS_NARROW says whether there
 * are such words here; a plain loop is as good elsewhere. */
#ifndef TESS_SIMD_NARROW_H
#define TESS_SIMD_NARROW_H

#include "simd/half.h"
#include "simd/here.h"

#if defined(__AVX512BW__)
#define TESS_NARROW 1

#define TESS_FROM(name, extend) \
    TESS_INLINE v_f32 v_f32_from_##name(const void *p) { return (v_f32)_mm512_cvtepi32_ps(extend); }
TESS_FROM(u8, _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p)))
TESS_FROM(i8, _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)p)))
TESS_FROM(u16, _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p)))
TESS_FROM(i16, _mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i *)p)))

/* Where packing saturates to `low` whatever is less, NaN as the least of all, 0 needs no maximum: the minimum of high and NaN, in this order, is NaN. */
TESS_INLINE __m512i tess_clamped(const float *from, float low, float high) {
    const __m512 x = _mm512_loadu_ps(from);
    if (low == 0)
        return _mm512_cvtps_epi32(_mm512_min_ps(_mm512_set1_ps(high), x));
    const __m512 above = _mm512_maskz_max_ps(_mm512_cmp_ps_mask(x, x, _CMP_ORD_Q), x, _mm512_set1_ps(low));
    return _mm512_cvtps_epi32(_mm512_min_ps(above, _mm512_set1_ps(high)));
}
/* The packing instructions work within 16-byte lanes: four vectors come out with their fours interleaved, and one permutation puts them in order. */
#define TESS_TO_8(name, low, high, pack)                                                                              \
    TESS_INLINE void tess_##name##_of_f32(void *to, const float *from) {                                              \
        const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);                \
        const __m512i a = _mm512_packs_epi32(tess_clamped(from, low, high), tess_clamped(from + 16, low, high));      \
        const __m512i b = _mm512_packs_epi32(tess_clamped(from + 32, low, high), tess_clamped(from + 48, low, high)); \
        _mm512_storeu_si512(to, _mm512_permutexvar_epi32(order, pack(a, b)));                                         \
    }
TESS_TO_8(u8, 0, 255, _mm512_packus_epi16)
TESS_TO_8(i8, -128, 127, _mm512_packs_epi16)
#define TESS_TO_16(name, low, high, pack)                                                                                    \
    TESS_INLINE void tess_##name##_of_f32(void *to, const float *from) {                                                     \
        const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);                                                     \
        for (int half = 0; half < 2; half++) {                                                                               \
            const __m512i a = tess_clamped(from + 32 * half, low, high), b = tess_clamped(from + 32 * half + 16, low, high); \
            _mm512_storeu_si512((char *)to + 64 * half, _mm512_permutexvar_epi64(order, pack(a, b)));                        \
        }                                                                                                                    \
    }
TESS_TO_16(u16, 0, 65535, _mm512_packus_epi32)
TESS_TO_16(i16, -32768, 32767, _mm512_packs_epi32)

#elif defined(__AVX2__)
#define TESS_NARROW 1

#define TESS_FROM(name, extend) \
    TESS_INLINE v_f32 v_f32_from_##name(const void *p) { return (v_f32)_mm256_cvtepi32_ps(extend); }
TESS_FROM(u8, _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p)))
TESS_FROM(i8, _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)p)))
TESS_FROM(u16, _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p)))
TESS_FROM(i16, _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)p)))

TESS_INLINE __m256i tess_clamped(const float *from, float low, float high) { /* as above */
    const __m256 x = _mm256_loadu_ps(from);
    if (low == 0)
        return _mm256_cvtps_epi32(_mm256_min_ps(_mm256_set1_ps(high), x));
    const __m256 number = _mm256_and_ps(x, _mm256_cmp_ps(x, x, _CMP_ORD_Q));
    return _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(number, _mm256_set1_ps(low)), _mm256_set1_ps(high)));
}
#define TESS_TO_8(name, low, high, pack)                                                                              \
    TESS_INLINE void tess_##name##_of_f32(void *to, const float *from) {                                              \
        const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);                                              \
        const __m256i a = _mm256_packs_epi32(tess_clamped(from, low, high), tess_clamped(from + 8, low, high));       \
        const __m256i b = _mm256_packs_epi32(tess_clamped(from + 16, low, high), tess_clamped(from + 24, low, high)); \
        _mm256_storeu_si256((__m256i *)to, _mm256_permutevar8x32_epi32(pack(a, b), order));                           \
    }
TESS_TO_8(u8, 0, 255, _mm256_packus_epi16)
TESS_TO_8(i8, -128, 127, _mm256_packs_epi16)
#define TESS_TO_16(name, low, high, pack)                                                                                   \
    TESS_INLINE void tess_##name##_of_f32(void *to, const float *from) {                                                    \
        for (int half = 0; half < 2; half++) {                                                                              \
            const __m256i a = tess_clamped(from + 16 * half, low, high), b = tess_clamped(from + 16 * half + 8, low, high); \
            _mm256_storeu_si256((__m256i *)((char *)to + 32 * half), _mm256_permute4x64_epi64(pack(a, b), 0xd8));           \
        }                                                                                                                   \
    }
TESS_TO_16(u16, 0, 65535, _mm256_packus_epi32)
TESS_TO_16(i16, -32768, 32767, _mm256_packs_epi32)
#else
#define TESS_NARROW 0
#endif
#undef TESS_FROM
#undef TESS_TO_8
#undef TESS_TO_16

/* One vector as TESS_F32_LANES bytes, by the rule of tess_u8_of_f32. */
TESS_INLINE void v_f32_to_u8(void *to, v_f32 v) {
#if defined(__AVX512BW__)
    const __m512i whole = _mm512_cvtps_epi32(_mm512_min_ps(_mm512_set1_ps(255), (__m512)v)); /* a NaN is less than all */
    _mm_storeu_si128((__m128i *)to, _mm512_cvtepi32_epi8(_mm512_max_epi32(whole, _mm512_setzero_si512())));
#elif defined(__AVX2__)
    const __m256i whole = _mm256_cvtps_epi32(_mm256_min_ps(_mm256_set1_ps(255), (__m256)v));
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
    _mm_storel_epi64((__m128i *)to, _mm_packus_epi16(words, words));
#else
    for (int i = 0; i < TESS_F32_LANES; i++)
        ((uint8_t *)to)[i] = (uint8_t)rintf(v[i] > 0 ? v[i] < 255 ? v[i] : 255 : 0);
#endif
}

/* v_f32_from_u8 and the like, on every instruction set, that stay where they are written (here.h). */
#if TESS_HERE
#define TESS_FROM_HERE(name, type, extend, convert)                                                           \
    TESS_INLINE v_f32 v_f32_from_##name##_here(const void *p) {                                               \
        typedef type some __attribute__((vector_size(TESS_F32_LANES * sizeof(type)), aligned(1), may_alias)); \
        v_f32 v;                                                                                              \
        __asm__ volatile(extend " %1, %0" convert : "=v"(v) : "m"(*(const some *)p));                         \
        return v;                                                                                             \
    }
#else
#define TESS_FROM_HERE(name, type, extend, convert)             \
    TESS_INLINE v_f32 v_f32_from_##name##_here(const void *p) { \
        type some[TESS_F32_LANES];                              \
        v_f32 v;                                                \
        memcpy(some, p, sizeof some);                           \
        for (int i = 0; i < TESS_F32_LANES; i++)                \
            v[i] = (float)some[i];                              \
        return v_f32_keep(v);                                   \
    }
#endif
TESS_FROM_HERE(u8, uint8_t, "vpmovzxbd", "\n\tvcvtdq2ps %0, %0")
TESS_FROM_HERE(i8, int8_t, "vpmovsxbd", "\n\tvcvtdq2ps %0, %0")
TESS_FROM_HERE(u16, uint16_t, "vpmovzxwd", "\n\tvcvtdq2ps %0, %0")
TESS_FROM_HERE(i16, int16_t, "vpmovsxwd", "\n\tvcvtdq2ps %0, %0")
#if TESS_HERE && (defined(__F16C__) || defined(__AVX512F__))
TESS_FROM_HERE(f16, uint16_t, "vcvtph2ps", "")
#else
TESS_INLINE v_f32 v_f32_from_f16_here(const void *p) { return v_f32_keep(v_f32_of_f16(p)); }
#endif
#undef TESS_FROM_HERE

#endif
