/* SPDX-License-Identifier: Apache-2.0
 * faults.c - the list of what was found wrong: one entry for a kind and a place in the program, describing the first by block and thread, with the
 * number of lanes that tripped it. So the list does not depend on which host thread ran which block. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "vgpu/machine.h"

const char *tess_vgpu_fault_name(tess_vgpu_fault_kind kind) {
    static const char *const names[] = {
        "out of bounds", "misaligned", "undefined read", "race", "race inside a warp", "barrier",  "missing lanes",
        "deadlock",      "step limit", "stack",          "trap", "assertion",          "bad free", "race in global memory"};
    return names[kind];
}

static bool accesses(const vgpu_record *record) {
    return record->op == PTX_OP_LD || record->op == PTX_OP_ST || record->op == PTX_OP_ATOM || record->op == PTX_OP_RED || record->op == PTX_OP_CP;
}

/* Which memory. A generic access has been resolved when it is reported, and the sentence says to what. */
static const char *space_of(const vgpu_record *record, const char *sentence) {
    static const char *const names[PTX_SPACES] = {"global", "global", "shared", "local", "constant", "parameter"};
    char words[32];
    if (!accesses(record))
        return NULL;
    for (int i = PTX_SHARED; i < PTX_SPACES && record->space == PTX_GENERIC; i++) {
        snprintf(words, sizeof words, "%s address", names[i]);
        if (strstr(sentence, words))
            return names[i];
    }
    return names[record->space];
}

void tess_vgpu_fault_report(const vgpu_warp *w, const vgpu_record *record, int lane, tess_vgpu_fault_kind kind, uint64_t address,
                            const vgpu_record *other, const char *format, ...) {
    const vgpu_launch *launch = w->launch;
    const vgpu_worker *worker = w->worker;
    tess_vgpu_run *run = launch->run;
    uint32_t thread = vgpu_thread_number(w, lane), pc = (uint32_t)(record - launch->module->records);
    pthread_mutex_lock(&run->lock);
    vgpu_fault_node *n = run->faults;
    while (n && !(n->pc == pc && n->fault.kind == kind))
        n = n->next;
    bool first = !n;
    if (!n) {
        n = tess_allocate_zeroed(run->context, sizeof *n);
        if (!n) {
            pthread_mutex_unlock(&run->lock);
            return;
        }
        n->next = run->faults;
        run->faults = n;
        run->fault_count++;
    }
    n->fault.count++;
    if (first || worker->block_number < n->order_block || (worker->block_number == n->order_block && thread < n->order_thread)) {
        tess_vgpu_fault *f = &n->fault;
        n->order_block = worker->block_number;
        n->order_thread = thread;
        n->pc = pc;
        f->kind = kind;
        f->address = address;
        f->ptx_line = (int)record->line;
        f->source_line = (int)(record->source & 0xffffff);
        f->other_line = other ? (int)(other->source & 0xffffff) : 0;
        f->file = launch->module->file_name[record->source >> 24];
        f->file_length = launch->module->file_name_length[record->source >> 24];
        memcpy(f->block, worker->block, sizeof f->block);
        f->thread[0] = thread % launch->block[0];
        f->thread[1] = thread / launch->block[0] % launch->block[1];
        f->thread[2] = thread / launch->block[0] / launch->block[1];
        va_list arguments;
        va_start(arguments, format);
        int used = vsnprintf(f->message, sizeof f->message, format, arguments);
        va_end(arguments);
        f->space = space_of(record, f->message);
        if (used >= 0 && used < (int)sizeof f->message) {
            char place[96] = "";
            if (f->source_line)
                snprintf(place, sizeof place, ", %.*s:%d", f->file_length > 60 ? 60 : f->file_length, f->file ? f->file : "", f->source_line);
            const ptx_symbol *kernel = launch->kernel->symbol;
            snprintf(f->message + used, sizeof f->message - (size_t)used, " (%.*s, block %u %u %u, thread %u %u %u%s, PTX line %d)",
                     kernel->length > 60 ? 60 : kernel->length, kernel->name, f->block[0], f->block[1], f->block[2], f->thread[0], f->thread[1],
                     f->thread[2], place, f->ptx_line);
        }
    }
    pthread_mutex_unlock(&run->lock);
}

static bool comes_first(const vgpu_fault_node *a, const vgpu_fault_node *b) {
    if (a->order_block != b->order_block)
        return a->order_block < b->order_block;
    if (a->order_thread != b->order_thread)
        return a->order_thread < b->order_thread;
    return a->pc != b->pc ? a->pc < b->pc : a->fault.kind < b->fault.kind;
}

tess_status tess_vgpu_faults_sort(tess_vgpu_run *run) {
    run->sorted = tess_allocate(run->context, (size_t)run->fault_count * sizeof *run->sorted);
    if (!run->sorted)
        return TESS_ERR_MEMORY;
    vgpu_fault_node *rest = run->faults, *ordered = NULL;
    while (rest) { /* insertion: the list has at most a few entries a line of the program */
        vgpu_fault_node *n = rest, **at = &ordered;
        rest = n->next;
        while (*at && comes_first(*at, n))
            at = &(*at)->next;
        n->next = *at;
        *at = n;
    }
    run->faults = ordered;
    int i = 0;
    for (const vgpu_fault_node *n = ordered; n; n = n->next)
        run->sorted[i++] = &n->fault;
    return TESS_OK;
}

int tess_vgpu_fault_count(const tess_vgpu_run *run) { return run->fault_count; }
const tess_vgpu_fault *tess_vgpu_fault_at(const tess_vgpu_run *run, int number) {
    return number >= 0 && number < run->fault_count ? run->sorted[number] : NULL;
}
