/* SPDX-License-Identifier: Apache-2.0
 * host_arrays.c - what the CUDA engine does with arrays in host memory, beside what the bus allows: pinned copies alone, in one direction and in both at
 * once. Then what the card does in place, and with complex elements, beside its copy limit.
 *
 *     build/bench/host_arrays [MEBIBYTES]     of the input of each work in host memory; default 4096 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/strategy.h"
#include "gpu/gpu.h"

enum { ROUNDS = 3 };

static void check(tess_status status, const char *what) {
    if (status == TESS_OK)
        return;
    fprintf(stderr, "%s: %s: %s\n", what, tess_status_text(status), tess_detail());
    exit(1);
}

static void *memory(int64_t bytes) {
    void *block = aligned_alloc(4096, ((size_t)bytes + 4095) / 4096 * 4096);
    if (!block) {
        fprintf(stderr, "%lld bytes could not be allocated\n", (long long)bytes);
        exit(1);
    }
    return block;
}

/* ---- the bus ---- */

static void bus(tess_context *context, int64_t bytes) {
    tess_gpu *gpu;
    tess_gpu_device *device;
    tess_gpu_scope scope;
    void *up, *down;
    CUdeviceptr a, b;
    CUstream one, two;
    check(tess_gpu_get(&gpu, context), "engine");
    check(tess_gpu_open(gpu), "driver");
    check(tess_gpu_device_get(gpu, 0, &device), "device");
    check(tess_gpu_enter(gpu, device, NULL, &scope), "context");
    const tess_driver *d = &gpu->driver;
    if (d->cuMemHostAlloc(&up, (size_t)bytes, 0) || d->cuMemHostAlloc(&down, (size_t)bytes, 0) || d->cuMemAlloc(&a, (size_t)bytes) ||
        d->cuMemAlloc(&b, (size_t)bytes) || d->cuStreamCreate(&one, CU_STREAM_NON_BLOCKING) || d->cuStreamCreate(&two, CU_STREAM_NON_BLOCKING)) {
        fprintf(stderr, "no memory for the limits\n");
        exit(1);
    }
    memset(up, 1, (size_t)bytes);
    memset(down, 1, (size_t)bytes);
    static const char *const names[] = {"", "to the card", "from the card", "both at once"};
    for (int way = 1; way <= 3; way++) {
        double best = 1e30;
        for (int r = 0; r < ROUNDS; r++) {
            double start = tess_seconds();
            if (way & 1)
                d->cuMemcpyHtoDAsync(a, up, (size_t)bytes, one);
            if (way & 2)
                d->cuMemcpyDtoHAsync(down, b, (size_t)bytes, two);
            d->cuStreamSynchronize(one);
            d->cuStreamSynchronize(two);
            double seconds = tess_seconds() - start;
            best = seconds < best ? seconds : best;
        }
        printf("limit      pinned copies %-22s %6.1f GB/s\n", names[way], (double)bytes * (way == 3 ? 2 : 1) / best * 1e-9);
        fflush(stdout);
    }
    d->cuMemFreeHost(up);
    d->cuMemFreeHost(down);
    d->cuMemFree(a);
    d->cuMemFree(b);
    d->cuStreamDestroy(one);
    d->cuStreamDestroy(two);
    tess_gpu_leave(&scope);
}

/* ---- arrays in host memory ---- */

static void report(const char *what, tess_plan *plan, const void *in, const void *second, void *out, double bytes) {
    static const char *const caps[] = {NULL, "1G", "64M"};
    for (int c = 0; c < TESS_COUNT(caps); c++) {
        double best = 1e30;
        if (caps[c])
            setenv("TESSERA_GPU_MEMORY", caps[c], 1);
        for (int r = 0; r < ROUNDS; r++) {
            double start = tess_seconds();
            check(tess_execute(plan, in, second, out, NULL), what);
            double seconds = tess_seconds() - start;
            best = seconds < best ? seconds : best;
        }
        unsetenv("TESSERA_GPU_MEMORY");
        printf("host       %-26s cap %-5s %8.1f ms %6.1f GB/s\n", what, caps[c] ? caps[c] : "none", best * 1e3, bytes / best * 1e-9);
        fflush(stdout);
    }
    tess_plan_free(plan);
}

static void host_works(int64_t bytes) {
    const tess_call call = {.engine = TESS_ENGINE_CUDA};
    int64_t n = 1, shape[2], one[1], side[2];
    while (n * n * 4 * 4 <= bytes)
        n *= 2;
    shape[0] = shape[1] = n;
    one[0] = n * n;
    const double size = (double)one[0] * 4;
    float *in = memory(one[0] * 4), *out = memory(one[0] * 4), *again = memory(one[0] * 4), mask[49];
    for (int64_t i = 0; i < one[0]; i++)
        in[i] = (float)(i % 1021) * 0.5f;
    memset(out, 1, (size_t)one[0] * 4);
    memset(again, 1, (size_t)one[0] * 4);
    for (int i = 0; i < 49; i++)
        mask[i] = 0.01f * (float)i;
    DLTensor x = tess_view(in, tess_f32, 2, shape, NULL), y = tess_view(out, tess_f32, 2, shape, NULL), z = y,
             flat = tess_view(in, tess_f32, 1, one, NULL);
    tess_plan *plan;
    z.data = again;
    for (int w = 3; w <= 7; w += 4) {
        char what[64];
        side[0] = side[1] = w;
        DLTensor weights = tess_view(mask, tess_f32, 2, side, NULL);
        const DLTensor *masks[] = {&weights};
        tess_correlate_options o = {.struct_size = sizeof o, .call = call, .boundary = TESS_BOUNDARY_REFLECT};
        snprintf(what, sizeof what, "correlate %d x %d f32", w, w);
        check(tess_plan_correlate(&plan, NULL, &x, masks, 1, &y, &o), what);
        report(what, plan, in, NULL, out, 2 * size);
        o.call.engine = TESS_ENGINE_CPU;
        double start = tess_seconds();
        check(tess_correlate(NULL, &x, &weights, &z, &o), "the CPU's");
        printf("           the CPU takes %.1f ms, its bytes are %s\n", (tess_seconds() - start) * 1e3,
               memcmp(out, again, (size_t)one[0] * 4) ? "DIFFERENT" : "the same");
    }
    tess_transpose_options t = {.struct_size = sizeof t, .call = call};
    check(tess_plan_transpose(&plan, NULL, &x, &y, &t), "transpose");
    report("transpose f32", plan, in, NULL, out, 2 * size);
    static const tess_reduction operations[] = {TESS_SUM, TESS_VAR};
    double result;
    DLTensor scalar = tess_view(&result, tess_f64, 0, NULL, NULL);
    for (int i = 0; i < TESS_COUNT(operations); i++) {
        tess_reduce_options o = {.struct_size = sizeof o, .call = call};
        check(tess_plan_reduce(&plan, NULL, operations[i], &flat, &scalar, &o), "reduce");
        report(i ? "var f32 of all" : "sum f32 of all", plan, in, NULL, &result, size);
    }
    static float table[4096];
    int64_t entries[] = {4096};
    int32_t *index = (int32_t *)(void *)in;
    for (int64_t i = 0; i < one[0]; i++)
        index[i] = (int32_t)((uint64_t)i * 2654435761u % 4096);
    DLTensor from = tess_view(table, tess_f32, 1, entries, NULL), at = tess_view(index, tess_i32, 1, one, NULL),
             to = tess_view(out, tess_f32, 1, one, NULL);
    tess_lookup_options l = {.struct_size = sizeof l, .call = call};
    check(tess_plan_lookup(&plan, NULL, &from, &at, &to, &l), "lookup");
    report("lookup i32 to f32, 4096", plan, table, index, out, 2 * size);
    free(in);
    free(out);
    free(again);
}

/* ---- on the card ---- */

static void timed(const char *what, tess_plan *plan, const void *in, void *out, double bytes, double limit) {
    double median;
    check(tess_time_plan(plan, in, NULL, out, 0.3, &median), what);
    printf("card       %-34s %8.3f ms %7.1f GB/s %5.1f %% of copy\n", what, median * 1e3, bytes / median * 1e-9, 100 * bytes / median / limit);
    fflush(stdout);
    tess_plan_free(plan);
}

static void card_works(void) {
    const tess_call call = {.engine = TESS_ENGINE_CUDA};
    static const struct {
        tess_type type;
        int64_t rows, columns;
    } cases[] = {{tess_u8, 32768, 32768},  {tess_i16, 32768, 32768}, {tess_f32, 16384, 16384}, {tess_f32, 16383, 16383},
                 {tess_f64, 16384, 16384}, {tess_c128, 8192, 8192},  {tess_f32, 16384, 8192},  {tess_u8, 16383, 16383}};
    tess_context *context;
    tess_context_options options = {.struct_size = sizeof options, .engine = TESS_ENGINE_CUDA};
    tess_limits limits = {.struct_size = sizeof limits};
    check(tess_open(&context, &options), "context");
    check(tess_measure_limits(context, 0.5, &limits), "limits");
    printf("limit      copy on the card %34.1f GB/s, read %.1f\n", limits.copy_bytes_per_s * 1e-9, limits.read_bytes_per_s * 1e-9);
    int64_t most = (int64_t)2 << 30;
    char *in = memory(most), *out = memory(most);
    memset(in, 1, (size_t)most);
    memset(out, 1, (size_t)most);
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        int64_t shape[] = {cases[i].rows, cases[i].columns}, turned[] = {cases[i].columns, cases[i].rows};
        double bytes = 2.0 * (double)(shape[0] * shape[1]) * (double)tess_type_size(cases[i].type);
        tess_transpose_options o = {.struct_size = sizeof o, .call = call};
        DLTensor x = tess_view(in, cases[i].type, 2, shape, NULL), y = tess_view(out, cases[i].type, 2, turned, NULL);
        tess_plan *plan;
        char what[80];
        for (int place = 0; place < 2; place++) {
            y.data = place ? in : out;
            snprintf(what, sizeof what, "transpose %s %lld x %lld%s", tess_type_name(cases[i].type), (long long)shape[0], (long long)shape[1],
                     place ? " in place" : "");
            check(tess_plan_transpose(&plan, context, &x, &y, &o), what);
            timed(what, plan, in, y.data, bytes, limits.copy_bytes_per_s);
        }
    }
    static const struct {
        tess_reduction operation;
        tess_type in, out;
        bool exact;
        const char *what;
    } sums[] = {{TESS_SUM, tess_f32, tess_f32, false, "sum f32"},     {TESS_VAR, tess_f32, tess_f64, false, "var f32"},
                {TESS_SUM, tess_c64, tess_c64, false, "sum c64"},     {TESS_SUM, tess_c128, tess_c128, false, "sum c128"},
                {TESS_PROD, tess_c64, tess_c64, false, "prod c64"},   {TESS_SUM, tess_f32, tess_f64, true, "exact sum f32"},
                {TESS_SUM, tess_f64, tess_f64, true, "exact sum f64"}};
    for (int i = 0; i < TESS_COUNT(sums); i++) {
        int64_t bytes = (int64_t)1 << 30, n = bytes / (int64_t)tess_type_size(sums[i].in);
        tess_reduce_options o = {.struct_size = sizeof o, .call = call, .exact = sums[i].exact};
        DLTensor x = tess_view(in, sums[i].in, 1, &n, NULL), y = tess_view(out, sums[i].out, 0, NULL, NULL);
        tess_plan *plan;
        if (tess_plan_reduce(&plan, context, sums[i].operation, &x, &y, &o) != TESS_OK)
            printf("card       %-34s %s\n", sums[i].what, tess_detail());
        else
            timed(sums[i].what, plan, in, out, (double)bytes, limits.copy_bytes_per_s);
    }
    free(in);
    free(out);
    tess_close(context);
}

int main(int count, char **words) {
    int64_t bytes = (int64_t)(count > 1 ? strtod(words[1], NULL) : 4096) << 20;
    tess_context *context;
    check(tess_open(&context, NULL), "context");
    bus(context, tess_min64(bytes, (int64_t)1 << 30));
    tess_close(context);
    host_works(bytes);
    card_works();
    return 0;
}
