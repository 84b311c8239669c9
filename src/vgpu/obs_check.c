/* SPDX-License-Identifier: Apache-2.0
 * obs_check.c - the observer that finds undefined reads and races in shared memory. (Bounds, alignment, barriers and missing lanes the machine itself
 * must see.)
 *
 * Undefined: a byte beside every byte of global, shared and local memory tells whether it was written; a load of an element none of whose bytes was,
 * is reported. A copied structure's padding is half of an element at most, so it is not.
 *
 * Races: for every word of shared memory the last writer and the last two readers, each with the time of the access. Time is a count of
 * synchronisations; every thread keeps the time of its last one. Two accesses of different threads are ordered when both threads have synchronised
 * since the first. That is exact for block barriers and warp barriers of whole warps, and errs to silence for partial ones. */
#include <stdatomic.h>
#include <string.h>

#include "vgpu/machine.h"

enum { LANES = 32 };

typedef struct past_access {
    uint64_t at; /* 0: none */
    uint32_t pc;
    uint16_t thread;
    uint8_t bytes; /* of the word, one bit each */
    bool atomic;
} past_access;
typedef struct shared_word {
    past_access write, read[2];
} shared_word;

typedef struct check_state {
    uint64_t clock, block_start;
    uint64_t synced[1024]; /* by thread */
    shared_word *words;
    unsigned char *shared_defined, *stack_defined;
} check_state;

static size_t words_of(const vgpu_launch *launch) { return (size_t)(launch->shared_bytes + 3) / 4; }
static size_t shared_of(const vgpu_launch *launch) { return ((size_t)launch->shared_bytes + 63) / 64 * 64; }
static size_t stacks_of(const vgpu_launch *launch) { return (size_t)launch->warps * LANES * (size_t)launch->stack_bytes; }
static size_t head_of(void) { return (sizeof(check_state) + 63) / 64 * 64; }

static size_t state_bytes(const vgpu_launch *launch) {
    return head_of() + (words_of(launch) * sizeof(shared_word) + 63) / 64 * 64 + shared_of(launch) + stacks_of(launch);
}

static tess_status on_start(void *state, const vgpu_launch *launch) {
    check_state *s = state;
    char *p = (char *)state + head_of();
    s->words = (shared_word *)(void *)p;
    s->shared_defined = (unsigned char *)p + (words_of(launch) * sizeof(shared_word) + 63) / 64 * 64;
    s->stack_defined = s->shared_defined + shared_of(launch);
    return TESS_OK;
}

static void on_block(void *state, const vgpu_worker *worker) {
    check_state *s = state;
    s->block_start = ++s->clock;
    for (int i = 0; i < 1024; i++)
        s->synced[i] = s->clock;
    memset(s->shared_defined, 0, shared_of(worker->launch));
    memset(s->stack_defined, 0, stacks_of(worker->launch));
}

static void on_barrier(void *state, const vgpu_worker *worker) {
    check_state *s = state;
    s->clock++;
    for (int64_t i = 0; i < worker->launch->threads; i++)
        s->synced[i] = s->clock;
}

static void on_warp_sync(void *state, const vgpu_warp *warp, uint32_t lanes) {
    check_state *s = state;
    s->clock++;
    for (; lanes; lanes &= lanes - 1)
        s->synced[vgpu_thread_number(warp, TESS_LOW_BIT(lanes))] = s->clock;
}

/* ---- undefined reads ---- */

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

static void check_defined(check_state *s, const vgpu_access *a) {
    const vgpu_launch *launch = a->warp->launch;
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

/* ---- races ---- */

static bool conflicts(const check_state *s, const past_access *past, uint32_t thread, uint8_t bytes, bool atomic) {
    if (past->at < s->block_start || past->thread == thread || !(past->bytes & bytes) || (past->atomic && atomic))
        return false;
    return s->synced[past->thread] <= past->at || s->synced[thread] <= past->at;
}

static void report_race(const vgpu_access *a, int lane, const past_access *past, bool past_wrote) {
    const vgpu_launch *launch = a->warp->launch;
    const vgpu_record *other = &launch->module->records[past->pc];
    bool warp = past->thread / LANES == a->warp->number;
    const char *verb = a->kind == VGPU_LOAD ? "reads" : a->kind == VGPU_STORE ? "writes" : "changes";
    tess_vgpu_fault_report(
        a->warp, a->record, lane, warp ? TESS_VGPU_WARP_RACE : TESS_VGPU_RACE, a->address[lane], other,
        warp ? "%s shared address 0x%llx that thread %u of its own warp %s at line %u: lanes do not run in step, __syncwarp() orders them"
             : "%s shared address 0x%llx that thread %u %s at line %u, with no barrier between",
        verb, (unsigned long long)a->address[lane], past->thread, past_wrote ? "wrote" : "read", other->source & 0xffffff);
}

/* Lanes of one store that put different values into one place. */
static void check_one_store(const vgpu_access *a) {
    const vgpu_record *r = a->record;
    if (r->op != PTX_OP_ST || a->pattern == VGPU_UNIT)
        return;
    for (uint32_t m = a->mask; m; m &= m - 1) {
        int l = TESS_LOW_BIT(m);
        for (uint32_t k = m & (m - 1); k; k &= k - 1) {
            int other = TESS_LOW_BIT(k);
            const char *file = a->warp->file + r->a;
            if (a->address[other] == a->address[l] && memcmp(file + l * r->register_bytes, file + other * r->register_bytes, r->bytes) != 0) {
                tess_vgpu_fault_report(a->warp, r, other, TESS_VGPU_WARP_RACE, a->address[l], r,
                                       "lanes %d and %d write different values to shared address 0x%llx at once", l, other,
                                       (unsigned long long)a->address[l]);
                return;
            }
        }
    }
}

static void check_race(check_state *s, const vgpu_access *a) {
    uint32_t pc = (uint32_t)(a->record - a->warp->launch->module->records);
    bool atomic = a->kind == VGPU_ATOMIC;
    if (a->kind == VGPU_STORE)
        check_one_store(a);
    for (uint32_t m = a->mask; m; m &= m - 1) {
        int l = TESS_LOW_BIT(m);
        uint32_t thread = vgpu_thread_number(a->warp, l);
        for (int i = 0; i < a->bytes; i += 4) {
            uint64_t at = a->address[l] + (uint64_t)i;
            shared_word *w = &s->words[at / 4];
            uint8_t bytes = a->bytes >= 4 ? 15 : (uint8_t)(((1 << a->bytes) - 1) << at % 4);
            past_access now = {s->clock, pc, (uint16_t)thread, bytes, atomic};
            bool same_store = w->write.pc == pc && w->write.thread / LANES == thread / LANES && a->kind == VGPU_STORE; /* seen above */
            if (!same_store && conflicts(s, &w->write, thread, bytes, atomic))
                report_race(a, l, &w->write, true);
            if (a->kind == VGPU_LOAD) {
                if (w->read[0].thread != thread || w->read[0].at < s->block_start)
                    w->read[1] = w->read[0];
                w->read[0] = now;
                continue;
            }
            for (int k = 0; k < 2; k++)
                if (conflicts(s, &w->read[k], thread, bytes, false))
                    report_race(a, l, &w->read[k], false);
            w->write = now;
        }
    }
}

/* A bulk copy's writes are ordered by the barrier that it completes on, and not by what its thread does next. */
static void forget(check_state *s, const vgpu_access *a) {
    for (uint32_t m = a->mask; m; m &= m - 1)
        for (int i = 0; i < a->bytes; i += 4)
            s->words[(a->address[TESS_LOW_BIT(m)] + (uint64_t)i) / 4] = (shared_word){0};
}

static void on_access(void *state, const vgpu_access *a) {
    if (a->space == PTX_GLOBAL || a->space == PTX_SHARED || a->space == PTX_LOCAL)
        check_defined(state, a);
    if (a->space == PTX_SHARED && a->record->op == PTX_OP_CP && a->record->mode == PTX_BULK && a->kind == VGPU_STORE)
        forget(state, a);
    else if (a->space == PTX_SHARED)
        check_race(state, a);
}

const vgpu_observer tess_vgpu_check_observer = {
    .state_bytes = state_bytes, .start = on_start, .block = on_block, .access = on_access, .warp_sync = on_warp_sync, .barrier = on_barrier};
