/* SPDX-License-Identifier: Apache-2.0
 * module.c - loading a module: text in, records out; unloading it. */
#include <string.h>

#include "vgpu/machine.h"

tess_status tess_vgpu_refuse_function(tess_vgpu_module *module, ptx_function *function, int file, int source_line) {
    size_t size = strlen(tess_detail()) + 1;
    if (function->refused)
        return TESS_OK;
    char *copy = tess_vgpu_arena(module, size);
    if (!copy)
        return TESS_ERR_MEMORY;
    memcpy(copy, tess_detail(), size);
    function->refused = copy;
    function->refused_file = file;
    function->refused_line = source_line;
    return TESS_OK;
}

tess_status tess_vgpu_usable(const tess_vgpu_module *module, const ptx_function *f) {
    const ptx_symbol *s = f->symbol;
    if (!f->refused)
        return TESS_OK;
    int file = f->refused_file & 255;
    if (!f->refused_line || !module->file_name[file])
        return tess_fail(TESS_ERR_ARGUMENT, "%.*s cannot run here: %s", s->length, s->name, f->refused);
    return tess_fail(TESS_ERR_ARGUMENT, "%.*s cannot run here: %.*s:%d, %s", s->length, s->name, module->file_name_length[file],
                     module->file_name[file], f->refused_line, f->refused);
}

/* Who names a refused function, to call it or to keep its address, cannot run either. */
static bool names_refused(tess_vgpu_module *m, ptx_function *f) {
    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < f->code[i].operand_count; k++) {
            const ptx_operand *o = &f->code[i].operand[k];
            const ptx_symbol *s = o->kind == PTX_SYMBOL && !o->symbol ? tess_vgpu_find(m, o->name, o->name_length) : NULL;
            if (!s || s->kind != PTX_FUNCTION || !s->function->refused)
                continue;
            f->refused = s->function->refused;
            f->refused_file = s->function->refused_file;
            f->refused_line = s->function->refused_line;
            return true;
        }
    return false;
}

/* A module is loaded when one of its kernels can run, or nothing of it was refused. */
static tess_status settle_refusals(tess_vgpu_module *m) {
    const ptx_function *first = NULL;
    bool usable = false;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < m->function_count; i++)
            changed |= !m->functions[i]->refused && names_refused(m, m->functions[i]);
    }
    for (int i = 0; i < m->function_count; i++) {
        const ptx_function *f = m->functions[i];
        usable |= f->entry && f->defined && !f->refused;
        if (f->refused && (!first || (f->entry && !first->entry)))
            first = f;
    }
    return first && !usable ? tess_vgpu_usable(m, first) : TESS_OK;
}

tess_status tess_vgpu_load(tess_vgpu_machine *machine, const char *text, tess_vgpu_module **loaded) {
    *loaded = NULL;
    tess_vgpu_module *m = tess_allocate_zeroed(machine->context, sizeof *m);
    if (!m)
        return TESS_ERR_MEMORY;
    m->context = machine->context;
    m->machine = machine;
    size_t size = strlen(text) + 1;
    char *copy = tess_vgpu_arena(m, size);
    tess_status status = TESS_ERR_MEMORY;
    if (copy) {
        memcpy(copy, text, size);
        m->text = copy;
        status = tess_vgpu_parse(m);
    }
    if (status == TESS_OK)
        status = tess_vgpu_decode(m, machine->context->slot);
    if (status == TESS_OK)
        status = settle_refusals(m);
    if (status == TESS_OK)
        *loaded = m;
    else
        tess_vgpu_unload(m);
    return status;
}

void tess_vgpu_unload(tess_vgpu_module *m) {
    if (!m)
        return;
    for (int i = 0; i < m->global_count; i++)
        tess_vgpu_free(m->machine, m->globals[i]->address);
    tess_vgpu_arena_free(m);
    tess_free(m->context, m, sizeof *m);
}

tess_status tess_vgpu_symbol(tess_vgpu_module *module, const char *name, uint64_t *address, int64_t *bytes) {
    const ptx_symbol *s = tess_vgpu_find(module, name, (int)strlen(name));
    *address = 0;
    *bytes = 0;
    if (!s || s->kind != PTX_VARIABLE || (s->space != PTX_GLOBAL && s->space != PTX_CONST))
        return tess_fail(TESS_ERR_ARGUMENT, "the module has no variable \"%s\" in global or constant memory", name);
    *address = s->address + (s->space == PTX_CONST ? VGPU_CONST_WINDOW : 0);
    *bytes = (int64_t)s->size;
    return TESS_OK;
}

tess_status tess_vgpu_symbol_write(tess_vgpu_module *module, const char *name, int64_t offset, const void *from, int64_t bytes) {
    uint64_t address = 0;
    int64_t size = 0;
    TESS_TRY(tess_vgpu_symbol(module, name, &address, &size));
    if (offset < 0 || bytes < 0 || bytes > size || offset > size - bytes)
        return tess_fail(TESS_ERR_ARGUMENT, "%lld bytes at offset %lld of \"%s\", which has %lld", (long long)bytes, (long long)offset, name,
                         (long long)size);
    if (address - VGPU_CONST_WINDOW >= VGPU_WINDOW_SIZE)
        return tess_vgpu_copy_in(module->machine, address + (uint64_t)offset, from, bytes);
    memcpy(module->constants + (address - VGPU_CONST_WINDOW) + offset, from, (size_t)bytes);
    return TESS_OK;
}
