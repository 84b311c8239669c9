/* SPDX-License-Identifier: Apache-2.0
 * fuzz_npy.c - any bytes as an .npy file: an array whose every element can be read and which survives being written and read again, or one sentence.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/output.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The elements in row-major order, compact. */
static unsigned char *gather(const tess_io_array *array, size_t *size) {
    const DLTensor *t = &array->tensor;
    int64_t count = tess_io_count(t), item = t->dtype.bits / 8;
    unsigned char *to = malloc((size_t)(count * item) + 1);
    const char *from = (const char *)t->data + t->byte_offset;
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i, offset = 0;
        for (int d = t->ndim - 1; d >= 0; d--) {
            offset += rest % t->shape[d] * array->strides[d];
            rest /= t->shape[d];
        }
        memcpy(to + i * item, from + offset * item, (size_t)item);
    }
    *size = (size_t)(count * item);
    return to;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static tess_io_message message;
    tess_io_array array, again;
    unsigned char *copy = malloc(size + 1);
    memcpy(copy, data, size);
    tess_io_bytes bytes = {.data = copy, .size = size};
    if (tess_io_npy_decode(&array, &bytes, "input", &message) != TESS_IO_OK) {
        if (!*message.text || strchr(message.text, '\n'))
            abort();
        free(copy);
        return 0;
    }
    size_t values_size, again_size;
    unsigned char *values = gather(&array, &values_size), *compact = gather(&array, &again_size);
    if (!array.tensor.strides || values_size > size * 1 + 16)
        abort(); /* more elements than bytes came */
    DLTensor old = array.tensor;
    array.tensor.data = compact; /* the writer takes compact arrays */
    array.tensor.byte_offset = 0;
    for (int64_t d = old.ndim - 1, step = 1; d >= 0; step *= array.shape[d--])
        array.strides[d] = step;
    tess_io_output output = {.name = "output", .fd = memfd_create("fuzz", 0), .in_place = true};
    if (output.fd < 0 || tess_io_npy_encode(&array, &output, &message) != TESS_IO_OK)
        abort();
    off_t length = lseek(output.fd, 0, SEEK_END);
    unsigned char *written = malloc((size_t)length);
    if (pread(output.fd, written, (size_t)length, 0) != length)
        abort();
    close(output.fd);
    tess_io_bytes second = {.data = written, .size = (size_t)length};
    if (tess_io_npy_decode(&again, &second, "again", &message) != TESS_IO_OK)
        abort();
    unsigned char *read_again = gather(&again, &again_size);
    if (again_size != values_size || memcmp(read_again, values, values_size) != 0 || again.tensor.ndim != array.tensor.ndim ||
        memcmp(again.shape, array.shape, sizeof(int64_t) * (size_t)array.tensor.ndim) != 0)
        abort();
    array.tensor = old;
    tess_io_free(&again);
    tess_io_free(&array);
    free(read_again);
    free(written);
    free(compact);
    free(values);
    free(copy);
    return 0;
}
