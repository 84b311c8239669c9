/* SPDX-License-Identifier: Apache-2.0
 * gpu_groups_predict.c - what reduce/tree_groups will count: a warp's rounds, of as many outputs as it has groups, are walked request by request.
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
    int64_t rows;
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

void tess_reduce_predict_groups(const tess_problem *base, tess_gpu_prediction *out) {
    const reduce_problem *p = (const reduce_problem *)base;
    walk w = {.sum = out, .p = p};
    if (!rises(p->stride[0], p->rank) || !rises(p->kept_stride[0], p->kept) || !rises(p->kept_stride[1], p->kept))
        return;
    if (p->kind == REDUCE_ARG && p->k == 1) /* the compiler knows the place of one element */
        return;
    tess_gpu_count_from_zero(out);
    if (p->rank > 1) /* the compiler reads sizes and steps of some axes at computed addresses */
        out->constant_requests = -1;
    tess_reduce_gpu_groups_shape(p, &w.s);
    w.rows = 32 / w.s.group;
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
            one_round(&w, times, first, w.rows);
        } else {
            const int64_t a = in_of(p, first) % 32, b = out_of(p, first) % 32;
            kind[a][b].first = first;
            kind[a][b].times += times;
        }
    }
    for (int a = 0; a < 32; a++)
        for (int b = 0; b < 32; b++)
            if (kind[a][b].times > 0)
                one_round(&w, kind[a][b].times, kind[a][b].first, w.rows);
    if (rest)
        one_round(&w, 1, rounds * w.rows, rest);
}
