/* SPDX-License-Identifier: Apache-2.0
 * gpu_transpose.c - the transposes of the table of works: every element size, odd sizes, permutations of four axes, matrices in their own memory. */
#include "gpu.h"

#include <stdio.h>

static void in_place(gpu_bench *b) {
    static const struct {
        tess_type type;
        int64_t rows, columns;
    } works[] = {{tess_u8, 32768, 32768},  {tess_i16, 32768, 32768}, {tess_f32, 16384, 16384}, {tess_f64, 16384, 16384}, {tess_c128, 8192, 8192},
                 {tess_u8, 16383, 16383},  {tess_u8, 32767, 32767},  {tess_i16, 16383, 16383}, {tess_i16, 32767, 32767}, {tess_f32, 16383, 16383},
                 {tess_f64, 16383, 16383}, {tess_f32, 16384, 8192},  {tess_f32, 16383, 8191},  {tess_u8, 32768, 16384},  {tess_u8, 32767, 16383},
                 {tess_f32, 2844394, 11},  {tess_f32, 11, 2844394},  {tess_f32, 909105, 35},   {tess_f32, 24 << 20, 11}, {tess_u8, 6, 5333333},
                 {tess_u8, 37, 864864}};
    static const int perm[] = {1, 0};
    for (int i = 0; i < (int)(sizeof works / sizeof *works); i++) {
        int64_t shape[] = {works[i].rows, works[i].columns}, turned[] = {works[i].columns, works[i].rows};
        const int64_t bytes = shape[0] * shape[1] * (int64_t)tess_type_size(works[i].type);
        char work[64];
        bool more;
        snprintf(work, sizeof work, "in place %s %lld x %lld", tess_type_name(works[i].type), (long long)shape[0], (long long)shape[1]);
        if (!gpu_bench_wants(b, work))
            continue;
        void *data = gpu_bench_memory(b, 0, bytes);
        DLTensor from = gpu_bench_view(data, works[i].type, 2, shape), to = gpu_bench_view(data, works[i].type, 2, turned);
        for (int r = 0;; r++) {
            tess_plan *plan = NULL;
            tess_transpose_options options = {.struct_size = sizeof options, .perm = perm, .nperm = 2};
            options.call = gpu_bench_call(b, gpu_bench_row(b, "transpose", r, &more));
            if (!more)
                break;
            tess_status status = tess_plan_transpose(&plan, gpu_bench_context(b), &from, &to, &options);
            gpu_bench_time(b, status, plan, work, data, NULL, data, 2.0 * (double)bytes, 0);
        }
    }
    gpu_bench_spoiled(b, 0); /* bytes that were moved alone leave any bits, of which exact sums take many times as long */
}

/* Views of rows x columns elements, `step` apart in rows that are `pitch` elements from each other: as they are, and turned. */
static void apart(gpu_bench *b) {
    static const struct {
        const char *work;
        tess_type type;
        int64_t rows, columns, pitch, step;
        bool turned;
    } works[] = {{"copy f32 every second column", tess_f32, 16384, 8192, 16384, 2, false},
                 {"copy f32 every second of 16383 columns", tess_f32, 16384, 8192, 16383, 2, false},
                 {"copy f32 columns backwards", tess_f32, 16384, 8192, 8192, -1, false},
                 {"copy f64 real parts", tess_f64, 8192, 8192, 16384, 2, false},
                 {"copy u8 one colour of three", tess_u8, 16384, 16384, 49152, 3, false},
                 {"copy u8 columns backwards", tess_u8, 16384, 32768, 32768, -1, false},
                 {"copy u8 every second column", tess_u8, 16384, 16384, 32768, 2, false},
                 {"copy f16 columns backwards", tess_f16, 16384, 16384, 16384, -1, false},
                 {"copy f16 one of three", tess_f16, 16384, 8192, 24576, 3, false},
                 {"copy c128 every second column", tess_c128, 8192, 4096, 8192, 2, false},
                 {"transpose f32 every second column", tess_f32, 16384, 8192, 16384, 2, true},
                 {"transpose f32 every second of 16383 columns", tess_f32, 16384, 8192, 16383, 2, true},
                 {"transpose f16 every second column", tess_f16, 16384, 16384, 32768, 2, true},
                 {"transpose u8 one colour of three", tess_u8, 16384, 16384, 49152, 3, true},
                 {"transpose f64 real parts", tess_f64, 8192, 8192, 16384, 2, true},
                 {"transpose c128 every second column", tess_c128, 8192, 4096, 8192, 2, true}};
    for (int i = 0; i < (int)(sizeof works / sizeof *works); i++) {
        const int64_t size = (int64_t)tess_type_size(works[i].type);
        int64_t shape[] = {works[i].rows, works[i].columns}, turned[] = {works[i].columns, works[i].rows},
                strides[] = {works[i].pitch, works[i].step};
        const int perm[] = {works[i].turned, !works[i].turned};
        bool more;
        if (!gpu_bench_wants(b, works[i].work))
            continue;
        char *in = gpu_bench_memory(b, 0, works[i].rows * works[i].pitch * size), *out = gpu_bench_memory(b, 2, shape[0] * shape[1] * size);
        if (works[i].step < 0)
            in -= works[i].step * (works[i].columns - 1) * size;
        DLTensor from = gpu_bench_view(in, works[i].type, 2, shape), to = gpu_bench_view(out, works[i].type, 2, works[i].turned ? turned : shape);
        from.strides = strides;
        for (int r = 0;; r++) {
            tess_plan *plan = NULL;
            tess_transpose_options options = {.struct_size = sizeof options, .perm = perm, .nperm = 2};
            options.call = gpu_bench_call(b, gpu_bench_row(b, "transpose", r, &more));
            if (!more)
                break;
            tess_status status = tess_plan_transpose(&plan, gpu_bench_context(b), &from, &to, &options);
            gpu_bench_time(b, status, plan, works[i].work, in, NULL, out, 2.0 * (double)(shape[0] * shape[1] * size), 0);
        }
    }
}

void gpu_works_transpose(gpu_bench *b) {
    static const struct {
        const char *work;
        tess_type type;
        int ndim;
        int64_t shape[4];
        int perm[4];
    } works[] = {{"transpose f32 32768 x 32768", tess_f32, 2, {32768, 32768}, {1, 0}},
                 {"transpose f32 8192 x 8192", tess_f32, 2, {8192, 8192}, {1, 0}}, /* the ladder's size */
                 {"transpose f16 46080 x 46080", tess_f16, 2, {46080, 46080}, {1, 0}},
                 {"transpose u8 65536 x 65536", tess_u8, 2, {65536, 65536}, {1, 0}},
                 {"transpose f64 32768 x 16384", tess_f64, 2, {32768, 16384}, {1, 0}},
                 {"transpose c128 16384 x 16384", tess_c128, 2, {16384, 16384}, {1, 0}},
                 {"transpose f32 30011 x 29989", tess_f32, 2, {30011, 29989}, {1, 0}},
                 {"transpose u8 60013 x 59999", tess_u8, 2, {60013, 59999}, {1, 0}},
                 {"transpose f16 45013 x 44999", tess_f16, 2, {45013, 44999}, {1, 0}},
                 {"transpose f64 22511 x 22501", tess_f64, 2, {22511, 22501}, {1, 0}},
                 {"NCHW to NHWC f32 256 x 256 x 128 x 128", tess_f32, 4, {256, 256, 128, 128}, {0, 2, 3, 1}},
                 {"reverse axes f32 256 x 256 x 128 x 128", tess_f32, 4, {256, 256, 128, 128}, {3, 2, 1, 0}},
                 {"transpose u8 256 Mi x 3", tess_u8, 2, {256 << 20, 3}, {1, 0}},
                 {"transpose u8 3 x 256 Mi", tess_u8, 2, {3, 256 << 20}, {1, 0}},
                 {"transpose f32 64 Mi x 3", tess_f32, 2, {64 << 20, 3}, {1, 0}},
                 {"transpose f32 3 x 64 Mi", tess_f32, 2, {3, 64 << 20}, {1, 0}},
                 {"transpose f32 128 Mi x 2", tess_f32, 2, {128 << 20, 2}, {1, 0}},
                 {"transpose f32 2 x 128 Mi", tess_f32, 2, {2, 128 << 20}, {1, 0}},
                 {"transpose f16 128 Mi x 4", tess_f16, 2, {128 << 20, 4}, {1, 0}},
                 {"transpose f64 64 Mi x 3", tess_f64, 2, {64 << 20, 3}, {1, 0}},
                 {"transpose f64 3 x 64 Mi", tess_f64, 2, {3, 64 << 20}, {1, 0}},
                 {"transpose u8 8 Mi x 128", tess_u8, 2, {8 << 20, 128}, {1, 0}},
                 {"transpose u8 128 x 8 Mi", tess_u8, 2, {128, 8 << 20}, {1, 0}},
                 {"transpose u8 32 Mi x 32", tess_u8, 2, {32 << 20, 32}, {1, 0}},
                 {"transpose u8 32 x 32 Mi", tess_u8, 2, {32, 32 << 20}, {1, 0}},
                 {"transpose f16 8 Mi x 64", tess_f16, 2, {8 << 20, 64}, {1, 0}},
                 {"transpose f16 64 x 8 Mi", tess_f16, 2, {64, 8 << 20}, {1, 0}},
                 {"transpose f16 5 Mi x 101", tess_f16, 2, {5 << 20, 101}, {1, 0}},
                 {"transpose f16 101 x 5 Mi", tess_f16, 2, {101, 5 << 20}, {1, 0}},
                 {"transpose f32 2500001 x 101", tess_f32, 2, {2500001, 101}, {1, 0}},
                 {"transpose f32 101 x 2500001", tess_f32, 2, {101, 2500001}, {1, 0}},
                 {"transpose f32 32 Mi x 8", tess_f32, 2, {32 << 20, 8}, {1, 0}},
                 {"transpose f32 8 x 32 Mi", tess_f32, 2, {8, 32 << 20}, {1, 0}},
                 {"transpose f32 8 Mi x 32", tess_f32, 2, {8 << 20, 32}, {1, 0}},
                 {"transpose f32 32 x 8 Mi", tess_f32, 2, {32, 8 << 20}, {1, 0}},
                 {"transpose f64 16 Mi x 8", tess_f64, 2, {16 << 20, 8}, {1, 0}},
                 {"transpose f64 8 x 16 Mi", tess_f64, 2, {8, 16 << 20}, {1, 0}},
                 {"transpose f64 8 Mi x 16", tess_f64, 2, {8 << 20, 16}, {1, 0}},
                 {"transpose f64 16 x 8 Mi", tess_f64, 2, {16, 8 << 20}, {1, 0}},
                 {"transpose f64 3000001 x 33", tess_f64, 2, {3000001, 33}, {1, 0}},
                 {"transpose f64 33 x 3000001", tess_f64, 2, {33, 3000001}, {1, 0}},
                 {"transpose c128 16 Mi x 3", tess_c128, 2, {16 << 20, 3}, {1, 0}},
                 {"transpose c128 3 x 16 Mi", tess_c128, 2, {3, 16 << 20}, {1, 0}},
                 {"transpose u8 16 Mi x 64", tess_u8, 2, {16 << 20, 64}, {1, 0}},
                 {"transpose u8 64 x 16 Mi", tess_u8, 2, {64, 16 << 20}, {1, 0}},
                 {"transpose u8 20 Mi x 50", tess_u8, 2, {20 << 20, 50}, {1, 0}},
                 {"transpose u8 50 x 20 Mi", tess_u8, 2, {50, 20 << 20}, {1, 0}},
                 {"transpose u8 10 Mi x 100", tess_u8, 2, {10 << 20, 100}, {1, 0}},
                 {"transpose u8 100 x 10 Mi", tess_u8, 2, {100, 10 << 20}, {1, 0}},
                 {"transpose f32 16 Mi x 16", tess_f32, 2, {16 << 20, 16}, {1, 0}},
                 {"transpose f32 16 x 16 Mi", tess_f32, 2, {16, 16 << 20}, {1, 0}},
                 {"transpose f32 8 Mi x 31", tess_f32, 2, {8 << 20, 31}, {1, 0}},
                 {"transpose f32 31 x 8 Mi", tess_f32, 2, {31, 8 << 20}, {1, 0}},
                 {"transpose f32 4 Mi x 64", tess_f32, 2, {4 << 20, 64}, {1, 0}},
                 {"transpose f32 64 x 4 Mi", tess_f32, 2, {64, 4 << 20}, {1, 0}},
                 {"NHWC to NCHW u8 2048 x 223 x 223 x 3", tess_u8, 4, {2048, 223, 223, 3}, {0, 3, 1, 2}},
                 {"NCHW to NHWC u8 2048 x 3 x 223 x 223", tess_u8, 4, {2048, 3, 223, 223}, {0, 2, 3, 1}},
                 {"NCHW to NHWC u8 800 x 33 x 255 x 253", tess_u8, 4, {800, 33, 255, 253}, {0, 2, 3, 1}},
                 {"NHWC to NCHW f16 200 x 255 x 253 x 67", tess_f16, 4, {200, 255, 253, 67}, {0, 3, 1, 2}},
                 {"NCHW to NHWC f16 200 x 67 x 255 x 253", tess_f16, 4, {200, 67, 255, 253}, {0, 2, 3, 1}},
                 {"pixels of 3 bytes, 16384 x 16384", tess_u8, 3, {16384, 16384, 3}, {1, 0, 2}},
                 {"pixels of 12 bytes, 8192 x 8192", tess_f32, 3, {8192, 8192, 3}, {1, 0, 2}},
                 {"runs of 6 bytes, 12000 x 12000", tess_f16, 3, {12000, 12000, 3}, {1, 0, 2}},
                 {"runs of 20 bytes, 7001 x 6999", tess_f32, 3, {7001, 6999, 5}, {1, 0, 2}},
                 {"runs of 24 bytes, 6000 x 7000", tess_f64, 3, {6000, 7000, 3}, {1, 0, 2}},
                 {"runs of 36 bytes, 5000 x 5000", tess_f32, 3, {5000, 5000, 9}, {1, 0, 2}},
                 {"runs of 48 bytes, 5000 x 4000", tess_f64, 3, {5000, 4000, 6}, {1, 0, 2}},
                 {"runs of 100 bytes, 4000 x 3000", tess_f32, 3, {4000, 3000, 25}, {1, 0, 2}},
                 {"runs of 128 bytes, 64 x 4096 x 32", tess_f16, 4, {64, 4096, 32, 64}, {0, 2, 1, 3}},
                 {"runs of 3 bytes, 15001 x 14999", tess_u8, 3, {15001, 14999, 3}, {1, 0, 2}},
                 {"runs of 404 bytes, 2000 x 1000", tess_f32, 3, {2000, 1000, 101}, {1, 0, 2}},
                 {"runs of 101 bytes, 3000 x 3000", tess_u8, 3, {3000, 3000, 101}, {1, 0, 2}},
                 {"runs of 202 bytes, 2000 x 3000", tess_f16, 3, {2000, 3000, 101}, {1, 0, 2}},
                 {"runs of 4 KiB, 512 x 512", tess_f32, 3, {512, 512, 1024}, {1, 0, 2}},
                 {"stack of f32 3 x 3, 4 Mi", tess_f32, 3, {4 << 20, 3, 3}, {0, 2, 1}},
                 {"stack of f32 8 x 8, 1 Mi", tess_f32, 3, {1 << 20, 8, 8}, {0, 2, 1}},
                 {"stack of f32 16 x 16, 1 Mi", tess_f32, 3, {1 << 20, 16, 16}, {0, 2, 1}},
                 {"stack of f32 50 x 60, 64 Ki", tess_f32, 3, {64 << 10, 50, 60}, {0, 2, 1}},
                 {"stack of u8 28 x 28, 1 Mi", tess_u8, 3, {1 << 20, 28, 28}, {0, 2, 1}},
                 {"short f16 2 x 1374704 x 11", tess_f16, 3, {2, 1374704, 11}, {2, 1, 0}},
                 {"short u8 1776 x 787 x 6 x 3", tess_u8, 4, {1776, 787, 6, 3}, {3, 2, 1, 0}},
                 {"short f32 1779 x 9 x 142 x 14", tess_f32, 4, {1779, 9, 142, 14}, {0, 3, 2, 1}},
                 {"short u8 15 x 3 x 711111", tess_u8, 3, {15, 3, 711111}, {2, 1, 0}},
                 {"short f16 2 x 1572274 x 10", tess_f16, 3, {2, 1572274, 10}, {1, 0, 2}},
                 {"short f16 3 x 16 Mi x 5", tess_f16, 3, {3, 16 << 20, 5}, {2, 1, 0}},
                 {"short f32 12 x 1 Mi x 20", tess_f32, 3, {12, 1 << 20, 20}, {2, 1, 0}},
                 {"image u8 16384 x 12000 x 3, reversed", tess_u8, 3, {16384, 12000, 3}, {2, 1, 0}},
                 {"image u8 3 x 12000 x 16384, reversed", tess_u8, 3, {3, 12000, 16384}, {2, 1, 0}},
                 {"image f32 8001 x 5999 x 3, reversed", tess_f32, 3, {8001, 5999, 3}, {2, 1, 0}},
                 {"image f32 3 x 5999 x 8001, reversed", tess_f32, 3, {3, 5999, 8001}, {2, 1, 0}},
                 {"copy f32 32768 x 32768", tess_f32, 2, {32768, 32768}, {0, 1}}};
    for (int i = 0; i < (int)(sizeof works / sizeof *works); i++) {
        int64_t count = 1, in_shape[4], out_shape[4];
        bool more;
        if (!gpu_bench_wants(b, works[i].work))
            continue;
        for (int d = 0; d < works[i].ndim; d++) {
            in_shape[d] = works[i].shape[d];
            out_shape[d] = works[i].shape[works[i].perm[d]];
            count *= in_shape[d];
        }
        int64_t bytes = count * (int64_t)tess_type_size(works[i].type);
        void *in = gpu_bench_memory(b, 0, bytes), *out = gpu_bench_memory(b, 2, bytes);
        DLTensor from = gpu_bench_view(in, works[i].type, works[i].ndim, in_shape), to = gpu_bench_view(out, works[i].type, works[i].ndim, out_shape);
        for (int r = 0;; r++) {
            tess_plan *plan = NULL;
            tess_transpose_options options = {.struct_size = sizeof options, .perm = works[i].perm, .nperm = works[i].ndim};
            options.call = gpu_bench_call(b, gpu_bench_row(b, "transpose", r, &more));
            if (!more)
                break;
            tess_status status = tess_plan_transpose(&plan, gpu_bench_context(b), &from, &to, &options);
            gpu_bench_time(b, status, plan, works[i].work, in, NULL, out, 2.0 * (double)bytes, 0);
        }
    }
    apart(b);
    in_place(b);
}
