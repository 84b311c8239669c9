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

/* How results get to their places: by the first row of the transposes' that takes them and is wise, and the workspace's first bytes, for the results and for that row. */
typedef struct spread {
    transpose_problem moves;
    const tess_strategy *row;
    size_t results, room;
} spread;

static void spread_of(spread *s, const reduce_problem *p, int threads) {
    const tess_problem *moves = &s->moves.base;
    const char *why;
    tess_reduce_spread_moves(p, &s->moves);
    s->row = tess_transpose_op.rows; /* the last one takes everything */
    while (tess_strategy_slot(s->row, p->base.context->slot) < 0 || !s->row->applicable(moves, &why) ||
           (s->row->sensible && !s->row->sensible(moves, &why)))
        s->row++;
    s->results = ((size_t)(p->outputs * p->out.itemsize) + 63) / 64 * 64;
    s->room = s->row->workspace ? (s->row->workspace(moves, threads) + 63) / 64 * 64 : 0;
}

size_t tess_reduce_spread_size(const reduce_problem *p, int threads) {
    spread s;
    if (!tess_reduce_joins(p, NULL))
        return 0;
    spread_of(&s, p, threads);
    return s.results + s.room;
}

tess_status tess_reduce_spread(const tess_problem *problem, const tess_run *run, tess_run_function row) {
    const reduce_problem *p = (const reduce_problem *)problem;
    reduce_problem joined;
    spread s;
    if (!tess_reduce_joins(p, &joined))
        return row(problem, run);
    spread_of(&s, p, run->threads);
    char *const room = (char *)run->workspace + s.results;
    tess_run own = *run;
    own.out = run->workspace;
    own.workspace = room + s.room;
    TESS_TRY(row(&joined.base, &own));
    own.in = run->workspace;
    own.out = run->out;
    own.workspace = room;
    own.slot = (tess_isa_slot)tess_strategy_slot(s.row, run->slot);
    return s.row->run[own.slot](&s.moves.base, &own);
}
