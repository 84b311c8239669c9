/* SPDX-License-Identifier: Apache-2.0
 * collected.h - indices checked and elements fetched in one pass, by a load an element (simd/collect.h); included by cpu_gather.c.
 *
 * 64 indices are compared without a branch; when all are inside, their elements are fetched with numbers that come straight from the index. Two passes
 * over runs of 1024, which gathers are served with, let memory wait while the caches work and the other way round. */
#ifndef TESS_OPS_LOOKUP_COLLECTED_H
#define TESS_OPS_LOOKUP_COLLECTED_H

#include "ops/lookup/lookup.h"
#include "simd/collect.h"

enum { COLLECT_BLOCK = 64, COLLECT_AHEAD = 8192 }; /* indices that are checked together; how far they are asked for ahead, in bytes */

#if defined(__AVX2__)
/* Whether one of COLLECT_BLOCK indices is above `last`. */
#define ABOVE(width)                                                       \
    TESS_INLINE bool above_##width(const char *at, uint##width##_t last) { \
        unsigned outside = 0;                                              \
        for (int k = 0; k < COLLECT_BLOCK; k++) {                          \
            uint##width##_t v;                                             \
            memcpy(&v, at + k * (width / 8), sizeof v);                    \
            outside |= v > last;                                           \
        }                                                                  \
        return outside != 0;                                               \
    }
ABOVE(16)
ABOVE(32)
ABOVE(64)
#undef ABOVE

/* The same by a maximum; gcc widens what it finds above to 32 bits and folds that, 28 instructions for 16-bit indices in place of four. */
#if TESS_VECTOR_BYTES == 64
#define ABOVE(width, number)                                                                    \
    TESS_INLINE bool most_above_##width(const char *at, uint##width##_t last) {                 \
        __m512i most = _mm512_loadu_si512(at);                                                  \
        for (int k = 64; k < COLLECT_BLOCK * width / 8; k += 64)                                \
            most = _mm512_max_epu##width(most, _mm512_loadu_si512(at + k));                     \
        return _mm512_cmpgt_epu##width##_mask(most, _mm512_set1_epi##width((number)last)) != 0; \
    }
ABOVE(16, int16_t)
ABOVE(32, int32_t)
ABOVE(64, int64_t)
#undef ABOVE
#else
TESS_INLINE bool most_above_16(const char *at, uint16_t last) {
    const __m256i all = _mm256_set1_epi16((int16_t)last);
    __m256i most = all;
    for (int k = 0; k < COLLECT_BLOCK * 2; k += 32)
        most = _mm256_max_epu16(most, _mm256_loadu_si256((const __m256i *)(const void *)(at + k)));
    return _mm256_movemask_epi8(_mm256_cmpeq_epi16(most, all)) != -1;
}
TESS_INLINE bool most_above_32(const char *at, uint32_t last) { return above_32(at, last); } /* was as fast */
TESS_INLINE bool most_above_64(const char *at, uint64_t last) { return above_64(at, last); }
#endif

/* Looks up whole blocks until one has an index at or above `limit`; returns how many indices were done. out is aligned to vectors when `stream`.
 *
 * Where the table fits the first-level cache (near), the vectors of a block are written out one by one, the check is the short one and numbers of 16 bits are
 * turned. Tables of 65536 entries were up to an eighth slower with any of these, but for AVX2 by 16 bits; why was not found. */
#if TESS_VECTOR_BYTES == 64
#define FAR_16 _Pragma("GCC unroll 1")
#else
#define FAR_16 TESS_UNROLL
#endif
#define FAR_32 _Pragma("GCC unroll 1")
#define FAR_64 _Pragma("GCC unroll 1")
#define COLLECTED_LOOP(size, width, above, turned, UNROLL)                                     \
    for (; i + COLLECT_BLOCK <= count; i += COLLECT_BLOCK) {                                   \
        const char *at = index + i * (width / 8);                                              \
        if (above(at, last))                                                                   \
            break;                                                                             \
        for (int k = 0; k < COLLECT_BLOCK * width / 8; k += 64)                                \
            tess_prefetch_l2(at + COLLECT_AHEAD + k);                                          \
        UNROLL for (int k = 0; k < COLLECT_BLOCK; k += TESS_VECTOR_BYTES / size) {             \
            const v_bytes v = v_collect(turned, size, width / 8, table, at + k * (width / 8)); \
            if (stream)                                                                        \
                v_bytes_stream(out + (i + k) * size, v);                                       \
            else                                                                               \
                v_bytes_store(out + (i + k) * size, v);                                        \
        }                                                                                      \
    }
#define COLLECTED(size, width)                                                                                                               \
    static int64_t collected_##size##_##width(char *out, const char *table, const char *index, int64_t count, uint64_t limit, bool stream) { \
        const uint##width##_t last = (uint##width##_t)(limit - 1);                                                                           \
        const bool near = limit <= 16384;                                                                                                    \
        int64_t i = 0;                                                                                                                       \
        if (near)                                                                                                                            \
            COLLECTED_LOOP(size, width, most_above_##width, true, TESS_UNROLL)                                                               \
        else                                                                                                                                 \
            COLLECTED_LOOP(size, width, above_##width, false, FAR_##width)                                                                   \
        return i;                                                                                                                            \
    }
#define COLLECTED_SIZES(width) COLLECTED(1, width) COLLECTED(2, width) COLLECTED(4, width) COLLECTED(8, width)
COLLECTED_SIZES(16)
COLLECTED_SIZES(32)
COLLECTED_SIZES(64)
#undef COLLECTED_SIZES
#undef COLLECTED
#undef COLLECTED_LOOP
#undef FAR_16
#undef FAR_32
#undef FAR_64

typedef int64_t (*collected)(char *out, const char *table, const char *index, int64_t count, uint64_t limit, bool stream);

/* NULL: there is none for these elements and indices. */
static collected collected_for(int64_t size, int64_t width) {
    static const collected all[3][4] = {{collected_1_16, collected_2_16, collected_4_16, collected_8_16},
                                        {collected_1_32, collected_2_32, collected_4_32, collected_8_32},
                                        {collected_1_64, collected_2_64, collected_4_64, collected_8_64}};
    const int row = width == 2   ? 0
                    : width == 4 ? 1
                    : width == 8 ? 2
                                 : -1,
              column = size == 1   ? 0
                       : size == 2 ? 1
                       : size == 4 ? 2
                       : size == 8 ? 3
                                   : -1;
    return row < 0 || column < 0 ? NULL : all[row][column];
}
#else
typedef int64_t (*collected)(char *, const char *, const char *, int64_t, uint64_t, bool);
static collected collected_for(int64_t size, int64_t width) {
    (void)size;
    (void)width;
    return NULL;
}
#endif

/* What is inside as an unsigned number: all entries, or of a signed type those that are not negative. Never 0, for n is not. */
static uint64_t collected_limit(const lookup_problem *problem) {
    const uint64_t n = (uint64_t)problem->n;
    switch (problem->index.type) {
    case tess_u16: return n < 0x10000 ? n : 0x10000;
    case tess_i16: return n < 0x8000 ? n : 0x8000;
    default: return n; /* fewer than 2^31 */
    }
}

#endif
