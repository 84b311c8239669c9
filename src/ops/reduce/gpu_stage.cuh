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

__device__ int spot(int byte) { return PAD ? byte + (byte >> 7 << 4) : byte; }

__device__ void copy(char *tile, const char *from, int at) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(tile + spot(at))), "l"(from + at) : "memory");
}

__device__ void put(char *tile, const char *from, int at, bool there) {
    element e = {};
    if (there)
        e = *(const element *)(from + at);
    *(element *)(tile + spot(at)) = e;
}

// A part's rows, where they lie within 16 bytes; the first one's place.
__device__ int stage(char *tile, const part &c, int k) {
    enum { SIZE = (int)sizeof(element) };
    const int lane = threadIdx.x % 32, before = (int)((u64)c.from & 15), all = before + c.here * k * SIZE;
    const char *from = (const char *)c.from - before;
#pragma unroll
    for (int u = 0; u <= VECTORS; u++) {
        const int at = (u * 32 + lane) * 16;
        if (at >= before && at + 16 <= all)
            copy(tile, from, at);
    }
    // The vectors that are not whole.
    if (before)
        for (int at = (FILLED_WORDS ? 0 : before) + lane * SIZE; at < 16 && (FILLED_WORDS || at < all); at += 32 * SIZE)
            put(tile, from, at, at >= before && at < all);
    if (all % 16 && (all > 16 || !before))
        for (int at = all / 16 * 16 + lane * SIZE; at < (FILLED_WORDS ? (all + 15) / 16 * 16 : all); at += 32 * SIZE)
            put(tile, from, at, at < all);
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory");
    __syncwarp();
    return before;
}
#endif
