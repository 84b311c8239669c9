/* SPDX-License-Identifier: Apache-2.0
 * cpu_straight.c - elements that lie apart, or backwards, put one after the other.
 *
 * Compilers make shuffles of whole vectors from a loop whose step is a constant: backwards and every second, third or fourth element are copied at 100 GB/s and more
 * within L1 (Zen 5; AVX2: 35 to 120), one by one at an element a clock. Both ways together, every second one backwards, are two such copies. */
#include <string.h>

#include "core/straight.h"

typedef struct {
    uint64_t a, b;
} pair_of_words;

/* APART(K): every K-th element. */
#define APART(K)                          \
    case K:                               \
        for (int64_t i = 0; i < n; i++)   \
            memcpy(to + i, p + K * i, S); \
        return;
#define STRAIGHT(S_, T)                                                                                                  \
    static void straight_##S_(void *row, const void *from, int64_t stride, int64_t n) {                                  \
        enum { S = S_, PIECE = 1024 / S };                                                                               \
        typedef T any __attribute__((aligned(1)));                                                                       \
        any *restrict to = row;                                                                                          \
        const any *restrict p = from;                                                                                    \
        _Alignas(64) T piece[PIECE];                                                                                     \
        const int64_t step = S < 16 && stride % S == 0 ? stride / S : 0; /* 16 bytes are moved one by one in any case */ \
        switch (step) {                                                                                                  \
            APART(-1)                                                                                                    \
            APART(1)                                                                                                     \
            APART(2)                                                                                                     \
            APART(3)                                                                                                     \
            APART(4)                                                                                                     \
        case -2:                                                                                                         \
        case -3:                                                                                                         \
        case -4:                                                                                                         \
            for (int64_t i = 0, m; i < n; i += m) {                                                                      \
                m = tess_min64(PIECE, n - i);                                                                            \
                straight_##S_(piece, (const char *)from + (i + m - 1) * stride, -stride, m);                             \
                straight_##S_(to + i, piece + m - 1, -S, m);                                                             \
            }                                                                                                            \
            return;                                                                                                      \
        default: break;                                                                                                  \
        }                                                                                                                \
        const char *at = from;                                                                                           \
        for (int64_t i = 0; i < n; i++, at += stride)                                                                    \
            memcpy(to + i, at, S);                                                                                       \
    }
STRAIGHT(1, uint8_t)
STRAIGHT(2, uint16_t)
STRAIGHT(4, uint32_t)
STRAIGHT(8, uint64_t)
STRAIGHT(16, pair_of_words)

tess_straightener TESS_ISA_NAME(tess_straightener)(int64_t size) {
    switch (size) {
    case 1: return straight_1;
    case 2: return straight_2;
    case 4: return straight_4;
    case 8: return straight_8;
    default: return straight_16;
    }
}
