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

enum { GRID = 65535, SHORT = 9, LAPS = 2 /* lanes at either end of a warp that write nothing, at most */ };

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

static bool patch_takes(const tess_problem *base, bool whole, const char **why) {
    pair two;
    if (!tess_correlate_pair_of(&two, base, whole, why))
        return false;
    const tess_correlate_frame *f = &two.frame;
    const patch_shape s = patch_of(&two, work_size(base));
    const int64_t reach = tess_max64(f->x.before, f->x.width - 1 - f->x.before), laps = two.rows == 0 ? 1 : LAPS;
    const int64_t widest = work_size(base) == 8 && (two.rows == 0 || f->in < 8) ? SHORT / 2 + 1 : SHORT;
    *why =
        "takes two masks of at most 9 taps (sums of f64 from narrower elements, or by rows first: 5), no wider than a vector of 16 bytes on either "
        "side, or two by columns first; elements of 1 and 2 bytes by columns first and in f32 only";
    return (f->in >= 4 || (two.rows != 0 && work_size(base) == 4)) && f->x.width <= widest && f->y.width <= widest && reach <= laps * s.columns &&
           f->x.m > 0 && f->y.m > 0 && f->arrays > 0 && tess_ceil_div(f->y.m, s.rows * s.down) <= GRID;
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
    tess_gpu_step *step = tess_gpu_launch_of(layout, entry, tess_max64(1, tess_ceil_div(f->x.m + more, s->own * s->across)),
                                             tess_ceil_div(f->y.m, s->rows * s->down), f->arrays, (int)(32 * s->across * s->down), shared);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_IN, 0);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_OUT, 0);
    tess_correlate_frame_pass(layout, step, f);
    tess_gpu_pass(layout, step, p->passes[two->rows].weights, p->passes[two->rows].size);
    return step;
}

/* A row needs no lanes beyond its ends: a constant stands there, or columns that its first lane and its last one hold. */
static bool stands_alone(const tess_correlate_frame *f, int64_t columns) {
    const int64_t reach = tess_max64(f->x.before, f->x.width - 1 - f->x.before);
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
    return tess_ceil_div(f->y.m, s->rows * s->down) <= GRID && raise_weights(p->passes[!two->rows].weights, taps, f->pass->from, along_y);
}

/* A list of narrow elements whose rows begin anywhere (gpu_patch_list_odd.cu): besides its blocks what they cover beyond a row's columns, and bytes of shared memory. */
typedef struct odd_shape {
    patch_shape patch;
    int64_t more, room;
} odd_shape;

/* So many rows of outputs a thread; false where a thread would bring more vectors than its registers hold. */
static bool set_rows(odd_shape *shape, const tess_correlate_frame *f, int64_t rows) {
    enum { HELD = 12 };
    patch_shape *s = &shape->patch;
    const int64_t span = (s->across - 1) * s->own + 32 * s->columns, vectors = (span * f->in + 30) / 16, warps = s->across * s->down,
                  at_once = 32 * warps / vectors, all = s->down * rows + f->y.width - 1;
    s->rows = rows;
    shape->room = up_to(all * (16 * vectors + 15) + 16, 16) + warps * rows * 2 * s->columns * f->out;
    return at_once > 0 && tess_ceil_div(all, at_once) <= HELD;
}

/* As many rows as leave few over, to a limit, as measured. */
static bool choose_rows(odd_shape *shape, const tess_correlate_frame *f) {
    enum { LEAST = 10, HALVES = 18, BYTES = 20, NARROW = 34, WAIT = 3 /* of a block, in rows */ };
    const int64_t taps = f->y.width, full = f->in == 2 ? tess_min64(2 * taps + 6, HALVES) : shape->patch.columns == 8 ? BYTES : NARROW;
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

/* As measured: bytes under masks of up to 7 taps two by two warps of 8 columns a thread, where these compute no more than 4 columns and a tenth, whose warps stand as many side by
 * side as leave few over. */
static bool odd_list_of(odd_shape *shape, const pair *two, const tess_correlate_problem *p, float *along_y) {
    static const int64_t side_by_side[] = {2, 4, 3, 5, 6, 1};
    const tess_correlate_frame *f = &two->frame;
    const int64_t taps = f->y.width, widest = tess_max64(taps, f->x.width), before = f->x.before, after = f->x.width - 1 - before;
    double least = INFINITY;
    if (f->in > 2 || tess_type_size(p->work) != 4 || two->rows == 0 || widest > (f->in == 1 ? 9 : 7))
        return false;
    for (int64_t columns = f->in == 1 && widest <= 7 ? 8 : 4; columns >= tess_max64(4, tess_max64(before, after)); columns -= 4) {
        /* NEAR and FIRST of the kernel */
        const int64_t near = tess_max64(0, tess_min64(before - 1, columns - after)), first = before - near <= 1 ? 1 : 2, own = (31 - first) * columns,
                      more = up_to(near, columns) - near + columns - 1;
        for (int i = 0; i < (columns == 8 ? 1 : TESS_COUNT(side_by_side)); i++) {
            const int64_t across = side_by_side[i], down = tess_max64(1, 4 / across);
            odd_shape tried = {.patch = {.columns = columns, .across = across, .down = down, .own = own}, .more = more};
            const double cost = (double)(up_to(tess_ceil_div(f->x.m + more, own), across) * columns) * (columns == 4 ? 1.1 : 1);
            if (cost < 0.97 * least && choose_rows(&tried, f)) {
                least = cost;
                *shape = tried;
            }
        }
    }
    if (least == INFINITY)
        return false;
    const int64_t registers = taps <= 5 || (f->in == 1 && shape->patch.columns == 4) ? 72 : f->in == 2 ? 80 : 96;
    shape->patch.blocks = 512 / registers * 4 / (shape->patch.across * shape->patch.down);
    return tess_ceil_div(f->y.m, shape->patch.rows * shape->patch.down) <= GRID &&
           raise_weights(p->passes[!two->rows].weights, taps, f->pass->from, along_y);
}

/* The same of small images without gaps (gpu_flat_list.cu): columns a lane, rows a warp, warps that a multiprocessor has registers for; bytes of shared memory of a warp. */
typedef struct flat_shape {
    int64_t columns, rows, warps, room;
} flat_shape;

/* As many columns a lane as make a warp of a row; of 16 halves, which lie 32 bytes apart, requests of lanes meet in banks: 0.586 ms for 0.570. A warp is a block: no other waits
 * for it (u8 511 x 509 0.259 ms, four 0.266). As many rows as leave few over; warps for which shared memory has no room are missed by a quarter, as measured with 8 to 20 of 20. Few
 * images are cut to the fewest rows. */
static bool flat_list_of(flat_shape *s, const pair *two, const tess_correlate_problem *p, float *along_y) {
    enum { LEAST = 10, MOST = 34, LANES = 20, WAIT = 3, ENOUGH = 2048 /* warps */, BLOCKS = 32, SHARED = 228 << 10, OWN = 1 << 10 };
    const tess_correlate_frame *f = &two->frame;
    const int64_t taps = f->y.width, m = f->x.m, after = f->x.width - 1 - f->x.before;
    *s = (flat_shape){.columns = up_to(tess_ceil_div(m, 32), 4)};
    if (f->in > 2 || f->out > f->in || tess_type_size(p->work) != 4 || two->rows == 0 || f->pass->group != 1 || taps < 2 ||
        tess_max64(taps, f->x.width) > 7 || m != f->x.n || f->y.m != f->y.n || f->y.in_stride != m * f->in || f->y.out_stride != m * f->out ||
        f->y.m < LEAST || f->y.m > INT32_MAX / 2 / m)
        return false;
    if (s->columns > (f->in == 1 ? 16 : 12) || tess_ceil_div(m, s->columns) < LANES || tess_max64(f->x.before, after) > s->columns)
        return false;
    s->warps = tess_min64(BLOCKS, 512 / up_to(taps * s->columns + 3 * s->columns / 2 + 24, 8) * 4);
    double least = INFINITY;
    for (int64_t rows = LEAST; rows <= tess_min64(MOST, f->y.m); rows += 2) {
        const int64_t bands = tess_ceil_div(f->y.m, rows), room = up_to(20 + ((rows + taps - 1) * m + s->columns) * f->in, 16),
                      warps = tess_min64(s->warps, SHARED / (room + OWN));
        const double time = (double)bands * ((double)rows + WAIT + 0.5 * (double)(taps - 1)) * (0.75 + 0.25 * (double)s->warps / (double)warps);
        if (time <= least && (rows == LEAST || bands * f->arrays >= ENOUGH)) {
            least = time;
            s->rows = rows, s->room = room;
        }
    }
    return tess_ceil_div(f->y.m, s->rows) <= GRID && raise_weights(p->passes[!two->rows].weights, taps, f->pass->from, along_y);
}

/* Rows that begin at multiples of 16 bytes, too, of many images: as measured but of halves where a warp would leave lanes over. */
static bool flat_list_pays(const flat_shape *s, const pair *two) {
    enum { LEAST = 30 /* lanes */ };
    const tess_correlate_frame *f = &two->frame;
    return !two->whole || (tess_correlate_frame_many(f) && (f->in == 1 || s->columns == 4 || f->x.m > (LEAST - 1) * s->columns));
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
    if (flat_list_of(&flat, two, p, along_y) && flat_list_pays(&flat, two))
        return (patch_pair_shape){FLAT_LIST, flat.columns, flat.rows, 1, 1, flat.room, u8, false};
    if (two->whole && list_of(&s, two, p, along_y))
        return (patch_pair_shape){PATCH_LIST, s.columns, s.rows, s.across, s.down, 0, u8, stands_alone(&two->frame, s.columns)};
    if (!two->whole && odd_list_of(&odd, two, p, along_y))
        return (patch_pair_shape){PATCH_LIST_ODD, odd.patch.columns, odd.patch.rows, odd.patch.across, odd.patch.down, odd.room, u8, false};
    s = patch_of(two, (int64_t)tess_type_size(p->work));
    return (patch_pair_shape){PATCH_SEPARABLE, s.columns, s.rows, s.across, s.down, 0, pair_raises(two, p, along_y), false};
}

static void lay_as(const tess_problem *base, tess_gpu_layout *layout, bool whole) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const char *why;
    float along_y[SHORT];
    pair two;
    patch_shape s;
    tess_correlate_pair_of(&two, base, whole, &why); /* true, because `fits` was */
    flat_shape flat;
    if (flat_list_of(&flat, &two, p, along_y) && flat_list_pays(&flat, &two)) {
        const patch_shape as = {.columns = flat.columns, .rows = flat.rows, .across = 1, .down = 1, .blocks = flat.warps, .own = 32 * flat.columns};
        two.whole = false; /* the kernel's text is the same */
        tess_gpu_step *step = lay_patch_of(&two, p, &as, layout, &gpu_flat_list, "flat_list", 0, flat.room);
        tess_gpu_option(layout, "-DROW=%d", (int)two.frame.x.m);
        tess_gpu_option(layout, "-DBOUNDARY=%d", (int)two.frame.boundary);
        tess_gpu_pass(layout, step, along_y, sizeof *along_y * (size_t)two.frame.y.width);
        return;
    }
    if (whole && list_of(&s, &two, p, along_y)) {
        const int64_t rows = s.down * s.rows + two.frame.y.width - 1, row = up_to((s.across * s.own + s.columns) * two.frame.in + 16, 16);
        tess_gpu_step *step = lay_patch_of(&two, p, &s, layout, &gpu_patch_list, "patch_list", -ends_of(&two.frame, s.columns), rows * row);
        tess_gpu_option(layout, "-DSHORT=%d", two.frame.y.m < s.rows * s.down);
        tess_gpu_option(layout, "-DBOUNDARY=%d", (int)two.frame.boundary);
        tess_gpu_option(layout, "-DALONE=%d", stands_alone(&two.frame, s.columns));
        tess_gpu_pass(layout, step, along_y, sizeof *along_y * (size_t)two.frame.y.width);
        return;
    }
    odd_shape odd;
    if (!whole && odd_list_of(&odd, &two, p, along_y)) {
        tess_gpu_step *step = lay_patch_of(&two, p, &odd.patch, layout, &gpu_patch_list_odd, "patch_list_odd", odd.more, odd.room);
        tess_gpu_option(layout, "-DSHORT=%d", two.frame.y.m < odd.patch.rows * odd.patch.down);
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
    if (flat_list_of(&flat, &two, p, along_y) && flat_list_pays(&flat, &two))
        return true;
    const int taps = (int)tess_max64(two.frame.x.width, two.frame.y.width), step = taps <= 3 ? 0 : tess_ceil_div(taps, 2) - 2;
    if (list_of(&s, &two, p, along_y))
        return two.frame.x.m >= (two.frame.in == 1 ? 60 : stands_alone(&two.frame, s.columns) ? 100 : 512);
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
    if (odd_list_of(&odd, &two, tess_correlate_gpu_of(base), along_y))
        return two.frame.x.m >= 200;
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
