/* SPDX-License-Identifier: Apache-2.0
 * random_draws.h - problems drawn at random from everything that the four operations take, and the loop that holds one row after another against what is expected of them.
 *
 * The tests of rows look where a row's author saw corners; these look where nobody did. TESSERA_RANDOM_SEED, TESSERA_RANDOM_CASES and TESSERA_RANDOM_ELEMENTS make a
 * sweep another, a longer or a larger one, TESSERA_RANDOM_CASE repeats one case of it: each is drawn from the seed and its number alone. All that differ are named before the
 * test fails. */
#ifndef TESS_TESTS_RANDOM_DRAWS_H
#define TESS_TESTS_RANDOM_DRAWS_H

#include "core/strategy.h"
#include "ops/correlate/correlate.h"
#include "ops/lookup/lookup.h"
#include "ops/reduce/reduce.h"
#include "ops/transpose/transpose.h"
#include "random_problems.h"

enum { MOST_MASKS = 3 };

/* A problem of any of the operations: what is read, what out is like, the options that count. */
typedef struct problem {
    const tess_op *operation;
    hostile_array in, second[MOST_MASKS], out, positions;
    int seconds, axes[TESS_MAX_NDIM];
    bool in_place;
    int64_t origin[TESS_MAX_NDIM];
    tess_reduction reduction;
    tess_correlate_options correlate;
    tess_reduce_options reduce;
    tess_transpose_options transpose;
    tess_lookup_options lookup;
} problem;

static inline tess_status random_run(tess_context *context, const problem *p, const DLTensor *in, const DLTensor *second, const DLTensor *out,
                                     tess_engine engine, const char *row) {
    const tess_call call = {.engine = engine, .strategy = row};
    const DLTensor *masks[MOST_MASKS] = {second, &p->second[1].tensor, &p->second[2].tensor};
    tess_correlate_options correlate = p->correlate;
    tess_reduce_options reduce = p->reduce;
    tess_transpose_options transpose = p->transpose;
    tess_lookup_options lookup = p->lookup;
    correlate.call = reduce.call = transpose.call = lookup.call = call;
    if (p->operation == &tess_correlate_op && p->seconds > 1)
        return p->correlate.flip ? tess_convolve_separable(context, in, masks, p->seconds, out, &correlate)
                                 : tess_correlate_separable(context, in, masks, p->seconds, out, &correlate);
    if (p->operation == &tess_correlate_op)
        return p->correlate.flip ? tess_convolve(context, in, masks[0], out, &correlate) : tess_correlate(context, in, masks[0], out, &correlate);
    if (p->operation == &tess_reduce_op)
        return tess_reduce(context, p->reduction, in, out, &reduce);
    if (p->operation == &tess_transpose_op)
        return tess_transpose(context, in, out, &transpose);
    return tess_lookup(context, in, masks[0], out, &lookup);
}

static inline void describe_array(char *text, size_t size, const hostile_array *a) {
    size_t n = strlen(text);
    n += (size_t)snprintf(text + n, size - n, " %s[", tess_type_name(tess_type_of(a->tensor.dtype)));
    for (int d = 0; d < a->tensor.ndim && n < size; d++)
        n += (size_t)snprintf(text + n, size - n, "%s%lld step %lld", d ? ", " : "", (long long)a->shape[d], (long long)a->strides[d]);
    if (n < size)
        snprintf(text + n, size - n, "] at %d", (int)((uintptr_t)hostile_first(a) % 64));
}

static const char *described(const problem *p) {
    static char text[2048];
    snprintf(text, sizeof text, "%s", p->operation->name);
    describe_array(text, sizeof text, &p->in);
    for (int k = 0; k < p->seconds; k++)
        describe_array(text, sizeof text, &p->second[k]);
    strncat(text, " to", sizeof text - strlen(text) - 1);
    describe_array(text, sizeof text, &p->out);
    const size_t n = strlen(text);
    if (p->operation == &tess_correlate_op)
        snprintf(text + n, sizeof text - n, ", axes %d %d %d, boundary %d, extent %d, accuracy %d, compute %d, flip %d, origin %d %d %d", p->axes[0],
                 p->axes[1], p->axes[2], p->correlate.boundary, p->correlate.extent, p->correlate.accuracy, p->correlate.compute, p->correlate.flip,
                 (int)p->origin[0], (int)p->origin[1], (int)p->origin[2]);
    else if (p->operation == &tess_reduce_op)
        snprintf(text + n, sizeof text - n, ", %s along %d axes, %d %d %d, nan %d, exact %d%s", tess_reduction_name(p->reduction), p->reduce.naxes,
                 p->axes[0], p->axes[1], p->axes[2], p->reduce.nan, p->reduce.exact, p->reduce.offsets ? ", segments" : "");
    else if (p->operation == &tess_transpose_op)
        snprintf(text + n, sizeof text - n, ", perm %d %d %d %d%s", p->axes[0], p->axes[1], p->axes[2], p->axes[3], p->in_place ? ", in place" : "");
    else
        snprintf(text + n, sizeof text - n, ", axis %d, outside %d, interpolation %d%s", p->lookup.axis, p->lookup.outside, p->lookup.interpolation,
                 p->lookup.positions ? ", positions" : "");
    return text;
}

static const tess_type common[] = {tess_f32, tess_f32, tess_f32,  tess_u8,  tess_u8,  tess_f16, tess_f16,
                                   tess_i16, tess_u16, tess_bf16, tess_f64, tess_i32, tess_i8};

static inline int64_t number_of(const char *name, int64_t otherwise) {
    const char *text = getenv(name);
    return text ? strtoll(text, NULL, 10) : otherwise;
}
/* Of an array: what the program sets it to. */
static int64_t most;
static inline int64_t most_elements(void) { return number_of("TESSERA_RANDOM_ELEMENTS", most); }

static inline void draw_correlation(problem *p, uint64_t *random) {
    const int ndim = (int)hostile_between(random, 1, 4), count = (int)hostile_between(random, 1, ndim < 3 ? ndim : 3);
    const bool list = count > 1 && random_chance(random, 50), anything = random_chance(random, 15);
    const tess_type in = anything ? random_type(random, tess_bool, tess_c128) : random_of(random, common, TESS_COUNT(common));
    const tess_type masks[] = {tess_f32, tess_f32, in, in < tess_f16 ? tess_i8 : tess_f32, in < tess_f16 ? tess_i16 : tess_f64};
    const tess_type mask = anything ? random_type(random, tess_bool, tess_c128) : random_of(random, masks, TESS_COUNT(masks));
    const bool complex = in >= tess_c64 || mask >= tess_c64;
    const tess_type outs[] = {in, in, tess_f32, tess_f64};
    const tess_type out = complex    ? random_type(random, tess_c64, tess_c128)
                          : anything ? random_type(random, tess_bool, tess_c128)
                                     : random_of(random, outs, TESS_COUNT(outs));
    int64_t shape[4], out_shape[4], width[MOST_MASKS], taps = 1;
    for (int k = 0; k < count; k++) {
        width[k] = random_chance(random, 70) ? 1 + 2 * hostile_between(random, 0, 4) : random_magnitude(random, count == 1 ? 300 : list ? 40 : 12);
        taps = list ? taps + width[k] : taps * width[k];
    }
    random_shape(random, ndim, shape, tess_max64(tess_min64(most_elements(), 64 * most_elements() / taps), 1));
    random_axes(random, ndim, count, p->axes);
    if (ndim > count && random_chance(random, 25)) { /* colours */
        shape[ndim - 1] = hostile_between(random, 2, 4);
        for (int k = 0; k < count; k++)
            p->axes[k] = ndim - 1 - count + k;
    }
    p->correlate = (tess_correlate_options){.struct_size = sizeof p->correlate,
                                            .axes = p->axes,
                                            .naxes = count,
                                            .boundary = (tess_boundary)hostile_between(random, TESS_BOUNDARY_ZERO, TESS_BOUNDARY_WRAP),
                                            .extent = random_chance(random, 60) ? TESS_EXTENT_SAME : (tess_extent)hostile_between(random, 0, 2),
                                            .accuracy = random_chance(random, 80) ? TESS_ACCURACY_DIRECT : TESS_ACCURACY_FAST,
                                            .flip = random_chance(random, 30)};
    p->correlate.constant = p->correlate.boundary == TESS_BOUNDARY_CONSTANT ? (double)hostile_between(random, -9, 9) : 0;
    memcpy(out_shape, shape, sizeof shape);
    for (int k = 0; k < count; k++) {
        int64_t *n = &out_shape[p->axes[k]];
        p->origin[k] = random_chance(random, 70) ? 0 : hostile_between(random, -(width[k] / 2), (width[k] - 1) / 2);
        *n = p->correlate.extent == TESS_EXTENT_VALID  ? tess_max64(*n - width[k] + 1, 0)
             : p->correlate.extent == TESS_EXTENT_FULL ? *n + width[k] - 1
                                                       : *n;
    }
    double outputs = 1;
    for (int d = 0; d < ndim; d++)
        outputs *= (double)out_shape[d];
    if (outputs > 16.0 * (double)tess_max64(most_elements(), 1 << 16)) { /* three masks of 40 over axes of one element make 40^3 of each */
        p->correlate.extent = TESS_EXTENT_SAME;
        memcpy(out_shape, shape, sizeof shape);
    }
    if (p->correlate.extent == TESS_EXTENT_SAME)
        p->correlate.origin = p->origin;
    const int fill = random_chance(random, 15) ? 2 : 1;
    random_array(&p->in, random, in, ndim, shape);
    hostile_fill(&p->in, random, fill);
    p->seconds = list ? count : 1;
    for (int k = 0; k < p->seconds; k++) {
        random_array(&p->second[k], random, mask, list ? 1 : count, list ? &width[k] : width);
        hostile_fill(&p->second[k], random, random_chance(random, 10) ? 2 : 1);
    }
    random_array(&p->out, random, out, ndim, out_shape);
}

/* Ends of segments along an axis of n elements, many of them equal or far apart: lengths over all magnitudes. */
static inline void draw_offsets(problem *p, uint64_t *random, int64_t n, int64_t segments) {
    const int64_t count = segments + 1;
    random_array(&p->second[0], random, random_chance(random, 50) ? tess_i32 : tess_i64, 1, &count);
    for (int64_t i = 0, at = random_chance(random, 70) ? 0 : hostile_between(random, 0, n / 2); i < count; i++) {
        memcpy(hostile_element(&p->second[0], i), &at, (size_t)p->second[0].itemsize);
        at = tess_min64(n, at + (random_chance(random, 5) ? 0 : random_magnitude(random, tess_max64(2 * n / count, 2))));
    }
    p->reduce.offsets = &p->second[0].tensor;
    p->seconds = 1;
}

static inline void draw_reduction(problem *p, uint64_t *random) {
    const int ndim = (int)hostile_between(random, 1, 4), count = (int)hostile_between(random, random_chance(random, 5) ? 0 : 1, ndim);
    const tess_type in = random_chance(random, 70) ? random_of(random, common, TESS_COUNT(common)) : random_type(random, tess_bool, tess_c128);
    int64_t shape[4], out_shape[4];
    bool reduced[4] = {false};
    random_shape(random, ndim, shape, most_elements());
    p->reduction = (tess_reduction)hostile_between(random, TESS_SUM, TESS_NORM_INF);
    p->reduce = (tess_reduce_options){.struct_size = sizeof p->reduce, .nan = random_chance(random, 80) ? TESS_NAN_PROPAGATE : TESS_NAN_OMIT};
    p->reduce.keepdims = random_chance(random, 30);
    p->reduce.ddof = random_chance(random, 70) ? 0 : 1;
    p->reduce.exact = (p->reduction == TESS_SUM || p->reduction == TESS_MEAN || p->reduction == TESS_NORM1) && random_chance(random, 30);
    const bool segments = random_chance(random, 20);
    p->reduce.naxes = segments ? 1 : count;
    p->reduce.axes = p->axes;
    if (segments || count > 0)
        random_axes(random, ndim, p->reduce.naxes, p->axes);
    for (int k = 0; k < p->reduce.naxes; k++)
        reduced[p->axes[k]] = true;
    int out_ndim = 0;
    for (int d = 0; d < ndim; d++)
        if (!reduced[d] || p->reduce.keepdims || segments)
            out_shape[out_ndim++] = reduced[d] ? 1 : shape[d];
    if (segments) {
        const int64_t n = shape[p->axes[0]], many = random_magnitude(random, tess_max64(n, 1));
        draw_offsets(p, random, n, many);
        out_shape[p->axes[0]] = many;
    }
    const tess_type outs[] = {in, in, tess_f64, tess_f32, tess_i64};
    const bool complex = in >= tess_c64 && (p->reduction == TESS_SUM || p->reduction == TESS_PROD || p->reduction == TESS_MEAN);
    const tess_type out = complex ? random_type(random, tess_c64, tess_c128) : random_of(random, outs, TESS_COUNT(outs));
    random_array(&p->in, random, in, ndim, shape);
    hostile_fill(&p->in, random, random_chance(random, 15) ? 2 : (int)hostile_between(random, 0, 1));
    random_array(&p->out, random, out, out_ndim, out_shape);
}

static inline void draw_transpose(problem *p, uint64_t *random) {
    const int ndim = (int)hostile_between(random, 1, 5);
    const tess_type type = random_chance(random, 70) ? random_of(random, common, TESS_COUNT(common)) : random_type(random, tess_bool, tess_c128);
    int64_t shape[5], out_shape[5];
    random_shape(random, ndim, shape, most_elements());
    for (int d = 0; d < ndim; d++)
        p->axes[d] = d;
    hostile_shuffle(random, ndim, p->axes);
    for (int d = 0; d < ndim; d++)
        out_shape[d] = shape[p->axes[d]];
    p->transpose = (tess_transpose_options){.struct_size = sizeof p->transpose, .perm = p->axes, .nperm = ndim};
    random_array(&p->in, random, type, ndim, shape);
    hostile_fill(&p->in, random, 2);
    random_array(&p->out, random, type, ndim, out_shape);
}

/* Batches of matrices, of single elements or of short rows of them, square more often than not. */
static inline void draw_in_place(problem *p, uint64_t *random) {
    static const int perm[] = {0, 2, 1, 3};
    const tess_type type = random_type(random, tess_bool, tess_c128);
    const int64_t run = random_chance(random, 70) ? 1 : hostile_between(random, 2, 9),
                  batch = random_chance(random, 50) ? 1 : random_magnitude(random, 40);
    int64_t shape[] = {batch, 0, 0, run}, matrix[2];
    random_shape(random, 2, matrix, tess_max64(most_elements() / (run * batch), 1));
    const int64_t side = (int64_t)sqrt((double)(matrix[0] * matrix[1]));
    const bool square = random_chance(random, 60);
    shape[1] = square ? side : matrix[0];
    shape[2] = square ? side : matrix[1];
    const int64_t turned[] = {batch, shape[2], shape[1], run};
    memcpy(p->axes, perm, sizeof perm);
    p->in_place = true;
    p->transpose = (tess_transpose_options){.struct_size = sizeof p->transpose, .perm = p->axes, .nperm = 4};
    random_compact(&p->in, random, type, 4, shape);
    hostile_fill(&p->in, random, 2);
    random_twin(&p->out, &p->in); /* the same bytes, seen as out */
    for (int64_t d = 3, span = 1; d >= 0; span *= turned[d--]) {
        p->out.shape[d] = turned[d];
        p->out.strides[d] = span;
    }
}

/* Coordinates or numbers of entries, some of them outside when these are allowed, and now and then all: what is done again for those of a thread that lie outside may go by their number. */
static inline void draw_index(hostile_array *index, uint64_t *random, int64_t n, bool outside) {
    const tess_type type = tess_type_of(index->tensor.dtype);
    const int share = random_chance(random, 10) ? 100 : 10;
    for (int64_t i = 0, count = hostile_count(index); i < count; i++) {
        const bool beyond = outside && random_chance(random, share);
        double x = (double)hostile_between(random, 0, tess_max64(n - 1, 0)) - (beyond ? (double)n * 1.5 : 0);
        int64_t whole = beyond ? hostile_between(random, -2 * n - 2, 3 * n + 2) : hostile_between(random, 0, tess_max64(n - 1, 0));
        char *to = hostile_element(index, i);
        if (random_chance(random, 80) && x < (double)n - 1)
            x += (double)hostile_between(random, 0, 1023) / 1024;
        if (beyond && random_chance(random, 5))
            x = random_chance(random, 50) ? NAN : INFINITY;
        const float f = (float)x;
        const uint16_t half = f > 60000 ? 0x7bff : hostile_half(type, f);
        if (type < tess_f16)
            memcpy(to, &whole, (size_t)index->itemsize);
        else
            memcpy(to, type == tess_f64 ? (const void *)&x : type == tess_f32 ? (const void *)&f : (const void *)&half, (size_t)index->itemsize);
    }
}

static inline void draw_lookup(problem *p, uint64_t *random) {
    static const tess_type numbers[] = {tess_i32, tess_i32, tess_i64, tess_u8, tess_u16, tess_i16, tess_u32, tess_u64, tess_i8};
    static const tess_type coordinates[] = {tess_f32, tess_f32, tess_f64, tess_f16, tess_bf16};
    const int ndim = (int)hostile_between(random, 1, 3), index_ndim = (int)hostile_between(random, 0, 3),
              axis = (int)hostile_between(random, 0, ndim - 1);
    const bool real = random_chance(random, 50);
    const tess_type table = random_chance(random, 70) ? random_of(random, common, TESS_COUNT(common)) : random_type(random, tess_bool, tess_c128);
    const tess_type index = real ? random_of(random, coordinates, TESS_COUNT(coordinates)) : random_of(random, numbers, TESS_COUNT(numbers));
    int64_t shape[3], index_shape[3], out_shape[6], slices = 1;
    int out_ndim = 0;
    random_shape(random, ndim, shape, ndim == 1 ? most_elements() : most_elements() / 8);
    for (int d = 0; d < ndim; d++)
        slices *= d == axis ? 1 : tess_max64(shape[d], 1);
    random_shape(random, index_ndim, index_shape, tess_max64(most_elements() / slices, 1));
    for (int d = 0; d < axis; d++)
        out_shape[out_ndim++] = shape[d];
    for (int d = 0; d < index_ndim; d++)
        out_shape[out_ndim++] = index_shape[d];
    for (int d = axis + 1; d < ndim; d++)
        out_shape[out_ndim++] = shape[d];
    p->lookup =
        (tess_lookup_options){.struct_size = sizeof p->lookup, .axis = axis, .outside = (tess_outside)hostile_between(random, 0, 3), .fill = -3};
    p->lookup.interpolation = real ? (tess_interpolation)hostile_between(random, 0, 3) : TESS_INTERPOLATE_NONE;
    random_array(&p->in, random, table, ndim, shape);
    hostile_fill(&p->in, random, real ? 1 : 2);
    random_array(&p->second[0], random, index, index_ndim, index_shape);
    draw_index(&p->second[0], random, shape[axis], p->lookup.outside != TESS_OUTSIDE_ERROR || random_chance(random, 5));
    p->seconds = 1;
    if (real && p->lookup.outside != TESS_OUTSIDE_WRAP && p->lookup.interpolation != TESS_INTERPOLATE_CUBIC && random_chance(random, 30)) {
        double x = (double)hostile_between(random, -4, 4);
        random_array(&p->positions, random, tess_f64, 1, &shape[axis]);
        for (int64_t i = 0; i < shape[axis]; i++, x += (double)hostile_between(random, 0, 2048) / 1024)
            memcpy(hostile_element(&p->positions, i), &x, sizeof x);
        p->lookup.positions = &p->positions.tensor;
    }
    const tess_type outs[] = {table, table, tess_f32, tess_f64};
    const tess_type out = !real ? table : table >= tess_c64 ? random_type(random, tess_c64, tess_c128) : random_of(random, outs, TESS_COUNT(outs));
    random_array(&p->out, random, out, out_ndim, out_shape);
}

/* What problems are drawn from: each kind is a test of its own in every program. */
typedef struct random_kind {
    const char *name;
    const tess_op *operation;
    void (*draw)(problem *, uint64_t *);
} random_kind;
static const random_kind random_kinds[] = {{"correlations", &tess_correlate_op, draw_correlation},
                                           {"reductions", &tess_reduce_op, draw_reduction},
                                           {"transposes", &tess_transpose_op, draw_transpose},
                                           {"matrices_in_place", &tess_transpose_op, draw_in_place},
                                           {"lookups", &tess_lookup_op, draw_lookup}};
enum { RANDOM_KINDS = TESS_COUNT(random_kinds) };

static inline void random_tests(struct CMUnitTest *tests, CMUnitTestFunction test, CMFixtureFunction setup, CMFixtureFunction teardown) {
    for (int i = 0; i < RANDOM_KINDS; i++)
        tests[i] = (struct CMUnitTest){random_kinds[i].name, test, setup, teardown, (void *)(uintptr_t)&random_kinds[i]};
}

static inline void random_sweep(const random_kind *kind, bool (*holds)(const problem *, uint64_t *), int64_t cases) {
    const int64_t seed = number_of("TESSERA_RANDOM_SEED", 1), only = number_of("TESSERA_RANDOM_CASE", -1);
    int64_t different = 0;
    cases = number_of("TESSERA_RANDOM_CASES", TESS_SANITIZED ? cases / 8 : cases);
    for (int64_t i = only >= 0 ? only : 0; i < (only >= 0 ? only + 1 : cases); i++) {
        uint64_t random = (uint64_t)seed << 32 ^ (uint64_t)i;
        problem p = {.operation = kind->operation};
        kind->draw(&p, &random);
        if (only >= 0)
            print_message("%s\n", described(&p));
        if (!holds(&p, &random)) {
            print_message("    TESSERA_RANDOM_SEED=%lld TESSERA_RANDOM_CASE=%lld\n", (long long)seed, (long long)i);
            different++;
        }
        for (int k = 0; k < p.seconds; k++)
            hostile_free(&p.second[k]);
        hostile_free(&p.positions);
        hostile_free(&p.in);
        hostile_free(&p.out);
    }
    assert_int_equal(different, 0);
}

#endif
