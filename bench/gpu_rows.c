/* SPDX-License-Identifier: Apache-2.0
 * gpu_rows.c - reductions of many short rows of one length in the table of works: every kind of length and operation, rows with gaps, few columns; and of longer columns. */
#include "gpu.h"

#include <stdio.h>

enum { BYTES = 1 << 30 };

typedef struct kind {
    const char *name;
    tess_reduction operation;
    tess_type in, out;
    bool exact;
} kind;

/* gap: elements between rows; width: outputs side by side, 0: none, rows. */
static void run(gpu_bench *b, const kind *k, const char *work, int64_t length, int64_t gap, int64_t width) {
    const int axis = 1;
    const int64_t size = (int64_t)tess_type_size(k->in), across = width ? width : 1, rows = BYTES / size / ((length + gap) * across),
                  bytes = rows * length * across * size, out_bytes = rows * across * (int64_t)tess_type_size(k->out);
    int64_t shape[] = {rows, length, width}, outputs[] = {rows, width}, steps[] = {(length + gap) * across, across, 1};
    void *in = gpu_bench_memory(b, 0, BYTES), *out = gpu_bench_memory(b, 2, out_bytes);
    DLTensor from = gpu_bench_view(in, k->in, width ? 3 : 2, shape), to = gpu_bench_view(out, k->out, width ? 2 : 1, outputs);
    if (gap)
        from.strides = steps;
    const tess_reduce_options options = {.struct_size = sizeof options, .axes = &axis, .naxes = 1, .exact = k->exact};
    gpu_bench_reduce(b, work, k->operation, &from, &to, &options, (double)(bytes + out_bytes));
}

/* Few elements in thousands of columns, more than 256 in some columns and in many; where they are looked at twice, of other lengths too. */
static void columns(gpu_bench *b, const kind *kinds, int count) {
    static const int64_t shapes[][2] = {{8, 4096},   {19, 4096},   {19, 4095},    {100, 4096},  {300, 3},      {300, 33},   {300, 100},
                                        {300, 256},  {1000, 3},    {1000, 33},    {1000, 256},  {4096, 8},     {100000, 3}, {1000, 4096},
                                        {300, 4096}, {8192, 1024}, {32768, 1024}, {6000, 1024}, {10000, 1024}, {16, 3},     {64, 33},
                                        {100, 3},    {100, 256},   {200, 3},      {200, 33},    {200, 4096},   {10000, 3},  {10000, 33},
                                        {10000, 5},  {10000, 34},  {10000, 100},  {20000, 17}};
    enum { FEW = 15 };
    char work[96];
    for (int i = 0; i < count; i++)
        for (int l = 0; l < (kinds[i].operation == TESS_VAR ? (int)(sizeof shapes / sizeof *shapes) : FEW); l++) {
            snprintf(work, sizeof work, "columns: %s of %lld, %lld columns", kinds[i].name, (long long)shapes[l][0], (long long)shapes[l][1]);
            if (gpu_bench_wants(b, work))
                run(b, &kinds[i], work, shapes[l][0], 0, shapes[l][1]);
        }
}

/* One tall matrix of few columns down its rows: points, pixels of an image. */
static void tall(gpu_bench *b, const kind *kinds, int count) {
    static const struct {
        int mib, width;
    } shapes[] = {{128, 3}, {128, 7}, {128, 16}, {128, 33}, {128, 64}, {512, 3}, {16, 3}, {16, 16}, {16, 33}, {2, 3}};
    const int axis = 0;
    char work[96];
    for (int i = 0; i < count; i++)
        for (int l = 0; l < (int)(sizeof shapes / sizeof *shapes); l++) {
            const int64_t size = (int64_t)tess_type_size(kinds[i].in);
            int64_t shape[] = {((int64_t)shapes[l].mib << 20) / (size * shapes[l].width), shapes[l].width}, width = shape[1];
            snprintf(work, sizeof work, "tall: %s of %d MiB, %d columns", kinds[i].name, shapes[l].mib, shapes[l].width);
            if (!gpu_bench_wants(b, work))
                continue;
            const int64_t bytes = shape[0] * width * size, out_bytes = width * (int64_t)tess_type_size(kinds[i].out);
            void *in = gpu_bench_memory(b, 0, bytes), *out = gpu_bench_memory(b, 2, out_bytes);
            DLTensor from = gpu_bench_view(in, kinds[i].in, 2, shape), to = gpu_bench_view(out, kinds[i].out, 1, &width);
            const tess_reduce_options options = {.struct_size = sizeof options, .axes = &axis, .naxes = 1, .exact = kinds[i].exact};
            gpu_bench_reduce(b, work, kinds[i].operation, &from, &to, &options, (double)(bytes + out_bytes));
        }
}

/* Few outputs side by side, whose variances no card is filled by. */
static void few_columns(gpu_bench *b) {
    static const int64_t shapes[][3] = {{1, 100000, 3}, {1, 1000, 64}, {16, 1000, 8}, {16, 100, 8}, {1, 200, 64}, {256, 64, 16}};
    const int axis = 1;
    char work[96];
    for (int l = 0; l < (int)(sizeof shapes / sizeof *shapes); l++) {
        int64_t shape[] = {shapes[l][0], shapes[l][1], shapes[l][2]}, outputs[] = {shapes[l][0], shapes[l][2]};
        bool more;
        snprintf(work, sizeof work, "latency: var f32, %lld of %lld x %lld", (long long)shape[0], (long long)shape[1], (long long)shape[2]);
        if (!gpu_bench_wants(b, work))
            continue;
        void *in = gpu_bench_memory(b, 0, shape[0] * shape[1] * shape[2] * 4), *out = gpu_bench_memory(b, 2, outputs[0] * outputs[1] * 4);
        DLTensor from = gpu_bench_view(in, tess_f32, 3, shape), to = gpu_bench_view(out, tess_f32, 2, outputs);
        for (int r = 0;; r++) {
            tess_plan *plan = NULL;
            tess_reduce_options options = {.struct_size = sizeof options, .axes = &axis, .naxes = 1};
            options.call = gpu_bench_call(b, gpu_bench_row(b, "reduce", r, &more));
            if (!more)
                break;
            tess_status status = tess_plan_reduce(&plan, gpu_bench_context(b), TESS_VAR, &from, &to, &options);
            if (status != TESS_ERR_STRATEGY)
                gpu_bench_latency(b, status, plan, work, in, out);
        }
    }
}

void gpu_works_rows(gpu_bench *b) {
    static const kind lengths_of[] = {{"sum f32", TESS_SUM, tess_f32, tess_f32, false},
                                      {"sum f64", TESS_SUM, tess_f64, tess_f64, false},
                                      {"sum u8", TESS_SUM, tess_u8, tess_u64, false},
                                      {"sum f16", TESS_SUM, tess_f16, tess_f16, false}},
                      others[] = {
                          {"mean f32", TESS_MEAN, tess_f32, tess_f32, false},    {"norm2 f32", TESS_NORM2, tess_f32, tess_f32, false},
                          {"max f32", TESS_MAX, tess_f32, tess_f32, false},      {"argmax f32", TESS_ARGMAX, tess_f32, tess_i64, false},
                          {"var f32", TESS_VAR, tess_f32, tess_f32, false},      {"prod f32", TESS_PROD, tess_f32, tess_f32, false},
                          {"var f64", TESS_VAR, tess_f64, tess_f64, false},      {"max u8", TESS_MAX, tess_u8, tess_u8, false},
                          {"argmax u8", TESS_ARGMAX, tess_u8, tess_i64, false},  {"count_nonzero u8", TESS_COUNT_NONZERO, tess_u8, tess_i64, false},
                          {"any bool", TESS_ANY, tess_bool, tess_bool, false},   {"max f16", TESS_MAX, tess_f16, tess_f16, false},
                          {"sum i32", TESS_SUM, tess_i32, tess_i64, false},      {"sum i16", TESS_SUM, tess_i16, tess_i64, false},
                          {"sum c64", TESS_SUM, tess_c64, tess_c64, false},      {"sum c128", TESS_SUM, tess_c128, tess_c128, false},
                          {"prod c64", TESS_PROD, tess_c64, tess_c64, false},    {"exact sum f32", TESS_SUM, tess_f32, tess_f32, true},
                          {"exact sum f64", TESS_SUM, tess_f64, tess_f64, true}, {"var f16", TESS_VAR, tess_f16, tess_f32, false},
                          {"var u8", TESS_VAR, tess_u8, tess_f64, false},        {"argmax f16", TESS_ARGMAX, tess_f16, tess_i64, false}};
    static const int64_t lengths[] = {1, 2, 3, 4, 7, 8, 16, 31, 32, 33, 64, 100, 128, 200, 256, 500, 512, 1000, 1001, 1024, 2000, 2001, 4096, 5000},
                         few[] = {3, 16, 31, 100, 200, 1000}, widths[] = {3, 8, 33, 256}, short_ones[] = {4, 16, 64, 200};
    char work[96];
    for (int i = 0; i < (int)(sizeof lengths_of / sizeof *lengths_of); i++)
        for (int l = 0; l < (int)(sizeof lengths / sizeof *lengths); l++) {
            snprintf(work, sizeof work, "short rows: %s of %lld", lengths_of[i].name, (long long)lengths[l]);
            if (gpu_bench_wants(b, work))
                run(b, &lengths_of[i], work, lengths[l], 0, 0);
        }
    for (int i = 0; i < (int)(sizeof others / sizeof *others); i++)
        for (int l = 0; l < (int)(sizeof few / sizeof *few); l++) {
            snprintf(work, sizeof work, "short rows: %s of %lld", others[i].name, (long long)few[l]);
            if (gpu_bench_wants(b, work))
                run(b, &others[i], work, few[l], 0, 0);
        }
    for (int l = 0; l < (int)(sizeof short_ones / sizeof *short_ones); l++) {
        snprintf(work, sizeof work, "short rows: sum f32 of %lld, gaps of 4", (long long)short_ones[l]);
        if (gpu_bench_wants(b, work))
            run(b, &lengths_of[0], work, short_ones[l], 4, 0);
        for (int w = 0; w < (int)(sizeof widths / sizeof *widths); w++) {
            snprintf(work, sizeof work, "short rows: sum f32 of %lld, %lld columns", (long long)short_ones[l], (long long)widths[w]);
            if (gpu_bench_wants(b, work))
                run(b, &lengths_of[0], work, short_ones[l], 0, widths[w]);
        }
    }
    columns(b, lengths_of, (int)(sizeof lengths_of / sizeof *lengths_of));
    columns(b, others, (int)(sizeof others / sizeof *others));
    tall(b, lengths_of, (int)(sizeof lengths_of / sizeof *lengths_of));
    tall(b, others, (int)(sizeof others / sizeof *others));
    few_columns(b);
}
