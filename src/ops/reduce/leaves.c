/* SPDX-License-Identifier: Apache-2.0
 * leaves.c - the rows reduce/lanes and reduce/gather: one output after another, one leaf of the tree after another.
 *
 * lanes reads elements where they lie, so memory is passed once and nothing is copied; gather loads them into a buffer first (leaf_fold.c). Threads share the
 * outputs; when one output is long, they share its leaves instead: a subtree of 2^p leaves is folded by one thread, and the subtrees are merged as the tree
 * says. */
#include <string.h>

#include "core/maker.h"
#include "core/pages.h"
#include "core/parallel.h"
#include "ops/reduce/leaves.h"
#include "ops/reduce/walk.h"
#include "simd/simd.h"

enum { PIECES_A_THREAD = 16, OUTPUTS_AT_ONCE = 256 };

static int64_t rows_at_once(const reduce_problem *p) { return p->kind == REDUCE_VAR ? REDUCE_LEAF : REDUCE_STRIP; }

/* Half of a worker's buffer: room for the elements of a strip, of their load type or mapped. */
static int64_t half_buffer(const reduce_problem *p) {
    int64_t n = tess_min64(p->longest, rows_at_once(p));
    int64_t wider =
        (int64_t)tess_type_size(p->load) > (int64_t)tess_type_size(p->acc) ? (int64_t)tess_type_size(p->load) : (int64_t)tess_type_size(p->acc);
    return (n * wider + 63) / 64 * 64;
}

/* Bytes of a thread's room where all leaves of an output are folded together. */
static int64_t across_size(const reduce_problem *p) {
    const int64_t beside = tess_reduce_beside_size(p);
    return beside > 0 ? beside : tess_reduce_tiles_size(p);
}

static size_t workspace(const reduce_problem *p, int threads) {
    const int64_t across = across_size(p), abreast = tess_reduce_abreast_size(p, threads);
    if (abreast > 0)
        return (size_t)(abreast * threads);
    if (tess_reduce_places(p))
        return tess_reduce_places_workspace(threads);
    if (across > 0)
        return (size_t)(across * threads + tess_ceil_div(p->k, REDUCE_LEAF) * (int64_t)tess_type_size(p->acc));
    return (size_t)((2 * half_buffer(p) + tess_reduce_window_size(p, threads)) * threads) +
           (threads > 1 ? sizeof(reduce_node) * (size_t)(2 * PIECES_A_THREAD * threads + 2) : 0);
}

static void store(const leaves_job *job, const reduce_node *node, int64_t out_offset) {
    tess_value value = tess_reduce_node_finish(job->p, node);
    job->storer(job->run->out + out_offset, job->p->out.itemsize, &value, 1);
}

static void output_tasks(void *argument, int64_t begin, int64_t end, int number) {
    const leaves_job *job = argument;
    const reduce_problem *p = job->p;
    leaf_window window;
    leaf_worker w = tess_reduce_leaf_worker(job, number, &window);
    tess_index place;
    int64_t segment = begin % p->segments;
    tess_index_start(&place, p->kept, p->kept_size, 2, (int64_t(*)[TESS_MAX_NDIM])p->kept_stride, begin / p->segments);
    tess_index after = place; /* the output behind this one */
    tess_index_next(&after);
    for (int64_t task = begin; task < end; task++) {
        int64_t first, size = reduce_task_size(p, segment, &first);
        w.next = task + 1 < end ? job->run->in + after.offset[0] : NULL;
        if (size < job->split) {
            reduce_node node;
            w.base = job->run->in + place.offset[0] + first * p->stride[0][0];
            w.constant = false;
            if (size > 0 && size <= REDUCE_LEAF && !job->rows)
                tess_reduce_fold_leaf(&w, 0, size, &node);
            else
                tess_reduce_fold_subtree(&w, 0, size, &node);
            store(job, &node, place.offset[1] + segment * p->segment_stride);
        }
        if (++segment == p->segments) {
            segment = 0;
            tess_index_next(&place);
            tess_index_next(&after);
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
        to->keys[i] = reduce_leaf_order(job, p->in.type)->greatest[p->in.type](rows + i * step, p->in.itemsize, p->k, p->order);
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
    const int64_t lowest = reduce_lowest_key(p->in.itemsize);
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
    leaves_job *job = argument;
    leaf_window window;
    leaf_worker w = tess_reduce_leaf_worker(job, number, &window);
    w.base = job->base;
    int64_t elements = job->span * REDUCE_LEAF;
    for (int64_t piece = begin; piece < end; piece++) {
        int64_t decided = atomic_load_explicit(&job->decided, memory_order_relaxed);
        if (decided < piece) {
            tess_reduce_node_empty(job->p, &job->pieces[piece]);
            continue;
        }
        tess_reduce_fold_subtree(&w, piece * elements, tess_min64((piece + 1) * elements, job->size), &job->pieces[piece]);
        while (piece < decided && tess_reduce_decides(job->p, &job->pieces[piece]) &&
               !atomic_compare_exchange_weak_explicit(&job->decided, &decided, piece, memory_order_relaxed, memory_order_relaxed)) {
        }
    }
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
    job->decided = INT64_MAX;
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

static tess_status fold_across(const leaves_job *job) {
    const reduce_problem *p = job->p;
    const int64_t size = (int64_t)tess_type_size(p->acc);
    char *values = (char *)job->run->workspace + across_size(p) * job->run->threads;
    for (int64_t task = 0, in_offset, out_offset; task < p->outputs; task++) {
        reduce_node stack[REDUCE_LEVELS];
        int depth = 0;
        reduce_task_place(p, task, &in_offset, &out_offset);
        TESS_TRY((tess_reduce_beside_size(p) > 0 ? tess_reduce_beside : tess_reduce_tiles)(job, job->run->in + in_offset, values));
        for (int64_t leaf = 0; leaf * REDUCE_LEAF < p->k; leaf++) {
            tess_reduce_node_empty(p, &stack[depth]);
            memcpy(&stack[depth].value, values + leaf * size, (size_t)size);
            stack[depth++].count = tess_min64(REDUCE_LEAF, p->k - leaf * REDUCE_LEAF);
            for (int merges = reduce_merges_after(leaf); merges > 0; merges--, depth--)
                tess_reduce_node_merge(p, &stack[depth - 2], &stack[depth - 1]);
        }
        for (; depth > 1; depth--)
            tess_reduce_node_merge(p, &stack[depth - 2], &stack[depth - 1]);
        store(job, &stack[0], out_offset);
    }
    return TESS_OK;
}

static void place_tasks(void *argument, int64_t begin, int64_t end, int number) {
    const leaves_job *job = argument;
    (void)number;
    for (int64_t task = begin, in_offset, out_offset; task < end; task++) {
        reduce_node node;
        reduce_task_place(job->p, task, &in_offset, &out_offset);
        tess_reduce_place(job, job->run->in + in_offset, &node);
        store(job, &node, out_offset);
    }
}

/* Threads share the outputs, or each output where there are fewer. */
static tess_status fold_places(leaves_job *job) {
    const tess_run *run = job->run;
    if (job->p->outputs >= run->threads)
        return tess_parallel(run->context, run->threads, job->p->outputs, 1, place_tasks, job);
    for (int64_t task = 0, in_offset, out_offset; task < job->p->outputs; task++) {
        reduce_node node;
        reduce_task_place(job->p, task, &in_offset, &out_offset);
        TESS_TRY(tess_reduce_place_together(job, job->run->in + in_offset, &node));
        store(job, &node, out_offset);
    }
    return TESS_OK;
}

/* Extremes and places lose 2 to 4 % by asking for huge pages (notes-cpu.md). */
static bool asks_for_pages(const reduce_problem *p) {
    enum { WORTH_A_LOOK = 16 << 20 }; /* bytes: half a millisecond */
    return (p->kind == REDUCE_EXTREME || p->kind == REDUCE_ARG) && !p->order.cached && tess_cpu_reads_halves() &&
           p->in.count * p->in.itemsize >= WORTH_A_LOOK;
}

/* Runs that may well lie in the last cache, of which a Zen 5 has 32 MiB, are read there as in L2, by whole lines and with nothing asked for: extremes of 1 to 4 million
 * f32 82 -> 105 to 125 GB/s (notes-cpu.md). Places in short rows are not the quicker for it. */
static bool lies_in_last_cache(const reduce_problem *p) {
    enum { HALF = 16 << 20, LONG = 1 << 16 }; /* bytes */
    return tess_cpu_is_zen5() && reduce_is_run(p) && p->in.count * p->in.itemsize <= HALF && (p->kind != REDUCE_ARG || p->k * p->in.itemsize >= LONG);
}

static tess_status fold_all(const tess_problem *problem, const tess_run *run, bool in_place) {
    reduce_problem own;
    const reduce_problem *p = (const reduce_problem *)problem;
    if (!p->order.cached && lies_in_last_cache(p)) {
        own = *p;
        own.order.cached = true;
        p = &own;
    }
    if (asks_for_pages(p)) {
        own = *p;
        own.order.huge = tess_in_huge_pages(run->in, (size_t)(p->in.count * p->in.itemsize));
        p = &own;
    }
    int64_t tasks = p->outputs * p->segments;
    leaves_job job = {.p = p,
                      .run = run,
                      .kernels = tess_reduce_kernels_for(run->slot),
                      .reading = tess_reduce_reading_kernels(run->slot, p->order.cached),
                      .loader = tess_loader(run->slot, p->in.type, p->load),
                      .storer = tess_storer(run->slot, p->result, p->out.type),
                      .straighten = tess_straightener_for(run->slot, p->in.itemsize),
                      .in_place = in_place,
                      .end = reduce_end(p, run->in),
                      .window_size = tess_reduce_window_size(p, run->threads),
                      .buffer_size = 2 * half_buffer(p) + tess_reduce_window_size(p, run->threads),
                      .split = INT64_MAX};
    const reduce_row_kernels *rows = job.kernels->rows;
    if (tess_reduce_abreast_size(p, run->threads) > 0)
        return tess_reduce_abreast(&job);
    if (tess_reduce_places(p))
        return fold_places(&job);
    if (across_size(p) > 0)
        return fold_across(&job);
    if (p->in.type == p->load)
        job.loader = job.straighten;
    if (p->kind == REDUCE_SUM && !p->omit && p->in.type == p->load)
        job.leaf = reduce_adds_wide(p) ? rows->wide[p->in.type] : reduce_adds_direct(p) ? rows->sums[p->map][p->in.type] : NULL;
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
    bool ordered = in_place && reduce_is_run(p) && p->map == REDUCE_PLAIN && (p->kind == REDUCE_EXTREME || p->kind == REDUCE_ARG) &&
                   (!reduce_is_soon_decided(p) || p->k <= REDUCE_AT_ONCE / p->in.itemsize);
    if ((job.rows || ordered) && !p->offsets && p->k > 0 && p->k < job.split)
        return tess_parallel(run->context, run->threads, tasks, run->threads > 1 ? grain : tess_max64(grain, OUTPUTS_AT_ONCE), row_tasks, &job);
    if (p->offsets || p->k < job.split)
        TESS_TRY(
            tess_parallel(run->context, run->threads, tasks, grain, tess_reduce_in_segments(&job) ? tess_reduce_segment_tasks : output_tasks, &job));
    if (p->longest >= job.split)
        for (int64_t task = 0, first; task < tasks; task++)
            if (reduce_task_size(p, task, &first) >= job.split)
                TESS_TRY(fold_shared(&job, task));
    return TESS_OK;
}

tess_status tess_reduce_lanes(const tess_problem *problem, const tess_run *run) { return fold_all(problem, run, true); }
tess_status tess_reduce_gather(const tess_problem *problem, const tess_run *run) { return fold_all(problem, run, false); }
size_t tess_reduce_leaves_workspace(const tess_problem *problem, int threads) { return workspace((const reduce_problem *)problem, threads); }
