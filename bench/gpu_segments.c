/* SPDX-License-Identifier: Apache-2.0
 * gpu_segments.c - reductions of segments in the table of works: short, middling, long and skewed lengths, beside rows of one length; segments of rows. */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>

enum { LONGEST = 20000 };

/* Lengths of 1 to 2 * mean - 1; skewed: but one in the middle has half of all elements. Returns how many segments. */
static int64_t cut(int64_t *offsets, int64_t elements, int64_t mean, bool skewed) {
    uint64_t state = 1;
    int64_t count = 0;
    offsets[0] = 0;
    while (offsets[count] < elements) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        int64_t n = 1 + (int64_t)((state >> 33) % (uint64_t)(2 * mean - 1)), at = offsets[count];
        if (skewed && at < elements / 4 && at + n >= elements / 4)
            n = elements / 2;
        offsets[++count] = at + n < elements ? at + n : elements;
    }
    return count;
}

typedef struct kind {
    const char *name;
    tess_reduction operation;
    tess_type in, out;
    bool exact;
    int64_t elements;
} kind;

/* offsets NULL: rows of `mean` elements. */
static void run(gpu_bench *b, const kind *k, const char *work, int64_t mean, const DLTensor *offsets) {
    const int axis = offsets == NULL;
    int64_t in_shape[] = {offsets ? k->elements : k->elements / mean, mean}, outputs = offsets ? offsets->shape[0] - 1 : in_shape[0];
    const int64_t bytes = (offsets ? k->elements : outputs * mean) * (int64_t)tess_type_size(k->in) + (offsets ? 8 * (outputs + 1) : 0),
                  out_bytes = outputs * (int64_t)tess_type_size(k->out);
    void *in = gpu_bench_memory(b, 0, bytes), *out = gpu_bench_memory(b, 2, out_bytes);
    const DLTensor from = gpu_bench_view(in, k->in, 1 + axis, in_shape), to = gpu_bench_view(out, k->out, 1, &outputs);
    const tess_reduce_options options = {.struct_size = sizeof options, .axes = &axis, .naxes = 1, .offsets = offsets, .exact = k->exact};
    gpu_bench_reduce(b, work, k->operation, &from, &to, &options, (double)(bytes + out_bytes));
}

/* Segments of rows of some columns, along a slow axis, as networks of graphs add up what neighbours send: 256 MiB. */
static void works_of_rows(gpu_bench *b) {
    enum { BYTES = 1 << 28 };
    static const kind kinds[] = {{.name = "sum f32", .operation = TESS_SUM, .in = tess_f32, .out = tess_f32},
                                 {.name = "sum f64", .operation = TESS_SUM, .in = tess_f64, .out = tess_f64},
                                 {.name = "sum c64", .operation = TESS_SUM, .in = tess_c64, .out = tess_c64},
                                 {.name = "sum f16", .operation = TESS_SUM, .in = tess_f16, .out = tess_f16},
                                 {.name = "norm2 f32", .operation = TESS_NORM2, .in = tess_f32, .out = tess_f32},
                                 {.name = "max f32", .operation = TESS_MAX, .in = tess_f32, .out = tess_f32},
                                 {.name = "sum i32", .operation = TESS_SUM, .in = tess_i32, .out = tess_i64},
                                 {.name = "any u8", .operation = TESS_ANY, .in = tess_u8, .out = tess_bool},
                                 {.name = "argmax f32", .operation = TESS_ARGMAX, .in = tess_f32, .out = tess_i64},
                                 {.name = "argmax u8", .operation = TESS_ARGMAX, .in = tess_u8, .out = tess_i64},
                                 {.name = "var f32", .operation = TESS_VAR, .in = tess_f32, .out = tess_f32},
                                 {.name = "var bf16", .operation = TESS_VAR, .in = tess_bf16, .out = tess_bf16},
                                 {.name = "exact sum f32", .operation = TESS_SUM, .in = tess_f32, .out = tess_f32, .exact = true}};
    static const int64_t columns[] = {2, 16, 64, 100, 384, 2286};
    static const struct {
        int64_t mean;
        bool skewed;
    } lengths[] = {{2, false}, {8, false}, {50, false}, {1000, false}, {20000, false}, {8, true}};
    char work[96];
    for (int i = 0; i < (int)(sizeof kinds / sizeof *kinds); i++)
        for (int c = 0; c < (int)(sizeof columns / sizeof *columns); c++)
            for (int l = 0; l < (int)(sizeof lengths / sizeof *lengths); l++) {
                const kind *k = &kinds[i];
                const int64_t width = columns[c], row = width * (int64_t)tess_type_size(k->in), rows = BYTES / row;
                const int axis = 0;
                snprintf(work, sizeof work, "segments of rows: %s, %s %lld, %lld columns", k->name, lengths[l].skewed ? "skewed" : "about",
                         (long long)lengths[l].mean, (long long)width);
                if (!gpu_bench_wants(b, work) || lengths[l].mean > rows / 4)
                    continue;
                int64_t *offsets = malloc((size_t)(rows + 2) * sizeof *offsets);
                if (!offsets)
                    exit(1);
                int64_t count = cut(offsets, rows, lengths[l].mean, lengths[l].skewed), size = count + 1;
                const double out_bytes = (double)(count * width) * (double)tess_type_size(k->out);
                void *in = gpu_bench_memory(b, 0, rows * row), *out = gpu_bench_memory(b, 2, (int64_t)out_bytes);
                const DLTensor list = tess_view(offsets, tess_i64, 1, &size, NULL), from = gpu_bench_view(in, k->in, 2, (int64_t[]){rows, width}),
                               to = gpu_bench_view(out, k->out, 2, (int64_t[]){count, width});
                const tess_reduce_options options = {.struct_size = sizeof options, .axes = &axis, .naxes = 1, .offsets = &list, .exact = k->exact};
                gpu_bench_reduce(b, work, k->operation, &from, &to, &options, (double)(rows * row) + out_bytes + 8 * (double)size);
                free(offsets);
            }
}

/* Few elements of many outputs each, in segments of 1, 2 and 3: 256 MiB. */
static void works_of_few(gpu_bench *b) {
    enum { BYTES = 1 << 28, MOST = 32 };
    static const kind kinds[] = {{.name = "sum c64", .operation = TESS_SUM, .in = tess_c64, .out = tess_c64},
                                 {.name = "sum f32", .operation = TESS_SUM, .in = tess_f32, .out = tess_f32},
                                 {.name = "sum f16", .operation = TESS_SUM, .in = tess_f16, .out = tess_f16}};
    static const int64_t lengths[] = {5, 12, MOST};
    char work[96];
    for (int i = 0; i < (int)(sizeof kinds / sizeof *kinds); i++)
        for (int l = 0; l < (int)(sizeof lengths / sizeof *lengths); l++) {
            const kind *k = &kinds[i];
            const int64_t length = lengths[l], size = (int64_t)tess_type_size(k->in), outputs = BYTES / size / length;
            const int axis = 1;
            int64_t offsets[MOST + 1] = {0}, count = 0;
            snprintf(work, sizeof work, "segments of few: %s, %lld elements", k->name, (long long)length);
            if (!gpu_bench_wants(b, work))
                continue;
            for (; offsets[count] < length; count++)
                offsets[count + 1] = offsets[count] + 1 + count % 3 < length ? offsets[count] + 1 + count % 3 : length;
            int64_t ends = count + 1;
            void *in = gpu_bench_memory(b, 0, outputs * length * size), *out = gpu_bench_memory(b, 2, outputs * count * size);
            const DLTensor list = tess_view(offsets, tess_i64, 1, &ends, NULL), from = gpu_bench_view(in, k->in, 2, (int64_t[]){outputs, length}),
                           to = gpu_bench_view(out, k->out, 2, (int64_t[]){outputs, count});
            const tess_reduce_options options = {.struct_size = sizeof options, .axes = &axis, .naxes = 1, .offsets = &list};
            gpu_bench_reduce(b, work, k->operation, &from, &to, &options, (double)(outputs * (length + count) * size));
        }
}

void gpu_works_segments(gpu_bench *b) {
    enum { M = 1 << 20 };
    static const kind kinds[] = {
        {"sum f32", TESS_SUM, tess_f32, tess_f32, false, 256 * M},       {"sum f64", TESS_SUM, tess_f64, tess_f64, false, 128 * M},
        {"sum c64", TESS_SUM, tess_c64, tess_c64, false, 128 * M},       {"sum c128", TESS_SUM, tess_c128, tess_c128, false, 64 * M},
        {"prod c64", TESS_PROD, tess_c64, tess_c64, false, 128 * M},     {"sum u8", TESS_SUM, tess_u8, tess_u64, false, 256 * M},
        {"argmax f32", TESS_ARGMAX, tess_f32, tess_i64, false, 256 * M}, {"var f32", TESS_VAR, tess_f32, tess_f32, false, 256 * M},
        {"var f64", TESS_VAR, tess_f64, tess_f64, false, 128 * M},       {"argmax u8", TESS_ARGMAX, tess_u8, tess_i64, false, 256 * M},
        {"max u8", TESS_MAX, tess_u8, tess_u8, false, 256 * M},          {"sum i16", TESS_SUM, tess_i16, tess_i64, false, 256 * M},
        {"max i16", TESS_MAX, tess_i16, tess_i16, false, 256 * M},       {"sum f16", TESS_SUM, tess_f16, tess_f16, false, 256 * M},
        {"norm2 f32", TESS_NORM2, tess_f32, tess_f32, false, 256 * M},   {"exact sum f32", TESS_SUM, tess_f32, tess_f32, true, 32 * M},
        {"exact sum f64", TESS_SUM, tess_f64, tess_f64, true, 16 * M},   {"exact sum c64", TESS_SUM, tess_c64, tess_c64, true, 16 * M}};
    static const struct {
        int64_t mean;
        bool skewed;
    } lengths[] = {{16, false}, {50, false}, {200, false}, {LONGEST, false}, {16, true}, {500, false}, {1000, false}, {2000, false}};
    enum { ALL_KINDS = 5 }; /* of the lengths; the others are variances' */
    char work[96];
    for (int i = 0; i < (int)(sizeof kinds / sizeof *kinds); i++)
        for (int l = 0; l < (int)(sizeof lengths / sizeof *lengths); l++) {
            const int64_t mean = lengths[l].mean;
            if (l >= ALL_KINDS && kinds[i].operation != TESS_VAR)
                continue;
            snprintf(work, sizeof work, "segments: %s, %s %lld", kinds[i].name, lengths[l].skewed ? "skewed" : "about", (long long)mean);
            if (gpu_bench_wants(b, work)) {
                int64_t *offsets = malloc((size_t)(kinds[i].elements + 2) * sizeof *offsets), size;
                if (!offsets)
                    exit(1);
                size = cut(offsets, kinds[i].elements, mean, lengths[l].skewed) + 1;
                const DLTensor list = tess_view(offsets, tess_i64, 1, &size, NULL);
                run(b, &kinds[i], work, mean, &list);
                free(offsets);
            }
            snprintf(work, sizeof work, "rows: %s of %lld", kinds[i].name, (long long)mean);
            if (!lengths[l].skewed && gpu_bench_wants(b, work))
                run(b, &kinds[i], work, mean, NULL);
        }
    works_of_rows(b);
    works_of_few(b);
}
