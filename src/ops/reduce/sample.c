/* SPDX-License-Identifier: Apache-2.0
 * sample.c - a small reduction like a large one, on which a GPU's kernels are tried (tess_op.sample): the same types, options and order of axes in memory,
 * axes cut short, the first of its segments. */
#include <stdlib.h>

#include "ops/reduce/offsets.h"
#include "ops/reduce/sample.h"

/* The first segments, as many as fit what is left of the axis; what lies before them is cut short, too, by whole lines. */
static tess_status sample_offsets(reduce_problem *p, const reduce_problem *whole, int64_t limit, int64_t *size) {
    int64_t n = 0;
    limit = tess_max64(limit, 128);
    const int64_t *from = whole->offsets, before = from[0] > limit ? (from[0] - limit) / 64 * 64 : 0;
    while (n < whole->segments && n < limit && from[n + 1] - before < limit * 8)
        n++;
    n = tess_max64(n, whole->segments > 0);
    p->segments = n;
    p->offsets = tess_reduce_offsets_make(p->base.context, n);
    if (!p->offsets)
        return TESS_ERR_MEMORY;
    for (int64_t i = 0; i <= n; i++)
        p->offsets[i] = tess_min64(from[i] - before, limit * 8);
    for (int64_t i = 0; i < n; i++)
        p->longest = i == 0 ? p->offsets[1] - p->offsets[0] : tess_max64(p->longest, p->offsets[i + 1] - p->offsets[i]);
    *size = tess_min64(*size, p->offsets[n] + 1);
    return TESS_OK;
}

/* The longest of the reduced axes may want several leaves. Of the kept ones the finest matters, and how others follow it. */
static int64_t sample_axis(const reduce_problem *whole, int d, int64_t limit) {
    const tess_array *in = &whole->in;
    bool longest = true, finest = true;
    for (int other = 0; other < in->ndim; other++) {
        longest &= !whole->reduced[other] || in->shape[other] < in->shape[d] || (in->shape[other] == in->shape[d] && other >= d);
        finest &= whole->reduced[other] || in->shape[other] < 2 || llabs(in->stride[other]) >= llabs(in->stride[d]);
    }
    if (whole->reduced[d])
        return tess_sample_size(in->shape[d], longest ? 64 * limit : limit);
    return finest ? tess_sample_size(in->shape[d], limit) : tess_min64(in->shape[d], 3);
}

tess_status tess_reduce_sample(const tess_problem *base, int64_t limit, tess_problem **small) {
    const reduce_problem *whole = (const reduce_problem *)base;
    int64_t in[TESS_MAX_NDIM], out[TESS_MAX_NDIM];
    void *memory;
    TESS_TRY(tess_problem_make(&memory, base->context, base->op, sizeof *whole));
    reduce_problem *p = memory;
    *p = *whole;
    p->offsets = NULL;
    *small = &p->base;
    for (int d = 0; d < p->in.ndim; d++) {
        in[d] = sample_axis(whole, d, limit);
        if (whole->offsets && p->reduced[d])
            in[d] = whole->in.shape[d];
        if (whole->offsets && p->reduced[d])
            TESS_TRY(sample_offsets(p, whole, limit, &in[d]));
    }
    for (int d = 0, k = 0; d < p->in.ndim; d++)
        if (!p->reduced[d] || p->keepdims || p->offsets)
            out[k++] = !p->reduced[d] ? in[d] : p->offsets ? p->segments : 1;
    p->in = tess_array_sample(&whole->in, in);
    p->out = tess_array_sample(&whole->out, out);
    p->rank = p->kept = 0;
    return tess_reduce_arrange(p);
}
