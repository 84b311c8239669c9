// SPDX-License-Identifier: Apache-2.0
// gpu_finish.cuh - the end of a launch: the last block to put its node down pairs all nodes, with few steps that wait for each other.
//
// What makes small reductions slow is not work but waiting: each trip to L2 and back costs a third of a microsecond. So putting a node down and taking
// a ticket are a store and one atomic with release and acquire (two __threadfence() around a relaxed one are sequentially consistent, which costs more);
// a thread reads eight neighbouring nodes at once; then shuffles, and a single barrier where more than one warp has nodes.
#ifndef TESS_REDUCE_FINISH_CUH
#define TESS_REDUCE_FINISH_CUH
#include "ops/reduce/gpu_node.cuh"

// Neighbouring pairs of the nodes of a warp's first `count` lanes, level by level; an odd last one passes. The result is lane 0's.
__device__ void pair_lanes(node &n, i64 count) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int down = 1; down < 32; down *= 2) {
        node m = above(n, down);
        if (lane + down < count)
            merge(n, m);
    }
}

// Eight neighbours or fewer, all on their way at once.
__device__ node paired_eight(const node *from, i64 count) {
    node part[8];
#pragma unroll
    for (int j = 0; j < 8; j++) {
        part[j] = nothing();
        if (j < count)
            part[j] = from[j];
    }
#pragma unroll
    for (int step = 1; step < 8; step *= 2)
#pragma unroll
        for (int j = 0; j < 8; j += 2 * step)
            if (j + step < count)
                merge(part[j], part[j + step]);
    return part[0];
}

// 256 nodes or fewer, paired by a warp; the result is lane 0's.
__device__ node paired_few(const node *from, i64 count) {
    const int begin = threadIdx.x % 32 * 8;
    node mine = paired_eight(from + begin, count - begin);
    pair_lanes(mine, (count + 7) / 8);
    return mine;
}

// Eights for a stretch of any length: a binary counter over its eights.
__device__ node paired_stretch(const node *from, i64 count) {
    node stack[40];
    int depth = 0;
    for (i64 i = 0; i < count; i += 8)
        push(stack, depth, paired_eight(from + i, count - i), i / 8);
    fold(stack, depth);
    return stack[0];
}

// `count` nodes, paired by a block of THREADS; the result is thread 0's. A thread takes a stretch of 8 * 2^s nodes, which is a subtree. LONG false: there
// are at most 8 * THREADS.
template <int THREADS, bool LONG> __device__ node paired(const node *from, i64 count) {
    i64 each = 8;
    if (LONG)
        while (each * THREADS < count)
            each *= 2;
    i64 begin = threadIdx.x * each, here = count - begin < each ? count - begin : each, holders = (count + each - 1) / each;
    node mine = LONG && each > 8 && here > 0 ? paired_stretch(from + begin, here) : paired_eight(from + begin, here);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    pair_lanes(mine, holders - warp * 32);
    if (THREADS > 32 && holders > 32) {
        __shared__ node room[THREADS / 32];
        if (lane == 0)
            room[warp] = mine;
        __syncthreads();
        if (warp == 0) {
            mine = lane < THREADS / 32 ? room[lane] : nothing();
            pair_lanes(mine, (holders + 31) / 32);
        }
    }
    return mine;
}

// A launch that pairs 256 neighbouring leaves of an output at a time, a warp each: of many leaves one block would take longer to pair them than all blocks to read them. groups: of
// an output's leaves.
__device__ void pair_neighbours(node *paired, const node *partial, i64 groups, i64 leaves, i64 outputs) {
    const i64 unit = (i64)blockIdx.x * 8 + threadIdx.x / 32;
    if (unit >= groups * outputs)
        return;
    const i64 first = unit % groups * 256, left = leaves - first;
    const node whole = paired_few(partial + unit / groups * leaves + first, left < 256 ? left : 256);
    if (threadIdx.x % 32 == 0)
        paired[unit] = whole;
}

// A launch that pairs each output's `count` nodes: by a block of 256, LONG as there, or with BY_WARP, at most 256, by a warp. p: outputs, k, ddof and the kept axes.
template <bool BY_WARP, bool LONG, typename P> __device__ void finish_outputs(result *out, const node *partial, i64 count, const P &p) {
    const i64 output = BY_WARP ? blockIdx.x * (i64)8 + threadIdx.x / 32 : blockIdx.x;
    i64 at_in, at_out;
    if (output >= p.outputs)
        return;
    place_of(p, output, at_in, at_out);
    partial += output * count;
    node whole;
    if constexpr (BY_WARP)
        whole = paired_few(partial, count);
    else
        whole = paired<256, LONG>(partial, count);
    if (threadIdx.x % (BY_WARP ? 32 : 256) == 0)
        out[at_out] = finished(whole, p.k, p.ddof);
}

// One thread of each block puts its node down; whether this block is the last one to do so, which then sees them all. Leaves the ticket as it was: 0.
__device__ bool is_last(const node &n, node *partial, unsigned *ticket) {
    unsigned before, most = gridDim.x - 1;
    partial[blockIdx.x] = n;
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(__cvta_generic_to_global(ticket)), "r"(most) : "memory");
    return before == most;
}
#endif
