/* SPDX-License-Identifier: Apache-2.0
 * put_narrow.h - finished sums of f32 go from the registers to outputs of fewer bits. For the kernels, which include it. */
#ifndef TESS_OPS_CORRELATE_PUT_NARROW_H
#define TESS_OPS_CORRELATE_PUT_NARROW_H

#include "ops/correlate/put_sums.h"
#include "ops/correlate/window_kernels.h"
#include "simd/lanes.h"
#include "simd/narrow.h"

#if TESS_NARROW
/* Four vectors at a time. Rows that stand in lines are stored past the caches. */
TESS_INLINE void put_narrow(tess_window_put put, bool stream, char *to, const v_f32 *sums, int vectors) {
    float four[4 * TESS_F32_LANES];
    char narrow[2 * TESS_VECTOR_BYTES];
    const int bytes = TESS_VECTOR_BYTES * (put == TESS_WINDOW_PUT_U8 || put == TESS_WINDOW_PUT_I8 ? 1 : 2);
    TESS_UNROLL for (int k = 0; k < vectors; k += 4, to += bytes) {
        TESS_UNROLL for (int i = 0; i < 4; i++) v_f32_store(four + i * TESS_F32_LANES, sums[k + i]);
        char *out = stream ? narrow : to;
        switch (put) {
        case TESS_WINDOW_PUT_U8: tess_u8_of_f32(out, four); break;
        case TESS_WINDOW_PUT_I8: tess_i8_of_f32(out, four); break;
        case TESS_WINDOW_PUT_U16: tess_u16_of_f32(out, four); break;
        case TESS_WINDOW_PUT_I16: tess_i16_of_f32(out, four); break;
        default: TESS_UNROLL for (int i = 0; i < 4; i++) v_f32_to_f16(out + i * TESS_VECTOR_BYTES / 2, sums[k + i]); break;
        }
        for (int i = 0; stream && i < bytes; i += TESS_VECTOR_BYTES)
            v_bytes_stream(to + i, v_bytes_load(narrow + i));
    }
}
#else
TESS_INLINE void put_narrow(tess_window_put put, bool stream, char *to, const v_f32 *sums, int vectors) {
    (void)put, (void)stream, (void)to, (void)sums, (void)vectors;
}
#endif

#endif
