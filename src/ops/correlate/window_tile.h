/* SPDX-License-Identifier: Apache-2.0
 * window_tile.h - a tile of outputs held in registers: ROWS output rows by VECTORS vectors of `vec`. Included once for each tile, with those names
 * and tile_name, real, WORD (v_f32, v_f64, v_dot4 or v_dot2, pasted before _fma_here and the like) and KERNEL defined, and KERNEL(load)(c, x, k), vector k
 * of what stands at x; KERNEL(start), what sums begin from; KERNEL(put), which stores a row of them.
 *
 * Input rows are outermost. Input row i meets the outputs r = max(0, i - wy + 1) .. min(i, ROWS - 1) with mask row i - r, so every output sees its
 * taps row by row, and within a row from left to right: row-major order, whatever the tile. A tap column costs VECTORS unaligned loads and one
 * broadcast for each output row it serves. An unaligned load of 64 bytes costs as much as two fused multiply-adds, which is free from three rows on
 * (notes-cpu.md); so the first and last input rows of a tile, which meet few outputs, are what it loses.
 *
 * Which outputs an input row meets is known when this is compiled, so that sums never leave their registers: there are rows that ramp up, a loop over
 * those that meet all outputs, and rows that ramp down; masks of fewer rows than the tile have a list each. Weights come column by column of the mask, so
 * that those of a tap stand side by side. The rows that will be wanted are asked for, and outputs are stored, one row at a time while the others are
 * under way: all at once they would keep the loads of the next tile waiting.
 *
 * With PARTS defined, a loaded vector serves so many sums of an output row, each with a weight of its own: those of part 0 come first in acc and those of
 * a tap side by side in the weights. */

#define NAME(word) TESS_PASTE(tile_name, word)
#define HERE(word) TESS_PASTE(WORD, word)

/* One input row, for the output rows low .. high, which are constants once inlined. w: the weight of output 0 in the first column of the mask; the weights
 * of the other outputs stand before it. */
#ifndef PARTS
#define PARTS 1
#endif
TESS_INLINE void NAME(meet)(vec (*acc)[PARTS * VECTORS], const tess_window_call *c, const char *x, const real *w, int low, int high) {
    const int64_t wx = c->wx, wy = c->wy, step = c->step;
    if (ROWS < VECTORS && PARTS == 1) { /* whichever needs the fewer registers */
        for (int64_t j = 0; j < wx; j++, x += step, w += wy) {
            vec weight[ROWS];
            TESS_UNROLL for (int r = low; r <= high; r++) weight[r] = HERE(all_here)(w - r);
            TESS_UNROLL for (int k = 0; k < VECTORS; k++) {
                const vec v = KERNEL(load)(c, x, k);
                TESS_UNROLL for (int r = low; r <= high; r++) HERE(fma_here)(&acc[r][k], v, weight[r]);
            }
        }
        return;
    }
    for (int64_t j = 0; j < wx; j++, x += step, w += wy * PARTS) {
        vec v[VECTORS];
        TESS_UNROLL for (int k = 0; k < VECTORS; k++) v[k] = KERNEL(load)(c, x, k);
        TESS_UNROLL for (int r = low; r <= high; r++) TESS_UNROLL for (int part = 0; part < PARTS; part++) {
            const vec weight = HERE(all_here)(w - r * PARTS + part);
            TESS_UNROLL for (int k = 0; k < VECTORS; k++) HERE(fma_here)(&acc[r][part * VECTORS + k], v[k], weight);
        }
    }
}

TESS_INLINE void NAME(fetch_ahead)(const tess_window_call *c, int i) {
    const char *x = c->ahead[i] + c->ahead_at;
    for (int64_t k = 0; k < c->ahead_bytes; k += 64)
        tess_prefetch_l2(x + k);
}

#define LOW(i, wy) ((i) - (wy) + 1 > 0 ? (i) - (wy) + 1 : 0)
#define HIGH(i) ((i) < ROWS ? (i) : ROWS - 1)
/* Whole lines only: half a line that waits for the tile to the right is written to memory by itself when anything comes between. */
#define EARLY (VECTORS * TESS_VECTOR_BYTES % 64 == 0)
#define PUT(r) KERNEL(put)(c, c->out + (r)*c->out_stride, acc[r], PARTS * VECTORS)
#define MEET(i, wy)                                                              \
    if ((i) < ROWS + (wy)-1) {                                                   \
        if ((i) < ROWS && p == 0)                                                \
            NAME(fetch_ahead)(c, i);                                             \
        NAME(meet)(acc, c, rows[i] + c->at, w + (i)*PARTS, LOW(i, wy), HIGH(i)); \
        if (EARLY && (i) >= (wy)-1 && p == c->planes - 1)                        \
            PUT((i) - (wy) + 1);                                                 \
    }
#define MEETS(wy) \
    case wy: MEET(0, wy) MEET(1, wy) MEET(2, wy) MEET(3, wy) MEET(4, wy) MEET(5, wy) MEET(6, wy) MEET(7, wy) MEET(8, wy) MEET(9, wy) break;

static void tile_name(const tess_window_call *c) {
    const char *const *rows = c->rows;
    const real *w = c->columns;
    const int64_t wy = c->wy, area = c->wy * c->wx * PARTS;
    vec acc[ROWS][PARTS * VECTORS];
    TESS_UNROLL for (int r = 0; r < ROWS; r++) TESS_UNROLL for (int k = 0; k < PARTS * VECTORS; k++) acc[r][k] = KERNEL(start)(c);
    for (int64_t p = 0; p < c->planes; p++, rows += c->lines, w += area)
        switch (wy < ROWS ? wy : 0) {
            MEETS(1)
#if ROWS > 2
            MEETS(2)
#endif
#if ROWS > 3
            MEETS(3)
#endif
#if ROWS > 4
            MEETS(4)
            MEETS(5)
#endif
        default: { /* as MEETS, with a loop in its middle */ const real *wi = w + (ROWS - 1) * PARTS;
#if ROWS > 1
            MEET(0, ROWS)
#endif
#if ROWS > 2
            MEET(1, ROWS)
#endif
#if ROWS > 3
            MEET(2, ROWS)
#endif
#if ROWS > 4
            MEET(3, ROWS)
            MEET(4, ROWS)
#endif
            if (p == 0)
                NAME(fetch_ahead)(c, ROWS - 1);
            for (int64_t i = ROWS - 1; i < wy; i++, wi += PARTS)
                NAME(meet)(acc, c, rows[i] + c->at, wi, 0, ROWS - 1);
            if (EARLY && p == c->planes - 1)
                PUT(0);
#define DOWN(d)                                                                            \
    if ((d) < ROWS) {                                                                      \
        NAME(meet)(acc, c, rows[wy - 1 + (d)] + c->at, wi + ((d)-1) * PARTS, d, ROWS - 1); \
        if (EARLY && p == c->planes - 1)                                                   \
            PUT(d);                                                                        \
    }
            DOWN(1) DOWN(2) DOWN(3) DOWN(4) DOWN(5)
        }
        }
    TESS_UNROLL for (int r = 0; !EARLY && r < ROWS; r++) PUT(r);
}

#undef NAME
#undef HERE
#undef LOW
#undef HIGH
#undef MEET
#undef MEETS
#undef PUT
#undef EARLY
#undef DOWN
#undef tile_name
#undef PARTS
#undef ROWS
#undef VECTORS
