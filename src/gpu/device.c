/* SPDX-License-Identifier: Apache-2.0
 * device.c - the devices' facts, and whose CUDA context a call works in.
 *
 * The facts need no CUDA context: making one costs a few hundred megabytes of the card, so it is left to the first call that computes. Tessera makes
 * no context of its own: it uses the device's primary one, which all libraries of a process share, or the one that the caller works in. */
#include <string.h>

#include "gpu/gpu.h"

/* A handle that names a stream of the caller's. 0, 1 and 2 are CUDA's words for the default streams of whatever context is current. */
static bool is_stream(CUstream stream) { return (uintptr_t)stream > 2; }

static tess_status read_facts(tess_gpu *gpu, tess_gpu_device *d) {
    int constant_memory = 0;
    const struct {
        int attribute, *value;
    } wanted[] = {{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &d->major},
                  {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &d->minor},
                  {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, &constant_memory},
                  {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &d->sms},
                  {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &d->clock_khz},
                  {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &d->memory_clock_khz},
                  {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &d->bus_bits},
                  {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &d->l2},
                  {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &d->shared_block},
                  {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &d->shared_block_optin},
                  {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, &d->shared_sm},
                  {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &d->threads_block},
                  {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, &d->threads_sm},
                  {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, &d->registers_sm},
                  {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, &d->block[0]},
                  {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + 1, &d->block[1]},
                  {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + 2, &d->block[2]},
                  {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, &d->grid[0]},
                  {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + 1, &d->grid[1]},
                  {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + 2, &d->grid[2]}};
    TESS_CUDA(gpu, cuDeviceGetName, d->name, (int)sizeof d->name, d->handle);
    TESS_CUDA(gpu, cuDeviceTotalMem, &d->memory, d->handle);
    for (int i = 0; i < TESS_COUNT(wanted); i++)
        TESS_CUDA(gpu, cuDeviceGetAttribute, wanted[i].value, (CUdevice_attribute)wanted[i].attribute, d->handle);
    d->constant_memory = (size_t)constant_memory;
    if (d->shared_block_optin < d->shared_block) /* a device without the opt-in answers 0 */
        d->shared_block_optin = d->shared_block;
    return TESS_OK;
}

tess_status tess_gpu_devices_read(tess_gpu *gpu) {
    int count = 0;
    TESS_CUDA(gpu, cuDeviceGetCount, &count);
    if (count <= 0)
        return tess_fail(TESS_ERR_ENGINE, "the NVIDIA driver is there but shows no device (CUDA_VISIBLE_DEVICES, /dev/nvidia*)");
    tess_gpu_device *devices = tess_allocate_zeroed(gpu->context, (size_t)count * sizeof *devices);
    tess_status status = devices ? TESS_OK : TESS_ERR_MEMORY;
    for (int i = 0; i < count && status == TESS_OK; i++) {
        devices[i].ordinal = i;
        status = tess_gpu_check(gpu, gpu->driver.cuDeviceGet(&devices[i].handle, i), "cuDeviceGet");
        if (status == TESS_OK)
            status = read_facts(gpu, &devices[i]);
    }
    if (status != TESS_OK) {
        tess_free(gpu->context, devices, (size_t)count * sizeof *devices);
        return status;
    }
    gpu->devices = devices;
    gpu->device_count = count;
    return TESS_OK;
}

void tess_gpu_devices_free(tess_gpu *gpu, bool exiting) {
    for (int i = 0; i < gpu->device_count && !exiting; i++) {
        if (gpu->devices[i].pool)
            gpu->driver.cuMemPoolDestroy(gpu->devices[i].pool);
        if (gpu->devices[i].primary)
            gpu->driver.cuDevicePrimaryCtxRelease(gpu->devices[i].handle);
    }
    tess_free(gpu->context, gpu->devices, (size_t)gpu->device_count * sizeof *gpu->devices);
    gpu->devices = NULL;
    gpu->device_count = 0;
}

tess_status tess_gpu_device_get(tess_gpu *gpu, int ordinal, tess_gpu_device **device) {
    *device = NULL;
    if (ordinal < 0 || ordinal >= gpu->device_count)
        return tess_fail(TESS_ERR_DEVICE, "device_id is %d, this process sees %d CUDA device%s", ordinal, gpu->device_count,
                         gpu->device_count == 1 ? "" : "s");
    *device = &gpu->devices[ordinal];
    return TESS_OK;
}

double tess_gpu_bandwidth(const tess_gpu_device *device) { return 2.0 * device->memory_clock_khz * 1e3 * device->bus_bits / 8; }

/* The device's default pool gives memory back whenever a stream is waited for, and to take it anew costs far more than a launch. Its setting is the
 * process's and is left alone. */
CUmemoryPool tess_gpu_device_pool(tess_gpu *gpu, tess_gpu_device *device) {
    const CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, (int)device->handle}};
    uint64_t keep = TESS_GPU_POOL;
    pthread_mutex_lock(&gpu->lock);
    if (!device->pool_made) {
        device->pool_made = true;
        if (gpu->driver.cuMemPoolCreate(&device->pool, &properties) != CUDA_SUCCESS)
            device->pool = NULL;
        else
            gpu->driver.cuMemPoolSetAttribute(device->pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep);
    }
    CUmemoryPool pool = device->pool;
    pthread_mutex_unlock(&gpu->lock);
    return pool;
}

static tess_status primary_context(tess_gpu *gpu, tess_gpu_device *device, CUcontext *context) {
    tess_status status = TESS_OK;
    pthread_mutex_lock(&gpu->lock);
    if (!device->primary) {
        status = tess_gpu_check(gpu, gpu->driver.cuDevicePrimaryCtxRetain(&device->primary, device->handle), "cuDevicePrimaryCtxRetain");
        if (status != TESS_OK)
            device->primary = NULL;
    }
    *context = device->primary;
    pthread_mutex_unlock(&gpu->lock);
    return status;
}

static tess_status push(tess_gpu_scope *scope, CUcontext context) {
    TESS_CUDA(scope->gpu, cuCtxPushCurrent, context);
    scope->pushed = true;
    return TESS_OK;
}

/* known: the number of a context that is on the device, as the driver need not be asked then; or NULL. */
static tess_status enter(tess_gpu_scope *scope, CUstream stream, const unsigned long long *known) {
    tess_gpu *gpu = scope->gpu;
    tess_gpu_device *device = scope->device;
    CUcontext current = NULL, context = NULL;
    CUdevice handle = device->handle;
    TESS_CUDA(gpu, cuCtxGetCurrent, &current);
    if (is_stream(stream)) {
        TESS_CUDA(gpu, cuStreamGetCtx, stream, &context);
        if (context != current)
            TESS_TRY(push(scope, context));
        TESS_CUDA(gpu, cuCtxGetId, context, &scope->context_id);
        if (known && scope->context_id == *known)
            return TESS_OK;
        TESS_CUDA(gpu, cuCtxGetDevice, &handle);
        if (handle != device->handle)
            return tess_fail(TESS_ERR_ARGUMENT, "the stream belongs to CUDA device %d, the arrays live on device %d", (int)handle,
                             (int)device->handle);
        return TESS_OK;
    }
    if (current) {
        TESS_CUDA(gpu, cuCtxGetId, current, &scope->context_id);
        if (known && scope->context_id == *known)
            return TESS_OK;
        TESS_CUDA(gpu, cuCtxGetDevice, &handle);
        if (handle == device->handle)
            return TESS_OK;
    }
    TESS_TRY(primary_context(gpu, device, &context));
    TESS_TRY(push(scope, context));
    TESS_CUDA(gpu, cuCtxGetId, context, &scope->context_id);
    return TESS_OK;
}

void tess_gpu_relax(tess_gpu_scope *scope) {
    scope->before = CU_STREAM_CAPTURE_MODE_RELAXED;
    scope->relaxed = scope->gpu->driver.cuThreadExchangeStreamCaptureMode(&scope->before) == CUDA_SUCCESS;
}

void tess_gpu_restore(tess_gpu_scope *scope) {
    if (scope->relaxed)
        scope->gpu->driver.cuThreadExchangeStreamCaptureMode(&scope->before);
    scope->relaxed = false;
}

tess_gpu_use tess_gpu_stream_use(const tess_gpu *gpu, CUstream stream) {
    CUstreamCaptureStatus status = 0;
    CUresult result = gpu->driver.cuStreamIsCapturing(stream, &status);
    return result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT ? TESS_GPU_BARRED : result == CUDA_SUCCESS && status != 0 ? TESS_GPU_TAPED : TESS_GPU_DONE;
}

tess_status tess_gpu_enter(tess_gpu *gpu, tess_gpu_device *device, CUstream stream, tess_gpu_scope *scope) {
    *scope = (tess_gpu_scope){.gpu = gpu, .device = device};
    tess_gpu_relax(scope);
    return enter(scope, stream, NULL);
}

tess_status tess_gpu_enter_again(tess_gpu *gpu, tess_gpu_device *device, CUstream stream, unsigned long long context_id, tess_gpu_scope *scope) {
    *scope = (tess_gpu_scope){.gpu = gpu, .device = device};
    return enter(scope, stream, &context_id);
}

void tess_gpu_leave(tess_gpu_scope *scope) {
    CUcontext popped;
    if (scope->pushed)
        scope->gpu->driver.cuCtxPopCurrent(&popped);
    scope->pushed = false;
    tess_gpu_restore(scope);
}
