// SPDX-License-Identifier: Apache-2.0
// gpu_inplace.cu - in place, elements of 1 to 16 bytes: two tiles that are mirror images change places, both turned on the way through shared memory.
//
// A block holds both tiles of a pair before it writes either, so no other block sees what it changes, and no order between blocks is needed: the bytes
// moved are those of a transpose between two arrays. Tiles on the diagonal are their own images. Blocks are numbered along rows of the upper triangle,
// folded: a row of few pairs shares its place in the grid with one of many.
//
// Matrices that are not square have no such pairs; `turn` writes them to the workspace, tile by tile, and `back` copies that over the array.
//
// -DSIZE bytes an element, -DUNIT bytes a word: where rows are whole words, elements of 1 and 2 bytes go K = UNIT / SIZE rows and columns at a time, turned
// in registers by byte permutations. A tile is T x T elements (-DTILE), in words of its rows W; row K * a + b of it, turned, lies in row b * W + a of shared
// memory, whose odd pitch keeps both accesses free of conflicts.
#include "ops/transpose/gpu_piece.cuh"

typedef piece<UNIT>::type word;

enum { T = TILE, K = UNIT / SIZE, W = T / K, PITCH = W + 1, THREADS = 256, EACH = W * W / THREADS };

struct matrices {
    i64 rows, columns; // elements
    i64 count;         // `back`: words in all
    int down, across;  // tiles of a matrix
};

// K words, a square of K x K elements, turned.
__device__ void turned(word (&v)[K]) {
#if UNIT == 4 && SIZE == 2
    word a = v[0];
    v[0] = __byte_perm(a, v[1], 0x5410);
    v[1] = __byte_perm(a, v[1], 0x7632);
#elif UNIT == 4 && SIZE == 1
    word a = __byte_perm(v[0], v[1], 0x5140), b = __byte_perm(v[2], v[3], 0x5140);
    word c = __byte_perm(v[0], v[1], 0x7362), d = __byte_perm(v[2], v[3], 0x7362);
    v[0] = __byte_perm(a, b, 0x5410);
    v[1] = __byte_perm(a, b, 0x7632);
    v[2] = __byte_perm(c, d, 0x5410);
    v[3] = __byte_perm(c, d, 0x7632);
#endif
}

// A tile, turned, into shared memory. rows, words: what there is of it; pitch: words of a row of the matrix.
__device__ void take(word *tile, const word *from, i64 pitch, int rows, int words) {
    word v[EACH][K];
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        int m = threadIdx.x + e * THREADS, row = m / W * K, at = m % W;
#pragma unroll
        for (int i = 0; i < K; i++)
            if (row < rows && at < words)
                v[e][i] = from[(row + i) * pitch + at];
    }
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        int m = threadIdx.x + e * THREADS, row = m / W, at = m % W;
        if (row * K < rows && at < words) {
            turned(v[e]);
#pragma unroll
            for (int i = 0; i < K; i++)
                tile[(i * W + at) * PITCH + row] = v[e][i];
        }
    }
}

// A turned tile to its place.
__device__ void put(word *to, const word *tile, i64 pitch, int rows, int words) {
#pragma unroll
    for (int e = 0; e < EACH * K; e++) {
        int n = threadIdx.x + e * THREADS, row = n / W, at = n % W;
        if (row < rows && at < words)
            to[row * pitch + at] = tile[(row % K * W + row / K) * PITCH + at];
    }
}

__device__ int there(i64 size, int tile) { return size - (i64)tile * T < T ? (int)(size - (i64)tile * T) : T; }

extern "C" __global__ void __launch_bounds__(THREADS) exchange(word *data, const matrices m) {
    __shared__ word upper[T * PITCH], lower[T * PITCH];
    const int n = m.down, wide = n % 2 ? n : n + 1, high = (n + 1) / 2;
    const i64 matrix = blockIdx.x / (wide * high), pitch = m.columns / K;
    int number = (int)(blockIdx.x % (wide * high)), i = number / wide, j = number % wide;
    if (j < n - i) {
        j += i;
    } else {
        j -= n - i;
        i = n % 2 ? n - i : n - 1 - i;
        j += i;
    }
    word *at = data + matrix * m.rows * pitch, *above = at + (i64)i * T * pitch + j * W, *below = at + (i64)j * T * pitch + i * W;
    const int rows = there(m.rows, i), columns = there(m.rows, j);
    take(upper, above, pitch, rows, columns / K);
    if (i != j)
        take(lower, below, pitch, columns, rows / K);
    __syncthreads();
    put(below, upper, pitch, columns, rows / K);
    if (i != j)
        put(above, lower, pitch, rows, columns / K);
}

extern "C" __global__ void __launch_bounds__(THREADS) turn(const word *data, word *to, const matrices m) {
    __shared__ word tile[T * PITCH];
    const i64 matrix = blockIdx.x / ((i64)m.down * m.across);
    const int number = (int)(blockIdx.x % ((i64)m.down * m.across)), i = number / m.across, j = number % m.across;
    const i64 first = matrix * m.rows * (m.columns / K);
    const int rows = there(m.rows, i), columns = there(m.columns, j);
    take(tile, data + first + (i64)i * T * (m.columns / K) + j * W, m.columns / K, rows, columns / K);
    __syncthreads();
    put(to + first + (i64)j * T * (m.rows / K) + i * W, tile, m.rows / K, columns, rows / K);
}

extern "C" __global__ void __launch_bounds__(THREADS) back(word *data, const word *from, const matrices m) {
    i64 first = blockIdx.x * (4ll * THREADS) + threadIdx.x;
    word v[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (first + i * THREADS < m.count)
            v[i] = from[first + i * THREADS];
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (first + i * THREADS < m.count)
            data[first + i * THREADS] = v[i];
}
