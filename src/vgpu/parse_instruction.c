/* SPDX-License-Identifier: Apache-2.0
 * parse_instruction.c - one instruction: guard, opcode with its modifiers, operands. What fits together is the decoder's business. */
#include "vgpu/parse.h"

static bool same(const char *text, const char *at, int length) { return (int)strlen(text) == length && memcmp(text, at, (size_t)length) == 0; }

static const char *const mnemonics[PTX_OPS] = {
#define OP(name, mnemonic, operands, flow, semantics) mnemonic,
#include "vgpu/ptx.def"
#undef OP
};
static const char *const modes[PTX_MODES] = {
#define X(name, text) [PTX_##name] = text,
    PTX_MODE_LIST(X)
#undef X
};
static const struct {
    const char *text;
    uint32_t flag;
} flags[] = {
#define X(name, text, bit) {text, PTX_##name},
    PTX_FLAG_LIST(X)
#undef X
};
static const char *const spaces[PTX_SPACES] = {
    [PTX_GLOBAL] = "global", [PTX_SHARED] = "shared", [PTX_LOCAL] = "local", [PTX_CONST] = "const", [PTX_PARAM] = "param"};
/* Memory order, scopes and cache hints: the machine is sequentially consistent inside a block, uses real atomics across blocks and has no caches. */
static const char *const without_effect[] = {"weak",
                                             "relaxed",
                                             "acquire",
                                             "release",
                                             "acq_rel",
                                             "sc",
                                             "cta",
                                             "cluster",
                                             "gpu",
                                             "sys",
                                             "mmio",
                                             "cs",
                                             "lu",
                                             "cv",
                                             "wb",
                                             "wt",
                                             "L1",
                                             "L2",
                                             "gl",
                                             "proxy",
                                             "entry",
                                             "func",
                                             "noinc",
                                             "level",
                                             "global",
                                             "alias",
                                             "evict_last",
                                             "evict_first",
                                             "evict_normal",
                                             "no_allocate",
                                             "evict_unchanged",
                                             "64B",
                                             "128B",
                                             "256B",
                                             "cache_hint",
                                             "async_group",
                                             "mbarrier_init",
                                             "tensormap",
                                             "wait",
                                             "launch_dependents"};

static tess_status modifier(ptx_parser *p, ptx_instruction *in, const char *at, int length) {
    for (int t = PTX_NO_TYPE + 1; t < PTX_TYPES; t++)
        if (same(tess_vgpu_type_name((ptx_type)t), at, length)) {
            if (in->type_count == TESS_COUNT(in->types))
                return tess_vgpu_error(p, "too many types");
            in->types[in->type_count++] = (ptx_type)t;
            return TESS_OK;
        }
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (same(flags[i].text, at, length)) {
            in->flags |= flags[i].flag;
            return TESS_OK;
        }
    for (int m = PTX_NO_MODE + 1; m < PTX_MODES; m++)
        if (same(modes[m], at, length)) {
            if (in->mode_count == TESS_COUNT(in->modes))
                return tess_vgpu_error(p, "too many modifiers");
            in->modes[in->mode_count++] = (ptx_mode)m;
            return TESS_OK;
        }
    for (int s = PTX_GLOBAL; s < PTX_SPACES; s++)
        if (same(spaces[s], at, length)) {
            *(in->space == PTX_GENERIC ? &in->space : &in->second_space) = (ptx_space)s;
            return TESS_OK;
        }
    for (int i = 0; i < TESS_COUNT(without_effect); i++)
        if (same(without_effect[i], at, length)) {
            if (same("relaxed", at, length) || same("acquire", at, length) || same("mmio", at, length))
                in->flags |= PTX_VOLATILE; /* may wait for another thread */
            return TESS_OK;
        }
    return tess_vgpu_error(p, "\".%.*s\" is not a modifier that is supported", length, at);
}

/* What an opcode that is not there belongs to, in words that CUDA C++ uses: a name, or how names begin when * ends it. */
static const struct {
    const char *opcode, *words;
} absent[] = {{"tex", "textures"},
              {"tld4", "textures"},
              {"txq", "textures"},
              {"su*", "surfaces"},
              {"istypep", "textures and surfaces"},
              {"wgmma", "matrix products of a warp group"},
              {"tcgen05", "matrix products of sm_100"},
              {"tensormap", "copies by tensor map"},
              {"mapa", "clusters of more than one block"},
              {"getctarank", "clusters of more than one block"},
              {"multimem", "memory of several GPUs"},
              {"v*", "the video instructions"},
              {"alloca", "stack memory of a size that is not constant"},
              {"stack*", "stack memory of a size that is not constant"}};

static const char *absent_words(const char *at, int length) {
    for (int i = 0; i < TESS_COUNT(absent); i++) {
        size_t n = strlen(absent[i].opcode);
        bool begins = absent[i].opcode[n - 1] == '*';
        n -= begins;
        if (((int)n == length || (begins && (int)n < length)) && memcmp(at, absent[i].opcode, n) == 0)
            return absent[i].words;
    }
    return NULL;
}

static tess_status opcode(ptx_parser *p, ptx_instruction *in) {
    in->line = p->token.line;
    in->column = p->token.column;
    in->file = p->file;
    in->source_line = p->source_line;
    in->scope = p->scope;
    in->text = p->token.at;
    int op = 0;
    while (op < PTX_OPS && !same(mnemonics[op], p->token.at, p->token.length))
        op++;
    if (p->token.kind != PTX_NAME || op == PTX_OPS) {
        const char *words = absent_words(p->token.at, p->token.length);
        return tess_vgpu_error(p, "not an opcode that is supported%s%s%s", words ? " (" : "", words ? words : "", words ? ")" : "");
    }
    in->op = (ptx_op)op;
    in->text_length = p->token.length;
    TESS_TRY(tess_vgpu_next(p));
    while (is_mark(p, '.')) {
        TESS_TRY(tess_vgpu_next(p));
        const char *at = p->token.at;
        int length = p->token.length;
        if (p->token.kind == PTX_INTEGER) { /* .128B: the number and its unit are one modifier */
            while ((at[length] >= 'A' && at[length] <= 'Z') || (at[length] >= '0' && at[length] <= '9'))
                length++;
            p->cursor = at + length;
        } else if (p->token.kind != PTX_NAME) {
            return tess_vgpu_error(p, "a modifier was expected");
        }
        TESS_TRY(modifier(p, in, at, length));
        in->text_length = (int)(at + length - in->text);
        TESS_TRY(tess_vgpu_next(p));
        while (is_mark(p, ':') && *p->cursor == ':') { /* L2::128B, shared::cta: the second part changes nothing here but must be known */
            TESS_TRY(tess_vgpu_next(p));
            TESS_TRY(tess_vgpu_next(p));
            at = p->token.at;
            length = p->token.length;
            if (p->token.kind == PTX_INTEGER) {
                while ((at[length] >= 'A' && at[length] <= 'Z') || (at[length] >= '0' && at[length] <= '9'))
                    length++;
                p->cursor = at + length;
            }
            TESS_TRY(modifier(p, in, at, length));
            TESS_TRY(tess_vgpu_next(p));
        }
    }
    if (in->op == PTX_OP_CVT && in->modes[0] == PTX_PACK) /* other operands: an opcode of its own */
        in->op = PTX_OP_CVT_PACK;
    return TESS_OK;
}

/* %r12 of `.reg .b32 %r<20>`: the digits at the end are the number. */
static bool as_register(ptx_parser *p, const char *at, int length, ptx_operand *o) {
    ptx_symbol *s = tess_vgpu_find(p->module, at, length);
    uint32_t number = 0;
    if (!s) {
        int digits = 0;
        while (digits < length - 1 && digits < 6 && at[length - 1 - digits] >= '0' && at[length - 1 - digits] <= '9')
            digits++;
        for (; digits > 0; digits--) { /* names may end in digits themselves: longest number first */
            s = tess_vgpu_find(p->module, at, length - digits);
            if (s && s->kind == PTX_REGISTERS)
                break;
        }
        if (digits <= 0)
            return false;
        for (int i = length - digits; i < length; i++)
            number = 10 * number + (uint32_t)(at[i] - '0');
        if (number >= s->count)
            return false;
    } else if (s->kind != PTX_REGISTER) {
        return false;
    }
    int bytes = s->type == PTX_PRED ? 2 : tess_vgpu_type_bytes(s->type);
    o->kind = PTX_REG;
    o->type = s->type;
    o->slot = s->slot + number * (uint32_t)(bytes < 2 ? 64 : bytes * 32);
    return true;
}

static tess_status number(ptx_parser *p, ptx_operand *o) {
    bool minus = is_mark(p, '-');
    if (minus)
        TESS_TRY(tess_vgpu_next(p));
    if (p->token.kind != PTX_INTEGER && p->token.kind != PTX_FLOAT32 && p->token.kind != PTX_FLOAT64)
        return tess_vgpu_error(p, "a number was expected");
    o->kind = PTX_IMMEDIATE;
    o->literal = p->token.kind;
    o->bits = p->token.bits;
    if (minus)
        o->bits = o->literal == PTX_INTEGER ? -o->bits : o->bits ^ (o->literal == PTX_FLOAT32 ? 1ull << 31 : 1ull << 63);
    return tess_vgpu_next(p);
}

static tess_status offset(ptx_parser *p, ptx_operand *o) { /* + n, +-n, - n */
    while (is_mark(p, '+') || is_mark(p, '-')) {
        if (is_mark(p, '+'))
            TESS_TRY(tess_vgpu_next(p));
        ptx_operand n = {0};
        TESS_TRY(number(p, &n));
        if (n.literal != PTX_INTEGER)
            return tess_vgpu_error(p, "an offset is an integer");
        o->bits += n.bits;
    }
    return TESS_OK;
}

static tess_status name(ptx_parser *p, ptx_operand *o) {
    const char *at = p->token.at;
    int length = p->token.length;
    if (*at == '%' && *p->cursor == '.') { /* %tid.x */
        TESS_TRY(tess_vgpu_next(p));
        TESS_TRY(tess_vgpu_next(p));
        length = (int)(p->token.at + p->token.length - at);
    }
    if (same("_", at, length)) {
        o->kind = PTX_SINK;
    } else if (!as_register(p, at, length, o)) {
        int special = *at == '%' ? tess_vgpu_special(at, length) : -1;
        if (special >= 0) {
            o->kind = PTX_SPECIAL;
            o->special = special;
        } else if (*at == '%') {
            return tess_vgpu_error(p, "there is no register \"%.*s\"", length, at);
        } else {
            ptx_symbol *s = tess_vgpu_find(p->module, at, length);
            o->kind = PTX_SYMBOL;
            o->symbol = s && s->kind == PTX_VARIABLE ? s : NULL;
            o->name = at;
            o->name_length = length;
        }
    }
    return tess_vgpu_next(p);
}

static tess_status operand(ptx_parser *p, ptx_operand *o);

static tess_status list(ptx_parser *p, ptx_operand *o, ptx_operand_kind kind, char end) {
    int room = 0;
    o->kind = kind;
    TESS_TRY(tess_vgpu_next(p));
    while (!is_mark(p, end)) {
        ptx_operand one = {0};
        TESS_TRY(operand(p, &one));
        if (!tess_vgpu_arena_grow(p->module, (void **)&o->element, o->elements, &room, sizeof one))
            return TESS_ERR_MEMORY;
        o->element[o->elements++] = one;
        if (!is_mark(p, ','))
            break;
        TESS_TRY(tess_vgpu_next(p));
    }
    if (!is_mark(p, end))
        return tess_vgpu_error(p, "'%c' was expected", end);
    return tess_vgpu_next(p);
}

static tess_status address(ptx_parser *p, ptx_operand *o) {
    TESS_TRY(tess_vgpu_next(p));
    if (p->token.kind == PTX_NAME) {
        TESS_TRY(name(p, o));
        if (o->kind != PTX_REG && o->kind != PTX_SYMBOL)
            return tess_vgpu_error(p, "an address begins with a register or a variable");
        if (o->kind == PTX_SYMBOL && !o->symbol)
            return tess_vgpu_error(p, "there is no variable \"%.*s\"", o->name_length, o->name);
        o->has_base = o->kind == PTX_REG;
        o->bits = 0;
    } else {
        TESS_TRY(number(p, o));
    }
    o->kind = PTX_ADDRESS;
    TESS_TRY(offset(p, o));
    if (!is_mark(p, ']'))
        return tess_vgpu_error(p, "']' was expected");
    return tess_vgpu_next(p);
}

static tess_status operand(ptx_parser *p, ptx_operand *o) {
    if (p->depth > 200)
        return tess_vgpu_error(p, "nested too deeply");
    if (is_mark(p, '[')) {
        TESS_TRY(address(p, o));
    } else if (is_mark(p, '{') || is_mark(p, '(')) {
        p->depth++;
        TESS_TRY(is_mark(p, '{') ? list(p, o, PTX_VECTOR, '}') : list(p, o, PTX_GROUP, ')'));
        p->depth--;
    } else if (is_mark(p, '!')) {
        TESS_TRY(tess_vgpu_next(p));
        TESS_TRY(name(p, o));
        if (o->kind != PTX_REG)
            return tess_vgpu_error(p, "a predicate register was expected after '!'");
        o->negated = true;
    } else if (p->token.kind == PTX_NAME) {
        TESS_TRY(name(p, o));
        if (o->kind == PTX_SYMBOL)
            TESS_TRY(offset(p, o));
        if (is_mark(p, '|')) {
            TESS_TRY(tess_vgpu_next(p));
            o->element = tess_vgpu_arena(p->module, sizeof *o->element);
            if (!o->element)
                return TESS_ERR_MEMORY;
            o->elements = 1;
            TESS_TRY(name(p, o->element));
        }
    } else {
        TESS_TRY(number(p, o));
    }
    return TESS_OK;
}

tess_status tess_vgpu_parse_instruction(ptx_parser *p) {
    ptx_function *f = p->function;
    if (!tess_vgpu_arena_grow(p->module, (void **)&f->code, f->count, &f->room, sizeof *f->code))
        return TESS_ERR_MEMORY;
    ptx_instruction *in = &f->code[f->count];
    memset(in, 0, sizeof *in);
    if (is_mark(p, '@')) {
        ptx_operand guard = {0};
        TESS_TRY(tess_vgpu_next(p));
        in->guard_negated = is_mark(p, '!');
        if (in->guard_negated)
            TESS_TRY(tess_vgpu_next(p));
        if (p->token.kind != PTX_NAME)
            return tess_vgpu_error(p, "a predicate register was expected after '@'");
        TESS_TRY(name(p, &guard));
        if (guard.kind != PTX_REG || guard.type != PTX_PRED)
            return tess_vgpu_error(p, "the guard is not a predicate register");
        in->guarded = true;
        in->guard = guard.slot;
    }
    TESS_TRY(opcode(p, in));
    while (!is_mark(p, ';')) {
        if (in->operand_count == PTX_MAX_OPERANDS)
            return tess_vgpu_error(p, "too many operands");
        TESS_TRY(operand(p, &in->operand[in->operand_count++]));
        if (!is_mark(p, ','))
            break;
        TESS_TRY(tess_vgpu_next(p));
    }
    if (!is_mark(p, ';'))
        return tess_vgpu_error(p, "',' or ';' was expected");
    f->count++;
    return tess_vgpu_next(p);
}
