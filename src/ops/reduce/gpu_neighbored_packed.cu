// SPDX-License-Identifier: Apache-2.0
// gpu_neighbored_packed.cu - rung 2: the same sums by the first threads.
//
// neighbored kept every warp awake for a few lanes. Here thread t takes the pair at 2 * stride * t: the working threads are the first ones, whole warps
// retire after each round. The memory is touched as sparsely as before.
#include "ops/reduce/gpu_ladder.cuh"

extern "C" __global__ void neighbored_packed(node *data, node *partial, i64 n) {
    i64 base = blockIdx.x * (i64)BLOCK, left = n - base;
    int tid = threadIdx.x, count = left < BLOCK ? (int)left : BLOCK;
    node *d = data + base;
    for (int stride = 1; stride < BLOCK; stride *= 2) {
        int index = 2 * stride * tid;
        if (index < BLOCK && index + stride < count)
            merge(d[index], d[index + stride]);
        __syncthreads();
    }
    if (tid == 0)
        partial[blockIdx.x] = d[0];
}
