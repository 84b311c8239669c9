/* SPDX-License-Identifier: Apache-2.0
 * gpu_brick.c - the rows for small masks over elements in any order, and over complex numbers: which axes a brick has, which of them lanes read along, how large it is. Lists pass by pass. */
#include "ops/correlate/gpu_brick.h"

#include <stdlib.h>
#include <string.h>

#include "ops/correlate/gpu_fast.h"
#include "ops/correlate/gpu_wide.h"

KERNEL_TEXT(gpu_brick);

enum {
    THREADS = 256,
    VECTOR = 16,
    MANY = 49 /* taps */,
    BODY = 2048 /* multiply-adds that the instruction cache holds */,
    SHARED = 80 << 10,
    PLACES = 48 << 10 /* bytes of shared memory that are not asked for at the launch: for where the brick's rows, columns and layers lie */,
    PARAMETERS = 4000
};
enum { AXIS = INT32_MAX / 2, SMALL = 512 /* taps, as measured */ };

typedef tess_correlate_brick_shape brick;

bool tess_correlate_brick_is_batch(const brick *b, int d) { return d != b->at[0] && d != b->at[1] && d != b->at[2]; }

/* ---- which axes ---- */

/* Axis d of the pass; one more for the elements of a pixel. */
static tess_correlate_axis axis_of(const tess_correlate_pass *pass, int d) {
    static const tess_correlate_axis single = {1, 1, 0, 0, 1, 0};
    if (d == pass->ndim)
        return (tess_correlate_axis){pass->group, pass->group, (int64_t)tess_type_size(pass->from), (int64_t)tess_type_size(pass->to), 1, 0};
    return d < 0 ? single : pass->axis[d];
}

/* The axis whose elements lie nearest together in the input; x if no other is nearer. */
static int finest_of_input(const tess_correlate_pass *pass, int x) {
    int finest = x;
    for (int d = pass->ndim - 1; d >= 0 && pass->group == 1; d--) {
        const int64_t step = llabs(pass->axis[d].in_stride), least = llabs(pass->axis[finest].in_stride);
        if (pass->axis[d].n > 1 && step > 0 && (step < least || least == 0 || pass->axis[finest].n < 2))
            finest = d;
    }
    return finest;
}

/* y is the input's finest axis, if x is not; else the one of most taps, which saves most loads; else any. z is what remains with a mask. */
static bool axes_of(brick *b) {
    const tess_correlate_pass *pass = b->pass;
    const int x = pass->group > 1 ? pass->ndim : pass->ndim - 1, finest = finest_of_input(pass, x);
    int y = finest == x ? -1 : finest, z = -1;
    b->turned = y >= 0;
    for (int k = 0; k < pass->masked; k++) {
        const int d = pass->order[k];
        if (d == x || d == y)
            continue;
        if (z >= 0)
            return false;
        z = y >= 0 ? d : z;
        y = y >= 0 ? y : d;
    }
    if (z >= 0 && !b->turned && pass->axis[z].width > pass->axis[y].width) {
        const int wider = z;
        z = y;
        y = wider;
    }
    for (int d = x - 1; d >= 0 && y < 0; d--)
        y = pass->axis[d].m > 1 ? d : -1;
    b->at[0] = x;
    b->at[1] = y;
    b->at[2] = z;
    b->split = y < 0;
    for (int d = 0; d < pass->ndim; d++)
        b->batch += tess_correlate_brick_is_batch(b, d);
    for (int i = 0; i < 3; i++)
        b->axis[i] = axis_of(pass, b->at[i]);
    return true;
}

/* Axes without a mask come last, y at the end: what a loop over it meets is added to different sums. */
static void order_of(brick *b) {
    static const int last[] = {2, 0, 1};
    int known = 0;
    for (int k = 0; k < b->pass->masked; k++)
        for (int i = 0; i < 3; i++)
            if (b->at[i] == b->pass->order[k])
                b->order[known++] = i;
    for (int k = 0; k < 3; k++) {
        bool named = false;
        for (int j = 0; j < b->pass->masked; j++)
            named = named || b->at[last[k]] == b->pass->order[j];
        if (!named)
            b->order[known++] = last[k];
    }
}

/* ---- how large ---- */

/* The least power of two that covers n, at most `most`. */
static int64_t cover(int64_t n, int64_t most) {
    int64_t power = 1;
    while (power < n && power < most)
        power *= 2;
    return power;
}

/* Whether elements of `size` bytes follow each other along an axis of the brick by whole vectors of `count`, which all lines begin with: of the input or the output. */
static bool is_whole(const brick *b, int axis, int64_t size, int64_t count, bool out) {
    if ((out ? b->axis[axis].out_stride : b->axis[axis].in_stride) != size || count * size > VECTOR || count * size < 4)
        return false;
    for (int d = 0; d < b->pass->ndim + (b->pass->group > 1); d++) {
        const tess_correlate_axis a = axis_of(b->pass, d);
        if (d != b->at[axis] && (out ? a.m > 1 && a.out_stride % (count * size) : a.n > 1 && a.in_stride % (count * size)))
            return false;
    }
    return true;
}

/* Outputs of a thread: the more, the more of them an element serves that is loaded from shared memory; but a volume's go both ways from a lane's column, which meets no bank twice. */
static void outputs_of(brick *b, const tess_correlate_problem *p, bool whole) {
    const int64_t size = (int64_t)tess_type_size(p->work), in = (int64_t)tess_type_size(b->pass->from), out = (int64_t)tess_type_size(b->pass->to);
    const int64_t each = b->pass->taps * (tess_is_complex(p->work) ? 4 : 1), wide = VECTOR / size;
    const bool volume = b->at[2] >= 0, units = whole && wide > 1 && is_whole(b, b->turned, in, wide, false),
               vectors = whole && wide > 1 && wide * each <= BODY && !b->turned && is_whole(b, 0, out, wide, true) && b->axis[0].m >= 4 * wide &&
                         (!volume || out < 4);
    b->raw = units && vectors && p->work == tess_f32 && in < 4 && tess_correlate_gpu_is_element(p, b->pass->from);
    b->unit = b->raw && is_whole(b, 0, in, VECTOR / in, false) ? VECTOR / in : units ? wide : 1;
    b->cell = b->raw ? in : size;
    b->shift = units ? ((-b->axis[b->turned].before) % b->unit + b->unit) % b->unit : 0;
    b->columns = vectors ? wide : 1;
    const bool more = b->pass->taps >= MANY || (b->raw && in == 2); /* as measured; of elements that come one by one fewer rows are quicker */
    b->rows = volume || (vectors && !(more && units)) ? 4 : 8;
    b->layers = volume && !vectors ? (size == 4 ? 4 : 2) : 1;
    while (b->layers > 1 && b->columns * b->rows * b->layers * each > BODY)
        b->layers /= 2;
    while (b->rows > 1 && b->columns * b->rows * each > BODY)
        b->rows /= 2;
}

/* Lines that lanes read or write along are 32 elements at least where there are so many. */
static void shape_of(brick *b, const tess_correlate_problem *p, bool whole) {
    const bool volume = b->at[2] >= 0;
    outputs_of(b, p, whole);
    const int64_t threads =
        b->columns == 4 && b->rows == 8 && (b->split || !b->raw) ? THREADS / 2 : THREADS; /* as measured; split, more have no room for their places */
    const int64_t along = tess_ceil_div(b->axis[0].m, b->columns);
    if (b->split) {
        b->threads[0] = cover(tess_ceil_div(along, b->rows), threads);
        b->threads[1] = b->threads[2] = 1;
    } else {
        b->threads[0] = cover(along, volume                           ? 32 / b->columns
                                     : b->columns > 1 && b->unit == 1 ? 64 / b->columns
                                     : b->raw && b->cell == 2         ? 64 /* as measured */
                                     : b->turned || b->columns > 1    ? 32
                                                                      : 64);
        b->threads[1] = cover(tess_ceil_div(b->axis[1].m, b->rows), volume ? (b->turned ? 32 : 16) / b->rows : threads / b->threads[0]);
        b->threads[2] = cover(tess_ceil_div(b->axis[2].m, b->layers), threads / (b->threads[0] * b->threads[1]));
    }
    while (b->threads[0] * b->threads[1] * b->threads[2] < 32)
        b->threads[0] *= 2;
    b->tile[0] = b->threads[0] * b->columns * (b->split ? b->rows : 1);
    b->tile[1] = b->threads[1] * (b->split ? 1 : b->rows);
    b->tile[2] = b->threads[2] * b->layers;
    for (int i = 0; i < 3; i++)
        b->length[i] = b->tile[i] + b->axis[i].width - 1;
    if (b->unit == 1) /* a thread reads whole vectors */
        b->length[0] = up_to(b->length[0], b->columns);
    b->pitch = b->turned ? b->length[0] | (b->tile[0] > 1) : up_to(b->shift + b->length[0], tess_max64(b->unit, b->columns));
    b->lines = b->turned ? up_to(b->shift + b->length[1], b->unit) : b->length[1];
    b->shared = b->pitch * b->lines * b->length[2] * b->cell;
}

/* Bytes of struct brick of gpu_brick.cu. */
static int64_t parameters(const brick *b, const tess_correlate_problem *p) {
    return 24 + 120 + 24 * (b->batch + 1) + 8 + (b->pass->taps + 1) * (int64_t)tess_type_size(p->work);
}

/* Places along an axis are counted by 31 bits, and so are steps within a brick that lies inside. */
static bool narrow(const brick *b) {
    int64_t reach = 0;
    for (int i = 0; i < 3; i++) {
        const tess_correlate_axis *a = &b->axis[i];
        int64_t steps;
        if (a->n > AXIS || a->m > AXIS || a->width > AXIS || a->before > AXIS || a->before < -AXIS ||
            TESS_MUL_OVERFLOWS(tess_min64(b->shift + b->length[i] + b->unit, a->n), llabs(a->in_stride), &steps) ||
            TESS_ADD_OVERFLOWS(reach, steps, &reach))
            return false;
    }
    return reach < INT32_MAX;
}

bool tess_correlate_brick_of(brick *b, const tess_correlate_problem *p, const tess_correlate_pass *pass, bool whole, const char **why) {
    memset(b, 0, sizeof *b);
    b->pass = pass;
    *why = "takes at most three axes that have a mask or are an array's finest";
    if (!axes_of(b))
        return false;
    order_of(b);
    *why = "takes masks of few enough taps for the instruction cache and for parameters, and arrays of at most 2^30 elements along an axis";
    if (pass->taps > BODY || parameters(b, p) > PARAMETERS)
        return false;
    shape_of(b, p, whole);
    if (pass->taps * (tess_is_complex(p->work) ? 4 : 1) > BODY || b->shared > SHARED || !narrow(b))
        return false;
    *why = "takes bricks short enough for their places to lie in shared memory";
    if ((b->length[0] + b->length[1] + b->length[2]) * (int64_t)sizeof(int64_t) > PLACES)
        return false;
    for (int i = 0; i < 3; i++)
        b->grid[i] = tess_ceil_div(b->axis[i].m, b->tile[i]);
    *why = "needs fewer arrays, or shorter axes";
    for (int d = 0; d < pass->ndim; d++)
        if (tess_correlate_brick_is_batch(b, d) && TESS_MUL_OVERFLOWS(b->grid[2], pass->axis[d].m, &b->grid[2]))
            return false;
    int64_t blocks;
    return !TESS_MUL_OVERFLOWS(b->grid[0], b->grid[1], &blocks) && !TESS_MUL_OVERFLOWS(blocks, b->grid[2], &blocks) && blocks <= INT32_MAX;
}

/* ---- the rows ---- */

static bool by_vectors(const brick *b) { return b->unit > 1 || b->columns > 1; }

static bool takes(const tess_problem *base, bool whole, const char **why) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    bool asks = whole;
    int64_t all = 0;
    int count;
    brick b;
    if (!tess_correlate_gpu_chains(base, why))
        return false;
    const tess_correlate_pass *pass = tess_correlate_gpu_passes(p, &count);
    for (int k = 0; k < count; k++, all += parameters(&b, p) + 512) {
        if (!tess_correlate_brick_of(&b, p, &pass[k], true, why))
            return false;
        asks = asks || by_vectors(&b);
        if (!whole && !tess_correlate_brick_of(&b, p, &pass[k], false, why))
            return false;
    }
    *why = "is for arrays that do not begin where `brick` asks them to, and here it asks for nothing";
    if (!asks)
        return false;
    *why = "takes lists of at most 12 masks over arrays of few axes";
    return count <= TESS_GPU_STEPS && count <= TESS_GPU_UNITS && all <= TESS_GPU_ARENA;
}
bool tess_correlate_brick_fits(const tess_problem *base, const char **why) { return takes(base, true, why); }
bool tess_correlate_brick_odd_fits(const tess_problem *base, const char **why) { return takes(base, false, why); }

/* `wide` has a tile that more outputs share, but it brings elements one by one: it is quicker only for masks of many taps, and slower where the input's finest axis is another than the
 * output's. */
bool tess_correlate_brick_pays(const tess_problem *base, const char **why) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const char *other;
    tess_correlate_frame f;
    bool apart = false, turned = false;
    int64_t taps = 0;
    int count;
    brick b;
    const tess_correlate_pass *pass = tess_correlate_gpu_passes(p, &count);
    for (int k = 0; k < count; k++) {
        apart = apart || !tess_correlate_frame_of(&f, p, &pass[k], 2, why);
        turned = turned || (tess_correlate_brick_of(&b, p, &pass[k], true, why) && b.turned);
        taps = tess_max64(taps, pass[k].taps);
    }
    apart = apart || (tess_correlate_march3d_odd_fits(base, &other) && !tess_correlate_march3d_odd_pays(base, &other));
    *why = apart ? "larger masks have a tile that more outputs share"
                 : "real elements that follow each other along the mask's last axis come by vectors";
    return apart && (turned || taps <= SMALL || !tess_correlate_wide_fits(base, &other) || !tess_correlate_wide_pays(base, &other));
}

static void lay_pass_as(tess_gpu_layout *layout, const tess_correlate_problem *p, int k, int count, const tess_correlate_pass *pass,
                        const int64_t *between, bool whole) {
    static const char *const taps[] = {"-DKX=%d", "-DKY=%d", "-DKZ=%d"}, *const threads[] = {"-DTX=%d", "-DTY=%d", "-DTZ=%d"},
                             *const order[] = {"-DFIRST=%d", "-DSECOND=%d", "-DTHIRD=%d"};
    const char *why;
    brick b;
    tess_correlate_brick_of(&b, p, pass, whole, &why); /* true, because `fits` was */
    tess_gpu_unit(layout, &gpu_brick);
    tess_correlate_gpu_types(layout, p, pass);
    int64_t block[PARAMETERS / 8 + 2] = {p->boundary}, *at = block + 1;
    memcpy(at, &p->work_constant, tess_type_size(p->work));
    at += p->work == tess_f32 || p->work == tess_c64 ? 1 : 2;
    for (int i = 0; i < 3; i++) {
        tess_gpu_option(layout, taps[i], (int)b.axis[i].width);
        tess_gpu_option(layout, threads[i], (int)b.threads[i]);
        tess_gpu_option(layout, order[i], b.order[i]);
        *at++ = b.axis[i].n;
        *at++ = b.axis[i].m;
        *at++ = b.axis[i].in_stride / (int64_t)tess_type_size(pass->from);
        *at++ = b.axis[i].out_stride / (int64_t)tess_type_size(pass->to);
        *at++ = b.axis[i].before;
    }
    for (int d = pass->ndim - 1; d >= 0; d--)
        if (tess_correlate_brick_is_batch(&b, d)) {
            *at++ = pass->axis[d].m;
            *at++ = tess_correlate_gpu_in(pass, d);
            *at++ = tess_correlate_gpu_out(pass, d);
        }
    at += 3;
    at += p->work == tess_c128 && (at - block) % 2; /* weights lie at multiples of their size */
    tess_gpu_option(layout, "-DV=%d", (int)b.columns);
    tess_gpu_option(layout, "-DR=%d", (int)b.rows);
    tess_gpu_option(layout, "-DS=%d", (int)b.layers);
    tess_gpu_option(layout, "-DVEC=%d", (int)b.unit);
    tess_gpu_option(layout, "-DSHIFT=%d", (int)b.shift);
    tess_gpu_option(layout, "-DSPLIT=%d", b.split);
    tess_gpu_option(layout, "-DTURNED=%d", b.turned);
    tess_gpu_option(layout, "-DRAW=%d", b.raw);
    tess_gpu_option(layout, "-DBATCH=%d", b.batch);
    layout->alignment =
        tess_max64(layout->alignment,
                   by_vectors(&b) ? tess_max64(b.unit * (int64_t)tess_type_size(pass->from), b.columns * (int64_t)tess_type_size(pass->to)) : 0);
    tess_gpu_step *step =
        tess_gpu_launch_folding(layout, "brick_pass", b.grid[0], b.grid[1], b.grid[2], (int)(b.threads[0] * b.threads[1] * b.threads[2]), b.shared);
    tess_correlate_gpu_ends(layout, step, k, count, between);
    memcpy(at, pass->weights, pass->size);
    tess_gpu_pass(layout, step, block, (size_t)((char *)at - (char *)block) + tess_ceil_div(pass->size, 8) * 8);
}

static void lay_pass(tess_gpu_layout *layout, const tess_correlate_problem *p, int k, int count, const tess_correlate_pass *pass,
                     const int64_t *between) {
    lay_pass_as(layout, p, k, count, pass, between, true);
}
static void lay_pass_odd(tess_gpu_layout *layout, const tess_correlate_problem *p, int k, int count, const tess_correlate_pass *pass,
                         const int64_t *between) {
    lay_pass_as(layout, p, k, count, pass, between, false);
}
static void lay_brick(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    (void)device;
    tess_correlate_gpu_lay_passes(layout, base, lay_pass);
}
static void lay_brick_odd(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    (void)device;
    tess_correlate_gpu_lay_passes(layout, base, lay_pass_odd);
}

#define ROW(name)                                                                         \
    const tess_gpu_row tess_correlate_##name = {.headers = tess_correlate_number_headers, \
                                                .production = true,                       \
                                                .least_arch = 80,                         \
                                                .lay_out = lay_##name,                    \
                                                .predict = tess_correlate_predict_##name}
ROW(brick);
ROW(brick_odd);
