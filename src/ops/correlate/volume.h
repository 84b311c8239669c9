/* SPDX-License-Identifier: Apache-2.0
 * volume.h - masks of three axes over rows that are copied with their ghost cells: how correlate/window walks them (cpu_volume.c), and the scratch that
 * this takes. */
#ifndef TESS_OPS_CORRELATE_VOLUME_H
#define TESS_OPS_CORRELATE_VOLUME_H

#include "ops/correlate/window.h"

typedef struct tess_correlate_volume {
    tess_correlate_window window;
    int64_t band;                           /* output rows of a plane that are made together */
    int64_t layers;                         /* input planes that an output plane meets, all of them kept */
    int64_t met;                            /* rows of a layer */
    int64_t lines;                          /* pointers to rows, a layer */
    int64_t left, row_bytes;                /* bytes before column 0 of a copied row; of a copied row */
    int64_t table_bytes, ahead_bytes, sums; /* of the pointers to copied rows, and to those that will be wanted; offset of sums */
    size_t scratch;                         /* for one thread */
} tess_correlate_volume;

/* false: the pass is none, or its rows do not fit. */
bool tess_correlate_volume_of(tess_correlate_volume *volume, const tess_correlate_problem *problem, const tess_correlate_pass *pass);

#endif
