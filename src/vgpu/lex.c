/* SPDX-License-Identifier: Apache-2.0
 * lex.c - PTX text to tokens: names (with % $ _ inside), numbers, strings, single marks. Dots are marks; the parser joins opcodes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vgpu/ptx.h"

static bool name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%'; }
static bool digit(char c) { return c >= '0' && c <= '9'; }
static bool name_part(char c) { return name_start(c) || digit(c); }
static int hex_value(char c) {
    if (digit(c))
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* Past blanks and comments; counts lines. */
static void skip(const char **cursor, int *line, const char **line_start) {
    const char *p = *cursor;
    for (;; p++) {
        if (*p == '\n') {
            ++*line;
            *line_start = p + 1;
        } else if (p[0] == '/' && p[1] == '/') {
            p += strcspn(p, "\n") - 1;
        } else if (p[0] == '/' && p[1] == '*') {
            for (p += 2; *p && !(p[0] == '*' && p[1] == '/'); p++)
                if (*p == '\n') {
                    ++*line;
                    *line_start = p + 1;
                }
            p += *p ? 1 : -1;
        } else if (*p != ' ' && *p != '\t' && *p != '\r') {
            break;
        }
    }
    *cursor = p;
}

static tess_status bad_number(const ptx_token *t, int length) {
    return tess_fail(TESS_ERR_ARGUMENT, "PTX line %d, column %d: \"%.*s\" is not a number", t->line, t->column, length, t->at);
}

/* 0f and 0d are the bits of a float in hexadecimal; 0x, 0b, a leading 0 and decimal are integers, with an optional U; 1.5 is a double. */
static tess_status number(ptx_token *t) {
    const char *p = t->at;
    int length = 0, base = 10, digits = 0;
    while (name_part(p[length]) || (p[length] == '.' && digit(p[length + 1])) ||
           ((p[length] == '+' || p[length] == '-') && length > 1 && (p[length - 1] | 0x20) == 'e' && p[0] != '0'))
        length++;
    if (length > 1 && p[length - 1] == 'B' && *p != '0')
        length--; /* .L2::128B: the unit is a token of its own */
    const char *end = p + length;
    t->kind = PTX_INTEGER;
    t->length = length;
    t->bits = 0;
    if (*p == '0' && length > 1) {
        char kind = (char)(p[1] | 0x20);
        if (kind == 'f' || kind == 'd') {
            t->kind = kind == 'f' ? PTX_FLOAT32 : PTX_FLOAT64;
            if (length != (kind == 'f' ? 10 : 18))
                return bad_number(t, length);
            base = 16;
            p += 2;
        } else if (kind == 'x') {
            base = 16;
            p += 2;
        } else if (kind == 'b') {
            base = 2;
            p += 2;
        } else if (memchr(t->at, '.', (size_t)length) == NULL) {
            base = 8;
            p += 1;
        }
    }
    if (base == 10 && memchr(t->at, '.', (size_t)length)) {
        char *stop;
        double value = strtod(t->at, &stop);
        if (stop != end)
            return bad_number(t, length);
        t->kind = PTX_FLOAT64;
        memcpy(&t->bits, &value, 8);
        return TESS_OK;
    }
    for (; p < end && !((*p | 0x20) == 'u' && p == end - 1); p++, digits++) {
        int value = hex_value(*p);
        uint64_t wide;
        if (value >= base || TESS_MUL_OVERFLOWS(t->bits, (uint64_t)base, &wide) || TESS_ADD_OVERFLOWS(wide, (uint64_t)value, &t->bits))
            return bad_number(t, length);
    }
    return digits || base == 8 ? TESS_OK : bad_number(t, length);
}

tess_status tess_vgpu_lex(ptx_token *token, const char **cursor, int *line, const char **line_start) {
    skip(cursor, line, line_start);
    const char *p = *cursor;
    *token = (ptx_token){.at = p, .line = *line, .column = (int)(p - *line_start) + 1, .length = 1};
    if (*p == 0) {
        token->kind = PTX_END;
        token->length = 0;
    } else if (name_start(*p)) {
        token->kind = PTX_NAME;
        while (name_part(p[token->length]))
            token->length++;
    } else if (digit(*p)) {
        TESS_TRY(number(token));
    } else if (*p == '"') {
        token->kind = PTX_STRING;
        while (p[token->length] != '"') {
            if (p[token->length] == 0 || p[token->length] == '\n')
                return tess_fail(TESS_ERR_ARGUMENT, "PTX line %d, column %d: the string does not end on its line", token->line, token->column);
            token->length += p[token->length] == '\\' && p[token->length + 1] ? 2 : 1;
        }
        token->length++;
    } else {
        token->kind = PTX_MARK;
        token->bits = (unsigned char)*p;
    }
    *cursor = p + token->length;
    return TESS_OK;
}
