/* SPDX-License-Identifier: Apache-2.0
 * check_defined.h - a part of exec_check.c: reads of what nothing has written. */
#ifndef TESS_VGPU_CHECK_DEFINED_H
#define TESS_VGPU_CHECK_DEFINED_H

/* The marks of one element: several host threads may look and write, so they are relaxed atomics of its width. */
#define MARKS(T)                                                                                  \
    do {                                                                                          \
        _Atomic T *place = (_Atomic T *)(void *)at;                                               \
        T seen = atomic_load_explicit(place, memory_order_relaxed), all = (T)0x0101010101010101u; \
        if (write && seen != all)                                                                 \
            atomic_store_explicit(place, all, memory_order_relaxed);                              \
        return seen != 0;                                                                         \
    } while (0)
static bool mark(unsigned char *at, int bytes, bool write) {
    switch (bytes) {
    case 1: MARKS(uint8_t);
    case 2: MARKS(uint16_t);
    case 4: MARKS(uint32_t);
    default: MARKS(uint64_t);
    }
}

/* In the device heap but in no block of it. */
static bool outside_heap(const vgpu_launch *launch, const vgpu_access *a, int lane, const unsigned char *at) {
    if (!launch->module->uses_heap || a->address[lane] - launch->machine->heap.address >= VGPU_HEAP_BYTES)
        return false;
    uint8_t seen = 0;
    for (int i = 0; i < a->bytes; i++)
        seen |= atomic_load_explicit((_Atomic uint8_t *)(uintptr_t)(at + i), memory_order_relaxed);
    if (seen & VGPU_NO_BLOCK)
        tess_vgpu_fault_report(a->warp, a->record, lane, TESS_VGPU_OUT_OF_BOUNDS, a->address[lane], NULL,
                               "%s of %d bytes at global address 0x%llx, in the device heap but outside its blocks, or in one that was freed",
                               a->kind == VGPU_LOAD ? "read" : "write", a->bytes, (unsigned long long)a->address[lane]);
    return seen & VGPU_NO_BLOCK;
}

/* Of the words of a window, in shared memory, which no other host thread knows. False: one that is read has no mark. */
TESS_INLINE bool window_defined(unsigned char *marks, const word_window *window, bool write) {
    uint32_t seen[WORDS], unset = 0;
    memcpy(seen, marks, sizeof seen);
    if (write) {
        for (int i = 0; i < WORDS; i++)
            seen[i] |= window->marks[i];
        memcpy(marks, seen, sizeof seen);
        return true;
    }
    for (int i = 0; i < WORDS; i++)
        unset |= seen[i] ? 0 : window->marks[i];
    return !unset;
}

/* Of 32 words in a row, two at a time. */
static bool row_defined(unsigned char *marks, bool write) {
    _Atomic uint64_t *pair = (_Atomic uint64_t *)(void *)marks;
    const uint64_t all = 0x0101010101010101u;
    uint64_t differs = 0;
    for (int i = 0; i < LANES / 2; i++)
        differs |= atomic_load_explicit(&pair[i], memory_order_relaxed) ^ all;
    if (TESS_LIKELY(!differs))
        return true;
    bool defined = true;
    for (int i = 0; i < LANES; i++)
        defined &= mark(marks + 4 * i, 4, write);
    return write || defined;
}

/* The same for elements of 4 bytes in one allocation, which nearly all accesses are; false: an element has no mark, or it is another kind of access. */
static bool all_defined(check_state *s, const vgpu_access *a) {
    const vgpu_launch *launch = a->warp->launch;
    if (a->record->bytes != 4 || a->bytes != 4 || (a->space == PTX_GLOBAL ? !a->allocation || launch->module->uses_heap : a->space != PTX_SHARED))
        return false;
    const word_window *window = a->space == PTX_SHARED ? window_of(s, a) : NULL;
    if (window)
        return window_defined(s->shared_defined + a->low, window, a->kind == VGPU_STORE);
    unsigned char *marks = a->space == PTX_GLOBAL ? a->allocation->defined : s->shared_defined;
    uint64_t origin = a->space == PTX_GLOBAL ? a->allocation->address : 0;
    if (a->pattern == VGPU_UNIT && (a->low - origin) % 8 == 0)
        return row_defined(marks + (a->low - origin), a->kind == VGPU_STORE);
    uint32_t mask = a->pattern == VGPU_SAME ? a->mask & -a->mask : a->mask, unset = 0;
    if (a->kind == VGPU_STORE) {
        for (uint32_t m = mask; m; m &= m - 1)
            mark(marks + (a->address[TESS_LOW_BIT(m)] - origin), 4, true);
        return true;
    }
    if (a->kind != VGPU_LOAD)
        return false;
    for (uint32_t m = mask; m; m &= m - 1)
        unset |= !mark(marks + (a->address[TESS_LOW_BIT(m)] - origin), 4, false);
    return !unset;
}

static void check_defined(check_state *s, const vgpu_access *a) {
    const vgpu_launch *launch = a->warp->launch;
    if (TESS_LIKELY(all_defined(s, a)))
        return;
    int element = a->record->bytes < 8 ? a->record->bytes : 8;
    for (uint32_t m = a->mask; m; m &= m - 1) {
        int l = TESS_LOW_BIT(m);
        unsigned char *at;
        if (a->space == PTX_GLOBAL) {
            const vgpu_allocation *where = a->allocation ? a->allocation : tess_vgpu_allocation_of(launch->machine, a->address[l], a->bytes);
            at = where->defined + (a->address[l] - where->address);
        } else if (a->space == PTX_SHARED) {
            at = s->shared_defined + a->address[l];
        } else {
            at = s->stack_defined + (int64_t)vgpu_thread_number(a->warp, l) * launch->stack_bytes + a->address[l];
        }
        if (a->space == PTX_GLOBAL && outside_heap(launch, a, l, at))
            continue;
        bool defined = true;
        for (int i = 0; i < a->bytes; i += element)
            defined &= mark(at + i, element, a->kind != VGPU_LOAD);
        if (!defined && a->kind != VGPU_STORE)
            tess_vgpu_fault_report(a->warp, a->record, l, TESS_VGPU_UNDEFINED, a->address[l], NULL,
                                   "read of %d bytes at %s address 0x%llx, which nothing has written", a->bytes,
                                   a->space == PTX_GLOBAL   ? "global"
                                   : a->space == PTX_SHARED ? "shared"
                                                            : "local",
                                   (unsigned long long)a->address[l]);
    }
}

#endif
