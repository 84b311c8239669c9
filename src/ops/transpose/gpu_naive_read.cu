// SPDX-License-Identifier: Apache-2.0
// gpu_naive_read.cu - one thread an element; a warp reads neighbours and writes a column.
//
// The 32 elements that a warp reads lie side by side: as few sectors as there can be. The 32 that it writes lie a row of `out` apart: a sector each.
#include "ops/transpose/gpu_plane.cuh"

extern "C" __global__ void naive_read(const element *in, element *out, const plane m) {
    place at = tile_of_block<32, 8>(m);
    i64 p = at.p + threadIdx.x % 32, q = at.q + threadIdx.x / 32;
    if (p < m.p_size && q < m.q_size)
        out[at.out + p * m.p_out + q] = in[at.in + q * m.q_in + p];
}
