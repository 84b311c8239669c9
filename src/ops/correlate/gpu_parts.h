/* SPDX-License-Identifier: Apache-2.0
 * gpu_parts.h - rows whose launches are other rows': a correlation in parts, each laid out, counted and estimated by the row that takes it. */
#ifndef TESS_OPS_CORRELATE_GPU_PARTS_H
#define TESS_OPS_CORRELATE_GPU_PARTS_H

#include "gpu/parts.h"
#include "ops/correlate/gpu_fast.h"

enum { TESS_PART_PASSES = 4 /* of a list, at most */ };

/* The axis whose elements lie nearest together, of those with more than one; -1: none, or one whose elements share their place. */
int tess_correlate_part_finest(const tess_array *array);
/* `array`, of the same axes as `like`, with its axes in the order in which that has them in memory, without gaps, but between rows where those of `like` are whole vectors. False: too large. */
bool tess_correlate_part_lay_like(tess_array *array, const tess_array *like, int64_t *bytes);

/* Rows that take any order and any steps, element by element: another order or fewer masks gain nothing by them. */
bool tess_correlate_part_is_slow(const tess_strategy *row);

/* Adds what the part counts; `first`: nothing has been counted yet. */
void tess_correlate_part_predict(const tess_problem *part, const tess_strategy *row, bool first, const tess_gpu_prediction *asked,
                                 tess_gpu_prediction *out);

/* Picoseconds an output on an H200, as estimated: of moving bytes; of sums by a row for whole lines; by `brick`, 1e9 where that does not take them. */
double tess_correlate_part_costs_bytes(int64_t bytes);
double tess_correlate_part_costs_sums(const tess_correlate_problem *p);
double tess_correlate_part_costs_brick(const tess_correlate_problem *p);
/* The part's by its row. */
double tess_correlate_part_costs(const tess_correlate_problem *p, const tess_strategy *row);

#endif
