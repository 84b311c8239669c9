// SPDX-License-Identifier: Apache-2.0
// gpu_micro.cu - production: squares of 16 bytes x 16 bytes / SIZE rows turned in registers, gathered to whole rows in shared memory.
//
// The tile kernels moved single elements through shared memory. Here everything, on both sides and in shared memory, moves as vectors of 16 bytes,
// V = 16 / SIZE elements: a thread loads V rows of V elements, turns the square in registers (SIZE 4 and 8: only names change; 1 and 2: byte
// permutations), and stores V columns. Row p of the tile in shared memory holds Q / V vectors; vector b of it lies at place b ^ (p / V % 8), so that
// the 8 lanes that are served together always touch all 32 banks: no conflict when columns are stored, none when rows are read.
//
// P x Q, the tile: -DP, -DQ; THREADS a block. P * SIZE = 256: reads in pieces of 256 bytes far apart cost nothing; writes want to be longer.
// Needs sizes, steps and first elements that are multiples of 16 bytes.
#include "ops/transpose/gpu_plane.cuh"
#include "ops/transpose/gpu_turn.cuh"

enum { ROW = Q / V, ACROSS = P / V, SQUARES = ACROSS * ROW, EACH = SQUARES / THREADS };

extern "C" __global__ void __launch_bounds__(THREADS) micro(const element *in, element *out, const plane m) {
    extern __shared__ uint4 tile[]; // [P][ROW]
    place at = tile_of_block<P, Q>(m);
    const element *from = in + at.in + at.q * m.q_in + at.p;
    element *to = out + at.out + at.p * m.p_out + at.q;
    int p_left = m.p_size - at.p < P ? (int)(m.p_size - at.p) : P, q_left = m.q_size - at.q < Q ? (int)(m.q_size - at.q) : Q;
    vector row[EACH][V];
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        int square = threadIdx.x + e * THREADS, p = square % ACROSS * V, q = square / ACROSS * V;
        if (p < p_left && q < q_left)
#pragma unroll
            for (int i = 0; i < V; i++)
                row[e][i].all = *(const uint4 *)(from + (q + i) * m.q_in + p);
    }
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        int square = threadIdx.x + e * THREADS, across = square % ACROSS, down = square / ACROSS;
        vector column[V];
        if (across * V < p_left && down * V < q_left) {
            turn(row[e], column);
#pragma unroll
            for (int c = 0; c < V; c++)
                tile[(across * V + c) * ROW + (down ^ (across & 7))] = column[c].all;
        }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < P * ROW / THREADS; i++) {
        int n = threadIdx.x + i * THREADS, p = n / ROW, b = n % ROW;
        if (p < p_left && b * V < q_left)
            *(uint4 *)(to + p * m.p_out + b * V) = tile[p * ROW + (b ^ (p / V & 7))];
    }
}
