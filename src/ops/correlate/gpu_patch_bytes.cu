// SPDX-License-Identifier: Apache-2.0
// gpu_patch_bytes.cu - production: masks of small integers over bytes, four taps of a row in one instruction.
//
// Such sums are exact in 32 bits, so the order of their terms is free: the same bytes as the chain of multiply-adds gives. Rows lie in registers as in
// patch; a window's four bytes at every column are two neighbouring words shifted, found once a row and met by every output that they concern. Masks of
// nine taps take three multiply-adds an output in place of nine and the nine conversions' share.
//
// Taps come as bytes, each row of them filled with zeros to GROUPS words: what stands beside a window there may be anything.
//
// -DGROUPS; else as gpu_patch.cuh.
#include "ops/correlate/gpu_patch.cuh"
#include "ops/correlate/gpu_bytes.cuh"

typedef tap_list<KY * GROUPS> byte_taps;

// Four products an instruction.
struct dots {
    const byte_taps &taps;

    struct window {
        unsigned bytes[V + 4 * (GROUPS - 1)];
        __device__ __forceinline__ window(const unsigned (&word)[WORDS]) {
#pragma unroll
            for (int i = 0; i < V + 4 * (GROUPS - 1); i++)
                bytes[i] = FIRST + i < 4 * WORDS ? four_bytes(word, FIRST + i) : 0;
        }
    };
    __device__ __forceinline__ void add(work (&sum)[V], const window &w, int ky) const {
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
#pragma unroll
            for (int i = 0; i < V; i++)
                sum[i] = dot(w.bytes[i + 4 * g], taps.w[ky * GROUPS + g], ky + g == 0 ? 0 : sum[i]);
    }
};

extern "C" __global__ void __launch_bounds__(32 * WX * WY, BLOCKS) patch_bytes(const element *in, result *out, const frame f, const byte_taps taps) {
    compute_patch(in, out, f, dots{taps});
}
