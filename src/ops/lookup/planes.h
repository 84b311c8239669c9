/* SPDX-License-Identifier: Apache-2.0
 * planes.h - a table of 256 entries in registers, one plane of 256 bytes for each byte of an entry (AVX-512 VBMI); included by cpu_bytes.c.
 *
 * A lookup of 64 indices is two permutes of two registers and a blend a plane. Indices of 2, 4 and 8 bytes are checked, made bytes and used in one pass: where
 * a pass of its own made bytes of 1024, memory was only read in the one and only written in the other. */
#ifndef TESS_OPS_LOOKUP_PLANES_H
#define TESS_OPS_LOOKUP_PLANES_H

#include "core/maker.h"
#include "simd/lanes.h"

#if defined(__AVX512VBMI__)
TESS_INLINE void put(char *out, __m512i v, bool stream) {
    if (stream)
        v_bytes_stream(out, (v_bytes)v);
    else
        v_bytes_store(out, (v_bytes)v);
}

/* One plane: bytes 0..127 from the first two registers, 128..255 from the others, chosen by the index's top bit. */
TESS_INLINE __m512i plane_look_up(const __m512i *r, __m512i index) {
    __m512i low = _mm512_permutex2var_epi8(r[0], index, r[1]), high = _mm512_permutex2var_epi8(r[2], index, r[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), low, high);
}

/* 64 indices of `width` bytes as bytes, in order or with 4 x 4 groups of four transposed; false when one of 2 bytes or more is above `last`, at most 255. Packing takes 16 bytes of
 * each source in turns: of four vectors it leaves the groups transposed. */
TESS_INLINE bool bytes_of(__m512i *bytes, const char *at, const int width, unsigned last, const bool transposed) {
    const __m512i swap = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    __m512i v[4];
    if (width == 1) {
        v[0] = _mm512_loadu_si512(at);
        *bytes = transposed ? _mm512_permutexvar_epi32(swap, v[0]) : v[0];
        return true;
    }
    if (width == 2) {
        const __m512i order = _mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0), both = _mm512_set_epi32(15, 7, 13, 5, 14, 6, 12, 4, 11, 3, 9, 1, 10, 2, 8, 0);
        v[0] = _mm512_loadu_si512(at);
        v[1] = _mm512_loadu_si512(at + 64);
        const __m512i packed = _mm512_packus_epi16(v[0], v[1]);
        *bytes = transposed ? _mm512_permutexvar_epi32(both, packed) : _mm512_permutexvar_epi64(order, packed);
        return _mm512_cmpgt_epu16_mask(_mm512_max_epu16(v[0], v[1]), _mm512_set1_epi16((int16_t)last)) == 0;
    }
    bool inside;
    if (width == 4) {
        for (int k = 0; k < 4; k++)
            v[k] = _mm512_loadu_si512(at + 64 * k);
        const __m512i most = _mm512_max_epu32(_mm512_max_epu32(v[0], v[1]), _mm512_max_epu32(v[2], v[3]));
        inside = _mm512_cmpgt_epu32_mask(most, _mm512_set1_epi32((int32_t)last)) == 0;
    } else {
        const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
        __m512i most = _mm512_setzero_si512();
        for (int k = 0; k < 4; k++) {
            const __m512i a = _mm512_loadu_si512(at + 128 * k), b = _mm512_loadu_si512(at + 128 * k + 64);
            most = _mm512_max_epu64(most, _mm512_max_epu64(a, b));
            v[k] = _mm512_permutex2var_epi32(a, even, b);
        }
        inside = _mm512_cmpgt_epu64_mask(most, _mm512_set1_epi64(last)) == 0;
    }
    const __m512i packed = _mm512_packus_epi16(_mm512_packus_epi32(v[0], v[1]), _mm512_packus_epi32(v[2], v[3]));
    *bytes = transposed ? packed : _mm512_permutexvar_epi32(swap, packed);
    return inside;
}

/* Where lines of indices are asked for: in L2, in L1, or in L1 and past L2 when they leave it (Zen 5). How far ahead, in bytes: of its L1 of 48 KiB nearly half (f32[256] by i32, 8, 16, 20,
 * 24, 32 KiB 90 to 94, 92 to 95, 93 to 95, 95, 90 to 95 % of a copy, 8 KiB in L1 87 to 90); 8 bytes an index, which are read at twice the rate, 8 KiB as before. */
typedef enum { ASK_L2, ASK_L1, ASK_ONCE } asked;
TESS_INLINE asked asked_for(bool stream) { return tess_cpu_gathers() ? ASK_L2 : stream && tess_cpu_is_zen5() ? ASK_ONCE : ASK_L1; }
TESS_INLINE int64_t asked_ahead(int width, asked how) {
    if (how == ASK_L1 && tess_cpu_is_zen5())
        return 8192;
    return how == ASK_ONCE ? (width == 8 ? 8192 : 20480) : how == ASK_L1 && width == 1 ? 4096 : 2048;
}

/* A part of the lines of 64 indices is asked for, before each line that is written: memory is read and written in turns. */
TESS_INLINE void ask(const char *ahead, const int width, const int part, const int parts, asked how) {
    for (int line = part * width / parts; line < (part + 1) * width / parts; line++)
        if (how == ASK_ONCE)
            __builtin_prefetch(ahead + 64 * line, 0, 0);
        else if (how == ASK_L1)
            tess_prefetch_l1(ahead + 64 * line);
        else
            tess_prefetch_l2(ahead + 64 * line);
}

/* Whole groups of 64 indices, until one has an index above `last`; returns how many indices were done. Planes of 2- and 4-byte entries are interleaved inside
 * 16-byte lanes, so the index is put in the order that comes out right. */
TESS_INLINE int64_t planes_look_up(const int size, const int width, char *out, const char *index, int64_t count, const unsigned char (*plane)[256],
                                   unsigned last, bool stream, asked how) {
    __m512i r[4][4];
    for (int b = 0; b < size; b++)
        for (int k = 0; k < 4; k++)
            r[b][k] = _mm512_load_si512(plane[b] + 64 * k);
    const __m512i quads = _mm512_set_epi64(7, 3, 6, 2, 5, 1, 4, 0);
    const char *ahead = index + asked_ahead(width, how);
    int64_t i = 0;
    for (; i + 64 <= count; i += 64) {
        __m512i at;
        if (!bytes_of(&at, index + i * width, width, last, size == 4))
            break;
        if (size == 1) {
            ask(ahead + i * width, width, 0, 1, how);
            put(out + i, plane_look_up(r[0], at), stream);
        } else if (size == 2) {
            at = _mm512_permutexvar_epi64(quads, at);
            __m512i a = plane_look_up(r[0], at), b = plane_look_up(r[1], at);
            ask(ahead + i * width, width, 0, 2, how);
            put(out + 2 * i, _mm512_unpacklo_epi8(a, b), stream);
            ask(ahead + i * width, width, 1, 2, how);
            put(out + 2 * i + 64, _mm512_unpackhi_epi8(a, b), stream);
        } else {
            __m512i a = plane_look_up(r[0], at), b = plane_look_up(r[1], at), c = plane_look_up(r[2], at), d = plane_look_up(r[3], at);
            __m512i ab = _mm512_unpacklo_epi8(a, b), cd = _mm512_unpacklo_epi8(c, d), ab2 = _mm512_unpackhi_epi8(a, b),
                    cd2 = _mm512_unpackhi_epi8(c, d);
            ask(ahead + i * width, width, 0, 4, how);
            put(out + 4 * i, _mm512_unpacklo_epi16(ab, cd), stream);
            ask(ahead + i * width, width, 1, 4, how);
            put(out + 4 * i + 64, _mm512_unpackhi_epi16(ab, cd), stream);
            ask(ahead + i * width, width, 2, 4, how);
            put(out + 4 * i + 128, _mm512_unpacklo_epi16(ab2, cd2), stream);
            ask(ahead + i * width, width, 3, 4, how);
            put(out + 4 * i + 192, _mm512_unpackhi_epi16(ab2, cd2), stream);
        }
    }
    return i;
}

#define PLANES(size)                                                                                                                      \
    static int64_t planes_##size(int width, char *out, const char *index, int64_t count, const unsigned char(*plane)[256], unsigned last, \
                                 bool stream, asked how) {                                                                                \
        switch (width) {                                                                                                                  \
        case 1: return planes_look_up(size, 1, out, index, count, plane, last, stream, how);                                              \
        case 2: return planes_look_up(size, 2, out, index, count, plane, last, stream, how);                                              \
        case 4: return planes_look_up(size, 4, out, index, count, plane, last, stream, how);                                              \
        default: return planes_look_up(size, 8, out, index, count, plane, last, stream, how);                                             \
        }                                                                                                                                 \
    }
PLANES(1)
PLANES(2)
PLANES(4)
#undef PLANES
#endif

#endif
