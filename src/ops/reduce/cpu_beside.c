/* SPDX-License-Identifier: Apache-2.0
 * cpu_beside.c - lanes of many leaves side by side: a piece of memory, some lines of neighbours, is added to a row of sums as it lies (leaf_beside.c); lines of lanes one after the other
 * (leaf_tiles.c). */
#include "ops/reduce/reduce.h"
#include "simd/simd.h"

/* The last of the lines begins at byte `last`, which may be within the one before it. */
#define BESIDE(name, type, vector)                                                                                                              \
    TESS_INLINE void lines_##name(type *sums, const char *const *piece, const char *const *ahead, int pieces, const int lines, int64_t last,    \
                                  const bool near) {                                                                                            \
        enum { LANES = TESS_VECTOR_BYTES / (int)sizeof(type), V = 64 / TESS_VECTOR_BYTES };                                                     \
        for (int i = 0; i < pieces; i++, sums += lines * V * LANES) {                                                                           \
            const char *p = piece[i], *next = ahead[i];                                                                                         \
            TESS_UNROLL for (int l = 0; l < lines; l++) {                                                                                       \
                const int64_t at = l < lines - 1 ? l * 64 : last;                                                                               \
                near ? tess_prefetch_l1(next + at) : tess_prefetch_l2(next + at);                                                               \
                TESS_UNROLL for (int v = 0; v < V; v++) {                                                                                       \
                    type *to = sums + (l * V + v) * LANES;                                                                                      \
                    vector##_store(to, vector##_load(to) + vector##_load(p + at + v * TESS_VECTOR_BYTES));                                      \
                }                                                                                                                               \
            }                                                                                                                                   \
            near ? tess_prefetch_l1(next + last + 63) : tess_prefetch_l2(next + last + 63); /* the pieces need not begin at a line */           \
        }                                                                                                                                       \
    }                                                                                                                                           \
    static void beside_##name(void *sums, const char *const *piece, const char *const *ahead, int pieces, int lines, int64_t last, bool near) { \
        if (lines == REDUCE_BESIDE && near)                                                                                                     \
            lines_##name(sums, piece, ahead, pieces, REDUCE_BESIDE, last, true);                                                                \
        else if (lines == REDUCE_BESIDE)                                                                                                        \
            lines_##name(sums, piece, ahead, pieces, REDUCE_BESIDE, last, false);                                                               \
        else                                                                                                                                    \
            lines_##name(sums, piece, ahead, pieces, lines, last, near);                                                                        \
    }
BESIDE(f32, float, v_f32)
BESIDE(f64, double, v_f64)

/* Leaves of whole lines follow one another at `lines`: each becomes a line of lanes, a row of 256 lanes after that of the leaf before. */
#define CHAINS(name, type, vector)                                                                              \
    static void chains_##name(void *lanes, const char *lines, int64_t count) {                                  \
        enum { V = 64 / TESS_VECTOR_BYTES };                                                                    \
        char *to = lanes;                                                                                       \
        for (int64_t n; count > 0; count -= n, to += REDUCE_LANES * sizeof(type)) {                             \
            vector a[V] = {{0}};                                                                                \
            n = tess_min64(count, REDUCE_TERMS);                                                                \
            for (int64_t i = 0; i < n; i++, lines += 64)                                                        \
                TESS_UNROLL for (int v = 0; v < V; v++) a[v] += vector##_load(lines + v * TESS_VECTOR_BYTES);   \
            TESS_UNROLL for (int v = 0; v < V; v++) vector##_store((type *)(to + v * TESS_VECTOR_BYTES), a[v]); \
        }                                                                                                       \
    }
CHAINS(f32, float, v_f32)
CHAINS(f64, double, v_f64)

/* Of what is behind a run +0 is added, which changes no lane, since none is -0. */
#define AROUND(name, type, vector, words, word)                                                                                             \
    TESS_INLINE void runs_##name(type *sums, const char *runs, int64_t step, int64_t count, int64_t lane, int64_t n, const int64_t ahead) { \
        enum { LANES = TESS_VECTOR_BYTES / (int)sizeof(type) };                                                                             \
        words number = {0};                                                                                                                 \
        for (int i = 0; i < LANES; i++)                                                                                                     \
            number[i] = i;                                                                                                                  \
        for (; count > 0; count--, runs += step, sums += REDUCE_SET_LANES) {                                                                \
            const char *p = runs;                                                                                                           \
            if (ahead != 0)                                                                                                                 \
                tess_prefetch_l1(p + n * (int64_t)sizeof(type) - 1 + ahead); /* a run need not begin at a line */                           \
            for (int64_t at = lane, left = n, m; left > 0; left -= m, at = 0) {                                                             \
                type *to = sums + at;                                                                                                       \
                int64_t i = 0;                                                                                                              \
                m = tess_min64(left, REDUCE_LANES - at);                                                                                    \
                for (; i + LANES <= m; i += LANES, p += TESS_VECTOR_BYTES) {                                                                \
                    if (ahead != 0)                                                                                                         \
                        tess_prefetch_l1(p + ahead);                                                                                        \
                    vector##_store(to + i, vector##_load(to + i) + vector##_load(p));                                                       \
                }                                                                                                                           \
                if (i < m) {                                                                                                                \
                    const words its = number < (words){0} + (word)(m - i);                                                                  \
                    if (ahead != 0)                                                                                                         \
                        tess_prefetch_l1(p + ahead);                                                                                        \
                    vector##_store(to + i, vector##_load(to + i) + (vector)((words)vector##_load(p) & its));                                \
                    p += (m - i) * (int64_t)sizeof(type);                                                                                   \
                }                                                                                                                           \
            }                                                                                                                               \
        }                                                                                                                                   \
    }                                                                                                                                       \
    static void around_##name(void *lanes, const char *runs, int64_t step, int64_t count, int64_t lane, int64_t n, int64_t ahead) {         \
        if (ahead != 0)                                                                                                                     \
            runs_##name(lanes, runs, step, count, lane, n, ahead);                                                                          \
        else                                                                                                                                \
            runs_##name(lanes, runs, step, count, lane, n, 0);                                                                              \
    }
AROUND(f32, float, v_f32, v_i32, int32_t)
AROUND(f64, double, v_f64, v_i64, int64_t)

extern const reduce_beside_kernels TESS_ISA_NAME(tess_reduce_beside_kernels);
const reduce_beside_kernels TESS_ISA_NAME(tess_reduce_beside_kernels) = {
    .add = {[tess_f32] = beside_f32, [tess_f64] = beside_f64},
    .chains = {[tess_f32] = chains_f32, [tess_f64] = chains_f64},
    .around = {[tess_f32] = around_f32, [tess_f64] = around_f64},
};
