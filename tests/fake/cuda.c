/* SPDX-License-Identifier: Apache-2.0
 * cuda.c - a library that pretends to be libcuda.so.1 with two devices, for tests without a card. It computes nothing.
 *
 * Built several times with defects by -D: FAKE_VERSION (of CUDA), FAKE_DEVICES, FAKE_INIT and FAKE_RETAIN (the answers of cuInit and of
 * cuDevicePrimaryCtxRetain); an entry is taken away by renaming it. Entries that are not here are in cuda_rest.c and answer NOT_SUPPORTED. */
#include "cuda.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifndef FAKE_VERSION
#define FAKE_VERSION 13000
#endif
#ifndef FAKE_DEVICES
#define FAKE_DEVICES 2
#endif
#ifndef FAKE_INIT
#define FAKE_INIT CUDA_SUCCESS
#endif
#ifndef FAKE_RETAIN
#define FAKE_RETAIN CUDA_SUCCESS
#endif

#define CUDA_ENTRY(name, symbol, parameters) CUresult symbol parameters;
#include "gpu/driver.def"

struct CUctx_st {
    int device;
    unsigned long long id;
};
struct CUstream_st {
    CUcontext context;
};
struct CUmod_st {
    bool loaded;
};
struct CUfunc_st {
    int threads, shared;
};

enum { STACK = 8 };
static struct CUctx_st primary[2] = {{0, 11}, {1, 12}}, own[2] = {{0, 21}, {1, 22}};
static struct CUstream_st streams[2] = {{&own[0]}, {&own[1]}};
static struct CUmod_st modules[256];
static struct CUfunc_st fill = {1024, 0}, big = {256, 16384};
static fake_cuda_state state;
static _Thread_local CUcontext stack[STACK];
static _Thread_local int depth;

fake_cuda_state *fake_cuda(void) { return &state; }
CUcontext fake_cuda_context(int device) { return &own[device]; }
CUstream fake_cuda_stream(int device) { return &streams[device]; }

CUresult cuDriverGetVersion(int *version) {
    *version = FAKE_VERSION;
    return CUDA_SUCCESS;
}
CUresult cuInit(unsigned int flags) { return flags == 0 ? FAKE_INIT : CUDA_ERROR_INVALID_VALUE; }

CUresult cuGetErrorName(CUresult error, const char **text) {
    *text = error == CUDA_ERROR_NO_DEVICE            ? "CUDA_ERROR_NO_DEVICE"
            : error == CUDA_ERROR_DEVICE_UNAVAILABLE ? "CUDA_ERROR_DEVICE_UNAVAILABLE"
                                                     : "CUDA_ERROR_FAKE";
    return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult error, const char **text) {
    *text = error == CUDA_SUCCESS ? "no error" : "a pretended error";
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
    *count = FAKE_DEVICES;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    *device = ordinal;
    return ordinal < FAKE_DEVICES ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
    snprintf(name, (size_t)size, "Fake GPU \"%d\"", device);
    return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    *bytes = (size_t)(140 + device) << 30;
    return CUDA_SUCCESS;
}
/* The second device has a compute capability that the pretended compiler does not know. */
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    static const int values[128] = {[1] = 1024,  [2] = 1024,  [3] = 1024,     [4] = 64,     [5] = 2147483647, [6] = 65535, [7] = 65535,
                                    [8] = 49152, [9] = 65536, [13] = 1980000, [16] = 132,   [36] = 3201000,   [37] = 6144, [38] = 62914560,
                                    [39] = 2048, [75] = 9,    [81] = 233472,  [82] = 65536, [97] = 232448};
    *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? device * 5 : values[attribute];
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    *context = &primary[device];
    if (FAKE_RETAIN == CUDA_SUCCESS)
        state.retained++;
    return FAKE_RETAIN;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    (void)device;
    state.released++;
    return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext *context) {
    *context = depth ? stack[depth - 1] : NULL;
    return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice *device) {
    *device = depth ? stack[depth - 1]->device : -1;
    return depth ? CUDA_SUCCESS : 201;
}
CUresult cuCtxGetId(CUcontext context, unsigned long long *id) {
    *id = context->id;
    return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent_v2(CUcontext context) {
    if (depth == STACK)
        return CUDA_ERROR_INVALID_VALUE;
    stack[depth++] = context;
    return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent_v2(CUcontext *context) {
    *context = depth ? stack[--depth] : NULL;
    return *context ? CUDA_SUCCESS : 201;
}
CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
    *context = stream->context;
    return CUDA_SUCCESS;
}

/* Images are text that starts with FAKE. */
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int count, CUjit_option *options, void **values) {
    if (depth == 0)
        return 201;
    if (strncmp(image, "FAKE", 4) != 0) {
        if (count > 1 && options[0] == CU_JIT_ERROR_LOG_BUFFER)
            snprintf(values[0], (size_t)(uintptr_t)values[1], "error : not a pretended image\n");
        return CUDA_ERROR_INVALID_IMAGE;
    }
    *module = &modules[__atomic_fetch_add(&state.loaded, 1, __ATOMIC_SEQ_CST) % 256];
    (*module)->loaded = true;
    return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) {
    if (depth == 0 || !module->loaded)
        return 201;
    module->loaded = false;
    __atomic_fetch_add(&state.unloaded, 1, __ATOMIC_SEQ_CST);
    return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    *function = strcmp(name, "fill") == 0 ? &fill : strcmp(name, "big") == 0 ? &big : NULL;
    return module->loaded && *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
CUresult cuModuleGetGlobal_v2(CUdeviceptr *pointer, size_t *bytes, CUmodule module, const char *name) {
    *pointer = (CUdeviceptr)(uintptr_t)state.constant;
    *bytes = sizeof state.constant;
    return module->loaded && strcmp(name, "weights") == 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
    *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? function->threads
             : attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES   ? function->shared
             : attribute == CU_FUNC_ATTRIBUTE_NUM_REGS            ? 65536 / function->threads
                                                                  : 0;
    return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value + function->shared > 232448)
        return CUDA_ERROR_INVALID_VALUE;
    __atomic_store_n(&state.dynamic_limit, value, __ATOMIC_SEQ_CST);
    return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
                        unsigned int block_y, unsigned int block_z, unsigned int shared, CUstream stream, void **arguments, void **extra) {
    if (!function || extra || depth == 0)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(state.grid, (unsigned int[]){grid_x, grid_y, grid_z}, sizeof state.grid);
    memcpy(state.block, (unsigned int[]){block_x, block_y, block_z}, sizeof state.block);
    state.shared = shared;
    state.stream = stream;
    state.launched_in = stack[depth - 1];
    memcpy(&state.first_argument, arguments[0], sizeof state.first_argument);
    state.launches++;
    return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    state.stream = stream;
    memcpy((void *)(uintptr_t)to, from, bytes);
    return CUDA_SUCCESS;
}
