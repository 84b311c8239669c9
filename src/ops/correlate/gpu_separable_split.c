/* SPDX-License-Identifier: Apache-2.0
 * gpu_separable_split.c - the production rows of a list of three masks too long for one pass: the mask that stands at an end of the list and not along rows by
 * itself, as a strip; the other two as separable2d has them. Two launches, and an array between them.
 *
 * In one pass (separable3d) a block has as many outputs as there are registers for their sums, and with long masks these are few beside the rows that they
 * reach. */
#include <string.h>

#include "ops/correlate/gpu_fast.h"

typedef struct split {
    bool alone_first;   /* the list's first mask is the one by itself, or its last */
    tess_array between; /* in the work type */
    tess_correlate_pass pass;
    tess_correlate_frame frame; /* of the mask by itself */
} split;

static const tess_array *alone_in(const split *s, const tess_correlate_problem *p) { return s->alone_first ? &p->in : &s->between; }
static const tess_array *alone_out(const split *s, const tess_correlate_problem *p) { return s->alone_first ? &s->between : &p->out; }
static const tess_array *pair_in(const split *s, const tess_correlate_problem *p) { return s->alone_first ? &s->between : &p->in; }
static const tess_array *pair_out(const split *s, const tess_correlate_problem *p) { return s->alone_first ? &p->out : &s->between; }

/* Axes in the order of the output's, the finest ones the colours of a pixel, if there are any, and x; rows are whole vectors. */
static bool lay_between(split *s, const tess_correlate_problem *p, int x, int colours) {
    int order[TESS_MAX_NDIM];
    int64_t size = (int64_t)tess_type_size(p->work), step = size;
    tess_array *a = &s->between;
    *a = p->out;
    a->type = p->work;
    a->itemsize = size;
    const int last = p->masks[2].axes[0];
    if (s->alone_first) { /* all but the first mask's axis as they came in */
        for (int d = 0; d < p->in.ndim; d++)
            a->shape[d] = d == p->masks[0].axes[0] ? p->out.shape[d] : p->in.shape[d];
    } else {
        a->shape[last] = p->in.shape[last];
    }
    tess_array_walk_order(order, a->ndim, p->out.stride);
    a->count = 1;
    for (int k = a->ndim + 1; k >= 0; k--) { /* those, then the others, finest first */
        const int d = k > a->ndim ? colours : k == a->ndim ? x : order[k];
        if (d < 0 || (k < a->ndim && (d == x || d == colours)))
            continue;
        a->stride[d] = step;
        if (TESS_MUL_OVERFLOWS(a->count, a->shape[d], &a->count) ||
            TESS_MUL_OVERFLOWS(step, d == x ? tess_ceil_div(a->shape[d], 16) * 16 : a->shape[d], &step))
            return false;
    }
    return a->count > 0;
}

static bool split_of(split *s, const tess_problem *base, bool whole, const char **why) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    *why = "takes a list of three masks along three axes, one of them along rows without gaps";
    if (p->fft || p->direct || p->count != 3 || p->passes_count != 3)
        return false;
    int colours;
    const int x = tess_correlate_gpu_row(p->masks, 3, &p->in, &p->out, &colours), first = p->masks[0].axes[0], last = p->masks[2].axes[0];
    memset(s, 0, sizeof *s);
    s->alone_first = first != x;
    const int k = s->alone_first ? 0 : 2, axis = p->masks[k].axes[0];
    if (x < 0 || first == last || p->masks[1].axes[0] == axis || !lay_between(s, p, x, colours))
        return false;
    const tess_array *in = alone_in(s, p), *out = alone_out(s, p);
    s->pass = (tess_correlate_pass){.masked = 1,
                                    .order = {tess_correlate_gpu_axis(axis, colours)},
                                    .taps = p->passes[k].taps,
                                    .size = p->passes[k].size,
                                    .weights = p->passes[k].weights};
    tess_correlate_gpu_axes(&s->pass, in, out, x, colours);
    s->pass.axis[s->pass.order[0]].width = p->masks[k].shape[0];
    s->pass.axis[s->pass.order[0]].before = p->masks[k].before[0];
    return tess_correlate_frame_of(&s->frame, p, &s->pass, 1, why) && (!whole || tess_correlate_frame_whole(&s->frame, why)) &&
           tess_correlate_strip2d_carries(&s->frame, (int64_t)tess_type_size(p->work), why) &&
           tess_correlate_separable2d_carries(p, s->alone_first ? 1 : 0, pair_in(s, p), pair_out(s, p), whole, why);
}

static void lay_as(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout, bool whole) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const char *why;
    split s;
    split_of(&s, base, whole, &why); /* true, because `fits` was */
    int64_t low, high;
    tess_array_extent(&s.between, &low, &high);
    const int64_t at = tess_gpu_reserve(layout, high);
    const tess_correlate_ends one = {TESS_GPU_IN, TESS_GPU_WORKSPACE, 0, at}, two = {TESS_GPU_WORKSPACE, TESS_GPU_OUT, at, 0};
    if (s.alone_first)
        tess_correlate_strip2d_lay(&s.frame, p->work, whole, device, layout, &one);
    tess_correlate_separable2d_lay(p, s.alone_first ? 1 : 0, pair_in(&s, p), pair_out(&s, p), whole, device, layout, s.alone_first ? &two : &one);
    if (!s.alone_first)
        tess_correlate_strip2d_lay(&s.frame, p->work, whole, device, layout, &two);
}

/* Both launches. */
static void predict(const tess_problem *base, tess_gpu_prediction *out, bool whole) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const char *why;
    split s;
    split_of(&s, base, whole, &why); /* true, because `fits` was */
    tess_gpu_prediction pair = *out;
    tess_correlate_strip2d_predict(&s.frame, p->work, whole, out);
    tess_correlate_separable2d_predict(p, s.alone_first ? 1 : 0, pair_in(&s, p), pair_out(&s, p), whole, &pair);
    tess_correlate_add_prediction(out, &pair);
}

static void predict_separable_split(const tess_problem *base, tess_gpu_prediction *out) { predict(base, out, true); }
static void predict_separable_split_odd(const tess_problem *base, tess_gpu_prediction *out) { predict(base, out, false); }
static void lay_separable_split(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    lay_as(base, device, layout, true);
}
static void lay_separable_split_odd(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    lay_as(base, device, layout, false);
}

static bool takes(const tess_problem *base, bool whole, const char **why) {
    split s;
    return split_of(&s, base, whole, why);
}

#define ROW(name, whole)                                                                                              \
    bool tess_correlate_##name##_fits(const tess_problem *base, const char **why) { return takes(base, whole, why); } \
    const tess_gpu_row tess_correlate_##name = {                                                                      \
        .headers = tess_correlate_frame_headers, .production = true, .least_arch = 80, .lay_out = lay_##name, .predict = predict_##name}
ROW(separable_split, true);
ROW(separable_split_odd, false);

static bool pays(const tess_problem *base, bool whole, const char **why) {
    split s;
    return split_of(&s, base, whole, why) && tess_correlate_strips_pay(&s.frame, base, whole, why);
}
bool tess_correlate_separable_split_pays(const tess_problem *base, const char **why) { return pays(base, true, why); }
bool tess_correlate_separable_split_odd_pays(const tess_problem *base, const char **why) { return pays(base, false, why); }
