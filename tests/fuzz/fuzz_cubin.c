/* SPDX-License-Identifier: Apache-2.0
 * fuzz_cubin.c - any bytes as machine code for the audit, of a PTX or by themselves: read, or refused with a sentence; nothing outside them is looked at,
 * nothing is leaked, and no instruction is told twice. */
#include <stdlib.h>

#include "vgpu/audit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char ptx[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .u32 %r<3>;\n.reg .u64 %a<2>;\n"
        ".reg .pred %p;\nld.param.u64 %a0, [p];\nmov.u32 %r0, 0;\nL:\nld.global.u32 %r1, [%a0];\nadd.u32 %r0, %r0, 1;\n"
        "setp.lt.u32 %p, %r0, %r1;\n@%p bra L;\nst.global.u32 [%a0], %r0;\nret;\n}\n";
    tess_context *context;
    tess_vgpu_machine *machine;
    tess_vgpu_module *module;
    if (tess_open(&context, NULL) != TESS_OK || tess_vgpu_open(&machine, context) != TESS_OK || tess_vgpu_load(machine, ptx, &module) != TESS_OK)
        abort();
    for (int known = 0; known < 2; known++) {
        vgpu_code *list;
        int count, room;
        tess_status status = tess_vgpu_cubin_read(context, known ? module : NULL, data, size, &list, &count, &room);
        if ((status == TESS_OK ? (size_t)count > size / 16 : !*tess_detail() || list))
            abort();
        for (int i = 0; i < count; i++)
            if (list[i].op >= VGPU_CODE_OPS || list[i].line < 0 || (i && list[i].line < list[i - 1].line))
                abort();
        if (known && status == TESS_OK && tess_vgpu_audit_list(module, list, count) != TESS_OK)
            abort();
        tess_free(context, list, (size_t)room * sizeof *list);
    }
    tess_vgpu_unload(module);
    tess_vgpu_close(machine);
    tess_close(context);
    return 0;
}
