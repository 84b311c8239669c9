/* SPDX-License-Identifier: Apache-2.0
 * simd.h - one vocabulary over vector types, for files that are compiled once per instruction set.
 *
 * A vector is a GCC/clang vector type of TESS_VECTOR_BYTES (64, 32 or 16): + - * and comparisons are written with the plain operators.
 * What the operators lack has a name here: loads, stores, streaming stores, broadcast, fma. All give the same bits on every instruction set.
 * Operators never fuse (the build says -ffp-contract=off). */
#ifndef TESS_SIMD_H
#define TESS_SIMD_H

#include <math.h>
#include <string.h>

#include "core/base.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#define TESS_VECTOR_BYTES 64
#elif defined(__AVX2__)
#include <immintrin.h>
#define TESS_VECTOR_BYTES 32
#else
#define TESS_VECTOR_BYTES 16
#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif
#endif

enum { TESS_F32_LANES = TESS_VECTOR_BYTES / 4, TESS_F64_LANES = TESS_VECTOR_BYTES / 8 };

typedef float v_f32 __attribute__((vector_size(TESS_VECTOR_BYTES)));
typedef double v_f64 __attribute__((vector_size(TESS_VECTOR_BYTES)));
typedef int32_t v_i32 __attribute__((vector_size(TESS_VECTOR_BYTES)));
typedef uint32_t v_u32 __attribute__((vector_size(TESS_VECTOR_BYTES)));
typedef int64_t v_i64 __attribute__((vector_size(TESS_VECTOR_BYTES)));
typedef uint64_t v_u64 __attribute__((vector_size(TESS_VECTOR_BYTES)));

/* Any alignment. */
TESS_INLINE v_f32 v_f32_load(const void *p) {
    v_f32 v;
    memcpy(&v, p, sizeof v);
    return v;
}
TESS_INLINE v_f64 v_f64_load(const void *p) {
    v_f64 v;
    memcpy(&v, p, sizeof v);
    return v;
}
TESS_INLINE v_i64 v_i64_load(const void *p) {
    v_i64 v;
    memcpy(&v, p, sizeof v);
    return v;
}
TESS_INLINE void v_f32_store(void *p, v_f32 v) { memcpy(p, &v, sizeof v); }
TESS_INLINE void v_f64_store(void *p, v_f64 v) { memcpy(p, &v, sizeof v); }
TESS_INLINE void v_i64_store(void *p, v_i64 v) { memcpy(p, &v, sizeof v); }

TESS_INLINE v_f32 v_f32_all(float x) { return x - (v_f32){0}; } /* x - 0 keeps every bit of x, -0 and NaN's sign included */
TESS_INLINE v_f64 v_f64_all(double x) { return x - (v_f64){0}; }

/* The value itself, in a register from here on. Without it gcc folds a load into every fma that uses it, so that a vector which serves four rows is
 * loaded four times, or keeps unrolled loads and weights alive and spills them. No instruction is emitted, and both compilers see one place that says
 * so. */
#if defined(__x86_64__)
#define TESS_IN_REGISTER "+v"
#elif defined(__aarch64__)
#define TESS_IN_REGISTER "+w"
#endif
#ifdef TESS_IN_REGISTER
TESS_INLINE v_f32 v_f32_keep(v_f32 v) {
    __asm__("" : TESS_IN_REGISTER(v));
    return v;
}
TESS_INLINE v_f64 v_f64_keep(v_f64 v) {
    __asm__("" : TESS_IN_REGISTER(v));
    return v;
}
#else
TESS_INLINE v_f32 v_f32_keep(v_f32 v) { return v; }
TESS_INLINE v_f64 v_f64_keep(v_f64 v) { return v; }
#endif

/* a * b + c with one rounding, in every lane. */
TESS_INLINE v_f32 v_f32_fma(v_f32 a, v_f32 b, v_f32 c) {
#if defined(__AVX512F__)
    return (v_f32)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__)
    return (v_f32)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(__aarch64__)
    return (v_f32)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
    v_f32 r = c;
    for (int i = 0; i < TESS_F32_LANES; i++)
        r[i] = fmaf(a[i], b[i], c[i]);
    return r;
#endif
}
TESS_INLINE v_f64 v_f64_fma(v_f64 a, v_f64 b, v_f64 c) {
#if defined(__AVX512F__)
    return (v_f64)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__FMA__)
    return (v_f64)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#elif defined(__aarch64__)
    return (v_f64)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#else
    v_f64 r = c;
    for (int i = 0; i < TESS_F64_LANES; i++)
        r[i] = fma(a[i], b[i], c[i]);
    return r;
#endif
}

/* NaNs become the one that computed NaNs are stored as. */
TESS_INLINE v_f32 v_f32_canonical(v_f32 v) {
    const v_i32 nan = (v_i32){0} + 0x7fc00000;
#if defined(__AVX512F__)
    return (v_f32)_mm512_mask_mov_epi32((__m512i)v, _mm512_cmp_ps_mask((__m512)v, (__m512)v, _CMP_UNORD_Q), (__m512i)nan);
#else
    const v_i32 number = v == v;
    return (v_f32)(((v_i32)v & number) | (nan & ~number));
#endif
}
TESS_INLINE v_f64 v_f64_canonical(v_f64 v) {
    const v_i64 nan = (v_i64){0} + 0x7ff8000000000000;
#if defined(__AVX512F__)
    return (v_f64)_mm512_mask_mov_epi64((__m512i)v, _mm512_cmp_pd_mask((__m512d)v, (__m512d)v, _CMP_UNORD_Q), (__m512i)nan);
#else
    const v_i64 number = v == v;
    return (v_f64)(((v_i64)v & number) | (nan & ~number));
#endif
}

/* yes where t is 0 (of either sign), else no. */
TESS_INLINE v_f32 v_f32_if_zero(v_f32 t, v_f32 yes, v_f32 no) {
#if defined(__AVX512F__)
    return (v_f32)_mm512_mask_mov_ps((__m512)no, _mm512_cmp_ps_mask((__m512)t, _mm512_setzero_ps(), _CMP_EQ_OQ), (__m512)yes);
#else
    const v_i32 zero = t == 0;
    return (v_f32)(((v_i32)yes & zero) | ((v_i32)no & ~zero));
#endif
}
TESS_INLINE v_f64 v_f64_if_zero(v_f64 t, v_f64 yes, v_f64 no) {
#if defined(__AVX512F__)
    return (v_f64)_mm512_mask_mov_pd((__m512d)no, _mm512_cmp_pd_mask((__m512d)t, _mm512_setzero_pd(), _CMP_EQ_OQ), (__m512d)yes);
#else
    const v_i64 zero = t == 0;
    return (v_f64)(((v_i64)yes & zero) | ((v_i64)no & ~zero));
#endif
}

/* Whether any bit of the vector at p is set. */
TESS_INLINE bool v_any(const void *p) {
    v_i64 v;
    int64_t any = 0;
    memcpy(&v, p, sizeof v);
    for (int i = 0; i < TESS_F64_LANES; i++)
        any |= v[i];
    return any != 0;
}

/* a where a > b, else b: that is b when they are equal (zeros of either sign are) and when one of them is a NaN. lesser: a where a < b. */
#if defined(__AVX512F__)
#define TESS_PICK(name, operation)                                                                                    \
    TESS_INLINE v_f32 v_f32_##name(v_f32 a, v_f32 b) { return (v_f32)_mm512_##operation##_ps((__m512)a, (__m512)b); } \
    TESS_INLINE v_f64 v_f64_##name(v_f64 a, v_f64 b) { return (v_f64)_mm512_##operation##_pd((__m512d)a, (__m512d)b); }
TESS_PICK(greater, max)
TESS_PICK(lesser, min)
#elif defined(__AVX2__)
#define TESS_PICK(name, operation)                                                                                    \
    TESS_INLINE v_f32 v_f32_##name(v_f32 a, v_f32 b) { return (v_f32)_mm256_##operation##_ps((__m256)a, (__m256)b); } \
    TESS_INLINE v_f64 v_f64_##name(v_f64 a, v_f64 b) { return (v_f64)_mm256_##operation##_pd((__m256d)a, (__m256d)b); }
TESS_PICK(greater, max)
TESS_PICK(lesser, min)
#elif defined(__SSE2__)
#define TESS_PICK(name, operation)                                                                                 \
    TESS_INLINE v_f32 v_f32_##name(v_f32 a, v_f32 b) { return (v_f32)_mm_##operation##_ps((__m128)a, (__m128)b); } \
    TESS_INLINE v_f64 v_f64_##name(v_f64 a, v_f64 b) { return (v_f64)_mm_##operation##_pd((__m128d)a, (__m128d)b); }
TESS_PICK(greater, max)
TESS_PICK(lesser, min)
#else
#define TESS_PICK(name, OP)                                       \
    TESS_INLINE v_f32 v_f32_##name(v_f32 a, v_f32 b) {            \
        const v_i32 first = a OP b;                               \
        return (v_f32)(((v_i32)a & first) | ((v_i32)b & ~first)); \
    }                                                             \
    TESS_INLINE v_f64 v_f64_##name(v_f64 a, v_f64 b) {            \
        const v_i64 first = a OP b;                               \
        return (v_f64)(((v_i64)a & first) | ((v_i64)b & ~first)); \
    }
TESS_PICK(greater, >)
TESS_PICK(lesser, <)
#endif
#undef TESS_PICK

/* Whether NaNs were met: flags grow by the lanes where a or b is one. */
#if defined(__AVX512F__)
typedef uint32_t v_flags;
TESS_INLINE v_flags v_f32_nans(v_flags flags, v_f32 a, v_f32 b) { return flags | _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_UNORD_Q); }
TESS_INLINE v_flags v_f64_nans(v_flags flags, v_f64 a, v_f64 b) { return flags | _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_UNORD_Q); }
TESS_INLINE v_flags v_flags_none(void) { return 0; }
TESS_INLINE bool v_flags_any(v_flags flags) { return flags != 0; }
#else
typedef v_i32 v_flags;
#if defined(__AVX2__)
TESS_INLINE v_flags v_f32_nans(v_flags flags, v_f32 a, v_f32 b) { return flags | (v_i32)_mm256_cmp_ps((__m256)a, (__m256)b, _CMP_UNORD_Q); }
TESS_INLINE v_flags v_f64_nans(v_flags flags, v_f64 a, v_f64 b) { return flags | (v_i32)_mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_UNORD_Q); }
#elif defined(__SSE2__)
TESS_INLINE v_flags v_f32_nans(v_flags flags, v_f32 a, v_f32 b) { return flags | (v_i32)_mm_cmpunord_ps((__m128)a, (__m128)b); }
TESS_INLINE v_flags v_f64_nans(v_flags flags, v_f64 a, v_f64 b) { return flags | (v_i32)_mm_cmpunord_pd((__m128d)a, (__m128d)b); }
#else
TESS_INLINE v_flags v_f32_nans(v_flags flags, v_f32 a, v_f32 b) { return flags | (a != a) | (b != b); }
TESS_INLINE v_flags v_f64_nans(v_flags flags, v_f64 a, v_f64 b) { return flags | (v_i32)((a != a) | (b != b)); }
#endif
TESS_INLINE v_flags v_flags_none(void) { return (v_flags){0}; }
TESS_INLINE bool v_flags_any(v_flags flags) { return v_any(&flags); }
#endif

/* The sums of each 8 of the TESS_VECTOR_BYTES bytes at p. */
TESS_INLINE v_u64 v_u8_sums(const void *p) {
#if defined(__AVX512BW__)
    return (v_u64)_mm512_sad_epu8(_mm512_loadu_si512(p), _mm512_setzero_si512());
#elif defined(__AVX2__)
    return (v_u64)_mm256_sad_epu8(_mm256_loadu_si256((const __m256i *)p), _mm256_setzero_si256());
#elif defined(__SSE2__)
    return (v_u64)_mm_sad_epu8(_mm_loadu_si128((const __m128i *)p), _mm_setzero_si128());
#else
    v_u64 v = {0};
    for (int i = 0; i < TESS_VECTOR_BYTES; i++)
        v[i / 8] += ((const uint8_t *)p)[i];
    return v;
#endif
}

/* A store that goes past the caches; p aligned to the vector. Other threads may look when tess_parallel has returned. */
TESS_INLINE void v_f32_stream(void *p, v_f32 v) {
#if defined(__AVX512F__)
    _mm512_stream_ps((float *)p, (__m512)v);
#elif defined(__AVX2__)
    _mm256_stream_ps((float *)p, (__m256)v);
#elif defined(__SSE2__)
    _mm_stream_ps((float *)p, (__m128)v);
#else
    memcpy(p, &v, sizeof v);
#endif
}
TESS_INLINE void v_f64_stream(void *p, v_f64 v) { v_f32_stream(p, (v_f32)v); }

/* The bytes from p on, of which `bytes` is a multiple of 64, are asked for in L2 - but not for loads of 16 bytes, which are slower than the processor's
 * own prefetchers. For plain streams machines differ: tess_cpu_asks_ahead (core/maker.h). */
TESS_INLINE void tess_prefetch_ahead(const void *p, int bytes) {
#if TESS_VECTOR_BYTES >= 32
    for (int at = 0; at < bytes; at += 64)
        __builtin_prefetch((const char *)p + at, 0, 2);
#else
    (void)p;
    (void)bytes;
#endif
}

/* Asks for the line of p in L2 (measured: the best level on the machines tried, docs/design.md), or in L1, where that is said to be better. */
TESS_INLINE void tess_prefetch_l2(const void *p) { __builtin_prefetch(p, 0, 2); }
TESS_INLINE void tess_prefetch_l1(const void *p) { __builtin_prefetch(p, 0, 3); }

#endif
