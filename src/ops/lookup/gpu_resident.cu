// SPDX-License-Identifier: Apache-2.0
// gpu_resident.cu - production, tables beyond the first-level cache: as much of the table as fits lies in shared memory, and its blocks stay.
//
// A table of 65536 elements of 4 bytes is a little more than the cache holds beside the streams, so that most lookups waited for L2. Shared memory holds
// 227 KiB that nothing displaces; what is left of the table is read through the cache. One block a multiprocessor fills its copy once and walks the
// indices by the size of the grid, so that what is written at one time is one stretch of `out`. Indices go past the cache, whose little room
// is for the rest of the table.
//
//     -DV lookups a vector    -DSIZE bytes of an element    -DGROUPS vectors a thread and turn    -DTHREADS a block
#include "ops/lookup/gpu_index.cuh"

typedef bits_of<SIZE>::type element;
enum { APART = THREADS * V, TURN = GROUPS * APART };

struct resident {
    i64 n, count, held; // entries, indices, entries in shared memory: whole vectors of 16 bytes
};

union indices {
    words<V * sizeof(index_type)> all;
    index_type part[V];
};
union results {
    bits_of<V * SIZE>::type all;
    element part[V];
};

struct table {
    const element *shared, *global;
    int held;
    __device__ __forceinline__ element operator[](entry at) const { return at < held ? shared[at] : __ldg(global + at); }
};

__device__ __forceinline__ void ask(indices (&v)[GROUPS], const index_type *index, i64 first, i64 count) {
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
        if (first + g * APART + V <= count)
            load_past(v[g].all, index + first + g * APART);
}

// One lookup, with all that an index outside may need.
__device__ __forceinline__ element single(const table &t, index_type v, i64 position, const resident &p, element fill, u64 *bad) {
    entry at;
    bool inside = entry_of(v, p.n, at);
    if (!inside && OUTSIDE == ERROR)
        note(bad, position);
    return OUTSIDE == FILL ? chosen(inside, t[at], fill) : t[at];
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    resident(const element *from, const index_type *index, element *out, u64 *bad, const struct resident p, const uint4 outside) {
    extern __shared__ uint4 room[];
    const table t = {(const element *)room, from, (int)p.held};
    element fill;
    cut(outside, fill);
    i64 first = blockIdx.x * (i64)TURN + threadIdx.x * V;
    indices now[GROUPS];
    ask(now, index, first, p.count);
#pragma unroll 8
    for (int i = threadIdx.x; i < t.held / (16 / SIZE); i += THREADS)
        room[i] = __ldg((const uint4 *)from + i);
    __syncthreads();
    for (; first < p.count; first += gridDim.x * (i64)TURN) {
#pragma unroll
        for (int g = 0; g < GROUPS; g++) {
            i64 here = first + g * APART;
            if (here + V > p.count)
                continue;
            entry at[V];
            bool inside[V], all = true;
            results r;
#pragma unroll
            for (int j = 0; j < V; j++) {
                inside[j] = find_entry(now[g].part[j], p.n, at[j]);
                all = all && inside[j];
            }
#pragma unroll
            for (int j = 0; j < V; j++)
                r.part[j] = OUTSIDE == FILL ? chosen(inside[j], t[at[j]], fill) : t[at[j]];
            if ((OUTSIDE == ERROR || OUTSIDE == WRAP) && !all)
#pragma unroll
                for (int j = 0; j < V; j++)
                    r.part[j] = single(t, now[g].part[j], here + j, p, fill, bad);
            *(bits_of<V * SIZE>::type *)(out + here) = r.all;
        }
        ask(now, index, first + gridDim.x * (i64)TURN, p.count);
    }
    i64 i = p.count - p.count % V + threadIdx.x;
    if (blockIdx.x == 0 && i < p.count) // behind the last whole vector
        out[i] = single(t, index[i], i, p, fill, bad);
}
