/* SPDX-License-Identifier: Apache-2.0
 * gpu_reduce.c - the reductions of the table of works: whole arrays of every type, each axis, axes apart, small sums. */
#include "gpu.h"

#include <stdio.h>

static void large(gpu_bench *b) {
    enum { G = 1 << 30 };
    static const struct {
        const char *work;
        tess_reduction operation;
        tess_type in, out;
        int ndim, axis;
        int64_t shape[3];
    } works[] = {{"sum f32 1 Gi", TESS_SUM, tess_f32, tess_f32, 1, 0, {G}},
                 {"max f32 1 Gi", TESS_MAX, tess_f32, tess_f32, 1, 0, {G}},
                 {"argmax f32 1 Gi", TESS_ARGMAX, tess_f32, tess_i64, 1, 0, {G}},
                 {"mean f32 1 Gi", TESS_MEAN, tess_f32, tess_f32, 1, 0, {G}},
                 {"norm2 f32 1 Gi", TESS_NORM2, tess_f32, tess_f32, 1, 0, {G}},
                 {"var f32 1 Gi", TESS_VAR, tess_f32, tess_f32, 1, 0, {G}},
                 {"var f64 512 Mi", TESS_VAR, tess_f64, tess_f64, 1, 0, {G / 2}},
                 {"var f16 1 Gi", TESS_VAR, tess_f16, tess_f16, 1, 0, {G}},
                 {"var f16 axis 1 8192 x 100000", TESS_VAR, tess_f16, tess_f16, 2, 1, {8192, 100000}},
                 {"var u8 4 Gi", TESS_VAR, tess_u8, tess_f64, 1, 0, {4ll * G}},
                 {"var u8 axis 1 131072 x 8192", TESS_VAR, tess_u8, tess_f64, 2, 1, {131072, 8192}},
                 {"sum f64 512 Mi", TESS_SUM, tess_f64, tess_f64, 1, 0, {G / 2}},
                 {"max f64 512 Mi", TESS_MAX, tess_f64, tess_f64, 1, 0, {G / 2}},
                 {"sum f16 2 Gi", TESS_SUM, tess_f16, tess_f32, 1, 0, {2ll * G}},
                 {"max f16 2 Gi", TESS_MAX, tess_f16, tess_f16, 1, 0, {2ll * G}},
                 {"sum i32 1 Gi", TESS_SUM, tess_i32, tess_i64, 1, 0, {G}},
                 {"sum i32 64 Mi", TESS_SUM, tess_i32, tess_i64, 1, 0, {64 << 20}}, /* the ladder's size */
                 {"max i32 1 Gi", TESS_MAX, tess_i32, tess_i32, 1, 0, {G}},
                 {"sum u8 4 Gi", TESS_SUM, tess_u8, tess_u64, 1, 0, {4ll * G}},
                 {"max u8 4 Gi", TESS_MAX, tess_u8, tess_u8, 1, 0, {4ll * G}},
                 {"count_nonzero u8 4 Gi", TESS_COUNT_NONZERO, tess_u8, tess_i64, 1, 0, {4ll * G}},
                 {"sum axis 0 f32 32768 x 32768", TESS_SUM, tess_f32, tess_f32, 2, 0, {32768, 32768}},
                 {"sum axis 1 f32 32768 x 32768", TESS_SUM, tess_f32, tess_f32, 2, 1, {32768, 32768}},
                 {"sum axis 1 f32 1024 x 1024 x 1024", TESS_SUM, tess_f32, tess_f32, 3, 1, {1024, 1024, 1024}},
                 {"sum axis 1 f32 4 Mi x 256", TESS_SUM, tess_f32, tess_f32, 2, 1, {4 << 20, 256}},
                 {"max axis 0 f32 32768 x 32768", TESS_MAX, tess_f32, tess_f32, 2, 0, {32768, 32768}},
                 {"sum axis 0 f32 2048 x 2048", TESS_SUM, tess_f32, tess_f32, 2, 0, {2048, 2048}},
                 {"sum axis 0 f32 4096 x 4096", TESS_SUM, tess_f32, tess_f32, 2, 0, {4096, 4096}},
                 {"sum axis 0 f32 8192 x 8192", TESS_SUM, tess_f32, tess_f32, 2, 0, {8192, 8192}},
                 {"sum axis 0 f32 16384 x 16384", TESS_SUM, tess_f32, tess_f32, 2, 0, {16384, 16384}},
                 {"sum axis 0 f64 8192 x 8192", TESS_SUM, tess_f64, tess_f64, 2, 0, {8192, 8192}},
                 {"sum axis 0 u8 8192 x 8192", TESS_SUM, tess_u8, tess_u64, 2, 0, {8192, 8192}},
                 {"sum axis 0 f32 2000 x 64", TESS_SUM, tess_f32, tess_f32, 2, 0, {2000, 64}},
                 {"sum axis 0 f32 2000 x 256", TESS_SUM, tess_f32, tess_f32, 2, 0, {2000, 256}},
                 {"sum axis 1 f32 8 x 1000 x 256", TESS_SUM, tess_f32, tess_f32, 3, 1, {8, 1000, 256}},
                 {"sum axis 1 f32 64 x 1000 x 128", TESS_SUM, tess_f32, tess_f32, 3, 1, {64, 1000, 128}},
                 {"sum axis 0 u8 32768 x 32765", TESS_SUM, tess_u8, tess_u64, 2, 0, {32768, 32765}},
                 {"argmax axis 0 u8 32768 x 32765", TESS_ARGMAX, tess_u8, tess_i64, 2, 0, {32768, 32765}},
                 {"max axis 0 u8 32768 x 32764", TESS_MAX, tess_u8, tess_u8, 2, 0, {32768, 32764}},
                 {"max axis 0 f16 16384 x 32765", TESS_MAX, tess_f16, tess_f16, 2, 0, {16384, 32765}},
                 {"max axis 0 f32 8192 x 8192", TESS_MAX, tess_f32, tess_f32, 2, 0, {8192, 8192}},
                 {"max axis 0 f32 32768 x 32765", TESS_MAX, tess_f32, tess_f32, 2, 0, {32768, 32765}},
                 {"count_nonzero axis 0 bool 32768 x 8192", TESS_COUNT_NONZERO, tess_bool, tess_i64, 2, 0, {32768, 8192}},
                 {"all axis 1 bool 32768 x 8192", TESS_ALL, tess_bool, tess_bool, 2, 1, {32768, 8192}},
                 {"sum axis 0 f32 32768 x 4096", TESS_SUM, tess_f32, tess_f32, 2, 0, {32768, 4096}}};
    for (int i = 0; i < (int)(sizeof works / sizeof *works); i++) {
        int64_t count = 1, in_shape[3], out_shape[3], outputs = 1;
        int kept = 0;
        if (!gpu_bench_wants(b, works[i].work))
            continue;
        for (int d = 0; d < works[i].ndim; d++) {
            in_shape[d] = works[i].shape[d];
            count *= in_shape[d];
            if (d != works[i].axis)
                outputs *= out_shape[kept++] = in_shape[d];
        }
        int64_t bytes = count * (int64_t)tess_type_size(works[i].in), out_bytes = outputs * (int64_t)tess_type_size(works[i].out);
        void *in = gpu_bench_memory(b, 0, bytes), *out = gpu_bench_memory(b, 2, out_bytes);
        DLTensor from = gpu_bench_view(in, works[i].in, works[i].ndim, in_shape), to = gpu_bench_view(out, works[i].out, kept, out_shape);
        const tess_reduce_options options = {.struct_size = sizeof options, .axes = &works[i].axis, .naxes = 1};
        gpu_bench_reduce(b, works[i].work, works[i].operation, &from, &to, &options, (double)(bytes + out_bytes));
    }
}

/* Axes that do not follow one another. */
static void apart(gpu_bench *b) {
    static const struct {
        const char *work;
        tess_reduction operation;
        tess_type in, out;
        int64_t shape[4];
        int naxes, axes[3];
        int64_t pitch; /* elements from one row to the next, 0: as many as a row has */
    } works[] = {{"apart: mean f32 64 x 19 x 1024 x 512, axes 0 2 3", TESS_MEAN, tess_f32, tess_f32, {64, 19, 1024, 512}, 3, {0, 2, 3}, 0},
                 {"apart: var f32 64 x 19 x 1024 x 512, axes 0 2 3", TESS_VAR, tess_f32, tess_f32, {64, 19, 1024, 512}, 3, {0, 2, 3}, 0},
                 {"apart: var f16 256 x 256 x 56 x 56, axes 0 2 3", TESS_VAR, tess_f16, tess_f16, {256, 256, 56, 56}, 3, {0, 2, 3}, 0},
                 {"apart: var f32 128 x 256 x 56 x 56, axes 0 2 3", TESS_VAR, tess_f32, tess_f32, {128, 256, 56, 56}, 3, {0, 2, 3}, 0},
                 {"apart: var f64 64 x 256 x 56 x 56, axes 0 2 3", TESS_VAR, tess_f64, tess_f64, {64, 256, 56, 56}, 3, {0, 2, 3}, 0},
                 {"apart: var f16 128 x 19 x 1024 x 512, axes 0 2 3", TESS_VAR, tess_f16, tess_f16, {128, 19, 1024, 512}, 3, {0, 2, 3}, 0},
                 {"apart: var f32 256 x 1024 x 14 x 14, axes 0 2 3", TESS_VAR, tess_f32, tess_f32, {256, 1024, 14, 14}, 3, {0, 2, 3}, 0},
                 {"apart: var f16 512 x 1024 x 14 x 14, axes 0 2 3", TESS_VAR, tess_f16, tess_f16, {512, 1024, 14, 14}, 3, {0, 2, 3}, 0},
                 {"apart: var u8 256 x 256 x 57 x 56, axes 0 2 3", TESS_VAR, tess_u8, tess_f32, {256, 256, 57, 56}, 3, {0, 2, 3}, 0},
                 {"apart: sum f16 256 x 256 x 56 x 56, axes 0 2 3", TESS_SUM, tess_f16, tess_f16, {256, 256, 56, 56}, 3, {0, 2, 3}, 0},
                 {"apart: sum f32 512 x 512 x 512, axes 0 2", TESS_SUM, tess_f32, tess_f32, {512, 512, 512, 1}, 2, {0, 2}, 0},
                 {"apart: sum f32 30 x 100 x 200 x 300, axes 0 2", TESS_SUM, tess_f32, tess_f32, {30, 100, 200, 300}, 2, {0, 2}, 0},
                 {"apart: sum f32 30 x 100 x 200 x 300, axes 1 3", TESS_SUM, tess_f32, tess_f32, {30, 100, 200, 300}, 2, {1, 3}, 0},
                 {"apart: max u8 64 x 19 x 1024 x 512, axes 0 2 3", TESS_MAX, tess_u8, tess_u8, {64, 19, 1024, 512}, 3, {0, 2, 3}, 0},
                 {"apart: var u8 256 x 256 x 56 x 56, axes 0 2 3", TESS_VAR, tess_u8, tess_f32, {256, 256, 56, 56}, 3, {0, 2, 3}, 0},
                 {"apart: sum u8 879 x 24 x 1148, axes 0 2", TESS_SUM, tess_u8, tess_u64, {879, 24, 1148, 1}, 2, {0, 2}, 0},
                 {"apart: sum u8 8000 x 100 x 1147, axes 0 2", TESS_SUM, tess_u8, tess_u64, {8000, 100, 1147, 1}, 2, {0, 2}, 0},
                 {"apart: max f16 512 x 1024 x 27 x 27, axes 0 2 3", TESS_MAX, tess_f16, tess_f16, {512, 1024, 27, 27}, 3, {0, 2, 3}, 0},
                 {"apart: argmax f32 256 x 256 x 55 x 55, axes 0 2 3", TESS_ARGMAX, tess_f32, tess_i64, {256, 256, 55, 55}, 3, {0, 2, 3}, 0},
                 {"apart: sum f32 32768 x 8000 of rows of 8192", TESS_SUM, tess_f32, tess_f32, {1, 1, 32768, 8000}, 3, {1, 2, 3}, 8192},
                 {"apart: sum f32 32768 x 4096 of rows of 8192, axis 0", TESS_SUM, tess_f32, tess_f32, {1, 1, 32768, 4096}, 1, {2}, 8192},
                 {"apart: argmax f16 30 x 100 x 200 x 304, axes 0 2", TESS_ARGMAX, tess_f16, tess_i64, {30, 100, 200, 304}, 2, {0, 2}, 0}};
    for (int i = 0; i < (int)(sizeof works / sizeof *works); i++) {
        int64_t count = 1, outputs = 1, in_shape[4], steps[4], step = 1, out_shape[4];
        int kept = 0;
        if (!gpu_bench_wants(b, works[i].work))
            continue;
        for (int d = 0; d < 4; d++) {
            bool reduced = false;
            for (int a = 0; a < works[i].naxes; a++)
                reduced |= works[i].axes[a] == d;
            in_shape[d] = works[i].shape[d];
            count *= in_shape[d];
            if (!reduced)
                outputs *= out_shape[kept++] = in_shape[d];
        }
        for (int d = 3; d >= 0; d--) {
            steps[d] = step;
            step *= d == 3 && works[i].pitch ? works[i].pitch : in_shape[d];
        }
        const int64_t size = (int64_t)tess_type_size(works[i].in), bytes = count * size, out_bytes = outputs * (int64_t)tess_type_size(works[i].out);
        void *in = gpu_bench_memory(b, 0, step * size), *out = gpu_bench_memory(b, 2, out_bytes);
        DLTensor from = gpu_bench_view(in, works[i].in, 4, in_shape), to = gpu_bench_view(out, works[i].out, kept, out_shape);
        from.strides = steps;
        const tess_reduce_options options = {.struct_size = sizeof options, .axes = works[i].axes, .naxes = works[i].naxes};
        gpu_bench_reduce(b, works[i].work, works[i].operation, &from, &to, &options, (double)(bytes + out_bytes));
    }
}

/* Arrays in Fortran's order, whose elements the tree wants in the other one. */
static void turned(gpu_bench *b) {
    static const struct {
        const char *work;
        tess_reduction operation;
        tess_type in, out;
        int64_t shape[3];
        int naxes, axes[3];
    } works[] = {
        {"turned: sum f32 8192 x 8192", TESS_SUM, tess_f32, tess_f32, {8192, 8192, 1}, 2, {0, 1}},
        {"turned: std f32 31477 x 2048", TESS_STD, tess_f32, tess_f32, {31477, 2048, 1}, 2, {0, 1}},
        {"turned: mean f16 87778 x 704", TESS_MEAN, tess_f16, tess_f32, {87778, 704, 1}, 2, {0, 1}},
        {"turned: sum f32 4 Mi x 10", TESS_SUM, tess_f32, tess_f32, {4 << 20, 10, 1}, 2, {0, 1}},
        {"turned: sum f32 256 Ki x 300", TESS_SUM, tess_f32, tess_f32, {1 << 18, 300, 1}, 2, {0, 1}},
        {"turned: argmax f32 4000 x 4001", TESS_ARGMAX, tess_f32, tess_i64, {4000, 4001, 1}, 2, {0, 1}},
        {"turned: sum f32 1500 x 1500", TESS_SUM, tess_f32, tess_f32, {1500, 1500, 1}, 2, {0, 1}},
        {"turned: var f64 206 x 5 x 31049", TESS_VAR, tess_f64, tess_f64, {206, 5, 31049}, 3, {0, 1, 2}},
        {"turned: sum c64 14 x 2 x 2189964, axes 0 2", TESS_SUM, tess_c64, tess_c64, {14, 2, 2189964}, 2, {0, 2}},
        {"turned: sum f32 3 x 8192 x 4096, axis 2", TESS_SUM, tess_f32, tess_f32, {3, 8192, 4096}, 1, {2}}, /* channels of pixels as planes */
        {"turned: max u8 3 x 16384 x 8192, axis 2", TESS_MAX, tess_u8, tess_u8, {3, 16384, 8192}, 1, {2}},
        {"turned: mean f16 64 x 1024 x 2048, axis 2", TESS_MEAN, tess_f16, tess_f32, {64, 1024, 2048}, 1, {2}},
        {"turned: sum bf16 118 x 2 x 182883, axis 1", TESS_SUM, tess_bf16, tess_f32, {118, 2, 182883}, 1, {1}},
        {"turned: argmax f32 256 x 512 x 512", TESS_ARGMAX, tess_f32, tess_i64, {256, 512, 512}, 3, {0, 1, 2}}};
    for (int i = 0; i < (int)(sizeof works / sizeof *works); i++) {
        int64_t shape[3], steps[3], kept[3], count = 1, outputs = 1;
        int n = 0;
        if (!gpu_bench_wants(b, works[i].work))
            continue;
        for (int d = 0; d < 3; d++) {
            bool reduced = false;
            for (int a = 0; a < works[i].naxes; a++)
                reduced |= works[i].axes[a] == d;
            shape[d] = works[i].shape[d];
            steps[d] = count;
            count *= shape[d];
            if (!reduced)
                outputs *= kept[n++] = shape[d];
        }
        const int64_t bytes = count * (int64_t)tess_type_size(works[i].in), out_bytes = outputs * (int64_t)tess_type_size(works[i].out);
        void *in = gpu_bench_memory(b, 0, bytes), *out = gpu_bench_memory(b, 2, out_bytes);
        DLTensor from = gpu_bench_view(in, works[i].in, 3, shape), to = gpu_bench_view(out, works[i].out, n, kept);
        from.strides = steps;
        const tess_reduce_options options = {.struct_size = sizeof options, .axes = works[i].axes, .naxes = works[i].naxes};
        gpu_bench_reduce(b, works[i].work, works[i].operation, &from, &to, &options, (double)(bytes + out_bytes));
    }
}

/* Small elements that begin within a word. */
static void within_words(gpu_bench *b) {
    enum { G = 1 << 30, SIZE = 2 };
    static const struct {
        const char *work;
        tess_type in, out;
        int64_t rows, k, from; /* elements before the first */
    } works[] = {{"within words: var f16 1 Gi from element 1 on", tess_f16, tess_f16, 1, G, 1},
                 {"within words: var f16 1 Gi from element 2 on", tess_f16, tess_f16, 1, G, 2},
                 {"within words: var i16 1 Gi from element 3 on", tess_i16, tess_f64, 1, G, 3},
                 {"within words: var f16 8192 x 100000 from element 1 on", tess_f16, tess_f16, 8192, 100000, 1}};
    const int axis = 1;
    for (int i = 0; i < (int)(sizeof works / sizeof *works); i++) {
        int64_t shape[] = {works[i].rows, works[i].k}, bytes = works[i].rows * works[i].k * SIZE,
                out_bytes = works[i].rows * (int64_t)tess_type_size(works[i].out);
        if (!gpu_bench_wants(b, works[i].work))
            continue;
        char *in = (char *)gpu_bench_memory(b, 0, bytes + works[i].from * SIZE) + works[i].from * SIZE;
        void *out = gpu_bench_memory(b, 2, out_bytes);
        DLTensor from = gpu_bench_view(in, works[i].in, 2, shape), to = gpu_bench_view(out, works[i].out, 1, shape);
        const tess_reduce_options options = {.struct_size = sizeof options, .axes = &axis, .naxes = 1};
        gpu_bench_reduce(b, works[i].work, TESS_VAR, &from, &to, &options, (double)(bytes + out_bytes));
    }
}

static void small(gpu_bench *b) {
    static const int64_t sizes[] = {1 << 10, 64 << 10, 1 << 20, 16 << 20};
    for (int i = 0; i < 4; i++) {
        char work[64];
        int64_t shape[] = {sizes[i]};
        tess_plan *plan = NULL;
        snprintf(work, sizeof work, "latency: sum f32 of %lld Ki", (long long)sizes[i] >> 10);
        if (!gpu_bench_wants(b, work))
            continue;
        void *in = gpu_bench_memory(b, 0, sizes[i] * 4), *out = gpu_bench_memory(b, 2, 256);
        DLTensor from = gpu_bench_view(in, tess_f32, 1, shape), to = gpu_bench_view(out, tess_f32, 0, NULL);
        tess_reduce_options options = {.struct_size = sizeof options, .call = gpu_bench_call(b, NULL)};
        tess_status status = tess_plan_reduce(&plan, gpu_bench_context(b), TESS_SUM, &from, &to, &options);
        gpu_bench_latency(b, status, plan, work, in, out);
    }
}

typedef struct simple {
    tess_context *context;
    DLTensor *in, *out;
    const tess_reduce_options *options;
} simple;

static tess_status sum_once(void *argument) {
    const simple *s = argument;
    return tess_reduce(s->context, TESS_SUM, s->in, s->out, s->options);
}

static void calls(gpu_bench *b) {
    static const int64_t sizes[] = {1000, 1 << 20};
    for (int i = 0; i < 2; i++) {
        char work[64];
        int64_t shape[] = {sizes[i]};
        snprintf(work, sizeof work, "call: sum f32 of %lld", (long long)sizes[i]);
        if (!gpu_bench_wants(b, work))
            continue;
        void *in = gpu_bench_memory(b, 0, sizes[i] * 4), *out = gpu_bench_memory(b, 2, 256);
        DLTensor from = gpu_bench_view(in, tess_f32, 1, shape), to = gpu_bench_view(out, tess_f32, 0, NULL);
        tess_reduce_options options = {.struct_size = sizeof options, .call = gpu_bench_call(b, NULL)};
        simple s = {gpu_bench_context(b), &from, &to, &options};
        gpu_bench_calls(b, work, sum_once, &s);
    }
}

void gpu_works_reduce(gpu_bench *b) {
    large(b);
    apart(b);
    turned(b);
    within_words(b);
    small(b);
    calls(b);
}
