/* SPDX-License-Identifier: Apache-2.0
 * test_gpu_shipped.c - proves: where no compiler is found every operation runs on a GPU all the same, by PTX that is shipped, and gives the CPU's bytes; a
 * row that was asked for by name and is not shipped is refused with a sentence; where a slab's kernels are not shipped the whole is copied. On the virtual
 * GPU, which runs the PTX that a driver would compile. */
#include "gpu_rows.h"

static tess_context *context;
static const tess_call call = {.engine = TESS_ENGINE_VIRTUAL};

typedef struct arrays {
    hostile_array in, expected, out;
} arrays;

/* In place: tensors point into their own arrays. */
static void make(arrays *a, uint64_t *random, tess_type from, int ndim, const int64_t *shape, tess_type to, int out_ndim, const int64_t *out_shape) {
    hostile_make(&a->in, random, from, ndim, shape, HOSTILE_COMPACT);
    hostile_fill(&a->in, random, 1);
    uint64_t same = *random;
    hostile_make(&a->expected, random, to, out_ndim, out_shape, HOSTILE_COMPACT);
    hostile_make(&a->out, &same, to, out_ndim, out_shape, HOSTILE_COMPACT);
}

static void compare(arrays *a) {
    assert_memory_equal(a->out.block, a->expected.block, a->out.block_size);
    hostile_free(&a->in);
    hostile_free(&a->expected);
    hostile_free(&a->out);
}

static void transposes(void **state) {
    (void)state;
    uint64_t random = 1;
    static const tess_type types[] = {tess_u8, tess_f16, tess_f32, tess_f64, tess_c128};
    for (int t = 0; t < TESS_COUNT(types); t++)
        for (int ndim = 2; ndim <= 3; ndim++) {
            arrays a;
            make(&a, &random, types[t], ndim, (int64_t[]){37, 41, 19}, types[t], ndim, ndim == 2 ? (int64_t[]){41, 37} : (int64_t[]){19, 41, 37});
            const tess_transpose_options options = {.struct_size = sizeof options, .call = call};
            assert_tess_ok(tess_transpose(context, &a.in.tensor, &a.expected.tensor, NULL));
            assert_tess_ok(tess_transpose(context, &a.in.tensor, &a.out.tensor, &options));
            compare(&a);
        }
}

static void reductions(void **state) {
    (void)state;
    uint64_t random = 2;
    static const struct {
        tess_reduction operation;
        tess_type in, out;
    } all[] = {{TESS_SUM, tess_f32, tess_f32},
               {TESS_SUM, tess_u8, tess_u64},
               {TESS_MAX, tess_i32, tess_i32},
               {TESS_ARGMAX, tess_f32, tess_i64},
               {TESS_STD, tess_f64, tess_f64}};
    for (int i = 0; i < TESS_COUNT(all); i++)
        for (int axis = -1; axis < 2; axis++) {
            arrays a;
            make(&a, &random, all[i].in, 2, (int64_t[]){310, 77}, all[i].out, axis >= 0, axis ? (int64_t[]){310} : (int64_t[]){77});
            tess_reduce_options options = {.struct_size = sizeof options, .axes = axis < 0 ? NULL : &axis, .naxes = axis >= 0};
            assert_tess_ok(tess_reduce(context, all[i].operation, &a.in.tensor, &a.expected.tensor, &options));
            options.call = call;
            assert_tess_ok(tess_reduce(context, all[i].operation, &a.in.tensor, &a.out.tensor, &options));
            compare(&a);
        }
}

static void correlations(void **state) {
    (void)state;
    uint64_t random = 3;
    static const tess_type types[] = {tess_f32, tess_u8, tess_f64};
    static float weights[] = {1, 2, -1, 0.5f, 3, 0.25f, -2, 1, 0.125f};
    DLTensor mask = tess_view(weights, tess_f32, 2, (int64_t[]){3, 3}, NULL), line = tess_view(weights, tess_f32, 1, (int64_t[]){3}, NULL);
    for (int t = 0; t < 3; t++)
        for (int list = 0; list < 2; list++) {
            if (list && t > 0)
                continue;
            arrays a;
            make(&a, &random, types[t], 2, (int64_t[]){45, 67}, types[t], 2, (int64_t[]){45, 67});
            tess_correlate_options options = {.struct_size = sizeof options, .boundary = TESS_BOUNDARY_MIRROR};
            const DLTensor *masks[] = {&line, &line};
            if (list)
                assert_tess_ok(tess_correlate_separable(context, &a.in.tensor, masks, 2, &a.expected.tensor, &options));
            else
                assert_tess_ok(tess_correlate(context, &a.in.tensor, &mask, &a.expected.tensor, &options));
            options.call = call;
            if (list)
                assert_tess_ok(tess_correlate_separable(context, &a.in.tensor, masks, 2, &a.out.tensor, &options));
            else
                assert_tess_ok(tess_correlate(context, &a.in.tensor, &mask, &a.out.tensor, &options));
            compare(&a);
        }
}

static void lookups(void **state) {
    (void)state;
    enum { N = 1000 };
    uint64_t random = 4;
    static uint8_t bytes[N];
    static int32_t integers[N];
    static float places[N];
    for (int i = 0; i < N; i++) {
        bytes[i] = (uint8_t)hostile_random(&random);
        integers[i] = bytes[i];
        places[i] = (float)bytes[i] * 0.99f;
    }
    const DLTensor indices[] = {tess_view(bytes, tess_u8, 1, (int64_t[]){N}, NULL), tess_view(integers, tess_i32, 1, (int64_t[]){N}, NULL),
                                tess_view(places, tess_f32, 1, (int64_t[]){N}, NULL)};
    static double at[256];
    for (int i = 0; i < 256; i++)
        at[i] = 0.7 * i;
    const DLTensor positions = tess_view(at, tess_f64, 1, (int64_t[]){256}, NULL);
    for (int i = 0; i < 4; i++) {
        arrays a;
        make(&a, &random, tess_f32, 1, (int64_t[]){256}, tess_f32, 1, (int64_t[]){N});
        const DLTensor *index = &indices[i < 3 ? i : 2];
        tess_lookup_options options = {.struct_size = sizeof options};
        if (i == 3) /* among positions, by a bisection */
            options = (tess_lookup_options){.struct_size = sizeof options, .outside = TESS_OUTSIDE_CLIP, .positions = &positions};
        assert_tess_ok(tess_lookup(context, &a.in.tensor, index, &a.expected.tensor, &options));
        options.call = call;
        assert_tess_ok(tess_lookup(context, &a.in.tensor, index, &a.out.tensor, &options));
        compare(&a);
    }
}

static void what_is_not_shipped(void **state) {
    (void)state;
    static float values[100000], sum;
    DLTensor in = tess_view(values, tess_f32, 1, (int64_t[]){100000}, NULL), out = tess_view(&sum, tess_f32, 0, NULL, NULL);
    tess_reduce_options options = {.struct_size = sizeof options, .call = {.engine = TESS_ENGINE_VIRTUAL, .strategy = "reduce/tree_rows"}};
    assert_tess_fails(tess_reduce(context, TESS_PROD, &in, &out, &options), TESS_ERR_ENGINE);
    assert_non_null(strstr(tess_detail(), "no PTX of reduce/gpu_tree_rows.cu with these options is shipped, and it cannot be compiled: "));
    options.call.strategy = NULL;
    assert_tess_fails(tess_reduce(context, TESS_PROD, &in, &out, &options), TESS_ERR_ENGINE);
}

/* A sum that is cut into leaves has kernels that are not shipped: it is copied whole where that is allowed. */
static void slabs_that_are_not_shipped(void **state) {
    (void)state;
    uint64_t random = 5;
    const tess_reduce_options options = {.struct_size = sizeof options, .call = call};
    arrays a;
    make(&a, &random, tess_f32, 1, (int64_t[]){25000}, tess_f32, 0, NULL);
    assert_tess_ok(tess_reduce(context, TESS_SUM, &a.in.tensor, &a.expected.tensor, NULL));
    setenv("TESSERA_GPU_MEMORY", "120000", 1);
    assert_tess_ok(tess_reduce(context, TESS_SUM, &a.in.tensor, &a.out.tensor, &options));
    assert_memory_equal(a.out.block, a.expected.block, a.out.block_size);
    setenv("TESSERA_GPU_MEMORY", "99999", 1);
    assert_tess_fails(tess_reduce(context, TESS_SUM, &a.in.tensor, &a.out.tensor, &options), TESS_ERR_MEMORY);
    unsetenv("TESSERA_GPU_MEMORY");
    compare(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(transposes),          cmocka_unit_test(reductions),
                                       cmocka_unit_test(correlations),        cmocka_unit_test(lookups),
                                       cmocka_unit_test(what_is_not_shipped), cmocka_unit_test(slabs_that_are_not_shipped)};
    setenv("TESSERA_LIBNVRTC", "/nonexistent/libnvrtc.so", 1);
    if (tess_open(&context, NULL) != TESS_OK)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tess_close(context);
    return failed;
}
