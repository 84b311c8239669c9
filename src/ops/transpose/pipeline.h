/* SPDX-License-Identifier: Apache-2.0
 * pipeline.h - blocks whose lines go past the caches, M tiles at a time: while those are turned, the lines of the M before them go to memory.
 *
 * A processor stores in order and holds few stores that wait. In a tile of many lines, and in a buffer that is filled and then emptied, lines that wait for memory hold
 * up everything behind them: the loads of the next tile, and the lines that are asked for. So M tiles below each other are turned a quarter of a tile at a
 * time, and between the quarters go lines of the tiles before, M to a row of the destination, with a line asked for beside each (simd/tile_halves.h). Where rows of
 * the destination begin anywhere, a row's last 64 bytes are kept from step to step and its whole lines shifted together in registers. Included by
 * cpu_tiles.c, whose strips, cursor and plain blocks it uses. */
#ifndef TESS_OPS_TRANSPOSE_PIPELINE_H
#define TESS_OPS_TRANSPOSE_PIPELINE_H

#include "simd/tile_halves.h"

/* into: M tiles from src on are turned and kept. kept: those that go to dst. */
#define TOGETHER(S, M)                                                                  \
    enum { AT_ONCE_##S = M, ROWS_##S = M * N_##S };                                     \
    static TESS_NOINLINE void fill_##S(char *into, const char *src, int64_t src_step) { \
        for (int g = 0; g < 4 * M; g++)                                                 \
            tile_keep(S, into + g * K_##S * 64, src + g * K_##S * src_step, src_step);  \
    }                                                                                   \
    TESS_INLINE void ask_##S(const char *const *ahead, int64_t src_step) {              \
        for (int m = 0; m < M; m++)                                                     \
            for (int64_t j = 0; j < N_##S; j++)                                         \
                tess_prefetch_l2(ahead[m] + j * src_step);                              \
    }

/* Rows of the destination that begin at lines. Small matrices come several to a call, nq of them, so that the tiles of one go on where those of the other end. */
#define PIPED(S, M)                                                                                                                  \
    static TESS_NOINLINE void drain_##S(const char *kept, char *dst, int64_t dst_step) {                                             \
        for (int r = 0; r < K_##S; r++)                                                                                              \
            tile_give(S, M, kept, r, dst, dst_step, NULL, 0);                                                                        \
    }                                                                                                                                \
    static TESS_NOINLINE void both_##S(char *into, const char *src, int64_t src_step, const char *kept, char *dst, int64_t dst_step, \
                                       const char *const *ahead) {                                                                   \
        TESS_UNROLL for (int g = 0; g < 4 * M; g++) {                                                                                \
            tile_keep(S, into + g * K_##S * 64, src + g * K_##S * src_step, src_step);                                               \
            TESS_UNROLL for (int r = g * K_##S / (4 * M); r < (g + 1) * K_##S / (4 * M); r++)                                        \
                tile_give(S, M, kept, r, dst, dst_step, ahead, src_step);                                                            \
        }                                                                                                                            \
    }                                                                                                                                \
                                                                                                                                     \
    static void piped_##S(const void *argument, const char *src, char *dst, int64_t p, int64_t np, int64_t q, int64_t nq) {          \
        const strips *s = argument;                                                                                                  \
        const int64_t count = s->matrix_p ? nq : 1;                                                                                  \
        if (s->matrix_p) {                                                                                                           \
            np = s->matrix_p;                                                                                                        \
            nq = s->q_size;                                                                                                          \
            q = 0;                                                                                                                   \
        }                                                                                                                            \
        const int64_t whole = nq / ROWS_##S * ROWS_##S;                                                                              \
        _Alignas(64) char kept[2][ROWS_##S * 64];                                                                                    \
        const char *ahead[M];                                                                                                        \
        char *to = NULL;                                                                                                             \
        cursor at = {0};                                                                                                             \
        if (np >= N_##S && whole > 0)                                                                                                \
            at = cursor_##S(s, src, np, whole);                                                                                      \
        for (int64_t m = 0, side = 0; m < count; m++, src += s->next, dst += s->next_out) {                                          \
            if (np < N_##S || whole == 0) {                                                                                          \
                direct_##S(argument, src, dst, p, np, q, nq);                                                                        \
                continue;                                                                                                            \
            }                                                                                                                        \
            for (int64_t c = 0; c < np; c += N_##S) {                                                                                \
                c = tess_min64(c, np - N_##S); /* the last strip may repeat a part of the one before */                              \
                for (int64_t r = 0; r < whole; r += ROWS_##S, side = !side) {                                                        \
                    const char *from = src + r * s->src_step + c * S;                                                                \
                    for (int k = 0; k < M; k++)                                                                                      \
                        ahead[k] = ahead_##S(&at, s, np, whole);                                                                     \
                    if (to) {                                                                                                        \
                        both_##S(kept[side], from, s->src_step, kept[!side], to, s->dst_step, ahead);                                \
                    } else {                                                                                                         \
                        ask_##S(ahead, s->src_step);                                                                                 \
                        fill_##S(kept[side], from, s->src_step);                                                                     \
                    }                                                                                                                \
                    to = dst + c * s->dst_step + r * S;                                                                              \
                }                                                                                                                    \
            }                                                                                                                        \
            if (m + 1 == count)                                                                                                      \
                drain_##S(kept[!side], to, s->dst_step);                                                                             \
            if (whole < nq)                                                                                                          \
                direct_##S(argument, src + whole * s->src_step, dst + whole * S, p, np, q + whole, nq - whole);                      \
        }                                                                                                                            \
    }

/* The same for rows of the destination that begin anywhere. The line on which two bands meet is the lower one's. */
#if TESS_SHIFTS
#define SHIFTED(S, M)                                                                                                                                                            \
    static TESS_NOINLINE void drain_shifted_##S(const char *kept, char *dst, int64_t dst_step, char *before, bool begins) {                                                      \
        for (int r = 0; r < K_##S; r++)                                                                                                                                          \
            if (begins)                                                                                                                                                          \
                tile_give_shifted(S, M, true, kept, r, dst, dst_step, before, NULL, 0);                                                                                          \
            else                                                                                                                                                                 \
                tile_give_shifted(S, M, false, kept, r, dst, dst_step, before, NULL, 0);                                                                                         \
    }                                                                                                                                                                            \
    static TESS_NOINLINE void both_shifted_##S(char *into, const char *src, int64_t src_step, const char *kept, char *dst, int64_t dst_step,                                     \
                                               char *before, const char *const *ahead) {                                                                                         \
        TESS_UNROLL for (int g = 0; g < 4 * M; g++) {                                                                                                                            \
            tile_keep(S, into + g * K_##S * 64, src + g * K_##S * src_step, src_step);                                                                                           \
            TESS_UNROLL for (int r = g * K_##S / (4 * M); r < (g + 1) * K_##S / (4 * M); r++)                                                                                    \
                tile_give_shifted(S, M, false, kept, r, dst, dst_step, before, ahead, src_step);                                                                                 \
        }                                                                                                                                                                        \
    }                                                                                                                                                                            \
    /* What is left of the strip's rows after `done` of them: less than M tiles, and the last bytes of those before. begins: nothing is. stage: room for N times M + 1 lines. */ \
    static TESS_NOINLINE void rest_##S(const strips *s, const char *src, char *dst, int64_t done, int64_t nq, bool begins, const char *before,                                   \
                                       char *stage) {                                                                                                                            \
        enum { PITCH = (M + 1) * 64 };                                                                                                                                           \
        for (int j = 0; j < N_##S && !begins; j++)                                                                                                                               \
            memcpy(stage + j * PITCH, before + j * 64, 64);                                                                                                                      \
        for (int64_t r = done; r < nq; r += N_##S) {                                                                                                                             \
            r = tess_min64(r, nq - N_##S);                                                                                                                                       \
            near_tile_##S(stage + 64 + (r - done) * S, PITCH, src + r * s->src_step, s->src_step);                                                                               \
        }                                                                                                                                                                        \
        for (int64_t j = 0; j < N_##S; j++) {                                                                                                                                    \
            char *row = dst + j * s->dst_step + done * S;                                                                                                                        \
            const int64_t a = begins ? 0 : (int64_t)((uintptr_t)row & 63);                                                                                                       \
            tess_stream_copy(row - a, stage + j * PITCH + 64 - a, a + (nq - done) * S);                                                                                          \
        }                                                                                                                                                                        \
    }                                                                                                                                                                            \
                                                                                                                                                                                 \
    static void shifted_##S(const void *argument, const char *src, char *dst, int64_t p, int64_t np, int64_t q, int64_t nq) {                                                    \
        const strips *s = argument;                                                                                                                                              \
        const bool first = q == 0, last = q + nq == s->q_size;                                                                                                                   \
        const int64_t above = first ? 0 : N_##S, whole = nq / ROWS_##S * ROWS_##S, rows = tess_max64(N_##S, above + whole);                                                      \
        _Alignas(64) char kept[2][ROWS_##S * 64], before[2][N_##S * 64]; /* of this strip and, as it still goes to memory, the one to the left */                                \
        const char *ahead[M];                                                                                                                                                    \
        char *to = NULL;                                                                                                                                                         \
        (void)p;                                                                                                                                                                 \
        if (np < N_##S || nq < N_##S) {                                                                                                                                          \
            narrow_##S(s, src, dst, np, nq);                                                                                                                                     \
            return;                                                                                                                                                              \
        }                                                                                                                                                                        \
        cursor at = cursor_##S(s, src - above * s->src_step, np, rows);                                                                                                          \
        int side = 0, strip = 0;                                                                                                                                                 \
        bool begins = false;                                                                                                                                                     \
        for (int64_t c = 0; c < np; c += N_##S, strip = !strip) {                                                                                                                \
            c = tess_min64(c, np - N_##S);                                                                                                                                       \
            const char *from = src + c * S;                                                                                                                                      \
            if (!first) {                                                                                                                                                        \
                ahead[0] = ahead_##S(&at, s, np, rows);                                                                                                                          \
                for (int64_t j = 0; j < N_##S; j++)                                                                                                                              \
                    tess_prefetch_l2(ahead[0] + j * s->src_step);                                                                                                                \
                for (int g = 0; g < 4; g++)                                                                                                                                      \
                    tile_keep(S, kept[side] + g * K_##S * 64, from - (N_##S - g * K_##S) * s->src_step, s->src_step);                                                            \
                for (int r = 0; r < K_##S; r++)                                                                                                                                  \
                    tile_before(S, kept[side], r, before[strip]);                                                                                                                \
            }                                                                                                                                                                    \
            for (int64_t r = 0; r < whole; r += ROWS_##S, side = !side) {                                                                                                        \
                char *const others = before[r == 0 ? !strip : strip];                                                                                                            \
                for (int m = 0; m < M; m++)                                                                                                                                      \
                    ahead[m] = ahead_##S(&at, s, np, rows);                                                                                                                      \
                if (to && !begins) {                                                                                                                                             \
                    both_shifted_##S(kept[side], from + r * s->src_step, s->src_step, kept[!side], to, s->dst_step, others, ahead);                                              \
                } else {                                                                                                                                                         \
                    if (to)                                                                                                                                                      \
                        drain_shifted_##S(kept[!side], to, s->dst_step, others, true);                                                                                           \
                    ask_##S(ahead, s->src_step);                                                                                                                                 \
                    fill_##S(kept[side], from + r * s->src_step, s->src_step);                                                                                                   \
                }                                                                                                                                                                \
                to = dst + c * s->dst_step + r * S;                                                                                                                              \
                begins = first && r == 0;                                                                                                                                        \
            }                                                                                                                                                                    \
            if (last) {                                                                                                                                                          \
                if (to)                                                                                                                                                          \
                    drain_shifted_##S(kept[!side], to, s->dst_step, before[strip], begins);                                                                                      \
                to = NULL;                                                                                                                                                       \
                rest_##S(s, from, dst + c * s->dst_step, whole, nq, first && whole == 0, before[strip], &kept[0][0]);                                                            \
            }                                                                                                                                                                    \
        }                                                                                                                                                                        \
        if (to)                                                                                                                                                                  \
            drain_shifted_##S(kept[!side], to, s->dst_step, before[!strip], begins);                                                                                             \
    }
#else
#define SHIFTED(S, M)
#endif

#endif
