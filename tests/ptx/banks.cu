// SPDX-License-Identifier: Apache-2.0
// What the 32 banks of shared memory make of strides, columns, padding and swizzling. One warp each.
template <class T> __device__ void stride_body(T *out, int stride) {
    extern __shared__ char raw[];
    T *words = (T *)raw;
    words[threadIdx.x * stride] = (T)threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = words[threadIdx.x * stride];
}
extern "C" __global__ void bank_stride_4(float *out, int stride) { stride_body(out, stride); }
extern "C" __global__ void bank_stride_8(double *out, int stride) { stride_body(out, stride); }

// 16-byte elements: one vector load and one vector store a lane.
extern "C" __global__ void bank_stride_16(float4 *out, int stride) {
    extern __shared__ float4 quads[];
    float x = threadIdx.x;
    quads[threadIdx.x * stride] = make_float4(x, x + 1, x + 2, x + 3);
    __syncthreads();
    out[threadIdx.x] = quads[threadIdx.x * stride];
}

extern "C" __global__ void bank_column(int *out) {
    __shared__ int tile[32][32];
    for (int row = 0; row < 32; row++)
        tile[row][threadIdx.x] = 32 * row + threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x][5];
}
extern "C" __global__ void bank_column_pad(int *out) {
    __shared__ int tile[32][33];
    for (int row = 0; row < 32; row++)
        tile[row][threadIdx.x] = 32 * row + threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x][5];
}
extern "C" __global__ void bank_column_swizzle(int *out) {
    __shared__ int tile[32][32];
    for (int row = 0; row < 32; row++)
        tile[row][threadIdx.x ^ row] = 32 * row + threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x][5 ^ threadIdx.x];
}
