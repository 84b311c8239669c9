/* SPDX-License-Identifier: Apache-2.0
 * gpu_patches_predict.c - what reduce/tree_patches will count: a block of each kind is walked, warp by warp and request by request.
 *
 * A block is as another one if its patch is as large and begins at the same place of a line, and its results at the same place of a sector. Predicted for steps that are not negative and arrays
 * that begin at a line; of shared memory, not where NaNs are left out, whose nodes the compiler copies as it likes. Flops: none where no order matters. */
#include "ops/reduce/gpu_reduce.h"

typedef struct walk {
    tess_gpu_prediction *sum;
    double times;
    const reduce_problem *p;
    tess_reduce_gpu_patch s;
} walk;

static int64_t spot(const walk *w, int64_t byte) { return w->s.pad ? byte + byte / 128 * 16 : byte; }

/* The 16 bytes of each lane at byte `from` + at, -1 = none, of which those from begin to end are wanted: whole as a copy to `to` + at, others an element at a time. */
typedef struct vectors {
    int64_t from[32], to[32], at[32], begin[32], end[32];
} vectors;

static void put(const walk *w, const vectors *v) {
    const int64_t size = w->p->in.itemsize;
    int64_t from[32], to[32];
    bool whole[32];
    for (int lane = 0; lane < 32; lane++) {
        whole[lane] = v->at[lane] >= v->begin[lane] && v->at[lane] + 16 <= v->end[lane];
        from[lane] = v->at[lane] >= 0 && whole[lane] ? v->from[lane] + v->at[lane] : -1;
        to[lane] = v->to[lane] + spot(w, v->at[lane]);
    }
    tess_gpu_count_copies(w->sum, w->times, from, to);
    for (int64_t i = 0; i < 16; i += size) {
        for (int lane = 0; lane < 32; lane++) {
            const int64_t at = v->at[lane] + i;
            const bool there = v->at[lane] >= 0 && !whole[lane] && at >= v->begin[lane] && at < v->end[lane];
            from[lane] = there ? v->from[lane] + at : -1;
            to[lane] = there ? v->to[lane] + spot(w, at) : -1;
        }
        tess_gpu_count_global(w->sum, w->times, from, size, false);
        tess_gpu_count_shared(w->sum, w->times, to, size, true);
    }
}

/* stage_run() of a warp whose first thread has number `thread`; the patch begins at byte `from`. */
static void stage_run(const walk *w, int64_t thread, int64_t from, int64_t bytes) {
    const int64_t before = from % 16, step = w->s.threads * 16, all = before + bytes, size = w->p->in.itemsize;
    const int64_t at_a_time = size > 4 ? 4 : size == 4 ? 2 : 1; /* the code for a vector that is not whole is long where elements are small */
    for (int left = 0; left < 2; left++)
        for (int64_t j = 0; j * step < all; j++) {
            vectors v;
            for (int lane = 0; lane < 32; lane++) {
                const int64_t first = (thread + lane) * 16,
                              turn = tess_gpu_turn_of(first < all ? (all - first + step - 1) / step : 0, at_a_time, true, left, j);
                v.from[lane] = from - before;
                v.to[lane] = 0;
                v.at[lane] = turn < 0 ? -1 : first + turn * step;
                v.begin[lane] = before;
                v.end[lane] = all;
            }
            put(w, &v);
        }
}

static void stage_rows(const walk *w, int64_t thread, int64_t from, int64_t bytes) {
    const int64_t rows = w->p->k, each = (bytes + 15) / 16 + 1, at_once = w->s.threads / each;
    for (int64_t turn = 0; thread / each + turn * at_once < rows; turn++) {
        vectors v;
        for (int lane = 0; lane < 32; lane++) {
            const int64_t t = thread + lane, r = t / each + turn * at_once, row = from + r * w->p->stride[0][0], before = row % 16,
                          at = t % each * 16;
            v.from[lane] = row - before;
            v.to[lane] = r * each * 16;
            v.at[lane] = r < rows && t < at_once * each && at < before + bytes ? at : -1;
            v.begin[lane] = r > 0 ? 0 : before;
            v.end[lane] = r < rows - 1 ? at + 16 : before + bytes;
        }
        put(w, &v);
    }
}

/* Rows by vectors that all are whole. */
static void stage_vectors(const walk *w, int64_t thread, int64_t from, int64_t across) {
    const int64_t size = w->p->in.itemsize, each = across / w->s.vector, at_once = w->s.threads / each;
    for (int64_t turn = 0; thread / each + turn * at_once < w->p->k; turn++) {
        int64_t load[32], to[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t t = thread + lane, r = t / each + turn * at_once, at = t % each * w->s.vector;
            load[lane] = r < w->p->k && t < at_once * each ? from + r * w->p->stride[0][0] + at * size : -1;
            to[lane] = (r * across + at) * size;
        }
        if (w->s.vector * size == 16)
            tess_gpu_count_copies(w->sum, w->times, load, to);
        else
            tess_gpu_count_global(w->sum, w->times, load, w->s.vector * size, false);
    }
}

/* A thread's elements: number group, group + GROUP, ... of an output whose first lies at byte `first` of the tile; -1: it has none. */
typedef struct threads {
    int64_t group[32], place[32], first[32], column[32], set[32];
} threads;

static void elements(const walk *w, const threads *t, const int64_t *number, int64_t from, int64_t across) {
    const reduce_problem *p = w->p;
    const int64_t size = p->in.itemsize, row = w->s.shifted ? (across * size + 31) / 16 * 16 : across * size;
    int64_t load[32];
    for (int lane = 0; lane < 32; lane++) {
        const int64_t i = number[lane], shift = w->s.shifted ? (from + i * p->stride[0][0]) % 16 : 0;
        load[lane] = i >= 0 && i < p->k && t->group[lane] < w->s.group ? spot(w, t->first[lane] + i * row + shift) : -1;
    }
    tess_gpu_count_shared(w->sum, w->times, load, size, false);
}

static void in_any_order(const walk *w, const threads *t, int64_t from, int64_t across) {
    for (int left = 0; left < 2; left++)
        for (int64_t j = 0; j * w->s.group < w->p->k; j++) {
            int64_t number[32];
            for (int lane = 0; lane < 32; lane++) {
                const int64_t group = t->group[lane], turns = group < w->s.group ? (w->p->k - group + w->s.group - 1) / w->s.group : 0,
                              turn = tess_gpu_turn_of(turns, 8, false, left, j);
                number[lane] = turn < 0 ? -1 : group + turn * w->s.group;
            }
            elements(w, t, number, from, across);
        }
}

static void in_order(const walk *w, const threads *t, int64_t from, int64_t across) {
    int64_t number[32];
    for (int m = 0; m < w->s.each; m++) {
        for (int lane = 0; lane < 32; lane++)
            number[lane] = m * w->s.group + t->group[lane];
        elements(w, t, number, from, across);
    }
}

/* Bytes of a node of at most 256 elements (-DNARROW=1 of gpu_node.cuh). */
static int64_t node_of(const reduce_problem *p) {
    if (p->kind == REDUCE_COUNT || (p->kind == REDUCE_SUM && reduce_is_integer(p->acc) && p->in.itemsize <= 2))
        return 4;
    if (p->kind == REDUCE_ARG)
        return p->in.itemsize == 8 ? 16 : 8;
    return tess_reduce_gpu_node_size(p);
}

/* together(), both_of(): of a variance its sum and, stored alone, its count; of a place the key and the index; of others all of it. Sums of complex numbers
 * are loaded behind the branch of those who store. */
static void meet(const walk *w, const threads *t, int64_t outputs) {
    const reduce_problem *p = w->p;
    const bool var = p->kind == REDUCE_VAR, arg = p->kind == REDUCE_ARG,
               late = tess_is_complex(p->in.type) && p->kind == REDUCE_SUM && p->map == REDUCE_PLAIN;
    const int64_t size = node_of(p), key = arg ? size / 2 : var ? 8 : size;
    for (int g = -1; g < w->s.group; g++)
        for (int field = 0; field < (arg || (var && g < 0) ? 2 : 1); field++) {
            int64_t address[32];
            for (int lane = 0; lane < 32; lane++) {
                const int64_t group = g < 0 ? t->group[lane] : g;
                address[lane] = group < w->s.group && (g < 0 || !late || t->group[lane] == 0)
                                    ? (group * outputs + t->place[lane]) * size + (var ? 8 : 0) + field * key
                                    : -1;
            }
            tess_gpu_count_shared(w->sum, w->times, address, field ? 4 : key, g < 0);
        }
}

/* A patch and where it begins, as its results do. */
typedef struct kind {
    int64_t from, to, across, sets;
    double times;
} kind;

static void one_block(const walk *all, double times, const kind *k) {
    const walk one = {all->sum, times, all->p, all->s}, *w = &one;
    const reduce_problem *p = w->p;
    const int64_t from = k->from, to = k->to, across = k->across, sets = k->sets;
    const tess_reduce_gpu_patch *s = &w->s;
    const int64_t size = p->in.itemsize, outputs = across * sets;
    const int looks = p->kind == REDUCE_VAR ? 2 : 1;
    for (int64_t thread = 0; thread < s->threads; thread += 32) {
        threads t;
        int64_t store[32];
        for (int lane = 0; lane < 32; lane++) {
            t.group[lane] = (thread + lane) / outputs;
            t.place[lane] = (thread + lane) % outputs;
            t.column[lane] = t.place[lane] % across;
            t.set[lane] = t.place[lane] / across;
            t.first[lane] = (s->linear ? from % 16 : 0) + (t.set[lane] * p->k * across + t.column[lane]) * size;
            store[lane] = to + (s->follow ? t.set[lane] * p->kept_stride[1][p->kept - 2] : 0) + t.column[lane] * p->kept_stride[1][p->kept - 1];
            store[lane] = t.group[lane] == 0 ? store[lane] : -1;
        }
        if (s->linear)
            stage_run(w, thread, from, outputs * p->k * size);
        else if (s->shifted)
            stage_rows(w, thread, from, across * size);
        else
            stage_vectors(w, thread, from, across);
        for (int look = 0; look < looks; look++) {
            (tess_reduce_gpu_any_order(p) ? in_any_order : in_order)(w, &t, from, across);
            if (s->group > 1)
                meet(w, &t, outputs);
        }
        tess_gpu_count_global(w->sum, w->times, store, p->out.itemsize, true);
        w->sum->barriers += (1 + (s->group > 1 ? 2 * looks : 0)) * w->times;
    }
}

/* One more block like this; where there are too many kinds it is walked at once. */
static int add(const walk *w, kind *list, int kinds, int most, kind one) {
    for (int i = 0; i < kinds; i++)
        if (list[i].from % 128 == one.from % 128 && list[i].to % 32 == one.to % 32 && list[i].across == one.across && list[i].sets == one.sets) {
            list[i].times++;
            return kinds;
        }
    if (kinds < most)
        list[kinds++] = one;
    else
        one_block(w, 1, &one);
    return kinds;
}

double tess_reduce_gpu_predict_flops(const reduce_problem *p) {
    if (!tess_reduce_gpu_any_order(p) || p->operation == TESS_NORM2)
        return -1;
    if (p->kind == REDUCE_EXTREME && tess_is_complex(p->in.type)) /* moduli: a root as the compiler writes it */
        return -1;
    if (p->kind == REDUCE_ARG && p->omit) /* threads begin with a NaN, which they make */
        return -1;
    return p->operation == TESS_MEAN ? (double)p->outputs : 0;
}

void tess_reduce_predict_patches(const tess_problem *base, tess_gpu_prediction *out) {
    enum { MOST = 256 };
    const reduce_problem *p = (const reduce_problem *)base;
    walk w = {.sum = out, .p = p};
    kind list[MOST];
    int kinds = 0;
    if (!tess_reduce_gpu_patch_of(p, &w.s))
        return;
    for (int d = 0; d < p->kept; d++)
        if (p->kept_stride[0][d] < 0 || p->kept_stride[1][d] < 0)
            return;
    const tess_reduce_gpu_patch *s = &w.s;
    const int last = p->kept - 1, outer = last - s->follow;
    const int64_t width = p->kept_size[last], step = p->kept_stride[1][last], set_step = s->follow ? p->kept_stride[1][last - 1] : 0;
    tess_gpu_count_from_zero(out);
    for (int64_t batch = 0; batch < p->outputs / (s->inner * width); batch++) {
        int64_t at_in = 0, at_out = 0, rest = batch;
        for (int d = outer - 1; d >= 0; rest /= p->kept_size[d--]) {
            at_in += rest % p->kept_size[d] * p->kept_stride[0][d];
            at_out += rest % p->kept_size[d] * p->kept_stride[1][d];
        }
        for (int64_t set = 0; set < s->inner; set += s->sets)
            for (int64_t column = 0; column < width; column += s->across)
                kinds = add(&w, list, kinds, MOST,
                            (kind){.from = at_in + set * p->k * width * p->in.itemsize + column * p->in.itemsize,
                                   .to = at_out + set * set_step + column * step,
                                   .across = tess_min64(s->across, width - column),
                                   .sets = tess_min64(s->sets, s->inner - set),
                                   .times = 1});
    }
    for (int i = 0; i < kinds; i++)
        one_block(&w, list[i].times, &list[i]);
    out->flops = tess_reduce_gpu_predict_flops(p);
    if (outer > 0) /* the compiler reads sizes and steps of some axes at computed addresses */
        out->constant_requests = -1;
    if (p->omit) {
        out->shared_ld_requests = out->shared_ld_wavefronts = out->shared_ld_conflicts = -1;
        out->shared_st_requests = out->shared_st_wavefronts = out->shared_st_conflicts = -1;
    }
}
