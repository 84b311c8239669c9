/* SPDX-License-Identifier: Apache-2.0
 * query.c - what a module holds, for those who launch it: its kernels and their parameters. */
#include <string.h>

#include "vgpu/machine.h"

static const ptx_function *kernel_number(const tess_vgpu_module *module, int number) {
    for (int i = 0; i < module->function_count; i++)
        if (module->functions[i]->entry && module->functions[i]->defined && number-- == 0)
            return module->functions[i];
    return NULL;
}

bool tess_vgpu_kernel_at(const tess_vgpu_module *module, int number, tess_vgpu_kernel_info *info) {
    const ptx_function *f = number < 0 ? NULL : kernel_number(module, number);
    if (!f)
        return false;
    *info = (tess_vgpu_kernel_info){.name = f->symbol->name,
                                    .name_length = f->symbol->length,
                                    .params = f->param_count,
                                    .param_bytes = f->param_bytes,
                                    .shared_bytes = f->shared_bytes};
    return true;
}

tess_status tess_vgpu_kernel_check(const tess_vgpu_module *module, int kernel) {
    const ptx_function *f = kernel < 0 ? NULL : kernel_number(module, kernel);
    return f ? tess_vgpu_usable(module, f) : tess_fail(TESS_ERR_ARGUMENT, "the module has no kernel of number %d", kernel);
}

bool tess_vgpu_param_at(const tess_vgpu_module *module, int kernel, int number, tess_vgpu_param *param) {
    const ptx_function *f = kernel < 0 ? NULL : kernel_number(module, kernel);
    if (!f || number < 0 || number >= f->param_count)
        return false;
    const ptx_symbol *s = f->params[number];
    int64_t bytes = (int64_t)s->size;
    *param = (tess_vgpu_param){.offset = (int64_t)s->address, .bytes = bytes, .type = tess_vgpu_type_name(s->type)};
    param->structure = bytes != tess_vgpu_type_bytes(s->type);
    param->floating = !param->structure && (s->type == PTX_F32 || s->type == PTX_F64 || s->type == PTX_F16 || s->type == PTX_BF16);
    param->integer = !param->structure && s->type >= PTX_U8 && s->type <= PTX_S64;
    return true;
}

bool tess_vgpu_param_read(const tess_vgpu_module *module, int kernel, int number, int64_t offset, int *bytes, bool *floating) {
    const ptx_function *f = kernel < 0 ? NULL : kernel_number(module, kernel);
    if (!f || number < 0 || number >= f->param_count)
        return false;
    for (int i = 0; i < f->count; i++) {
        const ptx_instruction *in = &f->code[i];
        const ptx_operand *from = &in->operand[1];
        if (in->op != PTX_OP_LD || in->operand_count < 2 || from->kind != PTX_ADDRESS || from->symbol != f->params[number] || from->has_base)
            continue;
        int each = tess_vgpu_type_bytes(in->types[0]), elements = in->operand[0].kind == PTX_VECTOR ? in->operand[0].elements : 1;
        for (int e = 0; e < elements; e++)
            if ((int64_t)from->bits + e * each == offset) {
                *bytes = each;
                *floating = in->types[0] == PTX_F32 || in->types[0] == PTX_F64;
                return true;
            }
    }
    return false;
}
