// SPDX-License-Identifier: Apache-2.0
// gpu_short_moments.cuh - the variance of a row of bytes or 16-bit elements in shared memory, whose length the compiler knows (-DTALL): a few threads (-DGROUP) take words of it in turns.
//
// Arithmetic is what such rows wait for, so nothing is asked that the length says: every word that all threads have is taken without a question, of the last one a mask is the thread's. Rows may begin anywhere: -DREADS says
// how many bytes a load may have, 0: those of a word are put together from two. -DHOLD=1: a thread's words stay in registers for the second look. -DEXACT=1: bytes of a power of two take one look (moments_at_once).
//
// Word number q of thread t is the row's number q * GROUP + t, and has lanes of the tree number q % OF_THREAD; a row of more than 256 elements comes round.
#ifndef TESS_REDUCE_SHORT_MOMENTS_CUH
#define TESS_REDUCE_SHORT_MOMENTS_CUH
#include "ops/reduce/gpu_group.cuh"
#include "ops/reduce/gpu_lanes.cuh"

enum {
    ROW_BYTES = TALL * SIZE,
    ROW_WORDS = (ROW_BYTES + 3) / 4,
    OF_THREAD = EACH / E, // lanes of a thread, as words
    MINE = (ROW_WORDS + GROUP - 1) / GROUP,
    LAST = TALL - (MINE - 1) * GROUP * E, // elements of a row's last words, one a thread
    LANES_THERE = MINE < OF_THREAD ? MINE : OF_THREAD,
    READ = READS > 4 ? READS / 4 : 1 // words of a load
};
static_assert(E * SIZE == 4 && (GROUP == 1 ? HOLD : READS <= 4), "a thread that has all of a row holds it, and only there its words are neighbours");

struct parts {
    double of[E];
};
__device__ __forceinline__ void merge(parts &a, const parts &b) {
#pragma unroll
    for (int v = 0; v < E; v++)
        a.of[v] += b.of[v];
}

struct short_row {
    unsigned tile, row; // where in shared memory the tile and the row begin, or the word that it begins in
    int byte, t, mine;  // its place in the tile; the thread; how many elements that one has of its last word
    unsigned keep;      // of the last word
    unsigned held[HOLD ? MINE : 1];

    __device__ __forceinline__ short_row(unsigned tile, int byte, int t) : tile(tile), row(tile + (READS >= 4 ? byte : byte & ~3)), byte(byte), t(t) {
        asm volatile("" : "+r"(row)); // the compiler made each word's address from the byte on
        mine = GROUP == 1 ? (int)LAST : min(max((int)LAST - t * E, 0), (int)E);
        keep = mine <= 0 ? 0 : ~0u >> 8 * SIZE * (E - mine);
#if HOLD
        if (READS >= 4) {
#pragma unroll
            for (int q = 0; q < MINE; q += READ) {
                const words<4 * READ> some = (q + 1) * GROUP <= ROW_WORDS || mine > 0 ? at<words<4 * READ>>(q * GROUP + t) : words<4 * READ>{};
#pragma unroll
                for (int i = 0; i < READ; i++)
                    held[q + i] = some.word[i];
            }
        } else if (GROUP == 1) { // a word's upper part is the next one's lower
            unsigned low = at<unsigned>(0);
#pragma unroll
            for (int q = 0; q < MINE; q++) {
                const unsigned high = q + 1 < MINE ? at<unsigned>(q + 1) : last(q + 1);
                held[q] = __funnelshift_r(low, high, 8 * byte);
                low = high;
            }
        } else {
#pragma unroll
            for (int q = 0; q < MINE; q++)
                held[q] = read(q);
        }
#endif
    }
    template <typename T> __device__ __forceinline__ T at(int j) const {
        return at_shared<T>(PAD ? tile + spot((READS >= 4 ? byte : byte & ~3) + 4 * j) : row + 4 * j);
    }
    // Number j of the words that the row lies in, or the last of them where that is none.
    __device__ __forceinline__ unsigned last(int j) const { return at<unsigned>(min(j, ((byte & 3) + ROW_BYTES - 1) / 4)); }
    __device__ __forceinline__ unsigned read(int q) const {
        const int j = q * GROUP + t;
        if ((q + 1) * GROUP > ROW_WORDS && mine <= 0)
            return 0;
        if (READS >= 4)
            return at<unsigned>(j);
        return __funnelshift_r(at<unsigned>(j), q + 1 < MINE ? at<unsigned>(j + 1) : last(j + 1), 8 * byte);
    }
    // Word q, 0 where no element of the row is.
    __device__ __forceinline__ unsigned word(int q) const {
        const unsigned w = HOLD ? held[HOLD ? q : 0] : read(q);
        return sure(q) ? w : w & keep;
    }
    // Whether all threads have all of word q.
    static __device__ __forceinline__ constexpr bool sure(int q) { return q + 1 < MINE || LAST == GROUP * E; }
    __device__ __forceinline__ bool has(int q, int v) const { return sure(q) || v < mine; }

    // The compiler would keep floats as f64 from the first look on, for which few of them have registers, and not read again what is not held: what it does not know to be 0 says that they are others.
    __device__ __forceinline__ void forget() {
#if !HOLD
        row ^= threadIdx.y;
        byte ^= threadIdx.y;
#elif !SMALL_INTEGERS
#pragma unroll
        for (int q = 0; q < MINE && MINE * E > 24; q++)
            held[q] ^= threadIdx.y;
#endif
    }

    // The halving tree over the thread's lanes: what use(word, element, whether it is there) makes of each element.
    template <typename F> __device__ __forceinline__ parts halved(const F &use) const {
        enum { AT_ONCE_HERE = MINE <= 64 ? 64 : 2 };
        return subtree<0, 1, OF_THREAD, parts, LANES_THERE>([&](int n) {
            parts lane;
            const unsigned first = word(n);
#pragma unroll
            for (int v = 0; v < E; v++)
                lane.of[v] = use(first, v, has(n, v));
#pragma unroll AT_ONCE_HERE
            for (int q = n + OF_THREAD; q < MINE; q += OF_THREAD) {
                const unsigned next = word(q);
#pragma unroll
                for (int v = 0; v < E; v++)
                    if (GROUP > 1 || has(q, v))
                        lane.of[v] += use(next, v, has(q, v));
            }
            return lane;
        });
    }
};

#if SMALL_INTEGERS
// What the threads of a row have.
__device__ __forceinline__ int all_of(int sum) {
#pragma unroll
    for (int across = GROUP / 2; across > 0; across /= 2)
        sum += __shfl_xor_sync(ALL, sum, across);
    return sum;
}
#endif

// The whole warp comes here.
__device__ __forceinline__ node whole_of(short_row &row) {
#if SMALL_INTEGERS
    int elements = 0, products = 0;
#pragma unroll
    for (int q = 0; q < MINE; q++) {
        const unsigned w = row.word(q);
        elements = sum_of_word(elements, w);
        products = EXACT ? squares_of_word(products, w) : 0;
    }
    const double sum = all_of(elements);
#if EXACT
    return moments_at_once(sum, all_of(products), sum * (1. / TALL), TALL);
#endif
#else
    unsigned found = 0; // a NaN where an upper half was no number
    parts first = row.halved([&](unsigned w, int v, bool) {
        if (HALVES && v == 1)
            find_no_number(found, w);
        return HALVES && v == 1 ? half_bits(w) : part_as_wide(w, v);
    });
    if (HALVES)
        first.of[1] = settled_halves(first.of[1], found);
    const double sum = met(first.of);
#endif
    const double mean = quotient(sum, TALL, 1. / TALL);
    double middle[E];
#pragma unroll
    for (int v = 0; v < E; v++)
        middle[v] = middle_of(mean, v);
    row.forget();
    parts squares = row.halved([&](unsigned w, int v, bool there) { return square_of_part(w, v, there, middle[v]); });
#pragma unroll
    for (int v = 0; v < E; v++)
        squares.of[v] = settled_squares(squares.of[v], v);
    return moments_of(mean, met(squares.of), TALL);
}
#endif
