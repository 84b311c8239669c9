/* SPDX-License-Identifier: Apache-2.0
 * cubin.c - the memory accesses and branches of machine code, each with the line of PTX it was made of.
 *
 * A cubin is an ELF file of 64 bits. Every kernel and function has a section .text.NAME of instructions of 16 bytes; .nv_debug_line_sass is a DWARF 2 line
 * program from their addresses to lines of the PTX, one sequence a function, whose start is a relocation against the function's symbol. Of an instruction
 * the operation is in bits 0 to 8 (11 where two operations share them), the guard in 12 to 15, the width in 73 to 75, what is
 * added to the address in 40 to 63, as on sm_90; the encodings were found by
 * disassembling. Files may be damaged: every offset is checked. */
#include <stdlib.h>
#include <string.h>

#include "vgpu/audit.h"

typedef struct section {
    uint64_t name, type, offset, size, link;
} section;

typedef struct cubin {
    tess_context *context;
    const unsigned char *at;
    size_t size;
    uint64_t sections, section_count;
    section strings;                /* names of the sections */
    uint64_t symbols, symbol_count; /* file offset */
    const tess_vgpu_module *module; /* NULL: not known */
    vgpu_machine_code *list;        /* each instruction is in one function and on one line */
    int count, room;
} cubin;

static uint64_t number(const cubin *c, uint64_t offset, int bytes) {
    uint64_t v = 0;
    if (offset > c->size || c->size - offset < (uint64_t)bytes)
        return 0;
    memcpy(&v, c->at + offset, (size_t)bytes);
    return v;
}

/* A section without a byte outside the file; sections that have no bytes there are empty. */
static bool section_at(const cubin *c, uint64_t index, section *s) {
    enum { HEADER = 64, NO_BITS = 8 };
    if (index >= c->section_count)
        return false;
    uint64_t h = c->sections + index * HEADER;
    *s = (section){.name = number(c, h, 4),
                   .type = number(c, h + 4, 4),
                   .offset = number(c, h + 24, 8),
                   .size = number(c, h + 32, 8),
                   .link = number(c, h + 40, 4)};
    if (s->type == NO_BITS)
        s->size = 0;
    return s->offset <= c->size && s->size <= c->size - s->offset;
}

static bool named(const cubin *c, const section *strings, const section *s, const char *prefix) {
    size_t length = strlen(prefix);
    return s->name < strings->size && strings->size - s->name > length && memcmp(c->at + strings->offset + s->name, prefix, length) == 0;
}

/* ---- instructions ---- */

static const char *const names[] = {
#define X(name) #name,
    TESS_VGPU_CODE_LIST(X)
#undef X
};
const char *tess_vgpu_code_name(int op) { return op >= 0 && op < VGPU_CODE_OPS ? names[op] : "?"; }
int tess_vgpu_code_named(const char *name) {
    int op = 0;
    while (op < VGPU_CODE_OPS && strcmp(name, names[op]) != 0)
        op++;
    return op;
}

/* Calls and returns are branches, as the card counts them. */
static bool code_of(const vgpu_machine_code *from, vgpu_code *code) {
    static const struct {
        uint16_t bits, op;
        bool wide; /* the width is an operand's: 1, 1, 2, 2, 4, 8, 16 bytes */
    } table[] = {
        {0x180, VGPU_CODE_LD, true},         {0x181, VGPU_CODE_LDG, true},    {0x184, VGPU_CODE_LDS, true},    {0x183, VGPU_CODE_LDL, true},
        {0x182, VGPU_CODE_LDC, true},        {0x185, VGPU_CODE_ST, true},     {0x186, VGPU_CODE_STG, true},    {0x188, VGPU_CODE_STS, true},
        {0x187, VGPU_CODE_STL, true},        {0x18a, VGPU_CODE_ATOM, false},  {0x1a8, VGPU_CODE_ATOMG, false}, {0x1a9, VGPU_CODE_ATOMG, false},
        {0x1a3, VGPU_CODE_ATOMG, false},     {0x18e, VGPU_CODE_REDG, false},  {0x1a6, VGPU_CODE_REDG, false},  {0x18c, VGPU_CODE_ATOMS, false},
        {0x18d, VGPU_CODE_ATOMS_CAS, false}, {0x1ae, VGPU_CODE_LDGSTS, true}, {0x03b, VGPU_CODE_LDSM, false},  {0x044, VGPU_CODE_STSM, false},
        {0x006, VGPU_CODE_VOTE, false},      {0x086, VGPU_CODE_VOTE, false},  {0x1c4, VGPU_CODE_VOTE, false},  {0x147, VGPU_CODE_BRA, false},
        {0x149, VGPU_CODE_BRA, false},       {0x143, VGPU_CODE_BRA, false},   {0x144, VGPU_CODE_BRA, false},   {0x150, VGPU_CODE_BRA, false}};

    static const uint8_t width[] = {1, 1, 2, 2, 4, 8, 16, 0};
    enum { NEVER = 15, ALWAYS = 7, POPC = 0xf8c, BRANCH = 0x947 };
    const uint64_t to_itself = 0xfffffffc00fc7947u; /* the branch that ends every function; nothing comes to it */
    uint64_t low = from->low;
    unsigned guard = low >> 12 & 15;
    if (low == to_itself)
        return false;
    for (int i = 0; i < TESS_COUNT(table); i++)
        if ((low & 0x1ff) == table[i].bits && guard != NEVER) {
            *code = (vgpu_code){.op = (uint8_t)table[i].op,
                                .guarded = guard != ALWAYS,
                                .bytes = table[i].wide ? width[from->high >> 9 & 7] : 0,
                                .offset = (int32_t)(low >> 32) >> 8,
                                .line = from->line,
                                .at = from->at,
                                .entry = from->entry,
                                .turn = from->turn,
                                .home = from->home};
            if ((low & 0xfff) == POPC)
                code->op = VGPU_CODE_ATOMS_POPC;
            if (code->op == VGPU_CODE_BRA) { /* it may have a second guard */
                code->offset = 0;
                code->guarded |= (low & 0xfff) == BRANCH && (from->high >> 23 & 15) != ALWAYS;
            }
            return true;
        }
    return false;
}

static tess_status keep(cubin *c, const vgpu_machine_code *code) {
    if (c->count == c->room) {
        int room = c->room ? 2 * c->room : 1024;
        vgpu_machine_code *grown = tess_allocate(c->context, (size_t)room * sizeof *grown);
        if (!grown)
            return TESS_ERR_MEMORY;
        if (c->count)
            memcpy(grown, c->list, (size_t)c->count * sizeof *grown);
        tess_free(c->context, c->list, (size_t)c->room * sizeof *grown);
        c->list = grown;
        c->room = room;
    }
    c->list[c->count++] = *code;
    return TESS_OK;
}

/* The instructions from one address of a function to another belong to a line. */
static tess_status span(cubin *c, const section *text, int home, uint64_t from, uint64_t to, int64_t line) {
    if (to > text->size)
        to = text->size;
    for (uint64_t at = (from + 15) / 16 * 16; at + 16 <= to; at += 16) {
        if ((size_t)c->count >= c->size / 16)
            return tess_fail(TESS_ERR_ARGUMENT, "the machine code's line table gives instructions several lines");
        TESS_TRY(keep(c, &(vgpu_machine_code){.text = text->offset,
                                              .address = at,
                                              .low = number(c, text->offset + at, 8),
                                              .high = number(c, text->offset + at + 8, 8),
                                              .line = line > 0 && line < INT32_MAX ? (int)line : 0,
                                              .home = home}));
    }
    return TESS_OK;
}

/* ---- the line program (DWARF 2, section 6.2) ---- */

static uint64_t leb(const cubin *c, uint64_t *at, uint64_t end, bool is_signed) {
    uint64_t v = 0;
    int shift = 0;
    while (*at < end) {
        uint64_t byte = number(c, (*at)++, 1);
        if (shift < 64)
            v |= (byte & 127) << shift;
        shift += 7;
        if (!(byte & 128)) {
            if (is_signed && byte & 64 && shift < 64)
                v |= ~0ull << shift;
            break;
        }
    }
    return v;
}

/* The line of the first instruction of the kernel whose machine code a section is; 0: of a function that any kernel may call, or not known. */
static int home_of(const cubin *c, const section *text) {
    static const char prefix[] = ".text.";
    enum { LENGTH = sizeof prefix - 1 };
    if (!c->module || !named(c, &c->strings, text, prefix))
        return 0;
    const char *name = (const char *)c->at + c->strings.offset + text->name + LENGTH;
    size_t room = (size_t)(c->strings.size - text->name) - LENGTH;
    for (int i = 0; i < c->module->function_count; i++) {
        const ptx_function *f = c->module->functions[i];
        size_t length = (size_t)f->symbol->length;
        if (f->entry && f->defined && length < room && memcmp(name, f->symbol->name, length) == 0 && name[length] == 0)
            return (int)c->module->records[f->first].line;
    }
    return 0;
}

/* The function that a relocation at this offset of the line program names; false: none. */
static bool function_at(const cubin *c, const section *relocations, uint64_t offset, section *text, uint64_t *start) {
    enum { ENTRY = 24, SYMBOL = 24 };
    for (uint64_t i = 0; i < relocations->size / ENTRY; i++) {
        uint64_t r = relocations->offset + i * ENTRY, symbol = number(c, r + 8, 8) >> 32;
        if (number(c, r, 8) != offset || symbol >= c->symbol_count)
            continue;
        uint64_t s = c->symbols + symbol * SYMBOL;
        *start = number(c, s + 8, 8) + number(c, r + 16, 8);
        return section_at(c, number(c, s + 6, 2), text);
    }
    return false;
}

typedef struct line_state {
    section text;
    int home;
    uint64_t address, since;
    int64_t line, since_line;
    bool in_function, open; /* open: `since` and `since_line` hold a row */
} line_state;

static tess_status row(cubin *c, line_state *s) {
    if (s->in_function && s->open)
        TESS_TRY(span(c, &s->text, s->home, s->since, s->address, s->since_line));
    s->since = s->address;
    s->since_line = s->line;
    s->open = true;
    return TESS_OK;
}

static tess_status unit(cubin *c, const section *lines, const section *relocations, uint64_t at, uint64_t end) {
    enum {
        COPY = 1,
        ADVANCE_PC,
        ADVANCE_LINE,
        SET_FILE,
        SET_COLUMN,
        NEGATE,
        BASIC_BLOCK,
        CONST_ADD_PC,
        FIXED_ADVANCE_PC,
        END_SEQUENCE = 1,
        SET_ADDRESS = 2
    };
    uint64_t program = at + 6 + number(c, at + 2, 4), step = number(c, at + 6, 1), range = number(c, at + 9, 1), base = number(c, at + 10, 1);
    int64_t lowest = (int8_t)number(c, at + 8, 1);
    uint64_t lengths = at + 10;
    line_state s = {.line = 1};
    if (range == 0 || base == 0)
        return TESS_OK;
    for (at = program; at < end;) {
        uint64_t op = number(c, at++, 1);
        if (op >= base) {
            s.address += (op - base) / range * step;
            s.line += lowest + (int64_t)((op - base) % range);
            TESS_TRY(row(c, &s));
        } else if (op == 0) {
            uint64_t length = leb(c, &at, end, false), next = at + (length < end - at ? length : end - at), sub = number(c, at, 1);
            if (sub == END_SEQUENCE) {
                TESS_TRY(row(c, &s));
                s = (line_state){.line = 1};
            } else if (sub == SET_ADDRESS) {
                uint64_t start;
                s.in_function = function_at(c, relocations, at + 1 - lines->offset, &s.text, &start);
                s.address = s.in_function ? start : 0;
                s.home = s.in_function ? home_of(c, &s.text) : 0;
                s.open = false;
            }
            at = next;
        } else if (op == COPY) {
            TESS_TRY(row(c, &s));
        } else if (op == ADVANCE_PC) {
            s.address += leb(c, &at, end, false) * step;
        } else if (op == ADVANCE_LINE) {
            s.line = (int64_t)((uint64_t)s.line + leb(c, &at, end, true));
        } else if (op == CONST_ADD_PC) {
            s.address += (255 - base) / range * step;
        } else if (op == FIXED_ADVANCE_PC) {
            s.address += number(c, at, 2);
            at += 2;
        } else {
            for (uint64_t n = number(c, lengths + op, 1); n; n--)
                leb(c, &at, end, false);
        }
    }
    return TESS_OK;
}

static tess_status read(cubin *c) {
    enum { MACHINE_CUDA = 190, SYMBOLS = 2, RELOCATIONS = 4 };
    section lines = {0}, relocations = {0}, s;
    if (c->size < 64 || memcmp(c->at, "\177ELF\2\1", 6) != 0 || number(c, 18, 2) != MACHINE_CUDA)
        return tess_fail(TESS_ERR_ARGUMENT, "the machine code is no cubin: an ELF file for CUDA of 64 bits is expected");
    unsigned flags = (unsigned)number(c, 48, 4), arch = flags & 0xff, other = flags >> 8 & 0xff; /* where it is depends on the version of the form */
    if (arch != 90 && other != 90)
        return tess_fail(TESS_ERR_ARGUMENT, "the machine code is not for sm_90, the only kind that is understood (flags 0x%x)", flags);
    c->sections = number(c, 40, 8);
    c->section_count = number(c, 60, 2);
    if (!section_at(c, number(c, 62, 2), &c->strings))
        return tess_fail(TESS_ERR_ARGUMENT, "the machine code's list of sections lies outside the file");
    for (uint64_t i = 1; i < c->section_count; i++) {
        if (!section_at(c, i, &s))
            return tess_fail(TESS_ERR_ARGUMENT, "section %llu of the machine code lies outside the file", (unsigned long long)i);
        if (s.type == SYMBOLS) {
            c->symbols = s.offset;
            c->symbol_count = s.size / 24;
        } else if (named(c, &c->strings, &s, ".nv_debug_line_sass")) {
            lines = s;
        } else if (s.type == RELOCATIONS && named(c, &c->strings, &s, ".rela.nv_debug_line_sass")) {
            relocations = s;
        }
    }
    if (lines.size == 0)
        return tess_fail(TESS_ERR_ARGUMENT, "the machine code has no lines of PTX: compile it with -lineinfo");
    for (uint64_t at = 0; at + 11 <= lines.size;) {
        uint64_t length = number(c, lines.offset + at, 4), end = at + 4 + length;
        if (end > lines.size || number(c, lines.offset + at + 4, 2) != 2)
            return tess_fail(TESS_ERR_ARGUMENT, "the machine code's line table is not of DWARF 2");
        TESS_TRY(unit(c, &lines, &relocations, lines.offset + at + 4, lines.offset + end));
        at = end;
    }
    return TESS_OK;
}

static int by_line(const void *a, const void *b) {
    const vgpu_code *x = a, *y = b;
    int64_t d = (int64_t)x->line - y->line;
    d = d ? d : x->op - y->op;
    d = d ? d : x->bytes - y->bytes;
    d = d ? d : (int64_t)x->offset - y->offset;
    d = d ? d : (int64_t)x->at - y->at;
    d = d ? d : (int64_t)x->entry - y->entry;
    d = d ? d : (int64_t)x->turn - y->turn;
    d = d ? d : (int64_t)x->home - y->home;
    d = d ? d : x->guarded - y->guarded;
    return (d > 0) - (d < 0);
}

/* What the audit looks at, of all instructions. */
static tess_status sift(const cubin *c, vgpu_code **list, int *count, int *room) {
    for (int i = 0; i < c->count; i++) {
        vgpu_code code;
        *room += code_of(&c->list[i], &code);
    }
    if (*room == 0)
        return TESS_OK;
    if (!(*list = tess_allocate(c->context, (size_t)*room * sizeof **list))) {
        *room = 0;
        return TESS_ERR_MEMORY;
    }
    for (int i = 0; i < c->count; i++)
        *count += code_of(&c->list[i], *list + *count);
    qsort(*list, (size_t)*count, sizeof **list, by_line);
    return TESS_OK;
}

tess_status tess_vgpu_cubin_read(tess_context *context, const tess_vgpu_module *module, const void *data, size_t size, vgpu_code **list, int *count,
                                 int *room) {
    cubin c = {.context = context, .module = module, .at = data, .size = size};
    *list = NULL;
    *count = *room = 0;
    tess_status status = read(&c);
    if (status == TESS_OK && module && c.count)
        status = tess_vgpu_blocks(module, c.list, c.count);
    if (status == TESS_OK)
        status = sift(&c, list, count, room);
    tess_free(context, c.list, (size_t)c.room * sizeof *c.list);
    return status;
}
