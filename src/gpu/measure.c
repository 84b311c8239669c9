/* SPDX-License-Identifier: Apache-2.0
 * measure.c - times on the card: a plan's launches on arrays that lie there, and the card's own limits. Medians between events. */
#include <stdlib.h>

#include "gpu/row.h"

enum { RUNS = 101, LEAST = 15, WARM = 3 };

typedef struct watch {
    const tess_gpu_scope *scope;
    CUstream stream;
    CUevent from, to;
} watch;

static tess_status watch_start(watch *c, const tess_gpu_scope *scope) {
    *c = (watch){.scope = scope};
    TESS_CUDA(scope->gpu, cuStreamCreate, &c->stream, CU_STREAM_NON_BLOCKING);
    TESS_CUDA(scope->gpu, cuEventCreate, &c->from, 0);
    TESS_CUDA(scope->gpu, cuEventCreate, &c->to, 0);
    return TESS_OK;
}

static void watch_free(const watch *c) {
    const tess_driver *d = &c->scope->gpu->driver;
    if (c->from)
        d->cuEventDestroy(c->from);
    if (c->to)
        d->cuEventDestroy(c->to);
    if (c->stream)
        d->cuStreamDestroy(c->stream);
}

static int ascending(const void *a, const void *b) { return (*(const float *)a > *(const float *)b) - (*(const float *)a < *(const float *)b); }

/* Runs work again and again for about `budget` seconds: 15 times at least, after three that are not counted. */
static tess_status watch_median(const watch *c, tess_status (*work)(void *argument, CUstream stream), void *argument, double budget, double *median) {
    const tess_gpu *gpu = c->scope->gpu;
    float ms[RUNS];
    double spent = 0;
    int n = -WARM;
    for (; n < LEAST || (n < RUNS && spent < budget); n++) {
        float once = 0;
        TESS_CUDA(gpu, cuEventRecord, c->from, c->stream);
        TESS_TRY(work(argument, c->stream));
        TESS_CUDA(gpu, cuEventRecord, c->to, c->stream);
        TESS_CUDA(gpu, cuEventSynchronize, c->to);
        TESS_CUDA(gpu, cuEventElapsedTime, &once, c->from, c->to);
        if (n >= 0)
            ms[n] = once;
        spent += once * 1e-3;
    }
    qsort(ms, (size_t)n, sizeof *ms, ascending);
    *median = ms[n / 2] * 1e-3;
    return TESS_OK;
}

/* ---- a plan ---- */

enum { OPERANDS = 3, ALIGNED = 256 };

typedef struct plan_work {
    const tess_gpu_scope *scope;
    const tess_gpu_plan *made;
    tess_gpu_pointers pointers;
    CUdeviceptr memory[OPERANDS + 1], block[OPERANDS]; /* the block: the operand's lowest byte */
    char *host[OPERANDS];                              /* the same */
    size_t bytes[OPERANDS];
    watch watch;
} plan_work;

static tess_status launch_plan(void *argument, CUstream stream) {
    plan_work *w = argument;
    return tess_gpu_run_steps(w->scope, w->made, &w->pointers, stream);
}

static tess_status place_operands(plan_work *w, const tess_plan *plan, const void *const *host) {
    CUdeviceptr first[OPERANDS] = {0};
    for (int i = 0; i < OPERANDS; i++) {
        const tess_array *a = plan->problem->op->array(plan->problem, (tess_operand)i);
        int64_t low, high;
        if (!a || (i == TESS_ARRAY_OUT && a == plan->problem->op->array(plan->problem, TESS_ARRAY_IN)))
            continue;
        tess_array_extent(a, &low, &high);
        if (high == low)
            continue;
        w->bytes[i] = (size_t)(high - low);
        w->host[i] = (char *)(uintptr_t)host[i] + low;
        int64_t pad = (low % ALIGNED + ALIGNED) % ALIGNED; /* so that the first element is aligned as a caller's would be */
        TESS_CUDA(w->scope->gpu, cuMemAlloc, &w->memory[i], w->bytes[i] + (size_t)pad);
        w->block[i] = w->memory[i] + (CUdeviceptr)pad;
        first[i] = w->block[i] - (CUdeviceptr)low;
        TESS_CUDA(w->scope->gpu, cuMemcpyHtoDAsync, w->block[i], w->host[i], w->bytes[i], w->watch.stream);
    }
    if (plan->workspace > 0)
        TESS_CUDA(w->scope->gpu, cuMemAlloc, &w->memory[OPERANDS], plan->workspace);
    w->pointers = (tess_gpu_pointers){.in = first[TESS_ARRAY_IN],
                                      .second = first[TESS_ARRAY_SECOND],
                                      .out = first[w->bytes[TESS_ARRAY_OUT] ? TESS_ARRAY_OUT : TESS_ARRAY_IN],
                                      .workspace = w->memory[OPERANDS]};
    return tess_gpu_aligned_plan(&w->made, plan, &w->pointers);
}

static tess_status time_inside(plan_work *w, const tess_plan *plan, const void *in, const void *second, void *out, double budget, double *median) {
    const void *host[OPERANDS] = {[TESS_ARRAY_IN] = in, [TESS_ARRAY_SECOND] = second, [TESS_ARRAY_OUT] = out};
    TESS_TRY(watch_start(&w->watch, w->scope));
    TESS_TRY(place_operands(w, plan, host));
    TESS_TRY(watch_median(&w->watch, launch_plan, w, budget, median));
    TESS_TRY(tess_gpu_finish(w->scope, plan, w->made, &w->pointers, w->watch.stream));
    if (w->bytes[TESS_ARRAY_OUT] > 0)
        TESS_CUDA(w->scope->gpu, cuMemcpyDtoHAsync, w->host[TESS_ARRAY_OUT], w->block[TESS_ARRAY_OUT], w->bytes[TESS_ARRAY_OUT], w->watch.stream);
    TESS_CUDA(w->scope->gpu, cuStreamSynchronize, w->watch.stream);
    return TESS_OK;
}

tess_status tess_gpu_time(const tess_plan *plan, const void *in, const void *second, void *out, double budget, double *median) {
    const tess_gpu_plan *made = plan->prepared;
    tess_gpu_scope scope;
    TESS_TRY(tess_gpu_open(made->gpu));
    tess_status status = tess_gpu_enter(made->gpu, made->device, NULL, &scope);
    plan_work w = {.scope = &scope, .watch.scope = &scope};
    if (status == TESS_OK)
        status = time_inside(&w, plan, in, second, out, budget, median);
    for (int i = 0; i <= OPERANDS; i++)
        if (w.memory[i])
            made->gpu->driver.cuMemFree(w.memory[i]);
    watch_free(&w.watch);
    tess_gpu_leave(&scope);
    return status;
}

/* ---- limits ---- */

extern const char tess_kernel_gpu_limits_cu[];
enum { FMA_BLOCKS = 8, FMA_THREADS = 256, FMA_ROUNDS = 2048 };

typedef struct limit_work {
    const tess_gpu_scope *scope;
    tess_gpu_kernel kernel;
    tess_gpu_grid grid;
    void *argument[3];
} limit_work;

static tess_status launch_limit(void *argument, CUstream stream) {
    limit_work *w = argument;
    return tess_gpu_launch(w->scope, &w->kernel, &w->grid, stream, w->argument);
}

static tess_status time_limit(const watch *c, const char *entry, int64_t blocks, int threads, void *a, void *b, void *d, double budget,
                              double *seconds) {
    static const char *const options[] = {"-DROUNDS=2048"};
    const tess_gpu_source source = {.name = "gpu/limits.cu", .text = tess_kernel_gpu_limits_cu, .options = options, .option_count = 1};
    limit_work w = {.scope = c->scope, .grid = {{blocks, 1, 1}, {threads, 1, 1}, 0}, .argument = {a, b, d}};
    TESS_TRY(tess_gpu_kernel_get(c->scope, &source, entry, &w.kernel));
    return watch_median(c, launch_limit, &w, budget, seconds);
}

/* Numbers that are not alike, again and again: zeros would flatter, and so would a block that fits the cache. */
static tess_status fill(const watch *c, CUdeviceptr at, int64_t bytes) {
    enum { BLOCK = 64 << 20 };
    const tess_gpu *gpu = c->scope->gpu;
    int64_t first = tess_min64(BLOCK, bytes);
    float *block = tess_allocate(gpu->context, BLOCK);
    uint64_t state = 1;
    if (!block)
        return TESS_ERR_MEMORY;
    for (int i = 0; i < BLOCK / 4; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX generator */
        block[i] = (float)(int32_t)(state >> 32) * 0x1p-31f;
    }
    CUresult result = gpu->driver.cuMemcpyHtoDAsync(at, block, (size_t)first, c->stream);
    for (int64_t done = first; result == CUDA_SUCCESS && done < bytes; done += first)
        result = gpu->driver.cuMemcpyDtoDAsync(at + (CUdeviceptr)done, at, (size_t)tess_min64(first, bytes - done), c->stream);
    if (result == CUDA_SUCCESS)
        result = gpu->driver.cuStreamSynchronize(c->stream);
    tess_free(gpu->context, block, BLOCK);
    return tess_gpu_check(gpu, result, "cuMemcpyHtoDAsync");
}

static tess_status limits_inside(const watch *c, CUdeviceptr *memory, double budget, tess_limits *limits) {
    const tess_gpu_device *device = c->scope->device;
    int64_t bytes = tess_min64((int64_t)4 << 30, (int64_t)(device->memory / 8)) / 4096 * 4096, sms = device->sms;
    long long vectors = bytes / 16;
    float one = 1, zero = 0;
    double one64 = 1, zero64 = 0, copy, read, write, f32, f64, fmas = 2.0 * (double)sms * FMA_BLOCKS * FMA_THREADS * FMA_ROUNDS * 256;
    for (int i = 0; i < 2; i++) {
        TESS_CUDA(c->scope->gpu, cuMemAlloc, &memory[i], (size_t)bytes);
        TESS_TRY(fill(c, memory[i], bytes));
    }
    int64_t blocks = tess_ceil_div(vectors, 256);
    TESS_TRY(time_limit(c, "copy_all", blocks, 256, &memory[0], &memory[1], &vectors, budget, &copy));
    TESS_TRY(time_limit(c, "read_all", sms * 4, 512, &memory[0], &memory[1], &vectors, budget, &read));
    TESS_TRY(time_limit(c, "write_all", blocks, 256, &memory[1], &one, &vectors, budget, &write));
    TESS_TRY(time_limit(c, "fma_f32", sms * FMA_BLOCKS, FMA_THREADS, &memory[1], &one, &zero, budget, &f32));
    TESS_TRY(time_limit(c, "fma_f64", sms * FMA_BLOCKS, FMA_THREADS, &memory[1], &one64, &zero64, budget, &f64));
    limits->copy_bytes_per_s = limits->plain_copy_bytes_per_s = 2 * (double)bytes / copy;
    limits->read_bytes_per_s = (double)bytes / read;
    limits->write_bytes_per_s = limits->plain_write_bytes_per_s = (double)bytes / write;
    limits->f32_flops_per_s = fmas / f32;
    limits->f64_flops_per_s = fmas / f64;
    return TESS_OK;
}

tess_status tess_gpu_limits(tess_context *context, double seconds, tess_limits *limits) {
    tess_gpu *gpu;
    tess_gpu_device *device;
    tess_gpu_scope scope;
    CUdeviceptr memory[2] = {0, 0};
    TESS_TRY(tess_gpu_get_engine(&gpu, context, TESS_ENGINE_CUDA));
    TESS_TRY(tess_gpu_open(gpu));
    TESS_TRY(tess_gpu_device_get(gpu, 0, &device));
    tess_status status = tess_gpu_enter(gpu, device, NULL, &scope);
    watch c = {.scope = &scope};
    if (status == TESS_OK)
        status = watch_start(&c, &scope);
    if (status == TESS_OK)
        status = limits_inside(&c, memory, seconds / 5, limits);
    for (int i = 0; i < 2; i++)
        if (memory[i])
            gpu->driver.cuMemFree(memory[i]);
    watch_free(&c);
    tess_gpu_leave(&scope);
    return status;
}
