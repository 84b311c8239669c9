/* SPDX-License-Identifier: Apache-2.0
 * gpu_point_slices.c - the row lookup/point_slices: slices without gaps at coordinates, lanes along the slice; its launch, and what it counts. */
#include "ops/lookup/gpu_lookup.h"

LOOKUP_KERNEL_TEXT(gpu_point_slices);

enum {
    THREADS = 128,
    TURNS = 16 /* vectors of a lane at most */,
    FEW = 4 /* that pay for a place, where slices are short */,
    LEAST = 4 /* elements of a slice */
};

typedef struct shape {
    int64_t v, per, lanes; /* elements of a vector, vectors of a slice, lanes of a point */
    int64_t pieces, piece; /* of a slice, and vectors of each */
} shape;

static shape shape_of(const lookup_problem *p) {
    const int64_t from = tess_lookup_from_size(p), to = p->size;
    const int64_t steps_from = p->step | tess_lookup_stride(&p->outer, LOOKUP_FROM),
                  steps_to = tess_lookup_stride(&p->at, LOOKUP_OUT) | tess_lookup_stride(&p->outer, LOOKUP_OUT);
    shape s = {.v = 16 / tess_max64(from, to), .lanes = 2};
    while (s.v > 1 && (p->inner.count % s.v != 0 || steps_from % (s.v * from) != 0 || steps_to % (s.v * to) != 0))
        s.v /= 2;
    s.per = p->inner.count / s.v;
    while (s.lanes < 32 && s.lanes * FEW < s.per)
        s.lanes *= 2;
    s.pieces = tess_ceil_div(s.per, s.lanes * TURNS);
    s.piece = tess_ceil_div(tess_ceil_div(s.per, s.pieces), s.lanes) * s.lanes;
    s.pieces = tess_ceil_div(s.per, s.piece);
    return s;
}

static int64_t jobs_of(const lookup_problem *p, const shape *s) { return p->outer.count * p->at.count * s->pieces; }

bool tess_lookup_gpu_point_slices_fit(const tess_problem *base, const char **why) {
    const lookup_problem *p = (const lookup_problem *)base;
    const lookup_axes *inner = &p->inner;
    if (!tess_lookup_gpu_points_fit(base, why) || !tess_lookup_something_to_do(p, why))
        return false;
    *why = "needs slices of at least 4 elements without gaps, and at most one axis before the table's and one of coordinates";
    if (inner->ndim != 1 || inner->count < LEAST || inner->stride[LOOKUP_FROM][0] != tess_lookup_from_size(p) ||
        inner->stride[LOOKUP_OUT][0] != p->size)
        return false;
    return p->outer.ndim <= 1 && p->at.ndim <= 1;
}

static void lay_point_slices(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const lookup_problem *p = (const lookup_problem *)base;
    const shape s = shape_of(p);
    const int64_t jobs = jobs_of(p, &s);
    const int64_t slices[] = {p->n,
                              p->step,
                              jobs,
                              p->at.count,
                              s.pieces,
                              s.piece,
                              s.per,
                              tess_lookup_stride(&p->outer, LOOKUP_FROM),
                              tess_lookup_stride(&p->outer, LOOKUP_OUT),
                              tess_lookup_stride(&p->at, LOOKUP_FROM),
                              tess_lookup_stride(&p->at, LOOKUP_OUT)};
    (void)device;
    tess_lookup_gpu_begin_points(layout, p, &gpu_point_slices);
    tess_gpu_option(layout, "-DPARTS=%d", p->parts);
    tess_gpu_option(layout, "-DV=%d", (int)s.v);
    tess_gpu_option(layout, "-DLANES=%d", (int)s.lanes);
    tess_gpu_option(layout, "-DLINES=%d", p->outer.ndim);
    tess_gpu_option(layout, "-DNARROW=%d", p->outer.count * p->at.count <= INT32_MAX);
    tess_gpu_step *step = tess_gpu_launch_of(layout, "point_slices", tess_ceil_div(jobs, THREADS / s.lanes), 1, 1, THREADS, 0);
    tess_lookup_gpu_pass_call(layout, step, p, slices, sizeof slices);
    layout->alignment = tess_max64(s.v * tess_max64(tess_lookup_from_size(p), p->size), p->index.itemsize);
}

/* Where every warp has all its lanes' points, and slices are in one piece; sectors depend on where slices begin. */
void tess_lookup_gpu_predict_point_slices(const tess_problem *base, tess_gpu_prediction *out) {
    const lookup_problem *p = (const lookup_problem *)base;
    const shape s = shape_of(p);
    const double warps = (double)tess_ceil_div(jobs_of(p, &s) * s.lanes, 32), turns = (double)tess_ceil_div(s.per, s.lanes);
    tess_gpu_count_from_zero(out);
    out->flops = out->constant_requests = out->global_ld_sectors = out->global_st_sectors = -1;
    out->global_st_requests = s.pieces > 1 ? -1 : warps * turns;
    out->global_ld_requests = s.pieces > 1 ? -1 : warps * (1 + turns * (double)tess_lookup_parts(p));
}

const tess_gpu_row tess_lookup_gpu_point_slices = {.headers = tess_lookup_gpu_headers,
                                                   .production = true,
                                                   .least_arch = 80,
                                                   .lay_out = lay_point_slices,
                                                   .predict = tess_lookup_gpu_predict_point_slices,
                                                   .finish = tess_lookup_gpu_finish};
