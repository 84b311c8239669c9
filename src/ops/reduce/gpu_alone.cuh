// SPDX-License-Identifier: Apache-2.0
// gpu_alone.cuh - the variance of a short segment in shared memory by one thread, which holds its elements between the two looks.
//
// Where neighbours have segments that are nearly as long (-DSORTED=1) most elements go without asking whether they are there.
#ifndef TESS_REDUCE_ALONE_CUH
#define TESS_REDUCE_ALONE_CUH
#include "ops/reduce/gpu_lanes.cuh"
#include "ops/reduce/gpu_stage.cuh"

// sum / count where `inverse` is 1 / count. The first product is wrong by two units in its last place at most, so what it leaves of the sum is a few bits, and exact; and no such quotient lies in the
// middle of two numbers, for a count has few bits, too. Of elements that are infinite a NaN comes in place of an infinity: their variance is one either way.
__device__ __forceinline__ double quotient(double sum, int count, double inverse) {
    const double near = sum * inverse;
#if IN == T_F64
    if (!(fabs(sum) > 1e-280 && fabs(sum) < 1e300)) // what is left would be no normal number, or of an infinity
        return mean_of(sum, count);
#endif
    return fma(fma(-(double)count, near, sum), inverse, near);
}

enum { HELD = 16 }; // so many elements are kept as f64 between the looks

// A segment of up to MOST elements, of which FULL are there in any case; `inverse` is 1 / k.
template <int MOST, int FULL> __device__ __forceinline__ node alone_of(unsigned from, int k, double inverse) {
    enum { LANES = MOST > 16 ? 32 : MOST > 8 ? 16 : MOST };
    const auto there = [&](int m) { return m < FULL || m < k; };
    int count = OMIT ? 0 : k;
    element held[MOST];
#pragma unroll
    for (int m = 0; m < MOST; m++) {
        held[m] = 0;
        if (there(m))
            held[m] = at_shared<element>(from + m * SIZE);
    }
    const first_sum sum = subtree<0, 1, LANES, first_sum, MOST>([&](int m) { return first_look(held[m], there(m), count); });
    const double mean = OMIT ? mean_of(sum, count) : quotient(sum, count, inverse);
    const double square =
        subtree<0, 1, LANES, double, MOST>([&](int m) { return second_look(wide_of(m < HELD ? held[m] : again(held[m]), m), there(m), mean); });
    return moments_of(mean, square, count);
}
// The same of one with k elements, whose neighbours have `shortest` to `longest`: where they are nearly as long most go without asking.
__device__ __forceinline__ node alone_of(unsigned from, int k, int shortest, int longest) {
    enum { UNEVEN = 12 };
    const double inverse = 1 / (double)k;
    if (longest <= 4)
        return alone_of<4, 0>(from, k, inverse);
    if (longest <= 8)
        return alone_of<8, 0>(from, k, inverse);
    if (SORTED && (longest + 3) / 4 * 4 <= shortest + UNEVEN) {
        if (longest <= 16)
            return longest <= 12 ? alone_of<12, 0>(from, k, inverse) : alone_of<16, 16 - UNEVEN>(from, k, inverse);
        if (longest <= 24)
            return longest <= 20 ? alone_of<20, 20 - UNEVEN>(from, k, inverse) : alone_of<24, 24 - UNEVEN>(from, k, inverse);
        return longest <= 28 ? alone_of<28, 28 - UNEVEN>(from, k, inverse) : alone_of<32, 32 - UNEVEN>(from, k, inverse);
    }
    return longest <= 16 ? alone_of<16, 0>(from, k, inverse) : alone_of<32, 0>(from, k, inverse);
}
#endif
