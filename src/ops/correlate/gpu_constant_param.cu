// SPDX-License-Identifier: Apache-2.0
// gpu_constant_param.cu - rung 3, `constant_param`: the mask as a kernel parameter, by value.
//
// A __constant__ variable belongs to the module, so two streams with two masks would need two modules. Parameters lie in constant memory too, each launch
// has its own, and nothing has to be copied before it: the same counts, no hazard. __grid_constant__ keeps the array where it is when it is indexed.
#include "ops/correlate/gpu_ladder.cuh"

struct weights {
    float w[MOST];
};

extern "C" __global__ void constant_param(const float *N, float *P, const line p, const __grid_constant__ weights M) {
    i64 i = blockIdx.x * (i64)BLOCK + threadIdx.x;
    if (i >= p.m)
        return;
    float sum = 0;
    for (int j = 0; j < p.width; j++)
        sum = fmaf(cell(N, p, i - p.before + j), M.w[j], sum);
    put(P, i, sum);
}
