/* SPDX-License-Identifier: Apache-2.0
 * window_roll.h - a tile of VECTORS vectors by as many output rows as the caller likes, for a mask of DEEP rows: sums roll down, so that an input row is
 * loaded once for all the outputs that it meets. Included once for each, with roll_name and what window_tile.h wants.
 *
 * Input row t begins output t and ends output t - DEEP + 1, so DEEP output rows are under way at once, each a row of the mask behind the one below it,
 * and no sum sees its taps but in order. A tile of ROWS rows (window_tile.h) reads ROWS + DEEP - 1 rows for ROWS; most of these meet few outputs, for
 * which their loads are dear, and none is in the first-level cache when the tile below meets it again. Here a band of 24 rows reads 24 + DEEP - 1, and only the
 * first and the last DEEP - 1 meet fewer than DEEP. Sums change their names from row to row: moves between registers, which cost nothing but their
 * decoding.
 *
 * The rows of one tile follow each other down the image, and tiles follow each other to the right, so what is asked for ahead are columns to the right. */

#define NAME(word) TESS_PASTE(roll_name, word)
#define HERE(word) TESS_PASTE(WORD, word)
enum { NAME(BYTES) = VECTORS * TESS_VECTOR_BYTES };

/* One input row, for mask rows low .. high: constants once inlined. acc[i]: sums that meet mask row i. */
TESS_INLINE void NAME(meet)(vec (*acc)[VECTORS], const tess_window_call *c, const char *x, int low, int high) {
    const real *w = c->columns;
    for (int64_t j = 0; j < c->wx; j++, x += c->step, w += DEEP) {
        vec v[VECTORS];
        TESS_UNROLL for (int k = 0; k < VECTORS; k++) v[k] = KERNEL(load)(c, x, k);
        TESS_UNROLL for (int i = high; i >= low; i--) {
            const vec weight = HERE(all_here)(w + i);
            TESS_UNROLL for (int k = 0; k < VECTORS; k++) HERE(fma_here)(&acc[i][k], v[k], weight);
        }
    }
}

TESS_INLINE void NAME(move)(vec (*acc)[VECTORS], const tess_window_call *c) {
    TESS_UNROLL for (int i = DEEP - 1; i > 0; i--) TESS_UNROLL for (int k = 0; k < VECTORS; k++) acc[i][k] = acc[i - 1][k];
    TESS_UNROLL for (int k = 0; k < VECTORS; k++) acc[0][k] = KERNEL(start)(c);
}

TESS_INLINE void NAME(fetch)(const tess_window_call *c, int64_t t, int64_t at) {
    const char *x = c->ahead[t] + at;
    for (int64_t k = 0; k < c->ahead_bytes; k += 64)
        tess_prefetch_l2(x + k);
}

TESS_INLINE void NAME(all)(const tess_window_call *c) {
    int64_t at = c->at, ahead_at = c->ahead_at;
    char *first = c->out;
    for (int64_t n = c->more; n >= 0; n--, at += NAME(BYTES), ahead_at += c->ahead_bytes, first += c->out_step) {
        const char *const *rows = c->rows;
        char *out = first;
        vec acc[DEEP][VECTORS];
        TESS_UNROLL for (int i = 0; i < DEEP; i++) TESS_UNROLL for (int k = 0; k < VECTORS; k++) acc[i][k] = KERNEL(start)(c);
        TESS_UNROLL for (int t = 0; t < DEEP - 1; t++) {
            NAME(fetch)(c, t, ahead_at);
            NAME(meet)(acc, c, *rows++ + at, 0, t);
            NAME(move)(acc, c);
        }
        for (int64_t t = DEEP - 1; t < c->deep; t++, out += c->out_stride) {
            NAME(fetch)(c, t, ahead_at);
            NAME(meet)(acc, c, *rows++ + at, 0, DEEP - 1);
            KERNEL(put)(c, out, acc[DEEP - 1], VECTORS);
            NAME(move)(acc, c);
        }
        TESS_UNROLL for (int i = 1; i < DEEP; i++, out += c->out_stride) {
            NAME(meet)(acc, c, *rows++ + at, i, DEEP - 1);
            KERNEL(put)(c, out, acc[DEEP - 1], VECTORS);
            NAME(move)(acc, c);
        }
    }
}

/* c->deep >= DEEP - 1. How outputs are stored is known, for the commonest way, when this is compiled. */
static void roll_name(const tess_window_call *c) {
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
#undef roll_name
#undef DEEP
#undef VECTORS
