/* SPDX-License-Identifier: Apache-2.0
 * fuzz_media.c - any bytes as a file of any format that the command reads (found by what it begins with): elements that can all be read, or one
 * sentence. */
#include <stdlib.h>
#include <string.h>

#include "io/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static tess_io_message message;
    static const tess_io_limits limits = {.pixels = 1 << 18};
    tess_io_array array;
    unsigned char *copy = malloc(size + 1);
    memcpy(copy, data, size);
    tess_io_bytes bytes = {.data = copy, .size = size};
    if (tess_io_decode(&array, &bytes, "input", &limits, &message) != TESS_IO_OK) {
        if (!*message.text || strchr(message.text, '\n'))
            abort();
    } else {
        volatile unsigned char sum = 0;
        if (array.format != TESS_IO_NPY) { /* compact; npy has a target of its own */
            const unsigned char *at = (const unsigned char *)array.tensor.data + array.tensor.byte_offset;
            int64_t total = tess_io_count(&array.tensor) * (array.tensor.dtype.bits / 8);
            for (int64_t i = 0; i < total; i++)
                sum = (unsigned char)(sum ^ at[i]);
        }
        tess_io_free(&array);
    }
    free(copy);
    return 0;
}
