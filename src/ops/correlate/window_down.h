/* SPDX-License-Identifier: Apache-2.0
 * window_down.h - VECTORS vectors of columns, from the top of a band to its bottom, for a mask of SIDE rows of SIDE taps of one plane and for elements
 * that are converted on their way into the registers. Included once for each, with down_name, vec, real, WORD and KERNEL as in window_tile.h, and
 * LOAD(x), a vector of what stands at x, ELEMENT bytes each; KEEP: 1 where there are registers for all weights beside the sums.
 *
 * A vector of elements is converted once for each tap of a row and then serves the SIDE output rows that are under way: one that begins, one that is
 * finished by it, and those between. So no converted row is ever stored, and to convert costs less than to load what was: it runs on ports that multiply-adds
 * leave free. Sums change places every row, so the text has SIDE rows. The first rows of a band and the last ones make sums of outputs above and
 * below it, too, which nobody stores. */

#define NAME(word) TESS_PASTE(down_name, word)
#define HERE(word) TESS_PASTE(WORD, word)

TESS_INLINE void NAME(all)(const tess_window_call *c) {
    enum { LANES = TESS_VECTOR_BYTES / (int)sizeof(real) };
    const real *w = c->columns;
    const int64_t step = c->step, deep = c->deep;
    vec weight[SIDE * SIDE];
    TESS_UNROLL for (int k = 0; k < SIDE * SIDE; k++) weight[k] = KEEP ? HERE(all_here)(w + k) : (vec){0};
    int64_t at = c->at;
    char *out = c->out;
    const char *const *ahead = c->ahead, *wanted = *ahead + c->ahead_at;
    int64_t rest = c->more;
    for (int64_t n = c->more; n >= 0; n--, at += VECTORS * LANES * ELEMENT, out += c->out_step) {
        const char *const *rows = c->rows;
        char *to = out;
        vec acc[SIDE][VECTORS];
        TESS_UNROLL for (int r = 0; r < SIDE; r++) TESS_UNROLL for (int k = 0; k < VECTORS; k++) acc[r][k] = (vec){0};
        for (int64_t i = 1 - SIDE; i < deep; i += SIDE)
            TESS_UNROLL for (int q = 0; q < SIDE; q++) {
                /* acc[q] begins; acc[q - r] meets row r of the mask. */
                if (i + q >= deep)
                    break;
                const char *x = *rows++ + at;
                TESS_UNROLL for (int j = 0; j < SIDE; j++, x += step) {
                    vec now[SIDE];
                    TESS_UNROLL for (int r = 0; r < SIDE; r++) now[r] = KEEP ? weight[j * SIDE + r] : HERE(all_here)(w + j * SIDE + r);
                    vec v[VECTORS];
                    TESS_UNROLL for (int k = 0; KEEP && k < VECTORS; k++) v[k] = LOAD(x + k * LANES * ELEMENT);
                    TESS_UNROLL for (int k = 0; k < VECTORS; k++) {
                        if (!KEEP)
                            v[k] = LOAD(x + k * LANES * ELEMENT);
                        TESS_UNROLL for (int r = 0; r < SIDE; r++) HERE(fma_here)(&acc[(q + SIDE - r) % SIDE][k], v[k], now[r]);
                    }
                }
                vec *done = acc[(q + 1) % SIDE];
                if (i + q >= 0) {
                    KERNEL(put)(c, to, done, VECTORS);
                    to += c->out_stride;
                    tess_prefetch_l2(wanted); /* a line a row of outputs, but from left to right */
                    wanted += c->ahead_bytes;
                    if (--rest < 0) {
                        wanted = *++ahead + c->ahead_at;
                        rest = c->more;
                    }
                }
                TESS_UNROLL for (int k = 0; k < VECTORS; k++) done[k] = (vec){0};
            }
    }
}

/* How outputs are stored is known, for the commonest ways, when this is compiled. */
static void down_name(const tess_window_call *c) {
    if (c->put == TESS_WINDOW_PUT_U8 && !c->between) {
        tess_window_call bytes = *c;
        bytes.put = TESS_WINDOW_PUT_U8;
        bytes.between = false;
        if (c->stream) {
            bytes.stream = true;
            NAME(all)(&bytes);
        } else {
            bytes.stream = false;
            NAME(all)(&bytes);
        }
    } else {
        NAME(all)(c);
    }
}

#undef NAME
#undef HERE
#undef down_name
#undef SIDE
#undef KEEP
#undef VECTORS
#undef LOAD
#undef ELEMENT
