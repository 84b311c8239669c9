/* SPDX-License-Identifier: Apache-2.0
 * heap.c - malloc and free of device code: blocks in one allocation of 8 MiB, as a card has it at first. The bytes beside the blocks are marked, so
 * that the checkers see an access outside; a block that is freed twice, or never, is told with the place that asked for it. */
#include <string.h>

#include "vgpu/builtin.h"

enum { HEAP_BYTES = VGPU_HEAP_BYTES, ALIGN = 16, APART = 16 };

tess_status tess_vgpu_heap_open(tess_vgpu_machine *m) {
    static const char name[] = "the device heap";
    uint64_t address;
    if (m->heap.address)
        return TESS_OK;
    TESS_TRY(tess_vgpu_reserve(m, HEAP_BYTES, 256, name, (int)sizeof name - 1, &address));
    m->heap.address = address;
    const vgpu_allocation *a = tess_vgpu_allocation_of(m, address, HEAP_BYTES);
    memset(a->defined, VGPU_NO_BLOCK, HEAP_BYTES);
    return TESS_OK;
}

void tess_vgpu_heap_close(tess_vgpu_machine *m) {
    tess_free(m->context, m->heap.block, (size_t)m->heap.room * sizeof *m->heap.block);
    m->heap.block = NULL;
}

/* A block that was freed and is large enough, else room behind the last one. */
static vgpu_heap_block *find_room(tess_vgpu_machine *m, uint64_t bytes) {
    vgpu_heap *h = &m->heap;
    for (int i = 0; i < h->count && h->used + bytes + APART > HEAP_BYTES; i++)
        if (h->block[i].freed && h->block[i].room >= bytes)
            return &h->block[i];
    if (h->used + bytes + APART > HEAP_BYTES)
        return NULL;
    if (h->count == h->room) {
        int wider = h->room ? 2 * h->room : 256;
        vgpu_heap_block *grown = tess_allocate(m->context, (size_t)wider * sizeof *grown);
        if (!grown)
            return NULL;
        if (h->count)
            memcpy(grown, h->block, (size_t)h->count * sizeof *grown);
        tess_free(m->context, h->block, (size_t)h->room * sizeof *grown);
        h->block = grown;
        h->room = wider;
    }
    vgpu_heap_block *b = &h->block[h->count++];
    *b = (vgpu_heap_block){.address = h->address + h->used, .room = (bytes + ALIGN - 1) / ALIGN * ALIGN};
    h->used += b->room + APART;
    return b;
}

uint64_t tess_vgpu_heap_get(vgpu_warp *w, const vgpu_record *r, int lane, uint64_t bytes) {
    tess_vgpu_machine *m = w->launch->machine;
    uint64_t address = 0;
    if (bytes == 0 || bytes > HEAP_BYTES)
        return 0;
    pthread_mutex_lock(&m->heap.lock);
    vgpu_heap_block *b = find_room(m, bytes);
    if (b) {
        const vgpu_allocation *a = tess_vgpu_allocation_of(m, b->address, (int64_t)bytes);
        b->bytes = bytes;
        b->freed = false;
        b->thread = vgpu_thread_number(w, lane);
        b->line = (int)(r->source & 0xffffff);
        b->block_number = w->worker->block_number;
        b->record = r;
        b->run = w->launch->run;
        memcpy(b->block, w->worker->block, sizeof b->block);
        memset(a->defined + (b->address - a->address), 0, bytes);
        address = b->address;
    }
    pthread_mutex_unlock(&m->heap.lock);
    return address;
}

void tess_vgpu_heap_put(vgpu_warp *w, const vgpu_record *r, int lane, uint64_t address) {
    tess_vgpu_machine *m = w->launch->machine;
    if (!address)
        return;
    pthread_mutex_lock(&m->heap.lock);
    vgpu_heap_block *b = NULL;
    for (int i = 0; i < m->heap.count && !b; i++)
        if (m->heap.block[i].address == address)
            b = &m->heap.block[i];
    bool twice = b && b->freed;
    if (b && !twice) {
        const vgpu_allocation *a = tess_vgpu_allocation_of(m, address, 0);
        b->freed = true;
        memset(a->defined + (address - a->address), VGPU_NO_BLOCK, b->room);
    }
    pthread_mutex_unlock(&m->heap.lock);
    if (!b || twice)
        tess_vgpu_fault_report(w, r, lane, TESS_VGPU_BAD_FREE, address, NULL, "free of 0x%llx, %s", (unsigned long long)address,
                               twice ? "which was freed before" : "which malloc did not give");
}
