/* SPDX-License-Identifier: Apache-2.0
 * cpu_interpolate.c - interpolation in a line of the table that has been prepared: converted to the compute type, and laid out so that a point needs
 * one place in memory.
 *
 * LINEAR keeps pairs {y, next - y}, so a point is one load of two values and one fma; the difference is the one the formula asks for, so the bits are
 * the same. CUBIC keeps the entries with those that stand in beyond the ends, four neighbours in a row. Points go in blocks through two steps that
 * pass their results in the first-level cache: coordinates become entry numbers and fractions (vectorised, one test a block for anything outside),
 * then values are fetched and combined. */
#include "core/parallel.h"
#include "ops/lookup/lookup.h"

tess_status TESS_ISA_NAME(tess_lookup_interpolate)(const tess_problem *base, const tess_run *run);
size_t TESS_ISA_NAME(tess_lookup_interpolate_workspace)(const tess_problem *base, int threads);

enum { BLOCK = 1024 };

typedef struct job {
    const lookup_problem *problem;
    const tess_run *run;
    _Atomic int64_t first_bad;
    tess_row_loader load_index, load_table;
    tess_row_storer store;
    int64_t each; /* bytes of a thread's prepared line */
} job;

typedef struct block {
    int32_t entry[BLOCK];
    int16_t filled[BLOCK], nan[BLOCK];
    int fills, nans;
    int64_t bad;
} block;

static int64_t prepared_bytes(const lookup_problem *problem) {
    int64_t size = problem->compute == tess_f64 ? 8 : 4;
    int64_t bytes =
        (problem->interpolation == TESS_INTERPOLATE_LINEAR ? 3 * problem->n + 1 : problem->n + 3) * size; /* pairs, and the entries they come from */
    return tess_ceil_div(bytes, 64) * 64;
}

size_t TESS_ISA_NAME(tess_lookup_interpolate_workspace)(const tess_problem *base, int threads) {
    return (size_t)(prepared_bytes((const lookup_problem *)base) * threads);
}

/* The points that the vectorised test found fault with, one by one. */
static void settle(block *b, const lookup_problem *problem, int64_t i, double x, double *t) {
    int64_t entry;
    lookup_kind kind = tess_lookup_place(problem, x, &entry, t);
    b->entry[i] = (int32_t)entry;
    if (kind == LOOKUP_NAN)
        b->nan[b->nans++] = (int16_t)i;
    else if (kind == LOOKUP_OUTSIDE && problem->outside == TESS_OUTSIDE_ERROR)
        b->bad = b->bad < 0 ? i : b->bad;
    else if (kind == LOOKUP_OUTSIDE)
        b->filled[b->fills++] = (int16_t)i;
}

/* For type f32 and f64: prepare writes the line, place turns coordinates into entries and fractions, combine makes the values. */
#define IN_TYPE(name, type, FMA_OF)                                                                                                              \
    static void prepare_##name(const job *j, const char *table, type *line) {                                                                    \
        const lookup_problem *problem = j->problem;                                                                                              \
        int64_t n = problem->n;                                                                                                                  \
        bool wrap = problem->outside == TESS_OUTSIDE_WRAP;                                                                                       \
        if (problem->interpolation == TESS_INTERPOLATE_NEAREST) {                                                                                \
            j->load_table(line, table, problem->step, n);                                                                                        \
        } else if (problem->interpolation == TESS_INTERPOLATE_LINEAR) {                                                                          \
            type *y = line + 2 * n;                                                                                                              \
            j->load_table(y, table, problem->step, n);                                                                                           \
            y[n] = wrap ? y[0] : y[n - 1];                                                                                                       \
            for (int64_t k = 0; k < n; k++) {                                                                                                    \
                line[2 * k] = y[k];                                                                                                              \
                line[2 * k + 1] = y[k + 1] - y[k];                                                                                               \
            }                                                                                                                                    \
        } else {                                                                                                                                 \
            j->load_table(line + 1, table, problem->step, n);                                                                                    \
            line[0] = line[1 + tess_lookup_neighbour(problem, 0, -1)];                                                                           \
            line[n + 1] = line[1 + tess_lookup_neighbour(problem, n - 1, 1)];                                                                    \
            line[n + 2] = line[1 + tess_lookup_neighbour(problem, n - 1, 2)];                                                                    \
        }                                                                                                                                        \
    }                                                                                                                                            \
    static void place_##name(block *b, const lookup_problem *problem, const type *x, type *t, int64_t count) {                                   \
        type limit = (type)(problem->n - 1);                                                                                                     \
        if ((int64_t)limit > problem->n - 1) /* f32 rounded up */                                                                                \
            limit = nextafterf((float)limit, 0);                                                                                                 \
        int outside = 0;                                                                                                                         \
        bool nearest = problem->interpolation == TESS_INTERPOLATE_NEAREST;                                                                       \
        for (int64_t i = 0; i < count; i++) {                                                                                                    \
            bool inside = x[i] >= 0 && x[i] <= limit;                                                                                            \
            type safe = inside ? x[i] : 0;                                                                                                       \
            b->entry[i] = (int32_t)safe;                                                                                                         \
            t[i] = safe - (type)b->entry[i];                                                                                                     \
            outside |= !inside;                                                                                                                  \
        }                                                                                                                                        \
        for (int64_t i = 0; nearest && i < count; i++)                                                                                           \
            b->entry[i] += t[i] >= (type)0.5;                                                                                                    \
        b->fills = b->nans = 0;                                                                                                                  \
        b->bad = -1;                                                                                                                             \
        for (int64_t i = 0; outside && i < count; i++)                                                                                           \
            if (!(x[i] >= 0 && x[i] <= limit)) {                                                                                                 \
                double fraction;                                                                                                                 \
                settle(b, problem, i, x[i], &fraction);                                                                                          \
                t[i] = (type)fraction;                                                                                                           \
            }                                                                                                                                    \
    }                                                                                                                                            \
    static void combine_##name(const block *b, tess_interpolation interpolation, const type *line, const type *t, type *result, int64_t count) { \
        if (interpolation == TESS_INTERPOLATE_NEAREST) {                                                                                         \
            for (int64_t i = 0; i < count; i++)                                                                                                  \
                result[i] = line[b->entry[i]];                                                                                                   \
        } else if (interpolation == TESS_INTERPOLATE_LINEAR) {                                                                                   \
            type pair[2 * BLOCK];                                                                                                                \
            for (int64_t i = 0; i < count; i++)                                                                                                  \
                memcpy(pair + 2 * i, line + 2 * (int64_t)b->entry[i], 2 * sizeof(type));                                                         \
            for (int64_t i = 0; i < count; i++) {                                                                                                \
                type value = FMA_OF(t[i], pair[2 * i + 1], pair[2 * i]);                                                                         \
                result[i] = t[i] == 0 ? pair[2 * i] : value;                                                                                     \
            }                                                                                                                                    \
        } else {                                                                                                                                 \
            for (int64_t i = 0; i < count; i++) {                                                                                                \
                const type *p = line + b->entry[i];                                                                                              \
                result[i] = tess_cubic_##name(p[0], p[1], p[2], p[3], t[i]);                                                                     \
            }                                                                                                                                    \
        }                                                                                                                                        \
        for (int k = 0; k < b->nans; k++)                                                                                                        \
            result[b->nan[k]] = (type)NAN;                                                                                                       \
    }

IN_TYPE(f32, float, fmaf)
IN_TYPE(f64, double, fma)

/* Items are lines (outer x inner) times points; a thread prepares a line when it comes to it. */
static void task(void *argument, int64_t begin, int64_t end, int worker) {
    job *j = argument;
    const lookup_problem *problem = j->problem;
    void *line = (char *)j->run->workspace + worker * j->each;
    bool wide = problem->compute == tess_f64;
    _Alignas(64) double x[BLOCK], t[BLOCK], result[BLOCK]; /* of the compute type: floats use the first half */
    block b;
    lookup_axes inner = problem->inner;
    for (int64_t item = begin; item < end;) {
        /* Item number: ((outer, inner), point), so a line's points are together. */
        int64_t points = problem->at.count, number = item / points, first = item % points, last = tess_min64(points, first + end - item);
        int64_t o = number / inner.count, k = number % inner.count;
        tess_index at;
        tess_index_start(&at, inner.ndim, inner.shape, 2, inner.stride, k);
        const unsigned char *fill = problem->fill + (problem->parts == 2 ? k % 2 * problem->size : 0);
        lookup_walk walk;
        lookup_segment s;
        bool prepared = false;
        tess_lookup_walk_start(&walk, problem, j->run, o * points + first, o * points + last, BLOCK);
        while (tess_lookup_walk_next(&walk, &s)) {
            if (!prepared) {
                const char *table = s.table + at.offset[LOOKUP_FROM];
                if (wide)
                    prepare_f64(j, table, line);
                else
                    prepare_f32(j, table, line);
                prepared = true;
            }
            j->load_index(x, s.index, walk.in_step, s.count);
            if (wide)
                place_f64(&b, problem, x, t, s.count);
            else
                place_f32(&b, problem, (const float *)x, (float *)t, s.count);
            if (b.bad >= 0) {
                tess_lookup_note(&j->first_bad, s.position + b.bad);
                return;
            }
            if (wide)
                combine_f64(&b, problem->interpolation, line, t, result, s.count);
            else
                combine_f32(&b, problem->interpolation, line, (const float *)t, (float *)result, s.count);
            char *out = s.out + at.offset[LOOKUP_OUT];
            j->store(out, walk.out_step, result, s.count);
            for (int f = 0; f < b.fills; f++)
                memcpy(out + b.filled[f] * walk.out_step, fill, (size_t)problem->size);
        }
        item += last - first;
    }
}

tess_status TESS_ISA_NAME(tess_lookup_interpolate)(const tess_problem *base, const tess_run *run) {
    const lookup_problem *problem = (const lookup_problem *)base;
    job j = {.problem = problem, .run = run, .first_bad = INT64_MAX, .each = prepared_bytes(problem)};
    j.load_index = tess_loader(run->slot, problem->index.type, problem->compute);
    j.load_table = tess_loader(run->slot, problem->from, problem->compute);
    j.store = tess_storer(run->slot, problem->compute, problem->to);
    int64_t points = problem->at.count, grain = tess_max64(16 * BLOCK, 4 * problem->n); /* preparing costs little beside the points of a piece */
    TESS_TRY(tess_parallel(run->context, run->threads, problem->outer.count * problem->inner.count * points, grain, task, &j));
    int64_t bad = atomic_load(&j.first_bad);
    return bad == INT64_MAX ? TESS_OK : tess_lookup_refuse(problem, run->second, bad);
}
