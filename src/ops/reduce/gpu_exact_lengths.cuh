// SPDX-License-Identifier: Apache-2.0
// gpu_exact_lengths.cuh - the exact sums of 32 short segments in shared memory, by groups (gpu_exact_group.cuh) as large as their lengths want them.
//
// -DONE, -DONE_LANES, -DSOME, -DFEW_LANES: ONE_LANES threads take a segment of up to ONE elements, FEW_LANES one of up to SOME, the warp one that is longer.
#ifndef TESS_REDUCE_EXACT_LENGTHS_CUH
#define TESS_REDUCE_EXACT_LENGTHS_CUH
#include "ops/reduce/gpu_exact_group.cuh"

// What a warp has of its stretch: outputs begin at `out`.
struct here {
    const char *tile;
    int before; // bytes of the tile
    result *out;
    i64 out_step;
    i64 (*limbs)[LIMBS];
    int *flags;
};

// Those of 32 segments that are set in `rest`; a lane has where one begins and how many elements it has.
template <typename WAY> __device__ __forceinline__ void put_some(unsigned rest, const here &h, int begin, int k) {
    enum { THREADS = WAY::THREADS };
    while (rest) {
        unsigned mine = THREADS == 1 ? rest & 1u << threadIdx.x % 32 : rest;
        if (THREADS == 1)
            rest = 0;
#pragma unroll
        for (int group = 0; THREADS > 1 && group < 32 / THREADS; group++) {
            mine = group < (int)(threadIdx.x % 32 / THREADS) ? mine & (mine - 1) : mine;
            rest &= rest - 1;
        }
        const int whose = mine ? __ffs(mine) - 1 : 0, first = __shfl_sync(ALL, begin, whose), its = __shfl_sync(ALL, k, whose), n = mine ? its : 0;
        const int turns = (__reduce_max_sync(ALL, n) + THREADS - 1) / THREADS;
        put_groups<WAY>(spread{h.tile, h.before + first * (int)sizeof(element), n, turns}, mine != 0, h.limbs, h.flags, h.out + whose * h.out_step);
    }
}

// All 32, each by the way of its length; k = -1: there is none.
__device__ __forceinline__ void put_by_length(const here &h, int begin, int k) {
    put_some<way<ONE_LANES, ONE / ONE_LANES, 0>>(__ballot_sync(ALL, k >= 0 && k <= ONE), h, begin, k);
    put_some<way<FEW_LANES, SOME / FEW_LANES, 0>>(__ballot_sync(ALL, k > ONE && k <= SOME), h, begin, k);
    put_some<way<32, 0, 0>>(__ballot_sync(ALL, k > SOME), h, begin, k);
}
#endif
