// SPDX-License-Identifier: Apache-2.0
// gpu_tile_core.cu - rungs 7 and 11, `tile_core` and `tile_core2d`: only the tile's own elements in shared memory.
//
// `tile_input` paid for its halo with threads, `tile_halo` with more loads. Here the halo is not brought in at all: a tap outside the tile is read from
// global memory when it is wanted, in the hope that the neighbour block's load left it in a cache. Nothing guarantees that. The tile is as large as the block
// and every thread works, but warps at a tile's rim diverge in the middle of the tap loop.
#include "ops/correlate/gpu_ladder.cuh"

extern "C" {
__constant__ float M[MOST];
}

extern "C" __global__ void tile_core(const float *N, float *P, const line p) {
    __shared__ float tile[BLOCK];
    i64 first = blockIdx.x * (i64)BLOCK, i = first + threadIdx.x;
    tile[threadIdx.x] = cell(N, p, i);
    __syncthreads();
    if (i >= p.m)
        return;
    float sum = 0;
    for (int j = 0; j < p.width; j++) {
        int at = (int)threadIdx.x - p.before + j;
        float x;
        if (at >= 0 && at < BLOCK)
            x = tile[at];
        else
            x = cell(N, p, first + at);
        sum = fmaf(x, M[j], sum);
    }
    put(P, i, sum);
}

// Blocks of 32 x 8 outputs.
extern "C" __global__ void tile_core_image(const float *N, float *P, const image p) {
    __shared__ float tile[8 * 32];
    int t_x = threadIdx.x % 32, t_y = threadIdx.x / 32;
    i64 across = (p.m_x + 31) / 32, first_x = blockIdx.x % across * 32, first_y = blockIdx.x / across * 8, x = first_x + t_x, y = first_y + t_y;
    tile[threadIdx.x] = cell(N, p, y, x);
    __syncthreads();
    if (x >= p.m_x || y >= p.m_y)
        return;
    float sum = 0;
    for (int j = 0; j < p.width_y; j++)
        for (int k = 0; k < p.width_x; k++) {
            int at_y = t_y - p.before_y + j, at_x = t_x - p.before_x + k;
            float v;
            if (at_y >= 0 && at_y < 8 && at_x >= 0 && at_x < 32)
                v = tile[at_y * 32 + at_x];
            else
                v = cell(N, p, first_y + at_y, first_x + at_x);
            sum = fmaf(v, M[j * p.width_x + k], sum);
        }
    put(P, y * p.pitch_p + x, sum);
}
