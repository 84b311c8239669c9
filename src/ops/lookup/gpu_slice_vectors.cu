// SPDX-License-Identifier: Apache-2.0
// gpu_slice_vectors.cu - production, whole slices: each index copies a run of the table, a vector a thread.
//
// Neighbouring threads have neighbouring vectors of `out`, so writes are one stream; threads of one slice read the same index, which costs one request.
// What is written is not read again and leaves L2 first (st.cs): the table stays there. -DSIZE=1..16 bytes are the largest vector that all steps allow;
// four vectors a thread, with no branch before they are asked for, keep enough loads on their way. -DNARROW=1: fewer than 2^31 vectors, which are divided by
// a multiplication (Granlund, Montgomery, PLDI 1994): a division by a number known only now would be more instructions than all the rest.
#include "ops/lookup/gpu_index.cuh"

typedef bits_of<SIZE>::type element;
#if NARROW
typedef unsigned number;
#else
typedef u64 number;
#endif
enum { GROUPS = 4 };

struct divisor {
    unsigned magic, shift; // of d: 2^(31 + shift) / d + 1, the least power of two not below d
};

struct slices {
    i64 n, step, line;               // entries; bytes between entries; elements (of SIZE bytes) between lines of the table
    i64 count, per, vectors;         // indices, vectors a slice, vectors in all
    divisor by_count, by_per;
};

__device__ __forceinline__ number divided(number x, i64 d, divisor by) {
#if NARROW
    return __umulhi(2 * x, by.magic) >> by.shift;
#else
    return x / (u64)d;
#endif
}

extern "C" __global__ void __launch_bounds__(256, 8)
    slice_vectors(const element *table, const index_type *index, element *out, u64 *bad, const slices p, const uint4 fill) {
    const element *from[GROUPS];
    index_type v[GROUPS];
    element x[GROUPS], other;
    bool inside[GROUPS];
    number position[GROUPS];
    number item[GROUPS];
#pragma unroll
    for (int g = 0; g < GROUPS; g++) { // behind the end the last one again
        item[g] = blockIdx.x * (number)(256 * GROUPS) + g * 256 + threadIdx.x;
        item[g] = item[g] < (number)p.vectors ? item[g] : (number)p.vectors - 1;
        number rest = divided(item[g], p.per, p.by_per), k = item[g] - rest * (number)p.per, line = 0;
        if (LINES) {
            line = divided(rest, p.count, p.by_count);
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
        __stcs(out + item[g], OUTSIDE == FILL ? chosen(inside[g], x[g], other) : x[g]);
        if (!inside[g] && OUTSIDE == ERROR)
            note(bad, position[g]);
    }
}
