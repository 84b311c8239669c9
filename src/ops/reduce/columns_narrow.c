/* SPDX-License-Identifier: Apache-2.0
 * columns_narrow.c - a few columns whose rows follow each other without a gap.
 *
 * A row of 3 elements fills no vector, but 256 of them are one run of memory, and element i of it always belongs to the same lane and column: so a leaf is 32
 * rows of 256 times as many columns, its lanes lie side by side and halve as runs. What has no order is folded as so many columns too, of as many lanes as fill
 * some lines, and the lanes are joined in the end. Rows of several axes follow each other in runs, each of which is a part of such a row. */
#include <string.h>

#include "ops/reduce/columns.h"

/* The wide columns: as many for each real one as there are lanes. */
typedef struct wide {
    char *acc, *loaded, *mapped;
    int64_t *best, *index, *nans;
    double *mean;
} wide;

static int64_t lanes_of(const reduce_problem *p) {
    enum { ENOUGH = 512 }; /* bytes of a wide row */
    int64_t lanes = REDUCE_LANES;
    while (!columns_is_tree(p) && lanes > 1 && lanes / 2 * p->kept_size[p->kept - 1] * p->in.itemsize >= ENOUGH)
        lanes /= 2;
    return lanes;
}

static int64_t wide_columns(const reduce_problem *p) { return lanes_of(p) * p->kept_size[p->kept - 1]; }

size_t tess_reduce_narrow_size(const reduce_problem *p) { return (size_t)wide_columns(p) * (3 * sizeof(tess_value) + 4 * sizeof(int64_t)); }

static wide wide_start(const reduce_columns_worker *w) {
    const size_t n = (size_t)wide_columns(w->job->p);
    wide v = {.acc = w->wide};
    v.loaded = v.acc + n * sizeof(tess_value);
    v.mapped = v.loaded + n * sizeof(tess_value);
    v.best = (int64_t *)(void *)(v.mapped + n * sizeof(tess_value));
    v.index = v.best + n;
    v.nans = v.index + n;
    v.mean = (double *)(void *)(v.nans + n);
    return v;
}

/* Where the wide rows of n rows are, from `at` on. Returns how many are whole; *rest is the elements of the last one. */
static int64_t wide_rows(const reduce_columns_worker *w, int64_t n, int64_t *rest) {
    const reduce_problem *p = w->job->p;
    const int64_t lanes = lanes_of(p), whole = n / lanes, bytes = wide_columns(p) * p->in.itemsize;
    *rest = n % lanes * w->n;
    for (int64_t r = 0; r < whole; r++)
        w->offset[r] = r * bytes;
    return whole;
}

/* Rows of several axes, piece by piece: those that follow each other, up to a wide row's end. */
typedef struct pieces {
    reduce_walk walk;
    const char *at;
    int64_t row, left, number, lanes; /* bytes of a row; rows that are left of the run; the number of its next one */
} pieces;

static pieces pieces_start(const reduce_columns_worker *w, int64_t first, int64_t n) {
    const reduce_problem *p = w->job->p;
    pieces k = {.row = w->n * p->in.itemsize, .lanes = lanes_of(p)};
    reduce_walk_start(&k.walk, p, w->base, first, n);
    return k;
}

/* The next piece's first element, its lane and its rows; whole rows were there before it where k->number is no less than k->lanes. False after the last. */
static bool pieces_next(pieces *k, const char **at, int64_t *lane, int64_t *number, int64_t *rows) {
    if (k->left == 0 && !reduce_walk_next(&k->walk, &k->at, &k->left))
        return false;
    *at = k->at;
    *lane = k->number % k->lanes;
    *number = k->number / k->lanes;
    *rows = tess_min64(k->left, k->lanes - *lane);
    k->at += *rows * k->row;
    k->left -= *rows;
    k->number += *rows;
    return true;
}

/* n elements in the load type. */
static const char *load(const reduce_columns_worker *w, const wide *v, const char *at, int64_t n) {
    const reduce_problem *p = w->job->p;
    if (p->in.type == p->load)
        return at;
    w->job->loader(v->loaded, at, p->in.itemsize, n);
    return v->loaded;
}

/* n elements that follow each other, from number `from` of the wide columns on, into v->acc by the problem's sum or product. */
static void fold_elements(const reduce_columns_worker *w, const wide *v, const char *at, int64_t from, int64_t n, bool first) {
    static const int64_t here = 0;
    const reduce_columns *job = w->job;
    const reduce_problem *p = job->p;
    char *acc = v->acc + (size_t)from * tess_type_size(p->acc);
    if (job->in_place) {
        (job->direct ? job->direct : job->fold)(acc, at, &here, 0, 1, n, first);
        return;
    }
    const char *row = load(w, v, at, n);
    if (p->omit && (p->operation == TESS_MEAN || p->kind == REDUCE_VAR))
        job->kernels->column->nans[p->load](v->nans + from, row, n);
    if (job->map && (p->map != REDUCE_PLAIN || p->omit)) {
        job->map(v->mapped, row, n, p->omit, p->kind == REDUCE_PROD ? 1 : 0);
        row = v->mapped;
    }
    job->fold(acc, row, &here, 0, 1, n, first);
}

/* Sums or products of rows first .. first + n - 1 into v->acc: lane j of column c at j * width + c. */
static void fold_rows(const reduce_columns_worker *w, const wide *v, int64_t first, int64_t n) {
    static const int64_t here = 0;
    const reduce_columns *job = w->job;
    const reduce_problem *p = job->p;
    const int64_t columns = wide_columns(p), bytes = columns * p->in.itemsize;
    const char *at = w->base + first * p->stride[0][0];
    if (!job->in_place)
        memset(v->nans, 0, (size_t)columns * sizeof *v->nans);
    if (p->rank > 1) {
        pieces k = pieces_start(w, first, n);
        for (int64_t lane, number, rows; pieces_next(&k, &at, &lane, &number, &rows);)
            fold_elements(w, v, at, lane * w->n, rows * w->n, number == 0);
        for (int64_t i = 0; p->omit && i < columns; i++)
            w->nans[i % w->n] += v->nans[i];
        return;
    }
    int64_t rest, whole = wide_rows(w, n, &rest);
    if (job->in_place) {
        void (*fold)(void *, const char *, const int64_t *, int64_t, int64_t, int64_t, bool) = job->direct ? job->direct : job->fold;
        if (whole > 0)
            fold(v->acc, at, w->offset, 1, whole, columns, true);
        if (rest > 0)
            fold(v->acc, at + whole * bytes, &here, 0, 1, rest, whole == 0);
        return;
    }
    for (int64_t r = 0; r < whole + (rest > 0); r++)
        fold_elements(w, v, at + r * bytes, 0, r < whole ? columns : rest, r == 0);
    for (int64_t i = 0; p->omit && i < columns; i++)
        w->nans[i % w->n] += v->nans[i];
}

/* The halving tree over the lanes that n rows filled; the result is the first row. */
static void halve(const reduce_columns_worker *w, const wide *v, int64_t n) {
    static const int64_t here = 0;
    const size_t size = tess_type_size(w->job->p->acc);
    int64_t used = tess_min64(n, lanes_of(w->job->p));
    for (int64_t half = lanes_of(w->job->p) / 2; half > 0; half /= 2)
        if (used > half) {
            w->job->fold(v->acc, v->acc + (size_t)(half * w->n) * size, &here, 0, 1, (used - half) * w->n, false);
            used = half;
        }
}

static void squares(const reduce_columns_worker *w, const wide *v, int64_t first, int64_t n) {
    const reduce_columns *job = w->job;
    const int64_t columns = wide_columns(job->p), bytes = columns * job->p->in.itemsize;
    const char *at = w->base + first * job->p->stride[0][0];
    double *acc = (double *)(void *)v->acc;
    for (int64_t i = 0; i < columns; i++)
        v->mean[i] = w->mean[i % w->n];
    if (job->p->rank > 1) {
        pieces k = pieces_start(w, first, n);
        for (int64_t lane, number, rows; pieces_next(&k, &at, &lane, &number, &rows);)
            job->kernels->column->deviations(acc + lane * w->n, load(w, v, at, rows * w->n), v->mean, rows * w->n, number == 0, job->p->omit);
        return;
    }
    int64_t rest, whole = wide_rows(w, n, &rest), done = 0;
    if (job->deviations && whole > 0) {
        job->deviations(acc, at, w->offset, 1, whole, columns, v->mean);
        done = whole;
    }
    for (int64_t r = done; r < whole + (rest > 0); r++) {
        const int64_t m = r < whole ? columns : rest;
        job->kernels->column->deviations(acc, load(w, v, at + r * bytes, m), v->mean, m, r == 0, job->p->omit);
    }
}

void tess_reduce_narrow_leaf(reduce_columns_worker *w, int64_t first, int64_t n, int64_t level) {
    const reduce_problem *p = w->job->p;
    const wide v = wide_start(w);
    if (p->kind == REDUCE_VAR)
        memset(w->nans, 0, (size_t)w->n * sizeof *w->nans);
    fold_rows(w, &v, first, n);
    halve(w, &v, n);
    if (p->kind != REDUCE_VAR) {
        memcpy(columns_stack_row(w, level), v.acc, (size_t)w->n * tess_type_size(p->acc));
        return;
    }
    const size_t row = (size_t)level * (size_t)w->job->block;
    for (int64_t c = 0; c < w->n; c++) {
        const int64_t count = n - w->nans[c];
        w->counts[row + (size_t)c] = count;
        w->means[row + (size_t)c] = w->mean[c] = count > 0 ? ((const double *)(const void *)v.acc)[c] / (double)count : 0;
    }
    squares(w, &v, first, n);
    halve(w, &v, n);
    memcpy(w->m2s + row, v.acc, (size_t)w->n * sizeof(double));
}

/* ---- where the order of the elements is free ---- */

/* The lanes' places of a column: of equal keys the first. */
static void join_places(const reduce_columns_worker *w, const wide *v) {
    const int64_t lanes = lanes_of(w->job->p);
    for (int64_t lane = 0, i = 0; lane < lanes; lane++)
        for (int64_t c = 0; c < w->n; c++, i++) {
            const int64_t place = v->index[i] * lanes + lane;
            if (v->index[i] >= 0 && (w->index[c] < 0 || v->best[i] > w->best[c] || (v->best[i] == w->best[c] && place < w->index[c]))) {
                w->best[c] = v->best[i];
                w->index[c] = place;
            }
        }
}

static void join_lanes(const reduce_columns_worker *w, const wide *v) {
    const reduce_problem *p = w->job->p;
    const int64_t lanes = lanes_of(p);
    if (p->kind == REDUCE_ARG) {
        join_places(w, v);
        return;
    }
    for (int64_t lane = 0, i = 0; lane < lanes; lane++)
        for (int64_t c = 0; c < w->n; c++, i++) {
            w->best[c] = p->kind == REDUCE_COUNT ? w->best[c] + v->best[i] : tess_max64(w->best[c], v->best[i]);
            w->nans[c] += p->kind == REDUCE_COUNT ? v->nans[i] : 0;
        }
}

/* `rows` wide rows of m elements, from number `from` of the wide columns on, of what is no sum that needs loading; the first has number `number` in its lanes. */
static void fold_free(const reduce_columns_worker *w, const wide *v, const char *at, const int64_t *offsets, int64_t rows, int64_t from, int64_t m,
                      int64_t number) {
    const reduce_problem *p = w->job->p;
    const reduce_order_kernels *order = w->job->kernels->order;
    switch (p->kind) {
    case REDUCE_EXTREME: order->greatest_rows[p->in.type](v->acc + from * p->in.itemsize, at, offsets, rows, m, p->order); break;
    case REDUCE_ARG: order->first_rows[p->in.type](v->best + from, v->index + from, at, offsets, rows, m, p->order, number); break;
    case REDUCE_COUNT: order->count_rows[p->in.type](v->best + from, v->nans + from, at, offsets, rows, m, p->omit); break;
    default:
        w->job->kernels->column->integers[p->in.type]((uint64_t *)(void *)v->acc + from, at, offsets, rows, m,
                                                      rows > 1 && offsets[rows - 1] - offsets[0] > 1 << 16);
        break;
    }
}

void tess_reduce_narrow_all(reduce_columns_worker *w, int64_t begin, int64_t end) {
    static const int64_t here = 0;
    const reduce_columns *job = w->job;
    const reduce_problem *p = job->p;
    const reduce_order_kernels *order = job->kernels->order;
    const int64_t columns = wide_columns(p), lanes = lanes_of(p);
    const wide v = wide_start(w);
    const bool adds = p->kind == REDUCE_SUM || p->kind == REDUCE_PROD;
    const bool integers = p->kind == REDUCE_SUM && p->map == REDUCE_PLAIN && job->kernels->column->integers[p->in.type];
    memset(w->stack, 0, (size_t)w->n * tess_type_size(p->acc));
    memset(v.acc, 0, (size_t)columns * sizeof(uint64_t));
    memset(v.nans, 0, (size_t)columns * sizeof *v.nans);
    for (int64_t i = 0; i < columns; i++) {
        v.best[i] = p->kind == REDUCE_COUNT ? 0 : INT64_MIN;
        v.index[i] = -1;
    }
    if (p->kind == REDUCE_EXTREME) /* keys of their own width, in the place of v.acc */
        order->lowest[p->in.type](v.acc, columns);
    const int64_t most = (tess_min64(p->longest, REDUCE_LEAF) + 7) / 8 * 8 * lanes; /* what the offsets have room for */
    for (int64_t at = begin, n; at < end; at += n) {
        n = tess_min64(end - at, most);
        if (adds && !integers) {
            fold_rows(w, &v, at, n);
            halve(w, &v, n);
            job->fold(w->stack, v.acc, &here, 0, 1, w->n, at == begin);
        } else if (p->rank > 1) {
            pieces k = pieces_start(w, at, n);
            const char *from;
            for (int64_t lane, number, rows; pieces_next(&k, &from, &lane, &number, &rows);)
                fold_free(w, &v, from, &here, 1, lane * w->n, rows * w->n, (at - begin) / lanes + number);
        } else {
            const char *base = w->base + at * p->stride[0][0];
            int64_t rest, whole = wide_rows(w, n, &rest), number = (at - begin) / lanes;
            if (whole > 0)
                fold_free(w, &v, base, w->offset, whole, 0, columns, number);
            if (rest > 0)
                fold_free(w, &v, base + whole * columns * p->in.itemsize, &here, 1, 0, rest, number + whole);
        }
    }
    for (int64_t lane = 0, i = 0; integers && lane < lanes; lane++)
        for (int64_t c = 0; c < w->n; c++, i++)
            ((uint64_t *)(void *)w->stack)[c] += ((const uint64_t *)(const void *)v.acc)[i];
    if (p->kind == REDUCE_EXTREME)
        order->widen[p->in.type](v.best, v.acc, columns);
    if (!adds)
        join_lanes(w, &v);
    for (int64_t c = 0; p->kind == REDUCE_ARG && c < w->n; c++)
        w->index[c] += begin;
}
