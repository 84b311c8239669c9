/* SPDX-License-Identifier: Apache-2.0
 * here.h - words for loops whose every register is spoken for: a load, a broadcast, a lane shift or a fused multiply-add that stays where it is
 * written.
 *
 * gcc moves loads and broadcasts of unrolled taps to the front of the loop until nothing but spills is left, and folds a load into every fma that uses
 * it. A statement of volatile assembly can do neither: such statements keep their order among each other, and registers are still the compiler's
 * choice. On machines without such words, and under sanitizers, which must see the loads, they are the plain words of simd.h. */
#ifndef TESS_SIMD_HERE_H
#define TESS_SIMD_HERE_H

#include "simd/simd.h"

#if defined(__AVX2__) && defined(__FMA__) && !TESS_SANITIZED
#define TESS_HERE 1
#else
#define TESS_HERE 0
#endif

typedef v_f32 v_f32_anywhere __attribute__((aligned(1), may_alias));
typedef v_f64 v_f64_anywhere __attribute__((aligned(1), may_alias));

/* v_f32_load, v_f32_all of what p points to, *acc = v_f32_fma(a, b, *acc), v_f32_stream. */
#if TESS_HERE
#define TESS_HERE_WORDS(name, vec, real, letter)                                                                                                    \
    TESS_INLINE vec name##_load_here(const void *p) {                                                                                               \
        vec v;                                                                                                                                      \
        __asm__ volatile("vmovup" letter " %1, %0" : "=v"(v) : "m"(*(const name##_anywhere *)p));                                                   \
        return v;                                                                                                                                   \
    }                                                                                                                                               \
    TESS_INLINE vec name##_all_here(const real *p) {                                                                                                \
        vec v;                                                                                                                                      \
        __asm__ volatile("vbroadcasts" letter " %1, %0" : "=v"(v) : "m"(*p));                                                                       \
        return v;                                                                                                                                   \
    }                                                                                                                                               \
    TESS_INLINE void name##_fma_here(vec *acc, vec a, vec b) { __asm__ volatile("vfmadd231p" letter " %2, %1, %0" : "+v"(*acc) : "v"(a), "v"(b)); } \
    TESS_INLINE void name##_stream_here(void *p, vec v) { __asm__ volatile("vmovntp" letter " %1, %0" : "=m"(*(name##_anywhere *)p) : "v"(v)); }
TESS_HERE_WORDS(v_f32, v_f32, float, "s")
TESS_HERE_WORDS(v_f64, v_f64, double, "d")
#else
#define TESS_HERE_WORDS(name, vec, real)                                                        \
    TESS_INLINE vec name##_load_here(const void *p) { return name##_keep(name##_load(p)); }     \
    TESS_INLINE vec name##_all_here(const real *p) {                                            \
        real x; /* at any address */                                                            \
        memcpy(&x, p, sizeof x);                                                                \
        return name##_all(x);                                                                   \
    }                                                                                           \
    TESS_INLINE void name##_fma_here(vec *acc, vec a, vec b) { *acc = name##_fma(a, b, *acc); } \
    TESS_INLINE void name##_stream_here(void *p, vec v) { name##_stream(p, v); }
TESS_HERE_WORDS(v_f32, v_f32, float)
TESS_HERE_WORDS(v_f64, v_f64, double)
#endif
#undef TESS_HERE_WORDS

/* Lanes n .. of low, followed by the first n of high: what a load n elements behind low reads, where high follows low in memory. n is a constant,
 * 0 < n < lanes. One instruction with AVX-512; elsewhere a load does better. */
#if TESS_HERE && defined(__AVX512F__) && defined(__OPTIMIZE__) /* else n does not become a constant */
#define TESS_SLIDE(name, vec, real, instruction)                                                 \
    TESS_INLINE vec name##_slide_here(vec low, vec high, int n) {                                \
        vec v;                                                                                   \
        __asm__ volatile(instruction " %3, %1, %2, %0" : "=v"(v) : "v"(low), "v"(high), "i"(n)); \
        return v;                                                                                \
    }
TESS_SLIDE(v_f32, v_f32, float, "valignd")
TESS_SLIDE(v_f64, v_f64, double, "valignq")
#else
#define TESS_SLIDE(name, vec, real)                                       \
    TESS_INLINE vec name##_slide_here(vec low, vec high, int n) {         \
        real both[2 * TESS_VECTOR_BYTES / (int)sizeof(real)];             \
        name##_store(both, low);                                          \
        name##_store(both + TESS_VECTOR_BYTES / (int)sizeof(real), high); \
        return name##_load(both + n);                                     \
    }
TESS_SLIDE(v_f32, v_f32, float)
TESS_SLIDE(v_f64, v_f64, double)
#endif
#undef TESS_SLIDE

/* The first n elements at p, 0 <= n <= lanes, and zeros. Nothing behind them is read. */
TESS_INLINE v_f32 v_f32_load_first(const void *p, int64_t n) {
#if defined(__AVX512F__)
    return (v_f32)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
#else
    v_f32 v = {0};
    memcpy(&v, p, (size_t)n * 4);
    return v;
#endif
}
TESS_INLINE v_f64 v_f64_load_first(const void *p, int64_t n) {
#if defined(__AVX512F__)
    return (v_f64)_mm512_maskz_loadu_pd((__mmask8)((1u << n) - 1), p);
#else
    v_f64 v = {0};
    memcpy(&v, p, (size_t)n * 8);
    return v;
#endif
}

/* The last n elements of the vector at p, 0 <= n <= lanes, and zeros. Nothing before them is read. */
TESS_INLINE v_f32 v_f32_load_last(const void *p, int64_t n) {
#if defined(__AVX512F__)
    return (v_f32)_mm512_maskz_loadu_ps((__mmask16)(0xffff0000u >> n), p);
#else
    v_f32 v = {0};
    memcpy((char *)&v + (TESS_F32_LANES - n) * 4, (const char *)p + (TESS_F32_LANES - n) * 4, (size_t)n * 4);
    return v;
#endif
}
TESS_INLINE v_f64 v_f64_load_last(const void *p, int64_t n) {
#if defined(__AVX512F__)
    return (v_f64)_mm512_maskz_loadu_pd((__mmask8)(0xff00u >> n), p);
#else
    v_f64 v = {0};
    memcpy((char *)&v + (TESS_F64_LANES - n) * 8, (const char *)p + (TESS_F64_LANES - n) * 8, (size_t)n * 8);
    return v;
#endif
}

#endif
