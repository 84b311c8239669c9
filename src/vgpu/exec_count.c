/* SPDX-License-Identifier: Apache-2.0
 * exec_count.c - the observer that counts memory: requests, sectors, wavefronts, replays, by record. The rules were measured on an H200
 * (docs/counters.md); regular accesses, which are almost all, are recognised and cost no search. Compiled once per instruction set. */
#include <stddef.h>
#include <string.h>

#include "vgpu/machine.h"

enum { LANES = 32 };

/* ---- sets ---- */

/* The addresses with those of absent lanes replaced by the one before, so that loops over all 32 need no mask. */
TESS_INLINE const uint64_t *filled(const uint64_t *address, uint32_t mask, uint64_t *room) {
    if (mask == UINT32_MAX)
        return address;
    uint64_t last = address[TESS_LOW_BIT(mask)];
    for (int l = 0; l < LANES; l++)
        room[l] = last = mask >> l & 1 ? address[l] : last;
    return room;
}

TESS_INLINE bool ascending(const uint64_t *address) {
    uint64_t falls = 0;
    for (int l = 1; l < LANES; l++)
        falls |= (uint64_t)(address[l] < address[l - 1]);
    return !falls;
}

/* The same of ascending addresses, which need no search. */
TESS_INLINE int steps(const uint64_t *address, int shift) {
    int count = 1;
    for (int l = 1; l < LANES; l++)
        count += address[l] >> shift != address[l - 1] >> shift;
    return count;
}

/* How many different values of address >> shift the active lanes have. */
static int distinct(const uint64_t *address, uint32_t mask, int shift) {
    uint64_t key[64], used = 0, last = ~0ull;
    int count = 0;
    for (int l = 0; l < LANES; l++) {
        uint64_t k = address[l] >> shift;
        if (!(mask >> l & 1) || k == last)
            continue;
        last = k;
        unsigned h = (unsigned)(k * 0x9e3779b97f4a7c15u >> 58);
        while (used >> h & 1 && key[h] != k)
            h = (h + 1) & 63;
        count += !(used >> h & 1);
        used |= 1ull << h;
        key[h] = k;
    }
    return count;
}

/* Most distinct words that the lanes want of one of the 32 banks. */
static int words_per_bank(const uint64_t *address, uint32_t lanes, int bytes) {
    uint64_t key[256];
    unsigned char used[256] = {0}, in_bank[32] = {0};
    int worst = 0, words = bytes <= 4 ? 1 : bytes / 4;
    for (; lanes; lanes &= lanes - 1) {
        uint64_t first = address[TESS_LOW_BIT(lanes)] / 4;
        for (int j = 0; j < words; j++) {
            uint64_t k = first + (uint64_t)j;
            unsigned h = (unsigned)(k * 0x9e3779b97f4a7c15u >> 56);
            while (used[h] && key[h] != k)
                h = (h + 1) & 255;
            if (used[h])
                continue;
            used[h] = 1;
            key[h] = k;
            int n = ++in_bank[k % 32];
            worst = n > worst ? n : worst;
        }
    }
    return worst;
}

/* The same for elements of at most 4 bytes. Each round takes one word of every bank that still has some: as many rounds as the fullest bank has words.
 * *words: how many different ones there are. */
static int rounds(const uint64_t *address, uint32_t mask, int *words) {
    uint32_t word[LANES], bank[LANES], in_bank[LANES], rest = mask;
    int count = 0;
    *words = 0;
    for (int l = 0; l < LANES; l++) {
        word[l] = (uint32_t)(address[l] / 4);
        bank[l] = word[l] % 32;
    }
    while (rest) {
        uint32_t used = 0, done = 0;
        for (uint32_t m = rest; m; m &= m - 1) {
            int l = TESS_LOW_BIT(m);
            in_bank[bank[l]] = word[l];
            used |= 1u << bank[l];
        }
        for (uint32_t m = rest; m; m &= m - 1) {
            int l = TESS_LOW_BIT(m);
            done |= in_bank[bank[l]] == word[l] ? 1u << l : 0;
        }
        rest &= ~done;
        *words += TESS_POPCOUNT(used);
        count++;
    }
    return count;
}

/* Words that all lie within 32 in a row: different ones are in different banks. How many there are, or 0: they do not. */
TESS_INLINE int in_one_row(const vgpu_access *a, const uint64_t *address) {
    uint32_t used = 0;
    if (a->high - a->low >= 128)
        return 0;
    for (int l = 0; l < LANES; l++)
        used |= 1u << (uint32_t)((address[l] - a->low) / 4);
    return TESS_POPCOUNT(used);
}

/* The first of those rounds for a whole warp, without branches: the number of words, or 0 when some are left. */
TESS_INLINE int one_round(const uint64_t *address) {
    uint32_t word[LANES], in_bank[LANES], used = 0, left = 0;
    for (int l = 0; l < LANES; l++)
        word[l] = (uint32_t)(address[l] / 4);
    for (int l = 0; l < LANES; l++)
        in_bank[word[l] % 32] = word[l];
    for (int l = 0; l < LANES; l++) {
        used |= 1u << word[l] % 32;
        left |= in_bank[word[l] % 32] ^ word[l];
    }
    return left ? 0 : TESS_POPCOUNT(used);
}

/* Words at one distance: that many lanes meet in a bank. 0: they are not. */
TESS_INLINE int at_one_distance(const uint64_t *address) {
    uint64_t step = address[1] - address[0], off = 0;
    for (int l = 0; l < LANES; l++)
        off |= address[l] ^ (address[0] + (uint64_t)l * step);
    if (off || step % 4 || !step)
        return 0;
    uint32_t words = (uint32_t)(step / 4) % 32;
    return words ? 1 << TESS_LOW_BIT(words) : 32;
}

/* Most active lanes, equal addresses too, that meet in one bank. */
static int lanes_per_bank(const uint64_t *address, uint32_t lanes, int bytes) {
    unsigned char in_bank[32] = {0};
    int worst = 0;
    for (; lanes; lanes &= lanes - 1)
        for (int j = 0; j < (bytes <= 4 ? 1 : bytes / 4); j++) {
            int n = ++in_bank[(address[TESS_LOW_BIT(lanes)] / 4 + (uint64_t)j) % 32];
            worst = n > worst ? n : worst;
        }
    return worst;
}

/* ---- shared memory ---- */

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

/* cp.async: in the order of lanes, a round takes those whose banks on neither side are taken; equal words are not shared. Of one phase. */
static int async_rounds(const uint64_t *from, const uint64_t *to, uint32_t lanes, int bytes) {
    int count = 0;
    for (; lanes; count++) {
        uint32_t used_from = 0, used_to = 0;
        for (uint32_t m = lanes; m; m &= m - 1) {
            int l = TESS_LOW_BIT(m);
            uint32_t words = (1u << bytes / 4) - 1, own = words << from[l] / 4 % 32, other = words << to[l] / 4 % 32;
            if (used_from & own || used_to & other)
                continue;
            used_from |= own;
            used_to |= other;
            lanes &= ~(1u << l);
        }
    }
    return count;
}

static void count_async(const uint64_t *from, const vgpu_access *a, tess_vgpu_counters *c) {
    c->shared_async_requests++;
    for (int p = 0; p < a->bytes / 4; p++)
        c->shared_async_wavefronts += (uint64_t)async_rounds(from, a->address, a->mask & phase_mask(lanes_a_phase(a->bytes), p), a->bytes);
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
    if (a->pattern == VGPU_UNIT) {
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

/* ---- the observer ---- */

/* With an audit a second row of counters follows, for what the machine code does otherwise. */
static size_t rows_bytes(const vgpu_launch *launch) {
    return launch->module->record_count * sizeof(tess_vgpu_counters) * (launch->module->audit ? 2 : 1);
}

/* After the counters: the source addresses of the cp.async whose destinations come next; a row to count one access in. */
static size_t state_bytes(const vgpu_launch *launch) { return rows_bytes(launch) + LANES * sizeof(uint64_t) + sizeof(tess_vgpu_counters); }

static void count(const vgpu_access *a, tess_vgpu_counters *c) {
    switch (a->space) {
    case PTX_GLOBAL: global(a, c); break;
    case PTX_SHARED: shared(a, c); break;
    case PTX_LOCAL: local(a, c); break;
    case PTX_CONST: constant(a, c); break;
    case PTX_PARAM:
        if (a->record->mode == 1) /* a kernel's parameters lie in the constant bank; a function's in registers, mostly */
            constant(a, c);
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

static void on_access(void *state, const vgpu_access *a) {
    tess_vgpu_counters *c = (tess_vgpu_counters *)state + (a->record - a->warp->launch->module->records);
    if (a->record->op == PTX_OP_CP && a->record->mode == PTX_BULK) { /* both sides come here: the reading one counts */
        c->bulk_bytes += a->kind == VGPU_LOAD ? 16 * (uint64_t)TESS_POPCOUNT(a->mask) : 0;
        return;
    }
    if (TESS_UNLIKELY(a->record->op == PTX_OP_CP)) {
        uint64_t *from = (uint64_t *)((char *)state + rows_bytes(a->warp->launch));
        if (a->kind == VGPU_STORE) {
            count_async(from, a, c);
            return;
        }
        memcpy(from, a->address, LANES * sizeof *from);
    }
    const tess_vgpu_module *module = a->warp->launch->module;
    if (a->shape && !module->audit) {
        count_shape(a, c, (tess_vgpu_counters *)((char *)state + rows_bytes(a->warp->launch) + LANES * sizeof(uint64_t)));
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
