/* SPDX-License-Identifier: Apache-2.0
 * faults.c - the list of what was found wrong: one entry for a kind and a place in the program, describing the first by block and thread, with the
 * number of lanes that tripped it. So the list does not depend on which host thread ran which block. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "vgpu/machine.h"

const char *tess_vgpu_fault_name(tess_vgpu_fault_kind kind) {
    static const char *const names[] = {
        "out of bounds", "misaligned", "undefined read", "race",     "race inside a warp",    "barrier", "missing lanes", "deadlock", "step limit",
        "stack",         "trap",       "assertion",      "bad free", "race in global memory", "leak"};
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

/* The variable's own name at the end of a mangled one: part of _ZZ8race_badPiE4part. */
static const char *plain_name(const char *name, int *length) {
    const char *found = name, *end = name + *length;
    int size = *length;
    if (*length < 3 || name[0] != '_' || name[1] != 'Z')
        return name;
    for (const char *p = name + 2; p < end;) {
        int n = 0;
        while (p < end && *p >= '0' && *p <= '9' && n < 10000)
            n = 10 * n + (*p++ - '0');
        if (n > 0 && n <= end - p) {
            found = p;
            size = n;
            p += n;
        } else {
            p++;
        }
    }
    *length = size;
    return found;
}

/* What lies at an address, for faults whose sentence does not say it. */
static int allocation_text(char *text, size_t size, const vgpu_launch *launch, const char *space, uint64_t address) {
    *text = 0;
    if (strcmp(space, "global") == 0) {
        const vgpu_allocation *a = tess_vgpu_allocation_of(launch->machine, address, 1);
        if (!a)
            return 0;
        int length = a->name_length;
        const char *name = a->name ? plain_name(a->name, &length) : "the allocation";
        return snprintf(text, size, "; in %.*s at 0x%llx of %lld bytes", a->name ? length : (int)strlen(name), name, (unsigned long long)a->address,
                        (long long)a->size);
    }
    if (strcmp(space, "local") == 0)
        return snprintf(text, size, "; in a thread's %lld bytes of local memory", (long long)launch->stack_bytes);
    if (strcmp(space, "shared") != 0)
        return 0;
    const tess_vgpu_module *m = launch->module;
    uint64_t before = (uint64_t)(m->shared_bytes + 127) / 128 * 128; /* as tess_vgpu_address_of lays them out */
    for (int i = 0; i < m->shared_count; i++) {
        const ptx_symbol *s = m->shared[i];
        uint64_t begin = s->address + (s->function ? before : 0);
        int length = s->length;
        if ((s->function && s->function != launch->kernel) || address < begin || address - begin >= s->size)
            continue;
        const char *name = plain_name(s->name, &length);
        return snprintf(text, size, "; in %.*s of %llu bytes", length > 60 ? 60 : length, name, (unsigned long long)s->size);
    }
    if (address >= (uint64_t)launch->dynamic_base && launch->shared_bytes > launch->dynamic_base)
        return snprintf(text, size, "; in the %lld bytes of dynamic shared memory", (long long)(launch->shared_bytes - launch->dynamic_base));
    return 0;
}

static bool says_where(tess_vgpu_fault_kind kind) {
    return kind == TESS_VGPU_MISALIGNED || kind == TESS_VGPU_UNDEFINED || kind == TESS_VGPU_RACE || kind == TESS_VGPU_WARP_RACE ||
           kind == TESS_VGPU_GLOBAL_RACE;
}

/* Sentence, allocation, place. */
static void describe(tess_vgpu_fault *f, const vgpu_launch *launch, const vgpu_record *record, const char *format, va_list arguments) {
    char place[96] = "", where[160] = "";
    int used = vsnprintf(f->message, sizeof f->message, format, arguments);
    f->space = f->kind == TESS_VGPU_BAD_FREE || f->kind == TESS_VGPU_LEAK ? "global" : space_of(record, f->message);
    if (used < 0 || used >= (int)sizeof f->message)
        return;
    if (f->space && says_where(f->kind))
        allocation_text(where, sizeof where, launch, f->space, f->address);
    if (f->source_line)
        snprintf(place, sizeof place, ", %.*s:%d", f->file_length > 60 ? 60 : f->file_length, f->file ? f->file : "", f->source_line);
    const ptx_symbol *kernel = launch->kernel->symbol;
    snprintf(f->message + used, sizeof f->message - (size_t)used, "%s (%.*s, block %u %u %u, thread %u %u %u%s, PTX line %d)", where,
             kernel->length > 60 ? 60 : kernel->length, kernel->name, f->block[0], f->block[1], f->block[2], f->thread[0], f->thread[1], f->thread[2],
             place, f->ptx_line);
}

/* Who did it: the block by its number and place, the thread by its number. */
typedef struct culprit {
    uint64_t number;
    const uint32_t *block;
    uint32_t thread;
} culprit;

static void report(const vgpu_launch *launch, const vgpu_record *record, culprit who, tess_vgpu_fault_kind kind, uint64_t address,
                   const vgpu_record *other, const char *format, va_list arguments) {
    tess_vgpu_run *run = launch->run;
    uint32_t pc = (uint32_t)(record - launch->module->records);
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
    if (first || who.number < n->order_block || (who.number == n->order_block && who.thread < n->order_thread)) {
        tess_vgpu_fault *f = &n->fault;
        n->order_block = who.number;
        n->order_thread = who.thread;
        n->pc = pc;
        f->kind = kind;
        f->address = address;
        f->ptx_line = (int)record->line;
        f->source_line = (int)(record->source & 0xffffff);
        f->other_line = other ? (int)(other->source & 0xffffff) : 0;
        f->file = launch->module->file_name[record->source >> 24];
        f->file_length = launch->module->file_name_length[record->source >> 24];
        memcpy(f->block, who.block, sizeof f->block);
        f->thread[0] = who.thread % launch->block[0];
        f->thread[1] = who.thread / launch->block[0] % launch->block[1];
        f->thread[2] = who.thread / launch->block[0] / launch->block[1];
        describe(f, launch, record, format, arguments);
    }
    pthread_mutex_unlock(&run->lock);
}

void tess_vgpu_fault_report(const vgpu_warp *w, const vgpu_record *record, int lane, tess_vgpu_fault_kind kind, uint64_t address,
                            const vgpu_record *other, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    report(w->launch, record, (culprit){w->worker->block_number, w->worker->block, vgpu_thread_number(w, lane)}, kind, address, other, format,
           arguments);
    va_end(arguments);
}

static void leak(const vgpu_launch *launch, const vgpu_heap_block *b, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    report(launch, b->record, (culprit){b->block_number, b->block, b->thread}, TESS_VGPU_LEAK, b->address, NULL, format, arguments);
    va_end(arguments);
}

void tess_vgpu_leaks_report(const vgpu_launch *launch) {
    const vgpu_heap *h = &launch->machine->heap;
    for (int i = 0; i < h->count; i++)
        if (!h->block[i].freed && h->block[i].run == launch->run)
            leak(launch, &h->block[i], "%llu bytes that malloc gave at 0x%llx were never freed", (unsigned long long)h->block[i].bytes,
                 (unsigned long long)h->block[i].address);
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
