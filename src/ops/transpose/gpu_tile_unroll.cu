// SPDX-License-Identifier: Apache-2.0
// gpu_tile_unroll.cu - the padded tile of 32 x 32 with 8 warps: each thread moves four elements.
//
// In gpu_tile.cu a thread had one load on its way and then waited for a barrier with 1023 others. Here it has four, index arithmetic is done once for
// four elements, and a multiprocessor holds four times as many tiles.
#include "ops/transpose/gpu_plane.cuh"

extern "C" __global__ void tile_unroll(const element *in, element *out, const plane m) {
    __shared__ element tile[32][33];
    place at = tile_of_block<32, 32>(m);
    int x = threadIdx.x % 32, y = threadIdx.x / 32;
#pragma unroll
    for (int i = 0; i < 32; i += 8)
        if (at.p + x < m.p_size && at.q + y + i < m.q_size)
            tile[y + i][x] = in[at.in + (at.q + y + i) * m.q_in + at.p + x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 32; i += 8)
        if (at.p + y + i < m.p_size && at.q + x < m.q_size)
            out[at.out + (at.p + y + i) * m.p_out + at.q + x] = tile[x][y + i];
}
