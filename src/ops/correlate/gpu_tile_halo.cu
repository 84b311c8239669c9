// SPDX-License-Identifier: Apache-2.0
// gpu_tile_halo.cu - rungs 4 and 5, `tile_halo` (-DSHIFT=0) and `tile_shift` (-DSHIFT=1): the input of a block's outputs in shared memory.
//
// `constant` still loaded each input element once for every output that it meets: BLOCK * width loads a block. Here the block loads its BLOCK + width - 1
// elements once, meets at a barrier, and takes the taps from shared memory, where 32 neighbours lie in 32 banks. `tile_halo` brings the tile in three pieces: the
// left halo by the last threads, the core by all, the right halo by the first. `tile_shift` starts width / 2 to the left, so that there are two pieces
// and one index: the same loads. The halos need width - 1 <= BLOCK.
#include "ops/correlate/gpu_ladder.cuh"

extern "C" {
__constant__ float M[MOST];
}

extern "C" __global__ void tile_halo(const float *N, float *P, const line p) {
    __shared__ float tile[BLOCK + MOST];
    int t = threadIdx.x;
    i64 first = blockIdx.x * (i64)BLOCK, i = first + t;
#if SHIFT
    i64 start = first - p.before;
    tile[t] = cell(N, p, start + t);
    if (t < p.width - 1)
        tile[BLOCK + t] = cell(N, p, start + BLOCK + t);
#else
    int after = p.width - 1 - p.before;
    if (t >= BLOCK - p.before)
        tile[t - (BLOCK - p.before)] = cell(N, p, i - BLOCK);
    tile[p.before + t] = cell(N, p, i);
    if (t < after)
        tile[p.before + BLOCK + t] = cell(N, p, i + BLOCK);
#endif
    __syncthreads();
    if (i >= p.m)
        return;
    float sum = 0;
    for (int j = 0; j < p.width; j++)
        sum = fmaf(tile[t + j], M[j], sum);
    put(P, i, sum);
}
