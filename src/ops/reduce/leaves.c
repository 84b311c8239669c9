/* SPDX-License-Identifier: Apache-2.0
 * leaves.c - the rows reduce/lanes and reduce/gather: one output after another, one leaf of the tree after another.
 *
 * Both fold a leaf with the same kernels. lanes reads elements where they lie, so memory is passed once and nothing is copied; gather first loads
 * them, whatever their strides and type, into a buffer that stays in L1 or L2. Threads share the outputs; when one output is long, they share its
 * leaves instead: a subtree of 2^p leaves is folded by one thread, and the subtrees are merged as the tree says. */
#include <string.h>

#include "core/parallel.h"
#include "ops/reduce/walk.h"
#include "simd/simd.h"

enum { STRIP = 8 * REDUCE_LANES, PIECES_A_THREAD = 16, AT_ONCE = 1 << 18, OUTPUTS_AT_ONCE = 256 };

typedef struct leaves_job {
    const reduce_problem *p;
    const tess_run *run;
    const reduce_kernels *kernels, *reading;
    tess_row_loader loader;
    tess_row_storer storer;
    bool in_place;
    void (*rows)(void *, const char *, int64_t, int64_t, int64_t); /* whole trees of elements as they lie, or NULL */
    void (*moments)(double *, double *, const void *, int64_t);    /* of a leaf as it lies, or NULL */
    int64_t buffer_size, split; /* bytes of one worker's buffer; sizes from `split` on are shared among the threads */
    /* the output that the threads share */
    const char *base;
    int64_t size, span; /* its elements; leaves in a piece */
    reduce_node *pieces;
} leaves_job;

/* What one thread works with. */
typedef struct worker {
    const leaves_job *job;
    const char *base; /* element 0 of the output's elements */
    char *loaded, *mapped;
    /* A run of stride 0 has equal full leaves: the last one stands for the next. */
    bool constant;
    reduce_node last;
} worker;

static int64_t rows_at_once(const reduce_problem *p) { return p->kind == REDUCE_VAR ? REDUCE_LEAF : STRIP; }

/* Half of a worker's buffer: room for the elements of a strip, of their load type or mapped. */
static int64_t half_buffer(const reduce_problem *p) {
    int64_t n = tess_min64(p->longest, rows_at_once(p));
    int64_t wider =
        (int64_t)tess_type_size(p->load) > (int64_t)tess_type_size(p->acc) ? (int64_t)tess_type_size(p->load) : (int64_t)tess_type_size(p->acc);
    return (n * wider + 63) / 64 * 64;
}

static size_t workspace(const reduce_problem *p, int threads) {
    return (size_t)(2 * half_buffer(p) * threads) + (threads > 1 ? sizeof(reduce_node) * (size_t)(2 * PIECES_A_THREAD * threads + 2) : 0);
}

static worker worker_start(const leaves_job *job, int number) {
    char *buffer = (char *)job->run->workspace + number * job->buffer_size;
    return (worker){.job = job, .loaded = buffer, .mapped = buffer + job->buffer_size / 2};
}

/* Elements first .. first+n-1 as a row of the load type: where they lie when that is allowed and true, else loaded. */
static const void *fetch(const worker *w, int64_t first, int64_t n) {
    const reduce_problem *p = w->job->p;
    int64_t size = (int64_t)tess_type_size(p->load), filled = 0, m;
    const char *run;
    reduce_walk walk;
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
static const void *fetch_mapped(const worker *w, int64_t first, int64_t n, int64_t *nans) {
    const reduce_problem *p = w->job->p;
    const void *row = fetch(w, first, n);
    int64_t (*map)(void *, const void *, int64_t, bool, double) = w->job->kernels->map->map[p->map][p->load];
    if (!map || (p->map == REDUCE_PLAIN && !p->omit))
        return row;
    int64_t found = map(w->mapped, row, n, p->omit, p->kind == REDUCE_PROD ? 1 : 0);
    *nans += p->omit ? found : 0;
    return w->mapped;
}

static void fold_tree(const worker *w, int64_t first, int64_t n, reduce_node *node) {
    const reduce_problem *p = w->job->p;
    const reduce_lane_kernels *kernels = w->job->kernels->lane;
    void (*accumulate)(void *, const void *, int64_t, bool) = p->kind == REDUCE_PROD ? kernels->multiply[p->acc] : kernels->add[p->acc];
    void (*halve)(void *, int) = p->kind == REDUCE_PROD ? kernels->halve_multiply[p->acc] : kernels->halve_add[p->acc];
    _Alignas(64) char lanes[REDUCE_LANES * sizeof(tess_value)];
    int64_t nans = 0;
    bool whole = w->job->in_place && p->map == REDUCE_PLAIN && !p->omit && p->in.type == p->load && reduce_is_run(p);
    int64_t strip = whole ? REDUCE_LEAF : STRIP;
    for (int64_t done = 0; done < n; done += strip) {
        int64_t m = tess_min64(n - done, strip);
        const void *row = fetch_mapped(w, first + done, m, &nans);
        accumulate(lanes, row, m, done == 0);
    }
    halve(lanes, (int)tess_min64(n, REDUCE_LANES));
    memcpy(&node->value, lanes, tess_type_size(p->acc));
    node->count = n - nans;
}

static void fold_integers(const worker *w, int64_t first, int64_t n, reduce_node *node) {
    const reduce_problem *p = w->job->p;
    reduce_walk walk;
    const char *run;
    int64_t m;
    reduce_walk_start(&walk, p, w->base, first, n);
    while (reduce_walk_next(&walk, &run, &m))
        node->value.u64 += w->job->reading->lane->integers[p->in.type](run, walk.stride, m);
    node->count += n;
}

static void fold_count(const worker *w, int64_t first, int64_t n, reduce_node *node) {
    const reduce_problem *p = w->job->p;
    reduce_walk walk;
    const char *run;
    int64_t m, zeros, nans;
    reduce_walk_start(&walk, p, w->base, first, n);
    node->count += n;
    while (reduce_walk_next(&walk, &run, &m)) {
        w->job->reading->order->count[p->in.type](run, walk.stride, m, p->omit, &zeros, &nans);
        node->value.u64 += (uint64_t)zeros;
        node->count -= p->omit ? nans : 0;
    }
}

/* Extremes of floats in memory are as quick by vectors of a line, those of integers are not. */
static const reduce_order_kernels *order_kernels(const leaves_job *job, tess_type type) {
    return (tess_is_float(type) ? job->kernels : job->reading)->order;
}

/* The greatest key of n elements, and for ARG where it stands first: found with the key, which in the caches is quicker, or searched for in runs that beat
 * those before. */
static void fold_runs(const worker *w, tess_type type, const char *run, int64_t stride, int64_t number, int64_t n, reduce_node *node) {
    const reduce_problem *p = w->job->p;
    const reduce_order_kernels *kernels = order_kernels(w->job, type);
    const bool together = p->kind == REDUCE_ARG && p->order.cached && kernels->place[type] && stride == (int64_t)tess_type_size(type);
    int64_t key, at = -1;
    if (together)
        at = kernels->place[type](run, n, p->order, &key);
    else
        key = kernels->greatest[type](run, stride, n, p->order);
    if (p->kind == REDUCE_ARG && (node->index < 0 || key > node->key)) {
        int64_t lowest = -((int64_t)1 << (8 * tess_type_size(type) - 2)) * 2;
        if (p->omit && key == lowest)
            return;
        node->index = number + (together ? at : kernels->find[type](run, stride, n, p->order, key));
    }
    node->key = tess_max64(node->key, key);
}

static void fold_order(const worker *w, int64_t first, int64_t n, reduce_node *node) {
    const reduce_problem *p = w->job->p;
    node->count += n;
    if (p->map != REDUCE_PLAIN) { /* moduli of complex numbers */
        for (int64_t done = 0, nans = 0; done < n; done += STRIP) {
            int64_t m = tess_min64(n - done, STRIP);
            fold_runs(w, p->acc, fetch_mapped(w, first + done, m, &nans), (int64_t)tess_type_size(p->acc), first + done, m, node);
        }
        return;
    }
    reduce_walk walk;
    const char *run;
    int64_t m, number = first;
    reduce_walk_start(&walk, p, w->base, first, n);
    for (; reduce_walk_next(&walk, &run, &m); number += m)
        fold_runs(w, p->in.type, run, walk.stride, number, m, node);
}

/* Two passes over a leaf, of which only the first goes to memory. */
static void fold_moments(const worker *w, int64_t first, int64_t n, reduce_node *node) {
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

static void fold_into(const worker *w, int64_t first, int64_t n, reduce_node *node) {
    const reduce_problem *p = w->job->p;
    switch (p->kind) {
    case REDUCE_SUM:
        if (p->map == REDUCE_PLAIN && reduce_is_integer(p->acc))
            fold_integers(w, first, n, node);
        else
            fold_tree(w, first, n, node);
        break;
    case REDUCE_PROD: fold_tree(w, first, n, node); break;
    case REDUCE_COUNT: fold_count(w, first, n, node); break;
    case REDUCE_EXTREME:
    case REDUCE_ARG: fold_order(w, first, n, node); break;
    case REDUCE_VAR: fold_moments(w, first, n, node); break;
    }
}

static bool repeats(const reduce_problem *p) { return p->rank == 1 && p->stride[0][0] == 0; }

static void fold_leaf(worker *w, int64_t first, int64_t n, reduce_node *node) {
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

/* Elements begin .. end-1, begin being a multiple of a leaf and of the size rounded up to a power of two, if there is more behind. */
static void fold_subtree(worker *w, int64_t begin, int64_t end, reduce_node *node) {
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
        tess_reduce_node_empty(w->job->p, node);
        /* A run that beats those before is searched in L2. */
        const int64_t most = w->job->p->kind == REDUCE_ARG ? AT_ONCE / w->job->p->in.itemsize : end - begin;
        for (int64_t first = begin; first < end; first += most)
            fold_into(w, first, tess_min64(end - first, most), node);
        return;
    }
    for (int64_t first = begin; first < end; first += REDUCE_LEAF, leaf++) {
        fold_leaf(w, first, tess_min64(end - first, REDUCE_LEAF), &stack[depth++]);
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

static void store(const leaves_job *job, const reduce_node *node, int64_t out_offset) {
    tess_value value = tess_reduce_node_finish(job->p, node);
    job->storer(job->run->out + out_offset, job->p->out.itemsize, &value, 1);
}

static void output_tasks(void *argument, int64_t begin, int64_t end, int number) {
    const leaves_job *job = argument;
    const reduce_problem *p = job->p;
    worker w = worker_start(job, number);
    tess_index place;
    int64_t segment = begin % p->segments;
    tess_index_start(&place, p->kept, p->kept_size, 2, (int64_t(*)[TESS_MAX_NDIM])p->kept_stride, begin / p->segments);
    for (int64_t task = begin; task < end; task++) {
        int64_t first, size = reduce_task_size(p, segment, &first);
        if (size < job->split) {
            reduce_node node;
            w.base = job->run->in + place.offset[0] + first * p->stride[0][0];
            w.constant = false;
            if (size > 0 && size <= REDUCE_LEAF && !job->rows)
                fold_leaf(&w, 0, size, &node);
            else
                fold_subtree(&w, 0, size, &node);
            store(job, &node, place.offset[1] + segment * p->segment_stride);
        }
        if (++segment == p->segments) {
            segment = 0;
            tess_index_next(&place);
        }
    }
}

/* Outputs that are a run each, many at once: between two of them memory would rest. */
typedef struct row_results {
    _Alignas(64) tess_value values[OUTPUTS_AT_ONCE];
    int64_t keys[OUTPUTS_AT_ONCE];
} row_results;

/* The greatest keys of m runs, `step` bytes apart, as a row of finished values. */
static const void *row_extremes(const leaves_job *job, row_results *to, const char *rows, int64_t step, int64_t m) {
    const reduce_problem *p = job->p;
    const int64_t size = (int64_t)tess_type_size(p->result);
    for (int64_t i = 0; i < m; i++)
        to->keys[i] = order_kernels(job, p->in.type)->greatest[p->in.type](rows + i * step, p->in.itemsize, p->k, p->order);
    if (tess_reduce_finish_keys(p, job->kernels, to->keys, to->values, m))
        return to->values;
    for (int64_t i = 0; i < m; i++) {
        reduce_node node;
        tess_reduce_node_empty(p, &node);
        node.count = p->k;
        node.key = to->keys[i];
        tess_value value = tess_reduce_node_finish(p, &node);
        memcpy((char *)to->values + i * size, &value, (size_t)size);
    }
    return to->values;
}

/* Their places. While a run is searched in the caches, where that takes a second pass, the start of the next one is on its way. */
static const void *row_places(const leaves_job *job, row_results *to, const char *rows, int64_t step, int64_t m) {
    enum { NEXT = 4096 };
    const reduce_problem *p = job->p;
    const reduce_order_kernels *kernels = job->reading->order;
    const int64_t lowest = -((int64_t)1 << (8 * p->in.itemsize - 2)) * 2;
    for (int64_t i = 0; i < m; i++, rows += step) {
        int64_t key, at;
        if (kernels->place[p->in.type]) {
            at = kernels->place[p->in.type](rows, p->k, p->order, &key);
        } else {
            key = kernels->greatest[p->in.type](rows, p->in.itemsize, p->k, p->order);
            for (int64_t next = 0; !p->order.cached && next < tess_min64(NEXT, p->k * p->in.itemsize); next += 64)
                tess_prefetch_l2(rows + step + next);
            at = kernels->find[p->in.type](rows, p->in.itemsize, p->k, p->order, key);
        }
        to->keys[i] = p->omit && key == lowest ? -1 : at;
    }
    return to->keys;
}

static void row_tasks(void *argument, int64_t begin, int64_t end, int number) {
    const leaves_job *job = argument;
    const reduce_problem *p = job->p;
    const int last = p->kept - 1;
    const int64_t width = last >= 0 ? p->kept_size[last] : 1;
    const int64_t in_step = last >= 0 ? p->kept_stride[0][last] : 0, out_step = last >= 0 ? p->kept_stride[1][last] : 0;
    row_results results;
    (void)number;
    for (int64_t task = begin, in_offset, out_offset, m; task < end; task += m) {
        m = tess_min64(tess_min64(end - task, OUTPUTS_AT_ONCE), width - task % width);
        reduce_task_place(p, task, &in_offset, &out_offset);
        const char *rows = job->run->in + in_offset;
        const void *values = results.values;
        if (p->kind == REDUCE_EXTREME) {
            values = row_extremes(job, &results, rows, in_step, m);
        } else if (p->kind == REDUCE_ARG) {
            values = row_places(job, &results, rows, in_step, m);
        } else {
            job->rows(results.values, rows, in_step, m, p->k);
            tess_reduce_finish_row(p, results.values, p->k, NULL, m); /* has its short cut for every sum of floats */
        }
        job->storer(job->run->out + out_offset, out_step, values, m);
    }
}

static void piece_tasks(void *argument, int64_t begin, int64_t end, int number) {
    const leaves_job *job = argument;
    worker w = worker_start(job, number);
    w.base = job->base;
    int64_t elements = job->span * REDUCE_LEAF;
    for (int64_t piece = begin; piece < end; piece++)
        fold_subtree(&w, piece * elements, tess_min64((piece + 1) * elements, job->size), &job->pieces[piece]);
}

/* One output by all threads. */
static tess_status fold_shared(leaves_job *job, int64_t task) {
    const reduce_problem *p = job->p;
    int64_t first, in_offset, out_offset;
    job->size = reduce_task_size(p, task, &first);
    reduce_task_place(p, task, &in_offset, &out_offset);
    job->base = job->run->in + in_offset + first * p->stride[0][0];
    int64_t leaves = tess_ceil_div(job->size, REDUCE_LEAF);
    job->span = 1;
    while (tess_ceil_div(leaves, job->span) > 2 * PIECES_A_THREAD * job->run->threads)
        job->span *= 2;
    int64_t pieces = tess_ceil_div(leaves, job->span);
    TESS_TRY(tess_parallel(job->run->context, job->run->threads, pieces, 1, piece_tasks, job));
    int depth = 0;
    for (int64_t piece = 0; piece < pieces; piece++) { /* the stack grows over nodes that were read */
        job->pieces[depth++] = job->pieces[piece];
        for (int merges = reduce_merges_after(piece); merges > 0; merges--, depth--)
            tess_reduce_node_merge(p, &job->pieces[depth - 2], &job->pieces[depth - 1]);
    }
    for (; depth > 1; depth--)
        tess_reduce_node_merge(p, &job->pieces[depth - 2], &job->pieces[depth - 1]);
    store(job, &job->pieces[0], out_offset);
    return TESS_OK;
}

static tess_status fold_all(const tess_problem *problem, const tess_run *run, bool in_place) {
    const reduce_problem *p = (const reduce_problem *)problem;
    int64_t tasks = p->outputs * p->segments;
    leaves_job job = {.p = p,
                      .run = run,
                      .kernels = tess_reduce_kernels_for(run->slot),
                      .reading = tess_reduce_reading_kernels(run->slot, p->order.cached),
                      .loader = tess_loader(run->slot, p->in.type, p->load),
                      .storer = tess_storer(run->slot, p->result, p->out.type),
                      .in_place = in_place,
                      .buffer_size = 2 * half_buffer(p),
                      .split = INT64_MAX};
    const reduce_row_kernels *rows = job.kernels->rows;
    if (in_place && reduce_is_run(p) && !p->omit) {
        if (p->kind == REDUCE_SUM)
            job.rows = reduce_adds_wide(p) ? rows->wide[p->in.type] : reduce_adds_direct(p) ? rows->sums[p->map][p->in.type] : NULL;
        job.moments = p->kind == REDUCE_VAR ? rows->moments[p->in.type] : NULL;
    }
    if (run->threads > 1) {
        job.pieces = (reduce_node *)((char *)run->workspace + job.buffer_size * run->threads);
        job.split = tasks < 4 * run->threads ? 4 * REDUCE_LEAF : 128 * REDUCE_LEAF;
    }
    const int64_t terms = p->offsets ? p->in.count / tess_max64(1, tasks) : p->k;
    int64_t grain = reduce_grain(tasks, terms * p->in.itemsize, run->threads, tess_max64(1, 4 * REDUCE_LEAF / tess_max64(1, terms)));
    bool ordered = in_place && reduce_is_run(p) && p->map == REDUCE_PLAIN &&
                   (p->kind == REDUCE_EXTREME || (p->kind == REDUCE_ARG && p->k <= AT_ONCE / p->in.itemsize));
    if ((job.rows || ordered) && !p->offsets && p->k > 0 && p->k < job.split)
        return tess_parallel(run->context, run->threads, tasks, run->threads > 1 ? grain : tess_max64(grain, OUTPUTS_AT_ONCE), row_tasks, &job);
    if (p->offsets || p->k < job.split)
        TESS_TRY(tess_parallel(run->context, run->threads, tasks, grain, output_tasks, &job));
    if (p->longest >= job.split)
        for (int64_t task = 0, first; task < tasks; task++)
            if (reduce_task_size(p, task, &first) >= job.split)
                TESS_TRY(fold_shared(&job, task));
    return TESS_OK;
}

tess_status tess_reduce_lanes(const tess_problem *problem, const tess_run *run) { return fold_all(problem, run, true); }
tess_status tess_reduce_gather(const tess_problem *problem, const tess_run *run) { return fold_all(problem, run, false); }
size_t tess_reduce_leaves_workspace(const tess_problem *problem, int threads) { return workspace((const reduce_problem *)problem, threads); }
