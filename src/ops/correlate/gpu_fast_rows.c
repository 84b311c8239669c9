/* SPDX-License-Identifier: Apache-2.0
 * gpu_fast_rows.c - the production rows of one mask in a plane: which shape of block, which -D, which grid for a problem. Those of volumes and of single rows
 * are in gpu_march_rows.c. */
#include "ops/correlate/gpu_fast_mask.h"
#include "ops/correlate/packed.h"

KERNEL_TEXT(gpu_patch);
KERNEL_TEXT(gpu_patch_bytes);
KERNEL_TEXT(gpu_strip2d);

/* ---- patch ---- */

static int64_t power_above(int64_t n) {
    int64_t power = 1;
    while (power < n)
        power *= 2;
    return power;
}

static bool is_bytes(const tess_correlate_frame *f, int64_t work) { return f->in == 1 && f->y.width <= 3 && f->x.width <= 3 && work == 4; }

/* Rows that begin anywhere, as measured on an H200: most blocks one warp wide; fewer columns a lane where many warps meet an end of rows. Sums of f32 need some 7 in 10 of the
 * registers counted: loads sink to where their rows are taken. */
static patch_shape shifted_of(const tess_correlate_frame *f, int64_t work) {
    const bool narrow = f->in <= 2, few = f->x.m < 2048;
    patch_shape s = {.columns = narrow ? (few ? 4 : 8) : 16 / f->in, .rows = 4, .across = 1, .down = 4};
    if (f->y.width > 3 && f->in == 4)
        s.rows = 5, s.across = 2;
    else if (f->y.width > 3)
        s.rows = !narrow ? 4 : few ? 8 : 6;
    else if (narrow && f->y.width > 1)
        s.rows = f->in == 1 ? (few ? 8 : 6) : few ? 6 : 4;
    else if (f->in == 1 && !few)
        s.columns = 16;
    if (f->y.m == 1)
        s.rows = 1;
    if (f->y.m <= 2 * s.rows)
        s.across = 4, s.down = 1;
    const int64_t words = (s.rows + f->y.width - 1) * s.columns * f->in / 4,
                  all = words + (s.columns * (1 + tess_min64(f->y.width, s.rows)) + before(f) + after(f)) * work / 4 + 20;
    s.blocks = resident(32 * s.across * s.down, tess_max64(56, work == 4 ? tess_ceil_div(7 * all, 10) : all));
    return s;
}

/* Single rows load what lies beside. Registers: the rows' words, the window and sums; what the addresses need beside. */
static patch_shape patch_of(const tess_correlate_frame *f, int64_t work, bool whole) {
    if (!whole)
        return shifted_of(f, work);
    patch_shape s = {.columns = f->in == 8 ? 2 : f->in == 4 ? 4 : 8, .rows = f->y.width <= 3 ? 4 : 5, .across = 2, .down = 2};
    if (f->y.width <= 3 && f->in < 4)
        s.rows = f->in == 1 ? 8 : 6;
    const bool bytes = is_bytes(f, work);
    if (bytes)
        s.columns = 16, s.rows = 6, s.across = 1, s.down = 4;
    if (f->y.m == 1)
        s.rows = 1, s.direct = true;
    if (f->y.m <= 2 * s.rows)
        s.across = s.rows == 1 ? 8 : 4, s.down = 1;
    else if (f->in == 4)
        s.down = 4, s.rows = f->y.width <= 3 ? 2 : 5;
    const int64_t least = before(f) + after(f) ? tess_max64(power_above(tess_max64(before(f), after(f))), 4 / tess_min64(f->in, 4)) : 0;
    const int64_t beside = s.direct ? (tess_ceil_div(before(f), s.columns) + tess_ceil_div(after(f), s.columns)) * s.columns : least;
    const int64_t held = (s.rows + f->y.width - 1) * (s.columns + beside) * f->in / 4;
    int64_t registers = held + (s.columns + before(f) + after(f) + s.columns * tess_min64(f->y.width, s.rows)) * work / 4 + 20;
    if (s.rows == 1)
        registers = 8 * work;
    else if (f->in == 4 && s.down == 4)
        registers = f->y.width <= 3 ? 40 : 64;
    else if (f->in == 2 && f->x.width <= 3 && f->y.width <= 3)
        registers = 72;
    else if (bytes)
        registers = 72; /* a few are spilled, and 7 blocks an SM are faster than 6 all the same */
    s.blocks = resident(32 * s.across * s.down, tess_max64(registers, s.rows == 1 ? 32 : 40));
    return s;
}

enum { MOST_TAPS = 5 * 17 }; /* of a mask */

/* Weights times 2^24 in `raised`, if they are taken so. */
static bool patch_raises(const tess_problem *base, const tess_correlate_frame *f, bool whole, float *raised) {
    return !whole && f->pass->from == tess_u8 && tess_correlate_gpu_of(base)->work == tess_f32 && raise_mask(f, raised);
}

patch_shape tess_correlate_patch_of(const tess_problem *base, const tess_correlate_frame *f, bool whole) {
    float raised[MOST_TAPS];
    patch_shape s = patch_of(f, work_size(base), whole);
    s.raised = patch_raises(base, f, whole, raised);
    return s;
}

static bool patch_takes(const tess_problem *base, bool whole, const char **why) {
    tess_correlate_frame f;
    if (!any_frame_of(&f, base, 1, whole, why))
        return false;
    *why = "needs a mask whose last axis runs along rows, or narrow elements, or many taps";
    if (f.turned)
        return whole && work_size(base) == 4 && tess_correlate_patch_shared_takes(&f);
    const patch_shape s = patch_of(&f, work_size(base), whole);
    const int64_t widest = whole ? tess_min64(s.columns, 8) : f.in <= 2 ? 8 : 4;
    *why = "takes masks of at most 5 rows, no wider than a vector of 16 bytes on either side";
    return f.y.width <= 5 && before(&f) <= widest && after(&f) <= widest;
}

/* Everything but the weights, which come last. */
static void lay_patch_of(const tess_correlate_frame *f, patch_shape s, tess_gpu_layout *layout, const tess_gpu_text *text, const char *entry,
                         tess_type work, bool whole) {
    tess_gpu_unit(layout, text);
    tess_correlate_frame_options(layout, work, f, whole);
    tess_gpu_option(layout, "-DKY=%d", (int)f->y.width);
    tess_gpu_option(layout, "-DV=%d", (int)s.columns);
    tess_gpu_option(layout, "-DR=%d", (int)s.rows);
    tess_gpu_option(layout, "-DDIRECT=%d", s.direct);
    tess_gpu_option(layout, "-DWX=%d", (int)s.across);
    tess_gpu_option(layout, "-DWY=%d", (int)s.down);
    tess_gpu_option(layout, "-DBLOCKS=%d", (int)s.blocks);
    const int64_t blocks_along = whole ? tess_ceil_div(f->x.m, 32 * s.columns * s.across)
                                       : tess_ceil_div(f->x.m + s.columns - 1, tess_correlate_frame_shifted(f, s.columns) * s.across);
    tess_gpu_step *step =
        tess_gpu_launch_folding(layout, entry, blocks_along, tess_ceil_div(f->y.m, s.rows * s.down), f->arrays, (int)(32 * s.across * s.down), 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_correlate_frame_pass(layout, step, f);
}

/* Narrow elements go through shared memory where they can. */
static void lay_patch_as(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout, bool whole) {
    float raised[MOST_TAPS];
    tess_correlate_frame f = known_frame(base, 1);
    const tess_type work = tess_correlate_gpu_of(base)->work;
    if (whole && tess_correlate_patch_shared_lay(&f, work, device, layout))
        return;
    const bool raises = patch_raises(base, &f, whole, raised);
    lay_patch_of(&f, patch_of(&f, work_size(base), whole), layout, &gpu_patch, "patch", work, whole);
    tess_gpu_option(layout, "-DRAISED=%d", raises);
    tess_gpu_pass(layout, &layout->step[layout->steps - 1], raises ? raised : f.pass->weights, f.pass->size);
}

/* ---- patch_bytes ---- */

enum { MOST_ROWS = 8, MOST_GROUPS = 3, MOST_WORDS = MOST_ROWS * (MOST_GROUPS - 1 + 4) };

/* The mask as words of four weights, as gpu_patch_bytes.cu meets them: its rows, then the last taps of rows of five or nine, four rows at once, those of rows that are left over
 * at each of four places. How many words. */
static int64_t lay_taps(const tess_correlate_problem *p, const tess_correlate_frame *f, uint32_t *taps) {
    const int64_t groups = groups_of(f), high = f->y.width, over = high % 4;
    const bool single = f->x.width % 4 == 1 && (f->pass->group > 1 || high >= 4);
    const int64_t fours = single ? groups - 1 : groups;
    uint32_t rows[MOST_ROWS * MOST_GROUPS], *next = taps + high * fours;
    bytes_of(p, f, rows);
    for (int64_t y = 0; y < high; y++)
        memcpy(taps + y * fours, rows + y * groups, sizeof *taps * (size_t)fours);
    for (int64_t y = over; single && y < high; y += 4) {
        *next = 0;
        for (int64_t i = 0; i < 4; i++)
            *next |= rows[(y + i) * groups + fours] << 8 * i;
        next++;
    }
    for (int64_t y = 0; single && y < over; y++)
        for (int64_t i = 0; i < 4; i++)
            *next++ = rows[y * groups + fours] << 8 * i;
    return next - taps;
}

patch_shape tess_correlate_patch_bytes_of(const tess_correlate_frame *f, bool whole) {
    patch_shape s = {.columns = 8, .rows = 8, .across = whole ? 2 : 1, .down = whole ? 2 : 4};
    if (!whole && f->y.width <= 3)
        s.columns = f->x.m < 2048 ? 4 : 16, s.rows = f->x.m < 2048 ? 8 : 6;
    if (f->y.m <= 2 * s.rows)
        s.across = 4, s.down = 1;
    if (f->y.m == 1)
        s.rows = 1;
    s.blocks = f->y.width > 3 ? 5 : whole ? 8 : 7;
    return s;
}

static bool patch_bytes_takes(const tess_problem *base, bool whole, const char **why) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    uint32_t taps[MOST_ROWS * MOST_GROUPS];
    tess_correlate_frame f;
    if (!frame_of(&f, base, 1, whole, why))
        return false;
    *why = "takes u8 and i8, and integer masks whose sums are proven to fit 32 bits";
    if (!p->packed || f.in != 1)
        return false;
    const int64_t beside = whole && f.pass->group > 1 ? 16 : 8;
    *why = "takes masks of at most 8 rows and 12 columns, 8 of them (whole rows of pixels: 16 bytes) on either side, of weights of 8 bits";
    return f.y.width <= MOST_ROWS && f.x.width <= 4 * MOST_GROUPS && before(&f) <= beside && after(&f) <= beside && bytes_of(p, &f, taps);
}

static void lay_patch_bytes_as(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout, bool whole) {
    uint32_t taps[MOST_WORDS];
    tess_correlate_frame f = known_frame(base, 1);
    const int64_t words = lay_taps(tess_correlate_gpu_of(base), &f, taps);
    tess_gpu_step *step = whole ? tess_correlate_patch_dots_lay(&f, groups_of(&f), device, layout) : NULL;
    if (!step) {
        lay_patch_of(&f, tess_correlate_patch_bytes_of(&f, whole), layout, &gpu_patch_bytes, "patch_bytes", tess_i32, whole);
        tess_gpu_option(layout, "-DGROUPS=%d", (int)groups_of(&f));
        step = &layout->step[layout->steps - 1];
    }
    tess_gpu_pass(layout, step, taps, sizeof *taps * (size_t)words);
}

/* ---- strip2d ---- */

enum { MOST_SUMS = 200 /* registers of a thread */ };

/* Eight columns, as long as there are registers for their sums. */
strip2d_shape tess_correlate_strip2d_of(const tess_correlate_frame *f, int64_t work, bool whole, const tess_gpu_device *device) {
    const int64_t wide = work / 4, taps = f->y.width;
    strip2d_shape s = {.columns = 8, .threads = 128};
    if (wide == 2)
        s.columns = taps <= 7 && f->in <= 4 ? 4 : taps <= 7 ? 4 : 2;
    else if (f->in >= 4 && (taps > 15 || (whole && taps <= 5 && f->x.width <= 5))) /* short masks: memory binds */
        s.columns = 4;
    if (f->in < 4)
        s.columns = wide == 2 || 8 * taps + before(f) + after(f) > MOST_SUMS ? 4 : 8;
    s.columns = tess_max64(s.columns, tess_correlate_columns_full(f));
    while (s.threads > 32 && s.threads * s.columns / 2 >= f->x.m)
        s.threads /= 2;
    const int64_t row = tess_correlate_frame_ring(f, whole, s.threads * s.columns, s.columns, before(f), after(f), 0);
    const int64_t sums = s.columns * taps * wide, registers = sums <= 56 ? (whole ? 80 : 96) : sums + (s.columns + before(f) + after(f)) * wide + 20;
    s.blocks = resident(s.threads, registers);
    s.stages = 8;
    s.shared = s.stages * row * f->in + (whole ? 0 : s.threads * s.columns * f->out);
    s.blocks = tess_max64(1, tess_min64(s.blocks, SHARED / (s.shared + BLOCK_SHARED)));
    const int64_t columns = tess_ceil_div(f->x.m, s.threads * s.columns) * f->arrays;
    const int64_t at_once = device->sms * s.blocks,
                  rows = tess_max64(f->y.m, 1);                                 /* without outputs there are no blocks, of some height all the same */
    const int64_t waves = (taps >= 9 && taps <= 12) || f->x.width == 1 ? 1 : 2; /* fewer rows twice, or a fuller last wave: as measured */
    int64_t strips = tess_max64(1, waves * at_once / tess_max64(columns, 1));
    if (at_once > 0 && columns > at_once) {
        /* Many small images: as many strips as leave the last wave of blocks fullest, the rows before a strip's first output counted. */
        int64_t least = INT64_MAX;
        for (int64_t n = 1; n <= 8; n++) {
            const int64_t height = tess_ceil_div(rows, n);
            const int64_t turns = tess_ceil_div(columns * tess_ceil_div(rows, height), at_once) * (height + taps - 1 + s.stages);
            if (turns < least) {
                least = turns;
                strips = n;
            }
        }
    }
    s.height = tess_max64(tess_ceil_div(rows, strips), tess_min64(rows, 2 * taps));
    return s;
}

bool tess_correlate_strip2d_carries(const tess_correlate_frame *f, int64_t work, const char **why) {
    static const tess_gpu_device none;
    strip2d_shape s = tess_correlate_strip2d_of(f, work, true, &none);
    *why = "takes masks of few enough taps for its registers and for the instruction cache";
    return f->y.width > 1 && f->x.width * f->y.width * s.columns <= BODY && (f->y.width * s.columns + before(f) + after(f)) * work / 4 <= MOST_SUMS &&
           s.shared <= 48 << 10 && tess_correlate_frame_parameters(f, f->pass->taps) + 8 <= PARAMETERS;
}

static bool strip2d_takes(const tess_problem *base, bool whole, const char **why) {
    tess_correlate_frame f;
    return frame_of(&f, base, 1, whole, why) && tess_correlate_strip2d_carries(&f, work_size(base), why);
}

void tess_correlate_strip2d_lay(const tess_correlate_frame *given, tess_type work, bool whole, const tess_gpu_device *device, tess_gpu_layout *layout,
                                const tess_correlate_ends *ends) {
    const tess_correlate_frame f = *given;
    strip2d_shape s = tess_correlate_strip2d_of(&f, (int64_t)tess_type_size(work), whole, device);
    tess_gpu_unit(layout, &gpu_strip2d);
    tess_correlate_frame_options(layout, work, &f, whole);
    tess_gpu_option(layout, "-DKY=%d", (int)f.y.width);
    tess_gpu_option(layout, "-DV=%d", (int)s.columns);
    tess_gpu_option(layout, "-DSTAGES=%d", (int)s.stages);
    tess_gpu_option(layout, "-DTHREADS=%d", (int)s.threads);
    tess_gpu_option(layout, "-DBLOCKS=%d", (int)s.blocks);
    tess_gpu_step *step = tess_gpu_launch_folding(layout, "strip2d", tess_ceil_div(f.x.m, s.threads * s.columns), tess_ceil_div(f.y.m, s.height),
                                                  f.arrays, (int)s.threads, s.shared);
    tess_gpu_pass_pointer(layout, step, ends->from, ends->from_at);
    tess_gpu_pass_pointer(layout, step, ends->to, ends->to_at);
    tess_correlate_frame_pass(layout, step, &f);
    tess_gpu_pass_i32(layout, step, (int32_t)s.height);
    tess_gpu_pass(layout, step, f.pass->weights, f.pass->size);
}

static void lay_strip2d_as(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout, bool whole) {
    const tess_correlate_frame f = known_frame(base, 1);
    tess_correlate_strip2d_lay(&f, tess_correlate_gpu_of(base)->work, whole, device, layout, &(tess_correlate_ends){TESS_GPU_IN, TESS_GPU_OUT, 0, 0});
}

/* Integers of 32 bits that are summed in 64, as measured (notes-gpu.md). */
static bool wide_strips_pay(const tess_correlate_frame *f, const tess_problem *base, int64_t columns) {
    const char *why;
    return f->in == 4 && work_size(base) == 8 && f->x.m < columns && tess_correlate_frame_many(f) && tess_correlate_strip2d_carries(f, 8, &why);
}

bool tess_correlate_patch_odd_pays(const tess_problem *base, const char **why) {
    const tess_correlate_frame f = known_frame(base, 1);
    *why = "of short rows several are a tile";
    if (tess_correlate_tile1d_is_quicker(&f, work_size(base), false))
        return false;
    *why = "short rows are mostly ends";
    return !wide_strips_pay(&f, base, f.y.width <= 3 && f.x.width <= 3 ? 512 : INT64_MAX);
}

/* Where a row ends patches wait for one row of elements after another; of many short rows strips are faster. From how many columns on patches are, as measured on an H200. */
bool tess_correlate_patch_pays(const tess_problem *base, const char **why) {
    const tess_correlate_frame f = known_frame(base, 1);
    *why = "of short rows several are a tile";
    if (tess_correlate_tile1d_is_quicker(&f, work_size(base), true))
        return false;
    *why = "short rows are mostly ends";
    const bool small = f.y.width <= 3 && f.x.width <= 3;
    if (wide_strips_pay(&f, base, small ? 2048 : 8192))
        return false;
    if (f.in > 4 || work_size(base) != 4 || (f.pass->group > 1 && f.in < 4) || !tess_correlate_frame_many(&f) ||
        tess_correlate_patch_shared_takes(&f) || !tess_correlate_strip2d_carries(&f, work_size(base), why))
        return true;
    *why = "short rows are mostly ends";
    const int64_t columns = f.in == 4 ? (small ? 1024 : 1536) : f.in == 2 ? (small ? 3000 : 16384) : (small ? 512 : 8192);
    return f.x.m >= columns;
}

/* ---- the rows ---- */

static void lay_patch_bytes(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    lay_patch_bytes_as(base, device, layout, true);
}
static void lay_patch_bytes_odd(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    lay_patch_bytes_as(base, device, layout, false);
}
static void lay_patch(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) { lay_patch_as(base, device, layout, true); }
static void lay_patch_odd(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    lay_patch_as(base, device, layout, false);
}
static void lay_strip2d(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    lay_strip2d_as(base, device, layout, true);
}
static void lay_strip2d_odd(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    lay_strip2d_as(base, device, layout, false);
}
ROW(patch_bytes, patch_bytes_takes, true, .predict = tess_correlate_predict_patch_bytes);
ROW(patch_bytes_odd, patch_bytes_takes, false, .predict = tess_correlate_predict_patch_bytes_odd);
ROW(patch, patch_takes, true, .predict = tess_correlate_predict_patch);
ROW(patch_odd, patch_takes, false, .predict = tess_correlate_predict_patch_odd);
ROW(strip2d, strip2d_takes, true, .predict = tess_correlate_predict_strip2d);
ROW(strip2d_odd, strip2d_takes, false, .predict = tess_correlate_predict_strip2d_odd);
