// SPDX-License-Identifier: Apache-2.0
// gpu_sum_turns.cuh - sums and products of short segments in shared memory where they have an order, FEW_LANES threads each: the longest first, so that neighbours are as long.
//
// Side by side, threads work for the longest segment, and of lengths as they come half of the threads have none of its elements left. Of segments in the order of their lengths neighbours are
// alike. A thread has its lanes of the tree in the order in which they halve, no more of them than the longest beside it has; results go back to the thread that has the segment, so all
// that a segment takes once is done for 32 of them side by side.
//
// What is not there is +0, and is added: that changes no sum but -0, which a sum that begins with +0 never is (`settle`). 16-bit floats come by words, of which each has two lanes. Words are
// cut where memory is, so a word's first one may be the tree's lane of one place before, which halves the same (gpu_run_leaf.cuh).
//
// It goes below `gather`.
#ifndef TESS_REDUCE_SUM_TURNS_CUH
#define TESS_REDUCE_SUM_TURNS_CUH
#include "ops/reduce/gpu_ranked.cuh"

#define BEGUN (KIND == SUM && !OMIT)
#define BY_WORDS (BEGUN && (IN == T_F16 || IN == T_BF16))
#if BY_WORDS
struct lane_pair { // a word's lanes
    node low, high;
};
__device__ __forceinline__ void merge(lane_pair &n, const lane_pair &m) {
    merge(n.low, m.low);
    merge(n.high, m.high);
}
#endif

// Some of 32 segments.
struct sum_turns : ranked {
    enum { ROW = FEW_LANES * (BY_WORDS ? 2 : 1) }; // elements that a segment's threads have side by side
    static_assert(SOME + BY_WORDS <= 32 * ROW && SOME <= 512, "lanes() has 32 rows, and of words the first may be another's; of elements 256 apart, "
                                                              "which are of one lane, there are two, and those are merged first");
    using ranked::ranked;
    // The first MOST lanes of this thread's, and its group's.
    template <int MOST> __device__ __forceinline__ node lanes() const {
        enum { LANES = MOST > 16 ? 32 : MOST > 8 ? 16 : MOST > 4 ? 8 : MOST > 2 ? 4 : 2 };
        const int t = threadIdx.x % FEW_LANES;
#if BY_WORDS
        const int odd = (int)(segment & 3) / SIZE, behind = left + odd - t;
        const unsigned word = segment - odd * SIZE + t * 4, whole_or_half = t == 0 && odd ? 0xffff0000u : ~0u;
        lane_pair both = subtree<0, 1, LANES, lane_pair, MOST>([&](int m) {
            unsigned v = 0;
            if (m * ROW < behind)
                v = at_shared<unsigned>(word + m * FEW_LANES * 4);
            v &= m == 0 ? whole_or_half : ~0u;
            return lane_pair{begun((element)v), begun(m * ROW + 1 < behind ? (element)(v >> 16) : (element)0)};
        });
        gather<FEW_LANES>(both);
        merge(both.low, both.high);
        node &whole = both.low;
#else
        const unsigned from = segment + t * SIZE;
        node whole = subtree<0, 1, LANES, node, MOST>([&](int m) {
#if BEGUN
            element e = {};
            if (m * ROW < left)
                e = at_shared<element>(from + m * ROW * SIZE);
            return begun(e);
#else
            node lane = nothing();
            if (m * ROW < left)
                take(lane, at_shared<element>(from + m * ROW * SIZE), 0);
            return lane;
#endif
        });
        gather<FEW_LANES>(whole);
#endif
#if BEGUN
        settle(whole);
#endif
        return whole;
    }
    // `rows` of them or a few more. A product's rows are long texts, so there are fewer.
    __device__ __forceinline__ node up_to(int rows) const {
        enum { FINE = KIND != PROD };
        if (rows <= 8)
            return FINE && rows <= 2 ? lanes<2>() : rows <= 4 ? lanes<4>() : FINE && rows <= 6 ? lanes<6>() : lanes<8>();
        if (rows <= 16)
            return FINE && rows <= 10 ? lanes<10>() : rows <= 12 ? lanes<12>() : FINE && rows <= 14 ? lanes<14>() : lanes<16>();
        return FINE && rows <= 20 ? lanes<20>() : rows <= 24 ? lanes<24>() : FINE && rows <= 28 ? lanes<28>() : lanes<32>();
    }
    // What the thread's segment comes to.
    __device__ __forceinline__ node all() {
        node its = nothing();
#pragma unroll 1
        for (int next = 0; next < 32; next += AT_ONCE) {
            const int longest = turn(next);
            if (longest == 0)
                break;
            hand_back<FEW_LANES>(its, up_to((longest + BY_WORDS + ROW - 1) / ROW), first);
        }
        return its;
    }
};
#endif
