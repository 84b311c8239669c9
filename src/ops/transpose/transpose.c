/* SPDX-License-Identifier: Apache-2.0
 * transpose.c - the public functions: checking the arguments, and bringing the problem into the form of transpose.h. */
#include "ops/transpose/transpose.h"
#include "core/overlap.h"
#include "core/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tess_status check_arguments(transpose_problem *problem, int *perm, const tess_transpose_options *options) {
    const tess_array *in = &problem->in, *out = &problem->out;
    char in_text[128], out_text[128];
    if (out->type != in->type)
        return tess_fail(TESS_ERR_TYPE, "out is of type %s, transpose keeps the type of in, %s", tess_type_name(out->type), tess_type_name(in->type));
    if (options->perm) {
        if (options->nperm != in->ndim)
            return tess_fail(TESS_ERR_AXIS, "perm has %d axes, in has %d", options->nperm, in->ndim);
        TESS_TRY(tess_axes_check(perm, options->perm, options->nperm, in->ndim, "perm"));
    } else {
        if (options->nperm != 0)
            return tess_fail(TESS_ERR_ARGUMENT, "perm is NULL with nperm %d, which must then be 0", options->nperm);
        for (int k = 0; k < in->ndim; k++)
            perm[k] = in->ndim - 1 - k;
    }
    if (out->ndim != in->ndim)
        return tess_fail(TESS_ERR_SHAPE, "out has %d axes, in has %d", out->ndim, in->ndim);
    for (int k = 0; k < in->ndim; k++)
        if (out->shape[k] != in->shape[perm[k]])
            return tess_fail(TESS_ERR_SHAPE, "out has size %lld on axis %d, axis %d of in has %lld (in %s, out %s)", (long long)out->shape[k], k,
                             perm[k], (long long)in->shape[perm[k]], tess_shape_text(in_text, sizeof in_text, in->ndim, in->shape),
                             tess_shape_text(out_text, sizeof out_text, out->ndim, out->shape));
    if (tess_array_self_overlaps(out))
        return tess_fail(TESS_ERR_OVERLAP, "out overlaps itself: its strides put two elements in one place, or cannot be shown not to");
    return TESS_OK;
}

/* Axes by falling stride of out, all of those positive. */
static void order_axes(transpose_problem *problem) {
    int64_t(*stride)[TESS_MAX_NDIM] = problem->stride;
    for (int d = 0; d < problem->ndim; d++) {
        int64_t size = problem->shape[d], in = stride[TRANSPOSE_IN][d], out = stride[TRANSPOSE_OUT][d];
        if (out < 0) {
            problem->first[TRANSPOSE_IN] += in * (size - 1);
            problem->first[TRANSPOSE_OUT] += out * (size - 1);
            in = -in;
            out = -out;
        }
        int k = d;
        for (; k > 0 && stride[TRANSPOSE_OUT][k - 1] < out; k--) {
            problem->shape[k] = problem->shape[k - 1];
            stride[TRANSPOSE_IN][k] = stride[TRANSPOSE_IN][k - 1];
            stride[TRANSPOSE_OUT][k] = stride[TRANSPOSE_OUT][k - 1];
        }
        problem->shape[k] = size;
        stride[TRANSPOSE_IN][k] = in;
        stride[TRANSPOSE_OUT][k] = out;
    }
}

/* A short run that stays together becomes the element. */
static void widen_element(transpose_problem *problem) {
    int last = problem->ndim - 1;
    if (last < 0 || problem->stride[TRANSPOSE_IN][last] != problem->size || problem->stride[TRANSPOSE_OUT][last] != problem->size)
        return;
    int64_t n = problem->shape[last];
    if (n > 0 && (n & (n - 1)) == 0 && n <= 16 / problem->size) {
        problem->size *= n;
        problem->ndim--;
    }
}

/* In place: what is left of the compact arrays' axes must be [batch,] columns, rows [, run] in out's order. */
static tess_status find_matrices(transpose_problem *problem) {
    int first = 0, last = problem->ndim;
    const int64_t *in = problem->stride[TRANSPOSE_IN], *out = problem->stride[TRANSPOSE_OUT];
    bool same = true;
    for (int d = 0; d < problem->ndim; d++)
        same &= in[d] == out[d];
    if (same) {
        problem->place = TRANSPOSE_NOTHING;
        return TESS_OK;
    }
    if (!tess_array_is_compact(&problem->in) || !tess_array_is_compact(&problem->out))
        return tess_fail(TESS_ERR_OVERLAP, "out and in have the same first element: in place both must be compact, and %s is not",
                         tess_array_is_compact(&problem->in) ? "out" : "in");
    problem->batch = 1;
    if (in[0] == out[0])
        problem->batch = problem->shape[first++];
    if (in[last - 1] == out[last - 1])
        problem->size *= problem->shape[--last];
    if (last - first != 2)
        return tess_fail(TESS_ERR_OVERLAP,
                         "in place perm must exchange two neighbouring groups of axes, with a batch before and a run after them; this one leaves %d "
                         "groups of axes "
                         "that move",
                         last - first);
    problem->columns = problem->shape[first];
    problem->rows = problem->shape[first + 1];
    problem->place = problem->rows == problem->columns ? TRANSPOSE_SQUARE : TRANSPOSE_RECTANGULAR;
    return TESS_OK;
}

void tess_transpose_describe(tess_problem *base) {
    const transpose_problem *problem = (const transpose_problem *)base;
    char shape[72], order[48];
    int64_t rank[TESS_MAX_NDIM]; /* of the axes in in, 0 the slowest */
    for (int a = 0; a < problem->ndim; a++) {
        rank[a] = 0;
        for (int b = 0; b < problem->ndim; b++)
            rank[a] += problem->stride[TRANSPOSE_IN][b] > problem->stride[TRANSPOSE_IN][a];
    }
    int64_t size = problem->in.itemsize;
    if (problem->place == TRANSPOSE_ELSEWHERE)
        size = problem->size;
    tess_writer w = tess_write_to(base->key, sizeof base->key);
    tess_write_text(&w, "transpose ");
    tess_write_number(&w, size);
    tess_write_text(&w, "-byte ");
    tess_write_text(&w, tess_shape_text(shape, sizeof shape, problem->ndim, problem->shape));
    tess_write_text(&w, " to order ");
    tess_write_text(&w, tess_shape_text(order, sizeof order, problem->ndim, rank));
    tess_write_text(&w, problem->place == TRANSPOSE_ELSEWHERE ? "" : " in place");
}

/* From the arrays and perm. */
static tess_status arrange(transpose_problem *problem, bool inplace) {
    const int *perm = problem->perm;
    problem->size = problem->in.itemsize;
    problem->ndim = problem->in.ndim;
    for (int k = 0; k < problem->ndim; k++) {
        problem->shape[k] = problem->out.shape[k];
        problem->stride[TRANSPOSE_IN][k] = problem->in.stride[perm[k]];
        problem->stride[TRANSPOSE_OUT][k] = problem->out.stride[k];
    }
    problem->ndim = tess_collapse(problem->ndim, problem->shape, 2, problem->stride);
    if (inplace) {
        TESS_TRY(find_matrices(problem));
    } else {
        order_axes(problem);
        problem->ndim = tess_collapse(problem->ndim, problem->shape, 2, problem->stride);
    }
    if (!inplace)
        widen_element(problem);
    problem->base.key[0] = 0; /* of a whole whose sample this is */
    problem->base.elements = (double)problem->in.count;
    problem->base.bytes = problem->place == TRANSPOSE_NOTHING ? 0 : 2.0 * (double)problem->in.count * problem->in.itemsize;
    return TESS_OK;
}

static tess_status prepare(transpose_problem *problem, const DLTensor *in, const DLTensor *out, const tess_transpose_options *options) {
    TESS_TRY(tess_array_import(&problem->in, in, "in", false));
    TESS_TRY(tess_array_import(&problem->out, out, "out", false));
    TESS_TRY(check_arguments(problem, problem->perm, options));
    return arrange(problem, problem->in.count > 0 && problem->in.data && problem->in.data == problem->out.data);
}

void tess_transpose_between(transpose_problem *problem, tess_context *context, const tess_array *in, const tess_array *out) {
    memset(problem, 0, offsetof(transpose_problem, in));
    problem->base.op = &tess_transpose_op;
    problem->base.context = context;
    problem->in = *in;
    problem->out = *out;
    for (int d = 0; d < in->ndim; d++)
        problem->perm[d] = d;
    arrange(problem, false); /* which fails in place only */
}

/* The finest axis of either array decides what a row can do; how the others follow each other, a few steps show. */
static int finest_axis(const tess_array *array) {
    int finest = 0;
    for (int d = 1; d < array->ndim; d++)
        if (array->shape[finest] < 2 || (array->shape[d] > 1 && llabs(array->stride[d]) <= llabs(array->stride[finest])))
            finest = d;
    return finest;
}

tess_status tess_transpose_sample(const tess_problem *base, int64_t limit, tess_problem **small) {
    const transpose_problem *whole = (const transpose_problem *)base;
    int64_t in[TESS_MAX_NDIM], out[TESS_MAX_NDIM];
    void *memory;
    TESS_TRY(tess_problem_make(&memory, base->context, base->op, sizeof *whole));
    transpose_problem *problem = memory;
    int of_in = finest_axis(&whole->in), of_out = whole->perm[finest_axis(&whole->out)];
    for (int d = 0; d < whole->in.ndim; d++)
        in[d] = d == of_in || d == of_out ? tess_sample_size(whole->in.shape[d], limit) : tess_min64(whole->in.shape[d], 3);
    for (int k = 0; k < whole->out.ndim; k++)
        out[k] = in[whole->perm[k]];
    memcpy(problem->perm, whole->perm, sizeof problem->perm);
    problem->in = tess_array_sample(&whole->in, in);
    problem->out = tess_array_sample(&whole->out, out);
    *small = &problem->base;
    return arrange(problem, whole->place != TRANSPOSE_ELSEWHERE);
}

tess_status tess_transpose_check(const tess_problem *base, const char *in, const char *second, const char *out) {
    const transpose_problem *problem = (const transpose_problem *)base;
    (void)second;
    if (problem->in.count == 0)
        return TESS_OK;
    if (!in || !out)
        return tess_fail(TESS_ERR_ARGUMENT, "%s is NULL, the plan has %lld elements", in ? "out" : "in", (long long)problem->in.count);
    if (problem->place != TRANSPOSE_ELSEWHERE && in != out)
        return tess_fail(TESS_ERR_ARGUMENT, "the plan works in place, out (%p) must be in (%p)", (const void *)out, (const void *)in);
    if (problem->place != TRANSPOSE_ELSEWHERE)
        return TESS_OK;
    return tess_refuse_overlap_at(&problem->out, out, "out", &problem->in, in, "in");
}

tess_status tess_plan_transpose(tess_plan **plan, tess_context *given, const DLTensor *in, const DLTensor *out,
                                const tess_transpose_options *caller) {
    tess_context *context;
    tess_transpose_options options;
    void *memory;
    if (!plan)
        return tess_fail(TESS_ERR_ARGUMENT, "plan is NULL, a place for the new plan is needed");
    *plan = NULL;
    TESS_TRY(tess_context_get(&context, given));
    TESS_TRY(tess_options_copy(&options, sizeof options, caller, "transpose options"));
    TESS_TRY(tess_problem_make(&memory, context, &tess_transpose_op, sizeof(transpose_problem)));
    transpose_problem *problem = memory;
    tess_status status = prepare(problem, in, out, &options);
    if (status != TESS_OK) {
        tess_problem_free(&problem->base);
        return status;
    }
    return tess_plan_make(plan, &problem->base, &options.call);
}

tess_status tess_transpose(tess_context *given, const DLTensor *in, const DLTensor *out, const tess_transpose_options *caller) {
    tess_transpose_options options;
    transpose_problem problem;
    TESS_TRY(tess_problem_begin(&problem.base, offsetof(transpose_problem, in), &tess_transpose_op, given, &options, sizeof options, caller,
                                "transpose options"));
    problem.in.data = problem.out.data = NULL;
    const tess_status status = prepare(&problem, in, out, &options);
    return tess_plan_run_here(status, &problem.base, problem.in.data, NULL, problem.out.data, &options.call);
}
