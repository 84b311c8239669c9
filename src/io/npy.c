/* SPDX-License-Identifier: Apache-2.0
 * npy.c - .npy files: the data is used where it lies.
 *
 * A mapped file becomes the array itself, Fortran order is a matter of strides, and only the other byte order costs a pass. Files with more data than
 * the header promises are refused, as those with less: either way the header is not the data's. */
#include <stdio.h>
#include <string.h>

#include "io/output.h"

static void swap_bytes(unsigned char *data, size_t size, size_t width) {
    for (unsigned char *p = data, *end = data + size; p < end; p += width)
        for (size_t i = 0; i < width / 2; i++) {
            unsigned char t = p[i];
            p[i] = p[width - 1 - i];
            p[width - 1 - i] = t;
        }
}

void tess_io_npy_view(tess_io_array *array, const tess_io_npy_header *header, unsigned char *data, bool swap) {
    int n = header->ndim;
    int64_t stride = 1;
    for (int k = 0; k < n; k++) {
        int d = header->fortran ? k : n - 1 - k;
        array->shape[d] = header->shape[d];
        array->strides[d] = stride;
        stride *= header->shape[d] > 0 ? header->shape[d] : 1;
    }
    array->tensor = tess_view(data, header->type, n, array->shape, array->strides);
    array->work_axes = -1;
    size_t width = tess_type_size(header->type);
    if (swap) /* a complex number is two */
        swap_bytes(data, header->data_size, header->type >= tess_c64 ? width / 2 : width);
}

tess_io_status tess_io_npy_decode(tess_io_array *array, tess_io_bytes *bytes, const char *name, tess_io_message *message) {
    tess_io_npy_header header;
    tess_io_status status = tess_io_npy_header_parse(&header, bytes->data, bytes->size, name, message);
    if (status != TESS_IO_OK)
        return status;
    size_t there = bytes->size - header.data_at;
    if (there < header.data_size)
        return tess_io_fail(message, TESS_IO_ERR_INPUT, "%s is truncated: its header promises %zu bytes of data, the file has %zu", name,
                            header.data_size, there);
    if (there > header.data_size)
        return tess_io_fail(message, TESS_IO_ERR_INPUT, "%s: its header promises %zu bytes of data, the file has %zu: one of them is wrong", name,
                            header.data_size, there);
    if (bytes->block) {
        array->block = bytes->block;
        array->block_size = bytes->block_size;
        tess_io_npy_view(array, &header, (unsigned char *)bytes->block + header.data_at, header.swapped);
        return TESS_IO_OK;
    }
    /* Bytes that are not ours to keep. */
    int64_t size = (int64_t)header.data_size;
    status = tess_io_make(array, tess_u8, 1, &size, name, message);
    if (status != TESS_IO_OK)
        return status;
    if (header.data_size > 0)
        memcpy(array->block, bytes->data + header.data_at, header.data_size);
    tess_io_npy_view(array, &header, array->block, header.swapped);
    return TESS_IO_OK;
}

tess_io_status tess_io_npy_encode(const tess_io_array *array, tess_io_output *output, tess_io_message *message) {
    static const char *const codes[] = {
        [tess_bool] = "b1", [tess_u8] = "u1",  [tess_i8] = "i1",  [tess_u16] = "u2", [tess_i16] = "i2", [tess_u32] = "u4", [tess_i32] = "i4",
        [tess_u64] = "u8",  [tess_i64] = "i8", [tess_f16] = "f2", [tess_f32] = "f4", [tess_f64] = "f8", [tess_c64] = "c8", [tess_c128] = "c16"};
    enum { ALIGNMENT = 64 };
    char header[128 + TESS_MAX_NDIM * 24];
    tess_type type = tess_io_type(array);
    size_t width = tess_type_size(type);
    char order = width == 1 ? '|' : __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
    int at = 10 + snprintf(header + 10, sizeof header - 10, "{'descr': '%c%s', 'fortran_order': False, 'shape': (", order, codes[type]);
    for (int d = 0; d < array->tensor.ndim; d++)
        at += snprintf(header + at, sizeof header - (size_t)at, "%s%lld", d ? ", " : "", (long long)array->tensor.shape[d]);
    at += snprintf(header + at, sizeof header - (size_t)at, "%s), }", array->tensor.ndim == 1 ? "," : "");
    while ((at + 1) % ALIGNMENT != 0)
        header[at++] = ' ';
    header[at++] = '\n';
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)((at - 10) & 255);
    header[9] = (char)((at - 10) >> 8);
    size_t size = (size_t)tess_io_count(&array->tensor) * width;
    const char *data = (const char *)array->tensor.data + array->tensor.byte_offset;
    if (!tess_io_output_write(output, header, (size_t)at) || !tess_io_output_write(output, data, size))
        return tess_io_output_failed(output, message);
    return TESS_IO_OK;
}
