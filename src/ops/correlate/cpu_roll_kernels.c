/* SPDX-License-Identifier: Apache-2.0
 * cpu_roll_kernels.c - the kernels of roll.h. Where a vector has no 64 bytes there are none: sums and weights do not fit 16 registers. */
#include "ops/correlate/roll.h"
#include "simd/here.h"
#include "simd/lanes.h"
#include "simd/narrow.h"

#if TESS_VECTOR_BYTES == 64
enum { ROWS_3 = 6, ROWS_5 = 5, ROWS_7 = 4 };

#define vec v_f32
#define real float
#define WORD v_f32
#define KERNEL(name) name##_u8
#define LOAD(x) v_f32_from_u8_here(x)
#include "ops/correlate/roll_all.h"
#undef KERNEL
#undef LOAD
#define KERNEL(name) name##_f32
#define LOAD(x) v_f32_load_here(x)
#include "ops/correlate/roll_all.h"
#undef KERNEL
#undef LOAD
#undef vec
#undef real
#undef WORD
#define vec v_f64
#define real double
#define WORD v_f64
#define KERNEL(name) name##_f64
#define LOAD(x) v_f64_load_here(x)
#include "ops/correlate/roll_all.h"

static const tess_roll_kernels f32_kernels = {.rows = {[3] = ROWS_3, [5] = ROWS_5, [7] = ROWS_7},
                                              .roll = {[3] = roll3_f32, [5] = roll5_f32, [7] = roll7_f32},
                                              .bytes = {[3] = roll3_u8, [5] = roll5_u8, [7] = roll7_u8}};
static const tess_roll_kernels f64_kernels = {.rows = {[3] = ROWS_3, [5] = ROWS_5, [7] = ROWS_7},
                                              .roll = {[3] = roll3_f64, [5] = roll5_f64, [7] = roll7_f64}};
#else
static const tess_roll_kernels f32_kernels, f64_kernels;
#endif

const tess_roll_kernels *TESS_ISA_NAME(tess_correlate_roll_kernels)(bool f32);
const tess_roll_kernels *TESS_ISA_NAME(tess_correlate_roll_kernels)(bool f32) { return f32 ? &f32_kernels : &f64_kernels; }
