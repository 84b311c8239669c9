/* SPDX-License-Identifier: Apache-2.0
 * roll.h - what cpu_fused.c asks of cpu_roll_kernels.c and cpu_woven_kernels.c: masks of at most 33 taps, a column and a row of as many, whose sums between the
 * passes never leave the registers (roll_kernel.h) or a short buffer (roll_lines.h, roll_woven.h). */
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
    int64_t hop, reach;                     /* bytes from tap to tap of the row mask; lines that it reaches to either side */
    const char *first, *last;               /* sums of the column mask that stand before the first line and behind the last, `reach` lines for each
                                               output row, where they are not made from the input: ghost cells. NULL: they are */
    int64_t edge_stride;                    /* bytes between those of two rows */
    char *out;
    int64_t out_stride, out_step; /* bytes between rows; between steps */
    bool narrow;                  /* as u8; kernels for rows of u8 only */
    bool stream;                  /* past the caches; out is aligned to a line */
    bool between;                 /* a storer will read the sums and make their NaNs canonical */
} tess_roll_call;
typedef void (*tess_roll)(const tess_roll_call *call);

enum {
    TESS_ROLL_TAPS = 33,
    TESS_ROLL_REACH = 4, /* most */
    TESS_ROLL_SHORT = 9  /* to this many taps rows take more time to come than to be summed up */
};

typedef struct tess_roll_kernels {
    int rows[TESS_ROLL_TAPS + 1]; /* output rows of a call, by taps; 0: there is none */
    tess_roll roll[TESS_ROLL_TAPS + 1];
    tess_roll bytes[TESS_ROLL_TAPS + 1];                                   /* for rows of u8; NULL: there is none */
    tess_roll pixels[TESS_ROLL_TAPS + 1], pixel_bytes[TESS_ROLL_TAPS + 1]; /* likewise, for taps any `hop` apart */
} tess_roll_kernels;

#endif
