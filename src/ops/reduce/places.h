/* SPDX-License-Identifier: Apache-2.0
 * places.h - the place of the greatest or least of a contiguous run, in one pass; included by cpu_order.c.
 *
 * To find the value first and then the place is a second pass through the caches, half the run on average, during which memory rests. Here each lane
 * remembers, beside its best, the group of eight vectors in which it met that first: of eight elements one is compared for it, so it costs a quarter
 * more operations. In the end the least such group of the lanes that hold the best is searched, 512 bytes.
 *
 * Floats compare as numbers, zeros are equal. A NaN is seen and left to the keys. */
#ifndef TESS_OPS_REDUCE_PLACES_H
#define TESS_OPS_REDUCE_PLACES_H

#include "core/maker.h"
#include "ops/reduce/keys.h"
#include "simd/here.h"
#include "simd/most.h"

#define NO_NANS(flags, a, b) (flags)

/* The best of all lanes of m, and the least group of those that hold it. Of integers many may, which no branch foresees; of floats hardly any. */
#define BY_VECTORS(name, type, number)                                                                \
    best = order.smallest ? v_##name##_least_lane(m) : v_##name##_greatest_lane(m);                   \
    const v_##number holds = (v_##number)(m == (v_##name){0} + best);                                 \
    const v_##number none = (v_##number){0} + (type)((uint64_t)INT64_MAX >> (64 - 8 * sizeof(type))); \
    group = v_##number##_least_lane((at & holds) | (none & ~holds));
#define ONE_BY_ONE(name, type, number)                                     \
    best = m[0];                                                           \
    for (int i = 1; i < LANES; i++)                                        \
        best = (order.smallest ? m[i] < best : m[i] > best) ? m[i] : best; \
    group = INT64_MAX;                                                     \
    for (int i = 0; i < LANES; i++)                                        \
        group = m[i] == best ? tess_min64(group, at[i]) : group;

/* Of n >= a vector of elements. Every lane's best and the number of the group where it was first met; the last group is what is left, the last vector
 * of which begins before it: what was seen already has an earlier group in another lane. */
#define PLACE(name, type, number, least, most, NANS, LEAST_GROUP)                                                                                \
    TESS_INLINE void place_##name##_loop(const char *p, int64_t n, bool smallest, bool near, v_##name *best, v_##number *first, v_flags *nans) { \
        enum { GROUP = 8, LANES = TESS_VECTOR_BYTES / sizeof(type), STEP = GROUP * TESS_VECTOR_BYTES };                                          \
        const char *end = p + n * (int64_t)sizeof(type);                                                                                         \
        v_##name m = (v_##name){0} + (type)(smallest ? most : least);                                                                            \
        v_##number at = {0}, group = {0};                                                                                                        \
        v_flags found = v_flags_none();                                                                                                          \
        for (; end - p >= STEP; p += STEP, group += 1) {                                                                                         \
            v_##name x[GROUP];                                                                                                                   \
            if (!near)                                                                                                                           \
                tess_prefetch_ahead(p + 4096, STEP);                                                                                             \
            TESS_UNROLL for (int c = 0; c < GROUP; c++) x[c] = (v_##name)v_f32_load_here(p + c * TESS_VECTOR_BYTES);                             \
            TESS_UNROLL for (int c = 0; c < GROUP; c += 2) found = NANS(found, x[c], x[c + 1]);                                                  \
            TESS_UNROLL for (int c = 1; c < GROUP; c++) x[0] = smallest ? v_##name##_lesser(x[c], x[0]) : v_##name##_greater(x[c], x[0]);        \
            const v_##number beats = (v_##number)(smallest ? x[0] < m : x[0] > m);                                                               \
            at = (at & ~beats) | (group & beats);                                                                                                \
            m = smallest ? v_##name##_lesser(x[0], m) : v_##name##_greater(x[0], m);                                                             \
        }                                                                                                                                        \
        if (p < end) { /* of the last group the last vector first, which begins before it */                                                     \
            v_##name x;                                                                                                                          \
            memcpy(&x, end - TESS_VECTOR_BYTES, sizeof x);                                                                                       \
            found = NANS(found, x, x);                                                                                                           \
            for (; end - p > TESS_VECTOR_BYTES; p += TESS_VECTOR_BYTES) {                                                                        \
                v_##name y;                                                                                                                      \
                memcpy(&y, p, sizeof y);                                                                                                         \
                found = NANS(found, y, y);                                                                                                       \
                x = smallest ? v_##name##_lesser(y, x) : v_##name##_greater(y, x);                                                               \
            }                                                                                                                                    \
            const v_##number beats = (v_##number)(smallest ? x < m : x > m);                                                                     \
            at = (at & ~beats) | (group & beats);                                                                                                \
            m = smallest ? v_##name##_lesser(x, m) : v_##name##_greater(x, m);                                                                   \
        }                                                                                                                                        \
        *best = m;                                                                                                                               \
        *first = at;                                                                                                                             \
        *nans = found;                                                                                                                           \
    }                                                                                                                                            \
    /* -1: keys must tell. */                                                                                                                    \
    static int64_t quick_place_##name(const char *p, int64_t n, reduce_order order, type *value) {                                               \
        enum { LANES = TESS_VECTOR_BYTES / sizeof(type), GROUP = 8 * LANES };                                                                    \
        const bool near = order.cached || !tess_cpu_asks_ahead();                                                                                \
        v_##name m;                                                                                                                              \
        v_##number at;                                                                                                                           \
        v_flags nans;                                                                                                                            \
        if (n < LANES || order.magnitude || !order.numeric)                                                                                      \
            return -1;                                                                                                                           \
        if (order.smallest)                                                                                                                      \
            place_##name##_loop(p, n, true, near, &m, &at, &nans);                                                                               \
        else                                                                                                                                     \
            place_##name##_loop(p, n, false, near, &m, &at, &nans);                                                                              \
        if (v_flags_any(nans))                                                                                                                   \
            return -1;                                                                                                                           \
        type best;                                                                                                                               \
        int64_t group;                                                                                                                           \
        LEAST_GROUP(name, type, number)                                                                                                          \
        *value = best;                                                                                                                           \
        for (int64_t i = group * GROUP; i < n; i += LANES) {                                                                                     \
            const int64_t from = tess_min64(i, n - LANES);                                                                                       \
            v_##name x;                                                                                                                          \
            memcpy(&x, p + from * (int64_t)sizeof(type), sizeof x);                                                                              \
            const v_##number equal = (v_##number)(x == (v_##name){0} + best);                                                                    \
            const int lane = v_first_set(&equal, (int)sizeof(type));                                                                             \
            if (lane >= 0)                                                                                                                       \
                return from + lane;                                                                                                              \
        }                                                                                                                                        \
        return -1;                                                                                                                               \
    }
PLACE(i32, int32_t, i32, INT32_MIN, INT32_MAX, NO_NANS, BY_VECTORS)
PLACE(u32, uint32_t, i32, 0, UINT32_MAX, NO_NANS, BY_VECTORS)
PLACE(i64, int64_t, i64, INT64_MIN, INT64_MAX, NO_NANS, BY_VECTORS)
PLACE(u64, uint64_t, i64, 0, UINT64_MAX, NO_NANS, BY_VECTORS)
PLACE(f32, float, i32, -INFINITY, INFINITY, v_f32_nans, ONE_BY_ONE)
PLACE(f64, double, i64, -INFINITY, INFINITY, v_f64_nans, ONE_BY_ONE)

/* The first place of the greatest key among n contiguous elements. */
#define PLACE_OF(name, S, U, type)                                                            \
    static int64_t place_##name(const void *p, int64_t n, reduce_order order, int64_t *key) { \
        type value;                                                                           \
        U u;                                                                                  \
        const int64_t at = quick_place_##name(p, n, order, &value);                           \
        if (at < 0) {                                                                         \
            *key = greatest_##name(p, sizeof(U), n, order);                                   \
            return find_##name(p, sizeof(U), n, order, *key);                                 \
        }                                                                                     \
        memcpy(&u, &value, sizeof u);                                                         \
        *key = key_##name(u, order);                                                          \
        return at;                                                                            \
    }

#endif
