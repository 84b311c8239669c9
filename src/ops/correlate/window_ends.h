/* SPDX-License-Identifier: Apache-2.0
 * window_ends.h - the first and the last outputs of rows under a short mask of one row, one by one: a few multiply-adds, where a copy of the row's end with its ghost
 * cells and a tile over it cost 20 ns a row. Included by cpu_window.c. */
#ifndef TESS_OPS_CORRELATE_WINDOW_ENDS_H
#define TESS_OPS_CORRELATE_WINDOW_ENDS_H

#include <math.h>

#include "ops/correlate/window.h"

enum { TESS_WINDOW_END_TAPS = 9 }; /* longest such mask */

/* Of each output that meets ghost cells: where it is, and which elements of the row its taps meet; -1: the constant. */
typedef struct tess_window_ends {
    int count, left; /* outputs; those at the row's beginning */
    int taps;
    int64_t output[2 * TESS_WINDOW_END_TAPS], met[2 * TESS_WINDOW_END_TAPS][TESS_WINDOW_END_TAPS];
} tess_window_ends;

/* Outputs beside inside .. beyond - 1. */
TESS_INLINE void tess_window_ends_of(tess_window_ends *e, const tess_correlate_axis *row, tess_boundary boundary, int64_t inside, int64_t beyond) {
    e->count = 0;
    e->left = (int)inside;
    e->taps = (int)row->width;
    for (int64_t i = 0; i < row->m; i++) {
        i = i == inside ? beyond : i;
        if (i == row->m)
            break;
        e->output[e->count] = i;
        for (int64_t t = 0; t < row->width; t++)
            e->met[e->count][t] = tess_boundary_index(boundary, row->n, i - row->before + t);
        e->count++;
    }
}

/* Outputs number from .. to - 1 of a row. */
#define ENDS(name, real, fused, bits, nan)                                                                                               \
    TESS_INLINE void name(const tess_window_ends *e, const char *row, char *out, const void *weights, real constant, int from, int to) { \
        for (int i = from; i < to; i++) {                                                                                                \
            real sum = 0;                                                                                                                \
            for (int t = 0; t < e->taps; t++) {                                                                                          \
                real x = constant, w;                                                                                                    \
                memcpy(&w, (const char *)weights + t * (int)sizeof w, sizeof w);                                                         \
                if (e->met[i][t] >= 0)                                                                                                   \
                    memcpy(&x, row + e->met[i][t] * (int64_t)sizeof x, sizeof x);                                                        \
                sum = fused(x, w, sum);                                                                                                  \
            }                                                                                                                            \
            const bits canonical = nan;                                                                                                  \
            memcpy(out + e->output[i] * (int64_t)sizeof sum, sum == sum ? (const void *)&sum : (const void *)&canonical, sizeof sum);    \
        }                                                                                                                                \
    }
ENDS(tess_window_ends_f32, float, fmaf, uint32_t, 0x7fc00000u)
ENDS(tess_window_ends_f64, double, fma, uint64_t, UINT64_C(0x7ff8000000000000))
#undef ENDS

#endif
