/* SPDX-License-Identifier: Apache-2.0
 * text.c - building text in a caller's buffer while counting what it would need. */
#include <stdarg.h>
#include <stdio.h>

#include "core/strategy.h"

void tess_text_add(tess_text *text, const char *format, ...) {
    size_t room = text->length < text->capacity ? text->capacity - text->length : 0;
    va_list arguments;
    va_start(arguments, format);
    int wrote = vsnprintf(room ? text->at + text->length : NULL, room, format, arguments);
    va_end(arguments);
    if (wrote > 0)
        text->length += (size_t)wrote;
}

void tess_text_json(tess_text *text, const char *string) {
    tess_text_add(text, "\"");
    for (const unsigned char *s = (const unsigned char *)string; *s; s++)
        if (*s == '"' || *s == '\\')
            tess_text_add(text, "\\%c", *s);
        else if (*s < 0x20)
            tess_text_add(text, "\\u%04x", *s);
        else
            tess_text_add(text, "%c", *s);
    tess_text_add(text, "\"");
}

tess_status tess_text_end(tess_text *text, size_t *length) {
    if (length)
        *length = text->length;
    if (text->capacity > 0 && text->length >= text->capacity)
        return tess_fail(TESS_ERR_SIZE, "the text has %zu bytes, the capacity of %zu holds %zu", text->length, text->capacity, text->capacity - 1);
    return TESS_OK;
}
