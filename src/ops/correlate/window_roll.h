/* SPDX-License-Identifier: Apache-2.0
 * window_roll.h - a tile of VECTORS vectors by as many output rows as the caller likes, for a mask of DEEP rows: sums roll down, so that an input row is
 * loaded once for all the outputs that it meets. Included once for each, with roll_name and what window_tile.h wants, and ELEMENT, the bytes of an
 * element as rows have it; KEEP: 1 for masks of DEEP taps a row where there are registers for all weights beside the sums; PHASES: 1 where vector k has the
 * elements k, k + VECTORS ... (simd/phases.h) in place of those that follow each other.
 *
 * Input row t begins output t and ends output t - DEEP + 1, so DEEP output rows are under way at once, each a row of the mask behind the one below it,
 * and no sum sees its taps but in order. A tile of ROWS rows (window_tile.h) reads ROWS + DEEP - 1 rows for ROWS; most of these meet few outputs, for
 * which their loads are dear, and none is in the first-level cache when the tile below meets it again. Here a band of 24 rows reads 24 + DEEP - 1, and only the
 * first and the last DEEP - 1 meet fewer than DEEP. Sums change their names from row to row: moves between registers, which cost nothing but their
 * decoding. Elements of another type are converted on their way into the registers, once for each tap of a row or less often, and no converted row is stored.
 *
 * The rows of one tile follow each other down the image, and tiles follow each other to the right, so what is asked for ahead are columns to the right. */

#ifndef KEEP
#define KEEP 0
#endif
#ifndef PHASES
#define PHASES 0
#endif
#define NAME(word) TESS_PASTE(roll_name, word)
#define HERE(word) TESS_PASTE(WORD, word)
enum {
    NAME(BYTES) = VECTORS * TESS_VECTOR_BYTES / (int)sizeof(real) * ELEMENT,
    NAME(ONE) = TESS_VECTOR_BYTES < 64 && DEEP < VECTORS /* few registers: weights are there first, and vectors one at a time */
};

/* The vectors that a tap at x meets. near: taps follow each other, and v has those of the tap before it, of which all phases but one are met again. */
TESS_INLINE void NAME(take)(vec *v, const tess_window_call *c, const char *x, bool near) {
#if PHASES
    (void)c;
    TESS_UNROLL for (int k = 0; k < VECTORS; k++) v[k] = near && k + 1 < VECTORS ? v[k + 1] : KERNEL(phase)(x + k * ELEMENT);
#else
    (void)near;
    TESS_UNROLL for (int k = 0; k < VECTORS; k++) v[k] = KERNEL(load)(c, x, k);
#endif
}

/* One input row, for mask rows low .. high: constants once inlined. acc[i]: sums that meet mask row i. weight: all of them, if kept. */
TESS_INLINE void NAME(meet)(vec (*acc)[VECTORS], const tess_window_call *c, const vec *weight, const char *x, int low, int high, bool near) {
    const real *w = c->columns;
    vec v[VECTORS];
#if PHASES
    TESS_UNROLL for (int k = 1; near && k < VECTORS; k++) v[k] = KERNEL(phase)(x + (k - 1) * ELEMENT);
#endif
#if KEEP
    TESS_UNROLL for (int j = 0; j < DEEP; j++, x += c->step, weight += DEEP) {
#else
    for (int64_t j = 0; j < c->wx; j++, x += c->step, w += DEEP) {
#endif
        vec now[DEEP];
        if (NAME(ONE)) {
            TESS_UNROLL for (int i = high; i >= low; i--) now[i] = HERE(all_here)(w + i);
            TESS_UNROLL for (int k = 0; k < VECTORS; k++) {
                v[k] = KERNEL(load)(c, x, k);
                TESS_UNROLL for (int i = high; i >= low; i--) HERE(fma_here)(&acc[i][k], v[k], now[i]);
            }
            continue;
        }
        NAME(take)(v, c, x, near);
        TESS_UNROLL for (int i = high; i >= low; i--) {
            now[i] = KEEP ? weight[i] : HERE(all_here)(w + i);
            TESS_UNROLL for (int k = 0; k < VECTORS; k++) HERE(fma_here)(&acc[i][k], v[k], now[i]);
        }
    }
    (void)w, (void)weight;
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

/* A row of outputs is whole. own: they are stored in the commonest way, which is known. */
TESS_INLINE void NAME(done)(const tess_window_call *c, char *to, const vec *sums, bool own) {
#if PHASES
    KERNEL(put_phases)(c, to, sums, own);
#else
    KERNEL(put_rolled)(c, to, sums, VECTORS, own);
#endif
}

/* Fewer rows of outputs than the mask has: one after the other. */
static TESS_NOINLINE void NAME(few)(const tess_window_call *c, const vec *weight, int64_t at, char *out, bool own) {
    for (int64_t r = 0; r < c->deep; r++, out += c->out_stride) {
        vec acc[DEEP][VECTORS];
        TESS_UNROLL for (int k = 0; k < VECTORS; k++) acc[0][k] = KERNEL(start)(c);
        TESS_UNROLL for (int i = 0; i < DEEP; i++) {
            NAME(meet)(acc, c, weight, c->rows[r + i] + at, i, i, false);
            TESS_UNROLL for (int k = 0; i + 1 < DEEP && k < VECTORS; k++) acc[i + 1][k] = acc[i][k];
        }
        NAME(done)(c, out, acc[DEEP - 1], own);
    }
}

TESS_INLINE void NAME(all)(const tess_window_call *c, bool near, bool own) {
    int64_t at = c->at, ahead_at = c->ahead_at;
    char *first = c->out;
    vec weight[KEEP ? DEEP * DEEP : 1];
    TESS_UNROLL for (int k = 0; KEEP && k < DEEP * DEEP; k++) weight[k] = HERE(all_here)((const real *)c->columns + k);
    for (int64_t n = c->more; n >= 0; n--, at += NAME(BYTES), ahead_at += c->ahead_bytes, first += c->out_step) {
        const char *const *rows = c->rows;
        char *out = first;
        vec acc[DEEP][VECTORS];
        TESS_UNROLL for (int i = 0; i < DEEP; i++) TESS_UNROLL for (int k = 0; k < VECTORS; k++) acc[i][k] = KERNEL(start)(c);
        TESS_UNROLL for (int t = 0; t < DEEP - 1; t++) {
            NAME(fetch)(c, t, ahead_at);
            NAME(meet)(acc, c, weight, *rows++ + at, 0, t, near);
            NAME(move)(acc, c);
        }
        for (int64_t t = DEEP - 1; t < c->deep; t++, out += c->out_stride) {
            NAME(fetch)(c, t, ahead_at);
            NAME(meet)(acc, c, weight, *rows++ + at, 0, DEEP - 1, near);
            NAME(done)(c, out, acc[DEEP - 1], own);
            NAME(move)(acc, c);
        }
        TESS_UNROLL for (int i = 1; i < DEEP; i++, out += c->out_stride) {
            NAME(meet)(acc, c, weight, *rows++ + at, i, DEEP - 1, near);
            NAME(done)(c, out, acc[DEEP - 1], own);
            NAME(move)(acc, c);
        }
    }
}

/* How outputs are stored, and whether taps follow each other, is known, for the commonest ways, when this is compiled. */
static void roll_name(const tess_window_call *c) {
    const bool own = VECTORS > 1 && !c->between && c->put == OWN_PUT;
    if (c->deep < DEEP - 1) {
        vec weight[KEEP ? DEEP * DEEP : 1];
        TESS_UNROLL for (int k = 0; KEEP && k < DEEP * DEEP; k++) weight[k] = HERE(all_here)((const real *)c->columns + k);
        for (int64_t n = 0; n <= c->more; n++)
            NAME(few)(c, weight, c->at + n * NAME(BYTES), c->out + n * c->out_step, own && OWN_PUT != TESS_WINDOW_PUT_WORK);
        return;
    }
#if PHASES
    if (c->step == ELEMENT) {
        own ? NAME(all)(c, true, true) : NAME(all)(c, true, false);
        return;
    }
#endif
    if (!own) {
        NAME(all)(c, false, false);
    } else if (OWN_PUT != TESS_WINDOW_PUT_WORK) {
        NAME(all)(c, false, true);
    } else if (c->stream) {
        tess_window_call streams = *c;
        streams.stream = true;
        streams.between = false;
        streams.put = OWN_PUT;
        NAME(all)(&streams, false, true);
    } else {
        NAME(all)(c, false, false);
    }
}

#undef NAME
#undef HERE
#undef roll_name
#undef DEEP
#undef VECTORS
#undef KEEP
#undef PHASES
