/* SPDX-License-Identifier: Apache-2.0
 * cpu_inplace_square.c - square matrices in their own memory: tiles change places with their mirror images, no scratch.
 *
 * A pair of blocks, mirror images about the diagonal, is walked together, tile pair after tile pair: one tile is transposed into a buffer of 4 KiB,
 * its partner over it, then the buffer over the partner; or, where lines meet in one set of the cache, both tiles of some pairs are held first. Stores are plain ones: past the caches they would throw out lines that the partner just
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

/* A block, in elements; how many pairs of tiles lie between the one that changes places and the one that is asked for: not a whole number of blocks, so
 * that what is asked for lies in other rows; how many pairs are held before they are put down, none if a tile is turned onto its partner's place; and
 * whether pairs follow each other along diagonals. */
typedef struct shape {
    int64_t rows, columns;
    int ahead, together;
    bool diagonal;
} shape;
static const shape in_memory[17] = {[1] = {256, 128, 6, 0, false},
                                    [2] = {192, 64, 10, 0, false},
                                    [4] = {160, 32, 24, 0, false},
                                    [8] = {160, 16, 48, 0, false},
                                    [16] = {16, 16, 24, 0, false}};
/* Where rows lie a multiple of 4 KiB apart all lines of a tile meet in one set of the first-level cache, and each store waits for the line that the one before it
 * sent out. Stores to several sets in turn do not: those of a pair's two tiles, or of pairs along a diagonal. */
static const shape in_one_set[17] = {[1] = {256, 256, 4, 4, true},
                                     [2] = {192, 64, 10, 1, false},
                                     [4] = {256, 256, 4, 3, true},
                                     [8] = {160, 16, 48, 1, false},
                                     [16] = {16, 16, 24, 1, false}};
enum { TOGETHER = 4 };                  /* the most in those tables */
enum { BLOCK_BYTES = 256, AHEAD = 24 }; /* a side of a block in the caches, or where high ones were too few for the threads */

typedef struct square {
    char *data;
    int64_t n, size, step, blocks; /* step: bytes of a row; blocks: rows of blocks */
    shape block;
    bool ahead;
} square;

/* A walk over pairs of tiles, in the order in which they change places: block i0, j0, the upper tile of the pair, and which of the block's tiles it is. */
typedef struct cursor {
    int64_t i0, j0, i, j;
    int step;
} cursor;

/* One past the last row of block i0, j0 that has tiles on the diagonal or above it. */
TESS_INLINE int64_t rows_end(const square *s, int64_t i0, int64_t j0) {
    return tess_min64(tess_min64(i0 + s->block.rows, j0 + s->block.columns), s->n);
}

/* On by one pair, tile x tile elements: along rows of the block, or along its diagonals, where no two of the pairs that follow each other share a row or a column.
 * Past the last block it stays. */
TESS_INLINE void cursor_next(cursor *at, const square *s, int tile) {
    const int high = (int)(s->block.rows / tile), wide = (int)(s->block.columns / tile);
    if (!s->block.diagonal) {
        at->j += tile;
        if (at->j < tess_min64(at->j0 + s->block.columns, s->n))
            return;
        at->i += tile;
        if (at->i >= rows_end(s, at->i0, at->j0)) {
            at->j0 += s->block.columns;
            if (at->j0 >= s->n)
                at->j0 = at->i0 += s->block.rows;
            at->i = at->i0;
        }
        at->j = tess_max64(at->i, at->j0);
        return;
    }
    while (at->i0 < s->n) {
        if (++at->step == high * wide) {
            at->step = 0;
            at->j0 += s->block.columns;
            if (at->j0 >= s->n)
                at->j0 = at->i0 += s->block.rows;
        }
        const int row = at->step % high;
        at->i = at->i0 + row * tile;
        at->j = at->j0 + (row + at->step / high) % wide * tile;
        if (at->i <= at->j && at->i < rows_end(s, at->i0, at->j0) && at->j < s->n)
            return;
    }
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

/* Row by row of all tiles that are held, so that stores that follow each other fall into several sets. */
TESS_INLINE void put_held(char *const *to, const char *held, int count, int64_t lines, int64_t step) {
    for (int64_t r = 0; r < lines; r++)
        for (int k = 0; k < count; k++)
            memcpy(to[k] + r * step, held + (k * lines + r) * 64, 64);
}

#define SWAP(S)                                                                                                                    \
    TILE_OF(S, true)                                                                                                               \
    NEAR_TILE_OF(S)                                                                                                                \
    TESS_INLINE void turn_##S(char *dst, int64_t dst_step, const char *src, int64_t src_step, const char *ahead) {                 \
        if (ahead)                                                                                                                 \
            tile_##S(dst, dst_step, src, src_step, ahead, false);                                                                  \
        else                                                                                                                       \
            near_tile_##S(dst, dst_step, src, src_step);                                                                           \
    }                                                                                                                              \
    /* One row of blocks of the matrix at m. */                                                                                    \
    static void swap_##S(const square *s, char *m, int64_t i0) {                                                                   \
        enum { N = 64 / S };                                                                                                       \
        _Alignas(64) char held[2 * TOGETHER][N * 64];                                                                              \
        char *to[2 * TOGETHER];                                                                                                    \
        const int64_t most = s->n - N;                                                                                             \
        int count = 0;                                                                                                             \
        cursor now = {.i0 = i0, .j0 = i0, .i = i0, .j = i0}, at = now;                                                             \
        for (int k = 0; s->ahead && k < s->block.ahead; k++)                                                                       \
            cursor_next(&at, s, N);                                                                                                \
        for (; now.i0 == i0; cursor_next(&now, s, N)) {                                                                            \
            const int64_t i = now.i, j = now.j, right = tess_min64(now.j0 + s->block.columns, s->n);                               \
            const int64_t high = tess_min64(N, rows_end(s, i0, now.j0) - i), wide = tess_min64(N, right - j);                      \
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
            turn_##S(held[count], 64, upper, s->step, upper_ahead);                                                                \
            if (!s->block.together) {                                                                                              \
                if (i != j)                                                                                                        \
                    turn_##S(upper, s->step, lower, s->step, lower_ahead);                                                         \
                put_held(&lower, held[0], 1, N, s->step);                                                                          \
                continue;                                                                                                          \
            }                                                                                                                      \
            to[count++] = lower;                                                                                                   \
            if (i != j) {                                                                                                          \
                turn_##S(held[count], 64, lower, s->step, lower_ahead);                                                            \
                to[count++] = upper;                                                                                               \
            }                                                                                                                      \
            if (count > 2 * s->block.together - 2) {                                                                               \
                put_held(to, held[0], count, N, s->step);                                                                          \
                count = 0;                                                                                                         \
            }                                                                                                                      \
        }                                                                                                                          \
        put_held(to, held[0], count, N, s->step);                                                                                  \
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
    s.block = (shape){.rows = side, .columns = side, .ahead = AHEAD};
    s.ahead = problem->base.bytes > (16 << 20);
    if (s.ahead && s.size <= 16 && in_memory[s.size].rows) {
        const shape *wanted = s.step % (s.size < 4 ? 4096 : 1024) == 0 ? &in_one_set[s.size] : &in_memory[s.size];
        if (problem->batch * (s.n / wanted->rows) >= FEW * run->threads)
            s.block = *wanted;
    }
    s.blocks = tess_ceil_div(s.n, s.block.rows);
    int64_t bytes = tess_min64(s.block.rows, s.n) * s.step;
    return tess_parallel(run->context, run->threads, problem->batch * s.blocks, tess_max64(1, PIECE / bytes), swap_blocks, &s);
}
