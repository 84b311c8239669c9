// SPDX-License-Identifier: Apache-2.0
// gpu_tree_segments.cu - production, segments: a warp a leaf, whatever the lengths; short segments several a warp; complex elements too.
//
// A thread has eight of a leaf's 256 lanes (t, t + 32, ...): neighbours are read together wherever a segment begins, lanes 128, 64 and 32 apart meet in
// the thread, the others by shuffles. Segments of at most 8 * -DGROUP elements, a power of two that the host takes from the mean length, need so many threads
// only, and 32 / GROUP of them go side by side. A warp has up to 32 segments, whose offsets it reads at once, while there are warps enough: what short
// segments cost is not their elements but the waiting for offsets, then for elements. Longer ones come afterwards, one after the other, each its first leaf.
//
// -DLEAVES=1: some have more leaves than one, which have warps of their own (gpu_segment.cuh, chunks of a leaf's length). Leaf l of segment s leaves its
// node at place s + the number of the chunk that it begins in, so that those of a segment are neighbours; `finish` pairs them: a warp for each chunk in which
// a second leaf begins, the whole block where there are many.
#if IN >= 14
#include "ops/reduce/gpu_complex.cuh"
#endif
#include "ops/reduce/gpu_finish.cuh"
#include "ops/reduce/gpu_segment.cuh"

enum { LEAF = 8192, WARPS = 8, EACH = 8, AT_ONCE = 32 / GROUP, SHORT = GROUP * EACH, SIZE = (int)sizeof(element) };

struct segments {
    i64 outputs, units, chunks; // warps an output, of which the first have the chunks but the first
    i64 segments, begin, every; // the first offset; segments that a warp has one after another, 32 at most
    i64 step, out_step;         // in from one element to the next, out from one segment to the next
    i64 turned;                 // neighbouring warps have neighbouring outputs, not segments
    double ddof;
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1]; // the kept axes, slowest first
};

union one {
    words<SIZE> all;
    element x;
};

#if KIND == VAR
// The sum over the lanes of a group, given to all of its threads.
template <int THREADS, int PER> __device__ double halved(double (&lane)[PER]) {
#pragma unroll
    for (int w = PER / 2; w > 0; w /= 2)
#pragma unroll
        for (int j = 0; j < w; j++)
            lane[j] += lane[j + w];
#pragma unroll
    for (int down = THREADS / 2; down > 0; down /= 2)
        lane[0] += __shfl_down_sync(ALL, lane[0], down);
    return __shfl_sync(ALL, lane[0], 0, THREADS);
}
#endif

// A leaf of n elements, number `first` and on, by THREADS threads with PER lanes each. The node is the first thread's. The whole warp comes here.
template <int THREADS, int PER> __device__ node leaf_of(const element *from, i64 step, i64 first, int n) {
    const int t = threadIdx.x % THREADS;
#if KIND == VAR
    node whole = nothing();
    i64 count = 0;
    double lane[PER], mean = 0;
#pragma unroll 1
    for (int look = 0; look < 2; look++) { // the second finds the leaf in the caches
#pragma unroll
        for (int j = 0; j < PER; j++)
            lane[j] = 0;
        for (int i = t; i < n; i += PER * THREADS) {
            one v[PER];
#pragma unroll
            for (int j = 0; j < PER; j++)
                if (i + j * THREADS < n)
                    load_now(v[j].all, from + (i + j * THREADS) * step);
#pragma unroll
            for (int j = 0; j < PER; j++)
                if (i + j * THREADS < n) {
                    double x = load_as<double, IN>(v[j].x);
                    bool counts = !(OMIT && x != x);
                    if (look)
                        x -= mean;
                    lane[j] = counts ? lane[j] + (look ? x * x : x) : lane[j];
                    if (!look)
                        count += counts;
                }
        }
        double sum = halved<THREADS>(lane);
        if (look) {
            whole.m2 = sum;
        } else {
#pragma unroll
            for (int across = THREADS / 2; across > 0; across /= 2)
                count += __shfl_xor_sync(ALL, count, across);
            mean = sum / (double)count;
        }
    }
    whole.count = count;
    whole.mean = count ? mean : 0;
    whole.m2 = count ? whole.m2 : 0;
    return whole;
#else
    node lane[PER];
#pragma unroll
    for (int j = 0; j < PER; j++)
        lane[j] = nothing();
    int i = t;
    if (THREADS == 32)
        for (; i + (ROWS * PER - 1) * THREADS < n; i += ROWS * PER * THREADS) {
            one v[ROWS * PER];
#pragma unroll
            for (int j = 0; j < ROWS * PER; j++)
                load_now(v[j].all, from + (i + j * THREADS) * step);
#pragma unroll
            for (int j = 0; j < ROWS * PER; j++)
                take(lane[j % PER], v[j].x, first + i + j * THREADS);
        }
    for (; i < n; i += PER * THREADS) {
        one v[PER];
#pragma unroll
        for (int j = 0; j < PER; j++)
            if (i + j * THREADS < n)
                load_now(v[j].all, from + (i + j * THREADS) * step);
#pragma unroll
        for (int j = 0; j < PER; j++)
            if (i + j * THREADS < n)
                take(lane[j], v[j].x, first + i + j * THREADS);
    }
#pragma unroll
    for (int w = PER / 2; w > 0; w /= 2)
#pragma unroll
        for (int j = 0; j < w; j++)
            merge(lane[j], lane[j + w]);
#pragma unroll
    for (int down = THREADS / 2; down > 0; down /= 2)
        merge(lane[0], above(lane[0], down));
    return lane[0];
#endif
}

// Lane number `lane`'s node.
__device__ __forceinline__ node from_lane(const node &n, int lane) {
    node m;
    const unsigned *from = (const unsigned *)&n;
    unsigned *to = (unsigned *)&m;
#pragma unroll
    for (int i = 0; i < (int)(sizeof(node) / 4); i++)
        to[i] = __shfl_sync(ALL, from[i], lane);
    return m;
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, AT_LEAST)
    tree_segments(const element *in, result *out, const i64 *offsets, node *partial, const segments p) {
    const int lane = threadIdx.x % 32;
    const i64 step = RUN ? 1 : p.step;
    i64 unit = (i64)blockIdx.x * WARPS + threadIdx.x / 32, output = 0, at_in, at_out;
    if (unit >= p.outputs * p.units)
        return;
    if (p.outputs > 1) {
        output = p.turned ? unit % p.outputs : unit / p.units;
        unit = p.turned ? unit / p.outputs : unit % p.units;
    }
    place_of(p, output, at_in, at_out);
    i64 segment, begin = 0, k = -1, first = 0;
    unsigned longer;
#if LEAVES
    if (unit < p.chunks - 1) {
        i64 leaf = piece_in(p, offsets, unit + 1, LEAF, segment);
        longer = leaf > 0;
        first = leaf * LEAF;
        begin = offsets[segment] + first;
        k = offsets[segment + 1] - begin;
    } else
#endif
    {
        segment = (unit - (LEAVES ? p.chunks - 1 : 0)) * p.every + lane;
        if (lane < p.every && segment < p.segments) {
            begin = offsets[segment];
            k = offsets[segment + 1] - begin;
        }
        const bool brief = k >= 0 && k <= SHORT;
        if (__any_sync(ALL, brief)) {
            node mine = nothing();
            for (int round = 0; round * AT_ONCE < p.every; round++) { // each group's segment, and back to the lane that has its length
                const int whose = round * AT_ONCE + lane / GROUP;
                const i64 from = __shfl_sync(ALL, begin, whose);
                const int n = __shfl_sync(ALL, brief ? (int)k : 0, whose);
                node whole = leaf_of<GROUP, EACH>(in + at_in + from * step, step, 0, n);
                whole = from_lane(whole, lane % AT_ONCE * GROUP);
                if (lane / AT_ONCE == round)
                    mine = whole;
            }
            if (brief)
                out[at_out + segment * p.out_step] = finished(mine, k, p.ddof);
        }
        longer = __ballot_sync(ALL, k > SHORT);
    }
    for (; longer; longer &= longer - 1) {
        const int who = __ffs(longer) - 1;
        const i64 from = __shfl_sync(ALL, begin, who), left = __shfl_sync(ALL, k, who), here = __shfl_sync(ALL, segment, who);
        node whole = leaf_of<32, EACH>(in + at_in + from * step, step, first, left < LEAF ? (int)left : LEAF);
        if (lane != 0)
            continue;
#if LEAVES
        if (first > 0 || left > LEAF)
            partial[output * (p.chunks + p.segments) + (from - p.begin) / LEAF + here] = whole;
        else
#endif
            out[at_out + here * p.out_step] = finished(whole, left, p.ddof);
    }
}

#if LEAVES
#include "ops/reduce/gpu_segment_finish.cuh"
#endif
