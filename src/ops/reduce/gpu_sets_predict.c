/* SPDX-License-Identifier: Apache-2.0
 * gpu_sets_predict.c - what reduce/tree_sets will count: a block of each kind is walked, warp by warp and vector by vector.
 *
 * Vector number i of all threads of a warp is one request, whatever lanes of the tree they are, but for a set's first vector, where that is not whole, and what lies behind its last whole one. A block is
 * as another one whose leaves are whole, follow each other along one axis and begin at the same place of a sector, as its results do. Those that are not are walked one by one, and the last ones, whose
 * last vectors may end behind the array and are read an element at a time. Predicted for sets that lie apart in the order of their numbers, and results whose steps are not negative; of shared memory,
 * where nodes are one word. Flops: none where no order matters; of sums and products where all rounds of vectors are whole, for what the compiler makes of vectors that are not there is its own. */
#include "ops/reduce/gpu_reduce.h"

/* A leaf of a set: its first byte and how many elements lie in that one's vector before it, its elements. */
typedef struct unit {
    int64_t from, before, elements;
} unit;

typedef struct walk {
    tess_reduce_gpu_walk nodes; /* node: of a leaf (-DNARROW=1 of gpu_node.cuh) */
    const reduce_problem *p;
    tess_reduce_gpu_sets_shape s;
    int64_t width, wide, leaves, units; /* wide: elements of `rows` rows */
    int64_t end;                        /* of the array */
    int64_t partial, partial_words;     /* bytes of a node in the workspace, words in which it is copied */
} walk;

static int64_t in_of(const walk *w, int64_t set) { return tess_reduce_gpu_place(w->p->kept_size, w->p->kept_stride[0], w->p->kept - 1, set); }
static int64_t out_of(const walk *w, int64_t set) { return tess_reduce_gpu_place(w->p->kept_size, w->p->kept_stride[1], w->p->kept - 1, set); }

static unit unit_of(const walk *w, int64_t number) {
    const int64_t first = number % w->leaves * w->s.leaf, size = w->nodes.size;
    unit u = {.from = in_of(w, number / w->leaves) + first * w->width * size, .elements = tess_min64(w->p->k - first, w->s.leaf) * w->width};
    u.before = w->s.ragged ? u.from % (w->s.vector * size) / size : 0;
    return u;
}

/* share::edge(): vectors at byte at[], -1: none, as one request, or element by element where they end behind the array: elements [first, last) of each. */
static void edges(const walk *w, const int64_t *at, const int64_t *first, const int64_t *last) {
    const int64_t bytes = w->s.vector * w->nodes.size;
    int64_t load[32];
    for (int lane = 0; lane < 32; lane++)
        load[lane] = at[lane] >= 0 && at[lane] + bytes <= w->end ? at[lane] : -1;
    tess_gpu_count_global(w->nodes.sum, w->nodes.times, load, bytes, false);
    for (int64_t v = 0; v < w->s.vector; v++) {
        for (int lane = 0; lane < 32; lane++)
            load[lane] = at[lane] >= 0 && at[lane] + bytes > w->end && v >= first[lane] && v < last[lane] ? at[lane] + v * w->nodes.size : -1;
        tess_gpu_count_global(w->nodes.sum, w->nodes.times, load, w->nodes.size, false);
    }
}

/* The loads of a warp whose first thread has number `thread`. */
static void loads(const walk *w, const unit *u, int64_t here, int64_t thread) {
    const int64_t V = w->s.vector, size = w->nodes.size, none[32] = {0};
    int64_t from[32], whole[32], at[32], first[32], last[32], most = 0;
    bool cut[32];
    for (int lane = 0; lane < 32; lane++) {
        const int64_t place = (thread + lane) / w->s.leaf_threads, t = (thread + lane) % w->s.leaf_threads;
        const bool there = place < here;
        const int64_t before = there ? u[place].before : 0, end = there ? before + u[place].elements - t * V : 0;
        cut[lane] = there && t == 0 && before > 0;
        whole[lane] = !there ? 0 : end >= V ? (end - V) / w->wide + 1 : cut[lane];
        from[lane] = there ? u[place].from + (t * V - before) * size : 0;
        first[lane] = before;
        last[lane] = tess_min64(end, V);
        most = tess_max64(most, whole[lane]);
    }
    for (int lane = 0; lane < 32; lane++)
        at[lane] = cut[lane] ? from[lane] : -1;
    edges(w, at, first, last);
    for (int lane = 0; lane < 32; lane++) {
        const int64_t place = (thread + lane) / w->s.leaf_threads, t = (thread + lane) % w->s.leaf_threads;
        last[lane] = place < here ? u[place].before + u[place].elements - t * V - whole[lane] * w->wide : 0;
        at[lane] = last[lane] > 0 ? from[lane] + whole[lane] * w->wide * size : -1;
    }
    edges(w, at, none, last);
    for (int64_t i = 0, next; i < most; i = next) { /* as long as the same threads have vectors */
        next = i == 0 ? 1 : most;
        for (int lane = 0; lane < 32; lane++)
            next = whole[lane] > i ? tess_min64(next, whole[lane]) : next;
        for (tess_gpu_kind n = {0}; tess_gpu_next_kind(&n, next - i, 0, 0, 32 / tess_gcd(32, w->wide * size));) {
            for (int lane = 0; lane < 32; lane++)
                at[lane] = whole[lane] > i && !(cut[lane] && i == 0) ? from[lane] + (i + n.at) * w->wide * size : -1;
            tess_gpu_count_global(w->nodes.sum, w->nodes.times * n.times, at, V * size, false);
        }
    }
}

/* A warp's access to a node each, at byte at[], a field after the other: of places the key and the index, of counts without NaNs both counts, of which TESS_ALL needs one. */
static void shared(const walk *w, const int64_t *at, bool store) {
    const int64_t node = w->nodes.node;
    const bool one = w->p->operation == TESS_ALL && w->leaves == 1 && !store;
    const bool two = (w->p->kind == REDUCE_ARG && w->p->in.itemsize > 2) || (w->p->kind == REDUCE_COUNT && w->p->omit);
    int64_t second[32];
    for (int lane = 0; lane < 32; lane++)
        second[lane] = at[lane] < 0 ? -1 : at[lane] + node / 2;
    tess_gpu_count_shared(w->nodes.sum, w->nodes.times, at, two ? node / 2 : node, store);
    if (two && !one)
        tess_gpu_count_shared(w->nodes.sum, w->nodes.times, second, w->leaves > 1 || tess_is_complex(w->p->in.type) ? 8 : 4, store);
}

static int64_t spot(const walk *w, int64_t node) { return tess_reduce_gpu_sets_spot(&w->s, node) * w->nodes.node; }

/* Its nodes go to shared memory, a vector's one by one, in a circle. */
static void lay_down(const walk *w, const unit *u, int64_t here, int64_t thread) {
    for (int64_t v = 0; v < w->s.vector; v++) {
        int64_t store[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t place = (thread + lane) / w->s.leaf_threads, t = (thread + lane) % w->s.leaf_threads,
                          at = place < here ? t * w->s.vector + v - u[place].before : 0;
            store[lane] = place < here ? spot(w, place * w->wide + (at < 0 ? at + w->wide : at)) : -1;
        }
        shared(w, store, true);
    }
}

/* More rows than a thread a column takes: a thread for each element of so many, which takes those that meet it. */
static void meet(const walk *w, int64_t here, int64_t thread) {
    const int64_t most = tess_reduce_gpu_sets_met(&w->s), run = most * w->width;
    for (int64_t i = thread; most < w->s.rows && i < here * run; i += w->s.threads)
        for (int64_t r = 0; r <= w->s.rows / most; r++) {
            int64_t at[32];
            for (int lane = 0; lane < 32; lane++) {
                const int64_t place = (i + lane) / run;
                at[lane] = place < here ? spot(w, place * w->wide + (i + lane) % run + r % (w->s.rows / most) * run) : -1;
            }
            shared(w, at, r == w->s.rows / most);
        }
}

/* A thread a column of a leaf: its rows' nodes, and what they come to. first: the first unit's number. */
static void results(const walk *w, int64_t first, int64_t here, int64_t thread) {
    const reduce_problem *p = w->p;
    for (int64_t i = thread; i < here * w->width; i += w->s.threads) {
        int64_t at[32];
        for (int64_t r = 0; r < tess_reduce_gpu_sets_met(&w->s); r++) {
            for (int lane = 0; lane < 32; lane++) {
                const int64_t place = (i + lane) / w->width, column = (i + lane) % w->width;
                at[lane] = place < here ? spot(w, place * w->wide + r * w->width + column) : -1;
            }
            shared(w, at, false);
        }
        for (int64_t word = 0; word < (w->leaves > 1 ? w->partial_words : 1); word++) {
            for (int lane = 0; lane < 32; lane++) {
                const int64_t place = (i + lane) / w->width, column = (i + lane) % w->width, number = first + place;
                if (w->leaves > 1)
                    at[lane] = ((number / w->leaves * w->width + column) * w->leaves + number % w->leaves) * w->partial +
                               word * (w->partial / w->partial_words);
                else
                    at[lane] = out_of(w, number) + column * p->kept_stride[1][p->kept - 1];
                at[lane] = place < here ? at[lane] : -1;
            }
            tess_gpu_count_global(w->nodes.sum, w->nodes.times, at, w->leaves > 1 ? w->partial / w->partial_words : p->out.itemsize, true);
        }
    }
}

/* `times` blocks like the one whose first unit has number `first`. */
static void one_block(const walk *all, double times, int64_t first) {
    enum { MOST = 1024 };
    unit u[MOST];
    walk w = *all;
    const int64_t here = tess_min64(w.s.leaves, w.units - first);
    w.nodes.times = times;
    for (int64_t i = 0; i < here; i++)
        u[i] = unit_of(&w, first + i);
    for (int64_t thread = 0; thread < w.s.threads; thread += 32) {
        loads(&w, u, here, thread);
        lay_down(&w, u, here, thread);
        meet(&w, here, thread);
        results(&w, first, here, thread);
    }
}

/* Where leaves' results go: nodes of the workspace in the order of outputs, then of leaves. */
static int64_t result_of(const walk *w, int64_t number) {
    return w->leaves > 1 ? (number / w->leaves * w->width * w->leaves + number % w->leaves) * w->partial : out_of(w, number);
}

static void blocks(const walk *w) {
    const reduce_problem *p = w->p;
    const int axes = p->kept - 1;
    const int64_t at_once = w->s.leaves, count = tess_ceil_div(w->units, at_once), inner = axes > 0 ? p->kept_size[axes - 1] : 1;
    const int64_t last = tess_min64(count, 2), alike = count - last; /* a set of less than a vector has many beside it in a block */
    int64_t below = 1;
    for (int d = 1; d < axes; d++)
        below *= p->kept_size[d];
    const int64_t in_step = axes > 0 ? p->kept_stride[0][0] : 0, out_step = w->leaves > 1 ? below * w->width * w->leaves * w->partial
                                                                            : axes > 0    ? p->kept_stride[1][0]
                                                                                          : 0;
    const int64_t repeat = below * w->leaves * (32 / tess_gcd(32, tess_gcd(in_step, out_step)));
    const int64_t period = axes > 0 ? repeat / tess_gcd(repeat, at_once) : count;
    struct {
        int64_t first;
        double times;
    } kind[32][32] = {{{0, 0}}};
    for (int64_t i = 0; i < period && i < alike; i++) {
        const int64_t first = i * at_once, end = first + at_once - 1;
        const double times = (double)((alike - i + period - 1) / period);
        const bool whole = w->leaves > 1 ? first / w->leaves == end / w->leaves && end % w->leaves < w->leaves - 1 : first % inner + at_once <= inner;
        if (whole) {
            const int64_t a = in_of(w, first / w->leaves) % 32, b = result_of(w, first) % 32;
            kind[a][b].first = first;
            kind[a][b].times += times;
        } else {
            one_block(w, times, first);
        }
    }
    for (int a = 0; a < 32; a++)
        for (int b = 0; b < 32; b++)
            if (kind[a][b].times > 0)
                one_block(w, kind[a][b].times, kind[a][b].first);
    for (int64_t i = alike; i < count; i++)
        one_block(w, 1, i * at_once);
    w->nodes.sum->barriers += (double)(count * w->s.threads / 32 * (tess_reduce_gpu_sets_met(&w->s) < w->s.rows ? 2 : 1));
}

/* Sets that lie apart, later ones further on; results whose steps are not negative. */
static bool in_order(const reduce_problem *p) {
    int64_t extent = p->k * p->stride[0][0];
    for (int d = p->kept - 2; d >= 0; d--) {
        if (p->kept_stride[0][d] < extent)
            return false;
        extent = p->kept_stride[0][d] * p->kept_size[d];
    }
    for (int d = 0; d < p->kept; d++)
        if (p->kept_stride[1][d] < 0)
            return false;
    return true;
}

/* An addition for each element and for each pair of a leaf's lanes, of complex numbers two, where no vector is cut and no round of them is; and what ends a result. Where vectors are written out sums' lanes
 * begin with an element each, and what they come to is added to 0; products' begin with 1. */
static double flops(const walk *w) {
    const reduce_problem *p = w->p;
    const bool pairs = tess_is_complex(p->in.type), end = p->operation == TESS_MEAN || p->operation == TESS_NORM2;
    const int64_t lanes = w->s.rows * w->s.each;
    if (tess_reduce_gpu_any_order(p) || p->omit || w->s.ragged || w->leaves > 1 || p->k % (w->s.sure ? w->s.rows : lanes * w->s.rounds) != 0 ||
        (pairs && (p->kind == REDUCE_PROD || p->map != REDUCE_PLAIN)))
        return tess_reduce_gpu_predict_flops(p);
    const int64_t merged = !w->s.sure ? lanes - 1 : p->kind == REDUCE_SUM ? 0 : -1;
    return (double)p->outputs * (double)(p->k * (p->map == REDUCE_SQUARE ? 2 : 1) + merged + end) * (pairs ? 2 : 1);
}

void tess_reduce_predict_sets(const tess_problem *base, tess_gpu_prediction *out) {
    const reduce_problem *p = (const reduce_problem *)base;
    walk w = {.p = p, .width = p->kept_size[p->kept - 1]};
    if (!tess_reduce_gpu_sets_shape_of(p, &w.s) || !in_order(p))
        return;
    w.leaves = tess_ceil_div(p->k, w.s.leaf);
    tess_reduce_gpu_count_begin(&w.nodes, p, out);
    w.partial = w.nodes.node;
    w.partial_words = w.nodes.words;
    w.wide = w.width * w.s.rows;
    w.units = p->outputs / w.width * w.leaves;
    w.end = p->k * p->stride[0][0];
    for (int d = 0; d < p->kept - 1; d++)
        w.end += (p->kept_size[d] - 1) * p->kept_stride[0][d];
    w.nodes.node = w.s.met;
    blocks(&w);
    w.nodes.node = w.partial;
    if (w.leaves > 1)
        tess_reduce_gpu_count_leaves(&w.nodes, p->outputs, w.leaves);
    tess_reduce_gpu_count_end(&w.nodes, p, !(p->omit && p->kind == REDUCE_SUM));
    out->flops = flops(&w);
    if (p->kind == REDUCE_ARG && w.leaves > 1 && p->in.itemsize > 2)
        out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
}
