/* SPDX-License-Identifier: Apache-2.0
 * gpu_separable3d_rows.c - the production rows of a list of three masks, one of them along rows, or of two beside rows: all of them in one launch. */
#include <string.h>

#include "ops/correlate/gpu_triple.h"

KERNEL_TEXT(gpu_separable3d);

enum { PAIR = TESS_CORRELATE_TRIPLE_PAIR };
enum { GRID = 65535, LONGEST = 11, THREADS = 256, TILE = 128, SHARED = 228 << 10, BLOCK_SHARED = 1 << 10 /* of each block for the system */ };

typedef tess_correlate_triple triple;

bool tess_correlate_triple_of(triple *three, const tess_problem *base, bool whole, const char **why) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    memset(three, 0, sizeof *three);
    three->whole = whole;
    *why = "takes a list of three masks along three axes, one of them along rows without gaps, or of two along two others";
    if (p->fft || p->direct || p->count != p->passes_count || (p->count != 2 && p->count != 3))
        return false;
    const int x = tess_correlate_gpu_finest(&p->in, &p->out), a = p->masks[0].axes[0], b = p->masks[1].axes[0],
              c = p->count == 3 ? p->masks[2].axes[0] : x;
    three->place = p->count == 2 ? PAIR : a == x ? 0 : b == x ? 1 : 2;
    if (x < 0 || a == b || a == c || b == c || (p->count == 3 && p->masks[three->place].axes[0] != x))
        return false;
    three->y = three->place == 0;
    three->z = three->place >= 2 ? 1 : 2;
    *why = "takes masks of at most 11 taps: with longer ones two passes are faster";
    int64_t taps = 0;
    size_t size = 0;
    for (int k = 0; k < p->count; k++) {
        if (p->masks[k].shape[0] > LONGEST)
            return false;
        taps += p->masks[k].taps;
        size += p->passes[k].size;
    }
    three->pass = (tess_correlate_pass){.ndim = p->in.ndim,
                                        .row = x,
                                        .group = 1,
                                        .masked = p->count == 3 && p->masks[three->place].shape[0] > 1 ? 3 : 2, /* the row axis is the last */
                                        .order = {p->masks[three->z].axes[0], p->masks[three->y].axes[0], x},
                                        .row_last = true,
                                        .from = p->in.type,
                                        .to = p->out.type,
                                        .inputs = p->in.count,
                                        .outputs = p->out.count,
                                        .taps = taps,
                                        .size = size};
    for (int d = 0; d < p->in.ndim; d++)
        three->pass.axis[d] = (tess_correlate_axis){p->in.shape[d], p->out.shape[d], p->in.stride[d], p->out.stride[d], 1, 0};
    for (int k = 0; k < p->count; k++) {
        three->pass.axis[p->masks[k].axes[0]].width = p->masks[k].shape[0];
        three->pass.axis[p->masks[k].axes[0]].before = p->masks[k].before[0];
    }
    const tess_correlate_frame *f = &three->frame;
    if (!tess_correlate_frame_of(&three->frame, p, &three->pass, 2, why) || (whole && !tess_correlate_frame_whole(f, why)))
        return false;
    return tess_correlate_frame_planes(f, whole, why);
}

typedef separable3d_shape shape;

/* Columns beside those that come out are computed by so many at once (BESIDE of the kernel). */
static int64_t beside_of(const triple *three, const shape *s) { return three->whole ? 2 * s->columns : tess_max64(s->columns, 16 / three->frame.in); }

/* Elements of a row in shared memory. */
static int64_t ring_of(const triple *three, const shape *s) {
    const tess_correlate_frame *f = &three->frame;
    const int64_t before = f->x.before, after = f->x.width - 1 - before, tile = s->along * s->columns;
    return three->place ? tess_correlate_frame_ring(f, three->whole, tile, s->columns, 0, 0, up_to(before, beside_of(three, s)))
                        : tess_correlate_frame_ring(f, three->whole, tile, s->columns, before, after, 0);
}

/* Shared memory of a block of s->down rows of threads. */
static int64_t shared_of(const triple *three, int64_t work, const shape *s) {
    const tess_correlate_frame *f = &three->frame;
    const int64_t tile = s->along * s->columns, rows = s->down * s->rows + f->y.width - 1;
    const int64_t between = three->place == PAIR ? 0 : 2 * (three->place ? s->down * s->rows : rows) * tile * work;
    return s->stages * rows * ring_of(three, s) * f->in + between;
}

/* Rows a thread, in a block of so many threads, of which so many have all registers: those for the sums, the windows along x and the addresses. Whole rows whose last
 * or second mask runs along x as measured; else as many as leave room in 128 registers, more rows with fewer warps were slower there, and so were fewer rows. */
static void rows_of(shape *s, const triple *three, int64_t work) {
    const tess_correlate_frame *f = &three->frame;
    const int64_t longest = tess_max64(f->x.width, tess_max64(f->y.width, f->z.width));
    s->threads = THREADS;
    s->blocks = 2;
    s->rows = three->place == PAIR && three->whole && f->in == 4 && work == 4 ? 2 : 4; /* as measured: of halves 3 are quicker than 2 */
    if (three->whole && three->place == 0 && longest == 7 && work == 4) {              /* at 256 threads by 3 rows words are spilled */
        s->threads = 192;
    } else if (!three->whole || three->place == 0 || three->place == PAIR) {
        while (s->rows > 1 && s->rows * (f->z.width * s->columns * work / 4 + f->x.width) + 24 > 134)
            s->rows--;
    } else if (longest > 9) {
        s->blocks = 1;
    } else if (longest > 7) {
        s->rows = 2;
    } else if (longest <= 3 || (longest == 7 && three->place == 2 && f->in == 1)) {
        s->rows = 3;
    } else {
        s->threads = 192; /* and 168 registers */
    }
}

int64_t tess_correlate_triple_depth(const tess_correlate_frame *f, int64_t tiles, int64_t at_once, int64_t beside) {
    int64_t least = INT64_MAX, best = f->z.m;
    for (int64_t n = 1; at_once > 0 && n <= 64 && (n == 1 || f->z.m / n >= f->z.width); n++) {
        const int64_t depth = tess_ceil_div(f->z.m, n), turns = tess_ceil_div(tiles * tess_ceil_div(f->z.m, depth), at_once) * (depth + beside);
        if (turns < least) {
            least = turns;
            best = depth;
        }
    }
    return best;
}

shape tess_correlate_separable3d_of(const triple *three, int64_t work, const tess_gpu_device *device) {
    const tess_correlate_frame *f = &three->frame;
    const int64_t before = f->x.before, after = f->x.width - 1 - before;
    shape s = {.columns = 16 / work, .stages = 3};
    rows_of(&s, three, work);
    /* Tiles that the rows are cut into evenly, whole sectors (where rows begin anywhere: vectors) of the copies. */
    const int64_t unit = tess_max64(s.columns, (three->whole ? 32 : 16) / f->in), beside = beside_of(three, &s);
    const int64_t ghosts = three->place ? up_to(before, beside) + up_to(after, beside) : 0;
    const int64_t most = !three->whole && f->in == 4 && work == 4 ? 2 * TILE /* as measured: fewer columns twice where each is a copy */
                         : three->whole && three->place && work == 8 && s.threads < THREADS ? TILE / 2
                                                                                            : TILE;
    s.finished = up_to(tess_ceil_div(f->x.m, tess_max64(1, tess_ceil_div(f->x.m, most))), unit);
    s.finished = tess_max64(s.finished, up_to(8 * s.columns, unit));
    s.beside = beside;
    s.along = (s.finished + ghosts) / s.columns;
    s.down = tess_max64(tess_min64(4, s.threads / s.along), tess_min64(s.threads / s.along, tess_ceil_div(f->y.m, s.rows)));
    const int64_t room = device->shared_block_optin >= 160 << 10 ? 112 << 10 : 96 << 10;
    while (s.down > 1 && shared_of(three, work, &s) > room)
        s.down--;
    s.shared = shared_of(three, work, &s);
    s.threads = up_to(s.along * s.down, 32);
    s.blocks = tess_max64(1, tess_min64(s.blocks, SHARED / (s.shared + BLOCK_SHARED)));
    const int64_t tiles = tess_ceil_div(f->x.m, s.finished) * tess_ceil_div(f->y.m, s.down * s.rows) * f->arrays;
    s.depth = tess_correlate_triple_depth(f, tiles, device->sms * s.blocks, f->z.width + s.stages);
    return s;
}

static bool takes(const tess_problem *base, bool whole, const char **why) {
    static const tess_gpu_device none;
    triple three;
    if (!tess_correlate_triple_of(&three, base, whole, why))
        return false;
    const tess_correlate_frame *f = &three.frame;
    *why = "takes masks whose planes fit shared memory, and fewer blocks";
    if (f->x.m < 1 || f->y.m < 1 || f->z.m < 1 || f->arrays < 1)
        return false;
    const shape s = tess_correlate_separable3d_of(&three, work_size(base), &none);
    if (s.columns < tess_correlate_columns_least(f)) {
        *why = "takes elements of at least 2 bytes where sums are of 8, as a thread's columns are whole words";
        return false;
    }
    return s.shared <= 96 << 10 && tess_correlate_frame_copies(f, whole, ring_of(&three, &s), s.down * s.rows + f->y.width - 1, s.threads, s.along) &&
           tess_ceil_div(f->x.m, s.finished) * tess_ceil_div(f->y.m, s.down * s.rows) <= INT32_MAX && f->arrays <= GRID / 64;
}

void tess_correlate_triple_pass(tess_gpu_layout *layout, tess_gpu_step *step, const tess_correlate_problem *p, const triple *three, int64_t across,
                                int64_t depth, const void *along_y) {
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_correlate_frame_pass(layout, step, &three->frame);
    tess_gpu_pass_i32(layout, step, (int32_t)across);
    tess_gpu_pass_i32(layout, step, (int32_t)depth);
    tess_gpu_pass_i32(layout, step, (int32_t)tess_ceil_div(three->frame.z.m, depth));
    if (three->place != PAIR)
        tess_gpu_pass(layout, step, p->passes[three->place].weights, p->passes[three->place].size);
    tess_gpu_pass(layout, step, along_y ? along_y : p->passes[three->y].weights, p->passes[three->y].size);
    tess_gpu_pass(layout, step, p->passes[three->z].weights, p->passes[three->z].size);
}

static void lay_as(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout, bool whole) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const char *why;
    triple three;
    tess_correlate_triple_of(&three, base, whole, &why); /* true, because `fits` was */
    const tess_correlate_frame *f = &three.frame;
    const shape s = tess_correlate_separable3d_of(&three, work_size(base), device);
    const int64_t deep = tess_ceil_div(f->z.m, s.depth), across = tess_ceil_div(f->x.m, s.finished);
    tess_gpu_unit(layout, &gpu_separable3d);
    tess_correlate_frame_options(layout, p->work, f, whole);
    tess_gpu_option(layout, "-DKY=%d", (int)f->y.width);
    tess_gpu_option(layout, "-DKZ=%d", (int)f->z.width);
    tess_gpu_option(layout, "-DPLACE=%d", three.place);
    tess_gpu_option(layout, "-DV=%d", (int)s.columns);
    tess_gpu_option(layout, "-DR=%d", (int)s.rows);
    tess_gpu_option(layout, "-DALONG=%d", (int)s.along);
    tess_gpu_option(layout, "-DDOWN=%d", (int)s.down);
    tess_gpu_option(layout, "-DTHREADS=%d", (int)s.threads);
    tess_gpu_option(layout, "-DSTAGES=%d", (int)s.stages);
    tess_gpu_option(layout, "-DBLOCKS=%d", (int)s.blocks);
    tess_gpu_step *step =
        tess_gpu_launch_of(layout, "separable3d", across * tess_ceil_div(f->y.m, s.down * s.rows), 1, f->arrays * deep, (int)s.threads, s.shared);
    tess_correlate_triple_pass(layout, step, p, &three, across, s.depth, NULL);
}

static void lay_separable3d(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) { lay_as(base, device, layout, true); }
static void lay_separable3d_odd(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    lay_as(base, device, layout, false);
}

#define ROW(name, whole)                                                                                              \
    bool tess_correlate_##name##_fits(const tess_problem *base, const char **why) { return takes(base, whole, why); } \
    const tess_gpu_row tess_correlate_##name = {.headers = tess_correlate_frame_headers,                              \
                                                .production = true,                                                   \
                                                .least_arch = 80,                                                     \
                                                .lay_out = lay_##name,                                                \
                                                .predict = tess_correlate_predict_##name}
ROW(separable3d, true);
ROW(separable3d_odd, false);
