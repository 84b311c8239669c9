/* SPDX-License-Identifier: Apache-2.0
 * cpu_direct.c - sums of elements that are converted, squared or made positive on their way from memory into the lanes or columns of the tree, so
 * that nothing is copied and a buffer in L1 is neither filled nor read.
 *
 * The additions and their order are those of the lanes (cpu_lanes.c) and columns (cpu_columns.c): the same bits. A row that does not fill a vector is
 * completed with zeros, which no sum notices that started from +0. */
#include <string.h>

#include "ops/reduce/reduce.h"
#include "simd/half.h"

TESS_INLINE v_f32 f32_abs(v_f32 v) { return (v_f32)((v_i32)v & INT32_MAX); }
TESS_INLINE v_f64 f64_abs(v_f64 v) { return (v_f64)((v_i64)v & INT64_MAX); }
TESS_INLINE v_f64 f64_square(v_f64 v) { return v * v; }
#define F16_ABS(p) f32_abs(v_f32_of_f16(p))
#define BF16_ABS(p) f32_abs(v_f32_of_bf16(p))
#define F32_ABS(p) f32_abs(v_f32_load(p))
#define F64_ABS(p) f64_abs(v_f64_load(p))
#define F16_SQUARE(p) f64_square(v_f64_of_f16(p))
#define F32_SQUARE(p) f64_square(v_f64_of_f32(p))
#define F64_SQUARE(p) f64_square(v_f64_load(p))

/* VALUE makes a vector of `type` from elements of `size` bytes. Lanes of f32 stay in registers as far as these go round. */
#define DIRECT(name, type, vector, size, VALUE)                                                                                          \
    TESS_NOINLINE static void name##_rows(type *lanes, const char *p, int64_t rows) {                                                    \
        enum { LANES = TESS_VECTOR_BYTES / sizeof(type), VECTORS = REDUCE_LANES / LANES, HELD = VECTORS <= 16 };                         \
        vector a[VECTORS];                                                                                                               \
        for (int v = 0; HELD && v < VECTORS; v++)                                                                                        \
            a[v] = vector##_load(lanes + v * LANES);                                                                                     \
        for (; rows > 0; rows--, p += REDUCE_LANES * size) {                                                                             \
            tess_prefetch_ahead(p + 4096, REDUCE_LANES * size);                                                                          \
            _Pragma("GCC unroll 32") for (int v = 0; v < VECTORS; v++) if (HELD) a[v] += VALUE(p + v * LANES * size);                    \
            else vector##_store(lanes + v * LANES, vector##_load(lanes + v * LANES) + VALUE(p + v * LANES * size));                      \
        }                                                                                                                                \
        for (int v = 0; HELD && v < VECTORS; v++)                                                                                        \
            vector##_store(lanes + v * LANES, a[v]);                                                                                     \
    }                                                                                                                                    \
    static void name(void *lanes, const void *row, int64_t n, bool first) {                                                              \
        if (first)                                                                                                                       \
            memset(lanes, 0, REDUCE_LANES * sizeof(type));                                                                               \
        name##_rows(lanes, row, n / REDUCE_LANES);                                                                                       \
        if (n % REDUCE_LANES != 0) {                                                                                                     \
            char rest[REDUCE_LANES * size] = {0};                                                                                        \
            memcpy(rest, (const char *)row + (n - n % REDUCE_LANES) * size, (size_t)(n % REDUCE_LANES * size));                          \
            name##_rows(lanes, rest, 1);                                                                                                 \
        }                                                                                                                                \
    }                                                                                                                                    \
    /* Columns: element c of each row goes to acc[c], row r at base + offsets[r * step]. */                                              \
    static void columns_##name(void *acc, const char *base, const int64_t *offsets, int64_t step, int64_t rows, int64_t n, bool first) { \
        enum { LANES = TESS_VECTOR_BYTES / sizeof(type), AHEAD = 8 };                                                                    \
        type *a = acc;                                                                                                                   \
        if (first)                                                                                                                       \
            memset(a, 0, (size_t)n * sizeof(type));                                                                                      \
        int64_t r = 0, whole = n / LANES * LANES;                                                                                        \
        for (; r + AHEAD <= rows; r += AHEAD) {                                                                                          \
            const char *p[AHEAD];                                                                                                        \
            for (int k = 0; k < AHEAD; k++)                                                                                              \
                p[k] = base + offsets[(r + k) * step];                                                                                   \
            const int64_t next = r + 2 * AHEAD <= rows ? offsets[(r + AHEAD) * step] - offsets[r * step] : 0;                            \
            for (int64_t c = 0; c < whole; c += LANES) {                                                                                 \
                if (next != 0 && c * size % 64 == 0)                                                                                     \
                    for (int k = 0; k < AHEAD; k++)                                                                                      \
                        tess_prefetch_l2(p[k] + next + c * size);                                                                        \
                vector s = vector##_load(a + c);                                                                                         \
                _Pragma("GCC unroll 8") for (int k = 0; k < AHEAD; k++) s += VALUE(p[k] + c * size);                                     \
                vector##_store(a + c, s);                                                                                                \
            }                                                                                                                            \
        }                                                                                                                                \
        for (; r < rows; r++)                                                                                                            \
            for (int64_t c = 0; c < whole; c += LANES)                                                                                   \
                vector##_store(a + c, vector##_load(a + c) + VALUE(base + offsets[r * step] + c * size));                                \
        for (r = 0; whole < n && r < rows; r++) {                                                                                        \
            type s[LANES] = {0};                                                                                                         \
            char rest[LANES * size] = {0};                                                                                               \
            memcpy(rest, base + offsets[r * step] + whole * size, (size_t)((n - whole) * size));                                         \
            memcpy(s, a + whole, (size_t)(n - whole) * sizeof(type));                                                                    \
            vector##_store(s, vector##_load(s) + VALUE(rest));                                                                           \
            memcpy(a + whole, s, (size_t)(n - whole) * sizeof(type));                                                                    \
        }                                                                                                                                \
    }
DIRECT(plain_f16, float, v_f32, 2, v_f32_of_f16)
DIRECT(plain_bf16, float, v_f32, 2, v_f32_of_bf16)
DIRECT(abs_f16, float, v_f32, 2, F16_ABS)
DIRECT(abs_bf16, float, v_f32, 2, BF16_ABS)
DIRECT(abs_f32, float, v_f32, 4, F32_ABS)
DIRECT(abs_f64, double, v_f64, 8, F64_ABS)
DIRECT(square_f16, double, v_f64, 2, F16_SQUARE)
DIRECT(square_f32, double, v_f64, 4, F32_SQUARE)
DIRECT(square_f64, double, v_f64, 8, F64_SQUARE)
DIRECT(wide_f16, double, v_f64, 2, v_f64_of_f16)
DIRECT(wide_f32, double, v_f64, 4, v_f64_of_f32)

/* Squares of the distances from a mean. A leaf was read just before and lies in L1 or L2, so strips of as many lanes as registers hold do no harm; the
 * next leaf is asked for meanwhile. */
#define DEVIATIONS(name, size, VALUE)                                                                                                              \
    static void lanes_##name(double *lanes, const void *row, int64_t n, double mean) {                                                             \
        enum { VECTORS = 8, STRIP = VECTORS * TESS_F64_LANES };                                                                                    \
        const v_f64 m = v_f64_all(mean);                                                                                                           \
        const char *p = row;                                                                                                                       \
        const int64_t rows = n / REDUCE_LANES, rest = n % REDUCE_LANES;                                                                            \
        for (int at = 0; at < REDUCE_LANES; at += STRIP) {                                                                                         \
            v_f64 a[VECTORS] = {{0}};                                                                                                              \
            for (int64_t r = 0; r < rows; r++) {                                                                                                   \
                tess_prefetch_ahead(p + ((r + REDUCE_TERMS) * REDUCE_LANES + at) * size, STRIP * size);                                            \
                for (int v = 0; v < VECTORS; v++)                                                                                                  \
                    a[v] += f64_square(VALUE(p + (r * REDUCE_LANES + at + v * TESS_F64_LANES) * size) - m);                                        \
            }                                                                                                                                      \
            for (int v = 0; v < VECTORS; v++)                                                                                                      \
                v_f64_store(lanes + at + v * TESS_F64_LANES, a[v]);                                                                                \
        }                                                                                                                                          \
        for (int64_t at = 0; at < rest; at += TESS_F64_LANES) {                                                                                    \
            const int64_t m_left = tess_min64(TESS_F64_LANES, rest - at);                                                                          \
            char last[TESS_F64_LANES * size] = {0};                                                                                                \
            double d[TESS_F64_LANES];                                                                                                              \
            memcpy(last, p + (rows * REDUCE_LANES + at) * size, (size_t)(m_left * size));                                                          \
            v_f64_store(d, f64_square(VALUE(last) - m));                                                                                           \
            for (int64_t i = 0; i < m_left; i++)                                                                                                   \
                lanes[at + i] += d[i];                                                                                                             \
        }                                                                                                                                          \
    }                                                                                                                                              \
    static void columns_##name(double *acc, const char *base, const int64_t *offsets, int64_t step, int64_t rows, int64_t n, const double *mean) { \
        enum { AHEAD = 8 };                                                                                                                        \
        const int64_t whole = n / TESS_F64_LANES * TESS_F64_LANES;                                                                                 \
        memset(acc, 0, (size_t)whole * sizeof(double));                                                                                            \
        for (int64_t r = 0; r < rows; r += AHEAD) {                                                                                                \
            const char *p[AHEAD];                                                                                                                  \
            const int64_t m = tess_min64(AHEAD, rows - r), next = r + 2 * AHEAD <= rows ? offsets[(r + AHEAD) * step] - offsets[r * step] : 0;     \
            for (int k = 0; k < m; k++)                                                                                                            \
                p[k] = base + offsets[(r + k) * step];                                                                                             \
            for (int64_t c = 0; c < whole; c += TESS_F64_LANES) {                                                                                  \
                const v_f64 middle = v_f64_load(mean + c);                                                                                         \
                v_f64 s = v_f64_load(acc + c);                                                                                                     \
                if (m == AHEAD) {                                                                                                                  \
                    if (next != 0 && c * size % 64 == 0)                                                                                           \
                        for (int k = 0; k < AHEAD; k++)                                                                                            \
                            tess_prefetch_l2(p[k] + next + c * size);                                                                              \
                    TESS_UNROLL for (int k = 0; k < AHEAD; k++) s += f64_square(VALUE(p[k] + c * size) - middle);                                  \
                } else {                                                                                                                           \
                    for (int k = 0; k < m; k++)                                                                                                    \
                        s += f64_square(VALUE(p[k] + c * size) - middle);                                                                          \
                }                                                                                                                                  \
                v_f64_store(acc + c, s);                                                                                                           \
            }                                                                                                                                      \
        }                                                                                                                                          \
        if (whole < n) {                                                                                                                           \
            char last[TESS_F64_LANES * size] = {0};                                                                                                \
            double m[TESS_F64_LANES] = {0}, s[TESS_F64_LANES];                                                                                     \
            v_f64 sum = {0};                                                                                                                       \
            memcpy(m, mean + whole, (size_t)(n - whole) * sizeof(double));                                                                         \
            for (int64_t r = 0; r < rows; r++) {                                                                                                   \
                memcpy(last, base + offsets[r * step] + whole * size, (size_t)((n - whole) * size));                                               \
                sum += f64_square(VALUE(last) - v_f64_load(m));                                                                                    \
            }                                                                                                                                      \
            v_f64_store(s, sum);                                                                                                                   \
            memcpy(acc + whole, s, (size_t)(n - whole) * sizeof(double));                                                                          \
        }                                                                                                                                          \
    }
DEVIATIONS(deviations_f16, 2, v_f64_of_f16)
DEVIATIONS(deviations_f32, 4, v_f64_of_f32)
DEVIATIONS(deviations_f64, 8, v_f64_load)

extern const reduce_direct_kernels TESS_ISA_NAME(tess_reduce_direct_kernels);
const reduce_direct_kernels TESS_ISA_NAME(tess_reduce_direct_kernels) = {
    .add = {[REDUCE_PLAIN] = {[tess_f16] = plain_f16, [tess_bf16] = plain_bf16},
            [REDUCE_ABS] = {[tess_f16] = abs_f16, [tess_bf16] = abs_bf16, [tess_f32] = abs_f32, [tess_f64] = abs_f64},
            [REDUCE_SQUARE] = {[tess_f16] = square_f16, [tess_f32] = square_f32, [tess_f64] = square_f64}},
    .columns =
        {[REDUCE_PLAIN] = {[tess_f16] = columns_plain_f16, [tess_bf16] = columns_plain_bf16},
         [REDUCE_ABS] = {[tess_f16] = columns_abs_f16, [tess_bf16] = columns_abs_bf16, [tess_f32] = columns_abs_f32, [tess_f64] = columns_abs_f64},
         [REDUCE_SQUARE] = {[tess_f16] = columns_square_f16, [tess_f32] = columns_square_f32, [tess_f64] = columns_square_f64}},
    .wide = {[tess_f16] = wide_f16, [tess_f32] = wide_f32},
    .wide_columns = {[tess_f16] = columns_wide_f16, [tess_f32] = columns_wide_f32},
    .deviations = {[tess_f16] = lanes_deviations_f16, [tess_f32] = lanes_deviations_f32, [tess_f64] = lanes_deviations_f64},
    .deviation_columns = {[tess_f16] = columns_deviations_f16, [tess_f32] = columns_deviations_f32, [tess_f64] = columns_deviations_f64},
};
