/* SPDX-License-Identifier: Apache-2.0
 * fuzz_mask.c - any text after --mask: weights within the limits, or one sentence. The first byte chooses the axes and the input's type. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mask.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static tess_io_message message;
    cli_mask mask;
    if (size == 0)
        return 0;
    int axes = 1 + data[0] % 4;
    tess_type type = (tess_type)(1 + data[0] / 4 % 15);
    char *text = malloc(size);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    if (cli_mask_is_file(text)) {
        free(text);
        return 0;
    }
    if (!cli_mask_parse(&mask, text, axes, type, &message)) {
        /* The text is repeated in the sentence as it came; what prints it (cli_fail) replaces control characters. */
        if (!*message.text || (strchr(message.text, '\n') && !strchr(text, '\n')))
            abort();
    } else {
        if (mask.count < 1 || mask.count > TESS_MAX_NDIM)
            abort();
        for (int k = 0; k < mask.count; k++)
            if (tess_io_count(mask.list[k]) < 1 || tess_io_count(mask.list[k]) > CLI_MASK_LIMIT)
                abort();
        cli_mask_free(&mask);
    }
    free(text);
    return 0;
}
