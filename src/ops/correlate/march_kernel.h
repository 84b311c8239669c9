/* SPDX-License-Identifier: Apache-2.0
 * march_kernel.h - the ring of window_ring.h, whose streams are the TALL rows of a group, and which stops after some steps and goes on later: as soon as a
 * tile has made some columns of the rows between the passes, the march follows, and finds them in the first-level cache. Included for each DEEP, with
 * march_name, vec, real, WORD and TALL.
 *
 * What is under way between two calls, DEEP - 1 vectors of sums a row, waits in the caller's memory. */

#define NAME(word) TESS_PASTE(march_name, word)
#define HERE(word) TESS_PASTE(WORD, word)

#define STREAMS TALL
#include "ops/correlate/ring_column.h"
#undef STREAMS

static void march_name(const tess_march_call *c) {
    enum { LANES = TESS_VECTOR_BYTES / (int)sizeof(real) };
    const int64_t hop = c->hop;
    const char *x = c->x;
    char *to = c->out;
    vec acc[DEEP][TALL], *waiting = c->waiting;
    TESS_UNROLL for (int t = 1; t < DEEP; t++) TESS_UNROLL for (int r = 0; r < TALL; r++) acc[t][r] = waiting[(t - 1) * TALL + r];
    for (int64_t s = 0; s < c->steps; s++, to += TESS_VECTOR_BYTES) {
        const real *w = c->weights;
        int64_t j = 0;
        TESS_UNROLL for (int r = 0; r < TALL; r++) acc[0][r] = (vec){0};
        for (; j < c->last_taps; j++, x += sizeof(real), w++)
            NAME(column)(acc, x, hop, w, DEEP);
        for (; j < LANES; j++, x += sizeof(real), w++)
            NAME(column)(acc, x, hop, w, DEEP - 1);
        if (s >= c->unborn)
            HERE(put_sums)(to, c->out_hop, acc[DEEP - 1], TALL, c->stream, false);
        TESS_UNROLL for (int t = DEEP - 1; t > 0; t--) TESS_UNROLL for (int r = 0; r < TALL; r++) acc[t][r] = acc[t - 1][r];
    }
    TESS_UNROLL for (int t = 1; t < DEEP; t++) TESS_UNROLL for (int r = 0; r < TALL; r++) waiting[(t - 1) * TALL + r] = acc[t][r];
}

#undef NAME
#undef HERE
#undef march_name
#undef DEEP
