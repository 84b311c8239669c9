/* SPDX-License-Identifier: Apache-2.0
 * gpu.c - the card's own limits, then every work of the CUDA engine, each as a fraction of the limit of the same run.
 *
 *     build/bench/gpu [--rows | --compile] [WORD...]        only works whose name contains a WORD; --rows: every row that can run a work;
 *                                                           --compile: no times on the card, but what each work's kernels cost at their first use
 *
 * A line: work | row | ms | GB/s | TFLOP/s | % of limit. The limit is the larger of bytes / bandwidth (read or copy, by what the work does) and flops /
 * fma rate. Needs a card; run it on one that does nothing else. */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/strategy.h"
#include "gpu/gpu.h"

enum {
    RUNS = 15,
    WARM = 3,
    LATENCY_RUNS = 201,
    LATENCY_WARM = 32
}; /* executions alike become a graph (src/gpu/replay.c): what is counted begins after */

struct gpu_bench {
    tess_context *context;
    tess_gpu *gpu;
    tess_gpu_scope scope;
    CUstream stream;
    CUevent from, to;
    CUdeviceptr memory[3], uploads[32], workspace;
    int64_t size[3];
    bool filled[3];
    size_t workspace_size;
    int upload_count;
    char **words;
    int word_count;
    bool rows, compile;
    double read, copy, fma; /* bytes/s, bytes/s, flop/s */
};

static void check(tess_status status) {
    if (status != TESS_OK) {
        printf("%s\n", tess_detail());
        exit(1);
    }
}
#define CALL(b, entry, ...) check(tess_gpu_check((b)->gpu, (b)->gpu->driver.entry(__VA_ARGS__), #entry))

bool gpu_bench_wants(const gpu_bench *b, const char *work) {
    for (int i = 0; i < b->word_count; i++)
        if (strstr(work, b->words[i]))
            return true;
    return b->word_count == 0;
}

static void repeat(gpu_bench *b, CUdeviceptr at, const void *content, int64_t content_bytes, int64_t bytes) {
    CALL(b, cuMemcpyHtoDAsync, at, content, (size_t)tess_min64(content_bytes, bytes), b->stream);
    for (int64_t done = content_bytes; done < bytes; done += content_bytes)
        CALL(b, cuMemcpyDtoDAsync, at + (CUdeviceptr)done, at, (size_t)tess_min64(content_bytes, bytes - done), b->stream);
    CALL(b, cuStreamSynchronize, b->stream);
}

/* 64 MiB of random f32 in [-1, 1), again and again: zeros would flatter, and so would a block that fits the cache. */
static void fill(gpu_bench *b, CUdeviceptr at, int64_t bytes) {
    enum { BLOCK = 64 << 20 };
    float *block = malloc(BLOCK);
    uint64_t state = 1;
    if (!block)
        exit(1);
    for (int i = 0; i < BLOCK / 4; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX generator */
        block[i] = (float)(int32_t)(state >> 32) * 0x1p-31f;
    }
    repeat(b, at, block, BLOCK, bytes);
    free(block);
}

static void make_room(gpu_bench *b, int which, int64_t bytes) {
    if (b->size[which] >= bytes)
        return;
    if (b->memory[which])
        CALL(b, cuMemFree, b->memory[which]);
    CALL(b, cuMemAlloc, &b->memory[which], (size_t)bytes);
    b->size[which] = bytes;
    b->filled[which] = false;
}

void *gpu_bench_memory(gpu_bench *b, int which, int64_t bytes) {
    make_room(b, which, bytes);
    if (!b->filled[which])
        fill(b, b->memory[which], b->size[which]);
    b->filled[which] = true;
    return (void *)(uintptr_t)b->memory[which];
}

void gpu_bench_spoiled(gpu_bench *b, int which) { b->filled[which] = false; }

void *gpu_bench_repeat(gpu_bench *b, int which, const void *content, int64_t content_bytes, int64_t bytes) {
    make_room(b, which, bytes);
    repeat(b, b->memory[which], content, content_bytes, bytes);
    b->filled[which] = false;
    return (void *)(uintptr_t)b->memory[which];
}

void *gpu_bench_upload(gpu_bench *b, const void *content, int64_t bytes) {
    CUdeviceptr *at = &b->uploads[b->upload_count++ % 32];
    if (*at)
        CALL(b, cuMemFree, *at);
    CALL(b, cuMemAlloc, at, (size_t)bytes);
    CALL(b, cuMemcpyHtoDAsync, *at, content, (size_t)bytes, b->stream);
    CALL(b, cuStreamSynchronize, b->stream);
    return (void *)(uintptr_t)*at;
}

tess_context *gpu_bench_context(const gpu_bench *b) { return b->context; }

DLTensor gpu_bench_view(void *data, tess_type type, int ndim, int64_t *shape) {
    DLTensor t = tess_view(data, type, ndim, shape, NULL);
    t.device.device_type = kDLCUDA;
    return t;
}

tess_call gpu_bench_call(const gpu_bench *b, const char *row) { return (tess_call){.strategy = row, .stream = b->stream}; }

const char *gpu_bench_row(const gpu_bench *b, const char *operation, int number, bool *more) {
    const tess_op *op = NULL;
    for (int o = 0; o < tess_ops_count; o++)
        if (strcmp(tess_ops[o]->name, operation) == 0)
            op = tess_ops[o];
    *more = number == 0 || (op && b->rows && number <= op->gpu_count);
    return number > 0 && *more ? op->gpu_rows[number - 1].name : NULL;
}

/* With a workspace of ours, so that an execution allocates nothing. */
static tess_call execution(gpu_bench *b, const tess_plan *plan) {
    size_t size = tess_plan_workspace(plan);
    if (size > b->workspace_size) {
        if (b->workspace)
            CALL(b, cuMemFree, b->workspace);
        CALL(b, cuMemAlloc, &b->workspace, size);
        b->workspace_size = size;
    }
    return (tess_call){.stream = b->stream, .workspace = (void *)(uintptr_t)b->workspace, .workspace_size = b->workspace_size};
}

static int by_value(const void *a, const void *b) { return (*(const float *)a > *(const float *)b) - (*(const float *)a < *(const float *)b); }

static double median(gpu_bench *b, const tess_plan *plan, const void *in, const void *second, void *out, int warm, int runs) {
    float ms[LATENCY_RUNS];
    tess_call call = execution(b, plan);
    for (int i = -warm; i < runs; i++) {
        CALL(b, cuEventRecord, b->from, b->stream);
        check(tess_execute(plan, in, second, out, &call));
        CALL(b, cuEventRecord, b->to, b->stream);
        CALL(b, cuEventSynchronize, b->to);
        if (i >= 0)
            CALL(b, cuEventElapsedTime, &ms[i], b->from, b->to);
    }
    qsort(ms, (size_t)runs, sizeof *ms, by_value);
    return ms[runs / 2] * 1e-3;
}

void gpu_bench_time(gpu_bench *b, tess_status status, tess_plan *plan, const char *work, const void *in, const void *second, void *out, double bytes,
                    double flops) {
    if (status != TESS_OK) {
        if (status != TESS_ERR_STRATEGY)
            printf("%-44s | not run: %s\n", work, tess_detail());
        return;
    }
    if (b->compile) {
        gpu_bench_compile(plan, work);
        tess_plan_free(plan);
        return;
    }
    double seconds = median(b, plan, in, second, out, WARM, RUNS), written = (double)plan->problem->op->array(plan->problem, TESS_ARRAY_OUT)->count *
                                                                             plan->problem->op->array(plan->problem, TESS_ARRAY_OUT)->itemsize;
    double bandwidth = written < bytes / 8 ? b->read : b->copy, limit = bytes / bandwidth > flops / b->fma ? bytes / bandwidth : flops / b->fma;
    printf("%-44s | %-24s | %8.4f ms | %6.0f GB/s | %6.2f TFLOP/s | %5.1f %%\n", work, plan->row->name, seconds * 1e3, bytes / seconds / 1e9,
           flops / seconds / 1e12, 100 * limit / seconds);
    fflush(stdout);
    tess_plan_free(plan);
}

void gpu_bench_reduce(gpu_bench *b, const char *work, tess_reduction operation, const DLTensor *in, const DLTensor *out,
                      const tess_reduce_options *options, double bytes) {
    bool more;
    for (int r = 0;; r++) {
        tess_plan *plan = NULL;
        tess_reduce_options own = *options;
        own.call = gpu_bench_call(b, gpu_bench_row(b, "reduce", r, &more));
        if (!more)
            break;
        const tess_status status = tess_plan_reduce(&plan, b->context, operation, in, out, &own);
        gpu_bench_time(b, status, plan, work, in->data, NULL, out->data, bytes, 0);
    }
}

void gpu_bench_latency(gpu_bench *b, tess_status status, tess_plan *plan, const char *work, const void *in, void *out) {
    enum { MANY = 100 };
    float ms = 0;
    CUgraph graph;
    CUgraphExec executable;
    check(status);
    if (b->compile) {
        gpu_bench_compile(plan, work);
        tess_plan_free(plan);
        return;
    }
    double single = median(b, plan, in, NULL, out, LATENCY_WARM, LATENCY_RUNS);
    tess_call call = execution(b, plan);
    CALL(b, cuEventRecord, b->from, b->stream);
    for (int i = 0; i < MANY; i++)
        check(tess_execute(plan, in, NULL, out, &call));
    CALL(b, cuEventRecord, b->to, b->stream);
    CALL(b, cuEventSynchronize, b->to);
    CALL(b, cuEventElapsedTime, &ms, b->from, b->to);
    double many = ms * 1e-3 / MANY;
    CALL(b, cuStreamBeginCapture, b->stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    for (int i = 0; i < MANY; i++)
        check(tess_execute(plan, in, NULL, out, &call));
    CALL(b, cuStreamEndCapture, b->stream, &graph);
    CALL(b, cuGraphInstantiateWithFlags, &executable, graph, 0);
    for (int i = 0; i < 2; i++) {
        CALL(b, cuEventRecord, b->from, b->stream);
        CALL(b, cuGraphLaunch, executable, b->stream);
        CALL(b, cuEventRecord, b->to, b->stream);
        CALL(b, cuEventSynchronize, b->to);
        CALL(b, cuEventElapsedTime, &ms, b->from, b->to);
    }
    CALL(b, cuGraphExecDestroy, executable);
    CALL(b, cuGraphDestroy, graph);
    printf("%-44s | %-24s | events %5.1f us | back to back %5.1f us | in a graph %5.1f us\n", work, plan->row->name, single * 1e6, many * 1e6,
           ms * 1e3 / MANY);
    tess_plan_free(plan);
}

void gpu_bench_calls(gpu_bench *b, const char *work, tess_status (*call)(void *argument), void *argument) {
    enum { MANY = 100 };
    float us[RUNS], issued[RUNS];
    if (b->compile)
        return;
    for (int i = -WARM; i < RUNS; i++) {
        double start = tess_seconds(), sent;
        for (int k = 0; k < MANY; k++)
            check(call(argument));
        sent = tess_seconds();
        CALL(b, cuStreamSynchronize, b->stream);
        if (i >= 0) {
            issued[i] = (float)((sent - start) * 1e6 / MANY);
            us[i] = (float)((tess_seconds() - start) * 1e6 / MANY);
        }
    }
    qsort(us, RUNS, sizeof *us, by_value);
    qsort(issued, RUNS, sizeof *issued, by_value);
    printf("%-44s | a call without a plan: returns after %6.2f us | %6.2f us a call until all are done\n", work, issued[RUNS / 2], us[RUNS / 2]);
    fflush(stdout);
}

static void measure_limits(gpu_bench *b) {
    tess_context *card;
    tess_context_options options = {.struct_size = sizeof options, .engine = TESS_ENGINE_CUDA};
    tess_limits limits = {.struct_size = sizeof limits};
    check(tess_open(&card, &options));
    check(tess_measure_limits(card, 0.2, &limits));
    tess_close(card);
    b->copy = limits.copy_bytes_per_s;
    b->read = limits.read_bytes_per_s;
    b->fma = limits.f32_flops_per_s;
    printf("limits: copy %.0f GB/s (one vector a thread), read %.0f GB/s (blocks that stay), f32 fma %.1f TFLOP/s; 4 GiB arrays\n", b->copy / 1e9,
           b->read / 1e9, b->fma / 1e12);
}

int main(int count, char **words) {
    gpu_bench b = {0};
    char text[4096];
    if (count > 1 && (strcmp(words[1], "--rows") == 0 || strcmp(words[1], "--compile") == 0)) {
        b.rows = strcmp(words[1], "--rows") == 0;
        b.compile = !b.rows;
        count--;
        words++;
    }
    b.words = words + 1;
    b.word_count = count - 1;
    check(tess_open(&b.context, NULL));
    if (tess_gpu_get(&b.gpu, b.context) != TESS_OK || tess_gpu_open(b.gpu) != TESS_OK) {
        printf("no card here: %s\n", tess_detail());
        tess_close(b.context);
        return 77;
    }
    if (tess_devices(b.context, TESS_TEXT, text, sizeof text, NULL) == TESS_OK)
        printf("%s", text);
    check(tess_gpu_enter(b.gpu, &b.gpu->devices[0], NULL, &b.scope));
    CALL(&b, cuStreamCreate, &b.stream, CU_STREAM_NON_BLOCKING);
    CALL(&b, cuEventCreate, &b.from, 0);
    CALL(&b, cuEventCreate, &b.to, 0);
    if (!b.compile)
        measure_limits(&b);
    gpu_works_transpose(&b);
    gpu_works_reduce(&b);
    gpu_works_segments(&b);
    gpu_works_rows(&b);
    gpu_works_exact(&b);
    gpu_works_correlate(&b);
    gpu_works_lookup(&b);
    gpu_works_positions(&b);
    for (int i = 0; i < 3; i++)
        if (b.memory[i])
            CALL(&b, cuMemFree, b.memory[i]);
    for (int i = 0; i < 32; i++)
        if (b.uploads[i])
            CALL(&b, cuMemFree, b.uploads[i]);
    if (b.workspace)
        CALL(&b, cuMemFree, b.workspace);
    tess_gpu_leave(&b.scope);
    tess_close(b.context);
    return 0;
}
