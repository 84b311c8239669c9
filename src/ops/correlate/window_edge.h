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

TESS_INLINE void tess_window_copy_by(const int64_t piece, char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows,
                                     int64_t bytes) {
    for (int64_t r = 0; r < rows; r++, to += to_step, from += from_step) {
        for (int64_t k = 0; k + piece < bytes; k += piece)
            memcpy(to + k, from + k, (size_t)piece);
        memcpy(to + bytes - piece, from + bytes - piece, (size_t)piece);
    }
}
/* `rows` rows of so many bytes, at least one: by whole vectors, of which the last may begin within the one before it. */
TESS_INLINE void tess_window_copy(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows, int64_t bytes) {
    if (bytes >= 64)
        tess_window_copy_by(64, to, to_step, from, from_step, rows, bytes);
    else if (bytes >= 16)
        tess_window_copy_by(16, to, to_step, from, from_step, rows, bytes);
    else
        tess_window_copy_by(1, to, to_step, from, from_step, rows, bytes);
}

/* The elements of `rows` rows, `row_step` bytes apart, into stretches from `to` on, `step` bytes apart, and zeros from each one's end on: `beyond` bytes, up to a
 * vector more, which the next one's elements write over. */
TESS_INLINE void tess_window_elements(const tess_correlate_source *s, const tess_window_edge *e, char *to, int64_t step, const char *row,
                                      int64_t row_step, int64_t rows, int64_t beyond) {
    const int64_t bytes = e->inside * s->width;
    char *end = to + bytes + (e->before + e->after) * s->width;
    for (int64_t r = 0; beyond > 0 && r < rows; r++, end += step)
        for (int64_t i = 0; i < beyond; i += TESS_VECTOR_BYTES)
            v_f32_store(end + i, v_f32_all(0));
    row += e->from * s->stride;
    to += e->before * s->width;
    if (s->in_place)
        tess_window_copy(to, step, row, row_step, rows, bytes);
    else
        for (int64_t r = 0; r < rows; r++)
            s->load(to + r * step, row + r * row_step, s->stride, e->inside);
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
