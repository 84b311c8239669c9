/* SPDX-License-Identifier: Apache-2.0
 * gpu_wide.c - the row for large masks: which axes are a block's rows and columns, which shape the block has, how much of its input is held at once; lists pass by pass. */
#include "ops/correlate/gpu_wide.h"

#include <string.h>

KERNEL_TEXT(gpu_wide);

enum { LINE = 128, SQUARE = 256, LEAST = 32, WHOLE = 96 << 10, BAND = 72 << 10, SUMS = 98 << 10, PARAMETERS = 4000, FEW = 12, FEW_OF_LIST = 7 };

typedef tess_correlate_wide_shape wide;

/* Columns are the finest axis, rows the axis that the mask's order has before it, so that a line of the mask is a line of the tile. */
static bool axes_of(wide *w) {
    const tess_correlate_pass *pass = w->pass;
    int rows = pass->masked;
    w->x = pass->ndim - 1;
    w->y = -1;
    if (pass->axis[w->x].width > 1 && pass->order[--rows] != w->x)
        return false;
    if (rows > 0)
        w->y = pass->order[--rows];
    for (int d = w->x - 1; d >= 0 && w->y < 0; d--) /* an axis without a mask fills the block as well */
        w->y = pass->axis[d].width == 1 ? d : -1;
    w->outer = rows;
    w->batch = pass->ndim - rows - 1 - (w->y >= 0) + (pass->group > 1);
    return true;
}

static void shape_of(wide *w, int64_t size) {
    const tess_correlate_axis *x = &w->pass->axis[w->x];
    w->width_x = x->width;
    w->width_y = w->y >= 0 ? w->pass->axis[w->y].width : 1;
    const bool line = w->width_y == 1 && w->width_x > 1;
    const int64_t each = 16 / size, taps = tess_ceil_div(w->width_x, each) * each;
    w->columns = size == 8 ? 10 : line ? 20 : 12;
    w->rows = line ? 1 : size == 8 ? 2 : 4;
    w->threads = line ? LINE : SQUARE;
    w->across = line ? LINE : 8;
    while (w->across > 8 && w->across / 2 * w->columns >= x->m)
        w->across /= 2;
    w->down = w->threads / w->across;
    const int64_t high = w->y >= 0 ? w->pass->axis[w->y].m : 1;
    while (!line && w->down > 1 && w->down / 2 * w->rows >= high && (w->threads > LEAST || w->across * w->columns < x->m)) {
        w->down /= 2; /* few rows: as many threads along them, or fewer where they are short, too */
        if (w->across * w->columns < x->m)
            w->across *= 2;
        else
            w->threads /= 2;
    }
    int64_t all = w->down * w->rows + w->width_y - 1, row = (w->across * w->columns + taps) * size, weights = w->width_y * taps * size;
    int64_t sums = w->down * w->rows * w->across * w->columns * size;
    w->band = all * row + weights <= WHOLE ? all : tess_max64(1, (BAND - weights) / row);
    w->shared = tess_max64(weights + w->band * row, sums);
}

/* Bytes of struct wide of gpu_wide.cu. */
static int64_t parameters(const wide *w) { return 16 + 96 + 24 * (w->batch + 1) + 48 * (w->outer + 1); }

bool tess_correlate_wide_of(wide *w, const tess_correlate_problem *p, const tess_correlate_pass *pass, const char **why) {
    const int64_t size = (int64_t)tess_type_size(p->work);
    memset(w, 0, sizeof *w);
    w->pass = pass;
    *why = "takes real elements, and masks whose last axis is the output's finest, or which leave that alone";
    if (tess_is_complex(p->work) || tess_is_complex(pass->to) || !axes_of(w))
        return false;
    *why = "takes masks of which a row and a plane fit shared memory";
    for (int k = 0; k < pass->masked; k++)
        if (pass->axis[pass->order[k]].width > SUMS / size)
            return false;
    shape_of(w, size);
    return w->shared <= SUMS && parameters(w) <= PARAMETERS;
}

bool tess_correlate_wide_fits(const tess_problem *base, const char **why) {
    const tess_correlate_problem *p = tess_correlate_gpu_of(base);
    int64_t all = 0;
    int count;
    wide w;
    if (!tess_correlate_gpu_chains(base, why))
        return false;
    const tess_correlate_pass *pass = tess_correlate_gpu_passes(p, &count);
    for (int k = 0; k < count; k++, all += parameters(&w) + 512)
        if (!tess_correlate_wide_of(&w, p, &pass[k], why))
            return false;
    *why = "takes lists of at most 12 masks over arrays of few axes";
    return count <= TESS_GPU_STEPS && count <= TESS_GPU_PIECES && all <= TESS_GPU_ARENA;
}

bool tess_correlate_wide_pays(const tess_problem *base, const char **why) {
    int64_t taps = 0;
    int count;
    const tess_correlate_pass *pass = tess_correlate_gpu_passes(tess_correlate_gpu_of(base), &count);
    for (int k = 0; k < count; k++)
        taps = tess_max64(taps, pass[k].taps);
    *why = "a mask of few taps is not worth a tile";
    return taps >= (count > 1 ? FEW_OF_LIST : FEW);
}

static int64_t *put_masked(int64_t *at, const tess_correlate_pass *pass, int d) {
    static const tess_correlate_axis one = {1, 1, 0, 0, 1, 0};
    const tess_correlate_axis *a = d >= 0 ? &pass->axis[d] : &one;
    *at++ = a->m;
    *at++ = d >= 0 ? tess_correlate_gpu_in(pass, d) : 0;
    *at++ = d >= 0 ? tess_correlate_gpu_out(pass, d) : 0;
    *at++ = a->n;
    *at++ = a->before;
    *at++ = a->width;
    return at;
}

static bool among(const int *list, int count, int d) {
    for (int k = 0; k < count; k++)
        if (list[k] == d)
            return true;
    return false;
}

/* struct wide of gpu_wide.cu; returns how many planes of blocks there are. */
static int64_t pass_axes(tess_gpu_layout *layout, tess_gpu_step *step, const tess_correlate_problem *p, const wide *w) {
    int64_t block[PARAMETERS / 8] = {0}, *at = block, planes = w->pass->group;
    memcpy(at++, &p->work_constant, tess_type_size(p->work));
    *at++ = p->boundary;
    at = put_masked(at, w->pass, w->y);
    at = put_masked(at, w->pass, w->x);
    if (w->pass->group > 1) {
        *at++ = w->pass->group;
        *at++ = 1;
        *at++ = 1;
    }
    for (int d = w->pass->ndim - 1; d >= 0; d--)
        if (d != w->x && d != w->y && !among(w->pass->order, w->outer, d)) {
            *at++ = w->pass->axis[d].m;
            *at++ = tess_correlate_gpu_in(w->pass, d);
            *at++ = tess_correlate_gpu_out(w->pass, d);
            planes *= w->pass->axis[d].m;
        }
    at += 3;
    for (int k = 0; k < w->outer; k++) {
        at = put_masked(at, w->pass, w->pass->order[k]);
        planes *= w->pass->axis[w->pass->order[k]].m;
    }
    at += 6;
    tess_gpu_pass(layout, step, block, (size_t)(at - block) * sizeof *block);
    return planes;
}

static void lay_pass(tess_gpu_layout *layout, const tess_correlate_problem *p, int k, int count, const tess_correlate_pass *pass,
                     const int64_t *between) {
    const char *why;
    wide w;
    tess_correlate_wide_of(&w, p, pass, &why); /* true, because `fits` was */
    tess_gpu_unit(layout, &gpu_wide);
    tess_correlate_gpu_types(layout, p, pass);
    tess_gpu_option(layout, "-DKY=%d", (int)w.width_y);
    tess_gpu_option(layout, "-DKX=%d", (int)w.width_x);
    tess_gpu_option(layout, "-DTY=%d", (int)w.down);
    tess_gpu_option(layout, "-DTX=%d", (int)w.across);
    tess_gpu_option(layout, "-DY=%d", (int)w.rows);
    tess_gpu_option(layout, "-DX=%d", (int)w.columns);
    tess_gpu_option(layout, "-DBAND=%d", (int)w.band);
    tess_gpu_option(layout, "-DBATCH=%d", w.batch);
    tess_gpu_option(layout, "-DOUTER=%d", w.outer);
    tess_gpu_step *step = tess_gpu_launch_of(layout, "wide_pass", 0, 1, 1, (int)w.threads, w.shared);
    tess_correlate_gpu_ends(layout, step, k, count, between);
    tess_gpu_pass_pointer(layout, step, TESS_GPU_DATA, tess_correlate_gpu_weights(layout, pass));
    int64_t planes = pass_axes(layout, step, p, &w), high = w.y >= 0 ? pass->axis[w.y].m : 1;
    step->grid.grid[0] = tess_ceil_div(pass->axis[w.x].m, w.across * w.columns) * tess_ceil_div(high, w.down * w.rows) * planes;
}

static void lay_wide(const tess_problem *base, const tess_gpu_device *device, tess_gpu_layout *layout) {
    (void)device;
    tess_correlate_gpu_lay_passes(layout, base, lay_pass);
}

const tess_gpu_row tess_correlate_wide = {
    .headers = tess_correlate_gpu_headers, .production = true, .least_arch = 80, .lay_out = lay_wide, .predict = tess_correlate_predict_wide};
