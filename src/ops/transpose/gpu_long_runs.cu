// SPDX-License-Identifier: Apache-2.0
// gpu_long_runs.cu - runs that stay together and begin anywhere: a last axis that stays the last, where vectors of 16 bytes do not fit its steps.
//
// One thread an element finds each element's place with some hundred instructions. Here a block has a piece of a row of `out`, where runs follow each other, finds
// the run that it begins in, and its threads the others from there, by one multiplication. Words of elements below 4 bytes begin where those of `out` do: they
// are cut from two words of `in`, and from two runs where one ends inside.
//
// -DTHREADS, -DWORDS a thread, -DSIZE=1|2|4 and -DBATCH as in gpu_plane.cuh, where p and q count runs.
#include "ops/transpose/gpu_plane.cuh"

struct long_runs {
    plane m;
    i64 run, p_in;  // bytes
    i64 low, high;  // what all runs take of `in`, from its first byte on
    i64 reciprocal; // of run, in 2^-32, rounded up; 0: runs are longer than pieces
};

enum { PIECE = THREADS * WORDS * 4 };

// Four bytes from `from` on. CHECK: nothing is read beyond `low` and `high`.
template <bool CHECK> __device__ unsigned word_at(const char *from, const char *low, const char *high) {
#if SIZE == 4
    return *(const unsigned *)from;
#else
    const unsigned shift = (unsigned)(unsigned long long)from & 3;
    const unsigned *two = (const unsigned *)(from - shift);
    if (!CHECK || ((const char *)two >= low && (const char *)two + 8 <= high))
        return __funnelshift_r(two[0], two[shift != 0], shift * 8);
    unsigned word = 0;
    for (int b = 0; b < 4; b += SIZE)
        if (from + b >= low && from + b < high)
            word |= (unsigned)*(const element *)(from + b) << 8 * b;
    return word;
#endif
}

// The piece that begins at byte `start` of a row of `all` bytes, `lead` bytes into the run at `from`.
template <bool CHECK> __device__ void copy_piece(const char *from, char *to, i64 start, i64 all, int lead, const long_runs &j, const char *low, const char *high) {
    const i64 step = j.m.q_in * SIZE; // from run to run in `in`
    const int run = (int)j.run;
    unsigned word[WORDS];
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        const int b = (w * THREADS + (int)threadIdx.x) * 4, n = lead + b; // from the piece's first byte on, from the first run's
        if (!CHECK || start + b < all) {
            const unsigned r = CHECK && n < 0 ? 0 : j.reciprocal ? __umulhi((unsigned)n, (unsigned)j.reciprocal) : (unsigned)(n >= run);
            const int inside = n - (int)r * run;
            const char *there = from + r * step + inside;
            word[w] = word_at<CHECK>(there, low, high);
            if (SIZE < 4 && inside + 4 > run) {
                const unsigned mine = 0xffffffffu >> (inside + 4 - run) * 8;
                word[w] = (word[w] & mine) | (word_at<CHECK>(there + step - run, low, high) & ~mine);
            }
        }
    }
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        const int b = (w * THREADS + (int)threadIdx.x) * 4;
        char *there = to + start + b;
        if (!CHECK || (start + b >= 0 && start + b + 4 <= all))
            *(unsigned *)there = word[w];
        else if (SIZE < 4)
            for (int k = 0; k < 4; k += SIZE)
                if (start + b + k >= 0 && start + b + k < all)
                    *(element *)(there + k) = (element)(word[w] >> 8 * k);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) long_runs_copy(const element *in, element *out, const long_runs j) {
    const i64 all = j.m.q_size * j.run; // bytes of a row of `out`
    const unsigned pieces = (unsigned)((all + (SIZE < 4 ? 3 : 0) + PIECE - 1) / PIECE), high = (unsigned)j.m.p_size, number = blockIdx.x / pieces;
    const i64 p = number % high;
    place at;
    find_matrix(at, j.m, number / high);
    char *to = (char *)(out + at.out + p * j.m.p_out);
    const i64 start = (i64)(blockIdx.x % pieces) * PIECE - ((unsigned)(unsigned long long)to & 3); // the piece's first byte in the row
    const i64 first = start < 0 ? 0 : start / j.run;
    const int lead = (int)(start - first * j.run);
    const char *from = (const char *)(in + at.in) + p * j.p_in + first * j.m.q_in * SIZE;
    const char *low = (const char *)in + j.low, *above = (const char *)in + j.high;
    // where runs before and behind these are in the array too, so are the words that begin and end in these
    const i64 step = j.m.q_in * SIZE;
    const bool inside = (p > 0 && p + 1 < j.m.p_size && (j.p_in >= 8 || j.p_in <= -8)) ||
                        (first > 0 && start + PIECE <= all - j.run && (step >= 8 || step <= -8));
    if (start < 0 || start + PIECE > all || !inside)
        copy_piece<true>(from, to, start, all, lead, j, low, above);
    else
        copy_piece<false>(from, to, start, all, lead, j, low, above);
}
