// SPDX-License-Identifier: Apache-2.0
// gpu_blocks.cuh - segments of small elements in shared memory by blocks of 16 bytes, for what no order of operations can change: what each block comes to, and each eight of them, is
// put down once, so a thread has a segment's two ends to look at and few numbers for all that is between them.
//
// Element by element, or word by word, threads wait for the longest of the segments beside theirs, and a warp has few segments of a stretch to share. By blocks nobody waits long, and any segment
// of a stretch is for one thread. The blocks at its ends are read as vectors, of which signs tell the segment's elements, so it may begin and end anywhere.
//
//     SUM of bytes, 16-bit integers      dp4a with the signs as factors; dp2a with ones
//     COUNT of bytes                     dp4a of the bits that say that a byte is not 0
//     EXTREME, ARG of bytes              as halves of a word (gpu_packed.cuh)
//     EXTREME, ARG of 16-bit integers    a word's upper half as it is, the lower one shifted up: what is below does not decide
//     EXTREME of f16, bf16               the pair's own instruction
//
// A place is found in the end: the first block with the best element, and its first element that is equal.
#ifndef TESS_REDUCE_BLOCKS_CUH
#define TESS_REDUCE_BLOCKS_CUH
#include "ops/reduce/gpu_packed.cuh"

enum { BLOCK = 16, OF_BLOCK = BLOCK / (int)sizeof(element), EIGHT = 8, TILE_BLOCKS = TILE / BLOCK + 1 };
#define BYTES (IN <= T_I8)
#define SIGNED_SUM (IN == T_I8 || IN == T_I16)
const unsigned SIGNS = BYTES ? 0x80808080u : 0x80008000u;

// What elements come to: a sum, a count, or the best element as `ordered` has it, of floats as it is. Of places: the best one above the blocks that are still to come.
#if KIND == SUM && SIGNED_SUM
typedef int held;
#else
typedef unsigned held;
#endif
// As it is put down for a block, without its place.
#if KIND == SUM && !BYTES
typedef held block_held;
#elif KIND == SUM && SIGNED_SUM
typedef short block_held;
#elif KIND == SUM || !BYTES
typedef unsigned short block_held;
#else
typedef unsigned char block_held;
#endif
// Eight sums of bytes fit where one does; places keep theirs.
#if KIND == ARG
typedef held eight_held;
#else
typedef block_held eight_held;
#endif
struct summary {
    block_held block[TILE_BLOCKS];
    eight_held eight[TILE_BLOCKS / EIGHT + 1];
};

__device__ held at_block(held best, int block) { return KIND == ARG ? best << 16 | 0xffff - block : best; }

__device__ void join(held &mine, held other) {
#if KIND == SUM || KIND == COUNT
    mine += other;
#elif IN >= T_F16
    keep_best(mine, other);
#else
    mine = other > mine ? other : mine;
#endif
}

// The signs of those of a block's elements that have number `from` or a later one, 16 bytes of elements or fewer; i: the word.
__device__ unsigned signs_from(int from, int i) {
    return BYTES ? 0x83828180u + 0x04040404u * i - 0x01010101u * from : 0x80018000u + 0x00020002u * i - 0x00010001u * from;
}

// All bits of those elements.
__device__ unsigned spread(unsigned signs) {
    unsigned all;
    asm("prmt.b32 %0, %1, 0, %2;" : "=r"(all) : "r"(signs), "n"(BYTES ? 0xba98 : 0xbb99));
    return all;
}

// What those elements of a block come to whose signs are set.
__device__ __forceinline__ held held_of(const words<16> &v, const unsigned (&signs)[4]) {
#if KIND == SUM || KIND == COUNT
    held sum = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const unsigned x = v.word[i];
#if KIND == COUNT
        sum = __dp4a(nonzero(x) & signs[i], 0x01010101u, sum);
#elif BYTES && SIGNED_SUM
        asm("dp4a.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(x), "r"(signs[i] & SIGNS));
#elif BYTES
        sum = __dp4a(x, signs[i] & SIGNS, sum);
#elif SIGNED_SUM
        sum = __dp2a_lo((int)(x & spread(signs[i])), 0x0101, sum);
#else
        sum = __dp2a_lo(x & spread(signs[i]), 0x0101u, sum);
#endif
    }
    return KIND == COUNT || BYTES ? sum >> 7 : sum;
#else
    unsigned x[4], low[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const unsigned mine = spread(signs[i]);
#if IN >= T_F16
        x[i] = ((MAGNITUDE ? v.word[i] & ~NEGATIVE : v.word[i]) & mine) | (packed_nothing().part[0] & ~mine);
        low[i] = x[i];
#else
        x[i] = ordered(v.word[i]) & mine;
        low[i] = BYTES ? x[i] & 0x00ff00ff : x[i] << 16;
        x[i] = BYTES ? x[i] >> 8 & 0x00ff00ff : x[i];
#endif
    }
#pragma unroll
    for (int i = 1; i < 4; i++) {
#if BYTES || IN >= T_F16
        keep_best(x[0], x[i]);
        if (BYTES)
            keep_best(low[0], low[i]);
#else
        join(x[0], x[i]);
        join(low[0], low[i]);
#endif
    }
#if BYTES
    keep_best(x[0], low[0]);
    keep_best(x[0], x[0] >> 16);
    return x[0] & 0xff;
#elif IN >= T_F16
    keep_best(x[0], x[0] >> 16);
    return x[0] & 0xffff;
#else
    join(x[0], low[0]);
    return x[0] >> 16;
#endif
#endif
}

__device__ words<16> block_at(const char *tile, int block) { return *(const words<16> *)(tile + block * BLOCK); }

// What each of `count` blocks of a stretch comes to, and each eight, by the warp.
__device__ __forceinline__ void summarize(summary &of, const char *tile, int count) {
    const unsigned signs[4] = {SIGNS, SIGNS, SIGNS, SIGNS};
    for (int block = threadIdx.x % 32; block < count; block += 32)
        of.block[block] = (block_held)held_of(block_at(tile, block), signs);
    __syncwarp();
    for (int eight = threadIdx.x % 32; (eight + 1) * EIGHT <= count; eight += 32) {
        held whole = at_block(of.block[eight * EIGHT], eight * EIGHT);
#pragma unroll
        for (int j = 1; j < EIGHT; j++)
            join(whole, at_block(of.block[eight * EIGHT + j], eight * EIGHT + j));
        of.eight[eight] = (eight_held)whole;
    }
    __syncwarp();
}

#if KIND == ARG
// The first element of a block, of those from number `from` on, that is `best`.
__device__ __forceinline__ int place_in(const char *tile, int block, int from, unsigned best) {
    const words<16> v = block_at(tile, block);
    const unsigned same = best * (BYTES ? 0x01010101u : 0x00010001u), low = ~SIGNS;
    unsigned found = 0, later = 0; // a bit for each element; of bytes, eight and eight
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const unsigned x = ordered(v.word[i]) ^ same, equal = ~((x & low) + low | x) & SIGNS;
        if (!BYTES || i < 2)
            found = __dp4a(equal, BYTES ? i ? 0x80402010u : 0x08040201u : 0x02000100u << 2 * i, found);
        else
            later = __dp4a(equal, i > 2 ? 0x80402010u : 0x08040201u, later);
    }
    return __ffs((found >> 7 | later << 1) & ~0u << from) - 1;
}
#endif

// Elements number `begin` to `end` of those that a tile's first block begins with, one or more. The longest of the warp's segments lies in `most` blocks.
__device__ __forceinline__ node by_blocks(const char *tile, const summary &of, unsigned begin, unsigned end, int most) {
    const int first = begin / OF_BLOCK, last = (end - 1) / OF_BLOCK, from = begin % OF_BLOCK, to = end - last * OF_BLOCK,
              here = last > first ? OF_BLOCK : to;
    unsigned signs[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        signs[i] = signs_from(from, i) & ~signs_from(here, i);
    held best = at_block(held_of(block_at(tile, first), signs), first);
    const auto block = [&](int number, int behind) {
        if (number < behind)
            join(best, at_block(of.block[number], number));
    };
    if (most <= 2 + EIGHT) {
#pragma unroll 1
        for (int i = 1; i < most - 1; i++)
            block(first + i, last);
    } else {
        const int up = (unsigned)(first + EIGHT) / EIGHT, down = (unsigned)last / EIGHT, turns = (unsigned)most / EIGHT;
#pragma unroll
        for (int i = 1; i < EIGHT; i++)
            block(first + i, up * EIGHT < last ? up * EIGHT : last);
#pragma unroll 2
        for (int i = 0; i < turns; i++)
            if (up + i < down)
                join(best, of.eight[up + i]);
#pragma unroll
        for (int i = 0; i < EIGHT - 1; i++)
            block(down * EIGHT + i, up <= down ? last : 0);
    }
    if (last > first) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            signs[i] = ~signs_from(to, i);
        join(best, at_block(held_of(block_at(tile, last), signs), last));
    }
    node n = nothing();
#if KIND == SUM
    n.value = (acc)best;
#elif KIND == COUNT
    n.zeros = end - begin - (int)best;
#elif KIND == EXTREME
    take(n, (element)(best ^ (IN >= T_F16 ? 0 : FLIP)), 0);
#else
    const int where = 0xffff - (best & 0xffff);
    n.key = key_of((element)(best >> 16 ^ FLIP));
    n.index = (number)(where * OF_BLOCK + place_in(tile, where, where == first ? from : 0, best >> 16) - begin);
#endif
    return n;
}
#endif
