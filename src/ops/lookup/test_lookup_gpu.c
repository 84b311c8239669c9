/* SPDX-License-Identifier: Apache-2.0
 * test_lookup_gpu.c - proves: every GPU row gives the reference's bytes and the reference's sentence about the first bad index, for every index type,
 * policy, interpolation, odd sizes and hostile layouts, and writes nothing else; every row was compared. On a card when there is one, else on the
 * virtual GPU. Kernels differ by their -D, and each takes a moment to compile, so types and policies are paired and not all combined. */
#include <math.h>
#include <pthread.h>

#include "lookup_gpu_rows.h"

static const tess_type integers[] = {tess_u8, tess_i8, tess_u16, tess_i16, tess_u32, tess_i32, tess_u64, tess_i64};
static const tess_type tables[] = {tess_u8, tess_bf16, tess_f32, tess_c64, tess_c128};

static void gathers(void **state) {
    (void)state;
    uint64_t random = 31;
    for (int round = 0; round < 24; round++) {
        hostile_array table, index, out;
        tess_lookup_options options = {.outside = (tess_outside)((round + round / 4) % 4), .fill = (double)hostile_between(&random, -3, 300)};
        int64_t n = hostile_between(&random, 0, 9) == 0 ? 256 : hostile_between(&random, 1, hostile_between(&random, 0, 1) ? 20 : 600);
        make_case(&random, &table, &index, &out, &options.axis, tables[round % 5], integers[round % 8], tables[round % 5], n, round % 11 ? 300 : 5000,
                  2);
        set_integers(&random, &index, n, hostile_between(&random, 0, 2) == 0);
        compare(&table, &index, &out, options);
        free_case(&table, &index, &out);
    }
}

/* One axis without gaps, or lines of them: whole vectors, the rest behind them, blocks that are cut. */
static void compact(void **state) {
    (void)state;
    uint64_t random = 32;
    static const int64_t counts[] = {1, 15, 16, 33, 1023, 1024, 4100, 16385};
    for (int round = 0; round < 64; round++) {
        hostile_array table, index, out;
        int kernel = round % 8;
        bool lines = kernel >= 6;
        tess_type type = kernel % 4 == 1 ? tess_u8 : tables[kernel % 5], by = integers[kernel % 4 == 1 ? kernel / 4 % 2 : kernel * 3 % 8];
        tess_lookup_options options = {.outside = (tess_outside)(round / 8 % 4), .fill = 7, .axis = lines};
        int64_t n = by == tess_u8 && round >= 32 ? 256 : hostile_between(&random, 1, 300), count = counts[hostile_between(&random, 0, 7)];
        int64_t table_shape[] = {3, n}, out_shape[] = {3, count};
        if (lines && round % 2) /* lines of out that begin at whole vectors */
            out_shape[1] = count = (count + 15) / 16 * 16;
        hostile_make(&table, &random, type, 1 + lines, table_shape + !lines, HOSTILE_COMPACT);
        hostile_make(&index, &random, by, 1, &count, HOSTILE_COMPACT);
        hostile_make(&out, &random, type, 1 + lines, out_shape + !lines, HOSTILE_COMPACT);
        hostile_fill(&table, &random, 2);
        set_integers(&random, &index, n, options.outside == TESS_OUTSIDE_ERROR && round % 8);
        compare(&table, &index, &out, options);
        free_case(&table, &index, &out);
    }
}

/* Slices of many elements, which are copied by wider words than an element, and filled by such. */
static void slices(void **state) {
    (void)state;
    uint64_t random = 37;
    static const int64_t inner[] = {3, 20, 32};
    for (int round = 0; round < 18; round++) {
        hostile_array table, index, out;
        const int64_t width = inner[round / 6], count = 40 + round, table_shape[] = {3, 9, width}, out_shape[] = {3, count, width};
        const tess_type type = round % 6 < 5 ? tables[round % 6] : tess_i64;
        const int lines = round % 2;
        tess_lookup_options options = {.outside = round % 7 ? TESS_OUTSIDE_FILL : TESS_OUTSIDE_WRAP, .fill = -1.5, .axis = lines};
        hostile_make(&table, &random, type, 2 + lines, table_shape + !lines, HOSTILE_COMPACT);
        hostile_make(&index, &random, tess_i16, 1, &count, HOSTILE_COMPACT);
        hostile_make(&out, &random, type, 2 + lines, out_shape + !lines, HOSTILE_COMPACT);
        hostile_fill(&table, &random, 2);
        set_integers(&random, &index, 9, false);
        compare(&table, &index, &out, options);
        free_case(&table, &index, &out);
    }
}

/* Slices of few bytes by bytes and by wider indices: whole blocks, warps and vectors, and what is left behind each; tables of fewer entries than indices, which may step over something. */
static void slices_by_bytes(void **state) {
    (void)state;
    uint64_t random = 39;
    static const struct {
        tess_type type;
        int64_t width;
    } kinds[] = {{tess_u8, 3}, {tess_u16, 3}, {tess_f32, 3}, {tess_u8, 5}, {tess_u8, 7}, {tess_f16, 5}, {tess_i16, 7}};
    static const tess_type wider[] = {tess_i32, tess_u16, tess_i64, tess_i16};
    static const int64_t counts[] = {1, 15, 33, 513, 1040, 8192, 9003};
    for (int round = 0; round < 84; round++) {
        hostile_array table, index, out;
        const int kind = round % 7;
        const bool by_i8 = round % 5 == 2;
        const int64_t width = kinds[kind].width, n = round % 3 == 1 ? 256 : hostile_between(&random, 1, 300), count = counts[(round / 7 + kind) % 7];
        const int64_t table_shape[] = {n, width + round % 2 * 2}, out_shape[] = {count, width};
        tess_lookup_options options = {.outside = (tess_outside)(round / 2 % 4), .fill = 77};
        hostile_make(&table, &random, kinds[kind].type, 2, table_shape, HOSTILE_COMPACT);
        hostile_make(&index, &random, round >= 56 ? wider[round % 4] : by_i8 ? tess_i8 : tess_u8, 1, &count, HOSTILE_COMPACT);
        hostile_make(&out, &random, kinds[kind].type, 2, out_shape, HOSTILE_COMPACT);
        hostile_fill(&table, &random, 2);
        table.shape[1] = width;
        /* operands that begin at vectors: others take another row */
        index.tensor.byte_offset = index.tensor.byte_offset / 16 * 16;
        table.tensor.byte_offset = table.tensor.byte_offset / 16 * 16;
        out.tensor.byte_offset = out.tensor.byte_offset / 16 * 16;
        set_integers(&random, &index, n, options.outside == TESS_OUTSIDE_ERROR && round % 3);
        compare(&table, &index, &out, options);
        free_case(&table, &index, &out);
    }
}

/* Slices that whole vectors do not fit: of any width, elements of every size, steps that are wider or run backwards, the first and the last entry among them; several blocks; three tables, that end
 * within a block. */
static void slices_in_pieces(void **state) {
    (void)state;
    uint64_t random = 41;
    static const struct {
        tess_type type, by;
        int64_t width, count;
        bool backwards;
    } kinds[] = {{tess_f32, tess_i64, 33, 300, false}, {tess_u8, tess_i64, 13, 1000, false}, {tess_u8, tess_i32, 101, 130, true},
                 {tess_f16, tess_u8, 7, 513, false},   {tess_f64, tess_i16, 3, 257, false},  {tess_u8, tess_u16, 5, 777, false},
                 {tess_f32, tess_i32, 5, 255, true},   {tess_i16, tess_u32, 211, 40, false}};
    for (int round = 0; round < 32; round++) {
        hostile_array table, index, out;
        const int kind = round % 8;
        const int64_t width = kinds[kind].width, n = kinds[kind].backwards ? 17 : hostile_between(&random, 1, 90),
                      count = kinds[kind].count + round / 8 * 3, gap = round / 8 % 2 * 3, lines = round / 8 > 1 ? 3 : 1;
        const int64_t table_shape[] = {lines, n, width + gap}, out_shape[] = {lines, round == 31 ? 5 : count, width};
        tess_lookup_options options = {.outside = (tess_outside)((round + round / 8) % 4), .fill = 77, .axis = 1};
        hostile_make(&table, &random, kinds[kind].type, 3, table_shape, HOSTILE_COMPACT);
        hostile_make(&index, &random, kinds[kind].by, 1, &out_shape[1], HOSTILE_COMPACT);
        hostile_make(&out, &random, kinds[kind].type, 3, out_shape, HOSTILE_COMPACT);
        hostile_fill(&table, &random, 2);
        table.shape[2] = width;
        index.tensor.byte_offset = index.tensor.byte_offset / 16 * 16;
        table.tensor.byte_offset = table.tensor.byte_offset / 16 * 16;
        out.tensor.byte_offset = out.tensor.byte_offset / 16 * 16;
        if (kinds[kind].backwards) {
            table.tensor.byte_offset += (uint64_t)((n - 1) * (width + gap) * table.itemsize);
            table.strides[1] = -(width + gap);
        }
        set_integers(&random, &index, n, options.outside == TESS_OUTSIDE_ERROR && round % 3);
        compare(&table, &index, &out, options);
        free_case(&table, &index, &out);
    }
}

/* Two axes as lines of slices, with what is left at the lines' ends between them. */
static void cut_lines(hostile_array *a, int64_t slices, int64_t width) {
    a->tensor.ndim = 3;
    a->shape[1] = slices;
    a->shape[2] = width;
    a->strides[1] = width;
    a->strides[2] = 1;
}

/* Short slices, which are looked up as one wider element each, in lines that do not begin at multiples of it. */
static void lines_apart(void **state) {
    (void)state;
    uint64_t random = 38;
    static const struct {
        tess_type type;
        int64_t width, count, table_gap, out_gap;
    } cases[] = {{tess_u8, 4, 8, 0, 1},   {tess_u8, 4, 600, 0, 1},  {tess_u8, 4, 600, 4, 2},  {tess_u8, 2, 600, 3, 4},
                 {tess_u8, 2, 600, 2, 3}, {tess_f16, 4, 600, 0, 3}, {tess_f32, 4, 600, 4, 1}, {tess_f32, 4, 600, 0, 4}};
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        hostile_array table, index, out;
        const int64_t n = 5, width = cases[i].width, count = cases[i].count, table_shape[] = {3, n * width + cases[i].table_gap},
                      out_shape[] = {3, count * width + cases[i].out_gap};
        tess_lookup_options options = {.outside = TESS_OUTSIDE_WRAP, .axis = 1};
        hostile_make(&table, &random, cases[i].type, 2, table_shape, HOSTILE_COMPACT);
        hostile_make(&index, &random, tess_i32, 1, &count, HOSTILE_COMPACT);
        hostile_make(&out, &random, cases[i].type, 2, out_shape, HOSTILE_COMPACT);
        hostile_fill(&table, &random, 2);
        cut_lines(&table, n, width);
        cut_lines(&out, count, width);
        set_integers(&random, &index, n, false);
        compare(&table, &index, &out, options);
        free_case(&table, &index, &out);
    }
}

/* More entries than shared memory holds, and more indices than the blocks that stay take in one turn. */
static void large_tables(void **state) {
    (void)state;
    uint64_t random = 36;
    static const struct {
        tess_type type, by;
        tess_outside outside;
        int64_t n, count;
    } cases[] = {{tess_f32, tess_i32, TESS_OUTSIDE_ERROR, 60001, 1100003},
                 {tess_f32, tess_i32, TESS_OUTSIDE_WRAP, 60001, 20005},
                 {tess_f32, tess_i32, TESS_OUTSIDE_ERROR, 60001, 9001},
                 {tess_u8, tess_u32, TESS_OUTSIDE_FILL, 240007, 9001}};
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        hostile_array table, index, out;
        tess_lookup_options options = {.outside = cases[i].outside, .fill = 3};
        hostile_make(&table, &random, cases[i].type, 1, &cases[i].n, HOSTILE_COMPACT);
        hostile_make(&index, &random, cases[i].by, 1, &cases[i].count, HOSTILE_COMPACT);
        hostile_make(&out, &random, cases[i].type, 1, &cases[i].count, HOSTILE_COMPACT);
        hostile_fill(&table, &random, 2);
        set_integers(&random, &index, cases[i].n, i == 0);
        compare(&table, &index, &out, options);
        free_case(&table, &index, &out);
    }
}

/* Many lines by the same indices: one a block and several, that begin at any element of a vector, over gaps, backwards; more indices than a block takes in a turn. */
static void lines_in_shared_memory(void **state) {
    (void)state;
    uint64_t random = 40;
    static const struct {
        tess_type type, by;
        int64_t lines, n, gap, count;
        bool backwards;
    } cases[] = {{tess_f32, tess_i32, 3, 3000, 0, 4100, false}, {tess_f32, tess_i32, 4099, 31, 1, 600, false},
                 {tess_u8, tess_u16, 9, 4001, 0, 1003, false},  {tess_f16, tess_i64, 5, 1001, 3, 777, false},
                 {tess_c64, tess_u8, 6, 300, 1, 1040, true},    {tess_c128, tess_i16, 7, 77, 5, 513, false},
                 {tess_u8, tess_i32, 2051, 70, 3, 513, false},  {tess_u8, tess_i8, 8200, 5, 0, 512, false},
                 {tess_f32, tess_u32, 4, 9, 1, 512, true},      {tess_f32, tess_i32, 2, 58000, 0, 9000, false}};
    for (int i = 0; i < TESS_COUNT(cases) * 4; i++) {
        hostile_array table, index, out;
        const int64_t lines = i < TESS_COUNT(cases) ? cases[i % TESS_COUNT(cases)].lines : hostile_between(&random, 2, 9),
                      n = cases[i % TESS_COUNT(cases)].n, count = cases[i % TESS_COUNT(cases)].count,
                      table_shape[] = {lines, n + cases[i % TESS_COUNT(cases)].gap}, out_shape[] = {lines, count};
        tess_lookup_options options = {.outside = (tess_outside)((i + i / TESS_COUNT(cases)) % 4), .fill = 9, .axis = 1};
        hostile_make(&table, &random, cases[i % TESS_COUNT(cases)].type, 2, table_shape, HOSTILE_COMPACT);
        hostile_make(&index, &random, cases[i % TESS_COUNT(cases)].by, 1, &count, HOSTILE_COMPACT);
        hostile_make(&out, &random, cases[i % TESS_COUNT(cases)].type, 2, out_shape, HOSTILE_COMPACT);
        hostile_fill(&table, &random, 2);
        table.shape[1] = n;
        if (cases[i % TESS_COUNT(cases)].backwards) {
            table.tensor.byte_offset += (uint64_t)((lines - 1) * table_shape[1] * table.itemsize);
            table.strides[0] = -table_shape[1];
        }
        set_integers(&random, &index, n, options.outside == TESS_OUTSIDE_ERROR && i % 3);
        compare(&table, &index, &out, options);
        free_case(&table, &index, &out);
    }
}

/* A device whose blocks have less shared memory than a line takes: by way of the cache. */
static void less_shared_memory(void **state) {
    (void)state;
    uint64_t random = 42;
    tess_gpu *gpu;
    if (engine != TESS_ENGINE_VIRTUAL)
        return;
    assert_tess_ok(tess_gpu_get_engine(&gpu, context, engine));
    const int block = gpu->devices->shared_block_optin;
    gpu->devices->shared_block_optin = 99 << 10;
    hostile_array table, index, out;
    const int64_t n = 30000, count = 515, table_shape[] = {3, n}, out_shape[] = {3, count};
    hostile_make(&table, &random, tess_f32, 2, table_shape, HOSTILE_COMPACT);
    hostile_make(&index, &random, tess_i32, 1, &count, HOSTILE_COMPACT);
    hostile_make(&out, &random, tess_f32, 2, out_shape, HOSTILE_COMPACT);
    hostile_fill(&table, &random, 2);
    set_integers(&random, &index, n, true);
    compare(&table, &index, &out, (tess_lookup_options){.axis = 1});
    free_case(&table, &index, &out);
    gpu->devices->shared_block_optin = block;
}

/* The ladder's rungs: every size of element and index, tables of 36 and 300 entries, each policy. */
static void ladder(void **state) {
    (void)state;
    uint64_t random = 35;
    rungs = true;
    for (int round = 0; round < 20; round++) {
        hostile_array table, index, out;
        tess_type type = tables[round % 5], by = integers[round % 5 * 3 % 8];
        int64_t n = round % 5 & 1 ? 36 : 300, count = round < 10 ? 1000 + round : 31 * round;
        tess_lookup_options options = {.outside = (tess_outside)(round % 4), .fill = 7};
        if (options.outside == TESS_OUTSIDE_WRAP && round > 8) /* one kernel more for it */
            options.outside = TESS_OUTSIDE_ERROR;
        hostile_make(&table, &random, type, 1, &n, HOSTILE_COMPACT);
        hostile_make(&index, &random, by, 1, &count, HOSTILE_COMPACT);
        hostile_make(&out, &random, type, 1, &count, HOSTILE_COMPACT);
        hostile_fill(&table, &random, 2);
        set_integers(&random, &index, n, options.outside == TESS_OUTSIDE_ERROR && round % 3);
        compare(&table, &index, &out, options);
        free_case(&table, &index, &out);
    }
    rungs = false;
}

static void compare_counts(const char *row, const char *what, const tess_gpu_prediction *p) {
#define EQUAL(word)                                               \
    if (p->word >= 0 && p->word != (double)gpu_counts_total.word) \
    fail_msg("%s, %s: %s predicted %.0f, counted %.0f", row, what, #word, p->word, (double)gpu_counts_total.word)
    EQUAL(global_ld_requests);
    EQUAL(global_ld_sectors);
    EQUAL(global_st_requests);
    EQUAL(global_st_sectors);
    EQUAL(shared_ld_requests);
    EQUAL(shared_ld_wavefronts);
    EQUAL(shared_ld_conflicts);
    EQUAL(shared_st_requests);
    EQUAL(shared_st_wavefronts);
    EQUAL(shared_st_conflicts);
    EQUAL(constant_requests);
    EQUAL(barriers);
}

/* Four paths, two patterns: what a row predicts for any index, and what the patterns' formulas say, against the virtual GPU. */
static void paths_count_as_predicted(void **state) {
    (void)state;
    static const char *const names[] = {"lookup/global", "lookup/constant", "lookup/read_only", "lookup/shared"};
    static const struct {
        tess_type table;
        int64_t n, count;
    } cases[] = {{tess_f32, 36, 5000}, {tess_f64, 36, 4096}, {tess_f64, 300, 777}, {tess_u8, 36, 1000}, {tess_c128, 36, 1031}};
    if (engine != TESS_ENGINE_VIRTUAL)
        return;
    gpu_counts_begin(context);
    for (int k = 0; k < TESS_COUNT(cases); k++)
        for (int path = 0; path < TESS_COUNT(names); path++)
            for (int pattern = LOOKUP_DIVERGENT; pattern <= LOOKUP_BROADCAST; pattern++) {
                int64_t n = cases[k].n, count = cases[k].count;
                size_t size = tess_type_size(cases[k].table);
                char *table = calloc((size_t)n, size), *out = calloc((size_t)count, size);
                int32_t *index = calloc((size_t)count, sizeof *index);
                assert_true(table && out && index);
                for (int64_t i = 0; i < count; i++)
                    index[i] = (int32_t)((pattern == LOOKUP_DIVERGENT ? i : i / 32) % n);
                DLTensor t = tess_view(table, cases[k].table, 1, &n, NULL), x = tess_view(index, tess_i32, 1, &count, NULL),
                         o = tess_view(out, cases[k].table, 1, &count, NULL);
                tess_lookup_options options = {.struct_size = sizeof options, .call = {.engine = engine, .strategy = names[path]}};
                tess_gpu_prediction any = tess_gpu_no_prediction(), exact;
                tess_plan *plan;
                assert_tess_ok(tess_plan_lookup(&plan, context, &t, &x, &o, &options));
                plan->row->gpu->predict(plan->problem, &any);
                tess_lookup_gpu_pattern_counts(plan->problem, (lookup_path)path, (lookup_pattern)pattern, &exact);
                memset(&gpu_counts_total, 0, sizeof gpu_counts_total);
                assert_tess_ok(tess_execute(plan, table, index, out, NULL));
                compare_counts(names[path], "any index", &any);
                compare_counts(names[path], pattern == LOOKUP_DIVERGENT ? "divergent" : "broadcast", &exact);
                tess_plan_free(plan);
                free(table);
                free(index);
                free(out);
            }
    gpu_counts_end(context);
}

/* Production rows: what they predict of indices inside the table. Vectors and what is left, several lines, slices, axes apart, points of each method. */
static void rows_count_as_predicted(void **state) {
    (void)state;
    static const counted_case cases[] = {{tess_f32, tess_i32, 1, {300}, 5003, 0, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_ERROR},
                                         {tess_u8, tess_u8, 1, {256}, 5003, 0, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_ERROR},
                                         {tess_u8, tess_i8, 1, {100}, 3001, 0, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_ERROR},
                                         {tess_u8, tess_u8, 1, {100}, 777, 0, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_FILL},
                                         {tess_u8, tess_i8, 1, {77}, 1111, 0, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_WRAP},
                                         {tess_i16, tess_i64, 1, {70000}, 3000, 0, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_CLIP},
                                         {tess_f64, tess_u16, 1, {40000}, 3001, 0, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_WRAP},
                                         {tess_c128, tess_i32, 1, {50}, 1031, 0, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_FILL},
                                         {tess_f32, tess_i32, 2, {5, 33}, 1027, 1, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_ERROR},
                                         {tess_f32, tess_i32, 2, {33, 12}, 300, 0, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_ERROR},
                                         {tess_u8, tess_i32, 3, {3, 33, 5}, 301, 1, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_CLIP},
                                         {tess_f32, tess_i32, 2, {2051, 64}, 600, 1, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_ERROR},
                                         {tess_f32, tess_i64, 2, {90, 33}, 300, 0, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_ERROR},
                                         {tess_u8, tess_i32, 2, {90, 13}, 1001, 0, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_CLIP},
                                         {tess_u8, tess_i32, 3, {7, 40, 13}, 333, 1, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_CLIP},
                                         {tess_u8, tess_i64, 2, {37, 2999}, 5001, 1, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_CLIP},
                                         {tess_f16, tess_u16, 2, {2070, 33}, 515, 1, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_FILL},
                                         {tess_u8, tess_u8, 2, {256, 3}, 9003, 0, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_ERROR},
                                         {tess_u8, tess_i8, 2, {100, 7}, 3001, 0, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_ERROR},
                                         {tess_f16, tess_u8, 2, {77, 3}, 8192, 0, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_WRAP},
                                         {tess_f32, tess_u8, 2, {200, 3}, 777, 0, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_FILL},
                                         {tess_u8, tess_i32, 2, {500, 3}, 9003, 0, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_ERROR},
                                         {tess_f32, tess_f32, 1, {300}, 5003, 0, TESS_INTERPOLATE_LINEAR, TESS_OUTSIDE_ERROR},
                                         {tess_f32, tess_f32, 2, {3, 100}, 801, 1, TESS_INTERPOLATE_NEAREST, TESS_OUTSIDE_CLIP},
                                         {tess_f64, tess_f64, 1, {100}, 1001, 0, TESS_INTERPOLATE_CUBIC, TESS_OUTSIDE_ERROR},
                                         {tess_u8, tess_f32, 2, {50, 7}, 200, 0, TESS_INTERPOLATE_LINEAR, TESS_OUTSIDE_WRAP},
                                         {tess_f32, tess_f32, 2, {50, 3}, 1300, 0, TESS_INTERPOLATE_LINEAR, TESS_OUTSIDE_ERROR},
                                         {tess_f64, tess_f32, 2, {40, 2}, 1037, 0, TESS_INTERPOLATE_CUBIC, TESS_OUTSIDE_CLIP},
                                         {tess_u8, tess_f16, 2, {90, 5}, 600, 0, TESS_INTERPOLATE_NEAREST, TESS_OUTSIDE_FILL},
                                         {tess_f16, tess_f64, 3, {3, 20, 4}, 520, 1, TESS_INTERPOLATE_LINEAR, TESS_OUTSIDE_WRAP},
                                         {tess_f32, tess_f32, 1, {33}, 500, 0, TESS_INTERPOLATE_CUBIC, TESS_OUTSIDE_FILL},
                                         {tess_f32, tess_f32, 1, {33}, 501, 0, TESS_INTERPOLATE_CUBIC, TESS_OUTSIDE_ERROR},
                                         {tess_f64, tess_f32, 1, {33}, 301, 0, TESS_INTERPOLATE_CUBIC, TESS_OUTSIDE_CLIP},
                                         {tess_f64, tess_f32, 1, {33}, 301, 0, TESS_INTERPOLATE_CUBIC, TESS_OUTSIDE_WRAP},
                                         {tess_f32, tess_f32, 1, {33}, 502, 0, TESS_INTERPOLATE_LINEAR, TESS_OUTSIDE_FILL},
                                         {tess_f64, tess_f32, 1, {33}, 401, 0, TESS_INTERPOLATE_LINEAR, TESS_OUTSIDE_CLIP},
                                         {tess_u8, tess_f32, 1, {33}, 501, 0, TESS_INTERPOLATE_LINEAR, TESS_OUTSIDE_WRAP},
                                         {tess_f32, tess_f32, 1, {33}, 501, 0, TESS_INTERPOLATE_NEAREST, TESS_OUTSIDE_FILL},
                                         {tess_i16, tess_f32, 1, {33}, 501, 0, TESS_INTERPOLATE_NEAREST, TESS_OUTSIDE_ERROR},
                                         {tess_f32, tess_f32, 1, {33}, 4096, 0, TESS_INTERPOLATE_CUBIC, TESS_OUTSIDE_CLIP},
                                         {tess_u8, tess_f32, 2, {3, 33}, 4096, 1, TESS_INTERPOLATE_LINEAR, TESS_OUTSIDE_FILL},
                                         {tess_u8, tess_f32, 1, {33}, 2, 0, TESS_INTERPOLATE_NEAREST, TESS_OUTSIDE_ERROR},
                                         {tess_f64, tess_f64, 1, {33}, 2, 0, TESS_INTERPOLATE_LINEAR, TESS_OUTSIDE_WRAP},
                                         {tess_i16, tess_f32, 1, {33}, 37, 0, TESS_INTERPOLATE_CUBIC, TESS_OUTSIDE_CLIP},
                                         {tess_f32, tess_f32, 1, {33}, 1, 0, TESS_INTERPOLATE_NEAREST, TESS_OUTSIDE_CLIP},
                                         {tess_f32, tess_f32, 2, {33, 8}, 1, 0, TESS_INTERPOLATE_LINEAR, TESS_OUTSIDE_WRAP},
                                         {tess_f64, tess_i32, 1, {33}, 1, 0, TESS_INTERPOLATE_NONE, TESS_OUTSIDE_FILL}};
    int compared[32] = {0};
    if (engine != TESS_ENGINE_VIRTUAL)
        return;
    gpu_counts_begin(context);
    for (int k = 0; k < TESS_COUNT(cases); k++)
        count_case(&cases[k], k, NULL, compared);
    gpu_counts_end(context);
    for (int r = 0; r < tess_lookup_op.gpu_count; r++)
        if (tess_lookup_op.gpu_rows[r].gpu->production && !takes_positions(&tess_lookup_op.gpu_rows[r]) && compared[r] == 0)
            fail_msg("%s: no prediction was compared", tess_lookup_op.gpu_rows[r].name);
}

/* Threads with tables of their own share a constant variable. */
static void *look_up_again_and_again(void *number) {
    enum { N = 36, COUNT = 3000 };
    int32_t table[N], index[COUNT], out[COUNT], mine = (int32_t)(intptr_t)number;
    int64_t n = N, count = COUNT;
    DLTensor t = tess_view(table, tess_i32, 1, &n, NULL), x = tess_view(index, tess_i32, 1, &count, NULL),
             o = tess_view(out, tess_i32, 1, &count, NULL);
    tess_lookup_options options = {.struct_size = sizeof options, .call = {.engine = engine, .strategy = "lookup/constant"}};
    for (int i = 0; i < N; i++)
        table[i] = mine * 1000 + i;
    for (int i = 0; i < COUNT; i++)
        index[i] = i % N;
    for (int again = 0; again < 20; again++) {
        if (tess_lookup(context, &t, &x, &o, &options) != TESS_OK)
            return number;
        for (int i = 0; i < COUNT; i++)
            if (out[i] != mine * 1000 + i % N)
                return number;
    }
    return NULL;
}
static void constants_are_not_mixed_up(void **state) {
    (void)state;
    pthread_t threads[3];
    void *wrong[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look_up_again_and_again, (void *)(intptr_t)(i + 1)), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], &wrong[i]);
    assert_true(!wrong[0] && !wrong[1] && !wrong[2]);
}

static void interpolations(void **state) {
    (void)state;
    uint64_t random = 33;
    static const struct {
        tess_type table, index, out;
    } types[] = {{tess_f32, tess_f32, tess_f32},   {tess_f64, tess_f64, tess_f64}, {tess_u8, tess_f16, tess_u8},   {tess_f16, tess_bf16, tess_f16},
                 {tess_f32, tess_f64, tess_bf16},  {tess_i32, tess_f32, tess_i16}, {tess_c64, tess_f32, tess_c64}, {tess_c128, tess_f32, tess_c64},
                 {tess_bool, tess_f32, tess_bool}, {tess_u64, tess_f64, tess_f32}, {tess_f32, tess_f16, tess_u64}, {tess_i16, tess_f32, tess_c128}};
    for (int round = 0; round < 24; round++) {
        hostile_array table, index, out;
        int t = round % 12; /* methods and policies in turn */
        tess_lookup_options options = {.outside = (tess_outside)((round + round / 12) % 4),
                                       .fill = (double)hostile_between(&random, -3, 300),
                                       .interpolation = (tess_interpolation)(1 + (round + round / 12) % 3)};
        int64_t n = hostile_between(&random, 1, hostile_between(&random, 0, 1) ? 4 : 100);
        if (round / 12 == 1) {
            make_case(&random, &table, &index, &out, &options.axis, types[t].table, types[t].index, types[t].out, n, 300, 1 + round % 2);
        } else {
            int64_t count = hostile_between(&random, 1, 3000);
            hostile_make(&table, &random, types[t].table, 1, &n, HOSTILE_COMPACT);
            hostile_make(&index, &random, types[t].index, 1, &count, HOSTILE_COMPACT);
            hostile_make(&out, &random, types[t].out, 1, &count, HOSTILE_COMPACT);
            hostile_fill(&table, &random, 1 + round % 2);
        }
        set_reals(&random, &index, n,
                  options.outside == TESS_OUTSIDE_ERROR ? hostile_between(&random, 0, 2) != 0 : hostile_between(&random, 0, 2) == 0);
        compare(&table, &index, &out, options);
        free_case(&table, &index, &out);
    }
}

/* Slices of a few elements at coordinates: one vector, several, none; several blocks and what is left, lines that begin anywhere, points outside. */
static void slices_at_coordinates(void **state) {
    (void)state;
    uint64_t random = 35;
    all_cases = true;
    static const struct {
        tess_type table, index, out;
        int64_t width;
    } kinds[] = {{tess_u8, tess_f16, tess_u8, 3},     {tess_f32, tess_f32, tess_f32, 3},   {tess_u8, tess_f64, tess_u8, 4},
                 {tess_f16, tess_f32, tess_f16, 7},   {tess_f32, tess_f32, tess_f32, 2},   {tess_c64, tess_f32, tess_c64, 1},
                 {tess_f64, tess_f32, tess_f64, 8},   {tess_i16, tess_bf16, tess_f32, 5},  {tess_u8, tess_f32, tess_u8, 16},
                 {tess_c128, tess_f64, tess_c128, 2}, {tess_f32, tess_f32, tess_c128, 3},  {tess_i8, tess_f32, tess_bool, 2},
                 {tess_u16, tess_f32, tess_u16, 3},   {tess_bf16, tess_f32, tess_bf16, 4}, {tess_i8, tess_f64, tess_i8, 6},
                 {tess_i16, tess_f64, tess_u16, 2}};
    enum { KINDS = TESS_COUNT(kinds) };
    static const int64_t counts[] = {1, 31, 130, 600, 1025};
    for (int round = 0; round < 3 * KINDS; round++) { /* each kind by each method */
        hostile_array table, index, out;
        const int kind = round % KINDS, lines = round / KINDS % 2;
        const int64_t width = kinds[kind].width, n = hostile_between(&random, 1, round % 5 ? 60 : 3), count = counts[(round + round / KINDS) % 5];
        const int64_t table_shape[] = {2, n, width + round % 2}, out_shape[] = {2, count, width};
        tess_lookup_options options = {.outside = (tess_outside)((round + round / KINDS) % 4),
                                       .fill = -3.25,
                                       .axis = lines,
                                       .interpolation = (tess_interpolation)(1 + (kind + round / KINDS) % 3)};
        hostile_make(&table, &random, kinds[kind].table, 2 + lines, table_shape + !lines, HOSTILE_COMPACT);
        hostile_make(&index, &random, kinds[kind].index, 1, &count, HOSTILE_COMPACT);
        hostile_make(&out, &random, kinds[kind].out, 2 + lines, out_shape + !lines, HOSTILE_COMPACT);
        hostile_fill(&table, &random, 1 + round % 2);
        table.shape[1 + lines] = width;
        index.tensor.byte_offset = index.tensor.byte_offset / 16 * 16;
        table.tensor.byte_offset = table.tensor.byte_offset / 16 * 16;
        out.tensor.byte_offset = out.tensor.byte_offset / 16 * 16;
        set_reals(&random, &index, n, options.outside == TESS_OUTSIDE_ERROR && round % 3);
        compare(&table, &index, &out, options);
        free_case(&table, &index, &out);
    }
    all_cases = false;
}

/* Indices are looked at when there is nothing to write, and a table without entries gives the fill value. */
static void nothing_there(void **state) {
    (void)state;
    uint64_t random = 34;
    for (int real = 0; real < 2; real++)
        for (int empty = 0; empty < 2; empty++) {
            hostile_array table, index, out;
            int64_t table_shape[] = {empty ? 0 : 5, empty ? 2 : 0}, index_shape[] = {300}, out_shape[] = {300, empty ? 2 : 0};
            tess_lookup_options options = {.outside = empty ? TESS_OUTSIDE_FILL : TESS_OUTSIDE_ERROR, .fill = 3};
            hostile_make(&table, &random, tess_f32, 2, table_shape, HOSTILE_COMPACT);
            hostile_make(&index, &random, real ? tess_f32 : tess_i32, 1, index_shape, HOSTILE_COMPACT);
            hostile_make(&out, &random, tess_f32, 2, out_shape, HOSTILE_COMPACT);
            for (int i = 0; i < 300; i++)
                real ? set_real(&index, i, i == 299 ? 7 : 1) : set_integer(&index, i, i == 299 ? 7 : 1);
            int before = refused;
            compare(&table, &index, &out, options);
            assert_int_equal(refused - before, !empty);
            free_case(&table, &index, &out);
        }
}

static void every_row_was_compared(void **state) {
    (void)state;
    assert_true(refused > 5);
    for (int r = 0; r < tess_lookup_op.gpu_count; r++)
        if (ran[r] < 8 && !takes_positions(&tess_lookup_op.gpu_rows[r]))
            fail_msg("%s was compared %d times only", tess_lookup_op.gpu_rows[r].name, ran[r]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(compact),
                                       cmocka_unit_test(slices),
                                       cmocka_unit_test(slices_by_bytes),
                                       cmocka_unit_test(slices_in_pieces),
                                       cmocka_unit_test(lines_apart),
                                       cmocka_unit_test(large_tables),
                                       cmocka_unit_test(lines_in_shared_memory),
                                       cmocka_unit_test(less_shared_memory),
                                       cmocka_unit_test(gathers),
                                       cmocka_unit_test(interpolations),
                                       cmocka_unit_test(slices_at_coordinates),
                                       cmocka_unit_test(nothing_there),
                                       cmocka_unit_test(ladder),
                                       cmocka_unit_test(paths_count_as_predicted),
                                       cmocka_unit_test(rows_count_as_predicted),
                                       cmocka_unit_test(constants_are_not_mixed_up),
                                       cmocka_unit_test(every_row_was_compared)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}
