/* SPDX-License-Identifier: Apache-2.0
 * volume_kernels.h - what cpu_volume.c asks of cpu_volume_kernels.c: tiles for masks of 3 x 3 and 5 x 5 in planes, of as many vectors as those of
 * window_kernels.h. They store sums in the work type only. */
#ifndef TESS_OPS_CORRELATE_VOLUME_KERNELS_H
#define TESS_OPS_CORRELATE_VOLUME_KERNELS_H

#include "ops/correlate/window_kernels.h"

/* What tiles ask for, line after line along a row and row after row: `at`, then up to `end` of its row, then the rows that `next` points to; nothing more once
 * that is behind `last`. */
typedef struct tess_volume_ask {
    const char *at, *end;
    const char *const *next, *const *last;
    int64_t bytes; /* of a row */
} tess_volume_ask;

/* A tile, and window.more further ones beside it. Where input rows are read as they lie, the first tap of a row's first output and the last of its last one stand
 * beyond its ends: there is a constant instead, from a vector of it. Narrow tiles are never such. */
typedef struct tess_volume_call {
    tess_window_call window; /* its ahead is not looked at */
    tess_volume_ask *ask;
    int64_t lines;        /* how many of 64 bytes a tile asks for */
    bool begins, ends;    /* the first tile is the first of such a row, the last one its last */
    const void *constant; /* read where one of them is set */
} tess_volume_call;
typedef void (*tess_volume_tile)(const tess_volume_call *call);

typedef struct tess_volume_kernels {
    int side;                      /* rows and taps of the mask in a plane */
    bool slides;                   /* only where multiply-adds leave slides a port */
    int tall;                      /* rows of a tile; 0: there are none */
    tess_volume_tile tile, narrow; /* tall x wide, tall x 1 vectors */
} tess_volume_kernels;

#endif
