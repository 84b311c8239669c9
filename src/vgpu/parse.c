/* SPDX-License-Identifier: Apache-2.0
 * parse.c - a PTX module: directives, variables with their initial values, functions and their bodies. Instructions: parse_instruction.c.
 *
 * Recursive descent, one token of look-ahead (parser->token). Both dialects of CUDA 13 are read: registers typed by use (.f32) and by size only
 * (.b32). */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "vgpu/machine.h"

tess_status tess_vgpu_error(const ptx_parser *parser, const char *format, ...) {
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    const ptx_token *t = &parser->token;
    if (t->kind == PTX_END)
        return tess_fail(TESS_ERR_ARGUMENT, "PTX line %d, column %d, at the end of the text: %s", t->line, t->column, what);
    return tess_fail(TESS_ERR_ARGUMENT, "PTX line %d, column %d, at \"%.*s\": %s", t->line, t->column, t->length > 60 ? 60 : t->length, t->at, what);
}

tess_status tess_vgpu_next(ptx_parser *parser) { return tess_vgpu_lex(&parser->token, &parser->cursor, &parser->line, &parser->line_start); }

static bool is_mark(const ptx_parser *p, char c) { return p->token.kind == PTX_MARK && p->token.bits == (unsigned char)c; }
static bool is_name(const ptx_parser *p, const char *name) {
    return p->token.kind == PTX_NAME && (int)strlen(name) == p->token.length && memcmp(p->token.at, name, strlen(name)) == 0;
}
static tess_status expect(ptx_parser *p, char c) {
    if (!is_mark(p, c))
        return tess_vgpu_error(p, "'%c' was expected", c);
    return tess_vgpu_next(p);
}
static tess_status expect_name(ptx_parser *p, const char **name, int *length) {
    *name = NULL;
    *length = 0;
    if (p->token.kind != PTX_NAME)
        return tess_vgpu_error(p, "a name was expected");
    *name = p->token.at;
    *length = p->token.length;
    return tess_vgpu_next(p);
}
static tess_status expect_integer(ptx_parser *p, uint64_t *value) {
    *value = 0;
    if (p->token.kind != PTX_INTEGER)
        return tess_vgpu_error(p, "an integer was expected");
    *value = p->token.bits;
    return tess_vgpu_next(p);
}
/* Skips to the mark that ends a list we do not need. */
static tess_status skip_past(ptx_parser *p, char end) {
    while (!is_mark(p, end)) {
        if (p->token.kind == PTX_END)
            return tess_vgpu_error(p, "'%c' was expected", end);
        TESS_TRY(tess_vgpu_next(p));
    }
    return tess_vgpu_next(p);
}

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

/* ---- variables ---- */

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
        if (!of || of->kind != PTX_VARIABLE || (of->space != PTX_GLOBAL && of->space != PTX_CONST))
            return tess_vgpu_error(p, "only addresses of .global and .const variables can be initial values");
        TESS_TRY(expect_name(p, &name, &length));
        if (generic)
            TESS_TRY(expect(p, ')'));
        bits = of->address + (of->space == PTX_CONST ? (generic ? VGPU_CONST_WINDOW : 0) : 0);
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

/* The part after the space: [.align N] [.vN] .type name[n]... [= values]. Leaves the symbol declared and, unless it is a kernel's parameter, placed.
 */
static tess_status variable(ptx_parser *p, ptx_space space, bool external, int depth, bool entry_param, ptx_symbol **declared) {
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

/* .reg .type name, name<count>, ... ; */
static tess_status registers(ptx_parser *p) {
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

/* ---- functions ---- */

static tess_status location(ptx_parser *p) { /* .loc file line column [, function_name name, inlined_at file line column] */
    uint64_t v[3];
    for (int i = 0; i < 3; i++)
        TESS_TRY(expect_integer(p, &v[i]));
    while (is_mark(p, ',')) {
        TESS_TRY(tess_vgpu_next(p));
        if (is_name(p, "inlined_at")) {
            uint64_t at[3];
            TESS_TRY(tess_vgpu_next(p));
            for (int i = 0; i < 3; i++)
                TESS_TRY(expect_integer(p, &at[i]));
        } else { /* function_name label [+ offset] */
            TESS_TRY(tess_vgpu_next(p));
            TESS_TRY(tess_vgpu_next(p));
            if (is_mark(p, '+')) {
                TESS_TRY(tess_vgpu_next(p));
                TESS_TRY(tess_vgpu_next(p));
            }
        }
    }
    if (v[1] != 0) { /* line 0: none of its own, the one before stays */
        p->file = (int)(v[0] & 255);
        p->source_line = (int)v[1];
    }
    return TESS_OK;
}

static tess_status file_directive(ptx_parser *p) {
    uint64_t number, ignored;
    TESS_TRY(expect_integer(p, &number));
    if (p->token.kind != PTX_STRING)
        return tess_vgpu_error(p, "the name of the file was expected");
    if (number < 256) {
        p->module->file_name[number] = p->token.at + 1;
        p->module->file_name_length[number] = p->token.length - 2;
    }
    TESS_TRY(tess_vgpu_next(p));
    while (is_mark(p, ',')) {
        TESS_TRY(tess_vgpu_next(p));
        TESS_TRY(expect_integer(p, &ignored));
    }
    return TESS_OK;
}

static tess_status label(ptx_parser *p, const ptx_token *name) {
    ptx_function *f = p->function;
    ptx_symbol *s = tess_vgpu_declare(p->module, name->at, name->length, PTX_LABEL, p->depth);
    if (!s || !tess_vgpu_arena_grow(p->module, (void **)&f->labels, f->label_count, &f->label_room, sizeof *f->labels))
        return TESS_ERR_MEMORY;
    s->address = (uint64_t)f->count;
    f->labels[f->label_count++] = s;
    return TESS_OK;
}

static tess_status body(ptx_parser *p) {
    p->depth = 2;
    TESS_TRY(expect(p, '{'));
    while (p->depth >= 2) {
        if (is_mark(p, '{')) {
            p->depth++;
            TESS_TRY(tess_vgpu_next(p));
        } else if (is_mark(p, '}')) {
            tess_vgpu_leave_scope(p->module, p->depth--);
            TESS_TRY(tess_vgpu_next(p));
        } else if (is_mark(p, ';')) {
            TESS_TRY(tess_vgpu_next(p));
        } else if (is_mark(p, '.')) {
            TESS_TRY(tess_vgpu_next(p));
            ptx_space space = is_name(p, "local") ? PTX_LOCAL : is_name(p, "shared") ? PTX_SHARED : is_name(p, "param") ? PTX_PARAM : PTX_GENERIC;
            if (is_name(p, "reg")) {
                TESS_TRY(tess_vgpu_next(p));
                TESS_TRY(registers(p));
            } else if (is_name(p, "loc")) {
                TESS_TRY(tess_vgpu_next(p));
                TESS_TRY(location(p));
            } else if (is_name(p, "pragma")) {
                TESS_TRY(skip_past(p, ';'));
            } else if (space != PTX_GENERIC) {
                TESS_TRY(tess_vgpu_next(p));
                TESS_TRY(variable(p, space, false, p->depth, false, NULL));
                TESS_TRY(expect(p, ';'));
            } else {
                return tess_vgpu_error(p, "this directive is not supported inside a function");
            }
        } else if (p->token.kind == PTX_NAME && p->cursor[strspn(p->cursor, " \t")] == ':' && p->cursor[strspn(p->cursor, " \t") + 1] != ':') {
            ptx_token name = p->token;
            TESS_TRY(tess_vgpu_next(p));
            TESS_TRY(tess_vgpu_next(p));
            TESS_TRY(label(p, &name));
        } else {
            TESS_TRY(tess_vgpu_parse_instruction(p));
        }
    }
    return TESS_OK;
}

/* (.param ..., .param ...): of a kernel into its parameter block, of a function into its stack frame. */
static tess_status parameters(ptx_parser *p, ptx_symbol ***list, int *count) {
    int room = 0;
    *count = 0;
    TESS_TRY(expect(p, '('));
    while (!is_mark(p, ')')) {
        TESS_TRY(expect(p, '.'));
        if (!is_name(p, "param"))
            return tess_vgpu_error(p, "parameters must be in .param space");
        TESS_TRY(tess_vgpu_next(p));
        if (!tess_vgpu_arena_grow(p->module, (void **)list, *count, &room, sizeof **list))
            return TESS_ERR_MEMORY;
        TESS_TRY(variable(p, PTX_PARAM, false, 1, p->function->entry, &(*list)[*count]));
        ++*count;
        if (!is_mark(p, ','))
            break;
        TESS_TRY(tess_vgpu_next(p));
    }
    return expect(p, ')');
}

static tess_status function(ptx_parser *p, bool entry) {
    tess_vgpu_module *m = p->module;
    ptx_function *f = tess_vgpu_arena(m, sizeof *f);
    if (!f)
        return TESS_ERR_MEMORY;
    f->entry = entry;
    p->function = f;
    TESS_TRY(tess_vgpu_next(p));
    if (!entry && is_mark(p, '('))
        TESS_TRY(parameters(p, &f->results, &f->result_count));
    const char *name;
    int length;
    TESS_TRY(expect_name(p, &name, &length));
    if (is_mark(p, '('))
        TESS_TRY(parameters(p, &f->params, &f->param_count));
    if (f->param_bytes > 32764)
        return tess_vgpu_error(p, "the parameters take %lld bytes, the limit is 32764", (long long)f->param_bytes);
    ptx_symbol *s = tess_vgpu_find(m, name, length);
    if (s && s->kind == PTX_FUNCTION && !s->function->defined) {
        f->symbol = s;
        m->functions[f->number = s->function->number] = f;
        s->function = f;
    } else if (s) {
        return tess_vgpu_error(p, "%.*s is declared twice", length, name);
    }
    while (is_mark(p, '.')) { /* .maxntid 256, 1, 1 and the like: promises to the compiler */
        TESS_TRY(tess_vgpu_next(p));
        TESS_TRY(tess_vgpu_next(p));
        while (p->token.kind == PTX_INTEGER || is_mark(p, ',') || p->token.kind == PTX_STRING)
            TESS_TRY(tess_vgpu_next(p));
    }
    if (is_mark(p, ';')) {
        TESS_TRY(tess_vgpu_next(p));
    } else {
        f->defined = true;
        TESS_TRY(body(p));
    }
    tess_vgpu_leave_scope(m, 1); /* only now the function's own name: scopes are a stack, and calls find their callee when all is read */
    p->depth = 0;
    p->function = NULL;
    if (!s) {
        f->symbol = tess_vgpu_declare(m, name, length, PTX_FUNCTION, 0);
        if (!f->symbol || !tess_vgpu_arena_grow(m, (void **)&m->functions, m->function_count, &m->function_room, sizeof *m->functions))
            return TESS_ERR_MEMORY;
        f->symbol->function = f;
        m->functions[f->number = m->function_count++] = f;
    }
    return TESS_OK;
}

static tess_status skip_section(ptx_parser *p) {
    TESS_TRY(skip_past(p, '{'));
    return skip_past(p, '}');
}

static tess_status directive(ptx_parser *p) {
    bool external = false;
    for (;;) {
        TESS_TRY(expect(p, '.'));
        if (is_name(p, "extern"))
            external = true;
        else if (!is_name(p, "visible") && !is_name(p, "weak") && !is_name(p, "common"))
            break;
        TESS_TRY(tess_vgpu_next(p));
    }
    if (is_name(p, "entry"))
        return function(p, true);
    if (is_name(p, "func"))
        return function(p, false);
    ptx_space space = is_name(p, "global") ? PTX_GLOBAL : is_name(p, "const") ? PTX_CONST : is_name(p, "shared") ? PTX_SHARED : PTX_GENERIC;
    if (space != PTX_GENERIC) {
        TESS_TRY(tess_vgpu_next(p));
        TESS_TRY(variable(p, space, external, 0, false, NULL));
        return expect(p, ';');
    }
    if (is_name(p, "version")) {
        TESS_TRY(tess_vgpu_next(p));
        return tess_vgpu_next(p);
    }
    if (is_name(p, "target")) {
        do {
            TESS_TRY(tess_vgpu_next(p));
            TESS_TRY(tess_vgpu_next(p));
        } while (is_mark(p, ','));
        return TESS_OK;
    }
    if (is_name(p, "address_size")) {
        uint64_t bits;
        TESS_TRY(tess_vgpu_next(p));
        if (p->token.kind == PTX_INTEGER && p->token.bits != 64)
            return tess_vgpu_error(p, "only 64-bit addresses are supported");
        return expect_integer(p, &bits);
    }
    if (is_name(p, "file")) {
        TESS_TRY(tess_vgpu_next(p));
        return file_directive(p);
    }
    if (is_name(p, "section"))
        return skip_section(p);
    if (is_name(p, "pragma"))
        return skip_past(p, ';');
    return tess_vgpu_error(p, "this directive is not supported");
}

tess_status tess_vgpu_parse(tess_vgpu_module *module) {
    ptx_parser p = {.module = module, .cursor = module->text, .line_start = module->text, .line = 1};
    TESS_TRY(tess_vgpu_next(&p));
    while (p.token.kind != PTX_END) {
        if (is_mark(&p, ';'))
            TESS_TRY(tess_vgpu_next(&p));
        else
            TESS_TRY(directive(&p));
    }
    return TESS_OK;
}
