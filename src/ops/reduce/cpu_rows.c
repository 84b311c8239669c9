/* SPDX-License-Identifier: Apache-2.0
 * cpu_rows.c - sums and moments of contiguous rows, one after another in one call.
 *
 * A leaf of the tree goes from memory into its 256 lanes and halves without a stop on the way: with AVX-512 the lanes are registers all the time, elsewhere an
 * array in L1. Elements are converted, squared or made positive as they are read. What takes time between two rows - calls, places of results - is done for
 * many at once by the caller: memory rests meanwhile, and a row of 1000 elements is read in as much time as that took.
 *
 * A row is read strictly in address order: narrower strips defeat the hardware's read-ahead and cost half the bandwidth. Lines are asked for 4 KiB ahead, the best
 * of the distances measured (1 to 16 KiB); where they should not be, see what_next. */
#include <string.h>

#include "core/maker.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/row_leaf.h"

#if defined(__AVX512F__)
enum { IN_REGISTERS = 1 };
#else
enum { IN_REGISTERS = 0 };
#endif

/* The first bytes at p, fewer than a vector's, and zeros. */
TESS_INLINE void first_bytes(char *to, const char *p, int64_t bytes) {
#if defined(__AVX512BW__)
    _mm512_storeu_si512(to, _mm512_maskz_loadu_epi8(((__mmask64)1 << bytes) - 1, p));
#else
    memset(to, 0, TESS_VECTOR_BYTES);
    memcpy(to, p, (size_t)bytes);
#endif
}

/* What is done about the lines to come, by loads of so many bytes. Loops of AVX-512 that convert nothing gain on AMD's processors when a byte of the next line is
 * read before this one is added; the others there only lose by asking ahead (Zen 4: norm2 of f32 17 GB/s, without 26; as much when 64 bytes are loaded at once and
 * then split). A Zen 3 reads from two places in turns. A Zen 5 reads whole lines as they come or asked for ahead, and with AVX2 gains by asking (f64 50 -> 75 to 82 % of reading, f32 92 -> 99). */
TESS_INLINE next_lines what_next(int bytes) {
    return TESS_VECTOR_BYTES == 32 && tess_cpu_reads_in_turns()                                      ? IN_TURNS
           : bytes == 64 && tess_cpu_reads_halves()                                                  ? TOUCHED
           : tess_cpu_asks_ahead() || bytes == 64 || (TESS_VECTOR_BYTES == 32 && tess_cpu_is_zen5()) ? ASKED_FOR
                                                                                                     : LEFT_ALONE;
}

#if TESS_VECTOR_BYTES == 32
/* Two leaves of a row in turns, or where rows are no longer than that two rows, so that memory is read in two places (tess_cpu_reads_in_turns). */
#define TURNS(name, type, vector, size)                                                                       \
    PAIR(name, type, vector, size)                                                                            \
    TESS_INLINE void turns_##name(type *to, const char *rows, int64_t step, int64_t count, int64_t k) {       \
        const int64_t half = count / 2;                                                                       \
        int64_t i = 0;                                                                                        \
        for (; k <= REDUCE_LEAF && i < half; i++)                                                             \
            pair_##name(&to[i], &to[half + i], rows + i * step, k, rows + (half + i) * step, k);              \
        for (i += k <= REDUCE_LEAF ? half : 0; i < count; i++) {                                              \
            const char *row = rows + i * step;                                                                \
            type stack[REDUCE_LEVELS + 1];                                                                    \
            int depth = 0;                                                                                    \
            for (int64_t first = 0, leaf = 0; first < k; first += 2 * REDUCE_LEAF, leaf += 2) {               \
                const int64_t m = tess_min64(k - first - REDUCE_LEAF, REDUCE_LEAF);                           \
                const char *p = row + first * size;                                                           \
                if (m > 0) {                                                                                  \
                    pair_##name(&stack[depth], &stack[depth + 1], p, REDUCE_LEAF, p + REDUCE_LEAF * size, m); \
                    depth += 2;                                                                               \
                    for (int merges = reduce_merges_after(leaf + 1); merges > 0; merges--, depth--)           \
                        stack[depth - 2] += stack[depth - 1];                                                 \
                } else                                                                                        \
                    stack[depth++] = leaf_##name(p, k - first, IN_TURNS);                                     \
            }                                                                                                 \
            for (; depth > 1; depth--)                                                                        \
                stack[depth - 2] += stack[depth - 1];                                                         \
            to[i] = stack[0];                                                                                 \
        }                                                                                                     \
    }
#else
#define TURNS(name, type, vector, size)                                                                 \
    TESS_INLINE void turns_##name(type *to, const char *rows, int64_t step, int64_t count, int64_t k) { \
        (void)to, (void)rows, (void)step, (void)count, (void)k;                                         \
    }
#endif

#define ROWS(name, type, vector, size)                                                                                         \
    LEAF(name, type, vector, size)                                                                                             \
    TURNS(name, type, vector, size)                                                                                            \
    TESS_INLINE void trees_##name(type *to, const char *rows, int64_t step, int64_t count, int64_t k, const next_lines next) { \
        type stack[REDUCE_LEVELS];                                                                                             \
        for (int64_t i = 0; i < count; i++, rows += step) {                                                                    \
            int depth = 0;                                                                                                     \
            for (int64_t first = 0, leaf = 0; first < k; first += REDUCE_LEAF, leaf++) {                                       \
                stack[depth++] = leaf_##name(rows + first * size, tess_min64(k - first, REDUCE_LEAF), next);                   \
                for (int merges = reduce_merges_after(leaf); merges > 0; merges--, depth--)                                    \
                    stack[depth - 2] += stack[depth - 1];                                                                      \
            }                                                                                                                  \
            for (; depth > 1; depth--)                                                                                         \
                stack[depth - 2] += stack[depth - 1];                                                                          \
            to[i] = stack[0];                                                                                                  \
        }                                                                                                                      \
    }                                                                                                                          \
    static void rows_##name(void *sums, const char *rows, int64_t step, int64_t count, int64_t k) {                            \
        const next_lines next = what_next(TESS_VECTOR_BYTES / (int)sizeof(type) * size);                                       \
        if (next == TOUCHED)                                                                                                   \
            trees_##name(sums, rows, step, count, k, TOUCHED);                                                                 \
        else if (next == ASKED_FOR)                                                                                            \
            trees_##name(sums, rows, step, count, k, ASKED_FOR);                                                               \
        else if (next == IN_TURNS)                                                                                             \
            turns_##name(sums, rows, step, count, k);                                                                          \
        else                                                                                                                   \
            trees_##name(sums, rows, step, count, k, LEFT_ALONE);                                                              \
    }
ROWS(f32, float, v_f32, 4)
ROWS(f16, float, v_f32, 2)
ROWS(bf16, float, v_f32, 2)
ROWS(abs_f32, float, v_f32, 4)
ROWS(abs_f16, float, v_f32, 2)
ROWS(abs_bf16, float, v_f32, 2)
ROWS(f64, double, v_f64, 8)
ROWS(abs_f64, double, v_f64, 8)
ROWS(square_f16, double, v_f64, 2)
ROWS(square_f32, double, v_f64, 4)
ROWS(square_f64, double, v_f64, 8)
ROWS(wide_f16, double, v_f64, 2)
ROWS(wide_f32, double, v_f64, 4)

/* ---- moments ---- */

/* The sum of squares of the distances of a leaf's n elements from their mean. The leaf comes from memory once, for the sum, and lies in L1 or L2 for this second
 * pass, which may read it in strips of as many lanes as registers hold. What follows the leaf is asked for piece by piece meanwhile, the pass before
 * allowing `share` half of it, too: memory is to rest in neither. */
#define APART(name, size, share)                                                                                          \
    static double apart_##name(const char *elements, const char *next, int64_t n, double mean) {                          \
        enum { LANES = TESS_F64_LANES, VECTORS = REDUCE_LANES / LANES, BYTES = LANES * size, ROW = REDUCE_LANES * size }; \
        enum { STRIP = IN_REGISTERS ? 16 : 8, STRIPS = VECTORS / STRIP, THEN = ROW / STRIPS / share };                    \
        const int64_t rows = n / REDUCE_LANES;                                                                            \
        const int whole = (int)(n % REDUCE_LANES) / LANES, some = (int)(n % LANES);                                       \
        const v_f64 m = v_f64_all(mean);                                                                                  \
        _Alignas(64) char last[64];                                                                                       \
        first_bytes(last, elements + rows * ROW + whole * BYTES, some * size);                                            \
        v_f64 end = take_apart_##name((v_f64){0}, last, m);                                                               \
        for (int i = some; i < LANES; i++)                                                                                \
            end[i] = 0;                                                                                                   \
        _Alignas(64) double lanes[REDUCE_LANES];                                                                          \
        for (int strip = 0; strip < VECTORS; strip += STRIP) {                                                            \
            v_f64 a[STRIP];                                                                                               \
            const char *p = elements + strip * BYTES;                                                                     \
            UNROLL for (int v = 0; v < STRIP; v++) a[v] = (v_f64){0};                                                     \
            for (int64_t r = 0; r < rows; r++, p += ROW, next += THEN) {                                                  \
                tess_prefetch_ahead(next, THEN);                                                                          \
                UNROLL for (int v = 0; v < STRIP; v++) a[v] = take_apart_##name(a[v], p + v * BYTES, m);                  \
            }                                                                                                             \
            UNROLL for (int v = 0; v < STRIP; v++) {                                                                      \
                if (strip + v < whole)                                                                                    \
                    a[v] = take_apart_##name(a[v], p + v * BYTES, m);                                                     \
                else if (strip + v == whole)                                                                              \
                    a[v] += end;                                                                                          \
                v_f64_store(lanes + (strip + v) * LANES, a[v]);                                                           \
            }                                                                                                             \
        }                                                                                                                 \
        v_f64 sum[VECTORS];                                                                                               \
        UNROLL for (int v = 0; v < VECTORS; v++) sum[v] = v_f64_load(lanes + v * LANES);                                  \
        HALVE(sum, VECTORS);                                                                                              \
        return last_double(sum[0]);                                                                                       \
    }

#define MOMENTS(name, size, VALUE)                                                                                        \
    APART(name, size, 2)                                                                                                  \
    static void moments_##name(double *mean, double *m2, const void *elements, int64_t n) {                               \
        enum { LANES = TESS_F64_LANES, VECTORS = REDUCE_LANES / LANES, BYTES = LANES * size, ROW = REDUCE_LANES * size }; \
        const char *p = elements, *next = p + tess_max64(n * size, AHEAD);                                                \
        const int64_t rows = n / REDUCE_LANES;                                                                            \
        const int whole = (int)(n % REDUCE_LANES) / LANES, some = (int)(n % LANES);                                       \
        _Alignas(64) char last[64];                                                                                       \
        v_f64 sum[VECTORS];                                                                                               \
        first_bytes(last, p + rows * ROW + whole * BYTES, some * size);                                                   \
        UNROLL for (int v = 0; v < VECTORS; v++) sum[v] = (v_f64){0};                                                     \
        for (int64_t r = 0; r < rows; r++, p += ROW, next += ROW / 2) {                                                   \
            tess_prefetch_ahead(next, ROW / 2);                                                                           \
            UNROLL for (int v = 0; v < VECTORS; v++) sum[v] += VALUE(p + v * BYTES);                                      \
        }                                                                                                                 \
        UNROLL for (int v = 0; v < VECTORS; v++) {                                                                        \
            if (v < whole)                                                                                                \
                sum[v] += VALUE(p + v * BYTES);                                                                           \
            else if (v == whole)                                                                                          \
                sum[v] += VALUE(last);                                                                                    \
        }                                                                                                                 \
        HALVE(sum, VECTORS);                                                                                              \
        *mean = last_double(sum[0]) / (double)n;                                                                          \
        *m2 = apart_##name(elements, next, n, *mean);                                                                     \
    }
MOMENTS(f16, 2, v_f64_of_f16)
MOMENTS(f32, 4, v_f64_of_f32)
MOMENTS(f64, 8, v_f64_load)

/* No partial sum of a leaf of integers of at most 32 bits needs more than 45: added as integers they give the tree's sum, which is exact. */
extern const reduce_lane_kernels TESS_ISA_NAME(tess_reduce_lane_kernels);
#define INTEGER_MOMENTS(name, size)                                                                                  \
    APART(name, size, 1)                                                                                             \
    static void moments_##name(double *mean, double *m2, const void *elements, int64_t n) {                          \
        const uint64_t sum = TESS_ISA_NAME(tess_reduce_lane_kernels).integers[tess_##name](elements, size, n, true); \
        *mean = (double)(int64_t)sum / (double)n;                                                                    \
        *m2 = apart_##name(elements, (const char *)elements + tess_max64(n * size, AHEAD), n, *mean);                \
    }
INTEGER_MOMENTS(u8, 1)
INTEGER_MOMENTS(i8, 1)
INTEGER_MOMENTS(u16, 2)
INTEGER_MOMENTS(i16, 2)
INTEGER_MOMENTS(u32, 4)
INTEGER_MOMENTS(i32, 4)

extern const reduce_row_kernels TESS_ISA_NAME(tess_reduce_row_kernels);
const reduce_row_kernels TESS_ISA_NAME(tess_reduce_row_kernels) = {
    .sums = {[REDUCE_PLAIN] = {[tess_f16] = rows_f16, [tess_bf16] = rows_bf16, [tess_f32] = rows_f32, [tess_f64] = rows_f64},
             [REDUCE_ABS] = {[tess_f16] = rows_abs_f16, [tess_bf16] = rows_abs_bf16, [tess_f32] = rows_abs_f32, [tess_f64] = rows_abs_f64},
             [REDUCE_SQUARE] = {[tess_f16] = rows_square_f16, [tess_f32] = rows_square_f32, [tess_f64] = rows_square_f64}},
    .wide = {[tess_f16] = rows_wide_f16, [tess_f32] = rows_wide_f32, [tess_f64] = rows_f64},
    .moments = {[tess_f16] = moments_f16,
                [tess_f32] = moments_f32,
                [tess_f64] = moments_f64,
                [tess_u8] = moments_u8,
                [tess_i8] = moments_i8,
                [tess_u16] = moments_u16,
                [tess_i16] = moments_i16,
                [tess_u32] = moments_u32,
                [tess_i32] = moments_i32},
};
