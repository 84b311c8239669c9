/* SPDX-License-Identifier: Apache-2.0
 * gpu_segments.c - lays out reduce/tree_segments: a warp a leaf of any segment, or several short segments a warp. */
#include "ops/reduce/gpu_reduce.h"

#include <stdlib.h>

extern const char tess_kernel_reduce_gpu_tree_segments_cu[], tess_kernel_reduce_gpu_segment_finish_cuh[];
const tess_gpu_text tess_reduce_gpu_segment_finish_header = {"ops/reduce/gpu_segment_finish.cuh", tess_kernel_reduce_gpu_segment_finish_cuh};
static const tess_gpu_text tree_segments = {"reduce/gpu_tree_segments.cu", tess_kernel_reduce_gpu_tree_segments_cu};
static const tess_gpu_text *const headers[] = {
    &tess_reduce_gpu_node_header,    &tess_reduce_gpu_tree_header,           &tess_reduce_gpu_complex_header, &tess_reduce_gpu_finish_header,
    &tess_reduce_gpu_segment_header, &tess_reduce_gpu_segment_finish_header, &tess_reduce_gpu_types_header,   NULL};

enum { WARPS = 8, BUSY = 1056 /* blocks of an H200 at once */, ENOUGH = 4 * 132 * 64 /* four rounds of 64 a multiprocessor */ };

static const reduce_problem *of(const tess_problem *problem) { return (const reduce_problem *)problem; }

int64_t tess_reduce_gpu_segmented(const reduce_problem *p) { return p->offsets[p->segments] - p->offsets[0]; }

int64_t tess_reduce_gpu_chunks(const reduce_problem *p, int64_t size) {
    return p->longest > size ? tess_ceil_div(tess_reduce_gpu_segmented(p), size) : 1;
}

bool tess_reduce_gpu_turned(const reduce_problem *p) { return p->kept > 0 && llabs(p->kept_stride[0][p->kept - 1]) < llabs(p->stride[0][0]); }

/* Threads for one of several short segments of a warp: a power of two so that most segments have at most eight elements for each. */
static int group_of(const reduce_problem *p) {
    const double most = 1.5 * (double)tess_reduce_gpu_segmented(p) / (double)tess_max64(p->segments, 1);
    int group = 4;
    while (group < 32 && 8 * group < p->longest && 8 * group < most)
        group *= 2;
    return group;
}

/* Segments of a warp: as many as leave enough warps to a device, for which those of an H200 are taken. */
static int64_t every_of(const reduce_problem *p) {
    int64_t every = 32 / group_of(p);
    while (every < 32 && (double)p->segments * (double)p->outputs >= 2.0 * ENOUGH * (double)every)
        every *= 2;
    return every;
}

/* Warps of an output. */
static int64_t units_of(const reduce_problem *p) { return tess_reduce_gpu_chunks(p, REDUCE_LEAF) - 1 + tess_ceil_div(p->segments, every_of(p)); }

bool tess_reduce_gpu_segments_fit(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    int64_t units;
    *why = "needs segments, and no exact sum";
    if (!p->offsets || p->exact || p->records)
        return false;
    *why = "needs fewer than 2^31 blocks";
    return !TESS_MUL_OVERFLOWS(p->outputs, units_of(p), &units) && units <= (int64_t)INT32_MAX * WARPS;
}

static double mean_of(const reduce_problem *p) { return (double)tess_reduce_gpu_segmented(p) / (double)tess_max64(p->segments, 1); }

/* Measured: where no segment would keep one block busy while the others are done, a block a segment has more on its way than eight warps with a leaf each. */
bool tess_reduce_gpu_segments_pay(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    const double all = (double)tess_reduce_gpu_segmented(p) * (double)p->outputs;
    *why = "long segments of one size of elements of 4 and 8 bytes are quicker by a block each";
    return tess_is_complex(p->in.type) || p->in.itemsize < 4 || mean_of(p) < REDUCE_LEAF / 2 || (double)p->longest * BUSY > 2 * all;
}

/* For how many blocks a multiprocessor must have registers, and how many rows of 256 elements are on their way; measured. */
static void registers_for(const reduce_problem *p, int *blocks, int *rows) {
    const bool lasting = mean_of(p) >= 1024, places = p->kind == REDUCE_ARG;
    *rows = 1;
    if (p->in.itemsize == 16)
        *blocks = 2;
    else if (tess_is_complex(p->in.type))
        *blocks = p->kind == REDUCE_PROD ? 3 : lasting ? 2 : 4;
    else if (p->kind == REDUCE_VAR)
        *blocks = lasting ? 5 : 4;
    else if (p->in.itemsize == 4)
        *blocks = (lasting ? 4 : 5) - (tess_reduce_gpu_node_size(p) > 4) - places;
    else
        *blocks = p->in.itemsize == 8 ? (lasting ? 2 : 3) : lasting ? 3 : 4;
    if (p->in.itemsize < 4)
        *rows = lasting ? 8 : 4;
    else if (places || (p->in.itemsize < 16 && p->kind != REDUCE_VAR && lasting) || p->in.type == tess_f64)
        *rows = 2;
    if (p->kind == REDUCE_PROD && tess_is_complex(p->in.type))
        *rows = 1;
}

static void lay_out(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const reduce_problem *p = of(problem);
    const int64_t chunks = tess_reduce_gpu_chunks(p, REDUCE_LEAF), units = units_of(p);
    const bool run = p->stride[0][0] == p->in.itemsize;
    int64_t block[10 + 3 * (TESS_MAX_NDIM + 1)], *at = block;
    int blocks, rows;
    (void)device;
    tess_gpu_unit(layout, &tree_segments);
    tess_reduce_gpu_node_options(layout, p);
    tess_gpu_option(layout, "-DKEPT=%d", p->kept);
    tess_gpu_option(layout, "-DGROUP=%d", group_of(p));
    tess_gpu_option(layout, "-DLEAVES=%d", chunks > 1);
    tess_gpu_option(layout, "-DRUN=%d", run);
    registers_for(p, &blocks, &rows);
    tess_gpu_option(layout, "-DROWS=%d", rows);
    tess_gpu_option(layout, "-DAT_LEAST=%d", blocks);
    *at++ = p->outputs;
    *at++ = units;
    *at++ = chunks;
    *at++ = p->segments;
    *at++ = p->offsets[0];
    *at++ = every_of(p);
    *at++ = p->stride[0][0] / p->in.itemsize;
    *at++ = p->segment_stride / p->out.itemsize;
    *at++ = tess_reduce_gpu_turned(p);
    *at++ = tess_reduce_gpu_word(p->ddof);
    at = tess_reduce_gpu_put_kept(at, p, p->kept);
    const size_t bytes = (size_t)(at - block) * sizeof *block;
    const int64_t partial = chunks > 1 ? tess_gpu_reserve(layout, p->outputs * (chunks + p->segments) * tess_reduce_gpu_node_size(p)) : 0;
    tess_gpu_data(layout, p->offsets, (size_t)(p->segments + 1) * sizeof *p->offsets);
    tess_gpu_step *step = tess_gpu_launch_of(layout, "tree_segments", tess_ceil_div(p->outputs * units, WARPS), 1, 1, 32 * WARPS, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, partial);
    tess_gpu_pass(layout, step, block, bytes);
    if (chunks > 1) {
        step = tess_gpu_launch_of(layout, "finish", p->outputs * tess_ceil_div(chunks - 1, WARPS), 1, 1, 32 * WARPS, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, partial);
        tess_gpu_pass(layout, step, block, bytes);
    }
}

const tess_gpu_row tess_reduce_gpu_segments = {.headers = headers, .production = true, .least_arch = 80, .lay_out = lay_out};
