/* SPDX-License-Identifier: Apache-2.0
 * bulk.c - barriers in shared memory that count arrivals and bytes (mbarrier), and the bulk copies that complete on them.
 *
 * PTX leaves the barrier's 64 bits open. Here: arrivals still missing (20 bits), arrivals of a phase (20), bytes still missing (23, signed), and at the
 * top the parity of the phase. Copies are done at once; a wait that is missing is found as a race. */
#include <string.h>

#include "vgpu/access.h"
#include "vgpu/decode.h"

typedef struct state {
    int64_t missing, expected, bytes;
    uint32_t parity;
} state;

enum { COUNT_LIMIT = (1 << 20) - 1 };

static state unpack(uint64_t word) {
    return (state){(int64_t)(word & COUNT_LIMIT), (int64_t)(word >> 20 & COUNT_LIMIT), (int64_t)(word << 1) >> 41, (uint32_t)(word >> 63)};
}
static uint64_t pack(state s) {
    return (uint64_t)s.missing | (uint64_t)s.expected << 20 | ((uint64_t)s.bytes & 0x7fffff) << 40 | (uint64_t)s.parity << 63;
}

static void settle(state *s) {
    if (s->missing == 0 && s->bytes == 0) {
        s->parity ^= 1;
        s->missing = s->expected;
    }
}

static void synchronised(const vgpu_warp *w, uint32_t lanes) {
    for (int i = 0; lanes && i < w->launch->observers; i++)
        if (w->launch->observer[i]->warp_sync)
            w->launch->observer[i]->warp_sync(w->worker->state[i], w, lanes);
}

/* One lane's operation; false: it cannot be, and was reported. */
static bool operate(vgpu_warp *w, const vgpu_record *r, int lane, uint64_t address, char *host, uint32_t *met) {
    uint64_t word, value = 0;
    memcpy(&word, host, 8);
    memcpy(&value, w->file + r->a + (r->mode == PTX_TRY_WAIT || r->mode == PTX_TEST_WAIT ? r->count ? 4 : 8 : 4) * lane,
           (r->mode == PTX_TRY_WAIT || r->mode == PTX_TEST_WAIT) && !r->count ? 8 : 4);
    state s = unpack(word);
    switch (r->mode) {
    case PTX_INIT:
        if (value == 0 || value > COUNT_LIMIT) {
            tess_vgpu_fault_report(w, r, lane, TESS_VGPU_BARRIER, address, NULL, "an mbarrier for %llu arrivals; the limits are 1 and %d",
                                   (unsigned long long)value, COUNT_LIMIT);
            return false;
        }
        s = (state){(int64_t)value, (int64_t)value, 0, 0};
        break;
    case PTX_INVAL: s = (state){0, 0, 0, 0}; break;
    case PTX_EXPECT_TX: s.bytes += (int64_t)value; break;
    case PTX_COMPLETE_TX:
        s.bytes -= (int64_t)value;
        settle(&s);
        break;
    case PTX_TRY_WAIT:
    case PTX_TEST_WAIT: {
        bool over = r->count ? s.parity != (value & 1) : s.parity != (uint32_t)(value >> 63);
        vgpu_set_predicate(w, r->d, over ? ALL_LANES : 0, 1u << lane);
        *met |= over ? 1u << lane : 0;
        return true;
    }
    default: { /* arrive, arrive_drop */
        int64_t arrivals = r->count ? 1 : (int64_t)value;
        s.bytes += r->count ? (int64_t)value : 0;
        if (arrivals > s.missing) {
            tess_vgpu_fault_report(w, r, lane, TESS_VGPU_BARRIER, address, NULL,
                                   "%lld arrivals at an mbarrier that waits for %lld more in this phase", (long long)arrivals, (long long)s.missing);
            return false;
        }
        s.missing -= arrivals;
        s.expected -= r->mode == PTX_ARRIVE_DROP ? arrivals : 0;
        SLOT(uint64_t, w, r->d)[lane] = word;
        *met |= 1u << lane;
        settle(&s);
    }
    }
    word = pack(s);
    memcpy(host, &word, 8);
    return true;
}

void tess_vgpu_mbarrier(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    uint64_t address[LANES];
    vgpu_resolved in;
    ptx_space space;
    uint32_t met = 0;
    tess_vgpu_addresses(w, r, r->e, r->offset, address);
    w->polled = true;
    uint32_t part = tess_vgpu_same_space((ptx_space)r->space, address, mask, &space);
    if (space != PTX_SHARED || part != mask) {
        tess_vgpu_fault_report(w, r, TESS_LOW_BIT(mask), TESS_VGPU_OUT_OF_BOUNDS, address[TESS_LOW_BIT(mask)], NULL,
                               "an mbarrier outside shared memory");
        return;
    }
    tess_vgpu_resolve(w, r, PTX_SHARED, r->mode == PTX_INIT || r->mode == PTX_INVAL ? VGPU_STORE : VGPU_ATOMIC, 8, 8, address, mask, &in);
    for (uint32_t m = in.mask; m; m &= m - 1)
        if (!operate(w, r, TESS_LOW_BIT(m), address[TESS_LOW_BIT(m)], in.host[TESS_LOW_BIT(m)], &met)) {
            w->worker->stop = true; /* it would be waited for without end */
            break;
        }
    synchronised(w, met);
}

/* ---- copies ---- */

static uint64_t side(const vgpu_warp *w, const uint32_t *entry, int lane) {
    uint64_t offset = entry[1] | (uint64_t)entry[2] << 32;
    if (entry[0] == VGPU_NO_SLOT)
        return offset;
    return entry[3] ? (uint32_t)(SLOT(uint32_t, w, entry[0])[lane] + (uint32_t)offset) : SLOT(uint64_t, w, entry[0])[lane] + offset;
}

/* Tells the observers of both sides, 32 pieces of 16 bytes at a time, and copies. */
static bool copy(vgpu_warp *w, const vgpu_record *r, uint64_t to, uint64_t from, uint32_t size) {
    ptx_space source = r->space == PTX_SHARED ? PTX_GLOBAL : PTX_SHARED;
    for (uint32_t done = 0; done < size; done += 16 * LANES) {
        uint64_t there[LANES], here[LANES];
        uint32_t pieces = (size - done) / 16 < LANES ? (size - done) / 16 : LANES, mask = pieces == LANES ? ALL_LANES : (1u << pieces) - 1;
        vgpu_resolved in, out;
        for (uint32_t l = 0; l < LANES; l++) {
            here[l] = from + done + 16 * (l < pieces ? l : 0);
            there[l] = to + done + 16 * (l < pieces ? l : 0);
        }
        tess_vgpu_resolve(w, r, source, VGPU_LOAD, 16, 16, here, mask, &in);
        if (in.mask != mask)
            return false;
        tess_vgpu_resolve(w, r, (ptx_space)r->space, VGPU_STORE, 16, 16, there, mask, &out);
        if (out.mask != mask)
            return false;
        for (uint32_t l = 0; l < pieces; l++)
            memcpy(out.host[l], in.host[l], 16);
    }
    return true;
}

void tess_vgpu_bulk(vgpu_warp *w, const vgpu_record *r, uint32_t mask) {
    const uint32_t *list = w->launch->module->lists + r->target;
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = TESS_LOW_BIT(m);
        uint64_t to = side(w, list, l), from = side(w, list + 4, l);
        uint32_t size = SLOT(uint32_t, w, list[12])[l];
        if (size % 16 || to % 16 || from % 16) {
            tess_vgpu_fault_report(w, r, l, TESS_VGPU_MISALIGNED, to % 16 ? to : from, NULL,
                                   "a bulk copy of %u bytes from 0x%llx to 0x%llx: all three must be multiples of 16", size, (unsigned long long)from,
                                   (unsigned long long)to);
            w->worker->stop = true;
            return;
        }
        if (!copy(w, r, to, from, size)) { /* the barrier would be waited for without end */
            w->worker->stop = true;
            return;
        }
        if (r->space != PTX_SHARED)
            continue;
        uint64_t at = side(w, list + 8, l), word;
        if (at % 8 || at + 8 > (uint64_t)w->launch->shared_bytes) {
            tess_vgpu_fault_report(w, r, l, TESS_VGPU_OUT_OF_BOUNDS, at, NULL, "the mbarrier of a bulk copy is not in shared memory");
            w->worker->stop = true;
            return;
        }
        memcpy(&word, w->worker->shared + at, 8);
        state s = unpack(word);
        s.bytes -= size;
        settle(&s);
        word = pack(s);
        memcpy(w->worker->shared + at, &word, 8);
    }
}
