/* SPDX-License-Identifier: Apache-2.0
 * phases.h - 64 bytes as four vectors of f32, of which number k holds the bytes k, k + 4, k + 8 ... : its phase.
 *
 * To extend bytes is to shuffle them, and shuffles share a port with multiply-adds. A mask takes every fourth byte out of the words that begin at it and
 * runs on any port; and the phase that begins one byte further on is the next one, so a mask of several taps that follow each other makes one new phase a tap.
 * Back to bytes, packing within 16-byte lanes puts the phases side by side there, and one shuffle inside the lanes puts them in order. */
#ifndef TESS_SIMD_PHASES_H
#define TESS_SIMD_PHASES_H

#include "simd/narrow.h"

#if TESS_VECTOR_BYTES == 64 && TESS_NARROW
#define TESS_PHASES 1

/* The bytes at p, p + 4, p + 8 ... p + 60; 64 are read. It stays where it is written (here.h). */
TESS_INLINE v_f32 v_f32_from_phase_here(const void *p) {
    const __m512i low = _mm512_set1_epi32(255);
#if TESS_HERE
    v_f32 v;
    __asm__ volatile("vpandd %1, %2, %0\n\tvcvtdq2ps %0, %0" : "=&v"(v) : "m"(*(const v_f32_anywhere *)p), "v"(low));
    return v;
#else
    return v_f32_keep((v_f32)_mm512_cvtepi32_ps(_mm512_and_si512(_mm512_loadu_si512(p), low)));
#endif
}

/* The 64 bytes of which from[k] is phase k, rounded and saturated as by tess_u8_of_f32. */
TESS_INLINE v_bytes v_u8_of_phases(const v_f32 *from) {
    const __m512i order = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    float four[4 * TESS_F32_LANES];
    TESS_UNROLL for (int k = 0; k < 4; k++) v_f32_store(four + k * TESS_F32_LANES, from[k]);
    const __m512i a = _mm512_packs_epi32(tess_clamped(four, 0, 255), tess_clamped(four + 16, 0, 255));
    const __m512i b = _mm512_packs_epi32(tess_clamped(four + 32, 0, 255), tess_clamped(four + 48, 0, 255));
    return (v_bytes)_mm512_shuffle_epi8(_mm512_packus_epi16(a, b), order);
}

/* The vectors that lie one after another of which from[k] is phase k. */
TESS_INLINE void v_f32_of_phases(v_f32 *to, const v_f32 *from) {
    const __m512 low01 = _mm512_unpacklo_ps((__m512)from[0], (__m512)from[1]), high01 = _mm512_unpackhi_ps((__m512)from[0], (__m512)from[1]);
    const __m512 low23 = _mm512_unpacklo_ps((__m512)from[2], (__m512)from[3]), high23 = _mm512_unpackhi_ps((__m512)from[2], (__m512)from[3]);
    /* Lane L of u[m] has elements 16 L + 4 m .. 16 L + 4 m + 3. */
    const __m512 u[4] = {(__m512)_mm512_unpacklo_pd((__m512d)low01, (__m512d)low23), (__m512)_mm512_unpackhi_pd((__m512d)low01, (__m512d)low23),
                         (__m512)_mm512_unpacklo_pd((__m512d)high01, (__m512d)high23), (__m512)_mm512_unpackhi_pd((__m512d)high01, (__m512d)high23)};
    const __m512 a = _mm512_shuffle_f32x4(u[0], u[1], 0x44), b = _mm512_shuffle_f32x4(u[2], u[3], 0x44); /* lanes 0 and 1 of each */
    const __m512 c = _mm512_shuffle_f32x4(u[0], u[1], 0xee), d = _mm512_shuffle_f32x4(u[2], u[3], 0xee); /* 2 and 3 */
    to[0] = (v_f32)_mm512_shuffle_f32x4(a, b, 0x88);
    to[1] = (v_f32)_mm512_shuffle_f32x4(a, b, 0xdd);
    to[2] = (v_f32)_mm512_shuffle_f32x4(c, d, 0x88);
    to[3] = (v_f32)_mm512_shuffle_f32x4(c, d, 0xdd);
}
#else
#define TESS_PHASES 0
#endif

#endif
