/* SPDX-License-Identifier: Apache-2.0
 * reference.c - the dumb truth: element after element, in the order of out's memory. In place it works from a copy of everything. */
#include <string.h>

#include "ops/transpose/transpose.h"

tess_status tess_transpose_reference(const tess_problem *base, const tess_run *run);
size_t tess_transpose_reference_workspace(const tess_problem *base, int threads);

size_t tess_transpose_reference_workspace(const tess_problem *base, int threads) {
    const transpose_problem *problem = (const transpose_problem *)base;
    (void)threads;
    return problem->place == TRANSPOSE_ELSEWHERE ? 0 : (size_t)(problem->in.count * problem->in.itemsize);
}

tess_status tess_transpose_reference(const tess_problem *base, const tess_run *run) {
    transpose_problem problem = *(const transpose_problem *)base;
    const char *in = run->in;
    int64_t size = problem.place == TRANSPOSE_ELSEWHERE ? problem.size : problem.in.itemsize;
    if (problem.in.count == 0 || problem.place == TRANSPOSE_NOTHING)
        return TESS_OK;
    if (problem.place != TRANSPOSE_ELSEWHERE)
        in = memcpy(run->workspace, in, (size_t)(problem.in.count * size));
    tess_index at;
    tess_index_start(&at, problem.ndim, problem.shape, 2, problem.stride, 0);
    do
        memcpy(run->out + problem.first[TRANSPOSE_OUT] + at.offset[TRANSPOSE_OUT], in + problem.first[TRANSPOSE_IN] + at.offset[TRANSPOSE_IN],
               (size_t)size);
    while (tess_index_next(&at));
    return TESS_OK;
}
