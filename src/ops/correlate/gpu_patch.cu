// SPDX-License-Identifier: Apache-2.0
// gpu_patch.cu - production: small masks, where memory binds. A thread has V columns of R rows in registers, its neighbour lanes the rest.
//
// The tile kernels moved every element to shared memory and back, and met barriers. Here a thread loads its R + KY - 1 rows of V elements at once, as one
// vector each; what lies left and right of them stands in the registers of the lanes beside it; the first and last lane of a warp load
// theirs (H elements). Each row is then read once, and adds to every output that it concerns: sums grow in the order of the mask, row by row. Blocks are small and many, and follow each other along rows: on an H200 that is faster than any form that stays and loops.
//
// Warps whose elements all lie inside take loads without tests; the others resolve each index by the boundary's rule where it is needed.
//
// -D as gpu_patch.cuh.
#include "ops/correlate/gpu_patch.cuh"

template <bool INSIDE>
__device__ __forceinline__ void compute(const element *in, result *out, const frame &f, const tap_list<KX * KY> &taps, const place &p) {
    row_words rows[ROWS];
    work sum[R][V];
    resolved found;
    if (INSIDE)
        load_all(rows, in, f, p);
    else
        found = resolve_columns(f, p.c);
    char *to = (char *)(out + (i64)p.y * f.out_y + p.c.x);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (!INSIDE)
            load_anywhere(rows[r], in, f, p.y - f.before_y + r, p.c, found);
        work value[LEFT + V + RIGHT];
        unsigned word[WORDS];
        gather(word, rows[r], p.lane);
#pragma unroll
        for (int i = 0; i < LEFT + V + RIGHT; i++)
            value[i] = cell(word, FIRST + i);
#pragma unroll
        for (int o = 0; o < R; o++) {
            const int ky = r - o;
            if (ky < 0 || ky >= KY)
                continue;
#pragma unroll
            for (int kx = 0; kx < KX; kx++)
#pragma unroll
                for (int i = 0; i < V; i++)
                    sum[o][i] = multiply_add(value[i + kx * GROUP], taps.w[ky * KX + kx], ky + kx == 0 ? (work)0 : sum[o][i]);
        }
        const int done = r - KY + 1;
        if (done >= 0) {
            if (INSIDE || p.y + done < (int)f.m_y)
                write<V, INSIDE>((result *)to, p.c.x, (int)f.m_x, sum[done < 0 ? 0 : done]);
            to += f.out_y * (i64)sizeof(result);
        }
    }
}

extern "C" __global__ void __launch_bounds__(32 * WX * WY, BLOCKS)
    patch(const element *in, result *out, const frame f, const tap_list<KX * KY> taps) {
    const place p = place_of_warp();
    if (is_idle(p, f))
        return;
    find_array(f, blockIdx.z, in, out);
    if (is_inside(p, f))
        compute<true>(in, out, f, taps, p);
    else
        compute<false>(in, out, f, taps, p);
}
