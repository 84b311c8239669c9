/* SPDX-License-Identifier: Apache-2.0
 * correlate.c - correlate, convolve and their separable forms. */
#include <string.h>

#include "module.h"

enum { X, MASK, EXTENT, AXES, ORIGIN, BOUNDARY, CONSTANT, DTYPE, OUT, COMPUTE, STRATEGY, REPORT, ACCURACY, COUNT };
#define REST N_extent, N_axes, N_origin, N_boundary, N_constant, N_dtype, N_out, N_compute, N_strategy, N_report, N_accuracy
static const unsigned char whole[] = {N_x, N_mask, REST}, factors[] = {N_x, N_masks, REST};

typedef struct filter {
    tess_correlate_options options;
    int axes[TESS_MAX_NDIM];
    int64_t origin[TESS_MAX_NDIM];
    tess_py_array in;
    tess_py_result result;
    tess_py_call call;
    int mask_axes;                 /* axes that masks run along */
    int64_t widths[TESS_MAX_NDIM]; /* one for each */
} filter;

static bool read_options(tess_py_state *state, filter *f, PyObject **values) {
    static const char *const extents[] = {"same", "valid", "full", NULL}, *const accuracies[] = {"direct", "fast", "fft", NULL};
    static const char *const boundaries[] = {"zero", "constant", "nearest", "reflect", "mirror", "wrap", NULL};
    int extent = 0, accuracy = 0, boundary = 0;
    tess_correlate_options *o = &f->options;
    if ((tess_py_given(values[EXTENT]) && !tess_py_word(values[EXTENT], "extent", extents, &extent)) ||
        (tess_py_given(values[ACCURACY]) && !tess_py_word(values[ACCURACY], "accuracy", accuracies, &accuracy)) ||
        (tess_py_given(values[BOUNDARY]) && !tess_py_word(values[BOUNDARY], "boundary", boundaries, &boundary)) ||
        (tess_py_given(values[CONSTANT]) && !tess_py_double(values[CONSTANT], "constant", &o->constant)))
        return false;
    o->extent = (tess_extent)extent;
    o->accuracy = (tess_accuracy)accuracy;
    o->boundary = (tess_boundary)boundary;
    if (tess_py_given(values[CONSTANT]) && !tess_py_given(values[BOUNDARY]))
        o->boundary = TESS_BOUNDARY_CONSTANT; /* a value for the ghost cells says that there are some */
    if (tess_py_given(values[COMPUTE]) && (o->compute = tess_py_dtype(state, values[COMPUTE])) == tess_no_type)
        return false;
    if (tess_py_given(values[AXES])) {
        if ((o->naxes = tess_py_axes(state, values[AXES], "axes", f->axes)) < 0)
            return false;
        o->axes = f->axes;
    }
    return true;
}

/* One origin for all axes of the mask, or one for each. */
static bool read_origin(filter *f, PyObject *value) {
    if (!tess_py_given(value))
        return true;
    int count = tess_py_ints(value, "origin", f->origin, TESS_MAX_NDIM);
    if (count < 0)
        return false;
    if (PyIndex_Check(value))
        for (; count < f->mask_axes; count++)
            f->origin[count] = f->origin[0];
    if (count < f->mask_axes) {
        PyErr_Format(PyExc_ValueError, "origin has %d entries, the mask has %d axes", count, f->mask_axes);
        return false;
    }
    f->options.origin = f->origin;
    return true;
}

static int result_shape(const filter *f, int64_t *shape) {
    const DLTensor *in = &f->in.tensor;
    memcpy(shape, in->shape, (size_t)in->ndim * sizeof *shape);
    for (int k = 0; k < f->mask_axes; k++) {
        int axis = f->options.axes ? (k < f->options.naxes ? f->axes[k] : 0) : in->ndim - f->mask_axes + k;
        axis += axis < 0 ? in->ndim : 0;
        if (axis < 0 || axis >= in->ndim)
            continue; /* the library says what is wrong with it */
        int64_t n = shape[axis], width = f->widths[k];
        if (f->options.extent == TESS_EXTENT_VALID)
            shape[axis] = n - width + 1 > 0 ? n - width + 1 : 0;
        else if (f->options.extent == TESS_EXTENT_FULL)
            shape[axis] = n + width - 1;
    }
    return in->ndim;
}

static tess_status call_library(const filter *f, tess_context *handle, const DLTensor *const *masks, int count, bool separable) {
    const DLTensor *in = &f->in.tensor, *out = &f->result.array.tensor;
    if (separable)
        return f->options.flip ? tess_convolve_separable(handle, in, masks, count, out, &f->options)
                               : tess_correlate_separable(handle, in, masks, count, out, &f->options);
    return f->options.flip ? tess_convolve(handle, in, masks[0], out, &f->options) : tess_correlate(handle, in, masks[0], out, &f->options);
}

/* The input is acquired, so are the masks. */
static PyObject *filter_run(tess_py_state *state, filter *f, const tess_py_entry *entry, const DLTensor *const *masks, int count, tess_type mask_type,
                            bool separable, PyObject **values, tess_py_mode mode) {
    PyObject *answer = NULL;
    tess_type type = tess_py_given(values[DTYPE]) ? tess_py_dtype(state, values[DTYPE]) : tess_py_promote(f->in.type, mask_type);
    if (type == tess_no_type || !read_origin(f, values[ORIGIN]) || !tess_py_call_make(state, &f->call, values[STRATEGY], values[REPORT], &f->in))
        return NULL;
    f->options.call = f->call.call;
    int64_t shape[TESS_MAX_NDIM];
    int ndim = result_shape(f, shape);
    if (!tess_py_result_make(state, &f->result, values[OUT], &f->in, type, ndim, shape, false, mode == TESS_PY_RUN))
        return NULL;
    tess_status status;
    tess_py_work work;
    double taps = 1;
    for (int k = 0; k < f->mask_axes; k++)
        taps *= (double)f->widths[k];
    if (mode == TESS_PY_PLAN) {
        tess_plan *plan;
        PyObject *context = tess_py_context_current(state);
        tess_py_begin_on(&work, context, tess_py_planning(&f->in, taps)); /* weights are converted and may be transformed */
        status = tess_plan_correlate(&plan, work.handle, &f->in.tensor, masks, count, &f->result.array.tensor, &f->options);
        tess_py_end(&work);
        if (status == TESS_OK)
            answer = tess_py_plan_new(state, plan, entry->name, context, &f->in, NULL, &f->result, tess_py_given(values[OUT]), false);
        Py_DECREF(context);
    } else {
        tess_py_begin(state, &work, taps * (double)tess_py_count(&f->result.array.tensor));
        status = call_library(f, work.handle, masks, count, separable);
        tess_py_end(&work);
        if (status == TESS_OK && tess_py_call_finish(&f->call))
            return tess_py_result_take(state, &f->result);
    }
    if (status != TESS_OK)
        tess_py_raise(state, status);
    tess_py_result_drop(&f->result);
    return answer;
}

/* What a mask counts as when the result's type is found: a list beside bfloat16 came in as float32. */
static tess_type weight_type(const filter *f, const tess_py_array *mask) {
    return mask->from_list && f->in.type == tess_bf16 && mask->type == tess_f32 ? tess_bf16 : mask->type;
}

static bool start(tess_py_state *state, filter *f, const tess_py_entry *entry, const unsigned char *parameters, PyObject *const *args,
                  Py_ssize_t nargs, PyObject *kwnames, PyObject **values) {
    const tess_py_signature signature = {entry->name, parameters, COUNT, 2, 3};
    f->options = (tess_correlate_options){.struct_size = sizeof f->options, .flip = entry->code != 0};
    return tess_py_arguments(state, &signature, args, nargs, kwnames, values) && read_options(state, f, values) &&
           tess_py_acquire(state, &f->in, values[X], "x");
}

PyObject *tess_py_correlate(tess_py_state *state, const tess_py_entry *entry, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                            tess_py_mode mode) {
    PyObject *values[COUNT], *answer = NULL;
    filter f;
    tess_py_array mask;
    if (!start(state, &f, entry, whole, args, nargs, kwnames, values))
        return NULL;
    if (tess_py_acquire_weights(state, &mask, values[MASK], "mask", &f.in)) {
        const DLTensor *tensor = &mask.tensor;
        f.mask_axes = tensor->ndim;
        memcpy(f.widths, tensor->shape, (size_t)tensor->ndim * sizeof *f.widths);
        answer = filter_run(state, &f, entry, &tensor, 1, weight_type(&f, &mask), false, values, mode);
        tess_py_release(&mask);
    }
    tess_py_release(&f.in);
    return answer;
}

PyObject *tess_py_separable(tess_py_state *state, const tess_py_entry *entry, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                            tess_py_mode mode) {
    PyObject *values[COUNT], *answer = NULL, *list;
    filter f;
    if (!start(state, &f, entry, factors, args, nargs, kwnames, values))
        return NULL;
    list = PySequence_Tuple(values[MASK]);
    Py_ssize_t count = list ? PyTuple_Size(list) : 0, acquired = 0;
    if (list && (count < 1 || count > TESS_MAX_NDIM))
        PyErr_Format(PyExc_ValueError, "masks has %zd entries, between 1 and %d are needed", count, TESS_MAX_NDIM);
    tess_py_array *masks = list && !PyErr_Occurred() ? PyMem_Malloc((size_t)count * sizeof *masks) : NULL;
    const DLTensor *tensors[TESS_MAX_NDIM];
    tess_type type = tess_no_type;
    for (; masks && acquired < count; acquired++) {
        tess_py_array *mask = &masks[acquired];
        if (!tess_py_acquire_weights(state, mask, PyTuple_GetItem(list, acquired), "masks", &f.in))
            break;
        tensors[acquired] = &mask->tensor;
        f.widths[acquired] = mask->tensor.ndim == 1 ? mask->tensor.shape[0] : 1;
        type = acquired ? tess_py_promote(type, weight_type(&f, mask)) : weight_type(&f, mask);
    }
    if (masks && acquired == count) {
        f.mask_axes = (int)count;
        answer = filter_run(state, &f, entry, tensors, (int)count, type, true, values, mode);
    } else if (!PyErr_Occurred()) {
        PyErr_NoMemory();
    }
    while (acquired > 0)
        tess_py_release(&masks[--acquired]);
    PyMem_Free(masks);
    Py_XDECREF(list);
    tess_py_release(&f.in);
    return answer;
}
