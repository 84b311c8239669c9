/* SPDX-License-Identifier: Apache-2.0
 * arguments.c - a call's arguments, sorted by name and read one by one. */
#include <string.h>

#include "module.h"

static const char *const name_texts[N_COUNT] = {
#define TESS_PY_TEXT(name) #name,
    TESS_PY_NAMES(TESS_PY_TEXT)
#undef TESS_PY_TEXT
};

static bool place(tess_py_state *state, const tess_py_signature *signature, PyObject *word, PyObject *value, PyObject **values) {
    for (int pass = 0; pass < 2; pass++) /* words of a call are interned nearly always: their addresses tell */
        for (int p = 0; p < signature->count; p++) {
            int name = signature->parameters[p];
            if (pass == 0 ? word != state->names[name] : PyUnicode_CompareWithASCIIString(word, name_texts[name]) != 0)
                continue;
            if (values[p]) {
                PyErr_Format(PyExc_TypeError, "%s() got the argument '%s' twice", signature->function, name_texts[name]);
                return false;
            }
            values[p] = value;
            return true;
        }
    PyErr_Format(PyExc_TypeError, "%s() has no argument '%U'", signature->function, word);
    return false;
}

bool tess_py_arguments(tess_py_state *state, const tess_py_signature *signature, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                       PyObject **values) {
    memset(values, 0, (size_t)signature->count * sizeof *values);
    if (nargs > signature->positional) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %d arguments by position (%zd given)", signature->function, signature->positional, nargs);
        return false;
    }
    for (Py_ssize_t k = 0; k < nargs; k++)
        values[k] = args[k];
    Py_ssize_t words = kwnames ? PyTuple_Size(kwnames) : 0;
    for (Py_ssize_t k = 0; k < words; k++)
        if (!place(state, signature, PyTuple_GetItem(kwnames, k), args[nargs + k], values))
            return false;
    for (int p = 0; p < signature->required; p++)
        if (!values[p]) {
            PyErr_Format(PyExc_TypeError, "%s() needs the argument '%s'", signature->function, name_texts[signature->parameters[p]]);
            return false;
        }
    return true;
}

/* An integer's value; `beyond` is raised where it does not fit 64 bits. */
static long long integer(PyObject *number, const char *name, int place, PyObject *beyond) {
    int overflow = 0;
    long long got = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (overflow)
        PyErr_Format(beyond, "%s[%d] is an integer of more than 64 bits", name, place);
    return got;
}

static int ints_of(PyObject *value, const char *name, int64_t *ints, int limit, PyObject *beyond) {
    if (PyIndex_Check(value)) { /* 0-d arrays too */
        PyObject *number = PyNumber_Index(value);
        long long got = number ? integer(number, name, 0, beyond) : -1;
        Py_XDECREF(number);
        if (PyErr_Occurred()) {
            if (number || !PyErr_ExceptionMatches(PyExc_TypeError)) /* an array of several elements is no integer, but a sequence */
                return -1;
            PyErr_Clear();
        } else {
            ints[0] = got;
            return 1;
        }
    }
    PyObject *list = PySequence_Tuple(value);
    if (!list) {
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError, "%s is neither an integer nor a sequence of integers", name);
        return -1;
    }
    Py_ssize_t count = PyTuple_Size(list);
    if (count > limit) {
        PyErr_Format(PyExc_ValueError, "%s has %zd entries, the limit is %d", name, count, limit);
        count = -1;
    }
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject *number = PyNumber_Index(PyTuple_GetItem(list, k));
        ints[k] = number ? integer(number, name, (int)k, beyond) : -1;
        Py_XDECREF(number);
        if (PyErr_Occurred()) {
            if (!number && PyErr_ExceptionMatches(PyExc_TypeError))
                PyErr_Format(PyExc_TypeError, "%s is neither an integer nor a sequence of integers", name);
            count = -1;
        }
    }
    Py_DECREF(list);
    return (int)count;
}

int tess_py_ints(PyObject *value, const char *name, int64_t *ints, int limit) { return ints_of(value, name, ints, limit, PyExc_ValueError); }

int tess_py_axes(tess_py_state *state, PyObject *value, const char *name, int *axes) {
    int64_t wide[TESS_MAX_NDIM];
    int count = ints_of(value, name, wide, TESS_MAX_NDIM, state->axis_error);
    for (int k = 0; k < count; k++) {
        if (wide[k] < INT32_MIN || wide[k] > INT32_MAX) {
            PyErr_Format(state->axis_error, "%s[%d] is %lld, an array has at most %d axes", name, k, (long long)wide[k], TESS_MAX_NDIM);
            return -1;
        }
        axes[k] = (int)wide[k];
    }
    return count;
}

const char *tess_py_text(PyObject *value, const char *name) {
    if (!PyUnicode_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s is %R, a str is needed", name, value);
        return NULL;
    }
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(value, &length);
    if (text && strlen(text) != (size_t)length) {
        PyErr_Format(PyExc_ValueError, "%s is %R, which has a null character in it", name, value);
        return NULL;
    }
    return text;
}

bool tess_py_word(PyObject *value, const char *name, const char *const *words, int *index) {
    if (PyUnicode_Check(value))
        for (int k = 0; words[k]; k++)
            if (PyUnicode_CompareWithASCIIString(value, words[k]) == 0) {
                *index = k;
                return true;
            }
    char list[160] = "";
    for (int k = 0; words[k]; k++) {
        strncat(list, k ? ", " : "", sizeof list - strlen(list) - 1);
        strncat(list, words[k], sizeof list - strlen(list) - 1);
    }
    PyErr_Format(PyExc_ValueError, "%s is %R, it is one of: %s", name, value, list);
    return false;
}

bool tess_py_double(PyObject *value, const char *name, double *number) {
    *number = PyFloat_AsDouble(value);
    if (*number != -1.0 || !PyErr_Occurred())
        return true;
    if (PyErr_ExceptionMatches(PyExc_TypeError)) /* another one is the value's own, or Ctrl-C */
        PyErr_Format(PyExc_TypeError, "%s is %R, a real number is needed", name, value);
    else if (PyLong_Check(value) && PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_Format(PyExc_ValueError, "%s is an integer beyond what a float64 holds", name);
    return false;
}

bool tess_py_flag(PyObject *value, bool *flag) {
    int yes = PyObject_IsTrue(value);
    *flag = yes > 0;
    return yes >= 0;
}
