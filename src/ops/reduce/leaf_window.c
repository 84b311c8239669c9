/* SPDX-License-Identifier: Apache-2.0
 * leaf_window.c - elements whose order runs across memory (the whole of a transposed array), some lines of many of its columns at a time turned into the order they are
 * folded in.
 *
 *     memory, R rows                 order of the elements
 *     | a0 b0 c0 d0 ..               | a0 a1 a2 .. aR b0 b1 ..
 *     | a1 b1 c1 d1 ..       ->
 *
 * One by one a line is fetched for each element, and again for its neighbour R elements later. A window is as many columns as L2 holds, a line or two of them at the least, also
 * of columns that no cache holds (ALONE: all threads' together), since what is fetched for one element each takes longer than a copy. */
#include <stdlib.h>
#include <string.h>

#include "core/maker.h"
#include "ops/reduce/leaves.h"
#include "ops/reduce/walk.h"
#include "ops/transpose/transpose.h"
#include "simd/simd.h"

enum { LINE = 64, ROOM = 1 << 19, ROOM_ZEN3 = 1 << 20, MOST = 1 << 22, ALONE = 1 << 26 }; /* bytes */

/* Of arrays that L2 and what is read ahead into it do not serve, the processor sees no pieces of fewer than MANY_LINES coming: ASKED_LINES of the rows to come are asked for
 * while GROUP rows are turned, and a window is half as large where it keeps FEW_LINES of each row (f32 of 20000 x 500 14 -> 26 GB/s, of 3000 x 2000 18 -> 26). A second line
 * of each row costs memory little when it is read with the first: no window has fewer than LEAST_LINES, though L2 does not hold it (f64 of 3000 x 8000 13 -> 20). A Zen 3
 * takes longer for each piece: where half its L2 does not hold a few lines, wider windows pay which it does not hold either (f32 of 2000 x 3000 3.3 -> 4). */
enum { FAR = 8 << 20, GROUP = 16, LEAST_LINES = 2, FEW_LINES = 4, FEW_ZEN3 = 8, MANY_LINES = 16, ASKED_LINES = 128 };
static bool is_far(const reduce_problem *p) { return p->base.bytes > FAR; }

/* The axis along which elements are neighbours in memory, unless it is the one that is quickest in the elements' order: then -1. */
static int neighbours_of(const reduce_problem *p) {
    for (int d = p->rank - 2; d >= 0; d--)
        if (p->stride[0][d] == p->in.itemsize)
            return d;
    return -1;
}

/* Elements of a column: all behind that axis. */
static int64_t rows_of(const reduce_problem *p, int axis) {
    int64_t rows = 1;
    for (int d = axis + 1; d < p->rank; d++)
        rows *= p->size[d];
    return rows;
}

static int64_t columns_of(const reduce_problem *p, int threads) {
    const int axis = neighbours_of(p);
    const int64_t size = p->in.itemsize, line = LINE / size;
    if (axis < 0 || p->offsets || p->size[axis] < line)
        return 0;
    for (int d = axis + 1; d < p->rank; d++)
        if (llabs(p->stride[0][d]) < p->size[axis] * size)
            return 0; /* the elements overlap, or do not step at all */
    const int64_t column = rows_of(p, axis) * size;
    if (column * line > tess_max64(MOST, ALONE / threads))
        return 0;
    const bool wide = tess_cpu_reads_in_turns() && (!is_far(p) || FEW_LINES * column * line > ROOM / 2);
    const int64_t few = wide ? FEW_ZEN3 : FEW_LINES;
    int64_t lines = tess_max64(is_far(p) ? LEAST_LINES : 1, (wide ? ROOM_ZEN3 : ROOM) / (column * line));
    if (is_far(p) && lines > few)
        lines = tess_max64(few, lines / 2);
    return tess_min64(p->size[axis], lines * line);
}

/* Elements of the last axis, where they are so few that turned by themselves they would be put down one by one: colours of pixels. 0: they are not. They are turned as planes,
 * of the axis before them if that is not the columns' own, where that is done in L2. */
static int64_t few_of(const reduce_problem *p, int axis) {
    enum { PLANES = 1 << 18 }; /* bytes */
    const int last = p->rank - 1;
    const int64_t few = p->size[last], plane = last > axis + 1 ? p->size[last - 1] : 1;
    return few >= 2 && few <= TRANSPOSE_GROUP && few * plane * p->in.itemsize <= PLANES && rows_of(p, axis) * LINE <= ROOM_ZEN3 ? few : 0;
}

int64_t tess_reduce_window_size(const reduce_problem *p, int threads) {
    const int64_t columns = columns_of(p, threads);
    const int axis = columns == 0 ? 0 : neighbours_of(p);
    const int64_t room = columns > 0 && p->rank > axis + 2 ? few_of(p, axis) * p->size[p->rank - 2] : 0;
    return columns == 0 ? 0 : ((columns * rows_of(p, axis) + room) * p->in.itemsize + LINE - 1) / LINE * LINE;
}

/* n rows of the window's columns become n elements of each. */
static void turn(const leaves_job *job, char *to, int64_t to_step, const char *from, int64_t step, int64_t n, int64_t columns) {
    const int64_t size = job->p->in.itemsize, width = columns * size, lines = tess_ceil_div(width, LINE);
    const bool asks = is_far(job->p) && lines <= MANY_LINES;
    const int64_t group = asks ? GROUP : n, ahead = tess_max64(GROUP, ASKED_LINES / lines) * step;
    for (int64_t at = 0, m; at < n; at += m) {
        m = n - at < 2 * group ? n - at : group;
        for (int64_t i = 0; asks && i < m; i++)
            for (int64_t b = 0; b < width + LINE - 1; b += LINE)
                tess_prefetch_l1(from + (at + i) * step + ahead + (b < width ? b : width - 1));
        job->kernels->brief->turn[size](to + at * size, to_step, from + at * step, step, m, columns);
    }
}

/* `few` planes of n elements become n groups, in place. */
static void join(const leaves_job *job, char *planes, char *room, int64_t few, int64_t n) {
    const int64_t size = job->p->in.itemsize;
    memcpy(room, planes, (size_t)(few * n * size));
    if (job->kernels->brief->join(planes, few * size, room, n * size, n, few, size))
        return;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < few; k++)
            tess_copy_run(planes + (i * few + k) * size, room + (k * n + i) * size, size);
}

/* Columns `column` and on, `columns` of them, of those at `base`. */
static void fill(const leaf_window *window, const leaves_job *job, const char *base, int64_t column, int64_t columns) {
    const reduce_problem *p = job->p;
    const int axis = neighbours_of(p), last = p->rank - 1;
    const int64_t size = p->in.itemsize, rows = rows_of(p, axis), few = few_of(p, axis), step = p->stride[0][last];
    const char *from = base + column * size;
    if (few > 0 && last == axis + 1 && job->kernels->brief->join(window->elements, few * size, from, step, columns, few, size))
        return;
    const bool planes = few > 0 && last > axis + 1;
    const int outer = last - axis - 1 - planes;
    const int64_t inner = p->size[last - planes], block = planes ? few * inner : inner;
    tess_index runs;
    runs.offset[0] = 0;
    runs.ndim = 0;
    if (outer > 0)
        tess_index_start(&runs, outer, p->size + axis + 1, 1, (int64_t(*)[TESS_MAX_NDIM])(p->stride[0] + axis + 1), 0);
    for (int64_t row = 0; row < rows; row += block) {
        for (int64_t k = 0; k < block; k += inner)
            turn(job, window->elements + (row + k) * size, rows * size, from + runs.offset[0] + k / inner * step, p->stride[0][last - planes], inner,
                 columns);
        if (runs.ndim > 0)
            tess_index_next(&runs);
    }
    for (int64_t at = 0; planes && at < columns * rows; at += block)
        join(job, window->elements + at * size, window->elements + job->window_size - few * inner * size, few, inner);
}

const char *tess_reduce_window(leaf_window *window, const leaves_job *job, const char *base, int64_t first, int64_t *n) {
    const reduce_problem *p = job->p;
    const int axis = neighbours_of(p);
    const int64_t rows = rows_of(p, axis), all = p->size[axis], most = columns_of(p, job->run->threads), set = first / rows / all;
    if (base != window->base || first < window->first || first >= window->first + window->count) {
        const int64_t column = first / rows % all / most * most;
        tess_index outer;
        outer.offset[0] = 0;
        if (axis > 0)
            tess_index_start(&outer, axis, p->size, 1, (int64_t(*)[TESS_MAX_NDIM])p->stride, set);
        window->base = base;
        window->first = (set * all + column) * rows;
        window->count = tess_min64(most, all - column) * rows;
        fill(window, job, base + outer.offset[0], column, window->count / rows);
    }
    *n = tess_min64(*n, window->first + window->count - first);
    return window->elements + (first - window->first) * p->in.itemsize;
}
