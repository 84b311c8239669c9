/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_exact_columns_gpu.c - proves: reduce/exact_columns gives the reference's bytes: floats of every type to every kind of result, outputs that are a lane's and outputs that lanes and blocks
 * share, sets that lie anywhere; any bits, and sums that are hard to round beside others in a warp. On a card when there is one, else on the virtual GPU. */
#include "gpu_rows.h"
#include "hard_sums.h"
#include "vgpu/vgpu.h"

static tess_context *context;
static tess_engine engine;

typedef struct work {
    tess_reduction operation;
    tess_type in, out;
    tess_nan nan;
    int64_t sets, k, width;
    int64_t apart, row; /* elements between sets, and between rows */
    int fill;           /* of hostile_fill; 4: each column of a kind of hard_sums.h; 5: halves of a last place and what decides, in the third level */
} work;

static void compare(const work *w, uint64_t *random) {
    hostile_array memory, expected, out;
    const int64_t step = w->width + w->row, set = w->k * step + w->apart, all = w->sets * set;
    int64_t shape[] = {w->sets, w->k, w->width}, steps[] = {set, step, 1}, kept[] = {w->sets, w->width};
    const int axis = 1;
    hostile_make(&memory, random, w->in, 1, &all, HOSTILE_COMPACT);
    hostile_fill(&memory, random, w->fill >= 4 ? 1 : w->fill);
    for (int64_t i = 0; w->fill == 4 && i < w->sets * w->width; i++)
        hard_elements(&memory, i / w->width * set + i % w->width, step, w->k, (int)(i % HARD_SUMS), i % 3 ? 24 : 53, random);
    for (int64_t i = 0; w->fill == 5 && i < all; i++) {
        const int64_t row = i % set / step;
        *(double *)hostile_element(&memory, i) = row == 0 ? 1 : row == 1 ? 0x1p-53 : row == 2 ? (i % 3 ? 0x1p-100 : -0x1p-100) : 0;
    }
    const uint64_t again = *random;
    hostile_make(&expected, random, w->out, 2, kept, HOSTILE_STRIDED);
    DLTensor in = memory.tensor;
    in.ndim = 3;
    in.shape = shape;
    in.strides = steps;
    tess_reduce_options options = {.struct_size = sizeof options, .nan = w->nan, .exact = true, .axes = &axis, .naxes = 1};
    options.call.strategy = "reduce/reference";
    assert_tess_ok(tess_reduce(context, w->operation, &in, &expected.tensor, &options));
    uint64_t same = again; /* the layout of `expected` */
    hostile_make(&out, &same, w->out, 2, kept, HOSTILE_STRIDED);
    options.call = (tess_call){.engine = engine, .strategy = "reduce/exact_columns"};
    assert_tess_ok(tess_reduce(context, w->operation, &in, &out.tensor, &options));
    if (memcmp(out.block, expected.block, out.block_size))
        fail_msg("%s of %s to %s, %lld x %lld x %lld, gaps of %lld and %lld, fill %d", tess_reduction_name(w->operation), tess_type_name(w->in),
                 tess_type_name(w->out), (long long)w->sets, (long long)w->k, (long long)w->width, (long long)w->apart, (long long)w->row, w->fill);
    hostile_free(&out);
    hostile_free(&expected);
    hostile_free(&memory);
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
                work w = {kinds[i].operation, kinds[i].in, kinds[i].out, kinds[i].nan,       400 / width + 1,
                          lengths[l],         width,       n % 3 * 5,    n % 4 == 1 ? 3 : 0, fill};
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
                work w = {kinds[i].operation, kinds[i].in, kinds[i].out, kinds[i].nan,       1 + n % 2,
                          lengths[l],         width,       n % 3 * 5,    n % 4 == 1 ? 3 : 0, fill};
                compare(&w, &random);
            }
}

/* Of every lane of a warp, so that none wants digits. */
static void three_levels(void **state) {
    (void)state;
    uint64_t random = 4;
    static const int64_t lengths[] = {3, 16, 64, 300};
    for (int l = 0; l < TESS_COUNT(lengths); l++) {
        const work w = {TESS_SUM, tess_f64, tess_f64, TESS_NAN_PROPAGATE, 2, lengths[l], 200, 0, 0, 5};
        compare(&w, &random);
    }
}

static void hard_columns(void **state) {
    (void)state;
    uint64_t random = 3;
    static const int64_t lengths[] = {2, 8, 31, 64, 100, 700, 5000};
    for (int i = 0; i < TESS_COUNT(kinds); i++)
        for (int l = i % 2; l < TESS_COUNT(lengths) && kinds[i].in >= tess_f32; l += 2) {
            work w = {kinds[i].operation,
                      kinds[i].in,
                      kinds[i].out,
                      kinds[i].nan,
                      2,
                      lengths[l],
                      lengths[l] > 600 ? 2 * HARD_SUMS : 5 * HARD_SUMS,
                      0,
                      0,
                      4};
            compare(&w, &random);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(three_levels), cmocka_unit_test(lane_an_output), cmocka_unit_test(shared_outputs),
                                       cmocka_unit_test(hard_columns)};
    return gpu_test_main(&context, &engine, tests, TESS_COUNT(tests));
}
