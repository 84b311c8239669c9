// SPDX-License-Identifier: Apache-2.0
// gpu_general.cu - any correlation: one thread an output, its taps in the mask's order, every index worked out.
//
// What no other kernel takes comes here: any number of axes, steps of any sign, every boundary, every type. An input element is asked for once for each tap;
// neighbouring threads have neighbouring outputs, so that a tap's loads lie side by side, and caches serve the overlap. Boundaries are resolved only where a window
// leaves the array.
//
// -DIN= -DOUT= element types, -DWORK= the type of sums and weights; -DOUTER=N axes without a mask, -DMASKED=N with one, in the mask's order. -DINDEX=32
// where every place and every number fits 31 bits: a 64-bit division takes some seventy instructions, and there are two for each axis.
#include "gpu/types.cuh"
#include "ops/correlate/gpu_boundary.cuh"

#define T_C64 14
#define T_C128 15

#if INDEX == 32
typedef int place;
typedef unsigned count;
#else
typedef i64 place;
typedef u64 count;
#endif

// Real numbers of the work type, and as many as an element has.
#if WORK == T_C64
typedef float real;
#elif WORK == T_C128
typedef double real;
#else
typedef stored<WORK>::type real;
#endif

struct outer_axis {
    i64 m, divisor, in, out; // output number / divisor % m is the place; steps in elements
};
struct masked_axis {
    i64 m, divisor, in, out, n, width, before;
};
struct general {
    i64 outputs;
    i64 boundary;
    real constant[2];
    outer_axis outer[OUTER + 1];
    masked_axis masked[MASKED + 1];
};

#if WORK >= T_C64
template <typename R> struct pair {
    R re, im;
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
struct out_element {
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

// The taps of the masked axes K and following. ghost: the element is none of the array's already; INSIDE: no index has to be resolved.
template <bool INSIDE, int K> struct taps {
    static __device__ __forceinline__ void walk(const general &p, const in_element *__restrict__ in, const number *__restrict__ weight, place &tap,
                                                const place *first, place offset, bool ghost, number &acc) {
        const masked_axis &a = p.masked[K];
        for (place j = 0; j < (place)a.width; j++) {
            place i = INSIDE ? first[K] + j : (place)element_at((int)p.boundary, a.n, first[K] + j);
            taps<INSIDE, K + 1>::walk(p, in, weight, tap, first, offset + i * (place)a.in, !INSIDE && (ghost || i < 0), acc);
        }
    }
};
template <bool INSIDE> struct taps<INSIDE, MASKED> {
    static __device__ __forceinline__ void walk(const general &p, const in_element *__restrict__ in, const number *__restrict__ weight, place &tap,
                                                const place *, place offset, bool ghost, number &acc) {
        add(acc, ghost ? value_of(p.constant) : load(in[offset]), weight[tap++]);
    }
};

extern "C" __global__ void general_pass(const in_element *__restrict__ in, out_element *__restrict__ out, const number *__restrict__ weight,
                                        const general p) {
    i64 number_of = blockIdx.x * 256ll + threadIdx.x;
    place from = 0, to = 0, first[MASKED + 1], tap = 0;
    bool inside = true;
    if (number_of >= p.outputs)
        return;
#pragma unroll
    for (int d = 0; d < OUTER; d++) {
        place at = (place)((count)number_of / (count)p.outer[d].divisor % (count)p.outer[d].m);
        from += at * (place)p.outer[d].in;
        to += at * (place)p.outer[d].out;
    }
#pragma unroll
    for (int d = 0; d < MASKED; d++) {
        place at = (place)((count)number_of / (count)p.masked[d].divisor % (count)p.masked[d].m);
        first[d] = at - (place)p.masked[d].before;
        to += at * (place)p.masked[d].out;
        inside = inside && first[d] >= 0 && first[d] + (place)p.masked[d].width <= (place)p.masked[d].n;
    }
    number acc = {};
    if (inside)
        taps<true, 0>::walk(p, in, weight, tap, first, from, false, acc);
    else
        taps<false, 0>::walk(p, in, weight, tap, first, from, false, acc);
    out[to] = store(acc);
}
