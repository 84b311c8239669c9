// SPDX-License-Identifier: Apache-2.0
// gpu_lines.cuh - compact lines of indices, V at a time: one vector is loaded, V results are made, one vector is stored.
//
// The grid is plain, GROUPS vectors a thread: on an H200 blocks that stay and loop reach 92 % of a copy where these reach all of it, for their writes
// are strewn over more of the destination. All loads of indices stand before the first result. A line of indices serves every line of the table
// (-DLINES=1), and a block works in one line. The thread behind the last whole vector takes the rest of its line.
//
//     -DV=1|2|4|8|16 lookups a vector    -DSIZE bytes of a result    -DGROUPS vectors a thread    THREADS a block
#include "ops/lookup/gpu_index.cuh"

typedef bits_of<SIZE>::type element;

struct lines {
    i64 n, step, count, blocks; // entries of the table, elements between them, indices, blocks a line
    i64 table_line, out_line, outside; // elements between lines; the policy
};

union indices {
    words<V * sizeof(stored<INDEX>::type)> all;
    stored<INDEX>::type part[V];
};
union results {
    bits_of<V * SIZE>::type all;
    element part[V];
};

// result_of(index, its number, element &) is what the kernel does with an index; table lines are its own business.
template <typename F> __device__ __forceinline__ void each_vector(const stored<INDEX>::type *index, element *out, i64 chunk, i64 count, F result_of) {
    indices v[GROUPS];
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        i64 at = ((chunk * GROUPS + g) * THREADS + threadIdx.x) * V;
        if (at + V <= count)
            load_now(v[g].all, index + at);
    }
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        i64 at = ((chunk * GROUPS + g) * THREADS + threadIdx.x) * V;
        if (at + V <= count) {
            results r;
#pragma unroll
            for (int j = 0; j < V; j++)
                result_of(v[g].part[j], at + j, r.part[j]);
            *(bits_of<V * SIZE>::type *)(out + at) = r.all;
        } else {
            for (; at < count; at++)
                result_of(index[at], at, out[at]);
        }
    }
}
