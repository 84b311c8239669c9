/* SPDX-License-Identifier: Apache-2.0
 * door_memory.c - the driver's memory entries: allocations, copies, fills, and what a pointer is. */
#include <string.h>

#include "vgpu/door.h"

static CUresult allocate(CUdeviceptr *pointer, size_t bytes, tess_vgpu_door *door) {
    uint64_t address = 0;
    *pointer = 0;
    if (!bytes)
        return tess_vgpu_door_say(CUDA_ERROR_INVALID_VALUE, "an allocation of 0 bytes");
    if (bytes > door->capacity - door->used)
        return tess_vgpu_door_say(CUDA_ERROR_OUT_OF_MEMORY, "%zu bytes are asked for, the virtual GPU has %zu of %zu left", bytes,
                                  door->capacity - door->used, door->capacity);
    CUresult result = tess_vgpu_door_status(tess_vgpu_malloc(door->machine, (int64_t)bytes, &address), CUDA_ERROR_OUT_OF_MEMORY);
    if (result == CUDA_SUCCESS) {
        *pointer = address;
        door->used += bytes;
    }
    return result;
}

static CUresult release(CUdeviceptr pointer, tess_vgpu_door *door) {
    const vgpu_allocation *a = tess_vgpu_allocation_of(door->machine, pointer, 0);
    if (!pointer)
        return CUDA_SUCCESS;
    size_t bytes = a && !a->name && a->address == pointer ? (size_t)a->size : 0;
    if (!bytes)
        return tess_vgpu_door_say(CUDA_ERROR_INVALID_VALUE, "0x%llx is not the address of an allocation, or it was freed before", pointer);
    tess_vgpu_free(door->machine, pointer);
    door->used -= bytes;
    return CUDA_SUCCESS;
}

/* On a card these wait for the device or may do so, as may host memory's below. */
CUresult tess_vgpu_cuMemAlloc(CUdeviceptr *pointer, size_t bytes) {
    CUresult result;
    tess_vgpu_door *door = tess_vgpu_door_current(&result);
    if (!door)
        return result;
    return tess_vgpu_door_leave(door, tess_vgpu_door_unsafe(door)
                                          ? tess_vgpu_door_say(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cuMemAlloc while a stream is captured")
                                          : allocate(pointer, bytes, door));
}
CUresult tess_vgpu_cuMemFree(CUdeviceptr pointer) {
    CUresult result;
    tess_vgpu_door *door = tess_vgpu_door_current(&result);
    if (!door)
        return result;
    return tess_vgpu_door_leave(door, tess_vgpu_door_unsafe(door)
                                          ? tess_vgpu_door_say(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cuMemFree while a stream is captured")
                                          : release(pointer, door));
}

static const char allocation_in_graph[] = "allocations inside a captured graph are not supported on the virtual GPU";

CUresult tess_vgpu_cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream stream) {
    CUresult result;
    tess_vgpu_door *door;
    const vgpu_object *s = tess_vgpu_door_stream(stream, &door, &result);
    if (!s)
        return result;
    if (s->tape)
        return tess_vgpu_door_leave(door, tess_vgpu_door_say(CUDA_ERROR_NOT_SUPPORTED, "%s", allocation_in_graph));
    return tess_vgpu_door_leave(door, allocate(pointer, bytes, door));
}
CUresult tess_vgpu_cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
    CUresult result;
    tess_vgpu_door *door;
    const vgpu_object *s = tess_vgpu_door_stream(stream, &door, &result);
    if (!s)
        return result;
    if (s->tape)
        return tess_vgpu_door_leave(door, tess_vgpu_door_say(CUDA_ERROR_NOT_SUPPORTED, "%s", allocation_in_graph));
    return tess_vgpu_door_leave(door, release(pointer, door));
}

/* A pool is a name only: its memory is the machine's like all other. */
CUresult tess_vgpu_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties) {
    CUresult result;
    tess_vgpu_door *door = tess_vgpu_door_current(&result);
    *pool = NULL;
    if (!door)
        return result;
    if (properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED || properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return tess_vgpu_door_leave(door, tess_vgpu_door_say(CUDA_ERROR_INVALID_VALUE, "a pool of memory that is not the device's"));
    const vgpu_object *o = tess_vgpu_door_add(door, VGPU_POOL);
    if (!o)
        return tess_vgpu_door_leave(door, CUDA_ERROR_OUT_OF_MEMORY);
    *pool = (CUmemoryPool)(uintptr_t)o->handle;
    return tess_vgpu_door_leave(door, CUDA_SUCCESS);
}
CUresult tess_vgpu_cuMemPoolDestroy(CUmemoryPool pool) {
    CUresult result;
    tess_vgpu_door *door;
    vgpu_object *o = tess_vgpu_door_find(pool, VGPU_POOL, &door, &result);
    if (!o)
        return result;
    tess_vgpu_door_remove(door, o);
    return tess_vgpu_door_leave(door, CUDA_SUCCESS);
}
CUresult tess_vgpu_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    CUresult result;
    tess_vgpu_door *door;
    if (!tess_vgpu_door_find(pool, VGPU_POOL, &door, &result))
        return result;
    bool known = attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD && value;
    return tess_vgpu_door_leave(door, known ? CUDA_SUCCESS : tess_vgpu_door_say(CUDA_ERROR_NOT_SUPPORTED, "attribute %d of a pool", (int)attribute));
}
CUresult tess_vgpu_cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream stream) {
    CUresult result;
    tess_vgpu_door *door;
    if (!tess_vgpu_door_find(pool, VGPU_POOL, &door, &result))
        return result;
    tess_vgpu_door_leave(door, CUDA_SUCCESS);
    return tess_vgpu_cuMemAllocAsync(pointer, bytes, stream);
}

/* The memory is the caller's to use; kernels reach it only where that was asked for, at another address, which cuPointerGetAttribute tells. */
CUresult tess_vgpu_cuMemHostAlloc(void **pointer, size_t bytes, unsigned int flags) {
    CUresult result;
    tess_vgpu_door *door = tess_vgpu_door_current(&result);
    *pointer = NULL;
    if (!door)
        return result;
    if (tess_vgpu_door_unsafe(door))
        return tess_vgpu_door_leave(door, tess_vgpu_door_say(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cuMemHostAlloc while a stream is captured"));
    if (!bytes || flags > 7)
        return tess_vgpu_door_leave(door, tess_vgpu_door_say(CUDA_ERROR_INVALID_VALUE, "%zu bytes of host memory with flags %u", bytes, flags));
    vgpu_object *o = tess_vgpu_door_add(door, VGPU_HOST_MEMORY);
    if (o && flags & CU_MEMHOSTALLOC_DEVICEMAP && tess_vgpu_malloc(door->machine, (int64_t)bytes, &o->bank) == TESS_OK)
        o->memory = tess_vgpu_allocation_of(door->machine, o->bank, (int64_t)bytes)->host;
    else if (o && !(flags & CU_MEMHOSTALLOC_DEVICEMAP))
        o->memory = tess_allocate(door->context, bytes);
    if (o && !o->memory) {
        tess_vgpu_door_remove(door, o);
        o = NULL;
    }
    if (!o)
        return tess_vgpu_door_leave(door, tess_vgpu_door_say(CUDA_ERROR_OUT_OF_MEMORY, "%zu bytes of host memory", bytes));
    o->bytes = bytes;
    *pointer = o->memory;
    return tess_vgpu_door_leave(door, CUDA_SUCCESS);
}

static vgpu_object *host_memory(const tess_vgpu_door *door, uint64_t pointer) {
    for (vgpu_object *o = door->objects; o; o = o->next)
        if (o->kind == VGPU_HOST_MEMORY && pointer - (uint64_t)(uintptr_t)o->memory < o->bytes)
            return o;
    return NULL;
}

CUresult tess_vgpu_cuMemFreeHost(void *pointer) {
    CUresult result;
    tess_vgpu_door *door = tess_vgpu_door_current(&result);
    if (!door)
        return result;
    if (tess_vgpu_door_unsafe(door))
        return tess_vgpu_door_leave(door, tess_vgpu_door_say(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cuMemFreeHost while a stream is captured"));
    vgpu_object *o = host_memory(door, (uint64_t)(uintptr_t)pointer);
    if (!o || o->memory != pointer)
        return tess_vgpu_door_leave(door,
                                    tess_vgpu_door_say(CUDA_ERROR_INVALID_VALUE, "%p is not from cuMemHostAlloc, or it was freed before", pointer));
    tess_vgpu_door_remove(door, o);
    return tess_vgpu_door_leave(door, CUDA_SUCCESS);
}

/* ---- copies ---- */

/* Where a module's constants lie that the address belongs to; NULL: it is not an address of constants, or not all bytes are inside. */
static char *constants(const tess_vgpu_door *door, uint64_t address, size_t bytes) {
    for (const vgpu_object *o = door->objects; o; o = o->next)
        if (o->kind == VGPU_MODULE && address - o->bank < (uint64_t)o->module->constant_bytes &&
            bytes <= (uint64_t)o->module->constant_bytes - (address - o->bank))
            return o->module->constants + (address - o->bank);
    return NULL;
}

CUresult tess_vgpu_door_copy(tess_vgpu_door *door, const vgpu_step *s) {
    char *to = constants(door, s->to, s->bytes), *from = constants(door, s->from, s->bytes);
    int64_t bytes = (int64_t)s->bytes;
    tess_status status = TESS_OK;
    if (s->bytes > INT64_MAX)
        return tess_vgpu_door_say(CUDA_ERROR_INVALID_VALUE, "a copy of %zu bytes", s->bytes);
    if (s->kind == VGPU_STEP_IN && to)
        memcpy(to, s->host, s->bytes);
    else if (s->kind == VGPU_STEP_IN)
        status = tess_vgpu_copy_in(door->machine, s->to, s->host, bytes);
    else if (s->kind == VGPU_STEP_OUT && from)
        memcpy(s->host, from, s->bytes);
    else if (s->kind == VGPU_STEP_OUT)
        status = tess_vgpu_copy_out(door->machine, s->host, s->from, bytes);
    else if (s->kind == VGPU_STEP_FILL && to)
        memset(to, s->value, s->bytes);
    else if (s->kind == VGPU_STEP_FILL)
        status = tess_vgpu_fill(door->machine, s->to, s->value, bytes);
    else if (to && from)
        memmove(to, from, s->bytes);
    else if (from)
        status = tess_vgpu_copy_in(door->machine, s->to, from, bytes);
    else if (to)
        status = tess_vgpu_copy_out(door->machine, to, s->from, bytes);
    else
        status = tess_vgpu_copy_on(door->machine, s->to, s->from, bytes);
    return tess_vgpu_door_status(status, CUDA_ERROR_INVALID_VALUE);
}

static CUresult copy(CUstream stream, vgpu_step step) {
    CUresult result;
    tess_vgpu_door *door;
    vgpu_object *s = tess_vgpu_door_stream(stream, &door, &result);
    return s ? tess_vgpu_door_leave(door, tess_vgpu_door_do(door, s, &step)) : result;
}

CUresult tess_vgpu_cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    return copy(stream, (vgpu_step){.kind = VGPU_STEP_IN, .to = to, .host = (void *)(uintptr_t)from, .bytes = bytes});
}
CUresult tess_vgpu_cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return copy(stream, (vgpu_step){.kind = VGPU_STEP_OUT, .host = to, .from = from, .bytes = bytes});
}
CUresult tess_vgpu_cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return copy(stream, (vgpu_step){.kind = VGPU_STEP_ON, .to = to, .from = from, .bytes = bytes});
}
CUresult tess_vgpu_cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
    return copy(stream, (vgpu_step){.kind = VGPU_STEP_FILL, .to = to, .value = value, .bytes = count});
}

/* ---- what a pointer is ---- */

static CUresult pointer_fact(tess_vgpu_door *door, void *value, CUpointer_attribute attribute, uint64_t pointer) {
    const vgpu_allocation *a = tess_vgpu_allocation_of(door->machine, pointer, 0);
    const vgpu_object *host = a ? NULL : host_memory(door, pointer);
    uint64_t start = a ? a->address : host ? (uint64_t)(uintptr_t)host->memory : 0;
    size_t size = a ? (size_t)a->size : host ? host->bytes : 0;
    if (!a && !host)
        return tess_vgpu_door_say(CUDA_ERROR_INVALID_VALUE, "0x%llx is no pointer of this context", (unsigned long long)pointer);
    unsigned kind = a ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    int ordinal = 0;
    CUcontext context = (CUcontext)(uintptr_t)((uint64_t)door->numbered.number << 32 | door->generation);
    switch ((int)attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: memcpy(value, &context, sizeof context); return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: memcpy(value, &kind, sizeof kind); return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: memcpy(value, &ordinal, sizeof ordinal); return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: memcpy(value, &start, sizeof start); return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: memcpy(value, &size, sizeof size); return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (attribute == CU_POINTER_ATTRIBUTE_DEVICE_POINTER && host && host->bank) {
            const uint64_t mapped = host->bank + (pointer - start);
            memcpy(value, &mapped, sizeof mapped);
            return CUDA_SUCCESS;
        }
        if ((attribute == CU_POINTER_ATTRIBUTE_DEVICE_POINTER) == (a != NULL)) {
            memcpy(value, &pointer, sizeof pointer);
            return CUDA_SUCCESS;
        } /* fall through */
    default: return tess_vgpu_door_say(CUDA_ERROR_INVALID_VALUE, "pointer attribute %d of this memory is not known", (int)attribute);
    }
}

CUresult tess_vgpu_cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr pointer) {
    CUresult result;
    tess_vgpu_door *door = tess_vgpu_door_current(&result);
    return door ? tess_vgpu_door_leave(door, pointer_fact(door, value, attribute, pointer)) : result;
}
