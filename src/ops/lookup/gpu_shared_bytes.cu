// SPDX-License-Identifier: Apache-2.0
// gpu_shared_bytes.cu - production, bytes by bytes: each block writes the answers to all 256 indices, policy applied, into shared memory, then 16
// lookups a thread.
//
// A byte an index and a byte an element leave the least time for a lookup of all problems, and single bytes from shared memory cost less than from the
// first-level cache. 256 answers are 64 words, so that the lanes of a warp rarely meet in a bank with different words.
#define SIZE 1
#define V 16
#define GROUPS 1
#include "ops/lookup/gpu_lines.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    shared_bytes(const element *table, const index_type *index, element *out, u64 *bad, const lines p, const uint4 fill) {
    __shared__ element answer[256];
    for (int k = threadIdx.x; k < 256; k += THREADS) {
        entry at;
        if (entry_of((index_type)k, p.n, p.outside, at))
            answer[k] = table[at * p.step];
        else
            cut(fill, answer[k]);
    }
    __syncthreads();
    each_vector(index, out, blockIdx.x, p.count, [&](index_type v, i64 position, element &result) {
        entry at;
        result = answer[(unsigned char)v];
        if (p.outside == ERROR && !entry_of(v, p.n, p.outside, at))
            note(bad, position);
    });
}
