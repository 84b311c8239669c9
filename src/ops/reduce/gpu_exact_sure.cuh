// SPDX-License-Identifier: Apache-2.0
// gpu_exact_sure.cuh - exact sums without accumulators: a few levels that forget what lies below them, know how much that can be, and say whether it decides the result.
//
// Levels are those of gpu_exact_group.cuh: one starts from 1.5 * 2^e, its last bit is worth u = 2^(e - 52), what it takes of a number is a multiple of u, what that leaves is no more than u / 2, is
// found without error and is the next level's, 52 - log binades lower. Up to 2^log numbers below 2^(field - 1022) fit. They go on from strip to strip. When a greater number comes, levels are opened
// anew for it, two binades higher still, and take in what they held: sums of w numbers count as w numbers, and each has at most one rest more for the levels below it. So of n numbers, eight at a
// time, a level takes in no more than 5 n / 4 and four more a thread, and 2^log is at least twice n and eight a thread. Threads' levels for as many numbers as all
// of them have, with the same field, add up without error.
//
// What is left after the last level is dropped: n and four a thread, that is 2^(log - 1) rests of u / 2 at most, u the last level's (a rise leaves three, and those from before it were an eighth). A result that is the same at both ends of what the sum may be
// is the result; else its column is marked, and added up again by levels and digits (gpu_exact_columns.cu). Where nothing was left, nothing is in doubt, however much cancels.
//
// Where numbers of 2^1000 and more come a thread goes on with 2^-SCALE of all numbers, for levels of a fixed field, and takes for granted that something is dropped (as the groups do). A lane's f16 need
// none of this: up to 2^13 of them, multiples of 2^-24 below 2^16, come to 53 bits, which one double adds up without error; infinities and NaNs come out of it as out of any sum.
#ifndef TESS_REDUCE_EXACT_SURE_CUH
#define TESS_REDUCE_EXACT_SURE_CUH
#include "ops/reduce/gpu_exact_group.cuh"

enum {
    SURE_LEVELS = IN == T_BF16 ? 2 : 3,
    USUAL = WIDE ? 2 : 1,        // that numbers of one magnitude want
    SURE_SPARE = 2,              // binades
    GREATEST = 2047,             // a field above all, which stands for numbers taken by 2^-SCALE; so do greater ones
    SURE_LEFT = SURE_LEVELS + 1, // words that are left of a sum: its levels' sums, and what is packed beside them
    DROPPED = 8                  // beside IS_NAN, PLUS and MINUS
};

struct sure_levels {
    double all[SURE_LEVELS];
    int field, met; // the greatest field that fits; what was met
    __device__ __forceinline__ bool great() const { return field > GREAT; }
};

__device__ __forceinline__ int exponent_of(int field, int log, int level) {
    const int e = field - (field > GREAT ? SCALE : 0) + log + 2 - level * (52 - log);
    return e > 1 ? e : 1;
}
__device__ __forceinline__ double start_of(int field, int log, int level) { return power_of(exponent_of(field, log, level), true); }

__device__ __forceinline__ double sum_of_level(const sure_levels &l, int log, int i) { // signs are in turn
    const double start = start_of(l.field, log, i);
    return i % 2 ? start - l.all[i] : l.all[i] - start;
}

__device__ __forceinline__ void open(sure_levels &l, int field, int log) {
    l.field = field;
#pragma unroll
    for (int i = 0; i < SURE_LEVELS; i++)
        l.all[i] = start_of(field, log, i);
}

template <int FIRST, int END, int N> __device__ __forceinline__ unsigned go_through(sure_levels &l, double (&x)[N]) {
    unsigned rest = 0;
#pragma unroll
    for (int i = FIRST; i < END; i++)
#pragma unroll
        for (int j = 0; j < N; j++) { // each level has the other sign, for then nothing is left of -0 but +0
            const double after = l.all[i] + x[j];
            x[j] = (after - l.all[i]) - x[j];
            l.all[i] = after;
        }
#pragma unroll
    for (int j = 0; j < N; j++)
        rest |= (unsigned)__double2hiint(x[j]) | (unsigned)__double2loint(x[j]);
    return rest;
}

// Levels for numbers up to a greater field, or for more of them, with what they held.
__device__ __forceinline__ void rise(sure_levels &l, int field, int log, int to_log) {
    double s[SURE_LEVELS];
    const bool scaled = field > GREAT && !l.great();
#pragma unroll
    for (int i = 0; i < SURE_LEVELS; i++)
        s[i] = sum_of_level(l, log, i) * (scaled ? power_of(1023 - SCALE, false) : 1);
    open(l, field, to_log);
    if (go_through<0, SURE_LEVELS>(l, s) || scaled)
        l.met |= DROPPED;
}

// N numbers of a thread, of fields below `greatest`; all of its warp are here. of_great: they are 2^-SCALE of what they stand for.
template <int N> __device__ __forceinline__ void take_in(sure_levels &l, double (&x)[N], int log, int greatest = GREATEST, bool of_great = false) {
    float most = 0;
#pragma unroll
    for (int j = 0; j < N; j++) // upper halves as f32 order magnitudes; those of 2^1017 and more, and what is not finite, are infinities and NaNs there
        asm("max.NaN.f32 %0, %0, %1;" : "+f"(most) : "f"(fabsf(__int_as_float(__double2hiint(x[j])))));
    const int field = __float_as_int(most) >> 20;
    if (of_great && !l.great())
        rise(l, greatest, log, log);
    if (field > (l.great() ? 0x7f7 : l.field)) {
        if (field >= 0x7f8)
#pragma unroll
            for (int j = 0; j < N; j++)
                if (!(fabs(x[j]) < 0x1p1023 * 2)) {
                    l.met |= x[j] != x[j] ? IS_NAN : x[j] > 0 ? PLUS : MINUS;
                    x[j] = 0;
                }
        if (!l.great())
            rise(l, field > GREAT ? greatest : field + SURE_SPARE > GREAT ? GREAT : field + SURE_SPARE, log, log);
    }
    if (WIDE && __any_sync(ALL, l.great())) {
        const double scale = power_of(l.great() && !of_great ? 1023 - SCALE : 1023, false);
#pragma unroll
        for (int j = 0; j < N; j++)
            x[j] *= scale;
    }
    unsigned rest = go_through<0, USUAL>(l, x);
    if (__any_sync(ALL, rest != 0) && go_through<USUAL, SURE_LEVELS>(l, x))
        l.met |= DROPPED;
}

// The exponent field, without SCALE, of what 2^(log - 1) numbers can have dropped.
__device__ __forceinline__ int doubt_of(int field, int log) {
    const int e = exponent_of(field, log, SURE_LEVELS - 1) - 54 + log + (field > GREAT ? SCALE : 0);
    return e > 1 ? e : 1;
}

// The sum of levels' sums, as what exact_result wants, of which 2^(doubt - 1023) may be missing (doubt 0: nothing); false: it is not known.
__device__ bool settle(const double (&s)[SURE_LEVELS], int doubt, bool great, int met, i64 count, double &value) {
    const double divisor = OPERATION == OP_MEAN ? (double)count : 1, back = power_of(great ? 1023 + SCALE : 1023, false);
    double rest, low = 0, part;
    bool sure = true;
    const double high = two_sum(s[0], s[1], rest), middle = SURE_LEVELS > 2 ? two_sum(rest, s[SURE_LEVELS - 1], low) : rest;
    if (met & (IS_NAN | PLUS | MINUS)) {
        const double infinity = __longlong_as_double(0x7ff0000000000000ll);
        part = met & IS_NAN || (met & PLUS && met & MINUS) ? __longlong_as_double(0x7ff8000000000000ll) : met & MINUS ? -infinity : infinity;
    } else if (doubt == 0) { // what lies below the second double makes it odd, far below the last bit of the first (Boldo and Melquiond 2008)
        const double both[2] = {high, low == 0 ? middle : odd_beside(middle, (low > 0) == (middle > 0))};
        part = rounded_sum(both);
    } else {
        const int at = doubt - (great ? SCALE : 0);
        const double missing = power_of(at > 1 ? at : 1, false);
        const double least = __dadd_rd(middle, __dadd_rd(low, -missing)), most = __dadd_ru(middle, __dadd_ru(low, missing));
        part = TO_ODD ? __dadd_rd(high, least) : high + least;
        sure = stored_bits(part, divisor, back) == stored_bits(TO_ODD ? __dadd_ru(high, most) : high + most, divisor, back);
        part = WIDE ? part * back : part;
    }
    value = part / divisor;
    return sure;
}
#endif
