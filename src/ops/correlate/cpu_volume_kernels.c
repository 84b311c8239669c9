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
#include "ops/correlate/volume_all.h"
#define vec v_f64
#define real double
#define WORD v_f64
#define KERNEL(name) name##_f64
#include "ops/correlate/volume_all.h"
#else
static const tess_volume_kernels kernels_f32[1], kernels_f64[1];
#endif

const tess_volume_kernels *TESS_ISA_NAME(tess_correlate_volume_kernels)(bool f32, int64_t side);
const tess_volume_kernels *TESS_ISA_NAME(tess_correlate_volume_kernels)(bool f32, int64_t side) {
    for (const tess_volume_kernels *k = f32 ? kernels_f32 : kernels_f64; k->tall > 0; k++)
        if (k->side == side && (!k->slides || tess_cpu_is_zen5()))
            return k;
    return NULL;
}
