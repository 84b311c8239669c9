/* SPDX-License-Identifier: Apache-2.0
 * cpu_inplace_rectangular.c - rectangular matrices in their own memory, by passes over columns and rows.
 *
 * Catanzaro, Keller and Garland, "A decomposition for in-place matrix transposition" (PPoPP 2014): with m rows, n columns, g = gcd(m, n), a = m / g
 * and b = n / g the permutation is the product of three, each of which stays inside columns or inside rows, so that threads share nothing and a copy
 * of one row, or of a strip of columns one cache line wide, is all the scratch:
 *     1. rotate column j up by j / b                            (only when g > 1: it makes the next step free of collisions)
 *     2. in row i move element j to (i + j / b) mod m + j m  mod n
 *     3. in column j fetch element i from (j + i n - i / a) mod m
 * It is done on the view with fewer rows than columns; a tall matrix is the inverse of a wide one, so the steps run backwards with fetch and move
 * exchanged. All indices are made by additions: no division inside a loop. Matrices of up to SMALL bytes are copied out and transposed back. */
#include <string.h>

#include "core/parallel.h"
#include "ops/transpose/transpose.h"

tess_status TESS_ISA_NAME(tess_transpose_inplace_rectangular)(const tess_problem *base, const tess_run *run);
size_t TESS_ISA_NAME(tess_transpose_inplace_rectangular_workspace)(const tess_problem *base, int threads);

enum { SMALL = 1 << 15, LINE = 64, CHUNKED = 1 << 18, PIECE = 1 << 17 };

typedef struct matrix {
    char *data, *scratch;
    int64_t scratch_each;  /* bytes a thread */
    int64_t pitch, chunk;  /* bytes from element to element; of them, those that this pass moves */
    int64_t chunks;        /* a long element is moved in so many parts, each a transposition of its own */
    int64_t m, n, a, b;    /* of the wide view, m < n */
    int64_t width, strips; /* columns of a strip */
    int64_t rows, columns; /* of the input */
    bool inverse, rotate;
} matrix;

static matrix matrix_of(const transpose_problem *problem) {
    matrix x = {.pitch = problem->size, .chunk = problem->size, .chunks = 1, .rows = problem->rows, .columns = problem->columns};
    x.inverse = x.rows > x.columns;
    x.m = tess_min64(x.rows, x.columns);
    x.n = tess_max64(x.rows, x.columns);
    int64_t g = tess_gcd(x.m, x.n);
    x.a = x.m / g;
    x.b = x.n / g;
    x.rotate = g > 1;
    if (x.chunk > LINE && x.chunk > CHUNKED / x.n) {
        x.chunk = tess_max64(LINE, CHUNKED / x.n / LINE * LINE);
        x.chunks = tess_ceil_div(x.pitch, x.chunk);
    }
    x.width = tess_min64(x.n, tess_max64(1, LINE / x.chunk));
    x.strips = tess_ceil_div(x.n, x.width);
    x.scratch_each = tess_max64(x.n, x.m * x.width) * x.chunk;
    if (x.m * x.n <= SMALL / x.pitch)
        x.scratch_each = x.m * x.n * x.pitch;
    x.scratch_each = tess_ceil_div(x.scratch_each, LINE) * LINE;
    return x;
}

size_t TESS_ISA_NAME(tess_transpose_inplace_rectangular_workspace)(const tess_problem *base, int threads) {
    return (size_t)(matrix_of((const transpose_problem *)base).scratch_each * threads);
}

/* Calls with a constant size where there is one, so that moves become single instructions. */
#define BY_SIZE(size, call)         \
    do {                            \
        switch (size) {             \
        case 1: call(1); break;     \
        case 2: call(2); break;     \
        case 4: call(4); break;     \
        case 8: call(8); break;     \
        case 16: call(16); break;   \
        default: call(size); break; \
        }                           \
    } while (0)

TESS_INLINE void move(char *to, const char *from, int64_t size) {
    if (__builtin_constant_p(size))
        memcpy(to, from, (size_t)size);
    else
        tess_copy_run(to, from, size);
}

/* Where task number k works: the matrix and part of the elements; the rest of k says which row or strip. */
static char *locate(const matrix *x, int64_t k, int64_t each, int64_t *inside, int64_t *size) {
    int64_t part = k / each % x->chunks;
    *inside = k % each;
    *size = tess_min64(x->chunk, x->pitch - part * x->chunk);
    return x->data + k / each / x->chunks * (x->m * x->n * x->pitch) + part * x->chunk;
}

/* One line of a strip, between its row of the array and scratch (width elements a row). Element k pairs with row (base + slope k) mod m of scratch: a
 * row for slope 0, a diagonal for slope 1, either of them at constant distances unless it meets the end; slope -1: rows as start[] and step say. */
TESS_INLINE void move_line(const matrix *x, char *line, char *scratch, const int64_t *start, int64_t step, int slope, int64_t width, int64_t size,
                           bool in) {
    int64_t base = start[0] + step;
    base -= base >= x->m ? x->m : 0;
    if (slope == 0 && x->pitch == size) {
        memcpy(in ? scratch + base * width * size : line, in ? line : scratch + base * width * size, (size_t)(width * size));
        return;
    }
    if (slope >= 0 && base + slope * (width - 1) < x->m) {
        char *p = scratch + base * width * size;
        for (int64_t k = 0; k < width; k++)
            move(in ? p + k * (slope * width + 1) * size : line + k * x->pitch, in ? line + k * x->pitch : p + k * (slope * width + 1) * size, size);
        return;
    }
    for (int64_t k = 0; k < width; k++) {
        int64_t at = start[k] + step;
        at -= at >= x->m ? x->m : 0;
        char *p = scratch + (at * width + k) * size;
        move(in ? p : line + k * x->pitch, in ? line + k * x->pitch : p, size);
    }
}

/* A strip goes through scratch. fetch: in column j + k element i comes from map(i), else element i goes there; map(i) = (start[k] + step(i)) mod m.
 * The side that is not permuted moves whole lines. */
TESS_INLINE void permute_strip(const matrix *x, char *top, char *scratch, int64_t j, int64_t width, int64_t size, bool shuffle, bool fetch) {
    enum { AHEAD = 16 }; /* rows: no prefetcher of the processor follows a line from each of them */
    int64_t start[LINE], row = x->n * x->pitch, by = shuffle ? x->n % x->m : 1;
    const int64_t none[1] = {0};
    for (int64_t k = 0; k < width; k++)
        start[k] = shuffle ? (j + k) % x->m : (j + k) / x->b;
    int slope = shuffle ? 1 : start[width - 1] == start[0] ? 0 : -1;
    for (int in = 1; in >= 0; in--) {
        bool permuted = in ? !fetch : fetch;
        int64_t step = 0, left = x->a;
        for (int64_t i = 0; i < x->m; i++) {
            if (in)
                __builtin_prefetch(top + (i + AHEAD) * row);
            if (permuted)
                move_line(x, top + i * row, scratch, start, step, slope, width, size, in);
            else
                move_line(x, top + i * row, scratch, none, i, 0, width, size, in);
            step += by;
            if (shuffle && --left == 0) {
                left = x->a;
                step--;
            }
            step += step < 0 ? x->m : 0;
            step -= step >= x->m ? x->m : 0;
        }
    }
}

static void columns_pass(const matrix *x, int64_t begin, int64_t end, int worker, bool shuffle) {
    char *scratch = x->scratch + worker * x->scratch_each;
    for (int64_t k = begin; k < end; k++) {
        int64_t strip, size;
        char *top = locate(x, k, x->strips, &strip, &size);
        int64_t j = strip * x->width, width = tess_min64(x->width, x->n - j);
        if (!shuffle && j + width <= x->b)
            continue; /* these columns are rotated by 0 */
        top += j * x->pitch;
#define KIND(width, size)                                                       \
    do {                                                                        \
        if (shuffle && x->inverse)                                              \
            permute_strip(x, top, scratch, j, width, size, true, false);        \
        else if (shuffle)                                                       \
            permute_strip(x, top, scratch, j, width, size, true, true);         \
        else                                                                    \
            permute_strip(x, top, scratch, j, width, size, false, !x->inverse); \
    } while (0)
#define STRIP(size)                    \
    do {                               \
        if (width == LINE / (size))    \
            KIND(LINE / (size), size); \
        else                           \
            KIND(width, size);         \
    } while (0)
        BY_SIZE(size, STRIP);
#undef STRIP
#undef KIND
    }
}

static void rotate_task(void *argument, int64_t begin, int64_t end, int worker) { columns_pass(argument, begin, end, worker, false); }
static void shuffle_task(void *argument, int64_t begin, int64_t end, int worker) { columns_pass(argument, begin, end, worker, true); }

TESS_INLINE void permute_row(const matrix *x, char *row, char *scratch, int64_t i, int64_t size) {
    int64_t product = 0, turned = i; /* j m mod n, (i + j / b) mod m */
    for (int64_t j = 0; j < x->n; turned = turned + 1 == x->m ? 0 : turned + 1) {
        int64_t at = turned + product, end = j + x->b;
        at -= at >= x->n ? x->n : 0;
        for (; j < end; j++) {
            if (x->inverse)
                move(scratch + j * size, row + at * x->pitch, size);
            else
                move(scratch + at * size, row + j * x->pitch, size);
            at += x->m;
            at -= at >= x->n ? x->n : 0;
        }
        product = at - turned;
        product += product < 0 ? x->n : 0;
    }
    if (x->pitch == size)
        memcpy(row, scratch, (size_t)(x->n * size));
    else
        for (int64_t j = 0; j < x->n; j++)
            move(row + j * x->pitch, scratch + j * size, size);
}

static void row_task(void *argument, int64_t begin, int64_t end, int worker) {
    const matrix *x = argument;
    char *scratch = x->scratch + worker * x->scratch_each;
    for (int64_t k = begin; k < end; k++) {
        int64_t i, size;
        char *row = locate(x, k, x->m, &i, &size);
        row += i * x->n * x->pitch;
#define ROW(size) permute_row(x, row, scratch, i, size)
        BY_SIZE(size, ROW);
#undef ROW
    }
}

TESS_INLINE void copy_back(const matrix *x, char *data, const char *scratch, int64_t size) {
    for (int64_t c = 0; c < x->columns; c++)
        for (int64_t r = 0; r < x->rows; r++)
            move(data + (c * x->rows + r) * size, scratch + (r * x->columns + c) * size, size);
}

static void small_task(void *argument, int64_t begin, int64_t end, int worker) {
    const matrix *x = argument;
    char *scratch = x->scratch + worker * x->scratch_each;
    int64_t bytes = x->m * x->n * x->pitch;
    for (int64_t k = begin; k < end; k++) {
        char *data = x->data + k * bytes;
        memcpy(scratch, data, (size_t)bytes);
#define BACK(size) copy_back(x, data, scratch, size)
        BY_SIZE(x->pitch, BACK);
#undef BACK
    }
}

tess_status TESS_ISA_NAME(tess_transpose_inplace_rectangular)(const tess_problem *base, const tess_run *run) {
    const transpose_problem *problem = (const transpose_problem *)base;
    matrix x = matrix_of(problem);
    x.data = run->out;
    x.scratch = run->workspace;
    if (x.m * x.n <= SMALL / x.pitch)
        return tess_parallel(run->context, run->threads, problem->batch, tess_max64(1, PIECE / (x.m * x.n * x.pitch)), small_task, &x);
    int64_t parts = problem->batch * x.chunks;
    int64_t rows_grain = tess_max64(1, PIECE / (x.n * x.chunk)), strips_grain = tess_max64(1, PIECE / (x.m * x.width * x.chunk));
    if (x.inverse)
        TESS_TRY(tess_parallel(run->context, run->threads, parts * x.strips, strips_grain, shuffle_task, &x));
    else if (x.rotate)
        TESS_TRY(tess_parallel(run->context, run->threads, parts * x.strips, strips_grain, rotate_task, &x));
    TESS_TRY(tess_parallel(run->context, run->threads, parts * x.m, rows_grain, row_task, &x));
    if (!x.inverse)
        TESS_TRY(tess_parallel(run->context, run->threads, parts * x.strips, strips_grain, shuffle_task, &x));
    else if (x.rotate)
        TESS_TRY(tess_parallel(run->context, run->threads, parts * x.strips, strips_grain, rotate_task, &x));
    return TESS_OK;
}
