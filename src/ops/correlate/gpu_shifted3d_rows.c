/* SPDX-License-Identifier: Apache-2.0
 * gpu_shifted3d_rows.c - the production row of a list of three masks, the last one along rows that begin anywhere: all three in one launch. */
#include "ops/correlate/gpu_raise.h"
#include "ops/correlate/gpu_triple.h"

KERNEL_TEXT(gpu_shifted3d);

enum {
    GRID = 65535,
    LONGEST = 11,
    FEW = 3,
    LARGE = 400, /* elements along an axis */
    MANY = 7,    /* taps along z with which 384 threads a multiprocessor have the registers for the sums of 4 rows each */
    SECTOR = 32, /* bytes */
    QUARTER = 8, /* threads that read 128 bytes together: in one row, so that they meet different banks */
    ROWS = SHIFTED3D_ROWS,
    SHARED = 228 << 10,
    BLOCK_SHARED = 1 << 10 /* of each block for the system */
};

typedef shifted3d_shape shape;

/* Shared memory of a block (ROW, MID of the kernel). */
static int64_t shared_of(const tess_correlate_frame *f, int64_t work, const shape *s) {
    const int64_t columns = 16 / work, unit = columns * f->in, row = up_to((s->along + SECTOR / unit) * unit, SECTOR);
    return s->stages * (s->down * ROWS + f->y.width - 1) * row + 2 * s->down * ROWS * s->along * columns * work;
}

/* Tiles that the rows are cut into evenly, as wide as a quarter of the threads can make them: as measured. */
shape tess_correlate_shifted3d_of(const tess_correlate_triple *three, int64_t work, bool constant, const tess_gpu_device *device) {
    const tess_correlate_frame *f = &three->frame;
    const int64_t columns = 16 / work, before = f->x.before, after = f->x.width - 1 - before;
    const int64_t beside = up_to(before + columns - 1, columns) + up_to(after, columns), all = f->x.m + columns - 1;
    shape s = {.threads = f->z.width > MANY ? 256 : work == 8 ? 384 : 192, .stages = constant ? 3 : 4};
    const int64_t together = 384 / s.threads, most = s.threads / 4 * columns - beside; /* blocks a multiprocessor */
    const int64_t room = device->shared_block_optin < 160 << 10 ? 96 << 10 : together > 1 ? 112 << 10 : 160 << 10;
    s.finished = up_to(tess_ceil_div(all, tess_ceil_div(all, most)), columns);
    s.along = (s.finished + beside) / columns;
    s.lanes = up_to(s.along, QUARTER);
    if (s.threads / s.lanes < s.threads / s.along)
        s.lanes = s.along;
    s.down = tess_min64(s.threads / s.lanes, tess_ceil_div(f->y.m, ROWS));
    while (s.down > 1 && shared_of(f, work, &s) > room)
        s.down--;
    s.threads = up_to(s.lanes * s.down, 32);
    s.shared = shared_of(f, work, &s);
    s.blocks = tess_min64(together, SHARED / (s.shared + BLOCK_SHARED));
    const int64_t tiles = tess_ceil_div(all, s.finished) * tess_ceil_div(f->y.m, s.down * ROWS) * f->arrays;
    s.depth = tess_correlate_triple_depth(f, tiles, device->sms * s.blocks, f->z.width + s.stages);
    return s;
}

static bool is_constant(const tess_problem *base) {
    const tess_boundary boundary = tess_correlate_gpu_of(base)->boundary;
    return boundary == TESS_BOUNDARY_ZERO || boundary == TESS_BOUNDARY_CONSTANT;
}
static int64_t tiles_along(const tess_correlate_triple *three, int64_t work, const shape *s) {
    return tess_ceil_div(three->frame.x.m + 16 / work - 1, s->finished);
}
static int64_t modulo(int64_t a, int64_t n) { return (a % n + n) % n; }

bool tess_correlate_shifted3d_fits(const tess_problem *base, const char **why) {
    static const tess_gpu_device none;
    tess_correlate_triple three;
    if (!tess_correlate_triple_of(&three, base, false, why))
        return false;
    const tess_correlate_frame *f = &three.frame;
    *why = "takes lists whose last mask runs along rows";
    if (three.place != 2)
        return false;
    if (!tess_correlate_frame_planes(f, false, why))
        return false;
    *why = "takes masks whose planes fit shared memory, and fewer blocks";
    if (f->x.m < 1 || f->y.m < 1 || f->z.m < 1 || f->arrays < 1)
        return false;
    const int64_t work = work_size(base);
    const shape s = tess_correlate_shifted3d_of(&three, work, is_constant(base), &none);
    return s.shared <= 96 << 10 && tiles_along(&three, work, &s) * tess_ceil_div(f->y.m, s.down * ROWS) <= INT32_MAX && f->arrays <= GRID / 64;
}

static void lay_shifted3d(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const char *why;
    tess_correlate_triple three;
    tess_correlate_triple_of(&three, base, false, &why); /* true, because `fits` was */
    const tess_correlate_frame *f = &three.frame;
    const int64_t work = work_size(base), columns = 16 / work;
    const shape s = tess_correlate_shifted3d_of(&three, work, is_constant(base), device);
    const int64_t deep = tess_ceil_div(f->z.m, s.depth), across = tiles_along(&three, work, &s);
    float along_y[LONGEST];
    const bool raised = f->pass->from == tess_u8 && p->work == tess_f32 && raise_weights(p->passes[three.y].weights, f->y.width, tess_u8, along_y);
    tess_gpu_unit(layout, &gpu_shifted3d);
    tess_correlate_frame_options(layout, p->work, f, false);
    tess_gpu_option(layout, "-DKY=%d", (int)f->y.width);
    tess_gpu_option(layout, "-DKZ=%d", (int)f->z.width);
    tess_gpu_option(layout, "-DR=%d", ROWS);
    tess_gpu_option(layout, "-DALONG=%d", (int)s.along);
    tess_gpu_option(layout, "-DLANES=%d", (int)s.lanes);
    tess_gpu_option(layout, "-DDOWN=%d", (int)s.down);
    tess_gpu_option(layout, "-DTHREADS=%d", (int)s.threads);
    tess_gpu_option(layout, "-DSTAGES=%d", (int)s.stages);
    tess_gpu_option(layout, "-DBLOCKS=%d", (int)s.blocks);
    tess_gpu_option(layout, "-DCONSTANT=%d", is_constant(base));
    tess_gpu_option(layout, "-DSTEP_IN=%d", (int)modulo(f->y.in_stride, SECTOR));
    tess_gpu_option(layout, "-DSTEP_OUT=%d", (int)modulo(f->y.out_stride / f->out, columns));
    tess_gpu_option(layout, "-DRAISED=%d", raised);
    tess_gpu_step *step =
        tess_gpu_launch_of(layout, "shifted3d", across * tess_ceil_div(f->y.m, s.down * ROWS), 1, f->arrays * deep, (int)s.threads, s.shared);
    tess_correlate_triple_pass(layout, step, p, &three, across, s.depth, raised ? along_y : NULL);
}

/* As measured on an H200. Elements that the boundary names are laid beside what has arrived: where many tiles meet an end, or elements are of 8 bytes, separable3d_odd is
 * faster, which copies them one by one anyway. */
bool tess_correlate_shifted3d_pays(const tess_problem *base, const char **why) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const size_t size = tess_type_size(p->in.type);
    tess_correlate_triple three;
    if (is_constant(base) || (size < 4 && p->masks[0].shape[0] > FEW && p->masks[1].shape[0] > FEW))
        return true;
    const bool known = tess_correlate_triple_of(&three, base, false, why);
    *why = "is for constants beyond the ends, elements of 1 and 2 bytes and masks of more than 3 taps, or of 4 bytes and volumes of 400 elements and "
           "more along each axis";
    return known && size <= 4 && three.frame.x.m >= LARGE && three.frame.y.m >= LARGE && three.frame.z.m >= LARGE;
}

const tess_gpu_row tess_correlate_shifted3d = {.headers = tess_correlate_frame_headers,
                                               .production = true,
                                               .least_arch = 80,
                                               .lay_out = lay_shifted3d,
                                               .predict = tess_correlate_predict_shifted3d};
