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
    bool left_given, right_given; /* for doubles at positions: what stands before the first and behind the last */
    double left, right;
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

/* Index and result are compact doubles, and the table is a line of them. */
static void put_ends(const gather *g) {
    const double *x = tess_py_first(&g->index.tensor), *position = tess_py_first(&g->positions.tensor);
    const DLTensor *positions = &g->positions.tensor;
    const double low = position[0], high = position[(positions->shape[0] - 1) * (positions->strides ? positions->strides[0] : 1)];
    double *result = tess_py_first(&g->result.array.tensor);
    const int64_t count = tess_py_count(&g->index.tensor);
    for (int64_t i = 0; g->left_given && i < count; i++)
        result[i] = x[i] < low ? g->left : result[i];
    for (int64_t i = 0; g->right_given && i < count; i++)
        result[i] = x[i] > high ? g->right : result[i];
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
        if (status == TESS_OK && (g->left_given || g->right_given))
            put_ends(g);
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

bool tess_py_copy(tess_py_state *state, tess_py_array *array) {
    DLTensor *tensor = &array->tensor;
    const int64_t count = tess_py_count(tensor);
    int perm[TESS_MAX_NDIM];
    const tess_transpose_options options = {.struct_size = sizeof options, .perm = perm, .nperm = tensor->ndim};
    for (int d = 0; d < tensor->ndim; d++)
        perm[d] = d;
    array->copy = malloc(count > 0 ? (size_t)count * tess_type_size(array->type) : 1);
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
    tensor->strides = NULL;
    return true;
}

/* The elements as one axis: the view itself where they lie in order, else a copy. */
static bool flatten(tess_py_state *state, tess_py_array *array, const char *name) {
    DLTensor *tensor = &array->tensor;
    int64_t count = tess_py_count(tensor);
    if (!tess_py_is_compact(tensor)) { /* nor is there a copy yet */
        if (tensor->device.device_type != kDLCPU) {
            PyErr_Format(PyExc_TypeError, "%s lies on a device and has gaps: name an axis", name);
            return false;
        }
        if (!tess_py_copy(state, array))
            return false;
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
    PyObject *answer = NULL, *flat = NULL;
    if (g->flat && g->table.tensor.device.device_type != kDLCPU && !tess_py_is_compact(&g->table.tensor)) { /* its own library can do that */
        tess_py_release(&g->table);
        flat = PyObject_CallMethod(state->helpers, "flattened", "O", table);
        if (!flat || !tess_py_acquire(state, &g->table, flat, table_name)) {
            Py_XDECREF(flat);
            return NULL;
        }
    }
    if ((!g->flat || flatten(state, &g->table, table_name)) && tess_py_acquire(state, &g->index, index, index_name)) {
        answer = gather_run(state, g, entry, dtype, out, strategy, report, mode);
        tess_py_release(&g->index);
    }
    tess_py_release(&g->table);
    Py_XDECREF(flat);
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
    g.integers_only = g.negative = g.flat = g.left_given = g.right_given = false;
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

/* An array of NumPy's with elements of float64, or where allowed complex128; -1: an error is set. */
static int acquire_double(tess_py_state *state, tess_py_array *array, PyObject *object, const char *name, bool complex_too) {
    if (!PyObject_CheckBuffer(object)) /* a list */
        return 0;
    if (!tess_py_acquire(state, array, object, name))
        return PyErr_ExceptionMatches(PyExc_TypeError) ? (PyErr_Clear(), 0) : -1; /* of another byte order, of objects, dates, ... */
    if (array->kind.family == TESS_PY_NUMPY && !array->kind.masked && (array->type == tess_f64 || (complex_too && array->type == tess_c128)))
        return 1;
    tess_py_release(array);
    return 0;
}

PyObject *tess_py_interp(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    static const tess_py_entry entry = {"interp", tess_py_lookup, 0};
    tess_py_state *state = tess_py_state_of(module);
    PyObject *answer = NULL;
    gather g;
    if (nargs != 5) {
        PyErr_SetString(PyExc_TypeError, "_interp takes x, xp, fp, left and right");
        return NULL;
    }
    g.left_given = args[3] != Py_None;
    g.right_given = args[4] != Py_None;
    const bool ends = g.left_given || g.right_given;
    if ((g.left_given && !PyFloat_Check(args[3]) && !PyLong_Check(args[3])) || (g.right_given && !PyFloat_Check(args[4]) && !PyLong_Check(args[4])))
        return Py_NewRef(Py_NotImplemented);
    g.left = g.left_given ? PyFloat_AsDouble(args[3]) : 0;
    g.right = g.right_given ? PyFloat_AsDouble(args[4]) : 0;
    if (PyErr_Occurred()) /* an integer beyond all doubles */
        return NULL;
    g.options = (tess_lookup_options){.struct_size = sizeof g.options, .outside = TESS_OUTSIDE_CLIP, .positions = &g.positions.tensor};
    g.integers_only = g.negative = g.flat = false;
    int got = acquire_double(state, &g.index, args[0], "x", false);
    if (got == 1) {
        got = acquire_double(state, &g.positions, args[1], "xp", false);
        if (got == 1) {
            got = acquire_double(state, &g.table, args[2], "fp", !ends);
            if (got == 1) {
                const DLTensor *xp = &g.positions.tensor, *fp = &g.table.tensor;
                got = xp->ndim == 1 && fp->ndim > 0 && xp->shape[0] == fp->shape[0] && xp->shape[0] > 0 &&
                      (!ends || (fp->ndim == 1 && tess_py_is_compact(&g.index.tensor)));
                if (got)
                    answer = gather_run(state, &g, &entry, NULL, NULL, NULL, NULL, TESS_PY_RUN);
                tess_py_release(&g.table);
            }
            tess_py_release(&g.positions);
        }
        tess_py_release(&g.index);
    }
    return got == 0 ? Py_NewRef(Py_NotImplemented) : answer;
}

PyObject *tess_py_take(tess_py_state *state, const tess_py_entry *entry, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                       tess_py_mode mode) {
    enum { X, INDICES, AXIS, OUT, MODE, FILL, STRATEGY, REPORT, COUNT };
    static const unsigned char parameters[] = {N_x, N_indices, N_axis, N_out, N_mode, N_fill, N_strategy, N_report};
    static const char *const modes[] = {"raise", "clip", "wrap", "fill", NULL};
    const tess_py_signature signature = {entry->name, parameters, COUNT, 2, 3};
    PyObject *values[COUNT];
    gather g;
    g.options = (tess_lookup_options){.struct_size = sizeof g.options};
    int word = 0;
    if (!tess_py_arguments(state, &signature, args, nargs, kwnames, values) || !read_axis(state, &g, values[AXIS]) ||
        (tess_py_given(values[MODE]) && !tess_py_word(values[MODE], "mode", modes, &word)) ||
        (tess_py_given(values[FILL]) && !tess_py_double(values[FILL], "fill", &g.options.fill)))
        return NULL;
    g.options.outside = (tess_outside)word;
    g.integers_only = true;
    g.left_given = g.right_given = false;
    g.negative = word == 0;
    g.flat = !tess_py_given(values[AXIS]); /* as NumPy */
    return gather_call(state, &g, entry, values[X], values[INDICES], "x", "indices", NULL, values[OUT], values[STRATEGY], values[REPORT], mode);
}
