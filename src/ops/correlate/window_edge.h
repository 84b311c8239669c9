/* SPDX-License-Identifier: Apache-2.0
 * window_edge.h - tess_correlate_gather in a fraction of the time, for rows that differ only in where they lie: which elements the ghost cells are copies of is found
 * once for all rows of a band, by the boundary's divisions, and they are copied from the rows as they have just been copied or converted, down all of them. */
#ifndef TESS_OPS_CORRELATE_WINDOW_EDGE_H
#define TESS_OPS_CORRELATE_WINDOW_EDGE_H

#include "ops/correlate/gather.h"
#include "simd/simd.h"

enum { TESS_WINDOW_GHOSTS = 64, TESS_WINDOW_ROW_GHOSTS = 8 /* found in the time that tess_correlate_gather takes for a row */ };

/* A stretch of a row: ghost cells, elements of the row, ghost cells. */
typedef struct tess_window_edge {
    bool plain;                          /* else tess_correlate_gather does it */
    int64_t before, from, inside, after; /* ghost cells; where in the row the elements begin, and how many they are; ghost cells */
    int64_t of[TESS_WINDOW_GHOSTS];      /* for each ghost cell which of those elements it is; -1: the constant */
} tess_window_edge;

/* Few ghost cells for so many rows, whose elements, if they have any, are in the stretch. */
TESS_INLINE void tess_window_edge_of(tess_window_edge *e, const tess_correlate_source *s, int64_t start, int64_t count, int64_t rows) {
    const int64_t from = tess_max64(start, 0), to = tess_min64(start + count, s->n * s->group);
    e->plain = false;
    e->before = e->from = e->inside = e->after = 0;
    if (to <= from || count - (to - from) > tess_min64(rows * TESS_WINDOW_ROW_GHOSTS, TESS_WINDOW_GHOSTS))
        return;
    e->before = from - start;
    e->from = from;
    e->inside = to - from;
    e->after = start + count - to;
    for (int64_t k = 0; k < e->before + e->after; k++) {
        const int64_t p = k < e->before ? start + k : to + k - e->before, r = ((p % s->group) + s->group) % s->group;
        const int64_t q = tess_boundary_index(s->boundary, s->n, (p - r) / s->group), at = q * s->group + r;
        if (q >= 0 && (at < from || at >= to))
            return;
        e->of[k] = q >= 0 ? at - from : -1;
    }
    e->plain = true;
}

/* The elements of `rows` rows, `row_step` bytes apart, into stretches from `to` on, `step` bytes apart, and zeros from each one's end on: `beyond` bytes, up to a
 * vector more, which the next one writes over. */
TESS_INLINE void tess_window_elements(const tess_correlate_source *s, const tess_window_edge *e, char *to, int64_t step, const char *row,
                                      int64_t row_step, int64_t rows, int64_t beyond) {
    const int64_t bytes = e->inside * s->width, last = bytes - TESS_VECTOR_BYTES, end = bytes + e->after * s->width;
    const bool as_is = s->in_place && last >= 0;
    row += e->from * s->stride;
    to += e->before * s->width;
    for (int64_t r = 0; r < rows; r++, row += row_step, to += step) {
        if (as_is) {
            for (int64_t i = 0; i < last; i += TESS_VECTOR_BYTES)
                v_f32_store(to + i, v_f32_load(row + i));
            v_f32_store(to + last, v_f32_load(row + last));
        } else {
            s->load(to, row, s->stride, e->inside);
        }
        for (int64_t i = 0; i < beyond; i += TESS_VECTOR_BYTES)
            v_f32_store(to + end + i, v_f32_all(0));
    }
}

TESS_INLINE void tess_window_ghosts_of(const tess_correlate_source *s, const tess_window_edge *e, char *first, int64_t rows, int64_t step,
                                       const size_t width) {
    const int64_t size = (int64_t)width;
    for (int64_t k = 0; k < e->before + e->after; k++) {
        char *to = first + (k < e->before ? k : k + e->inside) * size;
        const char *from = e->of[k] < 0 ? (const char *)&s->constant : first + (e->before + e->of[k]) * size;
        const int64_t from_step = e->of[k] < 0 ? 0 : step;
        for (int64_t r = 0; r < rows; r++, to += step, from += from_step)
            memcpy(to, from, width);
    }
}
/* The ghost cells of `rows` stretches whose elements are there, `step` bytes apart: one cell down all of them, and then the next. */
TESS_INLINE void tess_window_ghosts(const tess_correlate_source *s, const tess_window_edge *e, char *first, int64_t rows, int64_t step) {
    switch (s->width) {
    case 1: tess_window_ghosts_of(s, e, first, rows, step, 1); break;
    case 2: tess_window_ghosts_of(s, e, first, rows, step, 2); break;
    case 4: tess_window_ghosts_of(s, e, first, rows, step, 4); break;
    default: tess_window_ghosts_of(s, e, first, rows, step, 8); break;
    }
}

#endif
