/* SPDX-License-Identifier: Apache-2.0
 * launch.c - images loaded as modules, kernels found in them, limits checked, kernels launched on the caller's stream.
 *
 * A module stays loaded until the tessera context is closed: a graph that the caller captured goes on pointing to its kernels. It belongs to one CUDA
 * context, which is told by its number and not its handle, since handles are used again. Modules in a context that the caller made die with that
 * context; those in primary contexts are unloaded here. */
#include <stdio.h>
#include <string.h>

#include "gpu/gpu.h"

struct tess_gpu_module {
    tess_gpu_module *next;
    tess_gpu_key key;
    unsigned long long context_id;
    CUcontext primary; /* NULL when it was loaded into another context */
    CUmodule module;
    tess_gpu_form form;
    _Atomic uint64_t answered, unasked; /* a bit for each kernel */
    _Atomic bool wrong;
    CUevent filled; /* after the last launch that filled a variable of it; NULL before the first */
};

/* With the lock held. */
static bool find_module(const tess_gpu *gpu, const tess_gpu_key *key, unsigned long long context_id, tess_gpu_module **module) {
    for (tess_gpu_module *m = gpu->modules; m; m = m->next)
        if (m->context_id == context_id && memcmp(m->key.bytes, key->bytes, sizeof key->bytes) == 0) {
            *module = m;
            return true;
        }
    return false;
}

static tess_status load_image(tess_gpu *gpu, const tess_gpu_image *image, CUmodule *module) {
    char log[2048] = "", line[1024];
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1)};
    CUresult result = gpu->driver.cuModuleLoadDataEx(module, image->data, TESS_COUNT(options), options, values);
    if (result != CUDA_SUCCESS && *log)
        return tess_fail(TESS_ERR_ENGINE, "the driver refused a kernel image (%d): %s", (int)result, tess_gpu_log_line(line, sizeof line, log));
    return tess_gpu_check(gpu, result, "cuModuleLoadDataEx");
}

/* Loads without the lock: the driver may compile. When another thread was faster, its module is taken. */
static tess_status get_module(const tess_gpu_scope *scope, const tess_gpu_image *image, tess_gpu_module **module) {
    tess_gpu *gpu = scope->gpu;
    CUcontext current = NULL;
    pthread_mutex_lock(&gpu->lock);
    bool found = find_module(gpu, &image->key, scope->context_id, module);
    pthread_mutex_unlock(&gpu->lock);
    if (found)
        return TESS_OK;
    CUmodule mine = NULL;
    tess_gpu_module *made = tess_allocate_zeroed(gpu->context, sizeof *made);
    tess_status status = made ? load_image(gpu, image, &mine) : TESS_ERR_MEMORY;
    if (status == TESS_OK)
        status = tess_gpu_check(gpu, gpu->driver.cuCtxGetCurrent(&current), "cuCtxGetCurrent");
    pthread_mutex_lock(&gpu->lock);
    if (status == TESS_OK && !find_module(gpu, &image->key, scope->context_id, module)) {
        made->next = gpu->modules;
        made->key = image->key;
        made->form = image->form;
        made->context_id = scope->context_id;
        made->primary = current == scope->device->primary ? current : NULL;
        made->module = mine;
        atomic_init(&made->answered, image->answered);
        *module = made;
        gpu->modules = made;
        made = NULL;
    }
    pthread_mutex_unlock(&gpu->lock);
    if (made && mine)
        gpu->driver.cuModuleUnload(mine);
    tess_free(gpu->context, made, sizeof *made);
    return status;
}

static tess_status read_facts(const tess_gpu_scope *scope, tess_gpu_kernel *kernel) {
    const struct {
        int attribute, *value;
    } wanted[] = {{CU_FUNC_ATTRIBUTE_NUM_REGS, &kernel->registers},
                  {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &kernel->local_bytes},
                  {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &kernel->static_shared},
                  {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &kernel->max_threads}};
    for (int i = 0; i < TESS_COUNT(wanted); i++)
        TESS_CUDA(scope->gpu, cuFuncGetAttribute, wanted[i].value, (CUfunction_attribute)wanted[i].attribute, kernel->function);
    /* Over 48 KiB has to be asked for. The limit is raised here once, to all that there is, and not by each launch: how many blocks fit on a
     * multiprocessor depends on what a launch uses, and launches from several threads would undo each other's setting. */
    kernel->max_dynamic_shared = scope->device->shared_block_optin - kernel->static_shared;
    if (kernel->max_dynamic_shared > 0)
        TESS_CUDA(scope->gpu, cuFuncSetAttribute, kernel->function, (CUfunction_attribute)CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                  kernel->max_dynamic_shared);
    return TESS_OK;
}

static tess_status find_kernel(const tess_gpu_scope *scope, tess_gpu_module *module, const char *entry, tess_gpu_kernel *kernel) {
    tess_gpu *gpu = scope->gpu;
    *kernel = (tess_gpu_kernel){.device = scope->device, .module = module->module, .owner = module, .context_id = scope->context_id};
    snprintf(kernel->name, sizeof kernel->name, "%s", entry);
    for (const char *c = entry; *c; c++)
        kernel->bit = kernel->bit * 31 + (unsigned char)*c;
    kernel->bit = (uint64_t)1 << kernel->bit % 61;
    CUresult result = gpu->driver.cuModuleGetFunction(&kernel->function, module->module, entry);
    if (result == CUDA_ERROR_NOT_FOUND)
        return tess_fail(TESS_ERR_ENGINE, "there is no kernel \"%s\" in the image; kernels are declared extern \"C\" __global__", entry);
    TESS_TRY(tess_gpu_check(gpu, result, "cuModuleGetFunction"));
    return read_facts(scope, kernel);
}

tess_status tess_gpu_kernel_load(const tess_gpu_scope *scope, const tess_gpu_image *image, const char *entry, tess_gpu_kernel *kernel) {
    tess_gpu_module *module = NULL;
    TESS_TRY(get_module(scope, image, &module));
    return find_kernel(scope, module, entry, kernel);
}

bool tess_gpu_has_compiler(tess_gpu *gpu) {
    char before[TESS_DETAIL_SIZE];
    if (atomic_load_explicit(&gpu->nvrtc_ready, memory_order_acquire))
        return true;
    snprintf(before, sizeof before, "%s", tess_detail());
    bool there = tess_gpu_open_nvrtc(gpu) == TESS_OK;
    tess_fail(TESS_OK, "%s", before);
    return there;
}

/* The text is not copied and not changed. */
static void shipped_image(const tess_gpu_source *source, tess_gpu_image *image) {
    tess_sha256 hash;
    *image = (tess_gpu_image){.form = TESS_GPU_PTX, .data = (char *)(uintptr_t)source->ptx, .size = strlen(source->ptx)};
    tess_sha256_start(&hash);
    tess_sha256_add_field(&hash, "shipped", strlen("shipped"));
    tess_sha256_add_field(&hash, image->data, image->size);
    tess_sha256_end(&hash, image->key.bytes);
}

/* Without a compiler: PTX of the library's own; *found says whether there is some. */
static tess_status get_shipped(const tess_gpu_scope *scope, const tess_gpu_source *source, const char *entry, tess_gpu_kernel *kernel, bool *found) {
    tess_gpu_image image = {.form = TESS_GPU_PTX, .key = tess_gpu_shipped_key(source)};
    const char *ptx = tess_gpu_shipped_find(&image.key, &image.size);
    *found = ptx != NULL;
    if (!ptx)
        return TESS_OK;
    if (!(image.data = tess_allocate(scope->gpu->context, image.size + 1)))
        return TESS_ERR_MEMORY;
    memcpy(image.data, ptx, image.size);
    image.data[image.size] = 0;
    tess_status status = tess_gpu_kernel_load(scope, &image, entry, kernel);
    tess_free(scope->gpu->context, image.data, image.size + 1);
    return status;
}

static tess_status not_shipped(const tess_gpu_source *source) {
    char why[TESS_DETAIL_SIZE];
    snprintf(why, sizeof why, "%s", tess_detail());
    return tess_fail(TESS_ERR_ENGINE, "no PTX of %s with these options is shipped, and it cannot be compiled: %.600s", source->name, why);
}

static tess_status get_by_key(const tess_gpu_scope *scope, const tess_gpu_source *source, const char *entry, tess_gpu_kernel *kernel) {
    tess_gpu *gpu = scope->gpu;
    tess_gpu_image image;
    tess_gpu_form form;
    tess_gpu_module *module = NULL;
    int arch;
    if (source->ptx && !tess_gpu_has_compiler(gpu)) {
        shipped_image(source, &image);
        return tess_gpu_kernel_load(scope, &image, entry, kernel);
    }
    if (!tess_gpu_has_compiler(gpu)) {
        bool shipped;
        tess_status status = get_shipped(scope, source, entry, kernel, &shipped);
        if (shipped)
            return status;
        TESS_TRY(tess_gpu_open_nvrtc(gpu) == TESS_OK ? TESS_OK : not_shipped(source));
    }
    TESS_TRY(tess_gpu_target(gpu, scope->device, &arch, &form));
    tess_gpu_key key = tess_gpu_source_key(source, arch, form, gpu->nvrtc_version);
    pthread_mutex_lock(&gpu->lock);
    bool found = find_module(gpu, &key, scope->context_id, &module);
    pthread_mutex_unlock(&gpu->lock);
    if (found)
        return find_kernel(scope, module, entry, kernel);
    TESS_TRY(tess_gpu_compile(gpu, source, arch, form, &image));
    tess_status status = tess_gpu_kernel_load(scope, &image, entry, kernel);
    tess_gpu_image_free(gpu, &image);
    return status;
}

tess_status tess_gpu_kernel_get(const tess_gpu_scope *scope, const tess_gpu_source *source, const char *entry, tess_gpu_kernel *kernel) {
    if (source->lasting && tess_gpu_known_find(scope, source, entry, kernel))
        return TESS_OK;
    TESS_TRY(get_by_key(scope, source, entry, kernel));
    if (source->lasting)
        tess_gpu_known_store(scope, source, entry, kernel);
    return TESS_OK;
}

tess_gpu_trust tess_gpu_kernel_trust(const tess_gpu_kernel *kernel) {
    const tess_gpu_module *m = kernel->owner;
    return atomic_load_explicit(&m->wrong, memory_order_relaxed)                    ? TESS_GPU_WRONG
           : atomic_load_explicit(&m->answered, memory_order_relaxed) & kernel->bit ? TESS_GPU_ANSWERED
           : atomic_load_explicit(&m->unasked, memory_order_relaxed) & kernel->bit  ? TESS_GPU_UNASKED
                                                                                    : TESS_GPU_NEW;
}

void tess_gpu_kernel_judge(tess_gpu *gpu, const tess_gpu_kernel *kernel, tess_gpu_trust trust) {
    tess_gpu_module *m = kernel->owner;
    if (trust == TESS_GPU_ANSWERED) {
        atomic_fetch_or(&m->answered, kernel->bit);
        tess_gpu_cache_answered(gpu, &m->key, m->form, kernel->bit);
    } else if (trust == TESS_GPU_UNASKED) {
        atomic_fetch_or(&m->unasked, kernel->bit);
    } else if (trust == TESS_GPU_WRONG) {
        atomic_store(&m->wrong, true);
        tess_gpu_cache_drop(gpu, &m->key, m->form);
    }
}

void tess_gpu_modules_free(tess_gpu *gpu, bool exiting) {
    while (gpu->modules) {
        tess_gpu_module *m = gpu->modules;
        unsigned long long id = 0;
        CUcontext popped;
        gpu->modules = m->next;
        if (m->primary && !exiting && gpu->driver.cuCtxPushCurrent(m->primary) == CUDA_SUCCESS) {
            /* another number: the primary context was reset by others, and module and event went with it */
            if (gpu->driver.cuCtxGetId(m->primary, &id) == CUDA_SUCCESS && id == m->context_id) {
                gpu->driver.cuModuleUnload(m->module);
                if (m->filled)
                    gpu->driver.cuEventDestroy(m->filled);
            }
            gpu->driver.cuCtxPopCurrent(&popped);
        }
        tess_free(gpu->context, m, sizeof *m);
    }
}

static tess_status check_grid(const tess_gpu_kernel *kernel, const tess_gpu_grid *grid) {
    static const char axis_name[] = "xyz";
    int64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        if (grid->block[i] < 1 || grid->block[i] > kernel->device->block[i])
            return tess_fail(TESS_ERR_SIZE, "kernel %s: block.%c is %lld, the limits of %s are 1 and %d", kernel->name, axis_name[i],
                             (long long)grid->block[i], kernel->device->name, kernel->device->block[i]);
        if (grid->grid[i] < 0 || grid->grid[i] > kernel->device->grid[i])
            return tess_fail(TESS_ERR_SIZE, "kernel %s: grid.%c is %lld, the limits of %s are 0 and %d", kernel->name, axis_name[i],
                             (long long)grid->grid[i], kernel->device->name, kernel->device->grid[i]);
        threads *= grid->block[i];
    }
    if (threads > kernel->max_threads)
        return tess_fail(TESS_ERR_SIZE, "kernel %s: a block has %lld threads, with its %d registers a thread at most %d fit", kernel->name,
                         (long long)threads, kernel->registers, kernel->max_threads);
    if (grid->shared < 0 || grid->shared > kernel->max_dynamic_shared)
        return tess_fail(TESS_ERR_SIZE, "kernel %s: %lld bytes of dynamic shared memory are asked for, %d are left beside its own %d", kernel->name,
                         (long long)grid->shared, kernel->max_dynamic_shared, kernel->static_shared);
    return TESS_OK;
}

static tess_status check_context(const tess_gpu_scope *scope, const tess_gpu_kernel *kernel) {
    if (kernel->context_id != scope->context_id)
        return tess_fail(TESS_ERR_ARGUMENT, "kernel %s was loaded into CUDA context %llu, the call runs in context %llu", kernel->name,
                         kernel->context_id, scope->context_id);
    return TESS_OK;
}

tess_status tess_gpu_launch(const tess_gpu_scope *scope, const tess_gpu_kernel *kernel, const tess_gpu_grid *grid, CUstream stream,
                            void **arguments) {
    TESS_TRY(check_context(scope, kernel));
    TESS_TRY(check_grid(kernel, grid));
    if (grid->grid[0] == 0 || grid->grid[1] == 0 || grid->grid[2] == 0)
        return TESS_OK;
    TESS_CUDA(scope->gpu, cuLaunchKernel, kernel->function, (unsigned)grid->grid[0], (unsigned)grid->grid[1], (unsigned)grid->grid[2],
              (unsigned)grid->block[0], (unsigned)grid->block[1], (unsigned)grid->block[2], (unsigned)grid->shared, stream, arguments, NULL);
    return TESS_OK;
}

static tess_status find_variable(const tess_gpu_scope *scope, const tess_gpu_kernel *kernel, const char *variable, size_t size, CUdeviceptr *to) {
    size_t room = 0;
    TESS_TRY(check_context(scope, kernel));
    CUresult result = scope->gpu->driver.cuModuleGetGlobal(to, &room, kernel->module, variable);
    if (result == CUDA_ERROR_NOT_FOUND)
        return tess_fail(TESS_ERR_ENGINE, "there is no variable \"%s\" in the image of kernel %s; constants are declared extern \"C\" __constant__",
                         variable, kernel->name);
    TESS_TRY(tess_gpu_check(scope->gpu, result, "cuModuleGetGlobal"));
    if (size > room)
        return tess_fail(TESS_ERR_SIZE, "%zu bytes for the variable \"%s\" of kernel %s, which has %zu", size, variable, kernel->name, room);
    return TESS_OK;
}

tess_status tess_gpu_constant(const tess_gpu_scope *scope, const tess_gpu_kernel *kernel, const char *variable, const void *data, size_t size,
                              CUstream stream) {
    CUdeviceptr to = 0;
    TESS_TRY(find_variable(scope, kernel, variable, size, &to));
    TESS_CUDA(scope->gpu, cuMemcpyHtoDAsync, to, data, size, stream);
    return TESS_OK;
}

/* With the lock held, so that no other thread comes between the copy and the launch. */
static tess_status fill_and_launch(const tess_gpu_scope *scope, tess_gpu_module *module, const tess_gpu_kernel *kernel, const tess_gpu_grid *grid,
                                   CUstream stream, void **arguments, CUdeviceptr to, CUdeviceptr from, size_t size) {
    enum { WITHOUT_TIME = 2 }; /* CU_EVENT_DISABLE_TIMING */
    if (!module->filled)
        TESS_CUDA(scope->gpu, cuEventCreate, &module->filled, WITHOUT_TIME);
    else
        TESS_CUDA(scope->gpu, cuStreamWaitEvent, stream, module->filled, 0);
    TESS_CUDA(scope->gpu, cuMemcpyDtoDAsync, to, from, size, stream);
    TESS_TRY(tess_gpu_launch(scope, kernel, grid, stream, arguments));
    TESS_CUDA(scope->gpu, cuEventRecord, module->filled, stream);
    return TESS_OK;
}

tess_status tess_gpu_launch_filled(const tess_gpu_scope *scope, const tess_gpu_kernel *kernel, const tess_gpu_grid *grid, CUstream stream,
                                   void **arguments, const char *variable, CUdeviceptr from, size_t size) {
    tess_gpu *gpu = scope->gpu;
    CUdeviceptr to = 0;
    TESS_TRY(find_variable(scope, kernel, variable, size, &to));
    pthread_mutex_lock(&gpu->lock);
    tess_status status = fill_and_launch(scope, kernel->owner, kernel, grid, stream, arguments, to, from, size);
    pthread_mutex_unlock(&gpu->lock);
    return status;
}
