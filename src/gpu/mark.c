/* SPDX-License-Identifier: Apache-2.0
 * mark.c - words by which kernels tell the host what they found, at no cost where they find nothing.
 *
 * A call that must know what its kernels found waits for its stream; to read a word back besides, and to fill it with 0 before, took 11 us more on an
 * H200's host: two more things on the stream, one of them a copy. So the word stays on the device and stays 0, and who changes it sets a flag in pinned
 * memory, which the host reads as its own: after the wait nothing else is to be done. Only where the flag is set is the word fetched and filled with 0 again.
 * A mark belongs to one execution at a time; when all are taken, or there is no such memory, the execution has a word in its workspace, as it always had. */
#include <string.h>

#include "gpu/ticket.h"

enum { MARKS = 64, APART = 64, BYTES = 16 }; /* flags a line of the processor's cache apart */

/* Words on the device, each before its flag's address there. Marks that nobody knows of yet: not with the lock held, the driver may take long. */
static tess_status fill(const tess_gpu_scope *scope, CUdeviceptr *words, void **flags) {
    const tess_gpu *gpu = scope->gpu;
    uint64_t content[MARKS][BYTES / 8];
    CUdeviceptr seen = 0;
    CUstream stream = NULL;
    TESS_CUDA(gpu, cuMemHostAlloc, flags, MARKS * APART, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    memset(*flags, 0, MARKS * APART);
    TESS_CUDA(gpu, cuPointerGetAttribute, &seen, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, (CUdeviceptr)(uintptr_t)*flags);
    TESS_CUDA(gpu, cuMemAlloc, words, sizeof content);
    for (int i = 0; i < MARKS; i++) {
        content[i][0] = 0;
        content[i][1] = seen + (CUdeviceptr)i * APART;
    }
    TESS_CUDA(gpu, cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING); /* not the caller's, whose work we would wait for */
    tess_status status = tess_gpu_check(gpu, gpu->driver.cuMemcpyHtoDAsync(*words, content, sizeof content, stream), "cuMemcpyHtoDAsync");
    if (status == TESS_OK)
        status = tess_gpu_check(gpu, gpu->driver.cuStreamSynchronize(stream), "cuStreamSynchronize");
    gpu->driver.cuStreamDestroy(stream);
    return status;
}

static void release(const tess_gpu *gpu, CUdeviceptr words, void *flags) {
    if (words)
        gpu->driver.cuMemFree(words);
    if (flags)
        gpu->driver.cuMemFreeHost(flags);
}

void tess_gpu_marks_make(const tess_gpu_scope *scope) {
    tess_gpu *gpu = scope->gpu;
    char said[TESS_DETAIL_SIZE];
    CUdeviceptr words = 0;
    void *flags = NULL;
    strcpy(said, tess_detail());
    if (tess_gpu_tickets_make(scope) == TESS_OK) {
        pthread_mutex_lock(&gpu->lock);
        tess_gpu_tickets *t = tess_gpu_tickets_find(scope);
        const bool mine = t && !t->marks.tried;
        if (mine)
            t->marks.tried = true;
        pthread_mutex_unlock(&gpu->lock);
        if (!mine)
            return;
        const bool made = fill(scope, &words, &flags) == TESS_OK;
        if (!made)
            release(gpu, words, flags);
        pthread_mutex_lock(&gpu->lock);
        if (made) {
            t->marks.words = words;
            t->marks.flags = flags;
        }
        pthread_mutex_unlock(&gpu->lock);
    }
    tess_fail(TESS_OK, "%s", said);
}

bool tess_gpu_mark_take(const tess_gpu_scope *scope, tess_gpu_mark *mark) {
    tess_gpu *gpu = scope->gpu;
    pthread_mutex_lock(&gpu->lock);
    tess_gpu_tickets *t = tess_gpu_tickets_find(scope);
    const bool there = t && t->marks.words && ~t->marks.taken;
    if (there) {
        int i = 0;
        while (t->marks.taken >> i & 1)
            i++;
        t->marks.taken |= (uint64_t)1 << i;
        *mark = (tess_gpu_mark){t->marks.words + (CUdeviceptr)i * BYTES, (volatile uint32_t *)(void *)((char *)t->marks.flags + i * APART), i};
    }
    pthread_mutex_unlock(&gpu->lock);
    return there;
}

void tess_gpu_mark_give(const tess_gpu_scope *scope, const tess_gpu_mark *mark) {
    tess_gpu *gpu = scope->gpu;
    pthread_mutex_lock(&gpu->lock);
    tess_gpu_tickets *t = tess_gpu_tickets_find(scope);
    if (t)
        t->marks.taken &= ~((uint64_t)1 << mark->number);
    pthread_mutex_unlock(&gpu->lock);
}

void tess_gpu_marks_free(const tess_gpu *gpu, const tess_gpu_tickets *t) { release(gpu, t->marks.words, t->marks.flags); }
