/* SPDX-License-Identifier: Apache-2.0
 * ops.c - the list of operations. Everything that loops over strategies starts here. */
#include "core/strategy.h"
#include "ops/correlate/correlate.h"
#include "ops/lookup/lookup.h"
#include "ops/reduce/reduce.h"
#include "ops/transpose/transpose.h"

const tess_op *const tess_ops[] = {&tess_correlate_op, &tess_reduce_op, &tess_transpose_op, &tess_lookup_op};
const int tess_ops_count = TESS_COUNT(tess_ops);
