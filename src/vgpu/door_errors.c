/* SPDX-License-Identifier: Apache-2.0
 * door_errors.c - the driver's results by name and text, and the sentence of a thread's last failure. */
#include <stdarg.h>
#include <stdio.h>

#include "vgpu/door.h"

static const struct {
    int code;
    const char *name, *text;
} errors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "an argument is not valid"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "there is no such device"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "no CUDA context is current, or it is gone"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU", "the virtual GPU runs PTX, this is machine code"},
    {CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "the PTX is wrong or not supported"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "the handle stands for nothing, or for something of another kind"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "there is nothing of that name"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "not recorded yet"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "a kernel reached outside its memory"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT", "a kernel does not end"},
    {CUDA_ERROR_ASSERT, "CUDA_ERROR_ASSERT", "an assertion of a kernel failed"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS", "a kernel used a misaligned address"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "a kernel failed"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "the virtual GPU has no such thing"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "not allowed while a stream is captured"},
    {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "a call that cannot be captured has broken the capture"},
    {CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", "the default stream waits for a stream that is captured"},
    {CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", "another thread began this capture, not in the relaxed mode"}};

CUresult tess_vgpu_cuGetErrorName(CUresult error, const char **text) {
    for (int i = 0; i < TESS_COUNT(errors); i++)
        if (errors[i].code == error) {
            *text = errors[i].name;
            return CUDA_SUCCESS;
        }
    *text = NULL;
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult tess_vgpu_cuGetErrorString(CUresult error, const char **text) {
    const tess_thread_state *thread = tess_thread_get();
    *text = NULL;
    for (int i = 0; i < TESS_COUNT(errors); i++)
        if (errors[i].code == error)
            *text = errors[i].text;
    if (error != CUDA_SUCCESS && thread->error == error)
        *text = thread->sentence;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult tess_vgpu_door_say(CUresult result, const char *format, ...) {
    tess_thread_state *thread = tess_thread_get();
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(thread->sentence, sizeof thread->sentence, format, arguments);
    va_end(arguments);
    thread->error = result;
    return result;
}

CUresult tess_vgpu_door_status(tess_status status, CUresult otherwise) {
    if (status == TESS_OK)
        return CUDA_SUCCESS;
    return tess_vgpu_door_say(status == TESS_ERR_MEMORY ? CUDA_ERROR_OUT_OF_MEMORY : otherwise, "%s", tess_detail());
}

CUresult tess_vgpu_door_fail(CUresult result) {
    tess_thread_get()->error = 0;
    return result;
}
