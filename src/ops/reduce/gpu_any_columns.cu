// SPDX-License-Identifier: Apache-2.0
// gpu_any_columns.cu - production, outputs side by side of what no order of operations can change: a thread a vector of V columns, a warp every ROWS-th row.
//
// There are no lanes to keep apart: what a thread has is V words, of small elements taken in a word at a time (gpu_across.cuh), and -DROUNDS vectors of 16 bytes are on their way. A block has a leaf of
// 32 V columns, whose ROWS warps, 8 or 1, meet once in shared memory (-DROOM nodes), a thread a column. Leaves have -DLEAF rows, fewer where blocks would be few, and meet in `finish`. -DRAGGED=1: rows of small
// elements begin anywhere.
#include "ops/reduce/gpu_columns.cuh"
#include "ops/reduce/gpu_lanes.cuh"
#include "ops/reduce/gpu_across.cuh"

enum { ACROSS = 32 * V, THREADS = 32 * ROWS };

#if RAGGED
// The 16 bytes from any element on are those of two vectors of memory.
struct places : columns {
    i64 low, high; // where the array begins and ends
};
struct asked {
    words<16> low, high;
};
__device__ __forceinline__ const char *before(const char *at) { return at - ((u64)at & 15); }
template <bool SURE> __device__ __forceinline__ void ask(asked &x, const char *at, bool there) {
    if (SURE) {
        load_now(x.low, before(at));
        load_now(x.high, before(at) + 16);
    } else {
        load_if(x.low, before(at), there);
        load_if(x.high, before(at) + 16, there);
    }
}
__device__ __forceinline__ vector had(asked &x, const char *at) {
    vector v;
    unsigned word[8], bytes = (unsigned)(u64)at & 15;
    as_words(x.low);
    as_words(x.high);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        word[i] = x.low.word[i];
        word[4 + i] = x.high.word[i];
    }
#pragma unroll
    for (int i = 0; i < 6; i++)
        word[i] = bytes & 8 ? word[i + 2] : word[i];
#pragma unroll
    for (int i = 0; i < 5; i++)
        word[i] = bytes & 4 ? word[i + 1] : word[i];
#pragma unroll
    for (int i = 0; i < 4; i++)
        v.all.word[i] = __funnelshift_r(word[i], word[i + 1], bytes % 4 * 8);
    return v;
}
// Rows of which an array does not have both vectors whole, an element at a time.
__device__ __forceinline__ void take_single(taken &all, const char *at, int row, const char *high) {
    vector v = {};
#pragma unroll
    for (int i = 0; i < V; i++)
        if (at + i * SIZE < high)
            v.part[i] = ((const element *)at)[i];
    all.take(v, row, EVERY);
}
#else
typedef columns places;
typedef vector asked;
template <bool SURE> __device__ __forceinline__ void ask(asked &x, const char *at, bool there) {
    if (SURE)
        load_now(x.all, at);
    else
        load_if(x.all, at, there);
}
__device__ __forceinline__ const vector &had(asked &x, const char *) {
    as_words(x.all);
    return x;
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, AT_LEAST) any_columns(const element *in, result *out, node *partial, const places c) {
    __shared__ met room[ROOM];
    const int warp = threadIdx.x / 32, t = threadIdx.x % 32;
    i64 strips = (c.width + ACROSS - 1) / ACROSS, block = blockIdx.x, strip = block % strips, at_in, at_out;
    block /= strips;
    const i64 leaf = block % c.leaves, batch = block / c.leaves, first = leaf * LEAF, column = strip * ACROSS;
    const int here = c.width - column < ACROSS ? (int)(c.width - column) : ACROSS; // columns
    place_of(c, batch, at_in, at_out);
    if (t * V < here) {
        const int n = c.k - first < LEAF ? (int)(c.k - first) : LEAF, rows = (n + ROWS - 1 - warp) / ROWS; // of the warp
        const element *from = in + at_in + column + t * V;
#if RANK == 1
        const char *at = (const char *)(from + (first + warp) * c.step[0]); // goes along
        const i64 apart = c.step[0] * (ROWS * SIZE);
        const auto row_at = [&](int j) { return at + apart * j; };
#else
        leaf_walk<places, ROWS> walk(c, first + warp);
        const char *at = nullptr;
        const i64 apart = 0;
        const auto row_at = [&](int) { return (const char *)(from + walk.next()); };
#endif
        taken all;
        int i = 0, end = rows;
#if RAGGED
        const char *low = (const char *)(in + c.low), *high = (const char *)(in + c.high);
        const auto whole = [&](const char *from) { return before(from) >= low && before(from) + 32 <= high; };
        while (end > 0 && !whole(at + apart * (end - 1)))
            end--;
#pragma unroll 1
        for (; i < end && !whole(at); i++, at += apart)
            take_single(all, at, i, high);
#endif
#pragma unroll 1
        for (; i + ROUNDS <= end; i += ROUNDS, at += apart * ROUNDS) {
            asked x[ROUNDS];
#pragma unroll
            for (int j = 0; j < ROUNDS; j++)
                ask<true>(x[j], row_at(j), true);
#pragma unroll
            for (int j = 0; j < ROUNDS; j++)
                all.take(had(x[j], at + apart * j), i + j, EVERY);
        }
        if (i < end) {
            asked x[ROUNDS];
#pragma unroll
            for (int j = 0; j < ROUNDS; j++)
                ask<false>(x[j], row_at(j), i + j < end);
#pragma unroll
            for (int j = 0; j < ROUNDS; j++)
                if (i + j < end)
                    all.take(had(x[j], at + apart * j), i + j, EVERY);
        }
#if RAGGED
#pragma unroll 1
        for (at += apart * (end - i), i = end; i < rows; i++, at += apart)
            take_single(all, at, i, high);
#endif
#pragma unroll
        for (int v = 0; v < V; v++)
            room[spot(warp * ACROSS + t * V + v)] = met_of(all, v, rows, 0, warp);
    }
    __syncthreads();
#pragma unroll 1
    for (int i = threadIdx.x; i < here; i += THREADS) {
        const node whole = node_of(subtree<0, 1, ROWS, met>([&](int r) { return room[spot(r * ACROSS + i)]; }), first);
#if NARROW // there is one leaf
        out[at_out + (column + i) * c.out_step] = finished(whole, c.k, c.ddof);
#else
        partial[(batch * c.leaves + leaf) * c.width + column + i] = whole;
#endif
    }
}
