/* SPDX-License-Identifier: Apache-2.0
 * tile_halves.h - the tile of tile.h in two halves, so that the lines of one tile go to memory while another one is turned.
 *
 * The first half turns K = 16 / S rows of one line within 16-byte lanes and keeps them; the second half makes whole lines of the lanes of four such groups.
 * What a tile with elements of 1 or 2 bytes holds does not fit the registers, and each spill waits in the queue of stores behind the lines on their way to
 * memory: tiles done in one go read and write in turns. A caller that does a quarter of one tile's first half, then a quarter of the other's second half,
 * has both all the time.
 *
 *     kept: M tiles below each other, 4 groups each       row j = l K + r of the destination, M lines
 *     group 0, k = 0: | lane 0 | lane 1 | .. |            | group 0 | group 1 | group 2 | group 3 |  lane l of vectors r
 *     group 0, k = 1: ...                                 (of each tile)
 */
#ifndef TESS_SIMD_TILE_HALVES_H
#define TESS_SIMD_TILE_HALVES_H

#include "simd/tile.h"

/* K rows, src_step apart, are kept as K lines. */
TESS_INLINE void tile_keep(const int S, char *kept, const char *src, int64_t src_step) {
    const int K = 16 / S;
    for (int c = 0; c < 64; c += TESS_VECTOR_BYTES) {
        v_bytes t[16];
        TESS_UNROLL for (int k = 0; k < K; k++) t[k] = v_bytes_load(src + k * src_step + c);
        TESS_UNROLL for (int level = 1; level < K; level *= 2) {
            v_bytes n[16];
            TESS_UNROLL for (int i = 0; i < K / 2; i++) {
                n[2 * i] = v_zip_low(S, t[i], t[i + K / 2]);
                n[2 * i + 1] = v_zip_high(S, t[i], t[i + K / 2]);
            }
            TESS_UNROLL for (int i = 0; i < K; i++) t[i] = n[i];
        }
        TESS_UNROLL for (int k = 0; k < K; k++) v_bytes_store(kept + k * 64 + c, t[k]);
    }
}

/* Vectors r of four groups of each of M tiles, from byte c of the lines on, as TESS_LANES lines a tile. */
TESS_INLINE void tile_lines(const int S, const int M, v_bytes line[4][4], const char *kept, int r, int c) {
    const int K = 16 / S;
    TESS_UNROLL for (int m = 0; m < M; m++) {
        v_bytes from[4];
        TESS_UNROLL for (int g = 0; g < 4; g++) from[g] = v_bytes_load(kept + ((m * 4 + g) * K + r) * 64 + c);
        v_lanes_to_lines(line[m], from);
    }
}

/* Rows r, K + r, .. 3 K + r of the destination are given M lines each, past the caches; they begin at lines there. ahead: one tile's rows for each of the M,
 * whose lines are wanted soon, or NULL. */
TESS_INLINE void tile_give(const int S, const int M, const char *kept, int r, char *dst, int64_t dst_step, const char *const *ahead,
                           int64_t src_step) {
    for (int c = 0; c < 64; c += TESS_VECTOR_BYTES) {
        v_bytes line[4][4];
        tile_lines(S, M, line, kept, r, c);
        TESS_UNROLL for (int l = 0; l < TESS_LANES; l++) {
            const int j = (c / 16 + l) * (16 / S) + r;
            TESS_UNROLL for (int m = 0; m < M; m++) {
                if (ahead)
                    tess_prefetch_l2(ahead[m] + j * src_step);
                TESS_UNROLL for (int part = 0; part < 4 / TESS_LANES; part++)
                    v_bytes_stream(dst + j * dst_step + m * 64 + part * TESS_VECTOR_BYTES, line[m][l * (4 / TESS_LANES) + part]);
            }
        }
    }
}

#if defined(__AVX512VBMI__)
#define TESS_SHIFTS 1

/* Byte i is i: 64 of them from 64 - a on choose, of two lines, the one line that begins a bytes before the second. */
static const uint8_t tess_ascending[128] = {
#define EIGHT(x) x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6, x + 7
    EIGHT(0),  EIGHT(8),  EIGHT(16), EIGHT(24), EIGHT(32), EIGHT(40),  EIGHT(48),  EIGHT(56),
    EIGHT(64), EIGHT(72), EIGHT(80), EIGHT(88), EIGHT(96), EIGHT(104), EIGHT(112), EIGHT(120)};
#undef EIGHT

/* tile_give for rows that begin anywhere: each is given the M lines that begin in the line before, whose 64 bytes are row j of `before`, and leaves its last 64
 * bytes there. begins: nothing of the row is before these tiles. */
TESS_INLINE void tile_give_shifted(const int S, const int M, const bool begins, const char *kept, int r, char *dst, int64_t dst_step, char *before,
                                   const char *const *ahead, int64_t src_step) {
    v_bytes line[4][4];
    tile_lines(S, M, line, kept, r, 0);
    TESS_UNROLL for (int l = 0; l < 4; l++) {
        const int j = l * (16 / S) + r;
        char *to = dst + j * dst_step;
        const int64_t a = (int64_t)((uintptr_t)to & 63);
        const __m512i at = _mm512_loadu_si512(tess_ascending + 64 - a);
        __m512i low = _mm512_load_si512(before + j * 64);
        TESS_UNROLL for (int m = 0; m < M; m++) {
            const __m512i high = (__m512i)line[m][l], v = _mm512_permutex2var_epi8(low, at, high);
            if (ahead)
                tess_prefetch_l2(ahead[m] + j * src_step);
            if (begins && m == 0)
                _mm512_mask_storeu_epi8(to - a, ~(__mmask64)0 << a, v);
            else
                _mm512_stream_si512((void *)(to - a + m * 64), v);
            low = high;
        }
        _mm512_store_si512(before + j * 64, low);
    }
}

/* Of one tile only row j's 64 bytes, as row j of `before`. */
TESS_INLINE void tile_before(const int S, const char *kept, int r, char *before) {
    v_bytes line[4][4];
    tile_lines(S, 1, line, kept, r, 0);
    TESS_UNROLL for (int l = 0; l < 4; l++) v_bytes_store(before + (l * (16 / S) + r) * 64, line[0][l]);
}
#else
#define TESS_SHIFTS 0
#endif

#endif
