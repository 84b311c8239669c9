/* SPDX-License-Identifier: Apache-2.0
 * cpu_window_kernels.c - the tiles, lines and rings of correlate/window, for f32 and f64.
 *
 * Their sizes share out the registers. AVX-512 has 32: 24 sums, 4 inputs and a weight, or with a mask of 3 x 3 all its weights, 16 sums and 4 inputs. With
 * 16, a tile has 12 sums, 3 weights and an input; the lanes of other instruction sets follow AVX2. Every wide tile is whole lines of 64 bytes wide. */
#include "core/maker.h"
#include "ops/correlate/put_narrow.h"
#include "simd/here.h"
#include "simd/lanes.h"

#if TESS_VECTOR_BYTES == 64
#define TALL 6
#define TALL_3 4
#define KEEP_3 1
#define ROLLS 13 /* rows of the deepest mask whose sums roll (window_roll.h) */
#define ROLL_4 4
#define ROLL_5 4
#define ROLL_6 4
#define ROLL_7 3
#define ROLL_8 3
#define ROLL_9 3
#define ROLL_10 2
#define ROLL_11 2
#define ROLL_12 2
#define ROLL_13 2
#define DEEPER_ROLLS(name) KERNEL(name##7), KERNEL(name##8), KERNEL(name##9), KERNEL(name##10), KERNEL(name##11), KERNEL(name##12), KERNEL(name##13)
#define DEEPEST_RING 8
enum { STREAMS_2 = 8, STREAMS_3 = 8, STREAMS_4 = 6, STREAMS_5 = 4, STREAMS_6 = 4, STREAMS_7 = 3, STREAMS_8 = 3 };
#else
#define TALL 3
#define TALL_3 3
#define KEEP_3 0
#define ROLLS (TESS_VECTOR_BYTES == 32 ? 6 : 0)
#define ROLL_4 2
#define ROLL_5 2
#define ROLL_6 2
#define ROLL_7 0
#define ROLL_8 0
#define ROLL_9 0
#define ROLL_10 0
#define ROLL_11 0
#define ROLL_12 0
#define ROLL_13 0
#define DEEPER_ROLLS(name) NULL
/* Rings of 7 and 8 have room for one stretch only, too few chains, with a load for each multiply-add: two thirds of the rate (notes-cpu.md). */
#define DEEPEST_RING 6
enum { STREAMS_2 = 6, STREAMS_3 = 4, STREAMS_4 = 3, STREAMS_5 = 2, STREAMS_6 = 2 };
#endif
#define WIDE 4
#define LINE 8

#define vec v_f32
#define real float
#define WORD v_f32

/* Columns of u8, converted on the way into the registers: a vector serves every row of the tile. For correlate/separable, which reads the sums. */
#define KERNEL(name) name##_u8
TESS_INLINE vec KERNEL(load)(const tess_window_call *c, const char *x, int k) {
    (void)c;
    return v_f32_from_u8_here(x + k * TESS_F32_LANES);
}
TESS_INLINE vec KERNEL(start)(const tess_window_call *c) {
    (void)c;
    return (vec){0};
}
TESS_INLINE void KERNEL(put)(const tess_window_call *c, char *to, const vec *sums, int vectors) {
    (void)c;
    TESS_UNROLL for (int k = 0; k < vectors; k++) v_f32_store(to + k * TESS_VECTOR_BYTES, sums[k]);
}
#define tile_name KERNEL(tall_tile)
#define ROWS TALL
#define VECTORS WIDE
#include "ops/correlate/window_tile.h"
#define tile_name KERNEL(narrow_tile)
#define ROWS TALL
#define VECTORS 1
#include "ops/correlate/window_tile.h"
#undef KERNEL
#undef vec
#undef real
#undef WORD

extern const tess_window_ring TESS_ISA_NAME(tess_correlate_fours)[TESS_WINDOW_FOURS + 1]; /* by taps; NULL: there is none */

#define TAKES_NARROW TESS_NARROW
#define BYTES(tile) tile
#define FOURS TESS_ISA_NAME(tess_correlate_fours)
#define vec v_f32
#define real float
#define LINE_WIDTH 4
#define WORD v_f32
#define KERNEL(name) name##_f32
#include "ops/correlate/window_all.h"
#undef vec
#undef real
#undef WORD
#undef KERNEL

#undef TAKES_NARROW
#undef BYTES
#undef FOURS

/* f64 does not: nothing calls this. */
#define TAKES_NARROW 0
#define BYTES(tile) NULL
#define FOURS NULL
#define put_narrow(put, stream, to, sums, vectors) (void)0
#define vec v_f64
#undef LINE_WIDTH
#define LINE_WIDTH 8
#define real double
#define WORD v_f64
#define KERNEL(name) name##_f64
#include "ops/correlate/window_all.h"

const tess_window_kernels *TESS_ISA_NAME(tess_correlate_window_kernels)(bool f32);
const tess_window_kernels *TESS_ISA_NAME(tess_correlate_window_kernels)(bool f32) { return f32 ? &kernels_f32 : &kernels_f64; }
