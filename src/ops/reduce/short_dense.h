/* SPDX-License-Identifier: Apache-2.0
 * short_dense.h - sixteen rows of less than a line, of 2, 3, 4 or 8 elements without gaps, turned as whole vectors (AVX-512); included by cpu_short.c.
 *
 *     a0 a1 a2 a3 b0 b1 b2 b3 ..          a0 a2 b0 b2 c0 c2 ..           a0 b0 c0 ..
 *     ..                         ->       a1 a3 b1 b3 c1 c3 ..     ->    ..             each time what has even numbers and what has odd ones
 *
 * Tiles of 16 bytes a side, which turn rows of other lengths, take four times as many instructions: each load brings 16 bytes. */
#ifndef TESS_OPS_REDUCE_SHORT_DENSE_H
#define TESS_OPS_REDUCE_SHORT_DENSE_H

#include "ops/reduce/reduce.h"
#include "simd/simd.h"

#if defined(__AVX512F__)
/* Elements number `first` and every second after it, of two vectors. */
TESS_INLINE __m512i dense_half_4(__m512i a, __m512i b, const int first) {
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    return _mm512_permutex2var_epi32(a, _mm512_add_epi32(even, _mm512_set1_epi32(first)), b);
}
TESS_INLINE __m512i dense_half_8(__m512i a, __m512i b, const int first) {
    const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    return _mm512_permutex2var_epi64(a, _mm512_add_epi64(even, _mm512_set1_epi64(first)), b);
}
/* Every third element of three. */
TESS_INLINE __m512i dense_third_4(__m512i a, __m512i b, __m512i c, const int g) {
    const __m512i at =
        _mm512_setr_epi32(g, g + 3, g + 6, g + 9, g + 12, g + 15, g + 18, g + 21, g + 24, g + 27, g + 30, g + 33, g + 36, g + 39, g + 42, g + 45);
    const __mmask16 late = g == 2 ? 0xfc00 : 0xf800; /* from place 32 on */
    return _mm512_mask_permutexvar_epi32(_mm512_permutex2var_epi32(a, at, b), late, at, c);
}
TESS_INLINE __m512i dense_third_8(__m512i a, __m512i b, __m512i c, const int g) {
    const __m512i at = _mm512_setr_epi64(g, g + 3, g + 6, g + 9, g + 12, g + 15, g + 18, g + 21);
    const __mmask8 late = g == 0 ? 0xc0 : 0xe0; /* from place 16 on */
    return _mm512_mask_permutexvar_epi64(_mm512_permutex2var_epi64(a, at, b), late, at, c);
}

/* As many rows of K elements as a vector has lanes. */
#define DENSE(S)                                                                                            \
    TESS_INLINE void dense_vectors_##S(char *to, int64_t to_step, const char *from, const int K) {          \
        __m512i v[8], n[8];                                                                                 \
        TESS_UNROLL for (int i = 0; i < K; i++) v[i] = _mm512_loadu_si512(from + 64 * i);                   \
        if (K == 3) {                                                                                       \
            TESS_UNROLL for (int g = 0; g < 3; g++) n[g] = dense_third_##S(v[0], v[1], v[2], g);            \
            TESS_UNROLL for (int g = 0; g < 3; g++) _mm512_storeu_si512(to + g * to_step, n[g]);            \
            return;                                                                                         \
        }                                                                                                   \
        TESS_UNROLL for (int part = K; part > 1; part /= 2) {                                               \
            TESS_UNROLL for (int i = 0; i < K / 2; i++) {                                                   \
                const int begin = i / (part / 2) * part, j = i % (part / 2);                                \
                n[begin + j] = dense_half_##S(v[begin + 2 * j], v[begin + 2 * j + 1], 0);                   \
                n[begin + part / 2 + j] = dense_half_##S(v[begin + 2 * j], v[begin + 2 * j + 1], 1);        \
            }                                                                                               \
            TESS_UNROLL for (int i = 0; i < K; i++) v[i] = n[i];                                            \
        }                                                                                                   \
        TESS_UNROLL for (int i = 0; i < K; i++) {                                                           \
            const int term = K == 8 ? (i & 1) << 2 | (i & 2) | i >> 2 : K == 4 ? (i & 1) << 1 | i >> 1 : i; \
            _mm512_storeu_si512(to + term * to_step, v[i]);                                                 \
        }                                                                                                   \
    }                                                                                                       \
    /* False, and nothing done, when rows of k elements are none of these. */                               \
    TESS_INLINE bool turn_dense_##S(char *to, int64_t to_step, const char *from, int64_t k) {               \
        for (int at = 0; at < REDUCE_SHORT_ROWS * (S); at += 64, from += 64 * k)                            \
            switch (k) {                                                                                    \
            case 2: dense_vectors_##S(to + at, to_step, from, 2); break;                                    \
            case 3: dense_vectors_##S(to + at, to_step, from, 3); break;                                    \
            case 4: dense_vectors_##S(to + at, to_step, from, 4); break;                                    \
            case 8: dense_vectors_##S(to + at, to_step, from, 8); break;                                    \
            default: return false;                                                                          \
            }                                                                                               \
        return true;                                                                                        \
    }
DENSE(4)
DENSE(8)
#else
#define turn_dense_4(to, to_step, from, k) false
#define turn_dense_8(to, to_step, from, k) false
#endif

#endif
