/* SPDX-License-Identifier: Apache-2.0
 * volume_tile.h - window_tile.h for masks of SIDE rows of SIDE taps in any number of planes, so few that all weights of a plane stay in registers while
 * the tile goes through it. Included once for each, with tile_name, vec, real, WORD and VECTORS.
 *
 * A broadcast takes the place of a load, and a mask of three rows has three broadcasts for every four loads.
 *
 * What will be wanted is asked for a line at a time, evenly over all rows that the tile meets, and one line after the other as they lie in memory: the tile's own
 * columns of some rows, all at once, kept the loads of the tile waiting (README.md). */

#define NAME(word) TESS_PASTE(tile_name, word)
#define HERE(word) TESS_PASTE(WORD, word)
#define SIDE 3
#define ROWS TESS_VOLUME_ROWS

/* begins, ends: see tess_volume_call. Constants, so that tiles between the ends of a row ask no questions. */
TESS_INLINE void NAME(one)(const tess_volume_call *call, int64_t at, char *out, bool begins, bool ends) {
    const tess_window_call *c = &call->window;
    enum { LANES = TESS_VECTOR_BYTES / (int)sizeof(real) };
    const char *const *rows = c->rows;
    const real *w = c->columns;
    vec acc[ROWS][VECTORS], weight[SIDE * SIDE];
    tess_volume_ask ask = *call->ask;
    int64_t lines = ask.next <= ask.last ? call->lines : 0;
    TESS_UNROLL for (int r = 0; r < ROWS; r++) TESS_UNROLL for (int k = 0; k < VECTORS; k++) acc[r][k] = (vec){0};
    for (int64_t p = 1; p <= c->planes; p++, rows += c->lines, w += SIDE * SIDE) {
        TESS_UNROLL for (int k = 0; k < SIDE * SIDE; k++) weight[k] = HERE(all_here)(w + k);
        TESS_UNROLL for (int i = 0; i < ROWS + SIDE - 1; i++) {
            const char *x = rows[i] + at;
            if (lines-- > 0) {
                tess_prefetch_l2(ask.at);
                ask.at += 64;
                if (ask.at >= ask.end) {
                    ask.at = *ask.next++;
                    ask.end = ask.at + ask.bytes;
                }
            }
            TESS_UNROLL for (int j = 0; j < SIDE; j++, x += sizeof(real)) TESS_UNROLL for (int k = 0; k < VECTORS; k++) {
                vec v;
                if (j == 0 && k == 0 && begins)
                    v = HERE(slide_here)(HERE(load)(call->constant), HERE(load_here)(x + sizeof(real)), LANES - 1);
                else if (j == SIDE - 1 && k == VECTORS - 1 && ends)
                    v = HERE(slide_here)(HERE(load_here)(x + k * TESS_VECTOR_BYTES - sizeof(real)), HERE(load)(call->constant), 1);
                else
                    v = HERE(load_here)(x + k * TESS_VECTOR_BYTES);
                TESS_UNROLL for (int r = 0; r < ROWS; r++) if (r <= i && i - r < SIDE) HERE(fma_here)(&acc[r][k], v, weight[j * SIDE + i - r]);
            }
            char *to = out + (i - SIDE + 1) * c->out_stride;
            if (i >= SIDE - 1 && p == c->planes)
                HERE(put_sums)(to, TESS_VECTOR_BYTES, acc[i - SIDE + 1], VECTORS, c->stream, c->between);
        }
    }
    *call->ask = ask;
}

static void tile_name(const tess_volume_call *call) {
    int64_t at = call->window.at;
    char *out = call->window.out;
    for (int64_t n = call->window.more; n >= 0; n--, at += VECTORS * TESS_VECTOR_BYTES, out += call->window.out_step) {
        const bool begins = VECTORS > 1 && call->begins && n == call->window.more, ends = VECTORS > 1 && call->ends && n == 0;
        if (begins && ends)
            NAME(one)(call, at, out, true, true);
        else if (begins)
            NAME(one)(call, at, out, true, false);
        else if (ends)
            NAME(one)(call, at, out, false, true);
        else
            NAME(one)(call, at, out, false, false);
    }
}

#undef NAME
#undef HERE
#undef tile_name
#undef SIDE
#undef ROWS
#undef VECTORS
