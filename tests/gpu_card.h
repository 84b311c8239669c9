/* SPDX-License-Identifier: Apache-2.0
 * gpu_card.h - what must hold of the engine's plumbing on any device, a card or the virtual GPU: the facts are sensible; kernels compiled for the
 * device and to PTX run on the caller's stream and give the host's bits; a launch can be captured into a graph; dynamic shared memory beyond 48 KiB
 * works to the last byte; constants arrive; what was current stays current; too much memory is TESS_ERR_MEMORY; grids at the limits are launched. */
#ifndef TESS_TESTS_GPU_CARD_H
#define TESS_TESTS_GPU_CARD_H

#include "core/strategy.h"
#include "gpu_fake.h"
#include "vgpu.h"

enum { BLOCK = 256 };
static int N = 1 << 24; /* elements; a multiple of BLOCK */
static int launches = 100;

static const char *const options[] = {"-DSCALE=0.1f"};
static tess_gpu_source source = {"card.cu", NULL, options, 1, NULL, NULL, false}; /* text: tests/ptx/card.cu */
static bool compiler;                                                             /* there is one */

static tess_context *context;
static tess_gpu *gpu;
static tess_gpu_device *device;

#define assert_cuda(entry, ...) assert_tess_ok(tess_gpu_check(gpu, gpu->driver.entry(__VA_ARGS__), #entry))

static CUcontext current(void) {
    CUcontext found;
    assert_cuda(cuCtxGetCurrent, &found);
    return found;
}

/* Three arrays, a stream and the host's results. */
typedef struct work {
    CUdeviceptr a, b, out;
    CUstream stream;
    float *host_a, *host_b, *host_out, *expected;
} work;

static work begin_work(void) {
    work w;
    uint64_t seed = 4;
    CUdeviceptr *pointers[] = {&w.a, &w.b, &w.out};
    float **host[] = {&w.host_a, &w.host_b, &w.host_out, &w.expected};
    for (int i = 0; i < 3; i++)
        assert_cuda(cuMemAlloc, pointers[i], (size_t)N * sizeof(float));
    for (int i = 0; i < 4; i++)
        assert_non_null(*host[i] = malloc((size_t)N * sizeof(float)));
    for (int i = 0; i < N; i++) {
        w.host_a[i] = (float)(hostile_random(&seed) >> 40) / 1024;
        w.host_b[i] = (float)(hostile_random(&seed) >> 40) / 7;
        volatile float product = w.host_a[i] * 0.1f; /* rounded on its own, as the kernel's */
        w.expected[i] = product + w.host_b[i];
    }
    assert_cuda(cuStreamCreate, &w.stream, CU_STREAM_NON_BLOCKING);
    assert_cuda(cuMemcpyHtoDAsync, w.a, w.host_a, (size_t)N * sizeof(float), w.stream);
    assert_cuda(cuMemcpyHtoDAsync, w.b, w.host_b, (size_t)N * sizeof(float), w.stream);
    return w;
}

static void end_work(work *w) {
    assert_cuda(cuStreamDestroy, w->stream);
    assert_cuda(cuMemFree, w->a);
    assert_cuda(cuMemFree, w->b);
    assert_cuda(cuMemFree, w->out);
    free(w->host_a);
    free(w->host_b);
    free(w->host_out);
    free(w->expected);
}

static void clear_and_check(work *w, void (*launch)(work *w, void *argument), void *argument) {
    assert_cuda(cuMemsetD8Async, w->out, HOSTILE_POISON, (size_t)N * sizeof(float), w->stream);
    launch(w, argument);
    assert_cuda(cuMemcpyDtoHAsync, w->host_out, w->out, (size_t)N * sizeof(float), w->stream);
    assert_cuda(cuStreamSynchronize, w->stream);
    assert_memory_equal(w->host_out, w->expected, (size_t)N * sizeof(float));
}

static tess_status launch_add(const tess_gpu_scope *scope, const tess_gpu_kernel *kernel, work *w) {
    unsigned long long n = N;
    void *arguments[] = {&w->a, &w->b, &w->out, &n};
    const tess_gpu_grid grid = {{N / BLOCK, 1, 1}, {BLOCK, 1, 1}, 0};
    return tess_gpu_launch(scope, kernel, &grid, w->stream, arguments);
}

typedef struct add {
    tess_gpu_scope *scope;
    tess_gpu_kernel kernel;
    CUgraphExec graph;
} add;

static void run_kernel(work *w, void *argument) {
    add *a = argument;
    assert_tess_ok(launch_add(a->scope, &a->kernel, w));
}
static void run_graph(work *w, void *argument) { assert_cuda(cuGraphLaunch, ((add *)argument)->graph, w->stream); }

static void kernels_run_on_the_caller_s_stream(void **state) {
    (void)state;
    tess_gpu_scope scope;
    add a = {&scope, {0}, NULL};
    CUgraph captured;
    CUevent from, to;
    float milliseconds;
    CUcontext popped;
    double begin = tess_seconds();
    assert_tess_ok(tess_gpu_enter(gpu, device, NULL, &scope));
    printf("note: primary context %.1f ms\n", (tess_seconds() - begin) * 1e3);
    CUcontext primary = current();
    tess_gpu_leave(&scope);
    assert_null(current());
    /* the caller works in the primary context and has a stream there */
    assert_cuda(cuCtxPushCurrent, primary);
    work w = begin_work();
    assert_tess_ok(tess_gpu_enter(gpu, device, w.stream, &scope));
    assert_false(scope.pushed);
    begin = tess_seconds();
    assert_tess_ok(tess_gpu_kernel_get(&scope, &source, "add", &a.kernel));
    printf("note: kernel compiled and loaded %.1f ms; %d registers, %d bytes of local memory\n", (tess_seconds() - begin) * 1e3, a.kernel.registers,
           a.kernel.local_bytes);
    clear_and_check(&w, run_kernel, &a);
    begin = tess_seconds();
    assert_tess_ok(tess_gpu_kernel_get(&scope, &source, "add", &a.kernel));
    printf("note: kernel found again %.3f ms\n", (tess_seconds() - begin) * 1e3);
    /* the same through PTX and the driver's compiler */
    if (compiler) {
        tess_gpu_image ptx;
        assert_tess_ok(tess_gpu_compile(gpu, &source, 80, TESS_GPU_PTX, &ptx));
        add from_ptx = {&scope, {0}, NULL};
        assert_tess_ok(tess_gpu_kernel_load(&scope, &ptx, "add", &from_ptx.kernel));
        assert_ptr_not_equal(from_ptx.kernel.module, a.kernel.module);
        clear_and_check(&w, run_kernel, &from_ptx);
        tess_gpu_image_free(gpu, &ptx);
    }
    /* captured */
    assert_cuda(cuStreamBeginCapture, w.stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    tess_gpu_scope inside;
    assert_tess_ok(tess_gpu_enter(gpu, device, w.stream, &inside));
    assert_tess_ok(launch_add(&inside, &a.kernel, &w));
    tess_gpu_leave(&inside);
    assert_cuda(cuStreamEndCapture, w.stream, &captured);
    assert_cuda(cuGraphInstantiateWithFlags, &a.graph, captured, 0);
    clear_and_check(&w, run_graph, &a);
    clear_and_check(&w, run_graph, &a);
    /* times */
    assert_cuda(cuEventCreate, &from, 0);
    assert_cuda(cuEventCreate, &to, 0);
    assert_cuda(cuEventRecord, from, w.stream);
    for (int i = 0; i < launches; i++)
        assert_tess_ok(launch_add(&scope, &a.kernel, &w));
    assert_cuda(cuEventRecord, to, w.stream);
    assert_cuda(cuEventSynchronize, to);
    assert_cuda(cuEventElapsedTime, &milliseconds, from, to);
    printf("note: out = a * scale + b of %d f32 elements: %.1f us a launch, %.2f TB/s (a plain kernel, %d MiB in all)\n", N,
           milliseconds * 1e3 / launches, 12.0 * N * launches / (milliseconds * 1e-3) / 1e12, 3 * N / (1 << 18));
    assert_cuda(cuEventDestroy, from);
    assert_cuda(cuEventDestroy, to);
    tess_gpu_leave(&scope);
    assert_ptr_equal(current(), primary);
    assert_cuda(cuGraphExecDestroy, a.graph);
    assert_cuda(cuGraphDestroy, captured);
    end_work(&w);
    assert_cuda(cuCtxPopCurrent, &popped);
    assert_null(current());
}

static void shared_memory_to_the_last_byte(void **state) {
    (void)state;
    tess_gpu_scope scope;
    tess_gpu_kernel kernel;
    CUdeviceptr out;
    assert_tess_ok(tess_gpu_enter(gpu, device, NULL, &scope));
    assert_tess_ok(tess_gpu_kernel_get(&scope, &source, "reverse", &kernel));
    unsigned n = (unsigned)kernel.max_dynamic_shared;
    assert_true(n > 48 << 10);
    unsigned char *found = malloc(n);
    assert_cuda(cuMemAlloc, &out, n);
    void *arguments[] = {&out, &n};
    tess_gpu_grid grid = {{1, 1, 1}, {BLOCK, 1, 1}, n};
    assert_tess_ok(tess_gpu_launch(&scope, &kernel, &grid, NULL, arguments));
    assert_cuda(cuMemcpyDtoHAsync, found, out, n, NULL);
    assert_cuda(cuStreamSynchronize, NULL);
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(found[i], (n - 1 - i) % 251);
    grid.shared++;
    assert_tess_fails(tess_gpu_launch(&scope, &kernel, &grid, NULL, arguments), TESS_ERR_SIZE);
    assert_cuda(cuMemFree, out);
    free(found);
    tess_gpu_leave(&scope);
}

static void constants_and_large_grids(void **state) {
    (void)state;
    tess_gpu_scope scope;
    tess_gpu_kernel weigh, nothing;
    CUdeviceptr out;
    float given[16], found[16];
    unsigned rows = 0;
    for (int i = 0; i < 16; i++)
        given[i] = 1.0f / (float)(i + 3);
    assert_tess_ok(tess_gpu_enter(gpu, device, NULL, &scope));
    assert_tess_ok(tess_gpu_kernel_get(&scope, &source, "weigh", &weigh));
    assert_tess_ok(tess_gpu_kernel_get(&scope, &source, "nothing", &nothing));
    assert_cuda(cuMemAlloc, &out, sizeof found);
    void *arguments[] = {&out};
    tess_gpu_grid grid = {{1, 1, 1}, {16, 1, 1}, 0};
    assert_tess_ok(tess_gpu_constant(&scope, &weigh, "weights", given, sizeof given, NULL));
    assert_tess_ok(tess_gpu_launch(&scope, &weigh, &grid, NULL, arguments));
    assert_cuda(cuMemcpyDtoHAsync, found, out, sizeof found, NULL);
    assert_cuda(cuStreamSynchronize, NULL);
    assert_memory_equal(found, given, sizeof given);
    grid = (tess_gpu_grid){{3, device->grid[1], 1}, {1, 1, 1}, 0};
    assert_tess_ok(tess_gpu_launch(&scope, &nothing, &grid, NULL, arguments));
    assert_cuda(cuMemcpyDtoHAsync, &rows, out, sizeof rows, NULL);
    assert_cuda(cuStreamSynchronize, NULL);
    assert_int_equal(rows, device->grid[1]);
    grid.grid[1]++;
    assert_tess_fails(tess_gpu_launch(&scope, &nothing, &grid, NULL, arguments), TESS_ERR_SIZE);
    assert_cuda(cuMemFree, out);
    assert_tess_fails(tess_gpu_check(gpu, gpu->driver.cuMemAlloc(&out, device->memory * 2), "cuMemAlloc"), TESS_ERR_MEMORY);
    printf("note: %s\n", tess_detail());
    tess_gpu_leave(&scope);
    assert_null(current());
}

static void facts_are_sensible(void **state) {
    (void)state;
    assert_true(device->major >= 7 && device->sms > 0 && device->sms < 1000);
    assert_int_equal(device->constant_memory, 65536);
    assert_true(device->shared_block_optin >= device->shared_block && device->shared_sm >= device->shared_block_optin);
    assert_true(device->memory > (size_t)1 << 30 && device->l2 >= 1 << 20 && device->grid[0] == 2147483647 && device->grid[1] == 65535);
    assert_true(tess_gpu_bandwidth(device) > 1e10 && tess_gpu_bandwidth(device) < 1e14);
}

static const struct CMUnitTest card_tests[] = {cmocka_unit_test(facts_are_sensible), cmocka_unit_test(kernels_run_on_the_caller_s_stream),
                                               cmocka_unit_test(shared_memory_to_the_last_byte), cmocka_unit_test(constants_and_large_grids)};

#endif
