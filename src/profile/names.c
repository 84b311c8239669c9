/* SPDX-License-Identifier: Apache-2.0
 * names.c - whether a kernel in PTX is the one that the user calls by its C++ name.
 *
 * Of the Itanium C++ ABI's mangling only names are read: _Z4blurPf is blur, _ZN3abc4blurEPf is abc::blur, _Z4blurIfLi32EEvPT_ is an instance of the
 * template blur. Types and template arguments are not compared: those who need them write the mangled name. */
#include <string.h>

#include "profile/profile.h"

/* The parts of a qualified name as written, the template arguments left out. */
static int written_parts(const char *name, const char **part, int *length, int most) {
    int n = 0;
    for (;;) {
        size_t size = strcspn(name, ":<");
        while (size > 0 && (name[size - 1] == ' ' || name[size - 1] == '\t'))
            size--;
        if (n == most)
            return 0;
        part[n] = name;
        length[n++] = (int)size;
        name = strpbrk(name, ":<");
        if (!name || name[0] != ':' || name[1] != ':')
            return n;
        name += 2;
    }
}

/* <number><that many characters>; an internal name such as _GLOBAL__N__... of an unnamed namespace is passed over. */
static bool mangled_part(const char **at, const char *end, const char **part, int *length) {
    int n = 0;
    if (*at == end || **at < '1' || **at > '9')
        return false;
    while (*at < end && **at >= '0' && **at <= '9' && n < 1 << 20)
        n = 10 * n + (*(*at)++ - '0');
    if (n > end - *at)
        return false;
    *part = *at;
    *length = n;
    *at += n;
    return true;
}

bool tess_profile_names(const char *symbol, int length, const char *name) {
    enum { MOST = 16 };
    const char *want[MOST], *have[MOST], *at = symbol + 2, *end = symbol + length;
    int want_length[MOST], have_length[MOST], wants, haves = 0;
    if ((int)strlen(name) == length && memcmp(symbol, name, (size_t)length) == 0)
        return true;
    if (length < 3 || memcmp(symbol, "_Z", 2) != 0)
        return false;
    bool nested = *at == 'N';
    at += nested || *at == 'L'; /* L: internal linkage */
    while (haves < MOST && mangled_part(&at, end, &have[haves], &have_length[haves])) {
        haves += !(have_length[haves] > 11 && memcmp(have[haves], "_GLOBAL__N_", 11) == 0);
        if (!nested)
            break;
    }
    wants = written_parts(name, want, want_length, MOST);
    if (wants == 0 || wants > haves)
        return false;
    for (int i = 0; i < wants; i++) { /* the last parts: blur finds abc::blur too */
        int k = haves - wants + i;
        if (want_length[i] != have_length[k] || memcmp(want[i], have[k], (size_t)want_length[i]) != 0)
            return false;
    }
    return true;
}

const char *tess_profile_file(const tess_profile *p, const char *file, int length, int *shown) {
    const char *slash = strrchr(p->name, '/'), *base = slash ? slash + 1 : p->name;
    int n = (int)strlen(base);
    /* The compiler puts the working directory before the name that it was given. */
    if (file && length >= n && memcmp(file + length - n, base, (size_t)n) == 0 && (length == n || file[length - n - 1] == '/')) {
        *shown = (int)strlen(p->name);
        return p->name;
    }
    *shown = file ? length : 0;
    return file ? file : "";
}

const char *tess_profile_source_line(const tess_profile *p, const char *file, int file_length, int line, int *length) {
    int shown;
    const char *at = p->source;
    if (line < 1 || tess_profile_file(p, file, file_length, &shown) != p->name)
        return NULL;
    while (--line > 0 && *at) {
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    *length = (int)strcspn(at, "\r\n");
    return *at || line == 0 ? at : NULL;
}
