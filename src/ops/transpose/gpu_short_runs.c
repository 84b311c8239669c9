/* SPDX-License-Identifier: Apache-2.0
 * gpu_short_runs.c - the row transpose/short_runs: matrices of runs of some bytes that stay together, as pixels; its launches (gpu_runs.cu; gpu_pixels.cu). */
#include "ops/transpose/gpu_predict.h"

extern const char tess_kernel_transpose_gpu_runs_cu[];
static const tess_gpu_text gpu_runs = {"transpose/gpu_runs.cu", tess_kernel_transpose_gpu_runs_cu};
extern const char tess_kernel_transpose_gpu_pixels_cu[];
static const tess_gpu_text gpu_pixels = {"transpose/gpu_pixels.cu", tess_kernel_transpose_gpu_pixels_cu};

enum {
    LONGEST = 63, /* bytes of a run */
    PIXELS = 128  /* of 3 bytes, of a tile each way */
};

bool tess_transpose_gpu_short_runs_of(const tess_problem *base, transpose_gpu_short_runs *r, const char **why) {
    const transpose_problem *p = (const transpose_problem *)base;
    const int last = p->ndim - 1;
    *why = "works between two arrays, not in place";
    if (p->place != TRANSPOSE_ELSEWHERE)
        return false;
    *why = "needs a last axis without gaps that stays the last, of less than 64 bytes";
    if (p->ndim < 3 || !tess_transpose_gpu_last_stays(p))
        return false;
    const int64_t wide = p->shape[last] * p->size;
    if (wide > LONGEST)
        return false;
    *why = "needs runs that follow each other without a gap along one axis of in and along another of out";
    tess_transpose_plane_of(&r->plane, p, true);
    if (r->plane.p_size < 2 || r->plane.p_in != wide || r->plane.q_out != wide || r->plane.q_in < 0)
        return false;
    *why = "needs steps that are whole elements";
    r->size = p->size < 4 ? p->size : 4;
    if (!tess_transpose_gpu_whole_steps(p, &r->plane, r->size))
        return false;
    r->run = wide / r->size;
    r->along_p = 32;
    r->along_q = wide <= 4 ? 128 : wide <= 8 ? 64 : 32;
    r->ahead = wide <= 24 ? 4 : 2;
    r->threads = wide <= 20 ? 128 : 256;
    r->more = tess_ceil_div(32 - r->size, wide);
    r->pixels = wide == 3 && r->plane.p_size >= PIXELS * 3 / 4 && r->plane.q_size >= PIXELS * 3 / 4;
    if (r->pixels) {
        r->along_p = r->along_q = PIXELS;
        r->more = 12;
        r->threads = 256;
    }
    return true;
}

int64_t tess_transpose_gpu_short_runs_line(const transpose_gpu_short_runs *r) {
    const int64_t wide = r->run * r->size;
    if (r->pixels)
        return (((r->along_q + r->more) * wide / 4 + 1) | 1) * 4;
    return ((tess_ceil_div(r->more * wide, 4) * 4 + r->along_q * wide + 32) / 4 | 1) * 4;
}

bool tess_transpose_gpu_short_runs_fit(const tess_problem *base, const char **why) {
    transpose_gpu_short_runs r;
    return tess_transpose_gpu_short_runs_of(base, &r, why);
}

bool tess_transpose_gpu_short_runs_pay(const tess_problem *base, const char **why) {
    transpose_gpu_short_runs r;
    if (!tess_transpose_gpu_short_runs_of(base, &r, why))
        return false;
    *why = "where an axis is shorter than a tile, elements one by one are no slower";
    return r.plane.p_size >= r.along_p / 2 && r.plane.q_size >= r.along_q / 2;
}

static void lay_short_runs(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const char *why;
    transpose_gpu_short_runs r;
    (void)device;
    if (!tess_transpose_gpu_short_runs_of(base, &r, &why))
        return;
    transpose_gpu_matrices m = tess_transpose_gpu_matrices_of(base);
    m.plane = r.plane;
    m.size = r.size;
    const int64_t blocks = tess_ceil_div(r.plane.p_size, r.along_p) * tess_ceil_div(r.plane.q_size + r.more, r.along_q) * r.plane.count;
    tess_gpu_unit(layout, r.pixels ? &gpu_pixels : &gpu_runs);
    tess_gpu_option(layout, "-DSIZE=%d", (int)r.size);
    tess_gpu_option(layout, "-DBATCH=%d", r.plane.ndim);
    if (!r.pixels) {
        tess_gpu_option(layout, "-DRUN=%d", (int)r.run);
        tess_gpu_option(layout, "-DAHEAD=%d", (int)r.ahead);
    }
    tess_gpu_option(layout, "-DTP=%d", (int)r.along_p);
    tess_gpu_option(layout, "-DTQ=%d", (int)r.along_q);
    tess_gpu_option(layout, "-DTHREADS=%d", (int)r.threads);
    tess_gpu_step *step =
        tess_gpu_launch_of(layout, r.pixels ? "pixels" : "runs", blocks, 1, 1, (int)r.threads, r.along_p * tess_transpose_gpu_short_runs_line(&r));
    tess_transpose_gpu_pass(layout, step, &m, NULL, 0);
    layout->alignment = r.size;
}

const tess_gpu_row tess_transpose_gpu_short_runs_row = {.headers = tess_transpose_gpu_headers,
                                                        .production = true,
                                                        .least_arch = 80,
                                                        .lay_out = lay_short_runs,
                                                        .predict = tess_transpose_predict_short_runs};
