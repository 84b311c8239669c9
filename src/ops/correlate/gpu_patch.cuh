// SPDX-License-Identifier: Apache-2.0
// gpu_patch.cuh - rows in registers, for small masks: a thread has V columns of ROWS rows as words, its neighbour lanes the rest of its windows.
//
// How rows come to their lanes and results leave them is gpu_whole_rows.cuh's, or for rows that begin anywhere gpu_shifted_rows.cuh's.
//
// LAPPED=1, where results of a first pass are what neighbours ask for: warps overlap, and a lane whose neighbours do not hold its window writes nothing. No lane
// has anything but its own V columns, so that nobody computes a warp's edges in all of its lanes.
//
// -DKY; -DV, -DR columns and rows of outputs a thread; -DDIRECT (whole rows); -DWX, -DWY: warps of a block along x and y.
#include "ops/correlate/gpu_window.cuh"

#ifndef LAPPED
#define LAPPED 0
#endif

__host__ __device__ constexpr int power_above(int n) { return n <= 1 ? 1 : 2 * power_above((n + 1) / 2); }
__host__ __device__ constexpr int larger(int a, int b) { return a > b ? a : b; }
const int ROWS = R + KY - 1, VW = V * SIZE / 4;
#if WHOLE
#include "ops/correlate/gpu_whole_rows.cuh"
#else
#include "ops/correlate/gpu_shifted_rows.cuh"
#endif
const int OWN = (32 - LAP_LEFT - LAP_RIGHT) * V; // columns that a warp writes

// What a warp does: R rows of outputs from row y on, 32 * V columns from `first` on, OWN of which come out.
struct place {
    int lane, first, y;
    columns c;
    __device__ __forceinline__ bool writes() const { return LAP_LEFT + LAP_RIGHT == 0 || (lane >= LAP_LEFT && lane < 32 - LAP_RIGHT); }
};
__device__ __forceinline__ place place_of_warp() {
    place p;
    const int warp = threadIdx.x / 32;
    p.lane = threadIdx.x % 32;
    p.first = (int)(block_place().x * WX + warp % WX) * OWN - LAP_LEFT * V;
    p.y = (block_place().y * WY + warp / WX) * R;
    p.c = columns_of(p.lane, p.first);
    return p;
}
// Votes, so that the compiler knows that a warp goes one way.
__device__ __forceinline__ bool is_idle(const place &p, const frame &f) {
    return __all_sync(0xffffffff, columns_idle(p.first, f) || p.y >= (int)f.m_y);
}
__device__ __forceinline__ bool is_inside(const place &p, const frame &f) {
    const int top = p.y - f.before_y;
    return __all_sync(0xffffffff, columns_inside(p.first, f) && top >= 0 && top + ROWS <= (int)f.n_y && p.y + R <= (int)f.m_y);
}

// Rows one after another: each is read once, and adds to every output that it concerns, so that sums grow in the order of the mask. What a kernel keeps of
// a row's words is its RULE's window, which may keep something of the rows before; rule.add() gives V sums what row ky of the mask makes of one, the first time with ky = 0.
template <bool INSIDE, typename RULE>
__device__ __forceinline__ void compute_rows(const element *in, result *out, const frame &f, const RULE &rule, const place &p) {
    const int top = p.y - f.before_y;
    row_words rows[ROWS];
    work sum[R][V];
    row_source<INSIDE> source;
    ask<INSIDE>(rows, source, in, f, top, p.c, p.lane, p.first);
    char *to = (char *)(out + (i64)p.y * f.out_y + p.c.x);
    typename RULE::window window;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        take<INSIDE>(rows[r], source, r, in, f, top, p.c);
        unsigned word[WORDS];
        gather(word, rows[r], p.lane);
        window.take(word);
#pragma unroll
        for (int o = 0; o < R; o++) {
            const int ky = r - o;
            if (ky >= 0 && ky < KY)
                rule.add(sum[o], window, ky);
        }
        const int done = r - KY + 1;
        if (done >= 0) {
            write_row<INSIDE>(to, p.c, f, sum[done < 0 ? 0 : done], (INSIDE || p.y + done < (int)f.m_y) && p.writes());
            to += f.out_y * (i64)sizeof(result);
        }
    }
}

// The whole of a kernel.
template <typename RULE> __device__ __forceinline__ void compute_patch(const element *in, result *out, const frame &f, const RULE &rule) {
    const place p = place_of_warp();
    if (is_idle(p, f))
        return;
    find_array(f, block_place().z, in, out);
    if (is_inside(p, f))
        compute_rows<true>(in, out, f, rule, p);
    else
        compute_rows<false>(in, out, f, rule, p);
}
