/* SPDX-License-Identifier: Apache-2.0
 * cpu_eight.c - sums and products along a slow axis, eight rows of neighbouring columns at once: so many lanes of the tree as have eight rows together.
 *
 * Eight rows are what eight ways of a cache hold whose rows lie a power of two apart. While they are added, what comes next is asked for: a little further on in
 * these rows and, as they end, in the eight that follow, whichever lane those belong to: the processor does not see them coming, since they are far apart and few. Lines
 * that are asked for a whole group of rows ahead share the few ways of L2 with the rows being read; elements that are converted take so long that it does not
 * matter. Where lanes are short, two, four or eight of them are added and halved in registers, and only their sum goes to the stack of partial rows. */
#include <string.h>

#include "core/maker.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/take.h"

enum { COLUMNS = TESS_VECTOR_BYTES > 16 ? 16 : 4, MOST_VECTORS = 4 }; /* taken at once, at most */
enum { AHEAD = 2048, NEAR_AHEAD = 1024 };                             /* bytes */
enum { TEXTS = TESS_VECTOR_BYTES > 16 }; /* for none and one of merges, of sums of what is not converted: the compiler's time */

/* V vectors of columns, from column c on, to `to`: sums (START 0, JOIN +) or products (1, *). more: on top of what acc holds; then there is one lane only. The rows below acc
 * are met here, too: written first and merged later they took a twentieth of the time. TAKE: see take.h; of distances also the means. A line of each row is taken at
 * once: eight rows a power of two apart fill all ways of a set of L1, and their lines would be gone when the next vector wants the rest of them. near: what is asked for goes to
 * L1, which a Zen 5 is the quicker for with elements as they lie. */
#define EIGHT(name, type, vector, size, START, JOIN, TAKE, ...)                                                                                     \
    TESS_INLINE void at_##name(type *to, const type *acc, int64_t step, int merges, const char *const *p, int64_t c, const int V, const int lanes,  \
                               const bool more, const double *mean) {                                                                               \
        enum { LANES = TESS_VECTOR_BYTES / (int)sizeof(type) };                                                                                     \
        const int each = REDUCE_EIGHT / lanes;                                                                                                      \
        vector s[REDUCE_EIGHT][MOST_VECTORS];                                                                                                       \
        (void)mean;                                                                                                                                 \
        _Pragma("GCC unroll 8") for (int j = 0; j < lanes; j++) {                                                                                   \
            _Pragma("GCC unroll 4") for (int v = 0; v < V; v++) s[j][v] = more ? vector##_load(acc + c + v * LANES) : (vector){0} + START;          \
            _Pragma("GCC unroll 8") for (int i = 0; i < each; i++) _Pragma("GCC unroll 4") for (int v = 0; v < V; v++) {                            \
                const int64_t at = c + v * LANES;                                                                                                   \
                s[j][v] = TAKE(s[j][v], p[j * each + i] + at * size __VA_ARGS__);                                                                   \
            }                                                                                                                                       \
        }                                                                                                                                           \
        _Pragma("GCC unroll 4") for (int w = 1; w < lanes; w *= 2) _Pragma("GCC unroll 4") for (int j = 0; j < lanes; j += 2 * w)                   \
            _Pragma("GCC unroll 4") for (int v = 0; v < V; v++) s[j][v] = s[j][v] JOIN s[j + w][v];                                                 \
        for (const type *below = acc + c - step; merges > 0; merges--, below -= step)                                                               \
            _Pragma("GCC unroll 4") for (int v = 0; v < V; v++) s[0][v] = vector##_load(below + v * LANES) JOIN s[0][v];                            \
        _Pragma("GCC unroll 4") for (int v = 0; v < V; v++) vector##_store(to + v * LANES, s[0][v]);                                                \
    }                                                                                                                                               \
    TESS_INLINE void loop_##name(type *acc, int64_t step, int merges, const char *const *row, const char *const *next, const int lanes,             \
                                 const bool more, int64_t n, const double *mean, const bool near) {                                                 \
        enum { LANES = TESS_VECTOR_BYTES / (int)sizeof(type), LINE = 64 / (LANES * size), MOST = COLUMNS / LANES };                                 \
        enum { V = (int)LINE < (int)MOST ? (int)LINE : (int)MOST, UNIT = V * LANES };                                                               \
        const char *p[REDUCE_EIGHT], *q[REDUCE_EIGHT];                                                                                              \
        const int64_t most = (tess_cpu_keeps_few_places() ? NEAR_AHEAD : AHEAD) / size;                                                             \
        const int64_t ahead = size == sizeof(type) ? tess_min64(n, most) : n, own = n - ahead;                                                      \
        type last[UNIT] = {0}, *to = acc - merges * step;                                                                                           \
        int64_t c = 0;                                                                                                                              \
        memcpy(p, row, sizeof p);                                                                                                                   \
        if (n % UNIT != 0) /* the last ones first: they overlap those before */                                                                     \
            at_##name(last, acc, step, merges, p, n - UNIT, V, lanes, more, mean);                                                                  \
        for (; c < own; c += UNIT) {                                                                                                                \
            if (c * size % 64 == 0)                                                                                                                 \
                _Pragma("GCC unroll 8") for (int k = 0; k < REDUCE_EIGHT; k++) near ? tess_prefetch_l1(p[k] + (c + ahead) * size)                   \
                                                                                    : tess_prefetch_l2(p[k] + (c + ahead) * size);                  \
            at_##name(to + c, acc, step, merges, p, c, V, lanes, more, mean);                                                                       \
        }                                                                                                                                           \
        memcpy(q, next, sizeof q);                                                                                                                  \
        for (; c + UNIT <= n; c += UNIT) {                                                                                                          \
            if (c * size % 64 == 0)                                                                                                                 \
                _Pragma("GCC unroll 8") for (int k = 0; k < REDUCE_EIGHT; k++) near ? tess_prefetch_l1(q[k] + (c - own) * size)                     \
                                                                                    : tess_prefetch_l2(q[k] + (c - own) * size);                    \
            at_##name(to + c, acc, step, merges, p, c, V, lanes, more, mean);                                                                       \
        }                                                                                                                                           \
        if (n % UNIT != 0)                                                                                                                          \
            memcpy(to + n - UNIT, last, sizeof last);                                                                                               \
    }                                                                                                                                               \
    TESS_INLINE void merged_##name(type *acc, int64_t step, int merges, const char *const *row, const char *const *next, const int lanes,           \
                                   const bool more, int64_t n, const double *mean, const bool near) {                                               \
        if (TEXTS && START == 0 && size == sizeof(type) && merges == 0)                                                                             \
            loop_##name(acc, step, 0, row, next, lanes, more, n, mean, near);                                                                       \
        else if (TEXTS && START == 0 && size == sizeof(type) && merges == 1)                                                                        \
            loop_##name(acc, step, 1, row, next, lanes, more, n, mean, near);                                                                       \
        else                                                                                                                                        \
            loop_##name(acc, step, merges, row, next, lanes, more, n, mean, near);                                                                  \
    }                                                                                                                                               \
    TESS_INLINE void lanes_##name(void *acc, int64_t step, int merges, const char *const *row, const char *const *next, int lanes, bool more,       \
                                  int64_t n, const double *mean, const bool near) {                                                                 \
        if (more)                                                                                                                                   \
            merged_##name(acc, step, merges, row, next, 1, true, n, mean, near);                                                                    \
        else if (lanes == 1)                                                                                                                        \
            merged_##name(acc, step, merges, row, next, 1, false, n, mean, near);                                                                   \
        else if (lanes == 2)                                                                                                                        \
            merged_##name(acc, step, merges, row, next, 2, false, n, mean, near);                                                                   \
        else if (lanes == 4)                                                                                                                        \
            merged_##name(acc, step, merges, row, next, 4, false, n, mean, near);                                                                   \
        else                                                                                                                                        \
            merged_##name(acc, step, merges, row, next, 8, false, n, mean, near);                                                                   \
    }                                                                                                                                               \
    static void eight_##name(void *acc, int64_t step, int merges, const char *const *row, const char *const *next, int lanes, bool more, int64_t n, \
                             const double *mean) {                                                                                                  \
        if (TESS_VECTOR_BYTES > 32 && START == 0 && size == sizeof(type) && tess_cpu_is_zen5())                                                     \
            lanes_##name(acc, step, merges, row, next, lanes, more, n, mean, true);                                                                 \
        else                                                                                                                                        \
            lanes_##name(acc, step, merges, row, next, lanes, more, n, mean, false);                                                                \
    }
EIGHT(f32, float, v_f32, 4, 0, +, take_f32)
EIGHT(f16, float, v_f32, 2, 0, +, take_f16)
EIGHT(bf16, float, v_f32, 2, 0, +, take_bf16)
EIGHT(abs_f32, float, v_f32, 4, 0, +, take_abs_f32)
EIGHT(abs_f16, float, v_f32, 2, 0, +, take_abs_f16)
EIGHT(abs_bf16, float, v_f32, 2, 0, +, take_abs_bf16)
EIGHT(times_f32, float, v_f32, 4, 1, *, take_times_f32)
EIGHT(f64, double, v_f64, 8, 0, +, take_f64)
EIGHT(times_f64, double, v_f64, 8, 1, *, take_times_f64)
EIGHT(abs_f64, double, v_f64, 8, 0, +, take_abs_f64)
EIGHT(square_f16, double, v_f64, 2, 0, +, take_square_f16)
EIGHT(square_f32, double, v_f64, 4, 0, +, take_square_f32)
EIGHT(square_f64, double, v_f64, 8, 0, +, take_square_f64)
EIGHT(wide_f16, double, v_f64, 2, 0, +, take_wide_f16)
EIGHT(wide_f32, double, v_f64, 4, 0, +, take_wide_f32)
EIGHT(apart_f16, double, v_f64, 2, 0, +, take_apart_f16, , v_f64_load(mean + at))
EIGHT(apart_f32, double, v_f64, 4, 0, +, take_apart_f32, , v_f64_load(mean + at))
EIGHT(apart_f64, double, v_f64, 8, 0, +, take_apart_f64, , v_f64_load(mean + at))

extern const reduce_eight_kernels TESS_ISA_NAME(tess_reduce_eight_kernels);
const reduce_eight_kernels TESS_ISA_NAME(tess_reduce_eight_kernels) = {
    .sums = {[REDUCE_PLAIN] = {[tess_f16] = eight_f16, [tess_bf16] = eight_bf16, [tess_f32] = eight_f32, [tess_f64] = eight_f64},
             [REDUCE_ABS] = {[tess_f16] = eight_abs_f16, [tess_bf16] = eight_abs_bf16, [tess_f32] = eight_abs_f32, [tess_f64] = eight_abs_f64},
             [REDUCE_SQUARE] = {[tess_f16] = eight_square_f16, [tess_f32] = eight_square_f32, [tess_f64] = eight_square_f64}},
    .products = {[tess_f32] = eight_times_f32, [tess_f64] = eight_times_f64},
    .wide = {[tess_f16] = eight_wide_f16, [tess_f32] = eight_wide_f32, [tess_f64] = eight_f64},
    .apart = {[tess_f16] = eight_apart_f16, [tess_f32] = eight_apart_f32, [tess_f64] = eight_apart_f64},
};
