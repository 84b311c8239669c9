// SPDX-License-Identifier: Apache-2.0
// gpu_ladder.cuh - what the rungs of the reduction ladder share: a block turns BLOCK * UNROLL values into one, a second pass takes those, until one is left.
//
// The rungs merge in orders of their own, so they serve what no order can change: integer sums, extremes, places, counts. The in-place ones work on a copy
// of nodes that `load` makes; those that use shared memory or registers read the caller's elements in their first pass. BLOCK (256) threads.
#include "ops/reduce/gpu_node.cuh"

__device__ node fetch(const node *data, i64 i) { return data[i]; }
__device__ node fetch(const element *data, i64 i) {
    node n = nothing();
    take(n, data[i], i);
    return n;
}

// Thread 0..31's node over the warp is lane 0's.
__device__ node warp_merged(node n) {
#pragma unroll
    for (int down = 16; down > 0; down /= 2)
        merge(n, above(n, down));
    return n;
}

// The block's node is thread 0's. `room` has a place for each warp.
__device__ node block_merged(node n, node *room) {
    n = warp_merged(n);
    if (threadIdx.x % 32 == 0)
        room[threadIdx.x / 32] = n;
    __syncthreads();
    if (threadIdx.x >= 32)
        return n;
    n = threadIdx.x < BLOCK / 32 ? room[threadIdx.x] : nothing();
    return warp_merged(n);
}

extern "C" __global__ void load(const element *in, node *data, i64 n) {
    i64 i = blockIdx.x * (i64)BLOCK + threadIdx.x;
    if (i < n)
        data[i] = fetch(in, i);
}

extern "C" __global__ void finish(result *out, const node *root, i64 k) { *out = finished(*root, k, 0); }
