/* SPDX-License-Identifier: Apache-2.0
 * tile.h - transposing a square of 64 bytes x 64 bytes / S rows in registers, for elements of S bytes; included by the cpu_*.c files that need it.
 *
 *     source, N = 64 / S rows of one cache line           destination, N lines
 *     | a0 a1 .. aN |                                      | a0 b0 .. |
 *     | b0 b1 .. bN |   rows `src_step` apart      ->      | a1 b1 .. |   `dst_step` apart
 *
 * Inside 16-byte lanes K = 16 / S rows are transposed by log2 K levels of interleaving row i with row i + K / 2: each level rotates the bits of the
 * element's address by one (the perfect shuffle; Stone, "Parallel processing with the perfect shuffle", IEEE TC 1971). Then the lanes of four such
 * groups are exchanged, which makes whole lines: only those can be stored past the caches. */
#ifndef TESS_SIMD_TILE_H
#define TESS_SIMD_TILE_H

#include "simd/lanes.h"

/* All turns written out, so that a tile is registers and no array: gcc leaves it in memory at -O2 (the baseline, four to seven times as slow). With the 16 registers
 * of AVX2 groups one after the other spill less (f32 0.84 ns a line in the caches in place of 1.15), and at -O3 gcc writes out what it needs there. */
#if TESS_VECTOR_BYTES == 32
#define TILE_UNROLL
#else
#define TILE_UNROLL TESS_UNROLL
#endif

/* ahead: where the rows lie (src_step apart) whose lines are wanted soon, or NULL. beside: each is asked for beside a line that is stored. What goes to memory
 * gains by that, for asked for all at once, between the loads, the lines leave memory with nothing to read while it writes. */
TESS_INLINE void tile_generic(const int S, char *dst, int64_t dst_step, const char *src, int64_t src_step, const char *ahead, bool stream,
                              bool beside) {
    const int K = 16 / S;
    for (int c = 0; c < 64; c += TESS_VECTOR_BYTES) {
        v_bytes t[4][16];
        TILE_UNROLL for (int g = 0; g < 4; g++) {
            TILE_UNROLL for (int k = 0; k < K; k++) {
                t[g][k] = v_bytes_load(src + (g * K + k) * src_step + c);
                if (c == 0 && ahead && !beside)
                    tess_prefetch_l2(ahead + (g * K + k) * src_step);
            }
            TILE_UNROLL for (int level = 1; level < K; level *= 2) {
                v_bytes n[16];
                TILE_UNROLL for (int i = 0; i < K / 2; i++) {
                    n[2 * i] = v_zip_low(S, t[g][i], t[g][i + K / 2]);
                    n[2 * i + 1] = v_zip_high(S, t[g][i], t[g][i + K / 2]);
                }
                TILE_UNROLL for (int i = 0; i < K; i++) t[g][i] = n[i];
            }
        }
        TILE_UNROLL for (int r = 0; r < K; r++) {
            v_bytes from[4] = {t[0][r], t[1][r], t[2][r], t[3][r]}, line[4];
            v_lanes_to_lines(line, from);
            TILE_UNROLL for (int l = 0; l < TESS_LANES; l++) {
                if (ahead && beside)
                    tess_prefetch_l2(ahead + ((c / 16 + l) * K + r) * src_step);
                TILE_UNROLL for (int part = 0; part < 4 / TESS_LANES; part++) {
                    char *to = dst + ((c / 16 + l) * K + r) * dst_step + part * TESS_VECTOR_BYTES;
                    if (stream)
                        v_bytes_stream(to, line[l * (4 / TESS_LANES) + part]);
                    else
                        v_bytes_store(to, line[l * (4 / TESS_LANES) + part]);
                }
            }
        }
    }
}

/* The same for K x K elements in one lane: what fits matrices and edges too narrow for a whole tile. */
TESS_INLINE void small_tile_generic(const int S, char *dst, int64_t dst_step, const char *src, int64_t src_step) {
    const int K = 16 / S;
    x_bytes t[16];
    for (int k = 0; k < K; k++)
        t[k] = x_bytes_load(src + k * src_step);
    for (int level = 1; level < K; level *= 2) {
        x_bytes n[16];
        for (int i = 0; i < K / 2; i++) {
            n[2 * i] = x_zip_low(S, t[i], t[i + K / 2]);
            n[2 * i + 1] = x_zip_high(S, t[i], t[i + K / 2]);
        }
        for (int i = 0; i < K; i++)
            t[i] = n[i];
    }
    for (int k = 0; k < K; k++)
        x_bytes_store(dst + k * dst_step, t[k]);
}

/* A copy out of line for each element size. ALWAYS: lines are asked for beside stores, also of plain ones. */
#define TILE_OF(S, ALWAYS)                                                                                                               \
    static TESS_NOINLINE void tile_##S(char *dst, int64_t dst_step, const char *src, int64_t src_step, const char *ahead, bool stream) { \
        tile_generic(S, dst, dst_step, src, src_step, ahead, stream, stream || ALWAYS);                                                  \
    }

/* One that only turns, for what lies in the caches. */
#define NEAR_TILE_OF(S)                                                                                       \
    static TESS_NOINLINE void near_tile_##S(char *dst, int64_t dst_step, const char *src, int64_t src_step) { \
        tile_generic(S, dst, dst_step, src, src_step, NULL, false, false);                                    \
    }

#endif
