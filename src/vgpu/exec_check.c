/* SPDX-License-Identifier: Apache-2.0
 * exec_check.c - the observer that finds undefined reads and races in shared memory. (Bounds, alignment, barriers and missing lanes the machine itself
 * must see.)
 *
 * Undefined: a byte beside every byte of global, shared and local memory tells whether it was written; a load of an element none of whose bytes was,
 * is reported. A copied structure's padding is half of an element at most, so it is not.
 *
 * Races: for every word of shared memory the last writer and the last two readers, each with the time of the access. Time is a count of
 * synchronisations; every thread keeps the time of its last one. Two accesses of different threads are ordered when both threads have synchronised
 * since the first. That is exact for block barriers and warp barriers of whole warps, and errs to silence for partial ones. In modules with barriers of a
 * part of the block accesses of different warps are ordered by vector clocks (order.h) instead, and each access is looked at lane by lane.
 *
 * Nearly all accesses are in order, and what is before the last barrier of the whole block is so at one comparison. Compiled once per instruction set. */
#include <stdatomic.h>
#include <string.h>

#include "vgpu/order.h"

enum { LANES = 32, WORDS = 32 };

/* An access in one word of ours, so that accesses compare by their time: from bit 32 on the time (0: none), from 15 the record, from 5 the thread, from 1
 * the bytes of the word, one bit each, at 0 whether it was atomic. */
typedef uint64_t past_access;
enum { RECORD_LIMIT = (1 << 17) - 1 }; /* later ones are told as this one */
/* Of a word of shared memory: the last writer, the last reader, the one before, and where parts of a block meet the last one that was in no
 * order with the next. */
enum { WRITE, READ, READ_BEFORE, READ_APART, PASTS };

TESS_INLINE past_access access_of(uint64_t time, uint32_t pc, uint32_t thread, uint8_t bytes, bool atomic) {
    return time << 32 | (uint64_t)(pc < RECORD_LIMIT ? pc : RECORD_LIMIT) << 15 | thread << 5 | (uint32_t)bytes << 1 | atomic;
}
TESS_INLINE uint64_t time_of(past_access p) { return p >> 32; }
TESS_INLINE uint32_t record_of(past_access p) { return (uint32_t)(p >> 15) & RECORD_LIMIT; }
TESS_INLINE uint32_t thread_of(past_access p) { return (uint32_t)(p >> 5) & 1023; }

/* What is found out once about accesses of one shape: which of the 32 words from the lowest address on they touch. */
typedef struct word_window {
    uint64_t there[WORDS], several[WORDS];  /* all ones: a lane is at the word; several are */
    past_access last[WORDS], before[WORDS]; /* of those the last, and the one before it, as numbers of threads within the warp */
    uint32_t marks[WORDS];                  /* of what is touched */
    bool fits, meet;                        /* all lanes are at these words; several are at one */
} word_window;

typedef struct check_state {
    uint64_t clock, block_start; /* below 2^32 */
    uint64_t all_synced;         /* when all threads of the block did together: earlier accesses are in order */
    uint64_t synced[1024];       /* by thread: when its warp did; with all_synced, the later of the two */
    past_access *past[PASTS];    /* by word */
    bool parts, waits;           /* the module has barriers of a part of the block; and those that lie in shared memory */
    bool bulk;                   /* the module has bulk copies, which do not run in the order of their thread */
    word_window *windows;        /* by number of the shape */
    unsigned char *shared_defined, *stack_defined;
    vgpu_order order;
} check_state;

/* With room behind for a whole window of words at the last one. */
static size_t words_of(const vgpu_launch *launch) { return ((size_t)(launch->shared_bytes + 3) / 4 + WORDS + 7) / 8 * 8; }
static size_t shared_of(const vgpu_launch *launch) { return ((size_t)launch->shared_bytes + 4 * WORDS + 63) / 64 * 64; }
static size_t stacks_of(const vgpu_launch *launch) { return (size_t)launch->warps * LANES * (size_t)launch->stack_bytes; }
static size_t windows_of(const vgpu_launch *launch) { return (launch->module->shape_count * sizeof(word_window) + 63) / 64 * 64; }
static size_t head_of(void) { return (sizeof(check_state) + 63) / 64 * 64; }

static size_t state_bytes(const vgpu_launch *launch) {
    return head_of() + windows_of(launch) + PASTS * words_of(launch) * sizeof(past_access) + shared_of(launch) + stacks_of(launch);
}

static bool is_bulk(const vgpu_record *r) { return r->op == PTX_OP_CP && r->mode == PTX_BULK; }

static tess_status on_start(void *state, const vgpu_launch *launch) {
    check_state *s = state;
    char *p = (char *)state + head_of();
    s->windows = (word_window *)(void *)p;
    p += windows_of(launch);
    for (int k = 0; k < PASTS; k++)
        s->past[k] = (past_access *)(void *)p + (size_t)k * words_of(launch);
    s->shared_defined = (unsigned char *)p + PASTS * words_of(launch) * sizeof(past_access);
    for (uint32_t i = 0; i < launch->module->record_count; i++)
        s->bulk |= is_bulk(&launch->module->records[i]), s->waits |= launch->module->records[i].op == PTX_OP_MBARRIER;
    s->parts = vgpu_order_matters(launch->module);
    s->stack_defined = s->shared_defined + shared_of(launch);
    return TESS_OK;
}

static void on_block(void *state, const vgpu_worker *worker) {
    check_state *s = state;
    if (s->clock > UINT32_MAX / 2) { /* begin again */
        memset(s->past[0], 0, PASTS * words_of(worker->launch) * sizeof(past_access));
        memset(s->synced, 0, sizeof s->synced);
        memset(&s->order, 0, sizeof s->order);
        s->clock = 0;
    }
    s->block_start = s->all_synced = ++s->clock;
    memset(s->shared_defined, 0, shared_of(worker->launch));
    memset(s->stack_defined, 0, stacks_of(worker->launch));
}

static void on_barrier(void *state, const vgpu_worker *worker) {
    (void)worker;
    check_state *s = state;
    s->all_synced = ++s->clock;
}

static void on_meet(void *state, const vgpu_warp *warp, uint32_t lanes, int barrier, vgpu_meeting what) {
    check_state *s = state;
    s->clock++;
    vgpu_order_meet(&s->order, warp, barrier, what, s->clock);
    for (; what == VGPU_GOES_ON && lanes; lanes &= lanes - 1)
        s->synced[vgpu_thread_number(warp, TESS_LOW_BIT(lanes))] = s->clock;
}

static void on_warp_sync(void *state, const vgpu_warp *warp, uint32_t lanes) {
    check_state *s = state;
    s->clock++;
    for (; lanes; lanes &= lanes - 1)
        s->synced[vgpu_thread_number(warp, TESS_LOW_BIT(lanes))] = s->clock;
}

/* ---- windows: the 32 words from an access's lowest address on ----
 *
 * Most accesses of 4 bytes a lane stay in their window, and mostly nothing is wrong in it: that is seen for all words at once, from what the shape
 * keeps about them. Where something may be wrong the lanes are looked at one by one. */

static TESS_NOINLINE void find_window(const vgpu_shape *s, word_window *w) {
    *w = (word_window){.fits = s->high - s->low < 4 * WORDS};
    for (uint32_t m = w->fits ? s->mask : 0; m; m &= m - 1) {
        int l = TESS_LOW_BIT(m), word = (s->offset[l] - s->low) / 4;
        w->several[word] = w->there[word];
        w->meet |= w->several[word] != 0;
        w->before[word] = w->last[word];
        w->last[word] = access_of(0, 0, (uint32_t)l, 0, false);
        w->there[word] = ~0ull;
        w->marks[word] = 0x01010101;
    }
}

/* The window of a load or store of 4 bytes a lane that stays in one, or NULL. */
TESS_INLINE const word_window *window_of(const check_state *s, const vgpu_access *a) {
    if (!a->shape || a->bytes != 4)
        return NULL;
    word_window *w = &s->windows[a->record->f];
    if (TESS_UNLIKELY(!a->shape->known_window)) {
        find_window(a->shape, w);
        a->shape->known_window = true;
    }
    return w->fits ? w : NULL;
}

#include "vgpu/check_defined.h"

/* ---- races ---- */

static bool conflicts(const check_state *s, const vgpu_launch *launch, past_access past, past_access now) {
    if (time_of(past) < s->all_synced || !((past & now) >> 1 & 15) || (past & now & 1))
        return false;
    if (is_bulk(&launch->module->records[record_of(past)])) /* it completes on its barrier, whatever its thread does meanwhile */
        return s->synced[thread_of(now)] <= time_of(past);
    if (thread_of(past) == thread_of(now))
        return false;
    if (s->parts && thread_of(past) / LANES != thread_of(now) / LANES) {
        if (vgpu_order_knows(&s->order, (int)(thread_of(now) / LANES), (int)(thread_of(past) / LANES), time_of(past)))
            return false;
        if (!s->waits)
            return true;
    }
    return s->synced[thread_of(past)] <= time_of(past) || s->synced[thread_of(now)] <= time_of(past);
}

static void report_race(const vgpu_access *a, int lane, past_access past, bool past_wrote) {
    const vgpu_launch *launch = a->warp->launch;
    const vgpu_record *other = &launch->module->records[record_of(past)];
    bool warp = (int)(thread_of(past) / LANES) == a->warp->number;
    const char *verb = a->kind == VGPU_LOAD ? "reads" : a->kind == VGPU_STORE ? "writes" : "changes";
    if (past_wrote && is_bulk(other)) {
        tess_vgpu_fault_report(a->warp, a->record, lane, TESS_VGPU_RACE, a->address[lane], other,
                               "%s shared address 0x%llx that the bulk copy of thread %u at line %u writes, without having waited for its mbarrier",
                               verb, (unsigned long long)a->address[lane], thread_of(past), other->source & 0xffffff);
        return;
    }
    tess_vgpu_fault_report(
        a->warp, a->record, lane, warp ? TESS_VGPU_WARP_RACE : TESS_VGPU_RACE, a->address[lane], other,
        warp ? "%s shared address 0x%llx that thread %u of its own warp %s at line %u: lanes do not run in step, __syncwarp() orders them"
             : "%s shared address 0x%llx that thread %u %s at line %u, with no barrier between",
        verb, (unsigned long long)a->address[lane], thread_of(past), past_wrote ? "wrote" : "read", other->source & 0xffffff);
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

/* One lane's access to one word. */
TESS_INLINE void check_word(check_state *s, const vgpu_access *a, int lane, uint64_t word, past_access now) {
    past_access floor = s->all_synced << 32, write = s->past[WRITE][word];
    bool same_store = a->kind == VGPU_STORE && record_of(write) == record_of(now) && thread_of(write) / LANES == thread_of(now) / LANES;
    if (TESS_UNLIKELY(write >= floor) && !same_store /* seen above */ && conflicts(s, a->warp->launch, write, now))
        report_race(a, lane, write, true);
    past_access *read = &s->past[READ][word], *before = &s->past[READ_BEFORE][word];
    if (a->kind == VGPU_LOAD) {
        if (thread_of(*read) != thread_of(now) || time_of(*read) < s->block_start)
            *before = *read;
        if (s->parts && thread_of(*read) / LANES != thread_of(now) / LANES &&
            !vgpu_order_knows(&s->order, (int)(thread_of(now) / LANES), (int)(thread_of(*read) / LANES), time_of(*read)))
            s->past[READ_APART][word] = *read; /* what this one knows of it need not remember for itself */
        *read = now;
        return;
    }
    past_access apart = s->parts ? s->past[READ_APART][word] : 0;
    if (apart != *before && conflicts(s, a->warp->launch, apart & ~(past_access)1, now))
        report_race(a, lane, apart, false);
    if (TESS_UNLIKELY(*read >= floor) && conflicts(s, a->warp->launch, *read & ~(past_access)1, now))
        report_race(a, lane, *read, false);
    if (TESS_UNLIKELY(*before >= floor) && conflicts(s, a->warp->launch, *before & ~(past_access)1, now))
        report_race(a, lane, *before, false);
    s->past[WRITE][word] = now;
}

/* The words of a window where an access that was not before the last barrier is another thread's, or the words are wanted by several lanes. */
TESS_INLINE uint64_t unordered(const past_access *past, const past_access *own, const word_window *window, past_access floor) {
    const past_access others = access_of(0, 0, 1023, 0, false);
    uint64_t wrong = 0;
    for (int i = 0; i < WORDS; i++) {
        uint64_t other = (past[i] ^ own[i]) & others ? ~0ull : 0, late = (int64_t)past[i] >= (int64_t)floor ? ~0ull : 0; /* times are below 2^31 */
        wrong |= (other | window->several[i]) & late & window->there[i];
    }
    return wrong;
}

TESS_INLINE void put_write(past_access *restrict write, const past_access *restrict own, const word_window *restrict window) {
    for (int i = 0; i < WORDS; i++)
        write[i] = (own[i] & window->there[i]) | (write[i] & ~window->there[i]);
}

TESS_INLINE void put_read(past_access *restrict read, past_access *restrict before, const past_access *restrict own,
                          const word_window *restrict window, past_access now, past_access start) {
    const past_access others = access_of(0, 0, 1023, 0, false);
    for (int i = 0; i < WORDS; i++) {
        uint64_t there = window->there[i], several = window->several[i];
        uint64_t moves = (read[i] ^ own[i]) & others ? ~0ull : 0, old = (int64_t)read[i] < (int64_t)start ? ~0ull : 0;
        past_access second = now + window->before[i], next = moves | old ? read[i] : before[i];
        next = (second & several) | (next & ~several);
        before[i] = (next & there) | (before[i] & ~there);
        read[i] = (own[i] & there) | (read[i] & ~there);
    }
}

/* A load or store in a window: false, and nothing done, when a word may have been accessed out of order. */
static bool in_order(const check_state *s, const vgpu_access *a, const word_window *window, past_access now) {
    past_access floor = s->all_synced << 32, own[WORDS]; /* by the last lane at the word */
    past_access *write = s->past[WRITE] + a->low / 4, *read = s->past[READ] + a->low / 4, *before = s->past[READ_BEFORE] + a->low / 4;
    for (int i = 0; i < WORDS; i++)
        own[i] = now + window->last[i];
    if (TESS_UNLIKELY(unordered(write, own, window, floor)))
        return false;
    if (a->kind == VGPU_LOAD) {
        put_read(read, before, own, window, now, s->block_start << 32);
        return true;
    }
    if (TESS_UNLIKELY(unordered(read, own, window, floor) | unordered(before, own, window, floor)))
        return false;
    put_write(write, own, window);
    return true;
}

static void check_race(check_state *s, const vgpu_access *a) {
    uint32_t pc = (uint32_t)(a->record - a->warp->launch->module->records), mask = a->mask;
    past_access now = access_of(s->clock, pc, vgpu_thread_number(a->warp, 0), 15, a->kind == VGPU_ATOMIC), step = access_of(0, 0, 1, 0, false);
    const word_window *window = window_of(s, a);
    if (a->kind == VGPU_STORE && !(window && !window->meet))
        check_one_store(a);
    if (window && a->pattern != VGPU_SAME && !s->bulk && !s->parts && in_order(s, a, window, now))
        return;
    if (TESS_LIKELY(a->bytes == 4)) {
        if (a->kind == VGPU_LOAD && !s->parts && a->pattern == VGPU_SAME && s->past[WRITE][a->address[TESS_LOW_BIT(mask)] / 4] < s->all_synced << 32)
            while (TESS_POPCOUNT(mask) > 2) /* all read one word in order: only the last two are remembered */
                mask &= mask - 1;
        for (uint32_t m = mask; m; m &= m - 1) {
            int l = TESS_LOW_BIT(m);
            check_word(s, a, l, a->address[l] / 4, now + (uint64_t)l * step);
        }
        return;
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = TESS_LOW_BIT(m);
        for (int i = 0; i < a->bytes; i += 4) {
            uint64_t at = a->address[l] + (uint64_t)i;
            uint8_t bytes = a->bytes >= 4 ? 15 : (uint8_t)(((1 << a->bytes) - 1) << at % 4);
            check_word(s, a, l, at / 4, access_of(s->clock, pc, vgpu_thread_number(a->warp, l), bytes, a->kind == VGPU_ATOMIC));
        }
    }
}

static void on_access(void *state, const vgpu_access *a) {
    if (a->space == PTX_GLOBAL || a->space == PTX_SHARED || (a->space == PTX_LOCAL && !a->warp->launch->machine->copies_unset))
        check_defined(state, a);
    if (a->space == PTX_SHARED)
        check_race(state, a);
}

extern const vgpu_observer TESS_ISA_NAME(tess_vgpu_check_observer);
const vgpu_observer TESS_ISA_NAME(tess_vgpu_check_observer) = {.state_bytes = state_bytes,
                                                               .start = on_start,
                                                               .block = on_block,
                                                               .access = on_access,
                                                               .warp_sync = on_warp_sync,
                                                               .barrier = on_barrier,
                                                               .meet = on_meet};
