/* SPDX-License-Identifier: Apache-2.0
 * extremes.h - the greatest key of a contiguous run at the speed of the processor's own maximum; included by cpu_order.c.
 *
 * A key of a float costs nine operations an element, the maximum of floats one. The two disagree on zeros of different sign and on NaNs, so both are watched
 * for. Where the result is a zero, the one of the greater key is looked for by its bits, which ends at the first; a run of nothing but NaNs and
 * infinities, with NaNs left out, is left to the keys. */
#ifndef TESS_OPS_REDUCE_EXTREMES_H
#define TESS_OPS_REDUCE_EXTREMES_H

#include <math.h>

#include "core/maker.h"
#include "ops/reduce/keys.h"
#include "simd/most.h"
#include "simd/touch.h"

/* Whether one of the elements, a vector of them or more, has these bits. */
#define HOLDS(name, vector, mask)                                                                                                \
    static bool holds_##name(const char *p, int64_t bytes, mask bits) {                                                          \
        enum { CHAINS = 8, STEP = CHAINS * TESS_VECTOR_BYTES };                                                                  \
        int64_t at = 0;                                                                                                          \
        mask found = {0};                                                                                                        \
        for (; at + STEP <= bytes; at += STEP) {                                                                                 \
            TESS_UNROLL for (int c = 0; c < CHAINS; c++) found |= (mask)v_##name##_load(p + at + c * TESS_VECTOR_BYTES) == bits; \
            if (v_any(&found))                                                                                                   \
                return true;                                                                                                     \
        }                                                                                                                        \
        for (; at < bytes; at += TESS_VECTOR_BYTES)                                                                              \
            found |= (mask)v_##name##_load(p + tess_min64(at, bytes - TESS_VECTOR_BYTES)) == bits;                               \
        return v_any(&found);                                                                                                    \
    }
HOLDS(f32, v_f32, v_i32)
HOLDS(f64, v_f64, v_i64)

/* What is done about the lines to come: nothing where they may lie in L2; elsewhere the run is read from two places in turns (touch.h), or lines are asked for, or
 * touched, and then a turn of the loop is of four lines: loops of more lines read memory a tenth slower on a Zen 4 (notes-cpu.md). */
typedef enum order_pace { AS_THEY_COME, ASKED_FOR, TOUCHED, IN_TURNS } order_pace;
TESS_INLINE order_pace pace_of(reduce_order order) {
    return order.cached                                         ? AS_THEY_COME
           : tess_cpu_asks_ahead() || tess_cpu_is_zen5()        ? ASKED_FOR
           : TESS_VECTOR_BYTES == 64 && tess_cpu_reads_halves() ? TOUCHED
           : tess_cpu_reads_in_turns()                          ? IN_TURNS
                                                                : AS_THEY_COME;
}

/* Of a vector's numbers, none of which is a NaN. */
#if defined(__AVX512F__)
TESS_INLINE float most_of_f32(v_f32 v) { return _mm512_reduce_max_ps((__m512)v); }
TESS_INLINE float least_of_f32(v_f32 v) { return _mm512_reduce_min_ps((__m512)v); }
TESS_INLINE double most_of_f64(v_f64 v) { return _mm512_reduce_max_pd((__m512d)v); }
TESS_INLINE double least_of_f64(v_f64 v) { return _mm512_reduce_min_pd((__m512d)v); }
#else
#define OF_VECTOR(name, type, vector, OP)                               \
    TESS_INLINE type name(vector v) {                                   \
        type best = v[0];                                               \
        for (int i = 1; i < TESS_VECTOR_BYTES / (int)sizeof(type); i++) \
            best = v[i] OP best ? v[i] : best;                          \
        return best;                                                    \
    }
OF_VECTOR(most_of_f32, float, v_f32, >)
OF_VECTOR(least_of_f32, float, v_f32, <)
OF_VECTOR(most_of_f64, double, v_f64, >)
OF_VECTOR(least_of_f64, double, v_f64, <)
#endif

/* `bytes` of elements, a vector of them or more: false when only keys can tell, else *best is the wanted value, or *nan says that a NaN is. */
#define EXTREME(name, type, vector, mask, low)                                                                                                   \
    TESS_INLINE void extreme_##name##_loop(const char *p, int64_t bytes, type start, bool smallest, bool magnitude, order_pace pace, bool pages, \
                                           vector *best, v_flags *nans) {                                                                        \
        enum { CHAINS = 8 };                                                                                                                     \
        const int turn = pace == TOUCHED ? 4 : CHAINS;                                                                                           \
        const int64_t step = (pace == IN_TURNS ? turn / 2 : turn) * TESS_VECTOR_BYTES;                                                           \
        vector m[CHAINS];                                                                                                                        \
        v_flags found = v_flags_none();                                                                                                          \
        for (int c = 0; c < CHAINS; c++)                                                                                                         \
            m[c] = v_##name##_all(start);                                                                                                        \
        const int64_t ask = reduce_ask_distance();                                                                                               \
        int64_t at = 0;                                                                                                                          \
        while (bytes - at >= (pace == IN_TURNS ? 2 : 1) * step) {                                                                                \
            const int64_t half = pace == IN_TURNS ? tess_half_in_turns(bytes - at, step) : (bytes - at) / step * step;                           \
            const int64_t apart = pace == IN_TURNS ? half - step : 0;                                                                            \
            for (const int64_t end = at + half; at < end; at += step) {                                                                          \
                if (pace == ASKED_FOR)                                                                                                           \
                    tess_prefetch_ahead(p + at + ask, (int)step);                                                                                \
                if (pace == TOUCHED)                                                                                                             \
                    tess_ask_page(p + at, pages ? (int)step : 0);                                                                                \
                _Pragma("GCC unroll 8") for (int c = 0; c < turn; c += 2) {                                                                      \
                    if (pace == TOUCHED) {                                                                                                       \
                        tess_touch_next(p + at, c, 4);                                                                                           \
                        tess_touch_next(p + at, c + 1, 4);                                                                                       \
                    }                                                                                                                            \
                    const char *from = p + at + c * TESS_VECTOR_BYTES + (c < turn / 2 ? 0 : apart);                                              \
                    vector x = v_##name##_load(from), y = v_##name##_load(from + TESS_VECTOR_BYTES);                                             \
                    found = v_##name##_nans(found, x, y);                                                                                        \
                    if (magnitude) {                                                                                                             \
                        x = (vector)((mask)x & low);                                                                                             \
                        y = (vector)((mask)y & low);                                                                                             \
                    }                                                                                                                            \
                    m[c] = smallest ? v_##name##_lesser(x, m[c]) : v_##name##_greater(x, m[c]);                                                  \
                    m[c + 1] = smallest ? v_##name##_lesser(y, m[c + 1]) : v_##name##_greater(y, m[c + 1]);                                      \
                }                                                                                                                                \
            }                                                                                                                                    \
            at += pace == IN_TURNS ? half : 0;                                                                                                   \
        }                                                                                                                                        \
        for (; at < bytes; at += TESS_VECTOR_BYTES) { /* the last ones again, which changes nothing */                                           \
            vector x = v_##name##_load(p + tess_min64(at, bytes - TESS_VECTOR_BYTES));                                                           \
            found = v_##name##_nans(found, x, x);                                                                                                \
            if (magnitude)                                                                                                                       \
                x = (vector)((mask)x & low);                                                                                                     \
            m[0] = smallest ? v_##name##_lesser(x, m[0]) : v_##name##_greater(x, m[0]);                                                          \
        }                                                                                                                                        \
        for (int c = 1; c < CHAINS; c++)                                                                                                         \
            m[0] = smallest ? v_##name##_lesser(m[c], m[0]) : v_##name##_greater(m[c], m[0]);                                                    \
        *best = m[0];                                                                                                                            \
        *nans = found;                                                                                                                           \
    }                                                                                                                                            \
    TESS_INLINE void extreme_##name##_paced(const char *p, int64_t bytes, type start, reduce_order order, order_pace pace, vector *best,         \
                                            v_flags *nans) {                                                                                     \
        if (order.magnitude)                                                                                                                     \
            extreme_##name##_loop(p, bytes, start, order.smallest, true, pace, !order.huge, best, nans);                                         \
        else if (order.smallest)                                                                                                                 \
            extreme_##name##_loop(p, bytes, start, true, false, pace, !order.huge, best, nans);                                                  \
        else                                                                                                                                     \
            extreme_##name##_loop(p, bytes, start, false, false, pace, !order.huge, best, nans);                                                 \
    }                                                                                                                                            \
    static bool extreme_##name(const void *p, int64_t bytes, reduce_order order, type *best, bool *nan) {                                        \
        const type start = order.smallest ? (type)INFINITY : (type)-INFINITY;                                                                    \
        const order_pace pace = pace_of(order);                                                                                                  \
        vector all;                                                                                                                              \
        v_flags nans;                                                                                                                            \
        if (pace == TOUCHED)                                                                                                                     \
            extreme_##name##_paced(p, bytes, start, order, TOUCHED, &all, &nans);                                                                \
        else if (pace == ASKED_FOR)                                                                                                              \
            extreme_##name##_paced(p, bytes, start, order, ASKED_FOR, &all, &nans);                                                              \
        else if (pace == IN_TURNS)                                                                                                               \
            extreme_##name##_paced(p, bytes, start, order, IN_TURNS, &all, &nans);                                                               \
        else                                                                                                                                     \
            extreme_##name##_paced(p, bytes, start, order, AS_THEY_COME, &all, &nans);                                                           \
        *best = order.smallest ? least_of_##name(all) : most_of_##name(all);                                                                     \
        *nan = v_flags_any(nans);                                                                                                                \
        if (*nan && (!order.omit || *best == start))                                                                                             \
            return !order.omit;                                                                                                                  \
        if (*best == 0 && !order.numeric && !order.magnitude) {                                                                                  \
            const vector wanted = v_##name##_all((type)(order.smallest ? -0.0 : 0.0));                                                           \
            *best = holds_##name(p, bytes, (mask)wanted) == order.smallest ? (type)-0.0 : (type)0.0;                                             \
        }                                                                                                                                        \
        return true;                                                                                                                             \
    }
/* The first of n contiguous elements that equals the value (a number; zeros are equal), or n. */
#define FIRST_EQUAL(name, type, vector, mask)                                                                                          \
    static int64_t first_equal_##name(const void *row, int64_t n, type value) {                                                        \
        enum { CHAINS = 8, LANES = TESS_VECTOR_BYTES / sizeof(type), STEP = CHAINS * LANES };                                          \
        const char *p = row;                                                                                                           \
        const vector v = v_##name##_all(value);                                                                                        \
        int64_t i = 0;                                                                                                                 \
        for (; i + STEP <= n; i += STEP) {                                                                                             \
            mask found[CHAINS];                                                                                                        \
            TESS_UNROLL for (int c = 0; c < CHAINS; c++) found[c] = v_##name##_load(p + (i + c * LANES) * (int64_t)sizeof(type)) == v; \
            for (int c = 1; c < CHAINS; c++)                                                                                           \
                found[0] |= found[c];                                                                                                  \
            if (v_any(&found[0]))                                                                                                      \
                break;                                                                                                                 \
        }                                                                                                                              \
        for (; i < n; i++) {                                                                                                           \
            type x;                                                                                                                    \
            memcpy(&x, p + i * (int64_t)sizeof(type), sizeof x);                                                                       \
            if (x == value)                                                                                                            \
                break;                                                                                                                 \
        }                                                                                                                              \
        return i;                                                                                                                      \
    }
FIRST_EQUAL(f32, float, v_f32, v_i32)
FIRST_EQUAL(f64, double, v_f64, v_i64)
EXTREME(f32, float, v_f32, v_i32, INT32_MAX)
EXTREME(f64, double, v_f64, v_i64, INT64_MAX)

/* Integers have but one way to compare. A vector of them or more. */
#define INTEGER_EXTREME(name, type)                                                                                    \
    TESS_INLINE type extreme_##name##_loop(const char *p, int64_t bytes, bool smallest, order_pace pace, bool pages) { \
        enum { CHAINS = 8, STEP = CHAINS * TESS_VECTOR_BYTES, LANES = TESS_VECTOR_BYTES / sizeof(type) };              \
        v_##name m[CHAINS], x;                                                                                         \
        type best[LANES];                                                                                              \
        const int64_t ask = reduce_ask_distance();                                                                     \
        int64_t at = 0;                                                                                                \
        for (int c = 0; c < CHAINS; c++)                                                                               \
            memcpy(&m[c], p, sizeof m[c]);                                                                             \
        const int64_t step = pace == IN_TURNS ? STEP / 2 : STEP;                                                       \
        while (bytes - at >= (pace == IN_TURNS ? 2 : 1) * step) {                                                      \
            const int64_t half = pace == IN_TURNS ? tess_half_in_turns(bytes - at, step) : (bytes - at) / step * step; \
            const int64_t apart = pace == IN_TURNS ? half - step : 0;                                                  \
            for (const int64_t end = at + half; at < end; at += step) {                                                \
                if (pace == ASKED_FOR)                                                                                 \
                    tess_prefetch_ahead(p + at + ask, STEP);                                                           \
                if (pages)                                                                                             \
                    tess_ask_page(p + at, STEP);                                                                       \
                TESS_UNROLL for (int c = 0; c < CHAINS; c++) {                                                         \
                    memcpy(&x, p + at + c * TESS_VECTOR_BYTES + (c < CHAINS / 2 ? 0 : apart), sizeof x);               \
                    m[c] = smallest ? v_##name##_lesser(x, m[c]) : v_##name##_greater(x, m[c]);                        \
                }                                                                                                      \
            }                                                                                                          \
            at += pace == IN_TURNS ? half : 0;                                                                         \
        }                                                                                                              \
        for (; at < bytes; at += TESS_VECTOR_BYTES) { /* the last ones again, which changes nothing */                 \
            memcpy(&x, p + tess_min64(at, bytes - TESS_VECTOR_BYTES), sizeof x);                                       \
            m[0] = smallest ? v_##name##_lesser(x, m[0]) : v_##name##_greater(x, m[0]);                                \
        }                                                                                                              \
        for (int w = CHAINS / 2; w > 0; w /= 2)                                                                        \
            for (int c = 0; c < w; c++)                                                                                \
                m[c] = smallest ? v_##name##_lesser(m[c], m[c + w]) : v_##name##_greater(m[c], m[c + w]);              \
        memcpy(best, &m[0], sizeof best);                                                                              \
        for (int i = 1; i < LANES; i++)                                                                                \
            best[0] = (smallest ? best[i] < best[0] : best[i] > best[0]) ? best[i] : best[0];                          \
        return best[0];                                                                                                \
    }                                                                                                                  \
    static type extreme_##name(const void *p, int64_t bytes, reduce_order order) {                                     \
        const order_pace pace = pace_of(order);                                                                        \
        const bool pages = !order.cached && !order.huge && tess_cpu_reads_halves();                                    \
        if (pace == IN_TURNS)                                                                                          \
            return order.smallest ? extreme_##name##_loop(p, bytes, true, IN_TURNS, false)                             \
                                  : extreme_##name##_loop(p, bytes, false, IN_TURNS, false);                           \
        if (pace == ASKED_FOR)                                                                                         \
            return order.smallest ? extreme_##name##_loop(p, bytes, true, ASKED_FOR, pages)                            \
                                  : extreme_##name##_loop(p, bytes, false, ASKED_FOR, pages);                          \
        return order.smallest ? extreme_##name##_loop(p, bytes, true, AS_THEY_COME, pages)                             \
                              : extreme_##name##_loop(p, bytes, false, AS_THEY_COME, pages);                           \
    }
INTEGER_EXTREME(u8, uint8_t)
INTEGER_EXTREME(i8, int8_t)
INTEGER_EXTREME(u16, uint16_t)
INTEGER_EXTREME(i16, int16_t)
INTEGER_EXTREME(u32, uint32_t)
INTEGER_EXTREME(i32, int32_t)
INTEGER_EXTREME(u64, uint64_t)
INTEGER_EXTREME(i64, int64_t)

/* What can be had by the processor's maximum: the elements that were seen to are taken off the run. */
#define QUICK(name, S, U, type, highest)                                                                                     \
    TESS_INLINE void quick_##name(S *best, const void **p, int64_t stride, int64_t *n, reduce_order order) {                 \
        const int64_t bytes = *n * (int64_t)sizeof(type);                                                                    \
        type value;                                                                                                          \
        bool nan;                                                                                                            \
        U u;                                                                                                                 \
        if (stride != (int64_t)sizeof(type) || bytes < TESS_VECTOR_BYTES || !extreme_##name(*p, bytes, order, &value, &nan)) \
            return;                                                                                                          \
        memcpy(&u, &value, sizeof u);                                                                                        \
        *best = nan && !order.omit ? highest : key_##name(u, order);                                                         \
        *p = (const char *)*p + bytes;                                                                                       \
        *n = 0;                                                                                                              \
    }
/* The place of a key that is a number's, where zeros are equal: by comparing floats. */
#define QUICK_FIND(name, S, U, type, highest)                                                                              \
    TESS_INLINE bool quick_find_##name(int64_t *at, const void *p, int64_t stride, int64_t n, reduce_order order, S key) { \
        const S s = (S)(key ^ (S) - (S)order.smallest), top = (S)-highest - 1;                                             \
        const U u = (U)(s < 0 ? (S)~s | top : s);                                                                          \
        type value;                                                                                                        \
        if (stride != (int64_t)sizeof(type) || order.magnitude || !order.numeric || key == highest || key == top)          \
            return false;                                                                                                  \
        memcpy(&value, &u, sizeof value);                                                                                  \
        *at = first_equal_##name(p, n, value);                                                                             \
        return true;                                                                                                       \
    }
/* Bytes that are not 0 are true, so the greatest byte has the greatest key. */
#define QUICK_INTEGERS(name, as, S, U)                                                                       \
    TESS_INLINE void quick_##name(S *best, const void **p, int64_t stride, int64_t *n, reduce_order order) { \
        const int64_t bytes = *n * (int64_t)sizeof(U);                                                       \
        if (stride != (int64_t)sizeof(U) || bytes < TESS_VECTOR_BYTES || order.magnitude)                    \
            return;                                                                                          \
        *best = key_##name((U)extreme_##as(*p, bytes, order), order);                                        \
        *p = (const char *)*p + bytes;                                                                       \
        *n = 0;                                                                                              \
    }
QUICK(f32, int32_t, uint32_t, float, INT32_MAX)
QUICK(f64, int64_t, uint64_t, double, INT64_MAX)
QUICK_FIND(f32, int32_t, uint32_t, float, INT32_MAX)
QUICK_FIND(f64, int64_t, uint64_t, double, INT64_MAX)
QUICK_INTEGERS(bool, u8, int8_t, uint8_t)
QUICK_INTEGERS(u8, u8, int8_t, uint8_t)
QUICK_INTEGERS(i8, i8, int8_t, uint8_t)
QUICK_INTEGERS(u16, u16, int16_t, uint16_t)
QUICK_INTEGERS(i16, i16, int16_t, uint16_t)
QUICK_INTEGERS(u32, u32, int32_t, uint32_t)
QUICK_INTEGERS(i32, i32, int32_t, uint32_t)
QUICK_INTEGERS(u64, u64, int64_t, uint64_t)
QUICK_INTEGERS(i64, i64, int64_t, uint64_t)
#define NOT_QUICK(best, p, stride, n, order) (void)0
#define NOT_FOUND_QUICKLY(at, p, stride, n, order, key) false
#define quick_find_bool NOT_FOUND_QUICKLY
#define quick_find_u8 NOT_FOUND_QUICKLY
#define quick_find_i8 NOT_FOUND_QUICKLY
#define quick_find_u16 NOT_FOUND_QUICKLY
#define quick_find_i16 NOT_FOUND_QUICKLY
#define quick_find_u32 NOT_FOUND_QUICKLY
#define quick_find_i32 NOT_FOUND_QUICKLY
#define quick_find_u64 NOT_FOUND_QUICKLY
#define quick_find_i64 NOT_FOUND_QUICKLY
#define quick_find_f16 NOT_FOUND_QUICKLY
#define quick_find_bf16 NOT_FOUND_QUICKLY
#define quick_f16 NOT_QUICK
#define quick_bf16 NOT_QUICK

#endif
