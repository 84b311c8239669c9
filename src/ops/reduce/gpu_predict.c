/* SPDX-License-Identifier: Apache-2.0
 * gpu_predict.c - what the rungs of the ladder will count, for any length.
 *
 * All blocks of a pass but its last have the same number of values, so one whole block and the cut one are walked here, request by request, under the card's
 * rules (gpu/predict.c), and the former counted as often as it comes. Predicted for nodes of one word - sums, products, extremes, counts, of which none
 * is left out - since others are merged behind a test of their values; for arrays that begin at a sector. */
#include "ops/reduce/gpu_reduce.h"

enum { BLOCK = REDUCE_GPU_BLOCK, WARPS = BLOCK / 32 };

/* Of one launch: a whole block, the cut one, and how they add up. */
typedef struct walk {
    tess_gpu_prediction *sum;
    double times;
    int element, node; /* bytes */
} walk;

static void add_global(walk *w, bool store, int requests, int sectors) {
    *(store ? &w->sum->global_st_requests : &w->sum->global_ld_requests) += requests * w->times;
    *(store ? &w->sum->global_st_sectors : &w->sum->global_ld_sectors) += sectors * w->times;
}

/* One request of a warp for the values that the lanes ask for, -1 = none, in rising order; value 0 lies at a sector's start. */
static void global(walk *w, const int64_t *value, int size, bool store) {
    int64_t last = -1;
    int sectors = 0;
    for (int lane = 0; lane < 32; lane++)
        if (value[lane] >= 0 && value[lane] * size / 32 != last) {
            last = value[lane] * size / 32;
            sectors++;
        }
    add_global(w, store, sectors > 0, sectors);
}

static void shared(walk *w, const int64_t *value, bool store) {
    tess_gpu_shared_cost cost = {0, 0, 0};
    int32_t address[32];
    for (int lane = 0; lane < 32; lane++)
        address[lane] = value[lane] < 0 ? -1 : (int32_t)(value[lane] * w->node);
    tess_gpu_shared_request(&cost, address, w->node, store);
    *(store ? &w->sum->shared_st_requests : &w->sum->shared_ld_requests) += cost.requests * w->times;
    *(store ? &w->sum->shared_st_wavefronts : &w->sum->shared_ld_wavefronts) += cost.wavefronts * w->times;
    *(store ? &w->sum->shared_st_conflicts : &w->sum->shared_ld_conflicts) += cost.conflicts * w->times;
}

static void barriers(walk *w, int count) { w->sum->barriers += (double)(count * WARPS) * w->times; }

/* Requests of single lanes, which need no rule. */
static void one_global(walk *w, bool store) { add_global(w, store, 1, 1); }
static void some_shared(walk *w, bool store, int requests) {
    *(store ? &w->sum->shared_st_requests : &w->sum->shared_ld_requests) += requests * w->times;
    *(store ? &w->sum->shared_st_wavefronts : &w->sum->shared_ld_wavefronts) += requests * w->times;
}

/* ---- in place ---- */

typedef enum meeting { NEIGHBOURS, PACKED, HALVES } meeting;

/* Value that thread t merges into in the round of a stride, or -1. */
static int64_t target(meeting how, int t, int stride, int64_t count) {
    int64_t at = how == NEIGHBOURS ? (t % (2 * stride) == 0 ? t : -1)
                 : how == PACKED   ? (2 * stride * t < BLOCK ? 2 * stride * t : -1)
                 : t < stride      ? t
                                   : -1;
    return at >= 0 && at + stride < count ? at : -1;
}

/* A merge of neighbours `stride` apart: both are loaded, one is stored. */
static void merge_round(walk *w, meeting how, int stride, int64_t count, bool in_shared) {
    for (int first = 0; first < BLOCK; first += 32) {
        int64_t to[32], from[32];
        for (int lane = 0; lane < 32; lane++) {
            to[lane] = target(how, first + lane, stride, count);
            from[lane] = to[lane] < 0 ? -1 : to[lane] + stride;
        }
        if (in_shared) {
            shared(w, from, false);
            shared(w, to, false);
            shared(w, to, true);
        } else {
            global(w, from, w->node, false);
            global(w, to, w->node, false);
            global(w, to, w->node, true);
        }
    }
}

/* tail_barriers: whether the last 64 values are halved with barriers. */
static void in_place_block(walk *w, meeting how, int unroll, bool tail_barriers, int64_t left) {
    int64_t count = tess_min64(left, BLOCK);
    for (int u = 1; u < unroll; u++)
        for (int first = 0; first < BLOCK; first += 32) {
            int64_t to[32], from[32];
            for (int lane = 0; lane < 32; lane++) {
                bool there = first + lane + u * BLOCK < left;
                to[lane] = there ? first + lane : -1;
                from[lane] = there ? first + lane + u * BLOCK : -1;
            }
            global(w, from, w->node, false);
            global(w, to, w->node, false);
            global(w, to, w->node, true);
        }
    for (int stride = 1; stride < BLOCK; stride *= 2)
        merge_round(w, how, stride, count, false);
    barriers(w, (unroll > 1) + (tail_barriers ? 8 : 2));
    one_global(w, false);
    one_global(w, true);
}

/* ---- beside: shared memory, shuffles ---- */

static void read_values(walk *w, int unroll, int64_t left, int size) {
    for (int u = 0; u < unroll; u++)
        for (int first = 0; first < BLOCK; first += 32) {
            int64_t value[32];
            for (int lane = 0; lane < 32; lane++)
                value[lane] = first + lane + u * BLOCK < left ? first + lane + u * BLOCK : -1;
            global(w, value, size, false);
        }
}

static void shared_block(walk *w, int unroll, int64_t left, int size) {
    read_values(w, unroll, left, size);
    for (int first = 0; first < BLOCK; first += 32) {
        int64_t value[32];
        for (int lane = 0; lane < 32; lane++)
            value[lane] = first + lane;
        shared(w, value, true);
    }
    for (int stride = 1; stride < BLOCK; stride *= 2)
        merge_round(w, HALVES, stride, BLOCK, true);
    some_shared(w, false, 1);
    barriers(w, 9);
    one_global(w, true);
}

/* block_merged() of gpu_ladder.cuh: a value a warp is stored, the first warp loads them. */
static void meet_by_shuffles(walk *w) {
    some_shared(w, true, WARPS);
    some_shared(w, false, 1);
    barriers(w, 1);
}

static void shuffle_block(walk *w, int unroll, int64_t left, int size) {
    read_values(w, unroll, left, size);
    meet_by_shuffles(w);
    one_global(w, true);
}

/* ---- launches ---- */

static bool begin(walk *w, const reduce_problem *p, tess_gpu_prediction *out) {
    bool counted = p->omit && (p->kind == REDUCE_SUM || p->kind == REDUCE_COUNT);
    if (p->kind == REDUCE_ARG || p->kind == REDUCE_VAR || counted)
        return false;
    *w = (walk){.sum = out, .times = 1, .element = (int)p->in.itemsize, .node = (int)tess_reduce_gpu_node_size(p)};
#define X(name) out->name = 0;
    TESS_GPU_PREDICTION_LIST(X)
#undef X
    if (p->operation == TESS_MEAN || p->operation == TESS_NORM2) /* computed in floats at the end */
        out->flops = -1;
    return true;
}

/* `finish` of gpu_ladder.cuh */
static void finish(walk *w) {
    one_global(w, false);
    one_global(w, true);
}

static double sectors_of(int64_t count, int size) { return (double)tess_ceil_div(count * size, 32); }

static void load(walk *w, int64_t n) {
    w->sum->global_ld_requests += (double)tess_ceil_div(n, 32);
    w->sum->global_st_requests += (double)tess_ceil_div(n, 32);
    w->sum->global_ld_sectors += sectors_of(n, w->element);
    w->sum->global_st_sectors += sectors_of(n, w->node);
}

static void in_place(const tess_problem *base, tess_gpu_prediction *out, meeting how, int unroll, bool tail_barriers) {
    const reduce_problem *p = (const reduce_problem *)base;
    int64_t stretch = (int64_t)BLOCK * unroll, n = p->k;
    walk w;
    if (!begin(&w, p, out))
        return;
    load(&w, n);
    do {
        w.times = (double)(n / stretch);
        in_place_block(&w, how, unroll, tail_barriers, stretch);
        w.times = 1;
        if (n % stretch)
            in_place_block(&w, how, unroll, tail_barriers, n % stretch);
        n = tess_ceil_div(n, stretch);
    } while (n > 1);
    finish(&w);
}

static void beside(const tess_problem *base, tess_gpu_prediction *out, void (*block)(walk *, int, int64_t, int), int unroll) {
    const reduce_problem *p = (const reduce_problem *)base;
    int64_t stretch = (int64_t)BLOCK * unroll, n = p->k;
    walk w;
    if (!begin(&w, p, out))
        return;
    int size = w.element;
    do {
        w.times = (double)(n / stretch);
        block(&w, unroll, stretch, size);
        w.times = 1;
        if (n % stretch)
            block(&w, unroll, n % stretch, size);
        n = tess_ceil_div(n, stretch);
        size = w.node;
    } while (n > 1);
    finish(&w);
}

/* Threads that walk n values by `threads`. One warp at most is cut: its first lanes take a turn more than the others. The compiler takes four turns at a
 * time and those left over singly, so lanes read together as long as they are in the same of these two loops. */
static void walk_values(walk *w, int64_t n, int64_t threads, int size) {
    int64_t whole = n / 32, cut = n % 32, turns = whole * 32 / threads + 1, others = turns - 1;
    w->sum->global_ld_requests += (double)(whole - (cut ? others : 0));
    w->sum->global_ld_sectors += (double)(whole - (cut ? others : 0)) * size;
    if (cut == 0)
        return;
    int64_t fours = turns / 4, other_fours = others / 4, together = 4 * other_fours + (fours == other_fours ? others % 4 : 0);
    int64_t first = tess_ceil_div(cut * size, 32), last = size - cut * size / 32; /* sectors that the two kinds of lanes touch */
    w->sum->global_ld_requests += (double)(4 * fours + tess_max64(turns % 4, others % 4));
    w->sum->global_ld_sectors += (double)(turns * first + others * last - together * (first + last - size));
}

static int64_t stays(const tess_gpu_prediction *out, int64_t n) { return tess_min64(tess_ceil_div(n, BLOCK), tess_reduce_gpu_resident(out->device)); }

void tess_reduce_predict_grid_stride(const tess_problem *base, tess_gpu_prediction *out) {
    const reduce_problem *p = (const reduce_problem *)base;
    walk w;
    if (!begin(&w, p, out))
        return;
    int64_t n = p->k, blocks = stays(out, n);
    int size = w.element;
    for (;;) {
        walk_values(&w, n, blocks * BLOCK, size);
        w.times = (double)blocks;
        meet_by_shuffles(&w);
        one_global(&w, true);
        w.times = 1;
        if (blocks == 1)
            break;
        n = blocks;
        blocks = 1;
        size = w.node;
    }
    finish(&w);
}

void tess_reduce_predict_single_pass(const tess_problem *base, tess_gpu_prediction *out) {
    const reduce_problem *p = (const reduce_problem *)base;
    walk w;
    if (!begin(&w, p, out))
        return;
    int64_t blocks = stays(out, p->k);
    walk_values(&w, p->k, blocks * BLOCK, w.element);
    w.times = (double)blocks;
    meet_by_shuffles(&w);
    one_global(&w, true);
    some_shared(&w, true, 1); /* whether it is the last: thread 0 tells all */
    barriers(&w, 1);
    some_shared(&w, false, WARPS);
    w.times = 1;
    walk_values(&w, blocks, BLOCK, w.node);
    meet_by_shuffles(&w);
    one_global(&w, true);
}

#define IN_PLACE(name, how, unroll, tail_barriers) \
    void tess_reduce_predict_##name(const tess_problem *base, tess_gpu_prediction *out) { in_place(base, out, how, unroll, tail_barriers); }
IN_PLACE(neighbored, NEIGHBOURS, 1, true)
IN_PLACE(neighbored_packed, PACKED, 1, true)
IN_PLACE(interleaved, HALVES, 1, true)
IN_PLACE(unroll2, HALVES, 2, true)
IN_PLACE(unroll4, HALVES, 4, true)
IN_PLACE(unroll8, HALVES, 8, true)
IN_PLACE(unroll8_warp, HALVES, 8, false)
IN_PLACE(complete_unroll, HALVES, 8, false)
IN_PLACE(template, HALVES, 8, false)
#define BESIDE(name, block, unroll) \
    void tess_reduce_predict_##name(const tess_problem *base, tess_gpu_prediction *out) { beside(base, out, block, unroll); }
BESIDE(shared, shared_block, 1)
BESIDE(shared_unroll8, shared_block, 8)
BESIDE(shuffle, shuffle_block, 8)
