/* SPDX-License-Identifier: Apache-2.0
 * gather.h - words for fetching table entries by a vector of entry numbers.
 *
 * An entry is one value, or a record of two or four that is taken apart: lane i of every result comes from entry at[i]. Entries of 4 and 8 bytes go
 * through the processor's own gather where it has one; larger ones are loaded 16 bytes at a time into the lanes of a vector, which costs one load an
 * entry however many values it holds, and are then interleaved. */
#ifndef TESS_SIMD_GATHER_H
#define TESS_SIMD_GATHER_H

#include "simd/lanes.h"

/* As many 32-bit numbers as a v_f64 has lanes. */
typedef int32_t h_i32 __attribute__((vector_size(TESS_VECTOR_BYTES / 2)));

/* Entries of 4 bytes. */
TESS_INLINE v_i32 v_i32_gather(const void *base, v_i32 at) {
#if defined(__AVX512F__)
    return (v_i32)_mm512_i32gather_epi32((__m512i)at, base, 4);
#elif defined(__AVX2__)
    return (v_i32)_mm256_i32gather_epi32((const int *)base, (__m256i)at, 4);
#else
    v_i32 v;
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
TESS_INLINE v_i64 v_i64_gather(const void *base, h_i32 at) {
#if defined(__AVX512F__)
    return (v_i64)_mm512_i32gather_epi64((__m256i)at, base, 8);
#elif defined(__AVX2__)
    return (v_i64)_mm256_i32gather_epi64((const long long *)base, (__m128i)at, 8);
#else
    v_i64 v;
    for (int i = 0; i < TESS_F64_LANES; i++)
        memcpy((char *)&v + 8 * i, (const char *)base + 8 * (int64_t)at[i], 8);
    return v;
#endif
}

/* Lane l is the 16 bytes at base + at[l * step] * size. */
TESS_INLINE v_bytes v_lanes_gather(const char *base, const int32_t *at, int step, int64_t size) {
#if defined(__AVX512F__)
    __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(const void *)(base + at[0] * size)));
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)(base + at[step] * size)), 1);
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)(base + at[2 * step] * size)), 2);
    return (v_bytes)_mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)(base + at[3 * step] * size)), 3);
#elif defined(__AVX2__)
    return (v_bytes)_mm256_loadu2_m128i((const __m128i *)(const void *)(base + at[step] * size),
                                        (const __m128i *)(const void *)(base + at[0] * size));
#else
    (void)step;
    return v_bytes_load(base + at[0] * size);
#endif
}

/* Entries {first, second} of two floats. */
TESS_INLINE void v_f32_pairs(v_f32 *first, v_f32 *second, const float *base, v_i32 at) {
#if defined(__AVX512F__)
    const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    __m512 low = (__m512)_mm512_i32gather_epi64(_mm512_castsi512_si256((__m512i)at), base, 8);
    __m512 high = (__m512)_mm512_i32gather_epi64(_mm512_extracti64x4_epi64((__m512i)at, 1), base, 8);
    *first = (v_f32)_mm512_permutex2var_ps(low, even, high);
    *second = (v_f32)_mm512_permutex2var_ps(low, _mm512_or_si512(even, _mm512_set1_epi32(1)), high);
#elif defined(__AVX2__)
    __m256 low = (__m256)_mm256_i32gather_epi64((const long long *)(const void *)base, _mm256_castsi256_si128((__m256i)at), 8);
    __m256 high = (__m256)_mm256_i32gather_epi64((const long long *)(const void *)base, _mm256_extracti128_si256((__m256i)at, 1), 8);
    __m256 a = _mm256_permute2f128_ps(low, high, 0x20), b = _mm256_permute2f128_ps(low, high, 0x31); /* 0 1 4 5, 2 3 6 7 */
    *first = (v_f32)_mm256_shuffle_ps(a, b, 0x88);
    *second = (v_f32)_mm256_shuffle_ps(a, b, 0xdd);
#else
    v_f32 a = {0}, b = {0};
    for (int i = 0; i < TESS_F32_LANES; i++) {
        a[i] = base[2 * (int64_t)at[i]];
        b[i] = base[2 * (int64_t)at[i] + 1];
    }
    *first = a;
    *second = b;
#endif
}

/* Entries of four floats. */
TESS_INLINE void v_f32_quads(v_f32 *to, const float *base, v_i32 at) {
    int32_t entry[TESS_F32_LANES];
    const char *from = (const char *)base;
    memcpy(entry, &at, sizeof entry);
    v_bytes a = v_lanes_gather(from, entry, 4, 16), b = v_lanes_gather(from, entry + 1, 4, 16), c = v_lanes_gather(from, entry + 2, 4, 16),
            d = v_lanes_gather(from, entry + 3, 4, 16);
    v_bytes ab = v_zip_low(4, a, b), cd = v_zip_low(4, c, d), ab2 = v_zip_high(4, a, b), cd2 = v_zip_high(4, c, d);
    to[0] = (v_f32)v_zip_low(8, ab, cd);
    to[1] = (v_f32)v_zip_high(8, ab, cd);
    to[2] = (v_f32)v_zip_low(8, ab2, cd2);
    to[3] = (v_f32)v_zip_high(8, ab2, cd2);
}

TESS_INLINE void v_f64_pairs_of(v_f64 *first, v_f64 *second, const char *from, const int32_t *entry, int64_t size) {
    v_bytes a = v_lanes_gather(from, entry, 2, size), b = v_lanes_gather(from, entry + 1, 2, size);
    *first = (v_f64)v_zip_low(8, a, b);
    *second = (v_f64)v_zip_high(8, a, b);
}

/* Entries of two, and of four, doubles. */
TESS_INLINE void v_f64_pairs(v_f64 *first, v_f64 *second, const double *base, h_i32 at) {
    int32_t entry[TESS_F64_LANES];
    memcpy(entry, &at, sizeof entry);
    v_f64_pairs_of(first, second, (const char *)base, entry, 16);
}
TESS_INLINE void v_f64_quads(v_f64 *to, const double *base, h_i32 at) {
    int32_t entry[TESS_F64_LANES];
    memcpy(entry, &at, sizeof entry);
    v_f64_pairs_of(&to[0], &to[1], (const char *)base, entry, 32);
    v_f64_pairs_of(&to[2], &to[3], (const char *)base + 16, entry, 32);
}

#endif
