/* SPDX-License-Identifier: Apache-2.0
 * groups.h - G vectors of groups of G elements, as of pixels, become G vectors of one plane each, and back.
 *
 * Either way each byte of a result comes from one byte of G vectors, and tables say which: with AVX-512 of any byte of two vectors (vpermi2b), with AVX2
 * of a lane of 16 (vpshufb), so that there a vector has the J-th 16 bytes of one run of groups below, of the next run above. Compilers find neither
 * for elements that lie three apart. TESS_HAS_GROUPS is 0 where there is no such instruction. */
#ifndef TESS_SIMD_GROUPS_H
#define TESS_SIMD_GROUPS_H

#include "simd/lanes.h"

#if defined(__AVX512VBMI__)
#define TESS_HAS_GROUPS 1
enum { TESS_GROUPS_UNIT = 64 };
#elif defined(__AVX2__)
#define TESS_HAS_GROUPS 1
enum { TESS_GROUPS_UNIT = 16 };
#else
#define TESS_HAS_GROUPS 0
enum { TESS_GROUPS_UNIT = 16 };
#endif

typedef struct v_groups {
    _Alignas(64) uint8_t pick[16][64];
} v_groups;

/* Byte b of result k as a byte of the G units, one after another. */
TESS_INLINE int tess_group_source(int G, int size, bool join, int k, int b) {
    const int unit = TESS_GROUPS_UNIT, at = join ? k * unit + b : b, element = at / size;
    return join ? element % G * unit + element / G * size + at % size : (element * G + k) * size + at % size;
}

/* Tables for groups of G elements of `size` bytes: 16 / size elements and more make a unit. */
TESS_INLINE void v_groups_make(v_groups *t, int G, int size, bool join) {
    const int unit = TESS_GROUPS_UNIT;
    for (int k = 0; k < G; k++)
        for (int b = 0; b < unit; b++) {
            const int source = tess_group_source(G, size, join, k, b), from = source / unit, at = source % unit;
            if (unit == 64) { /* the first pair, the second pair (or one alone), and which of the two it is */
                uint8_t(*pick)[64] = t->pick + 3 * k;
                pick[0][b] = (uint8_t)(at | (from & 1) << 6);
                pick[1][b] = G == 3 ? (uint8_t)(from == 2 ? at | 64 : b) : (uint8_t)(at | (from & 1) << 6);
                pick[2][b] = (uint8_t)(b | (from >> 1) << 6);
            } else {
                for (int j = 0; j < G; j++)
                    t->pick[G * k + j][b] = t->pick[G * k + j][b + unit] = from == j ? (uint8_t)at : 0x80; /* 0x80: a zero */
            }
        }
}

#if TESS_HAS_GROUPS
/* Result k of G vectors. */
TESS_INLINE v_bytes v_groups_turn(const int G, const v_groups *t, int k, const v_bytes *from) {
#if defined(__AVX512VBMI__)
    const uint8_t(*pick)[64] = t->pick + 3 * k;
    const __m512i first = _mm512_permutex2var_epi8((__m512i)from[0], _mm512_load_si512(pick[0]), (__m512i)from[1]);
    if (G == 2)
        return (v_bytes)first;
    if (G == 3)
        return (v_bytes)_mm512_permutex2var_epi8(first, _mm512_load_si512(pick[1]), (__m512i)from[2]);
    const __m512i second = _mm512_permutex2var_epi8((__m512i)from[2], _mm512_load_si512(pick[1]), (__m512i)from[3]);
    return (v_bytes)_mm512_permutex2var_epi8(first, _mm512_load_si512(pick[2]), second);
#else
    __m256i sum = _mm256_shuffle_epi8((__m256i)from[0], _mm256_load_si256((const __m256i *)(const void *)t->pick[G * k]));
    for (int j = 1; j < G; j++)
        sum = _mm256_or_si256(sum, _mm256_shuffle_epi8((__m256i)from[j], _mm256_load_si256((const __m256i *)(const void *)t->pick[G * k + j])));
    return (v_bytes)sum;
#endif
}

/* Vector j of G that lie as groups at p. */
TESS_INLINE v_bytes v_groups_load(const int G, const char *p, int j) {
#if defined(__AVX512VBMI__)
    (void)G;
    return v_bytes_load(p + 64 * j);
#else
    return (v_bytes)_mm256_loadu2_m128i((const __m128i_u *)(const void *)(p + 16 * (G + j)), (const __m128i_u *)(const void *)(p + 16 * j));
#endif
}
TESS_INLINE void v_groups_store(const int G, char *p, int j, v_bytes v) {
#if defined(__AVX512VBMI__)
    (void)G;
    v_bytes_store(p + 64 * j, v);
#else
    _mm256_storeu2_m128i((__m128i_u *)(void *)(p + 16 * (G + j)), (__m128i_u *)(void *)(p + 16 * j), (__m256i)v);
#endif
}
#endif

#endif
