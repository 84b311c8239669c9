/* SPDX-License-Identifier: Apache-2.0
 * gpu_exact_rows.c - lays out reduce/exact_rows: exact sums of long rows, all of them as one run that warps share evenly. */
#include "ops/reduce/gpu_reduce.h"

extern const char tess_kernel_reduce_gpu_exact_rows_cu[];
static const tess_gpu_text exact_rows = {"reduce/gpu_exact_rows.cu", tess_kernel_reduce_gpu_exact_rows_cu};
static const tess_gpu_text *const headers[] = {
    &tess_reduce_gpu_node_header,        &tess_reduce_gpu_tree_header,        &tess_reduce_gpu_complex_header,
    &tess_reduce_gpu_exact_header,       &tess_reduce_gpu_exact_group_header, &tess_reduce_gpu_exact_levels_header,
    &tess_reduce_gpu_exact_strip_header, &tess_reduce_gpu_exact_sure_header,  &tess_reduce_gpu_sure_run_header,
    &tess_reduce_gpu_stage_header,       &tess_reduce_gpu_types_header,       NULL};

enum {
    WARPS = 8,
    AT_LEAST = 4 /* blocks that a multiprocessor has registers for */,
    MOST_PIECES = 64 /* of a row, for a warp to take in */,
    LEAST_BYTES = 64 << 20 /* less is not measured */
};

static const reduce_problem *of(const tess_problem *problem) { return (const reduce_problem *)problem; }

bool tess_reduce_gpu_exact_rows_fit(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    int64_t all;
    *why = "makes exact sums of floats and of complex numbers, of fewer than 2^30 that follow one another, without segments";
    return p->exact && !p->records && !p->offsets && p->rank == 1 && p->stride[0][0] == p->in.itemsize && p->k >= 1 && p->k < 1 << 30 &&
           (tess_is_float(p->in.type) || (tess_is_complex(p->in.type) && p->map == REDUCE_PLAIN)) && !TESS_MUL_OVERFLOWS(p->outputs, p->k, &all) &&
           all <= (int64_t)1 << 42 && p->outputs <= (int64_t)1 << 33;
}

bool tess_reduce_gpu_exact_rows_pay(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    *why = "few rows, and small ones, are as well summed by blocks";
    return p->k <= MOST_PIECES * tess_reduce_gpu_exact_range((double)p->outputs * (double)p->k) &&
           (double)p->outputs * (double)p->k * (double)p->in.itemsize >= LEAST_BYTES;
}

static void lay_out(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const reduce_problem *p = of(problem);
    const int64_t all = p->outputs * p->k, range = tess_reduce_gpu_exact_range((double)all), ranges = tess_ceil_div(all, range);
    int64_t block[6 + 3 * (TESS_MAX_NDIM + 1)], *at = block;
    (void)device;
    tess_gpu_unit(layout, &exact_rows);
    tess_reduce_gpu_node_options(layout, p);
    tess_gpu_option(layout, "-DKEPT=%d", p->kept);
    tess_gpu_option(layout, "-DFILLED_WORDS=0");
    tess_gpu_option(layout, "-DTILE=512");
    tess_gpu_option(layout, "-DPAD=0");
    tess_gpu_option(layout, "-DWARPS=%d", WARPS);
    tess_gpu_option(layout, "-DAT_LEAST=%d", AT_LEAST);
    *at++ = p->k;
    *at++ = range;
    *at++ = p->outputs;
    at = tess_reduce_gpu_put_run_logs(at, range, p->k);
    at = tess_reduce_gpu_put_kept(at, p, p->kept);
    const size_t size = (size_t)(at - block) * sizeof *block;
    const bool whole = range % p->k == 0;
    const int64_t partial =
        whole ? 0 : tess_gpu_reserve(layout, (ranges + p->outputs) * (p->acc == tess_c128 ? 2 : 1) * TESS_REDUCE_GPU_RUN_WORDS * 8);
    for (int second = 0; second < (whole ? 1 : 2); second++) {
        tess_gpu_step *step =
            tess_gpu_launch_of(layout, second ? "finish" : "exact_rows", tess_ceil_div(second ? p->outputs : ranges, WARPS), 1, 1, 32 * WARPS, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, partial);
        tess_gpu_pass(layout, step, block, size);
    }
}

const tess_gpu_row tess_reduce_gpu_exact_rows = {.headers = headers, .production = true, .least_arch = 80, .lay_out = lay_out};
