/* SPDX-License-Identifier: Apache-2.0
 * walk.h - visiting elements along the reduced axes by their number, as runs of equal stride. */
#ifndef TESS_OPS_REDUCE_WALK_H
#define TESS_OPS_REDUCE_WALK_H

#include "ops/reduce/reduce.h"

typedef struct reduce_walk {
    tess_index outer; /* over all reduced axes but the last */
    const char *base;
    int64_t inner, stride, at; /* size and stride of the last axis, and where the next run starts on it */
    int64_t left;
} reduce_walk;

/* n elements from number `first` on; base is element 0. n >= 1. */
static inline void reduce_walk_start(reduce_walk *walk, const reduce_problem *p, const char *base, int64_t first, int64_t n) {
    int last = p->rank - 1;
    walk->base = base;
    walk->inner = p->size[last];
    walk->stride = p->stride[0][last];
    walk->left = n;
    walk->at = first;
    walk->outer.offset[0] = 0;
    if (last > 0) {
        walk->at = first % walk->inner;
        tess_index_start(&walk->outer, last, p->size, 1, (int64_t(*)[TESS_MAX_NDIM])p->stride, first / walk->inner);
    } else {
        walk->inner = INT64_MAX; /* one axis: a run never ends, and a segment may start at any number */
        walk->outer.ndim = 0;
    }
}

/* The next run: its first element and its size. False after the last. */
static inline bool reduce_walk_next(reduce_walk *walk, const char **run, int64_t *n) {
    if (walk->left == 0)
        return false;
    *n = tess_min64(walk->left, walk->inner - walk->at);
    *run = walk->base + walk->outer.offset[0] + walk->at * walk->stride;
    walk->left -= *n;
    walk->at = 0;
    if (walk->left > 0)
        tess_index_next(&walk->outer);
    return true;
}

/* The strides of one output: where its first element and its place in out are, for task number `task` = output * segments + segment. */
static inline void reduce_task_place(const reduce_problem *p, int64_t task, int64_t *in_offset, int64_t *out_offset) {
    tess_index index;
    tess_index_start(&index, p->kept, p->kept_size, 2, (int64_t(*)[TESS_MAX_NDIM])p->kept_stride, task / p->segments);
    *in_offset = index.offset[0];
    *out_offset = index.offset[1] + task % p->segments * p->segment_stride;
}

/* Where the elements that begin at `in` end in memory. */
static inline const char *reduce_end(const reduce_problem *p, const char *in) {
    const char *end = in + p->in.itemsize;
    for (int d = 0; d < p->rank; d++)
        end += tess_max64(0, (p->size[d] - 1) * p->stride[0][d]);
    for (int d = 0; d < p->kept; d++)
        end += tess_max64(0, (p->kept_size[d] - 1) * p->kept_stride[0][d]);
    return end;
}

/* Tasks in a piece, so many that a thread reads some 2 MiB on end: where a piece begins, memory's read-ahead has to start anew (two threads, rows of 8192 f32 on a Zen 4:
 * pieces of 128 KiB 83 % of reading, of 512 KiB 95, of 2 MiB 103). At the least `least`; a thread is to get 16 pieces before it gets longer ones. */
static inline int64_t reduce_grain(int64_t tasks, int64_t bytes, int threads, int64_t least) {
    const int64_t long_enough = (2 << 20) / tess_max64(1, bytes);
    return tess_max64(least, tess_min64(long_enough, tasks / (16 * threads)));
}

#endif
