/* SPDX-License-Identifier: Apache-2.0
 * correlate.c - the public functions: checking what the caller asks for, and copying the masks. */
#include <stdio.h>
#include <string.h>

#include "core/environment.h"
#include "ops/correlate/correlate.h"

typedef struct request {
    tess_context *context;
    const DLTensor *in, *out;
    const DLTensor *const *masks;
    int count;
    bool list; /* every mask is one of a separable list, so of rank 1 */
    bool once; /* what is planned is executed at once: arrays are there */
    tess_correlate_options options;
    tess_array *mask; /* room for one, or for as many as a list may have */
    int axes[TESS_MAX_NDIM], naxes;
} request;

/* ---- types ---- */

/* C as the header's rule finds it from the types that take part. */
static tess_type rule(const tess_type *types, int count) {
    bool complex = false, wide_complex = false, real = false, f64 = false, wide = false, is_signed = false;
    for (int i = 0; i < count; i++) {
        tess_type t = types[i];
        complex |= tess_is_complex(t);
        wide_complex |= t == tess_c128;
        real |= tess_is_float(t);
        f64 |= t == tess_f64;
        wide |= tess_is_wide_integer(t);
        is_signed |= !tess_is_unsigned(t);
    }
    if (complex)
        return wide_complex || f64 || wide ? tess_c128 : tess_c64;
    if (!real)
        return is_signed ? tess_i64 : tess_u64;
    return f64 || wide ? tess_f64 : tess_f32;
}

static bool at_least_as_wide(tess_type asked, tess_type found) {
    if (asked == found)
        return true;
    switch (found) {
    case tess_u64:
    case tess_i64: return asked == tess_f64 || asked == tess_c128;
    case tess_f32: return asked == tess_f64 || asked == tess_c64 || asked == tess_c128;
    case tess_f64:
    case tess_c64: return asked == tess_c128;
    default: return false;
    }
}

static tess_status find_compute(const request *r, tess_correlate_problem *problem) {
    tess_type types[TESS_MAX_NDIM + 1] = {problem->in.type};
    for (int k = 0; k < r->count; k++)
        types[k + 1] = r->mask[k].type;
    tess_type found = rule(types, r->count + 1), asked = r->options.compute;
    if (asked != tess_no_type && !at_least_as_wide(asked, found))
        return tess_fail(TESS_ERR_TYPE, "compute is %s, which is not at least as wide as %s, what an in of %s and a mask of %s are computed in",
                         tess_type_name(asked), tess_type_name(found), tess_type_name(types[0]), tess_type_name(types[1]));
    problem->compute = asked != tess_no_type ? asked : found;
    if (!tess_storer(TESS_SLOT_BASELINE, problem->compute, problem->out.type))
        return tess_fail(TESS_ERR_TYPE, "out is %s, but the result is complex (in is %s, the mask %s, computed in %s): out must be c64 or c128",
                         tess_type_name(problem->out.type), tess_type_name(types[0]), tess_type_name(types[1]), tess_type_name(problem->compute));
    return TESS_OK;
}

/* The double of the options as an element of C. */
static void set_constant(tess_correlate_problem *problem, const tess_correlate_options *options) {
    static const double zero = 0;
    const double *from = options->boundary == TESS_BOUNDARY_CONSTANT ? &options->constant : &zero;
    tess_type real = problem->compute == tess_c64 ? tess_f32 : problem->compute == tess_c128 ? tess_f64 : problem->compute;
    problem->boundary = options->boundary == TESS_BOUNDARY_ZERO ? TESS_BOUNDARY_CONSTANT : options->boundary;
    memset(&problem->constant, 0, sizeof problem->constant);
    tess_storer(TESS_SLOT_BASELINE, tess_f64, real)(&problem->constant, (int64_t)tess_type_size(real), from, 1);
}

/* ---- arguments ---- */

static tess_status check_options(const tess_correlate_options *o) {
    if ((unsigned)o->boundary > TESS_BOUNDARY_WRAP)
        return tess_fail(TESS_ERR_ARGUMENT, "boundary is %d, not a tess_boundary (0..%d)", (int)o->boundary, TESS_BOUNDARY_WRAP);
    if ((unsigned)o->extent > TESS_EXTENT_FULL)
        return tess_fail(TESS_ERR_ARGUMENT, "extent is %d, not a tess_extent (0..%d)", (int)o->extent, TESS_EXTENT_FULL);
    if ((unsigned)o->accuracy > TESS_ACCURACY_FFT)
        return tess_fail(TESS_ERR_ARGUMENT, "accuracy is %d, not a tess_accuracy (0..%d)", (int)o->accuracy, TESS_ACCURACY_FFT);
    if (o->naxes != 0 && !o->axes)
        return tess_fail(TESS_ERR_ARGUMENT, "naxes is %d and axes is NULL", o->naxes);
    return TESS_OK;
}

static const char *mask_name(char *buffer, size_t size, const request *r, int k) {
    static const char *const first[] = {"masks[0]", "masks[1]", "masks[2]"};
    if (!r->list)
        return "mask";
    if (k < TESS_COUNT(first)) /* named before anything is wrong with them: text would take longer than the rest */
        return first[k];
    snprintf(buffer, size, "masks[%d]", k);
    return buffer;
}

static tess_status import_masks(request *r, int ndim) {
    char room[32];
    if (r->count < 1)
        return tess_fail(TESS_ERR_ARGUMENT, "count is %d, at least one mask is needed", r->count);
    if (r->list && r->count > ndim)
        return tess_fail(TESS_ERR_AXIS, "count is %d, more masks than in has axes (%d)", r->count, ndim);
    if (!r->masks)
        return tess_fail(TESS_ERR_ARGUMENT, "masks is NULL with a count of %d", r->count);
    for (int k = 0; k < r->count; k++) {
        tess_array *mask = &r->mask[k];
        const char *name = mask_name(room, sizeof room, r, k);
        TESS_TRY(tess_array_import(mask, r->masks[k], name, true));
        TESS_TRY(tess_array_on_host(mask, name));
        if (r->list && mask->ndim != 1)
            return tess_fail(TESS_ERR_SHAPE, "%s has ndim %d, the masks of a separable list have 1", name, mask->ndim);
        if (mask->ndim > ndim)
            return tess_fail(TESS_ERR_SHAPE, "%s has ndim %d, more than in (%d)", name, mask->ndim, ndim);
        for (int d = 0; d < mask->ndim; d++)
            if (mask->shape[d] < 1)
                return tess_fail(TESS_ERR_SHAPE, "%s has size 0 on axis %d, at least 1 is needed", name, d);
    }
    return TESS_OK;
}

static tess_status find_axes(request *r, int ndim) {
    r->naxes = r->list ? r->count : r->mask[0].ndim;
    if (!r->options.axes) {
        for (int k = 0; k < r->naxes; k++)
            r->axes[k] = ndim - r->naxes + k;
        return TESS_OK;
    }
    if (r->options.naxes != r->naxes)
        return tess_fail(TESS_ERR_AXIS, "naxes is %d, %s %d", r->options.naxes, r->list ? "the masks of the list are" : "the mask's axes are",
                         r->naxes);
    return tess_axes_check(r->axes, r->options.axes, r->naxes, ndim, "axes");
}

/* How far before an output its first tap lies, along number k of the axes. */
static tess_status find_before(const request *r, int k, int64_t width, int64_t *before) {
    int64_t origin = r->options.origin ? r->options.origin[k] : 0;
    if (origin != 0 && r->options.extent != TESS_EXTENT_SAME)
        return tess_fail(TESS_ERR_ARGUMENT, "origin[%d] is %lld, with the extents valid and full it must be 0", k, (long long)origin);
    if (origin < -(width / 2) || origin > (width - 1) / 2)
        return tess_fail(TESS_ERR_ARGUMENT, "origin[%d] is %lld, a mask of %lld elements allows %lld..%lld", k, (long long)origin, (long long)width,
                         (long long)-(width / 2), (long long)((width - 1) / 2));
    *before = 0;
    if (r->options.extent == TESS_EXTENT_FULL)
        *before = width - 1;
    else if (r->options.extent == TESS_EXTENT_SAME)
        *before = r->options.flip ? width - 1 - (width / 2 + origin) : width / 2 + origin;
    return TESS_OK;
}

static tess_status check_shapes(const request *r, const tess_correlate_problem *problem) {
    const tess_array *in = &problem->in, *out = &problem->out;
    if (out->ndim != in->ndim)
        return tess_fail(TESS_ERR_SHAPE, "out has ndim %d, in has %d", out->ndim, in->ndim);
    for (int d = 0; d < in->ndim; d++) {
        int64_t need = in->shape[d], width = 1;
        for (int k = 0; k < r->naxes; k++)
            if (r->axes[k] == d)
                width = r->list ? r->mask[k].shape[0] : r->mask[0].shape[k];
        if (!tess_correlate_size(r->options.extent, in->shape[d], width, &need))
            return tess_fail(TESS_ERR_SIZE, "axis %d has size %lld and a mask of %lld: the full extent overflows 64 bits", d, (long long)in->shape[d],
                             (long long)width);
        if (out->shape[d] != need)
            return tess_fail(TESS_ERR_SHAPE, "out has size %lld on axis %d, %lld is needed for an in of %lld and a mask of %lld",
                             (long long)out->shape[d], d, (long long)need, (long long)in->shape[d], (long long)width);
        if (in->shape[d] == 0 && out->count > 0 && r->options.boundary > TESS_BOUNDARY_CONSTANT)
            return tess_fail(TESS_ERR_EMPTY, "in has size 0 on axis %d, and every boundary but zero and constant needs an element there", d);
    }
    return TESS_OK;
}

/* ---- masks ---- */

static tess_status copy_mask(const request *r, tess_correlate_problem *problem, int k) {
    const tess_array *given = &r->mask[k];
    tess_correlate_mask *mask = &problem->masks[k];
    size_t width = tess_type_size(problem->compute);
    tess_index index;
    int64_t strides[1][TESS_MAX_NDIM], offset = 0, at = 0;
    mask->ndim = given->ndim;
    for (int d = 0; d < given->ndim; d++) {
        int number = r->list ? k : d;
        mask->axes[d] = r->axes[number];
        mask->shape[d] = given->shape[d];
        TESS_TRY(find_before(r, number, given->shape[d], &mask->before[d]));
        strides[0][d] = r->options.flip ? -given->stride[d] : given->stride[d];
        offset += r->options.flip ? given->stride[d] * (given->shape[d] - 1) : 0;
    }
    mask->taps = given->count;
    if (TESS_MUL_OVERFLOWS((size_t)mask->taps, width, &mask->size))
        return tess_fail(TESS_ERR_SIZE, "a mask has %lld elements, its copy does not fit the address space", (long long)mask->taps);
    mask->weights = tess_problem_take(&problem->base, mask->size);
    if (!mask->weights)
        return TESS_ERR_MEMORY;
    tess_row_loader load = tess_loader(TESS_SLOT_BASELINE, given->type, problem->compute);
    const int last = given->ndim - 1;
    const int64_t row = last >= 0 ? given->shape[last] : 1, step = last >= 0 ? strides[0][last] : given->itemsize;
    tess_index_start(&index, last >= 0 ? last : 0, given->shape, 1, strides, 0);
    do
        load((char *)mask->weights + (size_t)row * width * (size_t)at++, given->data + offset + index.offset[0], step, row);
    while (tess_index_next(&index));
    return TESS_OK;
}

static tess_status refuse_masks(const request *r, const tess_array *out) {
    char name[32];
    for (int k = 0; k < r->count; k++)
        TESS_TRY(tess_refuse_overlap(out, "out", &r->mask[k], mask_name(name, sizeof name, r, k)));
    return TESS_OK;
}

static tess_status check_and_fill(request *r, tess_correlate_problem *problem) {
    TESS_TRY(check_options(&r->options));
    TESS_TRY(tess_array_import(&problem->in, r->in, "in", false));
    TESS_TRY(tess_array_import(&problem->out, r->out, "out", r->once));
    TESS_TRY(import_masks(r, problem->in.ndim));
    TESS_TRY(find_axes(r, problem->in.ndim));
    TESS_TRY(check_shapes(r, problem));
    TESS_TRY(find_compute(r, problem));
    if (tess_array_self_overlaps(&problem->out))
        return tess_fail(TESS_ERR_OVERLAP, "out has two elements in one place");
    if (r->once)
        TESS_TRY(refuse_masks(r, &problem->out));
    problem->in.data = problem->out.data = NULL;
    set_constant(problem, &r->options);
    problem->masks = tess_problem_take_zeroed(&problem->base, (size_t)r->count * sizeof *problem->masks);
    if (!problem->masks)
        return TESS_ERR_MEMORY;
    problem->count = r->count;
    for (int k = 0; k < r->count; k++)
        TESS_TRY(copy_mask(r, problem, k));
    return tess_correlate_prepare(problem, &(tess_correlate_asked){r->options.extent, r->options.accuracy});
}

/* Masks and constant are converted here. */
static tess_status fill_problem(request *r, tess_correlate_problem *problem) {
    tess_environment host;
    tess_environment_enter(&host);
    const tess_status status = check_and_fill(r, problem);
    tess_environment_leave(&host);
    return status;
}

enum { ROOM = 24 << 10 }; /* two masks of some hundred weights, their passes, and what packs them: a small call allocates none of it */

static tess_status run_once(request *r, const tess_correlate_options *options, bool flip) {
    tess_correlate_problem problem;
    _Alignas(64) char room[ROOM];
    TESS_TRY(tess_problem_begin(&problem.base, offsetof(tess_correlate_problem, in), &tess_correlate_op, r->context, &r->options, sizeof r->options,
                                options, "correlate options"));
    problem.base.room = room;
    problem.base.room_size = sizeof room;
    r->options.flip = flip;
    r->once = true;
    const tess_status status = fill_problem(r, &problem);
    const bool filled = status == TESS_OK; /* else there may be no arrays */
    return tess_plan_run_here(status, &problem.base, filled ? tess_first_element(r->in) : NULL, NULL, filled ? tess_first_element(r->out) : NULL,
                              &r->options.call);
}

tess_status tess_plan_correlate(tess_plan **plan, tess_context *context, const DLTensor *in, const DLTensor *const *masks, int count,
                                const DLTensor *out, const tess_correlate_options *options) {
    tess_array imported[TESS_MAX_NDIM]; /* beside the request: so many would take longer to clear than small work takes */
    request r = {.context = context, .in = in, .out = out, .masks = masks, .count = count, .list = count > 1, .mask = imported};
    void *memory;
    if (!plan)
        return tess_fail(TESS_ERR_ARGUMENT, "plan is NULL");
    *plan = NULL;
    TESS_TRY(tess_options_copy(&r.options, sizeof r.options, options, "correlate options"));
    TESS_TRY(tess_context_get(&r.context, r.context));
    TESS_TRY(tess_problem_make(&memory, r.context, &tess_correlate_op, sizeof(tess_correlate_problem)));
    const tess_status status = fill_problem(&r, memory);
    if (status != TESS_OK) {
        tess_problem_free(memory);
        return status;
    }
    return tess_plan_make(plan, memory, &r.options.call);
}

tess_status tess_correlate(tess_context *context, const DLTensor *in, const DLTensor *mask, const DLTensor *out,
                           const tess_correlate_options *options) {
    tess_array imported[1];
    request r = {.context = context, .in = in, .out = out, .masks = &mask, .count = 1, .mask = imported};
    return run_once(&r, options, false);
}

tess_status tess_convolve(tess_context *context, const DLTensor *in, const DLTensor *mask, const DLTensor *out,
                          const tess_correlate_options *options) {
    tess_array imported[1];
    request r = {.context = context, .in = in, .out = out, .masks = &mask, .count = 1, .mask = imported};
    return run_once(&r, options, true);
}

tess_status tess_correlate_separable(tess_context *context, const DLTensor *in, const DLTensor *const *masks, int count, const DLTensor *out,
                                     const tess_correlate_options *options) {
    tess_array imported[TESS_MAX_NDIM];
    request r = {.context = context, .in = in, .out = out, .masks = masks, .count = count, .list = true, .mask = imported};
    return run_once(&r, options, false);
}

tess_status tess_convolve_separable(tess_context *context, const DLTensor *in, const DLTensor *const *masks, int count, const DLTensor *out,
                                    const tess_correlate_options *options) {
    tess_array imported[TESS_MAX_NDIM];
    request r = {.context = context, .in = in, .out = out, .masks = masks, .count = count, .list = true, .mask = imported};
    return run_once(&r, options, true);
}
