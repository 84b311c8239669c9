// SPDX-License-Identifier: Apache-2.0
// gpu_patch_bytes.cu - production: masks of small integers over bytes, four taps of a row in one instruction.
//
// Such sums are exact in 32 bits, so the order of their terms is free: the same bytes as the chain of multiply-adds gives. Rows lie in registers as in
// patch; a window's four bytes at every column are two neighbouring words shifted, found once a row and met by every output that they concern. Masks of
// nine taps take three multiply-adds an output in place of nine and the nine conversions' share.
//
// As gpu_patch.cuh, and -DGROUPS.
#include "ops/correlate/gpu_patch.cuh"

#include "ops/correlate/gpu_bytes.cuh"
#include "ops/correlate/gpu_dots.cuh"

struct dots {
    const byte_taps &taps;

    typedef dots_window window;
    __device__ __forceinline__ void add(work (&sum)[V], const window &w, int ky) const { w.add(sum, ky, taps); }
};

extern "C" __global__ void __launch_bounds__(32 * WX * WY, BLOCKS) patch_bytes(const element *in, result *out, const frame f, const byte_taps taps) {
    compute_patch(in, out, f, dots{taps});
}
