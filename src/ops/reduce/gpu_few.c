/* SPDX-License-Identifier: Apache-2.0
 * gpu_few.c - lays out reduce/tree_few: few elements of many outputs, all elements of an output a thread's. */
#include "ops/reduce/gpu_reduce.h"

extern const char tess_kernel_reduce_gpu_tree_few_cu[];
static const tess_gpu_text tree_few = {"reduce/gpu_tree_few.cu", tess_kernel_reduce_gpu_tree_few_cu};
static const tess_gpu_text *const headers[] = {&tess_reduce_gpu_node_header,     &tess_reduce_gpu_tree_header,      &tess_reduce_gpu_complex_header,
                                               &tess_reduce_gpu_lanes_header,    &tess_reduce_gpu_any_order_header, &tess_reduce_gpu_moments_header,
                                               &tess_reduce_gpu_divisors_header, &tess_reduce_gpu_types_header,     NULL};

enum {
    MOST_WORDS = 128, /* of a thread's elements */
    MOST_TEXT = 256,  /* elements of a thread */
    THREADS = 256,
    REGISTERS = 65536 / THREADS,
    OTHERS = 20,  /* registers of addresses and the like */
    MOMENTS = 12, /* more that a variance has, and for each column of a vector: */
    MEANS = 4,
    AS_WIDE = 24 /* elements that a variance keeps as f64, HELD_AS_WIDE of the kernel */
};

static const reduce_problem *of(const tess_problem *problem) { return (const reduce_problem *)problem; }

/* Words of small elements; of a few longer ones two, so that enough are on their way (measured). Results of a vector are stored as one. */
static int vector_of(const reduce_problem *p) {
    const int last = p->kept - 1, size = (int)p->in.itemsize;
    int64_t rest = p->stride[0][0] | p->kept_size[last] * size;
    int bytes = p->k <= (p->kind == REDUCE_VAR ? 4 : 8) ? 8 : 4;
    for (int d = 0; d < last; d++)
        rest |= p->kept_stride[0][d];
    while (bytes > size && (rest % bytes != 0 || bytes / size * p->out.itemsize > 16 || p->k * bytes / size > MOST_TEXT))
        bytes /= 2;
    return p->kept_stride[0][last] == size && bytes > size ? bytes / size : 1;
}

tess_reduce_gpu_few_shape tess_reduce_gpu_few_shape_of(const reduce_problem *p) {
    tess_reduce_gpu_few_shape s = {.vector = vector_of(p)};
    int64_t depth = 1;
    while ((int64_t)1 << depth < p->k)
        depth++;
    const bool wide = p->kind == REDUCE_VAR && p->k * s.vector <= AS_WIDE;
    const int64_t node = p->kind == REDUCE_VAR ? 8 : tess_reduce_gpu_narrow_node_size(p), words = tess_ceil_div(s.vector * p->in.itemsize, 4) * p->k,
                  held = wide ? 2 * p->k * s.vector : words, others = OTHERS + (p->kind == REDUCE_VAR ? MOMENTS + MEANS * s.vector : 0);
    s.words = (int)words;
    s.blocks = (int)tess_max64(1, tess_min64(8, REGISTERS / (others + held + depth * s.vector * tess_ceil_div(node, 4))));
    return s;
}

bool tess_reduce_gpu_few_fit(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    *why = "needs few elements an output along one axis, at most 128 of 4 bytes or as many words, no segments, and no exact sum";
    return !p->exact && !p->records && !p->offsets && p->outputs >= 1 && p->kept >= 1 && p->rank == 1 && p->k >= 1 && p->k <= MOST_WORDS &&
           tess_reduce_gpu_few_shape_of(p).words <= MOST_WORDS && p->outputs <= (int64_t)1 << 33;
}

/* Elements that a thread has at the least: measured beside tree_groups, which is as quick where a column of few is a thread's and no vector. */
static int64_t least(const reduce_problem *p, int vector) {
    const int64_t size = p->in.itemsize;
    return vector > 1 || size >= 8 || p->kind == REDUCE_VAR ? 4 : size < 4 ? 8 : 5;
}

/* And at the most: of variances beside tree_moments, of what no order can change beside tree_columns, of sums what fits. */
static int64_t most(const reduce_problem *p, int vector) {
    const bool small = p->in.itemsize < 4;
    if (p->kind == REDUCE_VAR)
        return !small ? 256 / p->in.itemsize : vector == 1 ? 48 : p->in.itemsize == 2 ? 24 : 16;
    return small && tess_reduce_gpu_any_order(p) ? 16 : MOST_WORDS;
}

/* Measured, of 4 to 128 elements in 8 to 512 Ki columns. */
bool tess_reduce_gpu_few_pay(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    const int64_t size = p->in.itemsize, width = p->kept_size[p->kept - 1];
    const int vector = tess_reduce_gpu_few_shape_of(p).vector;
    *why = "few outputs, fewer than 8 side by side, or of very few or many elements, are as well read otherwise, as is what no order can change of "
           "whole vectors";
    if (p->outputs < 4096 || width < 8 || p->kept_stride[0][p->kept - 1] != size || p->k < least(p, vector) || p->k > most(p, vector))
        return false;
    if ((width < 32 && p->k > 24) || (width < 16 && p->k < 16 && size == 4 && p->kind != REDUCE_VAR))
        return false;
    return !tess_reduce_gpu_columns_brief(p) || (size == 4 && tess_reduce_gpu_columns_shape_of(p).vector < 4);
}

static void lay_out(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const reduce_problem *p = of(problem);
    int64_t block[3 + 3 * (TESS_MAX_NDIM + 1)], divisors[4], *at = block;
    const tess_reduce_gpu_few_shape s = tess_reduce_gpu_few_shape_of(p);
    (void)device;
    tess_gpu_unit(layout, &tree_few);
    tess_reduce_gpu_node_options(layout, p);
    tess_gpu_option(layout, "-DNARROW=1");
    tess_gpu_option(layout, "-DPACKED=0");
    tess_gpu_option(layout, "-DKEPT=%d", p->kept);
    tess_gpu_option(layout, "-DTALL=%d", (int)p->k);
    tess_gpu_option(layout, "-DVECTOR=%d", s.vector);
    tess_gpu_option(layout, "-DSMALL=%d", p->outputs < INT32_MAX);
    tess_gpu_option(layout, "-DAT_LEAST=%d", s.blocks);
    *at++ = p->outputs;
    *at++ = p->stride[0][0] / p->in.itemsize;
    *at++ = tess_reduce_gpu_word(p->ddof);
    at = tess_reduce_gpu_put_kept(at, p, p->kept);
    tess_gpu_step *step = tess_gpu_launch_of(layout, "tree_few", tess_ceil_div(p->outputs, THREADS * s.vector), 1, 1, THREADS, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass(layout, step, block, (size_t)(at - block) * sizeof *block);
    tess_reduce_gpu_put_divisors(divisors, p);
    tess_gpu_pass(layout, step, divisors, sizeof divisors);
    layout->alignment = s.vector > 1 ? s.vector * p->in.itemsize : 0;
}

const tess_gpu_row tess_reduce_gpu_few = {
    .headers = headers, .production = true, .least_arch = 80, .lay_out = lay_out, .predict = tess_reduce_predict_few};
