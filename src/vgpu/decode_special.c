/* SPDX-License-Identifier: Apache-2.0
 * decode_special.c - the opcodes whose operands no pattern describes: mov, cvta, memory, calls, barriers. */
#include <string.h>

#include "vgpu/decode.h"

/* ---- mov, cvta ---- */

tess_status tess_vgpu_decode_mov(vgpu_decoder *d) {
    const ptx_instruction *in = d->in;
    vgpu_record *r = d->out;
    const ptx_operand *to = &in->operand[0], *from = &in->operand[1];
    ptx_type type = in->types[0];
    if (in->operand_count != 2 || in->type_count != 1)
        return tess_vgpu_refuse(d, "mov needs a type and two operands");
    r->bytes = (uint8_t)tess_vgpu_type_bytes(type);
    if (to->kind == PTX_VECTOR || from->kind == PTX_VECTOR) {
        const ptx_operand *v = to->kind == PTX_VECTOR ? to : from;
        uint32_t *field[] = {&r->a, &r->b, &r->c, &r->e};
        int part = v->elements ? r->bytes / v->elements : 0;
        if ((v->elements != 2 && v->elements != 4) || (part != 2 && part != 4))
            return tess_vgpu_refuse(d, "mov packs two or four registers of 16 or 32 bits");
        ptx_type part_type = part == 2 ? PTX_B16 : PTX_B32;
        for (int i = 0; i < v->elements; i++) {
            if (to->kind == PTX_VECTOR)
                TESS_TRY(tess_vgpu_destination(d, &v->element[i], part_type, false, field[i]));
            else
                TESS_TRY(tess_vgpu_source(d, &v->element[i], part_type, false, field[i]));
        }
        r->count = (uint8_t)v->elements;
        if (to->kind == PTX_VECTOR)
            TESS_TRY(tess_vgpu_source(d, from, type, false, &r->d));
        else
            TESS_TRY(tess_vgpu_destination(d, to, type, false, &r->d));
        r->run = to->kind == PTX_VECTOR ? tess_vgpu_move_unpack : tess_vgpu_move_pack;
        return TESS_OK;
    }
    TESS_TRY(tess_vgpu_destination(d, to, type, false, &r->d));
    if (from->kind == PTX_SYMBOL && from->symbol) {
        uint8_t flags;
        TESS_TRY(tess_vgpu_address_of(d, from->symbol, &r->offset, &flags));
        r->offset += (int64_t)from->bits;
        r->run = flags & VGPU_FRAME ? tess_vgpu_move_frame : flags & VGPU_DYNAMIC ? tess_vgpu_move_dynamic : NULL;
        if (r->run)
            return r->bytes >= 4 ? TESS_OK : tess_vgpu_refuse(d, "an address has 32 or 64 bits");
    } else if (from->kind == PTX_SYMBOL) {
        ptx_symbol *s = tess_vgpu_find(d->module, from->name, from->name_length);
        if (s && s->kind == PTX_FUNCTION)
            return tess_vgpu_refuse(d, "addresses of functions are not supported");
    } else if (from->kind == PTX_SPECIAL) {
        static const char *const clocks[] = {"%clock", "%clock_hi", "%clock64", "%globaltimer"};
        for (int i = 0; i < TESS_COUNT(clocks); i++)
            if (from->special == tess_vgpu_special(clocks[i], (int)strlen(clocks[i]))) {
                r->run = tess_vgpu_move_clock;
                r->mode = (uint8_t)i;
                return TESS_OK;
            }
    }
    TESS_TRY(tess_vgpu_source(d, from, type, false, &r->a));
    r->run = tess_vgpu_select(d->slot, PTX_OP_MOV,
                              type == PTX_PRED ? PTX_PRED
                              : r->bytes == 8  ? PTX_B64
                              : r->bytes == 4  ? PTX_B32
                                               : PTX_B16,
                              0, 0, type == PTX_PRED && r->flags & VGPU_NOT_C ? PTX_TO : 0);
    return r->run ? TESS_OK : tess_vgpu_refuse(d, "this form of mov is not supported");
}

static int64_t window_of(ptx_space space) {
    return space == PTX_SHARED  ? (int64_t)VGPU_SHARED_WINDOW
           : space == PTX_LOCAL ? (int64_t)VGPU_LOCAL_WINDOW
           : space == PTX_CONST ? (int64_t)VGPU_CONST_WINDOW
           : space == PTX_PARAM ? (int64_t)VGPU_PARAM_WINDOW
                                : 0;
}

tess_status tess_vgpu_decode_cvta(vgpu_decoder *d) {
    const ptx_instruction *in = d->in;
    vgpu_record *r = d->out;
    if (in->operand_count != 2 || in->types[0] == PTX_NO_TYPE || tess_vgpu_type_bytes(in->types[0]) != 8)
        return tess_vgpu_refuse(d, "cvta needs two 64-bit operands");
    TESS_TRY(tess_vgpu_destination(d, &in->operand[0], PTX_B64, false, &r->d));
    if (in->operand[1].kind == PTX_SYMBOL && in->operand[1].symbol && (in->operand[1].symbol->space == PTX_LOCAL || in->operand[1].symbol->dynamic))
        return tess_vgpu_refuse(d, "the address of this variable is known only to mov");
    TESS_TRY(tess_vgpu_source(d, &in->operand[1], PTX_B64, false, &r->a));
    r->offset = in->flags & PTX_TO ? -window_of(in->space) : window_of(in->space);
    r->run = r->offset ? tess_vgpu_add_offset : tess_vgpu_select(d->slot, PTX_OP_MOV, PTX_B64, 0, 0, 0);
    return TESS_OK;
}

/* ---- memory ---- */

static tess_status address(vgpu_decoder *d, const ptx_operand *o, ptx_space *space, uint32_t *slot) {
    vgpu_record *r = d->out;
    if (o->kind != PTX_ADDRESS)
        return tess_vgpu_refuse(d, "an address in [] was expected");
    r->offset = (int64_t)o->bits;
    *slot = VGPU_NO_SLOT;
    if (o->has_base) {
        if (tess_vgpu_type_bytes(o->type) < 4 || o->type == PTX_PRED)
            return tess_vgpu_refuse(d, "an address register has 32 or 64 bits");
        if (tess_vgpu_type_bytes(o->type) == 4)
            r->flags |= VGPU_ADDRESS32;
        *slot = o->slot;
        d->function->slot_read[o->slot / 64] = true;
    } else if (o->symbol) {
        int64_t base;
        uint8_t flags;
        TESS_TRY(tess_vgpu_address_of(d, o->symbol, &base, &flags));
        r->offset += base;
        r->flags |= flags;
        if (*space == PTX_GENERIC)
            r->offset += window_of(o->symbol->space);
        else if (o->symbol->space != *space)
            return tess_vgpu_refuse(d, "%.*s lies in another space", o->symbol->length, o->symbol->name);
        if (*space == PTX_PARAM && o->symbol->entry_param)
            r->mode = 1; /* of the launch, not of the frame */
    }
    if (*space == PTX_PARAM && o->has_base)
        r->mode = 1;
    return TESS_OK;
}

static tess_status vector(vgpu_decoder *d, const ptx_operand *o, ptx_type type, bool load) {
    vgpu_record *r = d->out;
    uint32_t *field[] = {load ? &r->d : &r->a, load ? &r->a : &r->b, load ? &r->b : &r->c, load ? &r->c : &r->d};
    int count = d->in->flags & PTX_V4 ? 4 : d->in->flags & PTX_V2 ? 2 : 1;
    if ((count > 1) != (o->kind == PTX_VECTOR) || (count > 1 && o->elements != count))
        return tess_vgpu_refuse(d, "%d registers for a vector of %d", o->kind == PTX_VECTOR ? o->elements : 1, count);
    int widest = 0;
    for (int i = 0; i < count; i++) {
        const ptx_operand *e = count > 1 ? &o->element[i] : o;
        int bytes = e->kind == PTX_REG ? tess_vgpu_type_bytes(e->type) : 0;
        if (load)
            TESS_TRY(tess_vgpu_destination(d, e, type, true, field[i]));
        else
            TESS_TRY(tess_vgpu_source(d, e, type, true, field[i]));
        if (bytes && widest && bytes != widest)
            return tess_vgpu_refuse(d, "the registers of a vector must be of one width");
        widest = bytes ? bytes : widest;
    }
    int own = tess_vgpu_type_bytes(type);
    r->register_bytes = (uint8_t)(widest ? widest : own < 2 ? 2 : own);
    r->count = (uint8_t)count;
    if (count * own > 16)
        return tess_vgpu_refuse(d, "an access of %d bytes a lane: the limit is 16", count * own);
    return TESS_OK;
}

static tess_status copy_async(vgpu_decoder *d) {
    const ptx_instruction *in = d->in;
    vgpu_record *r = d->out;
    if (in->mode_count == 0 || in->modes[0] != PTX_ASYNC)
        return tess_vgpu_refuse(d, "only cp.async is supported");
    r->run = tess_vgpu_nothing;
    if (in->mode_count > 1) /* commit_group, wait_group, wait_all */
        return TESS_OK;
    if (in->operand_count < 3 || in->operand_count > 4 || in->space != PTX_SHARED || in->second_space != PTX_GLOBAL ||
        in->operand[2].kind != PTX_IMMEDIATE || (in->operand[2].bits != 4 && in->operand[2].bits != 8 && in->operand[2].bits != 16))
        return tess_vgpu_refuse(d, "cp.async copies 4, 8 or 16 bytes from global to shared memory");
    ptx_space from = PTX_GLOBAL, to = PTX_SHARED;
    TESS_TRY(address(d, &in->operand[1], &from, &r->a));
    if (r->flags & VGPU_ADDRESS32)
        return tess_vgpu_refuse(d, "a global address has 64 bits");
    int64_t source_offset = r->offset;
    TESS_TRY(address(d, &in->operand[0], &to, &r->e));
    if (source_offset != (int32_t)source_offset)
        return tess_vgpu_refuse(d, "the offset of the source is too large");
    r->target = (uint32_t)source_offset;
    r->bytes = (uint8_t)in->operand[2].bits;
    r->count = 1;
    r->b = VGPU_NO_SLOT;
    if (in->operand_count == 4)
        TESS_TRY(tess_vgpu_source(d, &in->operand[3], PTX_B32, false, &r->b));
    r->space = PTX_SHARED;
    r->run = tess_vgpu_copy_async;
    return TESS_OK;
}

tess_status tess_vgpu_decode_memory(vgpu_decoder *d) {
    const ptx_instruction *in = d->in;
    vgpu_record *r = d->out;
    ptx_space space = in->space;
    ptx_type type = in->types[0];
    if (in->op == PTX_OP_CP)
        return copy_async(d);
    if (in->type_count != 1 || type == PTX_PRED || type == PTX_B128)
        return tess_vgpu_refuse(d, "one type of 8 to 64 bits is needed");
    r->mode = 0;
    r->bytes = (uint8_t)tess_vgpu_type_bytes(type);
    r->flags |= (type >= PTX_S8 && type <= PTX_S64 ? VGPU_SIGNED : 0) | (in->flags & PTX_VOLATILE ? VGPU_VOLATILE : 0);
    bool load = in->op == PTX_OP_LD, store = in->op == PTX_OP_ST;
    int want = load || store || in->op == PTX_OP_RED ? 2 : in->modes[0] == PTX_CAS ? 4 : 3;
    if (in->operand_count != want)
        return tess_vgpu_refuse(d, "%d operands where %d are needed", in->operand_count, want);
    if (load || store) {
        TESS_TRY(vector(d, &in->operand[load ? 0 : 1], type, load));
        TESS_TRY(address(d, &in->operand[load ? 1 : 0], &space, &r->e));
        r->run = load ? tess_vgpu_load_lanes : tess_vgpu_store_lanes;
        if (space == PTX_PARAM) {
            bool launch = r->mode == 1;
            if (launch && !load)
                return tess_vgpu_refuse(d, "a kernel's parameters cannot be written");
            if (launch && r->e == VGPU_NO_SLOT) {
                if (r->offset < 0 || r->offset + r->bytes * r->count > d->function->param_bytes)
                    return tess_vgpu_refuse(d, "outside the %lld bytes of parameters", (long long)d->function->param_bytes);
                r->run = tess_vgpu_load_param;
            }
        }
        if (space == PTX_CONST && store)
            return tess_vgpu_refuse(d, "constant memory cannot be written");
    } else {
        if (in->flags & (PTX_V2 | PTX_V4) || in->mode_count != 1 || !tess_vgpu_atomic_known(in->modes[0], type))
            return tess_vgpu_refuse(d, "this atomic operation is not supported");
        if (space == PTX_CONST || space == PTX_PARAM || space == PTX_LOCAL)
            return tess_vgpu_refuse(d, "atomic operations are for global and shared memory");
        bool red = in->op == PTX_OP_RED;
        const ptx_operand *o = in->operand;
        if (red)
            r->flags |= VGPU_UNUSED;
        else
            TESS_TRY(tess_vgpu_destination(d, &o[0], type, false, &r->d));
        if (!red && o[0].kind == PTX_SINK)
            r->flags |= VGPU_UNUSED;
        TESS_TRY(address(d, &o[red ? 0 : 1], &space, &r->e));
        TESS_TRY(tess_vgpu_source(d, &o[red ? 1 : 2], type, false, &r->a));
        if (in->modes[0] == PTX_CAS)
            TESS_TRY(tess_vgpu_source(d, &o[3], type, false, &r->b));
        const ptx_operand *value = &o[red ? 1 : 2];
        r->target = value->kind == PTX_IMMEDIATE && value->bits == 1; /* adding 1 in shared memory has an instruction of its own */
        r->mode = (uint8_t)in->modes[0];
        r->count = (uint8_t)type;
        r->run = tess_vgpu_atomic_lanes;
    }
    r->space = (uint8_t)space;
    return TESS_OK;
}

/* ---- calls, barriers ---- */

static tess_status copies(vgpu_decoder *d, const ptx_operand *group, ptx_symbol **formal, int count, bool results, vgpu_copy **list) {
    if ((group ? group->elements : 0) != count)
        return tess_vgpu_refuse(d, "%d %s where the function has %d", group ? group->elements : 0, results ? "results" : "arguments", count);
    *list = count ? tess_vgpu_arena(d->module, (size_t)count * sizeof **list) : NULL;
    if (count && !*list)
        return TESS_ERR_MEMORY;
    for (int i = 0; i < count; i++) {
        const ptx_operand *o = &group->element[i];
        if (o->kind != PTX_SYMBOL || !o->symbol || o->symbol->space != PTX_PARAM || o->symbol->entry_param)
            return tess_vgpu_refuse(d, "arguments and results must be .param variables");
        if (o->symbol->size != formal[i]->size)
            return tess_vgpu_refuse(d, "%llu bytes for a parameter of %llu", (unsigned long long)o->symbol->size,
                                    (unsigned long long)formal[i]->size);
        int64_t here = (int64_t)o->symbol->address, there = (int64_t)formal[i]->address;
        (*list)[i] = (vgpu_copy){results ? there : here, results ? here : there, (int64_t)formal[i]->size};
    }
    return TESS_OK;
}

tess_status tess_vgpu_decode_call(vgpu_decoder *d) {
    const ptx_instruction *in = d->in;
    tess_vgpu_module *m = d->module;
    int at = 0;
    const ptx_operand *results = in->operand_count && in->operand[0].kind == PTX_GROUP ? &in->operand[at++] : NULL;
    const ptx_operand *name = at < in->operand_count ? &in->operand[at++] : NULL;
    const ptx_operand *arguments = at < in->operand_count && in->operand[at].kind == PTX_GROUP ? &in->operand[at++] : NULL;
    if (!name || name->kind != PTX_SYMBOL || at != in->operand_count)
        return tess_vgpu_refuse(d, "only direct calls are supported");
    ptx_symbol *s = tess_vgpu_find(m, name->name, name->name_length);
    if (!s || s->kind != PTX_FUNCTION)
        return tess_vgpu_refuse(d, "there is no function \"%.*s\"", name->name_length, name->name);
    if (!s->function->defined)
        return tess_vgpu_refuse(d, "the function \"%.*s\" is declared but not in this module", s->length, s->name);
    if (s->function->entry)
        return tess_vgpu_refuse(d, "a kernel cannot be called");
    if (!tess_vgpu_arena_grow(m, (void **)&m->sites, m->site_count, &m->site_room, sizeof *m->sites))
        return TESS_ERR_MEMORY;
    vgpu_call_site *site = &m->sites[m->site_count];
    *site = (vgpu_call_site){.callee = s->function, .argument_count = s->function->param_count, .result_count = s->function->result_count};
    TESS_TRY(copies(d, arguments, s->function->params, s->function->param_count, false, &site->arguments));
    TESS_TRY(copies(d, results, s->function->results, s->function->result_count, true, &site->results));
    d->out->target = (uint32_t)m->site_count++;
    m->has_calls = true;
    return TESS_OK;
}

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
