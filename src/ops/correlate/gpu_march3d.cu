// SPDX-License-Identifier: Apache-2.0
// gpu_march3d.cu - production: volumes with larger masks, where arithmetic binds. A block marches through planes; each plane of its tile is met once.
//
// The same as strip2d, one axis higher: a thread keeps the KZ planes of its R rows of V columns that are under way; a plane that arrives in shared memory
// adds its KY x KX terms to each of them, and finishes the oldest. The R rows of a thread share each weight.
//
// -DKY, -DKZ; -DR rows a thread; -DALONG threads along x, -DDOWN along y; -DSTAGES planes in shared memory.
#ifndef THREADS // more than ALONG by DOWN, where those are no whole warps: the last ones do the last ones' work again
#define THREADS (ALONG * DOWN)
#endif
#include "ops/correlate/gpu_planes.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) march3d(const element *in, result *out, const frame f, const unsigned across,
                                                                      const int depth, const unsigned deep, const tap_list<KX * KY * KZ> taps) {
    extern __shared__ uint4 memory[];
    plane_tile tile(in, out, f, across, depth, deep, TILE);
    plane_stream stream((element *)memory, in, f, tile, tile.x);
    work sum[KZ][R][V];
    begin_sums(sum);
#pragma unroll 1
    for (int turn = 0; turn < tile.planes; turn++) {
        const element *plane = stream.turn(turn, in, f);
        work value[R + KY - 1][LEFT + V + RIGHT];
#pragma unroll
        for (int r = 0; r < R + KY - 1; r++)
            read_window(value[r], plane + (tile.down * R + r) * ROW, tile.along);
            // From the oldest plane on, so that each sum's next place is free.
#pragma unroll
        for (int kz = KZ - 1; kz >= 0; kz--)
#pragma unroll
            for (int ky = 0; ky < KY; ky++)
#pragma unroll
                for (int kx = 0; kx < KX; kx++)
#pragma unroll
                    for (int r = 0; r < R; r++)
#pragma unroll
                        for (int i = 0; i < V; i++)
                            sum[kz][r][i] = multiply_add(value[r + ky][i + kx * GROUP], taps.w[(kz * KY + ky) * KX + kx],
                                                         ky + kx ? sum[kz][r][i]
                                                         : kz    ? sum[kz - 1][r][i]
                                                                 : (work)0);
        if (turn >= KZ - 1) {
            tile.write(f, sum[KZ - 1]);
            tile.to += tile.down_z;
        }
    }
}
