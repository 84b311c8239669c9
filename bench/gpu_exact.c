/* SPDX-License-Identifier: Apache-2.0
 * gpu_exact.c - exact sums in the table of works, whose time depends on the numbers: uniform ones, ones of two magnitudes far apart, any bits (exponents anywhere,
 * infinities and NaNs); as one array, as rows, as segments; and along a slow axis, there beside the plain sums. */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base.h"

enum { BLOCK = 64 << 20, WHOLE = 1 << 30, SEGMENTED = 128 << 20 };
enum { UNIFORM, APART, ANY_BITS, CONTENTS };

static uint64_t next(uint64_t *state) { /* Knuth's MMIX generator, whose upper bits are the better ones */
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 32;
}

static void fill(void *block, tess_type type, int content) {
    uint64_t state = 1;
    for (int64_t i = 0; i < BLOCK / 8; i++) {
        const uint64_t high = next(&state), bits = high << 32 | next(&state);
        if (content == ANY_BITS)
            ((uint64_t *)block)[i] = bits;
        else if (type == tess_f64)
            ((double *)block)[i] = (double)(int64_t)bits * (content == APART && i % 2 ? 0x1p-263 : 0x1p-63);
        else if (type == tess_f16)
            ((uint64_t *)block)[i] = (bits & 0x83ff83ff83ff83ff) | (bits >> 3 & 0x1000100010001000) | 0x2800280028002800; /* exponents -5 and -1 */
        else if (type == tess_bf16)
            ((uint64_t *)block)[i] = (bits & 0x80ff80ff80ff80ff) | 0x3e003e003e003e00; /* -3 and -2 */
        else
            for (int half = 0; half < 2; half++)
                ((float *)block)[2 * i + half] = (float)(int32_t)(bits >> 32 * half) * (content == APART && i % 2 ? 0x1p-91f : 0x1p-31f);
    }
}

/* length 0: all elements to one sum; spread: segments of 1 to 2 * length - 1, else rows. */
static void run(gpu_bench *b, const char *work, tess_type type, const void *block, int64_t length, bool spread) {
    const int64_t size = (int64_t)tess_type_size(type), elements = (spread ? SEGMENTED : WHOLE) / size;
    int64_t *offsets = spread ? malloc((size_t)(elements + 2) * sizeof *offsets) : NULL, shape[2] = {elements, length};
    int64_t outputs = 1, list = 0;
    uint64_t state = 1;
    const int axis = length && !spread;
    if (spread && !offsets)
        exit(1);
    if (spread) {
        for (offsets[0] = 0; offsets[list] < elements; list++)
            offsets[list + 1] = tess_min64(offsets[list] + 1 + (int64_t)(next(&state) % (uint64_t)(2 * length - 1)), elements);
        outputs = list++;
    } else if (length) {
        outputs = shape[0] = elements / length;
    }
    const int64_t bytes = (length && !spread ? outputs * length : elements) * size + 8 * list, out_bytes = outputs * size;
    void *in = gpu_bench_repeat(b, 0, block, BLOCK, WHOLE), *out = gpu_bench_memory(b, 2, out_bytes);
    const DLTensor from = gpu_bench_view(in, type, 1 + axis, shape), to = gpu_bench_view(out, type, length ? 1 : 0, &outputs),
                   cuts = tess_view(offsets, tess_i64, 1, &list, NULL);
    const tess_reduce_options options = {.struct_size = sizeof options, .axes = &axis, .naxes = 1, .offsets = spread ? &cuts : NULL, .exact = true};
    gpu_bench_reduce(b, work, TESS_SUM, &from, &to, &options, (double)(bytes + out_bytes));
    free(offsets);
}

/* Sets of `length` rows of `width` numbers, summed along the rows, 4 bytes each; of as many bytes. sets 0: as many as a GiB has. */
static void run_columns(gpu_bench *b, const char *work, tess_type type, const void *block, int64_t sets, int64_t length, int64_t width, bool exact) {
    const int64_t size = (int64_t)tess_type_size(type);
    int64_t shape[3] = {sets ? sets : WHOLE / size / length / width, sets ? length * 4 / size : length, width}, kept[2] = {shape[0], width};
    const int64_t outputs = kept[0] * width;
    void *in = gpu_bench_repeat(b, 0, block, BLOCK, WHOLE), *out = gpu_bench_memory(b, 2, outputs * size);
    const DLTensor from = gpu_bench_view(in, type, 3, shape), to = gpu_bench_view(out, type, 2, kept);
    const int axis = 1;
    bool more;
    for (int r = 0;; r++) {
        tess_plan *plan = NULL;
        tess_reduce_options options = {.struct_size = sizeof options, .axes = &axis, .naxes = 1, .exact = exact};
        options.call = gpu_bench_call(b, gpu_bench_row(b, "reduce", r, &more));
        if (!more || (r && !exact))
            break;
        tess_status status = tess_plan_reduce(&plan, gpu_bench_context(b), TESS_SUM, &from, &to, &options);
        gpu_bench_time(b, status, plan, work, in, NULL, out, (double)((outputs * shape[1] + outputs) * size), 0);
    }
}

static void works_of_columns(gpu_bench *b) {
    static const struct {
        const char *name;
        tess_type type;
        int content;
    } kinds[] = {{"f32, uniform", tess_f32, UNIFORM},   {"f64, uniform", tess_f64, UNIFORM},   {"f16, uniform", tess_f16, UNIFORM},
                 {"bf16, uniform", tess_bf16, UNIFORM}, {"f32, any bits", tess_f32, ANY_BITS}, {"f64, any bits", tess_f64, ANY_BITS},
                 {"f32, apart", tess_f32, APART},       {"f64, apart", tess_f64, APART}};
    static const int64_t shapes[][3] = {{1, 16384, 16384}, {1, 4096, 4096}, {1, 2048, 2048}, {1, 1024, 1024}, {64, 2048, 2048}, {1, 2 << 20, 128},
                                        {1, 32 << 20, 3},  {0, 1000, 256},  {0, 300, 33},    {0, 100, 3},     {0, 16, 4096}};
    void *block = malloc(BLOCK);
    char work[96];
    if (!block)
        exit(1);
    for (int i = 0; i < (int)(sizeof kinds / sizeof *kinds); i++) {
        bool filled = false;
        for (int s = 0; s < (int)(sizeof shapes / sizeof *shapes); s++)
            for (int exact = 0; exact < 2; exact++) {
                snprintf(work, sizeof work, "%s %s, columns: %lld x %lld, %lld", exact ? "exact" : "plain", kinds[i].name, (long long)shapes[s][0],
                         (long long)shapes[s][1], (long long)shapes[s][2]);
                if ((!exact && kinds[i].content != UNIFORM) || !gpu_bench_wants(b, work))
                    continue;
                if (!filled)
                    fill(block, kinds[i].type, kinds[i].content);
                filled = true;
                run_columns(b, work, kinds[i].type, block, shapes[s][0], shapes[s][1], shapes[s][2], exact);
            }
    }
    free(block);
}

void gpu_works_exact(gpu_bench *b) {
    static const struct {
        const char *name;
        tess_type type;
    } types[] = {{"f32", tess_f32}, {"f64", tess_f64}, {"c64", tess_c64}, {"f16", tess_f16}};
    static const char *const contents[CONTENTS] = {"uniform", "apart", "any bits"};
    static const struct {
        int64_t length;
        bool spread;
    } shapes[] = {{0, false}, {16, false}, {100, false}, {1000, false}, {20000, false}, {16, true}, {200, true}, {20000, true}};
    void *block = NULL;
    char work[96];
    for (int t = 0; t < (int)(sizeof types / sizeof *types); t++)
        for (int c = 0; c < CONTENTS; c++) {
            bool filled = false;
            for (int s = 0; s < (int)(sizeof shapes / sizeof *shapes); s++) {
                const int length = snprintf(work, sizeof work, "exact %s, %s, ", types[t].name, contents[c]);
                if (shapes[s].length)
                    snprintf(work + length, sizeof work - (size_t)length, "%s %lld", shapes[s].spread ? "segments about" : "rows of",
                             (long long)shapes[s].length);
                else
                    snprintf(work + length, sizeof work - (size_t)length, "one sum");
                if (!gpu_bench_wants(b, work))
                    continue;
                if (!block && !(block = malloc(BLOCK)))
                    exit(1);
                if (!filled)
                    fill(block, types[t].type, c);
                filled = true;
                run(b, work, types[t].type, block, shapes[s].length, shapes[s].spread);
            }
        }
    free(block);
    works_of_columns(b);
}
