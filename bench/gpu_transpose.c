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
                 {tess_f64, 16383, 16383}, {tess_f32, 16384, 8192},  {tess_f32, 16383, 8191},  {tess_u8, 32768, 16384},  {tess_u8, 32767, 16383}};
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
    in_place(b);
}
