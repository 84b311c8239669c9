/* SPDX-License-Identifier: Apache-2.0
 * window_square.h - the tile of window_tile.h for a mask of SIDE rows of SIDE taps that follow each other, of one plane. Included once for each, with
 * the same names defined, and KEEP: 1 where there are registers for all weights beside the sums.
 *
 * Small masks have so few multiply-adds that everything else shows: nothing is counted here, sums stay in their registers from the first row to the
 * last, and kept weights leave the loads, of which a small mask has nearly as many as of multiply-adds, to the input. */

#define NAME(word) TESS_PASTE(tile_name, word)
#define HERE(word) TESS_PASTE(WORD, word)
enum { NAME(LINES) = VECTORS * TESS_VECTOR_BYTES > 64 ? VECTORS *TESS_VECTOR_BYTES / 64 : 1 }; /* of 64 bytes, in a row of the tile */

/* Input row i, at x. It meets the output rows i - SIDE + 1 .. i, where there are such. */
TESS_INLINE void NAME(meet)(vec (*acc)[VECTORS], const tess_window_call *c, const char *x, const vec *weight, const real *w, int i) {
    TESS_UNROLL for (int j = 0; j < SIDE; j++) {
        vec now[ROWS];
        TESS_UNROLL for (int r = 0; r < ROWS; r++) if (r <= i && i - r < SIDE) now[r] =
            KEEP ? weight[j * SIDE + i - r] : HERE(all_here)(w + j * SIDE + i - r);
        TESS_UNROLL for (int k = 0; k < VECTORS; k++) {
            const vec v = KERNEL(load)(c, x + j * (int)sizeof(real), k);
            TESS_UNROLL for (int r = 0; r < ROWS; r++) if (r <= i && i - r < SIDE) HERE(fma_here)(&acc[r][k], v, now[r]);
        }
    }
}

TESS_INLINE void NAME(all)(const tess_window_call *c) {
    const char *const *rows = c->rows, *const *ahead = c->ahead;
    const real *w = c->columns;
    const int64_t line = (int64_t)((uint64_t)c->ahead_bytes / NAME(LINES));
    vec weight[SIDE * SIDE];
    TESS_UNROLL for (int k = 0; k < SIDE * SIDE; k++) weight[k] = KEEP ? HERE(all_here)(w + k) : (vec){0};
    int64_t at = c->at, ahead_at = c->ahead_at;
    char *out = c->out;
    bool careful = true; /* The first tile looks before it stores. Where one tile has NaNs the next one may: to mend costs far more than to look. */
    for (int64_t n = c->more; n >= 0; n--, at += VECTORS * TESS_VECTOR_BYTES, ahead_at += c->ahead_bytes, out += c->out_step) {
        vec acc[ROWS][VECTORS], met = {0};
        TESS_UNROLL for (int r = 0; r < ROWS; r++) TESS_UNROLL for (int k = 0; k < VECTORS; k++) acc[r][k] = KERNEL(start)(c);
        TESS_UNROLL for (int i = 0; i < ROWS + SIDE - 1; i++) {
            if (i < ROWS)
                TESS_UNROLL for (int k = 0; k < NAME(LINES); k++) tess_prefetch_l2(ahead[i] + ahead_at + k * line);
            NAME(meet)(acc, c, rows[i] + at, weight, w, i);
            if (i >= SIDE - 1) {
                char *to = out + (i - SIDE + 1) * c->out_stride;
                if (__builtin_expect(careful, 0)) {
                    met += KERNEL(total)(acc[i - SIDE + 1], VECTORS);
                    KERNEL(put)(c, to, acc[i - SIDE + 1], VECTORS);
                } else {
                    KERNEL(put_unseen)(c, to, acc[i - SIDE + 1], VECTORS, &met);
                }
            }
        }
        const bool any = KERNEL(is_nan)(met);
        if (any && !careful)
            KERNEL(mend_all)(out, c->out_stride, ROWS, VECTORS);
        careful = any || (careful && n != c->more);
    }
}

/* How outputs are stored is known, for the commonest way, when this is compiled. */
static void tile_name(const tess_window_call *c) {
    if (c->stream && !c->between && c->put == TESS_WINDOW_PUT_WORK) {
        tess_window_call streams = *c;
        streams.stream = true;
        streams.between = false;
        streams.put = TESS_WINDOW_PUT_WORK;
        NAME(all)(&streams);
    } else {
        NAME(all)(c);
    }
}

#undef NAME
#undef HERE
#undef tile_name
#undef SIDE
#undef KEEP
#undef ROWS
#undef VECTORS
