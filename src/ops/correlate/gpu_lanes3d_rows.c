/* SPDX-License-Identifier: Apache-2.0
 * gpu_lanes3d_rows.c - the production rows of a list of three short masks over volumes of narrow elements, the last one along rows: warps march by themselves. */
#include <stdlib.h>

#include "ops/correlate/gpu_raise.h"
#include "ops/correlate/gpu_triple.h"

KERNEL_TEXT(gpu_lanes3d);

extern const char tess_kernel_gpu_types_cuh[], tess_kernel_correlate_gpu_window_cuh[], tess_kernel_correlate_gpu_boundary_cuh[],
    tess_kernel_correlate_gpu_bytes_cuh[], tess_kernel_correlate_gpu_lanes_whole_cuh[], tess_kernel_correlate_gpu_lanes_anywhere_cuh[];
static const tess_gpu_text types = {"gpu/types.cuh", tess_kernel_gpu_types_cuh},
                           window = {"ops/correlate/gpu_window.cuh", tess_kernel_correlate_gpu_window_cuh},
                           boundary_header = {"ops/correlate/gpu_boundary.cuh", tess_kernel_correlate_gpu_boundary_cuh},
                           bytes = {"ops/correlate/gpu_bytes.cuh", tess_kernel_correlate_gpu_bytes_cuh},
                           lanes_whole = {"ops/correlate/gpu_lanes_whole.cuh", tess_kernel_correlate_gpu_lanes_whole_cuh},
                           lanes_anywhere = {"ops/correlate/gpu_lanes_anywhere.cuh", tess_kernel_correlate_gpu_lanes_anywhere_cuh};
static const tess_gpu_text *const headers[] = {&types, &window, &boundary_header, &bytes, &lanes_whole, &lanes_anywhere, NULL};

enum {
    GRID = 65535,
    LONGEST = LANES3D_LONGEST,
    COLUMNS = LANES3D_COLUMNS,
    SHORTEST = 2 * COLUMNS, /* row that begins anywhere: its ends are not one lane's */
    STEP = 1 << 30,         /* bytes from row to row: a step has 32 bits */
    NEAR = 16               /* of rows that begin anywhere: what is read beyond one is still before the next */
};

/* What a thread holds of sums, one row of them on its way and elements, with which 5 and 4 blocks of 128 threads are a multiprocessor's, and 3 of four rows a thread: so much is
 * not spilled. [rows are whole][halves] */
static const struct { int64_t five, four, three; } most[2][2] = {{{70, 104, 140}, {70, 104, 148}}, {{72, 106, 138}, {76, 112, 128}}};

static int64_t held_of(const tess_correlate_frame *f, int64_t rows) { return rows * COLUMNS * (f->z.width + 1) + (rows + f->y.width - 1) * f->in; }

/* With more rows a thread an element is converted fewer times. */
lanes3d_shape tess_correlate_lanes3d_of(const tess_correlate_triple *three, const tess_gpu_device *device) {
    const tess_correlate_frame *f = &three->frame;
    const bool whole = three->whole, halves = f->in == 2;
    lanes3d_shape s = {.rows = held_of(f, 4) <= most[whole][halves].three ? 4 : 3, .warps = 4, .lap = whole ? 1 : 2};
    const int64_t held = held_of(f, s.rows);
    s.blocks = held <= most[whole][halves].five ? 5 : held <= most[whole][halves].four ? 4 : 3;
    if (halves && tess_correlate_frame_many(f)) { /* neighbours in one block find each other's rows in its cache */
        s.warps *= s.blocks;
        s.blocks = 1;
    }
    s.own = 32 - 2 * s.lap;
    s.along = tess_ceil_div(f->x.m, COLUMNS) + !whole;
    s.pieces = s.along * tess_ceil_div(f->y.m, s.rows);
    s.tiles = tess_ceil_div(s.pieces, s.warps * s.own);
    /* A turn before a chunk's first output has no mask along x, nor stores. */
    s.depth = tess_correlate_triple_depth(f, s.tiles * f->arrays, device->sms * s.blocks, tess_ceil_div(2 * (f->z.width - 1), 3) + 1);
    return s;
}

static bool takes(const tess_problem *base, bool whole, const char **why) {
    static const tess_gpu_device none;
    tess_correlate_triple three;
    if (!tess_correlate_triple_of(&three, base, whole, why))
        return false;
    const tess_correlate_frame *f = &three.frame;
    const bool mirror = f->boundary == TESS_BOUNDARY_MIRROR;
    const int64_t after = f->x.width - 1 - f->x.before, far = COLUMNS - mirror, step = llabs(f->y.in_stride);
    *why = "takes lists whose last mask runs along rows, over elements of 1 and 2 bytes, with sums of f32";
    if (three.place != 2 || f->in > 2 || tess_correlate_gpu_of(base)->work != tess_f32)
        return false;
    *why = "takes masks of at most 9 taps, of which at most 4 (mirror: 3) lie on either side along rows";
    if (f->x.before < 0 || f->x.before > far || after < 0 || after > far || f->y.width > LONGEST || f->z.width > LONGEST)
        return false;
    *why = "takes as many results as elements along rows, and ends that do not wrap around";
    if (f->x.m != f->x.n || f->boundary == TESS_BOUNDARY_WRAP)
        return false;
    *why = "takes rows of whole fours of elements";
    if (whole && f->x.n % COLUMNS)
        return false;
    *why = "takes rows of at least 8 elements, in whose last four a window's end that turns back finds what stands there";
    if (!whole && (f->x.n < SHORTEST || (f->boundary != TESS_BOUNDARY_CONSTANT && f->x.before + lanes3d_tail(f) < after + mirror) ||
                   (f->y.n > 1 && step < NEAR)))
        return false;
    *why = "takes fewer and shorter rows";
    if (f->x.m < 1 || f->y.m < 1 || f->z.m < 1 || f->arrays < 1 || f->arrays > GRID / 64 || step >= STEP)
        return false;
    return tess_correlate_lanes3d_of(&three, &none).pieces <= INT32_MAX / 2;
}

static void lay_as(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout, bool whole) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const char *why;
    tess_correlate_triple three;
    tess_correlate_triple_of(&three, base, whole, &why); /* true, because `fits` was */
    const tess_correlate_frame *f = &three.frame;
    const lanes3d_shape s = tess_correlate_lanes3d_of(&three, device);
    const int64_t deep = tess_ceil_div(f->z.m, s.depth);
    float along_y[LONGEST];
    const bool raised = f->pass->from == tess_u8 && raise_weights(p->passes[three.y].weights, f->y.width, tess_u8, along_y);
    tess_gpu_unit(layout, &gpu_lanes3d);
    tess_correlate_frame_options(layout, p->work, f, whole);
    tess_gpu_option(layout, "-DKY=%d", (int)f->y.width);
    tess_gpu_option(layout, "-DKZ=%d", (int)f->z.width);
    tess_gpu_option(layout, "-DR=%d", (int)s.rows);
    tess_gpu_option(layout, "-DWARPS=%d", (int)s.warps);
    tess_gpu_option(layout, "-DBLOCKS=%d", (int)s.blocks);
    tess_gpu_option(layout, "-DBOUNDARY=%d", (int)f->boundary);
    tess_gpu_option(layout, "-DRAISED=%d", raised);
    if (!whole) /* by constants it is not asked for */
        tess_gpu_option(layout, "-DTAIL=%d", f->boundary == TESS_BOUNDARY_CONSTANT ? COLUMNS : (int)lanes3d_tail(f));
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

#define ROW(name, whole)                                                                                              \
    bool tess_correlate_##name##_fits(const tess_problem *base, const char **why) { return takes(base, whole, why); } \
    static void lay_##name(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {        \
        lay_as(base, device, layout, whole);                                                                          \
    }                                                                                                                 \
    const tess_gpu_row tess_correlate_##name = {                                                                      \
        .headers = headers, .production = true, .least_arch = 80, .lay_out = lay_##name, .predict = tess_correlate_predict_##name}
ROW(lanes3d, true);
ROW(lanes3d_odd, false);
