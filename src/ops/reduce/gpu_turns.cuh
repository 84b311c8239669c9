// SPDX-License-Identifier: Apache-2.0
// gpu_turns.cuh - variances of short segments in shared memory, FEW_LANES threads each: the longest first, so that neighbours are alike, and their ends together.
//
// Side by side, threads work for the longest segment, and ask of each element whether it is there. Of segments in the order of their lengths neighbours are as long, and rows of elements that are all
// there go without asking. What a segment takes once, two divisions, some hundred instructions, is done for 32 of them side by side: sums go back to the thread that has the segment, so
// elements are looked at twice in shared memory, and nothing is held between the looks.
//
// It goes below `at`, `meet` and `halve_own`.
#ifndef TESS_REDUCE_TURNS_CUH
#define TESS_REDUCE_TURNS_CUH

// Some of 32 segments. A thread has the beginning, the length and the sums of one of them, number `whose`.
struct in_turns {
    enum { AT_ONCE = 32 / FEW_LANES, ROWS = 8, OF_ROWS = ROWS * FEW_LANES };
    static_assert(SOME <= 4 * OF_ROWS && (FEW_LANES == 4 || FEW_LANES == 8 || FEW_LANES == 16),
                  "rows 2 ROWS apart are of lanes 64 or 128 apart, or of one lane: either way they are added first");
    unsigned tile;
    int begin, k, whose, many;
    int longest, shortest, mine, first; // of the segments side by side; which of them is this group's; the number of the first
    unsigned from;                      // this thread's first element of it, and how many there are from there on
    int left;

    // Those that are `wanted`.
    __device__ __forceinline__ in_turns(unsigned all, int its_begin, int its_k, bool wanted) : tile(all) {
        const int lane = threadIdx.x % 32;
        int rank = (wanted ? its_k : 0) << 5 | lane;
#pragma unroll
        for (int size = 2; size <= 32; size *= 2)
#pragma unroll
            for (int across = size / 2; across > 0; across /= 2) {
                const int other = __shfl_xor_sync(ALL, rank, across);
                const bool greater = ((lane & across) == 0) == (size == 32 || (lane & size) == 0);
                rank = greater == (other > rank) ? other : rank;
            }
        many = __popc(__ballot_sync(ALL, wanted));
        whose = rank & 31;
        k = rank >> 5;
        begin = __shfl_sync(ALL, its_begin, whose);
    }
    // Looks at the next ones.
    __device__ __forceinline__ void turn(int next) {
        const int t = threadIdx.x % FEW_LANES;
        first = next;
        mine = next + threadIdx.x % 32 / FEW_LANES;
        longest = __shfl_sync(ALL, k, next);
        shortest = __shfl_sync(ALL, k, next + AT_ONCE - 1);
        left = __shfl_sync(ALL, k, mine) - t;
        from = tile + (__shfl_sync(ALL, begin, mine) + t) * SIZE;
    }
    // The lanes in rows number `row` and on; more: after elements that came before. take(lane, a number, element, whether it is there, more).
    template <typename T, typename F> __device__ __forceinline__ void rows(T (&lane)[ROWS], int row, bool more, const F &take) const {
        const unsigned here = from + row * FEW_LANES * SIZE;
        if (shortest >= (row + ROWS) * FEW_LANES) {
#pragma unroll
            for (int m = 0; m < ROWS; m++)
                take(lane[m], m, at(here, m * FEW_LANES), true, more);
        } else {
#pragma unroll
            for (int m = 0; m < ROWS; m++) {
                const bool there = (row + m) * FEW_LANES < left;
                element e = {};
                if (there)
                    e = at(here, m * FEW_LANES);
                take(lane[m], m, e, there, more);
            }
        }
    }
    // The halving tree over a thread's lanes.
    template <typename T, typename F> __device__ __forceinline__ T look(const F &take) const {
        T low[ROWS], high[ROWS];
        rows(low, 0, false, take);
        if (longest > OF_ROWS) {
            rows(high, ROWS, false, take);
            if (longest > 2 * OF_ROWS)
                rows(low, 2 * ROWS, true, take);
            if (longest > 3 * OF_ROWS)
                rows(high, 3 * ROWS, true, take);
#pragma unroll
            for (int m = 0; m < ROWS; m++)
                merge(low[m], high[m]);
        }
        halve_own(low);
        return low[0];
    }
    // The thread's segment's moments.
    __device__ __forceinline__ node all() {
        first_sum start = 0;
        double m2 = 0;
        int count = OMIT ? 0 : k;
#pragma unroll 1
        for (int next = 0; next < many; next += AT_ONCE) {
            int counted = 0;
            turn(next);
            first_sum sum = look<first_sum>([&](first_sum &lane, int, element e, bool there, bool more) {
                const first_sum value = first_look(e, there, counted);
                lane = more ? lane + value : value;
            });
            meet<FEW_LANES>(sum);
            hand_back<FEW_LANES>(start, sum, first);
            if (OMIT)
                hand_back<FEW_LANES>(count, met_count<FEW_LANES>(counted), first);
        }
        const double mean = mean_of(start, count);
#pragma unroll 1
        for (int next = 0; next < many; next += AT_ONCE) {
            turn(next);
            const double middle = __shfl_sync(ALL, mean, mine);
            double sum = look<double>([&](double &lane, int m, element e, bool there, bool more) {
                const double value = second_look(wide_of(e, m), there, middle);
                lane = more ? lane + value : value;
            });
            meet<FEW_LANES>(sum);
            hand_back<FEW_LANES>(m2, sum, first);
        }
        return moments_of(mean, m2, count);
    }
};
#endif
