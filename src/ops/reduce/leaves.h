/* SPDX-License-Identifier: Apache-2.0
 * leaves.h - what leaves.c, which shares outputs and leaves among the threads, asks of leaf_fold.c, which folds one after another. */
#ifndef TESS_OPS_REDUCE_LEAVES_H
#define TESS_OPS_REDUCE_LEAVES_H

#include <stdatomic.h>

#include "core/straight.h"
#include "ops/reduce/reduce.h"

/* REDUCE_STRIP: elements that are loaded at once. REDUCE_AT_ONCE: bytes that lie in L2 for a second pass. */
enum { REDUCE_STRIP = 8 * REDUCE_LANES, REDUCE_AT_ONCE = 1 << 18 };

typedef struct leaves_job {
    const reduce_problem *p;
    const tess_run *run;
    const reduce_kernels *kernels, *reading;
    tess_row_loader loader;
    tess_row_storer storer;
    tess_straightener straighten;
    bool in_place;
    void (*rows)(void *, const char *, int64_t, int64_t, int64_t); /* whole trees of elements as they lie, or NULL */
    void (*moments)(double *, double *, const void *, int64_t);    /* of a leaf as it lies, or NULL */
    void (*leaf)(void *, const char *, int64_t, int64_t, int64_t); /* the tree of elements that were put one after the other, or NULL */
    const char *end;                                               /* of the elements: no byte behind it may be read */
    int64_t window_size, buffer_size, split; /* bytes of one worker's window and of its buffer; sizes from `split` on are shared among the threads */
    /* the output that the threads share */
    const char *base;
    int64_t size, span; /* its elements; leaves in a piece */
    reduce_node *pieces;
    _Atomic int64_t decided; /* the first piece that is known to decide it (tess_reduce_decides): those behind it are not read */
} leaves_job;

/* Columns of an array that is folded across memory, turned (leaf_window.c). */
typedef struct leaf_window {
    char *elements; /* NULL: there is no window */
    const char *base;
    int64_t first, count; /* the number of its first element, and how many it has */
} leaf_window;

/* What one thread works with. */
typedef struct leaf_worker {
    const leaves_job *job;
    const char *base, *next; /* element 0 of this output, and of the next one or NULL */
    char *loaded, *mapped;
    leaf_window *window;
    /* A run of stride 0 has equal full leaves: the last one stands for the next. */
    bool constant;
    reduce_node last;
} leaf_worker;

/* A worker of the job that has the buffer of thread `number`, and the caller's window; base is still to be set. */
leaf_worker tess_reduce_leaf_worker(const leaves_job *job, int number, leaf_window *window);
/* Elements first .. first+n-1, one leaf at the most. */
void tess_reduce_fold_leaf(leaf_worker *w, int64_t first, int64_t n, reduce_node *node);
/* Elements begin .. end-1, begin being a multiple of a leaf and of the size rounded up to a power of two, if there is more behind. */
void tess_reduce_fold_subtree(leaf_worker *w, int64_t begin, int64_t end, reduce_node *node);
/* Whether no element behind those that came to the node changes the output: an element for any, a zero for all, the greatest or least value that there is. */
bool tess_reduce_decides(const reduce_problem *p, const reduce_node *node);

/* leaf_window.c: bytes of a thread's window, 0 where elements are not folded so; element `first` of those at `base`, and with it as many of the *n as lie behind it. */
int64_t tess_reduce_window_size(const reduce_problem *p, int threads);
const char *tess_reduce_window(leaf_window *window, const leaves_job *job, const char *base, int64_t first, int64_t *n);

/* leaf_beside.c and leaf_tiles.c fold all leaves of an output, by all threads, whose first element is at `base`; their values, of type acc, come in order. The bytes that
 * a thread works in, 0 where elements are not folded so. */
int64_t tess_reduce_beside_size(const reduce_problem *p);
tess_status tess_reduce_beside(const leaves_job *job, const char *base, char *values);
int64_t tess_reduce_tiles_size(const reduce_problem *p);
tess_status tess_reduce_tiles(const leaves_job *job, const char *base, char *values);

/* leaf_abreast.c folds neighbouring outputs together, by all threads. The bytes that a thread works in, 0 where elements are not folded so. */
int64_t tess_reduce_abreast_size(const reduce_problem *p, int threads);
tess_status tess_reduce_abreast(const leaves_job *job);

/* leaf_places.c: places whose elements are numbered across memory; the node of the output whose first element is at `base`, by one thread or by all of them. */
bool tess_reduce_places(const reduce_problem *p);
size_t tess_reduce_places_workspace(int threads);
void tess_reduce_place(const leaves_job *job, const char *base, reduce_node *node);
tess_status tess_reduce_place_together(const leaves_job *job, const char *base, reduce_node *node);

/* leaf_segments.c: whether segments are folded many in a call; outputs begin .. end - 1 of them (tess_task). */
bool tess_reduce_in_segments(const leaves_job *job);
void tess_reduce_segment_tasks(void *argument, int64_t begin, int64_t end, int number);

static inline bool reduce_sums_as_they_lie(const reduce_problem *p) {
    return p->kind == REDUCE_SUM && p->map == REDUCE_PLAIN && !p->omit && !p->exact && !p->records && !p->offsets &&
           (p->in.type == tess_f32 || p->in.type == tess_f64) && p->acc == p->in.type;
}

/* ... of elements that are neighbours along the first axis. */
static inline bool reduce_sums_across(const reduce_problem *p) {
    return reduce_sums_as_they_lie(p) && p->rank > 1 && p->stride[0][0] == p->in.itemsize && p->size[0] * p->in.itemsize >= 64;
}

/* The key below all others, of elements of `size` bytes: where NaN is left out, what none but NaN come to. */
static inline int64_t reduce_lowest_key(int64_t size) { return -((int64_t)1 << (8 * size - 2)) * 2; }

/* Whether an element that decides is likely enough for elements to be read in parts: places are searched so anyway, and bytes have few values. */
static inline bool reduce_is_soon_decided(const reduce_problem *p) {
    return p->kind == REDUCE_ARG || (p->kind == REDUCE_EXTREME && p->in.itemsize == 1) || p->operation == TESS_ANY || p->operation == TESS_ALL;
}

static inline int64_t reduce_highest_key(int64_t size) { return -1 - reduce_lowest_key(size); }

/* Extremes of floats in memory are as quick by vectors of a line, those of integers are not. */
static inline const reduce_order_kernels *reduce_leaf_order(const leaves_job *job, tess_type type) {
    return (tess_is_float(type) ? job->kernels : job->reading)->order;
}

#endif
