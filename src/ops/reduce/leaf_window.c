/* SPDX-License-Identifier: Apache-2.0
 * leaf_window.c - elements whose order runs across memory (the whole of a transposed array), some lines of many of its columns at a time turned into the order they are
 * folded in.
 *
 *     memory, R rows                 order of the elements
 *     | a0 b0 c0 d0 ..               | a0 a1 a2 .. aR b0 b1 ..
 *     | a1 b1 c1 d1 ..       ->
 *
 * One by one a line is fetched for each element, and again for its neighbour R elements later. A window is as many columns as L2 holds, a line or two of them at the least. */
#include <stdlib.h>

#include "core/maker.h"
#include "ops/reduce/leaves.h"
#include "ops/reduce/walk.h"
#include "simd/simd.h"

enum { LINE = 64, ROOM = 1 << 19, ROOM_ZEN3 = 1 << 20, MOST = 1 << 22 }; /* bytes */

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

static int64_t columns_of(const reduce_problem *p) {
    const int axis = neighbours_of(p);
    const int64_t size = p->in.itemsize, line = LINE / size;
    if (axis < 0 || p->offsets || p->size[axis] < line || p->size[p->rank - 1] < line)
        return 0;
    for (int d = axis + 1; d < p->rank; d++)
        if (llabs(p->stride[0][d]) < p->size[axis] * size)
            return 0; /* the elements overlap, or do not step at all */
    const int64_t column = rows_of(p, axis) * size;
    if (column > MOST / line)
        return 0;
    const bool wide = tess_cpu_reads_in_turns() && (!is_far(p) || FEW_LINES * column * line > ROOM / 2);
    const int64_t few = wide ? FEW_ZEN3 : FEW_LINES;
    int64_t lines = tess_max64(is_far(p) ? LEAST_LINES : 1, (wide ? ROOM_ZEN3 : ROOM) / (column * line));
    if (is_far(p) && lines > few)
        lines = tess_max64(few, lines / 2);
    return tess_min64(p->size[axis], lines * line);
}

int64_t tess_reduce_window_size(const reduce_problem *p) {
    const int64_t columns = columns_of(p);
    return columns == 0 ? 0 : (columns * rows_of(p, neighbours_of(p)) * p->in.itemsize + LINE - 1) / LINE * LINE;
}

/* Columns `column` and on, `columns` of them, of those at `base`. */
static void fill(const leaf_window *window, const leaves_job *job, const char *base, int64_t column, int64_t columns) {
    const reduce_problem *p = job->p;
    const int axis = neighbours_of(p), last = p->rank - 1;
    const int64_t size = p->in.itemsize, inner = p->size[last], rows = rows_of(p, axis);
    tess_index runs;
    runs.offset[0] = 0;
    runs.ndim = 0;
    if (last > axis + 1)
        tess_index_start(&runs, last - axis - 1, p->size + axis + 1, 1, (int64_t(*)[TESS_MAX_NDIM])(p->stride[0] + axis + 1), 0);
    const int64_t step = p->stride[0][last], width = columns * size, lines = tess_ceil_div(width, LINE);
    const bool asks = is_far(p) && lines <= MANY_LINES;
    const int64_t group = asks ? GROUP : inner, ahead = tess_max64(GROUP, ASKED_LINES / lines) * step;
    for (int64_t row = 0; row < rows; row += inner) {
        const char *from = base + column * size + runs.offset[0];
        for (int64_t at = 0, n; at < inner; at += n) {
            n = inner - at < 2 * group ? inner - at : group;
            for (int64_t i = 0; asks && i < n; i++)
                for (int64_t b = 0; b < width + LINE - 1; b += LINE)
                    tess_prefetch_l1(from + (at + i) * step + ahead + (b < width ? b : width - 1));
            job->kernels->brief->turn[size](window->elements + (row + at) * size, rows * size, from + at * step, step, n, columns);
        }
        if (runs.ndim > 0)
            tess_index_next(&runs);
    }
}

const char *tess_reduce_window(leaf_window *window, const leaves_job *job, const char *base, int64_t first, int64_t *n) {
    const reduce_problem *p = job->p;
    const int axis = neighbours_of(p);
    const int64_t rows = rows_of(p, axis), all = p->size[axis], most = columns_of(p), set = first / rows / all;
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
