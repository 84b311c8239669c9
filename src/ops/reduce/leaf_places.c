/* SPDX-License-Identifier: Apache-2.0
 * leaf_places.c - places of extremes whose elements are numbered across memory (argmax of a transposed array), compared in the order in which memory has them.
 *
 * Which element is the greatest no order can change; which of several equal ones is the first does not show in memory's order. So memory is read in boxes that follow one
 * another there, and a box is searched, in the order of numbers, only where it beats those before, or where it has as great an element and could have a lower number. */
#include <stdlib.h>

#include "core/parallel.h"
#include "ops/reduce/leaves.h"
#include "ops/reduce/walk.h"

/* BOX: elements of a box, at most, so that it is searched in the caches. BRIEF: fewer elements of an output are as quick in the order of their numbers. */
enum { BOX = 1 << 14, BRIEF = 4096, PIECES_A_THREAD = 16 };

/* An axis: its steps in memory and in numbers. */
typedef struct places_axis {
    int64_t size, stride, weight;
} places_axis;

typedef struct places_job {
    const leaves_job *leaves;
    const char *base;
    int64_t boxes, n;                                     /* of an output: how many there are, and the elements of one that is not cut short */
    int64_t stretch;                                      /* of the axis that boxes cut */
    int outer;                                            /* axes between boxes, the last of them cut into stretches */
    int64_t count[TESS_MAX_NDIM], step[2][TESS_MAX_NDIM]; /* of these: boxes, and their steps in memory and in numbers */
    int inner;                                            /* axes of a box, in the order of numbers; `cut` is the one that is cut */
    int cut;
    places_axis axis[TESS_MAX_NDIM];
    int64_t pieces;
    reduce_node *found;
} places_job;

/* The greatest steps in memory first. */
static void sort(places_axis *axis, int count) {
    for (int i = 1; i < count; i++)
        for (int at = i; at > 0 && llabs(axis[at - 1].stride) < llabs(axis[at].stride); at--) {
            const places_axis other = axis[at];
            axis[at] = axis[at - 1];
            axis[at - 1] = other;
        }
}

bool tess_reduce_places(const reduce_problem *p) {
    const int last = p->rank - 1;
    bool across = false;
    for (int d = 0; d < last; d++)
        across |= llabs(p->stride[0][d]) < llabs(p->stride[0][last]);
    for (int d = 0; d <= last; d++)
        across &= p->stride[0][d] != 0;
    return across && p->kind == REDUCE_ARG && !p->offsets && p->k >= BRIEF;
}

size_t tess_reduce_places_workspace(int threads) { return sizeof(reduce_node) * (size_t)(PIECES_A_THREAD * threads); }

/* Axes from the one with the least steps on, as far as they follow one another without gaps and a box holds them, and a stretch of the next. */
static void cut_boxes(places_job *job, const reduce_problem *p) {
    places_axis axis[TESS_MAX_NDIM] = {{0}};
    int64_t weight = 1;
    for (int d = p->rank - 1; d >= 0; weight *= p->size[d--])
        axis[d] = (places_axis){p->size[d], p->stride[0][d], weight};
    sort(axis, p->rank);
    int cut = p->rank - 1;
    job->n = 1;
    while (cut > 0 && job->n * axis[cut].size * 2 <= BOX && axis[cut - 1].stride == axis[cut].stride * axis[cut].size)
        job->n *= axis[cut--].size;
    job->stretch = tess_min64(axis[cut].size, BOX / job->n);
    job->n *= job->stretch;
    job->outer = cut + 1;
    job->boxes = 1;
    for (int d = 0; d <= cut; d++) {
        const int64_t each = d == cut ? job->stretch : 1;
        job->count[d] = tess_ceil_div(axis[d].size, each);
        job->step[0][d] = each * axis[d].stride;
        job->step[1][d] = each * axis[d].weight;
        job->boxes *= job->count[d];
    }
    job->inner = 0;
    for (int d = cut; d < p->rank; d++) { /* the greatest weights first */
        int at = job->inner++;
        for (; at > 0 && job->axis[at - 1].weight < axis[d].weight; at--)
            job->axis[at] = job->axis[at - 1];
        job->axis[at] = axis[d];
    }
    for (int d = 0; d < job->inner; d++)
        if (job->axis[d].weight == axis[cut].weight)
            job->cut = d;
}

/* The lowest number in a box, whose first element is at `box`, of those with the key. There is one. */
static int64_t search(const places_job *job, const char *box, int64_t stretch, int64_t key) {
    const reduce_problem *p = job->leaves->p;
    const int last = job->inner - 1;
    const places_axis *run = &job->axis[last];
    int64_t shape[TESS_MAX_NDIM], steps[2][TESS_MAX_NDIM], count = 1;
    for (int d = 0; d < last; d++) {
        shape[d] = d == job->cut ? stretch : job->axis[d].size;
        steps[0][d] = job->axis[d].stride;
        steps[1][d] = job->axis[d].weight;
        count *= shape[d];
    }
    const int64_t n = last == job->cut ? stretch : run->size;
    tess_index at;
    tess_index_start(&at, last, shape, 2, steps, 0);
    for (int64_t k = 0; k < count; k++, tess_index_next(&at)) {
        const int64_t place = job->leaves->kernels->order->find[p->in.type](box + at.offset[0], run->stride, n, p->order, key);
        if (place < n)
            return at.offset[1] + place * run->weight;
    }
    return 0;
}

static void pieces(void *argument, int64_t begin, int64_t end, int number) {
    const places_job *job = argument;
    const reduce_problem *p = job->leaves->p;
    const places_axis *finest = NULL;
    const int64_t lowest = reduce_lowest_key(p->in.itemsize), last = job->count[job->outer - 1];
    (void)number;
    for (int d = 0; d < job->inner; d++)
        if (!finest || llabs(job->axis[d].stride) < llabs(finest->stride))
            finest = &job->axis[d];
    for (int64_t piece = begin; piece < end; piece++) {
        const int64_t first = piece * job->boxes / job->pieces, behind = (piece + 1) * job->boxes / job->pieces;
        reduce_node *node = &job->found[piece];
        tess_index at;
        tess_reduce_node_empty(p, node);
        tess_index_start(&at, job->outer, job->count, 2, (int64_t(*)[TESS_MAX_NDIM])job->step, first);
        for (int64_t box = first; box < behind; box++, tess_index_next(&at)) {
            const char *from = job->base + at.offset[0];
            const int64_t stretch = box % last < last - 1 ? job->stretch : job->axis[job->cut].size - (last - 1) * job->stretch;
            const int64_t n = job->n / job->stretch * stretch,
                          key = job->leaves->kernels->order->greatest[p->in.type](from, finest->stride, n, p->order);
            node->count += n;
            if ((p->omit && key == lowest) || (node->index >= 0 && (key < node->key || (key == node->key && at.offset[1] >= node->index))))
                continue;
            const int64_t found = at.offset[1] + search(job, from, stretch, key);
            node->index = node->index < 0 || key > node->key ? found : tess_min64(node->index, found);
            node->key = key;
        }
    }
}

void tess_reduce_place(const leaves_job *leaves, const char *base, reduce_node *node) {
    places_job job = {.leaves = leaves, .base = base, .pieces = 1, .found = node};
    cut_boxes(&job, leaves->p);
    pieces(&job, 0, 1, 0);
}

tess_status tess_reduce_place_together(const leaves_job *leaves, const char *base, reduce_node *node) {
    places_job job = {.leaves = leaves, .base = base, .found = (reduce_node *)leaves->run->workspace};
    cut_boxes(&job, leaves->p);
    job.pieces = tess_min64(job.boxes, PIECES_A_THREAD * leaves->run->threads);
    TESS_TRY(tess_parallel(leaves->run->context, leaves->run->threads, job.pieces, 1, pieces, &job));
    *node = job.found[0];
    for (int64_t k = 1; k < job.pieces; k++) {
        const reduce_node *other = &job.found[k];
        node->count += other->count;
        if (other->index < 0 || (node->index >= 0 && (other->key < node->key || (other->key == node->key && other->index > node->index))))
            continue;
        node->key = other->key;
        node->index = other->index;
    }
    return TESS_OK;
}
