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

enum { V = 16 / SIZE, ROW = Q / V, ACROSS = P / V, SQUARES = ACROSS * ROW, EACH = SQUARES / THREADS };

#if SIZE == 1
// Rows a, b, c, d of four bytes to the columns.
__device__ void turn_bytes(unsigned a, unsigned b, unsigned c, unsigned d, unsigned &w, unsigned &x, unsigned &y, unsigned &z) {
    unsigned ab = __byte_perm(a, b, 0x5140), cd = __byte_perm(c, d, 0x5140), AB = __byte_perm(a, b, 0x7362), CD = __byte_perm(c, d, 0x7362);
    w = __byte_perm(ab, cd, 0x5410);
    x = __byte_perm(ab, cd, 0x7632);
    y = __byte_perm(AB, CD, 0x5410);
    z = __byte_perm(AB, CD, 0x7632);
}
#endif

union vector {
    uint4 all;
    unsigned word[4];
};

__device__ void turn(const vector (&row)[V], vector (&column)[V]) {
#if SIZE == 16
    column[0] = row[0];
#elif SIZE == 8
    column[0].all = make_uint4(row[0].word[0], row[0].word[1], row[1].word[0], row[1].word[1]);
    column[1].all = make_uint4(row[0].word[2], row[0].word[3], row[1].word[2], row[1].word[3]);
#else
#pragma unroll
    for (int c = 0; c < 4; c++)
#pragma unroll
        for (int k = 0; k < 4; k++) {
#if SIZE == 4
            column[c].word[k] = row[k].word[c];
#elif SIZE == 2
            column[2 * c].word[k] = __byte_perm(row[2 * k].word[c], row[2 * k + 1].word[c], 0x5410);
            column[2 * c + 1].word[k] = __byte_perm(row[2 * k].word[c], row[2 * k + 1].word[c], 0x7632);
#else
            turn_bytes(row[4 * k].word[c], row[4 * k + 1].word[c], row[4 * k + 2].word[c], row[4 * k + 3].word[c], column[4 * c].word[k],
                       column[4 * c + 1].word[k], column[4 * c + 2].word[k], column[4 * c + 3].word[k]);
#endif
        }
#endif
}

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
