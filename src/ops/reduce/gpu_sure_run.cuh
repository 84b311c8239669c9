// SPDX-License-Identifier: Apache-2.0
// gpu_sure_run.cuh - the exact sum of elements that follow one another, by a warp, by levels alone (gpu_exact_sure.cuh): what it leaves of a piece, and what pieces come to.
//
// A lane's levels are for its own numbers and rise at the end to the field of all 32, for as many numbers as a piece has; then they add up by shuffles, and all lanes have all of it. What is in doubt is
// added up again with digits (gpu_exact_strip.cuh): a piece that is all of an output by its warp, what pieces come to by a block.
#ifndef TESS_REDUCE_SURE_RUN_CUH
#define TESS_REDUCE_SURE_RUN_CUH
#include "ops/reduce/gpu_exact_strip.cuh"
#include "ops/reduce/gpu_exact_sure.cuh"

enum {
    RUN_EACH = sizeof(element) < 8 ? 8 : 4, // elements of a lane at a time; 8 f64 are slower (H200)
    RUN_STRIP = 32 * RUN_EACH,
    RUN_LOG = 30, // a piece's sums are below so many of its numbers
    SURE_PLACES = PARTS * SURE_LEFT
};

struct run_logs {
    i64 lane, piece, merge; // what a lane's levels take in, those of a piece, and those that take in pieces
};

// What is known of some elements, the same in all lanes.
struct sure_run {
    double sums[PARTS][SURE_LEVELS];
    int field[PARTS], met[PARTS];
    i64 count;
};

// All lanes' levels as one.
__device__ __forceinline__ void join(sure_levels &l, double (&s)[SURE_LEVELS], int own_log, int log) {
    const int top = __reduce_max_sync(ALL, l.field);
    if (top > l.field || log > own_log)
        rise(l, top, own_log, log);
#pragma unroll
    for (int i = 0; i < SURE_LEVELS; i++)
        s[i] = sum_of_group<32>(sum_of_level(l, log, i));
    l.met = (int)__reduce_or_sync(ALL, (unsigned)l.met);
}

__device__ __forceinline__ void take_run(const element *from, int k, const run_logs &logs, sure_run &whole) {
    const int lane = threadIdx.x % 32, log = (int)logs.lane;
    const element *mine = from + lane;
    sure_levels l[PARTS];
    element ahead[RUN_EACH];
    int count = 0;
    const auto load = [&](int at) {
#pragma unroll
        for (int j = 0; j < RUN_EACH; j++) {
            ahead[j] = element{};
            if (at + RUN_STRIP <= k || at + j * 32 + lane < k)
                ahead[j] = mine[at + j * 32];
            else if (OMIT)
                count--;
        }
    };
#pragma unroll
    for (int which = 0; which < PARTS; which++) {
        open(l[which], 1, log);
        l[which].met = 0;
    }
    load(0);
    for (int at = 0; at < k; at += RUN_STRIP) {
        element here[RUN_EACH];
#pragma unroll
        for (int j = 0; j < RUN_EACH; j++)
            here[j] = ahead[j];
        if (at + RUN_STRIP < k)
            load(at + RUN_STRIP);
#pragma unroll
        for (int which = 0; which < PARTS; which++) {
            double x[RUN_EACH];
#pragma unroll
            for (int j = 0; j < RUN_EACH; j++) {
                bool counts;
                x[j] = value_of_part(here[j], which, &counts);
                if (OMIT && which == 0)
                    count += counts;
            }
            take_in(l[which], x, log);
        }
    }
#pragma unroll
    for (int which = 0; which < PARTS; which++) {
        join(l[which], whole.sums[which], log, (int)logs.piece);
        whole.field[which] = l[which].field;
        whole.met[which] = l[which].met;
    }
    whole.count = OMIT ? sum_of_group<32>(count) : k;
}

// What may be missing of it is below 2^(doubt - 1023); false: the output is not known.
__device__ __forceinline__ bool settle_run(const sure_run &whole, const int (&doubt)[PARTS], result &value) {
    double part[PARTS];
    bool sure = true;
#pragma unroll
    for (int which = 0; which < PARTS; which++)
        sure = settle(whole.sums[which], doubt[which], whole.field[which] > GREAT, whole.met[which], whole.count, part[which]) && sure;
    value = exact_result(part[0], part[PARTS - 1]);
    return sure;
}

__device__ __forceinline__ bool settle_run(const sure_run &whole, const run_logs &logs, result &value) {
    int doubt[PARTS];
#pragma unroll
    for (int which = 0; which < PARTS; which++)
        doubt[which] = whole.met[which] & DROPPED ? doubt_of(whole.field[which], (int)logs.piece) : 0;
    return settle_run(whole, doubt, value);
}

__device__ __forceinline__ void put_run(i64 *to, const sure_run &whole) {
    if (threadIdx.x % 32)
        return;
#pragma unroll
    for (int which = 0; which < PARTS; which++) {
#pragma unroll
        for (int i = 0; i < SURE_LEVELS; i++)
            to[which * SURE_LEFT + i] = __double_as_longlong(whole.sums[which][i]);
        to[which * SURE_LEFT + SURE_LEVELS] = whole.count << 16 | whole.field[which] << 4 | whole.met[which];
    }
}

// What is left of a piece, of one of its parts.
struct sure_piece {
    double x[SURE_LEVELS];
    i64 count;
    int field, met, doubt; // doubt: an exponent's field, as doubt_of has it; 0: nothing is missing
};

__device__ __forceinline__ sure_piece left_of(const i64 *partial, i64 number, int which, const run_logs &logs) {
    const i64 *its = partial + number * SURE_PLACES + which * SURE_LEFT, beside = its[SURE_LEVELS];
    sure_piece p = {};
#pragma unroll
    for (int i = 0; i < SURE_LEVELS; i++)
        p.x[i] = __longlong_as_double(its[i]);
    p.count = beside >> 16;
    p.field = (int)(beside >> 4 & 0xfff);
    p.met = (int)beside & (IS_NAN | PLUS | MINUS);
    p.doubt = beside & DROPPED ? doubt_of(p.field, (int)logs.piece) : 0;
    return p;
}

// What pieces number first, first + step, ... come to, 32 of them at a time, the first for lane 0: by a warp. piece_at(number, which) is one of fewer than 2^log. doubt: what may be missing of each part.
template <typename PIECE>
__device__ __forceinline__ void take_pieces(const PIECE &piece_at, i64 first, i64 step, i64 pieces, int merge_log, int log, sure_run &whole,
                                            int (&doubt)[PARTS]) {
    const int lane = threadIdx.x % 32;
    whole.count = 0;
#pragma unroll
    for (int which = 0; which < PARTS; which++) {
        sure_levels l;
        int dropped = 0;
        open(l, 1, merge_log);
        l.met = 0;
        for (i64 turn = first; turn < pieces; turn += step) {
            sure_piece its = {};
            if (turn + lane < pieces)
                its = piece_at(turn + lane, which);
            whole.count += which == 0 ? its.count : 0;
            l.met |= its.met;
            dropped = max(dropped, its.doubt);
#pragma unroll
            for (int i = 0; i < SURE_LEVELS; i++)
                its.x[i] = its.met ? 0 : its.x[i];
            take_in(l, its.x, merge_log, GREATEST + RUN_LOG, !its.met && its.field > GREAT);
        }
        join(l, whole.sums[which], merge_log, merge_log);
        dropped = __reduce_max_sync(ALL, dropped);
        const int of_pieces = dropped ? dropped + log : 0, own = l.met & DROPPED ? doubt_of(l.field, merge_log) : 0, most = max(of_pieces, own);
        doubt[which] = most ? most + 1 : 0;
        whole.field[which] = l.field;
        whole.met[which] = l.met;
    }
    whole.count = sum_of_group<32>(whole.count);
}

// An output from its pieces, by a warp; false: it is not known.
__device__ __forceinline__ bool settle_pieces(const i64 *partial, i64 pieces, const run_logs &logs, result &value) {
    sure_run whole;
    int doubt[PARTS];
    take_pieces([&](i64 number, int which) { return left_of(partial, number, which, logs); }, 0, 32, pieces, (int)logs.merge, (int)logs.merge, whole,
                doubt);
    return settle_run(whole, doubt, value);
}

// The same by a block, for the first warp: each warp's share is a piece again.
template <int BLOCK_WARPS>
__device__ __forceinline__ bool settle_by_block(sure_piece (*of_warps)[PARTS], const i64 *partial, i64 pieces, const run_logs &logs, result &value) {
    enum { LOG_WARPS = BLOCK_WARPS > 8 ? 5 : 3 };
    const int warp = threadIdx.x / 32;
    sure_run whole;
    int doubt[PARTS];
    take_pieces([&](i64 number, int which) { return left_of(partial, number, which, logs); }, 32 * warp, 32 * BLOCK_WARPS, pieces, (int)logs.merge,
                (int)logs.merge, whole, doubt);
    if (threadIdx.x % 32 == 0)
#pragma unroll
        for (int which = 0; which < PARTS; which++) {
            sure_piece &its = of_warps[warp][which];
#pragma unroll
            for (int i = 0; i < SURE_LEVELS; i++)
                its.x[i] = whole.sums[which][i];
            its.count = whole.count;
            its.field = whole.field[which];
            its.met = whole.met[which] & (IS_NAN | PLUS | MINUS);
            its.doubt = doubt[which];
        }
    __syncthreads();
    if (warp > 0)
        return true;
    take_pieces([&](i64 number, int which) { return of_warps[number][which]; }, 0, 32, BLOCK_WARPS, (int)logs.merge, LOG_WARPS, whole, doubt);
    return settle_run(whole, doubt, value);
}

__device__ __noinline__ void put_doubtful(sums &mine, const element *from, i64 k, result *to) {
    i64 counted = 0;
    __syncwarp();
    clear(mine);
    take<true>(neighbours{{0, 0}, {1, 0}}, from, 0, STRIP, k, mine, counted);
    counted = sum_of_group<32>(counted);
    put_rounded(to, mine.limbs, mine.flags, counted);
    __syncwarp();
}

// A warp's piece: all of the output `to`, or one of several, which are left at `partial`.
__device__ __forceinline__ void put_run_of(sums &mine, const element *from, int k, bool all, const run_logs &logs, result *to, i64 *partial) {
    sure_run whole;
    result value;
    take_run(from, k, logs, whole);
    if (!all)
        put_run(partial, whole);
    else if (!settle_run(whole, logs, value))
        put_doubtful(mine, from, k, to);
    else if (threadIdx.x % 32 == 0)
        *to = value;
}

// An output of several pieces: its elements, where it goes to, its pieces.
struct top {
    const element *from;
    i64 k;
    result *to;
    const i64 *partial;
    i64 pieces; // 0: it is not for the warp
};

// Those of a block, top_of(warp) says which: a warp each, or the block one after another where a warp would be long at it.
template <int BLOCK_WARPS, typename TOP> __device__ __forceinline__ void put_tops(const TOP &top_of, const run_logs &logs) {
    enum { MOST_OF_WARP = 64 };
    __shared__ sums all[BLOCK_WARPS];
    __shared__ u64 counted;
    __shared__ bool doubtful[BLOCK_WARPS];
    const int warp = threadIdx.x / 32;
    bool sure = true;
    const top mine = top_of(warp);
    if (mine.pieces && mine.pieces <= MOST_OF_WARP) {
        result value;
        sure = settle_pieces(mine.partial, mine.pieces, logs, value);
        if (sure && threadIdx.x % 32 == 0)
            *mine.to = value;
    }
    if (__syncthreads_or(mine.pieces > MOST_OF_WARP)) {
        __shared__ sure_piece of_warps[BLOCK_WARPS][PARTS];
#pragma unroll 1
        for (int number = 0; number < BLOCK_WARPS; number++) {
            const top its = top_of(number);
            if (its.pieces <= MOST_OF_WARP)
                continue;
            result value;
            const bool known = __syncthreads_and(settle_by_block<BLOCK_WARPS>(of_warps, its.partial, its.pieces, logs, value));
            if (known && threadIdx.x == 0)
                *its.to = value;
            sure = number == warp ? known : sure;
        }
    }
    if (threadIdx.x % 32 == 0)
        doubtful[warp] = !sure;
    if (__syncthreads_and(sure))
        return;
#pragma unroll 1
    for (int number = 0; number < BLOCK_WARPS; number++) {
        if (!doubtful[number])
            continue;
        const top its = top_of(number);
        __syncthreads(); // what the one before has in shared memory is read
        take_by_block<true, BLOCK_WARPS>(neighbours{{0, 0}, {1, 0}}, its.from, 0, 1, its.k, all, counted);
        if (warp == 0)
            put_rounded(its.to, all[0].limbs, all[0].flags, (i64)counted);
    }
}
#endif
