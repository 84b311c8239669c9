// SPDX-License-Identifier: Apache-2.0
// gpu_run_pieces.cu - runs of bytes and 16-bit elements that begin anywhere: the vectors that hold them in shared memory, from where whole vectors of `out` are put together.
//
// Cut from words in global memory, each word of `out` costs the place of its run, one or two words to wait for and, at the ends of runs, two more: some seventy instructions. Here a
// block has EACH runs that follow each other in `out`. All vectors of 16 bytes in which they lie are on their way at once, by asynchronous copies, each run to a line of its own; then a
// word is two words of shared memory, whose place divisions by constants give.
//
// -DRUN bytes, at least 4; -DEACH runs a block; -DTHREADS; -DSIZE=1|2 and -DBATCH as in gpu_plane.cuh, where p and q count runs.
#include "ops/transpose/gpu_plane.cuh"

struct run_pieces {
    plane m;
    i64 p_in;      // bytes
    i64 low, high; // what all runs take of `in`, from its first byte on
};

enum {
    VECTORS = (RUN + 16 - SIZE + 15) / 16, // that a run touches at most
    LINE = VECTORS * 16
};

// The runs of a block as they lie in shared memory: run s begins at a line, as many bytes on as it does in a vector of global memory.
struct lines_of_runs {
    const char *room;
    unsigned from, step; // the first run's address and the distance to the next, modulo 2^32
    __device__ int start(int s) const { return s * LINE + (int)((from + (unsigned)s * step) & 15); }
    __device__ unsigned cut(int at) const {
        const unsigned *two = (const unsigned *)(room + (at & ~3));
        return __funnelshift_r(two[0], two[(at & 3) > 0], (at & 3) * 8);
    }
    // Four bytes of the runs as they follow each other, from byte b on.
    __device__ unsigned word(int b) const {
        const int s = b / RUN, k = b % RUN;
        unsigned x = cut(start(s) + k);
        if (k + 4 > RUN) {
            const unsigned mine = 0xffffffffu >> (k + 4 - RUN) * 8;
            x = (x & mine) | (cut(start(s + 1) + k - RUN) & ~mine);
        }
        return x;
    }
};

extern "C" __global__ void __launch_bounds__(THREADS) run_pieces(const element *in, element *out, const run_pieces j) {
    __shared__ uint4 held[EACH * VECTORS];
    const place at = tile_of_block<1, EACH>(j.m);
    const int runs = (int)(j.m.q_size - at.q < EACH ? j.m.q_size - at.q : EACH);
    const i64 step = j.m.q_in * SIZE;
    const char *from = (const char *)(in + at.in) + at.p * j.p_in + at.q * step, *low = (const char *)in + j.low, *high = (const char *)in + j.high;
#pragma unroll 4
    for (int turn = 0; turn < EACH * VECTORS; turn += THREADS) { // lanes stay together
        const int i = turn + (int)threadIdx.x, s = i / VECTORS, v = i % VECTORS;
        if (i >= runs * VECTORS)
            continue;
        const char *run = from + s * step, *vector = run - ((unsigned long long)run & 15) + v * 16;
        if (vector >= run + RUN)
            held[i] = make_uint4(0, 0, 0, 0); // words reach into it
        else if (vector >= low && vector + 16 <= high)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(held + i)), "l"(vector) : "memory");
        else
            for (int b = 0; b < 16; b += SIZE)
                *(element *)((char *)(held + i) + b) = vector + b >= run && vector + b < run + RUN ? *(const element *)(vector + b) : (element)0;
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    const lines_of_runs lie = {(const char *)held, (unsigned)(unsigned long long)from, (unsigned)step};
    char *to = (char *)(out + at.out + at.p * j.m.p_out) + at.q * RUN;
    const int lead = (int)((unsigned long long)to & 15), bytes = runs * RUN;
    for (int b = threadIdx.x * 16 - lead; b < bytes; b += THREADS * 16)
        if (b >= 0 && b + 16 <= bytes)
            *(uint4 *)(to + b) = make_uint4(lie.word(b), lie.word(b + 4), lie.word(b + 8), lie.word(b + 12));
        else
            for (int k = b < 0 ? 0 : b; k < b + 16 && k < bytes; k += SIZE)
                *(element *)(to + k) = *(const element *)(lie.room + lie.start(k / RUN) + k % RUN);
}
