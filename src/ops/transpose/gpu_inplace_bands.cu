// SPDX-License-Identifier: Apache-2.0
// gpu_inplace_bands.cu - production, in place, matrices that are not square: half of the tiles go to their places at once, the others by way of the workspace.
//
// Rows are read in bands, in order. Where a tile is to go, other rows lie; once all of those have been read, it may be written there, which is so for tiles whose
// place lies in earlier bands. The others are kept in the workspace, at the same place of an array of the result's shape: of each row of the result a first
// part. When all has been read they are copied from there (`back_bands`): three passes over memory, where a transpose between two arrays has two.
//
// Blocks take numbers as they begin, so a block waits for such alone as have begun before it, and those wait for nothing before they have read.
//
// -DTILE elements a side of a tile, -DTHREADS a block, -DBLOCKS a multiprocessor at least.
#if VECTORS
#include "ops/transpose/gpu_squares.cuh"
#else
#include "ops/transpose/gpu_columns.cuh"
#endif

enum { EACH = 4, PIECE = EACH * 4096 }; // vectors a thread, bytes a block of back_bands

struct bands {
    i64 rows, columns; // of a matrix
    int down, across;  // tiles
    int high;          // tiles of a band
    int count;         // bands
    int pieces;        // of a row and its fellow, at most
    int batch;
};

// Whether band b keeps what goes to rows up to p of the result: something that is to be there lies in the band or behind it.
__device__ bool keeps(const bands &m, i64 p, int b) {
    const i64 high = (i64)m.high * T, end = (b + 1) * high < m.rows ? (b + 1) * high : m.rows;
    return (p * m.rows + end - 1) / m.columns >= b * high;
}

// count[0]: blocks that have begun; count[1 + n]: tiles of band n that have been read. kept: for each tile along the columns, how many elements of a row of
// the result are kept.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) turn_bands(element *data, element *keep, unsigned *count, i64 *kept, const bands m) {
    extern __shared__ uint4 room[];
    __shared__ unsigned number;
    if (threadIdx.x == 0)
        number = atomicAdd(count, 1u);
    __syncthreads();
    const unsigned tiles = (unsigned)(m.down * m.across), full = (unsigned)(m.high * m.across), mine = number % tiles;
    const int band = (int)(mine / full), top = band * m.high, here = m.down - top < m.high ? m.down - top : m.high;
    const int i = top + (int)(mine % full % (unsigned)here), j = m.across - 1 - (int)(mine % full / (unsigned)here); // first what is kept
    const i64 down = (i64)i * T, across = (i64)j * T, all = m.rows * m.columns, first = number / tiles * all, high = (i64)m.high * T;
    data += first;
    count += 1 + (i64)(number / tiles) * m.count;
    tile t = {
        (const char *)(data + down * m.columns + across), (char *)(keep + first + across * m.rows + down), m.columns * SIZE, m.rows * SIZE, T, T};
    t.rows = m.rows - down < T ? (int)(m.rows - down) : T;
    t.columns = m.columns - across < T ? (int)(m.columns - across) : T;
    bring(room, t, (const char *)data, (const char *)(data + all));
    const i64 last = across + t.columns - 1;
    const bool keeping = keeps(m, last, band);
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count + band, 1u);
        if (number < tiles && i == top && keeping && (band + 1 == m.count || !keeps(m, last, band + 1)))
            kept[j] = (band + 1) * high < m.rows ? (band + 1) * high : m.rows;
    }
    if (!keeping) {
        const int to = (int)((last * m.rows + down + t.rows - 1) / m.columns / high);
        for (int b = (int)((across * m.rows + down) / m.columns / high) + (int)threadIdx.x; b <= to; b += THREADS)
            while (*(volatile unsigned *)(count + b) < full)
                ;
        __threadfence();
        __syncwarp();
        __syncthreads();
        t.to = (char *)(data + across * m.rows + down);
    }
    put((const char *)room, t);
}

// Row p and its fellow, the same row from the end: two such have about as much to copy as any other two. EACH times 16 bytes a thread.
extern "C" __global__ void back_bands(char *data, const char *keep, const i64 *kept, const bands m) {
    const unsigned pairs = (unsigned)((m.columns + 1) / 2), pair = blockIdx.x / (unsigned)m.pieces, p = pair % pairs;
    const i64 first = pair / pairs * m.rows * m.columns * SIZE, fellow = m.columns - 1 - p;
    i64 piece = blockIdx.x % (unsigned)m.pieces, begin = first + p * m.rows * SIZE, end = begin + kept[p / T] * SIZE;
    const i64 pieces = (end - (begin & ~15ll) + PIECE - 1) / PIECE;
    if (piece >= pieces) {
        if (fellow == p)
            return;
        piece -= pieces;
        begin = first + fellow * m.rows * SIZE;
        end = begin + kept[fellow / T] * SIZE;
    }
    const i64 from = (begin & ~15ll) + piece * PIECE + threadIdx.x * 16;
    if (from - threadIdx.x * 16 >= begin && from - threadIdx.x * 16 + PIECE <= end) {
        uint4 x[EACH];
#pragma unroll
        for (int k = 0; k < EACH; k++)
            x[k] = *(const uint4 *)(keep + from + k * 4096);
#pragma unroll
        for (int k = 0; k < EACH; k++)
            *(uint4 *)(data + from + k * 4096) = x[k];
        return;
    }
    for (int k = 0; k < EACH; k++) {
        const i64 at = from + k * 4096;
        if (at >= begin && at + 16 <= end)
            *(uint4 *)(data + at) = *(const uint4 *)(keep + at);
        else
            for (int e = 0; e < 16; e += SIZE)
                if (at + e >= begin && at + e < end)
                    *(element *)(data + at + e) = *(const element *)(keep + at + e);
    }
}
