/* SPDX-License-Identifier: Apache-2.0
 * gpu_lanes3d_rows.c - the production row of a list of three short masks over volumes of narrow elements, the last one along rows: warps march by themselves. */
#include "ops/correlate/gpu_raise.h"
#include "ops/correlate/gpu_triple.h"

KERNEL_TEXT(gpu_lanes3d);

enum {
    GRID = 65535,
    LONGEST = LANES3D_LONGEST,
    COLUMNS = LANES3D_COLUMNS,
    STEP = 1 << 30, /* bytes from row to row: a step has 32 bits */
    /* Registers for sums, one row of them on its way and elements, with which 5 and 4 blocks of 128 threads are a multiprocessor's, and with which a thread has four rows: more warps
     * are worth more than a fourth row (notes-gpu.md). */
    FIVE = 76,
    FOUR = 114,
    FOUR_ROWS = 130
};

static int64_t held_of(const tess_correlate_frame *f, int64_t rows) { return rows * COLUMNS * (f->z.width + 1) + (rows + f->y.width - 1) * f->in; }

/* With more rows a thread an element is converted fewer times. */
lanes3d_shape tess_correlate_lanes3d_of(const tess_correlate_triple *three, const tess_gpu_device *device) {
    const tess_correlate_frame *f = &three->frame;
    lanes3d_shape s = {.rows = held_of(f, 4) <= FOUR_ROWS ? 4 : 3, .warps = 4};
    const int64_t held = held_of(f, s.rows);
    s.blocks = held <= FIVE ? 5 : held <= FOUR ? 4 : 3;
    s.along = f->x.m / COLUMNS;
    s.pieces = s.along * tess_ceil_div(f->y.m, s.rows);
    s.tiles = tess_ceil_div(s.pieces, s.warps * LANES3D_OWN);
    /* A turn before a chunk's first output has no mask along x, nor stores. */
    s.depth = tess_correlate_triple_depth(f, s.tiles * f->arrays, device->sms * s.blocks, tess_ceil_div(2 * (f->z.width - 1), 3) + 1);
    return s;
}

bool tess_correlate_lanes3d_fits(const tess_problem *base, const char **why) {
    static const tess_gpu_device none;
    tess_correlate_triple three;
    if (!tess_correlate_triple_of(&three, base, true, why))
        return false;
    const tess_correlate_frame *f = &three.frame;
    const int64_t after = f->x.width - 1 - f->x.before, most = COLUMNS - (f->boundary == TESS_BOUNDARY_MIRROR);
    *why = "takes lists whose last mask runs along rows, over elements of 1 and 2 bytes, with sums of f32";
    if (three.place != 2 || f->in > 2 || tess_correlate_gpu_of(base)->work != tess_f32)
        return false;
    *why = "takes masks of at most 9 taps, of which at most 4 (mirror: 3) lie on either side along rows";
    if (f->x.before < 0 || f->x.before > most || after < 0 || after > most || f->y.width > LONGEST || f->z.width > LONGEST)
        return false;
    *why = "takes rows of whole fours of elements, as many results as elements, and ends that do not wrap around";
    if (f->x.m != f->x.n || f->x.n % COLUMNS || f->boundary == TESS_BOUNDARY_WRAP)
        return false;
    *why = "takes fewer and shorter rows";
    if (f->x.m < 1 || f->y.m < 1 || f->z.m < 1 || f->arrays < 1 || f->arrays > GRID / 64 || f->y.in_stride >= STEP || f->y.in_stride <= -STEP)
        return false;
    return tess_correlate_lanes3d_of(&three, &none).pieces <= INT32_MAX / 2;
}

static void lay_lanes3d(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const char *why;
    tess_correlate_triple three;
    tess_correlate_triple_of(&three, base, true, &why); /* true, because `fits` was */
    const tess_correlate_frame *f = &three.frame;
    const lanes3d_shape s = tess_correlate_lanes3d_of(&three, device);
    const int64_t deep = tess_ceil_div(f->z.m, s.depth);
    float along_y[LONGEST];
    const bool raised = f->pass->from == tess_u8 && raise_weights(p->passes[three.y].weights, f->y.width, tess_u8, along_y);
    tess_gpu_unit(layout, &gpu_lanes3d);
    tess_correlate_frame_options(layout, p->work, f, true);
    tess_gpu_option(layout, "-DKY=%d", (int)f->y.width);
    tess_gpu_option(layout, "-DKZ=%d", (int)f->z.width);
    tess_gpu_option(layout, "-DR=%d", (int)s.rows);
    tess_gpu_option(layout, "-DWARPS=%d", (int)s.warps);
    tess_gpu_option(layout, "-DBLOCKS=%d", (int)s.blocks);
    tess_gpu_option(layout, "-DBOUNDARY=%d", (int)f->boundary);
    tess_gpu_option(layout, "-DRAISED=%d", raised);
    tess_gpu_step *step = tess_gpu_launch_of(layout, "lanes3d", s.tiles, 1, f->arrays * deep, (int)(32 * s.warps), 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_correlate_frame_pass(layout, step, f);
    tess_gpu_pass_i32(layout, step, (int32_t)s.along);
    tess_gpu_pass_i32(layout, step, (int32_t)s.pieces);
    tess_gpu_pass_i32(layout, step, (int32_t)s.depth);
    tess_gpu_pass_i32(layout, step, (int32_t)deep);
    tess_gpu_pass(layout, step, p->passes[three.place].weights, p->passes[three.place].size);
    tess_gpu_pass(layout, step, raised ? along_y : p->passes[three.y].weights, p->passes[three.y].size);
    tess_gpu_pass(layout, step, p->passes[three.z].weights, p->passes[three.z].size);
}

const tess_gpu_row tess_correlate_lanes3d = {
    .headers = tess_correlate_frame_headers, .production = true, .least_arch = 80, .lay_out = lay_lanes3d, .predict = tess_correlate_predict_lanes3d};
