/* SPDX-License-Identifier: Apache-2.0
 * columns_streams.c - the tree over a leaf whose rows follow each other in memory without a gap, read as sixteen streams.
 *
 * In bit-reversed order (columns_fold.c) each row of a few KiB lies somewhere else than the one before, and the processor has hardly seen a place move on when it is left.
 * Here the lanes are visited in their natural order, those that halving joins first and all rows of each together: sixteen places, each of which goes through
 * memory in one run. That leaves a partial row for each of 256 / lanes visits, which L2 holds until halving is done with them in the end. On a Zen 5 a bare
 * loop reads 256 x 1024 x 1024 f32 at 90 % of the speed of reading so, and at 70 in bit-reversed order (notes-cpu.md). */
#include <string.h>

#include "core/maker.h"
#include "ops/reduce/columns.h"

enum { PARTIAL_BYTES = 512 << 10, FEWEST = 2 * REDUCE_LANES, MOST = REDUCE_STREAMS * REDUCE_LANES };

/* Lanes of a visit, for a leaf of n. */
static int lanes_of(int64_t n) {
    const int64_t rows = tess_ceil_div(n, REDUCE_LANES);
    return rows > 8 ? 1 : rows > 4 ? 2 : rows > 2 ? 4 : 8;
}

size_t tess_reduce_streams_size(const reduce_problem *p, int64_t block) {
    const int last = p->kept - 1;
    const int64_t size = p->in.itemsize, row = (block + 7) / 8 * 8 * size;
    if (p->kind != REDUCE_SUM || p->map != REDUCE_PLAIN || p->omit || p->in.type != p->acc || (p->acc != tess_f32 && p->acc != tess_f64) ||
        p->order.cached)
        return 0;
    if (p->rank != 1 || block != p->kept_size[last] || block < FEWEST_COLUMNS || p->stride[0][0] != block * size || p->kept_stride[0][last] != size)
        return 0;
    const int64_t bytes = p->longest < FEWEST || p->longest > MOST ? 0 : REDUCE_LANES / lanes_of(p->longest) * row;
    return bytes > PARTIAL_BYTES >> tess_cpu_reads_in_turns() ? 0 : (size_t)bytes; /* a Zen 3 has half the L2 */
}

bool tess_reduce_takes_streams(const reduce_columns_worker *w, int64_t n) { return w->partial && tess_cpu_keeps_few_places() && n >= FEWEST; }

void tess_reduce_fold_streams(const reduce_columns_worker *w, int64_t n, int64_t level) {
    const reduce_columns *job = w->job;
    const tess_type type = job->p->acc;
    const int lanes = lanes_of(n), each = REDUCE_STREAMS / lanes, visits = REDUCE_LANES / lanes;
    const int64_t step = columns_stack_step(w), bytes = step * (int64_t)tess_type_size(type);
    int64_t depth = level;
    memset(w->mapped, 0, (size_t)(w->n * job->p->in.itemsize)); /* stands for rows that do not exist: a lane that takes +0 once more stays as it is */
    for (int visit = 0; visit < visits; visit++) {
        char *sums = w->partial + visit * bytes;
        if (visit + REDUCE_LANES - visits + (each - 1) * REDUCE_LANES < n) { /* the last of them all */
            job->kernels->streams->even[type](sums, w->base + w->offset[visit], job->p->stride[0][0], lanes, w->n);
            continue;
        }
        const char *row[REDUCE_STREAMS];
        for (int j = 0; j < REDUCE_STREAMS; j++) {
            const int64_t at = visit + reduce_reversed_lane(j / each) + j % each * REDUCE_LANES;
            row[j] = at < n ? w->base + w->offset[at] : w->mapped;
        }
        job->kernels->streams->rows[type](sums, row, lanes, w->n);
    }
    for (int visit = 0; visit < visits; visit += REDUCE_EIGHT, depth++) {
        const int merges = reduce_merges_after(visit / REDUCE_EIGHT);
        const char *row[REDUCE_EIGHT];
        for (int j = 0; j < REDUCE_EIGHT; j++)
            row[j] = w->partial + reduce_reversed_lane(visit + j) / lanes * bytes;
        job->kernels->eight->sums[REDUCE_PLAIN][type](columns_stack_row(w, depth), step, merges, row, row, REDUCE_EIGHT, false, w->n, NULL);
        depth -= merges;
    }
}
