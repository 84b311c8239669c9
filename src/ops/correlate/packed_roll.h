/* SPDX-License-Identifier: Apache-2.0
 * packed_roll.h - a block of outputs (four vectors of packed sums, a vector of bytes) by as many output rows as a band has, for a mask of DEEP rows: sums roll down, as in
 * window_roll.h. Included once for each, with roll_name and what packed_all.h has.
 *
 * A tile of 6 rows (window_tile.h) spends longer on its beginning and its end than on its products, of which a small mask of integers has few. Here a row costs
 * its loads, products and store: what a call tells is in registers, how outputs are stored is known, and one group of taps a row, the commonest, is a text of its own. */

#define NAME(word) TESS_PASTE(roll_name, word)
#define HERE(word) TESS_PASTE(WORD, word)

/* One input row, for mask rows low .. high, which are constants once inlined. acc[i]: sums that meet mask row i. */
TESS_INLINE void NAME(meet)(vec (*acc)[4], const tess_window_call *c, const char *x, const int32_t *w, int64_t groups, int64_t step, int low,
                            int high) {
    enum { SOME = DEEP > 6 ? 2 : 4 }; /* vectors that there are registers for at a time */
    for (int64_t j = 0; j < groups; j++, x += step, w += DEEP)
        TESS_UNROLL for (int first = 0; first < 4; first += SOME) {
            vec v[SOME];
            TESS_UNROLL for (int k = 0; k < SOME; k++) v[k] = KERNEL(load)(c, x, first + k);
            TESS_UNROLL for (int i = high; i >= low; i--) {
                const vec weight = HERE(all_here)(w + i);
                TESS_UNROLL for (int k = 0; k < SOME; k++) HERE(fma_here)(&acc[i][first + k], v[k], weight);
            }
        }
}

TESS_INLINE void NAME(fetch)(const char *x) { TESS_UNROLL for (int k = 0; k < KERNEL(element); k++) tess_prefetch_l2(x + k * COLUMNS); }

TESS_INLINE void NAME(move)(vec (*acc)[4], vec start) {
    TESS_UNROLL for (int i = DEEP - 1; i > 0; i--) TESS_UNROLL for (int k = 0; k < 4; k++) acc[i][k] = acc[i - 1][k];
    TESS_UNROLL for (int k = 0; k < 4; k++) acc[0][k] = start;
}

/* known: what is known of the call when this is compiled. */
TESS_INLINE void NAME(all)(const tess_window_call *c, const tess_window_call *known, int64_t groups) {
    const int64_t step = c->step, deep = c->deep, out_stride = c->out_stride, ahead_bytes = c->ahead_bytes, out_step = c->out_step;
    const int32_t *w = c->columns;
    const vec start = (vec){0} + c->start;
    int64_t at = c->at, ahead_at = c->ahead_at;
    char *first = c->out;
    for (int64_t n = c->more; n >= 0; n--, at += COLUMNS * KERNEL(element), ahead_at += ahead_bytes, first += out_step) {
        const char *const *rows = c->rows, *const *ahead = c->ahead;
        char *out = first;
        vec acc[DEEP][4];
        TESS_UNROLL for (int i = 0; i < DEEP; i++) TESS_UNROLL for (int k = 0; k < 4; k++) acc[i][k] = start;
        TESS_UNROLL for (int t = 0; t < DEEP - 1; t++) {
            NAME(fetch)(ahead[t] + ahead_at);
            NAME(meet)(acc, c, rows[t] + at, w, groups, step, 0, t);
            NAME(move)(acc, start);
        }
        for (int64_t t = DEEP - 1; t < deep; t++, out += out_stride) {
            NAME(fetch)(ahead[t] + ahead_at);
            NAME(meet)(acc, c, rows[t] + at, w, groups, step, 0, DEEP - 1);
            put_block(KERNEL(phases), known, out, acc[DEEP - 1]);
            NAME(move)(acc, start);
        }
        TESS_UNROLL for (int i = 1; i < DEEP; i++, out += out_stride) {
            NAME(meet)(acc, c, rows[deep - 1 + i] + at, w, groups, step, i, DEEP - 1);
            put_block(KERNEL(phases), known, out, acc[DEEP - 1]);
            NAME(move)(acc, start);
        }
    }
}

/* deep >= DEEP - 1. */
static void roll_name(const tess_window_call *c) {
    const tess_window_call own = {.put = OWN_PUT}, streams = {.put = OWN_PUT, .stream = true};
    if (c->between || c->put != OWN_PUT)
        NAME(all)(c, c, c->wx);
    else if (c->stream)
        c->wx == 1 ? NAME(all)(c, &streams, 1) : NAME(all)(c, &streams, c->wx);
    else
        c->wx == 1 ? NAME(all)(c, &own, 1) : NAME(all)(c, &own, c->wx);
}

#undef NAME
#undef HERE
#undef roll_name
#undef DEEP
