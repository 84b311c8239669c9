/* SPDX-License-Identifier: Apache-2.0
 * cpu_order.c - extremes, their places, and counts of zeros, by integer comparisons of keys (keys.h). */
#include <string.h>

#include "core/maker.h"
#include "ops/reduce/counts.h"
#include "ops/reduce/eight_floats.h"
#include "ops/reduce/places.h"

/* Orders that are known when this is compiled are the quicker, but for 16 bits, where gcc 12 then gives up on vectors. */
#define ORDER(name, S, U, lowest)                                                                                         \
    TESS_INLINE S greatest_run_##name(S best, const char *p, int64_t n, const reduce_order order) {                       \
        for (int64_t i = 0; i < n; i++) {                                                                                 \
            READ(U, p, i, (int64_t)sizeof(U));                                                                            \
            S key = key_##name(u, order);                                                                                 \
            best = key > best ? key : best;                                                                               \
        }                                                                                                                 \
        return best;                                                                                                      \
    }                                                                                                                     \
    static int64_t greatest_##name(const void *p, int64_t stride, int64_t n, reduce_order order) {                        \
        S best = lowest;                                                                                                  \
        quick_##name(&best, &p, stride, &n, order);                                                                       \
        if (stride == (int64_t)sizeof(U)) {                                                                               \
            if (order.magnitude || order.omit || sizeof(U) == 2)                                                          \
                return greatest_run_##name(best, p, n, order);                                                            \
            if (order.smallest)                                                                                           \
                return order.numeric ? greatest_run_##name(best, p, n, (reduce_order){.smallest = true, .numeric = true}) \
                                     : greatest_run_##name(best, p, n, (reduce_order){.smallest = true});                 \
            return order.numeric ? greatest_run_##name(best, p, n, (reduce_order){.numeric = true})                       \
                                 : greatest_run_##name(best, p, n, (reduce_order){.smallest = false});                    \
        }                                                                                                                 \
        for (int64_t i = 0; i < n; i++) {                                                                                 \
            READ(U, p, i, stride);                                                                                        \
            S key = key_##name(u, order);                                                                                 \
            best = key > best ? key : best;                                                                               \
        }                                                                                                                 \
        return best;                                                                                                      \
    }                                                                                                                     \
    static int64_t find_##name(const void *p, int64_t stride, int64_t n, reduce_order order, int64_t key) {               \
        int64_t start = 0;                                                                                                \
        if (quick_find_##name(&start, p, stride, n, order, (S)key))                                                       \
            return start;                                                                                                 \
        if (stride == (int64_t)sizeof(U)) /* 256 at a time, so that the search keeps the pace of the comparison */        \
            for (; start + 256 <= n; start += 256) {                                                                      \
                U found = 0;                                                                                              \
                for (int64_t i = 0; i < 256; i++) {                                                                       \
                    READ(U, p, start + i, (int64_t)sizeof(U));                                                            \
                    found = (U)(found | (key_##name(u, order) == (S)key));                                                \
                }                                                                                                         \
                if (found)                                                                                                \
                    break;                                                                                                \
            }                                                                                                             \
        for (int64_t i = start; i < n; i++) {                                                                             \
            READ(U, p, i, stride);                                                                                        \
            if (key_##name(u, order) == (S)key)                                                                           \
                return i;                                                                                                 \
        }                                                                                                                 \
        return n;                                                                                                         \
    }                                                                                                                     \
    static void keys_##name(int64_t *restrict keys, const void *p, int64_t stride, int64_t n, reduce_order order) {       \
        if (stride == (int64_t)sizeof(U))                                                                                 \
            for (int64_t i = 0; i < n; i++) {                                                                             \
                READ(U, p, i, (int64_t)sizeof(U));                                                                        \
                keys[i] = key_##name(u, order);                                                                           \
            }                                                                                                             \
        else                                                                                                              \
            for (int64_t i = 0; i < n; i++) {                                                                             \
                READ(U, p, i, stride);                                                                                    \
                keys[i] = key_##name(u, order);                                                                           \
            }                                                                                                             \
    }
/* half: 16-bit floats, for whose keys orders known at run time are the quicker. */
#define ORDER_ROWS(name, S, U, least, half)                                                                                                         \
    static void lowest_##name(void *best, int64_t n) {                                                                                              \
        S *b = best;                                                                                                                                \
        for (int64_t c = 0; c < n; c++)                                                                                                             \
            b[c] = least;                                                                                                                           \
    }                                                                                                                                               \
    static void widen_##name(int64_t *restrict keys, const void *best, int64_t n) {                                                                 \
        const S *b = best;                                                                                                                          \
        for (int64_t c = 0; c < n; c++)                                                                                                             \
            keys[c] = b[c];                                                                                                                         \
    }                                                                                                                                               \
    TESS_INLINE void four_##name(S *restrict b, const char *restrict p0, const char *restrict p1, const char *restrict p2, const char *restrict p3, \
                                 int64_t n, const reduce_order order) {                                                                             \
        for (int64_t c = 0; c < n; c++) {                                                                                                           \
            U u[4];                                                                                                                                 \
            memcpy(&u[0], p0 + c * (int64_t)sizeof(U), sizeof(U));                                                                                  \
            memcpy(&u[1], p1 + c * (int64_t)sizeof(U), sizeof(U));                                                                                  \
            memcpy(&u[2], p2 + c * (int64_t)sizeof(U), sizeof(U));                                                                                  \
            memcpy(&u[3], p3 + c * (int64_t)sizeof(U), sizeof(U));                                                                                  \
            S x = key_##name(u[0], order), y = key_##name(u[1], order), z = key_##name(u[2], order), w = key_##name(u[3], order);                   \
            x = x > y ? x : y;                                                                                                                      \
            z = z > w ? z : w;                                                                                                                      \
            x = x > z ? x : z;                                                                                                                      \
            b[c] = x > b[c] ? x : b[c];                                                                                                             \
        }                                                                                                                                           \
    }                                                                                                                                               \
    TESS_INLINE void first_##name(S *restrict b, S *restrict at, const char *restrict p0, const char *restrict p1, const char *restrict p2,         \
                                  const char *restrict p3, int64_t n, S number, const reduce_order order) {                                         \
        for (int64_t c = 0; c < n; c++) {                                                                                                           \
            U u[4];                                                                                                                                 \
            memcpy(&u[0], p0 + c * (int64_t)sizeof(U), sizeof(U));                                                                                  \
            memcpy(&u[1], p1 + c * (int64_t)sizeof(U), sizeof(U));                                                                                  \
            memcpy(&u[2], p2 + c * (int64_t)sizeof(U), sizeof(U));                                                                                  \
            memcpy(&u[3], p3 + c * (int64_t)sizeof(U), sizeof(U));                                                                                  \
            const S x = key_##name(u[0], order), y = key_##name(u[1], order), z = key_##name(u[2], order), w = key_##name(u[3], order);             \
            S best = b[c], place = at[c];                                                                                                           \
            place = x > best ? number : place;                                                                                                      \
            best = x > best ? x : best;                                                                                                             \
            place = y > best ? (S)(number + 1) : place;                                                                                             \
            best = y > best ? y : best;                                                                                                             \
            place = z > best ? (S)(number + 2) : place;                                                                                             \
            best = z > best ? z : best;                                                                                                             \
            place = w > best ? (S)(number + 3) : place;                                                                                             \
            b[c] = w > best ? w : best;                                                                                                             \
            at[c] = place;                                                                                                                          \
        }                                                                                                                                           \
    }                                                                                                                                               \
    /* Functions of their own, because only then do the compilers believe that what is read does not overlap what is written; the usual orders as \
     * constants. */ \
    TESS_NOINLINE static void four_##name##_least(S *restrict b, const char *restrict p0, const char *restrict p1, const char *restrict p2,         \
                                                  const char *restrict p3, int64_t n) {                                                             \
        four_##name(b, p0, p1, p2, p3, n, (reduce_order){.smallest = true});                                                                        \
    }                                                                                                                                               \
    TESS_NOINLINE static void four_##name##_most(S *restrict b, const char *restrict p0, const char *restrict p1, const char *restrict p2,          \
                                                 const char *restrict p3, int64_t n) {                                                              \
        four_##name(b, p0, p1, p2, p3, n, (reduce_order){.smallest = false});                                                                       \
    }                                                                                                                                               \
    TESS_NOINLINE static void four_##name##_other(S *restrict b, const char *restrict p0, const char *restrict p1, const char *restrict p2,         \
                                                  const char *restrict p3, int64_t n, reduce_order order) {                                         \
        four_##name(b, p0, p1, p2, p3, n, order);                                                                                                   \
    }                                                                                                                                               \
    TESS_NOINLINE static void first_##name##_least(S *restrict b, S *restrict at, const char *const *p, int64_t n, S number) {                      \
        first_##name(b, at, p[0], p[1], p[2], p[3], n, number, (reduce_order){.smallest = true, .numeric = true});                                  \
    }                                                                                                                                               \
    TESS_NOINLINE static void first_##name##_most(S *restrict b, S *restrict at, const char *const *p, int64_t n, S number) {                       \
        first_##name(b, at, p[0], p[1], p[2], p[3], n, number, (reduce_order){.numeric = true});                                                    \
    }                                                                                                                                               \
    TESS_NOINLINE static void first_##name##_other(S *restrict b, S *restrict at, const char *const *p, int64_t n, S number, reduce_order order) {  \
        first_##name(b, at, p[0], p[1], p[2], p[3], n, number, order);                                                                              \
    }                                                                                                                                               \
    static void greatest_rows_##name(void *best, const char *base, const int64_t *offsets, int64_t rows, int64_t n, reduce_order order) {           \
        enum { PART = 512 / sizeof(U) }; /* columns between two looks ahead */                                                                      \
        const bool plain = !(order.magnitude || order.omit || order.numeric || (half));                                                             \
        for (int64_t r = plain ? eights_##name(best, base, offsets, rows, n, order) : 0; r < rows; r += 4) {                                        \
            const char *p[4];                                                                                                                       \
            for (int64_t k = 0; k < 4; k++)                                                                                                         \
                p[k] = base + offsets[tess_min64(r + k, rows - 1)]; /* the last one again changes nothing */                                        \
            const int64_t ahead = r + 8 <= rows && !order.cached ? offsets[r + 4] - offsets[r] : 0;                                                 \
            for (int64_t c = 0; c < n; c += PART) {                                                                                                 \
                const int64_t m = tess_min64(PART, n - c), at = c * (int64_t)sizeof(U);                                                             \
                S *b = (S *)best + c;                                                                                                               \
                for (int64_t line = 0; ahead != 0 && line < 512; line += 64)                                                                        \
                    for (int k = 0; k < 4; k++)                                                                                                     \
                        tess_prefetch_l2(p[k] + at + ahead + line);                                                                                 \
                if (!plain)                                                                                                                         \
                    four_##name##_other(b, p[0] + at, p[1] + at, p[2] + at, p[3] + at, m, order);                                                   \
                else if (order.smallest)                                                                                                            \
                    four_##name##_least(b, p[0] + at, p[1] + at, p[2] + at, p[3] + at, m);                                                          \
                else                                                                                                                                \
                    four_##name##_most(b, p[0] + at, p[1] + at, p[2] + at, p[3] + at, m);                                                           \
            }                                                                                                                                       \
        }                                                                                                                                           \
    }                                                                                                                                               \
    /* A few rows in keys and numbers of their own width, which fill vectors; then into the 64 bits. */                                             \
    static void first_rows_##name(int64_t *restrict best, int64_t *restrict index, const char *base, const int64_t *offsets, int64_t rows,          \
                                  int64_t n, reduce_order order, int64_t number) {                                                                  \
        enum { PART = 1024 };                                                                                                                       \
        _Alignas(64) S b[PART], at[PART];                                                                                                           \
        const int64_t most = sizeof(S) == 1 ? INT8_MAX : 4096;                                                                                      \
        const bool usual = order.numeric && !(order.magnitude || order.omit || (half));                                                             \
        for (int64_t first = 0, m; first < rows; first += m) {                                                                                      \
            m = tess_min64(most, rows - first);                                                                                                     \
            for (int64_t from = 0; from < n; from += PART) {                                                                                        \
                const int64_t width = tess_min64(PART, n - from), skip = from * (int64_t)sizeof(U);                                                 \
                lowest_##name(b, width); /* no key is lower, so that row 0 stands where nothing beats it */                                         \
                memset(at, 0, sizeof at);                                                                                                           \
                const int64_t quick = usual ? width / (TESS_VECTOR_BYTES / (int)sizeof(U)) * (TESS_VECTOR_BYTES / (int)sizeof(U)) : 0;              \
                const int64_t done = quick > 0 ? first_eights_##name(b, at, base + skip, offsets + first, m, quick, order) : 0;                     \
                for (int64_t r = 0; r < m; r += 4) { /* the last rows again change nothing; nor do those that are done */                           \
                    const int64_t c = r + 4 <= done ? quick : 0, w = width - c, from_row = tess_max64(0, tess_min64(r, m - 4));                     \
                    const char *p[4];                                                                                                               \
                    if (w == 0)                                                                                                                     \
                        continue;                                                                                                                   \
                    for (int64_t k = 0; k < 4; k++)                                                                                                 \
                        p[k] = base + offsets[first + tess_min64(from_row + k, m - 1)] + skip + c * (int64_t)sizeof(U);                             \
                    if (r + 8 <= m && c == 0 && !order.cached)                                                                                      \
                        for (int64_t line = 0; line < width * (int64_t)sizeof(U); line += 64)                                                       \
                            for (int k = 0; k < 4; k++)                                                                                             \
                                tess_prefetch_l2(base + offsets[first + r + 4 + k] + skip + line);                                                  \
                    if (!usual)                                                                                                                     \
                        first_##name##_other(b + c, at + c, p, w, (S)from_row, order);                                                              \
                    else if (order.smallest)                                                                                                        \
                        first_##name##_least(b + c, at + c, p, w, (S)from_row);                                                                     \
                    else                                                                                                                            \
                        first_##name##_most(b + c, at + c, p, w, (S)from_row);                                                                      \
                }                                                                                                                                   \
                for (int64_t c = 0; c < width; c++) {                                                                                               \
                    const bool better = (b[c] > best[from + c]) | (index[from + c] < 0);                                                            \
                    best[from + c] = better ? b[c] : best[from + c];                                                                                \
                    index[from + c] = better ? number + first + at[c] : index[from + c];                                                            \
                }                                                                                                                                   \
            }                                                                                                                                       \
        }                                                                                                                                           \
    }
ORDER(bool, int8_t, uint8_t, INT8_MIN)
ORDER(u8, int8_t, uint8_t, INT8_MIN)
ORDER(i8, int8_t, uint8_t, INT8_MIN)
ORDER(u16, int16_t, uint16_t, INT16_MIN)
ORDER(i16, int16_t, uint16_t, INT16_MIN)
ORDER(u32, int32_t, uint32_t, INT32_MIN)
ORDER(i32, int32_t, uint32_t, INT32_MIN)
ORDER(u64, int64_t, uint64_t, INT64_MIN)
ORDER(i64, int64_t, uint64_t, INT64_MIN)
ORDER(f16, int16_t, uint16_t, INT16_MIN)
ORDER(bf16, int16_t, uint16_t, INT16_MIN)
ORDER(f32, int32_t, uint32_t, INT32_MIN)
ORDER(f64, int64_t, uint64_t, INT64_MIN)
PLACE_OF(u32, int32_t, uint32_t, uint32_t)
PLACE_OF(i32, int32_t, uint32_t, int32_t)
PLACE_OF(u64, int64_t, uint64_t, uint64_t)
PLACE_OF(i64, int64_t, uint64_t, int64_t)
PLACE_OF(f32, int32_t, uint32_t, float)
PLACE_OF(f64, int64_t, uint64_t, double)
ORDER_ROWS(bool, int8_t, uint8_t, INT8_MIN, false)
ORDER_ROWS(u8, int8_t, uint8_t, INT8_MIN, false)
ORDER_ROWS(i8, int8_t, uint8_t, INT8_MIN, false)
ORDER_ROWS(u16, int16_t, uint16_t, INT16_MIN, false)
ORDER_ROWS(i16, int16_t, uint16_t, INT16_MIN, false)
ORDER_ROWS(u32, int32_t, uint32_t, INT32_MIN, false)
ORDER_ROWS(i32, int32_t, uint32_t, INT32_MIN, false)
ORDER_ROWS(u64, int64_t, uint64_t, INT64_MIN, false)
ORDER_ROWS(i64, int64_t, uint64_t, INT64_MIN, false)
ORDER_ROWS(f16, int16_t, uint16_t, INT16_MIN, true)
ORDER_ROWS(bf16, int16_t, uint16_t, INT16_MIN, true)
ORDER_ROWS(f32, int32_t, uint32_t, INT32_MIN, false)
ORDER_ROWS(f64, int64_t, uint64_t, INT64_MIN, false)

#undef bool /* type names are pasted below */
#define ORDERED(X) X(bool), X(u8), X(i8), X(u16), X(i16), X(u32), X(i32), X(u64), X(i64), X(f16), X(bf16), X(f32), X(f64)
#define GREATEST(name) [tess_##name] = greatest_##name
#define FIND(name) [tess_##name] = find_##name
#define KEYS(name) [tess_##name] = keys_##name
#define LOWEST(name) [tess_##name] = lowest_##name
#define WIDEN(name) [tess_##name] = widen_##name
#define FIRST_ROWS(name) [tess_##name] = first_rows_##name
#define GREATEST_ROWS(name) [tess_##name] = greatest_rows_##name
extern const reduce_order_kernels TESS_ISA_NAME(tess_reduce_order_kernels);
const reduce_order_kernels TESS_ISA_NAME(tess_reduce_order_kernels) = {
    .greatest = {ORDERED(GREATEST)},
    .find = {ORDERED(FIND)},
    .place = {[tess_u32] = place_u32,
              [tess_i32] = place_i32,
              [tess_u64] = place_u64,
              [tess_i64] = place_i64,
              [tess_f32] = place_f32,
              [tess_f64] = place_f64},
    .keys = {ORDERED(KEYS)},
    .lowest = {ORDERED(LOWEST)},
    .widen = {ORDERED(WIDEN)},
    .greatest_rows = {ORDERED(GREATEST_ROWS)},
    .first_rows = {ORDERED(FIRST_ROWS)},
    .count_rows = {[tess_bool] = count_rows_8,
                   [tess_u8] = count_rows_8,
                   [tess_i8] = count_rows_8,
                   [tess_u16] = count_rows_16,
                   [tess_i16] = count_rows_16,
                   [tess_u32] = count_rows_32,
                   [tess_i32] = count_rows_32,
                   [tess_u64] = count_rows_64,
                   [tess_i64] = count_rows_64,
                   [tess_f16] = count_rows_f16,
                   [tess_bf16] = count_rows_bf16,
                   [tess_f32] = count_rows_f32,
                   [tess_f64] = count_rows_f64},
    .count = {[tess_bool] = count_8,
              [tess_u8] = count_8,
              [tess_i8] = count_8,
              [tess_u16] = count_16,
              [tess_i16] = count_16,
              [tess_u32] = count_32,
              [tess_i32] = count_32,
              [tess_u64] = count_64,
              [tess_i64] = count_64,
              [tess_f16] = count_f16,
              [tess_bf16] = count_bf16,
              [tess_f32] = count_f32,
              [tess_f64] = count_f64,
              [tess_c64] = count_c64,
              [tess_c128] = count_c128},
};
