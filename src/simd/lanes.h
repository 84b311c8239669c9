/* SPDX-License-Identifier: Apache-2.0
 * lanes.h - words for moving bytes inside vectors: interleaving within 16-byte lanes, exchanging lanes, storing past the caches.
 *
 * v_bytes is a vector of TESS_VECTOR_BYTES, x_bytes one of 16 bytes. zip_low(1, a, b) interleaves the units (of 1, 2, 4 or 8 bytes) of the lower
 * halves of the lanes of a and b; zip_high the upper ones. The unit must be a constant: the switch is decided by the compiler. */
#ifndef TESS_SIMD_LANES_H
#define TESS_SIMD_LANES_H

#include "simd/simd.h"

typedef uint8_t v_bytes __attribute__((vector_size(TESS_VECTOR_BYTES)));
typedef uint8_t x_bytes __attribute__((vector_size(16)));

enum { TESS_LANES = TESS_VECTOR_BYTES / 16 }; /* 16-byte lanes of a vector */

TESS_INLINE v_bytes v_bytes_load(const void *p) {
    v_bytes v;
    memcpy(&v, p, sizeof v);
    return v;
}
TESS_INLINE void v_bytes_store(void *p, v_bytes v) { memcpy(p, &v, sizeof v); }
TESS_INLINE void v_bytes_stream(void *p, v_bytes v) { v_f32_stream(p, (v_f32)v); } /* p aligned to the vector */
TESS_INLINE x_bytes x_bytes_load(const void *p) {
    x_bytes v;
    memcpy(&v, p, sizeof v);
    return v;
}
TESS_INLINE void x_bytes_store(void *p, x_bytes v) { memcpy(p, &v, sizeof v); }

#if !defined(__SSE2__) && !defined(__ARM_NEON)
TESS_INLINE x_bytes tess_zip_plain(int unit, x_bytes a, x_bytes b, int from) {
    x_bytes r;
    for (int i = 0; i < 16; i++) {
        int at = i / unit, byte = from + at / 2 * unit + i % unit;
        r[i] = at % 2 ? b[byte] : a[byte];
    }
    return r;
}
#endif

#if defined(__SSE2__)
#define TESS_ZIP(name, which)                                                       \
    TESS_INLINE x_bytes x_zip_##name(int unit, x_bytes a, x_bytes b) {              \
        switch (unit) {                                                             \
        case 1: return (x_bytes)_mm_unpack##which##_epi8((__m128i)a, (__m128i)b);   \
        case 2: return (x_bytes)_mm_unpack##which##_epi16((__m128i)a, (__m128i)b);  \
        case 4: return (x_bytes)_mm_unpack##which##_epi32((__m128i)a, (__m128i)b);  \
        default: return (x_bytes)_mm_unpack##which##_epi64((__m128i)a, (__m128i)b); \
        }                                                                           \
    }
TESS_ZIP(low, lo)
TESS_ZIP(high, hi)
#undef TESS_ZIP
#elif defined(__ARM_NEON)
#define TESS_ZIP(name, which)                                                      \
    TESS_INLINE x_bytes x_zip_##name(int unit, x_bytes a, x_bytes b) {             \
        switch (unit) {                                                            \
        case 1: return (x_bytes)vzip##which##q_u8((uint8x16_t)a, (uint8x16_t)b);   \
        case 2: return (x_bytes)vzip##which##q_u16((uint16x8_t)a, (uint16x8_t)b);  \
        case 4: return (x_bytes)vzip##which##q_u32((uint32x4_t)a, (uint32x4_t)b);  \
        default: return (x_bytes)vzip##which##q_u64((uint64x2_t)a, (uint64x2_t)b); \
        }                                                                          \
    }
TESS_ZIP(low, 1)
TESS_ZIP(high, 2)
#undef TESS_ZIP
#else
TESS_INLINE x_bytes x_zip_low(int unit, x_bytes a, x_bytes b) { return tess_zip_plain(unit, a, b, 0); }
TESS_INLINE x_bytes x_zip_high(int unit, x_bytes a, x_bytes b) { return tess_zip_plain(unit, a, b, 8); }
#endif

#if defined(__AVX512BW__)
#define TESS_ZIP(name, which)                                                          \
    TESS_INLINE v_bytes v_zip_##name(int unit, v_bytes a, v_bytes b) {                 \
        switch (unit) {                                                                \
        case 1: return (v_bytes)_mm512_unpack##which##_epi8((__m512i)a, (__m512i)b);   \
        case 2: return (v_bytes)_mm512_unpack##which##_epi16((__m512i)a, (__m512i)b);  \
        case 4: return (v_bytes)_mm512_unpack##which##_epi32((__m512i)a, (__m512i)b);  \
        default: return (v_bytes)_mm512_unpack##which##_epi64((__m512i)a, (__m512i)b); \
        }                                                                              \
    }
TESS_ZIP(low, lo)
TESS_ZIP(high, hi)
#undef TESS_ZIP
#elif TESS_VECTOR_BYTES == 32
#define TESS_ZIP(name, which)                                                          \
    TESS_INLINE v_bytes v_zip_##name(int unit, v_bytes a, v_bytes b) {                 \
        switch (unit) {                                                                \
        case 1: return (v_bytes)_mm256_unpack##which##_epi8((__m256i)a, (__m256i)b);   \
        case 2: return (v_bytes)_mm256_unpack##which##_epi16((__m256i)a, (__m256i)b);  \
        case 4: return (v_bytes)_mm256_unpack##which##_epi32((__m256i)a, (__m256i)b);  \
        default: return (v_bytes)_mm256_unpack##which##_epi64((__m256i)a, (__m256i)b); \
        }                                                                              \
    }
TESS_ZIP(low, lo)
TESS_ZIP(high, hi)
#undef TESS_ZIP
#else
TESS_INLINE v_bytes v_zip_low(int unit, v_bytes a, v_bytes b) { return x_zip_low(unit, a, b); }
TESS_INLINE v_bytes v_zip_high(int unit, v_bytes a, v_bytes b) { return x_zip_high(unit, a, b); }
#endif

/* A copy of n bytes whose whole lines go past the caches. */
TESS_INLINE void tess_stream_copy(char *to, const char *from, int64_t n) {
    int64_t head = tess_min64(n, -(int64_t)((uintptr_t)to) & 63);
    if (head > 0) /* a call for nothing costs as much as some lines */
        memcpy(to, from, (size_t)head);
    for (; head + 64 <= n; head += 64)
        for (int part = 0; part < 64; part += TESS_VECTOR_BYTES)
            v_bytes_stream(to + head + part, v_bytes_load(from + head + part));
    if (head < n)
        memcpy(to + head, from + head, (size_t)(n - head));
}

/* Four vectors of L = TESS_LANES lanes each become L lines of 64 bytes: line l is lane l of from[0], from[1], from[2], from[3]. Line l is kept in
 * to[l * 4 / L] and the 4 / L - 1 vectors after it. */
TESS_INLINE void v_lanes_to_lines(v_bytes *to, const v_bytes *from) {
#if TESS_VECTOR_BYTES == 64
    __m512i a = (__m512i)from[0], b = (__m512i)from[1], c = (__m512i)from[2], d = (__m512i)from[3];
    __m512i ab01 = _mm512_shuffle_i32x4(a, b, 0x44), ab23 = _mm512_shuffle_i32x4(a, b, 0xee); /* a0 a1 b0 b1, a2 a3 b2 b3 */
    __m512i cd01 = _mm512_shuffle_i32x4(c, d, 0x44), cd23 = _mm512_shuffle_i32x4(c, d, 0xee);
    to[0] = (v_bytes)_mm512_shuffle_i32x4(ab01, cd01, 0x88);
    to[1] = (v_bytes)_mm512_shuffle_i32x4(ab01, cd01, 0xdd);
    to[2] = (v_bytes)_mm512_shuffle_i32x4(ab23, cd23, 0x88);
    to[3] = (v_bytes)_mm512_shuffle_i32x4(ab23, cd23, 0xdd);
#elif TESS_VECTOR_BYTES == 32
    to[0] = (v_bytes)_mm256_permute2x128_si256((__m256i)from[0], (__m256i)from[1], 0x20);
    to[1] = (v_bytes)_mm256_permute2x128_si256((__m256i)from[2], (__m256i)from[3], 0x20);
    to[2] = (v_bytes)_mm256_permute2x128_si256((__m256i)from[0], (__m256i)from[1], 0x31);
    to[3] = (v_bytes)_mm256_permute2x128_si256((__m256i)from[2], (__m256i)from[3], 0x31);
#else
    for (int i = 0; i < 4; i++)
        to[i] = from[i];
#endif
}

#endif
