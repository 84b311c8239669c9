/* SPDX-License-Identifier: Apache-2.0
 * write.h - text and numbers one after another into a buffer. Each call writes the key of its problem, which took two fifths of a small one when printf did it. */
#ifndef TESS_CORE_WRITE_H
#define TESS_CORE_WRITE_H

#include "core/base.h"

typedef struct tess_writer {
    char *at, *last; /* the next character, and the place of the last one, which is the zero of a full buffer */
    bool cut;        /* something had no room */
} tess_writer;

TESS_INLINE tess_writer tess_write_to(char *buffer, size_t size) {
    *buffer = 0;
    return (tess_writer){buffer, buffer + size - 1, false};
}

TESS_INLINE void tess_write_text(tess_writer *w, const char *text) {
    while (*text && w->at < w->last)
        *w->at++ = *text++;
    w->cut |= *text != 0;
    *w->at = 0;
}

TESS_INLINE void tess_write_number(tess_writer *w, int64_t number) {
    char digits[24], *first = digits + sizeof digits - 1;
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    *first = 0;
    do {
        *--first = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (number < 0)
        *--first = '-';
    tess_write_text(w, first);
}

#endif
