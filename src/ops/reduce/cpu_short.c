/* SPDX-License-Identifier: Apache-2.0
 * cpu_short.c - sixteen short rows summed at once. Alone, a row of 16 elements keeps a vector unit busy for one addition and waits for the rest of
 * its halving tree; sixteen of them, turned so that term j of every row is one vector, halve together and their results come out side by side. */
#include <string.h>

#include "ops/reduce/reduce.h"

/* The rows are no longer than the lanes are many, so every lane holds one term at most; + 0 makes -0 the +0 that a lane starts from. */
#define SHORT(name, type)                                              \
    static void name(void *sums, const char *const *rows, int64_t k) { \
        _Alignas(64) type lane[REDUCE_LANES][REDUCE_SHORT_ROWS];       \
        for (int i = 0; i < REDUCE_SHORT_ROWS; i++)                    \
            for (int64_t j = 0; j < k; j++) {                          \
                type x;                                                \
                memcpy(&x, rows[i] + j * (int64_t)sizeof x, sizeof x); \
                lane[j][i] = x + 0;                                    \
            }                                                          \
        for (int64_t w = REDUCE_LANES / 2; w > 0; w /= 2) {            \
            for (int64_t j = 0; j + w < k && j < w; j++)               \
                for (int i = 0; i < REDUCE_SHORT_ROWS; i++)            \
                    lane[j][i] += lane[j + w][i];                      \
            k = k < w ? k : w;                                         \
        }                                                              \
        memcpy(sums, lane[0], sizeof lane[0]);                         \
    }
SHORT(short_f32, float)
SHORT(short_f64, double)

extern const reduce_short_kernels TESS_ISA_NAME(tess_reduce_short_kernels);
const reduce_short_kernels TESS_ISA_NAME(tess_reduce_short_kernels) = {.add = {[tess_f32] = short_f32, [tess_f64] = short_f64}};
