/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_patches_gpu.c - proves: reduce/tree_patches gives the reference's bytes: widths from 1 to some hundred, sets that follow one another, with gaps and
 * between other axes, rows that vectors fit and do not fit, every operation and many types, NaNs of both policies. On a card when there is one, else on the virtual GPU. */
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
    assert_true(sets_same(&c, context, engine, NULL));
    if (sets_same(&c, context, engine, "reduce/tree_patches"))
        ran++;
    else
        refused++;
    sets_end(&c);
}

static void every_shape(void **state) {
    (void)state;
    uint64_t random = 1;
    static const int64_t widths[] = {1, 3, 8, 31, 33, 64, 100, 256, 300}, lengths[] = {1, 2, 7, 16, 33, 64, 100, 200, 256};
    static const tess_type types[] = {tess_f32, tess_f64, tess_u8, tess_f16};
    for (int i = 0; i < TESS_COUNT(widths); i++)
        for (int l = 0; l < TESS_COUNT(lengths); l++) {
            const tess_type type = types[(i + l) % 7 == 0 ? 1 + i % 3 : 0];
            const int64_t gap = l % 4 == 3 ? 1 + i % 4 : 0, apart[] = {0, 1, widths[i] * 3};
            sets_work w = {.operation = TESS_SUM,
                           .in = type,
                           .out = type == tess_u8 ? tess_u64 : type,
                           .sets = widths[i] > 60 ? 2 : 1 + 600 / (widths[i] * lengths[l]) + l % 3,
                           .k = lengths[l],
                           .width = widths[i],
                           .row = widths[i] + gap,
                           .between = gap + apart[(i + l) % 3],
                           .fill = 1};
            compare(&w, &random);
        }
}

static void every_operation(void **state) {
    (void)state;
    uint64_t random = 2;
    for (int operation = TESS_SUM; operation <= TESS_NORM_INF; operation++)
        for (int nan = 0; nan < 2; nan++) {
            const bool place = operation == TESS_ARGMIN || operation == TESS_ARGMAX;
            const int64_t width = operation % 2 ? 33 : 9, gap = operation % 3 == 0 && operation % 2 ? 3 : 0;
            sets_work w = {.operation = (tess_reduction)operation,
                           .in = tess_f32,
                           .out = place ? tess_i64 : tess_f32,
                           .nan = (tess_nan)nan,
                           .sets = 4,
                           .k = nan ? 70 : 100,
                           .width = width,
                           .row = width + gap,
                           .between = gap,
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
                 {TESS_COUNT_NONZERO, tess_i8, tess_i64}, {TESS_SUM, tess_c64, tess_c64},   {TESS_MEAN, tess_c128, tess_c64},
                 {TESS_PROD, tess_c64, tess_c128},        {TESS_NORM1, tess_c64, tess_f32}, {TESS_NORM_INF, tess_c64, tess_f32}};
    for (int i = 0; i < TESS_COUNT(cases); i++)
        for (int nan = tess_is_complex(cases[i].in) ? 0 : 1; nan < 2; nan++) {
            const int64_t width = i % 2 ? 36 : 11, gap = i % 2 * 4;
            sets_work w = {.operation = cases[i].operation,
                           .in = cases[i].in,
                           .out = cases[i].out,
                           .nan = (tess_nan)nan,
                           .sets = 3,
                           .k = i % 3 == 0   ? 13
                                : i % 3 == 1 ? 40
                                             : 130,
                           .width = width,
                           .row = width + gap,
                           .between = gap + i % 4,
                           .fill = 1 + nan};
            compare(&w, &random);
        }
}

/* Complex elements, whose number the kernel knows: all lanes of a thread, some, one that not all threads have; as runs and as rows, strips that are not full. */
static void complex_lengths(void **state) {
    (void)state;
    uint64_t random = 5;
    static const int64_t lengths[] = {1, 37, 65, 100, 129, 255, 256};
    for (int i = 0; i < 4 * TESS_COUNT(lengths); i++) {
        const tess_type type = i % 2 ? tess_c128 : tess_c64;
        sets_work w = {.operation = i / 2 % 2 ? TESS_PROD : TESS_SUM,
                       .in = type,
                       .out = type,
                       .nan = (tess_nan)(i / 4 % 2),
                       .sets = 2,
                       .k = lengths[i / 4],
                       .width = i % 3 ? 71 : 5,
                       .row = i % 3 ? 71 : 5,
                       .between = i % 5 / 4,
                       .fill = 1 + i / 4 % 2};
        compare(&w, &random);
    }
}

/* Rows less than a vector apart, whose surroundings are more than the row before and the one behind: nothing beyond the array is read. */
static void close_rows(void **state) {
    (void)state;
    uint64_t random = 4;
    for (int i = 0; i < 12; i++) {
        const int64_t width = i % 3 == 2 ? 3 + i % 4 : 5 + i % 8, gap = 1 + i / 3 % 3;
        sets_work w = {.operation = i % 2 ? TESS_MAX : TESS_SUM,
                       .in = i % 3 == 2 ? tess_f16 : tess_u8,
                       .out = tess_f32,
                       .sets = 1 + i % 4,
                       .k = 2 + i % 5,
                       .width = width,
                       .row = width + gap,
                       .between = gap + i / 6,
                       .fill = 1};
        compare(&w, &random);
    }
}

static void some_ran(void **state) {
    (void)state;
    assert_true(ran > 30 && refused > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_shape),     cmocka_unit_test(every_operation), cmocka_unit_test(every_type),
                                       cmocka_unit_test(complex_lengths), cmocka_unit_test(close_rows),      cmocka_unit_test(some_ran)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}
