/* SPDX-License-Identifier: Apache-2.0
 * rectangle.h - how a rectangular matrix is cut for a transposition in its own memory (cpu_inplace_rectangular.c), and the cycles of its blocks. */
#ifndef TESS_OPS_TRANSPOSE_RECTANGLE_H
#define TESS_OPS_TRANSPOSE_RECTANGLE_H

#include "ops/transpose/transpose.h"

/* rows = high * b + under, columns = wide * c + beside: high x wide blocks of b x c elements, and what is left over below and beside them. */
typedef struct transpose_rectangle {
    int64_t size, rows, columns; /* bytes of an element; of the input */
    bool copied;                 /* small: copied out and turned on the way back */
    int64_t b, c, high, wide, under, beside;
    int64_t block;  /* bytes: b * c * size */
    int64_t slice;  /* bytes of a block that are moved together */
    int64_t pieces; /* of a cut row where b or c is 1 and rows only change places: bytes of one */
    int64_t pitch;  /* bytes between rows of the result in a buffer */
    int64_t buffer; /* bytes of a thread's buffer */
    int64_t cuts;   /* long cycles are cut at so many places */
    /* bytes from the beginning of the scratch: after the buffers */
    int64_t tails, extras, saved, visited, starts, scratch;
} transpose_rectangle;

/* crew: threads that work on one matrix together. */
void tess_transpose_rectangle_cut(transpose_rectangle *x, const transpose_problem *problem, int crew);
size_t tess_transpose_rectangle_workspace(const tess_problem *base, int threads);
/* Threads on each matrix: one, when there are matrices enough, or all. */
int tess_transpose_rectangle_crew(const transpose_problem *problem, int threads);

/* Block p of wide x high comes from block tess_transpose_rectangle_source(p) of high x wide. */
TESS_INLINE int64_t tess_transpose_rectangle_source(const transpose_rectangle *x, int64_t p) { return p % x->high * x->wide + p / x->high; }

/* The blocks where a cycle, or a part of a long one, begins; their number is returned. The parts of those that were cut come first, *cut of them. In
 * scratch `visited` then has a bit for each beginning. */
int64_t tess_transpose_rectangle_cycles(const transpose_rectangle *x, char *scratch, int64_t *cut);

#endif
