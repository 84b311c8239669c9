/* SPDX-License-Identifier: Apache-2.0
 * gpu_real.c - the GPU's interpolations: a prepared table for compact coordinates, neighbours read where they lie for everything else. */
#include "ops/lookup/gpu_lookup.h"

LOOKUP_KERNEL_TEXT(gpu_prepared);
LOOKUP_KERNEL_TEXT(gpu_points);

static const lookup_problem *of(const tess_problem *problem) { return (const lookup_problem *)problem; }

bool tess_lookup_gpu_points_fit(const tess_problem *base, const char **why) {
    *why = "looks up at real coordinates in elements";
    return of(base)->interpolation != TESS_INTERPOLATE_NONE && !of(base)->positions;
}

void tess_lookup_gpu_begin_points(tess_gpu_layout *layout, const lookup_problem *p, const tess_gpu_text *text) {
    tess_lookup_gpu_verdict(layout, p);
    tess_lookup_gpu_begin(layout, p, text);
    tess_gpu_option(layout, "-DFROM=%d", (int)p->from);
    tess_gpu_option(layout, "-DTO=%d", (int)p->to);
    tess_gpu_option(layout, "-DCOMPUTE=%d", (int)p->compute);
    tess_gpu_option(layout, "-DMETHOD=%d", (int)p->interpolation);
    tess_gpu_option(layout, "-DSINGLE=%d", p->index.type != tess_f64 && p->n <= 1 << 24);
}

/* ---- lookup/prepared ---- */

int64_t tess_lookup_gpu_record_size(const lookup_problem *p) {
    int64_t real = p->compute == tess_f64 ? 8 : 4;
    return p->interpolation == TESS_INTERPOLATE_NEAREST ? p->size : real * (p->interpolation == TESS_INTERPOLATE_CUBIC ? 4 : 2);
}

bool tess_lookup_gpu_prepared_fits(const tess_problem *base, const char **why) {
    const lookup_problem *p = of(base);
    if (!tess_lookup_gpu_points_fit(base, why) || !tess_lookup_gpu_compact(p, why))
        return false;
    *why = "needs fewer than 2^28 entries to prepare";
    return p->outer.count <= (1 << 28) / p->n;
}

bool tess_lookup_gpu_prepared_pays(const tess_problem *base, const char **why) {
    const lookup_problem *p = of(base);
    *why =
        "prepared entries pay when they stay in the caches and have more points than a quarter of their number, on lines twice as many, and 512 or "
        "more";
    /* Four neighbours in f32 cost more than a record from the second-level cache. */
    const int64_t most = p->interpolation == TESS_INTERPOLATE_CUBIC && p->compute == tess_f32 ? 1 << 19 : 1 << 18;
    return p->n * tess_lookup_gpu_record_size(p) <= most && p->at.count >= p->n / 4 &&
           (p->outer.count == 1 || (p->at.count >= 512 && p->at.count >= 2 * p->n));
}

lookup_gpu_shape tess_lookup_gpu_prepared_shape(const lookup_problem *p) {
    const int64_t record = tess_lookup_gpu_record_size(p);
    const lookup_gpu_shape alone =
        tess_lookup_gpu_alone(p, 2, record > 8 ? LOOKUP_GPU_LINE_THREADS : LOOKUP_GPU_THREADS); /* measured: notes-gpu.md */
    return tess_lookup_gpu_cached(p, alone, p->n * record, 64 / record);
}

static void lay_prepared(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const lookup_problem *p = of(base);
    const lookup_gpu_shape s = tess_lookup_gpu_prepared_shape(p);
    int64_t table[] = {p->n, p->step, tess_lookup_stride(&p->outer, LOOKUP_FROM), p->outer.count};
    (void)device;
    tess_lookup_gpu_begin_points(layout, p, &gpu_prepared);
    tess_gpu_option(layout, "-DSIZE=%d", (int)p->size);
    tess_lookup_gpu_lines(layout, p, &s, true);
    int64_t records = tess_gpu_reserve(layout, p->n * p->outer.count * tess_lookup_gpu_record_size(p));
    tess_gpu_step *step = tess_gpu_launch_of(layout, "prepare", tess_ceil_div(p->n * p->outer.count, 256), 1, 1, 256, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, records);
    tess_gpu_pass(layout, step, table, sizeof table);
    tess_lookup_gpu_launch_lines(layout, p, "prepared", (lookup_gpu_table){.place = TESS_GPU_WORKSPACE, .offset = records}, &s);
}

/* ---- lookup/points ---- */

static void lay_points(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const lookup_problem *p = of(base);
    (void)device;
    tess_lookup_gpu_begin_points(layout, p, &gpu_points);
    tess_gpu_option(layout, "-DPARTS=%d", p->parts);
    tess_lookup_gpu_walk(layout, p, "points", 1);
}

const tess_gpu_row tess_lookup_gpu_prepared = {.headers = tess_lookup_gpu_headers,
                                               .production = true,
                                               .least_arch = 80,
                                               .lay_out = lay_prepared,
                                               .predict = tess_lookup_gpu_predict_prepared,
                                               .finish = tess_lookup_gpu_finish},
                   tess_lookup_gpu_points = {.headers = tess_lookup_gpu_headers,
                                             .production = true,
                                             .least_arch = 80,
                                             .lay_out = lay_points,
                                             .predict = tess_lookup_gpu_predict_points,
                                             .finish = tess_lookup_gpu_finish};
