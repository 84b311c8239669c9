// SPDX-License-Identifier: Apache-2.0
// gpu_held_turns.cuh - variances of short segments of elements of up to four bytes in shared memory, FEW_LANES threads each: the longest first, so that neighbours are as long.
//
// Elements come once and stay in registers for the second look, where gpu_turns.cuh reads them again; of doubles they would be too many. The mean is wanted between the looks: it is the sum by the
// reciprocal of the length, which 32 segments had side by side before, and one step that makes it the quotient. There is one text for all lengths, eight rows at a time, and no more of them than the
// longest of the segments side by side has: with a text for every two rows instructions were fewer by a quarter, and machine code came too late.
//
// It goes below `meet`, `met_count` and `halve_own`.
#ifndef TESS_REDUCE_HELD_TURNS_CUH
#define TESS_REDUCE_HELD_TURNS_CUH
#include "ops/reduce/gpu_alone.cuh"
#include "ops/reduce/gpu_ranked.cuh"

// Some of 32 segments. A thread has the length and the sum of squares of one of them, number `whose`.
struct held_turns : ranked {
    enum { ROWS = 8, OF_ROWS = ROWS * FEW_LANES };
    static_assert(SOME <= 4 * OF_ROWS && SOME <= 512,
                  "rows 16 apart are of lanes 16 and more apart, or of one lane: either way they are added first");
    int longest, shortest; // of the segments side by side
    element held[4 * ROWS];
    using ranked::ranked;

    template <int AT> __device__ __forceinline__ void load() {
        const unsigned from = segment + threadIdx.x % FEW_LANES * SIZE;
        if (shortest >= (AT + ROWS) * FEW_LANES) {
#pragma unroll
            for (int m = AT; m < AT + ROWS; m++)
                held[m] = at_shared<element>(from + m * FEW_LANES * SIZE);
        } else {
#pragma unroll
            for (int m = AT; m < AT + ROWS; m++) {
                held[m] = 0;
                if (m * FEW_LANES < left)
                    held[m] = at_shared<element>(from + m * FEW_LANES * SIZE);
            }
        }
    }
    // The halving tree over a thread's rows, and over the threads.
    template <typename T, typename F> __device__ __forceinline__ T look(const F &take) {
        const auto one = [&](int m) -> T { return take(held[m], m, m * FEW_LANES < left); };
        T lane[ROWS];
#pragma unroll
        for (int m = 0; m < ROWS; m++)
            lane[m] = one(m);
        if (longest > 2 * OF_ROWS)
#pragma unroll
            for (int m = 0; m < ROWS; m++)
                lane[m] += one(m + 2 * ROWS);
        if (longest > 3 * OF_ROWS) {
#pragma unroll
            for (int m = 0; m < ROWS; m++)
                lane[m] += one(m + ROWS) + one(m + 3 * ROWS);
        } else if (longest > OF_ROWS) {
#pragma unroll
            for (int m = 0; m < ROWS; m++)
                lane[m] += one(m + ROWS);
        }
        halve_own(lane);
        meet<FEW_LANES>(lane[0]);
        return lane[0];
    }
    // Of the group's segment; `inverse` is 1 / length; count: of elements that are no NaN.
    __device__ __forceinline__ double squares(int length, double inverse, int &count) {
        load<0>();
        if (longest > OF_ROWS)
            load<ROWS>();
        if (longest > 2 * OF_ROWS)
            load<2 * ROWS>();
        if (longest > 3 * OF_ROWS)
            load<3 * ROWS>();
        count = OMIT ? 0 : length;
        const first_sum sum = look<first_sum>([&](element e, int, bool there) { return first_look(e, there, count); });
        count = met_count<FEW_LANES>(count);
        const double mean = OMIT ? mean_of(sum, count) : quotient(sum, count, inverse);
        return look<double>([&](element e, int m, bool there) { return second_look(wide_of(again(e), m), there, mean); });
    }
    // The thread's segment's moments, but for the mean, which nobody asks for.
    __device__ __forceinline__ node all() {
        const double inverse = 1 / (double)k;
        double m2 = 0;
        int count = OMIT ? 0 : k;
#pragma unroll 1
        for (int next = 0; next < 32; next += AT_ONCE) {
            const unsigned length = next_length(next);
            longest = (int)__reduce_max_sync(ALL, length);
            shortest = (int)__reduce_min_sync(ALL, length);
            if (longest == 0)
                break;
            int its;
            const double sum = squares((int)length, __shfl_sync(ALL, inverse, mine), its);
            hand_back<FEW_LANES>(m2, sum, first);
            if (OMIT)
                hand_back<FEW_LANES>(count, its, first);
        }
        return moments_of(0, m2, count);
    }
};
#endif
