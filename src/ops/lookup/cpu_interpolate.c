/* SPDX-License-Identifier: Apache-2.0
 * cpu_interpolate.c - interpolation in a line of the table that has been prepared: converted to the compute type, and laid out so that a point needs
 * one place in memory.
 *
 * LINEAR keeps pairs {y, next - y}, CUBIC {p1, c1, c2, c3}: the differences and sums are those that the formula asks for, so the bits are the same, and
 * a point is one record and one to four fmas. A vector of coordinates goes through without a branch, faulty ones as 0; a block with anything outside
 * is looked at again, point by point. */
#include "core/maker.h"
#include "core/parallel.h"
#include "ops/lookup/lookup.h"
#include "simd/collect.h"

tess_status TESS_ISA_NAME(tess_lookup_interpolate)(const tess_problem *base, const tess_run *run);
size_t TESS_ISA_NAME(tess_lookup_interpolate_workspace)(const tess_problem *base, int threads);

enum { BLOCK = 1024, PART = 256 }; /* points of a run; of the two steps within it */

typedef struct job {
    const lookup_problem *problem;
    const tess_run *run;
    _Atomic int64_t first_bad;
    tess_row_loader load_index, load_table;
    tess_row_storer store;
    int64_t each; /* bytes of a thread's prepared line */
    bool stream;  /* results are of out's type, and more than the caches hold */
} job;

typedef struct block {
    int16_t filled[BLOCK];
    int fills;
    int64_t bad;
    bool loads; /* by a load an entry, not by the processor's gather */
} block;

static int64_t prepared_bytes(const lookup_problem *problem) {
    int64_t size = problem->compute == tess_f64 ? 8 : 4, n = problem->n;
    static const int record[] = {0, 1, 2, 4};
    /* Records, and for more than the plain entries the line that they are made from, with its neighbours beyond the ends. */
    int64_t values = record[problem->interpolation] * n + (problem->interpolation == TESS_INTERPOLATE_NEAREST ? 0 : n + 3);
    return tess_ceil_div(values * size, 64) * 64;
}

size_t TESS_ISA_NAME(tess_lookup_interpolate_workspace)(const tess_problem *base, int threads) {
    return (size_t)(prepared_bytes((const lookup_problem *)base) * threads);
}

/* For type f32 and f64: prepare writes the line, points_* makes the values of whole vectors of coordinates and tells whether all were inside, and
 * values does a block of any length. `whole` is the vector of entry numbers. */
#define IN_TYPE(name, type, vector, mask, whole, LANES, fused)                                                                           \
    static void prepare_##name(const job *j, const char *table, type *line) {                                                            \
        const lookup_problem *problem = j->problem;                                                                                      \
        int64_t n = problem->n;                                                                                                          \
        if (problem->interpolation == TESS_INTERPOLATE_NEAREST) {                                                                        \
            j->load_table(line, table, problem->step, n);                                                                                \
        } else if (problem->interpolation == TESS_INTERPOLATE_LINEAR) {                                                                  \
            type *y = line + 2 * n;                                                                                                      \
            j->load_table(y, table, problem->step, n);                                                                                   \
            y[n] = y[tess_lookup_neighbour(problem, n - 1, 1)];                                                                          \
            for (int64_t k = 0; k < n; k++) {                                                                                            \
                line[2 * k] = y[k];                                                                                                      \
                line[2 * k + 1] = y[k + 1] - y[k];                                                                                       \
            }                                                                                                                            \
        } else {                                                                                                                         \
            type *y = line + 4 * n;                                                                                                      \
            j->load_table(y + 1, table, problem->step, n);                                                                               \
            y[0] = y[1 + tess_lookup_neighbour(problem, 0, -1)];                                                                         \
            y[n + 1] = y[1 + tess_lookup_neighbour(problem, n - 1, 1)];                                                                  \
            y[n + 2] = y[1 + tess_lookup_neighbour(problem, n - 1, 2)];                                                                  \
            for (int64_t k = 0; k < n; k++)                                                                                              \
                tess_cubic_entry_##name(line + 4 * k, y[k], y[k + 1], y[k + 2], y[k + 3]);                                               \
        }                                                                                                                                \
    }                                                                                                                                    \
    TESS_INLINE bool points_##name(tess_interpolation how, const bool loads, const type *x, const type *line, type limit, type *result,  \
                                   int64_t count) {                                                                                      \
        _Alignas(64) type fraction[PART];                                                                                                \
        _Alignas(64) uint32_t number[PART];                                                                                              \
        mask outside = {0};                                                                                                              \
        const vector top = v_##name##_all(limit);                                                                                        \
        for (int64_t first = 0; first < count; first += PART) {                                                                          \
            const int64_t n = tess_min64(PART, count - first);                                                                           \
            for (int64_t i = 0; i < n; i += LANES) {                                                                                     \
                tess_prefetch_l2(x + first + i + (loads ? 8192 : 2048) / sizeof(type));                                                  \
                vector at = v_##name##_load(x + first + i);                                                                              \
                const mask inside = (at >= 0) & (at <= top);                                                                             \
                outside |= ~inside;                                                                                                      \
                at = (vector)((mask)at & inside);                                                                                        \
                whole entry = __builtin_convertvector(at, whole);                                                                        \
                const vector t = at - __builtin_convertvector(entry, vector);                                                            \
                if (how == TESS_INTERPOLATE_NEAREST)                                                                                     \
                    entry -= __builtin_convertvector(t >= (type)0.5, whole);                                                             \
                else                                                                                                                     \
                    v_##name##_store(fraction + i, t);                                                                                   \
                memcpy(number + i, &entry, sizeof entry);                                                                                \
            }                                                                                                                            \
            for (int64_t i = 0; i < n; i += LANES) {                                                                                     \
                vector c[4], value;                                                                                                      \
                if (how == TESS_INTERPOLATE_NEAREST) {                                                                                   \
                    value = loads ? v_##name##_collect(line, number + i) : v_##name##_gather(line, number + i);                          \
                } else {                                                                                                                 \
                    const vector t = v_##name##_load(fraction + i);                                                                      \
                    if (how == TESS_INTERPOLATE_LINEAR) {                                                                                \
                        if (loads)                                                                                                       \
                            v_##name##_pairs_collect(c, line, number + i);                                                               \
                        else                                                                                                             \
                            v_##name##_pairs(c, line, number + i);                                                                       \
                        value = v_##name##_fma(t, c[1], c[0]);                                                                           \
                    } else {                                                                                                             \
                        v_##name##_quads(c, line, number + i);                                                                           \
                        value = v_##name##_fma(t * (type)0.5, v_##name##_fma(t, v_##name##_fma(t, c[3], c[2]), c[1]), c[0]);             \
                    }                                                                                                                    \
                    value = v_##name##_if_zero(t, c[0], value);                                                                          \
                }                                                                                                                        \
                v_##name##_store(result + first + i, v_##name##_canonical(value));                                                       \
            }                                                                                                                            \
        }                                                                                                                                \
        return !v_any(&outside);                                                                                                         \
    }                                                                                                                                    \
    TESS_NOINLINE static bool nearest_##name(const type *x, const type *line, type limit, type *result, int64_t count) {                 \
        return points_##name(TESS_INTERPOLATE_NEAREST, false, x, line, limit, result, count);                                            \
    }                                                                                                                                    \
    TESS_NOINLINE static bool linear_##name(const type *x, const type *line, type limit, type *result, int64_t count) {                  \
        return points_##name(TESS_INTERPOLATE_LINEAR, false, x, line, limit, result, count);                                             \
    }                                                                                                                                    \
    TESS_NOINLINE static bool nearest_loads_##name(const type *x, const type *line, type limit, type *result, int64_t count) {           \
        return points_##name(TESS_INTERPOLATE_NEAREST, true, x, line, limit, result, count);                                             \
    }                                                                                                                                    \
    TESS_NOINLINE static bool linear_loads_##name(const type *x, const type *line, type limit, type *result, int64_t count) {            \
        return points_##name(TESS_INTERPOLATE_LINEAR, true, x, line, limit, result, count);                                              \
    }                                                                                                                                    \
    TESS_NOINLINE static bool cubic_##name(const type *x, const type *line, type limit, type *result, int64_t count) {                   \
        return points_##name(TESS_INTERPOLATE_CUBIC, false, x, line, limit, result, count);                                              \
    }                                                                                                                                    \
    TESS_NOINLINE static bool cubic_loads_##name(const type *x, const type *line, type limit, type *result, int64_t count) {             \
        return points_##name(TESS_INTERPOLATE_CUBIC, true, x, line, limit, result, count);                                               \
    }                                                                                                                                    \
    /* A point that the vectors found fault with. */                                                                                     \
    static void settle_##name(block *b, const lookup_problem *problem, int64_t i, type x, const type *line, type *result) {              \
        int64_t entry;                                                                                                                   \
        double fraction;                                                                                                                 \
        lookup_kind kind = tess_lookup_place(problem, (double)x, &entry, &fraction);                                                     \
        type t = (type)fraction;                                                                                                         \
        if (kind == LOOKUP_NAN)                                                                                                          \
            *result = (type)NAN;                                                                                                         \
        else if (kind == LOOKUP_INSIDE)                                                                                                  \
            *result = problem->interpolation == TESS_INTERPOLATE_NEAREST ? line[entry]                                                   \
                      : problem->interpolation == TESS_INTERPOLATE_CUBIC ? tess_cubic_at_##name(line + 4 * entry, t)                     \
                      : t == 0                                           ? line[2 * entry]                                               \
                                                                         : fused(t, line[2 * entry + 1], line[2 * entry]);                                                         \
        else if (problem->outside == TESS_OUTSIDE_ERROR)                                                                                 \
            b->bad = b->bad < 0 ? i : b->bad;                                                                                            \
        else                                                                                                                             \
            b->filled[b->fills++] = (int16_t)i;                                                                                          \
    }                                                                                                                                    \
    static void values_##name(block *b, const lookup_problem *problem, const type *x, const type *line, type *result, int64_t count) {   \
        static bool (*const each[2][4])(const type *, const type *, type, type *, int64_t) = {                                           \
            {NULL, nearest_##name, linear_##name, cubic_##name}, {NULL, nearest_loads_##name, linear_loads_##name, cubic_loads_##name}}; \
        bool (*const *points)(const type *, const type *, type, type *, int64_t) = each[b->loads];                                       \
        type limit = (type)(problem->n - 1), tail[LANES] = {0};                                                                          \
        if ((int64_t)limit > problem->n - 1) /* f32 rounded up */                                                                        \
            limit = (type)nextafterf((float)limit, 0);                                                                                   \
        int64_t vectors = count / LANES * LANES;                                                                                         \
        bool inside = points[problem->interpolation](x, line, limit, result, vectors);                                                   \
        b->fills = 0;                                                                                                                    \
        b->bad = -1;                                                                                                                     \
        if (count > vectors) { /* result has room for a whole vector */                                                                  \
            memcpy(tail, x + vectors, (size_t)(count - vectors) * sizeof(type));                                                         \
            inside &= points[problem->interpolation](tail, line, limit, result + vectors, LANES);                                        \
        }                                                                                                                                \
        for (int64_t i = 0; !inside && i < count; i++)                                                                                   \
            if (!(x[i] >= 0 && x[i] <= limit))                                                                                           \
                settle_##name(b, problem, i, x[i], line, result + i);                                                                    \
    }

IN_TYPE(f32, float, v_f32, v_i32, v_i32, TESS_F32_LANES, fmaf)
IN_TYPE(f64, double, v_f64, v_i64, h_i32, TESS_F64_LANES, fma)

/* Items are lines (outer x inner) times points; a thread prepares a line when it comes to it. */
static void task(void *argument, int64_t begin, int64_t end, int worker) {
    job *j = argument;
    const lookup_problem *problem = j->problem;
    void *line = (char *)j->run->workspace + worker * j->each;
    bool wide = problem->compute == tess_f64;
    _Alignas(64) double x[BLOCK], result[BLOCK]; /* of the compute type: floats use the first half */
    const int64_t size = wide ? 8 : 4;
    block b = {.loads = TESS_COLLECTS && !tess_cpu_gathers()};
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
            const void *coordinates = s.index;
            if (problem->index.type != problem->compute || walk.in_step != size || (uintptr_t)s.index % (uintptr_t)size != 0) {
                j->load_index(x, s.index, walk.in_step, s.count);
                coordinates = x;
            }
            if (wide)
                values_f64(&b, problem, coordinates, line, result, s.count);
            else
                values_f32(&b, problem, coordinates, line, (float *)result, s.count);
            if (b.bad >= 0) {
                tess_lookup_note(&j->first_bad, s.position + b.bad);
                return;
            }
            char *out = s.out + at.offset[LOOKUP_OUT];
            if (j->stream && walk.out_step == size)
                tess_stream_copy(out, (const char *)result, s.count * size);
            else
                j->store(out, walk.out_step, result, s.count);
            for (int f = 0; f < b.fills; f++)
                memcpy(out + b.filled[f] * walk.out_step, fill, (size_t)problem->size);
        }
        item += last - first;
    }
    tess_stream_fence();
}

tess_status TESS_ISA_NAME(tess_lookup_interpolate)(const tess_problem *base, const tess_run *run) {
    const lookup_problem *problem = (const lookup_problem *)base;
    job j = {.problem = problem, .run = run, .first_bad = INT64_MAX, .each = prepared_bytes(problem)};
    j.load_index = tess_loader(run->slot, problem->index.type, problem->compute);
    j.load_table = tess_loader(run->slot, problem->from, problem->compute);
    j.store = tess_storer(run->slot, problem->compute, problem->to);
    j.stream = problem->to == problem->compute && problem->base.elements * (double)problem->size > 8 << 20;
    int64_t points = problem->at.count, grain = tess_max64(16 * BLOCK, 4 * problem->n); /* preparing costs little beside the points of a piece */
    TESS_TRY(tess_parallel(run->context, run->threads, problem->outer.count * problem->inner.count * points, grain, task, &j));
    int64_t bad = atomic_load(&j.first_bad);
    return bad == INT64_MAX ? TESS_OK : tess_lookup_refuse(problem, run->second, bad);
}
