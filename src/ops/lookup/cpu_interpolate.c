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

/* The ways to the values of one interpolation, each a function of its own. */
#define KIND(name, type, way, how, loads, stream)                                                                      \
    TESS_NOINLINE static bool way##_##name(const type *x, const type *line, type limit, type *result, int64_t count) { \
        return points_##name(TESS_INTERPOLATE_##how, loads, stream, x, line, limit, result, count);                    \
    }
#define KINDS(name, type, way, how)                  \
    KIND(name, type, way, how, false, false)         \
    KIND(name, type, way##_stream, how, false, true) \
    KIND(name, type, way##_loads, how, true, false)  \
    KIND(name, type, way##_loads_stream, how, true, true)

/* For type f32 and f64: prepare writes the line, points_* makes the values of whole vectors of coordinates and tells whether all were inside, and
 * values does a block of any length. `whole` is the vector of entry numbers. */
#define IN_TYPE(name, type, vector, mask, whole, LANES, fused)                                                                                      \
    static void prepare_##name(const job *j, const char *table, type *line) {                                                                       \
        const lookup_problem *problem = j->problem;                                                                                                 \
        int64_t n = problem->n;                                                                                                                     \
        if (problem->interpolation == TESS_INTERPOLATE_NEAREST) {                                                                                   \
            j->load_table(line, table, problem->step, n);                                                                                           \
        } else if (problem->interpolation == TESS_INTERPOLATE_LINEAR) {                                                                             \
            type *y = line + 2 * n;                                                                                                                 \
            j->load_table(y, table, problem->step, n);                                                                                              \
            y[n] = y[tess_lookup_neighbour(problem, n - 1, 1)];                                                                                     \
            for (int64_t k = 0; k < n; k++) {                                                                                                       \
                line[2 * k] = y[k];                                                                                                                 \
                line[2 * k + 1] = y[k + 1] - y[k];                                                                                                  \
            }                                                                                                                                       \
        } else {                                                                                                                                    \
            type *y = line + 4 * n;                                                                                                                 \
            j->load_table(y + 1, table, problem->step, n);                                                                                          \
            y[0] = y[1 + tess_lookup_neighbour(problem, 0, -1)];                                                                                    \
            y[n + 1] = y[1 + tess_lookup_neighbour(problem, n - 1, 1)];                                                                             \
            y[n + 2] = y[1 + tess_lookup_neighbour(problem, n - 1, 2)];                                                                             \
            for (int64_t k = 0; k < n; k++)                                                                                                         \
                tess_cubic_entry_##name(line + 4 * k, y[k], y[k + 1], y[k + 2], y[k + 3]);                                                          \
        }                                                                                                                                           \
    }                                                                                                                                               \
    TESS_INLINE bool points_##name(tess_interpolation how, const bool loads, const bool stream, const type *x, const type *line, type limit,        \
                                   type *result, int64_t count) {                                                                                   \
        _Alignas(64) uint32_t number[PART];                                                                                                         \
        mask outside = {0};                                                                                                                         \
        const vector top = v_##name##_all(limit);                                                                                                   \
        for (int64_t first = 0; first < count; first += PART) {                                                                                     \
            const int64_t n = tess_min64(PART, count - first);                                                                                      \
            for (int64_t i = 0; i < n; i += LANES) {                                                                                                \
                vector at = v_##name##_load(x + first + i);                                                                                         \
                const mask inside = (at >= 0) & (at <= top);                                                                                        \
                outside |= ~inside;                                                                                                                 \
                at = (vector)((mask)at & inside);                                                                                                   \
                whole entry = __builtin_convertvector(at, whole);                                                                                   \
                if (how == TESS_INTERPOLATE_NEAREST)                                                                                                \
                    entry -= __builtin_convertvector(at - __builtin_convertvector(entry, vector) >= (type)0.5, whole);                              \
                memcpy(number + i, &entry, sizeof entry);                                                                                           \
            }                                                                                                                                       \
            for (int64_t i = 0; i < n; i += LANES) {                                                                                                \
                vector c[4], value;                                                                                                                 \
                tess_prefetch_l2(x + first + i + (loads ? 8192 : 2048) / sizeof(type));                                                             \
                if (how == TESS_INTERPOLATE_NEAREST) {                                                                                              \
                    value = loads ? v_##name##_collect(line, number + i) : v_##name##_gather(line, number + i);                                     \
                } else {                                                                                                                            \
                    whole entry;                                                                                                                    \
                    memcpy(&entry, number + i, sizeof entry);                                                                                       \
                    const vector t = v_##name##_load(x + first + i) - __builtin_convertvector(entry, vector);                                       \
                    if (how == TESS_INTERPOLATE_LINEAR) {                                                                                           \
                        if (loads)                                                                                                                  \
                            v_##name##_pairs_collect(c, line, number + i);                                                                          \
                        else                                                                                                                        \
                            v_##name##_pairs(c, line, number + i);                                                                                  \
                        value = v_##name##_fma(t, c[1], c[0]);                                                                                      \
                    } else {                                                                                                                        \
                        v_##name##_quads(c, line, number + i);                                                                                      \
                        value = v_##name##_fma(t * (type)0.5, v_##name##_fma(t, v_##name##_fma(t, c[3], c[2]), c[1]), c[0]);                        \
                    }                                                                                                                               \
                    value = v_##name##_if_zero(t, c[0], value);                                                                                     \
                }                                                                                                                                   \
                if (stream)                                                                                                                         \
                    v_##name##_stream(result + first + i, v_##name##_canonical(value));                                                             \
                else                                                                                                                                \
                    v_##name##_store(result + first + i, v_##name##_canonical(value));                                                              \
            }                                                                                                                                       \
        }                                                                                                                                           \
        return !v_any(&outside);                                                                                                                    \
    }                                                                                                                                               \
    KINDS(name, type, nearest, NEAREST)                                                                                                             \
    KINDS(name, type, linear, LINEAR)                                                                                                               \
    KINDS(name, type, cubic, CUBIC)                                                                                                                 \
    /* A point that the vectors found fault with. */                                                                                                \
    static void settle_##name(block *b, const lookup_problem *problem, int64_t i, type x, const type *line, type *result) {                         \
        int64_t entry;                                                                                                                              \
        double fraction;                                                                                                                            \
        lookup_kind kind = tess_lookup_place(problem, (double)x, &entry, &fraction);                                                                \
        type t = (type)fraction;                                                                                                                    \
        if (kind == LOOKUP_NAN)                                                                                                                     \
            *result = (type)NAN;                                                                                                                    \
        else if (kind == LOOKUP_INSIDE)                                                                                                             \
            *result = problem->interpolation == TESS_INTERPOLATE_NEAREST ? line[entry]                                                              \
                      : problem->interpolation == TESS_INTERPOLATE_CUBIC ? tess_cubic_at_##name(line + 4 * entry, t)                                \
                      : t == 0                                           ? line[2 * entry]                                                          \
                                                                         : fused(t, line[2 * entry + 1], line[2 * entry]);                                                                    \
        else if (problem->outside == TESS_OUTSIDE_ERROR)                                                                                            \
            b->bad = b->bad < 0 ? i : b->bad;                                                                                                       \
        else                                                                                                                                        \
            b->filled[b->fills++] = (int16_t)i;                                                                                                     \
        if (*result != *result) /* as the vectors do */                                                                                             \
            *result = (type)NAN;                                                                                                                    \
    }                                                                                                                                               \
    /* stream: result is aligned to vectors, and what fills them goes past the caches. */                                                           \
    static void values_##name(block *b, const lookup_problem *problem, const type *x, const type *line, type *result, int64_t count, bool stream) { \
        static points_of_##name *const each[2][2][4] = {                                                                                            \
            {{NULL, nearest_##name, linear_##name, cubic_##name}, {NULL, nearest_stream_##name, linear_stream_##name, cubic_stream_##name}},        \
            {{NULL, nearest_loads_##name, linear_loads_##name, cubic_loads_##name},                                                                 \
             {NULL, nearest_loads_stream_##name, linear_loads_stream_##name, cubic_loads_stream_##name}}};                                          \
        type limit = (type)(problem->n - 1), tail[LANES] = {0}, values[LANES];                                                                      \
        if ((int64_t)limit > problem->n - 1) /* f32 rounded up */                                                                                   \
            limit = (type)nextafterf((float)limit, 0);                                                                                              \
        int64_t vectors = count / LANES * LANES;                                                                                                    \
        bool inside = each[b->loads][stream][problem->interpolation](x, line, limit, result, vectors);                                              \
        b->fills = 0;                                                                                                                               \
        b->bad = -1;                                                                                                                                \
        if (count > vectors) {                                                                                                                      \
            memcpy(tail, x + vectors, (size_t)(count - vectors) * sizeof(type));                                                                    \
            inside &= each[b->loads][0][problem->interpolation](tail, line, limit, values, LANES);                                                  \
            memcpy(result + vectors, values, (size_t)(count - vectors) * sizeof(type));                                                             \
        }                                                                                                                                           \
        for (int64_t i = 0; !inside && i < count; i++)                                                                                              \
            if (!(x[i] >= 0 && x[i] <= limit))                                                                                                      \
                settle_##name(b, problem, i, x[i], line, result + i);                                                                               \
    }

typedef bool points_of_f32(const float *, const float *, float, float *, int64_t);
typedef bool points_of_f64(const double *, const double *, double, double *, int64_t);
IN_TYPE(f32, float, v_f32, v_i32, v_i32, TESS_F32_LANES, fmaf)
IN_TYPE(f64, double, v_f64, v_i64, h_i32, TESS_F64_LANES, fma)

/* Points of one segment, at most BLOCK, from a prepared line; false when one is an error. */
static bool piece(job *j, const void *line, const lookup_segment *s, int64_t in_step, int64_t out_step, const unsigned char *fill) {
    const lookup_problem *problem = j->problem;
    const bool wide = problem->compute == tess_f64;
    const int64_t size = wide ? 8 : 4;
    _Alignas(64) double x[BLOCK], made[BLOCK]; /* of the compute type: floats use the first half */
    block b = {.loads = TESS_COLLECTS && !tess_cpu_gathers()};
    const void *coordinates = s->index;
    if (problem->index.type != problem->compute || in_step != size || (uintptr_t)s->index % (uintptr_t)size != 0) {
        j->load_index(x, s->index, in_step, s->count);
        coordinates = x;
    }
    /* Straight to out, unless its elements are of another type or have gaps between them. */
    const bool straight = problem->to == problem->compute && out_step == size && (uintptr_t)s->out % (uintptr_t)size == 0;
    const bool stream = straight && j->stream && (uintptr_t)s->out % 64 == 0;
    void *result = straight ? (void *)s->out : made;
    if (wide)
        values_f64(&b, problem, coordinates, line, result, s->count, stream);
    else
        values_f32(&b, problem, coordinates, line, result, s->count, stream);
    if (b.bad >= 0) {
        tess_lookup_note(&j->first_bad, s->position + b.bad);
        return false;
    }
    if (!straight)
        j->store(s->out, out_step, made, s->count);
    for (int f = 0; f < b.fills; f++)
        memcpy(s->out + b.filled[f] * out_step, fill, (size_t)problem->size);
    return true;
}

/* Items are lines (outer x inner) times points; a thread prepares a line when it comes to it. */
static void task(void *argument, int64_t begin, int64_t end, int worker) {
    job *j = argument;
    const lookup_problem *problem = j->problem;
    void *line = (char *)j->run->workspace + worker * j->each;
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
        tess_lookup_walk_start(&walk, problem, j->run, o * points + first, o * points + last, INT64_MAX);
        while (tess_lookup_walk_next(&walk, &s)) {
            if (!prepared) {
                const char *table = s.table + at.offset[LOOKUP_FROM];
                if (problem->compute == tess_f64)
                    prepare_f64(j, table, line);
                else
                    prepare_f32(j, table, line);
                prepared = true;
            }
            s.out += at.offset[LOOKUP_OUT];
            /* What comes before the first whole line of out is a piece of its own, so that the others may go past the caches. */
            int64_t left = s.count, head = j->stream ? (-(int64_t)((uintptr_t)s.out) & 63) / problem->size : 0;
            for (s.count = head > 0 ? tess_min64(head, left) : tess_min64(BLOCK, left); left > 0; s.count = tess_min64(BLOCK, left)) {
                if (!piece(j, line, &s, walk.in_step, walk.out_step, fill))
                    return;
                s.index += s.count * walk.in_step;
                s.out += s.count * walk.out_step;
                s.position += s.count;
                left -= s.count;
            }
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
    j.stream = problem->to == problem->compute && problem->base.elements * (double)problem->size > 8 << 20;
    int64_t points = problem->at.count, grain = tess_max64(16 * BLOCK, 4 * problem->n); /* preparing costs little beside the points of a piece */
    TESS_TRY(tess_parallel(run->context, run->threads, problem->outer.count * problem->inner.count * points, grain, task, &j));
    int64_t bad = atomic_load(&j.first_bad);
    return bad == INT64_MAX ? TESS_OK : tess_lookup_refuse(problem, run->second, bad);
}
