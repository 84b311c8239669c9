// SPDX-License-Identifier: Apache-2.0
// gpu_divisors.cuh - divisions of a variance by what the host knows: by the number of elements, for the mean, and by as many less ddof.
//
// A division in f64 is some 25 instructions, of which short rows have two for a few elements; by a whole number whose inverse is known it is three, and the same bits. But a division is a call, around which the compiler keeps
// little in registers, where the three stand among all else: a text that has no registers to spare keeps the division. It says so: BY_INVERSES, before this is included.
#ifndef TESS_REDUCE_DIVISORS_CUH
#define TESS_REDUCE_DIVISORS_CUH
#if KIND == 5 // VAR
#include "ops/reduce/gpu_node.cuh"
#endif

// An argument of its own: one of more than 128 bytes the compiler no longer takes apart.
// k elements and their inverse; as many less ddof, and of that the inverse where it is a whole number of at most 2^20, else 0.
struct divisors {
    double k, of_k, less, of_less;
};

#if KIND == 5
// a / b, rounded once, for a whole b of at most 2^20 whose rounded inverse is known. `near` is within two units in the last place, so what it leaves of a is exact, and what is rounded at last is within 2^-51 units of the
// quotient. That lies b-ths of half a unit, so 2^-21 units at least, from any number at which rounding changes, and is never one: b times such a number has more bits than a. No a comes near the ends of f64's range, and one
// that is no number gives a NaN.
__device__ __forceinline__ double quotient(double a, double b, double inverse) {
    const double near = a * inverse;
    return __fma_rn(__fma_rn(-near, b, a), inverse, near);
}

// Whether all elements count, of which there are as many as the host says, and none comes near the ends of f64's range.
#define INVERSES_DIVIDE (BY_INVERSES && !OMIT && IN != T_F64)

// The result over k elements; less, inverse: `less` and `of_less`.
__device__ __forceinline__ result finished_by(const node &n, int k, double ddof, double less, double inverse) {
    if (!INVERSES_DIVIDE)
        return finished(n, k, ddof);
    asm volatile("" : "+d"(inverse)); // the compiler made two texts of all that is around this
    if (inverse == 0)
        return finished(n, k, ddof);
    const double v = quotient(n.m2, less, inverse);
    return store_as<OUT>(OPERATION == OP_STD ? sqrt(v) : v);
}
#endif
#endif
