/* SPDX-License-Identifier: Apache-2.0
 * gpu_spread.c - lays out reduce/tree_spread: outputs that memory has in another order of axes than out, as the channels of pixels wanted as planes. A row of this table makes them in memory's order,
 * in the workspace, and a row of the transposes' brings them to their places. */
#include "gpu/parts.h"
#include "ops/reduce/gpu_reduce.h"
#include "ops/reduce/spread.h"
#include "ops/transpose/gpu_transpose.h"

enum {
    NARROW = 128,          /* bytes of outputs side by side that no row reads well */
    WIDE = 8,              /* outputs side by side, of which fewer share sectors with the next ones */
    BRIEF = 256,           /* bytes of an output's elements: of fewer, results that are put down a sector apart take as long */
    LEAST_BYTES = 4 << 20, /* of fewer, a launch costs more */
    MOST_BYTES = 1 << 30   /* of the workspace */
};

typedef struct spread {
    reduce_problem sums;
    transpose_problem moves;
    const tess_strategy *sums_row, *moves_row;
    int64_t bytes; /* of the results */
} spread;

static const reduce_problem *of(const tess_problem *problem) { return (const reduce_problem *)problem; }

static bool spread_of(spread *s, const reduce_problem *p) {
    tess_reduce_dense_outputs(p, &s->sums);
    s->bytes = p->outputs * p->out.itemsize;
    tess_reduce_spread_moves(p, &s->moves);
    s->sums_row = tess_gpu_part_row(&s->sums.base, tess_reduce_gpu_rows, REDUCE_GPU_ROWS, &tess_reduce_gpu_tree_spread, NULL);
    s->moves_row = tess_gpu_part_row(&s->moves.base, tess_transpose_gpu_rows, TRANSPOSE_GPU_ROWS, NULL, NULL);
    return s->sums_row && s->moves_row;
}

bool tess_reduce_gpu_spread_fits(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    spread s;
    *why = "needs two axes that are not reduced and lie otherwise in out than in memory, and no segments";
    if (p->kept < 2 || p->offsets || p->records || p->outputs < 1 || p->k < 1)
        return false;
    *why = "found no rows for its two halves";
    return spread_of(&s, p);
}

bool tess_reduce_gpu_spread_pays(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    const int last = p->kept - 1;
    const int64_t size = p->in.itemsize;
    reduce_problem sums;
    *why = "wants 4 MiB and more, at most 1 GiB of results, and outputs that are a row in memory's order, or of few elements";
    if (p->outputs * p->k * size < LEAST_BYTES || p->outputs * p->out.itemsize > MOST_BYTES || p->kept_stride[0][last] != size ||
        p->kept_stride[1][last] == p->out.itemsize)
        return false;
    tess_reduce_dense_outputs(p, &sums);
    return (p->kept_size[last] * size < NARROW && sums.kept < p->kept && p->k >= 8) || (p->kept_size[last] >= WIDE && p->k * size <= BRIEF);
}

static void lay_out(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout) {
    spread s;
    if (!spread_of(&s, of(problem)))
        return;
    const int64_t at = tess_gpu_reserve(layout, s.bytes);
    tess_gpu_lay_part(&s.sums.base, s.sums_row, device, layout, &(tess_gpu_ends){TESS_GPU_IN, TESS_GPU_WORKSPACE, 0, at});
    tess_gpu_lay_part(&s.moves.base, s.moves_row, device, layout, &(tess_gpu_ends){TESS_GPU_WORKSPACE, TESS_GPU_OUT, at, 0});
}

/* Nothing is predicted. */
const tess_gpu_row tess_reduce_gpu_tree_spread = {.production = true, .least_arch = 80, .lay_out = lay_out};
