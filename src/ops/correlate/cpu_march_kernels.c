/* SPDX-License-Identifier: Apache-2.0
 * cpu_march_kernels.c - the kernels of march.h. Tiles are those of cpu_window_kernels.c for a mask that is known to have one column: to count the columns of
 * every row of the mask takes a tile of 6 x 4 vectors as long as three of its rows. */
#include "ops/correlate/march.h"
#include "ops/correlate/put_sums.h"
#include "simd/here.h"
#include "simd/narrow.h"

#if TESS_VECTOR_BYTES >= 32
#if TESS_VECTOR_BYTES == 64
#define TALL 6
#else
#define TALL 3
#endif
#define WIDE 4

#define COLUMNS(type, vec)                                                                              \
    TESS_INLINE vec start_##type(const tess_window_call *c) {                                           \
        (void)c;                                                                                        \
        return (vec){0};                                                                                \
    }                                                                                                   \
    TESS_INLINE void put_##type(const tess_window_call *c, char *to, const vec *sums, int vectors) {    \
        (void)c;                                                                                        \
        TESS_UNROLL for (int k = 0; k < vectors; k++) vec##_store(to + k * TESS_VECTOR_BYTES, sums[k]); \
    }                                                                                                   \
    TESS_INLINE vec load_##type(const tess_window_call *c, const char *x, int k)
COLUMNS(u8, v_f32) {
    (void)c;
    return v_f32_from_u8_here(x + k * TESS_F32_LANES);
}
COLUMNS(f32, v_f32) {
    (void)c;
    return v_f32_load_here(x + k * TESS_VECTOR_BYTES);
}
COLUMNS(f64, v_f64) {
    (void)c;
    return v_f64_load_here(x + k * TESS_VECTOR_BYTES);
}
#define ONE_COLUMN(type)                                       \
    static void columns_##type(const tess_window_call *call) { \
        tess_window_call c = *call;                            \
        c.wx = c.planes = 1;                                   \
        tile_##type(&c);                                       \
    }

#define vec v_f32
#define real float
#define WORD v_f32
#define KERNEL(name) name##_u8
#define ROWS TALL
#define VECTORS WIDE
TESS_INLINE void tile_u8(const tess_window_call *c); /* compiled for the constants of the function below that calls it */
#define tile_name tile_u8
#include "ops/correlate/window_tile.h"
#undef KERNEL
#define KERNEL(name) name##_f32
#define ROWS TALL
#define VECTORS WIDE
TESS_INLINE void tile_f32(const tess_window_call *c); /* compiled for the constants of the function below that calls it */
#define tile_name tile_f32
#include "ops/correlate/window_tile.h"
#undef KERNEL
#if TESS_VECTOR_BYTES == 64
#define march_name march2_f32
#define DEEP 2
#include "ops/correlate/march_kernel.h"
#define march_name march3_f32
#define DEEP 3
#include "ops/correlate/march_kernel.h"
#define march_name march4_f32
#define DEEP 4
#include "ops/correlate/march_kernel.h"
#endif
#undef vec
#undef real
#undef WORD
#define vec v_f64
#define real double
#define WORD v_f64
#define KERNEL(name) name##_f64
#define ROWS TALL
#define VECTORS WIDE
TESS_INLINE void tile_f64(const tess_window_call *c); /* compiled for the constants of the function below that calls it */
#define tile_name tile_f64
#include "ops/correlate/window_tile.h"
#if TESS_VECTOR_BYTES == 64
#define march_name march2_f64
#define DEEP 2
#include "ops/correlate/march_kernel.h"
#define march_name march3_f64
#define DEEP 3
#include "ops/correlate/march_kernel.h"
#define march_name march4_f64
#define DEEP 4
#include "ops/correlate/march_kernel.h"
#endif
ONE_COLUMN(u8)
ONE_COLUMN(f32)
ONE_COLUMN(f64)
static const tess_march_kernels kernels = {
    .rows = TALL,
    .columns_u8 = columns_u8,
    .columns_f32 = columns_f32,
    .columns_f64 = columns_f64,
#if TESS_VECTOR_BYTES == 64 /* rings are faster elsewhere: three rows are too few sums at once */
    .f32 = {[2] = march2_f32, [3] = march3_f32, [4] = march4_f32},
    .f64 = {[2] = march2_f64, [3] = march3_f64, [4] = march4_f64},
#endif
};
#else
static const tess_march_kernels kernels;
#endif

const tess_march_kernels *TESS_ISA_NAME(tess_correlate_march_kernels)(void);
const tess_march_kernels *TESS_ISA_NAME(tess_correlate_march_kernels)(void) { return &kernels; }
