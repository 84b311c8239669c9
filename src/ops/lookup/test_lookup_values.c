/* SPDX-License-Identifier: Apache-2.0
 * test_lookup_values.c - proves that the reference and the chosen row give hand-computed results for every policy and interpolation, that an error names the
 * first bad index whichever thread met it and writes nothing beside out, and that arguments which make no sense are refused. */
#include "cpu_contexts.h"
#include "lookup_cases.h"

#include <math.h>

static void the_first_bad_index_is_named(void **state) {
    (void)state;
    enum { COUNT = 400000 };
    int32_t *index = calloc(COUNT, sizeof *index);
    float table[1000] = {0}, *out = malloc(COUNT * sizeof *out), *real = calloc(COUNT, sizeof *real);
    uint8_t *narrow = calloc(COUNT, 1);
    assert_true(index && out && real && narrow);
    index[399999] = real[399999] = -7;
    index[123456] = 1000;
    real[123456] = 999.5f;
    narrow[123456] = 200;
    narrow[350000] = 255;
    DLTensor t = tess_view(table, tess_f32, 1, (int64_t[]){1000}, NULL), x = tess_view(index, tess_i32, 2, (int64_t[]){400, 1000}, NULL);
    DLTensor o = tess_view(out, tess_f32, 2, (int64_t[]){400, 1000}, NULL), r = tess_view(real, tess_f32, 2, (int64_t[]){400, 1000}, NULL);
    DLTensor u = tess_view(narrow, tess_u8, 2, (int64_t[]){400, 1000}, NULL), small = tess_view(table, tess_f32, 1, (int64_t[]){200}, NULL);
    for (int c = 0; c < context_count; c++)
        for (int again = 0; again < 3; again++) {
            assert_tess_fails(tess_lookup(contexts[c], &t, &x, &o, NULL), TESS_ERR_INDEX);
            assert_string_equal(tess_detail(), "index[123, 456] is 1000, axis 0 of the table has the entries 0..999");
            assert_tess_fails(tess_lookup(contexts[c], &t, &r, &o, NULL), TESS_ERR_INDEX);
            assert_string_equal(tess_detail(), "index[123, 456] is 999.5, axis 0 of the table has the entries 0..999");
            assert_tess_fails(tess_lookup(contexts[c], &small, &u, &o, NULL), TESS_ERR_INDEX);
            assert_string_equal(tess_detail(), "index[123, 456] is 200, axis 0 of the table has the entries 0..199");
            assert_tess_fails(tess_lookup(contexts[c], &small, &x, &o, NULL), TESS_ERR_INDEX);
            assert_string_equal(tess_detail(), "index[123, 456] is 1000, axis 0 of the table has the entries 0..199");
        }
    uint64_t big = UINT64_MAX;
    DLTensor one = tess_view(&big, tess_u64, 0, NULL, NULL), single = tess_view(out, tess_f32, 0, NULL, NULL);
    assert_tess_fails(tess_lookup(NULL, &t, &one, &single, NULL), TESS_ERR_INDEX);
    assert_string_equal(tess_detail(), "index is 18446744073709551615, axis 0 of the table has the entries 0..999");
    free(index);
    free(out);
    free(real);
    free(narrow);
}

static void expect_f32(const float *table, int64_t n, double x, tess_interpolation how, tess_outside outside, float expected) {
    float index = (float)x, out = 99;
    DLTensor t = tess_view((float *)(uintptr_t)table, tess_f32, 1, &n, NULL), i = tess_view(&index, tess_f32, 0, NULL, NULL),
             o = tess_view(&out, tess_f32, 0, NULL, NULL);
    tess_lookup_options options = {.struct_size = sizeof options, .interpolation = how, .outside = outside, .fill = -5};
    for (int c = 0; c < context_count; c++)
        for (int r = 0; r < 2; r++) {
            options.call.strategy = r ? "lookup/reference" : NULL;
            assert_tess_ok(tess_lookup(contexts[c], &t, &i, &o, &options));
            if (memcmp(&out, &expected, 4) != 0)
                fail_msg("at %g: %a where %a was expected", x, (double)out, (double)expected);
        }
}

static void values_by_hand(void **state) {
    (void)state;
    static const float y[] = {1, 3, 7, -1, 5};
    const tess_interpolation NEAREST = TESS_INTERPOLATE_NEAREST, LINEAR = TESS_INTERPOLATE_LINEAR, CUBIC = TESS_INTERPOLATE_CUBIC;
    const tess_outside CLIP = TESS_OUTSIDE_CLIP, WRAP = TESS_OUTSIDE_WRAP, FILL = TESS_OUTSIDE_FILL;
    float nan = (float)NAN, inf = (float)INFINITY;
    uint32_t canonical = 0x7fc00000;
    memcpy(&nan, &canonical, 4);
    expect_f32(y, 5, 1.5, NEAREST, 0, 7);
    expect_f32(y, 5, 1.49, NEAREST, 0, 3);
    expect_f32(y, 5, 0x1.fffffep-2, NEAREST, 0, 1); /* the number before 0.5, where x + 0.5 would round to 1 */
    expect_f32(y, 5, 4, NEAREST, 0, 5);
    expect_f32(y, 5, 4.6, NEAREST, WRAP, 1);
    expect_f32(y, 5, -0.4, NEAREST, WRAP, 1);
    expect_f32(y, 5, 1.25, LINEAR, 0, 4);
    expect_f32(y, 5, 4, LINEAR, 0, 5);
    expect_f32(y, 5, 4.5, LINEAR, WRAP, 3); /* half way from 5 to 1 */
    expect_f32(y, 5, -0.25, LINEAR, WRAP, 2);
    expect_f32(y, 5, 9.25, LINEAR, WRAP, 4);
    expect_f32(y, 5, -1, LINEAR, CLIP, 1);
    expect_f32(y, 5, INFINITY, LINEAR, CLIP, 5);
    expect_f32(y, 5, NAN, LINEAR, CLIP, 1);
    expect_f32(y, 5, NAN, LINEAR, WRAP, nan);
    expect_f32(y, 5, INFINITY, CUBIC, WRAP, nan);
    expect_f32(y, 5, NAN, NEAREST, WRAP, nan);
    expect_f32(y, 5, 4.01, LINEAR, FILL, -5);
    expect_f32(y, 5, NAN, CUBIC, FILL, -5);
    /* Keys at t = 1/2: (-p0 + 9 p1 + 9 p2 - p3) / 16. */
    expect_f32(y, 5, 1.5, CUBIC, 0, (-1 + 27 + 63 + 1) / 16.0f);
    expect_f32(y, 5, 0.5, CUBIC, 0, (-1 + 9 + 27 - 7) / 16.0f);
    expect_f32(y, 5, 0.5, CUBIC, WRAP, (-5 + 9 + 27 - 7) / 16.0f);
    expect_f32(y, 5, 3, CUBIC, 0, -1);
    expect_f32(y, 1, 0, CUBIC, 0, 1);
    expect_f32(y, 1, 0.5, CUBIC, WRAP, 1);
    const float special[] = {-0.0f, inf, nan};
    expect_f32(special, 3, 0, LINEAR, 0, -0.0f); /* an entry itself, whatever its neighbour */
    expect_f32(special, 3, 1, LINEAR, 0, inf);
    expect_f32(special, 3, 0.5, LINEAR, 0, inf);
    expect_f32(special, 3, 1.5, LINEAR, 0, nan);
}

static void types_and_rounding(void **state) {
    (void)state;
    uint8_t bytes[] = {0, 255, 10, 13}, out8[4];
    float at[] = {0.5f, 1.5f, 2.5f, 2.75f};
    DLTensor t = tess_view(bytes, tess_u8, 1, (int64_t[]){4}, NULL), x = tess_view(at, tess_f32, 1, (int64_t[]){4}, NULL),
             o = tess_view(out8, tess_u8, 1, (int64_t[]){4}, NULL);
    assert_tess_ok(tess_lookup(NULL, &t, &x, &o, NULL));
    assert_true(out8[0] == 128 && out8[1] == 132 && out8[2] == 12 && out8[3] == 12); /* 127.5, 132.5, 11.5: to even; 12.25 */
    tess_lookup_options cubic = {.struct_size = sizeof cubic, .interpolation = TESS_INTERPOLATE_CUBIC};
    at[0] = 1.25f; /* overshoots 255: saturates */
    at[1] = 0.25f;
    bytes[2] = 255;
    assert_tess_ok(tess_lookup(NULL, &t, &x, &o, &cubic));
    assert_int_equal(out8[0], 255);
    int64_t big[] = {(1ll << 53) + 2, 5}, got;
    float where = 0;
    DLTensor t64 = tess_view(big, tess_i64, 1, (int64_t[]){2}, NULL), w = tess_view(&where, tess_f32, 0, NULL, NULL),
             o64 = tess_view(&got, tess_i64, 0, NULL, NULL);
    assert_tess_ok(tess_lookup(NULL, &t64, &w, &o64, NULL)); /* f64, where f32 would lose the low bits */
    assert_int_equal(got, big[0]);
    /* Complex: parts for themselves; fill is a real number. */
    double c[] = {1, 2, 3, 6}, co[4], cx[] = {0.5, 7};
    tess_lookup_options fill = {.struct_size = sizeof fill, .outside = TESS_OUTSIDE_FILL, .fill = 8};
    DLTensor tc = tess_view(c, tess_c128, 1, (int64_t[]){2}, NULL), xc = tess_view(cx, tess_f64, 1, (int64_t[]){2}, NULL),
             oc = tess_view(co, tess_c128, 1, (int64_t[]){2}, NULL);
    assert_tess_ok(tess_lookup(NULL, &tc, &xc, &oc, &fill));
    assert_true(co[0] == 2 && co[1] == 4 && co[2] == 8 && co[3] == 0);
    DLTensor real = tess_view(co, tess_f64, 1, (int64_t[]){2}, NULL);
    assert_tess_fails(tess_lookup(NULL, &tc, &xc, &real, &fill), TESS_ERR_TYPE);
    fill.interpolation = TESS_INTERPOLATE_NONE;
    int8_t i8[] = {1, -1};
    DLTensor ic = tess_view(i8, tess_i8, 1, (int64_t[]){2}, NULL);
    assert_tess_ok(tess_lookup(NULL, &tc, &ic, &oc, &fill));
    assert_true(co[0] == 3 && co[1] == 6 && co[2] == 8 && co[3] == 0);
}

static void empty_and_refused(void **state) {
    (void)state;
    float table[12], out[12];
    int32_t index[4] = {0, 1, 2, 1};
    DLTensor t = tess_view(table, tess_f32, 2, (int64_t[]){3, 4}, NULL), x = tess_view(index, tess_i32, 1, (int64_t[]){3}, NULL),
             o = tess_view(out, tess_f32, 2, (int64_t[]){3, 4}, NULL);
    tess_lookup_options options = {.struct_size = sizeof options};
    assert_tess_ok(tess_lookup(NULL, &t, &x, &o, &options));
    options.axis = 2;
    assert_tess_fails(tess_lookup(NULL, &t, &x, &o, &options), TESS_ERR_AXIS);
    options.axis = -2;
    assert_tess_ok(tess_lookup(NULL, &t, &x, &o, &options));
    options.axis = -1;
    assert_tess_fails(tess_lookup(NULL, &t, &x, &o, &options), TESS_ERR_SHAPE);
    options.axis = 0;
    options.outside = (tess_outside)9;
    assert_tess_fails(tess_lookup(NULL, &t, &x, &o, &options), TESS_ERR_ARGUMENT);
    options.outside = TESS_OUTSIDE_ERROR;
    options.interpolation = TESS_INTERPOLATE_LINEAR;
    assert_tess_fails(tess_lookup(NULL, &t, &x, &o, &options), TESS_ERR_ARGUMENT);
    options.interpolation = (tess_interpolation)7;
    assert_tess_fails(tess_lookup(NULL, &t, &x, &o, &options), TESS_ERR_ARGUMENT);
    options.interpolation = TESS_INTERPOLATE_NONE;
    DLTensor truth = tess_view(index, tess_bool, 1, (int64_t[]){3}, NULL), complex = tess_view(table, tess_c64, 1, (int64_t[]){3}, NULL);
    assert_tess_fails(tess_lookup(NULL, &t, &truth, &o, &options), TESS_ERR_TYPE);
    assert_tess_fails(tess_lookup(NULL, &t, &complex, &o, &options), TESS_ERR_TYPE);
    DLTensor other = tess_view(out, tess_i32, 2, (int64_t[]){3, 4}, NULL), scalar = tess_view(table, tess_f32, 0, NULL, NULL);
    assert_tess_fails(tess_lookup(NULL, &t, &x, &other, &options), TESS_ERR_TYPE);
    assert_tess_fails(tess_lookup(NULL, &scalar, &x, &o, &options), TESS_ERR_AXIS);
    assert_tess_fails(tess_lookup(NULL, &t, &x, &t, &options), TESS_ERR_OVERLAP);
    assert_tess_fails(tess_lookup(NULL, NULL, &x, &o, &options), TESS_ERR_ARGUMENT);
    assert_tess_fails(tess_lookup(NULL, &t, NULL, &o, &options), TESS_ERR_ARGUMENT);
    assert_tess_fails(tess_lookup(NULL, &t, &x, NULL, &options), TESS_ERR_ARGUMENT);
    DLTensor nowhere = tess_view(NULL, tess_f32, 2, (int64_t[]){3, 4}, NULL);
    assert_tess_fails(tess_lookup(NULL, &nowhere, &x, &o, &options), TESS_ERR_ARGUMENT);
    assert_tess_fails(tess_lookup(NULL, &t, &x, &nowhere, &options), TESS_ERR_ARGUMENT);
    /* A table without entries: an error for someone who looks, but for FILL. */
    DLTensor none = tess_view(table, tess_f32, 2, (int64_t[]){0, 4}, NULL), no_index = tess_view(index, tess_i32, 1, (int64_t[]){0}, NULL);
    DLTensor no_out = tess_view(out, tess_f32, 2, (int64_t[]){0, 4}, NULL);
    for (int policy = 0; policy < 4; policy++) {
        options.outside = (tess_outside)policy;
        options.fill = 6;
        assert_tess_ok(tess_lookup(NULL, &none, &no_index, &no_out, &options));
        if (policy == TESS_OUTSIDE_FILL)
            assert_tess_ok(tess_lookup(NULL, &none, &x, &o, &options));
        else
            assert_tess_fails(tess_lookup(NULL, &none, &x, &o, &options), TESS_ERR_EMPTY);
    }
    for (int i = 0; i < 12; i++)
        assert_true(out[i] == 6);
    /* Nothing to write, yet an index that is wrong. */
    DLTensor flat = tess_view(table, tess_f32, 2, (int64_t[]){2, 0}, NULL), flat_out = tess_view(out, tess_f32, 2, (int64_t[]){3, 0}, NULL);
    options.outside = TESS_OUTSIDE_ERROR;
    assert_tess_fails(tess_lookup(NULL, &flat, &x, &flat_out, &options), TESS_ERR_INDEX);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_first_bad_index_is_named), cmocka_unit_test(values_by_hand),
                                       cmocka_unit_test(types_and_rounding), cmocka_unit_test(empty_and_refused)};
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}
