/* SPDX-License-Identifier: Apache-2.0
 * tensor.c - checking the caller's DLTensor, and walking and collapsing axes. */
#include "core/overlap.h"
#include "core/write.h"

#include <string.h>

tess_status tess_array_import(tess_array *array, const DLTensor *tensor, const char *name, bool needs_data) {
    memset(array, 0, offsetof(tess_array, shape)); /* sizes and strides up to ndim are written below */
    if (!tensor)
        return tess_fail(TESS_ERR_ARGUMENT, "%s is NULL, a tensor is needed", name);
    if (tensor->ndim < 0 || tensor->ndim > TESS_MAX_NDIM)
        return tess_fail(TESS_ERR_SHAPE, "%s has ndim %d, the limits are 0 and %d", name, (int)tensor->ndim, TESS_MAX_NDIM);
    if (tensor->ndim > 0 && !tensor->shape)
        return tess_fail(TESS_ERR_ARGUMENT, "%s has ndim %d and a NULL shape", name, (int)tensor->ndim);
    array->type = tess_type_of(tensor->dtype);
    if (array->type == tess_no_type)
        return tess_fail(TESS_ERR_TYPE, "%s has the DLPack type code %d, %d bits, %d lanes, which Tessera does not know", name, tensor->dtype.code,
                         tensor->dtype.bits, tensor->dtype.lanes);
    int device = (int)tensor->device.device_type;
    if (device != kDLCPU && device != kDLCUDAHost && device != kDLCUDA && device != kDLCUDAManaged)
        return tess_fail(TESS_ERR_DEVICE,
                         "%s lives on DLPack device type %d, this library reads types %d (CPU), %d (CUDA), %d (CUDA host) and %d (CUDA managed)",
                         name, device, kDLCPU, kDLCUDA, kDLCUDAHost, kDLCUDAManaged);
    array->device = tensor->device;
    array->itemsize = (int32_t)tess_type_size(array->type);
    array->ndim = tensor->ndim;
    bool empty = false;
    for (int d = 0; d < array->ndim; d++) {
        array->shape[d] = tensor->shape[d];
        if (array->shape[d] < 0)
            return tess_fail(TESS_ERR_SHAPE, "%s has size %lld on axis %d, sizes must be at least 0", name, (long long)array->shape[d], d);
        empty |= array->shape[d] == 0;
    }
    int64_t bytes = array->itemsize; /* of a compact copy: what the counts below are proven to fit */
    for (int d = 0; d < array->ndim; d++)
        if (array->shape[d] > 0 && TESS_MUL_OVERFLOWS(bytes, array->shape[d], &bytes)) /* without the zeros: rows multiply sizes of some axes */
            return tess_fail(TESS_ERR_SIZE, "%s has more than 2^63 bytes: its sizes multiply to an overflow at axis %d (size %lld)", name, d,
                             (long long)array->shape[d]);
    array->count = empty ? 0 : bytes / array->itemsize;
    int64_t compact = array->itemsize, span = array->itemsize; /* from the lowest byte to the highest */
    for (int d = array->ndim - 1; d >= 0; d--) {
        int64_t stride = compact, reach;
        if (tensor->strides && TESS_MUL_OVERFLOWS(tensor->strides[d], (int64_t)array->itemsize, &stride))
            stride = INT64_MAX;
        if (empty || array->shape[d] == 1)
            stride = tensor->strides ? 0 : compact; /* never stepped along */
        else if (stride == INT64_MAX || TESS_MUL_OVERFLOWS(stride, array->shape[d] - 1, &reach) || reach == INT64_MIN ||
                 TESS_ADD_OVERFLOWS(span, reach < 0 ? -reach : reach, &span))
            return tess_fail(TESS_ERR_SIZE, "%s reaches beyond 2^63 bytes: stride %lld elements over size %lld on axis %d", name,
                             tensor->strides ? (long long)tensor->strides[d] : (long long)(compact / array->itemsize), (long long)array->shape[d], d);
        array->stride[d] = stride;
        if (!empty)
            compact *= array->shape[d];
    }
    array->data = tess_first_element(tensor);
    if (!array->data && needs_data && array->count > 0)
        return tess_fail(TESS_ERR_ARGUMENT, "%s has NULL data and %lld elements", name, (long long)array->count);
    return TESS_OK;
}

tess_status tess_array_on_host(const tess_array *array, const char *name) {
    if (array->device.device_type == kDLCUDA)
        return tess_fail(TESS_ERR_DEVICE,
                         "%s lives on DLPack device (2, %d), which is CUDA; it is read when the plan is made and must lie in host memory", name,
                         (int)array->device.device_id);
    return TESS_OK;
}

tess_array tess_array_compact(void *data, tess_type type, int ndim, const int64_t *shape) {
    tess_array array = {.data = data, .type = type, .itemsize = (int32_t)tess_type_size(type), .ndim = ndim, .count = 1};
    int64_t stride = array.itemsize;
    for (int d = ndim - 1; d >= 0; d--) {
        array.shape[d] = shape[d];
        array.stride[d] = stride;
        array.count *= shape[d];
        stride *= shape[d];
    }
    return array;
}

tess_array tess_array_sample(const tess_array *like, const int64_t *shape) {
    enum { GAP = 1024, KEPT = 256 }; /* larger gaps keep their remainder */
    tess_array array = *like;
    int order[TESS_MAX_NDIM];
    int64_t before = like->itemsize, now = like->itemsize; /* bytes that the finer axes take, there and here */
    array.data = NULL;
    array.device = (DLDevice){kDLCPU, 0};
    array.count = 1;
    tess_array_walk_order(order, like->ndim, like->stride);
    for (int k = like->ndim - 1; k >= 0; k--) {
        int d = order[k];
        int64_t step = like->stride[d] < 0 ? -like->stride[d] : like->stride[d], gap = step - before;
        array.shape[d] = shape[d];
        array.count *= shape[d];
        if (like->shape[d] < 2)
            continue;
        int64_t made = gap < 0 ? step : now + (gap < GAP ? gap : KEPT + gap % KEPT);
        array.stride[d] = like->stride[d] < 0 ? -made : made;
        before = tess_max64(before, step * like->shape[d]);
        now = tess_max64(now, made * tess_max64(shape[d], 1));
    }
    return array;
}

void tess_array_walk_order(int *order, int ndim, const int64_t *stride) {
    for (int d = 0; d < ndim; d++) {
        int at = d;
        for (; at > 0; at--) { /* insertion, stable */
            int64_t here = stride[d] < 0 ? -stride[d] : stride[d],
                    before = stride[order[at - 1]] < 0 ? -stride[order[at - 1]] : stride[order[at - 1]];
            if (before == 0 || (here != 0 && here <= before))
                break;
            order[at] = order[at - 1];
        }
        order[at] = d;
    }
}

int tess_cut_axis(int ndim, const int64_t *stride, const double *row, const double *fixed, int64_t most) {
    int order[TESS_MAX_NDIM], least = -1;
    tess_array_walk_order(order, ndim, stride);
    for (int k = 0; k < ndim; k++) {
        int d = order[k];
        if (fixed[d] + 4 * row[d] <= (double)most)
            return d;
        if (least < 0 || fixed[d] + row[d] < fixed[least] + row[least])
            least = d;
    }
    return least;
}

bool tess_array_is_compact(const tess_array *array) {
    int64_t stride = array->itemsize;
    for (int d = array->ndim - 1; d >= 0; d--) {
        if (array->shape[d] != 1 && array->stride[d] != stride)
            return array->count == 0;
        stride *= array->shape[d];
    }
    return true;
}

void tess_array_extent(const tess_array *array, int64_t *low, int64_t *high) {
    *low = *high = 0;
    if (array->count == 0)
        return;
    for (int d = 0; d < array->ndim; d++) {
        int64_t reach = array->stride[d] * (array->shape[d] - 1);
        *(reach < 0 ? low : high) += reach;
    }
    *high += array->itemsize;
}

tess_status tess_refuse_overlap(const tess_array *out, const char *out_name, const tess_array *in, const char *in_name) {
    return tess_refuse_overlap_at(out, out->data, out_name, in, in->data, in_name);
}

tess_status tess_refuse_overlap_at(const tess_array *out, const char *out_first, const char *out_name, const tess_array *in, const char *in_first,
                                   const char *in_name) {
    if (tess_overlap_at(out, out_first, in, in_first))
        return tess_fail(TESS_ERR_OVERLAP, "%s (at %p, %lld elements) overlaps %s (at %p, %lld elements)", out_name, (const void *)out_first,
                         (long long)out->count, in_name, (const void *)in_first, (long long)in->count);
    return TESS_OK;
}

tess_status tess_axes_check(int *axes, const int *given, int count, int ndim, const char *what) {
    bool seen[TESS_MAX_NDIM] = {false};
    if (count < 0 || count > ndim)
        return tess_fail(TESS_ERR_AXIS, "%s names %d axes, the array has %d", what, count, ndim);
    if (count > 0 && !given)
        return tess_fail(TESS_ERR_ARGUMENT, "%s is NULL with a count of %d", what, count);
    for (int k = 0; k < count; k++) {
        int axis = given[k] < 0 ? given[k] + ndim : given[k];
        if (axis < 0 || axis >= ndim)
            return tess_fail(TESS_ERR_AXIS, "%s[%d] is %d, an array of %d axes has -%d..%d", what, k, given[k], ndim, ndim, ndim - 1);
        if (seen[axis])
            return tess_fail(TESS_ERR_AXIS, "%s[%d] is %d: axis %d is named twice", what, k, given[k], axis);
        seen[axis] = true;
        axes[k] = axis;
    }
    return TESS_OK;
}

const char *tess_shape_text(char *buffer, size_t size, int ndim, const int64_t *shape) {
    tess_writer w = tess_write_to(buffer, size);
    tess_write_text(&w, "[");
    for (int d = 0; d < ndim && !w.cut; d++) {
        tess_write_text(&w, d ? ", " : "");
        tess_write_number(&w, shape[d]);
    }
    tess_write_text(&w, "]");
    if (w.cut && size >= 4)
        memcpy(buffer + size - 4, "...", 4);
    return buffer;
}

int tess_collapse(int ndim, int64_t *shape, int lists, int64_t (*strides)[TESS_MAX_NDIM]) {
    int kept = 0;
    for (int d = 0; d < ndim; d++) {
        if (shape[d] == 1)
            continue;
        bool joins = kept > 0;
        for (int k = 0; k < lists && joins; k++) {
            int64_t step;
            joins = !TESS_MUL_OVERFLOWS(strides[k][d], shape[d], &step) && strides[k][kept - 1] == step;
        }
        if (joins) {
            shape[kept - 1] *= shape[d];
            for (int k = 0; k < lists; k++)
                strides[k][kept - 1] = strides[k][d];
            continue;
        }
        shape[kept] = shape[d];
        for (int k = 0; k < lists; k++)
            strides[k][kept] = strides[k][d];
        kept++;
    }
    return kept;
}

void tess_index_start(tess_index *index, int ndim, const int64_t *shape, int lists, int64_t (*strides)[TESS_MAX_NDIM], int64_t start) {
    index->ndim = ndim;
    index->lists = lists;
    index->shape = shape;
    index->strides = strides;
    memset(index->offset, 0, sizeof index->offset);
    for (int d = ndim - 1; d >= 0; d--) {
        index->at[d] = shape[d] > 0 ? start % shape[d] : 0;
        start = shape[d] > 0 ? start / shape[d] : 0;
        for (int k = 0; k < lists; k++)
            index->offset[k] += index->at[d] * strides[k][d];
    }
}
