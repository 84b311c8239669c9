// SPDX-License-Identifier: Apache-2.0
// gpu_exact_short.cu - exact sums of many short rows: a stretch of rows is in shared memory as in gpu_tree_short.cu, and GROUP threads find a row's (gpu_exact_group.cuh).
#include "ops/reduce/gpu_exact_group.cuh"

extern "C" __global__ void __launch_bounds__(32 * WARPS, AT_LEAST) exact_short(const element *in, result *out, const rows p) {
    __shared__ words<16> tiles[WARPS][ROOM / 16];
    __shared__ i64 limbs[WARPS][PARTS][LIMBS];
    __shared__ int flags[WARPS][PARTS];
    const int warp = threadIdx.x / 32;
    const i64 unit = (i64)blockIdx.x * WARPS + warp;
    if (unit >= p.units)
        return;
    const part c = part_of(p, in, unit);
    char *tile = (char *)tiles[warp];
    const int begin = stage(tile, c, p.k);
    for (int round = 0; round < c.here; round += 32 / GROUP) {
        const int number = round + threadIdx.x % 32 / GROUP, first = (number < c.here ? number : c.here - 1) * p.k;
        put_groups<way<GROUP, TURNS_HELD, TURNS_SURE>>(spread{tile, begin + first * (int)sizeof(element), p.k, (p.k + GROUP - 1) / GROUP},
                                                       number < c.here, limbs[warp], flags[warp], out + c.at_out + number * p.out_step);
    }
}
