// SPDX-License-Identifier: Apache-2.0
// gpu_exact_strip.cuh - the exact sum of many numbers by a warp: strips in registers, whose magnitude one look tells, by levels and digits (gpu_exact_levels.cuh), which are the warp's.
#ifndef TESS_REDUCE_EXACT_STRIP_CUH
#define TESS_REDUCE_EXACT_STRIP_CUH
#include "ops/reduce/gpu_exact_levels.cuh"

// What a warp has in shared memory.
struct alignas(16) sums {
    int digits[PARTS][DIGITS * COPIES];
    i64 limbs[PARTS][LIMBS];
    int flags[PARTS];
};

__device__ void clear(sums &s) {
    for (int i = threadIdx.x % 32; i < (int)(sizeof s / 4); i += 32)
        ((int *)&s)[i] = 0;
    __syncwarp();
}

// Digits become limbs.
__device__ void drain(sums &s) {
    enum { VECTORS = COPIES / 4 };
    const int lane = threadIdx.x % 32;
    __syncwarp();
#pragma unroll
    for (int which = 0; which < PARTS; which++)
        for (int limb = lane; limb < DIGITS / 2; limb += 32) {
            int4 *digit = (int4 *)&s.digits[which][2 * limb * COPIES];
            int low = 0, high = 0;
#pragma unroll
            for (int i = 0; i < VECTORS; i++) {
                const int at = (i + lane) % VECTORS; // lanes meet in no bank
                const int4 a = digit[at], b = digit[at + VECTORS];
                low += a.x + a.y + a.z + a.w;
                high += b.x + b.y + b.z + b.w;
                digit[at] = digit[at + VECTORS] = int4{0, 0, 0, 0};
            }
            s.limbs[which][FIRST_DIGIT / 2 + limb] += low + (i64)high * 65536;
        }
    __syncwarp();
}

// A warp's elements number first, first + step, ... of k, STRIP at each of them, into its limbs; `count` of those of the lane that are not left out. ADJACENT: they follow one another.
template <bool ADJACENT, typename P>
__device__ __forceinline__ void take(const P &p, const element *from, i64 first, i64 step, i64 k, sums &s, i64 &count) {
    const int lane = threadIdx.x % 32, copy = lane % COPIES - FIRST_DIGIT * COPIES;
    levels_of_lane levels[PARTS];
    element ahead[EACH];
    int drained = DRAINED;
    const auto load = [&](i64 at) {
        const element *mine = from + at + lane;
        const int here = (int)(k - at < STRIP ? k - at : STRIP) - lane;
        if (ADJACENT && k - at >= STRIP) {
#pragma unroll
            for (int j = 0; j < EACH; j++)
                ahead[j] = mine[j * 32];
            return;
        }
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            ahead[j] = element{};
            if (j * 32 < here)
                ahead[j] = ADJACENT ? mine[j * 32] : from[place(p, at + j * 32 + lane)];
            else if (OMIT)
                count--;
        }
    };
#pragma unroll
    for (int which = 0; which < PARTS; which++) {
        levels[which].field = levels[which].turns = levels[which].aside = 0;
        levels[which].open();
    }
    if (first < k)
        load(first);
    for (; first < k; first += step) {
        double x[PARTS * HALVES][EACH];
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            bool counts;
#pragma unroll
            for (int which = 0; which < PARTS * HALVES; which++)
                x[which][j] = value_of_part(ahead[j], which, &counts);
            if (OMIT)
                count += counts;
        }
        if (!OMIT && lane == 0)
            count += k - first < STRIP ? k - first : STRIP;
        if (first + step < k)
            load(first + step);
#pragma unroll
        for (int which = 0; which < PARTS * HALVES; which++) {
            const int part = PARTS > 1 ? which : 0;
            take_numbers(x[which], levels[part], s.digits[part] + copy, &s.flags[part]);
        }
        if (--drained == 0) {
            drain(s);
            drained = DRAINED;
        }
    }
#pragma unroll
    for (int which = 0; which < PARTS; which++)
        close(levels[which], s.digits[which] + copy);
    drain(s);
}

// The same by a block's warps, whose strips take turns: block number `block` of `blocks`. Then all[0] has all of it, and `counted` how many count.
template <bool ADJACENT, int BLOCK_WARPS, typename P>
__device__ __forceinline__ void take_by_block(const P &p, const element *from, i64 block, i64 blocks, i64 k, sums *all, u64 &counted) {
    const int warp = threadIdx.x / 32;
    i64 count = 0;
    clear(all[warp]);
    if (threadIdx.x == 0)
        counted = 0;
    __syncthreads();
    take<ADJACENT>(p, from, (block * BLOCK_WARPS + warp) * STRIP, blocks * BLOCK_WARPS * STRIP, k, all[warp], count);
    count = sum_of_group<32>(count);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&counted, (u64)count);
    __syncthreads();
    for (int i = threadIdx.x; i < PARTS * LIMBS; i += 32 * BLOCK_WARPS) {
        i64 sum = 0;
#pragma unroll
        for (int w = 0; w < BLOCK_WARPS; w++)
            sum += all[w].limbs[0][i];
        all[0].limbs[0][i] = sum;
    }
    if (threadIdx.x < PARTS) {
        int flags = 0;
        for (int w = 0; w < BLOCK_WARPS; w++)
            flags |= all[w].flags[threadIdx.x];
        all[0].flags[threadIdx.x] = flags;
    }
    __syncthreads();
}
#endif
