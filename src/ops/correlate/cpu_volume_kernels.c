/* SPDX-License-Identifier: Apache-2.0
 * cpu_volume_kernels.c - the tile of masks of 3 x 3 in planes (volume_tile.h), where there are registers for it. */
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
#define VECTORS 4
#include "ops/correlate/volume_tile.h"
#define tile_name KERNEL(narrow3)
#define VECTORS 1
#include "ops/correlate/volume_tile.h"
static const tess_volume_kernels f32_kernels = {.tall = TESS_VOLUME_ROWS, .tile = tile3_f32, .narrow = narrow3_f32};
#undef KERNEL
#undef vec
#undef real
#undef WORD
#define vec v_f64
#define real double
#define WORD v_f64
#define KERNEL(name) name##_f64
#define tile_name KERNEL(tile3)
#define VECTORS 4
#include "ops/correlate/volume_tile.h"
#define tile_name KERNEL(narrow3)
#define VECTORS 1
#include "ops/correlate/volume_tile.h"
static const tess_volume_kernels f64_kernels = {.tall = TESS_VOLUME_ROWS, .tile = tile3_f64, .narrow = narrow3_f64};
#else
static const tess_volume_kernels f32_kernels, f64_kernels;
#endif

const tess_volume_kernels *TESS_ISA_NAME(tess_correlate_volume_kernels)(bool f32);
const tess_volume_kernels *TESS_ISA_NAME(tess_correlate_volume_kernels)(bool f32) { return f32 ? &f32_kernels : &f64_kernels; }
