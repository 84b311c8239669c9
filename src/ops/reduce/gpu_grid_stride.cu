// SPDX-License-Identifier: Apache-2.0
// gpu_grid_stride.cu - rungs 13 and 14: blocks that stay, and a last block that finishes.
//
// With one stretch a block the partial results grow with the data. Here there are only as many blocks as the card holds at once, each walks through the
// data by the size of the grid, and a few hundred partial results are left. -DTICKET=0 `grid_stride` takes them in a second launch; -DTICKET=1
// `single_pass` gives every block a ticket when its result is visible to all, and the block with the last ticket takes them: one launch.
#include "ops/reduce/gpu_ladder.cuh"

template <typename T> __device__ node walked(const T *data, i64 n, node *room) {
    node mine = nothing();
    for (i64 i = blockIdx.x * (i64)BLOCK + threadIdx.x; i < n; i += gridDim.x * (i64)BLOCK)
        merge(mine, fetch(data, i));
    return block_merged(mine, room);
}

#if TICKET
extern "C" __global__ void single_pass(const element *in, result *out, unsigned *ticket, node *partial, i64 n) {
    __shared__ node room[BLOCK / 32];
    __shared__ bool last;
    node mine = walked(in, n, room);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = mine;
        __threadfence();
        last = atomicAdd(ticket, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last)
        return;
    __threadfence();
    mine = nothing();
    for (unsigned i = threadIdx.x; i < gridDim.x; i += BLOCK)
        merge(mine, partial[i]);
    mine = block_merged(mine, room);
    if (threadIdx.x == 0)
        *out = finished(mine, n, 0);
}
#else
extern "C" __global__ void first(const element *in, node *partial, i64 n) {
    __shared__ node room[BLOCK / 32];
    node mine = walked(in, n, room);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = mine;
}
extern "C" __global__ void second(const node *data, node *partial, i64 n) {
    __shared__ node room[BLOCK / 32];
    node mine = walked(data, n, room);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = mine;
}
#endif
