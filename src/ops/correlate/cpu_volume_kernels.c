/* SPDX-License-Identifier: Apache-2.0
 * cpu_volume_kernels.c - the tiles of masks of 3 x 3 and 5 x 5 in planes (volume_tile.h), where there are registers for them. */
#include "core/maker.h"
#include "ops/correlate/put_sums.h"
#include "ops/correlate/volume_kernels.h"
#include "simd/here.h"
#include "simd/lanes.h"

#if TESS_VECTOR_BYTES == 64
#define vec v_f32
#define real float
#define WORD v_f32
#define KERNEL(name) name##_f32
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
static const tess_volume_kernels f32_kernels[] = {
    {.side = 3, .slides = true, .tall = 4, .tile = tile3_slides_f32, .narrow = narrow3_slides_f32},
    {.side = 3, .tall = 4, .tile = tile3_f32, .narrow = narrow3_f32},
    {.side = 5, .tall = 6, .tile = tile5_f32, .narrow = narrow5_f32},
    {0},
};
#undef KERNEL
#undef vec
#undef real
#undef WORD
#define vec v_f64
#define real double
#define WORD v_f64
#define KERNEL(name) name##_f64
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
static const tess_volume_kernels f64_kernels[] = {
    {.side = 3, .slides = true, .tall = 4, .tile = tile3_slides_f64, .narrow = narrow3_slides_f64},
    {.side = 3, .tall = 4, .tile = tile3_f64, .narrow = narrow3_f64},
    {.side = 5, .tall = 6, .tile = tile5_f64, .narrow = narrow5_f64},
    {0},
};
#else
static const tess_volume_kernels f32_kernels[1], f64_kernels[1];
#endif

const tess_volume_kernels *TESS_ISA_NAME(tess_correlate_volume_kernels)(bool f32, int64_t side);
const tess_volume_kernels *TESS_ISA_NAME(tess_correlate_volume_kernels)(bool f32, int64_t side) {
    for (const tess_volume_kernels *k = f32 ? f32_kernels : f64_kernels; k->tall > 0; k++)
        if (k->side == side && (!k->slides || tess_cpu_is_zen5()))
            return k;
    return NULL;
}
