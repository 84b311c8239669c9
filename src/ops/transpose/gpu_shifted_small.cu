// SPDX-License-Identifier: Apache-2.0
// gpu_shifted_small.cu - gpu_shifted.cu for elements of 1 and 2 bytes: the same tiles, moved in vectors of 16 bytes.
//
// Rows of `in` come to shared memory as they lie, in the aligned vectors that hold them, by copies that need no registers, so that all are on their way at
// once. A lane then takes a word of each of V rows - rows V apart begin alike within a vector, so where their words begin is worked out once -, shifts it
// into place, turns the block in registers and puts its columns into the turned tile. On the way out two vectors of the tile are shifted into one.
//
// PIECE bytes of each row of `in`, Q rows, and MARGIN more before them, which rows of `out` that begin above a sector's start take from the block before:
// two vectors of each. Row p of the turned tile has NV vectors; number g of it lies at g ^ (p / H % 8), which leaves no bank conflicts. The turned tile lies where
// the rows were, which are all in registers by then: a tile may be twice as large for it, and reads fewer margins. -DPIECE, -DQ, -DTHREADS, -DBLOCKS a
// multiprocessor at least.
#include "ops/transpose/gpu_plane.cuh"
#include "ops/transpose/gpu_turn.cuh"

enum {
    P = PIECE / SIZE,
    MARGIN = 32 / SIZE,
    NV = Q / V,
    VECTORS = PIECE / 16,
    PITCH = VECTORS + 1, // vectors that hold a piece, wherever it begins
    WARPS = THREADS / 32,
    WORDS = PIECE / 128, // warps that share a row's words
    BLOCKS_DOWN = WARPS / WORDS,
    EACH = NV / BLOCKS_DOWN, // blocks of V rows and a word a thread
    ROWS_IN = THREADS / VECTORS,
    ROWS_OUT = THREADS / NV
};
static_assert(NV % BLOCKS_DOWN == 0 && BLOCKS_DOWN >= 2 && NV % 8 == 0 && Q % ROWS_IN == 0 && P % ROWS_OUT == 0, "whole turns");

__device__ int place_in_row(int p, int g) { return p * NV + (g ^ (p / H & 7)); }

// COUNT rows as they lie, each in PITCH vectors.
template <int COUNT> __device__ void bring(const uint4 *room, const element *from, i64 q_in) {
    const unsigned to = (unsigned)__cvta_generic_to_shared(room);
    int v = threadIdx.x % VECTORS, first = threadIdx.x / VECTORS;
    const char *at = (const char *)(from + first * q_in) + v * 16;
#pragma unroll 8
    for (int i = 0; i < (COUNT + ROWS_IN - 1) / ROWS_IN; i++)
        if (COUNT % ROWS_IN == 0 || first + i * ROWS_IN < COUNT)
            copy_around(to + ((first + i * ROWS_IN) * PITCH + v) * 16, at + i * (ROWS_IN * SIZE * q_in));
    for (int row = threadIdx.x; row < COUNT; row += THREADS) // the one behind
        copy_around(to + (row * PITCH + VECTORS) * 16, (const char *)(from + row * q_in) + PIECE);
}

// A word of each of V rows, the first of them in shared memory at `piece`, the first byte of it from address `low` on.
__device__ void take(unsigned (&row)[V], const char *piece, unsigned low, unsigned step) {
#pragma unroll
    for (int r = 0; r < V; r++) {
        unsigned skip = low + r * step & 15;
        const unsigned *w = (const unsigned *)(piece + (skip & 12) + r * (PITCH * 16));
        row[r] = __funnelshift_r(w[0], w[1], 8 * skip);
    }
}

// A tile that needs no tests but along p.
__device__ void whole_tile(uint4 *room, const element *from, element *to, const plane &m, int p_left) {
    uint4 *turned = room, *before = room + Q * PITCH, *margin = before + MARGIN * PITCH; // [P][NV]; the margin's rows; [2][P]
    const int lane = threadIdx.x % 32, down = threadIdx.x / 32 / WORDS, across = threadIdx.x / 32 % WORDS, p0 = (across * 32 + lane) * H;
    const int v = threadIdx.x % NV, first = threadIdx.x / NV, place = down * V * PITCH * 16 + across * 128 + lane * 4;
    const unsigned low = (unsigned)(unsigned long long)from, step = (unsigned)m.q_in * SIZE;
    unsigned row[EACH][V];
    bring<Q>(room, from, m.q_in);
    bring<MARGIN>(before, from - MARGIN * m.q_in, m.q_in);
    await_copies();
    __syncthreads();
    if (down < 2) {
        vector column[H];
        take(row[0], (const char *)before + place, low - MARGIN * step, step);
        turn(row[0], column);
#pragma unroll
        for (int c = 0; c < H; c++)
            margin[down * P + p0 + c] = column[c].all;
    }
#pragma unroll
    for (int e = 0; e < EACH; e++)
        take(row[e], (const char *)(room + e * BLOCKS_DOWN * V * PITCH) + place, low, step);
    __syncthreads();
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        vector column[H];
        turn(row[e], column);
#pragma unroll
        for (int c = 0; c < H; c++)
            turned[place_in_row(p0 + c, down + e * BLOCKS_DOWN)] = column[c].all;
    }
    __syncthreads();
#pragma unroll 4
    for (int i = 0; i < P / ROWS_OUT; i++) {
        int p = first + i * ROWS_OUT;
        char *line = (char *)(to + p * m.p_out);
        unsigned back = (unsigned)(unsigned long long)line & 31, skip = 32 - back;
        int g = v - 2 + (int)(skip / 16); // negative: of the margin
        uint4 x = g < 0 ? margin[(g + 2) * P + p] : turned[place_in_row(p, g)];
        uint4 y = g < -1 ? margin[P + p] : turned[place_in_row(p, g + 1 < NV ? g + 1 : NV - 1)]; // behind the last: not used
        if (p < p_left)
            ((uint4 *)(line - back))[v] = fetch(x, y, skip & 15);
    }
}

// A tile at the matrix's ends; q: its first element's number.
__device__ void cut_tile(element *tile, const element *from, element *to, const plane &m, i64 q, int p_left) {
    const int ROW = MARGIN + Q;
    for (int n = threadIdx.x; n < P * ROW; n += THREADS) {
        int p = n % P, i = n / P;
        if (p < p_left && q - MARGIN + i >= 0 && q - MARGIN + i < m.q_size)
            tile[p * ROW + i] = from[(i64)(i - MARGIN) * m.q_in + p];
    }
    __syncthreads();
    for (int p = threadIdx.x / 32; p < p_left; p += WARPS) {
        element *line = to + p * m.p_out;
        int back = (int)((unsigned long long)line & 31) / SIZE;
        for (int i = (int)(threadIdx.x % 32) - back; i < Q - back; i += 32)
            if (q + i >= 0 && q + i < m.q_size)
                line[i] = tile[p * ROW + MARGIN + i];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) shifted_small(const element *in, element *out, const plane m) {
    extern __shared__ uint4 room[]; // [Q][PITCH], [MARGIN][PITCH], [2][P]; or [P][MARGIN + Q] elements
    const place at = tile_of_block<P, Q, MARGIN - 1>(m);
    const element *from = in + at.in + at.q * m.q_in + at.p;
    element *to = out + at.out + at.p * m.p_out + at.q;
    const int p_left = m.p_size - at.p < P ? (int)(m.p_size - at.p) : P;
    bool whole = at.q > MARGIN && at.q + Q <= m.q_size;
    if (at.p < V || at.p + P + V > m.p_size) // what lies beside these pieces of rows belongs to the rows before and after them
        whole = whole && m.q_in >= P + V && at.q + Q < m.q_size;
    if (whole)
        whole_tile(room, from, to, m, p_left);
    else
        cut_tile((element *)room, from, to, m, at.q, p_left);
}
