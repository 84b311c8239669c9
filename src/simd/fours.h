/* SPDX-License-Identifier: Apache-2.0
 * fours.h - words of here.h's kind for f32: shuffles within every 16 bytes by themselves, of two vectors. A Zen 4 has three ports for these and two for slides
 * across a vector. */
#ifndef TESS_SIMD_FOURS_H
#define TESS_SIMD_FOURS_H

#include "simd/here.h"

/* Of every four elements: ends, a2 a3 b0 b1; middles, a1 a2 b1 b2; firsts, a0 a1 b0 b1; lasts, a2 a3 b2 b3; evens, a0 a2 b0 b2; odds, a1 a3 b1 b3. */
#if TESS_HERE && TESS_VECTOR_BYTES == 64
#define TESS_SHUFFLE(name, i, j, k, l, immediate)                                           \
    TESS_INLINE v_f32 v_f32_##name##_here(v_f32 a, v_f32 b) {                               \
        v_f32 v;                                                                            \
        __asm__ volatile("vshufps $" #immediate ", %2, %1, %0" : "=v"(v) : "v"(a), "v"(b)); \
        return v;                                                                           \
    }
#else
#define TESS_SHUFFLE(name, i, j, k, l, immediate)                                                   \
    TESS_INLINE v_f32 v_f32_##name##_here(v_f32 a, v_f32 b) {                                       \
        v_f32 v;                                                                                    \
        for (int at = 0; at < TESS_F32_LANES; at += 4)                                              \
            v[at] = a[at + i], v[at + 1] = a[at + j], v[at + 2] = b[at + k], v[at + 3] = b[at + l]; \
        return v;                                                                                   \
    }
#endif
TESS_SHUFFLE(ends, 2, 3, 0, 1, 0x4e)
TESS_SHUFFLE(middles, 1, 2, 1, 2, 0x99)
TESS_SHUFFLE(firsts, 0, 1, 0, 1, 0x44)
TESS_SHUFFLE(lasts, 2, 3, 2, 3, 0xee)
TESS_SHUFFLE(evens, 0, 2, 0, 2, 0x88)
TESS_SHUFFLE(odds, 1, 3, 1, 3, 0xdd)
#undef TESS_SHUFFLE

#endif
