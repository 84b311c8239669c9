/* SPDX-License-Identifier: Apache-2.0
 * obs_sample.c - the observer behind the pictures and the model of a profile: for every instruction one warp's addresses, the worst of a few; and how
 * much of global memory the launch and each of its blocks touch at all, which is what caches cannot save.
 *
 * Looked at closely are the first accesses of each instruction in some blocks, always the same ones, so that the sample does not depend on host
 * threads. For the footprint every 32-byte sector of the arrays has a word: the last block that read it, whether it was ever read, ever written. */
#include <string.h>

#include "vgpu/machine.h"

enum { CLOSE = 64, LANES = 32 };
#define READ 0x40000000u
#define WRITTEN 0x80000000u
#define BLOCK 0x3fffffffu
#define MOST_SECTORS ((int64_t)1 << 27) /* beyond 4 GiB of arrays nothing is followed */

typedef struct record_state {
    int seen;              /* in the block before seen_block */
    uint64_t seen_block;   /* its number + 1 */
    uint64_t block_number; /* of the worst */
    tess_vgpu_sample worst;
} record_state;

typedef struct range {
    uint64_t address;
    int64_t sectors, first; /* first: of its words */
} range;

/* The worker's state: this, then a record_state for each record, the ranges, the words. */
typedef struct sample_state {
    record_state *records;
    range *ranges;
    uint32_t *words;
    int range_count, last;
    int64_t word_count;
    uint64_t block_reads;
} sample_state;

static int64_t sectors_of(const vgpu_allocation *a) { return (a->size + (int64_t)(a->address % 32) + 31) / 32; }

/* Once for a launch: a kernel may allocate arrays, which are not followed. */
void tess_vgpu_sample_begin(vgpu_launch *launch) {
    launch->sampled_arrays = launch->machine->count;
    launch->sampled_sectors = 0;
    for (int i = 0; i < launch->machine->count; i++)
        launch->sampled_sectors += sectors_of(&launch->machine->allocations[i]);
    if (launch->sampled_sectors > MOST_SECTORS)
        launch->sampled_arrays = 0, launch->sampled_sectors = 0;
}

static size_t state_bytes(const vgpu_launch *launch) {
    return sizeof(sample_state) + launch->module->record_count * sizeof(record_state) + (size_t)launch->sampled_arrays * sizeof(range) +
           (size_t)launch->sampled_sectors * sizeof(uint32_t);
}

static tess_status on_start(void *at, const vgpu_launch *launch) {
    sample_state *s = at;
    s->records = (record_state *)(void *)(s + 1);
    s->ranges = (range *)(void *)(s->records + launch->module->record_count);
    s->word_count = launch->sampled_sectors;
    s->range_count = launch->sampled_arrays;
    s->words = (uint32_t *)(void *)(s->ranges + s->range_count);
    int64_t first = 0;
    for (int i = 0; i < s->range_count; i++) {
        const vgpu_allocation *a = &launch->machine->allocations[i];
        s->ranges[i] = (range){a->address & ~(uint64_t)31, sectors_of(a), first};
        first += s->ranges[i].sectors;
    }
    return TESS_OK;
}

/* ---- the footprint ---- */

static uint32_t *words_at(sample_state *s, uint64_t address, int64_t *left) {
    for (int k = 0; k < 2; k++) {
        const range *r = &s->ranges[s->last];
        if (address >= r->address && address - r->address < (uint64_t)r->sectors * 32) {
            int64_t sector = (int64_t)((address - r->address) / 32);
            *left = r->sectors - sector;
            return s->words + r->first + sector;
        }
        int low = 0, high = s->range_count - 1;
        while (low < high) { /* the last range that begins at or before the address */
            int middle = low + (high - low + 1) / 2;
            if (s->ranges[middle].address <= address)
                low = middle;
            else
                high = middle - 1;
        }
        s->last = low;
    }
    return NULL;
}

static void touch(sample_state *s, uint32_t tag, uint64_t address, int64_t sectors, bool reads, bool writes) {
    int64_t left = 0;
    uint32_t *w = words_at(s, address, &left);
    for (int64_t i = 0; w && i < sectors && i < left; i++) {
        if (reads && (w[i] & BLOCK) != tag) {
            s->block_reads++;
            w[i] = (w[i] & ~BLOCK) | tag;
        }
        w[i] |= (reads ? READ : 0) | (writes ? WRITTEN : 0);
    }
}

static void follow(sample_state *s, const vgpu_access *a) {
    bool reads = a->kind != VGPU_STORE, writes = a->kind != VGPU_LOAD;
    uint32_t tag = (uint32_t)(a->warp->worker->block_number % (BLOCK - 1)) + 1;
    if (a->pattern == VGPU_UNIT || a->pattern == VGPU_SAME) {
        uint64_t first = a->address[TESS_LOW_BIT(a->mask)], bytes = (uint64_t)a->bytes * (a->pattern == VGPU_UNIT ? LANES : 1);
        touch(s, tag, first, (int64_t)((first + bytes - 1) / 32 - first / 32 + 1), reads, writes);
        return;
    }
    uint64_t last = ~0ull;
    for (uint32_t m = a->mask; m; m &= m - 1) {
        uint64_t address = a->address[TESS_LOW_BIT(m)];
        if (address / 32 != last)
            touch(s, tag, address, 1, reads, writes); /* accesses are aligned: each lies in one sector */
        last = address / 32;
    }
}

/* ---- the sample ---- */

static int distinct(const uint64_t *address, uint32_t mask, uint64_t size) {
    int count = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = TESS_LOW_BIT(m), k = 0;
        while (k < l && !(mask >> k & 1 && address[k] / size == address[l] / size))
            k++;
        count += k == l;
    }
    return count;
}

/* The most words that the lanes of one phase want of a bank. */
static int bank_words(const vgpu_access *a) {
    int most = 0, lanes = a->bytes <= 4 ? 32 : 128 / a->bytes;
    for (int first = 0; first < LANES; first += lanes)
        for (uint64_t bank = 0; bank < 32; bank++) {
            uint64_t seen[LANES];
            int count = 0;
            for (int l = first; l < first + lanes; l++)
                for (uint64_t word = a->address[l] / 4; a->mask >> l & 1 && word * 4 < a->address[l] + (uint64_t)a->bytes; word++) {
                    int k = 0;
                    while (k < count && seen[k] != word)
                        k++;
                    if (word % 32 == bank && k == count && count < LANES)
                        seen[count++] = word;
                }
            most = count > most ? count : most;
        }
    return most;
}

static int cost_of(const vgpu_access *a) {
    switch (a->space) {
    case PTX_GLOBAL: return distinct(a->address, a->mask, 32);
    case PTX_SHARED: return bank_words(a);
    case PTX_CONST: return distinct(a->address, a->mask, 1);
    default: return 1;
    }
}

static void on_access(void *at, const vgpu_access *a) {
    sample_state *s = at;
    if (a->space == PTX_GLOBAL && s->range_count)
        follow(s, a);
    record_state *r = &s->records[a->record - a->warp->launch->module->records];
    const vgpu_worker *worker = a->warp->worker;
    uint64_t n = worker->block_number, blocks = (uint64_t)worker->launch->blocks;
    if (n >= 4 && n != blocks / 2 && n + 1 != blocks)
        return;
    if (r->seen_block != n + 1) {
        r->seen_block = n + 1;
        r->seen = 0;
    }
    if (r->seen++ >= CLOSE)
        return;
    int cost = cost_of(a);
    if (cost < r->worst.cost || (cost == r->worst.cost && worker->block_number >= r->block_number))
        return;
    static const char *const spaces[PTX_SPACES] = {"generic", "global", "shared", "local", "constant", "parameter"};
    r->block_number = worker->block_number;
    r->worst = (tess_vgpu_sample){.cost = cost,
                                  .bytes = a->bytes,
                                  .mask = a->mask,
                                  .warp = a->warp->number,
                                  .store = a->kind == VGPU_STORE,
                                  .atomic = a->kind == VGPU_ATOMIC,
                                  .space = spaces[a->space]};
    memcpy(r->worst.block, worker->block, sizeof r->worst.block);
    memcpy(r->worst.address, a->address, sizeof r->worst.address);
}

/* Called for one worker after the other: the run's samples and the first worker's words gather what all have seen. */
static void on_end(void *at, const vgpu_launch *launch) {
    sample_state *s = at;
    tess_vgpu_run *run = launch->run;
    for (uint32_t i = 0; i < launch->module->record_count; i++) {
        const record_state *r = &s->records[i];
        vgpu_kept_sample *kept = &run->samples[i];
        if (r->worst.cost > kept->sample.cost || (r->worst.cost == kept->sample.cost && r->worst.cost && r->block_number < kept->block_number))
            *kept = (vgpu_kept_sample){r->worst, r->block_number};
    }
    sample_state *all = s;
    for (int i = 0; i < launch->observers; i++)
        if (launch->observer[i] == &tess_vgpu_sample_observer)
            all = launch->workers[0].state[i];
    tess_vgpu_footprint *f = &run->footprint;
    f->known = s->range_count > 0;
    f->block_read_sectors += s->block_reads;
    for (int64_t i = 0; i < s->word_count && f->known; i++) {
        uint32_t fresh = s == all ? s->words[i] : s->words[i] & ~all->words[i];
        f->read_sectors += fresh & READ ? 1 : 0;
        f->written_sectors += fresh & WRITTEN ? 1 : 0;
        all->words[i] |= s->words[i];
    }
}

const vgpu_observer tess_vgpu_sample_observer = {
    .state_bytes = state_bytes, .start = on_start, .access = on_access, .end = on_end, .one_state = true};

bool tess_vgpu_sample_at(const tess_vgpu_run *run, int number, tess_vgpu_sample *sample) {
    if (!run->samples || number < 0 || number >= run->active_count || run->samples[run->active[number]].sample.cost == 0)
        return false;
    *sample = run->samples[run->active[number]].sample;
    return true;
}

void tess_vgpu_footprint_of(const tess_vgpu_run *run, tess_vgpu_footprint *footprint) { *footprint = run->footprint; }
