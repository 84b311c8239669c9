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
// -DWHOLE=0: no leaf is whole; without that path, which holds 16 vectors, three times as many threads fit on a multiprocessor, which is what many short rows
// need. What no order can change has no lanes: a warp's leaves are one run, which may begin anywhere (gpu_any_order.cuh; -DPACKED=1: by words of small elements).
#include "ops/reduce/gpu_finish.cuh"
#if ANY_ORDER
#include "ops/reduce/gpu_any_order.cuh"
#endif

struct rows {
    i64 k, outputs, groups; // elements and groups of 8 leaves an output
    double ddof;
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1]; // the kept axes, slowest first
};

#if !ANY_ORDER
enum { E = VECTOR, K = 8 / E };
union vector {
    words<E * sizeof(element)> all;
    element part[E];
};

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
    node lane[K][E];
#pragma unroll
    for (int k = 0; k < K; k++)
#pragma unroll
        for (int j = 0; j < E; j++)
            lane[k][j] = nothing();
    if (WHOLE && n == 8192) {
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
    node stack[6];
    int depth = 0;
    for (int i = 0; i < LEAVES && i * 8192 < left; i++) { // a binary counter
        i64 begin = i * 8192;
        push(stack, depth, leaf(from + begin, left - begin < 8192 ? (int)(left - begin) : 8192, first + begin), i);
    }
    fold(stack, depth);
    return stack[0];
}
#endif

extern "C" __global__ void __launch_bounds__(32 * WARPS, AT_LEAST)
    tree_rows(const element *in, result *out, node *partial, unsigned *ticket, const rows r) {
    __shared__ node leaves[WARPS];
    const int warp = threadIdx.x / 32, slot = warp % SLOTS;
    i64 output = SLOTS == WARPS ? blockIdx.x / r.groups : (i64)blockIdx.x * (WARPS / SLOTS) + warp / SLOTS;
    i64 group = SLOTS == WARPS ? blockIdx.x % r.groups : 0, first = (group * SLOTS + slot) * LEAVES * 8192, at_in, at_out;
    bool here = output < r.outputs && first < r.k;
    place_of(r, output < r.outputs ? output : 0, at_in, at_out);
    if (here) {
        const element *from = in + at_in + first;
        const i64 left = r.k - first;
#if ANY_ORDER
        node mine = run_of<UNROLL>(from, left < LEAVES * 8192 ? (int)left : LEAVES * 8192, first);
#else
        node mine = LEAVES == 1 ? leaf(from, left < 8192 ? (int)left : 8192, first) : leaves_of(from, left, first);
#endif
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

// An output's nodes, paired by a block, or of few (-DFEW=1: at most 256) by a warp.
extern "C" __global__ void __launch_bounds__(256) finish(result *out, const node *partial, const rows r) {
    const i64 output = FEW ? blockIdx.x * (i64)8 + threadIdx.x / 32 : blockIdx.x;
    const int first = FEW ? threadIdx.x % 32 : threadIdx.x;
    i64 at_in, at_out;
    if (output >= r.outputs)
        return;
    place_of(r, output, at_in, at_out);
    partial += output * r.groups;
#if FEW
    const node whole = paired_few(partial, r.groups);
#else
    const node whole = paired<256, MANY>(partial, r.groups);
#endif
    if (first == 0)
        out[at_out] = finished(whole, r.k, r.ddof);
}
