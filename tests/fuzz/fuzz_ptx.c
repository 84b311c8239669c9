/* SPDX-License-Identifier: Apache-2.0
 * fuzz_ptx.c - any text as a PTX module: loaded, or refused with one sentence that names line and column; a kernel "k" in it is run under all checkers by
 * a few blocks, with its parameters pointing to a small array. Whatever it does, nothing outside the machine is touched and nothing is leaked. */
#include <stdlib.h>
#include <string.h>

#include "vgpu/vgpu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Modules may ask for much memory: they get a little. */
static void *allocate(void *user, size_t size, size_t alignment) {
    (void)user;
    return size > 24 << 20 ? NULL : aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
static void release(void *user, void *memory, size_t size) {
    (void)user;
    (void)size;
    free(memory);
}

static void run(tess_vgpu_machine *machine, tess_vgpu_module *module) {
    uint64_t params[64], array;
    static const char zeros[4096];
    if (tess_vgpu_malloc(machine, sizeof zeros, &array) != TESS_OK || tess_vgpu_copy_in(machine, array, zeros, sizeof zeros) != TESS_OK)
        abort();
    for (int i = 0; i < 64; i++)
        params[i] = array + (uint64_t)(i % 3) * 512;
    for (int64_t bytes = 0; bytes <= (int64_t)sizeof params; bytes += 4) { /* as many as the kernel takes */
        tess_vgpu_launch_options o = {.grid = {3}, .block = {40}, .shared_bytes = 256, .params = params, .param_bytes = bytes};
        tess_vgpu_run *result;
        o.count = o.check = o.check_global = true;
        o.threads = 1;
        o.seed = 1;
        o.step_limit = 200;
        if (tess_vgpu_launch(module, "k", &o, &result) != TESS_OK) {
            if (!*tess_detail() || result)
                abort();
            continue;
        }
        size_t length;
        tess_vgpu_counters total;
        tess_vgpu_total(result, &total);
        tess_vgpu_printed(result, &length, NULL);
        for (int i = 0; i < tess_vgpu_fault_count(result); i++)
            if (!*tess_vgpu_fault_at(result, i)->message)
                abort();
        tess_vgpu_run_free(result);
        break;
    }
    tess_vgpu_free(machine, array);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tess_context_options options = {.struct_size = sizeof options, .threads = 1, .allocate = allocate, .release = release};
    tess_context *context;
    tess_vgpu_machine *machine;
    tess_vgpu_module *module = NULL;
    char *text = malloc(size + 1);
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    if (tess_open(&context, &options) != TESS_OK || tess_vgpu_open(&machine, context) != TESS_OK)
        abort();
    if (tess_vgpu_load(machine, text, &module) == TESS_OK)
        run(machine, module);
    else if (!*tess_detail() || module)
        abort();
    tess_vgpu_unload(module);
    tess_vgpu_close(machine);
    tess_close(context);
    free(text);
    return 0;
}
