// SPDX-License-Identifier: Apache-2.0
// gpu_planes.cuh - planes on their way through shared memory: what a block that marches along z with a tile of rows and columns does to have them there.
//
// The ring holds STAGES planes of ROWS rows: those of DOWN rows of threads with R outputs each, and those that the mask reaches beside them. A turn has one
// barrier: a plane has arrived, and the one that it is a ring's length before may be written over.
//
// -DKY, -DKZ; -DR rows a thread; -DALONG threads along x, -DDOWN along y; -DSTAGES planes in shared memory; else as gpu_ring.cuh.
#include "ops/correlate/gpu_ring.cuh"

const int ROWS = DOWN * R + KY - 1, PLANE = ROWS * ROW;

// What a block makes, `finished` columns by DOWN * R rows by `outputs` planes, and a thread's part of it. Tiles are counted along x, then along y, `across` of them a row:
// of a grid's axes only x is long enough for any number.
struct plane_tile {
    int along, down, x, y, z, outputs, planes, column, row; // planes of input: those of the outputs, and those that the mask reaches
    char *to;
    i64 down_y, down_z; // bytes

    __device__ __forceinline__ plane_tile(const element *&in, result *&out, const frame &f, unsigned across, int depth, unsigned deep, int finished) {
        const unsigned line = blockIdx.x / across, number = blockIdx.z / deep;
        along = threadIdx.x % ALONG;
        down = THREADS == ALONG * DOWN ? threadIdx.x / ALONG : min(threadIdx.x / ALONG, DOWN - 1);
        x = (blockIdx.x - line * across) * finished;
        y = line * (DOWN * R);
        z = (blockIdx.z - number * deep) * depth;
        outputs = min(depth, (int)f.m_z - z);
        planes = outputs + KZ - 1;
        column = x + along * V;
        row = y + down * R;
        find_array(f, number, in, out);
        to = (char *)(out + (i64)z * f.out_z + (i64)row * f.out_y + column);
        down_y = f.out_y * (i64)sizeof(result);
        down_z = f.out_z * (i64)sizeof(result);
    }
    __device__ __forceinline__ void write(const frame &f, const work (&value)[R][V]) const {
        write_rows(to, down_y, row, (int)f.m_y, column, (int)f.m_x, value);
    }
};

// A tile's planes one after another, columns from x on: STAGES - 1 of them are on their way.
struct plane_stream {
    tile_feed<ROWS> feed;
    element *ring;
    int x, y, front, planes, slot, next;

    // Plane number `number`, rows from y on.
    __device__ __forceinline__ void ask(int at, int number, const element *in, const frame &f) {
        if (number < planes) {
            int z = front + number;
            if (z < 0 || z >= (int)f.n_z) {
                z = resolve(z, (int)f.n_z, f.edge);
                asm volatile("" : "+r"(z)); // the compiler would else resolve every plane, and choose then
            }
            const element *plane = in + (i64)(z < 0 ? 0 : z) * f.in_z;
            if (z >= 0)
                feed.copy(at, plane);
            else
                copy_anywhere<ROWS>(ring + at * PLANE, plane, false, f, y, x);
        }
        end_copies();
    }
    __device__ __forceinline__ plane_stream(element *memory, const element *in, const frame &f, const plane_tile &tile, int first)
        : feed(memory, f, tile.y - f.before_y, first) {
        ring = memory;
        x = first;
        y = tile.y - f.before_y;
        front = tile.z - f.before_z;
        planes = tile.planes;
        slot = 0;
        next = STAGES - 1;
        prepare_ring<STAGES * ROWS>(ring, f, reaches_edge(f, x) || y < 0 || y + ROWS > (int)f.n_y);
#pragma unroll 1
        for (int i = 0; i < STAGES - 1; i++)
            ask(i, i, in, f);
    }
    // Plane number `number` is there, and another one asked for.
    __device__ __forceinline__ const element *turn(int number, const element *in, const frame &f) {
        await_copies<STAGES - 2>();
        __syncthreads();
        ask(next, number + STAGES - 1, in, f);
        const element *plane = ring + slot * PLANE;
        slot = slot == STAGES - 1 ? 0 : slot + 1;
        next = next == STAGES - 1 ? 0 : next + 1;
        return plane;
    }
};

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
