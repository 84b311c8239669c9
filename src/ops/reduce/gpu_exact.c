/* SPDX-License-Identifier: Apache-2.0
 * gpu_exact.c - lays out reduce/exact_blocks: exact sums, by as many blocks as keep a device busy, and one block an output to round; and exact_segments: a
 * warp for each piece of a segment, pieces so long that few of the longest segment's are left to merge; and exact_stretches: stretches of short segments. */
#include "ops/reduce/gpu_reduce.h"

extern const char tess_kernel_reduce_gpu_exact_cu[], tess_kernel_reduce_gpu_exact_segments_cu[], tess_kernel_reduce_gpu_exact_cuh[],
    tess_kernel_reduce_gpu_segment_cuh[], tess_kernel_reduce_gpu_exact_stretches_cu[], tess_kernel_reduce_gpu_exact_group_cuh[],
    tess_kernel_reduce_gpu_exact_lengths_cuh[], tess_kernel_reduce_gpu_exact_pieces_cuh[], tess_kernel_reduce_gpu_exact_strip_cuh[];
static const tess_gpu_text gpu_exact = {"reduce/gpu_exact.cu", tess_kernel_reduce_gpu_exact_cu},
                           exact_segments = {"reduce/gpu_exact_segments.cu", tess_kernel_reduce_gpu_exact_segments_cu},
                           exact_stretches = {"reduce/gpu_exact_stretches.cu", tess_kernel_reduce_gpu_exact_stretches_cu};
const tess_gpu_text tess_reduce_gpu_exact_header = {"ops/reduce/gpu_exact.cuh", tess_kernel_reduce_gpu_exact_cuh},
                    tess_reduce_gpu_exact_group_header = {"ops/reduce/gpu_exact_group.cuh", tess_kernel_reduce_gpu_exact_group_cuh},
                    tess_reduce_gpu_exact_lengths_header = {"ops/reduce/gpu_exact_lengths.cuh", tess_kernel_reduce_gpu_exact_lengths_cuh},
                    tess_reduce_gpu_exact_pieces_header = {"ops/reduce/gpu_exact_pieces.cuh", tess_kernel_reduce_gpu_exact_pieces_cuh},
                    tess_reduce_gpu_exact_strip_header = {"ops/reduce/gpu_exact_strip.cuh", tess_kernel_reduce_gpu_exact_strip_cuh},
                    tess_reduce_gpu_segment_header = {"ops/reduce/gpu_segment.cuh", tess_kernel_reduce_gpu_segment_cuh};
static const tess_gpu_text *const headers[] = {&tess_reduce_gpu_node_header,
                                               &tess_reduce_gpu_tree_header,
                                               &tess_reduce_gpu_complex_header,
                                               &tess_reduce_gpu_exact_header,
                                               &tess_reduce_gpu_exact_group_header,
                                               &tess_reduce_gpu_exact_lengths_header,
                                               &tess_reduce_gpu_exact_pieces_header,
                                               &tess_reduce_gpu_exact_strip_header,
                                               &tess_reduce_gpu_exact_levels_header,
                                               &tess_reduce_gpu_stage_header,
                                               &tess_reduce_gpu_segment_header,
                                               &tess_reduce_gpu_types_header,
                                               NULL};

enum {
    THREADS = 256,
    STRIPS = 8 * 1024 /* elements that a block takes in one turn */,
    AT_LEAST = 4 /* blocks that a multiprocessor has registers for */,
    BUSY = 132 * AT_LEAST /* blocks: what an H200 holds at once */,
    PIECES = 4224 /* of segments, a warp each; more are more to merge */,
    WORDS = REDUCE_EXACT_WORDS
};

static const reduce_problem *of(const tess_problem *problem) { return (const reduce_problem *)problem; }

static int64_t blocks_of(const reduce_problem *p) { return tess_max64(1, tess_min64(tess_ceil_div(p->k, STRIPS), BUSY / tess_max64(1, p->outputs))); }

bool tess_reduce_gpu_exact_fits(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    int64_t blocks;
    *why = "makes exact sums, of elements without segments";
    if (!p->exact || p->offsets)
        return false;
    *why = "needs fewer than 2^31 outputs";
    return !TESS_MUL_OVERFLOWS(p->outputs, blocks_of(p), &blocks) && blocks <= INT32_MAX;
}

static void lay_out(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const reduce_problem *p = of(problem);
    const int64_t blocks = blocks_of(p), parts = p->acc == tess_c128 ? 2 : 1;
    int64_t block[4 + 5 * (TESS_MAX_NDIM + 1)], *at = block;
    (void)device;
    tess_gpu_unit(layout, &gpu_exact);
    tess_reduce_gpu_node_options(layout, p);
    const bool alone = blocks == 1 && !p->records;
    tess_gpu_option(layout, "-DWARPS=%d", THREADS / 32);
    tess_gpu_option(layout, "-DAT_LEAST=%d", AT_LEAST);
    tess_gpu_option(layout, "-DALONE=%d", alone);
    tess_gpu_option(layout, "-DRUN=%d", p->rank == 1 && p->stride[0][0] == p->in.itemsize);
    tess_gpu_option(layout, "-DKEPT=%d", p->kept);
    tess_gpu_option(layout, "-DRANK=%d", p->rank);
    *at++ = p->k;
    *at++ = blocks;
    at = tess_reduce_gpu_put_reduced(at, p);
    at = tess_reduce_gpu_put_kept(at, p, p->kept);
    const size_t bytes = (size_t)(at - block) * sizeof *block;
    const int64_t partial = p->records || alone ? 0 : tess_gpu_reserve(layout, p->outputs * blocks * parts * WORDS * 8);
    tess_gpu_step *step = tess_gpu_launch_of(layout, "exact_blocks", p->outputs * blocks, 1, 1, THREADS, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, p->records || alone ? TESS_GPU_OUT : TESS_GPU_WORKSPACE, partial);
    tess_gpu_pass(layout, step, block, bytes);
    if (p->records || alone) /* a leaf has one block: its accumulator is the record, and the host merges and rounds (slab.c) */
        return;
    step = tess_gpu_launch_of(layout, "finish", p->outputs, 1, 1, 8 * WORDS, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, partial);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass(layout, step, block, bytes);
}

const tess_gpu_row tess_reduce_gpu_exact = {.headers = headers, .production = true, .least_arch = 80, .lay_out = lay_out};

/* ---- reduce/exact_segments ---- */

/* Elements of a piece: a multiple of the `least`, which is one of a warp's strip. */
static int64_t piece_of(const reduce_problem *p, int64_t least) {
    const double all = (double)tess_reduce_gpu_segmented(p) * (double)p->outputs;
    return tess_max64(least, (int64_t)(all / PIECES) / least * least);
}

static int64_t pieces_of(const reduce_problem *p) { return tess_reduce_gpu_chunks(p, piece_of(p, STRIPS)) - 1 + p->segments; }

bool tess_reduce_gpu_exact_segments_fit(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    int64_t units;
    *why = "makes exact sums of segments";
    if (!p->exact || !p->offsets)
        return false;
    *why = "needs fewer than 2^31 blocks";
    return !TESS_MUL_OVERFLOWS(p->outputs, pieces_of(p), &units) && units <= INT32_MAX;
}

static void lay_out_segments(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const reduce_problem *p = of(problem);
    const int64_t piece = piece_of(p, STRIPS), chunks = tess_reduce_gpu_chunks(p, piece), parts = p->acc == tess_c128 ? 2 : 1;
    int64_t block[12 + 3 * (TESS_MAX_NDIM + 1)], *at = block;
    (void)device;
    tess_gpu_unit(layout, &exact_segments);
    tess_reduce_gpu_node_options(layout, p);
    tess_gpu_option(layout, "-DWARPS=%d", THREADS / 32);
    tess_gpu_option(layout, "-DKEPT=%d", p->kept);
    tess_gpu_option(layout, "-DAT_LEAST=%d", AT_LEAST);
    tess_gpu_option(layout, "-DRUN=%d", p->stride[0][0] == p->in.itemsize);
    tess_gpu_option(layout, "-DRANK=1");
    *at++ = p->outputs;
    *at++ = pieces_of(p);
    *at++ = chunks;
    *at++ = piece;
    *at++ = p->segments;
    *at++ = p->offsets[0];
    *at++ = p->segment_stride / p->out.itemsize;
    *at++ = tess_reduce_gpu_turned(p);
    *at++ = p->size[0];
    *at++ = 0;
    *at++ = p->stride[0][0] / p->in.itemsize;
    *at++ = 0;
    at = tess_reduce_gpu_put_kept(at, p, p->kept);
    const size_t bytes = (size_t)(at - block) * sizeof *block;
    const int64_t partial = chunks > 1 ? tess_gpu_reserve(layout, p->outputs * (chunks + p->segments) * parts * WORDS * 8) : 0;
    tess_gpu_data(layout, p->offsets, (size_t)(p->segments + 1) * sizeof *p->offsets);
    for (int second = 0; second < (chunks > 1 ? 2 : 1); second++) {
        const int64_t blocks = second ? p->outputs * (chunks - 1) : tess_ceil_div(p->outputs * pieces_of(p), 8);
        tess_gpu_step *step = tess_gpu_launch_of(layout, second ? "finish" : "exact_segments", blocks, 1, 1, second ? 8 * WORDS : THREADS, 0);
        if (!second)
            tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, partial);
        tess_gpu_pass(layout, step, block, bytes);
    }
}

const tess_gpu_row tess_reduce_gpu_exact_segments = {.headers = headers, .production = true, .least_arch = 80, .lay_out = lay_out_segments};

/* ---- reduce/exact_stretches ---- */

enum { LONGEST_PIECE = 7 * STRIPS /* of which a word of the list has 16 bits */ };

static double mean_bytes(const reduce_problem *p) {
    return (double)tess_reduce_gpu_segmented(p) / (double)tess_max64(p->segments, 1) * (double)p->in.itemsize;
}

bool tess_reduce_gpu_exact_stretches_fit(const tess_problem *problem, const char **why) {
    *why = "makes exact sums of segments";
    return of(problem)->exact && tess_reduce_gpu_cuts_fit(of(problem), why);
}

bool tess_reduce_gpu_exact_stretches_pay(const tess_problem *problem, const char **why) {
    *why = "most of such segments are longer than a stretch";
    return mean_bytes(of(problem)) <= 4096;
}

/* How many threads a segment of up to 16 of their elements has: those of one kind, and of the next longer one. A group takes as long for a segment that leaves most of it idle, so of doubles that no prefixes
 * take both fit the mean: of 50 elements 4 and 8. */
static void groups_of(const reduce_problem *p, bool padded, int *one, int *few) {
    const bool middling = p->in.itemsize == 8 && !padded && p->usual >= 24 && p->usual < 128;
    *one = p->in.itemsize < 8 ? 1 : !middling ? 2 : p->usual < 80 ? 4 : 8;
    *few = middling && p->usual < 80 ? 8 : 16;
}

/* Threads and blocks: measured. */
void tess_reduce_gpu_exact_stretch_options(tess_gpu_layout *layout, const reduce_problem *p, int tile, bool padded, int warps, int blocks) {
    int one, few;
    groups_of(p, padded, &one, &few);
    tess_reduce_gpu_node_options(layout, p);
    tess_gpu_option(layout, "-DKEPT=%d", p->kept);
    tess_gpu_option(layout, "-DFILLED_WORDS=%d", padded);
    tess_gpu_option(layout, "-DTILE=%d", tile);
    tess_gpu_option(layout, "-DPAD=%d", padded);
    tess_gpu_option(layout, "-DWARPS=%d", warps);
    tess_gpu_option(layout, "-DONE_LANES=%d", one);
    tess_gpu_option(layout, "-DONE=%d", one == 1 ? 32 : 16 * one);
    tess_gpu_option(layout, "-DFEW_LANES=%d", few);
    tess_gpu_option(layout, "-DSOME=%d", 16 * few);
    tess_gpu_option(layout, "-DAT_LEAST=%d", blocks);
}

static void lay_out_stretches(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const reduce_problem *p = of(problem);
    const bool far = mean_bytes(p) >= 1024;
    const int tile = far ? 8192 : 4096, warps = far ? 4 : 8, parts = p->acc == tess_c128 ? 2 : 1;
    const int64_t piece = tess_min64(piece_of(p, STRIPS / 2), LONGEST_PIECE);
    tess_reduce_gpu_cut n;
    const int64_t *cuts = tess_reduce_gpu_cuts(p, tile, piece, false, &n);
    int64_t block[4 + 3 * (TESS_MAX_NDIM + 1)], *at = block;
    (void)device;
    if (!cuts) {
        layout->full = true;
        return;
    }
    tess_gpu_unit(layout, &exact_stretches);
    tess_reduce_gpu_exact_stretch_options(layout, p, tile, false, warps, far ? 5 : p->in.itemsize < 8 ? 4 : 3);
    tess_gpu_option(layout, "-DPIECES_AT_LEAST=%d", AT_LEAST * 8 / warps);
    *at++ = p->outputs;
    *at++ = n.units;
    *at++ = p->segment_stride / p->out.itemsize;
    *at++ = piece;
    at = tess_reduce_gpu_put_kept(at, p, p->kept);
    const tess_reduce_gpu_cut_way way = {.stretches = "exact_stretches",
                                         .leaves = "long_pieces",
                                         .node = parts * WORDS * 8,
                                         .warps = warps,
                                         .leaves_at_once = warps,
                                         .leaf_threads = 32 * warps,
                                         .tops_at_once = 1,
                                         .top_threads = 8 * WORDS};
    tess_reduce_gpu_cut_launches(layout, p, &n, cuts, &way, block, (size_t)(at - block) * sizeof *block);
}

const tess_gpu_row tess_reduce_gpu_exact_stretches = {.headers = headers, .production = true, .least_arch = 80, .lay_out = lay_out_stretches};
