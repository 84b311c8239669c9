/* SPDX-License-Identifier: Apache-2.0
 * parse_variable.c - variables, where they are placed and what they begin with; registers. */
#include "vgpu/parse.h"

static ptx_type type_named(const ptx_parser *p) {
    for (int t = PTX_NO_TYPE + 1; t < PTX_TYPES; t++)
        if (is_name(p, tess_vgpu_type_name((ptx_type)t)))
            return (ptx_type)t;
    return PTX_NO_TYPE;
}

/* Slot 0 is left free so that 0 can mean "none"; slots are whole cache lines. */
uint32_t tess_vgpu_new_slot(ptx_function *function, ptx_type type) {
    uint32_t slot = function->file_bytes ? function->file_bytes : 64, bytes = type == PTX_PRED ? 64 : (uint32_t)tess_vgpu_type_bytes(type) * 32;
    function->file_bytes = slot + (bytes < 64 ? 64 : bytes);
    return slot;
}

static uint64_t round_up(uint64_t value, uint64_t align) { return (value + align - 1) / align * align; }

/* Places a variable in its space. A function's own shared memory starts at 0 of its own count and is moved behind the module's once that is known. */
static tess_status place(ptx_parser *p, ptx_symbol *s, bool defined) {
    tess_vgpu_module *m = p->module;
    ptx_function *f = p->function;
    s->function = f;
    if (s->space == PTX_GLOBAL) {
        if (!defined)
            return tess_vgpu_error(p, "%.*s is .extern: linking modules is not supported", s->length, s->name);
        TESS_TRY(tess_vgpu_reserve(m->machine, (int64_t)s->size, (int64_t)(s->align > 256 ? s->align : 256), s->name, s->length, &s->address));
        if (!tess_vgpu_arena_grow(m, (void **)&m->globals, m->global_count, &m->global_room, sizeof *m->globals))
            return TESS_ERR_MEMORY;
        m->globals[m->global_count++] = s;
    } else if (s->space == PTX_CONST) {
        s->address = round_up((uint64_t)m->constant_bytes, s->align);
        if (s->size > PTX_CONSTANT_LIMIT || s->address + s->size > PTX_CONSTANT_LIMIT)
            return tess_vgpu_error(p, "constant memory would be larger than its %d bytes", PTX_CONSTANT_LIMIT);
        if (!m->constants && !(m->constants = tess_vgpu_arena(m, PTX_CONSTANT_LIMIT)))
            return TESS_ERR_MEMORY;
        m->constant_bytes = (int64_t)(s->address + s->size);
    } else if (s->space == PTX_SHARED) {
        bool own = f && f->entry;
        int64_t *bytes = own ? &f->shared_bytes : &m->shared_bytes;
        s->function = own ? f : NULL;
        if (s->dynamic)
            return TESS_OK;
        s->address = round_up((uint64_t)*bytes, s->align);
        if (s->size > 1 << 24)
            return tess_vgpu_error(p, "%llu bytes of shared memory are more than any card has", (unsigned long long)s->size);
        *bytes = (int64_t)(s->address + s->size);
        if (!tess_vgpu_arena_grow(m, (void **)&m->shared, m->shared_count, &m->shared_room, sizeof *m->shared))
            return TESS_ERR_MEMORY;
        m->shared[m->shared_count++] = s;
    } else { /* .local and .param inside a function: in the activation's stack frame */
        if (!f)
            return tess_vgpu_error(p, "this space has no variables outside functions");
        s->address = round_up((uint64_t)f->frame_bytes, s->align < 16 ? 16 : s->align);
        if (s->size > 1 << 24)
            return tess_vgpu_error(p, "%llu bytes are too many for a thread's stack", (unsigned long long)s->size);
        f->frame_bytes = (int64_t)(s->address + s->size);
    }
    return TESS_OK;
}

static tess_status write_initial(ptx_parser *p, const ptx_symbol *s, uint64_t offset, uint64_t bits, int bytes) {
    if (offset + (uint64_t)bytes > s->size)
        return tess_vgpu_error(p, "more initial values than %.*s has room for", s->length, s->name);
    if (s->space == PTX_CONST) {
        memcpy(p->module->constants + s->address + offset, &bits, (size_t)bytes);
        return TESS_OK;
    }
    return tess_vgpu_copy_in(p->module->machine, s->address + offset, &bits, bytes);
}

/* One value: a number, or the address of a variable: name, generic(name), with + or - a number. */
static tess_status initial_value(ptx_parser *p, ptx_symbol *s, uint64_t *offset) {
    int bytes = tess_vgpu_type_bytes(s->type);
    uint64_t bits = 0;
    bool minus = is_mark(p, '-');
    if (minus)
        TESS_TRY(tess_vgpu_next(p));
    if (p->token.kind == PTX_NAME) {
        bool generic = is_name(p, "generic");
        const char *name;
        int length;
        if (generic) {
            TESS_TRY(tess_vgpu_next(p));
            TESS_TRY(expect(p, '('));
        }
        ptx_symbol *of = tess_vgpu_find(p->module, p->token.at, p->token.length);
        bool code = of && of->kind == PTX_FUNCTION && bytes == 8;
        if (!code && (!of || of->kind != PTX_VARIABLE || (of->space != PTX_GLOBAL && of->space != PTX_CONST)))
            return tess_vgpu_error(p, "only addresses of functions and of .global and .const variables can be initial values");
        TESS_TRY(expect_name(p, &name, &length));
        if (generic)
            TESS_TRY(expect(p, ')'));
        bits = code ? vgpu_code_at(of->function->number) : of->address + (of->space == PTX_CONST ? (generic ? VGPU_CONST_WINDOW : 0) : 0);
        if (is_mark(p, '+') || is_mark(p, '-')) {
            bool down = is_mark(p, '-');
            uint64_t add;
            TESS_TRY(tess_vgpu_next(p));
            TESS_TRY(expect_integer(p, &add));
            bits = down ? bits - add : bits + add;
        }
    } else if (p->token.kind == PTX_INTEGER || p->token.kind == PTX_FLOAT32 || p->token.kind == PTX_FLOAT64) {
        bits = p->token.bits;
        if (p->token.kind == PTX_FLOAT64 && s->type == PTX_F32) {
            double wide;
            memcpy(&wide, &bits, 8);
            float narrow = (float)wide;
            bits = 0;
            memcpy(&bits, &narrow, 4);
        }
        if (minus)
            bits = p->token.kind == PTX_INTEGER ? -bits : bits ^ (bytes == 8 ? 1ull << 63 : 1ull << 31);
        TESS_TRY(tess_vgpu_next(p));
    } else {
        return tess_vgpu_error(p, "an initial value was expected");
    }
    TESS_TRY(write_initial(p, s, *offset, bits, bytes));
    *offset += (uint64_t)bytes;
    return TESS_OK;
}

static tess_status initial_values(ptx_parser *p, ptx_symbol *s) {
    uint64_t offset = 0;
    int open = 0;
    do {
        while (is_mark(p, '{')) {
            open++;
            TESS_TRY(tess_vgpu_next(p));
        }
        if (!is_mark(p, '}'))
            TESS_TRY(initial_value(p, s, &offset));
        while (open && is_mark(p, '}')) {
            open--;
            TESS_TRY(tess_vgpu_next(p));
        }
        if (open) {
            TESS_TRY(expect(p, ','));
        }
    } while (open);
    return TESS_OK;
}

tess_status tess_vgpu_parse_variable(ptx_parser *p, ptx_space space, bool external, int depth, bool entry_param, ptx_symbol **declared) {
    uint64_t align = 0, vector = 1, size;
    ptx_type type = PTX_NO_TYPE;
    while (is_mark(p, '.')) {
        TESS_TRY(tess_vgpu_next(p));
        if (is_name(p, "align")) {
            TESS_TRY(tess_vgpu_next(p));
            TESS_TRY(expect_integer(p, &align));
            if (align == 0 || align > 4096 || (align & (align - 1)))
                return tess_vgpu_error(p, "an alignment of %llu", (unsigned long long)align);
        } else if (is_name(p, "attribute")) {
            TESS_TRY(skip_past(p, ')'));
        } else if (is_name(p, "v2") || is_name(p, "v4")) {
            vector = p->token.at[1] == '2' ? 2 : 4;
            TESS_TRY(tess_vgpu_next(p));
        } else if (is_name(p, "ptr") || is_name(p, "global") || is_name(p, "const") || is_name(p, "shared") || is_name(p, "local")) {
            TESS_TRY(tess_vgpu_next(p));
            if (is_mark(p, '.') && strncmp(p->cursor, "align", 5) == 0) { /* of what a pointer points to, not of the parameter */
                uint64_t pointee;
                TESS_TRY(tess_vgpu_next(p));
                TESS_TRY(tess_vgpu_next(p));
                TESS_TRY(expect_integer(p, &pointee));
            }
        } else if ((type = type_named(p)) != PTX_NO_TYPE) {
            TESS_TRY(tess_vgpu_next(p));
        } else {
            return tess_vgpu_error(p, "a type was expected");
        }
    }
    if (type == PTX_NO_TYPE || type == PTX_PRED)
        return tess_vgpu_error(p, "the variable has no type");
    for (;;) {
        const char *name;
        int length;
        TESS_TRY(expect_name(p, &name, &length));
        ptx_symbol *s = tess_vgpu_declare(p->module, name, length, PTX_VARIABLE, depth);
        if (!s)
            return TESS_ERR_MEMORY;
        size = (uint64_t)tess_vgpu_type_bytes(type) * vector;
        s->type = type;
        s->space = space;
        while (is_mark(p, '[')) {
            TESS_TRY(tess_vgpu_next(p));
            uint64_t n = 0;
            if (is_mark(p, ']'))
                s->dynamic = true;
            else
                TESS_TRY(expect_integer(p, &n));
            if (TESS_MUL_OVERFLOWS(size, n, &size) || size > 1ull << 40)
                return tess_vgpu_error(p, "the variable is too large");
            TESS_TRY(expect(p, ']'));
        }
        if (s->dynamic && !(space == PTX_SHARED && external))
            return tess_vgpu_error(p, "only .extern .shared arrays may have no size");
        s->size = size;
        s->align = align ? align : (uint64_t)tess_vgpu_type_bytes(type) * vector;
        s->entry_param = entry_param;
        if (entry_param) {
            s->function = p->function;
            s->address = round_up((uint64_t)p->function->param_bytes, s->align);
            p->function->param_bytes = (int64_t)(s->address + s->size);
        } else {
            TESS_TRY(place(p, s, !external));
        }
        if (declared)
            *declared = s;
        if (is_mark(p, '=')) {
            if (space != PTX_GLOBAL && space != PTX_CONST)
                return tess_vgpu_error(p, "only .global and .const variables have initial values");
            TESS_TRY(tess_vgpu_next(p));
            TESS_TRY(initial_values(p, s));
        }
        if (declared || !is_mark(p, ','))
            return TESS_OK;
        TESS_TRY(tess_vgpu_next(p));
    }
}

/* .type name, name<count>, ... ; */
tess_status tess_vgpu_parse_registers(ptx_parser *p) {
    TESS_TRY(expect(p, '.'));
    if (is_name(p, "v2") || is_name(p, "v4"))
        return tess_vgpu_error(p, "vector registers are not supported");
    ptx_type type = type_named(p);
    if (type == PTX_NO_TYPE || type == PTX_B128)
        return tess_vgpu_error(p, "no register can have this type");
    TESS_TRY(tess_vgpu_next(p));
    for (;;) {
        const char *name;
        int length;
        uint64_t count = 0;
        TESS_TRY(expect_name(p, &name, &length));
        if (is_mark(p, '<')) {
            TESS_TRY(tess_vgpu_next(p));
            TESS_TRY(expect_integer(p, &count));
            if (count == 0 || count > 1 << 16)
                return tess_vgpu_error(p, "%llu registers", (unsigned long long)count);
            TESS_TRY(expect(p, '>'));
        }
        ptx_symbol *s = tess_vgpu_declare(p->module, name, length, count ? PTX_REGISTERS : PTX_REGISTER, p->depth);
        if (!s)
            return TESS_ERR_MEMORY;
        s->type = type;
        s->count = (uint32_t)count;
        s->slot = tess_vgpu_new_slot(p->function, type);
        for (uint64_t i = 1; i < count; i++)
            tess_vgpu_new_slot(p->function, type);
        if (p->function->file_bytes > 1u << 26)
            return tess_vgpu_error(p, "the function has too many registers");
        if (!is_mark(p, ','))
            return expect(p, ';');
        TESS_TRY(tess_vgpu_next(p));
    }
}
