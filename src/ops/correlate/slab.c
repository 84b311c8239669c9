/* SPDX-License-Identifier: Apache-2.0
 * slab.c - a part of a correlation: the outputs from .. to - 1 along one axis, from the rows of the input that they meet, between compact arrays.
 *
 * What lies outside the array along that axis is decided here, so that a part knows nothing of the whole's ends. Rows that a boundary takes from
 * elsewhere are copied to where they are met (boundary.c says which), and the part meets no ghost cell there. A constant need not be an element of
 * the input's type: there the part has the rows that exist and the boundary of the whole, and its mask begins as far outside as the whole's does. The
 * chain of each output meets the same values in the same order, so the bits are the whole's; passes of a list before the one along the axis work row by
 * row, and rows that are copied before them are the rows that would have been copied after.
 *
 * Transforms have their tiles at places of the whole array, two and two in one transform. They are cut along the slowest axis of the tiles' order, behind
 * whole pairs: a part has the whole's tiles, pairs and tables. */
#include <math.h>
#include <string.h>

#include "ops/correlate/fft.h"
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

/* Outputs along the slowest axis of a transform's tiles, from one place where it may be cut to the next. */
static int64_t unit_of(const tess_correlate_fft *fft) {
    const int64_t neighbours = (fft->plane ? fft->tiles_x : 1) * fft->outer;
    return (fft->plane ? fft->outputs_y : fft->outputs_x) * (neighbours % 2 ? 2 : 1);
}

/* Rows are units. */
static void cut_transform(const tess_correlate_problem *p, tess_cut *cut) {
    const int axis = p->fft->plane ? p->fft->y : p->fft->x;
    int64_t width, before, unit = unit_of(p->fft), rows = p->out.shape[axis];
    double in = (double)p->in.count * p->in.itemsize / (double)p->in.shape[axis];
    find_mask(p, axis, &width, &before);
    cut->axis = axis;
    cut->rows = tess_ceil_div(rows, unit);
    cut->row = (double)tess_min64(unit, rows) * (in + (double)p->out.count * p->out.itemsize / (double)rows);
    cut->fixed = in * (double)(width - 1);
}

void tess_correlate_cut(const tess_problem *base, int64_t most, tess_cut *cut) {
    const tess_correlate_problem *p = of(base);
    double row[TESS_MAX_NDIM], fixed[TESS_MAX_NDIM];
    if (p->in.count == 0 || p->out.count == 0 || p->in.ndim == 0)
        return;
    if (p->fft) {
        cut_transform(p, cut);
        return;
    }
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

/* The whole's tiles from the part's first one on. */
static tess_status copy_tiles(tess_correlate_problem *part, const tess_correlate_problem *whole, int64_t outputs) {
    tess_correlate_fft *fft = part->fft = tess_allocate(part->base.context, sizeof *fft);
    if (!fft)
        return TESS_ERR_MEMORY;
    *fft = *whole->fft;
    fft->part = true;
    if (fft->plane)
        fft->tiles_y = tess_ceil_div(outputs, fft->outputs_y);
    else
        fft->tiles_x = tess_ceil_div(outputs, fft->outputs_x);
    fft->tiles = fft->outer * fft->tiles_x * fft->tiles_y;
    return TESS_OK;
}

static tess_status fill(tess_correlate_problem *part, const tess_correlate_problem *whole, const tess_cut *cut, tess_slab *slab) {
    const int64_t unit = whole->fft ? unit_of(whole->fft) : 1, start = slab->from * unit, all = whole->out.shape[cut->axis],
                  outputs = tess_min64(slab->to * unit, all) - start;
    int64_t width, before, n = whole->in.shape[cut->axis], first, rows;
    find_mask(whole, cut->axis, &width, &before);
    first = start - before;
    rows = outputs + width - 1;
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
    slab->kind[0] = before * (all + 1) + outputs;
    slab->kind[1] = rows;
    slab->offset[TESS_ARRAY_IN] = slab->pieces ? 0 : first * whole->in.stride[cut->axis];
    slab->offset[TESS_ARRAY_OUT] = start * whole->out.stride[cut->axis];
    part->in = whole->in;
    part->out = whole->out;
    part->compute = whole->compute;
    part->boundary = whole->boundary;
    part->constant = whole->constant;
    lay_side(&part->in, &slab->host[TESS_ARRAY_IN], cut->axis, rows);
    lay_side(&part->out, &slab->host[TESS_ARRAY_OUT], cut->axis, outputs);
    TESS_TRY(copy_masks(part, whole, cut->axis, before));
    TESS_TRY(tess_correlate_prepare(part, &(tess_correlate_asked){TESS_EXTENT_SAME, TESS_ACCURACY_DIRECT}));
    return whole->fft ? copy_tiles(part, whole, outputs) : TESS_OK;
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
