/* SPDX-License-Identifier: Apache-2.0
 * test_transpose_gpu.c - proves: every GPU row gives the reference's bytes for every element size, odd sizes, gaps, batches, all layouts that it takes,
 * and writes nothing else; rows that refuse say why; every row was compared. On a card when there is one, else on the virtual GPU. */
#include "gpu_counts.h"
#include "ops/transpose/transpose.h"

static tess_context *context;
static tess_engine engine;
static int ran[64], compared_of[TESS_TYPES][64], rests[64];
static const char *only; /* NULL: every row is compared */

/* Every row that takes the problem, against the CPU's reference. */
static void compare(uint64_t *random, tess_type type, int ndim, const int64_t *shape, const int *perm, int layout) {
    static int number;
    if (gpu_test_spared(engine, number++, 3, 4))
        return;
    hostile_array in, expected, out;
    int64_t out_shape[TESS_MAX_NDIM];
    tess_transpose_options options = {.struct_size = sizeof options, .perm = perm, .nperm = ndim};
    for (int k = 0; k < ndim; k++)
        out_shape[k] = shape[perm[k]];
    hostile_make(&in, random, type, ndim, shape, layout);
    hostile_fill(&in, random, 2);
    uint64_t again = *random;
    hostile_make(&expected, random, type, ndim, out_shape, layout);
    options.call.strategy = "transpose/reference";
    assert_tess_ok(tess_transpose(context, &in.tensor, &expected.tensor, &options));
    for (int r = 0; r < tess_transpose_op.gpu_count; r++) {
        uint64_t same = again; /* the same layout as `expected` */
        if (only ? strcmp(only, tess_transpose_op.gpu_rows[r].name) != 0 : gpu_test_rests(engine, compared_of[type][r], 4, &rests[r]))
            continue;
        hostile_make(&out, &same, type, ndim, out_shape, layout);
        options.call.engine = engine;
        options.call.strategy = tess_transpose_op.gpu_rows[r].name;
        tess_status status = tess_transpose(context, &in.tensor, &out.tensor, &options);
        if (status == TESS_OK) {
            ran[r]++;
            compared_of[type][r]++;
            if (memcmp(out.block, expected.block, out.block_size))
                fail_msg("%s differs: %s, %d axes, %lld x %lld ...", tess_transpose_op.gpu_rows[r].name, tess_type_name(type), ndim,
                         (long long)shape[0], (long long)shape[ndim - 1]);
        } else if (status != TESS_ERR_STRATEGY) {
            fail_msg("%s: %s", tess_transpose_op.gpu_rows[r].name, tess_detail());
        }
        hostile_free(&out);
    }
    options.call.strategy = NULL; /* and the one that is chosen */
    uint64_t same = again;
    hostile_make(&out, &same, type, ndim, out_shape, layout);
    assert_tess_ok(tess_transpose(context, &in.tensor, &out.tensor, &options));
    assert_memory_equal(out.block, expected.block, out.block_size);
    hostile_free(&out);
    hostile_free(&expected);
    hostile_free(&in);
}

static const tess_type types[] = {tess_u8, tess_i16, tess_f32, tess_f64, tess_c128};

static void matrices_of_every_size(void **state) {
    (void)state;
    uint64_t random = 1;
    static const int perm[] = {1, 0};
    static const int64_t sizes[][2] = {{1, 1}, {1, 40}, {33, 31}, {32, 64}, {65, 129}, {128, 160}, {7, 272}};
    for (int t = 0; t < TESS_COUNT(types); t++)
        for (int s = 0; s < TESS_COUNT(sizes); s++)
            for (int layout = HOSTILE_COMPACT; layout <= HOSTILE_STRIDED; layout++)
                compare(&random, types[t], 2, sizes[s], perm, layout);
}

static void vectors_and_edges(void **state) {
    (void)state;
    uint64_t random = 2;
    static const int perm[] = {1, 0};
    /* sizes that fill vectors, with tiles cut on either side */
    for (int t = 0; t < TESS_COUNT(types); t++)
        for (int s = 0; s < 4; s++) {
            int64_t v = 16 / (int64_t)tess_type_size(types[t]);
            const int64_t shape[] = {v * (s & 1 ? 5 : 33), v * (s & 2 ? 3 : 17)};
            compare(&random, types[t], 2, shape, perm, HOSTILE_COMPACT);
        }
}

/* Several tiles each way, so that some are not at an end: rows of every remainder modulo a sector, in and out. */
static void shifted_tiles(void **state) {
    (void)state;
    uint64_t random = 7;
    static const int perm[] = {1, 0};
    static const int64_t sizes[][2] = {{555, 563}, {277, 291}, {270, 141}, {141, 143}};
    only = "transpose/shifted";
    for (int t = 0; t < TESS_COUNT(sizes); t++)
        for (int odd = 0; odd < 3; odd++) {
            const int64_t shape[] = {sizes[t][0] + odd, sizes[t][1] + 3 * odd};
            compare(&random, types[t], 2, shape, perm, HOSTILE_COMPACT);
        }
    for (int t = 0; t < 3; t++) /* more rows than a strip has, and fewer columns than a tile */
        compare(&random, types[t], 2, (int64_t[]){35107, 67}, perm, HOSTILE_COMPACT);
    only = NULL;
}

/* Axes that become one, on either side, and rows of out that follow each other: several tiles each way, rows of every remainder modulo a sector. */
static void joined_axes(void **state) {
    (void)state;
    uint64_t random = 8;
    static const struct {
        int64_t shape[4];
        int perm[4], ndim;
    } cases[] = {{{2, 37, 5, 131}, {0, 2, 3, 1}, 4}, {{3, 257, 7, 41}, {0, 2, 3, 1}, 4},  {{35, 9, 7, 67}, {3, 2, 1, 0}, 4},
                 {{5, 67, 31, 19}, {3, 2, 1, 0}, 4}, {{41, 13, 301}, {2, 1, 0}, 3},       {{301, 13, 41}, {2, 1, 0}, 3},
                 {{7, 150, 257}, {0, 2, 1}, 3},      {{2, 3, 1100, 19}, {3, 2, 0, 1}, 4}, {{19, 67, 3, 43}, {2, 1, 3, 0}, 4}};
    only = "transpose/joined";
    for (int t = 0; t < 3; t++)
        for (int c = 0; c < TESS_COUNT(cases); c++)
            for (int layout = HOSTILE_COMPACT; layout <= HOSTILE_STRIDED; layout++)
                compare(&random, types[t], cases[c].ndim, cases[c].shape, cases[c].perm, layout);
    only = NULL;
}

/* Short sides of every kind, several pieces of the long one, rows of every remainder modulo a sector; batches; and runs that stay together. */
static void short_sides(void **state) {
    (void)state;
    uint64_t random = 11;
    static const int turn[] = {1, 0}, to_planes[] = {0, 2, 1}, turn_runs[] = {1, 0, 2}, batch_runs[] = {0, 2, 1, 3};
    static const int64_t sides[] = {2, 3, 4, 6, 7, 12, 16, 32, 50, 100, 128};
    for (int t = 0; t < TESS_COUNT(types); t++) {
        const int64_t size = (int64_t)tess_type_size(types[t]), length = 9500 / size;
        only = "transpose/records";
        for (int s = 0; s < TESS_COUNT(sides); s++) {
            if (hostile_spared(t + s, 6))
                continue;
            for (int odd = 0; odd < 2; odd++) {
                compare(&random, types[t], 2, (int64_t[]){length - odd, sides[s]}, turn, HOSTILE_COMPACT);
                compare(&random, types[t], 2, (int64_t[]){sides[s], length - odd}, turn, HOSTILE_COMPACT);
            }
        }
        compare(&random, types[t], 3, (int64_t[]){3, length / 2 + 1, 3}, to_planes, HOSTILE_COMPACT);
        compare(&random, types[t], 3, (int64_t[]){3, 3, length / 2 + 1}, to_planes, HOSTILE_COMPACT);
        only = "transpose/small_matrices";
        compare(&random, types[t], 3, (int64_t[]){701, 3, 3}, to_planes, HOSTILE_COMPACT);
        compare(&random, types[t], 3, (int64_t[]){150, 8, 8}, to_planes, HOSTILE_COMPACT);
        compare(&random, types[t], 3, (int64_t[]){37, 17, 5}, to_planes, HOSTILE_COMPACT);
        compare(&random, types[t], 3, (int64_t[]){9, 40, 28}, to_planes, HOSTILE_COMPACT);
        only = "transpose/short_runs";
        compare(&random, types[t], 3, (int64_t[]){261, 139, 3}, turn_runs, HOSTILE_COMPACT);
        compare(&random, types[t], 3, (int64_t[]){256, 160, 3}, turn_runs, HOSTILE_COMPACT);
        compare(&random, types[t], 3, (int64_t[]){131, 33, 5}, turn_runs, HOSTILE_COMPACT);
        compare(&random, types[t], 4, (int64_t[]){3, 37, 67, 7}, batch_runs, HOSTILE_COMPACT);
        for (int64_t odd = 0; odd < 4 && t == 0; odd++) { /* pixels of 3 bytes: several tiles each way, and one that is not whole */
            compare(&random, types[t], 3, (int64_t[]){389 + odd, 279 - odd, 3}, turn_runs, HOSTILE_COMPACT);
            compare(&random, types[t], 4, (int64_t[]){2, 97 + odd, 101 + odd, 3}, batch_runs, HOSTILE_COMPACT);
        }
        static const char *const whole[] = {"transpose/long_runs", "transpose/pieces", "transpose/run_pieces"};
        for (int w = 0; w < (t < 2 ? 3 : 2); w++) {
            only = whole[w];
            compare(&random, types[t], 3, (int64_t[]){21, 13, 67}, turn_runs, HOSTILE_COMPACT);
            compare(&random, types[t], 3, (int64_t[]){21, 13, 64}, turn_runs, HOSTILE_COMPACT);
            compare(&random, types[t], 3, (int64_t[]){3, 5, 9001 / size}, turn_runs, HOSTILE_COMPACT);
            compare(&random, types[t], 4, (int64_t[]){3, 5, 19, 33}, batch_runs, HOSTILE_STRIDED);
            for (int64_t run = 40; run < 44; run++)
                compare(&random, types[t], 3, (int64_t[]){11, 7, run}, turn_runs, HOSTILE_COMPACT);
        }
    }
    only = NULL;
}

/* Short on both sides: one axis that both chains end with, two, an axis that stays the last, axes in another order within a short row; boxes cut at either end. */
static void short_on_both_sides(void **state) {
    (void)state;
    uint64_t random = 14;
    static const struct {
        int64_t shape[4];
        int perm[4], ndim;
    } cases[] = {{{2, 9001, 11}, {2, 1, 0}, 3}, {{13, 9, 142, 14}, {0, 3, 2, 1}, 4}, {{301, 29, 6, 3}, {3, 2, 1, 0}, 4},
                 {{5, 3, 4001}, {2, 1, 0}, 3},  {{4001, 3, 5}, {2, 1, 0}, 3},        {{2, 5003, 10}, {1, 0, 2}, 3},
                 {{5003, 2, 7}, {1, 0, 2}, 3},  {{401, 5, 7, 6}, {0, 3, 1, 2}, 4},   {{401, 5, 7, 6}, {0, 3, 2, 1}, 4},
                 {{2101, 11}, {1, 0}, 2},       {{3, 70, 5, 31}, {2, 1, 3, 0}, 4},   {{31, 3, 40, 7}, {3, 1, 0, 2}, 4}};
    only = "transpose/boxes";
    for (int t = 0; t < TESS_COUNT(types); t++)
        for (int c = 0; c < TESS_COUNT(cases); c++)
            for (int layout = HOSTILE_COMPACT; layout <= HOSTILE_STRIDED; layout++)
                compare(&random, types[t], cases[c].ndim, cases[c].shape, cases[c].perm, layout);
    only = NULL;
}

/* Steps of 1 to 4 elements of either sign on both sides, axes in any order: several tiles each way, rows of a few widths, batches. */
static void elements_that_lie_apart(void **state) {
    (void)state;
    uint64_t random = 12;
    static const struct {
        int64_t shape[3];
        int perm[3], ndim;
    } cases[] = {
        {{139, 131}, {1, 0}, 2}, {{139, 131}, {0, 1}, 2}, {{3, 70, 97}, {0, 2, 1}, 3}, {{3, 9, 150}, {0, 1, 2}, 3}, {{2, 5, 2111}, {1, 0, 2}, 3},
        {{9001}, {0}, 1},        {{64, 128}, {1, 0}, 2},  {{5, 33, 40}, {2, 1, 0}, 3}, {{40, 1, 67}, {2, 1, 0}, 3}, {{37, 300, 2}, {1, 0, 2}, 3}};
    only = "transpose/spaced";
    for (int t = 0; t < TESS_COUNT(types); t++)
        for (int c = 0; c < TESS_COUNT(cases); c++)
            for (int again = 0; again < 4; again++)
                compare(&random, types[t], cases[c].ndim, cases[c].shape, cases[c].perm, HOSTILE_ALIGNED);
    only = NULL;
}

/* Every step that words are picked from, of either sign: rows that begin at any byte on either side, of some widths, two axes of them; nothing beside them is read or written. */
static int picked;
static void words_picked(void **state) {
    (void)state;
    uint64_t random = 13;
    int number = 0;
    static const int64_t widths[] = {2, 9, 131, 1027, 4111};
    for (int t = 0; t < 2; t++)
        for (int64_t step = -6; step <= 6; step++)
            for (int w = 0; w < TESS_COUNT(widths); w++) {
                if (hostile_spared(number++, 6))
                    continue;
                const int64_t size = (int64_t)tess_type_size(types[t]), high = w < 3 ? 9 : 2, apart = step < 0 ? -step : step,
                              gap = hostile_between(&random, 0, 3), beyond = hostile_between(&random, 0, 3), lead = hostile_between(&random, 0, 3);
                int64_t shape[] = {high, 2, widths[w]}, line = (widths[w] - 1) * apart + 1 + gap, to = widths[w] + beyond;
                int64_t strides[] = {line, line * high, step}, written[] = {2 * to, to, 1}, room = 2 * high * to + lead;
                /* each in an allocation of its own: the virtual GPU tells what lies outside */
                char *in = malloc((size_t)(2 * high * line * size)), *out[2] = {malloc((size_t)(room * size)), malloc((size_t)(room * size))};
                assert_true(in && out[0] && out[1]);
                for (int64_t i = 0; i < 2 * high * line * size; i++)
                    in[i] = (char)hostile_random(&random);
                for (int k = 0; k < 2; k++) {
                    const tess_transpose_options options = {
                        .struct_size = sizeof options,
                        .perm = (int[]){0, 1, 2},
                        .nperm = 3,
                        .call = {.engine = k ? engine : TESS_ENGINE_CPU, .strategy = k ? "transpose/picked_words" : "transpose/reference"}};
                    memset(out[k], 0x5a, (size_t)(room * size));
                    const DLTensor from = tess_view(in + (step < 0 ? (widths[w] - 1) * apart * size : 0), types[t], 3, shape, strides),
                                   view = tess_view(out[k] + lead * size, types[t], 3, shape, written);
                    const tess_status status = tess_transpose(context, &from, &view, &options);
                    if (k && (step == 0 || apart > (t ? 6 : 4) || status == TESS_ERR_STRATEGY)) {
                        assert_int_equal(status, TESS_ERR_STRATEGY);
                        memcpy(out[1], out[0], (size_t)(room * size));
                        continue;
                    }
                    assert_tess_ok(status);
                    picked += k;
                }
                assert_memory_equal(out[0], out[1], (size_t)(room * size));
                free(in);
                free(out[0]);
                free(out[1]);
            }
    assert_true(picked > (TESS_SANITIZED ? 10 : 60));
}

static void more_axes(void **state) {
    (void)state;
    uint64_t random = 3;
    static const int64_t shape[] = {3, 16, 5, 24};
    static const int perms[][4] = {{3, 2, 1, 0}, {0, 3, 1, 2}, {0, 2, 3, 1}, {1, 0, 3, 2}, {2, 3, 0, 1}, {0, 1, 2, 3}, {2, 1, 0, 3}};
    for (int p = 0; p < TESS_COUNT(perms); p++)
        for (int t = 0; t < TESS_COUNT(types); t++)
            for (int layout = HOSTILE_COMPACT; layout <= HOSTILE_STRIDED; layout++)
                compare(&random, types[t], 4, shape, perms[p], layout);
}

/* In place, every row that takes it: squares and not, tiles whole and cut, words of small elements and none, batches, runs of any size. */
static void in_place(void **state) {
    (void)state;
    uint64_t random = 4;
    static const struct {
        int64_t batch, rows, columns, run;
    } cases[] = {{1, 1, 7, 1},       {1, 5, 5, 1},     {2, 64, 64, 1},    {1, 200, 200, 1}, {3, 133, 133, 1}, {1, 65, 129, 1},
                 {2, 72, 260, 1},    {1, 40, 40, 3},   {2, 70, 30, 3},    {1, 300, 300, 1}, {1, 389, 389, 1}, {1, 0, 0, 1},
                 {1, 1030, 1027, 1}, {1, 100, 100, 4}, {1, 128, 128, 16}, {1, -1, -1, 1},   {2, 496, 640, 1}, {1, 701, 203, 1},
                 {1, 203, 1003, 1},  {3, 301, 600, 1}, {1040, 37, 37, 1}, {1, 6007, 7, 1},  {2, 35, 5003, 1}};
    static const int perm[] = {0, 2, 1, 3};
    tess_transpose_options options = {.struct_size = sizeof options, .perm = perm, .nperm = 4};
    for (int t = 0; t < TESS_COUNT(types); t++)
        for (int c = 0; c < TESS_COUNT(cases); c++) {
            if (hostile_spared(t + c, 6))
                continue;
            const int64_t size = (int64_t)tess_type_size(types[t]), wide = 2080 / size; /* rows of some KiB have larger tiles */
            const int64_t odd = size <= 2 ? 2047 : size == 4 ? 1023 : 127;              /* enough of them for groups */
            const int64_t rows = cases[c].rows > 0   ? cases[c].rows
                                 : cases[c].rows < 0 ? odd
                                                     : wide,
                          columns = cases[c].rows > 0 ? cases[c].columns : rows;
            int64_t shape[] = {cases[c].batch, rows, columns, cases[c].run}, turned[] = {cases[c].batch, columns, rows, cases[c].run};
            size_t bytes = tess_type_size(types[t]) * (size_t)(shape[0] * shape[1] * shape[2] * shape[3]);
            unsigned char *expected = malloc(bytes), *found = malloc(bytes), *given = malloc(bytes);
            assert_true(expected && found && given);
            for (size_t i = 0; i < bytes; i++)
                given[i] = (unsigned char)hostile_random(&random);
            memcpy(expected, given, bytes);
            DLTensor in = tess_view(expected, types[t], 4, shape, NULL), out = tess_view(expected, types[t], 4, turned, NULL);
            options.call = (tess_call){.strategy = NULL};
            assert_tess_ok(tess_transpose(context, &in, &out, &options));
            options.call.engine = engine;
            in.data = out.data = found;
            for (int r = -1; r < tess_transpose_op.gpu_count; r++) {
                options.call.strategy = r < 0 ? NULL : tess_transpose_op.gpu_rows[r].name;
                memcpy(found, given, bytes);
                tess_status status = tess_transpose(context, &in, &out, &options);
                if (status == TESS_OK) {
                    ran[r < 0 ? 63 : r]++;
                    if (memcmp(found, expected, bytes))
                        fail_msg("%s differs: %s, %lld x %lld x %lld x %lld", r < 0 ? "the chosen row" : tess_transpose_op.gpu_rows[r].name,
                                 tess_type_name(types[t]), (long long)shape[0], (long long)shape[1], (long long)shape[2], (long long)shape[3]);
                } else if (r < 0 || status != TESS_ERR_STRATEGY) {
                    fail_msg("%s: %s", r < 0 ? "choosing" : tess_transpose_op.gpu_rows[r].name, tess_detail());
                }
            }
            free(expected);
            free(found);
            free(given);
        }
}

/* The row's formulas against what the virtual GPU counts; how many numbers were compared. apart: steps of in are so many times those of a compact array. */
static int counts_of(const tess_strategy *row, tess_type type, int ndim, int64_t *shape, const int *perm, bool in_place, int64_t apart) {
    static const tess_strategy *held; /* the last row that was held against something */
    static int number;
    int64_t turned[TESS_MAX_NDIM], strides[TESS_MAX_NDIM], size = (int64_t)tess_type_size(type), span = apart;
    int compared = 0;
    if (row == held && gpu_test_spared(engine, number++, 2, 6))
        return 0;
    for (int d = ndim - 1; d >= 0; d--) {
        strides[d] = span;
        span *= shape[d];
        turned[d] = shape[perm[d]];
    }
    char *from = calloc((size_t)size, (size_t)span), *to = in_place ? from : calloc((size_t)size, (size_t)span);
    assert_true(from && to);
    DLTensor in = tess_view(from, type, ndim, shape, strides), out = tess_view(to, type, ndim, turned, NULL);
    tess_transpose_options options = {.struct_size = sizeof options, .perm = perm, .nperm = ndim, .call = {.engine = engine, .strategy = row->name}};
    tess_plan *plan;
    if (tess_plan_transpose(&plan, context, &in, &out, &options) == TESS_OK) {
        char what[80];
        snprintf(what, sizeof what, "%s, %lld x %lld x %lld", tess_type_name(type), (long long)shape[0], (long long)shape[1],
                 (long long)(ndim > 2 ? shape[2] : 1));
        compared = gpu_counts_check(plan, from, NULL, to, what);
        held = compared > 9 ? row : held;
        tess_plan_free(plan);
    }
    free(from);
    if (!in_place)
        free(to);
    return compared;
}

static void counts_as_predicted(void **state) {
    (void)state;
    int64_t sizes[][2] = {{64, 96}, {70, 75}, {272, 160}, {33, 256}, {1024, 3}};
    static const int turn[] = {1, 0}, same[] = {0, 1}, inner[] = {0, 2, 1, 3};
    /* shifted: tiles away from the ends, matrices that begin anywhere; joined axes; elements of any layout */
    static struct {
        const char *name;
        int64_t shape[4];
        int perm[4], ndim, types;
    } cases[] = {{"shifted", {555, 563}, {1, 0}, 2, 3},
                 {"shifted", {3, 301, 259}, {0, 2, 1}, 3, 4},
                 {"joined", {2, 37, 5, 131}, {0, 2, 3, 1}, 4, 3},
                 {"joined", {35, 9, 7, 67}, {3, 2, 1, 0}, 4, 3},
                 {"joined", {41, 13, 301}, {2, 1, 0}, 3, 3},
                 {"joined", {301, 13, 41}, {2, 1, 0}, 3, 3},
                 {"joined", {7, 150, 257}, {0, 2, 1}, 3, 3},
                 {"joined", {2, 3, 1100, 19}, {3, 2, 0, 1}, 4, 3},
                 {"joined", {19, 67, 3, 43}, {2, 1, 3, 0}, 4, 3},
                 {"elements", {70, 9, 5, 3}, {1, 0, 2, 3}, 4, 5},
                 {"records", {9500, 3}, {1, 0}, 2, 5},
                 {"records", {3, 9501}, {1, 0}, 2, 5},
                 {"records", {6, 3001}, {1, 0}, 2, 5},
                 {"records", {4111, 16}, {1, 0}, 2, 5},
                 {"records", {3, 3, 2001}, {0, 2, 1}, 3, 5},
                 {"records", {3, 2001, 2}, {0, 2, 1}, 3, 5},
                 {"short_runs", {131, 261, 3}, {1, 0, 2}, 3, 5},
                 {"short_runs", {3, 37, 67, 7}, {0, 2, 1, 3}, 4, 5},
                 {"short_runs", {389, 281, 3}, {1, 0, 2}, 3, 1},
                 {"short_runs", {384, 256, 3}, {1, 0, 2}, 3, 1},
                 {"short_runs", {3, 99, 101, 3}, {0, 2, 1, 3}, 4, 1},
                 {"small_matrices", {701, 3, 5}, {0, 2, 1}, 3, 5},
                 {"small_matrices", {9, 40, 28}, {0, 2, 1}, 3, 5},
                 {"long_runs", {21, 13, 67}, {1, 0, 2}, 3, 5},
                 {"long_runs", {3, 5, 19, 33}, {0, 2, 1, 3}, 4, 5},
                 {"long_runs", {3, 5, 9001}, {1, 0, 2}, 3, 5},
                 {"run_pieces", {21, 13, 67}, {1, 0, 2}, 3, 2},
                 {"run_pieces", {3, 5, 19, 33}, {0, 2, 1, 3}, 4, 2},
                 {"run_pieces", {101, 5, 9}, {1, 0, 2}, 3, 2},
                 {"run_pieces", {7, 5, 900}, {1, 0, 2}, 3, 2},
                 {"run_pieces", {3, 2, 901}, {1, 0, 2}, 3, 2},
                 {"pieces", {21, 13, 64}, {1, 0, 2}, 3, 4},
                 {"picked_words", {3, 5, 4111}, {0, 1, 2}, 3, 2},
                 {"picked_words", {41, 5, 131}, {1, 0, 2}, 3, 2},
                 {"boxes", {2, 901, 11}, {2, 1, 0}, 3, 5},
                 {"boxes", {9, 61, 14}, {2, 1, 0}, 3, 5},
                 {"boxes", {201, 29, 6, 3}, {3, 2, 1, 0}, 4, 5},
                 {"boxes", {5, 3, 701}, {2, 1, 0}, 3, 5},
                 {"boxes", {2, 703, 10}, {1, 0, 2}, 3, 5},
                 {"elements", {5, 41, 77}, {1, 2, 0}, 3, 5}};
    static const struct {
        int64_t batch, rows, columns, run;
    } placed[] = {{1, 64, 64, 1}, {3, 133, 133, 1}, {2, 200, 200, 1}, {1, 701, 701, 1}, {1, 65, 129, 1}, {2, 72, 260, 1},
                  {2, 37, 29, 3}, {3, 40, 40, 3},   {1, 301, 600, 1}, {1, 1501, 7, 1},  {2, 11, 1201, 1}};
    int compared[64] = {0};
    if (engine != TESS_ENGINE_VIRTUAL)
        return;
    gpu_counts_begin(context);
    for (int r = 0; r < tess_transpose_op.gpu_count; r++) {
        const tess_strategy *row = &tess_transpose_op.gpu_rows[r];
        const bool copy = strcmp(row->name, "transpose/copy") == 0;
        for (int t = 0; t < TESS_COUNT(types); t++) {
            for (int s = 0; s < TESS_COUNT(sizes); s++)
                compared[r] += counts_of(row, types[t], 2, sizes[s], copy ? same : turn, false, 1) > 9; /* sectors of both sides among them */
            for (int c = 0; c < TESS_COUNT(cases); c++)
                if (t < cases[c].types && (strcmp(row->name, "transpose/spaced") == 0 || strcmp(row->name, "transpose/picked_words") == 0))
                    for (int64_t apart = 1; apart < 4; apart++)
                        compared[r] += counts_of(row, types[t], cases[c].ndim, cases[c].shape, cases[c].perm, false, apart) > 9;
                else if (t < cases[c].types && strcmp(row->name + strlen("transpose/"), cases[c].name) == 0)
                    compared[r] += counts_of(row, types[t], cases[c].ndim, cases[c].shape, cases[c].perm, false, 1) > 9;
            for (int c = 0; c < TESS_COUNT(placed) && strstr(row->name, "exchange"); c++) {
                int64_t shape[] = {placed[c].batch, placed[c].rows, placed[c].columns, placed[c].run};
                compared[r] += counts_of(row, types[t], 4, shape, inner, true, 1) > 9;
            }
        }
    }
    gpu_counts_end(context);
    for (int r = 0; r < tess_transpose_op.gpu_count; r++)
        if (compared[r] == 0)
            fail_msg("%s: no prediction was compared", tess_transpose_op.gpu_rows[r].name);
}

/* A context whose CUDA engine is the card, or the virtual GPU in its place: arrays on a device are planned there. */
typedef struct device_side {
    tess_context *context;
    tess_gpu *gpu;
    tess_gpu_scope scope;
} device_side;

static void enter_device(device_side *d) {
    const tess_driver *table;
    assert_tess_ok(tess_open(&d->context, NULL));
    assert_tess_ok(tess_gpu_get(&d->gpu, d->context));
    if (engine == TESS_ENGINE_VIRTUAL)
        assert_tess_ok(tess_vgpu_driver(d->context, &table));
    assert_tess_ok(engine == TESS_ENGINE_VIRTUAL ? tess_gpu_open_table(d->gpu, table, "the virtual GPU") : tess_gpu_open(d->gpu));
    assert_tess_ok(tess_gpu_enter(d->gpu, d->gpu->devices, NULL, &d->scope));
}
static void leave_device(device_side *d) {
    tess_gpu_leave(&d->scope);
    tess_close(d->context);
}

/* In place, where nothing moves: nothing is launched, so any address will do, also one at which no row that copies could begin. */
static void nothing_moves_anywhere(void **state) {
    (void)state;
    static const int inner[] = {0, 2, 1};
    static const struct {
        tess_type type;
        int64_t shape[3], to[3];
    } cases[] = {{tess_u8, {9, 1, 1003}, {9, 1003, 1}}, {tess_f32, {3, 77, 1}, {3, 1, 77}}};
    device_side d;
    enter_device(&d);
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        int64_t shape[3], to[3];
        const int64_t size = (int64_t)tess_type_size(cases[i].type), bytes = cases[i].shape[0] * cases[i].shape[1] * cases[i].shape[2] * size;
        const tess_transpose_options options = {.struct_size = sizeof options, .perm = inner, .nperm = 3};
        CUdeviceptr memory;
        memcpy(shape, cases[i].shape, sizeof shape);
        memcpy(to, cases[i].to, sizeof to);
        assert_int_equal(d.gpu->driver.cuMemAlloc(&memory, (size_t)(16 + bytes)), CUDA_SUCCESS);
        DLTensor in = tess_view((void *)(uintptr_t)(memory + (CUdeviceptr)size), cases[i].type, 3, shape, NULL), out = in;
        out.shape = to;
        in.device.device_type = out.device.device_type = kDLCUDA;
        assert_tess_ok(tess_transpose(d.context, &in, &out, &options));
        d.gpu->driver.cuMemFree(memory);
    }
    leave_device(&d);
}

/* Of 60 GB with more tiles than a grid has blocks a row is taken that needs fewer; the one that was asked for by name says so when the plan is made. */
static void more_tiles_than_a_grid_has(void **state) {
    (void)state;
    static const int reversed[] = {2, 1, 0};
    int64_t shape[] = {2, INT64_C(1) << 31, 15}, turned[] = {15, INT64_C(1) << 31, 2};
    int64_t apart[] = {INT64_C(1) << 35, 16, 1}, placed[] = {INT64_C(3) << 31, 3, 1}; /* nothing follows a row: no box holds several */
    DLTensor in = tess_view(NULL, tess_u8, 3, shape, apart), out = tess_view(NULL, tess_u8, 3, turned, placed);
    tess_transpose_options options = {.struct_size = sizeof options, .perm = reversed, .nperm = 3};
    tess_plan *plan;
    device_side d;
    enter_device(&d);
    in.device.device_type = out.device.device_type = kDLCUDA;
    assert_tess_ok(tess_plan_transpose(&plan, d.context, &in, &out, &options));
    assert_string_equal(plan->row->name, "transpose/elements");
    const tess_gpu_plan *made = plan->prepared;
    for (int s = 0; s < made->layout.steps; s++)
        assert_true(made->layout.step[s].grid.grid[0] <= made->device->grid[0]);
    tess_plan_free(plan);
    options.call.strategy = "transpose/tile_unroll";
    assert_int_equal(tess_plan_transpose(&plan, d.context, &in, &out, &options), TESS_ERR_STRATEGY);
    assert_non_null(strstr(tess_detail(), "2147483648 blocks along x"));
    leave_device(&d);
}

static void every_row_was_compared(void **state) {
    (void)state;
    for (int r = 0; r < tess_transpose_op.gpu_count; r++)
        if (ran[r] < (TESS_SANITIZED ? 2 : 4))
            fail_msg("%s was compared %d times only", tess_transpose_op.gpu_rows[r].name, ran[r]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(matrices_of_every_size),
                                       cmocka_unit_test(vectors_and_edges),
                                       cmocka_unit_test(shifted_tiles),
                                       cmocka_unit_test(joined_axes),
                                       cmocka_unit_test(short_sides),
                                       cmocka_unit_test(short_on_both_sides),
                                       cmocka_unit_test(elements_that_lie_apart),
                                       cmocka_unit_test(words_picked),
                                       cmocka_unit_test(more_axes),
                                       cmocka_unit_test(in_place),
                                       cmocka_unit_test(nothing_moves_anywhere),
                                       cmocka_unit_test(more_tiles_than_a_grid_has),
                                       cmocka_unit_test(counts_as_predicted),
                                       cmocka_unit_test(every_row_was_compared)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}
