/* SPDX-License-Identifier: Apache-2.0
 * gpu_reduce.h - the GPU's part of the table, and what its files share. */
#ifndef TESS_OPS_REDUCE_GPU_H
#define TESS_OPS_REDUCE_GPU_H

#include "gpu/row.h"
#include "ops/reduce/reduce.h"

enum { REDUCE_GPU_ROWS = 3 };
extern const tess_strategy tess_reduce_gpu_rows[REDUCE_GPU_ROWS];

#endif
