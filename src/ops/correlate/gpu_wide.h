/* SPDX-License-Identifier: Apache-2.0
 * gpu_wide.h - the rows for large masks and for everything, for the table. */
#ifndef TESS_OPS_CORRELATE_GPU_WIDE_H
#define TESS_OPS_CORRELATE_GPU_WIDE_H

#include "ops/correlate/gpu_correlate.h"

/* gpu_wide.c: a pass as gpu_wide.cu sees it. */
typedef struct tess_correlate_wide_shape {
    const tess_correlate_pass *pass;
    int y, x; /* axes of the pass; y -1: one row */
    int batch, outer;
    int64_t width_y, width_x;
    int64_t threads, down, across, rows, columns; /* of a block, along both axes; outputs of each */
    int64_t band, shared;                         /* input rows held at once; bytes */
} tess_correlate_wide_shape;
bool tess_correlate_wide_of(tess_correlate_wide_shape *w, const tess_correlate_problem *p, const tess_correlate_pass *pass, const char **why);
void tess_correlate_predict_wide(const tess_problem *base, tess_gpu_prediction *out); /* gpu_wide_predict.c */

extern const tess_gpu_row tess_correlate_wide;
bool tess_correlate_wide_fits(const tess_problem *problem, const char **why);
bool tess_correlate_wide_pays(const tess_problem *problem, const char **why);

extern const tess_gpu_row tess_correlate_general;
bool tess_correlate_general_fits(const tess_problem *problem, const char **why);

#endif
