/* SPDX-License-Identifier: Apache-2.0
 * problem.c - from the definition of a correlation to what the fast rows read: passes over joined axes, with weights in the work type. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/correlate/fft.h"
#include "ops/correlate/packed.h"
#include "ops/correlate/packed_passes.h"

enum { GROUP_LIMIT = 256 }; /* elements side by side up to which a row of pixels beats many short rows */

bool tess_correlate_size(tess_extent extent, int64_t n, int64_t width, int64_t *m) {
    *m = n;
    if (extent == TESS_EXTENT_VALID)
        *m = n >= width ? n - width + 1 : 0;
    return extent != TESS_EXTENT_FULL || !TESS_ADD_OVERFLOWS(n, width - 1, m);
}

/* Rows between passes whose length is a multiple of ROW_SETS bytes are padded: the rows that a tile meets would else meet in a few sets of the
 * first-level cache. */
enum { ROW_SETS = 1024, ROW_PAD = 320 };

/* ---- one pass: its axes ---- */

typedef struct found_axis {
    tess_correlate_axis a;
    int mask_axis; /* -1: none */
    bool apart;    /* slabs are cut along it: it is not joined */
} found_axis;

static int coarser_first(const void *left, const void *right) {
    const found_axis *l = left, *r = right;
    int64_t ls = llabs(l->a.out_stride), rs = llabs(r->a.out_stride);
    if (ls != rs)
        return ls > rs ? -1 : 1;
    return l->mask_axis - r->mask_axis;
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
        if (f.a.n != 1 || f.a.m != 1 || f.a.width != 1)
            axes[count++] = f;
    }
    qsort(axes, (size_t)count, sizeof *axes, coarser_first);
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

static tess_status build_pass(const tess_correlate_problem *problem, tess_correlate_pass *pass, const tess_array *in, const tess_array *out,
                              const tess_correlate_mask *mask, int slab) {
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
    if (TESS_MUL_OVERFLOWS((size_t)mask->taps, tess_type_size(problem->work), &pass->size) || TESS_MUL_OVERFLOWS(pass->size, 2, &pass->room))
        return tess_fail(TESS_ERR_SIZE, "a mask has %lld elements, its copies do not fit the address space", (long long)mask->taps);
    const int y = tess_correlate_band_axis(pass);
    const int64_t wx = pass->axis[pass->row].width, wy = y >= 0 ? pass->axis[y].width : 1;
    const bool turned = pass->row_last && wx > 1 && wy > 1;
    pass->room = turned ? pass->room : pass->size;
    pass->weights = tess_allocate(problem->base.context, pass->room);
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

/* An array between passes, in the work type: compact, with the slab axis outermost whatever its place in the caller's arrays, so that any number of
 * slab rows can stand in one buffer. */
static tess_status between_passes(const tess_correlate_problem *problem, tess_array *array, const int64_t *shape, int slab, int64_t *bytes) {
    int64_t wide = (int64_t)tess_type_size(problem->compute);
    *array = (tess_array){.type = problem->work, .itemsize = (int32_t)tess_type_size(problem->work), .ndim = problem->in.ndim, .count = 1};
    for (int d = 0; d < array->ndim; d++)
        array->count = shape[d] == 0 ? 0 : array->count;
    for (int d = 0; d < array->ndim && array->count > 0; d++)
        if (TESS_MUL_OVERFLOWS(wide, shape[d], &wide) || wide > INT64_MAX / 2)
            return tess_fail(TESS_ERR_SIZE, "the array between two passes of the separable list has more than 2^63 bytes");
    *bytes = array->count > 0 ? wide / ROW_SETS * (ROW_SETS + ROW_PAD) + ROW_SETS + ROW_PAD : 0;
    int64_t stride = array->itemsize;
    for (int d = array->ndim - 1; d >= -1; d--) {
        int axis = d >= 0 ? d : slab;
        if (d == slab)
            continue;
        if (d < 0 && stride % ROW_SETS == 0)
            stride += ROW_PAD;
        array->shape[axis] = shape[axis];
        array->stride[axis] = array->count > 0 ? stride : 0;
        stride *= array->count > 0 ? shape[axis] : 1;
        array->count *= shape[axis];
    }
    return TESS_OK;
}

static tess_status build_passes(tess_correlate_problem *problem, const tess_correlate_mask *masks, int count) {
    problem->passes = tess_allocate_zeroed(problem->base.context, (size_t)count * sizeof(tess_correlate_pass));
    if (!problem->passes)
        return TESS_ERR_MEMORY;
    problem->passes_count = count;
    problem->slab_pass = -1;
    tess_array in = problem->in;
    const int slab = choose_slab_axis(&problem->out);
    for (int k = 0; k < count; k++) {
        tess_array out = problem->out;
        if (k < count - 1) {
            int64_t shape[TESS_MAX_NDIM], bytes = 0;
            memcpy(shape, in.shape, sizeof shape);
            shape[masks[k].axes[0]] = problem->out.shape[masks[k].axes[0]];
            TESS_TRY(between_passes(problem, &out, shape, slab, &bytes));
            problem->between[k & 1] = tess_max64(problem->between[k & 1], bytes);
        }
        problem->passes[k].last = k == count - 1;
        problem->slab_pass = masks[k].axes[0] == slab && masks[k].shape[0] > 1 ? k : problem->slab_pass;
        TESS_TRY(build_pass(problem, &problem->passes[k], &in, &out, &masks[k], slab));
        problem->separable_flops += (tess_is_complex(problem->compute) ? 8.0 : 2.0) * (double)masks[k].taps * (double)out.count;
        in = out;
    }
    return TESS_OK;
}

static tess_status build_direct(tess_correlate_problem *problem) {
    problem->direct = tess_allocate_zeroed(problem->base.context, sizeof *problem->direct);
    if (!problem->direct)
        return TESS_ERR_MEMORY;
    problem->direct->last = true;
    return build_pass(problem, problem->direct, &problem->in, &problem->out, &problem->masks[0], -1);
}

static void free_masks(tess_context *context, tess_correlate_mask *masks, int count) {
    for (int k = 0; k < count; k++)
        tess_free(context, masks[k].weights, masks[k].size);
}

void tess_correlate_release(tess_problem *base) {
    tess_correlate_problem *problem = (tess_correlate_problem *)base;
    tess_context *context = base->context;
    if (problem->masks)
        free_masks(context, problem->masks, problem->count);
    tess_free(context, problem->masks, (size_t)problem->count * sizeof *problem->masks);
    if (problem->direct)
        tess_free(context, problem->direct->weights, problem->direct->room);
    tess_free(context, problem->direct, sizeof *problem->direct);
    for (int k = 0; k < problem->passes_count; k++)
        tess_free(context, problem->passes[k].weights, problem->passes[k].room);
    tess_free(context, problem->passes, (size_t)problem->passes_count * sizeof *problem->passes);
    if (problem->packed)
        tess_free(context, problem->packed->dot4.weights, problem->packed->size);
    tess_free(context, problem->packed, sizeof *problem->packed);
    tess_correlate_packed_passes_free(problem);
    if (problem->fft && !problem->fft->part) {
        tess_free(context, problem->fft->tables, problem->fft->size);
        tess_free(context, problem->fft->device_tables, problem->fft->device_size);
    }
    tess_free(context, problem->fft, sizeof *problem->fft);
}

/* ---- the work type ---- */

static double magnitude_of(tess_type compute, const void *from) {
    tess_value v;
    memcpy(&v, from, tess_type_size(compute));
    return compute == tess_i64 ? fabs((double)v.i64) : (double)v.u64;
}

/* The largest magnitude that any partial sum can have, from the type of the input, the constant and the weights. */
static double largest_sum(const tess_correlate_problem *problem) {
    double constant = magnitude_of(problem->compute, &problem->constant);
    double limit = tess_is_bool(problem->in.type) ? 1 : ldexp(1, 8 * problem->in.itemsize - !tess_is_unsigned(problem->in.type));
    for (int k = 0; k < problem->count; k++) {
        const tess_correlate_mask *mask = &problem->masks[k];
        double sum = 0;
        for (int64_t t = 0; t < mask->taps; t++)
            sum += magnitude_of(problem->compute, (const char *)mask->weights + (size_t)t * 8);
        limit = fmax(limit, constant) * fmax(sum, 1);
    }
    return limit;
}

static void choose_work(tess_correlate_problem *problem) {
    problem->work = problem->compute;
    if (problem->compute == tess_u64 || problem->compute == tess_i64) {
        double limit = largest_sum(problem);
        problem->work = limit <= 0x1p24 ? tess_f32 : limit <= 0x1p53 ? tess_f64 : problem->compute;
    }
    tess_loader(TESS_SLOT_BASELINE, problem->compute, problem->work)(&problem->work_constant, &problem->constant, 0, 1);
}

/* ---- the key ---- */

static const char *boundary_names[] = {"zero", "constant", "nearest", "reflect", "mirror", "wrap"};
static const char *extent_names[] = {"same", "valid", "full"};

static void write_pass(tess_text *text, const tess_correlate_pass *pass) {
    for (int d = 0; d < pass->ndim; d++) {
        const tess_correlate_axis *a = &pass->axis[d];
        tess_text_add(text, "%s%lld", d ? "," : "", (long long)a->m);
        if (a->width > 1)
            tess_text_add(text, "*%lld", (long long)a->width);
    }
    if (pass->group > 1)
        tess_text_add(text, ",%lld", (long long)pass->group);
    const tess_correlate_axis *row = &pass->axis[pass->row];
    int64_t size = (int64_t)tess_type_size(pass->from) * pass->group;
    tess_text_add(text, "%s", row->in_stride == size ? "" : " strided");
}

static void write_key(tess_correlate_problem *problem, const tess_correlate_asked *asked, bool detected) {
    tess_text text = {.at = problem->base.key, .capacity = sizeof problem->base.key};
    tess_text_add(&text, "correlate %s to %s in %s %s %s ", tess_type_name(problem->in.type), tess_type_name(problem->out.type),
                  tess_type_name(problem->compute), boundary_names[problem->boundary], extent_names[asked->extent]);
    if (problem->direct)
        write_pass(&text, problem->direct);
    else
        for (int k = 0; k < problem->passes_count; k++) {
            tess_text_add(&text, "%s", k ? " then " : "");
            write_pass(&text, &problem->passes[k]);
        }
    if (detected)
        tess_text_add(&text, " rank-1");
    if (problem->fft)
        tess_text_add(&text, " fft");
    problem->base.key[sizeof problem->base.key - 1] = 0;
}

/* ---- all of it ---- */

static void count_work(tess_correlate_problem *problem) {
    double outputs = (double)problem->out.count;
    problem->base.bytes = (double)problem->in.count * problem->in.itemsize + outputs * problem->out.itemsize;
    problem->base.flops = problem->separable_flops;
    if (problem->direct)
        problem->base.flops = (tess_is_complex(problem->compute) ? 8.0 : 2.0) * (double)problem->direct->taps * outputs;
    problem->base.elements = fmax(outputs, problem->base.flops / 16); /* a tap costs about an eighth of an element's way through memory */
}

/* Below this many taps the direct sum is the faster one (3 x 3: 8.9 against 12.4 ms, 5 x 5: 11.1 against 12.9, 7 x 7: 17.2 against 13.8; README.md). The limit is
 * part of TESS_ACCURACY_FAST's rule and not of selection, because it decides about bits. */
enum { FAST_TAPS = 32 };

/* Ghost cells of later passes would have to hold sums of the constant: only where there are none, or they are zero, do factors read what the mask
 * reads. */
static bool factors_may_serve(const tess_correlate_problem *problem, const tess_correlate_asked *asked) {
    static const tess_value zero;
    return asked->extent == TESS_EXTENT_VALID || problem->boundary != TESS_BOUNDARY_CONSTANT ||
           memcmp(&problem->constant, &zero, tess_type_size(problem->compute)) == 0;
}

/* Whether sums may go through Fourier transforms: the caller allows it, and there is something to transform. A weight that is not finite would make
 * everything NaN. */
static bool transforms_may_serve(const tess_correlate_problem *problem, const tess_correlate_asked *asked) {
    const bool f32 = problem->compute == tess_f32;
    if (asked->accuracy == TESS_ACCURACY_DIRECT || problem->count != 1 || (!f32 && problem->compute != tess_f64))
        return false;
    const tess_correlate_mask *mask = &problem->masks[0];
    for (int64_t t = 0; t < mask->taps; t++)
        if (!isfinite(f32 ? (double)((const float *)mask->weights)[t] : ((const double *)mask->weights)[t]))
            return false;
    return mask->taps > 1;
}

/* The factors become the definition. */
static tess_status replace_mask(tess_correlate_problem *problem, const tess_correlate_mask *factors, int count) {
    tess_context *context = problem->base.context;
    tess_correlate_mask *list = tess_allocate(context, (size_t)count * sizeof *list);
    if (!list)
        return TESS_ERR_MEMORY;
    memcpy(list, factors, (size_t)count * sizeof *list);
    free_masks(context, problem->masks, 1);
    tess_free(context, problem->masks, sizeof *problem->masks);
    problem->masks = list;
    problem->count = count;
    return TESS_OK;
}

static tess_status keep_transforms(tess_correlate_problem *problem, const tess_correlate_fft *fft) {
    problem->fft = tess_allocate(problem->base.context, sizeof *fft);
    if (!problem->fft)
        return TESS_ERR_MEMORY;
    *problem->fft = *fft;
    return tess_correlate_fft_tables(problem->fft, problem);
}

tess_status tess_correlate_prepare(tess_correlate_problem *problem, const tess_correlate_asked *asked) {
    tess_context *context = problem->base.context;
    tess_correlate_mask *factors = NULL; /* a mask has room for 64 axes: not on a stack, which may be small */
    const size_t room = (size_t)problem->masks[0].ndim * sizeof *factors;
    tess_correlate_fft fft = {0};
    int found = 0;
    const bool integers = problem->compute == tess_u64 || problem->compute == tess_i64;
    bool wanted = integers || (asked->accuracy == TESS_ACCURACY_FAST && problem->masks[0].taps > FAST_TAPS);
    bool transformed = transforms_may_serve(problem, asked), detected = false;
    tess_status status = TESS_OK;
    if (problem->count == 1 && wanted && factors_may_serve(problem, asked)) {
        factors = tess_allocate(context, room);
        status = factors ? tess_correlate_rank1(context, &problem->masks[0], problem->compute, factors, &found) : TESS_ERR_MEMORY;
        if (status != TESS_OK) {
            tess_free(context, factors, room);
            return status;
        }
    }
    if (transformed) {
        tess_correlate_fft_choose(&fft, problem);
        transformed = asked->accuracy == TESS_ACCURACY_FFT || fft.cost < tess_correlate_direct_cost(problem, factors, found);
    }
    detected = found > 0 && !transformed;
    if (detected && !integers) {
        status = replace_mask(problem, factors, found);
        found = status == TESS_OK ? 0 : found;
    }
    choose_work(problem);
    if (status == TESS_OK && problem->count > 1)
        status = build_passes(problem, problem->masks, problem->count);
    else if (status == TESS_OK)
        status = build_direct(problem);
    if (status == TESS_OK && integers)
        status = tess_correlate_pack(problem, largest_sum(problem));
    if (status == TESS_OK && detected && found > 0)
        status = build_passes(problem, factors, found);
    if (status == TESS_OK && integers && problem->passes && factors_may_serve(problem, asked))
        status = tess_correlate_pack_passes(problem, problem->count > 1 ? problem->masks : factors, largest_sum(problem));
    if (status == TESS_OK && transformed)
        status = keep_transforms(problem, &fft);
    free_masks(context, factors, found);
    tess_free(context, factors, room);
    if (status != TESS_OK)
        return status;
    count_work(problem);
    write_key(problem, asked, detected);
    return TESS_OK;
}
