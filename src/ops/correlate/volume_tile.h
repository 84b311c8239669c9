/* SPDX-License-Identifier: Apache-2.0
 * volume_tile.h - window_tile.h for masks of SIDE rows of SIDE taps, 3 or 5, in any number of planes. Included once for each tile, with SIDE, ROWS,
 * VECTORS, SLIDES, tile_name, vec, real and WORD.
 *
 * All weights of a plane of 3 x 3 stay in registers: a broadcast takes the place of a load, and such a mask has three broadcasts for every four loads. With SLIDES
 * rows are read a vector at a time, from left to right, and the outer taps are lane slides of two neighbours: no load lies across two lines, which takes the
 * time of two, and each line is read once. That is for processors whose multiply-adds leave a port for slides free (a Zen 5). 5 x 5 is as in window_tile.h.
 *
 * What will be wanted is asked for a line at a time, evenly over all rows that the tile meets, and one line after the other as they lie in memory: the tile's own
 * columns of some rows, all at once, kept the loads of the tile waiting (notes-cpu.md). With SLIDES three lines at a time, in L1: a Zen 5 that is asked for single ones
 * in L2 brings them in time or does not, by where in memory the instructions happen to stand (notes-cpu.md). */

#define NAME(word) TESS_PASTE(tile_name, word)
#define HERE(word) TESS_PASTE(WORD, word)

/* Input row i of a plane. x: where the first tap of the tile's first output stands. weight: those of the plane, at 5 x 5 not read. */
TESS_INLINE void NAME(meet)(vec (*acc)[VECTORS], int i, const char *x, const real *w, const vec *weight, const tess_volume_call *call, bool begins,
                            bool ends) {
#define MEETS(j, k, v) TESS_UNROLL for (int r = 0; r < ROWS; r++) if (r <= i && i - r < SIDE) HERE(fma_here)(&acc[r][k], v, weight[(j)*SIDE + i - r])
    enum { LANES = TESS_VECTOR_BYTES / (int)sizeof(real) };
#if SLIDES
    const char *middle_at = x + sizeof(real);
    vec left = begins ? HERE(load)(call->constant) : HERE(load_here)(middle_at - TESS_VECTOR_BYTES), middle = HERE(load_here)(middle_at);
    (void)w;
    TESS_UNROLL for (int k = 0; k < VECTORS; k++) {
        const vec first = HERE(slide_here)(left, middle, LANES - 1);
        MEETS(0, k, first);
        MEETS(1, k, middle);
        const vec right = k == VECTORS - 1 && ends ? HERE(load)(call->constant) : HERE(load_here)(middle_at + (k + 1) * TESS_VECTOR_BYTES);
        const vec last = HERE(slide_here)(middle, right, 1);
        MEETS(2, k, last);
        left = middle;
        middle = right;
    }
#elif SIDE == 3
    (void)w;
    TESS_UNROLL for (int j = 0; j < SIDE; j++, x += sizeof(real)) TESS_UNROLL for (int k = 0; k < VECTORS; k++) {
        vec v;
        if (j == 0 && k == 0 && begins)
            v = HERE(slide_here)(HERE(load)(call->constant), HERE(load_here)(x + sizeof(real)), LANES - 1);
        else if (j == SIDE - 1 && k == VECTORS - 1 && ends)
            v = HERE(slide_here)(HERE(load_here)(x + k * TESS_VECTOR_BYTES - sizeof(real)), HERE(load)(call->constant), 1);
        else
            v = HERE(load_here)(x + k * TESS_VECTOR_BYTES);
        MEETS(j, k, v);
    }
#else
    (void)weight, (void)call, (void)begins, (void)ends;
    /* Unrolled, a plane is a thousand instructions, and 3 % slower on a Zen 5 (notes-cpu.md). */
    _Pragma("GCC unroll 1") for (int j = 0; j < SIDE; j++, x += sizeof(real), w += SIDE) {
        vec v[VECTORS];
        TESS_UNROLL for (int k = 0; k < VECTORS; k++) v[k] = HERE(load_here)(x + k * TESS_VECTOR_BYTES);
        TESS_UNROLL for (int r = 0; r < ROWS; r++) if (r <= i && i - r < SIDE) {
            const vec once = HERE(all_here)(w + i - r);
            TESS_UNROLL for (int k = 0; k < VECTORS; k++) HERE(fma_here)(&acc[r][k], v[k], once);
        }
    }
#endif
#undef MEETS
}

/* begins, ends: see tess_volume_call. Constants, so that tiles between the ends of a row ask no questions. */
TESS_INLINE void NAME(one)(const tess_volume_call *call, int64_t at, char *out, bool begins, bool ends) {
    const tess_window_call *c = &call->window;
    const char *const *rows = c->rows;
    const real *w = c->columns;
    vec acc[ROWS][VECTORS], weight[SIDE == 3 ? SIDE * SIDE : 1];
    enum { ASKS = SLIDES ? 3 : 1 }; /* lines at a time */
    tess_volume_ask ask = *call->ask;
    int64_t lines = ask.next <= ask.last ? call->lines : 0;
    TESS_UNROLL for (int r = 0; r < ROWS; r++) TESS_UNROLL for (int k = 0; k < VECTORS; k++) acc[r][k] = (vec){0};
    for (int64_t p = 1; p <= c->planes; p++, rows += c->lines, w += SIDE * SIDE) {
        TESS_UNROLL for (int k = 0; SIDE == 3 && k < SIDE * SIDE; k++) weight[k] = HERE(all_here)(w + k);
        TESS_UNROLL for (int i = 0; i < ROWS + SIDE - 1; i++) {
            for (int k = i % ASKS == ASKS - 1 ? ASKS : 0; k > 0 && lines > 0; k--, lines--) {
                SLIDES ? tess_prefetch_l1(ask.at) : tess_prefetch_l2(ask.at);
                ask.at += 64;
                if (ask.at >= ask.end) {
                    ask.at = *ask.next++;
                    ask.end = ask.at + ask.bytes;
                }
            }
            NAME(meet)(acc, i, rows[i] + at, w, weight, call, begins, ends);
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
        const bool open = SIDE == 3 && VECTORS > 1, begins = open && call->begins && n == call->window.more, ends = open && call->ends && n == 0;
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
#undef SLIDES
#undef ROWS
#undef VECTORS
