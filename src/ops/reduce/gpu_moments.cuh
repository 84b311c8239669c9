// SPDX-License-Identifier: Apache-2.0
// gpu_moments.cuh - the two looks of a variance at elements that a thread holds: what each takes of an element, and sums of which some terms are not there.
//
// Elements come once and stay in registers, for what binds is not f64 (four operations an element) but everything around it: a second load, 16 conversions to f64 a
// clock and multiprocessor, choices between the looks. So the looks are texts of their own, and what is not there is a 0 of the first and one instruction of the second.
// A sum that begins with an element instead of +0 differs in a zero's sign at most, and squares have none.
#ifndef TESS_REDUCE_MOMENTS_CUH
#define TESS_REDUCE_MOMENTS_CUH
#include "ops/reduce/gpu_node.cuh"

#if KIND == VAR
__device__ __forceinline__ void merge(double &a, double b) { a += b; } // sums of a look halve as nodes do

// An element that is not there is 0. count: of elements that are no NaN, where those are left out.
__device__ __forceinline__ double first_look(element e, bool there, int &count) {
    const double x = load_as<double, IN>(e);
    if (!OMIT)
        return x;
    count += there && x == x;
    return x == x ? x : 0;
}

// An element once more, by a 0 that the compiler does not know: it would keep all of them as f64 from the first look on, in twice the registers.
__device__ __forceinline__ element again(element e) {
#if IN == T_F32
    return __uint_as_float(__float_as_uint(e) ^ threadIdx.y);
#elif IN == T_F64
    return e;
#else
    return sizeof e < 8 ? (element)(e ^ (element)threadIdx.y) : e;
#endif
}

// The mean. A zero goes past the division, whose slow way it would take, and so does what no element counts for.
__device__ __forceinline__ double mean_of(double sum, int count) {
    const bool easy = sum == 0 || count == 0;
    const double mean = (easy ? 1 : sum) / (double)(count ? count : 1);
    return easy ? sum : mean;
}

// Where nothing is, one word is cleared, not two: what is left is so small that its square is 0. Left out is an element that is a NaN, not a difference that is one:
// an infinity's from an infinite mean.
__device__ __forceinline__ double second_look(element e, bool there, double mean) {
    const double value = load_as<double, IN>(again(e));
    const bool counts = there && !(OMIT && value != value);
    double x = value - mean;
    x = __hiloint2double(counts ? __double2hiint(x) : 0, __double2loint(x));
    return x * x;
}

__device__ __forceinline__ node moments_of(double mean, double m2, i64 count) {
    node n = nothing();
    n.count = (number)count;
    n.mean = count ? mean : 0;
    n.m2 = count ? m2 : 0;
    return n;
}
#endif
#endif
