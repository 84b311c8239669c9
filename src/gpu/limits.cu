// SPDX-License-Identifier: Apache-2.0
// limits.cu - what a card can do at best: a vector a thread copied, blocks that stay and read all, products and sums in registers.

extern "C" __global__ void copy_all(const float4 *in, float4 *out, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

extern "C" __global__ void read_all(const float4 *in, float *out, long long n) {
    float sum = 0;
    long long stride = gridDim.x * 512ll;
    for (long long i = blockIdx.x * 512ll + threadIdx.x; i < n; i += 4 * stride) {
        float4 v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = i + k * stride < n ? in[i + k * stride] : float4{0, 0, 0, 0};
#pragma unroll
        for (int k = 0; k < 4; k++)
            sum += v[k].x + v[k].y + v[k].z + v[k].w;
    }
    if (sum == 1.5e30f)
        *out = sum;
}

extern "C" __global__ void write_all(float4 *out, float x, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n)
        out[i] = float4{x + i, x, x, x};
}

template <typename T> __device__ void fma_body(T *out, T x, T y) {
    T a[16];
#pragma unroll
    for (int i = 0; i < 16; i++)
        a[i] = threadIdx.x + i;
    for (int r = 0; r < ROUNDS; r++)
#pragma unroll
        for (int i = 0; i < 256; i++)
            a[i % 16] = fma(a[i % 16], x, y);
    T sum = 0;
#pragma unroll
    for (int i = 0; i < 16; i++)
        sum += a[i];
    if (sum == (T)1.5e30f)
        *out = sum;
}
extern "C" __global__ void fma_f32(float *out, float x, float y) { fma_body(out, x, y); }
extern "C" __global__ void fma_f64(double *out, double x, double y) { fma_body(out, x, y); }
