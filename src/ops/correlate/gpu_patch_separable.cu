// SPDX-License-Identifier: Apache-2.0
// gpu_patch_separable.cu - production: a list of two short 1-D masks, along rows and along columns, where memory binds.
//
// A strip that stays and marches is slower at memory than many small blocks, and has barriers. Here, as in patch, a thread has V columns of R + KY - 1 rows
// in registers. ROWS_FIRST=1: a row passes through the mask along rows, and what that gives adds to the outputs that it concerns. ROWS_FIRST=0: its elements
// add to columns under way; of a finished row the neighbour lanes hold the rest of the window. Columns beside a warp would have to be computed by all of its
// lanes, as many again as their own, so warps overlap instead.
//
// Ghost cells of the second pass stand between the passes, as in separable2d.
//
// -DROWS_FIRST; -DRAISED=1, of u8 by columns first: the weights along y come times 2^24, and elements as their 2^24th part; else as gpu_patch.cuh, with DIRECT=0
// and GROUP=1.
#define LAPPED (!ROWS_FIRST)
#include "ops/correlate/gpu_patch.cuh"
#include "ops/correlate/gpu_bytes.cuh"

// As cell, with the exponent that it puts above a byte in a register. An instruction holds one constant: where the exponent is seen to be one, the permutation's
// other operand is moved to a register each time, one instruction in twelve (short masks with 8 columns a thread gain nothing). No row has so many elements that
// the shifted bit is set.
__device__ __forceinline__ unsigned hidden_exponent(const frame &f) {
    return V == 4 ? 0x4b000000 | (threadIdx.x + (unsigned)f.n_x) >> 31 : 0x4b000000;
}
__device__ __forceinline__ work byte_cell(const unsigned *word, int i, unsigned exponent) {
#if WORK == T_F32 && (IN == T_U8 || IN == T_I8)
    const unsigned turned = IN == T_I8 ? 0x80808080 : 0;
    return __uint_as_float(__byte_perm(word[i / 4] ^ turned, exponent, 0x7540 | i % 4)) - (IN == T_I8 ? 8388736.0f : 8388608.0f);
#else
    return cell(word, i);
#endif
}

// The row's chain of a finished row, of which each lane has V columns.
__device__ __forceinline__ void pass_row(work (&done)[V], const work (&row)[V], const tap_list<KX> &taps) {
    work window[LEFT + V + RIGHT];
#pragma unroll
    for (int i = 0; i < LEFT + V + RIGHT; i++)
        window[i] = beside(row, i - LEFT);
    add_window(done, window, taps);
}

template <bool INSIDE>
__device__ __forceinline__ void compute(const element *in, result *out, const frame &f, const tap_list<KX> &along_x, const tap_list<KY> &along_y,
                                        const place &p) {
    const int top = p.y - f.before_y;
    char *to = (char *)(out + (i64)p.y * f.out_y + p.c.x);
    const bool constant = !INSIDE && f.edge.least < 0;
    const unsigned exponent = hidden_exponent(f);
    const work ghost = load_as<work, IN>(ghost_of(f));
    row_words rows[ROWS];
    work sum[R][V];
    row_source<INSIDE> source;
    ask<INSIDE>(rows, source, in, f, top, p.c, p.lane, p.first);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        take<INSIDE>(rows[r], source, r, in, f, top, p.c);
        work done[V];
        const int o = r - KY + 1 < 0 ? 0 : r - KY + 1;
#if ROWS_FIRST
        unsigned word[WORDS];
        work window[LEFT + V + RIGHT];
        gather(word, rows[r], p.lane);
#pragma unroll
        for (int i = 0; i < LEFT + V + RIGHT; i++)
            window[i] = byte_cell(word, FIRST + i, exponent);
        add_window(done, window, along_x);
#pragma unroll
        for (int i = 0; i < V; i++)
            done[i] = constant && outside(top + r, f.n_y) ? ghost : done[i];
        add_row(sum, done, r, along_y);
#pragma unroll
        for (int i = 0; i < V; i++)
            done[i] = sum[o][i];
#else
        work value[V];
#pragma unroll
        for (int i = 0; i < V; i++)
            value[i] = RAISED ? part_of_byte(rows[r].word, i) : byte_cell(rows[r].word, i, exponent);
        add_row(sum, value, r, along_y);
        if (r >= KY - 1) {
#pragma unroll
            for (int i = 0; i < V; i++)
                value[i] = constant && outside(p.c.x + i, f.n_x) ? ghost : sum[o][i];
            pass_row(done, value, along_x);
        }
#endif
        if (r >= KY - 1) {
            write_row<INSIDE>(to, p.c, f, done, (INSIDE || p.y + o < (int)f.m_y) && p.writes());
            to += f.out_y * (i64)sizeof(result);
        }
    }
}

extern "C" __global__ void __launch_bounds__(32 * WX * WY, BLOCKS)
    patch_separable(const element *in, result *out, const frame f, const tap_list<KX> along_x, const tap_list<KY> along_y) {
    const place p = place_of_warp();
    if (is_idle(p, f))
        return;
    find_array(f, block_place().z, in, out);
    if (is_inside(p, f))
        compute<true>(in, out, f, along_x, along_y, p);
    else
        compute<false>(in, out, f, along_x, along_y, p);
}
