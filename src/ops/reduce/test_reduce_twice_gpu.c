/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_twice_gpu.c - proves: reduce/tree_twice gives the reference's bytes: types of two bytes and more, leaves that are whole, short and of less elements than lanes, sets that begin and end within vectors, classes that are not full, blocks
 * that wait for what others leave, nothing read around an array; and where the row is chosen. On a card when there is one, else on the virtual GPU. */
#include "ops/reduce/reduce.h"
#include "reduce_sets.h"

static tess_context *context;
static tess_engine engine;
static int ran;
static const char *const name = "reduce/tree_twice";

static void compare(const sets_work *w, uint64_t *random) {
    static int number;
    sets_case c;
    if (gpu_test_spared(engine, number++, 3, 6))
        return;
    sets_begin(&c, w, random);
    sets_expect(&c, context, random);
    if (!sets_same(&c, context, engine, name))
        fail_msg("%s refuses %lld x %lld of %s", name, (long long)w->k, (long long)w->width, tess_type_name(w->in));
    ran++;
    sets_end(&c);
}

static const tess_type types[] = {tess_f32, tess_f64, tess_f16, tess_bf16, tess_i16, tess_u16, tess_i32, tess_u32, tess_i64, tess_u64};

/* Widths whose classes are full and are not, lengths from one element to several leaves; sets that follow one another, so that most begin within a vector, and that lie apart. */
static void every_shape(void **state) {
    (void)state;
    uint64_t random = 1;
    static const int64_t widths[] = {2, 3, 5, 16, 17, 33, 34, 100, 201}, lengths[] = {2, 7, 255, 257, 1000, 4096, 8191, 8192, 8193, 10000, 20001};
    for (int i = 0; i < TESS_COUNT(widths); i++)
        for (int l = 0; l < TESS_COUNT(lengths); l++) {
            const int64_t elements = widths[i] * lengths[l];
            if (elements > 350000)
                continue;
            sets_work w = {.operation = (i + l) % 4 ? TESS_VAR : TESS_STD,
                           .in = types[(i + 3 * l) % TESS_COUNT(types)],
                           .out = l % 2 ? tess_f64 : tess_f32,
                           .outer = l % 5 == 0 ? 2 : 1,
                           .sets = 1 + tess_min64(20000 / elements, 12),
                           .k = lengths[l],
                           .width = widths[i],
                           .between = (i + l) % 3 * (i % 2 ? 1 : 16),
                           .apart = l % 2,
                           .from = (2 * i + l) % 4,
                           .fill = (i + l) % 4 == 2 ? 1 : 0};
            compare(&w, &random);
        }
}

static void by_chance(void **state) {
    (void)state;
    uint64_t random = 2;
    for (int i = 0; i < 60; i++) {
        const int64_t width = hostile_between(&random, 2, i % 3 ? 40 : 400), k = hostile_between(&random, 1, (i % 8 ? 20000 : 90000 * 4) / width);
        const tess_type type = types[hostile_between(&random, 0, TESS_COUNT(types) - 1)];
        const sets_work w = {.operation = i % 5 ? TESS_VAR : TESS_STD,
                             .in = type,
                             .out = i % 2              ? tess_f64
                                    : type == tess_f16 ? tess_f16
                                                       : tess_f32,
                             .outer = hostile_between(&random, 1, 2),
                             .sets = hostile_between(&random, 1, 5),
                             .k = k,
                             .width = width,
                             .between = hostile_between(&random, 0, 1) * hostile_between(&random, 0, 17),
                             .apart = hostile_between(&random, 0, 3),
                             .from = hostile_between(&random, 0, 15),
                             .fill = (int)hostile_between(&random, 0, 1)};
        compare(&w, &random);
    }
}

/* The greatest halves, whose sums have 53 bits, also with one infinity in each half of a word. */
static void greatest(void **state) {
    (void)state;
    uint64_t random = 9;
    static const sets_work works[] = {{TESS_VAR, tess_f16, tess_f64, TESS_NAN_PROPAGATE, 1, 2, 8192, 12, 0, 0, 0, 0, 3},
                                      {TESS_VAR, tess_f16, tess_f64, TESS_NAN_PROPAGATE, 1, 2, 2501, 33, 0, 0, 0, 1, 3}};
    for (int i = 0; i < TESS_COUNT(works); i++)
        for (int odd = -1; odd < 2; odd++) { /* -1: no infinity */
            sets_case c;
            sets_begin(&c, &works[i], &random);
            uint16_t *at = (uint16_t *)((char *)c.memory.tensor.data + c.memory.tensor.byte_offset);
            for (int64_t e = 0; e < c.memory.tensor.shape[0]; e++)
                at[e] = e % 1000 ? 0x7bff : 1;
            if (odd >= 0)
                at[100 * works[i].width + odd] = 0x7c00;
            sets_expect(&c, context, &random);
            assert_true(sets_same(&c, context, engine, name));
            ran++;
            sets_end(&c);
        }
}

/* More leaves than a device begins at a time, so that second looks come between first ones of other leaves and of other sets. */
static void in_turns(void **state) {
    (void)state;
    tess_gpu *gpu;
    uint64_t random = 6;
    if (engine != TESS_ENGINE_VIRTUAL)
        return;
    assert_tess_ok(tess_gpu_get_engine(&gpu, context, engine));
    const int sms = gpu->devices->sms;
    gpu->devices->sms = 1;
    static const sets_work works[] = {{TESS_VAR, tess_f32, tess_f64, TESS_NAN_PROPAGATE, 1, 4, 10000, 9, 0, 0, 0, 0, 0},
                                      {TESS_VAR, tess_f64, tess_f64, TESS_NAN_PROPAGATE, 1, 3, 8200, 7, 0, 1, 0, 1, 0},
                                      {TESS_STD, tess_f16, tess_f32, TESS_NAN_PROPAGATE, 2, 3, 9000, 10, 0, 0, 3, 0, 0},
                                      {TESS_VAR, tess_u16, tess_f64, TESS_NAN_PROPAGATE, 1, 2, 20000, 19, 0, 0, 0, 3, 1},
                                      {TESS_VAR, tess_bf16, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 2049 * 8192 / 8 + 77, 2, 0, 0, 0, 0, 0}};
    for (int i = 0; i < TESS_COUNT(works); i++)
        compare(&works[i], &random);
    gpu->devices->sms = sms;
}

static void any_address(void **state) {
    (void)state;
    static const sets_array arrays[] = {
        {tess_u16, 5, 2, 301},   {tess_f16, 7, 2, 301},  {tess_f32, 3, 2, 301}, {tess_f64, 3, 2, 301},
        {tess_i16, 33, 1, 8193}, {tess_i16, 16, 2, 512}, {tess_f32, 4, 5, 301} /* no vector of which is cut, where addresses allow it; else another row */};
    sets_any_address(engine, NULL, TESS_VAR, false, arrays, TESS_COUNT(arrays) - 1);
    sets_any_address(engine, name, TESS_VAR, false, arrays, TESS_COUNT(arrays));
}

/* What it does not take. */
static void refused(void **state) {
    (void)state;
    uint64_t random = 7;
    static const sets_work works[] = {{TESS_VAR, tess_f32, tess_f64, TESS_NAN_OMIT, 1, 1, 300, 5, 0, 0, 0, 0, 2},
                                      {TESS_VAR, tess_f32, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 300, 5, 6, 0, 0, 0, 0},
                                      {TESS_VAR, tess_f32, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 300, 5, -5, 0, 0, 0, 0},
                                      {TESS_VAR, tess_u8, tess_f64, TESS_NAN_PROPAGATE, 1, 1, 300, 5, 0, 0, 0, 0, 0}};
    for (int i = 0; i < TESS_COUNT(works); i++) {
        sets_case c;
        sets_begin(&c, &works[i], &random);
        sets_expect(&c, context, &random);
        assert_false(sets_same(&c, context, engine, name));
        sets_end(&c);
    }
}

static void chosen(void **state) {
    (void)state;
    static const struct {
        tess_type type;
        int64_t sets, k, width;
        const char *row;
    } cases[] = {
        {tess_f32, 813, 10000, 33, "tree_twice"},    {tess_f64, 406, 10000, 33, "tree_twice"},      {tess_f16, 1626, 10000, 33, "tree_twice"},
        {tess_f32, 268, 10000, 100, "tree_moments"}, {tess_f16, 1578, 10000, 34, "tree_moments"},   {tess_u8, 3252, 10000, 33, "tree_moments"},
        {tess_f32, 26, 10000, 1024, "tree_moments"}, {tess_f32, 1 << 14, 1000, 33, "tree_moments"}, {tess_f32, 1, 10000, 33, "tree_moments"}};
    const int axis = 1;
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        int64_t shape[] = {cases[i].sets, cases[i].k, cases[i].width}, kept[] = {cases[i].sets, cases[i].width};
        tess_plan *plan;
        const DLTensor in = tess_view(NULL, cases[i].type, 3, shape, NULL), out = tess_view(NULL, tess_f64, 2, kept, NULL);
        const tess_reduce_options options = {.struct_size = sizeof options, .axes = &axis, .naxes = 1, .call = {.engine = engine}};
        assert_tess_ok(tess_plan_reduce(&plan, context, TESS_VAR, &in, &out, &options));
        gpu_test_chosen(plan, cases[i].row, i);
    }
}

static void all_ran(void **state) {
    (void)state;
    assert_true(ran > (TESS_SANITIZED ? 20 : 40));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_shape), cmocka_unit_test(by_chance),   cmocka_unit_test(greatest),
                                       cmocka_unit_test(in_turns),    cmocka_unit_test(any_address), cmocka_unit_test(refused),
                                       cmocka_unit_test(chosen),      cmocka_unit_test(all_ran)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}
