// SPDX-License-Identifier: Apache-2.0
// gpu_interleaved.cu - rung 3: halves meet.
//
// The strides of the rungs before touched a sector for one or two values. Here value t meets value t + stride with stride = half of what is left: the
// working threads are the first ones and their values lie side by side.
#include "ops/reduce/gpu_ladder.cuh"

extern "C" __global__ void interleaved(node *data, node *partial, i64 n) {
    i64 base = blockIdx.x * (i64)BLOCK, left = n - base;
    int tid = threadIdx.x, count = left < BLOCK ? (int)left : BLOCK;
    node *d = data + base;
    for (int stride = BLOCK / 2; stride > 0; stride /= 2) {
        if (tid < stride && tid + stride < count)
            merge(d[tid], d[tid + stride]);
        __syncthreads();
    }
    if (tid == 0)
        partial[blockIdx.x] = d[0];
}
