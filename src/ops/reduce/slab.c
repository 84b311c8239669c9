/* SPDX-License-Identifier: Apache-2.0
 * slab.c - a part of a reduction: the outputs from .. to - 1 along the kept axis with the largest step in `in`, between compact arrays. The reduced
 * axes keep their order, and with it the tree its bits. */
#include "ops/reduce/reduce.h"

static int slab_axis(const reduce_problem *p) {
    int order[TESS_MAX_NDIM];
    tess_array_walk_order(order, p->kept, p->kept_stride[0]);
    return order[0];
}

int64_t tess_reduce_slabs(const tess_problem *base) {
    const reduce_problem *p = (const reduce_problem *)base;
    return p->kept > 0 && p->kept + p->rank <= TESS_MAX_NDIM && !p->offsets ? p->kept_size[slab_axis(p)] : 0;
}

/* The input: all axes, kept and reduced, in an order good to walk. */
static void lay_in(reduce_problem *part, tess_array *host) {
    int64_t *strides[2 * TESS_MAX_NDIM], given[2 * TESS_MAX_NDIM] = {0}, sizes[2 * TESS_MAX_NDIM], step = part->in.itemsize;
    int order[2 * TESS_MAX_NDIM], n = 0;
    for (int d = 0; d < part->kept; d++, n++) {
        strides[n] = &part->kept_stride[0][d];
        sizes[n] = part->kept_size[d];
    }
    for (int d = 0; d < part->rank; d++, n++) {
        strides[n] = &part->stride[0][d];
        sizes[n] = part->size[d];
    }
    for (int i = 0; i < n; i++)
        given[i] = *strides[i];
    tess_array_walk_order(order, n, given);
    host->ndim = n;
    host->count = 1;
    for (int k = n - 1; k >= 0; k--) {
        host->shape[k] = sizes[order[k]];
        host->stride[k] = given[order[k]];
        host->count *= sizes[order[k]];
        *strides[order[k]] = step;
        step *= sizes[order[k]];
    }
    part->in = *host;
    for (int k = 0; k < n; k++)
        part->in.stride[k] = *strides[order[k]];
}

static void lay_out(reduce_problem *part, tess_array *host) {
    int64_t step = part->out.itemsize;
    host->ndim = part->kept;
    host->count = part->outputs;
    for (int d = part->kept - 1; d >= 0; d--) {
        host->shape[d] = part->kept_size[d];
        host->stride[d] = part->kept_stride[1][d];
        part->kept_stride[1][d] = step;
        step *= part->kept_size[d];
    }
    part->out = *host;
    for (int d = 0; d < part->kept; d++)
        part->out.stride[d] = part->kept_stride[1][d];
}

tess_status tess_reduce_slab(const tess_problem *base, int64_t from, int64_t to, tess_slab *slab) {
    const reduce_problem *p = (const reduce_problem *)base;
    int axis = slab_axis(p);
    reduce_problem *part;
    TESS_TRY(tess_problem_make((void **)&part, base->context, base->op, sizeof *part));
    *part = *p;
    slab->problem = &part->base;
    part->base.elements *= (double)(to - from) / (double)p->kept_size[axis];
    part->base.bytes *= (double)(to - from) / (double)p->kept_size[axis];
    part->kept_size[axis] = to - from;
    part->outputs = p->outputs / p->kept_size[axis] * (to - from);
    slab->host[TESS_ARRAY_IN] = p->in;
    slab->host[TESS_ARRAY_OUT] = p->out;
    slab->offset[TESS_ARRAY_IN] = from * p->kept_stride[0][axis];
    slab->offset[TESS_ARRAY_OUT] = from * p->kept_stride[1][axis];
    lay_in(part, &slab->host[TESS_ARRAY_IN]);
    lay_out(part, &slab->host[TESS_ARRAY_OUT]);
    return TESS_OK;
}
