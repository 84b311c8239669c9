// SPDX-License-Identifier: Apache-2.0
// gpu_unroll.cu - rungs 4 to 9: each thread first merges UNROLL (2, 4, 8) blocks' values, and the tail of the halving sheds its barriers.
//
// In `interleaved` half of the threads never did more than wait. A thread that first takes a value from each of UNROLL blocks' stretches has several
// loads on their way, and there are UNROLL times fewer blocks, barriers and partial results. The guards ask for each value that is read.
//
//   -DTAIL=0   the halving to its end with barriers                                          unroll2, unroll4, unroll8
//   -DTAIL=1   the last 64 values by one warp, which needs no block's barrier but does need
//              __syncwarp(): without it this is a race since Volta                           unroll8_warp
//   -DTAIL=2   the halving written out for the block size that the launch has                complete_unroll
//   -DTAIL=3   the same with the block size known to the compiler: nothing left to test      template
#include "ops/reduce/gpu_ladder.cuh"

__device__ void meet(node *d, int stride, int count) {
    int tid = threadIdx.x;
    if (tid < stride && tid + stride < count)
        merge(d[tid], d[tid + stride]);
}

__device__ void last_warp(node *d, int count) {
    if (threadIdx.x >= 32)
        return;
#pragma unroll
    for (int stride = 32; stride > 0; stride /= 2) {
        meet(d, stride, count);
        __syncwarp();
    }
}

// The block's size is the kernel's or, when it is 0, the launch's. The condition is the same in the whole block, and so is the barrier.
template <int SIZE> __device__ void written_out(node *d, int count) {
    int size = SIZE ? SIZE : blockDim.x;
    if (size >= 1024) {
        meet(d, 512, count);
        __syncthreads();
    }
    if (size >= 512) {
        meet(d, 256, count);
        __syncthreads();
    }
    if (size >= 256) {
        meet(d, 128, count);
        __syncthreads();
    }
    if (size >= 128) {
        meet(d, 64, count);
        __syncthreads();
    }
    last_warp(d, count);
}

extern "C" __global__ void unroll(node *data, node *partial, i64 n) {
    i64 base = blockIdx.x * (i64)BLOCK * UNROLL, left = n - base;
    int tid = threadIdx.x, count = left < BLOCK ? (int)left : BLOCK;
    node *d = data + base;
#pragma unroll
    for (int u = 1; u < UNROLL; u++)
        if (tid + u * BLOCK < left)
            merge(d[tid], d[tid + u * BLOCK]);
    __syncthreads();
#if TAIL == 0
    for (int stride = BLOCK / 2; stride > 0; stride /= 2) {
        meet(d, stride, count);
        __syncthreads();
    }
#elif TAIL == 1
    for (int stride = BLOCK / 2; stride > 32; stride /= 2) {
        meet(d, stride, count);
        __syncthreads();
    }
    last_warp(d, count);
#elif TAIL == 2
    written_out<0>(d, count);
#else
    written_out<BLOCK>(d, count);
#endif
    if (tid == 0)
        partial[blockIdx.x] = d[0];
}
