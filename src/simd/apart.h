/* SPDX-License-Identifier: Apache-2.0
 * apart.h - a vector whose 16-byte lanes come from places of their own. */
#ifndef TESS_SIMD_APART_H
#define TESS_SIMD_APART_H

#include "simd/lanes.h"

/* Lane l of the result is the 16 bytes at p + l * step. */
TESS_INLINE v_bytes v_lanes_apart(const char *p, int64_t step) {
#if TESS_VECTOR_BYTES == 64
    __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(const void *)p));
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)(p + step)), 1);
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)(p + 2 * step)), 2);
    return (v_bytes)_mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)(p + 3 * step)), 3);
#elif TESS_VECTOR_BYTES == 32
    return (v_bytes)_mm256_loadu2_m128i((const __m128i *)(const void *)(p + step), (const __m128i *)(const void *)p);
#else
    (void)step;
    return v_bytes_load(p);
#endif
}

#endif
