// SPDX-License-Identifier: Apache-2.0
// gpu_march_kept.cu - production: masks of volumes whose last axis is not the rows', as of arrays in Fortran's order: a block marches, as march3d's does, and keeps the planes it has met.
//
// In march3d a plane that arrives adds to all outputs under way, for planes are the mask's slowest axis. Under another order a chain goes down all planes before it comes to the next column,
// so the windows of KZ planes stay in registers (gpu_kept.cuh): every tap's element is there, whatever the order. A window is read from shared memory once, as in march3d.
//
// -DFIRST= -DSECOND= -DTHIRD= axes (0 1 2 for x y z) in the mask's order; else as gpu_march3d.cu.
#define THREADS (ALONG * DOWN)
#include "ops/correlate/gpu_planes.cuh"

#include "ops/correlate/gpu_kept.cuh"

struct kept_stream {
    plane_stream planes;
    const plane_tile &tile;
    const element *in;
    const frame &f;

    __device__ __forceinline__ void take(work (&window)[R + KY - 1][LEFT + V + RIGHT], int number) {
        const element *plane = planes.turn(number, in, f);
#pragma unroll
        for (int r = 0; r < R + KY - 1; r++) {
            read_window(window[r], plane + (tile.down * R + r) * ROW, tile.along);
#pragma unroll
            for (int i = 0; i < (SIZE < 4 ? LEFT + V + RIGHT : 0); i++)
                keep(window[r][i]); // as a number: the compiler would else keep words, and convert them again
        }
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) march_kept(const element *in, result *out, const frame f, const unsigned across,
                                                                         const int depth, const unsigned deep, const tap_list<KX * KY * KZ> taps) {
    extern __shared__ uint4 memory[];
    plane_tile tile(in, out, f, across, depth, deep, TILE);
    kept_stream stream = {plane_stream((element *)memory, in, f, tile, tile.x), tile, in, f};
    march(stream, tile, f, taps);
}
