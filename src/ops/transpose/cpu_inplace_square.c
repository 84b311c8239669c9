/* SPDX-License-Identifier: Apache-2.0
 * cpu_inplace_square.c - square matrices in their own memory: tiles change places with their mirror images, no scratch.
 *
 * A pair of blocks, mirror images about the diagonal, is walked together, tile pair after tile pair: one tile is transposed into a buffer of 4 KiB,
 * its partner over it, then the buffer over the partner. Stores are plain ones: past the caches they would throw out lines that the partner just
 * brought in. */
#include "core/parallel.h"
#include "ops/transpose/transpose.h"
#include "simd/tile.h"

tess_status TESS_ISA_NAME(tess_transpose_inplace_square)(const tess_problem *base, const tess_run *run);

enum {
    RIGHT = 3,
    DOWN = 2
}; /* tiles from a pair to the upper and the lower one that are asked for: rows are too short for the processor to see how they run */
enum { BLOCK_BYTES = 512 }; /* a side of a block: a pair is 2 x 64 KiB for 4-byte elements, and stays in L2 */

typedef struct square {
    char *data;
    int64_t n, size, step, side, blocks; /* step: bytes of a row; side: elements of a block */
    bool ahead;
} square;

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

#define SWAP(S)                                                                                                        \
    TILE_OF(S)                                                                                                         \
    static void swap_##S(const square *s, char *m, int64_t i0, int64_t ni, int64_t j0, int64_t nj) {                   \
        enum { N = 64 / S };                                                                                           \
        _Alignas(64) char held[N * 64];                                                                                \
        for (int64_t i = i0; i < i0 + ni; i += N)                                                                      \
            for (int64_t j = i0 == j0 ? i : j0; j < j0 + nj; j += N) {                                                 \
                int64_t high = tess_min64(N, i0 + ni - i), wide = tess_min64(N, j0 + nj - j);                          \
                if (high < N || wide < N) {                                                                            \
                    swap_single(s, m, i, high, j, wide);                                                               \
                    continue;                                                                                          \
                }                                                                                                      \
                char *upper = m + i * s->step + j * S, *lower = m + j * s->step + i * S;                               \
                tile_##S(held, 64, upper, s->step, s->ahead ? upper + RIGHT * 64 + 63 : NULL, false);                  \
                if (i != j)                                                                                            \
                    tile_##S(upper, s->step, lower, s->step, s->ahead ? lower + DOWN *N * s->step + 63 : NULL, false); \
                for (int64_t r = 0; r < N; r++)                                                                        \
                    memcpy(lower + r * s->step, held + r * 64, 64);                                                    \
            }                                                                                                          \
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
        int64_t i = k % s->blocks * s->side, ni = tess_min64(s->side, s->n - i);
        for (int64_t j = i; j < s->n; j += s->side) {
            int64_t nj = tess_min64(s->side, s->n - j);
            switch (s->size) {
            case 1: swap_1(s, m, i, ni, j, nj); break;
            case 2: swap_2(s, m, i, ni, j, nj); break;
            case 4: swap_4(s, m, i, ni, j, nj); break;
            case 8: swap_8(s, m, i, ni, j, nj); break;
            case 16: swap_16(s, m, i, ni, j, nj); break;
            default: swap_single(s, m, i, ni, j, nj); break;
            }
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
