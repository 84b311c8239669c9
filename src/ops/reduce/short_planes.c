/* SPDX-License-Identifier: Apache-2.0
 * short_planes.c - terms of outputs side by side for the kernels of short rows: element c of plane j is term j of output c, so lines are copied where rows would be turned.
 *
 * Such kernels have the whole tree of an output in registers, where whole rows one after another are as many copies as a few rows have levels. Sets of few outputs fill
 * a line together. */
#include <string.h>

#include "ops/reduce/short.h"
#include "simd/simd.h"

enum { AHEAD = 1024 /* bytes of each plane */, COPY = 16 /* bytes at once of a part of a line */ };

/* Lines of several groups of outputs at once, for each plane is a place of its own, and the lines some way on in it are asked for. */
void tess_reduce_short_planes(const short_job *job, short_chunk *to, const char *planes, int64_t m) {
    enum { ROOM = 1 << 15, GROUPS = 4 };
    _Alignas(64) char terms[ROOM];
    const int64_t step = job->p->stride[0][0], size = job->p->in.itemsize, at_once = reduce_short_rows(size), line = at_once * size, k = job->p->k;
    const int64_t most = tess_max64(1, tess_min64(GROUPS, ROOM / (k * line)));
    for (int64_t i = 0; i < m;) {
        const int64_t left = m - i, groups = left < at_once ? 1 : tess_min64(most, left / at_once);
        const char *from = planes + i * size;
        if (left < at_once)
            memset(terms, 0, (size_t)(k * line));
        for (int64_t j = 0; j < k; j++, from += step) {
            char *at = terms + j * line;
            if (left < at_once) {
                memcpy(at, from, (size_t)(left * size));
                continue;
            }
            for (int64_t g = 0; g < groups; g++, at += k * line)
                for (int64_t b = 0; b < line; b += 64) {
                    tess_prefetch_l2(from + g * line + b + job->ahead);
                    memcpy(at + b, from + g * line + b, 64);
                }
        }
        for (int64_t g = 0; g < groups; g++)
            tess_reduce_short_terms(job, to, i + g * at_once, terms + g * k * line);
        i += groups * at_once;
    }
}

/* Outputs of one set that fill a part of a line. */
typedef struct part {
    const char *from;
    int64_t to, bytes; /* in the line */
    bool exact;        /* no byte behind them may be read */
} part;

/* The parts of sets, of the outputs from number `first` on that fill a line, or of the last `left` of them; how many. */
static int parts_of(const short_job *job, int64_t first, int64_t left, part *parts) {
    const reduce_problem *p = job->p;
    const int64_t size = p->in.itemsize, at_once = reduce_short_rows(size), m = tess_min64(left, at_once);
    const int64_t furthest = tess_max64(0, (p->k - 1) * p->stride[0][0]);
    int count = 0;
    for (int64_t i = 0, n; i < m; i += n, count++) {
        const int64_t column = (first + i) % job->width;
        int64_t in_offset, out_offset;
        n = tess_min64(m - i, job->width - column);
        reduce_task_place(p, first + i, &in_offset, &out_offset);
        const char *from = job->run->in + in_offset;
        const int64_t bytes = n * size, padded = (bytes + COPY - 1) / COPY * COPY;
        parts[count] = (part){from, i * size, bytes, from + furthest + padded > job->end};
    }
    return count;
}

void tess_reduce_short_sets(const short_job *job, short_chunk *to, int64_t first, int64_t m) {
    enum { MOST = 128 }; /* bytes of a line */
    const reduce_problem *p = job->p;
    const int64_t size = p->in.itemsize, at_once = reduce_short_rows(size), line = at_once * size, step = p->stride[0][0];
    _Alignas(64) char terms[REDUCE_LANES * MOST + COPY];
    part parts[64];
    for (int64_t i = 0; i < m; i += at_once) {
        const int count = parts_of(job, first + i, m - i, parts);
        if (m - i < at_once)
            memset(terms, 0, (size_t)(p->k * line));
        char *at = terms;
        for (int64_t j = 0; j < p->k; j++, at += line)
            for (int r = 0; r < count; r++) {
                const char *from = parts[r].from + j * step;
                char *put = at + parts[r].to;
                if (parts[r].exact)
                    memcpy(put, from, (size_t)parts[r].bytes);
                else
                    for (int64_t b = 0; b < parts[r].bytes; b += COPY) /* what is too much the next part writes over, or the next line's first */
                        memcpy(put + b, from + b, COPY);
            }
        tess_reduce_short_terms(job, to, i, terms);
    }
}

/* The outputs' results follow one another, whatever set they are of. */
static bool in_a_run(const reduce_problem *p) {
    bool follow = true;
    for (int d = p->kept - 2; d >= 0; d--)
        follow &= p->kept_stride[1][d] == p->kept_stride[1][d + 1] * p->kept_size[d + 1];
    return follow;
}

void tess_reduce_short_plan_planes(short_job *job) {
    const reduce_problem *p = job->p;
    const int64_t step = p->stride[0][0], set = p->k * step; /* of short planes that follow one another what comes next is the next set */
    job->ahead = step > 0 && step <= 2 * AHEAD && set > AHEAD ? set : AHEAD;
    job->sets = p->kept > 1 && job->width < reduce_short_rows(p->in.itemsize) && in_a_run(p);
    job->end = reduce_end(p, job->run->in);
}
