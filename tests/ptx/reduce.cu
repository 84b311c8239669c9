// SPDX-License-Identifier: Apache-2.0
// Rungs of the reduction ladder: one partial sum a block, in place in global memory, then by shuffles.

// Neighbours first: half of every warp idles from the first step on.
extern "C" __global__ void reduce_neighbored(int *data, int *partial, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        if (threadIdx.x % (2 * stride) == 0 && i + stride < n)
            data[i] += data[i + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        partial[blockIdx.x] = data[i];
}

// The far half onto the near half: whole warps retire.
extern "C" __global__ void reduce_interleaved(int *data, int *partial, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride && i + stride < n)
            data[i] += data[i + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        partial[blockIdx.x] = data[i];
}

extern "C" __global__ void reduce_shared(const int *data, int *partial, int n) {
    extern __shared__ int part[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? data[i] : 0;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride)
            part[threadIdx.x] += part[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        partial[blockIdx.x] = part[0];
}

// Five shuffles a warp, one word of shared memory a warp, five more.
extern "C" __global__ void reduce_shuffle(const int *data, int *partial, int n) {
    __shared__ int warp_sum[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int sum = i < n ? data[i] : 0;
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(~0u, sum, offset);
    if (lane == 0)
        warp_sum[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < blockDim.x / 32 ? warp_sum[lane] : 0;
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_down_sync(~0u, sum, offset);
        if (lane == 0)
            partial[blockIdx.x] = sum;
    }
}

// Every thread one atomic: the answer is right in any order because the sum is one of integers.
extern "C" __global__ void reduce_atomic(const int *data, unsigned *total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(total, (unsigned)data[i]);
}
