/* SPDX-License-Identifier: Apache-2.0
 * ops.c - the list of operations, where everything that loops over strategies starts, and the list of engines beyond the CPU. */
#include "core/engine.h"
#include "ops/correlate/correlate.h"
#include "ops/lookup/lookup.h"
#include "ops/reduce/reduce.h"
#include "ops/transpose/transpose.h"

const tess_op *const tess_ops[] = {&tess_correlate_op, &tess_reduce_op, &tess_transpose_op, &tess_lookup_op};
const int tess_ops_count = TESS_COUNT(tess_ops);

const tess_engine_hooks *const tess_engines[] = {&tess_gpu_hooks, &tess_vgpu_hooks};
const int tess_engines_count = TESS_COUNT(tess_engines);
