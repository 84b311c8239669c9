// SPDX-License-Identifier: Apache-2.0
// gpu_global.cu - rungs 1 and 8, `global` and `global2d`: the definition, input and mask both in global memory.
//
// A thread computes one output. Each tap is two loads and one fmaf, so 1 flop for each load, wherever the loads are served from. Only warps at the ends meet
// ghost cells and diverge.
#include "ops/correlate/gpu_ladder.cuh"

extern "C" __global__ void global_line(const float *N, const float *M, float *P, const line p) {
    i64 i = blockIdx.x * (i64)BLOCK + threadIdx.x;
    if (i >= p.m)
        return;
    float sum = 0;
    for (int j = 0; j < p.width; j++)
        sum = fmaf(cell(N, p, i - p.before + j), M[j], sum);
    put(P, i, sum);
}

// Blocks of 32 x 8 outputs: a warp is 32 neighbours in a row.
extern "C" __global__ void global_image(const float *N, const float *M, float *P, const image p) {
    i64 across = (p.m_x + 31) / 32, x = blockIdx.x % across * 32 + threadIdx.x % 32, y = blockIdx.x / across * 8 + threadIdx.x / 32;
    if (x >= p.m_x || y >= p.m_y)
        return;
    float sum = 0;
    for (int j = 0; j < p.width_y; j++)
        for (int k = 0; k < p.width_x; k++)
            sum = fmaf(cell(N, p, y - p.before_y + j, x - p.before_x + k), M[j * p.width_x + k], sum);
    put(P, y * p.pitch_p + x, sum);
}
