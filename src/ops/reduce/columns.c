/* SPDX-License-Identifier: Apache-2.0
 * columns.c - the row reduce/columns: a block of outputs side by side takes whole rows of elements.
 *
 * Along a slow axis the tree costs nothing: when the 256 lanes are visited in bit-reversed order, the halving tree joins neighbours, so a stack of
 * at most 9 partial rows replaces 256 of them. Blocks are narrow enough for that stack to stay in cache, and wide enough for whole pages of each row.
 * Where order cannot matter (integers, extremes, counts) rows are taken as they lie. This file has the blocks, their workspace and results; threads share
 * the blocks. */
#include <string.h>

#include "core/parallel.h"
#include "ops/reduce/columns.h"

static int64_t leaf_levels(const reduce_problem *p) {
    int64_t levels = 2;
    for (int64_t leaves = tess_ceil_div(tess_max64(1, p->longest), REDUCE_LEAF); leaves > 1; leaves = (leaves + 1) / 2)
        levels++;
    return levels;
}

/* Trees: rows of 8 KiB, of the elements where they are read as they lie, for pages' sake, of 16 KiB where they are not converted either (Zen 4, ordinary pages: a
 * sixth faster); integers and keys of one or two bytes 8 KiB. Other keys: what L1 holds. Whole rows where
 * they are read through (columns.h). Moments: rows of 16 KiB, since a leaf is read twice and two ways along
 * whole pages are quicker than one along lines that are copied to L2. */
static int64_t block_columns(const reduce_problem *p) {
    enum { MANY = 64 }; /* rows that pay for results which leave L1 */
    const bool sums = p->kind == REDUCE_SUM && !p->omit && (reduce_adds_direct(p) || reduce_adds_wide(p)) && tess_is_float(p->in.type);
    const bool integers = p->kind == REDUCE_SUM && p->map == REDUCE_PLAIN && reduce_is_integer(p->acc) && p->longest >= MANY;
    const bool narrow_keys = p->kind == REDUCE_EXTREME && p->map == REDUCE_PLAIN && p->in.itemsize <= 2 && p->longest >= MANY;
    int64_t columns = 8192 / (sums || integers || narrow_keys ? p->in.itemsize : (int64_t)tess_type_size(p->acc)), width = p->kept_size[p->kept - 1];
    if (sums && p->in.type == p->acc)
        columns *= 2;
    if (p->kind == REDUCE_VAR)
        columns = 2048;
    else if (p->kind != REDUCE_SUM && p->kind != REDUCE_PROD && !narrow_keys)
        columns = tess_min64(4096, (p->kind == REDUCE_COUNT ? 16384 : 8192) / p->in.itemsize);
    if (columns_are_gapless(p))
        columns = width;
    else if (columns_turn(p))
        columns = tess_max64(64, tess_min64(columns, (1 << 15) / (tess_max64(1, p->k) * p->in.itemsize) / 64 * 64));
    else if (columns_straighten(p))
        columns = tess_min64(columns, STRAIGHT_BYTES / p->in.itemsize);
    return tess_min64(columns, width);
}

/* Bytes of a row of columns that were turned, or straightened: no power of two, whose lines would meet in one set of the cache; and how many rows. */
static int64_t turned_bytes(const reduce_problem *p, int64_t block) {
    return columns_turn(p) || columns_straighten(p) ? (block * p->in.itemsize + 63) / 64 * 64 + 64 : 0;
}
static int64_t turned_rows(const reduce_problem *p) { return columns_turn(p) ? p->k : STRAIGHT_ROWS; }

/* Columns along the axis that is to be theirs; those that run backwards in memory, by their last one first; else p itself. */
static const reduce_problem *forwards(const reduce_problem *p, reduce_problem *own, bool *backwards) {
    const int last = p->kept - 1;
    if (columns_change_axes(p)) {
        *own = *p;
        tess_reduce_put_last(own, tess_reduce_longest_kept(p));
        p = own;
    }
    *backwards = p->kept_stride[0][last] < 0;
    if (!*backwards)
        return p;
    if (p != own)
        *own = *p;
    own->kept_stride[0][last] = -p->kept_stride[0][last];
    own->kept_stride[1][last] = -p->kept_stride[1][last];
    return own;
}

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

/* Few columns of few leaves are shared as narrower blocks instead, unless their rows are taken together, which must be whole. */
static int64_t shared_block(const reduce_problem *p, int threads) {
    int64_t block = block_columns(p), least = tess_max64(1, 128 / p->in.itemsize);
    while (threads > 1 && !columns_are_narrow(p) && block > least && tasks_of(p, block) < 2 * threads && p->k < 4 * REDUCE_LEAF)
        block = tess_max64(least, (block / 2 + least - 1) / least * least);
    return block;
}

static size_t worker_size(const reduce_problem *p, int64_t block, int64_t levels) {
    size_t columns = (size_t)((block + 7) / 8 * 8);
    size_t offsets = (size_t)((tess_min64(p->longest, REDUCE_LEAF) + 7) / 8 * 8) * sizeof(int64_t);
    size_t rows = 2 * sizeof(tess_value) + 5 * sizeof(int64_t);
    size_t tree = columns_is_tree(p) ? (size_t)(levels + 9) * tess_type_size(p->acc) : 16;
    size_t moments = p->kind == REDUCE_VAR ? (size_t)levels * 24 : 0;
    size_t wide = columns_are_narrow(p) ? tess_reduce_narrow_size(p) : 0;
    size_t turn = (size_t)(turned_bytes(p, block) * turned_rows(p));
    return (offsets + columns * (rows + tree + moments) + 63) / 64 * 64 + turn + wide + tess_reduce_streams_size(p, block);
}

static size_t nodes_size(const reduce_problem *p, int64_t block, int threads) {
    int64_t span = span_of(p, block, threads);
    return span == 0 ? 0 : (size_t)(tasks_of(p, block) * block * tess_ceil_div(tess_ceil_div(p->k, REDUCE_LEAF), span)) * sizeof(reduce_node);
}

size_t tess_reduce_columns_workspace(const tess_problem *problem, int threads) {
    reduce_problem own;
    bool backwards;
    const reduce_problem *p = forwards((const reduce_problem *)problem, &own, &backwards);
    int64_t block = shared_block(p, threads);
    return worker_size(p, block, leaf_levels(p)) * (size_t)threads + nodes_size(p, block, threads);
}

static reduce_columns_worker worker_start(const reduce_columns *job, int number) {
    const reduce_problem *p = job->p;
    size_t columns = (size_t)((job->block + 7) / 8 * 8);
    char *at = (char *)job->run->workspace + worker_size(p, job->block, job->levels) * (size_t)number;
    reduce_columns_worker w = {.job = job, .offset = (int64_t *)(void *)at};
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
    const size_t partial = tess_reduce_streams_size(p, job->block);
    char *end = (char *)job->run->workspace + worker_size(p, job->block, job->levels) * (size_t)(number + 1);
    w.partial = partial > 0 ? end - partial : NULL;
    w.wide = end - partial - (columns_are_narrow(p) ? tess_reduce_narrow_size(p) : 0);
    w.turn = w.wide - job->turned * turned_rows(p);
    return w;
}

/* ---- results ---- */

static void node_of(const reduce_columns_worker *w, int64_t c, int64_t k, reduce_node *node) {
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
static const void *finish(const reduce_columns_worker *w, int64_t k) {
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
    if (k > 0 && p->kind == REDUCE_EXTREME && tess_reduce_finish_keys(p, w->job->kernels, w->best, row, w->n))
        return row;
    if (tess_reduce_finish_row(p, w->stack, k, p->omit ? w->nans : NULL, w->n))
        return w->stack;
    for (int64_t c = 0; c < w->n; c++) {
        reduce_node node;
        if (k == 0 && c > 0) { /* all are as empty */
            memcpy(w->loaded + (size_t)c * size, w->loaded, size);
            continue;
        }
        node_of(w, c, k, &node);
        tess_value value = tess_reduce_node_finish(p, &node);
        memcpy(w->loaded + (size_t)c * size, &value, size);
    }
    return row;
}

/* Block number `task`: where its results go; its columns in w. Returns the elements of a column. */
static int64_t enter_block(reduce_columns_worker *w, int64_t task, char **out) {
    const reduce_columns *job = w->job;
    const reduce_problem *p = job->p;
    int64_t column = task % job->blocks * job->block, segment = task / job->blocks % p->segments, output = task / job->blocks / p->segments;
    int64_t first, in_offset, out_offset, k = reduce_task_size(p, segment, &first);
    reduce_task_place(p, output * job->width * p->segments + segment, &in_offset, &out_offset);
    w->n = tess_min64(job->block, job->width - column);
    w->base = job->run->in + in_offset + column * p->kept_stride[0][p->kept - 1] + first * p->stride[0][0];
    *out = job->run->out + out_offset + column * job->out_stride;
    if (job->turned > 0 && !job->straighten) {
        job->kernels->brief->turn[p->in.itemsize](w->turn, job->turned, w->base, p->kept_stride[0][p->kept - 1], w->n, k);
        w->base = w->turn;
    }
    return k;
}

/* A task is a block of columns of one segment of one row of outputs. */
static void block_tasks(void *argument, int64_t begin, int64_t end, int number) {
    const reduce_columns *job = argument;
    reduce_columns_worker w = worker_start(job, number);
    char *out;
    for (int64_t task = begin; task < end; task++) {
        int64_t k = enter_block(&w, task, &out);
        tess_reduce_columns_fold(&w, 0, k);
        job->storer(out, job->out_stride, finish(&w, k), w.n);
    }
}

/* A task is a piece of the rows of one block; it leaves a node a column. */
static void piece_tasks(void *argument, int64_t begin, int64_t end, int number) {
    const reduce_columns *job = argument;
    reduce_columns_worker w = worker_start(job, number);
    char *out;
    for (int64_t task = begin; task < end; task++) {
        int64_t k = enter_block(&w, task / job->pieces, &out), first = task % job->pieces * job->span * REDUCE_LEAF;
        int64_t last = tess_min64(k, first + job->span * REDUCE_LEAF);
        tess_reduce_columns_fold(&w, first, last);
        for (int64_t c = 0; c < w.n; c++)
            node_of(&w, c, last - first, &job->nodes[task * job->block + c]);
    }
}

/* The pieces' nodes, joined as the tree says. */
static void join_tasks(void *argument, int64_t begin, int64_t end, int number) {
    const reduce_columns *job = argument;
    reduce_columns_worker w = worker_start(job, number);
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

/* Columns `stride` bytes apart, of lines that the last cache may well not hold. */
static bool comes_from_memory(const reduce_problem *p, int64_t stride) {
    enum { LINE = 64, NEAR = 16 << 20 }; /* bytes: half of a Zen 5's L3 */
    return p->in.count * tess_min64(stride, LINE) > NEAR;
}

tess_status tess_reduce_columns(const tess_problem *problem, const tess_run *given) {
    reduce_problem own;
    tess_run turned = *given;
    bool backwards;
    const reduce_problem *p = forwards((const reduce_problem *)problem, &own, &backwards);
    const tess_run *run = backwards ? &turned : given;
    const reduce_kernels *kernels = tess_reduce_kernels_for(run->slot);
    int last = p->kept - 1;
    if (p->outputs == 0)
        return TESS_OK;
    if (backwards) {
        turned.in -= (p->kept_size[last] - 1) * p->kept_stride[0][last];
        turned.out -= (p->kept_size[last] - 1) * p->kept_stride[1][last];
    }
    reduce_columns job = {.p = p,
                          .run = run,
                          .kernels = kernels,
                          .loader = tess_loader(run->slot, p->in.type, p->load),
                          .storer = tess_storer(run->slot, p->result, p->out.type),
                          .map = kernels->map->map[p->map][p->load],
                          .fold = p->kind == REDUCE_PROD ? kernels->column->multiply[p->acc] : kernels->column->add[p->acc],
                          .width = p->kept_size[last],
                          .stride = columns_turn(p) || columns_straighten(p) ? p->in.itemsize : p->kept_stride[0][last],
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
    if (p->kept_size[last] >= FEWEST_COLUMNS && !p->omit && !columns_turn(p)) {
        const reduce_eight_kernels *eight = kernels->eight;
        if (neighbours && p->kind == REDUCE_SUM)
            job.eight = reduce_adds_wide(p) ? eight->wide[p->in.type] : reduce_adds_direct(p) ? eight->sums[p->map][p->in.type] : NULL;
        if (neighbours && p->kind == REDUCE_PROD && p->in.type == p->acc)
            job.eight = eight->products[p->in.type];
        if (neighbours && p->kind == REDUCE_VAR && eight->apart[p->in.type]) {
            job.eight = eight->wide[p->in.type];
            job.apart = eight->apart[p->in.type];
        }
        if (!job.eight && columns_is_tree(p) && !tess_is_complex(p->in.type)) {
            job.staged = true;
            job.asks = comes_from_memory(p, job.stride);
            job.eight = p->kind == REDUCE_PROD ? eight->products[p->acc] : eight->sums[REDUCE_PLAIN][p->acc];
            job.apart = eight->apart[tess_f64];
        }
    }
    job.direct = fold;
    job.in_place |= fold != NULL;
    job.turned = turned_bytes(p, job.block);
    if (columns_straighten(p))
        job.straighten = tess_straightener_for(run->slot, p->in.itemsize);
    if (p->in.type == p->load)
        job.loader = tess_straightener_for(run->slot, p->in.itemsize);
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
