// SPDX-License-Identifier: Apache-2.0
// gpu_tile1d.cu - production: long masks along a row. A thread has EACH outputs side by side; an element that it reads serves all of them.
//
// patch takes a lane's window from its neighbours' registers, which ends with a mask of V elements on either side. Here a tile and its halo pass through
// shared memory once. A thread reads each element of its window once and adds it to the EACH sums that it concerns, so that a multiply-add needs no operand
// from memory: taps come in ascending order for each sum, because elements do. Results go back through the same shared memory, so that stores are whole
// rows of vectors. One tile a block and many small blocks: on an H200 blocks that stay and prefetch are slower.
//
// Every EACH elements are followed by 16 bytes that are not used: threads then read vectors EACH elements apart without bank conflicts.
// Beyond LONG taps the mask is walked in pieces of PIECE, because a body of more than some 2000 multiply-adds leaves the instruction cache.
//
// -DEACH, -DTHREADS.
#include "ops/correlate/gpu_copies.cuh"

enum { PIECE = 64, LONG = 128 };
const int TILE = THREADS * EACH, VECTOR = 16 / SIZE, PAD_LEFT = up_to(LEFT, EACH), WIDE = up_to(PAD_LEFT + TILE + RIGHT, EACH);
const int START = PAD_LEFT - LEFT; // of a thread's window in its tile

__device__ __forceinline__ unsigned place(unsigned element, unsigned size) { return element * size + element / EACH * (size == 1 ? 0 : 16); }

// Taps first ... first + COUNT - 1.
template <int COUNT> __device__ __forceinline__ void add_piece(work (&sum)[EACH], const char *tile, int first, const tap_list<KX> &taps) {
    const int SKIP = START % VECTOR, VECTORS = (SKIP + (COUNT - 1) * GROUP + EACH + VECTOR - 1) / VECTOR;
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        const int at = START - SKIP + v * VECTOR;
        uint4 all = *(const uint4 *)(tile + place(threadIdx.x * EACH + first * GROUP, SIZE) + place(at, SIZE));
        const unsigned word[4] = {all.x, all.y, all.z, all.w};
#pragma unroll
        for (int i = 0; i < VECTOR; i++) {
            work value = cell(word, i);
#pragma unroll
            for (int o = 0; o < EACH; o++) {
                const int distance = v * VECTOR + i - SKIP - o, k = distance / GROUP;
                if (distance >= 0 && distance % GROUP == 0 && k < COUNT)
                    sum[o] = multiply_add(value, taps.w[first + k], sum[o]);
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    tile1d(const element *in, result *out, const frame f, const unsigned rows, const tap_list<KX> taps) {
    extern __shared__ uint4 memory[];
    char *tile = (char *)memory;
    const i64 x = (i64)blockIdx.x * TILE;
    const unsigned number = blockIdx.z * gridDim.y + blockIdx.y;
    if (number >= rows)
        return;
    find_array(f, number, in, out);
    const element *from = in + (x - PAD_LEFT);
    if (WHOLE && x >= PAD_LEFT && x + (WIDE - PAD_LEFT) <= f.n_x) {
#pragma unroll
        for (int e = threadIdx.x * VECTOR; e < WIDE; e += THREADS * VECTOR)
            copy_vector((unsigned)__cvta_generic_to_shared(tile) + place(e, SIZE), from + e);
    } else {
        for (int e = threadIdx.x; e < WIDE; e += THREADS) {
            i64 at = resolve_x(x - PAD_LEFT + e, f.n_x, f.edge);
            if (at >= 0)
                copy_element<SIZE>((unsigned)__cvta_generic_to_shared(tile) + place(e, SIZE), in + at);
            else
                *(element *)(tile + place(e, SIZE)) = ghost_of(f);
        }
    }
    end_copies();
    await_copies<0>();
    __syncthreads();
    work sum[EACH];
#pragma unroll
    for (int o = 0; o < EACH; o++)
        sum[o] = 0;
    if (KX <= LONG) {
        add_piece<KX>(sum, tile, 0, taps);
    } else {
        const int REST = KX <= LONG || KX % PIECE == 0 ? PIECE : KX % PIECE;
#pragma unroll 1
        for (int first = 0; first + PIECE <= KX; first += PIECE)
            add_piece<PIECE>(sum, tile, first, taps);
        if (KX % PIECE)
            add_piece<REST>(sum, tile, KX - REST, taps);
    }
    const i64 left = f.m_x - x;
    const int m = left < TILE ? (int)left : TILE, THERE = 16 / (int)sizeof(result);
    __syncthreads();
    packed<EACH>(sum).store(tile + place(threadIdx.x * EACH, sizeof(result)));
    __syncthreads();
    if (WHOLE && m == TILE) {
#pragma unroll
        for (int e = threadIdx.x * THERE; e < TILE; e += THREADS * THERE)
            *(uint4 *)(out + x + e) = *(const uint4 *)(tile + place(e, sizeof(result)));
    } else {
        for (int e = threadIdx.x; e < m; e += THREADS)
            out[x + e] = *(const result *)(tile + place(e, sizeof(result)));
    }
}
