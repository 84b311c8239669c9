// SPDX-License-Identifier: Apache-2.0
// gpu_inplace_small.cu - production, in place, square matrices of elements of 1, 2 and 4 bytes, rows that begin anywhere: gpu_shifted_small.cu on both tiles of a pair.
//
// Rows come to shared memory in the aligned vectors that hold them, by copies that need no registers; a warp takes words of V rows from there, shifts them
// into place, turns them in registers and puts the columns back where the rows lay. On the way out two vectors are shifted into an aligned one, for all whole
// sectors of 32 bytes; the 32 bytes of a row that fill none, at its two ends, go element by element, each end by one access. What else lies in the vectors at
// the ends belongs to other blocks, which may be changing it: it is read and not used.
//
// -DPIECE bytes a side of a tile, -DTHREADS a block, -DBLOCKS a multiprocessor at least. Tiles whose vectors might lie outside the matrix, those of the
// first pair and of the last column of pairs, go element by element.
#include "ops/transpose/gpu_pairs.cuh"
#include "ops/transpose/gpu_turn.cuh"

enum {
    T = PIECE / SIZE,
    NV = T / V,
    PITCH = NV + 1, // vectors that hold a row, wherever it begins
    HALF = THREADS / 2,
    ROWS = HALF / NV, // that half a block takes at once
    WARPS = THREADS / 32,
    ACROSS = PIECE / 128, // warps that share a row's words
    TASKS = 2 * NV * ACROSS,
    EACH = TASKS / WARPS, // blocks of V rows and a word a thread
    ROOM = T * PITCH      // vectors of a tile
};
static_assert(TASKS % WARPS == 0 && NV % 8 == 0 && T % ROWS == 0, "whole turns");

// Where vector g of row p of a turned tile lies: no bank conflicts.
__device__ int place_in_row(int p, int g) { return p * NV + (g ^ (p / H & 7)); }

struct task {
    int tile, down, across; // which tile, which V rows, which 128 bytes of them
};
__device__ task task_of(int e) {
    int n = threadIdx.x / 32 + e * WARPS;
    return {n / (NV * ACROSS), n % (NV * ACROSS) / ACROSS, n % ACROSS};
}

__device__ void whole_tiles(uint4 *room, const pair &at, i64 size) {
    const int t = threadIdx.x % HALF, lane = threadIdx.x % 32, v = t % NV, first = t / NV;
    const bool lower = threadIdx.x >= HALF;
    const element *from = lower ? at.below : at.above;
    element *to = lower ? at.above : at.below;
    const unsigned mine = (unsigned)__cvta_generic_to_shared(room + lower * ROOM);
    static_assert(ROWS * SIZE % 16 == 0, "rows that a thread takes begin alike within a vector");
    const char *line = (const char *)((unsigned long long)((const char *)(from + first * size) + v * 16) & ~15ull);
#pragma unroll 8
    for (int i = 0; i < T / ROWS; i++)
        copy_around(mine + ((first + i * ROWS) * PITCH + v) * 16, line + i * (ROWS * SIZE * size));
    for (int row = t; row < T; row += HALF) // the one behind
        copy_around(mine + (row * PITCH + NV) * 16, (const char *)(from + row * size) + PIECE);
    await_copies();
    __syncthreads();
    const unsigned step = (unsigned)size * SIZE;
    unsigned row[EACH][V];
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const task k = task_of(e);
        const char *piece = (const char *)(room + k.tile * ROOM + k.down * V * PITCH) + k.across * 128 + lane * 4;
        const unsigned low = (unsigned)(unsigned long long)(k.tile ? at.below : at.above); // rows V apart begin alike
#pragma unroll
        for (int r = 0; r < V; r++) {
            unsigned skip = low + r * step & 15;
            const unsigned *w = (const unsigned *)(piece + (skip & 12) + r * (PITCH * 16));
            row[e][r] = __funnelshift_r(w[0], w[1], 8 * skip);
        }
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const task k = task_of(e);
        vector column[H];
        turn(row[e], column);
#pragma unroll
        for (int c = 0; c < H; c++)
            room[k.tile * ROOM + place_in_row((k.across * 32 + lane) * H + c, k.down)] = column[c].all;
    }
    __syncthreads();
    if (lower && at.i == at.j)
        return;
    const uint4 *tile = room + lower * ROOM;
    enum { M = 32 / SIZE, STRIDE = ROWS > M ? ROWS : M }; // rows so far apart begin alike within a sector
    static_assert(STRIDE * SIZE % 32 == 0 && STRIDE / H % 8 == 0 && T % STRIDE == 0, "whole sectors");
    if (v < NV - 2)
#pragma unroll
        for (int half = 0; half < STRIDE / ROWS; half++) { // whole sectors
            const int p = first + half * ROWS;
            char *row = (char *)(to + p * size);
            const unsigned front = (0u - (unsigned)(unsigned long long)row) & 31;
            const int g = v + (int)(front / 16);
            const uint4 *x = tile + place_in_row(p, g), *y = tile + place_in_row(p, g + 1);
            row += front + 16 * v;
#pragma unroll 4
            for (int i = 0; i < T / STRIDE; i++, row += STRIDE * SIZE * size)
                *(uint4 *)row = fetch(x[i * STRIDE * NV], y[i * STRIDE * NV], front & 15);
        }
#pragma unroll 4
    for (int n = t; n < T * M; n += HALF) { // before the first whole sector, behind the last
        int p = n / M, e = n % M;
        element *row = to + p * size;
        int before = (int)((0u - (unsigned)(unsigned long long)row) & 31) / SIZE, q = e < before ? e : T - M + e;
        row[q] = ((const element *)&tile[place_in_row(p, q / V)])[q % V];
    }
}

__device__ void any_tiles(element *upper, element *lower, const pair &at, i64 size) {
    const int SPACED = T + V, most = (at.rows > at.columns ? at.rows : at.columns) * T;
    for (int n = threadIdx.x; n < most; n += THREADS) {
        int a = n / T, b = n % T;
        if (a < at.rows && b < at.columns)
            upper[b * SPACED + a] = at.above[a * size + b];
        if (a < at.columns && b < at.rows && at.i != at.j)
            lower[b * SPACED + a] = at.below[a * size + b];
    }
    __syncthreads();
    for (int n = threadIdx.x; n < most; n += THREADS) {
        int a = n / T, b = n % T;
        if (a < at.columns && b < at.rows)
            at.below[a * size + b] = upper[a * SPACED + b];
        if (a < at.rows && b < at.columns && at.i != at.j)
            at.above[a * size + b] = lower[a * SPACED + b];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) exchange_small(element *data, const squares s) {
    extern __shared__ uint4 room[]; // [2][T][PITCH], then [2][T][NV]
    const pair at = pair_of_block<T>(data, s);
    if (at.rows == 0)
        return;
    if (at.j > 0 && at.j < s.tiles - 1)
        whole_tiles(room, at, s.size);
    else
        any_tiles((element *)room, (element *)(room + ROOM), at, s.size);
}
