/* SPDX-License-Identifier: Apache-2.0
 * blocks.c - the problem as a batch of matrices, cut into blocks that run on the threads. */
#include <string.h>

#include "core/parallel.h"
#include "ops/transpose/transpose.h"

void tess_transpose_plane_of(transpose_plane *plane, const transpose_problem *problem, bool without_run) {
    plane->p_size = plane->q_size = plane->count =
        1; /* the lists of axes stay as they are: clearing all of them takes longer than a small transpose */
    plane->p_in = plane->p_out = plane->q_in = plane->q_out = 0;
    plane->ndim = 0;
    int ndim = problem->ndim - (without_run && problem->ndim > 0), q = ndim - 1, p = q;
    const int64_t *in = problem->stride[TRANSPOSE_IN], *out = problem->stride[TRANSPOSE_OUT];
    for (int d = ndim - 1; d >= 0; d--) {
        int64_t step = in[d] < 0 ? -in[d] : in[d], best = p < 0 ? 0 : in[p] < 0 ? -in[p] : in[p];
        if (step != 0 && (best == 0 || step < best)) /* a broadcast axis is no direction to read in */
            p = d;
    }
    for (int d = 0; d < ndim; d++) {
        if (d == q) {
            plane->q_size = problem->shape[d];
            plane->q_in = in[d];
            plane->q_out = out[d];
        } else if (d == p) {
            plane->p_size = problem->shape[d];
            plane->p_in = in[d];
            plane->p_out = out[d];
        } else {
            plane->shape[plane->ndim] = problem->shape[d];
            plane->stride[TRANSPOSE_IN][plane->ndim] = in[d];
            plane->stride[TRANSPOSE_OUT][plane->ndim] = out[d];
            plane->count *= problem->shape[d];
            plane->ndim++;
        }
    }
}

bool tess_transpose_splits(const transpose_problem *problem, const transpose_plane *plane) {
    return plane->p_size >= 2 && plane->p_size <= TRANSPOSE_GROUP && plane->p_in == problem->size && plane->q_in == plane->p_size * problem->size;
}

static int axis_of(const transpose_problem *problem, int which, int64_t step, int64_t most) {
    for (int d = 0; d < problem->ndim; d++)
        if (problem->stride[which][d] == step && problem->shape[d] > 1 && problem->shape[d] <= most)
            return d;
    return -1;
}
bool tess_transpose_turned_of(transpose_turned *turned, transpose_plane *plane, const transpose_problem *problem) {
    for (int which = 0; which < 2; which++) {
        const int group = axis_of(problem, which, problem->size, TRANSPOSE_GROUP), other = axis_of(problem, !which, problem->size, INT64_MAX);
        const int above = group < 0 ? -1 : axis_of(problem, which, problem->shape[group] * problem->size, INT64_MAX);
        if (above < 0 || other < 0 || group == other || above == other)
            continue;
        const int p = which == TRANSPOSE_IN ? above : other, q = which == TRANSPOSE_IN ? other : above;
        turned->group = group;
        turned->splits = which == TRANSPOSE_IN;
        plane->ndim = 0;
        plane->count = 1;
        plane->p_size = problem->shape[p];
        plane->p_in = problem->stride[TRANSPOSE_IN][p];
        plane->p_out = problem->stride[TRANSPOSE_OUT][p];
        plane->q_size = problem->shape[q];
        plane->q_in = problem->stride[TRANSPOSE_IN][q];
        plane->q_out = problem->stride[TRANSPOSE_OUT][q];
        for (int d = 0; d < problem->ndim; d++) {
            if (d == group || d == p || d == q)
                continue;
            plane->shape[plane->ndim] = problem->shape[d];
            plane->stride[TRANSPOSE_IN][plane->ndim] = problem->stride[TRANSPOSE_IN][d];
            plane->stride[TRANSPOSE_OUT][plane->ndim++] = problem->stride[TRANSPOSE_OUT][d];
            plane->count *= problem->shape[d];
        }
        return true;
    }
    return false;
}
typedef struct job {
    const char *in;
    char *out;
    transpose_plane plane; /* its own copy: the walk wants strides that it may point at */
    int64_t p_block, q_block, p_blocks, q_blocks;
    transpose_block block;
    const void *argument;
} job;

static void run_blocks(void *argument, int64_t begin, int64_t end, int worker) {
    job *j = argument;
    (void)worker;
    int64_t each = j->p_blocks * j->q_blocks, inside = begin % each;
    tess_index at;
    tess_index_start(&at, j->plane.ndim, j->plane.shape, 2, j->plane.stride, begin / each);
    for (int64_t k = begin; k < end; k++) {
        int64_t pb = inside / j->q_blocks, qb = inside % j->q_blocks, p = pb * j->p_block, q = qb * j->q_block;
        int64_t np = pb == j->p_blocks - 1 ? j->plane.p_size - p : j->p_block, nq = qb == j->q_blocks - 1 ? j->plane.q_size - q : j->q_block;
        j->block(j->argument, j->in + at.offset[TRANSPOSE_IN] + p * j->plane.p_in + q * j->plane.q_in,
                 j->out + at.offset[TRANSPOSE_OUT] + p * j->plane.p_out + q * j->plane.q_out, p, np, q, nq);
        if (++inside == each) {
            inside = 0;
            tess_index_next(&at);
        }
    }
}

static int64_t blocks_of(int64_t size, int64_t block, int64_t least) {
    int64_t count = tess_ceil_div(size, block);
    return count > 1 && size - (count - 1) * block < least ? count - 1 : count;
}

tess_status tess_transpose_blocks(const transpose_problem *problem, const tess_run *run, const transpose_plane *plane, int64_t p_block,
                                  int64_t q_block, int64_t least, int64_t bytes, transpose_block block, const void *argument) {
    enum { PIECE = 1 << 17 }; /* bytes that a thread takes at a time: enough to hide the taking, few enough to share evenly */
    if (problem->in.count == 0)
        return TESS_OK;
    job j = {.in = run->in + problem->first[TRANSPOSE_IN],
             .out = run->out + problem->first[TRANSPOSE_OUT],
             .plane = *plane,
             .p_block = p_block,
             .q_block = q_block,
             .p_blocks = blocks_of(plane->p_size, p_block, least),
             .q_blocks = blocks_of(plane->q_size, q_block, least),
             .block = block,
             .argument = argument};
    int64_t block_bytes = tess_min64(p_block, plane->p_size) * tess_min64(q_block, plane->q_size) * bytes;
    return tess_parallel(run->context, run->threads, plane->count * j.p_blocks * j.q_blocks, tess_max64(1, PIECE / block_bytes), run_blocks, &j);
}
