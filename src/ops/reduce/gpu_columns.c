/* SPDX-License-Identifier: Apache-2.0
 * gpu_columns.c - lays out reduce/tree_columns: outputs side by side, a thread a vector of them; sums by the tree's lanes, what no order can change by rows. */
#include "ops/reduce/gpu_reduce.h"

#define KERNEL_TEXT(file)                               \
    extern const char tess_kernel_reduce_##file##_cu[]; \
    static const tess_gpu_text file = {"reduce/" #file ".cu", tess_kernel_reduce_##file##_cu}
KERNEL_TEXT(gpu_tree_columns);
KERNEL_TEXT(gpu_any_columns);
extern const char tess_kernel_reduce_gpu_columns_cuh[];
static const tess_gpu_text columns_header = {"ops/reduce/gpu_columns.cuh", tess_kernel_reduce_gpu_columns_cuh};
static const tess_gpu_text *const headers[] = {&columns_header,
                                               &tess_reduce_gpu_node_header,
                                               &tess_reduce_gpu_tree_header,
                                               &tess_reduce_gpu_complex_header,
                                               &tess_reduce_gpu_across_header,
                                               &tess_reduce_gpu_any_order_header,
                                               &tess_reduce_gpu_packed_header,
                                               &tess_reduce_gpu_lanes_header,
                                               &tess_reduce_gpu_types_header,
                                               NULL};

static const reduce_problem *of(const tess_problem *problem) { return (const reduce_problem *)problem; }

enum {
    BRIEF = 128,        /* elements of a column that are few */
    COLUMN_WARPS = 4224 /* 32 a multiprocessor */
};

bool tess_reduce_gpu_columns_fit(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    *why = "needs outputs whose elements lie side by side, reduced axes, no segments, no variance, and no exact sum";
    return !p->exact && !p->records && p->kept >= 1 && p->kept_stride[0][p->kept - 1] == p->in.itemsize && p->rank >= 1 && p->k >= 1 && !p->offsets &&
           p->kind != REDUCE_VAR;
}

bool tess_reduce_gpu_columns_pay(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    *why = "fewer than 32 outputs side by side leave most of a warp idle, and of 128 elements or fewer most warps of a block";
    return p->kept_size[p->kept - 1] >= 32 && (p->k > BRIEF || tess_reduce_gpu_columns_brief(p));
}

bool tess_reduce_gpu_columns_brief(const reduce_problem *p) {
    return tess_reduce_gpu_any_order(p) && p->k <= BRIEF && tess_reduce_gpu_columns_shape_of(p).warps == 1;
}

/* What no order can change: a warp every eighth row, and leaves as long as leaves a device enough blocks. Of few rows a warp has all, where there are so many columns that a device is busy: by counts, against
 * tree_groups and tree_patches. */
static void any_columns_shape(const reduce_problem *p, tess_reduce_gpu_columns_shape *s) {
    enum { BLOCKS = 1024, LEAST = 256 /* rows of a leaf */ };
    const bool small = p->in.itemsize < 4, bytes = p->in.itemsize == 1, half = p->in.itemsize == 2;
    const int64_t width = p->kept_size[p->kept - 1], sets = width > 0 ? p->outputs / width : 0;
    s->warps = s->rows = 8;
    s->packed = tess_reduce_gpu_packs(p) && s->vector * p->in.itemsize >= 4 && (bytes || (half && p->kind == REDUCE_EXTREME));
    s->rounds = s->ragged ? 4 : bytes && p->kind != REDUCE_ARG && p->rank == 1 ? 8 : small ? 6 : 4;
    s->blocks = s->ragged && p->kind == REDUCE_ARG ? 3 : small ? 4 : 5;
    s->strips = tess_ceil_div(width, 32 * s->vector);
    const int64_t least = small && !s->ragged ? 8 : 17;
    if (p->in.itemsize <= 4 && (!small || s->vector * p->in.itemsize >= 8) && p->k >= least && p->k <= BRIEF && width >= 128 &&
        sets * s->strips >= COLUMN_WARPS) {
        s->warps = s->rows = 1;
        s->blocks = (int)tess_min64(32, 8 * s->blocks);
        if (!s->ragged) /* measured: of narrow vectors more on their way; of more rows, by blocks of 8 warps, 8 and 16 lost */
            s->rounds = (int)tess_max64(s->rounds, tess_min64(16, 64 / (s->vector * p->in.itemsize)));
        s->rounds = (int)tess_ceil_div(p->k, tess_ceil_div(p->k, s->rounds)); /* in turns alike */
    }
    while (s->leaf > LEAST && sets * s->strips * tess_ceil_div(p->k, s->leaf) < BLOCKS)
        s->leaf /= 2;
    s->leaves = tess_ceil_div(p->k, s->leaf);
    s->met = p->kind == REDUCE_ARG && small ? 4 : s->leaves > 1 ? tess_reduce_gpu_node_size(p) : tess_reduce_gpu_narrow_node_size(p);
}

tess_reduce_gpu_columns_shape tess_reduce_gpu_columns_shape_of(const reduce_problem *p) {
    const int last = p->kept - 1;
    const int64_t size = p->in.itemsize, width = p->kept_size[last];
    int64_t rest = width * size;
    tess_reduce_gpu_columns_shape s = {.any = tess_reduce_gpu_any_order(p), .leaf = REDUCE_LEAF};
    s.vector = s.any || size >= 8 ? 16 / size : size == 4 ? 4 : 8 / size;
    for (int d = 0; d < last; d++)
        rest |= p->kept_stride[0][d];
    for (int d = 0; d < p->rank; d++)
        rest |= p->stride[0][d];
    s.ragged = s.any && p->rank == 1 && size <= 2 && rest % 16 != 0 && width >= 16 * s.vector; /* single small elements are too slow */
    while (!s.ragged && s.vector > 1 && (rest % (s.vector * size) != 0 || width < 32 * s.vector))
        s.vector /= 2;
    /* Along several axes a row costs a look-up, so strips should be full: measured, vectors of 8 bytes in place of 16 of 304 f16 (three strips in place of two, 0.136 -> 0.120 ms) and of 300 f32 (five in place of
     * three, 0.207 -> 0.190). */
    while (p->rank > 1 && s.vector > 1 && s.vector * size > 8 && width * 5 < tess_ceil_div(width, 32 * s.vector) * 32 * s.vector * 4)
        s.vector /= 2;
    if (s.vector * size < 4)
        s.vector = 1;
    if (s.any) {
        any_columns_shape(p, &s);
        return s;
    }
    const bool few = p->k <= 2 * REDUCE_LANES;
    const int64_t node = tess_reduce_gpu_node_size(p);
    if (few && size == 4 && s.vector == 4 && node == 8) /* measured: norms of 300 f32 68 -> 91 % */
        s.vector = 2;
    /* Short columns: a block is done after one load or two of each lane, and more warps do it in one go; but 32 of them have 64 registers a thread. Measured. */
    const bool brief = p->k <= 2048 && size > 2 && s.vector * node <= 16;
    enum { MOST = 64 /* classes of lanes: four each */ };
    if (few && p->kind == REDUCE_PROD && p->in.type == tess_c64) /* measured: of 300 c64 81 -> 100 % */
        s.warps = 8;
    else if (brief)
        s.warps = p->acc == tess_f64 || (p->acc == tess_c128 && !few) ? 16 : 32;
    else
        s.warps = size == 2 && few ? 16 : 8;
    s.rows = brief || (size == 2 && few) ? 2 : 4;
    s.strips = tess_ceil_div(width / s.vector, 32);
    s.leaves = tess_ceil_div(p->k, s.leaf);
    s.split = 1;
    while (s.split * s.warps < MOST && (width > 0 ? p->outputs / width : 0) * s.strips * s.leaves * s.warps < COLUMN_WARPS) {
        s.split *= 2;
        s.leaves *= 2;
    }
    return s;
}

int64_t tess_reduce_gpu_columns_spot(const tess_reduce_gpu_columns_shape *s, int64_t i) {
    return i + i / (s->met <= 4 ? 32 : s->met <= 8 || s->vector > 8 ? 16 : 8);
}

static void lay_out(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const reduce_problem *p = of(problem);
    const tess_reduce_gpu_columns_shape s = tess_reduce_gpu_columns_shape_of(p);
    int last = p->kept - 1;
    int64_t size = p->in.itemsize, width = p->kept_size[last], block[8 + 5 * (TESS_MAX_NDIM + 1)], *at = block;
    const int64_t batches = width > 0 ? p->outputs / width : 0;
    (void)device;
    tess_gpu_unit(layout, s.any ? &gpu_any_columns : &gpu_tree_columns);
    tess_reduce_gpu_node_options(layout, p);
    tess_gpu_option(layout, "-DKEPT=%d", last);
    tess_gpu_option(layout, "-DRANK=%d", p->rank);
    tess_gpu_option(layout, "-DVECTOR=%d", (int)s.vector);
    tess_gpu_option(layout, "-DROWS=%d", s.rows);
    if (s.any) {
        tess_gpu_option(layout, "-DNARROW=%d", s.leaves == 1);
        tess_gpu_option(layout, "-DPACKED=%d", s.packed);
        tess_gpu_option(layout, "-DRAGGED=%d", s.ragged);
        tess_gpu_option(layout, "-DLEAF=%d", (int)s.leaf);
        tess_gpu_option(layout, "-DROUNDS=%d", s.rounds);
        tess_gpu_option(layout, "-DAT_LEAST=%d", s.blocks);
        tess_gpu_option(layout, "-DROOM=%d", (int)tess_reduce_gpu_columns_spot(&s, 32 * s.vector * s.rows));
    } else {
        tess_gpu_option(layout, "-DWARPS=%d", s.warps);
        tess_gpu_option(layout, "-DSPLIT=%d", s.split);
    }
    *at++ = p->k;
    *at++ = s.leaves;
    *at++ = width;
    *at++ = batches;
    *at++ = tess_reduce_gpu_word(p->ddof);
    *at++ = p->kept_stride[1][last] / p->out.itemsize;
    for (int d = 0; d < p->rank; d++)
        *at++ = p->stride[0][d] / size;
    for (int d = 0; d < p->rank && p->rank > 1; d++)
        *at++ = p->size[d];
    at = tess_reduce_gpu_put_kept(at, p, last);
    const size_t bytes = (size_t)(at - block) * sizeof *block;
    if (s.ragged) {
        int64_t low = 0, high = width;
        for (int d = 0; d <= last; d++) {
            const int64_t steps = d < last ? p->kept_size[d] - 1 : p->k - 1, step = d < last ? p->kept_stride[0][d] : p->stride[0][0];
            *(step < 0 ? &low : &high) += steps * (step / size);
        }
        *at++ = low;
        *at++ = high;
    }
    int64_t partial = s.leaves > 1 ? tess_gpu_reserve(layout, p->outputs * s.leaves * tess_reduce_gpu_node_size(p)) : 0;
    tess_gpu_step *step = tess_gpu_launch_of(layout, s.any ? "any_columns" : "tree_columns", s.strips * s.leaves * batches, 1, 1, 32 * s.warps, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, partial);
    tess_gpu_pass(layout, step, block, (size_t)(at - block) * sizeof *block);
    if (s.leaves > 1) {
        step = tess_gpu_launch_of(layout, "finish", tess_ceil_div(p->outputs, 256), 1, 1, 256, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, partial);
        tess_gpu_pass(layout, step, block, bytes);
    }
    layout->alignment = s.vector > 1 && !s.ragged ? s.vector * size : 0;
}

const tess_gpu_row tess_reduce_gpu_tree_columns = {
    .headers = headers, .production = true, .least_arch = 80, .lay_out = lay_out, .predict = tess_reduce_predict_columns};
