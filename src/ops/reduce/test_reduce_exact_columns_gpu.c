/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_exact_columns_gpu.c - proves: reduce/exact_columns and reduce/exact_sure give the reference's bytes: floats of every type to every kind of result, outputs that are a lane's and outputs that lanes and blocks
 * share, sets that lie anywhere; any bits, and sums that are hard to round beside others in a warp. On a card when there is one, else on the virtual GPU. */
#include <math.h>

#include "hard_sums.h"
#include "reduce_sets.h"

static tess_context *context;
static tess_engine engine;

/* fill 4: each column of a kind of hard_sums.h; 5: halves of a last place and what decides, in the third level; of made_value 6: some columns cancel to what lies far below; 7: halves of
 * a last place, and what decides in the last row; 8: levels as full as they get; n, above: what decides is what many numbers have below 2^-n; 200 + n: of 60
 * numbers nearly all that can be below. */
static double made_value(const sets_work *w, int64_t column, int64_t row) {
    const bool wide = w->in == tess_f64;
    const double half = wide ? 0x1p-53 : 0x1p-24, sign = column % 3 ? 1 : -1, unit = ldexp(1, -(w->fill % 200));
    switch (w->fill) {
    case 6:
        if (column % 3 == 0)
            return (double)row;
        if (row >= w->k / 2 * 2 || row / 2 == w->k / 3)
            return (double)(row + 1) * -0x1p-120;
        return (double)(row / 2 % 7 + 1) * (row % 2 ? -0x1p90 : 0x1p90);
    case 7: return row == 0 ? 1 : row == 1 ? half : row == w->k - 1 ? sign * (wide ? 0x1p-300 : 0x1p-149) : 0;
    case 8: return sign * (row < (w->k > 64 ? 2100 : 8) ? 1 : 8 - (double)(row % 1000 * 2 + 1) * (wide ? 0x1p-50 : 0x1p-21));
    }
    if (w->fill >= 200)
        return row == 0 ? 1 : row == 1 ? half : row == 2 ? -25 * unit : 0x1.fp-2 * unit;
    return row == 0 ? 1 : row == 1 ? half : row == 2 ? -8 * unit : row < 60 ? 0x1.9p-2 * unit : 0;
}

static void compare(const sets_work *w, uint64_t *random) {
    static int number;
    if (gpu_test_spared(engine, number++, 7, 12))
        return;
    sets_case c;
    sets_begin(&c, w, random);
    for (int64_t i = 0; w->fill == 4 && i < w->sets * w->width; i++)
        hard_elements(&c.memory, i / w->width * sets_step(w) + i % w->width, sets_row(w), w->k, (int)(i % HARD_SUMS), i % 3 ? 24 : 53, random);
    for (int64_t i = 0, all = hostile_count(&c.memory); w->fill == 5 && i < all; i++) {
        const int64_t row = i % sets_step(w) / sets_row(w);
        *(double *)hostile_element(&c.memory, i) = row == 0 ? 1 : row == 1 ? 0x1p-53 : row == 2 ? (i % 3 ? 0x1p-100 : -0x1p-100) : 0;
    }
    for (int64_t i = 0; w->fill >= 6 && i < w->sets * w->k * w->width; i++) {
        const int64_t column = i % w->width, row = i / w->width % w->k;
        const double value = made_value(w, column, row);
        char *at = hostile_element(&c.memory, i / w->width / w->k * sets_step(w) + row * sets_row(w) + column);
        if (w->in == tess_f64)
            memcpy(at, &value, 8);
        else
            memcpy(at, &(float){(float)value}, 4);
    }
    c.options.exact = true;
    sets_expect(&c, context, random);
    if (!tess_is_complex(w->in) && w->width > 1 && w->fill < 8)
        assert_true(sets_same(&c, context, engine, "reduce/exact_columns"));
    assert_true(sets_same(&c, context, engine, "reduce/exact_sure"));
    if (w->width == 1)
        assert_true(sets_same(&c, context, engine, "reduce/exact_rows"));
    sets_end(&c);
}

static const struct {
    tess_reduction operation;
    tess_type in, out;
    tess_nan nan;
} kinds[] = {{TESS_SUM, tess_f32, tess_f32, TESS_NAN_PROPAGATE},   {TESS_SUM, tess_f64, tess_f64, TESS_NAN_PROPAGATE},
             {TESS_SUM, tess_f16, tess_f16, TESS_NAN_PROPAGATE},   {TESS_MEAN, tess_f32, tess_f32, TESS_NAN_OMIT},
             {TESS_SUM, tess_bf16, tess_f32, TESS_NAN_PROPAGATE},  {TESS_MEAN, tess_f64, tess_f64, TESS_NAN_OMIT},
             {TESS_NORM1, tess_f16, tess_f64, TESS_NAN_OMIT},      {TESS_SUM, tess_f64, tess_f32, TESS_NAN_OMIT},
             {TESS_MEAN, tess_bf16, tess_bf16, TESS_NAN_OMIT},     {TESS_SUM, tess_f64, tess_bf16, TESS_NAN_PROPAGATE},
             {TESS_SUM, tess_f32, tess_c64, TESS_NAN_PROPAGATE},   {TESS_MEAN, tess_f16, tess_f32, TESS_NAN_PROPAGATE},
             {TESS_NORM1, tess_f64, tess_f64, TESS_NAN_PROPAGATE}, {TESS_SUM, tess_f64, tess_i32, TESS_NAN_PROPAGATE},
             {TESS_SUM, tess_f32, tess_f64, TESS_NAN_OMIT},        {TESS_SUM, tess_c64, tess_c64, TESS_NAN_PROPAGATE},
             {TESS_MEAN, tess_c128, tess_c128, TESS_NAN_PROPAGATE}};

/* A lane an output: strips cut and whole, sets narrower than a warp. */
static void lane_an_output(void **state) {
    (void)state;
    uint64_t random = 1;
    static const int64_t lengths[] = {1, 7, 8, 9, 16, 33, 64}, widths[] = {2, 3, 33, 64, 300};
    int n = 0;
    for (int i = 0; i < TESS_COUNT(kinds); i++)
        for (int l = i % 2; l < TESS_COUNT(lengths); l += 2, n++)
            for (int fill = 1; fill <= 2; fill++) {
                const int64_t width = widths[n % 5];
                sets_work w = {.operation = kinds[i].operation,
                               .in = kinds[i].in,
                               .out = kinds[i].out,
                               .nan = kinds[i].nan,
                               .sets = 400 / width + 1,
                               .k = lengths[l],
                               .width = width,
                               .row = width + (n % 4 == 1 ? 3 : 0),
                               .between = n % 3 * 5 + (n % 4 == 1 ? 3 : 0),
                               .fill = fill};
                compare(&w, &random);
            }
}

/* Columns of a block beside rows, with threads that have none; blocks that share rows; levels that are opened again and again. */
static void shared_outputs(void **state) {
    (void)state;
    uint64_t random = 2;
    static const int64_t lengths[] = {65, 130, 1000, 3001, 20000}, widths[] = {2, 3, 33, 128, 257, 20};
    int n = 0;
    for (int i = 0; i < TESS_COUNT(kinds); i++)
        for (int l = i % 2; l < TESS_COUNT(lengths); l += 2, n++)
            for (int fill = 1; fill <= 2; fill++) {
                const int64_t width = lengths[l] > 4000 ? 3 + n % 2 : widths[n % 6];
                sets_work w = {.operation = kinds[i].operation,
                               .in = kinds[i].in,
                               .out = kinds[i].out,
                               .nan = kinds[i].nan,
                               .sets = 1 + n % 2,
                               .k = lengths[l],
                               .width = width,
                               .row = width + (n % 4 == 1 ? 3 : 0),
                               .between = n % 3 * 5 + (n % 4 == 1 ? 3 : 0),
                               .fill = fill};
                compare(&w, &random);
            }
}

/* Of every lane of a warp, so that none wants digits. */
static void three_levels(void **state) {
    (void)state;
    uint64_t random = 4;
    static const int64_t lengths[] = {3, 16, 64, 300};
    for (int l = 0; l < TESS_COUNT(lengths); l++) {
        const sets_work w = {.operation = TESS_SUM, .in = tess_f64, .out = tess_f64, .sets = 2, .k = lengths[l], .width = 200, .fill = 5};
        compare(&w, &random);
    }
}

static void hard_columns(void **state) {
    (void)state;
    uint64_t random = 3;
    static const int64_t lengths[] = {2, 8, 31, 64, 100, 700, 5000};
    for (int i = 0; i < TESS_COUNT(kinds); i++)
        for (int l = i % 2; l < TESS_COUNT(lengths) && kinds[i].in >= tess_f32; l += 2) {
            sets_work w = {.operation = kinds[i].operation,
                           .in = kinds[i].in,
                           .out = kinds[i].out,
                           .nan = kinds[i].nan,
                           .sets = 2,
                           .k = lengths[l],
                           .width = lengths[l] > 600 ? 2 * HARD_SUMS : 5 * HARD_SUMS,
                           .fill = 4};
            compare(&w, &random);
        }
}

/* What levels alone cannot know: columns of many blocks, and of lanes. */
static void cancelled_columns(void **state) {
    (void)state;
    uint64_t random = 5;
    static const int64_t shapes[][3] = {{2, 64, 300}, {3, 7, 100},   {2, 3001, 40}, {1, 20000, 3},
                                        {1, 9000, 1}, {2, 40001, 1}, {1, 700, 257}, {1, 1100000, 1}};
    for (int i = 0; i < TESS_COUNT(shapes); i++)
        for (int type = 0; type < 6; type++) {
            const sets_work w = {.operation = TESS_SUM,
                                 .in = type % 2 ? tess_f32 : tess_f64,
                                 .out = type % 2 ? tess_f32 : tess_f64,
                                 .sets = shapes[i][0],
                                 .k = shapes[i][1],
                                 .width = shapes[i][2],
                                 .between = i % 2 * 4,
                                 .fill = 6 + type / 2};
            compare(&w, &random);
        }
}

/* What many numbers have below the last level, wherever it lies. */
static void forgotten(void **state) {
    (void)state;
    uint64_t random = 8;
    for (int unit = 90; unit < 140; unit++)
        for (int type = 0; type < 4; type++) {
            const tess_type in = type % 2 ? tess_f32 : tess_f64;
            const sets_work w = {.operation = TESS_SUM, .in = in, .out = in, .sets = 1, .k = type / 2 ? 700 : 64, .width = 40, .fill = unit};
            compare(&w, &random);
        }
    for (int unit = 90; unit < 140; unit++) {
        const sets_work w = {.operation = TESS_SUM, .in = tess_f64, .out = tess_f64, .sets = 1, .k = 60, .width = 40, .fill = 200 + unit};
        compare(&w, &random);
    }
}

/* Rows whose elements follow one another: blocks that share a row, and threads without an element. */
static void long_rows(void **state) {
    (void)state;
    uint64_t random = 6;
    static const int64_t lengths[] = {65, 257, 4096, 20001, 60000};
    int n = 0;
    for (int i = 0; i < TESS_COUNT(kinds); i++)
        for (int l = i % 2; l < TESS_COUNT(lengths); l += 2)
            for (int fill = 1; fill <= (kinds[i].in >= tess_f32 ? 3 : 2); fill++, n++) {
                const sets_work w = {.operation = kinds[i].operation,
                                     .in = kinds[i].in,
                                     .out = kinds[i].out,
                                     .nan = kinds[i].nan,
                                     .sets = lengths[l] > 5000 ? 1 : 7,
                                     .k = lengths[l],
                                     .width = 1,
                                     .between = n % 2 * 3,
                                     .fill = fill == 3 ? 4 : fill};
                compare(&w, &random);
            }
}

/* Of 16-bit floats a lane has two columns, in words or not. */
static void any_begin(void **state) {
    (void)state;
    static const sets_array arrays[] = {{tess_f16, 64, 1, 3001}, {tess_bf16, 64, 1, 3001}, {tess_f16, 34, 90, 9}, {tess_bf16, 34, 90, 9}};
    sets_any_address(engine, "reduce/exact_sure", TESS_SUM, true, arrays, TESS_COUNT(arrays));
}

/* Levels alone from some size on; less, and rows of less than some ten million, have no time for three launches. */
static void chosen(void **state) {
    (void)state;
    static const struct {
        tess_type type;
        tess_nan nan;
        int64_t sets, k, width;
        const char *row;
    } cases[] = {{tess_f64, TESS_NAN_PROPAGATE, 1, 2048, 4096, "exact_sure"},  {tess_f64, TESS_NAN_PROPAGATE, 1, 1000, 100, "exact_columns"},
                 {tess_f16, TESS_NAN_OMIT, 100, 1000, 256, "exact_sure"},      {tess_f32, TESS_NAN_PROPAGATE, 1, 1 << 28, 1, "exact_sure"},
                 {tess_f64, TESS_NAN_PROPAGATE, 1, 1 << 28, 1, "exact_sure"},  {tess_f64, TESS_NAN_PROPAGATE, 100, 20000, 1, "exact_blocks"},
                 {tess_f64, TESS_NAN_PROPAGATE, 1000, 20000, 1, "exact_rows"}, {tess_f64, TESS_NAN_PROPAGATE, 10000, 1000, 1, "exact_short"},
                 {tess_c64, TESS_NAN_PROPAGATE, 1, 3000, 1000, "exact_sure"},  {tess_c64, TESS_NAN_OMIT, 1, 3000, 1000, "exact_blocks"},
                 {tess_c128, TESS_NAN_PROPAGATE, 1, 1 << 28, 1, "exact_sure"}, {tess_i64, TESS_NAN_PROPAGATE, 1, 3000, 1000, "exact_blocks"}};
    const int axis = 1;
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        const tess_type type = cases[i].type;
        int64_t shape[] = {cases[i].sets, cases[i].k, cases[i].width}, kept[] = {cases[i].sets, cases[i].width};
        tess_plan *plan;
        const DLTensor in = tess_view(NULL, type, 3, shape, NULL), out = tess_view(NULL, type == tess_i64 ? tess_f64 : type, 2, kept, NULL);
        const tess_reduce_options options = {
            .struct_size = sizeof options, .nan = cases[i].nan, .exact = true, .axes = &axis, .naxes = 1, .call = {.engine = engine}};
        assert_tess_ok(tess_plan_reduce(&plan, context, type == tess_i64 ? TESS_MEAN : TESS_SUM, &in, &out, &options));
        gpu_test_chosen(plan, cases[i].row, i);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(three_levels), cmocka_unit_test(lane_an_output),    cmocka_unit_test(shared_outputs),
                                       cmocka_unit_test(hard_columns), cmocka_unit_test(cancelled_columns), cmocka_unit_test(forgotten),
                                       cmocka_unit_test(long_rows),    cmocka_unit_test(any_begin),         cmocka_unit_test(chosen)};
    unsetenv("TESSERA_UNOPTIMISED"); /* the suite's: without optimising, structures are copied with their padding, which nothing writes */
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}
