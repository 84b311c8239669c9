/* SPDX-License-Identifier: Apache-2.0
 * gpu_turned.c - the production row of arrays whose finest axis in the input is another than in the output: one of the two stands in the workspace in the other's order, turned there by a row of the
 * transpose operation's, and the sums are made by the row of this table that takes them then. Two trips through memory, each near a copy's speed, for one in which neither side is read or
 * written along its lines. */
#include "ops/correlate/gpu_fast_mask.h"
#include "ops/correlate/gpu_parts.h"
#include "ops/transpose/gpu_transpose.h"

enum { FEW = 1 << 20 /* outputs: launches cost more than what they save */ };

typedef struct turned {
    bool first; /* the input is turned; else the output */
    tess_correlate_problem sums;
    tess_correlate_pass direct, passes[TESS_PART_PASSES];
    transpose_problem moves;
    const tess_strategy *sums_row, *moves_row;
    int64_t bytes; /* of the array in the workspace */
} turned;

static bool turn(turned *t, const tess_correlate_problem *p, bool first) {
    t->first = first;
    t->sums = *p;
    tess_array *there = first ? &t->sums.in : &t->sums.out;
    if (!tess_correlate_part_lay_like(there, first ? &p->out : &p->in, &t->bytes) || !tess_correlate_lay_again(&t->sums, &t->direct, t->passes))
        return false;
    tess_transpose_between(&t->moves, p->base.context, first ? &p->in : there, first ? there : &p->out);
    t->sums_row = tess_gpu_part_row(&t->sums.base, tess_correlate_gpu_rows, CORRELATE_GPU_ROWS, &tess_correlate_turned, NULL);
    t->moves_row = tess_gpu_part_row(&t->moves.base, tess_transpose_gpu_rows, TRANSPOSE_GPU_ROWS, NULL, NULL);
    return t->sums_row && t->moves_row;
}

static bool turn_well(turned *t, const tess_correlate_problem *p, bool first) {
    return turn(t, p, first) && !tess_correlate_part_is_slow(t->sums_row);
}

/* The smaller array is turned, and the input where they are alike: masks run along the output's rows more often. */
static bool turned_of(turned *t, const tess_problem *base, const char **why) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    *why = "takes sums that are chains, of lists of at most 4 masks, over arrays with elements";
    if (p->fft || p->passes_count > TESS_PART_PASSES || p->in.count == 0 || p->out.count == 0)
        return false;
    *why = "takes an input whose finest axis is another than the output's";
    const int in = tess_correlate_part_finest(&p->in), out = tess_correlate_part_finest(&p->out);
    if (in < 0 || out < 0 || in == out)
        return false;
    *why = "found no rows for its two halves";
    const bool first = p->in.count * p->in.itemsize <= p->out.count * p->out.itemsize;
    return turn_well(t, p, first) || turn_well(t, p, !first) || turn(t, p, first);
}

static bool takes(const tess_problem *base, bool whole, const char **why) {
    (void)whole;
    turned t;
    return turned_of(&t, base, why);
}

bool tess_correlate_turned_pays(const tess_problem *base, const char **why) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    turned t;
    if (!turned_of(&t, base, why)) /* true, because `fits` was */
        return false;
    *why = "of few elements, or slow in every order, or quicker in one trip";
    return p->out.count >= FEW && !tess_correlate_part_is_slow(t.sums_row) &&
           tess_correlate_part_costs_bytes(2 * (t.first ? p->in.itemsize : p->out.itemsize)) + tess_correlate_part_costs_sums(&t.sums) <
               tess_correlate_part_costs_brick(p);
}

static void lay_turned(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const char *why;
    turned t;
    turned_of(&t, base, &why); /* true, because `fits` was */
    const int64_t at = tess_gpu_reserve(layout, t.bytes);
    const tess_gpu_ends in = {TESS_GPU_IN, TESS_GPU_WORKSPACE, 0, at}, out = {TESS_GPU_WORKSPACE, TESS_GPU_OUT, at, 0};
    if (t.first)
        tess_gpu_lay_part(&t.moves.base, t.moves_row, device, layout, &in);
    tess_gpu_lay_part(&t.sums.base, t.sums_row, device, layout, t.first ? &out : &in);
    if (!t.first)
        tess_gpu_lay_part(&t.moves.base, t.moves_row, device, layout, &out);
}

static void predict_turned(const tess_problem *base, tess_gpu_prediction *out) {
    const tess_gpu_prediction asked = *out;
    const char *why;
    turned t;
    turned_of(&t, base, &why); /* true, because `fits` was */
    tess_correlate_part_predict(&t.sums.base, t.sums_row, true, &asked, out);
    tess_correlate_part_predict(&t.moves.base, t.moves_row, false, &asked, out);
}

ROW(turned, takes, true, .predict = predict_turned);
