/* SPDX-License-Identifier: Apache-2.0
 * gpu_short_rows.h - a pass as gpu_short_rows.cu sees it, for the row and its formulas. */
#ifndef TESS_OPS_CORRELATE_GPU_SHORT_ROWS_H
#define TESS_OPS_CORRELATE_GPU_SHORT_ROWS_H

#include "ops/correlate/gpu_fast.h"

typedef struct tess_correlate_short_shape {
    const tess_correlate_pass *pass;
    tess_correlate_axis row, line; /* the short axis, in pixels of `group`, and the one along which lanes go */
    int row_axis, line_axis;       /* of the pass; row_axis -1: the elements of a pixel */
    tess_correlate_axis plane;     /* of a volume, where its mask has such an axis, too */
    int stack_axis;                /* images of few lines, or volumes, one behind the other; -1: they are long, or apart */
    int plane_axis;                /* -1: images */
    bool stack;                    /* a block has whole images, or planes */
    int64_t images;                /* of a stack: planes of all volumes */
    int64_t halo;                  /* planes on either side of a block's; 0: it has whole volumes */
    int64_t group, rows, threads, read, write, arrays, shared;
    bool row_first, apart; /* apart: the short axis is not the finest */
    bool list;             /* two 1-D masks, one along either axis */
    int batch;
} tess_correlate_short_shape;
bool tess_correlate_short_of(tess_correlate_short_shape *s, const tess_correlate_problem *p, const tess_correlate_pass *pass, const char **why);
bool tess_correlate_short_is_batch(const tess_correlate_short_shape *s, int d);
int64_t tess_correlate_short_whole(const tess_correlate_short_shape *s); /* lines that a block makes */
int64_t tess_correlate_short_most(const tess_correlate_short_shape *s);  /* lines that it has room for */
/* One mask by itself; a list of two at once, where that fits (`both` is room for its axes); others by their passes. */
const tess_correlate_pass *tess_correlate_short_passes(const tess_correlate_problem *p, tess_correlate_pass *both, int *count);
void tess_correlate_predict_short_rows(const tess_problem *base, tess_gpu_prediction *out); /* gpu_short_rows_predict.c */

#endif
