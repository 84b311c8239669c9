// SPDX-License-Identifier: Apache-2.0
// gpu_tile_input.cu - rungs 6 and 10, `tile_input` and `tile_input2d`: the block covers the input tile.
//
// The halos of `tile_halo` were extra loads by a part of the block. Here a thread loads exactly one element: BLOCK + width - 1 threads for BLOCK outputs.
// Loading is as simple as it can be; the price is (width - 1) / (BLOCK + width - 1) of the threads idle while the sums are made, in two dimensions on both axes: of
// (16 + 4)^2 threads for a 5 x 5 mask 36 %.
#include "ops/correlate/gpu_ladder.cuh"

extern "C" {
__constant__ float M[MOST];
}
extern __shared__ float tile[]; // one word a thread

extern "C" __global__ void tile_input(const float *N, float *P, const line p) {
    int t = threadIdx.x;
    i64 i = blockIdx.x * (i64)BLOCK + t;
    tile[t] = cell(N, p, i - p.before);
    __syncthreads();
    if (t >= BLOCK || i >= p.m)
        return;
    float sum = 0;
    for (int j = 0; j < p.width; j++)
        sum = fmaf(tile[t + j], M[j], sum);
    put(P, i, sum);
}

// BLOCK x BLOCK outputs.
extern "C" __global__ void tile_input_image(const float *N, float *P, const image p) {
    int pitch = BLOCK + p.width_x - 1, t_x = threadIdx.x % pitch, t_y = threadIdx.x / pitch;
    i64 across = (p.m_x + BLOCK - 1) / BLOCK, x = blockIdx.x % across * BLOCK + t_x, y = blockIdx.x / across * BLOCK + t_y;
    tile[threadIdx.x] = cell(N, p, y - p.before_y, x - p.before_x);
    __syncthreads();
    if (t_x >= BLOCK || t_y >= BLOCK || x >= p.m_x || y >= p.m_y)
        return;
    float sum = 0;
    for (int j = 0; j < p.width_y; j++)
        for (int k = 0; k < p.width_x; k++)
            sum = fmaf(tile[(t_y + j) * pitch + t_x + k], M[j * p.width_x + k], sum);
    put(P, y * p.pitch_p + x, sum);
}
