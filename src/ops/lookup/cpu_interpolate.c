/* SPDX-License-Identifier: Apache-2.0
 * cpu_interpolate.c - interpolation in a line of the table that has been prepared: converted to the compute type, and laid out so that a point needs
 * one place in memory.
 *
 * LINEAR keeps pairs {y, next - y}, CUBIC {p1, c1, c2, c3}: the differences and sums are those that the formula asks for, so the bits are the same, and
 * a point is one record and one to four fmas. Vectors of coordinates go through without a branch: an entry's number never leaves the table, and when a
 * block had anything outside it is looked at again - clamped as a whole for CLIP, else point by point. */
#include "core/maker.h"
#include "core/parallel.h"
#include "ops/lookup/lookup.h"
#include "simd/collect.h"
#include "simd/points.h"

tess_status TESS_ISA_NAME(tess_lookup_interpolate)(const tess_problem *base, const tess_run *run);
size_t TESS_ISA_NAME(tess_lookup_interpolate_workspace)(const tess_problem *base, int threads);

enum { BLOCK = 1024, LEAD = 128 }; /* points of a run; how far the numbers of entries are ahead of their use */
/* The ways of points: tess_interpolation, and LINEAR in a line whose numbers are all plain. */
enum { PLAIN_LINEAR = TESS_INTERPOLATE_CUBIC + 1, WAYS };

typedef struct job {
    const lookup_problem *problem;
    const tess_run *run;
    _Atomic int64_t first_bad;
    tess_row_loader load_index, load_table;
    tess_row_storer store;
    int64_t each; /* bytes of a thread's prepared line, what it is before it */
    bool stream;  /* results are of out's type, and more than the caches hold */
} job;

/* What a thread's part of the workspace holds; its line begins behind it. Kept from piece to piece: pieces are short beside a line of some thousands. */
typedef struct prepared {
    _Alignas(64) int64_t number; /* of the line, -1 at first */
    bool plain;                  /* it has no infinity, no NaN, and no -0 among its entries */
} prepared;

typedef struct block {
    int16_t filled[BLOCK];
    int fills;
    int64_t bad;
    bool loads; /* by a load an entry, not by the processor's gather */
    bool plain; /* as the prepared line */
    bool clamp; /* CLIP, and a block had something outside: the next ones are clamped before */
} block;

static int64_t prepared_bytes(const lookup_problem *problem) {
    int64_t size = problem->compute == tess_f64 ? 8 : 4, n = problem->n;
    static const int record[] = {0, 1, 2, 4};
    /* Records, and for more than the plain entries the line that they are made from, with its neighbours beyond the ends. */
    int64_t values = record[problem->interpolation] * n + (problem->interpolation == TESS_INTERPOLATE_NEAREST ? 0 : n + 3);
    return (int64_t)sizeof(prepared) + tess_ceil_div(values * size, 64) * 64;
}

size_t TESS_ISA_NAME(tess_lookup_interpolate_workspace)(const tess_problem *base, int threads) {
    return (size_t)(prepared_bytes((const lookup_problem *)base) * threads);
}

/* The ways to the values of one interpolation, each a function of its own. */
#define KIND(name, type, way, how, loads, stream)                                                                      \
    TESS_NOINLINE static bool way##_##name(const type *x, const type *line, type limit, type *result, int64_t count) { \
        return points_##name(how, loads, stream, x, line, limit, result, count);                                       \
    }
#define KINDS(name, type, way, how)                  \
    KIND(name, type, way, how, false, false)         \
    KIND(name, type, way##_stream, how, false, true) \
    KIND(name, type, way##_loads, how, true, false)  \
    KIND(name, type, way##_loads_stream, how, true, true)
#define KINDS_OF(name, ways) \
    { NULL, nearest##ways##_##name, linear##ways##_##name, cubic##ways##_##name, plain_linear##ways##_##name }

/* For type f32 and f64: prepare writes the line and tells whether it is plain, points_* makes the values of whole vectors of coordinates and tells
 * whether all were inside, and values does a block of any length. `whole` is the vector of entry numbers, `bits` that of a coordinate's bits.
 *
 * Numbers are in memory for some time before they are read there (simd/gather.h). In a plain line 0 times a difference is 0, and the sum of that and an
 * entry the entry, so that entries need not be chosen where the fraction is 0; and no NaN can come. */
#define UNSIGNED_INFINITY(type) (sizeof(type) == 8 ? 0x7ff0000000000000 : 0x7f800000) /* the bits */
#define IN_TYPE(name, type, unsigned_type, vector, bits, whole, up_to, greater, LANES, fused)                                                       \
    static bool plain_##name(const type *y, int64_t n) {                                                                                            \
        const unsigned_type sign = (unsigned_type)1 << (8 * sizeof(type) - 1), infinity = UNSIGNED_INFINITY(type);                                  \
        unsigned_type greatest_bits = 0, minus_zero = 0;                                                                                            \
        for (int64_t k = 0; k < n; k++) {                                                                                                           \
            const type difference = y[k + 1] - y[k]; /* finite: so are both entries */                                                              \
            unsigned_type entry, bits_of;                                                                                                           \
            memcpy(&entry, y + k, sizeof entry);                                                                                                    \
            memcpy(&bits_of, &difference, sizeof bits_of);                                                                                          \
            bits_of &= ~sign;                                                                                                                       \
            greatest_bits = greatest_bits > bits_of ? greatest_bits : bits_of;                                                                      \
            minus_zero |= entry == sign;                                                                                                            \
        }                                                                                                                                           \
        return greatest_bits < infinity && !minus_zero;                                                                                             \
    }                                                                                                                                               \
    static bool prepare_##name(const job *j, const char *table, type *line) {                                                                       \
        const lookup_problem *problem = j->problem;                                                                                                 \
        int64_t n = problem->n;                                                                                                                     \
        bool plain = true;                                                                                                                          \
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
            plain = plain_##name(y, n);                                                                                                             \
        } else {                                                                                                                                    \
            type *y = line + 4 * n;                                                                                                                 \
            j->load_table(y + 1, table, problem->step, n);                                                                                          \
            y[0] = y[1 + tess_lookup_neighbour(problem, 0, -1)];                                                                                    \
            y[n + 1] = y[1 + tess_lookup_neighbour(problem, n - 1, 1)];                                                                             \
            y[n + 2] = y[1 + tess_lookup_neighbour(problem, n - 1, 2)];                                                                             \
            for (int64_t k = 0; k < n; k++)                                                                                                         \
                tess_cubic_entry_##name(line + 4 * k, y[k], y[k + 1], y[k + 2], y[k + 3]);                                                          \
        }                                                                                                                                           \
        return plain;                                                                                                                               \
    }                                                                                                                                               \
    TESS_INLINE void number_##name(const int how, vector at, whole last, uint32_t *number) {                                                        \
        whole entry = v_##name##_whole(at);                                                                                                         \
        if (how == TESS_INTERPOLATE_NEAREST)                                                                                                        \
            entry -= __builtin_convertvector(v_##name##_fraction(at) >= (type)0.5, whole);                                                          \
        entry = up_to(entry, last);                                                                                                                 \
        memcpy(number, &entry, sizeof entry);                                                                                                       \
    }                                                                                                                                               \
    TESS_INLINE bool points_##name(const int how, const bool loads, const bool stream, const type *x, const type *line, type limit, type *result,   \
                                   int64_t count) {                                                                                                 \
        _Alignas(64) uint32_t ring[2 * LEAD];                                                                                                       \
        const whole last = (whole){0} + (int32_t)limit;                                                                                             \
        bits seen = {0};                                                                                                                            \
        for (int64_t i = 0; i < LEAD && i < count; i += LANES) {                                                                                    \
            const vector at = v_##name##_keep(v_##name##_load(x + i));                                                                              \
            seen = greater(seen, (bits)at);                                                                                                         \
            number_##name(how, at, last, ring + i);                                                                                                 \
        }                                                                                                                                           \
        for (int64_t i = 0; i < count; i += LANES) {                                                                                                \
            const uint32_t *number = ring + (i & (2 * LEAD - 1));                                                                                   \
            vector c[4], value;                                                                                                                     \
            tess_prefetch_l2(x + i + (loads ? 8192 : 2048) / sizeof(type));                                                                         \
            if (i + LEAD < count) {                                                                                                                 \
                const vector at = v_##name##_keep(v_##name##_load(x + i + LEAD));                                                                   \
                seen = greater(seen, (bits)at);                                                                                                     \
                number_##name(how, at, last, ring + ((i + LEAD) & (2 * LEAD - 1)));                                                                 \
            }                                                                                                                                       \
            if (how == TESS_INTERPOLATE_NEAREST) {                                                                                                  \
                value = loads ? v_##name##_collect(line, number) : v_##name##_gather(line, number);                                                 \
            } else {                                                                                                                                \
                const vector t = v_##name##_fraction(v_##name##_load(x + i));                                                                       \
                if (how == TESS_INTERPOLATE_CUBIC) {                                                                                                \
                    v_##name##_quads(c, line, number);                                                                                              \
                    value = v_##name##_fma(t * (type)0.5, v_##name##_fma(t, v_##name##_fma(t, c[3], c[2]), c[1]), c[0]);                            \
                } else {                                                                                                                            \
                    if (loads)                                                                                                                      \
                        v_##name##_pairs_collect(c, line, number);                                                                                  \
                    else                                                                                                                            \
                        v_##name##_pairs(c, line, number);                                                                                          \
                    value = v_##name##_fma(t, c[1], c[0]);                                                                                          \
                }                                                                                                                                   \
                if (how != PLAIN_LINEAR)                                                                                                            \
                    value = v_##name##_if_zero(t, c[0], value);                                                                                     \
            }                                                                                                                                       \
            if (how != PLAIN_LINEAR)                                                                                                                \
                value = v_##name##_canonical(value);                                                                                                \
            if (stream)                                                                                                                             \
                v_##name##_stream(result + i, value);                                                                                               \
            else                                                                                                                                    \
                v_##name##_store(result + i, value);                                                                                                \
        }                                                                                                                                           \
        seen = (bits)(seen > (bits)v_##name##_all(limit));                                                                                          \
        return !v_any(&seen); /* -0 counts as outside here, and is found inside afterwards */                                                       \
    }                                                                                                                                               \
    KINDS(name, type, nearest, TESS_INTERPOLATE_NEAREST)                                                                                            \
    KINDS(name, type, linear, TESS_INTERPOLATE_LINEAR)                                                                                              \
    KINDS(name, type, cubic, TESS_INTERPOLATE_CUBIC)                                                                                                \
    KINDS(name, type, plain_linear, PLAIN_LINEAR)                                                                                                   \
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
    static bool vectors_##name(const block *b, int how, const type *x, const type *line, type limit, type *result, int64_t count, bool stream) {    \
        static points_of_##name *const each[2][2][WAYS] = {{KINDS_OF(name, ), KINDS_OF(name, _stream)},                                             \
                                                           {KINDS_OF(name, _loads), KINDS_OF(name, _loads_stream)}};                                \
        const int64_t vectors = count / LANES * LANES;                                                                                              \
        bool inside = each[b->loads][stream][how](x, line, limit, result, vectors);                                                                 \
        if (count > vectors) {                                                                                                                      \
            type tail[LANES] = {0}, values[LANES];                                                                                                  \
            memcpy(tail, x + vectors, (size_t)(count - vectors) * sizeof(type));                                                                    \
            inside &= each[b->loads][0][how](tail, line, limit, values, LANES);                                                                     \
            memcpy(result + vectors, values, (size_t)(count - vectors) * sizeof(type));                                                             \
        }                                                                                                                                           \
        return inside;                                                                                                                              \
    }                                                                                                                                               \
    static void values_##name(block *b, const lookup_problem *problem, const type *x, const type *line, type *result, int64_t count, bool stream) { \
        const int how = b->plain && problem->interpolation == TESS_INTERPOLATE_LINEAR ? (int)PLAIN_LINEAR : (int)problem->interpolation;            \
        type limit = (type)(problem->n - 1), clamped[BLOCK];                                                                                        \
        if ((int64_t)limit > problem->n - 1) /* f32 rounded up */                                                                                   \
            limit = (type)nextafterf((float)limit, 0);                                                                                              \
        b->fills = 0;                                                                                                                               \
        b->bad = -1;                                                                                                                                \
        if (!b->clamp && vectors_##name(b, how, x, line, limit, result, count, stream))                                                             \
            return;                                                                                                                                 \
        b->clamp = b->clamp || (problem->outside == TESS_OUTSIDE_CLIP && (int64_t)limit == problem->n - 1);                                         \
        if (b->clamp) {                                                                                                                             \
            for (int64_t i = 0; i < count; i++) {                                                                                                   \
                const type from = x[i] > 0 ? x[i] : 0; /* a NaN too */                                                                              \
                clamped[i] = from < limit ? from : limit;                                                                                           \
            }                                                                                                                                       \
            vectors_##name(b, how, clamped, line, limit, result, count, stream);                                                                    \
            return;                                                                                                                                 \
        }                                                                                                                                           \
        for (int64_t first = 0; first < count; first += 64) {                                                                                       \
            const int64_t end = tess_min64(count, first + 64);                                                                                      \
            unsigned outside = 0;                                                                                                                   \
            for (int64_t i = first; i < end; i++)                                                                                                   \
                outside |= !(x[i] >= 0 && x[i] <= limit);                                                                                           \
            for (int64_t i = first; outside && i < end; i++)                                                                                        \
                if (!(x[i] >= 0 && x[i] <= limit))                                                                                                  \
                    settle_##name(b, problem, i, x[i], line, result + i);                                                                           \
        }                                                                                                                                           \
    }

typedef bool points_of_f32(const float *, const float *, float, float *, int64_t);
typedef bool points_of_f64(const double *, const double *, double, double *, int64_t);
IN_TYPE(f32, float, uint32_t, v_f32, v_u32, v_i32, v_i32_up_to, v_u32_greater, TESS_F32_LANES, fmaf)
IN_TYPE(f64, double, uint64_t, v_f64, v_u64, h_i32, h_i32_up_to, v_u64_greater, TESS_F64_LANES, fma)

/* Points of one segment, at most BLOCK, from a prepared line; false when one is an error. */
static bool piece(job *j, block *b, const void *line, const lookup_segment *s, int64_t in_step, int64_t out_step, const unsigned char *fill) {
    const lookup_problem *problem = j->problem;
    const bool wide = problem->compute == tess_f64;
    const int64_t size = wide ? 8 : 4;
    _Alignas(64) double x[BLOCK], made[BLOCK]; /* of the compute type: floats use the first half */
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
        values_f64(b, problem, coordinates, line, result, s->count, stream);
    else
        values_f32(b, problem, coordinates, line, result, s->count, stream);
    if (b->bad >= 0) {
        tess_lookup_note(&j->first_bad, s->position + b->bad);
        return false;
    }
    if (!straight)
        j->store(s->out, out_step, made, s->count);
    for (int f = 0; f < b->fills; f++)
        memcpy(s->out + b->filled[f] * out_step, fill, (size_t)problem->size);
    return true;
}

/* Items are lines (outer x inner) times points; a thread prepares a line when it comes to it. */
static void task(void *argument, int64_t begin, int64_t end, int worker) {
    job *j = argument;
    const lookup_problem *problem = j->problem;
    prepared *held = (prepared *)(void *)((char *)j->run->workspace + worker * j->each);
    void *line = held + 1;
    lookup_axes inner = problem->inner;
    const bool wide = problem->compute == tess_f64;
    for (int64_t item = begin; item < end;) {
        /* Item number: ((outer, inner), point), so a line's points are together. */
        int64_t points = problem->at.count, number = item / points, first = item % points, last = tess_min64(points, first + end - item);
        int64_t o = number / inner.count, k = number % inner.count;
        tess_index at;
        tess_index_start(&at, inner.ndim, inner.shape, 2, inner.stride, k);
        const unsigned char *fill = problem->fill + (problem->parts == 2 ? k % 2 * problem->size : 0);
        lookup_walk walk;
        lookup_segment s;
        block b = {.loads = TESS_COLLECTS && !tess_cpu_gathers()};
        tess_lookup_walk_start(&walk, problem, j->run, o * points + first, o * points + last, INT64_MAX);
        while (tess_lookup_walk_next(&walk, &s)) {
            if (held->number != number) {
                const char *table = s.table + at.offset[LOOKUP_FROM];
                held->plain = wide ? prepare_f64(j, table, line) : prepare_f32(j, table, line);
                held->number = number;
            }
            b.plain = held->plain;
            s.out += at.offset[LOOKUP_OUT];
            /* What comes before the first whole line of out is a piece of its own, so that the others may go past the caches. */
            int64_t left = s.count, head = j->stream ? (-(int64_t)((uintptr_t)s.out) & 63) / problem->size : 0;
            for (s.count = head > 0 ? tess_min64(head, left) : tess_min64(BLOCK, left); left > 0; s.count = tess_min64(BLOCK, left)) {
                if (!piece(j, &b, line, &s, walk.in_step, walk.out_step, fill))
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
    for (int worker = 0; worker < run->threads; worker++)
        ((prepared *)(void *)((char *)run->workspace + worker * j.each))->number = -1;
    TESS_TRY(tess_parallel(run->context, run->threads, problem->outer.count * problem->inner.count * points, grain, task, &j));
    int64_t bad = atomic_load(&j.first_bad);
    return bad == INT64_MAX ? TESS_OK : tess_lookup_refuse(problem, run->second, bad);
}
