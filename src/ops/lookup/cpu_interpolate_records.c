/* SPDX-License-Identifier: Apache-2.0
 * cpu_interpolate_records.c - interpolation of slices, a block of points at a time: what a point needs of a slice lies in one run, and vectors go along it.
 *
 * Slice by slice (cpu_interpolate_slices.c) three colours cost a walk, two conversions and a store by calls, 20 ns for 1 ns of work; line by line
 * (cpu_interpolate.c) a slice is fetched once for each element. Here the coordinates of a block are placed without branches, every point makes its slice of
 * the block's results from one run of numbers, and the block is stored at once. Where points are many beside the table's entries the runs are records of a
 * prepared copy: {y..., next - y...} for LINEAR, {p1..., c1..., c2..., c3...} for CUBIC. Where they are about as many, as in an image that is resized, the line
 * of the table is converted as it lies, and a run begins at each slice. Elsewhere runs are the neighbours themselves, copied together
 * and converted a block at a time, so that a large table is read where it lies.
 *
 * Vectors go past the end of a part: what comes out of there is written over by the next point. */
#include "core/parallel.h"
#include "ops/lookup/lookup.h"
#include "simd/points.h"

tess_status TESS_ISA_NAME(tess_lookup_interpolate_records)(const tess_problem *base, const tess_run *run);
size_t TESS_ISA_NAME(tess_lookup_interpolate_records_workspace)(const tess_problem *base, int threads);

enum {
    BLOCK = 512, /* points at most */
    ROOM = 2048, /* numbers of a block's results, and of its neighbours: as many as LOOKUP_RECORDS_MOST slices of four neighbours */
    BEHIND = 16, /* numbers that vectors may go past an end */
    AHEAD = 24   /* points that a neighbour is asked for ahead */
};
_Static_assert(4 * LOOKUP_RECORDS_MOST <= ROOM, "a point's neighbours");

/* Where a point's run is: among copied neighbours, in the converted line with what lies beyond its ends, or among records. */
typedef enum source { NEIGHBOURS, LINE, RECORDS } source;
enum { BEFORE = 1, AFTER = 2 /* slices beyond the ends of a line */, MANY = 4 /* points an entry that pay for its record */ };

typedef struct job {
    const lookup_problem *problem;
    const tess_run *run;
    _Atomic int64_t first_bad;
    tess_row_loader load_index, load_table;
    tess_row_storer store;
    int64_t wide, parts, block;             /* elements of a slice; parts of a record; points of a block */
    int64_t from_step, out_step, from_size; /* bytes between a slice's elements, of an element of the table */
    int64_t each;                           /* bytes of a thread's records or line, what it is before them */
    source source;
    bool run_of_table, dense; /* slices lie one behind the other; out's elements do */
} job;

/* What a thread's part of the workspace holds; its records, or its line, begin behind it. */
typedef struct held {
    _Alignas(64) int64_t number; /* of the outer position, -1 at first */
} held;

typedef struct block {
    union {
        double f64[BLOCK];
        float f32[BLOCK];
    } x, t; /* coordinates; fractions */
    union {
        double f64[ROOM + BEHIND];
        float f32[ROOM + BEHIND];
    } made, near; /* results; neighbours */
    char raw[8 * ROOM];
    int32_t entry[BLOCK];
    int16_t odd[BLOCK]; /* points without a value of the table */
    bool fill[BLOCK];   /* and what each of them gets: the fill value, or NaN */
    int odds;
    int64_t bad;
} block;

static source source_of(const lookup_problem *problem) {
    const int64_t slices = problem->n * problem->inner.count * (problem->compute == tess_f64 ? 8 : 4), points = problem->at.count;
    const bool nearest = problem->interpolation == TESS_INTERPOLATE_NEAREST; /* its record is the slice */
    if (!nearest && slices * tess_lookup_parts(problem) <= LOOKUP_RECORDS_BYTES && points / MANY >= problem->n)
        return RECORDS;
    return slices <= LOOKUP_RECORDS_BYTES && points >= problem->n / 4 ? LINE : NEIGHBOURS;
}

static int64_t held_bytes(const lookup_problem *problem) {
    const int64_t size = problem->compute == tess_f64 ? 8 : 4, row = problem->inner.count;
    /* Records, and behind them the neighbours of one entry while they are made; or slices. */
    const int64_t numbers = source_of(problem) == RECORDS ? problem->n * row * tess_lookup_parts(problem) + BEHIND + 4 * row
                                                          : (BEFORE + problem->n + AFTER) * row + BEHIND;
    return (int64_t)sizeof(held) + tess_ceil_div(numbers * size, 64) * 64;
}

size_t TESS_ISA_NAME(tess_lookup_interpolate_records_workspace)(const tess_problem *base, int threads) {
    const lookup_problem *problem = (const lookup_problem *)base;
    return source_of(problem) != NEIGHBOURS ? (size_t)(held_bytes(problem) * threads) : 0;
}

/* Vectors of some lanes, with the words that the formulas need. */
#define LANES_OF(name, type, bits_type, size)                         \
    typedef type name __attribute__((vector_size(size)));             \
    typedef bits_type name##_bits __attribute__((vector_size(size))); \
    TESS_INLINE name name##_load(const type *p) {                     \
        name v;                                                       \
        memcpy(&v, p, sizeof v);                                      \
        return v;                                                     \
    }                                                                 \
    TESS_INLINE name name##_all(type x) { return x - (name){0}; }     \
    TESS_INLINE name name##_if(name##_bits mask, name yes, name no) { return (name)(((name##_bits)yes & mask) | ((name##_bits)no & ~mask)); }
#define FUSED_BY(name, register_type, instruction) \
    TESS_INLINE name name##_fma(name a, name b, name c) { return (name)instruction((register_type)a, (register_type)b, (register_type)c); }
#define FUSED_ONE_BY_ONE(name, fused)                           \
    TESS_INLINE name name##_fma(name a, name b, name c) {       \
        for (int i = 0; i < (int)(sizeof c / sizeof c[0]); i++) \
            c[i] = fused(a[i], b[i], c[i]);                     \
        return c;                                               \
    }
LANES_OF(f32_4, float, int32_t, 16)
LANES_OF(f64_2, double, int64_t, 16)
#if defined(__FMA__)
LANES_OF(f32_8, float, int32_t, 32)
LANES_OF(f64_4, double, int64_t, 32)
FUSED_BY(f32_4, __m128, _mm_fmadd_ps)
FUSED_BY(f64_2, __m128d, _mm_fmadd_pd)
FUSED_BY(f32_8, __m256, _mm256_fmadd_ps)
FUSED_BY(f64_4, __m256d, _mm256_fmadd_pd)
#elif defined(__aarch64__)
#define ARM_FUSED_F32(a, b, c) vfmaq_f32(c, a, b)
#define ARM_FUSED_F64(a, b, c) vfmaq_f64(c, a, b)
FUSED_BY(f32_4, float32x4_t, ARM_FUSED_F32)
FUSED_BY(f64_2, float64x2_t, ARM_FUSED_F64)
#else
FUSED_ONE_BY_ONE(f32_4, fmaf)
FUSED_ONE_BY_ONE(f64_2, fma)
#endif
#if defined(__AVX512F__)
LANES_OF(f32_16, float, int32_t, 64)
LANES_OF(f64_8, double, int64_t, 64)
FUSED_BY(f32_16, __m512, _mm512_fmadd_ps)
FUSED_BY(f64_8, __m512d, _mm512_fmadd_pd)
#endif

/* `count` points, by vectors of one width. at: entries, or NULL: point i has the run number i; runs begin `each` numbers apart. ready: they are records, not neighbours. */
#define POINTS(v, type, bits_type)                                                                                                                  \
    TESS_INLINE void points_##v(const int how, const bool ready, const bool once, const type *runs, const int32_t *at, int64_t each, const type *t, \
                                type *made, int64_t wide, int64_t count) {                                                                          \
        for (int64_t i = 0; i < count; i++) {                                                                                                       \
            const type *run = runs + (at ? at[i] : i) * each;                                                                                       \
            const v by = v##_all(t[i]);                                                                                                             \
            for (int64_t c = 0; c < (once ? 1 : wide); c += (int64_t)(sizeof(v) / sizeof(type))) {                                                  \
                v value = v##_load(run + c), more[3];                                                                                               \
                if (how == TESS_INTERPOLATE_LINEAR) {                                                                                               \
                    more[0] = v##_load(run + wide + c);                                                                                             \
                    value = v##_if(by == 0, value, v##_fma(by, ready ? more[0] : more[0] - value, value));                                          \
                } else if (how == TESS_INTERPOLATE_CUBIC) {                                                                                         \
                    for (int k = 0; k < 3; k++)                                                                                                     \
                        more[k] = v##_load(run + (k + 1) * wide + c);                                                                               \
                    if (!ready) {                                                                                                                   \
                        const v p0 = value, p1 = more[0], p2 = more[1], p3 = more[2];                                                               \
                        value = p1;                                                                                                                 \
                        more[0] = p2 - p0;                                                                                                          \
                        more[1] = v##_fma(v##_all(-5), p1, v##_fma(v##_all(4), p2, v##_fma(v##_all(2), p0, -p3)));                                  \
                        more[2] = v##_fma(v##_all(3), p1 - p2, p3 - p0);                                                                            \
                    }                                                                                                                               \
                    value = v##_if(by == 0, value, v##_fma(by * (type)0.5, v##_fma(by, v##_fma(by, more[2], more[1]), more[0]), value));            \
                }                                                                                                                                   \
                memcpy(made + i * wide + c, &value, sizeof value);                                                                                  \
            }                                                                                                                                       \
        }                                                                                                                                           \
    }                                                                                                                                               \
    TESS_INLINE void every_##v(int how, bool ready, const bool once, const type *runs, const int32_t *at, int64_t each, const type *t, type *made,  \
                               int64_t wide, int64_t count) {                                                                                       \
        if (how == TESS_INTERPOLATE_NEAREST)                                                                                                        \
            points_##v(TESS_INTERPOLATE_NEAREST, true, once, runs, at, each, t, made, wide, count);                                                 \
        else if (how == TESS_INTERPOLATE_LINEAR && ready)                                                                                           \
            points_##v(TESS_INTERPOLATE_LINEAR, true, once, runs, at, each, t, made, wide, count);                                                  \
        else if (how == TESS_INTERPOLATE_LINEAR)                                                                                                    \
            points_##v(TESS_INTERPOLATE_LINEAR, false, once, runs, at, each, t, made, wide, count);                                                 \
        else if (ready)                                                                                                                             \
            points_##v(TESS_INTERPOLATE_CUBIC, true, once, runs, at, each, t, made, wide, count);                                                   \
        else                                                                                                                                        \
            points_##v(TESS_INTERPOLATE_CUBIC, false, once, runs, at, each, t, made, wide, count);                                                  \
    }                                                                                                                                               \
    TESS_NOINLINE static void any_##v(int how, bool ready, const type *runs, const int32_t *at, int64_t each, const type *t, type *made,            \
                                      int64_t wide, int64_t count) {                                                                                \
        if (wide <= (int64_t)(sizeof(v) / sizeof(type)))                                                                                            \
            every_##v(how, ready, true, runs, at, each, t, made, wide, count);                                                                      \
        else                                                                                                                                        \
            every_##v(how, ready, false, runs, at, each, t, made, wide, count);                                                                     \
    }
POINTS(f32_4, float, int32_t)
POINTS(f64_2, double, int64_t)
#if defined(__FMA__)
POINTS(f32_8, float, int32_t)
POINTS(f64_4, double, int64_t)
#endif
#if defined(__AVX512F__)
POINTS(f32_16, float, int32_t)
POINTS(f64_8, double, int64_t)
#endif

static void points_f32(int how, bool ready, const float *runs, const int32_t *at, int64_t each, const float *t, float *made, int64_t wide,
                       int64_t count) {
#if defined(__AVX512F__)
    if (wide > 8) {
        any_f32_16(how, ready, runs, at, each, t, made, wide, count);
        return;
    }
#endif
#if defined(__FMA__)
    if (wide > 4) {
        any_f32_8(how, ready, runs, at, each, t, made, wide, count);
        return;
    }
#endif
    any_f32_4(how, ready, runs, at, each, t, made, wide, count);
}
static void points_f64(int how, bool ready, const double *runs, const int32_t *at, int64_t each, const double *t, double *made, int64_t wide,
                       int64_t count) {
#if defined(__AVX512F__)
    if (wide > 4) {
        any_f64_8(how, ready, runs, at, each, t, made, wide, count);
        return;
    }
#endif
#if defined(__FMA__)
    if (wide > 2) {
        any_f64_4(how, ready, runs, at, each, t, made, wide, count);
        return;
    }
#endif
    any_f64_2(how, ready, runs, at, each, t, made, wide, count);
}

/* For type f32 and f64: `place` finds the entries and fractions of a block, `prepare` makes the records of one outer position, `convert` its line. */
#define IN_TYPE(name, type, vector, bits, whole, up_to, greater, LANES)                                                                       \
    TESS_INLINE bool places_##name(const bool nearest, type limit, const type *x, int32_t *entry, type *t, int64_t count) {                   \
        const whole last = (whole){0} + (int32_t)limit;                                                                                       \
        bits seen = {0};                                                                                                                      \
        for (int64_t i = 0; i < count; i += LANES) {                                                                                          \
            const vector at = v_##name##_load(x + i), rest = v_##name##_fraction(at);                                                         \
            whole number = v_##name##_whole(at);                                                                                              \
            if (nearest)                                                                                                                      \
                number -= __builtin_convertvector(rest >= (type)0.5, whole);                                                                  \
            number = up_to(number, last);                                                                                                     \
            seen = greater(seen, (bits)at);                                                                                                   \
            v_##name##_store(t + i, rest);                                                                                                    \
            memcpy(entry + i, &number, sizeof number);                                                                                        \
        }                                                                                                                                     \
        seen = (bits)(seen > (bits)v_##name##_all(limit));                                                                                    \
        return !v_any(&seen); /* -0 counts as outside here, and is as it should be */                                                         \
    }                                                                                                                                         \
    TESS_NOINLINE static bool place_all_##name(bool nearest, type limit, const type *x, int32_t *entry, type *t, int64_t count) {             \
        return nearest ? places_##name(true, limit, x, entry, t, count) : places_##name(false, limit, x, entry, t, count);                    \
    }                                                                                                                                         \
    static void place_##name(const lookup_problem *problem, block *b, int64_t count) {                                                        \
        type *x = b->x.name;                                                                                                                  \
        type limit = (type)(problem->n - 1);                                                                                                  \
        if ((int64_t)limit > problem->n - 1) /* f32 rounded up */                                                                             \
            limit = (type)nextafterf((float)limit, 0);                                                                                        \
        for (int64_t i = count; i % LANES != 0; i++) /* vectors are whole */                                                                  \
            x[i] = 0;                                                                                                                         \
        if (place_all_##name(problem->interpolation == TESS_INTERPOLATE_NEAREST, limit, x, b->entry, b->t.name, count))                       \
            return;                                                                                                                           \
        for (int64_t i = 0; i < count; i++)                                                                                                   \
            if (!(x[i] >= 0 && x[i] <= limit)) {                                                                                              \
                int64_t entry;                                                                                                                \
                double t;                                                                                                                     \
                const lookup_kind kind = tess_lookup_place(problem, (double)x[i], &entry, &t);                                                \
                b->entry[i] = (int32_t)entry;                                                                                                 \
                b->t.name[i] = (type)t;                                                                                                       \
                if (kind == LOOKUP_INSIDE)                                                                                                    \
                    continue;                                                                                                                 \
                if (kind == LOOKUP_OUTSIDE && problem->outside == TESS_OUTSIDE_ERROR)                                                         \
                    b->bad = b->bad < 0 ? i : b->bad;                                                                                         \
                b->fill[b->odds] = kind == LOOKUP_OUTSIDE;                                                                                    \
                b->odd[b->odds++] = (int16_t)i;                                                                                               \
            }                                                                                                                                 \
    }                                                                                                                                         \
    static void convert_##name(const job *j, const char *table, type *line) {                                                                 \
        const lookup_problem *problem = j->problem;                                                                                           \
        const int64_t n = problem->n, wide = j->wide;                                                                                         \
        type *first = line + BEFORE * wide, *end = first + n * wide;                                                                          \
        if (j->run_of_table)                                                                                                                  \
            j->load_table(first, table, j->from_step, n *wide);                                                                               \
        else                                                                                                                                  \
            for (int64_t k = 0; k < n; k++)                                                                                                   \
                j->load_table(first + k * wide, table + k * problem->step, j->from_step, wide);                                               \
        memcpy(line, first + tess_lookup_neighbour(problem, 0, -1) * wide, (size_t)wide * sizeof(type));                                      \
        for (int by = 1; by <= AFTER; by++)                                                                                                   \
            memcpy(end + (by - 1) * wide, first + tess_lookup_neighbour(problem, n - 1, by) * wide, (size_t)wide * sizeof(type));             \
        for (int k = 0; k < BEHIND; k++)                                                                                                      \
            end[AFTER * wide + k] = 0;                                                                                                        \
    }                                                                                                                                         \
    static void prepare_##name(const job *j, const char *table, type *records) {                                                              \
        const lookup_problem *problem = j->problem;                                                                                           \
        const int64_t n = problem->n, wide = j->wide, each = wide * j->parts;                                                                 \
        type *near = records + n * each + BEHIND;                                                                                             \
        for (int k = 0; k < BEHIND; k++)                                                                                                      \
            records[n * each + k] = 0;                                                                                                        \
        for (int64_t k = 0; k < n; k++) {                                                                                                     \
            type *to = records + k * each;                                                                                                    \
            for (int by = -1; by <= 2; by++)                                                                                                  \
                if (by == 0 || by == 1 || problem->interpolation == TESS_INTERPOLATE_CUBIC)                                                   \
                    j->load_table(near + (by + 1) * wide, table + tess_lookup_neighbour(problem, k, by) * problem->step, j->from_step, wide); \
            for (int64_t c = 0; c < wide; c++) {                                                                                              \
                if (problem->interpolation == TESS_INTERPOLATE_LINEAR) {                                                                      \
                    to[c] = near[wide + c];                                                                                                   \
                    to[wide + c] = near[2 * wide + c] - near[wide + c];                                                                       \
                } else {                                                                                                                      \
                    type made[4];                                                                                                             \
                    tess_cubic_entry_##name(made, near[c], near[wide + c], near[2 * wide + c], near[3 * wide + c]);                           \
                    for (int p = 0; p < 4; p++)                                                                                               \
                        to[p * wide + c] = made[p];                                                                                           \
                }                                                                                                                             \
            }                                                                                                                                 \
        }                                                                                                                                     \
    }
IN_TYPE(f32, float, v_f32, v_u32, v_i32, v_i32_up_to, v_u32_greater, TESS_F32_LANES)
IN_TYPE(f64, double, v_f64, v_u64, h_i32, h_i32_up_to, v_u64_greater, TESS_F64_LANES)

/* The neighbours of each point, in the compute type one behind the other. */
static const char *neighbours(const job *j, block *b, const char *table, int64_t count) {
    const lookup_problem *problem = j->problem;
    const bool as_they_are = problem->from == problem->compute, wide_type = problem->compute == tess_f64;
    const int64_t slice = j->wide * j->from_size, bytes = slice * j->parts, size = wide_type ? 8 : 4;
    const int before = problem->interpolation == TESS_INTERPOLATE_CUBIC ? 1 : 0;
    char *near = wide_type ? (char *)b->near.f64 : (char *)b->near.f32, *to = as_they_are ? near : b->raw;
    if (!j->run_of_table) { /* a slice has gaps, or there are some between slices */
        for (int64_t i = 0; i < count; i++)
            for (int k = 0; k < j->parts; k++)
                j->load_table(near + (i * j->parts + k) * j->wide * size,
                              table + tess_lookup_neighbour(problem, b->entry[i], k - before) * problem->step, j->from_step, j->wide);
        return near;
    }
    const int64_t last = problem->n - j->parts;
#define COPY(some)                                                                                                              \
    for (int64_t i = 0; i < count; i++, to += bytes) {                                                                          \
        const int64_t first = b->entry[i] - before;                                                                             \
        tess_prefetch_l1(table + b->entry[i + AHEAD < count ? i + AHEAD : i] * slice);                                          \
        if (first >= 0 && first <= last)                                                                                        \
            memcpy(to, table + first * slice, (size_t)(some));                                                                  \
        else                                                                                                                    \
            for (int k = 0; k < j->parts; k++)                                                                                  \
                memcpy(to + k * slice, table + tess_lookup_neighbour(problem, b->entry[i], k - before) * slice, (size_t)slice); \
    }
    switch (bytes) {
    case 2: COPY(2) break;
    case 4: COPY(4) break;
    case 8: COPY(8) break;
    case 16: COPY(16) break;
    case 32: COPY(32) break;
    default: COPY(bytes) break;
    }
#undef COPY
    if (!as_they_are)
        j->load_table(near, b->raw, j->from_size, count * j->parts * j->wide);
    return near;
}

/* Points of one segment, at most a block; false when one is an error. */
static bool do_block(job *j, block *b, const lookup_segment *s, const char *table, const char *kept, int64_t in_step, int64_t out_step) {
    const lookup_problem *problem = j->problem;
    const bool wide_type = problem->compute == tess_f64;
    const int64_t size = wide_type ? 8 : 4, slice = j->wide * problem->size;
    b->odds = 0;
    b->bad = -1;
    j->load_index(wide_type ? (void *)b->x.f64 : (void *)b->x.f32, s->index, in_step, s->count);
    if (wide_type)
        place_f64(problem, b, s->count);
    else
        place_f32(problem, b, s->count);
    if (b->bad >= 0) {
        tess_lookup_note(&j->first_bad, s->position + b->bad);
        return false;
    }
    const char *runs = j->source == NEIGHBOURS ? neighbours(j, b, table, s->count) : kept;
    if (j->source == LINE && problem->interpolation != TESS_INTERPOLATE_CUBIC)
        runs += BEFORE * j->wide * size;
    const int32_t *at = j->source == NEIGHBOURS ? NULL : b->entry;
    const int64_t each = j->source == LINE ? j->wide : j->wide * j->parts;
    if (wide_type)
        points_f64(problem->interpolation, j->source == RECORDS, (const double *)(const void *)runs, at, each, b->t.f64, b->made.f64, j->wide,
                   s->count);
    else
        points_f32(problem->interpolation, j->source == RECORDS, (const float *)(const void *)runs, at, each, b->t.f32, b->made.f32, j->wide,
                   s->count);
    char *made = wide_type ? (char *)b->made.f64 : (char *)b->made.f32;
    for (int k = 0; k < b->odds; k++)
        for (int64_t c = 0; c < j->wide; c++)
            if (wide_type)
                b->made.f64[b->odd[k] * j->wide + c] = NAN;
            else
                b->made.f32[b->odd[k] * j->wide + c] = NAN;
    if (j->dense && (out_step == slice || j->wide == 1))
        j->store(s->out, j->wide == 1 ? out_step : problem->size, made, s->count * j->wide);
    else
        for (int64_t i = 0; i < s->count; i++)
            j->store(s->out + i * out_step, j->out_step, made + i * j->wide * size, j->wide);
    for (int k = 0; k < b->odds; k++)
        for (int64_t c = 0; b->fill[k] && c < j->wide; c++) /* slices of split elements are even, so the place tells the part */
            memcpy(s->out + b->odd[k] * out_step + c * j->out_step, problem->fill + (problem->parts == 2 ? c % 2 * problem->size : 0),
                   (size_t)problem->size);
    return true;
}

static void task(void *argument, int64_t begin, int64_t end, int worker) {
    job *j = argument;
    const lookup_problem *problem = j->problem;
    held *mine = j->source == NEIGHBOURS ? NULL : (held *)(void *)((char *)j->run->workspace + worker * j->each);
    void *numbers = mine ? mine + 1 : NULL;
    lookup_walk walk;
    lookup_segment s;
    block b;
    tess_lookup_walk_start(&walk, problem, j->run, begin, end, j->block);
    for (int64_t item = begin; tess_lookup_walk_next(&walk, &s); item += s.count) {
        if (mine && mine->number != item / problem->at.count) {
            mine->number = item / problem->at.count;
            if (problem->compute == tess_f64)
                (j->source == LINE ? convert_f64 : prepare_f64)(j, s.table, numbers);
            else
                (j->source == LINE ? convert_f32 : prepare_f32)(j, s.table, numbers);
        }
        if (!do_block(j, &b, &s, s.table, numbers, walk.in_step, walk.out_step))
            return;
    }
}

tess_status TESS_ISA_NAME(tess_lookup_interpolate_records)(const tess_problem *base, const tess_run *run) {
    const lookup_problem *problem = (const lookup_problem *)base;
    const lookup_axes *inner = &problem->inner;
    job j = {.problem = problem, .run = run, .first_bad = INT64_MAX, .wide = inner->count, .parts = tess_lookup_parts(problem)};
    j.from_size = (int64_t)tess_type_size(problem->from);
    j.from_step = inner->ndim ? inner->stride[LOOKUP_FROM][0] : j.from_size;
    j.out_step = inner->ndim ? inner->stride[LOOKUP_OUT][0] : problem->size;
    j.source = source_of(problem);
    j.block = tess_min64(BLOCK, ROOM / (j.wide * (j.source == NEIGHBOURS ? j.parts : 1)));
    j.run_of_table = j.from_step == j.from_size && problem->step == j.wide * j.from_size && problem->n >= j.parts;
    j.dense = j.out_step == problem->size;
    j.load_index = tess_loader(run->slot, problem->index.type, problem->compute);
    j.load_table = tess_loader(run->slot, problem->from, problem->compute);
    j.store = tess_storer(run->slot, problem->compute, problem->to);
    int64_t grain = tess_max64(1, 16384 / j.wide);
    if (j.source != NEIGHBOURS) {
        j.each = held_bytes(problem);
        grain = tess_max64(grain, (j.source == LINE ? 1 : MANY) * problem->n); /* preparing costs little beside the points of a piece */
        for (int worker = 0; worker < run->threads; worker++)
            ((held *)(void *)((char *)run->workspace + worker * j.each))->number = -1;
    }
    TESS_TRY(tess_parallel(run->context, run->threads, problem->outer.count * problem->at.count, grain, task, &j));
    int64_t bad = atomic_load(&j.first_bad);
    return bad == INT64_MAX ? TESS_OK : tess_lookup_refuse(problem, run->second, bad);
}
