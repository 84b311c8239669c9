/* SPDX-License-Identifier: Apache-2.0
 * gpu_separable_each.c - the production rows of lists that no other row takes, such as those along other axes than the finest: each mask by itself, along rows by tile1d, along any other axis
 * by strip2d, a launch a mask. The passes are problem->passes, the arrays between them those that the CPU has. */
#include "ops/correlate/gpu_fast_mask.h"

/* Pass number k; *line: it goes along rows. */
static bool each_of(tess_correlate_frame *f, bool *line, const tess_correlate_problem *p, int k, bool whole, const char **why) {
    const tess_correlate_pass *pass = &p->passes[k];
    *line = pass->masked == 0 || pass->axis[pass->row].width > 1;
    return tess_correlate_frame_of(f, p, pass, !*line, why) && (!whole || tess_correlate_frame_whole(f, why)) &&
           (*line ? tess_correlate_tile1d_carries(f, why) : tess_correlate_strip2d_carries(f, (int64_t)tess_type_size(p->work), why));
}

static bool takes(const tess_problem *base, bool whole, const char **why) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    int64_t all = 0;
    *why = "takes lists of at most 12 masks of few taps";
    if (p->fft || p->direct || p->passes_count > TESS_GPU_UNITS)
        return false;
    for (int k = 0; k < p->passes_count; k++) {
        tess_correlate_frame f;
        bool line;
        if (!each_of(&f, &line, p, k, whole, why))
            return false;
        all += tess_correlate_frame_parameters(&f, f.pass->taps) + 512;
    }
    return all <= TESS_GPU_ARENA;
}

/* Short rows leave most of a tile or a strip over, and `wide`, whose squares are narrower, is as quick: so many fifths of the columns that are computed have to be there, for masks of few
 * taps fewer (as counted). */
static bool pays(const tess_problem *base, bool whole, const char **why) {
    enum { FEW = 9, FIFTHS = 3, FIFTHS_OF_FEW = 2 };
    static const tess_gpu_device none;
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const char *other;
    *why = "many rows of few columns are better off by what takes each of their masks";
    if (tess_correlate_list_is_narrow(p) && tess_correlate_mixed_fits(base, &other))
        return false;
    for (int k = 0; k < p->passes_count; k++) {
        tess_correlate_frame f;
        bool line;
        each_of(&f, &line, p, k, whole, why); /* true, because `fits` was */
        const strip2d_shape s = tess_correlate_strip2d_of(&f, work_size(base), whole, &none);
        const int64_t tile = line ? tess_correlate_tile1d_of(&f, whole).along * TILE1D_EACH : s.threads * s.columns;
        *why = "short rows leave most of a strip over";
        if (5 * f.x.m < (f.pass->taps <= FEW ? FIFTHS_OF_FEW : FIFTHS) * up_to(f.x.m, tile))
            return false;
    }
    return true;
}

static void lay_as(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout, bool whole) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    int64_t between[2];
    tess_correlate_gpu_between(layout, p, p->passes_count, between);
    for (int k = 0; k < p->passes_count; k++) {
        const bool first = k == 0, last = k == p->passes_count - 1;
        const tess_correlate_ends ends = {first ? TESS_GPU_IN : TESS_GPU_WORKSPACE, last ? TESS_GPU_OUT : TESS_GPU_WORKSPACE,
                                          first ? 0 : between[(k - 1) & 1], last ? 0 : between[k & 1]};
        tess_correlate_frame f;
        const char *why;
        bool line;
        each_of(&f, &line, p, k, whole, &why); /* true, because `fits` was */
        if (line)
            tess_correlate_tile1d_lay(&f, p->work, whole, layout, &ends);
        else
            tess_correlate_strip2d_lay(&f, p->work, whole, device, layout, &ends);
    }
}

static void predict(const tess_problem *base, tess_gpu_prediction *out, bool whole) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const tess_gpu_prediction asked = *out;
    for (int k = 0; k < p->passes_count; k++) {
        tess_gpu_prediction one = asked;
        tess_correlate_frame f;
        const char *why;
        bool line;
        each_of(&f, &line, p, k, whole, &why); /* true, because `fits` was */
        if (line)
            tess_correlate_tile1d_predict(&f, p->work, whole, &one);
        else
            tess_correlate_strip2d_predict(&f, p->work, whole, &one);
        if (k == 0)
            *out = one;
        else
            tess_correlate_add_prediction(out, &one);
    }
}

static void predict_separable_each(const tess_problem *base, tess_gpu_prediction *out) { predict(base, out, true); }
static void predict_separable_each_odd(const tess_problem *base, tess_gpu_prediction *out) { predict(base, out, false); }
static void lay_separable_each(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    lay_as(base, device, layout, true);
}
static void lay_separable_each_odd(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    lay_as(base, device, layout, false);
}

ROW(separable_each, takes, true, .predict = predict_separable_each);
ROW(separable_each_odd, takes, false, .predict = predict_separable_each_odd);
bool tess_correlate_separable_each_pays(const tess_problem *base, const char **why) { return pays(base, true, why); }
bool tess_correlate_separable_each_odd_pays(const tess_problem *base, const char **why) { return pays(base, false, why); }
