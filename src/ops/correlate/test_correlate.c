/* SPDX-License-Identifier: Apache-2.0
 * test_correlate.c - that correlations are what the header says: cases computed by hand, for the conventions that are easily got wrong (centre of
 * even masks, origin, flipping, every boundary, bounces beyond the array's length, extents, tap order, types, modulo and saturation). Every row of
 * the table that can run a case runs it. */
#include "hostile.h"

#include <math.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))
#define V(...) ((const double[]){__VA_ARGS__})
enum { MOST = 64 };

typedef struct cases {
    const DLTensor *in, *mask, *out;
    bool flip;
    const tess_correlate_options *options;
} cases;

/* Runs a case on every row; `check` looks at the output after each. */
static void on_every_row(const cases *c, void (*check)(const char *row, const void *want, const void *out, size_t size), const void *want, void *out,
                         size_t size) {
    tess_correlate_options own = *c->options;
    int ran = 0;
    own.struct_size = sizeof own;
    for (int r = 0; r < tess_strategy_count(); r++) {
        tess_strategy_info row;
        assert_true(tess_strategy_get(r, &row));
        if (strcmp(row.operation, "correlate") != 0)
            continue;
        own.call.strategy = row.name;
        memset(out, 0x77, size);
        tess_status status = c->flip ? tess_convolve(NULL, c->in, c->mask, c->out, &own) : tess_correlate(NULL, c->in, c->mask, c->out, &own);
        if (status == TESS_ERR_STRATEGY)
            continue;
        assert_tess_ok(status);
        check(row.name, want, out, size);
        ran++;
    }
    assert_true(ran >= 2); /* the reference and another */
}

static void same_doubles(const char *row, const void *want, const void *out, size_t size) {
    const double *w = want, *o = out;
    for (size_t x = 0; x < size / sizeof *w; x++)
        if (o[x] != w[x] || signbit(o[x]) != signbit(w[x]))
            fail_msg("%s: out[%zu] is %g, not %g", row, x, o[x], w[x]);
}
static void same_bytes(const char *row, const void *want, const void *out, size_t size) {
    for (size_t x = 0; x < size; x++)
        if (((const unsigned char *)want)[x] != ((const unsigned char *)out)[x])
            fail_msg("%s: byte %zu is %02x, not %02x", row, x, ((const unsigned char *)out)[x], ((const unsigned char *)want)[x]);
}

/* 1-D, f64, every boundary but the lists. */
static void one_d(const double *in, int n, const double *mask, int width, bool flip, const tess_correlate_options *options, const double *want,
                  int m) {
    double out[MOST];
    int64_t in_shape = n, mask_shape = width, out_shape = m;
    DLTensor i = tess_view((void *)(uintptr_t)in, tess_f64, 1, &in_shape, NULL),
             k = tess_view((void *)(uintptr_t)mask, tess_f64, 1, &mask_shape, NULL), o = tess_view(out, tess_f64, 1, &out_shape, NULL);
    on_every_row(&(cases){&i, &k, &o, flip, options}, same_doubles, want, out, (size_t)m * sizeof *out);
}
#define ONE_D(flip, in, mask, want, ...) one_d(in, COUNT(in), mask, COUNT(mask), flip, &(tess_correlate_options){__VA_ARGS__}, want, COUNT(want))

static void boundaries(void **state) {
    (void)state;
    ONE_D(false, V(1, 2, 3, 4), V(1, 10, 100), V(210, 321, 432, 43), .boundary = TESS_BOUNDARY_ZERO);
    ONE_D(false, V(1, 2, 3, 4), V(1, 10, 100), V(217, 321, 432, 743), .boundary = TESS_BOUNDARY_CONSTANT, .constant = 7);
    ONE_D(false, V(1, 2, 3, 4), V(1, 10, 100), V(211, 321, 432, 443), .boundary = TESS_BOUNDARY_NEAREST);
    ONE_D(false, V(1, 2, 3, 4), V(1, 10, 100), V(211, 321, 432, 443), .boundary = TESS_BOUNDARY_REFLECT);
    ONE_D(false, V(1, 2, 3, 4), V(1, 10, 100), V(212, 321, 432, 343), .boundary = TESS_BOUNDARY_MIRROR);
    ONE_D(false, V(1, 2, 3, 4), V(1, 10, 100), V(214, 321, 432, 143), .boundary = TESS_BOUNDARY_WRAP);
}

/* A mask that only looks ten elements to the left of its centre, and one of 4001 taps that looks 2000 to the left, on arrays of 3 and 1. */
static void bounces(void **state) {
    (void)state;
    static double far[4001];
    const double in[3] = {1, 2, 3};
    far[0] = 1;
    ONE_D(false, V(1, 2, 3, 4), V(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), V(4, 4, 3, 2), .boundary = TESS_BOUNDARY_REFLECT);
    ONE_D(false, V(1, 2, 3, 4), V(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), V(2, 3, 4, 3), .boundary = TESS_BOUNDARY_MIRROR);
    ONE_D(false, V(1, 2, 3, 4), V(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), V(4, 1, 2, 3), .boundary = TESS_BOUNDARY_WRAP);
    ONE_D(false, V(1, 2, 3, 4), V(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), V(1, 1, 1, 1), .boundary = TESS_BOUNDARY_NEAREST);
    /* -2000 .. -1998: reflect has period 6 (3 3 2 1 | 1 2 3 3 2 1): -2000 = 4 mod 6 -> 2, 5 -> 1, 0 -> 1 */
    one_d(in, 3, far, 4001, false, &(tess_correlate_options){.boundary = TESS_BOUNDARY_REFLECT}, V(2, 1, 1), 3);
    /* mirror has period 4 (1 2 3 2): -2000 = 0 mod 4 */
    one_d(in, 3, far, 4001, false, &(tess_correlate_options){.boundary = TESS_BOUNDARY_MIRROR}, V(1, 2, 3), 3);
    /* wrap: -2000 = 1 mod 3 */
    one_d(in, 3, far, 4001, false, &(tess_correlate_options){.boundary = TESS_BOUNDARY_WRAP}, V(2, 3, 1), 3);
    one_d(in, 1, far, 4001, false, &(tess_correlate_options){.boundary = TESS_BOUNDARY_MIRROR}, V(1), 1);
    one_d(in, 1, far, 4001, false, &(tess_correlate_options){.boundary = TESS_BOUNDARY_REFLECT}, V(1), 1);
    one_d(in, 1, far, 4001, false, &(tess_correlate_options){.boundary = TESS_BOUNDARY_ZERO}, V(0), 1);
}

static void conventions(void **state) {
    (void)state;
    const int64_t one = 1, minus = -1;
    /* an even mask leans to the left; flipped it leans to the right */
    ONE_D(false, V(1, 2, 3), V(1, 10), V(10, 21, 32), .boundary = TESS_BOUNDARY_ZERO);
    ONE_D(true, V(1, 2, 3), V(1, 10), V(12, 23, 30), .boundary = TESS_BOUNDARY_ZERO);
    ONE_D(true, V(1, 2, 3), V(1, 10, 100), V(12, 123, 230), .boundary = TESS_BOUNDARY_ZERO);
    ONE_D(false, V(1, 2, 3), V(1, 10, 100), V(100, 210, 321), .origin = &one);
    ONE_D(false, V(1, 2, 3), V(1, 10, 100), V(321, 32, 3), .origin = &minus);
    ONE_D(true, V(1, 2, 3), V(1, 10, 100), V(1, 12, 123), .origin = &minus);
    ONE_D(true, V(1, 2, 3), V(1, 10, 100), V(123, 230, 300), .origin = &one);
}

static void extents(void **state) {
    (void)state;
    ONE_D(false, V(1, 2, 3), V(1, 10), V(21, 32), .extent = TESS_EXTENT_VALID);
    ONE_D(true, V(1, 2, 3), V(1, 10), V(12, 23), .extent = TESS_EXTENT_VALID);
    ONE_D(false, V(1, 2, 3), V(1, 10), V(10, 21, 32, 3), .extent = TESS_EXTENT_FULL);
    ONE_D(true, V(1, 2, 3), V(1, 10), V(1, 12, 23, 30), .extent = TESS_EXTENT_FULL);
    ONE_D(false, V(1, 2, 3), V(1, 10), V(11, 21, 32, 33), .extent = TESS_EXTENT_FULL, .boundary = TESS_BOUNDARY_NEAREST);
    one_d(V(1, 2), 2, V(1, 10, 100), 3, false, &(tess_correlate_options){.extent = TESS_EXTENT_VALID}, V(0), 0);
    one_d(V(0), 0, V(1, 10, 100), 3, false, &(tess_correlate_options){.extent = TESS_EXTENT_FULL}, V(0, 0), 2);
    one_d(V(0), 0, V(1, 10, 100), 3, false, &(tess_correlate_options){.boundary = TESS_BOUNDARY_MIRROR}, V(0), 0);
    one_d(V(0), 0, V(1, 10, 100), 3, false, &(tess_correlate_options){.extent = TESS_EXTENT_FULL, .boundary = TESS_BOUNDARY_CONSTANT, .constant = 2},
          V(222, 222), 2);
}

/* 1e20 * 1e-16 and so on: no weight is too small to count. And the chain of fused operations shows in the last bits. */
static void every_weight_counts(void **state) {
    (void)state;
    ONE_D(false, V(1e20, 1e20, 1e20), V(1e-16, 7e-16, 1e-16), V(80000, 90000, 80000));
    /* fma keeps x * x - y: (1 + 2^-30)^2 - 1 = 2^-29 + 2^-60, which a rounded product would lose */
    const double x = 1 + 0x1p-30;
    ONE_D(false, V(-1, x), V(1, x), V(0x1p-29 + 0x1p-60), .extent = TESS_EXTENT_VALID);
    /* in tap order: (1e16 + 1) - 1e16 = 0 in doubles, (1e16 - 1e16) + 1 = 1 */
    ONE_D(false, V(1e16, 1, -1e16), V(1, 1, 1), V(0), .extent = TESS_EXTENT_VALID);
    ONE_D(false, V(1e16, -1e16, 1), V(1, 1, 1), V(1), .extent = TESS_EXTENT_VALID);
    ONE_D(true, V(1, -1e16, 1e16), V(1, 1, 1), V(0), .extent = TESS_EXTENT_VALID);
}

/* The first product underflows to -0; a ghost cell after it is +0 * w, and -0 + +0 = +0. Nothing multiplies infinity out of a ghost cell: 0 * inf =
 * NaN. */
static void ghosts_take_part(void **state) {
    (void)state;
    const double tiny = -0x1p-600;
    ONE_D(false, V(tiny), V(0x1p-600), V(-0.0));
    ONE_D(false, V(tiny), V(0x1p-600, 1), V(tiny, 0.0), .extent = TESS_EXTENT_FULL, .boundary = TESS_BOUNDARY_ZERO);
    double in[2] = {1, 2}, out[2], mask[3] = {INFINITY, 1, 0};
    int64_t two = 2, three = 3;
    DLTensor i = tess_view(in, tess_f64, 1, &two, NULL), k = tess_view(mask, tess_f64, 1, &three, NULL), o = tess_view(out, tess_f64, 1, &two, NULL);
    const unsigned char want[16] = {0, 0, 0, 0, 0, 0, 0xf8, 0x7f, 0, 0, 0, 0, 0, 0, 0xf0, 0x7f}; /* the canonical NaN, infinity */
    on_every_row(&(cases){&i, &k, &o, false, &(tess_correlate_options){0}}, same_bytes, want, out, sizeof out);
}

static void types(void **state) {
    (void)state;
    int64_t three = 3, two = 2, one = 1;
    uint8_t u8[3] = {200, 100, 255}, u8_out[3];
    int8_t i8_mask[3] = {1, -1, 1}, i8_out[2];
    int64_t i64[3] = {INT64_MAX, 2, 3}, i64_out[3];
    DLTensor i = tess_view(u8, tess_u8, 1, &three, NULL), k = tess_view(i8_mask, tess_i8, 1, &two, NULL),
             o = tess_view(u8_out, tess_u8, 1, &three, NULL);
    /* 0 - 200 saturates to 0, 200 - 100, 100 - 255 */
    on_every_row(&(cases){&i, &k, &o, false, &(tess_correlate_options){0}}, same_bytes, (const uint8_t[]){0, 100, 0}, u8_out, 3);
    o = tess_view(i8_out, tess_i8, 1, &two, NULL);
    on_every_row(&(cases){&i, &k, &o, false, &(tess_correlate_options){.extent = TESS_EXTENT_VALID}}, same_bytes, (const int8_t[]){100, -128}, i8_out,
                 2);
    /* modulo 2^64: INT64_MAX + 2 = INT64_MIN + 1 */
    i = tess_view(i64, tess_i64, 1, &three, NULL);
    k = tess_view(&(int64_t[]){1, 1}, tess_i64, 1, &two, NULL);
    o = tess_view(i64_out, tess_i64, 1, &three, NULL);
    on_every_row(&(cases){&i, &k, &o, false, &(tess_correlate_options){0}}, same_bytes, (const int64_t[]){INT64_MAX, INT64_MIN + 1, 5}, i64_out, 24);
    /* an integer image with a float mask is computed in f32 and rounded half to even: 0.5 * 255 = 127.5 -> 128, 50, 100 */
    float half = 0.5f;
    i = tess_view(u8, tess_u8, 1, &three, NULL);
    k = tess_view(&half, tess_f32, 1, &one, NULL);
    o = tess_view(u8_out, tess_u8, 1, &three, NULL);
    on_every_row(&(cases){&i, &k, &o, false, &(tess_correlate_options){0}}, same_bytes, (const uint8_t[]){100, 50, 128}, u8_out, 3);
    /* (1 + 2i)(3 + 4i) = -5 + 10i */
    float z[2] = {1, 2}, w[2] = {3, 4}, z_out[2];
    i = tess_view(z, tess_c64, 1, &one, NULL);
    k = tess_view(w, tess_c64, 1, &one, NULL);
    o = tess_view(z_out, tess_c64, 1, &one, NULL);
    on_every_row(&(cases){&i, &k, &o, false, &(tess_correlate_options){0}}, same_bytes, (const float[]){-5, 10}, z_out, 8);
    /* bool is the unsigned integer 0 or 1 */
    uint8_t flags[3] = {1, 0, 1};
    i = tess_view(flags, tess_bool, 1, &three, NULL);
    k = tess_view(&(uint8_t[]){1, 1}, tess_bool, 1, &two, NULL);
    o = tess_view(u8_out, tess_u8, 1, &three, NULL);
    on_every_row(&(cases){&i, &k, &o, false, &(tess_correlate_options){.extent = TESS_EXTENT_SAME}}, same_bytes, (const uint8_t[]){1, 1, 1}, u8_out,
                 3);
    /* f64 asked for: 1 + 2^-30 survives, in f32 it would not */
    float a[2] = {1, 0x1p-30f};
    double sum;
    i = tess_view(a, tess_f32, 1, &two, NULL);
    k = tess_view(&(float[]){1, 1}, tess_f32, 1, &two, NULL);
    o = tess_view(&sum, tess_f64, 1, &one, NULL);
    on_every_row(&(cases){&i, &k, &o, false, &(tess_correlate_options){.extent = TESS_EXTENT_VALID, .compute = tess_f64}}, same_bytes,
                 (const double[]){1 + 0x1p-30}, &sum, 8);
}

/* Masks over axes in another order are read in their own order: axes = (1, 0) transposes the mask, not the sum's result. */
static void axes(void **state) {
    (void)state;
    double in[6] = {1, 2, 3, 4, 5, 6}, mask[2] = {1, 10}, mask2[4] = {1, 10, 100, 1000}, out[6];
    int64_t shape[2] = {2, 3}, two = 2, square[2] = {2, 2}, valid[2] = {1, 2};
    DLTensor i = tess_view(in, tess_f64, 2, shape, NULL), k = tess_view(mask, tess_f64, 1, &two, NULL), o = tess_view(out, tess_f64, 2, shape, NULL);
    on_every_row(&(cases){&i, &k, &o, false, &(tess_correlate_options){.axes = (const int[]){0}, .naxes = 1}}, same_doubles,
                 V(10, 20, 30, 41, 52, 63), out, sizeof out);
    on_every_row(&(cases){&i, &k, &o, false, &(tess_correlate_options){.axes = (const int[]){-1}, .naxes = 1}}, same_doubles,
                 V(10, 21, 32, 40, 54, 65), out, sizeof out);
    DLTensor k2 = tess_view(mask2, tess_f64, 2, square, NULL), o2 = tess_view(out, tess_f64, 2, valid, NULL);
    on_every_row(&(cases){&i, &k2, &o2, false, &(tess_correlate_options){.extent = TESS_EXTENT_VALID}}, same_doubles, V(5421, 6532), out, 16);
    on_every_row(&(cases){&i, &k2, &o2, false, &(tess_correlate_options){.extent = TESS_EXTENT_VALID, .axes = (const int[]){1, 0}, .naxes = 2}},
                 same_doubles, V(1 + 40 + 200 + 5000, 2 + 50 + 300 + 6000), out, 16);
    /* a mask of rank 0 is a factor */
    DLTensor k0 = tess_view(&mask[1], tess_f64, 0, NULL, NULL);
    on_every_row(&(cases){&i, &k0, &o, false, &(tess_correlate_options){0}}, same_doubles, V(10, 20, 30, 40, 50, 60), out, sizeof out);
    /* of integers, which are looked into for factors, there are none; by a plan as by a call */
    int32_t numbers[6] = {1, 2, 3, 4, 5, 6}, ten = 10, called[6], planned[6];
    const DLTensor n = tess_view(numbers, tess_i32, 2, shape, NULL), t = tess_view(&ten, tess_i32, 0, NULL, NULL),
                   c = tess_view(called, tess_i32, 2, shape, NULL);
    const DLTensor *masks[] = {&t};
    const tess_correlate_options options = {.struct_size = sizeof options};
    tess_plan *plan;
    assert_tess_ok(tess_correlate(NULL, &n, &t, &c, &options));
    assert_tess_ok(tess_plan_correlate(&plan, NULL, &n, masks, 1, &c, &options));
    assert_tess_ok(tess_execute(plan, numbers, NULL, planned, NULL));
    tess_plan_free(plan);
    assert_memory_equal(called, ((const int32_t[]){10, 20, 30, 40, 50, 60}), sizeof called);
    assert_memory_equal(called, planned, sizeof called);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boundaries),          cmocka_unit_test(bounces),          cmocka_unit_test(conventions), cmocka_unit_test(extents),
        cmocka_unit_test(every_weight_counts), cmocka_unit_test(ghosts_take_part), cmocka_unit_test(types),       cmocka_unit_test(axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
