// SPDX-License-Identifier: Apache-2.0
// gpu_exact_segments.cu - exact sums of segments: a warp a piece of a segment, with an accumulator of its own.
//
// A segment of one piece is rounded where it was added. The others' accumulators go to the workspace, pieces of a segment side by side (gpu_segment.cuh), and
// `finish`, a block for each chunk in which a second piece begins, merges and rounds them.
#include "ops/reduce/gpu_exact_pieces.cuh"
#include "ops/reduce/gpu_exact_strip.cuh"
#include "ops/reduce/gpu_segment.cuh"

struct segments {
    i64 outputs, units, chunks, piece; // warps an output, of which the first have the chunks but the first; elements of a piece
    i64 segments, begin;               // the first offset
    i64 out_step;                      // out from one segment to the next
    i64 turned;                        // neighbouring warps have neighbouring outputs, not segments
    i64 size[RANK + 1], step[RANK + 1];
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1]; // the kept axes, slowest first
};

extern "C" __global__ void __launch_bounds__(32 * WARPS, AT_LEAST)
    exact_segments(const element *in, result *out, const i64 *offsets, i64 *partial, const segments p) {
    __shared__ sums all[WARPS];
    const i64 number = (i64)blockIdx.x * WARPS + threadIdx.x / 32;
    sums &mine = all[threadIdx.x / 32];
    if (number >= p.outputs * p.units)
        return;
    i64 output = p.turned ? number % p.outputs : number / p.units, unit = p.turned ? number / p.outputs : number % p.units, at_in, at_out;
    i64 segment = unit - (p.chunks - 1), piece = 0, count = 0;
    if (segment < 0)
        piece = piece_in(p, offsets, unit + 1, p.piece, segment);
    if (piece < 0)
        return;
    place_of(p, output, at_in, at_out);
    const i64 begin = offsets[segment] + piece * p.piece, left = offsets[segment + 1] - begin;
    clear(mine);
    take<RUN>(p, in + at_in + begin * p.step[0], 0, STRIP, left < p.piece ? left : p.piece, mine, count);
    count = sum_of_group<32>(count);
    if (piece == 0 && left <= p.piece)
        put_rounded(out + at_out + segment * p.out_step, mine.limbs, mine.flags, count);
    else
        put_piece(partial + (output * (p.chunks + p.segments) + (begin - p.begin) / p.piece + segment) * PLACES, mine.limbs, mine.flags, count);
}

extern "C" __global__ void __launch_bounds__(AT_ONCE *PLACES, 1) finish(result *out, const i64 *offsets, const i64 *partial, const segments p) {
    const i64 output = blockIdx.x / (p.chunks - 1), chunk = blockIdx.x % (p.chunks - 1) + 1;
    i64 segment, at_in, at_out;
    if (piece_in(p, offsets, chunk, p.piece, segment) != 1)
        return;
    place_of(p, output, at_in, at_out);
    const i64 first = output * (p.chunks + p.segments) + chunk - 1 + segment; // piece
    put_pieces(out + at_out + segment * p.out_step, partial + first * PLACES, (offsets[segment + 1] - offsets[segment] + p.piece - 1) / p.piece);
}
