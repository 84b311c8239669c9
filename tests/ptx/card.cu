/* SPDX-License-Identifier: Apache-2.0
 * card.cu - the kernels of tests/gpu_card.h: what the plumbing of the CUDA engine needs to be tried, on a card and on the virtual GPU. */
#ifndef SCALE
#define SCALE 0.1f
#endif
extern "C" __constant__ float weights[16];
extern "C" __global__ void add(const float *a, const float *b, float *out, unsigned long long n) {
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] * SCALE + b[i];
}
extern "C" __global__ void weigh(float *out) { out[threadIdx.x] = weights[threadIdx.x]; }
extern "C" __global__ void reverse(unsigned char *out, unsigned n) {
    extern __shared__ unsigned char tile[];
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
        tile[i] = (unsigned char)(i % 251);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = tile[n - 1 - i];
}
extern "C" __global__ void nothing(unsigned *out) { if (blockIdx.x == gridDim.x - 1 && blockIdx.y == gridDim.y - 1) *out = gridDim.y; }
