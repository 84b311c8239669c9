/* SPDX-License-Identifier: Apache-2.0
 * cutover.c - from how much work on two threads are faster than one: the table of src/core/cutover.c. Plans with one thread and with two are executed in
 * turns, each call some 200 microseconds after the last, so that helper threads have gone to sleep; medians, in microseconds. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/cutover.h"
#include "tessera.h"

const double tess_thread_cutover = 0; /* in place of the library's: every size is shared */

enum { LEAST = 1 << 14, MOST = 1 << 21, TAPS = 7, ENTRIES = 256, ROUNDS = 201, WORKS = 5 };
static const char *const names[WORKS] = {"sum f32", "7 taps f32", "transpose f32", "lookup by u8", "variance f32"};
static float mask[TAPS] = {1, 2, 3, 4, 3, 2, 1}, table[ENTRIES];

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static tess_status make(tess_plan **plan, tess_context *context, int work, int64_t count, float *in, unsigned char *index, float *out) {
    int64_t rows = 1;
    while (rows * rows * 2 <= count)
        rows *= 2;
    int64_t shape[2] = {rows, count / rows}, turned[2] = {count / rows, rows}, taps[1] = {TAPS}, entries[1] = {ENTRIES};
    DLTensor line = tess_view(in, tess_f32, 1, &count, NULL), result = tess_view(out, tess_f32, 1, &count, NULL),
             weights = tess_view(mask, tess_f32, 1, taps, NULL);
    DLTensor matrix = tess_view(in, tess_f32, 2, shape, NULL), other = tess_view(out, tess_f32, 2, turned, NULL),
             one = tess_view(out, tess_f32, 0, NULL, NULL);
    DLTensor variance = tess_view(out, tess_f64, 0, NULL, NULL), entry = tess_view(table, tess_f32, 1, entries, NULL),
             places = tess_view(index, tess_u8, 1, &count, NULL);
    const DLTensor *masks[1] = {&weights};
    switch (work) {
    case 0: return tess_plan_reduce(plan, context, TESS_SUM, &line, &one, NULL);
    case 1: return tess_plan_correlate(plan, context, &line, masks, 1, &result, NULL);
    case 2: return tess_plan_transpose(plan, context, &matrix, &other, NULL);
    case 3: return tess_plan_lookup(plan, context, &entry, &places, &result, NULL);
    default: return tess_plan_reduce(plan, context, TESS_VAR, &line, &variance, NULL);
    }
}

/* One call after a pause in which the caller computes: a sleeping caller would have to be woken too. */
static double timed(const tess_plan *plan, int work, float *in, unsigned char *index, float *out) {
    double start = now();
    while (now() - start < 200)
        ;
    start = now();
    if (tess_execute(plan, work == 3 ? table : in, work == 3 ? index : NULL, out, NULL) != TESS_OK)
        exit(1);
    return now() - start;
}

int main(void) {
    float *in = aligned_alloc(64, MOST * sizeof *in), *out = aligned_alloc(64, MOST * sizeof *out);
    unsigned char *index = aligned_alloc(64, MOST);
    tess_context *contexts[2];
    static double times[2][ROUNDS];
    if (!in || !out || !index)
        return 1;
    for (int i = 0; i < MOST; i++) {
        in[i] = (float)(i % 37) - 18;
        out[i] = 0;
        index[i] = (unsigned char)(i * 7);
    }
    for (int t = 0; t < 2; t++)
        if (tess_open(&contexts[t], &(tess_context_options){.struct_size = sizeof(tess_context_options), .threads = t + 1}) != TESS_OK)
            return 1;
    printf("%-10s", "elements");
    for (int work = 0; work < WORKS; work++)
        printf("%18s", names[work]);
    printf("\n");
    for (int64_t count = LEAST; count <= MOST; count *= 2) {
        printf("%-10lld", (long long)count);
        for (int work = 0; work < WORKS; work++) {
            tess_plan *plans[2];
            for (int t = 0; t < 2; t++)
                if (make(&plans[t], contexts[t], work, count, in, index, out) != TESS_OK)
                    return 1;
            for (int round = 0; round < ROUNDS; round++)
                for (int t = 0; t < 2; t++)
                    times[t][round] = timed(plans[t], work, in, index, out);
            for (int t = 0; t < 2; t++) {
                qsort(times[t], ROUNDS, sizeof *times[t], ascending);
                tess_plan_free(plans[t]);
            }
            printf("  %7.1f %8.1f", times[0][ROUNDS / 2], times[1][ROUNDS / 2]);
            fflush(stdout);
        }
        printf("\n");
    }
    for (int t = 0; t < 2; t++)
        tess_close(contexts[t]);
    free(in);
    free(out);
    free(index);
    return 0;
}
