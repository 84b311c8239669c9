/* SPDX-License-Identifier: Apache-2.0
 * test_lookup_positions.c - proves that interpolation among positions gives hand-computed results, that every row has the reference's bytes for positions of
 * any distribution, few points and many, all policies, types and layouts, that a plan keeps its positions, that what makes no sense is refused, and that positions
 * which decrease do no harm. */
#include "lookup_positions.h"
#include "lookup_rows.h"

static void rows(void **state) {
    (void)state;
    uint64_t random = 41;
    static const tess_type index_types[] = {tess_f64, tess_f32, tess_f64, tess_f16, tess_f64, tess_bf16};
    int ran[LOOKUP_ROWS] = {0}, refused = 0;
    for (int round = 0; round < 900; round++) {
        hostile_array table, index, out;
        tess_lookup_options options = {.outside = (tess_outside[]){TESS_OUTSIDE_ERROR, TESS_OUTSIDE_CLIP, TESS_OUTSIDE_FILL}[round % 3],
                                       .fill = (double)hostile_between(&random, -3, 300),
                                       .interpolation = (tess_interpolation)(round / 3 % 3)};
        const bool plain = round % 4 == 0;
        tess_type table_type = plain ? tess_f64 : (tess_type)hostile_between(&random, tess_bool, tess_c128),
                  out_type = plain ? tess_f64 : (tess_type)hostile_between(&random, tess_bool, tess_c128);
        if (table_type >= tess_c64 && out_type < tess_c64)
            out_type = table_type;
        static const int64_t most[] = {1, 3, 17, 40, 900};
        int64_t n = hostile_between(&random, 1, most[round % TESS_COUNT(most)]);
        make_case(&random, &table, &index, &out, &options.axis, table_type, index_types[round % TESS_COUNT(index_types)], out_type, n,
                  round % 11 ? 300 : 5000, 1 + round % 2);
        double *at = malloc((size_t)n * sizeof *at), *spread = malloc((size_t)n * 3 * sizeof *at);
        assert_true(at && spread);
        make_positions(&random, at, n, (int)hostile_between(&random, 0, KINDS - 1));
        for (int64_t i = 0; i < n; i++)
            spread[3 * i] = at[n - 1 - i];
        int64_t backwards = -3;
        const DLTensor positions = round % 5 ? tess_view(at, tess_f64, 1, &n, NULL) : tess_view(spread + 3 * (n - 1), tess_f64, 1, &n, &backwards);
        options.positions = &positions;
        const bool good = options.outside == TESS_OUTSIDE_ERROR ? hostile_between(&random, 0, 2) != 0 : hostile_between(&random, 0, 2) == 0;
        set_places(&random, &index, at, n, good);
        refused += every_row(&table, &index, &out, options, ran) == TESS_ERR_INDEX;
        free_case(&table, &index, &out);
        free(at);
        free(spread);
    }
    int all = 0;
    for (int r = 0; r < LOOKUP_ROWS; r++)
        all += ran[r];
    assert_true(ran_of(ran, "positions") > 500 && refused > 25);
    assert_int_equal(all, ran_of(ran, "positions")); /* no row for coordinates in elements */
}

/* Points for threads, in order and not, some of them outside, against a bisection: with the formula by the header's words. */
static void many_points(void **state) {
    (void)state;
    enum { COUNT = 200003 };
    static const int64_t sizes[] = {2, 16, 17, 18, 1000, 70001, 1700000};
    uint64_t random = 42;
    double *x = malloc(COUNT * sizeof *x), *out = malloc(COUNT * sizeof *out);
    assert_true(x && out);
    for (int k = 0; k < 3 * TESS_COUNT(sizes); k++) {
        int64_t n = sizes[k / 3];
        double *at = malloc((size_t)n * sizeof *at), *y = malloc((size_t)n * sizeof *y);
        assert_true(at && y);
        make_positions(&random, at, n, k % 3 == 0 ? EVEN : k % 3 == 1 ? RANDOM : STEEP);
        for (int64_t i = 0; i < n; i++)
            y[i] = (double)(int64_t)hostile_random(&random);
        for (int64_t i = 0; i < COUNT; i++)
            x[i] = k % 2 ? make_point(&random, at, n, false)
                         : at[0] + (at[n - 1] - at[0]) * (1.1 * (double)(i / 3 * 3) / COUNT - 0.05); /* in order, by threes */
        const DLTensor t = tess_view(y, tess_f64, 1, &n, NULL), a = tess_view(at, tess_f64, 1, &n, NULL);
        const DLTensor i = tess_view(x, tess_f64, 1, (int64_t[]){COUNT}, NULL), o = tess_view(out, tess_f64, 1, (int64_t[]){COUNT}, NULL);
        const tess_lookup_options options = {.struct_size = sizeof options, .outside = TESS_OUTSIDE_CLIP, .positions = &a};
        for (int c = 0; c < context_count; c++) {
            assert_tess_ok(tess_lookup(contexts[c], &t, &i, &o, &options));
            for (int64_t p = 0; p < COUNT; p++) {
                int64_t low = 0, high = n - 1; /* at[low] <= x < at[high] */
                while (high - low > 1) {
                    const int64_t middle = low + (high - low) / 2;
                    *(at[middle] <= x[p] ? &low : &high) = middle;
                }
                const double share = fmin((x[p] - at[low]) / (at[low + 1] - at[low]), 1);
                double expected = x[p] == at[low] ? y[low] : fma(share, y[low + 1] - y[low], y[low]);
                expected = x[p] < at[0] ? y[0] : x[p] >= at[n - 1] ? y[n - 1] : x[p] != x[p] ? (double)NAN : expected;
                if (memcmp(&expected, out + p, 8) != 0)
                    fail_msg("%lld positions, context %d: %a at %a, point %lld, for %a", (long long)n, c, out[p], x[p], (long long)p, expected);
            }
        }
        free(at);
        free(y);
    }
    free(x);
    free(out);
}

static void expect(const double *at, const double *y, int64_t n, double x, tess_interpolation how, tess_outside outside, double expected) {
    double out = 99;
    const DLTensor t = tess_view((double *)(uintptr_t)y, tess_f64, 1, &n, NULL), a = tess_view((double *)(uintptr_t)at, tess_f64, 1, &n, NULL),
                   i = tess_view(&x, tess_f64, 0, NULL, NULL), o = tess_view(&out, tess_f64, 0, NULL, NULL);
    tess_lookup_options options = {.struct_size = sizeof options, .interpolation = how, .outside = outside, .fill = -5, .positions = &a};
    for (int c = 0; c < context_count; c++)
        for (int r = 0; r < 2; r++) {
            options.call.strategy = r ? "lookup/reference" : NULL;
            assert_tess_ok(tess_lookup(contexts[c], &t, &i, &o, &options));
            if (memcmp(&out, &expected, 8) != 0)
                fail_msg("at %g: %a where %a was expected", x, out, expected);
        }
}

static void values_by_hand(void **state) {
    (void)state;
    static const double at[] = {-1, 0, 0, 2, 10}, y[] = {4, 8, 16, 20, 100};
    static const double endless[] = {-INFINITY, 0, INFINITY}, steps[] = {1, 2, 3}, same[] = {7, 7, 7};
    const tess_interpolation NEAREST = TESS_INTERPOLATE_NEAREST, LINEAR = TESS_INTERPOLATE_LINEAR;
    const tess_outside ERROR = TESS_OUTSIDE_ERROR, CLIP = TESS_OUTSIDE_CLIP, FILL = TESS_OUTSIDE_FILL;
    expect(at, y, 5, -1, LINEAR, ERROR, 4);
    expect(at, y, 5, -0.25, LINEAR, ERROR, 7);
    expect(at, y, 5, 0, LINEAR, ERROR, 16); /* of equal positions the last */
    expect(at, y, 5, -0.0, LINEAR, ERROR, 16);
    expect(at, y, 5, 1.5, LINEAR, ERROR, 19);
    expect(at, y, 5, 3, LINEAR, ERROR, 30);
    expect(at, y, 5, 10, LINEAR, ERROR, 100);
    expect(at, y, 5, 5.99, NEAREST, ERROR, 20);
    expect(at, y, 5, 6, NEAREST, ERROR, 100);
    expect(at, y, 5, 0.5, NEAREST, ERROR, 16);
    expect(at, y, 5, -2, LINEAR, CLIP, 4);
    expect(at, y, 5, INFINITY, LINEAR, CLIP, 100);
    expect(at, y, 5, NAN, LINEAR, CLIP, (double)NAN);
    expect(at, y, 5, NAN, NEAREST, CLIP, (double)NAN);
    expect(at, y, 5, NAN, LINEAR, FILL, -5);
    expect(at, y, 5, 10.5, NEAREST, FILL, -5);
    expect(at, y, 1, -1, LINEAR, ERROR, 4);
    expect(at, y, 1, 3, LINEAR, CLIP, 4);
    expect(same, steps, 3, 7, LINEAR, ERROR, 3);
    expect(same, steps, 3, 6, LINEAR, CLIP, 1);
    expect(same, steps, 3, 8, LINEAR, CLIP, 3);
    expect(endless, steps, 3, -INFINITY, LINEAR, ERROR, 1);
    expect(endless, steps, 3, -5, LINEAR, ERROR, 2); /* infinitely far from the first: a whole step */
    expect(endless, steps, 3, 5, LINEAR, ERROR, 2);
    expect(endless, steps, 3, INFINITY, LINEAR, ERROR, 3);
}

static void refused(void **state) {
    (void)state;
    double at[] = {0, 1, 2}, y[] = {5, 6, 7}, x[] = {0.5, 2.5}, out[2];
    int32_t whole[] = {0, 1};
    int64_t three = 3, two = 2;
    DLTensor t = tess_view(y, tess_f64, 1, &three, NULL), a = tess_view(at, tess_f64, 1, &three, NULL), i = tess_view(x, tess_f64, 1, &two, NULL),
             o = tess_view(out, tess_f64, 1, &two, NULL), integers = tess_view(whole, tess_i32, 1, &two, NULL);
    tess_lookup_options options = {.struct_size = sizeof options, .positions = &a};
    assert_tess_fails(tess_lookup(NULL, &t, &i, &o, &options), TESS_ERR_INDEX);
    assert_string_equal(tess_detail(), "index[1] is 2.5, axis 0 of the table has the positions 0..2");
    assert_tess_fails(tess_lookup(NULL, &t, &integers, &o, &options), TESS_ERR_ARGUMENT);
    options.outside = TESS_OUTSIDE_WRAP;
    assert_tess_fails(tess_lookup(NULL, &t, &i, &o, &options), TESS_ERR_ARGUMENT);
    options.outside = TESS_OUTSIDE_CLIP;
    options.interpolation = TESS_INTERPOLATE_CUBIC;
    assert_tess_fails(tess_lookup(NULL, &t, &i, &o, &options), TESS_ERR_ARGUMENT);
    options.interpolation = TESS_INTERPOLATE_LINEAR;
    options.call.strategy = "lookup/interpolate";
    assert_tess_fails(tess_lookup(NULL, &t, &i, &o, &options), TESS_ERR_STRATEGY);
    options.call.strategy = NULL;
    a.shape = &two;
    assert_tess_fails(tess_lookup(NULL, &t, &i, &o, &options), TESS_ERR_SHAPE);
    assert_string_equal(tess_detail(), "positions have the shape [2], axis 0 of the table has 3 entries");
    a = tess_view(at, tess_c64, 1, &three, NULL);
    assert_tess_fails(tess_lookup(NULL, &t, &i, &o, &options), TESS_ERR_TYPE);
    a = tess_view(at, tess_f64, 1, &three, NULL);
    a.device.device_type = kDLCUDA;
    assert_tess_fails(tess_lookup(NULL, &t, &i, &o, &options), TESS_ERR_DEVICE);
    a.device.device_type = kDLCPU;
    o.data = at + 1;
    assert_tess_fails(tess_lookup(NULL, &t, &i, &o, &options), TESS_ERR_OVERLAP);
}

/* Positions of other types count as the f64 they convert to; a plan's stay what they were. */
static void kept_and_converted(void **state) {
    (void)state;
    int16_t narrow[] = {10, 20, 40};
    double at[] = {10, 20, 40}, y[] = {1, 2, 4}, x[] = {15, 30}, out[2];
    int64_t three = 3, two = 2;
    DLTensor t = tess_view(y, tess_f64, 1, &three, NULL), a = tess_view(narrow, tess_i16, 1, &three, NULL), i = tess_view(x, tess_f64, 1, &two, NULL),
             o = tess_view(out, tess_f64, 1, &two, NULL);
    tess_lookup_options options = {.struct_size = sizeof options, .positions = &a};
    tess_plan *plan;
    assert_tess_ok(tess_lookup(contexts[0], &t, &i, &o, &options));
    assert_true(out[0] == 1.5 && out[1] == 3);
    a = tess_view(at, tess_f64, 1, &three, NULL);
    assert_tess_ok(tess_plan_lookup(&plan, contexts[0], &t, &i, &o, &options));
    at[1] = 1000;
    memset(out, 0, sizeof out);
    assert_tess_ok(tess_execute(plan, y, x, out, NULL));
    assert_true(out[0] == 1.5 && out[1] == 3);
    assert_tess_ok(tess_tune(plan, 0));
    tess_plan_free(plan);
}

/* Tuning looks at places among the positions, wherever these lie. */
static void tuned_anywhere(void **state) {
    (void)state;
    enum { N = 50, COUNT = 2000 };
    static const double ends[][2] = {{100, 200}, {-3e5, -2e5}, {-INFINITY, -7}, {-INFINITY, INFINITY}, {5, 5}, {70000, 1e300}};
    static double y[N], at[N], x[COUNT], out[COUNT];
    int64_t n = N, count = COUNT;
    for (int e = 0; e < TESS_COUNT(ends); e++)
        for (int narrow = 0; narrow < 2; narrow++) {
            const tess_type type = narrow ? tess_f32 : tess_f64;
            tess_plan *plan;
            for (int i = 0; i < N; i++)
                at[i] = i < N / 2 ? ends[e][0] : ends[e][1];
            const DLTensor t = tess_view(y, tess_f64, 1, &n, NULL), a = tess_view(at, tess_f64, 1, &n, NULL), i = tess_view(x, type, 1, &count, NULL),
                           o = tess_view(out, tess_f64, 1, &count, NULL);
            const tess_lookup_options options = {.struct_size = sizeof options, .positions = &a};
            assert_tess_ok(tess_plan_lookup(&plan, contexts[0], &t, &i, &o, &options));
            assert_tess_ok(tess_tune(plan, 0));
            tess_plan_free(plan);
        }
}

/* Nothing is promised of positions that decrease but that no memory is touched which is not the call's: under a sanitizer this sees it. */
static void disorder(void **state) {
    (void)state;
    enum { MOST = 300, COUNT = 700 };
    uint64_t random = 43;
    for (int round = 0; round < 60; round++) {
        int64_t n = hostile_between(&random, 1, round % 2 ? MOST : 20), count = round % 3 ? COUNT : 5;
        double *at = malloc((size_t)n * sizeof *at), *y = calloc((size_t)n, sizeof *y), *x = malloc((size_t)count * sizeof *x),
               *out = malloc((size_t)count * sizeof *out);
        assert_true(at && y && x && out);
        for (int64_t i = 0; i < n; i++)
            at[i] = hostile_between(&random, 0, 9) ? (double)hostile_between(&random, -1000, 1000) : (double)NAN;
        for (int64_t i = 0; i < count; i++)
            x[i] = (double)hostile_between(&random, -1100, 1100);
        const DLTensor t = tess_view(y, tess_f64, 1, &n, NULL), a = tess_view(at, tess_f64, 1, &n, NULL), i = tess_view(x, tess_f64, 1, &count, NULL),
                       o = tess_view(out, tess_f64, 1, &count, NULL);
        const tess_lookup_options options = {.struct_size = sizeof options, .outside = TESS_OUTSIDE_CLIP, .positions = &a};
        for (int c = 0; c < context_count; c++)
            assert_tess_ok(tess_lookup(contexts[c], &t, &i, &o, &options));
        free(at);
        free(y);
        free(x);
        free(out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_by_hand),     cmocka_unit_test(rows),           cmocka_unit_test(many_points), cmocka_unit_test(refused),
        cmocka_unit_test(kept_and_converted), cmocka_unit_test(tuned_anywhere), cmocka_unit_test(disorder),
    };
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}
