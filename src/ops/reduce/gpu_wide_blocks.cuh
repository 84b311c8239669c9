// SPDX-License-Identifier: Apache-2.0
// gpu_wide_blocks.cuh - what a block of 16 bytes comes to, of elements of four bytes.
//
//     EXTREME, ARG of f32          the float's own instruction; of places a zero is +0, so that floats that are equal have the same bits
//     EXTREME, ARG of integers     keys
//     COUNT                        zeros, and above them NaNs that are left out
//
// Below `OF_BLOCK`; gpu_small_blocks.cuh has the same names.
#ifndef TESS_REDUCE_WIDE_BLOCKS_CUH
#define TESS_REDUCE_WIDE_BLOCKS_CUH
#include "ops/reduce/gpu_any_order.cuh"
#if IN == T_F32
#include "ops/reduce/gpu_packed.cuh"
#endif

// What a block's elements come to; m better than that: n = m.
#if KIND == COUNT
typedef unsigned block_held;
__device__ void join_blocks(block_held &n, block_held m) { n += m; }
#elif IN == T_F32
typedef unsigned block_held; // a float
__device__ void join_blocks(block_held &n, block_held m) { keep_best(n, m); }
#else
typedef key_type block_held;
__device__ void join_blocks(block_held &n, block_held m) { n = m > n ? m : n; }
#endif

// The same with what a place wants: the first block that has it. Blocks come in their order.
#if KIND == ARG
struct alignas(8) held {
    block_held best;
    int block;
};
__device__ held at_block(block_held best, int block) { return {best, block}; }
__device__ void join(held &mine, const held &other) {
    const block_held before = mine.best;
    join_blocks(mine.best, other.best);
    mine.block = mine.best != before ? other.block : mine.block;
}
#else
typedef block_held held;
__device__ held at_block(block_held best, int) { return best; }
__device__ void join(held &mine, held other) { join_blocks(mine, other); }
#endif
typedef held eight_held;

// Of an element; nothing: of one that is not there.
__device__ __forceinline__ block_held held_of(element e) {
#if KIND == COUNT
    return (e == 0) + (OMIT && is_nan(e) ? 1u << 16 : 0);
#elif IN == T_F32
    return MAGNITUDE ? bits_of(e) & ~NEGATIVE : bits_of(e);
#else
    return key_of(e);
#endif
}
#if KIND == COUNT
const block_held NONE_HELD = 0;
#elif IN == T_F32
const block_held NONE_HELD = OMIT ? ~NEGATIVE : SMALLEST ? INFINITE : MAGNITUDE ? 0 : INFINITE | NEGATIVE;
#else
const block_held NONE_HELD = LOWEST;
#endif

// Those of a block's elements from number `from` on, before number `to`; those before number `to`; all of them.
__device__ __forceinline__ block_held part_of(const words<16> &v, int from, int to) {
    const run_vector &elements = *(const run_vector *)&v;
    block_held all = 0;
#pragma unroll
    for (int i = 0; i < OF_BLOCK; i++) {
        const block_held one = i >= from && i < to ? held_of(elements.part[i]) : NONE_HELD;
        if (i == 0)
            all = one;
        else
            join_blocks(all, one);
    }
    return KIND == ARG && IN == T_F32 ? __float_as_uint(__uint_as_float(all) + 0.f) : all;
}
__device__ __forceinline__ block_held start_of(const words<16> &v, int to) { return part_of(v, 0, to); }
__device__ __forceinline__ block_held all_of(const words<16> &v) { return part_of(v, 0, OF_BLOCK); }

#if KIND == ARG
// The first element of a block, of those from number `from` on, that is `best`.
__device__ __forceinline__ int place_in(const words<16> &v, int from, block_held best) {
    const run_vector &elements = *(const run_vector *)&v;
    int place = 0;
#pragma unroll
    for (int i = OF_BLOCK - 1; i >= 0; i--) {
        const element e = elements.part[i];
#if IN == T_F32
        const float wanted = __uint_as_float(best);
        const bool same = e == wanted || (!OMIT && e != e && wanted != wanted);
#else
        const bool same = key_of(e) == best;
#endif
        place = same && i >= from ? i : place;
    }
    return place;
}
#endif

// Elements number `begin` to `end` of a tile, which came to `whole`; the first one's block, and its number there.
__device__ __forceinline__ node node_of(unsigned tile, const held &whole, int begin, int end, int first, int from) {
    node n = nothing();
#if KIND == COUNT
    n.zeros = whole & 0xffff;
#if COUNTED
    n.count = end - begin - (int)(whole >> 16);
#endif
#elif KIND == EXTREME && IN == T_F32
    take(n, __uint_as_float(whole), 0);
#elif KIND == EXTREME
    n.key = whole;
#else
#if IN == T_F32
    n.key = key_of(__uint_as_float(whole.best));
#else
    n.key = whole.best;
#endif
    if (!(float_in && OMIT && n.key == LOWEST)) // there is more than NaNs
        n.index = (number)(whole.block * OF_BLOCK + place_in(block_at(tile, whole.block), whole.block == first ? from : 0, whole.best) - begin);
#endif
    return n;
}
#endif
