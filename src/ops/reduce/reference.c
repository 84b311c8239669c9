/* SPDX-License-Identifier: Apache-2.0
 * reference.c - the definition of docs/numerics.md as plainly as it can be written: one element at a time, the tree by recursion. Slow, alone, and
 * right. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/superaccumulator.h"

typedef struct reader {
    const reduce_problem *p;
    const char *base;
    tess_row_loader load, load_f64;
} reader;

/* Where element number i lies. */
static const char *place(const reader *r, int64_t i) {
    const char *at = r->base;
    for (int d = r->p->rank - 1; d > 0; d--) {
        at += i % r->p->size[d] * r->p->stride[0][d];
        i /= r->p->size[d];
    }
    return at + i * r->p->stride[0][0];
}

/* Element number i, loaded and mapped to acc; false when it is a NaN to be left out. */
static bool element(const reader *r, int64_t i, tess_value *x) {
    const reduce_problem *p = r->p;
    tess_value v;
    double re = 0, im = 0;
    r->load(&v, place(r, i), 0, 1);
    if (p->load == tess_f32)
        re = v.f32;
    if (p->load == tess_f64)
        re = v.f64;
    if (p->load == tess_c64) {
        re = v.c64[0];
        im = v.c64[1];
    }
    if (p->load == tess_c128) {
        re = v.c128[0];
        im = v.c128[1];
    }
    bool counts = !(p->omit && (isnan(re) || isnan(im)));
    bool complex = tess_is_complex(p->load);
    *x = v;
    if (p->map == REDUCE_ABS && p->load == tess_i64)
        x->u64 = v.i64 < 0 ? 0 - v.u64 : v.u64;
    else if (p->map == REDUCE_ABS && p->load == tess_f32)
        x->f32 = fabsf(v.f32);
    else if (p->map == REDUCE_ABS)
        x->f64 = complex ? sqrt(re * re + im * im) : fabs(re);
    else if (p->map == REDUCE_SQUARE)
        x->f64 = complex ? re * re + im * im : re * re;
    return counts;
}

/* ---- the tree over one leaf: `fold` is + or *, `one` its identity ---- */
typedef tess_value (*fold_function)(tess_type, tess_value, tess_value);

static tess_value halve(tess_value *lane, tess_type acc, fold_function fold) {
    for (int w = REDUCE_LANES / 2; w > 0; w /= 2)
        for (int j = 0; j < w; j++)
            lane[j] = fold(acc, lane[j], lane[j + w]);
    return lane[0];
}

static void leaf_tree(const reader *r, int64_t first, int64_t n, reduce_node *node) {
    const reduce_problem *p = r->p;
    fold_function fold = p->kind == REDUCE_PROD ? tess_reduce_value_multiply : tess_reduce_value_add;
    tess_value lane[REDUCE_LANES], x;
    for (int j = 0; j < REDUCE_LANES; j++)
        lane[j] = node->value; /* the identity */
    for (int64_t i = 0; i < n; i++)
        if (element(r, first + i, &x)) {
            lane[i % REDUCE_LANES] = fold(p->acc, lane[i % REDUCE_LANES], x);
            node->count++;
        }
    node->value = halve(lane, p->acc, fold);
}

static void leaf_moments(const reader *r, int64_t first, int64_t n, reduce_node *node) {
    tess_value lane[REDUCE_LANES] = {{0}}, x;
    for (int64_t i = 0; i < n; i++)
        if (element(r, first + i, &x)) {
            lane[i % REDUCE_LANES].f64 += x.f64;
            node->count++;
        }
    if (node->count == 0)
        return;
    node->mean = halve(lane, tess_f64, tess_reduce_value_add).f64 / (double)node->count;
    memset(lane, 0, sizeof lane);
    for (int64_t i = 0; i < n; i++)
        if (element(r, first + i, &x)) {
            double d = x.f64 - node->mean, square = d * d;
            lane[i % REDUCE_LANES].f64 += square;
        }
    node->m2 = halve(lane, tess_f64, tess_reduce_value_add).f64;
}

static void leaf_count(const reader *r, int64_t first, int64_t n, reduce_node *node) {
    for (int64_t i = 0; i < n; i++) {
        tess_value x;
        bool counts = element(r, first + i, &x), zero;
        switch (r->p->load) {
        case tess_f32: zero = x.f32 == 0; break;
        case tess_f64: zero = x.f64 == 0; break;
        case tess_c64: zero = x.c64[0] == 0 && x.c64[1] == 0; break;
        case tess_c128: zero = x.c128[0] == 0 && x.c128[1] == 0; break;
        default: zero = x.u64 == 0; break;
        }
        node->value.u64 += zero;
        node->count += counts;
    }
}

static void node_at(const reader *r, int64_t first_leaf, int64_t leaves, reduce_node *node, int64_t k) {
    tess_reduce_node_empty(r->p, node);
    if (leaves > 1) { /* split at the largest power of two below */
        int64_t half = 1;
        while (2 * half < leaves)
            half *= 2;
        reduce_node right;
        node_at(r, first_leaf, half, node, k);
        node_at(r, first_leaf + half, leaves - half, &right, k);
        tess_reduce_node_merge(r->p, node, &right);
        return;
    }
    int64_t first = first_leaf * REDUCE_LEAF, n = tess_min64(REDUCE_LEAF, k - first);
    if (r->p->kind == REDUCE_VAR)
        leaf_moments(r, first, n, node);
    else if (r->p->kind == REDUCE_COUNT)
        leaf_count(r, first, n, node);
    else
        leaf_tree(r, first, n, node);
}

/* ---- min, max, norm_inf and the places: the best so far ---- */

/* -1, 0, 1: how a compares with b, as numbers, and -0 below +0 when `numeric` is false. Neither is a NaN. */
static int compare(const reduce_problem *p, tess_value a, tess_value b) {
    if (p->load == tess_u64)
        return (a.u64 > b.u64) - (a.u64 < b.u64);
    if (p->load == tess_i64 && !p->order.magnitude)
        return (a.i64 > b.i64) - (a.i64 < b.i64);
    double x = p->acc == tess_f32 ? a.f32 : a.f64, y = p->acc == tess_f32 ? b.f32 : b.f64;
    if (x == y && x == 0 && !p->order.numeric)
        return !!signbit(y) - !!signbit(x);
    return (x > y) - (x < y);
}

static bool is_nan(const reduce_problem *p, tess_value v) { return !reduce_is_integer(p->acc) && (p->acc == tess_f32 ? isnan(v.f32) : isnan(v.f64)); }

static tess_value extreme(const reader *r, int64_t k) {
    const reduce_problem *p = r->p;
    tess_value best = {0}, x;
    int64_t index = -1;
    for (int64_t i = 0; i < k; i++) {
        if (!element(r, i, &x))
            continue;
        if (p->order.magnitude && p->load == tess_i64) /* compared as u64 below */
            x.u64 = x.i64 < 0 ? 0 - x.u64 : x.u64;
        if (p->order.magnitude && p->load == tess_f32 && p->acc == tess_f32)
            x.f32 = fabsf(x.f32);
        if (p->order.magnitude && p->load == tess_f64)
            x.f64 = fabs(x.f64);
        bool better = index < 0;
        if (!better && is_nan(p, best))
            break; /* the first NaN stays */
        if (!better && is_nan(p, x))
            better = true;
        else if (!better && p->order.magnitude && p->load == tess_i64)
            better = x.u64 > best.u64;
        else if (!better)
            better = p->order.smallest ? compare(p, x, best) < 0 : compare(p, x, best) > 0;
        if (better) {
            best = x;
            index = i;
        }
    }
    if (p->kind == REDUCE_ARG)
        best.i64 = index;
    else if (index < 0 && p->operation != TESS_NORM_INF) {
        best.f64 = NAN; /* all were NaN */
        if (p->result == tess_f32)
            best.f32 = NAN;
    } else if (p->result == tess_f64 && p->acc == tess_f32)
        best.f64 = best.f32;
    else if (p->result == tess_f32 && p->acc == tess_f64)
        best.f32 = (float)best.f64;
    return best;
}

/* ---- one output after another ---- */

typedef struct reference_job {
    const reduce_problem *p;
    const tess_run *run;
} reference_job;

static void outputs(void *argument, int64_t begin, int64_t end, int worker) {
    const reference_job *job = argument;
    const reduce_problem *p = job->p;
    (void)worker;
    for (int64_t task = begin; task < end; task++) {
        int64_t first, k = reduce_task_size(p, task, &first), output = task / p->segments;
        reader r = {.p = p, .base = job->run->in + first * p->stride[0][0], .load = tess_loader(TESS_SLOT_BASELINE, p->in.type, p->load)};
        char *out = job->run->out + task % p->segments * p->segment_stride;
        for (int d = p->kept - 1; d >= 0; d--) {
            r.base += output % p->kept_size[d] * p->kept_stride[0][d];
            out += output % p->kept_size[d] * p->kept_stride[1][d];
            output /= p->kept_size[d];
        }
        tess_value value;
        if (p->exact) {
            exact_sum sum;
            tess_value x;
            tess_reduce_exact_start(&sum);
            for (int64_t i = 0; i < k; i++) {
                bool counts = element(&r, i, &x);
                tess_reduce_exact_add_value(&sum, p, x, counts);
            }
            value = tess_reduce_exact_finish(&sum, p);
        } else if (p->kind == REDUCE_EXTREME || p->kind == REDUCE_ARG) {
            value = extreme(&r, k);
        } else {
            reduce_node node;
            tess_reduce_node_empty(p, &node);
            if (k > 0)
                node_at(&r, 0, tess_ceil_div(k, REDUCE_LEAF), &node, k);
            value = tess_reduce_node_finish(p, &node);
        }
        tess_storer(TESS_SLOT_BASELINE, p->result, p->out.type)(out, p->out.itemsize, &value, 1);
    }
}

tess_status tess_reduce_reference(const tess_problem *problem, const tess_run *run) {
    reference_job job = {(const reduce_problem *)problem, run};
    return tess_parallel(run->context, 1, job.p->outputs * job.p->segments, 1, outputs, &job);
}
