/* SPDX-License-Identifier: Apache-2.0
 * slab.c - a part of a correlation: the outputs from .. to - 1 along one axis, from the rows of the input that they meet, between compact arrays.
 *
 * What lies outside the array along that axis is decided here, so that a part knows nothing of the whole's ends. Rows that a boundary takes from
 * elsewhere are copied to where they are met (boundary.c says which), and the part meets no ghost cell there. A constant need not be an element of
 * the input's type: there the part has the rows that exist and the boundary of the whole, and its mask begins as far outside as the whole's does. The
 * chain of each output meets the same values in the same order, so the bits are the whole's; passes of a list before the one along the axis work row by
 * row, and rows that are copied before them are the rows that would have been copied after. */
#include <math.h>
#include <string.h>

#include "ops/correlate/slab.h"

static const tess_correlate_problem *of(const tess_problem *problem) { return (const tess_correlate_problem *)problem; }

/* The mask along the axis and its place on it. */
static void find_mask(const tess_correlate_problem *p, int axis, int64_t *width, int64_t *before) {
    *width = 1;
    *before = 0;
    for (int k = 0; k < p->count; k++)
        for (int d = 0; d < p->masks[k].ndim; d++)
            if (p->masks[k].axes[d] == axis) {
                *width = p->masks[k].shape[d];
                *before = p->masks[k].before[d];
            }
}

void tess_correlate_cut(const tess_problem *base, int64_t most, tess_cut *cut) {
    const tess_correlate_problem *p = of(base);
    double row[TESS_MAX_NDIM], fixed[TESS_MAX_NDIM];
    if (p->fft || p->in.count == 0 || p->out.count == 0 || p->in.ndim == 0) /* tiles of a transform are places of the whole array */
        return;
    for (int d = 0; d < p->in.ndim; d++) {
        int64_t width, before;
        double in = (double)p->in.count * p->in.itemsize / (double)p->in.shape[d];
        find_mask(p, d, &width, &before);
        row[d] = p->out.shape[d] < 2 ? INFINITY : in + (double)p->out.count * p->out.itemsize / (double)p->out.shape[d];
        fixed[d] = in * (double)(width - 1);
    }
    cut->axis = tess_cut_axis(p->in.ndim, p->in.stride, row, fixed, most);
    cut->rows = p->out.shape[cut->axis];
    cut->row = row[cut->axis];
    cut->fixed = fixed[cut->axis];
}

/* One side of the part: in the caller's memory with the cut axis first, then by the size of the steps; compact in that order. */
static void lay_side(tess_array *own, tess_array *host, int axis, int64_t rows) {
    int order[TESS_MAX_NDIM], n = 1;
    int64_t step = own->itemsize;
    own->count = own->count / own->shape[axis] * rows;
    own->shape[axis] = rows;
    tess_array_walk_order(order, own->ndim, own->stride);
    *host = *own;
    for (int k = 0; k < own->ndim; k++) {
        int d = order[k], at = d == axis ? 0 : n++;
        host->shape[at] = own->shape[d];
        host->stride[at] = own->stride[d];
    }
    for (int k = own->ndim - 1; k >= -1; k--) {
        int d = k < 0 ? axis : order[k];
        if (k >= 0 && d == axis)
            continue;
        own->stride[d] = step;
        step *= own->shape[d];
    }
}

static tess_status copy_masks(tess_correlate_problem *part, const tess_correlate_problem *whole, int axis, int64_t before) {
    part->masks = tess_allocate_zeroed(part->base.context, (size_t)whole->count * sizeof *part->masks);
    if (!part->masks)
        return TESS_ERR_MEMORY;
    part->count = whole->count;
    for (int k = 0; k < whole->count; k++) {
        tess_correlate_mask *mask = &part->masks[k];
        *mask = whole->masks[k];
        mask->weights = tess_allocate(part->base.context, mask->size);
        if (!mask->weights)
            return TESS_ERR_MEMORY;
        memcpy(mask->weights, whole->masks[k].weights, mask->size);
        for (int d = 0; d < mask->ndim; d++)
            if (mask->axes[d] == axis)
                mask->before[d] = before;
    }
    return TESS_OK;
}

static tess_status fill(tess_correlate_problem *part, const tess_correlate_problem *whole, const tess_cut *cut, tess_slab *slab) {
    int64_t width, before, n = whole->in.shape[cut->axis], first, rows;
    find_mask(whole, cut->axis, &width, &before);
    first = slab->from - before;
    rows = slab->to - slab->from + width - 1;
    if (whole->boundary == TESS_BOUNDARY_CONSTANT) {
        int64_t end = tess_min64(first + rows, n);
        before = tess_max64(-first, 0);
        first = tess_max64(first, 0);
        rows = end - first;
    } else {
        slab->pieces = first < 0 || first + rows > n;
        before = 0;
    }
    slab->first = first;
    slab->kind[0] = before;
    slab->kind[1] = rows;
    slab->offset[TESS_ARRAY_IN] = slab->pieces ? 0 : first * whole->in.stride[cut->axis];
    slab->offset[TESS_ARRAY_OUT] = slab->from * whole->out.stride[cut->axis];
    part->in = whole->in;
    part->out = whole->out;
    part->compute = whole->compute;
    part->boundary = whole->boundary;
    part->constant = whole->constant;
    lay_side(&part->in, &slab->host[TESS_ARRAY_IN], cut->axis, rows);
    lay_side(&part->out, &slab->host[TESS_ARRAY_OUT], cut->axis, slab->to - slab->from);
    TESS_TRY(copy_masks(part, whole, cut->axis, before));
    return tess_correlate_prepare(part, &(tess_correlate_asked){TESS_EXTENT_SAME, TESS_ACCURACY_DIRECT});
}

tess_status tess_correlate_slab(const tess_problem *base, const tess_cut *cut, int64_t from, int64_t to, tess_slab *slab) {
    tess_correlate_problem *part;
    slab->from = from;
    slab->to = to;
    TESS_TRY(tess_problem_make((void **)&part, base->context, base->op, sizeof *part));
    tess_status status = fill(part, of(base), cut, slab);
    if (status == TESS_OK)
        slab->problem = &part->base;
    else
        tess_problem_free(&part->base);
    return status;
}

void tess_correlate_piece(const tess_problem *base, const tess_cut *cut, const tess_slab *slab, int64_t at, tess_array *host, int64_t *offset) {
    const tess_correlate_problem *p = of(base);
    const int64_t row = host->count / host->shape[0], done = at / row, stride = host->stride[0];
    tess_boundary_run run = tess_boundary_run_at(p->boundary, p->in.shape[cut->axis], slab->first + done);
    host->shape[0] = tess_min64(run.length, host->shape[0] - done);
    host->count = host->shape[0] * row;
    host->stride[0] = run.step * stride;
    *offset = run.at * stride;
}
