/* SPDX-License-Identifier: Apache-2.0
 * cpu_columns.c - whole rows of neighbouring outputs: element c of each row goes to column c.
 *
 * Eight rows are added before the columns are written back, so that the traffic to L1 is that of the rows and little more. */
#include <string.h>

#include "ops/reduce/reduce.h"
#include "simd/simd.h"

#define READ(type, x, p) \
    type x;              \
    memcpy(&x, p, sizeof x)

enum { AHEAD = 8 }; /* rows that are added together */

#define COLUMNS(name, type, OP, identity, parts)                                                                               \
    static void name(void *acc, const char *base, const int64_t *offsets, int64_t step, int64_t rows, int64_t n, bool first) { \
        type *restrict a = acc;                                                                                                \
        const int64_t size = sizeof(type);                                                                                     \
        n *= parts;                                                                                                            \
        int64_t r = 0;                                                                                                         \
        for (; r + AHEAD <= rows; r += AHEAD) {                                                                                \
            const char *p[AHEAD];                                                                                              \
            for (int k = 0; k < AHEAD; k++)                                                                                    \
                p[k] = base + offsets[(r + k) * step];                                                                         \
            const char *restrict p0 = p[0], *restrict p1 = p[1], *restrict p2 = p[2], *restrict p3 = p[3];                     \
            const char *restrict p4 = p[4], *restrict p5 = p[5], *restrict p6 = p[6], *restrict p7 = p[7];                     \
            if (first && r == 0)                                                                                               \
                for (int64_t c = 0; c < n; c++)                                                                                \
                    a[c] = identity;                                                                                           \
            for (int64_t c = 0; c < n; c++) {                                                                                  \
                READ(type, x0, p0 + c * size);                                                                                 \
                READ(type, x1, p1 + c * size);                                                                                 \
                READ(type, x2, p2 + c * size);                                                                                 \
                READ(type, x3, p3 + c * size);                                                                                 \
                READ(type, x4, p4 + c * size);                                                                                 \
                READ(type, x5, p5 + c * size);                                                                                 \
                READ(type, x6, p6 + c * size);                                                                                 \
                READ(type, x7, p7 + c * size);                                                                                 \
                a[c] = (((((((a[c] OP x0)OP x1)OP x2)OP x3)OP x4)OP x5)OP x6)OP x7;                                            \
            }                                                                                                                  \
        }                                                                                                                      \
        for (; r + 4 <= rows; r += 4) {                                                                                        \
            const char *restrict p0 = base + offsets[r * step], *restrict p1 = base + offsets[(r + 1) * step];                 \
            const char *restrict p2 = base + offsets[(r + 2) * step], *restrict p3 = base + offsets[(r + 3) * step];           \
            if (first && r == 0)                                                                                               \
                for (int64_t c = 0; c < n; c++)                                                                                \
                    a[c] = identity;                                                                                           \
            for (int64_t c = 0; c < n; c++) {                                                                                  \
                READ(type, x0, p0 + c * size);                                                                                 \
                READ(type, x1, p1 + c * size);                                                                                 \
                READ(type, x2, p2 + c * size);                                                                                 \
                READ(type, x3, p3 + c * size);                                                                                 \
                a[c] = (((a[c] OP x0)OP x1)OP x2)OP x3;                                                                        \
            }                                                                                                                  \
        }                                                                                                                      \
        for (; r < rows; r++) {                                                                                                \
            const char *restrict p = base + offsets[r * step];                                                                 \
            if (first && r == 0)                                                                                               \
                for (int64_t c = 0; c < n; c++) {                                                                              \
                    READ(type, x, p + c * size);                                                                               \
                    a[c] = (type)identity OP x;                                                                                \
                }                                                                                                              \
            else                                                                                                               \
                for (int64_t c = 0; c < n; c++) {                                                                              \
                    READ(type, x, p + c * size);                                                                               \
                    a[c] = a[c] OP x;                                                                                          \
                }                                                                                                              \
        }                                                                                                                      \
    }
COLUMNS(add_f32, float, +, 0, 1)
COLUMNS(add_f64, double, +, 0, 1)
COLUMNS(add_u64, uint64_t, +, 0, 1)
COLUMNS(add_c64, float, +, 0, 2)
COLUMNS(add_c128, double, +, 0, 2)
COLUMNS(multiply_f32, float, *, 1, 1)
COLUMNS(multiply_f64, double, *, 1, 1)
COLUMNS(multiply_u64, uint64_t, *, 1, 1)

#define COMPLEX_COLUMNS(name, part)                                                                                            \
    static void name(void *acc, const char *base, const int64_t *offsets, int64_t step, int64_t rows, int64_t n, bool first) { \
        const size_t size = sizeof((tess_value *)0)->part;                                                                     \
        for (int64_t r = 0; r < rows; r++)                                                                                     \
            for (int64_t c = 0; c < n; c++) {                                                                                  \
                tess_value x, y = {.part = {1}}; /* cpu_lanes.c */                                                             \
                char *a = (char *)acc + (size_t)c * size;                                                                      \
                memcpy(&x, base + offsets[r * step] + c * (int64_t)size, size);                                                \
                if (!first || r > 0)                                                                                           \
                    memcpy(&y, a, size);                                                                                       \
                x = tess_reduce_value_multiply(tess_##part, y, x);                                                             \
                memcpy(a, &x, size);                                                                                           \
            }                                                                                                                  \
    }
COMPLEX_COLUMNS(multiply_c64, c64)
COMPLEX_COLUMNS(multiply_c128, c128)

static void greatest(int64_t *restrict best, const int64_t *restrict keys, int64_t n) {
    for (int64_t c = 0; c < n; c++)
        best[c] = keys[c] > best[c] ? keys[c] : best[c];
}

/* Integer rows as they lie: narrow ones in a type that holds the sum of `most` of them, then into the 64 bits. The loops are functions of their own because only
 * then do the compilers believe that bytes read do not overlap sums written. */
#define AS_IT_IS(x) (x)
#define ONE_IF_SET(x) ((x) != 0)
#define INTEGERS(name, type, part, most, VALUE)                                                                                          \
    TESS_NOINLINE static void four_##name(part *restrict sum, const char *restrict p0, const char *restrict p1, const char *restrict p2, \
                                          const char *restrict p3, int64_t n) {                                                          \
        for (int64_t c = 0; c < n; c++) {                                                                                                \
            READ(type, x0, p0 + c * (int64_t)sizeof(type));                                                                              \
            READ(type, x1, p1 + c * (int64_t)sizeof(type));                                                                              \
            READ(type, x2, p2 + c * (int64_t)sizeof(type));                                                                              \
            READ(type, x3, p3 + c * (int64_t)sizeof(type));                                                                              \
            sum[c] = (part)(sum[c] + ((part)VALUE(x0) + (part)VALUE(x1)) + ((part)VALUE(x2) + (part)VALUE(x3)));                         \
        }                                                                                                                                \
    }                                                                                                                                    \
    TESS_NOINLINE static void one_##name(part *restrict sum, const char *restrict p, int64_t n) {                                        \
        for (int64_t c = 0; c < n; c++) {                                                                                                \
            READ(type, x, p + c * (int64_t)sizeof(type));                                                                                \
            sum[c] = (part)(sum[c] + (part)VALUE(x));                                                                                    \
        }                                                                                                                                \
    }                                                                                                                                    \
    static void integers_##name(uint64_t *restrict acc, const char *base, const int64_t *offsets, int64_t rows, int64_t n, bool ahead) { \
        enum { AT_ONCE = 16384 / sizeof(type) }; /* columns: rows of 16 KiB, whose partial sums stay in L1 */                            \
        part sum[AT_ONCE];                                                                                                               \
        for (int64_t from = 0; from < n; from += AT_ONCE) {                                                                              \
            const int64_t m = tess_min64(n - from, AT_ONCE);                                                                             \
            const char *at = base + from * (int64_t)sizeof(type);                                                                        \
            for (int64_t r = 0; r < rows;) {                                                                                             \
                int64_t end = tess_min64(rows, r + most);                                                                                \
                memset(sum, 0, (size_t)m * sizeof *sum);                                                                                 \
                for (; r + 4 <= end; r += 4) {                                                                                           \
                    for (int64_t k = 4; ahead && k < 8 && r + k < rows; k++)                                                             \
                        for (int64_t line = 0; line < m * (int64_t)sizeof(type); line += 64)                                             \
                            tess_prefetch_l2(at + offsets[r + k] + line);                                                                \
                    four_##name(sum, at + offsets[r], at + offsets[r + 1], at + offsets[r + 2], at + offsets[r + 3], m);                 \
                }                                                                                                                        \
                for (; r < end; r++)                                                                                                     \
                    one_##name(sum, at + offsets[r], m);                                                                                 \
                for (int64_t c = 0; c < m; c++)                                                                                          \
                    acc[from + c] += (uint64_t)sum[c];                                                                                   \
            }                                                                                                                            \
        }                                                                                                                                \
    }
INTEGERS(u8, uint8_t, uint16_t, 256, AS_IT_IS)
INTEGERS(bool, uint8_t, uint16_t, 256, ONE_IF_SET)
INTEGERS(i8, int8_t, int16_t, 256, AS_IT_IS)
INTEGERS(u16, uint16_t, uint32_t, 32768, AS_IT_IS)
INTEGERS(i16, int16_t, int32_t, 32768, AS_IT_IS)
INTEGERS(u32, uint32_t, uint64_t, INT64_MAX / 2, AS_IT_IS)
INTEGERS(i32, int32_t, uint64_t, INT64_MAX / 2, AS_IT_IS)
INTEGERS(u64, uint64_t, uint64_t, INT64_MAX / 2, AS_IT_IS)

#define NANS(name, type)                                                                    \
    static void nans_##name(int64_t *restrict counts, const void *row, int64_t n) {         \
        const char *restrict p = row;                                                       \
        for (int64_t c = 0; c < n; c++) {                                                   \
            READ(type, x, p + c * (int64_t)sizeof(type));                                   \
            counts[c] += x != x;                                                            \
        }                                                                                   \
    }                                                                                       \
    static void nans_complex_##name(int64_t *restrict counts, const void *row, int64_t n) { \
        const char *restrict p = row;                                                       \
        for (int64_t c = 0; c < n; c++) {                                                   \
            READ(type, re, p + 2 * c * (int64_t)sizeof(type));                              \
            READ(type, im, p + (2 * c + 1) * (int64_t)sizeof(type));                        \
            counts[c] += (re != re) | (im != im);                                           \
        }                                                                                   \
    }
NANS(f32, float)
NANS(f64, double)

static void first_greatest(int64_t *restrict best, int64_t *restrict index, const int64_t *restrict keys, int64_t n, int64_t number) {
    for (int64_t c = 0; c < n; c++) {
        bool better = (keys[c] > best[c]) | (index[c] < 0);
        best[c] = better ? keys[c] : best[c];
        index[c] = better ? number : index[c];
    }
}

static void equal(int64_t *restrict counts, const int64_t *restrict keys, int64_t n, int64_t key) {
    for (int64_t c = 0; c < n; c++)
        counts[c] += keys[c] == key;
}

static void deviations(double *restrict acc, const void *row, const double *restrict mean, int64_t n, bool first, bool omit) {
    const char *restrict p = row;
    for (int64_t c = 0; c < n; c++) {
        READ(double, x, p + c * 8);
        double d = x - mean[c], square = d * d, before = first ? 0 : acc[c];
        acc[c] = before + (omit && x != x ? 0 : square);
    }
}

extern const reduce_column_kernels TESS_ISA_NAME(tess_reduce_column_kernels);
const reduce_column_kernels TESS_ISA_NAME(tess_reduce_column_kernels) = {
    .add = {[tess_f32] = add_f32, [tess_f64] = add_f64, [tess_u64] = add_u64, [tess_i64] = add_u64, [tess_c64] = add_c64, [tess_c128] = add_c128},
    .multiply = {[tess_f32] = multiply_f32,
                 [tess_f64] = multiply_f64,
                 [tess_u64] = multiply_u64,
                 [tess_i64] = multiply_u64,
                 [tess_c64] = multiply_c64,
                 [tess_c128] = multiply_c128},
    .greatest = greatest,
    .first_greatest = first_greatest,
    .integers = {[tess_bool] = integers_bool,
                 [tess_u8] = integers_u8,
                 [tess_i8] = integers_i8,
                 [tess_u16] = integers_u16,
                 [tess_i16] = integers_i16,
                 [tess_u32] = integers_u32,
                 [tess_i32] = integers_i32,
                 [tess_u64] = integers_u64,
                 [tess_i64] = integers_u64},
    .nans = {[tess_f32] = nans_f32, [tess_f64] = nans_f64, [tess_c64] = nans_complex_f32, [tess_c128] = nans_complex_f64},
    .equal = equal,
    .deviations = deviations,
};
