/* SPDX-License-Identifier: Apache-2.0
 * exact.c - the row reduce/exact: rows of elements into superaccumulators. Threads have their own and merge them: exact, so in any order. */
#include "core/parallel.h"
#include "ops/reduce/superaccumulator.h"
#include "ops/reduce/walk.h"

enum { STRIP = 2048, PIECES_A_THREAD = 4, SHARED = 16 * STRIP };

typedef struct exact_job {
    const reduce_problem *p;
    const tess_run *run;
    tess_row_loader loader;
    tess_row_storer storer;
    int64_t (*map)(void *, const void *, int64_t, bool, double);
    const char *base; /* the output that the threads share */
    int64_t size, piece;
    exact_sum *sums;
} exact_job;

static size_t row_size(void) { return STRIP * sizeof(tess_value); }

static size_t buffers(int threads) { return 2 * row_size() * (size_t)threads; }

size_t tess_reduce_exact_workspace(const tess_problem *problem, int threads) {
    (void)problem;
    return buffers(threads) + (threads > 1 ? sizeof(exact_sum) * (size_t)(PIECES_A_THREAD * threads) : 0);
}

static void add_range(const exact_job *job, const char *base, int64_t begin, int64_t end, int worker, exact_sum *sum) {
    const reduce_problem *p = job->p;
    char *loaded = (char *)job->run->workspace + 2 * row_size() * (size_t)worker, *mapped = loaded + row_size();
    size_t size = tess_type_size(p->load);
    for (int64_t first = begin, n; first < end; first += n) {
        n = tess_min64(end - first, STRIP);
        reduce_walk walk;
        const char *run;
        int64_t m, filled = 0;
        reduce_walk_start(&walk, p, base, first, n);
        for (; reduce_walk_next(&walk, &run, &m); filled += m)
            job->loader(loaded + (size_t)filled * size, run, walk.stride, m);
        const char *row = loaded;
        if (job->map && (p->omit || p->map != REDUCE_PLAIN)) {
            int64_t nans = job->map(mapped, loaded, n, p->omit, 0);
            sum->count += p->omit ? n - nans : n;
            row = mapped;
        } else if (reduce_is_integer(p->load)) {
            for (int64_t i = 0; i < n; i++)
                tess_reduce_exact_add_value(sum, p, (tess_value){.u64 = ((const uint64_t *)(const void *)row)[i]}, true);
            continue;
        } else {
            sum->count += n;
        }
        const double *x = (const double *)(const void *)row;
        if (p->acc == tess_c128)
            for (int64_t i = 0; i < n; i++) {
                exact_add(&sum->part[0], x[2 * i]);
                exact_add(&sum->part[1], x[2 * i + 1]);
            }
        else
            for (int64_t i = 0; i < n; i++)
                exact_add(&sum->part[0], x[i]);
    }
}

static void store(const exact_job *job, exact_sum *sum, int64_t out_offset) {
    tess_value value = tess_reduce_exact_finish(sum, job->p);
    job->storer(job->run->out + out_offset, job->p->out.itemsize, &value, 1);
}

static bool is_shared(const exact_job *job, int64_t size) { return job->run->threads > 1 && size >= SHARED; }

static void output_tasks(void *argument, int64_t begin, int64_t end, int worker) {
    const exact_job *job = argument;
    const reduce_problem *p = job->p;
    for (int64_t task = begin; task < end; task++) {
        int64_t first, in_offset, out_offset, size = reduce_task_size(p, task, &first);
        if (is_shared(job, size))
            continue;
        exact_sum sum;
        tess_reduce_exact_start(&sum);
        reduce_task_place(p, task, &in_offset, &out_offset);
        add_range(job, job->run->in + in_offset + first * p->stride[0][0], 0, size, worker, &sum);
        store(job, &sum, out_offset);
    }
}

static void piece_tasks(void *argument, int64_t begin, int64_t end, int worker) {
    const exact_job *job = argument;
    for (int64_t piece = begin; piece < end; piece++) {
        tess_reduce_exact_start(&job->sums[piece]);
        add_range(job, job->base, piece * job->piece, tess_min64((piece + 1) * job->piece, job->size), worker, &job->sums[piece]);
    }
}

tess_status tess_reduce_exact(const tess_problem *problem, const tess_run *run) {
    const reduce_problem *p = (const reduce_problem *)problem;
    int64_t tasks = p->outputs * p->segments;
    exact_job job = {.p = p,
                     .run = run,
                     .loader = tess_loader(run->slot, p->in.type, p->load),
                     .storer = tess_storer(run->slot, p->result, p->out.type),
                     .map = tess_reduce_kernels_for(run->slot)->map->map[p->map][p->load],
                     .sums = (exact_sum *)((char *)run->workspace + buffers(run->threads))};
    TESS_TRY(tess_parallel(run->context, run->threads, tasks, 1, output_tasks, &job));
    if (!is_shared(&job, p->longest))
        return TESS_OK;
    for (int64_t task = 0, first, in_offset, out_offset; task < tasks; task++) {
        job.size = reduce_task_size(p, task, &first);
        if (!is_shared(&job, job.size))
            continue;
        reduce_task_place(p, task, &in_offset, &out_offset);
        job.base = run->in + in_offset + first * p->stride[0][0];
        job.piece = tess_ceil_div(job.size, PIECES_A_THREAD * run->threads);
        int64_t pieces = tess_ceil_div(job.size, job.piece);
        TESS_TRY(tess_parallel(run->context, run->threads, pieces, 1, piece_tasks, &job));
        for (int64_t piece = 1; piece < pieces; piece++)
            tess_reduce_exact_merge(&job.sums[0], &job.sums[piece]);
        store(&job, &job.sums[0], out_offset);
    }
    return TESS_OK;
}
