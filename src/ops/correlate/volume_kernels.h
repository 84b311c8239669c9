/* SPDX-License-Identifier: Apache-2.0
 * volume_kernels.h - what cpu_volume.c asks of cpu_volume_kernels.c: tiles for masks of 3 x 3 in planes, of as many vectors as those of
 * window_kernels.h. They store sums in the work type only. */
#ifndef TESS_OPS_CORRELATE_VOLUME_KERNELS_H
#define TESS_OPS_CORRELATE_VOLUME_KERNELS_H

#include "ops/correlate/window_kernels.h"

enum { TESS_VOLUME_ROWS = 4 };

typedef struct tess_volume_kernels {
    int tall;                      /* rows of a tile; 0: there are none */
    tess_window_tile tile, narrow; /* tall x wide, tall x 1 vectors */
} tess_volume_kernels;

#endif
