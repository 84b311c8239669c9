/* SPDX-License-Identifier: Apache-2.0
 * decode_special.c - the opcodes whose operands no pattern describes: mov, cvta, memory. Calls, branches, barriers: decode_call.c; matrices and bulk
 * copies: decode_block.c. */
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
        if (s && s->kind == PTX_FUNCTION && r->bytes == 8) {
            TESS_TRY(tess_vgpu_constant(d, vgpu_code_at(s->function->number), 8, &r->a));
            r->run = tess_vgpu_select(d->slot, PTX_OP_MOV, PTX_B64, 0, 0, 0);
            return TESS_OK;
        }
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

tess_status tess_vgpu_decode_address(vgpu_decoder *d, const ptx_operand *o, ptx_space *space, uint32_t *slot) {
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
    uint32_t *field[8] = {load ? &r->d : &r->a, load ? &r->a : &r->b, load ? &r->b : &r->c, load ? &r->c : &r->d};
    int count = d->in->flags & PTX_V8 ? 8 : d->in->flags & PTX_V4 ? 4 : d->in->flags & PTX_V2 ? 2 : 1;
    if (count == 8) { /* more than a record has room for */
        uint32_t *list;
        TESS_TRY(tess_vgpu_list(d, count, &r->target, &list));
        for (int i = 0; i < count; i++)
            field[i] = &list[i];
    }
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
    if (count * own > (d->in->space == PTX_GLOBAL ? 32 : 16))
        return tess_vgpu_refuse(d, "an access of %d bytes a lane: the limit is 32 in global memory and 16 elsewhere", count * own);
    return TESS_OK;
}

static tess_status copy_async(vgpu_decoder *d) {
    const ptx_instruction *in = d->in;
    vgpu_record *r = d->out;
    if (in->mode_count == 0 || in->modes[0] != PTX_ASYNC)
        return tess_vgpu_refuse(d, "only cp.async is supported");
    r->run = tess_vgpu_nothing;
    if (in->mode_count > 1 && in->modes[1] == PTX_BULK)
        return tess_vgpu_decode_bulk(d);
    if (in->mode_count > 1) /* commit_group, wait_group, wait_all */
        return TESS_OK;
    if (in->operand_count < 3 || in->operand_count > 4 || in->space != PTX_SHARED || in->second_space != PTX_GLOBAL ||
        in->operand[2].kind != PTX_IMMEDIATE || (in->operand[2].bits != 4 && in->operand[2].bits != 8 && in->operand[2].bits != 16))
        return tess_vgpu_refuse(d, "cp.async copies 4, 8 or 16 bytes from global to shared memory");
    ptx_space from = PTX_GLOBAL, to = PTX_SHARED;
    TESS_TRY(tess_vgpu_decode_address(d, &in->operand[1], &from, &r->a));
    if (r->flags & VGPU_ADDRESS32)
        return tess_vgpu_refuse(d, "a global address has 64 bits");
    int64_t source_offset = r->offset;
    TESS_TRY(tess_vgpu_decode_address(d, &in->operand[0], &to, &r->e));
    if (source_offset != (int32_t)source_offset)
        return tess_vgpu_refuse(d, "the offset of the source is too large");
    r->target = (uint32_t)source_offset;
    r->bytes = (uint8_t)in->operand[2].bits;
    r->count = 1;
    r->b = VGPU_NO_SLOT;
    if (in->operand_count == 4)
        TESS_TRY(tess_vgpu_source(d, &in->operand[3], PTX_B32, false, &r->b));
    r->flags |= in->flags & PTX_CG ? VGPU_PAST_L1 : 0;
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
        TESS_TRY(tess_vgpu_decode_address(d, &in->operand[load ? 1 : 0], &space, &r->e));
        r->run = NULL;
        if (r->bytes == r->register_bytes && r->bytes >= 4)
            r->run = tess_vgpu_select(d->slot, in->op, (int)space, 8 * r->bytes, r->count, 0);
        if (r->run && space != PTX_PARAM)
            r->f = d->module->shape_count++;
        else
            r->run = load ? tess_vgpu_load_lanes : tess_vgpu_store_lanes;
        if (space == PTX_PARAM) {
            bool launch = r->mode == 1;
            if (launch && !load)
                return tess_vgpu_refuse(d, "a kernel's parameters cannot be written");
            if (launch && r->e == VGPU_NO_SLOT) {
                if (r->offset < 0 || r->offset + r->bytes * r->count > d->function->param_bytes)
                    return tess_vgpu_refuse(d, "outside the %lld bytes of parameters", (long long)d->function->param_bytes);
                r->run = NULL;
                if (r->bytes == r->register_bytes && r->bytes >= 4)
                    r->run = tess_vgpu_select(d->slot, PTX_OP_LD, PTX_PARAM, 8 * r->bytes, r->count, 0);
                if (!r->run)
                    r->run = tess_vgpu_load_param;
            }
        }
        if (space == PTX_CONST && store)
            return tess_vgpu_refuse(d, "constant memory cannot be written");
    } else {
        if (in->flags & (PTX_V2 | PTX_V4 | PTX_V8) || in->mode_count != 1 || !tess_vgpu_atomic_known(in->modes[0], type))
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
        TESS_TRY(tess_vgpu_decode_address(d, &o[red ? 0 : 1], &space, &r->e));
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
