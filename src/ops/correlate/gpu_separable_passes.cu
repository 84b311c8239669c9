// SPDX-License-Identifier: Apache-2.0
// gpu_separable_passes.cu - rung 12, `separable_passes`: a list of two 1-D masks, one launch each.
//
// All rungs before take width * width taps an output. A mask that is an outer product needs width + width: each pass is `constant_param` along one axis
// (-DALONG=0: columns, 1: rows), and what lies between them goes through global memory once out and once in.
#include "ops/correlate/gpu_ladder.cuh"

struct weights {
    float w[MOST];
};

extern "C" __global__ void separable_pass(const float *N, float *P, const image p, const __grid_constant__ weights M) {
    i64 across = (p.m_x + 31) / 32, x = blockIdx.x % across * 32 + threadIdx.x % 32, y = blockIdx.x / across * 8 + threadIdx.x / 32;
    if (x >= p.m_x || y >= p.m_y)
        return;
    float sum = 0;
#if ALONG == 0
    for (int j = 0; j < p.width_y; j++)
        sum = fmaf(cell(N, p, y - p.before_y + j, x), M.w[j], sum);
#else
    for (int j = 0; j < p.width_x; j++)
        sum = fmaf(cell(N, p, y, x - p.before_x + j), M.w[j], sum);
#endif
    put(P, y * p.pitch_p + x, sum);
}
