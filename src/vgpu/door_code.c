/* SPDX-License-Identifier: Apache-2.0
 * door_code.c - the driver's entries about code: modules from PTX, functions and their facts, launches. */
#include <string.h>

#include "core/strategy.h"
#include "vgpu/door.h"

/* ---- modules ---- */

static void write_log(unsigned int count, const CUjit_option *options, void *const *values, const char *text) {
    char *buffer = NULL;
    size_t size = 0;
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
            buffer = values[i];
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            size = (size_t)(unsigned)(uintptr_t)values[i];
    }
    size_t length = strlen(text);
    if (!buffer || !size)
        return;
    length = length < size ? length : size - 1;
    memcpy(buffer, text, length);
    buffer[length] = 0;
}

/* Machine code begins with the mark of ELF or of NVIDIA's container. */
static bool is_machine_code(const void *image) {
    uint32_t mark;
    memcpy(&mark, image, sizeof mark);
    return mark == 0x464c457fu || mark == 0xba55ed50u || mark == 0x466243b1u;
}

CUresult tess_vgpu_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int count, CUjit_option *options, void **values) {
    CUresult result;
    tess_vgpu_door *door = tess_vgpu_door_current(&result);
    *module = NULL;
    if (!door)
        return result;
    if (!image)
        return tess_vgpu_door_leave(door, tess_vgpu_door_say(CUDA_ERROR_INVALID_VALUE, "the image is NULL"));
    if (tess_vgpu_door_unsafe(door))
        return tess_vgpu_door_leave(door, tess_vgpu_door_say(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cuModuleLoadDataEx while a stream is captured"));
    if (is_machine_code(image)) {
        static const char text[] = "the virtual GPU runs PTX, this is machine code";
        write_log(count, options, values, text);
        return tess_vgpu_door_leave(door, tess_vgpu_door_say(CUDA_ERROR_NO_BINARY_FOR_GPU, "%s", text));
    }
    vgpu_object *o = tess_vgpu_door_add(door, VGPU_MODULE);
    tess_status status = o ? tess_vgpu_load(door->machine, image, &o->module) : TESS_ERR_MEMORY;
    if (status != TESS_OK) {
        result = tess_vgpu_door_status(status, CUDA_ERROR_INVALID_PTX);
        write_log(count, options, values, tess_detail());
        if (o)
            tess_vgpu_door_remove(door, o);
        return tess_vgpu_door_leave(door, result);
    }
    o->bank = VGPU_BANK_BASE + (o->handle & UINT32_MAX) * PTX_CONSTANT_LIMIT * 2; /* a gap follows each */
    *module = (CUmodule)(uintptr_t)o->handle;
    return tess_vgpu_door_leave(door, CUDA_SUCCESS);
}

CUresult tess_vgpu_cuModuleUnload(CUmodule module) {
    CUresult result;
    tess_vgpu_door *door;
    vgpu_object *o = tess_vgpu_door_find(module, VGPU_MODULE, &door, &result);
    if (!o)
        return result;
    tess_vgpu_door_remove(door, o);
    return tess_vgpu_door_leave(door, CUDA_SUCCESS);
}

static int static_shared(const vgpu_object *function) { return (int)function->kernel->function->shared_bytes; }

CUresult tess_vgpu_cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    CUresult result;
    tess_vgpu_door *door;
    const vgpu_object *m = tess_vgpu_door_find(module, VGPU_MODULE, &door, &result);
    *function = NULL;
    if (!m)
        return result;
    const ptx_symbol *s = tess_vgpu_find(m->module, name, (int)strlen(name));
    if (!s || s->kind != PTX_FUNCTION || !s->function->entry || !s->function->defined)
        return tess_vgpu_door_leave(door, tess_vgpu_door_say(CUDA_ERROR_NOT_FOUND, "the module has no kernel \"%s\"", name));
    tess_status usable = tess_vgpu_usable(m->module, s->function);
    if (usable != TESS_OK)
        return tess_vgpu_door_leave(door, tess_vgpu_door_status(usable, CUDA_ERROR_INVALID_PTX));
    vgpu_object *o = door->objects;
    while (o && !(o->kind == VGPU_FUNCTION && o->kernel == s))
        o = o->next;
    if (!o) {
        uint64_t owner = m->handle;
        tess_vgpu_module *owned = m->module;
        if (!(o = tess_vgpu_door_add(door, VGPU_FUNCTION)))
            return tess_vgpu_door_leave(door, tess_vgpu_door_status(TESS_ERR_MEMORY, CUDA_ERROR_OUT_OF_MEMORY));
        o->owner = owner;
        o->module = owned;
        o->kernel = s;
        int left = TESS_VGPU_SHARED_DEFAULT - static_shared(o);
        o->dynamic_limit = left > 0 ? left : 0;
    }
    *function = (CUfunction)(uintptr_t)o->handle;
    return tess_vgpu_door_leave(door, CUDA_SUCCESS);
}

CUresult tess_vgpu_cuModuleGetGlobal(CUdeviceptr *pointer, size_t *bytes, CUmodule module, const char *name) {
    CUresult result;
    tess_vgpu_door *door;
    const vgpu_object *m = tess_vgpu_door_find(module, VGPU_MODULE, &door, &result);
    uint64_t address = 0;
    int64_t size = 0;
    if (!m)
        return result;
    tess_status status = tess_vgpu_symbol(m->module, name, &address, &size);
    if (status == TESS_OK && address - VGPU_CONST_WINDOW < VGPU_WINDOW_SIZE)
        address = address - VGPU_CONST_WINDOW + m->bank;
    if (status == TESS_OK && pointer)
        *pointer = address;
    if (status == TESS_OK && bytes)
        *bytes = (size_t)size;
    return tess_vgpu_door_leave(door, tess_vgpu_door_status(status, CUDA_ERROR_NOT_FOUND));
}

/* ---- functions ---- */

/* PTX has as many registers as it likes; how many machine code would need is not known here and told as 0. */
CUresult tess_vgpu_cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
    CUresult result;
    tess_vgpu_door *door;
    const vgpu_object *f = tess_vgpu_door_find(function, VGPU_FUNCTION, &door, &result);
    if (!f)
        return result;
    switch ((int)attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: {
        const uint32_t *most = f->kernel->function->most_threads;
        uint64_t threads = (uint64_t)most[0] * most[1] * most[2];
        *value = threads && threads < 1024 ? (int)threads : 1024;
        break;
    }
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = static_shared(f); break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = (int)f->module->constant_bytes; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)f->kernel->function->frame_bytes; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = 0; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = f->dynamic_limit; break;
    default:
        return tess_vgpu_door_leave(
            door, tess_vgpu_door_say(CUDA_ERROR_INVALID_VALUE, "the virtual GPU does not know function attribute %d", (int)attribute));
    }
    return tess_vgpu_door_leave(door, CUDA_SUCCESS);
}

CUresult tess_vgpu_cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    CUresult result;
    tess_vgpu_door *door;
    vgpu_object *f = tess_vgpu_door_find(function, VGPU_FUNCTION, &door, &result);
    if (!f)
        return result;
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        result = tess_vgpu_door_say(CUDA_ERROR_INVALID_VALUE, "the virtual GPU cannot set function attribute %d", (int)attribute);
    else if (value < 0 || value > TESS_VGPU_SHARED_LIMIT - static_shared(f))
        result = tess_vgpu_door_say(CUDA_ERROR_INVALID_VALUE, "%d bytes of dynamic shared memory beside %d static ones; the limit of both is %d",
                                    value, static_shared(f), (int)TESS_VGPU_SHARED_LIMIT);
    else
        f->dynamic_limit = value;
    return tess_vgpu_door_leave(door, result);
}

/* By threads and shared memory; 1 KiB of the latter is the system's in each block. */
CUresult tess_vgpu_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int block_size, size_t dynamic_shared) {
    CUresult result;
    tess_vgpu_door *door;
    const vgpu_object *f = tess_vgpu_door_find(function, VGPU_FUNCTION, &door, &result);
    if (!f)
        return result;
    if (block_size < 1 || block_size > 1024 || dynamic_shared > TESS_VGPU_SHARED_LIMIT)
        return tess_vgpu_door_leave(door,
                                    tess_vgpu_door_say(CUDA_ERROR_INVALID_VALUE, "a block of %d threads with %zu bytes", block_size, dynamic_shared));
    int by_threads = 2048 / ((block_size + 31) / 32 * 32), shared = static_shared(f) + (int)dynamic_shared;
    int by_shared = shared > TESS_VGPU_SHARED_LIMIT ? 0 : TESS_VGPU_SHARED_SM / (shared + 1024);
    *blocks = by_threads < by_shared ? by_threads : by_shared;
    *blocks = *blocks < 32 ? *blocks : 32;
    return tess_vgpu_door_leave(door, CUDA_SUCCESS);
}

/* ---- launches ---- */

static CUresult code_of(tess_vgpu_fault_kind kind) {
    switch (kind) {
    case TESS_VGPU_OUT_OF_BOUNDS: return CUDA_ERROR_ILLEGAL_ADDRESS;
    case TESS_VGPU_MISALIGNED: return CUDA_ERROR_MISALIGNED_ADDRESS;
    case TESS_VGPU_DEADLOCK:
    case TESS_VGPU_STEP_LIMIT: return CUDA_ERROR_LAUNCH_TIMEOUT;
    default: return CUDA_ERROR_LAUNCH_FAILED;
    }
}

CUresult tess_vgpu_door_kernel(tess_vgpu_door *door, const vgpu_step *s) {
    const vgpu_object *f = tess_vgpu_door_object(door, s->function, VGPU_FUNCTION);
    if (!f)
        return tess_vgpu_door_say(CUDA_ERROR_INVALID_HANDLE, "the kernel's module was unloaded");
    const tess_vgpu_watch_options *watch = &door->watch;
    tess_vgpu_launch_options options = {.shared_bytes = s->shared,
                                        .params = s->params,
                                        .param_bytes = (int64_t)s->param_bytes,
                                        .count = watch->count,
                                        .check = !watch->no_check,
                                        .sample = watch->sample,
                                        .step_limit = watch->step_limit,
                                        .seed = watch->seed};
    memcpy(options.grid, s->grid, sizeof options.grid);
    memcpy(options.block, s->block, sizeof options.block);
    tess_vgpu_run *run = NULL;
    double begin = tess_seconds();
    tess_status status = tess_vgpu_launch_kernel(f->module, f->kernel->function, &options, &run);
    if (status != TESS_OK)
        return tess_vgpu_door_status(status, CUDA_ERROR_INVALID_VALUE);
    CUresult result = CUDA_SUCCESS;
    int faults = tess_vgpu_fault_count(run);
    const tess_vgpu_fault *first = tess_vgpu_fault_at(run, 0);
    if (first && faults > 1)
        result = tess_vgpu_door_say(code_of(first->kind), "%s; and %d more", first->message, faults - 1);
    else if (first)
        result = tess_vgpu_door_say(code_of(first->kind), "%s", first->message);
    if (watch->launched) {
        tess_vgpu_launch_record record = {.kernel = f->kernel->name,
                                          .kernel_length = f->kernel->length,
                                          .shared_bytes = s->shared,
                                          .static_shared = f->kernel->function->shared_bytes,
                                          .seconds = tess_seconds() - begin,
                                          .run = run};
        memcpy(record.grid, s->grid, sizeof record.grid);
        memcpy(record.block, s->block, sizeof record.block);
        watch->launched(watch->user, &record);
    }
    tess_vgpu_run_free(run);
    return result;
}

/* The block of parameters from the caller's pointers, or from the one buffer that `extra` describes. */
static CUresult gather_params(const tess_vgpu_door *door, const ptx_function *kernel, void **arguments, void **extra, vgpu_step *step) {
    const void *buffer = NULL;
    size_t size = 0;
    step->param_bytes = (size_t)kernel->param_bytes;
    for (int i = 0; !arguments && extra && extra[i]; i += 2) { /* 1: the buffer, 2: where its size is */
        if (extra[i] == (void *)1)
            buffer = extra[i + 1];
        else if (extra[i] == (void *)2)
            memcpy(&size, extra[i + 1], sizeof size);
        else
            return tess_vgpu_door_say(CUDA_ERROR_INVALID_VALUE, "extra[%d] is not a word that is known", i);
    }
    if (!(step->params = tess_allocate_zeroed(door->context, step->param_bytes)))
        return tess_vgpu_door_status(TESS_ERR_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
    if (arguments) {
        for (int i = 0; i < kernel->param_count; i++)
            memcpy(step->params + kernel->params[i]->address, arguments[i], kernel->params[i]->size);
    } else if (kernel->param_bytes) {
        if (!buffer || size < step->param_bytes)
            return tess_vgpu_door_say(CUDA_ERROR_INVALID_VALUE, "%zu bytes of parameters, the kernel takes %zu", size, step->param_bytes);
        memcpy(step->params, buffer, step->param_bytes);
    }
    return CUDA_SUCCESS;
}

static CUresult check_launch(const vgpu_object *f, const vgpu_step *s) {
    uint64_t threads = (uint64_t)s->block[0] * s->block[1] * s->block[2];
    if (!s->grid[0] || !s->grid[1] || !s->grid[2] || !threads || s->grid[0] > INT32_MAX || s->grid[1] > 65535 || s->grid[2] > 65535)
        return tess_vgpu_door_say(CUDA_ERROR_INVALID_VALUE, "a grid of %u x %u x %u blocks of %u x %u x %u threads", s->grid[0], s->grid[1],
                                  s->grid[2], s->block[0], s->block[1], s->block[2]);
    if (s->block[0] > 1024 || s->block[1] > 1024 || s->block[2] > 64 || threads > 1024)
        return tess_vgpu_door_say(CUDA_ERROR_INVALID_VALUE, "a block of %u x %u x %u threads; the limits are 1024 x 1024 x 64 and 1024 in all",
                                  s->block[0], s->block[1], s->block[2]);
    if ((int64_t)s->shared > f->dynamic_limit)
        return tess_vgpu_door_say(CUDA_ERROR_INVALID_VALUE, "%u bytes of dynamic shared memory; the function's limit is %d", s->shared,
                                  f->dynamic_limit);
    return tess_vgpu_door_status(tess_vgpu_check_block(f->kernel->function, s->block), CUDA_ERROR_INVALID_VALUE);
}

CUresult tess_vgpu_cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
                                  unsigned int block_y, unsigned int block_z, unsigned int shared, CUstream stream, void **arguments, void **extra) {
    CUresult result;
    tess_vgpu_door *door;
    vgpu_object *s = tess_vgpu_door_stream(stream, &door, &result);
    if (!s)
        return result;
    vgpu_step step = {.kind = VGPU_STEP_KERNEL,
                      .function = (uint64_t)(uintptr_t)function,
                      .grid = {grid_x, grid_y, grid_z},
                      .block = {block_x, block_y, block_z},
                      .shared = shared};
    const vgpu_object *f = tess_vgpu_door_object(door, step.function, VGPU_FUNCTION);
    if (!f)
        return tess_vgpu_door_leave(door, tess_vgpu_door_say(CUDA_ERROR_INVALID_HANDLE, "not a function of this context"));
    result = check_launch(f, &step);
    if (result == CUDA_SUCCESS)
        result = gather_params(door, f->kernel->function, arguments, extra, &step);
    if (result == CUDA_SUCCESS)
        return tess_vgpu_door_leave(door, tess_vgpu_door_do(door, s, &step));
    tess_free(door->context, step.params, step.param_bytes);
    return tess_vgpu_door_leave(door, result);
}
