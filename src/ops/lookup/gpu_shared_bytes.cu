// SPDX-License-Identifier: Apache-2.0
// gpu_shared_bytes.cu - production, bytes by bytes: each block writes the answers to all 256 indices, policy applied, into shared memory, then 16
// lookups a thread.
//
// A byte an index and a byte an element leave the least time for a lookup of all problems, and single bytes from shared memory cost less than from the
// first-level cache. 256 answers are 64 words, so that the lanes of a warp rarely meet in a bank with different words. The indices are on their way
// while the answers are written. -DCHECK=1: bad ones are to be told, and there can be some.
#define SIZE 1
#define V 16
#define GROUPS 1
#include "ops/lookup/gpu_lines.cuh"

struct answers {
    typedef unsigned char spot, entry_type;
    const unsigned char *answer;
    u64 *bad;
    i64 n;
    __device__ __forceinline__ bool find(index_type v, spot &at) const {
        at = (unsigned char)v;
        return !CHECK || (unsigned)v < (unsigned)n;
    }
    __device__ __forceinline__ unsigned char read(spot at) const { return answer[at]; }
    __device__ __forceinline__ element make(spot, unsigned char x, bool) const { return x; }
    __device__ __forceinline__ void late(index_type, i64 position, element &) const { note(bad, position); }
};

extern "C" __global__ void __launch_bounds__(THREADS)
    shared_bytes(const element *table, const index_type *index, element *out, u64 *bad, const lines p, const uint4 fill) {
    __shared__ unsigned char answer[256];
    vectors_of_thread mine(index, blockIdx.x, p.count);
#pragma unroll
    for (int i = threadIdx.x; i < 256; i += THREADS) {
        entry at;
        if (entry_of((index_type)i, p.n, at))
            answer[i] = *entry_at(table, at, p.step);
        else
            cut(fill, answer[i]);
    }
    __syncthreads();
    each_vector(mine, index, out, answers{answer, bad, p.n});
}
