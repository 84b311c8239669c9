/* SPDX-License-Identifier: Apache-2.0
 * test_gpu_answer.c - proves, on the virtual GPU as the CUDA engine's driver: kernels fresh from the compiler are tried once on a small problem, and not
 * again in this process or by another that finds the image; every operation has such problems for the plans that people make; a kernel that a compiler
 * got wrong (its PTX in the cache is spoiled) is not used, the next row is, and the output has the CPU's bytes; one for addresses that the plan's own row
 * does not take makes room for another such row, and the plan's own stays; where no row is left or one is asked for by name the call fails with a
 * sentence, and the image leaves the cache; nothing is tried while the stream is captured. */
#include "gpu_fake.h"
#include "gpu_rows.h"
#include "vgpu/vgpu.h"

static int launched; /* since the context was opened */

static void count_launch(void *user, const tess_vgpu_launch_record *record) {
    (void)user;
    (void)record;
    launched++;
}

static tess_context *open_doubting(void) {
    tess_context *context;
    tess_gpu *gpu;
    const tess_driver *table;
    const tess_vgpu_watch_options watch = {.launched = count_launch};
    assert_tess_ok(tess_open(&context, NULL));
    assert_tess_ok(tess_gpu_get(&gpu, context));
    assert_tess_ok(tess_vgpu_driver(context, &table));
    assert_tess_ok(tess_gpu_open_table(gpu, table, "the virtual GPU"));
    assert_tess_ok(tess_vgpu_watch(context, &watch));
    gpu->doubts_ptx = true;
    launched = 0;
    return context;
}

static tess_gpu_trust trust_of(const tess_plan *plan) {
    const tess_gpu_plan *made = plan->prepared;
    return tess_gpu_kernel_trust(&made->kernel[made->layout.steps - 1]);
}

static tess_plan *plan_sum(tess_context *context, int64_t n, const char *row, CUstream stream) {
    tess_plan *plan = NULL;
    DLTensor in = tess_view(NULL, tess_f32, 1, &n, NULL), out = tess_view(NULL, tess_f32, 0, NULL, NULL);
    tess_reduce_options options = {.struct_size = sizeof options, .call = {.engine = TESS_ENGINE_CUDA, .strategy = row, .stream = stream}};
    return tess_plan_reduce(&plan, context, TESS_SUM, &in, &out, &options) == TESS_OK ? plan : NULL;
}

/* A gather with strides that only one row takes. */
static tess_status plan_strided(tess_plan **plan, tess_context *context, CUstream stream) {
    DLTensor table = tess_view(NULL, tess_f32, 1, (int64_t[]){1000}, (int64_t[]){3}),
             index = tess_view(NULL, tess_i32, 1, (int64_t[]){5000}, (int64_t[]){2}),
             out = tess_view(NULL, tess_f32, 1, (int64_t[]){5000}, (int64_t[]){-2});
    tess_lookup_options options = {.struct_size = sizeof options, .call = {.engine = TESS_ENGINE_CUDA, .stream = stream}};
    return tess_plan_lookup(plan, context, &table, &index, &out, &options);
}

static void asked_once(void **state) {
    (void)state;
    char *folder = fake_cache();
    tess_context *context = open_doubting();
    tess_plan *plan = plan_sum(context, 1 << 20, NULL, NULL);
    assert_non_null(plan);
    assert_true(trust_of(plan) == TESS_GPU_ANSWERED);
    assert_true(launched > 0);
    int after = launched;
    tess_plan_free(plan);
    assert_non_null(plan = plan_sum(context, 1 << 20, NULL, NULL));
    assert_int_equal(launched, after);
    tess_plan_free(plan);
    tess_close(context);
    context = open_doubting(); /* as another process */
    assert_non_null(plan = plan_sum(context, 1 << 20, NULL, NULL));
    assert_true(trust_of(plan) == TESS_GPU_ANSWERED);
    assert_int_equal(launched, 0);
    tess_plan_free(plan);
    tess_close(context);
    fake_cache_end(folder);
}

/* An image whose file is damaged is compiled anew, and what is compiled anew is asked, whatever the damaged file said. */
static void asked_after_damage(void **state) {
    (void)state;
    char *folder = fake_cache(), command[PATH_MAX];
    tess_context *context = open_doubting();
    tess_plan *plan = plan_sum(context, 1 << 20, NULL, NULL);
    assert_non_null(plan);
    tess_plan_free(plan);
    tess_close(context);
    snprintf(command, sizeof command, "for f in %s/kernels/*; do printf x >> $f; done", folder);
    assert_int_equal(system(command), 0);
    context = open_doubting();
    assert_non_null(plan = plan_sum(context, 1 << 20, NULL, NULL));
    assert_true(trust_of(plan) == TESS_GPU_ANSWERED);
    assert_true(launched > 0);
    tess_plan_free(plan);
    tess_close(context);
    fake_cache_end(folder);
}

/* A kernel that is known to be wrong is not used beside one that was not asked yet. */
static void wrong_beside_new(void **state) {
    (void)state;
    char *folder = fake_cache();
    tess_context *context = open_doubting();
    context->gpu->doubts_ptx = false; /* nothing is asked */
    tess_plan *plan = plan_sum(context, 1 << 20, "reduce/tree_leaves", NULL);
    assert_non_null(plan);
    tess_gpu_plan *made = plan->prepared;
    const tess_gpu_kernel first = made->kernel[0];
    tess_plan *other = NULL;
    const tess_strategy *wrong = NULL;
    tess_gpu_scope scope;
    assert_non_null(other = plan_sum(context, 1000, "reduce/tree_lanes", NULL));
    tess_gpu_kernel_judge(context->gpu, &((tess_gpu_plan *)other->prepared)->kernel[0], TESS_GPU_WRONG);
    made->layout.steps = 2;
    made->kernel[1] = ((tess_gpu_plan *)other->prepared)->kernel[0];
    made->kernel[0] = first;
    assert_true(tess_gpu_kernel_trust(&made->kernel[0]) == TESS_GPU_NEW);
    context->gpu->doubts_ptx = true;
    assert_tess_ok(tess_gpu_enter(context->gpu, made->device, NULL, &scope));
    assert_tess_fails(tess_gpu_ask(&scope, plan, made, NULL, &wrong), TESS_ERR_ENGINE);
    assert_ptr_equal(wrong, made->row);
    tess_gpu_leave(&scope);
    tess_plan_free(other);
    tess_plan_free(plan);
    tess_close(context);
    fake_cache_end(folder);
}

static void not_while_capturing(void **state) {
    (void)state;
    char *folder = fake_cache();
    tess_context *context = open_doubting();
    tess_gpu *gpu = context->gpu;
    tess_gpu_scope scope;
    CUstream stream;
    CUgraph graph;
    assert_tess_ok(tess_gpu_enter(gpu, gpu->devices, NULL, &scope));
    assert_int_equal(gpu->driver.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    tess_plan *plan;
    assert_int_equal(gpu->driver.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    assert_tess_ok(plan_strided(&plan, context, stream));
    assert_true(trust_of(plan) == TESS_GPU_NEW);
    assert_int_equal(launched, 0);
    tess_plan_free(plan);
    assert_int_equal(gpu->driver.cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    assert_tess_ok(plan_strided(&plan, context, stream));
    assert_true(trust_of(plan) == TESS_GPU_ANSWERED && launched > 0);
    tess_plan_free(plan);
    gpu->driver.cuGraphDestroy(graph);
    gpu->driver.cuStreamDestroy(stream);
    tess_gpu_leave(&scope);
    tess_close(context);
    fake_cache_end(folder);
}

/* The first kernel of a plan's row into the cache with another instruction in each place of one: what a wrong compiler would have put there. */
static void spoil(tess_context *context, const tess_gpu_plan *made, const char *right, const char *wrong) {
    tess_gpu *gpu = context->gpu;
    const tess_gpu_source source = {.name = made->layout.unit[0].text->name,
                                    .text = made->layout.unit[0].text->text,
                                    .headers = made->row->gpu->headers,
                                    .options = made->layout.unit[0].option,
                                    .option_count = made->layout.unit[0].options};
    tess_gpu_image image;
    int changed = 0;
    assert_int_equal(strlen(right), strlen(wrong));
    assert_tess_ok(tess_gpu_compile(gpu, &source, 90, TESS_GPU_PTX, &image));
    for (char *at = image.data; (at = strstr(at, right)) != NULL; at += strlen(right), changed++)
        memcpy(at, wrong, strlen(wrong));
    assert_true(changed > 0);
    image.answered = 0;
    tess_gpu_cache_drop(gpu, &image.key, image.form);
    tess_gpu_cache_store(gpu, &image);
    tess_gpu_image_free(gpu, &image);
}

static void a_wrong_kernel_is_not_used(void **state) {
    (void)state;
    enum { N = 20000 };
    static float values[N];
    float expected, found = 0;
    char *folder = fake_cache();
    uint64_t random = 1;
    for (int i = 0; i < N; i++)
        values[i] = (float)(int32_t)hostile_random(&random) * 0x1p-20f;
    tess_context *context = open_doubting();
    tess_plan *plan = plan_sum(context, N, NULL, NULL);
    assert_string_equal(plan->row->name, "reduce/tree_block");
    spoil(context, plan->prepared, "add.rn.f32", "sub.rn.f32");
    tess_plan_free(plan);
    tess_close(context);

    context = open_doubting();
    assert_null(plan_sum(context, N, "reduce/tree_block", NULL));
    assert_non_null(strstr(tess_detail(), "strategy reduce/tree_block is not used on Tessera virtual GPU"));
    assert_non_null(strstr(tess_detail(), "gave other bits than the CPU"));
    int after = launched;
    assert_null(plan_sum(context, N, "reduce/tree_block", NULL)); /* and it stays so, without another try */
    assert_int_equal(launched, after);
    assert_non_null(plan = plan_sum(context, N, NULL, NULL));
    assert_string_equal(plan->row->name, "reduce/tree_rows");
    char text[8192];
    assert_tess_ok(tess_explain(plan, TESS_TEXT, text, sizeof text, NULL));
    assert_non_null(strstr(text, "reduce/tree_block gave other bits than the CPU here and is not used"));
    tess_plan_free(plan);
    DLTensor in = tess_view(values, tess_f32, 1, (int64_t[]){N}, NULL), one = tess_view(&expected, tess_f32, 0, NULL, NULL),
             out = tess_view(&found, tess_f32, 0, NULL, NULL);
    tess_reduce_options options = {.struct_size = sizeof options, .call.engine = TESS_ENGINE_CUDA};
    assert_tess_ok(tess_reduce(context, TESS_SUM, &in, &one, NULL));
    assert_tess_ok(tess_reduce(context, TESS_SUM, &in, &out, &options));
    assert_memory_equal(&found, &expected, sizeof found);
    tess_close(context);

    context = open_doubting(); /* the image has left the cache: compiled again, and right */
    assert_non_null(plan = plan_sum(context, N, NULL, NULL));
    assert_string_equal(plan->row->name, "reduce/tree_block");
    tess_plan_free(plan);
    tess_close(context);
    fake_cache_end(folder);
}

enum { SIDE = 96 };

/* 3 x 3 on the card: a row for aligned addresses, another for the rest. */
static tess_plan *plan_filter(tess_context *context) {
    static float weights[9] = {1, 2, 3, 4, 5, 6, 7, 8, 10};
    tess_plan *plan = NULL;
    int64_t square[] = {SIDE, SIDE};
    DLTensor in = tess_view(NULL, tess_f32, 2, square, NULL), mask = tess_view(weights, tess_f32, 2, (int64_t[]){3, 3}, NULL);
    in.device.device_type = kDLCUDA;
    DLTensor out = in;
    const tess_correlate_options options = {.struct_size = sizeof options, .accuracy = TESS_ACCURACY_DIRECT};
    assert_tess_ok(tess_plan_correlate(&plan, context, &in, (const DLTensor *const[]){&mask}, 1, &out, &options));
    return plan;
}

/* The filter's outputs for operands that begin `gap` bytes behind whole lines. */
static void run_filter(tess_context *context, const tess_plan *plan, CUdeviceptr gap, float *values, float *out) {
    const size_t bytes = sizeof(float) * SIDE * SIDE;
    tess_gpu *gpu = context->gpu;
    tess_gpu_scope scope;
    CUdeviceptr memory;
    CUstream stream;
    assert_tess_ok(tess_gpu_enter(gpu, gpu->devices, NULL, &scope));
    assert_int_equal(gpu->driver.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    assert_int_equal(gpu->driver.cuMemAlloc(&memory, 2 * bytes + 512), CUDA_SUCCESS);
    assert_int_equal(gpu->driver.cuMemcpyHtoDAsync(memory + gap, values, bytes, stream), CUDA_SUCCESS);
    const CUdeviceptr to = memory + gap + bytes + 256;
    const tess_call call = {.stream = stream};
    assert_tess_ok(tess_execute(plan, (void *)(uintptr_t)(memory + gap), NULL, (void *)(uintptr_t)to, &call));
    assert_int_equal(gpu->driver.cuMemcpyDtoHAsync(out, to, bytes, stream), CUDA_SUCCESS);
    assert_int_equal(gpu->driver.cuStreamSynchronize(stream), CUDA_SUCCESS);
    gpu->driver.cuMemFree(memory);
    gpu->driver.cuStreamDestroy(stream);
    tess_gpu_leave(&scope);
}

/* A wrong row for odd addresses takes nothing from the plan's own: the next one for such addresses stands in. */
static void a_wrong_fallback_is_exchanged(void **state) {
    (void)state;
    static float values[SIDE * SIDE], expected[SIDE * SIDE], found[SIDE * SIDE];
    char *folder = fake_cache(), text[16384];
    uint64_t random = 1;
    for (int i = 0; i < SIDE * SIDE; i++)
        values[i] = (float)(int32_t)hostile_random(&random) * 0x1p-20f;
    tess_context *context = open_doubting();
    tess_plan *plan = plan_filter(context);
    const tess_gpu_plan *made = plan->prepared;
    const tess_strategy *first = plan->row, *second = made->other ? made->other->row : NULL;
    assert_true(made->layout.alignment > 4);
    assert_non_null(second);
    run_filter(context, plan, 4, values, expected);
    spoil(context, made->other, "fma.rn.f32", "fma.rz.f32");
    tess_plan_free(plan);
    tess_close(context);

    for (int again = 0; again < 2; again++) { /* the first plan finds it out, the second knows */
        if (again == 0)
            context = open_doubting();
        assert_non_null(plan = plan_filter(context));
        made = plan->prepared;
        assert_ptr_equal(plan->row, first);
        assert_non_null(made->other);
        assert_ptr_not_equal(made->other->row, second);
        assert_tess_ok(tess_explain(plan, TESS_TEXT, text, sizeof text, NULL));
        if (!strstr(text, second->name) || !strstr(text, "gave other bits than the CPU here"))
            fail_msg("%s", text);
        for (CUdeviceptr gap = 0; gap <= 4; gap += 4) {
            run_filter(context, plan, gap, values, found);
            assert_memory_equal(found, expected, sizeof found);
        }
        tess_plan_free(plan);
    }
    tess_close(context);
    fake_cache_end(folder);
}

/* Sums of complex segments, which only one row takes. */
static tess_status plan_segments(tess_plan **plan, tess_context *context) {
    static int64_t list[] = {0, 700, 701, 5000};
    DLTensor in = tess_view(NULL, tess_c64, 1, (int64_t[]){5000}, NULL), out = tess_view(NULL, tess_c64, 1, (int64_t[]){3}, NULL),
             offsets = tess_view(list, tess_i64, 1, (int64_t[]){4}, NULL);
    const int axis = 0;
    tess_reduce_options options = {.struct_size = sizeof options, .call.engine = TESS_ENGINE_CUDA, .axes = &axis, .naxes = 1, .offsets = &offsets};
    return tess_plan_reduce(plan, context, TESS_SUM, &in, &out, &options);
}

static void when_no_row_is_left(void **state) {
    (void)state;
    char *folder = fake_cache();
    tess_plan *plan;
    tess_context *context = open_doubting();
    assert_tess_ok(plan_segments(&plan, context));
    assert_string_equal(plan->row->name, "reduce/tree_segments");
    assert_true(trust_of(plan) == TESS_GPU_ANSWERED);
    spoil(context, plan->prepared, "add.rn.f32", "sub.rn.f32");
    tess_plan_free(plan);
    tess_close(context);
    context = open_doubting();
    assert_tess_fails(plan_segments(&plan, context), TESS_ERR_ENGINE);
    if (!strstr(tess_detail(), "the CPU engine is there"))
        fail_msg("%s", tess_detail());
    tess_close(context);
    fake_cache_end(folder);
}

/* Plans of the sizes that people have: each of their kernels finds a problem to be tried on. */
static void every_operation_has_samples(void **state) {
    (void)state;
    tess_context *context = open_doubting();
    tess_plan *plan;
    static float weights[49];
    for (int i = 0; i < 49; i++)
        weights[i] = (float)(i % 7) - 2.5f;
    const tess_call call = {.engine = TESS_ENGINE_CUDA};
    const tess_transpose_options turned = {.struct_size = sizeof turned, .call = call};
    const tess_reduce_options columns = {.struct_size = sizeof columns, .call = call, .axes = (const int[]){0}, .naxes = 1};
    const tess_reduce_options all = {.struct_size = sizeof all, .call = call};
    const tess_correlate_options direct = {.struct_size = sizeof direct, .call = call, .boundary = TESS_BOUNDARY_REFLECT};
    const tess_lookup_options gather = {.struct_size = sizeof gather, .call = call};
    int64_t square[] = {8192, 8192}, odd[] = {8191, 8189}, volume[] = {256, 256, 256}, line[] = {1 << 28}, row[] = {8192};
    DLTensor f32 = tess_view(NULL, tess_f32, 2, square, NULL), f32_out = f32, u8 = tess_view(NULL, tess_u8, 2, odd, NULL),
             u8_out = tess_view(NULL, tess_u8, 2, (int64_t[]){8189, 8191}, NULL), cube = tess_view(NULL, tess_f32, 3, volume, NULL),
             long_i32 = tess_view(NULL, tess_i32, 1, line, NULL), long_f32 = tess_view(NULL, tess_f32, 1, line, NULL),
             some_f32 = tess_view(NULL, tess_f32, 1, (int64_t[]){1 << 24}, NULL), sums = tess_view(NULL, tess_f32, 1, row, NULL),
             total = tess_view(NULL, tess_f32, 0, NULL, NULL), table = tess_view(NULL, tess_f32, 1, (int64_t[]){65536}, NULL),
             seven = tess_view(weights, tess_f32, 2, (int64_t[]){7, 7}, NULL), three = tess_view(weights, tess_f32, 2, (int64_t[]){3, 3}, NULL),
             cubic = tess_view(weights, tess_f32, 3, (int64_t[]){3, 3, 3}, NULL), taps = tess_view(weights, tess_f32, 1, (int64_t[]){33}, NULL);
#define ANSWERED(...)                                      \
    do {                                                   \
        assert_tess_ok(__VA_ARGS__);                       \
        if (trust_of(plan) != TESS_GPU_ANSWERED)           \
            fail_msg("%s was not asked", plan->row->name); \
        tess_plan_free(plan);                              \
    } while (0)
    ANSWERED(tess_plan_transpose(&plan, context, &f32, &f32_out, &turned));
    ANSWERED(tess_plan_transpose(&plan, context, &u8, &u8_out, &turned));
    ANSWERED(tess_plan_reduce(&plan, context, TESS_SUM, &f32, &sums, &columns));
    ANSWERED(tess_plan_reduce(&plan, context, TESS_SUM, &some_f32, &total, &all));
    const int64_t far_off[] = {50000, 50001, 50100}; /* the first begins behind all that a sample has room for */
    const DLTensor offsets = tess_view((void *)(uintptr_t)far_off, tess_i64, 1, (int64_t[]){3}, NULL),
                   two = tess_view(NULL, tess_f32, 1, (int64_t[]){2}, NULL);
    const tess_reduce_options segments = {.struct_size = sizeof segments, .call = call, .axes = (const int[]){0}, .naxes = 1, .offsets = &offsets};
    ANSWERED(tess_plan_reduce(&plan, context, TESS_MAX, &some_f32, &two, &segments));
    ANSWERED(tess_plan_correlate(&plan, context, &f32, (const DLTensor *const[]){&three}, 1, &f32_out, &direct));
    ANSWERED(tess_plan_correlate(&plan, context, &f32, (const DLTensor *const[]){&seven}, 1, &f32_out, &direct));
    ANSWERED(tess_plan_correlate(&plan, context, &cube, (const DLTensor *const[]){&cubic}, 1, &cube, &direct));
    ANSWERED(tess_plan_correlate(&plan, context, &long_f32, (const DLTensor *const[]){&taps}, 1, &long_f32, &direct));
    DLTensor four = tess_view(NULL, tess_f32, 4, (int64_t[]){256, 256, 128, 128}, NULL),
             four_out = tess_view(NULL, tess_f32, 4, (int64_t[]){128, 128, 256, 256}, NULL);
    ANSWERED(tess_plan_transpose(&plan, context, &four, &four_out, &turned));
    ANSWERED(tess_plan_correlate(&plan, context, &four, (const DLTensor *const[]){&three}, 1, &four, &direct));
    ANSWERED(tess_plan_lookup(&plan, context, &table, &long_i32, &long_f32, &gather));
    static double far_away[65536];
    for (int i = 0; i < 65536; i++)
        far_away[i] = 1e4 + i;
    const DLTensor positions = tess_view(far_away, tess_f64, 1, table.shape, NULL), apart = tess_view(NULL, tess_f32, 1, line, (int64_t[]){2});
    const tess_lookup_options among = {.struct_size = sizeof among, .call = call, .positions = &positions};
    ANSWERED(tess_plan_lookup(&plan, context, &table, &long_f32, &long_f32, &among)); /* lookup/search */
    ANSWERED(tess_plan_lookup(&plan, context, &table, &apart, &long_f32, &among));    /* lookup/between */
#undef ANSWERED
    tess_close(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asked_once),          cmocka_unit_test(asked_after_damage),         cmocka_unit_test(wrong_beside_new),
        cmocka_unit_test(not_while_capturing), cmocka_unit_test(a_wrong_kernel_is_not_used), cmocka_unit_test(a_wrong_fallback_is_exchanged),
        cmocka_unit_test(when_no_row_is_left), cmocka_unit_test(every_operation_has_samples)};
    if (!gpu_test_compiler()) {
        printf("no compiler for kernels here: %s\n", tess_detail());
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
