// SPDX-License-Identifier: Apache-2.0
// gpu_tree_rows.cu - production, runs without gaps: a warp a leaf of the tree, eight of the leaf's 256 lanes a thread.
//
// Leaves are gpu_run_leaf.cuh's. The 8 leaves of a block (-DWARPS) are paired in shared memory; SLOTS (1, 2, 4, WARPS) of them belong to one output. -DLEAVES=8: a warp has as
// many leaves, which for elements of a byte make its life long enough. What is left, one node a block, is
// paired by `finish`, or with -DTICKET=1 by the last block of the only output (-DMANY=1: more than eight a thread).
//
// -DUNROLL vectors are on their way at once, but only if the compiler is told with -DAT_LEAST how few blocks a multiprocessor must hold: left to itself it
// saves registers by putting sums between the loads, and a warp, which does one thing after the other, then waits with three or four on their way.
//
// -DWHOLE=0: no leaf is whole; without that path, which holds 16 vectors, three times as many threads fit on a multiprocessor, which is what many short rows
// need. What no order can change has no lanes: a warp's leaves are one run, which may begin anywhere (gpu_any_order.cuh; -DPACKED=1: by words of small elements).
//
// -DRANK=2 and more: an output's elements are runs of whole vectors that lie apart, and each thread looks for its vectors (leaf_walk). -DANYWHERE=1: the runs are no whole vectors, and no order matters,
// so a warp takes what it has of one after the other.
#include "ops/reduce/gpu_finish.cuh"
#if ANY_ORDER
#include "ops/reduce/gpu_any_order.cuh"
#else
#include "ops/reduce/gpu_run_leaf.cuh"
#endif

struct rows {
    i64 k, outputs, groups; // elements and groups of 8 leaves an output
    double ddof;
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1]; // the kept axes, slowest first
#if RANK > 1
    i64 size[RANK + 1], step[RANK + 1]; // the reduced axes
#endif
};

// n elements of an output from number `first` on, `from` the output's begin.
__device__ node elements_of(const rows &r, const element *from, i64 first, int n) {
#if ANYWHERE
    node whole = nothing();
    const i64 length = r.size[RANK - 1];
    i64 run = first / length, begun = first - run * length; // which run, and its elements that come before
#pragma unroll 1
    while (n > 0) {
        i64 number = run, at = begun;
        const int here = length - begun < n ? (int)(length - begun) : n;
#pragma unroll
        for (int d = RANK - 2; d >= 0; d--) {
            at += (d > 0 ? number % r.size[d] : number) * r.step[d];
            number /= r.size[d];
        }
        merge(whole, run_of<UNROLL>(from + at, here, first));
        first += here;
        n -= here;
        begun = 0;
        run++;
    }
    return whole;
#elif RANK > 1 && ANY_ORDER
    enum { PER = run_vector::PER };
    return run_of<UNROLL>(from, n, first, leaf_walk<rows, 32 * PER>(r, first + threadIdx.x % 32 * PER));
#elif RANK > 1
    return leaf(from, n, leaf_walk<rows, 32 * E>(r, first + threadIdx.x % 32 * E));
#elif ANY_ORDER
    return run_of<UNROLL>(from + first, n, first);
#else
    return leaf(from + first, n);
#endif
}

#if !ANY_ORDER
// A warp's LEAVES, or what is left of them: `left` elements.
__device__ node leaves_of(const rows &r, const element *from, i64 first, i64 left) {
    node stack[6];
    int depth = 0;
    for (int i = 0; i < LEAVES && i * 8192 < left; i++) { // a binary counter
        i64 begin = i * 8192;
        push(stack, depth, elements_of(r, from, first + begin, left - begin < 8192 ? (int)(left - begin) : 8192), i);
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
        const i64 left = r.k - first;
#if ANY_ORDER
        node mine = elements_of(r, in + at_in, first, left < LEAVES * 8192 ? (int)left : LEAVES * 8192);
#else
        node mine = LEAVES == 1 ? elements_of(r, in + at_in, first, left < 8192 ? (int)left : 8192) : leaves_of(r, in + at_in, first, left);
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

extern "C" __global__ void __launch_bounds__(256) finish(result *out, const node *partial, const rows r) { finish_outputs<FEW, MANY>(out, partial, r.groups, r); }
