// SPDX-License-Identifier: Apache-2.0
// gpu_run_leaf.cuh - a leaf of elements that are neighbours, by a warp: eight of its 256 lanes a thread, vectors of E elements (-DVECTOR=E), sums that have an order.
//
// The leaf is 32 rows of 256 elements, one for each lane of the tree. A thread reads vectors t and t + 32, ... of each row, so that tree lane number
// (k * 32 + t) * E + j is its own accumulator [k][j]. The halving then needs no memory: lanes 128 (and 64) apart meet in the thread, those of the threads t
// and t + 16, 8, 4, 2, 1 by shuffles, the last ones in the thread again.
//
// -DSHIFTED=1, of small elements, eight of them a vector: the leaf begins anywhere, and an element at a time would be a quarter or an eighth of what a warp might ask for.
// Vectors are cut where memory is, so [j] is the tree's lane of m places before. Lanes 128, 64, ..., 1 apart meet, which is the same from whichever one begins: merging has no
// sides. The elements of the two vectors that are not whole come in one load, an element a thread, and are handed to the threads that have their lanes.
//
// With a leaf_walk the elements are whole vectors of runs that lie apart, each of which is looked for.
#ifndef TESS_REDUCE_RUN_LEAF_CUH
#define TESS_REDUCE_RUN_LEAF_CUH
#include "ops/reduce/gpu_node.cuh"

enum { E = VECTOR, K = 8 / E };
union vector {
    words<E * sizeof(element)> all;
    element part[E];
};

#if SHIFTED
static_assert(K == 1, "a vector has all of a thread's lanes");

__device__ void take_lanes(node (&lane)[K][E], const element *from, int n) {
    enum { ROWS = WHOLE ? UNROLL : 8 };
    const int t = threadIdx.x % 32, m = (int)((u64)from & (E * sizeof(element) - 1)) / (int)sizeof(element);
    const int behind = (n + m) / E; // the number of the vector behind the whole ones; number v begins with element v * E - m
    const int edge = t < E ? t - m : behind * E - m + t - E;
    const bool at_edge = t < E ? m > 0 && edge >= 0 && edge < n : t < 2 * E && edge < n && (behind > 0 || m == 0);
    const unsigned starts = n < E ? 0 : n - E + 1; // elements that a whole vector can begin with
    const element *at = from - m + t * E;
    element e = {};
    if (at_edge)
        e = from[edge];
#pragma unroll 1
    for (int row = 0; row == 0 || row * 32 < behind; row += ROWS, at += ROWS * 256) {
        const int i = (row * 32 + t) * E - m;
        vector v[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            if ((unsigned)(i + r * 256) < starts)
                load_now(v[r].all, at + r * 256);
        if (row == 0 && m > 0)
#pragma unroll
            for (int j = 0; j < E; j++) {
                const element other = __shfl_sync(ALL, e, j);
                if (t == 0 && j >= m && j - m < n)
                    take(lane[0][j], other, 0);
            }
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            if ((unsigned)(i + r * 256) < starts)
#pragma unroll
                for (int j = 0; j < E; j++)
                    take(lane[0][j], v[r].part[j], 0);
    }
    if (behind > 0 || m == 0)
#pragma unroll
        for (int j = 0; j < E; j++) {
            const element other = __shfl_sync(ALL, e, E + j);
            if (t == behind % 32 && behind * E - m + j < n)
                take(lane[0][j], other, 0);
        }
}
#else
// ROWS rows of 256 elements from `at` on, this thread's first vector, all on their way at once. ALL_THERE: they are whole, else `left` elements are there.
template <int ROWS, bool ALL_THERE> __device__ void take_rows(node (&lane)[K][E], const element *at, int left) {
    const int t = threadIdx.x % 32;
    vector v[ROWS][K];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int k = 0; k < K; k++) {
            const int i = r * 256 + (k * 32 + t) * E;
            if (ALL_THERE || i + E <= left)
                load_now(v[r][k].all, at + r * 256 + k * 32 * E);
            else
#pragma unroll
                for (int j = 0; j < E - 1; j++)
                    if (i + j < left)
                        v[r][k].part[j] = at[r * 256 + k * 32 * E + j];
        }
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int k = 0; k < K; k++)
#pragma unroll
            for (int j = 0; j < E; j++)
                if (ALL_THERE || r * 256 + (k * 32 + t) * E + j < left)
                    take(lane[k][j], v[r][k].part[j], 0);
}

__device__ void take_lanes(node (&lane)[K][E], const element *from, int n) {
    const int t = threadIdx.x % 32;
#if WHOLE
    const element *at = from + t * E;
    if (n == 8192) {
        enum { ROWS = UNROLL / K };
        for (int row = 0; row < 32; row += ROWS, at += ROWS * 256)
            take_rows<ROWS, true>(lane, at, 0);
        return;
    }
    for (; n >= 1024; n -= 1024, at += 1024)
        take_rows<4, true>(lane, at, 0);
    enum { REST = sizeof(element) < 8 ? 4 : 1 }; // rows at once: wide elements have no registers for more; measured
    for (; REST == 1 && n >= 256; n -= 256, at += 256)
        take_rows<1, true>(lane, at, 0);
    if (n > 0)
        take_rows<REST, false>(lane, at, n);
#else // fewer registers, which more warps have
    int row = 0;
    for (; (row + 4) * 256 <= n; row += 4)
        take_rows<4, true>(lane, from + row * 256 + t * E, 0);
    for (; (row + 1) * 256 <= n; row++)
        take_rows<1, true>(lane, from + row * 256 + t * E, 0);
    if (row * 256 < n)
#pragma unroll
        for (int k = 0; k < K; k++)
#pragma unroll
            for (int j = 0; j < E; j++) {
                int i = row * 256 + (k * 32 + t) * E + j;
                if (i < n)
                    take(lane[k][j], from[i], 0);
            }
#endif
}
#endif

#if RANK > 1
// UNROLL of a thread's vectors, all on their way at once. ALL_THERE: the warp has all of them, else those before `left` elements.
template <bool ALL_THERE, typename WALK> __device__ __forceinline__ void take_vectors(node (&lane)[K][E], const element *from, WALK &walk, int left) {
    vector v[UNROLL];
#pragma unroll
    for (int i = 0; i < UNROLL; i++) {
        const element *at = from + walk.next();
        if (ALL_THERE) {
            load_now(v[i].all, at);
        } else {
            v[i].all = {};
            load_if(v[i].all, at, i * 32 * E < left);
        }
    }
#pragma unroll
    for (int i = 0; i < UNROLL; i++)
        if (ALL_THERE || i * 32 * E < left)
#pragma unroll
            for (int j = 0; j < E; j++)
                take(lane[i % K][j], v[i].part[j], 0);
}
template <typename WALK> __device__ void take_lanes(node (&lane)[K][E], const element *from, int n, WALK &walk) {
    enum { AT_ONCE = UNROLL * 32 * E };
#pragma unroll 1
    for (; n >= AT_ONCE; n -= AT_ONCE)
        take_vectors<true>(lane, from, walk, 0);
    if (n > 0)
        take_vectors<false>(lane, from, walk, n - (int)(threadIdx.x % 32) * E);
}
#endif

// n elements, the node the first thread's. walk: where the thread's vectors lie, or nothing.
template <typename... WALK> __device__ node leaf(const element *from, int n, WALK... walk) {
    node lane[K][E];
#pragma unroll
    for (int k = 0; k < K; k++)
#pragma unroll
        for (int j = 0; j < E; j++)
            lane[k][j] = nothing();
    take_lanes(lane, from, n, walk...);
#pragma unroll
    for (int k = K / 2; k > 0; k /= 2)
#pragma unroll
        for (int i = 0; i < k; i++)
#pragma unroll
            for (int j = 0; j < E; j++)
                merge(lane[i][j], lane[i + k][j]);
#pragma unroll
    for (int down = 16; down > 0; down /= 2)
#pragma unroll
        for (int j = 0; j < E; j++)
            merge(lane[0][j], above(lane[0][j], down));
#pragma unroll
    for (int j = E / 2; j > 0; j /= 2)
#pragma unroll
        for (int i = 0; i < j; i++)
            merge(lane[0][i], lane[0][i + j]);
    return lane[0][0];
}
#endif
