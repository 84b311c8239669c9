/* SPDX-License-Identifier: Apache-2.0
 * cpu_streams.c - sums along a slow axis, sixteen rows of neighbouring columns at once: one of each of the runs in which columns_streams.c goes through a leaf.
 *
 * A line of each row is taken at a time, and nothing is asked for: each of the sixteen places moves on through memory without a gap, which the processor sees. Sixteen
 * pointers do not fit the registers beside all else, and those that come from the stack cost a tenth; rows that lie evenly need four. */
#include <string.h>

#include "ops/reduce/reduce.h"
#include "simd/simd.h"

/* A line of columns of each of `lanes` lanes, which READ has added up from +0 on in s: halved, and stored. */
#define LINES(vector, READ)                                                                                                                \
    {                                                                                                                                      \
        vector s[8][V];                                                                                                                    \
        _Pragma("GCC unroll 8") for (int j = 0; j < lanes; j++) _Pragma("GCC unroll 4") for (int v = 0; v < V; v++) s[j][v] = (vector){0}; \
        READ;                                                                                                                              \
        _Pragma("GCC unroll 4") for (int w = 1; w < lanes; w *= 2) _Pragma("GCC unroll 8") for (int j = 0; j + w < lanes; j += 2 * w)      \
            _Pragma("GCC unroll 4") for (int v = 0; v < V; v++) s[j][v] += s[j + w][v];                                                    \
        _Pragma("GCC unroll 4") for (int v = 0; v < V; v++) vector##_store(to + c + v * LANES, s[0][v]);                                   \
    }

/* lanes: a constant once inlined. The last line may begin earlier: its columns are done twice. step: bytes from row to row of the leaf. */
#define STREAMS(name, type, vector)                                                                                                                 \
    TESS_INLINE void any_##name(type *to, const char *const *row, int64_t n, const int lanes) {                                                     \
        enum { LANES = TESS_VECTOR_BYTES / (int)sizeof(type), V = 64 / TESS_VECTOR_BYTES, UNIT = V * LANES };                                       \
        const int each = REDUCE_STREAMS / lanes;                                                                                                    \
        const char *p[REDUCE_STREAMS];                                                                                                              \
        memcpy(p, row, sizeof p);                                                                                                                   \
        for (int64_t c = 0; c < n; c += UNIT) {                                                                                                     \
            c = tess_min64(c, n - UNIT);                                                                                                            \
            LINES(vector, _Pragma("GCC unroll 16") for (int i = 0; i < REDUCE_STREAMS; i++) _Pragma("GCC unroll 4") for (int v = 0; v < V; v++)     \
                              s[i / each][v] += vector##_load(p[i] + (c + v * LANES) * (int64_t)sizeof(type)))                                      \
        }                                                                                                                                           \
    }                                                                                                                                               \
    TESS_INLINE void even_lines_##name(type *to, const char *row, int64_t step, int64_t c, int64_t n, const int lanes) {                            \
        enum { LANES = TESS_VECTOR_BYTES / (int)sizeof(type), V = 64 / TESS_VECTOR_BYTES, UNIT = V * LANES };                                       \
        const int places = lanes == 8 ? 8 : 4, each = REDUCE_STREAMS / places, of_lane = places / lanes;                                            \
        const int64_t next = REDUCE_LANES * step, third = 3 * next;                                                                                 \
        const char *p[8];                                                                                                                           \
        _Pragma("GCC unroll 8") for (int k = 0; k < places; k++) p[k] =                                                                             \
            row + reduce_reversed_lane(k / of_lane) * step + k % of_lane * each * next + c * (int64_t)sizeof(type);                                 \
        for (; c + UNIT <= n; c += UNIT) {                                                                                                          \
            LINES(                                                                                                                                  \
                vector, _Pragma("GCC unroll 8") for (int k = 0; k < places; k++) {                                                                  \
                    _Pragma("GCC unroll 4") for (int i = 0; i < each; i++) _Pragma("GCC unroll 4") for (int v = 0; v < V; v++) s[k / of_lane][v] += \
                        vector##_load(p[k] + (i == 3 ? third : i * next) + v * TESS_VECTOR_BYTES);                                                  \
                    p[k] += UNIT * (int64_t)sizeof(type);                                                                                           \
                })                                                                                                                                  \
        }                                                                                                                                           \
    }                                                                                                                                               \
    TESS_INLINE void even_##name(type *to, const char *row, int64_t step, int64_t n, const int lanes) {                                             \
        even_lines_##name(to, row, step, 0, n, lanes);                                                                                              \
        if (n % (64 / (int64_t)sizeof(type)) != 0)                                                                                                  \
            even_lines_##name(to, row, step, n - 64 / (int64_t)sizeof(type), n, lanes);                                                             \
    }                                                                                                                                               \
    static void rows_##name(void *sums, const char *const *row, int lanes, int64_t n) {                                                             \
        if (lanes == 1)                                                                                                                             \
            any_##name(sums, row, n, 1);                                                                                                            \
        else if (lanes == 2)                                                                                                                        \
            any_##name(sums, row, n, 2);                                                                                                            \
        else if (lanes == 4)                                                                                                                        \
            any_##name(sums, row, n, 4);                                                                                                            \
        else                                                                                                                                        \
            any_##name(sums, row, n, 8);                                                                                                            \
    }                                                                                                                                               \
    static void even_rows_##name(void *sums, const char *row, int64_t step, int lanes, int64_t n) {                                                 \
        if (lanes == 1)                                                                                                                             \
            even_##name(sums, row, step, n, 1);                                                                                                     \
        else if (lanes == 2)                                                                                                                        \
            even_##name(sums, row, step, n, 2);                                                                                                     \
        else if (lanes == 4)                                                                                                                        \
            even_##name(sums, row, step, n, 4);                                                                                                     \
        else                                                                                                                                        \
            even_##name(sums, row, step, n, 8);                                                                                                     \
    }
STREAMS(f32, float, v_f32)
STREAMS(f64, double, v_f64)

extern const reduce_stream_kernels TESS_ISA_NAME(tess_reduce_stream_kernels);
const reduce_stream_kernels TESS_ISA_NAME(tess_reduce_stream_kernels) = {
    .rows = {[tess_f32] = rows_f32, [tess_f64] = rows_f64},
    .even = {[tess_f32] = even_rows_f32, [tess_f64] = even_rows_f64},
};
