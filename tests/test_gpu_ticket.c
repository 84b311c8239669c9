/* SPDX-License-Identifier: Apache-2.0
 * test_gpu_ticket.c - proves, on the virtual GPU as the CUDA engine's driver: a reduction of one launch gives the CPU's bytes on every stream, in a
 * captured graph launched again and again, and when the counters are used up; a stream has one counter, a captured execution one of its own, and every
 * counter is 0 again afterwards. And that executions alike are launched as a graph of the plan's, others are not, and all give the CPU's bytes. And that
 * a capture of the caller's on another stream survives all that the library does meanwhile on the same thread. And that a lookup's bad index is told by a
 * mark, which is 0 again afterwards, and by the workspace when all marks are taken. */
#include "gpu/ticket.h"
#include "gpu_rows.h"
#include "vgpu/vgpu.h"

enum { N = 20 * 8192 + 5 };
static tess_context *context;
static tess_gpu *gpu;
static tess_gpu_scope scope;
static float values[N], expected;
static CUdeviceptr in, out, workspace;

#define ok(entry, ...) assert_tess_ok(tess_gpu_check(gpu, gpu->driver.entry(__VA_ARGS__), #entry))

static tess_plan *plan_of(const char *row) {
    int64_t shape[] = {N};
    tess_plan *plan;
    DLTensor from = tess_view((void *)(uintptr_t)in, tess_f32, 1, shape, NULL), to = tess_view((void *)(uintptr_t)out, tess_f32, 0, NULL, NULL);
    from.device.device_type = to.device.device_type = kDLCUDA;
    tess_reduce_options options = {.struct_size = sizeof options, .call = {.strategy = row}};
    assert_tess_ok(tess_plan_reduce(&plan, context, TESS_SUM, &from, &to, &options));
    assert_true(((const tess_gpu_plan *)plan->prepared)->layout.ticket && ((const tess_gpu_plan *)plan->prepared)->layout.steps == 1);
    return plan;
}

static void execute(const tess_plan *plan, CUstream stream, bool own) {
    tess_call call = {.stream = stream, .workspace = own ? (void *)(uintptr_t)workspace : NULL, .workspace_size = own ? 1 << 20 : 0};
    assert_tess_ok(tess_execute(plan, (void *)(uintptr_t)in, NULL, (void *)(uintptr_t)out, &call));
}

static void check_result(void) {
    float found = -1;
    ok(cuMemcpyDtoHAsync, &found, out, sizeof found, NULL);
    ok(cuMemsetD8Async, out, HOSTILE_POISON, sizeof found, NULL);
    assert_memory_equal(&found, &expected, sizeof found);
}

static unsigned counter(CUdeviceptr ticket) {
    unsigned value = 77;
    ok(cuMemcpyDtoHAsync, &value, ticket, sizeof value, NULL);
    return value;
}

static void one_row(const char *row) {
    tess_plan *plan = plan_of(row);
    CUstream a, b, c;
    CUgraph graph;
    CUgraphExec executable;
    ok(cuStreamCreate, &a, CU_STREAM_NON_BLOCKING);
    ok(cuStreamCreate, &b, CU_STREAM_NON_BLOCKING);
    CUdeviceptr of_a = tess_gpu_ticket(&scope, a), of_b = tess_gpu_ticket(&scope, b), of_none = tess_gpu_ticket(&scope, NULL);
    assert_true(of_a && of_b && of_none && of_a != of_b && of_a != of_none && of_b != of_none);
    assert_true(tess_gpu_ticket(&scope, a) == of_a && tess_gpu_ticket(&scope, b) == of_b);
    for (int i = 0; i < 4; i++) {
        execute(plan, i == 3 ? NULL : i & 1 ? b : a, i == 2);
        check_result();
    }
    /* captured: each execution its own counter, in the order in which they are given out */
    ok(cuStreamBeginCapture, a, CU_STREAM_CAPTURE_MODE_GLOBAL);
    CUdeviceptr before = tess_gpu_ticket(&scope, a), after;
    execute(plan, a, true);
    execute(plan, a, true);
    after = tess_gpu_ticket(&scope, a);
    ok(cuStreamEndCapture, a, &graph);
    assert_true(before != of_a && after == before + 3 * sizeof(unsigned));
    ok(cuGraphInstantiateWithFlags, &executable, graph, 0);
    for (int i = 0; i < 2; i++) {
        ok(cuGraphLaunch, executable, b);
        check_result();
    }
    for (CUdeviceptr t = of_a < of_b ? of_a : of_b; t <= after; t += sizeof(unsigned))
        assert_int_equal(counter(t), 0);
    assert_true(tess_gpu_ticket(&scope, a) == of_a);
    /* a stream that is destroyed leaves its number behind, and its counter */
    ok(cuStreamDestroy, b);
    ok(cuStreamCreate, &c, CU_STREAM_NON_BLOCKING);
    assert_true(tess_gpu_ticket(&scope, c) != of_b);
    ok(cuStreamDestroy, c);
    ok(cuGraphExecDestroy, executable);
    ok(cuGraphDestroy, graph);
    ok(cuStreamDestroy, a);
    tess_plan_free(plan);
}

static void rows_of_one_launch(void **state) {
    (void)state;
    one_row("reduce/tree_block");
    one_row("reduce/tree_rows");
}

static CUresult refuse_to_capture(CUstream stream, CUstreamCaptureMode mode) {
    (void)stream;
    return mode == CU_STREAM_CAPTURE_MODE_RELAXED ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

static const tess_gpu_replay *replay_of(const tess_plan *plan) { return &((const tess_gpu_plan *)plan->prepared)->replay; }

static void executions_alike(void **state) {
    (void)state;
    static const char *const rows[] = {"reduce/tree_block", "reduce/tree_rows"};
    CUstream stream, other;
    CUgraph graph;
    ok(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
    ok(cuStreamCreate, &other, CU_STREAM_NON_BLOCKING);
    for (int r = 0; r < 2; r++) {
        tess_plan *plan = plan_of(rows[r]);
        const tess_gpu_replay *replay = replay_of(plan);
        for (int i = 1; i <= 18; i++) { /* the sixteenth is recorded */
            execute(plan, stream, true);
            check_result();
            assert_true((replay->graph != NULL) == (i >= 16));
        }
        /* another stream, with another counter: plain; the graph stays until the 32nd alike takes its place */
        CUgraphExec first = replay->graph;
        for (int i = 1; i <= 5; i++) {
            execute(plan, i & 1 ? other : stream, true);
            check_result();
            assert_ptr_equal(replay->graph, first);
        }
        for (int i = 1; i <= 34; i++) {
            execute(plan, NULL, true);
            check_result();
            assert_true((replay->graph != first) == (i >= 32));
        }
        /* other pointers: the result is where it is wanted */
        tess_call call = {.stream = NULL, .workspace = (void *)(uintptr_t)workspace, .workspace_size = 1 << 20};
        ((tess_gpu_plan *)plan->prepared)->replay.recordings = 0; /* so that sixteen are enough again */
        for (int i = 0; i < 17; i++) {
            float found = -1;
            assert_tess_ok(tess_execute(plan, (void *)(uintptr_t)in, NULL, (void *)(uintptr_t)(out + 64), &call));
            ok(cuMemcpyDtoHAsync, &found, out + 64, sizeof found, NULL);
            ok(cuMemsetD8Async, out + 64, HOSTILE_POISON, sizeof found, NULL);
            assert_memory_equal(&found, &expected, sizeof found);
        }
        /* the caller's capture gets launches of its own, and the plan's graph stays */
        for (int i = 0; i < 33; i++)
            execute(plan, stream, true);
        check_result();
        assert_int_equal(replay->recordings, 2);
        CUgraphExec before = replay->graph, executable;
        assert_non_null(before);
        ok(cuStreamBeginCapture, stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
        execute(plan, stream, true);
        ok(cuStreamEndCapture, stream, &graph);
        assert_ptr_equal(replay->graph, before);
        ok(cuGraphInstantiateWithFlags, &executable, graph, 0);
        ok(cuGraphLaunch, executable, other);
        check_result();
        ok(cuGraphExecDestroy, executable);
        ok(cuGraphDestroy, graph);
        /* while another thread is there launches are plain */
        ((tess_gpu_plan *)plan->prepared)->replay.busy = true;
        execute(plan, stream, true);
        check_result();
        ((tess_gpu_plan *)plan->prepared)->replay.busy = false;
        execute(plan, stream, true);
        check_result();
        /* what cannot be recorded is launched plainly from then on */
        CUresult (*begin)(CUstream, CUstreamCaptureMode) = gpu->driver.cuStreamBeginCapture;
        gpu->driver.cuStreamBeginCapture = refuse_to_capture;
        ((tess_gpu_plan *)plan->prepared)->replay.recordings = 0;
        for (int i = 0; i < 17; i++) {
            execute(plan, other, true);
            check_result();
        }
        assert_true(!replay->graph && replay->never);
        gpu->driver.cuStreamBeginCapture = begin;
        tess_plan_free(plan);
    }
    ok(cuStreamDestroy, stream);
    ok(cuStreamDestroy, other);
}

static tess_plan *correlate_plan(tess_context *of, tess_engine engine, DLDeviceType where) {
    int64_t shape[] = {4096}, taps[] = {600};
    static float weights[600];
    tess_plan *plan;
    DLTensor from = tess_view(NULL, tess_f32, 1, shape, NULL), to = from, mask = tess_view(weights, tess_f32, 1, taps, NULL);
    const DLTensor *masks[] = {&mask};
    from.device.device_type = to.device.device_type = where;
    tess_correlate_options options = {.struct_size = sizeof options, .accuracy = TESS_ACCURACY_FFT, .call = {.engine = engine}};
    assert_tess_ok(tess_plan_correlate(&plan, of, &from, masks, 1, &to, &options));
    return plan;
}

/* A capture in the usual mode forbids this thread to make and free memory, on whatever stream: the library relaxes the thread where it does. */
static void while_the_caller_captures(void **state) {
    (void)state;
    CUstream captured, other;
    CUgraph graph;
    CUgraphExec executable;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    tess_context *second;
    float *host = calloc(2, 4096 * sizeof *host);
    assert_non_null(host);
    assert_tess_ok(tess_open(&second, NULL));
    ok(cuStreamCreate, &captured, CU_STREAM_NON_BLOCKING);
    ok(cuStreamCreate, &other, CU_STREAM_NON_BLOCKING);
    tess_plan *sum = plan_of("reduce/tree_block"), *before = correlate_plan(context, TESS_ENGINE_AUTO, kDLCUDA);
    assert_true(((const tess_gpu_plan *)before->prepared)->data != 0);
    ok(cuThreadExchangeStreamCaptureMode, &mode); /* the scope that this program holds relaxes */
    assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
    ok(cuStreamBeginCapture, captured, CU_STREAM_CAPTURE_MODE_GLOBAL);
    execute(sum, captured, true);
    tess_plan_free(before);
    tess_plan *meanwhile = correlate_plan(context, TESS_ENGINE_AUTO, kDLCUDA);
    assert_true(((const tess_gpu_plan *)meanwhile->prepared)->data != 0);
    tess_plan_free(meanwhile);
    for (int i = 0; i < 18; i++)
        execute(sum, other, true);
    assert_non_null(replay_of(sum)->graph);
    check_result();
    for (int c = 0; c < 2; c++) { /* arrays of the host; a context is closed whose memory, made by the call, is freed then */
        tess_plan *plan = correlate_plan(c ? second : context, c ? TESS_ENGINE_VIRTUAL : TESS_ENGINE_CUDA, kDLCPU);
        assert_tess_ok(tess_execute(plan, host, NULL, host + 4096, NULL));
        tess_plan_free(plan);
    }
    tess_close(second);
    ok(cuStreamEndCapture, captured, &graph);
    ok(cuGraphInstantiateWithFlags, &executable, graph, 0);
    ok(cuGraphLaunch, executable, captured);
    check_result();
    ok(cuGraphExecDestroy, executable);
    ok(cuGraphDestroy, graph);
    mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    ok(cuThreadExchangeStreamCaptureMode, &mode);
    assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_GLOBAL); /* each call put back what it found */
    tess_plan_free(sum);
    ok(cuStreamDestroy, captured);
    ok(cuStreamDestroy, other);
    free(host);
}

static void when_they_are_used_up(void **state) {
    (void)state;
    CUstream a, b;
    CUgraph graph;
    int taken = 0;
    tess_plan *plan = plan_of(NULL);
    ok(cuStreamCreate, &a, CU_STREAM_NON_BLOCKING);
    CUdeviceptr of_a = tess_gpu_ticket(&scope, a);
    ok(cuStreamBeginCapture, a, CU_STREAM_CAPTURE_MODE_GLOBAL);
    while (tess_gpu_ticket(&scope, a))
        assert_true(taken++ < 1 << 20);
    ok(cuStreamEndCapture, a, &graph);
    assert_true(taken > 1000);
    ok(cuStreamCreate, &b, CU_STREAM_NON_BLOCKING);
    assert_int_equal(tess_gpu_ticket(&scope, b), 0);
    assert_true(tess_gpu_ticket(&scope, a) == of_a);
    ok(cuMemsetD8Async, workspace, HOSTILE_POISON, 1 << 20, NULL);
    for (int i = 0; i < 2; i++) {
        execute(plan, b, true);
        check_result();
    }
    execute(plan, b, false);
    check_result();
    ok(cuGraphDestroy, graph);
    ok(cuStreamDestroy, a);
    ok(cuStreamDestroy, b);
    tess_plan_free(plan);
}

enum { LOOKUPS = 3000, ENTRIES = 9, MARKS = 64 };

static void look_up(const tess_plan *plan, CUdeviceptr index, int bad) {
    static int32_t host[LOOKUPS];
    float found[LOOKUPS];
    char said[40];
    for (int i = 0; i < LOOKUPS; i++)
        host[i] = bad >= 0 && i >= bad && i % 100 == bad % 100 ? ENTRIES : i % ENTRIES;
    ok(cuMemcpyHtoDAsync, index, host, sizeof host, NULL);
    ok(cuMemsetD8Async, workspace, HOSTILE_POISON, 1 << 20, NULL);
    tess_call call = {.workspace = (void *)(uintptr_t)workspace, .workspace_size = 1 << 20};
    tess_status status = tess_execute(plan, (void *)(uintptr_t)in, (void *)(uintptr_t)index, (void *)(uintptr_t)(index + sizeof host), &call);
    assert_int_equal(status, bad < 0 ? TESS_OK : TESS_ERR_INDEX);
    snprintf(said, sizeof said, "[%d]", bad);
    if (bad >= 0 && !strstr(tess_detail(), said))
        fail_msg("%d is the first that lies outside: %s", bad, tess_detail());
    ok(cuMemcpyDtoHAsync, found, index + sizeof host, sizeof found, NULL);
    for (int i = 0; i < LOOKUPS && bad < 0; i++)
        assert_memory_equal(&found[i], &values[i % ENTRIES], sizeof found[i]);
}

static void bad_indices_leave_marks(void **state) {
    (void)state;
    static const int bad[] = {-1, 77, -1, 0, 2999, -1};
    int64_t entries[] = {ENTRIES}, lookups[] = {LOOKUPS};
    CUdeviceptr index;
    tess_plan *plan;
    tess_gpu_mark mark[MARKS + 1];
    ok(cuMemAlloc, &index, LOOKUPS * (sizeof(int32_t) + sizeof(float)));
    DLTensor table = tess_view((void *)(uintptr_t)in, tess_f32, 1, entries, NULL),
             at = tess_view((void *)(uintptr_t)index, tess_i32, 1, lookups, NULL),
             to = tess_view((void *)(uintptr_t)(index + LOOKUPS * sizeof(int32_t)), tess_f32, 1, lookups, NULL);
    table.device.device_type = at.device.device_type = to.device.device_type = kDLCUDA;
    tess_lookup_options options = {.struct_size = sizeof options};
    assert_tess_ok(tess_plan_lookup(&plan, context, &table, &at, &to, &options));
    for (int full = 0; full < 2; full++) {
        int taken = 0;
        while (full && tess_gpu_mark_take(&scope, &mark[taken]))
            taken++;
        assert_int_equal(taken, full ? MARKS : 0);
        for (int i = 0; i < TESS_COUNT(bad); i++)
            look_up(plan, index, bad[i]);
        for (int i = 0; i < taken; i++) {
            uint64_t word = 77;
            ok(cuMemcpyDtoHAsync, &word, mark[i].word, sizeof word, NULL);
            assert_true(word == 0 && *mark[i].flag == 0);
            tess_gpu_mark_give(&scope, &mark[i]);
        }
    }
    tess_plan_free(plan);
    ok(cuMemFree, index);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bad_indices_leave_marks), cmocka_unit_test(rows_of_one_launch),
                                       cmocka_unit_test(executions_alike), cmocka_unit_test(while_the_caller_captures),
                                       cmocka_unit_test(when_they_are_used_up)};
    const tess_driver *table;
    uint64_t random = 1;
    int64_t shape[] = {N};
    if (!gpu_test_compiler()) {
        printf("no compiler for kernels here: %s\n", tess_detail());
        return 77;
    }
    for (int i = 0; i < N; i++)
        values[i] = (float)(int32_t)hostile_random(&random) * 0x1p-20f;
    if (tess_open(&context, NULL) != TESS_OK || tess_gpu_get(&gpu, context) != TESS_OK || tess_vgpu_driver(context, &table) != TESS_OK ||
        tess_gpu_open_table(gpu, table, "the virtual GPU") != TESS_OK || tess_gpu_enter(gpu, gpu->devices, NULL, &scope) != TESS_OK)
        return 1;
    DLTensor from = tess_view(values, tess_f32, 1, shape, NULL), to = tess_view(&expected, tess_f32, 0, NULL, NULL);
    bool made = tess_reduce(context, TESS_SUM, &from, &to, NULL) == TESS_OK && gpu->driver.cuMemAlloc(&in, sizeof values) == CUDA_SUCCESS &&
                gpu->driver.cuMemAlloc(&out, 256) == CUDA_SUCCESS && gpu->driver.cuMemAlloc(&workspace, 1 << 20) == CUDA_SUCCESS &&
                gpu->driver.cuMemcpyHtoDAsync(in, values, sizeof values, NULL) == CUDA_SUCCESS && tess_gpu_tickets_make(&scope) == TESS_OK;
    int failed = made ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
    const CUdeviceptr memory[] = {in, out, workspace};
    for (int i = 0; i < 3; i++)
        gpu->driver.cuMemFree(memory[i]);
    tess_gpu_leave(&scope);
    tess_close(context);
    return failed;
}
