// SPDX-License-Identifier: Apache-2.0
// gpu_line.cu - production: short masks along rows of narrow elements. A thread has a vector of 16 bytes and loads what its windows need beside it.
//
// As patch for single rows, but that loads whole vectors on either side, of 8 elements, and half of the lanes' stores of bytes fill no sector. Here a lane's
// elements are 16 bytes and what lies beside is some words, which the first-level cache has; 32 registers, so that a multiprocessor is full: with fewer threads
// such rows are slower by a fifth. Places have 64 bits, so rows may be as long as memory allows.
//
// Of u8 weights come times 2^24 (-DRAISED=1), which is exact as far as they do not overflow (gpu_bytes.cuh); integer weights of 8 bits four in a word, each row
// filled with zeros (-DWORK=T_I32), since sums that are exact may be made in any order.
//
// -DVECTORS a thread, -DTHREADS, -DBLOCKS a multiprocessor, -DRAISED.
#include "ops/correlate/gpu_window.cuh"
#include "ops/correlate/gpu_bytes.cuh"

enum {
    V = 16 / SIZE,                // elements of a vector
    LW = (LEFT * SIZE + 3) / 4,   // words beside it
    RW = (RIGHT * SIZE + 3) / 4,
    WORDS = LW + 4 + RW,
    HELD = WORDS * 4 / SIZE,      // elements of a window
    FIRST = LW * 4 / SIZE - LEFT, // the first one that is met
    APART = THREADS * V           // between a thread's vectors
};
static_assert(SIZE <= 2 && LW <= 4 && RW <= 4, "what lies beside is at most a vector");

#if WORK == T_I32
enum { TAPS = (KX + 3) / 4 };
#else
enum { TAPS = KX };
#endif
typedef tap_list<TAPS> weights;

// The window of the vector at x, inside the row.
__device__ __forceinline__ void bring_inside(unsigned (&word)[WORDS], const char *at) {
    load_words<16>(word + LW, at);
    if constexpr (LW == 3) { // aligned to 8 bytes from its second word on
        load_words<4>(word, at - 12);
        load_words<8>(word + 1, at - 8);
    } else if constexpr (LW > 0) {
        load_words<4 * LW>(word, at - 4 * LW);
    }
    if constexpr (RW == 3) {
        load_words<8>(word + LW + 4, at + 16);
        load_words<4>(word + LW + 6, at + 24);
    } else if constexpr (RW > 0) {
        load_words<4 * RW>(word + LW + 4, at + 16);
    }
}

// The same at an end of the row, each element by the boundary's rule.
__device__ __forceinline__ void bring_anywhere(unsigned (&word)[WORDS], const element *in, i64 x, const frame &f) {
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        const i64 at = resolve_x(x - LW * 4 / SIZE + i, f.n_x, f.edge);
        put(word, i, at >= 0 ? in[at] : ghost_of(f));
    }
}

#if WORK == T_I32
__device__ __forceinline__ void compute(work (&sum)[V], const unsigned (&word)[WORDS], const weights &taps) {
    unsigned bytes[V + 4 * (TAPS - 1)];
#pragma unroll
    for (int i = 0; i < V + 4 * (TAPS - 1); i++)
        bytes[i] = FIRST + i < 4 * WORDS ? four_bytes(word, FIRST + i) : 0;
#pragma unroll
    for (int g = 0; g < TAPS; g++)
#pragma unroll
        for (int o = 0; o < V; o++)
            sum[o] = dot(bytes[o + 4 * g], taps.w[g], g ? sum[o] : 0);
}
#else
__device__ __forceinline__ void compute(work (&sum)[V], const unsigned (&word)[WORDS], const weights &taps) {
#pragma unroll
    for (int k = 0; k < KX; k++)
#pragma unroll
        for (int o = 0; o < V; o++) {
            const int i = FIRST + o + k * GROUP;
            sum[o] = multiply_add(RAISED ? part_of_byte(word, i) : cell(word, i), taps.w[k], k ? sum[o] : (work)0);
        }
}
#endif

// V results, never in pieces.
__device__ __forceinline__ void put_all(result *to, const work (&sum)[V]) {
    const packed<V> v(sum);
    if constexpr (V * sizeof(result) >= 4)
        v.store_if(true, (char *)to);
    else
        v.store(to);
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) line(const element *in, result *out, const frame f, const unsigned rows, const weights taps) {
    const unsigned number = blockIdx.z * gridDim.y + blockIdx.y;
    const i64 begin = blockIdx.x * (i64)(APART * VECTORS);
    if (number >= rows)
        return;
    find_array(f, number, in, out);
    if (begin >= V && begin + APART * VECTORS + V <= f.n_x && begin + APART * VECTORS <= f.m_x) {
        const char *at = (const char *)(in + begin) + threadIdx.x * 16;
        result *to = out + begin + threadIdx.x * V;
        unsigned word[VECTORS][WORDS];
#pragma unroll
        for (int g = 0; g < VECTORS; g++)
            bring_inside(word[g], at + g * (THREADS * 16));
#pragma unroll
        for (int g = 0; g < VECTORS; g++) {
            work sum[V];
            compute(sum, word[g], taps);
            put_all(to + g * APART, sum);
        }
    } else {
#pragma unroll 1
        for (i64 x = begin + threadIdx.x * V; x < f.m_x && x < begin + APART * VECTORS; x += APART) {
            unsigned word[WORDS];
            work sum[V];
            if (x >= V && x + 2 * V <= f.n_x)
                bring_inside(word, (const char *)(in + x));
            else
                bring_anywhere(word, in, x, f);
            compute(sum, word, taps);
            if (x + V <= f.m_x)
                put_all(out + x, sum);
            else
                write<V>(out + x, 0, (int)(f.m_x - x), sum);
        }
    }
}
