// SPDX-License-Identifier: Apache-2.0
// gpu_beside.cuh - several lines of a table by the same indices: a thread places its indices once and looks all of a block's lines up with them.
//
// Lines of out that are no whole number of vectors (-DSKEW=1) begin anywhere in one, so the vectors of a thread's results lie between two of memory. Results of single elements would be
// a store each; here each lane gives the end of its vector to the next one of its warp and stores a vector that memory has. The first lane looks up what the warp before it ends
// with and stores nothing, so a warp advances by 31 vectors. What is no whole vector, at both ends of a line, is looked up once more, one by one.
#include "ops/lookup/gpu_lines.cuh"

enum { WORDS = V * SIZE < 4 ? 1 : V * SIZE / 4 };
static_assert(!SKEW || V * SIZE >= 4, "vectors of whole words");

// A vector, put off by so many bytes of whole elements.
__device__ __forceinline__ void put_off(unsigned (&word)[WORDS], unsigned bytes) {
    const unsigned words = bytes / 4, lane = threadIdx.x % 32;
    unsigned one[WORDS], two[WORDS];
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        one[i] = words & 1 ? word[(i + WORDS - 1) % WORDS] : word[i];
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        two[i] = WORDS == 4 && words & 2 ? one[(i + 2) % WORDS] : one[i];
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        word[i] = i == WORDS - 1 ? two[i] : __shfl_sync(0xffffffffu, two[i], lane - (i < words)); // lane 0 stores nothing
    if (SIZE < 4) {
        const unsigned before = __shfl_up_sync(0xffffffffu, word[WORDS - 1], 1);
#pragma unroll
        for (int i = WORDS - 1; i >= 0; i--)
            word[i] = __funnelshift_l(i > 0 ? word[i > 0 ? i - 1 : 0] : before, word[i], bytes * 8);
    }
}

// What no whole vector of memory takes, and indices outside, one by one: the results of the thread's vectors, as they lie in the line.
template <typename JOB>
__device__ void each_alone(const vectors_of_thread &mine, const stored<INDEX>::type *index, element *out, unsigned stored_whole, const JOB &job) {
    for (int g = 0; g < GROUPS; g++) {
        const i64 first = mine.place(g), to = first - (SKEW ? (i64)((u64)(out + first) / SIZE % V) : 0);
        const bool stored_it = stored_whole >> g & 1;
        for (i64 i = to < 0 ? 0 : to; i < to + V && i < mine.count; i++) {
            typename JOB::spot s;
            const bool inside = job.find(index[i], s);
            if (!stored_it)
                out[i] = job.make(s, job.read(s), inside);
            if (!inside)
                job.late(index[i], i, out[i]);
        }
    }
}

// JOB as in gpu_lines.cuh, and next(): to the next line of the table. All threads of a warp come here.
template <typename JOB>
__device__ __forceinline__ void each_line(const vectors_of_thread &mine, const stored<INDEX>::type *index, element *out, i64 out_line, int lines, JOB job) {
    typedef bits_of<V * SIZE>::type vector;
    typename JOB::spot spot[GROUPS][V];
    unsigned outside[GROUPS], whole = 0; // a bit an index; a bit a vector that is stored whole wherever a line begins
    bool alone = false, bad = false; // not by bits: see notes-gpu.md, "Two of two outside"
    char *to = (char *)(out + mine.place(0));
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        outside[g] = 0;
#pragma unroll
        for (int j = 0; j < V; j++) {
            const bool inside = job.find(mine.v[g].part[j], spot[g][j]);
            outside[g] |= inside ? 0 : 1u << j;
            bad = bad || !inside;
        }
        if (mine.whole(g) && (!SKEW || mine.place(g) >= V))
            whole |= 1u << g;
        else
            alone = alone || mine.place(g) - (SKEW ? V : 0) < mine.count;
    }
    if (OUTSIDE == ERROR || OUTSIDE == WRAP) { // a lane stores what the one before it placed
        const bool again = SKEW ? __any_sync(0xffffffffu, bad) : bad;
        alone = alone || again;
    }
    if (SKEW && threadIdx.x % 32 == 0)
        alone = whole = 0;
#pragma unroll 1
    for (int line = 0; line < lines; line++) {
        typename JOB::entry_type at[GROUPS][V];
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
#pragma unroll
            for (int j = 0; j < V; j++)
                at[g][j] = job.read(spot[g][j]);
#pragma unroll
        for (int g = 0; g < GROUPS; g++) {
            union {
                results r;
                unsigned word[WORDS];
            };
            char *here = to + g * (APART * SIZE);
#pragma unroll
            for (int j = 0; j < V; j++)
                r.part[j] = job.make(spot[g][j], at[g][j], (outside[g] >> j & 1) == 0);
            if (SKEW) {
                const unsigned bytes = (unsigned)(u64)here % (V * SIZE);
                put_off(word, bytes);
                here -= bytes;
            }
            if (whole >> g & 1)
                put((vector *)here, r.all);
        }
        if (alone)
            each_alone(mine, index, out, whole, job);
        if (SKEW)
            __syncwarp();
        to += out_line * SIZE;
        out += out_line;
        job.next();
    }
}
