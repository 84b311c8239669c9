/* SPDX-License-Identifier: Apache-2.0
 * test_reduce_cases.c - hand-computed results of every operation, empty reductions, NaN policies, segments, sums of billions, exact sums, and the
 * errors with their sentences. Each case runs on every row that can. */
#include "hostile.h"

#include <math.h>

#include "ops/reduce/reduce.h"

static tess_status run(tess_reduction operation, DLTensor in, DLTensor out, tess_reduce_options options) {
    options.struct_size = sizeof options;
    return tess_reduce(NULL, operation, &in, &out, &options);
}

/* A whole array to one f64, by all rows, which must agree. */
static double whole(tess_reduction operation, tess_type type, const void *data, int64_t n, tess_reduce_options options) {
    double result = 0;
    bool first = true;
    for (int r = 0; r < tess_reduce_op.count; r++) {
        double value = -77;
        options.call.strategy = tess_reduce_op.rows[r].name;
        tess_status status =
            run(operation, tess_view((void *)(uintptr_t)data, type, 1, &n, NULL), tess_view(&value, tess_f64, 0, NULL, NULL), options);
        if (status == TESS_ERR_STRATEGY)
            continue;
        if (status != TESS_OK)
            fail_msg("%s of %s by %s: %s", tess_reduction_name(operation), tess_type_name(type), options.call.strategy, tess_detail());
        if (!first)
            assert_memory_equal(&value, &result, sizeof value);
        result = value;
        first = false;
    }
    return result;
}
#define WHOLE(operation, type, data, ...) whole(operation, type, data, TESS_COUNT(data), (tess_reduce_options){__VA_ARGS__})

static void every_operation(void **state) {
    (void)state;
    float x[] = {3, -1, 4, -1, 5};
    int8_t i[] = {-128, 0, 127, 5};
    float zeros[] = {0, -0.0f, 0};
    assert_true(WHOLE(TESS_SUM, tess_f32, x, 0) == 10);
    assert_true(WHOLE(TESS_PROD, tess_f32, x, 0) == 60);
    assert_true(WHOLE(TESS_MIN, tess_f32, x, 0) == -1);
    assert_true(WHOLE(TESS_MAX, tess_f32, x, 0) == 5);
    assert_true(WHOLE(TESS_MEAN, tess_f32, x, 0) == 2);
    assert_true(WHOLE(TESS_VAR, tess_f32, x, 0) == 6.4); /* (1 + 9 + 4 + 9 + 9) / 5 */
    assert_true(WHOLE(TESS_VAR, tess_f32, x, .ddof = 1) == 8);
    assert_true(WHOLE(TESS_STD, tess_f32, x, .ddof = 3) == 4);
    assert_true(WHOLE(TESS_ARGMIN, tess_f32, x, 0) == 1);
    assert_true(WHOLE(TESS_ARGMAX, tess_f32, x, 0) == 4);
    assert_true(WHOLE(TESS_ANY, tess_f32, x, 0) == 1);
    assert_true(WHOLE(TESS_ANY, tess_f32, zeros, 0) == 0);
    assert_true(WHOLE(TESS_ALL, tess_f32, x, 0) == 1);
    assert_true(WHOLE(TESS_ALL, tess_i8, i, 0) == 0);
    assert_true(WHOLE(TESS_COUNT_NONZERO, tess_i8, i, 0) == 3);
    assert_true(WHOLE(TESS_NORM1, tess_i8, i, 0) == 260);
    assert_true(WHOLE(TESS_NORM2, tess_f32, x, 0) == sqrt(52));
    assert_true(WHOLE(TESS_NORM_INF, tess_i8, i, 0) == 128);
    assert_true(WHOLE(TESS_NORM_INF, tess_f32, x, 0) == 5);
    assert_true(signbit(WHOLE(TESS_MIN, tess_f32, zeros, 0)) != 0);
    assert_true(signbit(WHOLE(TESS_MAX, tess_f32, zeros, 0)) == 0);
    assert_true(signbit(WHOLE(TESS_SUM, tess_f32, zeros, 0)) == 0);
    assert_true(WHOLE(TESS_ARGMIN, tess_f32, zeros, 0) == 0); /* as numbers they are equal */
    int64_t big[] = {INT64_MAX, INT64_MAX, 2};
    assert_true(WHOLE(TESS_SUM, tess_i64, big, 0) == 0); /* modulo 2^64 */
    assert_true(WHOLE(TESS_MEAN, tess_i64, big, 0) == 0x1p64 / 3);
    uint16_t halves[] = {0x3c00, 0x4000, 0x7bff}; /* 1, 2, 65504: the sum is taken in f32 or f64 */
    assert_true(WHOLE(TESS_SUM, tess_f16, halves, 0) == 65507);
}

static void nan_policies(void **state) {
    (void)state;
    double n = NAN;
    double x[] = {2, n, -1, n, 6}, none[] = {n, -n};
    for (int operation = TESS_SUM; operation <= TESS_STD; operation++)
        assert_true(isnan(WHOLE((tess_reduction)operation, tess_f64, x, 0)));
    assert_true(WHOLE(TESS_ARGMIN, tess_f64, x, 0) == 1);
    assert_true(WHOLE(TESS_ARGMAX, tess_f64, x, 0) == 1);
    assert_true(WHOLE(TESS_COUNT_NONZERO, tess_f64, x, 0) == 5);
    assert_true(WHOLE(TESS_ANY, tess_f64, none, 0) == 1);
    assert_true(isnan(WHOLE(TESS_NORM_INF, tess_f64, x, 0)));
#define OMIT .nan = TESS_NAN_OMIT
    assert_true(WHOLE(TESS_SUM, tess_f64, x, OMIT) == 7);
    assert_true(WHOLE(TESS_PROD, tess_f64, x, OMIT) == -12);
    assert_true(WHOLE(TESS_MIN, tess_f64, x, OMIT) == -1);
    assert_true(WHOLE(TESS_MAX, tess_f64, x, OMIT) == 6);
    assert_true(WHOLE(TESS_MEAN, tess_f64, x, OMIT) == 7.0 / 3);
    assert_true(fabs(WHOLE(TESS_VAR, tess_f64, x, OMIT) - (41.0 / 3 - 49.0 / 9)) < 1e-14); /* a dozen roundings of numbers below 64 */
    assert_true(WHOLE(TESS_ARGMIN, tess_f64, x, OMIT) == 2);
    assert_true(WHOLE(TESS_ARGMAX, tess_f64, x, OMIT) == 4);
    assert_true(WHOLE(TESS_COUNT_NONZERO, tess_f64, x, OMIT) == 3);
    assert_true(WHOLE(TESS_NORM_INF, tess_f64, x, OMIT) == 6);
    assert_true(WHOLE(TESS_SUM, tess_f64, none, OMIT) == 0);
    assert_true(WHOLE(TESS_PROD, tess_f64, none, OMIT) == 1);
    assert_true(isnan(WHOLE(TESS_MIN, tess_f64, none, OMIT)));
    assert_true(isnan(WHOLE(TESS_MEAN, tess_f64, none, OMIT)));
    assert_true(isnan(WHOLE(TESS_STD, tess_f64, none, OMIT)));
    assert_true(WHOLE(TESS_ARGMAX, tess_f64, none, OMIT) == -1);
    assert_true(WHOLE(TESS_ANY, tess_f64, none, OMIT) == 0);
    assert_true(WHOLE(TESS_ALL, tess_f64, none, OMIT) == 1);
    assert_true(WHOLE(TESS_NORM_INF, tess_f64, none, OMIT) == 0);
    uint64_t stored = 0;
    double result = whole(TESS_SUM, tess_f64, none, 2, (tess_reduce_options){0});
    memcpy(&stored, &result, 8);
    assert_true(stored == 0x7ff8000000000000); /* the canonical one */
}

static void empty_reductions(void **state) {
    (void)state;
    double x[1] = {0};
#define EMPTY(operation) whole(operation, tess_f64, x, 0, (tess_reduce_options){0})
    assert_true(EMPTY(TESS_SUM) == 0 && EMPTY(TESS_PROD) == 1 && EMPTY(TESS_ANY) == 0 && EMPTY(TESS_ALL) == 1 && EMPTY(TESS_COUNT_NONZERO) == 0);
    assert_true(EMPTY(TESS_NORM1) == 0 && EMPTY(TESS_NORM2) == 0 && EMPTY(TESS_NORM_INF) == 0);
    assert_true(isnan(EMPTY(TESS_MEAN)) && isnan(EMPTY(TESS_VAR)) && isnan(EMPTY(TESS_STD)));
    static const tess_reduction needing[] = {TESS_MIN, TESS_MAX, TESS_ARGMIN, TESS_ARGMAX};
    int64_t shape[2] = {0, 3}, none[1] = {0}, three[1] = {3};
    double out[3];
    int axis0 = 0, axis1 = 1;
    for (int i = 0; i < 4; i++) {
        DLTensor in = tess_view(NULL, tess_f64, 2, shape, NULL);
        assert_tess_fails(run(needing[i], in, tess_view(out, tess_f64, 1, three, NULL), (tess_reduce_options){.axes = &axis0, .naxes = 1}),
                          TESS_ERR_EMPTY);
        assert_tess_ok(run(needing[i], in, tess_view(NULL, tess_f64, 1, none, NULL), (tess_reduce_options){.axes = &axis1, .naxes = 1}));
    }
    /* variances with nothing left to divide by */
    double one[] = {4}, two[] = {1, 3};
    assert_true(WHOLE(TESS_VAR, tess_f64, one, 0) == 0);
    assert_true(isnan(WHOLE(TESS_VAR, tess_f64, one, .ddof = 1)));
    assert_true(isinf(WHOLE(TESS_VAR, tess_f64, two, .ddof = 2)) && isinf(WHOLE(TESS_VAR, tess_f64, two, .ddof = 5)));
}

static void axes_and_keepdims(void **state) {
    (void)state;
    int32_t x[2][3][4];
    for (int i = 0; i < 24; i++)
        (&x[0][0][0])[i] = i;
    int64_t shape[3] = {2, 3, 4}, kept[3] = {1, 3, 1}, dropped[1] = {3};
    int axes[2] = {-1, 0};
    int64_t out[24];
    DLTensor in = tess_view(x, tess_i32, 3, shape, NULL);
    assert_tess_ok(run(TESS_SUM, in, tess_view(out, tess_i64, 1, dropped, NULL), (tess_reduce_options){.axes = axes, .naxes = 2}));
    assert_true(out[0] == 60 && out[1] == 92 && out[2] == 124);
    assert_tess_ok(run(TESS_MAX, in, tess_view(out, tess_i64, 3, kept, NULL), (tess_reduce_options){.axes = axes, .naxes = 2, .keepdims = true}));
    assert_true(out[0] == 15 && out[1] == 19 && out[2] == 23);
    /* the number of an element counts along both axes, in the array's order and not in the list's */
    assert_tess_ok(run(TESS_ARGMAX, in, tess_view(out, tess_i64, 1, dropped, NULL), (tess_reduce_options){.axes = axes, .naxes = 2}));
    assert_true(out[0] == 7 && out[1] == 7 && out[2] == 7);
    assert_tess_ok(run(TESS_MEAN, in, tess_view(out, tess_i64, 3, shape, NULL), (tess_reduce_options){.axes = axes, .naxes = 0})); /* no axis */
    for (int i = 0; i < 24; i++)
        assert_true(out[i] == i);
    uint8_t narrow;
    assert_tess_ok(run(TESS_SUM, in, tess_view(&narrow, tess_u8, 0, NULL, NULL), (tess_reduce_options){0})); /* 276 */
    assert_int_equal(narrow, 255);
    float zero_d = 7, copy;
    assert_tess_ok(run(TESS_SUM, tess_view(&zero_d, tess_f32, 0, NULL, NULL), tess_view(&copy, tess_f32, 0, NULL, NULL), (tess_reduce_options){0}));
    assert_true(copy == 7);
}

static void segments(void **state) {
    (void)state;
    float x[] = {1, 2, 4, 8, 16, 32};
    int32_t cuts[] = {1, 1, 4, 6, 6};
    int64_t n = 6, s = 4, c = 5;
    double out[4];
    DLTensor in = tess_view(x, tess_f32, 1, &n, NULL), to = tess_view(out, tess_f64, 1, &s, NULL), offsets = tess_view(cuts, tess_i32, 1, &c, NULL);
    for (int r = 0; r < tess_reduce_op.count; r++) {
        tess_reduce_options options = {.offsets = &offsets, .call.strategy = tess_reduce_op.rows[r].name};
        tess_status status = run(TESS_SUM, in, to, options);
        assert_true(status == TESS_OK || status == TESS_ERR_STRATEGY);
        if (status == TESS_OK)
            assert_true(out[0] == 0 && out[1] == 14 && out[2] == 48 && out[3] == 0);
    }
    assert_tess_fails(run(TESS_MIN, in, to, (tess_reduce_options){.offsets = &offsets}), TESS_ERR_EMPTY);
    assert_non_null(strstr(tess_detail(), "segment 0 (offsets 1 to 1)"));
    cuts[2] = 0;
    assert_tess_fails(run(TESS_SUM, in, to, (tess_reduce_options){.offsets = &offsets}), TESS_ERR_ARGUMENT);
    assert_non_null(strstr(tess_detail(), "offsets[2] is 0, less than offsets[1], which is 1"));
    cuts[2] = 7;
    assert_tess_fails(run(TESS_SUM, in, to, (tess_reduce_options){.offsets = &offsets}), TESS_ERR_ARGUMENT);
    assert_non_null(strstr(tess_detail(), "offsets[2] is 7, axis 0 has offsets 0..6"));
}

static void skewed_segments(void **state) { /* one long segment among many short ones, on 4 threads and on 1 */
    (void)state;
    enum { N = 3000000, S = 1000 };
    float *x = malloc(N * sizeof *x);
    int64_t cuts[S + 1], n = N, s = S, c = S + 1;
    uint64_t random = 5;
    for (int i = 0; i < N; i++)
        x[i] = (float)(int64_t)(hostile_random(&random) % 1000003) * 0x1p-10f;
    for (int i = 0; i < S; i++)
        cuts[i] = i < 500 ? i : N - S + i;
    cuts[S] = N;
    float one[S], four[S];
    DLTensor in = tess_view(x, tess_f32, 1, &n, NULL), offsets = tess_view(cuts, tess_i64, 1, &c, NULL);
    for (int threads = 1; threads <= 4; threads += 3) {
        tess_context *context;
        tess_context_options options = {.struct_size = sizeof options, .threads = threads};
        tess_reduce_options how = {.struct_size = sizeof how, .offsets = &offsets};
        DLTensor out = tess_view(threads == 1 ? one : four, tess_f32, 1, &s, NULL);
        assert_tess_ok(tess_open(&context, &options));
        assert_tess_ok(tess_reduce(context, TESS_SUM, &in, &out, &how));
        tess_close(context);
    }
    assert_memory_equal(one, four, sizeof one);
    int64_t length = cuts[500] - cuts[499];
    float alone; /* the tree of a segment is that of its length */
    assert_tess_ok(
        run(TESS_SUM, tess_view(x + 499, tess_f32, 1, &length, NULL), tess_view(&alone, tess_f32, 0, NULL, NULL), (tess_reduce_options){0}));
    assert_memory_equal(&alone, &one[499], sizeof alone);
    free(x);
}

static void billions(void **state) {
    (void)state;
    int64_t shape[2] = {(int64_t)1 << 33, 1}, strides[2] = {0, 0};
    uint8_t u8 = 255;
    uint64_t sum;
    DLTensor to = tess_view(&sum, tess_u64, 0, NULL, NULL);
    assert_tess_ok(run(TESS_SUM, tess_view(&u8, tess_u8, 1, shape, strides), to, (tess_reduce_options){0}));
    assert_true(sum == (uint64_t)255 << 33);
    static uint8_t block[1 << 20]; /* read again and again: every element is visited */
    memset(block, 3, sizeof block);
    shape[0] = 1 << 13;
    shape[1] = 1 << 20;
    strides[1] = 1;
    assert_tess_ok(run(TESS_SUM, tess_view(block, tess_u8, 2, shape, strides), to, (tess_reduce_options){0}));
    assert_true(sum == (uint64_t)3 << 33);
    static float ones[1000000];
    float f32 = 1, total;
    uint16_t f16 = 0x3c00, bf16 = 0x3f80;
    DLTensor to32 = tess_view(&total, tess_f32, 0, NULL, NULL);
    for (int i = 0; i < 1000000; i++)
        ones[i] = 1;
    shape[0] = 1000;
    shape[1] = 1000000;
    assert_tess_ok(run(TESS_SUM, tess_view(ones, tess_f32, 2, shape, strides), to32, (tess_reduce_options){0}));
    assert_true(total == 1e9f);
    shape[0] = 1000000000;
    assert_tess_ok(run(TESS_SUM, tess_view(&f32, tess_f32, 1, shape, strides), to32, (tess_reduce_options){0}));
    assert_true(total == 1e9f);
    assert_tess_ok(run(TESS_SUM, tess_view(&f16, tess_f16, 1, shape, strides), to32, (tess_reduce_options){0}));
    assert_true(total == 1e9f);
    assert_tess_ok(run(TESS_SUM, tess_view(&bf16, tess_bf16, 1, shape, strides), to32, (tess_reduce_options){0}));
    assert_true(total == 1e9f);
    int64_t where;
    shape[0] = (int64_t)1 << 40;
    assert_tess_ok(
        run(TESS_ARGMAX, tess_view(&f32, tess_f32, 1, shape, strides), tess_view(&where, tess_i64, 0, NULL, NULL), (tess_reduce_options){0}));
    assert_true(where == 0);
}

static void exact_sums(void **state) {
    (void)state;
    double x[] = {1e308, 1, 1e-300, 1e308, -1e308, -1e308, 0x1p-1074}; /* passes 2^1024 on the way */
    double tenths[10], ties[] = {1, 0x1p-24, 0x1p-80};                 /* halfway between two f32, and a little more */
    double down[] = {1, 0x1p-24, -0x1p-80};
    for (int i = 0; i < 10; i++)
        tenths[i] = 0.1;
    assert_true(WHOLE(TESS_SUM, tess_f64, x, .exact = true) == 1);
    assert_true(WHOLE(TESS_SUM, tess_f64, tenths, .exact = true) == 1.0); /* as math.fsum([.1] * 10) */
    assert_true(WHOLE(TESS_MEAN, tess_f64, tenths, .exact = true) == 0.1);
    float single;
    int64_t three = 3;
    assert_tess_ok(
        run(TESS_SUM, tess_view(ties, tess_f64, 1, &three, NULL), tess_view(&single, tess_f32, 0, NULL, NULL), (tess_reduce_options){.exact = true}));
    assert_true(single == 1 + 0x1p-23f);
    assert_tess_ok(
        run(TESS_SUM, tess_view(down, tess_f64, 1, &three, NULL), tess_view(&single, tess_f32, 0, NULL, NULL), (tess_reduce_options){.exact = true}));
    assert_true(single == 1);
    double infinite[] = {1, INFINITY, 3}, both[] = {INFINITY, -INFINITY}, over[] = {1.7e308, 1.7e308}, tiny[] = {0x1p-1074, 0x1p-1074, 0x1p-1074};
    assert_true(WHOLE(TESS_SUM, tess_f64, infinite, .exact = true) == INFINITY);
    assert_true(isnan(WHOLE(TESS_SUM, tess_f64, both, .exact = true)));
    assert_true(WHOLE(TESS_SUM, tess_f64, over, .exact = true) == INFINITY);
    assert_true(WHOLE(TESS_SUM, tess_f64, tiny, .exact = true) == 0x3p-1074);
    int64_t wide[] = {INT64_MAX, INT64_MAX, -1, INT64_MIN + 1, INT64_MIN + 1, 4};
    assert_true(WHOLE(TESS_MEAN, tess_i64, wide, .exact = true) == 0.5);
    uint64_t unsigned64[] = {UINT64_MAX, 1};
    assert_true(WHOLE(TESS_MEAN, tess_u64, unsigned64, .exact = true) == 0x1p63);

    /* Pairs that cancel but for one small number, in any order, on any number of threads: the sum is that number. */
    enum { N = 200001 };
    double *a = malloc(N * sizeof *a);
    uint64_t random = 9;
    for (int i = 0; i + 1 < N; i += 2) {
        a[i] = ldexp((double)(int64_t)hostile_random(&random), (int)hostile_between(&random, -900, 800));
        a[i + 1] = -a[i];
    }
    a[N - 1] = 0x1.23456789abcdep-200;
    for (int i = N - 1; i > 0; i--) {
        int64_t j = hostile_between(&random, 0, i);
        double t = a[i];
        a[i] = a[j];
        a[j] = t;
    }
    for (int threads = 1; threads <= 8; threads++) {
        tess_context *context;
        tess_context_options options = {.struct_size = sizeof options, .threads = threads};
        tess_reduce_options how = {.struct_size = sizeof how, .exact = true};
        double sum;
        int64_t n = N;
        DLTensor in = tess_view(a, tess_f64, 1, &n, NULL), out = tess_view(&sum, tess_f64, 0, NULL, NULL);
        assert_tess_ok(tess_open(&context, &options));
        assert_tess_ok(tess_reduce(context, TESS_SUM, &in, &out, &how));
        tess_close(context);
        assert_true(sum == 0x1.23456789abcdep-200);
    }
    free(a);
}

static void complex_numbers(void **state) {
    (void)state;
    float z[3][2] = {{3, 4}, {INFINITY, 0}, {1, 0}}, w[2][2] = {{1, 2}, {3, -1}};
    int64_t two = 2, three = 3;
    double out[2], real;
    DLTensor to = tess_view(out, tess_c128, 0, NULL, NULL), to_real = tess_view(&real, tess_f64, 0, NULL, NULL);
    assert_tess_ok(run(TESS_SUM, tess_view(w, tess_c64, 1, &two, NULL), to, (tess_reduce_options){0}));
    assert_true(out[0] == 4 && out[1] == 1);
    assert_tess_ok(run(TESS_MEAN, tess_view(w, tess_c64, 1, &two, NULL), to, (tess_reduce_options){0}));
    assert_true(out[0] == 2 && out[1] == 0.5);
    assert_tess_ok(run(TESS_PROD, tess_view(w, tess_c64, 1, &two, NULL), to, (tess_reduce_options){0}));
    assert_true(out[0] == 5 && out[1] == 5);
    assert_tess_ok(run(TESS_NORM2, tess_view(w, tess_c64, 1, &two, NULL), to_real, (tess_reduce_options){0}));
    assert_true(real == sqrt(15));
    assert_tess_ok(run(TESS_NORM1, tess_view(z, tess_c64, 1, &(int64_t){1}, NULL), to_real, (tess_reduce_options){0}));
    assert_true(real == 5);
    assert_tess_ok(run(TESS_NORM_INF, tess_view(z, tess_c64, 1, &three, NULL), to_real, (tess_reduce_options){0}));
    assert_true(real == INFINITY);
    /* lanes without elements hold 1 + 0i, which leaves an infinity alone */
    assert_tess_ok(run(TESS_PROD, tess_view(z[1], tess_c64, 1, &two, NULL), to, (tess_reduce_options){0}));
    assert_true(out[0] == INFINITY && out[1] == 0);
    assert_tess_fails(run(TESS_SUM, tess_view(w, tess_c64, 1, &two, NULL), to_real, (tess_reduce_options){0}), TESS_ERR_TYPE);
    assert_non_null(strstr(tess_detail(), "sum of c64 elements is complex, and out is f64"));
    assert_tess_fails(run(TESS_MAX, tess_view(w, tess_c64, 1, &two, NULL), to, (tess_reduce_options){0}), TESS_ERR_TYPE);
    assert_non_null(strstr(tess_detail(), "max is not offered for complex elements, and in is c64"));
}

static void errors(void **state) {
    (void)state;
    float x[6] = {0}, y[6];
    int64_t shape[2] = {2, 3}, three[1] = {3}, four[1] = {4};
    int axis = 0, beyond = 2, twice[2] = {1, -1};
    DLTensor in = tess_view(x, tess_f32, 2, shape, NULL), out = tess_view(y, tess_f32, 1, three, NULL);
#define FAILS(operation, a, b, status, sentence, ...)                                        \
    do {                                                                                     \
        assert_tess_fails(run(operation, a, b, (tess_reduce_options){__VA_ARGS__}), status); \
        if (!strstr(tess_detail(), sentence))                                                \
            fail_msg("\"%s\" does not say \"%s\"", tess_detail(), sentence);                 \
    } while (0)
    FAILS((tess_reduction)15, in, out, TESS_ERR_ARGUMENT, "operation is 15", 0);
    FAILS(TESS_SUM, in, out, TESS_ERR_AXIS, "axes[0] is 2", .axes = &beyond, .naxes = 1);
    FAILS(TESS_SUM, in, out, TESS_ERR_AXIS, "axes[1] is -1", .axes = twice, .naxes = 2);
    FAILS(TESS_SUM, in, out, TESS_ERR_AXIS, "axes names 3 axes", .axes = twice, .naxes = 3);
    FAILS(TESS_SUM, in, out, TESS_ERR_ARGUMENT, "axes is NULL", .naxes = 1);
    FAILS(TESS_SUM, in, out, TESS_ERR_SHAPE, "out has 1 axes, 0 are needed", 0);
    FAILS(TESS_SUM, in, tess_view(y, tess_f32, 1, four, NULL), TESS_ERR_SHAPE, "out has size 4 on axis 0, 3 is needed", .axes = &axis, .naxes = 1);
    FAILS(TESS_SUM, in, out, TESS_ERR_ARGUMENT, "nan is 2", .axes = &axis, .naxes = 1, .nan = (tess_nan)2);
    FAILS(TESS_VAR, in, out, TESS_ERR_ARGUMENT, "ddof is nan", .axes = &axis, .naxes = 1, .ddof = NAN);
    FAILS(TESS_MAX, in, out, TESS_ERR_ARGUMENT, "exact is set for max", .axes = &axis, .naxes = 1, .exact = true);
    FAILS(TESS_SUM, in, tess_view(x, tess_f32, 1, three, NULL), TESS_ERR_OVERLAP, "out", .axes = &axis, .naxes = 1);
    FAILS(TESS_SUM, in, out, TESS_ERR_ARGUMENT, "2 axes are reduced", .offsets = &out);
    FAILS(TESS_SUM, in, out, TESS_ERR_TYPE, "offsets is f32", .axes = &axis, .naxes = 1, .offsets = &out);
    FAILS(TESS_SUM, tess_view(NULL, tess_f32, 2, shape, NULL), out, TESS_ERR_ARGUMENT, "in has NULL data", .axes = &axis, .naxes = 1);
    assert_tess_fails(tess_plan_reduce(NULL, NULL, TESS_SUM, &in, &out, NULL), TESS_ERR_ARGUMENT);
    assert_tess_fails(tess_reduce(NULL, TESS_SUM, NULL, &out, NULL), TESS_ERR_ARGUMENT);
    assert_tess_fails(tess_reduce(NULL, TESS_SUM, &in, NULL, NULL), TESS_ERR_ARGUMENT);
    tess_plan *plan;
    tess_reduce_options options = {.struct_size = sizeof options, .axes = &axis, .naxes = 1};
    in.data = out.data = NULL; /* planning needs no data, executing does */
    assert_tess_ok(tess_plan_reduce(&plan, NULL, TESS_SUM, &in, &out, &options));
    assert_tess_fails(tess_execute(plan, NULL, NULL, y, NULL), TESS_ERR_ARGUMENT);
    assert_tess_fails(tess_execute(plan, x, NULL, NULL, NULL), TESS_ERR_ARGUMENT);
    assert_tess_ok(tess_execute(plan, x, NULL, y, NULL));
    tess_plan_free(plan);
}

static void names(void **state) {
    (void)state;
    tess_reduction operation;
    for (int i = TESS_SUM; i <= TESS_NORM_INF; i++)
        assert_true(tess_reduction_named(tess_reduction_name((tess_reduction)i), &operation) && operation == (tess_reduction)i);
    assert_false(tess_reduction_named("median", &operation));
    assert_false(tess_reduction_named(NULL, &operation));
    assert_string_equal(tess_reduction_name((tess_reduction)99), "?");
    assert_string_equal(tess_reduction_name(TESS_COUNT_NONZERO), "count_nonzero");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_operation),
                                       cmocka_unit_test(nan_policies),
                                       cmocka_unit_test(empty_reductions),
                                       cmocka_unit_test(axes_and_keepdims),
                                       cmocka_unit_test(segments),
                                       cmocka_unit_test(skewed_segments),
                                       cmocka_unit_test(billions),
                                       cmocka_unit_test(exact_sums),
                                       cmocka_unit_test(complex_numbers),
                                       cmocka_unit_test(errors),
                                       cmocka_unit_test(names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
