// SPDX-License-Identifier: Apache-2.0
// gpu_index.cuh - an integer index on its way to an entry of the table, policy included, and how the first bad one is remembered.
//
// -DINDEX=T_I32 and the like, -DPERIODIC=1 for the policy WRAP, whose divisions no other kernel should carry; the others share their code. -DWIDE=0: fewer than 2^31 entries, and steps between entries that fit 32
// bits, so that an address is one multiplication.
#ifndef TESS_LOOKUP_GPU_INDEX_CUH
#define TESS_LOOKUP_GPU_INDEX_CUH

#include "gpu/types.cuh"

enum { ERROR, CLIP, WRAP, FILL }; // as tess_outside
#if WIDE
typedef i64 entry;
#else
typedef int entry;
#endif

// The first index in row-major order that lies outside. It is kept as its complement: 0 means that there is none, and the largest wins.
__device__ __forceinline__ void note(u64 *bad, i64 position) { atomicMax(bad, ~(u64)position); }

#if INDEX < T_F16
typedef stored<INDEX>::type index_type;
const bool has_sign = INDEX % 2 == T_I8 % 2;

// False when the index lies outside and the policy is ERROR or FILL. A negative index is a large number without its sign.
__device__ __forceinline__ bool entry_of(index_type v, i64 n, i64 outside, entry &at) {
    bool inside = WIDE || sizeof v == 8 ? (u64)v < (u64)n : (unsigned)v < (unsigned)n;
    at = (entry)v;
    if (inside)
        return true;
    if (PERIODIC) {
        if (has_sign) {
            i64 rest = (i64)v % n;
            at = (entry)(rest < 0 ? rest + n : rest);
        } else {
            at = (entry)((u64)v % (u64)n);
        }
    } else {
        at = (entry)(has_sign && (i64)v < 0 ? 0 : n - 1);
    }
    return PERIODIC || outside == CLIP;
}
#endif

// SIZE bytes that are one element, and a value of 16 bytes cut to one.
template <int BYTES> struct bits_of;
template <> struct bits_of<1> { typedef unsigned char type; };
template <> struct bits_of<2> { typedef unsigned short type; };
template <> struct bits_of<4> { typedef unsigned type; };
template <> struct bits_of<8> { typedef uint2 type; };
template <> struct bits_of<16> { typedef uint4 type; };
__device__ __forceinline__ void cut(uint4 value, unsigned char &x) { x = (unsigned char)value.x; }
__device__ __forceinline__ void cut(uint4 value, unsigned short &x) { x = (unsigned short)value.x; }
__device__ __forceinline__ void cut(uint4 value, unsigned &x) { x = value.x; }
__device__ __forceinline__ void cut(uint4 value, uint2 &x) { x = make_uint2(value.x, value.y); }
__device__ __forceinline__ void cut(uint4 value, uint4 &x) { x = value; }

#endif
