/* SPDX-License-Identifier: Apache-2.0
 * rectangle.c - cutting a rectangular matrix into blocks, and finding the cycles in which they move. */
#include <string.h>

#include "ops/transpose/rectangle.h"

enum {
    COPIED = 256 << 10,
    BLOCK_LEAST = 1024, /* bytes that are worth a jump to another place */
    BLOCK_WANTED = 4096,
    SLICE = 16 << 10,
    PANEL = 1 << 20, /* stays in L2 */
    BAND_MOST = 4 << 20,
    CUTS_A_THREAD = 4,
    LINE = 64,
    SETS = 1024 /* rows a multiple of this apart share few sets of the first-level cache */
};

/* The greatest number from most / 2 to most that divides n without leaving parts of lines; else `most` in whole lines. */
static int64_t divisor(int64_t n, int64_t most, int64_t size) {
    const int64_t step = tess_max64(1, LINE / size);
    for (int64_t d = most / step * step; d > 0 && d >= most / 2; d -= step)
        if (n % d == 0)
            return d;
    return most >= step ? most / step * step : most;
}

/* The blocks. Rows in their thousands are cut into blocks of some lines a side and take three passes; where one of the numbers is small a block is a piece of a
 * single row, or a single column's share of some rows, and one pass falls away. */
static void choose(transpose_rectangle *x) {
    const int64_t size = x->size, m = x->rows, n = x->columns, shorter = tess_min64(m, n), longer = tess_max64(m, n);
    x->b = x->c = 1;
    if (size >= BLOCK_LEAST)
        return;
    const int64_t alone = tess_min64(tess_min64(SLICE / size, PANEL / (shorter * size)), longer);
    if (alone * size >= BLOCK_LEAST) {
        *(m < n ? &x->c : &x->b) = divisor(longer, alone, size);
        return;
    }
    /* Elements of which several make a line: bands of one line, as high as their tiles, since of the first pass and the last a buffer and what it holds should both
     * lie in L2. */
    const bool tiles = size <= 16 && LINE % size == 0;
    int64_t side = 2;
    while (side * side * size < BLOCK_WANTED)
        side *= 2;
    const int64_t high = tiles ? LINE / size : side, wide = tiles ? BLOCK_WANTED / LINE : side;
    x->b = divisor(m, tiles ? high : high + high / 2, size);
    x->b = m % x->b == 0 ? x->b : high;
    x->c = divisor(n, tiles ? wide : wide + wide / 2, size);
    x->c = n % x->c == 0 ? x->c : wide;
    while (x->b > 1 && x->b * n * size > BAND_MOST && 2 * x->c * m * size <= BAND_MOST) { /* much longer one way than the other */
        x->b /= 2;
        x->c *= 2;
    }
    while (x->c > 1 && x->c * m * size > BAND_MOST && 2 * x->b * n * size <= BAND_MOST) {
        x->c /= 2;
        x->b *= 2;
    }
}

int tess_transpose_rectangle_crew(const transpose_problem *problem, int threads) { return problem->batch >= 2 * threads ? 1 : threads; }

static int64_t place(int64_t *end, int64_t bytes) {
    const int64_t at = *end;
    *end += (bytes + LINE - 1) / LINE * LINE;
    return at;
}

void tess_transpose_rectangle_cut(transpose_rectangle *x, const transpose_problem *problem, int crew) {
    memset(x, 0, sizeof *x);
    x->size = problem->size;
    x->rows = problem->rows;
    x->columns = problem->columns;
    const int64_t size = x->size;
    x->copied = x->rows * x->columns <= COPIED / size;
    if (x->copied) {
        x->scratch = x->buffer = (x->rows * x->columns * size + LINE - 1) / LINE * LINE;
        return;
    }
    choose(x);
    x->high = x->rows / x->b;
    x->wide = x->columns / x->c;
    x->under = x->rows % x->b;
    x->beside = x->columns % x->c;
    x->block = x->b * x->c * size;
    x->slice = tess_min64(x->block, SLICE);
    x->pieces = COPIED;
    x->buffer = x->slice;
    if (x->b > 1)
        x->buffer = tess_max64(x->buffer, x->wide * x->c * x->b * size);
    x->pitch = x->rows * size + (x->rows * size % SETS == 0 ? LINE : 0);
    if (x->c > 1)
        x->buffer = tess_max64(x->buffer, x->c * x->pitch);
    if ((x->b == 1 && x->beside > 0) || (x->c == 1 && x->under > 0))
        x->buffer = tess_max64(x->buffer, x->pieces);
    x->buffer = (x->buffer + LINE - 1) / LINE * LINE;
    const int64_t blocks = x->high * x->wide;
    x->cuts = crew > 1 && x->slice == x->block ? CUTS_A_THREAD * (int64_t)crew : 0;
    int64_t end = x->buffer * crew;
    x->tails = place(&end, x->wide * x->c * x->under * size);
    x->extras = place(&end, x->beside * x->rows * size);
    x->saved = place(&end, (2 * x->cuts + 1) * x->slice);
    x->visited = place(&end, blocks / 8 + 8);
    x->starts = place(&end, (blocks / 2 + 2 * x->cuts + 1) * (int64_t)sizeof(int64_t));
    x->scratch = end;
}

size_t tess_transpose_rectangle_workspace(const tess_problem *base, int threads) {
    const transpose_problem *problem = (const transpose_problem *)base;
    const int crew = tess_transpose_rectangle_crew(problem, threads);
    transpose_rectangle x;
    tess_transpose_rectangle_cut(&x, problem, crew);
    return (size_t)(x.scratch * (x.copied ? threads : threads / crew));
}

static bool test_and_set(uint64_t *bits, int64_t i) {
    const uint64_t bit = (uint64_t)1 << (i & 63);
    const bool was = bits[i >> 6] & bit;
    bits[i >> 6] |= bit;
    return was;
}

int64_t tess_transpose_rectangle_cycles(const transpose_rectangle *x, char *scratch, int64_t *cut) {
    uint64_t *visited = (uint64_t *)(void *)(scratch + x->visited);
    int64_t *starts = (int64_t *)(void *)(scratch + x->starts), count = 0;
    const int64_t blocks = x->high * x->wide, bytes = blocks / 8 + 8;
    const int64_t most = x->cuts > 0 ? tess_max64(2, tess_ceil_div(blocks, x->cuts)) : INT64_MAX; /* moves in a part */
    *cut = 0;
    if (x->high == 1 || x->wide == 1)
        return 0;
    memset(visited, 0, (size_t)bytes);
    for (int64_t first = 1; first < blocks - 1; first++) { /* the first and the last stay */
        if (test_and_set(visited, first))
            continue;
        int64_t length = 1, parts = 0;
        for (int64_t p = tess_transpose_rectangle_source(x, first); p != first; p = tess_transpose_rectangle_source(x, p), length++) {
            test_and_set(visited, p);
            if (length % most == 0) { /* a part begins here: those of cut cycles stand at the front */
                starts[count++] = starts[*cut];
                starts[(*cut)++] = p;
                parts++;
            }
        }
        if (length > 1) {
            starts[count++] = first;
            if (parts > 0) {
                starts[count - 1] = starts[*cut];
                starts[(*cut)++] = first;
            }
        }
    }
    memset(visited, 0, (size_t)bytes);
    for (int64_t i = 0; i < count; i++)
        test_and_set(visited, starts[i]);
    return count;
}
