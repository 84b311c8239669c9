// SPDX-License-Identifier: Apache-2.0
// gpu_exact_segments.cu - exact sums of segments: a warp a piece of a segment, with an accumulator of its own.
//
// A segment of one piece is rounded where it was added. The others' accumulators go to the workspace, pieces of a segment side by side (gpu_segment.cuh), and
// `finish`, a block for each chunk in which a second piece begins, merges and rounds them.
#include "ops/reduce/gpu_exact_pieces.cuh"
#include "ops/reduce/gpu_segment.cuh"

struct segments {
    i64 outputs, units, chunks, piece; // warps an output, of which the first have the chunks but the first; elements of a piece
    i64 segments, begin;               // the first offset
    i64 out_step;                      // out from one segment to the next
    i64 turned;                        // neighbouring warps have neighbouring outputs, not segments
    i64 size[RANK + 1], step[RANK + 1];
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1]; // the kept axes, slowest first
};

extern "C" __global__ void __launch_bounds__(32 * WARPS, 2 / PARTS)
    exact_segments(const element *in, result *out, const i64 *offsets, i64 *partial, const segments p) {
    __shared__ i64 all_limbs[WARPS][PARTS][LIMBS];
    __shared__ int all_flags[WARPS][PARTS];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const i64 number = (i64)blockIdx.x * WARPS + warp;
    i64(*limbs)[LIMBS] = all_limbs[warp];
    int *flags = all_flags[warp];
    if (number >= p.outputs * p.units)
        return;
    i64 output = p.turned ? number % p.outputs : number / p.units, unit = p.turned ? number / p.outputs : number % p.units, at_in, at_out;
    i64 segment = unit - (p.chunks - 1), piece = 0, count = 0;
    if (segment < 0)
        piece = piece_in(p, offsets, unit + 1, p.piece, segment);
    if (piece < 0)
        return;
    place_of(p, output, at_in, at_out);
    const i64 begin = offsets[segment] + piece * p.piece, left = offsets[segment + 1] - begin, k = left < p.piece ? left : p.piece;
    for (int i = lane; i < PARTS * LIMBS; i += 32)
        limbs[0][i] = 0;
    if (lane < PARTS)
        flags[lane] = 0;
    __syncwarp();
    for (i64 first = 0; first < k; first += STRIP)
        take_strip(p, in + at_in + begin * p.step[0], first, k, limbs[0], LIMBS, flags, count);
#pragma unroll
    for (int down = 16; down > 0; down /= 2)
        count += __shfl_xor_sync(0xffffffffu, count, down);
    __syncwarp();
    if (piece == 0 && left <= p.piece) {
        put_rounded(out + at_out + segment * p.out_step, limbs, flags, count);
        return;
    }
    if (lane < PARTS)
        carry(limbs[lane]);
    __syncwarp();
    partial += (output * (p.chunks + p.segments) + (begin - p.begin) / p.piece + segment) * PLACES;
    for (int i = lane; i < PLACES; i += 32)
        partial[i] = i % WORDS < LIMBS ? limbs[i / WORDS][i % WORDS] : i % WORDS == LIMBS ? flags[i / WORDS] : count;
}

extern "C" __global__ void __launch_bounds__(AT_ONCE *PLACES) finish(result *out, const i64 *offsets, const i64 *partial, const segments p) {
    const i64 output = blockIdx.x / (p.chunks - 1), chunk = blockIdx.x % (p.chunks - 1) + 1;
    i64 segment, at_in, at_out;
    if (piece_in(p, offsets, chunk, p.piece, segment) != 1)
        return;
    place_of(p, output, at_in, at_out);
    const i64 first = output * (p.chunks + p.segments) + chunk - 1 + segment; // piece
    put_pieces(out + at_out + segment * p.out_step, partial + first * PLACES, (offsets[segment + 1] - offsets[segment] + p.piece - 1) / p.piece);
}
