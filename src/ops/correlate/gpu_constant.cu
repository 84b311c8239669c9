// SPDX-License-Identifier: Apache-2.0
// gpu_constant.cu - rungs 2 and 9, `constant` and `constant2d`: the mask in __constant__ memory.
//
// `global` asked global memory for every weight anew, though all lanes of a warp want the same one. The constant cache answers such a broadcast in one
// request, beside the path of the input: 2 flops for each global load. The variable is the module's; the host fills it when the plan is made.
#include "ops/correlate/gpu_ladder.cuh"

extern "C" {
__constant__ float M[MOST];
}

extern "C" __global__ void constant_line(const float *N, float *P, const line p) {
    i64 i = blockIdx.x * (i64)BLOCK + threadIdx.x;
    if (i >= p.m)
        return;
    float sum = 0;
    for (int j = 0; j < p.width; j++)
        sum = fmaf(cell(N, p, i - p.before + j), M[j], sum);
    put(P, i, sum);
}

extern "C" __global__ void constant_image(const float *N, float *P, const image p) {
    i64 across = (p.m_x + 31) / 32, x = blockIdx.x % across * 32 + threadIdx.x % 32, y = blockIdx.x / across * 8 + threadIdx.x / 32;
    if (x >= p.m_x || y >= p.m_y)
        return;
    float sum = 0;
    for (int j = 0; j < p.width_y; j++)
        for (int k = 0; k < p.width_x; k++)
            sum = fmaf(cell(N, p, y - p.before_y + j, x - p.before_x + k), M[j * p.width_x + k], sum);
    put(P, y * p.pitch_p + x, sum);
}
