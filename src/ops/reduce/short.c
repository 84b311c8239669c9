/* SPDX-License-Identifier: Apache-2.0
 * short.c - the row reduce/short: many rows of at most 256 terms of 4 or 8 bytes where they lie, sixteen outputs at a time (cpu_short.c): sums, squares, extremes,
 * places, moments. Threads share chunks of outputs. */
#include <string.h>

#include "core/parallel.h"
#include "ops/reduce/walk.h"
#include "simd/simd.h"

enum { CHUNK = 256 }; /* outputs whose results wait in L1 for one conversion */

typedef struct short_job {
    const reduce_problem *p;
    const tess_run *run;
    const reduce_kernels *kernels;
    tess_row_storer storer;
    int64_t width, chunks; /* along the last kept axis */
    bool stream;           /* finished sums go past the caches */
} short_job;

/* What is known of the outputs of a chunk before they are finished. */
typedef struct chunk {
    _Alignas(64) char value[CHUNK * sizeof(double)]; /* sums, or keys of the elements' width */
    int64_t number[CHUNK];                           /* places, or keys */
    double mean[CHUNK], m2[CHUNK];
} chunk;

bool tess_reduce_short_has(const reduce_problem *p) {
    const reduce_short_kernels *brief = tess_reduce_kernels_for(TESS_SLOT_BASELINE)->brief;
    switch (p->kind) {
    case REDUCE_SUM:
        if (p->omit)
            return false;
        if (reduce_is_integer(p->acc))
            return p->map == REDUCE_PLAIN && brief->integers[p->in.type];
        if (p->map != REDUCE_PLAIN)
            return brief->mapped[p->map][p->in.type] && p->acc == (p->map == REDUCE_SQUARE ? tess_f64 : p->in.type);
        return brief->add[p->acc] && p->in.type == p->acc && p->load == p->acc;
    case REDUCE_EXTREME: return p->map == REDUCE_PLAIN && brief->greatest[p->in.type];
    case REDUCE_ARG: return p->map == REDUCE_PLAIN && brief->first[p->in.type];
    case REDUCE_VAR: return !p->omit && brief->moments[p->in.type];
    default: return false;
    }
}

/* Sixteen outputs, number i and on of the chunk. */
static void fold(const short_job *job, chunk *to, int64_t i, const char *rows, int64_t step, int64_t count) {
    const reduce_problem *p = job->p;
    const reduce_short_kernels *brief = job->kernels->brief;
    const int64_t k = p->k, pitch = REDUCE_SHORT_ROWS * p->in.itemsize;
    char *value = to->value + i * (int64_t)tess_type_size(p->acc);
    if (p->kind == REDUCE_SUM && p->map == REDUCE_PLAIN && brief->add[p->acc]) {
        brief->add[p->acc](value, rows, step, count, k);
        return;
    }
    if (p->kind == REDUCE_EXTREME && count == REDUCE_SHORT_ROWS && k * p->in.itemsize >= 64 && brief->greatest_here[p->in.type] &&
        brief->greatest_here[p->in.type](to->value + i * p->in.itemsize, rows, step, k, p->order))
        return;
    _Alignas(64) char terms[REDUCE_LANES * REDUCE_SHORT_ROWS * sizeof(double)];
    if (count < REDUCE_SHORT_ROWS)
        memset(terms, 0, (size_t)(k * pitch));
    brief->turn[p->in.itemsize](terms, pitch, rows, step, count, k);
    switch (p->kind) {
    case REDUCE_EXTREME: brief->greatest[p->in.type](to->value + i * p->in.itemsize, terms, k, p->order); break;
    case REDUCE_ARG: brief->first[p->in.type](to->number + i, terms, k, p->order); break;
    case REDUCE_VAR: brief->moments[p->in.type](to->mean + i, to->m2 + i, terms, k); break;
    default:
        if (reduce_is_integer(p->acc))
            brief->integers[p->in.type]((uint64_t *)(void *)value, terms, k);
        else
            brief->mapped[p->map][p->in.type](value, terms, k);
        break;
    }
}

/* Finished sums or means of the first of m outputs, as many as are whole sixteens, to the output or by way of the chunk; returns how many. */
static int64_t whole(const short_job *job, chunk *c, const char *rows, int64_t in_step, char *out, int64_t out_step, int64_t m) {
    const reduce_problem *p = job->p;
    const int64_t whole = m / REDUCE_SHORT_ROWS * REDUCE_SHORT_ROWS;
    bool (*add)(void *, const char *, int64_t, int64_t, int64_t, bool, bool) = job->kernels->brief->whole[p->acc];
    if (p->kind != REDUCE_SUM || p->map != REDUCE_PLAIN || !add || (p->operation != TESS_SUM && p->operation != TESS_MEAN))
        return 0;
    if (!add(job->stream ? out : c->value, rows, in_step, whole, p->k, p->operation == TESS_MEAN, job->stream))
        return 0;
    if (!job->stream)
        job->storer(out, out_step, c->value, whole);
    return whole;
}

/* The finished values of m outputs as a row. */
static const void *finish(const short_job *job, chunk *c, int64_t m) {
    const reduce_problem *p = job->p;
    const size_t size = tess_type_size(p->result), width = tess_type_size(p->acc);
    if (p->kind == REDUCE_ARG)
        return c->number;
    if (p->kind == REDUCE_EXTREME) {
        job->kernels->order->widen[p->in.type](c->number, c->value, m);
        if (tess_reduce_finish_keys(p, job->kernels, c->number, c->value, m))
            return c->value;
    } else if (p->kind == REDUCE_SUM && tess_reduce_finish_row(p, c->value, p->k, NULL, m)) {
        return c->value;
    }
    for (int64_t i = 0; i < m; i++) { /* a result is no wider than what it is made of */
        reduce_node node;
        tess_reduce_node_empty(p, &node);
        node.count = p->k;
        if (p->kind == REDUCE_EXTREME) {
            node.key = c->number[i];
        } else if (p->kind == REDUCE_VAR) {
            node.mean = c->mean[i];
            node.m2 = c->m2[i];
        } else {
            memcpy(&node.value, c->value + (size_t)i * width, width);
        }
        tess_value value = tess_reduce_node_finish(p, &node);
        memcpy(c->value + (size_t)i * size, &value, size);
    }
    return c->value;
}

static void chunk_tasks(void *argument, int64_t begin, int64_t end, int number) {
    const short_job *job = argument;
    const reduce_problem *p = job->p;
    const int last = p->kept - 1;
    const int64_t in_step = p->kept_stride[0][last], out_step = p->kept_stride[1][last];
    /* row after row: the next ones are worth asking for, unless the tiles that turn them do (asking twice took a tenth) or nothing is turned */
    const bool here = p->kind == REDUCE_EXTREME && p->k * p->in.itemsize >= 64 && job->kernels->brief->greatest_here[p->in.type];
    const bool dense = in_step == p->k * p->in.itemsize && (in_step < 64 || in_step > 1024) && !here;
    chunk results;
    (void)number;
    for (int64_t task = begin; task < end; task++) {
        int64_t in_offset, out_offset, first = task % job->chunks * CHUNK, m = tess_min64(CHUNK, job->width - first);
        reduce_task_place(p, task / job->chunks * job->width + first, &in_offset, &out_offset);
        const int64_t done = whole(job, &results, job->run->in + in_offset, in_step, job->run->out + out_offset, out_step, m);
        in_offset += done * in_step;
        out_offset += done * out_step;
        m -= done;
        if (m == 0)
            continue;
        for (int64_t i = 0; i < m; i += REDUCE_SHORT_ROWS) {
            const char *rows = job->run->in + in_offset + i * in_step;
            for (int64_t at = 0; dense && at < REDUCE_SHORT_ROWS * in_step; at += 64)
                tess_prefetch_l2(rows + 4096 + at);
            fold(job, &results, i, rows, in_step, tess_min64(REDUCE_SHORT_ROWS, m - i));
        }
        job->storer(job->run->out + out_offset, out_step, finish(job, &results, m), m);
    }
}

tess_status tess_reduce_short(const tess_problem *problem, const tess_run *run) {
    const reduce_problem *p = (const reduce_problem *)problem;
    short_job job = {.p = p,
                     .run = run,
                     .kernels = tess_reduce_kernels_for(run->slot),
                     .storer = tess_storer(run->slot, p->result, p->out.type),
                     .width = p->kept_size[p->kept - 1]};
    if (p->outputs == 0)
        return TESS_OK;
    job.stream = p->acc == p->out.type && p->result == p->out.type && p->outputs * p->out.itemsize > 8 << 20 &&
                 p->kept_stride[1][p->kept - 1] == p->out.itemsize && (uintptr_t)run->out % 64 == 0 &&
                 (p->outputs == job.width || job.width * p->out.itemsize % 64 == 0);
    job.chunks = tess_ceil_div(job.width, CHUNK);
    const int64_t tasks = p->outputs / job.width * job.chunks, terms = tess_min64(CHUNK, job.width) * tess_max64(1, p->k);
    const int64_t grain = reduce_grain(tasks, terms * p->in.itemsize, run->threads, tess_max64(1, (1 << 16) / (CHUNK * tess_max64(1, p->k))));
    return tess_parallel(run->context, run->threads, tasks, grain, chunk_tasks, &job);
}
