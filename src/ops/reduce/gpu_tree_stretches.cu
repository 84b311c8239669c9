// SPDX-License-Identifier: Apache-2.0
// gpu_tree_stretches.cu - production, short segments that follow one another in memory: a warp copies a stretch of whole ones to shared memory.
//
// Segments are one run of memory wherever they begin, so it is read by vectors of 16 bytes, 4 KiB a warp on their way at once (gpu_stage.cuh), whatever the lengths. The
// host has cut the run into stretches of whole segments, TILE bytes or fewer, so no warp waits for a search. In shared memory a thread
// takes a segment of up to 32 elements, all of its tree's lanes, in the order in which they halve, so few registers hold them; FEW_LANES threads take one of up to 256; the warp one that is longer. Lengths may be mixed in any way: those of a kind that are among 32 segments go together, and no thread has
// more lanes than the longest of them wants. What no order can change keeps one node a thread, small elements go by words (-DPACKED=1, gpu_packed.cuh).
//
// A segment longer than TILE comes by stretches of 4 KiB, a warp for each of its leaves. -DLEAVES=1: some have more leaves than one; their nodes are
// put down for `finish`.
#if IN >= 14
#include "ops/reduce/gpu_complex.cuh"
#endif
#if LEAVES
#include "ops/reduce/gpu_finish.cuh"
#elif IN < 14
#include "ops/reduce/gpu_node.cuh"
#endif
#include "ops/reduce/gpu_lanes.cuh"
#include "ops/reduce/gpu_segment.cuh"
#include "ops/reduce/gpu_stage.cuh"
#if PACKED
#include "ops/reduce/gpu_packed.cuh"
#endif

enum { LEAF = 8192, SIZE = (int)sizeof(element), EACH = 8, STEP = TILE / SIZE };
enum {
    ONE = PACKED && SIZE < 4 ? ONE_BYTES / SIZE : 32,
    SOME = PACKED && SIZE < 4 ? 512 / SIZE : 256
}; // the longest segment of a thread, of FEW_LANES

struct segments {
    i64 outputs, units, chunks; // stretches of an output
    i64 segments, begin;        // the first offset
    i64 out_step;               // out from one segment to the next
    double ddof;
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1]; // the kept axes, slowest first
};

// A stretch begins with an element, which is one of a segment; is_long: of a segment that has a stretch of its own for each leaf.
struct cut {
    i64 begin, segment;
    bool is_long;
};
__device__ cut cut_of(const i64 *cuts, i64 number) { return {cuts[2 * number], cuts[2 * number + 1] >> 1, (cuts[2 * number + 1] & 1) != 0}; }

// What `threads` neighbours have, a power of two, for the first of them.
template <int THREADS, typename T> __device__ __forceinline__ void gather(T &mine) {
#pragma unroll
    for (int down = THREADS / 2; down > 0; down /= 2)
        merge(mine, above(mine, down));
}

__device__ element at(const char *tile, int i) { return *(const element *)(tile + i * SIZE); }
__device__ int longest_of(int k) { return __reduce_max_sync(ALL, k); }

#if KIND == VAR
// both(look, count) gives the sums of a look, whole in the first of `threads` neighbours.
template <int THREADS, typename F> __device__ __forceinline__ node two_looks(int k, const F &both) {
    int count = OMIT ? 0 : k;
    double mean = 0, sum = 0;
#pragma unroll 1
    for (int second = 0; second < 2; second++) {
        sum = both(look{second != 0, mean}, count);
        if (!second) {
            sum = THREADS > 1 ? __shfl_sync(ALL, sum, 0, THREADS) : sum;
#pragma unroll
            for (int across = THREADS / 2; OMIT && across > 0; across /= 2)
                count += __shfl_xor_sync(ALL, count, across);
            mean = sum / (double)count;
        }
    }
    return moments_of(mean, sum, count);
}
#endif

// k elements by THREADS threads, of which this one is t, LANES lanes each; fewer, of what no order can change, go on for `longest`.
template <int THREADS, int LANES> __device__ __forceinline__ node few_of(const char *tile, int k, int t) {
#if KIND == VAR
    return two_looks<THREADS>(k, [&](const look &l, int &count) {
        double sum = subtree<0, 1, LANES, double>([&](int m) {
            double lane = 0;
            if (m * THREADS + t < k)
                l.take(lane, at(tile, m * THREADS + t), count);
            return lane;
        });
        gather<THREADS>(sum);
        return sum;
    });
#else
    node whole = subtree<0, 1, LANES, node>([&](int m) {
        node lane = nothing();
        if (m * THREADS + t < k)
            take(lane, at(tile, m * THREADS + t), m * THREADS + t);
        return lane;
    });
    gather<THREADS>(whole);
    return whole;
#endif
}

#if PACKED
// Thread t's share of k elements by words; the first and the last, which have others' elements too, are the first thread's. The longest of the warp has `longest`.
template <int THREADS> __device__ __forceinline__ node words_of(const char *tile, int k, int longest, int t) {
    packed p = packed_nothing();
    const int offset = (int)((u64)tile & 3), end = offset + k * SIZE, turns = (longest * SIZE + 6) / 4;
    const unsigned *words = (const unsigned *)(tile - offset);
    int first = 0, last = k;
    if (SIZE < 4) {
        last = k > 0 ? (end - 1) / 4 : 0;
        const unsigned head = ~0u << 8 * offset, tail = ~0u >> 8 * (3 - (end + 3) % 4);
        if (t == 0 && k > 0)
            packed_some<true>(p, words[0], last == 0 ? head & tail : head, 0);
        if (t == 0 && last > 0)
            packed_some<false>(p, words[last], tail, last);
        first = 1;
    }
#pragma unroll 4
    for (int word = first + t; word < turns; word += THREADS)
        if (word < last)
            packed_some<false>(p, words[word], ~0u, word);
    return packed_some_total(p, t == 0 ? k : 0, offset / SIZE);
}
#endif

// The same by as many lanes as the longest of the warp's segments has.
template <int THREADS> __device__ __forceinline__ node some_of(const char *tile, int k, int longest, int t) {
#if PACKED
    node whole = words_of<THREADS>(tile, k, longest, t);
    gather<THREADS>(whole);
    return whole;
#elif ANY_ORDER
    taker mine;
#pragma unroll 4
    for (int i = t; i < longest; i += THREADS)
        if (i < k)
            mine.take(at(tile, i), i);
    node whole = mine.total(t < k ? t : -1);
    gather<THREADS>(whole);
    return whole;
#else
    if (THREADS == 1 && longest <= 4)
        return few_of<THREADS, 4>(tile, k, t);
    if (longest <= THREADS * 8)
        return few_of<THREADS, 8>(tile, k, t);
    if (longest <= THREADS * 16)
        return few_of<THREADS, 16>(tile, k, t);
    return few_of<THREADS, 32>(tile, k, t);
#endif
}

#if !PACKED && !ANY_ORDER
// The halving tree over the warp's lanes, EACH of them a thread's, which take their elements by use(lane, element, number); whole in lane[0] of the first.
template <typename T, typename F, typename U> __device__ __forceinline__ void walk(T (&lane)[EACH], int n, i64 first, const F &staged, const U &use) {
    const int t = threadIdx.x % 32;
    for (int from = 0; from < n; from += STEP) {
        const char *tile = staged(from);
        const int here = n - from < STEP ? n - from : STEP;
        for (int i = t; i < here; i += 32 * EACH)
#pragma unroll
            for (int j = 0; j < EACH; j++)
                if (i + 32 * j < here)
                    use(lane[j], at(tile, i + 32 * j), first + from + i + 32 * j);
        __syncwarp();
    }
#pragma unroll
    for (int w = EACH / 2; w > 0; w /= 2)
#pragma unroll
        for (int j = 0; j < w; j++)
            merge(lane[j], lane[j + w]);
    gather<32>(lane[0]);
}
#endif

// n elements by the warp, in stretches of STEP that `staged(begin)` gives, a multiple of 256. first: the first one's number.
template <typename F> __device__ node many_of(int n, i64 first, const F &staged) {
#if PACKED || ANY_ORDER
    const int t = threadIdx.x % 32;
#if PACKED
    node whole = nothing();
#else
    taker mine;
#endif
    for (int from = 0; from < n; from += STEP) {
        const char *tile = staged(from);
        const int here = n - from < STEP ? n - from : STEP;
#if PACKED
        node some = words_of<32>(tile, here, here, t);
#if KIND == ARG
        some.index += some.index < 0 ? 0 : (number)(first + from);
#endif
        merge(whole, some);
#else
#pragma unroll 8
        for (int i = t; i < here; i += 32)
            mine.take(at(tile, i), (number)(first + from + i));
#endif
        __syncwarp();
    }
#if !PACKED
    node whole = mine.total(t < n ? (number)(first + t) : -1);
#endif
    gather<32>(whole);
    return whole;
#else
#if KIND == VAR
    return two_looks<32>(n, [&](const look &l, int &count) {
        double lane[EACH] = {};
        walk(lane, n, first, staged, [&](double &to, element e, i64) { l.take(to, e, count); });
        return lane[0];
    });
#else
    node lane[EACH];
#pragma unroll
    for (int j = 0; j < EACH; j++)
        lane[j] = nothing();
    walk(lane, n, first, staged, [&](node &to, element e, i64 i) { take(to, e, i); });
    return lane[0];
#endif
#endif
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, AT_LEAST)
    tree_stretches(const element *in, result *out, const i64 *offsets, const i64 *cuts, node *partial, const segments p) {
    __shared__ words<16> tiles[WARPS][ROOM / 16];
    const int lane = threadIdx.x % 32;
    i64 unit = (i64)blockIdx.x * WARPS + threadIdx.x / 32, output = 0, at_in, at_out;
    if (unit >= p.outputs * p.units)
        return;
    if (KEPT > 0) {
        output = unit / p.units;
        unit %= p.units;
    }
    place_of(p, output, at_in, at_out);
    const cut here = cut_of(cuts, unit), next = cut_of(cuts, unit + 1);
    char *tile = (char *)tiles[threadIdx.x / 32];
    const element *from = in + at_in + here.begin;
    const int n = (int)(next.begin - here.begin);
    out += at_out + here.segment * p.out_step;
    if (here.is_long) {
        const i64 begin = offsets[here.segment], k = offsets[here.segment + 1] - begin;
        node whole = many_of(n, here.begin - begin, [&](int i) { return tile + stage(tile, part{from + i, 0, n - i < STEP ? n - i : STEP}, 1); });
        if (lane != 0)
            return;
#if LEAVES
        if (k > LEAF)
            partial[output * (p.chunks + p.segments) + (here.begin - p.begin) / LEAF + here.segment] = whole;
        else
#endif
            *out = finished(whole, k, p.ddof);
        return;
    }
    const int count = (int)(next.segment - here.segment);
    offsets += here.segment;
    int later = (int)(offsets[lane < count ? lane : count] - here.begin);
    tile += stage(tile, part{from, 0, n}, 1);
    for (int base = 0; base < count; base += 32) {
        const int begin = later, ahead = base + 32 + lane;
        if (base + 32 <= count)
            later = (int)(offsets[ahead < count ? ahead : count] - here.begin);
        int end = __shfl_down_sync(ALL, begin, 1);
        const int after = __shfl_sync(ALL, later, 0);
        end = lane < 31 ? end : after;
        const int k = base + lane < count ? end - begin : -1;
        const bool brief = k >= 0 && k <= ONE;
        if (__any_sync(ALL, brief)) {
            const int mine = brief ? k : 0;
            const node whole = some_of<1>(tile + begin * SIZE, mine, longest_of(mine), 0);
            if (brief)
                out[(base + lane) * p.out_step] = finished(whole, k, p.ddof);
        }
        for (unsigned rest = __ballot_sync(ALL, k > ONE && k <= SOME); rest;) {
            unsigned mine = rest;
#pragma unroll
            for (int group = 0; group < 32 / FEW_LANES; group++) {
                mine = group < lane / FEW_LANES ? mine & (mine - 1) : mine;
                rest &= rest - 1;
            }
            const int whose = mine ? __ffs(mine) - 1 : 0, first = __shfl_sync(ALL, begin, whose), its = __shfl_sync(ALL, k, whose),
                      len = mine ? its : 0;
            const node whole = some_of<FEW_LANES>(tile + first * SIZE, len, longest_of(len), lane % FEW_LANES);
            if (mine && lane % FEW_LANES == 0)
                out[(base + whose) * p.out_step] = finished(whole, len, p.ddof);
        }
        for (unsigned rest = __ballot_sync(ALL, k > SOME); rest; rest &= rest - 1) {
            const int whose = __ffs(rest) - 1, first = __shfl_sync(ALL, begin, whose), len = __shfl_sync(ALL, k, whose);
            const node whole = many_of(len, 0, [&](int i) { return tile + (first + i) * SIZE; });
            if (lane == 0)
                out[(base + whose) * p.out_step] = finished(whole, len, p.ddof);
        }
    }
}

#if LEAVES
#include "ops/reduce/gpu_segment_finish.cuh"
#endif
