/* SPDX-License-Identifier: Apache-2.0
 * door.c - the door's life and table, its device, CUDA contexts, and the objects that handles stand for. */
#include "vgpu/door.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/engine.h"

/* ---- finding ---- */

static tess_vgpu_door *door_numbered(uint64_t number) { return number - 1 < INT32_MAX ? (tess_vgpu_door *)tess_number_find((int)number) : NULL; }

static uint64_t context_handle(const tess_vgpu_door *door) { return (uint64_t)door->numbered.number << 32 | door->generation; }

/* The door of a primary context that is retained, locked. */
static tess_vgpu_door *lock_context(uint64_t handle) {
    tess_vgpu_door *door = door_numbered(handle >> 32);
    if (!door)
        return NULL;
    pthread_mutex_lock(&door->lock);
    if (door->retained && context_handle(door) == handle)
        return door;
    pthread_mutex_unlock(&door->lock);
    return NULL;
}

tess_vgpu_door *tess_vgpu_door_current(CUresult *result) {
    const tess_thread_state *thread = tess_thread_get();
    tess_vgpu_door *door = thread->depth ? lock_context(thread->current[thread->depth - 1]) : NULL;
    *result = door ? CUDA_SUCCESS : tess_vgpu_door_fail(CUDA_ERROR_INVALID_CONTEXT);
    return door;
}

vgpu_object *tess_vgpu_door_object(const tess_vgpu_door *door, uint64_t handle, vgpu_object_kind kind) {
    for (vgpu_object *o = door->objects; o; o = o->next)
        if (o->handle == handle)
            return o->kind == kind ? o : NULL;
    return NULL;
}

vgpu_object *tess_vgpu_door_find(const void *handle, vgpu_object_kind kind, tess_vgpu_door **found, CUresult *result) {
    tess_vgpu_door *door = door_numbered((uint64_t)(uintptr_t)handle >> 32);
    vgpu_object *object = NULL;
    *result = tess_vgpu_door_fail(CUDA_ERROR_INVALID_HANDLE);
    if (!door)
        return NULL;
    pthread_mutex_lock(&door->lock);
    object = tess_vgpu_door_object(door, (uint64_t)(uintptr_t)handle, kind);
    if (object) {
        *result = CUDA_SUCCESS;
        *found = door;
    } else {
        pthread_mutex_unlock(&door->lock);
    }
    return object;
}

vgpu_object *tess_vgpu_door_stream(CUstream stream, tess_vgpu_door **door, CUresult *result) {
    if ((uintptr_t)stream > 2)
        return tess_vgpu_door_find(stream, VGPU_STREAM, door, result);
    *door = tess_vgpu_door_current(result);
    return *door ? &(*door)->legacy : NULL;
}

CUresult tess_vgpu_door_leave(tess_vgpu_door *door, CUresult result) {
    pthread_mutex_unlock(&door->lock);
    return result;
}

/* ---- objects ---- */

vgpu_object *tess_vgpu_door_add(tess_vgpu_door *door, vgpu_object_kind kind) {
    vgpu_object *o = tess_allocate_zeroed(door->context, sizeof *o);
    if (!o)
        return NULL;
    o->kind = kind;
    o->handle = (uint64_t)door->numbered.number << 32 | ++door->serial;
    o->next = door->objects;
    door->objects = o;
    return o;
}

void tess_vgpu_tape_release(tess_vgpu_door *door, vgpu_tape *tape) {
    if (!tape || --tape->users)
        return;
    while (tape->first) {
        vgpu_step *step = tape->first;
        tape->first = step->next;
        tess_free(door->context, step->params, step->param_bytes);
        tess_free(door->context, step, sizeof *step);
    }
    tess_free(door->context, tape, sizeof *tape);
}

void tess_vgpu_door_remove(tess_vgpu_door *door, vgpu_object *object) {
    for (vgpu_object **at = &door->objects; *at;) {
        vgpu_object *o = *at;
        if (o != object && !(object->kind == VGPU_MODULE && o->kind == VGPU_FUNCTION && o->owner == object->handle)) {
            at = &o->next;
            continue;
        }
        *at = o->next;
        tess_vgpu_tape_release(door, o->tape);
        if (o->kind == VGPU_HOST_MEMORY && o->bank)
            tess_vgpu_free(door->machine, o->bank);
        else
            tess_free(door->context, o->memory, o->bytes);
        if (o->kind == VGPU_MODULE)
            tess_vgpu_unload(o->module);
        if (o != object)
            tess_free(door->context, o, sizeof *o);
    }
    tess_free(door->context, object, sizeof *object);
}

/* ---- the door ---- */

static void end_context(tess_vgpu_door *door) {
    while (door->objects) {
        vgpu_object *o = door->objects;
        while (o->kind == VGPU_FUNCTION) /* goes with its module */
            o = o->next;
        tess_vgpu_door_remove(door, o);
    }
    tess_vgpu_tape_release(door, door->legacy.tape);
    door->legacy = (vgpu_object){.kind = VGPU_STREAM};
    tess_vgpu_close(door->machine);
    door->machine = NULL;
    door->used = 0;
}

static void close_door(tess_context *context, bool exiting) {
    tess_vgpu_door *door = atomic_exchange(&context->virtual_gpu, NULL);
    (void)exiting; /* nothing outside the context's memory is touched */
    if (!door)
        return;
    tess_number_take(&door->numbered);
    end_context(door);
    pthread_mutex_destroy(&door->lock);
    tess_free(context, door, sizeof *door);
}

static void describe(tess_context *context, tess_format format, tess_text *text) {
    (void)context;
    tess_text_add(text,
                  format == TESS_JSON ? ", \"virtual_gpu\": {\"name\": \"%s\", \"compute_capability\": \"9.0\"}"
                                      : "virtual  %s, compute capability 9.0, in software: runs PTX, counts and checks\n",
                  TESS_VGPU_NAME);
}

const tess_engine_hooks tess_vgpu_hooks = {.describe = describe, .close = close_door};

/* What is "on the card" is held in the machine's memory, with as many bytes again to know which were written. */
static size_t capacity(void) {
    const size_t h200 = (size_t)143771 << 20;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    size_t own = pages > 0 && page > 0 ? (size_t)pages / 8 * 3 * (size_t)page : h200;
    return own < h200 ? own : h200;
}

static tess_status get_door(tess_context *context, tess_vgpu_door **door) {
    *door = atomic_load_explicit(&context->virtual_gpu, memory_order_acquire);
    if (*door)
        return TESS_OK;
    tess_vgpu_door *made = tess_allocate_zeroed(context, sizeof *made);
    if (!made)
        return TESS_ERR_MEMORY;
    made->context = context;
    made->capacity = capacity();
    made->legacy.kind = VGPU_STREAM;
    pthread_mutex_init(&made->lock, NULL);
    tess_number_give(&made->numbered);
    if (atomic_compare_exchange_strong_explicit(&context->virtual_gpu, door, made, memory_order_acq_rel, memory_order_acquire)) {
        *door = made;
    } else { /* another thread was first, and *door is its */
        tess_number_take(&made->numbered);
        pthread_mutex_destroy(&made->lock);
        tess_free(context, made, sizeof *made);
    }
    return TESS_OK;
}

static const tess_driver driver = {
#define CUDA_ENTRY(name, symbol, parameters) .name = tess_vgpu_##name,
#include "gpu/driver.def"
    .ptx_only = 1};

tess_status tess_vgpu_driver(tess_context *given, const tess_driver **table) {
    tess_context *context;
    tess_vgpu_door *door;
    *table = NULL;
    TESS_TRY(tess_context_get(&context, given));
    TESS_TRY(get_door(context, &door));
    tess_thread_get()->opened = door->numbered.number;
    *table = &driver;
    return TESS_OK;
}

tess_status tess_vgpu_watch(tess_context *given, const tess_vgpu_watch_options *options) {
    tess_context *context;
    tess_vgpu_door *door;
    TESS_TRY(tess_context_get(&context, given));
    TESS_TRY(get_door(context, &door));
    pthread_mutex_lock(&door->lock);
    door->watch = options ? *options : (tess_vgpu_watch_options){0};
    pthread_mutex_unlock(&door->lock);
    return TESS_OK;
}

/* ---- the device ---- */

CUresult tess_vgpu_cuDriverGetVersion(int *version) {
    *version = 13000;
    return CUDA_SUCCESS;
}
CUresult tess_vgpu_cuInit(unsigned int flags) { return flags ? tess_vgpu_door_fail(CUDA_ERROR_INVALID_VALUE) : CUDA_SUCCESS; }
CUresult tess_vgpu_cuDeviceGetCount(int *count) {
    *count = 1;
    return CUDA_SUCCESS;
}
CUresult tess_vgpu_cuDeviceGet(CUdevice *device, int ordinal) {
    *device = tess_thread_get()->opened;
    return ordinal == 0 && door_numbered((uint64_t)*device) ? CUDA_SUCCESS : tess_vgpu_door_fail(CUDA_ERROR_INVALID_DEVICE);
}
CUresult tess_vgpu_cuDeviceGetName(char *name, int size, CUdevice device) {
    if (!door_numbered((uint64_t)device))
        return tess_vgpu_door_fail(CUDA_ERROR_INVALID_DEVICE);
    snprintf(name, (size_t)size, "%s", TESS_VGPU_NAME);
    return CUDA_SUCCESS;
}
CUresult tess_vgpu_cuDeviceTotalMem(size_t *bytes, CUdevice device) {
    const tess_vgpu_door *door = door_numbered((uint64_t)device);
    if (!door)
        return tess_vgpu_door_fail(CUDA_ERROR_INVALID_DEVICE);
    *bytes = door->capacity;
    return CUDA_SUCCESS;
}

/* The facts of the H200 as its driver tells them (bench/results). */
CUresult tess_vgpu_cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    static const int facts[][2] = {{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
                                   {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
                                   {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + 1, 1024},
                                   {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + 2, 64},
                                   {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
                                   {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + 1, 65535},
                                   {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + 2, 65535},
                                   {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, TESS_VGPU_SHARED_DEFAULT},
                                   {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, PTX_CONSTANT_LIMIT},
                                   {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
                                   {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
                                   {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
                                   {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
                                   {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000},
                                   {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6016},
                                   {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 62914560},
                                   {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
                                   {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
                                   {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
                                   {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, TESS_VGPU_SHARED_SM},
                                   {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
                                   {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, TESS_VGPU_SHARED_LIMIT},
                                   {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32}};
    if (!door_numbered((uint64_t)device))
        return tess_vgpu_door_fail(CUDA_ERROR_INVALID_DEVICE);
    for (int i = 0; i < TESS_COUNT(facts); i++)
        if (facts[i][0] == (int)attribute) {
            *value = facts[i][1];
            return CUDA_SUCCESS;
        }
    return tess_vgpu_door_say(CUDA_ERROR_INVALID_VALUE, "the virtual GPU does not know device attribute %d", (int)attribute);
}

/* ---- contexts ---- */

CUresult tess_vgpu_cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    tess_vgpu_door *door = door_numbered((uint64_t)device);
    *context = NULL;
    if (!door)
        return tess_vgpu_door_fail(CUDA_ERROR_INVALID_DEVICE);
    pthread_mutex_lock(&door->lock);
    if (!door->retained) {
        tess_status status = tess_vgpu_open(&door->machine, door->context);
        if (status != TESS_OK)
            return tess_vgpu_door_leave(door, tess_vgpu_door_status(status, CUDA_ERROR_OUT_OF_MEMORY));
        door->machine->copies_unset = tess_gpu_unoptimised();
        door->generation = ++door->serial;
    }
    door->retained++;
    *context = (CUcontext)(uintptr_t)context_handle(door);
    return tess_vgpu_door_leave(door, CUDA_SUCCESS);
}

CUresult tess_vgpu_cuDevicePrimaryCtxRelease(CUdevice device) {
    tess_vgpu_door *door = door_numbered((uint64_t)device);
    if (!door)
        return tess_vgpu_door_fail(CUDA_ERROR_INVALID_DEVICE);
    pthread_mutex_lock(&door->lock);
    if (!door->retained)
        return tess_vgpu_door_leave(door, tess_vgpu_door_fail(CUDA_ERROR_INVALID_CONTEXT));
    if (--door->retained == 0)
        end_context(door);
    return tess_vgpu_door_leave(door, CUDA_SUCCESS);
}

CUresult tess_vgpu_cuCtxGetCurrent(CUcontext *context) {
    const tess_thread_state *thread = tess_thread_get();
    *context = thread->depth ? (CUcontext)(uintptr_t)thread->current[thread->depth - 1] : NULL;
    return CUDA_SUCCESS;
}
CUresult tess_vgpu_cuCtxGetDevice(CUdevice *device) {
    CUresult result;
    tess_vgpu_door *door = tess_vgpu_door_current(&result);
    if (!door)
        return result;
    *device = door->numbered.number;
    return tess_vgpu_door_leave(door, CUDA_SUCCESS);
}
CUresult tess_vgpu_cuCtxGetId(CUcontext context, unsigned long long *id) {
    tess_vgpu_door *door = NULL;
    CUresult result = CUDA_SUCCESS;
    if (context)
        door = lock_context((uint64_t)(uintptr_t)context);
    else
        door = tess_vgpu_door_current(&result);
    if (!door)
        return tess_vgpu_door_fail(CUDA_ERROR_INVALID_CONTEXT);
    *id = context_handle(door);
    return tess_vgpu_door_leave(door, result);
}
CUresult tess_vgpu_cuCtxPushCurrent(CUcontext context) {
    tess_thread_state *thread = tess_thread_get();
    tess_vgpu_door *door = lock_context((uint64_t)(uintptr_t)context);
    if (!door)
        return tess_vgpu_door_fail(CUDA_ERROR_INVALID_CONTEXT);
    if (thread->depth == TESS_THREAD_STACK)
        return tess_vgpu_door_leave(
            door, tess_vgpu_door_say(CUDA_ERROR_OUT_OF_MEMORY, "more than %d contexts are pushed on one thread", TESS_THREAD_STACK));
    thread->current[thread->depth++] = (uint64_t)(uintptr_t)context;
    return tess_vgpu_door_leave(door, CUDA_SUCCESS);
}
CUresult tess_vgpu_cuCtxPopCurrent(CUcontext *context) {
    tess_thread_state *thread = tess_thread_get();
    if (!thread->depth)
        return tess_vgpu_door_fail(CUDA_ERROR_INVALID_CONTEXT);
    thread->depth--;
    if (context)
        *context = (CUcontext)(uintptr_t)thread->current[thread->depth];
    return CUDA_SUCCESS;
}
