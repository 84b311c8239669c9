/* SPDX-License-Identifier: Apache-2.0
 * problem.c - from the definition of a correlation to what the fast rows read: which sums may stand for it, in which type, and the passes (passes.c) and tables that
 * they need. */
#include <math.h>
#include <string.h>

#include "core/write.h"
#include "ops/correlate/fft.h"
#include "ops/correlate/packed.h"
#include "ops/correlate/packed_passes.h"

bool tess_correlate_size(tess_extent extent, int64_t n, int64_t width, int64_t *m) {
    *m = n;
    if (extent == TESS_EXTENT_VALID)
        *m = n >= width ? n - width + 1 : 0;
    return extent != TESS_EXTENT_FULL || !TESS_ADD_OVERFLOWS(n, width - 1, m);
}

/* ---- the end ---- */

static void drop_masks(tess_problem *base, tess_correlate_mask *masks, int count) {
    for (int k = 0; k < count; k++)
        tess_problem_drop(base, masks[k].weights, masks[k].size);
}

void tess_correlate_release(tess_problem *base) {
    tess_correlate_problem *problem = (tess_correlate_problem *)base;
    if (problem->masks)
        drop_masks(base, problem->masks, problem->count);
    tess_problem_drop(base, problem->masks, (size_t)problem->count * sizeof *problem->masks);
    if (problem->direct)
        tess_problem_drop(base, problem->direct->weights, problem->direct->room);
    tess_problem_drop(base, problem->direct, sizeof *problem->direct);
    for (int k = 0; k < problem->passes_count; k++)
        tess_problem_drop(base, problem->passes[k].weights, problem->passes[k].room);
    tess_problem_drop(base, problem->passes, (size_t)problem->passes_count * sizeof *problem->passes);
    tess_problem_drop(base, problem->box, sizeof *problem->box);
    if (problem->packed)
        tess_problem_drop(base, problem->packed->dot4.weights, problem->packed->size);
    tess_problem_drop(base, problem->packed, sizeof *problem->packed);
    tess_correlate_packed_passes_free(problem);
    if (problem->fft && !problem->fft->part) {
        tess_problem_drop(base, problem->fft->tables, problem->fft->size);
        tess_problem_drop(base, problem->fft->device_tables, problem->fft->device_size);
    }
    tess_problem_drop(base, problem->fft, sizeof *problem->fft);
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

static void choose_work(tess_correlate_problem *problem, bool integers, double largest) {
    problem->work = problem->compute;
    if (integers)
        problem->work = largest <= 0x1p24 ? tess_f32 : largest <= 0x1p53 ? tess_f64 : problem->compute;
    tess_loader(TESS_SLOT_BASELINE, problem->compute, problem->work)(&problem->work_constant, &problem->constant, 0, 1);
}

/* ---- the key ---- */

static const char *boundary_names[] = {"zero", "constant", "nearest", "reflect", "mirror", "wrap"};
static const char *extent_names[] = {"same", "valid", "full"};

static void write_pass(tess_writer *w, const tess_correlate_pass *pass) {
    for (int d = 0; d < pass->ndim; d++) {
        const tess_correlate_axis *a = &pass->axis[d];
        tess_write_text(w, d ? "," : "");
        tess_write_number(w, a->m);
        if (a->width > 1) {
            tess_write_text(w, "*");
            tess_write_number(w, a->width);
        }
    }
    if (pass->group > 1) {
        tess_write_text(w, ",");
        tess_write_number(w, pass->group);
    }
    const tess_correlate_axis *row = &pass->axis[pass->row];
    int64_t size = (int64_t)tess_type_size(pass->from) * pass->group;
    tess_write_text(w, row->in_stride == size ? "" : " strided");
}

void tess_correlate_describe(tess_problem *base) {
    const tess_correlate_problem *problem = (const tess_correlate_problem *)base;
    tess_writer w = tess_write_to(base->key, sizeof base->key);
    const char *const words[] = {"correlate ", tess_type_name(problem->in.type), " to ", tess_type_name(problem->out.type),
                                 " in ",       tess_type_name(problem->compute), " ",    boundary_names[problem->boundary],
                                 " ",          extent_names[problem->extent],    " "};
    for (int i = 0; i < TESS_COUNT(words); i++)
        tess_write_text(&w, words[i]);
    if (problem->direct)
        write_pass(&w, problem->direct);
    else
        for (int k = 0; k < problem->passes_count; k++) {
            tess_write_text(&w, k ? " then " : "");
            write_pass(&w, &problem->passes[k]);
        }
    tess_write_text(&w, problem->rank1 ? " rank-1" : "");
    tess_write_text(&w, problem->fft ? " fft" : "");
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

/* Below this many taps the direct sum is the faster one (3 x 3: 8.9 against 12.4 ms, 5 x 5: 11.1 against 12.9, 7 x 7: 17.2 against 13.8; notes-cpu.md). The limit is
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
    tess_correlate_mask *list = tess_problem_take(&problem->base, (size_t)count * sizeof *list);
    if (!list)
        return TESS_ERR_MEMORY;
    memcpy(list, factors, (size_t)count * sizeof *list);
    drop_masks(&problem->base, problem->masks, 1);
    tess_problem_drop(&problem->base, problem->masks, sizeof *problem->masks);
    problem->masks = list;
    problem->count = count;
    return TESS_OK;
}

static tess_status keep_transforms(tess_correlate_problem *problem, const tess_correlate_fft *fft) {
    problem->fft = tess_problem_take(&problem->base, sizeof *fft);
    if (!problem->fft)
        return TESS_ERR_MEMORY;
    *problem->fft = *fft;
    return tess_correlate_fft_tables(problem->fft, problem);
}

tess_status tess_correlate_prepare(tess_correlate_problem *problem, const tess_correlate_asked *asked) {
    tess_context *context = problem->base.context;
    tess_correlate_mask *factors = NULL; /* a mask has room for 64 axes: not on a stack, which may be small */
    const size_t room = (size_t)problem->masks[0].ndim * sizeof *factors;
    tess_correlate_fft fft;
    int found = 0;
    const bool integers = problem->compute == tess_u64 || problem->compute == tess_i64;
    bool wanted = integers || (asked->accuracy == TESS_ACCURACY_FAST && problem->masks[0].taps > FAST_TAPS);
    bool transformed = transforms_may_serve(problem, asked);
    tess_status status = TESS_OK;
    if (problem->count == 1 && wanted && factors_may_serve(problem, asked)) {
        factors = tess_problem_take(&problem->base, room);
        status = factors ? tess_correlate_rank1(context, &problem->masks[0], problem->compute, factors, &found) : TESS_ERR_MEMORY;
        if (status != TESS_OK) {
            tess_problem_drop(&problem->base, factors, room);
            return status;
        }
    }
    const double direct_cost = tess_correlate_direct_cost(problem, factors, found);
    transformed = transformed && (asked->accuracy == TESS_ACCURACY_FFT || direct_cost > tess_correlate_fft_least_cost(problem));
    if (transformed) {
        memset(&fft, 0, sizeof fft);
        tess_correlate_fft_choose(&fft, problem);
        transformed = asked->accuracy == TESS_ACCURACY_FFT || fft.cost < direct_cost;
    }
    problem->extent = asked->extent;
    problem->rank1 = found > 0 && !transformed;
    if (problem->rank1 && !integers) {
        status = replace_mask(problem, factors, found);
        found = status == TESS_OK ? 0 : found;
    }
    const double largest = integers ? largest_sum(problem) : 0;
    choose_work(problem, integers, largest);
    if (status == TESS_OK && problem->count > 1)
        status = tess_correlate_build_passes(problem, problem->masks, problem->count);
    else if (status == TESS_OK)
        status = tess_correlate_build_direct(problem);
    if (status == TESS_OK && integers)
        status = tess_correlate_pack(problem, largest);
    if (status == TESS_OK && integers && problem->count > 1 && factors_may_serve(problem, asked))
        status = tess_correlate_pack_list(problem, largest);
    if (status == TESS_OK && problem->rank1 && found > 0)
        status = tess_correlate_build_passes(problem, factors, found);
    if (status == TESS_OK && integers && problem->passes && factors_may_serve(problem, asked))
        status = tess_correlate_pack_passes(problem, problem->count > 1 ? problem->masks : factors, largest);
    if (status == TESS_OK && transformed)
        status = keep_transforms(problem, &fft);
    drop_masks(&problem->base, factors, found);
    tess_problem_drop(&problem->base, factors, room);
    if (status != TESS_OK)
        return status;
    count_work(problem);
    return TESS_OK;
}
