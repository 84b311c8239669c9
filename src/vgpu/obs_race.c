/* SPDX-License-Identifier: Apache-2.0
 * obs_race.c - the observer that finds races in global memory, which is asked for by itself because it takes much memory and one host thread.
 *
 * For every word: the last write and the last read, each with block, thread and time. Time counts accesses. Inside a block two accesses are ordered when
 * the block met at a barrier between them, when one warp made both, or by barriers of a part of the block (order.h). Blocks are ordered by atomics only: the first block must have done one after its
 * access, as in "write, fence, count", and the second one before its own. Which word the atomics are on is not looked at, so some races are missed;
 * what is reported has no order at all. */
#include <string.h>

#include "vgpu/order.h"

enum { LANES = 32 };

typedef struct past {
    uint64_t at, block; /* at 0: none */
    uint32_t pc;
    uint16_t thread;
    uint8_t bytes; /* of the word, one bit each */
    bool atomic;
} past;
typedef struct word {
    past write, read;
} word;

typedef struct race_state {
    uint64_t time, barrier, block; /* barrier: time of the block's last one */
    word **pages;                  /* by allocation: one word for every 4 bytes */
    const vgpu_launch *launch;
    int count;
    uint64_t *released, *acquired; /* by block: time of its last and its first atomic */
    vgpu_order order;              /* of the block's warps */
} race_state;

static size_t rounded(size_t bytes) { return (bytes + 63) / 64 * 64; }
static size_t words_of(const vgpu_allocation *a) { return ((size_t)a->size + 3) / 4; }

static size_t state_bytes(const vgpu_launch *launch) {
    size_t bytes = rounded(sizeof(race_state)) + rounded((size_t)launch->machine->count * sizeof(word *)) + 2 * rounded((size_t)launch->blocks * 8);
    for (int i = 0; i < launch->machine->count; i++)
        bytes += rounded(words_of(&launch->machine->allocations[i]) * sizeof(word));
    return bytes;
}

static tess_status on_start(void *state, const vgpu_launch *launch) {
    race_state *s = state;
    char *p = (char *)state + rounded(sizeof(race_state));
    s->launch = launch;
    s->count = launch->machine->count;
    s->pages = (word **)(void *)p;
    p += rounded((size_t)s->count * sizeof(word *));
    s->released = (uint64_t *)(void *)p;
    p += rounded((size_t)launch->blocks * 8);
    s->acquired = (uint64_t *)(void *)p;
    p += rounded((size_t)launch->blocks * 8);
    for (int i = 0; i < s->count; i++) {
        s->pages[i] = (word *)(void *)p;
        p += rounded(words_of(&launch->machine->allocations[i]) * sizeof(word));
    }
    return TESS_OK;
}

static void on_block(void *state, const vgpu_worker *worker) {
    race_state *s = state;
    s->block = worker->block_number;
    s->barrier = ++s->time;
    memset(&s->order, 0, sizeof s->order);
}
static void on_meet(void *state, const vgpu_warp *warp, uint32_t lanes, int barrier, vgpu_meeting what) {
    race_state *s = state;
    (void)lanes;
    vgpu_order_meet(&s->order, warp, barrier, what, ++s->time);
}
static void on_barrier(void *state, const vgpu_worker *worker) {
    race_state *s = state;
    (void)worker;
    s->barrier = ++s->time;
}

static bool ordered(const race_state *s, const past *p, uint32_t thread, const past *now) {
    if (!p->at || !(p->bytes & now->bytes) || (p->atomic && now->atomic))
        return true;
    if (p->block == s->block)
        return p->at < s->barrier || p->thread / LANES == thread / LANES ||
               vgpu_order_knows(&s->order, (int)(thread / LANES), p->thread / LANES, p->at);
    return s->released[p->block] > p->at && s->acquired[s->block];
}

static void report(const race_state *s, const vgpu_access *a, int lane, const past *p, bool wrote) {
    const vgpu_record *other = &s->launch->module->records[p->pc];
    uint64_t x = p->block % s->launch->grid[0], y = p->block / s->launch->grid[0] % s->launch->grid[1];
    tess_vgpu_fault_report(a->warp, a->record, lane, TESS_VGPU_GLOBAL_RACE, a->address[lane], other,
                           "%s global address 0x%llx that thread %u of block %llu %llu %s at line %u, with nothing that orders them",
                           a->kind == VGPU_LOAD ? "reads" : "writes", (unsigned long long)a->address[lane], p->thread, (unsigned long long)x,
                           (unsigned long long)y, wrote ? "wrote" : "read", other->source & 0xffffff);
}

static void on_access(void *state, const vgpu_access *a) {
    race_state *s = state;
    if (a->space != PTX_GLOBAL)
        return;
    bool atomic = a->kind == VGPU_ATOMIC || a->record->flags & VGPU_VOLATILE; /* volatile and acquire loads are how others are waited for */
    s->time++;
    if (atomic) {
        s->released[s->block] = s->time;
        s->acquired[s->block] = s->acquired[s->block] ? s->acquired[s->block] : s->time;
    }
    for (uint32_t m = a->mask; m; m &= m - 1) {
        int l = TESS_LOW_BIT(m);
        uint32_t thread = vgpu_thread_number(a->warp, l);
        const vgpu_allocation *where = a->allocation ? a->allocation : tess_vgpu_allocation_of(s->launch->machine, a->address[l], a->bytes);
        int number = (int)(where - s->launch->machine->allocations);
        for (int i = 0; i < a->bytes; i += 4) {
            uint8_t bytes = a->bytes >= 4 ? 15 : (uint8_t)(((1 << a->bytes) - 1) << a->address[l] % 4);
            past now = {s->time, s->block, (uint32_t)(a->record - s->launch->module->records), (uint16_t)thread, bytes, atomic};
            word *w = &s->pages[number][(a->address[l] - where->address + (uint64_t)i) / 4];
            if (!ordered(s, &w->write, thread, &now))
                report(s, a, l, &w->write, true);
            if (a->kind == VGPU_LOAD) {
                w->read = now;
                continue;
            }
            if (!ordered(s, &w->read, thread, &now))
                report(s, a, l, &w->read, false);
            w->write = now;
        }
    }
}

const vgpu_observer tess_vgpu_race_observer = {
    .state_bytes = state_bytes, .start = on_start, .block = on_block, .access = on_access, .barrier = on_barrier, .meet = on_meet, .one_state = true};
