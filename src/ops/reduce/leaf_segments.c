/* SPDX-License-Identifier: Apache-2.0
 * leaf_segments.c - segments that follow one another in memory, many in a call: of rows of a sparse matrix, of neighbours in a graph, most have a few elements, and what is done
 * for each output by itself - its place, its node, its store - takes longer than to fold them. */
#include <string.h>

#include "ops/reduce/leaves.h"
#include "ops/reduce/walk.h"

enum { AT_ONCE = 256 };

static bool sums_integers(const reduce_problem *p) { return p->kind == REDUCE_SUM && p->map == REDUCE_PLAIN && reduce_is_integer(p->acc); }

bool tess_reduce_in_segments(const leaves_job *job) {
    const reduce_problem *p = job->p;
    if (!p->offsets || !job->in_place || p->stride[0][0] != p->in.itemsize || tess_is_complex(p->in.type))
        return false;
    if (p->kind == REDUCE_VAR)
        return job->moments && job->kernels->brief->moment_segments[p->in.type];
    return (p->kind == REDUCE_SUM && job->rows) || sums_integers(p) || (p->kind == REDUCE_EXTREME && p->map == REDUCE_PLAIN) ||
           (p->kind == REDUCE_ARG && p->map == REDUCE_PLAIN) || p->kind == REDUCE_COUNT;
}

/* Elements of a segment; none of one that threads share, which comes later, in its own place. */
static int64_t segment_size(const leaves_job *job, const int64_t *offsets) {
    return offsets[1] - offsets[0] < job->split ? offsets[1] - offsets[0] : 0;
}

/* What m segments, bounded by the offsets, of elements at `row` sum up to. */
static void sum(const leaves_job *job, char *values, const char *row, const int64_t *offsets, int64_t m) {
    const reduce_problem *p = job->p;
    const int64_t size = (int64_t)tess_type_size(p->acc);
    const bool integers = sums_integers(p);
    int64_t i = 0;
    if (p->in.type == p->acc && p->map == REDUCE_PLAIN && job->kernels->brief->segments[p->acc])
        for (; i + REDUCE_SHORT_ROWS <= m; i += REDUCE_SHORT_ROWS)
            job->kernels->brief->segments[p->acc](values + i * size, row, offsets + i, job->split, job->rows);
    for (; i < m; i++) {
        const int64_t n = segment_size(job, offsets + i);
        const char *first = row + offsets[i] * p->in.itemsize;
        memset(values + i * size, 0, (size_t)size);
        if (n == 0)
            continue;
        if (integers) {
            const uint64_t whole = job->reading->lane->integers[p->in.type](first, p->in.itemsize, n, p->order.cached);
            memcpy(values + i * size, &whole, sizeof whole);
        } else {
            job->rows(values + i * size, first, 0, 1, n);
        }
    }
}

/* What nodes come to, one by one. */
static void finish_nodes(const reduce_problem *p, const reduce_node *nodes, char *values, int64_t m) {
    const int64_t size = (int64_t)tess_type_size(p->result);
    for (int64_t i = 0; i < m; i++) {
        const tess_value value = tess_reduce_node_finish(p, &nodes[i]);
        memcpy(values + i * size, &value, (size_t)size);
    }
}

/* Extremes, and whether any or all elements are something, which a segment without elements has an answer to; one that threads share stands for its first. */
static void take_greatest(const leaves_job *job, char *values, const char *row, const int64_t *offsets, int64_t m) {
    const reduce_problem *p = job->p;
    int64_t keys[AT_ONCE];
    reduce_node nodes[AT_ONCE];
    for (int64_t i = 0; i < m; i++) {
        const int64_t n = tess_max64(segment_size(job, offsets + i), 1);
        keys[i] = offsets[i + 1] == offsets[i]
                      ? reduce_lowest_key(p->in.itemsize)
                      : reduce_leaf_order(job, p->in.type)->greatest[p->in.type](row + offsets[i] * p->in.itemsize, p->in.itemsize, n, p->order);
    }
    if (tess_reduce_finish_keys(p, job->kernels, keys, values, m))
        return;
    for (int64_t i = 0; i < m; i++) {
        tess_reduce_node_empty(p, &nodes[i]);
        nodes[i].count = offsets[i + 1] - offsets[i];
        nodes[i].key = keys[i];
    }
    finish_nodes(p, nodes, values, m);
}

/* Their places, as numbers in the segment; -1 where no element counts. */
static void take_places(const leaves_job *job, char *values, const char *row, const int64_t *offsets, int64_t m) {
    const reduce_problem *p = job->p;
    const reduce_order_kernels *kernels = reduce_leaf_order(job, p->in.type);
    const int64_t lowest = reduce_lowest_key(p->in.itemsize);
    for (int64_t i = 0; i < m; i++) {
        const int64_t n = tess_max64(segment_size(job, offsets + i), 1);
        const char *first = row + offsets[i] * p->in.itemsize;
        const int64_t key = kernels->greatest[p->in.type](first, p->in.itemsize, n, p->order);
        const int64_t at = p->omit && key == lowest ? -1 : kernels->find[p->in.type](first, p->in.itemsize, n, p->order, key);
        memcpy(values + i * (int64_t)sizeof at, &at, sizeof at);
    }
}

/* How many are zero. */
static void count_zeros(const leaves_job *job, char *values, const char *row, const int64_t *offsets, int64_t m) {
    const reduce_problem *p = job->p;
    reduce_node nodes[AT_ONCE];
    for (int64_t i = 0; i < m; i++) {
        const int64_t n = segment_size(job, offsets + i);
        int64_t zeros = 0, nans = 0;
        tess_reduce_node_empty(p, &nodes[i]);
        if (n > 0)
            job->reading->order->count[p->in.type](row + offsets[i] * p->in.itemsize, p->in.itemsize, n, p->omit, &zeros, &nans);
        nodes[i].value.u64 = (uint64_t)zeros;
        nodes[i].count = n - (p->omit ? nans : 0);
    }
    finish_nodes(p, nodes, values, m);
}

/* Means and squared deviations. */
static void take_moments(const leaves_job *job, int number, char *values, const char *row, const int64_t *offsets, int64_t m) {
    const reduce_problem *p = job->p;
    reduce_node nodes[AT_ONCE];
    leaf_window window;
    leaf_worker w = tess_reduce_leaf_worker(job, number, &window);
    for (int64_t i = 0; i < m; i += REDUCE_SHORT_ROWS) {
        double mean[REDUCE_SHORT_ROWS], m2[REDUCE_SHORT_ROWS];
        const bool whole = i + REDUCE_SHORT_ROWS <= m;
        if (whole)
            job->kernels->brief->moment_segments[p->in.type](mean, m2, row, offsets + i);
        for (int64_t k = i; k < tess_min64(i + REDUCE_SHORT_ROWS, m); k++) {
            const int64_t n = segment_size(job, offsets + k);
            reduce_node *node = &nodes[k];
            tess_reduce_node_empty(p, node);
            if (n > 0 && n <= REDUCE_LANES && whole) {
                node->mean = mean[k - i];
                node->m2 = m2[k - i];
                node->count = n;
            } else if (n > 0) {
                w.base = row + offsets[k] * p->in.itemsize;
                tess_reduce_fold_subtree(&w, 0, n, node);
            }
        }
    }
    finish_nodes(p, nodes, values, m);
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
    for (int64_t task = begin, in_offset, out_offset, m; task < end; task += m) {
        const int64_t segment = task % p->segments, *offsets = p->offsets + segment;
        m = tess_min64(tess_min64(end - task, AT_ONCE), p->segments - segment);
        reduce_task_place(p, task, &in_offset, &out_offset);
        const char *row = job->run->in + in_offset;
        switch (p->kind) {
        case REDUCE_EXTREME: take_greatest(job, values, row, offsets, m); break;
        case REDUCE_ARG: take_places(job, values, row, offsets, m); break;
        case REDUCE_COUNT: count_zeros(job, values, row, offsets, m); break;
        case REDUCE_VAR: take_moments(job, number, values, row, offsets, m); break;
        default:
            sum(job, values, row, offsets, m);
            finish_sums(p, values, offsets, m);
            break;
        }
        job->storer(job->run->out + out_offset, p->segment_stride, values, m);
    }
}
