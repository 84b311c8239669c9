// SPDX-License-Identifier: Apache-2.0
// gpu_blocks.cuh - segments and short rows in shared memory by blocks of 16 bytes, for what no order of operations can change: what each block comes to, and each eight of them, is
// put down once, so a thread has a segment's two ends to look at and few numbers for all that is between them.
//
// Element by element, or word by word, threads wait for the longest of the segments beside theirs, and a warp has few segments of a stretch to share. By blocks nobody waits long, and any segment
// of a stretch is for one thread.
//
// What a block comes to: gpu_small_blocks.cuh of one and two bytes, gpu_wide_blocks.cuh of four. A place is found in the end: the first block with the best element, and
// its first element that is equal.
#ifndef TESS_REDUCE_BLOCKS_CUH
#define TESS_REDUCE_BLOCKS_CUH
#include "ops/reduce/gpu_node.cuh"

enum { BLOCK = 16, OF_BLOCK = BLOCK / (int)sizeof(element), EIGHT = 8, TILE_BLOCKS = TILE / BLOCK + 1 };
__device__ words<16> block_at(unsigned tile, int block) { return at_shared<words<16>>(tile + spot(block * BLOCK)); }

#if IN <= T_I16 || IN == T_F16 || IN == T_BF16
#include "ops/reduce/gpu_small_blocks.cuh"
#else
#include "ops/reduce/gpu_wide_blocks.cuh"
#endif

#if SUMMED
struct summary {
    alignas(16) eight_held eight[TILE_BLOCKS / EIGHT + 1];
    alignas(16) block_held block[TILE_BLOCKS];
};

// What each of `count` blocks of a stretch comes to, and each eight, by the warp.
__device__ __forceinline__ void summarize(summary &of, unsigned tile, int count) {
    for (int block = threadIdx.x % 32; block < count; block += 32)
        of.block[block] = (block_held)all_of(block_at(tile, block));
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

#endif

// Elements number `begin` to `end` of those that a tile's first block begins with, one or more. The longest of the warp's segments lies in `most` blocks.
struct summed {
    unsigned tile; // places
#if SUMMED
    unsigned blocks, eights;
    __device__ __forceinline__ summed(unsigned its_tile, const summary &of)
        : tile(its_tile), blocks(in_shared(of.block)), eights(in_shared(of.eight)) {}
#endif
    __device__ __forceinline__ node between(unsigned begin, unsigned end, int most) const {
        const int first = begin / OF_BLOCK, last = (end - 1) / OF_BLOCK, from = begin % OF_BLOCK, to = end - last * OF_BLOCK,
                  here = last > first ? OF_BLOCK : to;
        held best = at_block(part_of(block_at(tile, first), from, here), first);
#if !SUMMED
#pragma unroll 1
        for (int i = 1; i < most - 1; i++)
            if (first + i < last)
                join(best, at_block(all_of(block_at(tile, first + i)), first + i));
#else
        const unsigned behind_first = blocks + (first + 1) * (int)sizeof(block_held);
        const auto block = [&](unsigned at, int i, int number, int behind) { // i: places behind `at`
            if (number + i < behind)
                join(best, at_block(at_shared<block_held>(at + i * (int)sizeof(block_held)), number + i));
        };
        if (most <= 2 + EIGHT) {
#pragma unroll 1
            for (int i = 0; i < most - 2; i++)
                block(behind_first, i, first + 1, last);
        } else {
            const int up = (unsigned)(first + EIGHT) / EIGHT, down = (unsigned)last / EIGHT, turns = (unsigned)most / EIGHT;
            const int behind = up * EIGHT < last ? up * EIGHT : last;
#pragma unroll
            for (int i = 0; i < EIGHT - 1; i++)
                block(behind_first, i, first + 1, behind);
#pragma unroll 2
            for (int i = 0; i < turns; i++)
                if (up + i < down)
                    join(best, at_shared<eight_held>(eights + (up + i) * (int)sizeof(eight_held)));
            const unsigned rest = blocks + down * EIGHT * (int)sizeof(block_held);
#pragma unroll
            for (int i = 0; i < EIGHT - 1; i++)
                block(rest, i, down * EIGHT, up <= down ? last : 0);
        }
#endif
        if (last > first)
            join(best, at_block(start_of(block_at(tile, last), to), last));
        return node_of(tile, best, begin, end, first, from);
    }
};
#endif
