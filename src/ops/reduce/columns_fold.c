/* SPDX-License-Identifier: Apache-2.0
 * columns_fold.c - folding the elements of a block of columns: the tree over whole rows, and what has no order.
 *
 * When the 256 lanes are visited in bit-reversed order, the halving tree joins neighbours, so a stack of at most 9 partial rows replaces 256 of them. */
#include <string.h>

#include "ops/reduce/columns.h"
#include "simd/simd.h"

/* Where elements first .. first+n-1 of column 0 are. */
static void find_leaf(reduce_columns_worker *w, int64_t first, int64_t n) {
    reduce_walk walk;
    const char *run;
    int64_t m, i = 0;
    for (int64_t turned = w->job->turned, *offset = w->offset; turned > 0 && !w->job->straighten && i < n; i++)
        offset[i] = (first + i) * turned;
    if (i == n)
        return;
    reduce_walk_start(&walk, w->job->p, w->base, first, n);
    while (reduce_walk_next(&walk, &run, &m))
        for (int64_t k = 0; k < m; k++)
            w->offset[i++] = run - w->base + k * walk.stride;
}

/* Row i of the leaf in the load type, before the map. */
static const void *load_row(const reduce_columns_worker *w, int64_t i) {
    const char *at = w->base + w->offset[i];
    const reduce_columns *job = w->job;
    if (job->p->in.type == job->p->load && job->stride == job->p->in.itemsize)
        return at;
    job->loader(w->loaded, at, job->stride, w->n);
    return w->loaded;
}

static const void *mapped_row(const reduce_columns_worker *w, int64_t i) {
    const reduce_problem *p = w->job->p;
    const void *row = load_row(w, i);
    if (p->omit && (p->operation == TESS_MEAN || p->kind == REDUCE_VAR)) /* the others do not ask how many */
        w->job->kernels->column->nans[p->load](w->nans, row, w->n);
    if (!w->job->map || (p->map == REDUCE_PLAIN && !p->omit))
        return row;
    w->job->map(w->mapped, row, w->n, p->omit, p->kind == REDUCE_PROD ? 1 : 0);
    return w->mapped;
}

/* ---- the tree over a leaf ---- */

/* Elements that need neither loading nor mapping first. A lane of few rows ends before the processor has seen how they run, so those of the lane that comes
 * next are asked for, piece by piece. */
static void fold_here(const reduce_columns_worker *w, int lane, int64_t n, void *acc) {
    enum { FEW = 8, PIECE = 512 };
    const reduce_columns *job = w->job;
    void (*fold)(void *, const char *, const int64_t *, int64_t, int64_t, int64_t, bool) = job->direct ? job->direct : job->fold;
    const int64_t rows = tess_ceil_div(n - lane, REDUCE_LANES), size = job->p->in.itemsize;
    const bool ahead = rows <= FEW && !job->p->order.cached && job->turned == 0;
    const int next = reduce_reversed_lane((reduce_reversed_lane(lane) + 1) % REDUCE_LANES);
    const int64_t next_rows = next > 0 && next < n ? tess_ceil_div(n - next, REDUCE_LANES) : 0, columns = ahead ? PIECE / size : w->n;
    for (int64_t c = 0; c < w->n; c += columns) {
        const int64_t m = tess_min64(columns, w->n - c);
        for (int64_t r = 0; ahead && r < next_rows; r++)
            for (int64_t line = 0; line < m * size; line += 64)
                tess_prefetch_l2(w->base + w->offset[next + r * REDUCE_LANES] + c * size + line);
        fold((char *)acc + (size_t)c * tess_type_size(job->p->acc), w->base + c * size, w->offset + lane, REDUCE_LANES, rows, m, true);
    }
}

static void fold_lane(const reduce_columns_worker *w, int lane, int64_t n, void *acc, bool squares) {
    static const int64_t here = 0;
    if (squares && w->job->deviations) {
        w->job->deviations(acc, w->base, w->offset + lane, REDUCE_LANES, tess_ceil_div(n - lane, REDUCE_LANES), w->n, w->mean);
    } else if (squares) {
        for (int64_t i = lane; i < n; i += REDUCE_LANES)
            w->job->kernels->column->deviations(acc, load_row(w, i), w->mean, w->n, i == lane, w->job->p->omit);
    } else if (w->job->in_place) {
        fold_here(w, lane, n, acc);
    } else {
        for (int64_t i = lane; i < n; i += REDUCE_LANES)
            w->job->fold(acc, mapped_row(w, i), &here, 0, 1, w->n, i == lane);
    }
}

/* The lanes that are `lane` modulo w, into row `level` of the stack. Lanes without elements do not take part: then there is nothing, and false. */
static bool fold_lanes(const reduce_columns_worker *w, int stride, int lane, int64_t n, int64_t level, bool squares) {
    static const int64_t here = 0;
    if (lane >= n)
        return false;
    if (stride == REDUCE_LANES || lane + stride >= n) { /* one lane, or the only one that has elements */
        fold_lane(w, lane, n, columns_stack_row(w, level), squares);
    } else {
        fold_lanes(w, 2 * stride, lane, n, level, squares);
        if (fold_lanes(w, 2 * stride, lane + stride, n, level + 1, squares))
            w->job->fold(columns_stack_row(w, level), columns_stack_row(w, level + 1), &here, 0, 1, w->n, false);
    }
    return true;
}

/* ---- eight rows at once ---- */

/* Lanes of a leaf of n: beyond them halving meets lanes without elements only. */
static int64_t lanes_of(int64_t n) {
    int64_t lanes = REDUCE_LANES;
    while (lanes > REDUCE_EIGHT && 2 * n <= lanes)
        lanes /= 2;
    return lanes;
}

/* Rows `from` and on of `lanes` lanes that are neighbours in bit-reversed order, of a leaf of n; missing ones are the row `none`. */
static void eight_rows(const reduce_columns_worker *w, int place, int lanes, int64_t from, int64_t n, const char *none, const char **row) {
    const int each = REDUCE_EIGHT / lanes, apart = REDUCE_LANES / (int)lanes_of(n);
    for (int j = 0; j < lanes; j++)
        for (int i = 0; i < each; i++) {
            const int64_t at = reduce_reversed_lane(place + j) / apart + (from + i) * REDUCE_LANES;
            row[j * each + i] = at < n ? w->base + w->offset[at] : none;
        }
}

void tess_reduce_columns_identity(const reduce_problem *p, char *row, tess_type type, int64_t n) {
    const float one = 1;
    const double wide = 1;
    const int64_t size = (int64_t)tess_type_size(type);
    if (p->kind != REDUCE_PROD)
        memset(row, 0, (size_t)(n * size));
    else
        for (int64_t i = 0; i < n; i++)
            memcpy(row + i * size, type == tess_f32 ? (const void *)&one : &wide, (size_t)size);
}

/* The tree over a leaf's lanes, into row `level` of the stack. As fold_lanes, but that lanes without elements take part with +0, which changes no sum, or with 1, which changes no
 * product. */
static void fold_eights(const reduce_columns_worker *w, int64_t n, int64_t level, bool squares) {
    const reduce_columns *job = w->job;
    const reduce_eight eight = squares ? job->apart : job->eight;
    const int64_t rows = tess_ceil_div(n, REDUCE_LANES), all = lanes_of(n), step = columns_stack_step(w);
    const int lanes = rows > 4 ? 1 : rows > 2 ? 2 : rows > 1 ? 4 : 8, each = REDUCE_EIGHT / lanes;
    const char *row[2][REDUCE_EIGHT];
    int64_t depth = level;
    int turn = 0;
    if (!job->staged && (n % all != 0 || rows % each != 0))
        tess_reduce_columns_identity(job->p, w->mapped, job->p->in.type, w->n);
    eight_rows(w, 0, lanes, 0, n, w->mapped, row[0]);
    for (int place = 0; place < all; place += lanes, depth++) {
        const int merges = reduce_merges_after(place / lanes);
        for (int64_t from = 0; from < rows; from += each, turn ^= 1) {
            const bool ends = from + each >= rows;
            if (!ends)
                eight_rows(w, place, lanes, from + each, n, w->mapped, row[turn ^ 1]);
            else if (place + lanes < all)
                eight_rows(w, place + lanes, lanes, 0, n, w->mapped, row[turn ^ 1]);
            else
                memcpy(row[turn ^ 1], row[turn], sizeof *row);
            if (job->staged)
                tess_reduce_eight_staged(w, eight, columns_stack_row(w, depth), ends ? merges : 0, row[turn], row[turn ^ 1], lanes, from > 0,
                                         w->mean);
            else
                eight(columns_stack_row(w, depth), step, ends ? merges : 0, row[turn], row[turn ^ 1], lanes, from > 0, w->n, w->mean);
        }
        depth -= merges;
    }
}

/* Squares of distances have no row that could stand for a missing one. */
static bool takes_eight(const reduce_columns_worker *w, int64_t n, bool squares) {
    const int64_t rows = tess_ceil_div(n, REDUCE_LANES), each = rows > 4 ? 8 : rows > 2 ? 4 : rows;
    return w->job->eight && w->n >= FEWEST_COLUMNS && n > REDUCE_EIGHT && (!squares || (n % lanes_of(n) == 0 && rows % each == 0));
}

static void fold_leaf_tree(const reduce_columns_worker *w, int64_t n, int64_t level, bool squares) {
    if (!squares && tess_reduce_takes_streams(w, n))
        tess_reduce_fold_streams(w, n, level);
    else if (takes_eight(w, n, squares))
        fold_eights(w, n, level, squares);
    else
        fold_lanes(w, 1, 0, n, level, squares);
}

static void fold_moments(const reduce_columns_worker *w, int64_t n, int64_t level) {
    size_t at = (size_t)level * (size_t)w->job->block;
    const double *sum = columns_stack_row(w, 0);
    memset(w->nans, 0, (size_t)w->n * sizeof(int64_t));
    fold_leaf_tree(w, n, 0, false);
    for (int64_t c = 0; c < w->n; c++) {
        int64_t count = n - w->nans[c];
        w->counts[at + (size_t)c] = count;
        w->means[at + (size_t)c] = w->mean[c] = count > 0 ? sum[c] / (double)count : 0;
    }
    fold_leaf_tree(w, n, 0, true);
    memcpy(w->m2s + at, sum, (size_t)w->n * sizeof(double));
}

static void fold_leaf(reduce_columns_worker *w, int64_t first, int64_t n, int64_t level) {
    find_leaf(w, first, n);
    if (w->job->p->kind == REDUCE_VAR)
        fold_moments(w, n, level);
    else
        fold_leaf_tree(w, n, level, false);
}

static void merge_levels(const reduce_columns_worker *w, int64_t left) {
    static const int64_t here = 0;
    const reduce_problem *p = w->job->p;
    if (p->kind != REDUCE_VAR) {
        w->job->fold(columns_stack_row(w, left), columns_stack_row(w, left + 1), &here, 0, 1, w->n, false);
        return;
    }
    size_t a = (size_t)left * (size_t)w->job->block, b = a + (size_t)w->job->block;
    for (int64_t c = 0; c < w->n; c++, a++, b++) {
        reduce_node x = {.count = w->counts[a], .mean = w->means[a], .m2 = w->m2s[a]};
        reduce_node y = {.count = w->counts[b], .mean = w->means[b], .m2 = w->m2s[b]};
        tess_reduce_node_merge(p, &x, &y);
        w->counts[a] = x.count;
        w->means[a] = x.mean;
        w->m2s[a] = x.m2;
    }
}

static void fold_tree(reduce_columns_worker *w, int64_t begin, int64_t end) {
    int64_t depth = 0, leaf = 0;
    for (int64_t first = begin; first < end; first += REDUCE_LEAF, leaf++) {
        int64_t n = tess_min64(end - first, REDUCE_LEAF);
        if (columns_are_narrow(w->job->p))
            tess_reduce_narrow_leaf(w, first, n, depth++);
        else
            fold_leaf(w, first, n, depth++);
        for (int merges = reduce_merges_after(leaf); merges > 0; merges--, depth--)
            merge_levels(w, depth - 2);
    }
    for (; depth > 1; depth--)
        merge_levels(w, depth - 2);
}

/* ---- where the order of the elements is free ---- */

enum { PLACES = 8 };

/* The rows of a leaf in turns from PLACES places: first rows of its eighths, then the second ones. The last rows, less than PLACES, stay where they are. False
 * where the block's rows are parts of rows. */
static bool take_turns(reduce_columns_worker *w, int64_t n) {
    const reduce_problem *p = w->job->p;
    const int64_t row = w->n * p->in.itemsize, each = n / PLACES, first = w->offset[0];
    if (!columns_are_gapless(p) || w->n != p->kept_size[p->kept - 1])
        return false;
    for (int64_t i = 0; i < each; i++)
        for (int64_t k = 0; k < PLACES; k++)
            w->offset[i * PLACES + k] = first + (i + k * each) * row;
    return true;
}

static void fold_integers(reduce_columns_worker *w, int64_t n) {
    static const int64_t here = 0;
    const reduce_problem *p = w->job->p;
    void (*integers)(uint64_t *, const char *, const int64_t *, int64_t, int64_t, bool) = w->job->kernels->column->integers[p->in.type];
    if (integers && p->kind == REDUCE_SUM && p->map == REDUCE_PLAIN && w->job->stride == p->in.itemsize) {
        if (w->fresh)
            memset(w->stack, 0, (size_t)w->n * sizeof(uint64_t));
        const bool far = w->offset[n - 1] - w->offset[0] > 1 << 16, ahead = far && !take_turns(w, n); /* turned rows are in L1 */
        integers((uint64_t *)(void *)w->stack, w->base, w->offset, n, w->n, ahead);
    } else
        for (int64_t i = 0; i < n; i++)
            w->job->fold(w->stack, mapped_row(w, i), &here, 0, 1, w->n, w->fresh && i == 0);
}

static void fold_keys(reduce_columns_worker *w, int64_t first, int64_t n) {
    const reduce_columns *job = w->job;
    const reduce_problem *p = job->p;
    if (p->kind == REDUCE_EXTREME && p->map == REDUCE_PLAIN && job->stride == p->in.itemsize) {
        const reduce_order_kernels *order_kernels = job->kernels->order; /* keys of their own width, in the place of w->index */
        if (w->fresh)
            order_kernels->lowest[p->in.type](w->index, w->n);
        reduce_order order = p->order;
        order.cached |= job->turned > 0 || take_turns(w, n); /* nothing is asked for */
        order_kernels->greatest_rows[p->in.type](w->index, w->base, w->offset, n, w->n, order);
        order_kernels->widen[p->in.type](w->best, w->index, w->n);
        return;
    }
    if (p->kind == REDUCE_ARG && job->stride == p->in.itemsize) {
        reduce_order order = p->order;
        order.cached |= job->turned > 0;
        job->kernels->order->first_rows[p->in.type](w->best, w->index, w->base, w->offset, n, w->n, order, first);
        return;
    }
    if (p->kind == REDUCE_COUNT && job->stride == p->in.itemsize) {
        job->kernels->order->count_rows[p->in.type](w->best, w->nans, w->base, w->offset, n, w->n, p->omit);
        return;
    }
    const reduce_column_kernels *kernels = job->kernels->column;
    reduce_order order = p->order;
    order.magnitude |= p->kind == REDUCE_COUNT;
    order.omit &= p->kind != REDUCE_COUNT;
    for (int64_t i = 0; i < n; i++) {
        if (p->map != REDUCE_PLAIN)
            job->kernels->order->keys[p->acc](w->keys, mapped_row(w, i), (int64_t)tess_type_size(p->acc), w->n, order);
        else
            job->kernels->order->keys[p->in.type](w->keys, w->base + w->offset[i], job->stride, w->n, order);
        if (p->kind == REDUCE_COUNT) {
            kernels->equal(w->best, w->keys, w->n, job->zero_key);
            if (p->omit)
                kernels->equal(w->nans, w->keys, w->n, job->nan_key);
        } else if (p->kind == REDUCE_ARG) {
            kernels->first_greatest(w->best, w->index, w->keys, w->n, first + i);
        } else {
            kernels->greatest(w->best, w->keys, w->n);
        }
    }
}

static void fold_rows(reduce_columns_worker *w, int64_t first, int64_t n) {
    if (w->job->p->kind == REDUCE_SUM || w->job->p->kind == REDUCE_PROD)
        fold_integers(w, n);
    else
        fold_keys(w, first, n);
    w->fresh = false;
}

/* The same of columns that are no neighbours: some rows at a time are put straight. */
static void fold_straight(reduce_columns_worker *w, int64_t first, int64_t n) {
    const reduce_columns *job = w->job;
    const int64_t step = job->p->kept_stride[0][job->p->kept - 1];
    const char *base = w->base;
    int64_t *leaf = w->offset, offset[STRAIGHT_ROWS];
    w->base = w->turn;
    w->offset = offset;
    for (int64_t i = 0, m; i < n; i += m) {
        m = tess_min64(STRAIGHT_ROWS, n - i);
        for (int64_t r = 0; r < m; r++) {
            offset[r] = r * job->turned;
            job->straighten(w->turn + offset[r], base + leaf[i + r], step, w->n);
        }
        fold_rows(w, first + i, m);
    }
    w->base = base;
    w->offset = leaf;
}

/* Elements begin .. end-1 of the block's columns. */
void tess_reduce_columns_fold(reduce_columns_worker *w, int64_t begin, int64_t end) {
    const reduce_problem *p = w->job->p;
    int64_t *best = w->best; /* a pointer of its own, or the compiler thinks that it may change */
    w->fresh = true;
    if (p->omit || p->kind == REDUCE_COUNT)
        memset(w->nans, 0, (size_t)w->n * sizeof *w->nans);
    if (columns_is_tree(p)) {
        fold_tree(w, begin, end);
        return;
    }
    for (int64_t c = 0, n = w->n, least = p->kind == REDUCE_COUNT ? 0 : INT64_MIN; c < n; c++)
        best[c] = least;
    memset(w->index, 0xff, (size_t)w->n * sizeof *w->index);
    if (columns_are_narrow(p)) {
        tess_reduce_narrow_all(w, begin, end);
        return;
    }
    for (int64_t at = begin; at < end; at += REDUCE_LEAF) {
        int64_t n = tess_min64(end - at, REDUCE_LEAF);
        find_leaf(w, at, n);
        if (w->job->straighten)
            fold_straight(w, at, n);
        else
            fold_rows(w, at, n);
    }
}
