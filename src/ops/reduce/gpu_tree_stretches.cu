// SPDX-License-Identifier: Apache-2.0
// gpu_tree_stretches.cu - production, short segments that follow one another in memory: a warp copies a stretch of whole ones to shared memory.
//
// Segments are one run of memory wherever they begin, so it is read by vectors of 16 bytes, TILE bytes a warp on their way at once (gpu_stage.cuh), whatever the lengths. The
// host has cut the run into stretches of whole segments, TILE bytes or fewer, so no warp waits for a search. In shared memory a thread
// takes a segment of up to ONE elements, all of its tree's lanes, in the order in which they halve, so few registers hold them; FEW_LANES threads take one of up to SOME;
// the warp one that is longer. Lengths may be mixed in any way: those of a kind that are among 32 segments go together, and no thread has more lanes than the
// longest of them wants. What has an order and some dozens of elements goes in turns (-DTURNS=1, gpu_sum_turns.cuh). What no order can change keeps one node a thread; elements of up to
// four bytes of that kind go by blocks of 16 bytes (-DBLOCKS=1, gpu_blocks.cuh), or by words (-DPACKED=1, gpu_packed.cuh). Those of moments stay in a thread's registers for the second
// look (gpu_moments.cuh, gpu_alone.cuh); where a few threads have a segment they stay too (-DHOLD=1, gpu_held_turns.cuh) or are read again (gpu_turns.cuh).
//
// A segment longer than TILE goes by its leaves (gpu_long_segments.cuh).
#if IN >= 14
#include "ops/reduce/gpu_complex.cuh"
#endif
#include "ops/reduce/gpu_finish.cuh"
#include "ops/reduce/gpu_lanes.cuh"
#define FILLED_WORDS (PACKED || BLOCKS || TURNS)
#include "ops/reduce/gpu_stage.cuh"
#if BLOCKS
#include "ops/reduce/gpu_blocks.cuh"
#endif

// LATE: segments are put in the order of their lengths while their elements are on their way.
enum { SIZE = (int)sizeof(element), EACH = 8, LATE = ONE == 0 && (TURNS || KIND == VAR) };

struct segments {
    i64 outputs, units; // stretches of an output
    i64 out_step;       // out from one segment to the next
    double ddof;
    i64 shape[KEPT + 1], in[KEPT + 1], out[KEPT + 1]; // the kept axes, slowest first
};

// A stretch begins with an element, which is one of a segment; is_long: it is a segment that `long_leaves` takes.
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

__device__ element at(unsigned tile, int i) { return at_shared<element>(tile + i * SIZE); }
__device__ int longest_of(int k) { return __reduce_max_sync(ALL, k); }

#if KIND == VAR
// The sum of THREADS neighbours for each of them, and the mean.
template <int THREADS, typename T> __device__ __forceinline__ void meet(T &sum) {
#pragma unroll
    for (int across = THREADS / 2; across > 0; across /= 2)
        sum += __shfl_xor_sync(ALL, sum, across);
}
template <int THREADS> __device__ __forceinline__ int met_count(int count) {
    if (OMIT)
        meet<THREADS>(count);
    return count;
}
#endif

#if !BLOCKS
#if KIND != VAR
// k elements by THREADS threads, of which this one is t, at most MOST for each.
template <int THREADS, int MOST> __device__ __forceinline__ node few_of(unsigned tile, int k, int t) {
    node whole = subtree<0, 1, MOST, node>([&](int m) {
        node lane = nothing();
        if (m * THREADS + t < k)
            take(lane, at(tile, m * THREADS + t), m * THREADS + t);
        return lane;
    });
    gather<THREADS>(whole);
    return whole;
}

#if PACKED
// Thread t's share of k elements by words; the first and the last, which have others' elements too, are the first thread's. The longest of the warp has `longest`.
template <int THREADS> __device__ __forceinline__ node words_of(unsigned tile, int k, int longest, int t) {
    enum { AT_ONCE = 4 };
    packed p = packed_nothing();
    const int offset = tile & 3, end = offset + k * SIZE, last = SIZE < 4 ? (end - 1) >> 2 : k, first = SIZE < 4;
    const auto word_at = [&](int word) { return at_shared<unsigned>(tile - offset + word * 4); };
    if (SIZE < 4) {
        const unsigned head = ~0u << 8 * offset, tail = ~0u >> 8 * (-end & 3);
        if (t == 0 && k > 0)
            packed_some<true>(p, word_at(0), last == 0 ? head & tail : head, 0);
        if (t == 0 && last > 0)
            packed_some<false>(p, word_at(last), tail, last);
    }
    int word = first + t, left = last - word;
    unsigned from = tile - offset + word * 4;
#pragma unroll 1
    for (int turns = (longest * SIZE + 6 >> 2) - first; turns > 0; turns -= AT_ONCE * THREADS) {
#pragma unroll
        for (int u = 0; u < AT_ONCE; u++)
            if (u * THREADS < left)
                packed_some<false>(p, at_shared<unsigned>(from + u * THREADS * 4), ~0u, word + u * THREADS);
        word += AT_ONCE * THREADS;
        left -= AT_ONCE * THREADS;
        from += AT_ONCE * THREADS * 4;
    }
    return packed_some_total(p, t == 0 ? k : 0, offset / SIZE);
}
#endif

// The same by as many lanes as the longest of the warp's segments has.
template <int THREADS> __device__ __forceinline__ node some_of(unsigned tile, int k, int longest, int t) {
#if PACKED
    node whole = words_of<THREADS>(tile, k, longest, t);
    gather<THREADS>(whole);
    return whole;
#elif ANY_ORDER
    taker mine;
#pragma unroll(THREADS == 32 ? 8 : 4)
    for (int i = t; i < longest; i += THREADS)
        if (i < k)
            mine.take(at(tile, i), i);
    node whole = mine.total(t < k ? t : -1, 0);
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
#endif

// n elements by the warp.
#if ANY_ORDER
__device__ node many_of(unsigned tile, int n) { return some_of<32>(tile, n, n, threadIdx.x % 32); }
#else
// Elements for the warp's lanes, EACH of them a thread's: use(j, element, its number). Nothing is asked while all lanes have one, then for half of a thread's at a time.
template <typename F> __device__ __forceinline__ void for_lanes(unsigned tile, int n, const F &use) {
    const int t = threadIdx.x % 32;
    int i = t;
#pragma unroll 1
    for (; i - t + 32 * EACH <= n; i += 32 * EACH) {
        element e[EACH];
#pragma unroll
        for (int j = 0; j < EACH; j++)
            e[j] = at(tile, i + 32 * j);
#pragma unroll
        for (int j = 0; j < EACH; j++)
            use(j, e[j], i + 32 * j);
    }
#pragma unroll
    for (int half = 0; half < EACH; half += EACH / 2) {
        element e[EACH / 2] = {};
        if (i - t + 32 * half >= n)
            break;
#pragma unroll
        for (int j = 0; j < EACH / 2; j++)
            if (i + 32 * (half + j) < n)
                e[j] = at(tile, i + 32 * (half + j));
#pragma unroll
        for (int j = 0; j < EACH / 2; j++)
            if (i + 32 * (half + j) < n)
                use(half + j, e[j], i + 32 * (half + j));
    }
}

template <typename T> __device__ __forceinline__ void halve_own(T (&lane)[EACH]) {
#pragma unroll
    for (int w = EACH / 2; w > 0; w /= 2)
#pragma unroll
        for (int j = 0; j < w; j++)
            merge(lane[j], lane[j + w]);
}

#if KIND == VAR
// The two looks, for all threads; count: of elements that are no NaN.
__device__ __forceinline__ first_sum sum_of_many(unsigned tile, int n, int &count) {
    first_sum lane[EACH] = {};
    count = OMIT ? 0 : n;
    for_lanes(tile, n, [&](int j, element e, int) { lane[j] += first_look(e, true, count); });
    halve_own(lane);
    meet<32>(lane[0]);
    count = met_count<32>(count);
    return lane[0];
}
__device__ __forceinline__ double squares_of_many(unsigned tile, int n, double mean) {
    double lane[EACH] = {};
    for_lanes(tile, n, [&](int j, element e, int) { lane[j] += second_look(wide_of(e, j), true, mean); });
    halve_own(lane);
    meet<32>(lane[0]);
    return lane[0];
}
// Segments whose bits are set, one after another; a thread has the beginning and the length of one of them, and comes to have its moments. What is divided is divided for all of them at once.
__device__ __forceinline__ node many_in_turns(unsigned tile, int begin, int k, unsigned wanted) {
    const int lane = threadIdx.x % 32;
    first_sum start = 0;
    double m2 = 0;
    int count = 1;
#pragma unroll 1
    for (unsigned rest = wanted; rest; rest &= rest - 1) {
        const int whose = __ffs(rest) - 1;
        int counted;
        const first_sum sum = sum_of_many(tile + __shfl_sync(ALL, begin, whose) * SIZE, __shfl_sync(ALL, k, whose), counted);
        start = lane == whose ? sum : start;
        count = lane == whose ? counted : count;
    }
    const double mean = mean_of(start, count);
#pragma unroll 1
    for (unsigned rest = wanted; rest; rest &= rest - 1) {
        const int whose = __ffs(rest) - 1;
        const double sum = squares_of_many(tile + __shfl_sync(ALL, begin, whose) * SIZE, __shfl_sync(ALL, k, whose), __shfl_sync(ALL, mean, whose));
        m2 = lane == whose ? sum : m2;
    }
    return moments_of(mean, m2, count);
}
#else
__device__ node many_of(unsigned tile, int n) {
    node lane[EACH];
#pragma unroll
    for (int j = 0; j < EACH; j++)
        lane[j] = nothing();
    for_lanes(tile, n, [&](int j, element e, int i) { take(lane[j], e, i); });
    halve_own(lane);
    gather<32>(lane[0]);
    return lane[0];
}
#endif
#endif
#endif

#if KIND == VAR
#include "ops/reduce/gpu_alone.cuh"
#if HOLD
#include "ops/reduce/gpu_held_turns.cuh"
typedef held_turns some_in_turns;
#else
#include "ops/reduce/gpu_turns.cuh"
typedef in_turns some_in_turns;
#endif
#elif TURNS
#include "ops/reduce/gpu_sum_turns.cuh"
typedef sum_turns some_in_turns;
#endif

#if SORTED
// Segments in the order of their lengths, CHUNK at a time: neighbouring threads have as many elements, and none waits for the longest of 32. Lengths of up to ONE have a number each,
// others go together; the order among those of a number is any. A word of the list: a segment's number in the chunk, its length unless that is beyond SOME, its first element.
enum { CHUNK = 128, BINS = 64, MIDDLE = 32, LAST = 48, BEHIND = 63, NUMBER_BITS = 7, LENGTH_BITS = 10 };
static_assert(ONE == MIDDLE && SOME < 1 << LENGTH_BITS && TILE / SIZE < 1 << (32 - NUMBER_BITS - LENGTH_BITS), "a word holds them");
struct listed {
    int number, k, begin;
    __device__ listed(unsigned word)
        : number(word % CHUNK), k(word >> NUMBER_BITS & (1 << LENGTH_BITS) - 1), begin((int)(word >> (NUMBER_BITS + LENGTH_BITS))) {}
};
__device__ int bin_of(int k) {
    const int alone = k > 0 ? k - 1 : 0, some = MIDDLE + (k - 1) / (SOME / (LAST - MIDDLE));
    return k <= ONE ? alone : some < LAST ? some : LAST;
}

// Lists at most CHUNK of `count` segments, and behind them what is no segment; start[b]: where those of bin b begin.
__device__ void sort_lengths(unsigned *list, int *start, const i64 *offsets, int count, i64 origin) {
    const int lane = threadIdx.x % 32;
    int begin[CHUNK / 32], k[CHUNK / 32], bin[CHUNK / 32], rank[CHUNK / 32];
    offsets += lane;
    __syncwarp();
    start[lane] = start[lane + 32] = 0;
#pragma unroll
    for (int r = 0; r < CHUNK / 32; r++) {
        begin[r] = k[r] = 0;
        if (r * 32 + lane < count) {
            begin[r] = (int)(offsets[r * 32] - origin);
            k[r] = (int)(offsets[r * 32 + 1] - origin);
        }
    }
    __syncwarp();
#pragma unroll
    for (int r = 0; r < CHUNK / 32; r++) {
        k[r] -= begin[r];
        bin[r] = r * 32 + lane < count ? bin_of(k[r]) : BEHIND;
        rank[r] = atomicAdd(start + bin[r], 1);
    }
    __syncwarp();
    const int one = start[2 * lane], both = one + start[2 * lane + 1];
    int before = both;
#pragma unroll
    for (int up = 1; up < 32; up *= 2) {
        const int other = __shfl_up_sync(ALL, before, up);
        before += lane >= up ? other : 0;
    }
    __syncwarp();
    start[2 * lane] = before - both;
    start[2 * lane + 1] = before - both + one;
    __syncwarp();
#pragma unroll
    for (int r = 0; r < CHUNK / 32; r++)
        list[start[bin[r]] + rank[r]] =
            (unsigned)(r * 32 + lane) | (unsigned)(k[r] <= SOME ? k[r] : 0) << NUMBER_BITS | (unsigned)begin[r] << (NUMBER_BITS + LENGTH_BITS);
    __syncwarp();
}
#endif

extern "C" __global__ void __launch_bounds__(32 * WARPS, AT_LEAST)
    tree_stretches(const element *in, result *out, const i64 *offsets, const i64 *cuts, const segments p) {
    __shared__ words<16> tiles[WARPS][ROOM / 16];
    const int lane = threadIdx.x % 32;
    i64 unit = (i64)blockIdx.x * WARPS + threadIdx.x / 32, output = 0, at_in, at_out;
    if (unit >= p.outputs * p.units)
        return;
    if (KEPT > 0) {
        output = unit / p.units;
        unit %= p.units;
    }
    const cut here = cut_of(cuts, unit), next = cut_of(cuts, unit + 1);
    if (here.is_long)
        return;
    place_of(p, output, at_in, at_out);
    char *stretch = (char *)tiles[threadIdx.x / 32];
    const element *from = in + at_in + here.begin;
    const int n = (int)(next.begin - here.begin);
    out += at_out + here.segment * p.out_step;
    const int count = (int)(next.segment - here.segment);
    offsets += here.segment;
#if SORTED
    __shared__ unsigned lists[WARPS][CHUNK];
    __shared__ int starts[WARPS][BINS];
    unsigned *list = lists[threadIdx.x / 32];
    int *start = starts[threadIdx.x / 32];
    const unsigned tile = in_shared(stretch) + begin_stage(stretch, part{from, 0, n}, 1);
    for (int base = 0; base < count; base += CHUNK) {
        const int most = count - base < CHUNK ? count - base : CHUNK;
        sort_lengths(list, start, offsets + base, most, here.begin);
        if (base == 0)
            end_stage();
        const int middle = start[MIDDLE], last = start[LAST];
        for (int i = 0; i < middle; i += 32) { // threads behind the last one do its work again
            const listed s = list[i + lane < middle ? i + lane : middle - 1];
            const node whole =
                alone_of(tile + s.begin * SIZE, s.k, listed(list[i]).k, listed(list[i + 31 < middle ? i + 31 : middle - 1]).k);
            if (i + lane < middle)
                out[(base + s.number) * p.out_step] = finished(whole, s.k, p.ddof);
        }
        for (int i = middle; i < last; i += 32) {
            const listed s = list[i + lane < last ? i + lane : last - 1];
            in_turns few(tile, s.begin, s.k, i + lane < last);
            const node whole = few.all();
            const int number = __shfl_sync(ALL, s.number, few.whose);
            if (few.k > 0)
                out[(base + number) * p.out_step] = finished(whole, few.k, p.ddof);
        }
        for (int i = last; i < most; i++) {
            const listed s = list[i];
            const int len = (int)(offsets[base + s.number + 1] - offsets[base + s.number]);
            const node whole = many_in_turns(tile, s.begin, len, 1);
            if (lane == 0)
                out[(base + s.number) * p.out_step] = finished(whole, len, p.ddof);
        }
    }
#else
    const i64 *ahead = offsets + lane; // where the thread's segments of thirty-two begin; behind the last one, the end
    int later = lane < count ? (int)(*ahead - here.begin) : n;
#if BLOCKS
    const int before = stage(stretch, part{from, 0, n}, 1) / SIZE;
    const unsigned tile = in_shared(stretch);
#if SUMMED
    __shared__ summary summaries[WARPS];
    summarize(summaries[threadIdx.x / 32], tile, (before + n + OF_BLOCK - 1) / OF_BLOCK);
    const summed of(tile, summaries[threadIdx.x / 32]);
#else
    const summed of{tile};
#endif
    const auto alone = [&](int begin, int k, int longest) {
        return k > 0 ? of.between(before + begin, before + begin + k, (longest + 2 * OF_BLOCK - 2) / OF_BLOCK) : nothing();
    };
#else
    const unsigned tile = in_shared(stretch) + begin_stage(stretch, part{from, 0, n}, 1);
    if (!LATE)
        end_stage();
#if KIND == VAR
    const auto alone = [&](int begin, int k, int longest) { return ONE > 0 ? alone_of(tile + begin * SIZE, k, 0, longest) : nothing(); };
#else
    const auto alone = [&](int begin, int k, int longest) { return ONE > 0 ? some_of<1>(tile + begin * SIZE, k, longest, 0) : nothing(); };
#endif
#endif
    for (int base = 0; base < count; base += 32) {
        const int begin = later;
        ahead += 32;
        later = base + 32 + lane < count ? (int)(*ahead - here.begin) : n;
        int end = __shfl_down_sync(ALL, begin, 1);
        const int after = __shfl_sync(ALL, later, 0);
        end = lane < 31 ? end : after;
        const int k = base + lane < count ? end - begin : -1;
        const bool brief = k >= 0 && k <= ONE;
        if (__any_sync(ALL, brief)) {
            const int mine = brief ? k : 0;
            const node whole = alone(begin, mine, longest_of(mine));
            if (brief)
                out[lane * p.out_step] = finished(whole, k, p.ddof);
        }
#if KIND == VAR || TURNS
        if (SOME > ONE && __any_sync(ALL, k > ONE && k <= SOME)) {
            some_in_turns few(tile, begin, k, k > ONE && k <= SOME);
            if (LATE && base == 0)
                end_stage();
            const node whole = few.all();
            if (few.k > 0)
                out[few.whose * p.out_step] = finished(whole, few.k, p.ddof);
        }
#elif !BLOCKS
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
                out[whose * p.out_step] = finished(whole, len, p.ddof);
        }
#endif
#if !BLOCKS
        if (LATE && base == 0)
            end_stage();
        const unsigned longer = __ballot_sync(ALL, k > SOME);
#if KIND == VAR
        if (longer) {
            const node whole = many_in_turns(tile, begin, k, longer);
            if (k > SOME)
                out[lane * p.out_step] = finished(whole, k, p.ddof);
        }
#else
        for (unsigned rest = longer; rest; rest &= rest - 1) {
            const int whose = __ffs(rest) - 1, first = __shfl_sync(ALL, begin, whose), len = __shfl_sync(ALL, k, whose);
            const node whole = many_of(tile + first * SIZE, len);
            if (lane == 0)
                out[whose * p.out_step] = finished(whole, len, p.ddof);
        }
#endif
#endif
        out += 32 * p.out_step;
    }
#endif
}

#include "ops/reduce/gpu_long_segments.cuh"
