/* SPDX-License-Identifier: Apache-2.0
 * spread.h - what the tables of rows ask of spread.c. */
#ifndef TESS_OPS_REDUCE_SPREAD_H
#define TESS_OPS_REDUCE_SPREAD_H

#include "ops/reduce/reduce.h"
#include "ops/transpose/transpose.h"

/* The problem whose results lie one after the other, in memory's order of their elements. */
void tess_reduce_dense_outputs(const reduce_problem *p, reduce_problem *dense);
/* Whether short rows of outputs make long ones in memory's order; *joined (not NULL): the problem of these, whose results lie one after the other. */
bool tess_reduce_joins(const reduce_problem *p, reduce_problem *joined);
/* How results that lie one after the other get to their places in out. Fills `moves`. */
void tess_reduce_spread_moves(const reduce_problem *p, transpose_problem *moves);
/* Bytes that the joined problem's results take and what brings them to their places, 0 if there is none. */
size_t tess_reduce_spread_size(const reduce_problem *p, int threads);
/* The row, of the joined problem if there is one; the workspace begins with so many bytes. */
tess_status tess_reduce_spread(const tess_problem *problem, const tess_run *run, tess_run_function row);

#endif
