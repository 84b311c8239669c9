/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_few_gpu.c - proves: reduce/tree_few gives the reference's bytes: every length up to 64, widths and rows that begin anywhere, rows backward, every operation and every type, NaNs of both policies. On a card when
 * there is one, else on the virtual GPU. */
#include "reduce_sets.h"

static tess_context *context;
static tess_engine engine;
static int ran, refused;

static void compare(const sets_work *w, uint64_t *random) {
    static int number;
    sets_case c;
    if (gpu_test_spared(engine, number++, 3, 3))
        return;
    sets_begin(&c, w, random);
    sets_expect(&c, context, random);
    if (sets_same(&c, context, engine, "reduce/tree_few"))
        ran++;
    else
        refused++;
    sets_end(&c);
}

/* Sums and variances of every length; of small elements by words and alone. */
static void every_length(void **state) {
    (void)state;
    uint64_t random = 1;
    static const tess_type types[] = {tess_f32, tess_f16, tess_u8, tess_f64};
    for (int64_t k = 1; k <= 66; k++)
        for (int i = 0; i < 2; i++) {
            const tess_type type = types[(k + i * 2) % 4];
            const int64_t width = k % 3 == 0 ? 32 : k % 3 == 1 ? 33 : 300, gap = k % 5 == 4 ? 4 : k % 5 == 3 ? 1 : 0;
            sets_work w = {.operation = i ? TESS_VAR : TESS_SUM,
                           .in = type,
                           .out = tess_f32,
                           .sets = 1 + k % 4,
                           .k = k,
                           .width = width,
                           .row = k % 7 == 6 ? -(width + gap) : width + gap,
                           .between = gap + k % 2 * 4,
                           .fill = 1};
            compare(&w, &random);
        }
}

static void every_operation(void **state) {
    (void)state;
    uint64_t random = 2;
    for (int operation = TESS_SUM; operation <= TESS_NORM_INF; operation++)
        for (int nan = 0; nan < 2; nan++)
            for (int small = 0; small < 2; small++) {
                const bool place = operation == TESS_ARGMIN || operation == TESS_ARGMAX;
                const int64_t width = operation % 2 ? 33 : 36, gap = operation % 3 == 0 && operation % 2 ? 3 : 0;
                sets_work w = {.operation = (tess_reduction)operation,
                               .in = small ? tess_f16 : tess_f32,
                               .out = place ? tess_i64 : tess_f32,
                               .nan = (tess_nan)nan,
                               .outer = operation % 3,
                               .sets = 4,
                               .k = nan ? 19 : 32,
                               .width = width,
                               .row = width + gap,
                               .between = gap,
                               .apart = 4,
                               .fill = 1 + nan};
                compare(&w, &random);
            }
}

static void every_type(void **state) {
    (void)state;
    uint64_t random = 3;
    static const struct {
        tess_reduction operation;
        tess_type in, out;
    } cases[] = {{TESS_SUM, tess_u8, tess_u64},           {TESS_SUM, tess_i16, tess_i16},   {TESS_MEAN, tess_i32, tess_f64},
                 {TESS_SUM, tess_bf16, tess_f64},         {TESS_NORM2, tess_f64, tess_f64}, {TESS_MAX, tess_i8, tess_f32},
                 {TESS_ARGMIN, tess_u16, tess_i32},       {TESS_MIN, tess_bf16, tess_bf16}, {TESS_NORM_INF, tess_i64, tess_u8},
                 {TESS_ANY, tess_bool, tess_bool},        {TESS_VAR, tess_u8, tess_f32},    {TESS_STD, tess_f64, tess_f64},
                 {TESS_VAR, tess_i16, tess_f32},          {TESS_VAR, tess_u64, tess_f64},   {TESS_VAR, tess_bf16, tess_f32},
                 {TESS_COUNT_NONZERO, tess_i8, tess_i64}, {TESS_SUM, tess_c64, tess_c64},   {TESS_MEAN, tess_c128, tess_c64},
                 {TESS_PROD, tess_c64, tess_c128},        {TESS_NORM1, tess_c64, tess_f32}, {TESS_NORM_INF, tess_c64, tess_f32}};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int nan = tess_is_complex(cases[i].in) ? 0 : 1; nan < 2; nan++)
            for (int odd = 0; odd < 2; odd++) {
                const int64_t width = odd ? 33 : 36;
                sets_work w = {.operation = cases[i].operation,
                               .in = cases[i].in,
                               .out = cases[i].out,
                               .nan = (tess_nan)nan,
                               .sets = 3,
                               .k = i % 3 == 0   ? 5
                                    : i % 3 == 1 ? 13
                                                 : 16,
                               .width = width,
                               .between = odd ? i % 4 : 4,
                               .fill = 1 + nan};
                compare(&w, &random);
            }
}

static void every_address(void **state) {
    (void)state;
    static const sets_array arrays[] = {{tess_u8, 36, 5, 7}, {tess_f16, 34, 3, 19}, {tess_f32, 33, 3, 21}};
    sets_any_address(engine, "reduce/tree_few", TESS_SUM, false, arrays, TESS_COUNT(arrays));
    sets_any_address(engine, "reduce/tree_few", TESS_VAR, false, arrays, TESS_COUNT(arrays));
}

/* What the row is taken for; as measured. */
static void chosen(void **state) {
    (void)state;
    static const struct {
        tess_reduction operation;
        tess_type in, out;
        int64_t sets, k, width;
        const char *row;
    } cases[] = {{TESS_SUM, tess_f32, tess_f32, 1 << 12, 19, 4096, "tree_few"},     {TESS_SUM, tess_f32, tess_f32, 1 << 12, 19, 4095, "tree_few"},
                 {TESS_SUM, tess_f32, tess_f32, 1 << 16, 19, 8, "tree_few"},        {TESS_SUM, tess_f32, tess_f32, 1 << 16, 32, 8, "tree_patches"},
                 {TESS_SUM, tess_f32, tess_f32, 1 << 16, 8, 8, "tree_groups"},      {TESS_SUM, tess_f32, tess_f32, 1 << 12, 128, 4095, "tree_few"},
                 {TESS_SUM, tess_f32, tess_f32, 1 << 16, 19, 3, "tree_groups"},     {TESS_SUM, tess_f32, tess_f32, 1 << 12, 4, 4096, "tree_few"},
                 {TESS_SUM, tess_f32, tess_f32, 1 << 12, 4, 4095, "tree_groups"},   {TESS_SUM, tess_f32, tess_f32, 1, 19, 1000, "tree_groups"},
                 {TESS_PROD, tess_c64, tess_c64, 1 << 12, 19, 4095, "tree_few"},    {TESS_VAR, tess_f64, tess_f64, 1 << 12, 19, 4096, "tree_few"},
                 {TESS_VAR, tess_f32, tess_f32, 1 << 12, 64, 4095, "tree_few"},     {TESS_VAR, tess_f32, tess_f32, 1 << 12, 65, 4095, "tree_moments"},
                 {TESS_VAR, tess_f16, tess_f32, 1 << 12, 48, 4095, "tree_few"},     {TESS_VAR, tess_u8, tess_f64, 1 << 12, 12, 4096, "tree_few"},
                 {TESS_MAX, tess_f32, tess_f32, 1 << 12, 19, 4096, "tree_columns"}, {TESS_MAX, tess_f32, tess_f32, 1 << 12, 19, 4095, "tree_few"},
                 {TESS_MAX, tess_f32, tess_f32, 1 << 12, 8, 4096, "tree_few"},      {TESS_MAX, tess_u8, tess_u8, 1 << 12, 19, 4096, "tree_columns"},
                 {TESS_MAX, tess_u8, tess_u8, 1 << 12, 4, 4096, "tree_few"},        {TESS_MAX, tess_u8, tess_u8, 1 << 12, 8, 4095, "tree_few"}};
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

static void some_ran(void **state) {
    (void)state;
    assert_true(ran > 50);
    assert_true(engine == TESS_ENGINE_VIRTUAL || refused > 0); /* few are, and may be among those spared */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_length),  cmocka_unit_test(every_operation), cmocka_unit_test(every_type),
                                       cmocka_unit_test(every_address), cmocka_unit_test(chosen),          cmocka_unit_test(some_ran)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}
