// SPDX-License-Identifier: Apache-2.0
// gpu_leaf.cuh - what a leaf of any layout comes to: a block, a thread each of the tree's 256 lanes.
//
// Of moments a lane has at most 32 elements, which all are on their way at once and stay in registers for the second look (gpu_moments.cuh): a leaf that is looked for
// again comes from L2, which then gives twice what memory does. Along several axes (-DRANK) the first of a thread's places takes divisions, the others a step of 256 elements (leaf_walk, gpu_tree.cuh).
// Lanes 128, 64 and 32 apart meet in shared memory, the others by shuffles: one barrier a leaf, or a look.
#ifndef TESS_REDUCE_LEAF_CUH
#define TESS_REDUCE_LEAF_CUH
#include "ops/reduce/gpu_node.cuh"
#include "ops/reduce/gpu_lanes.cuh"

// n elements from number `first` on.
#if KIND == VAR
// -DWORDS=1, of small elements that are neighbours, or whole words of which lie together along several axes: a thread has a word of each row of 256, so a leaf has as few threads as words make of a row. Words are cut where memory is, so
// [j] is the tree's lane of m places before, which halves the same (gpu_run_leaf.cuh); the two that are not whole come element by element.
//
// -DWORDS=2: words of 8 bytes, so half as many threads, for outputs most of whose leaves are whole: those have a text without a question in it, the others a short one that reads them twice. Along one axis words are cut where memory is here too;
// along several, whose runs may end within such a word, what does not begin at one has the short text, element by element.
enum { WORD = WORDS ? WORDS * 4 / (int)sizeof(element) : 1, THREADS = 256 / WORD };
enum { BRIEF = sizeof(element) < 8 }; // what spares instructions at a leaf's end; leaves of doubles, of which there are few on a multiprocessor, took longer so
#define HALVES_BY_BITS (WORDS && HALVES)

union leaf_word {
    words<sizeof(element) * WORD> all;
    element part[WORD];
    enum { IN_WORD = 4 / sizeof(element) }; // none of elements that have no words
    __device__ __forceinline__ unsigned word(int j) const { return all.word[j / (IN_WORD > 0 ? IN_WORD : 1)]; }
    __device__ __forceinline__ double wide(int j) const {
        if (WORDS && SMALL_INTEGERS && j % 4 != 3)
            return part_as_wide(word(j), j % IN_WORD);
        if (WORDS && IN == T_U8)
            return small_as_wide((int)__byte_perm(word(j), 0, 0x4440 + j % 4), j); // one instruction, where a shift and a mask are two
        return wide_of(part[j], j);
    }
    // What the second look takes of part j.
    __device__ __forceinline__ double square(int j, bool there, double mean) const {
        if (HALVES_BY_BITS && j % 2 == 1)
            return square_of_part(word(j), 1, there, mean);
        return second_look(wide(j), there, mean);
    }
};

// The halving tree over a block's lanes and the sum of what they count, for all threads: every warp reads all lanes for itself; FOR_ALL=false: for the first warp. `room` must not be what the call before had.
template <bool FOR_ALL> __device__ double halved(double *room, int *counts, const double (&lane)[WORD], int &count) {
    const int t = threadIdx.x % 32;
#pragma unroll
    for (int j = 0; j < WORD; j++)
        room[threadIdx.x * WORD + j] = lane[j];
    if (OMIT) {
        count = __reduce_add_sync(ALL, count);
        if (t == 0)
            counts[threadIdx.x / 32] = count;
    }
    __syncthreads();
    if (!FOR_ALL && threadIdx.x >= 32)
        return 0;
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
        for (int w = 0; w < THREADS / 32; w++)
            count += counts[w];
    }
    return part[0];
}

// The same of sums that are exact in any order.
#if SMALL_INTEGERS
template <bool FOR_ALL> __device__ double halved(double *room, int *counts, const int (&lane)[WORD], int &count) {
    int sum = 0, *sums = (int *)room;
#pragma unroll
    for (int j = 0; j < WORD; j++)
        sum += lane[j];
    sum = __reduce_add_sync(ALL, sum);
    if (OMIT)
        count = __reduce_add_sync(ALL, count);
    if (threadIdx.x % 32 == 0) {
        sums[threadIdx.x / 32] = sum;
        counts[threadIdx.x / 32] = count;
    }
    __syncthreads();
    sum = count = 0;
#pragma unroll
    for (int w = 0; w < THREADS / 32; w++) {
        sum += sums[w];
        count += counts[w];
    }
    return sum;
}
#endif

#define BYTES_AT_ONCE (WORDS && (IN == T_U8 || IN == T_I8))
#if BYTES_AT_ONCE
__device__ __forceinline__ int square_bytes(unsigned word, int sum) { return IN == T_I8 ? __dp4a((int)word, (int)word, sum) : (int)__dp4a(word, word, (unsigned)sum); }
#endif
// What a thread has of a leaf: words whose first element is one of the first `left` of its own; of the first word, where it is not whole, elements [from, to).
struct leaf_share {
    int left, from, to;
    bool cut;
    __device__ bool whole(int i) const { return i * 256 < left && !(WORDS && i == 0 && cut); }
    __device__ bool some(int i) const { return i * 256 < left || (WORDS && i == 0 && cut); }
    __device__ bool has(int i, int j) const { return !WORDS || i > 0 || !cut || (j >= from && j < to); } // where it has some
};

// A thread's words of a leaf, in parts of PART rows; measured. Of a part that is whole nothing is asked, and of one that is not there nothing is done: what is asked for each
// element would take more instructions than the looks.
__device__ __forceinline__ const element *lies(const element *from, i64 at) { return from + at; }
__device__ __forceinline__ const element *lies(const element *, const element *at) { return at; }
enum { PART = sizeof(element) == 4 ? 4 : 8, PARTS_OF_LEAF = 32 / PART };
struct leaf_part {
    leaf_word held[PART];
    // place(i): where row i lies, asked for one after another.
    template <bool WHOLE_PART, typename PLACE> __device__ __forceinline__ void load(const element *from, const PLACE &place, int c, const leaf_share &mine) {
#pragma unroll
        for (int i = 0; i < PART; i++) {
            const auto at = place(c * PART + i);
            if (!WHOLE_PART)
                held[i] = {};
            if (WHOLE_PART || mine.whole(c * PART + i))
                load_now(held[i].all, lies(from, at));
        }
    }
    template <bool WHOLE_PART> __device__ __forceinline__ void first(first_sum (&lane)[WORD], int c, const leaf_share &mine, int &count) const {
#pragma unroll
        for (int i = 0; i < PART; i++) {
            if (!WHOLE_PART && !mine.some(c * PART + i))
                break;
#if WORDS && (IN == T_U8 || IN == T_I8)
            const unsigned word = held[i].all.word[0], ones = 0x01010101;
            lane[0] = IN == T_I8 ? __dp4a((int)word, (int)ones, lane[0]) : (int)__dp4a(word, ones, (unsigned)lane[0]);
            for (int j = 0; OMIT && j < WORD; j++)
                count += WHOLE_PART || mine.has(c * PART + i, j);
#else
#pragma unroll
            for (int j = 0; j < WORD; j++)
                lane[j] += first_look(held[i].part[j], WHOLE_PART || mine.has(c * PART + i, j), count);
#endif
        }
    }
#if BYTES_AT_ONCE
    __device__ __forceinline__ void squares(int &sum) const {
#pragma unroll
        for (int i = 0; i < PART; i++)
            sum = square_bytes(held[i].all.word[0], sum);
    }
#endif
    template <bool WHOLE_PART> __device__ __forceinline__ void second(double (&lane)[WORD], int c, const leaf_share &mine, double mean) const {
#pragma unroll
        for (int i = 0; i < PART; i++) {
            if (!WHOLE_PART && !mine.some(c * PART + i))
                break;
            const leaf_word v = {again(held[i].all)};
#pragma unroll
            for (int j = 0; j < WORD; j++)
                lane[j] += v.square(j, WHOLE_PART || mine.has(c * PART + i, j), mean);
        }
    }
};

// use(number of a part, WHOLE_PART or not), for each that has elements.
template <typename WHOLE_USE, typename SOME_USE>
__device__ __forceinline__ void for_parts(int n, bool first_is_whole, const WHOLE_USE &whole, const SOME_USE &some) {
#pragma unroll
    for (int c = 0; c < PARTS_OF_LEAF; c++)
        if (n >= (c + 1) * PART * 256 && (c > 0 || first_is_whole))
            whole(c);
        else if (n > c * PART * 256)
            some(c);
}

#if RUNS == 1
// Where a thread's words lie of runs along two axes. So many runs have ended as a product of a word's number with the inverse of their length says, each of which is so many bytes more: rows do not wait for each other, as they would
// for what is left of a run. Numbers have 32 bits, counted from a place that all threads of the block share.
template <typename P> struct run_walk {
    static_assert(RANK == 2, "one gap");
    const element *base;               // where the first of the leaf's runs begins
    unsigned at, gap, number, inverse; // bytes from there to the thread's first word, if no run ended; between two runs; the word's number, from the run's begin on
    __device__ __forceinline__ run_walk(const P &p, const element *from, unsigned first) {
        const unsigned all = (unsigned)p.size[1], run = first / all, in_run = first - run * all;
        base = from + run * p.step[0];
        at = (in_run + threadIdx.x * WORD) * (unsigned)sizeof(element);
        gap = (unsigned)(p.step[0] - p.size[1]) * (unsigned)sizeof(element);
        // Of longer ones one ends at most, and numbers are counted from 2^15 before its end on: below 2^16 and with runs of 2^15 at most the product says what a division would.
        const int before = all > 1 << 15 ? (int)(all - (1 << 15)) : 0;
        number = (unsigned)max((int)in_run - before, 0) + threadIdx.x * WORD;
        inverse = (unsigned)p.size[2];
    }
    __device__ __forceinline__ const element *row(int i) const {
        return (const element *)((const char *)base + (at + __umulhi(number + i * 256, inverse) * gap)) + i * 256;
    }
};
#endif

#if WORDS == 2
// The first look at a word of which `there` elements are there, the others 0.
__device__ __forceinline__ void look_first(first_sum (&lane)[WORD], const leaf_word &v, int there, int &count, unsigned &odd) {
#if BYTES_AT_ONCE
#pragma unroll
    for (int j = 0; j < WORD / 4; j++)
        lane[0] = IN == T_I8 ? __dp4a((int)v.all.word[j], 0x01010101, lane[0]) : (int)__dp4a(v.all.word[j], 0x01010101u, (unsigned)lane[0]);
    count += OMIT ? min(max(there, 0), (int)WORD) : 0;
#else
#pragma unroll
    for (int j = 0; j < WORD; j++)
        if (HALVES_BY_BITS && j % 2 == 1)
            lane[j] += half_bits(v.word(j));
        else
            lane[j] += first_look(v.part[j], j < there, count);
#pragma unroll
    for (int j = 0; HALVES_BY_BITS && j < WORD / 2; j++)
        find_no_number(odd, v.all.word[j]);
#endif
}
// What it comes to.
__device__ __forceinline__ void settle_first(first_sum (&lane)[WORD], unsigned odd) {
#pragma unroll
    for (int j = 1; HALVES_BY_BITS && j < WORD; j += 2)
        lane[j] = settled_halves(lane[j], odd);
}

#if RUNS == 1
#define WALKED(walk, p, from, first) run_walk<P> walk(p, from, (unsigned)first)
#else
#define WALKED(walk, p, from, first) leaf_run walk = {from + (RANK == 1 ? first : place(p, (unsigned)first)) + threadIdx.x * WORD}
struct leaf_run {
    const element *from;
    __device__ __forceinline__ const element *row(int i) const { return from + i * 256; }
};
#endif
// use(a thread's word, whose elements from one number on, before another are there), row after row; `mine`: elements from the thread's first one on, of which the first `missing` are not there.
template <typename WALK, typename USE> __device__ __forceinline__ void all_rows(WALK &walk, int mine, int missing, bool by_words, const USE &use) {
    enum { AT_ONCE = 8 };
#pragma unroll 1
    for (int row = 0; row * 256 < mine; row += AT_ONCE) {
        leaf_word v[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const int left = mine - (row + i) * 256, before = row + i == 0 ? missing : 0;
            const element *at = walk.row(row + i);
            v[i] = {};
            if (by_words && left >= WORD && before == 0)
                load_now(v[i].all, at);
            else
#pragma unroll
                for (int j = 0; j < WORD; j++)
                    if (j >= before && j < left)
                        v[i].part[j] = at[j];
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            use(v[i], row + i == 0 ? missing : 0, mine - (row + i) * 256);
    }
}

template <typename P> __device__ node of_leaf(const P &p, const element *from, i64 first, int n) {
    __shared__ double room[2][256];
    __shared__ int counts[2][8];
    int count = 0, same = 0;
    first_sum start[WORD] = {};
    double lane[WORD] = {};
    unsigned odd = 0;
    // What is before the leaf in its first word, which the first thread takes element by element, as it does what the leaf has of a word more; lanes are turned by as much. What lies between runs is whole words.
    const int around = (int)((u64)from % sizeof(leaf_word)) / (int)sizeof(element), missing = RANK == 1 && threadIdx.x == 0 ? around : 0;
    const bool by_words = RANK == 1 || around == 0;
    from -= RANK == 1 ? around : 0;
    WALKED(walk, p, from, first);
    if (n == 8192 && by_words) {
        leaf_word held[32], behind = {};
        if (missing > 0) {
#pragma unroll
            for (int j = 0; j < WORD; j++) {
                const element e = walk.row(j < missing ? 32 : 0)[j];
                held[0].part[j] = j < missing ? (element)0 : e;
                behind.part[j] = j < missing ? e : (element)0;
            }
        } else {
            load_now(held[0].all, walk.row(0));
        }
#pragma unroll
        for (int i = 1; i < 32; i++)
            load_now(held[i].all, walk.row(i));
#pragma unroll
        for (int i = 0; i < 32; i++)
            look_first(start, held[i], WORD, count, odd);
        if (missing > 0) {
            look_first(start, behind, missing, count, odd);
            count -= OMIT ? missing : 0; // zeros of the first word
        }
        settle_first(start, odd);
        const double sum = halved<true>(room[0], counts[0], start, count);
        count = OMIT ? count : n;
        double mean = OMIT ? mean_of(sum, count) : sum * (1. / 8192); // a power of two divides exactly, or rounds as a division would
#if BYTES_AT_ONCE
        int squares[WORD] = {};
#pragma unroll
        for (int i = 0; i < 32; i++)
#pragma unroll
            for (int j = 0; j < WORD / 4; j++)
                squares[0] = square_bytes(held[i].all.word[j], squares[0]);
        return moments_at_once(sum, halved<false>(room[1], counts[1], squares, same), mean, n);
#else
        if (HALVES_BY_BITS)
            mean += sum - sum;
#pragma unroll
        for (int i = 0; i < 32; i++) {
            const leaf_word v = {again(held[i].all)};
#pragma unroll
            for (int j = 0; j < WORD; j++)
                lane[j] += v.square(j, i > 0 || j >= missing, mean);
        }
        if (missing > 0) {
            const leaf_word v = {again(behind.all)};
#pragma unroll
            for (int j = 0; j < WORD - 1; j++)
                lane[j] += v.square(j, j < missing, mean);
        }
        return moments_of(mean, halved<false>(room[1], counts[1], lane, same), count);
#endif
    }
    const int mine = n + (RANK == 1 ? around : 0) - (int)threadIdx.x * WORD;
    all_rows(walk, mine, missing, by_words, [&](const leaf_word &v, int before, int there) {
        look_first(start, v, there, count, odd);
        count -= OMIT ? before : 0;
    });
    settle_first(start, odd);
    const double sum = halved<true>(room[0], counts[0], start, count);
    count = OMIT ? count : n;
    double mean = mean_of(sum, count);
    if (HALVES_BY_BITS)
        mean += sum - sum;
    WALKED(once_more, p, from, first);
    all_rows(once_more, mine, missing, by_words, [&](const leaf_word &v, int before, int there) {
#pragma unroll
        for (int j = 0; j < WORD; j++)
            lane[j] += v.square(j, j >= before && j < there, mean);
    });
    return moments_of(mean, halved<false>(room[1], counts[1], lane, same), count);
}
#else
template <typename P> __device__ node of_leaf(const P &p, const element *from, i64 first, int n) {
    __shared__ double room[2][256];
    __shared__ int counts[2][8];
    int count = 0, same = 0;
    first_sum start[WORD] = {};
    double lane[WORD] = {};
#if RANK == 1
    const i64 step = RUN ? 256 : 256 * p.step[0];
    from += RUN ? first : (first + threadIdx.x) * p.step[0];
    const auto place_of_row = [&](int i) { return i * step; };
#elif RUNS == 2
    from += place(p, (unsigned)first) + threadIdx.x * WORD;
    const auto place_of_row = [&](int i) { return from + i * 256; };
#elif RUNS == 1
    run_walk<P> walk(p, from, (unsigned)first);
    const auto place_of_row = [&](int i) { return walk.row(i); };
#else
    leaf_walk<P> walk(p, first + threadIdx.x * WORD);
    const auto place_of_row = [&](int) { return walk.next(); };
#endif
    const int m = WORDS && RUN ? (int)((u64)from & 3) / (int)sizeof(element) : 0, all = n + m, begin = (int)threadIdx.x * WORD;
    from += RUN ? begin - m : 0;
    const leaf_share mine = {all - begin - (WORD - 1), m, all < WORD ? all : WORD, m > 0 && threadIdx.x == 0};
    leaf_part part[PARTS_OF_LEAF];
    for_parts(
        all, m == 0, [&](int c) { part[c].template load<true>(from, place_of_row, c, mine); },
        [&](int c) { part[c].template load<false>(from, place_of_row, c, mine); });
    // The last word where it is not whole: a thread's last one, its first `tails` elements.
    const int words = all / WORD, tails = RUN && words % THREADS == (int)threadIdx.x && (words > 0 || m == 0) ? all % WORD : 0;
    leaf_word tail = {};
#pragma unroll
    for (int j = 0; WORDS && j < WORD; j++) {
        if (mine.cut && j >= mine.from && j < mine.to)
            part[0].held[0].part[j] = from[j];
        if (j < tails)
            tail.part[j] = from[words / THREADS * 256 + j];
    }
    for_parts(
        all, m == 0, [&](int c) { part[c].template first<true>(start, c, mine, count); },
        [&](int c) { part[c].template first<false>(start, c, mine, count); });
#pragma unroll
    for (int j = 0; j < WORD - 1; j++)
        start[j] += first_look(tail.part[j], j < tails, count);
    const double sum = halved<true>(room[0], counts[0], start, count);
    count = OMIT ? count : n;
    double mean = BRIEF && !OMIT && n == 8192 ? sum * (1. / 8192) : mean_of(sum, count); // a power of two divides exactly, or rounds as a division would
    if (HALVES_BY_BITS)
        mean += sum - sum;
#if BYTES_AT_ONCE
    if ((n & (n - 1)) == 0) { // what is not there is 0
        int squares[WORD] = {square_bytes(tail.all.word[0], 0)};
        for_parts(
            all, m == 0, [&](int c) { part[c].squares(squares[0]); }, [&](int c) { part[c].squares(squares[0]); });
        return moments_at_once(sum, halved<!BRIEF>(room[1], counts[1], squares, same), mean, n);
    }
#endif
    for_parts(
        all, m == 0, [&](int c) { part[c].template second<true>(lane, c, mine, mean); },
        [&](int c) { part[c].template second<false>(lane, c, mine, mean); });
#pragma unroll
    for (int j = 0; j < WORD - 1; j++)
        lane[j] += second_look(tail.wide(j), j < tails, mean);
    return moments_of(mean, halved<!BRIEF>(room[1], counts[1], lane, same), count);
}
#endif
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
    leaf_walk<P> walk(p, first + threadIdx.x);
#pragma unroll 1
    for (int i = threadIdx.x; i < n; i += AT_ONCE * 256) {
        element x[AT_ONCE];
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) {
            const i64 at = walk.next();
            if (i + j * 256 < n)
                x[j] = from[at];
        }
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++)
            if (i + j * 256 < n)
                take(mine, x[j], first + i + j * 256);
    }
    return lanes_met(mine);
}
#endif
#endif
