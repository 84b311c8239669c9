/* SPDX-License-Identifier: Apache-2.0
 * columns.c - the row reduce/columns: a block of outputs side by side takes whole rows of elements.
 *
 * Along a slow axis the tree costs nothing: when the 256 lanes are visited in bit-reversed order, the halving tree joins neighbours, so a stack of
 * at most 9 partial rows replaces 256 of them. Blocks are narrow enough for that stack to stay in cache, and wide enough for whole pages of each row.
 * Where order cannot matter (integers, extremes, counts) rows are taken as they lie. Threads share the blocks. */
#include <string.h>

#include "core/parallel.h"
#include "ops/reduce/walk.h"

typedef struct columns_job {
    const reduce_problem *p;
    const tess_run *run;
    const reduce_kernels *kernels;
    tess_row_loader loader;
    tess_row_storer storer;
    int64_t (*map)(void *, const void *, int64_t, bool, double);
    void (*fold)(void *, const char *, const int64_t *, int64_t, int64_t, int64_t, bool);
    bool in_place; /* rows need neither loading nor mapping */
    int64_t width, stride, out_stride, block, blocks, levels;
    int64_t zero_key, nan_key;
} columns_job;

/* One thread's share of the workspace: rows of `block` columns, 16 bytes a column, and what else the kinds need. */
typedef struct worker {
    const columns_job *job;
    int64_t *offset; /* of the elements of the current leaf from base */
    char *loaded, *mapped;
    int64_t *keys, *best, *index, *nans; /* nans also counts: those left out so far */
    double *mean;
    char *stack; /* `levels` rows of tree values */
    /* VAR: one entry a level for each column */
    double *means, *m2s;
    int64_t *counts;
    const char *base;
    int64_t n; /* columns of this block */
} worker;

static bool is_tree(const reduce_problem *p) {
    return p->kind == REDUCE_VAR || ((p->kind == REDUCE_SUM || p->kind == REDUCE_PROD) && !reduce_is_integer(p->acc));
}

static int64_t leaf_levels(const reduce_problem *p) {
    int64_t levels = 2;
    for (int64_t leaves = tess_ceil_div(tess_max64(1, p->longest), REDUCE_LEAF); leaves > 1; leaves = (leaves + 1) / 2)
        levels++;
    return levels;
}

/* Trees: rows of 8 KiB. Keys: what L1 holds. Moments pass twice over a leaf: its second time should come from the last cache, but rows of less than
 * half a KiB would cost more than they save. Columns that are not neighbours are loaded one by one, and their lines are met again with the next row:
 * few enough to stay in L1. */
static int64_t block_columns(const reduce_problem *p) {
    int64_t columns = 8192 / (int64_t)tess_type_size(p->acc), width = p->kept_size[p->kept - 1];
    if (p->kind == REDUCE_VAR)
        columns = tess_max64(128, tess_min64(1024, (8 << 20) / (tess_min64(tess_max64(1, p->longest), REDUCE_LEAF) * p->in.itemsize)));
    else if (p->kind != REDUCE_SUM && p->kind != REDUCE_PROD)
        columns = 1024;
    if (p->kept_stride[0][p->kept - 1] != p->in.itemsize)
        columns = tess_min64(columns, 128);
    return tess_min64(columns, width);
}

static size_t worker_size(const reduce_problem *p, int64_t block, int64_t levels) {
    size_t columns = (size_t)((block + 7) / 8 * 8);
    size_t offsets = (size_t)((tess_min64(p->longest, REDUCE_LEAF) + 7) / 8 * 8) * sizeof(int64_t);
    size_t rows = 2 * sizeof(tess_value) + 5 * sizeof(int64_t);
    size_t tree = is_tree(p) ? (size_t)(levels + 9) * tess_type_size(p->acc) : 16;
    size_t moments = p->kind == REDUCE_VAR ? (size_t)levels * 24 : 0;
    return (offsets + columns * (rows + tree + moments) + 63) / 64 * 64;
}

size_t tess_reduce_columns_workspace(const tess_problem *problem, int threads) {
    const reduce_problem *p = (const reduce_problem *)problem;
    return worker_size(p, block_columns(p), leaf_levels(p)) * (size_t)threads;
}

static worker worker_start(const columns_job *job, int number) {
    const reduce_problem *p = job->p;
    size_t columns = (size_t)((job->block + 7) / 8 * 8);
    char *at = (char *)job->run->workspace + worker_size(p, job->block, job->levels) * (size_t)number;
    worker w = {.job = job, .offset = (int64_t *)(void *)at};
    at += (size_t)((tess_min64(p->longest, REDUCE_LEAF) + 7) / 8 * 8) * sizeof(int64_t);
    w.loaded = at;
    w.mapped = at += columns * sizeof(tess_value);
    w.keys = (int64_t *)(void *)(at += columns * sizeof(tess_value));
    w.best = (int64_t *)(void *)(at += columns * 8);
    w.index = (int64_t *)(void *)(at += columns * 8);
    w.nans = (int64_t *)(void *)(at += columns * 8);
    w.mean = (double *)(void *)(at += columns * 8);
    w.stack = at += columns * 8;
    if (p->kind == REDUCE_VAR) {
        w.means = (double *)(void *)(at += columns * (size_t)(job->levels + 9) * 8);
        w.m2s = (double *)(void *)(at += columns * (size_t)job->levels * 8);
        w.counts = (int64_t *)(void *)(at + columns * (size_t)job->levels * 8);
    }
    return w;
}

static void *stack_row(const worker *w, int64_t level) {
    return w->stack + (size_t)level * (size_t)((w->job->block + 7) / 8 * 8) * tess_type_size(w->job->p->acc);
}

/* Where elements first .. first+n-1 of column 0 are. */
static void find_leaf(worker *w, int64_t first, int64_t n) {
    reduce_walk walk;
    const char *run;
    int64_t m, i = 0;
    reduce_walk_start(&walk, w->job->p, w->base, first, n);
    while (reduce_walk_next(&walk, &run, &m))
        for (int64_t k = 0; k < m; k++)
            w->offset[i++] = run - w->base + k * walk.stride;
}

/* Row i of the leaf in the load type, before the map. */
static const void *load_row(const worker *w, int64_t i) {
    const char *at = w->base + w->offset[i];
    const columns_job *job = w->job;
    if (job->p->in.type == job->p->load && job->stride == job->p->in.itemsize)
        return at;
    job->loader(w->loaded, at, job->stride, w->n);
    return w->loaded;
}

static const void *mapped_row(const worker *w, int64_t i) {
    const reduce_problem *p = w->job->p;
    const void *row = load_row(w, i);
    if (p->omit && (p->operation == TESS_MEAN || p->kind == REDUCE_VAR)) /* the others do not ask how many */
        w->job->kernels->column->nans[p->load](w->nans, row, w->n);
    if (!w->job->map || (p->map == REDUCE_PLAIN && !p->omit))
        return row;
    w->job->map(w->mapped, row, w->n, p->omit, p->kind == REDUCE_PROD ? 1 : 0);
    return w->mapped;
}

/* ---- the tree over a leaf ---- */

static void fold_lane(const worker *w, int lane, int64_t n, void *acc, bool squares) {
    static const int64_t here = 0;
    if (squares) {
        for (int64_t i = lane; i < n; i += REDUCE_LANES)
            w->job->kernels->column->deviations(acc, load_row(w, i), w->mean, w->n, i == lane, w->job->p->omit);
    } else if (w->job->in_place) {
        w->job->fold(acc, w->base, w->offset + lane, REDUCE_LANES, tess_ceil_div(n - lane, REDUCE_LANES), w->n, true);
    } else {
        for (int64_t i = lane; i < n; i += REDUCE_LANES)
            w->job->fold(acc, mapped_row(w, i), &here, 0, 1, w->n, i == lane);
    }
}

/* The lanes that are `lane` modulo w, into row `level` of the stack. Lanes without elements do not take part: then there is nothing, and false. */
static bool fold_lanes(const worker *w, int stride, int lane, int64_t n, int64_t level, bool squares) {
    static const int64_t here = 0;
    if (lane >= n)
        return false;
    if (stride == REDUCE_LANES) {
        fold_lane(w, lane, n, stack_row(w, level), squares);
    } else {
        fold_lanes(w, 2 * stride, lane, n, level, squares);
        if (fold_lanes(w, 2 * stride, lane + stride, n, level + 1, squares))
            w->job->fold(stack_row(w, level), stack_row(w, level + 1), &here, 0, 1, w->n, false);
    }
    return true;
}

static void fold_moments(const worker *w, int64_t n, int64_t level) {
    size_t at = (size_t)level * (size_t)w->job->block;
    const double *sum = stack_row(w, 0);
    memset(w->nans, 0, (size_t)w->n * sizeof(int64_t));
    fold_lanes(w, 1, 0, n, 0, false);
    for (int64_t c = 0; c < w->n; c++) {
        int64_t count = n - w->nans[c];
        w->counts[at + (size_t)c] = count;
        w->means[at + (size_t)c] = w->mean[c] = count > 0 ? sum[c] / (double)count : 0;
    }
    fold_lanes(w, 1, 0, n, 0, true);
    memcpy(w->m2s + at, sum, (size_t)w->n * sizeof(double));
}

static void merge_levels(const worker *w, int64_t left) {
    static const int64_t here = 0;
    const reduce_problem *p = w->job->p;
    if (p->kind != REDUCE_VAR) {
        w->job->fold(stack_row(w, left), stack_row(w, left + 1), &here, 0, 1, w->n, false);
        return;
    }
    size_t a = (size_t)left * (size_t)w->job->block, b = a + (size_t)w->job->block;
    for (int64_t c = 0; c < w->n; c++, a++, b++) {
        reduce_node x = {.count = w->counts[a], .mean = w->means[a], .m2 = w->m2s[a]};
        reduce_node y = {.count = w->counts[b], .mean = w->means[b], .m2 = w->m2s[b]};
        tess_reduce_node_merge(p, &x, &y);
        w->counts[a] = x.count;
        w->means[a] = x.mean;
        w->m2s[a] = x.m2;
    }
}

static void fold_tree(worker *w, int64_t k) {
    int64_t depth = 0, leaf = 0;
    for (int64_t first = 0; first < k; first += REDUCE_LEAF, leaf++) {
        int64_t n = tess_min64(k - first, REDUCE_LEAF);
        find_leaf(w, first, n);
        if (w->job->p->kind == REDUCE_VAR)
            fold_moments(w, n, depth++);
        else
            fold_lanes(w, 1, 0, n, depth++, false);
        for (int merges = reduce_merges_after(leaf); merges > 0; merges--, depth--)
            merge_levels(w, depth - 2);
    }
    for (; depth > 1; depth--)
        merge_levels(w, depth - 2);
}

/* ---- where the order of the elements is free ---- */

static void fold_integers(worker *w, int64_t first, int64_t n) {
    static const int64_t here = 0;
    const reduce_problem *p = w->job->p;
    void (*integers)(uint64_t *, const char *, const int64_t *, int64_t, int64_t) = w->job->kernels->column->integers[p->in.type];
    if (integers && p->kind == REDUCE_SUM && p->map == REDUCE_PLAIN && w->job->stride == p->in.itemsize) {
        if (first == 0)
            memset(w->stack, 0, (size_t)w->n * sizeof(uint64_t));
        integers((uint64_t *)(void *)w->stack, w->base, w->offset, n, w->n);
    } else
        for (int64_t i = 0; i < n; i++)
            w->job->fold(w->stack, mapped_row(w, i), &here, 0, 1, w->n, first + i == 0);
}

static void fold_keys(worker *w, int64_t first, int64_t n) {
    const columns_job *job = w->job;
    const reduce_problem *p = job->p;
    if (p->kind == REDUCE_EXTREME && p->map == REDUCE_PLAIN && job->stride == p->in.itemsize) {
        const reduce_order_kernels *order_kernels = job->kernels->order; /* keys of their own width, in the place of w->index */
        if (first == 0)
            order_kernels->lowest[p->in.type](w->index, w->n);
        order_kernels->greatest_rows[p->in.type](w->index, w->base, w->offset, n, w->n, p->order);
        order_kernels->widen[p->in.type](w->best, w->index, w->n);
        return;
    }
    const reduce_column_kernels *kernels = job->kernels->column;
    reduce_order order = p->order;
    order.magnitude |= p->kind == REDUCE_COUNT;
    order.omit &= p->kind != REDUCE_COUNT;
    for (int64_t i = 0; i < n; i++) {
        if (p->map != REDUCE_PLAIN)
            job->kernels->order->keys[p->acc](w->keys, mapped_row(w, i), (int64_t)tess_type_size(p->acc), w->n, order);
        else
            job->kernels->order->keys[p->in.type](w->keys, w->base + w->offset[i], job->stride, w->n, order);
        if (p->kind == REDUCE_COUNT) {
            kernels->equal(w->best, w->keys, w->n, job->zero_key);
            if (p->omit)
                kernels->equal(w->nans, w->keys, w->n, job->nan_key);
        } else if (p->kind == REDUCE_ARG) {
            kernels->first_greatest(w->best, w->index, w->keys, w->n, first + i);
        } else {
            kernels->greatest(w->best, w->keys, w->n);
        }
    }
}

/* ---- results ---- */

static void node_of(const worker *w, int64_t c, int64_t k, reduce_node *node) {
    const reduce_problem *p = w->job->p;
    tess_reduce_node_empty(p, node);
    node->count = k;
    if (k == 0)
        return;
    size_t size = tess_type_size(p->acc);
    switch (p->kind) {
    case REDUCE_SUM:
    case REDUCE_PROD:
        memcpy(&node->value, w->stack + (size_t)c * size, size);
        node->count = k - (p->omit ? w->nans[c] : 0);
        break;
    case REDUCE_COUNT:
        node->value.i64 = w->best[c];
        node->count = k - (p->omit ? w->nans[c] : 0);
        break;
    case REDUCE_ARG:
        node->index = p->omit && w->best[c] == w->job->nan_key ? -1 : w->index[c];
        node->key = w->best[c];
        break;
    case REDUCE_EXTREME: node->key = w->best[c]; break;
    case REDUCE_VAR:
        node->count = w->counts[c];
        node->mean = w->means[c];
        node->m2 = w->m2s[c];
        break;
    }
}

static void store(const worker *w, int64_t k, char *out) {
    const columns_job *job = w->job;
    const reduce_problem *p = job->p;
    if (tess_reduce_finish_row(p, w->stack, k, p->omit ? w->nans : NULL, w->n)) {
        job->storer(out, job->out_stride, w->stack, w->n);
        return;
    }
    for (int64_t c = 0; c < w->n; c++) {
        reduce_node node;
        node_of(w, c, k, &node);
        tess_value value = tess_reduce_node_finish(p, &node);
        job->storer(out + c * job->out_stride, job->out_stride, &value, 1);
    }
}

/* A task is a block of columns of one segment of one row of outputs. */
static void block_tasks(void *argument, int64_t begin, int64_t end, int number) {
    const columns_job *job = argument;
    const reduce_problem *p = job->p;
    worker w = worker_start(job, number);
    for (int64_t task = begin; task < end; task++) {
        int64_t column = task % job->blocks * job->block, segment = task / job->blocks % p->segments, output = task / job->blocks / p->segments;
        int64_t first, in_offset, out_offset, k = reduce_task_size(p, segment, &first);
        reduce_task_place(p, output * job->width * p->segments + segment, &in_offset, &out_offset);
        w.n = tess_min64(job->block, job->width - column);
        w.base = job->run->in + in_offset + column * job->stride + first * p->stride[0][0];
        for (int64_t c = 0; c < w.n; c++) {
            w.best[c] = p->kind == REDUCE_COUNT ? 0 : INT64_MIN;
            w.index[c] = -1;
            w.nans[c] = 0;
        }
        if (is_tree(p))
            fold_tree(&w, k);
        else
            for (int64_t at = 0; at < k; at += REDUCE_LEAF) {
                int64_t n = tess_min64(k - at, REDUCE_LEAF);
                find_leaf(&w, at, n);
                if (p->kind == REDUCE_SUM || p->kind == REDUCE_PROD)
                    fold_integers(&w, at, n);
                else
                    fold_keys(&w, at, n);
            }
        store(&w, k, job->run->out + out_offset + column * job->out_stride);
    }
}

tess_status tess_reduce_columns(const tess_problem *problem, const tess_run *run) {
    const reduce_problem *p = (const reduce_problem *)problem;
    const reduce_kernels *kernels = tess_reduce_kernels_for(run->slot);
    int last = p->kept - 1;
    columns_job job = {.p = p,
                       .run = run,
                       .kernels = kernels,
                       .loader = tess_loader(run->slot, p->in.type, p->load),
                       .storer = tess_storer(run->slot, p->result, p->out.type),
                       .map = kernels->map->map[p->map][p->load],
                       .fold = p->kind == REDUCE_PROD ? kernels->column->multiply[p->acc] : kernels->column->add[p->acc],
                       .width = p->kept_size[last],
                       .stride = p->kept_stride[0][last],
                       .out_stride = p->kept_stride[1][last],
                       .block = block_columns(p),
                       .levels = leaf_levels(p)};
    job.in_place = p->in.type == p->load && job.stride == p->in.itemsize && p->map == REDUCE_PLAIN && !p->omit;
    if (job.width == 0 || p->outputs == 0)
        return TESS_OK;
    job.blocks = tess_ceil_div(job.width, job.block);
    if (!tess_is_complex(p->in.type)) { /* the keys of a zero and of a NaN */
        static const uint64_t zero = 0;
        int64_t low = (int64_t)(((uint64_t)1 << (8 * p->in.itemsize - 1)) - 1);
        reduce_order order = {.magnitude = true};
        kernels->order->keys[p->in.type](&job.zero_key, &zero, p->in.itemsize, 1, order);
        job.nan_key = p->kind == REDUCE_ARG ? -low - 1 : low;
    }
    int64_t tasks = p->outputs / job.width * p->segments * job.blocks;
    return tess_parallel(run->context, run->threads, tasks, 1, block_tasks, &job);
}
