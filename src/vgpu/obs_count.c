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
    if (run->audited && (line->verdict == TESS_VGPU_KEPT || line->verdict == TESS_VGPU_COPIES) &&
        (m->audit[pc].spill_loads || m->audit[pc].spill_stores))
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
