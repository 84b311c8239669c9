/* SPDX-License-Identifier: Apache-2.0
 * module.c - loading a module: text in, records out; unloading it. */
#include <string.h>

#include "vgpu/machine.h"

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
