/* SPDX-License-Identifier: Apache-2.0
 * count_shared.h - counts accesses of shared memory: wavefronts by phases and banks, atomics that loop, cp.async (docs/counters.md). Part of exec_count.c. */
#ifndef TESS_VGPU_COUNT_SHARED_H
#define TESS_VGPU_COUNT_SHARED_H

#include "vgpu/count_lanes.h"

typedef struct wavefronts {
    int taken, floor; /* floor: what no arrangement of the addresses in these phases could go below */
} wavefronts;

static uint32_t phase_mask(int lanes_a_phase, int number) {
    return lanes_a_phase == 32 ? UINT32_MAX : ((1u << lanes_a_phase) - 1) << number * lanes_a_phase;
}

static wavefronts by_phase(const uint64_t *address, uint32_t mask, int bytes, int lanes_a_phase) {
    wavefronts w = {0, 0};
    for (int p = 0; p < 32 / lanes_a_phase; p++) {
        uint32_t lanes = mask & phase_mask(lanes_a_phase, p);
        if (lanes) {
            w.taken += words_per_bank(address, lanes, bytes);
            w.floor++;
        }
    }
    return w;
}

/* Every active lane's partner is inactive or has the same address. */
static bool pairwise(const uint64_t *address, uint32_t mask, int distance) {
    for (int l = 0; l < LANES; l++)
        if (mask >> l & 1 && mask >> (l ^ distance) & 1 && address[l] != address[l ^ distance])
            return false;
    return true;
}

static int lanes_a_phase(int bytes) { return bytes <= 4 ? 32 : 128 / bytes; }

static wavefronts shared_load(const uint64_t *address, uint32_t mask, int bytes, bool matrix) {
    bool merged = bytes > 4 && !matrix && (pairwise(address, mask, 1) || pairwise(address, mask, 2));
    return by_phase(address, mask, bytes, lanes_a_phase(bytes) * (merged ? 2 : 1));
}

/* Without search: all lanes at one word, or one after the other, or elements of at most 4 bytes. */
static bool regular(const vgpu_access *a, wavefronts *w, uint64_t *bytes) {
    uint64_t room[LANES];
    int words;
    if (a->pattern == VGPU_UNIT) {
        w->taken = w->floor = a->bytes <= 4 ? 1 : a->bytes / 4;
        *bytes = (uint64_t)(LANES * a->bytes);
        return true;
    }
    if (a->pattern == VGPU_SAME && a->bytes <= 4) {
        w->taken = w->floor = 1;
        *bytes = (uint64_t)a->bytes;
        return true;
    }
    if (a->bytes == 4) {
        const uint64_t *address = filled(a->address, a->mask, room);
        w->taken = w->floor = 1;
        if ((words = in_one_row(a, address)) == 0 && (words = one_round(address)) == 0) {
            if (a->mask == UINT32_MAX && (w->taken = at_one_distance(address)) > 0)
                words = LANES;
            else
                w->taken = rounds(address, a->mask, &words);
        }
        *bytes = 4 * (uint64_t)words;
        return true;
    }
    *bytes = (uint64_t)a->bytes * (uint64_t)(a->pattern == VGPU_SAME ? 1 : distinct(a->address, a->mask, 0));
    if (a->bytes < 4) {
        w->floor = 1;
        w->taken = rounds(a->address, a->mask, &words);
        return true;
    }
    return false;
}

/* Floating-point and 64-bit sums loop over load and compare-and-swap; one warp alone: every turn the first lane of each bank wins (of each half warp,
 * for 64 bits, unless the lower half has just changed its word). */
static void spin(const vgpu_access *a, tess_vgpu_counters *c) {
    uint32_t rest = a->mask;
    while (rest) {
        c->shared_ld_requests++;
        c->shared_ld_wavefronts += (uint64_t)shared_load(a->address, rest, a->bytes, false).taken;
        c->shared_ld_bytes += (uint64_t)(a->bytes * distinct(a->address, rest, 0));
        c->shared_atom_requests++;
        uint32_t won = 0;
        uint64_t touched[LANES];
        int touches = 0, halves = a->bytes == 8 ? 2 : 1;
        for (int h = 0; h < halves; h++) {
            uint32_t lanes = rest & (halves == 1 ? UINT32_MAX : 0xffffu << 16 * h), banks = 0, first = 0;
            if (!lanes)
                continue;
            c->shared_atom_wavefronts += 2;
            for (uint32_t m = lanes; m; m &= m - 1) {
                int l = TESS_LOW_BIT(m);
                uint32_t own = 1u << a->address[l] / 4 % 32 | (a->bytes == 8 ? 1u << (a->address[l] / 4 + 1) % 32 : 0);
                if (!(banks & own)) {
                    banks |= own;
                    first |= 1u << l;
                }
            }
            for (uint32_t m = first; m; m &= m - 1) {
                int l = TESS_LOW_BIT(m);
                bool changed = false;
                for (int i = 0; i < touches; i++)
                    changed |= touched[i] == a->address[l];
                won |= changed ? 0 : 1u << l;
            }
            for (uint32_t m = first; m; m &= m - 1)
                touched[touches++] = a->address[TESS_LOW_BIT(m)];
        }
        rest &= ~won;
    }
}

/* cp.async: in the order of lanes, a round takes those whose banks on neither side are taken; equal words are not shared. Lanes that only write zeros, not among
 * those that read, have no banks of the source. Of one phase. */
static int async_rounds(const uint64_t *from, uint32_t read, const uint64_t *to, uint32_t lanes, int bytes) {
    int count = 0;
    for (; lanes; count++) {
        uint32_t used_from = 0, used_to = 0;
        for (uint32_t m = lanes; m; m &= m - 1) {
            int l = TESS_LOW_BIT(m);
            uint32_t words = (1u << bytes / 4) - 1, own = read >> l & 1 ? words << from[l] / 4 % 32 : 0, other = words << to[l] / 4 % 32;
            if (used_from & own || used_to & other)
                continue;
            used_from |= own;
            used_to |= other;
            lanes &= ~(1u << l);
        }
    }
    return count;
}

/* Of 16 bytes past the first-level cache. What moves at once lies in one line of the source and goes to one line, a line of 128 bytes, turned by as many sectors,
 * the same half of each sector or all of it (measured: docs/counters.md). */
typedef struct vgpu_past {
    uint64_t sectors, tags, rounds;
} vgpu_past;

static vgpu_past past_cache(const uint64_t *from, const uint64_t *to, uint32_t mask) {
    uint64_t lines[LANES] = {0}, pieces[LANES] = {0}, units[LANES] = {0}, rounds[LANES] = {0};
    for (uint32_t m = mask; m; m &= m - 1) {
        const int l = TESS_LOW_BIT(m);
        lines[l] = from[l] >> 7 << 16 | to[l] >> 7;
        pieces[l] = from[l] >> 7 << 16 | to[l] >> 5;
        units[l] = from[l] >> 5 << 16 | to[l] >> 5 << 1 | ((from[l] ^ to[l]) >> 4 & 1); /* from a sector to a sector, halves kept or changed */
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        const int l = TESS_LOW_BIT(m);
        uint64_t halves = 0;
        for (int k = 0; k < LANES; k++)
            halves |= mask >> k & 1 && units[k] == units[l] ? 1u << (to[k] >> 4 & 1) : 0;
        rounds[l] = lines[l] << 5 | (((from[l] >> 5) - (to[l] >> 5)) & 3) << 3 | (units[l] & 1) << 2 | halves;
    }
    return (vgpu_past){(uint64_t)distinct(pieces, mask, 0), (uint64_t)distinct(lines, mask, 0), (uint64_t)distinct(rounds, mask, 0)};
}

/* read: the lanes that read; whole: 16 bytes each, past the first-level cache. */
static void count_async(const uint64_t *from, uint32_t read, bool whole, const vgpu_access *a, tess_vgpu_counters *c) {
    c->shared_async_requests += read != 0;
    if (whole && read == a->mask) {
        c->shared_async_wavefronts += past_cache(from, a->address, read).rounds;
        return;
    }
    for (int p = 0; p < a->bytes / 4; p++)
        c->shared_async_wavefronts += (uint64_t)async_rounds(from, read, a->address, a->mask & phase_mask(lanes_a_phase(a->bytes), p), a->bytes);
}

static void shared(const vgpu_access *a, tess_vgpu_counters *c) {
    int active = TESS_POPCOUNT(a->mask);
    uint64_t ideal = (uint64_t)(active * a->bytes + 127) / 128;
    wavefronts w;
    if (a->kind == VGPU_ATOMIC) {
        ptx_type type = (ptx_type)a->record->count;
        bool loops = a->record->mode == PTX_ADD && (a->bytes == 8 || (type >= PTX_F16 && type <= PTX_F64));
        c->shared_atom_requests += !loops;
        if (loops)
            spin(a, c);
        else if (a->record->mode == PTX_ADD && a->record->target && a->record->flags & VGPU_UNUSED)
            c->shared_atom_wavefronts += (uint64_t)words_per_bank(a->address, a->mask, a->bytes);
        else
            c->shared_atom_wavefronts += (uint64_t)lanes_per_bank(a->address, a->mask, a->bytes) * (a->record->mode == PTX_CAS ? 2 : 1);
        return;
    }
    uint64_t bytes;
    if (a->kind == VGPU_LOAD) {
        if (!regular(a, &w, &bytes))
            w = shared_load(a->address, a->mask, a->bytes, a->record->op == PTX_OP_LDMATRIX);
        c->shared_ld_requests++;
        c->shared_ld_wavefronts += (uint64_t)w.taken;
        c->shared_ld_conflicts += (uint64_t)(w.taken - w.floor);
        c->shared_ld_wavefronts_ideal += ideal < (uint64_t)w.taken ? ideal : (uint64_t)w.taken;
        c->shared_ld_bytes += bytes;
    } else {
        if (!regular(a, &w, &bytes))
            w = by_phase(a->address, a->mask, a->bytes, lanes_a_phase(a->bytes));
        c->shared_st_requests++;
        c->shared_st_wavefronts += (uint64_t)w.taken;
        c->shared_st_conflicts += (uint64_t)(w.taken - w.floor);
        c->shared_st_wavefronts_ideal += ideal < (uint64_t)w.taken ? ideal : (uint64_t)w.taken;
        c->shared_st_bytes += bytes;
    }
}

#endif
