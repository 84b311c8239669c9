/* SPDX-License-Identifier: Apache-2.0
 * test_gpu_capture.c - proves, on the virtual GPU as the CUDA engine's driver: a plan made on a stream that the caller captures leaves the capture whole,
 * data and constants of the plan's included, and its executions are a part of the graph; an execution that cannot be one is refused with a sentence and
 * loses nothing; so is work for the default stream while it would end another stream's capture. */
#include "gpu_rows.h"
#include "vgpu/vgpu.h"

enum { N = 4096, TAPS = 600, ENTRIES = 255 };
static tess_context *context;
static tess_gpu *gpu;
static tess_gpu_scope scope;
static float values[N], weights[TAPS];
static CUdeviceptr in, out, index_, workspace;

#define ok(entry, ...) assert_tess_ok(tess_gpu_check(gpu, gpu->driver.entry(__VA_ARGS__), #entry))

#define refused(call, word)                           \
    do {                                              \
        assert_tess_fails(call, TESS_ERR_ARGUMENT);   \
        assert_non_null(strstr(tess_detail(), word)); \
    } while (0)

static DLTensor on_device(CUdeviceptr at, tess_type type, int64_t *shape) {
    DLTensor t = tess_view((void *)(uintptr_t)at, type, 1, shape, NULL);
    t.device.device_type = kDLCUDA;
    return t;
}

/* row: NULL, or one by name. */
static tess_plan *correlate_plan(const char *row, int64_t taps, tess_accuracy accuracy, CUstream stream, DLDeviceType where) {
    int64_t shape[] = {N};
    tess_plan *plan;
    DLTensor from = on_device(in, tess_f32, shape), to = on_device(out, tess_f32, shape), mask = tess_view(weights, tess_f32, 1, &taps, NULL);
    const DLTensor *masks[] = {&mask};
    from.device.device_type = to.device.device_type = where;
    tess_correlate_options options = {
        .struct_size = sizeof options, .accuracy = accuracy, .call = {.engine = TESS_ENGINE_CUDA, .strategy = row, .stream = stream}};
    assert_tess_ok(tess_plan_correlate(&plan, context, &from, masks, 1, &to, &options));
    return plan;
}

static tess_plan *lookup_plan(const char *row, tess_outside outside) {
    int64_t shape[] = {N}, entries[] = {ENTRIES};
    tess_plan *plan;
    DLTensor table = on_device(in, tess_f32, entries), index = on_device(index_, tess_u8, shape), to = on_device(out, tess_f32, shape);
    tess_lookup_options options = {.struct_size = sizeof options, .outside = outside, .call = {.strategy = row}};
    assert_tess_ok(tess_plan_lookup(&plan, context, &table, &index, &to, &options));
    return plan;
}

/* Of more than one block. */
static tess_plan *sum_plan(void) {
    int64_t shape[] = {40 * N};
    tess_plan *plan;
    DLTensor from = on_device(in, tess_f32, shape), to = on_device(out, tess_f32, NULL);
    to.ndim = 0;
    tess_reduce_options options = {.struct_size = sizeof options, .call = {.strategy = "reduce/tree_block"}};
    assert_tess_ok(tess_plan_reduce(&plan, context, TESS_SUM, &from, &to, &options));
    assert_true(tess_plan_workspace(plan) > 0);
    return plan;
}

static tess_status execute(const tess_plan *plan, CUstream stream, bool own, tess_report *report) {
    tess_call call = {
        .stream = stream, .workspace = own ? (void *)(uintptr_t)workspace : NULL, .workspace_size = own ? 1 << 20 : 0, .report = report};
    const bool lookup = plan->problem->op->array(plan->problem, TESS_ARRAY_SECOND) != NULL;
    return tess_execute(plan, (void *)(uintptr_t)in, lookup ? (void *)(uintptr_t)index_ : NULL, (void *)(uintptr_t)out, &call);
}

static CUgraphExec end(CUstream stream) {
    CUgraph graph;
    CUgraphExec executable;
    ok(cuStreamEndCapture, stream, &graph);
    ok(cuGraphInstantiateWithFlags, &executable, graph, 0);
    ok(cuGraphDestroy, graph);
    return executable;
}

static void a_plan_is_made(void **state) {
    (void)state;
    static const struct {
        const char *row;
        int64_t taps;
        tess_accuracy accuracy;
        bool blocking;
    } cases[] = {
        {NULL, TAPS, TESS_ACCURACY_FFT, false}, {"correlate/constant", 9, TESS_ACCURACY_DIRECT, false}, {NULL, TAPS, TESS_ACCURACY_FFT, true}};
    for (int i = 0; i < TESS_COUNT(cases); i++) {
        float expected[N], found[N];
        int64_t shape[] = {N}, taps[] = {cases[i].taps};
        CUstream stream;
        DLTensor from = tess_view(values, tess_f32, 1, shape, NULL), to = tess_view(expected, tess_f32, 1, shape, NULL),
                 mask = tess_view(weights, tess_f32, 1, taps, NULL);
        tess_correlate_options options = {.struct_size = sizeof options, .accuracy = cases[i].accuracy};
        assert_tess_ok(tess_correlate(context, &from, &mask, &to, &options));
        ok(cuStreamCreate, &stream, cases[i].blocking ? 0 : CU_STREAM_NON_BLOCKING);
        ok(cuStreamBeginCapture, stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
        /* the blocking stream's: a plan for the default stream, which no work may be done for now */
        tess_plan *plan = correlate_plan(cases[i].row, cases[i].taps, cases[i].accuracy, cases[i].blocking ? NULL : stream, kDLCUDA);
        const tess_gpu_plan *made = plan->prepared;
        assert_true(made->layout.data_size > 0 || made->layout.constants > 0);
        if (cases[i].blocking) {
            refused(execute(plan, NULL, true, NULL), "default");
            assert_tess_ok(execute(plan, stream, true, NULL));
        } else {
            assert_tess_ok(execute(plan, stream, true, NULL));
        }
        CUgraphExec executable = end(stream);
        for (int again = 0; again < 2; again++) {
            ok(cuMemsetD8Async, out, HOSTILE_POISON, sizeof found, NULL);
            ok(cuGraphLaunch, executable, stream);
            ok(cuMemcpyDtoHAsync, found, out, sizeof found, NULL);
            assert_memory_equal(found, expected, sizeof found);
        }
        ok(cuGraphExecDestroy, executable);
        ok(cuStreamDestroy, stream);
        tess_plan_free(plan);
    }
}

static void executions_are_refused(void **state) {
    (void)state;
    CUstream stream;
    tess_report report = {.struct_size = sizeof report};
    float host[2 * N] = {0};
    tess_plan *direct = correlate_plan(NULL, 9, TESS_ACCURACY_DIRECT, NULL, kDLCUDA),
              *copied = correlate_plan(NULL, 9, TESS_ACCURACY_DIRECT, NULL, kDLCPU);
    tess_plan *checked = lookup_plan(NULL, TESS_OUTSIDE_ERROR), *clipped = lookup_plan(NULL, TESS_OUTSIDE_CLIP);
    tess_plan *filled = lookup_plan("lookup/constant", TESS_OUTSIDE_CLIP);
    tess_plan *needy = sum_plan();
    ok(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
    ok(cuStreamBeginCapture, stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    tess_call call = {.stream = stream};
    refused(tess_execute(copied, host, NULL, host + N, &call), "captured");
    refused(execute(direct, stream, true, &report), "report");
    refused(execute(filled, stream, true, NULL), "constant memory");
    refused(execute(checked, stream, true, NULL), "outside");
    refused(execute(needy, stream, false, NULL), "workspace");
    assert_tess_ok(execute(direct, stream, true, NULL));
    assert_tess_ok(execute(clipped, stream, true, NULL));
    CUgraphExec executable = end(stream);
    ok(cuGraphLaunch, executable, stream);
    ok(cuGraphExecDestroy, executable);
    assert_tess_ok(execute(filled, stream, true, NULL));
    ok(cuStreamDestroy, stream);
    tess_plan *const plans[] = {direct, copied, checked, clipped, filled, needy};
    for (int i = 0; i < TESS_COUNT(plans); i++)
        tess_plan_free(plans[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_plan_is_made), cmocka_unit_test(executions_are_refused)};
    const tess_driver *table;
    uint64_t random = 1;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (!gpu_test_compiler()) {
        printf("no compiler for kernels here: %s\n", tess_detail());
        return 77;
    }
    for (int i = 0; i < N; i++)
        values[i] = (float)(int32_t)hostile_random(&random) * 0x1p-20f;
    for (int i = 0; i < TAPS; i++)
        weights[i] = (float)(int32_t)hostile_random(&random) * 0x1p-30f;
    if (tess_open(&context, NULL) != TESS_OK || tess_gpu_get(&gpu, context) != TESS_OK || tess_vgpu_driver(context, &table) != TESS_OK ||
        tess_gpu_open_table(gpu, table, "the virtual GPU") != TESS_OK || tess_gpu_enter(gpu, gpu->devices, NULL, &scope) != TESS_OK)
        return 1;
    bool made = gpu->driver.cuMemAlloc(&in, 40 * sizeof values) == CUDA_SUCCESS && gpu->driver.cuMemAlloc(&out, sizeof values) == CUDA_SUCCESS &&
                gpu->driver.cuMemAlloc(&index_, N) == CUDA_SUCCESS && gpu->driver.cuMemAlloc(&workspace, 1 << 20) == CUDA_SUCCESS &&
                gpu->driver.cuMemcpyHtoDAsync(in, values, sizeof values, NULL) == CUDA_SUCCESS &&
                gpu->driver.cuMemcpyHtoDAsync(index_, values, N, NULL) == CUDA_SUCCESS &&
                gpu->driver.cuThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS; /* as callers are, not as this program's scope */
    int failed = made ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
    const CUdeviceptr memory[] = {in, out, index_, workspace};
    for (int i = 0; i < TESS_COUNT(memory); i++)
        gpu->driver.cuMemFree(memory[i]);
    tess_gpu_leave(&scope);
    tess_close(context);
    return failed;
}
