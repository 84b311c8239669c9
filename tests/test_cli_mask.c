/* SPDX-License-Identifier: Apache-2.0
 * Proves: the masks of the command have the weights that are documented - written out, or by name, gaussian to the last bit of its formula -, take
 * the type that the array asks for, and every malformed text is refused with the character at which it goes wrong. Tone maps likewise. */
#include <math.h>

#include "hostile.h"
#include "mask.h"
#include "tonemap.h"

static void parsed(cli_mask *mask, const char *spec, int axes, tess_type in) {
    tess_io_message message = {""};
    if (!cli_mask_parse(mask, spec, axes, in, &message))
        fail_msg("%s", message.text);
}

static void expect(const char *spec, int axes, tess_type in, tess_type type, int ndim, const int64_t *shape, const double *weights) {
    cli_mask mask;
    parsed(&mask, spec, axes, in);
    assert_int_equal(mask.count, 1);
    assert_false(mask.separable);
    const DLTensor *t = mask.list[0];
    assert_int_equal(tess_type_of(t->dtype), type);
    assert_int_equal(t->ndim, ndim);
    int64_t count = 1;
    for (int d = 0; d < ndim; d++) {
        assert_int_equal(t->shape[d], shape[d]);
        count *= shape[d];
    }
    for (int64_t i = 0; i < count; i++) {
        double w = type == tess_f64 ? ((double *)t->data)[i] : type == tess_f32 ? ((float *)t->data)[i] : ((int32_t *)t->data)[i];
        double wanted = type == tess_f32 ? (float)weights[i] : weights[i];
        if (w != wanted)
            fail_msg("%s: weight %d is %g, not %g", spec, (int)i, w, wanted);
    }
    cli_mask_free(&mask);
}
#define SIZES(...) ((const int64_t[]){__VA_ARGS__})
#define WEIGHTS(...) ((const double[]){__VA_ARGS__})

static void test_text(void **state) {
    (void)state;
    expect("1 2 1", 2, tess_f32, tess_f32, 1, SIZES(3), WEIGHTS(1, 2, 1));
    expect(" 1,2 ,1 ", 2, tess_f32, tess_f32, 1, SIZES(3), WEIGHTS(1, 2, 1));
    expect("1 2 1;", 2, tess_f32, tess_f32, 2, SIZES(1, 3), WEIGHTS(1, 2, 1));
    expect("1;2;1", 2, tess_f32, tess_f32, 2, SIZES(3, 1), WEIGHTS(1, 2, 1));
    expect("1 2 1; 2 4 2; 1 2 1 * 1/16", 2, tess_f64, tess_f64, 2, SIZES(3, 3), WEIGHTS(.0625, .125, .0625, .125, .25, .125, .0625, .125, .0625));
    expect("1/3 -2e-1 +.5", 1, tess_f64, tess_f64, 1, SIZES(3), WEIGHTS(1.0 / 3, -0.2, 0.5));
    expect("1 2;3 4|5 6;7 8", 3, tess_f32, tess_f32, 3, SIZES(2, 2, 2), WEIGHTS(1, 2, 3, 4, 5, 6, 7, 8));
    expect("1|2|3", 3, tess_f32, tess_f32, 3, SIZES(3, 1, 1), WEIGHTS(1, 2, 3));
    expect("7", 1, tess_f32, tess_f32, 1, SIZES(1), WEIGHTS(7));
}

static void test_types(void **state) {
    (void)state;
    expect("1 2 1", 1, tess_u8, tess_f32, 1, SIZES(3), WEIGHTS(1, 2, 1));   /* 4 * 255 is exact in f32 */
    expect("1 1000", 1, tess_u16, tess_i32, 1, SIZES(2), WEIGHTS(1, 1000)); /* 1001 * 65535 is not */
    expect("1 0.5", 1, tess_u16, tess_f32, 1, SIZES(2), WEIGHTS(1, 0.5));
    expect("1 2 1", 1, tess_i32, tess_i32, 1, SIZES(3), WEIGHTS(1, 2, 1));
    expect("1 0.5", 1, tess_i64, tess_f64, 1, SIZES(2), WEIGHTS(1, 0.5));
    expect("1 2 1", 1, tess_f64, tess_f64, 1, SIZES(3), WEIGHTS(1, 2, 1));
    expect("1 2 1", 1, tess_c64, tess_f32, 1, SIZES(3), WEIGHTS(1, 2, 1));
    expect("1 2 1", 1, tess_f16, tess_f32, 1, SIZES(3), WEIGHTS(1, 2, 1));
}

static void test_named(void **state) {
    (void)state;
    expect("sobel", 2, tess_f32, tess_f32, 2, SIZES(3, 3), WEIGHTS(-1, 0, 1, -2, 0, 2, -1, 0, 1));
    expect("sobel:x", 2, tess_f32, tess_f32, 2, SIZES(3, 3), WEIGHTS(-1, 0, 1, -2, 0, 2, -1, 0, 1));
    expect("sobel:y", 2, tess_f32, tess_f32, 2, SIZES(3, 3), WEIGHTS(-1, -2, -1, 0, 0, 0, 1, 2, 1));
    expect("prewitt:y", 2, tess_f32, tess_f32, 2, SIZES(3, 3), WEIGHTS(-1, -1, -1, 0, 0, 0, 1, 1, 1));
    expect("scharr:x", 2, tess_f32, tess_f32, 2, SIZES(3, 3), WEIGHTS(-3, 0, 3, -10, 0, 10, -3, 0, 3));
    expect("laplace", 1, tess_f32, tess_f32, 1, SIZES(3), WEIGHTS(1, -2, 1));
    expect("laplace", 2, tess_f32, tess_f32, 2, SIZES(3, 3), WEIGHTS(0, 1, 0, 1, -4, 1, 0, 1, 0));
    expect("laplace", 4, tess_f32, tess_f32, 3, SIZES(3, 3, 3),
           WEIGHTS(0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, -6, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0));
    expect("sharpen", 2, tess_f32, tess_f32, 2, SIZES(3, 3), WEIGHTS(0, -1, 0, -1, 5, -1, 0, -1, 0));
}

static void test_separable(void **state) {
    cli_mask mask;
    (void)state;
    parsed(&mask, "gaussian:2", 2, tess_f64);
    assert_true(mask.separable);
    assert_int_equal(mask.count, 2);
    assert_ptr_equal(mask.list[0], mask.list[1]);
    assert_int_equal(mask.list[0]->shape[0], 17); /* radius = int(4 * 2 + 0.5) */
    double sum = 0, e[17], *w = mask.list[0]->data;
    for (int x = -8; x <= 8; x++)
        sum += e[x + 8] = exp(-0.5 / 4 * x * x);
    for (int i = 0; i < 17; i++)
        assert_true(w[i] == e[i] / sum);
    cli_mask_free(&mask);
    parsed(&mask, "gaussian:2x0.3:5", 2, tess_f32);
    assert_int_equal(mask.list[0]->shape[0], 11);
    assert_int_equal(mask.list[1]->shape[0], 11);
    assert_ptr_not_equal(mask.list[0], mask.list[1]);
    cli_mask_free(&mask);
    parsed(&mask, "gaussian:1e-200:1", 1, tess_f64); /* whose square is no number above 0 */
    assert_memory_equal(mask.list[0]->data, ((const double[]){0, 1, 0}), 24);
    cli_mask_free(&mask);
    parsed(&mask, "box:5x4", 2, tess_u8);
    assert_int_equal(mask.list[0]->shape[0], 5);
    assert_int_equal(mask.list[1]->shape[0], 4);
    assert_true(((float *)mask.list[0]->data)[3] == 0.2f);
    assert_true(((float *)mask.list[1]->data)[3] == 0.25f);
    cli_mask_free(&mask);
    parsed(&mask, "box:9", 7, tess_f64);
    assert_int_equal(mask.count, 7);
    assert_int_equal(mask.list[6]->shape[0], 9);
    cli_mask_free(&mask);
}

static void test_refused(void **state) {
    static const struct {
        const char *spec, *words;
    } bad[] = {
        {"", "at its end: a row has no weights"},
        {"1 2 x", "character 5 (\"x\")"},
        {"1 2; 3", "the first differ in length"},
        {"1 2;; 3 4", "character 5 (\";\"): a row has no weights"},
        {"1 2 | 1 2; 3 4", "differ in their number of rows"},
        {"| 1", "character 1 (\"|\"): a row has no weights"},
        {"1 nan", "character 3"},
        {"inf", "no mask of this name"},
        {"1e999", "character 1"},
        {"1/0", "character 1"},
        {"1/", "character 1"},
        {"1 2 *", "at its end: a number or fraction is expected after *"},
        {"1 2 * 3 4", "character 9 (\"4\"): nothing may follow"},
        {"1e300 * 1e300", "a weight overflows"},
        {"1x2", "character 2 (\"x\"): a blank is expected"},
        {"0x", "a blank is expected"},
        {"0x10", "a blank is expected"},
        {"1/0x2", "character 1"},
        {"box:0x5", "a width is a whole number"},
        {"1e39", "the weight 1e+39"},
        {"gaussian", "gaussian:SIGMA is expected"},
        {"gaussian:", "at its end: a SIGMA above 0"},
        {"gaussian:-1", "character 10 (\"-\")"},
        {"gaussian:0", "SIGMA must be above 0"},
        {"gaussian:1e9", "SIGMA must be"},
        {"gaussian:2:1.5", "character 12 (\"1\"): RADIUS"},
        {"gaussian:2:-1", "RADIUS"},
        {"gaussian:2:99999999999", "RADIUS"},
        {"gaussian:2x", "at its end"},
        {"gaussian:1x2x3", "sizes for 3 axes, but 2 are worked on"},
        {"gaussian:2 ", "character 11 (\" \"): nothing more"},
        {"box:0", "a width is a whole number"},
        {"box:2.5", "a width is a whole number"},
        {"box:1e12", "a width is a whole number"},
        {"box:3x3x3x3", "character 10 (\"x\")"},
        {"sobel:z", "character 7 (\"z\"): x or y"},
        {"sobel:xx", "x or y"},
        {"laplace:x", "character 8 (\":\")"},
        {"gauss:2", "no mask of this name"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        cli_mask mask;
        tess_io_message message = {""};
        if (cli_mask_parse(&mask, bad[k].spec, 2, tess_f32, &message))
            fail_msg("\"%s\" was accepted", bad[k].spec);
        if (!strstr(message.text, bad[k].words))
            fail_msg("\"%s\": \"%s\" where \"%s\" was expected", bad[k].spec, message.text, bad[k].words);
    }
}

static void test_tonemaps(void **state) {
    tess_io_array t;
    tess_io_message message;
    (void)state;
    assert_true(cli_tonemap(&t, "invert", tess_u8, &message));
    for (int v = 0; v < 256; v++)
        assert_int_equal(((uint8_t *)t.block)[v], 255 - v);
    tess_io_free(&t);
    assert_true(cli_tonemap(&t, "levels:50:150", tess_u8, &message));
    assert_int_equal(((uint8_t *)t.block)[50], 0);
    assert_int_equal(((uint8_t *)t.block)[20], 0);
    assert_int_equal(((uint8_t *)t.block)[100], 128); /* 127.5 rounds to even */
    assert_int_equal(((uint8_t *)t.block)[200], 255);
    tess_io_free(&t);
    assert_true(cli_tonemap(&t, "levels:0%:50%", tess_u16, &message));
    assert_int_equal(t.shape[0], 65536);
    assert_int_equal(((uint16_t *)t.block)[16384], 32768);
    tess_io_free(&t);
    assert_true(cli_tonemap(&t, "threshold:128", tess_u8, &message));
    assert_int_equal(((uint8_t *)t.block)[127], 0);
    assert_int_equal(((uint8_t *)t.block)[128], 255);
    tess_io_free(&t);
    assert_true(cli_tonemap(&t, "levels:1e308%:2%", tess_u8, &message)); /* infinite: black */
    assert_int_equal(((uint8_t *)t.block)[255], 0);
    tess_io_free(&t);
    assert_true(cli_tonemap(&t, "gamma:2", tess_u8, &message));
    assert_int_equal(((uint8_t *)t.block)[64], 128); /* 255 * sqrt(64 / 255) = 127.75 */
    assert_int_equal(((uint8_t *)t.block)[255], 255);
    tess_io_free(&t);
    static const char *const bad[] = {"gamma:", "gamma:0", "gamma:2x", "gamma:2:3", "levels:1", "levels:5:5", "invert:1", "threshold:x"};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++)
        if (cli_tonemap(&t, bad[k], tess_u8, &message))
            fail_msg("\"%s\" was accepted", bad[k]);
    assert_false(cli_tonemap(&t, "invert", tess_f32, &message));
    assert_non_null(strstr(message.text, "f32"));
    assert_false(cli_is_tonemap("table.npy"));
    assert_false(cli_is_tonemap("gamma"));
    assert_true(cli_is_tonemap("invert"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),      cmocka_unit_test(test_types),   cmocka_unit_test(test_named),
        cmocka_unit_test(test_separable), cmocka_unit_test(test_refused), cmocka_unit_test(test_tonemaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
