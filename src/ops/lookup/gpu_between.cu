// SPDX-License-Identifier: Apache-2.0
// gpu_between.cu - any interpolation among positions: any axes, steps and types. A bisection without branches, of a thread's four places side by side, so
// that the loads of all four are on their way together. `check` as in gpu_elements.cu, the halves of a complex element as in gpu_points.cu.
#include "ops/lookup/gpu_walk.cuh"
#include "ops/lookup/gpu_among.cuh"

extern "C" __global__ void __launch_bounds__(256, 4)
    points(const char *table, const char *index, char *out, u64 *bad, const walk w, const uint4 fill, const double *positions, const among m) {
    place p[GROUPS];
    double x[GROUPS];
    unsigned count[GROUPS];
    const unsigned next = m.n > 1;
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        p[g] = place_of(w, item_of(w, g));
        x[g] = load_as<double, INDEX>(*(const index_type *)(index + p[g].index));
        count[g] = 0;
    }
    for (unsigned half = m.half; half > 0; half /= 2)
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
            count[g] = step_on(positions, x[g], count[g], half, m.n);
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        const unsigned at = entry_before(count[g], m.n);
        const char *line = table + p[g].table;
        to_type result = between(x[g], positions[at], positions[at + next], entry_value(line, at, w.step), entry_value(line, at + next, w.step), m);
        const bool inside = is_among(x[g], m);
        if (OUTSIDE == FILL && !inside)
            result = fill_of(fill, PARTS == 2 && p[g].run % 2);
        *(to_type *)(out + p[g].out) = result;
        if (OUTSIDE == ERROR && !inside)
            note(bad, p[g].position);
    }
}

extern "C" __global__ void check(const char *index, u64 *bad, const walk w, const double *, const among m) {
    i64 position = blockIdx.x * 256ll + threadIdx.x;
    if (position < w.indices && !is_among(load_as<double, INDEX>(*(const index_type *)(index + index_place(w, (number)position).index)), m))
        note(bad, position);
}
