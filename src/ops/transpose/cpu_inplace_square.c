/* SPDX-License-Identifier: Apache-2.0
 * cpu_inplace_square.c - square matrices in their own memory: tiles change places with their mirror images, no scratch.
 *
 * A pair of blocks, mirror images about the diagonal, is walked together, tile pair after tile pair: one tile is transposed into a buffer of 4 KiB,
 * its partner over it, then the buffer over the partner. Stores are plain ones: past the caches they would throw out lines that the partner just
 * brought in. A cursor walks the same pairs more than a block before them and asks for their lines: rows of a block are too short for the processor to
 * see how they run, and what binds is how long memory takes to answer.
 *
 *       j0    j0 + columns           Blocks are narrow and high: the pages of the upper block's rows stay known to the processor while j0 runs on, each
 *     i0 +--+ ->                     row of the lower block is a page that is met once, for `rows` elements, and two lines side by side of each row are
 *        |  |         upper          asked for together. */
#include "core/parallel.h"
#include "ops/transpose/transpose.h"
#include "simd/tile.h"

tess_status TESS_ISA_NAME(tess_transpose_inplace_square)(const tess_problem *base, const tess_run *run);

/* A block, in elements, and how many pairs of tiles lie between the one that changes places and the one that is asked for: not a whole number of blocks, so
 * that what is asked for lies in other rows. */
typedef struct shape {
    int64_t rows, columns, ahead;
} shape;
static const shape in_memory[17] = {[1] = {256, 128, 6}, [2] = {192, 64, 10}, [4] = {160, 32, 24}, [8] = {160, 16, 48}, [16] = {16, 16, 24}};
enum { BLOCK_BYTES = 256, AHEAD = 24 }; /* a side of a block in the caches, or where high ones were too few for the threads */

typedef struct square {
    char *data;
    int64_t n, size, step, blocks; /* step: bytes of a row; blocks: rows of blocks */
    shape block;
    bool ahead;
} square;

/* A walk over pairs of tiles, in the order in which they change places: block i0, j0, and the upper tile of the pair. Only whole tiles matter. */
typedef struct cursor {
    int64_t i0, j0, i, j;
} cursor;

/* One past the last row of block i0, j0 that has tiles on the diagonal or above it. */
TESS_INLINE int64_t rows_end(const square *s, int64_t i0, int64_t j0) {
    return tess_min64(tess_min64(i0 + s->block.rows, j0 + s->block.columns), s->n);
}

/* On by one pair, tile x tile elements. Past the last block it stays. */
TESS_INLINE void cursor_next(cursor *at, const square *s, int64_t tile) {
    at->j += tile;
    if (at->j < tess_min64(at->j0 + s->block.columns, s->n))
        return;
    at->i += tile;
    if (at->i >= rows_end(s, at->i0, at->j0)) {
        at->j0 += s->block.columns;
        if (at->j0 >= s->n) {
            if (at->i0 + s->block.rows >= s->n)
                return;
            at->j0 = at->i0 += s->block.rows;
        }
        at->i = at->i0;
    }
    at->j = tess_max64(at->i, at->j0);
}

static void swap_elements(char *a, char *b, int64_t size) {
    char t[64];
    for (int64_t n; size > 0; size -= n, a += n, b += n) {
        n = tess_min64(size, (int64_t)sizeof t);
        memcpy(t, a, (size_t)n);
        memcpy(a, b, (size_t)n);
        memcpy(b, t, (size_t)n);
    }
}

/* Elements [i, i + ni) x [j, j + nj) change places with their mirror images; on the diagonal only those above it. */
static void swap_single(const square *s, char *m, int64_t i, int64_t ni, int64_t j, int64_t nj) {
    for (int64_t r = i; r < i + ni; r++)
        for (int64_t c = i == j ? r + 1 : j; c < j + nj; c++)
            swap_elements(m + r * s->step + c * s->size, m + c * s->step + r * s->size, s->size);
}

#define SWAP(S)                                                                                                                            \
    TILE_OF(S, true)                                                                                                                       \
    NEAR_TILE_OF(S)                                                                                                                        \
    /* One row of blocks of the matrix at m. */                                                                                            \
    static void swap_##S(const square *s, char *m, int64_t i0) {                                                                           \
        enum { N = 64 / S };                                                                                                               \
        _Alignas(64) char held[N * 64];                                                                                                    \
        const int64_t most = s->n - N;                                                                                                     \
        cursor at = {i0, i0, i0, i0};                                                                                                      \
        for (int k = 0; s->ahead && k < s->block.ahead; k++)                                                                               \
            cursor_next(&at, s, N);                                                                                                        \
        for (int64_t j0 = i0; j0 < s->n; j0 += s->block.columns)                                                                           \
            for (int64_t i = i0, end = rows_end(s, i0, j0); i < end; i += N)                                                               \
                for (int64_t j = tess_max64(i, j0), right = tess_min64(j0 + s->block.columns, s->n); j < right; j += N) {                  \
                    int64_t high = tess_min64(N, end - i), wide = tess_min64(N, right - j);                                                \
                    const char *upper_ahead = NULL, *lower_ahead = NULL;                                                                   \
                    if (s->ahead) { /* each row's last byte: where rows begin anywhere, the line of the first came with the tile before */ \
                        const int64_t r = tess_min64(at.i, most), c = tess_min64(at.j, most);                                              \
                        upper_ahead = m + r * s->step + c * S + 63;                                                                        \
                        lower_ahead = m + c * s->step + r * S + 63;                                                                        \
                        cursor_next(&at, s, N);                                                                                            \
                    }                                                                                                                      \
                    if (high < N || wide < N) {                                                                                            \
                        swap_single(s, m, i, high, j, wide);                                                                               \
                        continue;                                                                                                          \
                    }                                                                                                                      \
                    char *upper = m + i * s->step + j * S, *lower = m + j * s->step + i * S;                                               \
                    if (upper_ahead) {                                                                                                     \
                        tile_##S(held, 64, upper, s->step, upper_ahead, false);                                                            \
                        if (i != j)                                                                                                        \
                            tile_##S(upper, s->step, lower, s->step, lower_ahead, false);                                                  \
                    } else {                                                                                                               \
                        near_tile_##S(held, 64, upper, s->step);                                                                           \
                        if (i != j)                                                                                                        \
                            near_tile_##S(upper, s->step, lower, s->step);                                                                 \
                    }                                                                                                                      \
                    for (int64_t r = 0; r < N; r++)                                                                                        \
                        memcpy(lower + r * s->step, held + r * 64, 64);                                                                    \
                }                                                                                                                          \
    }
SWAP(1)
SWAP(2)
SWAP(4)
SWAP(8)
SWAP(16)

static void swap_blocks(void *argument, int64_t begin, int64_t end, int worker) {
    const square *s = argument;
    (void)worker;
    for (int64_t k = begin; k < end; k++) { /* one row of blocks of one matrix, the longest first */
        char *m = s->data + k / s->blocks * (s->n * s->step);
        const int64_t i = k % s->blocks * s->block.rows, ni = tess_min64(s->block.rows, s->n - i);
        switch (s->n * s->size < 64 ? 0 : s->size) {
        case 1: swap_1(s, m, i); break;
        case 2: swap_2(s, m, i); break;
        case 4: swap_4(s, m, i); break;
        case 8: swap_8(s, m, i); break;
        case 16: swap_16(s, m, i); break;
        default:
            for (int64_t j = i; j < s->n; j += s->block.columns)
                swap_single(s, m, i, ni, j, tess_min64(s->block.columns, s->n - j));
        }
    }
}

tess_status TESS_ISA_NAME(tess_transpose_inplace_square)(const tess_problem *base, const tess_run *run) {
    enum { PIECE = 1 << 17, FEW = 4 };
    const transpose_problem *problem = (const transpose_problem *)base;
    square s = {.data = run->out, .n = problem->rows, .size = problem->size, .step = problem->rows * problem->size};
    const int64_t side = tess_max64(8, BLOCK_BYTES / s.size);
    s.block = (shape){side, side, AHEAD};
    s.ahead = problem->base.bytes > (16 << 20);
    if (s.ahead && s.size <= 16 && in_memory[s.size].rows && problem->batch * (s.n / in_memory[s.size].rows) >= FEW * run->threads)
        s.block = in_memory[s.size];
    s.blocks = tess_ceil_div(s.n, s.block.rows);
    int64_t bytes = tess_min64(s.block.rows, s.n) * s.step;
    return tess_parallel(run->context, run->threads, problem->batch * s.blocks, tess_max64(1, PIECE / bytes), swap_blocks, &s);
}
