/* SPDX-License-Identifier: Apache-2.0
 * gpu_lookup.c - the lookups of the table of works: tables of 36 entries to 16 Mi, index types, slices, interpolations, and what the policy ERROR
 * costs. Indices and coordinates are random over the whole table. */
#include "gpu.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64 << 20 };

typedef struct lookup_work {
    const char *work;
    tess_type table, index;
    int64_t entries, slice, lookups;
    tess_outside outside;
    tess_interpolation interpolation;
} lookup_work;

/* 64 MiB of indices below `entries`, or of coordinates up to the last entry. */
static void *random_index(const lookup_work *w) {
    char *block = malloc(BLOCK);
    uint64_t state = 7;
    int size = (int)tess_type_size(w->index);
    if (!block)
        exit(1);
    for (int64_t i = 0; i < BLOCK / size; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX generator */
        uint64_t v = (state >> 32) * (uint64_t)w->entries >> 32;
        double x = (double)(state >> 40) * 0x1p-24 * (double)(w->entries - 1);
        float f = (float)x;
        if (w->index == tess_f32)
            memcpy(block + i * size, &f, sizeof f);
        else if (w->index == tess_f64)
            memcpy(block + i * size, &x, sizeof x);
        else
            memcpy(block + i * size, &v, (size_t)size);
    }
    return block;
}

/* lines: 0 where the table has the looked-up axis first; else tables, one behind the other, that are looked up by the same indices. */
static void time_lookup(gpu_bench *b, const lookup_work *w, int64_t lines) {
    const int axis = lines > 0, ndim = 1 + axis + (w->slice > 1);
    const int64_t beside = (axis ? lines : 1) * w->slice, size = (int64_t)tess_type_size(w->table), table_bytes = w->entries * beside * size,
                  out_bytes = w->lookups * beside * size, index_bytes = w->lookups * (int64_t)tess_type_size(w->index);
    int64_t table_shape[] = {lines, w->slice, w->slice}, out_shape[] = {lines, w->slice, w->slice};
    bool more;
    if (!gpu_bench_wants(b, w->work))
        return;
    table_shape[axis] = w->entries;
    out_shape[axis] = w->lookups;
    void *block = random_index(w), *table = gpu_bench_memory(b, 0, table_bytes), *index = gpu_bench_repeat(b, 1, block, BLOCK, index_bytes),
         *out = gpu_bench_memory(b, 2, out_bytes);
    free(block);
    DLTensor t = gpu_bench_view(table, w->table, ndim, table_shape), x = gpu_bench_view(index, w->index, 1, &out_shape[axis]),
             o = gpu_bench_view(out, w->table, ndim, out_shape);
    for (int r = 0;; r++) {
        tess_plan *plan = NULL;
        tess_lookup_options options = {.struct_size = sizeof options, .axis = axis, .outside = w->outside, .interpolation = w->interpolation};
        options.call = gpu_bench_call(b, gpu_bench_row(b, "lookup", r, &more));
        if (!more)
            break;
        tess_status status = tess_plan_lookup(&plan, gpu_bench_context(b), &t, &x, &o, &options);
        gpu_bench_time(b, status, plan, w->work, table, index, out, (double)(table_bytes + index_bytes + out_bytes), 0);
    }
}

void gpu_works_lookup(gpu_bench *b) {
    enum { M = 1 << 20 };
    static const lookup_work works[] = {
        {"lookup f32[36] by u8 512 Mi", tess_f32, tess_u8, 36, 1, 512 * M, 0, 0},
        {"lookup f32[256] by u8 512 Mi", tess_f32, tess_u8, 256, 1, 512 * M, 0, 0},
        {"lookup f32[36] by i32 512 Mi", tess_f32, tess_i32, 36, 1, 512 * M, 0, 0},
        {"lookup f32[256] by i32 512 Mi", tess_f32, tess_i32, 256, 1, 512 * M, 0, 0},
        {"lookup f32[4096] by i32 512 Mi", tess_f32, tess_i32, 4096, 1, 512 * M, 0, 0},
        {"lookup f32[4096] by i32 512 Mi, clipped", tess_f32, tess_i32, 4096, 1, 512 * M, TESS_OUTSIDE_CLIP, 0},
        {"lookup f32[4096] by i32 512 Mi, wrapped", tess_f32, tess_i32, 4096, 1, 512 * M, TESS_OUTSIDE_WRAP, 0},
        {"lookup f32[4096] by i64 256 Mi", tess_f32, tess_i64, 4096, 1, 256 * M, 0, 0},
        {"lookup f32[16384] by i32 512 Mi", tess_f32, tess_i32, 16384, 1, 512 * M, 0, 0},
        {"lookup f32[65536] by i32 512 Mi", tess_f32, tess_i32, 65536, 1, 512 * M, 0, 0},
        {"lookup f32[16777216] by i32 512 Mi", tess_f32, tess_i32, 16 * M, 1, 512 * M, 0, 0},
        {"lookup f32[256] by u16 512 Mi", tess_f32, tess_u16, 256, 1, 512 * M, 0, 0},
        {"lookup f32[4096] by u16 512 Mi", tess_f32, tess_u16, 4096, 1, 512 * M, 0, 0},
        {"lookup f32[16384] by u16 512 Mi", tess_f32, tess_u16, 16384, 1, 512 * M, 0, 0},
        {"lookup u8[256] by u8 2 Gi", tess_u8, tess_u8, 256, 1, 2048ll * M, 0, 0},
        {"lookup u8[200] by u8 2 Gi, clipped", tess_u8, tess_u8, 200, 1, 2048ll * M, TESS_OUTSIDE_CLIP, 0},
        {"lookup f64[256] by i32 256 Mi", tess_f64, tess_i32, 256, 1, 256 * M, 0, 0},
        {"lookup f16[256] by u16 1 Gi", tess_f16, tess_u16, 256, 1, 1024 * M, 0, 0},
        {"lookup slices u8[256][3] by u8 512 Mi", tess_u8, tess_u8, 256, 3, 512 * M, 0, 0},
        {"lookup slices u8[200][3] by u8 512 Mi", tess_u8, tess_u8, 200, 3, 512 * M, 0, 0},
        {"lookup slices f16[256][3] by u8 512 Mi", tess_f16, tess_u8, 256, 3, 512 * M, 0, 0},
        {"lookup slices f32[256][3] by u8 256 Mi", tess_f32, tess_u8, 256, 3, 256 * M, 0, 0},
        {"lookup slices f32[65536][64] by i32 8 Mi", tess_f32, tess_i32, 65536, 64, 8 * M, 0, 0},
        {"lookup slices f32[1 Mi][33] by i64 8 Mi", tess_f32, tess_i64, M, 33, 8 * M, 0, 0},
        {"lookup slices f32[1 Mi][3] by i32 64 Mi", tess_f32, tess_i32, M, 3, 64 * M, 0, 0},
        {"lookup slices f64[1 Mi][3] by i32 32 Mi", tess_f64, tess_i32, M, 3, 32 * M, 0, 0},
        {"lookup slices f32[65536][50] by i32 8 Mi", tess_f32, tess_i32, 65536, 50, 8 * M, 0, 0},
        {"lookup slices u8[1 Mi][13] by i64 64 Mi", tess_u8, tess_i64, M, 13, 64 * M, 0, 0},
        {"lookup slices u8[65536][101] by i32 16 Mi", tess_u8, tess_i32, 65536, 101, 16 * M, 0, 0},
        {"lookup slices u8[4096][3] by i32 256 Mi", tess_u8, tess_i32, 4096, 3, 256 * M, 0, 0},
        {"lookup slices u8[65536][3] by u16 256 Mi", tess_u8, tess_u16, 65536, 3, 256 * M, 0, 0},
        {"lookup slices f32[4096][3] by i32 128 Mi", tess_f32, tess_i32, 4096, 3, 128 * M, TESS_OUTSIDE_FILL, 0},
        {"lookup slices f16[208][7] by i32 64 Mi", tess_f16, tess_i32, 208, 7, 64 * M, TESS_OUTSIDE_WRAP, 0},
        {"lookup slices f32[1][63] by i32 4 Mi", tess_f32, tess_i32, 1, 63, 4 * M, 0, 0},
        {"lookup slices u8[100][46] by i32 16 Mi", tess_u8, tess_i32, 100, 46, 16 * M, 0, 0},
        {"interpolate f32[1024] nearest 512 Mi", tess_f32, tess_f32, 1024, 1, 512 * M, 0, TESS_INTERPOLATE_NEAREST},
        {"interpolate f32[1024] linear 512 Mi", tess_f32, tess_f32, 1024, 1, 512 * M, 0, TESS_INTERPOLATE_LINEAR},
        {"interpolate f32[1024] cubic 512 Mi", tess_f32, tess_f32, 1024, 1, 512 * M, 0, TESS_INTERPOLATE_CUBIC},
        {"interpolate f64[1024] linear 256 Mi", tess_f64, tess_f64, 1024, 1, 256 * M, 0, TESS_INTERPOLATE_LINEAR},
        {"interpolate f64[1024] cubic 256 Mi", tess_f64, tess_f64, 1024, 1, 256 * M, 0, TESS_INTERPOLATE_CUBIC},
        {"interpolate f32[65536] linear 512 Mi", tess_f32, tess_f32, 65536, 1, 512 * M, 0, TESS_INTERPOLATE_LINEAR},
        {"interpolate f32[16578] cubic 256 Mi", tess_f32, tess_f32, 16578, 1, 256 * M, 0, TESS_INTERPOLATE_CUBIC},
        {"interpolate u16[54417] linear 256 Mi", tess_u16, tess_f32, 54417, 1, 256 * M, 0, TESS_INTERPOLATE_LINEAR},
        {"interpolate slices u8[256][3] linear 128 Mi", tess_u8, tess_f32, 256, 3, 128 * M, 0, TESS_INTERPOLATE_LINEAR},
        {"interpolate slices u8[15][3] cubic 128 Mi", tess_u8, tess_f32, 15, 3, 128 * M, TESS_OUTSIDE_WRAP, TESS_INTERPOLATE_CUBIC},
        {"interpolate slices f32[256][3] linear 128 Mi", tess_f32, tess_f32, 256, 3, 128 * M, 0, TESS_INTERPOLATE_LINEAR},
        {"interpolate slices f16[256][3] nearest 128 Mi", tess_f16, tess_f32, 256, 3, 128 * M, 0, TESS_INTERPOLATE_NEAREST},
        {"interpolate slices u16[47][2] linear 128 Mi", tess_u16, tess_f32, 47, 2, 128 * M, TESS_OUTSIDE_FILL, TESS_INTERPOLATE_LINEAR},
        {"interpolate slices u8[1044][4] linear by f64 64 Mi", tess_u8, tess_f64, 1044, 4, 64 * M, 0, TESS_INTERPOLATE_LINEAR},
        {"interpolate slices u8[4011][5] cubic by f64 32 Mi", tess_u8, tess_f64, 4011, 5, 32 * M, 0, TESS_INTERPOLATE_CUBIC},
        {"interpolate slices f32[934][11] cubic 16 Mi", tess_f32, tess_f32, 934, 11, 16 * M, 0, TESS_INTERPOLATE_CUBIC},
        {"interpolate slices f32[613][25] cubic 8 Mi", tess_f32, tess_f32, 613, 25, 8 * M, 0, TESS_INTERPOLATE_CUBIC},
        {"interpolate slices i8[952][282] cubic 1 Mi", tess_i8, tess_f32, 952, 282, M, 0, TESS_INTERPOLATE_CUBIC},
        {"interpolate slices f16[566][7] cubic 32 Mi", tess_f16, tess_f32, 566, 7, 32 * M, TESS_OUTSIDE_FILL, TESS_INTERPOLATE_CUBIC},
        {"interpolate slices i32[12994][6] nearest 32 Mi", tess_i32, tess_f32, 12994, 6, 32 * M, TESS_OUTSIDE_CLIP, TESS_INTERPOLATE_NEAREST}};
    static const struct {
        lookup_work work;
        int64_t lines;
    } columns[] = {
        {{"lookup columns f32 8192 x 16384 by i32 8192", tess_f32, tess_i32, 16384, 1, 8192, 0, 0}, 8192},
        {{"lookup columns f32 8192 x 16384 by i32 2048", tess_f32, tess_i32, 16384, 1, 2048, 0, 0}, 8192},
        {{"lookup columns f32 8192 x 16384 by i32 1024", tess_f32, tess_i32, 16384, 1, 1024, 0, 0}, 8192},
        {{"lookup columns f32 8191 x 16383 by i64 8191", tess_f32, tess_i64, 16383, 1, 8191, 0, 0}, 8191},
        {{"lookup columns f32 65536 x 2048 by i32 2048", tess_f32, tess_i32, 2048, 1, 2048, 0, 0}, 65536},
        {{"lookup columns f32 262144 x 512 by i32 512", tess_f32, tess_i32, 512, 1, 512, 0, 0}, 262144},
        {{"lookup columns f32 1 Mi x 100 by i32 32", tess_f32, tess_i32, 100, 1, 32, 0, 0}, M},
        {{"lookup columns f32 2048 x 50000 by i32 50000", tess_f32, tess_i32, 50000, 1, 50000, 0, 0}, 2048},
        {{"lookup columns u8 8192 x 65536 by i32 32768", tess_u8, tess_i32, 65536, 1, 32768, 0, 0}, 8192},
        {{"lookup columns f16 16384 x 16384 by i32 16384", tess_f16, tess_i32, 16384, 1, 16384, 0, 0}, 16384},
        {{"lookup columns f64 8192 x 8192 by i64 4096", tess_f64, tess_i64, 8192, 1, 4096, 0, 0}, 8192},
        {{"lookup columns c128 8192 x 4096 by i32 4096", tess_c128, tess_i32, 4096, 1, 4096, 0, 0}, 8192},
        {{"lookup tables i8 123 x 256 x 53 by u8 65536", tess_i8, tess_u8, 256, 53, 65536, TESS_OUTSIDE_FILL, 0}, 123},
        {{"lookup tables u8 65 x 10 x 109 by i32 65536", tess_u8, tess_i32, 10, 109, 65536, 0, 0}, 65},
        {{"lookup tables f16 81 x 1082 by i32 3160123", tess_f16, tess_i32, 1082, 1, 3160123, TESS_OUTSIDE_FILL, 0}, 81},
        {{"lookup tables f16 19 x 6 by i32 13473681", tess_f16, tess_i32, 6, 1, 13473681, TESS_OUTSIDE_FILL, 0}, 19},
        {{"lookup tables u8 108 x 76 by u16 2370367", tess_u8, tess_u16, 76, 1, 2370367, 0, 0}, 108},
        {{"lookup tables u8 252 x 256 by u8 2031747", tess_u8, tess_u8, 256, 1, 2031747, TESS_OUTSIDE_WRAP, 0}, 252},
        {{"lookup tables i32 57 x 256 by u8 2245611", tess_i32, tess_u8, 256, 1, 2245611, 0, 0}, 57},
        {{"lookup tables f32 4 x 1624 by i32 32 Mi", tess_f32, tess_i32, 1624, 1, 32 * M, 0, 0}, 4},
        {{"lookup tables f32 3 x 30000 by i32 44739243", tess_f32, tess_i32, 30000, 1, 44739243, 0, 0}, 3},
        {{"interpolate tables i8 16 x 4398 by f32 8000001 cubic", tess_i8, tess_f32, 4398, 1, 8000001, TESS_OUTSIDE_WRAP, TESS_INTERPOLATE_CUBIC},
         16},
        {{"interpolate tables f16 7 x 70 by f64 18285717 linear", tess_f16, tess_f64, 70, 1, 18285717, 0, TESS_INTERPOLATE_LINEAR}, 7},
        {{"interpolate tables u8 17 x 584 by f32 7529408 nearest", tess_u8, tess_f32, 584, 1, 7529408, 0, TESS_INTERPOLATE_NEAREST}, 17},
        {{"interpolate tables f32 47 x 49 by f32 2723404 cubic", tess_f32, tess_f32, 49, 1, 2723404, 0, TESS_INTERPOLATE_CUBIC}, 47},
        {{"interpolate rows u8 16 x 1080 x 5760 by f32 720 linear", tess_u8, tess_f32, 1080, 5760, 720, 0, TESS_INTERPOLATE_LINEAR}, 16},
        {{"interpolate rows f32 16 x 1080 x 1920 by f32 720 cubic", tess_f32, tess_f32, 1080, 1920, 720, TESS_OUTSIDE_CLIP, TESS_INTERPOLATE_CUBIC},
         16},
        {{"interpolate rows u8 921 x 104 x 667 by f32 104 linear", tess_u8, tess_f32, 104, 667, 104, 0, TESS_INTERPOLATE_LINEAR}, 921},
        {{"interpolate rows u16 793 x 71 x 564 by f32 71 linear", tess_u16, tess_f32, 71, 564, 71, 0, TESS_INTERPOLATE_LINEAR}, 793},
        {{"interpolate rows u8 16384 x 1920 x 3 by f32 1280 linear", tess_u8, tess_f32, 1920, 3, 1280, 0, TESS_INTERPOLATE_LINEAR}, 16384},
        {{"interpolate rows f32 8192 x 1920 x 3 by f32 1280 cubic", tess_f32, tess_f32, 1920, 3, 1280, 0, TESS_INTERPOLATE_CUBIC}, 8192},
        {{"interpolate rows u8 32768 x 1920 by f32 1280 linear", tess_u8, tess_f32, 1920, 1, 1280, 0, TESS_INTERPOLATE_LINEAR}, 32768},
        {{"interpolate rows f32 16384 x 1920 by f32 1280 linear", tess_f32, tess_f32, 1920, 1, 1280, 0, TESS_INTERPOLATE_LINEAR}, 16384}};
    for (int i = 0; i < (int)(sizeof works / sizeof *works); i++)
        time_lookup(b, &works[i], 0);
    for (int i = 0; i < (int)(sizeof columns / sizeof *columns); i++)
        time_lookup(b, &columns[i].work, columns[i].lines);
}
