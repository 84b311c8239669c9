// SPDX-License-Identifier: Apache-2.0
// gpu_ranked.cuh - segments of a warp in shared memory in the order of their lengths, the longest first, FEW_LANES threads each in turn.
#ifndef TESS_REDUCE_RANKED_CUH
#define TESS_REDUCE_RANKED_CUH
#include "ops/reduce/gpu_stage.cuh"

// Some of 32 segments.
struct ranked {
    enum { AT_ONCE = 32 / FEW_LANES }; // segments side by side
    enum { NUMBER_BITS = 5, BEGIN_BITS = 14, LENGTH_AT = NUMBER_BITS + BEGIN_BITS };
    static_assert(TILE / SIZE < 1 << BEGIN_BITS && SOME < 1 << (32 - LENGTH_AT), "a word holds them");
    unsigned rank;          // a length, a beginning and a segment's number; of those that are not wanted the length is 0
    int k, whose;           // of the one that this thread has
    unsigned tile, segment; // in shared memory: all; the segment of this thread's group
    int first, mine, left;  // the first of those side by side; the group's; its elements from the thread's first one on

    // Those that are `wanted`.
    __device__ __forceinline__ ranked(unsigned all, int its_begin, int its_k, bool wanted) : tile(all) {
        const unsigned lane = threadIdx.x % 32;
        rank = (unsigned)(wanted ? its_k : 0) << LENGTH_AT | (unsigned)its_begin << NUMBER_BITS | lane;
#pragma unroll
        for (int size = 2; size <= 32; size *= 2)
#pragma unroll
            for (int across = size / 2; across > 0; across /= 2) {
                const unsigned other = __shfl_xor_sync(ALL, rank, across), greater = other > rank ? other : rank, less = other > rank ? rank : other;
                rank = ((lane & across) == 0) == (size == 32 || (lane & size) == 0) ? greater : less;
            }
        whose = rank & 31;
        k = rank >> LENGTH_AT;
    }
    // Looks at the next ones. Returns how long the group's is.
    __device__ __forceinline__ unsigned next_length(int next) {
        first = next;
        mine = next + threadIdx.x % 32 / FEW_LANES;
        const unsigned its = __shfl_sync(ALL, rank, mine), length = its >> LENGTH_AT;
        left = (int)length - (int)threadIdx.x % FEW_LANES;
        segment = tile + (its >> NUMBER_BITS & (1 << BEGIN_BITS) - 1) * SIZE;
        return length;
    }
    // The same; returns how long the longest is: by a reduction, of which the compiler knows that it is the same for all threads.
    __device__ __forceinline__ int turn(int next) { return (int)__reduce_max_sync(ALL, next_length(next)); }
};
#endif
