/* SPDX-License-Identifier: Apache-2.0
 * window_tile.h - a tile of outputs held in registers: ROWS output rows by VECTORS vectors of `vec`. Included once for each tile, with those names
 * and tile_name, real, LANES, v_load, v_store, v_stream, v_all, v_fma, v_keep, v_canonical defined.
 *
 * Input rows are outermost. Input row i meets the outputs r = max(0, i - wy + 1) .. min(i, ROWS - 1) with mask row i - r, so every output sees its
 * taps row by row, and within a row from left to right: row-major order, whatever the tile. A tap column costs VECTORS unaligned loads and one
 * broadcast for each output row it serves. Tap columns are taken four at a time, or all of a short mask row: left to itself the
 * compiler unrolls until it spills weights and loads. */

#ifndef TAPS /* taps of a mask row, where the tile is made for so many; 0 = any number */
#define TAPS 0
#endif

/* One tap column of an input row, for the output rows low .. high, which are constants once inlined. w: in the mask row of output 0. */
TESS_INLINE void TESS_PASTE(tile_name, tap)(vec (*acc)[VECTORS], const char *x, const real *w, int64_t wx, int low, int high) {
    vec v[VECTORS];
    for (int k = 0; k < VECTORS; k++)
        v[k] = v_keep(v_load(x + k * TESS_VECTOR_BYTES));
    for (int r = low; r <= high; r++) {
        const vec weight = v_all(w[-r * wx]);
        for (int k = 0; k < VECTORS; k++)
            acc[r][k] = v_fma(v[k], weight, acc[r][k]);
    }
}
TESS_INLINE void TESS_PASTE(tile_name, row)(vec (*acc)[VECTORS], const char *x, const real *w, int64_t wx, int64_t step, int low, int high) {
    int64_t j = 0;
#if !TAPS
    for (; j + 4 <= wx; j += 4)
        for (int k = 0; k < 4; k++, x += step, w++)
            TESS_PASTE(tile_name, tap)(acc, x, w, wx, low, high);
#endif
    for (; j < wx; j++, x += step, w++)
        TESS_PASTE(tile_name, tap)(acc, x, w, wx, low, high);
}

#define MEETS(low, high) \
    case (low)*8 + (high): TESS_PASTE(tile_name, row)(acc, x, wi, wx, step, low, high); break;

/* rows: the input rows of plane 0 from the first that output row 0 meets; planes lie `lines` pointers apart. at: bytes added to each. step: bytes
 * between taps. */
static void tile_name(const char *const *rows, int64_t lines, int64_t at, const real *w, const tess_correlate_window *window, int64_t step, char *out,
                      int64_t out_stride, bool stream) {
    const int64_t wx = TAPS ? TAPS : window->wx, wy = window->wy;
    vec acc[ROWS][VECTORS];
    for (int r = 0; r < ROWS; r++)
        for (int k = 0; k < VECTORS; k++)
            acc[r][k] = (vec){0};
    for (int64_t p = 0; p < window->planes; p++, rows += lines, w += wy * wx)
        for (int64_t i = 0; i < ROWS + wy - 1; i++) {
            const char *x = rows[i] + at;
            const real *wi = w + i * wx;
            int64_t low = i - wy + 1 > 0 ? i - wy + 1 : 0, high = i < ROWS - 1 ? i : ROWS - 1;
            /* Ramps up and down at the ends, all rows between; short masks have no "between". (Words without semicolons: laid out by hand.) */
            /* clang-format off */
            switch (low * 8 + high) {
                MEETS(0, 0)
#if ROWS > 1
                MEETS(0, 1) MEETS(0, 2) MEETS(0, 3)
                MEETS(1, 1) MEETS(1, 2) MEETS(1, 3)
                MEETS(2, 2) MEETS(2, 3)
                MEETS(3, 3)
#endif
#if ROWS > 4
                MEETS(0, 4) MEETS(1, 4) MEETS(2, 4) MEETS(3, 4) MEETS(4, 4)
                MEETS(0, 5) MEETS(1, 5) MEETS(2, 5) MEETS(3, 5) MEETS(4, 5) MEETS(5, 5)
#endif
            default: break;
            }
            /* clang-format on */
        }
    for (int r = 0; r < ROWS; r++)
        for (int k = 0; k < VECTORS; k++) {
            char *to = out + r * out_stride + k * TESS_VECTOR_BYTES;
            if (stream)
                v_stream(to, v_canonical(acc[r][k]));
            else
                v_store(to, v_canonical(acc[r][k]));
        }
}

#undef MEETS
#undef TAPS
#undef tile_name
#undef ROWS
#undef VECTORS
