// SPDX-License-Identifier: Apache-2.0
// gpu_elements.cu - any gather: any axes and steps, operands that are aligned to their elements and no more.
//
// An element is moved as pieces of -DSIZE bytes that the type's alignment allows, the fastest of the inner axes. `check` looks at every index when there
// is nothing to write, as the policy ERROR asks.
#include "ops/lookup/gpu_walk.cuh"

typedef bits_of<SIZE>::type element;

extern "C" __global__ void __launch_bounds__(256)
    elements(const char *table, const char *index, char *out, u64 *bad, const walk w, const uint4 fill) {
    element v[GROUPS];
    char *to[GROUPS];
    i64 first = blockIdx.x * (256ll * GROUPS) + threadIdx.x;
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        if (first + g * 256 >= w.items)
            break;
        place p = place_of(w, first + g * 256);
        entry at;
        to[g] = out + p.out;
        if (entry_of(*(const index_type *)(index + p.index), w.n, w.outside, at)) {
            v[g] = __ldg(entry_at((const element *)(table + p.table), at, w.step));
        } else {
            cut(fill, v[g]);
            if (w.outside == ERROR)
                note(bad, p.position);
        }
    }
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
        if (first + g * 256 < w.items)
            *(element *)to[g] = v[g];
}

extern "C" __global__ void check(const char *index, u64 *bad, const walk w) {
    i64 position = blockIdx.x * 256ll + threadIdx.x;
    entry at;
    if (position < w.indices && !entry_of(*(const index_type *)(index + index_place(w, (number)position).index), w.n, w.outside, at))
        note(bad, position);
}
