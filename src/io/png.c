/* SPDX-License-Identifier: Apache-2.0
 * png.c - PNG images through libpng: 8 or 16 bits; grey (rows, columns), with channels (rows, columns, 2 to 4).
 *
 * Palettes become RGB, fewer than 8 bits become 8, transparent colours become an alpha channel; gamma and colour profiles are left alone. The size is
 * checked against the limit before anything is unpacked, and libpng's own limits stop chunks that unpack to much. */
#include <png.h>
#include <setjmp.h>
#include <string.h>

#include "io/output.h"

typedef struct png_session {
    const tess_io_bytes *bytes;
    size_t at;
    tess_io_output *output;
    tess_io_message *message;
    const char *name;
    tess_io_status status;
} png_session;

static void on_error(png_structp png, png_const_charp text) {
    png_session *session = png_get_error_ptr(png);
    if (session->status == TESS_IO_OK)
        session->status = session->output ? tess_io_fail(session->message, TESS_IO_ERR_OUTPUT, "%s cannot be written as PNG: %s", session->name, text)
                                          : tess_io_fail(session->message, TESS_IO_ERR_INPUT, "%s is a damaged PNG image: %s", session->name, text);
    longjmp(png_jmpbuf(png), 1);
}
static void on_warning(png_structp png, png_const_charp text) {
    (void)png;
    (void)text;
}

static void on_read(png_structp png, png_bytep to, size_t size) {
    png_session *session = png_get_io_ptr(png);
    if (session->bytes->size - session->at < size)
        png_error(png, "it is truncated");
    memcpy(to, session->bytes->data + session->at, size);
    session->at += size;
}
static void on_write(png_structp png, png_bytep from, size_t size) {
    png_session *session = png_get_io_ptr(png);
    if (!tess_io_output_write(session->output, from, size)) {
        session->status = tess_io_output_failed(session->output, session->message);
        png_error(png, "");
    }
}
static void on_flush(png_structp png) { (void)png; }

/* Everything between setjmp and the end, so that no variable of the caller changes in between. */
static void decode(png_structp png, png_infop info, png_session *session, tess_io_array *array) {
    png_set_read_fn(png, session, on_read);
    png_set_user_limits(png, 0x7fffffff, 0x7fffffff); /* ours come below, with a sentence */
    png_set_chunk_cache_max(png, 128);
    png_set_chunk_malloc_max(png, 8 << 20);
    png_read_info(png, info);
    png_uint_32 width = png_get_image_width(png, info), height = png_get_image_height(png, info);
    png_set_expand(png);
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && png_get_bit_depth(png, info) == 16)
        png_set_swap(png);
    int passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    int channels = png_get_channels(png, info);
    int64_t shape[3] = {height, width, channels};
    tess_type type = png_get_bit_depth(png, info) == 16 ? tess_u16 : tess_u8;
    session->status = tess_io_make(array, type, channels == 1 ? 2 : 3, shape, session->name, session->message);
    if (session->status != TESS_IO_OK)
        png_error(png, "");
    size_t stride = (size_t)width * (size_t)channels * tess_type_size(type);
    for (int pass = 0; pass < passes; pass++)
        for (png_uint_32 y = 0; y < height; y++)
            png_read_row(png, (png_bytep)array->block + y * stride, NULL);
    png_read_end(png, NULL);
    array->work_axes = 2;
}

tess_io_status tess_io_png_decode(tess_io_array *array, const tess_io_bytes *bytes, const char *name, const tess_io_limits *limits,
                                  tess_io_message *message) {
    png_session session = {bytes, 0, NULL, message, name, TESS_IO_OK};
    const unsigned char *b = bytes->data;
    if (bytes->size >= 24 && memcmp(b + 12, "IHDR", 4) == 0) { /* always the first chunk: its sizes are checked before anything is unpacked */
        tess_io_status status = tess_io_check_pixels(png_get_uint_32(b + 16), png_get_uint_32(b + 20), name, limits, message);
        if (status != TESS_IO_OK)
            return status;
    }
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &session, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) {
        png_destroy_read_struct(&png, NULL, NULL);
        return tess_io_fail(message, TESS_IO_ERR_MEMORY, "%s: libpng could not be started", name);
    }
    if (!setjmp(png_jmpbuf(png)))
        decode(png, info, &session, array);
    png_destroy_read_struct(&png, &info, NULL);
    return session.status;
}

static void encode(png_structp png, png_infop info, const tess_io_array *array, int channels) {
    static const int colour[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    int64_t height = array->tensor.shape[0], width = array->tensor.shape[1];
    size_t depth = tess_type_size(tess_io_type(array));
    png_set_user_limits(png, 0x7fffffff, 0x7fffffff);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, (int)depth * 8, colour[channels], PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(png, 3); /* near the smallest size at several times the speed of the default, 6 */
    png_write_info(png, info);
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && depth == 2)
        png_set_swap(png);
    const unsigned char *row = (const unsigned char *)array->tensor.data + array->tensor.byte_offset;
    for (int64_t y = 0; y < height; y++, row += (size_t)width * (size_t)channels * depth)
        png_write_row(png, row);
    png_write_end(png, info);
}

tess_io_status tess_io_png_encode(const tess_io_array *array, tess_io_output *output, tess_io_message *message) {
    int ndim = array->tensor.ndim;
    const int64_t *shape = array->tensor.shape;
    int64_t channels = ndim == 3 ? shape[2] : 1;
    if (ndim < 2 || ndim > 3 || channels < 1 || channels > 4)
        return tess_io_fail(message, TESS_IO_ERR_OUTPUT,
                            "%s: a PNG image has (rows, columns) or (rows, columns, 1 to 4 channels), the result has %d axes%s", output->name, ndim,
                            ndim == 3 ? " and another number of channels" : "");
    if (shape[0] < 1 || shape[1] < 1 || shape[0] > 0x7fffffff || shape[1] > 0x7fffffff)
        return tess_io_fail(message, TESS_IO_ERR_OUTPUT, "%s: %lld x %lld pixels; each side of a PNG image has 1 to 2147483647", output->name,
                            (long long)shape[1], (long long)shape[0]);
    png_session session = {NULL, 0, output, message, output->name, TESS_IO_OK};
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &session, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) {
        png_destroy_write_struct(&png, NULL);
        return tess_io_fail(message, TESS_IO_ERR_MEMORY, "%s: libpng could not be started", output->name);
    }
    if (!setjmp(png_jmpbuf(png))) {
        png_set_write_fn(png, &session, on_write, on_flush);
        encode(png, info, array, (int)channels);
    }
    png_destroy_write_struct(&png, &info);
    return session.status;
}
