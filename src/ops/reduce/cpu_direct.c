/* SPDX-License-Identifier: Apache-2.0
 * cpu_direct.c - sums of columns whose elements are converted, squared or made positive on their way from memory, so that nothing is copied and a buffer in
 * L1 is neither filled nor read.
 *
 * The additions and their order are those of the columns (cpu_columns.c): the same bits. A row that does not fill a vector is completed with zeros, which no
 * sum notices that started from +0. */
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

/* VALUE makes a vector of `type` from elements of `size` bytes. Element c of each row goes to acc[c], row r at base + offsets[r * step]. */
#define DIRECT(name, type, vector, size, VALUE)                                                                                          \
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

/* Squares of the distances from a mean a column. */
#define DEVIATIONS(name, size, VALUE)                                                                                                              \
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
    .columns =
        {[REDUCE_PLAIN] = {[tess_f16] = columns_plain_f16, [tess_bf16] = columns_plain_bf16},
         [REDUCE_ABS] = {[tess_f16] = columns_abs_f16, [tess_bf16] = columns_abs_bf16, [tess_f32] = columns_abs_f32, [tess_f64] = columns_abs_f64},
         [REDUCE_SQUARE] = {[tess_f16] = columns_square_f16, [tess_f32] = columns_square_f32, [tess_f64] = columns_square_f64}},
    .wide_columns = {[tess_f16] = columns_wide_f16, [tess_f32] = columns_wide_f32},
    .deviation_columns = {[tess_f16] = columns_deviations_f16, [tess_f32] = columns_deviations_f32, [tess_f64] = columns_deviations_f64},
};
