// SPDX-License-Identifier: Apache-2.0
// gpu_index.cuh - an integer index on its way to an entry of the table, policy included, and how the first bad one is remembered.
//
// -DINDEX=T_I32 and the like, -DOUTSIDE=0|1|2|3 the policy in the order of tess_outside: an index inside should pay for none of them. -DWIDE=0: fewer
// than 2^31 entries, and steps between entries that fit 32 bits. -DSTEP=4: bytes between entries, where they are so few as an element has; 0: a parameter.
#ifndef TESS_LOOKUP_GPU_INDEX_CUH
#define TESS_LOOKUP_GPU_INDEX_CUH

#include "gpu/types.cuh"

#ifndef STEP
#define STEP 0
#endif

enum { ERROR, CLIP, WRAP, FILL }; // as tess_outside
#if WIDE
typedef i64 entry;
#else
typedef int entry;
#endif

// The first index in row-major order that lies outside, in the call's mark (gpu/row.h). It is kept as its complement: 0 means that there is none, and the
// largest wins.
__device__ __forceinline__ void note(u64 *bad, i64 position) {
    if (atomicMax(bad, ~(u64)position) == 0 && bad[1])
        *(volatile unsigned *)bad[1] = 1;
}

#if INDEX < T_F16
typedef stored<INDEX>::type index_type;
const bool has_sign = INDEX % 2 == T_I8 % 2;

// Where an index points; false when it lies outside and has no entry (ERROR, FILL) or needs a division (WRAP). A negative index is a large number
// without its sign. `at` may be read whatever the answer, when the table has an entry.
__device__ __forceinline__ bool find_entry(index_type v, i64 n, entry &at) {
#if WIDE || INDEX >= T_U64
    u64 number = OUTSIDE == WRAP && has_sign && (i64)v < 0 ? (u64)((i64)v + n) : (u64)v, last = (u64)n - 1;
    at = (entry)(OUTSIDE == CLIP && has_sign && (i64)v < 0 ? 0 : number < last ? number : last);
    return OUTSIDE == CLIP || number < (u64)n;
#else
    unsigned number = OUTSIDE == WRAP && has_sign && (int)v < 0 ? (unsigned)((int)v + (int)n) : (unsigned)v, last = (unsigned)n - 1;
    at = (entry)min(OUTSIDE == CLIP && has_sign ? (unsigned)max((int)v, 0) : number, last);
    return OUTSIDE == CLIP || number < (unsigned)n;
#endif
}

// The whole answer; `at` as above.
__device__ __forceinline__ bool entry_of(index_type v, i64 n, entry &at) {
    bool inside = find_entry(v, n, at);
    if (OUTSIDE != WRAP || inside)
        return inside;
    if (has_sign) {
        i64 rest = (i64)v % n;
        at = (entry)(rest < 0 ? rest + n : rest);
    } else {
        at = (entry)((u64)v % (u64)n);
    }
    return true;
}
#endif

// The entry's address; step in bytes. The compiler would make a product of 64 by 64 bits of one that is a parameter.
template <typename E> __device__ __forceinline__ const E *entry_at(const E *table, entry at, i64 step) {
#if STEP
    return (const E *)((const char *)table + (i64)at * STEP);
#elif WIDE
    return (const E *)((const char *)table + at * step);
#else
    const E *where;
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(where) : "r"(at), "r"((int)step), "l"(table));
    return where;
#endif
}

// As load_now, but past the first-level cache.
__device__ __forceinline__ void load_past(words<16> &v, const void *at) {
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3]) : "l"(at));
}
__device__ __forceinline__ void load_past(words<8> &v, const void *at) {
    asm volatile("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(v.word[0]), "=r"(v.word[1]) : "l"(at));
}
__device__ __forceinline__ void load_past(words<4> &v, const void *at) {
    asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(v.word[0]) : "l"(at));
}
template <int N> __device__ __forceinline__ void load_past(words<N> &v, const void *at) { load_now(v, at); }

// SIZE bytes that are one element, and a value of 16 bytes cut to one.
template <int BYTES> struct bits_of;
template <> struct bits_of<1> { typedef unsigned char type; };
template <> struct bits_of<2> { typedef unsigned short type; };
template <> struct bits_of<4> { typedef unsigned type; };
template <> struct bits_of<8> { typedef uint2 type; };
template <> struct bits_of<16> { typedef uint4 type; };
__device__ __forceinline__ unsigned char chosen(bool first, unsigned char a, unsigned char b) { return first ? a : b; }
__device__ __forceinline__ unsigned short chosen(bool first, unsigned short a, unsigned short b) { return first ? a : b; }
__device__ __forceinline__ unsigned chosen(bool first, unsigned a, unsigned b) { return first ? a : b; }
__device__ __forceinline__ uint2 chosen(bool first, uint2 a, uint2 b) { return make_uint2(first ? a.x : b.x, first ? a.y : b.y); }
__device__ __forceinline__ uint4 chosen(bool first, uint4 a, uint4 b) {
    return make_uint4(first ? a.x : b.x, first ? a.y : b.y, first ? a.z : b.z, first ? a.w : b.w);
}
__device__ __forceinline__ void cut(uint4 value, unsigned char &x) { x = (unsigned char)value.x; }
__device__ __forceinline__ void cut(uint4 value, unsigned short &x) { x = (unsigned short)value.x; }
__device__ __forceinline__ void cut(uint4 value, unsigned &x) { x = value.x; }
__device__ __forceinline__ void cut(uint4 value, uint2 &x) { x = make_uint2(value.x, value.y); }
__device__ __forceinline__ void cut(uint4 value, uint4 &x) { x = value; }

#endif
