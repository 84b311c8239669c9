// SPDX-License-Identifier: Apache-2.0
// gpu_exact.cu - exact sums: as many blocks an output as keep a device busy, each merges its warps' accumulators; `finish` merges the blocks' and rounds.
#include "ops/reduce/gpu_exact.cuh"

struct exact {
    i64 k, blocks;                      // elements, and blocks, of an output
    i64 size[RANK + 1], step[RANK + 1]; // the reduced axes, slowest first
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1];
};

extern "C" __global__ void __launch_bounds__(32 * WARPS) exact_blocks(const element *in, i64 *partial, const exact p) {
    __shared__ i64 limbs[PARTS][WARPS][LIMBS];
    __shared__ int flags[PARTS];
    __shared__ u64 counted;
    const int warp = threadIdx.x / 32;
    i64 output = blockIdx.x / p.blocks, block = blockIdx.x % p.blocks, at_in, at_out, count = 0;
    place_of(p, output, at_in, at_out);
    for (int i = threadIdx.x; i < PARTS * WARPS * LIMBS; i += 32 * WARPS)
        (&limbs[0][0][0])[i] = 0;
    if (threadIdx.x < PARTS)
        flags[threadIdx.x] = 0;
    if (threadIdx.x == 0)
        counted = 0;
    __syncthreads();
    const element *from = in + at_in;
    for (i64 first = (block * WARPS + warp) * STRIP; first < p.k; first += p.blocks * WARPS * STRIP)
        take_strip(p, from, first, p.k, limbs[0][warp], WARPS * LIMBS, flags, count);
    atomicAdd(&counted, (u64)count);
    __syncthreads();
    i64 *to = partial + blockIdx.x * (i64)(PARTS * WORDS);
    for (int i = threadIdx.x; i < PARTS * LIMBS; i += 32 * WARPS) {
        i64 sum = 0;
        for (int w = 0; w < WARPS; w++)
            sum += limbs[i / LIMBS][w][i % LIMBS];
        limbs[i / LIMBS][0][i % LIMBS] = sum;
    }
    __syncthreads();
    if (threadIdx.x < PARTS)
        carry(limbs[threadIdx.x][0]);
    __syncthreads();
    for (int i = threadIdx.x; i < PARTS * WORDS; i += 32 * WARPS)
        to[i] = i % WORDS < LIMBS ? limbs[i / WORDS][0][i % WORDS] : i % WORDS == LIMBS ? flags[i / WORDS] : (i64)counted;
}

extern "C" __global__ void __launch_bounds__(128) finish(const i64 *partial, result *out, const exact p) {
    __shared__ i64 limbs[PARTS][WORDS];
    i64 at_in, at_out;
    place_of(p, blockIdx.x, at_in, at_out);
    partial += blockIdx.x * p.blocks * (PARTS * WORDS);
    for (int i = threadIdx.x; i < PARTS * WORDS; i += 128) {
        i64 sum = 0;
        for (i64 b = 0; b < p.blocks; b++)
            sum = i % WORDS == LIMBS ? sum | partial[b * (PARTS * WORDS) + i] : sum + partial[b * (PARTS * WORDS) + i];
        limbs[i / WORDS][i % WORDS] = sum;
    }
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    const i64 count = limbs[0][LIMBS + 1];
    out[at_out] = exact_result(rounded(limbs[0], limbs[0][LIMBS], count), PARTS > 1 ? rounded(limbs[PARTS - 1], limbs[PARTS - 1][LIMBS], count) : 0);
}
