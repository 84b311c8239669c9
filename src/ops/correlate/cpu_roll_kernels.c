/* SPDX-License-Identifier: Apache-2.0
 * cpu_roll_kernels.c - the kernels of roll.h. Where a vector has no 64 bytes there are none: sums and weights do not fit 16 registers. */
#include "ops/correlate/put_sums.h"
#include "ops/correlate/roll.h"
#include "simd/here.h"
#include "simd/lanes.h"
#include "simd/narrow.h"

#if TESS_VECTOR_BYTES == 64
enum { ROWS_3 = 6, ROWS_5 = 5, ROWS_7 = 4, ROWS_LONG = 5 };
#define UNROLL _Pragma("GCC unroll 32") /* TESS_UNROLL ends at 16, and a column of 15 taps over 5 rows has 19 */

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

#define ALL(name, type)                                                                                                                         \
    {                                                                                                                                           \
        [3] = name##3_##type, [5] = name##5_##type, [7] = name##7_##type, [9] = name##9_##type, [11] = name##11_##type, [13] = name##13_##type, \
        [15] = name##15_##type                                                                                                                  \
    }
#define ROWS_OF_ALL \
    { [3] = ROWS_3, [5] = ROWS_5, [7] = ROWS_7, [9] = ROWS_LONG, [11] = ROWS_LONG, [13] = ROWS_LONG, [15] = ROWS_LONG }
static const tess_roll_kernels f32_kernels = {.rows = ROWS_OF_ALL, .roll = ALL(roll, f32), .bytes = ALL(roll, u8)};
static const tess_roll_kernels f64_kernels = {.rows = ROWS_OF_ALL, .roll = ALL(roll, f64)};
#else
static const tess_roll_kernels f32_kernels, f64_kernels;
#endif

const tess_roll_kernels *TESS_ISA_NAME(tess_correlate_roll_kernels)(bool f32);
const tess_roll_kernels *TESS_ISA_NAME(tess_correlate_roll_kernels)(bool f32) { return f32 ? &f32_kernels : &f64_kernels; }
