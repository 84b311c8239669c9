/* SPDX-License-Identifier: Apache-2.0
 * exact.c - the row reduce/exact: runs of elements into superaccumulators, by way of exact sums of blocks (cpu_exact.c). Threads have their own and merge
 * them: exact, so in any order. */
#include "core/parallel.h"
#include "ops/reduce/superaccumulator.h"
#include "ops/reduce/walk.h"
#include "simd/simd.h"

enum { STRIP = 2048, PIECES_A_THREAD = 4, SHARED = 16 * STRIP, TURNED_ROWS = 2048, AHEAD = 16, LINE = 64, TURNED_STEP_SLACK = 64 };

typedef struct exact_job {
    const reduce_problem *p;
    const tess_run *run;
    tess_row_loader loader;
    tess_row_storer storer;
    int64_t (*map)(void *, const void *, int64_t, bool, double);
    void (*direct)(exact_part *, int, const void *, int64_t, bool);
    void (*turn)(char *, int64_t, const char *, int64_t, int64_t, int64_t);
    const char *base; /* the output that the threads share */
    int64_t size, piece;
    exact_sum *sums;
} exact_job;

static size_t row_size(void) { return STRIP * sizeof(tess_value); }

static size_t buffers(int threads) { return 2 * row_size() * (size_t)threads; }

/* Outputs side by side along a slow axis: some lines of columns are turned in L2, so that every line of memory is met once. */
static bool turns(const reduce_problem *p) {
    return p->kept > 0 && p->kept_stride[0][p->kept - 1] == p->in.itemsize && p->stride[0][p->rank - 1] != p->in.itemsize && !p->offsets &&
           !p->omit && p->in.itemsize <= 8 && (p->map == REDUCE_PLAIN || !tess_is_complex(p->in.type)) && p->rank == 1 &&
           tess_reduce_kernels_for(TESS_SLOT_BASELINE)->exact->add[p->in.type];
}
/* Four lines of each row are twice as quick as one; a few columns are better shared. */
static int64_t turned_columns(const reduce_problem *p) {
    const int64_t line = LINE / p->in.itemsize;
    return p->kept_size[p->kept - 1] < 16 * line ? line : 4 * line;
}
/* No power of two between the turned columns, whose lines would meet in one set of the cache. */
static int64_t turned_step(const reduce_problem *p) { return TURNED_ROWS * p->in.itemsize + TURNED_STEP_SLACK; }
static size_t turned_size(const reduce_problem *p) {
    return (size_t)turned_columns(p) * ((size_t)turned_step(p) + (sizeof(exact_sum) + 63) / 64 * 64);
}

size_t tess_reduce_exact_workspace(const tess_problem *problem, int threads) {
    const reduce_problem *p = (const reduce_problem *)problem;
    if (turns(p))
        return turned_size(p) * (size_t)threads;
    return buffers(threads) + (threads > 1 ? sizeof(exact_sum) * (size_t)(PIECES_A_THREAD * threads) : 0);
}

/* Elements as they lie, where a kernel knows their type and they are neighbours. */
static bool add_runs(const exact_job *job, const char *base, int64_t begin, int64_t end, exact_sum *sum) {
    const reduce_problem *p = job->p;
    const int parts = p->acc == tess_c128 ? 2 : 1;
    if (!job->direct)
        return false;
    reduce_walk walk;
    const char *run;
    int64_t m;
    reduce_walk_start(&walk, p, base, begin, end - begin);
    while (reduce_walk_next(&walk, &run, &m))
        job->direct(sum->part, parts, run, m * parts, p->map == REDUCE_ABS);
    sum->count += end - begin;
    return true;
}

static void add_range(const exact_job *job, const char *base, int64_t begin, int64_t end, int worker, exact_sum *sum) {
    const reduce_problem *p = job->p;
    const reduce_exact_kernels *kernels = tess_reduce_kernels_for(job->run->slot)->exact;
    char *loaded = (char *)job->run->workspace + 2 * row_size() * (size_t)worker, *mapped = loaded + row_size();
    size_t size = tess_type_size(p->load);
    if (begin == end || add_runs(job, base, begin, end, sum))
        return;
    for (int64_t first = begin, n; first < end; first += n) {
        n = tess_min64(end - first, STRIP);
        reduce_walk walk;
        const char *run;
        int64_t m, filled = 0;
        reduce_walk_start(&walk, p, base, first, n);
        for (; reduce_walk_next(&walk, &run, &m); filled += m)
            job->loader(loaded + (size_t)filled * size, run, walk.stride, m);
        const char *row = loaded;
        int64_t nans = 0;
        if (job->map && (p->omit || p->map != REDUCE_PLAIN)) {
            nans = job->map(mapped, loaded, n, p->omit, 0);
            row = mapped;
        }
        sum->count += p->omit ? n - nans : n;
        if (reduce_is_integer(p->load))
            kernels->integers(&sum->part[0], (const uint64_t *)(const void *)row, n, p->load == tess_i64);
        else
            kernels->add[p->acc](sum->part, p->acc == tess_c128 ? 2 : 1, row, p->acc == tess_c128 ? 2 * n : n, false);
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

/* A task is some lines of outputs, or what is left of them. */
static void line_tasks(void *argument, int64_t begin, int64_t end, int worker) {
    const exact_job *job = argument;
    const reduce_problem *p = job->p;
    const int last = p->kept - 1, parts = p->acc == tess_c128 ? 2 : 1;
    const int64_t width = p->kept_size[last], wide = turned_columns(p), lines = tess_ceil_div(width, wide), step = p->stride[0][0];
    char *turned = (char *)job->run->workspace + turned_size(p) * (size_t)worker;
    exact_sum *sums = (exact_sum *)(void *)(turned + wide * turned_step(p));
    for (int64_t task = begin; task < end; task++) {
        int64_t in_offset, out_offset;
        const int64_t column = task % lines * wide, n = tess_min64(wide, width - column);
        reduce_task_place(p, task / lines * width + column, &in_offset, &out_offset);
        const char *base = job->run->in + in_offset;
        for (int64_t c = 0; c < n; c++)
            tess_reduce_exact_start(&sums[c]);
        for (int64_t first = 0; first < p->k; first += TURNED_ROWS) {
            const int64_t rows = tess_min64(TURNED_ROWS, p->k - first);
            for (int64_t r = 0, m; r < rows; r += m) { /* few rows ahead: those a power of two apart share a set of the cache */
                m = tess_min64(AHEAD, rows - r);
                for (int64_t next = first + r + m; next < tess_min64(first + r + m + AHEAD, p->k); next++)
                    for (int64_t byte = 0; byte < n * p->in.itemsize; byte += LINE)
                        tess_prefetch_l2(base + next * step + byte);
                job->turn(turned + r * p->in.itemsize, turned_step(p), base + (first + r) * step, step, m, n);
            }
            for (int64_t c = 0; c < n; c++)
                job->direct(sums[c].part, parts, turned + c * turned_step(p), rows * parts, p->map == REDUCE_ABS);
        }
        for (int64_t c = 0; c < n; c++) {
            sums[c].count = p->k;
            store(job, &sums[c], out_offset + c * p->kept_stride[1][last]);
        }
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
    if (tess_reduce_exact_is_few(p))
        return tess_reduce_exact_few(p, run);
    int64_t tasks = p->outputs * p->segments;
    exact_job job = {.p = p,
                     .run = run,
                     .loader = tess_loader(run->slot, p->in.type, p->load),
                     .storer = tess_storer(run->slot, p->result, p->out.type),
                     .map = tess_reduce_kernels_for(run->slot)->map->map[p->map][p->load],
                     .sums = (exact_sum *)((char *)run->workspace + buffers(run->threads))};
    if (turns(p) && tasks > 0) {
        const int64_t width = p->kept_size[p->kept - 1];
        job.direct = tess_reduce_kernels_for(run->slot)->exact->add[p->in.type];
        job.turn = tess_reduce_kernels_for(run->slot)->brief->turn[p->in.itemsize];
        return tess_parallel(run->context, run->threads, tasks / width * tess_ceil_div(width, turned_columns(p)), 1, line_tasks, &job);
    }
    /* moduli of complex numbers and numbers that may be left out are mapped first */
    if (p->stride[0][p->rank - 1] == p->in.itemsize && !p->omit && (p->map == REDUCE_PLAIN || !tess_is_complex(p->in.type)))
        job.direct = tess_reduce_kernels_for(run->slot)->exact->add[p->in.type];
    const int64_t bytes = p->in.count / tess_max64(1, tasks) * p->in.itemsize;
    TESS_TRY(tess_parallel(run->context, run->threads, tasks, reduce_grain(tasks, bytes, run->threads, 1), output_tasks, &job));
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
