/* SPDX-License-Identifier: Apache-2.0
 * slab.h - cutting a correlation into parts (tess_op.cut, slab, piece). */
#ifndef TESS_OPS_CORRELATE_SLAB_H
#define TESS_OPS_CORRELATE_SLAB_H

#include "ops/correlate/correlate.h"

void tess_correlate_cut(const tess_problem *problem, int64_t most, tess_cut *cut);
tess_status tess_correlate_slab(const tess_problem *problem, const tess_cut *cut, int64_t from, int64_t to, tess_slab *slab);
void tess_correlate_piece(const tess_problem *problem, const tess_cut *cut, const tess_slab *slab, int64_t at, tess_array *host, int64_t *offset);

#endif
