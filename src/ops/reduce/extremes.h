/* SPDX-License-Identifier: Apache-2.0
 * extremes.h - the greatest key of a contiguous run of floats at the speed of the processor's own maximum; included by cpu_order.c.
 *
 * A key costs nine operations an element, the maximum of floats one. The two disagree on zeros of different sign and on NaNs, so both are watched
 * for. Where the result is a zero, the one of the greater key is looked for by its bits, which ends at the first; a run of nothing but NaNs and
 * infinities, with NaNs left out, is left to the keys. */
#ifndef TESS_OPS_REDUCE_EXTREMES_H
#define TESS_OPS_REDUCE_EXTREMES_H

#include <math.h>

#include "core/maker.h"
#include "ops/reduce/reduce.h"
#include "simd/simd.h"

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
#define EXTREME(name, type, vector, mask, low)                                                                                                 \
    TESS_INLINE void extreme_##name##_loop(const char *p, int64_t bytes, type start, bool smallest, bool magnitude, bool cached, vector *best, \
                                           v_flags *nans) {                                                                                    \
        enum { CHAINS = 8, STEP = CHAINS * TESS_VECTOR_BYTES };                                                                                \
        vector m[CHAINS];                                                                                                                      \
        v_flags found = v_flags_none();                                                                                                        \
        for (int c = 0; c < CHAINS; c++)                                                                                                       \
            m[c] = v_##name##_all(start);                                                                                                      \
        int64_t at = 0;                                                                                                                        \
        for (; at + STEP <= bytes; at += STEP) {                                                                                               \
            if (!cached)                                                                                                                       \
                tess_prefetch_ahead(p + at + 4096, STEP);                                                                                      \
            _Pragma("GCC unroll 8") for (int c = 0; c < CHAINS; c += 2) {                                                                      \
                vector x = v_##name##_load(p + at + c * TESS_VECTOR_BYTES), y = v_##name##_load(p + at + (c + 1) * TESS_VECTOR_BYTES);         \
                found = v_##name##_nans(found, x, y);                                                                                          \
                if (magnitude) {                                                                                                               \
                    x = (vector)((mask)x & low);                                                                                               \
                    y = (vector)((mask)y & low);                                                                                               \
                }                                                                                                                              \
                m[c] = smallest ? v_##name##_lesser(x, m[c]) : v_##name##_greater(x, m[c]);                                                    \
                m[c + 1] = smallest ? v_##name##_lesser(y, m[c + 1]) : v_##name##_greater(y, m[c + 1]);                                        \
            }                                                                                                                                  \
        }                                                                                                                                      \
        for (; at < bytes; at += TESS_VECTOR_BYTES) { /* the last ones again, which changes nothing */                                         \
            vector x = v_##name##_load(p + tess_min64(at, bytes - TESS_VECTOR_BYTES));                                                         \
            found = v_##name##_nans(found, x, x);                                                                                              \
            if (magnitude)                                                                                                                     \
                x = (vector)((mask)x & low);                                                                                                   \
            m[0] = smallest ? v_##name##_lesser(x, m[0]) : v_##name##_greater(x, m[0]);                                                        \
        }                                                                                                                                      \
        for (int c = 1; c < CHAINS; c++)                                                                                                       \
            m[0] = smallest ? v_##name##_lesser(m[c], m[0]) : v_##name##_greater(m[c], m[0]);                                                  \
        *best = m[0];                                                                                                                          \
        *nans = found;                                                                                                                         \
    }                                                                                                                                          \
    static bool extreme_##name(const void *p, int64_t bytes, reduce_order order, type *best, bool *nan) {                                      \
        const bool near = order.cached || !tess_cpu_asks_ahead();                                                                              \
        const type start = order.smallest ? (type)INFINITY : (type)-INFINITY;                                                                  \
        vector all;                                                                                                                            \
        v_flags nans;                                                                                                                          \
        if (order.magnitude)                                                                                                                   \
            extreme_##name##_loop(p, bytes, start, order.smallest, true, near, &all, &nans);                                                   \
        else if (order.smallest)                                                                                                               \
            extreme_##name##_loop(p, bytes, start, true, false, near, &all, &nans);                                                            \
        else                                                                                                                                   \
            extreme_##name##_loop(p, bytes, start, false, false, near, &all, &nans);                                                           \
        *best = order.smallest ? least_of_##name(all) : most_of_##name(all);                                                                   \
        *nan = v_flags_any(nans);                                                                                                              \
        if (*nan && (!order.omit || *best == start))                                                                                           \
            return !order.omit;                                                                                                                \
        if (*best == 0 && !order.numeric && !order.magnitude) {                                                                                \
            const vector wanted = v_##name##_all((type)(order.smallest ? -0.0 : 0.0));                                                         \
            *best = holds_##name(p, bytes, (mask)wanted) == order.smallest ? (type)-0.0 : (type)0.0;                                           \
        }                                                                                                                                      \
        return true;                                                                                                                           \
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

#endif
