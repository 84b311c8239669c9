/* SPDX-License-Identifier: Apache-2.0
 * gpu_raise.h - weights of kernels that read a byte as its 2^24th part (part_of_byte of gpu_bytes.cuh). */
#ifndef TESS_OPS_CORRELATE_GPU_RAISE_H
#define TESS_OPS_CORRELATE_GPU_RAISE_H

#include <math.h>

#include "ops/correlate/gpu_correlate.h"

/* Of u8 some kernels take the weights times 2^24, which is exact as far as it does not overflow. */
TESS_INLINE bool raise_weights(const float *weights, int64_t count, tess_type from, float *raised) {
    for (int64_t i = 0; i < count; i++) {
        raised[i] = from == tess_u8 ? weights[i] * 0x1p24f : weights[i];
        if (isinf(raised[i]) && !isinf(weights[i]))
            return false;
    }
    return true;
}

#endif
