// SPDX-License-Identifier: Apache-2.0
// gpu_long_segments.cuh - segments that are longer than a stretch of gpu_tree_stretches.cu: their leaves, and what those of each come to.
//
// It goes below `struct segments`. The host has listed the leaves, `longs`: pairs of a first element, and of the segment and the number of elements, so a leaf is asked for
// after one load. It has a warp where no order matters (gpu_any_order.cuh), or with -DRUN_LEAF=1 (gpu_run_leaf.cuh), else a block. -DLEAVES=1: some segments have more leaves than one, whose nodes are put down
// in the order of the list; `tops` has three words for each of those: the segment, its first leaf's number, how many there are. `finish` pairs them, a warp a segment,
// -DMANY=1: or the block, for some have more leaves than -DFEW_LEAVES, too many for the threads of a warp. A block has -DLONG_WARPS.
#if ANY_ORDER
enum { LONG_THREADS = 32 * LONG_WARPS, LEAF_THREADS = 32, LONG_BLOCKS = 32 / LONG_WARPS }; // blocks of a multiprocessor; measured
__device__ node long_leaf(const element *from, int n, i64 first) { return run_of<8>(from, n, first); }
#elif RUN_LEAF
#include "ops/reduce/gpu_run_leaf.cuh"
enum { LONG_THREADS = 32 * LONG_WARPS, LEAF_THREADS = 32, LONG_BLOCKS = (SHIFTED ? 24 : 16) / LONG_WARPS };
__device__ node long_leaf(const element *from, int n, i64) { return leaf(from, n); }
#else
#include "ops/reduce/gpu_leaf.cuh"
#if KIND == VAR
enum { LONG_THREADS = THREADS };
#else
enum { LONG_THREADS = 256 };
#endif
enum { LEAF_THREADS = LONG_THREADS, LONG_BLOCKS = 0 };
struct neighbours {
    i64 size[2], step[2];
};
__device__ node long_leaf(const element *from, int n, i64) { return of_leaf(neighbours{{0, 0}, {1, 0}}, from, 0, n); }
#endif

extern "C" __global__ void __launch_bounds__(LONG_THREADS, LONG_BLOCKS)
    long_leaves(const element *in, result *out, const i64 *offsets, node *partial, const i64 *longs, i64 count, const segments p) {
    const i64 unit = (i64)blockIdx.x * (LONG_THREADS / LEAF_THREADS) + threadIdx.x / LEAF_THREADS;
    i64 output = 0, number = unit, at_in, at_out;
    if (unit >= p.outputs * count)
        return;
    if (KEPT > 0) {
        output = unit / count;
        number = unit % count;
    }
    place_of(p, output, at_in, at_out);
    const i64 at = longs[2 * number], segment = longs[2 * number + 1] >> 16;
    const int n = (int)(longs[2 * number + 1] & 0xffff);
    const i64 begin = offsets[segment];
    const node whole = long_leaf(in + at_in + at, n, at - begin);
    if (threadIdx.x % LEAF_THREADS != 0)
        return;
    const i64 k = offsets[segment + 1] - begin;
#if LEAVES
    if (k > LEAF)
        partial[unit] = whole;
    else
#endif
        out[at_out + segment * p.out_step] = finished(whole, k, p.ddof);
}

#if LEAVES
extern "C" __global__ void __launch_bounds__(32 * LONG_WARPS)
    finish(result *out, const i64 *offsets, const node *partial, const i64 *tops, i64 count, i64 leaves, const segments p) {
    const i64 first = (i64)blockIdx.x * LONG_WARPS, last = p.outputs * count;
    const int lane = threadIdx.x % 32;
    const auto put = [&](i64 unit, const node &whole) {
        i64 at_in, at_out;
        const i64 segment = tops[unit % count * 3];
        place_of(p, unit / count, at_in, at_out);
        out[at_out + segment * p.out_step] = finished(whole, offsets[segment + 1] - offsets[segment], p.ddof);
    };
    i64 unit = first + threadIdx.x / 32;
    const i64 *top = tops + unit % count * 3;
    if (unit < last && (!MANY || top[2] <= FEW_LEAVES)) {
        const i64 n = top[2];
        const node *from = partial + unit / count * leaves + top[1];
        node mine;
        if (n <= 256) {
            mine = paired_few(from, n);
        } else {
            const i64 each = n <= 512 ? 16 : 32, here = n - lane * each < each ? n - lane * each : each;
            mine = here > 0 ? paired_stretch(from + lane * each, here) : nothing();
            pair_lanes(mine, (n + each - 1) / each);
        }
        if (lane == 0)
            put(unit, mine);
    }
#if MANY
    for (unit = first; unit < first + LONG_WARPS && unit < last; unit++) {
        top = tops + unit % count * 3;
        if (top[2] <= FEW_LEAVES)
            continue;
        __syncthreads(); // what the one before has in shared memory is read
        const node whole = paired<32 * LONG_WARPS, true>(partial + unit / count * leaves + top[1], top[2]);
        if (threadIdx.x == 0)
            put(unit, whole);
    }
#endif
}
#endif
