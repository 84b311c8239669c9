/* SPDX-License-Identifier: Apache-2.0
 * cpu_window_kernels.c - the tiles, lines and rings of correlate/window, for f32 and f64.
 *
 * Their sizes share out the registers. AVX-512 has 32: 24 sums, 4 inputs and a weight. With 16, a tile has 12 sums, 3 inputs and a weight; the
 * lanes of other instruction sets follow AVX2. */
#include "ops/correlate/window_kernels.h"
#include "simd/here.h"

#if TESS_VECTOR_BYTES == 64
#define TALL 6
#define WIDE 4
enum { STREAMS_2 = 8, STREAMS_3 = 8, STREAMS_4 = 6, STREAMS_5 = 4, STREAMS_6 = 4, STREAMS_7 = 3, STREAMS_8 = 3 };
#else
#define TALL 4
#define WIDE 3
enum { STREAMS_2 = 6, STREAMS_3 = 4, STREAMS_4 = 3, STREAMS_5 = 2, STREAMS_6 = 2, STREAMS_7 = 1, STREAMS_8 = 1 };
#endif
#define LINE 8

#define vec v_f32
#define real float
#define WORD v_f32
#define KERNEL(name) name##_f32
#include "ops/correlate/window_all.h"
#undef vec
#undef real
#undef WORD
#undef KERNEL

#define vec v_f64
#define real double
#define WORD v_f64
#define KERNEL(name) name##_f64
#include "ops/correlate/window_all.h"

const tess_window_kernels *TESS_ISA_NAME(tess_correlate_window_kernels)(bool f32);
const tess_window_kernels *TESS_ISA_NAME(tess_correlate_window_kernels)(bool f32) { return f32 ? &kernels_f32 : &kernels_f64; }
