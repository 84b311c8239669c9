// SPDX-License-Identifier: Apache-2.0
// gpu_neighbored.cu - rung 1: neighbours meet, in place in global memory.
//
// In round r the threads whose number is a multiple of 2^(r+1) work: half of each warp, then a quarter, ... : every warp stays busy to the last round with
// ever fewer lanes, and strides spread over ever more sectors. The round's guard asks for tid + stride inside the data, not only tid.
#include "ops/reduce/gpu_ladder.cuh"

extern "C" __global__ void neighbored(node *data, node *partial, i64 n) {
    i64 base = blockIdx.x * (i64)BLOCK, left = n - base;
    int tid = threadIdx.x, count = left < BLOCK ? (int)left : BLOCK;
    node *d = data + base;
    for (int stride = 1; stride < BLOCK; stride *= 2) {
        if (tid % (2 * stride) == 0 && tid + stride < count)
            merge(d[tid], d[tid + stride]);
        __syncthreads();
    }
    if (tid == 0)
        partial[blockIdx.x] = d[0];
}
