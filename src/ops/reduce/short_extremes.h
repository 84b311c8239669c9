/* SPDX-License-Identifier: Apache-2.0
 * short_extremes.h - extremes of short rows of f32 and f64, of a line or more, sixteen rows as they lie (AVX-512); included by cpu_short.c.
 *
 * No order matters, so a row is one vector's extremes of its lines, the last line being the row's last 64 bytes, wherever it begins; sixteen such vectors halve together in
 * registers. Nothing is turned. Rows with NaNs, and zeros where their signs matter, are left to the turned rows (short_kinds.h). */
#ifndef TESS_OPS_REDUCE_SHORT_EXTREMES_H
#define TESS_OPS_REDUCE_SHORT_EXTREMES_H

#include "ops/reduce/short_kinds.h"

#if defined(__AVX512F__)
/* Sixteen rows of sixteen lanes to one lane each: halves of two rows, quarters of four, pairs, lanes. */
#define HALVES_F32(OP)                                                                                                                         \
    _Pragma("GCC unroll 8") for (int i = 0; i < 8; i++) a[i] =                                                                                 \
        (v_f32)OP(_mm512_shuffle_f32x4((__m512)a[i], (__m512)a[i + 8], 0x44), _mm512_shuffle_f32x4((__m512)a[i], (__m512)a[i + 8], 0xee));     \
    _Pragma("GCC unroll 4") for (int i = 0; i < 4; i++) a[i] =                                                                                 \
        (v_f32)OP(_mm512_shuffle_f32x4((__m512)a[i], (__m512)a[i + 4], 0x88), _mm512_shuffle_f32x4((__m512)a[i], (__m512)a[i + 4], 0xdd));     \
    _Pragma("GCC unroll 2") for (int i = 0; i < 2; i++) a[i] =                                                                                 \
        (v_f32)OP((__m512)_mm512_unpacklo_pd((__m512d)a[i], (__m512d)a[i + 2]), (__m512)_mm512_unpackhi_pd((__m512d)a[i], (__m512d)a[i + 2])); \
    a[0] = (v_f32)OP(_mm512_shuffle_ps((__m512)a[0], (__m512)a[1], 0x88), _mm512_shuffle_ps((__m512)a[0], (__m512)a[1], 0xdd))
TESS_INLINE void halves_f32(float *to, const float *lanes, const bool smallest) {
    const __m512i in_order = _mm512_setr_epi32(0, 2, 1, 3, 8, 10, 9, 11, 4, 6, 5, 7, 12, 14, 13, 15);
    v_f32 a[ROWS];
    _Pragma("GCC unroll 16") for (int i = 0; i < ROWS; i++) a[i] = v_f32_load(lanes + 16 * i);
    if (smallest) {
        HALVES_F32(_mm512_min_ps);
    } else {
        HALVES_F32(_mm512_max_ps);
    }
    _mm512_storeu_ps(to, _mm512_permutexvar_ps(in_order, (__m512)a[0]));
}

/* Twice eight rows of eight lanes. */
#define HALVES_F64(OP)                                                                                                                         \
    _Pragma("GCC unroll 4") for (int i = 0; i < 4; i++) a[i] =                                                                                 \
        (v_f64)OP(_mm512_shuffle_f64x2((__m512d)a[i], (__m512d)a[i + 4], 0x44), _mm512_shuffle_f64x2((__m512d)a[i], (__m512d)a[i + 4], 0xee)); \
    _Pragma("GCC unroll 2") for (int i = 0; i < 2; i++) a[i] =                                                                                 \
        (v_f64)OP(_mm512_shuffle_f64x2((__m512d)a[i], (__m512d)a[i + 2], 0x88), _mm512_shuffle_f64x2((__m512d)a[i], (__m512d)a[i + 2], 0xdd)); \
    a[0] = (v_f64)OP(_mm512_unpacklo_pd((__m512d)a[0], (__m512d)a[1]), _mm512_unpackhi_pd((__m512d)a[0], (__m512d)a[1]))
TESS_INLINE void halves_f64(double *to, const double *lanes, const bool smallest) {
    const __m512i in_order = _mm512_setr_epi64(0, 1, 4, 5, 2, 3, 6, 7);
    _Pragma("GCC unroll 2") for (int eight = 0; eight < ROWS; eight += 8) {
        v_f64 a[8];
        _Pragma("GCC unroll 8") for (int i = 0; i < 8; i++) a[i] = v_f64_load(lanes + 8 * (eight + i));
        if (smallest) {
            HALVES_F64(_mm512_min_pd);
        } else {
            HALVES_F64(_mm512_max_pd);
        }
        _mm512_storeu_pd(to + eight, _mm512_permutexvar_pd(in_order, (__m512d)a[0]));
    }
}

#define SHORT_EXTREMES(name, S, U, type, vector, mask)                                                                                      \
    /* False when only keys can tell. bytes: of a row, a line or more. */                                                                   \
    TESS_INLINE bool rows_best_##name(type *best, const char *rows, int64_t step, int64_t bytes, const bool smallest, const bool magnitude, \
                                      bool zeros, bool cached) {                                                                            \
        _Alignas(64) type lanes[ROWS * 64 / sizeof(type)];                                                                                  \
        const U low = (U)-1 >> 1;                                                                                                           \
        v_flags nans = v_flags_none();                                                                                                      \
        bool zero = false;                                                                                                                  \
        const char *p = rows;                                                                                                               \
        const int64_t ahead = !cached && tess_cpu_is_zen5() ? reduce_short_ahead(true) : 0;                                                 \
        _Pragma("GCC unroll 1") for (int r = 0; r < ROWS; r++, p += step) {                                                                 \
            if (ahead != 0)                                                                                                                 \
                tess_prefetch_l2(p + ahead);                                                                                                \
            vector x = v_##name##_load(p), most = magnitude ? (vector)((mask)x & low) : x;                                                  \
            nans = v_##name##_nans(nans, x, x);                                                                                             \
            _Pragma("GCC unroll 1") for (int64_t at = 64; at < bytes; at += 64) {                                                           \
                if (ahead != 0)                                                                                                             \
                    tess_prefetch_l2(p + at + ahead);                                                                                       \
                x = v_##name##_load(p + tess_min64(at, bytes - 64));                                                                        \
                nans = v_##name##_nans(nans, x, x);                                                                                         \
                if (magnitude)                                                                                                              \
                    x = (vector)((mask)x & low);                                                                                            \
                most = smallest ? v_##name##_lesser(x, most) : v_##name##_greater(x, most);                                                 \
            }                                                                                                                               \
            v_##name##_store(lanes + r * (64 / (int)sizeof(type)), most);                                                                   \
        }                                                                                                                                   \
        halves_##name(best, lanes, smallest);                                                                                               \
        for (int r = 0; r < ROWS; r++)                                                                                                      \
            zero |= best[r] == 0;                                                                                                           \
        return !v_flags_any(nans) && (zeros || !zero);                                                                                      \
    }                                                                                                                                       \
    TESS_INLINE bool rows_extremes_##name(type *best, const char *rows, int64_t step, int64_t bytes, reduce_order order) {                  \
        if (order.magnitude)                                                                                                                \
            return !order.smallest && rows_best_##name(best, rows, step, bytes, false, true, true, order.cached);                           \
        return order.smallest ? rows_best_##name(best, rows, step, bytes, true, false, order.numeric, order.cached)                         \
                              : rows_best_##name(best, rows, step, bytes, false, false, order.numeric, order.cached);                       \
    }                                                                                                                                       \
    static bool short_greatest_here_##name(void *keys, const char *rows, int64_t step, int64_t k, reduce_order order) {                     \
        _Alignas(64) type best[ROWS];                                                                                                       \
        U bits[ROWS];                                                                                                                       \
        S *to = keys;                                                                                                                       \
        if (!rows_extremes_##name(best, rows, step, k * (int64_t)sizeof(type), order))                                                      \
            return false;                                                                                                                   \
        memcpy(bits, best, sizeof bits);                                                                                                    \
        for (int r = 0; r < ROWS; r++)                                                                                                      \
            to[r] = key_##name(bits[r], order);                                                                                             \
        return true;                                                                                                                        \
    }
SHORT_EXTREMES(f32, int32_t, uint32_t, float, v_f32, v_i32)
SHORT_EXTREMES(f64, int64_t, uint64_t, double, v_f64, v_i64)
#define SHORT_EXTREMES_KERNELS .greatest_here = {[tess_f32] = short_greatest_here_f32, [tess_f64] = short_greatest_here_f64},
#else
#define SHORT_EXTREMES_KERNELS
#endif

#endif
