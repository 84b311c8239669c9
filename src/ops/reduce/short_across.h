/* SPDX-License-Identifier: Apache-2.0
 * short_across.h - finished sums, means and extremes of outputs side by side whose terms lie in planes: the whole tree of a vector of outputs in registers, its terms
 * read where they lie; included by cpu_short.c.
 *
 * Lines of planes copied together (short_planes.c) are stored and read once more, and results pass by way of keys or rows to be converted, which the caches feel: three
 * planes of bytes in L3 18 GB/s so, and 90 here (Zen 5). Floats among which there are NaNs are compared by keys, a vector at a time; zeros have the sign that those of all their terms say. */
#ifndef TESS_OPS_REDUCE_SHORT_ACROSS_H
#define TESS_OPS_REDUCE_SHORT_ACROSS_H

#include <string.h>

#include "ops/reduce/keys.h"
#include "ops/reduce/short_kinds.h"
#include "simd/most.h"

enum { ACROSS_STREAMS = 16, ACROSS_AHEAD = 512 }; /* planes that a processor follows by itself, each by a load of its own; bytes */

/* The tree over `left` terms, `step` bytes apart: that of every second one, and that of the others. LEAF(name): the term at p, whose NaNs may go to *nans; JOIN(name, a, b). */
#define ACROSS_TWICE(what, name, JOIN, half, twice)                                                                         \
    TESS_INLINE v_##name across_##what##_##name##_##twice(const char *p, int64_t step, int64_t left, v_flags *nans) {       \
        const v_##name first = across_##what##_##name##_##half(p, 2 * step, (left + 1) / 2, nans);                          \
        return left > 1 ? JOIN(name, first, (across_##what##_##name##_##half(p + step, 2 * step, left / 2, nans))) : first; \
    }
#define ACROSS_TREE(what, name, LEAF, JOIN)                                                                     \
    TESS_INLINE v_##name across_##what##_##name##_1(const char *p, int64_t step, int64_t left, v_flags *nans) { \
        (void)step;                                                                                             \
        (void)left;                                                                                             \
        (void)nans;                                                                                             \
        LEAF(name)                                                                                              \
    }                                                                                                           \
    ACROSS_TWICE(what, name, JOIN, 1, 2)                                                                        \
    ACROSS_TWICE(what, name, JOIN, 2, 4)                                                                        \
    ACROSS_TWICE(what, name, JOIN, 4, 8)                                                                        \
    ACROSS_TWICE(what, name, JOIN, 8, 16)

#define ACROSS_LEAF(name)    \
    v_##name x;              \
    memcpy(&x, p, sizeof x); \
    return x;
#define ACROSS_FLOAT_LEAF(name)            \
    const v_##name x = v_##name##_load(p); \
    *nans = v_##name##_nans(*nans, x, x);  \
    return x;
#define ACROSS_ADD(name, a, b) ((a) + (b))
#define ACROSS_GREATER(name, a, b) v_##name##_greater(a, b)
#define ACROSS_LESSER(name, a, b) v_##name##_lesser(a, b)

/* ---- sums ---- */

#define ACROSS_SUMS(name, type)                                                                                                                   \
    ACROSS_TREE(sum, name, ACROSS_LEAF, ACROSS_ADD)                                                                                               \
    TESS_INLINE v_##name across_tree_##name(const char *p, int64_t pitch, const int64_t k) {                                                      \
        v_##name lane[16];                                                                                                                        \
        if (k <= 8)                                                                                                                               \
            return across_sum_##name##_8(p, pitch, k, NULL);                                                                                      \
        if (k <= 16)                                                                                                                              \
            return across_sum_##name##_16(p, pitch, k, NULL);                                                                                     \
        _Pragma("GCC unroll 1") for (int j = 0; j < 16; j++) lane[j] = across_sum_##name##_4(p + j * pitch, 16 * pitch, (k - j + 15) / 16, NULL); \
        TESS_UNROLL for (int j = 0; j < 8; j++) lane[j] += lane[j + 8];                                                                           \
        TESS_UNROLL for (int j = 0; j < 4; j++) lane[j] += lane[j + 4];                                                                           \
        return (lane[0] + lane[2]) + (lane[1] + lane[3]);                                                                                         \
    }                                                                                                                                             \
    TESS_INLINE void across_sums_##name(type *to, const char *planes, int64_t pitch, int64_t n, const int64_t k, const bool mean, bool far) {     \
        enum { LANES = TESS_VECTOR_BYTES / sizeof(type) };                                                                                        \
        const bool near = tess_cpu_is_zen5() && k <= 2 * ACROSS_STREAMS;                                                                          \
        for (int64_t i = 0; i < n; i += LANES) {                                                                                                  \
            i = tess_min64(i, n - LANES);                                                                                                         \
            const char *p = planes + i * (int64_t)sizeof(type);                                                                                   \
            if (k > ACROSS_STREAMS && far)                                                                                                        \
                for (int64_t j = 0; j < k; j++)                                                                                                   \
                    near ? tess_prefetch_l1(p + j * pitch + ACROSS_AHEAD) : tess_prefetch_l2(p + j * pitch + ACROSS_AHEAD);                       \
            v_##name sum = across_tree_##name(p, pitch, k) + 0; /* a sum of nothing but -0 started from +0 */                                     \
            if (mean)                                                                                                                             \
                sum /= (type)k;                                                                                                                   \
            v_##name##_store(to + i, v_##name##_canonical(sum));                                                                                  \
        }                                                                                                                                         \
    }                                                                                                                                             \
    TESS_INLINE void across_few_##name(type *to, const char *planes, int64_t pitch, int64_t n, const int64_t k, bool mean, bool far) {            \
        if (mean)                                                                                                                                 \
            across_sums_##name(to, planes, pitch, n, k, true, far);                                                                               \
        else                                                                                                                                      \
            across_sums_##name(to, planes, pitch, n, k, false, far);                                                                              \
    }                                                                                                                                             \
    static void across_any_##name(type *to, const char *planes, int64_t pitch, int64_t n, int64_t k, bool mean, bool far) {                       \
        switch (k) {                                                                                                                              \
        case 2: across_few_##name(to, planes, pitch, n, 2, mean, far); break;                                                                     \
        case 3: across_few_##name(to, planes, pitch, n, 3, mean, far); break;                                                                     \
        case 4: across_few_##name(to, planes, pitch, n, 4, mean, far); break;                                                                     \
        case 5: across_few_##name(to, planes, pitch, n, 5, mean, far); break;                                                                     \
        case 8: across_few_##name(to, planes, pitch, n, 8, mean, far); break;                                                                     \
        default: across_sums_##name(to, planes, pitch, n, k, mean, far); break;                                                                   \
        }                                                                                                                                         \
    }
ACROSS_SUMS(f32, float)
ACROSS_SUMS(f64, double)

/* ---- extremes ---- */

/* Sixteen planes at a time, few by a text of their own; with `more` what is in `to` already, too. The last vector lies over part of the one before, which changes no extreme. */
#define ACROSS_PASSES(name, type, which)                                                                                               \
    static void across_##which##_##name(type *to, const char *planes, int64_t pitch, int64_t n, int64_t k) {                           \
        switch (k) {                                                                                                                   \
        case 2: across_pass_##which##_##name(to, planes, pitch, n, 2, false, 2); break;                                                \
        case 3: across_pass_##which##_##name(to, planes, pitch, n, 3, false, 4); break;                                                \
        case 4: across_pass_##which##_##name(to, planes, pitch, n, 4, false, 4); break;                                                \
        case 8: across_pass_##which##_##name(to, planes, pitch, n, 8, false, 16); break;                                               \
        default:                                                                                                                       \
            for (int64_t done = 0; done < k; done += ACROSS_STREAMS)                                                                   \
                across_pass_##which##_##name(to, planes + done * pitch, pitch, n, tess_min64(ACROSS_STREAMS, k - done), done > 0, 16); \
        }                                                                                                                              \
    }
#define ACROSS_BEST(name, type, which, JOIN)                                                                                                      \
    ACROSS_TREE(which, name, ACROSS_LEAF, JOIN)                                                                                                   \
    TESS_INLINE void across_pass_##which##_##name(type *to, const char *planes, int64_t pitch, int64_t n, int64_t k, bool more, const int most) { \
        enum { LANES = TESS_VECTOR_BYTES / sizeof(type) };                                                                                        \
        for (int64_t i = 0; i < n; i += LANES) {                                                                                                  \
            i = tess_min64(i, n - LANES);                                                                                                         \
            const char *p = planes + i * (int64_t)sizeof(type);                                                                                   \
            v_##name m = most == 2   ? across_##which##_##name##_2(p, pitch, k, NULL)                                                             \
                         : most == 4 ? across_##which##_##name##_4(p, pitch, k, NULL)                                                             \
                                     : across_##which##_##name##_16(p, pitch, k, NULL);                                                           \
            if (more)                                                                                                                             \
                m = JOIN(name, m, (across_##which##_##name##_1((const char *)(to + i), 0, 1, NULL)));                                             \
            memcpy(to + i, &m, sizeof m);                                                                                                         \
        }                                                                                                                                         \
    }                                                                                                                                             \
    ACROSS_PASSES(name, type, which)
#define ACROSS_INTEGERS(name, type)                  \
    ACROSS_BEST(name, type, greater, ACROSS_GREATER) \
    ACROSS_BEST(name, type, lesser, ACROSS_LESSER)
ACROSS_INTEGERS(u8, uint8_t)
ACROSS_INTEGERS(i8, int8_t)
ACROSS_INTEGERS(u16, uint16_t)
ACROSS_INTEGERS(i16, int16_t)
ACROSS_INTEGERS(u32, uint32_t)
ACROSS_INTEGERS(i32, int32_t)
ACROSS_INTEGERS(u64, uint64_t)
ACROSS_INTEGERS(i64, int64_t)

/* A vector of outputs by keys. */
#define ACROSS_KEYS(name, S, U, type)                                                                                       \
    static TESS_NOINLINE void across_keys_##name(type *to, const char *p, int64_t pitch, int k, bool more, bool smallest) { \
        enum { LANES = TESS_VECTOR_BYTES / sizeof(type) };                                                                  \
        const reduce_order order = {.smallest = smallest};                                                                  \
        S best[LANES];                                                                                                      \
        U row[LANES];                                                                                                       \
        memcpy(row, more ? (const char *)to : p, sizeof row);                                                               \
        for (int i = 0; i < LANES; i++)                                                                                     \
            best[i] = key_##name(row[i], order);                                                                            \
        for (int j = more ? 0 : 1; j < k; j++) {                                                                            \
            memcpy(row, p + j * pitch, sizeof row);                                                                         \
            for (int i = 0; i < LANES; i++) {                                                                               \
                const S key = key_##name(row[i], order);                                                                    \
                best[i] = key > best[i] ? key : best[i];                                                                    \
            }                                                                                                               \
        }                                                                                                                   \
        short_elements_##name(best, LANES, smallest);                                                                       \
        memcpy(to, best, sizeof best);                                                                                      \
    }
/* The signs of a vector's zeros, of outputs that have no NaN: the greatest is -0 where all terms have a sign, the least where one has. before: what is in the output already, of `more`. */
#define ACROSS_SIGNS(name, U, type)                                                                                                                \
    static TESS_NOINLINE void across_signs_##name(type *best, const type *before, const char *p, int64_t pitch, int k, bool more, bool smallest) { \
        enum { LANES = TESS_VECTOR_BYTES / sizeof(type) };                                                                                         \
        const U sign = (U)1 << (8 * sizeof(U) - 1);                                                                                                \
        U signs[LANES], row[LANES];                                                                                                                \
        memcpy(signs, more ? (const char *)before : p, sizeof signs);                                                                              \
        for (int j = more ? 0 : 1; j < k; j++) {                                                                                                   \
            memcpy(row, p + j * pitch, sizeof row);                                                                                                \
            for (int i = 0; i < LANES; i++)                                                                                                        \
                signs[i] = smallest ? signs[i] | row[i] : signs[i] & row[i];                                                                       \
        }                                                                                                                                          \
        memcpy(row, best, sizeof row);                                                                                                             \
        for (int i = 0; i < LANES; i++)                                                                                                            \
            row[i] = row[i] & ~sign ? row[i] : signs[i] & sign;                                                                                    \
        memcpy(best, row, sizeof row);                                                                                                             \
    }
/* As ACROSS_BEST, but that a vector with NaNs among its terms is found by keys. Four vectors are asked at once; where there is a NaN each by itself. */
#define ACROSS_FLOATS(name, type, mask, which, JOIN, is_smallest)                                                                                  \
    ACROSS_TREE(which, name, ACROSS_FLOAT_LEAF, JOIN)                                                                                              \
    TESS_INLINE v_##name across_vector_##which##_##name(const type *to, const char *p, int64_t pitch, int64_t k, bool more, const int most,        \
                                                        v_flags *nans) {                                                                           \
        const v_##name m = most == 2   ? across_##which##_##name##_2(p, pitch, k, nans)                                                            \
                           : most == 4 ? across_##which##_##name##_4(p, pitch, k, nans)                                                            \
                                       : across_##which##_##name##_16(p, pitch, k, nans);                                                          \
        return more ? JOIN(name, m, (across_##which##_##name##_1((const char *)to, 0, 1, nans))) : m;                                              \
    }                                                                                                                                              \
    /* False where there is a NaN; then nothing was put down. */                                                                                   \
    TESS_INLINE bool across_some_##which##_##name(type *to, const char *p, int64_t pitch, int64_t k, bool more, const int most, const int count) { \
        enum { LANES = TESS_VECTOR_BYTES / sizeof(type) };                                                                                         \
        v_##name best[4];                                                                                                                          \
        v_flags nans = v_flags_none();                                                                                                             \
        mask zero = {0};                                                                                                                           \
        TESS_UNROLL for (int v = 0; v < count; v++) {                                                                                              \
            best[v] = across_vector_##which##_##name(to + v * LANES, p + v * TESS_VECTOR_BYTES, pitch, k, more, most, &nans);                      \
            zero |= best[v] == 0;                                                                                                                  \
        }                                                                                                                                          \
        if (v_flags_any(nans))                                                                                                                     \
            return false;                                                                                                                          \
        if (v_any(&zero))                                                                                                                          \
            for (int v = 0; v < count; v++) {                                                                                                      \
                type one[LANES];                                                                                                                   \
                v_##name##_store(one, best[v]);                                                                                                    \
                across_signs_##name(one, to + v * LANES, p + v * TESS_VECTOR_BYTES, pitch, (int)k, more, is_smallest);                             \
                memcpy(to + v * LANES, one, sizeof one);                                                                                           \
            }                                                                                                                                      \
        else                                                                                                                                       \
            TESS_UNROLL for (int v = 0; v < count; v++) v_##name##_store(to + v * LANES, best[v]);                                                 \
        return true;                                                                                                                               \
    }                                                                                                                                              \
    TESS_INLINE void across_pass_##which##_##name(type *to, const char *planes, int64_t pitch, int64_t n, int64_t k, bool more, const int most) {  \
        enum { LANES = TESS_VECTOR_BYTES / sizeof(type), FOUR = 4 };                                                                               \
        int by_itself = 0; /* so many vectors more */                                                                                              \
        for (int64_t i = 0; i < n;) {                                                                                                              \
            const char *p = planes + i * (int64_t)sizeof(type);                                                                                    \
            if (by_itself == 0 && i + FOUR * LANES <= n) {                                                                                         \
                if (across_some_##which##_##name(to + i, p, pitch, k, more, most, FOUR))                                                           \
                    i += FOUR * LANES;                                                                                                             \
                else                                                                                                                               \
                    by_itself = FOUR;                                                                                                              \
                continue;                                                                                                                          \
            }                                                                                                                                      \
            i = tess_min64(i, n - LANES);                                                                                                          \
            p = planes + i * (int64_t)sizeof(type);                                                                                                \
            if (!across_some_##which##_##name(to + i, p, pitch, k, more, most, 1))                                                                 \
                across_keys_##name(to + i, p, pitch, (int)k, more, is_smallest);                                                                   \
            by_itself -= by_itself > 0;                                                                                                            \
            i += LANES;                                                                                                                            \
        }                                                                                                                                          \
    }                                                                                                                                              \
    ACROSS_PASSES(name, type, which)
ACROSS_KEYS(f32, int32_t, uint32_t, float)
ACROSS_KEYS(f64, int64_t, uint64_t, double)
ACROSS_SIGNS(f32, uint32_t, float)
ACROSS_SIGNS(f64, uint64_t, double)
ACROSS_FLOATS(f32, float, v_i32, greater, ACROSS_GREATER, false)
ACROSS_FLOATS(f32, float, v_i32, lesser, ACROSS_LESSER, true)
ACROSS_FLOATS(f64, double, v_i64, greater, ACROSS_GREATER, false)
ACROSS_FLOATS(f64, double, v_i64, lesser, ACROSS_LESSER, true)

/* ---- the table's functions ---- */

#define ACROSS(name, type, SUMS)                                                                                                          \
    static bool short_across_##name(void *to, const char *planes, int64_t pitch, int64_t n, int64_t k, reduce_tiny_fold fold, bool far) { \
        (void)far;                                                                                                                        \
        if (n < TESS_VECTOR_BYTES / (int64_t)sizeof(type))                                                                                \
            return false;                                                                                                                 \
        switch (fold) {                                                                                                                   \
        case REDUCE_TINY_LEAST: across_lesser_##name(to, planes, pitch, n, k); return true;                                               \
        case REDUCE_TINY_GREATEST: across_greater_##name(to, planes, pitch, n, k); return true;                                           \
        default: SUMS                                                                                                                     \
        }                                                                                                                                 \
    }
#define ACROSS_HAS_NO_SUMS return false;
#define ACROSS_HAS_SUMS(name)                                                  \
    across_any_##name(to, planes, pitch, n, k, fold == REDUCE_TINY_MEAN, far); \
    return true;
ACROSS(u8, uint8_t, ACROSS_HAS_NO_SUMS)
ACROSS(i8, int8_t, ACROSS_HAS_NO_SUMS)
ACROSS(u16, uint16_t, ACROSS_HAS_NO_SUMS)
ACROSS(i16, int16_t, ACROSS_HAS_NO_SUMS)
ACROSS(u32, uint32_t, ACROSS_HAS_NO_SUMS)
ACROSS(i32, int32_t, ACROSS_HAS_NO_SUMS)
ACROSS(u64, uint64_t, ACROSS_HAS_NO_SUMS)
ACROSS(i64, int64_t, ACROSS_HAS_NO_SUMS)
ACROSS(f32, float, ACROSS_HAS_SUMS(f32))
ACROSS(f64, double, ACROSS_HAS_SUMS(f64))

#define ACROSS_KERNELS                                                                                                                     \
    .across = {[tess_u8] = short_across_u8,   [tess_i8] = short_across_i8,   [tess_u16] = short_across_u16, [tess_i16] = short_across_i16, \
               [tess_u32] = short_across_u32, [tess_i32] = short_across_i32, [tess_u64] = short_across_u64, [tess_i64] = short_across_i64, \
               [tess_f32] = short_across_f32, [tess_f64] = short_across_f64},

#endif
