/* SPDX-License-Identifier: Apache-2.0
 * gather.c - copying stretches of rows, run by run of the boundary. */
#include "ops/correlate/gather.h"

#include <string.h>

void tess_correlate_source_of(tess_correlate_source *s, const tess_correlate_problem *problem, const tess_correlate_pass *pass, tess_isa_slot slot) {
    const tess_correlate_axis *row = &pass->axis[pass->row];
    s->load = tess_loader(slot, pass->from, problem->work);
    s->boundary = problem->boundary;
    s->constant = problem->work_constant;
    s->width = (int)tess_type_size(problem->work);
    s->n = row->n;
    s->group = pass->group;
    s->stride = pass->group > 1 ? (int64_t)tess_type_size(pass->from) : row->in_stride;
    s->in_place = pass->from == problem->work && (s->stride == s->width || s->n * s->group == 1);
}

static void fill(const tess_correlate_source *s, char *to, int64_t count) {
    if (s->width == 1) {
        memset(to, (int)s->constant.u64, (size_t)count);
    } else if (s->width == 2) {
        for (int64_t i = 0; i < count; i++)
            memcpy(to + 2 * i, &s->constant, 2);
    } else if (s->width == 4) {
        for (int64_t i = 0; i < count; i++)
            memcpy(to + 4 * i, &s->constant, 4);
    } else if (s->width == 8) {
        for (int64_t i = 0; i < count; i++)
            memcpy(to + 8 * i, &s->constant, 8);
    } else {
        for (int64_t i = 0; i < count; i++)
            memcpy(to + 16 * i, &s->constant, 16);
    }
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

void tess_correlate_gather(const tess_correlate_source *s, void *to, const char *row, int64_t first, int64_t count) {
    char *at = to;
    if (!row) {
        fill(s, at, count);
        return;
    }
    while (count > 0) {
        int64_t q = s->group == 1 ? first : floor_div(first, s->group), r = first - q * s->group, length;
        tess_boundary_run run = tess_boundary_run_at(s->boundary, s->n, q);
        bool whole = s->group == 1 || run.step == 1 || run.at < 0; /* else one group at a time: it keeps its order when the row is reversed */
        if (!whole)
            run.length = 1;
        if (TESS_MUL_OVERFLOWS(run.length, s->group, &length))
            length = INT64_MAX;
        length = tess_min64(length - r, count);
        if (run.at < 0)
            fill(s, at, length);
        else
            s->load(at, row + (run.at * s->group + r) * s->stride, s->group == 1 ? run.step * s->stride : s->stride, length);
        at += length * s->width;
        first += length;
        count -= length;
    }
}

void tess_correlate_outer_of(tess_correlate_outer *outer, const tess_correlate_pass *pass, int y, int z) {
    outer->ndim = 0;
    outer->rows = 1;
    for (int d = 0; d < pass->ndim; d++) {
        if (d == pass->row || d == y || d == z)
            continue;
        outer->axis[outer->ndim] = d;
        outer->m[outer->ndim] = pass->axis[d].m;
        outer->out_stride[0][outer->ndim++] = pass->axis[d].out_stride;
        outer->rows *= pass->axis[d].m;
    }
}

size_t tess_correlate_rows_scratch(const tess_correlate_problem *problem, const tess_correlate_pass *pass, int threads) {
    (void)pass;
    return (size_t)threads * (TESS_CORRELATE_STRETCH + TESS_CORRELATE_STRETCH + TESS_CORRELATE_LINE) * tess_type_size(problem->work);
}
