// SPDX-License-Identifier: Apache-2.0
// gpu_tile.cu - a tile through shared memory: rows are read and rows are written, the turn is made where it costs least.
//
// The naive kernels wasted one side of global memory. Here a block of TILE x TILE threads reads rows, stores them in shared memory, waits, and writes
// rows of the other array. What is left is a column read from shared memory, whose elements are TILE elements apart:
//
//   -DLAYOUT=0   tile[TILE][TILE]        for 4-byte elements and TILE = 32 a column is one bank: 32 ways of conflict. TILE = 16: 16 rows of 64 bytes
//                                        use two banks a column: 8 ways for each of the two columns that a warp reads
//   -DLAYOUT=1   tile[TILE][TILE + 1]    a column steps through the banks: none, for a row of shared memory that is never used
//   -DLAYOUT=2   tile[y][x ^ y]          none either, and nothing unused: row y is permuted within itself
#include "ops/transpose/gpu_plane.cuh"

#if LAYOUT == 2
#define AT(y, x) [y][(x) ^ (y)]
#else
#define AT(y, x) [y][x]
#endif

extern "C" __global__ void tile(const element *in, element *out, const plane m) {
    __shared__ element tile[TILE][TILE + (LAYOUT == 1)];
    place at = tile_of_block<TILE, TILE>(m);
    int x = threadIdx.x % TILE, y = threadIdx.x / TILE;
    if (at.p + x < m.p_size && at.q + y < m.q_size)
        tile AT(y, x) = in[at.in + (at.q + y) * m.q_in + at.p + x];
    __syncthreads();
    if (at.p + y < m.p_size && at.q + x < m.q_size)
        out[at.out + (at.p + y) * m.p_out + at.q + x] = tile AT(x, y);
}
