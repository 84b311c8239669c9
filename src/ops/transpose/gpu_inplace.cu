// SPDX-License-Identifier: Apache-2.0
// gpu_inplace.cu - production, in place, square matrices whose rows begin anywhere: both tiles of a pair as gpu_columns.cuh has them.
//
// -DTILE elements a side of a tile, -DTHREADS a block, -DBLOCKS a multiprocessor at least.
#include "ops/transpose/gpu_columns.cuh"
#include "ops/transpose/gpu_pairs.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) exchange(element *data, const squares s) {
    extern __shared__ uint4 room[]; // [2][T / V][V * NV + 1]
    const pair at = pair_of_block<T>(data, s);
    if (at.rows == 0)
        return;
    const unsigned base = (unsigned)__cvta_generic_to_shared(room);
    const i64 step = s.size * SIZE;
    const tile upper = {(const char *)at.above, (char *)at.below, step, step, at.rows, at.columns};
    const tile lower = {(const char *)at.below, (char *)at.above, step, step, at.columns, at.rows};
    const char *begin = (const char *)(at.above - ((i64)at.i * T * s.size + (i64)at.j * T)), *end = begin + s.size * step;
    take(base, upper, begin, end);
    if (at.i != at.j)
        take(base + ROOM, lower, begin, end);
    await_rows();
    __syncthreads();
    put((const char *)room, upper);
    if (at.i != at.j)
        put((const char *)room + ROOM, lower);
}
