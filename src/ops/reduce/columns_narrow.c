/* SPDX-License-Identifier: Apache-2.0
 * columns_narrow.c - a few columns whose rows follow each other without a gap.
 *
 * A row of 3 elements fills no vector, but 256 of them are one run of memory, and element i of it always belongs to the same lane and column: so a leaf is 32
 * rows of 256 times as many columns, its lanes lie side by side and halve as runs. What has no order is folded as so many columns too, and the lanes
 * are joined in the end. */
#include <string.h>

#include "ops/reduce/columns.h"

/* The wide columns: 256 of them for each real one. */
typedef struct wide {
    char *acc, *loaded, *mapped;
    int64_t *best, *index, *nans;
    double *mean;
} wide;

static int64_t wide_columns(const reduce_problem *p) { return REDUCE_LANES * p->kept_size[p->kept - 1]; }

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
    const int64_t whole = n / REDUCE_LANES, bytes = wide_columns(p) * p->in.itemsize;
    *rest = n % REDUCE_LANES * w->n;
    for (int64_t r = 0; r < whole; r++)
        w->offset[r] = r * bytes;
    return whole;
}

/* n elements in the load type. */
static const char *load(const reduce_columns_worker *w, const wide *v, const char *at, int64_t n) {
    const reduce_problem *p = w->job->p;
    if (p->in.type == p->load)
        return at;
    w->job->loader(v->loaded, at, p->in.itemsize, n);
    return v->loaded;
}

/* Sums or products of n rows into v->acc: lane j of column c at j * width + c. */
static void fold_rows(const reduce_columns_worker *w, const wide *v, const char *at, int64_t n) {
    static const int64_t here = 0;
    const reduce_columns *job = w->job;
    const reduce_problem *p = job->p;
    const int64_t columns = wide_columns(p), bytes = columns * p->in.itemsize;
    int64_t rest, whole = wide_rows(w, n, &rest);
    if (job->in_place) {
        void (*fold)(void *, const char *, const int64_t *, int64_t, int64_t, int64_t, bool) = job->direct ? job->direct : job->fold;
        if (whole > 0)
            fold(v->acc, at, w->offset, 1, whole, columns, true);
        if (rest > 0)
            fold(v->acc, at + whole * bytes, &here, 0, 1, rest, whole == 0);
        return;
    }
    memset(v->nans, 0, (size_t)columns * sizeof *v->nans);
    for (int64_t r = 0; r < whole + (rest > 0); r++) {
        const int64_t m = r < whole ? columns : rest;
        const char *row = load(w, v, at + r * bytes, m);
        if (p->omit && (p->operation == TESS_MEAN || p->kind == REDUCE_VAR))
            job->kernels->column->nans[p->load](v->nans, row, m);
        if (job->map && (p->map != REDUCE_PLAIN || p->omit)) {
            job->map(v->mapped, row, m, p->omit, p->kind == REDUCE_PROD ? 1 : 0);
            row = v->mapped;
        }
        job->fold(v->acc, row, &here, 0, 1, m, r == 0);
    }
    for (int64_t i = 0; p->omit && i < columns; i++)
        w->nans[i % w->n] += v->nans[i];
}

/* The halving tree over the lanes that n rows filled; the result is the first row. */
static void halve(const reduce_columns_worker *w, const wide *v, int64_t n) {
    static const int64_t here = 0;
    const size_t size = tess_type_size(w->job->p->acc);
    int64_t used = tess_min64(n, REDUCE_LANES);
    for (int64_t half = REDUCE_LANES / 2; half > 0; half /= 2)
        if (used > half) {
            w->job->fold(v->acc, v->acc + (size_t)(half * w->n) * size, &here, 0, 1, (used - half) * w->n, false);
            used = half;
        }
}

static void squares(const reduce_columns_worker *w, const wide *v, const char *at, int64_t n) {
    const reduce_columns *job = w->job;
    const int64_t columns = wide_columns(job->p), bytes = columns * job->p->in.itemsize;
    int64_t rest, whole = wide_rows(w, n, &rest), done = 0;
    double *acc = (double *)(void *)v->acc;
    for (int64_t i = 0; i < columns; i++)
        v->mean[i] = w->mean[i % w->n];
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
    const char *at = w->base + first * p->stride[0][0];
    if (p->kind == REDUCE_VAR)
        memset(w->nans, 0, (size_t)w->n * sizeof *w->nans);
    fold_rows(w, &v, at, n);
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
    squares(w, &v, at, n);
    halve(w, &v, n);
    memcpy(w->m2s + row, v.acc, (size_t)w->n * sizeof(double));
}

/* ---- where the order of the elements is free ---- */

static void join_lanes(const reduce_columns_worker *w, const wide *v) {
    const reduce_problem *p = w->job->p;
    for (int64_t i = 0; i < wide_columns(p); i++) {
        const int64_t c = i % w->n;
        if (p->kind == REDUCE_COUNT) {
            w->best[c] += v->best[i];
            w->nans[c] += v->nans[i];
        } else if (p->kind == REDUCE_EXTREME) {
            w->best[c] = tess_max64(w->best[c], v->best[i]);
        } else if (v->index[i] >= 0) {
            const int64_t place = v->index[i] * REDUCE_LANES + i / w->n;
            if (w->index[c] < 0 || v->best[i] > w->best[c] || (v->best[i] == w->best[c] && place < w->index[c])) {
                w->best[c] = v->best[i];
                w->index[c] = place;
            }
        }
    }
}

void tess_reduce_narrow_all(reduce_columns_worker *w, int64_t begin, int64_t end) {
    static const int64_t here = 0;
    const reduce_columns *job = w->job;
    const reduce_problem *p = job->p;
    const reduce_order_kernels *order = job->kernels->order;
    const int64_t columns = wide_columns(p);
    const wide v = wide_start(w);
    void (*integers)(uint64_t *, const char *, const int64_t *, int64_t, int64_t, bool) =
        p->kind == REDUCE_SUM && p->map == REDUCE_PLAIN ? job->kernels->column->integers[p->in.type] : NULL;
    memset(w->stack, 0, (size_t)w->n * tess_type_size(p->acc));
    memset(v.acc, 0, (size_t)columns * sizeof(uint64_t));
    memset(v.nans, 0, (size_t)columns * sizeof *v.nans);
    for (int64_t i = 0; i < columns; i++) {
        v.best[i] = p->kind == REDUCE_COUNT ? 0 : INT64_MIN;
        v.index[i] = -1;
    }
    if (p->kind == REDUCE_EXTREME) /* keys of their own width, in the place of v.acc */
        order->lowest[p->in.type](v.acc, columns);
    const int64_t most = (tess_min64(p->longest, REDUCE_LEAF) + 7) / 8 * 8 * REDUCE_LANES; /* what the offsets have room for */
    for (int64_t at = begin, n; at < end; at += n) {
        n = tess_min64(end - at, most);
        const char *base = w->base + at * p->stride[0][0];
        int64_t rest, whole = wide_rows(w, n, &rest);
        for (int part = 0; part < 2; part++) { /* the whole rows, then the last */
            const char *from = part == 0 ? base : base + whole * columns * p->in.itemsize;
            const int64_t *offsets = part == 0 ? w->offset : &here, rows = part == 0 ? whole : rest > 0, m = part == 0 ? columns : rest;
            const int64_t number = (at - begin) / REDUCE_LANES + (part == 0 ? 0 : whole);
            if (rows == 0)
                continue;
            if (p->kind == REDUCE_EXTREME)
                order->greatest_rows[p->in.type](v.acc, from, offsets, rows, m, p->order);
            else if (p->kind == REDUCE_ARG)
                order->first_rows[p->in.type](v.best, v.index, from, offsets, rows, m, p->order, number);
            else if (p->kind == REDUCE_COUNT)
                order->count_rows[p->in.type](v.best, v.nans, from, offsets, rows, m, p->omit);
            else if (integers)
                integers((uint64_t *)(void *)v.acc, from, offsets, rows, m, rows > 0 && offsets[rows - 1] - offsets[0] > 1 << 16);
        }
        if (!integers && (p->kind == REDUCE_SUM || p->kind == REDUCE_PROD)) {
            fold_rows(w, &v, base, n);
            halve(w, &v, n);
            job->fold(w->stack, v.acc, &here, 0, 1, w->n, at == begin);
        }
    }
    if (integers)
        for (int64_t i = 0; i < columns; i++)
            ((uint64_t *)(void *)w->stack)[i % w->n] += ((const uint64_t *)(const void *)v.acc)[i];
    if (p->kind == REDUCE_EXTREME)
        order->widen[p->in.type](v.best, v.acc, columns);
    if (p->kind != REDUCE_SUM && p->kind != REDUCE_PROD)
        join_lanes(w, &v);
    for (int64_t c = 0; p->kind == REDUCE_ARG && c < w->n; c++)
        w->index[c] += begin;
}
