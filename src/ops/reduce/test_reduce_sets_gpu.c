/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_sets_gpu.c - proves: reduce/tree_sets gives the reference's bytes: widths from 2 to some hundred, from one element of an output to several leaves, sets that begin and end
 * anywhere in a vector, every operation and many types, NaNs of both policies, nothing read around an array; and what the row is taken for. On a card when there is one, else on the virtual GPU. */
#include "ops/reduce/reduce.h"
#include "reduce_sets.h"

static tess_context *context;
static tess_engine engine;
static int ran;

enum { MINUS_ZEROS = -1 };

/* fill: any bits have NaNs, which hide lost elements; MINUS_ZEROS of f32 and f64 */
static void compare(const sets_work *w, uint64_t *random) {
    static int number;
    sets_case c;
    if (gpu_test_spared(engine, number++, 7, 7))
        return;
    sets_begin(&c, w, random);
    for (int64_t i = 0, all = hostile_count(&c.memory); w->fill == MINUS_ZEROS && i < all; i++)
        memcpy(hostile_element(&c.memory, i), w->in == tess_f32 ? (const void *)&(float){-0.0f} : &(double){-0.0}, tess_type_size(w->in));
    sets_expect(&c, context, random);
    assert_true(sets_same(&c, context, engine, NULL));
    assert_true(sets_same(&c, context, engine, "reduce/tree_sets"));
    ran++;
    sets_end(&c);
}

/* Every place of a vector at which a set can begin and end. */
static void every_shape(void **state) {
    (void)state;
    uint64_t random = 1;
    static const int64_t widths[] = {2, 3, 4, 5, 8, 31, 33, 64, 100, 256}, lengths[] = {33, 100, 200, 256, 257, 300, 512, 1000, 4097};
    static const tess_type types[] = {tess_f32, tess_f64, tess_f16, tess_u8, tess_c64};
    for (int i = 0; i < TESS_COUNT(widths); i++)
        for (int l = 0; l < TESS_COUNT(lengths); l++) {
            const tess_type type = types[(i + l) % 8 < 5 ? (i + l) % 8 : 0];
            if (widths[i] * lengths[l] > 150000)
                continue;
            const int64_t several = 1 + tess_min64(20000 / (widths[i] * lengths[l]), 20);
            sets_work w = {.operation = TESS_SUM,
                           .in = type,
                           .out = type == tess_u8    ? tess_u64
                                  : type == tess_f16 ? tess_f32
                                                     : type,
                           .outer = l % 5 == 0 ? 2 : 1,
                           .sets = several,
                           .k = lengths[l],
                           .width = widths[i],
                           .between = (i + l) % 3,
                           .apart = l % 2,
                           .fill = l % 3 == 2 ? 1 : 0};
            compare(&w, &random);
        }
}

/* Vectors that are written out: none, one and all rows more than whole ones, lanes with one term and two and without any, sets that are cut and not; sums that begin with their first term. */
static void written_out(void **state) {
    (void)state;
    uint64_t random = 6;
    static const struct {
        tess_reduction operation;
        tess_type in, out;
    } kinds[] = {{TESS_SUM, tess_f32, tess_f32},  {TESS_SUM, tess_f64, tess_f64},   {TESS_MEAN, tess_f16, tess_f16},
                 {TESS_PROD, tess_f32, tess_f64}, {TESS_NORM2, tess_f32, tess_f64}, {TESS_SUM, tess_c128, tess_c128},
                 {TESS_SUM, tess_u8, tess_u64},   {TESS_PROD, tess_c64, tess_c64},  {TESS_SUM, tess_i8, tess_i64}};
    static const int64_t lengths[] = {48, 65, 97, 255, 256, 257, 271, 288, 289, 319, 320, 511, 512}, widths[] = {3, 2, 8, 70};
    int n = 0;
    for (int i = 0; i < TESS_COUNT(kinds); i++)
        for (int l = i % 3; l < TESS_COUNT(lengths); l += 3, n++) {
            sets_work w = {.operation = kinds[i].operation,
                           .in = kinds[i].in,
                           .out = kinds[i].out,
                           .nan = n % 4 == 3 && !tess_is_complex(kinds[i].in) ? TESS_NAN_OMIT : TESS_NAN_PROPAGATE,
                           .outer = 1,
                           .sets = 3,
                           .k = lengths[l],
                           .width = widths[n % 4],
                           .between = n % 3 == 1};
            compare(&w, &random);
        }
    for (int i = 0; i < 4; i++) {
        const tess_type type = i % 2 ? tess_f64 : tess_f32;
        sets_work w = {
            .operation = TESS_SUM, .in = type, .out = type, .outer = 1, .sets = 2, .k = i < 2 ? 320 : 1000, .width = 5, .fill = MINUS_ZEROS};
        compare(&w, &random);
    }
}

static void several_leaves(void **state) {
    (void)state;
    uint64_t random = 2;
    static const sets_work works[] = {{TESS_SUM, tess_f32, tess_f32, TESS_NAN_PROPAGATE, 1, 2, 8192, 3, 0, 1, 0, 0, 0},
                                      {TESS_SUM, tess_f32, tess_f32, TESS_NAN_PROPAGATE, 1, 2, 8193, 3, 0, 1, 0, 0, 1},
                                      {TESS_MEAN, tess_f16, tess_f16, TESS_NAN_OMIT, 2, 2, 16385, 3, 0, 0, 5, 0, 1},
                                      {TESS_ARGMAX, tess_f32, tess_i64, TESS_NAN_PROPAGATE, 1, 3, 24579, 3, 0, 0, 0, 0, 1},
                                      {TESS_ARGMIN, tess_u8, tess_i64, TESS_NAN_PROPAGATE, 1, 1, 60000, 3, 0, 0, 0, 0, 1},
                                      {TESS_SUM, tess_u8, tess_u64, TESS_NAN_PROPAGATE, 1, 2, 20001, 5, 0, 0, 0, 0, 1},
                                      {TESS_NORM2, tess_f32, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 17000, 4, 0, 0, 0, 0, 1},
                                      {TESS_SUM, tess_c64, tess_c64, TESS_NAN_PROPAGATE, 1, 2, 9001, 3, 0, 0, 0, 0, 1},
                                      {TESS_COUNT_NONZERO, tess_f64, tess_i64, TESS_NAN_OMIT, 1, 1, 30000, 2, 0, 0, 0, 0, 0},
                                      {TESS_MAX, tess_i8, tess_i8, TESS_NAN_PROPAGATE, 1, 1, 70000, 2, 0, 0, 0, 0, 1},
                                      {TESS_SUM, tess_f64, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 8192 * 3 + 1, 2, 0, 0, 0, 0, 1}};
    for (int i = 0; i < TESS_COUNT(works); i++)
        compare(&works[i], &random);
}

/* Tall sets, of which there are few: more rows side by side, 64 to 256 of them, one lane of a thread and several; leaves that are shorter, where no order matters. */
static void tall(void **state) {
    (void)state;
    uint64_t random = 8;
    static const struct {
        tess_reduction operation;
        tess_type in, out;
    } kinds[] = {{TESS_SUM, tess_f32, tess_f32},
                 {TESS_ARGMAX, tess_u8, tess_i64},
                 {TESS_SUM, tess_f64, tess_f64},
                 {TESS_MEAN, tess_f16, tess_f16},
                 {TESS_MAX, tess_f32, tess_f32},
                 {TESS_PROD, tess_c64, tess_c64},
                 {TESS_SUM, tess_u8, tess_u64},
                 {TESS_NORM2, tess_f32, tess_f32},
                 {TESS_ARGMIN, tess_f64, tess_i64},
                 {TESS_ALL, tess_bool, tess_bool},
                 {TESS_COUNT_NONZERO, tess_bf16, tess_i64},
                 {TESS_SUM, tess_c64, tess_c64},
                 {TESS_ARGMAX, tess_f16, tess_i64},
                 {TESS_PROD, tess_f32, tess_f64},
                 {TESS_SUM, tess_i32, tess_i64},
                 {TESS_MIN, tess_i8, tess_i8}};
    static const int64_t lengths[] = {2049, 8192, 8193, 12345, 4100, 20000}, widths[] = {2, 3, 7, 16, 33, 5, 31, 64};
    for (int i = 0; i < 3 * TESS_COUNT(kinds); i++) {
        const int kind = i % TESS_COUNT(kinds);
        sets_work w = {.operation = kinds[kind].operation,
                       .in = kinds[kind].in,
                       .out = kinds[kind].out,
                       .nan = i % 5 == 4 && !tess_is_complex(kinds[kind].in) ? TESS_NAN_OMIT : TESS_NAN_PROPAGATE,
                       .outer = i % 7 == 6,
                       .sets = i % 3 == 2 ? 2 : 1,
                       .k = lengths[i % TESS_COUNT(lengths)],
                       .width = widths[i * 3 % TESS_COUNT(widths)],
                       .between = i % 4,
                       .from = i % 5,
                       .fill = i % 4 == 3 && (kinds[kind].in == tess_f32 || kinds[kind].in == tess_f64) ? MINUS_ZEROS : i % 2};
        compare(&w, &random);
    }
}

static void every_operation(void **state) {
    (void)state;
    uint64_t random = 3;
    for (int operation = TESS_SUM; operation <= TESS_NORM_INF; operation++)
        for (int nan = 0; nan < 2; nan++)
            for (int fill = 0; fill < 3; fill++) {
                const bool place = operation == TESS_ARGMIN || operation == TESS_ARGMAX;
                if (operation == TESS_VAR || operation == TESS_STD)
                    continue;
                sets_work w = {.operation = (tess_reduction)operation,
                               .in = tess_f32,
                               .out = place ? tess_i64 : tess_f32,
                               .nan = (tess_nan)nan,
                               .outer = 1,
                               .sets = 3,
                               .k = nan ? 600 : 301,
                               .width = operation % 2 ? 7 : 9,
                               .fill = fill};
                compare(&w, &random);
            }
}

static void every_type(void **state) {
    (void)state;
    uint64_t random = 4;
    static const struct {
        tess_reduction operation;
        tess_type in, out;
    } cases[] = {{TESS_SUM, tess_u8, tess_u64},           {TESS_SUM, tess_i16, tess_i16},    {TESS_MEAN, tess_i32, tess_f64},
                 {TESS_SUM, tess_bf16, tess_f64},         {TESS_NORM2, tess_f64, tess_f64},  {TESS_MAX, tess_i8, tess_f32},
                 {TESS_ARGMIN, tess_u16, tess_i32},       {TESS_MIN, tess_bf16, tess_bf16},  {TESS_NORM_INF, tess_i64, tess_u8},
                 {TESS_ANY, tess_bool, tess_bool},        {TESS_NORM2, tess_u8, tess_f32},   {TESS_PROD, tess_f16, tess_f32},
                 {TESS_COUNT_NONZERO, tess_i8, tess_i64}, {TESS_SUM, tess_c64, tess_c64},    {TESS_MEAN, tess_c128, tess_c64},
                 {TESS_PROD, tess_c64, tess_c128},        {TESS_NORM1, tess_c64, tess_f32},  {TESS_NORM_INF, tess_c64, tess_f32},
                 {TESS_PROD, tess_c64, tess_c64},         {TESS_ARGMAX, tess_u8, tess_i64},  {TESS_MAX, tess_u8, tess_u8},
                 {TESS_MIN, tess_bool, tess_bool},        {TESS_ARGMAX, tess_i64, tess_i64}, {TESS_PROD, tess_i32, tess_i64},
                 {TESS_NORM1, tess_i8, tess_i64},         {TESS_MIN, tess_f16, tess_f32},    {TESS_ARGMAX, tess_f16, tess_i64},
                 {TESS_SUM, tess_bool, tess_i64}};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int nan = tess_is_complex(cases[i].in) ? 0 : 1; nan < 2; nan++)
            for (int fill = 0; fill < 2; fill++) {
                sets_work w = {.operation = cases[i].operation,
                               .in = cases[i].in,
                               .out = cases[i].out,
                               .nan = (tess_nan)nan,
                               .outer = 1 + i % 2,
                               .sets = 3,
                               .k = i % 3 == 0   ? 259
                                    : i % 3 == 1 ? 700
                                                 : 300 + i,
                               .width = i % 2 ? 33 : 11,
                               .between = i % 4,
                               .fill = nan ? fill * 2 : fill};
                compare(&w, &random);
            }
}

static void any_address(void **state) {
    (void)state;
    static const sets_array arrays[] = {{tess_f32, 3, 5, 301}, {tess_f16, 3, 5, 301}, {tess_u8, 3, 5, 301}};
    sets_any_address(engine, "reduce/tree_sets", TESS_MEAN, false, arrays, TESS_COUNT(arrays));
}

/* What the row is taken for; as measured. */
static void chosen(void **state) {
    (void)state;
    static const struct {
        tess_reduction operation;
        tess_type in, out;
        int64_t sets, k, width;
        const char *row;
    } cases[] = {{TESS_SUM, tess_f32, tess_f32, 1 << 20, 300, 3, "tree_sets"},
                 {TESS_SUM, tess_f32, tess_f32, 1 << 20, 256, 3, "tree_patches"},
                 {TESS_SUM, tess_f32, tess_f32, 1 << 14, 200, 100, "tree_sets"},
                 {TESS_SUM, tess_f16, tess_f32, 1 << 16, 48, 33, "tree_sets"},
                 {TESS_SUM, tess_u8, tess_u64, 1 << 16, 200, 33, "tree_sets"},
                 {TESS_SUM, tess_u8, tess_u64, 1 << 16, 100, 33, "tree_patches"},
                 {TESS_MAX, tess_u8, tess_u8, 1 << 16, 128, 33, "tree_sets"},
                 {TESS_SUM, tess_c64, tess_c64, 1 << 16, 50, 33, "tree_sets"},
                 {TESS_PROD, tess_c64, tess_c64, 1 << 16, 129, 33, "tree_patches"},
                 {TESS_SUM, tess_f64, tess_f64, 1 << 14, 300, 100, "tree_sets"},
                 {TESS_SUM, tess_f64, tess_f64, 1 << 14, 512, 100, "tree_columns"},
                 {TESS_MAX, tess_f64, tess_f64, 1 << 14, 512, 100, "tree_sets"},
                 {TESS_SUM, tess_f32, tess_f32, 1 << 10, 1000, 1000, "tree_columns"},
                 {TESS_SUM, tess_f32, tess_f32, 1, 1 << 28, 3, "tree_sets"},
                 {TESS_SUM, tess_f32, tess_f32, 1, 300000, 3, "tree_sets"},
                 {TESS_SUM, tess_f32, tess_f32, 1, 1000000, 33, "tree_sets"},
                 {TESS_MAX, tess_i32, tess_i32, 1, 100000, 31, "tree_sets"},
                 {TESS_SUM, tess_f32, tess_f32, 1, 500000, 64, "tree_sets"},
                 {TESS_SUM, tess_f32, tess_f32, 1, 500000, 128, "tree_columns"},
                 {TESS_ARGMAX, tess_u8, tess_i64, 1 << 14, 1000, 256, "tree_sets"},
                 {TESS_SUM, tess_f32, tess_f32, 1, 2000, 256, "tree_columns"},
                 {TESS_SUM, tess_f32, tess_f32, 1, 2000, 64, "tree_sets"},
                 {TESS_SUM, tess_f32, tess_f32, 64, 1000, 256, "tree_sets"},
                 {TESS_SUM, tess_u8, tess_u64, 16, 2000, 64, "tree_columns"},
                 {TESS_MAX, tess_f32, tess_f32, 64, 1000, 64, "tree_columns"},
                 {TESS_MAX, tess_f32, tess_f32, 256, 1000, 64, "tree_sets"},
                 {TESS_SUM, tess_c128, tess_c128, 1 << 12, 1000, 256, "tree_columns"},
                 {TESS_SUM, tess_c64, tess_c64, 1 << 8, 1000, 4096, "tree_columns"}};
    const int axis = 1;
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        int64_t shape[] = {cases[i].sets, cases[i].k, cases[i].width}, kept[] = {cases[i].sets, cases[i].width};
        tess_plan *plan;
        const DLTensor in = tess_view(NULL, cases[i].in, 3, shape, NULL), out = tess_view(NULL, cases[i].out, 2, kept, NULL);
        const tess_reduce_options options = {.struct_size = sizeof options, .axes = &axis, .naxes = 1, .call = {.engine = engine}};
        assert_tess_ok(tess_plan_reduce(&plan, context, cases[i].operation, &in, &out, &options));
        gpu_test_chosen(plan, cases[i].row, i);
    }
}

static void all_ran(void **state) {
    (void)state;
    assert_true(ran > 40);
}

/* Wide sets of few rows: where a row alone has more vectors than a leaf is to have threads, and more than a block has, which other rows take. */
static void wide_of_few(void **state) {
    (void)state;
    uint64_t random = 7;
    static const struct {
        tess_type type;
        int64_t k, width;
    } sets[] = {{tess_f32, 2, 4096}, {tess_f32, 3, 2052}, {tess_f32, 40, 3000}, {tess_f64, 7, 2000}, {tess_c128, 2, 788}, {tess_c64, 5, 1500}};
    for (int i = 0; i < TESS_COUNT(sets); i++) {
        sets_work w = {.operation = TESS_SUM, .in = sets[i].type, .out = sets[i].type, .outer = 1, .sets = 2, .k = sets[i].k, .width = sets[i].width};
        compare(&w, &random);
        DLTensor x = tess_view(NULL, w.in, 2, (int64_t[]){w.k, 100 * w.width}, NULL), y = tess_view(NULL, w.out, 1, (int64_t[]){100 * w.width}, NULL);
        const int axis = 0;
        tess_reduce_options options = {.struct_size = sizeof options, .axes = &axis, .naxes = 1, .call.engine = engine};
        tess_plan *plan;
        assert_tess_ok(tess_plan_reduce(&plan, context, TESS_SUM, &x, &y, &options));
        tess_plan_free(plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_shape),    cmocka_unit_test(written_out),     cmocka_unit_test(wide_of_few),
                                       cmocka_unit_test(several_leaves), cmocka_unit_test(every_operation), cmocka_unit_test(every_type),
                                       cmocka_unit_test(tall),           cmocka_unit_test(any_address),     cmocka_unit_test(chosen),
                                       cmocka_unit_test(all_ran)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}
