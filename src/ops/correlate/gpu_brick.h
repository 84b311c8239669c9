/* SPDX-License-Identifier: Apache-2.0
 * gpu_brick.h - a pass as gpu_brick.cu sees it, for the rows and their formulas. */
#ifndef TESS_OPS_CORRELATE_GPU_BRICK_H
#define TESS_OPS_CORRELATE_GPU_BRICK_H

#include "ops/correlate/gpu_correlate.h"

typedef struct tess_correlate_brick_shape {
    const tess_correlate_pass *pass;
    int at[3];                   /* axes of the pass that are x, y, z of the brick; -1: none */
    tess_correlate_axis axis[3]; /* those */
    int order[3];                /* x, y, z as 0, 1, 2 in the mask's order */
    bool split, turned, raw;
    int batch;
    int64_t threads[3], columns, rows, layers; /* of a block along x, y, z; a thread's outputs */
    int64_t unit, shift, cell;                 /* elements of a load; those before the brick's first; bytes in shared memory */
    int64_t tile[3], length[3], pitch, lines, shared,
        grid[3]; /* outputs and elements of a brick along x, y, z; elements from row to row, rows of a layer; bytes; blocks */
} tess_correlate_brick_shape;
bool tess_correlate_brick_of(tess_correlate_brick_shape *b, const tess_correlate_problem *p, const tess_correlate_pass *pass, bool whole,
                             const char **why);
bool tess_correlate_brick_is_batch(const tess_correlate_brick_shape *b, int d);
/* gpu_brick_predict.c */
void tess_correlate_predict_brick(const tess_problem *base, tess_gpu_prediction *out);
void tess_correlate_predict_brick_odd(const tess_problem *base, tess_gpu_prediction *out);

extern const tess_gpu_row tess_correlate_brick, tess_correlate_brick_odd;
bool tess_correlate_brick_fits(const tess_problem *problem, const char **why);
bool tess_correlate_brick_odd_fits(const tess_problem *problem, const char **why);
bool tess_correlate_brick_pays(const tess_problem *problem, const char **why);

#endif
