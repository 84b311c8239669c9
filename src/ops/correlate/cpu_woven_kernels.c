/* SPDX-License-Identifier: Apache-2.0
 * cpu_woven_kernels.c - the kernels of roll.h for longer masks, and for pixels of several colours: columns and rows take turns tap by tap (roll_woven.h). There
 * are none but for vectors of 64 bytes: they want 32 registers. */
#include "ops/correlate/roll_put.h"
#include "simd/halves.h"
#include "simd/lanes.h"

#if TESS_VECTOR_BYTES == 64
#define ROWS 8
#define UNROLL _Pragma("GCC unroll 64") /* TESS_UNROLL ends at 16, and a column of 33 taps over 8 rows has 40 */

#define vec v_f32
#define real float
#define WORD v_f32
#define SHORTEST 7
#define SLIDES 3
#define PUT(to, step, byte_step, sums, count) put_sums_or_bytes(c, to, step, byte_step, sums, count)
#define KERNEL(name) name##_u8
#define LOAD(x) v_f32_from_u8_here(x)
#include "ops/correlate/woven_all.h"
#undef SHORTEST
#define SHORTEST 11
#undef KERNEL
#undef LOAD
#undef PUT
#define PUT(to, step, byte_step, sums, count) v_f32_put_sums(to, step, sums, count, c->stream, c->between)
#define KERNEL(name) name##_f32
#define LOAD(x) v_f32_load_here(x)
#include "ops/correlate/woven_all.h"
#undef SHORTEST
#undef SLIDES
#define SHORTEST 3
#define SLIDES 0 /* taps of a pixel stand any number of elements apart */
#undef KERNEL
#undef PUT
#define PUT(to, step, byte_step, sums, count) v_f32_put_sums(to, step, sums, count, c->stream, c->between)
#define KERNEL(name) name##_pixels
#include "ops/correlate/woven_all.h"
#undef KERNEL
#undef LOAD
#undef PUT
#define PUT(to, step, byte_step, sums, count) put_sums_or_bytes(c, to, step, byte_step, sums, count)
#define KERNEL(name) name##_pixels_u8
#define LOAD(x) v_f32_from_u8_here(x)
#include "ops/correlate/woven_all.h"
#undef KERNEL
#undef LOAD
#undef SHORTEST
#undef SLIDES
#undef vec
#undef real
#undef WORD
#define vec v_f64
#define real double
#define WORD v_f64
#define SHORTEST 11
#define SLIDES 3
#undef PUT
#define PUT(to, step, byte_step, sums, count) v_f64_put_sums(to, step, sums, count, c->stream, c->between)
#define KERNEL(name) name##_f64
#define LOAD(x) v_f64_load_here(x)
#include "ops/correlate/woven_all.h"

#define LONG(name, type)                                                                                                                            \
    [11] = name##11_##type, [13] = name##13_##type, [15] = name##15_##type, [17] = name##17_##type, [19] = name##19_##type, [21] = name##21_##type, \
    [23] = name##23_##type, [25] = name##25_##type, [27] = name##27_##type, [29] = name##29_##type, [31] = name##31_##type, [33] = name##33_##type
#define ALL(name, type) [3] = name##3_##type, [5] = name##5_##type, [7] = name##7_##type, [9] = name##9_##type, LONG(name, type)
#define EVERY                                                                                                                                  \
    [3] = ROWS, [5] = ROWS, [7] = ROWS, [9] = ROWS, [11] = ROWS, [13] = ROWS, [15] = ROWS, [17] = ROWS, [19] = ROWS, [21] = ROWS, [23] = ROWS, \
    [25] = ROWS, [27] = ROWS, [29] = ROWS, [31] = ROWS, [33] = ROWS
static const tess_roll_kernels f32_kernels = {.rows = {EVERY},
                                              .roll = {LONG(woven, f32)},
                                              .bytes = {[7] = woven7_u8, [9] = woven9_u8, LONG(woven, u8)},
                                              .pixels = {ALL(woven, pixels)},
                                              .pixel_bytes = {ALL(woven, pixels_u8)}};
static const tess_roll_kernels f64_kernels = {.rows = {EVERY}, .roll = {LONG(woven, f64)}};
#else
static const tess_roll_kernels f32_kernels, f64_kernels;
#endif

const tess_roll_kernels *TESS_ISA_NAME(tess_correlate_woven_kernels)(bool f32);
const tess_roll_kernels *TESS_ISA_NAME(tess_correlate_woven_kernels)(bool f32) { return f32 ? &f32_kernels : &f64_kernels; }
