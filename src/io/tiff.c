/* SPDX-License-Identifier: Apache-2.0
 * tiff.c - TIFF images through libtiff: integers of 8, 16, 32 bits and floats of 32 and 64; grey and colour, strips and tiles.
 *
 * One image a file: more pages are refused rather than dropped. libtiff reads from the bytes in memory and writes through our output, so that its own
 * notion of files, of error texts on stderr and of unbounded allocations never applies. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

#include "io/output.h"

typedef struct tiff_session {
    const tess_io_bytes *bytes;
    int64_t at;
    tess_io_output *output;
    char error[256]; /* libtiff's first */
} tiff_session;

static int on_error(TIFF *tiff, void *user, const char *module, const char *format, va_list arguments) {
    tiff_session *session = user;
    (void)tiff;
    (void)module;
    if (session->error[0])
        return 1;
    vsnprintf(session->error, sizeof session->error, format, arguments);
    for (char *c = session->error; *c; c++) /* some of its texts have two lines */
        *c = (unsigned char)*c < ' ' ? ' ' : *c;
    return 1;
}
static int on_warning(TIFF *tiff, void *user, const char *module, const char *format, va_list arguments) {
    (void)tiff, (void)user, (void)module, (void)format, (void)arguments;
    return 1;
}

static tmsize_t on_read(thandle_t handle, void *to, tmsize_t size) {
    tiff_session *session = (tiff_session *)handle;
    if (!session->bytes) { /* libtiff reads back what it wrote only when it appends or updates, which we never do */
        return 0;
    }
    int64_t rest = (int64_t)session->bytes->size - session->at, n = size < rest ? size : rest;
    if (n <= 0)
        return 0;
    memcpy(to, session->bytes->data + session->at, (size_t)n);
    session->at += n;
    return n;
}
static tmsize_t on_write(thandle_t handle, void *from, tmsize_t size) {
    tiff_session *session = (tiff_session *)handle;
    return session->output && tess_io_output_write(session->output, from, (size_t)size) ? size : 0;
}
static toff_t on_seek(thandle_t handle, toff_t offset, int whence) {
    tiff_session *session = (tiff_session *)handle;
    if (session->output)
        return (toff_t)tess_io_output_seek(session->output, (int64_t)offset, whence);
    int64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? session->at : (int64_t)session->bytes->size;
    int64_t to;
    if (__builtin_add_overflow(base, (int64_t)offset, &to) || to < 0)
        return (toff_t)-1;
    session->at = to;
    return (toff_t)to;
}
static int on_close(thandle_t handle) {
    (void)handle;
    return 0;
}
static toff_t on_size(thandle_t handle) {
    tiff_session *session = (tiff_session *)handle;
    return session->bytes ? session->bytes->size : 0;
}

static TIFF *open_session(tiff_session *session, const char *mode) {
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options)
        return NULL;
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, session);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, session);
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)1 << 32);
    TIFF *tiff = TIFFClientOpenExt("image", mode, (thandle_t)session, on_read, on_write, on_seek, on_close, on_size, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    return tiff;
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

typedef struct tiff_image {
    uint32_t width, height;
    uint16_t channels, bits, format, photometric, planar;
    tess_type type;
} tiff_image;

static tess_type type_of(uint16_t format, uint16_t bits) {
    switch (format) {
    case SAMPLEFORMAT_UINT: return bits == 8 ? tess_u8 : bits == 16 ? tess_u16 : bits == 32 ? tess_u32 : tess_no_type;
    case SAMPLEFORMAT_INT: return bits == 8 ? tess_i8 : bits == 16 ? tess_i16 : bits == 32 ? tess_i32 : tess_no_type;
    case SAMPLEFORMAT_IEEEFP: return bits == 16 ? tess_f16 : bits == 32 ? tess_f32 : bits == 64 ? tess_f64 : tess_no_type;
    default: return tess_no_type;
    }
}

static tess_io_status describe(TIFF *tiff, tiff_image *image, const char *name, const tess_io_limits *limits, tess_io_message *message) {
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &image->width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &image->height);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &image->channels);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &image->bits);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &image->format);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &image->planar);
    if (!TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &image->photometric))
        image->photometric = image->channels >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
    image->type = type_of(image->format, image->bits);
    tess_io_status status = tess_io_check_pixels(image->width, image->height, name, limits, message);
    if (status != TESS_IO_OK)
        return status;
    if (image->type == tess_no_type)
        return tess_io_fail(message, TESS_IO_ERR_INPUT, "%s: unknown type: TIFF samples of format %u with %u bits are not read", name, image->format,
                            image->bits);
    if (image->photometric != PHOTOMETRIC_MINISBLACK && image->photometric != PHOTOMETRIC_RGB)
        return tess_io_fail(message, TESS_IO_ERR_INPUT, "%s: TIFF images are read as grey or RGB; this one has photometric interpretation %u", name,
                            image->photometric);
    if (image->channels < 1 || image->channels > 64)
        return tess_io_fail(message, TESS_IO_ERR_INPUT, "%s: %u channels, the limit is 64", name, image->channels);
    return TESS_IO_OK;
}

/* Copies `rows` x `columns` pixels of a decoded strip or tile into the array at (y, x). plane < 0: all channels together. */
static void place(tess_io_array *array, const tiff_image *image, const unsigned char *from, uint32_t pitch, uint32_t y, uint32_t x, uint32_t rows,
                  uint32_t columns, int plane) {
    size_t width = tess_type_size(image->type), pixel = width * image->channels, line = pixel * image->width;
    unsigned char *to = (unsigned char *)array->block + y * line + x * pixel;
    for (uint32_t r = 0; r < rows && y + r < image->height; r++, to += line) {
        uint32_t n = columns < image->width - x ? columns : image->width - x;
        if (plane < 0) {
            memcpy(to, from + (size_t)r * pitch * pixel, n * pixel);
        } else {
            const unsigned char *p = from + (size_t)r * pitch * width;
            for (uint32_t c = 0; c < n; c++)
                memcpy(to + c * pixel + (size_t)plane * width, p + c * width, width);
        }
    }
}

static bool read_pieces(TIFF *tiff, const tiff_image *image, tess_io_array *array, unsigned char *buffer, tmsize_t size) {
    bool separate = image->planar == PLANARCONFIG_SEPARATE && image->channels > 1;
    int planes = separate ? image->channels : 1;
    uint32_t rows = image->height, columns = image->width;
    bool tiled = TIFFIsTiled(tiff);
    if (tiled) {
        TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &columns);
        TIFFGetField(tiff, TIFFTAG_TILELENGTH, &rows);
    } else {
        TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &rows);
    }
    if (rows == 0 || columns == 0)
        return false;
    if (rows > image->height && !tiled)
        rows = image->height;
    size_t sample = tess_type_size(image->type) * (separate ? 1 : image->channels);
    if (((uint64_t)size / sample) / columns < rows) /* a piece must hold what its size says */
        return false;
    for (int plane = 0; plane < planes; plane++)
        for (uint64_t y = 0; y < image->height; y += rows)
            for (uint64_t x = 0; x < image->width; x += columns) {
                uint32_t piece = tiled ? TIFFComputeTile(tiff, (uint32_t)x, (uint32_t)y, 0, (uint16_t)plane)
                                       : TIFFComputeStrip(tiff, (uint32_t)y, (uint16_t)plane);
                uint64_t lines = image->height - y < rows ? image->height - y : rows;
                tmsize_t need = tiled ? size : (tmsize_t)(lines * columns * sample);
                tmsize_t got = tiled ? TIFFReadEncodedTile(tiff, piece, buffer, size) : TIFFReadEncodedStrip(tiff, piece, buffer, need);
                if (got < need)
                    return false;
                place(array, image, buffer, columns, (uint32_t)y, (uint32_t)x, (uint32_t)lines, columns, separate ? plane : -1);
            }
    return true;
}

tess_io_status tess_io_tiff_decode(tess_io_array *array, const tess_io_bytes *bytes, const char *name, const tess_io_limits *limits,
                                   tess_io_message *message) {
    tiff_session session = {.bytes = bytes};
    tiff_image image = {0};
    TIFF *tiff = open_session(&session, "rm");
    if (!tiff)
        return tess_io_fail(message, TESS_IO_ERR_INPUT, "%s is a damaged TIFF image: %s", name, session.error);
    tess_io_status status = describe(tiff, &image, name, limits, message);
    int64_t shape[3] = {image.height, image.width, image.channels};
    if (status == TESS_IO_OK)
        status = tess_io_make(array, image.type, image.channels == 1 ? 2 : 3, shape, name, message);
    if (status == TESS_IO_OK) {
        array->work_axes = 2;
        tmsize_t size = TIFFIsTiled(tiff) ? TIFFTileSize(tiff) : TIFFStripSize(tiff);
        unsigned char *buffer = size > 0 && size <= (tmsize_t)1 << 32 ? malloc((size_t)size) : NULL;
        if (!buffer)
            status = tess_io_fail(message, TESS_IO_ERR_INPUT, "%s is a damaged TIFF image: its pieces are of %lld bytes", name, (long long)size);
        else if (!read_pieces(tiff, &image, array, buffer, size))
            status = tess_io_fail(message, TESS_IO_ERR_INPUT, "%s is a damaged TIFF image: %s", name,
                                  session.error[0] ? session.error : "a piece is shorter than its place");
        free(buffer);
    }
    if (status == TESS_IO_OK && !TIFFLastDirectory(tiff))
        status = tess_io_fail(message, TESS_IO_ERR_INPUT, "%s has more than one page, the limit is one", name);
    TIFFClose(tiff);
    return status;
}

/* ---- Writing ---------------------------------------------------------------------------------------------------- */

static bool write_rows(TIFF *tiff, const tess_io_array *array, int64_t height, size_t line) {
    const unsigned char *row = (const unsigned char *)array->tensor.data + array->tensor.byte_offset;
    uint32_t rows = TIFFDefaultStripSize(tiff, 0);
    unsigned char *strip = malloc(line * rows); /* libtiff may change what it is given */
    bool ok = strip != NULL && TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, rows);
    for (int64_t y = 0, k = 0; ok && y < height; y += rows, k++) {
        size_t size = line * (size_t)(height - y < rows ? height - y : rows);
        memcpy(strip, row + (size_t)y * line, size);
        ok = TIFFWriteEncodedStrip(tiff, (uint32_t)k, strip, (tmsize_t)size) >= 0;
    }
    free(strip);
    return ok;
}

tess_io_status tess_io_tiff_encode(const tess_io_array *array, tess_io_output *output, tess_io_message *message) {
    int ndim = array->tensor.ndim;
    const int64_t *shape = array->tensor.shape;
    tess_type type = tess_io_type(array);
    int64_t channels = ndim == 3 ? shape[2] : 1;
    if (ndim < 2 || ndim > 3 || channels < 1 || channels > 64)
        return tess_io_fail(message, TESS_IO_ERR_OUTPUT,
                            "%s: a TIFF image has (rows, columns) or (rows, columns, 1 to 64 channels), the result has %d axes%s", output->name, ndim,
                            ndim == 3 ? " and another number of channels" : "");
    if (shape[0] < 1 || shape[1] < 1 || shape[0] > INT32_MAX || shape[1] > INT32_MAX)
        return tess_io_fail(message, TESS_IO_ERR_OUTPUT, "%s: %lld x %lld pixels; each side of a TIFF image has 1 to 2147483647", output->name,
                            (long long)shape[1], (long long)shape[0]);
    tiff_session session = {.output = output};
    size_t width = tess_type_size(type), line = (size_t)shape[1] * (size_t)channels * width;
    /* "8": offsets of 64 bits where 32 would not reach. */
    TIFF *tiff = open_session(&session, (uint64_t)line * (uint64_t)shape[0] > 0xf0000000u ? "w8" : "w");
    bool is_float = type >= tess_f16, is_signed = type == tess_i8 || type == tess_i16 || type == tess_i32;
    bool colour = channels == 3 || channels == 4;
    bool ok = tiff && TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, (uint32_t)shape[1]) && TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, (uint32_t)shape[0]) &&
              TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, (int)channels) && TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, (int)width * 8) &&
              TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT,
                           is_float    ? SAMPLEFORMAT_IEEEFP
                           : is_signed ? SAMPLEFORMAT_INT
                                       : SAMPLEFORMAT_UINT) &&
              TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) &&
              TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, colour ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    int64_t extra = channels - (colour ? 3 : 1);
    if (ok && extra > 0) {
        uint16_t kinds[64];
        for (int64_t k = 0; k < extra; k++)
            kinds[k] = extra == 1 ? EXTRASAMPLE_UNASSALPHA : EXTRASAMPLE_UNSPECIFIED;
        ok = TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, (int)extra, kinds);
    }
    ok = ok && write_rows(tiff, array, shape[0], line) && TIFFFlush(tiff);
    if (tiff)
        TIFFClose(tiff);
    if (output->error)
        return tess_io_output_failed(output, message);
    return ok ? TESS_IO_OK : tess_io_fail(message, TESS_IO_ERR_OUTPUT, "%s cannot be written as TIFF: %s", output->name, session.error);
}
