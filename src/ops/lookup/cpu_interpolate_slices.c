/* SPDX-License-Identifier: Apache-2.0
 * cpu_interpolate_slices.c - interpolation of whole slices: the weights of a point are found once and used along everything behind the axis.
 *
 * Also the way for tables too large, or visited too seldom, for a prepared copy to pay. Two or four rows are converted to the compute type in pieces
 * that stay in the first-level cache, combined, and stored. */
#include "core/parallel.h"
#include "ops/lookup/lookup.h"

tess_status TESS_ISA_NAME(tess_lookup_interpolate_slices)(const tess_problem *base, const tess_run *run);

enum { PIECE = 512 };

typedef struct job {
    const lookup_problem *problem;
    const tess_run *run;
    _Atomic int64_t first_bad;
    tess_row_loader load_index, load_table;
    tess_row_storer store, store_nan;
    lookup_axes above;                /* the inner axes but the last */
    int64_t row, from_step, out_step; /* length of the last inner axis, its strides */
} job;

#define COMBINE(name, type, fused)                                                                                       \
    static void combine_##name(tess_interpolation interpolation, type(*p)[PIECE], type t, type *result, int64_t count) { \
        if (interpolation == TESS_INTERPOLATE_LINEAR) {                                                                  \
            for (int64_t i = 0; i < count; i++)                                                                          \
                result[i] = fused(t, p[2][i] - p[1][i], p[1][i]);                                                        \
        } else {                                                                                                         \
            for (int64_t i = 0; i < count; i++)                                                                          \
                result[i] = tess_cubic_##name(p[0][i], p[1][i], p[2][i], p[3][i], t);                                    \
        }                                                                                                                \
    }
COMBINE(f32, float, fmaf)
COMBINE(f64, double, fma)

/* `count` elements of one row of a slice. */
static void do_piece(const job *j, const char *table, char *out, int64_t entry, double t, int64_t count) {
    const lookup_problem *problem = j->problem;
    union {
        double f64[5][PIECE];
        float f32[5][PIECE];
    } row;
    bool wide = problem->compute == tess_f64, alone = problem->interpolation == TESS_INTERPOLATE_NEAREST || (wide ? t == 0 : (float)t == 0);
    int first = alone || problem->interpolation == TESS_INTERPOLATE_LINEAR ? 1 : 0, last = alone                                               ? 1
                                                                                           : problem->interpolation == TESS_INTERPOLATE_LINEAR ? 2
                                                                                                                                               : 3;
    for (int k = first; k <= last; k++)
        j->load_table(wide ? (void *)row.f64[k] : (void *)row.f32[k], table + tess_lookup_neighbour(problem, entry, k - 1) * problem->step,
                      j->from_step, count);
    if (!alone && wide)
        combine_f64(problem->interpolation, row.f64, t, row.f64[4], count);
    else if (!alone)
        combine_f32(problem->interpolation, row.f32, (float)t, row.f32[4], count);
    int result = alone ? 1 : 4;
    j->store(out, j->out_step, wide ? (void *)row.f64[result] : (void *)row.f32[result], count);
}

static void do_slice(const job *j, const lookup_segment *s, lookup_kind kind, int64_t entry, double t) {
    const lookup_problem *problem = j->problem;
    lookup_axes above = j->above;
    double nan = NAN;
    tess_index k;
    tess_index_start(&k, above.ndim, above.shape, 2, above.stride, 0);
    do {
        const char *table = s->table + k.offset[LOOKUP_FROM];
        char *out = s->out + k.offset[LOOKUP_OUT];
        if (kind == LOOKUP_INSIDE) {
            for (int64_t i = 0; i < j->row; i += PIECE)
                do_piece(j, table + i * j->from_step, out + i * j->out_step, entry, t, tess_min64(PIECE, j->row - i));
            continue;
        }
        for (int64_t i = 0; i < j->row; i++) /* rows of split elements are even, so the place in the row tells the part */
            if (kind == LOOKUP_NAN)
                j->store_nan(out + i * j->out_step, 0, &nan, 1);
            else
                memcpy(out + i * j->out_step, problem->fill + (problem->parts == 2 ? i % 2 * problem->size : 0), (size_t)problem->size);
    } while (tess_index_next(&k));
}

static void task(void *argument, int64_t begin, int64_t end, int worker) {
    job *j = argument;
    const lookup_problem *problem = j->problem;
    lookup_walk walk;
    lookup_segment s;
    (void)worker;
    tess_lookup_walk_start(&walk, problem, j->run, begin, end, 1);
    while (tess_lookup_walk_next(&walk, &s)) {
        double x, t;
        int64_t entry;
        j->load_index(&x, s.index, 0, 1);
        lookup_kind kind = tess_lookup_place(problem, x, &entry, &t);
        if (kind == LOOKUP_OUTSIDE && problem->outside == TESS_OUTSIDE_ERROR) {
            tess_lookup_note(&j->first_bad, s.position);
            return;
        }
        do_slice(j, &s, kind, entry, t);
    }
}

tess_status TESS_ISA_NAME(tess_lookup_interpolate_slices)(const tess_problem *base, const tess_run *run) {
    const lookup_problem *problem = (const lookup_problem *)base;
    job j = {.problem = problem, .run = run, .first_bad = INT64_MAX, .above = problem->inner, .row = 1};
    int last = problem->inner.ndim - 1;
    if (last >= 0) {
        j.row = problem->inner.shape[last];
        j.from_step = problem->inner.stride[LOOKUP_FROM][last];
        j.out_step = problem->inner.stride[LOOKUP_OUT][last];
        j.above.ndim = last;
    }
    j.load_index = tess_loader(run->slot, problem->index.type, tess_f64);
    j.load_table = tess_loader(run->slot, problem->from, problem->compute);
    j.store = tess_storer(run->slot, problem->compute, problem->to);
    j.store_nan = tess_storer(run->slot, tess_f64, problem->to);
    TESS_TRY(
        tess_parallel(run->context, run->threads, problem->outer.count * problem->at.count, tess_max64(1, 16384 / problem->inner.count), task, &j));
    int64_t bad = atomic_load(&j.first_bad);
    return bad == INT64_MAX ? TESS_OK : tess_lookup_refuse(problem, run->second, bad);
}
