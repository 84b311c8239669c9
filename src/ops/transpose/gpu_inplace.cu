// SPDX-License-Identifier: Apache-2.0
// gpu_inplace.cu - production, in place, square matrices of elements of 8 bytes and more, rows that begin anywhere: element by element.
//
// Both tiles of a pair come to shared memory by copies that need no registers, each element to its turned place, so that all are on their way at once.
// An odd pitch keeps both accesses free of conflicts. Sectors of which a tile has a part alone were read a moment ago and are in L2 when they are written.
//
// -DTILE elements a side of a tile, -DTHREADS a block, -DBLOCKS a multiprocessor at least.
#include "ops/transpose/gpu_pairs.cuh"

enum { T = TILE, PITCH = T + 1, EACH = T * T / THREADS };
static_assert(T * T % THREADS == 0, "whole turns");

// A tile of rows x columns, turned, on its way into shared memory.
__device__ void take(element *tile, const element *from, i64 pitch, int rows, int columns) {
    const unsigned to = (unsigned)__cvta_generic_to_shared(tile);
#pragma unroll 8
    for (int e = 0; e < EACH; e++) {
        int n = threadIdx.x + e * THREADS, row = n / T, at = n % T;
        if (row < rows && at < columns)
            asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to + (at * PITCH + row) * SIZE), "l"(from + row * pitch + at), "n"(SIZE)
                         : "memory");
    }
}

// A turned tile to its place.
__device__ void put(element *to, const element *tile, i64 pitch, int rows, int columns) {
#pragma unroll 8
    for (int e = 0; e < EACH; e++) {
        int n = threadIdx.x + e * THREADS, row = n / T, at = n % T;
        if (row < rows && at < columns)
            to[row * pitch + at] = tile[row * PITCH + at];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) exchange(element *data, const squares s) {
    extern __shared__ uint4 room[]; // [2][T][PITCH]
    element *upper = (element *)room, *lower = upper + T * PITCH;
    const pair at = pair_of_block<T>(data, s);
    if (at.rows == 0)
        return;
    take(upper, at.above, s.size, at.rows, at.columns);
    if (at.i != at.j)
        take(lower, at.below, s.size, at.columns, at.rows);
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    put(at.below, upper, s.size, at.columns, at.rows);
    if (at.i != at.j)
        put(at.above, lower, s.size, at.rows, at.columns);
}
