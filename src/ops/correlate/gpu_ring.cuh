// SPDX-License-Identifier: Apache-2.0
// gpu_ring.cuh - rows on their way through shared memory: a block's tile of a row, its ghost cells and its neighbours' columns included, is copied
// asynchronously some turns before it is needed.
//
// A row in shared memory: PAD_LEFT elements before the tile, the tile's ALONG * V, PAD_RIGHT after it; a thread's window is read from there in vectors.
// Elements that no output needs may hold anything. Vectors of 16 bytes that lie inside the array are copied without passing registers; ghost cells, and
// rows that are not whole vectors, element by element.
//
// -DV columns a thread, -DTHREADS. Before it is included, RING_LEFT and RING_RIGHT may say how many elements beside its own a thread reads, ALONG how many
// threads stand along x.
#include "ops/correlate/gpu_copies.cuh"

#ifndef RING_LEFT
#define RING_LEFT LEFT
#define RING_RIGHT RIGHT
#endif
#ifndef ALONG
#define ALONG THREADS
#endif

const int VECTOR = 16 / SIZE, READ = V * SIZE < 16 ? V : VECTOR; // elements of a copy's vector, and of a vector read from shared memory
const int NEAR_LEFT = up_to(RING_LEFT, READ), NEAR_RIGHT = up_to(RING_RIGHT, READ), PAD_LEFT = up_to(NEAR_LEFT, VECTOR),
          PAD_RIGHT = up_to(NEAR_RIGHT, VECTOR);
const int TILE = ALONG * V, ROW = PAD_LEFT + TILE + PAD_RIGHT, WINDOW = NEAR_LEFT + V + NEAR_RIGHT;
static_assert(V * SIZE % 4 == 0 && TILE % VECTOR == 0, "a tile is whole vectors");

// Whether a block's rows, columns from x - PAD_LEFT on, consist of vectors of the array and of vectors of ghost cells that are constants: the latter never
// change and are put down once.
__device__ __forceinline__ bool plain_tile(const frame &f, int x) {
    const int n_x = (int)f.n_x;
    return WHOLE && ((x >= PAD_LEFT && x + TILE + PAD_RIGHT <= n_x) || (f.edge.least < 0 && n_x % VECTOR == 0));
}

// N rows of the plane at `in` (`there`, or one of constants) to shared memory: from row y on as the mask meets it, columns from x - PAD_LEFT on. The block's
// threads stand ALONG by HIGH, this one at (along, down).
template <int N, int HIGH>
__device__ __forceinline__ void copy_rows(element *to, const element *in, bool there, const frame &f, bool plain, int y, int x, int along, int down) {
    const int n_x = (int)f.n_x, n_y = (int)f.n_y;
    if (plain && there && y >= 0 && y + N <= n_y) {
        const int EACH = (ROW / VECTOR + ALONG - 1) / ALONG;
        const element *from = in + (i64)(y + down) * f.in_y + (x - PAD_LEFT) + along * VECTOR;
        element *place = to + down * ROW + along * VECTOR;
        bool copied[EACH];
#pragma unroll
        for (int g = 0; g < EACH; g++) {
            const int at = (along + g * ALONG) * VECTOR, column = x - PAD_LEFT + at;
            copied[g] = at < ROW && column >= 0 && column < n_x;
        }
#pragma unroll
        for (int r = 0; r < (N + HIGH - 1) / HIGH; r++) {
#pragma unroll
            for (int g = 0; g < EACH; g++)
                if (copied[g] && (N % HIGH == 0 || r * HIGH + down < N))
                    copy_vector(place + r * HIGH * ROW + g * ALONG * VECTOR, from + g * ALONG * VECTOR);
            from += HIGH * f.in_y;
        }
    } else {
        const int STEP = WHOLE ? VECTOR : 1;
#pragma unroll 1
        for (int g = threadIdx.x; g < N * (ROW / STEP); g += THREADS) {
            const int row = g / (ROW / STEP), column = x - PAD_LEFT + (g - row * (ROW / STEP)) * STEP,
                      at_y = there ? resolve(y + row, n_y, f.edge) : -1;
            const element *from = in + (i64)(at_y < 0 ? 0 : at_y) * f.in_y;
            if (WHOLE && at_y >= 0 && column >= 0 && column + STEP <= n_x) {
                copy_vector(to + g * STEP, from + column);
            } else {
#pragma unroll 1
                for (int i = 0; i < STEP; i++) {
                    const int at = resolve_x(column + i, n_x, f.edge);
                    if (at_y >= 0 && at >= 0)
                        copy_element<SIZE>(to + g * STEP + i, from + at);
                    else
                        to[g * STEP + i] = ghost_of(f);
                }
            }
        }
    }
}

// The constants that copy_rows leaves out, in all N rows of the ring.
template <int N> __device__ __forceinline__ void prepare_ring(element *ring, const frame &f, bool plain, int x) {
    if (plain && (x < PAD_LEFT || x + TILE + PAD_RIGHT > (int)f.n_x)) {
#pragma unroll 1
        for (int at = threadIdx.x; at < N * ROW; at += THREADS) {
            const int column = x - PAD_LEFT + at % ROW;
            if (column < 0 || column >= (int)f.n_x)
                ring[at] = ghost_of(f);
        }
        __syncthreads(); // rows of constants are written over them
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
