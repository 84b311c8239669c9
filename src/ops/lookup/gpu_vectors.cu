// SPDX-License-Identifier: Apache-2.0
// gpu_vectors.cu - production, compact indices: a table of any size, read through the first-level cache.
//
// Up to a few thousand entries the cache holds the table, and what is left is the stream of indices in and elements out. Copies of the table in shared
// memory need blocks that stay long enough to pay for them, and those cost more than they gain (86 to 92 % on an H200).
#include "ops/lookup/gpu_lines.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    vectors(const element *table, const index_type *index, element *out, u64 *bad, const lines p, const uint4 fill) {
    i64 chunk = blockIdx.x;
    if (LINES) {
        unsigned line = blockIdx.x / (unsigned)p.blocks;
        chunk = blockIdx.x % (unsigned)p.blocks;
        table += line * p.table_line;
        out += line * p.out_line;
    }
    each_vector(index, out, chunk, p.count, [&](index_type v, i64 position, element &result) {
        entry at;
        if (entry_of(v, p.n, p.outside, at)) {
            result = __ldg(table + (i64)at * (entry)p.step);
        } else {
            cut(fill, result);
            if (p.outside == ERROR)
                note(bad, position);
        }
    });
}
