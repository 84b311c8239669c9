/* SPDX-License-Identifier: Apache-2.0
 * gpu_flat_rows.c - the production row of small masks over images without gaps whose rows begin anywhere (gpu_flat.cu): which problems, which shape of block. */
#include "ops/correlate/gpu_fast_mask.h"
#include "ops/correlate/packed.h"

KERNEL_TEXT(gpu_flat);

enum {
    WIDEST = FLAT_WIDEST,
    BESIDE = 8,
    LEAST_VECTORS = 4,
    WHOLE_ROWS = 256,
    TILE = 64,
    MOST_ROOM = 72 << 10,
    MOST_PIXELS = 1 << 30,
    LEAST_PIXELS = 2048
};
enum { FEW = 1 << 20 /* elements */, LEAST_STEPS = 4, ENOUGH = 1 << 16 /* threads */ };

static int64_t pixels_of(const tess_correlate_frame *f) { return f->x.m * f->y.m; }
static bool is_small(const tess_correlate_frame *f) { return f->y.width <= 3 && f->x.width <= 3; }
static bool is_large(const tess_correlate_frame *f) { return f->y.width > 5 || f->x.width > 5; }

/* The places of an image: what lies before it in its first vector may be as long as one. */
static int64_t places_of(const tess_correlate_frame *f) { return pixels_of(f) + 16 / f->in - 1; }
static int64_t step_of(const flat_shape *s) { return s->lanes * s->outputs; }

static int64_t room_of(const flat_shape *s, const tess_correlate_frame *f) {
    const int64_t skew = step_of(s) - f->x.m, rows = s->steps * s->down + f->y.width - 1,
                  beside = before(f) + after(f) + (f->y.width - 1) * (skew < 0 ? -skew : skew) + 2 * s->outputs;
    return f->in * (s->tile < s->lanes ? rows * (s->tile * s->outputs + beside) : rows * step_of(s) + beside + 2 * (16 / f->in)) + 16;
}

/* Steps of a lane, as measured: the more, the fewer rows are read twice, and the fewer blocks a multiprocessor holds. */
static int64_t most_steps(const flat_shape *s, const tess_correlate_frame *f) {
    if (s->tile < s->lanes)
        return is_small(f) ? 8 : f->in == 1 ? (is_large(f) ? 28 : 20) : f->in == 2 && is_large(f) ? 20 : 12;
    const int64_t rows = MOST_ROOM / (step_of(s) * f->in) - f->y.width, held = tess_max64(rows / s->down, f->y.width - 1);
    return tess_min64(held, is_small(f) && (s->bytes || f->in > 1) ? 8 : 16);
}

/* Of a thread, as measured. */
static int64_t registers_of(const flat_shape *s, const tess_correlate_frame *f) {
    const int64_t sums = f->y.width * s->outputs;
    return sums > 40 && !is_small(f) ? (is_large(f) ? 96 : 128) : !is_small(f) ? 80 : f->in == 1 ? 72 : 56;
}

/* Rows of which a thread computes an end once more: as many as one warp is enough with, of large masks two, as counted, and few enough for a block to have them. */
static int64_t mended_of(const flat_shape *s, const tess_correlate_frame *f) {
    enum { LANES = 32, ENDS = 2, MOST = 9, MOST_LARGE = 5 };
    const int64_t most = tess_min64(is_large(f) ? MOST_LARGE : MOST, tess_max64(f->y.m / 2, 1));
    return tess_min64(most, tess_ceil_div(ENDS * (most_steps(s, f) * s->down + 2), LANES));
}

static void cut(flat_shape *s, const tess_correlate_frame *f, int64_t most) {
    s->bands = tess_ceil_div(places_of(f), most * s->down * step_of(s));
    s->steps = tess_max64(f->y.width - 1, tess_ceil_div(places_of(f), s->bands * s->down * step_of(s)));
    s->room = room_of(s, f);
}

/* The number of threads that leaves the fewest idle, fewer than 128 only where that saves a tenth, or in tiles of bytes under large masks, as measured. Few images are cut
 * into blocks enough for a card, by the same kernel (below FEW, where other rows are chosen, they are not). */
static bool shape_of(flat_shape *shape, const tess_correlate_frame *f) {
    static const int64_t sizes[] = {128, 160, 192, 224, 256, 64, 96};
    double least = INFINITY;
    flat_shape s = *shape;
    s.outputs = 16 / tess_max64(f->in, f->out);
    if ((s.bytes && !is_small(f)) || is_large(f))
        s.outputs = tess_min64(s.outputs, 8);
    s.lanes = (f->x.m + s.outputs / 2) / s.outputs;
    s.tile = s.lanes <= WHOLE_ROWS ? s.lanes : TILE;
    if (s.lanes < LEAST_VECTORS)
        return false;
    const bool tiles_of_bytes = s.tile < s.lanes && f->in == 1 && s.outputs == 16 && !is_small(f);
    for (int t = 0; t < TESS_COUNT(sizes); t++) {
        const int64_t threads = tiles_of_bytes ? TILE : sizes[t];
        s.down = threads / s.tile;
        if (s.down < 1)
            continue;
        s.threads = up_to(s.tile * s.down, 32);
        s.mended = s.tile < s.lanes ? 1 : mended_of(&s, f);
        cut(&s, f, most_steps(&s, f));
        s.blocks = tess_max64(1, tess_min64(resident(s.threads, registers_of(&s, f)), SHARED / (s.room + BLOCK_SHARED)));
        const double cost = (double)(s.threads * s.bands) * ((double)(s.steps + 2) + 0.5 * (double)f->y.width);
        if (s.room <= MOST_ROOM && cost < (threads < 128 ? 0.9 : 0.97) * least) {
            least = cost;
            *shape = s;
        }
    }
    const int64_t bands = tess_ceil_div(ENOUGH, tess_max64(f->arrays * shape->threads, 1));
    if (least < INFINITY && shape->tile == shape->lanes && shape->bands < bands && pixels_of(f) * f->arrays >= FEW)
        cut(shape, f, tess_min64(shape->steps, tess_max64(LEAST_STEPS, tess_ceil_div(places_of(f), bands * shape->down * step_of(shape)))));
    return least < INFINITY;
}

bool tess_correlate_flat_of(flat_shape *s, tess_correlate_frame *f, const tess_problem *base, const char **why) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    if (!frame_of(f, base, 1, false, why))
        return false;
    *why = "takes images without gaps of elements of at most 4 bytes, and results of as many and of the same extent";
    if (f->in > 4 || f->out > 4 || f->x.m != f->x.n || f->y.m != f->y.n || f->y.in_stride != f->x.n * f->in || f->y.out_stride != f->x.n * f->out ||
        f->y.n > MOST_PIXELS / tess_max64(f->x.n, 1))
        return false;
    *why = "takes masks of 2 to 7 rows and at most 7 columns, which reach over at most 8 elements on either side of the output";
    if (f->y.width < 2 || f->y.width > WIDEST || f->x.width > WIDEST || before(f) > BESIDE || after(f) > BESIDE || before(f) + after(f) > f->x.m / 2)
        return false;
    *s = (flat_shape){.bytes = false};
    s->bytes = p->packed && f->in == 1 && f->pass->group == 1 && bytes_of(p, f, s->taps.words);
    *why = "makes sums of f32, or of 32 bits of bytes by bytes";
    if (!s->bytes && p->work != tess_f32)
        return false;
    s->raised = !s->bytes && f->pass->from == tess_u8 && raise_mask(f, s->taps.weights);
    *why = "takes rows of 4 vectors and more, and not too many of them";
    if (!shape_of(s, f))
        return false;
    *why = "needs images that begin alike in both arrays";
    for (int d = 0; d < f->pass->ndim; d++) {
        const tess_correlate_axis *a = &f->pass->axis[d];
        if (a->m > 1 && (a->in_stride / f->in - a->out_stride / f->out) % s->outputs)
            return false;
    }
    return true;
}

static bool flat_takes(const tess_problem *base, bool whole, const char **why) {
    tess_correlate_frame f;
    flat_shape s;
    (void)whole; /* rows begin anywhere, arrays at multiples of 16 bytes */
    return tess_correlate_flat_of(&s, &f, base, why);
}

/* Of rows that begin at multiples of 16 bytes, for which the table has others that are faster, but as measured on an H200 for these: short ones of bytes by bytes; under large
 * masks bytes by f32, short ones of f16, and of f32 where strips are mostly beyond them; pixels of f32 by 5 x 5; under small masks f32 up to 256 columns, f16 at 112 and 128, bytes by f32 of which
 * patches leave many lanes and rows over. */
static bool whole_pays(const tess_correlate_frame *f, const flat_shape *s) {
    const tess_type from = f->pass->from;
    if (is_large(f))
        return (s->raised && f->out == 1) || (s->tile == s->lanes && (from == tess_f16 || (from == tess_f32 && f->x.m <= 192)));
    if (!is_small(f))
        return from == tess_f32 && f->pass->group > 1 && f->x.m <= 512;
    if (s->bytes)
        return f->x.m < 512;
    if (from == tess_f32)
        return f->x.m <= 256;
    if (from == tess_f16)
        return f->x.m >= 100 && f->x.m < 200;
    return s->raised && f->out == 1 && f->pass->group == 1 && f->x.m >= 100 && f->x.m < 256 && tess_correlate_patch_shared_computed(f) > 1.1;
}

/* As measured on an H200. */
bool tess_correlate_flat_pays(const tess_problem *base, const char **why) {
    tess_correlate_frame f;
    flat_shape s;
    const char *none;
    if (!tess_correlate_flat_of(&s, &f, base, why))
        return false;
    const bool many = tess_correlate_frame_many(&f), whole = tess_correlate_frame_whole(&f, &none);
    *why = "few or very small images";
    if (pixels_of(&f) < LEAST_PIXELS || pixels_of(&f) * f.arrays < FEW || (!many && (whole || s.tile < s.lanes)))
        return false;
    *why = "masks of more than 5 rows or columns, but not of both, were not timed";
    if ((f.y.width > 5) != (f.x.width > 5))
        return false;
    *why = "long rows, or such as begin at multiples of 16 bytes";
    if (whole)
        return whole_pays(&f, &s);
    if (s.tile == s.lanes)
        return true;
    return s.bytes ? is_small(&f) && f.x.m < 8192 : f.in <= 2 || !is_small(&f);
}

static void lay_flat(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    tess_correlate_frame f;
    flat_shape s;
    const char *why;
    (void)device;
    tess_correlate_flat_of(&s, &f, base, &why); /* true, because `fits` was */
    tess_gpu_unit(layout, &gpu_flat);
    tess_correlate_frame_options(layout, s.bytes ? tess_i32 : tess_f32, &f, true);
    tess_gpu_option(layout, "-DROW=%d", (int)f.x.n);
    tess_gpu_option(layout, "-DKY=%d", (int)f.y.width);
    tess_gpu_option(layout, "-DBEFORE_Y=%d", (int)f.y.before);
    tess_gpu_option(layout, "-DV=%d", (int)s.outputs);
    tess_gpu_option(layout, "-DTILE=%d", (int)s.tile);
    tess_gpu_option(layout, "-DDOWN=%d", (int)s.down);
    tess_gpu_option(layout, "-DBLOCKS=%d", (int)s.blocks);
    tess_gpu_option(layout, "-DMENDED=%d", (int)s.mended);
    tess_gpu_option(layout, "-DRAISED=%d", s.raised);
    tess_gpu_step *step = tess_gpu_launch_folding(layout, "flat", tess_ceil_div(s.lanes, s.tile), s.bands, f.arrays, (int)s.threads, s.room);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_correlate_frame_pass(layout, step, &f);
    tess_gpu_pass_i32(layout, step, (int32_t)s.steps);
    if (s.bytes)
        tess_gpu_pass(layout, step, s.taps.words, sizeof *s.taps.words * (size_t)(f.y.width * groups_of(&f)));
    else
        tess_gpu_pass(layout, step, s.raised ? s.taps.weights : f.pass->weights, f.pass->size);
}

ROW(flat, flat_takes, true, .predict = tess_correlate_predict_flat);
