// SPDX-License-Identifier: Apache-2.0
// gpu_points.cu - any interpolation: any axes, steps and types, neighbours read where they lie. `check` as in gpu_elements.cu.
//
// The halves of a complex element are two real ones, the fastest inner axis: -DPARTS=2, and `fill` has one value for each.
#include "ops/lookup/gpu_walk.cuh"
#include "ops/lookup/gpu_place.cuh"

// For a coordinate that lies outside: WRAP's place, else the fill value of the element's part.
__device__ to_type beyond(const char *line, index_type v, number run, const walk &w, const uint4 &fill) {
    point x;
    if (OUTSIDE == WRAP && !wrapped_point(load_as<double, INDEX>(v), w.n, x))
        return no_number();
    if (OUTSIDE == WRAP)
        return result_of(METHOD == NEAREST ? entry_value(line, x.at, w.step) : value_at(record_at(line, x.at, w.n, w.step), x.t));
    return fill_of(fill, PARTS == 2 && run % 2);
}

extern "C" __global__ void __launch_bounds__(256, 4)
    points(const char *table, const char *index, char *out, u64 *bad, const walk w, const uint4 fill) {
    place p[GROUPS];
    point x[GROUPS];
    index_type v[GROUPS];
    to_type result[GROUPS];
    bool inside[GROUPS];
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        p[g] = place_of(w, item_of(w, g));
        v[g] = *(const index_type *)(index + p[g].index);
    }
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        inside[g] = find_point(v[g], (spot_number)w.n, x[g]);
        if (w.n > 0) {
            const char *line = table + p[g].table;
            result[g] = result_of(METHOD == NEAREST ? entry_value(line, x[g].at, w.step) : value_at(record_at(line, x[g].at, w.n, w.step), x[g].t));
        }
    }
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        if (!inside[g])
            result[g] = beyond(table + p[g].table, v[g], p[g].run, w, fill);
        *(to_type *)(out + p[g].out) = result[g];
        if (!inside[g] && OUTSIDE == ERROR)
            note(bad, p[g].position);
    }
}

extern "C" __global__ void check(const char *index, u64 *bad, const walk w) {
    i64 position = blockIdx.x * 256ll + threadIdx.x;
    point x;
    if (position < w.indices && !find_point(*(const index_type *)(index + index_place(w, (number)position).index), (spot_number)w.n, x))
        note(bad, position);
}
