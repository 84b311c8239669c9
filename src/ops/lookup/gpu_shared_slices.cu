// SPDX-License-Identifier: Apache-2.0
// gpu_shared_slices.cu - slices of an odd number of bytes by bytes: colour maps. The answers to all 256 indices, policy applied, in shared memory.
//
// A thread a byte or an element of a slice finds its index and its place anew for each, some thirty instructions for three bytes. Here a lookup is one load from shared
// memory: V of them, an odd number of vectors of 16 bytes, are put together in registers, word by word from constant places, and laid down beside those of the
// other lanes of the warp, which then writes them in order. Lanes lie an odd number of vectors apart: no bank conflicts.
//
// Wider indices, as labels have (-DHELD=0), find their answers in global memory, where `prepare` has laid each entry's slice at a multiple of 4, 8 or 16 bytes: one load too.
//
// -DSLICE bytes of a slice, in elements of -DSIZE; -DCHECK=1: bad indices are to be told, and there can be some; -DV, -DGROUPS, -DTHREADS as in gpu_lines.cuh.
#include "ops/lookup/gpu_lines.cuh"

enum {
    VECTORS = V * SLICE / 16,                      // of a thread's group
    WORDS = SLICE <= 4 ? 1 : SLICE <= 8 ? 2 : 4,    // of an answer, zeros behind the slice
    PARTS = SLICE / SIZE
};
static_assert(V * SLICE % 32 == 16, "an odd number of whole vectors");

struct slices {
    i64 n, step, count; // entries, bytes between them, indices
};

union answer {
    bits_of<4 * WORDS>::type all;
    unsigned word[WORDS];
};

__device__ __forceinline__ answer answer_at(const element *from) {
    answer x = {};
#pragma unroll
    for (int c = 0; c < PARTS; c++)
        x.word[c * SIZE / 4] |= (unsigned)from[c] << c * SIZE % 4 * 8;
    return x;
}
__device__ __forceinline__ answer fill_of(const uint4 &fill) {
    const unsigned word[] = {fill.x, fill.y, fill.z, fill.w};
    answer x = {};
#pragma unroll
    for (int k = 0; k * 4 < SLICE; k++)
        x.word[k] = word[k] & 0xffffffffu >> (k * 4 + 4 > SLICE ? k * 4 + 4 - SLICE : 0) * 8;
    return x;
}

extern "C" __global__ void __launch_bounds__(256) prepare(const element *table, answer *answers, const slices p) {
    const i64 at = blockIdx.x * 256ll + threadIdx.x;
    if (at < p.n)
        answers[at].all = answer_at(entry_at(table, (entry)at, p.step)).all;
}

// As many blocks as registers are there for without spills.
extern "C" __global__ void __launch_bounds__(THREADS, SLICE % 2 == 0 ? 0 : SLICE == 3 ? 6 : 4)
    shared_slices(const element *table, const index_type *index, uint4 *out, u64 *bad, const slices p, const uint4 fill) {
    __shared__ answer held[HELD ? 256 : 1];
    const answer *answers = HELD ? held : (const answer *)table;
    __shared__ uint4 laid[THREADS * VECTORS];
    const vectors_of_thread mine(index, blockIdx.x, p.count);
    if (HELD) {
        for (int i = threadIdx.x; i < 256; i += THREADS) {
            entry at;
            answer x;
            if (entry_of((index_type)i, p.n, at))
                x = answer_at(entry_at(table, at, p.step));
            else
                x = fill_of(fill);
            held[i].all = x.all;
        }
        __syncthreads();
    }
    const int lane = threadIdx.x % 32;
    uint4 *warp = laid + threadIdx.x / 32 * 32 * VECTORS;
    bool wrong = false;
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        answer x[V];
#pragma unroll
        for (int j = 0; j < V; j++) {
            const index_type v = mine.v[g].part[j];
            entry at = (unsigned char)v;
            const bool inside = HELD ? !CHECK || (unsigned)v < (unsigned)p.n : find_entry(v, p.n, at);
            wrong = wrong || !inside;
            if (HELD)
                x[j].all = answers[at].all;
            else
                x[j].all = __ldg(&answers[at].all);
            if (!HELD && OUTSIDE == FILL && !inside)
                x[j] = fill_of(fill);
        }
        unsigned word[VECTORS * 4];
#pragma unroll
        for (int w = 0; w < VECTORS * 4; w++) { // from byte o of slice i on; the next slice begins in it or behind it
            const int i = w * 4 / SLICE, o = w * 4 % SLICE;
            word[w] = __funnelshift_r(x[i].word[o / 4], o / 4 + 1 < WORDS ? x[i].word[(o / 4 + 1) % WORDS] : 0, o * 8);
            if (o + 4 > SLICE)
                word[w] |= x[(i + 1) % V].word[0] << (SLICE - o) * 8;
        }
        if (mine.whole(g))
#pragma unroll
            for (int k = 0; k < VECTORS; k++)
                warp[lane * VECTORS + k] = make_uint4(word[4 * k], word[4 * k + 1], word[4 * k + 2], word[4 * k + 3]);
        __syncwarp();
        const i64 first = mine.place(g) - lane * V, whole = first < p.count ? (p.count - first) / V : 0;
        uint4 *to = out + first / V * VECTORS;
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            if (k * 32 + lane < whole * VECTORS)
                to[k * 32 + lane] = warp[k * 32 + lane];
        __syncwarp();
    }
    if ((!wrong || OUTSIDE == FILL) && mine.whole(GROUPS - 1))
        return;
    for (int g = 0; g < GROUPS; g++)
        if (wrong || !mine.whole(g))
            for (i64 i = mine.place(g); i < mine.place(g) + V && i < p.count; i++) {
                const index_type v = index[i];
                entry at = (unsigned char)v;
                bool inside = HELD ? !CHECK || (unsigned)v < (unsigned)p.n : find_entry(v, p.n, at);
                const bool again = !inside && OUTSIDE == WRAP && !HELD;
                if (again)
                    inside = entry_of(v, p.n, at);
                if (!mine.whole(g) || again) {
                    const answer x = inside || HELD || OUTSIDE != FILL ? answers[at] : fill_of(fill);
                    for (int c = 0; c < PARTS; c++)
                        ((element *)out)[i * PARTS + c] = ((const element *)&x)[c];
                }
                if (!inside && OUTSIDE == ERROR)
                    note(bad, i);
            }
}
