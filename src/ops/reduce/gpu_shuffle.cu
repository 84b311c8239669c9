// SPDX-License-Identifier: Apache-2.0
// gpu_shuffle.cu - rung 12: the halving by warp shuffles.
//
// Shared memory still cost a store, a load and a barrier a round. Lanes of a warp can hand each other registers: five shuffles halve 32 values, one value
// a warp goes through shared memory, and one barrier is left.
#include "ops/reduce/gpu_ladder.cuh"

template <typename T> __device__ void shuffle_body(const T *data, node *partial, i64 n) {
    __shared__ node room[BLOCK / 32];
    i64 first = blockIdx.x * (i64)BLOCK * UNROLL + threadIdx.x;
    node mine = nothing();
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
        if (first + u * BLOCK < n)
            merge(mine, fetch(data, first + u * BLOCK));
    mine = block_merged(mine, room);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = mine;
}

extern "C" __global__ void first(const element *in, node *partial, i64 n) { shuffle_body(in, partial, n); }
extern "C" __global__ void second(const node *data, node *partial, i64 n) { shuffle_body(data, partial, n); }
