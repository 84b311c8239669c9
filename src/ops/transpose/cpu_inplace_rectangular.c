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

static int64_t gcd(int64_t a, int64_t b) {
    while (b != 0) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

static matrix matrix_of(const transpose_problem *problem) {
    matrix x = {.pitch = problem->size, .chunk = problem->size, .chunks = 1, .rows = problem->rows, .columns = problem->columns};
    x.inverse = x.rows > x.columns;
    x.m = tess_min64(x.rows, x.columns);
    x.n = tess_max64(x.rows, x.columns);
    int64_t g = gcd(x.m, x.n);
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

/* A strip goes through scratch. forward: in column j + k element i comes from map(i), else element i goes there; map(i) = (start[k] + step(i)) mod m.
 */
TESS_INLINE void permute_strip(const matrix *x, char *top, char *scratch, int64_t j, int64_t width, int64_t size, bool shuffle, bool fetch) {
    int64_t start[LINE], step = 0, left = x->a, row = x->n * x->pitch, by = shuffle ? x->n % x->m : 1;
    for (int64_t k = 0; k < width; k++)
        start[k] = shuffle ? (j + k) % x->m : (j + k) / x->b;
    for (int64_t i = 0; i < x->m; i++) {
        const char *from = top + i * row;
        for (int64_t k = 0; k < width; k++) {
            int64_t at = i;
            if (!fetch) {
                at = start[k] + step;
                at -= at >= x->m ? x->m : 0;
            }
            move(scratch + (at * width + k) * size, from + k * x->pitch, size);
        }
        step += by;
        if (shuffle && --left == 0) {
            left = x->a;
            step--;
        }
        step += step < 0 ? x->m : 0;
        step -= step >= x->m ? x->m : 0;
    }
    step = 0;
    left = x->a;
    for (int64_t i = 0; i < x->m; i++) {
        char *to = top + i * row;
        for (int64_t k = 0; k < width; k++) {
            int64_t at = i;
            if (fetch) {
                at = start[k] + step;
                at -= at >= x->m ? x->m : 0;
            }
            move(to + k * x->pitch, scratch + (at * width + k) * size, size);
        }
        step += by;
        if (shuffle && --left == 0) {
            left = x->a;
            step--;
        }
        step += step < 0 ? x->m : 0;
        step -= step >= x->m ? x->m : 0;
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
#define STRIP(size)                                                             \
    do {                                                                        \
        if (shuffle && x->inverse)                                              \
            permute_strip(x, top, scratch, j, width, size, true, false);        \
        else if (shuffle)                                                       \
            permute_strip(x, top, scratch, j, width, size, true, true);         \
        else                                                                    \
            permute_strip(x, top, scratch, j, width, size, false, !x->inverse); \
    } while (0)
        BY_SIZE(size, STRIP);
#undef STRIP
    }
}

static void rotate_task(void *argument, int64_t begin, int64_t end, int worker) { columns_pass(argument, begin, end, worker, false); }
static void shuffle_task(void *argument, int64_t begin, int64_t end, int worker) { columns_pass(argument, begin, end, worker, true); }

TESS_INLINE void permute_row(const matrix *x, char *row, char *scratch, int64_t i, int64_t size) {
    int64_t product = 0, turned = i, left = x->b; /* j m mod n, (i + j / b) mod m */
    for (int64_t j = 0; j < x->n; j++) {
        int64_t at = turned + product;
        at -= at >= x->n ? x->n : 0;
        if (x->inverse)
            move(scratch + j * size, row + at * x->pitch, size);
        else
            move(scratch + at * size, row + j * x->pitch, size);
        product += x->m;
        product -= product >= x->n ? x->n : 0;
        if (--left == 0) {
            left = x->b;
            turned = turned + 1 == x->m ? 0 : turned + 1;
        }
    }
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
