/* SPDX-License-Identifier: Apache-2.0
 * gather.h - stretches of an input row, extended by the boundary, as contiguous elements of the work type.
 *
 * Positions along a row count elements from the row's first one and may be negative or lie beyond its end. With a group of g elements, position p is
 * element p mod g of the group p div g; the boundary moves whole groups. */
#ifndef TESS_OPS_CORRELATE_GATHER_H
#define TESS_OPS_CORRELATE_GATHER_H

#include "ops/correlate/correlate.h"

/* correlate/rows: outputs in a stretch, taps of a line of the mask taken at once. */
enum { TESS_CORRELATE_STRETCH = 1024, TESS_CORRELATE_LINE = 1024 };

typedef struct tess_correlate_source {
    tess_row_loader load;
    tess_boundary boundary;
    tess_value constant;
    int width;        /* bytes of an element of the work type */
    int64_t n, group; /* groups in the row, elements in a group */
    int64_t stride;   /* bytes from element to element */
    bool in_place;    /* elements lie in memory as the work type has them, one after another */
} tess_correlate_source;

void tess_correlate_source_of(tess_correlate_source *source, const tess_correlate_problem *problem, const tess_correlate_pass *pass,
                              tess_isa_slot slot);

/* Where the input starts. An array without elements may have no address, and sums of ghost cells are made all the same: some address stands in for
 * it, from which nothing is read. */
TESS_INLINE const char *tess_correlate_input(const tess_correlate_problem *problem, const tess_run *run) {
    return run->in ? run->in : (const char *)problem;
}

/* Writes positions first .. first + count - 1 of the row at `row` (NULL: a row of ghost cells) to `to`. */
void tess_correlate_gather(const tess_correlate_source *source, void *to, const char *row, int64_t first, int64_t count);

/* The stretch itself where it lies in memory ready for use, else a gathered copy in `room`. */
TESS_INLINE const char *tess_correlate_stretch(const tess_correlate_source *s, char *room, const char *row, int64_t first, int64_t count) {
    if (s->in_place && row && first >= 0 && first + count <= s->n * s->group)
        return row + first * s->width;
    tess_correlate_gather(s, room, row, first, count);
    return room;
}

/* The axes of a pass other than some, for walking: sizes, strides, and where each is masked. */
typedef struct tess_correlate_outer {
    int ndim, axis[TESS_MAX_NDIM];
    int64_t m[TESS_MAX_NDIM], out_stride[1][TESS_MAX_NDIM];
    int64_t rows; /* product of m */
} tess_correlate_outer;
/* y, z: axes that are left out beside the row, or -1. */
void tess_correlate_outer_of(tess_correlate_outer *outer, const tess_correlate_pass *pass, int y, int z);

#endif
