/* SPDX-License-Identifier: Apache-2.0
 * volume_all.h - every tile of volume_kernels.h for one type; included by cpu_volume_kernels.c, once for f32 and once for f64, with vec, real, WORD and KERNEL. */

#define tile_name KERNEL(tile3)
#define SIDE 3
#define SLIDES 0
#define ROWS 4
#define VECTORS 4
#include "ops/correlate/volume_tile.h"
#define tile_name KERNEL(narrow3)
#define SIDE 3
#define SLIDES 0
#define ROWS 4
#define VECTORS 1
#include "ops/correlate/volume_tile.h"
#define tile_name KERNEL(tile3_slides)
#define SIDE 3
#define SLIDES 1
#define ROWS 4
#define VECTORS 4
#include "ops/correlate/volume_tile.h"
#define tile_name KERNEL(narrow3_slides)
#define SIDE 3
#define SLIDES 1
#define ROWS 4
#define VECTORS 1
#include "ops/correlate/volume_tile.h"
#define tile_name KERNEL(tile5)
#define SIDE 5
#define SLIDES 0
#define ROWS 6
#define VECTORS 4
#include "ops/correlate/volume_tile.h"
#define tile_name KERNEL(narrow5)
#define SIDE 5
#define SLIDES 0
#define ROWS 6
#define VECTORS 1
#include "ops/correlate/volume_tile.h"

static const tess_volume_kernels KERNEL(kernels)[] = {
    {.side = 3, .slides = true, .tall = 4, .tile = KERNEL(tile3_slides), .narrow = KERNEL(narrow3_slides)},
    {.side = 3, .tall = 4, .tile = KERNEL(tile3), .narrow = KERNEL(narrow3)},
    {.side = 5, .tall = 6, .tile = KERNEL(tile5), .narrow = KERNEL(narrow5)},
    {0},
};
#undef KERNEL
#undef vec
#undef real
#undef WORD
