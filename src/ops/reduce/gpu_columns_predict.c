/* SPDX-License-Identifier: Apache-2.0
 * gpu_columns_predict.c - what reduce/tree_columns will count: each row of each strip of columns is one request, wherever the rows that stand between them go in the tree.
 *
 * A strip lies as another one of its set, but for the last one, which may be narrower, and a set as another one that begins at the same place of a sector. Predicted for arrays that begin at a
 * sector. Warps' nodes meet in shared memory by vectors where the last rows are read at once; else one by one (a vector's are V apart, so V lanes want one bank), and what nodes of 16 bytes cost there is
 * the compiler's own: it keeps some fields in registers. Flops: none where no order matters; of sums and products an addition for each element and for each pair of a leaf's 256 lanes, there or not, and of
 * leaves; of sums of complex numbers two. Not where NaNs are left out, and where last rows are read at once: where they are not there the compiler adds or not as it likes. */
#include "ops/reduce/gpu_reduce.h"

typedef struct walk {
    tess_reduce_gpu_walk nodes;
    const reduce_problem *p;
    tess_reduce_gpu_columns_shape s;
    int64_t width, batches;
} walk;

/* Whole strips of a set and the last one: what is counted of a strip of so many columns. */
static void strips(const walk *w, double sets, void (*count)(const walk *w, int64_t columns, int64_t place), int64_t place) {
    const int64_t each = 32 * w->s.vector, whole = w->width / each, rest = w->width % each;
    walk some = *w;
    some.nodes.times = sets * (double)whole;
    if (whole > 0)
        count(&some, each, place);
    some.nodes.times = sets;
    if (rest > 0)
        count(&some, rest, place);
}

/* A strip's rows in all leaves. Those of the last leaf that come behind the loads on their way: two f32 are read there one after the other. */
static void rows(const walk *w, int64_t columns, int64_t place) {
    const reduce_problem *p = w->p;
    const int64_t bytes = columns * w->nodes.size, step = p->stride[0][0], turn = w->s.rows * 256;
    double requests = (double)p->k, sectors = tess_gpu_run_sectors(p->k, place, step, bytes);
    for (int64_t lane = 0; w->s.vector == 2 && p->in.type == tess_f32 && !w->s.at_once && lane < 64; lane++) {
        const int64_t leaf = (w->s.leaves - 1) * REDUCE_LEAF, n = p->k - leaf, first = (n + 63 - lane) / turn * turn + lane,
                      left = tess_ceil_div(tess_max64(0, n - first), 64);
        requests += (double)left;
        sectors += tess_gpu_run_sectors(left, place + (leaf + first) * step, 64 * step, bytes);
    }
    w->nodes.sum->global_ld_requests += w->nodes.times * requests;
    w->nodes.sum->global_ld_sectors += w->nodes.times * sectors;
}

/* Stores of each column of a vector, `step` bytes from one to the next, by words. */
static void stores(const walk *w, int64_t columns, int64_t place, int64_t step, int64_t size, int64_t words) {
    for (int64_t v = 0; v < w->s.vector; v++)
        for (int64_t word = 0; word < words; word++) {
            int64_t store[32];
            for (int lane = 0; lane < 32; lane++) {
                const int64_t column = lane * w->s.vector + v;
                store[lane] = column < columns ? TESS_REDUCE_GPU_ORIGIN + place + column * step + word * 8 : -1;
            }
            tess_gpu_count_global(w->nodes.sum, w->nodes.times, store, size / words, true);
        }
}

static void results(const walk *w, int64_t columns, int64_t place) {
    stores(w, columns, place, w->p->kept_stride[1][w->p->kept - 1], w->p->out.itemsize, 1);
}

static void partials(const walk *w, int64_t columns, int64_t place) { stores(w, columns, place, w->nodes.node, w->nodes.node, w->nodes.words); }

/* A block's warps halve their nodes in shared memory by vectors of up to 16 bytes: all but the first lay theirs down once, for another one to load. */
static void meetings_at_once(const walk *w, int64_t columns, int64_t place) {
    const int64_t all = w->nodes.node * w->s.vector, bytes = tess_gcd(all, 16);
    const double accesses = w->nodes.times * (w->s.warps - 1) * (double)(all / bytes);
    int64_t at[32];
    (void)place;
    for (int lane = 0; lane < 32; lane++)
        at[lane] = lane * w->s.vector < columns ? lane * bytes : -1;
    tess_gpu_count_shared(w->nodes.sum, accesses, at, bytes, true);
    tess_gpu_count_shared(w->nodes.sum, accesses, at, bytes, false);
}

/* The same, but node by node: each lays its own down, then one of a pair loads both and stores one, and the first loads the last once more. */
static void meetings(const walk *w, int64_t columns, int64_t place) {
    const int64_t node = w->nodes.node;
    const double accesses = w->nodes.times * (2 * w->s.warps - 1);
    int64_t at[32];
    (void)place;
    for (int64_t v = 0; v < w->s.vector; v++) {
        for (int lane = 0; lane < 32; lane++) {
            const int64_t column = lane * w->s.vector + v;
            at[lane] = column < columns ? column * node : -1;
        }
        tess_gpu_count_shared(w->nodes.sum, accesses, at, node, true);
        tess_gpu_count_shared(w->nodes.sum, accesses, at, node, false);
    }
}

/* A thread a column, whose leaves' nodes lie a set's width apart. */
static void finish(const walk *w) {
    const reduce_problem *p = w->p;
    const int64_t begin = TESS_REDUCE_GPU_ORIGIN + tess_reduce_gpu_below(p, 1);
    for (int64_t first = 0; first < p->outputs; first += 32) {
        int64_t at[32];
        for (int lane = 0; lane < 32; lane++)
            at[lane] = first + lane < p->outputs ? begin + tess_reduce_gpu_place(p->kept_size, p->kept_stride[1], p->kept, first + lane) : -1;
        tess_gpu_count_global(w->nodes.sum, 1, at, p->out.itemsize, true);
        for (tess_gpu_kind leaf = {0}; tess_gpu_next_kind(&leaf, w->s.leaves, 0, 0, 32);)
            for (int64_t word = 0; word < w->nodes.words; word++) {
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t output = first + lane, node = (output / w->width * w->s.leaves + leaf.at) * w->width + output % w->width;
                    at[lane] = output < p->outputs ? node * w->nodes.node + word * 8 : -1;
                }
                tess_gpu_count_global(w->nodes.sum, leaf.times, at, w->nodes.node / w->nodes.words, false);
            }
    }
}

static double flops(const walk *w) {
    const reduce_problem *p = w->p;
    const bool pairs = tess_is_complex(p->in.type);
    if (tess_reduce_gpu_any_order(p) || p->omit || w->s.at_once || (pairs && (p->kind == REDUCE_PROD || p->map != REDUCE_PLAIN)))
        return tess_reduce_gpu_predict_flops(p);
    const int64_t taken = p->k * (p->map == REDUCE_SQUARE ? 2 : 1), merged = w->s.leaves * (REDUCE_LANES - 1) + w->s.leaves - 1;
    return (double)p->outputs * (double)(taken + merged + (p->operation == TESS_MEAN || p->operation == TESS_NORM2)) * (pairs ? 2 : 1);
}

void tess_reduce_predict_columns(const tess_problem *base, tess_gpu_prediction *out) {
    const reduce_problem *p = (const reduce_problem *)base;
    const int last = p->kept - 1;
    walk w = {.p = p, .s = tess_reduce_gpu_columns_shape_of(p), .width = p->kept_size[last]};
    double begins[32];
    w.batches = w.width > 0 ? p->outputs / w.width : 0;
    tess_reduce_gpu_count_begin(&w.nodes, p, out);
    tess_reduce_gpu_places(p, 0, last, begins);
    for (int i = 0; i < 32; i++)
        if (begins[i] > 0)
            strips(&w, begins[i], rows, i);
    const int64_t blocks = w.batches * w.s.leaves;
    strips(&w, (double)blocks, w.s.at_once ? meetings_at_once : meetings, 0);
    if (w.s.leaves == 1) {
        tess_reduce_gpu_places(p, 1, last, begins);
        for (int i = 0; i < 32; i++)
            if (begins[i] > 0)
                strips(&w, begins[i], results, i);
    } else {
        const int64_t step = w.width * w.nodes.node;
        for (tess_gpu_kind leaf = {0}; tess_gpu_next_kind(&leaf, blocks, 0, 0, 32 / tess_gcd(32, step));)
            strips(&w, leaf.times, partials, leaf.at * step % 32);
        finish(&w);
    }
    for (int64_t warps = w.s.warps; warps > 1; warps /= 2)
        out->barriers += (double)(blocks * w.s.strips * w.s.warps);
    tess_reduce_gpu_count_end(&w.nodes, p, w.s.at_once || w.nodes.words == 1);
    out->flops = flops(&w);
    if (p->kept <= 3) /* the compiler reads sizes and steps of more axes at computed addresses */
        out->constant_requests = 0;
}
