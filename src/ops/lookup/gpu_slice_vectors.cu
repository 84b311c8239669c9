// SPDX-License-Identifier: Apache-2.0
// gpu_slice_vectors.cu - production, whole slices: each index copies a run of the table, a vector a thread.
//
// Neighbouring threads have neighbouring vectors of `out`, so writes are one stream; threads of one slice read the same index, which costs one request.
// -DSIZE=1..16 bytes are the largest vector that all steps allow; four vectors a thread, with no branch before they are asked for, keep enough loads on their way. -DNARROW=1: fewer than 2^31
// vectors, which are divided in 32 bits.
#include "ops/lookup/gpu_index.cuh"

typedef bits_of<SIZE>::type element;
#if NARROW
typedef unsigned number;
#else
typedef u64 number;
#endif
enum { GROUPS = 4 };

struct slices {
    i64 n, step, line;               // entries; bytes between entries; elements (of SIZE bytes) between lines of the table
    i64 count, per, vectors;         // indices, vectors a slice, vectors in all
};

extern "C" __global__ void __launch_bounds__(256, 4)
    slice_vectors(const element *table, const index_type *index, element *out, u64 *bad, const slices p, const uint4 fill) {
    const element *from[GROUPS];
    index_type v[GROUPS];
    element x[GROUPS], other;
    bool inside[GROUPS];
    number position[GROUPS];
    i64 item[GROUPS];
#pragma unroll
    for (int g = 0; g < GROUPS; g++) { // behind the end the last one again
        item[g] = blockIdx.x * (256ll * GROUPS) + g * 256 + threadIdx.x;
        item[g] = item[g] < p.vectors ? item[g] : p.vectors - 1;
        number rest = (number)item[g] / (number)p.per, k = (number)item[g] - rest * (number)p.per, line = 0;
        if (LINES) {
            line = rest / (number)p.count;
            rest -= line * (number)p.count;
        }
        position[g] = rest;
        from[g] = table + (i64)line * p.line + (i64)k;
        v[g] = __ldg(index + rest);
    }
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        entry at;
        inside[g] = entry_of(v[g], p.n, at);
        x[g] = __ldg(entry_at(from[g], at, p.step));
    }
    cut(fill, other);
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        out[item[g]] = OUTSIDE == FILL ? chosen(inside[g], x[g], other) : x[g];
        if (!inside[g] && OUTSIDE == ERROR)
            note(bad, position[g]);
    }
}
