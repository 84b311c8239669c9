// SPDX-License-Identifier: Apache-2.0
// Arithmetic by type, so that operations can be counted: singles, pairs, fused and not, under guards and in loops that lanes leave at different turns.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void half_single(const unsigned short *in, unsigned short *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __half x = __ushort_as_half(in[i] & 0x3fff), y = __ushort_as_half(in[i + 64] & 0x3fff);
    out[i] = __half_as_ushort(__hfma(__hadd(x, y), __hmul(x, y), __hsub(x, y)));
}
extern "C" __global__ void half_pairs(const unsigned *in, unsigned *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = in[i] & 0x3fff3fff, b = in[i + 64] & 0x3fff3fff;
    __half2 x = *(__half2 *)&a, y = *(__half2 *)&b, z = __hfma2(__hadd2(x, y), __hmul2(x, y), __hsub2(x, y));
    out[i] = *(unsigned *)&z;
}
extern "C" __global__ void bfloat_pairs(const unsigned *in, unsigned *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = in[i] & 0x3fff3fff, b = in[i + 64] & 0x3fff3fff;
    __nv_bfloat162 x = *(__nv_bfloat162 *)&a, y = *(__nv_bfloat162 *)&b, z = __hfma2(x, y, __hfma2(y, y, x));
    out[i] = *(unsigned *)&z;
}
extern "C" __global__ void single_all(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i], y = in[i + 64];
    out[i] = __fmaf_rn(__fadd_rn(x, y), __fmul_rn(x, y), __fsub_rn(x, y));
}
extern "C" __global__ void double_all(const double *in, double *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = in[i], y = in[i + 64];
    out[i] = __fma_rn(__dadd_rn(x, y), __dmul_rn(x, y), __dsub_rn(x, y));
}
// One in PTX, a sequence in machine code.
extern "C" __global__ void quotient(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __fdiv_rn(in[i], in[i + 64]);
}
extern "C" __global__ void root(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __fsqrt_rn(in[i] < 0 ? 1 - in[i] : in[i]);
}
extern "C" __global__ void quick(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __frcp_rn(in[i] + 3) + __fdividef(in[i], 3.5f) + rsqrtf(in[i] + 9);
}
extern "C" __global__ void double_quotient(const double *in, double *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] / in[i + 64];
}
// Under a guard, and in a loop whose length is the lane's.
extern "C" __global__ void guarded(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    if (i < n)
        x = __fadd_rn(x, 1);
#pragma unroll 1
    for (int k = i & 7; k > 0; k--)
        x = __fmaf_rn(x, x, 0.25f);
    out[i] = x;
}
