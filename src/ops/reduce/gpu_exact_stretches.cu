// SPDX-License-Identifier: Apache-2.0
// gpu_exact_stretches.cu - exact sums of short segments that follow one another: a warp copies a stretch of whole ones to shared memory, as gpu_tree_stretches.cu has it, and a
// few threads find a segment's (gpu_exact_lengths.cuh).
//
// A segment longer than TILE goes by pieces that the host has listed, as gpu_long_segments.cuh has it of leaves, a warp each with a long accumulator;
// `finish`, a block a segment, merges those of the segments of more pieces than one.
#include "ops/reduce/gpu_exact_lengths.cuh"
#include "ops/reduce/gpu_exact_pieces.cuh"
#include "ops/reduce/gpu_exact_strip.cuh"

struct segments {
    i64 outputs, units;                               // stretches of an output
    i64 out_step;                                     // out from one segment to the next
    i64 piece;                                        // elements of a piece of a long segment
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1]; // the kept axes, slowest first
};

extern "C" __global__ void __launch_bounds__(32 * WARPS, AT_LEAST)
    exact_stretches(const element *in, result *out, const i64 *offsets, const i64 *cuts, const segments p) {
    __shared__ words<16> tiles[WARPS][ROOM / 16];
    __shared__ i64 limbs[WARPS][PARTS][LIMBS];
    __shared__ int flags[WARPS][PARTS];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    i64 unit = (i64)blockIdx.x * WARPS + warp, output = 0, at_in, at_out;
    if (unit >= p.outputs * p.units)
        return;
    if (KEPT > 0) {
        output = unit / p.units;
        unit %= p.units;
    }
    cuts += 2 * unit; // all four words are asked for at once
    const i64 origin = cuts[0], marked = cuts[1], segment = marked >> 1;
    const int n = (int)(cuts[2] - origin), count = (int)((cuts[3] >> 1) - segment);
    if (marked & 1 || (n | count) < 0) // a segment that long_pieces takes; n and count are none, but the compiler puts off no load so
        return;
    place_of(p, output, at_in, at_out);
    char *tile = (char *)tiles[warp];
    offsets += segment;
    int later = (int)(offsets[lane < count ? lane : count] - origin);
    here h = {tile, 0, out + at_out + segment * p.out_step, p.out_step, limbs[warp], flags[warp]};
    h.tile += stage(tile, part{in + at_in + origin, 0, n}, 1);
    for (int base = 0; base < count; base += 32, h.out += 32 * p.out_step) {
        const int begin = later, ahead = base + 32 + lane;
        if (base + 32 <= count)
            later = (int)(offsets[ahead < count ? ahead : count] - origin);
        const int next = __shfl_down_sync(ALL, begin, 1), after = __shfl_sync(ALL, later, 0), end = lane < 31 ? next : after;
        const int k = base + lane < count ? end - begin : -1;
        put_by_length(h, begin, k);
    }
}

// `longs` has two words for each piece: its first element; 65536 times its segment plus its elements.
extern "C" __global__ void __launch_bounds__(32 * WARPS, PIECES_AT_LEAST)
    long_pieces(const element *in, result *out, const i64 *offsets, i64 *partial, const i64 *longs, i64 count, const segments p) {
    __shared__ sums all[WARPS];
    sums &mine = all[threadIdx.x / 32];
    const i64 unit = (i64)blockIdx.x * WARPS + threadIdx.x / 32;
    i64 output = 0, number = unit, counted = 0, at_in, at_out;
    if (unit >= p.outputs * count)
        return;
    if (KEPT > 0) {
        output = unit / count;
        number = unit % count;
    }
    place_of(p, output, at_in, at_out);
    const i64 segment = longs[2 * number + 1] >> 16, k = longs[2 * number + 1] & 0xffff;
    clear(mine);
    take<true>(neighbours{{0, 0}, {1, 0}}, in + at_in + longs[2 * number], 0, STRIP, k, mine, counted);
    counted = sum_of_group<32>(counted);
    if (offsets[segment + 1] - offsets[segment] <= p.piece)
        put_rounded(out + at_out + segment * p.out_step, mine.limbs, mine.flags, counted);
    else
        put_piece(partial + unit * PLACES, mine.limbs, mine.flags, counted);
}

// `tops` has three words for each segment of several pieces: the segment, its first piece's number, how many there are.
extern "C" __global__ void __launch_bounds__(AT_ONCE *PLACES, 1)
    finish(result *out, const i64 *, const i64 *partial, const i64 *tops, i64 count, i64 pieces, const segments p) {
    const i64 output = KEPT > 0 ? blockIdx.x / count : 0, *top = tops + 3 * (blockIdx.x - output * count);
    i64 at_in, at_out;
    place_of(p, output, at_in, at_out);
    put_pieces(out + at_out + top[0] * p.out_step, partial + (output * pieces + top[1]) * PLACES, top[2]);
}
