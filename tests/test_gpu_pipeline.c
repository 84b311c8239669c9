/* SPDX-License-Identifier: Apache-2.0
 * test_gpu_pipeline.c - proves: host arrays that exceed TESSERA_GPU_MEMORY give the reference's bytes slab by slab, whatever their strides, and touch
 * nothing else; the device memory in use stays below the cap; what cannot be cut, or not so small, is refused with a sentence; without a cap small
 * arrays are copied whole. On a card when there is one, else on the virtual GPU. */
#include "gpu_rows.h"
#include "ops/reduce/reduce.h"
#include "ops/transpose/transpose.h"

static tess_context *context;
static tess_engine engine;

static void transposed(uint64_t *random, tess_type type, int ndim, const int64_t *shape, const int *perm, int layout) {
    hostile_array in, expected, out;
    int64_t out_shape[4];
    tess_transpose_options options = {.struct_size = sizeof options, .perm = perm, .nperm = ndim};
    for (int k = 0; k < ndim; k++)
        out_shape[k] = shape[perm[k]];
    hostile_make(&in, random, type, ndim, shape, layout);
    hostile_fill(&in, random, 2);
    uint64_t same = *random;
    hostile_make(&expected, random, type, ndim, out_shape, layout);
    hostile_make(&out, &same, type, ndim, out_shape, layout);
    assert_tess_ok(tess_transpose(context, &in.tensor, &expected.tensor, &options));
    options.call.engine = engine;
    assert_tess_ok(tess_transpose(context, &in.tensor, &out.tensor, &options));
    assert_memory_equal(out.block, expected.block, out.block_size);
    hostile_free(&in);
    hostile_free(&expected);
    hostile_free(&out);
}

static void transposes(void **state) {
    (void)state;
    uint64_t random = 1;
    static const int turned[] = {1, 0}, reversed[] = {2, 1, 0}, channels[] = {0, 2, 1};
    setenv("TESSERA_GPU_MEMORY", "96K", 1);
    for (int layout = HOSTILE_COMPACT; layout <= HOSTILE_STRIDED; layout++) {
        transposed(&random, tess_f32, 2, (const int64_t[]){300, 200}, turned, layout);
        transposed(&random, tess_u8, 2, (const int64_t[]){531, 333}, turned, layout);
        transposed(&random, tess_f64, 3, (const int64_t[]){30, 17, 41}, reversed, layout);
        transposed(&random, tess_i16, 3, (const int64_t[]){70, 31, 40}, channels, layout);
    }
}

static void reduced(uint64_t *random, tess_reduction operation, tess_type in_type, tess_type out_type, int ndim, const int64_t *shape, int axis,
                    int layout) {
    hostile_array in, expected, out;
    int64_t out_shape[4];
    int n = 0;
    tess_reduce_options options = {.struct_size = sizeof options, .axes = &axis, .naxes = 1};
    for (int d = 0; d < ndim; d++)
        if (d != axis)
            out_shape[n++] = shape[d];
    hostile_make(&in, random, in_type, ndim, shape, layout);
    hostile_fill(&in, random, 1);
    uint64_t same = *random;
    hostile_make(&expected, random, out_type, n, out_shape, layout);
    hostile_make(&out, &same, out_type, n, out_shape, layout);
    assert_tess_ok(tess_reduce(context, operation, &in.tensor, &expected.tensor, &options));
    options.call.engine = engine;
    assert_tess_ok(tess_reduce(context, operation, &in.tensor, &out.tensor, &options));
    assert_memory_equal(out.block, expected.block, out.block_size);
    hostile_free(&in);
    hostile_free(&expected);
    hostile_free(&out);
}

static void reductions(void **state) {
    (void)state;
    uint64_t random = 2;
    setenv("TESSERA_GPU_MEMORY", "100000", 1);
    for (int layout = HOSTILE_COMPACT; layout <= HOSTILE_STRIDED; layout++) {
        reduced(&random, TESS_SUM, tess_f32, tess_f32, 2, (const int64_t[]){300, 200}, 1, layout);
        reduced(&random, TESS_SUM, tess_f32, tess_f64, 2, (const int64_t[]){300, 200}, 0, layout);
        reduced(&random, TESS_ARGMAX, tess_f64, tess_i64, 3, (const int64_t[]){20, 30, 40}, 1, layout);
    }
}

static void what_is_refused(void **state) {
    (void)state;
    static float x[100000], y[100000];
    DLTensor in = tess_view(x, tess_f32, 1, (int64_t[]){100000}, NULL), one = tess_view(y, tess_f32, 0, NULL, NULL);
    tess_reduce_options sum = {.struct_size = sizeof sum, .call.engine = engine};
    setenv("TESSERA_GPU_MEMORY", "100K", 1);
    DLTensor rows = tess_view(x, tess_f32, 2, (int64_t[]){2, 50000}, NULL), columns = tess_view(y, tess_f32, 2, (int64_t[]){50000, 2}, NULL);
    tess_transpose_options turn = {.struct_size = sizeof turn, .call.engine = engine};
    assert_tess_fails(tess_transpose(context, &rows, &columns, &turn), TESS_ERR_MEMORY);
    assert_non_null(strstr(tess_detail(), "one slab takes"));
    tess_reduce_options by_median = sum;
    int64_t list[] = {0, 7, 100000};
    DLTensor offsets = tess_view(list, tess_i64, 1, (int64_t[]){3}, NULL), two = tess_view(y, tess_f32, 1, (int64_t[]){2}, NULL);
    int axis = 0;
    by_median.offsets = &offsets;
    by_median.axes = &axis;
    by_median.naxes = 1;
    assert_tess_fails(tess_reduce(context, TESS_SUM, &in, &two, &by_median), TESS_ERR_MEMORY);
    assert_non_null(strstr(tess_detail(), "this problem is not cut"));
    unsetenv("TESSERA_GPU_MEMORY");
    assert_tess_ok(tess_reduce(context, TESS_SUM, &in, &one, &sum));
    assert_tess_ok(tess_transpose(context, &rows, &columns, &turn));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(transposes), cmocka_unit_test(reductions), cmocka_unit_test(what_is_refused)};
    engine = gpu_test_engine();
    if (engine == TESS_ENGINE_VIRTUAL && !gpu_test_compiler()) {
        printf("no compiler for kernels here: %s\n", tess_detail());
        return 77;
    }
    if (tess_open(&context, NULL) != TESS_OK)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tess_close(context);
    return failed;
}
