// SPDX-License-Identifier: Apache-2.0
// Kernels that must trip a detector, each beside a near twin that must not.
extern "C" __global__ void bounds_bad(float *data, int n) { data[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
extern "C" __global__ void bounds_good(float *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = 1;
}

extern "C" __global__ void aligned_bad(char *data, float *out) { out[threadIdx.x] = *(float *)(data + threadIdx.x); }
extern "C" __global__ void aligned_good(char *data, float *out) { out[threadIdx.x] = *(float *)(data + 4 * threadIdx.x); }

extern "C" __global__ void undefined_bad(int *out) {
    __shared__ int part[64];
    if (threadIdx.x != 7)
        part[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = part[63 - threadIdx.x];
}
extern "C" __global__ void undefined_good(int *out) {
    __shared__ int part[64];
    part[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = part[63 - threadIdx.x];
}

// The barrier between writing and reading is missing in the first.
extern "C" __global__ void race_bad(int *out) {
    __shared__ int part[64];
    part[threadIdx.x] = 0;
    __syncthreads();
    part[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = part[threadIdx.x ^ 32];
}
extern "C" __global__ void race_good(int *out) {
    __shared__ int part[64];
    part[threadIdx.x] = 0;
    __syncthreads();
    part[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = part[threadIdx.x ^ 32];
}

// The old warp tail without a barrier; and with one.
extern "C" __global__ void race_warp_bad(int *out) {
    __shared__ volatile int part[64];
    part[threadIdx.x] = threadIdx.x;
    part[threadIdx.x + 32] = threadIdx.x;
    part[threadIdx.x] += part[threadIdx.x + 16];
    part[threadIdx.x] += part[threadIdx.x + 8];
    out[threadIdx.x] = part[threadIdx.x];
}
extern "C" __global__ void race_warp_good(int *out) {
    __shared__ volatile int part[64];
    part[threadIdx.x] = threadIdx.x;
    part[threadIdx.x + 32] = threadIdx.x;
    __syncwarp();
    int sum = part[threadIdx.x] + part[threadIdx.x + 16];
    __syncwarp();
    part[threadIdx.x] = sum;
    __syncwarp();
    sum = part[threadIdx.x] + part[threadIdx.x + 8];
    __syncwarp();
    part[threadIdx.x] = sum;
    out[threadIdx.x] = part[threadIdx.x];
}

extern "C" __global__ void barrier_bad(int *out, int n) {
    if (threadIdx.x >= n)
        return;
    __syncthreads();
    out[threadIdx.x] = 1;
}
extern "C" __global__ void barrier_good(int *out, int n) {
    __syncthreads();
    if (threadIdx.x < n)
        out[threadIdx.x] = 1;
}

extern "C" __global__ void lanes_bad(int *out) {
    if (threadIdx.x < 16)
        out[threadIdx.x] = __shfl_down_sync(~0u, (int)threadIdx.x, 1);
}
extern "C" __global__ void lanes_good(int *out) {
    if (threadIdx.x < 16)
        out[threadIdx.x] = __shfl_down_sync(0xffffu, (int)threadIdx.x, 1);
}
