// SPDX-License-Identifier: Apache-2.0
// gpu_lines.cuh - compact lines of indices, V at a time: one vector is loaded, V results are made, one vector is stored.
//
// The grid is plain, GROUPS vectors a thread: on an H200 blocks that stay and loop reach 92 % of a copy where these reach all of it, for their writes
// are strewn over more of the destination. Nothing branches before all loads of a thread are on their way: indices first, then entries, where an index that
// lies outside reads entry 0; only then is it seen whether there was one. The thread behind the last whole vector takes the rest of its line. Where a line of
// indices serves several of the table (-DLINES=1), gpu_beside.cuh says what a block does with its own.
//
// -DPAST=1: indices pass the first-level cache, and results leave the second-level one first. Where four of five bytes are results, that is 1 % (H200).
//
//     -DV=1|2|4|8|16 lookups a vector    -DSIZE bytes of a result    -DGROUPS vectors a thread    -DTHREADS a block    -DBLOCKS a multiprocessor, at least
#include "ops/lookup/gpu_index.cuh"

#ifndef PAST
#define PAST 0
#endif
#ifndef SKEW
#define SKEW 0
#endif

typedef bits_of<SIZE>::type element;

struct lines {
    i64 n, step, count, blocks; // entries of the table, bytes between them, indices, blocks a line
    i64 table_line, out_line;   // elements between lines
    i64 served, all;            // lines of a block, lines
};

enum {
    PIECE = V * sizeof(stored<INDEX>::type) < 16 ? V * sizeof(stored<INDEX>::type) : 16,
    PER_WARP = 32 - SKEW, // vectors; see gpu_beside.cuh
    APART = THREADS / 32 * PER_WARP * V
};
union indices {
    words<PIECE> piece[V * sizeof(stored<INDEX>::type) / PIECE];
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
    __device__ __forceinline__ i64 place(int g) const { return first + (i64)g * APART; }
    __device__ __forceinline__ bool whole(int g) const { return (!SKEW || place(g) >= 0) && place(g) + V <= count; }
    __device__ __forceinline__ vectors_of_thread(const stored<INDEX>::type *index, i64 chunk, i64 line) {
        count = line;
        first = chunk * (GROUPS * APART) + ((int)threadIdx.x - SKEW * ((int)threadIdx.x / 32 + 1)) * V;
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
            if (whole(g)) {
#pragma unroll
                for (int k = 0; k * PIECE < sizeof v[g].part; k++)
                    if (PAST)
                        load_past(v[g].piece[k], (const char *)(index + place(g)) + k * PIECE);
                    else
                        load_now(v[g].piece[k], (const char *)(index + place(g)) + k * PIECE);
            } else {
#pragma unroll
                for (int j = 0; j < V; j++)
                    v[g].part[j] = 0;
            }
    }
};

// A vector of results, said as one instruction: of lines the compiler took vectors of 16 bytes apart again, four stores for each.
template <typename T> __device__ __forceinline__ void put(T *to, T x) { *to = x; }
__device__ __forceinline__ void put(uint2 *to, uint2 x) { asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(to), "r"(x.x), "r"(x.y) : "memory"); }
__device__ __forceinline__ void put(uint4 *to, uint4 x) {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w) : "memory");
}

// JOB is what the kernel does with an index:
//     bool find(index, spot &)           where it points; false: outside, and the spot is one that may be read
//     entry read(spot)                   what stands there
//     element make(spot, entry, bool)    the result, of an index inside or not
//     void late(index, number, element &)    what one outside needs after all
template <typename JOB>
__device__ __forceinline__ void each_vector(const vectors_of_thread &mine, const stored<INDEX>::type *index, element *out, const JOB &job) {
    bool bad = false;
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        typename JOB::spot spot[V];
        typename JOB::entry_type at[V];
        bool inside[V];
        results r;
#pragma unroll
        for (int j = 0; j < V; j++) {
            inside[j] = job.find(mine.v[g].part[j], spot[j]);
            bad = bad || !inside[j];
        }
#pragma unroll
        for (int j = 0; j < V; j++)
            at[j] = job.read(spot[j]);
#pragma unroll
        for (int j = 0; j < V; j++)
            r.part[j] = job.make(spot[j], at[j], inside[j]);
        if (PAST && mine.whole(g))
            __stcs((bits_of<V * SIZE>::type *)(out + mine.place(g)), r.all);
        else if (mine.whole(g))
            put((bits_of<V * SIZE>::type *)(out + mine.place(g)), r.all);
    }
    bool again = OUTSIDE != CLIP && OUTSIDE != FILL && bad;
    if (!again && mine.whole(GROUPS - 1))
        return;
    for (int g = 0; g < GROUPS; g++)
        if (again || !mine.whole(g))
            for (i64 i = mine.place(g); i < mine.place(g) + V && i < mine.count; i++) {
                typename JOB::spot s;
                bool inside = job.find(index[i], s);
                if (!mine.whole(g))
                    out[i] = job.make(s, job.read(s), inside);
                if (!inside)
                    job.late(index[i], i, out[i]);
            }
}
