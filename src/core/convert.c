/* SPDX-License-Identifier: Apache-2.0
 * convert.c - rows of elements to and from the compute types. Compiled once per instruction set; plain loops that the compiler vectorises.
 *
 * Every conversion rounds once. Where C would round twice (f64 to f16 by way of f32) the first step rounds to odd, which keeps the information that
 * the second one needs (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", IEEE TC 57,
 * 2008). */
#include <math.h>
#include <string.h>

#include "core/convert.h"
#include "core/straight.h"
#include "simd/half.h"
#include "simd/narrow.h"

#undef bool /* the tables below paste type names, and bool is one */

typedef uint16_t half_bits, bfloat_bits; /* storage of f16 and bf16 */
typedef struct {
    float re, im;
} c64;
typedef struct {
    double re, im;
} c128;

/* ---- single values ---- */

#define bits_of tess_bits_of_f32
#define float_of tess_f32_of_bits
#define from_f16 tess_f32_of_f16
#define from_bf16 tess_f32_of_bf16

TESS_INLINE uint16_t to_f16(float x) {
    uint32_t u = bits_of(x), sign = u >> 16 & 0x8000, magnitude = u & 0x7fffffff;
    uint32_t normal = magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1); /* half to even by carry */
    uint32_t subnormal = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000u;     /* the addition rounds at 2^-24 */
    uint32_t result = magnitude < (113u << 23) ? subnormal : normal >> 13;
    result = magnitude >= 0x477ff000u ? 0x7c00 : result;
    return (uint16_t)(magnitude > 0x7f800000u ? 0x7e00 : result | sign);
}

TESS_INLINE uint16_t to_bf16(float x) {
    uint32_t u = bits_of(x), rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16;
    return (uint16_t)((u & 0x7fffffff) > 0x7f800000u ? 0x7fc0 : rounded);
}

TESS_INLINE float f32_canonical(float x) { return x == x ? x : float_of(0x7fc00000u); }
TESS_INLINE double f64_canonical(double x) {
    uint64_t quiet = 0x7ff8000000000000u;
    double nan;
    memcpy(&nan, &quiet, 8);
    return x == x ? x : nan;
}

/* f64 to f32 rounded to odd: towards zero, last bit set when inexact. Overflow stays a finite value that rounds up again. */
TESS_INLINE float f32_odd(double x) {
    float nearest = (float)x;
    uint32_t u = bits_of(nearest);
    double back = nearest;
    if (back == x || x != x)
        return nearest;
    u -= fabs(back) > fabs(x); /* now truncated */
    return float_of(u | 1);
}
/* Integers to f64 likewise; what they are then rounded to has at most 11 bits. */
TESS_INLINE double u64_odd(uint64_t v) { return v >> 53 ? (double)((v >> 11 | ((v & 0x7ff) != 0))) * 2048.0 : (double)v; }
TESS_INLINE double i64_odd(int64_t v) { return v < 0 ? -u64_odd(0 - (uint64_t)v) : u64_odd((uint64_t)v); }

/* Clamp first, then round: with whole limits the order does not matter, and what is left is small enough to round by adding and subtracting 1.5 *
 * 2^23 (or 2^52), which every instruction set can do. Half to even is the rounding mode's doing. */
#define SATURATE(type, name, low, high)                                                                                                           \
    TESS_INLINE type name##_of_i64(int64_t v) { return (type)(v < (int64_t)(low) ? (int64_t)(low) : v > (int64_t)(high) ? (int64_t)(high) : v); } \
    TESS_INLINE type name##_of_u64(uint64_t v) { return (type)(v > (uint64_t)(high) ? (uint64_t)(high) : v); }                                    \
    TESS_INLINE type name##_of_f64(double x) {                                                                                                    \
        x = x == x ? x : 0;                                                                                                                       \
        x = x < (double)(low) ? (double)(low) : x;                                                                                                \
        x = x > (double)(high) ? (double)(high) : x;                                                                                              \
        return (type)((x + 0x1.8p52) - 0x1.8p52);                                                                                                 \
    }
#define SATURATE_SMALL(type, name, low, high)                \
    SATURATE(type, name, low, high)                          \
    TESS_INLINE type name##_of_f32(float x) {                \
        x = x == x ? x : 0;                                  \
        x = x < (float)(low) ? (float)(low) : x;             \
        x = x > (float)(high) ? (float)(high) : x;           \
        return (type)(int32_t)((x + 0x1.8p23f) - 0x1.8p23f); \
    }
SATURATE_SMALL(uint8_t, u8, 0, UINT8_MAX)
SATURATE_SMALL(int8_t, i8, INT8_MIN, INT8_MAX)
SATURATE_SMALL(uint16_t, u16, 0, UINT16_MAX)
SATURATE_SMALL(int16_t, i16, INT16_MIN, INT16_MAX)
SATURATE(uint32_t, u32, 0, UINT32_MAX)
SATURATE(int32_t, i32, INT32_MIN, INT32_MAX)
#undef SATURATE_SMALL
#undef SATURATE
/* f64 holds every f32, and clamping to 32-bit limits is exact there. */
TESS_INLINE uint32_t u32_of_f32(float x) { return u32_of_f64((double)x); }
TESS_INLINE int32_t i32_of_f32(float x) { return i32_of_f64((double)x); }
TESS_INLINE int64_t i64_of_i64(int64_t v) { return v; }
TESS_INLINE int64_t i64_of_u64(uint64_t v) { return v > INT64_MAX ? INT64_MAX : (int64_t)v; }
TESS_INLINE int64_t i64_of_f64(double x) {
    double r = nearbyint(x);
    if (!(r < 0x1p63))
        return x == x ? INT64_MAX : 0;
    return r < -0x1p63 ? INT64_MIN : (int64_t)r;
}
TESS_INLINE uint64_t u64_of_i64(int64_t v) { return v < 0 ? 0 : (uint64_t)v; }
TESS_INLINE uint64_t u64_of_u64(uint64_t v) { return v; }
TESS_INLINE uint64_t u64_of_f64(double x) {
    double r = nearbyint(x);
    if (!(r > 0))
        return 0;
    return r < 0x1p64 ? (uint64_t)r : UINT64_MAX;
}

TESS_INLINE int64_t i64_of_f32(float x) { return i64_of_f64((double)x); }
TESS_INLINE uint64_t u64_of_f32(float x) { return u64_of_f64((double)x); }

/* ---- the storage types: C type, and how one element is read ---- */
#define SAME(x) (x)
#define TRUTH(x) ((x) != 0)
/* X(tess type, C type, read) for the real types; the compute types that a loader may be asked for are all. */
#define REAL_TYPES(X)               \
    X(bool, uint8_t, TRUTH)         \
    X(u8, uint8_t, SAME)            \
    X(i8, int8_t, SAME)             \
    X(u16, uint16_t, SAME)          \
    X(i16, int16_t, SAME)           \
    X(u32, uint32_t, SAME)          \
    X(i32, int32_t, SAME)           \
    X(u64, uint64_t, SAME)          \
    X(i64, int64_t, SAME)           \
    X(f16, half_bits, from_f16)     \
    X(bf16, bfloat_bits, from_bf16) \
    X(f32, float, SAME)             \
    X(f64, double, SAME)

/* Elements apart: a piece of them one after the other first (core/straight.h), which `load` then has vectors for. Few are not worth it. */
enum { FEW = 16 };
static TESS_NOINLINE void load_pieces(tess_row_loader load, int64_t to_size, void *row, const void *from, int64_t size, int64_t stride, int64_t n) {
    enum { ROOM = 4096 };
    _Alignas(64) char piece[ROOM];
    const tess_straightener straighten = TESS_ISA_NAME(tess_straightener)(size);
    for (int64_t i = 0, m; i < n; i += m) {
        m = tess_min64(ROOM / size, n - i);
        straighten(piece, (const char *)from + i * stride, stride, m);
        load((char *)row + i * to_size, piece, size, m);
    }
}
#define BY_PIECES(load, from_type, to_type)                                                            \
    if (stride != (int64_t)sizeof(from_type) && n >= FEW) {                                            \
        load_pieces(load, (int64_t)sizeof(to_type), row, from, (int64_t)sizeof(from_type), stride, n); \
        return;                                                                                        \
    }

/* Floats never load into integer compute types (no operation does); were one asked for, it would be by the storer's rule. */
#define LOADER(name, from_type, read, compute, to_type, make)                                     \
    static void load_##name##_##compute(void *row, const void *from, int64_t stride, int64_t n) { \
        to_type *restrict to = row;                                                               \
        BY_PIECES(load_##name##_##compute, from_type, to_type)                                    \
        if (stride == (int64_t)sizeof(from_type)) {                                               \
            const from_type *restrict p = from;                                                   \
            for (int64_t i = 0; i < n; i++) {                                                     \
                from_type v;                                                                      \
                memcpy(&v, p + i, sizeof v);                                                      \
                to[i] = make(read(v));                                                            \
            }                                                                                     \
            return;                                                                               \
        }                                                                                         \
        const char *at = from;                                                                    \
        for (int64_t i = 0; i < n; i++, at += stride) {                                           \
            from_type v;                                                                          \
            memcpy(&v, at, sizeof v);                                                             \
            to[i] = make(read(v));                                                                \
        }                                                                                         \
    }
#define AS_U64(x) ((uint64_t)(x))
#define AS_I64(x) ((int64_t)(x))
#define AS_F32(x) ((float)(x))
#define AS_F64(x) ((double)(x))
#define AS_C64(x) ((c64){(float)(x), 0})
#define AS_C128(x) ((c128){(double)(x), 0})
#define LOADERS(name, type, read)                   \
    LOADER(name, type, read, u64, uint64_t, AS_U64) \
    LOADER(name, type, read, i64, int64_t, AS_I64)  \
    LOADER(name, type, read, f32, float, AS_F32)    \
    LOADER(name, type, read, f64, double, AS_F64)   \
    LOADER(name, type, read, c64, c64, AS_C64)      \
    LOADER(name, type, read, c128, c128, AS_C128)
REAL_TYPES(LOADERS)
/* Small integers and f32, what images are made of: the compiler's own vector code for these widths takes three to six times as long. */
#if TESS_NARROW
#define LOADER_NARROW(name, from_type)                                                           \
    static void load_##name##_f32_fast(void *row, const void *from, int64_t stride, int64_t n) { \
        const from_type *p = from;                                                               \
        int64_t i = 0;                                                                           \
        BY_PIECES(load_##name##_f32_fast, from_type, float)                                      \
        for (; stride == (int64_t)sizeof *p && i + TESS_F32_LANES <= n; i += TESS_F32_LANES)     \
            v_f32_store((float *)row + i, v_f32_from_##name(p + i));                             \
        load_##name##_f32((float *)row + i, (const char *)from + i * stride, stride, n - i);     \
    }
LOADER_NARROW(u8, uint8_t)
LOADER_NARROW(i8, int8_t)
LOADER_NARROW(u16, uint16_t)
LOADER_NARROW(i16, int16_t)
#endif
#define C128_OF_C64(v) ((c128){(v).re, (v).im})
#define C64_OF_C128(v) ((c64){(float)(v).re, (float)(v).im})
LOADER(c64, c64, SAME, c64, c64, SAME)
LOADER(c64, c64, SAME, c128, c128, C128_OF_C64)
LOADER(c128, c128, SAME, c64, c64, C64_OF_C128)
LOADER(c128, c128, SAME, c128, c128, SAME)

#define LOADERS_OF(name, type, read)                                                                                 \
    [tess_##name] = {[tess_u64] = load_##name##_u64, [tess_i64] = load_##name##_i64, [tess_f32] = load_##name##_f32, \
                     [tess_f64] = load_##name##_f64, [tess_c64] = load_##name##_c64, [tess_c128] = load_##name##_c128},
static const tess_row_loader loaders[TESS_TYPES][TESS_TYPES] = {
    REAL_TYPES(LOADERS_OF)[tess_c64] = {[tess_c64] = load_c64_c64, [tess_c128] = load_c64_c128},
    [tess_c128] = {[tess_c64] = load_c128_c64, [tess_c128] = load_c128_c128},
};

/* f16 by the instruction where there is one: the same numbers. */
static void quick_f16_f32(void *row, const void *from, int64_t stride, int64_t n) {
    int64_t i = 0;
    BY_PIECES(quick_f16_f32, half_bits, float)
    for (; TESS_HAS_F16 && stride == 2 && i + TESS_F32_LANES <= n; i += TESS_F32_LANES)
        v_f32_store((float *)row + i, v_f32_of_f16((const char *)from + 2 * i));
    load_f16_f32((float *)row + i, (const char *)from + i * stride, stride, n - i);
}
static void quick_f16_f64(void *row, const void *from, int64_t stride, int64_t n) {
    int64_t i = 0;
    BY_PIECES(quick_f16_f64, half_bits, double)
    for (; TESS_HAS_F16 && stride == 2 && i + TESS_F64_LANES <= n; i += TESS_F64_LANES)
        v_f64_store((double *)row + i, v_f64_of_f16((const char *)from + 2 * i));
    load_f16_f64((double *)row + i, (const char *)from + i * stride, stride, n - i);
}

tess_row_loader TESS_ISA_NAME(tess_loader)(tess_type from, tess_type compute);
tess_row_loader TESS_ISA_NAME(tess_loader)(tess_type from, tess_type compute) {
    if (from == tess_f16 && (compute == tess_f32 || compute == tess_f64))
        return compute == tess_f32 ? quick_f16_f32 : quick_f16_f64;
#if TESS_NARROW
    if (compute == tess_f32)
        switch (from) {
        case tess_u8: return load_u8_f32_fast;
        case tess_i8: return load_i8_f32_fast;
        case tess_u16: return load_u16_f32_fast;
        case tess_i16: return load_i16_f32_fast;
        default: break;
        }
#endif
    return loaders[from][compute];
}

/* ---- storers: one expression each ---- */
#define STORER(compute, from_type, name, to_type, make)                                          \
    static void store_##compute##_##name(void *to, int64_t stride, const void *row, int64_t n) { \
        const from_type *restrict from = row;                                                    \
        if (stride == (int64_t)sizeof(to_type)) {                                                \
            to_type *restrict p = to;                                                            \
            for (int64_t i = 0; i < n; i++) {                                                    \
                to_type v = make(from[i]);                                                       \
                memcpy(p + i, &v, sizeof v);                                                     \
            }                                                                                    \
            return;                                                                              \
        }                                                                                        \
        char *at = to;                                                                           \
        for (int64_t i = 0; i < n; i++, at += stride) {                                          \
            to_type v = make(from[i]);                                                           \
            memcpy(at, &v, sizeof v);                                                            \
        }                                                                                        \
    }
#define F32_OF_C(v) f32_canonical((float)(v))
#define F64_OF_C(v) f64_canonical((double)(v))
#define C64_OF(v) ((c64){f32_canonical((float)(v)), 0})
#define C128_OF(v) ((c128){f64_canonical((double)(v)), 0})
#define F16_OF_F64(v) to_f16(f32_odd(v))
#define BF16_OF_F64(v) to_bf16(f32_odd(v))
#define F16_OF_U64(v) to_f16(f32_odd(u64_odd(v)))
#define BF16_OF_U64(v) to_bf16(f32_odd(u64_odd(v)))
#define F16_OF_I64(v) to_f16(f32_odd(i64_odd(v)))
#define BF16_OF_I64(v) to_bf16(f32_odd(i64_odd(v)))
#define TRUTH8(v) ((uint8_t)((v) != 0))
#define C64_STORE(v) ((c64){f32_canonical((float)(v).re), f32_canonical((float)(v).im)})
#define C128_STORE(v) ((c128){f64_canonical((double)(v).re), f64_canonical((double)(v).im)})
#define INTEGER_STORERS(compute, type, suffix)            \
    STORER(compute, type, bool, uint8_t, TRUTH8)          \
    STORER(compute, type, u8, uint8_t, u8_of_##suffix)    \
    STORER(compute, type, i8, int8_t, i8_of_##suffix)     \
    STORER(compute, type, u16, uint16_t, u16_of_##suffix) \
    STORER(compute, type, i16, int16_t, i16_of_##suffix)  \
    STORER(compute, type, u32, uint32_t, u32_of_##suffix) \
    STORER(compute, type, i32, int32_t, i32_of_##suffix)  \
    STORER(compute, type, u64, uint64_t, u64_of_##suffix) \
    STORER(compute, type, i64, int64_t, i64_of_##suffix)  \
    STORER(compute, type, f32, float, F32_OF_C)           \
    STORER(compute, type, f64, double, F64_OF_C)          \
    STORER(compute, type, c64, c64, C64_OF)               \
    STORER(compute, type, c128, c128, C128_OF)
INTEGER_STORERS(u64, uint64_t, u64)
INTEGER_STORERS(i64, int64_t, i64)
INTEGER_STORERS(f32, float, f32)
INTEGER_STORERS(f64, double, f64)
STORER(u64, uint64_t, f16, half_bits, F16_OF_U64)
STORER(u64, uint64_t, bf16, bfloat_bits, BF16_OF_U64)
STORER(i64, int64_t, f16, half_bits, F16_OF_I64)
STORER(i64, int64_t, bf16, bfloat_bits, BF16_OF_I64)
STORER(f32, float, f16, half_bits, to_f16)
STORER(f32, float, bf16, bfloat_bits, to_bf16)
STORER(f64, double, f16, half_bits, F16_OF_F64)
STORER(f64, double, bf16, bfloat_bits, BF16_OF_F64)
STORER(c64, c64, c64, c64, C64_STORE)
STORER(c64, c64, c128, c128, C128_STORE)
STORER(c128, c128, c64, c64, C64_STORE)
STORER(c128, c128, c128, c128, C128_STORE)

#if TESS_NARROW
#define STORER_NARROW(name, to_type)                                                            \
    static void store_f32_##name##_fast(void *to, int64_t stride, const void *row, int64_t n) { \
        enum { AT_ONCE = 4 * TESS_F32_LANES };                                                  \
        if (stride != (int64_t)sizeof(to_type)) {                                               \
            store_f32_##name(to, stride, row, n);                                               \
            return;                                                                             \
        }                                                                                       \
        int64_t i = 0;                                                                          \
        for (; i + AT_ONCE <= n; i += AT_ONCE)                                                  \
            tess_##name##_of_f32((to_type *)to + i, (const float *)row + i);                    \
        if (i < n) { /* tiles are often narrower than that */                                   \
            float rest[AT_ONCE] = {0};                                                          \
            to_type made[AT_ONCE];                                                              \
            memcpy(rest, (const float *)row + i, (size_t)(n - i) * sizeof *rest);               \
            tess_##name##_of_f32(made, rest);                                                   \
            memcpy((to_type *)to + i, made, (size_t)(n - i) * sizeof *made);                    \
        }                                                                                       \
    }
STORER_NARROW(u8, uint8_t)
STORER_NARROW(i8, int8_t)
STORER_NARROW(u16, uint16_t)
STORER_NARROW(i16, int16_t)
#endif

#define STORERS_OF(compute)                                                                                                             \
    [tess_##compute] = {[tess_bool] = store_##compute##_bool, [tess_u8] = store_##compute##_u8,     [tess_i8] = store_##compute##_i8,   \
                        [tess_u16] = store_##compute##_u16,   [tess_i16] = store_##compute##_i16,   [tess_u32] = store_##compute##_u32, \
                        [tess_i32] = store_##compute##_i32,   [tess_u64] = store_##compute##_u64,   [tess_i64] = store_##compute##_i64, \
                        [tess_f16] = store_##compute##_f16,   [tess_bf16] = store_##compute##_bf16, [tess_f32] = store_##compute##_f32, \
                        [tess_f64] = store_##compute##_f64,   [tess_c64] = store_##compute##_c64,   [tess_c128] = store_##compute##_c128}
static const tess_row_storer storers[TESS_TYPES][TESS_TYPES] = {
    STORERS_OF(u64),
    STORERS_OF(i64),
    STORERS_OF(f32),
    STORERS_OF(f64),
    [tess_c64] = {[tess_c64] = store_c64_c64, [tess_c128] = store_c64_c128},
    [tess_c128] = {[tess_c64] = store_c128_c64, [tess_c128] = store_c128_c128},
};

static void quick_f32_f16(void *to, int64_t stride, const void *row, int64_t n) {
    int64_t i = 0;
    for (; TESS_HAS_F16 && stride == 2 && i + TESS_F32_LANES <= n; i += TESS_F32_LANES)
        v_f32_to_f16((char *)to + 2 * i, v_f32_load((const float *)row + i));
    store_f32_f16((char *)to + i * stride, stride, (const float *)row + i, n - i);
}

tess_row_storer TESS_ISA_NAME(tess_storer)(tess_type compute, tess_type to);
tess_row_storer TESS_ISA_NAME(tess_storer)(tess_type compute, tess_type to) {
    if (compute == tess_f32 && to == tess_f16)
        return quick_f32_f16;
#if TESS_NARROW
    if (compute == tess_f32)
        switch (to) {
        case tess_u8: return store_f32_u8_fast;
        case tess_i8: return store_f32_i8_fast;
        case tess_u16: return store_f32_u16_fast;
        case tess_i16: return store_f32_i16_fast;
        default: break;
        }
#endif
    return storers[compute][to];
}
