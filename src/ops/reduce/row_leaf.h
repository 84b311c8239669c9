/* SPDX-License-Identifier: Apache-2.0
 * row_leaf.h - a leaf of the tree over a row that begins anywhere, by aligned vectors (cpu_rows.c).
 *
 * With AVX-512 the lanes are registers and elements are read by whole aligned vectors, wherever the row begins: lane j then lies `skip` elements further on in the
 * vector, in every row of 256 in the same place, since 256 is a number of whole vectors. Halving joins lane j with lane j + w, where lanes turned round by `skip` have
 * the same partners at every level, so nothing need be turned back. The first and the last vector are read under a mask. So no load meets two lines, and rows that follow one another are read as one
 * run, by the same few loads: a row's end is left from the middle of the loop over 256 lanes, since processors that follow each load by its address in the code take
 * loads that come once a row for no stream (rows of 1000 f32 on a Zen 4: 80 -> 100 % of reading). Sums of two do not depend on which comes first, so the bits
 * are the tree's. */
#ifndef TESS_OPS_REDUCE_ROW_LEAF_H
#define TESS_OPS_REDUCE_ROW_LEAF_H

#include "ops/reduce/take.h"
#include "simd/touch.h"

enum { AHEAD = 4096 };

/* What is done about the lines to come. */
typedef enum next_lines { LEFT_ALONE, ASKED_FOR, TOUCHED, IN_TURNS } next_lines;

#if defined(__AVX512F__)
#define UNROLL _Pragma("GCC unroll 32")

/* The halvings of one vector. */
TESS_INLINE double last_double(v_f64 x) {
    const __m256d four = _mm512_castpd512_pd256((__m512d)x) + _mm512_extractf64x4_pd((__m512d)x, 1);
    const __m128d two = _mm256_castpd256_pd128(four) + _mm256_extractf128_pd(four, 1);
    return two[0] + two[1];
}
TESS_INLINE float last_float(v_f32 x) {
    const __m256 eight = _mm512_castps512_ps256((__m512)x) + _mm512_extractf32x8_ps((__m512)x, 1);
    const __m128 four = _mm256_castps256_ps128(eight) + _mm256_extractf128_ps(eight, 1), two = four + _mm_movehl_ps(four, four);
    return two[0] + two[1];
}

/* Level by level: of nested loops gcc 12 keeps the inner ones, and the lanes go by way of L1. */
#define HALVE_TO(a, VECTORS, to) \
    if (VECTORS > to)            \
    UNROLL for (int v = 0; v < to; v++) a[v] += a[v + (VECTORS > to ? to : 0)]
#define HALVE(a, VECTORS)     \
    HALVE_TO(a, VECTORS, 16); \
    HALVE_TO(a, VECTORS, 8);  \
    HALVE_TO(a, VECTORS, 4);  \
    HALVE_TO(a, VECTORS, 2);  \
    HALVE_TO(a, VECTORS, 1)

/* Bytes begin .. end of those at p, zeros in place of the others; at the most a vector. */
TESS_INLINE const char *some_bytes(char *to, const char *p, int64_t begin, int64_t end) {
    _mm512_store_si512(to, _mm512_maskz_loadu_epi8(~(__mmask64)0 >> (64 - end) & ~(__mmask64)0 << begin, p));
    return to;
}

/* What comes before unit i of a turn of four at q is taken. There is a unit after the four. */
TESS_INLINE void before_unit(const char *q, int i, int bytes, next_lines next) {
    if (next == ASKED_FOR && i * bytes % 64 == 0)
        tess_prefetch_ahead(q + i * bytes + AHEAD, 64);
    if (next == TOUCHED)
        tess_touch_line(q + (i + 1) * bytes);
}

/* A turn, from lane vector `at` on: four whole units; of fewer, and of the last one, the rest of the row, and out of the loop. */
#define TAKE_UNIT(name, i, at)      \
    before_unit(q, i, BYTES, next); \
    a[((at) + (i)) % VECTORS] = take_##name(a[((at) + (i)) % VECTORS], q + (i)*BYTES)
#define TAKE_LAST(name, i, at) a[((at) + (i)) % VECTORS] = take_##name(a[((at) + (i)) % VECTORS], some_bytes(buffer, q + (i)*BYTES, 0, end))
#define TURN(name, at)              \
    if (left < 4) {                 \
        if (left == 0) {            \
            TAKE_LAST(name, 0, at); \
        } else if (left == 1) {     \
            TAKE_UNIT(name, 0, at); \
            TAKE_LAST(name, 1, at); \
        } else if (left == 2) {     \
            TAKE_UNIT(name, 0, at); \
            TAKE_UNIT(name, 1, at); \
            TAKE_LAST(name, 2, at); \
        } else {                    \
            TAKE_UNIT(name, 0, at); \
            TAKE_UNIT(name, 1, at); \
            TAKE_UNIT(name, 2, at); \
            TAKE_LAST(name, 3, at); \
        }                           \
        break;                      \
    }                               \
    TAKE_UNIT(name, 0, at);         \
    TAKE_UNIT(name, 1, at);         \
    TAKE_UNIT(name, 2, at);         \
    TAKE_UNIT(name, 3, at);         \
    left -= 4;                      \
    q += 4 * BYTES;

/* The sum of the n elements of a leaf, `size` bytes each; a unit is what fills a vector. Lanes without elements hold +0, which no sum notices that started from +0,
 * and neither do those that take +0 once more to complete a unit. Elements that do not lie at multiples of their size are read as they lie. */
#define LEAF(name, type, vector, size)                                                                                 \
    TESS_INLINE type leaf_##name(const char *p, int64_t n, const next_lines next) {                                    \
        enum { LANES = TESS_VECTOR_BYTES / (int)sizeof(type), VECTORS = REDUCE_LANES / LANES, BYTES = LANES * size };  \
        const int skip = (uintptr_t)p % size == 0 ? (int)((uintptr_t)p % BYTES) : 0;                                   \
        const int64_t bytes = skip + n * size, units = (bytes + BYTES - 1) / BYTES, end = bytes - (units - 1) * BYTES; \
        const char *q = p - skip;                                                                                      \
        _Alignas(64) char buffer[64];                                                                                  \
        vector a[VECTORS];                                                                                             \
        UNROLL for (int v = 0; v < VECTORS; v++) a[v] = (vector){0};                                                   \
        if (next == TOUCHED && units > 1)                                                                              \
            tess_touch_line(q + BYTES);                                                                                \
        a[0] = take_##name(a[0], some_bytes(buffer, q, skip, units > 1 ? BYTES : end));                                \
        q += BYTES;                                                                                                    \
        for (int64_t left = units - 2; left >= 0;) {                                                                   \
            if (next != ASKED_FOR)                                                                                     \
                tess_ask_page(q, VECTORS *BYTES);                                                                      \
            TURN(name, 1)                                                                                              \
            TURN(name, 5)                                                                                              \
            TURN(name, 9)                                                                                              \
            TURN(name, 13)                                                                                             \
            if (VECTORS == 32) {                                                                                       \
                TURN(name, 17)                                                                                         \
                TURN(name, 21)                                                                                         \
                TURN(name, 25)                                                                                         \
                TURN(name, 29)                                                                                         \
            }                                                                                                          \
        }                                                                                                              \
        HALVE(a, VECTORS);                                                                                             \
        return last_##type(a[0]);                                                                                      \
    }

#else
#define UNROLL

#define LAST(type, vector)                                                     \
    TESS_INLINE type last_##type(vector x) {                                   \
        for (int w = TESS_VECTOR_BYTES / (int)sizeof(type) / 2; w > 0; w /= 2) \
            for (int j = 0; j < w; j++)                                        \
                x[j] += x[j + w];                                              \
        return x[0];                                                           \
    }
LAST(float, v_f32)
LAST(double, v_f64)

#define HALVE(a, VECTORS) \
    _Pragma("GCC unroll 8") for (int w = VECTORS / 2; w > 0; w /= 2) _Pragma("GCC unroll 16") for (int v = 0; v < w; v++) a[v] += a[v + w]

/* The lanes lie in L1; what does not fill a vector is copied. Rows of lanes are kept apart: gcc 12 takes two of them at once where nothing stands between
 * them (unroll and jam), so that memory is read in two places in turns, at a third of its speed (Zen 4, AVX2: 11 GB/s in place of 33). Written out, a row is read
 * faster than by a loop of one vector, from memory and from the caches (77 -> 92 % of reading; ordinary pages 65 -> 82); all of it: of f64, whose row is 64 vectors,
 * by two turns of 32 75 %, by one 91. A Zen 5 reads f64 at 75 to 82 % by one, at 66 to 72 by two and at 95 by four of 16, f32 as fast by one as by two. */
enum { PIECE = 16 };
#define LEAF(name, type, vector, size)                                                                                             \
    enum { LANES_##name = TESS_VECTOR_BYTES / (int)sizeof(type), VECTORS_##name = REDUCE_LANES / LANES_##name };                   \
    /* One more row of lanes. */                                                                                                   \
    TESS_INLINE void whole_##name(vector *a, const char *p, const next_lines next) {                                               \
        enum { VECTORS = VECTORS_##name, BYTES = LANES_##name * size };                                                            \
        const int piece = next == ASKED_FOR && VECTORS > (int)PIECE ? (int)PIECE : VECTORS;                                        \
        if (next == LEFT_ALONE)                                                                                                    \
            tess_ask_page(p, VECTORS *BYTES);                                                                                      \
        _Pragma("GCC unroll 1") for (int from = 0; from < VECTORS; from += piece) {                                                \
            __asm__ volatile("" ::: "memory");                                                                                     \
            _Pragma("GCC unroll 64") for (int v = 0; v < piece; v++) {                                                             \
                if (next == ASKED_FOR && v * BYTES % 64 == 0)                                                                      \
                    tess_prefetch_ahead(p + (from + v) * BYTES + AHEAD, 64);                                                       \
                a[from + v] = take_##name(a[from + v], p + (from + v) * BYTES);                                                    \
            }                                                                                                                      \
        }                                                                                                                          \
    }                                                                                                                              \
    /* The last n elements, fewer than a row, and the sum of all lanes. */                                                         \
    TESS_INLINE type end_##name(vector *a, const char *p, int n, const next_lines next) {                                          \
        enum { LANES = LANES_##name, VECTORS = VECTORS_##name, BYTES = LANES * size };                                             \
        const int whole = n / LANES, some = n % LANES;                                                                             \
        if (whole + some > 0) {                                                                                                    \
            _Alignas(64) char last[64] = {0};                                                                                      \
            memcpy(last, p + whole * BYTES, (size_t)some * size);                                                                  \
            if (next == ASKED_FOR)                                                                                                 \
                for (int at = 0; at < (whole + 1) * BYTES; at += 64)                                                               \
                    tess_prefetch_ahead(p + at + (size > 4 ? 2 : 1) * AHEAD, 64);                                                  \
            for (int v = 0; v < whole; v++)                                                                                        \
                a[v] = take_##name(a[v], p + v * BYTES);                                                                           \
            a[whole] = take_##name(a[whole], last);                                                                                \
        }                                                                                                                          \
        HALVE(a, VECTORS);                                                                                                         \
        return last_##type(a[0]);                                                                                                  \
    }                                                                                                                              \
    /* Fewer elements than lanes: the lanes that none reaches are left out, and the first halving is made as elements are read. */ \
    static TESS_NOINLINE type few_##name(const char *p, int n) {                                                                   \
        enum { LANES = LANES_##name, VECTORS = VECTORS_##name, BYTES = LANES * size, KEPT = 8 };                                   \
        const int whole = n / LANES, some = n % LANES;                                                                             \
        const vector zero = {0};                                                                                                   \
        vector a[VECTORS / 2], b[KEPT];                                                                                            \
        int half = 1;                                                                                                              \
        _Alignas(64) char last[128] = {0};                                                                                         \
        if (whole == 0)                                                                                                            \
            memcpy(last + 64, p, (size_t)some * size);                                                                             \
        else if (some > 0) /* those before them, too: as many bytes as a vector */                                                 \
            memcpy(last + 64 - BYTES + some * size, p + n * size - BYTES, BYTES);                                                  \
        if (whole == 0 || n == LANES)                                                                                              \
            return last_##type(take_##name(zero, whole == 0 ? last + 64 : p));                                                     \
        while (2 * half * LANES < n)                                                                                               \
            half *= 2;                                                                                                             \
        for (int v = 0; v < half; v++)                                                                                             \
            a[v] = take_##name(zero, p + v * BYTES);                                                                               \
        for (int v = half; v < whole; v++)                                                                                         \
            a[v - half] += take_##name(zero, p + v * BYTES);                                                                       \
        if (some > 0)                                                                                                              \
            a[whole - half] += take_##name(zero, last + 64);                                                                       \
        for (half /= 2; half >= KEPT; half /= 2)                                                                                   \
            for (int v = 0; v < half; v++)                                                                                         \
                a[v] += a[v + half];                                                                                               \
        if (half == KEPT / 2) { /* in registers */                                                                                 \
            _Pragma("GCC unroll 8") for (int v = 0; v < KEPT; v++) b[v] = a[v];                                                    \
            HALVE(b, KEPT);                                                                                                        \
            return last_##type(b[0]);                                                                                              \
        }                                                                                                                          \
        for (; half > 0; half /= 2)                                                                                                \
            for (int v = 0; v < half; v++)                                                                                         \
                a[v] += a[v + half];                                                                                               \
        return last_##type(a[0]);                                                                                                  \
    }                                                                                                                              \
    TESS_INLINE type leaf_##name(const char *p, int64_t n, const next_lines next) {                                                \
        vector a[VECTORS_##name];                                                                                                  \
        if (n < REDUCE_LANES)                                                                                                      \
            return few_##name(p, (int)n);                                                                                          \
        for (int v = 0; v < VECTORS_##name; v++)                                                                                   \
            a[v] = (vector){0};                                                                                                    \
        for (; n >= REDUCE_LANES; n -= REDUCE_LANES, p += REDUCE_LANES * size)                                                     \
            whole_##name(a, p, next);                                                                                              \
        return end_##name(a, p, (int)n, next);                                                                                     \
    }
#endif

#if TESS_VECTOR_BYTES == 32
/* Two leaves, of n and m <= n elements, a row of each in turns. After LEAF. */
#define PAIR(name, type, vector, size)                                                                            \
    TESS_INLINE void pair_##name(type *first, type *second, const char *p, int64_t n, const char *q, int64_t m) { \
        vector a[VECTORS_##name], b[VECTORS_##name];                                                              \
        if (n < REDUCE_LANES) {                                                                                   \
            *first = few_##name(p, (int)n);                                                                       \
            *second = few_##name(q, (int)m);                                                                      \
            return;                                                                                               \
        }                                                                                                         \
        for (int v = 0; v < VECTORS_##name; v++)                                                                  \
            a[v] = b[v] = (vector){0};                                                                            \
        for (; m >= REDUCE_LANES; m -= REDUCE_LANES, n -= REDUCE_LANES) {                                         \
            whole_##name(a, p, IN_TURNS);                                                                         \
            whole_##name(b, q, IN_TURNS);                                                                         \
            p += REDUCE_LANES * size;                                                                             \
            q += REDUCE_LANES * size;                                                                             \
        }                                                                                                         \
        *second = end_##name(b, q, (int)m, IN_TURNS);                                                             \
        for (; n >= REDUCE_LANES; n -= REDUCE_LANES, p += REDUCE_LANES * size)                                    \
            whole_##name(a, p, IN_TURNS);                                                                         \
        *first = end_##name(a, p, (int)n, IN_TURNS);                                                              \
    }
#endif

#endif
