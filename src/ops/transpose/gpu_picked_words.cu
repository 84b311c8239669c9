// SPDX-License-Identifier: Apache-2.0
// gpu_picked_words.cu - bytes and 16-bit elements that lie near each other in `in`: words of `out` put together by byte permutations.
//
// An axis backwards, every second column, one colour of three: rows of `out` have no gaps. By single elements a lane, a warp moves 32 or 64 bytes a request, and requests bind. Here
// a lane has a word of `out`; its elements lie in at most four words of `in`, at the same places in them all along a row, so three permutations with the same selectors pick them.
// Words whose elements are not all there, or whose words of `in` reach beyond the row, go by elements.
//
// -DSTEP bytes from element to element of `in`, of either sign; -DWIDE threads along a row, -DEACH words a thread; -DSIZE=1|2 and -DBATCH as in gpu_plane.cuh.
#include "ops/transpose/gpu_plane.cuh"

struct picked_words {
    plane m;
    i64 p_in;
};

enum {
    THREADS = 256,
    E = 4 / SIZE, // elements of a word
    APART = STEP < 0 ? -STEP : STEP,
    SPAN = (E - 1) * APART + SIZE,             // bytes of `in` that a word's elements lie in
    WORDS = (SPAN + (4 - SIZE) + 3) / 4,       // that they touch at most
    HIGH = THREADS / WIDE
};
static_assert(WORDS <= 4, "two pairs of words");

// -2^30 to 2^30, which is beyond all words of a thread either way.
__device__ int near(i64 n) { return (int)(n < -(1 << 30) ? -(1 << 30) : n > 1 << 30 ? 1 << 30 : n); }

extern "C" __global__ void __launch_bounds__(THREADS) picked_words(const element *in, element *out, const picked_words s) {
    const place at = tile_of_block<HIGH, WIDE * EACH * E, E - 1>(s.m);
    const i64 p = at.p + threadIdx.x / WIDE;
    if (p >= s.m.p_size)
        return;
    element *row = out + at.out + p * s.m.p_out;
    const i64 q = at.q + threadIdx.x % WIDE * E - ((unsigned)(unsigned long long)row & 3) / SIZE; // its first word's first element
    const char *from = (const char *)(in + at.in + p * s.p_in);
    const char *low = from + (STEP > 0 ? q : q + E - 1) * STEP; // of the word's elements
    const unsigned skew = (unsigned)(unsigned long long)low & 3;
    const int last = (int)(skew + SPAN - 1) / 4; // word of `in`
    const int before = ((int)skew + APART - 1) / APART, behind = (4 * (last + 1) - (int)skew - SIZE + APART - 1) / APART - (E - 1); // elements that are read too
    // elements, from the first word's first on, between which whole words begin
    const int least = near((STEP > 0 ? before : behind) - q), most = near(s.m.q_size - E - (STEP > 0 ? behind : before) - q);
    unsigned pick = 0, either = 0; // of a pair of words, and of what was picked from both
#pragma unroll
    for (int b = 0; b < 4; b++) {
        const unsigned there = skew + (STEP > 0 ? b / SIZE : E - 1 - b / SIZE) * APART + b % SIZE;
        pick |= (there & 7) << 4 * b;
        either |= (b + (there & 8) / 2) << 4 * b;
    }
    unsigned word[EACH][4];
#pragma unroll
    for (int k = 0; k < EACH; k++)
        if (k * WIDE * E >= least && k * WIDE * E <= most)
#pragma unroll
            for (int w = 0; w < WORDS; w++)
                word[k][w] = __ldg((const unsigned *)(low - skew + k * WIDE * E * STEP) + (w < WORDS - 1 ? w : last));
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        if (k * WIDE * E >= least && k * WIDE * E <= most) {
            unsigned x = __byte_perm(word[k][0], WORDS > 1 ? word[k][1] : 0, pick);
            if (WORDS > 2)
                x = __byte_perm(x, __byte_perm(word[k][2], WORDS > 3 ? word[k][3] : 0, pick), either);
            *(unsigned *)(row + q + k * WIDE * E) = x;
        } else {
            for (int e = 0; e < E; e++) {
                const i64 n = q + k * WIDE * E + e;
                if (n >= 0 && n < s.m.q_size)
                    row[n] = *(const element *)(from + n * STEP);
            }
        }
    }
}
