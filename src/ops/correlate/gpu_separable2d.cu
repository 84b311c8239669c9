// SPDX-License-Identifier: Apache-2.0
// gpu_separable2d.cu - production: a list of two 1-D masks, along rows and along columns, in one pass over memory.
//
// Two launches move every element four times, and the array between them needs a place. Here a block marches down a strip as in strip2d; a row that arrives
// passes through both masks while it is in the block, and what lies between the passes never leaves it.
//
// ROWS_FIRST=1: the row's chain is made from the thread's window in shared memory, and then adds to the KY - 1 outputs under way. ROWS_FIRST=0: its elements
// add to the columns under way; finished rows are laid down in shared memory, where the next turn reads windows for the row's chain. THREADS * V columns go in, those
// of them whose window is whole come out. Ghost cells of the second pass stand between the passes: the constant itself, or what the first pass makes of
// the elements that the boundary names, which is the same in either order.
//
// APART=1 (columns first, whole rows): what a thread copies it alone reads, and finished rows pass to the warp before only. So a warp meets its two neighbours, every
// other turn, and not the block; the rows of a turn go along rows two turns later.
//
// -DKY; -DTURN rows a turn share a weight; -DSTAGES turns of rows in shared memory.
// Columns beside those that come out are computed by whole threads: so many that rows are copied from whole sectors on (bytes: whole vectors).
#define BESIDE (WHOLE && SIZE >= 4 && V * SIZE < 32 ? 32 / SIZE : V * SIZE < 16 ? 16 / SIZE : V)
#if !ROWS_FIRST
#define RING_LEFT 0
#define RING_RIGHT 0
#define RING_AWAY up_to(LEFT, BESIDE)
#endif
#if APART
#include "ops/correlate/gpu_own_rows.cuh"
#else
#include "ops/correlate/gpu_ring.cuh"
#endif

const int WORDS = 16 / (int)sizeof(work), MID_LEFT = up_to(LEFT, BESIDE), MID_RIGHT = up_to(RIGHT, BESIDE),
          FINISHED = ROWS_FIRST ? TILE : TILE - MID_LEFT - MID_RIGHT;

// Rows of columns: what TURN new rows make of the sums under way, and the rows that they finish. A sum's old value is taken up before its new one is made,
// so that both can have one register.
__device__ __forceinline__ void add_rows(work (&done)[TURN][V], work (&sum)[KY][V], const work (&value)[TURN][V], const tap_list<KY> &taps) {
    work made[TURN][V], begun[V];
#pragma unroll
    for (int i = 0; i < V; i++)
        begun[i] = multiply_add(value[0][i], taps.w[0], (work)0);
#pragma unroll
    for (int ky = 0; ky < KY; ky++) {
        work now[TURN][V];
#pragma unroll
        for (int i = 0; i < V; i++) {
            now[0][i] = begun[i];
            if (ky + 1 < KY)
                begun[i] = multiply_add(value[0][i], taps.w[ky + 1 < KY ? ky + 1 : ky], sum[ky][i]);
        }
#pragma unroll
        for (int t = 1; t < TURN; t++)
#pragma unroll
            for (int i = 0; i < V; i++)
                now[t][i] = multiply_add(value[t][i], taps.w[ky], ky ? made[t - 1][i] : (work)0);
#pragma unroll
        for (int i = 0; i < V; i++) {
            sum[ky][i] = now[TURN - 1][i];
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

#if !ROWS_FIRST
// Constants where the thread's columns, from `column` on, stand outside.
__device__ __forceinline__ void put_ghosts(work (&done)[TURN][V], int column, i64 n, work ghost) {
#pragma unroll
    for (int i = 0; i < V; i++)
#pragma unroll
        for (int t = 0; t < TURN; t++)
            done[t][i] = outside(column + i, n) ? ghost : done[t][i];
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    separable2d(const element *in, result *out, const frame f, const int height, const tap_list<KX> along_x, const tap_list<KY> along_y) {
    extern __shared__ uint4 memory[];
    const int x = block_place().x * FINISHED, y = block_place().y * height, top = y - f.before_y, first = ROWS_FIRST ? x : x - MID_LEFT;
    const int outputs = min(height, (int)f.m_y - y), turns = (outputs + KY - 1 + TURN - 1) / TURN, column = x + threadIdx.x * V;
    const work ghost = load_as<work, IN>(ghost_of(f));
    find_array(f, block_place().z, in, out);
    const i64 step = f.out_y * (i64)sizeof(result);
    const int end = threadIdx.x < FINISHED / V ? (int)f.m_x : 0; // of the columns that come out here
#if WHOLE
    char *to = (char *)(out + (i64)(y - (KY - 1)) * f.out_y + column);
#else
    char *to = (char *)(out + (i64)(y - (KY - 1)) * f.out_y + x);
    const spread<TURN, FINISHED> spread((char *)memory + STAGES * TURN * ROW * SIZE + (ROWS_FIRST ? 0 : 2 * TURN * TILE * sizeof(work)));
#endif
#if !APART
    row_stream<TURN> stream((element *)memory, in, f, top, first, turns);
#endif
    work sum[KY][V];
#pragma unroll
    for (int k = 0; k < KY; k++)
#pragma unroll
        for (int i = 0; i < V; i++)
            sum[k][i] = 0;
#if ROWS_FIRST
#pragma unroll 1
    for (int turn = 0; turn < turns; turn++) {
        const element *rows = stream.turn(in, f, first);
        work window[TURN][LEFT + V + RIGHT], value[TURN][V], done[TURN][V];
        const int at_y = top + turn * TURN;
#pragma unroll
        for (int t = 0; t < TURN; t++)
            read_window(window[t], rows + t * ROW, threadIdx.x);
        add_windows(value, window, along_x);
        if (f.edge.least < 0 && (at_y < 0 || at_y + TURN > (int)f.n_y)) {
#pragma unroll
            for (int t = 0; t < TURN; t++)
#pragma unroll
                for (int i = 0; i < V; i++)
                    value[t][i] = outside(at_y + t, f.n_y) ? ghost : value[t][i];
        }
        add_rows(done, sum, value, along_y);
#if WHOLE
        write_rows(to, step, turn * TURN - (KY - 1), outputs, column, end, done);
#else
        spread.store(to, step, KY - 1 - turn * TURN, outputs + KY - 1 - turn * TURN, x, (int)f.m_x, done);
#endif
        to += TURN * step;
    }
#elif APART
    const int LATER = 2, MIDS = 2 * LATER, MID = TURN * TILE * (int)sizeof(work); // turns; places of a turn's rows; bytes of one
    own_rows<TURN, STAGES> own((element *)memory, in, f, top, column - MID_LEFT, column, end);
    const unsigned mid = __shfl_sync(
        0xffffffff, (unsigned)__cvta_generic_to_shared((work *)((element *)memory + STAGES * TURN * TILE) + threadIdx.x * V), threadIdx.x % 32);
#pragma unroll 1
    for (int i = 0; i < STAGES - 1; i++)
        own.ask(i < turns, in, f);
#pragma unroll 1
    for (int turn = 0; turn < turns + LATER; turn++) {
        if (turn % LATER == 0)
            meet_neighbours(own.flags);
        await_copies<STAGES - 2>();
        own.ask(turn + STAGES - 1 < turns, in, f);
        if (turn >= LATER) {
            if (own.flags & OWN_WORKS) {
                work window[TURN][LEFT + V + RIGHT], done[TURN][V];
                read_between<MID_LEFT - LEFT, TILE>(window, (const work *)__cvta_shared_to_generic(mid + (turn + LATER) % MIDS * MID));
                add_windows(done, window, along_x);
                const int row = (turn - LATER) * TURN - (KY - 1);
                if (row >= 0 && row + TURN <= outputs && (own.flags & OWN_ALL)) {
#pragma unroll
                    for (int t = 0; t < TURN; t++)
                        write<V, true>((result *)(to + t * step), 0, V, done[t]);
                } else {
#pragma unroll
                    for (int t = 0; t < TURN; t++)
                        if (row + t >= 0 && row + t < outputs)
                            write<V>((result *)(to + t * step), column, end, done[t]);
                }
            }
            to += TURN * step;
        }
        if (turn < turns) {
            work value[TURN][V], done[TURN][V];
            own.take(value);
            add_rows(done, sum, value, along_y);
            if (own.flags & OWN_GHOST)
                put_ghosts(done, column - MID_LEFT, f.n_x, ghost);
#pragma unroll
            for (int t = 0; t < TURN; t++)
#pragma unroll
                for (int i = 0; i < V; i += WORDS)
                    lay_vector(mid + turn % MIDS * MID + (t * TILE + i) * (int)sizeof(work), &done[t][i]);
        }
    }
#else
    work *mid = (work *)((element *)memory + STAGES * TURN * ROW);
#pragma unroll 1
    for (int turn = 0; turn <= turns; turn++) {
        const element *rows = stream.turn(in, f, first);
        if (turn > 0) {
            const work *from = mid + (turn & 1 ? 0 : TURN * TILE) + threadIdx.x * V;
            work done[TURN][V];
            if (column < end) {
                work window[TURN][LEFT + V + RIGHT];
                read_between<MID_LEFT - LEFT, TILE>(window, from);
                add_windows(done, window, along_x);
#if WHOLE
                write_rows(to, step, (turn - 1) * TURN - (KY - 1), outputs, column, end, done);
#endif
            }
#if !WHOLE
            spread.store(to, step, KY - 1 - (turn - 1) * TURN, outputs + KY - 1 - (turn - 1) * TURN, x, (int)f.m_x, done);
#endif
            to += TURN * step;
        }
        if (turn < turns) {
            work *next = mid + (turn & 1 ? TURN * TILE : 0) + threadIdx.x * V, value[TURN][V];
            alignas(16) work done[TURN][V];
#pragma unroll
            for (int t = 0; t < TURN; t++)
                read_window(value[t], rows + t * ROW, threadIdx.x);
            add_rows(done, sum, value, along_y);
            if (f.edge.least < 0 && reaches_edge(f, first))
                put_ghosts(done, column - MID_LEFT, f.n_x, ghost);
#pragma unroll
            for (int t = 0; t < TURN; t++)
#pragma unroll
                for (int i = 0; i < V; i += WORDS)
                    *(uint4 *)(next + t * TILE + i) = *(const uint4 *)&done[t][i];
        }
    }
#endif
}
