/* SPDX-License-Identifier: Apache-2.0
 * io.c - getting at a file's bytes, and handing them to the format that they begin with.
 *
 * A regular file is mapped, so an .npy of any size costs no copy. Standard input and pipes are read: an .npy straight into the array's memory, the
 * other formats to their end. Blocks come from mmap: memory that a lying header asks for and nobody writes to costs nothing. */
#include "io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/output.h"

tess_io_status tess_io_fail(tess_io_message *message, tess_io_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message->text, sizeof message->text, format, arguments);
    va_end(arguments);
    return status;
}

static void *block_make(size_t size) {
    enum { HUGE_FROM = 4 << 20 }; /* large pages save most of the address look-ups of strided work */
    void *block = mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED)
        return NULL;
    if (size >= HUGE_FROM)
        madvise(block, size, MADV_HUGEPAGE);
    return block;
}
static void block_free(void *block, size_t size) {
    if (block)
        munmap(block, size ? size : 1);
}

int64_t tess_io_count(const DLTensor *tensor) {
    int64_t count = 1;
    for (int d = 0; d < tensor->ndim; d++)
        count *= tensor->shape[d];
    return count;
}

void tess_io_touch(const DLTensor *tensor, bool write) {
#if defined(MADV_POPULATE_READ) && defined(MADV_POPULATE_WRITE) /* Linux 5.14; older ones say no, and the work meets the pages itself */
    char *low = (char *)tensor->data + tensor->byte_offset, *high = low + tensor->dtype.bits / 8;
    if (!tensor->data || tess_io_count(tensor) == 0)
        return;
    for (int d = 0; d < tensor->ndim; d++) {
        int64_t reach = tensor->strides[d] * (tensor->shape[d] - 1) * (tensor->dtype.bits / 8);
        *(reach < 0 ? &low : &high) += reach;
    }
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)low / page * page;
    if (((uintptr_t)high - first) / page >
        (uintptr_t)sysconf(_SC_PHYS_PAGES) / 2) /* the first pages would be gone again when the work comes to them */
        return;
    madvise((void *)first, (uintptr_t)high - first, write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
#else
    (void)tensor, (void)write;
#endif
}

tess_io_status tess_io_make(tess_io_array *array, tess_type type, int ndim, const int64_t *shape, const char *what, tess_io_message *message) {
    int64_t size = (int64_t)tess_type_size(type), stride = 1;
    bool empty = false;
    memset(array, 0, sizeof *array);
    for (int d = ndim - 1; d >= 0; d--) {
        array->shape[d] = shape[d];
        array->strides[d] = stride;
        if (shape[d] == 0) {
            empty = true;
        } else if (__builtin_mul_overflow(size, shape[d], &size)) { /* for empty arrays too: what we write can be read again */
            memset(array, 0, sizeof *array);
            return tess_io_fail(message, TESS_IO_ERR_MEMORY, "%s: its size overflows 64 bits", what);
        } else {
            stride *= shape[d];
        }
    }
    array->block_size = empty ? 0 : (size_t)size;
    array->block = block_make(array->block_size);
    if (!array->block) {
        tess_io_fail(message, TESS_IO_ERR_MEMORY, "%s: %lld bytes could not be allocated", what, (long long)size);
        memset(array, 0, sizeof *array);
        return TESS_IO_ERR_MEMORY;
    }
    array->tensor = tess_view(array->block, type, ndim, array->shape, array->strides);
    array->work_axes = -1;
    return TESS_IO_OK;
}

void tess_io_free(tess_io_array *array) {
    block_free(array->block, array->block_size);
    memset(array, 0, sizeof *array);
}

tess_io_status tess_io_check_pixels(uint64_t width, uint64_t height, const char *name, const tess_io_limits *limits, tess_io_message *message) {
    uint64_t limit = limits && limits->pixels > 0 ? (uint64_t)limits->pixels : (uint64_t)1 << 28;
    if (width == 0 || height == 0)
        return tess_io_fail(message, TESS_IO_ERR_INPUT, "%s: the image has no pixels (%llu x %llu)", name, (unsigned long long)width,
                            (unsigned long long)height);
    if (height > limit / width)
        return tess_io_fail(message, TESS_IO_ERR_INPUT, "%s: %llu x %llu pixels are more than the limit of %llu; --max-pixels raises it", name,
                            (unsigned long long)width, (unsigned long long)height, (unsigned long long)limit);
    return TESS_IO_OK;
}

/* ---- Which format ---------------------------------------------------------------------------------------------- */

static tess_io_format format_of_bytes(const unsigned char *b, size_t size) {
    if (size >= 6 && memcmp(b, "\x93NUMPY", 6) == 0)
        return TESS_IO_NPY;
    if (size >= 8 && memcmp(b, "\x89PNG\r\n\x1a\n", 8) == 0)
        return TESS_IO_PNG;
    if (size >= 4 && (memcmp(b, "II*\0", 4) == 0 || memcmp(b, "MM\0*", 4) == 0 || memcmp(b, "II+\0", 4) == 0 || memcmp(b, "MM\0+", 4) == 0))
        return TESS_IO_TIFF;
    if (size >= 12 && (memcmp(b, "RIFF", 4) == 0 || memcmp(b, "RF64", 4) == 0 || memcmp(b, "RIFX", 4) == 0) && memcmp(b + 8, "WAVE", 4) == 0)
        return TESS_IO_WAV;
    if (size >= 4 && memcmp(b, "fLaC", 4) == 0)
        return TESS_IO_FLAC;
    return TESS_IO_UNKNOWN;
}

tess_io_format tess_io_format_named(const char *name) {
    static const struct {
        const char *extension;
        tess_io_format format;
    } known[] = {{".npy", TESS_IO_NPY},   {".png", TESS_IO_PNG}, {".tif", TESS_IO_TIFF},
                 {".tiff", TESS_IO_TIFF}, {".wav", TESS_IO_WAV}, {".flac", TESS_IO_FLAC}};
    size_t length = strlen(name);
    if (strcmp(name, "-") == 0)
        return TESS_IO_NPY;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t tail = strlen(known[i].extension);
        if (length > tail && strcasecmp(name + length - tail, known[i].extension) == 0)
            return known[i].format;
    }
    struct stat file;
    return stat(name, &file) == 0 && !S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode) ? TESS_IO_NPY : TESS_IO_UNKNOWN;
}

static tess_io_status unknown_format(const unsigned char *bytes, size_t size, const char *name, tess_io_message *message) {
    if (size == 0)
        return tess_io_fail(message, TESS_IO_ERR_INPUT, "%s is empty", name);
    char shown[64];
    size_t at = 0;
    for (size_t i = 0; i < size && i < 6; i++)
        at += (size_t)snprintf(shown + at, sizeof shown - at, "%s%02x", i ? " " : "", bytes[i]);
    return tess_io_fail(message, TESS_IO_ERR_INPUT, "%s is no .npy, PNG, TIFF, WAV or FLAC file: it begins with the bytes %s", name, shown);
}

tess_io_status tess_io_decode(tess_io_array *array, tess_io_bytes *bytes, const char *name, const tess_io_limits *limits, tess_io_message *message) {
    tess_io_status status = TESS_IO_OK;
    tess_io_format format = format_of_bytes(bytes->data, bytes->size);
    memset(array, 0, sizeof *array);
    switch (format) {
    case TESS_IO_NPY: status = tess_io_npy_decode(array, bytes, name, message); break;
    case TESS_IO_PNG: status = tess_io_png_decode(array, bytes, name, limits, message); break;
    case TESS_IO_TIFF: status = tess_io_tiff_decode(array, bytes, name, limits, message); break;
    case TESS_IO_WAV:
    case TESS_IO_FLAC: status = tess_io_sound_decode(array, bytes, name, limits, message); break;
    default: status = unknown_format(bytes->data, bytes->size, name, message); break;
    }
    if (status != TESS_IO_OK) {
        tess_io_free(array);
        return status;
    }
    array->format = format;
    if (bytes->block != array->block) /* else the array has taken it */
        block_free(bytes->block, bytes->block_size);
    memset(bytes, 0, sizeof *bytes);
    return TESS_IO_OK;
}

/* ---- Streams ---------------------------------------------------------------------------------------------------- */

/* Fills `size` bytes unless the stream ends before; *got says how many came. */
static tess_io_status read_up_to(int fd, void *data, size_t size, size_t *got, const char *name, tess_io_message *message) {
    for (*got = 0; *got < size;) {
        size_t rest = size - *got;
        ssize_t n = read(fd, (char *)data + *got, rest < (size_t)1 << 30 ? rest : (size_t)1 << 30);
        if (n == 0)
            break;
        if (n > 0)
            *got += (size_t)n;
        else if (errno != EINTR)
            return tess_io_fail(message, TESS_IO_ERR_INPUT, "%s cannot be read: %s", name, strerror(errno));
    }
    return TESS_IO_OK;
}

static tess_io_status read_npy_stream(tess_io_array *array, int fd, const unsigned char *prefix, const char *name, tess_io_message *message) {
    unsigned char bytes[TESS_IO_NPY_PREFIX + TESS_IO_NPY_HEADER_LIMIT];
    size_t size, got;
    tess_io_npy_header header;
    tess_io_status status = tess_io_npy_header_size(prefix, TESS_IO_NPY_PREFIX, &size, name, message);
    if (status != TESS_IO_OK)
        return status;
    memcpy(bytes, prefix, TESS_IO_NPY_PREFIX);
    status = read_up_to(fd, bytes + TESS_IO_NPY_PREFIX, size - TESS_IO_NPY_PREFIX, &got, name, message);
    if (status == TESS_IO_OK)
        status = tess_io_npy_header_parse(&header, bytes, TESS_IO_NPY_PREFIX + got, name, message);
    if (status != TESS_IO_OK)
        return status;
    array->block = block_make(header.data_size);
    array->block_size = header.data_size;
    if (!array->block)
        return tess_io_fail(message, TESS_IO_ERR_MEMORY, "%s: %zu bytes for its data could not be allocated", name, header.data_size);
    status = read_up_to(fd, array->block, header.data_size, &got, name, message);
    if (status == TESS_IO_OK && got < header.data_size)
        status =
            tess_io_fail(message, TESS_IO_ERR_INPUT, "%s is truncated: its header promises %zu bytes of data, %zu came", name, header.data_size, got);
    if (status == TESS_IO_OK)
        tess_io_npy_view(array, &header, array->block, header.swapped);
    return status;
}

/* Images and recordings in a stream: a stream may have no end. */
#define STREAM_LIMIT ((size_t)1 << 32)

static tess_io_status read_whole(tess_io_bytes *bytes, int fd, const unsigned char *prefix, size_t prefix_size, const char *name,
                                 tess_io_message *message) {
    size_t capacity = (size_t)1 << 20, used = prefix_size, got = 0;
    unsigned char *block = block_make(capacity);
    tess_io_status status = TESS_IO_OK;
    if (block)
        memcpy(block, prefix, prefix_size);
    while (block) {
        status = read_up_to(fd, block + used, capacity - used, &got, name, message);
        used += got;
        if (status == TESS_IO_OK && used > STREAM_LIMIT)
            status = tess_io_fail(message, TESS_IO_ERR_INPUT, "%s: more than %zu bytes, the limit of images and recordings from a pipe", name,
                                  STREAM_LIMIT);
        if (status != TESS_IO_OK || used < capacity)
            break;
        size_t next = capacity * 2 > STREAM_LIMIT ? STREAM_LIMIT + 1 : capacity * 2; /* the one byte more shows that the limit is passed */
        void *larger = mremap(block, capacity, next, MREMAP_MAYMOVE);
        if (larger == MAP_FAILED) {
            block_free(block, capacity);
            block = NULL;
        } else {
            block = larger;
            capacity = next;
        }
    }
    if (!block)
        return tess_io_fail(message, TESS_IO_ERR_MEMORY, "%s: %zu bytes to read it into could not be allocated", name, capacity);
    *bytes = (tess_io_bytes){block, used, block, capacity};
    return status;
}

static tess_io_status read_stream(tess_io_array *array, int fd, const char *name, const tess_io_limits *limits, tess_io_message *message) {
    unsigned char prefix[TESS_IO_NPY_PREFIX];
    size_t got;
    tess_io_bytes bytes = {NULL, 0, NULL, 0};
    tess_io_status status = read_up_to(fd, prefix, sizeof prefix, &got, name, message);
    if (status != TESS_IO_OK)
        return status;
    tess_io_format format = format_of_bytes(prefix, got);
    if (format == TESS_IO_UNKNOWN)
        return unknown_format(prefix, got, name, message);
    if (format == TESS_IO_NPY && got == sizeof prefix) {
        status = read_npy_stream(array, fd, prefix, name, message);
        array->format = TESS_IO_NPY;
        if (status != TESS_IO_OK)
            tess_io_free(array);
        return status;
    }
    status = read_whole(&bytes, fd, prefix, got, name, message);
    if (status == TESS_IO_OK)
        status = tess_io_decode(array, &bytes, name, limits, message);
    block_free(bytes.block, bytes.block_size);
    return status;
}

/* ---- Files ------------------------------------------------------------------------------------------------------ */

static tess_io_status read_file(tess_io_array *array, int fd, const char *name, const tess_io_limits *limits, tess_io_message *message) {
    struct stat file;
    if (fstat(fd, &file) != 0)
        return tess_io_fail(message, TESS_IO_ERR_INPUT, "%s cannot be read: %s", name, strerror(errno));
    if (S_ISDIR(file.st_mode))
        return tess_io_fail(message, TESS_IO_ERR_INPUT, "%s is a directory, not a file", name);
    if (!S_ISREG(file.st_mode))
        return read_stream(array, fd, name, limits, message);
    tess_io_bytes bytes = {NULL, (size_t)file.st_size, NULL, (size_t)file.st_size};
    if (bytes.size > 0) {
        /* Private and writable: big-endian data is swapped in place without the file ever changing. */
        bytes.block = mmap(NULL, bytes.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
        if (bytes.block == MAP_FAILED) {
            bytes.block = NULL;
            return tess_io_fail(message, errno == ENOMEM ? TESS_IO_ERR_MEMORY : TESS_IO_ERR_INPUT, "%s cannot be mapped: %s", name, strerror(errno));
        }
        bytes.data = bytes.block;
    }
    tess_io_status status = tess_io_decode(array, &bytes, name, limits, message);
    block_free(bytes.block, bytes.block_size);
    return status;
}

tess_io_status tess_io_read(tess_io_array *array, const char *name, const tess_io_limits *limits, tess_io_message *message) {
    memset(array, 0, sizeof *array);
    if (strcmp(name, "-") == 0) {
        if (isatty(STDIN_FILENO))
            return tess_io_fail(message, TESS_IO_ERR_INPUT, "standard input is a terminal; an array comes from a file or a pipe");
        return read_stream(array, STDIN_FILENO, "standard input", limits, message);
    }
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return tess_io_fail(message, TESS_IO_ERR_INPUT, "%s cannot be opened: %s", name, strerror(errno));
    tess_io_status status = read_file(array, fd, name, limits, message);
    close(fd);
    return status;
}

tess_type tess_io_storable(tess_io_format format, tess_type type) {
    bool complex = type == tess_c64 || type == tess_c128;
    switch (format) {
    case TESS_IO_NPY: return type == tess_bf16 ? tess_no_type : type;
    case TESS_IO_PNG: return complex ? tess_no_type : type == tess_u16 ? tess_u16 : tess_u8;
    case TESS_IO_TIFF:
        if (type == tess_bool)
            return tess_u8;
        return complex ? tess_no_type : type == tess_u64 || type == tess_i64 ? tess_f64 : type == tess_f16 || type == tess_bf16 ? tess_f32 : type;
    case TESS_IO_WAV:
    case TESS_IO_FLAC:
        if (type == tess_f64 || type == tess_i16 || type == tess_i32)
            return type;
        return complex ? tess_no_type : tess_f32;
    default: return tess_no_type;
    }
}

tess_io_status tess_io_write(const tess_io_array *array, const char *name, tess_io_message *message) {
    tess_io_output output;
    tess_io_format format = tess_io_format_named(name);
    tess_type type = tess_io_type(array);
    if (format == TESS_IO_UNKNOWN)
        return tess_io_fail(message, TESS_IO_ERR_OUTPUT, "%s: its extension is none of .npy .png .tif .tiff .wav .flac", name);
    if (tess_io_storable(format, type) != type)
        return tess_io_fail(message, TESS_IO_ERR_OUTPUT, "%s: the format cannot hold elements of type %s", name, tess_type_name(type));
    tess_io_status status = tess_io_output_open(&output, name, message);
    if (status != TESS_IO_OK)
        return status;
    switch (format) {
    case TESS_IO_NPY: status = tess_io_npy_encode(array, &output, message); break;
    case TESS_IO_PNG: status = tess_io_png_encode(array, &output, message); break;
    case TESS_IO_TIFF: status = tess_io_tiff_encode(array, &output, message); break;
    default: status = tess_io_sound_encode(array, &output, message); break;
    }
    if (status == TESS_IO_OK)
        return tess_io_output_commit(&output, message);
    tess_io_output_discard(&output);
    return status;
}
