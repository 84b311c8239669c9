/* SPDX-License-Identifier: Apache-2.0
 * window_ring.h - a long 1-D mask, as one of DEEP rows of LANES taps over rows of one vector. Included for each DEEP, with STREAMS, ring_name and what
 * window_tile.h wants.
 *
 * The vector that starts at element s * LANES + j serves output vector s with tap j, s - 1 with tap LANES + j, s - 2 with tap 2 * LANES + j: DEEP
 * multiply-adds for one unaligned load. So DEEP neighbouring output vectors are under way at once, each a row of the mask behind the one before it;
 * one begins and one ends with every step, and no sum sees its taps but in order. STREAMS stretches of output, `hop` bytes apart, advance together,
 * because DEEP chains alone do not hide the latency of an fma. Outputs before the first and behind the last of a stretch are begun like the
 * others and thrown away: DEEP - 1 steps a stretch. */

#define NAME(word) TESS_PASTE(ring_name, word)
#define HERE(word) TESS_PASTE(WORD, word)

#include "ops/correlate/ring_column.h"

static void ring_name(const tess_window_stretch *c) {
    enum { LANES = TESS_VECTOR_BYTES / (int)sizeof(real) };
    const int64_t hop = c->hop, steps = c->steps, last = steps + DEEP - 2;
    vec acc[DEEP][STREAMS];
    TESS_UNROLL for (int t = 0; t < DEEP; t++) TESS_UNROLL for (int k = 0; k < STREAMS; k++) acc[t][k] = (vec){0};
    for (int64_t s = 0; s <= last; s++) {
        const char *x = c->x + s * TESS_VECTOR_BYTES;
        const real *w = c->weights;
        char *to = c->out + s * TESS_VECTOR_BYTES;
        TESS_UNROLL for (int k = 0; k < STREAMS; k++) tess_prefetch_l2(x + (STREAMS + k) * hop); /* of the stretches after these */
        if (c->sums && s < steps)
            TESS_UNROLL for (int k = 0; k < STREAMS; k++) acc[0][k] = HERE(load)(c->sums + s * TESS_VECTOR_BYTES + k * hop);
        for (int64_t j = 0; j < c->last_taps; j++, x += sizeof(real), w++)
            NAME(column)(acc, x, hop, w, DEEP);
        if (s < last) /* the last vectors end where the last row of the mask does */
            for (int64_t j = c->last_taps; j < LANES; j++, x += sizeof(real), w++)
                NAME(column)(acc, x, hop, w, DEEP - 1);
        if (s >= DEEP - 1) {
            to -= (DEEP - 1) * TESS_VECTOR_BYTES;
            TESS_UNROLL for (int k = 0; k < STREAMS; k++) {
                if (c->stream)
                    HERE(stream)(to + k * hop, HERE(canonical)(acc[DEEP - 1][k]));
                else
                    HERE(store)(to + k * hop, HERE(canonical)(acc[DEEP - 1][k]));
            }
        }
        TESS_UNROLL for (int t = DEEP - 1; t > 0; t--) TESS_UNROLL for (int k = 0; k < STREAMS; k++) acc[t][k] = acc[t - 1][k];
        TESS_UNROLL for (int k = 0; k < STREAMS; k++) acc[0][k] = (vec){0};
    }
}

#undef NAME
#undef HERE
#undef ring_name
#undef DEEP
#undef STREAMS
