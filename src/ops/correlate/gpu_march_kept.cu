// SPDX-License-Identifier: Apache-2.0
// gpu_march_kept.cu - production: masks of volumes whose last axis is not the rows', as of arrays in Fortran's order: a block marches, as march3d's does, and keeps the planes it has met.
//
// In march3d a plane that arrives adds to all outputs under way, for planes are the mask's slowest axis. Under another order a chain goes down all planes before it comes to the next column,
// so the windows of KZ planes stay in registers, each at its number modulo KZ, and with the last of them R rows of V sums are made at once: every tap's element is there, whatever the order.
// A window is read from shared memory once, as in march3d.
//
// -DFIRST= -DSECOND= -DTHIRD= axes (0 1 2 for x y z) in the mask's order; else as gpu_march3d.cu.
#define THREADS (ALONG * DOWN)
#include "ops/correlate/gpu_planes.cuh"

__host__ __device__ constexpr int of(int axis, int x, int y, int z) { return axis == 0 ? x : axis == 1 ? y : z; }
const int TAPS_SECOND = of(SECOND, KX, KY, KZ), TAPS_THIRD = of(THIRD, KX, KY, KZ);
// The tap at x, y, z by its number in the mask, and the coordinate along an axis of a tap's number.
__host__ __device__ constexpr int along_axis(int axis, int tap) {
    return axis == FIRST ? tap / (TAPS_SECOND * TAPS_THIRD) : axis == SECOND ? tap / TAPS_THIRD % TAPS_SECOND : tap % TAPS_THIRD;
}

struct kept {
    work value[KZ][R + KY - 1][LEFT + V + RIGHT];

    __device__ __forceinline__ void take(int at, const element *plane, const plane_tile &tile) {
#pragma unroll
        for (int r = 0; r < R + KY - 1; r++) {
            read_window(value[at][r], plane + (tile.down * R + r) * ROW, tile.along);
#pragma unroll
            for (int i = 0; i < (SIZE < 4 ? LEFT + V + RIGHT : 0); i++)
                keep(value[at][r][i]); // as a number: the compiler would else keep words, and convert them again
        }
    }
    // Outputs of which the first plane is number `first` of the windows.
    __device__ __forceinline__ void add_up(work (&sum)[R][V], int first, const tap_list<KX * KY * KZ> &taps) const {
#pragma unroll
        for (int tap = 0; tap < KX * KY * KZ; tap++)
#pragma unroll
            for (int r = 0; r < R; r++)
#pragma unroll
                for (int i = 0; i < V; i++)
                    sum[r][i] = multiply_add(value[(first + along_axis(2, tap)) % KZ][r + along_axis(1, tap)][i + along_axis(0, tap) * GROUP],
                                             taps.w[tap], tap ? sum[r][i] : (work)0);
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) march_kept(const element *in, result *out, const frame f, const unsigned across,
                                                                         const int depth, const unsigned deep, const tap_list<KX * KY * KZ> taps) {
    extern __shared__ uint4 memory[];
    plane_tile tile(in, out, f, across, depth, deep, TILE);
    plane_stream stream((element *)memory, in, f, tile, tile.x);
    kept windows;
#pragma unroll
    for (int k = 0; k < KZ - 1; k++)
        windows.take(k, stream.turn(k, in, f), tile);
#pragma unroll 1
    for (int turn = 0; turn < tile.outputs; turn += KZ)
#pragma unroll
        for (int k = 0; k < KZ; k++)
            if (turn + k < tile.outputs) {
                work sum[R][V];
                windows.take((k + KZ - 1) % KZ, stream.turn(turn + k + KZ - 1, in, f), tile);
                windows.add_up(sum, k, taps);
                tile.write(f, sum);
                tile.to += tile.down_z;
            }
}
