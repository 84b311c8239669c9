/* SPDX-License-Identifier: Apache-2.0
 * number.c - reading numbers. The digits of reals go to the C library's strtod in the "C" locale, which rounds correctly. */
#include "profile/number.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int digit_of(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

bool tess_number_whole(const char **at, uint64_t *value) {
    const char *p = *at;
    int base = p[0] == '0' && (p[1] == 'x' || p[1] == 'X') ? 16 : 10;
    p += base == 16 ? 2 : 0;
    const char *first = p;
    for (*value = 0; digit_of(*p) < base; p++)
        if (TESS_MUL_OVERFLOWS(*value, (uint64_t)base, value) || TESS_ADD_OVERFLOWS(*value, (uint64_t)digit_of(*p), value))
            return false;
    if (p == first)
        return false;
    *at = p;
    return true;
}

/* One of several words, followed by no letter or digit; its number or -1. */
static int word(const char **at, const char *const *words, int count) {
    for (int i = 0; i < count; i++) {
        size_t n = strlen(words[i]);
        char after = strncmp(*at, words[i], n) == 0 ? (*at)[n] : 'x';
        if (!(after >= 'a' && after <= 'z') && !(after >= 'A' && after <= 'Z') && !(after >= '0' && after <= '9') && after != '_') {
            *at += n;
            return i;
        }
    }
    return -1;
}

static void set_whole(tess_number *n, uint64_t magnitude) {
    n->whole = true;
    n->bits = n->negative ? 0 - magnitude : magnitude;
    n->real = n->negative ? -(double)magnitude : (double)magnitude;
    n->single = n->negative ? -(float)magnitude : (float)magnitude;
}

static tess_type suffix(const char **at, bool whole) {
    static const char *const names[] = {"bf", "f", "F", "h", "H", "d", "D", "ull", "ULL", "llu", "LLU", "ul", "UL", "ll", "LL", "l", "L", "u", "U"};
    static const tess_type types[] = {tess_bf16, tess_f32, tess_f32, tess_f16, tess_f16, tess_f64, tess_f64, tess_u64, tess_u64, tess_u64,
                                      tess_u64,  tess_u64, tess_u64, tess_i64, tess_i64, tess_i64, tess_i64, tess_u32, tess_u32};
    int i = word(at, names, TESS_COUNT(names));
    if (i < 0)
        return tess_no_type;
    if (!whole && types[i] < tess_f16) /* 1.5l is a long double, of which a kernel makes a double */
        return tess_f64;
    return types[i];
}

bool tess_number_read(const char **at, tess_number *n) {
    static const char *const words[] = {"false", "true", "nullptr", "NULL", "inf", "INFINITY", "nan", "NAN"};
    const char *p = *at, *start;
    uint64_t magnitude;
    *n = (tess_number){0};
    n->negative = *p == '-';
    p += *p == '-' || *p == '+';
    start = p;
    int w = word(&p, words, TESS_COUNT(words));
    if (w >= 0 && w < 4) {
        set_whole(n, w == 1);
    } else if (w >= 4) {
        n->real = w < 6 ? (n->negative ? -INFINITY : INFINITY) : NAN;
        n->single = (float)n->real;
    } else {
        bool hexadecimal = p[0] == '0' && (p[1] == 'x' || p[1] == 'X'), whole = tess_number_whole(&p, &magnitude);
        if (!whole || *p == '.' || (!hexadecimal && (*p == 'e' || *p == 'E')) || (hexadecimal && (*p == 'p' || *p == 'P'))) {
            char *end;
            if (digit_of(start[0]) > 9 && !(start[0] == '.' && digit_of(start[1]) <= 9))
                return false;
            locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* glibc and musl hand out a constant for it */
            n->real = strtod_l(start, &end, c);
            n->single = strtof_l(start, NULL, c);
            freelocale(c);
            if (end == start)
                return false;
            if (n->negative) {
                n->real = -n->real;
                n->single = -n->single;
            }
            p = end;
        } else {
            set_whole(n, magnitude);
        }
        n->type = suffix(&p, n->whole);
        if (n->type == tess_u32 && n->whole && magnitude > UINT32_MAX) /* C++, [lex.icon]: the first type that holds it */
            n->type = tess_u64;
        n->whole = n->whole && n->type < tess_f16;
    }
    *at = p;
    return true;
}

bool tess_real_fits(double real, tess_type type) {
    double limit = type == tess_f16    ? 65520 /* half way from the largest to the next power of two: from there on rounding gives infinity */
                   : type == tess_bf16 ? 0x1.ffp127
                   : type == tess_f32  ? 0x1.ffffffp127
                                       : INFINITY;
    return !isfinite(real) || fabs(real) < limit;
}

bool tess_number_fits(const tess_number *n, tess_type type) {
    if (type >= tess_f16 || type == tess_no_type)
        return tess_real_fits(n->real, type);
    int bits = 8 * (int)tess_type_size(type);
    bool is_signed = type == tess_i8 || type == tess_i16 || type == tess_i32 || type == tess_i64;
    if (!n->whole)
        return n->real == trunc(n->real) && n->real >= (is_signed ? -ldexp(1, bits - 1) : 0) && n->real < ldexp(1, bits - is_signed);
    uint64_t magnitude = n->negative ? 0 - n->bits : n->bits, least = is_signed ? (uint64_t)1 << (bits - 1) : 0;
    return n->negative ? magnitude <= least : magnitude <= UINT64_MAX >> (64 - bits + is_signed);
}
