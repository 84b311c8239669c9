// SPDX-License-Identifier: Apache-2.0
// gpu_number.cuh - what sums are made of where any type may be, complex ones too: elements as numbers of the work type, one tap, the way out.
//
// -DIN= -DOUT= element types, -DWORK= the type of sums and weights.
#ifndef TESS_CORRELATE_GPU_NUMBER_CUH
#define TESS_CORRELATE_GPU_NUMBER_CUH

#include "gpu/types.cuh"

#define T_C64 14
#define T_C128 15

// Real numbers of the work type, and as many as an element has.
#if WORK == T_C64
typedef float real;
#elif WORK == T_C128
typedef double real;
#else
typedef stored<WORK>::type real;
#endif

#if WORK >= T_C64
template <typename half> struct alignas(2 * sizeof(half)) pair { // elements are aligned to their size
    half re, im;
};
typedef pair<real> number;

// Real inputs have an imaginary part of +0, which takes part.
#if IN >= T_C64
#if IN == T_C64
typedef pair<float> in_element;
#else
typedef pair<double> in_element;
#endif
__device__ __forceinline__ number load(const in_element &x) { return {(real)x.re, (real)x.im}; }
#else
typedef stored<IN>::type in_element;
__device__ __forceinline__ number load(const in_element &x) { return {load_as<real, IN>(x), (real)0}; }
#endif
__device__ __forceinline__ float fused(float a, float b, float c) { return fmaf(a, b, c); }
__device__ __forceinline__ double fused(double a, double b, double c) { return fma(a, b, c); }
__device__ __forceinline__ void add(number &acc, const number &a, const number &b) {
    acc.re = fused(a.re, b.re, acc.re);
    acc.re = fused(-a.im, b.im, acc.re);
    acc.im = fused(a.re, b.im, acc.im);
    acc.im = fused(a.im, b.re, acc.im);
}
__device__ __forceinline__ number value_of(const real *constant) { return {constant[0], constant[1]}; }

#else
typedef real number;
#if IN >= T_C64
#error "a complex input is not computed in a real type"
#endif
typedef stored<IN>::type in_element;
__device__ __forceinline__ number load(const in_element &x) { return load_as<number, IN>(x); }
__device__ __forceinline__ void add(float &acc, float a, float b) { acc = fmaf(a, b, acc); }
__device__ __forceinline__ void add(double &acc, double a, double b) { acc = fma(a, b, acc); }
__device__ __forceinline__ void add(i64 &acc, i64 a, i64 b) { acc = (i64)((u64)acc + (u64)a * (u64)b); }
__device__ __forceinline__ void add(u64 &acc, u64 a, u64 b) { acc += a * b; }
__device__ __forceinline__ number value_of(const real *constant) { return constant[0]; }
#endif

#if OUT >= T_C64
#if OUT == T_C64
#define PART T_F32
typedef float part;
#else
#define PART T_F64
typedef double part;
#endif
struct alignas(2 * sizeof(part)) out_element {
    part re, im;
};
#if WORK >= T_C64
__device__ __forceinline__ out_element store(const number &x) { return {store_as<PART>(x.re), store_as<PART>(x.im)}; }
#else
__device__ __forceinline__ out_element store(const number &x) { return {store_as<PART>(x), (part)0}; }
#endif
#else
typedef stored<OUT>::type out_element;
__device__ __forceinline__ out_element store(const number &x) { return store_as<OUT>(x); }
#endif

#endif
