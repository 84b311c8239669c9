/* SPDX-License-Identifier: Apache-2.0
 * gpu_twice.c - lays out reduce/tree_twice: variances of outputs side by side whose rows follow one another, a leaf in classes of lanes, each of which is read twice. */
#include "ops/reduce/gpu_reduce.h"

extern const char tess_kernel_reduce_gpu_tree_twice_cu[];
static const tess_gpu_text tree_twice = {"reduce/gpu_tree_twice.cu", tess_kernel_reduce_gpu_tree_twice_cu};
static const tess_gpu_text *const headers[] = {
    &tess_reduce_gpu_node_header,    &tess_reduce_gpu_tree_header,   &tess_reduce_gpu_lanes_header, &tess_reduce_gpu_any_order_header,
    &tess_reduce_gpu_moments_header, &tess_reduce_gpu_finish_header, &tess_reduce_gpu_types_header, NULL};

enum {
    ARMS = TESS_REDUCE_GPU_TWICE_ARMS,
    LANES = REDUCE_LANES / ARMS,
    WIDE = 16, /* bytes of a vector; of small elements half, whose means would take too many registers */
    TERMS = REDUCE_LEAF / REDUCE_LANES,
    /* Warps of a multiprocessor. All vectors of a thread are on their way together, of half the bytes half of them: what is begun is to be little, for it must stay in L2. */
    WARPS = 12,
    SMALL_WARPS = 24,
    MOST_ROW = 1 << 16,    /* bytes */
    MOST_TURNS = 4,        /* classes of a last leaf that a block has one after another */
    STATE = 12,            /* bytes */
    LEAST = 2048,          /* elements, for it to pay */
    MOST_HELD = 227 << 10, /* bytes of a block */
    SECTOR = 32,           /* bytes: strips of columns are as good where rows are whole ones */
    MOST_PAID = 288,       /* bytes of a row, and of rows of small elements that are whole words so many at least (measured: notes-gpu.md) */
    LEAST_WORDS = 128,
    LEAST_ALL = 64 << 20 /* bytes */
};

typedef tess_reduce_gpu_twice_shape shape;

static const reduce_problem *of(const tess_problem *problem) { return (const reduce_problem *)problem; }

static int64_t width_of(const reduce_problem *p) { return p->kept_size[p->kept - 1]; }

static int64_t leaves_of(const reduce_problem *p) { return tess_ceil_div(p->k, REDUCE_LEAF); }

shape tess_reduce_gpu_twice_shape_of(const reduce_problem *p, const tess_gpu_device *device) {
    const int64_t size = p->in.itemsize, sms = device ? device->sms : 132;
    static const int classes[2][5] = {{16, 12, 20, 24, 16},
                                      {24, 32, 16, 20, 28}}; /* of vectors of 16 bytes and of 8: as few threads as may be that idle */
    shape s = {.vector = (int)((size < 4 ? WIDE / 2 : WIDE) / size)};
    const int64_t bytes = s.vector * size, circle = LANES * width_of(p) / s.vector;
    int64_t rest = p->k * width_of(p) * size, best = INT64_MAX;
    for (int i = 0; i < TESS_COUNT(classes[0]); i++) {
        const int cls = classes[bytes < WIDE][i];
        if (tess_ceil_div(circle, cls) * cls < best) {
            best = tess_ceil_div(circle, cls) * cls;
            s.cls = cls;
        }
    }
    s.classes = (int)tess_ceil_div(circle, s.cls);
    s.threads = (int)tess_ceil_div(ARMS * s.cls, 32) * 32;
    s.blocks = (size == 2 ? SMALL_WARPS : WARPS) * 32 / s.threads;
    s.rounds = bytes < WIDE ? TERMS / 2 : TERMS;
    s.behind = s.classes + s.blocks * sms / 2;
    s.last = (int)((p->k - 1) % REDUCE_LEAF + 1);
    s.turns = (int)tess_max64(1, tess_min64(MOST_TURNS, s.rounds / tess_ceil_div(s.last, REDUCE_LANES)));
    s.of_set = (leaves_of(p) - (s.last < REDUCE_LEAF)) * s.classes + (s.last < REDUCE_LEAF ? tess_ceil_div(s.classes, s.turns) : 0);
    for (int d = 0; d < p->kept - 1; d++)
        rest |= p->kept_stride[0][d];
    s.ragged = rest % bytes != 0;
    return s;
}

bool tess_reduce_gpu_twice_fit(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    int64_t leaves;
    *why =
        "makes variances of outputs side by side whose rows follow one another, of two bytes and more, along one axis, no segments, of all elements";
    if (p->kind != REDUCE_VAR || p->in.itemsize == 1 || p->records || p->offsets || p->omit || p->outputs < 1 || p->kept < 1 || p->rank != 1 ||
        p->k < 1 || width_of(p) < 2 || p->kept_stride[0][p->kept - 1] != p->in.itemsize || p->stride[0][0] != width_of(p) * p->in.itemsize)
        return false;
    *why = "needs rows of at most 64 KiB, and fewer than 2^30 classes of lanes";
    if (width_of(p) * p->in.itemsize > MOST_ROW || TESS_MUL_OVERFLOWS(p->outputs / width_of(p), leaves_of(p), &leaves))
        return false;
    const shape s = tess_reduce_gpu_twice_shape_of(p, NULL);
    return leaves < (1 << 30) / s.classes - 4096;
}

bool tess_reduce_gpu_twice_pay(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    const int64_t row = width_of(p) * p->in.itemsize, all = p->outputs / width_of(p) * p->k;
    *why = "wants 64 MiB of some thousand rows of few columns, which are no whole sectors, and of which a block cannot hold a "
           "leaf";
    if (p->in.itemsize == 2 && row % 4 == 0 && row < LEAST_WORDS)
        return false;
    return p->k >= LEAST && row <= MOST_PAID && row % SECTOR != 0 && tess_min64(p->k, REDUCE_LEAF) * row > MOST_HELD && all >= LEAST_ALL / row;
}

static void lay_out(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const reduce_problem *p = of(problem);
    const int64_t leaves = leaves_of(p), width = width_of(p), sets = p->outputs / width, units = sets * leaves;
    int64_t block[7 + 3 * (TESS_MAX_NDIM + 1)], *at = block;
    const shape s = tess_reduce_gpu_twice_shape_of(p, device);
    tess_gpu_unit(layout, &tree_twice);
    tess_reduce_gpu_node_options(layout, p);
    tess_gpu_option(layout, "-DNARROW=%d", leaves == 1);
    tess_gpu_option(layout, "-DKEPT=%d", p->kept);
    tess_gpu_option(layout, "-DACROSS=%d", (int)width);
    tess_gpu_option(layout, "-DVECTOR=%d", s.vector);
    tess_gpu_option(layout, "-DCLASS=%d", s.cls);
    tess_gpu_option(layout, "-DCLASSES=%d", s.classes);
    tess_gpu_option(layout, "-DTURNS=%d", s.turns);
    tess_gpu_option(layout, "-DLAST=%d", s.last);
    tess_gpu_option(layout, "-DROUNDS=%d", s.rounds);
    tess_gpu_option(layout, "-DRAGGED=%d", s.ragged);
    tess_gpu_option(layout, "-DBLOCK=%d", s.threads);
    tess_gpu_option(layout, "-DAT_LEAST=%d", s.blocks);
    tess_gpu_option(layout, "-DMANY=%d", leaves > 1);
    tess_gpu_option(layout, "-DFEW=%d", tess_reduce_gpu_paired(leaves) <= 256);
    *at++ = p->k;
    *at++ = leaves;
    *at++ = p->outputs;
    *at++ = tess_reduce_gpu_word(p->ddof);
    *at++ = sets * s.of_set | s.of_set << 32;
    *at++ = s.behind;
    at = tess_reduce_gpu_put_kept(at, p, p->kept);
    const size_t bytes = (size_t)(at - block) * sizeof *block;
    const int64_t states = tess_gpu_reserve(layout, units * STATE), sums = tess_gpu_reserve(layout, units * LANES * width * 8),
                  means = tess_gpu_reserve(layout, units * width * 8),
                  partial = leaves > 1 ? tess_gpu_reserve(layout, p->outputs * leaves * tess_reduce_gpu_node_size(p)) : 0;
    layout->zeroed = units * STATE;
    tess_gpu_step *step = tess_gpu_launch_of(layout, "tree_twice", 2 * (sets * s.of_set + s.behind), 1, 1, s.threads, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, states);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, sums);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, means);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, partial);
    tess_gpu_pass(layout, step, block, bytes);
    tess_reduce_gpu_pair_launches(layout, p, leaves, partial, block, bytes);
    layout->alignment = s.ragged ? 0 : s.vector * p->in.itemsize;
}

const tess_gpu_row tess_reduce_gpu_twice = {
    .headers = headers, .production = true, .least_arch = 80, .lay_out = lay_out, .predict = tess_reduce_predict_twice};
