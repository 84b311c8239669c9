/* SPDX-License-Identifier: Apache-2.0
 * cpu_slices.c - the axis is not the last: each index copies what lies behind it, whole runs where there are no gaps.
 *
 * Few indices with long slices are cut into pieces, so that there is work for every thread. */
#include "core/parallel.h"
#include "ops/lookup/lookup.h"

tess_status TESS_ISA_NAME(tess_lookup_slices)(const tess_problem *base, const tess_run *run);

enum { CUT = 1 << 16 }; /* bytes of a piece of a long slice */

typedef struct job {
    const lookup_problem *problem;
    const tess_run *run;
    _Atomic int64_t first_bad;
    lookup_axes inner; /* without the run */
    int64_t run_bytes, pieces;
} job;

static void copy(char *out, const char *from, int64_t n) {
    if (n >= 16 && n <= 64) { /* shorter than a call */
        for (int64_t i = 0; i < n - 16; i += 16)
            memcpy(out + i, from + i, 16);
        memcpy(out + n - 16, from + n - 16, 16);
    } else {
        memcpy(out, from, (size_t)n);
    }
}

/* Bytes begin .. end-1 of every run of the slice; from = NULL fills. */
static void copy_slice(job *j, char *out, const char *from, int64_t begin, int64_t end) {
    const lookup_problem *problem = j->problem;
    tess_index k;
    tess_index_start(&k, j->inner.ndim, j->inner.shape, 2, j->inner.stride, 0);
    do {
        char *to = out + k.offset[LOOKUP_OUT];
        if (from)
            copy(to + begin, from + k.offset[LOOKUP_FROM] + begin, end - begin);
        for (int64_t at = begin; !from && at < end; at += problem->size)
            memcpy(to + at, problem->fill, (size_t)problem->size);
    } while (tess_index_next(&k));
}

static void task(void *argument, int64_t begin, int64_t end, int worker) {
    job *j = argument;
    const lookup_problem *problem = j->problem;
    lookup_walk walk;
    lookup_segment s;
    (void)worker;
    int64_t piece = begin % j->pieces, each = CUT / problem->size * problem->size, left = end - begin;
    tess_lookup_walk_start(&walk, problem, j->run, begin / j->pieces, tess_ceil_div(end, j->pieces), 1);
    while (tess_lookup_walk_next(&walk, &s)) {
        int64_t entry;
        bool inside = tess_lookup_entry(problem, s.index, &entry);
        if (!inside && problem->outside == TESS_OUTSIDE_ERROR) {
            tess_lookup_note(&j->first_bad, s.position);
            return;
        }
        for (; piece < j->pieces && left > 0; piece++, left--)
            copy_slice(j, s.out, inside ? s.table + entry * problem->step : NULL, piece * each,
                       piece == j->pieces - 1 ? j->run_bytes : (piece + 1) * each);
        piece = 0;
    }
}

tess_status TESS_ISA_NAME(tess_lookup_slices)(const tess_problem *base, const tess_run *run) {
    const lookup_problem *problem = (const lookup_problem *)base;
    job j = {.problem = problem, .run = run, .first_bad = INT64_MAX, .inner = problem->inner, .run_bytes = problem->size, .pieces = 1};
    int last = j.inner.ndim - 1;
    if (last >= 0 && j.inner.stride[LOOKUP_FROM][last] == problem->size && j.inner.stride[LOOKUP_OUT][last] == problem->size) {
        j.run_bytes *= j.inner.shape[last];
        j.inner.ndim--;
    }
    if (j.run_bytes > 2 * CUT)
        j.pieces = tess_ceil_div(j.run_bytes, CUT / problem->size * problem->size);
    int64_t slice = problem->inner.count * problem->size / j.pieces;
    TESS_TRY(tess_parallel(run->context, run->threads, problem->outer.count * problem->at.count * j.pieces,
                           tess_max64(1, (1 << 17) / tess_max64(1, slice)), task, &j));
    int64_t bad = atomic_load(&j.first_bad);
    return bad == INT64_MAX ? TESS_OK : tess_lookup_refuse(problem, run->second, bad);
}
