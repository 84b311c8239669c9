/* SPDX-License-Identifier: Apache-2.0
 * test_correlate_errors.c - that every wrong argument is refused with its status, by a sentence that names the argument and its value, before
 * anything is written. */
#include "hostile.h"

#include <math.h>

typedef struct fixture {
    float in[24], out[24], mask[9];
    int64_t in_shape[2], out_shape[2], mask_shape[2];
    DLTensor in_t, out_t, mask_t;
    tess_correlate_options options;
} fixture;

static void fresh(fixture *f) {
    *f = (fixture){.in_shape = {4, 6}, .out_shape = {4, 6}, .mask_shape = {3, 3}, .options = {.struct_size = sizeof(tess_correlate_options)}};
    f->in_t = tess_view(f->in, tess_f32, 2, f->in_shape, NULL);
    f->out_t = tess_view(f->out, tess_f32, 2, f->out_shape, NULL);
    f->mask_t = tess_view(f->mask, tess_f32, 2, f->mask_shape, NULL);
    memset(f->out, 0x55, sizeof f->out);
}

static void refused(fixture *f, tess_status want, const char *const *words) {
    unsigned char before[sizeof f->out];
    memcpy(before, f->out, sizeof before);
    assert_tess_fails(tess_correlate(NULL, &f->in_t, &f->mask_t, &f->out_t, &f->options), want);
    for (; *words; words++)
        if (!strstr(tess_detail(), *words))
            fail_msg("\"%s\" is not in the detail: %s", *words, tess_detail());
    assert_memory_equal(before, f->out, sizeof before);
}
#define REFUSED(f, status, ...) refused(f, status, (const char *const[]){__VA_ARGS__, NULL})

static void shapes(void **state) {
    (void)state;
    fixture f;
    fresh(&f), f.out_shape[1] = 5;
    REFUSED(&f, TESS_ERR_SHAPE, "out", "axis 1", "5", "6 is needed");
    fresh(&f), f.options.extent = TESS_EXTENT_VALID;
    REFUSED(&f, TESS_ERR_SHAPE, "out", "axis 0", "size 4", "2 is needed");
    fresh(&f), f.options.extent = TESS_EXTENT_FULL;
    REFUSED(&f, TESS_ERR_SHAPE, "out", "axis 0", "size 4", "6 is needed");
    fresh(&f), f.out_t.ndim = 1;
    REFUSED(&f, TESS_ERR_SHAPE, "out", "ndim 1", "2");
    fresh(&f), f.mask_shape[1] = 0;
    REFUSED(&f, TESS_ERR_SHAPE, "mask", "size 0", "axis 1", "at least 1");
    fresh(&f), f.in_t.ndim = f.out_t.ndim = 1;
    REFUSED(&f, TESS_ERR_SHAPE, "mask", "ndim 2", "1");
    fresh(&f), f.in_shape[0] = 0, f.out_shape[0] = 2, f.options.extent = TESS_EXTENT_FULL, f.out_shape[1] = 8,
               f.options.boundary = TESS_BOUNDARY_WRAP;
    REFUSED(&f, TESS_ERR_EMPTY, "in", "size 0", "axis 0");
    fresh(&f), f.in_shape[0] = INT64_MAX / 4, f.in_shape[1] = 1, f.in_t.strides = (int64_t[]){0, 0}, f.mask_shape[0] = INT64_MAX / 4,
               f.mask_shape[1] = 1, f.mask_t.strides = (int64_t[]){0, 0}, f.out_shape[1] = 1;
    f.options.extent = TESS_EXTENT_SAME; /* the mask alone is too large to be copied, the caller's memory is not */
    f.out_shape[0] = 4;
    REFUSED(&f, TESS_ERR_SHAPE, "out", "axis 0", "size 4");
}

static void options(void **state) {
    (void)state;
    fixture f;
    fresh(&f), f.options.boundary = (tess_boundary)6;
    REFUSED(&f, TESS_ERR_ARGUMENT, "boundary", "6");
    fresh(&f), f.options.extent = (tess_extent)3;
    REFUSED(&f, TESS_ERR_ARGUMENT, "extent", "3");
    fresh(&f), f.options.accuracy = (tess_accuracy)-1;
    REFUSED(&f, TESS_ERR_ARGUMENT, "accuracy", "-1");
    fresh(&f), f.options.origin = (int64_t[]){0, 2};
    REFUSED(&f, TESS_ERR_ARGUMENT, "origin[1]", "2", "-1..1");
    fresh(&f), f.options.origin = (int64_t[]){INT64_MIN, 0};
    REFUSED(&f, TESS_ERR_ARGUMENT, "origin[0]", "-9223372036854775808", "-1..1");
    fresh(&f), f.options.origin = (int64_t[]){1, 0}, f.options.extent = TESS_EXTENT_VALID, f.out_shape[0] = 2, f.out_shape[1] = 4;
    REFUSED(&f, TESS_ERR_ARGUMENT, "origin[0]", "1", "must be 0");
    fresh(&f), f.options.axes = (int[]){0, 2}, f.options.naxes = 2;
    REFUSED(&f, TESS_ERR_AXIS, "axes[1]", "2");
    fresh(&f), f.options.axes = (int[]){0, -2}, f.options.naxes = 2;
    REFUSED(&f, TESS_ERR_AXIS, "axes[1]", "-2", "twice");
    fresh(&f), f.options.axes = (int[]){0}, f.options.naxes = 1;
    REFUSED(&f, TESS_ERR_AXIS, "naxes", "1", "2");
    fresh(&f), f.options.naxes = 2;
    REFUSED(&f, TESS_ERR_ARGUMENT, "naxes", "2", "NULL");
    fresh(&f), f.options.struct_size = 3;
    REFUSED(&f, TESS_ERR_ARGUMENT, "struct_size", "3");
    fresh(&f), f.options.call.strategy = "correlate/none";
    REFUSED(&f, TESS_ERR_STRATEGY, "correlate/none");
    fresh(&f), f.options.call.strategy = "correlate/separable";
    REFUSED(&f, TESS_ERR_STRATEGY, "correlate/separable", "cannot run here");
}

static void types(void **state) {
    (void)state;
    fixture f;
    fresh(&f), f.in_t = tess_view(f.in, tess_c64, 2, f.in_shape, NULL), f.in_shape[0] = f.out_shape[0] = 2;
    REFUSED(&f, TESS_ERR_TYPE, "out", "f32", "complex", "c64");
    fresh(&f), f.options.compute = tess_f16;
    REFUSED(&f, TESS_ERR_TYPE, "compute", "f16", "f32");
    fresh(&f), f.options.compute = tess_i64;
    REFUSED(&f, TESS_ERR_TYPE, "compute", "i64", "f32");
    fresh(&f), f.options.compute = (tess_type)99;
    REFUSED(&f, TESS_ERR_TYPE, "compute");
    fresh(&f), f.mask_t.dtype.bits = 24;
    REFUSED(&f, TESS_ERR_TYPE, "mask", "24");
}

static void memory(void **state) {
    (void)state;
    fixture f;
    fresh(&f), f.in_t.data = f.out;
    REFUSED(&f, TESS_ERR_OVERLAP, "out", "in");
    fresh(&f), f.mask_t.data = f.out;
    REFUSED(&f, TESS_ERR_OVERLAP, "out", "mask");
    fresh(&f), f.in_t.data = NULL;
    REFUSED(&f, TESS_ERR_ARGUMENT, "in", "NULL");
    fresh(&f), f.out_t.data = NULL;
    REFUSED(&f, TESS_ERR_ARGUMENT, "out", "NULL");
    fresh(&f), f.mask_t.data = NULL;
    REFUSED(&f, TESS_ERR_ARGUMENT, "mask", "NULL");
    assert_tess_fails(tess_correlate(NULL, &f.in_t, NULL, &f.out_t, &f.options), TESS_ERR_ARGUMENT);
    assert_tess_fails(tess_correlate(NULL, NULL, &f.mask_t, &f.out_t, &f.options), TESS_ERR_ARGUMENT);
    assert_tess_fails(tess_correlate(NULL, &f.in_t, &f.mask_t, NULL, &f.options), TESS_ERR_ARGUMENT);
}

static void lists(void **state) {
    (void)state;
    fixture f;
    int64_t three = 3;
    fresh(&f);
    DLTensor line = tess_view(f.mask, tess_f32, 1, &three, NULL);
    const DLTensor *list[3] = {&line, &line, &line}, *square[2] = {&line, &f.mask_t};
    tess_plan *plan = (tess_plan *)&f;
    assert_tess_fails(tess_correlate_separable(NULL, &f.in_t, list, 3, &f.out_t, &f.options), TESS_ERR_AXIS);
    assert_non_null(strstr(tess_detail(), "count is 3"));
    assert_tess_fails(tess_correlate_separable(NULL, &f.in_t, list, 0, &f.out_t, &f.options), TESS_ERR_ARGUMENT);
    assert_non_null(strstr(tess_detail(), "count is 0"));
    assert_tess_fails(tess_convolve_separable(NULL, &f.in_t, square, 2, &f.out_t, &f.options), TESS_ERR_SHAPE);
    assert_non_null(strstr(tess_detail(), "masks[1] has ndim 2"));
    assert_tess_fails(tess_convolve_separable(NULL, &f.in_t, NULL, 2, &f.out_t, &f.options), TESS_ERR_ARGUMENT);
    assert_tess_fails(tess_plan_correlate(&plan, NULL, &f.in_t, list, -1, &f.out_t, &f.options), TESS_ERR_ARGUMENT);
    assert_null(plan);
    assert_tess_fails(tess_plan_correlate(NULL, NULL, &f.in_t, list, 2, &f.out_t, &f.options), TESS_ERR_ARGUMENT);
}

/* A plan needs no data; its execution does. */
static void plans(void **state) {
    (void)state;
    fixture f;
    fresh(&f);
    const DLTensor *mask = &f.mask_t;
    tess_plan *plan;
    f.mask[4] = 2;
    f.in[7] = 21;
    f.in_t.data = f.out_t.data = NULL;
    assert_tess_ok(tess_plan_correlate(&plan, NULL, &f.in_t, &mask, 1, &f.out_t, NULL));
    f.mask[4] = 3; /* the plan has its own copy */
    assert_tess_fails(tess_execute(plan, NULL, NULL, f.out, NULL), TESS_ERR_ARGUMENT);
    assert_tess_fails(tess_execute(plan, f.in, NULL, NULL, NULL), TESS_ERR_ARGUMENT);
    assert_tess_fails(tess_execute(plan, f.in, f.in, f.out, NULL), TESS_ERR_ARGUMENT);
    assert_tess_fails(tess_execute(plan, f.out, NULL, f.out, NULL), TESS_ERR_OVERLAP);
    assert_tess_ok(tess_execute(plan, f.in, NULL, f.out, NULL));
    assert_true(f.out[7] == 42 && f.out[8] == 0);
    tess_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes), cmocka_unit_test(options), cmocka_unit_test(types),
        cmocka_unit_test(memory), cmocka_unit_test(lists),   cmocka_unit_test(plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
