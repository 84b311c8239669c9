/* SPDX-License-Identifier: Apache-2.0
 * roll.h - what cpu_fused.c asks of cpu_roll_kernels.c: short masks, a column and a row of as many taps, whose sums between the passes never leave the
 * registers (roll_kernel.h) or a short buffer (roll_lines.h). */
#ifndef TESS_OPS_CORRELATE_ROLL_H
#define TESS_OPS_CORRELATE_ROLL_H

#include "core/base.h"

/* Some output rows, a line of 64 bytes of each a step, from left to right. Output 0 stands over what `at` says of the input: the taps of the row mask lie
 * evenly on both sides of it. */
typedef struct tess_roll_call {
    const char *const *rows, *const *ahead; /* input rows that the output rows meet; as many as output rows, that will be wanted soon */
    int64_t at, step, steps;                /* bytes: added to each row, from step to step; steps */
    int64_t ahead_at, ahead_step;           /* likewise, of the rows ahead */
    const void *column, *row;               /* weights */
    const char *first, *last;               /* sums of the column mask that stand before the first line and behind the last, a line for each
                                               output row, where they are not made from the input: ghost cells. NULL: they are */
    int64_t edge_stride;                    /* bytes between those of two rows */
    char *out;
    int64_t out_stride;
    bool stream;  /* past the caches; out is aligned to a line */
    bool between; /* a storer will read the sums and make their NaNs canonical */
} tess_roll_call;
typedef void (*tess_roll)(const tess_roll_call *call);

enum { TESS_ROLL_TAPS = 15 }; /* most */

typedef struct tess_roll_kernels {
    int rows[TESS_ROLL_TAPS + 1]; /* output rows of a call, by taps; 0: there is none */
    tess_roll roll[TESS_ROLL_TAPS + 1];
    tess_roll bytes[TESS_ROLL_TAPS + 1]; /* for rows of u8; NULL: there is none */
} tess_roll_kernels;

#endif
