// SPDX-License-Identifier: Apache-2.0
// gpu_leaf.cuh - what a leaf of any layout comes to: a block, a thread each of the tree's 256 lanes.
//
// Of moments a lane has at most 32 elements, which all are on their way at once and stay in registers for the second look (gpu_moments.cuh): a leaf that is looked for
// again comes from L2, which then gives twice what memory does. Elements along several axes (-DRANK) are looked up again, for finding their places takes longer.
// Lanes 128, 64 and 32 apart meet in shared memory, the others by shuffles: one barrier a leaf, or a look.
#ifndef TESS_REDUCE_LEAF_CUH
#define TESS_REDUCE_LEAF_CUH
#include "ops/reduce/gpu_node.cuh"
#include "ops/reduce/gpu_lanes.cuh"

// n elements from number `first` on.
#if KIND == VAR
// The halving tree over a block's lanes and the sum of what they count, for all threads: every warp reads all lanes for itself. `room` must not be what the call before had.
__device__ double halved(double *room, int *counts, double lane, int &count) {
    const int t = threadIdx.x % 32;
    room[threadIdx.x] = lane;
    if (OMIT) {
        count = __reduce_add_sync(ALL, count);
        if (t == 0)
            counts[threadIdx.x / 32] = count;
    }
    __syncthreads();
    double part[8];
#pragma unroll
    for (int j = 0; j < 8; j++)
        part[j] = room[t + 32 * j];
#pragma unroll
    for (int w = 4; w > 0; w /= 2)
#pragma unroll
        for (int j = 0; j < w; j++)
            part[j] += part[j + w];
#pragma unroll
    for (int across = 16; across > 0; across /= 2)
        part[0] += __shfl_xor_sync(ALL, part[0], across);
    if (OMIT) {
        count = 0;
        for (int w = 0; w < 8; w++)
            count += counts[w];
    }
    return part[0];
}

union leaf_element {
    words<sizeof(element)> all;
    element value;
};

#if RANK == 1
// A thread's elements of a leaf, in parts of PART rows of 256. Of a part that is whole nothing is asked, and of one that is not there nothing is done: what is asked for each
// element would take more instructions than the looks.
enum { PART = 8, PARTS_OF_LEAF = 32 / PART };
struct leaf_part {
    leaf_element held[PART];
    template <bool WHOLE_PART> __device__ __forceinline__ void load(const element *from, i64 step, int left) {
#pragma unroll
        for (int i = 0; i < PART; i++) {
            if (!WHOLE_PART)
                held[i] = {};
            if (WHOLE_PART || i * 256 < left)
                load_now(held[i].all, from + i * step);
        }
    }
    template <bool WHOLE_PART> __device__ __forceinline__ void first(double &lane, int left, int &count) const {
#pragma unroll
        for (int i = 0; i < PART; i++)
            lane += first_look(held[i].value, WHOLE_PART || i * 256 < left, count);
    }
    template <bool WHOLE_PART> __device__ __forceinline__ void second(double &lane, int left, double mean) const {
#pragma unroll
        for (int i = 0; i < PART; i++)
            lane += second_look(held[i].value, WHOLE_PART || i * 256 < left, mean);
    }
};

// use(number of a part, WHOLE_PART or not), for each that has elements.
template <typename WHOLE_USE, typename SOME_USE> __device__ __forceinline__ void for_parts(int n, const WHOLE_USE &whole, const SOME_USE &some) {
#pragma unroll
    for (int c = 0; c < PARTS_OF_LEAF; c++)
        if (n >= (c + 1) * PART * 256)
            whole(c);
        else if (n > c * PART * 256)
            some(c);
}
#endif

template <typename P> __device__ node of_leaf(const P &p, const element *from, i64 first, int n) {
    __shared__ double room[2][256];
    __shared__ int counts[2][8];
    const int left = n - (int)threadIdx.x;
    int count = 0, same = 0;
    double lane = 0;
#if RANK == 1
    enum { APART = PART * 256 };
    const i64 step = RUN ? 256 : 256 * p.step[0];
    leaf_part part[PARTS_OF_LEAF];
    from += RUN ? first + threadIdx.x : (first + threadIdx.x) * p.step[0];
    for_parts(
        n, [&](int c) { part[c].load<true>(from + c * PART * step, step, 0); },
        [&](int c) { part[c].load<false>(from + c * PART * step, step, left - c * APART); });
    for_parts(
        n, [&](int c) { part[c].first<true>(lane, 0, count); }, [&](int c) { part[c].first<false>(lane, left - c * APART, count); });
#else
    for (int i = 0; i < left; i += 256)
        lane += first_look(from[place(p, first + threadIdx.x + i)], true, count);
#endif
    lane = halved(room[0], counts[0], lane, count);
    count = OMIT ? count : n;
    const double mean = mean_of(lane, count);
    lane = 0;
#if RANK == 1
    for_parts(
        n, [&](int c) { part[c].second<true>(lane, 0, mean); }, [&](int c) { part[c].second<false>(lane, left - c * APART, mean); });
#else
    for (int i = 0; i < left; i += 256)
        lane += second_look(from[place(p, first + threadIdx.x + i)], true, mean);
#endif
    return moments_of(mean, halved(room[1], counts[1], lane, same), count);
}
#else
// What a block's lanes come to, for the first thread: the first warp's threads have eight of them each, 32 apart, which meet in the thread, the others by shuffles. Blocks
// that have another leaf wait before it.
__device__ node lanes_met(const node &mine) {
    __shared__ node lane[256];
    lane[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x >= 32)
        return mine;
    node whole = subtree<0, 1, 8, node>([&](int m) { return lane[threadIdx.x + 32 * m]; });
#pragma unroll
    for (int down = 16; down > 0; down /= 2)
        merge(whole, above(whole, down));
    return whole;
}

template <typename P> __device__ node of_leaf(const P &p, const element *from, i64 first, int n) {
    enum { AT_ONCE = 4 }; // elements of a thread, on their way
    node mine = nothing();
#pragma unroll 1
    for (int i = threadIdx.x; i < n; i += AT_ONCE * 256) {
        element x[AT_ONCE];
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++)
            if (i + j * 256 < n)
                x[j] = from[place(p, first + i + j * 256)];
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++)
            if (i + j * 256 < n)
                take(mine, x[j], first + i + j * 256);
    }
    return lanes_met(mine);
}
#endif
#endif
