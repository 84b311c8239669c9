/* SPDX-License-Identifier: Apache-2.0
 * ticket.c - counters on the device by which the last block of a launch knows that it is the last.
 *
 * A kernel of one launch counts its blocks with atomicInc up to their number; the block that wraps the counter to 0 finishes for all, and leaves it
 * ready for the next launch. The counter must be 0 before and no other launch's: a workspace is neither without a fill, which costs as much as the
 * launch that was saved. So each CUDA context has a block of counters, and each stream one of them, since launches of one stream follow each other.
 * Streams are told by their number, which is never given twice, unlike handles. An execution that is captured gets a counter of its own: its graph may
 * run beside the stream that recorded it. When the counters are used up, or a driver lacks an entry, the execution fills a place in its workspace. */
#include "gpu/ticket.h"

enum { TICKETS = TESS_GPU_TICKETS, STREAMS = TESS_GPU_TICKET_STREAMS };

tess_gpu_tickets *tess_gpu_tickets_find(const tess_gpu_scope *scope) {
    tess_gpu_tickets *t = scope->gpu->tickets;
    while (t && t->context_id != scope->context_id)
        t = t->next;
    return t;
}

static tess_status fill(const tess_gpu_scope *scope, tess_gpu_tickets *t) {
    const tess_gpu *gpu = scope->gpu;
    CUcontext current = NULL;
    CUstream stream = NULL;
    TESS_CUDA(gpu, cuCtxGetCurrent, &current);
    t->context_id = scope->context_id;
    t->primary = current == scope->device->primary ? current : NULL;
    TESS_CUDA(gpu, cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING); /* not the caller's, whose work we would wait for */
    tess_status status = tess_gpu_check(gpu, gpu->driver.cuMemAlloc(&t->memory, TICKETS * sizeof(unsigned)), "cuMemAlloc");
    if (status == TESS_OK)
        status = tess_gpu_check(gpu, gpu->driver.cuMemsetD8Async(t->memory, 0, TICKETS * sizeof(unsigned), stream), "cuMemsetD8Async");
    if (status == TESS_OK)
        status = tess_gpu_check(gpu, gpu->driver.cuStreamSynchronize(stream), "cuStreamSynchronize");
    if (status != TESS_OK && t->memory)
        gpu->driver.cuMemFree(t->memory);
    gpu->driver.cuStreamDestroy(stream);
    return status;
}

/* Two threads that come first both make a block; the later one gives its own back. */
tess_status tess_gpu_tickets_make(const tess_gpu_scope *scope) {
    tess_gpu *gpu = scope->gpu;
    pthread_mutex_lock(&gpu->lock);
    bool there = tess_gpu_tickets_find(scope) != NULL;
    pthread_mutex_unlock(&gpu->lock);
    if (there)
        return TESS_OK;
    tess_gpu_tickets *t = tess_allocate_zeroed(gpu->context, sizeof *t);
    if (!t)
        return TESS_ERR_MEMORY;
    tess_status status = fill(scope, t);
    pthread_mutex_lock(&gpu->lock);
    there = status != TESS_OK || tess_gpu_tickets_find(scope) != NULL;
    if (!there) {
        t->next = gpu->tickets;
        gpu->tickets = t;
    }
    pthread_mutex_unlock(&gpu->lock);
    if (there && status == TESS_OK)
        gpu->driver.cuMemFree(t->memory);
    if (there)
        tess_free(gpu->context, t, sizeof *t);
    return status;
}

/* The number of the stream's ticket plus one, 0 when there is none left. */
static int of_stream(tess_gpu_tickets *t, unsigned long long stream) {
    int at = (int)(stream * 0x9e3779b97f4a7c15u >> 32) & (STREAMS - 1); /* Fibonacci hashing */
    while (t->of[at].ticket && t->of[at].stream != stream)
        at = (at + 1) & (STREAMS - 1);
    if (t->of[at].ticket || t->used == TICKETS || t->streams == STREAMS / 2)
        return t->of[at].ticket;
    t->of[at].stream = stream;
    t->of[at].ticket = ++t->used;
    t->streams++;
    return t->used;
}

CUdeviceptr tess_gpu_ticket(const tess_gpu_scope *scope, CUstream stream) {
    tess_gpu *gpu = scope->gpu;
    unsigned long long number = 0;
    int capturing = 0, ticket = 0;
    if (gpu->driver.cuStreamIsCapturing(stream, &capturing) != CUDA_SUCCESS)
        return 0;
    if (!capturing && gpu->driver.cuStreamGetId(stream, &number) != CUDA_SUCCESS) /* a captured stream may not be asked: that ends its capture */
        return 0;
    pthread_mutex_lock(&gpu->lock);
    tess_gpu_tickets *t = tess_gpu_tickets_find(scope);
    if (t && !capturing)
        ticket = of_stream(t, number);
    else if (t && t->used < TICKETS)
        ticket = ++t->used;
    CUdeviceptr address = ticket ? t->memory + (CUdeviceptr)(ticket - 1) * sizeof(unsigned) : 0;
    pthread_mutex_unlock(&gpu->lock);
    return address;
}

void tess_gpu_tickets_free(tess_gpu *gpu, bool exiting) {
    while (gpu->tickets) {
        tess_gpu_tickets *t = gpu->tickets;
        unsigned long long id = 0;
        CUcontext popped;
        gpu->tickets = t->next;
        if (t->primary && !exiting && gpu->driver.cuCtxPushCurrent(t->primary) == CUDA_SUCCESS) {
            if (gpu->driver.cuCtxGetId(t->primary, &id) == CUDA_SUCCESS && id == t->context_id) { /* else it was reset by others */
                gpu->driver.cuMemFree(t->memory);
                tess_gpu_marks_free(gpu, t);
            }
            gpu->driver.cuCtxPopCurrent(&popped);
        }
        tess_free(gpu->context, t, sizeof *t);
    }
}
