/* SPDX-License-Identifier: Apache-2.0
 * pipeline.c - arrays in host memory that are large, or larger than the card's: slab after slab, copying in, computing and copying out at once.
 *
 * An operation that can be cut gives the problem of outputs from .. to - 1 along one axis (tess_op.slab), on compact arrays. Three slots take turns.
 * Each has pinned memory, because only that is copied while the processor goes on, and device memory; the three steps of a slab run on three streams, a
 * slab's step after its step before. Meanwhile the processor packs the next slab into its slot and takes a finished one out, with the context's threads.
 *
 * TESSERA_GPU_MEMORY=BYTES (with K, M, G) caps the device memory of a call's operands; the default slab keeps both directions of a PCIe bus busy and
 * takes little memory: more was not faster. Slots stay with the object from call to call, since pinning memory takes longer than filling it. */
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "gpu/row.h"

enum { SLOTS = 3, ALIGN = 256 };
static const int64_t slab_bytes = 32 << 20;

typedef struct slot {
    char *pinned;
    CUdeviceptr device, workspace;
    CUevent up, done, down;
    tess_slab slab;
    tess_plan *plan; /* of the slab; NULL: the slot is free */
    bool ordered;    /* the workspace */
} slot;

struct tess_gpu_slots {
    unsigned long long context_id;
    CUcontext primary; /* NULL in another context: these slots last for one call */
    size_t size;       /* bytes of a slot, in each memory */
    CUstream up, run, down;
    slot slot[SLOTS];
};

/* ---- how much at once ---- */

/* 0: no cap. */
static int64_t memory_cap(void) {
    const char *given = getenv("TESSERA_GPU_MEMORY");
    char *end = NULL;
    double bytes = given ? strtod(given, &end) : 0;
    if (!given || end == given || !(bytes > 0))
        return 0;
    bytes *= *end == 'K' ? 0x1p10 : *end == 'M' ? 0x1p20 : *end == 'G' ? 0x1p30 : 1;
    return bytes < 0x1p62 ? (int64_t)bytes : 0;
}

static int64_t bytes_of(const tess_plan *plan, tess_operand operand) {
    const tess_array *array = plan->problem->op->array(plan->problem, operand);
    return array ? array->count * array->itemsize : 0;
}

static int64_t operands(const tess_plan *plan) {
    return bytes_of(plan, TESS_ARRAY_IN) + bytes_of(plan, TESS_ARRAY_SECOND) + bytes_of(plan, TESS_ARRAY_OUT);
}

int64_t tess_gpu_pipeline_rows(const tess_plan *plan) {
    const tess_op *op = plan->problem->op;
    int64_t cap = memory_cap(), slabs = op->slabs ? op->slabs(plan->problem) : 0, all = operands(plan);
    int64_t most = cap > 0 && cap / SLOTS < slab_bytes ? cap / SLOTS : slab_bytes;
    if (slabs < 2 || all <= 2 * most)
        return 0;
    double rows = (double)(most - 2 * ALIGN) / ((double)all / (double)slabs);
    int64_t whole = rows < 1 ? 1 : (int64_t)rows;
    return tess_min64(slabs, whole >= 512 ? whole / 256 * 256 : whole >= 32 ? whole / 16 * 16 : whole); /* whole vectors and tiles */
}

tess_status tess_gpu_check_cap(const tess_plan *plan) {
    int64_t cap = memory_cap();
    if (cap > 0 && operands(plan) > cap)
        return tess_fail(TESS_ERR_MEMORY, "the operands take %lld bytes on the device, TESSERA_GPU_MEMORY allows %lld, and this problem is not cut",
                         (long long)operands(plan), (long long)cap);
    return TESS_OK;
}

/* ---- between the caller's memory and a slot's ---- */

typedef struct copying {
    tess_array walked; /* the caller's side, collapsed, without the run */
    int64_t strides[2][TESS_MAX_NDIM];
    char *caller, *slot;
    int64_t run, piece; /* bytes of a run; of a task, when there is one run only */
    bool out;
} copying;

static void move(char *to, const char *from, int64_t n) {
    switch (n) {
    case 1: *to = *from; break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    case 16: memcpy(to, from, 16); break;
    default: memcpy(to, from, (size_t)n);
    }
}

static void copy_runs(void *argument, int64_t begin, int64_t end, int worker) {
    copying *c = argument;
    tess_index index;
    (void)worker;
    if (c->piece > 0) {
        int64_t at = begin * c->piece, n = tess_min64(end * c->piece, c->run) - at;
        move((c->out ? c->caller : c->slot) + at, (c->out ? c->slot : c->caller) + at, n);
        return;
    }
    tess_index_start(&index, c->walked.ndim, c->walked.shape, 2, c->strides, begin);
    for (int64_t i = begin; i < end; i++) {
        char *theirs = c->caller + index.offset[0], *ours = c->slot + index.offset[1];
        move(c->out ? theirs : ours, c->out ? ours : theirs, c->run);
        tess_index_next(&index);
    }
}

static tess_status copy(const tess_plan *plan, const tess_array *array, char *caller, char *at, bool out) {
    enum { PIECE = 1 << 20 };
    copying c = {.walked = *array, .caller = caller, .slot = at, .run = array->itemsize, .out = out};
    tess_array compact = tess_array_compact(NULL, array->type, array->ndim, array->shape);
    int64_t runs = 1;
    if (array->count == 0)
        return TESS_OK;
    for (int d = 0; d < array->ndim; d++) {
        c.strides[0][d] = array->stride[d];
        c.strides[1][d] = compact.stride[d] / compact.itemsize * array->itemsize; /* an element may be a run of the type's */
    }
    c.walked.ndim = tess_collapse(c.walked.ndim, c.walked.shape, 2, c.strides);
    int last = c.walked.ndim - 1;
    if (last >= 0 && c.strides[0][last] == array->itemsize && c.strides[1][last] == array->itemsize) {
        c.run *= c.walked.shape[last];
        c.walked.ndim--;
    }
    for (int d = 0; d < c.walked.ndim; d++)
        runs *= c.walked.shape[d];
    if (c.walked.ndim == 0) {
        c.piece = PIECE;
        runs = tess_ceil_div(c.run, PIECE);
    }
    int64_t grain = c.piece ? 1 : tess_max64(1, PIECE / 4 / c.run);
    return tess_parallel(plan->context, atomic_load(&plan->context->threads), runs, grain, copy_runs, &c);
}

/* ---- slots ---- */

static void slots_free(tess_gpu *gpu, struct tess_gpu_slots *s) {
    for (int i = 0; i < SLOTS; i++) {
        slot *one = &s->slot[i];
        const CUevent events[] = {one->up, one->done, one->down};
        for (int e = 0; e < TESS_COUNT(events); e++)
            if (events[e])
                gpu->driver.cuEventDestroy(events[e]);
        if (one->device)
            gpu->driver.cuMemFree(one->device);
        if (one->pinned)
            gpu->driver.cuMemFreeHost(one->pinned);
    }
    const CUstream streams[] = {s->up, s->run, s->down};
    for (int i = 0; i < TESS_COUNT(streams); i++)
        if (streams[i])
            gpu->driver.cuStreamDestroy(streams[i]);
    tess_free(gpu->context, s, sizeof *s);
}

static tess_status fill_slots(const tess_gpu_scope *scope, struct tess_gpu_slots *s, size_t size) {
    const tess_gpu *gpu = scope->gpu;
    CUcontext current = NULL;
    TESS_CUDA(gpu, cuCtxGetCurrent, &current);
    s->context_id = scope->context_id;
    s->primary = current == scope->device->primary ? current : NULL;
    s->size = size;
    TESS_CUDA(gpu, cuStreamCreate, &s->up, CU_STREAM_NON_BLOCKING);
    TESS_CUDA(gpu, cuStreamCreate, &s->run, CU_STREAM_NON_BLOCKING);
    TESS_CUDA(gpu, cuStreamCreate, &s->down, CU_STREAM_NON_BLOCKING);
    for (int i = 0; i < SLOTS; i++) {
        void *pinned = NULL;
        TESS_CUDA(gpu, cuMemHostAlloc, &pinned, size, 0);
        s->slot[i].pinned = pinned;
        TESS_CUDA(gpu, cuMemAlloc, &s->slot[i].device, size);
        TESS_CUDA(gpu, cuEventCreate, &s->slot[i].up, CU_EVENT_DISABLE_TIMING);
        TESS_CUDA(gpu, cuEventCreate, &s->slot[i].done, CU_EVENT_DISABLE_TIMING);
        TESS_CUDA(gpu, cuEventCreate, &s->slot[i].down, CU_EVENT_DISABLE_TIMING);
    }
    return TESS_OK;
}

/* The kept slots when they fit, else new ones. They are this call's until they are given back. */
static tess_status take_slots(const tess_gpu_scope *scope, size_t size, struct tess_gpu_slots **taken) {
    tess_gpu *gpu = scope->gpu;
    pthread_mutex_lock(&gpu->lock);
    struct tess_gpu_slots *s = gpu->slots;
    if (s && s->size == size && s->context_id == scope->context_id)
        gpu->slots = NULL;
    else
        s = NULL;
    pthread_mutex_unlock(&gpu->lock);
    *taken = s;
    if (s)
        return TESS_OK;
    if (!(*taken = s = tess_allocate_zeroed(gpu->context, sizeof *s)))
        return TESS_ERR_MEMORY;
    tess_status status = fill_slots(scope, s, size);
    if (status != TESS_OK) {
        slots_free(gpu, s);
        *taken = NULL;
    }
    return status;
}

static void free_elsewhere(tess_gpu *gpu, struct tess_gpu_slots *s, bool exiting) {
    unsigned long long id = 0;
    CUcontext popped;
    if (exiting || gpu->driver.cuCtxPushCurrent(s->primary) != CUDA_SUCCESS) {
        tess_free(gpu->context, s, sizeof *s);
        return;
    }
    if (gpu->driver.cuCtxGetId(s->primary, &id) == CUDA_SUCCESS && id == s->context_id)
        slots_free(gpu, s);
    else /* it was reset by others, and the slots' memory went with it */
        tess_free(gpu->context, s, sizeof *s);
    gpu->driver.cuCtxPopCurrent(&popped);
}

static void give_slots(tess_gpu *gpu, struct tess_gpu_slots *s, bool good) {
    if (!good || !s->primary) {
        slots_free(gpu, s);
        return;
    }
    pthread_mutex_lock(&gpu->lock);
    struct tess_gpu_slots *before = gpu->slots;
    gpu->slots = s;
    pthread_mutex_unlock(&gpu->lock);
    if (before)
        free_elsewhere(gpu, before, false);
}

void tess_gpu_slots_free(tess_gpu *gpu, bool exiting) {
    if (gpu->slots)
        free_elsewhere(gpu, gpu->slots, exiting);
    gpu->slots = NULL;
}

/* ---- slab after slab ---- */

static int64_t size_of(const tess_array *array) { return array->count * array->itemsize; }

/* Where the output begins in a slot. */
static int64_t out_at(const slot *s) { return tess_ceil_div(size_of(&s->slab.host[TESS_ARRAY_IN]), ALIGN) * ALIGN; }

static void release(const tess_gpu_scope *scope, struct tess_gpu_slots *all, slot *s) {
    tess_gpu_scratch_free(scope, s->workspace, all->run, s->ordered);
    tess_plan_free(s->plan);
    s->workspace = 0;
    s->plan = NULL;
}

/* The row that the whole was planned with, where it can run. */
static tess_status plan_slab(const tess_plan *whole, slot *s, int64_t from, int64_t to, CUstream stream) {
    const char *why;
    TESS_TRY(whole->problem->op->slab(whole->problem, from, to, &s->slab));
    bool same = whole->row->applicable(s->slab.problem, &why);
    const tess_call call = {.engine = whole->engine, .strategy = same ? whole->row->name : NULL, .stream = stream};
    return tess_plan_make(&s->plan, s->slab.problem, &call); /* owns the problem, whatever it returns */
}

static tess_status start(const tess_gpu_scope *scope, struct tess_gpu_slots *all, slot *s, const tess_plan *whole, int64_t from, int64_t to,
                         const char *in) {
    const tess_gpu *gpu = scope->gpu;
    const tess_gpu_plan *made;
    TESS_TRY(plan_slab(whole, s, from, to, all->run));
    int64_t in_bytes = size_of(&s->slab.host[TESS_ARRAY_IN]), out_bytes = size_of(&s->slab.host[TESS_ARRAY_OUT]), at = out_at(s);
    if ((size_t)(at + out_bytes) > all->size)
        return tess_fail(TESS_ERR_INTERNAL, "a slab of %lld bytes for a slot of %zu", (long long)(at + out_bytes), all->size);
    TESS_TRY(copy(whole, &s->slab.host[TESS_ARRAY_IN], (char *)(uintptr_t)in + s->slab.offset[TESS_ARRAY_IN], s->pinned, false));
    TESS_CUDA(gpu, cuMemcpyHtoDAsync, s->device, s->pinned, (size_t)in_bytes, all->up);
    TESS_CUDA(gpu, cuEventRecord, s->up, all->up);
    TESS_CUDA(gpu, cuStreamWaitEvent, all->run, s->up, 0);
    TESS_TRY(tess_gpu_scratch(scope, &s->workspace, s->plan->workspace, all->run, &s->ordered));
    tess_gpu_pointers pointers = {.in = s->device, .out = s->device + (CUdeviceptr)at, .workspace = s->workspace};
    TESS_TRY(tess_gpu_aligned_plan(&made, s->plan, &pointers));
    TESS_TRY(tess_gpu_run_steps(scope, made, &pointers, all->run));
    TESS_CUDA(gpu, cuEventRecord, s->done, all->run);
    TESS_CUDA(gpu, cuStreamWaitEvent, all->down, s->done, 0);
    TESS_CUDA(gpu, cuMemcpyDtoHAsync, s->pinned + at, pointers.out, (size_t)out_bytes, all->down);
    TESS_CUDA(gpu, cuEventRecord, s->down, all->down);
    return TESS_OK;
}

static tess_status finish(const tess_gpu_scope *scope, struct tess_gpu_slots *all, slot *s, const tess_plan *whole, char *out) {
    if (!s->plan)
        return TESS_OK;
    TESS_CUDA(scope->gpu, cuEventSynchronize, s->down);
    tess_status status = copy(whole, &s->slab.host[TESS_ARRAY_OUT], out + s->slab.offset[TESS_ARRAY_OUT], s->pinned + out_at(s), true);
    release(scope, all, s);
    return status;
}

static tess_status run_slabs(const tess_gpu_scope *scope, struct tess_gpu_slots *all, const tess_plan *plan, int64_t rows, const char *in, char *out,
                             CUstream stream) {
    const tess_gpu *gpu = scope->gpu;
    int64_t slabs = plan->problem->op->slabs(plan->problem), count = tess_ceil_div(slabs, rows);
    TESS_CUDA(gpu, cuStreamSynchronize, stream); /* what the caller's stream was asked before comes before */
    for (int64_t i = 0; i < count + SLOTS; i++) {
        slot *s = &all->slot[i % SLOTS];
        TESS_TRY(finish(scope, all, s, plan, out));
        if (i < count)
            TESS_TRY(start(scope, all, s, plan, i * rows, tess_min64(slabs, (i + 1) * rows), in));
    }
    return TESS_OK;
}

tess_status tess_gpu_execute_slabs(const tess_gpu_scope *scope, const tess_plan *plan, int64_t rows, const void *in, void *out, CUstream stream) {
    tess_gpu *gpu = scope->gpu;
    int64_t cap = memory_cap(), slabs = plan->problem->op->slabs(plan->problem), one = tess_ceil_div(operands(plan), slabs);
    int64_t size = tess_max64(cap > 0 ? tess_min64(cap / SLOTS, slab_bytes) : slab_bytes, rows * one + 2 * ALIGN);
    struct tess_gpu_slots *all;
    if (cap > 0 && size > cap / SLOTS)
        return tess_fail(TESS_ERR_MEMORY, "one slab takes %lld bytes on the device, a third of TESSERA_GPU_MEMORY is %lld", (long long)size,
                         (long long)cap / SLOTS);
    TESS_TRY(take_slots(scope, (size_t)size, &all));
    tess_status status = run_slabs(scope, all, plan, rows, in, out, stream);
    if (status != TESS_OK) /* what is on its way still uses the slots */
        for (int i = 0; i < SLOTS; i++) {
            gpu->driver.cuStreamSynchronize(all->up);
            gpu->driver.cuStreamSynchronize(all->run);
            gpu->driver.cuStreamSynchronize(all->down);
            release(scope, all, &all->slot[i]);
        }
    give_slots(gpu, all, status == TESS_OK);
    return status;
}
