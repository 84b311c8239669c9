/* SPDX-License-Identifier: Apache-2.0
 * short_trees.h - what is a tree over short rows that were turned, but for plain sums of f32 and f64: norms, variances, sums of narrower floats and sums in f64; and
 * the last step of means and variances. Included by cpu_short.c.
 *
 * A row is no longer than a leaf has lanes, so its tree is the halving of its terms: that of every second term, and that of the others. Taken in this order it needs
 * few partial sums, which the compiler keeps in registers, a vector of rows side by side, and each term is read once, converted and squared on the way. */
#ifndef TESS_OPS_REDUCE_SHORT_TREES_H
#define TESS_OPS_REDUCE_SHORT_TREES_H

#include <math.h>

#include "ops/reduce/take.h"

/* name_16(p, d, left, mean): the tree over the terms 0, d, 2 d .. 15 d from p on, of which those below `left` exist. LINE: bytes from term to term. */
#define TREE_TWICE(name, vector, LINE, half, twice)                                               \
    TESS_INLINE vector name##_##twice(const char *p, int64_t d, int64_t left, const v_f64 mean) { \
        const vector first = name##_##half(p, 2 * d, left, mean);                                 \
        return left > d ? first + name##_##half(p + d * (LINE), 2 * d, left - d, mean) : first;   \
    }
/* name_root(p, k, mean): over all k <= 256, beyond 16 of them by way of sixteen lanes. + 0: a sum of nothing but -0 started from +0. VALUE(p, mean) is a term. */
#define TREE(name, vector, LINE, VALUE)                                                                                \
    TESS_INLINE vector name##_1(const char *p, int64_t d, int64_t left, const v_f64 mean) {                            \
        (void)d;                                                                                                       \
        (void)left;                                                                                                    \
        return VALUE(p, mean);                                                                                         \
    }                                                                                                                  \
    TREE_TWICE(name, vector, LINE, 1, 2)                                                                               \
    TREE_TWICE(name, vector, LINE, 2, 4)                                                                               \
    TREE_TWICE(name, vector, LINE, 4, 8)                                                                               \
    TREE_TWICE(name, vector, LINE, 8, 16)                                                                              \
    TESS_INLINE vector name##_root(const char *p, int64_t k, const v_f64 mean) {                                       \
        vector lane[16];                                                                                               \
        if (k <= 4)                                                                                                    \
            return name##_4(p, 1, k, mean) + 0;                                                                        \
        if (k <= 16)                                                                                                   \
            return name##_16(p, 1, k, mean) + 0;                                                                       \
        if (k <= 64)                                                                                                   \
            _Pragma("GCC unroll 1") for (int j = 0; j < 16; j++) lane[j] = name##_4(p + j * (LINE), 16, k - j, mean);  \
        else                                                                                                           \
            _Pragma("GCC unroll 1") for (int j = 0; j < 16; j++) lane[j] = name##_16(p + j * (LINE), 16, k - j, mean); \
        TESS_UNROLL for (int j = 0; j < 8; j++) lane[j] += lane[j + 8];                                                \
        TESS_UNROLL for (int j = 0; j < 4; j++) lane[j] += lane[j + 4];                                                \
        return ((lane[0] + lane[2]) + (lane[1] + lane[3])) + 0;                                                        \
    }

/* The sums of all rows of a line, from elements of S bytes. */
#define TREE_SUMS(name, type, LINE, S, VALUE)                                           \
    TREE(name, v_##type, LINE, VALUE)                                                   \
    static void short_##name(void *sums, const void *terms, int64_t k) {                \
        enum { STEP = (int)(sizeof(v_##type) / sizeof(lane_of_##type)) * (S) };         \
        char *to = sums;                                                                \
        for (int at = 0; at < (LINE); at += STEP, to += TESS_VECTOR_BYTES) {            \
            const v_##type root = name##_root((const char *)terms + at, k, (v_f64){0}); \
            memcpy(to, &root, sizeof root);                                             \
        }                                                                               \
    }
typedef float lane_of_f32;
typedef double lane_of_f64;

#define SUM_VALUES(name, type, OF)                                           \
    TESS_INLINE v_##type value_##name(const char *p, const v_f64 mean) {     \
        (void)mean;                                                          \
        return OF(p);                                                        \
    }                                                                        \
    TESS_INLINE v_##type abs_value_##name(const char *p, const v_f64 mean) { \
        (void)mean;                                                          \
        return type##_abs(OF(p));                                            \
    }
SUM_VALUES(f16, f32, v_f32_of_f16)
SUM_VALUES(bf16, f32, v_f32_of_bf16)
SUM_VALUES(f32, f32, v_f32_load)
SUM_VALUES(f64, f64, v_f64_load)
TREE_SUMS(plain_f32, f32, 64, 4, value_f32)
TREE_SUMS(plain_f64, f64, 128, 8, value_f64)
TREE_SUMS(plain_f16, f32, 64, 2, value_f16)
TREE_SUMS(plain_bf16, f32, 64, 2, value_bf16)
TREE_SUMS(abs_f16, f32, 64, 2, abs_value_f16)
TREE_SUMS(abs_bf16, f32, 64, 2, abs_value_bf16)
TREE_SUMS(abs_f32, f32, 64, 4, abs_value_f32)
TREE_SUMS(abs_f64, f64, 128, 8, abs_value_f64)

/* In f64. Moments: rows' means, then their squared deviations. */
#define WIDE_TREES(name, LINE, S, OF)                                                                  \
    TESS_INLINE v_f64 wide_value_##name(const char *p, const v_f64 mean) {                             \
        (void)mean;                                                                                    \
        return OF(p);                                                                                  \
    }                                                                                                  \
    TESS_INLINE v_f64 square_value_##name(const char *p, const v_f64 mean) {                           \
        const v_f64 x = wide_value_##name(p, mean);                                                    \
        return x * x;                                                                                  \
    }                                                                                                  \
    TESS_INLINE v_f64 apart_value_##name(const char *p, const v_f64 mean) {                            \
        const v_f64 x = wide_value_##name(p, mean) - mean;                                             \
        return x * x;                                                                                  \
    }                                                                                                  \
    TREE_SUMS(square_##name, f64, LINE, S, square_value_##name)                                        \
    TREE(apart_##name, v_f64, LINE, apart_value_##name)                                                \
    TESS_INLINE void deviations_##name(double *m2, const double *mean, const char *terms, int64_t k) { \
        for (int i = 0; i < (LINE) / (S); i += TESS_F64_LANES)                                         \
            v_f64_store(m2 + i, apart_##name##_root(terms + i * (S), k, v_f64_load(mean + i)));        \
    }
/* Sums of integers are exact in any order. */
#define INTEGER_MOMENTS(name, S, OF)                                                           \
    WIDE_TREES(name, 64, S, OF)                                                                \
    static void short_moments_##name(double *mean, double *m2, const void *terms, int64_t k) { \
        uint64_t sums[64 / (S)];                                                               \
        short_integers_##name(sums, terms, k);                                                 \
        for (int i = 0; i < 64 / (S); i++)                                                     \
            mean[i] = (double)(int64_t)sums[i] / (double)k;                                    \
        deviations_##name(m2, mean, terms, k);                                                 \
    }
#define FLOAT_MOMENTS(name, LINE, S, OF)                                                       \
    WIDE_TREES(name, LINE, S, OF)                                                              \
    TREE_SUMS(wide_##name, f64, LINE, S, wide_value_##name)                                    \
    static void short_moments_##name(double *mean, double *m2, const void *terms, int64_t k) { \
        short_wide_##name(mean, terms, k);                                                     \
        for (int i = 0; i < (LINE) / (S); i++)                                                 \
            mean[i] /= (double)k;                                                              \
        deviations_##name(m2, mean, terms, k);                                                 \
    }
FLOAT_MOMENTS(f16, 64, 2, v_f64_of_f16)
FLOAT_MOMENTS(f32, 64, 4, v_f64_of_f32)
FLOAT_MOMENTS(f64, 128, 8, v_f64_load)
INTEGER_MOMENTS(u8, 1, v_f64_of_u8)
INTEGER_MOMENTS(i8, 1, v_f64_of_i8)
INTEGER_MOMENTS(u16, 2, v_f64_of_u16)
INTEGER_MOMENTS(i16, 2, v_f64_of_i16)
INTEGER_MOMENTS(u32, 4, v_f64_of_u32)
INTEGER_MOMENTS(i32, 4, v_f64_of_i32)

/* The last step, in place: of means of integers, whose sums are less than 2^63, of f32 and of f64; of variances and their roots. */
static void short_means_integers(void *row, int64_t n, int64_t k) {
    char *p = row;
    for (int64_t i = 0; i < n; i++, p += 8) {
        int64_t sum;
        memcpy(&sum, p, 8);
        const double mean = (double)sum / (double)k;
        memcpy(p, &mean, 8);
    }
}
static void short_means_f32(void *row, int64_t n, int64_t k) {
    float *x = row;
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)((double)x[i] / (double)k);
}
static void short_means_f64(void *row, int64_t n, int64_t k) {
    double *x = row;
    for (int64_t i = 0; i < n; i++)
        x[i] /= (double)k;
}
static void short_variances(double *m2, int64_t n, double divisor, bool roots) {
    for (int64_t i = 0; divisor != 1 && i < n; i++)
        m2[i] /= divisor;
    for (int64_t i = 0; roots && i < n; i++)
        m2[i] = sqrt(m2[i]);
}

#define SHORT_TREES_MAPPED                                                                                                                       \
    [REDUCE_PLAIN] = {[tess_f16] = short_plain_f16, [tess_bf16] = short_plain_bf16, [tess_f32] = short_plain_f32, [tess_f64] = short_plain_f64}, \
    [REDUCE_ABS] = {[tess_f16] = short_abs_f16, [tess_bf16] = short_abs_bf16, [tess_f32] = short_abs_f32, [tess_f64] = short_abs_f64},           \
    [REDUCE_SQUARE] = {[tess_f16] = short_square_f16, [tess_f32] = short_square_f32, [tess_f64] = short_square_f64,                              \
                       [tess_u8] = short_square_u8,   [tess_i8] = short_square_i8,   [tess_u16] = short_square_u16,                              \
                       [tess_i16] = short_square_i16, [tess_u32] = short_square_u32, [tess_i32] = short_square_i32}
#define SHORT_TREES_WIDE [tess_f16] = short_wide_f16, [tess_f32] = short_wide_f32
#define SHORT_TREES_MOMENTS                                                                                                       \
    [tess_f16] = short_moments_f16, [tess_f32] = short_moments_f32, [tess_f64] = short_moments_f64, [tess_u8] = short_moments_u8, \
    [tess_i8] = short_moments_i8, [tess_u16] = short_moments_u16, [tess_i16] = short_moments_i16, [tess_u32] = short_moments_u32, \
    [tess_i32] = short_moments_i32
#define SHORT_TREES_MEANS \
    [tess_f32] = short_means_f32, [tess_f64] = short_means_f64, [tess_u64] = short_means_integers, [tess_i64] = short_means_integers

#endif
