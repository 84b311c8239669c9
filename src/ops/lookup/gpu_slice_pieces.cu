// SPDX-License-Identifier: Apache-2.0
// gpu_slice_pieces.cu - slices that whole vectors do not fit: the vectors that hold them come to shared memory, and whole vectors of `out` are put together there.
//
// A word or a byte a lane asks as often as it has words, and waits for its index, then for its word. Here a block's indices are read once; then all vectors of 16 bytes in which its
// slices lie are on their way at once, by asynchronous copies, which need no registers; and `out`, where the slices follow each other, is written in order.
//
// A table that is looked up in so often that its few lines of L2 would answer all multiprocessors comes through the first-level cache: -DCACHED=1.
// Slices of several tables by the same indices are numbered through: -DLINES=1, as `out` has them.
//
// -DSLICE bytes, at least 4, in elements of -DSIZE=1|2|4|8; -DEACH slices a block, a multiple of 16; -DTHREADS.
#include "ops/lookup/gpu_index.cuh"

typedef bits_of<SIZE>::type element;
enum {
    VECTORS = (SLICE + 16 - SIZE + 15) / 16, // that a slice touches at most
    LINE = VECTORS * 16
};

struct slice_pieces {
    i64 n, step, count; // entries, bytes between them, indices
    i64 low, high;      // what all entries take, from the first one's first byte on
    i64 line, all;      // bytes between tables, slices of all of them
};

// Sixteen bytes of the slices from byte b on, which lie in slice s and in the next one at most.
#if SLICE >= 16
__device__ __forceinline__ unsigned word_of(const char *room, int at) { return *(const unsigned *)(room + at); }
__device__ __forceinline__ uint4 vector_at(const char *room, const int *start, int b) {
    const int s = b / SLICE, k = b - s * SLICE, left = SLICE - k, here = start[s] + k, next = left < 16 ? start[s + 1] - left : 0;
    unsigned x[4];
#if SIZE >= 4
#pragma unroll
    for (int j = 0; j < 4; j++)
        x[j] = word_of(room, (j * 4 < left ? here : next) + j * 4);
#else
    unsigned word[5];
    const int last = (here + left - 1) & ~3; // word of the slice
#pragma unroll
    for (int j = 0; j < 5; j++)
        word[j] = word_of(room, min((here & ~3) + j * 4, last));
#pragma unroll
    for (int j = 0; j < 4; j++)
        x[j] = __funnelshift_r(word[j], word[j + 1], here * 8);
    if (left < 16) {
        const int first = (next + left) & ~3, end = (next + 15) & ~3;
#pragma unroll
        for (int j = 0; j < 5; j++)
            word[j] = word_of(room, min(max((next & ~3) + j * 4, first), end));
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int mine = left - j * 4; // bytes of the first slice
            const unsigned mask = mine >= 4 ? 0xffffffffu : mine <= 0 ? 0 : 0xffffffffu >> (32 - mine * 8);
            x[j] = (x[j] & mask) | (__funnelshift_r(word[j], word[j + 1], next * 8) & ~mask);
        }
    }
#endif
    return make_uint4(x[0], x[1], x[2], x[3]);
}
#else
// Four bytes of the slices as they follow each other, from byte b on; slice s begins at byte start[s] of the room.
__device__ __forceinline__ unsigned word_at(const char *room, const int *start, int b) {
    const int s = b / SLICE, k = b % SLICE;
#if SIZE >= 4
    return *(const unsigned *)(room + start[s] + k);
#else
    const int at = start[s] + k;
    const unsigned *two = (const unsigned *)(room + (at & ~3));
    unsigned word = __funnelshift_r(two[0], two[(at & 3) > 0], (at & 3) * 8);
    if (k + 4 > SLICE) {
        const int next = start[s + 1] + k - SLICE;
        const unsigned mine = 0xffffffffu >> (k + 4 - SLICE) * 8;
        two = (const unsigned *)(room + (next & ~3));
        word = (word & mine) | (__funnelshift_r(two[0], two[(next & 3) > 0], (next & 3) * 8) & ~mine);
    }
    return word;
#endif
}
__device__ __forceinline__ uint4 vector_at(const char *room, const int *start, int b) {
    return make_uint4(word_at(room, start, b), word_at(room, start, b + 4), word_at(room, start, b + 8), word_at(room, start, b + 12));
}
#endif

__device__ __forceinline__ void copy_vector(unsigned to, const char *from) {
#if CACHED
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
#else
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS)
    slice_pieces(const char *table, const index_type *index, char *out, u64 *bad, const struct slice_pieces p, const uint4 fill) {
    __shared__ uint4 held[EACH * VECTORS];
    __shared__ const char *from[EACH];
    __shared__ int start[EACH];
    char *room = (char *)held;
    const i64 first = blockIdx.x * (i64)EACH;
    const int slices = (int)(p.all - first < EACH ? p.all - first : EACH);
    i64 line = LINES ? first / p.count : 0, begin = first - line * p.count;
    for (int s = threadIdx.x; s < slices; s += THREADS) {
        entry at;
        i64 position = begin + s, over = 0;
        if (LINES && position >= p.count) { // a table of more than EACH indices ends once in a block
            over = p.count > EACH ? 1 : (int)position / (int)p.count;
            position -= over * p.count;
        }
        const bool inside = entry_of(__ldg(index + position), p.n, at);
        if (!inside && OUTSIDE == ERROR)
            note(bad, position);
        const char *there = entry_at(table + (LINES ? (line + over) * p.line : 0), at, p.step);
        from[s] = inside || OUTSIDE != FILL ? there : NULL;
        start[s] = s * LINE + (inside || OUTSIDE != FILL ? (int)((u64)there & 15) : 0);
    }
    __syncthreads();
#pragma unroll 4
    for (int turn = 0; turn < EACH * VECTORS; turn += THREADS) { // lanes stay together
        const int i = turn + (int)threadIdx.x, s = i / VECTORS, v = i % VECTORS;
        if (i >= slices * VECTORS)
            continue;
        const char *slice = from[s], *vector = slice - ((u64)slice & 15) + v * 16;
        if (OUTSIDE == FILL && slice == NULL)
            held[i] = fill;
        else if (vector >= slice + SLICE)
            held[i] = make_uint4(0, 0, 0, 0); // words reach into it
        else if (vector >= table + p.low && vector + 16 <= table + p.high)
            copy_vector((unsigned)__cvta_generic_to_shared(held + i), vector);
        else
            for (int b = 0; b < 16; b += SIZE)
                *(element *)(room + i * 16 + b) = vector + b >= slice && vector + b < slice + SLICE ? *(const element *)(vector + b) : element();
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    out += first * SLICE;
    const int bytes = slices * SLICE;
    for (int b = threadIdx.x * 16; b < bytes; b += THREADS * 16)
        if (b + 16 <= bytes)
            __stcs((uint4 *)(out + b), vector_at(room, start, b));
        else
            for (int k = b; k < bytes; k += SIZE)
                *(element *)(out + k) = *(const element *)(room + start[k / SLICE] + k % SLICE);
}
