/* SPDX-License-Identifier: Apache-2.0
 * gpu_march_across.h - a problem as gpu_march_across.cu sees it, for the row and its formulas. */
#ifndef TESS_OPS_CORRELATE_GPU_MARCH_ACROSS_H
#define TESS_OPS_CORRELATE_GPU_MARCH_ACROSS_H

#include "ops/correlate/gpu_fast_mask.h"

typedef struct across_shape {
    tess_correlate_pass pass;   /* the frame's, whose elements follow each other along rows */
    tess_correlate_frame frame; /* y: the input's finest axis */
    int64_t step;               /* from element to element of the input along x */
    march3d_shape march;
    int64_t wide, high, pitch, shift; /* LX, LY, PITCH, SHIFT of gpu_march_across.cu */
} across_shape;
bool tess_correlate_march_across_of(across_shape *shape, const tess_problem *base, const tess_gpu_device *device, const char **why);

#endif
