/* SPDX-License-Identifier: Apache-2.0
 * fuzz_wisdom.c - any text as wisdom: imported, or refused with a sentence; what is exported can be imported again and says the same. */
#include <stdlib.h>
#include <string.h>

#include "tessera.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *export_all(tess_context *context, size_t *length) {
    if (tess_wisdom_export(context, NULL, 0, length) != TESS_OK)
        abort();
    char *text = malloc(*length + 1);
    if (tess_wisdom_export(context, text, *length + 1, length) != TESS_OK)
        abort();
    return text;
}

/* Lines may come back in another order: compare how many there are, and their bytes as a sum. */
static uint64_t digest(const char *text) {
    uint64_t sum = 0;
    for (; *text; text++)
        sum += (unsigned char)*text;
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tess_context *first, *second;
    tess_context_options options = {.struct_size = sizeof options, .threads = 1};
    size_t length, again;
    if (tess_open(&first, &options) != TESS_OK || tess_open(&second, &options) != TESS_OK)
        abort();
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = 0;
    tess_status status = tess_wisdom_import(first, text);
    if (status != TESS_OK && (status != TESS_ERR_ARGUMENT || !*tess_detail()))
        abort();
    char *exported = export_all(first, &length);
    if (strlen(exported) != length)
        abort();
    if (length > 0 && tess_wisdom_import(second, exported) != TESS_OK)
        abort();
    char *round_trip = export_all(second, &again);
    if (again != length || digest(round_trip) != digest(exported))
        abort();
    free(text);
    free(exported);
    free(round_trip);
    tess_close(first);
    tess_close(second);
    return 0;
}
