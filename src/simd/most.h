/* SPDX-License-Identifier: Apache-2.0
 * most.h - the greater and the lesser of two vectors of integers, as v_f32_greater and v_f32_lesser are of floats (simd.h). */
#ifndef TESS_SIMD_MOST_H
#define TESS_SIMD_MOST_H

#include "simd/simd.h"

typedef int8_t v_i8 __attribute__((vector_size(TESS_VECTOR_BYTES)));
typedef uint8_t v_u8 __attribute__((vector_size(TESS_VECTOR_BYTES)));
typedef int16_t v_i16 __attribute__((vector_size(TESS_VECTOR_BYTES)));
typedef uint16_t v_u16 __attribute__((vector_size(TESS_VECTOR_BYTES)));

/* Where the processor has no instruction for it. */
#define TESS_PICK_PLAIN(name, signed_name, which, OP)                 \
    TESS_INLINE v_##name v_##name##_##which(v_##name a, v_##name b) { \
        const v_##signed_name first = a OP b;                         \
        return (a & (v_##name)first) | (b & ~(v_##name)first);        \
    }
#define TESS_MOST_PLAIN(name, signed_name)         \
    TESS_PICK_PLAIN(name, signed_name, greater, >) \
    TESS_PICK_PLAIN(name, signed_name, lesser, <)

#define TESS_MOST(name, vector, prefix, suffix)                                                                                       \
    TESS_INLINE v_##name v_##name##_greater(v_##name a, v_##name b) { return (v_##name)prefix##_max_##suffix((vector)a, (vector)b); } \
    TESS_INLINE v_##name v_##name##_lesser(v_##name a, v_##name b) { return (v_##name)prefix##_min_##suffix((vector)a, (vector)b); }

#if defined(__AVX512BW__)
TESS_MOST(i8, __m512i, _mm512, epi8)
TESS_MOST(u8, __m512i, _mm512, epu8)
TESS_MOST(i16, __m512i, _mm512, epi16)
TESS_MOST(u16, __m512i, _mm512, epu16)
TESS_MOST(i32, __m512i, _mm512, epi32)
TESS_MOST(u32, __m512i, _mm512, epu32)
TESS_MOST(i64, __m512i, _mm512, epi64)
TESS_MOST(u64, __m512i, _mm512, epu64)
#elif defined(__AVX2__)
TESS_MOST(i8, __m256i, _mm256, epi8)
TESS_MOST(u8, __m256i, _mm256, epu8)
TESS_MOST(i16, __m256i, _mm256, epi16)
TESS_MOST(u16, __m256i, _mm256, epu16)
TESS_MOST(i32, __m256i, _mm256, epi32)
TESS_MOST(u32, __m256i, _mm256, epu32)
TESS_MOST_PLAIN(i64, i64)
TESS_MOST_PLAIN(u64, i64)
#else
#if defined(__SSE2__)
TESS_MOST(u8, __m128i, _mm, epu8)
TESS_MOST(i16, __m128i, _mm, epi16)
#else
TESS_MOST_PLAIN(u8, i8)
TESS_MOST_PLAIN(i16, i16)
#endif
TESS_MOST_PLAIN(i8, i8)
TESS_MOST_PLAIN(u16, i16)
TESS_MOST_PLAIN(i32, i32)
TESS_MOST_PLAIN(u32, i32)
TESS_MOST_PLAIN(i64, i64)
TESS_MOST_PLAIN(u64, i64)
#endif
#undef TESS_MOST
#undef TESS_MOST_PLAIN
#undef TESS_PICK_PLAIN

/* The greatest and the least of a vector's lanes. */
#define TESS_PICK_LANE(name, type, which, OP)                                                                     \
    TESS_INLINE type v_##name##_##which##_lane(v_##name v) {                                                      \
        typedef type part __attribute__((vector_size(16)));                                                       \
        part p[TESS_VECTOR_BYTES / 16];                                                                           \
        memcpy(p, &v, sizeof p);                                                                                  \
        TESS_UNROLL for (int w = TESS_VECTOR_BYTES / 32; w > 0; w /= 2) TESS_UNROLL for (int i = 0; i < w; i++) { \
            const part first = (part)(p[i] OP p[i + w]);                                                          \
            p[i] = (p[i] & first) | (p[i + w] & ~first);                                                          \
        }                                                                                                         \
        type best = p[0][0];                                                                                      \
        TESS_UNROLL for (int i = 1; i < 16 / (int)sizeof(type); i++) best = p[0][i] OP best ? p[0][i] : best;     \
        return best;                                                                                              \
    }
#define TESS_PICK_LANES(name, type)         \
    TESS_PICK_LANE(name, type, greatest, >) \
    TESS_PICK_LANE(name, type, least, <)
TESS_PICK_LANES(i32, int32_t)
TESS_PICK_LANES(u32, uint32_t)
TESS_PICK_LANES(i64, int64_t)
TESS_PICK_LANES(u64, uint64_t)
#undef TESS_PICK_LANE
#undef TESS_PICK_LANES

/* The number of the first lane of 4 or 8 bytes that is set, all its bits or none, in the mask at p; -1: none is. */
TESS_INLINE int v_first_set(const void *p, int width) {
#if defined(__AVX512F__)
    const __m512i v = _mm512_loadu_si512(p);
    const uint32_t set = width == 4 ? (uint32_t)_mm512_movepi32_mask(v) : (uint32_t)_mm512_movepi64_mask(v);
    return set ? TESS_LOW_BIT(set) : -1;
#elif defined(__AVX2__)
    const uint32_t set = (uint32_t)_mm256_movemask_epi8(_mm256_loadu_si256((const __m256i *)p));
    return set ? TESS_LOW_BIT(set) / width : -1;
#else
    for (int i = 0; i < TESS_VECTOR_BYTES / width; i++)
        if (((const char *)p)[i * width] != 0)
            return i;
    return -1;
#endif
}

#endif
