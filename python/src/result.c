/* SPDX-License-Identifier: Apache-2.0
 * result.c - where a call writes, and what the caller gets: the kind of array that came in.
 *
 * NumPy's are made by numpy.c. A library with DLPack's C table allocates through it. The others get a
 * tessera.Array handed over by DLPack, and for a device beyond the CPU an array of their own making. */
#include <math.h>
#include <string.h>

#include "module.h"

PyObject *tess_py_shape(int ndim, const int64_t *shape) {
    PyObject *tuple = PyTuple_New(ndim);
    for (int d = 0; tuple && d < ndim; d++) {
        PyObject *size = PyLong_FromLongLong(shape[d]);
        if (!size || PyTuple_SetItem(tuple, d, size) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

static void describe(tess_py_array *array, tess_type type, int ndim, const int64_t *shape, DLDevice device) {
    array->type = type;
    array->tensor = tess_view(NULL, type, ndim, array->shape, NULL);
    array->tensor.device = device;
    if (ndim > 0)
        memcpy(array->shape, shape, (size_t)ndim * sizeof *shape);
}

static bool make_numpy(tess_py_state *state, tess_py_result *result, tess_type type, int ndim, const int64_t *shape) {
    void *data;
    result->object = tess_py_numpy_new(state, &result->array.buffer, type, ndim, shape, &data);
    describe(&result->array, type, ndim, shape, (DLDevice){kDLCPU, 0}); /* compact, as it was asked for */
    result->array.tensor.data = data;
    return result->object != NULL;
}

static void exchange_error(void *unused, const char *kind, const char *text) {
    (void)unused;
    PyErr_Format(PyExc_RuntimeError, "%s: %s", kind, text);
}

static bool make_exchanged(tess_py_result *result, const tess_py_array *like, tess_type type, int ndim, const int64_t *shape) {
    const DLPackExchangeAPI *exchange = like->kind.exchange;
    DLManagedTensorVersioned *made = NULL;
    void *object = NULL;
    tess_py_array *array = &result->array;
    describe(array, type, ndim, shape, like->tensor.device);
    if (exchange->allocate(&array->tensor, &made, NULL, exchange_error) != 0 || !made) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_RuntimeError, "the array library could not allocate the result");
        return false;
    }
    array->tensor.data = tess_py_first(&made->dl_tensor); /* compact, as the prototype */
    if (exchange->managed_to_object(made, &object) != 0)
        return false;
    result->object = object;
    return true;
}

static bool make_own(tess_py_state *state, tess_py_result *result, tess_type type, int ndim, const int64_t *shape) {
    DLTensor *tensor;
    result->object = tess_py_array_new(state, type, ndim, shape, &tensor);
    if (!result->object)
        return false;
    result->array.type = type;
    result->array.tensor = *tensor;
    return true;
}

static bool make_on_device(tess_py_state *state, tess_py_result *result, const tess_py_array *like, tess_type type, int ndim, const int64_t *shape) {
    PyObject *sizes = tess_py_shape(ndim, shape);
    PyObject *made = sizes ? PyObject_CallMethod(state->helpers, "empty_like", "OOs", like->object, sizes, tess_py_dtype_name(type)) : NULL;
    Py_XDECREF(sizes);
    if (!made)
        return false;
    if (made == Py_None) {
        Py_DECREF(made);
        PyErr_Format(PyExc_TypeError, "out is needed: x lives on a device, and Tessera cannot make arrays of %R there",
                     (PyObject *)Py_TYPE(like->object));
        return false;
    }
    result->object = made;
    return tess_py_acquire(state, &result->array, made, "out");
}

bool tess_py_result_make(tess_py_state *state, tess_py_result *result, PyObject *out, const tess_py_array *like, tess_type type, int ndim,
                         const int64_t *shape, bool scalar, bool with_data) {
    memset(&result->array, 0, offsetof(tess_py_array, shape));
    result->object = result->like = NULL;
    if (tess_py_given(out)) {
        if (!tess_py_acquire_out(state, &result->array, out, "out"))
            return false;
        result->object = Py_NewRef(out);
        return true;
    }
    result->array.kind = like->kind;
    result->like = like->object;
    bool on_cpu = like->tensor.device.device_type == kDLCPU;
    tess_py_family family = like->kind.family;
    bool done = true;
    if (!with_data || (scalar && ndim == 0 && on_cpu && (family == TESS_PY_PLAIN || family == TESS_PY_NUMPY))) {
        describe(&result->array, type, ndim, shape, like->tensor.device);
        result->array.tensor.data = with_data ? result->scalar : NULL;
    } else if (like->kind.exchange) {
        done = make_exchanged(result, like, type, ndim, shape);
    } else if (!on_cpu) {
        done = make_on_device(state, result, like, type, ndim, shape);
    } else if (family == TESS_PY_NUMPY) {
        done = make_numpy(state, result, type, ndim, shape);
    } else {
        done = make_own(state, result, type, ndim, shape);
    }
    if (!done)
        tess_py_result_drop(result);
    return done;
}

/* ---- Numbers --------------------------------------------------------------------------------------------------- */

static double half_value(uint16_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double magnitude = exponent == 31 ? (fraction ? NAN : INFINITY) : exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return bits & 0x8000 ? -magnitude : magnitude;
}

static double brain_value(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

PyObject *tess_py_number(tess_type type, const void *element) {
    union {
        uint8_t u8;
        int8_t i8;
        uint16_t u16;
        int16_t i16;
        uint32_t u32;
        int32_t i32;
        uint64_t u64;
        int64_t i64;
        float f32[2];
        double f64[2];
    } v;
    memcpy(&v, element, tess_type_size(type));
    switch (type) {
    case tess_bool: return PyBool_FromLong(v.u8 != 0);
    case tess_u8: return PyLong_FromLong(v.u8);
    case tess_i8: return PyLong_FromLong(v.i8);
    case tess_u16: return PyLong_FromLong(v.u16);
    case tess_i16: return PyLong_FromLong(v.i16);
    case tess_u32: return PyLong_FromUnsignedLong(v.u32);
    case tess_i32: return PyLong_FromLong(v.i32);
    case tess_u64: return PyLong_FromUnsignedLongLong(v.u64);
    case tess_i64: return PyLong_FromLongLong(v.i64);
    case tess_f16: return PyFloat_FromDouble(half_value(v.u16));
    case tess_bf16: return PyFloat_FromDouble(brain_value(v.u16));
    case tess_f32: return PyFloat_FromDouble((double)v.f32[0]);
    case tess_f64: return PyFloat_FromDouble(v.f64[0]);
    case tess_c64: return PyComplex_FromDoubles((double)v.f32[0], (double)v.f32[1]);
    case tess_c128: return PyComplex_FromDoubles(v.f64[0], v.f64[1]);
    default: break;
    }
    PyErr_SetString(PyExc_RuntimeError, "an element type without a number");
    return NULL;
}

/* ---- Handing over ---------------------------------------------------------------------------------------------- */

PyObject *tess_py_result_take(tess_py_state *state, tess_py_result *result) {
    PyObject *given = NULL;
    tess_py_kind kind = result->array.kind;
    if (!result->object) {
        given = kind.family == TESS_PY_NUMPY ? tess_py_numpy_number(state, result->array.type, result->scalar)
                                             : tess_py_number(result->array.type, result->scalar);
    } else if ((PyObject *)Py_TYPE(result->object) == state->array_type && kind.family != TESS_PY_PLAIN) {
        static const char *const names[] = {"", "numpy", "torch", "jax", "cupy", "other"};
        given = PyObject_CallMethod(state->helpers, "adopt", "OsO", result->object, names[kind.family], result->like ? result->like : Py_None);
    } else {
        given = Py_NewRef(result->object);
    }
    tess_py_result_drop(result);
    return given;
}

void tess_py_result_drop(tess_py_result *result) {
    tess_py_release(&result->array);
    Py_CLEAR(result->object);
}
