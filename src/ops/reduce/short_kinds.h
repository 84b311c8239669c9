/* SPDX-License-Identifier: Apache-2.0
 * short_kinds.h - sums of f32 and f64, integer sums, extremes and places over short rows of 4 and 8 bytes an element that were turned: the terms of REDUCE_SHORT_ROWS
 * rows side by side; included by cpu_short.c.
 *
 * A row is no longer than a leaf has lanes, so every lane holds one term. Floats are compared as floats (extremes.h says why that is quick and when it is
 * wrong), sixteen rows at a time, and by their keys where NaNs or zeros of both signs matter. */
#ifndef TESS_OPS_REDUCE_SHORT_KINDS_H
#define TESS_OPS_REDUCE_SHORT_KINDS_H

#include <math.h>
#include <string.h>

#include "ops/reduce/keys.h"
#include "simd/gather.h"
#include "simd/simd.h"

enum { ROWS = REDUCE_SHORT_ROWS };

/* The halving tree over k lanes; + 0: only a sum of nothing but -0 notices that it should have started from +0. */
#define HALVE(name, type)                                                                                     \
    TESS_INLINE void halve_##name(type *to, type *lane, int64_t k) {                                          \
        for (int64_t w = REDUCE_LANES / 2; w > 0; w /= 2) {                                                   \
            const int64_t end = (tess_min64(k, 2 * w) - w) * ROWS;                                            \
            for (int64_t i = 0; i < end; i += TESS_VECTOR_BYTES / (int64_t)sizeof(type))                      \
                v_##name##_store(lane + i, v_##name##_load(lane + i) + v_##name##_load(lane + w * ROWS + i)); \
            k = tess_min64(k, w);                                                                             \
        }                                                                                                     \
        for (int i = 0; i < ROWS; i++)                                                                        \
            to[i] = lane[i] + 0;                                                                              \
    }
HALVE(f32, float)
HALVE(f64, double)

#define INTEGERS(name, half)                                                          \
    static void short_integers_##name(uint64_t *sums, const void *terms, int64_t k) { \
        for (int row = 0; row < ROWS; row += TESS_F64_LANES) {                        \
            const char *p = (const char *)terms + row * 4;                            \
            v_i64 sum = {0};                                                          \
            half x;                                                                   \
            for (int64_t j = 0; j < k; j++, p += ROWS * 4) {                          \
                memcpy(&x, p, sizeof x);                                              \
                sum += __builtin_convertvector(x, v_i64);                             \
            }                                                                         \
            memcpy(sums + row, &sum, sizeof sum);                                     \
        }                                                                             \
    }
INTEGERS(u32, h_u32)
INTEGERS(i32, h_i32)

static void short_integers_64(uint64_t *sums, const void *terms, int64_t k) {
    enum { LINE = ROWS * 8 };
    for (int part = 0; part < LINE; part += TESS_VECTOR_BYTES) {
        const char *p = (const char *)terms + part;
        v_u64 sum = {0}, x;
        for (int64_t j = 0; j < k; j++, p += LINE) {
            memcpy(&x, p, sizeof x);
            sum += x;
        }
        memcpy((char *)sums + part, &sum, sizeof sum);
    }
}

/* The greatest value of every row by the processor's maximum; false when only keys can tell. */
#define QUICK_ROWS(name, type, vector, mask, low)                                                                                         \
    TESS_INLINE bool quick_rows_##name(type *best, const void *terms, int64_t k, const bool smallest, const bool magnitude, bool zeros) { \
        enum { LANES = TESS_VECTOR_BYTES / (int)sizeof(type), PARTS = ROWS / LANES };                                                     \
        const char *p = terms;                                                                                                            \
        vector m[PARTS];                                                                                                                  \
        v_flags nans = v_flags_none();                                                                                                    \
        for (int c = 0; c < PARTS; c++)                                                                                                   \
            m[c] = v_##name##_all(smallest ? (type)INFINITY : (type)-INFINITY);                                                           \
        for (int64_t j = 0; j < k; j++)                                                                                                   \
            TESS_UNROLL for (int c = 0; c < PARTS; c++) {                                                                                 \
                vector x = v_##name##_load(p + (j * ROWS + c * LANES) * (int64_t)sizeof(type));                                           \
                nans = v_##name##_nans(nans, x, x);                                                                                       \
                if (magnitude)                                                                                                            \
                    x = (vector)((mask)x & low);                                                                                          \
                m[c] = smallest ? v_##name##_lesser(x, m[c]) : v_##name##_greater(x, m[c]);                                               \
            }                                                                                                                             \
        memcpy(best, m, sizeof m);                                                                                                        \
        mask zero = m[0] == 0;                                                                                                            \
        for (int c = 1; c < PARTS; c++)                                                                                                   \
            zero |= m[c] == 0;                                                                                                            \
        return !v_flags_any(nans) && (zeros || !v_any(&zero));                                                                            \
    }
QUICK_ROWS(f32, float, v_f32, v_i32, INT32_MAX)
QUICK_ROWS(f64, double, v_f64, v_i64, INT64_MAX)

#define QUICK_KINDS(name, S, U, type, vector, mask)                                                     \
    TESS_INLINE bool quick_best_##name(type *best, const void *terms, int64_t k, reduce_order order) {  \
        if (order.magnitude)                                                                            \
            return !order.smallest && quick_rows_##name(best, terms, k, false, true, true);             \
        return order.smallest ? quick_rows_##name(best, terms, k, true, false, order.numeric)           \
                              : quick_rows_##name(best, terms, k, false, false, order.numeric);         \
    }                                                                                                   \
    TESS_INLINE bool quick_greatest_##name(S *keys, const void *terms, int64_t k, reduce_order order) { \
        type best[ROWS];                                                                                \
        U bits[ROWS];                                                                                   \
        if (!quick_best_##name(best, terms, k, order))                                                  \
            return false;                                                                               \
        memcpy(bits, best, sizeof bits);                                                                \
        for (int i = 0; i < ROWS; i++)                                                                  \
            keys[i] = key_##name(bits[i], order);                                                       \
        return true;                                                                                    \
    }                                                                                                   \
    TESS_INLINE bool quick_first_##name(U *places, const void *terms, int64_t k, reduce_order order) {  \
        enum { LANES = TESS_VECTOR_BYTES / (int)sizeof(type), PARTS = ROWS / LANES };                   \
        const type *from = terms;                                                                       \
        type best[ROWS];                                                                                \
        vector m[PARTS];                                                                                \
        mask at[PARTS] = {{0}};                                                                         \
        if (order.magnitude || !order.numeric || !quick_best_##name(best, terms, k, order))             \
            return false;                                                                               \
        memcpy(m, best, sizeof m);                                                                      \
        for (int64_t j = k - 1; j >= 0; j--)                                                            \
            TESS_UNROLL for (int c = 0; c < PARTS; c++) {                                               \
                const mask equal = v_##name##_load(from + j * ROWS + c * LANES) == m[c];                \
                at[c] = (at[c] & ~equal) | (equal & (S)j);                                              \
            }                                                                                           \
        memcpy(places, at, sizeof at);                                                                  \
        return true;                                                                                    \
    }
QUICK_KINDS(f32, int32_t, uint32_t, float, v_f32, v_i32)
QUICK_KINDS(f64, int64_t, uint64_t, double, v_f64, v_i64)
#define quick_greatest_u32(keys, terms, k, order) false
#define quick_greatest_i32(keys, terms, k, order) false
#define quick_greatest_u64(keys, terms, k, order) false
#define quick_greatest_i64(keys, terms, k, order) false

/* By keys; place NULL: no places are wanted. The usual orders are known when this is compiled. */
#define EXTREMES(name, S, U)                                                                                      \
    TESS_INLINE void key_rows_##name(S *best, U *place, const void *terms, int64_t k, const reduce_order order) { \
        const U(*from)[ROWS] = terms;                                                                             \
        S most[ROWS];                                                                                             \
        U at[ROWS] = {0};                                                                                         \
        for (int i = 0; i < ROWS; i++)                                                                            \
            most[i] = key_##name(from[0][i], order);                                                              \
        for (int64_t j = 1; j < k; j++)                                                                           \
            for (int i = 0; i < ROWS; i++) {                                                                      \
                const S key = key_##name(from[j][i], order);                                                      \
                if (place)                                                                                        \
                    at[i] = key > most[i] ? (U)j : at[i];                                                         \
                most[i] = key > most[i] ? key : most[i];                                                          \
            }                                                                                                     \
        memcpy(best, most, sizeof most);                                                                          \
        if (place)                                                                                                \
            memcpy(place, at, sizeof at);                                                                         \
    }                                                                                                             \
    static void short_greatest_##name(void *keys, const void *terms, int64_t k, reduce_order order) {             \
        S best[ROWS];                                                                                             \
        if (quick_greatest_##name(best, terms, k, order))                                                         \
            (void)0;                                                                                              \
        else if (order.magnitude || order.omit || order.numeric)                                                  \
            key_rows_##name(best, NULL, terms, k, order);                                                         \
        else if (order.smallest)                                                                                  \
            key_rows_##name(best, NULL, terms, k, (reduce_order){.smallest = true});                              \
        else                                                                                                      \
            key_rows_##name(best, NULL, terms, k, (reduce_order){.smallest = false});                             \
        memcpy(keys, best, sizeof best);                                                                          \
    }
EXTREMES(f32, int32_t, uint32_t)
EXTREMES(f64, int64_t, uint64_t)
EXTREMES(u32, int32_t, uint32_t)
EXTREMES(i32, int32_t, uint32_t)
EXTREMES(u64, int64_t, uint64_t)
EXTREMES(i64, int64_t, uint64_t)

#define PLACES(name, S, U)                                                                              \
    static void short_first_##name(int64_t *places, const void *terms, int64_t k, reduce_order order) { \
        const S none = (S)((U)1 << (8 * sizeof(U) - 1));                                                \
        S best[ROWS] = {0};                                                                             \
        U at[ROWS];                                                                                     \
        if (quick_first_##name(at, terms, k, order))                                                    \
            order.omit = false; /* no NaN was met */                                                    \
        else if (order.magnitude || order.omit || !order.numeric)                                       \
            key_rows_##name(best, at, terms, k, order);                                                 \
        else if (order.smallest)                                                                        \
            key_rows_##name(best, at, terms, k, (reduce_order){.smallest = true, .numeric = true});     \
        else                                                                                            \
            key_rows_##name(best, at, terms, k, (reduce_order){.numeric = true});                       \
        for (int i = 0; i < ROWS; i++)                                                                  \
            places[i] = (int64_t)at[i];                                                                 \
        for (int i = 0; order.omit && i < ROWS; i++)                                                    \
            places[i] = best[i] == none ? -1 : places[i];                                               \
    }
PLACES(f32, int32_t, uint32_t)
PLACES(f64, int64_t, uint64_t)

/* Elements from their keys, in place. */
#define OF_INTEGER_KEYS(name, U, top)                                        \
    static void short_elements_##name(void *row, int64_t n, bool smallest) { \
        const U flip = (U)((U)0 - smallest) ^ (U)(top);                      \
        U *x = row;                                                          \
        for (int64_t i = 0; i < n; i++)                                      \
            x[i] ^= flip;                                                    \
    }
OF_INTEGER_KEYS(8, uint8_t, 0)
OF_INTEGER_KEYS(16, uint16_t, 0)
OF_INTEGER_KEYS(32, uint32_t, 0)
OF_INTEGER_KEYS(64, uint64_t, 0)
OF_INTEGER_KEYS(u8, uint8_t, 0x80)
OF_INTEGER_KEYS(u16, uint16_t, 0x8000)
OF_INTEGER_KEYS(u32, uint32_t, 0x80000000)
OF_INTEGER_KEYS(u64, uint64_t, (uint64_t)1 << 63)
#define OF_FLOAT_KEYS(name, S, lowest, highest, canonical)                                           \
    static void short_elements_##name(void *row, int64_t n, bool smallest) {                         \
        const S flip = (S)-smallest;                                                                 \
        S *x = row;                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                            \
            const S key = x[i], s = (S)(key ^ flip), bits = (S)(s ^ ((s < 0 ? -1 : 0) & (highest))); \
            x[i] = key == (highest) || key == (lowest) ? (S)(canonical) : bits;                      \
        }                                                                                            \
    }
OF_FLOAT_KEYS(f16, int16_t, INT16_MIN, INT16_MAX, 0x7e00)
OF_FLOAT_KEYS(bf16, int16_t, INT16_MIN, INT16_MAX, 0x7fc0)
OF_FLOAT_KEYS(f32, int32_t, INT32_MIN, INT32_MAX, 0x7fc00000)
OF_FLOAT_KEYS(f64, int64_t, INT64_MIN, INT64_MAX, 0x7ff8000000000000)

#endif
