/* SPDX-License-Identifier: Apache-2.0
 * short.c - the row reduce/short: many real sums (and means) of at most 256 terms where they lie, sixteen outputs at a time (cpu_short.c). Threads
 * share chunks of outputs. */
#include "core/parallel.h"
#include "ops/reduce/walk.h"
#include "simd/simd.h"

enum { CHUNK = 256 }; /* outputs whose sums wait in L1 for one conversion */

typedef struct short_job {
    const reduce_problem *p;
    const tess_run *run;
    tess_row_storer storer;
    void (*add)(void *, const char *, int64_t, int64_t, int64_t);
    int64_t width, chunks; /* along the last kept axis */
} short_job;

static void chunk_tasks(void *argument, int64_t begin, int64_t end, int number) {
    const short_job *job = argument;
    const reduce_problem *p = job->p;
    const int last = p->kept - 1;
    const int64_t in_step = p->kept_stride[0][last], out_step = p->kept_stride[1][last], size = (int64_t)tess_type_size(p->acc);
    /* row after row: the next ones are worth asking for, unless the tiles that turn them do (asking twice took a tenth) */
    const bool dense = in_step == p->k * p->in.itemsize && (in_step < 64 || in_step > 1024);
    (void)number;
    for (int64_t task = begin; task < end; task++) {
        _Alignas(64) char sums[CHUNK * sizeof(double)];
        int64_t in_offset, out_offset, first = task % job->chunks * CHUNK, m = tess_min64(CHUNK, job->width - first);
        reduce_task_place(p, task / job->chunks * job->width + first, &in_offset, &out_offset);
        for (int64_t i = 0; i < m; i += REDUCE_SHORT_ROWS) {
            const char *rows = job->run->in + in_offset + i * in_step;
            for (int64_t at = 0; dense && at < REDUCE_SHORT_ROWS * in_step; at += 64)
                tess_prefetch_l2(rows + 4096 + at);
            job->add(sums + i * size, rows, in_step, tess_min64(REDUCE_SHORT_ROWS, m - i), p->k);
        }
        tess_reduce_finish_row(p, sums, p->k, NULL, m);
        job->storer(job->run->out + out_offset, out_step, sums, m);
    }
}

tess_status tess_reduce_short(const tess_problem *problem, const tess_run *run) {
    const reduce_problem *p = (const reduce_problem *)problem;
    short_job job = {.p = p,
                     .run = run,
                     .storer = tess_storer(run->slot, p->result, p->out.type),
                     .add = tess_reduce_kernels_for(run->slot)->brief->add[p->acc],
                     .width = p->kept_size[p->kept - 1]};
    if (p->outputs == 0)
        return TESS_OK;
    job.chunks = tess_ceil_div(job.width, CHUNK);
    int64_t grain = tess_max64(1, (1 << 16) / (CHUNK * tess_max64(1, p->k)));
    return tess_parallel(run->context, run->threads, p->outputs / job.width * job.chunks, grain, chunk_tasks, &job);
}
