/* SPDX-License-Identifier: Apache-2.0
 * cpu_order.c - extremes, their places, and counts of zeros, by integer comparisons of keys.
 *
 * A float's bits are a sign and a magnitude; turning them into two's complement gives a key that orders as the numbers do, -0 below +0, and puts NaNs
 * beyond both infinities. One rule then serves every type, and min needs no loop of its own: it looks for the greatest complement. */
#include <string.h>

#include "ops/reduce/reduce.h"

/* flip is 0 or -1; both keys that NaN can get belong to no number. */
#define INTEGER_KEY(name, S, U, to_signed)                \
    TESS_INLINE S key_##name(U u, reduce_order order) {   \
        const U top = (U)((U)1 << (8 * sizeof(U) - 1));   \
        S s = (S)(to_signed ? u ^ top : u);               \
        if (!to_signed && order.magnitude)                \
            s = (S)((U)((u & top) ? (U)0 - u : u) ^ top); \
        return (S)(s ^ (S) - (S)order.smallest);          \
    }
INTEGER_KEY(u8, int8_t, uint8_t, 1)
INTEGER_KEY(i8, int8_t, uint8_t, 0)
INTEGER_KEY(u16, int16_t, uint16_t, 1)
INTEGER_KEY(i16, int16_t, uint16_t, 0)
INTEGER_KEY(u32, int32_t, uint32_t, 1)
INTEGER_KEY(i32, int32_t, uint32_t, 0)
INTEGER_KEY(u64, int64_t, uint64_t, 1)
INTEGER_KEY(i64, int64_t, uint64_t, 0)
TESS_INLINE int8_t key_bool(uint8_t u, reduce_order order) { return (int8_t)((u != 0) ^ (int8_t) - (int8_t)order.smallest); }

/* Without branches: the complement of the magnitude where the sign is set (and kept). */
#define FLOAT_KEY(name, S, U, infinity, lowest, highest)                                                        \
    TESS_INLINE S key_##name(U u, reduce_order order) {                                                         \
        const U low = (U)((U)-1 >> 1), keep = order.magnitude ? 0 : (U)-1, at_zero = order.numeric ? 0 : (U)-1; \
        const S flip = (S) - (S)order.smallest, nan = order.omit ? (S)(lowest) : (S)(highest);                  \
        U magnitude = (U)(u & low), sign = (U)((S)u >> (8 * sizeof(U) - 1));                                    \
        U nonzero = (U)((U)0 - (U)(magnitude != 0));                                                            \
        S s = (S)((S)(magnitude ^ (sign & keep & (nonzero | at_zero))) ^ flip);                                 \
        return magnitude > (U)(infinity) ? nan : s;                                                             \
    }
FLOAT_KEY(f16, int16_t, uint16_t, 0x7c00, INT16_MIN, INT16_MAX)
FLOAT_KEY(bf16, int16_t, uint16_t, 0x7f80, INT16_MIN, INT16_MAX)
FLOAT_KEY(f32, int32_t, uint32_t, 0x7f800000, INT32_MIN, INT32_MAX)
FLOAT_KEY(f64, int64_t, uint64_t, 0x7ff0000000000000, INT64_MIN, INT64_MAX)

#define READ(U, p, i, stride) \
    U u;                      \
    memcpy(&u, (const char *)(p) + (i) * (stride), sizeof u)

#define ORDER(name, S, U, lowest)                                                                                   \
    static int64_t greatest_##name(const void *p, int64_t stride, int64_t n, reduce_order order) {                  \
        S best = lowest;                                                                                            \
        if (stride == (int64_t)sizeof(U)) {                                                                         \
            for (int64_t i = 0; i < n; i++) {                                                                       \
                READ(U, p, i, (int64_t)sizeof(U));                                                                  \
                S key = key_##name(u, order);                                                                       \
                best = key > best ? key : best;                                                                     \
            }                                                                                                       \
            return best;                                                                                            \
        }                                                                                                           \
        for (int64_t i = 0; i < n; i++) {                                                                           \
            READ(U, p, i, stride);                                                                                  \
            S key = key_##name(u, order);                                                                           \
            best = key > best ? key : best;                                                                         \
        }                                                                                                           \
        return best;                                                                                                \
    }                                                                                                               \
    static int64_t find_##name(const void *p, int64_t stride, int64_t n, reduce_order order, int64_t key) {         \
        int64_t start = 0;                                                                                          \
        if (stride == (int64_t)sizeof(U)) /* 256 at a time, so that the search keeps the pace of the comparison */  \
            for (; start + 256 <= n; start += 256) {                                                                \
                U found = 0;                                                                                        \
                for (int64_t i = 0; i < 256; i++) {                                                                 \
                    READ(U, p, start + i, (int64_t)sizeof(U));                                                      \
                    found = (U)(found | (key_##name(u, order) == (S)key));                                          \
                }                                                                                                   \
                if (found)                                                                                          \
                    break;                                                                                          \
            }                                                                                                       \
        for (int64_t i = start; i < n; i++) {                                                                       \
            READ(U, p, i, stride);                                                                                  \
            if (key_##name(u, order) == (S)key)                                                                     \
                return i;                                                                                           \
        }                                                                                                           \
        return n;                                                                                                   \
    }                                                                                                               \
    static void keys_##name(int64_t *restrict keys, const void *p, int64_t stride, int64_t n, reduce_order order) { \
        if (stride == (int64_t)sizeof(U))                                                                           \
            for (int64_t i = 0; i < n; i++) {                                                                       \
                READ(U, p, i, (int64_t)sizeof(U));                                                                  \
                keys[i] = key_##name(u, order);                                                                     \
            }                                                                                                       \
        else                                                                                                        \
            for (int64_t i = 0; i < n; i++) {                                                                       \
                READ(U, p, i, stride);                                                                              \
                keys[i] = key_##name(u, order);                                                                     \
            }                                                                                                       \
    }
#define ORDER_ROWS(name, S, U, least)                                                                                                     \
    static void lowest_##name(void *best, int64_t n) {                                                                                    \
        S *b = best;                                                                                                                      \
        for (int64_t c = 0; c < n; c++)                                                                                                   \
            b[c] = least;                                                                                                                 \
    }                                                                                                                                     \
    static void widen_##name(int64_t *restrict keys, const void *best, int64_t n) {                                                       \
        const S *b = best;                                                                                                                \
        for (int64_t c = 0; c < n; c++)                                                                                                   \
            keys[c] = b[c];                                                                                                               \
    }                                                                                                                                     \
    static void greatest_rows_##name(void *best, const char *base, const int64_t *offsets, int64_t rows, int64_t n, reduce_order order) { \
        S *restrict b = best;                                                                                                             \
        int64_t r = 0;                                                                                                                    \
        for (; r + 2 <= rows; r += 2) {                                                                                                   \
            const char *restrict p = base + offsets[r], *restrict q = base + offsets[r + 1];                                              \
            for (int64_t c = 0; c < n; c++) {                                                                                             \
                READ(U, p, c, (int64_t)sizeof(U));                                                                                        \
                U v;                                                                                                                      \
                memcpy(&v, q + c * (int64_t)sizeof(U), sizeof v);                                                                         \
                S x = key_##name(u, order), y = key_##name(v, order);                                                                     \
                S z = x > y ? x : y;                                                                                                      \
                b[c] = z > b[c] ? z : b[c];                                                                                               \
            }                                                                                                                             \
        }                                                                                                                                 \
        if (r < rows)                                                                                                                     \
            for (int64_t c = 0; c < n; c++) {                                                                                             \
                READ(U, base + offsets[r], c, (int64_t)sizeof(U));                                                                        \
                S x = key_##name(u, order);                                                                                               \
                b[c] = x > b[c] ? x : b[c];                                                                                               \
            }                                                                                                                             \
    }
ORDER(bool, int8_t, uint8_t, INT8_MIN)
ORDER(u8, int8_t, uint8_t, INT8_MIN)
ORDER(i8, int8_t, uint8_t, INT8_MIN)
ORDER(u16, int16_t, uint16_t, INT16_MIN)
ORDER(i16, int16_t, uint16_t, INT16_MIN)
ORDER(u32, int32_t, uint32_t, INT32_MIN)
ORDER(i32, int32_t, uint32_t, INT32_MIN)
ORDER(u64, int64_t, uint64_t, INT64_MIN)
ORDER(i64, int64_t, uint64_t, INT64_MIN)
ORDER(f16, int16_t, uint16_t, INT16_MIN)
ORDER(bf16, int16_t, uint16_t, INT16_MIN)
ORDER(f32, int32_t, uint32_t, INT32_MIN)
ORDER(f64, int64_t, uint64_t, INT64_MIN)
ORDER_ROWS(bool, int8_t, uint8_t, INT8_MIN)
ORDER_ROWS(u8, int8_t, uint8_t, INT8_MIN)
ORDER_ROWS(i8, int8_t, uint8_t, INT8_MIN)
ORDER_ROWS(u16, int16_t, uint16_t, INT16_MIN)
ORDER_ROWS(i16, int16_t, uint16_t, INT16_MIN)
ORDER_ROWS(u32, int32_t, uint32_t, INT32_MIN)
ORDER_ROWS(i32, int32_t, uint32_t, INT32_MIN)
ORDER_ROWS(u64, int64_t, uint64_t, INT64_MIN)
ORDER_ROWS(i64, int64_t, uint64_t, INT64_MIN)
ORDER_ROWS(f16, int16_t, uint16_t, INT16_MIN)
ORDER_ROWS(bf16, int16_t, uint16_t, INT16_MIN)
ORDER_ROWS(f32, int32_t, uint32_t, INT32_MIN)
ORDER_ROWS(f64, int64_t, uint64_t, INT64_MIN)

/* The elements of one width count alike but for the sign bit and where NaNs begin; a counter of the same width needs no widening, so blocks are as
 * long as it can count. mask drops the sign. */
#define COUNT(name, U, mask, is_nan)                                                                           \
    static void count_##name(const void *elements, int64_t stride, int64_t n, int64_t *zeros, int64_t *nans) { \
        const char *p = elements;                                                                              \
        const int64_t block = sizeof(U) == 1 ? 192 : REDUCE_LEAF;                                              \
        *zeros = *nans = 0;                                                                                    \
        for (int64_t m; n > 0; n -= m, p += m * stride) {                                                      \
            U zero = 0, nan = 0;                                                                               \
            m = tess_min64(n, block);                                                                          \
            if (stride == (int64_t)sizeof(U))                                                                  \
                for (int64_t i = 0; i < m; i++) {                                                              \
                    READ(U, p, i, (int64_t)sizeof(U));                                                         \
                    zero = (U)(zero + ((u & (U)(mask)) == 0));                                                 \
                    nan = (U)(nan + (is_nan));                                                                 \
                }                                                                                              \
            else                                                                                               \
                for (int64_t i = 0; i < m; i++) {                                                              \
                    READ(U, p, i, stride);                                                                     \
                    zero = (U)(zero + ((u & (U)(mask)) == 0));                                                 \
                    nan = (U)(nan + (is_nan));                                                                 \
                }                                                                                              \
            *zeros += (int64_t)zero;                                                                           \
            *nans += (int64_t)nan;                                                                             \
        }                                                                                                      \
    }
COUNT(8, uint8_t, -1, 0)
COUNT(16, uint16_t, -1, 0)
COUNT(32, uint32_t, -1, 0)
COUNT(64, uint64_t, -1, 0)
COUNT(f16, uint16_t, 0x7fff, (u & 0x7fff) > 0x7c00)
COUNT(bf16, uint16_t, 0x7fff, (u & 0x7fff) > 0x7f80)
COUNT(f32, uint32_t, INT32_MAX, (u & INT32_MAX) > 0x7f800000)
COUNT(f64, uint64_t, INT64_MAX, (u & INT64_MAX) > 0x7ff0000000000000)

#define COUNT_COMPLEX(name, type)                                                                              \
    static void count_##name(const void *elements, int64_t stride, int64_t n, int64_t *zeros, int64_t *nans) { \
        const char *p = elements;                                                                              \
        int64_t zero = 0, nan = 0;                                                                             \
        for (int64_t i = 0; i < n; i++, p += stride) {                                                         \
            type part[2];                                                                                      \
            memcpy(part, p, sizeof part);                                                                      \
            zero += part[0] == 0 && part[1] == 0;                                                              \
            nan += part[0] != part[0] || part[1] != part[1];                                                   \
        }                                                                                                      \
        *zeros = zero;                                                                                         \
        *nans = nan;                                                                                           \
    }
COUNT_COMPLEX(c64, float)
COUNT_COMPLEX(c128, double)

#undef bool /* type names are pasted below */
#define ORDERED(X) X(bool), X(u8), X(i8), X(u16), X(i16), X(u32), X(i32), X(u64), X(i64), X(f16), X(bf16), X(f32), X(f64)
#define GREATEST(name) [tess_##name] = greatest_##name
#define FIND(name) [tess_##name] = find_##name
#define KEYS(name) [tess_##name] = keys_##name
#define LOWEST(name) [tess_##name] = lowest_##name
#define WIDEN(name) [tess_##name] = widen_##name
#define GREATEST_ROWS(name) [tess_##name] = greatest_rows_##name
extern const reduce_order_kernels TESS_ISA_NAME(tess_reduce_order_kernels);
const reduce_order_kernels TESS_ISA_NAME(tess_reduce_order_kernels) = {
    .greatest = {ORDERED(GREATEST)},
    .find = {ORDERED(FIND)},
    .keys = {ORDERED(KEYS)},
    .lowest = {ORDERED(LOWEST)},
    .widen = {ORDERED(WIDEN)},
    .greatest_rows = {ORDERED(GREATEST_ROWS)},
    .count = {[tess_bool] = count_8,
              [tess_u8] = count_8,
              [tess_i8] = count_8,
              [tess_u16] = count_16,
              [tess_i16] = count_16,
              [tess_u32] = count_32,
              [tess_i32] = count_32,
              [tess_u64] = count_64,
              [tess_i64] = count_64,
              [tess_f16] = count_f16,
              [tess_bf16] = count_bf16,
              [tess_f32] = count_f32,
              [tess_f64] = count_f64,
              [tess_c64] = count_c64,
              [tess_c128] = count_c128},
};
