/* SPDX-License-Identifier: Apache-2.0
 * spread.c - outputs that follow one another in memory's order of their elements, but not in out's, put together in between: the channels of images, reduced along their rows and wanted
 * plane by plane, lie side by side as pixels do, and in rows of 3 outputs nothing is quick.
 *
 * So the axes that are one in `in` are taken as one, whose results go to a buffer, and from there to their places. */
#include <stdlib.h>
#include <string.h>

#include "ops/reduce/reduce.h"
#include "ops/reduce/spread.h"

enum { SHORT = 256 /* bytes of outputs side by side */, BRIEF = 8 /* elements of an output: of fewer the results are too large a part */ };

void tess_reduce_dense_outputs(const reduce_problem *p, reduce_problem *dense) {
    *dense = *p;
    for (int64_t d = p->kept - 1, step = p->out.itemsize; d >= 0; step *= p->kept_size[d--])
        dense->kept_stride[1][d] = step;
    dense->kept = tess_collapse(p->kept, dense->kept_size, 2, dense->kept_stride);
}

bool tess_reduce_joins(const reduce_problem *p, reduce_problem *joined) {
    const int last = p->kept - 1;
    const int64_t size = p->in.itemsize;
    if (p->kept < 2 || p->k < BRIEF || p->offsets || p->records || p->outputs == 0 || p->kept_stride[0][last] != size ||
        p->kept_size[last] * size >= SHORT || p->kept_stride[0][last - 1] != p->kept_size[last] * size)
        return false;
    if (joined)
        tess_reduce_dense_outputs(p, joined);
    return true;
}

size_t tess_reduce_spread_size(const reduce_problem *p) {
    return tess_reduce_joins(p, NULL) ? ((size_t)(p->outputs * p->out.itemsize) + 63) / 64 * 64 : 0;
}

/* The results of a buffer, in memory's order of their elements, to their places; the axis of the least steps in out last. */
static void spread(const reduce_problem *p, const char *from, char *out) {
    int64_t shape[TESS_MAX_NDIM], steps[2][TESS_MAX_NDIM], size = p->out.itemsize;
    int best = 0;
    for (int64_t d = p->kept - 1, step = size; d >= 0; step *= p->kept_size[d--]) {
        shape[d] = p->kept_size[d];
        steps[0][d] = step;
        steps[1][d] = p->kept_stride[1][d];
        best = llabs(steps[1][d]) < llabs(steps[1][best]) || d == p->kept - 1 ? (int)d : best;
    }
    const int64_t n = shape[best], in_step = steps[0][best], out_step = steps[1][best];
    shape[best] = 1;
    tess_index at;
    tess_index_start(&at, p->kept, shape, 2, steps, 0);
    for (int64_t k = 0; k < p->outputs / n; k++, tess_index_next(&at)) {
        const char *a = from + at.offset[0];
        char *b = out + at.offset[1];
        for (int64_t i = 0; i < n; i++)
            switch (size) {
            case 1: b[i * out_step] = a[i * in_step]; break;
            case 2: memcpy(b + i * out_step, a + i * in_step, 2); break;
            case 4: memcpy(b + i * out_step, a + i * in_step, 4); break;
            case 8: memcpy(b + i * out_step, a + i * in_step, 8); break;
            default: memcpy(b + i * out_step, a + i * in_step, 16); break;
            }
    }
}

tess_status tess_reduce_spread(const tess_problem *problem, const tess_run *run, tess_run_function row) {
    const reduce_problem *p = (const reduce_problem *)problem;
    reduce_problem joined;
    if (!tess_reduce_joins(p, &joined))
        return row(problem, run);
    tess_run own = *run;
    own.out = run->workspace;
    own.workspace = (char *)run->workspace + tess_reduce_spread_size(p);
    TESS_TRY(row(&joined.base, &own));
    spread(p, run->workspace, run->out);
    return TESS_OK;
}
