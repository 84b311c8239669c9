/* SPDX-License-Identifier: Apache-2.0
 * parse.c - a PTX module: directives, functions and their bodies. Variables: parse_variable.c, instructions: parse_instruction.c.
 *
 * An instruction that is not supported makes its own function unusable, not the module: see tess_vgpu_refuse_function.
 *
 * Recursive descent, one token of look-ahead (parser->token). Both dialects of CUDA 13 are read: registers typed by use (.f32) and by size only
 * (.b32). */
#include "vgpu/parse.h"
#include <stdarg.h>
#include <stdio.h>

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

/* Code of a header counts where it was used; file 1 is the program. A header's function may be used by another one, whose own use was told before. */
static void use_of(ptx_parser *p, uint64_t v[3], const uint64_t at[3]) {
    uint64_t place[3];
    memcpy(place, v, sizeof place);
    if (v[0] == 1 || at[1] == 0)
        return;
    v[0] = at[0];
    v[1] = at[1];
    for (unsigned back = 1; v[0] != 1 && back <= TESS_COUNT(p->inlined); back++) {
        unsigned i = (p->next_inlined - back) % TESS_COUNT(p->inlined);
        if (memcmp(p->inlined[i].place, at, sizeof place) != 0)
            continue;
        memcpy(v, p->inlined[i].used, sizeof p->inlined[i].used);
        break;
    }
    unsigned next = p->next_inlined++ % TESS_COUNT(p->inlined);
    memcpy(p->inlined[next].place, place, sizeof place);
    memcpy(p->inlined[next].used, v, sizeof p->inlined[next].used);
}

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
            use_of(p, v, at);
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
    s->scope = p->scope;
    f->labels[f->label_count++] = s;
    return TESS_OK;
}

/* After a label: .branchtargets a, b, ...; */
static tess_status targets(ptx_parser *p) {
    ptx_function *f = p->function;
    if (!f->label_count || f->labels[f->label_count - 1]->address != (uint64_t)f->count)
        return tess_vgpu_error(p, ".branchtargets without a label");
    if (!tess_vgpu_arena_grow(p->module, (void **)&f->tables, f->table_count, &f->table_room, sizeof *f->tables))
        return TESS_ERR_MEMORY;
    ptx_targets *t = &f->tables[f->table_count++];
    *t = (ptx_targets){.label = f->labels[f->label_count - 1]};
    do {
        TESS_TRY(tess_vgpu_next(p));
        if (!tess_vgpu_arena_grow(p->module, (void **)&t->target, t->count, &t->room, sizeof *t->target))
            return TESS_ERR_MEMORY;
        TESS_TRY(expect_name(p, &t->target[t->count].name, &t->target[t->count].length));
        t->count++;
    } while (is_mark(p, ','));
    return expect(p, ';');
}

static tess_status enter_scope(ptx_parser *p, int parent) {
    ptx_function *f = p->function;
    if (!tess_vgpu_arena_grow(p->module, (void **)&f->scope_parent, f->scope_count, &f->scope_room, sizeof *f->scope_parent))
        return TESS_ERR_MEMORY;
    f->scope_parent[f->scope_count] = parent;
    p->scope = f->scope_count++;
    return tess_vgpu_next(p);
}

/* From the current token to the semicolon, or before the brace that ends the block. By characters: tex.2d is not even made of tokens. */
static tess_status skip_instruction(ptx_parser *p) {
    const char *at = p->token.at;
    for (int braces = 0; *at && *at != ';' && (braces > 0 || *at != '}'); at++) {
        if (at[0] == '/' && at[1] == '/')
            at += strcspn(at, "\n");
        if (*at == 0)
            break;
        braces += (*at == '{') - (*at == '}');
        p->line += *at == '\n';
        p->line_start = *at == '\n' ? at + 1 : p->line_start;
    }
    p->cursor = at;
    TESS_TRY(tess_vgpu_next(p));
    return p->token.kind == PTX_END ? tess_vgpu_error(p, "'}' was expected") : TESS_OK;
}

/* One that is not supported or not PTX: its function is refused, and the text goes on behind it. */
static tess_status instruction(ptx_parser *p) {
    const ptx_token first = p->token;
    const char *line_start = p->line_start;
    const int depth = p->depth;
    tess_status status = tess_vgpu_parse_instruction(p);
    if (status != TESS_ERR_ARGUMENT)
        return status;
    TESS_TRY(tess_vgpu_refuse_function(p->module, p->function, p->file, p->source_line));
    p->token = first;
    p->line = first.line;
    p->line_start = line_start;
    p->depth = depth;
    return skip_instruction(p);
}

static tess_status body(ptx_parser *p) {
    p->depth = 2;
    if (!is_mark(p, '{'))
        return expect(p, '{');
    TESS_TRY(enter_scope(p, -1));
    while (p->depth >= 2) {
        if (is_mark(p, '{')) {
            p->depth++;
            TESS_TRY(enter_scope(p, p->scope));
        } else if (is_mark(p, '}')) {
            tess_vgpu_leave_scope(p->module, p->depth--);
            p->scope = p->function->scope_parent[p->scope];
            TESS_TRY(tess_vgpu_next(p));
        } else if (is_mark(p, ';')) {
            TESS_TRY(tess_vgpu_next(p));
        } else if (is_mark(p, '.')) {
            TESS_TRY(tess_vgpu_next(p));
            ptx_space space = is_name(p, "local") ? PTX_LOCAL : is_name(p, "shared") ? PTX_SHARED : is_name(p, "param") ? PTX_PARAM : PTX_GENERIC;
            if (is_name(p, "reg")) {
                TESS_TRY(tess_vgpu_next(p));
                TESS_TRY(tess_vgpu_parse_registers(p));
            } else if (is_name(p, "loc")) {
                TESS_TRY(tess_vgpu_next(p));
                TESS_TRY(location(p));
            } else if (is_name(p, "pragma") || is_name(p, "callprototype") || is_name(p, "calltargets")) {
                TESS_TRY(skip_past(p, ';')); /* what a call passes is seen at the call, what it calls when it does */
            } else if (is_name(p, "branchtargets")) {
                TESS_TRY(targets(p));
            } else if (space != PTX_GENERIC) {
                TESS_TRY(tess_vgpu_next(p));
                TESS_TRY(tess_vgpu_parse_variable(p, space, false, p->depth, false, NULL));
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
            TESS_TRY(instruction(p));
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
        TESS_TRY(tess_vgpu_parse_variable(p, PTX_PARAM, false, 1, p->function->entry, &(*list)[*count]));
        ++*count;
        if (!is_mark(p, ','))
            break;
        TESS_TRY(tess_vgpu_next(p));
    }
    return expect(p, ')');
}

/* N, or N, N, or N, N, N: the absent ones are 1. */
static tess_status threads(ptx_parser *p, uint32_t size[3]) {
    size[0] = size[1] = size[2] = 1;
    for (int i = 0; i < 3; i++) {
        uint64_t n;
        TESS_TRY(expect_integer(p, &n));
        if (n == 0 || n > UINT32_MAX)
            return tess_vgpu_error(p, "%llu threads along a side of a block; 1 to 4294967295 are possible", (unsigned long long)n);
        size[i] = (uint32_t)n;
        if (!is_mark(p, ','))
            break;
        TESS_TRY(tess_vgpu_next(p));
    }
    return TESS_OK;
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
    while (is_mark(p, '.')) { /* .maxntid 256, 1, 1 and the like: of them, launches must keep these two */
        TESS_TRY(tess_vgpu_next(p));
        bool most = is_name(p, "maxntid"), exactly = is_name(p, "reqntid");
        TESS_TRY(tess_vgpu_next(p));
        if (most || exactly)
            TESS_TRY(threads(p, exactly ? f->required_threads : f->most_threads));
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
        TESS_TRY(tess_vgpu_parse_variable(p, space, external, 0, false, NULL));
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
