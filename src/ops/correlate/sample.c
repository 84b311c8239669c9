/* SPDX-License-Identifier: Apache-2.0
 * sample.c - a smaller correlation of the same kind: the same masks over shorter arrays. */
#include <stdlib.h>
#include <string.h>

#include "ops/correlate/correlate.h"

static tess_status copy_masks(tess_correlate_problem *problem, const tess_correlate_problem *whole) {
    tess_context *context = problem->base.context;
    problem->masks = tess_allocate_zeroed(context, (size_t)whole->count * sizeof *problem->masks);
    if (!problem->masks)
        return TESS_ERR_MEMORY;
    problem->count = whole->count;
    for (int k = 0; k < whole->count; k++) {
        problem->masks[k] = whole->masks[k];
        problem->masks[k].weights = tess_allocate(context, whole->masks[k].size);
        if (!problem->masks[k].weights)
            return TESS_ERR_MEMORY;
        memcpy(problem->masks[k].weights, whole->masks[k].weights, whole->masks[k].size);
    }
    return TESS_OK;
}

/* What the output's sizes say: the same difference to the input's on each axis as there. */
static tess_extent extent_of(const tess_correlate_problem *whole) {
    for (int d = 0; d < whole->in.ndim; d++)
        if (whole->out.shape[d] != whole->in.shape[d])
            return whole->out.shape[d] < whole->in.shape[d] ? TESS_EXTENT_VALID : TESS_EXTENT_FULL;
    return TESS_EXTENT_SAME;
}

static bool is_masked(const tess_correlate_problem *whole, int axis) {
    for (int k = 0; k < whole->count; k++)
        for (int d = 0; d < whole->masks[k].ndim; d++)
            if (whole->masks[k].axes[d] == axis && whole->masks[k].shape[d] > 1)
                return true;
    return false;
}

/* Blocks are shaped by the finest axes of out; along the third a mask's few steps are enough, and where there is none, any few. */
static int64_t sample_axis(const tess_correlate_problem *whole, int d, int64_t limit) {
    const tess_array *out = &whole->out;
    const int64_t n = whole->in.shape[d];
    int finer = 0;
    for (int other = 0; other < out->ndim; other++)
        finer += other != d && out->shape[other] > 1 &&
                 (llabs(out->stride[other]) < llabs(out->stride[d]) || (out->stride[other] == out->stride[d] && other > d));
    if (finer < 2)
        return tess_sample_size(n, finer == 0 ? 8 * limit : limit);
    if (!is_masked(whole, d))
        return tess_min64(n, 3);
    return n < limit / 4 + 32 ? n : limit / 4 + 16 + n % 16;
}

tess_status tess_correlate_sample(const tess_problem *base, int64_t limit, tess_problem **small) {
    const tess_correlate_problem *whole = (const tess_correlate_problem *)base;
    int64_t in[TESS_MAX_NDIM], out[TESS_MAX_NDIM];
    void *memory;
    for (int d = 0; d < whole->in.ndim; d++) {
        in[d] = sample_axis(whole, d, limit);
        out[d] = whole->out.shape[d] - (whole->in.shape[d] - in[d]);
        if (out[d] < 1)
            return TESS_OK;
    }
    TESS_TRY(tess_problem_make(&memory, base->context, base->op, sizeof *whole));
    tess_correlate_problem *problem = memory;
    *small = &problem->base;
    problem->in = tess_array_sample(&whole->in, in);
    problem->out = tess_array_sample(&whole->out, out);
    problem->compute = whole->compute;
    problem->boundary = whole->boundary;
    problem->constant = whole->constant;
    TESS_TRY(copy_masks(problem, whole));
    /* What TESS_ACCURACY_FAST came to is in the masks already, but for the transforms. */
    return tess_correlate_prepare(problem, &(tess_correlate_asked){extent_of(whole), whole->fft ? TESS_ACCURACY_FFT : TESS_ACCURACY_DIRECT});
}
