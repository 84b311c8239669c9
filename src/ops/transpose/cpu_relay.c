/* SPDX-License-Identifier: Apache-2.0
 * cpu_relay.c - large transposes in an order that memory likes, by way of two buffers in the second-level cache (AVX-512).
 *
 * Tiles straight from the source (cpu_tiles.c) ask for two lines of each of 32 rows of a band, and a Zen 5 reads 8 rows and more far apart slower than 4. So a block
 * is copied to a buffer in steps of four rows, two lines of each, and meanwhile the block before it, in the other buffer, is turned tile by tile and goes past the caches:
 *
 *     source   1 1 2 2 3 3 ..      buffer   1 1 2 2 3 3 ..      tiles of 64 bytes a side, one below the other; for each line that is
 *              1 1 2 2 3 3 ..   ->          1 1 2 2 3 3 ..      stored past the caches one of the next block is copied, and one is
 *              1 1 2 2 3 3 ..               (rows no power      asked for that is copied AHEAD steps later
 *              1 1 2 2 3 3 ..                of two apart)
 *
 * Blocks follow each other along the rows, then band by band, from matrix to matrix. Orders without any work were timed beside a copy: notes-cpu.md. */
#include "ops/transpose/relay.h"

#include "core/parallel.h"
#include "simd/lanes.h"

#if TESS_VECTOR_BYTES == 64

transpose_turn TESS_ISA_NAME(tess_transpose_turn);

/* A step: so many rows, and bytes of each. AHEAD: steps to the one whose lines are asked for, 8 KiB of the first-level cache. */
enum { ROWS = 4, PIECE = 128, STEP = ROWS * PIECE / 64 /* lines */, AHEAD = 16 };

typedef struct relay {
    const char *in;
    char *out;
    const transpose_plane *plane;
    int64_t size, rows, bands, across, width; /* of a matrix: whole rows that go this way, bands of them, and bytes of each; of a block */
    char *workspace;
} relay;

/* Where a band of all matrices' begins. */
static int64_t band_at(const relay *x, int64_t k, int which) {
    const transpose_plane *plane = x->plane;
    int64_t m = k / x->bands, at = k % x->bands * RELAY_ROWS * (which == TRANSPOSE_IN ? plane->q_in : plane->q_out);
    for (int d = plane->ndim - 1; d >= 0; m /= plane->shape[d--])
        at += m % plane->shape[d] * plane->stride[which][d];
    return at;
}
static int64_t rows_of(const relay *x, int64_t k) { return tess_min64(RELAY_ROWS, x->rows - k % x->bands * RELAY_ROWS); }

/* Four rows of a block, from some column on; the last block of `end` is met again. */
typedef struct walk {
    const relay *x;
    const char *row;
    int64_t k, column, rows, width, r, c, end;
} walk;

static void walk_block(walk *w) {
    w->row = w->x->in + band_at(w->x, w->k, TRANSPOSE_IN) + w->column;
    w->rows = rows_of(w->x, w->k);
    w->width = tess_min64(w->x->width, w->x->across - w->column);
    w->r = w->c = 0;
}
static TESS_NOINLINE void walk_on(walk *w) {
    w->c = 0;
    w->r += ROWS;
    w->row += ROWS * w->x->plane->q_in;
    if (w->r < w->rows)
        return;
    w->column += w->width;
    if (w->column >= w->x->across) {
        w->k++;
        w->column = 0;
    }
    if (w->k < w->end) {
        walk_block(w);
    } else { /* nothing follows: the last rows again */
        w->k = w->end - 1;
        w->column = w->x->across - w->width;
        w->r -= ROWS;
        w->row -= ROWS * w->x->plane->q_in;
    }
}
TESS_INLINE void walk_step(walk *w) {
    w->c += PIECE;
    if (w->c >= w->width)
        walk_on(w);
}

/* What is turned: tiles below each other, then those to the right. */
typedef struct turned {
    const char *from;
    char *to;
    int64_t rows, width, r, c;
} turned;

#define RELAY(S)                                                                                                                                     \
    enum { N_##S = 64 / S, TILES_##S = N_##S < STEP ? STEP / N_##S : 1 };                                                                            \
                                                                                                                                                     \
    /* Some tiles of one block are turned, and as many lines of the next one copied. */                                                              \
    TESS_INLINE void turn_##S(const bool turns, const bool fills, turned *t, int64_t dst_step, walk *fill, walk *ahead, char *into,                  \
                              int64_t src_step) {                                                                                                    \
        const int K = 16 / S;                                                                                                                        \
        TESS_UNROLL for (int m = 0; m < TILES_##S; m++) {                                                                                            \
            const char *from = turns ? t->from + (t->r + m * N_##S) * RELAY_APART + t->c : NULL;                                                     \
            char *to = turns ? t->to + t->c / S * dst_step + (t->r + m * N_##S) * S : NULL;                                                          \
            v_bytes v[4][16];                                                                                                                        \
            TESS_UNROLL for (int g = 0; turns && g < 4; g++) {                                                                                       \
                TESS_UNROLL for (int k = 0; k < K; k++) v[g][k] = v_bytes_load(from + (g * K + k) * RELAY_APART);                                    \
                TESS_UNROLL for (int level = 1; level < K; level *= 2) {                                                                             \
                    v_bytes n[16];                                                                                                                   \
                    TESS_UNROLL for (int i = 0; i < K / 2; i++) {                                                                                    \
                        n[2 * i] = v_zip_low(S, v[g][i], v[g][i + K / 2]);                                                                           \
                        n[2 * i + 1] = v_zip_high(S, v[g][i], v[g][i + K / 2]);                                                                      \
                    }                                                                                                                                \
                    TESS_UNROLL for (int i = 0; i < K; i++) v[g][i] = n[i];                                                                          \
                }                                                                                                                                    \
            }                                                                                                                                        \
            TESS_UNROLL for (int r = 0; r < K; r++) {                                                                                                \
                v_bytes line[4];                                                                                                                     \
                if (turns) {                                                                                                                         \
                    const v_bytes four[4] = {v[0][r], v[1][r], v[2][r], v[3][r]};                                                                    \
                    v_lanes_to_lines(line, four);                                                                                                    \
                }                                                                                                                                    \
                TESS_UNROLL for (int l = 0; l < 4; l++) {                                                                                            \
                    const int e = (m * N_##S + 4 * r + l) % STEP, row = e / (PIECE / 64), at = e % (PIECE / 64) * 64;                                \
                    if (fills) {                                                                                                                     \
                        tess_prefetch_l1(ahead->row + row * src_step + ahead->c + at + 63);                                                          \
                        v_bytes_store(into + (fill->r + row) * RELAY_APART + fill->c + at, v_bytes_load(fill->row + row * src_step + fill->c + at)); \
                    }                                                                                                                                \
                    if (turns)                                                                                                                       \
                        v_bytes_stream(to + (l * K + r) * dst_step, line[l]);                                                                        \
                    if (fills && e == STEP - 1) {                                                                                                    \
                        walk_step(fill);                                                                                                             \
                        walk_step(ahead);                                                                                                            \
                    }                                                                                                                                \
                }                                                                                                                                    \
            }                                                                                                                                        \
        }                                                                                                                                            \
        t->r += turns ? TILES_##S * N_##S : 0;                                                                                                       \
        if (turns && t->r >= t->rows) {                                                                                                              \
            t->r = 0;                                                                                                                                \
            t->c += 64;                                                                                                                              \
        }                                                                                                                                            \
    }                                                                                                                                                \
    static TESS_NOINLINE void both_##S(turned *t, int64_t dst_step, walk *fill, walk *ahead, char *into, int64_t src_step) {                         \
        turn_##S(true, true, t, dst_step, fill, ahead, into, src_step);                                                                              \
    }                                                                                                                                                \
    static TESS_NOINLINE void fill_##S(turned *t, int64_t dst_step, walk *fill, walk *ahead, char *into, int64_t src_step) {                         \
        turn_##S(false, true, t, dst_step, fill, ahead, into, src_step);                                                                             \
    }                                                                                                                                                \
    static TESS_NOINLINE void drain_##S(turned *t, int64_t dst_step) { turn_##S(true, false, t, dst_step, NULL, NULL, NULL, 0); }                    \
                                                                                                                                                     \
    static void bands_##S(void *argument, int64_t begin, int64_t end, int worker) {                                                                  \
        const relay *x = argument;                                                                                                                   \
        const transpose_plane *plane = x->plane;                                                                                                     \
        const int64_t src_step = plane->q_in, dst_step = plane->p_out;                                                                               \
        char *into = x->workspace + 2 * worker * RELAY_BUFFER, *other = into + RELAY_BUFFER;                                                         \
        walk fill = {.x = x, .k = begin, .end = end};                                                                                                \
        walk_block(&fill);                                                                                                                           \
        walk ahead = fill;                                                                                                                           \
        for (int k = 0; k < AHEAD; k++)                                                                                                              \
            walk_step(&ahead);                                                                                                                       \
        turned t = {.rows = 1};                                                                                                                      \
        for (int64_t k = begin; k < end; k++) {                                                                                                      \
            for (int64_t column = 0; column < x->across; column += x->width) {                                                                       \
                const int64_t rows = rows_of(x, k), width = tess_min64(x->width, x->across - column);                                                \
                int64_t turns = rows * width / (TILES_##S * N_##S * 64);                                                                             \
                for (; turns > 0 && t.c < t.width; turns--)                                                                                          \
                    both_##S(&t, dst_step, &fill, &ahead, into, src_step);                                                                           \
                for (; turns > 0; turns--)                                                                                                           \
                    fill_##S(&t, dst_step, &fill, &ahead, into, src_step);                                                                           \
                while (t.c < t.width)                                                                                                                \
                    drain_##S(&t, dst_step);                                                                                                         \
                t = (turned){into, x->out + band_at(x, k, TRANSPOSE_OUT) + column / S * dst_step, rows, width, 0, 0};                                \
                char *const filled = into;                                                                                                           \
                into = other;                                                                                                                        \
                other = filled;                                                                                                                      \
            }                                                                                                                                        \
        }                                                                                                                                            \
        while (t.c < t.width)                                                                                                                        \
            drain_##S(&t, dst_step);                                                                                                                 \
    }
RELAY(4)
RELAY(8)
RELAY(16)

/* What is left of a band: columns beside it, rows below the last one. */
static void edges(void *argument, int64_t begin, int64_t end, int worker) {
    const relay *x = argument;
    const transpose_plane *plane = x->plane;
    const int64_t columns = x->across / x->size, beside = plane->p_size - columns, below = plane->q_size - x->rows;
    (void)worker;
    for (int64_t k = begin; k < end; k++) {
        const char *from = x->in + band_at(x, k, TRANSPOSE_IN);
        char *to = x->out + band_at(x, k, TRANSPOSE_OUT);
        const int64_t rows = rows_of(x, k);
        if (beside > 0)
            TESS_ISA_NAME(tess_transpose_turn)(to + columns * plane->p_out, plane->p_out, from + x->across, plane->q_in, beside, rows, x->size, true);
        if (below > 0 && k % x->bands == x->bands - 1)
            TESS_ISA_NAME(tess_transpose_turn)
        (to + rows * x->size, plane->p_out, from + rows * plane->q_in, plane->q_in, plane->p_size, below, x->size, true);
    }
}

static void bands(void *argument, int64_t begin, int64_t end, int worker) {
    const relay *x = argument;
    switch (x->size) {
    case 4: bands_4(argument, begin, end, worker); break;
    case 8: bands_8(argument, begin, end, worker); break;
    default: bands_16(argument, begin, end, worker); break;
    }
    edges(argument, begin, end, worker);
}

tess_status TESS_ISA_NAME(tess_transpose_relay)(const transpose_problem *problem, const tess_run *run, const transpose_plane *plane) {
    const int64_t size = problem->size, least = tess_max64(64 / size, STEP);
    relay x = {.in = run->in + problem->first[TRANSPOSE_IN],
               .out = run->out + problem->first[TRANSPOSE_OUT],
               .plane = plane,
               .size = size,
               .rows = plane->q_size / least * least,
               .across = plane->p_size * size / PIECE * PIECE,
               .workspace = run->workspace};
    x.bands = tess_ceil_div(x.rows, RELAY_ROWS);
    x.width = tess_ceil_div(tess_ceil_div(x.across, tess_ceil_div(x.across, RELAY_ACROSS)), PIECE) * PIECE;
    return tess_parallel_guided(run->context, run->threads, plane->count * x.bands, 1, bands, &x);
}
#endif
