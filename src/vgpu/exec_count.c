/* SPDX-License-Identifier: Apache-2.0
 * exec_count.c - the observer that counts memory: requests, sectors, wavefronts, replays, by record. The rules were measured on an H200
 * (docs/counters.md); regular accesses, which are almost all, are recognised and cost no search. Compiled once per instruction set. */
#include <stddef.h>
#include <string.h>

#include "vgpu/count_shared.h"

/* ---- global memory ---- */

/* Equal addresses go one after the other: sum over pieces of `size` bytes of the most lanes that one address in the piece has. */
static uint64_t serialised(const uint64_t *address, uint32_t mask, uint64_t size) {
    uint64_t piece[LANES], sum = 0;
    int most[LANES], pieces = 0;
    uint32_t rest = mask;
    while (rest) {
        uint64_t at = address[TESS_LOW_BIT(rest)];
        int same = 0, i = 0;
        for (uint32_t m = rest; m; m &= m - 1) {
            int l = TESS_LOW_BIT(m);
            if (address[l] == at) {
                same++;
                rest &= ~(1u << l);
            }
        }
        while (i < pieces && piece[i] != at / size)
            i++;
        if (i == pieces) {
            piece[pieces] = at / size;
            most[pieces++] = same;
        } else if (same > most[i]) {
            most[i] = same;
        }
    }
    for (int i = 0; i < pieces; i++)
        sum += (uint64_t)most[i];
    return sum;
}

static void global(const vgpu_access *a, tess_vgpu_counters *c) {
    if (a->kind == VGPU_ATOMIC) {
        uint64_t sectors = serialised(a->address, a->mask, 32), passes = serialised(a->address, a->mask, a->record->mode == PTX_CAS ? 64 : 128);
        bool red = a->record->flags & VGPU_UNUSED;
        *(red ? &c->global_red_requests : &c->global_atom_requests) += 1;
        *(red ? &c->global_red_sectors : &c->global_atom_sectors) += sectors;
        *(red ? &c->global_red_passes : &c->global_atom_passes) += passes;
        return;
    }
    uint64_t sectors, tags, bytes, room[LANES], w = (uint64_t)a->bytes;
    const uint64_t *address;
    if (a->to) {
        const vgpu_past past = past_cache(a->address, a->to, a->mask);
        sectors = past.sectors;
        tags = past.tags;
        bytes = w * (uint64_t)distinct(a->address, a->mask, 0);
    } else if (a->pattern == VGPU_UNIT) {
        uint64_t first = a->address[0], last = first + LANES * w - 1;
        sectors = last / 32 - first / 32 + 1;
        tags = last / 128 - first / 128 + 1;
        bytes = LANES * w;
    } else if (a->pattern == VGPU_SAME) {
        sectors = tags = 1;
        bytes = w;
    } else if (ascending(address = filled(a->address, a->mask, room))) {
        sectors = (uint64_t)steps(address, 5);
        tags = (uint64_t)steps(address, 7);
        bytes = w * (uint64_t)steps(address, 0);
    } else {
        sectors = (uint64_t)distinct(a->address, a->mask, 5); /* accesses are aligned, so each lies in one sector */
        tags = (uint64_t)distinct(a->address, a->mask, 7);
        bytes = w * (uint64_t)distinct(a->address, a->mask, 0);
    }
    uint64_t ideal = ((uint64_t)TESS_POPCOUNT(a->mask) * w + 31) / 32;
    ideal = ideal < sectors ? ideal : sectors;
    if (a->kind == VGPU_LOAD) {
        c->global_ld_requests++;
        c->global_ld_sectors += sectors;
        c->global_ld_sectors_ideal += ideal;
        c->global_ld_bytes += bytes;
        c->global_ld_tags += tags;
        c->global_ld_elements += (uint64_t)(TESS_POPCOUNT(a->mask) * a->record->count);
    } else {
        c->global_st_requests++;
        c->global_st_sectors += sectors;
        c->global_st_sectors_ideal += ideal;
        c->global_st_bytes += bytes;
        c->global_st_tags += tags;
        c->global_st_elements += (uint64_t)(TESS_POPCOUNT(a->mask) * a->record->count);
    }
}

/* ---- local and constant memory ---- */

/* The lanes' words are interleaved: word i of lane l lies at 128 i + 4 l, so eight lanes with one i share a sector. */
static void local(const vgpu_access *a, tess_vgpu_counters *c) {
    uint64_t key[256], sectors = 0, requests = (uint64_t)(a->bytes <= 4 ? 1 : a->bytes / 4);
    unsigned char used[256] = {0};
    for (int l = 0; l < LANES; l++)
        for (uint64_t j = 0; j < requests && a->mask >> l & 1; j++) {
            uint64_t k = (a->address[l] / 4 + j) * 4 + (uint64_t)l / 8;
            unsigned h = (unsigned)(k * 0x9e3779b97f4a7c15u >> 56);
            while (used[h] && key[h] != k)
                h = (h + 1) & 255;
            sectors += !used[h];
            used[h] = 1;
            key[h] = k;
        }
    if (a->kind == VGPU_LOAD) {
        c->local_ld_requests += requests;
        c->local_ld_sectors += sectors;
    } else {
        c->local_st_requests += requests;
        c->local_st_sectors += sectors;
    }
}

static void constant(const vgpu_access *a, tess_vgpu_counters *c) {
    uint64_t loads = a->record->count > 1 ? a->record->count : 1; /* vectors are loaded an element at a time */
    c->constant_loads += loads;
    c->constant_requests += loads * (uint64_t)(a->pattern == VGPU_SAME ? 1 : distinct(a->address, a->mask, 0));
}

/* A kernel's parameters by generic addresses: ptxas makes LD.E of it, which a card counts as of global memory. They begin at 0x210 of their bank on sm_90, which the sectors and lines that an
 * H200 counts begin with, too (bench/results/2026-11-30-h200-parameters.txt). */
static void of_parameters(const vgpu_access *a, tess_vgpu_counters *c) {
    uint64_t address[LANES];
    vgpu_access there = *a;
    for (int l = 0; l < LANES; l++)
        address[l] = a->address[l] + 0x210;
    there.address = address;
    global(&there, c);
}

/* ---- the observer ---- */

/* With an audit a second row of counters follows, for what the machine code does otherwise. */
static size_t rows_bytes(const vgpu_launch *launch) {
    return launch->module->record_count * sizeof(tess_vgpu_counters) * (launch->module->audit ? 2 : 1);
}

/* The sources of the cp.async whose destinations come next: an access for each size that lanes give, and on a card one request of them all. */
typedef struct vgpu_sources {
    uint64_t address[LANES], low, high;
    uint32_t mask;
    vgpu_pattern pattern;
    bool partial; /* some lanes read less than they write */
} vgpu_sources;

/* After the counters: the sources; a row to count one access in. */
static size_t state_bytes(const vgpu_launch *launch) { return rows_bytes(launch) + sizeof(vgpu_sources) + sizeof(tess_vgpu_counters); }

static void count(const vgpu_access *a, tess_vgpu_counters *c) {
    switch (a->space) {
    case PTX_GLOBAL: global(a, c); break;
    case PTX_SHARED: shared(a, c); break;
    case PTX_LOCAL: local(a, c); break;
    case PTX_CONST: constant(a, c); break;
    case PTX_PARAM:
        if (a->record->mode == 1) /* a kernel's parameters lie in the constant bank; a function's in registers, mostly */
            constant(a, c);
        else if (a->record->space == PTX_GENERIC)
            of_parameters(a, c);
        break;
    default: break;
    }
}

static void count_audited(const vgpu_access *a, vgpu_audit audit, tess_vgpu_counters *c) {
    vgpu_access other = *a;
    switch (audit.verdict) {
    case TESS_VGPU_PART:
    case TESS_VGPU_DROPPED: return;
    case TESS_VGPU_MERGED:
        if (a->low % audit.bytes == 0) {
            other.bytes = audit.bytes;
            other.pattern = a->pattern == VGPU_SAME ? VGPU_SAME : VGPU_ANY_PATTERN;
        }
        break;
    case TESS_VGPU_ONE_LANE:
        if (a->low == a->high) {
            other.mask = a->mask & -a->mask;
            other.pattern = VGPU_SAME;
        }
        break;
    case TESS_VGPU_PLAIN_ATOMIC:
        c->shared_atom_requests++;
        c->shared_atom_wavefronts += (uint64_t)lanes_per_bank(a->address, a->mask, a->bytes);
        return;
    default: break;
    }
    count(&other, c);
}

/* The counters that a load or store of a space can change lie side by side; the number of the first. */
#define NUMBER(name) (offsetof(tess_vgpu_counters, name) / sizeof(uint64_t))
static size_t first_changed(ptx_space space, vgpu_access_kind kind) {
    bool load = kind == VGPU_LOAD;
    return space == PTX_GLOBAL   ? load ? NUMBER(global_ld_requests) : NUMBER(global_st_requests)
             : space == PTX_SHARED ? load ? NUMBER(shared_ld_requests) : NUMBER(shared_st_requests)
                                   : NUMBER(constant_loads);
}

/* The bits of the lowest address that the counts of a shape depend on. In shared memory a step of a word is a turn of the banks, so only where in a
 * word it is; in global memory where in a line, but not for lanes that are a line apart. */
static uint32_t bits_that_matter(ptx_space space, const vgpu_shape *s) {
    if (space != PTX_GLOBAL)
        return 3;
    uint32_t near = 0;
    for (int l = 1; l < LANES; l++) {
        int32_t step = s->offset[l] - s->offset[l - 1];
        near |= step != 0 && step < 128;
    }
    return near ? 127 : 0;
}

/* Counts an access alone, and leaves with its shape what it added. */
static void count_shape(const vgpu_access *a, tess_vgpu_counters *row, tess_vgpu_counters *alone) {
    vgpu_shape *s = a->shape;
    size_t first = first_changed(a->space, a->kind);
    uint64_t *added = (uint64_t *)alone + first;
    count(a, alone);
    s->to = (uint64_t *)row + first;
    s->that_matter = bits_that_matter(a->space, s);
    s->last_bits = (uint32_t)a->low & s->that_matter;
    for (int i = 0; i < TESS_COUNT(s->add); i++) {
        s->to[i] += s->add[i] = added[i];
        added[i] = 0;
    }
}

static void add_sources(vgpu_sources *sources, const vgpu_access *a) {
    if (sources->mask & a->mask) /* of a copy whose destinations were all refused: the masks of one do not overlap */
        sources->mask = 0;
    sources->low = sources->mask && sources->low < a->low ? sources->low : a->low;
    sources->high = sources->mask && sources->high > a->high ? sources->high : a->high;
    sources->pattern = sources->mask || a->bytes < a->record->bytes ? VGPU_ANY_PATTERN : a->pattern;
    sources->partial = a->bytes < a->record->bytes || (sources->mask && sources->partial);
    for (int l = 0; l < LANES; l++)
        sources->address[l] = a->mask >> l & 1 ? a->address[l] : sources->address[l];
    sources->mask |= a->mask;
}

static void on_access(void *state, const vgpu_access *a) {
    tess_vgpu_counters *c = (tess_vgpu_counters *)state + (a->record - a->warp->launch->module->records);
    if (a->record->op == PTX_OP_CP && a->record->mode == PTX_BULK) { /* both sides come here: the reading one counts */
        c->bulk_bytes += a->kind == VGPU_LOAD ? 16 * (uint64_t)TESS_POPCOUNT(a->mask) : 0;
        return;
    }
    vgpu_access merged;
    if (TESS_UNLIKELY(a->record->op == PTX_OP_CP)) {
        vgpu_sources *sources = (vgpu_sources *)((char *)state + rows_bytes(a->warp->launch));
        if (a->kind == VGPU_LOAD) {
            add_sources(sources, a);
            return;
        }
        const bool past = a->record->flags & VGPU_PAST_L1;
        count_async(sources->address, sources->mask, past && !sources->partial, a, c);
        if (!sources->mask)
            return;
        merged = *a;
        merged.space = PTX_GLOBAL;
        merged.kind = VGPU_LOAD;
        merged.address = sources->address;
        merged.mask = sources->mask;
        merged.pattern = sources->pattern;
        merged.low = sources->low;
        merged.high = sources->high;
        merged.to = past ? a->address : NULL;
        sources->mask = 0;
        a = &merged;
    }
    const tess_vgpu_module *module = a->warp->launch->module;
    if (a->shape && !module->audit) {
        count_shape(a, c, (tess_vgpu_counters *)((char *)state + rows_bytes(a->warp->launch) + sizeof(vgpu_sources)));
        return;
    }
    count(a, c);
    if (TESS_UNLIKELY(module->audit != NULL))
        count_audited(a, module->audit[a->record - module->records], c + module->record_count);
}

static void on_end(void *state, const vgpu_launch *launch) {
    const uint64_t *from = state;
    uint64_t *to[] = {(uint64_t *)launch->run->counters, (uint64_t *)launch->run->audited};
    size_t row = launch->module->record_count * sizeof(tess_vgpu_counters) / sizeof *from;
    for (int k = 0; k < 2 && to[k]; k++)
        for (size_t i = 0; i < row; i++)
            to[k][i] += from[(size_t)k * row + i];
}

extern const vgpu_observer TESS_ISA_NAME(tess_vgpu_count_observer);
const vgpu_observer TESS_ISA_NAME(tess_vgpu_count_observer) = {.state_bytes = state_bytes, .access = on_access, .end = on_end, .one_state = true};
