/* SPDX-License-Identifier: Apache-2.0
 * points.h - words that take coordinates apart: the entry before a point, and how far behind it the point lies.
 *
 * Processors give some number for a coordinate that no integer can hold, C gives none; so what is outside is not asked about before the conversion, but
 * the numbers are kept within the table afterwards (v_i32_up_to), and one comparison of bits tells about many points: the greatest as unsigned
 * numbers (v_u32_greater), since of the bits of floats anything negative and every NaN is greater than all that is not. */
#ifndef TESS_SIMD_POINTS_H
#define TESS_SIMD_POINTS_H

#include "simd/gather.h"
#include "simd/most.h"

/* The whole part of each number in 0 .. 2^31 - 1; some number for the others. */
TESS_INLINE v_i32 v_f32_whole(v_f32 at) {
#if defined(__AVX512F__)
    return (v_i32)_mm512_cvttps_epi32((__m512)at);
#elif defined(__AVX2__)
    return (v_i32)_mm256_cvttps_epi32((__m256)at);
#else
    const v_i32 inside = (at >= 0) & (at < 0x1p31f);
    return __builtin_convertvector((v_f32)((v_i32)at & inside), v_i32);
#endif
}
TESS_INLINE h_i32 v_f64_whole(v_f64 at) {
#if defined(__AVX512F__)
    return (h_i32)_mm512_cvttpd_epi32((__m512d)at);
#elif defined(__AVX2__)
    return (h_i32)_mm256_cvttpd_epi32((__m256d)at);
#else
    const v_i64 inside = (at >= 0) & (at < 0x1p31);
    return __builtin_convertvector((v_f64)((v_i64)at & inside), h_i32);
#endif
}

/* The lesser one, both as unsigned numbers: what is negative becomes `last`. */
TESS_INLINE v_i32 v_i32_up_to(v_i32 v, v_i32 last) { return (v_i32)v_u32_lesser((v_u32)v, (v_u32)last); }
TESS_INLINE h_i32 h_i32_up_to(h_i32 v, h_i32 last) {
#if defined(__AVX512F__)
    return (h_i32)_mm256_min_epu32((__m256i)v, (__m256i)last);
#elif defined(__AVX2__)
    return (h_i32)_mm_min_epu32((__m128i)v, (__m128i)last);
#else
    const h_i32 less = (h_u32)v < (h_u32)last;
    return (v & less) | (last & ~less);
#endif
}

/* What is left of numbers in 0 .. 2^31 - 1 without their whole part, exactly; anything for the others. */
TESS_INLINE v_f32 v_f32_fraction(v_f32 at) {
#if defined(__AVX512DQ__)
    return (v_f32)_mm512_reduce_ps((__m512)at, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#elif defined(__AVX2__)
    return at - (v_f32)_mm256_round_ps((__m256)at, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#else
    return at - __builtin_convertvector(v_f32_whole(at), v_f32);
#endif
}
TESS_INLINE v_f64 v_f64_fraction(v_f64 at) {
#if defined(__AVX512DQ__)
    return (v_f64)_mm512_reduce_pd((__m512d)at, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#elif defined(__AVX2__)
    return at - (v_f64)_mm256_round_pd((__m256d)at, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#else
    return at - __builtin_convertvector(v_f64_whole(at), v_f64);
#endif
}

#endif
