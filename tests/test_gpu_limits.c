/* SPDX-License-Identifier: Apache-2.0
 * test_gpu_limits.c - proves: every GPU row, for the problems below, compiles by NVRTC for compute capability 8.0, 9.0 and 10.0 with the registers, stack, spills and shared memory of tests/gpu_limits.txt. A text that the
 * table knows by its key, the hash of all that is compiled, is not compiled again but for one in SHARE: all of them are nine minutes of a processor. After a change that is meant: build/tests/test_gpu_limits --write. --all compiles
 * every text, for when the compiler or what is read of it changes. Skipped without the compiler that made the table: another one counts differently. */
#include <sys/stat.h>
#include <unistd.h>

#include "gpu_costs.h"

enum { SHARE = 32 };
static tess_context *context;
static char seen[160][40];                /* rows */
static int seen_count, unit_count;        /* unit_count: of units */
static char units[520][TESS_SHA256_SIZE]; /* that were compiled already, for another problem or row */

static const int archs[] = {80, 90, 100};

static bool was_seen(const char *row) {
    for (int i = 0; i < seen_count; i++)
        if (strcmp(seen[i], row) == 0)
            return true;
    return false;
}

static void look_at(const tess_strategy *row, const tess_problem *base, const char *problem) {
    tess_gpu *machine;
    tess_gpu_layout *layout = calloc(1, sizeof *layout);
    assert_non_null(layout);
    assert_tess_ok(tess_gpu_get_engine(&machine, context, TESS_ENGINE_VIRTUAL));
    row->gpu->lay_out(base, machine->devices, layout);
    assert_false(layout->full);
    if (!was_seen(row->name))
        snprintf(seen[seen_count++], sizeof *seen, "%s", row->name);
    for (int u = 0; u < layout->units; u++) {
        const tess_gpu_source source = {.name = layout->unit[u].text->name,
                                        .text = layout->unit[u].text->text,
                                        .headers = tess_gpu_unit_headers(layout, u, row->gpu->headers),
                                        .options = layout->unit[u].option,
                                        .option_count = layout->unit[u].options};
        tess_gpu_key key = tess_gpu_shipped_key(&source);
        bool known = false;
        for (int i = 0; i < unit_count; i++)
            known |= memcmp(units[i], key.bytes, sizeof key.bytes) == 0;
        if (known)
            continue;
        assert_true(unit_count < TESS_COUNT(units));
        memcpy(units[unit_count++], key.bytes, sizeof key.bytes);
        char head[256], hex[TESS_SHA256_TEXT];
        tess_sha256_text(key.bytes, hex);
        snprintf(head, sizeof head, "text %s %s | %s\n", hex, row->name, problem);
        fputs(head, table);
        if (key.bytes[0] % SHARE != 0 && take_from_record(head))
            continue;
        for (int a = 0; a < TESS_COUNT(archs); a++)
            compile(&source, archs[a], row->name, problem);
    }
    free(layout);
}

/* The row that the planner would take, if that is wanted, and those that no earlier problem had. Frees the plan. */
static void problem_of(tess_status status, tess_plan **plan, const char *words, bool wanted) {
    const char *why;
    bool chosen = false;
    assert_tess_ok(status);
    const tess_problem *base = (*plan)->problem;
    for (int r = 0; r < base->op->gpu_count; r++) {
        const tess_strategy *row = &base->op->gpu_rows[r];
        if (!row->applicable(base, &why))
            continue;
        bool first = !chosen && row->gpu->production && (!row->sensible || row->sensible(base, &why));
        chosen |= first;
        if ((first && wanted) || !was_seen(row->name))
            look_at(row, base, words);
    }
    tess_plan_free(*plan);
}

static void problem(tess_status status, tess_plan **plan, const char *words) { problem_of(status, plan, words, true); }

static DLTensor view(tess_type type, int ndim, int64_t *shape) { return tess_view(NULL, type, ndim, shape, NULL); }

static void transposes(void) {
    static const struct {
        tess_type type;
        int64_t rows, columns;
        const char *words;
    } all[] = {{tess_u8, 4096, 4096, "u8 4096 x 4096"},   {tess_f16, 4096, 4096, "f16 4096 x 4096"},   {tess_f32, 4096, 4096, "f32 4096 x 4096"},
               {tess_f64, 4096, 4096, "f64 4096 x 4096"}, {tess_c128, 4096, 4096, "c128 4096 x 4096"}, {tess_u8, 4093, 4099, "u8 4093 x 4099"},
               {tess_f16, 4093, 4099, "f16 4093 x 4099"}, {tess_f32, 4093, 4099, "f32 4093 x 4099"},   {tess_f64, 4093, 4099, "f64 4093 x 4099"},
               {tess_f32, 1, 4096, "f32 1 x 4096"}};
    static char memory[64];
    tess_plan *plan;
    for (int i = 0; i < TESS_COUNT(all); i++) {
        DLTensor in = view(all[i].type, 2, (int64_t[]){all[i].rows, all[i].columns}),
                 out = view(all[i].type, 2, (int64_t[]){all[i].columns, all[i].rows});
        problem(tess_plan_transpose(&plan, context, &in, &out, NULL), &plan, all[i].words);
        char words[64];
        snprintf(words, sizeof words, "%s in place", all[i].words);
        in.data = out.data = memory;
        if (all[i].rows > 1)
            problem(tess_plan_transpose(&plan, context, &in, &out, NULL), &plan, words);
    }
    static const struct {
        tess_type type;
        int64_t shape[3];
        int perm[3];
        const char *words;
    } narrow[] = {{tess_u8, {1, 1 << 20, 3}, {0, 2, 1}, "u8 1 Mi x 3"},        {tess_u8, {1, 3, 1 << 20}, {0, 2, 1}, "u8 3 x 1 Mi"},
                  {tess_f32, {1, 1 << 20, 3}, {0, 2, 1}, "f32 1 Mi x 3"},      {tess_f32, {1, 3, 1 << 20}, {0, 2, 1}, "f32 3 x 1 Mi"},
                  {tess_u8, {1, 100, 1 << 20}, {0, 2, 1}, "u8 100 x 1 Mi"},    {tess_f64, {1, 33, 1 << 20}, {0, 2, 1}, "f64 33 x 1 Mi"},
                  {tess_f32, {4096, 8, 8}, {0, 2, 1}, "f32 4096 of 8 x 8"},    {tess_u8, {4096, 28, 28}, {0, 2, 1}, "u8 4096 of 28 x 28"},
                  {tess_u8, {1024, 1024, 3}, {1, 0, 2}, "runs of 3 u8"},       {tess_f32, {1024, 1024, 3}, {1, 0, 2}, "runs of 3 f32"},
                  {tess_f32, {1024, 1024, 101}, {1, 0, 2}, "runs of 101 f32"}, {tess_u8, {1024, 1024, 101}, {1, 0, 2}, "runs of 101 u8"},
                  {tess_f16, {1024, 1024, 64}, {1, 0, 2}, "runs of 64 f16"},   {tess_f16, {2, 1 << 20, 11}, {2, 1, 0}, "f16 2 x 1 Mi x 11"},
                  {tess_u8, {15, 3, 1 << 20}, {2, 1, 0}, "u8 15 x 3 x 1 Mi"},  {tess_f32, {9, 1 << 20, 14}, {2, 1, 0}, "f32 9 x 1 Mi x 14"}};
    for (int i = 0; i < TESS_COUNT(narrow); i++) {
        int64_t shape[3], turned[3];
        const tess_transpose_options options = {.struct_size = sizeof options, .perm = narrow[i].perm, .nperm = 3};
        for (int d = 0; d < 3; d++) {
            shape[d] = narrow[i].shape[d];
            turned[d] = narrow[i].shape[narrow[i].perm[d]];
        }
        DLTensor in = view(narrow[i].type, 3, shape), out = view(narrow[i].type, 3, turned);
        problem(tess_plan_transpose(&plan, context, &in, &out, &options), &plan, narrow[i].words);
    }
    static const tess_type apart[] = {tess_u8, tess_f16, tess_f32, tess_f64};
    for (int i = 0; i < 2 * TESS_COUNT(apart); i++) {
        const tess_transpose_options options = {.struct_size = sizeof options, .perm = (int[]){i % 2, 1 - i % 2}, .nperm = 2};
        int64_t shape[] = {4096, 4096}, strides[] = {8192 + i % 2, 2};
        DLTensor in = tess_view(NULL, apart[i / 2], 2, shape, strides), out = view(apart[i / 2], 2, shape);
        char words[64];
        snprintf(words, sizeof words, "%s, every second column%s", tess_type_name(apart[i / 2]), i % 2 ? " turned" : "");
        problem(tess_plan_transpose(&plan, context, &in, &out, &options), &plan, words);
    }
}

#include "gpu_limit_reductions.h"

static void correlations(void) {
    static const struct {
        tess_type type, mask;
        int64_t width[3];
        tess_accuracy accuracy;
        bool list;
        const char *words;
    } all[] = {{tess_f32, tess_f32, {0, 3, 3}, 0, false, "f32 3 x 3"},
               {tess_u8, tess_f32, {0, 3, 3}, 0, false, "u8 3 x 3"},
               {tess_u8, tess_i8, {0, 3, 3}, 0, false, "u8 by i8 3 x 3"},
               {tess_f16, tess_f32, {0, 3, 3}, 0, false, "f16 3 x 3"},
               {tess_f64, tess_f64, {0, 3, 3}, 0, false, "f64 3 x 3"},
               {tess_f32, tess_f32, {0, 5, 5}, 0, false, "f32 5 x 5"},
               {tess_f32, tess_f32, {0, 7, 7}, 0, false, "f32 7 x 7"},
               {tess_u8, tess_f32, {0, 7, 7}, 0, false, "u8 7 x 7"},
               {tess_f32, tess_f32, {0, 15, 15}, 0, false, "f32 15 x 15"},
               {tess_f32, tess_f32, {0, 31, 31}, 0, false, "f32 31 x 31"},
               {tess_f32, tess_f32, {3, 3, 3}, 0, false, "f32 3 x 3 x 3"},
               {tess_f32, tess_f32, {5, 5, 5}, 0, false, "f32 5 x 5 x 5"},
               {tess_f32, tess_f32, {0, 0, 33}, 0, false, "f32 33 taps"},
               {tess_f32, tess_f32, {0, 0, 1023}, 0, false, "f32 1023 taps"},
               {tess_u8, tess_f32, {0, 0, 9}, 0, false, "u8 9 taps"},
               {tess_f32, tess_f32, {0, 3, 3}, 0, true, "f32 3 + 3"},
               {tess_f32, tess_f32, {0, 7, 7}, 0, true, "f32 7 + 7"},
               {tess_u8, tess_f32, {0, 7, 7}, 0, true, "u8 7 + 7"},
               {tess_f16, tess_f32, {0, 7, 7}, 0, true, "f16 7 + 7"},
               {tess_f32, tess_f32, {0, 15, 15}, 0, true, "f32 15 + 15"},
               {tess_f32, tess_f32, {0, 31, 31}, 0, true, "f32 31 + 31"},
               {tess_f32, tess_f32, {7, 7, 7}, 0, true, "f32 7 + 7 + 7"},
               {tess_u8, tess_f32, {7, 7, 7}, 0, true, "u8 7 + 7 + 7"},
               {tess_f16, tess_f32, {7, 7, 7}, 0, true, "f16 7 + 7 + 7"},
               {tess_u8, tess_f32, {3, 3, 3}, 0, true, "u8 3 + 3 + 3"},
               {tess_f32, tess_f32, {0, 63, 63}, TESS_ACCURACY_FFT, false, "f32 63 x 63 by transforms"},
               {tess_f32, tess_f32, {0, 255, 255}, TESS_ACCURACY_FFT, false, "f32 255 x 255 by transforms"},
               {tess_f32, tess_f32, {0, 511, 511}, TESS_ACCURACY_FFT, false, "f32 511 x 511 by transforms"},
               {tess_f32, tess_f32, {0, 0, 1023}, TESS_ACCURACY_FFT, false, "f32 1023 taps by transforms"},
               {tess_f32, tess_f32, {9, 9, 9}, TESS_ACCURACY_FFT, false, "f32 9 x 9 x 9 by transforms"},
               {tess_f64, tess_f64, {0, 63, 63}, TESS_ACCURACY_FFT, false, "f64 63 x 63 by transforms"}};
    float *weights = calloc(511 * 511, sizeof(double));
    tess_plan *plan;
    assert_non_null(weights);
    for (int i = 0; i < TESS_COUNT(all); i++)
        for (int odd = 0; odd < 2; odd++) { /* rows that begin anywhere */
            int skip = all[i].width[0] ? 0 : all[i].width[1] ? 1 : 2, ndim = 3 - skip;
            int64_t shape[3] = {256, ndim == 3 ? 256 : 4096, ndim == 3 ? 256 : ndim == 2 ? 4096 : 1 << 26}, width[3];
            shape[2] -= odd * 3;
            memcpy(width, all[i].width, sizeof width);
            DLTensor in = view(all[i].type, ndim, shape + skip), out = in, mask = tess_view(weights, all[i].mask, ndim, width + skip, NULL),
                     line = tess_view(weights, all[i].mask, 1, width + 2, NULL);
            const tess_correlate_options options = {.struct_size = sizeof options, .accuracy = all[i].accuracy};
            char words[80];
            snprintf(words, sizeof words, "%s%s", all[i].words, odd ? ", odd rows" : "");
            const DLTensor *list[] = {&line, &line, &line}, *one[] = {&mask};
            problem_of(tess_plan_correlate(&plan, context, &in, all[i].list ? list : one, all[i].list ? ndim : 1, &out, &options), &plan, words,
                       !odd || all[i].type == tess_u8 || all[i].type == tess_f16);
        }
    free(weights);
}

#include "gpu_limit_images.h"

/* Elements in other orders than the mask's, at steps, and complex ones. */
static void orders(void) {
    static const struct {
        tess_type type;
        int ndim;
        int64_t width;
        int turned; /* 1: the input lies in Fortran's order, 2: the output */
        int64_t step, side;
        const char *words;
    } all[] = {{tess_f32, 2, 3, 3, 1, 300, "f32 3 x 3, Fortran's order"},
               {tess_f32, 2, 3, 1, 1, 300, "f32 3 x 3, from Fortran's order to C's"},
               {tess_f32, 2, 7, 3, 1, 300, "f32 7 x 7, Fortran's order"},
               {tess_f32, 3, 3, 3, 1, 300, "f32 3 x 3 x 3, Fortran's order"},
               {tess_f32, 2, 3, 0, 2, 300, "f32 3 x 3, every second column"},
               {tess_u8, 2, 3, 0, 3, 300, "u8 3 x 3, one of three colours"},
               {tess_u8, 2, 3, 3, 1, 300, "u8 3 x 3, Fortran's order"},
               {tess_f16, 2, 5, 3, 1, 300, "f16 5 x 5, Fortran's order"},
               {tess_u8, 2, 3, 3, 1, 320, "u8 3 x 3, Fortran's order, whole rows"},
               {tess_f16, 2, 5, 3, 1, 320, "f16 5 x 5, Fortran's order, whole rows"},
               {tess_f32, 2, 7, 3, 1, 302, "f32 7 x 7, Fortran's order, odd rows"},
               {tess_f32, 3, 3, 3, 1, 320, "f32 3 x 3 x 3, Fortran's order, whole rows"},
               {tess_f32, 3, 3, 1, 1, 320, "f32 3 x 3 x 3, from Fortran's order to C's, whole rows"},
               {tess_u8, 2, 3, 1, 1, 1100, "u8 3 x 3, from Fortran's order to C's"},
               {tess_c64, 2, 3, 0, 1, 300, "c64 3 x 3"},
               {tess_c64, 2, 7, 0, 1, 300, "c64 7 x 7"},
               {tess_c64, 1, 9, 0, 1, 300, "c64 9 taps"},
               {tess_c128, 2, 3, 0, 1, 300, "c128 3 x 3"}};
    static float weights[49] = {1};
    tess_plan *plan;
    for (int i = 0; i < TESS_COUNT(all); i++) {
        const int64_t side = all[i].side;
        int64_t shape[3] = {side, side, side}, width[3] = {all[i].width, all[i].width, all[i].width}, strides[2][3];
        DLTensor array[2], mask = tess_view(weights, tess_f32, all[i].ndim, width, NULL);
        for (int a = 0; a < 2; a++) {
            int64_t step = a ? 1 : all[i].step;
            for (int k = all[i].ndim - 1; k >= 0; k--, step *= side)
                strides[a][all[i].turned >> a & 1 ? all[i].ndim - 1 - k : k] = step;
            array[a] = view(all[i].type, all[i].ndim, shape);
            array[a].strides = strides[a];
        }
        const DLTensor *masks[] = {&mask};
        problem(tess_plan_correlate(&plan, context, &array[0], masks, 1, &array[1], NULL), &plan, all[i].words);
    }
}

static void lookups(void) {
    static const struct {
        tess_type table, index;
        int64_t entries, slice;
        tess_interpolation interpolation;
        const char *words;
        bool positions;
    } all[] = {{tess_f32, tess_i32, 4096, 1, 0, "f32 by i32", false},
               {tess_f32, tess_i32, 65536, 1, 0, "f32[65536] by i32", false},
               {tess_f32, tess_u16, 256, 1, 0, "f32[256] by u16", false},
               {tess_u8, tess_u8, 256, 1, 0, "u8 by u8", false},
               {tess_f32, tess_i64, 4096, 64, 0, "slices of 64 f32", false},
               {tess_u8, tess_u8, 256, 3, 0, "slices of 3 u8 by u8", false},
               {tess_f32, tess_u8, 256, 3, 0, "slices of 3 f32 by u8", false},
               {tess_u8, tess_u8, 256, 5, 0, "slices of 5 u8 by u8", false},
               {tess_u8, tess_i32, 4096, 3, 0, "slices of 3 u8 by i32", false},
               {tess_f32, tess_i64, 4096, 3, 0, "slices of 3 f32 by i64", false},
               {tess_f16, tess_u16, 4096, 7, 0, "slices of 7 f16 by u16", false},
               {tess_f32, tess_i64, 4096, 33, 0, "slices of 33 f32", false},
               {tess_u8, tess_i64, 4096, 13, 0, "slices of 13 u8", false},
               {tess_f32, tess_f32, 1024, 1, TESS_INTERPOLATE_NEAREST, "f32 nearest", false},
               {tess_f32, tess_f32, 1024, 1, TESS_INTERPOLATE_LINEAR, "f32 linear", false},
               {tess_f32, tess_f32, 1024, 1, TESS_INTERPOLATE_CUBIC, "f32 cubic", false},
               {tess_f64, tess_f64, 1024, 1, TESS_INTERPOLATE_CUBIC, "f64 cubic", false},
               {tess_f64, tess_f64, 256, 4, TESS_INTERPOLATE_CUBIC, "slices of 4 f64 cubic", false},
               {tess_f32, tess_f32, 1024, 1, TESS_INTERPOLATE_LINEAR, "f32 among positions", true},
               {tess_f64, tess_f64, 1024, 1, TESS_INTERPOLATE_LINEAR, "f64 among positions", true}};
    static double at[1024]; /* all the same */
    tess_plan *plan;
    for (int i = 0; i < TESS_COUNT(all); i++) {
        int64_t shape[] = {1 << 24, all[i].slice}, entries[] = {all[i].entries, all[i].slice};
        int ndim = 1 + (all[i].slice > 1);
        DLTensor in = view(all[i].table, ndim, entries), index = view(all[i].index, 1, shape), out = view(all[i].table, ndim, shape);
        const DLTensor positions = tess_view(at, tess_f64, 1, entries, NULL);
        const tess_lookup_options options = {
            .struct_size = sizeof options, .interpolation = all[i].interpolation, .positions = all[i].positions ? &positions : NULL};
        problem(tess_plan_lookup(&plan, context, &in, &index, &out, &options), &plan, all[i].words);
    }
    int64_t entries[] = {8192, 16384}, shape[] = {8192, 8192};
    DLTensor in = view(tess_f32, 2, entries), index = view(tess_i32, 1, shape), out = view(tess_f32, 2, shape);
    const tess_lookup_options columns = {.struct_size = sizeof columns, .axis = 1};
    problem(tess_plan_lookup(&plan, context, &in, &index, &out, &columns), &plan, "f32 columns by i32");
    int64_t tables[] = {65, 10, 109}, slices[] = {65, 1 << 16, 109};
    in = view(tess_u8, 3, tables), index = view(tess_i32, 1, slices + 1), out = view(tess_u8, 3, slices);
    problem(tess_plan_lookup(&plan, context, &in, &index, &out, &columns), &plan, "slices of 109 u8 of tables");
    static const struct {
        tess_type table, index;
        int64_t lines, n, count;
        tess_interpolation interpolation;
        const char *words;
    } beside[] = {{tess_f16, tess_i32, 81, 1082, 790123, 0, "f16 tables by i32"},
                  {tess_u8, tess_u16, 108, 76, 296296, 0, "u8 tables by u16"},
                  {tess_f32, tess_u8, 57, 256, 561408, 0, "f32 tables by u8"},
                  {tess_f32, tess_i32, 3, 30000, 561403, 0, "f32 tables of 30000 by i32"},
                  {tess_i8, tess_f32, 16, 4398, 2000001, TESS_INTERPOLATE_CUBIC, "i8 tables cubic"},
                  {tess_f16, tess_f64, 7, 70, 4571429, TESS_INTERPOLATE_LINEAR, "f16 tables linear by f64"},
                  {tess_f64, tess_f32, 187, 3, 342245, TESS_INTERPOLATE_CUBIC, "f64 tables cubic"},
                  {tess_f32, tess_f32, 16384, 1920, 1280, TESS_INTERPOLATE_LINEAR, "f32 lines linear"}};
    for (int i = 0; i < TESS_COUNT(beside); i++) {
        int64_t from[] = {beside[i].lines, beside[i].n}, to[] = {beside[i].lines, beside[i].count};
        const tess_lookup_options options = {.struct_size = sizeof options, .axis = 1, .interpolation = beside[i].interpolation};
        in = view(beside[i].table, 2, from), index = view(beside[i].index, 1, to + 1), out = view(beside[i].table, 2, to);
        problem(tess_plan_lookup(&plan, context, &in, &index, &out, &options), &plan, beside[i].words);
    }
    static const struct {
        tess_type table, index;
        int64_t lines, n, width, count;
        tess_interpolation interpolation;
        const char *words;
    } resized[] = {{tess_u8, tess_f32, 16384, 1920, 3, 1280, TESS_INTERPOLATE_LINEAR, "lines of 3 u8 linear"},
                   {tess_f64, tess_f64, 1024, 1000, 16, 500, TESS_INTERPOLATE_CUBIC, "lines of 16 f64 cubic"},
                   {tess_u8, tess_f32, 16, 1080, 5760, 720, TESS_INTERPOLATE_LINEAR, "rows of u8 pictures linear"},
                   {tess_u8, tess_f32, 921, 104, 667, 104, TESS_INTERPOLATE_LINEAR, "slices of 667 u8 linear"},
                   {tess_f32, tess_f32, 1, 613, 25, 2560000, TESS_INTERPOLATE_CUBIC, "slices of 25 f32 cubic"},
                   {tess_f64, tess_f64, 1, 1024, 64, 65536, TESS_INTERPOLATE_CUBIC, "slices of 64 f64 cubic"}};
    for (int i = 0; i < TESS_COUNT(resized); i++) {
        int64_t from[] = {resized[i].lines, resized[i].n, resized[i].width}, to[] = {resized[i].lines, resized[i].count, resized[i].width};
        const tess_lookup_options options = {.struct_size = sizeof options, .axis = 1, .interpolation = resized[i].interpolation};
        in = view(resized[i].table, 3, from), index = view(resized[i].index, 1, to + 1), out = view(resized[i].table, 3, to);
        problem(tess_plan_lookup(&plan, context, &in, &index, &out, &options), &plan, resized[i].words);
    }
}

static void every_row(void **state) {
    (void)state;
    transposes();
    reductions();
    short_rows();
    column_moments();
    axes_apart();
    segments();
    segments_of_rows();
    correlations();
    images();
    orders();
    lookups();
    for (int o = 0; o < tess_ops_count; o++)
        for (int r = 0; r < tess_ops[o]->gpu_count; r++)
            if (!was_seen(tess_ops[o]->gpu_rows[r].name))
                fail_msg("no problem here is one for %s", tess_ops[o]->gpu_rows[r].name);
    print_message("note: %d kernels of %d rows, %d of them compiled\n", kernels + taken, seen_count, kernels);
}

static const char recorded[] = "tests/gpu_limits.txt";

static char *read_record(void) {
    struct stat is;
    FILE *file = fopen(recorded, "r");
    char *text = file && fstat(fileno(file), &is) == 0 ? calloc(1, (size_t)is.st_size + 1) : NULL;
    if (text && fread(text, 1, (size_t)is.st_size, file) != (size_t)is.st_size)
        perror(recorded), free(text), text = NULL;
    if (file)
        fclose(file);
    return text;
}

int main(int count, char **words) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_row)};
    bool writes = false, all = false;
    for (int i = 1; i < count; i++) {
        writes |= strcmp(words[i], "--write") == 0;
        all |= strcmp(words[i], "--all") == 0;
    }
    char command[256], found[64]; /* when it is to be written: beside the table, whose place it takes when it is whole */
    snprintf(found, sizeof found, "%s-XXXXXX", writes ? recorded : "/tmp/tessera-limits");
    if (tess_open(&context, NULL) != TESS_OK || tess_gpu_get(&gpu, context) != TESS_OK || tess_gpu_open_nvrtc(gpu) != TESS_OK ||
        gpu->nvrtc_version != 13000) {
        printf("the table was made by NVRTC 13.0, which is not here: %s\n", tess_detail());
        tess_close(context);
        return 77;
    }
    int file = mkstemp(found);
    table = file >= 0 ? fdopen(file, "w") : NULL;
    record = all ? NULL : read_record();
    int failed = table ? cmocka_run_group_tests(tests, NULL, NULL) : (perror(found), 1);
    if (table && fclose(table) != 0)
        perror(found), failed = 1;
    free(record);
    tess_close(context);
    if (writes) {
        if (!failed && (chmod(found, 0644) != 0 || rename(found, recorded) != 0))
            perror(recorded), failed = 1;
        if (failed)
            unlink(found);
        return failed;
    }
    snprintf(command, sizeof command, "diff %s %s", recorded, found);
    if (!failed && system(command) != 0) {
        printf("the kernels' limits are not those of %s; build/tests/test_gpu_limits --write\n", recorded);
        failed = 1;
    }
    unlink(found);
    return failed;
}
