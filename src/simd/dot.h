/* SPDX-License-Identifier: Apache-2.0
 * dot.h - sums of a few products of small integers in every 32-bit lane, and such sums back in the order of memory as small integers.
 *
 * dot4 takes four bytes of each lane (x unsigned, the weights signed), dot2 two signed 16-bit numbers. All is modulo 2^32. A window of taps is summed
 * with them by PHASES: the vector that starts at element p holds in lane q the elements PHASES * q + p and those that follow, so its sums belong to
 * output PHASES * q + p, and PHASES such vectors make all outputs. tess_dot*_to_* interleave the phases again. Where the taps of an output do not stand
 * side by side they are picked (v_dot_pick_here) and sums come in order: that counts as one phase.
 *
 * The words stay where they are written, as those of here.h do. */
#ifndef TESS_SIMD_DOT_H
#define TESS_SIMD_DOT_H

#include "simd/here.h"
#include "simd/lanes.h"

/* Whether there is a dot4, and whether its pairs of products must fit 16 signed bits (pmaddubsw saturates). */
#if defined(__AVX512VNNI__)
#define TESS_DOT4 1
#define TESS_DOT4_PAIRS 0
#elif defined(__AVX2__)
#define TESS_DOT4 1
#define TESS_DOT4_PAIRS 1
#else
#define TESS_DOT4 0
#define TESS_DOT4_PAIRS 0
#endif

typedef v_i32 v_i32_anywhere __attribute__((aligned(1), may_alias));
typedef x_bytes x_bytes_anywhere __attribute__((aligned(1), may_alias));

TESS_INLINE v_i32 v_i32_load(const void *p) {
    v_i32 v;
    memcpy(&v, p, sizeof v);
    return v;
}

#if TESS_HERE
TESS_INLINE v_i32 v_dot_load_here(const void *p) {
    v_i32 v;
#if TESS_VECTOR_BYTES == 64
    __asm__ volatile("vmovdqu32 %1, %0" : "=v"(v) : "m"(*(const v_i32_anywhere *)p));
#else
    __asm__ volatile("vmovdqu %1, %0" : "=x"(v) : "m"(*(const v_i32_anywhere *)p));
#endif
    return v;
}
TESS_INLINE v_i32 v_dot_all_here(const int32_t *p) {
    v_i32 v;
    __asm__ volatile("vpbroadcastd %1, %0" : "=v"(v) : "m"(*p));
    return v;
}
#else
TESS_INLINE v_i32 v_dot_load_here(const void *p) { return v_i32_load(p); }
TESS_INLINE v_i32 v_dot_all_here(const int32_t *p) { return (v_i32){0} + *p; }
#endif

/* Byte i of the result is p[picks[i]], for the TESS_DOT_PICKS bytes of picks and the lanes that a vector has. The places of lane q + 4 are those of lane q,
 * 4 elements further on, and those of four lanes stand within 16 bytes. Up to 64 bytes at p are read. */
enum { TESS_DOT_PICKS = 64 };
TESS_INLINE v_i32 v_dot_pick_here(const char *p, const uint8_t *picks) {
#if TESS_HERE && TESS_VECTOR_BYTES == 64
    v_i32 v;
    __asm__ volatile("vpermb %1, %2, %0" : "=v"(v) : "m"(*(const v_i32_anywhere *)p), "v"(v_bytes_load(picks)));
    return v;
#elif TESS_HERE
    const __m256i lanes = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)picks));
    __m256i v;
    __asm__ volatile("vmovdqu %1, %x0\n\tvinserti128 $1, %2, %0, %0\n\tvpshufb %3, %0, %0"
                     : "=&x"(v)
                     : "m"(*(const x_bytes_anywhere *)p), "m"(*(const x_bytes_anywhere *)(p + picks[16])), "x"(lanes));
    return (v_i32)v;
#elif (defined(__SSE2__) || defined(__ARM_NEON)) && TESS_VECTOR_BYTES == 16 && !TESS_SANITIZED
    uint64_t first, second; /* without dot4: two numbers of 16 bits a lane */
    memcpy(&first, p, 8);
    memcpy(&second, p + picks[2], 8);
    return (v_i32)x_zip_low(2, (x_bytes)(v_u64){first, 0}, (x_bytes)(v_u64){second, 0});
#else
    v_bytes v;
    for (int i = 0; i < TESS_VECTOR_BYTES; i++)
        v[i] = ((const uint8_t *)p)[picks[i]];
    return (v_i32)v;
#endif
}

/* *acc += the sum over each lane's four bytes of x (unsigned) times w (signed). */
TESS_INLINE void v_dot4_fma_here(v_i32 *acc, v_i32 x, v_i32 w) {
#if defined(__AVX512VNNI__) && TESS_HERE
    __asm__ volatile("vpdpbusd %2, %1, %0" : "+v"(*acc) : "v"(x), "v"(w));
#elif defined(__AVX512VNNI__)
    *acc = (v_i32)_mm512_dpbusd_epi32((__m512i)*acc, (__m512i)x, (__m512i)w);
#elif defined(__AVX2__) && TESS_HERE
    v_i32 pairs;
    __asm__ volatile("vpmaddubsw %3, %2, %1\n\tvpmaddwd %4, %1, %1\n\tvpaddd %1, %0, %0"
                     : "+x"(*acc), "=&x"(pairs)
                     : "x"(x), "x"(w), "x"((v_i32){0} + 0x00010001));
#elif defined(__AVX2__)
    *acc = (v_i32)_mm256_add_epi32((__m256i)*acc, _mm256_madd_epi16(_mm256_maddubs_epi16((__m256i)x, (__m256i)w), _mm256_set1_epi16(1)));
#else
    for (int i = 0; i < TESS_F32_LANES; i++) {
        uint32_t sum = (uint32_t)(*acc)[i];
        for (int k = 0; k < 4; k++)
            sum += (uint32_t)((int32_t)(uint8_t)((uint32_t)x[i] >> 8 * k) * (int8_t)((uint32_t)w[i] >> 8 * k));
        (*acc)[i] = (int32_t)sum;
    }
#endif
}

/* *acc += the sum over each lane's two 16-bit numbers of x times w, both signed. */
TESS_INLINE void v_dot2_fma_here(v_i32 *acc, v_i32 x, v_i32 w) {
#if defined(__AVX512VNNI__) && TESS_HERE
    __asm__ volatile("vpdpwssd %2, %1, %0" : "+v"(*acc) : "v"(x), "v"(w));
#elif defined(__AVX512VNNI__)
    *acc = (v_i32)_mm512_dpwssd_epi32((__m512i)*acc, (__m512i)x, (__m512i)w);
#elif defined(__AVX2__) && TESS_HERE
    v_i32 pairs;
    __asm__ volatile("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0" : "+x"(*acc), "=&x"(pairs) : "x"(x), "x"(w));
#elif defined(__AVX2__)
    *acc = (v_i32)_mm256_add_epi32((__m256i)*acc, _mm256_madd_epi16((__m256i)x, (__m256i)w));
#elif defined(__SSE2__)
    *acc = (v_i32)_mm_add_epi32((__m128i)*acc, _mm_madd_epi16((__m128i)x, (__m128i)w));
#elif defined(__aarch64__)
    const int16x8_t a = (int16x8_t)x, b = (int16x8_t)w;
    const int32x4_t low = vmull_s16(vget_low_s16(a), vget_low_s16(b)), high = vmull_s16(vget_high_s16(a), vget_high_s16(b));
    *acc = (v_i32)vaddq_s32((int32x4_t)*acc, vpaddq_s32(low, high));
#else
    for (int i = 0; i < TESS_F32_LANES; i++) {
        uint32_t sum = (uint32_t)(*acc)[i];
        for (int k = 0; k < 2; k++)
            sum += (uint32_t)((int32_t)(int16_t)((uint32_t)x[i] >> 16 * k) * (int16_t)((uint32_t)w[i] >> 16 * k));
        (*acc)[i] = (int32_t)sum;
    }
#endif
}

/* ---- four vectors of sums as small integers, saturated, in the order of memory ---- */

TESS_INLINE int32_t tess_clamp32(int32_t x, int32_t low, int32_t high) { return x < low ? low : x > high ? high : x; }

/* Where output `i` of four vectors of sums stands: four phases of one block, two phases of two blocks, or one of four. */
TESS_INLINE int tess_dot_lane(const int phases, int i) {
    const int block = phases * TESS_F32_LANES, at = i % block;
    return (i / block * phases + at % phases) * TESS_F32_LANES + at / phases;
}

/* The four vectors in memory: an array that is indexed by a variable would keep them there for ever. */
TESS_INLINE void tess_dot_sums(int32_t *sums, const v_i32 *acc) {
    for (int k = 0; k < 4; k++)
        memcpy(sums + k * TESS_F32_LANES, &acc[k], sizeof acc[k]);
}

#if TESS_VECTOR_BYTES >= 32
#if TESS_VECTOR_BYTES == 64
typedef __m512i tess_whole;
#define TESS_WHOLE(word) _mm512_##word
TESS_INLINE tess_whole tess_in_every_lane(x_bytes order) { return _mm512_broadcast_i32x4((__m128i)order); }
#else
typedef __m256i tess_whole;
#define TESS_WHOLE(word) _mm256_##word
TESS_INLINE tess_whole tess_in_every_lane(x_bytes order) { return _mm256_broadcastsi128_si256((__m128i)order); }
#endif

/* Four phases of bytes: packing puts four sums of every phase into each 16-byte lane, in which they belong. */
TESS_INLINE v_bytes tess_phases4(tess_whole ac, tess_whole bd, bool is_signed) {
    const x_bytes order = {0, 8, 4, 12, 1, 9, 5, 13, 2, 10, 6, 14, 3, 11, 7, 15};
    const tess_whole packed = is_signed ? TESS_WHOLE(packs_epi16)(ac, bd) : TESS_WHOLE(packus_epi16)(ac, bd);
    return (v_bytes)TESS_WHOLE(shuffle_epi8)(packed, tess_in_every_lane(order));
}
/* Two phases of 16 bits. */
TESS_INLINE tess_whole tess_phases2(v_i32 a, v_i32 b, bool is_signed) {
    const x_bytes order = {0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15};
    const tess_whole packed =
        is_signed ? TESS_WHOLE(packs_epi32)((tess_whole)a, (tess_whole)b) : TESS_WHOLE(packus_epi32)((tess_whole)a, (tess_whole)b);
    return TESS_WHOLE(shuffle_epi8)(packed, tess_in_every_lane(order));
}
/* What stands in the lanes of a and b, alternately: lane 0 of a, lane 0 of b, lane 1 of a ... in two vectors. */
TESS_INLINE void tess_alternate_lanes(v_bytes *to, tess_whole a, tess_whole b) {
#if TESS_VECTOR_BYTES == 64
    to[0] = (v_bytes)_mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), b);
    to[1] = (v_bytes)_mm512_permutex2var_epi64(a, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), b);
#else
    to[0] = (v_bytes)_mm256_permute2x128_si256(a, b, 0x20);
    to[1] = (v_bytes)_mm256_permute2x128_si256(a, b, 0x31);
#endif
}

/* Four vectors of 32 bits whose lanes are in order, each lane's 16 bytes of the result holding 4 bytes of each of them. */
TESS_INLINE v_bytes tess_lanes_in_order(tess_whole packed) {
#if TESS_VECTOR_BYTES == 64
    return (v_bytes)_mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), packed);
#else
    return (v_bytes)_mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
#endif
}
/* The same for two vectors of pairs of 8 bytes. */
TESS_INLINE v_bytes tess_halves_in_order(tess_whole packed) {
#if TESS_VECTOR_BYTES == 64
    return (v_bytes)_mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), packed);
#else
    return (v_bytes)_mm256_permute4x64_epi64(packed, 0xd8);
#endif
}

/* One vector of 8-bit outputs. */
TESS_INLINE v_bytes tess_dot_to_8(const int phases, const v_i32 *acc, bool is_signed) {
    if (phases == 1) {
        const tess_whole a = TESS_WHOLE(packs_epi32)((tess_whole)acc[0], (tess_whole)acc[1]);
        const tess_whole b = TESS_WHOLE(packs_epi32)((tess_whole)acc[2], (tess_whole)acc[3]);
        return tess_lanes_in_order(is_signed ? TESS_WHOLE(packs_epi16)(a, b) : TESS_WHOLE(packus_epi16)(a, b));
    }
    if (phases == 4)
        return tess_phases4(TESS_WHOLE(packs_epi32)((tess_whole)acc[0], (tess_whole)acc[2]),
                            TESS_WHOLE(packs_epi32)((tess_whole)acc[1], (tess_whole)acc[3]), is_signed);
    const tess_whole a = tess_phases2(acc[0], acc[1], true), b = tess_phases2(acc[2], acc[3], true);
    return tess_halves_in_order(is_signed ? TESS_WHOLE(packs_epi16)(a, b) : TESS_WHOLE(packus_epi16)(a, b));
}
/* Two vectors of 16-bit outputs. */
TESS_INLINE void tess_dot_to_16(const int phases, const v_i32 *acc, bool is_signed, v_bytes *to) {
    if (phases == 1) {
        for (int k = 0; k < 2; k++) {
            const tess_whole a = (tess_whole)acc[2 * k], b = (tess_whole)acc[2 * k + 1];
            to[k] = tess_halves_in_order(is_signed ? TESS_WHOLE(packs_epi32)(a, b) : TESS_WHOLE(packus_epi32)(a, b));
        }
        return;
    }
    if (phases == 2) {
        to[0] = (v_bytes)tess_phases2(acc[0], acc[1], is_signed);
        to[1] = (v_bytes)tess_phases2(acc[2], acc[3], is_signed);
        return;
    }
    const tess_whole ab = tess_phases2(acc[0], acc[1], is_signed), cd = tess_phases2(acc[2], acc[3], is_signed);
    tess_alternate_lanes(to, TESS_WHOLE(unpacklo_epi32)(ab, cd), TESS_WHOLE(unpackhi_epi32)(ab, cd));
}
#undef TESS_WHOLE
#else
TESS_INLINE v_bytes tess_dot_to_8(const int phases, const v_i32 *acc, bool is_signed) {
    int32_t sums[4 * TESS_F32_LANES];
    v_bytes v;
#if defined(__SSE2__)
    if (phases == 1) {
        const __m128i a = _mm_packs_epi32((__m128i)acc[0], (__m128i)acc[1]), b = _mm_packs_epi32((__m128i)acc[2], (__m128i)acc[3]);
        return (v_bytes)(is_signed ? _mm_packs_epi16(a, b) : _mm_packus_epi16(a, b));
    }
#endif
    tess_dot_sums(sums, acc);
    for (int i = 0; i < TESS_VECTOR_BYTES; i++)
        v[i] = (uint8_t)tess_clamp32(sums[tess_dot_lane(phases, i)], is_signed ? -128 : 0, is_signed ? 127 : 255);
    return v;
}
TESS_INLINE void tess_dot_to_16(const int phases, const v_i32 *acc, bool is_signed, v_bytes *to) {
    int32_t sums[4 * TESS_F32_LANES];
    tess_dot_sums(sums, acc);
    for (int i = 0; i < TESS_VECTOR_BYTES; i++) {
        const uint16_t x = (uint16_t)tess_clamp32(sums[tess_dot_lane(phases, i)], is_signed ? -32768 : 0, is_signed ? 32767 : 65535);
        memcpy((char *)to + 2 * i, &x, 2);
    }
}
#endif

#endif
