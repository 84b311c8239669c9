// SPDX-License-Identifier: Apache-2.0
// gpu_strip2d.cu - production: larger masks, where arithmetic binds. A block marches down a strip of THREADS * V columns; each row is met once.
//
// patch held all rows of its window; with a large mask registers end. Here a thread keeps the KY - 1 outputs of each of its V columns that are under way,
// and every row that arrives adds its KX * V terms to each of them: the oldest is then finished and stored. The loop over rows is rolled; sums move to their
// next place by being written there. V = 8: a weight costs an issue slot to fetch, so it must serve 8 multiply-adds.
//
// -DKY; -DSTAGES rows in shared memory.
#include "ops/correlate/gpu_ring.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    strip2d(const element *in, result *out, const frame f, const int height, const tap_list<KX * KY> taps) {
    extern __shared__ uint4 memory[];
    const int x = block_place().x * TILE, y = block_place().y * height, top = y - f.before_y;
    const int outputs = min(height, (int)f.m_y - y), rows = outputs + KY - 1, column = x + threadIdx.x * V;
    find_array(f, block_place().z, in, out);
#if WHOLE
    char *to = (char *)(out + (i64)y * f.out_y + column);
#else
    char *to = (char *)(out + (i64)y * f.out_y + x);
    const spread<1, TILE> spread((element *)memory + STAGES * ROW);
#endif
    const i64 step = f.out_y * (i64)sizeof(result);
    row_stream<1> stream((element *)memory, in, f, top, x, rows);
    work sum[KY][V];
#pragma unroll
    for (int k = 0; k < KY; k++)
#pragma unroll
        for (int i = 0; i < V; i++)
            sum[k][i] = 0;
#pragma unroll 1
    for (int row = 0; row < rows; row++) {
        work value[LEFT + V + RIGHT];
        read_window(value, stream.turn(in, f, x), threadIdx.x);
        // From the oldest output on, so that each sum's next place is free.
#pragma unroll
        for (int ky = KY - 1; ky >= 0; ky--) {
#pragma unroll
            for (int kx = 0; kx < KX; kx++)
#pragma unroll
                for (int i = 0; i < V; i++)
                    sum[ky][i] = multiply_add(value[i + kx * GROUP], taps.w[ky * KX + kx], kx ? sum[ky][i] : ky ? sum[ky - 1][i] : (work)0);
            // Of single columns the compiler would else put the sums elsewhere and move all of them back at the turn's end: as many moves as multiply-adds.
            if (KX == 1 && ky < KY - 1) {
#pragma unroll
                for (int i = 0; i < V; i++)
                    keep(sum[ky][i]);
            }
        }
        if (row >= KY - 1) {
#if WHOLE
            write<V>((result *)to, column, (int)f.m_x, sum[KY - 1]);
#else
            spread.store(to, step, 0, 1, x, (int)f.m_x, *(const work(*)[1][V]) & sum[KY - 1]);
#endif
            to += step;
        }
    }
}
