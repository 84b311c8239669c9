/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_rank1.c - that masks are split into 1-D factors exactly when that is exact, and that the split runs when and only when the header
 * says. */
#include "hostile.h"

#include <math.h>

#include "ops/correlate/correlate.h"

/* Whether the mask (f32, f64, i64 or u64) is found to be of rank 1; checks that the factors multiply to it then. */
static bool of_rank1(tess_type type, const void *weights, int ndim, const int64_t *shape) {
    tess_context *context = NULL;
    tess_correlate_mask mask = {.ndim = ndim, .taps = 1, .weights = (void *)(uintptr_t)weights}, factors[TESS_MAX_NDIM];
    int count;
    assert_tess_ok(tess_context_get(&context, NULL));
    for (int k = 0; k < ndim; k++) {
        mask.axes[k] = k;
        mask.shape[k] = shape[k];
        mask.taps *= shape[k];
    }
    assert_tess_ok(tess_correlate_rank1(context, &mask, type, factors, &count));
    if (count == 0)
        return false;
    for (int64_t i = 0; i < mask.taps; i++) {
        long double product = 1, want = 0; /* 64 bits of mantissa: exact for the masks below */
        int64_t rest = i, index[8];
        for (int k = ndim - 1; k >= 0; k--) {
            index[k] = rest % shape[k];
            rest /= shape[k];
        }
        for (int f = 0; f < count; f++) {
            const char *at = (const char *)factors[f].weights + (size_t)index[factors[f].axes[0]] * tess_type_size(type);
            tess_value v;
            memcpy(&v, at, tess_type_size(type));
            product *= type == tess_f32   ? (long double)v.f32
                       : type == tess_f64 ? (long double)v.f64
                       : type == tess_i64 ? (long double)v.i64
                                          : (long double)v.u64;
        }
        tess_value v;
        memcpy(&v, (const char *)weights + (size_t)i * tess_type_size(type), tess_type_size(type));
        want = type == tess_f32   ? (long double)v.f32
               : type == tess_f64 ? (long double)v.f64
               : type == tess_i64 ? (long double)v.i64
                                  : (long double)v.u64;
        assert_true(product == want);
    }
    for (int f = 0; f < count; f++)
        tess_free(context, factors[f].weights, factors[f].size);
    return true;
}
#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})
#define F32(...) ((const float[]){__VA_ARGS__})
#define F64(...) ((const double[]){__VA_ARGS__})
#define I64(...) ((const int64_t[]){__VA_ARGS__})
#define U64(...) ((const uint64_t[]){__VA_ARGS__})

static void floats(void **state) {
    (void)state;
    assert_true(of_rank1(tess_f32, F32(-1, 0, 1, -2, 0, 2, -1, 0, 1), 2, SHAPE(3, 3))); /* Sobel */
    assert_true(of_rank1(tess_f32, F32(.1f, .1f, .1f, .1f, .1f, .1f), 2, SHAPE(2, 3))); /* box, of a weight that is no dyadic fraction of few bits */
    assert_true(of_rank1(tess_f64, F64(1. / 16, 2. / 16, 1. / 16, 2. / 16, 4. / 16, 2. / 16, 1. / 16, 2. / 16, 1. / 16), 2, SHAPE(3, 3)));
    assert_true(of_rank1(tess_f32, F32(9, 15, 21, 15, 25, 35, 21, 35, 49), 2, SHAPE(3, 3))); /* 3 5 7: no division of floats finds it */
    assert_true(of_rank1(tess_f64, F64(0, 0, 0, 6, 0, 10, 9, 0, 15), 2, SHAPE(3, 3)));
    assert_true(of_rank1(tess_f64, F64(0x1p-1070, 0x1p-1060, 0x1p-1074, 0x1p-1064), 2, SHAPE(2, 2))); /* subnormal */
    assert_true(of_rank1(tess_f64, F64(1, 2, 2, 4, 3, 6, 6, 12), 3, SHAPE(2, 2, 2)));
    assert_true(of_rank1(tess_f64, F64(1, 2, 3, 2, 4, 6), 4, SHAPE(1, 2, 1, 3)));
    assert_false(of_rank1(tess_f64, F64(1, 2, 2, 4, 3, 6, 6, 13), 3, SHAPE(2, 2, 2)));
    assert_false(of_rank1(tess_f32, F32(0, 1, 0, 1, -4, 1, 0, 1, 0), 2, SHAPE(3, 3)));        /* Laplace */
    assert_false(of_rank1(tess_f32, F32(1, 2, 1, 2, 4.000001f, 2, 1, 2, 1), 2, SHAPE(3, 3))); /* one unit in the last place off */
    assert_false(of_rank1(tess_f64, F64(1, 2, 2, nextafter(4, 5)), 2, SHAPE(2, 2)));
    assert_false(of_rank1(tess_f64, F64(1, 2, 2, -4), 2, SHAPE(2, 2))); /* wrong sign */
    assert_false(of_rank1(tess_f64, F64(1, 2, 0, 4), 2, SHAPE(2, 2)));
    assert_false(of_rank1(tess_f32, F32(1, INFINITY, 1, INFINITY), 2, SHAPE(2, 2)));
    assert_false(of_rank1(tess_f32, F32(1, NAN, 1, NAN), 2, SHAPE(2, 2)));
    assert_false(of_rank1(tess_f32, F32(0, 0, 0, 0), 2, SHAPE(2, 2)));
    assert_false(of_rank1(tess_f32, F32(1, 2, 3), 2, SHAPE(1, 3))); /* one pass already */
    /* products of 24-bit factors are rounded in f32: the rounded product is of rank 2 */
    const float a = 16777213.0f, b = 16777199.0f;
    assert_false(of_rank1(tess_f32, F32(1, a, b, a * b), 2, SHAPE(2, 2)));
}

static void integers(void **state) {
    (void)state;
    assert_true(of_rank1(tess_i64, I64(6, -10, 9, -15), 2, SHAPE(2, 2)));
    assert_true(of_rank1(tess_i64, I64(12, 0, 18, 0), 2, SHAPE(2, 2)));
    assert_true(of_rank1(tess_u64, U64(UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX), 2, SHAPE(2, 2)));
    assert_true(of_rank1(tess_i64, I64(INT64_MIN, INT64_MIN / 2, INT64_MIN / 2, INT64_MIN / 4), 2, SHAPE(2, 2)));
    assert_false(of_rank1(tess_i64, I64(1, 2, 3, 7), 2, SHAPE(2, 2)));
    /* 2^32 * 2^32 = 0 modulo 2^64, but no product of integers */
    assert_false(of_rank1(tess_u64, U64(1, (uint64_t)1 << 32, (uint64_t)1 << 32, 0), 2, SHAPE(2, 2)));
    assert_false(of_rank1(tess_i64, I64(INT64_MAX, 1, 1, INT64_MAX), 2, SHAPE(2, 2)));
}

/* Random factors, multiplied out: found. One element changed by the least step: not found. */
static void random_products(void **state) {
    (void)state;
    uint64_t random = 11;
    for (int i = 0; i < 300; i++) {
        int64_t shape[3], f[3][6];
        double mask[216];
        int ndim = (int)hostile_between(&random, 2, 3), scale = (int)hostile_between(&random, -300, 200);
        int64_t taps = 1;
        for (int k = 0; k < 3; k++) {
            shape[k] = k < ndim ? hostile_between(&random, 2, 6) : 1;
            taps *= shape[k];
            for (int64_t x = 0; x < shape[k]; x++)
                f[k][x] = k < ndim ? hostile_between(&random, -65536, 65536) : 1;
            f[k][hostile_between(&random, 0, shape[k] - 1)] = 1 + 2 * hostile_between(&random, 0, 9);
        }
        for (int64_t t = 0; t < taps; t++) {
            int64_t z = t / (shape[1] * shape[2]), y = t / shape[2] % shape[1], x = t % shape[2];
            mask[t] = ldexp((double)(f[0][z] * f[1][y] * f[2][x]), scale);
        }
        assert_true(of_rank1(tess_f64, mask, ndim, shape));
        int64_t at = hostile_between(&random, 0, taps - 1);
        if (mask[at] != 0) {
            mask[at] = nextafter(mask[at], INFINITY);
            assert_false(of_rank1(tess_f64, mask, ndim, shape));
        }
    }
}

/* What the plan chose, as the report says. */
static void chosen(tess_type type, tess_type mask_type, const void *weights, tess_correlate_options options, const char *want, const char *in_key) {
    static char in[64 * 64 * 8], out[64 * 64 * 8], text[4096];
    int64_t shape[2] = {64, 64}, valid[2] = {58, 58}, mask_shape[2] = {7, 7};
    DLTensor i = tess_view(in, type, 2, shape, NULL), o = tess_view(out, type, 2, options.extent == TESS_EXTENT_VALID ? valid : shape, NULL),
             k = tess_view((void *)(uintptr_t)weights, mask_type, 2, mask_shape, NULL);
    const DLTensor *masks = &k;
    tess_report report = {.struct_size = sizeof report};
    tess_plan *plan;
    options.struct_size = sizeof options;
    assert_tess_ok(tess_plan_correlate(&plan, NULL, &i, &masks, 1, &o, &options));
    assert_tess_ok(tess_execute(plan, in, NULL, out, &(tess_call){.report = &report}));
    assert_string_equal(report.strategy, want);
    size_t length;
    assert_tess_ok(tess_explain(plan, TESS_TEXT, text, sizeof text, &length));
    assert_true((strstr(text, "rank-1") != NULL) == (in_key != NULL));
    tess_plan_free(plan);
}

static void when_it_runs(void **state) {
    (void)state;
    float box[49];
    int32_t ones[49];
    for (int i = 0; i < 49; i++) {
        box[i] = 1.0f / 49;
        ones[i] = 1;
    }
    chosen(tess_f32, tess_f32, box, (tess_correlate_options){0}, "correlate/window", NULL);
    chosen(tess_f32, tess_f32, box, (tess_correlate_options){.accuracy = TESS_ACCURACY_FAST}, "correlate/padded", "rank-1");
    chosen(tess_f32, tess_f32, box, (tess_correlate_options){.accuracy = TESS_ACCURACY_FAST, .boundary = TESS_BOUNDARY_CONSTANT, .constant = 1},
           "correlate/window", NULL);
    chosen(tess_f32, tess_f32, box,
           (tess_correlate_options){.accuracy = TESS_ACCURACY_FAST, .boundary = TESS_BOUNDARY_CONSTANT, .constant = 1, .extent = TESS_EXTENT_VALID},
           "correlate/padded", "rank-1");
    chosen(tess_i64, tess_i32, ones, (tess_correlate_options){.call.strategy = "correlate/separable"}, "correlate/separable", "rank-1");
    ones[3] = 2;
    chosen(tess_i64, tess_i32, ones, (tess_correlate_options){0}, "correlate/rows", NULL);
    box[3] = 1;
    chosen(tess_f32, tess_f32, box, (tess_correlate_options){.accuracy = TESS_ACCURACY_FAST}, "correlate/window", NULL);
}

int main(void) {
    setenv("TESSERA_WISDOM", "/dev/null", 1); /* the table's own choice is what is tested */
    unsetenv("TESSERA_STRATEGY");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats),
        cmocka_unit_test(integers),
        cmocka_unit_test(random_products),
        cmocka_unit_test(when_it_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
