/* SPDX-License-Identifier: Apache-2.0
 * block.c - one block on one worker: its warps in turn until all have ended, what their registers begin with, activations of functions. */
#include <string.h>

#include "vgpu/machine.h"

enum special {
#define X(name, text, bytes) SPECIAL_##name,
#include "vgpu/specials.def"
#undef X
};

static void broadcast(char *file, uint32_t slot, int bytes, uint64_t bits) {
    bits = bytes == 8 ? bits : bytes == 4 ? (bits & UINT32_MAX) * 0x0000000100000001u : (bits & 0xffff) * 0x0001000100010001u;
    for (int i = 0; i < 32 * bytes / 8; i++)
        memcpy(file + slot + 8 * i, &bits, 8);
}

void tess_vgpu_frame_constants(const ptx_function *function, char *file) {
    for (int i = 0; i < function->constant_count; i++)
        broadcast(file, function->constants[i].slot, function->constants[i].bytes, function->constants[i].bits);
}

static uint64_t special_value(const vgpu_warp *w, int special, int lane) {
    const vgpu_launch *launch = w->launch;
    uint32_t thread = vgpu_thread_number(w, lane), bit = 1u << lane;
    switch (special) {
    case SPECIAL_TID_X: return thread % launch->block[0];
    case SPECIAL_TID_Y: return thread / launch->block[0] % launch->block[1];
    case SPECIAL_TID_Z: return thread / launch->block[0] / launch->block[1];
    case SPECIAL_NTID_X:
    case SPECIAL_NTID_Y:
    case SPECIAL_NTID_Z: return launch->block[special - SPECIAL_NTID_X];
    case SPECIAL_CTAID_X:
    case SPECIAL_CTAID_Y:
    case SPECIAL_CTAID_Z: return w->worker->block[special - SPECIAL_CTAID_X];
    case SPECIAL_NCTAID_X:
    case SPECIAL_NCTAID_Y:
    case SPECIAL_NCTAID_Z: return launch->grid[special - SPECIAL_NCTAID_X];
    case SPECIAL_LANEID: return (uint64_t)lane;
    case SPECIAL_WARPID: return (uint64_t)w->number;
    case SPECIAL_NWARPID: return (uint64_t)launch->warps;
    case SPECIAL_SMID: return w->worker->block_number % 132; /* as if dealt out to the processors of an H200 */
    case SPECIAL_NSMID: return 132;
    case SPECIAL_LANEMASK_EQ: return bit;
    case SPECIAL_LANEMASK_LT: return bit - 1;
    case SPECIAL_LANEMASK_LE: return (uint64_t)bit * 2 - 1;
    case SPECIAL_LANEMASK_GT: return ~(uint32_t)((uint64_t)bit * 2 - 1);
    case SPECIAL_LANEMASK_GE: return ~(bit - 1);
    case SPECIAL_CLUSTERID_X:
    case SPECIAL_CLUSTERID_Y:
    case SPECIAL_CLUSTERID_Z: return w->worker->block[special - SPECIAL_CLUSTERID_X]; /* every block is a cluster of its own */
    case SPECIAL_NCLUSTERID_X:
    case SPECIAL_NCLUSTERID_Y:
    case SPECIAL_NCLUSTERID_Z: return launch->grid[special - SPECIAL_NCLUSTERID_X];
    case SPECIAL_CLUSTER_NCTAID_X:
    case SPECIAL_CLUSTER_NCTAID_Y:
    case SPECIAL_CLUSTER_NCTAID_Z:
    case SPECIAL_CLUSTER_NCTARANK: return 1;
    case SPECIAL_ENVREG1: return launch->machine->grid_workspace >> 32;
    case SPECIAL_ENVREG2: return launch->machine->grid_workspace & UINT32_MAX;
    case SPECIAL_DYNAMIC_SMEM: return (uint64_t)launch->options.shared_bytes;
    case SPECIAL_TOTAL_SMEM: return (uint64_t)launch->shared_bytes;
    default: return 0;
    }
}

/* Special registers that differ from block to block are the same for all lanes. */
static const unsigned char changing[] = {SPECIAL_CTAID_X,     SPECIAL_CTAID_Y,     SPECIAL_CTAID_Z,    SPECIAL_SMID,
                                         SPECIAL_CLUSTERID_X, SPECIAL_CLUSTERID_Y, SPECIAL_CLUSTERID_Z};

static void fill_changing(const vgpu_warp *w, const vgpu_frame *frame) {
    for (int k = 0; k < TESS_COUNT(changing); k++) {
        uint32_t slot = frame->function->special[changing[k]];
        if (slot)
            broadcast(frame->file, slot, tess_vgpu_special_bytes(changing[k]), special_value(w, changing[k], 0));
    }
}

void tess_vgpu_fill_specials(const vgpu_warp *w, vgpu_frame *frame) {
    for (int i = 0; i < SPECIAL_GLOBALTIMER + 1; i++) {
        uint32_t slot = frame->function->special[i];
        int bytes = tess_vgpu_special_bytes(i);
        for (int l = 0; slot && l < 32; l++) {
            uint64_t v = special_value(w, i, l);
            memcpy(frame->file + slot + l * bytes, &v, (size_t)bytes);
        }
    }
}

vgpu_frame *tess_vgpu_frame_get(vgpu_worker *worker, const ptx_function *function) {
    vgpu_frame **list = &worker->free_frames[function->number], *f = *list;
    if (f) {
        *list = f->parent;
        return f;
    }
    const vgpu_launch *launch = worker->launch;
    f = tess_allocate_zeroed(launch->run->context, sizeof *f);
    char *file = f ? tess_allocate_zeroed(launch->run->context, function->file_bytes) : NULL;
    if (!file) {
        tess_free(launch->run->context, f, sizeof *f);
        worker->status = TESS_ERR_MEMORY;
        return NULL;
    }
    f->function = function;
    f->file = file;
    tess_vgpu_frame_constants(function, file);
    return f;
}

void tess_vgpu_frame_put(vgpu_worker *worker, vgpu_frame *frame) {
    frame->parent = worker->free_frames[frame->function->number];
    worker->free_frames[frame->function->number] = frame;
}

static void begin_warp(vgpu_warp *w) {
    const vgpu_launch *launch = w->launch;
    int64_t lanes = tess_min64(32, launch->threads - 32 * (int64_t)w->number);
    w->exists = lanes == 32 ? UINT32_MAX : (1u << lanes) - 1;
    w->live = w->exists;
    w->carry = 0;
    w->spins = 0;
    w->steps = 0;
    w->polled = w->forced = false;
    w->entry.lanes = w->exists;
    w->group[0] = (vgpu_group){.frame = &w->entry, .pc = launch->kernel->first, .mask = w->exists, .state = VGPU_RUNNABLE};
    w->group_count = 1;
    fill_changing(w, &w->entry);
}

/* Nothing moves: lanes wait for others that wait elsewhere. Lets one group that waits for lanes go on without them, after saying so; else gives up.
 */
static bool resolve_deadlock(vgpu_worker *worker) {
    const vgpu_launch *launch = worker->launch;
    for (int64_t k = 0; k < launch->warps; k++) {
        vgpu_warp *w = &worker->warps[k];
        for (int i = 0; i < w->group_count; i++)
            if (w->group[i].state == VGPU_AT_CONVERGE) {
                w->group[i].state = VGPU_RUNNABLE;
                w->forced = true;
                return true;
            }
    }
    for (int64_t k = 0; k < launch->warps; k++) {
        const vgpu_warp *w = &worker->warps[k];
        for (int i = 0; i < w->group_count; i++) {
            const vgpu_group *g = &w->group[i];
            const vgpu_record *r = &launch->module->records[g->pc - (g->pc > 0)];
            const vgpu_barrier *b = &worker->barrier[g->barrier];
            tess_vgpu_fault_report(w, r, TESS_LOW_BIT(g->mask), TESS_VGPU_DEADLOCK, 0, NULL,
                                   "waits for ever at barrier %d, to which %lld of %lld threads have come", g->barrier, (long long)b->arrived,
                                   (long long)(b->expected ? b->expected : worker->live_threads));
        }
    }
    return false;
}

static uint64_t next_random(uint64_t *state) { /* SplitMix64 (Steele, Lea, Flood 2014) */
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void tess_vgpu_block_begin(vgpu_worker *worker, uint64_t number) {
    const vgpu_launch *launch = worker->launch;
    worker->block_number = number;
    worker->block[0] = (uint32_t)(number % launch->grid[0]);
    worker->block[1] = (uint32_t)(number / launch->grid[0] % launch->grid[1]);
    worker->block[2] = (uint32_t)(number / launch->grid[0] / launch->grid[1]);
    worker->live_threads = launch->threads;
    worker->random = launch->options.seed + number;
    for (int i = 0; i < VGPU_BARRIERS; i++)
        worker->barrier[i] = (vgpu_barrier){.all = 1};
    worker->awaited = 0;
    memset(worker->shared, 0xa5, (size_t)launch->shared_bytes); /* undefined, but the same each time */
    for (int64_t k = 0; k < launch->warps; k++)
        begin_warp(&worker->warps[k]);
    for (int i = 0; i < launch->observers; i++)
        if (launch->observer[i]->block)
            launch->observer[i]->block(worker->state[i], worker);
}

bool tess_vgpu_block_step(vgpu_worker *worker) {
    const vgpu_launch *launch = worker->launch;
    bool progress = false;
    unsigned char order[32];
    for (int k = 0; k < (int)launch->warps; k++)
        order[k] = (unsigned char)k;
    for (int k = launch->options.seed ? (int)launch->warps - 1 : 0; k > 0; k--) { /* Fisher and Yates */
        int other = (int)(next_random(&worker->random) % (uint64_t)(k + 1));
        unsigned char kept = order[k];
        order[k] = order[other];
        order[other] = kept;
    }
    for (int64_t k = 0; k < launch->warps && !worker->stop; k++) {
        vgpu_warp *w = &worker->warps[order[k]];
        if (w->live)
            progress |= launch->run_warp(w);
    }
    if (worker->stop || worker->live_threads == 0)
        return false;
    return progress || resolve_deadlock(worker);
}

void tess_vgpu_block_end(vgpu_worker *worker) {
    const vgpu_launch *launch = worker->launch;
    for (int64_t k = 0; k < launch->warps; k++) /* activations that an early end has left */
        for (int i = 0; i < worker->warps[k].group_count; i++)
            for (vgpu_frame *f = worker->warps[k].group[i].frame, *parent; f->parent; f = parent) {
                parent = f->parent;
                f->lanes &= ~worker->warps[k].group[i].mask;
                if (!f->lanes)
                    tess_vgpu_frame_put(worker, f);
            }
}

bool tess_vgpu_uses_grid(const ptx_function *kernel) { return kernel->special[SPECIAL_ENVREG1] || kernel->special[SPECIAL_ENVREG2]; }

/* A register's value must be the address of a function that takes what the call passes. */
uint32_t tess_vgpu_callee(const vgpu_warp *w, const vgpu_record *r, uint32_t on, const ptx_function **callee) {
    const tess_vgpu_module *m = w->launch->module;
    const vgpu_call_site *site = &m->sites[r->target];
    *callee = site->callee;
    if (site->callee)
        return on;
    const uint64_t *address = (const uint64_t *)(const void *)(w->file + r->a);
    int first = TESS_LOW_BIT(on);
    uint64_t inside = address[first] - VGPU_CODE_WINDOW;
    const ptx_function *f = inside < 16 * (uint64_t)m->function_count && inside % 16 == 0 ? m->functions[inside / 16] : NULL;
    bool fits = f && f->defined && !f->entry && f->param_count == site->argument_count && f->result_count == site->result_count;
    for (int i = 0; fits && i < site->argument_count; i++)
        fits = f->params[i]->size == (uint64_t)site->arguments[i].bytes;
    for (int i = 0; fits && i < site->result_count; i++)
        fits = f->results[i]->size == (uint64_t)site->results[i].bytes;
    if (fits && f->refused) {
        tess_vgpu_fault_report(w, r, first, TESS_VGPU_TRAP, address[first], NULL, "call of %.*s, which cannot run here: %s", f->symbol->length,
                               f->symbol->name, f->refused);
        return 0;
    }
    if (!fits) {
        tess_vgpu_fault_report(w, r, first, TESS_VGPU_OUT_OF_BOUNDS, address[first], NULL, "call of 0x%llx, which is %s",
                               (unsigned long long)address[first], f ? "a function with other parameters" : "no function");
        return 0;
    }
    uint32_t same = 0;
    for (uint32_t m2 = on; m2; m2 &= m2 - 1)
        same |= address[TESS_LOW_BIT(m2)] == address[first] ? m2 & -m2 : 0;
    *callee = f;
    return same;
}
