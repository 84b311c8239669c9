/* SPDX-License-Identifier: Apache-2.0
 * mask_sizes.c - time against the size of a mask: for masks of 1 to 4096 taps how long the direct sum and transforms take, which of them accuracy FAST takes, and how many
 * times as long as the quicker one that is; and how many times as long as some larger mask takes, which a mask with zeros around it could be made to. One thread, best
 * of some executions of a plan.
 *
 *   build/bench/mask_sizes f32|f64 1|2 SIDE avx2|avx512 [FROM TO [DIRECT]]     SIDE points, or SIDE x SIDE; taps along each axis; most taps of a direct sum that is timed */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tessera.h"

enum { MOST = 4096, EXECUTIONS = 3, SIZES = 512, EVERY = 128 };

static tess_context *context;
static tess_type type;
static int ndim;
static int64_t shape[2];
static char *in, *out, *weights;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void check(tess_status status) {
    if (status == TESS_OK)
        return;
    puts(tess_detail());
    exit(1);
}

/* Milliseconds. *transforms: whether the plan does. */
static double timed(int64_t width, tess_accuracy accuracy, int executions, bool *transforms) {
    int64_t mask_shape[2] = {width, width};
    DLTensor from = tess_view(in, type, ndim, shape, NULL), to = tess_view(out, type, ndim, shape, NULL),
             mask = tess_view(weights, type, ndim, mask_shape, NULL);
    const DLTensor *masks[1] = {&mask};
    tess_report report = {.struct_size = sizeof report};
    tess_plan *plan;
    check(tess_plan_correlate(
        &plan, context, &from, masks, 1, &to,
        &(tess_correlate_options){.struct_size = sizeof(tess_correlate_options), .boundary = TESS_BOUNDARY_REFLECT, .accuracy = accuracy}));
    double best = 1e300;
    for (int i = 0; i < executions; i++) {
        const double start = now();
        check(tess_execute(plan, in, NULL, out, i == 0 ? &(tess_call){.report = &report} : NULL));
        const double took = now() - start;
        best = took < best ? took : best;
    }
    *transforms = strcmp(report.strategy, "correlate/fft") == 0;
    tess_plan_free(plan);
    return best;
}

int main(int count, char **word) {
    if (count < 5)
        return fputs("mask_sizes f32|f64 1|2 SIDE avx2|avx512 [FROM TO [DIRECT]]\n", stderr), 1;
    type = strcmp(word[1], "f64") == 0 ? tess_f64 : tess_f32;
    ndim = atoi(word[2]);
    shape[0] = shape[1] = atoll(word[3]);
    const int64_t first = count > 6 ? atoll(word[5]) : 1,
                  last = count > 6   ? atoll(word[6])
                         : ndim == 1 ? MOST
                                     : 64,
                  most = count > 7 ? atoll(word[7]) : 300;
    const int64_t elements = ndim == 1 ? shape[0] : shape[0] * shape[1], size = (int64_t)tess_type_size(type);
    check(tess_open(&context, &(tess_context_options){.struct_size = sizeof(tess_context_options),
                                                      .threads = 1,
                                                      .isa = strcmp(word[4], "avx2") == 0 ? TESS_ISA_AVX2 : TESS_ISA_AVX512}));
    in = calloc((size_t)elements, (size_t)size);
    out = calloc((size_t)elements, (size_t)size);
    weights = calloc(MOST, (size_t)size);
    if (!in || !out || !weights)
        return 1;
    uint64_t state = 1;
    for (int64_t i = 0; i < elements + MOST; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const double value = (double)(int32_t)(state >> 32) * 0x1p-31;
        char *at = i < elements ? in + i * size : weights + (i - elements) * size;
        if (type == tess_f64)
            memcpy(at, &value, 8);
        else
            memcpy(at, &(float){(float)value}, 4);
    }
    static int64_t width[SIZES];
    static double direct[SIZES], fourier[SIZES], taken[SIZES];
    static bool by_fourier[SIZES];
    int sizes = 0;
    bool ignored;
    for (int64_t k = first; k <= last && sizes < SIZES; k = ndim == 2 || k < EVERY ? k + 1 : k * 103 / 100, sizes++) {
        const int64_t taps = ndim == 1 ? k : k * k;
        width[sizes] = k;
        timed(k, TESS_ACCURACY_FAST, 1, &by_fourier[sizes]);
        direct[sizes] = taps <= most ? timed(k, TESS_ACCURACY_DIRECT, EXECUTIONS, &ignored) : 0;
        fourier[sizes] = taps > 24 ? timed(k, TESS_ACCURACY_FFT, EXECUTIONS, &ignored) : 0;
        taken[sizes] = by_fourier[sizes] ? fourier[sizes] : direct[sizes];
    }
    double least = 1e300, worst = 0, step = 0;
    int worst_at = 0, step_at = 0;
    for (int i = sizes - 1; i >= 0; i--) {
        const double other = by_fourier[i] ? direct[i] : fourier[i], ratio = other > 0 && other < taken[i] ? taken[i] / other : 1;
        least = taken[i] < least ? taken[i] : least;
        if (ratio > worst)
            worst = ratio, worst_at = i;
        if (taken[i] / least > step)
            step = taken[i] / least, step_at = i;
    }
    printf("%s %s %dd side %lld: longest %.2f times the best method (width %lld), %.2f times a larger mask (width %lld)\n", word[1], word[4], ndim,
           (long long)shape[0], worst, (long long)width[worst_at], step, (long long)width[step_at]);
    puts("width  direct ms  transforms ms  FAST takes  times the best");
    for (int i = 0; i < sizes; i++) {
        const double other = by_fourier[i] ? direct[i] : fourier[i];
        printf("%5lld %10.3f %14.3f  %-10s %6.2f\n", (long long)width[i], direct[i], fourier[i], by_fourier[i] ? "transforms" : "direct",
               other > 0 && other < taken[i] ? taken[i] / other : 1);
    }
    return 0;
}
