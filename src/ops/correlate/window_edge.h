/* SPDX-License-Identifier: Apache-2.0
 * window_edge.h - tess_correlate_gather in a fraction of the time, for the few columns that the edge of an image has: what stands where is found once for
 * all rows of a band, and copied by whole vectors. */
#ifndef TESS_OPS_CORRELATE_WINDOW_EDGE_H
#define TESS_OPS_CORRELATE_WINDOW_EDGE_H

#include "ops/correlate/gather.h"
#include "simd/simd.h"

/* A stretch of a row that needs no more than copying: ghost cells of a constant, elements as they are, ghost cells. */
typedef struct tess_window_edge {
    bool plain;                          /* else tess_correlate_gather does it */
    int64_t before, from, inside, after; /* ghost cells; where in the row the elements begin, and how many they are; ghost cells */
} tess_window_edge;

TESS_INLINE tess_window_edge tess_window_edge_of(const tess_correlate_source *s, int64_t start, int64_t count) {
    const int64_t from = tess_max64(start, 0), to = tess_min64(start + count, s->n * s->group);
    const bool constant = s->boundary == TESS_BOUNDARY_ZERO || s->boundary == TESS_BOUNDARY_CONSTANT;
    if (!s->in_place || (to - from) * s->width < TESS_VECTOR_BYTES || (!constant && to - from < count))
        return (tess_window_edge){0};
    return (tess_window_edge){true, from - start, from, to - from, start + count - to};
}

TESS_INLINE char *tess_window_ghosts(const tess_correlate_source *s, char *to, int64_t n) {
    for (; n > 0; n--, to += s->width)
        if (s->width == 4)
            memcpy(to, &s->constant, 4);
        else if (s->width == 8)
            memcpy(to, &s->constant, 8);
        else if (s->width == 1)
            memcpy(to, &s->constant, 1);
        else
            memcpy(to, &s->constant, 2);
    return to;
}

TESS_INLINE void tess_window_gather(const tess_correlate_source *s, const tess_window_edge *e, char *to, const char *row, int64_t start,
                                    int64_t count) {
    if (!e->plain) {
        tess_correlate_gather(s, to, row, start, count);
        return;
    }
    const int64_t bytes = e->inside * s->width, last = bytes - TESS_VECTOR_BYTES; /* a vector at least */
    const char *from = row + e->from * s->width;
    to = tess_window_ghosts(s, to, e->before);
    for (int64_t i = 0; i < last; i += TESS_VECTOR_BYTES)
        v_f32_store(to + i, v_f32_load(from + i));
    v_f32_store(to + last, v_f32_load(from + last));
    tess_window_ghosts(s, to + bytes, e->after);
}

#endif
