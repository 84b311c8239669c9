// SPDX-License-Identifier: Apache-2.0
// gpu_shifted.cu - production, any pitch: words shifted into place in registers, each row of `out` written from the start of a sector.
//
// Rows of odd length begin anywhere. What that costs is not the reads, where a piece of 256 bytes touches 9 sectors instead of 8, but the sectors that
// two blocks write one half of: the memory reads them before it writes. So the tile of a block is not a rectangle: each row of `out` begins at the
// boundary of 32 bytes below the tile's first element, and ends where the next block begins. MARGIN more rows of `in` are read for that; they are the
// neighbour's, who runs at the same time, and come from L2.
//
// Everything moves as words of 4 bytes (8 for elements of 8): W = 4 / SIZE elements. A row of `in` is read as the aligned words around it, two
// neighbours shifted together give W elements; W rows of them are turned in registers and go to shared memory as words of `out`'s rows, whose last
// shift is made on the way out. Row p of the tile has its word j at j ^ (p / 32 % W), which with an odd pitch keeps all accesses free of conflicts.
//
// P x Q, the tile: -DP, -DQ; THREADS a block; AT_ONCE squares of W x W elements a thread on their way. Tiles at the matrix's ends take a slower path, element
// by element, which is also the one that reads no byte outside the arrays.
#include "ops/transpose/gpu_plane.cuh"

#if SIZE == 8
typedef uint2 word;
#else
typedef unsigned word;
#endif
enum {
    W = SIZE < 4 ? 4 / SIZE : 1,
    MARGIN = 32 / SIZE,
    ACROSS = P / W,
    GROUPS = (Q + MARGIN) / W,
    PITCH = GROUPS + 1,
    SQUARES = ACROSS * GROUPS,
    WORDS = Q / W,
    WARPS = THREADS / 32
};

__device__ int place_in_row(int p, int j) { return p * PITCH + (j ^ (p / 32 & (W - 1))); }

// W words, each of a row of `in`, to W words of rows of `out`.
__device__ void turn(const word (&row)[W], word (&column)[W]) {
#if SIZE == 1
    word ab = __byte_perm(row[0], row[1], 0x5140), cd = __byte_perm(row[2], row[3], 0x5140);
    word AB = __byte_perm(row[0], row[1], 0x7362), CD = __byte_perm(row[2], row[3], 0x7362);
    column[0] = __byte_perm(ab, cd, 0x5410);
    column[1] = __byte_perm(ab, cd, 0x7632);
    column[2] = __byte_perm(AB, CD, 0x5410);
    column[3] = __byte_perm(AB, CD, 0x7632);
#elif SIZE == 2
    column[0] = __byte_perm(row[0], row[1], 0x5410);
    column[1] = __byte_perm(row[0], row[1], 0x7632);
#else
    column[0] = row[0];
#endif
}

// W elements from anywhere.
__device__ word fetch(const element *from) {
#if SIZE < 4
    unsigned rest = (unsigned)(unsigned long long)from & 3;
    const word *at = (const word *)((const char *)from - rest);
    return __funnelshift_r(at[0], at[1], 8 * rest);
#else
    return *(const word *)from;
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS) shifted(const element *in, element *out, const plane m) {
    extern __shared__ word tile[]; // [P][PITCH]
    place at = tile_of_block<P, Q, MARGIN - 1>(m);
    const element *from = in + at.in + (at.q - MARGIN) * m.q_in + at.p;
    element *to = out + at.out + at.p * m.p_out + at.q;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (at.p >= P && at.q >= MARGIN && at.p + P + W <= m.p_size && at.q + Q <= m.q_size) {
#pragma unroll
        for (int e = 0; e < SQUARES / THREADS; e += AT_ONCE) {
            word row[AT_ONCE][W];
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) {
                int square = threadIdx.x + (e + k) * THREADS;
#pragma unroll
                for (int i = 0; i < W; i++)
                    row[k][i] = fetch(from + (square / ACROSS * W + i) * m.q_in + square % ACROSS * W);
            }
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++) {
                int square = threadIdx.x + (e + k) * THREADS;
                word column[W];
                turn(row[k], column);
#pragma unroll
                for (int c = 0; c < W; c++)
                    tile[place_in_row(square % ACROSS * W + c, square / ACROSS)] = column[c];
            }
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < P / WARPS; i++) {
            int p = warp + i * WARPS;
            element *row = to + p * m.p_out;
            unsigned back = (unsigned)(unsigned long long)row & 31, skip = 32 - back;
            word *first = (word *)((char *)row - back);
#pragma unroll
            for (int k = 0; k < WORDS / 32; k++) {
                int j = k * 32 + lane;
#if SIZE < 4
                unsigned low = tile[place_in_row(p, j + skip / 4)], high = skip & 3 ? tile[place_in_row(p, j + skip / 4 + 1)] : 0;
                first[j] = __funnelshift_r(low, high, 8 * (skip & 3));
#else
                first[j] = tile[place_in_row(p, j + skip / SIZE)];
#endif
            }
        }
        return;
    }
    int p_left = m.p_size - at.p < P ? (int)(m.p_size - at.p) : P;
    for (int n = threadIdx.x; n < P * (Q + MARGIN); n += THREADS) {
        int p = n % P, q = n / P;
        if (p < p_left && at.q - MARGIN + q >= 0 && at.q - MARGIN + q < m.q_size)
            ((element *)&tile[place_in_row(p, q / W)])[q % W] = from[q * m.q_in + p];
    }
    __syncthreads();
    for (int p = warp; p < p_left; p += WARPS) {
        element *row = to + p * m.p_out;
        int back = (int)((unsigned long long)row & 31) / SIZE;
        for (int q = lane - back; q < Q - back; q += 32)
            if (at.q + q >= 0 && at.q + q < m.q_size)
                row[q] = ((const element *)&tile[place_in_row(p, (q + MARGIN) / W)])[(q + MARGIN) % W];
    }
}
