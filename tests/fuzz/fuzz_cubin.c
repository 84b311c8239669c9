/* SPDX-License-Identifier: Apache-2.0
 * fuzz_cubin.c - any bytes as machine code for the audit: read, or refused with a sentence; nothing outside them is looked at, nothing is leaked, and no
 * instruction is told twice. */
#include <stdlib.h>

#include "vgpu/audit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tess_context *context;
    vgpu_code *list;
    int count, room;
    if (tess_open(&context, NULL) != TESS_OK)
        abort();
    tess_status status = tess_vgpu_cubin_read(context, data, size, &list, &count, &room);
    if ((status == TESS_OK ? (size_t)count > size / 16 : !*tess_detail() || list))
        abort();
    for (int i = 0; i < count; i++)
        if (list[i].op >= VGPU_CODE_OPS || list[i].line < 0 || (i && list[i].line < list[i - 1].line))
            abort();
    tess_free(context, list, (size_t)room * sizeof *list);
    tess_close(context);
    return 0;
}
