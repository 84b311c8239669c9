// SPDX-License-Identifier: Apache-2.0
// gpu_squares.cuh - a tile whose rows are whole vectors, as gpu_micro.cu has it: squares of V x V elements turned in registers, gathered to rows in shared memory.
//
// -DSIZE bytes an element, -DTILE elements a side of a tile, -DTHREADS a block.
#ifndef TESS_TRANSPOSE_SQUARES_CUH
#define TESS_TRANSPOSE_SQUARES_CUH
#include "ops/transpose/gpu_piece.cuh"
#include "ops/transpose/gpu_turn.cuh"

typedef piece<SIZE>::type element;

enum { T = TILE, ROW = T / V, TURNS = ROW * ROW / THREADS };
static_assert(ROW * ROW % THREADS == 0 && ROW % 8 == 0, "whole turns");

struct tile {
    const char *from;       // where it begins
    char *to;               // where its image does
    i64 from_step, to_step; // bytes from row to row
    int rows, columns;
};

// A turned tile in shared memory.
__device__ void bring(uint4 *room, const tile &t, const char *, const char *) {
    vector row[TURNS][V];
#pragma unroll
    for (int e = 0; e < TURNS; e++) {
        const int square = threadIdx.x + e * THREADS, p = square % ROW * V, q = square / ROW * V;
        if (p < t.columns && q < t.rows)
#pragma unroll
            for (int i = 0; i < V; i++)
                row[e][i].all = *(const uint4 *)(t.from + (q + i) * t.from_step + p * SIZE);
    }
#pragma unroll
    for (int e = 0; e < TURNS; e++) {
        const int square = threadIdx.x + e * THREADS, across = square % ROW, down = square / ROW;
        vector column[V];
        if (across * V < t.columns && down * V < t.rows) {
            turn(row[e], column);
#pragma unroll
            for (int c = 0; c < V; c++)
                room[(across * V + c) * ROW + (down ^ (across & 7))] = column[c].all;
        }
    }
    __syncthreads();
}

__device__ void put(const char *room, const tile &t) {
#pragma unroll
    for (int i = 0; i < T * ROW / THREADS; i++) {
        const int n = threadIdx.x + i * THREADS, p = n / ROW, b = n % ROW;
        if (p < t.columns && b * V < t.rows)
            *(uint4 *)(t.to + p * t.to_step + b * 16) = ((const uint4 *)room)[p * ROW + (b ^ (p / V & 7))];
    }
}
#endif
