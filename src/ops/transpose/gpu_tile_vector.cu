// SPDX-License-Identifier: Apache-2.0
// gpu_tile_vector.cu - the tile with vectors of WIDTH (2, 4) elements to and from global memory, single elements in shared memory.
//
// In gpu_tile_unroll.cu an instruction moved 4 bytes a thread; here it moves 4 * WIDTH, so a tile needs fewer instructions and a thread has more bytes
// on their way. Shared memory is written element by element (row pitch odd: no conflict among the columns, WIDTH-way ones among a row's vectors).
// Needs matrices whose sizes, steps and first elements are multiples of WIDTH elements.
#include "ops/transpose/gpu_plane.cuh"

struct alignas(SIZE * WIDTH) vector {
    element part[WIDTH];
};

extern "C" __global__ void tile_vector(const element *in, element *out, const plane m) {
    const int ROW = 32 / WIDTH, ROWS = 256 / ROW; // threads along a row of the tile; rows that the block moves at once
    __shared__ element tile[32][33];
    place at = tile_of_block<32, 32>(m);
    int x = threadIdx.x % ROW * WIDTH, y = threadIdx.x / ROW;
#pragma unroll
    for (int i = 0; i < 32; i += ROWS)
        if (y + i < 32 && at.p + x < m.p_size && at.q + y + i < m.q_size) {
            vector v = *(const vector *)&in[at.in + (at.q + y + i) * m.q_in + at.p + x];
#pragma unroll
            for (int k = 0; k < WIDTH; k++)
                tile[y + i][x + k] = v.part[k];
        }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 32; i += ROWS)
        if (y + i < 32 && at.p + y + i < m.p_size && at.q + x < m.q_size) {
            vector v;
#pragma unroll
            for (int k = 0; k < WIDTH; k++)
                v.part[k] = tile[x + k][y + i];
            *(vector *)&out[at.out + (at.p + y + i) * m.p_out + at.q + x] = v;
        }
}
