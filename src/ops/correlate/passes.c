/* SPDX-License-Identifier: Apache-2.0
 * passes.c - passes over joined axes: axes sorted by the output's strides, those that no mask tells apart made one, a short unmasked last one taken into the row;
 * weights in the work type; and the arrays between the passes of a list. */
#include <stdlib.h>
#include <string.h>

#include "ops/correlate/padded.h"
#include "ops/correlate/window.h"

enum { GROUP_LIMIT = 256 }; /* elements side by side up to which a row of pixels beats many short rows */

/* Rows between passes whose length is a multiple of ROW_SETS bytes are padded: the rows that a tile meets would else meet in a few sets of the
 * first-level cache. */
enum { ROW_SETS = 1024, ROW_PAD = 320 };

/* ---- one pass: its axes ---- */

typedef struct found_axis {
    tess_correlate_axis a;
    int mask_axis; /* -1: none */
    bool apart;    /* slabs are cut along it: it is not joined */
} found_axis;

/* An axis of one element that a mask meets comes first, wherever it lies: a row of one output would be computed by itself, and it would keep those around it from being joined. */
static uint64_t coarseness(const found_axis *f) { return f->a.n == 1 && f->a.m == 1 ? UINT64_MAX : (uint64_t)llabs(f->a.out_stride); }

static bool coarser(const found_axis *l, const found_axis *r) {
    const uint64_t ls = coarseness(l), rs = coarseness(r);
    return ls != rs ? ls > rs : l->mask_axis < r->mask_axis;
}

static int find_axes(found_axis *axes, const tess_array *in, const tess_array *out, const tess_correlate_mask *mask, int apart) {
    int count = 0;
    for (int d = 0; d < in->ndim; d++) {
        found_axis f = {.a = {in->shape[d], out->shape[d], in->stride[d], out->stride[d], 1, 0}, .mask_axis = -1, .apart = d == apart};
        for (int k = 0; k < mask->ndim; k++)
            if (mask->axes[k] == d && mask->shape[k] > 1) {
                f.mask_axis = k;
                f.a.width = mask->shape[k];
                f.a.before = mask->before[k];
            }
        if (f.a.n == 1 && f.a.m == 1 && f.a.width == 1)
            continue;
        int at = count++;
        for (; at > 0 && coarser(&f, &axes[at - 1]); at--)
            axes[at] = axes[at - 1];
        axes[at] = f;
    }
    int kept = 0;
    for (int d = 0; d < count; d++) {
        found_axis *before = kept ? &axes[kept - 1] : NULL, *f = &axes[d];
        int64_t in_step, out_step;
        if (before && before->mask_axis < 0 && f->mask_axis < 0 && !before->apart && !f->apart &&
            !TESS_MUL_OVERFLOWS(f->a.in_stride, f->a.n, &in_step) && !TESS_MUL_OVERFLOWS(f->a.out_stride, f->a.n, &out_step) &&
            before->a.in_stride == in_step && before->a.out_stride == out_step) {
            before->a.n = before->a.m = before->a.n * f->a.n;
            before->a.in_stride = f->a.in_stride;
            before->a.out_stride = f->a.out_stride;
        } else {
            axes[kept++] = *f;
        }
    }
    if (kept == 0)
        axes[kept++] = (found_axis){.a = {1, 1, in->itemsize, out->itemsize, 1, 0}, .mask_axis = -1};
    return kept;
}

static void find_group(tess_correlate_pass *pass, found_axis *axes, int *count, const tess_array *in, const tess_array *out) {
    pass->group = 1;
    if (*count < 2)
        return;
    const found_axis *last = &axes[*count - 1], *row = &axes[*count - 2];
    int64_t size = last->a.n;
    if (last->mask_axis >= 0 || row->mask_axis < 0 || last->apart || size < 2 || size >= GROUP_LIMIT || last->a.in_stride != in->itemsize ||
        last->a.out_stride != out->itemsize || row->a.in_stride != size * in->itemsize || row->a.out_stride != size * out->itemsize)
        return;
    pass->group = size;
    --*count;
}

/* The finest axis of the output, unless it is very short and another is not. */
static int choose_row(const tess_correlate_pass *pass) {
    int row = pass->ndim - 1;
    if (pass->group == 1 && pass->axis[row].m < 8)
        for (int d = pass->ndim - 2; d >= 0; d--)
            if (pass->axis[d].m / 4 > pass->axis[row].m)
                row = d;
    return row;
}

/* Each plane of wy lines of wx elements, column by column. */
static void turn_planes(char *to, const char *from, size_t width, int64_t planes, int64_t wy, int64_t wx) {
    for (; planes > 0; planes--, from += (size_t)(wy * wx) * width)
        for (int64_t j = 0; j < wx; j++)
            for (int64_t i = 0; i < wy; i++, to += width)
                memcpy(to, from + (size_t)(i * wx + j) * width, width);
}

/* All but the weights. */
static void lay_axes(tess_correlate_pass *pass, const tess_array *in, const tess_array *out, const tess_correlate_mask *mask, int slab) {
    found_axis axes[TESS_MAX_NDIM + 1];
    int count = find_axes(axes, in, out, mask, slab);
    find_group(pass, axes, &count, in, out);
    pass->ndim = count;
    pass->slab = -1;
    for (int d = 0; d < count; d++) {
        pass->axis[d] = axes[d].a;
        pass->slab = axes[d].apart ? d : pass->slab;
    }
    for (int k = 0; k < mask->ndim; k++)
        for (int d = 0; d < count; d++)
            if (axes[d].mask_axis == k)
                pass->order[pass->masked++] = d;
    pass->row = choose_row(pass);
    pass->row_last = pass->axis[pass->row].width == 1 || pass->order[pass->masked - 1] == pass->row;
    pass->from = in->type;
    pass->to = out->type;
    pass->inputs = in->count;
    pass->outputs = out->count;
    pass->taps = mask->taps;
}

static tess_status build_pass(tess_correlate_problem *problem, tess_correlate_pass *pass, const tess_array *in, const tess_array *out,
                              const tess_correlate_mask *mask, int slab) {
    lay_axes(pass, in, out, mask, slab);
    if (TESS_MUL_OVERFLOWS((size_t)mask->taps, tess_type_size(problem->work), &pass->size) || TESS_MUL_OVERFLOWS(pass->size, 2, &pass->room))
        return tess_fail(TESS_ERR_SIZE, "a mask has %lld elements, its copies do not fit the address space", (long long)mask->taps);
    const int y = tess_correlate_band_axis(pass);
    const int64_t wx = pass->axis[pass->row].width, wy = y >= 0 ? pass->axis[y].width : 1;
    const bool turned = pass->row_last && wx > 1 && wy > 1;
    pass->room = turned ? pass->room : pass->size;
    pass->weights = tess_problem_take(&problem->base, pass->room);
    if (!pass->weights)
        return TESS_ERR_MEMORY;
    tess_loader(TESS_SLOT_BASELINE, problem->compute, problem->work)(pass->weights, mask->weights, (int64_t)tess_type_size(problem->compute),
                                                                     mask->taps);
    pass->columns = pass->weights;
    if (turned) {
        pass->columns = (char *)pass->weights + pass->size;
        turn_planes(pass->columns, pass->weights, tess_type_size(problem->work), mask->taps / (wx * wy), wy, wx);
    }
    return TESS_OK;
}

/* ---- a list of passes ---- */

/* The axis that slabs are cut along: the coarsest of the output that has more than one element, so that a slab is one stretch of memory. */
static int choose_slab_axis(const tess_array *out) {
    int slab = 0;
    for (int d = 1; d < out->ndim; d++)
        if (out->shape[slab] < 2 || (out->shape[d] > 1 && llabs(out->stride[d]) > llabs(out->stride[slab])))
            slab = d;
    return slab;
}

/* An array between passes, in the work type: compact, its axes in the order that the output has in memory, with the slab axis outermost whatever its place there, so that
 * any number of slab rows can stand in one buffer. */
static tess_status between_passes(const tess_correlate_problem *problem, tess_array *array, const int64_t *shape, int slab, int64_t *bytes) {
    int64_t wide = (int64_t)tess_type_size(problem->compute);
    int order[TESS_MAX_NDIM + 1]; /* coarsest first */
    array->type = problem->work;
    array->itemsize = (int32_t)tess_type_size(problem->work);
    array->ndim = problem->in.ndim;
    array->count = 1;
    for (int d = 0; d < array->ndim; d++)
        array->count = shape[d] == 0 ? 0 : array->count;
    for (int d = 0; d < array->ndim && array->count > 0; d++)
        if (TESS_MUL_OVERFLOWS(wide, shape[d], &wide) || wide > INT64_MAX / 2)
            return tess_fail(TESS_ERR_SIZE, "the array between two passes of the separable list has more than 2^63 bytes");
    *bytes = array->count > 0 ? wide / ROW_SETS * (ROW_SETS + ROW_PAD) + ROW_SETS + ROW_PAD : 0;
    for (int d = 0; d < array->ndim; d++) {
        int at = d;
        for (; at > 0 && llabs(problem->out.stride[order[at - 1]]) < llabs(problem->out.stride[d]); at--)
            order[at] = order[at - 1];
        order[at] = d;
    }
    int64_t stride = array->itemsize;
    for (int k = array->ndim - 1; k >= -1; k--) {
        const int axis = k >= 0 ? order[k] : slab;
        if (k >= 0 && axis == slab)
            continue;
        if (k < 0 && stride % ROW_SETS == 0)
            stride += ROW_PAD;
        array->shape[axis] = shape[axis];
        array->stride[axis] = array->count > 0 ? stride : 0;
        stride *= array->count > 0 ? shape[axis] : 1;
        array->count *= shape[axis];
    }
    return TESS_OK;
}

/* Passes of which nothing is set yet, but for their axes, which are written as far as there are any: to clear room for 64 takes 20 ns. */
static tess_correlate_pass *take_passes(tess_correlate_problem *problem, int count) {
    tess_correlate_pass *made = tess_problem_take(&problem->base, (size_t)count * sizeof *made);
    for (int k = 0; made && k < count; k++)
        memset(&made[k], 0, offsetof(tess_correlate_pass, axis));
    return made;
}

void tess_correlate_lay(tess_correlate_pass *pass, const tess_correlate_problem *problem, const tess_correlate_mask *mask) {
    memset(pass, 0, offsetof(tess_correlate_pass, axis));
    pass->last = true;
    lay_axes(pass, &problem->in, &problem->out, mask, -1);
}

bool tess_correlate_lay_list(tess_correlate_pass *pass, const tess_correlate_problem *problem, const tess_correlate_mask *masks, int count) {
    tess_correlate_mask box;
    box.ndim = count;
    box.taps = 0;
    for (int k = 0; k < count; k++) {
        box.axes[k] = masks[k].axes[0];
        box.shape[k] = masks[k].shape[0];
        box.before[k] = masks[k].before[0];
        box.taps += masks[k].taps;
        if (masks[k].taps < 2)
            return false;
    }
    tess_correlate_lay(pass, problem, &box);
    return true;
}

/* What short rows are computed from (padded.h). */
static tess_status build_box(tess_correlate_problem *problem, const tess_correlate_mask *masks, int count) {
    if (problem->count == 1 || count > TESS_MAX_BOX)
        return TESS_OK;
    problem->box = tess_problem_take(&problem->base, sizeof *problem->box);
    if (!problem->box)
        return TESS_ERR_MEMORY;
    if (!tess_correlate_lay_list(problem->box, problem, masks, count) ||
        problem->box->axis[problem->box->ndim - 1].m * problem->box->group > TESS_LONGEST_BOX) {
        tess_problem_drop(&problem->base, problem->box, sizeof *problem->box);
        problem->box = NULL;
    }
    return TESS_OK;
}

tess_status tess_correlate_build_passes(tess_correlate_problem *problem, const tess_correlate_mask *masks, int count) {
    problem->passes = take_passes(problem, count);
    if (!problem->passes)
        return TESS_ERR_MEMORY;
    problem->passes_count = count;
    problem->slab_pass = -1;
    tess_array between[2]; /* a copy of an array takes as long as a small pass */
    const tess_array *in = &problem->in;
    const int slab = choose_slab_axis(&problem->out);
    for (int k = 0; k < count; k++) {
        const tess_array *out = k < count - 1 ? &between[k & 1] : &problem->out;
        if (k < count - 1) {
            int64_t shape[TESS_MAX_NDIM], bytes = 0;
            memcpy(shape, in->shape, (size_t)in->ndim * sizeof *shape);
            shape[masks[k].axes[0]] = problem->out.shape[masks[k].axes[0]];
            TESS_TRY(between_passes(problem, &between[k & 1], shape, slab, &bytes));
            problem->between[k & 1] = tess_max64(problem->between[k & 1], bytes);
        }
        problem->passes[k].last = k == count - 1;
        problem->slab_pass = masks[k].axes[0] == slab && masks[k].shape[0] > 1 ? k : problem->slab_pass;
        TESS_TRY(build_pass(problem, &problem->passes[k], in, out, &masks[k], slab));
        problem->separable_flops += (tess_is_complex(problem->compute) ? 8.0 : 2.0) * (double)masks[k].taps * (double)out->count;
        in = out;
    }
    return build_box(problem, masks, count);
}

static void lay_pass_again(tess_correlate_pass *pass, const tess_correlate_pass *like, const tess_array *in, const tess_array *out,
                           const tess_correlate_mask *mask, int slab) {
    memset(pass, 0, offsetof(tess_correlate_pass, axis));
    lay_axes(pass, in, out, mask, slab);
    pass->last = true;
    pass->size = pass->room = like->size;
    pass->weights = pass->columns = like->weights;
}

/* Mask number k of the passes: the list's, or that of axis number k among those of more than one tap (rank1.c). */
static tess_correlate_mask mask_of_pass(const tess_correlate_problem *problem, int k) {
    const tess_correlate_mask *mask = &problem->masks[0];
    if (problem->count > 1)
        return problem->masks[k];
    for (int axis = 0; axis < mask->ndim; axis++)
        if (mask->shape[axis] > 1 && k-- == 0)
            return (tess_correlate_mask){
                .ndim = 1, .axes = {mask->axes[axis]}, .shape = {mask->shape[axis]}, .before = {mask->before[axis]}, .taps = mask->shape[axis]};
    return *mask;
}

bool tess_correlate_lay_again(tess_correlate_problem *problem, tess_correlate_pass *direct, tess_correlate_pass *passes) {
    tess_array between[2];
    const tess_array *in = &problem->in;
    const int slab = choose_slab_axis(&problem->out);
    if (problem->direct) {
        lay_pass_again(direct, problem->direct, in, &problem->out, &problem->masks[0], -1);
        problem->direct = direct;
    }
    problem->box = NULL;
    for (int k = 0; k < problem->passes_count; k++) {
        const tess_array *out = k < problem->passes_count - 1 ? &between[k & 1] : &problem->out;
        const tess_correlate_mask mask = mask_of_pass(problem, k);
        if (out != &problem->out) {
            int64_t shape[TESS_MAX_NDIM], bytes;
            memcpy(shape, in->shape, (size_t)in->ndim * sizeof *shape);
            shape[mask.axes[0]] = problem->out.shape[mask.axes[0]];
            if (between_passes(problem, &between[k & 1], shape, slab, &bytes) != TESS_OK)
                return false;
        }
        lay_pass_again(&passes[k], &problem->passes[k], in, out, &mask, slab);
        passes[k].last = k == problem->passes_count - 1;
        in = out;
    }
    problem->passes = problem->passes ? passes : NULL;
    return true;
}

tess_status tess_correlate_build_direct(tess_correlate_problem *problem) {
    problem->direct = take_passes(problem, 1);
    if (!problem->direct)
        return TESS_ERR_MEMORY;
    problem->direct->last = true;
    return build_pass(problem, problem->direct, &problem->in, &problem->out, &problem->masks[0], -1);
}
