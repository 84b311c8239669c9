// SPDX-License-Identifier: Apache-2.0
// mufu_sweep.cu - prints what tests/test_vgpu_mufu.c expects of .approx and .full operations, as the card at hand computes them. Not part of the test
// suite: nvcc -arch=sm_90 mufu_sweep.cu && ./a.out, and compare.
#include <cstdint>
#include <cstdio>
#include <vector>

#define UNARY(name, instruction)                                                                   \
    struct name {                                                                                  \
        static __device__ uint32_t compute(uint32_t a) {                                           \
            uint32_t d;                                                                            \
            asm volatile("{.reg .f32 x, y; mov.b32 x, %1; " instruction " y, x; mov.b32 %0, y;}" : "=r"(d) : "r"(a)); \
            return d;                                                                              \
        }                                                                                          \
    };
UNARY(Rcp, "rcp.approx.ftz.f32") UNARY(Rsqrt, "rsqrt.approx.ftz.f32") UNARY(Sqrt, "sqrt.approx.ftz.f32") UNARY(Ex2, "ex2.approx.ftz.f32")
UNARY(Lg2, "lg2.approx.ftz.f32") UNARY(Sin, "sin.approx.ftz.f32") UNARY(Cos, "cos.approx.ftz.f32") UNARY(Tanh, "tanh.approx.f32")
UNARY(RcpPlain, "rcp.approx.f32") UNARY(RsqrtPlain, "rsqrt.approx.f32") UNARY(SqrtPlain, "sqrt.approx.f32") UNARY(Ex2Plain, "ex2.approx.f32")
UNARY(Lg2Plain, "lg2.approx.f32") UNARY(SinPlain, "sin.approx.f32") UNARY(CosPlain, "cos.approx.f32")

#define HALF(name, instruction)                                                         \
    struct name {                                                                       \
        static __device__ uint32_t compute(uint32_t a) {                                \
            unsigned short x = (unsigned short)a, y;                                    \
            asm volatile(instruction " %0, %1;" : "=h"(y) : "h"(x));                    \
            return y;                                                                   \
        }                                                                               \
    };
HALF(Ex2Half, "ex2.approx.f16") HALF(TanhHalf, "tanh.approx.f16") HALF(Ex2Bfloat, "ex2.approx.ftz.bf16") HALF(TanhBfloat, "tanh.approx.bf16")

#define DOUBLE(name, instruction)                                                             \
    struct name {                                                                             \
        static __device__ uint32_t compute(uint32_t a) {                                      \
            double y;                                                                         \
            asm volatile(instruction " %0, %1;" : "=d"(y) : "d"(__hiloint2double((int)a, 0))); \
            return (uint32_t)__double2hiint(y);                                               \
        }                                                                                     \
    };
DOUBLE(RcpDouble, "rcp.approx.ftz.f64") DOUBLE(RsqrtDouble, "rsqrt.approx.ftz.f64")

#define DIVIDE(name, instruction)                                                                                        \
    struct name {                                                                                                        \
        static __device__ uint32_t compute(uint32_t a, uint32_t b) {                                                     \
            float y;                                                                                                     \
            asm volatile(instruction " %0, %1, %2;" : "=f"(y) : "f"(__uint_as_float(a)), "f"(__uint_as_float(b)));       \
            return __float_as_uint(y);                                                                                   \
        }                                                                                                                \
    };
DIVIDE(DivApprox, "div.approx.f32") DIVIDE(DivFull, "div.full.f32") DIVIDE(DivFlush, "div.approx.ftz.f32")

template <class F> __global__ void sweep(uint32_t first, uint32_t step, uint32_t count, uint32_t *out) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = F::compute(first + i * step);
}
template <class F> __global__ void each(const uint32_t *in, uint32_t count, uint32_t *out) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = F::compute(in[i]);
}
template <class F> __global__ void pairs(const uint32_t *in, uint32_t count, uint32_t *out) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = F::compute(in[i], in[i + count]);
}

static uint32_t *results;
static unsigned long long hash(uint32_t count) {
    std::vector<uint32_t> host(count);
    if (cudaMemcpy(host.data(), results, 4ull * count, cudaMemcpyDeviceToHost))
        printf("error: %s\n", cudaGetErrorString(cudaGetLastError()));
    unsigned long long h = 0xcbf29ce484222325ull;
    for (uint32_t word : host)
        h = (h ^ word) * 0x100000001b3ull;
    return h;
}
template <class F> void binades(const char *name, uint32_t first, uint32_t count, uint32_t step) {
    uint32_t n = ((count << 23) + step - 1) / step;
    sweep<F><<<(n + 255) / 256, 256>>>(first, step, n, results);
    printf("    {%s, 0x%08x, %u, %u, 0x%016llx},\n", name, first, count, step, hash(n));
}
enum { PATTERNS = 1 << 18 };
template <class F> void random(const char *name, const uint32_t *in) {
    each<F><<<PATTERNS / 256, 256>>>(in, PATTERNS, results);
    printf("    {%s, 0x%016llx},\n", name, hash(PATTERNS));
}
template <class F> void divide(const char *name, const uint32_t *in) {
    pairs<F><<<PATTERNS / 256, 256>>>(in, PATTERNS, results);
    printf("    %s 0x%016llx\n", name, hash(PATTERNS));
}
template <class F> void half(const char *name) {
    sweep<F><<<256, 256>>>(0, 1, 65536, results);
    printf("    %s 0x%016llx\n", name, hash(65536));
}

int main() {
    const uint32_t one = 0x3f800000, binade = 1u << 23, minus = 0x80000000;
    cudaMalloc(&results, 4ull << 24);
    binades<Rcp>("PTX_OP_RCP", one, 1, 1);
    binades<Rsqrt>("PTX_OP_RSQRT", one, 2, 1);
    binades<Sqrt>("PTX_OP_SQRT", one, 2, 1);
    for (int e = -26; e < 8; e++)
        binades<Ex2>("PTX_OP_EX2", one + e * binade, 1, e ? 61 : 1);
    for (int e = -4; e < 8; e++)
        binades<Ex2>("PTX_OP_EX2", minus + one + e * binade, 1, 61);
    for (int e = -2; e < 3; e++)
        binades<Lg2>("PTX_OP_LG2", one + e * binade, 1, e ? 61 : 1);
    binades<Lg2>("PTX_OP_LG2", 0x50000000, 1, 61);
    for (int e = -14; e < 8; e++)
        binades<Sin>("PTX_OP_SIN", one + e * binade, 1, e ? 61 : 1);
    for (int e = -14; e < 8; e++)
        binades<Cos>("PTX_OP_COS", one + e * binade, 1, 61);
    for (int e = -14; e < 5; e++)
        binades<Tanh>("PTX_OP_TANH", one + e * binade, 1, e >= -1 && e <= 1 ? 1 : 61);

    std::vector<uint32_t> patterns(2 * PATTERNS);
    uint64_t s = 88172645463325252ull;
    for (uint32_t i = 0; i < 2 * PATTERNS; i++) {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        patterns[i] = i < 65536 ? i << 16 : (uint32_t)(s >> 32);
    }
    uint32_t *in;
    cudaMalloc(&in, 8ull * PATTERNS);
    cudaMemcpy(in, patterns.data(), 8ull * PATTERNS, cudaMemcpyHostToDevice);
    random<Rcp>("PTX_OP_RCP, true", in);
    random<RcpPlain>("PTX_OP_RCP, false", in);
    random<Rsqrt>("PTX_OP_RSQRT, true", in);
    random<RsqrtPlain>("PTX_OP_RSQRT, false", in);
    random<Sqrt>("PTX_OP_SQRT, true", in);
    random<SqrtPlain>("PTX_OP_SQRT, false", in);
    random<Ex2>("PTX_OP_EX2, true", in);
    random<Ex2Plain>("PTX_OP_EX2, false", in);
    random<Lg2>("PTX_OP_LG2, true", in);
    random<Lg2Plain>("PTX_OP_LG2, false", in);
    random<Sin>("PTX_OP_SIN, true", in);
    random<SinPlain>("PTX_OP_SIN, false", in);
    random<Cos>("PTX_OP_COS, true", in);
    random<CosPlain>("PTX_OP_COS, false", in);
    random<Tanh>("PTX_OP_TANH, false", in);
    divide<DivApprox>("div.approx", in);
    divide<DivFull>("div.full", in);
    divide<DivFlush>("div.approx.ftz", in);
    random<RcpDouble>("rcp.f64", in);
    random<RsqrtDouble>("rsqrt.f64", in);
    half<Ex2Half>("ex2.f16");
    half<TanhHalf>("tanh.f16");
    half<Ex2Bfloat>("ex2.bf16");
    half<TanhBfloat>("tanh.bf16");
    return 0;
}
