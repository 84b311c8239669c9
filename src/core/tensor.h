/* SPDX-License-Identifier: Apache-2.0
 * tensor.h - the library's own view of an array: validated, typed, strides in BYTES (only inside the library). */
#ifndef TESS_CORE_TENSOR_H
#define TESS_CORE_TENSOR_H

#include "core/dtype.h"
#include "core/status.h"

typedef struct tess_array {
    char *data; /* first element; may be NULL when count is 0 or for planning */
    tess_type type;
    int32_t itemsize;
    DLDevice device;
    int ndim;
    int64_t count; /* elements */
    int64_t shape[TESS_MAX_NDIM];
    int64_t stride[TESS_MAX_NDIM]; /* bytes, any sign */
} tess_array;

/* Checks a caller's tensor and turns it into an array. name: how the detail calls it ("in", "masks[1]"). needs_data: data must be non-NULL
 * when there are elements. TESS_ERR_ARGUMENT, _TYPE, _SHAPE, _SIZE, _DEVICE. */
tess_status tess_array_import(tess_array *array, const DLTensor *tensor, const char *name, bool needs_data);

/* TESS_ERR_DEVICE unless the array's memory can be read here: for what is read when a plan is made (masks, offsets). */
tess_status tess_array_on_host(const tess_array *array, const char *name);

/* The first element of a caller's tensor; NULL when its data is. */
TESS_INLINE char *tess_first_element(const DLTensor *tensor) { return tensor->data ? (char *)tensor->data + tensor->byte_offset : NULL; }

/* A compact row-major array. */
tess_array tess_array_compact(void *data, tess_type type, int ndim, const int64_t *shape);

/* The length that stands for an axis of n elements in a sample of the problem: beyond limit by at most 127, and the same remainder by 64. */
TESS_INLINE int64_t tess_sample_size(int64_t n, int64_t limit) { return n < limit + 128 ? n : limit + 64 + n % 64; }
/* An array on the host with other sizes whose axes follow each other in memory as those of `like`, with gaps between them where that has gaps. */
tess_array tess_array_sample(const tess_array *like, const int64_t *shape);

/* The axes in an order in which the array is good to walk: the largest steps first, those of 0 before them. order[k] = number of the k-th axis. */
void tess_array_walk_order(int *order, int ndim, const int64_t *stride);

/* Which axis to cut into parts of about `most` bytes: the one with the largest steps of those that give at least four rows a part, else the one whose
 * parts can be least. row: bytes of one element of the axis with all that belongs to it, INFINITY: not to be cut; fixed: bytes that every part takes
 * beside. */
int tess_cut_axis(int ndim, const int64_t *stride, const double *row, const double *fixed, int64_t most);

bool tess_array_is_compact(const tess_array *array); /* row-major without gaps; axes of size 1 do not matter */

/* Lowest byte and one past the highest that the array's elements occupy, relative to data. Both 0 when empty. */
void tess_array_extent(const tess_array *array, int64_t *low, int64_t *high);

/* True unless the two arrays certainly have no byte in common. Exact within a bounded search (overlap.c). */
bool tess_arrays_overlap(const tess_array *a, const tess_array *b);
/* True unless no two elements of the array certainly share a byte. */
bool tess_array_self_overlaps(const tess_array *array);
/* TESS_ERR_OVERLAP, naming both, when they overlap. */
tess_status tess_refuse_overlap(const tess_array *out, const char *out_name, const tess_array *in, const char *in_name);

/* Normalises an axis list: negative counts from the end, distinct, in range. what: "axes". axes[] receives count values in 0..ndim-1. */
tess_status tess_axes_check(int *axes, const int *given, int count, int ndim, const char *what);

/* "[3, 4, 5]" into a caller's buffer, which it returns; cut with "..." when long. */
const char *tess_shape_text(char *buffer, size_t size, int ndim, const int64_t *shape);

/* Drops axes of size 1 and joins neighbouring axes that step alike in all `arrays` stride lists at once. ndim axes of `shape`, `lists` stride lists
 * of TESS_MAX_NDIM each. Returns the new number of axes (0 for a single element). Order of the elements stays row-major. */
int tess_collapse(int ndim, int64_t *shape, int lists, int64_t (*strides)[TESS_MAX_NDIM]);

/* Walks a row-major index. tess_index_next returns false after the last one. offsets[] are kept in step for each stride list. */
typedef struct tess_index {
    int ndim, lists;
    const int64_t *shape;
    int64_t (*strides)[TESS_MAX_NDIM];
    int64_t at[TESS_MAX_NDIM];
    int64_t offset[4];
} tess_index;
/* Starts at the position of row-major number `start`. lists <= 4; ndim 0 walks one position. */
void tess_index_start(tess_index *index, int ndim, const int64_t *shape, int lists, int64_t (*strides)[TESS_MAX_NDIM], int64_t start);

TESS_INLINE bool tess_index_next(tess_index *index) {
    for (int d = index->ndim - 1; d >= 0; d--) {
        index->at[d]++;
        for (int k = 0; k < index->lists; k++)
            index->offset[k] += index->strides[k][d];
        if (TESS_LIKELY(index->at[d] < index->shape[d]))
            return true;
        for (int k = 0; k < index->lists; k++)
            index->offset[k] -= index->strides[k][d] * index->shape[d];
        index->at[d] = 0;
    }
    return false;
}

#endif
