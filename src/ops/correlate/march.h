/* SPDX-License-Identifier: Apache-2.0
 * march.h - what cpu_fused.c asks of cpu_march_kernels.c: tiles of a column mask, and long row masks that follow them over a group of
 * rows (march_kernel.h). */
#ifndef TESS_OPS_CORRELATE_MARCH_H
#define TESS_OPS_CORRELATE_MARCH_H

#include "ops/correlate/window_kernels.h"

enum { TESS_MARCH_DEEP = 4 }; /* most rows that a mask has of as many taps as a vector has lanes */

/* Steps of a march over all rows of a group: each begins a vector of sums in every row and finishes the one that was begun deep - 1 steps before. */
typedef struct tess_march_call {
    const char *x; /* what the first vector that begins meets first */
    char *out;     /* where the first that is finished goes */
    void *waiting; /* the deep - 1 vectors of every row that are under way, aligned */
    const void *weights;
    int64_t hop, out_hop; /* bytes between rows */
    int64_t steps, last_taps;
    int64_t unborn; /* so many steps finish a vector that never began */
    bool stream;    /* past the caches, to which out is aligned */
} tess_march_call;
typedef void (*tess_march)(const tess_march_call *call);

typedef struct tess_march_kernels {
    int rows; /* of a group; 0: there is nothing here */
    tess_window_tile columns_u8, columns_f32,
        columns_f64; /* bytes and tile of tess_window_kernels, for a mask of one column; sums are stored as they are */
    tess_march f32[TESS_MARCH_DEEP + 1], f64[TESS_MARCH_DEEP + 1]; /* by depth; NULL: there is none */
} tess_march_kernels;

#endif
