/* SPDX-License-Identifier: Apache-2.0
 * memory.c - the machine's global memory: allocations in a flat 64-bit space, with gaps between them and a byte of "was written" for every byte. */
#include <stdio.h>
#include <string.h>

#include "vgpu/builtin.h"

enum { GAP = 512 }; /* never mapped, after every allocation */

tess_status tess_vgpu_open(tess_vgpu_machine **machine, tess_context *given) {
    tess_context *context;
    *machine = NULL;
    TESS_TRY(tess_context_get(&context, given));
    tess_vgpu_machine *m = tess_allocate_zeroed(context, sizeof *m);
    if (!m)
        return TESS_ERR_MEMORY;
    m->context = context;
    m->next_address = VGPU_GLOBAL_BASE;
    pthread_mutex_init(&m->heap.lock, NULL);
    *machine = m;
    return TESS_OK;
}

static void release(const tess_vgpu_machine *m, const vgpu_allocation *a) {
    tess_free(m->context, a->host, (size_t)a->size);
    tess_free(m->context, a->defined, (size_t)a->size);
}

void tess_vgpu_close(tess_vgpu_machine *m) {
    if (!m)
        return;
    for (int i = 0; i < m->count; i++)
        release(m, &m->allocations[i]);
    tess_vgpu_heap_close(m);
    pthread_mutex_destroy(&m->heap.lock);
    tess_free(m->context, m->allocations, (size_t)m->room * sizeof *m->allocations);
    tess_free(m->context, m, sizeof *m);
}

tess_status tess_vgpu_reserve(tess_vgpu_machine *m, int64_t bytes, int64_t align, const char *name, int length, uint64_t *address) {
    *address = 0;
    if (bytes < 0 || bytes > (int64_t)1 << 42)
        return tess_fail(TESS_ERR_SIZE, "an allocation of %lld bytes; the limit is 4 TiB", (long long)bytes);
    if (m->count == m->room) {
        int wider = m->room ? 2 * m->room : 16;
        vgpu_allocation *grown = tess_allocate(m->context, (size_t)wider * sizeof *grown);
        if (!grown)
            return TESS_ERR_MEMORY;
        if (m->count)
            memcpy(grown, m->allocations, (size_t)m->count * sizeof *grown);
        tess_free(m->context, m->allocations, (size_t)m->room * sizeof *grown);
        m->allocations = grown;
        m->room = wider;
    }
    vgpu_allocation a = {.size = bytes, .name = name, .name_length = length};
    a.address = (m->next_address + (uint64_t)align - 1) / (uint64_t)align * (uint64_t)align;
    a.host = tess_allocate(m->context, (size_t)bytes);
    a.defined = tess_allocate(m->context, (size_t)bytes);
    if (!a.host || !a.defined) {
        release(m, &a);
        return TESS_ERR_MEMORY;
    }
    /* A module's variables begin as zeros, as the language says; anything else with a pattern that looks like nothing. */
    memset(a.host, name ? 0 : 0xa5, (size_t)bytes);
    memset(a.defined, name ? 1 : 0, (size_t)bytes);
    m->allocations[m->count++] = a; /* addresses only grow, so the list stays sorted */
    m->next_address = a.address + (uint64_t)bytes + GAP;
    *address = a.address;
    return TESS_OK;
}

tess_status tess_vgpu_malloc(tess_vgpu_machine *m, int64_t bytes, uint64_t *address) { return tess_vgpu_reserve(m, bytes, 256, NULL, 0, address); }

/* Number of the last allocation that begins at or before the address, or -1. */
static int before(const tess_vgpu_machine *m, uint64_t address) {
    int low = 0, high = m->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (m->allocations[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

const vgpu_allocation *tess_vgpu_allocation_of(const tess_vgpu_machine *m, uint64_t address, int64_t bytes) {
    int i = before(m, address);
    if (i < 0)
        return NULL;
    const vgpu_allocation *a = &m->allocations[i];
    uint64_t offset = address - a->address;
    return offset <= (uint64_t)a->size && (uint64_t)bytes <= (uint64_t)a->size - offset ? a : NULL;
}

const vgpu_allocation *tess_vgpu_nearest(const tess_vgpu_machine *m, uint64_t address) {
    int i = before(m, address);
    if (i < 0)
        i = 0;
    else if (i + 1 < m->count && m->allocations[i + 1].address - address < address - (m->allocations[i].address + (uint64_t)m->allocations[i].size))
        i++;
    return i < m->count ? &m->allocations[i] : NULL;
}

tess_status tess_vgpu_free(tess_vgpu_machine *m, uint64_t address) {
    int i = before(m, address);
    if (i < 0 || m->allocations[i].address != address)
        return tess_fail(TESS_ERR_ARGUMENT, "0x%llx is not the address of an allocation, or it was freed before", (unsigned long long)address);
    release(m, &m->allocations[i]);
    m->count--;
    memmove(&m->allocations[i], &m->allocations[i + 1], (size_t)(m->count - i) * sizeof *m->allocations);
    return TESS_OK;
}

bool tess_vgpu_leak_at(const tess_vgpu_machine *m, int number, tess_vgpu_leak *leak) {
    for (int i = 0; i < m->count; i++)
        if (!m->allocations[i].name && number-- == 0) {
            *leak = (tess_vgpu_leak){.address = m->allocations[i].address, .bytes = (uint64_t)m->allocations[i].size};
            return true;
        }
    for (int i = 0; i < m->heap.count; i++) {
        const vgpu_heap_block *b = &m->heap.block[i];
        if (!b->freed && number-- == 0) {
            *leak = (tess_vgpu_leak){.address = b->address, .bytes = b->bytes, .heap = true, .thread = b->thread, .line = b->line};
            memcpy(leak->block, b->block, sizeof leak->block);
            return true;
        }
    }
    return false;
}

static tess_status range(const tess_vgpu_machine *m, uint64_t address, int64_t bytes, const char *what, const vgpu_allocation **found) {
    *found = bytes >= 0 ? tess_vgpu_allocation_of(m, address, bytes) : NULL;
    if (!*found)
        return tess_fail(TESS_ERR_ARGUMENT, "%s of %lld bytes at 0x%llx is not inside one allocation", what, (long long)bytes,
                         (unsigned long long)address);
    return TESS_OK;
}

tess_status tess_vgpu_copy_in(tess_vgpu_machine *m, uint64_t to, const void *from, int64_t bytes) {
    const vgpu_allocation *a;
    TESS_TRY(range(m, to, bytes, "a copy", &a));
    if (bytes) {
        memcpy(a->host + (to - a->address), from, (size_t)bytes);
        memset(a->defined + (to - a->address), 1, (size_t)bytes);
    }
    return TESS_OK;
}

tess_status tess_vgpu_copy_out(tess_vgpu_machine *m, void *to, uint64_t from, int64_t bytes) {
    const vgpu_allocation *a;
    TESS_TRY(range(m, from, bytes, "a copy", &a));
    if (bytes)
        memcpy(to, a->host + (from - a->address), (size_t)bytes);
    return TESS_OK;
}

/* Undefined bytes stay undefined in their new place. */
tess_status tess_vgpu_copy_on(tess_vgpu_machine *m, uint64_t to, uint64_t from, int64_t bytes) {
    const vgpu_allocation *source, *target;
    TESS_TRY(range(m, from, bytes, "a copy", &source));
    TESS_TRY(range(m, to, bytes, "a copy", &target));
    if (bytes) {
        memmove(target->host + (to - target->address), source->host + (from - source->address), (size_t)bytes);
        memmove(target->defined + (to - target->address), source->defined + (from - source->address), (size_t)bytes);
    }
    return TESS_OK;
}

tess_status tess_vgpu_fill(tess_vgpu_machine *m, uint64_t to, int value, int64_t bytes) {
    const vgpu_allocation *a;
    TESS_TRY(range(m, to, bytes, "a fill", &a));
    memset(a->host + (to - a->address), value, (size_t)bytes);
    memset(a->defined + (to - a->address), 1, (size_t)bytes);
    return TESS_OK;
}
