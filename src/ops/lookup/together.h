/* SPDX-License-Identifier: Apache-2.0
 * together.h - few indices for each of many rows of the table: they are checked once, and written down for several rows at a time.
 *
 *     index 4 1 7, rows `apart` = 9 entries apart      4 1 7 | 13 10 16 | 22 19 25 | ...
 *
 * A row at a time is a walk of axes, a check and a call for three elements. Of several rows the numbers of entries are one run, counted from the first row, and what is
 * fetched lies without gaps in out. Included by the cpu_*.c files that gather, after positions.h. */
#ifndef TESS_OPS_LOOKUP_TOGETHER_H
#define TESS_OPS_LOOKUP_TOGETHER_H

#include "ops/lookup/positions.h"

/* How many rows go together, or 0. bytes: of what an index fetches. *apart: entries between two rows. */
static int64_t together_rows(const lookup_problem *problem, int64_t bytes, int64_t *apart) {
    const lookup_axes *at = &problem->at, *outer = &problem->outer;
    const int last = outer->ndim - 1;
    if (last < 0 || at->ndim > 1 || at->count > LOOKUP_BLOCK / 2 || problem->step == 0)
        return 0;
    if (at->ndim == 1 && at->stride[LOOKUP_OUT][0] != bytes)
        return 0;
    const int64_t step = outer->stride[LOOKUP_FROM][last], rows = tess_min64(LOOKUP_BLOCK / at->count, outer->shape[last]);
    *apart = step / problem->step;
    if (outer->stride[LOOKUP_OUT][last] != at->count * bytes || step % problem->step != 0 || *apart < 0)
        return 0;
    return rows < 2 || *apart > (INT32_MAX - problem->n) / rows ? 0 : rows;
}

/* The positions of `count` indices become those of as many in each of `rows` rows. */
static void together_repeat(positions *p, int64_t count, int64_t rows, int64_t apart) {
    const int fills = p->fills;
    for (int64_t r = 1; r < rows; r++) {
        for (int64_t i = 0; i < count; i++)
            p->entry[r * count + i] = p->entry[i] + (int32_t)(r * apart);
        for (int k = 0; k < fills; k++)
            p->filled[p->fills++] = (int16_t)(p->filled[k] + r * count);
    }
}

/* Rows begin .. end-1 of the outer axes, up to `most` of them at a time. */
typedef struct together_walk {
    const lookup_axes *outer;
    tess_index index;
    int64_t left, most, rows; /* rows: of this step */
} together_walk;

static void together_start(together_walk *walk, const lookup_problem *problem, int64_t begin, int64_t end, int64_t most) {
    lookup_axes *outer = (lookup_axes *)(uintptr_t)&problem->outer; /* the strides are only read */
    walk->outer = outer;
    walk->left = end - begin;
    walk->most = most;
    walk->rows = 0;
    tess_index_start(&walk->index, outer->ndim, outer->shape, 2, outer->stride, begin);
}

/* Rows of one step follow each other along the last of the outer axes. */
static bool together_next(together_walk *walk) {
    const int last = walk->outer->ndim - 1;
    tess_index *index = &walk->index;
    if (walk->rows > 0) {
        index->at[last] += walk->rows - 1;
        for (int k = 0; k < 2; k++)
            index->offset[k] += (walk->rows - 1) * walk->outer->stride[k][last];
        tess_index_next(index);
    }
    walk->rows = tess_min64(tess_min64(walk->left, walk->most), walk->outer->shape[last] - index->at[last]);
    walk->left -= walk->rows;
    return walk->rows > 0;
}

#endif
