/* SPDX-License-Identifier: Apache-2.0
 * cpu_straight.c - elements that lie apart, or backwards, put one after the other.
 *
 * Compilers make shuffles of whole vectors from a loop whose step is a constant: backwards and every second, third or fourth element are copied at 100 GB/s and more
 * within L1 (Zen 5; AVX2: 35 to 120), one by one at an element a clock. Both ways together, every second one backwards, are two such copies.
 *
 * Of wider steps AVX-512 merges vectors: with a step of 7 each of 16 elements has a place of its own among the 16 of a vector, since 7 and 16 have no common factor. So
 * seven loads under masks bring them into one vector, and a permutation into their order. A step of 6 = 2 * 3 does it for eight elements and three loads. */
#include <string.h>

#include "core/straight.h"
#if defined(__AVX2__) || defined(__AVX512F__)
#include <immintrin.h>
#endif

typedef struct {
    uint64_t a, b;
} pair_of_words;

#if defined(__AVX512F__)
enum { AHEAD = 4096 }; /* bytes: in memory, waiting for loads under masks is slower than one element after another was */

/* As many of n elements, `step` apart, as merging has found; the rest is left. LANES to a vector, AT_ONCE of them to a permutation: LANES over the greatest factor common
 * with the step. */
#define MERGED(S, LANES, word, mask, load_masked, permute, store_masked)                           \
    TESS_INLINE int64_t merged_##S(char *to, const char *p, int64_t n, const int step) {           \
        const int factor = step % 4 == 0 ? 4 : step % 2 == 0 ? 2 : 1, at_once = LANES / factor;    \
        _Alignas(64) word order[LANES] = {0};                                                      \
        mask some[LANES] = {0};                                                                    \
        TESS_UNROLL for (int i = 0; i < at_once; i++) {                                            \
            order[i] = (word)(i * step % LANES);                                                   \
            some[i * step / LANES] = (mask)(some[i * step / LANES] | 1u << (i * step % LANES));    \
        }                                                                                          \
        const __m512i by = _mm512_load_si512(order);                                               \
        int64_t done = 0;                                                                          \
        for (; done + at_once <= n; done += at_once, p += at_once * step * S, to += at_once * S) { \
            __m512i v = {0};                                                                       \
            TESS_UNROLL for (int l = 0; l < step / factor; l++) {                                  \
                __builtin_prefetch(p + l * 64 + AHEAD);                                            \
                v = load_masked(v, some[l], p + l * 64);                                           \
            }                                                                                      \
            store_masked(to, (mask)((1u << at_once) - 1), permute(by, v));                         \
        }                                                                                          \
        return done;                                                                               \
    }
MERGED(4, 16, uint32_t, __mmask16, _mm512_mask_loadu_epi32, _mm512_permutexvar_epi32, _mm512_mask_storeu_epi32)
MERGED(8, 8, uint64_t, __mmask8, _mm512_mask_loadu_epi64, _mm512_permutexvar_epi64, _mm512_mask_storeu_epi64)
#define MERGE(S, K) \
    case K: return merged_##S(to, p, n, K);
static int64_t merge_4(char *to, const char *p, int64_t n, int64_t step) {
    switch (step) {
        MERGE(4, 5)
        MERGE(4, 6)
        MERGE(4, 7)
        MERGE(4, 9)
        MERGE(4, 10)
        MERGE(4, 11)
        MERGE(4, 12)
        MERGE(4, 13)
        MERGE(4, 14)
        MERGE(4, 15)
    default: return 0;
    }
}
static int64_t merge_8(char *to, const char *p, int64_t n, int64_t step) {
    switch (step) {
        MERGE(8, 5)
        MERGE(8, 6)
        MERGE(8, 7)
    default: return 0;
    }
}
/* Four elements of 16 bytes to a store: of every second one from two vectors, else each by a load of its own. */
static int64_t fours_of_16(char *to, const char *p, int64_t n, int64_t stride) {
    int64_t done = 0;
    for (; stride == 32 && done + 4 < n; done += 4, p += 128, to += 64) /* the vectors reach beyond the fourth */
        _mm512_storeu_si512(to, _mm512_shuffle_i64x2(_mm512_loadu_si512(p), _mm512_loadu_si512(p + 64), 0x88));
    for (; done + 4 <= n; done += 4, p += 4 * stride, to += 64) {
        __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(const void *)p));
        v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)(p + stride)), 1);
        v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)(p + 2 * stride)), 2);
        _mm512_storeu_si512(to, _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)(p + 3 * stride)), 3));
    }
    return done;
}
#define merge_16(to, p, n, step) fours_of_16(to, (const char *)(p), n, stride)
#elif defined(__AVX2__)
/* A vector from loads of one element each, and one store of it: a store for each element takes a clock, and a loop of these as long again by where it lies. */
TESS_INLINE int word_at(const char *p) {
    int word;
    memcpy(&word, p, sizeof word);
    return word;
}
static int64_t fours_of_4(char *to, const char *p, int64_t n, int64_t stride) {
    int64_t done = 0;
    for (; done + 8 <= n; done += 8, to += 32)
        TESS_UNROLL for (int half = 0; half < 32; half += 16, p += 4 * stride) {
            __m128i v = _mm_cvtsi32_si128(word_at(p));
            v = _mm_insert_epi32(v, word_at(p + stride), 1);
            v = _mm_insert_epi32(v, word_at(p + 2 * stride), 2);
            _mm_storeu_si128((__m128i *)(void *)(to + half), _mm_insert_epi32(v, word_at(p + 3 * stride), 3));
        }
    return done;
}
static int64_t fours_of_8(char *to, const char *p, int64_t n, int64_t stride) {
    int64_t done = 0;
    for (; done + 4 <= n; done += 4, to += 32)
        TESS_UNROLL for (int half = 0; half < 32; half += 16, p += 2 * stride) {
            const __m128d low =
                _mm_castsi128_pd(_mm_loadl_epi64((const __m128i *)(const void *)p)); /* elements lie on any byte: a load of a double may not */
            _mm_storeu_pd((double *)(void *)(to + half), _mm_loadh_pd(low, (const double *)(const void *)(p + stride)));
        }
    return done;
}
static int64_t twos_of_16(char *to, const char *p, int64_t n, int64_t stride) {
    int64_t done = 0;
    for (; done + 2 <= n; done += 2, p += 2 * stride, to += 32) {
        const __m256i v = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)p));
        _mm256_storeu_si256((__m256i *)(void *)to, _mm256_inserti128_si256(v, _mm_loadu_si128((const __m128i *)(const void *)(p + stride)), 1));
    }
    return done;
}
#define merge_4(to, p, n, step) fours_of_4(to, (const char *)(p), n, stride)
#define merge_8(to, p, n, step) fours_of_8(to, (const char *)(p), n, stride)
#define merge_16(to, p, n, step) twos_of_16(to, (const char *)(p), n, stride)
#else
#define merge_4(to, p, n, step) 0
#define merge_8(to, p, n, step) 0
#define merge_16(to, p, n, step) 0
#endif
#define merge_1(to, p, n, step) 0
#define merge_2(to, p, n, step) 0

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
        int64_t i = merge_##S_(row, from, n, step);                                                                      \
        for (const char *at = (const char *)from + i * stride; i < n; i++, at += stride)                                 \
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
