// SPDX-License-Identifier: Apache-2.0
// gpu_patch.cu - production: small masks, where memory binds. A thread has V columns of R rows in registers, its neighbour lanes the rest.
//
// The tile kernels moved every element to shared memory and back, and met barriers. Here a thread loads its R + KY - 1 rows of V elements at once, as one
// vector each; what lies left and right of them stands in the registers of the lanes beside it; the first and last lane of a warp load
// theirs (H elements). Each row is then read once, and adds to every output that it concerns: sums grow in the order of the mask, row by row. Blocks are small and many, and follow each other along rows: on an H200 that is faster than any form that stays and loops.
//
// Warps whose elements all lie inside take loads without tests; the others resolve each index by the boundary's rule where it is needed.
//
// -DRAISED=1, of u8: weights come times 2^24, and elements as their 2^24th part. Else -D as gpu_patch.cuh.
#include "ops/correlate/gpu_patch.cuh"
#include "ops/correlate/gpu_bytes.cuh"

// A chain of multiply-adds an output.
struct chain {
    const tap_list<KX * KY> &taps;

    struct window {
        work value[LEFT + V + RIGHT];
        __device__ __forceinline__ void take(const unsigned (&word)[WORDS]) {
#pragma unroll
            for (int i = 0; i < LEFT + V + RIGHT; i++)
                value[i] = RAISED ? part_of_byte(word, FIRST + i) : cell(word, FIRST + i);
        }
    };
    __device__ __forceinline__ void add(work (&sum)[V], const window &w, int ky) const {
#pragma unroll
        for (int kx = 0; kx < KX; kx++)
#pragma unroll
            for (int i = 0; i < V; i++)
                sum[i] = multiply_add(w.value[i + kx * GROUP], taps.w[ky * KX + kx], ky + kx == 0 ? (work)0 : sum[i]);
    }
};

extern "C" __global__ void __launch_bounds__(32 * WX * WY, BLOCKS)
    patch(const element *in, result *out, const frame f, const tap_list<KX * KY> taps) {
    compute_patch(in, out, f, chain{taps});
}
