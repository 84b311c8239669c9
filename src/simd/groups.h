/* SPDX-License-Identifier: Apache-2.0
 * groups.h - G vectors of groups of G elements, as of pixels or channels, become G vectors of one plane each, and back.
 *
 * Either way each byte of a result comes from one byte of G vectors, and tables say which: with AVX-512 of any byte of two vectors (vpermi2b), with AVX2
 * of a lane of 16 (vpshufb), so that there a vector has the J-th 16 bytes of one run of groups below, of the next run above. Bytes that others bring are
 * zeros, and the parts are put together by or. Compilers find neither for elements that lie three apart. TESS_HAS_GROUPS is 0 where there is no such
 * instruction. */
#ifndef TESS_SIMD_GROUPS_H
#define TESS_SIMD_GROUPS_H

#include "simd/lanes.h"

/* TESS_GROUPS_UNIT: bytes that one instruction picks from; TESS_GROUPS_MOST: groups are no longer, so that G vectors stay in registers. */
#if defined(__AVX512VBMI__)
#define TESS_HAS_GROUPS 1
enum { TESS_GROUPS_UNIT = 64, TESS_GROUPS_MOST = 16 };
#elif defined(__AVX2__)
#define TESS_HAS_GROUPS 1
enum { TESS_GROUPS_UNIT = 16, TESS_GROUPS_MOST = 8 };
#else
#define TESS_HAS_GROUPS 0
enum { TESS_GROUPS_UNIT = 16, TESS_GROUPS_MOST = 4 };
#endif

/* pick: a table for each part of each result, of two vectors or of one; keep: the bytes that the part brings, where no byte of the table can say so. */
typedef struct v_groups {
    _Alignas(64) uint8_t pick[128][64];
    uint64_t keep[128];
} v_groups;

/* Parts of a result. */
TESS_INLINE int tess_group_parts(int G) { return TESS_GROUPS_UNIT == 64 ? (G + 1) / 2 : G; }

/* Byte b of result k as a byte of the G units, one after another. */
TESS_INLINE int tess_group_source(int G, int size, bool join, int k, int b) {
    const int unit = TESS_GROUPS_UNIT, at = join ? k * unit + b : b, element = at / size;
    return join ? element % G * unit + element / G * size + at % size : (element * G + k) * size + at % size;
}

/* Tables for groups of G elements of `size` bytes: 16 / size elements and more make a unit. */
TESS_INLINE void v_groups_make(v_groups *t, int G, int size, bool join) {
    const int unit = TESS_GROUPS_UNIT, parts = tess_group_parts(G);
    for (int k = 0; k < G; k++) {
        uint8_t(*pick)[64] = t->pick + parts * k;
        uint64_t *keep = t->keep + parts * k;
        for (int j = 0; j < parts; j++) {
            memset(pick[j], 0x80, sizeof pick[j]); /* to vpshufb, a zero */
            keep[j] = 0;
        }
        for (int b = 0; b < unit; b++) {
            const int source = tess_group_source(G, size, join, k, b), from = source / unit, at = source % unit;
            if (unit == 64) {
                pick[from / 2][b] = (uint8_t)(at | (from & 1) << 6);
                keep[from / 2] |= 1ull << b;
            } else {
                pick[from][b] = pick[from][b + unit] = (uint8_t)at;
            }
        }
    }
}

#if TESS_HAS_GROUPS
/* Result k of G vectors. */
TESS_INLINE v_bytes v_groups_turn(const int G, const v_groups *t, int k, const v_bytes *from) {
    const int parts = tess_group_parts(G);
    const uint8_t(*pick)[64] = t->pick + parts * k;
#if defined(__AVX512VBMI__)
    const uint64_t *keep = t->keep + parts * k;
    __m512i sum = _mm512_maskz_permutex2var_epi8(keep[0], (__m512i)from[0], _mm512_load_si512(pick[0]), (__m512i)from[1]);
    TESS_UNROLL for (int j = 1; j < parts; j++) {
        const __m512i table = _mm512_load_si512(pick[j]), a = (__m512i)from[2 * j];
        sum = _mm512_or_si512(sum, 2 * j + 1 < G ? _mm512_maskz_permutex2var_epi8(keep[j], a, table, (__m512i)from[2 * j + 1])
                                                 : _mm512_maskz_permutexvar_epi8(keep[j], table, a));
    }
    return (v_bytes)sum;
#else
    __m256i sum = _mm256_shuffle_epi8((__m256i)from[0], _mm256_load_si256((const __m256i *)(const void *)pick[0]));
    TESS_UNROLL for (int j = 1; j < parts; j++) sum =
        _mm256_or_si256(sum, _mm256_shuffle_epi8((__m256i)from[j], _mm256_load_si256((const __m256i *)(const void *)pick[j])));
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
