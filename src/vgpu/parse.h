/* SPDX-License-Identifier: Apache-2.0
 * parse.h - the words that the parser's files share: what the current token is, and stepping over one that must be there. */
#ifndef TESS_VGPU_PARSE_H
#define TESS_VGPU_PARSE_H

#include <string.h>

#include "vgpu/machine.h"

TESS_INLINE bool is_mark(const ptx_parser *p, char c) { return p->token.kind == PTX_MARK && p->token.bits == (unsigned char)c; }
TESS_INLINE bool is_name(const ptx_parser *p, const char *name) {
    return p->token.kind == PTX_NAME && (int)strlen(name) == p->token.length && memcmp(p->token.at, name, strlen(name)) == 0;
}
static inline tess_status expect(ptx_parser *p, char c) {
    if (!is_mark(p, c))
        return tess_vgpu_error(p, "'%c' was expected", c);
    return tess_vgpu_next(p);
}
static inline tess_status expect_name(ptx_parser *p, const char **name, int *length) {
    *name = NULL;
    *length = 0;
    if (p->token.kind != PTX_NAME)
        return tess_vgpu_error(p, "a name was expected");
    *name = p->token.at;
    *length = p->token.length;
    return tess_vgpu_next(p);
}
static inline tess_status expect_integer(ptx_parser *p, uint64_t *value) {
    *value = 0;
    if (p->token.kind != PTX_INTEGER)
        return tess_vgpu_error(p, "an integer was expected");
    *value = p->token.bits;
    return tess_vgpu_next(p);
}
/* Skips to the mark that ends a list we do not need. */
static inline tess_status skip_past(ptx_parser *p, char end) {
    while (!is_mark(p, end)) {
        if (p->token.kind == PTX_END)
            return tess_vgpu_error(p, "'%c' was expected", end);
        TESS_TRY(tess_vgpu_next(p));
    }
    return tess_vgpu_next(p);
}

/* The part of a declaration after its space: [.align N] [.vN] .type name[n]... [= values]. Declares the symbol and, unless it is a kernel's
 * parameter, places it. declared: for parameters, of which each is declared alone; NULL: a list with commas. */
tess_status tess_vgpu_parse_variable(ptx_parser *p, ptx_space space, bool external, int depth, bool entry_param, ptx_symbol **declared);
tess_status tess_vgpu_parse_registers(ptx_parser *p); /* after .reg, with the semicolon */

#endif
