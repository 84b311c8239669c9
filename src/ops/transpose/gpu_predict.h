/* SPDX-License-Identifier: Apache-2.0
 * gpu_predict.h - the predictions of the rows of gpu_rows.c. */
#ifndef TESS_OPS_TRANSPOSE_GPU_PREDICT_H
#define TESS_OPS_TRANSPOSE_GPU_PREDICT_H

#include "gpu/row.h"
#include "ops/transpose/gpu_transpose.h"

#define TESS_TRANSPOSE_PREDICTED(X) \
    X(copy)                         \
    X(naive_read)                   \
    X(naive_write)                  \
    X(tile16)                       \
    X(tile32)                       \
    X(tile_pad16)                   \
    X(tile_pad32)                   \
    X(tile_swizzle)                 \
    X(tile_unroll)                  \
    X(tile_vector2)                 \
    X(tile_vector4)                 \
    X(micro)
#define X(name) void tess_transpose_predict_##name(const tess_problem *base, tess_gpu_prediction *out);
TESS_TRANSPOSE_PREDICTED(X)
#undef X

#endif
