/* SPDX-License-Identifier: Apache-2.0
 * status.c - the status list's texts, the thread's detail sentence, and versioned option structures. */
#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char detail[TESS_DETAIL_SIZE];

tess_status tess_fail(tess_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    return status;
}

const char *tess_detail(void) { return detail; }

const char *tess_status_text(tess_status status) {
    switch (status) {
#define TEXT(name, text) \
    case name: return text;
        TESS_STATUS_LIST(TEXT)
#undef TEXT
    }
    return "unknown status";
}

const char *tess_status_name(tess_status status) {
    switch (status) {
#define NAME(name, text) \
    case name: return #name;
        TESS_STATUS_LIST(NAME)
#undef NAME
    }
    return "?";
}

int tess_version(void) { return TESSERA_VERSION; }

tess_status tess_options_copy(void *to, size_t size, const void *from, const char *what) {
    memset(to, 0, size);
    size_t given = 0;
    if (from) {
        memcpy(&given, from, sizeof given);
        if (given < sizeof(size_t) || given > 65536)
            return tess_fail(TESS_ERR_ARGUMENT, "%s: struct_size is %zu, it must be sizeof the structure (%zu here)", what, given, size);
        for (size_t i = size; i < given; i++)
            if (((const unsigned char *)from)[i])
                return tess_fail(TESS_ERR_ARGUMENT, "%s: struct_size is %zu and a field beyond the %zu bytes known to this library is set", what,
                                 given, size);
        memcpy(to, from, given < size ? given : size);
    }
    memcpy(to, &size, sizeof size);
    return TESS_OK;
}
