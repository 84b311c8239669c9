/* SPDX-License-Identifier: Apache-2.0
 * gpu_march_across_rows.c - the row march_across, of masks in a volume whose input is finest along another axis than its output: which problems, which shape of block. */
#include "ops/correlate/gpu_march_across.h"

#include <stdlib.h>

KERNEL_TEXT(gpu_march_across);

/* The tile is as wide as it is high: rows of 256 bytes are brought and written. Chunks of planes as of march_kept. */
static void shape_of(across_shape *s, const tess_gpu_device *device) {
    const tess_correlate_frame *f = &s->frame;
    march3d_shape *m = &s->march;
    *m = (march3d_shape){.columns = 4, .rows = 2, .along = 16, .down = 32, .threads = 512, .stages = 4, .blocks = 1};
    const int64_t wide = m->along * m->columns, reads = up_to(m->columns + f->x.width - 1, 4);
    s->wide = wide - m->columns + reads;
    s->high = m->down * m->rows + f->y.width - 1;
    s->pitch = up_to(s->wide - 4, 8) + 4;
    s->shift = ((-f->y.before) % 8 + 8) % 8;
    m->shared = m->stages * s->high * s->pitch * f->in;
    const int64_t tiles = tess_ceil_div(f->x.m, wide) * tess_ceil_div(f->y.m, m->down * m->rows) * f->arrays,
                  chunks = tess_max64(1, device->sms / tess_max64(tiles, 1));
    m->depth = tess_max64(tess_ceil_div(f->z.m, chunks), tess_min64(f->z.m, 2 * f->z.width));
}

/* The frame sees rows of the output; that the input's elements along them are apart is known here only. */
bool tess_correlate_march_across_of(across_shape *s, const tess_problem *base, const tess_gpu_device *device, const char **why) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    tess_correlate_frame *f = &s->frame;
    if (!tess_correlate_gpu_direct(base, why))
        return false;
    s->pass = *p->direct;
    tess_correlate_axis *row = &s->pass.axis[s->pass.row];
    const int64_t size = (int64_t)tess_type_size(s->pass.from);
    *why = "needs elements of 4 bytes, sums of f32, and an input that is finest along another axis than the output's";
    if (size != 4 || p->work != tess_f32 || s->pass.group != 1 || row->in_stride == size || row->in_stride % size)
        return false;
    s->step = row->in_stride / size;
    row->in_stride = size;
    if (!tess_correlate_frame_of_any(f, p, &s->pass, 2, why))
        return false;
    if (llabs(f->z.in_stride) < llabs(f->y.in_stride)) {
        const tess_correlate_axis finer = f->z;
        f->z = f->y;
        f->y = finer;
        for (int k = 0; k < 3; k++)
            f->order[k] = (3 - f->order[k]) % 3;
    }
    *why = "needs a mask of three axes, one of them the input's finest";
    if (f->z.width < 2 || f->y.width < 2 || row->width < 2 || f->y.in_stride != size)
        return false;
    *why = "needs rows of outputs that begin at multiples of 16 bytes";
    for (int d = 0; d < s->pass.ndim; d++)
        if (d != s->pass.row && s->pass.axis[d].m > 1 && s->pass.axis[d].out_stride % 16)
            return false;
    shape_of(s, device);
    return true;
}

static bool takes(const tess_problem *base, bool whole, const char **why) {
    enum { WINDOWS = 84 /* registers */ };
    static const tess_gpu_device none;
    across_shape s;
    (void)whole;
    if (!tess_correlate_march_across_of(&s, base, &none, why))
        return false;
    const tess_correlate_frame *f = &s.frame;
    const march3d_shape *m = &s.march;
    *why = "takes masks of few enough taps for its registers and the instruction cache";
    return f->z.width * (m->rows + f->y.width - 1) * (m->columns + f->x.width - 1) <= WINDOWS && m->shared <= 160 << 10 &&
           f->z.width * s.pass.taps * m->columns * m->rows <= BODY && tess_correlate_frame_parameters(f, s.pass.taps) + 24 <= PARAMETERS &&
           tess_ceil_div(f->x.m, m->along * m->columns) * tess_ceil_div(f->y.m, m->down * m->rows) <= INT32_MAX &&
           f->arrays <= GRID / tess_max64(1, tess_ceil_div(f->z.m, 2 * f->z.width));
}

static void lay_march_across(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const char *why;
    across_shape s;
    tess_correlate_march_across_of(&s, base, device, &why); /* true, because `fits` was */
    tess_gpu_unit(layout, &gpu_march_across);
    tess_gpu_option(layout, "-DSHIFT=%d", (int)s.shift);
    tess_correlate_march_order(&s.frame, layout);
    tess_correlate_march3d_lay(&s.frame, &s.march, tess_f32, true, "march_across", &s.step, layout);
}

ROW(march_across, takes, true, .predict = tess_correlate_predict_march_across);
