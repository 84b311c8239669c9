/* SPDX-License-Identifier: Apache-2.0
 * cpu_map.c - what is done to a row of elements before the tree: absolute values, squares, NaNs that do not count; and what a row of keys is worth after it.
 *
 * Every step is an operation of IEEE 754 that rounds once, so that all instruction sets give the same bits. Moduli of complex numbers are taken in
 * f64, where the squares of f32 parts are exact and cannot overflow. */
#include <math.h>
#include <string.h>

#include "ops/reduce/reduce.h"
#include "simd/half.h"

typedef struct {
    float re, im;
} c64;
typedef struct {
    double re, im;
} c128;

#define MAP(name, from_type, to_type, is_nan, expression)                                     \
    static int64_t name(void *to_, const void *from, int64_t n, bool omit, double identity) { \
        to_type *restrict to = to_;                                                           \
        const char *restrict p = from;                                                        \
        int64_t nans = 0;                                                                     \
        const to_type instead = make_##to_type(identity);                                     \
        for (int64_t i = 0; i < n; i++) {                                                     \
            from_type x;                                                                      \
            memcpy(&x, p + i * (int64_t)sizeof x, sizeof x);                                  \
            bool nan = is_nan;                                                                \
            nans += nan;                                                                      \
            to_type y = expression;                                                           \
            to[i] = nan && omit ? instead : y;                                                \
        }                                                                                     \
        return nans;                                                                          \
    }
TESS_INLINE float make_float(double x) { return (float)x; }
TESS_INLINE double make_double(double x) { return x; }
TESS_INLINE uint64_t make_uint64_t(double x) { return (uint64_t)x; }
TESS_INLINE c64 make_c64(double x) { return (c64){(float)x, 0}; }
TESS_INLINE c128 make_c128(double x) { return (c128){x, 0}; }
#define NAN_REAL (x != x)
#define NAN_COMPLEX ((x.re != x.re) | (x.im != x.im))
#define SQUARES ((double)x.re * (double)x.re + (double)x.im * (double)x.im)

MAP(plain_f32, float, float, NAN_REAL, x)
MAP(plain_f64, double, double, NAN_REAL, x)
MAP(plain_c64, c64, c64, NAN_COMPLEX, x)
MAP(plain_c128, c128, c128, NAN_COMPLEX, x)
MAP(abs_f32, float, float, NAN_REAL, fabsf(x))
MAP(abs_f64, double, double, NAN_REAL, fabs(x))
MAP(abs_i64, int64_t, uint64_t, false, x < 0 ? 0 - (uint64_t)x : (uint64_t)x)
MAP(abs_c64, c64, double, NAN_COMPLEX, sqrt(SQUARES))
MAP(abs_c128, c128, double, NAN_COMPLEX, sqrt(SQUARES))
MAP(square_f64, double, double, NAN_REAL, x *x)
MAP(square_c128, c128, double, NAN_COMPLEX, SQUARES)

/* cpu_order.c backwards. */
#define VALUES_FLOAT(name, S, U, lowest, highest, canonical)                                            \
    static void values_##name(void *row, const int64_t *restrict keys, int64_t n, reduce_order order) { \
        U *restrict bits = row;                                                                         \
        const S flip = (S) - (S)order.smallest, nan = order.omit ? (S)(lowest) : (S)(highest);          \
        for (int64_t i = 0; i < n; i++) {                                                               \
            const S key = (S)keys[i], s = (S)(key ^ flip);                                              \
            bits[i] = key == nan ? (U)(canonical) : (U)(s < 0 ? s ^ (S)(highest) : s);                  \
        }                                                                                               \
    }
VALUES_FLOAT(f32, int32_t, uint32_t, INT32_MIN, INT32_MAX, 0x7fc00000)
VALUES_FLOAT(f64, int64_t, uint64_t, INT64_MIN, INT64_MAX, 0x7ff8000000000000)

#define VALUES_HALF(name, convert)                                                                      \
    static void values_##name(void *row, const int64_t *restrict keys, int64_t n, reduce_order order) { \
        uint32_t *restrict bits = row;                                                                  \
        const int16_t flip = order.smallest ? -1 : 0, nan = order.omit ? INT16_MIN : INT16_MAX;         \
        for (int64_t i = 0; i < n; i++) {                                                               \
            const int16_t key = (int16_t)keys[i], s = (int16_t)(key ^ flip);                            \
            const uint32_t number = tess_bits_of_f32(convert((uint16_t)(s < 0 ? s ^ INT16_MAX : s)));   \
            bits[i] = key == nan ? 0x7fc00000u : number;                                                \
        }                                                                                               \
    }
VALUES_HALF(f16, tess_f32_of_f16)
VALUES_HALF(bf16, tess_f32_of_bf16)

#define VALUES_INTEGER(name, top, mask)                                                                 \
    static void values_##name(void *row, const int64_t *restrict keys, int64_t n, reduce_order order) { \
        uint64_t *restrict to = row;                                                                    \
        const uint64_t flip = (uint64_t) - (int64_t)order.smallest;                                     \
        for (int64_t i = 0; i < n; i++)                                                                 \
            to[i] = (((uint64_t)keys[i] ^ flip) ^ (top)) & (mask);                                      \
    }
VALUES_INTEGER(u8, 0x80u, 0xffu)
VALUES_INTEGER(u16, 0x8000u, 0xffffu)
VALUES_INTEGER(u32, 0x80000000u, 0xffffffffu)
VALUES_INTEGER(u64, (uint64_t)1 << 63, UINT64_MAX)
VALUES_INTEGER(signed, 0u, UINT64_MAX)
VALUES_INTEGER(bool, 0u, 1u)

extern const reduce_map_kernels TESS_ISA_NAME(tess_reduce_map_kernels);
const reduce_map_kernels TESS_ISA_NAME(tess_reduce_map_kernels) = {
    .map = {[REDUCE_PLAIN] = {[tess_f32] = plain_f32, [tess_f64] = plain_f64, [tess_c64] = plain_c64, [tess_c128] = plain_c128},
            [REDUCE_ABS] = {[tess_f32] = abs_f32, [tess_f64] = abs_f64, [tess_i64] = abs_i64, [tess_c64] = abs_c64, [tess_c128] = abs_c128},
            [REDUCE_SQUARE] = {[tess_f64] = square_f64, [tess_c128] = square_c128}},
    .values = {[tess_f32] = values_f32,
               [tess_f64] = values_f64,
               [tess_f16] = values_f16,
               [tess_bf16] = values_bf16,
               [tess_bool] = values_bool,
               [tess_u8] = values_u8,
               [tess_u16] = values_u16,
               [tess_u32] = values_u32,
               [tess_u64] = values_u64,
               [tess_i8] = values_signed,
               [tess_i16] = values_signed,
               [tess_i32] = values_signed,
               [tess_i64] = values_signed},
};
