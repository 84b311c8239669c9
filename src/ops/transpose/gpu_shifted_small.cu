// SPDX-License-Identifier: Apache-2.0
// gpu_shifted_small.cu - gpu_shifted.cu for elements of 1 and 2 bytes: the same tiles, moved in vectors of 16 bytes.
//
// Rows of `in` come to shared memory as they lie, in the aligned vectors that hold them, by copies that need no registers, so that all are on their way at
// once. A lane then takes a word of each of V rows - rows V apart begin alike within a vector, so where their words begin is worked out once -, shifts it
// into place, turns the block in registers and puts its columns back where the rows lay. On the way out two vectors of the tile are shifted into one.
//
// PIECE bytes of each row of `in`, Q + MARGIN rows: MARGIN is what rows of `out` that begin above a sector's start take from the block before. Row p of
// the turned tile has NV vectors; number g of it lies at g ^ (p / H % 8), which leaves no bank conflicts. -DPIECE, -DQ, -DTHREADS, -DBLOCKS a
// multiprocessor at least.
#include "ops/transpose/gpu_plane.cuh"

enum {
    V = 16 / SIZE, // elements of a vector, and rows of `in` that make one
    H = 4 / SIZE,  // of a word
    P = PIECE / SIZE,
    MARGIN = 32 / SIZE,
    ROWS = Q + MARGIN,
    NV = ROWS / V,
    VECTORS = PIECE / 16,
    PITCH = VECTORS + 1, // vectors that hold a piece, wherever it begins
    WARPS = THREADS / 32,
    WORDS = PIECE / 128, // warps that share a row's words
    BLOCKS_DOWN = WARPS / WORDS,
    EACH = NV / BLOCKS_DOWN, // blocks of V rows and a word a thread
    ROWS_IN = THREADS / VECTORS,
    ROWS_OUT = THREADS / NV
};
static_assert(NV % BLOCKS_DOWN == 0 && ROWS % ROWS_IN == 0 && P % ROWS_OUT == 0, "whole turns");

union vector {
    uint4 all;
    unsigned word[4];
};

__device__ int place_in_row(int p, int g) { return p * NV + (g ^ (p / H & 7)); }

// The aligned 16 bytes around `from`.
__device__ void copy(unsigned to, const char *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"((unsigned long long)from & ~15ull) : "memory");
}

// 16 bytes from byte `skip` < 16 of x and y.
__device__ uint4 fetch(uint4 x, uint4 y, unsigned skip) {
    bool two = skip & 8, one = skip & 4;
    unsigned a = two ? x.z : x.x, b = two ? x.w : x.y, c = two ? y.x : x.z, d = two ? y.y : x.w, e = two ? y.z : y.x, f = two ? y.w : y.y;
    if (one) {
        a = b;
        b = c;
        c = d;
        d = e;
        e = f;
    }
    unsigned bits = 8 * skip; // modulo 32
    return make_uint4(__funnelshift_r(a, b, bits), __funnelshift_r(b, c, bits), __funnelshift_r(c, d, bits), __funnelshift_r(d, e, bits));
}

__device__ void turn(const unsigned (&row)[V], vector (&column)[H]) {
#pragma unroll
    for (int k = 0; k < 4; k++) {
#if SIZE == 1
        unsigned a = row[4 * k], b = row[4 * k + 1], c = row[4 * k + 2], d = row[4 * k + 3];
        unsigned ab = __byte_perm(a, b, 0x5140), cd = __byte_perm(c, d, 0x5140), AB = __byte_perm(a, b, 0x7362), CD = __byte_perm(c, d, 0x7362);
        column[0].word[k] = __byte_perm(ab, cd, 0x5410);
        column[1].word[k] = __byte_perm(ab, cd, 0x7632);
        column[2].word[k] = __byte_perm(AB, CD, 0x5410);
        column[3].word[k] = __byte_perm(AB, CD, 0x7632);
#else
        column[0].word[k] = __byte_perm(row[2 * k], row[2 * k + 1], 0x5410);
        column[1].word[k] = __byte_perm(row[2 * k], row[2 * k + 1], 0x7632);
#endif
    }
}

// The tile's rows as they lie, each in PITCH vectors.
__device__ void bring(uint4 *tile, const element *from, i64 q_in) {
    const unsigned to = (unsigned)__cvta_generic_to_shared(tile);
    int v = threadIdx.x % VECTORS, first = threadIdx.x / VECTORS;
    const char *at = (const char *)(from + first * q_in) + v * 16;
#pragma unroll 8
    for (int i = 0; i < ROWS / ROWS_IN; i++)
        copy(to + ((first + i * ROWS_IN) * PITCH + v) * 16, at + i * (ROWS_IN * SIZE * q_in));
    for (int row = threadIdx.x; row < ROWS; row += THREADS) // the one behind
        copy(to + (row * PITCH + VECTORS) * 16, (const char *)(from + row * q_in) + PIECE);
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory");
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) shifted_small(const element *in, element *out, const plane m) {
    extern __shared__ uint4 tile[]; // [ROWS][PITCH], then [P][NV] and 8 more, which are read and not used
    place at = tile_of_block<P, Q, MARGIN - 1>(m);
    const element *from = in + at.in + (at.q - MARGIN) * m.q_in + at.p;
    element *to = out + at.out + at.p * m.p_out + at.q;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (at.p >= P && at.q >= MARGIN && at.p + P + V <= m.p_size && at.q + Q <= m.q_size) {
        bring(tile, from, m.q_in);
        __syncthreads();
        const int down = warp / WORDS, across = warp % WORDS;
        const char *piece = (const char *)(tile + down * V * PITCH) + across * 128 + lane * 4;
        const unsigned low = (unsigned)(unsigned long long)from, step = (unsigned)m.q_in * SIZE;
        unsigned row[EACH][V];
#pragma unroll
        for (int r = 0; r < V; r++) {
            unsigned skip = low + r * step & 15;
#pragma unroll
            for (int e = 0; e < EACH; e++) {
                const unsigned *w = (const unsigned *)(piece + (skip & 12) + (e * BLOCKS_DOWN * V + r) * (PITCH * 16));
                row[e][r] = __funnelshift_r(w[0], w[1], 8 * skip);
            }
        }
        vector column[EACH][H];
#pragma unroll
        for (int e = 0; e < EACH; e++)
            turn(row[e], column[e]);
        __syncthreads();
#pragma unroll
        for (int e = 0; e < EACH; e++)
#pragma unroll
            for (int c = 0; c < H; c++)
                tile[place_in_row((across * 32 + lane) * H + c, down + e * BLOCKS_DOWN)] = column[e][c].all;
        __syncthreads();
        int v = threadIdx.x % NV, first = threadIdx.x / NV;
        if (v < Q / V)
#pragma unroll 2
            for (int i = 0; i < P / ROWS_OUT; i++) {
                int p = first + i * ROWS_OUT;
                char *row = (char *)(to + p * m.p_out);
                unsigned back = (unsigned)(unsigned long long)row & 31, skip = 32 - back;
                int g = v + (int)(skip / 16);
                ((uint4 *)(row - back))[v] = fetch(tile[place_in_row(p, g)], tile[place_in_row(p, g + 1)], skip & 15);
            }
        return;
    }
    int p_left = m.p_size - at.p < P ? (int)(m.p_size - at.p) : P;
    for (int n = threadIdx.x; n < P * ROWS; n += THREADS) {
        int p = n % P, q = n / P;
        if (p < p_left && at.q - MARGIN + q >= 0 && at.q - MARGIN + q < m.q_size)
            ((element *)&tile[place_in_row(p, q / V)])[q % V] = from[q * m.q_in + p];
    }
    __syncthreads();
    for (int p = warp; p < p_left; p += WARPS) {
        element *row = to + p * m.p_out;
        int back = (int)((unsigned long long)row & 31) / SIZE;
        for (int q = lane - back; q < Q - back; q += 32)
            if (at.q + q >= 0 && at.q + q < m.q_size)
                row[q] = ((const element *)&tile[place_in_row(p, (q + MARGIN) / V)])[(q + MARGIN) % V];
    }
}
