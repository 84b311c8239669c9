// SPDX-License-Identifier: Apache-2.0
// gpu_exact.cu - exact sums: as many blocks an output as keep a device busy, each merges its warps' accumulators; `finish` merges the blocks' and rounds.
//
// -DALONE=1: a block an output, which rounds it.
#include "ops/reduce/gpu_exact_pieces.cuh"
#include "ops/reduce/gpu_exact_strip.cuh"

struct exact {
    i64 k, blocks;                      // elements, and blocks, of an output
    i64 size[RANK + 1], step[RANK + 1]; // the reduced axes, slowest first
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1];
};

#if ALONE
typedef result target;
#else
typedef i64 target;
#endif

extern "C" __global__ void __launch_bounds__(32 * WARPS, AT_LEAST) exact_blocks(const element *in, target *out, const exact p) {
    __shared__ sums all[WARPS];
    __shared__ u64 counted;
    i64 at_in, at_out;
    place_of(p, blockIdx.x / p.blocks, at_in, at_out);
    take_by_block<RUN, WARPS>(p, in + at_in, blockIdx.x % p.blocks, p.blocks, p.k, all, counted);
    if (threadIdx.x >= 32)
        return;
#if ALONE
    put_rounded(out + at_out, all[0].limbs, all[0].flags, (i64)counted);
#else
    put_piece(out + blockIdx.x * (i64)PLACES, all[0].limbs, all[0].flags, (i64)counted);
#endif
}

extern "C" __global__ void __launch_bounds__(AT_ONCE *PLACES, 1) finish(const i64 *partial, result *out, const exact p) {
    i64 at_in, at_out;
    place_of(p, blockIdx.x, at_in, at_out);
    put_pieces(out + at_out, partial + blockIdx.x * p.blocks * PLACES, p.blocks);
}
