// SPDX-License-Identifier: Apache-2.0
// gpu_exact.cuh - what the kernels of exact sums share: numbers as doubles, long accumulators that take any of them, and their rounding.
//
// A long accumulator is a fixed-point number: bit 0 of limb 0 is 2^-1074, 70 limbs of 32 bits are kept in 64 (superaccumulator.h). Numbers go to digits before, 32-bit words in shared memory
// of which each is worth 2^16 times the one before: an addition is four or five atomic ones of 16 bits and a sign, which wait for nothing, and 2^15 of them fit. A warp has COPIES
// of each digit side by side, so that lanes seldom meet. Two digits make a limb. All of this is exact in any order, and is rounded once: so the bits are the CPU's.
//
// 64-bit integers are two halves, complex numbers two sums.
#ifndef TESS_REDUCE_EXACT_CUH
#define TESS_REDUCE_EXACT_CUH
#if IN >= 14
#include "ops/reduce/gpu_complex.cuh"
#else
#include "ops/reduce/gpu_node.cuh"
#endif

enum { LIMBS = 70, WORDS = LIMBS + 2, PARTS = ACC == 15 ? 2 : 1, HALVES = IN == T_U64 || IN == T_I64 ? 2 : 1 };
enum { IS_NAN = 1, PLUS = 2, MINUS = 4 };
enum { GREAT = 2022 }; // the exponent field of numbers just below 2^1000
const bool MODULI = IN >= 14 && MAP == 1, WIDE = IN == T_F64 || IN == 15 || MODULI;

template <int THREADS, typename T> __device__ T sum_of_group(T x) {
#pragma unroll
    for (int across = THREADS / 2; across > 0; across /= 2)
        x += __shfl_xor_sync(ALL, x, across);
    return x;
}

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

// Adds a finite number to digits that lie COPIES words apart; SHORT: it has at most 32 bits and is normal.
template <int COPIES, bool SHORT = false> __device__ __forceinline__ void add(int *digits, double x) {
    enum { PIECES = SHORT ? 3 : 5, DROPPED = SHORT ? 21 : 0 };
    const u64 bits = (u64)__double_as_longlong(x);
    const int exponent = (int)(bits >> 52 & 0x7ff), at = exponent - (SHORT || exponent > 0) + DROPPED, shift = at & 15,
              sign = (int)((i64)bits >> 63) | 1;
    const u64 mantissa = ((bits & 0xfffffffffffffull) | (u64)(SHORT || exponent > 0) << 52) >> DROPPED, low = mantissa << shift;
    int *to = digits + (at >> 4) * COPIES;
    atomicAdd(to, (int)((unsigned)low & 0xffff) * sign);
    atomicAdd(to + COPIES, (int)((unsigned)low >> 16) * sign);
    atomicAdd(to + 2 * COPIES, (int)((unsigned)(low >> 32) & 0xffff) * sign);
    if (!SHORT) {
        const int high = (int)(mantissa >> 48) >> (16 - shift);
        atomicAdd(to + 3 * COPIES, (int)(low >> 48) * sign);
        if (high)
            atomicAdd(to + 4 * COPIES, high * sign);
    }
}

// A warp's limbs after one step of carries: 0 .. 2^32 - 1 and less than 2^31 more or less; the last keeps the sign.
__device__ void carry_once(i64 *limbs) {
    enum { TURNS = (LIMBS + 31) / 32 };
    i64 mine[TURNS], below[TURNS];
#pragma unroll
    for (int turn = 0; turn < TURNS; turn++) {
        const int i = turn * 32 + threadIdx.x % 32;
        mine[turn] = i < LIMBS ? limbs[i] : 0;
        below[turn] = i > 0 && i < LIMBS ? limbs[i - 1] : 0;
    }
    __syncwarp();
#pragma unroll
    for (int turn = 0; turn < TURNS; turn++) {
        const int i = turn * 32 + threadIdx.x % 32;
        if (i < LIMBS)
            limbs[i] = (i < LIMBS - 1 ? mine[turn] & 0xffffffff : mine[turn]) + (below[turn] >> 32);
    }
    __syncwarp();
}

// Limbs `from` to `last` - 1 become 0 .. 2^32 - 1; limb `last` keeps the sign.
__device__ void carry(i64 *limbs, int from, int last) {
    i64 over = 0;
    for (int i = from; i < last; i++) {
        over += limbs[i];
        limbs[i] = over & 0xffffffff;
        over >>= 32;
    }
    limbs[last] += over;
}

// superaccumulator.c's round_part; limbs before `from` and behind `last` are 0, and there is room for the sign in `last`.
__device__ double rounded(i64 *limb, int from, int last, i64 flags, bool to_odd) {
    const double infinity = __longlong_as_double(0x7ff0000000000000ll);
    if (flags & IS_NAN || (flags & PLUS && flags & MINUS))
        return __longlong_as_double(0x7ff8000000000000ll);
    if (flags)
        return flags & MINUS ? -infinity : infinity;
    carry(limb, from, last);
    bool negative = limb[last] < 0;
    if (negative) {
        for (int i = from; i <= last; i++)
            limb[i] = -limb[i];
        carry(limb, from, last);
    }
    int high = last;
    while (high > from && limb[high] == 0)
        high--;
    if (limb[high] == 0)
        return 0;
    const int top = 32 * high + 31 - __clz((int)limb[high]), least = top > 52 ? top - 52 : 0;
    u64 mantissa = 0;
    for (int i = high; i >= least / 32; i--)
        mantissa = i * 32 >= least ? mantissa << 32 | (u64)limb[i] : mantissa << (32 - least % 32) | (u64)limb[i] >> least % 32;
    bool half = least > 0 && (limb[(least - 1) / 32] >> (least - 1) % 32 & 1);
    bool rest = least > 1 && (limb[(least - 1) / 32] & ((1ll << (least - 1) % 32) - 1)) != 0;
    for (int i = (least - 1) / 32 - 1; i >= from && !rest; i--)
        rest = limb[i] != 0;
    if (to_odd)
        mantissa |= half || rest;
    else
        mantissa += half && (rest || (mantissa & 1));
    const int scale = least - 1074, some = scale / 2; // twice, since 2^-1074 and 2^1044 are no normal numbers; the result is one that f64 has
    double x = (double)mantissa * __longlong_as_double((i64)(some + 1023) << 52) * __longlong_as_double((i64)(scale - some + 1023) << 52);
    return negative ? -x : x;
}

// The output of an accumulator's parts, rounded once: a mean after the division.
const bool NARROWER = OUT == T_F16 || OUT == T_BF16 || OUT == T_F32 || OUT == 14;
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

// By a warp: lanes 0 and 1 round a part each, of which few limbs are not 0 but where numbers are of any magnitude.
__device__ void put_rounded(result *to, i64 (*limbs)[LIMBS], const int *flags, i64 count) {
    const int lane = threadIdx.x % 32;
    const bool mean = OPERATION == OP_MEAN;
    int from = 0, last = 0;
    double part = 0;
    __syncwarp();
#pragma unroll
    for (int which = 0; which < PARTS; which++) {
        int first = LIMBS, end = 0;
#pragma unroll
        for (int base = 0; base < LIMBS; base += 32) {
            const unsigned some = __ballot_sync(ALL, base + lane < LIMBS && limbs[which][base + lane < LIMBS ? base + lane : 0] != 0);
            first = some && first == LIMBS ? base + __ffs(some) - 1 : first;
            end = some ? base + 31 - __clz(some) : end;
        }
        if (lane == which) {
            from = first < end ? first : end;
            last = end + 2 < LIMBS ? end + 2 : LIMBS - 1; // a limb has 63 bits
        }
    }
    if (lane < PARTS)
        part = rounded(limbs[lane], from, last, flags[lane], NARROWER && !mean) / (mean ? (double)count : 1);
    __syncwarp();
    const double im = __shfl_sync(ALL, part, 1);
    if (lane == 0)
        *to = exact_result(part, im);
}
#endif
