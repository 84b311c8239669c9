// SPDX-License-Identifier: Apache-2.0
// More values alive than registers allowed: the assembler keeps some in local memory, which PTX does not know of.
//
// Values are made one from another by steps that cannot be done anew or moved, all are alive at once, and then all are used.

template <int COUNT> __device__ int many(const int *in, int n) {
    int x[COUNT];
#pragma unroll
    for (int k = 0; k < COUNT; k++)
        x[k] = in[k * 64 + threadIdx.x];
#pragma unroll 1
    for (int turn = 0; turn < n; turn++)
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            x[k] = x[k] * 5 + (x[(k + 7) % COUNT] ^ x[(k + 3) % COUNT]);
    int sum = 0;
#pragma unroll
    for (int k = 0; k < COUNT; k++)
        sum = sum * 3 ^ x[k];
    return sum;
}
extern "C" __global__ void __maxnreg__(32) spill_40(const int *in, int *out, int n) { out[threadIdx.x] = many<40>(in, n); }
extern "C" __global__ void __maxnreg__(24) spill_40_more(const int *in, int *out, int n) { out[threadIdx.x] = many<40>(in, n); }
extern "C" __global__ void __launch_bounds__(1024, 2) spill_bounds(const int *in, int *out, int n) { out[threadIdx.x] = many<48>(in, n); }
// Some lanes only: those that are off have no sectors.
extern "C" __global__ void __maxnreg__(32) spill_part(const int *in, int *out, int n) {
    if (threadIdx.x % 16 < 5)
        out[threadIdx.x] = many<40>(in, n);
}
// Loops that lanes leave one after another.
extern "C" __global__ void __maxnreg__(32) spill_uneven(const int *in, int *out) { out[threadIdx.x] = many<36>(in, 1 + threadIdx.x % 3); }
// Two registers a value.
extern "C" __global__ void __maxnreg__(32) spill_double(const double *in, double *out, int n) {
    double x[20];
#pragma unroll
    for (int k = 0; k < 20; k++)
        x[k] = in[k * 64 + threadIdx.x];
#pragma unroll 1
    for (int turn = 0; turn < n; turn++)
#pragma unroll
        for (int k = 0; k < 20; k++)
            x[k] = x[k] + 0.25 * x[(k + 7) % 20];
    double sum = 0;
#pragma unroll
    for (int k = 0; k < 20; k++)
        sum = sum * 0.5 + x[k];
    out[threadIdx.x] = sum;
}
// Values kept over a call.
__device__ __noinline__ int apart(int x, int y) { return (x ^ y) * 7 + 1; }
extern "C" __global__ void __maxnreg__(32) spill_call(const int *in, int *out) {
    int x[24], sum = 0;
#pragma unroll
    for (int k = 0; k < 24; k++)
        x[k] = in[k * 64 + threadIdx.x];
    int y = apart(x[0], x[5]);
#pragma unroll
    for (int k = 0; k < 24; k++)
        sum = sum * 3 ^ (x[k] + y);
    out[threadIdx.x] = apart(sum, y);
}
