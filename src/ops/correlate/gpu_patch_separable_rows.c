/* SPDX-License-Identifier: Apache-2.0
 * gpu_patch_separable_rows.c - the production rows of a list of two short masks, one of them along rows, by patches; `_odd`: of rows that begin anywhere.
 * Which kernel, which shape of block, and from how long rows on. */
#include "ops/correlate/gpu_pair.h"
#include "ops/correlate/gpu_raise.h"

KERNEL_TEXT(gpu_patch_separable);
KERNEL_TEXT(gpu_patch_list);
KERNEL_TEXT(gpu_patch_list_odd);
KERNEL_TEXT(gpu_flat_list);

typedef tess_correlate_pair pair;

enum { SHORT = 9, LAPS = 2 /* lanes at either end of a warp that write nothing, at most */ };

typedef struct patch_shape {
    int64_t columns, rows, across, down, blocks, own; /* V, R, WX, WY, BLOCKS; columns that a warp writes */
} patch_shape;

static patch_shape patch_of(const pair *two, int64_t work) {
    const tess_correlate_frame *f = &two->frame;
    const int64_t before = f->x.before, after = f->x.width - 1 - before;
    int64_t warps = two->rows == 0 || work > f->in ? 16 : 24; /* so many an SM have registers */
    patch_shape s = {.columns = 16 / f->in, .rows = 8, .across = 2, .down = 4};
    if (f->in == 4 && two->rows != 0)
        s.rows = f->y.width <= 3 ? 4 : 6;
    else if (f->in <= 2 && !two->whole) {
        const bool few = f->y.width <= 3;
        s.columns = few ? 8 : 4, s.across = 1, s.rows = !few ? 14 : f->in == 1 ? 8 : 6;
        warps = !few ? 24 : f->in == 1 ? 32 : 28;
    } else if (f->in == 2)
        s.rows = 14, s.across = 1, warps = 16;
    else if (f->in == 1)
        s.columns = f->y.width <= 3 ? 8 : 4, s.across = 1,
        s.rows = f->y.width <= 3   ? 12
                 : f->y.width == 7 ? 18
                                   : 14,
        warps = f->y.width <= 3 ? 28 : 20;
    if (f->y.m <= 2 * s.rows)
        s.across = 4, s.down = 1;
    s.blocks = warps / (s.across * s.down);
    s.own = 32 * s.columns;
    if (two->rows != 0) /* columns first: warps overlap */
        s.own -= up_to(before, s.columns) + up_to(after, s.columns) + (two->whole ? 0 : 2 * s.columns);
    else if (!two->whole)
        s.own = tess_correlate_frame_shifted(f, s.columns);
    return s;
}

/* How far a mask along rows reaches, in elements, and lanes of so many columns. */
static int64_t before_of(const tess_correlate_frame *f) { return f->x.before * f->pass->group; }
static int64_t after_of(const tess_correlate_frame *f) { return (f->x.width - 1 - f->x.before) * f->pass->group; }
static int64_t reach_of(const tess_correlate_frame *f) { return tess_max64(before_of(f), after_of(f)); }
static int64_t laps_of(const tess_correlate_frame *f, int64_t columns) { return reach_of(f) > columns ? 2 : 1; }
static bool is_laid(const tess_correlate_frame *f) { return f->pass->group > 1 && reach_of(f) > PIXELS_REACH; }

/* Pixels of narrow elements by columns first (gpu_patch_list.cu): lanes of 8 columns, of which one or two at either end of a warp write nothing; as many rows as leave few over, to
 * what was quickest on an H200. */
static bool pixels_of(patch_shape *s, const pair *two, const tess_correlate_problem *p, float *along_y) {
    enum { LEAST = 10, BYTES = 20, HALVES = 17, OF_FEW = 11, COLUMNS = 8, MORE = 32 /* registers */ };
    const tess_correlate_frame *f = &two->frame;
    const int64_t taps = f->y.width, reach = reach_of(f);
    if (f->pass->group == 1 || !two->whole || f->in > 2 || tess_type_size(p->work) != 4 || two->rows == 0 || tess_max64(taps, f->x.width) > SHORT ||
        reach > LAPS * COLUMNS || f->x.n % COLUMNS || f->x.m % COLUMNS)
        return false;
    *s = (patch_shape){.columns = COLUMNS, .own = (32 - 2 * laps_of(f, COLUMNS)) * COLUMNS};
    s->across = tess_min64(tess_ceil_div(tess_max64(1, f->x.m), s->own), f->in == 2 ? 4 : 2);
    s->down = 4 / s->across;
    const int64_t most = taps <= 3 ? OF_FEW : f->in == 1 ? BYTES : HALVES;
    int64_t least = INT64_MAX;
    for (int64_t n = tess_ceil_div(LEAST, taps); n * taps - 1 <= most; n++) {
        const int64_t rows = n * taps - 1, all = tess_ceil_div(f->y.m, rows * s->down) * (s->down * rows + (taps - 1) / 2);
        if (all <= least) {
            least = all;
            s->rows = rows;
        }
    }
    s->blocks = 65536 / (up_to(COLUMNS * (taps + 1) + 2 * reach + MORE, 8) * 32 * s->across * s->down);
    return raise_weights(p->passes[!two->rows].weights, taps, f->pass->from, along_y);
}

/* Everything but the shape of its blocks, in which the two kernels differ, as in what blocks have to cover more than a row's columns. */
static tess_gpu_step *lay_patch_of(const pair *two, const tess_correlate_problem *p, const patch_shape *s, tess_gpu_layout *layout,
                                   const tess_gpu_text *text, const char *entry, int64_t more, int64_t shared) {
    const tess_correlate_frame *f = &two->frame;
    tess_gpu_unit(layout, text);
    tess_correlate_frame_options(layout, p->work, f, two->whole);
    tess_gpu_option(layout, "-DKY=%d", (int)f->y.width);
    tess_gpu_option(layout, "-DV=%d", (int)s->columns);
    tess_gpu_option(layout, "-DR=%d", (int)s->rows);
    tess_gpu_option(layout, "-DWX=%d", (int)s->across);
    tess_gpu_option(layout, "-DWY=%d", (int)s->down);
    tess_gpu_option(layout, "-DBLOCKS=%d", (int)s->blocks);
    tess_gpu_step *step = tess_gpu_launch_folding(layout, entry, tess_max64(1, tess_ceil_div(f->x.m + more, s->own * s->across)),
                                                  tess_ceil_div(f->y.m, s->rows * s->down), f->arrays, (int)(32 * s->across * s->down), shared);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_correlate_frame_pass(layout, step, f);
    tess_gpu_pass(layout, step, p->passes[two->rows].weights, p->passes[two->rows].size);
    return step;
}

/* A row needs no lanes beyond its ends: a constant stands there, or columns that its first lane and its last one hold. */
static bool stands_alone(const tess_correlate_frame *f, int64_t columns) {
    if (f->pass->group > 1)
        return false;
    const int64_t reach = reach_of(f);
    if (f->boundary == TESS_BOUNDARY_CONSTANT)
        return f->x.m >= f->x.n;
    return f->boundary != TESS_BOUNDARY_WRAP && f->x.m == f->x.n && reach + (f->boundary == TESS_BOUNDARY_MIRROR) <= columns;
}

/* Columns of a row that no lane is computed beside: those of its first lane and its last. */
static int64_t ends_of(const tess_correlate_frame *f, int64_t columns) { return stands_alone(f, columns) ? 2 * columns : 0; }

/* Warps of V columns side by side, so that a row of the array wants the fewest, four where that is nearly as few; one or two where columns are eight or no more are wanted, and
 * the others below them. What all of them compute comes back. */
static int64_t side_by_side(patch_shape *s, const tess_correlate_frame *f, int64_t columns) {
    static const int64_t warps[] = {4, 5, 6, 3};
    const int64_t own = 30 * columns, m = tess_max64(1, f->x.m - ends_of(f, columns)), needed = tess_ceil_div(m, own);
    *s = (patch_shape){.columns = columns, .across = tess_min64(needed, 2), .own = own};
    s->down = 4 / s->across;
    int64_t least = needed > 2 && columns == 4 ? INT64_MAX / 16 : up_to(needed, s->across);
    for (int i = 0; i < TESS_COUNT(warps) && needed > 2 && columns == 4; i++) {
        const int64_t down = f->in == 2 ? 2 : 1, across = warps[i] / down, all = up_to(needed, across);
        if (16 * all < 15 * least) {
            least = all;
            s->across = across, s->down = down;
        }
    }
    return least * own;
}

/* Narrow elements by columns first go through shared memory, where an end of the array costs little. All as measured on an H200: bytes under masks of up to 7 taps 8 columns a
 * thread, if no more are computed for it; as many rows as registers hold on their way, and few are left over. */
static bool list_of(patch_shape *s, const pair *two, const tess_correlate_problem *p, float *along_y) {
    enum { LEAST = 10 };
    const tess_correlate_frame *f = &two->frame;
    const int64_t taps = f->y.width, reach = tess_max64(f->x.before, f->x.width - 1 - f->x.before);
    if (f->pass->group > 1)
        return pixels_of(s, two, p, along_y);
    if (f->in > 2 || tess_type_size(p->work) != 4 || two->rows == 0 || tess_max64(taps, f->x.width) > (f->in == 1 ? 9 : 7))
        return false;
    const int64_t narrow = side_by_side(s, f, 4);
    patch_shape wide;
    if (f->in == 1 && taps <= 7 && f->x.n % 8 == 0 && f->x.m % 8 == 0 && 16 * side_by_side(&wide, f, 8) <= (taps <= 5 ? 18 : 17) * narrow)
        *s = wide;
    if (reach > s->columns || f->x.n % s->columns || f->x.m % s->columns)
        return false;
    const int64_t most = f->in == 2 ? 15 : s->columns == 4 ? 36 : taps <= 3 ? 15 : taps <= 5 ? 20 : 21;
    int64_t least = INT64_MAX;
    for (int64_t n = tess_ceil_div(LEAST, taps); n <= most / taps; n++) {
        const int64_t rows = n * taps - 1, all = tess_ceil_div(f->y.m, rows * s->down) * (s->down * rows + (taps - 1) / 2);
        if (all <= least) {
            least = all;
            s->rows = rows;
        }
    }
    s->blocks = 65536 / ((s->columns == 8 && taps > 5 ? 96 : 72) * 32 * s->across * s->down);
    return raise_weights(p->passes[!two->rows].weights, taps, f->pass->from, along_y);
}

/* A list of narrow elements whose rows begin anywhere (gpu_patch_list_odd.cu): besides its blocks how far behind a lane's columns its outputs begin, lanes at either end of a warp that meet
 * windows, what blocks cover beyond a row's columns, bytes of shared memory, by how many bytes a lane reads. */
typedef struct odd_shape {
    patch_shape patch;
    int64_t near, laps, more, room, read;
    bool laid;
} odd_shape;

/* So many columns a lane, of which outputs begin `near` behind. FIRST and END of the kernel. */
static odd_shape odd_lanes(const tess_correlate_frame *f, int64_t columns, int64_t near) {
    const int64_t left = tess_max64(1, before_of(f) - near), right = tess_max64(1, after_of(f) + near), first = (left + 2 * (columns - 1)) / columns,
                  end = 32 - tess_ceil_div(right, columns);
    return (odd_shape){.patch = {.columns = columns, .own = (end - first) * columns},
                       .near = near,
                       .laps = tess_max64(left, right) > columns ? 2 : 1,
                       .more = up_to(near, columns) - near + columns - 1,
                       .read = 4};
}

/* So many rows of outputs a thread; false where a thread would bring more vectors than its registers hold. */
static bool set_rows(odd_shape *shape, const tess_correlate_frame *f, int64_t rows) {
    const int64_t held = f->pass->group > 1 ? 22 : f->y.width <= 7 ? 12 : 16; /* with registers for so many sums there are more for these */
    patch_shape *s = &shape->patch;
    const int64_t span = (s->across - 1) * s->own + 32 * s->columns, vectors = (span * f->in + 30) / 16, warps = s->across * s->down,
                  at_once = 32 * warps / vectors, all = s->down * rows + f->y.width - 1,
                  laid = shape->laid ? 2 * (32 + 2 * shape->laps) * s->columns * (int64_t)sizeof(float) : 0;
    s->rows = rows;
    shape->room = up_to(all * (16 * vectors + 15) + 16, 16) + warps * (rows * 2 * s->columns * f->out + laid);
    return at_once > 0 && tess_ceil_div(all, at_once) <= held;
}

/* As many rows as leave few over, to a limit, as measured. */
static bool choose_rows(odd_shape *shape, const tess_correlate_frame *f) {
    enum { LEAST = 10, HALVES = 18, BYTES = 20, LONG = 28 /* by 9 taps */, NARROW = 34, OF_PIXELS = 14, WAIT = 3 /* of a block, in rows */ };
    const int64_t taps = f->y.width, full = f->pass->group > 1          ? (taps <= 3    ? 12
                                                                           : f->in == 2 ? OF_PIXELS
                                                                                        : BYTES)
                                            : f->in == 2                ? tess_min64(2 * taps + 6, HALVES)
                                            : shape->patch.columns == 4 ? NARROW
                                            : taps <= 7                 ? BYTES
                                                                        : LONG;
    double least = INFINITY;
    for (int64_t rows = LEAST; rows <= full; rows += 2) {
        odd_shape tried = *shape;
        const double time = (double)(tess_ceil_div(f->y.m, rows * shape->patch.down)) * ((double)rows + WAIT + 0.5 * (double)(taps - 1));
        if (time <= least && set_rows(&tried, f, rows)) {
            least = time;
            *shape = tried;
        }
    }
    return least < INFINITY;
}

/* Pixels of narrow elements whose rows begin anywhere: lanes of 8 columns, outputs where the fewest lanes write nothing and, of a laid row, the fewest vectors are read; blocks as pixels_of
 * has them. */
static bool odd_pixels_of(odd_shape *shape, const pair *two, const tess_correlate_problem *p, float *along_y) {
    enum { COLUMNS = 8, LAID = 22, BETWEEN = 36, HALVES = 36 /* registers more; of halves vectors that a thread brings take most */ };
    const tess_correlate_frame *f = &two->frame;
    const int64_t taps = f->y.width, left = before_of(f), right = after_of(f), reach = reach_of(f);
    if (f->in > 2 || tess_type_size(p->work) != 4 || two->rows == 0 || tess_max64(taps, f->x.width) > SHORT || reach > LAPS * COLUMNS)
        return false;
    int64_t most = -1;
    for (int64_t near = 0; near < COLUMNS; near++) {
        const odd_shape tried = odd_lanes(f, COLUMNS, near);
        const int64_t read = tess_ceil_div(near + COLUMNS + right, 4) + tess_ceil_div(left - near, 4), worth = 64 * tried.patch.own - read;
        if (tess_max64(left - near, right + near) <= LAPS * COLUMNS && worth > most) {
            most = worth;
            *shape = tried;
        }
    }
    patch_shape *s = &shape->patch;
    shape->laid = reach > PIXELS_REACH;
    const int64_t more = f->in == 2 ? HALVES : shape->laid ? LAID : BETWEEN, registers = tess_min64(128, up_to(COLUMNS * taps + 2 * reach + more, 8));
    shape->read = f->in == 2 ? 16 : shape->laid ? 8 : 4;
    s->across = tess_min64(tess_ceil_div(tess_max64(1, f->x.m + shape->more), s->own), f->in == 2 ? 4 : 2);
    s->down = 4 / s->across;
    s->blocks = 65536 / (registers * 32 * s->across * s->down);
    return choose_rows(shape, f) && raise_weights(p->passes[!two->rows].weights, taps, f->pass->from, along_y);
}

/* As measured: bytes two by two warps of 8 columns a thread, where these compute no more than 4 columns and a tenth, whose warps stand as many side by side as leave few over. */
static bool odd_list_of(odd_shape *shape, const pair *two, const tess_correlate_problem *p, float *along_y) {
    static const int64_t side_by_side[] = {2, 4, 3, 5, 6, 1};
    const tess_correlate_frame *f = &two->frame;
    const int64_t taps = f->y.width, widest = tess_max64(taps, f->x.width), before = f->x.before, after = f->x.width - 1 - before;
    if (f->pass->group > 1)
        return odd_pixels_of(shape, two, p, along_y);
    double least = INFINITY;
    if (f->in > 2 || tess_type_size(p->work) != 4 || two->rows == 0 || widest > (f->in == 1 ? 9 : 7))
        return false;
    for (int64_t columns = f->in == 1 ? 8 : 4; columns >= tess_max64(4, tess_max64(before, after)); columns -= 4) {
        odd_shape tried = odd_lanes(f, columns, tess_max64(0, tess_min64(before - 1, columns - after)));
        for (int i = 0; i < (columns == 8 ? 1 : TESS_COUNT(side_by_side)); i++) {
            const int64_t across = side_by_side[i];
            tried.patch.across = across;
            tried.patch.down = tess_max64(1, 4 / across);
            const double cost = (double)(up_to(tess_ceil_div(f->x.m + tried.more, tried.patch.own), across) * columns) * (columns == 4 ? 1.1 : 1);
            if (cost < 0.97 * least && choose_rows(&tried, f)) {
                least = cost;
                *shape = tried;
            }
        }
    }
    if (least == INFINITY)
        return false;
    const int64_t registers = taps <= 5 || (f->in == 1 && shape->patch.columns == 4) ? 72 : f->in == 2 ? 80 : taps <= 7 ? 96 : 128;
    shape->patch.blocks = 512 / registers * 4 / (shape->patch.across * shape->patch.down);
    return raise_weights(p->passes[!two->rows].weights, taps, f->pass->from, along_y);
}

static bool patch_takes(const tess_problem *base, bool whole, const char **why) {
    pair two;
    if (!tess_correlate_pair_of(&two, base, whole, why))
        return false;
    const tess_correlate_frame *f = &two.frame;
    if (f->pass->group > 1) {
        patch_shape pixels;
        odd_shape odd;
        float along_y[SHORT];
        const tess_correlate_problem *p = tess_correlate_gpu_of(base);
        *why =
            whole
                ? "over pixels takes rows of a multiple of 8 elements of 1 and 2 bytes, two masks of at most 9 taps, by columns first, that reach 16 "
                  "elements to either side, and f32"
                : "over pixels takes elements of 1 and 2 bytes, two masks of at most 9 taps, by columns first, that reach 16 elements to either "
                  "side, "
                  "and f32";
        return (whole ? pixels_of(&pixels, &two, p, along_y) : odd_list_of(&odd, &two, p, along_y)) && f->x.m > 0 && f->y.m > 0 && f->arrays > 0;
    }
    const patch_shape s = patch_of(&two, work_size(base));
    const int64_t reach = reach_of(f), laps = two.rows == 0 ? 1 : LAPS;
    const int64_t widest = work_size(base) == 8 && (two.rows == 0 || f->in < 8) ? SHORT / 2 + 1 : SHORT;
    *why =
        "takes two masks of at most 9 taps (sums of f64 from narrower elements, or by rows first: 5), no wider than a vector of 16 bytes on either "
        "side, or two by columns first; elements of 1 and 2 bytes by columns first and in f32 only";
    return (f->in >= 4 || (two.rows != 0 && work_size(base) == 4)) && f->x.width <= widest && f->y.width <= widest && reach <= laps * s.columns &&
           f->x.m > 0 && f->y.m > 0 && f->arrays > 0;
}

/* The same of images without gaps (gpu_flat_list.cu): columns a lane, rows a band, warps of a block, bands side by side in a warp, blocks that a multiprocessor has registers for;
 * bytes of shared memory of a block; by how many bytes a lane reads. */
typedef struct flat_shape {
    int64_t columns, rows, across, bands, blocks, room, read;
} flat_shape;

/* The fewest columns a lane of which a warp is a row. */
static int64_t least_columns(const tess_correlate_frame *f) { return up_to(tess_ceil_div(f->x.m, 32), 4); }

/* As many columns a lane as make a warp of a row, a warp a block: no other waits for it (u8 511 x 509 0.259 ms, four 0.266); more, where that leaves room for several bands of rows
 * in a warp and saves a tenth of the instructions, of halves, which memory binds sooner, a fifth, as counted: so many a column of a row, and a row's. Longer rows are several warps of
 * 8 columns a lane, of whose lanes few are left over; not where rows begin at multiples of 16 bytes (on an H100 0.287 ms for 0.218). */
static bool set_lanes(flat_shape *s, const pair *two) {
    enum { LANES = 20, WARPS = 12, COLUMNS = 8, MOST = 12, OF_A_COLUMN = 3, OF_A_ROW = 20 };
    const tess_correlate_frame *f = &two->frame;
    const int64_t m = f->x.m, before = f->x.before, after = f->x.width - 1 - before;
    *s = (flat_shape){.columns = least_columns(f), .across = 1, .bands = 1};
    if (tess_ceil_div(m, s->columns) < LANES)
        return false;
    double least = INFINITY;
    for (int64_t columns = s->columns; columns <= tess_max64(MOST, least_columns(f)); columns += 4) {
        const int64_t bands = 32 / tess_ceil_div(m, columns);
        const double cost = (double)((f->x.width + f->y.width + OF_A_COLUMN) * columns + OF_A_ROW) / (double)bands;
        if (cost < (f->in == 1 ? 0.9 : 0.8) * least)
            least = cost, s->columns = columns, s->bands = bands;
    }
    if (s->columns > 16) {
        s->columns = COLUMNS, s->bands = 1;
        s->across = tess_ceil_div(tess_ceil_div(m, COLUMNS), FLAT_LIST_OWN);
        if (two->whole || s->across > WARPS || 5 * m < 4 * 32 * COLUMNS * s->across || f->boundary == TESS_BOUNDARY_WRAP || before + 3 > COLUMNS)
            return false;
    }
    s->read = f->in == 2 && s->columns >= 8 ? 8 : 4;
    return tess_max64(before, after) <= s->columns;
}

/* As many rows as leave few over; blocks for which shared memory has no room are missed by a quarter, as measured with 8 to 20 of 20 warps. Several warps wait for each other less
 * than one waits for memory. Few images are cut to the fewest rows. */
static bool flat_list_of(flat_shape *s, const pair *two, const tess_correlate_problem *p, float *along_y) {
    enum {
        LEAST = 10,
        MOST = 34,
        ENOUGH = 2048 /* warps */,
        BLOCKS = 32,
        WIDE = 80 /* registers */,
        SHARED = 228 << 10,
        OWN = 1 << 10,
        MOST_ROOM = 96 << 10 /* of a block on smaller cards */
    };
    const tess_correlate_frame *f = &two->frame;
    const int64_t taps = f->y.width, m = f->x.m;
    if (f->in > 2 || f->out > f->in || tess_type_size(p->work) != 4 || two->rows == 0 || f->pass->group != 1 || taps < 2 ||
        tess_max64(taps, f->x.width) > 7 || m != f->x.n || f->y.m != f->y.n || f->y.in_stride != m * f->in || f->y.out_stride != m * f->out ||
        f->y.m < LEAST || f->y.m > INT32_MAX / 2 / m || !set_lanes(s, two))
        return false;
    const int64_t registers = s->across > 1 ? WIDE : up_to(taps * s->columns + 3 * s->columns / 2 + 24, 8);
    const double wait = s->across > 1 ? 1 + 0.25 * (double)(taps - 1) : 3 + 0.5 * (double)(taps - 1); /* of a block, in rows */
    double least = INFINITY;
    s->blocks = tess_min64(BLOCKS, 512 / registers * 4 / s->across);
    for (int64_t rows = LEAST; rows <= tess_min64(MOST, f->y.m); rows += 2) {
        const int64_t down = tess_ceil_div(f->y.m, rows * s->bands), room = s->bands * up_to(48 + ((rows + taps - 1) * m + s->columns) * f->in, 32),
                      blocks = tess_min64(s->blocks, SHARED / (room + OWN));
        const double time = (double)down * ((double)rows + wait) * (0.75 + 0.25 * (double)s->blocks / (double)blocks);
        if (room <= MOST_ROOM && time <= least && (rows == LEAST || down * f->arrays * s->across >= ENOUGH)) {
            least = time;
            s->rows = rows, s->room = room;
        }
    }
    return least < INFINITY && raise_weights(p->passes[!two->rows].weights, taps, f->pass->from, along_y);
}

/* Rows that begin at multiples of 16 bytes, too, of many images: as measured but of halves where a warp would leave lanes over, or has 16 columns a lane, which was not timed. */
static bool flat_list_pays(const pair *two) {
    enum { LEAST = 30 /* lanes */, MOST = 12 /* columns */ };
    const tess_correlate_frame *f = &two->frame;
    const int64_t columns = least_columns(f);
    return !two->whole || (tess_correlate_frame_many(f) && (f->in == 1 || columns == 4 || (columns <= MOST && f->x.m > (LEAST - 1) * columns)));
}

static bool pair_raises(const pair *two, const tess_correlate_problem *p, float *along_y) {
    return !two->whole && two->rows != 0 && two->pass.from == tess_u8 && p->work == tess_f32 &&
           raise_weights(p->passes[!two->rows].weights, two->frame.y.width, tess_u8, along_y);
}

patch_pair_shape tess_correlate_patch_pair_of(const pair *two, const tess_correlate_problem *p) {
    float along_y[SHORT];
    flat_shape flat;
    patch_shape s;
    odd_shape odd;
    const bool u8 = two->pass.from == tess_u8;
    if (flat_list_of(&flat, two, p, along_y) && flat_list_pays(two))
        return (patch_pair_shape){FLAT_LIST, flat.columns, flat.rows, flat.across, 1, flat.room, flat.read, .raised = u8};
    if (two->whole && list_of(&s, two, p, along_y))
        return (patch_pair_shape){PATCH_LIST,
                                  s.columns,
                                  s.rows,
                                  s.across,
                                  s.down,
                                  .raised = u8,
                                  .alone = stands_alone(&two->frame, s.columns),
                                  .laps = laps_of(&two->frame, s.columns),
                                  .laid = is_laid(&two->frame)};
    if (!two->whole && odd_list_of(&odd, two, p, along_y))
        return (patch_pair_shape){PATCH_LIST_ODD, odd.patch.columns, odd.patch.rows,   odd.patch.across, odd.patch.down,  odd.room,
                                  odd.read,       .raised = u8,      .laps = odd.laps, .near = odd.near, .laid = odd.laid};
    s = patch_of(two, (int64_t)tess_type_size(p->work));
    return (patch_pair_shape){PATCH_SEPARABLE, s.columns, s.rows, s.across, s.down, .raised = pair_raises(two, p, along_y)};
}

static void lay_as(const tess_problem *base, tess_gpu_layout *layout, bool whole) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const char *why;
    float along_y[SHORT];
    pair two;
    patch_shape s;
    tess_correlate_pair_of(&two, base, whole, &why); /* true, because `fits` was */
    flat_shape flat;
    if (flat_list_of(&flat, &two, p, along_y) && flat_list_pays(&two)) {
        const patch_shape as = {
            .columns = flat.columns, .rows = flat.rows, .across = flat.across, .down = 1, .blocks = flat.blocks, .own = 32 * flat.columns};
        two.whole = false; /* the kernel's text is the same */
        tess_gpu_step *step = lay_patch_of(&two, p, &as, layout, &gpu_flat_list, "flat_list", 0, flat.room);
        step->grid.grid[1] = tess_ceil_div(two.frame.y.m, flat.rows * flat.bands);
        tess_gpu_option(layout, "-DROW=%d", (int)two.frame.x.m);
        tess_gpu_option(layout, "-DREAD=%d", (int)flat.read);
        tess_gpu_option(layout, "-DBOUNDARY=%d", (int)two.frame.boundary);
        tess_gpu_pass(layout, step, along_y, sizeof *along_y * (size_t)two.frame.y.width);
        return;
    }
    if (whole && list_of(&s, &two, p, along_y)) {
        const int64_t laps = laps_of(&two.frame, s.columns), rows = s.down * s.rows + two.frame.y.width - 1,
                      row = up_to((s.across * s.own + (2 * laps - 1) * s.columns) * two.frame.in + 16, 16),
                      shared = is_laid(&two.frame) ? s.across * s.down * 2 * (32 + 2 * laps) * s.columns * (int64_t)sizeof(float) : 0;
        tess_gpu_step *step = lay_patch_of(&two, p, &s, layout, &gpu_patch_list, "patch_list", -ends_of(&two.frame, s.columns), rows * row + shared);
        tess_gpu_option(layout, "-DSHORT=%d", two.frame.y.m < s.rows * s.down);
        tess_gpu_option(layout, "-DBOUNDARY=%d", (int)two.frame.boundary);
        tess_gpu_option(layout, "-DALONE=%d", stands_alone(&two.frame, s.columns));
        tess_gpu_option(layout, "-DLAID=%d", is_laid(&two.frame));
        tess_gpu_pass(layout, step, along_y, sizeof *along_y * (size_t)two.frame.y.width);
        return;
    }
    odd_shape odd;
    if (!whole && odd_list_of(&odd, &two, p, along_y)) {
        tess_gpu_step *step = lay_patch_of(&two, p, &odd.patch, layout, &gpu_patch_list_odd, "patch_list_odd", odd.more, odd.room);
        tess_gpu_option(layout, "-DSHORT=%d", two.frame.y.m < odd.patch.rows * odd.patch.down);
        tess_gpu_option(layout, "-DNEAR=%d", (int)odd.near);
        tess_gpu_option(layout, "-DREAD=%d", (int)odd.read);
        tess_gpu_option(layout, "-DLAID=%d", odd.laid);
        tess_gpu_option(layout, "-DTRIMMED=%d", two.frame.pass->group > 1);
        tess_gpu_pass(layout, step, along_y, sizeof *along_y * (size_t)two.frame.y.width);
        return;
    }
    s = patch_of(&two, work_size(base));
    tess_gpu_step *step = lay_patch_of(&two, p, &s, layout, &gpu_patch_separable, "patch_separable", whole ? 0 : s.columns - 1, 0);
    tess_gpu_option(layout, "-DROWS_FIRST=%d", two.rows == 0);
    tess_gpu_option(layout, "-DDIRECT=0");
    const tess_correlate_pass *along = &p->passes[!two.rows];
    const bool raises = pair_raises(&two, p, along_y);
    tess_gpu_option(layout, "-DRAISED=%d", raises);
    tess_gpu_pass(layout, step, raises ? along_y : along->weights, along->size);
}

/* At a row's ends elements are waited for one after another: of many short rows strips are faster, the longer the mask. From how many columns on patches are, as measured on an
 * H200; by rows first 7 taps and more nowhere. */
bool tess_correlate_patch_separable_pays(const tess_problem *base, const char **why) {
    static const int64_t wide[] = {1280, 1920, 2400, 6000};
    pair two;
    float along_y[SHORT];
    patch_shape s;
    if (!tess_correlate_pair_of(&two, base, true, why))
        return false;
    *why = "short rows are mostly ends";
    if (!tess_correlate_frame_many(&two.frame))
        return true;
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    flat_shape flat;
    if (flat_list_of(&flat, &two, p, along_y) && flat_list_pays(&two))
        return true;
    const int taps = (int)tess_max64(two.frame.x.width, two.frame.y.width), step = taps <= 3 ? 0 : tess_ceil_div(taps, 2) - 2;
    if (two.frame.pass->group > 1) /* 22 instructions an output where all of a warp's columns are there, strips 36; of halves not timed with fewer */
        return list_of(&s, &two, p, along_y) &&
               (two.frame.in == 1 ? two.frame.x.m >= 96 : 3 * two.frame.x.m >= 2 * up_to(two.frame.x.m, s.own * s.across));
    if (list_of(&s, &two, p, along_y))
        return two.frame.x.m >= (two.frame.in == 1 ? 48 : stands_alone(&two.frame, s.columns) ? 100 : 512);
    if (two.frame.in == 2 && taps > 7)
        return false;
    if (two.rows == 0 && taps > 5 && two.frame.in == 4)
        return false;
    const int64_t columns = two.frame.in == 8   ? wide[step] / 2
                            : two.frame.in == 4 ? wide[step]
                            : two.frame.in == 2 ? 4 * wide[step]
                                                : 8 * wide[step] / 5;
    return two.frame.x.m >= columns;
}

/* Of rows that begin anywhere ends take more instructions. As measured on an H200 with 7 taps. */
bool tess_correlate_patch_separable_odd_pays(const tess_problem *base, const char **why) {
    pair two;
    odd_shape odd;
    flat_shape flat;
    float along_y[SHORT];
    if (!tess_correlate_pair_of(&two, base, false, why))
        return false;
    if (!tess_correlate_frame_many(&two.frame) || flat_list_of(&flat, &two, tess_correlate_gpu_of(base), along_y))
        return true;
    *why = "short rows are mostly ends";
    if (odd_list_of(&odd, &two, tess_correlate_gpu_of(base), along_y)) {
        const int64_t m = two.frame.x.m, all = up_to(m + odd.more, odd.patch.own * odd.patch.across);
        return two.frame.pass->group > 1 ? 2 * m >= all : m >= 200; /* of pixels counted: strips take more than twice the instructions */
    }
    *why = "strips are faster for more than 7 taps, by rows first 5, over elements of 4 bytes and more"; /* f32 9 + 9: 0.658 ms, strips 0.636 */
    if (two.frame.in >= 4 && tess_max64(two.frame.x.width, two.frame.y.width) > (two.rows == 0 ? 5 : 7))
        return false;
    *why = "rows of few warps are mostly ends";
    return tess_ceil_div(two.frame.x.m, patch_of(&two, work_size(base)).own) >= (two.frame.in == 2 ? 20 : two.frame.in == 1 ? 10 : 16);
}

static void lay_patch_separable(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    (void)device;
    lay_as(base, layout, true);
}
static void lay_patch_separable_odd(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    (void)device;
    lay_as(base, layout, false);
}

#define ROW(name, whole)                                                                                                    \
    bool tess_correlate_##name##_fits(const tess_problem *base, const char **why) { return patch_takes(base, whole, why); } \
    const tess_gpu_row tess_correlate_##name = {.headers = tess_correlate_frame_headers,                                    \
                                                .production = true,                                                         \
                                                .least_arch = 80,                                                           \
                                                .lay_out = lay_##name,                                                      \
                                                .predict = tess_correlate_predict_##name}
ROW(patch_separable, true);
ROW(patch_separable_odd, false);
