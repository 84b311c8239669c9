// SPDX-License-Identifier: Apache-2.0
// gpu_separable2d.cu - production: a list of two 1-D masks, along rows and along columns, in one pass over memory.
//
// Two launches move every element four times, and the array between them needs a place. Here a block marches down a strip as in strip2d; a row that arrives
// passes through both masks while it is in the block, and what lies between the passes never leaves it.
//
// ROWS_FIRST=1: the row's chain is made from the thread's window in shared memory, and then adds to the KY - 1 outputs under way. ROWS_FIRST=0: its elements
// add to the columns under way; finished rows are laid down in shared memory, where windows are read for the row's chain. THREADS * V columns go in, those
// of them whose window is whole come out. Ghost cells of the second pass stand between the passes: the constant itself, or what the first pass makes of
// the elements that the boundary names, which is the same in either order.
//
// -DKY; -DTURN rows a turn share a weight; -DSTAGES turns of rows in shared memory.
#if !ROWS_FIRST
#define RING_LEFT 0
#define RING_RIGHT 0
#endif
#include "ops/correlate/gpu_ring.cuh"

const int WORDS = 16 / (int)sizeof(work), UNIT = V > VECTOR ? V : VECTOR, MID_LEFT = up_to(LEFT, UNIT), MID_RIGHT = up_to(RIGHT, UNIT),
          FINISHED = ROWS_FIRST ? TILE : TILE - MID_LEFT - MID_RIGHT;

__device__ __forceinline__ bool outside(int i, i64 n) { return i < 0 || i >= (int)n; }

// Rows of columns: what TURN new rows make of the sums under way, and the rows that they finish.
__device__ __forceinline__ void add_rows(work (&done)[TURN][V], work (&sum)[KY][V], const work (&value)[TURN][V], const tap_list<KY> &taps) {
    work made[TURN][V];
#pragma unroll
    for (int ky = 0; ky < KY; ky++) {
        work now[TURN][V];
#pragma unroll
        for (int t = 0; t < TURN; t++)
#pragma unroll
            for (int i = 0; i < V; i++)
                now[t][i] = multiply_add(value[t][i], taps.w[ky], ky == 0 ? (work)0 : t ? made[t - 1][i] : sum[ky - 1][i]);
#pragma unroll
        for (int i = 0; i < V; i++) {
            if (ky)
                sum[ky - 1][i] = made[TURN - 1][i];
#pragma unroll
            for (int t = 0; t < TURN; t++)
                made[t][i] = now[t][i];
        }
    }
#pragma unroll
    for (int t = 0; t < TURN; t++)
#pragma unroll
        for (int i = 0; i < V; i++)
            done[t][i] = made[t][i];
}

// The rows' chains of TURN windows.
__device__ __forceinline__ void add_columns(work (&row)[TURN][V], const work (&window)[TURN][LEFT + V + RIGHT], const tap_list<KX> &taps) {
#pragma unroll
    for (int kx = 0; kx < KX; kx++)
#pragma unroll
        for (int t = 0; t < TURN; t++)
#pragma unroll
            for (int i = 0; i < V; i++)
                row[t][i] = multiply_add(window[t][i + kx * GROUP], taps.w[kx], kx ? row[t][i] : (work)0);
}

__device__ __forceinline__ void feed_rows(row_feed &d, element *ring, int slot, const element *in, const frame &f, int x) {
#pragma unroll
    for (int t = 0; t < TURN; t++)
        feed_row(d, ring, slot * TURN + t, in, f, x);
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    separable2d(const element *in, result *out, const frame f, const int height, const tap_list<KX> along_x, const tap_list<KY> along_y) {
    extern __shared__ uint4 memory[];
    element *ring = (element *)memory;
    const int x = blockIdx.x * FINISHED, y = blockIdx.y * height, top = y - f.before_y, first = ROWS_FIRST ? x : x - MID_LEFT;
    const int outputs = min(height, (int)f.m_y - y), turns = (outputs + KY - 1 + TURN - 1) / TURN, column = x + threadIdx.x * V;
    const work ghost = load_as<work, IN>(ghost_of(f));
    find_array(f, blockIdx.z, in, out);
    char *to = (char *)(out + (i64)(y - (KY - 1)) * f.out_y + column);
    const i64 step = f.out_y * (i64)sizeof(result);
    row_feed feed = start_feed(ring, in, f, top, first);
    prepare_ring<STAGES * TURN>(ring, f, reaches_edge(f, first));
#pragma unroll
    for (int i = 0; i < STAGES - 1; i++) {
        if (i < turns)
            feed_rows(feed, ring, i, in, f, first);
        end_copies();
    }
    work sum[KY][V];
#pragma unroll
    for (int k = 0; k < KY; k++)
#pragma unroll
        for (int i = 0; i < V; i++)
            sum[k][i] = 0;
    int slot = 0, next = STAGES - 1;
#pragma unroll 1
    for (int turn = 0; turn < turns; turn++) {
        await_copies<STAGES - 2>();
        __syncthreads();
        if (turn + STAGES - 1 < turns)
            feed_rows(feed, ring, next, in, f, first);
        end_copies();
        work window[TURN][LEFT + V + RIGHT], value[TURN][V];
        alignas(16) work done[TURN][V];
#if ROWS_FIRST
#pragma unroll
        for (int t = 0; t < TURN; t++)
            read_window(window[t], ring + (slot * TURN + t) * ROW, threadIdx.x);
        add_columns(value, window, along_x);
        if (f.edge.least < 0) {
#pragma unroll
            for (int t = 0; t < TURN; t++)
#pragma unroll
                for (int i = 0; i < V; i++)
                    value[t][i] = outside(top + turn * TURN + t, f.n_y) ? ghost : value[t][i];
        }
        add_rows(done, sum, value, along_y);
#else
        work *mid = (work *)(ring + STAGES * TURN * ROW);
#pragma unroll
        for (int t = 0; t < TURN; t++)
            read_window(value[t], ring + (slot * TURN + t) * ROW, threadIdx.x);
        add_rows(done, sum, value, along_y);
        if (f.edge.least < 0) {
#pragma unroll
            for (int i = 0; i < V; i++)
#pragma unroll
                for (int t = 0; t < TURN; t++)
                    done[t][i] = outside(column - MID_LEFT + i, f.n_x) ? ghost : done[t][i];
        }
#pragma unroll
        for (int t = 0; t < TURN; t++)
#pragma unroll
            for (int i = 0; i < V; i += WORDS)
                *(uint4 *)(mid + t * TILE + threadIdx.x * V + i) = *(const uint4 *)&done[t][i];
        __syncthreads();
        if (threadIdx.x < FINISHED / V) {
#pragma unroll
            for (int t = 0; t < TURN; t++) {
                alignas(16) work wide[MID_LEFT + V + MID_RIGHT];
#pragma unroll
                for (int i = 0; i < MID_LEFT + V + MID_RIGHT; i += WORDS)
                    *(uint4 *)&wide[i] = *(const uint4 *)(mid + t * TILE + threadIdx.x * V + i);
#pragma unroll
                for (int i = 0; i < LEFT + V + RIGHT; i++)
                    window[t][i] = wide[MID_LEFT - LEFT + i];
            }
            add_columns(done, window, along_x);
        }
#endif
        slot = slot == STAGES - 1 ? 0 : slot + 1;
        next = next == STAGES - 1 ? 0 : next + 1;
#pragma unroll
        for (int t = 0; t < TURN; t++) {
            const int o = turn * TURN + t - (KY - 1);
            if (threadIdx.x < FINISHED / V && o >= 0 && o < outputs)
                write<V>((result *)to, column, (int)f.m_x, done[t]);
            to += step;
        }
    }
}
