/* SPDX-License-Identifier: Apache-2.0
 * cpu_inplace_square.c - square matrices in their own memory: tiles change places with their mirror images, no scratch.
 *
 * A pair of blocks, mirror images about the diagonal, is walked together, tile pair after tile pair: one tile is transposed into a buffer of 4 KiB,
 * its partner over it, then the buffer over the partner. Stores are plain ones: past the caches they would throw out lines that the partner just
 * brought in. A cursor walks the same pairs more than a block before them and asks for their lines: rows of a block are too short for the processor to
 * see how they run, and what binds is how long memory takes to answer. */
#include "core/parallel.h"
#include "ops/transpose/transpose.h"
#include "simd/tile.h"

tess_status TESS_ISA_NAME(tess_transpose_inplace_square)(const tess_problem *base, const tess_run *run);

enum { BLOCK_BYTES = 256, AHEAD = 24 }; /* a side of a block; pairs of tiles from the one that changes places to the one that is asked for */

typedef struct square {
    char *data;
    int64_t n, size, step, side, blocks; /* step: bytes of a row; side: elements of a block */
    bool ahead;
} square;

/* A walk over pairs of tiles, in the order in which they change places: block i0, j0, and the upper tile of the pair. Only whole tiles matter. */
typedef struct cursor {
    int64_t i0, j0, i, j;
} cursor;

/* On by one pair, tile x tile elements. Past the last block it stays. */
TESS_INLINE void cursor_next(cursor *at, const square *s, int64_t tile) {
    at->j += tile;
    if (at->j < tess_min64(at->j0 + s->side, s->n))
        return;
    at->i += tile;
    if (at->i >= tess_min64(at->i0 + s->side, s->n)) {
        at->j0 += s->side;
        if (at->j0 >= s->n) {
            if (at->i0 + s->side >= s->n)
                return;
            at->j0 = at->i0 += s->side;
        }
        at->i = at->i0;
    }
    at->j = at->i0 == at->j0 ? at->i : at->j0;
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
    /* One row of blocks of the matrix at m. */                                                                                            \
    static void swap_##S(const square *s, char *m, int64_t i0) {                                                                           \
        enum { N = 64 / S };                                                                                                               \
        _Alignas(64) char held[N * 64];                                                                                                    \
        const int64_t ni = tess_min64(s->side, s->n - i0), most = s->n - N;                                                                \
        cursor at = {i0, i0, i0, i0};                                                                                                      \
        for (int k = 0; s->ahead && k < AHEAD; k++)                                                                                        \
            cursor_next(&at, s, N);                                                                                                        \
        for (int64_t j0 = i0; j0 < s->n; j0 += s->side)                                                                                    \
            for (int64_t i = i0; i < i0 + ni; i += N)                                                                                      \
                for (int64_t j = i0 == j0 ? i : j0, nj = tess_min64(s->side, s->n - j0); j < j0 + nj; j += N) {                            \
                    int64_t high = tess_min64(N, i0 + ni - i), wide = tess_min64(N, j0 + nj - j);                                          \
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
                    tile_##S(held, 64, upper, s->step, upper_ahead, false);                                                                \
                    if (i != j)                                                                                                            \
                        tile_##S(upper, s->step, lower, s->step, lower_ahead, false);                                                      \
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
        const int64_t i = k % s->blocks * s->side, ni = tess_min64(s->side, s->n - i);
        switch (s->n * s->size < 64 ? 0 : s->size) {
        case 1: swap_1(s, m, i); break;
        case 2: swap_2(s, m, i); break;
        case 4: swap_4(s, m, i); break;
        case 8: swap_8(s, m, i); break;
        case 16: swap_16(s, m, i); break;
        default:
            for (int64_t j = i; j < s->n; j += s->side)
                swap_single(s, m, i, ni, j, tess_min64(s->side, s->n - j));
        }
    }
}

tess_status TESS_ISA_NAME(tess_transpose_inplace_square)(const tess_problem *base, const tess_run *run) {
    enum { PIECE = 1 << 17 };
    const transpose_problem *problem = (const transpose_problem *)base;
    square s = {.data = run->out, .n = problem->rows, .size = problem->size, .step = problem->rows * problem->size};
    s.side = tess_max64(8, BLOCK_BYTES / s.size);
    s.blocks = tess_ceil_div(s.n, s.side);
    s.ahead = problem->base.bytes > (16 << 20);
    int64_t bytes = tess_min64(s.side, s.n) * s.step;
    return tess_parallel(run->context, run->threads, problem->batch * s.blocks, tess_max64(1, PIECE / bytes), swap_blocks, &s);
}
