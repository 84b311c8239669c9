/* SPDX-License-Identifier: Apache-2.0
 * decode_call.c - what moves the program counter by more than a label: calls of functions, of what a register points to, of built-in functions, and
 * branches through a table. */
#include <string.h>

#include "vgpu/builtin.h"
#include "vgpu/decode.h"

static tess_status values(vgpu_decoder *d, const ptx_operand *group, vgpu_value **list, int *count) {
    *count = group ? group->elements : 0;
    *list = *count ? tess_vgpu_arena(d->module, (size_t)*count * sizeof **list) : NULL;
    if (*count && !*list)
        return TESS_ERR_MEMORY;
    for (int i = 0; i < *count; i++) {
        const ptx_operand *o = &group->element[i];
        if (o->kind != PTX_SYMBOL || !o->symbol || o->symbol->space != PTX_PARAM || o->symbol->entry_param)
            return tess_vgpu_refuse(d, "arguments and results must be .param variables");
        (*list)[i] = (vgpu_value){(int64_t)o->symbol->address, (int64_t)o->symbol->size};
    }
    return TESS_OK;
}

static tess_status fits(vgpu_decoder *d, const vgpu_value *given, int count, ptx_symbol *const *formal, int formals, const char *what) {
    if (count != formals)
        return tess_vgpu_refuse(d, "%d %s where the function has %d", count, what, formals);
    for (int i = 0; i < count; i++)
        if ((uint64_t)given[i].bytes != formal[i]->size)
            return tess_vgpu_refuse(d, "%lld bytes for a parameter of %llu", (long long)given[i].bytes, (unsigned long long)formal[i]->size);
    return TESS_OK;
}

/* call (results), function, (arguments) and call (results), register, (arguments), prototype. */
tess_status tess_vgpu_decode_call(vgpu_decoder *d) {
    const ptx_instruction *in = d->in;
    tess_vgpu_module *m = d->module;
    int at = 0;
    const ptx_operand *results = in->operand_count && in->operand[0].kind == PTX_GROUP ? &in->operand[at++] : NULL;
    const ptx_operand *target = at < in->operand_count ? &in->operand[at++] : NULL;
    const ptx_operand *arguments = at < in->operand_count && in->operand[at].kind == PTX_GROUP ? &in->operand[at++] : NULL;
    bool indirect = target && target->kind == PTX_REG;
    if (indirect && at < in->operand_count && in->operand[at].kind == PTX_SYMBOL)
        at++;
    if (!target || (!indirect && target->kind != PTX_SYMBOL) || at != in->operand_count)
        return tess_vgpu_refuse(d, "a call names a function or a register, its results before and its arguments behind");
    if (!tess_vgpu_arena_grow(m, (void **)&m->sites, m->site_count, &m->site_room, sizeof *m->sites))
        return TESS_ERR_MEMORY;
    vgpu_call_site site = {0};
    TESS_TRY(values(d, arguments, &site.arguments, &site.argument_count));
    TESS_TRY(values(d, results, &site.results, &site.result_count));
    if (indirect) {
        TESS_TRY(tess_vgpu_source(d, target, PTX_B64, false, &d->out->a));
        d->out->mode = 1;
    } else {
        const ptx_symbol *s = tess_vgpu_find(m, target->name, target->name_length);
        if (!s || s->kind != PTX_FUNCTION)
            return tess_vgpu_refuse(d, "there is no function \"%.*s\"", target->name_length, target->name);
        if (s->function->entry)
            return tess_vgpu_refuse(d, "a kernel cannot be called");
        TESS_TRY(fits(d, site.arguments, site.argument_count, s->function->params, s->function->param_count, "arguments"));
        TESS_TRY(fits(d, site.results, site.result_count, s->function->results, s->function->result_count, "results"));
        site.callee = s->function;
        d->out->mode = 0;
        if (!s->function->defined) {
            d->out->run = tess_vgpu_builtin(s->name, s->length, site.argument_count, &m->uses_heap);
            if (!d->out->run)
                return tess_vgpu_refuse(d, "the function \"%.*s\" is declared but not in this module", s->length, s->name);
            d->out->flow = tess_vgpu_builtin_ends(d->out->run) ? PTX_TRAP : PTX_PLAIN;
        }
    }
    m->has_calls |= d->out->flow == PTX_CALL;
    m->sites[m->site_count] = site;
    d->out->target = (uint32_t)m->site_count++;
    return TESS_OK;
}

/* ---- branches ---- */

tess_status tess_vgpu_decode_label(vgpu_decoder *d, const char *name, int length, uint32_t *record) {
    const ptx_function *f = d->function;
    for (int scope = d->in->scope; scope >= 0; scope = f->scope_parent[scope]) {
        const ptx_symbol *found = NULL;
        for (int i = 0; i < f->label_count; i++) {
            const ptx_symbol *s = f->labels[i];
            if (s->scope != scope || s->length != length || memcmp(s->name, name, (size_t)length) != 0)
                continue;
            if (found)
                return tess_vgpu_refuse(d, "the label \"%.*s\" is there twice", length, name);
            found = s;
        }
        if (found) {
            *record = f->first + (uint32_t)found->address;
            return TESS_OK;
        }
    }
    return tess_vgpu_refuse(d, "there is no label \"%.*s\"", length, name);
}

tess_status tess_vgpu_decode_branch(vgpu_decoder *d) {
    const ptx_operand *o = &d->in->operand[0];
    if (d->in->operand_count != 1 || o->kind != PTX_SYMBOL)
        return tess_vgpu_refuse(d, "a branch needs a label");
    return tess_vgpu_decode_label(d, o->name, o->name_length, &d->out->target);
}

/* brx.idx a, table: the list is { how many, records }. */
tess_status tess_vgpu_decode_table(vgpu_decoder *d) {
    const ptx_instruction *in = d->in;
    const ptx_function *f = d->function;
    const ptx_operand *o = in->operand;
    const ptx_targets *t = NULL;
    if (in->modes[0] != PTX_IDX || in->operand_count != 2 || o[1].kind != PTX_SYMBOL)
        return tess_vgpu_refuse(d, "brx.idx needs a register and the label of a table");
    TESS_TRY(tess_vgpu_source(d, &o[0], PTX_B32, false, &d->out->a));
    for (int i = 0; i < f->table_count && !t; i++)
        if (f->tables[i].label->length == o[1].name_length && memcmp(f->tables[i].label->name, o[1].name, (size_t)o[1].name_length) == 0)
            t = &f->tables[i];
    if (!t)
        return tess_vgpu_refuse(d, "there is no .branchtargets at \"%.*s\"", o[1].name_length, o[1].name);
    uint32_t *list;
    TESS_TRY(tess_vgpu_list(d, t->count + 1, &d->out->target, &list));
    list[0] = (uint32_t)t->count;
    for (int i = 0; i < t->count; i++)
        TESS_TRY(tess_vgpu_decode_label(d, t->target[i].name, t->target[i].length, &list[1 + i]));
    return TESS_OK;
}

/* ---- barriers ---- */

/* bar.sync a{, n}; bar.arrive a, n; bar.red.op d, a{, n}, p; bar.warp.sync lanes. a and n: e and f. */
tess_status tess_vgpu_decode_barrier(vgpu_decoder *d) {
    const ptx_instruction *in = d->in;
    vgpu_record *r = d->out;
    const ptx_operand *o = in->operand;
    int count = in->operand_count;
    if (in->flags & PTX_WARP) {
        if (count != 1)
            return tess_vgpu_refuse(d, "one operand is needed: the lanes");
        r->flow = PTX_CONVERGE;
        r->run = tess_vgpu_nothing;
        return tess_vgpu_source(d, &o[0], PTX_B32, false, &r->f);
    }
    if (in->op == PTX_OP_BAR || in->flags & PTX_ALIGNED)
        r->bytes = 1; /* aligned: all lanes of the warp must come together */
    bool red = in->modes[0] == PTX_RED, arrive = in->modes[0] == PTX_ARRIVE;
    if (red) {
        if (count < 3 || count > 4)
            return tess_vgpu_refuse(d, "three or four operands are needed");
        r->count = (uint8_t)in->modes[1];
        if (r->count != PTX_POPC && r->count != PTX_AND && r->count != PTX_OR)
            return tess_vgpu_refuse(d, ".popc, .and or .or is needed");
        TESS_TRY(tess_vgpu_destination(d, &o[0], r->count == PTX_POPC ? PTX_B32 : PTX_PRED, false, &r->d));
        TESS_TRY(tess_vgpu_source(d, &o[count - 1], PTX_PRED, false, &r->a));
        o++;
        count -= 2;
    }
    if (count < 1 || count > 2 || (arrive && count != 2))
        return tess_vgpu_refuse(d, "%d operands do not fit", in->operand_count);
    TESS_TRY(tess_vgpu_source(d, &o[0], PTX_B32, false, &r->e));
    if (count == 2)
        TESS_TRY(tess_vgpu_source(d, &o[1], PTX_B32, false, &r->f));
    return TESS_OK;
}
