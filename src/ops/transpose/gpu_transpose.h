/* SPDX-License-Identifier: Apache-2.0
 * gpu_transpose.h - between gpu_rows.c, which lays launches out, and gpu_predict.c, which predicts their counts. */
#ifndef TESS_OPS_TRANSPOSE_GPU_H
#define TESS_OPS_TRANSPOSE_GPU_H

#include "ops/transpose/transpose.h"

enum { TRANSPOSE_GPU_ROWS = 14 };
extern const tess_strategy tess_transpose_gpu_rows[TRANSPOSE_GPU_ROWS];

/* The problem as matrices that a kernel can take element by element; *why says why not. */
bool tess_transpose_gpu_plane_of(const tess_problem *base, transpose_plane *plane, const char **why);

#endif
