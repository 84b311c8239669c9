/* SPDX-License-Identifier: Apache-2.0
 * gpu_patches.c - lays out reduce/tree_patches: outputs side by side of at most 256 elements each, a block for a patch of them. */
#include "ops/reduce/gpu_reduce.h"

extern const char tess_kernel_reduce_gpu_tree_patches_cu[], tess_kernel_reduce_gpu_lanes_cuh[];
static const tess_gpu_text tree_patches = {"reduce/gpu_tree_patches.cu", tess_kernel_reduce_gpu_tree_patches_cu};
const tess_gpu_text tess_reduce_gpu_lanes_header = {"ops/reduce/gpu_lanes.cuh", tess_kernel_reduce_gpu_lanes_cuh};
static const tess_gpu_text *const headers[] = {
    &tess_reduce_gpu_node_header,      &tess_reduce_gpu_tree_header,    &tess_reduce_gpu_complex_header, &tess_reduce_gpu_lanes_header,
    &tess_reduce_gpu_any_order_header, &tess_reduce_gpu_moments_header, &tess_reduce_gpu_types_header,   NULL};

enum {
    MOST_BYTES = 32768,
    MOST_RUN = 45056 /* of a set that is one run */,
    EACH = 64 /* lanes of a thread */,
    MOST_THREADS = 512,
    SHARED = 227 << 10,
    REGISTERS = 65536
};

static const reduce_problem *of(const tess_problem *problem) { return (const reduce_problem *)problem; }

typedef tess_reduce_gpu_patch shape;

static int64_t width_of(const reduce_problem *p) { return p->kept_size[p->kept - 1]; }

/* How many times as long as it might a warp's first load of elements takes. */
static double conflicts_of(const reduce_problem *p, const shape *s, bool pad) {
    const int64_t outputs = s->across * s->sets, size = p->in.itemsize;
    int32_t address[32];
    tess_gpu_shared_cost cost = {0, 0, 0};
    for (int lane = 0; lane < 32; lane++) {
        const int64_t place = lane % outputs, byte = (place / s->across * p->k * s->across + place % s->across + lane / outputs * s->across) * size;
        address[lane] = lane / outputs < s->group ? (int32_t)(pad ? byte + byte / 128 * 16 : byte) : -1;
    }
    tess_gpu_shared_request(&cost, address, (int)size, false);
    return cost.wavefronts / (cost.wavefronts - cost.conflicts);
}

bool tess_reduce_gpu_patch_of(const reduce_problem *p, shape *s) {
    const int64_t size = p->in.itemsize, width = width_of(p), column = p->k * size;
    const int lanes = tess_reduce_gpu_lanes(p->k);
    *s = (shape){.across = width, .sets = 1, .inner = 1, .vector = 1};
    s->each = (int)tess_min64(lanes, EACH);
    s->group = lanes / s->each;
    for (int64_t outputs = MOST_BYTES / column;
         tess_reduce_gpu_any_order(p) && s->group > 1 && outputs * s->group > 256;) /* lanes are nobody's there */
        s->group /= 2;
    const int64_t room = tess_min64(MOST_BYTES / column, MOST_THREADS / s->group); /* outputs */
    s->linear = p->stride[0][0] == width * size && width <= tess_min64(MOST_RUN / column, MOST_THREADS / s->group);
    if (s->linear) {
        if (p->kept > 1 && p->kept_stride[0][p->kept - 2] == column * width) {
            s->inner = p->kept_size[p->kept - 2];
            s->sets = tess_max64(1, tess_min64(s->inner, room / width));
        }
    } else {
        int64_t rest = p->stride[0][0] | width * size;
        const int64_t line = 128 / size;
        for (int d = 0; d < p->kept - 1; d++)
            rest |= p->kept_stride[0][d];
        if (room < line / 2)
            return false;
        if (room >= line && (rest % 16 == 0 || width >= 4 * line)) /* whole lines */
            s->across = tess_ceil_div(tess_ceil_div(width, tess_ceil_div(width, room / line * line)), line) * line;
        else
            s->across = tess_ceil_div(width, tess_ceil_div(width, room));
        rest |= s->across * size;
        s->vector = 16 / (int)size;
        while (s->vector > 1 && rest % (s->vector * size) != 0)
            s->vector /= 2;
        s->shifted = s->vector * size < 4; /* else copies of 4 and 8 bytes are quicker */
    }
    const int64_t bytes = s->shifted ? p->k * ((s->across * size + 31) / 16 * 16) : s->across * s->sets * column + (s->linear ? 15 : 0);
    s->conflicts = conflicts_of(p, s, false);
    s->pad = s->linear && s->conflicts > 8 && conflicts_of(p, s, true) < s->conflicts;
    s->conflicts = conflicts_of(p, s, s->pad);
    s->patch = (int)(tess_ceil_div(s->pad ? bytes / 8 * 9 + 16 : bytes, 128) * 128);
    s->threads = (int)(tess_ceil_div(s->across * s->sets * s->group, 32) * 32);
    const int64_t nodes = s->group > 1 ? s->threads * tess_reduce_gpu_node_size(p) : 0;
    int registers = 40;
    if (p->kind == REDUCE_VAR || tess_is_complex(p->in.type))
        registers = p->kind == REDUCE_VAR ? 64 : 56;
    s->follow = s->linear && p->kept > 1 && p->kept_stride[0][p->kept - 2] == column * s->across;
    s->strips = tess_ceil_div(width, s->across);
    s->groups = tess_ceil_div(s->inner, s->sets);
    s->blocks = (int)tess_max64(1, tess_min64(SHARED / (s->patch + nodes + 1040), REGISTERS / (registers * s->threads)));
    return s->patch + nodes <= 48 << 10;
}

bool tess_reduce_gpu_patches_fit(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    shape s;
    *why = "needs outputs side by side of at most 256 elements, along one axis, no segments, and no exact sum";
    if (p->exact || p->records || p->offsets || p->outputs < 1 || p->kept < 1 || p->rank != 1 || p->k < 1 || p->k > REDUCE_LANES ||
        p->kept_stride[0][p->kept - 1] != p->in.itemsize || p->stride[0][0] < width_of(p) * p->in.itemsize || p->outputs > (int64_t)1 << 33)
        return false;
    *why = "needs rows of at least 128 bytes, or patches of some outputs that fit into shared memory";
    if (!tess_reduce_gpu_patch_of(p, &s))
        return false;
    *why = "needs rows 16 bytes apart where no vectors fit them: what lies around one would reach beyond the first and the last";
    return !s.shifted || p->stride[0][0] >= 16;
}

/* Measured. */
bool tess_reduce_gpu_patches_pay(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    shape s;
    *why = "few outputs, or of few elements, are as well read where they lie, as is what has no order of many columns, and variances wait for "
           "arithmetic";
    if (tess_reduce_gpu_columns_brief(p) || p->kind == REDUCE_VAR || p->outputs < 4096 || width_of(p) < 2 || !tess_reduce_gpu_patch_of(p, &s))
        return false;
    if (tess_is_complex(p->in.type))
        return p->k > 64;
    if (s.pad)
        return p->k >= 32 && p->k < 64;
    return p->k >= (s.linear || s.vector * p->in.itemsize == 16 ? 32 : 48);
}

static void lay_out(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const reduce_problem *p = of(problem);
    const int64_t size = p->in.itemsize;
    const int last = p->kept - 1;
    int64_t block[12 + 3 * (TESS_MAX_NDIM + 1)], *at = block;
    shape s;
    (void)device;
    if (!tess_reduce_gpu_patch_of(p, &s))
        return;
    const int outer = last - s.follow;
    const int64_t blocks = s.inner * width_of(p) > 0 ? p->outputs / (s.inner * width_of(p)) * s.strips * s.groups : 0;
    tess_gpu_unit(layout, &tree_patches);
    tess_reduce_gpu_node_options(layout, p);
    tess_gpu_option(layout, "-DNARROW=1");
    tess_gpu_option(layout, "-DKEPT=%d", outer);
    tess_gpu_option(layout, "-DLINEAR=%d", s.linear);
    tess_gpu_option(layout, "-DSHIFTED=%d", s.shifted);
    tess_gpu_option(layout, "-DPAD=%d", s.pad);
    tess_gpu_option(layout, "-DVECTOR=%d", s.shifted ? 1 : s.vector);
    tess_gpu_option(layout, "-DGROUP=%d", s.group);
    tess_gpu_option(layout, "-DEACH=%d", s.each);
    tess_gpu_option(layout, "-DTHREADS=%d", s.threads);
    tess_gpu_option(layout, "-DPATCH=%d", s.patch);
    tess_gpu_option(layout, "-DAT_LEAST=%d", s.blocks);
    tess_gpu_option(layout, "-DTALL=%d", tess_is_complex(p->in.type) && !tess_reduce_gpu_any_order(p) ? (int)p->k : 0);
    *at++ = s.strips;
    *at++ = width_of(p);
    *at++ = s.groups;
    *at++ = s.inner;
    *at++ = p->stride[0][0] / size;
    *at++ = s.follow ? p->kept_stride[0][last - 1] / size : 0;
    *at++ = s.follow ? p->kept_stride[1][last - 1] / p->out.itemsize : 0;
    *at++ = p->kept_stride[1][last] / p->out.itemsize;
    *at++ = tess_reduce_gpu_word(p->ddof);
    *at++ = p->k | s.across << 32;
    *at++ = s.sets;
    at = tess_reduce_gpu_put_kept(at, p, outer);
    tess_gpu_step *step = tess_gpu_launch_of(layout, "tree_patches", blocks, 1, 1, s.threads, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass(layout, step, block, (size_t)(at - block) * sizeof *block);
    layout->alignment = !s.linear && !s.shifted && s.vector > 1 ? s.vector * size : 0;
}

const tess_gpu_row tess_reduce_gpu_patches = {
    .headers = headers, .production = true, .least_arch = 80, .lay_out = lay_out, .predict = tess_reduce_predict_patches};
