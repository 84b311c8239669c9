/* SPDX-License-Identifier: Apache-2.0
 * obs_count.c - what was counted, read line by line and in sum. The counting itself is in exec_count.c. */
#include "vgpu/machine.h"

static void add(tess_vgpu_counters *to, const tess_vgpu_counters *from) {
#define X(name) to->name += from->name;
    TESS_VGPU_COUNTER_LIST(X)
#undef X
}

void tess_vgpu_total(const tess_vgpu_run *run, tess_vgpu_counters *counters) {
    *counters = (tess_vgpu_counters){0};
    for (int i = 0; i < run->active_count; i++)
        add(counters, &run->counters[run->active[i]]);
}

/* ---- what machine code does beyond the PTX ---- */

/* By all workers; `warps` and `eighths` with those of full warps. */
static vgpu_issue issued(const vgpu_launch *launch, uint32_t pc) {
    vgpu_issue sum = {0};
    for (int n = 0; n < launch->worker_count; n++) {
        const vgpu_issue *issue = &launch->workers[n].issues[pc];
        sum.warps += issue->warps + issue->full;
        sum.eighths += issue->eighths + 4 * issue->full;
    }
    return sum;
}

/* What the machine code does beyond the PTX, on its line or, where that never ran, on that of the piece that it stands in. A register's words lie side by
 * side: a sector for eight lanes. Of an unrolled loop it is known how often it was entered and how many rounds it made at all: each time is taken to have
 * made as many, and what is less than a turn to have been done outside of the loop. */
static void add_other(vgpu_launch *launch, const vgpu_other *other) {
    const tess_vgpu_run *run = launch->run;
    tess_vgpu_counters *c = &run->audited[run->counters[other->pc].warp_instructions ? other->pc : other->at];
    vgpu_issue at = issued(launch, other->at);
    uint64_t warps = at.warps, eighths = at.eighths;
    if (other->turn) {
        uint64_t entries = issued(launch, other->entry).warps, rounds = entries ? warps / entries : 0,
                 by = (uint64_t)(other->turn > 0 ? other->turn : -other->turn);
        uint64_t turns = (other->turn > 0 ? rounds / by : rounds % by) * entries;
        eighths = warps ? eighths * turns / warps : 0;
        warps = turns;
    }
    uint64_t requests = other->requests * warps, sectors = other->requests * eighths;
    switch ((vgpu_other_kind)other->kind) {
    case VGPU_SPILL_LOAD:
        c->local_ld_requests += requests;
        c->local_ld_sectors += sectors;
        break;
    case VGPU_SPILL_STORE:
        c->local_st_requests += requests;
        c->local_st_sectors += sectors;
        break;
    case VGPU_CONSTANT_LOAD:
        c->constant_loads += requests;
        c->constant_requests += requests;
        break;
    case VGPU_JUMP: c->branches_uniform += requests; break;
    }
}

void tess_vgpu_add_others(vgpu_launch *launch) {
    const tess_vgpu_module *m = launch->module;
    for (int i = 0; i < m->other_count; i++)
        if (m->others[i].kernel == UINT32_MAX || m->others[i].kernel == launch->kernel->first)
            add_other(launch, &m->others[i]);
}

/* The accesses and branches of one record as the machine code does them, all else as PTX has it. */
static void add_audited(tess_vgpu_counters *to, const tess_vgpu_run *run, uint32_t pc) {
    const tess_vgpu_counters *p = &run->counters[pc], *m = run->audited ? &run->audited[pc] : p;
    tess_vgpu_counters c = *m;
    c.warp_instructions = p->warp_instructions;
    c.thread_instructions = p->thread_instructions;
    c.thread_instructions_on = p->thread_instructions_on;
    c.partial_warp_instructions = p->partial_warp_instructions;
    c.barriers = p->barriers;
    c.warp_syncs = p->warp_syncs;
    c.shared_async_requests = p->shared_async_requests;
    c.shared_async_wavefronts = p->shared_async_wavefronts;
    c.bulk_copies = p->bulk_copies;
    c.bulk_bytes = p->bulk_bytes;
    c.flops_f16 = p->flops_f16;
    c.flops_f32 = p->flops_f32;
    c.flops_f64 = p->flops_f64;
    c.approximate = p->approximate;
    add(to, &c);
}

bool tess_vgpu_total_audited(const tess_vgpu_run *run, tess_vgpu_counters *counters) {
    *counters = (tess_vgpu_counters){0};
    for (int i = 0; i < run->active_count; i++)
        add_audited(counters, run, run->active[i]);
    return run->audited != NULL;
}

static double flops(const tess_vgpu_counters *c) { return (double)c->flops_f16 + (double)c->flops_f32 + (double)c->flops_f64; }

double tess_vgpu_intensity(const tess_vgpu_counters *c) {
    uint64_t sectors = c->global_ld_sectors + c->global_st_sectors + c->global_atom_sectors + c->global_red_sectors;
    double bytes = 32 * (double)sectors + (double)c->bulk_bytes;
    return bytes > 0 ? flops(c) / bytes : 0;
}

double tess_vgpu_flops_per_access(const tess_vgpu_counters *c) {
    uint64_t elements = c->global_ld_elements + c->global_st_elements;
    return elements ? flops(c) / (double)elements : 0;
}

bool tess_vgpu_line_at(const tess_vgpu_run *run, int number, tess_vgpu_line *line) {
    if (number < 0 || number >= run->active_count)
        return false;
    uint32_t pc = run->active[number];
    const tess_vgpu_module *m = run->module;
    const vgpu_record *r = &m->records[pc];
    *line = (tess_vgpu_line){.ptx_line = (int)r->line, .source_line = (int)(r->source & 0xffffff), .counters = run->counters[pc]};
    line->verdict = run->audited ? (tess_vgpu_verdict)m->audit[pc].verdict : TESS_VGPU_KEPT;
    if (run->audited && line->verdict == TESS_VGPU_KEPT && m->audit[pc].copies > 1 && run->counters[pc].partial_warp_instructions)
        line->verdict = TESS_VGPU_COPIES;
    if (run->audited && (line->verdict == TESS_VGPU_KEPT || line->verdict == TESS_VGPU_COPIES) && m->audit[pc].spills)
        line->verdict = TESS_VGPU_SPILLS;
    add_audited(&line->audited, run, pc);
    line->file = m->file_name[r->source >> 24];
    line->file_length = m->file_name_length[r->source >> 24];
    for (int i = 0; i < m->function_count; i++) {
        const ptx_function *f = m->functions[i];
        if (f->defined && pc >= f->first && pc < f->first + (uint32_t)f->count) {
            line->ptx = f->code[pc - f->first].text;
            line->ptx_length = f->code[pc - f->first].text_length;
        }
    }
    return true;
}

void tess_vgpu_source_line(const tess_vgpu_run *run, int source_line, tess_vgpu_counters *counters) {
    *counters = (tess_vgpu_counters){0};
    for (int i = 0; i < run->active_count; i++) {
        const vgpu_record *r = &run->module->records[run->active[i]];
        if ((int)(r->source & 0xffffff) == source_line)
            add(counters, &run->counters[run->active[i]]);
    }
}
