/* SPDX-License-Identifier: Apache-2.0
 * square.h - transposing, in registers, as many vectors as a vector has lanes.
 *
 * Units are interleaved within 16-byte lanes until each lane holds one column of a few rows, then whole lanes are exchanged (lanes.h). */
#ifndef TESS_SIMD_SQUARE_H
#define TESS_SIMD_SQUARE_H

#include "simd/lanes.h"

/* Element k of v[i] and element i of v[k] change places, for all i and k. */
TESS_INLINE void v_f32_square(v_f32 *v) {
    v_bytes t[TESS_LANES][4], from[4], to[4]; /* t[i][j]: lane l is column 4 l + j of rows 4 i .. 4 i + 3 */
    for (int i = 0; i < TESS_LANES; i++) {
        const v_bytes a = (v_bytes)v[4 * i], b = (v_bytes)v[4 * i + 1], c = (v_bytes)v[4 * i + 2], d = (v_bytes)v[4 * i + 3];
        const v_bytes ab = v_zip_low(4, a, b), ab2 = v_zip_high(4, a, b), cd = v_zip_low(4, c, d), cd2 = v_zip_high(4, c, d);
        t[i][0] = v_zip_low(8, ab, cd);
        t[i][1] = v_zip_high(8, ab, cd);
        t[i][2] = v_zip_low(8, ab2, cd2);
        t[i][3] = v_zip_high(8, ab2, cd2);
    }
    for (int j = 0; j < 4; j += 4 / TESS_LANES) {
        for (int k = 0; k < 4; k++)
            from[k] = t[k % TESS_LANES][j + k / TESS_LANES];
        v_lanes_to_lines(to, from);
        for (int k = 0; k < 4; k++)
            v[k / (4 / TESS_LANES) * 4 + j + k % (4 / TESS_LANES)] = (v_f32)to[k];
    }
}

TESS_INLINE void v_f64_square(v_f64 *v) {
    v_bytes t[4][2], from[4], to[4]; /* t[i][j]: lane l is column 2 l + j of rows 2 i and 2 i + 1 */
    for (int i = 0; i < TESS_LANES; i++) {
        const v_bytes a = (v_bytes)v[2 * i], b = (v_bytes)v[2 * i + 1];
        t[i][0] = v_zip_low(8, a, b);
        t[i][1] = v_zip_high(8, a, b);
    }
    if (TESS_LANES == 1) {
        v[0] = (v_f64)t[0][0];
        v[1] = (v_f64)t[0][1];
        return;
    }
    for (int j = 0; j < 2; j += TESS_LANES == 2 ? 2 : 1) {
        for (int k = 0; k < 4; k++)
            from[k] = t[k % TESS_LANES][(j + k / TESS_LANES) & 1];
        v_lanes_to_lines(to, from);
        for (int k = 0; k < 4; k++)
            v[k / (4 / TESS_LANES) * 2 + ((j + k % (4 / TESS_LANES)) & 1)] = (v_f64)to[k];
    }
}

#endif
