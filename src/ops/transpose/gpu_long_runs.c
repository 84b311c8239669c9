/* SPDX-License-Identifier: Apache-2.0
 * gpu_long_runs.c - the row transpose/long_runs: a last axis that stays the last, runs of any length that begin anywhere; its launch (gpu_long_runs.cu). */
#include "ops/transpose/gpu_predict.h"

extern const char tess_kernel_transpose_gpu_long_runs_cu[];
static const tess_gpu_text gpu_long_runs = {"transpose/gpu_long_runs.cu", tess_kernel_transpose_gpu_long_runs_cu};

enum { THREADS = TRANSPOSE_GPU_RUNS_THREADS, PIECE = TRANSPOSE_GPU_RUNS_PIECE };

bool tess_transpose_gpu_long_runs_of(const tess_problem *base, transpose_gpu_long_runs *r, const char **why) {
    const transpose_problem *p = (const transpose_problem *)base;
    const int last = p->ndim - 1;
    *why = "works between two arrays, not in place";
    if (p->place != TRANSPOSE_ELSEWHERE)
        return false;
    *why = "needs a last axis without gaps that stays the last, of 4 bytes to 1 GiB, in runs that follow each other in out";
    if (p->ndim < 2 || !tess_transpose_gpu_last_stays(p))
        return false;
    tess_transpose_plane_of(&r->plane, p, true);
    r->size = p->size < 4 ? p->size : 4;
    r->run = p->shape[last] * p->size;
    if (r->run < 4 || r->run > 1 << 30 || r->plane.q_out != r->run)
        return false;
    r->low = 0;
    r->high = r->run;
    int64_t rest = p->first[TRANSPOSE_IN] | p->first[TRANSPOSE_OUT];
    for (int d = 0; d < last; d++) {
        const int64_t reach = (p->shape[d] - 1) * p->stride[TRANSPOSE_IN][d];
        *(reach < 0 ? &r->low : &r->high) += reach;
        rest |= p->stride[TRANSPOSE_IN][d] | p->stride[TRANSPOSE_OUT][d];
    }
    *why = "needs steps that are whole elements";
    if (rest % r->size != 0)
        return false;
    *why = "needs fewer than 2^31 pieces of 8 KiB";
    const int64_t rows = r->plane.p_size * r->plane.count;
    r->blocks = tess_ceil_div(r->plane.q_size * r->run + (r->size < 4 ? 3 : 0), PIECE) * rows;
    return rows < INT32_MAX && r->blocks < INT32_MAX;
}

bool tess_transpose_gpu_long_runs_fit(const tess_problem *base, const char **why) {
    transpose_gpu_long_runs r;
    return tess_transpose_gpu_long_runs_of(base, &r, why);
}

bool tess_transpose_gpu_long_runs_pay(const tess_problem *base, const char **why) {
    transpose_gpu_long_runs r;
    if (!tess_transpose_gpu_long_runs_of(base, &r, why))
        return false;
    *why = "needs runs of 64 bytes and more, and rows of out of 2 KiB";
    if (r.run < 64 || r.plane.q_size * r.run < 2048)
        return false;
    *why = "where all steps are whole vectors, they are moved as they are";
    return tess_transpose_gpu_piece((const transpose_problem *)base, true) < 16;
}

static void lay_long_runs(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const char *why;
    transpose_gpu_long_runs r;
    (void)device;
    if (!tess_transpose_gpu_long_runs_of(base, &r, &why))
        return;
    transpose_gpu_matrices m = tess_transpose_gpu_matrices_of(base);
    m.plane = r.plane;
    m.size = r.size;
    /* n / run is the high word of n * reciprocal for all n < run + PIECE, since (run + PIECE) run < 2^32 */
    const int64_t more[] = {r.run, r.plane.p_in, r.low, r.high, r.run <= PIECE ? ((int64_t)1 << 32) / r.run + 1 : 0};
    tess_gpu_unit(layout, &gpu_long_runs);
    tess_gpu_option(layout, "-DSIZE=%d", (int)r.size);
    tess_gpu_option(layout, "-DBATCH=%d", r.plane.ndim);
    tess_gpu_option(layout, "-DWORDS=%d", TRANSPOSE_GPU_RUNS_WORDS);
    tess_gpu_option(layout, "-DTHREADS=%d", THREADS);
    tess_gpu_step *step = tess_gpu_launch_of(layout, "long_runs_copy", r.blocks, 1, 1, THREADS, 0);
    tess_transpose_gpu_pass(layout, step, &m, more, TESS_COUNT(more));
    layout->alignment = r.size;
}

const tess_gpu_row tess_transpose_gpu_long_runs_row = {.headers = tess_transpose_gpu_headers,
                                                       .production = true,
                                                       .least_arch = 80,
                                                       .lay_out = lay_long_runs,
                                                       .predict = tess_transpose_predict_long_runs};
