/* SPDX-License-Identifier: Apache-2.0
 * fuzz_host_code.c - any text as a program of which the host's part is left out, then its declarations on any lines: characters become blanks, newlines stay,
 * and leaving out comes to an end. The text has memory of exactly its size. The first three bytes choose the lines. */
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void only_blanks(const char *before, const char *after) {
    if (strlen(before) != strlen(after))
        abort();
    for (; *before; before++, after++)
        if (*after != *before && (*after != ' ' || *before == '\n'))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { LINES = 3 };
    tess_context *context;
    size_t length;
    if (size < LINES || size > 4096 || memchr(data + LINES, 0, size - LINES))
        return 0;
    char *text = malloc(size - LINES + 1);
    memcpy(text, data + LINES, size - LINES);
    text[size - LINES] = 0;
    if (tess_context_get(&context, NULL) != TESS_OK)
        abort();
    char *device = tess_profile_device_code(context, text, &length);
    if (!device || length != size - LINES + 1)
        abort();
    only_blanks(text, device);
    const int lines[LINES] = {data[0], data[1], data[2]};
    for (size_t round = 0; tess_profile_leave_out(device, lines, LINES) > 0; round++)
        if (round > size)
            abort();
    only_blanks(text, device);
    tess_free(context, device, length);
    free(text);
    return 0;
}
