/* SPDX-License-Identifier: Apache-2.0
 * gpu_march_rows.c - the production rows of one mask in a volume and along single rows: which shape of block, which -D, which grid for a problem. */
#include "ops/correlate/gpu_fast_mask.h"

KERNEL_TEXT(gpu_march3d);
KERNEL_TEXT(gpu_tile1d);

/* ---- march3d ---- */

march3d_shape tess_correlate_march3d_of(const tess_correlate_frame *f, int64_t work, bool whole, const tess_gpu_device *device) {
    const int64_t wide = work / 4, plane = f->x.width * f->y.width;
    const bool large = f->z.width <= 3 && device->shared_block_optin >= 160 << 10; /* larger tiles: fewer rows brought twice */
    march3d_shape s = {.columns = f->in == 8 ? 2 : f->in == 4 ? 4 : 8, .rows = 4, .along = large ? 128 : f->z.width <= 3 ? 64 : 32, .stages = 3};
    if (wide == 2 && f->in < 8)
        s.columns = 4;
    s.columns = tess_max64(s.columns, tess_correlate_columns_full(f));
    while (s.rows > 1 && (s.rows * plane * f->z.width * s.columns > BODY || s.rows * f->z.width * s.columns * wide > 64))
        s.rows--;
    while (s.along > 32 && s.along / 2 * s.columns >= f->x.m)
        s.along /= 2;
    s.down = large ? 4 : (s.rows == 1 ? 256 : 128) / s.along;
    if (large && work == 4 && f->in == 4)
        s.rows = tess_min64(s.rows, 2), s.down = s.along == 128 ? 12 : 6, s.along = tess_min64(s.along, 64);
    if (whole && large && work == 4 && f->in == 2 && plane <= 9) /* fewer rows read, and widened, twice */
        s.rows = 4, s.along = 32;
    /* Neighbours have neighbouring columns: what they store lies side by side, wherever rows begin. Blocks have whole rows, where they can. Masks of 5 planes are
     * bound by arithmetic: four columns a thread, in blocks of 11 warps. As measured. */
    const bool near = !whole && device->shared_block_optin >= 160 << 10 && f->in >= 4 && f->out >= 4 && work == f->in && before(f) + after(f) <= 8 &&
                      ((f->z.width <= 3 && plane <= 9) || (f->in == 4 && f->z.width <= 5 && plane <= 25)),
               single = near && f->z.width <= 3, broad = near && !single;
    if (!whole) { /* tiles that the rows are cut into evenly: one column more than whole tiles would be a tile */
        s.columns = single ? 1 : s.columns;
        const int64_t widest = broad ? 176 : !single ? 32 * s.columns : f->in == 4 ? 544 : 272, most = broad ? 352 : single ? 544 : 256;
        const int64_t tiles = tess_max64(1, tess_ceil_div(f->x.m, widest));
        s.along = up_to(tess_max64(8, tess_ceil_div(tess_ceil_div(f->x.m, tiles), s.columns)), tess_max64(1, 16 / f->in / s.columns));
        if (single)
            s.rows = f->in == 8 ? 4 : f->z.width <= 3 && s.along > 384 ? 12 : 8;
        s.down = tess_max64(1, tess_min64(most / s.along, tess_ceil_div(f->y.m, s.rows)));
    }
    s.threads = up_to(s.along * s.down, 32);
    const int64_t row = tess_correlate_frame_ring(f, whole, s.along * s.columns, s.columns, before(f), after(f), 0);
    const int64_t window = s.columns + before(f) + after(f);
    s.blocks = resident(s.threads, single ? (f->in == 4 && f->z.width <= 3 && s.rows == 8 ? 56 : 112)
                                          : (s.rows * f->z.width * s.columns + 3 * window) * wide + 24);
    const bool measured = whole && large && work == 4 && plane <= 9 && (f->in == 2 || f->in == 4); /* on an H200: one wave of blocks */
    if (measured && f->in == 2)
        s.blocks = 512 / s.threads; /* of 128 registers */
    s.shared = s.stages * (s.down * s.rows + f->y.width - 1) * row * f->in;
    s.blocks = tess_max64(1, tess_min64(s.blocks, SHARED / (s.shared + BLOCK_SHARED)));
    const int64_t tiles = tess_ceil_div(f->x.m, s.along * s.columns) * tess_ceil_div(f->y.m, s.down * s.rows) * f->arrays;
    const int64_t waves = s.rows == 3 || measured ? 1 : 2, at_once = device->sms * s.blocks;
    int64_t chunks = tess_max64(1, waves * at_once / tess_max64(tiles, 1)), least = INT64_MAX;
    for (int64_t n = 1; near && n <= 16; n++) { /* as many as leave the last wave of blocks fullest, planes before a chunk's first output counted */
        const int64_t turns = tess_ceil_div(tiles * n, at_once) * (tess_ceil_div(f->z.m, n) + f->z.width - 1 + s.stages);
        if (turns < least)
            least = turns, chunks = n;
    }
    s.depth = tess_max64(tess_ceil_div(f->z.m, chunks), tess_min64(f->z.m, 2 * f->z.width));
    return s;
}

static bool copies_fit(const tess_correlate_frame *f, bool whole, const march3d_shape *s) {
    const int64_t row = tess_correlate_frame_ring(f, whole, s->along * s->columns, s->columns, before(f), after(f), 0);
    return tess_correlate_frame_copies(f, whole, row, s->down * s->rows + f->y.width - 1, s->threads, s->along);
}

static bool march3d_takes(const tess_problem *base, bool whole, const char **why) {
    tess_correlate_frame f;
    static const tess_gpu_device none, large = {.sms = 1, .shared_block_optin = SHARED};
    if (!frame_of(&f, base, 2, whole, why))
        return false;
    const march3d_shape s = tess_correlate_march3d_of(&f, work_size(base), whole, &none),
                        wide = tess_correlate_march3d_of(&f, work_size(base), whole, &large);
    if (!tess_correlate_frame_planes(&f, whole, why))
        return false;
    *why = "takes masks of few enough taps for its registers, its shared memory and the instruction cache";
    return f.z.width > 1 && f.x.width * f.y.width * f.z.width * s.columns * s.rows <= 3 * BODY / 2 &&
           (f.z.width * s.columns * s.rows + 2 * (before(&f) + after(&f))) * work_size(base) / 4 <= 160 && s.shared <= 160 << 10 &&
           copies_fit(&f, whole, &s) && copies_fit(&f, whole, &wide) && tess_correlate_frame_parameters(&f, f.pass->taps) + 16 <= PARAMETERS &&
           tess_ceil_div(f.x.m, s.along * s.columns) * tess_ceil_div(f.y.m, s.down * s.rows) <= INT32_MAX &&
           f.arrays <= GRID / tess_max64(1, tess_ceil_div(f.z.m, 2 * f.z.width));
}

void tess_correlate_march3d_lay(const tess_correlate_frame *given, const march3d_shape *shape, tess_type work, bool whole, const char *entry,
                                const int64_t *more, tess_gpu_layout *layout) {
    const tess_correlate_frame f = *given;
    const march3d_shape s = *shape;
    const int64_t deep = tess_ceil_div(f.z.m, tess_max64(s.depth, 1)), across = tess_ceil_div(f.x.m, s.along * s.columns);
    tess_correlate_frame_options(layout, work, &f, whole);
    tess_gpu_option(layout, "-DKY=%d", (int)f.y.width);
    tess_gpu_option(layout, "-DKZ=%d", (int)f.z.width);
    tess_gpu_option(layout, "-DV=%d", (int)s.columns);
    tess_gpu_option(layout, "-DR=%d", (int)s.rows);
    tess_gpu_option(layout, "-DALONG=%d", (int)s.along);
    tess_gpu_option(layout, "-DDOWN=%d", (int)s.down);
    if (!whole)
        tess_gpu_option(layout, "-DTHREADS=%d", (int)s.threads);
    tess_gpu_option(layout, "-DSTAGES=%d", (int)s.stages);
    tess_gpu_option(layout, "-DBLOCKS=%d", (int)s.blocks);
    tess_gpu_step *step =
        tess_gpu_launch_of(layout, entry, across * tess_ceil_div(f.y.m, s.down * s.rows), 1, f.arrays * deep, (int)s.threads, s.shared);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_correlate_frame_pass(layout, step, &f);
    tess_gpu_pass_i32(layout, step, (int32_t)across);
    tess_gpu_pass_i32(layout, step, (int32_t)s.depth);
    tess_gpu_pass_i32(layout, step, (int32_t)deep);
    if (more)
        tess_gpu_pass(layout, step, more, sizeof *more);
    tess_gpu_pass(layout, step, f.pass->weights, f.pass->size);
}

static void lay_march3d_as(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout, bool whole) {
    const tess_correlate_frame f = known_frame(base, 2);
    const march3d_shape s = tess_correlate_march3d_of(&f, work_size(base), whole, device);
    tess_gpu_unit(layout, &gpu_march3d);
    tess_correlate_march3d_lay(&f, &s, tess_correlate_gpu_of(base)->work, whole, "march3d", NULL, layout);
}

/* ---- tile1d ---- */

enum {
    EACH = TILE1D_EACH,
    TILE_ROOM = 48 << 10,
    MOST_SHORT = 4096 /* elements of a short row */,
    MANY = 1024 /* rows of which several are a block */
};

/* Of a row of so many threads in shared memory. */
static int64_t room_of(const tess_correlate_frame *f, int64_t along) {
    int64_t elements = up_to(up_to(before(f), EACH) + along * EACH + after(f), EACH), size = tess_max64(f->in, f->out);
    return elements * size + (size == 1 ? 0 : elements / EACH * 16);
}

bool tess_correlate_tile1d_carries(const tess_correlate_frame *f, const char **why) {
    *why = "takes masks along rows whose weights fit a kernel's parameters";
    return tess_correlate_frame_parameters(f, f->pass->taps) + 8 <= PARAMETERS && room_of(f, 128) <= TILE_ROOM &&
           tess_ceil_div(f->x.m, 32 * EACH) <= INT32_MAX && f->arrays <= (int64_t)GRID * GRID;
}

static bool tile1d_takes(const tess_problem *base, bool whole, const char **why) {
    tess_correlate_frame f;
    return frame_of(&f, base, 0, whole, why) && tess_correlate_tile1d_carries(&f, why);
}

/* What a row costs: the outputs that its threads compute, those over included, and the elements that its tiles bring. */
static double tile1d_cost(const tess_correlate_frame *f, const tile1d_shape *s) {
    const int64_t tiles = tess_ceil_div(f->x.m, s->along * EACH);
    return (double)tiles *
           ((double)(s->threads * EACH) / (double)s->rows * (double)(f->x.width + 12) + 2 * (double)(s->along * EACH + before(f) + after(f)));
}

/* Measured on an H200: small blocks where memory binds, but not more of them than there can begin in a microsecond. Short rows are a tile of as many threads as they fill, or
 * tiles of a block of several of them. */
tile1d_shape tess_correlate_tile1d_of(const tess_correlate_frame *f, bool whole) {
    const int64_t needed = tess_max64(1, tess_ceil_div(f->x.m, EACH));
    const bool low = needed <= MOST_SHORT / EACH;
    const int64_t fine = f->in == 1                                          ? (low ? 64 : 128)
                         : f->in == 2 || (f->x.width > 48 && !low) || !whole ? 64
                                                                             : 32,
                  wanted = f->x.width > 256 ? 128 : fine;
    tile1d_shape best = {.along = wanted, .rows = 1, .threads = wanted};
    double least = 0.98 * tile1d_cost(f, &best);
    for (int64_t threads = 32; threads <= 128 && low; threads += 32)
        for (int several = 0; several < 2; several++) {
            tile1d_shape s = {.along = several ? needed : threads, .rows = several ? threads / needed : 1, .threads = threads};
            if (several && (s.rows < 2 || f->arrays < MANY || s.rows * room_of(f, s.along) > TILE_ROOM))
                continue;
            const double cost = tile1d_cost(f, &s);
            if (cost < least)
                least = cost, best = s;
        }
    best.shared = best.rows * room_of(f, best.along);
    return best;
}

void tess_correlate_tile1d_lay(const tess_correlate_frame *f, tess_type work, bool whole, tess_gpu_layout *layout, const tess_correlate_ends *ends) {
    const tile1d_shape s = tess_correlate_tile1d_of(f, whole);
    const int64_t blocks = tess_ceil_div(f->arrays, s.rows), planes = tess_ceil_div(blocks, GRID);
    tess_gpu_unit(layout, &gpu_tile1d);
    tess_correlate_frame_options(layout, work, f, whole);
    tess_gpu_option(layout, "-DEACH=%d", EACH);
    tess_gpu_option(layout, "-DALONG=%d", (int)s.along);
    tess_gpu_option(layout, "-DROWS=%d", (int)s.rows);
    tess_gpu_option(layout, "-DTHREADS=%d", (int)s.threads);
    tess_gpu_option(layout, "-DLARGE=%d", tess_max64(f->x.n, f->x.m) > 1 << 30);
    tess_gpu_step *step = tess_gpu_launch_of(layout, "tile1d", tess_ceil_div(f->x.m, s.along * EACH), tess_ceil_div(blocks, tess_max64(planes, 1)),
                                             planes, (int)s.threads, s.shared);
    tess_gpu_pass_pointer(layout, step, ends->from, ends->from_at);
    tess_gpu_pass_pointer(layout, step, ends->to, ends->to_at);
    tess_correlate_frame_pass(layout, step, f);
    tess_gpu_pass_i32(layout, step, (int32_t)f->arrays);
    tess_gpu_pass(layout, step, f->pass->weights, f->pass->size);
}

static void lay_tile1d_as(const tess_problem *base, tess_gpu_layout *layout, bool whole) {
    const tess_correlate_frame f = known_frame(base, 0);
    tess_correlate_tile1d_lay(&f, tess_correlate_gpu_of(base)->work, whole, layout, &(tess_correlate_ends){TESS_GPU_IN, TESS_GPU_OUT, 0, 0});
}

/* ---- the rows ---- */

static void lay_march3d(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    lay_march3d_as(base, device, layout, true);
}
static void lay_march3d_odd(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    lay_march3d_as(base, device, layout, false);
}
static void lay_tile1d(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    (void)device;
    lay_tile1d_as(base, layout, true);
}
static void lay_tile1d_odd(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    (void)device;
    lay_tile1d_as(base, layout, false);
}

ROW(march3d, march3d_takes, true, .predict = tess_correlate_predict_march3d);
ROW(march3d_odd, march3d_takes, false, .predict = tess_correlate_predict_march3d_odd);
ROW(tile1d, tile1d_takes, true, .predict = tess_correlate_predict_tile1d);
ROW(tile1d_odd, tile1d_takes, false, .predict = tess_correlate_predict_tile1d_odd);
