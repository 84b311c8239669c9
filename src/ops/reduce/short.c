/* SPDX-License-Identifier: Apache-2.0
 * short.c - the row reduce/short: many real sums (means, norms) of at most 256 terms, sixteen outputs at a time (cpu_short.c). Threads share the
 * groups. */
#include <string.h>

#include "core/parallel.h"
#include "ops/reduce/walk.h"

typedef struct short_job {
    const reduce_problem *p;
    const tess_run *run;
    tess_row_loader loader;
    tess_row_storer storer;
    int64_t (*map)(void *, const void *, int64_t, bool, double);
    void (*add)(void *, const char *const *, int64_t);
    bool in_place;
    int64_t width, groups; /* along the last kept axis */
} short_job;

static bool maps(const reduce_problem *p) { return p->map != REDUCE_PLAIN || p->omit; }

/* Room for the loaded row and sixteen mapped ones. */
static size_t worker_size(const reduce_problem *p) { return (size_t)(p->k * (REDUCE_SHORT_ROWS + 1)) * sizeof(tess_value) + 64; }

size_t tess_reduce_short_workspace(const tess_problem *problem, int threads) {
    const reduce_problem *p = (const reduce_problem *)problem;
    return worker_size(p) / 64 * 64 * (size_t)threads;
}

/* The terms of the output whose first element is at `base`, in the place `to` unless they can stay where they are. Returns how many do not count. */
static int64_t terms(const short_job *job, const char *base, char *loaded, char *to, const char **row) {
    const reduce_problem *p = job->p;
    int64_t size = (int64_t)tess_type_size(p->load), filled = 0, n;
    char *into = maps(p) ? loaded : to;
    const char *run;
    reduce_walk walk;
    if (job->in_place) {
        *row = base;
        return 0;
    }
    reduce_walk_start(&walk, p, base, 0, p->k);
    for (; reduce_walk_next(&walk, &run, &n); filled += n)
        job->loader(into + filled * size, run, walk.stride, n);
    *row = to;
    int64_t nans = maps(p) ? job->map(to, loaded, p->k, p->omit, 0) : 0;
    return p->omit ? nans : 0;
}

static void group_tasks(void *argument, int64_t begin, int64_t end, int number) {
    const short_job *job = argument;
    const reduce_problem *p = job->p;
    int last = p->kept - 1;
    char *loaded = (char *)job->run->workspace + worker_size(p) / 64 * 64 * (size_t)number;
    int64_t row_size = p->k * (int64_t)sizeof(tess_value), in_step = p->kept_stride[0][last], out_step = p->kept_stride[1][last];
    for (int64_t task = begin; task < end; task++) {
        const char *rows[REDUCE_SHORT_ROWS];
        int64_t nans[REDUCE_SHORT_ROWS], in_offset, out_offset, first = task % job->groups * REDUCE_SHORT_ROWS;
        int64_t m = tess_min64(REDUCE_SHORT_ROWS, job->width - first);
        reduce_task_place(p, task / job->groups * job->width + first, &in_offset, &out_offset);
        for (int64_t i = 0; i < REDUCE_SHORT_ROWS; i++)
            if (i < m)
                nans[i] = terms(job, job->run->in + in_offset + i * in_step, loaded, loaded + (i + 1) * row_size, &rows[i]);
            else
                rows[i] = rows[0]; /* its sum is not stored */
        _Alignas(64) char sums[REDUCE_SHORT_ROWS * sizeof(double)];
        job->add(sums, rows, p->k);
        tess_reduce_finish_row(p, sums, p->k, p->omit ? nans : NULL, m);
        job->storer(job->run->out + out_offset, out_step, sums, m);
    }
}

tess_status tess_reduce_short(const tess_problem *problem, const tess_run *run) {
    const reduce_problem *p = (const reduce_problem *)problem;
    const reduce_kernels *kernels = tess_reduce_kernels_for(run->slot);
    short_job job = {.p = p,
                     .run = run,
                     .loader = tess_loader(run->slot, p->in.type, p->load),
                     .storer = tess_storer(run->slot, p->result, p->out.type),
                     .map = kernels->map->map[p->map][p->load],
                     .add = kernels->brief->add[p->acc],
                     .in_place = p->in.type == p->load && p->rank == 1 && p->stride[0][0] == p->in.itemsize && !maps(p),
                     .width = p->kept_size[p->kept - 1]};
    if (p->outputs == 0)
        return TESS_OK;
    job.groups = tess_ceil_div(job.width, REDUCE_SHORT_ROWS);
    int64_t grain = tess_max64(1, 2048 / tess_max64(1, p->k));
    return tess_parallel(run->context, run->threads, p->outputs / job.width * job.groups, grain, group_tasks, &job);
}
