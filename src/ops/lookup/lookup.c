/* SPDX-License-Identifier: Apache-2.0
 * lookup.c - the public functions: checking the arguments, and bringing the problem into the form of lookup.h. */
#include "ops/lookup/lookup.h"
#include "core/environment.h"
#include "core/overlap.h"
#include "core/write.h"

#include <stdio.h>

static const char *const outside_names[] = {"error", "clip", "wrap", "fill"}, *const interpolation_names[] = {"none", "nearest", "linear", "cubic"};

static tess_status check_types(lookup_problem *problem, const tess_lookup_options *options) {
    tess_type table = problem->table.type, index = problem->index.type, out = problem->out.type;
    if ((unsigned)options->outside > TESS_OUTSIDE_FILL)
        return tess_fail(TESS_ERR_ARGUMENT, "outside is %d, not a tess_outside", (int)options->outside);
    if ((unsigned)options->interpolation > TESS_INTERPOLATE_CUBIC)
        return tess_fail(TESS_ERR_ARGUMENT, "interpolation is %d, not a tess_interpolation", (int)options->interpolation);
    problem->outside = options->outside;
    problem->interpolation = options->interpolation;
    if (tess_is_integer(index)) {
        if (options->interpolation != TESS_INTERPOLATE_NONE)
            return tess_fail(TESS_ERR_ARGUMENT, "interpolation is %s and index of type %s: an integer index takes none",
                             interpolation_names[options->interpolation], tess_type_name(index));
        if (out != table)
            return tess_fail(TESS_ERR_TYPE, "out is of type %s, a lookup by integers keeps the type of the table, %s", tess_type_name(out),
                             tess_type_name(table));
        return TESS_OK;
    }
    if (!tess_is_float(index))
        return tess_fail(TESS_ERR_TYPE, "index is of type %s, it must be an integer or f16, bf16, f32, f64", tess_type_name(index));
    if (tess_is_complex(table) && !tess_is_complex(out))
        return tess_fail(TESS_ERR_TYPE, "out is of type %s and the table of type %s: complex values have no real result", tess_type_name(out),
                         tess_type_name(table));
    if (problem->interpolation == TESS_INTERPOLATE_NONE)
        problem->interpolation = TESS_INTERPOLATE_LINEAR;
    bool wide = index == tess_f64 || table == tess_f64 || table == tess_c128 || tess_is_wide_integer(table);
    problem->compute = wide ? tess_f64 : tess_f32;
    problem->from = table;
    problem->to = out;
    problem->parts = 1;
    if (tess_is_complex(table)) {
        problem->from = table == tess_c64 ? tess_f32 : tess_f64;
        problem->to = out == tess_c64 ? tess_f32 : tess_f64;
        problem->parts = 2;
    }
    return TESS_OK;
}

static tess_status check_shapes(lookup_problem *problem, int axis) {
    const tess_array *table = &problem->table, *index = &problem->index, *out = &problem->out;
    char wanted_text[128], out_text[128];
    int64_t wanted[2 * TESS_MAX_NDIM];
    int ndim = 0;
    if (table->ndim == 0)
        return tess_fail(TESS_ERR_AXIS, "table has no axes, a lookup needs one");
    TESS_TRY(tess_axes_check(&problem->axis, &axis, 1, table->ndim, "axis"));
    for (int d = 0; d < problem->axis; d++)
        wanted[ndim++] = table->shape[d];
    for (int d = 0; d < index->ndim; d++)
        wanted[ndim++] = index->shape[d];
    for (int d = problem->axis + 1; d < table->ndim; d++)
        wanted[ndim++] = table->shape[d];
    if (ndim > TESS_MAX_NDIM)
        return tess_fail(TESS_ERR_SHAPE, "table of %d and index of %d axes would make an out of %d, the limit is %d", table->ndim, index->ndim, ndim,
                         TESS_MAX_NDIM);
    bool equal = out->ndim == ndim;
    for (int d = 0; d < ndim && equal; d++)
        equal = out->shape[d] == wanted[d];
    if (!equal)
        return tess_fail(TESS_ERR_SHAPE, "out has the shape %s, table and index ask for %s",
                         tess_shape_text(out_text, sizeof out_text, out->ndim, out->shape),
                         tess_shape_text(wanted_text, sizeof wanted_text, ndim, wanted));
    if (tess_array_self_overlaps(out))
        return tess_fail(TESS_ERR_OVERLAP, "out overlaps itself: its strides put two elements in one place, or cannot be shown not to");
    problem->n = table->shape[problem->axis];
    problem->step = table->stride[problem->axis];
    if (problem->n == 0 && index->count > 0 && problem->outside != TESS_OUTSIDE_FILL)
        return tess_fail(TESS_ERR_EMPTY, "table has size 0 on axis %d, and index has %lld elements that would look into it", problem->axis,
                         (long long)index->count);
    return TESS_OK;
}

static void add_axis(lookup_axes *axes, int64_t size, int64_t from, int64_t out) {
    axes->shape[axes->ndim] = size;
    axes->stride[LOOKUP_FROM][axes->ndim] = from;
    axes->stride[LOOKUP_OUT][axes->ndim] = out;
    axes->ndim++;
    axes->count *= size;
}

static void group_axes(lookup_problem *problem) {
    const tess_array *table = &problem->table, *index = &problem->index, *out = &problem->out;
    problem->outer.count = problem->at.count = problem->inner.count = 1;
    problem->outer.ndim = problem->at.ndim = problem->inner.ndim = 0;
    int o = 0;
    for (int d = 0; d < problem->axis; d++, o++)
        add_axis(&problem->outer, table->shape[d], table->stride[d], out->stride[o]);
    for (int d = 0; d < index->ndim; d++, o++)
        add_axis(&problem->at, index->shape[d], index->stride[d], out->stride[o]);
    for (int d = problem->axis + 1; d < table->ndim; d++, o++)
        add_axis(&problem->inner, table->shape[d], table->stride[d], out->stride[o]);
    problem->size = out->itemsize;
    /* Room for the axis of the parts: the axis that is looked up is not among the inner ones. */
    if (problem->parts == 2) {
        problem->size /= 2;
        add_axis(&problem->inner, 2, table->itemsize / 2, problem->size);
    }
    problem->outer.ndim = tess_collapse(problem->outer.ndim, problem->outer.shape, 2, problem->outer.stride);
    problem->at.ndim = tess_collapse(problem->at.ndim, problem->at.shape, 2, problem->at.stride);
    problem->inner.ndim = tess_collapse(problem->inner.ndim, problem->inner.shape, 2, problem->inner.stride);
    lookup_axes *inner = &problem->inner;
    int last = inner->ndim - 1;
    if (problem->interpolation != TESS_INTERPOLATE_NONE || last < 0 || inner->stride[LOOKUP_FROM][last] != problem->size ||
        inner->stride[LOOKUP_OUT][last] != problem->size)
        return;
    int64_t run = inner->shape[last];
    if (run > 0 && (run & (run - 1)) == 0 && run <= 16 / problem->size) {
        problem->size *= run;
        inner->count /= run;
        inner->ndim--;
    }
}

/* Positions stay the caller's for one call where they are compact f64. keep: they are to outlive it. */
static tess_status take_positions(lookup_problem *problem, const DLTensor *given, bool keep) {
    tess_array at;
    if (!given)
        return TESS_OK;
    TESS_TRY(tess_array_import(&at, given, "positions", true));
    TESS_TRY(tess_array_on_host(&at, "positions"));
    if (at.type == tess_bool || tess_is_complex(at.type))
        return tess_fail(TESS_ERR_TYPE, "positions are of type %s, they must be real numbers", tess_type_name(at.type));
    if (problem->interpolation == TESS_INTERPOLATE_NONE)
        return tess_fail(TESS_ERR_ARGUMENT, "positions are given and index is of type %s: an integer index has none",
                         tess_type_name(problem->index.type));
    if (problem->interpolation == TESS_INTERPOLATE_CUBIC)
        return tess_fail(TESS_ERR_ARGUMENT, "interpolation is cubic: between positions it is nearest or linear");
    if (problem->outside == TESS_OUTSIDE_WRAP)
        return tess_fail(TESS_ERR_ARGUMENT, "outside is wrap: positions have no period, it is error, clip or fill");
    if (at.ndim != 1 || at.shape[0] != problem->n) {
        char text[128];
        return tess_fail(TESS_ERR_SHAPE, "positions have the shape %s, axis %d of the table has %lld entries",
                         tess_shape_text(text, sizeof text, at.ndim, at.shape), problem->axis, (long long)problem->n);
    }
    if (problem->n == 0)
        return TESS_OK;
    if (problem->out.data)
        TESS_TRY(tess_refuse_overlap(&problem->out, "out", &at, "positions"));
    problem->positions = (const double *)(const void *)at.data;
    if (!keep && at.type == tess_f64 && (problem->n == 1 || at.stride[0] == 8) && (uintptr_t)at.data % 8 == 0)
        return TESS_OK;
    problem->own_positions = tess_allocate(problem->base.context, (size_t)problem->n * sizeof(double));
    if (!problem->own_positions)
        return TESS_ERR_MEMORY;
    tess_loader(problem->base.context->slot, at.type, tess_f64)(problem->own_positions, at.data, at.stride[0], problem->n);
    problem->positions = problem->own_positions;
    return TESS_OK;
}

void tess_lookup_release(tess_problem *base) {
    const lookup_problem *problem = (const lookup_problem *)base;
    tess_free(base->context, problem->own_positions, (size_t)problem->n * sizeof(double));
}

/* From the arrays and the axis. */
static void arrange(lookup_problem *problem) {
    static const double flops[] = {0, 0, 3, 18}; /* linear: a subtraction, an fma; cubic: 3 subtractions, 7 fmas, a product */
    group_axes(problem);
    const tess_array *o = &problem->out;
    problem->base.elements = (double)o->count;
    problem->base.bytes = (double)o->count * o->itemsize + (double)problem->index.count * problem->index.itemsize +
                          (double)problem->table.count * problem->table.itemsize + (problem->positions ? 8.0 * (double)problem->n : 0);
    problem->base.flops = flops[problem->interpolation] * (double)o->count * (problem->parts == 2 ? 2 : 1);
    problem->base.key[0] = 0; /* of a whole whose sample this is */
}

void tess_lookup_describe(tess_problem *base) {
    const lookup_problem *problem = (const lookup_problem *)base;
    tess_writer w = tess_write_to(base->key, sizeof base->key);
    tess_write_text(&w, "lookup ");
    tess_write_text(&w, tess_type_name(problem->table.type));
    tess_write_text(&w, " to ");
    tess_write_text(&w, tess_type_name(problem->out.type));
    tess_write_text(&w, ", ");
    tess_write_number(&w, problem->n);
    tess_write_text(&w, " entries ");
    tess_write_number(&w, problem->step);
    tess_write_text(&w, problem->positions ? " bytes apart at positions, by " : " bytes apart, by ");
    tess_write_text(&w, tess_type_name(problem->index.type));
    tess_write_text(&w, ", ");
    tess_write_number(&w, problem->outer.count);
    tess_write_text(&w, " x ");
    tess_write_number(&w, problem->at.count);
    tess_write_text(&w, " x ");
    tess_write_number(&w, problem->inner.count);
    tess_write_text(&w, ", outside ");
    tess_write_text(&w, outside_names[problem->outside]);
    tess_write_text(&w, ", interpolation ");
    tess_write_text(&w, interpolation_names[problem->interpolation]);
}

static void take_fill(lookup_problem *problem, double fill) {
    const size_t size = (size_t)problem->out.itemsize;
    tess_storer(TESS_SLOT_BASELINE, tess_f64, problem->out.type)(problem->fill, (int64_t)size, &fill, 1);
    for (size_t at = size; at < sizeof problem->fill; at++)
        problem->fill[at] = problem->fill[at - size];
}

static tess_status prepare(lookup_problem *problem, const DLTensor *table, const DLTensor *index, const DLTensor *out,
                           const tess_lookup_options *options, bool keep) {
    TESS_TRY(tess_array_import(&problem->table, table, "table", false));
    TESS_TRY(tess_array_import(&problem->index, index, "index", false));
    TESS_TRY(tess_array_import(&problem->out, out, "out", false));
    TESS_TRY(check_types(problem, options));
    TESS_TRY(check_shapes(problem, options->axis));
    TESS_TRY(take_positions(problem, options->positions, keep));
    if (problem->outside == TESS_OUTSIDE_FILL)
        take_fill(problem, options->fill);
    arrange(problem);
    return TESS_OK;
}

tess_status tess_lookup_sample(const tess_problem *base, int64_t limit, tess_problem **small) {
    const lookup_problem *whole = (const lookup_problem *)base;
    int64_t table[TESS_MAX_NDIM], index[TESS_MAX_NDIM], out[2 * TESS_MAX_NDIM];
    void *memory;
    int n = 0;
    TESS_TRY(tess_problem_make(&memory, base->context, base->op, sizeof *whole));
    lookup_problem *problem = memory;
    *problem = *whole; /* positions stay with the whole, which outlives its sample */
    problem->own_positions = NULL;
    *small = &problem->base;
    for (int d = 0; d < whole->table.ndim; d++)
        table[d] = tess_sample_size(whole->table.shape[d], d == whole->axis ? 16 * limit : limit);
    for (int d = 0; d < whole->index.ndim; d++)
        index[d] = tess_sample_size(whole->index.shape[d], limit);
    for (int d = 0; d < whole->axis; d++)
        out[n++] = table[d];
    for (int d = 0; d < whole->index.ndim; d++)
        out[n++] = index[d];
    for (int d = whole->axis + 1; d < whole->table.ndim; d++)
        out[n++] = table[d];
    problem->table = tess_array_sample(&whole->table, table);
    problem->index = tess_array_sample(&whole->index, index);
    problem->out = tess_array_sample(&whole->out, out);
    TESS_TRY(check_shapes(problem, problem->axis));
    arrange(problem);
    return TESS_OK;
}

tess_status tess_lookup_check(const tess_problem *base, const char *in, const char *second, const char *out) {
    const lookup_problem *problem = (const lookup_problem *)base;
    const tess_array *table = &problem->table, *index = &problem->index, *to = &problem->out;
    if (!in && table->count > 0)
        return tess_fail(TESS_ERR_ARGUMENT, "table is NULL, the plan has %lld elements", (long long)table->count);
    if (!second && index->count > 0)
        return tess_fail(TESS_ERR_ARGUMENT, "index is NULL, the plan has %lld elements", (long long)index->count);
    if (!out && to->count > 0)
        return tess_fail(TESS_ERR_ARGUMENT, "out is NULL, the plan has %lld elements", (long long)to->count);
    TESS_TRY(tess_refuse_overlap_at(to, out, "out", table, in, "table"));
    return tess_refuse_overlap_at(to, out, "out", index, second, "index");
}

/* The place of index number `position`; returns its byte offset. */
static int64_t place_of(const tess_array *index, int64_t position, int64_t at[TESS_MAX_NDIM]) {
    int64_t offset = 0;
    for (int d = index->ndim - 1; d >= 0; d--) {
        at[d] = position % index->shape[d];
        position /= index->shape[d];
        offset += at[d] * index->stride[d];
    }
    return offset;
}

int64_t tess_lookup_index_offset(const lookup_problem *problem, int64_t position) {
    int64_t at[TESS_MAX_NDIM];
    return place_of(&problem->index, position, at);
}

tess_status tess_lookup_refuse(const lookup_problem *problem, const char *data, int64_t position) {
    return tess_lookup_refuse_value(problem, data + tess_lookup_index_offset(problem, position), position);
}

tess_status tess_lookup_refuse_value(const lookup_problem *problem, const char *data, int64_t position) {
    const tess_array *index = &problem->index;
    int64_t at[TESS_MAX_NDIM];
    char place[160], value[40];
    if (problem->whole)
        return tess_lookup_refuse_value(problem->whole, data, problem->first + position);
    place_of(index, position, at);
    if (tess_is_float(index->type)) {
        double x;
        tess_loader(TESS_SLOT_BASELINE, index->type, tess_f64)(&x, data, 0, 1);
        snprintf(value, sizeof value, "%.17g", x);
    } else if (index->type == tess_u64) {
        uint64_t u;
        memcpy(&u, data, sizeof u);
        snprintf(value, sizeof value, "%llu", (unsigned long long)u);
    } else {
        int64_t v;
        tess_loader(TESS_SLOT_BASELINE, index->type, tess_i64)(&v, data, 0, 1);
        snprintf(value, sizeof value, "%lld", (long long)v);
    }
    tess_shape_text(place, sizeof place, index->ndim, at);
    if (problem->positions)
        return tess_fail(TESS_ERR_INDEX, "index%s is %s, axis %d of the table has the positions %.17g..%.17g", index->ndim ? place : "", value,
                         problem->axis, problem->positions[0], problem->positions[problem->n - 1]);
    return tess_fail(TESS_ERR_INDEX, "index%s is %s, axis %d of the table has the entries 0..%lld", index->ndim ? place : "", value, problem->axis,
                     (long long)problem->n - 1);
}

/* The problem of a call, in memory that was set to zeros. keep: its positions are to outlive the call. */
static tess_status fill_in(lookup_problem *problem, const DLTensor *table, const DLTensor *index, const DLTensor *out,
                           const tess_lookup_options *options, bool keep) {
    tess_environment host;
    if (options->outside != TESS_OUTSIDE_FILL && !options->positions)
        return prepare(problem, table, index, out, options, keep);
    tess_environment_enter(&host); /* fill and positions are converted */
    tess_status status = prepare(problem, table, index, out, options, keep);
    tess_environment_leave(&host);
    return status;
}

tess_status tess_plan_lookup(tess_plan **plan, tess_context *given, const DLTensor *table, const DLTensor *index, const DLTensor *out,
                             const tess_lookup_options *caller) {
    tess_context *context;
    tess_lookup_options options;
    void *memory;
    if (!plan)
        return tess_fail(TESS_ERR_ARGUMENT, "plan is NULL, a place for the new plan is needed");
    *plan = NULL;
    TESS_TRY(tess_context_get(&context, given));
    TESS_TRY(tess_options_copy(&options, sizeof options, caller, "lookup options"));
    TESS_TRY(tess_problem_make(&memory, context, &tess_lookup_op, sizeof(lookup_problem)));
    lookup_problem *problem = memory;
    tess_status status = fill_in(problem, table, index, out, &options, true);
    if (status != TESS_OK) {
        tess_problem_free(&problem->base);
        return status;
    }
    return tess_plan_make(plan, &problem->base, &options.call);
}

tess_status tess_lookup(tess_context *given, const DLTensor *table, const DLTensor *index, const DLTensor *out, const tess_lookup_options *caller) {
    tess_lookup_options options;
    lookup_problem problem;
    TESS_TRY(tess_problem_begin(&problem.base, offsetof(lookup_problem, table), &tess_lookup_op, given, &options, sizeof options, caller,
                                "lookup options"));
    problem.table.data = problem.index.data = problem.out.data = NULL;
    const tess_status status = fill_in(&problem, table, index, out, &options, false);
    return tess_plan_run_here(status, &problem.base, problem.table.data, problem.index.data, problem.out.data, &options.call);
}
