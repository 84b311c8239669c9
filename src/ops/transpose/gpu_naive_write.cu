// SPDX-License-Identifier: Apache-2.0
// gpu_naive_write.cu - one thread an element; a warp reads a column and writes neighbours.
//
// naive_read wasted its writes; this one wastes its reads instead: a sector for each of the 32 elements. Sectors that were fetched for one element may
// still be in a cache when their other elements are wanted; sectors half written have to be completed. So this side is the better one to waste.
#include "ops/transpose/gpu_plane.cuh"

extern "C" __global__ void naive_write(const element *in, element *out, const plane m) {
    place at = tile_of_block<8, 32>(m);
    i64 p = at.p + threadIdx.x / 32, q = at.q + threadIdx.x % 32;
    if (p < m.p_size && q < m.q_size)
        out[at.out + p * m.p_out + q] = in[at.in + q * m.q_in + p];
}
