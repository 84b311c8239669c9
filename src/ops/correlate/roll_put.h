/* SPDX-License-Identifier: Apache-2.0
 * roll_put.h - how the kernels of roll.h store finished sums: as they are, or where the call says so as u8. For the kernels, which include it. */
#ifndef TESS_OPS_CORRELATE_ROLL_PUT_H
#define TESS_OPS_CORRELATE_ROLL_PUT_H

#include "ops/correlate/put_sums.h"
#include "ops/correlate/roll.h"
#include "simd/narrow.h"

/* `count` vectors to places `step` bytes apart, as u8 `byte_step`. */
TESS_INLINE void put_sums_or_bytes(const tess_roll_call *c, char *to, int64_t step, int64_t byte_step, const v_f32 *sums, const int count) {
    if (c->narrow)
        TESS_UNROLL for (int k = 0; k < count; k++) v_f32_to_u8(to + k * byte_step, sums[k]);
    else
        v_f32_put_sums(to, step, sums, count, c->stream, c->between);
}

#endif
