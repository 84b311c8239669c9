/* SPDX-License-Identifier: Apache-2.0
 * cpu_roll_kernels.c - the kernels of roll.h: sums between the passes stay in the registers where there are 32, else in a short buffer. There are none for
 * vectors of 16 bytes, and where there are 32 registers masks of 11 taps and more are cpu_woven_kernels.c's. */
#include "ops/correlate/roll_put.h"
#include "simd/fours.h"
#include "simd/halves.h"
#include "simd/lanes.h"

#if TESS_VECTOR_BYTES >= 32
#if TESS_VECTOR_BYTES == 64
#define LONG 0
enum { ROWS_3 = 6, ROWS_5 = 5, ROWS_7 = 4, ROWS_9_F32 = 4, ROWS_9_F64 = 5 };
#define ROLL_KERNEL "ops/correlate/roll_kernel.h"
#define ROLL_KERNEL_9 "ops/correlate/roll_fours.h"
#else
#define LONG 1
enum { ROWS_3 = 4, ROWS_5 = 4, ROWS_7 = 4, ROWS_9_F32 = 4, ROWS_9_F64 = 4, ROWS_LONG = 4 };
#define ROLL_KERNEL "ops/correlate/roll_lines.h"
#define ROLL_KERNEL_9 ROLL_KERNEL
/* The fastest of several; at 3 taps what is loaded to be slid costs as much as what it saves. */
#define SLID (TAPS <= 3 ? 0 : TAPS <= 11 || sizeof(real) == 8 ? 0xa : 0xe)
#endif
#define UNROLL _Pragma("GCC unroll 32") /* TESS_UNROLL ends at 16, and a column of 15 taps over 5 rows has 19 */

#define ROWS_9 ROWS_9_F32
#define vec v_f32
#define real float
#define WORD v_f32
#define KERNEL(name) name##_u8
#define PUT(to, step, byte_step, sums, count) put_sums_or_bytes(c, to, step, byte_step, sums, count)
#define LOAD(x) v_f32_from_u8_here(x)
#define HALF TESS_F32_LANES
#include "ops/correlate/roll_all.h"
#undef KERNEL
#undef LOAD
#undef HALF
#define HALF TESS_VECTOR_BYTES
#undef PUT
#define PUT(to, step, byte_step, sums, count) v_f32_put_sums(to, step, sums, count, c->stream, c->between)
#define KERNEL(name) name##_f32
#define LOAD(x) v_f32_load_here(x)
#include "ops/correlate/roll_all.h"
#undef KERNEL
#undef LOAD
#undef vec
#undef real
#undef WORD
#undef ROWS_9
#define ROWS_9 ROWS_9_F64
#undef ROLL_KERNEL_9
#define ROLL_KERNEL_9 ROLL_KERNEL
#define vec v_f64
#define real double
#define WORD v_f64
#undef PUT
#define PUT(to, step, byte_step, sums, count) v_f64_put_sums(to, step, sums, count, c->stream, c->between)
#define KERNEL(name) name##_f64
#define LOAD(x) v_f64_load_here(x)
#include "ops/correlate/roll_all.h"

#if LONG
#define MORE(name, type) , [11] = name##11_##type, [13] = name##13_##type, [15] = name##15_##type
#define ROWS_OF_MORE , [11] = ROWS_LONG, [13] = ROWS_LONG, [15] = ROWS_LONG
#else
#define MORE(name, type)
#define ROWS_OF_MORE
#endif
#define ALL(name, type) \
    { [3] = name##3_##type, [5] = name##5_##type, [7] = name##7_##type, [9] = name##9_##type MORE(name, type) }
#define ROWS_OF_ALL(nine) \
    { [3] = ROWS_3, [5] = ROWS_5, [7] = ROWS_7, [9] = nine ROWS_OF_MORE }
static const tess_roll_kernels f32_kernels = {.rows = ROWS_OF_ALL(ROWS_9_F32), .roll = ALL(roll, f32), .bytes = ALL(roll, u8)};
static const tess_roll_kernels f64_kernels = {.rows = ROWS_OF_ALL(ROWS_9_F64), .roll = ALL(roll, f64)};
#else
static const tess_roll_kernels f32_kernels, f64_kernels;
#endif

const tess_roll_kernels *TESS_ISA_NAME(tess_correlate_roll_kernels)(bool f32);
const tess_roll_kernels *TESS_ISA_NAME(tess_correlate_roll_kernels)(bool f32) { return f32 ? &f32_kernels : &f64_kernels; }
