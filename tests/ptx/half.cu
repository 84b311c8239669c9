// SPDX-License-Identifier: Apache-2.0
// 16-bit floats: scalar and paired arithmetic and conversions.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void half_arithmetic(const __half *a, const __half *b, __half *out) {
    int i = threadIdx.x;
    out[6 * i] = __hadd(a[i], b[i]);
    out[6 * i + 1] = __hmul(a[i], b[i]);
    out[6 * i + 2] = __hfma(a[i], b[i], a[i + 1]);
    out[6 * i + 3] = __float2half(__half2float(a[i]) * 1.5f);
    out[6 * i + 4] = __hmax(a[i], b[i]);
    out[6 * i + 5] = __hlt(a[i], b[i]) ? a[i] : b[i];
}
extern "C" __global__ void half_pairs(const __half2 *a, const __half2 *b, __half2 *out) {
    int i = threadIdx.x;
    out[i] = __hfma2(a[i], b[i], __hadd2(a[i], b[i]));
}
extern "C" __global__ void bfloat_arithmetic(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *out) {
    int i = threadIdx.x;
    out[4 * i] = __hadd(a[i], b[i]);
    out[4 * i + 1] = __hmul(a[i], b[i]);
    out[4 * i + 2] = __hfma(a[i], b[i], a[i + 1]);
    out[4 * i + 3] = __float2bfloat16(__bfloat162float(a[i]) * 1.5f);
}
