/* SPDX-License-Identifier: Apache-2.0
 * gpu_exact_prefixes.c - lays out reduce/exact_prefixes: exact sums of segments that follow one another, short ones by stretches of whole ones, longer ones by
 * ranges of as many elements each, a warp for either. */
#include "ops/reduce/gpu_reduce.h"

extern const char tess_kernel_reduce_gpu_exact_prefixes_cu[], tess_kernel_reduce_gpu_exact_prefix_cuh[], tess_kernel_reduce_gpu_sure_run_cuh[];
static const tess_gpu_text exact_prefixes = {"reduce/gpu_exact_prefixes.cu", tess_kernel_reduce_gpu_exact_prefixes_cu},
                           prefix_header = {"ops/reduce/gpu_exact_prefix.cuh", tess_kernel_reduce_gpu_exact_prefix_cuh};
const tess_gpu_text tess_reduce_gpu_sure_run_header = {"ops/reduce/gpu_sure_run.cuh", tess_kernel_reduce_gpu_sure_run_cuh};
static const tess_gpu_text *const headers[] = {&tess_reduce_gpu_node_header,         &tess_reduce_gpu_tree_header,
                                               &tess_reduce_gpu_complex_header,      &tess_reduce_gpu_exact_header,
                                               &tess_reduce_gpu_exact_group_header,  &tess_reduce_gpu_exact_lengths_header,
                                               &tess_reduce_gpu_exact_strip_header,  &prefix_header,
                                               &tess_reduce_gpu_sure_run_header,     &tess_reduce_gpu_exact_sure_header,
                                               &tess_reduce_gpu_exact_levels_header, &tess_reduce_gpu_stage_header,
                                               &tess_reduce_gpu_types_header,        NULL};

enum {
    RANGES = 4224,      /* warps that an H200 holds at once, 32 a multiprocessor */
    LEAST_RANGE = 2048, /* elements: fewer are no longer read at the speed of memory */
    STRIP = 256,        /* a warp's, of gpu_exact_strip.cuh */
    MOST_RANGE = 1 << 30,
    TILE = 4096, /* bytes of a stretch */
    WARPS = 4,   /* 48 KiB of shared memory are a block's */
    TOP_WARPS = 8
};

static const reduce_problem *of(const tess_problem *problem) { return (const reduce_problem *)problem; }

int64_t tess_reduce_gpu_exact_range(double all) {
    const double each = all / RANGES;
    return tess_min64(MOST_RANGE, tess_max64(LEAST_RANGE, tess_ceil_div((int64_t)each + 1, STRIP) * STRIP));
}

static int64_t range_of(const reduce_problem *p) { return tess_reduce_gpu_exact_range((double)tess_reduce_gpu_segmented(p) * (double)p->outputs); }

bool tess_reduce_gpu_exact_prefixes_fit(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    *why = "makes exact sums of segments of f32, f16, bf16, c64 and f64";
    return p->exact && p->map == REDUCE_PLAIN &&
           (p->in.type == tess_f16 || p->in.type == tess_bf16 || p->in.type == tess_f32 || p->in.type == tess_c64 || p->in.type == tess_f64) &&
           tess_reduce_gpu_cuts_fit(p, why);
}

/* Each level takes in less than 2 n numbers, and 8 a thread; of a piece less than six. */
int64_t *tess_reduce_gpu_put_run_logs(int64_t *at, int64_t range, int64_t longest) {
    *at++ = tess_reduce_gpu_log_of(2 * range / 32 + 8);
    *at++ = tess_reduce_gpu_log_of(2 * range + 8 * 32);
    *at++ = tess_reduce_gpu_log_of(6 * (longest / range + 2) + 8 * 32);
    return at;
}

/* Threads and blocks: measured. */
static void lay_out(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const reduce_problem *p = of(problem);
    tess_reduce_gpu_cut n;
    const int64_t range = range_of(p);
    const int64_t *cuts = tess_reduce_gpu_cuts(p, TILE - 16, range, true, &n); /* with what lies before it in its first 16 bytes a stretch fits */
    int64_t block[8 + 3 * (TESS_MAX_NDIM + 1)], *at = block;
    (void)device;
    if (!cuts) {
        layout->full = true;
        return;
    }
    tess_gpu_unit(layout, &exact_prefixes);
    tess_reduce_gpu_exact_stretch_options(layout, p, TILE, true, WARPS, 8);
    tess_gpu_option(layout, "-DTOP_WARPS=%d", TOP_WARPS);
    *at++ = p->outputs;
    *at++ = n.units;
    *at++ = n.ranges;
    *at++ = n.leaves;
    *at++ = p->segment_stride / p->out.itemsize;
    at = tess_reduce_gpu_put_run_logs(at, range, p->longest);
    at = tess_reduce_gpu_put_kept(at, p, p->kept);
    const size_t size = (size_t)(at - block) * sizeof *block;
    const int64_t node = (p->acc == tess_c128 ? 2 : 1) * TESS_REDUCE_GPU_RUN_WORDS * 8,
                  partial = n.tops ? tess_gpu_reserve(layout, p->outputs * n.leaves * node) : 0,
                  offsets = tess_gpu_data(layout, p->offsets, (size_t)(p->segments + 1) * sizeof *p->offsets),
                  list = tess_gpu_data(layout, cuts, (size_t)n.words * sizeof *cuts);
    tess_gpu_step *step = tess_gpu_launch_of(layout, "exact_prefixes", tess_ceil_div(p->outputs * (n.ranges + n.units), WARPS), 1, 1, 32 * WARPS, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, offsets);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, list);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, partial);
    tess_gpu_pass(layout, step, block, size);
    if (n.tops == 0)
        return;
    step = tess_gpu_launch_of(layout, "finish", tess_ceil_div(p->outputs * n.tops, TOP_WARPS), 1, 1, 32 * TOP_WARPS, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, offsets);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, partial);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, list + n.top * (int64_t)sizeof *cuts);
    tess_gpu_pass_i64(layout, step, n.tops);
    tess_gpu_pass(layout, step, block, size);
}

const tess_gpu_row tess_reduce_gpu_exact_prefixes = {.headers = headers, .production = true, .least_arch = 80, .lay_out = lay_out};
