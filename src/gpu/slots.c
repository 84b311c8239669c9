/* SPDX-License-Identifier: Apache-2.0
 * slots.c - the pipeline's memory, streams and events: made once, kept from call to call, since pinning memory takes longer than filling it. */
#include "gpu/slots.h"

static void slots_free(tess_gpu *gpu, struct tess_gpu_slots *s) {
    for (int i = 0; i < TESS_GPU_SLOTS; i++) {
        tess_gpu_slot *one = &s->slot[i];
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
    for (int i = 0; i < TESS_GPU_SLOTS; i++) {
        void *pinned = NULL;
        TESS_CUDA(gpu, cuMemHostAlloc, &pinned, size + TESS_GPU_RESULT, 0);
        s->slot[i].pinned = pinned;
        s->slot[i].result = s->slot[i].pinned + size;
        TESS_CUDA(gpu, cuMemAlloc, &s->slot[i].device, size);
        TESS_CUDA(gpu, cuEventCreate, &s->slot[i].up, CU_EVENT_DISABLE_TIMING);
        TESS_CUDA(gpu, cuEventCreate, &s->slot[i].done, CU_EVENT_DISABLE_TIMING);
        TESS_CUDA(gpu, cuEventCreate, &s->slot[i].down, CU_EVENT_DISABLE_TIMING);
    }
    return TESS_OK;
}

tess_status tess_gpu_slots_take(const tess_gpu_scope *scope, size_t size, struct tess_gpu_slots **taken) {
    tess_gpu *gpu = scope->gpu;
    pthread_mutex_lock(&gpu->lock);
    struct tess_gpu_slots *s = gpu->slots && gpu->slots->context_id == scope->context_id ? gpu->slots : NULL;
    if (s)
        gpu->slots = NULL;
    pthread_mutex_unlock(&gpu->lock);
    if (s && s->size == size) {
        *taken = s;
        return TESS_OK;
    }
    if (s) /* before others are made, not after: both may be more than there is, or than TESSERA_GPU_MEMORY allows */
        slots_free(gpu, s);
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

void tess_gpu_slots_give(tess_gpu *gpu, struct tess_gpu_slots *s, bool good) {
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
