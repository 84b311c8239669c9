/* SPDX-License-Identifier: Apache-2.0
 * dtype.c - element types as Python names them, and the type of a result. */
#include <string.h>

#include "module.h"

static const char *const numpy_names[TESS_PY_TYPES] = {"?",      "bool",  "uint8",   "int8",     "uint16",  "int16",   "uint32",    "int32",
                                                       "uint64", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"};

const char *tess_py_dtype_name(tess_type type) { return numpy_names[type]; }

/* Other spellings: Python's classes, and NumPy's names of scalar classes. */
static const struct {
    const char *name;
    tess_type type;
} spellings[] = {{"float", tess_f64}, {"int", tess_i64}, {"complex", tess_c128}, {"bool_", tess_bool}, {"half", tess_f16}, {"double", tess_f64}};

static tess_type type_named(const char *name) {
    const char *dot = strrchr(name, '.'); /* "torch.float32" */
    if (dot)
        name = dot + 1;
    for (int t = 1; t < TESS_PY_TYPES; t++)
        if (strcmp(name, numpy_names[t]) == 0)
            return (tess_type)t;
    for (size_t k = 0; k < sizeof spellings / sizeof *spellings; k++)
        if (strcmp(name, spellings[k].name) == 0)
            return spellings[k].type;
    return tess_no_type; /* Tessera's short names are not taken: "u8" is uint64 to NumPy, which is asked next */
}

/* What NumPy takes for a type beside: "f4", "<f4", "single", numpy.longlong. */
static tess_type type_of_numpy(tess_py_state *state, PyObject *object) {
    PyObject *text = PyObject_CallMethod(state->helpers, "dtype_name", "O", object);
    const char *name = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    tess_type type = name ? type_named(name) : tess_no_type;
    Py_XDECREF(text);
    return type;
}

tess_type tess_py_dtype(tess_py_state *state, PyObject *object) {
    PyObject *text = NULL;
    if (PyUnicode_Check(object)) {
        text = Py_NewRef(object);
    } else {
        text = PyObject_GetAttr(object, state->names[N_name]); /* numpy.dtype */
        if (!text || !PyUnicode_Check(text)) {
            PyErr_Clear();
            Py_XDECREF(text);
            text =
                PyType_Check(object) ? PyObject_GetAttr(object, state->names[N___name__]) : PyObject_Str(object); /* numpy.float32, torch.float32 */
        }
    }
    const char *name = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    tess_type type = name ? type_named(name) : tess_no_type;
    if (name && type == tess_no_type)
        type = type_of_numpy(state, object);
    if (name && type == tess_no_type && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError,
                     "dtype %R is none of Tessera's: bool, (u)int8 .. 64, float16, bfloat16, float32, float64, complex64, complex128", object);
    Py_XDECREF(text);
    return type;
}

enum { BOOLEAN, UNSIGNED, SIGNED, REAL, COMPLEX };
static int category(tess_type type) {
    if (type == tess_bool)
        return BOOLEAN;
    if (type >= tess_c64)
        return COMPLEX;
    if (type >= tess_f16)
        return REAL;
    return type == tess_u8 || type == tess_u16 || type == tess_u32 || type == tess_u64 ? UNSIGNED : SIGNED;
}

/* The array API's promotion, with NumPy's answers for integers beside floats; uint64 beside a signed type stays an integer (int64), as the
 * library computes it. */
tess_type tess_py_promote(tess_type a, tess_type b) {
    if (a == b)
        return a;
    int ca = category(a), cb = category(b);
    if (ca > cb)
        return tess_py_promote(b, a);
    size_t size_a = tess_type_size(a), size_b = tess_type_size(b);
    if (ca == BOOLEAN)
        return b;
    if (ca == cb) {
        if (size_a == size_b) /* float16 and bfloat16 */
            return tess_f32;
        return size_a > size_b ? a : b;
    }
    if (cb == SIGNED) {
        static const tess_type wider[] = {[1] = tess_i16, [2] = tess_i32, [4] = tess_i64, [8] = tess_i64};
        return size_b > size_a ? b : wider[size_a];
    }
    if (cb == REAL) {
        if (size_a >= 4)
            return tess_f64;
        return size_a == 2 && size_b == 2 ? tess_f32 : b;
    }
    bool wide = ca == REAL ? a == tess_f64 : size_a >= 4;
    return wide ? tess_c128 : b;
}
