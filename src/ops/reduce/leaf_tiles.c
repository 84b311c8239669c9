/* SPDX-License-Identifier: Apache-2.0
 * leaf_tiles.c - sums of elements whose order runs across memory where rows are whole rows of lanes: columns of a number that 256 divides, as most powers of two.
 *
 * Element c of each row goes to lane c % 256. So the leaves of some rows can be folded a line of lanes at a time: the elements of these lanes are turned in tiles, into L1,
 * where those of a row follow one another and the rows too, and added up from there, 32 lines to a leaf. Of other numbers of columns whole rows have to be turned before
 * their order is had (leaf_window.c), and powers of two, whose lines meet in few sets of the caches, were the worst of them. */
#include <string.h>

#include "core/parallel.h"
#include "ops/reduce/leaves.h"
#include "simd/simd.h"

/* Rows at a time: at the most MOST, so many that their lines of lanes take ROOM bytes, and at the least UNIT, of which any number of tiles makes whole leaves and which lie
 * side by side for more than a line or two: of 4096 columns 32 rows are read at 9 GB/s, 64 at 16. */
enum { LINE = 64, UNIT = 64, MOST = 128, ROOM = 1 << 15 };

typedef struct tiles_job {
    const leaves_job *leaves;
    const char *base;
    char *values;
    int64_t rows_at_once;
} tiles_job;

static int64_t tiles_of(const reduce_problem *p) { return p->size[1] / REDUCE_LANES; }
static int64_t rows_of(const reduce_problem *p) { return tess_max64(UNIT, tess_min64(MOST, ROOM / (tiles_of(p) * LINE)) / UNIT * UNIT); }

/* Lines of lanes that are turned, and the lanes of their leaves. */
static int64_t lines_size(const reduce_problem *p) { return rows_of(p) * tiles_of(p) * LINE; }
int64_t tess_reduce_tiles_size(const reduce_problem *p) {
    if (!reduce_sums_across(p) || p->rank != 2 || p->size[1] < REDUCE_LANES || p->size[1] % REDUCE_LANES != 0)
        return 0;
    return lines_size(p) + rows_of(p) * tiles_of(p) / REDUCE_TERMS * REDUCE_LANES * p->in.itemsize;
}

/* The lines of `count` pieces of memory, which lie `step` bytes apart, are asked for. */
static void ask_for(const char *piece, int64_t step, int64_t count, int64_t bytes) {
    for (; count > 0; count--, piece += step)
        for (int64_t at = 0; at < bytes + LINE - 1; at += LINE)
            tess_prefetch_l2(piece + (at < bytes ? at : bytes - 1));
}

static void blocks(void *argument, int64_t begin, int64_t end, int number) {
    const tiles_job *job = argument;
    const leaves_job *leaves = job->leaves;
    const reduce_problem *p = leaves->p;
    const int64_t size = p->in.itemsize, step = p->stride[0][1], tiles = tiles_of(p), across = LINE / size;
    char *lines = (char *)leaves->run->workspace + number * tess_reduce_tiles_size(p), *lanes = lines + lines_size(p);
    for (int64_t at = begin; at < end; at++) {
        const int64_t row = at * job->rows_at_once, rows = tess_min64(job->rows_at_once, p->size[0] - row);
        const char *from = job->base + row * size;
        for (int64_t lane = 0; lane < REDUCE_LANES; lane += across) {
            for (int64_t tile = 0; tile < tiles; tile++) {
                const int64_t c = tile * REDUCE_LANES + lane, next = tile + 1 < tiles ? c + REDUCE_LANES : lane + across;
                ask_for(from + next * step, step, across, rows * size);
                leaves->kernels->brief->turn[size](lines + tile * LINE, tiles * LINE, from + c * step, step, across, rows);
            }
            leaves->kernels->beside->chains[p->acc](lanes + lane * size, lines, rows * tiles);
        }
        for (int64_t leaf = 0; leaf * REDUCE_TERMS < rows * tiles; leaf++) {
            char *sums = lanes + leaf * REDUCE_LANES * size;
            leaves->kernels->lane->halve_add[p->acc](sums, REDUCE_LANES);
            memcpy(job->values + (row * tiles / REDUCE_TERMS + leaf) * size, sums, (size_t)size);
        }
    }
}

tess_status tess_reduce_tiles(const leaves_job *job, const char *base, char *values) {
    const reduce_problem *p = job->p;
    tiles_job own = {.leaves = job, .base = base, .values = values, .rows_at_once = rows_of(p)};
    return tess_parallel(job->run->context, job->run->threads, tess_ceil_div(p->size[0], own.rows_at_once), 1, blocks, &own);
}
