// SPDX-License-Identifier: Apache-2.0
// gpu_points.cu - any interpolation: any axes, steps and types, neighbours read where they lie. `check` as in gpu_elements.cu.
//
// The halves of a complex element are two real ones, the fastest inner axis: -DPARTS=2, and `fill` has one value for each.
#include "ops/lookup/gpu_walk.cuh"
#include "ops/lookup/gpu_place.cuh"

extern "C" __global__ void __launch_bounds__(256)
    points(const char *table, const char *index, char *out, u64 *bad, const walk w, const uint4 fill) {
    i64 first = blockIdx.x * (256ll * GROUPS) + threadIdx.x;
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        if (first + g * 256 >= w.items)
            break;
        place p = place_of(w, first + g * 256);
        point x;
        to_type result;
        index_type v = *(const index_type *)(index + p.index);
        bool number = true, inside = find_point(v, (spot_number)w.n, w.outside, x);
        if (PERIODIC && !inside)
            number = inside = wrapped_point(load_as<double, INDEX>(v), w.n, x);
        if (inside) {
            const char *line = table + p.table;
            result = result_of(METHOD == NEAREST ? entry_value(line, x.at, w.step) : value_at(record_at(line, x.at, w.n, w.step), x.t));
        } else if (!number) {
            result = no_number();
        } else {
            uint4 mine = PARTS == 2 && p.run % 2 ? (sizeof(to_type) == 4 ? make_uint4(fill.y, 0, 0, 0) : make_uint4(fill.z, fill.w, 0, 0)) : fill;
            bits_of<sizeof(to_type)>::type cut_to;
            cut(mine, cut_to);
            result = as<to_type>(cut_to);
            if (w.outside == ERROR)
                note(bad, p.position);
        }
        *(to_type *)(out + p.out) = result;
    }
}

extern "C" __global__ void check(const char *index, u64 *bad, const walk w) {
    i64 position = blockIdx.x * 256ll + threadIdx.x;
    point x;
    if (position < w.indices && !find_point(*(const index_type *)(index + index_place(w, (number)position).index), (spot_number)w.n, w.outside, x))
        note(bad, position);
}
