// SPDX-License-Identifier: Apache-2.0
// gpu_exact_pieces.cuh - exact sums in pieces: how an accumulator is left in the workspace, and what those of one output come to.
#ifndef TESS_REDUCE_EXACT_PIECES_CUH
#define TESS_REDUCE_EXACT_PIECES_CUH
#include "ops/reduce/gpu_exact.cuh"

enum { PLACES = PARTS * WORDS, AT_ONCE = 8 / PARTS, AHEAD = 16 };

// A warp's accumulator: for each part its limbs, what is not finite, how many elements counted.
__device__ void put_piece(i64 *to, i64 (*limbs)[LIMBS], const int *flags, i64 count) {
#pragma unroll
    for (int which = 0; which < PARTS; which++)
        carry_once(limbs[which]); // or sums of many would not fit
    for (int i = threadIdx.x % 32; i < PLACES; i += 32)
        to[i] = i % WORDS < LIMBS ? limbs[i / WORDS][i % WORDS] : i % WORDS == LIMBS ? flags[i / WORDS] : count;
}

// An output from the accumulators of its pieces, by a block of AT_ONCE * PLACES threads.
__device__ void put_pieces(result *to, const i64 *partial, i64 pieces) {
    __shared__ i64 words[AT_ONCE][PARTS][WORDS];
    __shared__ i64 limbs[PARTS][LIMBS];
    __shared__ int flags[PARTS];
    const int word = threadIdx.x % PLACES, first = threadIdx.x / PLACES;
    const bool flag = word % WORDS == LIMBS;
    i64 sum = 0;
#pragma unroll 1
    for (i64 from = first; from - first < pieces; from += AHEAD * AT_ONCE) {
        i64 its[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            its[i] = from + i * AT_ONCE < pieces ? partial[(from + i * AT_ONCE) * PLACES + word] : 0;
        __syncwarp(); // all are asked for, before one is taken
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            sum = flag ? sum | its[i] : sum + its[i];
    }
    (&words[first][0][0])[word] = sum;
    __syncthreads();
    if (first == 0) {
        for (int i = 1; i < AT_ONCE; i++)
            sum = flag ? sum | (&words[i][0][0])[word] : sum + (&words[i][0][0])[word];
        if (flag)
            flags[word / WORDS] = (int)sum;
        else if (word % WORDS < LIMBS)
            limbs[word / WORDS][word % WORDS] = sum;
        else
            words[0][word / WORDS][LIMBS + 1] = sum;
    }
    __syncthreads();
    if (threadIdx.x < 32)
        put_rounded(to, limbs, flags, words[0][0][LIMBS + 1]);
}
#endif
