/* SPDX-License-Identifier: Apache-2.0
 * move.c - transpose, permute_dims, take, lookup. */
#include <stdlib.h>
#include <string.h>

#include "module.h"

/* ---- transpose ------------------------------------------------------------------------------------------------- */

PyObject *tess_py_transpose(tess_py_state *state, const tess_py_entry *entry, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                            tess_py_mode mode) {
    enum { X, AXES, OUT, STRATEGY, REPORT, COUNT };
    static const unsigned char parameters[] = {N_x, N_axes, N_out, N_strategy, N_report};
    const tess_py_signature signature = {entry->name, parameters, COUNT, entry->code ? 2 : 1, 2};
    PyObject *values[COUNT], *answer = NULL;
    tess_py_array in;
    tess_py_result result;
    tess_py_call call;
    tess_transpose_options options = {.struct_size = sizeof options};
    int perm[TESS_MAX_NDIM];
    int64_t shape[TESS_MAX_NDIM];
    if (!tess_py_arguments(state, &signature, args, nargs, kwnames, values) || !tess_py_acquire(state, &in, values[X], "x"))
        return NULL;
    const DLTensor *x = &in.tensor;
    if (tess_py_given(values[AXES])) {
        if ((options.nperm = tess_py_axes(state, values[AXES], "axes", perm)) < 0)
            goto in_done;
        options.perm = perm;
    }
    for (int k = 0; k < x->ndim; k++) {
        int64_t axis = !options.perm ? x->ndim - 1 - k : k < options.nperm ? perm[k] : 0;
        axis += axis < 0 ? x->ndim : 0;
        shape[k] = axis >= 0 && axis < x->ndim ? x->shape[axis] : 0; /* the library refuses the others */
    }
    if (!tess_py_call_make(state, &call, values[STRATEGY], values[REPORT], &in))
        goto in_done;
    options.call = call.call;
    if (!tess_py_result_make(state, &result, values[OUT], &in, in.type, x->ndim, shape, false, mode == TESS_PY_RUN))
        goto in_done;

    tess_status status;
    tess_py_work work;
    if (mode == TESS_PY_PLAN) {
        tess_plan *plan;
        PyObject *context = tess_py_context_current(state);
        tess_py_begin_on(&work, context, tess_py_planning(&in, 0));
        status = tess_plan_transpose(&plan, work.handle, x, &result.array.tensor, &options);
        tess_py_end(&work);
        if (status == TESS_OK)
            answer = tess_py_plan_new(state, plan, entry->name, context, &in, NULL, &result, tess_py_given(values[OUT]), false);
        Py_DECREF(context);
    } else {
        tess_py_begin(state, &work, (double)tess_py_count(x));
        status = tess_transpose(work.handle, x, &result.array.tensor, &options);
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
    tess_py_release(&in);
    return answer;
}

/* ---- lookup ---------------------------------------------------------------------------------------------------- */

typedef struct gather {
    tess_py_array table, index, positions;
    tess_py_result result;
    tess_py_call call;
    tess_lookup_options options;
    bool integers_only, negative; /* take: no interpolation; indices may count from the end */
    bool flat;                    /* the table counts as one axis */
} gather;

static bool is_integer(tess_type type) { return type >= tess_bool && type <= tess_i64; }

/* The table's type where its entries are moved or are floats; interpolated integers become the type that is computed in. */
static tess_type result_type(const gather *g) {
    tess_type table = g->table.type, index = g->index.type;
    if (!is_integer(table) || is_integer(index) || g->options.interpolation == TESS_INTERPOLATE_NEAREST)
        return table;
    return index == tess_f64 || tess_type_size(table) >= 4 ? tess_f64 : tess_f32;
}

static bool read_axis(tess_py_state *state, gather *g, PyObject *value) {
    int axes[TESS_MAX_NDIM] = {0};
    if (tess_py_given(value) && tess_py_axes(state, value, "axis", axes) != 1) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "axis is one integer");
        return false;
    }
    g->options.axis = axes[0];
    return true;
}

/* NumPy lets indices count from the end: where one lies outside 0 .. n-1, look whether all lie in -n .. n-1, and then wrap. */
static tess_status take_negative(gather *g, tess_context *handle) {
    int64_t low = 0, high = 0;
    tess_py_array scalar;
    int axis = g->options.axis + (g->options.axis < 0 ? g->table.tensor.ndim : 0);
    int64_t n = g->table.tensor.shape[axis];
    const DLTensor *index = &g->index.tensor;
    scalar.tensor = tess_view(&low, tess_i64, 0, scalar.shape, NULL);
    tess_status status = tess_reduce(handle, TESS_MIN, index, &scalar.tensor, NULL);
    scalar.tensor.data = &high;
    if (status == TESS_OK)
        status = tess_reduce(handle, TESS_MAX, index, &scalar.tensor, NULL);
    if (status != TESS_OK)
        return status;
    if (low >= -n && high < n)
        g->options.outside = TESS_OUTSIDE_WRAP;
    return tess_lookup(handle, &g->table.tensor, index, &g->result.array.tensor, &g->options);
}

/* Everything behind the reading of arguments; table and index are acquired. */
static PyObject *gather_run(tess_py_state *state, gather *g, const tess_py_entry *entry, PyObject *dtype, PyObject *out, PyObject *strategy,
                            PyObject *report, tess_py_mode mode) {
    PyObject *answer = NULL;
    const DLTensor *table = &g->table.tensor, *index = &g->index.tensor;
    tess_type type = tess_py_given(dtype) ? tess_py_dtype(state, dtype) : result_type(g);
    if (g->integers_only && !is_integer(g->index.type)) {
        PyErr_Format(PyExc_TypeError, "indices have the type %s, integers are needed (lookup interpolates)", tess_py_dtype_name(g->index.type));
        return NULL;
    }
    if (type == tess_no_type || !tess_py_call_make(state, &g->call, strategy, report, &g->table))
        return NULL;
    g->options.call = g->call.call;
    int64_t shape[2 * TESS_MAX_NDIM];
    int ndim = 0, axis = g->options.axis + (g->options.axis < 0 ? table->ndim : 0);
    for (int d = 0; d < table->ndim; d++) {
        if (d != axis)
            shape[ndim++] = table->shape[d];
        else
            for (int e = 0; e < index->ndim; e++)
                shape[ndim++] = index->shape[e];
    }
    if (ndim > TESS_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "the result would have %d axes, the limit is %d", ndim, TESS_MAX_NDIM);
        return NULL;
    }
    const tess_py_array *like = g->table.from_list && !g->index.from_list ? &g->index : &g->table;
    if (!tess_py_result_make(state, &g->result, out, like, type, ndim, shape, true, mode == TESS_PY_RUN))
        return NULL;
    tess_status status;
    tess_py_work work;
    if (mode == TESS_PY_PLAN) {
        tess_plan *plan;
        PyObject *context = tess_py_context_current(state);
        tess_py_begin_on(&work, context, tess_py_planning(&g->table, 0));
        status = tess_plan_lookup(&plan, work.handle, table, index, &g->result.array.tensor, &g->options);
        tess_py_end(&work);
        if (status == TESS_OK)
            answer = tess_py_plan_new(state, plan, entry->name, context, &g->table, &g->index, &g->result, tess_py_given(out), true);
        Py_DECREF(context);
    } else {
        /* a strategy that prepares the table looks at all of it */
        double elements =
            (double)tess_py_count(&g->result.array.tensor) + (is_integer(g->index.type) || g->options.positions ? 0 : (double)tess_py_count(table));
        tess_py_begin(state, &work, elements);
        status = tess_lookup(work.handle, table, index, &g->result.array.tensor, &g->options);
        if (status == TESS_ERR_INDEX && g->negative && index->device.device_type == kDLCPU && axis >= 0 && axis < table->ndim)
            status = take_negative(g, work.handle);
        tess_py_end(&work);
        if (status == TESS_OK && tess_py_call_finish(&g->call))
            return tess_py_result_take(state, &g->result);
    }
    if (status == TESS_ERR_EMPTY && mode == TESS_PY_RUN && !PyErr_Occurred())
        PyErr_SetString(PyExc_IndexError, tess_detail());
    else if (status != TESS_OK)
        tess_py_raise(state, status);
    tess_py_result_drop(&g->result);
    return answer;
}

/* The elements as one axis: the view itself where they lie in order, else a copy. */
static bool flatten(tess_py_state *state, tess_py_array *array, const char *name) {
    DLTensor *tensor = &array->tensor;
    int64_t count = tess_py_count(tensor);
    if (!tess_py_is_compact(tensor)) {
        int perm[TESS_MAX_NDIM];
        const tess_transpose_options options = {.struct_size = sizeof options, .perm = perm, .nperm = tensor->ndim};
        for (int d = 0; d < tensor->ndim; d++)
            perm[d] = d;
        if (tensor->device.device_type != kDLCPU) {
            PyErr_Format(PyExc_TypeError, "%s lies on a device and has gaps: name an axis", name);
            return false;
        }
        array->copy = malloc((size_t)count * tess_type_size(array->type)); /* there is none yet: that would be compact */
        if (!array->copy) {
            PyErr_NoMemory();
            return false;
        }
        const DLTensor out = tess_view(array->copy, array->type, tensor->ndim, tensor->shape, NULL);
        tess_py_work work;
        tess_py_begin(state, &work, (double)count);
        tess_status status = tess_transpose(work.handle, tensor, &out, &options);
        tess_py_end(&work);
        if (status != TESS_OK) {
            tess_py_raise(state, status);
            return false;
        }
        tensor->data = array->copy;
        tensor->byte_offset = 0;
    }
    array->shape[0] = count;
    tensor->ndim = 1;
    tensor->shape = array->shape;
    tensor->strides = NULL;
    return true;
}

static PyObject *gather_call(tess_py_state *state, gather *g, const tess_py_entry *entry, PyObject *table, PyObject *index, const char *table_name,
                             const char *index_name, PyObject *dtype, PyObject *out, PyObject *strategy, PyObject *report, tess_py_mode mode) {
    if (!tess_py_acquire(state, &g->table, table, table_name))
        return NULL;
    PyObject *answer = NULL;
    if ((!g->flat || flatten(state, &g->table, table_name)) && tess_py_acquire(state, &g->index, index, index_name)) {
        answer = gather_run(state, g, entry, dtype, out, strategy, report, mode);
        tess_py_release(&g->index);
    }
    tess_py_release(&g->table);
    return answer;
}

PyObject *tess_py_lookup(tess_py_state *state, const tess_py_entry *entry, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                         tess_py_mode mode) {
    enum { TABLE, INDEX, AXIS, OUTSIDE, FILL, INTERPOLATION, POSITIONS, DTYPE, OUT, STRATEGY, REPORT, COUNT };
    static const unsigned char parameters[] = {N_table,     N_index, N_axis, N_outside,  N_fill,  N_interpolation,
                                               N_positions, N_dtype, N_out,  N_strategy, N_report};
    static const char *const outside[] = {"error", "clip", "wrap", "fill", NULL}, *const ways[] = {"none", "nearest", "linear", "cubic", NULL};
    const tess_py_signature signature = {entry->name, parameters, COUNT, 2, 2};
    PyObject *values[COUNT], *answer;
    gather g;
    g.options = (tess_lookup_options){.struct_size = sizeof g.options};
    int outside_word = 0, way = 0;
    if (!tess_py_arguments(state, &signature, args, nargs, kwnames, values) || !read_axis(state, &g, values[AXIS]) ||
        (tess_py_given(values[OUTSIDE]) && !tess_py_word(values[OUTSIDE], "outside", outside, &outside_word)) ||
        (tess_py_given(values[FILL]) && !tess_py_double(values[FILL], "fill", &g.options.fill)) ||
        (tess_py_given(values[INTERPOLATION]) && !tess_py_word(values[INTERPOLATION], "interpolation", ways, &way)))
        return NULL;
    g.options.outside = (tess_outside)outside_word;
    g.options.interpolation = (tess_interpolation)way;
    g.integers_only = g.negative = g.flat = false;
    if (tess_py_given(values[POSITIONS])) {
        if (!tess_py_acquire(state, &g.positions, values[POSITIONS], "positions"))
            return NULL;
        g.options.positions = &g.positions.tensor;
    }
    answer = gather_call(state, &g, entry, values[TABLE], values[INDEX], "table", "index", values[DTYPE], values[OUT], values[STRATEGY],
                         values[REPORT], mode);
    if (g.options.positions)
        tess_py_release(&g.positions);
    return answer;
}

PyObject *tess_py_take(tess_py_state *state, const tess_py_entry *entry, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                       tess_py_mode mode) {
    enum { X, INDICES, AXIS, OUT, MODE, FILL, STRATEGY, REPORT, COUNT };
    static const unsigned char parameters[] = {N_x, N_indices, N_axis, N_out, N_mode, N_fill, N_strategy, N_report};
    static const char *const modes[] = {"raise", "clip", "wrap", "fill", NULL};
    const tess_py_signature signature = {entry->name, parameters, COUNT, 2, 3};
    PyObject *values[COUNT], *answer;
    gather g;
    g.options = (tess_lookup_options){.struct_size = sizeof g.options};
    int word = 0;
    if (!tess_py_arguments(state, &signature, args, nargs, kwnames, values) || !read_axis(state, &g, values[AXIS]) ||
        (tess_py_given(values[MODE]) && !tess_py_word(values[MODE], "mode", modes, &word)) ||
        (tess_py_given(values[FILL]) && !tess_py_double(values[FILL], "fill", &g.options.fill)))
        return NULL;
    g.options.outside = (tess_outside)word;
    g.integers_only = true;
    g.negative = word == 0;
    g.flat = !tess_py_given(values[AXIS]); /* as NumPy */
    PyObject *x = Py_NewRef(values[X]);
    if (g.flat) {
        PyObject *flat = PyObject_CallMethod(state->helpers, "flattened", "O", x);
        Py_DECREF(x);
        if (!flat)
            return NULL;
        x = flat;
    }
    answer = gather_call(state, &g, entry, x, values[INDICES], "x", "indices", NULL, values[OUT], values[STRATEGY], values[REPORT], mode);
    Py_DECREF(x);
    return answer;
}
