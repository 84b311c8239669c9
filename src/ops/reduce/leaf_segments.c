/* SPDX-License-Identifier: Apache-2.0
 * leaf_segments.c - sums of segments that follow one another in memory, many in a call: of rows of a sparse matrix, of neighbours in a graph, most have a few elements, and what is done
 * for each output by itself - its place, its node, its store - takes longer than to add them. */
#include <string.h>

#include "ops/reduce/leaves.h"
#include "ops/reduce/walk.h"

enum { AT_ONCE = 256 };

static bool sums_integers(const reduce_problem *p) { return p->kind == REDUCE_SUM && p->map == REDUCE_PLAIN && reduce_is_integer(p->acc); }

bool tess_reduce_in_segments(const leaves_job *job) {
    const reduce_problem *p = job->p;
    if (!p->offsets || !job->in_place || p->stride[0][0] != p->in.itemsize || tess_is_complex(p->in.type))
        return false;
    return (p->kind == REDUCE_SUM && job->rows) || sums_integers(p) || (p->kind == REDUCE_EXTREME && p->map == REDUCE_PLAIN);
}

/* What m segments, bounded by the offsets, of elements at `row` sum up to. Those that threads share come later, in their own place. */
static void sum(const leaves_job *job, char *values, const char *row, const int64_t *offsets, int64_t m) {
    const reduce_problem *p = job->p;
    const int64_t size = (int64_t)tess_type_size(p->acc);
    const bool integers = sums_integers(p);
    int64_t i = 0;
    if (p->in.type == p->acc && p->map == REDUCE_PLAIN && job->kernels->brief->segments[p->acc])
        for (; i + REDUCE_SHORT_ROWS <= m; i += REDUCE_SHORT_ROWS)
            job->kernels->brief->segments[p->acc](values + i * size, row, offsets + i, job->split, job->rows);
    for (; i < m; i++) {
        const int64_t n = offsets[i + 1] - offsets[i];
        const char *first = row + offsets[i] * p->in.itemsize;
        memset(values + i * size, 0, (size_t)size);
        if (n <= 0 || n >= job->split)
            continue;
        if (integers) {
            const uint64_t whole = job->reading->lane->integers[p->in.type](first, p->in.itemsize, n, p->order.cached);
            memcpy(values + i * size, &whole, sizeof whole);
        } else {
            job->rows(values + i * size, first, 0, 1, n);
        }
    }
}

/* The same of extremes; there are no segments without elements. */
static void take_greatest(const leaves_job *job, char *values, const char *row, const int64_t *offsets, int64_t m) {
    const reduce_problem *p = job->p;
    const int64_t size = (int64_t)tess_type_size(p->result);
    int64_t keys[AT_ONCE];
    for (int64_t i = 0; i < m; i++) {
        const int64_t n = tess_min64(offsets[i + 1] - offsets[i], job->split);
        keys[i] = reduce_leaf_order(job, p->in.type)->greatest[p->in.type](row + offsets[i] * p->in.itemsize, p->in.itemsize, n, p->order);
    }
    if (tess_reduce_finish_keys(p, job->kernels, keys, values, m))
        return;
    for (int64_t i = 0; i < m; i++) {
        reduce_node node;
        tess_reduce_node_empty(p, &node);
        node.count = offsets[i + 1] - offsets[i];
        node.key = keys[i];
        const tess_value value = tess_reduce_node_finish(p, &node);
        memcpy(values + i * size, &value, (size_t)size);
    }
}

/* Sums as results. An empty segment's mean is what an empty node's is. */
static void finish_sums(const reduce_problem *p, char *values, const int64_t *offsets, int64_t m) {
    const int64_t size = (int64_t)tess_type_size(p->result);
    int64_t missing[AT_ONCE];
    for (int64_t i = 0; p->operation == TESS_MEAN && i < m; i++)
        missing[i] = INT64_MAX - (offsets[i + 1] - offsets[i]);
    tess_reduce_finish_row(p, values, INT64_MAX, missing, m);
    for (int64_t i = 0; p->operation == TESS_MEAN && i < m; i++)
        if (offsets[i + 1] == offsets[i]) {
            reduce_node node;
            tess_reduce_node_empty(p, &node);
            const tess_value value = tess_reduce_node_finish(p, &node);
            memcpy(values + i * size, &value, (size_t)size);
        }
}

void tess_reduce_segment_tasks(void *argument, int64_t begin, int64_t end, int number) {
    const leaves_job *job = argument;
    const reduce_problem *p = job->p;
    _Alignas(64) char values[AT_ONCE * sizeof(tess_value)];
    (void)number;
    for (int64_t task = begin, in_offset, out_offset, m; task < end; task += m) {
        const int64_t segment = task % p->segments, *offsets = p->offsets + segment;
        m = tess_min64(tess_min64(end - task, AT_ONCE), p->segments - segment);
        reduce_task_place(p, task, &in_offset, &out_offset);
        if (p->kind == REDUCE_EXTREME) {
            take_greatest(job, values, job->run->in + in_offset, offsets, m);
        } else {
            sum(job, values, job->run->in + in_offset, offsets, m);
            finish_sums(p, values, offsets, m);
        }
        job->storer(job->run->out + out_offset, p->segment_stride, values, m);
    }
}
