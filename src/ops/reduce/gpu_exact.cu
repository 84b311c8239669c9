// SPDX-License-Identifier: Apache-2.0
// gpu_exact.cu - exact sums: error-free sums of a warp's strips, then long accumulators, which merge without error in any order.
//
// A warp takes 1024 elements, 32 a lane. With 2^t above them all, sums that start from 1.5 * 2^(t + 11) stay multiples of 2^(t - 41) whatever is added, and
// what an addition drops is found without error (as cpu_exact.c has it, with headroom for the warp's 32 sums too). So one double is the exact sum of
// all that was not dropped; the dropped parts, if there are some, go through the same again, at least 41 bits lower each time. One lane adds the double
// to the warp's long accumulator in shared memory (superaccumulator.h: 70 limbs of 32 bits kept in 64, bit 0 of limb 0 is 2^-1074). A block merges its warps'
// and passes carries on; `finish` merges the blocks' of an output and rounds once. All of it is exact, so the bits are the CPU's.
//
// Numbers of 2^1000 and more, which leave no room for the sums, are added one by one. 64-bit integers are two halves, complex numbers two sums.
#if IN >= 14
#include "ops/reduce/gpu_complex.cuh"
#else
#include "ops/reduce/gpu_node.cuh"
#endif

enum {
    LIMBS = 70,
    WORDS = LIMBS + 2,
    WARPS = 8,
    EACH = 32,
    STRIP = 32 * EACH,
    PARTS = ACC == 15 ? 2 : 1,
    HALVES = IN == T_U64 || IN == T_I64 ? 2 : 1
};
enum { IS_NAN = 1, PLUS = 2, MINUS = 4 };

struct exact {
    i64 k, blocks;                      // elements, and blocks, of an output
    i64 size[RANK + 1], step[RANK + 1]; // the reduced axes, slowest first
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1];
};

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

// The 1024 numbers of a warp, into its accumulator.
__device__ void sum_strip(double (&x)[EACH], i64 *limbs, int *flags) {
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

extern "C" __global__ void __launch_bounds__(32 * WARPS) exact_blocks(const element *in, i64 *partial, const exact p) {
    __shared__ i64 limbs[PARTS][WARPS][LIMBS];
    __shared__ int flags[PARTS];
    __shared__ u64 counted;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    i64 output = blockIdx.x / p.blocks, block = blockIdx.x % p.blocks, at_in, at_out, count = 0;
    place_of(p, output, at_in, at_out);
    for (int i = threadIdx.x; i < PARTS * WARPS * LIMBS; i += 32 * WARPS)
        (&limbs[0][0][0])[i] = 0;
    if (threadIdx.x < PARTS)
        flags[threadIdx.x] = 0;
    if (threadIdx.x == 0)
        counted = 0;
    __syncthreads();
    const element *from = in + at_in;
    for (i64 first = (block * WARPS + warp) * STRIP; first < p.k; first += p.blocks * WARPS * STRIP) {
        element v[EACH];
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            i64 i = first + j * 32 + lane;
            v[j] = from[place(p, i < p.k ? i : 0)];
        }
#pragma unroll 1
        for (int which = 0; which < PARTS * HALVES; which++) {
            double x[EACH];
#pragma unroll
            for (int j = 0; j < EACH; j++) {
                bool counts;
                x[j] = value_of_part(v[j], which, &counts);
                if (first + j * 32 + lane >= p.k)
                    x[j] = 0;
                else if (which == 0)
                    count += counts;
            }
            sum_strip(x, limbs[PARTS > 1 ? which : 0][warp], &flags[PARTS > 1 ? which : 0]);
        }
    }
    atomicAdd(&counted, (u64)count);
    __syncthreads();
    i64 *to = partial + blockIdx.x * (i64)(PARTS * WORDS);
    for (int i = threadIdx.x; i < PARTS * LIMBS; i += 32 * WARPS) {
        i64 sum = 0;
        for (int w = 0; w < WARPS; w++)
            sum += limbs[i / LIMBS][w][i % LIMBS];
        limbs[i / LIMBS][0][i % LIMBS] = sum;
    }
    __syncthreads();
    if (threadIdx.x < PARTS)
        carry(limbs[threadIdx.x][0]);
    __syncthreads();
    for (int i = threadIdx.x; i < PARTS * WORDS; i += 32 * WARPS)
        to[i] = i % WORDS < LIMBS ? limbs[i / WORDS][0][i % WORDS] : i % WORDS == LIMBS ? flags[i / WORDS] : (i64)counted;
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

extern "C" __global__ void __launch_bounds__(128) finish(const i64 *partial, result *out, const exact p) {
    __shared__ i64 limbs[PARTS][WORDS];
    i64 at_in, at_out;
    place_of(p, blockIdx.x, at_in, at_out);
    partial += blockIdx.x * p.blocks * (PARTS * WORDS);
    for (int i = threadIdx.x; i < PARTS * WORDS; i += 128) {
        i64 sum = 0;
        for (i64 b = 0; b < p.blocks; b++)
            sum = i % WORDS == LIMBS ? sum | partial[b * (PARTS * WORDS) + i] : sum + partial[b * (PARTS * WORDS) + i];
        limbs[i / WORDS][i % WORDS] = sum;
    }
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    const bool mean = OPERATION == OP_MEAN, narrower = OUT == T_F16 || OUT == T_BF16 || OUT == T_F32 || OUT == 14;
    const double n = mean ? (double)limbs[0][LIMBS + 1] : 1;
    double re = rounded(limbs[0], limbs[0][LIMBS], narrower && !mean) / n;
#if IN >= 14 && MAP != 1
    pair<double> whole = {re, rounded(limbs[PARTS - 1], limbs[PARTS - 1][LIMBS], narrower && !mean) / n};
    out[at_out] = put(whole);
#elif IN >= 14
    out[at_out] = put(re);
#else
    out[at_out] = store_as<OUT>(re);
#endif
}
