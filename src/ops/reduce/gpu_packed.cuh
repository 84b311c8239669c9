// SPDX-License-Identifier: Apache-2.0
// gpu_packed.cuh - a word of two or four small elements taken in at once, where no order of operations can change the result.
//
// At 4.5 TB/s a multiprocessor has some 20 bytes a clock to fold, and 128 lanes: for elements of one byte one instruction each is all that there is time
// for. Integer sums and counts are exact, and the greatest key is the greatest in any order, so these need not follow the tree's lanes:
//
//     SUM of bytes      dp4a with ones: four products' sum and an addition in one instruction
//     COUNT of bytes    the high bit of (x & 0x7f) + 0x7f | x says that x is not 0; dp4a adds the four bits
//     EXTREME of bytes  a word as it is and moved up by a byte: of its 16-bit halves the upper bytes decide. Before sm_90, which has a maximum of two
//                       16-bit integers: bytes 0 and 2, 1 and 3, as 16-bit floats, whose order below 0x7c00 is that of their bits
//     EXTREME of f16, bf16    the pair's own instruction, whose order (-0 below +0) and whose NaN are those of the keys
//     EXTREME of f32    the same, an element a word
//     ARG of bytes    the element above, the words that are still to come below: the greatest such word is the first greatest element
#ifndef TESS_REDUCE_PACKED_CUH
#define TESS_REDUCE_PACKED_CUH
#include "ops/reduce/gpu_node.cuh"

#if IN == T_F16
#define PAIR ".f16x2"
#define INFINITE 0x7c007c00u
#elif IN == T_BF16
#define PAIR ".bf16x2"
#define INFINITE 0x7f807f80u
#elif IN == T_F32
#define PAIR ".f32"
#define INFINITE 0x7f800000u
#elif __CUDA_ARCH__ >= 900
#define PAIR ".u16x2"
#else
#define PAIR ".f16x2"
#endif
#define NEGATIVE (IN == T_F32 ? 0x80000000u : 0x80008000u) // the signs of a word
#if IN >= T_F16 && !OMIT
#define OF_NAN ".NaN"
#else
#define OF_NAN
#endif

struct packed {
    unsigned part[4];
};

// Bytes 1 and 3 of a word, and 0 and 2, as halves whose order is theirs; of a half, its byte begins at bit BYTE_AT.
#if __CUDA_ARCH__ >= 900
enum { BYTE_AT = 8 };
__device__ unsigned odd_bytes(unsigned x) { return x; }
__device__ unsigned even_bytes(unsigned x) { return x << 8; }
#else
enum { BYTE_AT = 0 };
__device__ unsigned odd_bytes(unsigned x) { return x >> 8 & 0x00ff00ffu; }
__device__ unsigned even_bytes(unsigned x) { return x & 0x00ff00ffu; }
#endif

// The high bit of each byte that is not 0.
__device__ unsigned nonzero(unsigned x) { return (((x & 0x7f7f7f7fu) + 0x7f7f7f7fu) | x) & 0x80808080u; }

#if KIND == EXTREME || KIND == ARG
// The elements' order as that of unsigned numbers: as in key_of.
const unsigned FLIP = (IN == T_I8 ? 0x80808080u : IN == T_I16 ? 0x80008000u : 0) ^ (SMALLEST ? 0xffffffffu : 0);
__device__ unsigned ordered(unsigned x) { return (IN == T_BOOL ? nonzero(x) : x) ^ FLIP; }
#endif

#if KIND == ARG
// Element j of a word above the words that are still to come.
__device__ unsigned with_place(unsigned x, unsigned left, int j) { return __byte_perm(x, left, sizeof(element) == 1 ? 0x7054 + 0x100 * j : 0x1054 + 0x2200 * j); }
#endif

#if KIND == EXTREME || KIND == ARG
__device__ void keep_best(unsigned &best, unsigned x) {
#if IN == T_F32 && SMALLEST
    asm("{.reg .f32 a, b;\n\tmov.b32 a, %0;\n\tmov.b32 b, %1;\n\tmin" OF_NAN ".f32 a, a, b;\n\tmov.b32 %0, a;}" : "+r"(best) : "r"(x));
#elif IN == T_F32
    asm("{.reg .f32 a, b;\n\tmov.b32 a, %0;\n\tmov.b32 b, %1;\n\tmax" OF_NAN ".f32 a, a, b;\n\tmov.b32 %0, a;}" : "+r"(best) : "r"(x));
#elif IN >= T_F16 && SMALLEST
    asm("min" OF_NAN PAIR " %0, %0, %1;" : "+r"(best) : "r"(x));
#else
    asm("max" OF_NAN PAIR " %0, %0, %1;" : "+r"(best) : "r"(x));
#endif
}
#endif

__device__ packed packed_nothing() {
    packed p;
#if KIND == EXTREME && IN >= T_F16
    const unsigned least = OMIT ? ~NEGATIVE : SMALLEST ? INFINITE : MAGNITUDE ? 0 : INFINITE | NEGATIVE; // a modulus is never below 0
#else
    const unsigned least = 0;
#endif
    p.part[0] = p.part[1] = p.part[2] = p.part[3] = least;
    return p;
}

// Four whole words of a run, of which `word` is the first one's number.
__device__ void packed_take(packed &p, const words<16> &v, int word) {
#if KIND == ARG
    const unsigned left = 0xffff - (unsigned)word;
#pragma unroll
    for (int j = 0; j < 4 / (int)sizeof(element); j++)
#pragma unroll
        for (int i = 0; i < 4; i += 2) {
            const unsigned one = with_place(ordered(v.word[i]), left - i, j), other = with_place(ordered(v.word[i + 1]), left - i - 1, j);
            const unsigned both = one > other ? one : other;
            p.part[j] = both > p.part[j] ? both : p.part[j];
        }
    return;
#endif
#pragma unroll
    for (int i = 0; i < 4; i++) {
        unsigned x = v.word[i];
#if KIND == SUM
        p.part[i] = IN == T_I8 ? (unsigned)__dp4a((int)x, 0x01010101, (int)p.part[i]) : __dp4a(x, 0x01010101u, p.part[i]);
#elif KIND == COUNT
        p.part[i] = __dp4a(nonzero(x), 0x01010101u, p.part[i]);
#elif KIND == ARG
#elif IN >= T_F16
        keep_best(p.part[i], MAGNITUDE ? x & ~NEGATIVE : x);
#else
        x = ordered(x);
        keep_best(p.part[i & 1], even_bytes(x));
        keep_best(p.part[2 + (i & 1)], odd_bytes(x));
#endif
    }
}

// Word number `word` of a row, of which only the bits of a mask are elements; they go to the first half of the parts. FIRST: it may be number 0.
template <bool FIRST> __device__ void packed_some(packed &p, unsigned x, unsigned mask, int word) {
#if KIND == SUM
    p.part[0] = IN == T_I8 ? (unsigned)__dp4a((int)(x & mask), 0x01010101, (int)p.part[0]) : __dp4a(x & mask, 0x01010101u, p.part[0]);
#elif KIND == COUNT
    p.part[0] = __dp4a(nonzero(x) & mask, 0x01010101u, p.part[0]);
#elif KIND == ARG
    // What is behind the row counts as the lowest element, of a place that nobody asks for; what is before it must not count.
    const unsigned left = 0xffff - (unsigned)word;
    x = ordered(x) & mask;
#pragma unroll
    for (int j = 0; j < 4 / (int)sizeof(element); j++) {
        unsigned both = with_place(x, left, j);
        if (FIRST && word == 0)
            both = mask >> WIDTH * j & 1 ? both : 0;
        p.part[j] = both > p.part[j] ? both : p.part[j];
    }
#elif IN >= T_F16
    x = MAGNITUDE ? x & ~NEGATIVE : x;
    keep_best(p.part[0], (x & mask) | (packed_nothing().part[0] & ~mask));
#else
    x = ordered(x) & mask;
    keep_best(p.part[0], even_bytes(x));
    keep_best(p.part[0], odd_bytes(x));
#endif
}

#if KIND == EXTREME && IN != T_F32
// The better one of a word's two halves.
__device__ element better_half(unsigned best) {
    keep_best(best, best >> 16);
    return (element)(IN < T_F16 ? best >> BYTE_AT ^ FLIP : best);
}
#endif

// What these came to: `count` elements, or none of their number. offset: places of word number 0 before the row.
__device__ node packed_some_total(const packed &p, int count, int offset) {
    node n = nothing();
#if KIND == SUM
    n.value = IN == T_I8 ? (acc)(int)p.part[0] : (acc)p.part[0];
#elif KIND == COUNT
    n.zeros = count - (int)(p.part[0] >> 7);
#elif KIND == ARG
    enum { PER = 4 / (int)sizeof(element) };
    unsigned best = 0;
#pragma unroll
    for (int j = 0; j < PER; j++) {
        const unsigned place = (0xffff - (p.part[j] & 0xffff)) * PER + j - offset, both = (p.part[j] & 0xffff0000u) | (0xffff - place);
        best = p.part[j] && both > best ? both : best;
    }
    if (best)
        take(n, (element)((best >> 16) ^ FLIP), 0xffff - (best & 0xffff));
#elif IN == T_F32
    take(n, __uint_as_float(p.part[0]), 0);
#else
    take(n, better_half(p.part[0]), 0);
#endif
    return n;
}

// What whole words came to: `count` elements, or none of their number. head: elements before word number 0; first: the number of the first of all.
__device__ node packed_total(const packed &p, int count, int head, i64 first) {
    node n = nothing();
#if KIND == ARG
    n = packed_some_total(p, count, -head);
    n.index += n.index < 0 ? 0 : (number)first;
#elif KIND == SUM
    unsigned sum = p.part[0] + p.part[1] + p.part[2] + p.part[3];
    n.value = IN == T_I8 ? (acc)(int)sum : (acc)sum;
#elif KIND == COUNT
    n.zeros = count - (int)((p.part[0] + p.part[1] + p.part[2] + p.part[3]) >> 7);
#elif IN == T_F32
#pragma unroll
    for (int i = 0; i < 4; i++)
        take(n, __uint_as_float(p.part[i]), 0);
#else
    unsigned best = p.part[0];
#pragma unroll
    for (int i = 1; i < 4; i++)
        keep_best(best, p.part[i]);
    take(n, better_half(best), 0);
#endif
    return n;
}
#endif
