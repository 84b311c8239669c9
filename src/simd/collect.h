/* SPDX-License-Identifier: Apache-2.0
 * collect.h - the words of gather.h by a load an entry, for processors whose own gather is slower than that (core/maker.h).
 *
 * On Zen 4 a gather takes 1.1 clocks an entry, and a load that inserts the entry into a vector half a clock. Entry numbers are read eight bytes at a time and
 * taken apart by shifts, since reading each for itself would take as many loads as the entries do. Like those of v_f32_pairs they should have been in memory
 * for some time. */
#ifndef TESS_SIMD_COLLECT_H
#define TESS_SIMD_COLLECT_H

#include "simd/gather.h"

#if defined(__AVX2__)
enum { TESS_COLLECTS = 1 };

/* Number `k` of 16 bits of `all`. turned: by two instructions for k = 1 and 2; compilers move, shift and widen, and six instructions a clock are what loops
 * wait for that fetch by such numbers from the first-level cache. */
TESS_INLINE uint16_t collect_half(const bool turned, uint64_t all, const int k) {
#if defined(__x86_64__) && defined(__BMI2__)
    uint64_t low;
    if (turned && k == 1) {
        __asm__("rorx $16, %1, %0" : "=r"(low) : "r"(all));
        return (uint16_t)low;
    }
    if (turned && k == 2) {
        __asm__("rorx $32, %1, %0" : "=r"(low) : "r"(all));
        return (uint16_t)low;
    }
#endif
    return (uint16_t)(all >> 16 * k);
}

/* Entry number k of those at `at`, of `width` bytes each, read `group` bytes at a time. Constants but for at: the compiler reads a group once. */
TESS_INLINE uint64_t collect_number(const bool turned, const int width, const int group, const char *at, const int k) {
    const int each = group / width;
    uint32_t half;
    uint64_t all;
    if (group == 4) {
        memcpy(&half, at + k / each * group, sizeof half);
        all = half;
    } else {
        memcpy(&all, at + k / each * group, sizeof all);
    }
    if (width == 2)
        return collect_half(turned, all, k % each);
    all >>= k % each * width * 8;
    return width == 1 ? (uint8_t)all : width == 4 ? (uint32_t)all : all;
}

/* The 16 bytes of 16, 8, 4 or 2 entries whose numbers are at `at`. `size` and `width`: bytes of an entry and of a number. */
TESS_INLINE __m128i x_collect(const bool turned, const int size, const int width, const char *base, const char *at) {
    const int group = 16 / size * width >= 8 ? 8 : 4;
    __m128i v = _mm_setzero_si128();
    uint16_t half;
    int32_t word;
    if (width == 1 && size == 8) { /* two bytes are no group */
        v = _mm_loadl_epi64((const __m128i *)(const void *)(base + 8 * (int64_t)(uint8_t)at[0]));
        return (__m128i)_mm_loadh_pd((__m128d)v, (const double *)(const void *)(base + 8 * (int64_t)(uint8_t)at[1]));
    }
#define NUMBER(k) (base + (int64_t)size * (int64_t)collect_number(turned, width, group, at, k))
#define BYTE(k) v = _mm_insert_epi8(v, *(const unsigned char *)NUMBER(k), k);
#define HALF(k)                            \
    memcpy(&half, NUMBER(k), sizeof half); \
    v = _mm_insert_epi16(v, half, k);
#define WORD(k)                            \
    memcpy(&word, NUMBER(k), sizeof word); \
    v = _mm_insert_epi32(v, word, k);
    switch (size) {
    case 1:
        BYTE(0) BYTE(1) BYTE(2) BYTE(3) BYTE(4) BYTE(5) BYTE(6) BYTE(7) BYTE(8) BYTE(9) BYTE(10) BYTE(11) BYTE(12) BYTE(13) BYTE(14) BYTE(15) break;
    case 2: HALF(0) HALF(1) HALF(2) HALF(3) HALF(4) HALF(5) HALF(6) HALF(7) break;
    case 4: v = _mm_loadu_si32(NUMBER(0)); WORD(1) WORD(2) WORD(3) break;
    default:
        v = _mm_loadl_epi64((const __m128i *)(const void *)NUMBER(0));
        v = (__m128i)_mm_loadh_pd((__m128d)v, (const double *)(const void *)NUMBER(1));
        break;
    }
#undef NUMBER
#undef BYTE
#undef HALF
#undef WORD
    return v;
}

/* A vector of 16-byte lanes that stand `step` numbers apart. */
TESS_INLINE v_bytes v_collect_step(const bool turned, const int size, const int width, const int step, const char *base, const char *at) {
#if TESS_VECTOR_BYTES == 64
    const __m256i low = _mm256_set_m128i(x_collect(turned, size, width, base, at + step * width), x_collect(turned, size, width, base, at));
    const __m256i high =
        _mm256_set_m128i(x_collect(turned, size, width, base, at + 3 * step * width), x_collect(turned, size, width, base, at + 2 * step * width));
    return (v_bytes)_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
#else
    return (v_bytes)_mm256_set_m128i(x_collect(turned, size, width, base, at + step * width), x_collect(turned, size, width, base, at));
#endif
}
TESS_INLINE v_bytes v_collect(const bool turned, const int size, const int width, const char *base, const char *at) {
    return v_collect_step(turned, size, width, 16 / size, base, at);
}

TESS_INLINE v_f32 v_f32_collect(const void *base, const uint32_t *at) { return (v_f32)v_collect(false, 4, 4, base, (const char *)at); }
TESS_INLINE v_f64 v_f64_collect(const void *base, const uint32_t *at) { return (v_f64)v_collect(false, 8, 4, base, (const char *)at); }

/* Records of two values of 4 bytes, two to a lane, so that one shuffle inside the lanes takes them apart. */
TESS_INLINE void v_f32_pairs_collect(v_f32 *to, const float *base, const uint32_t *at) {
    const v_bytes a = v_collect_step(false, 8, 4, 4, (const char *)base, (const char *)at),
                  b = v_collect_step(false, 8, 4, 4, (const char *)base, (const char *)(at + 2));
#if TESS_VECTOR_BYTES == 64
    to[0] = (v_f32)_mm512_shuffle_ps((__m512)a, (__m512)b, 0x88);
    to[1] = (v_f32)_mm512_shuffle_ps((__m512)a, (__m512)b, 0xdd);
#else
    to[0] = (v_f32)_mm256_shuffle_ps((__m256)a, (__m256)b, 0x88);
    to[1] = (v_f32)_mm256_shuffle_ps((__m256)a, (__m256)b, 0xdd);
#endif
}
#else
/* Without a gather the words of gather.h are loads. */
enum { TESS_COLLECTS = 0 };
TESS_INLINE v_f32 v_f32_collect(const void *base, const uint32_t *at) { return v_f32_gather(base, at); }
TESS_INLINE v_f64 v_f64_collect(const void *base, const uint32_t *at) { return v_f64_gather(base, at); }
TESS_INLINE void v_f32_pairs_collect(v_f32 *to, const float *base, const uint32_t *at) { v_f32_pairs(to, base, at); }
#endif
/* Records of 16 bytes are loaded one by one in any case. */
TESS_INLINE void v_f64_pairs_collect(v_f64 *to, const double *base, const uint32_t *at) { v_f64_pairs(to, base, at); }

#endif
