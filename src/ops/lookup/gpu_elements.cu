// SPDX-License-Identifier: Apache-2.0
// gpu_elements.cu - any gather: any axes and steps, operands that are aligned to their elements and no more.
//
// An element is moved as pieces of -DSIZE bytes that the type's alignment allows, the fastest of the inner axes. A thread has GROUPS of them, and nothing
// branches before their loads are on their way: what lies behind the last element is the last one once more, an index that lies outside reads entry 0.
// `check` looks at every index when there is nothing to write, as the policy ERROR asks.
#include "ops/lookup/gpu_walk.cuh"

typedef bits_of<SIZE>::type element;

extern "C" __global__ void __launch_bounds__(256, 4)
    elements(const char *table, const char *index, char *out, u64 *bad, const walk w, const uint4 fill) {
    place p[GROUPS];
    index_type v[GROUPS];
    element x[GROUPS];
    bool inside[GROUPS];
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        p[g] = place_of(w, item_of(w, g));
        v[g] = __ldg((const index_type *)(index + p[g].index));
    }
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        entry at;
        inside[g] = entry_of(v[g], w.n, at);
        if (w.n > 0)
            x[g] = __ldg(entry_at((const element *)(table + p[g].table), at, w.step));
    }
    element other;
    cut(fill, other);
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        *(element *)(out + p[g].out) = OUTSIDE == FILL ? chosen(inside[g], x[g], other) : x[g];
        if (!inside[g] && OUTSIDE == ERROR)
            note(bad, p[g].position);
    }
}

extern "C" __global__ void check(const char *index, u64 *bad, const walk w) {
    i64 position = blockIdx.x * 256ll + threadIdx.x;
    entry at;
    if (position < w.indices && !entry_of(*(const index_type *)(index + index_place(w, (number)position).index), w.n, at))
        note(bad, position);
}
