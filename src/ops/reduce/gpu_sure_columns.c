/* SPDX-License-Identifier: Apache-2.0
 * gpu_sure_columns.c - lays out reduce/exact_sure: exact sums of outputs side by side and of long rows, by levels alone, and then, where these leave an output in doubt, by levels and digits. Complex
 * numbers are two columns of real ones. */
#include "ops/reduce/gpu_reduce.h"

extern const char tess_kernel_reduce_gpu_sure_columns_cu[], tess_kernel_reduce_gpu_exact_sure_cuh[];
static const tess_gpu_text sure_columns = {"reduce/gpu_sure_columns.cu", tess_kernel_reduce_gpu_sure_columns_cu};
const tess_gpu_text tess_reduce_gpu_exact_sure_header = {"ops/reduce/gpu_exact_sure.cuh", tess_kernel_reduce_gpu_exact_sure_cuh};
static const tess_gpu_text *const headers[] = {&tess_reduce_gpu_node_header,        &tess_reduce_gpu_tree_header,
                                               &tess_reduce_gpu_complex_header,     &tess_reduce_gpu_exact_header,
                                               &tess_reduce_gpu_exact_group_header, &tess_reduce_gpu_stage_header,
                                               &tess_reduce_gpu_types_header,       &tess_reduce_gpu_exact_levels_header,
                                               &tess_reduce_gpu_exact_sure_header,  NULL};

enum {
    LANES = 132 * 1024, /* of an H200, as far as registers go */
    BLOCK = 256,
    AT_LEAST = 4,          /* blocks that a multiprocessor has registers for */
    MOST = 8192,           /* rows of a lane: sums of so many f16 are one f64; and of a column that a warp adds up again */
    MOST_SHARED = 1 << 19, /* of a block: with levels of so many the greatest numbers still have a field */
    FEW_ROWS = 64,
    BRIEF = 24, /* measured: of 4 to 19 f32 in 4095 and 4096 columns exact_columns takes 84 to 99 % of the time, of 32 it is slower */
    BRIEF_SIDE = 1024,
    LONG_ROWS = 1 << 17,  /* of a block, which then ends seldom */
    LEAST_BYTES = 1 << 20 /* of which three launches are a share worth their while */
};

/* How outputs lie for the kernels: as real numbers, the last of the kept axes side by side. */
typedef struct view {
    reduce_problem p;
    bool rows; /* the elements of one output follow one another */
    int side;  /* columns of a lane */
    tess_reduce_gpu_columns sure, exact;
    int64_t strips; /* of all sets */
} view;

static const reduce_problem *of(const tess_problem *problem) { return (const reduce_problem *)problem; }

/* Elements become two numbers each, which are two columns, if sums of either are asked for. */
static void split_complex(reduce_problem *p) {
    const bool joined = p->kept > 0 && p->kept_stride[0][p->kept - 1] == p->in.itemsize && p->kept_stride[1][p->kept - 1] == p->out.itemsize;
    p->in.type = p->in.type == tess_c64 ? tess_f32 : tess_f64;
    p->out.type = p->out.type == tess_c64 ? tess_f32 : tess_f64;
    p->load = p->acc = p->result = tess_f64;
    p->in.itemsize /= 2;
    p->out.itemsize /= 2;
    p->outputs *= 2;
    if (joined) {
        p->kept_size[p->kept - 1] *= 2;
    } else {
        p->kept_size[p->kept] = 2;
        p->kept++;
    }
    p->kept_stride[0][p->kept - 1] = p->in.itemsize;
    p->kept_stride[1][p->kept - 1] = p->out.itemsize;
}

/* Two neighbours of 16 bits are a lane's if they lie in a word wherever rows begin, or would if the first one did. */
static int side_of(const reduce_problem *p) {
    bool even = p->in.itemsize == 2 && p->kept_size[p->kept - 1] % 2 == 0 && p->stride[0][0] / 2 % 2 == 0;
    for (int d = 0; d + 1 < p->kept; d++)
        even = even && p->kept_stride[0][d] / 2 % 2 == 0;
    return even ? 2 : 1;
}

static bool make_view(const reduce_problem *p, view *v) {
    *v = (view){.p = *p};
    if (!p->exact || p->records || p->offsets || p->rank != 1 || p->k < 1 || p->k >= 1 << 30 || p->outputs < 1 || p->outputs > (int64_t)1 << 33)
        return false;
    v->rows = p->kept < 1 || p->kept_stride[0][p->kept - 1] != p->in.itemsize;
    if (v->rows && (p->stride[0][0] != p->in.itemsize || p->kept == TESS_MAX_NDIM))
        return false;
    if (tess_is_complex(p->in.type) && !p->omit && p->acc == tess_c128) {
        split_complex(&v->p);
    } else if (!tess_is_float(p->in.type)) {
        return false;
    } else if (v->rows) {
        v->p.kept_size[p->kept] = 1;
        v->p.kept_stride[0][p->kept] = p->in.itemsize;
        v->p.kept_stride[1][p->kept] = p->out.itemsize;
        v->p.kept++;
    }
    p = &v->p;
    v->side = side_of(p);
    const int64_t width = p->kept_size[p->kept - 1] / v->side;
    tess_reduce_gpu_columns *sure = &v->sure, *exact = &v->exact;
    *exact = tess_reduce_gpu_columns_of(p);
    *sure = (tess_reduce_gpu_columns){.threads = BLOCK, .blocks = AT_LEAST};
    sure->alone = exact->alone = !v->rows && p->k <= MOST && (p->outputs / v->side >= LANES / 2 || p->k <= FEW_ROWS);
    if (sure->alone)
        return tess_ceil_div(p->outputs, exact->threads) <= INT32_MAX;
    sure->across = tess_reduce_gpu_columns_across(width, BLOCK, exact->threads / v->side);
    exact->across = sure->across * v->side;
    sure->strips = exact->strips = tess_ceil_div(width, sure->across);
    v->strips = p->outputs / p->kept_size[p->kept - 1] * sure->strips;
    tess_reduce_gpu_share_rows(p, sure, tess_min64(MOST_SHARED, BLOCK / sure->across * MOST));
    tess_reduce_gpu_share_rows(p, exact, INT64_MAX);
    return v->strips * tess_max64(exact->across, tess_max64(sure->pieces, exact->pieces)) <= INT32_MAX;
}

bool tess_reduce_gpu_exact_sure_fits(const tess_problem *problem, const char **why) {
    view v;
    *why = "makes exact sums of floats and of complex numbers without NaNs to omit, of fewer than 2^30 that follow one another or lie beside those "
           "of other outputs, along one axis, without segments";
    return make_view(of(problem), &v);
}

bool tess_reduce_gpu_exact_sure_pays(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    view v;
    *why = "blocks of long rows, or much side by side, are worth three launches; of up to 24 f32 one is as quick";
    if (p->k <= BRIEF && p->in.type == tess_f32 && p->kept > 0 && p->kept_size[p->kept - 1] >= BRIEF_SIDE)
        return false;
    return make_view(p, &v) && (!v.rows || v.sure.rows >= LONG_ROWS) && (double)p->outputs * (double)p->k * (double)p->in.itemsize >= LEAST_BYTES;
}

int tess_reduce_gpu_log_of(int64_t n) {
    int log = 0;
    while ((int64_t)1 << log < n)
        log++;
    return log;
}

static void lay_out(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout) {
    view v;
    (void)device;
    if (!make_view(of(problem), &v)) {
        layout->full = true;
        return;
    }
    const reduce_problem *p = &v.p;
    const tess_reduce_gpu_columns *s = &v.sure;
    const tess_reduce_gpu_columns both = {.across = v.exact.across, .pieces = s->pieces};
    const int side = s->alone ? 0 : tess_reduce_gpu_finish_side(p, &both, v.strips, BLOCK);
    const int64_t blocks = s->alone ? tess_ceil_div(p->outputs, BLOCK * v.side) : v.strips * s->pieces;
    const int64_t finishers = s->alone ? 0 : v.strips * tess_ceil_div(v.exact.across, side);
    const int64_t marks = s->alone ? 0 : tess_gpu_reserve(layout, finishers * 4);
    const int64_t arrived = s->alone ? 0 : tess_gpu_reserve(layout, v.strips * 4);
    const int64_t partial = s->alone ? 0 : tess_gpu_reserve(layout, blocks * v.exact.across * 4 * 8);
    int64_t block[12 + 3 * (TESS_MAX_NDIM + 1)], *at = block;
    tess_gpu_unit(layout, &sure_columns);
    tess_reduce_gpu_columns_options(layout, p, s);
    tess_gpu_option(layout, "-DBLOCK=%d", BLOCK);
    tess_gpu_option(layout, "-DSIDE=%d", v.side);
    tess_gpu_option(layout, "-DMOST=%d", MOST);
    /* Each level takes in less than 2 n numbers, and 8 a thread. */
    const int64_t tall = s->alone ? 1 : BLOCK / s->across;
    *at++ = tess_reduce_gpu_log_of(2 * (s->alone ? p->k : s->rows / tall) + 8);
    *at++ = s->alone ? 0 : tess_reduce_gpu_log_of(2 * s->rows + 8 * tall);
    *at++ = s->alone ? 0 : tess_reduce_gpu_log_of(6 * s->pieces + 8 * (BLOCK / side));
    const size_t bytes = (size_t)(tess_reduce_gpu_put_columns(at, p, s, v.side) - block) * sizeof *block;
    tess_gpu_step *step = tess_gpu_launch_of(layout, "sure_columns", blocks, 1, 1, BLOCK, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, s->alone ? TESS_GPU_OUT : TESS_GPU_WORKSPACE, partial);
    tess_gpu_pass(layout, step, block, bytes);
    if (s->alone)
        return;
    step = tess_gpu_launch_of(layout, "sure_finish", finishers, 1, 1, BLOCK, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, partial);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, marks);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, arrived);
    tess_gpu_pass(layout, step, block, bytes);
    tess_gpu_pass_i32(layout, step, side);
    if (p->k > MOST)
        tess_reduce_gpu_lay_columns(layout, p, &v.exact, true, marks, arrived, side);
}

const tess_gpu_row tess_reduce_gpu_exact_sure = {.headers = headers, .production = true, .least_arch = 80, .lay_out = lay_out};
