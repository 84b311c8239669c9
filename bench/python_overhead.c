/* SPDX-License-Identifier: Apache-2.0
 * python_overhead.c - the C side of bench/python_overhead.py: nanoseconds of small calls made from C, one line each. */
#include <stdio.h>
#include <time.h>

#include "tessera.h"

enum { N = 16, TAPS = 3, ROUNDS = 9, CALLS = 20000 };
static float x[N], out[N], mask[TAPS] = {1, 2, 1}, total[1];
static int64_t index_of[N], sizes[1] = {N}, matrix[2] = {4, 4}, taps[1] = {TAPS};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static tess_status call(int which, tess_context *context) {
    DLTensor in = tess_view(x, tess_f32, 1, sizes, NULL), square = tess_view(x, tess_f32, 2, matrix, NULL);
    DLTensor result = tess_view(out, tess_f32, 1, sizes, NULL), turned = tess_view(out, tess_f32, 2, matrix, NULL);
    DLTensor weights = tess_view(mask, tess_f32, 1, taps, NULL), places = tess_view(index_of, tess_i64, 1, sizes, NULL);
    DLTensor one = tess_view(total, tess_f32, 0, sizes, NULL);
    switch (which) {
    case 0: return tess_reduce(context, TESS_SUM, &in, &one, NULL);
    case 1: return tess_transpose(context, &square, &turned, NULL);
    case 2: return tess_correlate(context, &in, &weights, &result, NULL);
    default: return tess_lookup(context, &in, &places, &result, NULL);
    }
}

int main(void) {
    static const char *const names[] = {"sum", "transpose", "correlate", "lookup"};
    tess_context *context;
    if (tess_open(&context, NULL) != TESS_OK)
        return 1;
    for (int which = 0; which < 4; which++) {
        double best = 1e30;
        for (int round = 0; round < ROUNDS; round++) {
            double start = now();
            for (int k = 0; k < CALLS; k++)
                if (call(which, context) != TESS_OK)
                    return 1;
            double took = (now() - start) / CALLS;
            best = took < best ? took : best;
        }
        printf("%s %.1f\n", names[which], best);
    }
    tess_close(context);
    return 0;
}
