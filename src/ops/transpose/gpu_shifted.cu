// SPDX-License-Identifier: Apache-2.0
// gpu_shifted.cu - production, any pitch: words shifted into place in registers, each row of `out` written from the start of a sector.
//
// Rows of odd length begin anywhere. What that costs is not the reads, where a piece of 256 bytes touches 9 sectors instead of 8, but the sectors that
// two blocks write one half of: the memory reads them before it writes. So the tile of a block is not a rectangle: each row of `out` begins at the
// boundary of 32 bytes below the tile's first element, and ends where the next block begins. MARGIN more rows of `in` are read for that; they are the
// neighbour's, who runs at the same time, and come from L2.
//
// Elements of 8 bytes go one by one (gpu_shifted_vectors.cu has smaller ones). Row p of the tile in shared memory has an odd pitch, which keeps
// both accesses free of conflicts.
//
// P x Q, the tile: -DP, -DQ; -DTHREADS a block, -DBLOCKS a multiprocessor at least, so few that the compiler leaves all of a thread's EACH elements on their
// way. Tiles at the matrix's ends take a path with tests.
#include "ops/transpose/gpu_plane.cuh"

enum { MARGIN = 32 / SIZE, ROWS = Q + MARGIN, PITCH = ROWS + 1, WARPS = THREADS / 32, EACH = P * ROWS / THREADS };
static_assert(P * ROWS % THREADS == 0 && P % WARPS == 0, "whole turns");

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) shifted(const element *in, element *out, const plane m) {
    extern __shared__ element tile[]; // [P][PITCH]
    place at = tile_of_block<P, Q, MARGIN - 1>(m);
    const element *from = in + at.in + (at.q - MARGIN) * m.q_in + at.p;
    element *to = out + at.out + at.p * m.p_out + at.q;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int p_left = m.p_size - at.p < P ? (int)(m.p_size - at.p) : P;
    if (p_left == P && at.q >= MARGIN && at.q + Q <= m.q_size) {
        element x[EACH];
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            int n = threadIdx.x + k * THREADS;
            x[k] = from[n / P * m.q_in + n % P];
        }
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            int n = threadIdx.x + k * THREADS;
            tile[n % P * PITCH + n / P] = x[k];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < P / WARPS; i++) {
            int p = warp + i * WARPS;
            element *row = to + p * m.p_out;
            int back = (int)((unsigned long long)row & 31) / SIZE;
#pragma unroll
            for (int q = lane; q < Q; q += 32)
                row[q - back] = tile[p * PITCH + MARGIN - back + q];
        }
        return;
    }
    for (int n = threadIdx.x; n < P * ROWS; n += THREADS) {
        int p = n % P, q = n / P;
        if (p < p_left && at.q - MARGIN + q >= 0 && at.q - MARGIN + q < m.q_size)
            tile[p * PITCH + q] = from[q * m.q_in + p];
    }
    __syncthreads();
    for (int p = warp; p < p_left; p += WARPS) {
        element *row = to + p * m.p_out;
        int back = (int)((unsigned long long)row & 31) / SIZE;
        for (int q = lane - back; q < Q - back; q += 32)
            if (at.q + q >= 0 && at.q + q < m.q_size)
                row[q] = tile[p * PITCH + MARGIN + q];
    }
}
