/* SPDX-License-Identifier: Apache-2.0
 * host.c - a plan of the GPU on arrays in host memory: copied in, computed, copied out.
 *
 * Each operand's memory, from its lowest byte to its highest, has a twin on the device with the same layout, so the rows see the planned strides. An
 * output with gaps between its elements comes back beside its place, and only its elements are copied there. */
#include <string.h>

#include "gpu/row.h"

tess_status tess_gpu_twin_make(const tess_gpu_scope *scope, tess_gpu_twin *t, const tess_array *array, CUstream stream) {
    int64_t high;
    t->array = array;
    tess_array_extent(array, &t->low, &high);
    t->bytes = high - t->low;
    return tess_gpu_scratch(scope, &t->memory, (size_t)t->bytes, stream, TESS_GPU_DONE, &t->ordered);
}

CUdeviceptr tess_gpu_twin_first(const tess_gpu_twin *t) { return t->memory - (CUdeviceptr)t->low; }

tess_status tess_gpu_twin_fill(const tess_gpu_scope *scope, const tess_gpu_twin *t, const void *first, CUstream stream) {
    if (t->bytes > 0)
        TESS_CUDA(scope->gpu, cuMemcpyHtoDAsync, t->memory, (const char *)first + t->low, (size_t)t->bytes, stream);
    return TESS_OK;
}

static void copy_elements(const tess_array *array, char *to, const char *from) {
    tess_array walked = *array;
    tess_index index;
    int64_t strides[1][TESS_MAX_NDIM];
    memcpy(strides[0], array->stride, sizeof strides[0]);
    walked.ndim = tess_collapse(walked.ndim, walked.shape, 1, strides);
    int last = walked.ndim - 1;
    bool runs = last >= 0 && strides[0][last] == array->itemsize; /* the last axis without gaps: copied whole */
    size_t size = (size_t)array->itemsize * (runs ? (size_t)walked.shape[last] : 1);
    if (runs)
        walked.ndim--;
    tess_index_start(&index, walked.ndim, walked.shape, 1, strides, 0);
    do
        memcpy(to + index.offset[0], from + index.offset[0], size);
    while (tess_index_next(&index));
}

void tess_gpu_twin_free(const tess_gpu_scope *scope, const tess_gpu_twin *t, CUstream stream) {
    tess_gpu_scratch_free(scope, t->memory, stream, t->ordered);
}

/* Bytes between the elements come back with them and go nowhere; they are made defined so that checkers of the driver find only what is wrong. */
static tess_status twin_clear_gaps(const tess_gpu_scope *scope, const tess_gpu_twin *t, CUstream stream) {
    if (t->bytes > t->array->count * t->array->itemsize)
        TESS_CUDA(scope->gpu, cuMemsetD8Async, t->memory, 0, (size_t)t->bytes, stream);
    return TESS_OK;
}

static tess_status twin_read(const tess_gpu_scope *scope, const tess_gpu_twin *t, void *first, CUstream stream) {
    const tess_array *a = t->array;
    if (a->count == 0)
        return TESS_OK;
    bool dense = t->bytes == a->count * a->itemsize;
    char *to = (char *)first + t->low, *beside = NULL;
    if (!dense && !(beside = tess_allocate(scope->gpu->context, (size_t)t->bytes)))
        return TESS_ERR_MEMORY;
    tess_status status = tess_gpu_check(scope->gpu, scope->gpu->driver.cuMemcpyDtoHAsync(dense ? to : beside, t->memory, (size_t)t->bytes, stream),
                                        "cuMemcpyDtoHAsync");
    if (status == TESS_OK)
        status = tess_gpu_check(scope->gpu, scope->gpu->driver.cuStreamSynchronize(stream), "cuStreamSynchronize");
    if (status == TESS_OK && !dense)
        copy_elements(a, first, beside - t->low);
    tess_free(scope->gpu->context, beside, (size_t)t->bytes);
    return status;
}

typedef struct twins {
    tess_gpu_twin in, second, out;
    bool inplace, has_second, work_ordered;
    CUdeviceptr workspace;
} twins;

static tess_status run(const tess_gpu_scope *scope, const tess_plan *plan, twins *t, const void *in, const void *second, void *out, CUstream stream) {
    const tess_op *op = plan->problem->op;
    const tess_array *in_array = op->array(plan->problem, TESS_ARRAY_IN), *second_array = op->array(plan->problem, TESS_ARRAY_SECOND),
                     *out_array = op->array(plan->problem, TESS_ARRAY_OUT);
    t->inplace = out_array == in_array;
    t->has_second = second_array != NULL;
    TESS_TRY(tess_gpu_twin_make(scope, &t->in, in_array, stream));
    TESS_TRY(tess_gpu_twin_fill(scope, &t->in, in, stream));
    if (t->has_second) {
        TESS_TRY(tess_gpu_twin_make(scope, &t->second, second_array, stream));
        TESS_TRY(tess_gpu_twin_fill(scope, &t->second, second, stream));
    }
    if (!t->inplace) {
        TESS_TRY(tess_gpu_twin_make(scope, &t->out, out_array, stream));
        TESS_TRY(twin_clear_gaps(scope, &t->out, stream));
    }
    TESS_TRY(tess_gpu_scratch(scope, &t->workspace, plan->workspace, stream, TESS_GPU_DONE, &t->work_ordered));
    tess_gpu_pointers pointers = {.in = tess_gpu_twin_first(&t->in),
                                  .second = t->has_second ? tess_gpu_twin_first(&t->second) : 0,
                                  .out = tess_gpu_twin_first(t->inplace ? &t->in : &t->out),
                                  .workspace = t->workspace};
    const tess_gpu_plan *made;
    TESS_TRY(tess_gpu_aligned_plan(&made, plan, &pointers));
    TESS_TRY(tess_gpu_run_steps(scope, made, &pointers, stream));
    TESS_TRY(tess_gpu_finish(scope, plan, made, &pointers, stream));
    return twin_read(scope, t->inplace ? &t->in : &t->out, out, stream);
}

tess_status tess_gpu_execute_host(const tess_gpu_scope *scope, const tess_plan *plan, const void *in, const void *second, void *out,
                                  CUstream stream) {
    twins t;
    TESS_TRY(tess_gpu_check_cap(plan));
    memset(&t, 0, sizeof t);
    tess_status status = run(scope, plan, &t, in, second, out, stream);
    tess_gpu_scratch_free(scope, t.workspace, stream, t.work_ordered);
    tess_gpu_twin_free(scope, &t.out, stream);
    tess_gpu_twin_free(scope, &t.second, stream);
    tess_gpu_twin_free(scope, &t.in, stream);
    return status;
}
