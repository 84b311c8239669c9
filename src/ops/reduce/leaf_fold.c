/* SPDX-License-Identifier: Apache-2.0
 * leaf_fold.c - what one thread of the rows reduce/lanes and reduce/gather does: a leaf of the tree, or a subtree of leaves, becomes a node.
 *
 * Both rows fold a leaf with the same kernels. lanes reads elements where they lie; gather first loads them, whatever their strides and type, into a buffer
 * that stays in L1 or L2. */
#include <string.h>

#include "ops/reduce/leaves.h"
#include "ops/reduce/walk.h"
#include "simd/simd.h"

leaf_worker tess_reduce_leaf_worker(const leaves_job *job, int number, leaf_window *window) {
    char *buffer = (char *)job->run->workspace + number * job->buffer_size;
    const int64_t half = (job->buffer_size - job->window_size) / 2;
    *window = (leaf_window){.elements = buffer + 2 * half};
    return (leaf_worker){.job = job, .loaded = buffer, .mapped = buffer + half, .window = job->window_size > 0 ? window : NULL};
}

/* Runs of several axes lie apart, and a processor sees no more than one of them coming: where they come from memory and are no pages, the lines of elements first ..
 * first + n - 1, or of the next output's first ones where there are no more, are asked for while those before are folded. Measured on a Zen 5: sums of f64 of 365 x 24 x 50
 * x 50 over the second and the last axis 12 -> 19 GB/s; in L3 it took a third more time. */
static void ask_for(const leaf_worker *w, int64_t first, int64_t n) {
    enum { LINE = 64, PAGE = 4096, FAR = 24 << 20 };
    const reduce_problem *p = w->job->p;
    const int64_t size = p->in.itemsize, longest = p->size[p->rank - 1] * size;
    const char *base = first < p->k ? w->base : w->next, *run;
    reduce_walk walk;
    int64_t m;
    if (p->rank == 1 || p->base.bytes < FAR || p->stride[0][p->rank - 1] != size || longest < LINE || longest > PAGE || !base)
        return;
    first = first < p->k ? first : 0;
    reduce_walk_start(&walk, p, base, first, tess_min64(n, p->k - first));
    while (reduce_walk_next(&walk, &run, &m))
        for (int64_t at = 0; at < m * size; at += LINE)
            tess_prefetch_l2(run + at);
}

/* Short runs of several axes are the quicker as one: a kernel takes as long to begin and to end as to read a few lines. What lies apart or backwards has no kernel. */
static bool packs(const leaf_worker *w) {
    enum { SHORT = 1024 }; /* bytes of a run */
    const reduce_problem *p = w->job->p;
    const int last = p->rank - 1;
    return p->stride[0][last] != p->in.itemsize || (last > 0 && p->size[last] * p->in.itemsize < SHORT);
}

/* Elements first .. first+n-1, as many as half a buffer holds, one after the other: in `row`, or where they stand so already. */
static const char *pack(const leaf_worker *w, int64_t first, int64_t n, char *row) {
    enum { LINE = 64, FEW = 4 };
    const reduce_problem *p = w->job->p;
    char *to = row;
    reduce_walk walk;
    const char *run;
    int64_t m;
    if (w->window) {
        for (m = n; n > 0; to += m * p->in.itemsize, first += m, n -= m, m = n) {
            run = tess_reduce_window(w->window, w->job, w->base, first, &m);
            if (m == n && to == row)
                return run;
            memcpy(to, run, (size_t)(m * p->in.itemsize));
        }
        return row;
    }
    ask_for(w, first + n, n);
    reduce_walk_start(&walk, p, w->base, first, n);
    for (int64_t bytes; reduce_walk_next(&walk, &run, &m); to += bytes) {
        bytes = m * p->in.itemsize;
        if (walk.stride != p->in.itemsize)
            w->job->straighten(to, run, walk.stride, m);
        else if (bytes > FEW * LINE || w->job->end - run < FEW * LINE)
            memcpy(to, run, (size_t)bytes);
        else
            for (int64_t at = 0; at < bytes; at += LINE) /* what is too much the next run writes over; the buffer's other half is not in use */
                memcpy(to + at, run + at, LINE);
    }
    return row;
}

/* Elements first .. first+n-1 as a row of the load type: where they lie when that is allowed and true, else loaded. */
static const void *fetch(const leaf_worker *w, int64_t first, int64_t n) {
    const reduce_problem *p = w->job->p;
    int64_t size = (int64_t)tess_type_size(p->load), filled = 0, m;
    const char *run;
    reduce_walk walk;
    if (p->rank > 1 && packs(w) && (w->window || p->in.type == p->load)) {
        if (p->in.type == p->load)
            return pack(w, first, n, w->loaded);
        w->job->loader(w->loaded, pack(w, first, n, w->mapped), p->in.itemsize, n);
        return w->loaded;
    }
    ask_for(w, first + n, n);
    reduce_walk_start(&walk, p, w->base, first, n);
    while (reduce_walk_next(&walk, &run, &m)) {
        if (m == n && w->job->in_place && p->in.type == p->load && walk.stride == size)
            return run;
        w->job->loader(w->loaded + filled * size, run, walk.stride, m);
        filled += m;
    }
    return w->loaded;
}

/* fetch, and the problem's map. *nans grows by the NaNs when they are to be left out. */
static const void *fetch_mapped(const leaf_worker *w, int64_t first, int64_t n, int64_t *nans) {
    const reduce_problem *p = w->job->p;
    const void *row = fetch(w, first, n);
    int64_t (*map)(void *, const void *, int64_t, bool, double) = w->job->kernels->map->map[p->map][p->load];
    if (!map || (p->map == REDUCE_PLAIN && !p->omit))
        return row;
    int64_t found = map(w->mapped, row, n, p->omit, p->kind == REDUCE_PROD ? 1 : 0);
    *nans += p->omit ? found : 0;
    return w->mapped;
}

/* A leaf that lies in a window, or fits the buffer: its tree in registers. */
static bool fold_straight(const leaf_worker *w, int64_t first, int64_t n, reduce_node *node) {
    int64_t m = n;
    const void *row;
    if (!w->job->leaf || (!w->window && n > REDUCE_STRIP))
        return false;
    row = w->window ? tess_reduce_window(w->window, w->job, w->base, first, &m) : fetch(w, first, n);
    if (m < n)
        return false;
    w->job->leaf(&node->value, row, 0, 1, n);
    node->count = n;
    return true;
}

static void fold_tree(const leaf_worker *w, int64_t first, int64_t n, reduce_node *node) {
    if (fold_straight(w, first, n, node))
        return;
    const reduce_problem *p = w->job->p;
    const reduce_lane_kernels *kernels = w->job->kernels->lane;
    void (*accumulate)(void *, const void *, int64_t, bool) = p->kind == REDUCE_PROD ? kernels->multiply[p->acc] : kernels->add[p->acc];
    void (*halve)(void *, int) = p->kind == REDUCE_PROD ? kernels->halve_multiply[p->acc] : kernels->halve_add[p->acc];
    _Alignas(64) char lanes[REDUCE_LANES * sizeof(tess_value)];
    int64_t nans = 0;
    bool whole = w->job->in_place && p->map == REDUCE_PLAIN && !p->omit && p->in.type == p->load && reduce_is_run(p);
    int64_t strip = whole ? REDUCE_LEAF : REDUCE_STRIP;
    for (int64_t done = 0; done < n; done += strip) {
        int64_t m = tess_min64(n - done, strip);
        const void *row = fetch_mapped(w, first + done, m, &nans);
        accumulate(lanes, row, m, done == 0);
    }
    halve(lanes, (int)tess_min64(n, REDUCE_LANES));
    memcpy(&node->value, lanes, tess_type_size(p->acc));
    node->count = n - nans;
}

/* Bytes in memory are added quickest by whole lines that are touched, other integers by halves of lines. */
static void fold_integers(const leaf_worker *w, const char *run, int64_t stride, int64_t n, reduce_node *node) {
    const reduce_problem *p = w->job->p;
    const reduce_kernels *kernels = p->in.type == tess_u8 ? w->job->kernels : w->job->reading;
    node->value.u64 += kernels->lane->integers[p->in.type](run, stride, n, p->order.cached);
    node->count += n;
}

static void fold_count(const leaf_worker *w, const char *run, int64_t stride, int64_t n, reduce_node *node) {
    const reduce_problem *p = w->job->p;
    int64_t zeros, nans;
    w->job->reading->order->count[p->in.type](run, stride, n, p->omit, &zeros, &nans);
    node->value.u64 += (uint64_t)zeros;
    node->count += n - (p->omit ? nans : 0);
}

/* The greatest key of n elements, and for ARG where it stands first: found with the key, which in the caches is quicker, or searched for in runs that beat
 * those before. */
static void fold_runs(const leaf_worker *w, tess_type type, const char *run, int64_t stride, int64_t number, int64_t n, reduce_node *node) {
    const reduce_problem *p = w->job->p;
    const reduce_order_kernels *kernels = reduce_leaf_order(w->job, type);
    const bool together = p->kind == REDUCE_ARG && p->order.cached && kernels->place[type] && stride == (int64_t)tess_type_size(type);
    int64_t key, at = -1;
    if (together)
        at = kernels->place[type](run, n, p->order, &key);
    else
        key = kernels->greatest[type](run, stride, n, p->order);
    if (p->kind == REDUCE_ARG && (node->index < 0 || key > node->key)) {
        if (p->omit && key == reduce_lowest_key((int64_t)tess_type_size(type)))
            return;
        node->index = number + (together ? at : kernels->find[type](run, stride, n, p->order, key));
    }
    node->key = tess_max64(node->key, key);
}

/* Moduli of complex numbers. */
static void fold_moduli(const leaf_worker *w, int64_t first, int64_t n, reduce_node *node) {
    const reduce_problem *p = w->job->p;
    for (int64_t done = 0, nans = 0; done < n; done += REDUCE_STRIP) {
        int64_t m = tess_min64(n - done, REDUCE_STRIP);
        fold_runs(w, p->acc, fetch_mapped(w, first + done, m, &nans), (int64_t)tess_type_size(p->acc), first + done, m, node);
    }
    node->count += n;
}

/* A run of what has no tree. */
static void fold_run(const leaf_worker *w, const char *run, int64_t stride, int64_t number, int64_t n, reduce_node *node) {
    const reduce_problem *p = w->job->p;
    if (p->kind == REDUCE_SUM) {
        fold_integers(w, run, stride, n, node);
    } else if (p->kind == REDUCE_COUNT) {
        fold_count(w, run, stride, n, node);
    } else {
        fold_runs(w, p->in.type, run, stride, number, n, node);
        node->count += n;
    }
}

static void fold_walk(const leaf_worker *w, int64_t first, int64_t n, reduce_node *node) {
    enum { AHEAD = 8192 }; /* bytes */
    const reduce_problem *p = w->job->p;
    reduce_walk walk;
    const char *run;
    int64_t m, number = first;
    if (packs(w) && p->map == REDUCE_PLAIN && !tess_is_complex(p->in.type)) {
        for (int64_t done = 0; done < n; done += m) {
            m = tess_min64(n - done, REDUCE_STRIP);
            fold_run(w, pack(w, first + done, m, w->loaded), p->in.itemsize, first + done, m, node);
        }
        return;
    }
    reduce_walk_start(&walk, p, w->base, first, n);
    for (; reduce_walk_next(&walk, &run, &m); number += m) {
        ask_for(w, number + AHEAD / p->in.itemsize, m);
        fold_run(w, run, walk.stride, number, m, node);
    }
}

/* Two passes over a leaf, of which only the first goes to memory. */
static void fold_moments(const leaf_worker *w, int64_t first, int64_t n, reduce_node *node) {
    const reduce_problem *p = w->job->p;
    const reduce_lane_kernels *kernels = w->job->kernels->lane;
    _Alignas(64) double lanes[REDUCE_LANES];
    int64_t nans = 0;
    if (w->job->moments) {
        w->job->moments(&node->mean, &node->m2, w->base + first * p->in.itemsize, n);
        node->count = n;
        return;
    }
    const void *row = fetch(w, first, n), *summed = row;
    if (p->omit) {
        nans = w->job->kernels->map->map[REDUCE_PLAIN][tess_f64](w->mapped, row, n, true, 0);
        summed = w->mapped;
    }
    node->count = n - nans;
    if (node->count == 0)
        return;
    kernels->add[tess_f64](lanes, summed, n, true);
    kernels->halve_add[tess_f64](lanes, (int)tess_min64(n, REDUCE_LANES));
    node->mean = lanes[0] / (double)node->count;
    kernels->deviations(lanes, row, n, true, node->mean, p->omit);
    kernels->halve_add[tess_f64](lanes, (int)tess_min64(n, REDUCE_LANES));
    node->m2 = lanes[0];
}

/* Integer sums, counts and extremes have no tree: leaf after leaf goes into one node, which also spares ARG a search in leaves that beat nothing. */
static bool runs_on(const reduce_problem *p) {
    return p->kind == REDUCE_COUNT || p->kind == REDUCE_EXTREME || p->kind == REDUCE_ARG ||
           (p->kind == REDUCE_SUM && p->map == REDUCE_PLAIN && reduce_is_integer(p->acc));
}

static void fold_into(const leaf_worker *w, int64_t first, int64_t n, reduce_node *node) {
    const reduce_problem *p = w->job->p;
    if (p->kind == REDUCE_VAR)
        fold_moments(w, first, n, node);
    else if (!runs_on(p))
        fold_tree(w, first, n, node);
    else if (p->map == REDUCE_PLAIN || p->kind == REDUCE_COUNT)
        fold_walk(w, first, n, node);
    else
        fold_moduli(w, first, n, node);
}

bool tess_reduce_decides(const reduce_problem *p, const reduce_node *node) {
    if (p->kind == REDUCE_COUNT)
        return p->operation == TESS_ANY ? (uint64_t)node->count > node->value.u64 : p->operation == TESS_ALL && node->value.u64 > 0;
    if ((p->kind != REDUCE_EXTREME && p->kind != REDUCE_ARG) || p->map != REDUCE_PLAIN) /* of complex numbers moduli are compared */
        return false;
    return node->key == (p->in.type != tess_bool ? reduce_highest_key(p->in.itemsize) : p->order.smallest ? -1 : 1);
}

static bool repeats(const reduce_problem *p) { return p->rank == 1 && p->stride[0][0] == 0; }

void tess_reduce_fold_leaf(leaf_worker *w, int64_t first, int64_t n, reduce_node *node) {
    const reduce_problem *p = w->job->p;
    bool keep = repeats(p) && n == REDUCE_LEAF;
    if (keep && w->constant) {
        *node = w->last;
        if (node->index >= 0)
            node->index += first;
        return;
    }
    tess_reduce_node_empty(p, node);
    fold_into(w, first, n, node);
    if (keep) {
        w->constant = true;
        w->last = *node;
        if (w->last.index >= 0)
            w->last.index -= first;
    }
}

void tess_reduce_fold_subtree(leaf_worker *w, int64_t begin, int64_t end, reduce_node *node) {
    reduce_node stack[REDUCE_LEVELS];
    int depth = 0;
    int64_t leaf = 0;
    if (w->job->rows && begin < end) {
        tess_reduce_node_empty(w->job->p, node);
        w->job->rows(&node->value, w->base + begin * w->job->p->in.itemsize, 0, 1, end - begin);
        node->count = end - begin;
        return;
    }
    if (runs_on(w->job->p) && !repeats(w->job->p)) {
        const reduce_problem *p = w->job->p;
        tess_reduce_node_empty(p, node);
        /* A run that beats those before is searched in L2. */
        const int64_t most = reduce_is_soon_decided(p) ? REDUCE_AT_ONCE / p->in.itemsize : end - begin;
        for (int64_t first = begin; first < end && !tess_reduce_decides(p, node); first += most)
            fold_into(w, first, tess_min64(end - first, most), node);
        return;
    }
    for (int64_t first = begin; first < end; first += REDUCE_LEAF, leaf++) {
        tess_reduce_fold_leaf(w, first, tess_min64(end - first, REDUCE_LEAF), &stack[depth++]);
        for (int merges = reduce_merges_after(leaf); merges > 0; merges--, depth--)
            tess_reduce_node_merge(w->job->p, &stack[depth - 2], &stack[depth - 1]);
    }
    for (; depth > 1; depth--)
        tess_reduce_node_merge(w->job->p, &stack[depth - 2], &stack[depth - 1]);
    if (depth == 1)
        *node = stack[0];
    else
        tess_reduce_node_empty(w->job->p, node);
}
