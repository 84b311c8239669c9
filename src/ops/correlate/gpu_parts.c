/* SPDX-License-Identifier: Apache-2.0
 * gpu_parts.c - what rows share that have their launches from other rows: arrays between parts, their counts, and what they may cost. */
#include "ops/correlate/gpu_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/correlate/gpu_brick.h"

enum { WHOLE = 16 /* bytes of a vector */ };

/* ---- arrays between parts ---- */

int tess_correlate_part_finest(const tess_array *array) {
    int finest = -1;
    for (int d = 0; d < array->ndim; d++) {
        if (array->shape[d] < 2)
            continue;
        if (array->stride[d] == 0)
            return -1;
        finest = finest < 0 || llabs(array->stride[d]) < llabs(array->stride[finest]) ? d : finest;
    }
    return finest;
}

/* Whether all rows begin at multiples of WHOLE bytes of the first's. */
static bool has_whole_rows(const tess_array *array, int row) {
    for (int d = 0; d < array->ndim; d++)
        if (d != row && array->shape[d] > 1 && array->stride[d] % WHOLE)
            return false;
    return true;
}

bool tess_correlate_part_lay_like(tess_array *array, const tess_array *like, int64_t *bytes) {
    const int row = tess_correlate_part_finest(like);
    const bool whole = has_whole_rows(like, row);
    int64_t step = array->itemsize;
    int order[TESS_MAX_NDIM];
    tess_array_walk_order(order, like->ndim, like->stride);
    for (int k = like->ndim; k >= 0; k--) {
        const int d = k == like->ndim ? row : order[k];
        if (k < like->ndim && d == row)
            continue;
        array->stride[d] = step;
        if (TESS_MUL_OVERFLOWS(step, array->shape[d], &step) || step > INT64_MAX / 2)
            return false;
        step = d == row && whole ? tess_ceil_div(step, WHOLE) * WHOLE : step;
    }
    *bytes = step;
    return true;
}

/* ---- rows ---- */

bool tess_correlate_part_is_slow(const tess_strategy *row) {
    static const char *const slow[] = {"correlate/brick", "correlate/brick_odd", "correlate/wide", "correlate/general"};
    for (int i = 0; i < TESS_COUNT(slow); i++)
        if (strcmp(row->name, slow[i]) == 0)
            return true;
    return false;
}

/* ---- counts ---- */

void tess_correlate_part_predict(const tess_problem *part, const tess_strategy *row, bool first, const tess_gpu_prediction *asked,
                                 tess_gpu_prediction *out) {
    tess_gpu_prediction one = *asked;
    if (row->gpu->predict)
        row->gpu->predict(part, &one);
    if (first)
        *out = one;
    else
        tess_correlate_add_prediction(out, &one);
}

/* ---- estimates ---- */

/* As measured on an H200: a copy's speed with what is lost at ends, sums by the rows for whole lines, and by `brick`, whose elements come one by one. */
static const double BYTES = 3.4, LEAST = 0.8, TAP = 0.045, BRICK = 2.0, BRICK_OTHER = 2.5, BRICK_VECTORS = 1.2, BRICK_TAP = 0.04;

double tess_correlate_part_costs_bytes(int64_t bytes) { return (double)bytes / BYTES; }

double tess_correlate_part_costs_sums(const tess_correlate_problem *p) {
    double taps = 0;
    int count;
    const tess_correlate_pass *pass = tess_correlate_gpu_passes(p, &count);
    for (int k = 0; k < count; k++)
        taps += (double)pass[k].taps;
    return fmax(tess_correlate_part_costs_bytes(p->in.itemsize + p->out.itemsize), fmax(LEAST, TAP * taps));
}

/* What a brick brings beside its own outputs' elements, and beyond an axis's end, costs as much as the rest. */
double tess_correlate_part_costs_brick(const tess_correlate_problem *p) {
    double sum = 0;
    int count;
    const tess_correlate_pass *pass = tess_correlate_gpu_passes(p, &count);
    for (int k = 0; k < count; k++) {
        tess_correlate_brick_shape b;
        const char *why;
        if (!tess_correlate_brick_of(&b, p, &pass[k], true, &why))
            return 1e9;
        double each = !b.turned ? BRICK_VECTORS : p->in.type == tess_f32 ? BRICK : BRICK_OTHER;
        for (int i = 0; i < 3; i++) {
            const tess_correlate_axis *a = &b.axis[i];
            each *= (double)(a->m <= b.tile[i] ? a->m + a->width - 1 : tess_ceil_div(a->m, b.tile[i]) * b.length[i]) / (double)a->m;
        }
        sum += fmax(each, (double)(tess_type_size(pass[k].from) + tess_type_size(pass[k].to)) / BYTES) + BRICK_TAP * (double)pass[k].taps;
    }
    return sum;
}

double tess_correlate_part_costs(const tess_correlate_problem *p, const tess_strategy *row) {
    return tess_correlate_part_is_slow(row) ? tess_correlate_part_costs_brick(p) : tess_correlate_part_costs_sums(p);
}
