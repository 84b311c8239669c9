// SPDX-License-Identifier: Apache-2.0
// gpu_shared.cu - rungs 10 and 11: the halving in shared memory; -DUNROLL=1 `shared`, -DUNROLL=8 `shared_unroll8`.
//
// The in-place rungs went to global memory and back in every round, and destroyed what they read. Here a value is read once; the rounds stay in shared
// memory, whose neighbours lie in different banks. With UNROLL = 8 a thread merges eight values on the way in, as in unroll8.
#include "ops/reduce/gpu_ladder.cuh"

template <typename T> __device__ void shared_body(const T *data, node *partial, i64 n) {
    __shared__ node s[BLOCK];
    int tid = threadIdx.x;
    i64 first = blockIdx.x * (i64)BLOCK * UNROLL + tid;
    node mine = nothing();
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
        if (first + u * BLOCK < n)
            merge(mine, fetch(data, first + u * BLOCK));
    s[tid] = mine;
    __syncthreads();
    for (int stride = BLOCK / 2; stride > 0; stride /= 2) {
        if (tid < stride)
            merge(s[tid], s[tid + stride]);
        __syncthreads();
    }
    if (tid == 0)
        partial[blockIdx.x] = s[0];
}

extern "C" __global__ void first(const element *in, node *partial, i64 n) { shared_body(in, partial, n); }
extern "C" __global__ void second(const node *data, node *partial, i64 n) { shared_body(data, partial, n); }
