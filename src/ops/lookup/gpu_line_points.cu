// SPDX-License-Identifier: Apache-2.0
// gpu_line_points.cu - production, many lines by the same coordinates, as images and sound resampled along their rows: each line in shared memory, as it lies, while it is looked up.
//
// Prepared records (gpu_prepared.cu) are 8 to 16 bytes written and read again for each entry, which only many points to an entry pay for; neighbours read where they lie (gpu_points.cu) are a
// division, an address and several requests for every element. Here a block brings its lines in order, places a point once for all of them and all elements of a slice, and what is out of
// order happens in shared memory.
//
// -DEACH elements of a slice, of -DSIZE bytes in out, -DPARTS=2: halves of complex elements. -DV points side by side a thread, whose results it stores by vectors of -DSTORE bytes; -DTHREADS.
#include "ops/lookup/gpu_place.cuh"
#include "ops/lookup/gpu_bring.cuh"

enum { BYTES = V * EACH * SIZE };

union results {
    bits_of<STORE>::type whole[BYTES / STORE];
    to_type part[V * EACH];
};

struct point_lines {
    i64 n, count;             // entries of a line, points
    i64 lines, served;        // all, and those of a block
    i64 table_line, out_line; // elements of the table, bytes of out between lines
};

// A point's neighbours as places in a line, and whether they stand for it.
struct placed {
    int row[NEIGHBOURS];
    real t;
    bool inside, number;
};

// As `neighbour`, which branches: a minimum and a maximum.
__device__ __forceinline__ int near_to(int at, int by, int n) { return OUTSIDE == WRAP ? neighbour(at, by, n) : min(max(at + by, 0), n - 1); }

__device__ __forceinline__ to_type element_of(const from_type *line, const placed &x, int c) {
    real y[NEIGHBOURS];
#pragma unroll
    for (int r = 0; r < NEIGHBOURS; r++)
        y[r] = load_as<real, FROM>(line[x.row[r] + c]);
    return result_between(y, x.t);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1024 / THREADS)
    line_points(const from_type *table, const index_type *index, char *out, u64 *bad, const point_lines p, const uint4 fill) {
    extern __shared__ uint4 room[];
    const i64 first = blockIdx.x * p.served;
    const int held = (int)min(p.served, p.lines - first), n = (int)p.n;
    const from_type *laid = bring<THREADS>(room, table + first * p.table_line, n * EACH + (held - 1) * (int)p.table_line);
    out += first * p.out_line;
    for (i64 base = (i64)threadIdx.x * V; base < p.count; base += THREADS * V) {
        placed x[V];
#pragma unroll
        for (int j = 0; j < V; j++) {
            const i64 position = min(base + j, p.count - 1);
            const index_type v = index[position];
            point at;
            x[j].number = true;
            x[j].inside = find_point(v, (spot_number)n, at);
            if (!x[j].inside && OUTSIDE == WRAP)
                x[j].number = wrapped_point(load_as<double, INDEX>(v), n, at);
            if (!x[j].inside && OUTSIDE == ERROR && first == 0)
                note(bad, position);
            x[j].t = at.t;
#pragma unroll
            for (int r = 0; r < NEIGHBOURS; r++)
                x[j].row[r] = near_to((int)at.at, METHOD == CUBIC ? r - 1 : r, n) * EACH;
        }
        const from_type *line = laid;
        char *to = out + base * (EACH * SIZE);
        for (int k = 0; k < held; k++, line += p.table_line, to += p.out_line) {
            results made;
#pragma unroll
            for (int j = 0; j < V; j++)
#pragma unroll
                for (int c = 0; c < EACH; c++) {
                    to_type e = element_of(line, x[j], c);
                    if (OUTSIDE == FILL && !x[j].inside)
                        e = fill_of(fill, PARTS == 2 && c % 2);
                    if (OUTSIDE == WRAP && !x[j].number)
                        e = no_number();
                    made.part[j * EACH + c] = e;
                }
            if (base + V <= p.count) {
#pragma unroll
                for (int i = 0; i < BYTES / STORE; i++)
                    *(bits_of<STORE>::type *)(to + i * STORE) = made.whole[i];
            } else {
#pragma unroll
                for (int i = 0; i < V * EACH; i++)
                    if (base + i / EACH < p.count)
                        *(to_type *)(to + i * SIZE) = made.part[i];
            }
        }
    }
}
