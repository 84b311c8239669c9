// SPDX-License-Identifier: Apache-2.0
// gpu_planes.cuh - planes on their way through shared memory: what a block that marches along z with a tile of rows and columns does to have them there.
//
// The ring holds STAGES planes of ROWS rows: those of DOWN rows of threads with R outputs each, and those that the mask reaches beside them. A turn has one
// barrier: a plane has arrived, and the one that it is a ring's length before may be written over.
//
// -DKY; -DR rows a thread; -DALONG threads along x, -DDOWN along y; -DSTAGES planes in shared memory; else as gpu_ring.cuh.
#include "ops/correlate/gpu_ring.cuh"

const int ROWS = DOWN * R + KY - 1, PLANE = ROWS * ROW;

// Plane z as the mask meets it, rows from y on.
__device__ __forceinline__ void copy_plane(const tile_feed<ROWS, DOWN> &feed, element *ring, int slot, const element *in, const frame &f, int z,
                                           int y, int x) {
    const int at = resolve(z, (int)f.n_z, f.edge);
    const element *plane = in + (i64)(at < 0 ? 0 : at) * f.in_z;
    if (at >= 0)
        feed.copy(slot, plane);
    else
        copy_anywhere<ROWS>(ring + slot * PLANE, plane, at >= 0, f, y, x);
}

// The first of `planes` planes, from z = `front` on.
__device__ __forceinline__ void begin_planes(const tile_feed<ROWS, DOWN> &feed, element *ring, const element *in, const frame &f, int front,
                                             int planes, int y, int x) {
#pragma unroll 1
    for (int i = 0; i < STAGES - 1; i++) {
        if (i < planes)
            copy_plane(feed, ring, i, in, f, front + i, y, x);
        end_copies();
    }
}
// Plane number `number` is there; another one is asked for, into the ring's plane `next`.
__device__ __forceinline__ void await_plane(const tile_feed<ROWS, DOWN> &feed, element *ring, int next, const element *in, const frame &f, int front,
                                            int planes, int y, int x, int number) {
    await_copies<STAGES - 2>();
    __syncthreads();
    if (number + STAGES - 1 < planes)
        copy_plane(feed, ring, next, in, f, front + number + STAGES - 1, y, x);
    end_copies();
}
__device__ __forceinline__ void advance(int &slot, int &next) {
    slot = slot == STAGES - 1 ? 0 : slot + 1;
    next = next == STAGES - 1 ? 0 : next + 1;
}

// Sums of the planes of outputs under way.
template <int N> __device__ __forceinline__ void begin_sums(work (&sum)[N][R][V]) {
#pragma unroll
    for (int k = 0; k < N; k++)
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
            for (int i = 0; i < V; i++)
                sum[k][r][i] = 0;
}
