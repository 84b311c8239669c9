/* SPDX-License-Identifier: Apache-2.0
 * gpu_positions.c - interpolation among positions for the table of works: 256 to 1 Mi positions, random, or steep (most of them near the first), by places in no order
 * and in order. The limit is what moves: each place and each result once. */
#include "gpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64 << 20 };

static uint64_t next(uint64_t *state) { return *state = *state * 6364136223846793005u + 1442695040888963407u; } /* Knuth's MMIX generator */
static double share(uint64_t *state) { return (double)(next(state) >> 11) * 0x1p-53; }

/* From 0 to 1. */
static double *make_positions(int64_t n, bool steep) {
    double *at = malloc((size_t)n * sizeof *at), here = 0;
    uint64_t state = 5;
    if (!at)
        exit(1);
    for (int64_t i = 0; i < n; i++) {
        at[i] = here;
        here += 0.01 + share(&state);
    }
    for (int64_t i = 0; i < n; i++) {
        const double x = at[i] / at[n - 1];
        at[i] = i == n - 1 ? 1 : steep ? pow(x, 6) : x;
    }
    return at;
}

/* 64 MiB of places from 0 to 1. */
static void *make_places(bool wide, bool ordered) {
    const int64_t size = wide ? 8 : 4, count = BLOCK / size;
    char *block = malloc(BLOCK);
    uint64_t state = 7;
    if (!block)
        exit(1);
    for (int64_t i = 0; i < count; i++) {
        const double x = ordered ? (double)i / (double)count : share(&state);
        const float f = (float)x;
        memcpy(block + i * size, wide ? (const void *)&x : (const void *)&f, (size_t)size);
    }
    return block;
}

static void work(gpu_bench *b, bool wide, int64_t n, int64_t count, bool ordered, bool steep, bool clipped) {
    const tess_type type = wide ? tess_f64 : tess_f32;
    const int64_t size = wide ? 8 : 4;
    char name[96], entries[32];
    bool more;
    snprintf(entries, sizeof entries, n >= 1 << 20 ? "%lld Mi" : "%lld", (long long)(n >= 1 << 20 ? n >> 20 : n));
    snprintf(name, sizeof name, "positions f%d[%s]%s %s%s %lld Mi", wide ? 64 : 32, entries, steep ? " steep" : "", ordered ? "ordered" : "random",
             clipped ? ", clipped," : "", (long long)(count >> 20));
    if (!gpu_bench_wants(b, name))
        return;
    double *at = make_positions(n, steep);
    void *block = make_places(wide, ordered), *table = gpu_bench_memory(b, 0, n * size), *index = gpu_bench_repeat(b, 1, block, BLOCK, count * size),
         *out = gpu_bench_memory(b, 2, count * size);
    free(block);
    const DLTensor t = gpu_bench_view(table, type, 1, &n), x = gpu_bench_view(index, type, 1, &count), o = gpu_bench_view(out, type, 1, &count),
                   positions = tess_view(at, tess_f64, 1, &n, NULL);
    for (int r = 0;; r++) {
        tess_plan *plan = NULL;
        tess_lookup_options options = {
            .struct_size = sizeof options, .outside = clipped ? TESS_OUTSIDE_CLIP : TESS_OUTSIDE_ERROR, .positions = &positions};
        options.call = gpu_bench_call(b, gpu_bench_row(b, "lookup", r, &more));
        if (!more)
            break;
        const tess_status status = tess_plan_lookup(&plan, gpu_bench_context(b), &t, &x, &o, &options);
        gpu_bench_time(b, status, plan, name, table, index, out, (double)(2 * count * size), 0);
    }
    free(at);
}

void gpu_works_positions(gpu_bench *b) {
    enum { M = 1 << 20 };
    static const int64_t entries[] = {256, 4096, 65536, M};
    for (int wide = 0; wide < 2; wide++) {
        for (int e = 0; e < 4; e++)
            for (int ordered = 0; ordered < 2; ordered++)
                work(b, wide, entries[e], 256 * M, ordered, false, false);
        work(b, wide, 4096, 256 * M, false, false, true);
        work(b, wide, 4096, 256 * M, false, true, false);
        work(b, wide, 65536, 256 * M, false, true, false);
        work(b, wide, 4096, 16 * M, false, false, false);
        work(b, wide, 65536, 16 * M, false, false, false);
    }
}
