/* SPDX-License-Identifier: Apache-2.0
 * short.h - what the files of the row reduce/short share: the job, and what is known of the outputs of a chunk. */
#ifndef TESS_OPS_REDUCE_SHORT_H
#define TESS_OPS_REDUCE_SHORT_H

#include "ops/reduce/walk.h"

enum { SHORT_CHUNK = 256 }; /* outputs whose results wait in L1 for one conversion */

typedef struct short_job {
    const reduce_problem *p;
    const tess_run *run;
    const reduce_kernels *kernels;
    tess_row_storer storer;
    int64_t ahead, acc_size;
    int64_t width, chunk, chunks; /* along the last kept axis */
    bool past, stream;            /* results go past the caches; finished sums as they come */
    bool across;                  /* ... that are finished where their terms lie (short_across.h) */
    bool planes, sets;            /* outputs side by side, whose term j lies in plane j; too few of them for a line, so several sets at once */
    const char *end;              /* of the elements of `in`; sets only */
} short_job;

/* What is known of the outputs of a chunk before they are finished. */
typedef struct short_chunk {
    _Alignas(64) char value[SHORT_CHUNK * sizeof(double)]; /* sums, or keys of the elements' width */
    int64_t number[SHORT_CHUNK];                           /* places, or keys */
    double mean[SHORT_CHUNK], m2[SHORT_CHUNK];
} short_chunk;

/* short.c: as many outputs as are turned at once, number i and on of the chunk, of their terms: line j is term j of all. */
void tess_reduce_short_terms(const short_job *job, short_chunk *to, int64_t i, const char *terms);

/* short_planes.c: how far ahead, and whether sets are taken together; m outputs side by side, the first of the chunk, from the first plane's on; outputs first .. first + m - 1
 * of all, of several sets. */
void tess_reduce_short_plan_planes(short_job *job);
void tess_reduce_short_planes(const short_job *job, short_chunk *to, const char *planes, int64_t m);
void tess_reduce_short_sets(const short_job *job, short_chunk *to, int64_t first, int64_t m);

#endif
