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

// Words of small elements, number 0 lowest. A multiprocessor converts 16 a clock to f64, and 17 bytes are to be folded, so some come by their bits: put into the upper word of an f64 below its exponent they are a power of two
// of themselves, exactly, and one fma makes them what they are and takes the mean away, rounding once.
__device__ __forceinline__ double power_of_two(int e) { return __hiloint2double((1023 + e) << 20, 0); }
// Of f16 the upper one, 2^-1008 of itself, subnormals too; but infinities and NaNs would be numbers: a product with 0 finds those in the first look, and the mean is a NaN.
#define HALVES (IN == T_F16 && !OMIT)
__device__ __forceinline__ double half_bits(unsigned w) { return __hiloint2double((int)w >> 6 & 0x81fffc00, 0); }
__device__ __forceinline__ void find_no_number(unsigned &found, unsigned w) { asm("fma.rn.f16x2 %0, %1, %2, %0;" : "+r"(found) : "r"(w), "r"(0)); }
__device__ __forceinline__ double settled_halves(double sum, unsigned found) { return sum * power_of_two(1008) + load_as<double, T_F16>((unsigned short)(found >> 16)); }

#if SMALL_INTEGERS
// A word's elements, or the squares of its bytes, added to a sum.
__device__ __forceinline__ int sum_of_word(int sum, unsigned w) {
    if (sizeof(element) == 1)
        return IN == T_I8 ? __dp4a((int)w, 0x01010101, sum) : (int)__dp4a(w, 0x01010101u, (unsigned)sum);
    return IN == T_I16 ? __dp2a_lo((int)w, 0x0101, sum) : (int)__dp2a_lo(w, 0x0101u, (unsigned)sum);
}
__device__ __forceinline__ int squares_of_word(int sum, unsigned w) { return IN == T_I8 ? __dp4a((int)w, (int)w, sum) : (int)__dp4a(w, w, (unsigned)sum); }
#endif

// Of bytes without a sign the last one, 2^-1034 of itself; its difference from the mean is 2^-11 of what it would be.
enum { BITS_OF_BYTE = 3, SCALE_OF_BYTE = 11 };
__device__ __forceinline__ bool by_bits(int v) { return IN == T_U8 && v == BITS_OF_BYTE; }
// A mean as number v of a word wants it, and the sum of its squares as those of the others are.
__device__ __forceinline__ double middle_of(double mean, int v) { return by_bits(v) ? mean * power_of_two(-SCALE_OF_BYTE) : mean; }
__device__ __forceinline__ double settled_squares(double sum, int v) { return by_bits(v) ? sum * power_of_two(2 * SCALE_OF_BYTE) : sum; }

// Element number v of a word as f64. The conversion takes its bytes from where they are: the shift is none.
__device__ __forceinline__ double part_as_wide(unsigned w, int v) {
    const unsigned x = w >> 8 * (int)sizeof(element) * v;
    double wide;
#if IN == T_U8
    asm("cvt.rn.f64.u8 %0, %1;" : "=d"(wide) : "r"(x));
#elif IN == T_I8
    asm("cvt.rn.f64.s8 %0, %1;" : "=d"(wide) : "r"(x));
#else
    wide = load_as<double, IN>((element)x);
#endif
    return wide;
}

// The square of its difference from the mean, of which `middle` is middle_of(mean, v).
__device__ __forceinline__ double square_of_part(unsigned w, int v, bool there, double middle) {
    if (by_bits(v))
        return second_look(__fma_rn(__hiloint2double((int)__byte_perm(w, 0, 0x4404 + (v << 4)), 0), power_of_two(1023), -middle), there, 0);
    if (HALVES && v == 1)
        return second_look(__fma_rn(half_bits(w), power_of_two(1008), -middle), there, 0);
    return second_look(part_as_wide(w, v), there, middle);
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
