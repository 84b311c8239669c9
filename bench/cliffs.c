/* SPDX-License-Identifier: Apache-2.0
 * cliffs.c - how long problems drawn at random take, each beside what memory and arithmetic ask: where a shape, a type, an order of axes or an option falls off a cliff,
 * the works that somebody thought of do not show it. Sorted, the first lines are the next work.
 *
 *   build/bench/cliffs cpu|cuda [OP] [SEED [CASES [ELEMENTS]]] | sort -n        OP: correlate, reduce, transpose, lookup or all
 *   build/bench/cliffs plan ...       for cuda: makes the plans and times nothing, so that several processes can fill the cache of kernels first (SEED:I/N takes every N-th)
 *
 * A line: percent of the limit | ms | row | the problem | its case. The limit is the longer of each element read and written once at the speed of a copy (of reading, where
 * little is written) and of the multiply-adds; one thread on a CPU, unless TESSERA_THREADS says otherwise. Every case is drawn from SEED and its number alone. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tessera.h"

enum { BLOCK = 1 << 20, AXES = 4 };
#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

static tess_context *context;
static tess_engine engine;
static tess_limits limits = {.struct_size = sizeof limits};
static double elements = 1 << 23;
static char *block, *in, *second, *out;
static uint64_t state;

static uint64_t drawn(void) { /* Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014 */
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}
static int64_t between(int64_t low, int64_t high) { return low + (int64_t)(drawn() % (uint64_t)(high - low + 1)); }
static bool chance(int percent) { return between(1, 100) <= percent; }
/* 1 .. most, as many below 2^k as between it and 2^(k + 1). */
static int64_t magnitude(double most) {
    const int64_t n = (int64_t)exp2((double)between(0, 1 << 20) * 0x1p-20 * log2(most + 1));
    return n < 1 ? 1 : n;
}
static void shuffle(int *order, int count) { /* 0 .. count - 1 */
    for (int d = 0; d < count; d++)
        order[d] = d;
    for (int d = count - 1; d > 0; d--) {
        const int other = (int)between(0, d), kept = order[d];
        order[d] = order[other];
        order[other] = kept;
    }
}
static const tess_type types[] = {tess_f32, tess_f32, tess_f32, tess_f32,  tess_u8,  tess_u8, tess_f16, tess_f16,
                                  tess_f64, tess_i16, tess_u16, tess_bf16, tess_i32, tess_i8, tess_c64};

typedef struct problem {
    int ndim, order; /* of `in`: 0 C's, 1 Fortran's, 2 another */
    int64_t shape[2 * AXES], strides[2 * AXES], out_shape[2 * AXES];
    int out_ndim;
    tess_type type, to;
    double bytes, flops, written; /* flops of f32 */
    char text[400];
    bool in_place;
    tess_status status;
    tess_plan *plan;
} problem;

static double product(const int64_t *shape, int ndim) {
    double n = 1;
    for (int d = 0; d < ndim; d++)
        n *= (double)shape[d];
    return n;
}

/* Some `size` elements, half of the time rows of whole vectors. */
static void draw_shape(problem *p, int ndim, double size) {
    int order[AXES], axes[AXES];
    p->ndim = ndim;
    shuffle(order, ndim);
    for (int k = 0; k < ndim; k++) {
        p->shape[order[k]] = k < ndim - 1 ? magnitude(size) : (int64_t)size;
        size = fmax(size / (double)p->shape[order[k]], 1);
    }
    const int64_t whole = (int64_t)4 << between(0, 5), up = (p->shape[ndim - 1] + whole - 1) / whole * whole;
    if (chance(50) && up < 2 * p->shape[ndim - 1])
        p->shape[ndim - 1] = up;
    p->order = chance(75) ? 0 : chance(60) ? 1 : 2;
    shuffle(axes, ndim);
    for (int d = 0; p->order < 2 && d < ndim; d++)
        axes[d] = p->order == 0 ? d : ndim - 1 - d;
    int64_t span = 1;
    for (int k = ndim - 1; k >= 0; k--) {
        p->strides[axes[k]] = span;
        span *= p->shape[axes[k]];
    }
    p->type = types[between(0, COUNT(types) - 1)];
}

static const char *text_of(const int64_t *shape, int ndim) {
    static char text[4][128];
    static int next;
    char *to = text[next++ % 4];
    int n = 0;
    *to = 0;
    for (int d = 0; d < ndim; d++)
        n += snprintf(to + n, 128 - (size_t)n, "%s%lld", d ? " x " : "", (long long)shape[d]);
    return to;
}

static DLTensor array(void *data, tess_type type, int ndim, int64_t *shape, int64_t *strides) { return tess_view(data, type, ndim, shape, strides); }
static tess_call call(void) { return (tess_call){.engine = engine}; }

/* Values of every type, again and again: floats within (-1, 1), any integers. */
static void fill(char *to, tess_type type, double count) {
    const size_t size = tess_type_size(type), bytes = (size_t)(count * (double)size);
    for (size_t i = 0; i < BLOCK / size; i++) {
        const float x = (float)(int32_t)drawn() * 0x1p-31f;
        const double wide = x;
        uint32_t bits;
        memcpy(&bits, &x, 4);
        const uint64_t any = drawn();
        const uint16_t half = type == tess_bf16 ? (uint16_t)(bits >> 16) : (uint16_t)((any & 0x83ff) | (8 + any % 7) << 10);
        const float pair[2] = {x, x / 3};
        memcpy(block + i * size,
               type == tess_f32                        ? (const void *)&x
               : type == tess_f64                      ? (const void *)&wide
               : type == tess_c64                      ? (const void *)pair
               : type == tess_f16 || type == tess_bf16 ? (const void *)&half
                                                       : (const void *)&any,
               size);
    }
    for (size_t at = 0; at < bytes; at += BLOCK)
        memcpy(to + at, block, bytes - at < BLOCK ? bytes - at : BLOCK);
}

static void draw_correlation(problem *p) {
    const int ndim = (int)between(1, 3), count = (int)between(1, ndim);
    const bool list = count > 1 && chance(50);
    int64_t width[3], taps = 1, sum = 0;
    int axes[3];
    for (int k = 0; k < count; k++) {
        width[k] = chance(80) ? 3 + 2 * between(0, 3) : magnitude(count == 1 ? 100 : list ? 40 : 12);
        taps *= width[k];
        sum += width[k];
    }
    draw_shape(p, ndim, elements * fmin(1, 60.0 / (double)(list ? sum : taps)));
    for (int k = 0; k < count; k++)
        axes[k] = ndim - count + k;
    if (ndim > count && chance(40)) /* colours, or planes side by side */
        for (int k = 0; k < count; k++)
            axes[k]--;
    if (ndim > count && axes[count - 1] == ndim - 2 && chance(60))
        p->shape[ndim - 1] = between(2, 4);
    for (int64_t d = ndim - 1, span = 1; p->order == 0 && d >= 0; span *= p->shape[d--])
        p->strides[d] = span;
    if (p->order)
        for (int64_t d = 0, span = 1; d < ndim; span *= p->shape[d++])
            p->strides[d] = span;
    const bool whole = p->type < tess_f16, small = whole && chance(40);
    const tess_type mask = small ? tess_i8 : p->type == tess_f64 || p->type == tess_i32 ? tess_f64 : tess_f32;
    const bool wide = mask == tess_f64;
    p->to = chance(75) ? p->type : wide || small ? tess_f64 : p->type == tess_c64 ? tess_c64 : tess_f32;
    p->out_ndim = ndim;
    memcpy(p->out_shape, p->shape, sizeof p->shape);
    const tess_boundary boundary = (tess_boundary)between(TESS_BOUNDARY_ZERO, TESS_BOUNDARY_WRAP);
    int64_t strides[3], line[3][1];
    for (int64_t k = count - 1, span = 1; k >= 0; span *= width[k--])
        strides[k] = span;
    DLTensor masks[3];
    const DLTensor *each[3];
    fill(second, mask, 4096);
    for (int k = 0; k < (list ? count : 1); k++) {
        line[k][0] = width[k];
        masks[k] = list ? array(second + 512 * k, mask, 1, line[k], NULL) : array(second, mask, count, width, strides);
        each[k] = &masks[k];
    }
    const bool both = p->order && chance(60); /* out in Fortran's order, too */
    DLTensor from = array(in, p->type, ndim, p->shape, p->strides), into = array(out, p->to, ndim, p->out_shape, both ? p->strides : NULL);
    p->status = tess_plan_correlate(
        &p->plan, context, &from, each, list ? count : 1, &into,
        &(tess_correlate_options){.struct_size = sizeof(tess_correlate_options), .axes = axes, .naxes = count, .boundary = boundary, .call = call()});
    const double n = product(p->shape, ndim), c = (wide ? 2 : 1) * (p->type == tess_c64 ? 4 : 1);
    p->flops = 2 * c * n * (double)(list ? sum : taps);
    p->written = n * (double)tess_type_size(p->to);
    p->bytes = n * (double)tess_type_size(p->type) + p->written;
    snprintf(p->text, sizeof p->text, "correlate %s %s%s%s to %s, %s%s of %s along %d..%d, boundary %d", tess_type_name(p->type),
             text_of(p->shape, ndim), p->order ? ", Fortran's order" : "", both ? " on both sides" : "", tess_type_name(p->to), list ? "list " : "",
             text_of(width, count), tess_type_name(mask), axes[0], axes[count - 1], boundary);
}

static void draw_reduction(problem *p) {
    static const tess_reduction operations[] = {TESS_SUM, TESS_SUM,    TESS_SUM,    TESS_MEAN, TESS_VAR,           TESS_VAR,  TESS_STD,   TESS_MAX,
                                                TESS_MIN, TESS_ARGMAX, TESS_ARGMAX, TESS_ANY,  TESS_COUNT_NONZERO, TESS_PROD, TESS_NORM1, TESS_NORM2};
    const int ndim = (int)between(1, 4);
    const bool segments = chance(20);
    const int count = segments ? 1 : (int)between(1, ndim);
    int axes[AXES], order[AXES];
    bool reduced[AXES] = {false};
    draw_shape(p, ndim, elements);
    shuffle(order, ndim);
    for (int k = 0; k < count; k++)
        reduced[axes[k] = order[k]] = true;
    tess_reduction operation = operations[between(0, COUNT(operations) - 1)];
    if (p->type == tess_c64 && operation != TESS_PROD && operation != TESS_NORM1)
        operation = TESS_SUM;
    const bool sums = operation == TESS_SUM || operation == TESS_MEAN || operation == TESS_NORM1, exact = sums && p->type != tess_c64 && chance(25),
               omit = chance(10);
    const int64_t n = p->shape[axes[0]], many = segments ? magnitude((double)n) : 0;
    for (int d = 0; d < ndim; d++)
        if (!reduced[d] || segments)
            p->out_shape[p->out_ndim++] = reduced[d] ? many : p->shape[d];
    p->to = operation == TESS_ARGMAX || operation == TESS_COUNT_NONZERO ? tess_i64
            : operation == TESS_ANY                                     ? tess_bool
            : p->type == tess_c64                                       ? operation == TESS_NORM1 ? tess_f32 : tess_c64
            : p->type == tess_f64                                       ? tess_f64
                                                                        : tess_f32;
    const bool skewed = chance(40);
    if (segments) {
        double at = 0, all = 0;
        for (int64_t i = 0; i < many; i++)
            all += ((double *)(void *)second)[i] = skewed ? (double)magnitude(1e4) : (double)between(0, 1000);
        for (int64_t i = 0; i <= many; i++) {
            const double next = i < many ? ((double *)(void *)second)[i] : 0;
            ((int64_t *)(void *)second)[i] = i == many ? n : (int64_t)(at * (double)n / fmax(all, 1));
            at += next;
        }
    }
    int64_t ends = many + 1;
    DLTensor offsets = array(second, tess_i64, 1, &ends, NULL), from = array(in, p->type, ndim, p->shape, p->strides),
             into = array(out, p->to, p->out_ndim, p->out_shape, NULL);
    p->status = tess_plan_reduce(&p->plan, context, operation, &from, &into,
                                 &(tess_reduce_options){.struct_size = sizeof(tess_reduce_options),
                                                        .axes = axes,
                                                        .naxes = count,
                                                        .nan = omit ? TESS_NAN_OMIT : TESS_NAN_PROPAGATE,
                                                        .exact = exact,
                                                        .offsets = segments ? &offsets : NULL,
                                                        .call = call()});
    p->written = product(p->out_shape, p->out_ndim) * (double)tess_type_size(p->to);
    p->bytes = product(p->shape, ndim) * (double)tess_type_size(p->type) + p->written + (double)(segments ? 8 * ends : 0);
    int n_text = snprintf(p->text, sizeof p->text, "reduce %s%s %s %s%s%s along", exact ? "exact " : "", tess_reduction_name(operation),
                          tess_type_name(p->type), text_of(p->shape, ndim),
                          p->order == 1 ? ", Fortran's order"
                          : p->order    ? ", some order"
                                        : "",
                          omit ? ", no NaNs" : "");
    for (int k = 0; k < count; k++)
        n_text += snprintf(p->text + n_text, sizeof p->text - (size_t)n_text, " %d", axes[k]);
    if (segments)
        snprintf(p->text + n_text, sizeof p->text - (size_t)n_text, ", %lld %ssegments", (long long)many, skewed ? "skewed " : "");
}

static void draw_transpose(problem *p) {
    const int ndim = (int)between(2, 4);
    int axes[AXES];
    draw_shape(p, ndim, elements);
    shuffle(axes, ndim);
    const bool in_place = p->in_place = chance(15);
    if (in_place) { /* a matrix, square half of the time */
        p->ndim = 2;
        p->shape[0] = chance(50) ? (int64_t)sqrt(elements) : magnitude(elements);
        p->shape[1] = (int64_t)(elements / (double)p->shape[0]);
        p->strides[1] = 1;
        p->strides[0] = p->shape[1];
        axes[0] = 1;
        axes[1] = p->order = 0;
    }
    p->out_ndim = p->ndim;
    p->to = p->type;
    for (int d = 0; d < p->ndim; d++)
        p->out_shape[d] = p->shape[axes[d]];
    DLTensor from = array(in_place ? out : in, p->type, p->ndim, p->shape, p->strides), into = array(out, p->type, p->ndim, p->out_shape, NULL);
    p->status =
        tess_plan_transpose(&p->plan, context, &from, &into,
                            &(tess_transpose_options){.struct_size = sizeof(tess_transpose_options), .perm = axes, .nperm = p->ndim, .call = call()});
    p->written = product(p->shape, p->ndim) * (double)tess_type_size(p->type);
    p->bytes = 2 * p->written;
    int n = snprintf(p->text, sizeof p->text, "transpose %s %s%s%s by", tess_type_name(p->type), text_of(p->shape, p->ndim),
                     p->order == 1 ? ", Fortran's order"
                     : p->order    ? ", some order"
                                   : "",
                     in_place ? ", in place" : "");
    for (int d = 0; d < p->ndim; d++)
        n += snprintf(p->text + n, sizeof p->text - (size_t)n, " %d", axes[d]);
}

static void draw_lookup(problem *p) {
    static const tess_type numbers[] = {tess_i32, tess_i32, tess_i64, tess_u8, tess_u16}, coordinates[] = {tess_f32, tess_f32, tess_f64, tess_f16};
    const bool real = chance(40);
    const tess_type index = real ? coordinates[between(0, COUNT(coordinates) - 1)] : numbers[between(0, COUNT(numbers) - 1)];
    const int64_t before = chance(75) ? 1 : magnitude(1000), after = chance(65) ? 1 : chance(50) ? between(2, 8) : magnitude(1000);
    int64_t entries = index == tess_u8 ? 256 : magnitude(index == tess_f16 ? 2000 : chance(90) ? 65536 : 4e6);
    entries = entries < elements / (double)(before * after) ? entries : (int64_t)fmax(elements / (double)(before * after), 2);
    int64_t shape[3] = {before, entries, after};
    const int64_t count = (int64_t)fmax(elements / (double)(before * after), 1);
    draw_shape(p, 1, 1);
    if (real && p->type == tess_c64)
        p->type = tess_f32;
    int64_t index_shape[1] = {count}, out_shape[3] = {before, count, after};
    const tess_interpolation interpolation = real ? (tess_interpolation)between(1, 3) : TESS_INTERPOLATE_NONE;
    p->ndim = 3;
    memcpy(p->shape, shape, sizeof shape);
    memcpy(p->out_shape, out_shape, sizeof out_shape);
    p->to = p->type;
    p->out_ndim = 3;
    for (int64_t i = 0; i < count; i++) {
        const int64_t whole = between(0, entries - 1);
        const double x = (double)whole * (double)(entries - 1) / (double)entries;
        const float f = (float)x < (float)(entries - 1) ? (float)x : 0;
        const uint16_t half = (uint16_t)(whole % 512); /* numbers below 1 that are not normal: what matters is which entries they are */
        const size_t size = tess_type_size(index);
        memcpy(second + (size_t)i * size,
               !real               ? (const void *)&whole
               : index == tess_f64 ? (const void *)&x
               : index == tess_f32 ? (const void *)&f
                                   : (const void *)&half,
               size);
    }
    DLTensor table = array(in, p->type, 3, p->shape, NULL), at = array(second, index, 1, index_shape, NULL),
             into = array(out, p->to, 3, p->out_shape, NULL);
    const tess_outside outside = (tess_outside)between(0, 3);
    p->status = tess_plan_lookup(
        &p->plan, context, &table, &at, &into,
        &(tess_lookup_options){
            .struct_size = sizeof(tess_lookup_options), .axis = 1, .outside = outside, .interpolation = interpolation, .call = call()});
    p->written = product(out_shape, 3) * (double)tess_type_size(p->to);
    const double read = product(shape, 3) * (double)tess_type_size(p->type);
    p->bytes = p->written + (double)count * (double)tess_type_size(index) + read;
    snprintf(p->text, sizeof p->text, "lookup %s[%s] by %s %lld, interpolation %d, outside %d", tess_type_name(p->type), text_of(shape, 3),
             tess_type_name(index), (long long)count, interpolation, outside);
}

static void one(void (*draw)(problem *), int64_t seed, int64_t number, bool plan_only) {
    problem p = {0};
    state = (uint64_t)seed << 32 ^ (uint64_t)number;
    drawn();
    draw(&p);
    double seconds;
    if (p.status == TESS_OK && !plan_only && draw != draw_lookup)
        fill(in, p.type, product(p.shape, p.ndim));
    else if (p.status == TESS_OK && !plan_only)
        fill(in, p.type, product(p.shape, 3));
    if (p.status == TESS_OK && !plan_only)
        p.status = tess_time_plan(p.plan, p.in_place ? out : in, draw == draw_lookup ? second : NULL, out, 0.05, &seconds);
    if (p.status != TESS_OK) {
        printf("9999 | not run: %s | %s | case %lld:%lld\n", p.text, tess_detail(), (long long)seed, (long long)number);
    } else if (!plan_only) {
        static char why[65536];
        char row[64] = "?";
        tess_explain(p.plan, TESS_TEXT, why, sizeof why, NULL);
        const char *chosen = strstr(why, "strategy");
        if (chosen)
            sscanf(chosen, "strategy %63s", row);
        const double bandwidth = p.written < p.bytes / 8 ? limits.read_bytes_per_s : limits.copy_bytes_per_s,
                     limit = fmax(p.bytes / bandwidth, p.flops / limits.f32_flops_per_s);
        printf("%6.1f | %9.4f ms | %s | %s | case %lld:%lld\n", 100 * limit / seconds, 1e3 * seconds, row, p.text, (long long)seed,
               (long long)number);
    }
    fflush(stdout);
    tess_plan_free(p.plan);
}

static void check(tess_status status) {
    if (status != TESS_OK) {
        fprintf(stderr, "%s\n", tess_detail());
        exit(1);
    }
}

int main(int count, char **word) {
    static const struct {
        const char *name;
        void (*draw)(problem *);
    } operations[] = {{"correlate", draw_correlation}, {"reduce", draw_reduction}, {"transpose", draw_transpose}, {"lookup", draw_lookup}};
    if (count < 2)
        return fputs("cliffs cpu|cuda|plan [OP] [SEED[:I/N] [CASES [ELEMENTS]]]\n", stderr), 1;
    const char *only = count > 2 ? word[2] : "all";
    int64_t seed = 1, first = 0, step = 1, cases = 100;
    if (count > 3)
        sscanf(word[3], "%lld:%lld/%lld", (long long *)&seed, (long long *)&first, (long long *)&step);
    cases = count > 4 ? atoll(word[4]) : cases;
    elements = count > 5 ? atof(word[5]) : elements;
    const bool plan_only = strcmp(word[1], "plan") == 0;
    engine = strcmp(word[1], "cpu") == 0 ? TESS_ENGINE_CPU : TESS_ENGINE_CUDA;
    check(tess_open(&context, &(tess_context_options){.struct_size = sizeof(tess_context_options),
                                                      .threads = engine == TESS_ENGINE_CPU && !getenv("TESSERA_THREADS"),
                                                      .engine = engine}));
    const size_t room = (size_t)(elements * 64) + (64 << 20);
    block = malloc(BLOCK), in = aligned_alloc(4096, room / 4096 * 4096), second = aligned_alloc(4096, room / 4096 * 4096),
    out = aligned_alloc(4096, room / 4096 * 4096);
    if (!block || !in || !second || !out)
        return fputs("no memory\n", stderr), 1;
    memset(out, 0, room / 4096 * 4096);
    if (!plan_only)
        check(tess_measure_limits(context, 0.3, &limits));
    if (!plan_only)
        printf("10000 | limits: copy %.1f GB/s, read %.1f GB/s, f32 %.1f GFLOP/s\n", limits.copy_bytes_per_s / 1e9, limits.read_bytes_per_s / 1e9,
               limits.f32_flops_per_s / 1e9);
    for (int64_t i = first; i < cases; i += step)
        for (int o = 0; o < COUNT(operations); o++)
            if (strcmp(only, "all") == 0 || strcmp(only, operations[o].name) == 0)
                one(operations[o].draw, seed, i, plan_only);
    tess_close(context);
    free(block), free(in), free(second), free(out);
    return 0;
}
