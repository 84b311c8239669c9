// SPDX-License-Identifier: Apache-2.0
// gpu_tree_rows.cu - production, runs without gaps: a warp a leaf of the tree, eight of the leaf's 256 lanes a thread.
//
// A leaf is 32 rows of 256 elements, one for each lane of the tree. A thread reads vectors of E elements (-DVECTOR=E, 16 bytes where E fits), vector t and
// t + 32, ... of each row, so that tree lane number (k * 32 + t) * E + j is the thread's own accumulator [k][j]. The halving then needs no memory:
// lanes 128 (and 64) apart meet in the thread, those of the threads t and t + 16, 8, 4, 2, 1 by shuffles, the last ones in the thread again. The 8
// leaves of a block (-DWARPS) are paired in shared memory; SLOTS (1, 2, 4, WARPS) of them belong to one output. -DLEAVES=8: a warp has as
// many leaves, which for elements of a byte make its life long enough. What is left, one node a block, is
// paired by `finish`, or with -DTICKET=1 by the last block of the only output (-DMANY=1: more than eight a thread).
//
// -DUNROLL vectors are on their way at once, but only if the compiler is told with -DAT_LEAST how few blocks a multiprocessor must hold: left to itself it
// saves registers by putting sums between the loads, and a warp, which does one thing after the other, then waits with three or four on their way.
//
// -DPACKED=1: whole leaves by words of small elements (gpu_packed.cuh). -DWHOLE=0: no leaf is whole; without that path, which holds 16 vectors, three
// times as many threads fit on a multiprocessor, which is what many short rows need.
#include "ops/reduce/gpu_finish.cuh"
#if PACKED
#include "ops/reduce/gpu_packed.cuh"
#endif

enum { E = VECTOR, K = 8 / E };
union vector {
    words<E * sizeof(element)> all;
    element part[E];
};

struct rows {
    i64 k, outputs, groups; // elements and groups of 8 leaves an output
    double ddof;
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1]; // the kept axes, slowest first
};

#if PACKED
// Whole leaves as one stretch: what no order can change is halved once.
template <int N> __device__ node whole_leaves(const element *from) {
    enum { EACH = N * 8192 * (int)sizeof(element) / 16 / 32 };
    const words<16> *at = (const words<16> *)from + threadIdx.x % 32;
    packed p = packed_nothing();
#pragma unroll 1
    for (int i = 0; i < EACH; i += UNROLL) {
        words<16> v[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            load_now(v[k], at + (i + k) * 32);
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            packed_take(p, v[k]);
    }
    node mine = packed_total(p, N * 256);
#pragma unroll
    for (int down = 16; down > 0; down /= 2)
        merge(mine, above(mine, down));
    return mine;
}
#endif

// ROWS whole rows of 256 elements, all on their way at once.
template <int ROWS> __device__ void take_rows(node (&lane)[K][E], const element *from, i64 first) {
    const int t = threadIdx.x % 32;
    vector v[ROWS][K];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int k = 0; k < K; k++)
            load_now(v[r][k].all, from + r * 256 + (k * 32 + t) * E);
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int k = 0; k < K; k++)
#pragma unroll
            for (int j = 0; j < E; j++)
                take(lane[k][j], v[r][k].part[j], first + r * 256 + (k * 32 + t) * E + j);
}

__device__ node leaf(const element *from, int n, i64 first) {
    const int t = threadIdx.x % 32;
#if PACKED
    if (n == 8192)
        return whole_leaves<1>(from);
#endif
    node lane[K][E];
#pragma unroll
    for (int k = 0; k < K; k++)
#pragma unroll
        for (int j = 0; j < E; j++)
            lane[k][j] = nothing();
    if (WHOLE && !PACKED && n == 8192) {
        const int ROWS = UNROLL / K;
        for (int row = 0; row < 32; row += ROWS)
            take_rows<ROWS>(lane, from + row * 256, first + row * 256);
    } else {
        int row = 0;
        for (; (row + 4) * 256 <= n; row += 4)
            take_rows<4>(lane, from + row * 256, first + row * 256);
        for (; (row + 1) * 256 <= n; row++)
            take_rows<1>(lane, from + row * 256, first + row * 256);
        if (row * 256 < n)
#pragma unroll
            for (int k = 0; k < K; k++)
#pragma unroll
                for (int j = 0; j < E; j++) {
                    int i = row * 256 + (k * 32 + t) * E + j;
                    if (i < n)
                        take(lane[k][j], from[i], first + i);
                }
    }
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

// A warp's LEAVES, or what is left of them: `left` elements.
__device__ node leaves_of(const element *from, i64 left, i64 first) {
#if PACKED
    if (left >= LEAVES * 8192)
        return whole_leaves<LEAVES>(from);
#endif
    node stack[6];
    int depth = 0;
    for (int i = 0; i < LEAVES && i * 8192 < left; i++) { // a binary counter
        i64 begin = i * 8192;
        push(stack, depth, leaf(from + begin, left - begin < 8192 ? (int)(left - begin) : 8192, first + begin), i);
    }
    fold(stack, depth);
    return stack[0];
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, AT_LEAST)
    tree_rows(const element *in, result *out, node *partial, unsigned *ticket, const rows r) {
    __shared__ node leaves[WARPS];
    const int warp = threadIdx.x / 32, slot = warp % SLOTS;
    i64 output = SLOTS == WARPS ? blockIdx.x / r.groups : (i64)blockIdx.x * (WARPS / SLOTS) + warp / SLOTS;
    i64 group = SLOTS == WARPS ? blockIdx.x % r.groups : 0, first = (group * SLOTS + slot) * LEAVES * 8192, at_in, at_out;
    bool here = output < r.outputs && first < r.k;
    place_of(r, output < r.outputs ? output : 0, at_in, at_out);
    if (here) {
        node mine = LEAVES == 1 ? leaf(in + at_in + first, r.k - first < 8192 ? (int)(r.k - first) : 8192, first)
                                : leaves_of(in + at_in + first, r.k - first, first);
        if (threadIdx.x % 32 == 0)
            leaves[warp] = mine;
    }
    __syncthreads();
    bool first_of_all = here && slot == 0 && threadIdx.x % 32 == 0;
    if (first_of_all) {
        i64 left = (r.k - first + LEAVES * 8192 - 1) / (LEAVES * 8192);
        int count = left < SLOTS ? (int)left : SLOTS;
#pragma unroll
        for (int step = 1; step < SLOTS; step *= 2)
#pragma unroll
            for (int i = 0; i < SLOTS; i += 2 * step)
                if (i + step < count)
                    merge(leaves[warp + i], leaves[warp + i + step]);
    }
#if TICKET
    __shared__ bool last;
    if (threadIdx.x == 0)
        last = is_last(leaves[0], partial, ticket);
    __syncthreads();
    if (!last)
        return;
    node whole = paired<32 * WARPS, MANY>(partial, r.groups);
    if (threadIdx.x == 0)
        out[at_out] = finished(whole, r.k, r.ddof);
#else
    if (first_of_all && r.groups == 1)
        out[at_out] = finished(leaves[warp], r.k, r.ddof);
    else if (first_of_all)
        partial[output * r.groups + group] = leaves[warp];
#endif
}

// One block an output: its groups' nodes, paired.
extern "C" __global__ void __launch_bounds__(256) finish(result *out, const node *partial, const rows r) {
    i64 at_in, at_out;
    place_of(r, blockIdx.x, at_in, at_out);
    node whole = paired<256, MANY>(partial + (i64)blockIdx.x * r.groups, r.groups);
    if (threadIdx.x == 0)
        out[at_out] = finished(whole, r.k, r.ddof);
}
