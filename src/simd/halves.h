/* SPDX-License-Identifier: Apache-2.0
 * halves.h - words of here.h's kind for vectors of 32 bytes, whose lanes slide within halves only: a multiply-add that loads one of its factors, and a slide
 * in every half by itself. */
#ifndef TESS_SIMD_HALVES_H
#define TESS_SIMD_HALVES_H

#include "simd/here.h"

/* *acc = what p points to * b + *acc */
#if TESS_HERE
#define TESS_FMA_FROM(name, vec, letter)                                                                             \
    TESS_INLINE void name##_fma_from_here(vec *acc, const void *p, vec b) {                                          \
        __asm__ volatile("vfmadd231p" letter " %2, %1, %0" : "+v"(*acc) : "v"(b), "m"(*(const name##_anywhere *)p)); \
    }
#else
#define TESS_FMA_FROM(name, vec, letter) \
    TESS_INLINE void name##_fma_from_here(vec *acc, const void *p, vec b) { *acc = name##_fma(name##_load(p), b, *acc); }
#endif
TESS_FMA_FROM(v_f32, v_f32, "s")
TESS_FMA_FROM(v_f64, v_f64, "d")
#undef TESS_FMA_FROM

/* In every 16 bytes by themselves, elements n .. of low, followed by the first n of high, 0 < n < elements of 16 bytes. Where high begins half a vector of 32
 * bytes behind low, that is what a load n elements behind low reads. */
#if TESS_HERE && TESS_VECTOR_BYTES == 32 && defined(__OPTIMIZE__) /* else n does not become a constant */
#define TESS_SLIDE_HALVES(name, vec, real)                                                                       \
    TESS_INLINE vec name##_slide_halves_here(vec low, vec high, int n) {                                         \
        vec v;                                                                                                   \
        __asm__ volatile("vpalignr %3, %1, %2, %0" : "=v"(v) : "v"(low), "v"(high), "i"(n * (int)sizeof(real))); \
        return v;                                                                                                \
    }
#else
#define TESS_SLIDE_HALVES(name, vec, real)                               \
    TESS_INLINE vec name##_slide_halves_here(vec low, vec high, int n) { \
        vec v;                                                           \
        for (int i = 0; i < TESS_VECTOR_BYTES; i += 16) {                \
            char both[32];                                               \
            memcpy(both, (const char *)&low + i, 16);                    \
            memcpy(both + 16, (const char *)&high + i, 16);              \
            memcpy((char *)&v + i, both + n * (int)sizeof(real), 16);    \
        }                                                                \
        return v;                                                        \
    }
#endif
TESS_SLIDE_HALVES(v_f32, v_f32, float)
TESS_SLIDE_HALVES(v_f64, v_f64, double)
#undef TESS_SLIDE_HALVES

#endif
