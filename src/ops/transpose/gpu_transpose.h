/* SPDX-License-Identifier: Apache-2.0
 * gpu_transpose.h - between gpu_rows.c, which lays launches out, and gpu_predict.c, which predicts their counts. */
#ifndef TESS_OPS_TRANSPOSE_GPU_H
#define TESS_OPS_TRANSPOSE_GPU_H

#include "gpu/row.h"
#include "ops/transpose/transpose.h"

enum { TRANSPOSE_GPU_ROWS = 16 };
extern const tess_strategy tess_transpose_gpu_rows[TRANSPOSE_GPU_ROWS];

/* The problem as matrices that a kernel can take element by element; *why says why not. */
bool tess_transpose_gpu_plane_of(const tess_problem *base, transpose_plane *plane, const char **why);

/* gpu_piece.cuh, which all kernels include. */
extern const tess_gpu_text tess_transpose_gpu_piece_header;

/* gpu_inplace.c: in place, by tiles and by runs of any size. */
extern const tess_gpu_row tess_transpose_gpu_inplace, tess_transpose_gpu_inplace_runs;
bool tess_transpose_gpu_inplace_fits(const tess_problem *base, const char **why);
bool tess_transpose_gpu_inplace_tiles_fit(const tess_problem *base, const char **why);

#endif
