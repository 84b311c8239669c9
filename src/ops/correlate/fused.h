/* SPDX-License-Identifier: Apache-2.0
 * fused.h - images whose list of masks is a column and then a row:
 * correlate/separable makes both passes side by side (cpu_fused.c). */
#ifndef TESS_OPS_CORRELATE_FUSED_H
#define TESS_OPS_CORRELATE_FUSED_H

#include "ops/correlate/gather.h"

enum {
    TESS_FUSED_ROWS = 8,    /* most output rows that are made together */
    TESS_FUSED_LEAST = 6,   /* output rows */
    TESS_FUSED_SLACK = 512, /* bytes behind a row that a tile may read and write */
    TESS_FUSED_SUMS = 8192  /* bytes of a row of sums that are not stored as they are */
};

typedef struct tess_correlate_fused {
    int64_t length;          /* elements across a row between the passes */
    int64_t left, right;     /* ghost elements on both sides of it */
    int64_t met;             /* input rows that a group of output rows meets */
    bool in_place;           /* input rows are read where they lie */
    bool bytes;              /* as u8, and converted in registers */
    int64_t row_bytes;       /* of a row between the passes, of a copy of an input row */
    int64_t copies, between; /* offsets in the scratch of a thread: copies of
                              input rows, rows between the passes */
    int64_t ghost, sums;     /* a row of ghost cells, TESS_FUSED_ROWS of sums that are not stored as they are */
    size_t scratch;
} tess_correlate_fused;

/* Whether the problem has that form and its rows fit a thread's share of a
 * cache. */
bool tess_correlate_fused_of(tess_correlate_fused *fused, const tess_correlate_problem *problem);

#endif
