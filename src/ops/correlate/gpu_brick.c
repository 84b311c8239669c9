/* SPDX-License-Identifier: Apache-2.0
 * gpu_brick.c - the row for small masks over elements in any order, and over complex numbers: which axes a brick has, which of them lanes read along, how large it is. Lists pass by pass. */
#include "ops/correlate/gpu_brick.h"

#include <stdlib.h>
#include <string.h>

#include "ops/correlate/gpu_fast.h"
#include "ops/correlate/gpu_wide.h"

KERNEL_TEXT(gpu_brick);

enum { THREADS = 256, OUTPUTS = 8, BODY = 2048 /* multiply-adds that the instruction cache holds */, SHARED = 80 << 10, PARAMETERS = 4000 };
enum { AXIS = INT32_MAX / 2, GRID = 65535 };

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

/* Lines that lanes read or write along are 32 elements at least where there are so many. */
static void shape_of(brick *b, const tess_correlate_problem *p) {
    const int64_t size = (int64_t)tess_type_size(p->work), each = tess_is_complex(p->work) ? 4 : 1;
    const bool volume = b->at[2] >= 0;
    b->outputs = OUTPUTS;
    while (b->outputs > 1 && b->outputs * b->pass->taps * each > BODY)
        b->outputs /= 2;
    if (b->split) {
        b->threads[0] = cover(tess_ceil_div(b->axis[0].m, b->outputs), THREADS);
        b->threads[1] = b->threads[2] = 1;
    } else {
        b->threads[0] = cover(b->axis[0].m, volume || b->turned ? 32 : 64);
        b->threads[1] = cover(tess_ceil_div(b->axis[1].m, b->outputs), volume ? (b->turned ? 32 / b->outputs : 1) : THREADS / b->threads[0]);
        b->threads[2] = cover(b->axis[2].m, THREADS / (b->threads[0] * b->threads[1]));
    }
    while (b->threads[0] * b->threads[1] * b->threads[2] < 32)
        b->threads[0] *= 2;
    b->tile[0] = b->threads[0] * (b->split ? b->outputs : 1);
    b->tile[1] = b->threads[1] * (b->split ? 1 : b->outputs);
    b->tile[2] = b->threads[2];
    for (int i = 0; i < 3; i++)
        b->length[i] = b->tile[i] + b->axis[i].width - 1;
    b->pitch = b->turned ? b->length[0] | 1 : b->length[0];
    b->shared = b->pitch * b->length[1] * b->length[2] * size;
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
            TESS_MUL_OVERFLOWS(tess_min64(b->length[i], a->n), llabs(a->in_stride), &steps) || TESS_ADD_OVERFLOWS(reach, steps, &reach))
            return false;
    }
    return reach < INT32_MAX;
}

bool tess_correlate_brick_of(brick *b, const tess_correlate_problem *p, const tess_correlate_pass *pass, const char **why) {
    memset(b, 0, sizeof *b);
    b->pass = pass;
    *why = "takes at most three axes that have a mask or are an array's finest";
    if (!axes_of(b))
        return false;
    order_of(b);
    *why = "takes masks of few enough taps for the instruction cache and for parameters, and arrays of at most 2^30 elements along an axis";
    if (pass->taps > BODY || parameters(b, p) > PARAMETERS)
        return false;
    shape_of(b, p);
    if (b->outputs * pass->taps * (tess_is_complex(p->work) ? 4 : 1) > BODY || b->shared > SHARED || !narrow(b))
        return false;
    for (int i = 0; i < 3; i++)
        b->grid[i] = tess_ceil_div(b->axis[i].m, b->tile[i]);
    *why = "needs fewer arrays, or shorter axes";
    for (int d = 0; d < pass->ndim; d++)
        if (tess_correlate_brick_is_batch(b, d) && (pass->axis[d].m > GRID || (b->grid[2] *= pass->axis[d].m) > GRID))
            return false;
    return b->grid[1] <= GRID && b->grid[2] <= GRID;
}

/* ---- the row ---- */

bool tess_correlate_brick_fits(const tess_problem *base, const char **why) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    int64_t all = 0;
    int count;
    brick b;
    if (!tess_correlate_gpu_chains(base, why))
        return false;
    const tess_correlate_pass *pass = tess_correlate_gpu_passes(p, &count);
    for (int k = 0; k < count; k++, all += parameters(&b, p) + 512)
        if (!tess_correlate_brick_of(&b, p, &pass[k], why))
            return false;
    *why = "takes lists of at most 12 masks over arrays of few axes";
    return count <= TESS_GPU_STEPS && count <= TESS_GPU_UNITS && all <= TESS_GPU_ARENA;
}

/* `wide` reads along the output's finest axis: of masks that are worth its tile it leaves the arrays that are finest along another. */
bool tess_correlate_brick_pays(const tess_problem *base, const char **why) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    const char *other;
    tess_correlate_frame f;
    bool apart = false, turned = false;
    int count;
    brick b;
    const tess_correlate_pass *pass = tess_correlate_gpu_passes(p, &count);
    for (int k = 0; k < count; k++) {
        apart = apart || !tess_correlate_frame_of(&f, p, &pass[k], 2, why);
        turned = turned || (tess_correlate_brick_of(&b, p, &pass[k], why) && b.turned);
    }
    *why = apart ? "larger masks have a tile that more outputs share"
                 : "real elements that follow each other along the mask's last axis come by vectors";
    return apart && (turned || !tess_correlate_wide_fits(base, &other) || !tess_correlate_wide_pays(base, &other));
}

static void lay_pass(tess_gpu_layout *layout, const tess_correlate_problem *p, int k, int count, const tess_correlate_pass *pass,
                     const int64_t *between) {
    static const char *const taps[] = {"-DKX=%d", "-DKY=%d", "-DKZ=%d"}, *const threads[] = {"-DTX=%d", "-DTY=%d", "-DTZ=%d"},
                             *const order[] = {"-DFIRST=%d", "-DSECOND=%d", "-DTHIRD=%d"};
    const char *why;
    brick b;
    tess_correlate_brick_of(&b, p, pass, &why); /* true, because `fits` was */
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
    tess_gpu_option(layout, "-DR=%d", (int)b.outputs);
    tess_gpu_option(layout, "-DSPLIT=%d", b.split);
    tess_gpu_option(layout, "-DTURNED=%d", b.turned);
    tess_gpu_option(layout, "-DBATCH=%d", b.batch);
    tess_gpu_step *step =
        tess_gpu_launch_of(layout, "brick_pass", b.grid[0], b.grid[1], b.grid[2], (int)(b.threads[0] * b.threads[1] * b.threads[2]), b.shared);
    tess_correlate_gpu_ends(layout, step, k, count, between);
    memcpy(at, pass->weights, pass->size);
    tess_gpu_pass(layout, step, block, (size_t)((char *)at - (char *)block) + tess_ceil_div(pass->size, 8) * 8);
}

static void lay_brick(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    (void)device;
    tess_correlate_gpu_lay_passes(layout, base, lay_pass);
}

const tess_gpu_row tess_correlate_brick = {
    .headers = tess_correlate_number_headers, .production = true, .least_arch = 80, .lay_out = lay_brick, .predict = tess_correlate_predict_brick};
