/* SPDX-License-Identifier: Apache-2.0
 * short_narrow.h - sums, extremes, places and counts over short rows of one or two bytes an element that were turned into lines (short_lines.h); places and counts
 * of wider integers, counts of floats; included by cpu_short.c.
 *
 * A lane is a row, as wide as its elements: 64 rows of bytes are compared by one instruction of AVX-512. Extremes go by keys, which vectors of integers find
 * without branches. Numbers of terms fit a byte, and so do sums of 256 terms twice an element's width. */
#ifndef TESS_OPS_REDUCE_SHORT_NARROW_H
#define TESS_OPS_REDUCE_SHORT_NARROW_H

#include <string.h>

#include "ops/reduce/reduce.h"
#include "simd/most.h"

/* Elements with even and with odd numbers are the lower and the upper halves of numbers twice as wide. */
#define NARROW_SUMS(name, wide, sum_type, LOW, HIGH)                                  \
    static void short_integers_##name(uint64_t *sums, const void *terms, int64_t k) { \
        enum { PAIRS = 64 / sizeof(sum_type) };                                       \
        sum_type even[PAIRS], odd[PAIRS];                                             \
        for (int part = 0; part < 64; part += TESS_VECTOR_BYTES) {                    \
            const char *p = (const char *)terms + part;                               \
            wide low = {0}, high = {0};                                               \
            for (int64_t j = 0; j < k; j++, p += 64) {                                \
                wide x;                                                               \
                memcpy(&x, p, sizeof x);                                              \
                low += (wide)(LOW);                                                   \
                high += (wide)(HIGH);                                                 \
            }                                                                         \
            memcpy((char *)even + part, &low, sizeof low);                            \
            memcpy((char *)odd + part, &high, sizeof high);                           \
        }                                                                             \
        for (int i = 0; i < PAIRS; i++) {                                             \
            sums[2 * i] = (uint64_t)even[i];                                          \
            sums[2 * i + 1] = (uint64_t)odd[i];                                       \
        }                                                                             \
    }
NARROW_SUMS(u8, v_u16, uint16_t, x & 0xff, x >> 8)
NARROW_SUMS(i8, v_u16, int16_t, (v_i16)(x << 8) >> 8, (v_i16)x >> 8)
NARROW_SUMS(u16, v_u32, uint32_t, x & 0xffff, x >> 16)
NARROW_SUMS(i16, v_u32, int32_t, (v_i32)(x << 16) >> 16, (v_i32)x >> 16)

/* keys.h for vectors. Bytes of bool are 0 or anything else. */
#define VECTOR_KEY(name, vector, plain, U, to_signed)                                                               \
    TESS_INLINE vector vector_key_##name(vector x, reduce_order order) {                                            \
        const U top = (U)((U)1 << (8 * sizeof(U) - 1)), flip = (U)((U)0 - order.smallest);                          \
        const plain negative = to_signed || !order.magnitude ? (plain){0} : (plain)(x < 0);                         \
        return (vector)((((plain)x ^ negative) - negative) ^ (U)((to_signed || order.magnitude ? top : 0) ^ flip)); \
    }
VECTOR_KEY(u8, v_i8, v_u8, uint8_t, 1)
VECTOR_KEY(i8, v_i8, v_u8, uint8_t, 0)
VECTOR_KEY(u16, v_i16, v_u16, uint16_t, 1)
VECTOR_KEY(i16, v_i16, v_u16, uint16_t, 0)
VECTOR_KEY(u32, v_i32, v_u32, uint32_t, 1)
VECTOR_KEY(i32, v_i32, v_u32, uint32_t, 0)
VECTOR_KEY(u64, v_i64, v_u64, uint64_t, 1)
VECTOR_KEY(i64, v_i64, v_u64, uint64_t, 0)
TESS_INLINE v_i8 vector_key_bool(v_i8 x, reduce_order order) { return ((v_i8)(x == 0) + 1) ^ (int8_t)(order.smallest ? -1 : 0); }
#define VECTOR_FLOAT_KEY(name, infinity)                                                                              \
    TESS_INLINE v_i16 vector_key_##name(v_i16 x, reduce_order order) {                                                \
        const int16_t keep = order.magnitude ? 0 : -1, at_zero = order.numeric ? 0 : -1;                              \
        const int16_t flip = order.smallest ? -1 : 0, nan = order.omit ? INT16_MIN : INT16_MAX;                       \
        const v_i16 magnitude = x & INT16_MAX, nonzero = (v_i16)(magnitude != 0), no = (v_i16)(magnitude > infinity); \
        const v_i16 number = (magnitude ^ ((x >> 15) & keep & (nonzero | at_zero))) ^ flip;                           \
        return (number & ~no) | (no & nan);                                                                           \
    }
VECTOR_FLOAT_KEY(f16, 0x7c00)
VECTOR_FLOAT_KEY(bf16, 0x7f80)

/* The greatest keys. */
#define NARROW_GREATEST(name, vector)                                                                 \
    static void short_greatest_##name(void *keys, const void *terms, int64_t k, reduce_order order) { \
        for (int part = 0; part < 64; part += TESS_VECTOR_BYTES) {                                    \
            const char *p = (const char *)terms + part;                                               \
            vector best, x;                                                                           \
            memcpy(&x, p, sizeof x);                                                                  \
            best = vector_key_##name(x, order);                                                       \
            for (int64_t j = 1; j < k; j++) {                                                         \
                memcpy(&x, p += 64, sizeof x);                                                        \
                best = vector##_greater(vector_key_##name(x, order), best);                           \
            }                                                                                         \
            memcpy((char *)keys + part, &best, sizeof best);                                          \
        }                                                                                             \
    }
NARROW_GREATEST(bool, v_i8)
NARROW_GREATEST(u8, v_i8)
NARROW_GREATEST(i8, v_i8)
NARROW_GREATEST(u16, v_i16)
NARROW_GREATEST(i16, v_i16)
NARROW_GREATEST(f16, v_i16)
NARROW_GREATEST(bf16, v_i16)

/* The first terms that have them. Never by magnitude. plain: vectors without signs, of the terms' numbers. LINE: bytes. */
#define LINE_FIRST(name, vector, plain, S, U, LINE)                                                     \
    static void short_first_##name(int64_t *places, const void *terms, int64_t k, reduce_order order) { \
        order.magnitude = false;                                                                        \
        enum { ROWS_OF_LINE = (LINE) / sizeof(S) };                                                     \
        const S none = (S)((U)1 << (8 * sizeof(U) - 1));                                                \
        S most[ROWS_OF_LINE];                                                                           \
        U first[ROWS_OF_LINE];                                                                          \
        for (int part = 0; part < (LINE); part += TESS_VECTOR_BYTES) {                                  \
            const char *p = (const char *)terms + part;                                                 \
            plain at = {0}, number = {0};                                                               \
            vector best, x;                                                                             \
            memcpy(&x, p, sizeof x);                                                                    \
            best = vector_key_##name(x, order);                                                         \
            for (int64_t j = 1; j < k; j++) {                                                           \
                memcpy(&x, p += (LINE), sizeof x);                                                      \
                x = vector_key_##name(x, order);                                                        \
                number += 1;                                                                            \
                const plain beats = (plain)(x > best);                                                  \
                at = (at & ~beats) | (number & beats);                                                  \
                best = vector##_greater(x, best);                                                       \
            }                                                                                           \
            memcpy((char *)most + part, &best, sizeof best);                                            \
            memcpy((char *)first + part, &at, sizeof at);                                               \
        }                                                                                               \
        for (int i = 0; i < ROWS_OF_LINE; i++)                                                          \
            places[i] = first[i];                                                                       \
        for (int i = 0; order.omit && i < ROWS_OF_LINE; i++)                                            \
            places[i] = most[i] == none ? -1 : places[i];                                               \
    }
LINE_FIRST(bool, v_i8, v_u8, int8_t, uint8_t, 64)
LINE_FIRST(u8, v_i8, v_u8, int8_t, uint8_t, 64)
LINE_FIRST(i8, v_i8, v_u8, int8_t, uint8_t, 64)
LINE_FIRST(u16, v_i16, v_u16, int16_t, uint16_t, 64)
LINE_FIRST(i16, v_i16, v_u16, int16_t, uint16_t, 64)
LINE_FIRST(f16, v_i16, v_u16, int16_t, uint16_t, 64)
LINE_FIRST(bf16, v_i16, v_u16, int16_t, uint16_t, 64)
LINE_FIRST(u32, v_i32, v_u32, int32_t, uint32_t, 64)
LINE_FIRST(i32, v_i32, v_u32, int32_t, uint32_t, 64)
LINE_FIRST(u64, v_i64, v_u64, int64_t, uint64_t, 128)
LINE_FIRST(i64, v_i64, v_u64, int64_t, uint64_t, 128)

/* How many terms are 0; sign: what does not tell a float's zeros apart from it. In goes of 128, whose number fits a byte. */
#define ZEROS(name, vector, S, rows, sign)                                              \
    static void short_zeros_##name(int64_t *zeros, const void *terms, int64_t k) {      \
        enum { LINE = (rows) * sizeof(S) };                                             \
        for (int i = 0; i < (rows); i++)                                                \
            zeros[i] = 0;                                                               \
        for (int64_t from = 0; from < k; from += 128) {                                 \
            S count[rows];                                                              \
            for (int part = 0; part < LINE; part += TESS_VECTOR_BYTES) {                \
                const char *p = (const char *)terms + from * LINE + part;               \
                vector sum = {0};                                                       \
                for (int64_t j = from; j < tess_min64(k, from + 128); j++, p += LINE) { \
                    vector x;                                                           \
                    memcpy(&x, p, sizeof x);                                            \
                    sum -= (vector)((x & (S) ~(sign)) == 0);                            \
                }                                                                       \
                memcpy((char *)count + part, &sum, sizeof sum);                         \
            }                                                                           \
            for (int i = 0; i < (rows); i++)                                            \
                zeros[i] += count[i];                                                   \
        }                                                                               \
    }
ZEROS(8, v_u8, uint8_t, 64, 0)
ZEROS(16, v_u16, uint16_t, 32, 0)
ZEROS(half, v_u16, uint16_t, 32, 0x8000)
ZEROS(32, v_u32, uint32_t, 16, 0)
ZEROS(f32, v_u32, uint32_t, 16, 0x80000000)
ZEROS(64, v_u64, uint64_t, 16, 0)
ZEROS(f64, v_u64, uint64_t, 16, (uint64_t)1 << 63)

static void short_integers_bool(uint64_t *sums, const void *terms, int64_t k) {
    int64_t zeros[64];
    short_zeros_8(zeros, terms, k);
    for (int i = 0; i < 64; i++)
        sums[i] = (uint64_t)(k - zeros[i]);
}

#define SHORT_NARROW_INTEGERS                                                                                                         \
    [tess_bool] = short_integers_bool, [tess_u8] = short_integers_u8, [tess_i8] = short_integers_i8, [tess_u16] = short_integers_u16, \
    [tess_i16] = short_integers_i16
#define SHORT_NARROW_GREATEST                                                                                                         \
    [tess_bool] = short_greatest_bool, [tess_u8] = short_greatest_u8, [tess_i8] = short_greatest_i8, [tess_u16] = short_greatest_u16, \
    [tess_i16] = short_greatest_i16, [tess_f16] = short_greatest_f16, [tess_bf16] = short_greatest_bf16
#define SHORT_NARROW_FIRST                                                                                                \
    [tess_bool] = short_first_bool, [tess_u8] = short_first_u8, [tess_i8] = short_first_i8, [tess_u16] = short_first_u16, \
    [tess_i16] = short_first_i16, [tess_f16] = short_first_f16, [tess_bf16] = short_first_bf16
#define SHORT_ZEROS                                                                                                                              \
    [tess_bool] = short_zeros_8, [tess_u8] = short_zeros_8, [tess_i8] = short_zeros_8, [tess_u16] = short_zeros_16, [tess_i16] = short_zeros_16, \
    [tess_f16] = short_zeros_half, [tess_bf16] = short_zeros_half, [tess_u32] = short_zeros_32, [tess_i32] = short_zeros_32,                     \
    [tess_f32] = short_zeros_f32, [tess_u64] = short_zeros_64, [tess_i64] = short_zeros_64, [tess_f64] = short_zeros_f64

#endif
