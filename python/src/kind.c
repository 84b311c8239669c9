/* SPDX-License-Identifier: Apache-2.0
 * kind.c - which library an object belongs to, by its class and the bases of that; found once for a class. */
#include <string.h>

#include "module.h"

static const struct {
    const char *module, *name;
    tess_py_family family;
} families[] = {{"numpy", "ndarray", TESS_PY_NUMPY},  {"numpy", "generic", TESS_PY_NUMPY}, {"torch", "Tensor", TESS_PY_TORCH},
                {"jaxlib", "ArrayImpl", TESS_PY_JAX}, {"jax", "ArrayImpl", TESS_PY_JAX},   {"cupy", "ndarray", TESS_PY_CUPY}};

static bool module_is(const char *module, size_t length, const char *root) {
    size_t root_length = strlen(root);
    return length >= root_length && memcmp(module, root, root_length) == 0 && (length == root_length || module[root_length] == '.');
}

/* The class itself, or the first of its bases that is known. */
static bool find_kind(tess_py_state *state, PyObject *type, tess_py_kind *kind) {
    PyObject *mro = PyObject_GetAttr(type, state->names[N___mro__]);
    if (!mro)
        return false;
    kind->family = TESS_PY_PLAIN;
    bool found = false;
    Py_ssize_t bases = PyTuple_Size(mro);
    for (Py_ssize_t b = 0; b < bases && !found; b++) {
        PyObject *base = PyTuple_GetItem(mro, b);
        PyObject *module = PyObject_GetAttr(base, state->names[N___module__]), *name = PyObject_GetAttr(base, state->names[N___name__]);
        Py_ssize_t length = 0;
        const char *text = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8AndSize(module, &length) : NULL;
        if (text && name && module_is(text, (size_t)length, "numpy.ma") && PyUnicode_CompareWithASCIIString(name, "MaskedArray") == 0)
            kind->masked = true;
        if (text && name && module_is(text, (size_t)length, "numpy") &&
            (PyUnicode_CompareWithASCIIString(name, "datetime64") == 0 || PyUnicode_CompareWithASCIIString(name, "timedelta64") == 0))
            kind->date = true;
        for (size_t f = 0; text && name && f < sizeof families / sizeof *families && !found; f++)
            if (module_is(text, (size_t)length, families[f].module) && PyUnicode_CompareWithASCIIString(name, families[f].name) == 0) {
                kind->family = families[f].family;
                found = true;
            }
        Py_XDECREF(module);
        Py_XDECREF(name);
        PyErr_Clear();
    }
    Py_DECREF(mro);
    if (!found && PyObject_HasAttr(type, state->names[N___array_namespace__]))
        kind->family = TESS_PY_OTHER;
    PyObject *exchange = PyObject_GetAttr(type, state->names[N___dlpack_c_exchange_api__]);
    if (exchange && PyCapsule_IsValid(exchange, "dlpack_exchange_api")) {
        const DLPackExchangeAPI *table = PyCapsule_GetPointer(exchange, "dlpack_exchange_api");
        if (table && table->version.major == 1) /* static storage of the producer, by the protocol */
            kind->exchange = table;
    }
    Py_XDECREF(exchange);
    PyErr_Clear();
    return true;
}

bool tess_py_kind_of(tess_py_state *state, PyObject *object, tess_py_kind *kind) {
    enum { REMEMBERED = 256 }; /* classes are kept alive by the table, and a program may make any number of them */
    PyObject *type = (PyObject *)Py_TYPE(object);
    PyObject *known = PyDict_GetItemWithError(state->kinds, type);
    if (known) {
        memcpy(kind, PyBytes_AsString(known), sizeof *kind);
        return true;
    }
    memset(kind, 0, sizeof *kind);
    if (PyErr_Occurred() || !find_kind(state, type, kind))
        return false;
    if (PyDict_Size(state->kinds) >= REMEMBERED)
        return true;
    known = PyBytes_FromStringAndSize((const char *)kind, sizeof *kind);
    bool kept = known && PyDict_SetItem(state->kinds, type, known) == 0;
    Py_XDECREF(known);
    return kept;
}
