/* SPDX-License-Identifier: Apache-2.0
 * reduce.c - sum, prod, min, max, mean, var, std, argmin, argmax, any, all, count_nonzero, norm. */
#include <math.h>
#include <string.h>

#include "module.h"

enum { X, AXIS, DTYPE, OUT, KEEPDIMS, NAN_, OFFSETS, STRATEGY, REPORT, EXACT, CORRECTION, DDOF, COUNT, ORD = EXACT };
#define COMMON N_x, N_axis, N_dtype, N_out, N_keepdims, N_nan, N_offsets, N_strategy, N_report
static const unsigned char plain[] = {COMMON}, exact[] = {COMMON, N_exact}, spread[] = {COMMON, N_exact, N_correction, N_ddof},
                           norm[] = {COMMON, N_ord};
enum { PLAIN = EXACT, WITH_EXACT = EXACT + 1, WITH_SPREAD = COUNT };

/* NumPy's choice: sums of integers in 64 bits, means of integers in f64, moduli of complex numbers in their part's type. */
static tess_type result_type(tess_reduction operation, tess_type in) {
    bool integer = in < tess_f16, is_unsigned = in == tess_u8 || in == tess_u16 || in == tess_u32 || in == tess_u64;
    tess_type real = in == tess_c64 ? tess_f32 : in == tess_c128 ? tess_f64 : integer ? tess_f64 : in;
    switch (operation) {
    case TESS_SUM:
    case TESS_PROD: return is_unsigned ? tess_u64 : integer ? tess_i64 : in;
    case TESS_MIN:
    case TESS_MAX: return in;
    case TESS_MEAN: return integer ? tess_f64 : in;
    case TESS_ARGMIN:
    case TESS_ARGMAX:
    case TESS_COUNT_NONZERO: return tess_i64;
    case TESS_ANY:
    case TESS_ALL: return tess_bool;
    default: return real;
    }
}

static bool read_ord(PyObject *value, tess_reduction *operation) {
    double ord = 2;
    if (tess_py_given(value) && !tess_py_double(value, "ord", &ord))
        return false;
    if (ord != 0 && ord != 1 && ord != 2 && ord != (double)INFINITY) {
        PyErr_Format(PyExc_ValueError, "ord is %R, it is one of: 0, 1, 2, inf (the norms of vectors)", value);
        return false;
    }
    *operation = ord == 0 ? TESS_COUNT_NONZERO : ord == 1 ? TESS_NORM1 : ord == 2 ? TESS_NORM2 : TESS_NORM_INF;
    return true;
}

/* The sizes of the result, for axes that are in order; the library refuses the others. */
static int result_shape(const DLTensor *in, const tess_reduce_options *options, const tess_py_array *offsets, int64_t *shape) {
    bool reduced[TESS_MAX_NDIM] = {false};
    int ndim = 0;
    for (int k = 0; k < options->naxes; k++) {
        int axis = options->axes[k] < 0 ? options->axes[k] + in->ndim : options->axes[k];
        if (axis >= 0 && axis < in->ndim)
            reduced[axis] = true;
    }
    for (int d = 0; d < in->ndim; d++) {
        if (!reduced[d] && options->axes)
            shape[ndim++] = in->shape[d];
        else if (offsets)
            shape[ndim++] = offsets->tensor.ndim == 1 && offsets->tensor.shape[0] > 0 ? offsets->tensor.shape[0] - 1 : 0;
        else if (options->keepdims)
            shape[ndim++] = 1;
    }
    return ndim;
}

static bool read_options(tess_py_state *state, tess_reduce_options *options, int *axes, PyObject **values, const tess_py_signature *signature) {
    static const char *const words[] = {"propagate", "omit", NULL};
    int word = 0;
    if (tess_py_given(values[AXIS])) {
        if ((options->naxes = tess_py_axes(state, values[AXIS], "axis", axes)) < 0)
            return false;
        options->axes = axes;
    }
    if (tess_py_given(values[KEEPDIMS]) && !tess_py_flag(values[KEEPDIMS], &options->keepdims))
        return false;
    if (tess_py_given(values[NAN_]) && !tess_py_word(values[NAN_], "nan", words, &word))
        return false;
    options->nan = (tess_nan)word;
    if (signature->count > EXACT && signature->parameters[EXACT] == N_exact && tess_py_given(values[EXACT]) &&
        !tess_py_flag(values[EXACT], &options->exact))
        return false;
    if (signature->count > CORRECTION) {
        if (tess_py_given(values[CORRECTION]) && tess_py_given(values[DDOF])) {
            PyErr_SetString(PyExc_TypeError, "correction and ddof are two names of one argument: give one of them");
            return false;
        }
        PyObject *given = tess_py_given(values[CORRECTION]) ? values[CORRECTION] : values[DDOF];
        if (tess_py_given(given) && !tess_py_double(given, "correction", &options->ddof))
            return false;
    }
    return true;
}

PyObject *tess_py_reduce(tess_py_state *state, const tess_py_entry *entry, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                         tess_py_mode mode) {
    bool is_norm = strcmp(entry->name, "norm") == 0;
    tess_reduction operation = (tess_reduction)entry->code;
    tess_py_signature signature = {entry->name, plain, PLAIN, 1, 2};
    if (is_norm)
        signature.parameters = norm, signature.count = WITH_EXACT;
    else if (operation == TESS_VAR || operation == TESS_STD)
        signature.parameters = spread, signature.count = WITH_SPREAD;
    else if (operation == TESS_SUM || operation == TESS_MEAN)
        signature.parameters = exact, signature.count = WITH_EXACT;

    PyObject *values[COUNT], *answer = NULL;
    tess_py_array in, offsets;
    tess_py_result result;
    tess_py_call call;
    tess_reduce_options options = {.struct_size = sizeof options};
    int axes[TESS_MAX_NDIM];
    int64_t shape[TESS_MAX_NDIM];
    if (!tess_py_arguments(state, &signature, args, nargs, kwnames, values) || !read_options(state, &options, axes, values, &signature) ||
        (is_norm && !read_ord(values[ORD], &operation)))
        return NULL;
    if (!tess_py_acquire(state, &in, values[X], "x"))
        return NULL;
    bool segmented = tess_py_given(values[OFFSETS]);
    if (segmented) {
        if (!tess_py_acquire(state, &offsets, values[OFFSETS], "offsets")) {
            tess_py_release(&in);
            return NULL;
        }
        options.offsets = &offsets.tensor;
    }
    tess_type type = is_norm && operation == TESS_COUNT_NONZERO ? result_type(TESS_NORM2, in.type) : result_type(operation, in.type);
    if (tess_py_given(values[DTYPE]) && (type = tess_py_dtype(state, values[DTYPE])) == tess_no_type)
        goto in_done;
    if (!tess_py_call_make(state, &call, values[STRATEGY], values[REPORT], &in))
        goto in_done;
    options.call = call.call;
    int ndim = result_shape(&in.tensor, &options, segmented ? &offsets : NULL, shape);
    if (!tess_py_result_make(state, &result, values[OUT], &in, type, ndim, shape, true, mode == TESS_PY_RUN))
        goto in_done;

    tess_status status;
    tess_py_work work;
    if (mode == TESS_PY_PLAN) {
        tess_plan *plan;
        PyObject *context = tess_py_context_current(state);
        tess_py_begin_on(&work, context, tess_py_planning(&in, 0));
        status = tess_plan_reduce(&plan, work.handle, operation, &in.tensor, &result.array.tensor, &options);
        tess_py_end(&work);
        if (status == TESS_OK)
            answer = tess_py_plan_new(state, plan, entry->name, context, &in, NULL, &result, tess_py_given(values[OUT]), true);
        Py_DECREF(context);
    } else {
        tess_py_begin(state, &work, (double)tess_py_count(&in.tensor));
        status = tess_reduce(work.handle, operation, &in.tensor, &result.array.tensor, &options);
        tess_py_end(&work);
        if (status == TESS_OK && tess_py_call_finish(&call)) {
            answer = tess_py_result_take(state, &result);
            goto in_done;
        }
    }
    if (status != TESS_OK)
        tess_py_raise(state, status);
    tess_py_result_drop(&result);
in_done:
    if (segmented)
        tess_py_release(&offsets);
    tess_py_release(&in);
    return answer;
}
