/* SPDX-License-Identifier: Apache-2.0
 * reference.c - the dumb truth: element after element, one thread. */
#include "ops/lookup/lookup.h"

tess_status tess_lookup_reference(const tess_problem *base, const tess_run *run);

static lookup_kind place(const lookup_problem *problem, double x, int64_t *entry, double *t) {
    return problem->positions ? tess_lookup_place_among(problem, x, entry, t) : tess_lookup_place(problem, x, entry, t);
}

/* One interpolated element; x points along the axis of the table at `table`. */
static void interpolate(const lookup_problem *problem, const char *table, int64_t entry, double t, char *out) {
    tess_row_loader load = tess_loader(TESS_SLOT_BASELINE, problem->from, problem->compute);
    tess_row_storer store = tess_storer(TESS_SLOT_BASELINE, problem->compute, problem->to);
    double p[4], result;
    float q[4], result32;
    for (int k = 0; k < 4; k++) {
        int by = problem->interpolation == TESS_INTERPOLATE_NEAREST ? 0 : k - 1;
        const char *from = table + tess_lookup_neighbour(problem, entry, by) * problem->step;
        load(problem->compute == tess_f64 ? (void *)&p[k] : (void *)&q[k], from, 0, 1);
    }
    if (problem->compute == tess_f64) {
        result = problem->interpolation == TESS_INTERPOLATE_NEAREST  ? p[1]
                 : problem->interpolation == TESS_INTERPOLATE_LINEAR ? tess_linear_f64(p[1], p[2], t)
                                                                     : tess_cubic_f64(p[0], p[1], p[2], p[3], t);
        store(out, problem->size, &result, 1);
    } else {
        result32 = problem->interpolation == TESS_INTERPOLATE_NEAREST  ? q[1]
                   : problem->interpolation == TESS_INTERPOLATE_LINEAR ? tess_linear_f32(q[1], q[2], (float)t)
                                                                       : tess_cubic_f32(q[0], q[1], q[2], q[3], (float)t);
        store(out, problem->size, &result32, 1);
    }
}

tess_status tess_lookup_reference(const tess_problem *base, const tess_run *run) {
    const lookup_problem *problem = (const lookup_problem *)base;
    bool real = problem->interpolation != TESS_INTERPOLATE_NONE;
    lookup_walk walk;
    lookup_segment s;
    double x, t = 0, nan = NAN;
    int64_t entry;
    if (problem->at.count == 0)
        return TESS_OK;
    tess_row_loader coordinate = tess_loader(TESS_SLOT_BASELINE, problem->index.type, tess_f64);
    if (problem->outside == TESS_OUTSIDE_ERROR) { /* also when there is nothing to write */
        tess_index at;
        lookup_axes *axes = (lookup_axes *)(uintptr_t)&problem->at; /* only read */
        tess_index_start(&at, axes->ndim, axes->shape, 2, axes->stride, 0);
        for (int64_t position = 0; position < axes->count; position++, tess_index_next(&at)) {
            const char *index = run->second + at.offset[LOOKUP_FROM];
            if (real)
                coordinate(&x, index, 0, 1);
            if (real ? place(problem, x, &entry, &t) == LOOKUP_OUTSIDE : !tess_lookup_entry(problem, index, &entry))
                return tess_lookup_refuse(problem, run->second, position);
        }
    }
    if (problem->out.count == 0)
        return TESS_OK;
    tess_lookup_walk_start(&walk, problem, run, 0, problem->outer.count * problem->at.count, 1);
    while (tess_lookup_walk_next(&walk, &s)) {
        lookup_kind kind = LOOKUP_INSIDE;
        if (real) {
            coordinate(&x, s.index, 0, 1);
            kind = place(problem, x, &entry, &t);
        } else if (!tess_lookup_entry(problem, s.index, &entry)) {
            kind = LOOKUP_OUTSIDE;
        }
        lookup_axes inner = problem->inner;
        tess_index k;
        tess_index_start(&k, inner.ndim, inner.shape, 2, inner.stride, 0);
        for (int64_t number = 0; number < inner.count; number++, tess_index_next(&k)) {
            char *out = s.out + k.offset[LOOKUP_OUT];
            const char *table = s.table + k.offset[LOOKUP_FROM];
            if (kind == LOOKUP_OUTSIDE)
                memcpy(out, problem->fill + (problem->parts == 2 ? number % 2 * problem->size : 0), (size_t)problem->size);
            else if (kind == LOOKUP_NAN)
                tess_storer(TESS_SLOT_BASELINE, tess_f64, problem->to)(out, problem->size, &nan, 1);
            else if (real)
                interpolate(problem, table, entry, t, out);
            else
                memcpy(out, table + entry * problem->step, (size_t)problem->size);
        }
    }
    return TESS_OK;
}
