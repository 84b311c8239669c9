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
// Integers of at most 16 bits: what a leaf of them comes to is exact in any order, so the first look adds integers.
#define SMALL_INTEGERS (IN <= T_I16)
#if SMALL_INTEGERS
typedef int first_sum;
__device__ __forceinline__ void merge(int &a, int b) { a += b; }
#else
typedef double first_sum;
#endif
__device__ __forceinline__ void merge(double &a, double b) { a += b; } // sums of a look halve as nodes do
__device__ __forceinline__ void merge(i64 &a, i64 b) { a += b; }

// An element that is not there is 0. count: of elements that are no NaN, where those are left out.
__device__ __forceinline__ first_sum first_look(element e, bool there, int &count) {
    const first_sum x = load_as<first_sum, IN>(e);
    if (!OMIT || SMALL_INTEGERS) {
        count += OMIT && there;
        return x;
    }
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
// The same of all elements of some words.
template <int BYTES> __device__ __forceinline__ words<BYTES> again(words<BYTES> v) {
#pragma unroll
    for (int i = 0; IN != T_F64 && i < (int)(sizeof v / sizeof *v.word); i++)
        v.word[i] ^= threadIdx.y;
    return v;
}

// An element as f64; j: its number in a word. A multiprocessor converts 16 a clock, and 17 bytes are to be folded: of every fourth one the bits are put below 2^52.
__device__ __forceinline__ double small_as_wide(int x, int j) {
    const int below = IN == T_I8 || IN == T_I16 ? (int)0x80000000 : 0;
    if (j % 4 == 3)
        return __hiloint2double(0x43300000, x ^ below) - (below ? 4503601774854144. : 4503599627370496.);
    return x;
}
#if SMALL_INTEGERS
__device__ __forceinline__ double wide_of(element e, int j) { return small_as_wide(load_as<int, IN>(e), j); }
#else
__device__ __forceinline__ double wide_of(element e, int) { return load_as<double, IN>(e); }
#endif

// The mean. A zero goes past the division, whose slow way it would take, and so does what no element counts for.
__device__ __forceinline__ double mean_of(double sum, int count) {
    const bool easy = sum == 0 || count == 0;
    const double mean = (easy ? 1 : sum) / (double)(count ? count : 1);
    return easy ? sum : mean;
}

// Where nothing is, one word is cleared, not two: what is left is so small that its square is 0. Left out is an element that is a NaN, not a difference that is one:
// an infinity's from an infinite mean. By a mask, for the compiler makes three instructions of a choice.
__device__ __forceinline__ double second_look(double value, bool there, double mean) {
    const double x = value - mean;
    const unsigned keep = there && !(OMIT && value != value) ? ~0u : 0;
    const double kept = __hiloint2double(__double2hiint(x) & keep, __double2loint(x));
    return kept * kept;
}

__device__ __forceinline__ node moments_of(double mean, double m2, i64 count) {
    node n = nothing();
    n.count = (number)count;
    n.mean = count ? mean : 0;
    n.m2 = count ? m2 : 0;
    return n;
}

// Of a leaf of a power of two of bytes nothing needs a second look. Of 2^e elements, e <= 13, the mean has e bits behind the point, a difference e + 8 bits in all, its square twice as many, and no sum of
// some of the squares passes 2^e 127.5^2 in units of 2^(-2 e), which is 53 bits. So nothing that the definition rounds is rounded, and this, which is not either, is the same number.
__device__ __forceinline__ node moments_at_once(double sum, double squares, double mean, i64 count) { return moments_of(mean, squares - sum * mean, count); }
#endif
#endif
