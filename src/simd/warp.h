/* SPDX-License-Identifier: Apache-2.0
 * warp.h - words for the 32 lanes of a virtual warp: whether their addresses lie as they did, and words out of a window of 128 bytes.
 *
 * The plain loops are what is meant, and good code on most machines. With AVX-512 comparisons end in mask registers, which saves folding vectors down
 * to a number, and any of 32 words is one permutation away. */
#ifndef TESS_SIMD_WARP_H
#define TESS_SIMD_WARP_H

#include "simd/simd.h"

/* Whether a[l] = origin + offset[l], modulo 2^32, for the lanes in mask. */
TESS_INLINE bool v_words_lie(const uint32_t *a, uint32_t origin, const int32_t *offset, uint32_t mask) {
#if defined(__AVX512F__)
    __m512i first = _mm512_set1_epi32((int)origin);
    __mmask16 low = _mm512_mask_cmpneq_epi32_mask((__mmask16)mask, _mm512_loadu_si512(a), _mm512_add_epi32(first, _mm512_loadu_si512(offset)));
    __mmask16 high =
        _mm512_mask_cmpneq_epi32_mask((__mmask16)(mask >> 16), _mm512_loadu_si512(a + 16), _mm512_add_epi32(first, _mm512_loadu_si512(offset + 16)));
    return !(low | high);
#else
    uint32_t differs = 0;
    if (mask == UINT32_MAX)
        for (int l = 0; l < 32; l++)
            differs |= (a[l] - origin) ^ (uint32_t)offset[l];
    else
        for (int l = 0; l < 32; l++)
            differs |= ((a[l] - origin) ^ (uint32_t)offset[l]) & -(mask >> l & 1);
    return !differs;
#endif
}

/* The same modulo 2^64. */
TESS_INLINE bool v_doubles_lie(const uint64_t *a, uint64_t origin, const int32_t *offset, uint32_t mask) {
#if defined(__AVX512F__)
    __m512i first = _mm512_set1_epi64((long long)origin);
    uint32_t differs = 0;
    for (int l = 0; l < 32; l += 8) {
        __m512i wanted = _mm512_add_epi64(first, _mm512_cvtepi32_epi64(_mm256_loadu_si256((const __m256i *)(const void *)(offset + l))));
        differs |= _mm512_mask_cmpneq_epi64_mask((__mmask8)(mask >> l), _mm512_loadu_si512(a + l), wanted);
    }
    return !differs;
#else
    uint64_t differs = 0;
    if (mask == UINT32_MAX)
        for (int l = 0; l < 32; l++)
            differs |= (a[l] - origin) ^ (uint64_t)offset[l];
    else
        for (int l = 0; l < 32; l++)
            differs |= ((a[l] - origin) ^ (uint64_t)offset[l]) & -(uint64_t)(mask >> l & 1);
    return !differs;
#endif
}

/* to[l] = the 4 bytes at from + (offset[l] - low), for words that all lie in 128 bytes that may be read; offsets are whole words from low. */
TESS_INLINE void v_words_pick(uint32_t *to, const void *from, const int32_t *offset, int32_t low) {
#if defined(__AVX512F__)
    __m512i a = _mm512_loadu_si512(from), b = _mm512_loadu_si512((const char *)from + 64), least = _mm512_set1_epi32(low);
    for (int l = 0; l < 32; l += 16) {
        __m512i at = _mm512_srli_epi32(_mm512_sub_epi32(_mm512_loadu_si512(offset + l), least), 2);
        _mm512_storeu_si512(to + l, _mm512_permutex2var_epi32(a, at, b));
    }
#else
    for (int l = 0; l < 32; l++)
        memcpy(&to[l], (const char *)from + (offset[l] - low), 4);
#endif
}

#endif
