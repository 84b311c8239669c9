/* SPDX-License-Identifier: Apache-2.0
 * decode.c - parsed instructions to records: names become slots, immediates become constants in the register file, the form chooses the handler.
 *
 * The record, 64 bytes:
 *
 *    0        8    12   16   20   24   28   32     36     40       48    52      56  57    58     59     60     61     62    63
 *   +--------+----+----+----+----+----+----+------+------+--------+-----+-------+---+----+------+------+------+------+-----+----+
 *   | run    | d  | a  | b  | c  | e  | f  |guard |target| offset |line |source |op |flow|flags |space |bytes |count |reg. |mode|
 *   +--------+----+----+----+----+----+----+------+------+--------+-----+-------+---+----+------+------+------+------+-----+----+
 *   handler   slots of the operands: d the    slot   of a   of an    of the PTX,              of the element, how
 *             result; e a second result or    or     branch address  of the                   and how many; bytes of the
 *             an address; f lanes named       none                   source                   register; which comparison, ...
 *
 * The f of a load or store is the number of its shape (observe.h). An operand is always 32 lanes in memory, constants and special registers too, so
 * that handlers have one form. */
#include "vgpu/decode.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const shapes[PTX_OPS] = {
#define OP(name, mnemonic, operands, flow, semantics) operands,
#include "vgpu/ptx.def"
#undef OP
};
static const uint8_t flows[PTX_OPS] = {
#define OP(name, mnemonic, operands, flow, semantics) PTX_##flow,
#include "vgpu/ptx.def"
#undef OP
};

tess_status tess_vgpu_refuse(const vgpu_decoder *d, const char *format, ...) {
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return tess_fail(TESS_ERR_ARGUMENT, "PTX line %d, column %d, at \"%.*s\": %s", d->in->line, d->in->column, d->in->text_length, d->in->text, what);
}

tess_status tess_vgpu_constant(vgpu_decoder *d, uint64_t bits, int bytes, uint32_t *slot) {
    ptx_function *f = d->function;
    bits = bytes >= 8 ? bits : bits & ((1ull << (8 * bytes)) - 1);
    for (int i = 0; i < f->constant_count; i++)
        if (f->constants[i].bits == bits && f->constants[i].bytes == bytes) {
            *slot = f->constants[i].slot;
            return TESS_OK;
        }
    if (!tess_vgpu_arena_grow(d->module, (void **)&f->constants, f->constant_count, &f->constant_room, sizeof *f->constants))
        return TESS_ERR_MEMORY;
    *slot = tess_vgpu_new_slot(f, bytes == 8 ? PTX_B64 : bytes == 4 ? PTX_B32 : PTX_B16);
    f->constants[f->constant_count++] = (ptx_constant){*slot, bytes, bits};
    return TESS_OK;
}

tess_status tess_vgpu_list(vgpu_decoder *d, int count, uint32_t *number, uint32_t **list) {
    tess_vgpu_module *m = d->module;
    *number = (uint32_t)m->list_count;
    for (int i = 0; i < count; i++) {
        if (!tess_vgpu_arena_grow(m, (void **)&m->lists, m->list_count, &m->list_room, sizeof *m->lists))
            return TESS_ERR_MEMORY;
        m->list_count++;
    }
    *list = m->lists + *number;
    return TESS_OK;
}

static uint64_t literal_bits(const ptx_operand *o, ptx_type type) {
    double wide;
    float narrow;
    uint32_t bits;
    if (o->literal == PTX_FLOAT64 && type == PTX_F32) {
        memcpy(&wide, &o->bits, 8);
        narrow = (float)wide;
        memcpy(&bits, &narrow, 4);
        return bits;
    }
    if (o->literal == PTX_FLOAT32 && type == PTX_F64) {
        bits = (uint32_t)o->bits;
        memcpy(&narrow, &bits, 4);
        wide = narrow;
        uint64_t all;
        memcpy(&all, &wide, 8);
        return all;
    }
    return o->bits;
}

tess_status tess_vgpu_address_of(vgpu_decoder *d, const ptx_symbol *s, int64_t *address, uint8_t *flags) {
    *address = (int64_t)s->address;
    *flags = 0;
    if (s->space == PTX_SHARED) {
        if (s->dynamic)
            *flags = VGPU_DYNAMIC;
        else if (s->function)
            *address += (d->module->shared_bytes + 127) / 128 * 128;
    } else if (s->space == PTX_LOCAL || (s->space == PTX_PARAM && !s->entry_param)) {
        *flags = VGPU_FRAME;
    }
    return TESS_OK;
}

tess_status tess_vgpu_source(vgpu_decoder *d, const ptx_operand *o, ptx_type type, bool wider, uint32_t *slot) {
    int bytes = tess_vgpu_type_bytes(type);
    if (o->kind == PTX_REG) {
        if ((o->type == PTX_PRED) != (type == PTX_PRED))
            return tess_vgpu_refuse(d, "a predicate and a number are not exchangeable");
        int has = tess_vgpu_type_bytes(o->type);
        if (has != bytes && !(wider && has > bytes) && !(bytes == 1 && has == 2))
            return tess_vgpu_refuse(d, "an operand of %d bits where %d are needed", 8 * has, 8 * bytes);
        *slot = o->slot;
        d->function->slot_read[o->slot / 64] = true;
        if (o->negated)
            d->out->flags |= VGPU_NOT_C;
        return TESS_OK;
    }
    if (o->kind == PTX_IMMEDIATE && type == PTX_PRED)
        return tess_vgpu_constant(d, o->bits ? 0xffffffffu : 0, 4, slot);
    if (o->kind == PTX_IMMEDIATE)
        return tess_vgpu_constant(d, literal_bits(o, type), bytes < 2 ? 2 : bytes, slot);
    if (o->kind == PTX_SPECIAL) {
        int has = tess_vgpu_special_bytes(o->special);
        if (has < bytes)
            return tess_vgpu_refuse(d, "a special register of %d bits where %d are needed", 8 * has, 8 * bytes);
        if (!d->function->special[o->special])
            d->function->special[o->special] = tess_vgpu_new_slot(d->function, has == 8 ? PTX_B64 : PTX_B32);
        *slot = d->function->special[o->special];
        return TESS_OK;
    }
    if (o->kind == PTX_SYMBOL && o->symbol) {
        int64_t address;
        uint8_t flags;
        TESS_TRY(tess_vgpu_address_of(d, o->symbol, &address, &flags));
        if (flags)
            return tess_vgpu_refuse(d, "the address of %.*s is known only to mov", o->symbol->length, o->symbol->name);
        return tess_vgpu_constant(d, (uint64_t)address + o->bits, bytes, slot);
    }
    if (o->kind == PTX_SYMBOL)
        return tess_vgpu_refuse(d, "there is no variable \"%.*s\"", o->name_length, o->name);
    return tess_vgpu_refuse(d, "an operand is not of a kind that fits");
}

tess_status tess_vgpu_destination(vgpu_decoder *d, const ptx_operand *o, ptx_type type, bool wider, uint32_t *slot) {
    if (o->kind == PTX_SINK) {
        *slot = d->sink;
        return TESS_OK;
    }
    if (o->kind != PTX_REG)
        return tess_vgpu_refuse(d, "the result needs a register");
    int bytes = tess_vgpu_type_bytes(type), has = tess_vgpu_type_bytes(o->type);
    if ((o->type == PTX_PRED) != (type == PTX_PRED))
        return tess_vgpu_refuse(d, "a predicate and a number are not exchangeable");
    if (has != bytes && !(wider && has > bytes) && !(bytes == 1 && has == 2))
        return tess_vgpu_refuse(d, "a result of %d bits into a register of %d", 8 * bytes, 8 * has);
    *slot = o->slot;
    return TESS_OK;
}

static ptx_type letter_type(const ptx_instruction *in, char letter) {
    ptx_type type = in->types[0];
    bool wide = in->mode_count && in->modes[0] == PTX_WIDE;
    switch (letter) {
    case 'd':
    case 'D': return !wide ? type : tess_vgpu_type_bytes(type) == 2 ? PTX_B32 : PTX_B64;
    case 'x': return in->type_count > 1 ? in->types[1] : type;
    case 'u':
    case 'U': return PTX_B32;
    case 'p':
    case 'P': return PTX_PRED;
    case 'k': return PTX_B64;
    default: return type;
    }
}

/* Operands by the shape of the opcode list: the first is the result, sources follow into a, b, c, e, f; what p|q adds goes to e, named lanes to f. */
static tess_status operands(vgpu_decoder *d) {
    const ptx_instruction *in = d->in;
    uint32_t *field[] = {&d->out->d, &d->out->a, &d->out->b, &d->out->c, &d->out->e, &d->out->f};
    const char *shape = shapes[in->op];
    bool optional = false;
    int given = 0;
    for (; *shape; shape++) {
        if (*shape == '?') {
            optional = true;
            continue;
        }
        if (given == in->operand_count) {
            if (optional)
                break;
            return tess_vgpu_refuse(d, "%d operands are too few", in->operand_count);
        }
        const ptx_operand *o = &in->operand[given];
        uint32_t *slot = field[given];
        if (flows[in->op] == PTX_CONVERGE && shape[1] == 0)
            slot = &d->out->f;
        ptx_type type = letter_type(in, *shape);
        if (type == PTX_NO_TYPE)
            return tess_vgpu_refuse(d, "the type is missing");
        if (strchr("dUQP", *shape) && given == 0) {
            bool wider = in->op == PTX_OP_CVT;
            TESS_TRY(tess_vgpu_destination(d, o, type, wider, slot));
            if (o->elements && *shape != 'd')
                TESS_TRY(tess_vgpu_destination(d, o->element, PTX_PRED, false, &d->out->e));
        } else {
            TESS_TRY(tess_vgpu_source(d, o, type, in->op == PTX_OP_CVT, slot));
        }
        given++;
    }
    if (given != in->operand_count)
        return tess_vgpu_refuse(d, "%d operands are too many", in->operand_count);
    return TESS_OK;
}

static tess_status convert(vgpu_decoder *d) {
    const ptx_instruction *in = d->in;
    vgpu_record *r = d->out;
    if (in->type_count != 2 || !tess_vgpu_convert_known(in->types[0], in->types[1], in->flags))
        return tess_vgpu_refuse(d, "this conversion is not supported");
    r->bytes = (uint8_t)in->types[0];
    r->count = (uint8_t)in->types[1];
    r->target = in->flags;
    const ptx_operand *to = &in->operand[0];
    r->register_bytes = (uint8_t)(to->kind == PTX_REG ? tess_vgpu_type_bytes(to->type) : tess_vgpu_type_bytes(in->types[0]));
    if (!r->run) /* exec_*.c may have a fast one where the register is as wide as the type */
        r->run = tess_vgpu_convert;
    const ptx_operand *from = &in->operand[1];
    int least = tess_vgpu_type_bytes(in->types[0]) < 2 ? 2 : tess_vgpu_type_bytes(in->types[0]);
    int from_least = tess_vgpu_type_bytes(in->types[1]) < 2 ? 2 : tess_vgpu_type_bytes(in->types[1]);
    r->offset = from->kind == PTX_REG       ? tess_vgpu_type_bytes(from->type)
                : from->kind == PTX_SPECIAL ? tess_vgpu_special_bytes(from->special)
                                            : from_least;
    r->offset = r->offset < 2 ? 2 : r->offset;
    if (r->register_bytes != least || r->offset != from_least)
        r->run = tess_vgpu_convert;
    bool pair = in->types[0] == PTX_F16X2 || in->types[0] == PTX_BF16X2;
    if (in->operand_count != (pair ? 3 : 2))
        return tess_vgpu_refuse(d, "%d operands do not fit", in->operand_count);
    return TESS_OK;
}

static tess_status decode_one(vgpu_decoder *d) {
    const ptx_instruction *in = d->in;
    vgpu_record *r = d->out;
    *r = (vgpu_record){.d = d->sink, .a = d->sink, .b = d->sink, .c = VGPU_NO_SLOT, .e = VGPU_NO_SLOT, .f = VGPU_NO_SLOT, .guard = VGPU_NO_SLOT};
    r->line = (uint32_t)in->line;
    r->source = (uint32_t)in->file << 24 | ((uint32_t)in->source_line & 0xffffff);
    r->op = (uint8_t)in->op;
    r->flow = flows[in->op];
    r->mode = (uint8_t)in->modes[0];
    if (in->guarded) {
        r->guard = in->guard;
        r->flags |= in->guard_negated ? VGPU_NEGATED : 0;
        d->function->slot_read[in->guard / 64] = true;
    }
    switch (in->op) {
    case PTX_OP_MOV: return tess_vgpu_decode_mov(d);
    case PTX_OP_CVTA: return tess_vgpu_decode_cvta(d);
    case PTX_OP_LD:
    case PTX_OP_ST:
    case PTX_OP_ATOM:
    case PTX_OP_RED:
    case PTX_OP_CP: return tess_vgpu_decode_memory(d);
    case PTX_OP_CALL: return tess_vgpu_decode_call(d);
    case PTX_OP_BAR:
    case PTX_OP_BARRIER: return tess_vgpu_decode_barrier(d);
    case PTX_OP_BRA: return tess_vgpu_decode_branch(d);
    case PTX_OP_BRX: return tess_vgpu_decode_table(d);
    case PTX_OP_MBARRIER: return tess_vgpu_decode_mbarrier(d);
    case PTX_OP_LDMATRIX:
    case PTX_OP_STMATRIX:
    case PTX_OP_MOVMATRIX:
    case PTX_OP_MMA:
    case PTX_OP_WMMA: return tess_vgpu_decode_matrix(d);
    case PTX_OP_RET:
    case PTX_OP_EXIT:
    case PTX_OP_TRAP: return operands(d);
    case PTX_OP_PREFETCH:
    case PTX_OP_PREFETCHU:
    case PTX_OP_APPLYPRIORITY:
    case PTX_OP_PMEVENT:
    case PTX_OP_MEMBAR:
    case PTX_OP_FENCE:
    case PTX_OP_BRKPT:
    case PTX_OP_SETMAXNREG:
    case PTX_OP_GRIDDEPCONTROL:
    case PTX_OP_DISCARD:
    case PTX_OP_NANOSLEEP: r->run = tess_vgpu_nothing; return TESS_OK;
    default: break;
    }
    TESS_TRY(operands(d));
    if (in->op == PTX_OP_ISSPACEP) {
        r->space = (uint8_t)in->space;
        r->run = tess_vgpu_is_space;
        return TESS_OK;
    }
    uint32_t flags = in->flags & ~(uint32_t)(PTX_SYNC | PTX_UNI | PTX_NOFTZ);
    if (in->op != PTX_OP_CVT)
        flags &= ~(uint32_t)PTX_RN;                      /* the default of all arithmetic */
    if (in->op == PTX_OP_SETP || in->op == PTX_OP_SET) { /* the comparison chooses the handler, the connective is looked up when it runs */
        r->count = (uint8_t)in->modes[1];
        r->register_bytes = (uint8_t)in->types[0];
    }
    ptx_type type = in->op == PTX_OP_SET ? in->types[1] : in->types[0];
    r->target = flags; /* for handlers that serve several forms */
    r->run = tess_vgpu_select(d->slot, in->op, type, in->op == PTX_OP_SET ? PTX_NO_TYPE : in->types[1], in->modes[0], flags);
    if (in->op == PTX_OP_SET && in->types[0] != PTX_U32 && in->types[0] != PTX_S32 && in->types[0] != PTX_F32)
        r->run = NULL;
    if (!r->run)
        r->run = in->op == PTX_OP_CVT ? NULL : tess_vgpu_slow_handler(in->op, type, flags);
    if (!r->run && flows[in->op] == PTX_CONVERGE)
        r->run = tess_vgpu_lane_handler(in->op, type, in->modes[0]);
    if (!r->run)
        r->run = tess_vgpu_rare_handler(in, r);
    if (in->op == PTX_OP_CVT)
        TESS_TRY(convert(d));
    if (!r->run)
        return tess_vgpu_refuse(d, "this form of the opcode is not supported");
    return TESS_OK;
}

/* A function that cannot run, as records that do nothing: whoever looks at all records finds none of it. */
static void decode_refused(tess_vgpu_module *module, const ptx_function *f) {
    for (uint32_t i = f->first; i <= f->first + (uint32_t)f->count; i++)
        module->records[i] = (vgpu_record){.op = PTX_OP_RET, .flow = PTX_RETURN, .guard = VGPU_NO_SLOT};
}

static tess_status decode_function(tess_vgpu_module *module, ptx_function *f, tess_isa_slot slot) {
    vgpu_decoder d = {.module = module, .function = f, .slot = slot};
    tess_status status = TESS_OK;
    d.sink = tess_vgpu_new_slot(f, PTX_B64);
    f->slot_read = tess_vgpu_arena(module, f->file_bytes / 64 + 1);
    if (!f->slot_read)
        return TESS_ERR_MEMORY;
    for (int i = 0; i < f->count && !f->refused; i++) {
        d.in = &f->code[i];
        d.out = &module->records[f->first + (uint32_t)i];
        status = decode_one(&d);
        if (status == TESS_ERR_ARGUMENT)
            status = tess_vgpu_refuse_function(module, f, d.in->file, d.in->source_line);
        if (status != TESS_OK)
            return status;
    }
    if (f->refused) {
        decode_refused(module, f);
        return TESS_OK;
    }
    vgpu_record *end = &module->records[f->first + (uint32_t)f->count]; /* falling off the end returns */
    *end = (vgpu_record){
        .op = PTX_OP_RET, .flow = PTX_RETURN, .guard = VGPU_NO_SLOT, .line = f->count ? end[-1].line : 0, .source = f->count ? end[-1].source : 0};
    for (uint32_t i = f->first; i < f->first + (uint32_t)f->count; i++) /* only now is it known which results are read */
        if (module->records[i].op == PTX_OP_ATOM && !f->slot_read[module->records[i].d / 64])
            module->records[i].flags |= VGPU_UNUSED;
    return TESS_OK;
}

tess_status tess_vgpu_decode(tess_vgpu_module *module, tess_isa_slot slot) {
    uint32_t count = 0;
    for (int i = 0; i < module->function_count; i++) {
        module->functions[i]->first = count;
        if (module->functions[i]->defined)
            count += (uint32_t)module->functions[i]->count + 1;
    }
    module->record_count = count;
    module->records = tess_vgpu_arena(module, ((size_t)count + 1) * sizeof *module->records);
    module->stretch = tess_vgpu_arena(module, ((size_t)count + 1) * sizeof *module->stretch);
    if (!module->records || !module->stretch)
        return TESS_ERR_MEMORY;
    for (int i = 0; i < module->function_count; i++) {
        ptx_function *f = module->functions[i];
        if (f->entry)
            f->shared_bytes += (module->shared_bytes + 127) / 128 * 128;
        if (f->defined)
            TESS_TRY(decode_function(module, f, slot));
    }
    for (uint32_t i = count; i-- > 0;) /* functions end in a return, so no stretch goes beyond one */
        if (module->records[i].flow == PTX_PLAIN && module->records[i].guard == VGPU_NO_SLOT)
            module->stretch[i] = module->stretch[i + 1] + 1;
    return TESS_OK;
}
