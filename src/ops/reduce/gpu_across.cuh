// SPDX-License-Identifier: Apache-2.0
// gpu_across.cuh - what no order of operations can change, of V columns side by side: how a thread takes in a vector of them, and what of it meets in shared memory.
//
// V is -DVECTOR. A thread's vectors are numbered in the order of their rows, which are -DROWS apart. -DPACKED=1: small elements a word at a time, as in gpu_packed.cuh. What is not a matter
// of order alone - the vector, what meets, where it lies - is for sums of floats too.
#ifndef TESS_REDUCE_ACROSS_CUH
#define TESS_REDUCE_ACROSS_CUH
#include "ops/reduce/gpu_any_order.cuh"

enum { V = VECTOR, SIZE = (int)sizeof(element) };
const unsigned EVERY = (1u << V) - 1; // of a vector's elements, as a mask
union vector {
    words<V * SIZE> all;
    element part[V];
};
// Elements are taken out of it behind this and no sooner.
template <int BYTES> __device__ __forceinline__ void as_words(words<BYTES> &x) {
    if constexpr (BYTES >= 4)
#pragma unroll
        for (int i = 0; i < BYTES / 4; i++)
            asm volatile("" : "+r"(x.word[i]));
}

// What meets in shared memory: nodes, or of places of small elements words, the greatest of which is the best: the element's place in their order, then what is still to come.
#if KIND == ARG && (IN < T_U32 || IN == T_F16 || IN == T_BF16)
#define BY_WORD 1
struct met {
    unsigned word;
};
__device__ void merge(met &n, const met &m) { n.word = m.word > n.word ? m.word : n.word; }
__device__ node node_of(met best, i64 first) {
    node n = nothing();
    if (best.word) {
        n.index = (number)(first + (0xffff - (best.word & 0xffff)));
#if PACKED
        n.key = key_of((element)(best.word >> 16 ^ FLIP));
#else
        n.key = (key_type)(best.word >> 16) + LOWEST;
#endif
    }
    return n;
}
#else
#define BY_WORD 0
typedef node met;
__device__ node node_of(node n, i64 first) {
#if KIND == ARG
    n.index += n.index < 0 ? 0 : (number)first;
#endif
    return n;
}
#endif

// Where a leaf's node number i lies: one place is left out after each SKIP, so that neither threads' nodes, V apart, nor neighbours of several leaves want the same banks.
enum { SKIP = sizeof(met) <= 4 ? 32 : sizeof(met) <= 8 || V > 8 ? 16 : 8 };
__device__ __forceinline__ int spot(unsigned i) { return i + i / SKIP; }

#if ANY_ORDER
#if PACKED
// Whether any or all are true takes a byte of each column, in words: whether one was true, or one was not.
enum { TRUTHS = KIND == COUNT && (OPERATION == OP_ANY || OPERATION == OP_ALL) };
// Small elements a word at a time, as in gpu_packed.cuh, but of each column apart.
struct taken {
    enum { BYTES = SIZE == 1, PARTS = TRUTHS ? V * SIZE / 4 : KIND == EXTREME ? V * SIZE / (BYTES ? 2 : 4) : V };
    unsigned part[PARTS];
    __device__ taken() {
#pragma unroll
        for (int i = 0; i < PARTS; i++)
            part[i] = packed_nothing().part[0];
    }
    // there: a mask of elements.
    __device__ __forceinline__ void take(const vector &x, int number, unsigned there) {
#pragma unroll
        for (int i = 0; i < V * SIZE / 4; i++) {
            const unsigned bits = there >> i * (4 / SIZE),
                           mask = BYTES ? ((bits & 15) * 0x00204081u & 0x01010101u) * 0xff : (bits & 1 | (bits & 2) << 15) * 0xffff;
            unsigned word = x.all.word[i];
#if KIND == SUM || KIND == COUNT
            if (TRUTHS) {
                part[i] |= (OPERATION == OP_ALL ? ~nonzero(word) & 0x80808080 : word) & mask;
                continue;
            }
            word = (KIND == COUNT ? nonzero(word) : word) & mask;
#pragma unroll
            for (int j = 0; j < 4; j++) // one byte is multiplied by 1
                part[4 * i + j] = KIND == SUM && IN == T_I8 ? (unsigned)__dp4a((int)word, 1 << 8 * j, (int)part[4 * i + j])
                                                            : __dp4a(word, 1u << 8 * j, part[4 * i + j]);
#elif KIND == ARG
            word = ordered(word);
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const unsigned both = with_place(word, 0xffffu - number * ROWS, j); // places are rows
                part[4 * i + j] = both > part[4 * i + j] && (mask >> 8 * j & 1) ? both : part[4 * i + j];
            }
#elif IN >= T_F16
            word = MAGNITUDE ? word & ~NEGATIVE : word;
            keep_best(part[i], (word & mask) | (packed_nothing().part[0] & ~mask));
#else
            word = ordered(word) & mask;
            keep_best(part[2 * i], even_bytes(word));
            keep_best(part[2 * i + 1], odd_bytes(word));
#endif
        }
    }
#if KIND == ARG
    __device__ __forceinline__ met total(int v, int) const { return {part[v]}; }
#else
    // Of `count` elements.
    __device__ __forceinline__ node total(int v, int count) const {
        node n = nothing();
#if KIND == SUM
        n.value = IN == T_I8 ? (acc)(int)part[v] : (acc)part[v];
#elif KIND == COUNT
        const bool seen = part[v / 4] >> 8 * (v % 4) & 0xff;
        n.zeros = !TRUTHS ? count - (int)(part[v] >> 7) : OPERATION == OP_ALL ? seen : seen ? 0 : count;
#elif IN >= T_F16
        ::take(n, (element)(part[v / 2] >> 16 * (v % 2)), 0);
#else
        ::take(n, (element)((part[v / 4 * 2 + v % 2] >> 8 * (v & 2) + BYTE_AT ^ FLIP) & 0xff), 0);
#endif
        return n;
    }
#endif
};
#else
struct taken {
    taker best[V];
    __device__ __forceinline__ void take(const vector &x, int number, unsigned there) {
#pragma unroll
        for (int v = 0; v < V; v++)
            if (there >> v & 1)
                best[v].take(x.part[v], number);
    }
};
#endif

struct mets {
    met part[V];
};

// What column v came to, of `count` elements, the first of which had number `first`. row: where number 0 lies, for places.
__device__ __forceinline__ met met_of(const taken &all, int v, int count, int first, int row) {
#if PACKED
    met whole = all.total(v, count);
#if KIND == ARG
    whole.word -= whole.word ? row : 0;
#endif
    return whole;
#else
    node n = all.best[v].total(count > 0 ? first : -1, 0);
#if BY_WORD
    return {n.index < 0 ? 0 : (unsigned)(n.key - LOWEST) << 16 | 0xffff - (n.index * ROWS + row)};
#else
#if KIND == ARG
    n.index = n.index < 0 ? n.index : n.index * ROWS + row;
#endif
    return n;
#endif
#endif
}
#endif
#endif
