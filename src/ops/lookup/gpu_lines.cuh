// SPDX-License-Identifier: Apache-2.0
// gpu_lines.cuh - compact lines of indices, V at a time: one vector is loaded, V results are made, one vector is stored.
//
// The grid is plain, GROUPS vectors a thread: on an H200 blocks that stay and loop reach 92 % of a copy where these reach all of it, for their writes
// are strewn over more of the destination. Nothing branches before all loads of a thread are on their way: indices first, then entries, where an index that
// lies outside reads entry 0; only then is it seen whether there was one. A line of indices serves every line of the table (-DLINES=1), and a block works in
// one line. The thread behind the last whole vector takes the rest of its line.
//
//     -DV=1|2|4|8|16 lookups a vector    -DSIZE bytes of a result    -DGROUPS vectors a thread    THREADS a block
#include "ops/lookup/gpu_index.cuh"

typedef bits_of<SIZE>::type element;

// Indices are read once: -DSTREAM=1 leaves the first-level cache to the table.
template <int N> __device__ __forceinline__ void load_index(words<N> &v, const void *at) { load_now(v, at); }
#if STREAM
template <> __device__ __forceinline__ void load_index<16>(words<16> &v, const void *at) {
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
                 : "l"(at));
}
template <> __device__ __forceinline__ void load_index<8>(words<8> &v, const void *at) {
    asm volatile("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(v.word[0]), "=r"(v.word[1]) : "l"(at));
}
template <> __device__ __forceinline__ void load_index<4>(words<4> &v, const void *at) {
    asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(v.word[0]) : "l"(at));
}
#endif

struct lines {
    i64 n, step, count, blocks;        // entries of the table, bytes between them, indices, blocks a line
    i64 table_line, out_line, outside; // elements between lines; the policy
};

union indices {
    words<V * sizeof(stored<INDEX>::type)> all;
    stored<INDEX>::type part[V];
};
union results {
    bits_of<V * SIZE>::type all;
    element part[V];
};

// A block's indices, on their way.
struct vectors_of_thread {
    indices v[GROUPS];
    i64 first, count;
    __device__ __forceinline__ i64 place(int g) const { return first + (i64)g * (THREADS * V); }
    __device__ __forceinline__ bool whole(int g) const { return place(g) + V <= count; }
    __device__ __forceinline__ vectors_of_thread(const stored<INDEX>::type *index, i64 chunk, i64 line) {
        count = line;
        first = (chunk * (GROUPS * THREADS) + threadIdx.x) * V;
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
            if (whole(g)) {
                load_index(v[g].all, index + place(g));
            } else {
#pragma unroll
                for (int j = 0; j < V; j++)
                    v[g].part[j] = 0;
            }
    }
};

// JOB is what the kernel does with an index:
//     bool find(index, spot &)           where it points; false: outside, and the spot is one that may be read
//     entry read(spot)                   what stands there
//     element make(spot, entry, bool)    the result, of an index inside or not
//     bool late(index, number, element &)    for one outside: the result needs this after all
template <typename JOB> __device__ __forceinline__ void each_vector(const vectors_of_thread &mine, const stored<INDEX>::type *index, element *out, const JOB &job) {
    typename JOB::spot spot[GROUPS][V];
    typename JOB::entry_type at[GROUPS][V];
    unsigned bad[GROUPS];
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        bad[g] = 0;
#pragma unroll
        for (int j = 0; j < V; j++)
            bad[g] |= job.find(mine.v[g].part[j], spot[g][j]) ? 0 : 1u << j;
    }
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
#pragma unroll
        for (int j = 0; j < V; j++)
            at[g][j] = job.read(spot[g][j]);
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        results r;
#pragma unroll
        for (int j = 0; j < V; j++)
            r.part[j] = job.make(spot[g][j], at[g][j], !(bad[g] >> j & 1));
        if (mine.whole(g))
            *(bits_of<V * SIZE>::type *)(out + mine.place(g)) = r.all;
    }
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        if (bad[g] && mine.whole(g))
            for (int j = 0; j < V; j++)
                if (bad[g] >> j & 1)
                    job.late(index[mine.place(g) + j], mine.place(g) + j, out[mine.place(g) + j]);
        if (!mine.whole(g))
            for (i64 i = mine.place(g); i < mine.count; i++) {
                typename JOB::spot s;
                bool inside = job.find(index[i], s);
                out[i] = job.make(s, job.read(s), inside);
                if (!inside)
                    job.late(index[i], i, out[i]);
            }
    }
}
