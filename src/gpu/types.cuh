// SPDX-License-Identifier: Apache-2.0
// types.cuh - the element types in kernels: loading them into f32, f64 or 64-bit integers, and the library's conversions on the way out.
//
// -DIN=T_F32 and the like name types by the numbers below. 16-bit floats are kept as their bits and converted by one instruction each, so that no
// header of NVIDIA's is needed. Conversions (tessera.h, section 3): to an integer half to even, then saturated, NaN to 0; to a narrower float half to even;
// to bool nonzero; a NaN that was computed is stored as the one with sign 0 and payload 0.
#ifndef TESS_GPU_TYPES_CUH
#define TESS_GPU_TYPES_CUH

#define T_BOOL 1
#define T_U8 2
#define T_I8 3
#define T_U16 4
#define T_I16 5
#define T_U32 6
#define T_I32 7
#define T_U64 8
#define T_I64 9
#define T_F16 10
#define T_BF16 11
#define T_F32 12
#define T_F64 13

typedef long long i64;
typedef unsigned long long u64;

// Where a block lies in its launch. More blocks than a grid takes along y and z are folded into one line (gpu/layout.c), FOLD_X of them in a row and FOLD_Y rows in a plane.
#ifdef FOLD_X
__device__ __forceinline__ uint3 block_place() { return make_uint3(blockIdx.x % FOLD_X, blockIdx.x / FOLD_X % FOLD_Y, blockIdx.x / FOLD_X / FOLD_Y); }
__device__ __forceinline__ unsigned rows_of_blocks() { return FOLD_Y; }
#else
__device__ __forceinline__ uint3 block_place() { return blockIdx; }
__device__ __forceinline__ unsigned rows_of_blocks() { return gridDim.y; }
#endif

// N bytes (4, 8, 16) as words, by an instruction that the compiler leaves where it stands: it would else put each load before its first use, and few
// would be on their way at once. Also for memory that the kernel does not write: the read-only path.
template <int N> struct alignas(N) words {
    unsigned word[N / 4];
};
__device__ __forceinline__ void load_now(words<16> &v, const void *at) {
    asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3]) : "l"(at));
}
__device__ __forceinline__ void load_now(words<8> &v, const void *at) {
    asm volatile("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(v.word[0]), "=r"(v.word[1]) : "l"(at));
}
__device__ __forceinline__ void load_now(words<4> &v, const void *at) { asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v.word[0]) : "l"(at)); }

// A vector if it is there, else what it was. Asked by a predicate, for behind a branch the compiler put copies that wait for it.
__device__ __forceinline__ void load_if(words<16> &v, const void *at, bool there) {
    asm volatile("{.reg .pred p;\n\tsetp.ne.u32 p, %5, 0;\n\t@p ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];}"
                 : "+r"(v.word[0]), "+r"(v.word[1]), "+r"(v.word[2]), "+r"(v.word[3])
                 : "l"(at), "r"((unsigned)there));
}
__device__ __forceinline__ void load_if(words<8> &v, const void *at, bool there) {
    asm volatile("{.reg .pred p;\n\tsetp.ne.u32 p, %3, 0;\n\t@p ld.global.nc.v2.u32 {%0, %1}, [%2];}"
                 : "+r"(v.word[0]), "+r"(v.word[1])
                 : "l"(at), "r"((unsigned)there));
}
__device__ __forceinline__ void load_if(words<4> &v, const void *at, bool there) {
    asm volatile("{.reg .pred p;\n\tsetp.ne.u32 p, %2, 0;\n\t@p ld.global.nc.u32 %0, [%1];}" : "+r"(v.word[0]) : "l"(at), "r"((unsigned)there));
}

// Of elements that fill no word.
template <> struct alignas(1) words<1> {
    unsigned char word[1];
};
template <> struct alignas(2) words<2> {
    unsigned short word[1];
};
__device__ __forceinline__ void load_now(words<1> &v, const void *at) { v.word[0] = *(const unsigned char *)at; }
__device__ __forceinline__ void load_now(words<2> &v, const void *at) { v.word[0] = *(const unsigned short *)at; }
__device__ __forceinline__ void load_if(words<1> &v, const void *at, bool there) {
    if (there)
        load_now(v, at);
}
__device__ __forceinline__ void load_if(words<2> &v, const void *at, bool there) {
    if (there)
        load_now(v, at);
}

template <int T> struct stored;
template <> struct stored<T_BOOL> { typedef unsigned char type; };
template <> struct stored<T_U8> { typedef unsigned char type; };
template <> struct stored<T_I8> { typedef signed char type; };
template <> struct stored<T_U16> { typedef unsigned short type; };
template <> struct stored<T_I16> { typedef short type; };
template <> struct stored<T_U32> { typedef unsigned type; };
template <> struct stored<T_I32> { typedef int type; };
template <> struct stored<T_U64> { typedef u64 type; };
template <> struct stored<T_I64> { typedef i64 type; };
template <> struct stored<T_F16> { typedef unsigned short type; };
template <> struct stored<T_BF16> { typedef unsigned short type; };
template <> struct stored<T_F32> { typedef float type; };
template <> struct stored<T_F64> { typedef double type; };

// An element as A: float, double, i64 or u64. Exact, or with one rounding.
template <typename A, int T> __device__ A load_as(typename stored<T>::type x) {
    if (T == T_BOOL)
        return (A)(x != 0);
    if (T == T_F16) {
        float f;
        asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"((unsigned short)x));
        return (A)f;
    }
    if (T == T_BF16)
        return (A)__uint_as_float((unsigned)(unsigned short)x << 16);
    return (A)x;
}

// bf16 from f64 without rounding twice: to f32 towards zero with a sticky last bit, then to nearest.
__device__ unsigned short bf16_of(double x) {
    unsigned short h;
    float f = __double2float_rz(x);
    if ((double)f != x && x == x)
        f = __uint_as_float(__float_as_uint(f) | 1);
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(f));
    return h;
}

// An integer of up to 32 bits from a number, half to even and saturated, by the instruction that does so by itself; of an f32 that is NaN it makes 0, too.
#define ROUNDED(real, letter, suffix)                                    \
    template <int T> __device__ __forceinline__ int rounded(real x) {    \
        int i = 0;                                                       \
        if (T == T_U8)                                                   \
            asm("cvt.rni.sat.u8." suffix " %0, %1;" : "=r"(i) : letter(x));  \
        else if (T == T_I8)                                              \
            asm("cvt.rni.sat.s8." suffix " %0, %1;" : "=r"(i) : letter(x));  \
        else if (T == T_U16)                                             \
            asm("cvt.rni.sat.u16." suffix " %0, %1;" : "=r"(i) : letter(x)); \
        else if (T == T_I16)                                             \
            asm("cvt.rni.sat.s16." suffix " %0, %1;" : "=r"(i) : letter(x)); \
        else if (T == T_U32)                                             \
            asm("cvt.rni.u32." suffix " %0, %1;" : "=r"(i) : letter(x)); \
        else if (T == T_I32)                                             \
            asm("cvt.rni.s32." suffix " %0, %1;" : "=r"(i) : letter(x)); \
        return i;                                                        \
    }
ROUNDED(float, "f", "f32")
ROUNDED(double, "d", "f64")
#undef ROUNDED

// A computed value as an element of type T.
template <int T> __device__ typename stored<T>::type store_as(double x) {
    if (T == T_BOOL)
        return x != 0;
    if (T == T_F64)
        return x != x ? __longlong_as_double(0x7ff8000000000000ll) : x;
    if (T == T_F32)
        return x != x ? __uint_as_float(0x7fc00000) : (float)x;
    if (T == T_F16) {
        unsigned short h;
        asm("cvt.rn.f16.f64 %0, %1;" : "=h"(h) : "d"(x));
        return x != x ? 0x7e00 : h;
    }
    if (T == T_BF16)
        return x != x ? 0x7fc0 : bf16_of(x);
    if (x != x)
        return 0;
    if (T == T_U64)
        return x <= 0 ? 0 : x >= 18446744073709551616.0 ? ~0ull : (u64)__double2ull_rn(x);
    if (T == T_I64)
        return x >= 9223372036854775808.0 ? 0x7fffffffffffffffll : x < -9223372036854775808.0 ? -0x7fffffffffffffffll - 1 : __double2ll_rn(x);
    return (typename stored<T>::type)rounded<T>(x);
}
template <int T> __device__ typename stored<T>::type store_as(float x) {
    if (T == T_F32)
        return x != x ? __uint_as_float(0x7fc00000) : x;
    if (T == T_F16 || T == T_BF16) {
        unsigned short h;
        if (T == T_F16)
            asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
        else
            asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(x));
        return x != x ? (T == T_F16 ? 0x7e00 : 0x7fc0) : h;
    }
    if (T >= T_U8 && T <= T_I32)
        return (typename stored<T>::type)rounded<T>(x);
    return store_as<T>((double)x);
}
// Integers saturate, and become floats with one rounding.
template <int T> __device__ typename stored<T>::type store_as(i64 x) {
    if (T == T_BOOL)
        return x != 0;
    if (T == T_F64)
        return (double)x;
    if (T == T_F32)
        return __ll2float_rn(x);
    if (T == T_F16 || T == T_BF16) {
        // 65520 and more is infinity in f16; in bf16 every i64 is finite. A double with a sticky last bit rounds as the integer would.
        double d = __ll2double_rz(x);
        if ((i64)d != x)
            d = __longlong_as_double(__double_as_longlong(d) | 1);
        return store_as<T>(d);
    }
    if (T == T_U64)
        return x < 0 ? 0 : x;
    if (T == T_I64)
        return x;
    const i64 low = T == T_I8 ? -128 : T == T_I16 ? -32768 : T == T_I32 ? -2147483647 - 1 : 0;
    const i64 high = T == T_I8 ? 127 : T == T_U8 ? 255 : T == T_I16 ? 32767 : T == T_U16 ? 65535 : T == T_I32 ? 2147483647 : 4294967295;
    return (typename stored<T>::type)(x < low ? low : x > high ? high : x);
}
template <int T> __device__ typename stored<T>::type store_as(u64 x) {
    if (T == T_BOOL)
        return x != 0;
    if (T == T_U64)
        return x;
    if (T == T_F64)
        return (double)x;
    if (T == T_F32)
        return __ull2float_rn(x);
    if (x <= 0x7fffffffffffffffull)
        return store_as<T>((i64)x);
    if (T == T_F16 || T == T_BF16) {
        double d = __ull2double_rz(x);
        if ((u64)d != x)
            d = __longlong_as_double(__double_as_longlong(d) | 1);
        return store_as<T>(d);
    }
    return store_as<T>((i64)0x7fffffffffffffffll);
}

#endif
