/* SPDX-License-Identifier: Apache-2.0
 * columns.h - what the files of the row reduce/columns share: the job, what a thread works with, and which way a problem's blocks are folded. */
#ifndef TESS_OPS_REDUCE_COLUMNS_H
#define TESS_OPS_REDUCE_COLUMNS_H

#include "core/maker.h"
#include "core/straight.h"
#include "ops/reduce/walk.h"

typedef struct reduce_columns {
    const reduce_problem *p;
    const tess_run *run;
    const reduce_kernels *kernels;
    tess_row_loader loader;
    tess_row_storer storer;
    int64_t (*map)(void *, const void *, int64_t, bool, double);
    void (*fold)(void *, const char *, const int64_t *, int64_t, int64_t, int64_t, bool);                   /* rows of the tree's type */
    void (*direct)(void *, const char *, const int64_t *, int64_t, int64_t, int64_t, bool);                 /* of elements as they lie, or NULL */
    void (*deviations)(double *, const char *, const int64_t *, int64_t, int64_t, int64_t, const double *); /* of elements as they lie, or NULL */
    reduce_eight eight, apart; /* eight rows at once of elements as they lie, or NULL */
    bool in_place;             /* rows need neither loading nor mapping, or fold does both */
    bool staged;               /* eight and apart are of what the elements become (columns_staged.c) */
    bool asks;                 /* those are asked for a group of rows ahead */
    int64_t width, out_stride, block, blocks, levels;
    int64_t stride, turned;       /* between the columns; when turned is not 0, they are turned into rows of so many bytes first */
    tess_straightener straighten; /* of columns that are no neighbours, into rows of `turned` bytes, some rows at a time; or NULL */
    int64_t pieces, span;         /* one block's rows are shared by so many threads, span leaves each */
    reduce_node *nodes;           /* of all columns of all pieces */
    int64_t zero_key, nan_key;
} reduce_columns;

/* One thread's share of the workspace: rows of `block` columns, 16 bytes a column, and what else the kinds need. */
typedef struct reduce_columns_worker {
    const reduce_columns *job;
    int64_t *offset; /* of the elements of the current leaf from base */
    char *loaded, *mapped;
    int64_t *keys, *best, *index, *nans; /* nans also counts: those left out so far */
    double *mean;
    char *stack; /* `levels` rows of tree values */
    /* VAR: one entry a level for each column */
    double *means, *m2s;
    int64_t *counts;
    char *turn, *wide;
    char *partial; /* rows of columns_streams.c; NULL where it is not taken */
    const char *base;
    int64_t n;  /* columns of this block */
    bool fresh; /* nothing was folded yet */
} reduce_columns_worker;

enum { FEWEST_COLUMNS = 16 }; /* of eight rows at once: a vector on every machine */

TESS_INLINE bool columns_is_tree(const reduce_problem *p) {
    return p->kind == REDUCE_VAR || ((p->kind == REDUCE_SUM || p->kind == REDUCE_PROD) && !reduce_is_integer(p->acc));
}

/* Short runs, one after another: turned in L1, they are columns side by side. */
TESS_INLINE bool columns_turn(const reduce_problem *p) {
    int64_t step = p->kept_stride[0][p->kept - 1];
    return reduce_turns(p) && step != p->in.itemsize && step != -p->in.itemsize;
}

/* Columns that are no neighbours and have no tree: some rows at a time are put straight in L1, so many bytes of each. What has a tree is loaded on the way. */
enum { STRAIGHT_ROWS = 32, STRAIGHT_BYTES = 1024 };
TESS_INLINE bool columns_straighten(const reduce_problem *p) {
    return !columns_is_tree(p) && !columns_turn(p) && p->kept_stride[0][p->kept - 1] != p->in.itemsize;
}

/* Few columns whose rows follow each other without a gap, those of a tree in runs of some lines too: many rows of them are one (columns_narrow.c). What has no tree joins the
 * lanes of each column in the end, which few rows do not pay for: measured on a Zen 5, as are the other numbers here. */
TESS_INLINE bool columns_are_narrow(const reduce_problem *p) {
    enum { WIDEST = 256, WIDEST_IN_RUNS = 512, RUN = 512 }; /* bytes of a row, and of a run */
    const int last = p->kept - 1;
    const bool runs = p->rank > 1;
    const int64_t row = p->kept_size[last] * p->in.itemsize, fewest = columns_is_tree(p) ? 64 : p->in.itemsize <= 2 ? 2048 : 4096;
    const bool ordered = p->kind == REDUCE_EXTREME || p->kind == REDUCE_ARG || p->kind == REDUCE_COUNT;
    if (row > (runs ? WIDEST_IN_RUNS : WIDEST) || (runs && (!columns_is_tree(p) || p->size[p->rank - 1] * row < RUN)))
        return false;
    return p->stride[0][p->rank - 1] == row && p->kept_stride[0][last] == p->in.itemsize && p->longest >= fewest && !columns_turn(p) &&
           !(ordered && p->map != REDUCE_PLAIN);
}

/* Few outputs side by side, of few elements each: rows of the longest of the other axes are taken, whose outputs lie apart, and not one output at a time. */
TESS_INLINE bool columns_change_axes(const reduce_problem *p) {
    enum { NARROW = 8, BRIEF = 16 };
    return p->kept > 1 && p->kept_size[p->kept - 1] < NARROW && p->longest <= BRIEF && !columns_are_narrow(p) &&
           p->kept_size[tess_reduce_longest_kept(p)] >= 2 * NARROW;
}

/* Whole rows that follow each other without a gap, of elements whose order is free: places of memory far from each other are read in turns, each of which goes
 * through memory in one run (columns_fold.c). On a Zen 5 sums of bytes 16384 x 16384 read at 80 to 90 % so, and at 55 row after row; on others it was not tried. */
TESS_INLINE bool columns_are_gapless(const reduce_problem *p) {
    enum { WIDEST = 64 << 10, FEWEST_ROWS = 128 }; /* bytes of a row */
    const int last = p->kept - 1;
    const int64_t row = p->kept_size[last] * p->in.itemsize;
    const bool free = p->kind == REDUCE_EXTREME || (p->kind == REDUCE_SUM && reduce_is_integer(p->acc));
    return free && p->map == REDUCE_PLAIN && row <= WIDEST && p->rank == 1 && p->stride[0][0] == row && p->kept_stride[0][last] == p->in.itemsize &&
           p->longest >= FEWEST_ROWS && !p->order.cached && !columns_are_narrow(p) && tess_cpu_keeps_few_places();
}

/* The stack of partial rows, and its elements from one row to the next. */
TESS_INLINE int64_t columns_stack_step(const reduce_columns_worker *w) { return (w->job->block + 7) / 8 * 8; }
TESS_INLINE void *columns_stack_row(const reduce_columns_worker *w, int64_t level) {
    return w->stack + (size_t)(level * columns_stack_step(w)) * tess_type_size(w->job->p->acc);
}

/* columns_fold.c: elements begin .. end-1 of the block's columns; a row of what changes no sum, or no product (type: f32 or f64). */
void tess_reduce_columns_fold(reduce_columns_worker *w, int64_t begin, int64_t end);
void tess_reduce_columns_identity(const reduce_problem *p, char *row, tess_type type, int64_t n);

/* columns_streams.c: bytes of a thread's workspace, 0 where leaves are not read so; whether the leaf of n is; its sum to row `level`. */
size_t tess_reduce_streams_size(const reduce_problem *p, int64_t block);
bool tess_reduce_takes_streams(const reduce_columns_worker *w, int64_t n);
void tess_reduce_fold_streams(const reduce_columns_worker *w, int64_t n, int64_t level);

/* columns_staged.c: `eight` of rows that are converted first. A row that does not exist is w->mapped. */
void tess_reduce_eight_staged(const reduce_columns_worker *w, reduce_eight eight, void *acc, int merges, const char *const *row,
                              const char *const *next, int lanes, bool more, const double *mean);

/* columns_narrow.c: bytes of a thread's workspace; a leaf (its sum, or its moments' mean and squared deviations, to row `level`); and where there is no
 * tree all the elements. */
size_t tess_reduce_narrow_size(const reduce_problem *p);
void tess_reduce_narrow_leaf(reduce_columns_worker *w, int64_t first, int64_t n, int64_t level);
void tess_reduce_narrow_all(reduce_columns_worker *w, int64_t begin, int64_t end);

#endif
