/* SPDX-License-Identifier: Apache-2.0
 * gpu_turned.c - lays out reduce/tree_turned: an array whose memory has its axes in another order than the tree is turned into the workspace, and goes as rows from there.
 *
 * The tree takes elements in row-major order. Where what follows in that order lies a sector of memory away or more (a matrix in Fortran's order, all of it), every row for whole axes reads
 * a sector an element, and what else is in it when the next column comes. Turned by the transpose's tiles it costs three passes over memory, but each of them near the speed of a copy. */
#include "ops/reduce/gpu_reduce.h"
#include "ops/transpose/gpu_transpose.h"

#include <string.h>

enum {
    LEAST = 256, /* elements of an output, of fewer other rows have all at once */
    FEW = 64,    /* bytes of neighbours in memory that a leaf has: of more, L1 has a sector when the next column asks for it */
    APART = 32,  /* bytes, a sector */
    LEAST_BYTES = 8 << 20,
    MOST_BYTES = 1 << 30 /* of the workspace */
};

#define TURN_HEADER(file)                                   \
    extern const char tess_kernel_transpose_##file##_cuh[]; \
    static const tess_gpu_text file = {"ops/transpose/" #file ".cuh", tess_kernel_transpose_##file##_cuh}
TURN_HEADER(gpu_plane);
TURN_HEADER(gpu_piece);
TURN_HEADER(gpu_pairs);
TURN_HEADER(gpu_turn);
TURN_HEADER(gpu_columns);
TURN_HEADER(gpu_squares);
TURN_HEADER(gpu_load);
TURN_HEADER(gpu_records);
/* Those of tree_rows and tree_leaves, then the transpose's. */
static const tess_gpu_text *const headers[] = {&tess_reduce_gpu_node_header,
                                               &tess_reduce_gpu_tree_header,
                                               &tess_reduce_gpu_leaf_header,
                                               &tess_reduce_gpu_packed_header,
                                               &tess_reduce_gpu_any_order_header,
                                               &tess_reduce_gpu_run_leaf_header,
                                               &tess_reduce_gpu_moments_header,
                                               &tess_reduce_gpu_lanes_header,
                                               &tess_reduce_gpu_complex_header,
                                               &tess_reduce_gpu_finish_header,
                                               &tess_reduce_gpu_types_header,
                                               &gpu_plane,
                                               &gpu_piece,
                                               &gpu_pairs,
                                               &gpu_turn,
                                               &gpu_columns,
                                               &gpu_squares,
                                               &gpu_load,
                                               &gpu_records,
                                               NULL};

static const reduce_problem *of(const tess_problem *problem) { return (const reduce_problem *)problem; }

static int64_t bytes_of(const reduce_problem *p) { return p->outputs * p->k * p->in.itemsize; }

/* The axes in the order of the turned array, kept ones first: their sizes, and where they lie in memory and there. Returns how many there are. */
static int axes_of(const reduce_problem *p, int64_t *shape, int64_t (*stride)[TESS_MAX_NDIM]) {
    int64_t step = p->in.itemsize;
    int n = p->kept + p->rank;
    if (n > TESS_MAX_NDIM)
        return 0;
    for (int d = 0; d < n; d++) {
        shape[d] = d < p->kept ? p->kept_size[d] : p->size[d - p->kept];
        stride[TRANSPOSE_IN][d] = d < p->kept ? p->kept_stride[0][d] : p->stride[0][d - p->kept];
    }
    for (int d = n - 1; d >= 0; d--) {
        stride[TRANSPOSE_OUT][d] = step;
        step *= shape[d];
    }
    return tess_collapse(n, shape, 2, stride);
}

/* Whether the axes fill memory without a gap, from one element on. */
static bool compact(int n, const int64_t *shape, const int64_t *stride, int64_t size) {
    for (int filled = 0; filled < n; filled++) {
        int next = 0;
        while (next < n && stride[next] != size)
            next++;
        if (next == n)
            return false;
        size *= shape[next];
    }
    return true;
}

/* The matrices that are turned: false where there are none. */
static bool matrices_of(const reduce_problem *p, transpose_gpu_matrices *m) {
    int64_t shape[TESS_MAX_NDIM], stride[2][TESS_MAX_NDIM];
    const int64_t size = p->in.itemsize;
    const int n = axes_of(p, shape, stride);
    if (n < 2 || stride[TRANSPOSE_IN][n - 1] == size || !compact(n, shape, stride[TRANSPOSE_IN], size))
        return false;
    *m = (transpose_gpu_matrices){.size = size,
                                  .place = {TESS_GPU_IN, TESS_GPU_WORKSPACE},
                                  .plane = {.q_size = shape[n - 1], .q_in = stride[TRANSPOSE_IN][n - 1], .q_out = size, .count = 1}};
    transpose_plane *plane = &m->plane;
    for (int d = 0; d < n - 1; d++) {
        if (stride[TRANSPOSE_IN][d] == size) {
            plane->p_size = shape[d];
            plane->p_in = size;
            plane->p_out = stride[TRANSPOSE_OUT][d];
            continue;
        }
        plane->shape[plane->ndim] = shape[d];
        for (int side = TRANSPOSE_IN; side <= TRANSPOSE_OUT; side++)
            plane->stride[side][plane->ndim] = stride[side][d];
        plane->count *= shape[d];
        plane->ndim++;
    }
    return true;
}

/* What is left to do: rows of the turned array. */
static void rows_of(const reduce_problem *p, reduce_problem *rows) {
    int64_t step = p->k * p->in.itemsize;
    *rows = *p;
    rows->rank = 1;
    rows->size[0] = p->k;
    rows->stride[0][0] = p->in.itemsize;
    for (int d = p->kept - 1; d >= 0; d--) {
        rows->kept_stride[0][d] = step;
        step *= p->kept_size[d];
    }
}

static const tess_strategy *row_for(const reduce_problem *rows) {
    const char *wanted = rows->kind == REDUCE_VAR || tess_is_complex(rows->in.type) ? "reduce/tree_leaves" : "reduce/tree_rows";
    const tess_strategy *row = tess_reduce_gpu_rows;
    while (strcmp(row->name, wanted) != 0)
        row++;
    return row;
}

bool tess_reduce_gpu_turned_fits(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    transpose_gpu_matrices m;
    reduce_problem rows;
    *why = "needs an array without gaps whose memory has its axes in another order, 256 elements of an output, no segments and no exact sum";
    if (p->exact || p->records || p->offsets || p->outputs < 1 || p->k < LEAST || !matrices_of(p, &m))
        return false;
    rows_of(p, &rows);
    return row_for(&rows)->applicable(&rows.base, why);
}

bool tess_reduce_gpu_turned_pays(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    transpose_gpu_matrices m;
    *why = "wants 8 MiB to 1 GiB, neighbours in the tree's order a sector apart, and leaves that have less than a line of neighbours in memory";
    const int64_t step = p->stride[0][p->rank - 1], size = p->in.itemsize;
    if (p->rank < 2 || (step < APART && step > -APART) || bytes_of(p) < LEAST_BYTES || bytes_of(p) > MOST_BYTES || !matrices_of(p, &m))
        return false;
    return REDUCE_LEAF * size * size / m.plane.p_out <= FEW;
}

static void lay_out(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const reduce_problem *p = of(problem);
    transpose_gpu_matrices m;
    transpose_gpu_records r;
    reduce_problem rows;
    if (!matrices_of(p, &m))
        return;
    const int64_t room = tess_gpu_reserve(layout, bytes_of(p));
    m.first[TRANSPOSE_OUT] = room;
    if (tess_transpose_gpu_records_for(&m, &r))
        tess_transpose_gpu_records_launch(&m, layout);
    else
        tess_transpose_gpu_launch(&m, layout);
    const int64_t alignment = layout->alignment;
    const int steps = layout->steps;
    rows_of(p, &rows);
    row_for(&rows)->gpu->lay_out(&rows.base, device, layout);
    for (int s = steps; s < layout->steps; s++)
        for (int i = 0; i < layout->step[s].arguments; i++) {
            tess_gpu_argument *argument = &layout->step[s].argument[i];
            if (argument->place == TESS_GPU_IN) {
                argument->place = TESS_GPU_WORKSPACE;
                argument->offset += room;
            }
        }
    layout->alignment = alignment;
}

/* Nothing is predicted. */
const tess_gpu_row tess_reduce_gpu_tree_turned = {.headers = headers, .production = true, .least_arch = 80, .lay_out = lay_out};
