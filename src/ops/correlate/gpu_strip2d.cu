// SPDX-License-Identifier: Apache-2.0
// gpu_strip2d.cu - production: larger masks, where arithmetic binds. A block marches down a strip of THREADS * V columns; each row is met once.
//
// patch held all rows of its window; with a large mask registers end. Here a thread keeps the KY - 1 outputs of each of its V columns that are under
// way, and every row that arrives adds its KX * V terms to each of them: the oldest is then finished and stored. TURN rows arrive a turn, and each weight is
// used for all of them as soon as it is there: a weight costs an issue slot to fetch, so it must serve 8 multiply-adds or more. The turn's loop is rolled;
// sums move to their next place by being written there.
//
// -DKY; -DT rows a turn; -DSTAGES turns of rows in shared memory.
#include "ops/correlate/gpu_ring.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    strip2d(const element *in, result *out, const frame f, const int height, const tap_list<KX * KY> taps) {
    extern __shared__ uint4 memory[];
    element *ring = (element *)memory;
    const int x = blockIdx.x * TILE, y = blockIdx.y * height, top = y - f.before_y;
    const int outputs = min(height, (int)f.m_y - y), turns = (outputs + KY - 1 + TURN - 1) / TURN, column = x + threadIdx.x * V;
    find_array(f, blockIdx.z, in, out);
    char *to = (char *)(out + (i64)(y - (KY - 1)) * f.out_y + column);
    const i64 step = f.out_y * (i64)sizeof(result);
    const bool plain = plain_tile(f, x);
    prepare_ring<STAGES * TURN>(ring, f, plain, x);
#pragma unroll
    for (int i = 0; i < STAGES - 1; i++) {
        if (i < turns)
            copy_rows<TURN, 1>(ring + i * TURN * ROW, in, true, f, plain, top + i * TURN, x, threadIdx.x, 0);
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
            copy_rows<TURN, 1>(ring + next * TURN * ROW, in, true, f, plain, top + (turn + STAGES - 1) * TURN, x, threadIdx.x, 0);
        end_copies();
        work value[TURN][LEFT + V + RIGHT];
#pragma unroll
        for (int t = 0; t < TURN; t++)
            read_window(value[t], ring + (slot * TURN + t) * ROW, threadIdx.x);
        slot = slot == STAGES - 1 ? 0 : slot + 1;
        next = next == STAGES - 1 ? 0 : next + 1;
        work done[TURN][V];
#if TURN == 1
        // From the oldest output on, so that each sum's next place is free.
#pragma unroll
        for (int ky = KY - 1; ky >= 0; ky--) {
            work next_sum[V];
#pragma unroll
            for (int kx = 0; kx < KX; kx++)
#pragma unroll
                for (int i = 0; i < V; i++)
                    next_sum[i] = multiply_add(value[0][i + kx * GROUP], taps.w[ky * KX + kx], kx ? next_sum[i] : ky ? sum[ky - 1][i] : (work)0);
#pragma unroll
            for (int i = 0; i < V; i++)
                (ky == KY - 1 ? done[0] : sum[ky])[i] = next_sum[i];
        }
#else
        // From the youngest output on: row t of the turn adds tap row ky to what row t - 1 made of tap row ky - 1.
        work made[TURN][V];
#pragma unroll
        for (int ky = 0; ky < KY; ky++) {
            work now[TURN][V];
#pragma unroll
            for (int kx = 0; kx < KX; kx++)
#pragma unroll
                for (int t = 0; t < TURN; t++)
#pragma unroll
                    for (int i = 0; i < V; i++)
                        now[t][i] = multiply_add(value[t][i + kx * GROUP], taps.w[ky * KX + kx],
                                                 kx        ? now[t][i]
                                                 : ky == 0 ? (work)0
                                                 : t       ? made[t - 1][i]
                                                           : sum[ky - 1][i]);
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
#endif
#pragma unroll
        for (int t = 0; t < TURN; t++) {
            const int o = turn * TURN + t - (KY - 1);
            if (o >= 0 && o < outputs)
                write<V>((result *)to, column, (int)f.m_x, done[t]);
            to += step;
        }
    }
}
