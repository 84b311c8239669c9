/* SPDX-License-Identifier: Apache-2.0
 * columns_staged.c - eight rows at once of elements that have no kernel of their own: converted piece by piece into L1, where the kernel of what they become takes them.
 *
 * Small integers, bf16, squares and magnitudes of integers, columns that are no neighbours: a kernel for each would be twenty texts, and a row at a time has a load and a store
 * of the sums for every element. A piece of eight rows is 16 KiB as f64, which L1 holds; the stores and loads of it are a third of the instructions, and memory does not see them. */
#include <string.h>

#include "ops/reduce/columns.h"
#include "simd/simd.h"

enum { PIECE = 256, MOST = PIECE + FEWEST_COLUMNS }; /* columns; no piece is smaller than the kernels take */

/* Some columns of a row, as the tree takes them. */
static void stage(const reduce_columns *job, const char *from, int64_t n, char *to) {
    const reduce_problem *p = job->p;
    _Alignas(64) char loaded[MOST * sizeof(tess_value)];
    if (!job->map || p->map == REDUCE_PLAIN) {
        job->loader(to, from, job->stride, n);
        return;
    }
    job->loader(loaded, from, job->stride, n);
    job->map(to, loaded, n, false, 0);
}

void tess_reduce_eight_staged(const reduce_columns_worker *w, reduce_eight eight, void *acc, int merges, const char *const *row,
                              const char *const *next, int lanes, bool more, const double *mean) {
    const reduce_columns *job = w->job;
    const int64_t stride = job->stride, wide = (int64_t)tess_type_size(job->p->acc);
    _Alignas(64) char staged[REDUCE_EIGHT][MOST * sizeof(double)];
    const char *at[REDUCE_EIGHT];
    const bool near = tess_cpu_is_zen5();
    for (int k = 0; k < REDUCE_EIGHT; k++)
        at[k] = staged[k];
    for (int64_t c = 0, n; c < w->n; c += n) {
        n = w->n - c <= MOST ? w->n - c : PIECE;
        for (int k = 0; k < REDUCE_EIGHT; k++) {
            for (int64_t line = 0; job->asks && line < n * stride && next[k] != w->mapped; line += 64)
                near ? tess_prefetch_l1(next[k] + c * stride + line) : tess_prefetch_l2(next[k] + c * stride + line);
            if (row[k] == w->mapped) /* no such row */
                tess_reduce_columns_identity(job->p, staged[k], job->p->acc, n);
            else
                stage(job, row[k] + c * stride, n, staged[k]);
        }
        eight((char *)acc + c * wide, columns_stack_step(w), merges, at, at, lanes, more, n, mean + c);
    }
}
