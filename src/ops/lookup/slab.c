/* SPDX-License-Identifier: Apache-2.0
 * slab.c - a part of a lookup: some of the indices and their elements of out, where the table stays whole; or some of the table's lines before the
 * axis and theirs, where the index does. The larger one is cut.
 *
 * Indices are cut along the slowest of their joined axes, so that parts follow each other in row-major order and the first bad index of the first part
 * that has one is the first of all. */
#include "ops/lookup/lookup.h"

enum { BY_INDEX, BY_LINE };

static const lookup_problem *of(const tess_problem *problem) { return (const lookup_problem *)problem; }

static int64_t size_of(const tess_array *array) { return array->count * array->itemsize; }

void tess_lookup_cut(const tess_problem *base, int64_t most, tess_cut *cut) {
    const lookup_problem *p = of(base);
    bool lines = p->outer.ndim > 0 && (size_of(&p->table) > size_of(&p->index) || p->at.ndim == 0);
    const lookup_axes *axes = lines ? &p->outer : &p->at;
    (void)most;
    if (p->out.count == 0 || p->table.count == 0 || axes->ndim == 0 || p->outer.ndim + p->at.ndim + p->inner.ndim + 1 > TESS_MAX_NDIM)
        return;
    cut->way = lines ? BY_LINE : BY_INDEX;
    cut->input = lines ? TESS_ARRAY_IN : TESS_ARRAY_SECOND;
    cut->rows = axes->shape[0];
    cut->row = (double)(size_of(lines ? &p->table : &p->index) + size_of(&p->out)) / (double)cut->rows;
}

static void add(tess_array *array, int64_t shape, int64_t stride) {
    array->shape[array->ndim] = shape;
    array->stride[array->ndim++] = stride;
    array->count *= shape;
}

static void add_axes(tess_array *array, const lookup_axes *axes, int side) {
    for (int d = 0; d < axes->ndim; d++)
        add(array, axes->shape[d], axes->stride[side][d]);
}

static tess_array empty_box(const tess_array *like, int64_t itemsize) {
    return (tess_array){.type = like->type, .itemsize = (int32_t)itemsize, .device = like->device, .count = 1};
}

/* The steps of a compact array in the order of its axes. */
static void make_compact(tess_array *array) {
    int64_t step = array->itemsize;
    for (int d = array->ndim - 1; d >= 0; d--) {
        array->stride[d] = step;
        step *= array->shape[d];
    }
}

static const int64_t *take_axes(lookup_axes *axes, int side, const int64_t *stride) {
    for (int d = 0; d < axes->ndim; d++)
        axes->stride[side][d] = *stride++;
    return stride;
}

/* The cut sides as boxes of the caller's memory, and the part's axes with the steps of the compact images. */
static void lay_out(lookup_problem *part, tess_array *host) {
    tess_array own;
    *host = empty_box(&part->out, part->size);
    add_axes(host, &part->outer, LOOKUP_OUT);
    add_axes(host, &part->at, LOOKUP_OUT);
    add_axes(host, &part->inner, LOOKUP_OUT);
    own = *host;
    make_compact(&own);
    const int64_t *stride = take_axes(&part->outer, LOOKUP_OUT, own.stride);
    take_axes(&part->inner, LOOKUP_OUT, take_axes(&part->at, LOOKUP_OUT, stride));
    own.itemsize = part->out.itemsize;
    own.count = own.count * part->size / part->out.itemsize;
    part->out = own;
}

static void lay_index(lookup_problem *part, tess_array *host) {
    *host = empty_box(&part->index, part->index.itemsize);
    add_axes(host, &part->at, LOOKUP_FROM);
    part->index = *host;
    make_compact(&part->index);
    take_axes(&part->at, LOOKUP_FROM, part->index.stride);
}

static void lay_table(lookup_problem *part, tess_array *host) {
    tess_array own;
    const bool moved = part->interpolation == TESS_INTERPOLATE_NONE; /* as out's elements; else complex ones part by part */
    const int64_t size = moved ? part->size : part->table.itemsize / part->parts;
    *host = empty_box(&part->table, size);
    add_axes(host, &part->outer, LOOKUP_FROM);
    add(host, part->n, part->step);
    add_axes(host, &part->inner, LOOKUP_FROM);
    own = *host;
    make_compact(&own);
    const int64_t *stride = take_axes(&part->outer, LOOKUP_FROM, own.stride);
    part->step = *stride;
    take_axes(&part->inner, LOOKUP_FROM, stride + 1);
    own.itemsize = part->table.itemsize;
    own.count = own.count * size / part->table.itemsize;
    part->table = own;
}

tess_status tess_lookup_slab(const tess_problem *base, const tess_cut *cut, int64_t from, int64_t to, tess_slab *slab) {
    const lookup_problem *p = of(base);
    lookup_problem *part;
    TESS_TRY(tess_problem_make((void **)&part, base->context, base->op, sizeof *part));
    *part = *p;
    part->own_positions = NULL;
    slab->problem = &part->base;
    part->whole = p;
    lookup_axes *axes = cut->way == BY_LINE ? &part->outer : &part->at;
    const double share = (double)(to - from) / (double)axes->shape[0];
    const int64_t each = axes->count / axes->shape[0];
    slab->offset[cut->input] = from * axes->stride[LOOKUP_FROM][0];
    slab->offset[TESS_ARRAY_OUT] = from * axes->stride[LOOKUP_OUT][0];
    axes->shape[0] = to - from;
    axes->count = each * (to - from);
    part->base.elements *= share;
    part->base.bytes *= share;
    if (cut->way == BY_LINE) {
        lay_table(part, &slab->host[TESS_ARRAY_IN]);
    } else {
        part->first = from * each;
        lay_index(part, &slab->host[TESS_ARRAY_SECOND]);
    }
    lay_out(part, &slab->host[TESS_ARRAY_OUT]);
    return TESS_OK;
}
