/* SPDX-License-Identifier: Apache-2.0
 * exact_few.c - exact sums of few elements each, which a long accumulator does not pay for: clearing its limbs, and looking through them for the result, took 100 ns an output.
 *
 * An output's elements are added in f64, and what each addition drops is had as well (exact_dropped). Of floats of 32 bits and fewer hardly any sum drops something: they have 24
 * bits of the 53, so nothing is lost but where exponents are 29 apart. Where nothing was dropped the sum is exact, and the result; only the others go to the long accumulator.
 * Outputs side by side are taken together, some of a row at a time, as far apart as they may lie. */
#include <math.h>

#include "core/parallel.h"
#include "ops/reduce/superaccumulator.h"
#include "ops/reduce/walk.h"

enum { FEW = 64, USUAL = 32, LONGEST = 4096, BESIDE = 256, NARROW = 8 };

typedef struct few_job {
    const reduce_problem *p;
    const tess_run *run;
    const reduce_exact_kernels *kernels;
    tess_row_loader loader;
    tess_row_storer storer;
    int64_t width, step, out_step, blocks; /* of outputs side by side */
    bool magnitude;
} few_job;

bool tess_reduce_exact_is_few(const reduce_problem *p) {
    const double usual = p->offsets ? p->usual : (double)p->k;
    return p->load == tess_f64 && p->acc == tess_f64 && p->rank == 1 && !p->omit && !p->records && p->longest <= LONGEST && usual <= USUAL;
}

/* One output of k elements by the long accumulator. */
static double slowly(const few_job *job, const char *from, int64_t k) {
    const reduce_problem *p = job->p;
    double row[FEW];
    exact_sum sum;
    tess_reduce_exact_start(&sum);
    sum.count = k;
    for (int64_t first = 0, n; first < k; first += n) {
        n = tess_min64(FEW, k - first);
        job->loader(row, from + first * p->stride[0][0], p->stride[0][0], n);
        job->kernels->add[tess_f64](sum.part, 1, row, n, job->magnitude);
    }
    return tess_reduce_exact_finish(&sum, p).f64;
}

/* Outputs side by side, row after row. */
static void beside(const few_job *job, const char *from, char *to, int64_t n, int64_t k) {
    const reduce_problem *p = job->p;
    double sum[BESIDE] = {0}, row[BESIDE];
    int64_t left[BESIDE] = {0};
    const bool few = k <= FEW;
    for (int64_t r = 0; few && r < k; r++) {
        job->loader(row, from + r * p->stride[0][0], job->step, n);
        job->kernels->few(sum, left, row, n, job->magnitude);
    }
    for (int64_t c = 0; c < n; c++)
        if (!few || left[c])
            sum[c] = slowly(job, from + c * job->step, k);
        else if (p->operation == TESS_MEAN)
            sum[c] /= (double)k;
    job->storer(to, job->out_step, sum, n);
}

/* One output, its elements one after another. */
static void alone(const few_job *job, const char *from, char *to, int64_t k) {
    const reduce_problem *p = job->p;
    double row[FEW], sum = 0, dropped = 0;
    if (k <= FEW)
        job->loader(row, from, p->stride[0][0], k);
    for (int64_t i = 0; k <= FEW && i < k; i++)
        dropped += fabs(exact_dropped(&sum, job->magnitude ? fabs(row[i]) : row[i]));
    if (k > FEW || !(dropped == 0))
        sum = slowly(job, from, k);
    else if (p->operation == TESS_MEAN)
        sum /= (double)k;
    job->storer(to, p->out.itemsize, &sum, 1);
}

/* A task is a block of neighbouring outputs of one segment. */
static void tasks_of(void *argument, int64_t begin, int64_t end, int worker) {
    const few_job *job = argument;
    const reduce_problem *p = job->p;
    (void)worker;
    for (int64_t task = begin; task < end; task++) {
        const int64_t column = task % job->blocks * BESIDE, rest = task / job->blocks, segment = rest % p->segments;
        int64_t first, in_offset, out_offset;
        const int64_t k = reduce_task_size(p, segment, &first), n = tess_min64(BESIDE, job->width - column);
        reduce_task_place(p, rest / p->segments * job->width * p->segments + segment, &in_offset, &out_offset);
        const char *from = job->run->in + in_offset + column * job->step + first * p->stride[0][0];
        char *to = job->run->out + out_offset + column * job->out_step;
        if (job->width >= NARROW)
            beside(job, from, to, n, k);
        else
            for (int64_t c = 0; c < n; c++)
                alone(job, from + c * job->step, to + c * job->out_step, k);
    }
}

tess_status tess_reduce_exact_few(const reduce_problem *given, const tess_run *run) {
    reduce_problem own;
    const reduce_problem *p = given;
    if (given->kept > 0 && given->kept_size[given->kept - 1] < NARROW) { /* by a longer axis, if there is one */
        own = *given;
        tess_reduce_put_last(&own, tess_reduce_longest_kept(given));
        p = &own;
    }
    const int last = p->kept - 1;
    few_job job = {.p = p,
                   .run = run,
                   .kernels = tess_reduce_kernels_for(run->slot)->exact,
                   .loader = tess_loader(run->slot, p->in.type, tess_f64),
                   .storer = tess_storer(run->slot, p->result, p->out.type),
                   .width = p->kept > 0 ? p->kept_size[last] : 1,
                   .step = p->kept > 0 ? p->kept_stride[0][last] : 0,
                   .out_step = p->kept > 0 ? p->kept_stride[1][last] : 0,
                   .magnitude = p->map == REDUCE_ABS};
    job.blocks = tess_ceil_div(job.width, BESIDE);
    const int64_t tasks = p->outputs == 0 ? 0 : p->outputs / job.width * p->segments * job.blocks;
    const int64_t bytes = (int64_t)(p->base.bytes / (double)tess_max64(1, tasks));
    return tess_parallel(run->context, run->threads, tasks, reduce_grain(tasks, bytes, run->threads, 1), tasks_of, &job);
}
