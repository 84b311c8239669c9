/* SPDX-License-Identifier: Apache-2.0
 * host_code.c - a program's text without what only the host runs, for a compiler that takes device code alone.
 *
 * Files of courses and samples hold kernels, main() and what lies between. What goes: functions and prototypes outside classes that are neither
 * __global__ nor __device__ (by a macro either) nor constexpr, and objects made by a constructor; of members that call the CUDA runtime or the standard
 * library, as classes of timers and buffers have them, what stands between the braces. It goes by blanks, so that lines and columns stay. This
 * is no C++ parser: it knows comments, literals, directives, brackets, and the words that a declaration begins with.
 *
 * What the compiler then complains of outside device code are the host's types and tables (a member of std::string, pointers to functions that went): those
 * declarations go by the lines that it names. */
#include <string.h>

#include "profile/profile.h"

enum { MACROS = 32 };

typedef struct word {
    const char *at;
    size_t length;
} word;

typedef struct reader {
    char *text, *at;
    word macro[MACROS]; /* of which the text says __device__ or __global__ */
    int macros;
    const int *line; /* declarations that lie on one of them go */
    int lines, gone;
    const char *counted; /* the number of the line that it lies on */
    int number;
} reader;

static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9'); }
static bool same(word w, const char *text) { return strlen(text) == w.length && memcmp(w.at, text, w.length) == 0; }

static size_t word_at(const char *at) {
    size_t length = 0;
    while (letter(at[length]))
        length++;
    return length;
}

static void directive(reader *r) {
    char *end = r->at;
    while (*end && *end != '\n') /* a backslash at the end goes on */
        end += *end == '\\' && end[1] ? 2 : 1;
    char *name = r->at + 1 + strspn(r->at + 1, " \t");
    if (strncmp(name, "define", 6) == 0 && r->macros < MACROS) {
        name += 6;
        name += strspn(name, " \t");
        size_t length = word_at(name);
        for (const char *p = name + length; p + 10 <= end; p++)
            if (memcmp(p, "__device__", 10) == 0 || memcmp(p, "__global__", 10) == 0) {
                r->macro[r->macros++] = (word){name, length};
                break;
            }
    }
    r->at = end;
}

/* Whether the ' here stands within a number, between its digits. */
static bool separates_digits(const reader *r) {
    const char *p = r->at;
    while (p > r->text && (letter(p[-1]) || p[-1] == '\''))
        p--;
    return *p >= '0' && *p <= '9';
}

/* Past R"mark( ... )mark", from the quote on. */
static char *raw_end(char *quote) {
    char mark[20] = ")";
    const size_t length = strcspn(quote + 1, "( \\)\n");
    if (length > 16 || quote[1 + length] != '(')
        return quote + 1;
    memcpy(mark + 1, quote + 1, length);
    mark[1 + length] = '"';
    char *end = strstr(quote, mark);
    return end ? end + strlen(mark) : quote + strlen(quote);
}

/* Past one character, literal or comment. */
static void step(reader *r) {
    char *p = r->at, quote = *p;
    if (p[0] == '/' && p[1] == '/') {
        p += strcspn(p, "\n");
    } else if (p[0] == '/' && p[1] == '*') {
        char *end = strstr(p + 2, "*/");
        p = end ? end + 2 : p + strlen(p);
    } else if (quote == '"' && p > r->text && p[-1] == 'R') {
        p = raw_end(p);
    } else if (quote == '"' || (quote == '\'' && !separates_digits(r))) {
        for (p++; *p && *p != quote && *p != '\n'; p++)
            p += *p == '\\' && p[1];
        p += *p == quote;
    } else {
        p++;
    }
    r->at = p;
}

/* From an opening bracket past the one that closes it. */
static void skip_brackets(reader *r, char open, char close) {
    int depth = 0;
    bool line_begins = false;
    do {
        if (line_begins && *r->at == '#') {
            directive(r);
            continue;
        }
        line_begins = *r->at == '\n' || (line_begins && (*r->at == ' ' || *r->at == '\t'));
        depth += (*r->at == open) - (*r->at == close);
        step(r);
    } while (*r->at && depth > 0);
}

static void blank(char *from, const char *to) {
    for (; from < to; from++)
        if (*from != '\n' && *from != '\r')
            *from = ' ';
}

typedef struct declaration {
    char *start;
    int words;                                           /* before the first parenthesis */
    bool device, keep, scope, type, called, initialised; /* scope: namespace, extern "C"; called: there was a parenthesis */
} declaration;

static void note_word(const reader *r, declaration *d, word w) {
    static const char *const kept[] = {"typedef", "using", "static_assert", "constexpr", "consteval", "asm", "texture"};
    static const char *const types[] = {"struct", "class", "union", "enum"};
    d->words += !d->called;
    d->device |= same(w, "__device__") || same(w, "__global__") || same(w, "__constant__") || same(w, "__shared__") || same(w, "__managed__");
    for (int i = 0; i < r->macros; i++)
        d->device |= w.length == r->macro[i].length && memcmp(w.at, r->macro[i].at, w.length) == 0;
    for (int i = 0; i < TESS_COUNT(kept); i++)
        d->keep |= same(w, kept[i]);
    for (int i = 0; i < TESS_COUNT(types); i++)
        d->type |= !d->called && same(w, types[i]);
    d->scope |= same(w, "namespace") || same(w, "extern");
}

static bool is_host(const declaration *d, const char *start) {
    bool is_main = d->words == 1 && strncmp(start, "main", 4) == 0;
    return d->start && d->called && !d->device && !d->keep && !d->initialised && (d->words > 1 || is_main);
}

/* Whether a member's body has a call of cudaSomething() or names std:: */
static bool calls_host(const char *from, const char *to) {
    while (from < to) {
        size_t length = word_at(from);
        const char *behind = from + length;
        if ((length > 4 && memcmp(from, "cuda", 4) == 0 && from[4] >= 'A' && from[4] <= 'Z' && *behind == '(') ||
            (length == 3 && strncmp(from, "std::", 5) == 0) || (length == 4 && memcmp(from, "cout", 4) == 0))
            return true;
        from += length ? length : 1;
    }
    return false;
}

/* Whether one of the reader's lines crosses what lies from `from` to `to`; asked in the order of the text. */
static bool is_named(reader *r, const char *from, const char *to) {
    for (; r->counted < from; r->counted++)
        r->number += *r->counted == '\n';
    const int first = r->number;
    int last = first;
    for (const char *p = from; p < to; p++)
        last += *p == '\n';
    for (int i = 0; i < r->lines; i++)
        if (r->line[i] >= first && r->line[i] <= last)
            return true;
    return false;
}

/* A declaration ends here. */
static void finish(reader *r, declaration *d) {
    if (is_host(d, d->start)) {
        blank(d->start, r->at);
    } else if (r->lines > 0 && !d->device && is_named(r, d->start, r->at)) {
        blank(d->start, r->at);
        r->gone++;
    }
    *d = (declaration){0};
}

/* From the brace that opens a class past the one that closes it; classes inside it too. */
static void members(reader *r, int depth) {
    declaration d = {0};
    step(r);
    while (*r->at && *r->at != '}') {
        size_t length = word_at(r->at);
        if (length) {
            note_word(r, &d, (word){r->at, length});
            r->at += length;
        } else if (*r->at == '(') {
            d.called = true;
            skip_brackets(r, '(', ')');
        } else if (*r->at == '{' && !d.called && depth < 16) {
            members(r, depth + 1);
        } else if (*r->at == '{') {
            char *start = r->at + 1;
            skip_brackets(r, '{', '}');
            if (!d.device && calls_host(start, r->at))
                blank(start, r->at - (r->at[-1] == '}'));
            d = (declaration){0};
        } else {
            if (*r->at == ';')
                d = (declaration){0};
            step(r);
        }
    }
    if (*r->at)
        step(r);
}

/* The declaration that begins at the word or mark here goes on by one piece of it. */
static void piece(reader *r, declaration *d) {
    static const char *const attributes[] = {"__align__", "alignas", "__attribute__", "__launch_bounds__", "__cluster_dims__", "decltype"};
    char c = *r->at;
    if (!d->start)
        d->start = r->at;
    if (letter(c)) {
        word w = {r->at, word_at(r->at)};
        r->at += w.length;
        note_word(r, d, w);
        if (same(w, "operator")) { /* its name */
            r->at += strspn(r->at, " =+-*/<>!&|^~%[],");
            r->at += r->at[0] == '(' && r->at[1] == ')' ? 2 : 0;
        }
        for (int i = 0; i < TESS_COUNT(attributes); i++) /* a parenthesis that is not a function's */
            if (same(w, attributes[i]) && r->at[strspn(r->at, " \t\r\n")] == '(') {
                r->at += strspn(r->at, " \t\r\n");
                skip_brackets(r, '(', ')');
            }
        if (same(w, "template") && r->at[strspn(r->at, " \t\r\n")] == '<') {
            r->at += strspn(r->at, " \t\r\n");
            skip_brackets(r, '<', '>');
        }
    } else if (c == '(') {
        d->called = true;
        skip_brackets(r, '(', ')');
    } else if (c == '[') {
        skip_brackets(r, '[', ']');
    } else if (c == '{' && d->scope && !d->called && !d->type) { /* what is inside is as what is outside */
        step(r);
        *d = (declaration){0};
    } else if (c == '{' && d->type && !d->called && !d->initialised) {
        members(r, 0);
    } else if (c == '{') {
        bool ends = d->called && !d->initialised; /* a function's body, nothing follows */
        skip_brackets(r, '{', '}');
        if (ends)
            finish(r, d);
    } else if (c == ';') {
        step(r);
        finish(r, d);
    } else if (c == '}') { /* of a namespace */
        step(r);
        *d = (declaration){0};
    } else {
        d->initialised |= c == '=';
        step(r);
    }
}

static void read_all(reader *r) {
    declaration d = {0};
    for (bool line_begins = true; *r->at;) {
        bool space = *r->at == ' ' || *r->at == '\t' || *r->at == '\r' || *r->at == '\n';
        if (line_begins && *r->at == '#') {
            directive(r);
        } else if (space || (r->at[0] == '/' && (r->at[1] == '/' || r->at[1] == '*'))) {
            line_begins = *r->at == '\n' || (line_begins && space);
            step(r);
        } else {
            line_begins = false;
            piece(r, &d);
        }
    }
}

char *tess_profile_device_code(tess_context *context, const char *source, size_t *size) {
    *size = strlen(source) + 1;
    char *text = tess_allocate(context, *size);
    if (!text)
        return NULL;
    memcpy(text, source, *size);
    read_all(&(reader){.text = text, .at = text});
    return text;
}

int tess_profile_leave_out(char *text, const int *line, int lines) {
    reader r = {.text = text, .at = text, .line = line, .lines = lines, .counted = text, .number = 1};
    read_all(&r);
    return r.gone;
}
