/* SPDX-License-Identifier: Apache-2.0
 * short.c - the row reduce/short: many rows of at most 256 terms, sixteen outputs at a time, 32 of 16 bits and 64 of bytes (cpu_short.c): everything but products. Rows
 * are turned; outputs side by side, whose terms lie in planes, are turned already. Threads share chunks of outputs. */
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "ops/reduce/short.h"
#include "simd/lanes.h"
#include "simd/simd.h"

bool tess_reduce_short_has(const reduce_problem *p) {
    const reduce_short_kernels *brief = tess_reduce_kernels_for(TESS_SLOT_BASELINE)->brief;
    const tess_type in = p->in.type;
    switch (p->kind) {
    case REDUCE_SUM:
        if (p->omit)
            return false;
        if (reduce_is_integer(p->acc))
            return p->map == REDUCE_PLAIN && brief->integers[in];
        if (p->map == REDUCE_SQUARE)
            return brief->mapped[p->map][in];
        if (p->acc == tess_f64 && in != tess_f64)
            return p->map == REDUCE_PLAIN && brief->wide[in];
        return brief->mapped[p->map][in] || (p->map == REDUCE_PLAIN && brief->add[in]);
    case REDUCE_COUNT: return !p->omit && brief->zeros[in];
    case REDUCE_EXTREME: return p->map == REDUCE_PLAIN && brief->greatest[in];
    case REDUCE_ARG: return p->map == REDUCE_PLAIN && brief->first[in];
    case REDUCE_VAR: return !p->omit && brief->moments[in];
    default: return false;
    }
}

void tess_reduce_short_terms(const short_job *job, short_chunk *to, int64_t i, const char *terms) {
    const reduce_problem *p = job->p;
    const reduce_short_kernels *brief = job->kernels->brief;
    const tess_type in = p->in.type;
    const int64_t k = p->k;
    char *value = to->value + i * job->acc_size;
    switch (p->kind) {
    case REDUCE_EXTREME: brief->greatest[in](to->value + i * p->in.itemsize, terms, k, p->order); break;
    case REDUCE_ARG: brief->first[in](to->number + i, terms, k, p->order); break;
    case REDUCE_COUNT: brief->zeros[in](to->number + i, terms, k); break;
    case REDUCE_VAR: brief->moments[in](to->mean + i, to->m2 + i, terms, k); break;
    default:
        if (reduce_is_integer(p->acc))
            brief->integers[in]((uint64_t *)(void *)value, terms, k);
        else if (p->map == REDUCE_PLAIN && p->acc == tess_f64 && in != tess_f64)
            brief->wide[in](value, terms, k);
        else
            brief->mapped[p->map][in](value, terms, k);
        break;
    }
}

/* As many outputs as are turned at once, or fewer, number i and on of the chunk. end: of the elements that may be read. */
static void fold(const short_job *job, short_chunk *to, int64_t i, const char *rows, int64_t step, int64_t count, const char *end) {
    const reduce_problem *p = job->p;
    const reduce_short_kernels *brief = job->kernels->brief;
    const tess_type in = p->in.type;
    const int64_t k = p->k;
    char *value = to->value + i * job->acc_size;
    if (p->kind == REDUCE_SUM && p->map == REDUCE_PLAIN && in == p->acc && brief->add[in]) {
        brief->add[in](value, rows, step, count, k);
        return;
    }
    if (p->kind == REDUCE_EXTREME && count == REDUCE_SHORT_ROWS && k * p->in.itemsize >= 64 && brief->greatest_here[in] &&
        brief->greatest_here[in](to->value + i * p->in.itemsize, rows, step, k, p->order))
        return;
    _Alignas(64) char terms[REDUCE_LANES * REDUCE_SHORT_ROWS * sizeof(double)];
    if (p->in.itemsize <= 2) {
        const char *ahead = step == k * p->in.itemsize ? rows + tess_max64(job->ahead, count * step) : NULL;
        brief->lines[p->in.itemsize](terms, rows, step, count, k, end, ahead);
    } else {
        const int64_t line = REDUCE_SHORT_ROWS * p->in.itemsize;
        if (count < REDUCE_SHORT_ROWS)
            memset(terms, 0, (size_t)(k * line));
        brief->turn[p->in.itemsize](terms, line, rows, step, count, k);
    }
    tess_reduce_short_terms(job, to, i, terms);
}

/* Values of the chunk to an output of their own type. */
static void put_own(const short_job *job, char *out, int64_t step, const short_chunk *c, int64_t size, int64_t m) {
    if (job->past)
        tess_stream_copy(out, c->value, m * size);
    else if (step == size)
        memcpy(out, c->value, (size_t)(m * size));
    else
        for (int64_t i = 0; i < m; i++)
            memcpy(out + i * step, c->value + i * size, (size_t)size);
}

/* Finished sums, means or extremes of the first of m outputs, as many as there is a loop over many rows for, to the output or by way of the chunk; returns how many. */
static int64_t whole(const short_job *job, short_chunk *c, const char *rows, int64_t in_step, char *out, int64_t out_step, int64_t m, bool own) {
    const reduce_problem *p = job->p;
    const reduce_short_kernels *brief = job->kernels->brief;
    const bool sum =
        p->kind == REDUCE_SUM && p->map == REDUCE_PLAIN && p->in.type == p->acc && (p->operation == TESS_SUM || p->operation == TESS_MEAN);
    const bool tiny = in_step == p->k * p->in.itemsize && brief->tiny[p->in.type];
    const reduce_short_size size = p->order.cached ? REDUCE_SHORT_CACHED : REDUCE_SHORT_LARGE;
    char *to = job->stream ? out : c->value;
    int64_t done = 0;
    if (own && tiny) {
        const bool apart = out_step != p->in.itemsize;
        done = brief->tiny[p->in.type](apart ? c->value : out, rows, m, p->k, p->order.smallest ? REDUCE_TINY_LEAST : REDUCE_TINY_GREATEST,
                                       job->past ? REDUCE_SHORT_PAST : size);
        if (apart)
            put_own(job, out, out_step, c, p->in.itemsize, done);
        return done;
    }
    if (sum && tiny)
        done = brief->tiny[p->acc](to, rows, m, p->k, p->operation == TESS_MEAN ? REDUCE_TINY_MEAN : REDUCE_TINY_SUM,
                                   job->stream ? REDUCE_SHORT_PAST : size);
    if (done == 0 && sum && brief->whole[p->acc] &&
        brief->whole[p->acc](to, rows, in_step, m / REDUCE_SHORT_ROWS * REDUCE_SHORT_ROWS, p->k, p->operation == TESS_MEAN,
                             job->stream ? REDUCE_SHORT_PAST : size))
        done = m / REDUCE_SHORT_ROWS * REDUCE_SHORT_ROWS;
    if (!job->stream && done > 0)
        job->storer(out, out_step, c->value, done);
    return done;
}

enum { SHORT_PITCH = 1024 }; /* bytes */

/* Finished sums, means or extremes of the first of m outputs whose terms lie in planes; returns how many: all but fewer than a vector has. */
static int64_t across(const short_job *job, short_chunk *c, const char *planes, char *out, int64_t step, int64_t m) {
    const reduce_problem *p = job->p;
    const reduce_tiny_fold fold = p->operation == TESS_SUM    ? REDUCE_TINY_SUM
                                  : p->operation == TESS_MEAN ? REDUCE_TINY_MEAN
                                  : p->order.smallest         ? REDUCE_TINY_LEAST
                                                              : REDUCE_TINY_GREATEST;
    const int64_t size = p->in.itemsize, pitch = p->stride[0][0];
    const bool there = !job->past && step == size;
    const int64_t most = there ? m : (int64_t)sizeof c->value / size;
    int64_t done = 0;
    /* Short planes: what follows a set is the next one, and no load walks through memory. */
    for (int64_t at = 0; !p->order.cached && pitch > 0 && pitch <= SHORT_PITCH && at < p->k * pitch; at += 64)
        tess_prefetch_l2(planes + reduce_short_ahead(false) + at);
    for (int64_t n; done < m; done += n) {
        n = tess_min64(most, m - done);
        if (!job->kernels->brief->across[p->in.type](there ? out + done * size : c->value, planes + done * size, pitch, n, p->k, fold,
                                                     !p->order.cached))
            break;
        if (!there)
            put_own(job, out + done * step, step, c, size, n);
    }
    return done;
}

/* Least and greatest elements to an output of their own type, past the compute types. */
static void put_elements(const short_job *job, short_chunk *c, char *out, int64_t step, int64_t m) {
    const reduce_problem *p = job->p;
    const int64_t size = p->in.itemsize;
    job->kernels->brief->elements[p->in.type](c->value, m, p->order.smallest);
    put_own(job, out, step, c, size, m);
}

/* The finished values of m outputs as a row. */
static const void *finish(const short_job *job, short_chunk *c, int64_t m) {
    const reduce_problem *p = job->p;
    const reduce_short_kernels *brief = job->kernels->brief;
    const size_t size = tess_type_size(p->result);
    const double divisor = (double)p->k - p->ddof;
    switch (p->kind) {
    case REDUCE_ARG: return c->number;
    case REDUCE_COUNT:
        for (int64_t i = 0; i < m; i++)
            c->number[i] = p->operation == TESS_ANY ? p->k > c->number[i] : p->operation == TESS_ALL ? c->number[i] == 0 : p->k - c->number[i];
        return c->number;
    case REDUCE_VAR: brief->variances(c->m2, m, divisor > 0 ? divisor : 0, p->operation == TESS_STD); return c->m2;
    case REDUCE_SUM:
        if (p->operation == TESS_MEAN)
            brief->means[p->acc](c->value, m, p->k);
        else if (p->operation == TESS_NORM2)
            brief->variances((double *)(void *)c->value, m, 1, true);
        else
            tess_reduce_finish_row(p, c->value, p->k, NULL, m);
        return c->value;
    default: break;
    }
    job->kernels->order->widen[p->in.type](c->number, c->value, m);
    if (tess_reduce_finish_keys(p, job->kernels, c->number, c->value, m))
        return c->value;
    for (int64_t i = 0; i < m; i++) { /* a result is no wider than its key */
        reduce_node node;
        tess_reduce_node_empty(p, &node);
        node.count = p->k;
        node.key = c->number[i];
        tess_value value = tess_reduce_node_finish(p, &node);
        memcpy(c->value + (size_t)i * size, &value, size);
    }
    return c->value;
}

/* Finished values of m outputs to their type and place. */
static void put(const short_job *job, char *out, int64_t step, const void *values, int64_t m) {
    const int64_t size = job->p->out.itemsize;
    _Alignas(64) char converted[SHORT_CHUNK * sizeof(double)];
    if (!job->past || size > (int64_t)sizeof(double)) {
        job->storer(out, step, values, m);
        return;
    }
    const bool as_they_are = job->p->result == job->p->out.type && reduce_is_integer(job->p->result);
    if (!as_they_are)
        job->storer(converted, size, values, m);
    tess_stream_copy(out, as_they_are ? values : converted, m * size);
}

static void chunk_tasks(void *argument, int64_t begin, int64_t end, int number) {
    const short_job *job = argument;
    const reduce_problem *p = job->p;
    const int last = p->kept - 1;
    const int64_t in_step = p->kept_stride[0][last], out_step = p->kept_stride[1][last];
    /* row after row: the next ones are worth asking for, unless the tiles that turn them do (asking twice took a tenth) or nothing is turned */
    const bool here = p->kind == REDUCE_EXTREME && p->k * p->in.itemsize >= 64 && job->kernels->brief->greatest_here[p->in.type];
    const bool dense = !job->planes && in_step == p->k * p->in.itemsize && (in_step < 64 || in_step > 1024) && !here && p->in.itemsize > 2;
    const int64_t at_once = reduce_short_rows(p->in.itemsize), above = in_step > 0 ? (job->width - 1) * in_step : 0;
    const bool own = (p->operation == TESS_MIN || p->operation == TESS_MAX) && p->out.type == p->in.type;
    short_chunk results;
    (void)number;
    for (int64_t task = begin; task < end; task++) {
        int64_t in_offset, out_offset, first = task % job->chunks * job->chunk, m = tess_min64(job->chunk, job->width - first);
        reduce_task_place(p, task / job->chunks * job->width + first, &in_offset, &out_offset);
        const char *behind = job->run->in + in_offset - first * in_step + above + p->k * p->in.itemsize;
        const char *from = job->run->in + in_offset;
        char *out = job->run->out + out_offset;
        const int64_t done = job->across   ? across(job, &results, from, out, out_step, m)
                             : job->planes ? 0
                                           : whole(job, &results, from, in_step, out, out_step, m, own);
        in_offset += done * in_step;
        out_offset += done * out_step;
        m -= done;
        if (m == 0)
            continue;
        if (job->planes)
            tess_reduce_short_planes(job, &results, job->run->in + in_offset, m);
        for (int64_t i = 0; i < m && !job->planes; i += at_once) {
            const char *rows = job->run->in + in_offset + i * in_step;
            for (int64_t at = 0; dense && at < at_once * in_step; at += 64)
                tess_prefetch_l2(rows + job->ahead + at);
            fold(job, &results, i, rows, in_step, tess_min64(at_once, m - i), behind);
        }
        if (own)
            put_elements(job, &results, job->run->out + out_offset, out_step, m);
        else
            put(job, job->run->out + out_offset, out_step, finish(job, &results, m), m);
    }
}

/* Chunks of outputs of several sets, whose results follow one another. */
static void set_tasks(void *argument, int64_t begin, int64_t end, int number) {
    const short_job *job = argument;
    const reduce_problem *p = job->p;
    const int64_t out_step = p->kept_stride[1][p->kept - 1];
    const bool own = (p->operation == TESS_MIN || p->operation == TESS_MAX) && p->out.type == p->in.type;
    short_chunk results;
    (void)number;
    for (int64_t task = begin; task < end; task++) {
        const int64_t first = task * SHORT_CHUNK, m = tess_min64(SHORT_CHUNK, p->outputs - first);
        char *out = job->run->out + first * out_step;
        tess_reduce_short_sets(job, &results, first, m);
        if (own)
            put_elements(job, &results, out, out_step, m);
        else
            put(job, out, out_step, finish(job, &results, m), m);
    }
}

/* Whether the results of every chunk begin at a line. */
static bool in_lines(const reduce_problem *p, const char *out) {
    const int last = p->kept - 1;
    bool lines = (uintptr_t)out % 64 == 0 && p->kept_stride[1][last] == p->out.itemsize;
    for (int d = 0; d < last; d++)
        lines &= p->kept_stride[1][d] % 64 == 0;
    return lines;
}

tess_status tess_reduce_short(const tess_problem *problem, const tess_run *run) {
    const reduce_problem *p = (const reduce_problem *)problem;
    short_job job = {.p = p,
                     .run = run,
                     .kernels = tess_reduce_kernels_for(run->slot),
                     .storer = tess_storer(run->slot, p->result, p->out.type),
                     .ahead = reduce_short_ahead(false),
                     .acc_size = (int64_t)tess_type_size(p->acc),
                     .width = p->kept_size[p->kept - 1],
                     .planes = reduce_has_planes(p)};
    if (p->outputs == 0)
        return TESS_OK;
    const bool large = p->outputs * p->out.itemsize > 8 << 20 && in_lines(p, run->out);
    job.past = large && p->k * p->in.itemsize <= 4 * p->out.itemsize; /* a few results among many elements: a tenth slower (Zen 5) */
    job.stream = large && p->acc == p->out.type && p->result == p->out.type;
    if (job.planes)
        tess_reduce_short_plan_planes(&job);
    if (job.sets)
        return tess_parallel(run->context, run->threads, tess_ceil_div(p->outputs, SHORT_CHUNK), tess_max64(1, (1 << 16) / (SHORT_CHUNK * p->k)),
                             set_tasks, &job);
    job.across = job.planes && reduce_goes_across(p);
    job.chunk = job.across ? (1 << 13) / p->in.itemsize : SHORT_CHUNK;
    job.chunks = tess_ceil_div(job.width, job.chunk);
    const int64_t tasks = p->outputs / job.width * job.chunks, terms = tess_min64(job.chunk, job.width) * tess_max64(1, p->k);
    const int64_t grain = reduce_grain(tasks, terms * p->in.itemsize, run->threads, tess_max64(1, (1 << 16) / (job.chunk * tess_max64(1, p->k))));
    return tess_parallel(run->context, run->threads, tasks, grain, chunk_tasks, &job);
}
