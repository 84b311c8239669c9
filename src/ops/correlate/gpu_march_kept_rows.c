/* SPDX-License-Identifier: Apache-2.0
 * gpu_march_kept_rows.c - the row march_kept, of masks in a volume whose last axis is not the rows': which problems, which shape of block. */
#include "ops/correlate/gpu_fast_mask.h"

KERNEL_TEXT(gpu_march_kept);

/* Of a thread: windows, sums, and what addresses and copies need beside them. */
static int64_t registers_of(const tess_correlate_frame *f, int64_t work, const march3d_shape *s) {
    const int64_t windows = f->z.width * (s->rows + f->y.width - 1) * (before(f) + s->columns + after(f));
    return (windows + s->rows * s->columns) * (work / 4) + 44;
}

/* Two rows of a vector of sums a thread, so that a weight serves eight multiply-adds, as long as their windows fit; as many threads as the registers are for, which make one block that is
 * as wide and as high as brings few elements twice. One wave of blocks, as of march3d. */
march3d_shape tess_correlate_march_kept_of(const tess_correlate_frame *f, int64_t work, const tess_gpu_device *device) {
    enum { MOST = 200 };
    march3d_shape s = {.columns = tess_max64(16 / work, tess_correlate_columns_full(f)), .rows = 2, .along = 64, .stages = 4};
    if (registers_of(f, work, &s) > MOST)
        s.rows = 1;
    while (s.along > 16 && s.along / 2 * s.columns >= f->x.m)
        s.along /= 2;
    const int64_t registers = registers_of(f, work, &s);
    s.threads = registers <= 128 ? 512 : registers <= 168 ? 384 : 256;
    s.down = tess_max64(1, tess_min64(s.threads / s.along, tess_ceil_div(f->y.m, s.rows)));
    while (s.along * s.down % 32)
        s.down++;
    const int64_t row = tess_correlate_frame_ring(f, true, s.along * s.columns, s.columns, before(f), after(f), 0);
    s.blocks = tess_max64(1, s.threads / (s.along * s.down));
    s.threads = s.along * s.down;
    s.shared = s.stages * (s.down * s.rows + f->y.width - 1) * row * f->in;
    s.blocks = tess_max64(1, tess_min64(s.blocks, SHARED / (s.shared + BLOCK_SHARED)));
    const int64_t tiles = tess_ceil_div(f->x.m, s.along * s.columns) * tess_ceil_div(f->y.m, s.down * s.rows) * f->arrays,
                  chunks = tess_max64(1, device->sms * s.blocks / tess_max64(tiles, 1));
    s.depth = tess_max64(tess_ceil_div(f->z.m, chunks), tess_min64(f->z.m, 2 * f->z.width));
    return s;
}

static bool march_kept_takes(const tess_problem *base, bool whole, const char **why) {
    enum { MOST = 232 };
    static const tess_gpu_device none;
    tess_correlate_frame f;
    *why = "needs a mask of three axes whose last does not run along rows";
    if (!any_frame_of(&f, base, 2, whole, why) || !tess_correlate_frame_planes(&f, whole, why))
        return false;
    *why = "needs a mask of three axes whose last does not run along rows";
    if (!f.turned || f.z.width < 2)
        return false;
    const march3d_shape s = tess_correlate_march_kept_of(&f, work_size(base), &none);
    const int64_t row = tess_correlate_frame_ring(&f, true, s.along * s.columns, s.columns, before(&f), after(&f), 0);
    *why = "takes masks of few enough taps for its registers, its shared memory and the instruction cache";
    return registers_of(&f, work_size(base), &s) <= MOST && f.z.width * f.pass->taps * s.columns * s.rows <= BODY && s.shared <= 160 << 10 &&
           tess_correlate_frame_copies(&f, true, row, s.down * s.rows + f.y.width - 1, s.threads, s.along) &&
           tess_correlate_frame_parameters(&f, f.pass->taps) + 16 <= PARAMETERS &&
           tess_ceil_div(f.x.m, s.along * s.columns) * tess_ceil_div(f.y.m, s.down * s.rows) <= INT32_MAX &&
           f.arrays <= GRID / tess_max64(1, tess_ceil_div(f.z.m, 2 * f.z.width));
}

void tess_correlate_march_order(const tess_correlate_frame *f, tess_gpu_layout *layout) {
    static const char *const order[] = {"-DFIRST=%d", "-DSECOND=%d", "-DTHIRD=%d"};
    for (int k = 0; k < 3; k++)
        tess_gpu_option(layout, order[k], f->order[k]);
}

static void lay_march_kept(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const tess_correlate_frame f = known_frame(base, 2);
    const march3d_shape s = tess_correlate_march_kept_of(&f, work_size(base), device);
    tess_gpu_unit(layout, &gpu_march_kept);
    tess_correlate_march_order(&f, layout);
    tess_correlate_march3d_lay(&f, &s, tess_correlate_gpu_of(base)->work, true, "march_kept", NULL, layout);
}

ROW(march_kept, march_kept_takes, true, .predict = tess_correlate_predict_march_kept);
