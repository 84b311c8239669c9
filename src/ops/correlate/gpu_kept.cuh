// SPDX-License-Identifier: Apache-2.0
// gpu_kept.cuh - the windows of all planes that a chain meets, in registers: what march_kept and march_across make sums of, whatever order the mask's axes have. After gpu_planes.cuh.
//
// Plane number j stands at j modulo KZ. With the last of KZ planes R rows of V sums are made at once.
//
// -DFIRST= -DSECOND= -DTHIRD= axes (0 1 2 for x y z) in the mask's order.
__host__ __device__ constexpr int of(int axis, int x, int y, int z) { return axis == 0 ? x : axis == 1 ? y : z; }
const int TAPS_SECOND = of(SECOND, KX, KY, KZ), TAPS_THIRD = of(THIRD, KX, KY, KZ);
// The coordinate along an axis of a tap's number.
__host__ __device__ constexpr int along_axis(int axis, int tap) {
    return axis == FIRST ? tap / (TAPS_SECOND * TAPS_THIRD) : axis == SECOND ? tap / TAPS_THIRD % TAPS_SECOND : tap % TAPS_THIRD;
}

struct kept {
    work value[KZ][R + KY - 1][LEFT + V + RIGHT];

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

// From the first plane of input to the last one of outputs. stream.take(window, number) waits for a plane and reads what the thread meets of it.
template <typename STREAM>
__device__ __forceinline__ void march(STREAM &stream, plane_tile &tile, const frame &f, const tap_list<KX * KY * KZ> &taps) {
    kept windows;
#pragma unroll
    for (int k = 0; k < KZ - 1; k++)
        stream.take(windows.value[k], k);
#pragma unroll 1
    for (int turn = 0; turn < tile.outputs; turn += KZ)
#pragma unroll
        for (int k = 0; k < KZ; k++)
            if (turn + k < tile.outputs) {
                work sum[R][V];
                stream.take(windows.value[(k + KZ - 1) % KZ], turn + k + KZ - 1);
                windows.add_up(sum, k, taps);
                tile.write(f, sum);
                tile.to += tile.down_z;
            }
}
