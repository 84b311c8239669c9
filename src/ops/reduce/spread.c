/* SPDX-License-Identifier: Apache-2.0
 * spread.c - outputs that follow one another in memory's order of their elements, but not in out's, put together in between: channels of pixels, wanted plane by plane.
 *
 * Results that leave a vector go one by one to places that lie apart, which takes two to eight times as long as the rest; and where channels are reduced along their rows, in rows of 3 outputs nothing is quick. So the results go to a
 * buffer as they come, axes that are one in `in` taken as one, and from there to their places by a row of the transposes'. */
#include "ops/reduce/spread.h"
#include "ops/reduce/reduce.h"

enum { SHORT = 256 /* bytes of outputs side by side */, BRIEF = 8 /* elements of an output: of fewer, short rows are quicker as they are */ };

void tess_reduce_dense_outputs(const reduce_problem *p, reduce_problem *dense) {
    *dense = *p;
    for (int64_t d = p->kept - 1, step = p->out.itemsize; d >= 0; step *= p->kept_size[d--])
        dense->kept_stride[1][d] = step;
    dense->kept = tess_collapse(p->kept, dense->kept_size, 2, dense->kept_stride);
}

bool tess_reduce_joins(const reduce_problem *p, reduce_problem *joined) {
    const int last = p->kept - 1;
    const int64_t size = p->in.itemsize;
    if (p->kept < 2 || p->offsets || p->records || p->outputs == 0 || p->kept_stride[0][last] != size)
        return false;
    const int64_t row = p->kept_size[last] * size;
    const bool join = p->k >= BRIEF && row < SHORT && p->kept_stride[0][last - 1] == row;
    /* Measured for elements and results of 1 to 8 bytes, rows of 3 to 1000, 2 to 300 elements an output: worse only where results are more bytes than elements, or wider, in long rows. */
    const bool apart =
        p->k > 1 && p->kept_stride[1][last] != p->out.itemsize && p->k * size >= p->out.itemsize && (row <= SHORT || p->out.itemsize <= size);
    if (!join && !apart)
        return false;
    if (joined)
        tess_reduce_dense_outputs(p, joined);
    return true;
}

void tess_reduce_spread_moves(const reduce_problem *p, transpose_problem *moves) {
    tess_array there = p->out, out = p->out;
    there.ndim = out.ndim = p->kept;
    for (int64_t d = p->kept - 1, step = p->out.itemsize; d >= 0; step *= p->kept_size[d--]) {
        there.shape[d] = out.shape[d] = p->kept_size[d];
        there.stride[d] = step;
        out.stride[d] = p->kept_stride[1][d];
    }
    tess_transpose_between(moves, p->base.context, &there, &out);
}

/* The row of the transposes' that would be chosen for them. */
static const tess_strategy *row_of(const transpose_problem *moves, tess_isa_slot limit) {
    const tess_strategy *row = tess_transpose_op.rows;
    const char *why;
    while (tess_strategy_slot(row, limit) < 0 || !row->applicable(&moves->base, &why) || (row->sensible && !row->sensible(&moves->base, &why)))
        row++; /* the last one takes everything */
    return row;
}

static size_t whole_lines(int64_t bytes) { return ((size_t)bytes + 63) / 64 * 64; }

/* Of the row that brings results to their places. */
static size_t moves_size(const reduce_problem *p, int threads) {
    transpose_problem moves;
    tess_reduce_spread_moves(p, &moves);
    const tess_strategy *row = row_of(&moves, p->base.context->slot);
    return row->workspace ? row->workspace(&moves.base, threads) : 0;
}

size_t tess_reduce_spread_size(const reduce_problem *p, int threads) {
    return tess_reduce_joins(p, NULL) ? whole_lines(p->outputs * p->out.itemsize) + whole_lines((int64_t)moves_size(p, threads)) : 0;
}

tess_status tess_reduce_spread(const tess_problem *problem, const tess_run *run, tess_run_function row) {
    const reduce_problem *p = (const reduce_problem *)problem;
    reduce_problem joined;
    if (!tess_reduce_joins(p, &joined))
        return row(problem, run);
    tess_run own = *run;
    own.out = run->workspace;
    own.workspace = (char *)run->workspace + tess_reduce_spread_size(p, run->threads);
    TESS_TRY(row(&joined.base, &own));
    transpose_problem moves;
    tess_reduce_spread_moves(p, &moves);
    const tess_strategy *by = row_of(&moves, run->slot);
    own.in = run->workspace;
    own.out = run->out;
    own.workspace = (char *)run->workspace + whole_lines(p->outputs * p->out.itemsize);
    own.slot = (tess_isa_slot)tess_strategy_slot(by, run->slot);
    return by->run[own.slot](&moves.base, &own);
}
