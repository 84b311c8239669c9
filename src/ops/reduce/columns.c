/* SPDX-License-Identifier: Apache-2.0
 * columns.c - the row reduce/columns: a block of outputs side by side takes whole rows of elements.
 *
 * Along a slow axis the tree costs nothing: when the 256 lanes are visited in bit-reversed order, the halving tree joins neighbours, so a stack of
 * at most 9 partial rows replaces 256 of them. Blocks are narrow enough for that stack to stay in cache, and wide enough for whole pages of each row.
 * Where order cannot matter (integers, extremes, counts) rows are taken as they lie. Threads share the blocks. */
#include <string.h>

#include "core/parallel.h"
#include "ops/reduce/walk.h"
#include "simd/simd.h"

typedef struct columns_job {
    const reduce_problem *p;
    const tess_run *run;
    const reduce_kernels *kernels;
    tess_row_loader loader;
    tess_row_storer storer;
    int64_t (*map)(void *, const void *, int64_t, bool, double);
    void (*fold)(void *, const char *, const int64_t *, int64_t, int64_t, int64_t, bool);                   /* rows of the tree's type */
    void (*direct)(void *, const char *, const int64_t *, int64_t, int64_t, int64_t, bool);                 /* of elements as they lie, or NULL */
    void (*deviations)(double *, const char *, const int64_t *, int64_t, int64_t, int64_t, const double *); /* of elements as they lie, or NULL */
    bool in_place; /* rows need neither loading nor mapping, or fold does both */
    int64_t width, out_stride, block, blocks, levels;
    int64_t stride, turned; /* between the columns; when turned is not 0, they are turned into rows of so many bytes first */
    int64_t pieces, span;   /* one block's rows are shared by so many threads, span leaves each */
    reduce_node *nodes;     /* of all columns of all pieces */
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
    char *turn, *held;
    const char *base;
    int64_t n;  /* columns of this block */
    bool fresh; /* nothing was folded yet */
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

/* Short runs, one after another: turned in L1, they are columns side by side. */
static bool turns(const reduce_problem *p) {
    int64_t step = p->kept_stride[0][p->kept - 1];
    return reduce_turns(p) && step != p->in.itemsize && step != -p->in.itemsize;
}

/* Trees: rows of 8 KiB. Keys: what L1 holds. Moments pass twice over a leaf: its second time must come from L2. Columns that are not neighbours are
 * loaded one by one, and their lines are met again with the next row: few enough to stay in L1. */
static int64_t block_columns(const reduce_problem *p) {
    int64_t columns = 8192 / (int64_t)tess_type_size(p->acc), width = p->kept_size[p->kept - 1];
    if (p->kind == REDUCE_VAR)
        columns =
            tess_max64(128 / p->in.itemsize, tess_min64(1024, (1 << 20) / (tess_min64(tess_max64(1, p->longest), REDUCE_LEAF) * p->in.itemsize)));
    else if (p->kind != REDUCE_SUM && p->kind != REDUCE_PROD)
        columns = 1024;
    if (turns(p))
        columns = tess_max64(64, tess_min64(columns, (1 << 15) / (tess_max64(1, p->k) * p->in.itemsize) / 64 * 64));
    else if (p->kept_stride[0][p->kept - 1] != p->in.itemsize)
        columns = tess_min64(columns, 128);
    return tess_min64(columns, width);
}

/* Bytes of a row of turned columns: no power of two, whose lines would meet in one set of the cache. */
static int64_t turned_bytes(const reduce_problem *p, int64_t block) { return turns(p) ? (block * p->in.itemsize + 63) / 64 * 64 + 64 : 0; }

static int64_t tasks_of(const reduce_problem *p, int64_t block) {
    int64_t width = tess_max64(1, p->kept_size[p->kept - 1]);
    return p->outputs / width * p->segments * tess_ceil_div(width, tess_max64(1, block));
}

/* When blocks are too few for the threads, the leaves of each are shared: spans of 2^p leaves are subtrees. */
static int64_t span_of(const reduce_problem *p, int64_t block, int threads) {
    int64_t tasks = tasks_of(p, block), leaves = tess_ceil_div(p->k, REDUCE_LEAF), span = 1;
    if (threads == 1 || p->offsets || tasks == 0 || tasks >= 2 * threads || leaves < 2 || (reduce_is_integer(p->acc) && p->kind == REDUCE_PROD))
        return 0;
    while (tess_ceil_div(leaves, span) * tasks > 8 * (int64_t)threads)
        span *= 2;
    return span;
}

/* Few columns of few leaves are shared as narrower blocks instead. */
static int64_t shared_block(const reduce_problem *p, int threads) {
    int64_t block = block_columns(p), least = tess_max64(1, 128 / p->in.itemsize);
    while (threads > 1 && block > least && tasks_of(p, block) < 2 * threads && p->k < 4 * REDUCE_LEAF)
        block = tess_max64(least, (block / 2 + least - 1) / least * least);
    return block;
}

/* Moments read a leaf of the block twice. Its rows are copied side by side first: with a power of two between them they would share a few sets of the
 * cache, and nothing would be left of them the second time. */
static bool holds(const reduce_problem *p) {
    return p->kind == REDUCE_VAR && !p->omit && (p->in.type == tess_f16 || p->in.type == tess_f32 || p->in.type == tess_f64) &&
           p->kept_stride[0][p->kept - 1] == p->in.itemsize;
}
static int64_t held_step(const reduce_problem *p, int64_t block) { return (block * p->in.itemsize + 63) / 64 * 64; }

static size_t worker_size(const reduce_problem *p, int64_t block, int64_t levels) {
    size_t columns = (size_t)((block + 7) / 8 * 8);
    size_t offsets = (size_t)((tess_min64(p->longest, REDUCE_LEAF) + 7) / 8 * 8) * sizeof(int64_t);
    size_t rows = 2 * sizeof(tess_value) + 5 * sizeof(int64_t);
    size_t tree = is_tree(p) ? (size_t)(levels + 9) * tess_type_size(p->acc) : 16;
    size_t moments = p->kind == REDUCE_VAR ? (size_t)levels * 24 : 0;
    size_t turn = (size_t)(turned_bytes(p, block) * p->k + (holds(p) ? held_step(p, block) * tess_min64(p->longest, REDUCE_LEAF) : 0));
    return (offsets + columns * (rows + tree + moments) + 63) / 64 * 64 + turn;
}

static size_t nodes_size(const reduce_problem *p, int64_t block, int threads) {
    int64_t span = span_of(p, block, threads);
    return span == 0 ? 0 : (size_t)(tasks_of(p, block) * block * tess_ceil_div(tess_ceil_div(p->k, REDUCE_LEAF), span)) * sizeof(reduce_node);
}

size_t tess_reduce_columns_workspace(const tess_problem *problem, int threads) {
    const reduce_problem *p = (const reduce_problem *)problem;
    int64_t block = shared_block(p, threads);
    return worker_size(p, block, leaf_levels(p)) * (size_t)threads + nodes_size(p, block, threads);
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
    w.turn = (char *)job->run->workspace + worker_size(p, job->block, job->levels) * (size_t)(number + 1) - job->turned * p->k;
    w.held = w.turn - (holds(p) ? held_step(p, job->block) * tess_min64(p->longest, REDUCE_LEAF) : 0);
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
    for (; w->job->turned > 0 && i < n; i++)
        w->offset[i] = (first + i) * w->job->turned;
    if (i == n)
        return;
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
    if (squares && w->job->deviations) {
        w->job->deviations(acc, w->base, w->offset + lane, REDUCE_LANES, tess_ceil_div(n - lane, REDUCE_LANES), w->n, w->mean);
    } else if (squares) {
        for (int64_t i = lane; i < n; i += REDUCE_LANES)
            w->job->kernels->column->deviations(acc, load_row(w, i), w->mean, w->n, i == lane, w->job->p->omit);
    } else if (w->job->in_place) {
        (w->job->direct ? w->job->direct : w->job->fold)(acc, w->base, w->offset + lane, REDUCE_LANES, tess_ceil_div(n - lane, REDUCE_LANES), w->n,
                                                         true);
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

/* The leaf's rows into `held`, where the worker looks for them from now on. Rows to come are asked for while these are copied. */
static void hold_leaf(worker *w, int64_t n) {
    enum { ROWS_AHEAD = 16 };
    const int64_t step = held_step(w->job->p, w->job->block), bytes = w->n * w->job->p->in.itemsize;
    for (int64_t i = 0; i < n; i++) {
        if (i + ROWS_AHEAD < n)
            for (int64_t at = 0; at < bytes; at += 64)
                tess_prefetch_l2(w->base + w->offset[i + ROWS_AHEAD] + at);
        memcpy(w->held + i * step, w->base + w->offset[i], (size_t)bytes);
    }
    for (int64_t i = 0; i < n; i++)
        w->offset[i] = i * step;
    w->base = w->held;
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

static void fold_tree(worker *w, int64_t begin, int64_t end) {
    int64_t depth = 0, leaf = 0;
    for (int64_t first = begin; first < end; first += REDUCE_LEAF, leaf++) {
        int64_t n = tess_min64(end - first, REDUCE_LEAF);
        find_leaf(w, first, n);
        const char *base = w->base;
        if (holds(w->job->p))
            hold_leaf(w, n);
        if (w->job->p->kind == REDUCE_VAR)
            fold_moments(w, n, depth++);
        else
            fold_lanes(w, 1, 0, n, depth++, false);
        w->base = base;
        for (int merges = reduce_merges_after(leaf); merges > 0; merges--, depth--)
            merge_levels(w, depth - 2);
    }
    for (; depth > 1; depth--)
        merge_levels(w, depth - 2);
}

/* ---- where the order of the elements is free ---- */

static void fold_integers(worker *w, int64_t n) {
    static const int64_t here = 0;
    const reduce_problem *p = w->job->p;
    void (*integers)(uint64_t *, const char *, const int64_t *, int64_t, int64_t) = w->job->kernels->column->integers[p->in.type];
    if (integers && p->kind == REDUCE_SUM && p->map == REDUCE_PLAIN && w->job->stride == p->in.itemsize) {
        if (w->fresh)
            memset(w->stack, 0, (size_t)w->n * sizeof(uint64_t));
        integers((uint64_t *)(void *)w->stack, w->base, w->offset, n, w->n);
    } else
        for (int64_t i = 0; i < n; i++)
            w->job->fold(w->stack, mapped_row(w, i), &here, 0, 1, w->n, w->fresh && i == 0);
}

static void fold_keys(worker *w, int64_t first, int64_t n) {
    const columns_job *job = w->job;
    const reduce_problem *p = job->p;
    if (p->kind == REDUCE_EXTREME && p->map == REDUCE_PLAIN && job->stride == p->in.itemsize) {
        const reduce_order_kernels *order_kernels = job->kernels->order; /* keys of their own width, in the place of w->index */
        if (w->fresh)
            order_kernels->lowest[p->in.type](w->index, w->n);
        order_kernels->greatest_rows[p->in.type](w->index, w->base, w->offset, n, w->n, p->order);
        order_kernels->widen[p->in.type](w->best, w->index, w->n);
        return;
    }
    if (p->kind == REDUCE_ARG && job->stride == p->in.itemsize) {
        job->kernels->order->first_rows[p->in.type](w->best, w->index, w->base, w->offset, n, w->n, p->order, first);
        return;
    }
    if (p->kind == REDUCE_COUNT && job->stride == p->in.itemsize) {
        job->kernels->order->count_rows[p->in.type](w->best, w->nans, w->base, w->offset, n, w->n, p->omit);
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

/* The finished values of a block as a row, the quick ways first. */
static const void *finish(const worker *w, int64_t k) {
    const reduce_problem *p = w->job->p;
    const size_t size = tess_type_size(p->result);
    int64_t *row = (int64_t *)(void *)w->loaded;
    if (k > 0 && p->kind == REDUCE_ARG) {
        for (int64_t c = 0; c < w->n; c++)
            row[c] = p->omit && w->best[c] == w->job->nan_key ? -1 : w->index[c];
        return row;
    }
    if (k > 0 && p->kind == REDUCE_COUNT) { /* nans are 0 unless they are left out */
        for (int64_t c = 0; c < w->n; c++)
            row[c] = p->operation == TESS_ANY   ? k - w->nans[c] > w->best[c]
                     : p->operation == TESS_ALL ? w->best[c] == 0
                                                : k - w->nans[c] - w->best[c];
        return row;
    }
    if (k > 0 && p->kind == REDUCE_EXTREME && tess_reduce_finish_keys(p, w->best, row, w->n))
        return row;
    if (tess_reduce_finish_row(p, w->stack, k, p->omit ? w->nans : NULL, w->n))
        return w->stack;
    for (int64_t c = 0; c < w->n; c++) {
        reduce_node node;
        node_of(w, c, k, &node);
        tess_value value = tess_reduce_node_finish(p, &node);
        memcpy(w->loaded + (size_t)c * size, &value, size);
    }
    return row;
}

/* Elements begin .. end-1 of the block's columns. */
static void fold_block(worker *w, int64_t begin, int64_t end) {
    const reduce_problem *p = w->job->p;
    for (int64_t c = 0; c < w->n; c++) {
        w->best[c] = p->kind == REDUCE_COUNT ? 0 : INT64_MIN;
        w->index[c] = -1;
        w->nans[c] = 0;
    }
    w->fresh = true;
    if (is_tree(p)) {
        fold_tree(w, begin, end);
        return;
    }
    for (int64_t at = begin; at < end; at += REDUCE_LEAF) {
        int64_t n = tess_min64(end - at, REDUCE_LEAF);
        find_leaf(w, at, n);
        if (p->kind == REDUCE_SUM || p->kind == REDUCE_PROD)
            fold_integers(w, n);
        else
            fold_keys(w, at, n);
        w->fresh = false;
    }
}

/* Block number `task`: where its results go; its columns in w. Returns the elements of a column. */
static int64_t enter_block(worker *w, int64_t task, char **out) {
    const columns_job *job = w->job;
    const reduce_problem *p = job->p;
    int64_t column = task % job->blocks * job->block, segment = task / job->blocks % p->segments, output = task / job->blocks / p->segments;
    int64_t first, in_offset, out_offset, k = reduce_task_size(p, segment, &first);
    reduce_task_place(p, output * job->width * p->segments + segment, &in_offset, &out_offset);
    w->n = tess_min64(job->block, job->width - column);
    w->base = job->run->in + in_offset + column * p->kept_stride[0][p->kept - 1] + first * p->stride[0][0];
    *out = job->run->out + out_offset + column * job->out_stride;
    if (job->turned > 0) {
        job->kernels->brief->turn[p->in.itemsize](w->turn, job->turned, w->base, p->kept_stride[0][p->kept - 1], w->n, k);
        w->base = w->turn;
    }
    return k;
}

/* A task is a block of columns of one segment of one row of outputs. */
static void block_tasks(void *argument, int64_t begin, int64_t end, int number) {
    const columns_job *job = argument;
    worker w = worker_start(job, number);
    char *out;
    for (int64_t task = begin; task < end; task++) {
        int64_t k = enter_block(&w, task, &out);
        fold_block(&w, 0, k);
        job->storer(out, job->out_stride, finish(&w, k), w.n);
    }
}

/* A task is a piece of the rows of one block; it leaves a node a column. */
static void piece_tasks(void *argument, int64_t begin, int64_t end, int number) {
    const columns_job *job = argument;
    worker w = worker_start(job, number);
    char *out;
    for (int64_t task = begin; task < end; task++) {
        int64_t k = enter_block(&w, task / job->pieces, &out), first = task % job->pieces * job->span * REDUCE_LEAF;
        int64_t last = tess_min64(k, first + job->span * REDUCE_LEAF);
        fold_block(&w, first, last);
        for (int64_t c = 0; c < w.n; c++)
            node_of(&w, c, last - first, &job->nodes[task * job->block + c]);
    }
}

/* The pieces' nodes, joined as the tree says. */
static void join_tasks(void *argument, int64_t begin, int64_t end, int number) {
    const columns_job *job = argument;
    worker w = worker_start(job, number);
    char *out;
    for (int64_t task = begin; task < end; task++) {
        enter_block(&w, task, &out);
        for (int64_t c = 0; c < w.n; c++) {
            reduce_node stack[REDUCE_LEVELS];
            int depth = 0;
            for (int64_t piece = 0; piece < job->pieces; piece++) {
                stack[depth++] = job->nodes[(task * job->pieces + piece) * job->block + c];
                for (int merges = reduce_merges_after(piece); merges > 0; merges--, depth--)
                    tess_reduce_node_merge(job->p, &stack[depth - 2], &stack[depth - 1]);
            }
            for (; depth > 1; depth--)
                tess_reduce_node_merge(job->p, &stack[depth - 2], &stack[depth - 1]);
            tess_value value = tess_reduce_node_finish(job->p, &stack[0]);
            job->storer(out + c * job->out_stride, job->out_stride, &value, 1);
        }
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
                       .stride = turns(p) ? p->in.itemsize : p->kept_stride[0][last],
                       .out_stride = p->kept_stride[1][last],
                       .block = shared_block(p, run->threads),
                       .levels = leaf_levels(p)};
    bool neighbours = job.stride == p->in.itemsize;
    job.in_place = p->in.type == p->load && neighbours && p->map == REDUCE_PLAIN && !p->omit;
    const reduce_direct_kernels *direct = kernels->direct;
    void (*fold)(void *, const char *, const int64_t *, int64_t, int64_t, int64_t, bool) = NULL;
    if (neighbours && reduce_adds_direct(p))
        fold = direct->columns[p->map][p->in.type];
    else if (neighbours && !p->omit && (p->kind == REDUCE_VAR || (p->kind == REDUCE_SUM && reduce_adds_wide(p))))
        fold = direct->wide_columns[p->in.type];
    if (neighbours && !p->omit && p->kind == REDUCE_VAR)
        job.deviations = direct->deviation_columns[p->in.type];
    job.direct = fold;
    job.in_place |= fold != NULL;
    job.turned = turned_bytes(p, job.block);
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
    int64_t tasks = tasks_of(p, job.block);
    job.span = span_of(p, job.block, run->threads);
    if (job.span == 0)
        return tess_parallel(run->context, run->threads, tasks, 1, block_tasks, &job);
    job.pieces = tess_ceil_div(tess_ceil_div(p->k, REDUCE_LEAF), job.span);
    job.nodes = (reduce_node *)(void *)((char *)run->workspace + worker_size(p, job.block, job.levels) * (size_t)run->threads);
    TESS_TRY(tess_parallel(run->context, run->threads, tasks * job.pieces, 1, piece_tasks, &job));
    return tess_parallel(run->context, run->threads, tasks, 1, join_tasks, &job);
}
