// SPDX-License-Identifier: Apache-2.0
// Atomics in shared and global memory, with and without a use of what they return, on few and on many addresses. Their sums do not depend on an order.

// Bins in shared memory; blocks of one warp, so that nothing but the warp's own lanes is in the way.
extern "C" __global__ void histogram_shared(const unsigned char *in, unsigned *bins, int n) {
    __shared__ unsigned own[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[in[i]], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&bins[i], own[i]);
}
extern "C" __global__ void histogram_weighted(const unsigned char *in, const unsigned *weight, unsigned *bins, int n) {
    __shared__ unsigned own[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[in[i]], weight[i]);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&bins[i], own[i]);
}
extern "C" __global__ void histogram_global(const unsigned char *in, unsigned *bins, int shift) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&bins[in[i] >> shift], 1);
}
// One table a lane group: lanes l and l + 4 never meet.
extern "C" __global__ void histogram_private(const unsigned char *in, unsigned *bins) {
    __shared__ unsigned own[4][65];
    for (int i = threadIdx.x; i < 4 * 65; i += 32)
        (&own[0][0])[i] = 0;
    __syncthreads();
    for (int k = 0; k < 16; k++)
        atomicAdd(&own[threadIdx.x & 3][in[(blockIdx.x * 16 + k) * 32 + threadIdx.x] >> 2], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < 64; i += 32)
        atomicAdd(&bins[i], own[0][i] + own[1][i] + own[2][i] + own[3][i]);
}

extern "C" __global__ void max_shared(const int *in, int *out, int step) {
    __shared__ int most[32 * 33];
    for (int i = threadIdx.x; i < 32 * 33; i += 32)
        most[i] = -1;
    __syncthreads();
    for (int k = 0; k < 4; k++)
        atomicMax(&most[threadIdx.x * step], in[blockIdx.x * 128 + k * 32 + threadIdx.x]);
    __syncthreads();
    out[blockIdx.x * 32 + threadIdx.x] = most[threadIdx.x];
}
// What is returned is used: places in a list. One lane after the other is served, in ascending order.
extern "C" __global__ void append(const int *in, int *out, int *count) {
    __shared__ int length;
    if (threadIdx.x == 0)
        length = 0;
    __syncthreads();
    int x = in[blockIdx.x * 32 + threadIdx.x];
    if (x & 1)
        out[blockIdx.x * 32 + atomicAdd(&length, 1)] = x;
    __syncthreads();
    if (threadIdx.x == 0)
        count[blockIdx.x] = length;
}
extern "C" __global__ void exchange_shared(const int *in, int *out) {
    __shared__ int slot[64];
    slot[threadIdx.x] = threadIdx.x;
    slot[threadIdx.x + 32] = -(int)threadIdx.x;
    __syncthreads();
    __syncthreads();
    int old = atomicExch(&slot[threadIdx.x * 2 & 63], in[threadIdx.x]);
    __syncthreads();
    int other = atomicCAS(&slot[threadIdx.x ^ 5], old, 7);
    __syncthreads();
    out[threadIdx.x] = old + 3 * other + slot[threadIdx.x];
}
// Sums of floats in shared memory: a loop of load and compare-and-swap. Small whole numbers, so that any order gives the same.
extern "C" __global__ void float_sum_shared(const float *in, float *out, int spread) {
    __shared__ float sum[64];
    sum[threadIdx.x] = sum[threadIdx.x + 32] = 0;
    __syncthreads();
    atomicAdd(&sum[threadIdx.x % spread], truncf(in[threadIdx.x] * 64));
    __syncthreads();
    out[threadIdx.x] = sum[threadIdx.x];
}

// Global memory: different places, few places, one place; integers, floats, 64 bits.
extern "C" __global__ void add_global(const unsigned *in, unsigned *out, int mask) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&out[i & mask], in[i]);
}
extern "C" __global__ void add_strided(const unsigned *in, unsigned *out, int step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&out[i * step], in[i]);
}
extern "C" __global__ void add_64(const unsigned long long *in, unsigned long long *out, int mask) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&out[i & mask], in[i]);
}
extern "C" __global__ void add_float(const float *in, float *out, int mask) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&out[i & mask], truncf(in[i] * 64));
}
extern "C" __global__ void add_double(const double *in, double *out, int mask) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&out[i & mask], trunc(in[i] * 64));
}
extern "C" __global__ void min_returned(const int *in, int *out, int *seen) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    seen[i] = atomicMin(&out[i ^ 3], in[i]) ^ i;
}
extern "C" __global__ void cas_returned(const int *in, int *out, int *seen) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    seen[i] = atomicCAS(&out[i * 2], i * 2, in[i]);
}
// One address for all lanes and the same addend: the assembler may leave one lane to do it.
extern "C" __global__ void count_all(int *count, int by) {
    atomicAdd(count, 1);
    atomicAdd(count + 1, by);
    atomicMax(count + 2, (int)threadIdx.x);
}
