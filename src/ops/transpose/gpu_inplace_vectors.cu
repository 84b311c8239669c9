// SPDX-License-Identifier: Apache-2.0
// gpu_inplace_vectors.cu - production, in place, square matrices whose rows are whole vectors: gpu_micro.cu on both tiles of a pair at once.
//
// One half of the block takes the upper tile, the other one the lower: as V rows of 16 bytes a thread, turned in registers, gathered to rows in shared
// memory in the order that leaves no bank conflicts, and written where the other tile lay.
//
// -DTILE elements a side of a tile, -DTHREADS a block, -DBLOCKS a multiprocessor at least.
#include "ops/transpose/gpu_pairs.cuh"
#include "ops/transpose/gpu_turn.cuh"

enum { T = TILE, ROW = T / V, HALF = THREADS / 2, EACH = ROW * ROW / HALF };
static_assert(ROW * ROW % HALF == 0 && ROW % 8 == 0, "whole turns");

// Asks for the whole line: where rows are not whole lines, a neighbour is about to want the rest of it.
__device__ uint4 load(const element *from) {
    uint4 x;
    asm volatile("ld.global.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w) : "l"(from) : "memory");
    return x;
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) exchange_vectors(element *data, const squares s) {
    extern __shared__ uint4 tiles[]; // [2][T][ROW]
    const pair at = pair_of_block<T>(data, s);
    if (at.rows == 0)
        return;
    const bool lower = threadIdx.x >= HALF, both = at.i != at.j;
    const int t = threadIdx.x % HALF, rows = lower ? at.columns : at.rows, columns = lower ? at.rows : at.columns;
    const element *from = lower ? at.below : at.above;
    element *to = lower ? at.above : at.below;
    uint4 *tile = tiles + lower * (T * ROW);
    if (both || !lower) {
        vector row[EACH][V];
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            int square = t + e * HALF, p = square % ROW * V, q = square / ROW * V;
            if (p < columns && q < rows)
#pragma unroll
                for (int i = 0; i < V; i++)
                    row[e][i].all = load(from + (q + i) * s.size + p);
        }
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            int square = t + e * HALF, across = square % ROW, down = square / ROW;
            vector column[V];
            if (across * V < columns && down * V < rows) {
                turn(row[e], column);
#pragma unroll
                for (int c = 0; c < V; c++)
                    tile[(across * V + c) * ROW + (down ^ (across & 7))] = column[c].all;
            }
        }
    }
    __syncthreads();
    if (both || !lower)
#pragma unroll
        for (int i = 0; i < T * ROW / HALF; i++) {
            int n = t + i * HALF, p = n / ROW, b = n % ROW;
            if (p < columns && b * V < rows)
                *(uint4 *)(to + p * s.size + b * V) = tile[p * ROW + (b ^ (p / V & 7))];
        }
}
