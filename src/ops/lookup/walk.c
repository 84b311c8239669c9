/* SPDX-License-Identifier: Apache-2.0
 * walk.c - the items of a lookup, outer positions times indices, as runs of indices. */
#include "ops/lookup/lookup.h"

void tess_lookup_walk_start(lookup_walk *walk, const lookup_problem *problem, const tess_run *run, int64_t begin, int64_t end, int64_t most) {
    const lookup_axes *at = &problem->at;
    int last = at->ndim - 1;
    walk->problem = problem;
    walk->run = run;
    walk->item = begin;
    walk->end = end;
    walk->most = most;
    walk->row = last >= 0 ? at->shape[last] : 1;
    walk->in_step = last >= 0 ? at->stride[LOOKUP_FROM][last] : 0;
    walk->out_step = last >= 0 ? at->stride[LOOKUP_OUT][last] : problem->size;
    walk->above = *at;
    walk->above.ndim = last >= 0 ? last : 0;
    walk->column = begin % at->count % walk->row;
    tess_index_start(&walk->rows, walk->above.ndim, walk->above.shape, 2, walk->above.stride, begin % at->count / walk->row);
    /* The strides are only read. */
    lookup_axes *outer = (lookup_axes *)(uintptr_t)&problem->outer;
    tess_index_start(&walk->outer, outer->ndim, outer->shape, 2, outer->stride, begin / at->count);
}

bool tess_lookup_walk_next(lookup_walk *walk, lookup_segment *segment) {
    if (walk->item >= walk->end)
        return false;
    int64_t count = tess_min64(tess_min64(walk->row - walk->column, walk->most), walk->end - walk->item);
    segment->table = walk->run->in + walk->outer.offset[LOOKUP_FROM];
    segment->index = walk->run->second + walk->rows.offset[LOOKUP_FROM] + walk->column * walk->in_step;
    segment->out = walk->run->out + walk->outer.offset[LOOKUP_OUT] + walk->rows.offset[LOOKUP_OUT] + walk->column * walk->out_step;
    segment->position = walk->item % walk->problem->at.count;
    segment->count = count;
    walk->item += count;
    walk->column += count;
    if (walk->column == walk->row) {
        walk->column = 0;
        if (!tess_index_next(&walk->rows))
            tess_index_next(&walk->outer);
    }
    return true;
}
