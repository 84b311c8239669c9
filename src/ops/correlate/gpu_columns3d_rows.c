/* SPDX-License-Identifier: Apache-2.0
 * gpu_columns3d_rows.c - the production rows of a list of three masks whose last runs along rows: all three in one launch, a column of rows a thread. */
#include "ops/correlate/gpu_raise.h"
#include "ops/correlate/gpu_triple.h"

KERNEL_TEXT(gpu_columns3d);

enum {
    GRID = 65535,
    LONGEST = 11,
    STAGES = 3,
    WARPS = 12, /* of 168 registers a multiprocessor */
    SUMS = 112, /* registers of a thread for sums of planes */
    SHARED = 228 << 10,
    BLOCK_SHARED = 1 << 10 /* of each block for the system */
};

typedef struct shape {
    int64_t rows, threads, finished, blocks, depth, shared; /* R, THREADS, FINISHED, BLOCKS */
} shape;

/* Shared memory of a block (ROW, MID_ROW of the kernel). */
static int64_t shared_of(const tess_correlate_frame *f, int64_t work, const shape *s) {
    const int64_t vector = 16 / work, before = f->x.before, after = f->x.width - 1 - before, sector = 32 / f->in;
    const int64_t needed = s->finished + before + after + vector - 1, ghosts_at = up_to(sector - 1 + needed, 16 / f->in);
    const int64_t row = up_to(ghosts_at + 2 * before + after + sector, sector);
    const int64_t mid = tess_max64(s->finished + vector + up_to(before, vector) + up_to(after, vector), s->threads + 2 * vector);
    return STAGES * (s->rows + f->y.width - 1) * row * f->in + 2 * s->rows * mid * work;
}

/* As many rows a thread as there are registers for sums; so many threads along x that the tiles want the fewest warps of those that a multiprocessor holds. */
static shape shape_of(const tess_correlate_triple *three, int64_t work, const tess_gpu_device *device) {
    const tess_correlate_frame *f = &three->frame;
    const int64_t vector = 16 / work, beside = f->x.width - 1 + vector - 1;
    const int64_t room = device->shared_block_optin >= 160 << 10 ? 112 << 10 : 96 << 10;
    shape best = {.shared = INT64_MAX}, s;
    s.rows = tess_max64(vector, tess_min64(16, SUMS * 4 / work / f->z.width / vector * vector));
    s.rows = tess_min64(s.rows, up_to(f->y.m, vector));
    const int64_t registers = up_to(s.rows * (f->z.width + 1) * work / 4 + 40, 8);
    int64_t least = INT64_MAX;
    for (s.threads = 64; s.threads <= 32 * WARPS; s.threads += 32) {
        const int64_t most = (s.threads - beside) / vector * vector;
        if (most < vector)
            continue;
        const int64_t tiles = tess_ceil_div(f->x.m + vector - 1, most);
        s.finished = up_to(tess_ceil_div(f->x.m + vector - 1, tiles), vector);
        s.shared = shared_of(f, work, &s);
        s.blocks = tess_min64(65536 / (registers * s.threads), SHARED / (s.shared + BLOCK_SHARED));
        if (s.shared > room || s.blocks < 1)
            continue;
        const int64_t cost = tiles * (65536 / registers) / s.blocks * (s.blocks == 1 ? 17 : 16); /* of one block all warps wait at its barriers */
        if (cost <= least) {
            least = cost;
            best = s;
        }
    }
    if (least < INT64_MAX) {
        const int64_t tiles = tess_ceil_div(f->x.m + vector - 1, best.finished) * tess_ceil_div(f->y.m, best.rows) * f->arrays;
        best.depth = tess_correlate_triple_depth(f, tiles, device->sms * best.blocks, f->z.width + STAGES);
    }
    return best;
}

static int64_t tiles_along(const tess_correlate_triple *three, int64_t work, const shape *s) {
    return tess_ceil_div(three->frame.x.m + 16 / work - 1, s->finished);
}

bool tess_correlate_columns3d_fits(const tess_problem *base, const char **why) {
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
    const shape s = shape_of(&three, work_size(base), &none);
    return s.shared < INT64_MAX && tiles_along(&three, work_size(base), &s) * tess_ceil_div(f->y.m, s.rows) <= INT32_MAX && f->arrays <= GRID / 64;
}

static void lay_columns3d(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const char *why;
    tess_correlate_triple three;
    tess_correlate_triple_of(&three, base, false, &why); /* true, because `fits` was */
    const tess_correlate_frame *f = &three.frame;
    const shape s = shape_of(&three, work_size(base), device);
    const int64_t deep = tess_ceil_div(f->z.m, s.depth), across = tiles_along(&three, work_size(base), &s);
    float along_y[LONGEST];
    const bool raised = f->pass->from == tess_u8 && p->work == tess_f32 && raise_weights(p->passes[three.y].weights, f->y.width, tess_u8, along_y);
    tess_gpu_unit(layout, &gpu_columns3d);
    tess_correlate_frame_options(layout, p->work, f, false);
    tess_gpu_option(layout, "-DKY=%d", (int)f->y.width);
    tess_gpu_option(layout, "-DKZ=%d", (int)f->z.width);
    tess_gpu_option(layout, "-DR=%d", (int)s.rows);
    tess_gpu_option(layout, "-DTHREADS=%d", (int)s.threads);
    tess_gpu_option(layout, "-DFINISHED=%d", (int)s.finished);
    tess_gpu_option(layout, "-DSTAGES=%d", STAGES);
    tess_gpu_option(layout, "-DBLOCKS=%d", (int)s.blocks);
    tess_gpu_option(layout, "-DRAISED=%d", raised);
    tess_gpu_step *step =
        tess_gpu_launch_of(layout, "columns3d", across * tess_ceil_div(f->y.m, s.rows), 1, f->arrays * deep, (int)s.threads, s.shared);
    tess_correlate_triple_pass(layout, step, p, &three, across, s.depth, raised ? along_y : NULL);
}

/* As measured on an H200 with 7 taps: u8 and f16 take half of separable3d_odd's time, f32 and f64 the same. With other boundaries narrow ghost cells are waited for. */
bool tess_correlate_columns3d_pays(const tess_problem *base, const char **why) {
    enum { MEASURED = 7 };
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    *why = "is for elements of 1 and 2 bytes, at most 7 taps and constants beyond the ends";
    for (int k = 0; k < 3; k++)
        if (p->masks[k].shape[0] > MEASURED)
            return false;
    return tess_type_size(p->in.type) < 4 && (p->boundary == TESS_BOUNDARY_ZERO || p->boundary == TESS_BOUNDARY_CONSTANT);
}

const tess_gpu_row tess_correlate_columns3d = {
    .headers = tess_correlate_frame_headers, .production = true, .least_arch = 80, .lay_out = lay_columns3d};
