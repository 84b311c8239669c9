/* SPDX-License-Identifier: Apache-2.0
 * gpu_rows_predict.c - what reduce/tree_rows, tree_block and tree_lanes will count: a warp's run, or a leaf, is walked for each place within a sector at which outputs begin.
 *
 * Predicted for arrays that begin at a sector. Nodes of 16 bytes are copied as two words; what goes through shared memory is not predicted of places, where it depends on the elements, nor where leaves
 * of such nodes meet in it. Flops: none where no order matters; lanes without elements are the compiler's own. */
#include <stdlib.h>

#include "ops/reduce/gpu_reduce.h"

typedef tess_reduce_gpu_walk walk;

/* ---- gpu_tree_block.cu ---- */

void tess_reduce_predict_block(const tess_problem *base, tess_gpu_prediction *out) {
    const reduce_problem *p = (const reduce_problem *)base;
    const int64_t leaves = tess_ceil_div(p->k, REDUCE_LEAF);
    int64_t at[32];
    walk w;
    tess_reduce_gpu_count_begin(&w, p, out);
    tess_reduce_gpu_count_neighbours(&w, TESS_REDUCE_GPU_ORIGIN, p->k, w.size);
    tess_reduce_gpu_count_singles_stored(&w, 1);
    out->barriers = (double)(leaves * 256 / 32);
    w.times = (double)leaves;
    for (int64_t word = 0; word < w.words; word++) { /* each warp's lanes are laid down, and read by the first warp */
        for (int lane = 0; lane < 32; lane++)
            at[lane] = lane * w.node + word * 8;
        tess_gpu_count_shared(out, w.times * 256 / 32, at, w.node / w.words, true);
        tess_gpu_count_shared(out, w.times * 256 / 32, at, w.node / w.words, false);
    }
    if (leaves > 1) {
        tess_reduce_gpu_count_singles_stored(&w, (double)w.words);
        w.times = 1;
        tess_reduce_gpu_count_paired(&w, 32, leaves);
    }
    tess_reduce_gpu_count_end(
        &w, p, w.words == 1 || (p->kind != REDUCE_ARG && p->acc != tess_f32)); /* of a value of 4 bytes the compiler loads some alone */
}

/* ---- gpu_tree_rows.cu ---- */

/* run_of(): vectors of 16 bytes wherever the run begins; what lies before the first and behind the last one comes in one load. */
static void any_order_run(const walk *w, int64_t from, int64_t n) {
    const int64_t per = 16 / w->size, head = tess_min64(n, (16 - from % 16) % 16 / w->size), vectors = (n - head) / per,
                  behind = head + vectors * per;
    int64_t edge[32];
    for (int lane = 0; lane < 32; lane++) {
        const int64_t element = lane < 16 ? lane : behind + lane - 16;
        edge[lane] = (lane < 16 ? lane < head : element < n) ? from + element * w->size : -1;
    }
    tess_gpu_count_global(w->sum, w->times, edge, w->size, false);
    tess_reduce_gpu_count_neighbours(w, from + head * w->size, vectors, 16);
}

/* leaf() of gpu_run_leaf.cuh where vectors are cut where memory is. */
static void shifted_leaf(const walk *w, int64_t from, int64_t n) {
    const int64_t e = 8, m = from % (e * w->size) / w->size, behind = (n + m) / e;
    int64_t edge[32];
    for (int lane = 0; lane < 32; lane++) {
        const int64_t element = lane < e ? lane - m : behind * e - m + lane - e;
        const bool there = lane < e ? m > 0 && element >= 0 && element < n : lane < 2 * e && element < n && (behind > 0 || m == 0);
        edge[lane] = there ? from + element * w->size : -1;
    }
    tess_gpu_count_global(w->sum, w->times, edge, w->size, false);
    for (tess_gpu_kind row = {0}; tess_gpu_next_kind(&row, tess_ceil_div(behind, 32), 1, 1, 1);) {
        int64_t load[32];
        for (int lane = 0; lane < 32; lane++) {
            const int64_t first = (row.at * 32 + lane) * e - m;
            load[lane] = first >= 0 && first + e <= n ? from + first * w->size : -1;
        }
        tess_gpu_count_global(w->sum, w->times * row.times, load, e * w->size, false);
    }
}

/* The same of vectors of e elements; behind the last whole row of 256, or the last whole vector, elements one by one. */
static void leaf(const walk *w, int64_t from, int64_t n, int64_t e, bool whole) {
    const int64_t vectors = whole ? n / e : n / 256 * (256 / e), done = vectors * e;
    tess_reduce_gpu_count_neighbours(w, from, vectors, e * w->size);
    if (whole)
        for (int64_t i = done; i < n; i++)
            tess_reduce_gpu_count_neighbours(w, from + i * w->size, 1, w->size);
    else
        for (int64_t k = 0; k < 8 / e; k++)
            for (int64_t j = 0; j < e; j++) {
                int64_t load[32];
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t i = done + (k * 32 + lane) * e + j;
                    load[lane] = i < n ? from + i * w->size : -1;
                }
                tess_gpu_count_global(w->sum, w->times, load, w->size, false);
            }
}

/* Elements of an output along several axes, by requests of 32 vectors in the order of their numbers, whichever warps make them. They lie alike again where the slowest axis has gone on by whole sectors and a request begins; false where
 * that is too far. */
static bool runs_apart(const walk *w, const tess_reduce_gpu_rows_shape *s, const reduce_problem *p, int64_t from) {
    enum { MOST = 1 << 15 };
    const int64_t e = s->run ? 16 / w->size : s->vector, per = 32 * e, whole = p->k / per;
    int64_t block = 32 / tess_gcd(32, llabs(p->stride[0][0])), load[32];
    for (int d = 1; d < p->rank; d++)
        block *= p->size[d];
    const int64_t period = block / tess_gcd(block, per);
    if (tess_min64(period, whole) > MOST)
        return false;
    for (int64_t n = 0; n <= tess_min64(period, whole); n++) {
        const int64_t i = n < tess_min64(period, whole) ? n : whole; /* the last one, which is not whole */
        const double times = i < whole ? (double)((whole - i + period - 1) / period) : p->k % per > 0;
        for (int lane = 0; lane < 32; lane++) {
            const int64_t number = i * per + lane * e;
            load[lane] = number < p->k ? from + tess_reduce_gpu_place(p->size, p->stride[0], p->rank, number) : -1;
        }
        tess_gpu_count_global(w->sum, w->times * times, load, e * w->size, false);
    }
    return true;
}

/* A warp's elements. */
static void run(const walk *w, const tess_reduce_gpu_rows_shape *s, int64_t from, int64_t n) {
    if (s->run) {
        any_order_run(w, from, n);
        return;
    }
    for (; n > 0; n -= REDUCE_LEAF, from += REDUCE_LEAF * w->size) {
        const int64_t here = tess_min64(n, REDUCE_LEAF);
        if (s->shifted)
            shifted_leaf(w, from, here);
        else
            leaf(w, from, here, s->vector, s->whole);
    }
}

/* `count` nodes of a block meet, of one output: two loads and a store for each pair, then the last one is put down. */
static void meet(const walk *w, int64_t count) { tess_reduce_gpu_count_singles_shared(w, (double)(2 * (count - 1) + 1), (double)(2 * count - 1)); }

void tess_reduce_predict_rows(const tess_problem *base, tess_gpu_prediction *out) {
    const reduce_problem *p = (const reduce_problem *)base;
    const tess_reduce_gpu_rows_shape s = tess_reduce_gpu_rows_shape_of(p);
    const int64_t each = s.each * REDUCE_LEAF, runs = p->k / each, rest = p->k % each, nodes = runs + (rest > 0),
                  blocks = s.slots == s.warps ? p->outputs * s.groups : tess_ceil_div(p->outputs, s.warps / s.slots);
    const double outputs = (double)p->outputs;
    double begins[32];
    walk w;
    tess_reduce_gpu_count_begin(&w, p, out);
    tess_reduce_gpu_places(p, 0, p->kept, begins);
    bool known = true;
    for (int i = 0; i < 32; i++) {
        w.times = begins[i];
        if (s.apart) {
            known = known && !s.anywhere && (w.times == 0 || runs_apart(&w, &s, p, TESS_REDUCE_GPU_ORIGIN + i));
            continue;
        }
        w.times = begins[i] * (double)runs;
        if (w.times > 0)
            run(&w, &s, TESS_REDUCE_GPU_ORIGIN + i, each);
        w.times = begins[i];
        if (w.times > 0)
            run(&w, &s, TESS_REDUCE_GPU_ORIGIN + i, rest);
    }
    w.times = outputs * (double)(nodes / s.slots);
    meet(&w, s.slots);
    w.times = outputs * (nodes % s.slots > 0);
    if (w.times > 0)
        meet(&w, nodes % s.slots);
    w.times = outputs * (double)s.groups; /* to the workspace, or the result */
    tess_reduce_gpu_count_singles_stored(&w, s.groups > 1 ? (double)w.words : 1);
    out->barriers = (double)(blocks * s.warps);
    if (s.ticket) { /* whether the block is the last one is told to all */
        w.times = (double)blocks;
        tess_reduce_gpu_count_singles_shared(&w, s.warps, 1);
        out->barriers += (double)(blocks * s.warps);
        w.times = 1;
        tess_reduce_gpu_count_paired(&w, s.warps * 32, s.groups);
        tess_reduce_gpu_count_singles_stored(&w, 1);
    } else if (s.groups > 1) {
        w.times = outputs;
        tess_reduce_gpu_count_finish(&w, s.groups);
    }
    tess_reduce_gpu_count_end(&w, p, w.words == 1);
    if (!known)
        out->global_ld_requests = out->global_ld_sectors = -1;
}

/* ---- gpu_tree_lanes.cu ---- */

/* A leaf of n elements of which the first lies at byte `from`: each thread takes its lane's, some turns at a time. */
static void strided_leaf(const walk *w, int64_t from, int64_t n, int64_t step, bool before) {
    for (int64_t thread = 0; thread < 256; thread += 32)
        for (int left = 0; left < 2; left++)
            for (int64_t j = 0; j * 256 < n; j++) {
                int64_t load[32];
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t over = n - thread - lane, turn = tess_gpu_turn_of(over > 0 ? tess_ceil_div(over, 256) : 0, 4, before, left, j);
                    load[lane] = turn < 0 ? -1 : from + (thread + lane + turn * 256) * step;
                }
                tess_gpu_count_global(w->sum, w->times, load, w->size, false);
            }
}

/* What the first thread does with its stack of so many nodes: what comes is at hand where it meets others, and in the end four are folded at a time, of which the sum is. */
static void pair_in_turn(const walk *w, int64_t leaves) {
    int64_t left = 0;
    for (int64_t i = leaves; i > 0; i /= 2)
        left += i % 2;
    const int64_t folds = left - 1;
    tess_reduce_gpu_count_singles_shared(w, (double)(leaves - left + folds % 4 * 2 + folds / 4 * 5 + 1), (double)(2 * leaves - 1));
}

/* Predicted for elements along one axis, and no segments. */
void tess_reduce_predict_lanes(const tess_problem *base, tess_gpu_prediction *out) {
    const reduce_problem *p = (const reduce_problem *)base;
    const int64_t leaves = tess_ceil_div(p->k, REDUCE_LEAF), rest = p->k - (leaves - 1) * REDUCE_LEAF;
    const bool before = !tess_reduce_gpu_any_order(p) && !(p->omit && p->kind == REDUCE_SUM); /* where the turns left over go */
    const double outputs = (double)p->outputs;
    double begins[32];
    int64_t at[32];
    walk w;
    if (p->rank != 1 || p->offsets || p->k == 0 || p->kind == REDUCE_VAR || tess_is_complex(p->in.type))
        return;
    tess_reduce_gpu_count_begin(&w, p, out);
    tess_reduce_gpu_places(p, 0, p->kept, begins);
    for (int i = 0; i < 32; i++) {
        w.times = begins[i] * (double)(leaves - 1);
        if (w.times > 0)
            strided_leaf(&w, TESS_REDUCE_GPU_ORIGIN + i, REDUCE_LEAF, p->stride[0][0], before);
        w.times = begins[i];
        if (w.times > 0)
            strided_leaf(&w, TESS_REDUCE_GPU_ORIGIN + i, rest, p->stride[0][0], before);
    }
    w.times = outputs;
    tess_reduce_gpu_count_singles_stored(&w, 1);
    out->barriers = 2 * outputs * (double)(leaves * 256 / 32);
    w.times = outputs * (double)leaves;
    for (int lane = 0; lane < 32; lane++)
        at[lane] = lane * w.node;
    tess_gpu_count_shared(out, w.times * 256 / 32, at, w.node, true);
    tess_gpu_count_shared(out, w.times * 256 / 32, at, w.node, false);
    w.times = outputs;
    pair_in_turn(&w, leaves);
    tess_reduce_gpu_count_end(&w, p, w.words == 1);
}
