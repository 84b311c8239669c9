/* SPDX-License-Identifier: Apache-2.0
 * streams.c - times reductions, transposes and lookups, on arrays far over the last-level cache and on some within it, against the limits of the
 * same run.
 *
 *     make build/bench/streams && build/bench/streams [-j THREADS] [-i avx2] [-p small] [-s STRATEGY] [-r ROUNDS] [WORD ...]
 *
 * WORDs choose the cases whose names contain one of them (_ for a space); -p small asks for ordinary pages. The time is the median of ROUNDS (7) executions of a
 * plan. The percentage is of the time that reading (reductions) or copying as many bytes takes, by the library's own loops for limits, the median of runs in turns
 * with those of the case: on a machine that is shared with others the speed of memory is another one from minute to minute. What fits the caches is compared with the
 * limits measured first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/limits.h"
#include "core/parallel.h"
#include "core/strategy.h"

#define Mi *1048576
enum { ALL = -1, INPLACE = 1, SMALL = 8000000 }; /* bytes of what is in the caches */
typedef enum work { REDUCE, TRANSPOSE, LOOKUP } work;

typedef struct item {
    const char *name;
    work work;
    tess_type type, index; /* lookup: of the table, of the index */
    int ndim;
    int64_t shape[4];
    int operation, axis; /* reduce */
    bool exact;
    int perm[4]; /* transpose */
    int inplace;
    int64_t table; /* lookup: entries */
    tess_interpolation interpolation;
} item;

#define SHAPE(...) .ndim = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), .shape = {__VA_ARGS__}
#define R(text, op, t, a, ...) \
    { .name = text, .work = REDUCE, .type = t, .operation = op, .axis = a, SHAPE(__VA_ARGS__) }
#define E(text, op, t, a, ...) \
    { .name = text, .work = REDUCE, .type = t, .operation = op, .axis = a, .exact = true, SHAPE(__VA_ARGS__) }
#define T(text, t, at, p, ...) \
    { .name = text, .work = TRANSPOSE, .type = t, .inplace = at, .perm = PERM_##p, SHAPE(__VA_ARGS__) }
#define PERM_10 \
    { 1, 0 }
#define PERM_102 \
    { 1, 0, 2 }
#define PERM_021 \
    { 0, 2, 1 }
#define PERM_201 \
    { 2, 0, 1 }
#define PERM_120 \
    { 1, 2, 0 }
#define PERM_0231 \
    { 0, 2, 3, 1 }
#define PERM_3210 \
    { 3, 2, 1, 0 }
#define L(text, t, n, i, how, k)                                                                                                            \
    {                                                                                                                                       \
        .name = text, .work = LOOKUP, .type = t, .index = i, .table = n, .interpolation = TESS_INTERPOLATE_##how, .ndim = 1, .shape = { k } \
    }

static const item items[] = {
    R("sum f32 all", TESS_SUM, tess_f32, ALL, 64 Mi),
    R("sum f64 all", TESS_SUM, tess_f64, ALL, 32 Mi),
    R("sum i32 all", TESS_SUM, tess_i32, ALL, 64 Mi),
    R("sum u8 all", TESS_SUM, tess_u8, ALL, 256 Mi),
    R("sum f16 all", TESS_SUM, tess_f16, ALL, 128 Mi),
    R("mean f32 all", TESS_MEAN, tess_f32, ALL, 64 Mi),
    R("norm1 f32 all", TESS_NORM1, tess_f32, ALL, 64 Mi),
    R("norm2 f32 all", TESS_NORM2, tess_f32, ALL, 64 Mi),
    R("norminf f32 all", TESS_NORM_INF, tess_f32, ALL, 64 Mi),
    R("max f32 all", TESS_MAX, tess_f32, ALL, 64 Mi),
    R("min f64 all", TESS_MIN, tess_f64, ALL, 32 Mi),
    R("max i32 all", TESS_MAX, tess_i32, ALL, 64 Mi),
    R("max u8 all", TESS_MAX, tess_u8, ALL, 256 Mi),
    R("max f16 all", TESS_MAX, tess_f16, ALL, 128 Mi),
    R("argmax f32 all", TESS_ARGMAX, tess_f32, ALL, 64 Mi),
    R("argmin f64 all", TESS_ARGMIN, tess_f64, ALL, 32 Mi),
    R("argmax i32 all", TESS_ARGMAX, tess_i32, ALL, 64 Mi),
    R("argmax u8 all", TESS_ARGMAX, tess_u8, ALL, 256 Mi),
    R("any u8 all", TESS_ANY, tess_u8, ALL, 256 Mi),
    R("all f32 all", TESS_ALL, tess_f32, ALL, 64 Mi),
    R("count f32 all", TESS_COUNT_NONZERO, tess_f32, ALL, 64 Mi),
    R("var f32 all", TESS_VAR, tess_f32, ALL, 64 Mi),
    R("var f64 all", TESS_VAR, tess_f64, ALL, 32 Mi),
    E("exact sum f32 all", TESS_SUM, tess_f32, ALL, 64 Mi),
    E("exact sum f64 all", TESS_SUM, tess_f64, ALL, 32 Mi),
    E("exact sum f16 all", TESS_SUM, tess_f16, ALL, 128 Mi),
    E("exact sum f32 first", TESS_SUM, tess_f32, 0, 8192, 8192),
    E("exact sum f32 last", TESS_SUM, tess_f32, 1, 8192, 8192),
    R("sum f32 first", TESS_SUM, tess_f32, 0, 8192, 8192),
    R("sum f32 middle", TESS_SUM, tess_f32, 1, 64, 1024, 1024),
    R("sum f32 last", TESS_SUM, tess_f32, 1, 8192, 8192),
    R("sum f64 first", TESS_SUM, tess_f64, 0, 4096, 8192),
    R("sum u8 first", TESS_SUM, tess_u8, 0, 16384, 16384),
    R("sum f16 first", TESS_SUM, tess_f16, 0, 8192, 16384),
    R("max f32 first", TESS_MAX, tess_f32, 0, 8192, 8192),
    R("max f32 last", TESS_MAX, tess_f32, 1, 8192, 8192),
    R("argmax f32 first", TESS_ARGMAX, tess_f32, 0, 8192, 8192),
    R("argmax f32 last", TESS_ARGMAX, tess_f32, 1, 8192, 8192),
    R("var f32 first", TESS_VAR, tess_f32, 0, 8192, 8192),
    R("var f32 middle", TESS_VAR, tess_f32, 1, 64, 1024, 1024),
    R("var f32 last", TESS_VAR, tess_f32, 1, 8192, 8192),
    R("count f32 first", TESS_COUNT_NONZERO, tess_f32, 0, 8192, 8192),
    R("narrow sum f32 first, 512 columns", TESS_SUM, tess_f32, 0, 131072, 512),
    R("narrow max f32 first, 512 columns", TESS_MAX, tess_f32, 0, 131072, 512),
    R("narrow var f32 first, 64 columns", TESS_VAR, tess_f32, 0, 1 Mi, 64),
    R("narrow sum f32 first, 3 columns", TESS_SUM, tess_f32, 0, 16 Mi, 3),
    R("narrow sum f32 first, 8 columns", TESS_SUM, tess_f32, 0, 8 Mi, 8),
    R("narrow sum f32 first, 16 columns", TESS_SUM, tess_f32, 0, 4 Mi, 16),
    R("narrow sum f32 first, 32 columns", TESS_SUM, tess_f32, 0, 2 Mi, 32),
    R("narrow sum f32 first, 64 columns", TESS_SUM, tess_f32, 0, 1 Mi, 64),
    R("narrow mean u8 first, 3 columns", TESS_MEAN, tess_u8, 0, 64 Mi, 3),
    R("narrow max f32 first, 3 columns", TESS_MAX, tess_f32, 0, 16 Mi, 3),
    R("narrow argmax f32 first, 3 columns", TESS_ARGMAX, tess_f32, 0, 16 Mi, 3),
    R("narrow var f32 first, 3 columns", TESS_VAR, tess_f32, 0, 16 Mi, 3),
    R("planes: sum f32, 3", TESS_SUM, tess_f32, 0, 3, 16 Mi),
    R("planes: sum f32, 21", TESS_SUM, tess_f32, 0, 21, 2000000),
    R("planes: mean u8, 3", TESS_MEAN, tess_u8, 0, 3, 16 Mi),
    R("planes: max u8, 21", TESS_MAX, tess_u8, 0, 21, 8000000),
    R("planes: argmax f32, 3", TESS_ARGMAX, tess_f32, 0, 3, 16 Mi),
    R("planes: var f32, 21", TESS_VAR, tess_f32, 0, 21, 2000000),
    R("planes: sum f32, sets of 5 x 12", TESS_SUM, tess_f32, 1, 1 Mi, 5, 12),
    R("planes: sum f32, sets of 30 x 120", TESS_SUM, tess_f32, 1, 20000, 30, 120),
    R("planes: max u8, sets of 100 x 20", TESS_MAX, tess_u8, 1, 100000, 100, 20),
    R("rows of 16 sum f32", TESS_SUM, tess_f32, 1, 4 Mi, 16),
    R("rows of 16 mean f64", TESS_MEAN, tess_f64, 1, 2 Mi, 16),
    R("rows of 16 norm2 f32", TESS_NORM2, tess_f32, 1, 4 Mi, 16),
    R("rows of 16 max f32", TESS_MAX, tess_f32, 1, 4 Mi, 16),
    R("rows of 16 argmax f32", TESS_ARGMAX, tess_f32, 1, 4 Mi, 16),
    R("rows of 16 sum u8", TESS_SUM, tess_u8, 1, 4 Mi, 16),
    R("rows of 16 sum i32", TESS_SUM, tess_i32, 1, 4 Mi, 16),
    R("rows of 3 sum f32", TESS_SUM, tess_f32, 1, 16 Mi, 3),
    R("rows of 3 max f32", TESS_MAX, tess_f32, 1, 16 Mi, 3),
    R("rows of 64 sum f32", TESS_SUM, tess_f32, 1, 1 Mi, 64),
    R("rows of 64 max f32", TESS_MAX, tess_f32, 1, 1 Mi, 64),
    R("rows of 200 sum f32", TESS_SUM, tess_f32, 1, 320000, 200),
    R("rows of 200 argmax f32", TESS_ARGMAX, tess_f32, 1, 320000, 200),
    R("cached argmax f32 128 Ki", TESS_ARGMAX, tess_f32, ALL, 131072),
    R("cached sum f32 128 Ki", TESS_SUM, tess_f32, ALL, 131072),
    R("cached sum f32 512 x 512, first", TESS_SUM, tess_f32, 0, 512, 512),
    T("transpose u8 8192 x 8192", tess_u8, 0, 10, 8192, 8192),
    T("transpose f16 8192 x 8192", tess_f16, 0, 10, 8192, 8192),
    T("transpose f32 8192 x 8192", tess_f32, 0, 10, 8192, 8192),
    T("transpose f32 4096 x 4096", tess_f32, 0, 10, 4096, 4096),
    T("transpose f64 8192 x 8192", tess_f64, 0, 10, 8192, 8192),
    T("transpose c128 4096 x 4096", tess_c128, 0, 10, 4096, 4096),
    T("transpose u8 10007 x 9973", tess_u8, 0, 10, 10007, 9973),
    T("transpose f16 10007 x 9973", tess_f16, 0, 10, 10007, 9973),
    T("transpose f32 10007 x 9973", tess_f32, 0, 10, 10007, 9973),
    T("transpose f64 5003 x 9973", tess_f64, 0, 10, 5003, 9973),
    T("transpose c128 5003 x 4999", tess_c128, 0, 10, 5003, 4999),
    T("transpose f32 (3, 2, 1, 0)", tess_f32, 0, 3210, 32, 64, 128, 128),
    T("transpose f32 1 Mi x 4 x 3, (0, 2, 1)", tess_f32, 0, 021, 1 Mi, 4, 3),
    T("transpose f32 NCHW to NHWC", tess_f32, 0, 0231, 32, 64, 128, 128),
    T("transpose u8 pixels to planes", tess_u8, 0, 201, 4096, 4096, 3),
    T("transpose u8 planes to pixels", tess_u8, 0, 120, 3, 4096, 4096),
    T("transpose f32 4096 x 4096 x 3, (1, 0, 2)", tess_f32, 0, 102, 4096, 4096, 3),
    T("transpose f32 4001 x 4003 x 3, (1, 0, 2)", tess_f32, 0, 102, 4001, 4003, 3),
    T("transpose u8 8192 x 8192 x 3, (1, 0, 2)", tess_u8, 0, 102, 8192, 8192, 3),
    T("transpose f32 2048 x 2048 x 15, (1, 0, 2)", tess_f32, 0, 102, 2048, 2048, 15),
    T("transpose f32 300000 x 8 x 8, (0, 2, 1)", tess_f32, 0, 021, 300000, 8, 8),
    T("inplace u8 8192 x 8192", tess_u8, INPLACE, 10, 8192, 8192),
    T("inplace f32 8192 x 8192", tess_f32, INPLACE, 10, 8192, 8192),
    T("inplace f32 7001 x 7001", tess_f32, INPLACE, 10, 7001, 7001),
    T("inplace f64 8192 x 8192", tess_f64, INPLACE, 10, 8192, 8192),
    T("inplace f32 4096 x 8000", tess_f32, INPLACE, 10, 4096, 8000),
    T("inplace f32 7001 x 6997", tess_f32, INPLACE, 10, 7001, 6997),
    T("inplace f32 30000000 x 3", tess_f32, INPLACE, 10, 30000000, 3),
    L("lookup f32[256] by u8", tess_f32, 256, tess_u8, NONE, 32 Mi),
    L("lookup f32[256] by i32", tess_f32, 256, tess_i32, NONE, 32 Mi),
    L("lookup f32[36] by i32", tess_f32, 36, tess_i32, NONE, 32 Mi),
    L("lookup f32[256] by i64", tess_f32, 256, tess_i64, NONE, 16 Mi),
    L("lookup u8[256] by u8", tess_u8, 256, tess_u8, NONE, 64 Mi),
    L("lookup f64[256] by u8", tess_f64, 256, tess_u8, NONE, 16 Mi),
    L("lookup f32[4096] by u16", tess_f32, 4096, tess_u16, NONE, 32 Mi),
    L("lookup f32[4096] by i32", tess_f32, 4096, tess_i32, NONE, 32 Mi),
    L("lookup f32[4096] by i64", tess_f32, 4096, tess_i64, NONE, 16 Mi),
    L("lookup u8[4096] by u16", tess_u8, 4096, tess_u16, NONE, 64 Mi),
    L("lookup f64[4096] by i32", tess_f64, 4096, tess_i32, NONE, 16 Mi),
    L("lookup f32[65536] by u16", tess_f32, 65536, tess_u16, NONE, 32 Mi),
    L("lookup f32[65536] by i32", tess_f32, 65536, tess_i32, NONE, 32 Mi),
    L("lookup f32[1 Mi] by i32", tess_f32, 1 Mi, tess_i32, NONE, 32 Mi),
    L("lookup f32[16 Mi] by i32", tess_f32, 16 Mi, tess_i32, NONE, 32 Mi),
    L("lookup f64[8 Mi] by i64", tess_f64, 8 Mi, tess_i64, NONE, 16 Mi),
    L("lookup u16[65536] by u16", tess_u16, 65536, tess_u16, NONE, 64 Mi),
    L("cached lookup u8[256] by u8 64 Ki", tess_u8, 256, tess_u8, NONE, 65536),
    L("cached lookup f32[4096] by i32 64 Ki", tess_f32, 4096, tess_i32, NONE, 65536),
    L("cached interpolate f32[1024] linear 64 Ki", tess_f32, 1024, tess_f32, LINEAR, 65536),
    L("cached interpolate f32[1024] cubic 64 Ki", tess_f32, 1024, tess_f32, CUBIC, 65536),
    L("cached interpolate f64[1024] linear 64 Ki", tess_f64, 1024, tess_f64, LINEAR, 65536),
    L("interpolate f32[1024] nearest", tess_f32, 1024, tess_f32, NEAREST, 32 Mi),
    L("interpolate f32[1024] linear", tess_f32, 1024, tess_f32, LINEAR, 32 Mi),
    L("interpolate f32[1024] cubic", tess_f32, 1024, tess_f32, CUBIC, 32 Mi),
    L("interpolate f64[1024] linear", tess_f64, 1024, tess_f64, LINEAR, 16 Mi),
    L("interpolate f64[1024] cubic", tess_f64, 1024, tess_f64, CUBIC, 16 Mi),
    L("interpolate f32[65536] linear", tess_f32, 65536, tess_f32, LINEAR, 32 Mi),
};

static int64_t size_of(tess_type type) {
    DLDataType t = tess_view(NULL, type, 0, NULL, NULL).dtype;
    return (t.bits + 7) / 8;
}

static void *pages(size_t bytes, bool huge) {
    char *block = mmap(NULL, bytes + (2 << 20), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        exit(fprintf(stderr, "no memory\n"));
    block += -(uintptr_t)block & ((2 << 20) - 1);
    madvise(block, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    return block;
}

/* Random bits; floats in -1 .. 1, indices and coordinates inside the table. */
static void fill(void *data, tess_type type, int64_t n, int64_t below) {
    enum { PERIOD = 1 << 18 }; /* elements: random enough for every predictor, and quickly made */
    uint64_t state = 1;
    uint8_t *u8 = data;
    uint16_t *u16 = data;
    for (int64_t i = 0; i < n && i < PERIOD; i++) {
        uint32_t r = (uint32_t)((state = state * 6364136223846793005u + 1442695040888963407u) >> 32);
        switch (type) {
        case tess_u8: u8[i] = (uint8_t)(below ? r % below : r); break;
        case tess_u16: u16[i] = (uint16_t)(below ? r % below : r); break;
        case tess_f16: u16[i] = (uint16_t)((r & 0x83ff) | 0x3800); break;
        case tess_i32: ((int32_t *)data)[i] = (int32_t)(below ? r % below : r); break;
        case tess_i64: ((int64_t *)data)[i] = (int64_t)(below ? r % below : r); break;
        case tess_f32: ((float *)data)[i] = below ? (float)(r >> 8) * 0x1p-24f * (float)(below - 1) : (float)(int32_t)r * 0x1p-31f; break;
        case tess_f64: ((double *)data)[i] = below ? (double)r * 0x1p-32 * (double)(below - 1) : (double)(int32_t)r * 0x1p-31; break;
        default: ((double *)data)[2 * i] = ((double *)data)[2 * i + 1] = (double)r; break;
        }
    }
    for (int64_t i = PERIOD, size = size_of(type); i < n; i += PERIOD)
        memcpy(u8 + i * size, data, (size_t)((n - i < PERIOD ? n - i : PERIOD) * size));
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static tess_type result_type(const item *w) {
    if (w->operation == TESS_ARGMAX || w->operation == TESS_ARGMIN || w->operation == TESS_COUNT_NONZERO)
        return tess_i64;
    if (w->operation == TESS_ANY || w->operation == TESS_ALL)
        return tess_bool;
    if (w->operation == TESS_SUM && w->type == tess_i32)
        return tess_i64;
    if (w->operation == TESS_SUM && w->type == tess_u8)
        return tess_u64;
    return w->type == tess_f16 ? tess_f32 : w->type;
}

typedef struct trial {
    const item *w;
    tess_plan *plan;
    void *in, *second, *out;
    double bytes, median, limit; /* limit: seconds of reading or copying as many bytes, 0 = not measured */
    tess_report report;
} trial;

typedef struct stream {
    const tess_limit_loops *loops;
    const char *from;
    char *to; /* NULL: only read */
    _Atomic uint64_t sink;
} stream;
enum { PIECE = 4 << 20 };

static void stream_pieces(void *argument, int64_t begin, int64_t end, int worker) {
    stream *s = argument;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        if (s->to)
            s->loops->copy(s->to + i * PIECE, s->from + i * PIECE, PIECE);
        else
            s->sink ^= s->loops->read(s->from + i * PIECE, PIECE);
}

/* Seconds of reading `bytes`, or of copying half as many. Whole pieces only, so that the time is scaled. */
static double limit_of(tess_context *context, void *const block[3], bool copies, double bytes) {
    stream s = {.loops = tess_limit_loops_for(context->slot), .from = block[0], .to = copies ? block[2] : NULL};
    double one = copies ? bytes / 2 : bytes, start = tess_seconds();
    int64_t pieces = (int64_t)(one / PIECE);
    tess_parallel(context, context->options.threads, pieces, 1, stream_pieces, &s);
    return (tess_seconds() - start) * one / ((double)pieces * PIECE);
}

/* The arrays live in three large blocks that all cases share, so that pages are made once. */
static bool run(tess_context *context, trial *t, void *const block[3], const char *strategy, int rounds) {
    const item *w = t->w;
    int64_t shape[4], count = 1, table[1] = {w->table};
    int ndim = 0;
    double times[101], limits[101];
    tess_status status;
    for (int d = 0; d < w->ndim; d++)
        count *= w->shape[d];
    t->in = block[0];
    t->second = NULL;
    t->out = block[2];
    DLTensor out, in = tess_view(t->in, w->type, w->ndim, (int64_t *)(uintptr_t)w->shape, NULL);
    if (w->work == REDUCE) {
        for (int d = 0; d < w->ndim && w->axis != ALL; d++)
            if (d != w->axis)
                shape[ndim++] = w->shape[d];
        out = tess_view(t->out, result_type(w), ndim, shape, NULL);
        tess_reduce_options options = {.struct_size = sizeof options, .exact = w->exact, .call.strategy = strategy};
        if (w->axis != ALL) {
            options.axes = &w->axis;
            options.naxes = 1;
        }
        fill(t->in, w->type, count, 0);
        status = tess_plan_reduce(&t->plan, context, (tess_reduction)w->operation, &in, &out, &options);
        t->bytes = (double)count * (double)size_of(w->type);
    } else if (w->work == TRANSPOSE) {
        for (int d = 0; d < w->ndim; d++)
            shape[d] = w->shape[w->perm[d]];
        if (w->inplace)
            t->out = t->in;
        out = tess_view(t->out, w->type, w->ndim, shape, NULL);
        tess_transpose_options options = {.struct_size = sizeof options, .perm = w->perm, .nperm = w->ndim, .call.strategy = strategy};
        fill(t->in, w->type, count, 0);
        status = tess_plan_transpose(&t->plan, context, &in, &out, &options);
        t->bytes = 2 * (double)count * (double)size_of(w->type);
    } else {
        t->second = block[1];
        in = tess_view(t->in, w->type, 1, table, NULL);
        DLTensor index = tess_view(t->second, w->index, 1, (int64_t *)(uintptr_t)w->shape, NULL);
        out = tess_view(t->out, w->type, 1, (int64_t *)(uintptr_t)w->shape, NULL);
        tess_lookup_options options = {.struct_size = sizeof options, .interpolation = w->interpolation, .call.strategy = strategy};
        fill(t->in, w->type, w->table, 0);
        fill(t->second, w->index, count, w->table);
        status = tess_plan_lookup(&t->plan, context, &in, &index, &out, &options);
        t->bytes = (double)count * (double)(size_of(w->type) + size_of(w->index));
    }
    t->report.struct_size = sizeof t->report;
    tess_call call = {.report = &t->report};
    for (int r = -1; r < rounds && status == TESS_OK; r++) {
        status = tess_execute(t->plan, t->in, t->second, t->out, &call);
        times[r < 0 ? 0 : r] = t->report.seconds;
        if (t->bytes >= 2 * SMALL)
            limits[r < 0 ? 0 : r] = limit_of(context, block, w->work != REDUCE, t->bytes);
        if (t->bytes < SMALL) /* in the caches: the best of many */
            for (int k = 0; k < 50 && status == TESS_OK; k++) {
                status = tess_execute(t->plan, t->in, t->second, t->out, &call);
                if (t->report.seconds < times[r < 0 ? 0 : r])
                    times[r < 0 ? 0 : r] = t->report.seconds;
            }
    }
    tess_plan_free(t->plan);
    if (status != TESS_OK) {
        printf("%-42s %s\n", w->name, tess_detail());
        return false;
    }
    qsort(times, (size_t)rounds, sizeof *times, ascending);
    t->median = times[rounds / 2];
    if (t->bytes >= 2 * SMALL) {
        qsort(limits, (size_t)rounds, sizeof *limits, ascending);
        t->limit = limits[rounds / 2];
    }
    return true;
}

int main(int argc, char **argv) {
    tess_context_options options = {.struct_size = sizeof options, .threads = 1};
    tess_context *context;
    const char *strategy = NULL, *isa = "best";
    bool huge = true;
    int rounds = 7, option;
    while ((option = getopt(argc, argv, "j:i:p:s:r:")) != -1)
        switch (option) {
        case 'j': options.threads = atoi(optarg); break;
        case 'i': setenv("TESSERA_ISA", isa = optarg, 1); break;
        case 'p': huge = strcmp(optarg, "small") != 0; break;
        case 's': strategy = optarg; break;
        case 'r': rounds = atoi(optarg) < 1 ? 1 : atoi(optarg) > 100 ? 100 : atoi(optarg); break;
        default: return 2;
        }
    for (int a = optind; a < argc; a++)
        for (char *c = argv[a]; *c; c++)
            *c = (char)(*c == '_' ? ' ' : *c);
    if (tess_open(&context, &options) != TESS_OK)
        return fprintf(stderr, "%s\n", tess_detail()) > 0;
    void *block[3] = {pages(640u << 20, huge), pages(256u << 20, huge), pages(640u << 20, huge)};
    fill(block[0], tess_f32, 160 Mi, 0); /* the limit copies from there, and lines of zeros are written faster than others */
    tess_limits limits = {.struct_size = sizeof limits};
    tess_measure_limits(context, 0.5, &limits);
    printf("%d thread(s), %s pages, instruction set %s: read %.2f GB/s, copy %.2f GB/s\n", options.threads, huge ? "huge" : "ordinary", isa,
           limits.read_bytes_per_s * 1e-9, limits.copy_bytes_per_s * 1e-9);
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        bool chosen = optind == argc;
        trial t = {.w = &items[i]};
        for (int a = optind; a < argc; a++)
            chosen |= strstr(items[i].name, argv[a]) != NULL;
        if (!chosen || !run(context, &t, block, strategy, rounds))
            continue;
        double limit = t.limit > 0 ? t.limit : t.bytes / (t.w->work == REDUCE ? limits.read_bytes_per_s : limits.copy_bytes_per_s);
        printf("%-42s %9.3f ms %7.2f GB/s %5.0f %% of %5.2f GB/s  %s %s\n", t.w->name, t.median * 1e3, t.bytes / t.median * 1e-9,
               100 * limit / t.median, t.bytes / limit * 1e-9, t.report.strategy, t.report.isa);
        fflush(stdout);
    }
    tess_close(context);
    return 0;
}
