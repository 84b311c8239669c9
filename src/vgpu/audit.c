/* SPDX-License-Identifier: Apache-2.0
 * audit.c - the accesses of machine code beside those of the PTX it was made of: which of them the assembler kept, merged, dropped or gave to one lane.
 *
 * Each machine instruction has a line of PTX. A record whose line has accesses of its own kind and width is as it was, however often it was unrolled. One
 * without any was dropped, or is part of a wider one: the assembler merges 2 or 4 accesses with one base register and offsets in a row, and leaves the wide
 * access on the line of one of them. What fits no rule is marked and counted as PTX says it. */
#include "vgpu/audit.h"

#include "vgpu/decode.h"

typedef struct auditor {
    tess_vgpu_module *module;
    vgpu_audit *audit;
    const vgpu_code *list;
    int count;
} auditor;

/* The part of the list that is of one line. */
static const vgpu_code *of_line(const auditor *a, int line, int *count) {
    int low = 0, high = a->count;
    if (high == 0) { /* machine code without accesses has no list */
        *count = 0;
        return NULL;
    }
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (a->list[middle].line < line)
            low = middle + 1;
        else
            high = middle;
    }
    const vgpu_code *first = a->list + low;
    for (*count = 0; low + *count < a->count && first[*count].line == line;)
        ++*count;
    return first;
}

/* Parameters count where a kernel's are read at a computed address: others are operands in machine code, or loads that find_others sees. */
static bool is_access(const vgpu_record *r) {
    if (r->space == PTX_PARAM && (r->mode != 1 || r->e == VGPU_NO_SLOT))
        return false;
    return r->op == PTX_OP_LD || r->op == PTX_OP_ST || r->op == PTX_OP_ATOM || r->op == PTX_OP_RED || r->op == PTX_OP_LDMATRIX ||
           r->op == PTX_OP_STMATRIX || (r->op == PTX_OP_CP && r->mode != PTX_BULK && r->run != tess_vgpu_nothing);
}

/* Whether a machine instruction does what the record does, whatever its width. Generic accesses may have become those of a space. */
static bool does(vgpu_code_op op, const vgpu_record *r) {
    static const uint8_t loads[PTX_SPACES] = {VGPU_CODE_LD, VGPU_CODE_LDG, VGPU_CODE_LDS, VGPU_CODE_LDL, VGPU_CODE_LDC, VGPU_CODE_LDC};
    static const uint8_t stores[PTX_SPACES] = {VGPU_CODE_ST, VGPU_CODE_STG, VGPU_CODE_STS, VGPU_CODE_STL, VGPU_CODE_OPS, VGPU_CODE_OPS};
    bool generic = r->space == PTX_GENERIC, shared = generic || r->space == PTX_SHARED, global = generic || r->space == PTX_GLOBAL;
    switch (r->op) {
    case PTX_OP_LD: return op == loads[r->space] || (generic && op <= VGPU_CODE_LDC) || (op == VGPU_CODE_LD && r->space != PTX_CONST);
    case PTX_OP_ST: return op == stores[r->space] || (generic && op >= VGPU_CODE_ST && op <= VGPU_CODE_STL) || op == VGPU_CODE_ST;
    case PTX_OP_LDMATRIX: return op == VGPU_CODE_LDSM;
    case PTX_OP_STMATRIX: return op == VGPU_CODE_STSM;
    case PTX_OP_CP: return op == VGPU_CODE_LDGSTS;
    default:
        return op == VGPU_CODE_ATOM || (shared && op >= VGPU_CODE_ATOMS && op <= VGPU_CODE_ATOMS_CAS) ||
               (global && (op == VGPU_CODE_ATOMG || op == VGPU_CODE_REDG));
    }
}

typedef struct found {
    int copies, narrowest, widest;
    bool unguarded, counts_ones; /* counts_ones: ATOMS.POPC.INC */
} found;

static found look(const auditor *a, const vgpu_record *r) {
    found f = {0};
    int count;
    const vgpu_code *code = of_line(a, (int)r->line, &count);
    for (int i = 0; i < count; i++) {
        if (!does(code[i].op, r))
            continue;
        f.narrowest = !f.copies || code[i].bytes < f.narrowest ? code[i].bytes : f.narrowest;
        f.widest = code[i].bytes > f.widest ? code[i].bytes : f.widest;
        f.unguarded |= !code[i].guarded;
        f.counts_ones |= code[i].op == VGPU_CODE_ATOMS_POPC;
        f.copies++;
    }
    return f;
}

/* ---- merged accesses ---- */

/* Whether the two records could be parts of one access: the same kind, base and guard. */
static bool beside(const vgpu_record *r, const vgpu_record *s) {
    return s->op == r->op && s->space == r->space && s->bytes == r->bytes && s->count == r->count && s->e == r->e && s->guard == r->guard &&
           (s->flags & (VGPU_FRAME | VGPU_DYNAMIC | VGPU_NEGATED)) == (r->flags & (VGPU_FRAME | VGPU_DYNAMIC | VGPU_NEGATED));
}

static bool is_target(const ptx_function *f, uint32_t pc) {
    for (int i = 0; i < f->label_count; i++)
        if (f->labels[i]->address == pc - f->first)
            return true;
    return false;
}

/* The record of the same straight piece of code whose access lies `distance` bytes further than r's and that has no instruction of its own; NULL: none. */
static const vgpu_record *partner(const auditor *a, const ptx_function *f, uint32_t pc, int64_t distance) {
    const vgpu_record *records = a->module->records, *r = &records[pc];
    for (int direction = -1; direction <= 1; direction += 2)
        for (uint32_t at = pc;;) {
            if (direction < 0 ? at == f->first || is_target(f, at) : at + 1 == f->first + (uint32_t)f->count || is_target(f, at + 1))
                break;
            at = direction < 0 ? at - 1 : at + 1;
            if (records[at].flow != PTX_PLAIN)
                break;
            if (beside(r, &records[at]) && records[at].offset - r->offset == distance && a->audit[at].verdict == TESS_VGPU_KEPT &&
                look(a, &records[at]).copies == 0)
                return &records[at];
        }
    return NULL;
}

/* The others of a wide access that stands on the line of record pc; false: they are not to be found. */
static bool merge(const auditor *a, const ptx_function *f, uint32_t pc, int wide) {
    const vgpu_record *r = &a->module->records[pc], *part[16];
    int narrow = r->bytes * r->count, parts = wide / narrow;
    if (parts > TESS_COUNT(part) || wide % narrow != 0)
        return false;
    for (int own = 0; own < parts; own++) { /* r may be any of them */
        int k = 0;
        for (; k < parts; k++) {
            part[k] = k == own ? r : partner(a, f, pc, (int64_t)(k - own) * narrow);
            if (!part[k])
                break;
        }
        if (k < parts)
            continue;
        for (k = 0; k < parts; k++)
            a->audit[part[k] - a->module->records] =
                (vgpu_audit){.verdict = (uint8_t)(k == 0 ? TESS_VGPU_MERGED : TESS_VGPU_PART), .bytes = (uint8_t)wide};
        return true;
    }
    return false;
}

/* Whether the record's access stands on the line of one beside it: the assembler had put them together and then apart again. That line then has accesses
 * as far from each other as the records'. */
static bool stands_elsewhere(const auditor *a, const ptx_function *f, uint32_t pc) {
    const vgpu_record *records = a->module->records, *r = &records[pc];
    for (uint32_t at = f->first; at < f->first + (uint32_t)f->count; at++) {
        int count;
        if (at == pc || !beside(r, &records[at]))
            continue;
        const vgpu_code *code = of_line(a, (int)records[at].line, &count);
        for (int i = 0; i < count; i++)
            for (int k = 0; k < count; k++)
                if (does(code[i].op, r) && does(code[k].op, r) && code[i].bytes == r->bytes * r->count && code[k].bytes == code[i].bytes &&
                    code[i].offset - code[k].offset == r->offset - records[at].offset)
                    return true;
    }
    return false;
}

/* ---- one record ---- */

static bool whole_sum(const vgpu_record *r) {
    ptx_type type = (ptx_type)r->count;
    return r->mode != PTX_CAS && r->mode != PTX_EXCH && !(type >= PTX_F16 && type <= PTX_F64);
}

/* Whether the assembler gathers warps in this function: it has votes or reductions on lines where the PTX has none. */
static bool gathers(const auditor *a, const ptx_function *f) {
    for (int i = 0; i < f->count; i++) {
        const vgpu_record *r = &a->module->records[f->first + (uint32_t)i];
        int count;
        if (r->op != PTX_OP_ATOM && r->op != PTX_OP_RED)
            continue;
        const vgpu_code *code = of_line(a, (int)r->line, &count);
        for (int k = 0; k < count; k++)
            if (code[k].op == VGPU_CODE_VOTE)
                return true;
    }
    return false;
}

static void judge(auditor *a, const ptx_function *f, uint32_t pc, bool gathered) {
    const vgpu_record *r = &a->module->records[pc];
    vgpu_audit *v = &a->audit[pc];
    found l = look(a, r);
    if (v->verdict != TESS_VGPU_KEPT)
        return;
    v->copies = (uint8_t)(l.copies < 255 ? l.copies : 255);
    if (l.copies == 0) {
        v->verdict = stands_elsewhere(a, f, pc) ? TESS_VGPU_KEPT : TESS_VGPU_DROPPED;
    } else if (r->op == PTX_OP_ATOM || r->op == PTX_OP_RED) {
        if (r->space == PTX_SHARED && r->mode == PTX_ADD && r->target && r->flags & VGPU_UNUSED && !l.counts_ones)
            v->verdict = TESS_VGPU_PLAIN_ATOMIC;
        else if (gathered && r->guard == VGPU_NO_SLOT && !l.unguarded && whole_sum(r))
            v->verdict = TESS_VGPU_ONE_LANE;
    } else if (r->op == PTX_OP_LD || r->op == PTX_OP_ST) {
        int width = r->bytes * r->count;
        if (r->space == PTX_CONST || r->space == PTX_PARAM)
            return; /* of any width, a load is a request for each address */
        if (l.narrowest == width && l.widest == width)
            return;
        if (l.narrowest != l.widest || l.narrowest < width || !merge(a, f, pc, l.widest))
            v->verdict = TESS_VGPU_DIFFERS;
    }
}

/* ---- what has no part in the PTX ---- */

uint32_t tess_vgpu_record_from(const tess_vgpu_module *m, const ptx_function *f, int line) {
    uint32_t low = f->first, high = f->first + (f->defined ? (uint32_t)f->count : 0);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((int)m->records[middle].line < line)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The record that stands on a line, or on the next one that has any: a function's first for what ptxas puts on the line of its name. UINT32_MAX: none. */
static uint32_t record_of(const tess_vgpu_module *m, int line) {
    uint32_t best = UINT32_MAX;
    for (int i = 0; i < m->function_count; i++) {
        const ptx_function *f = m->functions[i];
        uint32_t low = tess_vgpu_record_from(m, f, line);
        if (low < f->first + (uint32_t)f->count && f->defined && (best == UINT32_MAX || m->records[low].line < m->records[best].line))
            best = low;
    }
    return best;
}

static bool on_line(const auditor *a, uint32_t pc, bool (*is)(const vgpu_record *)) {
    const vgpu_record *records = a->module->records;
    for (uint32_t at = pc; at < a->module->record_count && records[at].line == records[pc].line; at++)
        if (is(&records[at]))
            return true;
    return false;
}

static bool is_local(const vgpu_record *r) { return is_access(r) && (r->space == PTX_LOCAL || r->space == PTX_GENERIC); }
static bool reads_constants(const vgpu_record *r) {
    return r->op == PTX_OP_LD && (r->space == PTX_CONST || (r->space == PTX_PARAM && r->mode == 1 && r->e != VGPU_NO_SLOT));
}
static bool branches(const vgpu_record *r) { return r->flow == PTX_BRANCH || r->flow == PTX_TABLE; }

static bool add(auditor *a, const vgpu_code *c, vgpu_other_kind kind, int requests, uint32_t pc) {
    tess_vgpu_module *m = a->module;
    uint32_t at = c->at ? record_of(m, c->at) : pc, kernel = c->home ? record_of(m, c->home) : UINT32_MAX;
    uint32_t entry = c->turn ? record_of(m, c->entry) : UINT32_MAX;
    int8_t turn = (int8_t)(entry == UINT32_MAX ? 0 : c->turn);
    vgpu_other *last = m->other_count ? &m->others[m->other_count - 1] : NULL;
    if (last && last->pc == pc && last->at == at && last->kernel == kernel && last->kind == kind && last->turn == turn && last->entry == entry &&
        last->requests < 1000) {
        last->requests = (uint16_t)(last->requests + requests);
        return true;
    }
    if (!tess_vgpu_arena_grow(m, (void **)&m->others, m->other_count, &m->other_room, sizeof *m->others))
        return false;
    m->others[m->other_count++] = (vgpu_other){.pc = pc,
                                               .at = at == UINT32_MAX ? pc : at,
                                               .entry = entry,
                                               .kernel = kernel,
                                               .requests = (uint16_t)requests,
                                               .kind = (uint8_t)kind,
                                               .turn = turn};
    return true;
}

/* Accesses that nothing in the PTX asked for: registers that did not fit, loads of parameters. */
static bool find_others(auditor *a) {
    uint32_t pc = UINT32_MAX;
    a->module->other_count = 0;
    for (int i = 0, line = -1; i < a->count; i++) {
        const vgpu_code *c = &a->list[i];
        bool load = c->op == VGPU_CODE_LDL, store = c->op == VGPU_CODE_STL, made = true;
        if (!load && !store && c->op != VGPU_CODE_LDC)
            continue;
        if (c->line != line)
            pc = record_of(a->module, line = c->line);
        if (pc == UINT32_MAX || !c->line || c->at == VGPU_NEVER)
            continue;
        bool here = (int)a->module->records[pc].line == c->line;
        if ((load || store) && !(here && on_line(a, pc, is_local))) {
            made = add(a, c, load ? VGPU_SPILL_LOAD : VGPU_SPILL_STORE, c->bytes <= 4 ? 1 : c->bytes / 4, pc);
            a->audit[pc].spills = true;
        } else if (c->op == VGPU_CODE_LDC && !(here && on_line(a, pc, reads_constants))) {
            made = add(a, c, VGPU_CONSTANT_LOAD, 1, pc);
        }
        if (!made)
            return false;
    }
    return true;
}

/* ---- branches ---- */

/* The branch that ends the piece of PTX with the line; NULL: it goes on without. */
static const vgpu_record *end_of(const auditor *a, int line) {
    const tess_vgpu_module *m = a->module;
    for (uint32_t pc = record_of(m, line); pc < m->record_count; pc++) {
        const vgpu_record *r = &m->records[pc];
        if (branches(r))
            return r;
        if (r->flow == PTX_RETURN || r->flow == PTX_EXIT || r->flow == PTX_TRAP)
            return NULL;
        for (int i = 0; i < m->function_count; i++)
            if (pc + 1 >= m->functions[i]->first && pc + 1 < m->functions[i]->first + (uint32_t)m->functions[i]->count && m->functions[i]->defined &&
                is_target(m->functions[i], pc + 1))
                return NULL;
    }
    return NULL;
}

static const vgpu_record *branch_on(const auditor *a, int line) {
    const vgpu_record *records = a->module->records;
    for (uint32_t at = record_of(a->module, line); at < a->module->record_count && (int)records[at].line == line; at++)
        if (branches(&records[at]))
            return &records[at];
    return NULL;
}

/* A conditional branch at the end of a piece is the one that ends its piece of PTX, or of its own line where the piece is not known: its lanes part as
 * there. Others are jumps, all lanes of which go one way; a branch of PTX that none stands for is none: its lanes are told apart by guards. */
static bool find_branches(auditor *a) {
    for (uint32_t pc = 0; pc < a->module->record_count; pc++)
        a->audit[pc].no_branch = branches(&a->module->records[pc]);
    for (int pass = 0; pass < 2; pass++) /* those of their own line first */
        for (int i = 0; i < a->count; i++) {
            const vgpu_code *c = &a->list[i];
            if (c->op != VGPU_CODE_BRA || c->at == VGPU_NEVER || !c->line)
                continue;
            const vgpu_record *own = branch_on(a, c->line), *end = c->at ? end_of(a, c->at) : own;
            bool same = own && own == end && !c->turn && (c->guarded || own->guard == VGPU_NO_SLOT);
            uint32_t pc = record_of(a->module, c->line), at = end ? (uint32_t)(end - a->module->records) : 0;
            if (same != (pass == 0))
                continue;
            if (same)
                a->audit[at].no_branch = false;
            else if (c->guarded && end && !c->turn && end->guard != VGPU_NO_SLOT && a->audit[at].no_branch)
                a->audit[at].no_branch = false;
            else if (pc != UINT32_MAX && !add(a, c, VGPU_JUMP, 1, pc))
                return false;
        }
    return true;
}

tess_status tess_vgpu_audit_list(tess_vgpu_module *module, const vgpu_code *list, int count) {
    auditor a = {.module = module, .list = list, .count = count};
    if (!(a.audit = tess_vgpu_arena(module, module->record_count * sizeof *a.audit)))
        return TESS_ERR_MEMORY;
    /* Wide accesses first: what is part of one has not been dropped. */
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < module->function_count; i++) {
            const ptx_function *f = module->functions[i];
            bool gathered = f->defined && gathers(&a, f);
            for (uint32_t pc = f->first; f->defined && pc < f->first + (uint32_t)f->count; pc++) {
                const vgpu_record *r = &module->records[pc];
                if (is_access(r) && (pass == 1 || look(&a, r).copies > 0))
                    judge(&a, f, pc, gathered);
            }
        }
    if (!find_others(&a) || !find_branches(&a))
        return TESS_ERR_MEMORY;
    module->audit = a.audit;
    return TESS_OK;
}

tess_status tess_vgpu_audit_cubin(tess_vgpu_module *module, const void *cubin, size_t size) {
    vgpu_code *list;
    int count, room;
    TESS_TRY(tess_vgpu_cubin_read(module->context, module, cubin, size, &list, &count, &room));
    tess_status status = tess_vgpu_audit_list(module, list, count);
    tess_free(module->context, list, (size_t)room * sizeof *list);
    return status;
}

const char *tess_vgpu_verdict_name(tess_vgpu_verdict verdict) {
    static const char *const names[] = {"kept", "merged", "part", "dropped", "one lane", "plain atomic", "copies", "spills", "differs"};
    return verdict >= TESS_VGPU_KEPT && (int)verdict < TESS_COUNT(names) ? names[verdict] : "?";
}
