// SPDX-License-Identifier: Apache-2.0
// gpu_exact.cuh - what the kernels of exact sums share: error-free sums of a warp's strips, long accumulators, and their rounding.
//
// A warp takes STRIP elements, 32 a lane, or fewer. With 2^t above them all, sums that start from 1.5 * 2^(t + 11) stay multiples of 2^(t - 41) whatever is added, and
// what an addition drops is found without error (as cpu_exact.c has it, with headroom for the warp's 32 sums too). So one double is the exact sum of
// all that was not dropped; the dropped parts, if there are some, go through the same again, at least 41 bits lower each time. One lane adds the double
// to the warp's long accumulator in shared memory (superaccumulator.h: 70 limbs of 32 bits kept in 64, bit 0 of limb 0 is 2^-1074). Accumulators
// merge without error in any order, and are rounded once: so the bits are the CPU's.
//
// Numbers of 2^1000 and more, which leave no room for the sums, are added one by one. 64-bit integers are two halves, complex numbers two sums.
#ifndef TESS_REDUCE_EXACT_CUH
#define TESS_REDUCE_EXACT_CUH
#if IN >= 14
#include "ops/reduce/gpu_complex.cuh"
#else
#include "ops/reduce/gpu_node.cuh"
#endif

enum { LIMBS = 70, WORDS = LIMBS + 2, STRIP = 1024, PARTS = ACC == 15 ? 2 : 1, HALVES = IN == T_U64 || IN == T_I64 ? 2 : 1 };
enum { IS_NAN = 1, PLUS = 2, MINUS = 4 };

// Part or half number `which` of an element; *counts: it is not left out.
__device__ double value_of_part(element x, int which, bool *counts) {
    double v;
#if IN >= 14
    *counts = !(OMIT && (x.re != x.re || x.im != x.im));
#if MAP == 1
    load(v, x);
#else
    v = which ? (double)x.im : (double)x.re;
#endif
#elif IN == T_U64
    *counts = true;
    v = which ? (double)(unsigned)(x >> 32) * 4294967296.0 : (double)(unsigned)x;
#elif IN == T_I64
    *counts = true;
    v = which ? (double)(int)(x >> 32) * 4294967296.0 : (double)(unsigned)x;
#else
    v = load_as<double, IN>(x);
    *counts = !(OMIT && v != v);
    if (MAP == 1)
        v = fabs(v);
#endif
    return *counts ? v : 0;
}

__device__ void add(i64 *limbs, double x) {
    u64 bits = (u64)__double_as_longlong(x);
    int exponent = (int)(bits >> 52 & 0x7ff);
    u64 mantissa = (bits & 0xfffffffffffffull) | (u64)(exponent > 0) << 52;
    int at = exponent - (exponent > 0), shift = at & 31;
    u64 low = (mantissa & 0xffffffff) << shift, high = (mantissa >> 32) << shift;
    i64 sign = -(i64)(bits >> 63), *limb = limbs + (at >> 5);
    limb[0] += ((i64)(low & 0xffffffff) ^ sign) - sign;
    limb[1] += ((i64)((low >> 32) + (high & 0xffffffff)) ^ sign) - sign;
    limb[2] += ((i64)(high >> 32) ^ sign) - sign;
}

// Limbs 0 .. 2^32 - 1; the last keeps the sign.
__device__ void carry(i64 *limbs) {
    for (int i = 0; i < LIMBS - 1; i++) {
        limbs[i + 1] += limbs[i] >> 32;
        limbs[i] &= 0xffffffff;
    }
}

// The numbers of a warp, at most STRIP, into its accumulator.
template <int EACH> __device__ void sum_strip(double (&x)[EACH], i64 *limbs, int *flags) {
    const int lane = threadIdx.x % 32;
    bool great = false;
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        if (!(fabs(x[j]) < 0x1p1023 * 2)) {
            atomicOr(flags, x[j] != x[j] ? IS_NAN : x[j] > 0 ? PLUS : MINUS);
            x[j] = 0;
        }
        great = great || fabs(x[j]) > 0x1p1000;
    }
    if (__any_sync(0xffffffffu, great))
        for (int turn = 0; turn < 32; turn++) {
            if (turn == lane) {
#pragma unroll
                for (int j = 0; j < EACH; j++)
                    if (fabs(x[j]) > 0x1p1000) {
                        add(limbs, x[j]);
                        x[j] = 0;
                    }
            }
            __syncwarp();
        }
    for (;;) {
        double most = 0;
#pragma unroll
        for (int j = 0; j < EACH; j++)
            most = fmax(most, fabs(x[j]));
        if (!__any_sync(0xffffffffu, most != 0))
            break;
        const i64 bits = __double_as_longlong(most);
        int top = bits >> 52 ? (int)(bits >> 52) - 1022 : -1010 - __clzll(bits); // 2^top is above; 0 has the least of all
#pragma unroll
        for (int down = 16; down > 0; down /= 2) {
            int other = __shfl_xor_sync(0xffffffffu, top, down);
            top = other > top ? other : top;
        }
        int k = top + 11;
        k = k < -1022 ? -1022 : k; // nothing is dropped there
        const double start = __longlong_as_double((i64)((u64)(k + 1023) << 52 | 1ull << 51));
        double sum = start;
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            double after = sum + x[j];
            x[j] -= after - sum;
            sum = after;
        }
        sum -= start;
#pragma unroll
        for (int down = 16; down > 0; down /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, down);
        if (lane == 0 && sum != 0)
            add(limbs, sum);
    }
    __syncwarp();
}

// Elements number `first` to first + 32 * EACH - 1 of k, as far as they are there, into a warp's accumulators, which lie `apart`, one for each part.
template <int EACH = STRIP / 32, typename P>
__device__ void take_strip(const P &p, const element *from, i64 first, i64 k, i64 *limbs, int apart, int *flags, i64 &count) {
    const int lane = threadIdx.x % 32;
    element v[EACH];
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        i64 i = first + j * 32 + lane;
        v[j] = from[place(p, i < k ? i : 0)];
    }
#pragma unroll 1
    for (int which = 0; which < PARTS * HALVES; which++) {
        double x[EACH];
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            bool counts;
            x[j] = value_of_part(v[j], which, &counts);
            if (first + j * 32 + lane >= k)
                x[j] = 0;
            else if (which == 0)
                count += counts;
        }
        sum_strip(x, limbs + (PARTS > 1 ? which : 0) * apart, &flags[PARTS > 1 ? which : 0]);
    }
}

// superaccumulator.c's round_part.
__device__ double rounded(i64 *limb, i64 flags, bool to_odd) {
    const double infinity = __longlong_as_double(0x7ff0000000000000ll);
    if (flags & IS_NAN || (flags & PLUS && flags & MINUS))
        return __longlong_as_double(0x7ff8000000000000ll);
    if (flags)
        return flags & MINUS ? -infinity : infinity;
    carry(limb);
    bool negative = limb[LIMBS - 1] < 0;
    if (negative) {
        for (int i = 0; i < LIMBS; i++)
            limb[i] = -limb[i];
        carry(limb);
    }
    int high = LIMBS - 1;
    while (high > 0 && limb[high] == 0)
        high--;
    if (limb[high] == 0)
        return 0;
    const int top = 32 * high + 31 - __clz((int)limb[high]), last = top > 52 ? top - 52 : 0;
    u64 mantissa = 0;
    for (int i = high; i >= last / 32; i--)
        mantissa = i * 32 >= last ? mantissa << 32 | (u64)limb[i] : mantissa << (32 - last % 32) | (u64)limb[i] >> last % 32;
    bool half = last > 0 && (limb[(last - 1) / 32] >> (last - 1) % 32 & 1);
    bool rest = last > 1 && (limb[(last - 1) / 32] & ((1ll << (last - 1) % 32) - 1)) != 0;
    for (int i = (last - 1) / 32 - 1; i >= 0 && !rest; i--)
        rest = limb[i] != 0;
    if (to_odd)
        mantissa |= half || rest;
    else
        mantissa += half && (rest || (mantissa & 1));
    const int scale = last - 1074, some = scale / 2; // twice, since 2^-1074 and 2^1044 are no normal numbers; the result is one that f64 has
    double x = (double)mantissa * __longlong_as_double((i64)(some + 1023) << 52) * __longlong_as_double((i64)(scale - some + 1023) << 52);
    return negative ? -x : x;
}

// The output of an accumulator's parts, rounded once: a mean after the division.
const bool NARROWER = OUT == T_F16 || OUT == T_BF16 || OUT == T_F32 || OUT == 14;
__device__ double rounded(i64 *limb, i64 flags, i64 count) {
    const bool mean = OPERATION == OP_MEAN;
    return rounded(limb, flags, NARROWER && !mean) / (mean ? (double)count : 1);
}
__device__ result exact_result(double re, double im) {
#if IN >= 14 && MAP != 1
    pair<double> whole = {re, im};
    return put(whole);
#elif IN >= 14
    return put(re);
#else
    return store_as<OUT>(re);
#endif
}

// By lanes 0 and 1, a part each, of a warp.
__device__ void put_rounded(result *to, i64 (*limbs)[LIMBS], const int *flags, i64 count) {
    const int lane = threadIdx.x % 32;
    double part = 0;
    if (lane < PARTS)
        part = rounded(limbs[lane], flags[lane], count);
    const double im = __shfl_sync(0xffffffffu, part, 1);
    if (lane == 0)
        *to = exact_result(part, im);
}
#endif
