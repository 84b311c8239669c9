/* SPDX-License-Identifier: Apache-2.0
 * gpu_leaves_predict.c - what reduce/tree_leaves will count: 32 elements of a leaf are one request, of moments of small neighbours 32 words, all of which begin at the same place of a sector.
 *
 * Predicted for arrays that begin at a sector; of elements along several axes requests alone. What goes through shared memory is predicted of nodes of one word, of moments, but for
 * integers of 16 bits and less, whose first look has sums of its own. Flops: none where no order matters; of plain sums of one leaf that is whole rounds of loads, for what the compiler makes of lanes without elements is its own. */
#include "ops/reduce/gpu_reduce.h"

typedef tess_reduce_gpu_walk walk;

/* `count` elements of `size` bytes from byte `at` on, `step` bytes apart, 32 at a time. */
static void strided(const walk *w, int64_t at, int64_t count, int64_t step, int64_t size) {
    const double times[2] = {(double)(count / 32), count % 32 > 0};
    for (int cut = 0; cut < 2; cut++) {
        int64_t load[32];
        for (int lane = 0; lane < 32; lane++)
            load[lane] = !cut || lane < count % 32 ? at + lane * step : -1;
        if (times[cut] > 0)
            tess_gpu_count_global(w->sum, w->times * times[cut], load, size, false);
    }
}

/* Words of 4 bytes, cut where memory is: the whole ones, and the elements of those at the ends that are not. */
static void words(const walk *w, int64_t from, int64_t n) {
    const int64_t word = 4 / w->size, before = from % 4 / w->size, begin = from - from % 4, whole = (n + before) / word,
                  tails = whole > 0 || before == 0 ? (n + before) % word : 0, single = before > 0 ? tess_min64(n + before, word) - before : 0;
    int64_t first[32];
    for (int lane = 0; lane < 32; lane++)
        first[lane] = (lane > 0 || before == 0) && lane < whole ? begin + 4 * lane : -1;
    tess_gpu_count_global(w->sum, w->times, first, 4, false);
    if (whole > 32)
        strided(w, begin + 128, whole - 32, 4, 4);
    w->sum->global_ld_requests += w->times * (double)(single + tails);
    w->sum->global_ld_sectors += w->times * (double)(single + tails);
}

/* The lanes of a leaf meet in shared memory: each warp lays its own down, and the first one reads those of all. */
static void lanes_met(const walk *w) {
    int64_t at[32];
    for (int lane = 0; lane < 32; lane++)
        at[lane] = lane * w->node;
    tess_gpu_count_shared(w->sum, w->times * REDUCE_LANES / 32, at, w->node, true);
    tess_gpu_count_shared(w->sum, w->times * REDUCE_LANES / 32, at, w->node, false);
}

/* Words of 8 bytes, of which arrays begin at one: of a leaf that is not whole twice, and the elements behind them one by one. */
static void wide_words(const walk *w, int64_t from, int64_t n) {
    const int64_t word = 8 / w->size, tails = n % word;
    const double looks = n == REDUCE_LEAF ? 1 : 2;
    walk all = *w;
    all.times *= looks;
    strided(&all, from, n / word, 8, 8);
    w->sum->global_ld_requests += all.times * (double)tails;
    w->sum->global_ld_sectors += all.times * (double)tails;
}

/* The same of moments, twice, and all warps read those of all, of less than 8 bytes what the second look has left the first one alone. `each` lanes of a thread; omit: the warps' numbers of elements that are no
 * NaN, too, which the first look alone reads. */
static void looked(const walk *w, int64_t each, bool omit) {
    const int64_t warps = REDUCE_LANES / each / 32;
    int64_t lay[32], read[32];
    for (int lane = 0; lane < 32; lane++)
        read[lane] = lane * 8;
    for (int64_t j = 0; j < each; j++) {
        for (int lane = 0; lane < 32; lane++)
            lay[lane] = (lane * each + j) * 8;
        tess_gpu_count_shared(w->sum, 2 * w->times * (double)warps, lay, 8, true);
    }
    tess_gpu_count_shared(w->sum, (double)(w->size < 8 ? warps + 1 : 2 * warps) * w->times * REDUCE_LANES / 32, read, 8, false);
    if (omit)
        tess_reduce_gpu_count_singles_shared(w, (double)(warps * warps), (double)(2 * warps));
}

void tess_reduce_predict_leaves(const tess_problem *base, tess_gpu_prediction *out) {
    const reduce_problem *p = (const reduce_problem *)base;
    const int64_t leaves = tess_max64(1, tess_ceil_div(p->k, REDUCE_LEAF)), rest = p->k - (leaves - 1) * REDUCE_LEAF, step = p->stride[0][0];
    const bool moments = p->kind == REDUCE_VAR, by_words = tess_reduce_gpu_leaf_words(p), wide = tess_reduce_gpu_leaf_wide(p);
    const int64_t threads = (by_words ? tess_reduce_gpu_leaf_threads(p) : REDUCE_LANES) / (wide ? 2 : 1);
    double begins[32];
    walk w;
    if (p->records)
        return;
    tess_reduce_gpu_count_begin(&w, p, out);
    tess_reduce_gpu_places(p, 0, p->kept, begins);
    for (int i = 0; i < 32; i++)
        for (int last = 0; last < 2; last++) {
            w.times = begins[i] * (double)(last ? 1 : leaves - 1);
            if (w.times > 0 && wide)
                wide_words(&w, TESS_REDUCE_GPU_ORIGIN + i, last ? rest : REDUCE_LEAF);
            else if (w.times > 0 && by_words)
                words(&w, TESS_REDUCE_GPU_ORIGIN + i, last ? rest : REDUCE_LEAF);
            else if (w.times > 0)
                strided(&w, TESS_REDUCE_GPU_ORIGIN + i, last ? rest : REDUCE_LEAF, step, w.size);
        }
    w.times = (double)(p->outputs * leaves);
    if (moments)
        looked(&w, REDUCE_LANES / threads, p->omit);
    else
        lanes_met(&w);
    out->barriers = w.times * (double)(threads / 32 * (moments ? 2 : 1));
    tess_reduce_gpu_count_singles_stored(&w, leaves > 1 ? (double)w.words : 1);
    if (leaves > 1)
        tess_reduce_gpu_count_leaves(&w, p->outputs, leaves);
    tess_reduce_gpu_count_end(&w, p, moments ? tess_is_float(p->in.type) || p->in.itemsize > 2 : w.words == 1);
    if (!tess_reduce_gpu_any_order(p) && p->kind == REDUCE_SUM && !p->omit && p->map == REDUCE_PLAIN && leaves == 1 && p->k % 1024 == 0)
        out->flops = (double)p->outputs * (double)(p->k + 12 * 32 + (p->operation == TESS_MEAN)) * (tess_is_complex(p->in.type) ? 2 : 1);
    if (p->rank > 1)
        out->global_ld_sectors = -1;
    if (p->rank == 1 && p->kept <= 1) /* the compiler reads sizes and steps of more axes at computed addresses */
        out->constant_requests = 0;
}
