// SPDX-License-Identifier: Apache-2.0
// gpu_vectors.cu - production, compact indices: a table of any size, read through the first-level cache.
//
// Up to a few thousand entries the cache holds the table, and what is left is the stream of indices in and elements out. Copies of the table in shared
// memory need blocks that stay long enough to pay for them, and those cost more than they gain (86 to 92 % on an H200).
#include "ops/lookup/gpu_beside.cuh"

struct gather {
    typedef entry spot;
    typedef element entry_type;
    const element *table;
    u64 *bad;
    i64 n, step, line;
    element fill;
    __device__ __forceinline__ bool find(index_type v, spot &at) const { return find_entry(v, n, at); }
    __device__ __forceinline__ element read(spot at) const { return __ldg(entry_at(table, at, step)); }
    __device__ __forceinline__ element make(spot, element x, bool inside) const { return OUTSIDE == FILL ? chosen(inside, x, fill) : x; }
    __device__ __forceinline__ void next() { table += line; }
    __device__ __forceinline__ void late(index_type v, i64 position, element &result) const {
        entry at;
        if (OUTSIDE == WRAP) {
            entry_of(v, n, at);
            result = read(at);
        } else if (OUTSIDE == ERROR) {
            note(bad, position);
        }
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    vectors(const element *table, const index_type *index, element *out, u64 *bad, const lines p, const uint4 fill) {
    const i64 group = LINES ? blockIdx.x / (unsigned)p.blocks : 0, chunk = LINES ? blockIdx.x % (unsigned)p.blocks : blockIdx.x, line = group * p.served;
    gather job = {table, bad, p.n, p.step, p.table_line};
    cut(fill, job.fill);
    const vectors_of_thread mine(index, chunk, p.count);
    if (!LINES) {
        each_vector(mine, index, out, job);
        return;
    }
    job.table += line * p.table_line;
    each_line(mine, index, out + line * p.out_line, p.out_line, (int)min(p.served, p.all - line), job);
}
