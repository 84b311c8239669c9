/* SPDX-License-Identifier: Apache-2.0
 * gpu_turned.c - lays out reduce/tree_turned: an array whose memory has its axes in another order than the tree is turned into the workspace, and goes as rows from there.
 *
 * The tree takes elements in row-major order. Where what follows in that order lies a sector of memory away or more (a matrix in Fortran's order, all of it), every row for whole axes reads
 * a sector an element, and what else is in it when the next column comes. Turned by the transpose's rows it costs three passes over memory, but each of them near the speed of a copy. */
#include "gpu/parts.h"
#include "ops/reduce/gpu_reduce.h"
#include "ops/transpose/gpu_transpose.h"

enum {
    LEAST = 256, /* elements of an output, of fewer other rows have all at once */
    FEW = 128,   /* bytes of neighbours in memory that a leaf has: of more, L1 has a sector when the next column asks for it */
    APART = 32,  /* bytes, a sector */
    LEAST_BYTES = 8 << 20,
    MOST_BYTES = 1 << 30 /* of the workspace */
};

typedef struct turned {
    transpose_problem moves;
    reduce_problem rows; /* what is left to do then */
    const tess_strategy *moves_row, *rows_row;
    int64_t bytes, neighbours; /* of the array; between neighbours in memory, in the order of the tree */
} turned;

static const reduce_problem *of(const tess_problem *problem) { return (const reduce_problem *)problem; }

/* The axes in the order of the turned array, kept ones first. False: they do not step, or no two elements are neighbours. */
static bool turned_of(turned *t, const reduce_problem *p) {
    const int n = p->kept + p->rank;
    tess_array in = p->in, there = p->in;
    if (n > TESS_MAX_NDIM)
        return false;
    t->neighbours = 0;
    in.ndim = there.ndim = n;
    t->bytes = p->in.itemsize;
    for (int d = n - 1; d >= 0; d--) {
        const int64_t size = d < p->kept ? p->kept_size[d] : p->size[d - p->kept];
        in.shape[d] = there.shape[d] = size;
        in.stride[d] = d < p->kept ? p->kept_stride[0][d] : p->stride[0][d - p->kept];
        there.stride[d] = t->bytes;
        t->neighbours = in.stride[d] == p->in.itemsize ? t->bytes : t->neighbours;
        t->bytes *= size;
        if (in.stride[d] == 0)
            return false;
    }
    t->rows = *p;
    t->rows.rank = 1;
    t->rows.size[0] = p->k;
    t->rows.stride[0][0] = p->in.itemsize;
    for (int d = 0; d < p->kept; d++)
        t->rows.kept_stride[0][d] = there.stride[d];
    tess_transpose_between(&t->moves, p->base.context, &in, &there);
    return t->neighbours > 0;
}

static bool find_rows(turned *t) {
    t->moves_row = tess_gpu_part_row(&t->moves.base, tess_transpose_gpu_rows, TRANSPOSE_GPU_ROWS, NULL, NULL);
    t->rows_row = tess_gpu_part_row(&t->rows.base, tess_reduce_gpu_rows, REDUCE_GPU_ROWS, &tess_reduce_gpu_tree_turned, &tess_reduce_gpu_tree_spread);
    return t->moves_row && t->rows_row;
}

bool tess_reduce_gpu_turned_fits(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    turned t;
    *why = "needs 256 elements of an output, some of which are neighbours in memory, no segments and no exact sum";
    return !p->exact && !p->records && !p->offsets && p->outputs >= 1 && p->k >= LEAST && turned_of(&t, p) && find_rows(&t);
}

bool tess_reduce_gpu_turned_pays(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    turned t;
    *why = "wants 8 MiB to 1 GiB, neighbours in the tree's order a sector apart, and leaves that have less than a line of neighbours in memory";
    const int64_t step = p->stride[0][p->rank - 1], size = p->in.itemsize;
    if (p->rank < 2 || (step < APART && step > -APART) || !turned_of(&t, p) || t.bytes < LEAST_BYTES || t.bytes > MOST_BYTES)
        return false;
    return REDUCE_LEAF * size * size / t.neighbours <= FEW;
}

static void lay_out(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout) {
    turned t;
    if (!turned_of(&t, of(problem)) || !find_rows(&t))
        return;
    const int64_t at = tess_gpu_reserve(layout, t.bytes);
    tess_gpu_lay_part(&t.moves.base, t.moves_row, device, layout, &(tess_gpu_ends){TESS_GPU_IN, TESS_GPU_WORKSPACE, 0, at});
    tess_gpu_lay_part(&t.rows.base, t.rows_row, device, layout, &(tess_gpu_ends){TESS_GPU_WORKSPACE, TESS_GPU_OUT, at, 0});
}

/* Nothing is predicted. */
const tess_gpu_row tess_reduce_gpu_tree_turned = {.production = true, .least_arch = 80, .lay_out = lay_out};
