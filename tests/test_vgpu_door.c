/* SPDX-License-Identifier: Apache-2.0
 * test_vgpu_door.c - proves that the CUDA engine's host code runs unchanged on the virtual GPU's driver table: all that tests/gpu_card.h asks of a card
 * (from PTX of the compiler where there is one, else from the PTX beside the source); that launches are counted and their faults become errors with
 * the fault as text; that handles which are stale, of another kind or another context's are refused; that captures are broken by what they forbid. */
#include "gpu_card.h"

static char *kernels, *shipped;

/* ---- a second context with a machine of its own, beside the one that the shared tests use ---- */

typedef struct own {
    tess_context *context;
    const tess_driver *driver;
    CUdevice device;
    CUcontext primary;
    CUmodule module;
} own;

#define ok(call) assert_int_equal(own_.driver->call, CUDA_SUCCESS)
#define refused(call, code) assert_int_equal(own_.driver->call, code)

static own begin_own(void) {
    own own_ = {0};
    assert_tess_ok(tess_open(&own_.context, NULL));
    assert_tess_ok(tess_vgpu_driver(own_.context, &own_.driver));
    ok(cuInit(0));
    ok(cuDeviceGet(&own_.device, 0));
    ok(cuDevicePrimaryCtxRetain(&own_.primary, own_.device));
    ok(cuCtxPushCurrent(own_.primary));
    ok(cuModuleLoadDataEx(&own_.module, shipped, 0, NULL, NULL));
    return own_;
}
static void end_own(own own_) {
    CUcontext popped;
    ok(cuCtxPopCurrent(&popped));
    assert_ptr_equal(popped, own_.primary);
    ok(cuDevicePrimaryCtxRelease(own_.device));
    tess_close(own_.context);
}

static CUresult launch_add_on(const own *o, CUfunction f, CUdeviceptr in, CUdeviceptr out, unsigned long long n, CUstream stream) {
    void *arguments[] = {&in, &in, &out, &n};
    return o->driver->cuLaunchKernel(f, (unsigned)((n + 63) / 64), 1, 1, 64, 1, 1, 0, stream, arguments, NULL);
}

typedef struct heard {
    int launches, faults;
    tess_vgpu_counters total;
    uint32_t grid, block;
    char kernel[16];
} heard;
static void hear(void *user, const tess_vgpu_launch_record *record) {
    heard *h = user;
    h->launches++;
    h->faults = tess_vgpu_fault_count(record->run);
    tess_vgpu_total(record->run, &h->total);
    h->grid = record->grid[0];
    h->block = record->block[0];
    snprintf(h->kernel, sizeof h->kernel, "%.*s", record->kernel_length, record->kernel);
    assert_true(record->seconds > 0);
}

static void launches_are_counted_and_faults_are_errors(void **state) {
    (void)state;
    enum { COUNT = 256 };
    own own_ = begin_own();
    CUfunction add_, again;
    CUdeviceptr in, out;
    const char *text, *name;
    float host[COUNT];
    heard h = {0};
    for (int i = 0; i < COUNT; i++)
        host[i] = (float)i;
    assert_tess_ok(tess_vgpu_watch(own_.context, &(tess_vgpu_watch_options){.count = true, .launched = hear, .user = &h}));
    ok(cuModuleGetFunction(&add_, own_.module, "add"));
    ok(cuModuleGetFunction(&again, own_.module, "add"));
    assert_ptr_equal(add_, again);
    refused(cuModuleGetFunction(&again, own_.module, "subtract"), CUDA_ERROR_NOT_FOUND);
    ok(cuMemAlloc(&in, sizeof host));
    ok(cuMemAlloc(&out, sizeof host));
    ok(cuMemcpyHtoDAsync(in, host, sizeof host, NULL));
    assert_int_equal(launch_add_on(&own_, add_, in, out, COUNT, NULL), CUDA_SUCCESS);
    assert_int_equal(h.launches, 1);
    assert_string_equal(h.kernel, "add");
    assert_int_equal(h.grid, COUNT / 64);
    assert_int_equal(h.block, 64);
    assert_int_equal(h.total.global_ld_requests, 2 * COUNT / 32);
    assert_int_equal(h.total.global_st_sectors, COUNT / 8);
    assert_int_equal(h.faults, 0);
    /* 64 elements too many */
    assert_int_equal(launch_add_on(&own_, add_, in, out, COUNT + 64, NULL), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(h.launches, 2);
    assert_true(h.faults > 0);
    ok(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    if (!strstr(text, "out of") && !strstr(text, "0 bytes past the end of the allocation"))
        fail_msg("the error's text does not tell the fault: %s", text);
    assert_non_null(strstr(text, "card.cu:"));
    ok(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &name));
    assert_string_equal(name, "CUDA_ERROR_ILLEGAL_ADDRESS");
    /* the context stays usable; what was never written is found by the checkers, and only by them */
    ok(cuMemFree(in));
    ok(cuMemAlloc(&in, sizeof host));
    assert_int_equal(launch_add_on(&own_, add_, in, out, COUNT, NULL), CUDA_ERROR_LAUNCH_FAILED);
    ok(cuGetErrorString(CUDA_ERROR_LAUNCH_FAILED, &text));
    assert_non_null(strstr(text, "card.cu:"));
    assert_tess_ok(tess_vgpu_watch(own_.context, &(tess_vgpu_watch_options){.no_check = true}));
    assert_int_equal(launch_add_on(&own_, add_, in, out, COUNT, NULL), CUDA_SUCCESS);
    assert_int_equal(h.launches, 3);
    end_own(own_);
}

static void wrong_handles_are_refused(void **state) {
    (void)state;
    own own_ = begin_own(), other = begin_own();
    CUfunction f, theirs;
    CUstream s;
    CUevent e, e2;
    CUdeviceptr p, q;
    CUcontext c;
    CUgraph g;
    float ms;
    int value;
    unsigned type;
    void *host;
    assert_ptr_not_equal(own_.primary, other.primary);
    ok(cuCtxPopCurrent(&c));
    ok(cuModuleGetFunction(&f, own_.module, "weigh"));
    ok(cuModuleGetFunction(&theirs, other.module, "weigh"));
    ok(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    ok(cuStreamGetCtx(s, &c));
    assert_ptr_equal(c, own_.primary);
    ok(cuMemAlloc(&p, 1000));
    ok(cuMemAllocAsync(&q, 1000, s));
    void *arguments[] = {&p};
    refused(cuLaunchKernel(theirs, 1, 1, 1, 16, 1, 1, 0, s, arguments, NULL), CUDA_ERROR_INVALID_HANDLE);
    refused(cuLaunchKernel((CUfunction)(uintptr_t)s, 1, 1, 1, 16, 1, 1, 0, s, arguments, NULL), CUDA_ERROR_INVALID_HANDLE);
    refused(cuLaunchKernel((CUfunction)(uintptr_t)12345, 1, 1, 1, 16, 1, 1, 0, s, arguments, NULL), CUDA_ERROR_INVALID_HANDLE);
    refused(cuLaunchKernel(f, 1, 1, 1, 16, 1, 1, 0, (CUstream)(uintptr_t)f, arguments, NULL), CUDA_ERROR_INVALID_HANDLE);
    refused(cuLaunchKernel(f, 0, 1, 1, 16, 1, 1, 0, s, arguments, NULL), CUDA_ERROR_INVALID_VALUE);
    refused(cuLaunchKernel(f, 1, 1, 1, 16, 1, 65, 0, s, arguments, NULL), CUDA_ERROR_INVALID_VALUE);
    refused(cuLaunchKernel(f, 1, 1, 1, 16, 1, 1, 49153, s, arguments, NULL), CUDA_ERROR_INVALID_VALUE);
    ok(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 49153));
    refused(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232449), CUDA_ERROR_INVALID_VALUE);
    ok(cuLaunchKernel(f, 1, 1, 1, 16, 1, 1, 49153, s, arguments, NULL));
    size_t size = sizeof p;
    void *extra[] = {(void *)1, &p, (void *)2, &size, NULL};
    ok(cuLaunchKernel(f, 1, 1, 1, 16, 1, 1, 0, s, NULL, extra));
    size = 4;
    refused(cuLaunchKernel(f, 1, 1, 1, 16, 1, 1, 0, s, NULL, extra), CUDA_ERROR_INVALID_VALUE);
    ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, f, 256, 100000));
    assert_int_equal(value, 2);
    ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, f, 1024, 0));
    assert_int_equal(value, 2);
    refused(cuDeviceGetAttribute(&value, 12345, own_.device), CUDA_ERROR_INVALID_VALUE);
    refused(cuDeviceGet(&value, 1), CUDA_ERROR_INVALID_DEVICE);
    /* memory */
    ok(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 999));
    assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
    ok(cuMemHostAlloc(&host, 100, 0));
    memset(host, 7, 100);
    ok(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)host));
    assert_int_equal(type, CU_MEMORYTYPE_HOST);
    refused(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)&type), CUDA_ERROR_INVALID_VALUE);
    ok(cuMemcpyHtoDAsync(q, host, 100, s));
    ok(cuMemcpyDtoDAsync(p + 50, q, 100, s));
    memset(host, 0, 100);
    ok(cuMemcpyDtoHAsync(host, p + 50, 100, s));
    assert_int_equal(((char *)host)[99], 7);
    refused(cuMemcpyDtoHAsync(host, p + 950, 100, s), CUDA_ERROR_INVALID_VALUE);
    refused(cuMemFree(p + 1), CUDA_ERROR_INVALID_VALUE);
    ok(cuMemFree(p));
    refused(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
    ok(cuMemFreeAsync(q, s));
    ok(cuMemFreeHost(host));
    refused(cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE);
    ok(cuMemHostAlloc(&host, 100, CU_MEMHOSTALLOC_DEVICEMAP)); /* where kernels see it, and so the host what is put there */
    ok(cuPointerGetAttribute(&p, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, (CUdeviceptr)(uintptr_t)host + 4));
    ok(cuMemsetD8Async(p, 9, 3, s));
    assert_memory_equal((char *)host + 4, "\t\t\t", 3);
    ok(cuMemFreeHost(host));
    refused(cuMemAlloc(&p, 0), CUDA_ERROR_INVALID_VALUE);
    /* constants as the host sees them, in both directions */
    float given[16] = {3}, found[16] = {0};
    ok(cuModuleGetGlobal(&p, &size, own_.module, "weights"));
    assert_int_equal(size, sizeof given);
    ok(cuMemcpyHtoDAsync(p, given, sizeof given, s));
    ok(cuMemcpyDtoHAsync(found, p, sizeof found, s));
    assert_memory_equal(found, given, sizeof given);
    refused(cuMemcpyHtoDAsync(p, given, sizeof given + 1, s), CUDA_ERROR_INVALID_VALUE);
    refused(cuModuleGetGlobal(&p, &size, own_.module, "heights"), CUDA_ERROR_NOT_FOUND);
    /* events, captures */
    ok(cuEventCreate(&e, 0));
    ok(cuEventCreate(&e2, 0));
    ok(cuEventRecord(e, s));
    refused(cuEventElapsedTime(&ms, e, e2), CUDA_ERROR_INVALID_HANDLE);
    ok(cuEventRecord(e2, s));
    ok(cuEventElapsedTime(&ms, e, e2));
    assert_true(ms >= 0);
    refused(cuStreamEndCapture(s, &g), CUDA_ERROR_INVALID_VALUE);
    ok(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    refused(cuMemAlloc(&p, 8), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    refused(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    assert_null(g);
    ok(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    refused(cuStreamSynchronize(s), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    refused(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    refused(cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    /* machine code, wrong PTX, handles after their end */
    char log[256] = "";
    CUjit_option words[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    CUmodule m;
    refused(cuModuleLoadDataEx(&m, "\177ELF", 2, words, values), CUDA_ERROR_NO_BINARY_FOR_GPU);
    assert_non_null(strstr(log, "PTX"));
    refused(cuModuleLoadDataEx(&m, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { frob; }", 2, words, values),
            CUDA_ERROR_INVALID_PTX);
    assert_non_null(strstr(log, "frob"));
    assert_non_null(strstr(log, "line 4"));
    assert_null(m);
    ok(cuStreamDestroy(s));
    refused(cuStreamDestroy(s), CUDA_ERROR_INVALID_HANDLE);
    ok(cuModuleUnload(own_.module));
    p = 0;
    refused(cuLaunchKernel(f, 1, 1, 1, 16, 1, 1, 0, NULL, arguments, NULL), CUDA_ERROR_INVALID_HANDLE);
    /* the primary context ends with its last user, and another gets another number */
    unsigned long long id, id2;
    ok(cuCtxGetId(own_.primary, &id));
    ok(cuDevicePrimaryCtxRelease(own_.device));
    refused(cuCtxGetId(own_.primary, &id2), CUDA_ERROR_INVALID_CONTEXT);
    refused(cuStreamCreate(&s, 0), CUDA_ERROR_INVALID_CONTEXT);
    ok(cuCtxPopCurrent(&c));
    refused(cuCtxPushCurrent(own_.primary), CUDA_ERROR_INVALID_CONTEXT);
    ok(cuDevicePrimaryCtxRetain(&own_.primary, own_.device));
    ok(cuCtxGetId(own_.primary, &id2));
    assert_true(id2 != id);
    ok(cuCtxPushCurrent(own_.primary));
    end_own(own_);
    own_ = other;
    ok(cuCtxPushCurrent(other.primary));
    end_own(other);
}

static void captures_span_streams(void **state) {
    (void)state;
    own own_ = begin_own();
    CUstream s, t;
    CUevent fork, join;
    CUgraph g;
    CUgraphExec x;
    CUdeviceptr p;
    char got[4] = {0};
    ok(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    ok(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    ok(cuEventCreate(&fork, 0));
    ok(cuEventCreate(&join, 0));
    ok(cuMemAlloc(&p, 4));
    ok(cuMemsetD8Async(p, 1, 4, s));
    ok(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ok(cuMemsetD8Async(p, 2, 4, s));
    ok(cuEventRecord(fork, s));
    ok(cuStreamWaitEvent(t, fork, 0));
    ok(cuMemsetD8Async(p, 3, 2, t));
    ok(cuEventRecord(join, t));
    ok(cuStreamWaitEvent(s, join, 0));
    ok(cuMemcpyDtoHAsync(got, p, 4, s));
    ok(cuStreamEndCapture(s, &g));
    ok(cuGraphInstantiateWithFlags(&x, g, 0));
    ok(cuGraphDestroy(g));
    ok(cuMemcpyDtoHAsync(got, p, 4, t)); /* t is free again, and nothing has been done yet */
    assert_memory_equal(got, "\1\1\1\1", 4);
    ok(cuGraphLaunch(x, s));
    ok(cuStreamSynchronize(s));
    assert_memory_equal(got, "\3\3\2\2", 4);
    ok(cuGraphExecDestroy(x));
    refused(cuGraphLaunch(x, s), CUDA_ERROR_INVALID_HANDLE);
    end_own(own_);
}

typedef struct another {
    const tess_driver *driver;
    CUcontext context;
    CUstream stream;
    CUresult ended;
} another;
/* Another thread, which captures nothing, ends a capture that is not its own. */
static void *end_elsewhere(void *given) {
    another *a = given;
    CUcontext popped;
    CUgraph g;
    a->driver->cuCtxPushCurrent(a->context);
    a->ended = a->driver->cuStreamEndCapture(a->stream, &g);
    a->driver->cuCtxPopCurrent(&popped);
    return NULL;
}

/* CUDA's three modes: what is forbidden to the thread that captures, what is when it relaxes itself, and who may end the capture. */
static void capture_modes(void **state) {
    (void)state;
    own own_ = begin_own();
    CUstream s, t, blocking;
    CUgraph g;
    CUgraphExec x;
    CUdeviceptr p, q;
    char got[4];
    ok(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    ok(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    ok(cuStreamCreate(&blocking, 0));
    ok(cuMemAlloc(&p, 4));
    ok(cuMemsetD8Async(p, 1, 4, s));
    ok(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ok(cuMemsetD8Async(p, 2, 2, s));
    ok(cuStreamEndCapture(s, &g));
    ok(cuGraphInstantiateWithFlags(&x, g, 0));
    ok(cuGraphDestroy(g));
    for (int mode = CU_STREAM_CAPTURE_MODE_GLOBAL; mode <= CU_STREAM_CAPTURE_MODE_RELAXED; mode++)
        for (int own_mode = CU_STREAM_CAPTURE_MODE_GLOBAL; own_mode <= CU_STREAM_CAPTURE_MODE_RELAXED; own_mode++) {
            CUstreamCaptureMode m = own_mode;
            bool relaxed = mode == CU_STREAM_CAPTURE_MODE_RELAXED || own_mode == CU_STREAM_CAPTURE_MODE_RELAXED;
            ok(cuStreamBeginCapture(s, mode));
            ok(cuThreadExchangeStreamCaptureMode(&m));
            assert_int_equal(m, CU_STREAM_CAPTURE_MODE_GLOBAL);
            ok(cuGraphLaunch(x, t)); /* on another stream, whatever the mode, and at once */
            ok(cuMemcpyDtoHAsync(got, p, 4, t));
            assert_memory_equal(got, "\2\2\1\1", 4);
            ok(cuMemsetD8Async(p, 1, 4, t));
            refused(cuMemAlloc(&q, 8), relaxed ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
            if (relaxed)
                ok(cuMemFree(q));
            ok(cuThreadExchangeStreamCaptureMode(&m));
            assert_int_equal(m, own_mode);
            another a = {.driver = own_.driver, .context = own_.primary, .stream = s};
            pthread_t thread;
            assert_int_equal(pthread_create(&thread, NULL, end_elsewhere, &a), 0);
            pthread_join(thread, NULL);
            if (mode == CU_STREAM_CAPTURE_MODE_RELAXED) {
                assert_int_equal(a.ended, CUDA_SUCCESS);
                continue;
            }
            assert_int_equal(a.ended, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
            refused(cuStreamEndCapture(s, &g), relaxed ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        }
    CUstreamCaptureMode none = 3;
    refused(cuThreadExchangeStreamCaptureMode(&none), CUDA_ERROR_INVALID_VALUE);
    /* a graph launched into a capture becomes a part of the graph that it makes */
    CUgraphExec outer;
    ok(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    ok(cuGraphLaunch(x, s));
    ok(cuMemsetD8Async(p + 3, 3, 1, s));
    ok(cuStreamEndCapture(s, &g));
    ok(cuGraphInstantiateWithFlags(&outer, g, 0));
    ok(cuGraphExecDestroy(x));
    ok(cuMemcpyDtoHAsync(got, p, 4, t));
    assert_memory_equal(got, "\1\1\1\1", 4);
    ok(cuGraphLaunch(outer, t));
    ok(cuMemcpyDtoHAsync(got, p, 4, t));
    assert_memory_equal(got, "\2\2\1\3", 4);
    /* the default stream waits for streams that are not non-blocking: no mode allows that */
    ok(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
    CUstreamCaptureStatus capturing;
    refused(cuStreamIsCapturing(NULL, &capturing), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT); /* asking does no harm */
    ok(cuStreamEndCapture(blocking, &g));
    ok(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
    refused(cuGraphLaunch(outer, NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    refused(cuStreamEndCapture(blocking, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    ok(cuGraphLaunch(outer, NULL));
    end_own(own_);
}

/* What a kernel says of its blocks: for each directive the shapes that an H200's driver took and refused. */
static void test_block_directives(void **state) {
    (void)state;
    static const unsigned shapes[][3] = {{64, 1, 1}, {8, 8, 1}, {1, 1, 64}, {4, 4, 1}, {65, 1, 1}, {8, 8, 2}};
    static const struct {
        const char *text, *taken; /* a letter for each shape: y or n */
        int most;
    } directive[] = {{"", "yyyyyy", 1024},
                     {".maxntid 64", "yyyynn", 64},
                     {".maxntid 8, 8, 1", "yyyynn", 64},
                     {".maxntid 64\n.minnctapersm 4", "yyyynn", 64},
                     {".maxntid 64 .maxntid 16", "nnnynn", 16},
                     {".maxntid 2048", "yyyyyy", 1024},
                     {".reqntid 64", "ynnnnn", 1024},
                     {".reqntid 8, 8", "nynnnn", 1024},
                     {".reqntid 2048", "nnnnnn", 1024},
                     {".minnctapersm 4 .maxnreg 32", "yyyyyy", 1024}};
    own own_ = begin_own();
    for (int d = 0; d < TESS_COUNT(directive); d++) {
        char ptx[256];
        CUmodule module;
        CUfunction function;
        int most = 0;
        snprintf(ptx, sizeof ptx, ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() %s\n{\n ret;\n}\n", directive[d].text);
        ok(cuModuleLoadDataEx(&module, ptx, 0, NULL, NULL));
        ok(cuModuleGetFunction(&function, module, "k"));
        ok(cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
        assert_int_equal(most, directive[d].most);
        for (int i = 0; i < TESS_COUNT(shapes); i++) {
            const unsigned *b = shapes[i];
            refused(cuLaunchKernel(function, 2, 1, 1, b[0], b[1], b[2], 0, NULL, NULL, NULL),
                    directive[d].taken[i] == 'y' ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
        }
        ok(cuModuleUnload(module));
    }
    refused(cuModuleLoadDataEx(&own_.module, ".version 9.0\n.target sm_90\n.address_size 64\n.entry k() .maxntid 0 { ret; }\n", 0, NULL, NULL),
            CUDA_ERROR_INVALID_PTX);
    end_own(own_);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(launches_are_counted_and_faults_are_errors), cmocka_unit_test(wrong_handles_are_refused),
                                       cmocka_unit_test(captures_span_streams), cmocka_unit_test(capture_modes),
                                       cmocka_unit_test(test_block_directives)};
    char *folder = fake_cache();
    const tess_driver *table;
    kernels = vgpu_read("card.cu");
    shipped = vgpu_read("card.sm_90.ptx");
    source.text = kernels;
    source.ptx = shipped;
    N = 1 << 14;
    launches = 3;
    bool there = tess_open(&context, NULL) == TESS_OK && tess_gpu_get(&gpu, context) == TESS_OK && tess_vgpu_driver(context, &table) == TESS_OK &&
                 tess_gpu_open_table(gpu, table, "the virtual GPU") == TESS_OK && tess_gpu_device_get(gpu, 0, &device) == TESS_OK;
    if (!there) {
        printf("%s\n", tess_detail());
        return 1;
    }
    compiler = tess_gpu_open_nvrtc(gpu) == TESS_OK;
    printf("note: %s\n", compiler ? "kernels from the compiler" : "kernels from the PTX beside the source: there is no compiler here");
    int failed = cmocka_run_group_tests_name("as on a card", card_tests, NULL, NULL) + cmocka_run_group_tests_name("the door", tests, NULL, NULL);
    tess_close(context);
    fake_cache_end(folder);
    free(kernels);
    free(shipped);
    return failed;
}
