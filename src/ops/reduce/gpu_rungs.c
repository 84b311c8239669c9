/* SPDX-License-Identifier: Apache-2.0
 * gpu_rungs.c - the ladder of reductions: fourteen kernels from neighbouring pairs to one launch, run by name.
 *
 * They merge in orders of their own. So they take what no order can change - sums of integers, extremes, places, counts - of one array without gaps to one
 * value, and there give the bits of every other row. */
#include "ops/reduce/gpu_reduce.h"

#define KERNEL_TEXT(file)                               \
    extern const char tess_kernel_reduce_##file##_cu[]; \
    static const tess_gpu_text file = {"reduce/" #file ".cu", tess_kernel_reduce_##file##_cu}
KERNEL_TEXT(gpu_neighbored);
KERNEL_TEXT(gpu_neighbored_packed);
KERNEL_TEXT(gpu_interleaved);
KERNEL_TEXT(gpu_unroll);
KERNEL_TEXT(gpu_shared);
KERNEL_TEXT(gpu_shuffle);
KERNEL_TEXT(gpu_grid_stride);
extern const char tess_kernel_reduce_gpu_ladder_cuh[];
static const tess_gpu_text ladder_header = {"ops/reduce/gpu_ladder.cuh", tess_kernel_reduce_gpu_ladder_cuh};
static const tess_gpu_text *const headers[] = {&tess_reduce_gpu_node_header, &tess_reduce_gpu_tree_header, &tess_reduce_gpu_types_header,
                                               &ladder_header, NULL};

enum { BLOCK = REDUCE_GPU_BLOCK };

bool tess_reduce_gpu_rung_fits(const tess_problem *problem, const char **why) {
    const reduce_problem *p = (const reduce_problem *)problem;
    *why = "merges in an order of its own: takes integer sums, extremes, places and counts only";
    if (tess_is_complex(p->in.type) || p->exact || p->records || p->kind == REDUCE_VAR ||
        ((p->kind == REDUCE_SUM || p->kind == REDUCE_PROD) && !reduce_is_integer(p->acc)))
        return false;
    *why = "takes one array without gaps to one value";
    return p->outputs == 1 && p->rank == 1 && p->stride[0][0] == p->in.itemsize && p->k >= 1 && !p->offsets;
}

bool tess_reduce_gpu_rung_pays(const tess_problem *problem, const char **why) {
    (void)problem;
    *why = "a rung of the ladder, run by name only";
    return false;
}

static void begin(tess_gpu_layout *layout, const reduce_problem *p, const tess_gpu_text *text) {
    tess_gpu_unit(layout, text);
    tess_reduce_gpu_node_options(layout, p);
    tess_gpu_option(layout, "-DBLOCK=%d", BLOCK);
}

static void add_finish(tess_gpu_layout *layout, const reduce_problem *p, int64_t root) {
    tess_gpu_step *step = tess_gpu_launch_of(layout, "finish", 1, 1, 1, 1, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, root);
    tess_gpu_pass_i64(layout, step, p->k);
}

/* Passes until one value is left. copies: `load` first makes nodes of the elements, which the kernel then destroys; else it reads the elements by `first`
 * and nodes by `second`. blocks_most: 0 = one block a stretch. */
static void passes(tess_gpu_layout *layout, const reduce_problem *p, const char *entry, int64_t stretch, bool copies, int64_t blocks_most) {
    int64_t n = p->k, size = tess_reduce_gpu_node_size(p), from = 0;
    if (copies) {
        from = tess_gpu_reserve(layout, n * size);
        tess_gpu_step *step = tess_gpu_launch_of(layout, "load", tess_ceil_div(n, BLOCK), 1, 1, BLOCK, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, from);
        tess_gpu_pass_i64(layout, step, n);
    }
    for (bool again = false; n > 1 || !again; again = true) {
        int64_t blocks = tess_ceil_div(n, stretch);
        if (blocks_most > 0)
            blocks = again ? 1 : tess_min64(tess_ceil_div(n, BLOCK), blocks_most);
        int64_t to = tess_gpu_reserve(layout, blocks * size);
        tess_gpu_step *step = tess_gpu_launch_of(layout, copies ? entry : again ? "second" : "first", blocks, 1, 1, BLOCK, 0);
        tess_gpu_pass_pointer(layout, step, copies || again ? TESS_GPU_WORKSPACE : TESS_GPU_IN, from);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, to);
        tess_gpu_pass_i64(layout, step, n);
        from = to;
        n = blocks;
    }
    add_finish(layout, p, from);
}

#define IN_PLACE(name, file, entry, unroll, tail)                                                              \
    static void lay_##name(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) { \
        const reduce_problem *p = (const reduce_problem *)base;                                                \
        (void)device;                                                                                          \
        begin(layout, p, &file);                                                                               \
        tess_gpu_option(layout, "-DUNROLL=%d", unroll);                                                        \
        tess_gpu_option(layout, "-DTAIL=%d", tail);                                                            \
        passes(layout, p, entry, (int64_t)BLOCK *(unroll), true, 0);                                           \
    }
IN_PLACE(neighbored, gpu_neighbored, "neighbored", 1, 0)
IN_PLACE(neighbored_packed, gpu_neighbored_packed, "neighbored_packed", 1, 0)
IN_PLACE(interleaved, gpu_interleaved, "interleaved", 1, 0)
IN_PLACE(unroll2, gpu_unroll, "unroll", 2, 0)
IN_PLACE(unroll4, gpu_unroll, "unroll", 4, 0)
IN_PLACE(unroll8, gpu_unroll, "unroll", 8, 0)
IN_PLACE(unroll8_warp, gpu_unroll, "unroll", 8, 1)
IN_PLACE(complete_unroll, gpu_unroll, "unroll", 8, 2)
IN_PLACE(template, gpu_unroll, "unroll", 8, 3)

#define BESIDE(name, file, unroll)                                                                             \
    static void lay_##name(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) { \
        const reduce_problem *p = (const reduce_problem *)base;                                                \
        (void)device;                                                                                          \
        begin(layout, p, &file);                                                                               \
        tess_gpu_option(layout, "-DUNROLL=%d", unroll);                                                        \
        passes(layout, p, NULL, (int64_t)BLOCK *(unroll), false, 0);                                           \
    }
BESIDE(shared, gpu_shared, 1)
BESIDE(shared_unroll8, gpu_shared, 8)
BESIDE(shuffle, gpu_shuffle, 8)

int64_t tess_reduce_gpu_resident(const tess_gpu_device *device) {
    return device ? (int64_t)device->sms * (device->threads_sm / BLOCK) : 132 * (2048 / BLOCK);
}

static void lay_grid_stride(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const reduce_problem *p = (const reduce_problem *)base;
    begin(layout, p, &gpu_grid_stride);
    tess_gpu_option(layout, "-DTICKET=0");
    passes(layout, p, NULL, BLOCK, false, tess_reduce_gpu_resident(device));
}

static void lay_single_pass(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const reduce_problem *p = (const reduce_problem *)base;
    int64_t blocks = tess_min64(tess_ceil_div(p->k, BLOCK), tess_reduce_gpu_resident(device)), ticket = tess_gpu_reserve(layout, 4),
            partial = tess_gpu_reserve(layout, blocks * tess_reduce_gpu_node_size(p));
    layout->zeroed = 4;
    begin(layout, p, &gpu_grid_stride);
    tess_gpu_option(layout, "-DTICKET=1");
    tess_gpu_step *step = tess_gpu_launch_of(layout, "single_pass", blocks, 1, 1, BLOCK, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, ticket);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, partial);
    tess_gpu_pass_i64(layout, step, p->k);
}

#define RUNG(number, name)                        \
    const tess_gpu_row tess_reduce_gpu_##name = { \
        .headers = headers, .rung = number, .least_arch = 80, .lay_out = lay_##name, .predict = tess_reduce_predict_##name};
TESS_REDUCE_RUNGS(RUNG)
