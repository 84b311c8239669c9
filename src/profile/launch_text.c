/* SPDX-License-Identifier: Apache-2.0
 * launch_text.c - the launch language: kernel<<<grid, block, shared, stream>>>(arguments), by recursive descent.
 *
 * Every failure is one sentence that gives the place and what was expected there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/number.h"
#include "profile/profile.h"

enum { MOST_VALUES = 4096, MOST_DEPTH = 8 };

typedef struct reader {
    tess_context *context;
    tess_launch *launch;
    const char *text, *at;
    int depth;
} reader;

static tess_status wrong(const reader *r, const char *at, const char *expected) {
    if (*at)
        return tess_fail(TESS_ERR_ARGUMENT, "launch \"%.200s\", character %d (\"%.1s\"): %s is expected", r->text, (int)(at - r->text) + 1, at,
                         expected);
    return tess_fail(TESS_ERR_ARGUMENT, "launch \"%.200s\", at its end: %s is expected", r->text, expected);
}

static void skip(reader *r) {
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')
        r->at++;
}

/* Takes the mark if it is next. */
static bool take(reader *r, const char *mark) {
    skip(r);
    size_t n = strlen(mark);
    if (strncmp(r->at, mark, n) != 0)
        return false;
    r->at += n;
    return true;
}

static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool digit(char c) { return c >= '0' && c <= '9'; }

/* Takes the word if it is next and ends there. */
static bool take_word(reader *r, const char *word) {
    skip(r);
    size_t n = strlen(word);
    if (strncmp(r->at, word, n) != 0 || letter(r->at[n]) || digit(r->at[n]))
        return false;
    r->at += n;
    return true;
}

/* ---- kernel name ---- */

static tess_status name(reader *r) {
    skip(r);
    const char *end = strstr(r->at, "<<<"), *p = r->at;
    for (;;) { /* a::b::c */
        if (!letter(*p))
            return wrong(r, p, "the kernel's name");
        while (letter(*p) || digit(*p) || *p == '$')
            p++;
        if (p[0] != ':' || p[1] != ':')
            break;
        p += 2;
    }
    const char *plain = p;
    p += strspn(p, " \t\r\n");
    if (!end)
        return wrong(r, *p == '<' ? p + strlen(p) : p, "<<<grid, block>>>");
    if (p != end) { /* template arguments */
        const char *last = end;
        while (last > p && (last[-1] == ' ' || last[-1] == '\t' || last[-1] == '\n' || last[-1] == '\r'))
            last--;
        if (*p != '<' || last[-1] != '>')
            return wrong(r, p, "<<<grid, block>>>, or template arguments in < >,");
        r->launch->templated = true;
        plain = last;
    }
    if (plain - r->at >= (ptrdiff_t)sizeof r->launch->kernel)
        return wrong(r, r->at, "a kernel's name of less than 512 characters");
    memcpy(r->launch->kernel, r->at, (size_t)(plain - r->at));
    r->launch->kernel[plain - r->at] = 0;
    r->at = end + 3;
    return TESS_OK;
}

/* ---- whole numbers, sizes ---- */

/* A product of whole numbers, as 1024*1024. */
static tess_status size(reader *r, uint64_t most, const char *what, uint64_t *value) {
    *value = 1;
    do {
        skip(r);
        const char *start = r->at;
        uint64_t factor;
        if (!tess_number_whole(&r->at, &factor))
            return wrong(r, start, what);
        while (*r->at == 'u' || *r->at == 'U' || *r->at == 'l' || *r->at == 'L')
            r->at++;
        if (TESS_MUL_OVERFLOWS(*value, factor, value) || *value > most)
            return tess_fail(TESS_ERR_ARGUMENT, "launch \"%.200s\", character %d: %s is at most %llu", r->text, (int)(start - r->text) + 1, what,
                             (unsigned long long)most);
    } while (take(r, "*"));
    return TESS_OK;
}

static tess_status dimensions(reader *r, uint32_t *to, const char *what) {
    uint64_t value;
    to[0] = to[1] = to[2] = 1;
    skip(r);
    bool dim3 = take_word(r, "dim3");
    if (!take(r, "(")) {
        if (dim3 || !digit(*r->at))
            return wrong(r, r->at, dim3 ? "( after dim3" : what);
        TESS_TRY(size(r, UINT32_MAX, what, &value));
        to[0] = (uint32_t)value;
    } else {
        for (int i = 0; i < 3; i++) {
            TESS_TRY(size(r, UINT32_MAX, "a whole number", &value));
            to[i] = (uint32_t)value;
            if (take(r, ")"))
                break;
            if (i == 2 || !take(r, ","))
                return wrong(r, r->at, i == 2 ? ")" : ", or )");
        }
    }
    for (int i = 0; i < 3; i++)
        if (to[i] == 0)
            return tess_fail(TESS_ERR_ARGUMENT, "launch \"%.200s\": a size of %s is 0", r->text, what);
    return TESS_OK;
}

static tess_status geometry(reader *r) {
    uint64_t shared = 0, stream;
    TESS_TRY(dimensions(r, r->launch->grid, "the grid"));
    if (!take(r, ","))
        return wrong(r, r->at, ", and the block");
    TESS_TRY(dimensions(r, r->launch->block, "the block"));
    if (take(r, ",")) {
        TESS_TRY(size(r, 1 << 24, "the bytes of shared memory", &shared));
        if (take(r, ",")) { /* a stream: there is one here */
            skip(r);
            if (letter(*r->at))
                while (letter(*r->at) || digit(*r->at))
                    r->at++;
            else
                TESS_TRY(size(r, UINT64_MAX, "a stream", &stream));
        }
    }
    r->launch->shared = (int64_t)shared;
    return take(r, ">>>") ? TESS_OK : wrong(r, r->at, ">>>");
}

/* ---- arguments ---- */

/* *made is good until the next. */
static tess_status add(reader *r, tess_launch_kind kind, tess_launch_value **made) {
    tess_launch *l = r->launch;
    if (l->count == MOST_VALUES)
        return tess_fail(TESS_ERR_ARGUMENT, "the launch has more than %d arguments and members", MOST_VALUES);
    if (l->count == l->room) {
        int room = l->room ? 2 * l->room : 32;
        tess_launch_value *grown = tess_allocate(r->context, (size_t)room * sizeof *grown);
        if (!grown)
            return TESS_ERR_MEMORY;
        if (l->count)
            memcpy(grown, l->values, (size_t)l->count * sizeof *grown);
        tess_free(r->context, l->values, (size_t)l->room * sizeof *grown);
        l->values = grown;
        l->room = room;
    }
    tess_launch_value *v = &l->values[l->count++];
    *v = (tess_launch_value){.kind = kind, .at = (int)(r->at - r->text), .end = l->count};
    *made = v;
    return TESS_OK;
}

static const struct {
    const char *name;
    tess_type type;
} types[] = {{"u8", tess_u8},   {"i8", tess_i8},   {"u16", tess_u16}, {"i16", tess_i16}, {"f16", tess_f16}, {"bf16", tess_bf16},
             {"u32", tess_u32}, {"i32", tess_i32}, {"f32", tess_f32}, {"u64", tess_u64}, {"i64", tess_i64}, {"f64", tess_f64}};

static tess_type type(reader *r) {
    for (int i = 0; i < TESS_COUNT(types); i++)
        if (take_word(r, types[i].name))
            return types[i].type;
    return tess_no_type;
}

static tess_status file_name(reader *r, tess_launch_value *v) {
    const char *stop = ",){}";
    bool quoted = *r->at == '"' || *r->at == '\'';
    char mark[2] = {*r->at, 0};
    if (quoted) {
        stop = mark;
        r->at++;
    }
    v->source = TESS_SOURCE_FILE;
    v->file = r->at;
    v->file_length = (int)strcspn(r->at, stop);
    r->at += v->file_length;
    if (quoted && *r->at++ != mark[0])
        return wrong(r, r->at - 1, "the quote at the end of a file's name");
    while (!quoted && v->file_length > 0 && strchr(" \t\r\n", v->file[v->file_length - 1]))
        v->file_length--;
    if (v->file_length == 0)
        return wrong(r, v->file, "ramp, zeros, ones, random:SEED or a file's name");
    return TESS_OK;
}

static tess_status source(reader *r, tess_launch_value *v) {
    static const char what[] = "ramp, zeros, ones, random:SEED or a file's name";
    skip(r);
    if (take_word(r, "ramp"))
        v->source = TESS_SOURCE_RAMP;
    else if (take_word(r, "zeros"))
        v->source = TESS_SOURCE_ZEROS;
    else if (take_word(r, "ones"))
        v->source = TESS_SOURCE_ONES;
    else if (take(r, "random:")) {
        v->source = TESS_SOURCE_RANDOM;
        return tess_number_whole(&r->at, &v->seed) ? TESS_OK : wrong(r, r->at, "a whole number, the seed,");
    } else
        return *r->at ? file_name(r, v) : wrong(r, r->at, what);
    /* "ramp.npy" is a file, not the word with something behind it */
    if (*r->at == '.' || *r->at == '/' || *r->at == '-') {
        while (r->at > r->text && (letter(r->at[-1]) || digit(r->at[-1])))
            r->at--;
        return file_name(r, v);
    }
    return TESS_OK;
}

/* After in:, inout: or out:. */
static tess_status array(reader *r, bool in, bool out) {
    uint64_t number;
    tess_launch_value *v;
    TESS_TRY(add(r, TESS_LAUNCH_ARRAY, &v));
    v->in = in;
    v->out = out;
    skip(r);
    if (take(r, "$")) {
        v->kind = TESS_LAUNCH_CALLER;
        TESS_TRY(size(r, MOST_VALUES, "the number of an array", &number));
        v->number = (int)number;
        return TESS_OK;
    }
    if ((v->type = type(r)) == tess_no_type)
        return wrong(r, r->at, "a type, one of u8 i8 u16 i16 f16 bf16 u32 i32 f32 u64 i64 f64,");
    if (!take(r, "["))
        return wrong(r, r->at, "[ and the number of elements");
    TESS_TRY(size(r, (uint64_t)1 << 40, "the number of elements", &number));
    v->count = (int64_t)number;
    if (!take(r, "]"))
        return wrong(r, r->at, "]");
    if (!in)
        return TESS_OK;
    if (!take(r, "="))
        return wrong(r, r->at, "= and where the values come from");
    return source(r, v);
}

/* 4096, -1, 0x1p-3f, 2ull, true; after T: with a type. */
static tess_status number(reader *r, tess_type given) {
    tess_launch_value *v;
    TESS_TRY(add(r, TESS_LAUNCH_WHOLE, &v));
    tess_number n;
    skip(r);
    const char *start = r->at;
    if (!tess_number_read(&r->at, &n) || letter(*r->at) || digit(*r->at) || *r->at == '.')
        return wrong(r, start, given ? "a number" : "an argument (in:T[N]=SOURCE, inout:T[N]=SOURCE, out:T[N], a number, {members})");
    const char *digits = start + (*start == '-' || *start == '+');
    const tess_type named = given ? given : n.type;
    if (!tess_number_fits(&n, named) || (isinf(n.real) && !letter(*digits)))
        return tess_fail(TESS_ERR_ARGUMENT, "launch \"%.200s\", character %d: this number is none of %s", r->text, (int)(start - r->text) + 1,
                         tess_type_name(named ? named : tess_f64));
    v->kind = n.whole ? TESS_LAUNCH_WHOLE : TESS_LAUNCH_REAL;
    v->type = named;
    v->negative = n.negative;
    v->bits = n.bits;
    v->real = n.real;
    v->single = n.single;
    return TESS_OK;
}

static tess_status value(reader *r);

static tess_status structure(reader *r) {
    if (r->depth == MOST_DEPTH)
        return tess_fail(TESS_ERR_ARGUMENT, "launch \"%.200s\": structures nested more than %d deep", r->text, MOST_DEPTH);
    tess_launch_value *v;
    int self = r->launch->count;
    r->at--;
    TESS_TRY(add(r, TESS_LAUNCH_STRUCTURE, &v));
    r->at++;
    r->depth++;
    do {
        TESS_TRY(value(r));
    } while (take(r, ","));
    r->depth--;
    r->launch->values[self].end = r->launch->count;
    return take(r, "}") ? TESS_OK : wrong(r, r->at, ", or }");
}

static tess_status value(reader *r) {
    uint64_t n;
    skip(r);
    if (take(r, "{"))
        return structure(r);
    if (take(r, "inout:"))
        return array(r, true, true);
    if (take(r, "in:"))
        return array(r, true, false);
    if (take(r, "out:"))
        return array(r, false, true);
    if (*r->at == '$') {
        tess_launch_value *v;
        TESS_TRY(add(r, TESS_LAUNCH_CALLER, &v));
        r->at++;
        v->in = v->out = v->bare = true;
        TESS_TRY(size(r, MOST_VALUES, "the number of an array", &n));
        v->number = (int)n;
        return TESS_OK;
    }
    const char *start = r->at;
    tess_type given = type(r);
    if (given != tess_no_type && !take(r, ":"))
        return wrong(r, start, "in:, inout: or out: before an array, or T: before a number,");
    return number(r, given);
}

tess_status tess_launch_parse(tess_context *context, const char *text, tess_launch *launch) {
    *launch = (tess_launch){0};
    reader r = {.context = context, .launch = launch, .text = text, .at = text};
    tess_status status = name(&r);
    if (status == TESS_OK)
        status = geometry(&r);
    if (status == TESS_OK) {
        launch->no_list = !take(&r, "(");
        if (!launch->no_list && !take(&r, ")")) {
            do {
                status = value(&r);
            } while (status == TESS_OK && take(&r, ","));
            if (status == TESS_OK && !take(&r, ")"))
                status = wrong(&r, r.at, ", or )");
        }
    }
    if (status == TESS_OK) {
        take(&r, ";");
        skip(&r);
        if (*r.at)
            status = wrong(&r, r.at, launch->no_list ? "( and the arguments" : "the end");
    }
    if (status != TESS_OK)
        tess_launch_free(context, launch);
    return status;
}

void tess_launch_free(tess_context *context, tess_launch *launch) {
    tess_free(context, launch->values, (size_t)launch->room * sizeof *launch->values);
    launch->values = NULL;
    launch->count = launch->room = 0;
}
