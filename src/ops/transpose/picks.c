/* SPDX-License-Identifier: Apache-2.0
 * picks.c - how rows of out are cut into pieces that permutes of bytes can make. */
#include "ops/transpose/picks.h"

bool tess_transpose_picks_of(transpose_picks *picks, const transpose_problem *problem) {
    enum { AXES = 3 };
    transpose_picks item = {.bytes = problem->size, .span = problem->size};
    *picks = (transpose_picks){0};
    for (; item.axes < problem->ndim && item.axes <= AXES; item.axes++) {
        const int d = problem->ndim - 1 - item.axes;
        const int64_t n = problem->shape[d], in = problem->stride[TRANSPOSE_IN][d], step = in < 0 ? -in : in;
        if (n < 1 || problem->stride[TRANSPOSE_OUT][d] != item.bytes)
            break;
        item.step = in;
        item.each = tess_min64(n, VECTOR_OF_PICKS / item.bytes);
        if (step > 0)
            item.each = tess_min64(item.each, (REACH_OF_PICKS - item.span) / step + 1);
        item.count = n;
        if (step <= VECTOR_OF_PICKS && item.each * item.bytes >= picks->each * picks->bytes) /* of two, the one of more axes has longer rows */
            *picks = item;
        if (step > VECTOR_OF_PICKS || item.each < n) /* the axis is too long to be part of an item */
            break;
        item.bytes *= n;
        item.lowest += in < 0 ? (n - 1) * in : 0;
        item.span += (n - 1) * step;
    }
    return picks->each > 0;
}
