/* SPDX-License-Identifier: Apache-2.0
 * gpu_twice_predict.c - what reduce/tree_twice will count: a leaf of each kind is walked, class by class and warp by warp, both looks.
 *
 * A leaf is as another one that has as many rows, and begins at the same place of a sector, as its means and its results do. Blocks that wait are not counted: on a card a warp may ask more than once whether a leaf's means are there.
 * Predicted for at most 2^20 leaves. */
#include "ops/reduce/gpu_reduce.h"

enum { ARMS = TESS_REDUCE_GPU_TWICE_ARMS, LANES = REDUCE_LANES / ARMS, TERMS = REDUCE_LEAF / REDUCE_LANES, COLUMNS = 8 /* of a warp in the end */ };

typedef struct walk {
    tess_gpu_prediction *sum;
    double times;
    const reduce_problem *p;
    tess_reduce_gpu_twice_shape s;
    int64_t size, width, leaves, node, words;
} walk;

/* A leaf: where it, its means and its first column's result begin. */
typedef struct leaf {
    int64_t from, rows, means, to;
} leaf;

/* What a warp's lanes have of a class, as `share` of the kernel. */
typedef struct shares {
    int64_t at[32], end[32], first[32], whole[32], before;
} shares;

static shares shares_of(const walk *w, const leaf *l, int64_t class, int64_t thread) {
    const int64_t V = w->s.vector, arm = LANES * w->width;
    shares s = {.before = w->s.ragged ? l->from % (V * w->size) / w->size : 0};
    for (int lane = 0; lane < 32; lane++) {
        const int64_t t = thread + lane, place = class * w->s.cls + t % w->s.cls;
        const bool here = t < ARMS * w->s.cls && place < arm / V;
        s.at[lane] = (here ? t / w->s.cls * arm + place * V : 0) - s.before;
        s.end[lane] = here ? l->rows * w->width : 0;
        s.first[lane] = s.at[lane] < 0;
        s.whole[lane] = s.end[lane] - s.at[lane] >= V ? (s.end[lane] - s.at[lane] - V) / (REDUCE_LANES * w->width) + 1 : 0;
    }
    return s;
}

static bool full(const shares *s, int lane) { return s->first[lane] == 0 && s->whole[lane] == TERMS; }

/* Vector n, or the n-th from a lane's first one on, of the lanes that are full, or of the others that have it. */
static void vectors(const walk *w, const leaf *l, const shares *s, int64_t number, bool counted, bool fulls, bool others) {
    int64_t load[32];
    for (int lane = 0; lane < 32; lane++) {
        const int64_t n = number + (counted ? s->first[lane] : 0);
        load[lane] = (full(s, lane) ? fulls : others) && n >= s->first[lane] && n < s->whole[lane]
                         ? l->from + (s->at[lane] + n * REDUCE_LANES * w->width) * w->size
                         : -1;
    }
    tess_gpu_count_global(w->sum, w->times, load, w->s.vector * w->size, false);
}

/* Vectors that are cut, an element at a time: the first or the last ones. */
static void cuts(const walk *w, const leaf *l, const shares *s, bool last) {
    for (int64_t v = 0; w->s.ragged && v < w->s.vector; v++) {
        int64_t load[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t n = last ? tess_max64(s->whole[lane], s->first[lane]) : 0, i = s->at[lane] + n * REDUCE_LANES * w->width;
            const bool here = last ? i < s->end[lane] : s->first[lane] > 0;
            load[lane] = here && i + v >= 0 && i + v < s->end[lane] ? l->from + (i + v) * w->size : -1;
        }
        tess_gpu_count_global(w->sum, w->times, load, w->size, false);
    }
}

static int64_t spot(const walk *w, const shares *s, int64_t class, int64_t t, int64_t v) {
    const int64_t at = (class * w->s.cls + t) * w->s.vector + v - s->before;
    return at < 0 ? at + LANES * w->width : at;
}

/* A second look asks whether the means are there, and for those of its columns: lanes that are full, or others. */
static void ask(const walk *w, bool fulls, bool others, const shares *s) {
    int64_t load[32];
    for (int lane = 0; lane < 32; lane++)
        load[lane] = (full(s, lane) ? fulls : others) ? 0 : -1;
    tess_gpu_count_global(w->sum, w->times, load, 4, false);
}
static void means(const walk *w, const leaf *l, const shares *s, int64_t class, int64_t thread, bool fulls, bool others) {
    for (int64_t v = 0; v < w->s.vector; v++) {
        int64_t load[32];
        for (int lane = 0; lane < 32; lane++)
            load[lane] = (full(s, lane) ? fulls : others) ? l->means + spot(w, s, class, (thread + lane) % w->s.cls, v) % w->width * 8 : -1;
        tess_gpu_count_global(w->sum, w->times, load, 8, false);
    }
}

/* The arms of a class meet. */
static void halve(const walk *w, const shares *s, int64_t class, int64_t thread) {
    const int64_t V = w->s.vector, threads = ARMS * w->s.cls, room = threads + 32 / V;
    int64_t at[32];
    for (int64_t v = 0; v < V; v++) {
        for (int lane = 0; lane < 32; lane++)
            at[lane] = thread + lane < threads ? (v * room + thread + lane) * 8 : -1;
        tess_gpu_count_shared(w->sum, w->times, at, 8, true);
    }
    for (int64_t arm = 0; arm <= ARMS; arm++) { /* the last: the store of what they come to */
        for (int lane = 0; lane < 32; lane++) {
            const int64_t i = thread + lane, t = i / V, v = i % V;
            const bool here = i < w->s.cls * V && class * w->s.cls + t < LANES * w->width / V;
            at[lane] = !here ? -1 : arm < ARMS ? (v * room + arm * w->s.cls + t) * 8 : spot(w, s, class, t, v) * 8;
        }
        if (arm < ARMS)
            tess_gpu_count_shared(w->sum, w->times, at, 8, false);
        else
            tess_gpu_count_global(w->sum, w->times, at, 8, true);
    }
    w->sum->barriers += 2 * w->times;
}

/* One warp's part of a block: class, or group of classes, `part`. */
static void one_warp(const walk *w, const leaf *l, int64_t part, int64_t thread, bool second) {
    const int64_t most = tess_ceil_div(w->s.last, REDUCE_LANES);
    if (l->rows == REDUCE_LEAF || w->s.turns * most > w->s.rounds) {
        const shares s = shares_of(w, l, part, thread);
        for (int others = 0; others < 2; others++) {
            if (second) {
                ask(w, !others, others, &s);
                means(w, l, &s, part, thread, !others, others);
            }
            if (others)
                cuts(w, l, &s, false);
            for (int64_t n = 0; n < TERMS; n++)
                vectors(w, l, &s, n, true, !others, others);
            if (others)
                cuts(w, l, &s, true);
        }
        halve(w, &s, part, thread);
        return;
    }
    for (int64_t class = part * w->s.turns; class < (part + 1) * w->s.turns; class ++) {
        const shares s = shares_of(w, l, class, thread);
        for (int64_t n = 0; n < most; n++)
            vectors(w, l, &s, n, false, true, true);
        if (second && class == part * w->s.turns)
            ask(w, true, true, &s);
        if (second)
            means(w, l, &s, class, thread, true, true);
        cuts(w, l, &s, false);
        cuts(w, l, &s, true);
        halve(w, &s, class, thread);
    }
}

/* The last block of a look: what all have left. */
static void finish(const walk *w, const leaf *l, int64_t thread, bool second) {
    for (int64_t first = thread / 32 * COLUMNS; first < w->width; first += w->s.threads / 32 * COLUMNS) {
        int64_t at[32];
        for (int64_t i = 0; i < tess_min64(COLUMNS, w->width); i++) { /* of fewer the compiler sees that the last one comes again */
            for (int lane = 0; lane < 32; lane++)
                at[lane] = (lane * w->width + tess_min64(first + i, w->width - 1)) * 8;
            tess_gpu_count_global(w->sum, w->times, at, 8, false);
        }
        for (int lane = 0; lane < 32; lane++)
            at[lane] = lane < COLUMNS && first + lane < w->width ? l->means + (first + lane) * 8 : -1;
        if (!second || w->leaves > 1) /* a result has no mean in it */
            tess_gpu_count_global(w->sum, w->times, at, 8, !second);
        for (int64_t word = 0; second && word < (w->leaves > 1 ? w->words : 1); word++) {
            for (int lane = 0; lane < 32; lane++)
                at[lane] = lane < COLUMNS && first + lane < w->width
                               ? l->to + (first + lane) * (w->leaves > 1 ? w->leaves * w->node : w->p->kept_stride[1][w->p->kept - 1]) + word * 8
                               : -1;
            tess_gpu_count_global(w->sum, w->times, at, w->leaves > 1 ? 8 : w->p->out.itemsize, true);
        }
    }
    if (!second)
        w->sum->barriers += w->times;
}

static void one_leaf(const walk *w, const leaf *l) {
    const int64_t parts = l->rows == REDUCE_LEAF ? w->s.classes : tess_ceil_div(w->s.classes, w->s.turns);
    int64_t at[32];
    for (int second = 0; second < 2; second++) {
        for (int64_t part = 0; part < parts; part++)
            for (int64_t thread = 0; thread < w->s.threads; thread += 32) {
                one_warp(w, l, part, thread, second);
                for (int lane = 0; lane < 32; lane++)
                    at[lane] = lane == 0 && thread == 0 ? 0 : -1;
                tess_gpu_count_shared(w->sum, w->times, at, 1, true); /* whether it is the last block */
                for (int lane = 0; lane < 32; lane++)
                    at[lane] = 0;
                tess_gpu_count_shared(w->sum, w->times, at, 1, false);
                w->sum->barriers += w->times;
            }
        for (int64_t thread = 0; thread < w->s.threads; thread += 32)
            finish(w, l, thread, second);
    }
}

void tess_reduce_predict_twice(const tess_problem *base, tess_gpu_prediction *out) {
    enum { KINDS = 64 };
    const reduce_problem *p = (const reduce_problem *)base;
    walk w = {.sum = out,
              .times = 1,
              .p = p,
              .s = tess_reduce_gpu_twice_shape_of(p, out->device),
              .size = p->in.itemsize,
              .width = p->kept_size[p->kept - 1],
              .leaves = tess_ceil_div(p->k, REDUCE_LEAF)};
    const int64_t sets = p->outputs / w.width;
    tess_reduce_gpu_walk nodes;
    struct {
        leaf of;
        double times;
    } list[KINDS];
    int count = 0;
    if (sets * w.leaves > 1 << 20) /* they are gone through one by one */
        return;
    tess_reduce_gpu_count_begin(&nodes, p, out);
    w.node = nodes.node;
    w.words = nodes.words;
    for (int64_t unit = 0; unit < sets * w.leaves; unit++) {
        const int64_t set = unit / w.leaves, number = unit % w.leaves, rows = number < w.leaves - 1 ? REDUCE_LEAF : w.s.last;
        const leaf l = {.from = TESS_REDUCE_GPU_ORIGIN + tess_reduce_gpu_below(p, 0) +
                                tess_reduce_gpu_place(p->kept_size, p->kept_stride[0], p->kept - 1, set) + number * REDUCE_LEAF * w.width * w.size,
                        .rows = rows,
                        .means = unit * w.width * 8,
                        .to = w.leaves > 1 ? (set * w.width * w.leaves + number) * w.node
                                           : tess_reduce_gpu_below(p, 1) + tess_reduce_gpu_place(p->kept_size, p->kept_stride[1], p->kept - 1, set)};
        int k = 0;
        while (k < count && !(list[k].of.rows == rows && (list[k].of.from - l.from) % 32 == 0 && (list[k].of.means - l.means) % 32 == 0 &&
                              (list[k].of.to - l.to) % 32 == 0))
            k++;
        if (k < count) {
            list[k].times++;
        } else if (count < KINDS) {
            list[count].of = l;
            list[count++].times = 1;
        } else {
            w.times = 1;
            one_leaf(&w, &l);
        }
    }
    for (int k = 0; k < count; k++) {
        w.times = list[k].times;
        one_leaf(&w, &list[k].of);
    }
    if (w.leaves > 1)
        tess_reduce_gpu_count_leaves(&nodes, p->outputs, w.leaves);
    tess_reduce_gpu_count_end(&nodes, p, true);
}
