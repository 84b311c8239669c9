// SPDX-License-Identifier: Apache-2.0
// gpu_point_slices.cu - production, longer slices at coordinates, as images resized along an axis: neighbours read where they lie, by lanes along the slice.
//
// A thread an element (gpu_points.cu) divides to find its point, places it and looks for its neighbours, for each element anew. Here -DLANES neighbouring lanes have a point: each
// places it once, has the addresses of two or four neighbours, and walks along the slice by vectors of -DV elements, LANES apart. Long slices are cut in pieces.
//
// -DPARTS=2: halves of complex elements.
#include "ops/lookup/gpu_place.cuh"

enum { THREADS = 128 };

union vector_in {
    bits_of<V * sizeof(from_type)>::type all;
    from_type part[V];
};
union vector_out {
    bits_of<V * sizeof(to_type)>::type all;
    to_type part[V];
};

struct slices {
    i64 n, step, jobs;          // entries, bytes between them, pieces in all
    i64 count, pieces, piece;   // points; pieces of a slice, vectors of each
    i64 per;                    // vectors of a slice
    i64 table_line, out_line;   // bytes between lines
    i64 index_step, out_step;   // bytes between coordinates, slices of out
};

__device__ __forceinline__ to_type element_of(const vector_in (&row)[NEIGHBOURS], int j, real t) {
    real y[NEIGHBOURS];
#pragma unroll
    for (int r = 0; r < NEIGHBOURS; r++)
        y[r] = load_as<real, FROM>(row[r].part[j]);
    return result_between(y, t);
}

extern "C" __global__ void __launch_bounds__(THREADS, 8)
    point_slices(const char *table, const char *index, char *out, u64 *bad, const slices p, const uint4 fill) {
    const i64 job = blockIdx.x * (i64)(THREADS / LANES) + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    if (job >= p.jobs)
        return;
    const i64 row = p.pieces == 1 ? job : job / p.pieces, begin = p.pieces == 1 ? 0 : (job - row * p.pieces) * p.piece;
    const i64 line = LINES ? (NARROW ? (i64)((unsigned)row / (unsigned)p.count) : row / p.count) : 0, position = row - line * p.count;
    const int last = (int)min(p.piece, p.per - begin) - 1; // vector of the piece
    const index_type v = *(const index_type *)(index + position * p.index_step);
    point x;
    const bool inside = find_point(v, (spot_number)p.n, x);
    bool number = true;
    if (!inside && OUTSIDE == WRAP)
        number = wrapped_point(load_as<double, INDEX>(v), p.n, x);
    if (!inside && OUTSIDE == ERROR && lane == 0)
        note(bad, position);
    table += line * p.table_line + begin * (i64)sizeof(vector_in);
    const char *from[NEIGHBOURS];
#pragma unroll
    for (int r = 0; r < NEIGHBOURS; r++)
        from[r] = entry_at(table, (entry)(NEIGHBOURS == 1 ? x.at : neighbour(x.at, METHOD == CUBIC ? r - 1 : r, (spot_number)p.n)), p.step);
    out += line * p.out_line + position * p.out_step + begin * (i64)sizeof(vector_out);
#pragma unroll 2
    for (int turn = 0; turn <= last; turn += LANES) { // behind the end the last one again, so that lanes take turns together
        const unsigned k = (unsigned)min(turn + lane, last);
        vector_in y[NEIGHBOURS];
        vector_out z;
#pragma unroll
        for (int r = 0; r < NEIGHBOURS; r++)
            y[r].all = __ldg((const bits_of<V * sizeof(from_type)>::type *)(from[r]) + k);
#pragma unroll
        for (int j = 0; j < V; j++) {
            z.part[j] = element_of(y, j, x.t);
            if (OUTSIDE == FILL && !inside)
                z.part[j] = fill_of(fill, PARTS == 2 && (k * V + j) % 2 != 0);
            if (OUTSIDE == WRAP && !number)
                z.part[j] = no_number();
        }
        *((bits_of<V * sizeof(to_type)>::type *)out + k) = z.all;
    }
}
