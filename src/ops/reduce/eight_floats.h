/* SPDX-License-Identifier: Apache-2.0
 * eight_floats.h - extremes of columns of f32 and f64 and their places, eight rows at once, as long as no NaN is met; included by cpu_order.c.
 *
 * A key (keys.h) takes nine operations, most of them for NaNs. Without them the bits of a float are in order once those of negative ones are turned over, which
 * takes two; places compare floats, where zeros are equal as places want them. Pairs of rows are looked through for NaNs meanwhile: the eight rows in which
 * there is one, and all that follow, are left to the keys, which make the same of what was found until then - that NaN's eight rows change nothing if taken twice.
 * Eight rows at once, the next eight asked for, are what memory likes (cpu_eight.c), and a column's best stays in a register over eight of its elements. */
#ifndef TESS_OPS_REDUCE_EIGHT_FLOATS_H
#define TESS_OPS_REDUCE_EIGHT_FLOATS_H

#include <math.h>

#include "core/maker.h"
#include "ops/reduce/extremes.h"
#include "ops/reduce/keys.h"
#include "simd/most.h"

enum { EIGHT_ROWS = 8 };

/* Eight rows of so many bytes from row r on of those before `end`, or one. next: the eight after them, where all of them are rows, else the same ones; of one row the
 * fourth after it. Rows of up to 8 KiB that follow each other are the quicker one by one: they are one run of memory. */
TESS_INLINE int64_t reduce_eight_rows(const char **p, const char **next, const char *base, const int64_t *offsets, int64_t r, int64_t end,
                                      int64_t bytes) {
    enum { SHORT = 8192, AHEAD_OF_ONE = 4 };
    const bool eight = bytes > SHORT && r + EIGHT_ROWS <= end;
    const int64_t taken = eight ? EIGHT_ROWS : 1, ahead = eight ? EIGHT_ROWS : AHEAD_OF_ONE, further = r + taken + ahead <= end ? ahead : 0;
    for (int k = 0; k < taken; k++) {
        p[k] = base + offsets[r + k];
        next[k] = base + offsets[r + k + further];
    }
    return taken;
}

/* At byte `at` of eight rows of so many bytes: their lines some way on are asked for, in the end the first ones of the next rows (cpu_eight.c). */
TESS_INLINE void reduce_ask_eight(const char *const *p, const char *const *next, int64_t at, int64_t bytes) {
    if (at % 64 != 0)
        return;
    const int64_t near = tess_min64(bytes, tess_cpu_keeps_few_places() ? 1024 : 2048), own = bytes - near;
    for (int k = 0; k < EIGHT_ROWS; k++)
        tess_prefetch_l2(at < own ? p[k] + at + near : next[k] + (at - own));
}

#if defined(__AVX512F__)
TESS_INLINE v_i32 v_f32_place(v_i32 at, v_f32 x, v_f32 best, bool smallest, v_i32 number) {
    const __mmask16 beats =
        smallest ? _mm512_cmp_ps_mask((__m512)x, (__m512)best, _CMP_LT_OQ) : _mm512_cmp_ps_mask((__m512)x, (__m512)best, _CMP_GT_OQ);
    return (v_i32)_mm512_mask_mov_epi32((__m512i)at, beats, (__m512i)number);
}
TESS_INLINE v_i64 v_f64_place(v_i64 at, v_f64 x, v_f64 best, bool smallest, v_i64 number) {
    const __mmask8 beats =
        smallest ? _mm512_cmp_pd_mask((__m512d)x, (__m512d)best, _CMP_LT_OQ) : _mm512_cmp_pd_mask((__m512d)x, (__m512d)best, _CMP_GT_OQ);
    return (v_i64)_mm512_mask_mov_epi64((__m512i)at, beats, (__m512i)number);
}
#else
#define BY_MASKS(name, vector, mask)                                                                \
    TESS_INLINE mask v_##name##_place(mask at, vector x, vector best, bool smallest, mask number) { \
        const mask beats = smallest ? (mask)(x < best) : (mask)(x > best);                          \
        return (at & ~beats) | (number & beats);                                                    \
    }
BY_MASKS(f32, v_f32, v_i32)
BY_MASKS(f64, v_f64, v_i64)
#endif

/* Rows r .. r + 7; how far on the next eight are, 0: they are not asked for. */
TESS_INLINE int64_t eight_floats(const char **p, const char *base, const int64_t *offsets, int64_t r, int64_t rows, bool cached) {
    for (int k = 0; k < EIGHT_ROWS; k++)
        p[k] = base + offsets[r + k];
    return !cached && r + 2 * EIGHT_ROWS <= rows ? offsets[r + EIGHT_ROWS] - offsets[r] : 0;
}

#define EIGHT_FLOATS(name, S, U, type, vector, keys, key_name)                                                                                       \
    /* Keys of columns 0 .. n-1, n a number of whole vectors; false when there is a NaN. */                                                          \
    TESS_INLINE bool eight_keys_##name(S *best, const char *const *p, int64_t n, int64_t ahead, const bool smallest) {                               \
        enum { LANES = TESS_VECTOR_BYTES / (int)sizeof(type) };                                                                                      \
        const S low = (S)((U)-1 >> 1), flip = (S) - (S)smallest;                                                                                     \
        v_flags nans = v_flags_none();                                                                                                               \
        for (int64_t c = 0; c < n; c += LANES) {                                                                                                     \
            keys b;                                                                                                                                  \
            memcpy(&b, best + c, sizeof b);                                                                                                          \
            if (ahead != 0 && c * (int64_t)sizeof(type) % 64 == 0)                                                                                   \
                for (int k = 0; k < EIGHT_ROWS; k++)                                                                                                 \
                    tess_prefetch_l2(p[k] + ahead + c * (int64_t)sizeof(type));                                                                      \
            TESS_UNROLL for (int k = 0; k < EIGHT_ROWS; k += 2) {                                                                                    \
                const vector x = v_##name##_load(p[k] + c * (int64_t)sizeof(type)), y = v_##name##_load(p[k + 1] + c * (int64_t)sizeof(type));       \
                const keys i = (keys)x, j = (keys)y;                                                                                                 \
                nans = v_##name##_nans(nans, x, y);                                                                                                  \
                b = v_##key_name##_greater(i ^ (i >> (8 * (int)sizeof(S) - 1) & low) ^ flip, b);                                                     \
                b = v_##key_name##_greater(j ^ (j >> (8 * (int)sizeof(S) - 1) & low) ^ flip, b);                                                     \
            }                                                                                                                                        \
            memcpy(best + c, &b, sizeof b);                                                                                                          \
        }                                                                                                                                            \
        return !v_flags_any(nans);                                                                                                                   \
    }                                                                                                                                                \
    /* The greatest keys of n columns; how many rows were seen to, those of the first NaN not among them. */                                         \
    static int64_t eights_##name(S *best, const char *base, const int64_t *offsets, int64_t rows, int64_t n, reduce_order order) {                   \
        const int64_t whole = n / (TESS_VECTOR_BYTES / (int)sizeof(type)) * (TESS_VECTOR_BYTES / (int)sizeof(type));                                 \
        int64_t r = 0;                                                                                                                               \
        for (bool numbers = whole > 0; r + EIGHT_ROWS <= rows; r += EIGHT_ROWS) {                                                                    \
            const char *p[EIGHT_ROWS];                                                                                                               \
            const int64_t ahead = eight_floats(p, base, offsets, r, rows, order.cached);                                                             \
            numbers =                                                                                                                                \
                numbers && (order.smallest ? eight_keys_##name(best, p, whole, ahead, true) : eight_keys_##name(best, p, whole, ahead, false));      \
            if (!numbers)                                                                                                                            \
                break;                                                                                                                               \
            for (int64_t c = whole; c < n; c++)                                                                                                      \
                for (int k = 0; k < EIGHT_ROWS; k++) {                                                                                               \
                    U u;                                                                                                                             \
                    memcpy(&u, p[k] + c * (int64_t)sizeof(type), sizeof u);                                                                          \
                    const S key = key_##name(u, order);                                                                                              \
                    best[c] = key > best[c] ? key : best[c];                                                                                         \
                }                                                                                                                                    \
        }                                                                                                                                            \
        return r;                                                                                                                                    \
    }                                                                                                                                                \
    TESS_INLINE bool eight_places_##name(type *best, S *at, const char *const *p, int64_t n, int64_t ahead, S number, const bool smallest) {         \
        enum { LANES = TESS_VECTOR_BYTES / (int)sizeof(type) };                                                                                      \
        v_flags nans = v_flags_none();                                                                                                               \
        for (int64_t c = 0; c < n; c += LANES) {                                                                                                     \
            vector b = v_##name##_load(best + c);                                                                                                    \
            keys place, row = (keys){0} + number;                                                                                                    \
            memcpy(&place, at + c, sizeof place);                                                                                                    \
            if (ahead != 0 && c * (int64_t)sizeof(type) % 64 == 0)                                                                                   \
                for (int k = 0; k < EIGHT_ROWS; k++)                                                                                                 \
                    tess_prefetch_l2(p[k] + ahead + c * (int64_t)sizeof(type));                                                                      \
            TESS_UNROLL for (int k = 0; k < EIGHT_ROWS; k += 2) {                                                                                    \
                const vector x = v_##name##_load(p[k] + c * (int64_t)sizeof(type)), y = v_##name##_load(p[k + 1] + c * (int64_t)sizeof(type));       \
                nans = v_##name##_nans(nans, x, y);                                                                                                  \
                place = v_##name##_place(place, x, b, smallest, row + k);                                                                            \
                b = smallest ? v_##name##_lesser(x, b) : v_##name##_greater(x, b);                                                                   \
                place = v_##name##_place(place, y, b, smallest, row + (k + 1));                                                                      \
                b = smallest ? v_##name##_lesser(y, b) : v_##name##_greater(y, b);                                                                   \
            }                                                                                                                                        \
            v_##name##_store(best + c, b);                                                                                                           \
            memcpy(at + c, &place, sizeof place);                                                                                                    \
        }                                                                                                                                            \
        return !v_flags_any(nans);                                                                                                                   \
    }                                                                                                                                                \
    /* The keys and numbers of the columns' first extremes, as far as whole eights of rows and vectors of columns go: the rows that were seen to. */ \
    static int64_t first_eights_##name(S *keys_found, S *at, const char *base, const int64_t *offsets, int64_t rows, int64_t n,                      \
                                       reduce_order order) {                                                                                         \
        enum { MOST = 1024 };                                                                                                                        \
        _Alignas(64) type best[MOST];                                                                                                                \
        int64_t r = 0;                                                                                                                               \
        for (int64_t c = 0; c < n; c++)                                                                                                              \
            best[c] = order.smallest ? (type)INFINITY : (type)-INFINITY;                                                                             \
        for (bool numbers = true; r + EIGHT_ROWS <= rows; r += EIGHT_ROWS) {                                                                         \
            const char *p[EIGHT_ROWS];                                                                                                               \
            const int64_t ahead = eight_floats(p, base, offsets, r, rows, order.cached);                                                             \
            numbers =                                                                                                                                \
                order.smallest ? eight_places_##name(best, at, p, n, ahead, (S)r, true) : eight_places_##name(best, at, p, n, ahead, (S)r, false);   \
            if (!numbers)                                                                                                                            \
                break;                                                                                                                               \
        }                                                                                                                                            \
        for (int64_t c = 0; c < n; c++) {                                                                                                            \
            U u;                                                                                                                                     \
            memcpy(&u, &best[c], sizeof u);                                                                                                          \
            keys_found[c] = key_##name(u, order);                                                                                                    \
        }                                                                                                                                            \
        return r;                                                                                                                                    \
    }
EIGHT_FLOATS(f32, int32_t, uint32_t, float, v_f32, v_i32, i32)
EIGHT_FLOATS(f64, int64_t, uint64_t, double, v_f64, v_i64, i64)

/* Other types have keys that cost little. */
#define EIGHT_OTHERS(name, S)                                                                                                                        \
    TESS_INLINE int64_t eights_##name(S *best, const char *base, const int64_t *offsets, int64_t rows, int64_t n, reduce_order order) {              \
        (void)best, (void)base, (void)offsets, (void)rows, (void)n, (void)order;                                                                     \
        return 0;                                                                                                                                    \
    }                                                                                                                                                \
    TESS_INLINE int64_t first_eights_##name(S *best, S *at, const char *base, const int64_t *offsets, int64_t rows, int64_t n, reduce_order order) { \
        (void)best, (void)at, (void)base, (void)offsets, (void)rows, (void)n, (void)order;                                                           \
        return 0;                                                                                                                                    \
    }
EIGHT_OTHERS(bool, int8_t)
EIGHT_OTHERS(u8, int8_t)
EIGHT_OTHERS(i8, int8_t)
EIGHT_OTHERS(u16, int16_t)
EIGHT_OTHERS(i16, int16_t)
EIGHT_OTHERS(u32, int32_t)
EIGHT_OTHERS(i32, int32_t)
EIGHT_OTHERS(u64, int64_t)
EIGHT_OTHERS(i64, int64_t)
EIGHT_OTHERS(f16, int16_t)
EIGHT_OTHERS(bf16, int16_t)

#endif
