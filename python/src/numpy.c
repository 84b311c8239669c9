/* SPDX-License-Identifier: Apache-2.0
 * numpy.c - NumPy's own arrays, read and made as compiled extensions do it.
 *
 * The buffer protocol takes 90 ns to show an array, numpy.empty and the buffer of what it made 200: together half of what a small call cost above C. The
 * head of an array's structure and the places of functions in the table that NumPy hands to extensions are its binary interface, the same in every
 * version 1 since 1.7 and in 2. Where the table says that it is another one, the ways that need none of this remain. */
#include "module.h"

/* The head of PyArrayObject_fields (numpy/ndarraytypes.h). */
typedef struct ndarray {
    PyObject ob_base;
    char *data;
    int ndim;
    Py_ssize_t *shape, *strides; /* strides in bytes */
    PyObject *base, *dtype;
    int flags;
} ndarray;

enum { WRITEABLE = 0x0400, WARN_ON_WRITE = (int)0x80000000 };      /* of its flags */
enum { VERSION = 0, ARRAY = 2, SCALAR = 60, NEW_FROM_DESCR = 94 }; /* places in the table (numpy/__multiarray_api.h) */

typedef unsigned version_function(void);
typedef PyObject *scalar_function(void *element, PyObject *dtype, PyObject *base);
typedef PyObject *new_function(PyObject *type, PyObject *dtype, int ndim, const Py_ssize_t *shape, const Py_ssize_t *strides, void *data, int flags,
                               PyObject *like); /* takes a reference of the dtype over */

/* The table, or NULL without an error: another NumPy than is known here. */
static void *const *find_table(void) {
    PyObject *module = PyImport_ImportModule("numpy._core.multiarray");
    if (!module) { /* before 2.0 */
        PyErr_Clear();
        module = PyImport_ImportModule("numpy.core.multiarray");
    }
    PyObject *capsule = module ? PyObject_GetAttrString(module, "_ARRAY_API") : NULL;
    void *const *table = capsule ? PyCapsule_GetPointer(capsule, NULL) : NULL; /* lives as long as NumPy, which is never unloaded */
    Py_XDECREF(capsule);
    Py_XDECREF(module);
    PyErr_Clear();
    const unsigned version = table ? ((version_function *)table[VERSION])() : 0;
    return version == 0x01000009 || version == 0x02000000 ? table : NULL;
}

/* Takes the reference over. Looking it up ran Python code, so another thread may have been here meanwhile: the first stays, others may be using it. */
static void keep(PyObject **place, PyObject *found) {
    if (*place)
        Py_DECREF(found);
    else
        *place = found;
}

bool tess_py_find_numpy(tess_py_state *state, tess_type type) {
    if (!state->numpy_empty) { /* NumPy is loaded already, an array of its own came in */
        PyObject *numpy = PyImport_ImportModule("numpy");
        PyObject *empty = numpy ? PyObject_GetAttrString(numpy, "empty") : NULL;
        Py_XDECREF(numpy);
        if (!empty)
            return false;
        state->numpy_table = find_table();
        keep(&state->numpy_empty, empty);
    }
    if (!state->numpy_dtypes[type]) {
        PyObject *dtype = PyObject_CallMethod(state->helpers, "numpy_dtype", "s", tess_py_dtype_name(type));
        PyObject *scalar = dtype ? PyObject_GetAttrString(dtype, "type") : NULL;
        if (!scalar) {
            Py_XDECREF(dtype);
            return false;
        }
        keep(&state->numpy_scalars[type], scalar);
        keep(&state->numpy_dtypes[type], dtype);
    }
    return true;
}

static tess_type type_of(const tess_py_state *state, const PyObject *dtype) {
    for (int t = 1; t < TESS_PY_TYPES; t++)
        if (dtype == state->numpy_dtypes[t])
            return (tess_type)t;
    return tess_no_type;
}

bool tess_py_numpy_view(const tess_py_state *state, tess_py_array *array, PyObject *object) {
    const ndarray *seen = (const ndarray *)object;
    if (!state->numpy_table || Py_TYPE(object) != (PyTypeObject *)state->numpy_table[ARRAY])
        return false;
    const tess_type type = type_of(state, seen->dtype);
    const int64_t width = type ? (int64_t)tess_type_size(type) : 1;
    if (type == tess_no_type || seen->ndim > TESS_MAX_NDIM)
        return false;
    for (int d = 0; d < seen->ndim; d++) {
        if (seen->strides[d] % width)
            return false;
        array->shape[d] = seen->shape[d];
        array->strides[d] = seen->strides[d] / width;
    }
    array->kind = (tess_py_kind){.family = TESS_PY_NUMPY};
    array->type = type;
    array->tensor = tess_view(seen->data, type, seen->ndim, array->shape, array->strides);
    array->readonly = (seen->flags & (WRITEABLE | WARN_ON_WRITE)) != WRITEABLE;
    array->object = Py_NewRef(object);
    return true;
}

PyObject *tess_py_numpy_new(tess_py_state *state, Py_buffer *buffer, tess_type type, int ndim, const int64_t *shape, void **data) {
    if (!tess_py_find_numpy(state, type))
        return NULL;
    if (state->numpy_table) {
        Py_ssize_t sizes[TESS_MAX_NDIM];
        for (int d = 0; d < ndim; d++)
            sizes[d] = (Py_ssize_t)shape[d];
        new_function *make = (new_function *)state->numpy_table[NEW_FROM_DESCR];
        PyObject *made = make(state->numpy_table[ARRAY], Py_NewRef(state->numpy_dtypes[type]), ndim, sizes, NULL, NULL, 0, NULL);
        *data = made ? ((ndarray *)made)->data : NULL;
        return made;
    }
    PyObject *sizes = tess_py_shape(ndim, shape);
    PyObject *made = sizes ? PyObject_CallFunctionObjArgs(state->numpy_empty, sizes, state->numpy_dtypes[type], NULL) : NULL;
    Py_XDECREF(sizes);
    if (made && PyObject_GetBuffer(made, buffer, PyBUF_WRITABLE) < 0)
        Py_CLEAR(made);
    *data = made ? buffer->buf : NULL;
    return made;
}

PyObject *tess_py_numpy_number(tess_py_state *state, tess_type type, void *element) {
    if (!tess_py_find_numpy(state, type))
        return NULL;
    if (state->numpy_table)
        return ((scalar_function *)state->numpy_table[SCALAR])(element, state->numpy_dtypes[type], NULL);
    PyObject *number = tess_py_number(type, element);
    PyObject *made = number ? PyObject_CallFunctionObjArgs(state->numpy_scalars[type], number, NULL) : NULL;
    Py_XDECREF(number);
    return made;
}
