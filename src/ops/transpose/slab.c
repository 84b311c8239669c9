/* SPDX-License-Identifier: Apache-2.0
 * slab.c - a part of a transpose: the elements from .. to - 1 along one axis, between compact arrays. */
#include "ops/transpose/transpose.h"

#include <math.h>

void tess_transpose_cut(const tess_problem *base, int64_t most, tess_cut *cut) {
    const transpose_problem *p = (const transpose_problem *)base;
    double row[TESS_MAX_NDIM], fixed[TESS_MAX_NDIM] = {0};
    if (p->place != TRANSPOSE_ELSEWHERE || p->ndim == 0 || p->in.count == 0)
        return;
    for (int d = 0; d < p->ndim; d++)
        row[d] = p->shape[d] < 2 ? INFINITY : base->bytes / (double)p->shape[d];
    cut->axis = tess_cut_axis(p->ndim, p->stride[TRANSPOSE_IN], row, fixed, most);
    cut->rows = p->shape[cut->axis];
    cut->row = row[cut->axis];
}

/* One side of the part: its axes in the given order in the caller's memory, and the steps of a compact array in that order. */
static void lay_side(transpose_problem *part, int side, const int *order, tess_array *host, tess_array *own) {
    int64_t step = part->size;
    host->ndim = part->ndim;
    host->itemsize = (int32_t)part->size;
    host->count = 1;
    for (int k = part->ndim - 1; k >= 0; k--) {
        int d = order[k];
        host->shape[k] = part->shape[d];
        host->stride[k] = part->stride[side][d];
        host->count *= part->shape[d];
        part->stride[side][d] = step;
        step *= part->shape[d];
    }
    *own = *host;
    for (int k = 0; k < part->ndim; k++)
        own->stride[k] = part->stride[side][order[k]];
}

tess_status tess_transpose_slab(const tess_problem *base, const tess_cut *cut, int64_t from, int64_t to, tess_slab *slab) {
    const transpose_problem *p = (const transpose_problem *)base;
    int axis = cut->axis, order[2][TESS_MAX_NDIM];
    transpose_problem *part;
    TESS_TRY(tess_problem_make((void **)&part, base->context, base->op, sizeof *part));
    *part = *p;
    slab->problem = &part->base;
    part->base.elements *= (double)(to - from) / (double)p->shape[axis];
    part->base.bytes *= (double)(to - from) / (double)p->shape[axis];
    part->shape[axis] = to - from;
    tess_array_walk_order(order[TRANSPOSE_IN], p->ndim, p->stride[TRANSPOSE_IN]);
    for (int d = 0; d < p->ndim; d++)
        order[TRANSPOSE_OUT][d] = d;
    slab->host[TESS_ARRAY_IN] = p->in;
    slab->host[TESS_ARRAY_OUT] = p->out;
    slab->offset[TESS_ARRAY_IN] = p->first[TRANSPOSE_IN] + from * p->stride[TRANSPOSE_IN][axis];
    slab->offset[TESS_ARRAY_OUT] = p->first[TRANSPOSE_OUT] + from * p->stride[TRANSPOSE_OUT][axis];
    lay_side(part, TRANSPOSE_IN, order[TRANSPOSE_IN], &slab->host[TESS_ARRAY_IN], &part->in);
    lay_side(part, TRANSPOSE_OUT, order[TRANSPOSE_OUT], &slab->host[TESS_ARRAY_OUT], &part->out);
    part->first[TRANSPOSE_IN] = part->first[TRANSPOSE_OUT] = 0;
    return TESS_OK;
}
