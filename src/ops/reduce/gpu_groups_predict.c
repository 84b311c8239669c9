/* SPDX-License-Identifier: Apache-2.0
 * gpu_groups_predict.c - what reduce/tree_groups and reduce/tree_few will count: a warp's rounds, of as many outputs as it has groups or threads, are walked request by request.
 *
 * Outputs that are a period apart lie alike within their sectors: the slowest kept axis' steps of all outputs below it come to whole sectors there. Within a
 * period, rounds whose outputs follow one another along the fastest axis are as their first output lies, of input and output. So few rounds are walked, whatever the length.
 * Predicted for steps that are not negative and arrays that begin at a sector. Flops: none where no order matters; of sums where every lane has elements. What the
 * compiler makes of lanes without, of products with 1 and of NaNs that are left out is its own: a branch around an addition, or an addition whose result is not taken. */
#include "ops/reduce/gpu_reduce.h"

typedef struct walk {
    tess_gpu_prediction *sum;
    const reduce_problem *p;
    tess_reduce_gpu_shape s;
    int64_t rows, vector; /* outputs of a warp and of a thread; 0: a thread has a part of one */
} walk;

static int64_t in_of(const reduce_problem *p, int64_t output) { return tess_reduce_gpu_place(p->kept_size, p->kept_stride[0], p->kept, output); }
static int64_t out_of(const reduce_problem *p, int64_t output) { return tess_reduce_gpu_place(p->kept_size, p->kept_stride[1], p->kept, output); }

/* `times` rounds like that of `here` outputs from number `first` on. Threads without an output have the first of all where elements are counted in rounds or looked at twice. */
static void one_round(const walk *w, double times, int64_t first, int64_t here) {
    const reduce_problem *p = w->p;
    const tess_reduce_gpu_shape *s = &w->s;
    const bool all_read = p->kind == REDUCE_VAR || tess_reduce_gpu_rounds(p) > 1;
    int64_t from[32], to[32], thread[32];
    for (int lane = 0; lane < 32; lane++) {
        const int64_t row = s->turned ? lane % w->rows : lane / s->group;
        thread[lane] = s->turned ? lane / w->rows : lane % s->group;
        from[lane] = row < here ? in_of(p, first + row) : all_read ? 0 : -1;
        to[lane] = row < here && thread[lane] == 0 ? out_of(p, first + row) : -1;
    }
    for (int look = 0; look < (p->kind == REDUCE_VAR && p->k > REDUCE_LANES ? 2 : 1); look++)
        for (int64_t base = 0; base < p->k; base += REDUCE_LANES)
            for (int m = 0; m < s->each; m++) {
                int64_t load[32];
                for (int lane = 0; lane < 32; lane++) {
                    const int64_t number = base + m * s->group + thread[lane];
                    load[lane] = from[lane] >= 0 && number < p->k ? from[lane] + tess_reduce_gpu_place(p->size, p->stride[0], p->rank, number) : -1;
                }
                tess_gpu_count_global(w->sum, times, load, p->in.itemsize, false);
            }
    tess_gpu_count_global(w->sum, times, to, p->out.itemsize, true);
}

/* The same of tree_few, whose threads have all elements of some neighbours. */
static void few_round(const walk *w, double times, int64_t first, int64_t here) {
    const reduce_problem *p = w->p;
    int64_t from[32], load[32], to[32];
    for (int lane = 0; lane < 32; lane++)
        from[lane] = lane * w->vector < here ? in_of(p, first + lane * w->vector) : -1;
    for (int64_t i = 0; i < p->k; i++) {
        for (int lane = 0; lane < 32; lane++)
            load[lane] = from[lane] >= 0 ? from[lane] + i * p->stride[0][0] : -1;
        tess_gpu_count_global(w->sum, times, load, p->in.itemsize * w->vector, false);
    }
    const int64_t all = w->vector * p->out.itemsize, side = w->vector > 1 && p->kept_stride[1][p->kept - 1] == p->out.itemsize;
    for (int64_t v = -1; v < w->vector; v++) { /* results as a vector where they lie side by side, and one by one */
        for (int lane = 0; lane < 32; lane++) {
            const int64_t at = from[lane] >= 0 ? out_of(p, first + lane * w->vector) : -1, whole = side && at % all == 0;
            to[lane] = from[lane] < 0 || whole != (v < 0) ? -1 : v < 0 ? at : out_of(p, first + lane * w->vector + v);
        }
        tess_gpu_count_global(w->sum, times, to, v < 0 ? all : p->out.itemsize, true);
    }
}

static void count_round(const walk *w, double times, int64_t first, int64_t here) { (w->vector > 0 ? few_round : one_round)(w, times, first, here); }

/* An addition for each element, for each pair of a thread's lanes, and for each shuffle; of complex numbers two. What ends an output is a division or a root. */
static double flops(const walk *w) {
    const reduce_problem *p = w->p;
    const bool mean = p->operation == TESS_MEAN;
    if (tess_reduce_gpu_any_order(p) && !mean && p->operation != TESS_NORM2)
        return 0;
    const bool whole = p->k % tess_reduce_gpu_lanes(p->k) == 0 && p->outputs % w->rows == 0;
    if (p->kind != REDUCE_SUM || p->omit || p->map != REDUCE_PLAIN)
        return -1;
    if (tess_reduce_gpu_any_order(p))
        return (double)p->outputs;
    if (w->vector > 0) /* a lane begins with its element; the last addition is of +0 */
        return (tess_is_complex(p->in.type) ? 2 : 1) * (double)(p->outputs * (p->k + mean));
    if (!whole)
        return -1;
    int merges = w->s.each - 1;
    for (int across = w->s.group; across > 1; across /= 2)
        merges++;
    return (tess_is_complex(p->in.type) ? 2 : 1) * ((double)(p->outputs * (p->k + mean)) + (double)(p->outputs / w->rows * 32 * merges));
}

static bool rises(const int64_t *stride, int axes) {
    for (int d = 0; d < axes; d++)
        if (stride[d] < 0)
            return false;
    return true;
}

static void predict(const reduce_problem *p, tess_gpu_prediction *out, int64_t vector) {
    walk w = {.sum = out, .p = p, .vector = vector};
    if (!rises(p->stride[0], p->rank) || !rises(p->kept_stride[0], p->kept) || !rises(p->kept_stride[1], p->kept))
        return;
    if (p->kind == REDUCE_ARG && p->k == 1) /* the compiler knows the place of one element */
        return;
    tess_gpu_count_from_zero(out);
    if (p->rank > 1) /* the compiler reads sizes and steps of some axes at computed addresses */
        out->constant_requests = -1;
    tess_reduce_gpu_groups_shape(p, &w.s);
    w.rows = vector > 0 ? 32 * vector : 32 / w.s.group;
    out->flops = flops(&w);
    const int64_t rounds = p->outputs / w.rows, rest = p->outputs % w.rows, inner = p->kept > 0 ? p->kept_size[p->kept - 1] : 1;
    int64_t below = 1, period = rounds;
    for (int d = 1; d < p->kept; d++)
        below *= p->kept_size[d];
    if (p->kept > 0 && below > 0) {
        const int64_t alike = below * (32 / tess_gcd(32, tess_gcd(p->kept_stride[0][0], p->kept_stride[1][0])));
        period = alike / tess_gcd(alike, w.rows);
    }
    struct {
        int64_t first;
        double times;
    } kind[32][32] = {{{0, 0}}};
    for (int64_t i = 0; i < period && i < rounds; i++) {
        const int64_t first = i * w.rows;
        const double times = (double)((rounds - i + period - 1) / period);
        if (first % inner + w.rows > inner) {
            count_round(&w, times, first, w.rows);
        } else {
            const int64_t a = in_of(p, first) % 32, b = out_of(p, first) % 32;
            kind[a][b].first = first;
            kind[a][b].times += times;
        }
    }
    for (int a = 0; a < 32; a++)
        for (int b = 0; b < 32; b++)
            if (kind[a][b].times > 0)
                count_round(&w, kind[a][b].times, kind[a][b].first, w.rows);
    if (rest)
        count_round(&w, 1, rounds * w.rows, rest);
}

void tess_reduce_predict_groups(const tess_problem *base, tess_gpu_prediction *out) { predict((const reduce_problem *)base, out, 0); }

void tess_reduce_predict_few(const tess_problem *base, tess_gpu_prediction *out) {
    const reduce_problem *p = (const reduce_problem *)base;
    predict(p, out, tess_reduce_gpu_few_shape_of(p).vector);
}
