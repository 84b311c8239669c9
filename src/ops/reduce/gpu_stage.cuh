// SPDX-License-Identifier: Apache-2.0
// gpu_stage.cuh - a stretch of short rows that follow one another, in a warp's part of shared memory: copied by vectors of 16 bytes, wherever rows begin.
//
// -DTILE: bytes of a stretch at most, a multiple of 512. -DPAD=1: 16 bytes are left out after each 128, for some lengths of rows would else lie in the same banks.
// -DFILLED_WORDS=1: the words in which a stretch begins and ends are written whole.
#ifndef TESS_REDUCE_STAGE_CUH
#define TESS_REDUCE_STAGE_CUH
#include "ops/reduce/gpu_tree.cuh"

enum { VECTORS = TILE / 512, ROOM = PAD ? TILE / 8 * 9 + 16 : TILE + 16 };

struct rows {
    i64 units, inner, tiles; // stretches in all; rows that follow one another; stretches of those
    i64 out_step;            // out from one of the rows that follow one another to the next
    double ddof;
    int k, stretch; // elements of a row; rows of a stretch
    i64 size[2], step[2];
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1]; // the other kept axes, slowest first
};

struct part {
    const element *from;
    i64 at_out;
    int here; // rows
};

__device__ part part_of(const rows &p, const element *in, i64 unit) {
    i64 at_in = 0, at_out = 0;
#if KEPT > 0
    place_of(p, unit / p.tiles, at_in, at_out);
    unit %= p.tiles;
#endif
    const i64 first = unit * p.stretch;
    return {in + at_in + first * p.k, at_out + first * p.out_step, p.inner - first < p.stretch ? (int)(p.inner - first) : p.stretch};
}

// Where something lies in shared memory. Behind a pointer the compiler made each address anew, from the block's place in its cluster on: seven instructions for one load.
__device__ unsigned in_shared(const void *at) {
    unsigned place = (unsigned)__cvta_generic_to_shared(at);
    asm volatile("" : "+r"(place)::"memory");
    return place;
}
template <typename T> __device__ __forceinline__ T at_shared(unsigned place) { return *(const T *)__cvta_shared_to_generic(place); }

__device__ int spot(int byte) { return PAD ? byte + (byte >> 7 << 4) : byte; }

__device__ void put(char *tile, const char *from, int at, bool there) {
    element e = {};
    if (there)
        e = *(const element *)(from + at);
    *(element *)(tile + spot(at)) = e;
}

// Begins to copy a part's rows, where they lie within 16 bytes; the first one's place. Vectors lie 512 bytes apart on both sides, so both addresses are made once: the compiler
// made them anew for each vector, 165 instructions a stretch in place of 45.
__device__ int begin_stage(char *tile, const part &c, int k) {
    enum { SIZE = (int)sizeof(element), STEP = PAD ? 576 : 512 };
    const int lane = threadIdx.x % 32, before = (int)((u64)c.from & 15), all = before + c.here * k * SIZE;
    const char *from = (const char *)c.from - before, *mine = from + lane * 16;
    unsigned to = (unsigned)__cvta_generic_to_shared(tile) + spot(lane * 16);
    asm volatile("" : "+l"(mine), "+r"(to));
#pragma unroll
    for (int u = 0; u <= VECTORS; u++)
        if ((u > 0 || lane * 16 >= before) && lane * 16 <= all - 16 - u * 512)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + u * STEP), "l"(mine + u * 512) : "memory");
    // The vectors that are not whole.
    const int first = lane * SIZE, last = (all & ~15) + first;
    if (before && first < 16 && (FILLED_WORDS || (first >= before && first < all)))
        put(tile, from, first, first >= before && first < all);
    if (all % 16 && first < 16 && (all > 16 || !before) && (FILLED_WORDS || last < all))
        put(tile, from, last, last < all);
    asm volatile("cp.async.commit_group;" ::: "memory");
    return before;
}
// The rows are there for the warp.
__device__ void end_stage() {
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncwarp();
}
__device__ int stage(char *tile, const part &c, int k) {
    const int before = begin_stage(tile, c, k);
    end_stage();
    return before;
}
#endif
