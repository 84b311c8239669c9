/* SPDX-License-Identifier: Apache-2.0
 * cpu_exact.c - exact sums at the speed of vectors: elements are cut at a multiple of a unit, and sums of the upper parts need no rounding.
 *
 * A sum that starts from 1.5 * 2^K stays a multiple of u = 2^(K-52) whatever is added: what an addition dropped is x less the change of the sum, without
 * error (the extraction of Rump, Ogita and Oishi, "Accurate floating-point summation", SIAM J. Sci. Comput. 31, 2008; sums kept that way are those of
 * Demmel and Nguyen, "Parallel reproducible summation", IEEE Trans. Comput. 64, 2015). For elements below 2^E and T additions a lane, K = E + log2(T) + 1
 * keeps the sum between 2^K and 2^(K+1), and u = 2^(E-45): one level takes all bits of f32 elements within 2^22 of the greatest, two those of f64 within
 * 2^38. A block that leaves a rest passes again; the few sums of a block go to the long accumulator. Every path is exact, so all give the same bits. */
#include <string.h>

#include "ops/reduce/superaccumulator.h"
#include "simd/half.h"

enum {
    CHAINS = 4,
    STEP = CHAINS * TESS_F64_LANES,
    TERMS = 64, /* additions a lane in a block */
    LEVEL = 46, /* bits that a level takes: 2^E down to u / 2 */
    HEADROOM = 7,
    LEAST_TOP = -1022, /* from here on u is the least subnormal and nothing is dropped */
    REST = 2048,       /* elements of the longest block */
    PASSES = 4
};
_Static_assert(TERMS *STEP <= REST, "a block's rest fits its buffer");

typedef struct levels {
    int top; /* 2^top: no element is as great */
    v_f64 sum[2][CHAINS];
} levels;

/* 1.5 * 2^k of a normal k. */
static double half_above(int k) {
    const uint64_t bits = (uint64_t)(k + 1023) << 52 | (uint64_t)1 << 51;
    double x;
    memcpy(&x, &bits, 8);
    return x;
}
static int level_top(int top, int level) {
    const int k = top - level * LEVEL + HEADROOM;
    return k < LEAST_TOP ? LEAST_TOP : k;
}
/* E of the header: 2^E is above every |x| <= greatest; INT32_MAX when there is no room for the sums or no number. */
static int top_of(double greatest) {
    int e;
    if (!(greatest <= 0x1p1000))
        return INT32_MAX;
    (void)frexp(greatest, &e);
    return e;
}

static void sums_start(levels *s, int count) {
    for (int l = 0; l < count; l++)
        for (int c = 0; c < CHAINS; c++)
            s->sum[l][c] = v_f64_all(half_above(level_top(s->top, l)));
}

/* Into the long accumulators; lane i belongs to part i % parts. False, and nothing was added, when an element was no number. */
static bool sums_finish(const levels *s, int count, exact_part *part, int parts) {
    double lanes[2][TESS_F64_LANES];
    for (int l = 0; l < count; l++) {
        const v_f64 start = v_f64_all(half_above(level_top(s->top, l)));
        v_f64 sum = s->sum[l][0] - start;
        for (int c = 1; c < CHAINS; c++)
            sum += s->sum[l][c] - start;
        v_f64_store(lanes[l], sum);
    }
    for (int i = 0; i < TESS_F64_LANES; i++)
        if (!isfinite(lanes[0][i]))
            return false;
    for (int l = 0; l < count; l++)
        for (int i = 0; i < TESS_F64_LANES; i++)
            if (lanes[l][i] != 0)
                exact_add(&part[i % parts], lanes[l][i]);
    return true;
}

/* The greatest magnitude of whole steps; NaNs may go unseen. */
#define GREATEST(name, type, vector, mask, low)                                                                         \
    static double greatest_##name(const char *p, int64_t bytes) {                                                       \
        enum { SOME = 4, PIECE = SOME * TESS_VECTOR_BYTES };                                                            \
        vector m[SOME] = {{0}};                                                                                         \
        int64_t at = 0;                                                                                                 \
        double greatest = 0;                                                                                            \
        for (; at + PIECE <= bytes; at += PIECE)                                                                        \
            for (int c = 0; c < SOME; c++)                                                                              \
                m[c] = v_##name##_greater((vector)((mask)v_##name##_load(p + at + c * TESS_VECTOR_BYTES) & low), m[c]); \
        for (; at < bytes; at += TESS_VECTOR_BYTES)                                                                     \
            m[0] = v_##name##_greater((vector)((mask)v_##name##_load(p + at) & low), m[0]);                             \
        for (int c = 1; c < SOME; c++)                                                                                  \
            m[0] = v_##name##_greater(m[c], m[0]);                                                                      \
        for (int i = 0; i < TESS_VECTOR_BYTES / (int)sizeof(type); i++)                                                 \
            greatest = (double)m[0][i] > greatest ? (double)m[0][i] : greatest;                                         \
        return greatest;                                                                                                \
    }
GREATEST(f32, float, v_f32, v_i32, INT32_MAX)
GREATEST(f64, double, v_f64, v_i64, INT64_MAX)
static double greatest_f16(const char *p, int64_t bytes) { /* of all of them; infinities are seen in the sums */
    (void)p;
    (void)bytes;
    return 65504;
}

/* VALUE makes a vector of f64 from elements of `size` bytes, LEVELS is how many levels they are worth. pass: the elements' levels into s; the rest, if any,
 * into `rest` unless that is NULL; returns whether there is one. n is a number of whole steps. */
#define EXACT(name, size, LEVELS, VALUE)                                                                                                            \
    TESS_INLINE bool name##_pass(levels *s, const char *p, int64_t n, v_i64 keep, double *rest) {                                                   \
        v_f64 sum[LEVELS][CHAINS];                                                                                                                  \
        v_i64 left = {0};                                                                                                                           \
        memcpy(sum, s->sum, sizeof sum);                                                                                                            \
        for (int64_t at = 0; at < n; at += STEP) {                                                                                                  \
            tess_prefetch_ahead(p + (at + TERMS * STEP) * size, STEP * size);                                                                       \
            TESS_UNROLL for (int c = 0; c < CHAINS; c++) {                                                                                          \
                v_f64 x = (v_f64)((v_i64)VALUE(p + (at + c * TESS_F64_LANES) * size) & keep);                                                       \
                TESS_UNROLL for (int l = 0; l < LEVELS; l++) {                                                                                      \
                    const v_f64 before = sum[l][c], after = before + x;                                                                             \
                    x -= after - before;                                                                                                            \
                    sum[l][c] = after;                                                                                                              \
                }                                                                                                                                   \
                left |= (v_i64)x;                                                                                                                   \
                if (rest)                                                                                                                           \
                    v_f64_store(rest + at + c * TESS_F64_LANES, x);                                                                                 \
            }                                                                                                                                       \
        }                                                                                                                                           \
        memcpy(s->sum, sum, sizeof sum);                                                                                                            \
        left &= INT64_MAX;                                                                                                                          \
        return v_any(&left);                                                                                                                        \
    }                                                                                                                                               \
    static TESS_NOINLINE bool name##_plain(levels *s, const char *p, int64_t n) { return name##_pass(s, p, n, (v_i64){0} - 1, NULL); }              \
    static TESS_NOINLINE bool name##_magnitudes(levels *s, const char *p, int64_t n) { return name##_pass(s, p, n, (v_i64){0} + INT64_MAX, NULL); } \
    static TESS_NOINLINE void name##_rest(levels *s, const char *p, int64_t n, v_i64 keep, double *rest) { name##_pass(s, p, n, keep, rest); }      \
    static void name##_singly(exact_part *part, int parts, const char *p, int64_t n, bool magnitude) {                                              \
        for (int64_t at = 0; at < n; at += TESS_F64_LANES) {                                                                                        \
            const int64_t m = tess_min64(n - at, TESS_F64_LANES);                                                                                   \
            char few[TESS_F64_LANES * size] = {0};                                                                                                  \
            double x[TESS_F64_LANES];                                                                                                               \
            memcpy(few, p + at * size, (size_t)(m * size));                                                                                         \
            v_f64_store(x, VALUE(few));                                                                                                             \
            for (int64_t i = 0; i < m; i++)                                                                                                         \
                exact_add(&part[i % parts], magnitude ? fabs(x[i]) : x[i]);                                                                         \
        }                                                                                                                                           \
    }                                                                                                                                               \
    /* One block; how many more passes its rest may take. */                                                                                        \
    static void name##_block(exact_part *part, int parts, const char *p, int64_t n, bool magnitude, int passes) {                                   \
        levels s = {.top = top_of(greatest_##name(p, n * size))};                                                                                   \
        if (s.top == INT32_MAX) {                                                                                                                   \
            name##_singly(part, parts, p, n, magnitude);                                                                                            \
            return;                                                                                                                                 \
        }                                                                                                                                           \
        sums_start(&s, LEVELS);                                                                                                                     \
        const bool left = (magnitude ? name##_magnitudes : name##_plain)(&s, p, n);                                                                 \
        if ((left && passes == 0) || !sums_finish(&s, LEVELS, part, parts)) {                                                                       \
            name##_singly(part, parts, p, n, magnitude);                                                                                            \
        } else if (left) {                                                                                                                          \
            double rest[REST];                                                                                                                      \
            sums_start(&s, LEVELS);                                                                                                                 \
            name##_rest(&s, p, n, magnitude ? (v_i64){0} + INT64_MAX : (v_i64){0} - 1, rest);                                                       \
            rest_block(part, parts, (const char *)rest, n, passes - 1);                                                                             \
        }                                                                                                                                           \
    }                                                                                                                                               \
    static void name(exact_part *part, int parts, const void *row, int64_t n, bool magnitude) {                                                     \
        const char *p = row;                                                                                                                        \
        const int64_t whole = n / STEP * STEP;                                                                                                      \
        for (int64_t at = 0, m; at < whole; at += m) {                                                                                              \
            m = tess_min64(whole - at, TERMS * STEP);                                                                                               \
            name##_block(part, parts, p + at * size, m, magnitude, PASSES);                                                                         \
        }                                                                                                                                           \
        name##_singly(part, parts, p + whole * size, n - whole, magnitude);                                                                         \
    }
static void rest_block(exact_part *part, int parts, const char *p, int64_t n, int passes);
EXACT(f64, 8, 2, v_f64_load)
EXACT(f32, 4, 1, v_f64_of_f32)
EXACT(f16, 2, 1, v_f64_of_f16)

static void rest_block(exact_part *part, int parts, const char *p, int64_t n, int passes) { f64_block(part, parts, p, n, false, passes); }

/* Halves of 32 bits: 2^20 of them fit 64. */
static void integers(exact_part *part, const uint64_t *row, int64_t n, bool is_signed) {
    enum { MOST = 1 << 20 };
    for (int64_t m; n > 0; n -= m, row += m) {
        uint64_t low = 0, high = 0, negative = 0;
        m = tess_min64(n, MOST);
        for (int64_t i = 0; i < m; i++) {
            low += row[i] & 0xffffffff;
            high += row[i] >> 32;
            negative += row[i] >> 63;
        }
        exact_add(part, (double)low);
        exact_add(part, (double)high * 0x1p32);
        if (is_signed)
            exact_add(part, (double)negative * -0x1p64);
    }
}

static void few(double *restrict sum, int64_t *restrict left, const double *restrict row, int64_t n, bool magnitude) {
    const uint64_t keep = magnitude ? INT64_MAX : UINT64_MAX;
    for (int64_t c = 0; c < n; c++) {
        uint64_t bits;
        int64_t dropped;
        double x;
        memcpy(&bits, row + c, 8);
        bits &= keep;
        memcpy(&x, &bits, 8);
        const double rest = exact_dropped(&sum[c], x);
        memcpy(&dropped, &rest, 8);
        left[c] |= dropped & INT64_MAX;
    }
}

extern const reduce_exact_kernels TESS_ISA_NAME(tess_reduce_exact_kernels);
const reduce_exact_kernels TESS_ISA_NAME(tess_reduce_exact_kernels) = {
    .add = {[tess_f16] = f16, [tess_f32] = f32, [tess_f64] = f64, [tess_c64] = f32, [tess_c128] = f64},
    .integers = integers,
    .few = few,
};
