// SPDX-License-Identifier: Apache-2.0
// gpu_ring.cuh - rows on their way through shared memory: a block's tile of a row, its ghost cells and its neighbours' columns included, is copied
// asynchronously some turns before it is needed.
//
// A row in shared memory: PAD_LEFT elements before the tile, the tile's THREADS * V, PAD_RIGHT after it; a thread's window is read from there in vectors.
// Elements that no output needs may hold anything. Vectors of 16 bytes that lie inside the array are copied without passing registers; ghost cells, and
// rows that are not whole vectors, element by element.
//
// -DV columns a thread, -DTHREADS. Before it is included, RING_LEFT and RING_RIGHT may say how many elements beside its own a thread reads.
#include "ops/correlate/gpu_copies.cuh"

#ifndef RING_LEFT
#define RING_LEFT LEFT
#define RING_RIGHT RIGHT
#endif

const int VECTOR = 16 / SIZE, READ = V * SIZE < 16 ? V : VECTOR; // elements of a copy's vector, and of a vector read from shared memory
const int NEAR_LEFT = up_to(RING_LEFT, READ), NEAR_RIGHT = up_to(RING_RIGHT, READ), PAD_LEFT = up_to(NEAR_LEFT, VECTOR), PAD_RIGHT = up_to(NEAR_RIGHT, VECTOR);
const int TILE = THREADS * V, ROW = PAD_LEFT + TILE + PAD_RIGHT, WINDOW = NEAR_LEFT + V + NEAR_RIGHT;
static_assert(V * SIZE % 4 == 0 && TILE % VECTOR == 0, "a tile is whole vectors");

// Row y of the plane at `in` (y as the mask meets it: resolved here), columns from x - PAD_LEFT on, to shared memory.
template <int ROWS> __device__ __forceinline__ void copy_rows(element *to, const element *in, const frame &f, int y, int x) {
    const int n_x = (int)f.n_x, n_y = (int)f.n_y;
    if (WHOLE) {
#pragma unroll
        for (int g = threadIdx.x; g < ROWS * (ROW / VECTOR); g += THREADS) {
            const int row = ROWS == 1 ? 0 : g / (ROW / VECTOR), column = x - PAD_LEFT + (g - row * (ROW / VECTOR)) * VECTOR,
                      at_y = resolve(y + row, n_y, f.edge);
            const element *from = in + (i64)at_y * f.in_y;
            element *place = to + g * VECTOR;
            if (at_y >= 0 && column >= 0 && column + VECTOR <= n_x) {
                copy_vector(place, from + column);
            } else {
#pragma unroll 1
                for (int i = 0; i < VECTOR; i++) {
                    const int at = resolve_x(column + i, n_x, f.edge);
                    place[i] = at_y >= 0 && at >= 0 ? from[at] : ghost_of(f);
                }
            }
        }
    } else {
        for (int g = threadIdx.x; g < ROWS * ROW; g += THREADS) {
            const int row = ROWS == 1 ? 0 : g / ROW, at = resolve_x(x - PAD_LEFT + g - row * ROW, n_x, f.edge), at_y = resolve(y + row, n_y, f.edge);
            if (at_y >= 0 && at >= 0)
                copy_element<SIZE>(to + g, in + (i64)at_y * f.in_y + at);
            else
                to[g] = ghost_of(f);
        }
    }
}

// The window of the thread's V columns in a row in shared memory.
__device__ __forceinline__ void read_window(work (&value)[RING_LEFT + V + RING_RIGHT], const element *row, int thread) {
    unsigned word[WINDOW * SIZE / 4];
    const element *from = row + PAD_LEFT + thread * V - NEAR_LEFT;
#pragma unroll
    for (int i = 0; i < WINDOW / READ; i++) {
        words<READ *SIZE> w = *(const words<READ * SIZE> *)(from + i * READ);
#pragma unroll
        for (int k = 0; k < READ * SIZE / 4; k++)
            word[i * (READ * SIZE / 4) + k] = w.word[k];
    }
#pragma unroll
    for (int i = 0; i < RING_LEFT + V + RING_RIGHT; i++)
        value[i] = cell(word, NEAR_LEFT - RING_LEFT + i);
}
