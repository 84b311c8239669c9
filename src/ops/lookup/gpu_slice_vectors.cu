// SPDX-License-Identifier: Apache-2.0
// gpu_slice_vectors.cu - production, whole slices: each index copies a run of the table, a vector a thread.
//
// Neighbouring threads have neighbouring vectors of `out`, so writes are one stream; threads of one slice read the same index, which costs one request.
// -DSIZE=1..16 bytes are the largest vector that all steps allow; four vectors a thread keep enough loads on their way. -DNARROW=1: fewer than 2^31
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
    i64 count, per, vectors, outside; // indices, vectors a slice, vectors in all; the policy
};

extern "C" __global__ void __launch_bounds__(256, 4)
    slice_vectors(const element *table, const index_type *index, element *out, u64 *bad, const slices p, const uint4 fill) {
    element v[GROUPS];
    i64 first = blockIdx.x * (256ll * GROUPS) + threadIdx.x;
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        i64 item = first + g * 256;
        if (item >= p.vectors)
            break;
        number rest = (number)item / (number)p.per, k = (number)item - rest * (number)p.per, line = 0;
        if (LINES) {
            line = rest / (number)p.count;
            rest -= line * (number)p.count;
        }
        entry at;
        if (entry_of(index[rest], p.n, p.outside, at)) {
            v[g] = __ldg(entry_at(table + (i64)line * p.line + (i64)k, at, p.step));
        } else {
            cut(fill, v[g]);
            if (p.outside == ERROR)
                note(bad, rest);
        }
    }
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
        if (first + g * 256 < p.vectors)
            out[first + g * 256] = v[g];
}
