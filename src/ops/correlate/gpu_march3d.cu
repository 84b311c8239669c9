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

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    march3d(const element *in, result *out, const frame f, const int depth, const unsigned deep, const tap_list<KX * KY * KZ> taps) {
    extern __shared__ uint4 memory[];
    element *ring = (element *)memory;
    const unsigned number = blockIdx.z / deep;
    const int along = threadIdx.x % ALONG, down = THREADS == ALONG * DOWN ? threadIdx.x / ALONG : min(threadIdx.x / ALONG, DOWN - 1);
    const int x = blockIdx.x * TILE, y = blockIdx.y * (DOWN * R), z = (blockIdx.z - number * deep) * depth, top = y - f.before_y,
              front = z - f.before_z;
    const int outputs = min(depth, (int)f.m_z - z), planes = outputs + KZ - 1, column = x + along * V, row = y + down * R;
    find_array(f, number, in, out);
    char *to = (char *)(out + (i64)z * f.out_z + (i64)row * f.out_y + column);
    const i64 down_y = f.out_y * (i64)sizeof(result), down_z = f.out_z * (i64)sizeof(result);
    const tile_feed<ROWS, DOWN> feed(ring, f, top, x, along, down);
    prepare_ring<STAGES * ROWS>(ring, f, reaches_edge(f, x) || top < 0 || top + ROWS > (int)f.n_y);
    begin_planes(feed, ring, in, f, front, planes, top, x);
    work sum[KZ][R][V];
    begin_sums(sum);
    int slot = 0, next = STAGES - 1;
#pragma unroll 1
    for (int plane = 0; plane < planes; plane++) {
        await_plane(feed, ring, next, in, f, front, planes, top, x, plane);
        work value[R + KY - 1][LEFT + V + RIGHT];
#pragma unroll
        for (int r = 0; r < R + KY - 1; r++)
            read_window(value[r], ring + slot * PLANE + (down * R + r) * ROW, along);
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
        advance(slot, next);
        if (plane >= KZ - 1) {
            write_rows(to, down_y, row, (int)f.m_y, column, (int)f.m_x, sum[KZ - 1]);
            to += down_z;
        }
    }
}
