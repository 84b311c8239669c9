/* SPDX-License-Identifier: Apache-2.0
 * io.h - files to arrays and arrays to files, for the command.
 *
 * Reading: a file becomes bytes (mapped, or read to its end where it cannot be mapped), the bytes become an array by what they begin with; the name
 * plays no part. Writing: the name's extension chooses the format; the file is made beside its place and renamed (output.c).
 * Nothing here prints or exits: a failure is a status and one sentence. */
#ifndef TESS_IO_IO_H
#define TESS_IO_IO_H

#include <sys/types.h>

#include "tessera.h"

typedef enum tess_io_status {
    TESS_IO_OK = 0,
    TESS_IO_ERR_INPUT,  /* the file cannot be read or does not hold what it says */
    TESS_IO_ERR_OUTPUT, /* the file cannot be written, or its format cannot hold the array */
    TESS_IO_ERR_MEMORY
} tess_io_status;

/* Long enough for the longest path and a sentence around it. */
typedef struct tess_io_message {
    char text[5000];
} tess_io_message;

typedef enum tess_io_format { TESS_IO_UNKNOWN = 0, TESS_IO_NPY, TESS_IO_PNG, TESS_IO_TIFF, TESS_IO_WAV, TESS_IO_FLAC } tess_io_format;

/* An array and the memory that it lives in. shape and strides of the tensor point into the structure: do not copy it. */
typedef struct tess_io_array {
    DLTensor tensor;
    int64_t shape[TESS_MAX_NDIM], strides[TESS_MAX_NDIM];
    tess_io_format format;
    int work_axes; /* the first axes that are space or time: 2 of an image, 1 of a recording; -1: all, the file does not say */
    int rate;      /* recordings: frames a second, else 0 */
    int subtype;   /* recordings: libsndfile's word for the sample type of the file, else 0 */
    void *block;   /* from mmap */
    size_t block_size;
} tess_io_array;

/* What an input may ask of us. 0 = the default. */
typedef struct tess_io_limits {
    int64_t pixels; /* of an image: default 2^28; frames of a FLAC file: default 2^32 */
} tess_io_limits;

typedef struct tess_io_bytes {
    const unsigned char *data;
    size_t size;
    void *block; /* what to unmap, NULL = nothing */
    size_t block_size;
} tess_io_bytes;

/* The type as a tess_type. */
static inline tess_type tess_io_type(const tess_io_array *array) { return tess_type_of(array->tensor.dtype); }
/* Elements; sizes are known not to overflow. */
int64_t tess_io_count(const DLTensor *tensor);
/* Brings the array's pages in before work that is timed, so that the time is the work's: a file's pages are read, an output's made. Only a hint. */
void tess_io_touch(const DLTensor *tensor, bool write);

/* Reads the file of this name; "-" is standard input. On failure the array is empty and needs no release. */
tess_io_status tess_io_read(tess_io_array *array, const char *name, const tess_io_limits *limits, tess_io_message *message);
/* The same from bytes, which the array takes over when it returns TESS_IO_OK: what the fuzzers call. */
tess_io_status tess_io_decode(tess_io_array *array, tess_io_bytes *bytes, const char *name, const tess_io_limits *limits, tess_io_message *message);
/* A compact array of zeros. what: how messages call it. */
tess_io_status tess_io_make(tess_io_array *array, tess_type type, int ndim, const int64_t *shape, const char *what, tess_io_message *message);
void tess_io_free(tess_io_array *array);

/* By extension; "-", and a device or pipe without one, is npy. TESS_IO_UNKNOWN when there is none of ours. */
tess_io_format tess_io_format_named(const char *name);
/* The type in which the format can hold an array of type `type`; tess_no_type when none. */
tess_type tess_io_storable(tess_io_format format, tess_type type);
/* Whether a file of this name could be made, as far as that can be told before the work is done. */
tess_io_status tess_io_check_output(const char *name, tess_io_message *message);
/* Writes a compact array to the file of this name; "-" is standard output. rate and subtype come from array. */
tess_io_status tess_io_write(const tess_io_array *array, const char *name, tess_io_message *message);

/* Sets the sentence and gives the status back. */
tess_io_status tess_io_fail(tess_io_message *message, tess_io_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- One reader and one writer a format: npy.c, png.c, tiff.c, sound.c --------------------------------------- */

typedef struct tess_io_output tess_io_output; /* output.c */

/* What the header of an .npy file says. */
typedef struct tess_io_npy_header {
    tess_type type;
    bool swapped; /* the file's byte order is not this machine's */
    bool fortran;
    int ndim;
    int64_t shape[TESS_MAX_NDIM];
    size_t data_at;   /* first byte of the data */
    size_t data_size; /* its bytes, proven not to overflow */
} tess_io_npy_header;

enum { TESS_IO_NPY_PREFIX = 12, TESS_IO_NPY_HEADER_LIMIT = 65536 };
/* Bytes of the header with its prefix, from the first TESS_IO_NPY_PREFIX bytes. */
tess_io_status tess_io_npy_header_size(const unsigned char *prefix, size_t size, size_t *header_size, const char *name, tess_io_message *message);
tess_io_status tess_io_npy_header_parse(tess_io_npy_header *header, const unsigned char *bytes, size_t size, const char *name,
                                        tess_io_message *message);
/* Gives the array shape, strides and type of the header, its data at `data`; swaps bytes in place where asked (the memory must then be ours). */
void tess_io_npy_view(tess_io_array *array, const tess_io_npy_header *header, unsigned char *data, bool swap);

tess_io_status tess_io_npy_decode(tess_io_array *array, tess_io_bytes *bytes, const char *name, tess_io_message *message);
tess_io_status tess_io_png_decode(tess_io_array *array, const tess_io_bytes *bytes, const char *name, const tess_io_limits *limits,
                                  tess_io_message *message);
tess_io_status tess_io_tiff_decode(tess_io_array *array, const tess_io_bytes *bytes, const char *name, const tess_io_limits *limits,
                                   tess_io_message *message);
tess_io_status tess_io_sound_decode(tess_io_array *array, const tess_io_bytes *bytes, const char *name, const tess_io_limits *limits,
                                    tess_io_message *message);

tess_io_status tess_io_npy_encode(const tess_io_array *array, tess_io_output *output, tess_io_message *message);
tess_io_status tess_io_png_encode(const tess_io_array *array, tess_io_output *output, tess_io_message *message);
tess_io_status tess_io_tiff_encode(const tess_io_array *array, tess_io_output *output, tess_io_message *message);
tess_io_status tess_io_sound_encode(const tess_io_array *array, tess_io_output *output, tess_io_message *message);

/* Checks width x height against the limit, for images. */
tess_io_status tess_io_check_pixels(uint64_t width, uint64_t height, const char *name, const tess_io_limits *limits, tess_io_message *message);

#endif
