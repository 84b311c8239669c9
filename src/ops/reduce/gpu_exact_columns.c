/* SPDX-License-Identifier: Apache-2.0
 * gpu_exact_columns.c - lays out reduce/exact_columns: exact sums of outputs side by side, a lane each where there are many, else by blocks that have some columns and share their rows. */
#include "ops/reduce/gpu_reduce.h"

extern const char tess_kernel_reduce_gpu_exact_columns_cu[], tess_kernel_reduce_gpu_exact_levels_cuh[];
static const tess_gpu_text exact_columns = {"reduce/gpu_exact_columns.cu", tess_kernel_reduce_gpu_exact_columns_cu};
const tess_gpu_text tess_reduce_gpu_exact_levels_header = {"ops/reduce/gpu_exact_levels.cuh", tess_kernel_reduce_gpu_exact_levels_cuh};
static const tess_gpu_text *const headers[] = {&tess_reduce_gpu_node_header,  &tess_reduce_gpu_tree_header,         &tess_reduce_gpu_complex_header,
                                               &tess_reduce_gpu_exact_header, &tess_reduce_gpu_exact_group_header,  &tess_reduce_gpu_stage_header,
                                               &tess_reduce_gpu_types_header, &tess_reduce_gpu_exact_levels_header, NULL};

enum {
    SMS = 132,   /* an H200's */
    EACH = 8,    /* rows of a strip */
    LEAST = 32,  /* columns of a block, unless there are fewer */
    FULLEST = 9, /* tenths of a block's threads that have a row */
    MOST_LOG = 10,
    LEAST_LOG = 6,
    FEW_ROWS = 64,
    FEW_COLUMNS = 8,
    WAVES = 4,      /* of blocks, where there are more than a device holds at once: the last is seldom full */
    FINISHERS = 512 /* blocks of `finish` */
};

typedef tess_reduce_gpu_columns shape;

static const reduce_problem *of(const tess_problem *problem) { return (const reduce_problem *)problem; }

static int64_t width_of(const reduce_problem *p) { return p->kept_size[p->kept - 1]; }

shape tess_reduce_gpu_columns_of(const reduce_problem *p) {
    const bool wide = p->in.itemsize == 8;
    return (shape){.threads = wide ? 128 : 256, .blocks = wide ? 3 : 4, .digits = wide ? 132 : 22};
}

int64_t tess_reduce_gpu_columns_across(int64_t width, int threads, int most) {
    int64_t wide = 1;
    double best = 0;
    for (int64_t n = tess_ceil_div(width, most); best * 10 < FULLEST; n++) {
        const int64_t across = tess_ceil_div(width, n);
        if (best > 0 && across < LEAST)
            break;
        const double busy = (double)(threads / across * width) / (double)threads / (double)tess_ceil_div(width, across);
        if (busy > best) {
            best = busy;
            wide = across;
        }
    }
    while (wide % 2 == 0 && wide / 2 >= LEAST)
        wide /= 2;
    return wide;
}

void tess_reduce_gpu_share_rows(const reduce_problem *p, shape *s, int64_t most) {
    const int64_t unit = s->threads / s->across * EACH, blocks = p->outputs / width_of(p) * s->strips, held = SMS * s->blocks;
    const int64_t wanted = blocks <= held ? held / blocks : blocks < WAVES * held ? tess_ceil_div(WAVES * held, blocks) : 1;
    const int64_t pieces = tess_max64(tess_max64(1, tess_min64(wanted, p->k / (4 * unit))), tess_ceil_div(p->k, most / unit * unit));
    s->rows = tess_ceil_div(tess_ceil_div(p->k, pieces), unit) * unit;
    s->pieces = tess_ceil_div(p->k, s->rows);
}

static shape shape_of(const reduce_problem *p) {
    shape s = tess_reduce_gpu_columns_of(p);
    const int64_t width = width_of(p), lanes = (int64_t)SMS * s.blocks * s.threads;
    s.alone = p->outputs >= lanes / 2 || p->k <= FEW_ROWS;
    if (s.alone)
        return s;
    s.across = tess_reduce_gpu_columns_across(width, s.threads, s.threads);
    s.strips = tess_ceil_div(width, s.across);
    tess_reduce_gpu_share_rows(p, &s, INT64_MAX);
    return s;
}

static int64_t blocks_of(const reduce_problem *p, const shape *s) {
    return s->alone ? tess_ceil_div(p->outputs, s->threads) : p->outputs / width_of(p) * s->strips * s->pieces;
}

bool tess_reduce_gpu_exact_columns_fit(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    *why = "makes exact sums of floats, of fewer than 2^28 rows of outputs side by side, along one axis, without segments";
    if (!p->exact || p->records || p->offsets || p->rank != 1 || p->k < 1 || p->k >= 1 << 28 || p->kept < 1 || p->outputs < 1 ||
        p->kept_stride[0][p->kept - 1] != p->in.itemsize || !tess_is_float(p->in.type))
        return false;
    *why = "needs fewer than 2^31 blocks";
    const shape s = shape_of(p);
    return p->outputs <= (int64_t)1 << 36 && blocks_of(p, &s) <= INT32_MAX;
}

/* Measured (H200) of 3 columns: a block's accumulators are a share of what few columns of f64 take. */
bool tess_reduce_gpu_exact_columns_pay(const tess_problem *problem, const char **why) {
    const reduce_problem *p = of(problem);
    *why = "few columns of many f64 are as well summed by a few blocks each";
    return p->in.itemsize < 8 || width_of(p) >= FEW_COLUMNS || shape_of(p).alone;
}

void tess_reduce_gpu_columns_options(tess_gpu_layout *layout, const reduce_problem *p, const shape *s) {
    tess_reduce_gpu_node_options(layout, p);
    tess_gpu_option(layout, "-DPAD=0");
    tess_gpu_option(layout, "-DTILE=512");
    tess_gpu_option(layout, "-DFILLED_WORDS=0");
    tess_gpu_option(layout, "-DALONE=%d", s->alone);
    tess_gpu_option(layout, "-DKEPT=%d", p->kept - !s->alone);
    tess_gpu_option(layout, "-DAT_LEAST=%d", s->blocks);
}

int64_t *tess_reduce_gpu_put_columns(int64_t *at, const reduce_problem *p, const shape *s, int side) {
    *at++ = p->k;
    *at++ = p->stride[0][0] / p->in.itemsize;
    *at++ = p->outputs;
    *at++ = width_of(p) / side;
    *at++ = s->across;
    *at++ = s->strips;
    *at++ = s->pieces;
    *at++ = s->rows;
    *at++ = p->kept_stride[1][p->kept - 1] / p->out.itemsize;
    return tess_reduce_gpu_put_kept(at, p, p->kept - !s->alone);
}

int tess_reduce_gpu_finish_side(const reduce_problem *p, const shape *s, int64_t strips, int threads) {
    int side = s->across < 3 ? (int)s->across : 4;
    while (side < 32 && side < s->across &&
           (strips * tess_ceil_div(s->across, side) > FINISHERS || (p->in.itemsize == 8 && threads / side > 4 * s->pieces)))
        side *= 2;
    return side;
}

void tess_reduce_gpu_lay_columns(tess_gpu_layout *layout, const reduce_problem *p, const shape *s, bool marked, int64_t marks, int64_t arrived,
                                 int side) {
    const int64_t longest = s->alone ? p->k : s->rows / (s->threads / s->across), left = s->digits / 2 + 2, blocks = blocks_of(p, s);
    const int64_t partial = s->alone ? 0 : tess_gpu_reserve(layout, blocks * s->across * left * 8);
    int64_t block[9 + 3 * (TESS_MAX_NDIM + 1)];
    int log = marked ? MOST_LOG : LEAST_LOG; /* few texts for what hardly runs */
    while (log < MOST_LOG && (int64_t)1 << log < longest)
        log++;
    tess_gpu_unit(layout, &exact_columns);
    tess_reduce_gpu_columns_options(layout, p, s);
    tess_gpu_option(layout, "-DOWN=%d", s->threads);
    tess_gpu_option(layout, "-DOWN_EACH=%d", EACH);
    tess_gpu_option(layout, "-DOWN_LOG=%d", log);
    tess_gpu_option(layout, "-DMARKED=%d", marked);
    const size_t bytes = (size_t)(tess_reduce_gpu_put_columns(block, p, s, 1) - block) * sizeof *block;
    tess_gpu_step *step = tess_gpu_launch_of(layout, "exact_columns", marked ? tess_min64(blocks, SMS * s->blocks) : blocks, 1, 1, s->threads,
                                             (int64_t)s->digits * s->threads * 4);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    if (!s->alone)
        tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, partial);
    if (s->alone || marked)
        tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    if (marked) {
        tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, marks);
        tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, arrived);
    }
    tess_gpu_pass(layout, step, block, bytes);
    if (s->alone)
        return;
    if (marked) { /* the last block of a strip rounds */
        tess_gpu_pass_i32(layout, step, side);
        return;
    }
    step = tess_gpu_launch_of(layout, "finish", blocks / s->pieces * tess_ceil_div(s->across, side), 1, 1, 256, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_WORKSPACE, partial);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_gpu_pass(layout, step, block, bytes);
    tess_gpu_pass_i32(layout, step, side);
}

static void lay_out(const tess_problem *problem, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const reduce_problem *p = of(problem);
    const shape s = shape_of(p);
    (void)device;
    tess_reduce_gpu_lay_columns(layout, p, &s, false, 0, 0,
                                s.alone ? 0 : tess_reduce_gpu_finish_side(p, &s, p->outputs / width_of(p) * s.strips, 256));
}

const tess_gpu_row tess_reduce_gpu_exact_columns = {.headers = headers, .production = true, .least_arch = 80, .lay_out = lay_out};
