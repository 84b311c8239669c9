/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_patches_gpu.c - proves: reduce/tree_patches gives the reference's bytes: widths from 1 to some hundred, sets that follow one another, with gaps and
 * between other axes, rows that vectors fit and do not fit, every operation and many types, NaNs of both policies. On a card when there is one, else on the virtual GPU. */
#include "gpu_rows.h"
#include "ops/reduce/reduce.h"

static tess_context *context;
static tess_engine engine;
static int ran, refused;

typedef struct work {
    tess_reduction operation;
    tess_type in, out;
    tess_nan nan;
    int64_t sets, k, width;
    int64_t between, behind; /* elements between sets, and behind each row */
    int fill;
} work;

static void compare(const work *w, uint64_t *random) {
    static int number;
    if (hostile_spared(number++, 4))
        return;
    hostile_array memory, expected, out;
    const int64_t step = w->width + w->behind, apart = w->k * step + w->between, all = w->sets * apart + 1;
    int64_t shape[] = {w->sets, w->k, w->width}, steps[] = {apart, step, 1}, kept[] = {w->sets, w->width};
    const int axis = 1;
    hostile_make(&memory, random, w->in, 1, &all, HOSTILE_COMPACT);
    hostile_fill(&memory, random, w->fill);
    const uint64_t again = *random;
    hostile_make(&expected, random, w->out, 2, kept, HOSTILE_STRIDED);
    DLTensor in = memory.tensor;
    in.ndim = 3;
    in.shape = shape;
    in.strides = steps;
    tess_reduce_options options = {.struct_size = sizeof options, .nan = w->nan, .ddof = 1, .axes = &axis, .naxes = 1};
    options.call.strategy = "reduce/reference";
    assert_tess_ok(tess_reduce(context, w->operation, &in, &expected.tensor, &options));
    for (int row = 0; row < 2; row++) {
        uint64_t same = again; /* the layout of `expected` */
        hostile_make(&out, &same, w->out, 2, kept, HOSTILE_STRIDED);
        options.call = (tess_call){.engine = engine, .strategy = row ? "reduce/tree_patches" : NULL};
        const tess_status status = tess_reduce(context, w->operation, &in, &out.tensor, &options);
        if (row && status == TESS_ERR_STRATEGY) {
            refused++;
        } else {
            assert_tess_ok(status);
            ran += row;
            if (memcmp(out.block, expected.block, out.block_size))
                fail_msg("%s: %s of %s to %s, %lld x %lld x %lld, gaps of %lld and %lld", row ? "tree_patches" : "the chosen row",
                         tess_reduction_name(w->operation), tess_type_name(w->in), tess_type_name(w->out), (long long)w->sets, (long long)w->k,
                         (long long)w->width, (long long)w->between, (long long)w->behind);
        }
        hostile_free(&out);
    }
    hostile_free(&expected);
    hostile_free(&memory);
}

static void every_shape(void **state) {
    (void)state;
    uint64_t random = 1;
    static const int64_t widths[] = {1, 3, 8, 31, 33, 64, 100, 256, 300}, lengths[] = {1, 2, 7, 16, 33, 64, 100, 200, 256};
    static const tess_type types[] = {tess_f32, tess_f64, tess_u8, tess_f16};
    for (int i = 0; i < TESS_COUNT(widths); i++)
        for (int l = 0; l < TESS_COUNT(lengths); l++) {
            const tess_type type = types[(i + l) % 7 == 0 ? 1 + i % 3 : 0];
            work w = {.operation = TESS_SUM,
                      .in = type,
                      .out = type == tess_u8 ? tess_u64 : type,
                      .sets = widths[i] > 60 ? 2 : 1 + 600 / (widths[i] * lengths[l]) + l % 3,
                      .k = lengths[l],
                      .width = widths[i],
                      .between = (i + l) % 3 == 1   ? 1
                                 : (i + l) % 3 == 2 ? widths[i] * 3
                                                    : 0,
                      .behind = l % 4 == 3 ? 1 + i % 4 : 0,
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
            work w = {.operation = (tess_reduction)operation,
                      .in = tess_f32,
                      .out = place ? tess_i64 : tess_f32,
                      .nan = (tess_nan)nan,
                      .sets = 4,
                      .k = nan ? 70 : 100,
                      .width = operation % 2 ? 33 : 9,
                      .behind = operation % 3 == 0 && operation % 2 ? 3 : 0,
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
            work w = {.operation = cases[i].operation,
                      .in = cases[i].in,
                      .out = cases[i].out,
                      .nan = (tess_nan)nan,
                      .sets = 3,
                      .k = i % 3 == 0   ? 13
                           : i % 3 == 1 ? 40
                                        : 130,
                      .width = i % 2 ? 36 : 11,
                      .between = i % 4,
                      .behind = i % 2 * 4,
                      .fill = 1 + nan};
            compare(&w, &random);
        }
}

/* Rows less than a vector apart, whose surroundings are more than the row before and the one behind: nothing beyond the array is read. */
static void close_rows(void **state) {
    (void)state;
    uint64_t random = 4;
    for (int i = 0; i < 12; i++) {
        work w = {.operation = i % 2 ? TESS_MAX : TESS_SUM,
                  .in = i % 3 == 2 ? tess_f16 : tess_u8,
                  .out = tess_f32,
                  .sets = 1 + i % 4,
                  .k = 2 + i % 5,
                  .width = i % 3 == 2 ? 3 + i % 4 : 5 + i % 8,
                  .between = i / 6,
                  .behind = 1 + i / 3 % 3,
                  .fill = 1};
        compare(&w, &random);
    }
}

static void some_ran(void **state) {
    (void)state;
    assert_true(ran > (TESS_SANITIZED ? 25 : 100) && refused > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_shape), cmocka_unit_test(every_operation), cmocka_unit_test(every_type),
                                       cmocka_unit_test(close_rows), cmocka_unit_test(some_ran)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}
