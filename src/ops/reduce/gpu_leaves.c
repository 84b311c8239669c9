/* SPDX-License-Identifier: Apache-2.0
 * gpu_leaves.c - lays out reduce/tree_leaves: a block a leaf of any layout, and parts of problems that are larger than the device; and reduce/tree_lanes: a block an output. */
#include "ops/reduce/gpu_reduce.h"

extern const char tess_kernel_reduce_gpu_tree_leaves_cu[], tess_kernel_reduce_gpu_tree_lanes_cu[], tess_kernel_reduce_gpu_complex_cuh[];
const tess_gpu_text tess_reduce_gpu_complex_header = {"ops/reduce/gpu_complex.cuh", tess_kernel_reduce_gpu_complex_cuh};
static const tess_gpu_text tree_leaves = {"reduce/gpu_tree_leaves.cu", tess_kernel_reduce_gpu_tree_leaves_cu},
                           tree_lanes = {"reduce/gpu_tree_lanes.cu", tess_kernel_reduce_gpu_tree_lanes_cu};
static const tess_gpu_text *const headers[] = {&tess_reduce_gpu_node_header,
                                               &tess_reduce_gpu_tree_header,
                                               &tess_reduce_gpu_leaf_header,
                                               &tess_reduce_gpu_moments_header,
                                               &tess_reduce_gpu_complex_header,
                                               &tess_reduce_gpu_finish_header,
                                               &tess_reduce_gpu_types_header,
                                               &tess_reduce_gpu_lanes_header,
                                               &tess_reduce_gpu_any_order_header,
                                               &tess_reduce_gpu_packed_header,
                                               NULL};

static const reduce_problem *of(const tess_problem *problem) { return (const reduce_problem *)problem; }

static int64_t leaves_of(const reduce_problem *p) { return tess_max64(1, tess_ceil_div(p->k, REDUCE_LEAF)); }

bool tess_reduce_gpu_leaves_fit(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    int64_t blocks;
    *why = "takes no segments and no exact sum";
    if (p->exact || p->offsets)
        return false;
    *why = "needs fewer than 2^31 leaves";
    return !TESS_MUL_OVERFLOWS(p->outputs, leaves_of(p), &blocks) && blocks <= INT32_MAX;
}

bool tess_reduce_gpu_leaves_pay(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    *why = "outputs of one leaf, or many of few, are as well done by a block an output";
    return p->records || p->kind == REDUCE_VAR || tess_is_complex(p->in.type) || (p->k > REDUCE_LEAF && p->outputs < 1024);
}

int64_t tess_reduce_gpu_paired(int64_t leaves) { return leaves > TESS_REDUCE_GPU_PAIRED ? tess_ceil_div(leaves, 256) : leaves; }

void tess_reduce_gpu_pair_launches(tess_gpu_layout *layout, const reduce_problem *p, int64_t leaves, int64_t partial, const int64_t *block,
                                   size_t bytes) {
    const int64_t groups = tess_reduce_gpu_paired(leaves);
    if (leaves == 1)
        return;
    if (groups < leaves) {
        const int64_t paired = tess_gpu_reserve(layout, p->outputs * groups * tess_reduce_gpu_node_size(p));
        tess_gpu_step *step = tess_gpu_launch_of(layout, "pair_leaves", tess_ceil_div(p->outputs * groups, 8), 1, 1, 256, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, paired);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, partial);
        tess_gpu_pass_i64(layout, step, groups);
        tess_gpu_pass(layout, step, block, bytes);
        partial = paired;
    }
    tess_gpu_step *step = tess_gpu_launch_of(layout, "finish", groups <= 256 ? tess_ceil_div(p->outputs, 8) : p->outputs, 1, 1, 256, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, partial);
    tess_gpu_pass_i64(layout, step, groups);
    tess_gpu_pass(layout, step, block, bytes);
}

bool tess_reduce_gpu_leaf_words(const reduce_problem *p) {
    return p->kind == REDUCE_VAR && p->in.itemsize < 4 && p->rank >= 1 && p->stride[0][p->rank - 1] == p->in.itemsize &&
           (p->rank == 1 || tess_reduce_gpu_apart(p) % 4 == 0);
}

int tess_reduce_gpu_leaf_threads(const reduce_problem *p) {
    return tess_reduce_gpu_leaf_words(p) ? REDUCE_LANES / 4 * (int)p->in.itemsize : REDUCE_LANES;
}

/* For how many blocks a multiprocessor must have registers, 0: the compiler's choice; measured. */
static int least_blocks(const reduce_problem *p) {
    if (p->kind == REDUCE_VAR)
        return p->in.itemsize == 8 ? 2 : 4;
    if (p->in.type == tess_c64 && (p->kind == REDUCE_SUM || p->kind == REDUCE_PROD))
        return 0;
    return p->in.type == tess_c128 && p->kind == REDUCE_SUM ? 5 : 6;
}

/* How a variance along several axes looks for its elements: 2, each leaf lies within a run; 1, of less than 8 bytes along two axes, where a leaf is spread over less than 4 GiB; 0, any. */
static int runs_of(const reduce_problem *p) {
    const int64_t run = p->size[p->rank - 1], step = p->stride[0][0];
    if (p->kind != REDUCE_VAR || p->stride[0][p->rank - 1] != p->in.itemsize || p->k > INT32_MAX || run == 0)
        return 0;
    if (run % REDUCE_LEAF == 0)
        return 2;
    return p->rank == 2 && p->in.itemsize < 8 && run > 1 && step >= run * p->in.itemsize && step <= UINT32_MAX / (REDUCE_LEAF / run + 2);
}

/* Whether most leaves are whole, and words of 8 bytes do: bytes along one axis, which are looked at once, are as fast by words of 4. */
bool tess_reduce_gpu_leaf_wide(const reduce_problem *p) {
    return tess_reduce_gpu_leaf_words(p) && leaves_of(p) >= 8 && tess_reduce_gpu_apart(p) % 8 == 0 &&
           (p->rank == 1 ? p->in.itemsize == 2 : runs_of(p) > 0);
}

static void lay_out(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const reduce_problem *p = of(problem);
    int64_t block[4 + 5 * (TESS_MAX_NDIM + 1)], *at = block, leaves = leaves_of(p);
    const bool many = leaves > 1, run = p->rank == 1 && p->stride[0][0] == p->in.itemsize, by_words = tess_reduce_gpu_leaf_words(p);
    const int runs = p->rank > 1 ? runs_of(p) : 0;
    const bool wide = tess_reduce_gpu_leaf_wide(p);
    const int words = wide ? 2 : by_words, threads = tess_reduce_gpu_leaf_threads(p) / (wide ? 2 : 1);
    const bool rows = many && p->outputs <= 65535; /* a launch has no more rows of blocks */
    (void)device;
    tess_gpu_unit(layout, &tree_leaves);
    tess_reduce_gpu_node_options(layout, p);
    tess_gpu_option(layout, "-DKEPT=%d", p->kept);
    tess_gpu_option(layout, "-DRANK=%d", p->rank);
    tess_gpu_option(layout, "-DRUN=%d", run);
    tess_gpu_option(layout, "-DWORDS=%d", words);
    if (p->rank > 1)
        tess_gpu_option(layout, "-DRUNS=%d", runs);
    tess_gpu_option(layout, "-DMANY=%d", !many ? 0 : rows ? 1 : 2);
    tess_gpu_option(layout, "-DFEW=%d", tess_reduce_gpu_paired(leaves) <= 256);
    tess_gpu_option(layout, "-DPARTS=%d", p->records);
    tess_gpu_option(layout, "-DAT_LEAST=%d", wide ? (p->in.itemsize == 1 ? 20 : 8) : least_blocks(p) * (by_words ? 4 / (int)p->in.itemsize : 1));
    *at++ = p->k;
    *at++ = leaves;
    *at++ = p->outputs;
    *at++ = tess_reduce_gpu_word(p->ddof);
    at = tess_reduce_gpu_put_reduced(at, p);
    if (runs == 1) /* behind the lengths: 2^32 by that of a run, which counts as 2^15 at most */
        block[4 + p->rank] = tess_ceil_div((int64_t)UINT32_MAX + 1, tess_min64(p->size[1], 1 << 15));
    at = tess_reduce_gpu_put_kept(at, p, p->kept);
    size_t bytes = (size_t)(at - block) * sizeof *block;
    int64_t partial = many ? tess_gpu_reserve(layout, p->outputs * leaves * tess_reduce_gpu_node_size(p)) : 0;
    tess_gpu_step *step = tess_gpu_launch_of(layout, "tree_leaves", rows ? leaves : p->outputs * leaves, rows ? p->outputs : 1, 1, threads, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, partial);
    tess_gpu_pass(layout, step, block, bytes);
    tess_reduce_gpu_pair_launches(layout, p, leaves, partial, block, bytes);
    layout->alignment = by_words && p->rank > 1 && !wide ? 4 : 0;
}

const tess_gpu_row tess_reduce_gpu_leaves = {
    .headers = headers, .production = true, .least_arch = 80, .lay_out = lay_out, .predict = tess_reduce_predict_leaves};

/* ---- reduce/tree_lanes ---- */

static void lay_lanes(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const reduce_problem *p = of(problem);
    int64_t block[5 + 5 * (TESS_MAX_NDIM + 1)], *at = block;
    (void)device;
    tess_gpu_unit(layout, &tree_lanes);
    tess_reduce_gpu_node_options(layout, p);
    tess_gpu_option(layout, "-DKEPT=%d", p->kept);
    tess_gpu_option(layout, "-DRANK=%d", p->rank);
    /* Only of segments, whose kernels are not shipped: those of rows have one text for any stride. */
    tess_gpu_option(layout, "-DRUN=%d", p->offsets != NULL && p->rank == 1 && p->stride[0][0] == p->in.itemsize);
    tess_gpu_option(layout, "-DWORDS=0");
    tess_gpu_option(layout, "-DSEGMENTS=%d", p->offsets != NULL);
    *at++ = p->k;
    *at++ = p->outputs;
    *at++ = p->segments;
    *at++ = p->segment_stride / p->out.itemsize;
    *at++ = tess_reduce_gpu_word(p->ddof);
    at = tess_reduce_gpu_put_reduced(at, p);
    at = tess_reduce_gpu_put_kept(at, p, p->kept);
    if (p->offsets)
        tess_gpu_data(layout, p->offsets, (size_t)(p->segments + 1) * sizeof *p->offsets);
    tess_gpu_step *step = tess_gpu_launch_of(layout, "tree_lanes", p->outputs * p->segments, 1, 1, 256, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass_pointer(layout, step, p->offsets ? TESS_GPU_DATA : TESS_GPU_WORKSPACE, 0);
    tess_gpu_pass(layout, step, block, (size_t)(at - block) * sizeof *block);
}

const tess_gpu_row tess_reduce_gpu_tree_lanes = {
    .headers = headers, .production = true, .least_arch = 80, .lay_out = lay_lanes, .predict = tess_reduce_predict_lanes};
