/* SPDX-License-Identifier: Apache-2.0
 * gather.h - words for fetching table entries by a vector of entry numbers.
 *
 * An entry is one value, or a record of two or four that is taken apart: lane i of every result comes from entry at[i]. Values of 4 and 8 bytes go
 * through the processor's own gather where it has one; records are loaded 16 bytes at a time into the lanes of a vector, which costs one load
 * however many values they hold, and are then interleaved. */
#ifndef TESS_SIMD_GATHER_H
#define TESS_SIMD_GATHER_H

#include "simd/lanes.h"

/* As many 32-bit numbers as a v_f64 has lanes. */
typedef int32_t h_i32 __attribute__((vector_size(TESS_VECTOR_BYTES / 2)));
typedef uint32_t h_u32 __attribute__((vector_size(TESS_VECTOR_BYTES / 2)));

/* Entries of 4 bytes. */
TESS_INLINE v_f32 v_f32_gather(const void *base, const uint32_t *at) {
#if defined(__AVX512F__)
    return (v_f32)_mm512_i32gather_epi32(_mm512_loadu_si512(at), base, 4);
#elif defined(__AVX2__)
    return (v_f32)_mm256_i32gather_epi32((const int *)base, _mm256_loadu_si256((const __m256i *)(const void *)at), 4);
#else
    v_f32 v;
    for (int i = 0; i < TESS_F32_LANES; i++)
        memcpy((char *)&v + 4 * i, (const char *)base + 4 * (int64_t)at[i], 4);
    return v;
#endif
}

/* The 4 bytes at base + offset[i], at any address. */
TESS_INLINE v_i32 v_i32_gather_bytes(const void *base, v_i32 offset) {
#if defined(__AVX512F__)
    return (v_i32)_mm512_i32gather_epi32((__m512i)offset, base, 1);
#elif defined(__AVX2__)
    return (v_i32)_mm256_i32gather_epi32((const int *)base, (__m256i)offset, 1);
#else
    v_i32 v;
    for (int i = 0; i < TESS_F32_LANES; i++)
        memcpy((char *)&v + 4 * i, (const char *)base + offset[i], 4);
    return v;
#endif
}

/* Entries of 8 bytes. */
TESS_INLINE v_f64 v_f64_gather(const void *base, const uint32_t *at) {
#if defined(__AVX512F__)
    return (v_f64)_mm512_i32gather_epi64(_mm256_loadu_si256((const __m256i *)(const void *)at), base, 8);
#elif defined(__AVX2__)
    return (v_f64)_mm256_i32gather_epi64((const long long *)base, _mm_loadu_si128((const __m128i *)(const void *)at), 8);
#else
    v_f64 v;
    for (int i = 0; i < TESS_F64_LANES; i++)
        memcpy((char *)&v + 8 * i, (const char *)base + 8 * (int64_t)at[i], 8);
    return v;
#endif
}

/* Lane l is the 16 bytes at base + at[l * step] * size. */
TESS_INLINE v_bytes v_lanes_gather(const char *base, const uint32_t *at, int step, int64_t size) {
#if defined(__AVX512F__)
    __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(const void *)(base + (int64_t)at[0] * size)));
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)(base + (int64_t)at[step] * size)), 1);
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)(base + (int64_t)at[2 * step] * size)), 2);
    return (v_bytes)_mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)(base + (int64_t)at[3 * step] * size)), 3);
#elif defined(__AVX2__)
    return (v_bytes)_mm256_loadu2_m128i((const __m128i *)(const void *)(base + (int64_t)at[step] * size),
                                        (const __m128i *)(const void *)(base + (int64_t)at[0] * size));
#else
    (void)step;
    return v_bytes_load(base + (int64_t)at[0] * size);
#endif
}

/* Records of two, and of four, values of 4 or 8 bytes. Their numbers are read from memory, where they should have been for some time: a processor
 * that must hand a vector's store on to narrower loads stalls. */
TESS_INLINE void v_f32_pairs(v_f32 *to, const float *base, const uint32_t *at) {
#if defined(__AVX512F__)
    const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    __m512 low = (__m512)_mm512_i32gather_epi64(_mm256_loadu_si256((const __m256i *)(const void *)at), base, 8);
    __m512 high = (__m512)_mm512_i32gather_epi64(_mm256_loadu_si256((const __m256i *)(const void *)(at + 8)), base, 8);
    to[0] = (v_f32)_mm512_permutex2var_ps(low, even, high);
    to[1] = (v_f32)_mm512_permutex2var_ps(low, _mm512_or_si512(even, _mm512_set1_epi32(1)), high);
#elif defined(__AVX2__)
    __m128 q[4];
    for (int i = 0; i < 4; i++)
        q[i] = _mm_loadh_pi(_mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(const void *)(base + 2 * (int64_t)at[2 * i]))),
                            (const __m64 *)(const void *)(base + 2 * (int64_t)at[2 * i + 1]));
    __m256 a = _mm256_set_m128(q[2], q[0]), b = _mm256_set_m128(q[3], q[1]);
    to[0] = (v_f32)_mm256_shuffle_ps(a, b, 0x88);
    to[1] = (v_f32)_mm256_shuffle_ps(a, b, 0xdd);
#else
    v_f32 a = {0}, b = {0};
    for (int i = 0; i < TESS_F32_LANES; i++) {
        a[i] = base[2 * (int64_t)at[i]];
        b[i] = base[2 * (int64_t)at[i] + 1];
    }
    to[0] = a;
    to[1] = b;
#endif
}

TESS_INLINE void v_f32_quads(v_f32 *to, const float *base, const uint32_t *at) {
    const char *from = (const char *)base;
    v_bytes a = v_lanes_gather(from, at, 4, 16), b = v_lanes_gather(from, at + 1, 4, 16), c = v_lanes_gather(from, at + 2, 4, 16),
            d = v_lanes_gather(from, at + 3, 4, 16);
    v_bytes ab = v_zip_low(4, a, b), cd = v_zip_low(4, c, d), ab2 = v_zip_high(4, a, b), cd2 = v_zip_high(4, c, d);
    to[0] = (v_f32)v_zip_low(8, ab, cd);
    to[1] = (v_f32)v_zip_high(8, ab, cd);
    to[2] = (v_f32)v_zip_low(8, ab2, cd2);
    to[3] = (v_f32)v_zip_high(8, ab2, cd2);
}

TESS_INLINE void v_f64_pairs_of(v_f64 *to, const char *from, const uint32_t *at, int64_t size) {
    v_bytes a = v_lanes_gather(from, at, 2, size), b = v_lanes_gather(from, at + 1, 2, size);
    to[0] = (v_f64)v_zip_low(8, a, b);
    to[1] = (v_f64)v_zip_high(8, a, b);
}
TESS_INLINE void v_f64_pairs(v_f64 *to, const double *base, const uint32_t *at) { v_f64_pairs_of(to, (const char *)base, at, 16); }
TESS_INLINE void v_f64_quads(v_f64 *to, const double *base, const uint32_t *at) {
    v_f64_pairs_of(to, (const char *)base, at, 32);
    v_f64_pairs_of(to + 2, (const char *)base + 16, at, 32);
}

#endif
