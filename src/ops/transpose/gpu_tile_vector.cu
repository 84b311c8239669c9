// SPDX-License-Identifier: Apache-2.0
// gpu_tile_vector.cu - the tile with vectors of WIDTH (2, 4) elements to and from global memory, single elements in shared memory.
//
// In gpu_tile_unroll.cu an instruction moved 4 bytes a thread; here it moves 4 * WIDTH, so a tile needs fewer instructions and a thread has more bytes
// on their way. Shared memory is written element by element (row pitch odd: no conflict among the columns, WIDTH-way ones among a row's vectors).
// Needs matrices whose sizes, steps and first elements are multiples of WIDTH elements.
#include "ops/transpose/gpu_plane.cuh"

#if SIZE * WIDTH == 2
typedef unsigned short whole;
#elif SIZE * WIDTH == 4
typedef unsigned whole;
#elif SIZE * WIDTH == 8
typedef unsigned long long whole;
#else
typedef uint4 whole;
#endif
union vector {
    whole all;
    element part[WIDTH];
};

// As one: the compiler stores a structure's elements piece by piece when it likes.
__device__ void store(whole *at, const vector &v) {
#if SIZE * WIDTH == 16
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(v.all.x), "r"(v.all.y), "r"(v.all.z), "r"(v.all.w) : "memory");
#else
    *at = v.all;
#endif
}

extern "C" __global__ void tile_vector(const element *in, element *out, const plane m) {
    const int ROW = 32 / WIDTH, ROWS = 256 / ROW; // threads along a row of the tile; rows that the block moves at once
    __shared__ element tile[32][33];
    place at = tile_of_block<32, 32>(m);
    int x = threadIdx.x % ROW * WIDTH, y = threadIdx.x / ROW;
#pragma unroll
    for (int i = 0; i < 32; i += ROWS)
        if (y + i < 32 && at.p + x < m.p_size && at.q + y + i < m.q_size) {
            vector v;
            v.all = *(const whole *)&in[at.in + (at.q + y + i) * m.q_in + at.p + x];
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
            store((whole *)&out[at.out + (at.p + y + i) * m.p_out + at.q + x], v);
        }
}
