/* SPDX-License-Identifier: Apache-2.0
 * reduce.c - the public functions: a call is checked and becomes a problem. */
#include "ops/reduce/offsets.h"
#include "ops/reduce/sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    reduce_kind kind;
    reduce_map map;
    bool complex, needs_elements;
} operations[] = {
    [TESS_SUM] = {"sum", REDUCE_SUM, REDUCE_PLAIN, true, false},
    [TESS_PROD] = {"prod", REDUCE_PROD, REDUCE_PLAIN, true, false},
    [TESS_MIN] = {"min", REDUCE_EXTREME, REDUCE_PLAIN, false, true},
    [TESS_MAX] = {"max", REDUCE_EXTREME, REDUCE_PLAIN, false, true},
    [TESS_MEAN] = {"mean", REDUCE_SUM, REDUCE_PLAIN, true, false},
    [TESS_VAR] = {"var", REDUCE_VAR, REDUCE_PLAIN, false, false},
    [TESS_STD] = {"std", REDUCE_VAR, REDUCE_PLAIN, false, false},
    [TESS_ARGMIN] = {"argmin", REDUCE_ARG, REDUCE_PLAIN, false, true},
    [TESS_ARGMAX] = {"argmax", REDUCE_ARG, REDUCE_PLAIN, false, true},
    [TESS_ANY] = {"any", REDUCE_COUNT, REDUCE_PLAIN, true, false},
    [TESS_ALL] = {"all", REDUCE_COUNT, REDUCE_PLAIN, true, false},
    [TESS_COUNT_NONZERO] = {"count_nonzero", REDUCE_COUNT, REDUCE_PLAIN, true, false},
    [TESS_NORM1] = {"norm1", REDUCE_SUM, REDUCE_ABS, true, false},
    [TESS_NORM2] = {"norm2", REDUCE_SUM, REDUCE_SQUARE, true, false},
    [TESS_NORM_INF] = {"norm_inf", REDUCE_EXTREME, REDUCE_PLAIN, true, false},
};

const char *tess_reduction_name(tess_reduction operation) { return (unsigned)operation < TESS_COUNT(operations) ? operations[operation].name : "?"; }

bool tess_reduction_named(const char *name, tess_reduction *operation) {
    for (int i = 0; name && i < TESS_COUNT(operations); i++)
        if (strcmp(operations[i].name, name) == 0) {
            *operation = (tess_reduction)i;
            return true;
        }
    return false;
}

/* What elements are loaded as, what the tree adds, what comes out (docs/numerics.md). */
static void choose_types(reduce_problem *p) {
    tess_type in = p->in.type, out = p->out.type;
    bool wide = in == tess_f64 || in == tess_c128 || out == tess_f64 || out == tess_c128;
    bool integer = tess_is_integer(in) || tess_is_bool(in);
    tess_type plain = tess_is_complex(in)    ? (wide ? tess_c128 : tess_c64)
                      : !integer             ? (wide ? tess_f64 : tess_f32)
                      : tess_is_unsigned(in) ? tess_u64
                                             : tess_i64;
    p->load = p->acc = p->result = plain;
    switch (p->operation) {
    case TESS_SUM:
    case TESS_PROD: break;
    case TESS_MEAN:
        if (integer && p->in.itemsize == 8)
            p->load = p->acc = tess_f64;
        if (integer)
            p->result = tess_f64;
        break;
    case TESS_VAR:
    case TESS_STD: p->load = p->acc = p->result = tess_f64; break;
    case TESS_NORM1:
        if (plain == tess_i64)
            p->acc = tess_u64;
        if (plain == tess_u64)
            p->map = REDUCE_PLAIN;
        if (tess_is_complex(in)) {
            p->load = in;
            p->acc = tess_f64;
        }
        p->result = p->acc;
        break;
    case TESS_NORM2:
        p->load = tess_is_complex(in) ? tess_c128 : tess_f64;
        p->acc = p->result = tess_f64;
        break;
    case TESS_NORM_INF:
        p->order.magnitude = true;
        if (tess_is_complex(in)) {
            p->map = REDUCE_ABS;
            p->load = in;
            p->acc = p->result = tess_f64;
        } else if (integer) {
            p->result = tess_u64;
        } else {
            p->result = in == tess_f64 ? tess_f64 : tess_f32;
        }
        break;
    case TESS_MIN:
    case TESS_MAX:
        if (!integer)
            p->result = in == tess_f64 ? tess_f64 : tess_f32;
        break;
    case TESS_ARGMIN:
    case TESS_ARGMAX: p->result = tess_i64; break;
    case TESS_ANY:
    case TESS_ALL: p->result = tess_u64; break;
    case TESS_COUNT_NONZERO: p->result = tess_i64; break;
    }
    if (p->exact) { /* from f64, once to the result; 64-bit integers as two halves each */
        p->acc = p->result = tess_is_complex(in) && p->operation != TESS_NORM1 ? tess_c128 : tess_f64;
        if (integer)
            p->load = plain;
        else if (!tess_is_complex(in) || p->operation != TESS_NORM1)
            p->load = p->acc;
    }
}

static tess_status check_options(reduce_problem *p, const tess_reduce_options *options) {
    const char *name = tess_reduction_name(p->operation);
    bool integer = tess_is_integer(p->in.type) || tess_is_bool(p->in.type);
    if ((unsigned)options->nan > TESS_NAN_OMIT)
        return tess_fail(TESS_ERR_ARGUMENT, "nan is %d, not a tess_nan", (int)options->nan);
    if (!isfinite(options->ddof))
        return tess_fail(TESS_ERR_ARGUMENT, "ddof is %g, it must be finite", options->ddof);
    if (tess_is_complex(p->in.type) && !operations[p->operation].complex)
        return tess_fail(TESS_ERR_TYPE, "%s is not offered for complex elements, and in is %s", name, tess_type_name(p->in.type));
    if (options->exact && p->operation != TESS_SUM && p->operation != TESS_MEAN && p->operation != TESS_NORM1)
        return tess_fail(TESS_ERR_ARGUMENT, "exact is set for %s, it applies to sum, mean and norm1 only", name);
    p->omit = p->order.omit = options->nan == TESS_NAN_OMIT && !integer;
    p->ddof = options->ddof;
    /* Integer sums are exact as they are; only the mean of 64-bit integers is not. */
    p->exact = options->exact && (!integer || (p->operation == TESS_MEAN && p->in.itemsize == 8));
    choose_types(p);
    if (tess_is_complex(p->result) && !tess_is_complex(p->out.type))
        return tess_fail(TESS_ERR_TYPE, "the %s of %s elements is complex, and out is %s", name, tess_type_name(p->in.type),
                         tess_type_name(p->out.type));
    return TESS_OK;
}

/* The mean length of those that are not OUTLIER times as long as the mean of all. */
static double usual_length(const reduce_problem *p) {
    enum { OUTLIER = 8 };
    const double all = (double)(p->offsets[p->segments] - p->offsets[0]), mean = all / (double)tess_max64(p->segments, 1);
    double rest = all;
    int64_t count = p->segments;
    for (int64_t s = 0; s < p->segments && (double)p->longest > OUTLIER * mean; s++) {
        const double length = (double)(p->offsets[s + 1] - p->offsets[s]);
        if (length > OUTLIER * mean) {
            rest -= length;
            count--;
        }
    }
    return rest / (double)tess_max64(count, 1);
}

/* Copies the offsets into the problem and checks them. axis: the reduced one, of `size` elements. */
static tess_status take_offsets(reduce_problem *p, const DLTensor *given, int axis) {
    tess_array a;
    TESS_TRY(tess_array_import(&a, given, "offsets", true));
    TESS_TRY(tess_array_on_host(&a, "offsets"));
    if (a.type != tess_i64 && a.type != tess_i32)
        return tess_fail(TESS_ERR_TYPE, "offsets is %s, it must be i64 or i32", tess_type_name(a.type));
    if (a.ndim != 1 || a.count < 1)
        return tess_fail(TESS_ERR_SHAPE, "offsets has %d axes and %lld elements, it must have 1 axis and at least 1 element", a.ndim,
                         (long long)a.count);
    p->segments = a.count - 1;
    p->offsets = tess_reduce_offsets_make(p->base.context, a.count - 1);
    if (!p->offsets)
        return TESS_ERR_MEMORY;
    tess_loader(TESS_SLOT_BASELINE, a.type, tess_i64)(p->offsets, a.data, a.stride[0], a.count);
    int64_t size = p->in.shape[axis], before = 0;
    p->longest = 0;
    for (int64_t i = 0; i < a.count; i++) {
        int64_t at = p->offsets[i];
        if (at < 0 || at > size)
            return tess_fail(TESS_ERR_ARGUMENT, "offsets[%lld] is %lld, axis %d has offsets 0..%lld", (long long)i, (long long)at, axis,
                             (long long)size);
        if (i > 0 && at < before)
            return tess_fail(TESS_ERR_ARGUMENT, "offsets[%lld] is %lld, less than offsets[%lld], which is %lld", (long long)i, (long long)at,
                             (long long)(i - 1), (long long)before);
        if (i > 0)
            p->longest = tess_max64(p->longest, at - before);
        before = at;
    }
    p->usual = usual_length(p);
    return TESS_OK;
}

/* Whether all segments are as long, from the axis's first element on: its tiles, or a beginning of it. */
static bool segments_are_equal(const reduce_problem *p) {
    const int64_t length = p->segments > 0 ? p->offsets[1] : 0;
    for (int64_t s = 0; s <= p->segments; s++)
        if (p->offsets[s] != s * length)
            return false;
    return length > 0;
}

/* Segments of one length are an axis of their own, beside that of their elements: offsets are needed no more, and the rows for whole axes take it. */
static void segments_to_axis(reduce_problem *p, int axis) {
    tess_array *in = &p->in;
    if (in->ndim == TESS_MAX_NDIM || in->count == 0 || !segments_are_equal(p))
        return;
    const int64_t length = p->offsets[1];
    for (int d = in->ndim++; d > axis; d--) {
        in->shape[d] = in->shape[d - 1];
        in->stride[d] = in->stride[d - 1];
        p->reduced[d] = p->reduced[d - 1];
    }
    in->count = in->count / in->shape[axis] * p->segments * length;
    in->shape[axis] = p->segments;
    in->shape[axis + 1] = length;
    in->stride[axis] *= length;
    p->reduced[axis] = p->keepdims = false;
    tess_reduce_offsets_free(p->base.context, p->offsets, p->segments);
    p->offsets = NULL;
    p->segments = 1;
}

static tess_status check_out_shape(const reduce_problem *p, int *out_axis) {
    const bool *reduced = p->reduced, keepdims = p->keepdims;
    int needed = 0;
    int64_t shape[TESS_MAX_NDIM];
    for (int d = 0; d < p->in.ndim; d++) {
        out_axis[d] = -1;
        if (reduced[d] && !keepdims && !p->offsets)
            continue;
        shape[needed] = !reduced[d] ? p->in.shape[d] : p->offsets ? p->segments : 1;
        out_axis[d] = needed++;
    }
    char text[160];
    if (p->out.ndim != needed)
        return tess_fail(TESS_ERR_SHAPE, "out has %d axes, %d are needed: shape %s", p->out.ndim, needed,
                         tess_shape_text(text, sizeof text, needed, shape));
    for (int d = 0; d < needed; d++)
        if (p->out.shape[d] != shape[d])
            return tess_fail(TESS_ERR_SHAPE, "out has size %lld on axis %d, %lld is needed", (long long)p->out.shape[d], d, (long long)shape[d]);
    return TESS_OK;
}

static uint64_t step_of(int64_t stride) { return stride ? (uint64_t)llabs(stride) : UINT64_MAX; }

/* Whether the order of an output's elements is free: what has neither a tree nor places, and sums without an error. */
static bool order_is_free(const reduce_problem *p) {
    const bool integers = (p->kind == REDUCE_SUM || p->kind == REDUCE_PROD) && reduce_is_integer(p->acc);
    return !p->offsets && (integers || p->exact || p->kind == REDUCE_COUNT || p->kind == REDUCE_EXTREME);
}

/* The reduced axis with the smallest step in memory last. */
static void sort_reduced(reduce_problem *p) {
    for (int i = 1; i < p->rank; i++)
        for (int at = i; at > 0 && step_of(p->stride[0][at - 1]) < step_of(p->stride[0][at]); at--) {
            const int64_t size = p->size[at], stride = p->stride[0][at];
            p->size[at] = p->size[at - 1];
            p->stride[0][at] = p->stride[0][at - 1];
            p->size[at - 1] = size;
            p->stride[0][at - 1] = stride;
        }
}

int tess_reduce_longest_kept(const reduce_problem *p) {
    int longest = p->kept - 1;
    for (int d = 0; d < p->kept - 1; d++)
        longest = p->kept_size[d] > p->kept_size[longest] ? d : longest;
    return longest;
}

void tess_reduce_put_last(reduce_problem *p, int axis) {
    const int64_t size = p->kept_size[axis], in = p->kept_stride[0][axis], out = p->kept_stride[1][axis];
    const int last = p->kept - 1;
    for (int d = axis; d < last; d++) {
        p->kept_size[d] = p->kept_size[d + 1];
        p->kept_stride[0][d] = p->kept_stride[0][d + 1];
        p->kept_stride[1][d] = p->kept_stride[1][d + 1];
    }
    p->kept_size[last] = size;
    p->kept_stride[0][last] = in;
    p->kept_stride[1][last] = out;
}

/* Splits the axes into reduced and kept ones and joins each set. The order of the outputs is free: the kept axis with the smallest step in memory
 * comes last, those that do not step at all first; so are reduced ones where the order of the elements is free too. */
static void split_axes(reduce_problem *p, const int *out_axis) {
    const bool *reduced = p->reduced;
    int kept_axes[TESS_MAX_NDIM], kept = 0;
    for (int d = 0; d < p->in.ndim; d++) {
        if (reduced[d]) {
            if (p->offsets)
                p->segment_stride = p->out.stride[out_axis[d]];
            p->size[p->rank] = p->in.shape[d];
            p->stride[0][p->rank++] = p->in.stride[d];
            continue;
        }
        int place = kept++;
        for (; place > 0 && step_of(p->in.stride[kept_axes[place - 1]]) < step_of(p->in.stride[d]); place--)
            kept_axes[place] = kept_axes[place - 1];
        kept_axes[place] = d;
    }
    p->outputs = p->k = 1;
    for (int i = 0; i < p->rank; i++)
        p->k *= p->size[i];
    if (order_is_free(p))
        sort_reduced(p);
    p->rank = tess_collapse(p->rank, p->size, 1, p->stride);
    if (p->rank == 0) {
        p->size[0] = 1;
        p->stride[0][0] = p->in.itemsize;
        p->rank = 1;
    }
    for (int i = 0; i < kept; i++) {
        int d = kept_axes[i];
        p->kept_size[i] = p->in.shape[d];
        p->kept_stride[0][i] = p->in.stride[d];
        p->kept_stride[1][i] = p->out.stride[out_axis[d]];
        p->outputs *= p->in.shape[d];
    }
    p->kept = tess_collapse(kept, p->kept_size, 2, p->kept_stride);
    if (!p->offsets)
        p->longest = p->k;
}

static tess_status check_empty(const reduce_problem *p) {
    if (!operations[p->operation].needs_elements || p->outputs == 0)
        return TESS_OK;
    const char *name = tess_reduction_name(p->operation);
    if (!p->offsets && p->k == 0)
        return tess_fail(TESS_ERR_EMPTY, "%s needs at least one element for each output, and in has size 0 along the reduced axes", name);
    for (int64_t s = 0; p->offsets && s < p->segments; s++)
        if (p->offsets[s] == p->offsets[s + 1])
            return tess_fail(TESS_ERR_EMPTY, "%s needs at least one element for each output, and segment %lld (offsets %lld to %lld) is empty", name,
                             (long long)s, (long long)p->offsets[s], (long long)p->offsets[s + 1]);
    return TESS_OK;
}

/* Everything but the pointers that could make two problems differ in speed. */
void tess_reduce_describe(tess_problem *base) {
    const reduce_problem *p = (const reduce_problem *)base;
    char *key = base->key;
    size_t size = sizeof base->key, at;
    at = (size_t)snprintf(key, size, "%s %s %s%s%s reduced", tess_reduction_name(p->operation), tess_type_name(p->in.type),
                          tess_type_name(p->out.type), p->omit ? " omit" : "", p->exact ? " exact" : "");
    for (int d = 0; d < p->rank && at < size; d++)
        at += (size_t)snprintf(key + at, size - at, " %lldx%lld", (long long)p->size[d], (long long)p->stride[0][d]);
    if (p->offsets && at < size)
        at += (size_t)snprintf(key + at, size - at, " segments %lld longest %lld", (long long)p->segments, (long long)p->longest);
    if (at < size)
        at += (size_t)snprintf(key + at, size - at, " kept");
    for (int d = 0; d < p->kept && at < size; d++)
        at += (size_t)snprintf(key + at, size - at, " %lldx%lld", (long long)p->kept_size[d], (long long)p->kept_stride[0][d]);
}

tess_status tess_reduce_arrange(reduce_problem *p) {
    int out_axis[TESS_MAX_NDIM];
    TESS_TRY(check_out_shape(p, out_axis));
    if (tess_array_self_overlaps(&p->out))
        return tess_fail(TESS_ERR_OVERLAP, "out has two elements in one place: its strides fold it onto itself");
    split_axes(p, out_axis);
    TESS_TRY(check_empty(p));
    double n = (double)p->in.count;
    p->base.elements = n > (double)p->out.count ? n : (double)p->out.count;
    p->base.bytes = n * p->in.itemsize + (double)p->out.count * p->out.itemsize;
    p->order.cached = p->base.bytes <= 3 << 19;
    if (!reduce_is_integer(p->acc) && p->kind != REDUCE_COUNT)
        p->base.flops = n * (p->kind == REDUCE_VAR ? 4 : p->map == REDUCE_SQUARE ? 2 : 1) * (tess_is_complex(p->in.type) ? 2 : 1);
    p->base.key[0] = 0; /* of a whole whose sample this is */
    return TESS_OK;
}

static tess_status fill(reduce_problem *p, const DLTensor *in, const DLTensor *out, const tess_reduce_options *options, bool needs_data) {
    int axes[TESS_MAX_NDIM], naxes = options->naxes;
    if ((unsigned)p->operation >= TESS_COUNT(operations))
        return tess_fail(TESS_ERR_ARGUMENT, "operation is %d, not a tess_reduction", (int)p->operation);
    p->kind = operations[p->operation].kind;
    p->map = operations[p->operation].map;
    p->order.smallest = p->operation == TESS_MIN || p->operation == TESS_ARGMIN;
    p->order.numeric = p->kind == REDUCE_ARG;
    p->segments = 1;
    TESS_TRY(tess_array_import(&p->in, in, "in", needs_data));
    TESS_TRY(tess_array_import(&p->out, out, "out", needs_data));
    TESS_TRY(check_options(p, options));
    if (!options->axes && naxes == 0) {
        for (naxes = 0; naxes < p->in.ndim; naxes++)
            axes[naxes] = naxes;
    } else {
        TESS_TRY(tess_axes_check(axes, options->axes, naxes, p->in.ndim, "axes"));
    }
    for (int i = 0; i < naxes; i++)
        p->reduced[axes[i]] = true;
    p->keepdims = options->keepdims;
    if (options->offsets) {
        if (naxes != 1)
            return tess_fail(TESS_ERR_ARGUMENT, "offsets cut one axis into segments, and %d axes are reduced", naxes);
        TESS_TRY(take_offsets(p, options->offsets, axes[0]));
        segments_to_axis(p, axes[0]);
    }
    return tess_reduce_arrange(p);
}

tess_status tess_plan_reduce(tess_plan **result, tess_context *given, tess_reduction operation, const DLTensor *in, const DLTensor *out,
                             const tess_reduce_options *caller) {
    tess_context *context;
    tess_reduce_options options;
    void *memory;
    if (!result)
        return tess_fail(TESS_ERR_ARGUMENT, "plan is NULL, a place for the new plan is needed");
    *result = NULL;
    TESS_TRY(tess_context_get(&context, given));
    TESS_TRY(tess_options_copy(&options, sizeof options, caller, "reduce options"));
    TESS_TRY(tess_problem_make(&memory, context, &tess_reduce_op, sizeof(reduce_problem)));
    reduce_problem *p = memory;
    p->operation = operation;
    tess_status status = fill(p, in, out, &options, false);
    if (status != TESS_OK) {
        tess_problem_free(&p->base);
        return status;
    }
    return tess_plan_make(result, &p->base, &options.call);
}

tess_status tess_reduce(tess_context *given, tess_reduction operation, const DLTensor *in, const DLTensor *out, const tess_reduce_options *caller) {
    tess_reduce_options options;
    reduce_problem p;
    TESS_TRY(tess_problem_begin(&p.base, offsetof(reduce_problem, in), &tess_reduce_op, given, &options, sizeof options, caller, "reduce options"));
    p.in.data = p.out.data = NULL;
    p.operation = operation;
    const tess_status status = fill(&p, in, out, &options, true);
    return tess_plan_run_here(status, &p.base, p.in.data, NULL, p.out.data, &options.call);
}
