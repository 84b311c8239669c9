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
    RUN_LOG = 30,                 // a piece's sums are below so many of its numbers
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

// An output from its pieces, by a warp; false: it is not known.
__device__ __forceinline__ bool settle_pieces(const i64 *partial, i64 pieces, const run_logs &logs, result &value) {
    const int lane = threadIdx.x % 32, log = (int)logs.merge;
    sure_run whole;
    int doubt[PARTS];
    whole.count = 0;
#pragma unroll
    for (int which = 0; which < PARTS; which++) {
        sure_levels l;
        int dropped = 0;
        open(l, 1, log);
        l.met = 0;
        for (i64 turn = 0; turn < pieces; turn += 32) {
            const i64 *its = partial + (turn + lane) * SURE_PLACES + which * SURE_LEFT;
            double x[SURE_LEVELS] = {};
            i64 beside = 0;
            if (turn + lane < pieces) {
#pragma unroll
                for (int i = 0; i < SURE_LEVELS; i++)
                    x[i] = __longlong_as_double(its[i]);
                beside = its[SURE_LEVELS];
            }
            const int field = (int)(beside >> 4 & 0xfff), met = (int)beside & (IS_NAN | PLUS | MINUS);
            whole.count += which == 0 ? beside >> 16 : 0;
            l.met |= met;
            if (beside & DROPPED)
                dropped = max(dropped, doubt_of(field, (int)logs.piece));
#pragma unroll
            for (int i = 0; i < SURE_LEVELS; i++)
                x[i] = met ? 0 : x[i];
            take_in(l, x, log, GREATEST + RUN_LOG, !met && field > GREAT);
        }
        join(l, whole.sums[which], log, log);
        dropped = __reduce_max_sync(ALL, dropped);
        const int of_pieces = dropped ? dropped + log : 0, own = l.met & DROPPED ? doubt_of(l.field, log) : 0, most = max(of_pieces, own);
        doubt[which] = most ? most + 1 : 0;
        whole.field[which] = l.field;
        whole.met[which] = l.met;
    }
    whole.count = sum_of_group<32>(whole.count);
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

// Those of a block, a warp each: top_of(warp) says which.
template <int BLOCK_WARPS, typename TOP> __device__ __forceinline__ void put_tops(const TOP &top_of, const run_logs &logs) {
    __shared__ sums all[BLOCK_WARPS];
    __shared__ u64 counted;
    __shared__ bool doubtful[BLOCK_WARPS];
    const int warp = threadIdx.x / 32;
    bool sure = true;
    const top mine = top_of(warp);
    if (mine.pieces) {
        result value;
        sure = settle_pieces(mine.partial, mine.pieces, logs, value);
        if (sure && threadIdx.x % 32 == 0)
            *mine.to = value;
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
