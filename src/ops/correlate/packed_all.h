/* SPDX-License-Identifier: Apache-2.0
 * packed_all.h - the tiles of correlate/packed for one way of bringing taps into lanes; included by cpu_packed_kernels.c, with SUFFIX, WORD (v_dot4
 * or v_dot2), TAPS (in a lane: 4 or 2), PIXELS and OWN_PUT, how the commonest outputs are stored, defined.
 *
 * PIXELS 0: neighbouring taps stand side by side, and a load brings them as they are. TAPS vectors, which start at neighbouring elements, sum
 * TAPS x LANES outputs: lane q of them outputs TAPS q, TAPS q + 1 and so on.
 * PIXELS 1: taps stand a pixel apart, and every lane's are picked from the row. A vector sums LANES neighbouring outputs. */

#define KERNEL(name) TESS_PASTE(name, SUFFIX)
enum { KERNEL(element) = 4 / TAPS, KERNEL(phases) = PIXELS ? 1 : TAPS };

TESS_INLINE vec KERNEL(load)(const tess_window_call *c, const char *x, int k) {
#if PIXELS
    return v_dot_pick_here(x + k * TESS_F32_LANES * KERNEL(element), c->picks);
#else
    (void)c;
    return v_dot_load_here(x + k % TAPS * KERNEL(element) + k / TAPS * TESS_VECTOR_BYTES);
#endif
}
TESS_INLINE vec KERNEL(start)(const tess_window_call *c) { return (vec){0} + c->start; }
TESS_INLINE void KERNEL(put)(const tess_window_call *c, char *to, const vec *sums, int vectors) { put_blocks(KERNEL(phases), c, to, sums, vectors); }

#define tile_name KERNEL(tile)
#define ROWS TALL
#define VECTORS 4
#include "ops/correlate/window_tile.h"
#define tile_name KERNEL(point)
#define VECTORS 4
#define ROWS 1
#include "ops/correlate/window_tile.h"
#define tile_name KERNEL(line)
#define VECTORS (4 * LINE)
#define ROWS 1
#include "ops/correlate/window_tile.h"

#if ROLLS
#define roll_name KERNEL(roll1)
#define DEEP 1
#include "ops/correlate/packed_roll.h"
#define roll_name KERNEL(roll2)
#define DEEP 2
#include "ops/correlate/packed_roll.h"
#define roll_name KERNEL(roll3)
#define DEEP 3
#include "ops/correlate/packed_roll.h"
#define roll_name KERNEL(roll4)
#define DEEP 4
#include "ops/correlate/packed_roll.h"
#define roll_name KERNEL(roll5)
#define DEEP 5
#include "ops/correlate/packed_roll.h"
#define roll_name KERNEL(roll6)
#define DEEP 6
#include "ops/correlate/packed_roll.h"
#define roll_name KERNEL(roll7)
#define DEEP 7
#include "ops/correlate/packed_roll.h"
#endif

/* ---- two passes (packed_passes.h): rows ---- */

static void KERNEL(two_rows)(const tess_window_two_rows *c) {
    const tess_window_call call = {.picks = c->picks};
    for (int64_t x = 0; x < c->columns; x += COLUMNS) {
        const char *from[2] = {c->row[0] + x * KERNEL(element), c->row[1] + x * KERNEL(element)};
        vec acc[2][4];
        TESS_UNROLL for (int r = 0; r < 2; r++) TESS_UNROLL for (int k = 0; k < 4; k++) acc[r][k] = (vec){0} + c->start;
        for (int64_t j = 0; j < c->groups; j++) {
            const vec weight = v_dot_all_here(c->weights + j);
            TESS_UNROLL for (int r = 0; r < 2; r++) TESS_UNROLL for (int k = 0; k < 4; k++)
                TESS_PASTE(WORD, fma_here)(&acc[r][k], KERNEL(load)(&call, from[r] + j * c->step, k), weight);
        }
        TESS_UNROLL for (int k = 0; k < 4; k++)
            v_bytes_store(c->to + x * 4 + k * TESS_VECTOR_BYTES, (v_bytes)((acc[0][k] & 0xffff) | acc[1][k] << 16));
    }
}

/* ---- and columns: pairs of rows of 16 bits, whose order the put undoes ---- */

TESS_INLINE vec KERNEL(pairs_load)(const tess_window_call *c, const char *x, int k) {
    (void)c;
    return v_dot_load_here(x + k * TESS_VECTOR_BYTES);
}
TESS_INLINE vec KERNEL(pairs_start)(const tess_window_call *c) { return (vec){0} + c->start; }
TESS_INLINE void KERNEL(pairs_put)(const tess_window_call *c, char *to, const vec *sums, int vectors) {
    (void)vectors;
    put_block(KERNEL(phases), c, to, sums);
    put_block(KERNEL(phases), c, to + c->out_stride / 2, sums + 4);
}
#undef KERNEL
#undef WORD
#define KERNEL(name) TESS_PASTE(pairs_##name, SUFFIX)
#define WORD v_dot2
#define tile_name KERNEL(tile)
#define PARTS 2
#define VECTORS 4
#define ROWS TALL_PAIRS
#include "ops/correlate/window_tile.h"
#undef KERNEL
#define KERNEL(name) TESS_PASTE(name, SUFFIX)

static const tess_window_kernels KERNEL(kernels) = {
    .lanes = COLUMNS,
    .tall = TALL,
    .taps = TAPS,
    .pairs_must_fit = TAPS == 4 && TESS_DOT4_PAIRS,
    .wide = 1,
    .line_vectors = LINE,
    .tile = KERNEL(tile),
    .narrow = KERNEL(tile),
#if ROLLS
    .roll = {NULL, KERNEL(roll1), KERNEL(roll2), KERNEL(roll3), KERNEL(roll4), KERNEL(roll5), KERNEL(roll6), KERNEL(roll7)},
    .roll_wide = {0, 1, 1, 1, 1, 1, 1, 1},
#endif
    .line = KERNEL(line),
    .point = KERNEL(point),
    .two_rows = KERNEL(two_rows),
    .pairs = KERNEL(pairs_tile),
    .tall_pairs = TALL_PAIRS};

#undef WORD
#undef KERNEL
#undef SUFFIX
#undef TAPS
#undef PIXELS
#undef OWN_PUT
