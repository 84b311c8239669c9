// SPDX-License-Identifier: Apache-2.0
// gpu_tree_words.cu - production, rows of up to four small elements (-DTALL) that follow one another and leave as small results: a thread takes as many as fill whole words.
//
// What a row of three bytes takes beside them - where it lies, where its result goes, a load of each byte and a store - is more than the three. Four rows of bytes, two of 16 bits, are whole words however long they are:
// TALL loads from shared memory, one more and a shift each for where the first row begins within a word, elements that the compiler cuts out, and one store.
#include "ops/reduce/gpu_node.cuh"
#include "ops/reduce/gpu_stage.cuh"
#include "ops/reduce/gpu_packed.cuh"

enum { SIZE = (int)sizeof(element), AT_ONCE = 4 / SIZE };
static_assert(sizeof(result) == sizeof(element), "as many results fill a word");
union some_elements {
    unsigned word[TALL];
    element part[TALL * AT_ONCE];
};
union some_results {
    unsigned word;
    result part[AT_ONCE];
};

// Of a single element that is the best of its row.
__device__ result single(element best) {
    node whole = nothing();
    take(whole, best, 0);
    return finished(whole, TALL, 0);
}

#if PACKED && IN < T_U16
// Bytes: an element of two rows each are the halves of a word, of which the maximum is one instruction; whether any or all are true, the bits of words.
#if KIND == COUNT
const unsigned BACK = 0, HALF = ~0u;
__device__ __forceinline__ unsigned taken(unsigned x) { return nonzero(x); }
__device__ __forceinline__ void join(unsigned &best, unsigned x) { best = OPERATION == OP_ANY ? best | x : best & x; }
#else
const unsigned BACK = FLIP, HALF = BYTE_AT ? ~0u : 0x00ff00ffu;
__device__ __forceinline__ unsigned taken(unsigned x) { return ordered(x); }
__device__ __forceinline__ void join(unsigned &best, unsigned x) { keep_best(best, x); }
#endif
__device__ __forceinline__ some_results results_of(some_elements x) {
    unsigned best[2];
#pragma unroll
    for (int i = 0; i < TALL; i++)
        x.word[i] = taken(x.word[i]);
#pragma unroll
    for (int h = 0; h < 2; h++)
#pragma unroll
        for (int i = 0; i < TALL; i++) {
            const int a = 2 * h * TALL + i, b = a + TALL;
            const unsigned pair = __byte_perm(x.word[a / 4], x.word[b / 4], a % 4 * 0x11 + (b % 4 + 4) * 0x1100) & HALF;
            if (i == 0)
                best[h] = pair;
            else
                join(best[h], pair);
        }
    some_results all;
    all.word = __byte_perm(best[0], best[1], BYTE_AT ? 0x7531 : 0x6420) ^ BACK;
    if (KIND == COUNT || IN == T_BOOL)
        all.word = all.word >> 7 & 0x01010101u;
    if (KIND == EXTREME && (IN != OUT || OPERATION == OP_NORM_INF))
#pragma unroll
        for (int r = 0; r < 4; r++)
            all.part[r] = single((element)(all.word >> 8 * r));
    return all;
}
#elif PACKED
// Pairs of 16-bit floats have a maximum of their own.
__device__ __forceinline__ some_results results_of(const some_elements &x) {
    some_results all;
    unsigned best;
#pragma unroll
    for (int i = 0; i < TALL; i++) {
        unsigned pair = __byte_perm(x.word[i / 2], x.word[(TALL + i) / 2], i % 2 * 0x22 + 0x10 + ((TALL + i) % 2 * 0x22 + 0x54) * 0x100);
        pair = MAGNITUDE ? pair & ~NEGATIVE : pair;
        if (i == 0)
            best = pair;
        else
            keep_best(best, pair);
    }
    all.part[0] = single((element)best);
    all.part[1] = single((element)(best >> 16));
    return all;
}
#else
__device__ __forceinline__ some_results results_of(const some_elements &x) {
    some_results all;
#pragma unroll
    for (int r = 0; r < AT_ONCE; r++) {
        node whole = nothing();
#pragma unroll
        for (int i = 0; i < TALL; i++)
            take_next(whole, x.part[r * TALL + i], i);
        all.part[r] = finished(whole, TALL, 0);
    }
    return all;
}
#endif

extern "C" __global__ void __launch_bounds__(32 * WARPS, AT_LEAST) tree_words(const element *in, result *out, const rows p) {
    __shared__ words<16> tiles[WARPS][ROOM / 16];
    const i64 unit = (i64)blockIdx.x * WARPS + threadIdx.x / 32;
    if (unit >= p.units)
        return;
    const part c = part_of(p, in, unit);
    char *tile = (char *)tiles[threadIdx.x / 32];
    const int begin = stage(tile, c, TALL), last = (begin + c.here * TALL * SIZE - 1) / 4;
    const unsigned shift = begin % 4 * 8;
    // Of the rows from number `row` on; where some are not there the last words once more.
    const auto at = [&](int row, bool whole) {
        const int first = begin / 4 + row / AT_ONCE * TALL;
        unsigned word[TALL + 1];
#pragma unroll
        for (int i = 0; i <= TALL; i++)
            word[i] = ((const unsigned *)tile)[(whole && i < TALL) || first + i < last ? first + i : last];
        some_elements x;
#pragma unroll
        for (int i = 0; i < TALL; i++)
            x.word[i] = __funnelshift_r(word[i], word[i + 1], shift);
        return results_of(x);
    };
    int row = threadIdx.x % 32 * AT_ONCE;
    result *to = out + c.at_out;
    if (p.out_step == 1 && (u64)to % 4 == 0)
        for (; row + AT_ONCE <= c.here; row += 32 * AT_ONCE)
            *(unsigned *)(to + row) = at(row, true).word;
    for (; row < c.here; row += 32 * AT_ONCE) {
        const some_results all = at(row, false);
#pragma unroll
        for (int r = 0; r < AT_ONCE; r++)
            if (row + r < c.here)
                to[(row + r) * p.out_step] = all.part[r];
    }
}
