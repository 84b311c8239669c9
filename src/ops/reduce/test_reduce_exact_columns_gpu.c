/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_exact_columns_gpu.c - proves: reduce/exact_columns gives the reference's bytes: floats of every type to every kind of result, outputs that are a lane's and outputs that lanes and blocks
 * share, sets that lie anywhere; any bits, and sums that are hard to round beside others in a warp. On a card when there is one, else on the virtual GPU. */
#include "hard_sums.h"
#include "reduce_sets.h"

static tess_context *context;
static tess_engine engine;

/* fill 4: each column of a kind of hard_sums.h; 5: halves of a last place and what decides, in the third level */
static void compare(const sets_work *w, uint64_t *random) {
    sets_case c;
    sets_begin(&c, w, random);
    for (int64_t i = 0; w->fill == 4 && i < w->sets * w->width; i++)
        hard_elements(&c.memory, i / w->width * sets_step(w) + i % w->width, sets_row(w), w->k, (int)(i % HARD_SUMS), i % 3 ? 24 : 53, random);
    for (int64_t i = 0, all = hostile_count(&c.memory); w->fill == 5 && i < all; i++) {
        const int64_t row = i % sets_step(w) / sets_row(w);
        *(double *)hostile_element(&c.memory, i) = row == 0 ? 1 : row == 1 ? 0x1p-53 : row == 2 ? (i % 3 ? 0x1p-100 : -0x1p-100) : 0;
    }
    c.options.exact = true;
    sets_expect(&c, context, random);
    assert_true(sets_same(&c, context, engine, "reduce/exact_columns"));
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
             {TESS_SUM, tess_f32, tess_f64, TESS_NAN_OMIT}};

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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(three_levels), cmocka_unit_test(lane_an_output), cmocka_unit_test(shared_outputs),
                                       cmocka_unit_test(hard_columns)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}
