// SPDX-License-Identifier: Apache-2.0
// gpu_small_blocks.cuh - what a block of 16 bytes comes to, of elements of one and two bytes: its words under a mask.
//
// The blocks at a segment's ends are read as vectors, of which signs tell the segment's elements, so it may begin and end anywhere.
//
//     SUM of bytes, 16-bit integers      dp4a with the signs as factors; dp2a with ones
//     COUNT of bytes                     dp4a of the bits that say that a byte is not 0
//     EXTREME, ARG of bytes              as halves of a word (gpu_packed.cuh)
//     EXTREME, ARG of 16-bit integers    both halves at once; before sm_90, which has that, the upper half as it is and the lower one shifted up
//     EXTREME, ARG of f16, bf16          the pair's own instruction; of places the key of what that gave
//
// Below `OF_BLOCK`; gpu_wide_blocks.cuh has the same names.
#ifndef TESS_REDUCE_SMALL_BLOCKS_CUH
#define TESS_REDUCE_SMALL_BLOCKS_CUH
#include "ops/reduce/gpu_packed.cuh"

#define BYTES (IN <= T_I8)
#define SIGNED_SUM (IN == T_I8 || IN == T_I16)
#define PAIRS (BYTES || IN >= T_F16 || __CUDA_ARCH__ >= 900) // a word's halves have one maximum
const unsigned SIGNS = BYTES ? 0x80808080u : 0x80008000u;

// What elements come to: a sum, a count, or the best element as `ordered` has it, of floats as it is, or its key and a half of their range. Of places: the best one above the blocks that are still to come.
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
__device__ held at_block(held best, int block) { return KIND == ARG ? best << 16 | 0xffff - block : best; }

__device__ void join(held &mine, held other) {
#if KIND == SUM || KIND == COUNT
    mine += other;
#elif KIND == EXTREME && IN >= T_F16
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

#if IN >= T_F16
const unsigned NO_BEST = OMIT ? ~NEGATIVE : SMALLEST ? INFINITE : MAGNITUDE ? 0 : INFINITE | NEGATIVE; // two of them
#endif

// What those elements of a block come to whose signs are set; ALL: all of them are.
template <bool ALL_OF = false> __device__ __forceinline__ held held_of(const words<16> &v, const unsigned (&signs)[4]) {
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
        sum = __dp2a_lo((int)(ALL_OF ? x : x & spread(signs[i])), 0x0101, sum);
#else
        sum = __dp2a_lo(ALL_OF ? x : x & spread(signs[i]), 0x0101u, sum);
#endif
    }
    return KIND == COUNT || BYTES ? sum >> 7 : sum;
#else
    unsigned x[4], low[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const unsigned mine = ALL_OF ? ~0u : spread(signs[i]); // the compiler does not look into an instruction that is written out
#if IN >= T_F16
        x[i] = ((MAGNITUDE ? v.word[i] & ~NEGATIVE : v.word[i]) & mine) | (NO_BEST & ~mine);
        low[i] = x[i];
#else
        x[i] = ordered(v.word[i]) & mine;
        low[i] = BYTES ? even_bytes(x[i]) : x[i] << 16;
        x[i] = BYTES ? odd_bytes(x[i]) : x[i];
#endif
    }
#pragma unroll
    for (int i = 1; i < 4; i++) {
#if PAIRS
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
    return x[0] >> BYTE_AT & 0xff;
#elif PAIRS
    keep_best(x[0], x[0] >> 16);
    return KIND == ARG && IN >= T_F16 ? (unsigned)(key_of((element)x[0]) - LOWEST) : x[0] & 0xffff;
#else
    join(x[0], low[0]);
    return x[0] >> 16;
#endif
#endif
}

#if KIND == ARG
// The first element of a block, of those from number `from` on, that is `best`.
__device__ __forceinline__ int place_in(const words<16> &v, int from, unsigned best) {
    const unsigned low = ~SIGNS;
#if IN >= T_F16 // zeros of both signs are equal, and so are NaNs
    const key_type key = (key_type)best + LOWEST;
    const unsigned value = value_of(key), same = value * 0x00010001u, mask = value ? ~0u : low;
    const bool nan = !OMIT && key == HIGHEST;
#else
    const unsigned same = best * (BYTES ? 0x01010101u : 0x00010001u);
#endif
    unsigned found = 0, later = 0; // a bit for each element; of bytes, eight and eight
#pragma unroll
    for (int i = 0; i < 4; i++) {
#if IN >= T_F16
        const unsigned x = (v.word[i] & mask) ^ same, equal = (nan ? (v.word[i] & low) + (low - INFINITE) : ~((x & low) + low | x)) & SIGNS;
#else
        const unsigned x = ordered(v.word[i]) ^ same, equal = ~((x & low) + low | x) & SIGNS;
#endif
        if (!BYTES || i < 2)
            found = __dp4a(equal, BYTES ? i ? 0x80402010u : 0x08040201u : 0x02000100u << 2 * i, found);
        else
            later = __dp4a(equal, i > 2 ? 0x80402010u : 0x08040201u, later);
    }
    return __ffs((found >> 7 | later << 1) & ~0u << from) - 1;
}
#endif

// All of a block's elements; those from number `from` on, before number `to`; those before number `to`.
__device__ __forceinline__ held all_of(const words<16> &v) {
    const unsigned signs[4] = {SIGNS, SIGNS, SIGNS, SIGNS};
    return held_of<true>(v, signs);
}
__device__ __forceinline__ held part_of(const words<16> &v, int from, int to) {
    unsigned signs[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        signs[i] = signs_from(from, i) & ~signs_from(to, i);
    return held_of(v, signs);
}
__device__ __forceinline__ held start_of(const words<16> &v, int to) {
    unsigned signs[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        signs[i] = ~signs_from(to, i);
    return held_of(v, signs);
}

// Elements number `begin` to `end` of a tile, which came to `best`; the first one's block, and its number there.
__device__ __forceinline__ node node_of(unsigned tile, held best, int begin, int end, int first, int from) {
    node n = nothing();
#if KIND == SUM
    n.value = (acc)best;
#elif KIND == COUNT
    n.zeros = end - begin - (int)best;
#elif KIND == EXTREME
    take(n, (element)(best ^ (IN >= T_F16 ? 0 : FLIP)), 0);
#else
    const int where = 0xffff - (best & 0xffff);
#if IN >= T_F16
    n.key = (key_type)(best >> 16) + LOWEST;
    if (OMIT && n.key == LOWEST) // NaNs alone
        return n;
#else
    n.key = key_of((element)(best >> 16 ^ FLIP));
#endif
    n.index = (number)(where * OF_BLOCK + place_in(block_at(tile, where), where == first ? from : 0, best >> 16) - begin);
#endif
    return n;
}
#endif
