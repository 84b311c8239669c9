/* SPDX-License-Identifier: Apache-2.0
 * machine.c - what is asked about the machine and the library: devices, strategies, limits, threads, wisdom. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"

static bool is_json(PyObject *args, PyObject *words, const char *function, bool *json) {
    static char *names[] = {"format", NULL};
    const char *format = "text";
    (void)function;
    if (!PyArg_ParseTupleAndKeywords(args, words, "|s", names, &format))
        return false;
    *json = strcmp(format, "json") == 0;
    if (*json || strcmp(format, "text") == 0)
        return true;
    PyErr_Format(PyExc_ValueError, "format is '%s', it is one of: text, json", format);
    return false;
}

static PyObject *devices(PyObject *module, PyObject *args, PyObject *words) {
    tess_py_state *state = tess_py_state_of(module);
    bool json;
    if (!is_json(args, words, "devices", &json))
        return NULL;
    size_t length = 0, capacity = 0;
    char *text = NULL;
    tess_status status = TESS_ERR_SIZE;
    tess_py_work work;
    tess_py_begin(state, &work, 1e9); /* drivers may be loaded */
    for (int round = 0; round < 3 && status == TESS_ERR_SIZE; round++) {
        status = tess_devices(work.handle, json ? TESS_JSON : TESS_TEXT, text, capacity, &length);
        if (status == TESS_ERR_SIZE || !text) {
            free(text);
            capacity = length + 1;
            text = malloc(capacity);
            status = text ? TESS_ERR_SIZE : TESS_ERR_MEMORY;
        }
    }
    tess_py_end(&work);
    PyObject *answer = status != TESS_OK ? tess_py_raise(state, status)
                       : json            ? PyObject_CallMethod(state->helpers, "from_json", "s", text)
                                         : PyUnicode_FromString(text);
    free(text);
    return answer;
}

static PyObject *strategies(PyObject *module, PyObject *args, PyObject *words) {
    static char *names[] = {"operation", NULL};
    const char *operation = NULL;
    tess_strategy_info info;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, words, "|z:strategies", names, &operation))
        return NULL;
    PyObject *list = PyList_New(0);
    for (int k = 0; list && tess_strategy_get(k, &info); k++) {
        if (operation && strcmp(operation, info.operation) != 0)
            continue;
        PyObject *row = Py_BuildValue("{sssssssssssssO}", "name", info.name, "operation", info.operation, "idea", info.idea, "source", info.source,
                                      "target", info.target, "isas", info.isas, "usable", info.usable ? Py_True : Py_False);
        if (!row || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *limits(PyObject *module, PyObject *args, PyObject *words) {
    static char *names[] = {"seconds", NULL};
    double seconds = 1;
    tess_py_state *state = tess_py_state_of(module);
    if (!PyArg_ParseTupleAndKeywords(args, words, "|d:limits", names, &seconds))
        return NULL;
    tess_limits found = {.struct_size = sizeof found};
    tess_py_work work;
    tess_py_begin(state, &work, 1e9);
    tess_status status = tess_measure_limits(work.handle, seconds, &found);
    tess_py_end(&work);
    if (status != TESS_OK)
        return tess_py_raise(state, status);
    return Py_BuildValue("{sisdsdsdsdsd}", "threads", found.threads, "read_bytes_per_s", found.read_bytes_per_s, "copy_bytes_per_s",
                         found.copy_bytes_per_s, "write_bytes_per_s", found.write_bytes_per_s, "f32_flops_per_s", found.f32_flops_per_s,
                         "f64_flops_per_s", found.f64_flops_per_s);
}

static PyObject *set_threads(PyObject *module, PyObject *args) {
    PyObject *given;
    int overflow;
    tess_py_state *state = tess_py_state_of(module);
    if (!PyArg_ParseTuple(args, "O:set_threads", &given) || !(given = PyNumber_Index(given)))
        return NULL;
    long threads = PyLong_AsLongAndOverflow(given, &overflow);
    if (threads < INT_MIN || threads > INT_MAX || overflow)
        PyErr_Format(PyExc_ValueError, "threads is %R, the limits are 0 and 1024", given);
    Py_DECREF(given);
    if (PyErr_Occurred())
        return NULL;
    PyObject *before = tess_py_context_current(state), *made = tess_py_context_new(state, (int)threads, before);
    Py_DECREF(before);
    if (!made)
        return NULL;
    pthread_mutex_lock(&state->lock);
    PyObject *old = state->context;
    state->context = made;
    pthread_mutex_unlock(&state->lock);
    Py_DECREF(old);
    return Py_NewRef(Py_None);
}

static PyObject *threads_of(PyObject *module, PyObject *none) {
    (void)none;
    PyObject *context = tess_py_context_current(tess_py_state_of(module));
    int threads = tess_threads(tess_py_context_handle(context));
    Py_DECREF(context);
    return PyLong_FromLong(threads);
}

static tess_status export_wisdom(void *handle, char *text, size_t size, size_t *length) { return tess_wisdom_export(handle, text, size, length); }

static PyObject *wisdom_text(tess_py_state *state, tess_context *handle) { return tess_py_grown_text(state, export_wisdom, handle); }

/* wisdom(action, argument): the Python function sorts out which. */
static PyObject *wisdom(PyObject *module, PyObject *args) {
    const char *action, *argument = NULL;
    tess_py_state *state = tess_py_state_of(module);
    if (!PyArg_ParseTuple(args, "s|z:wisdom", &action, &argument))
        return NULL;
    PyObject *context = tess_py_context_current(state), *answer = NULL;
    tess_context *handle = tess_py_context_handle(context);
    tess_status status = TESS_OK;
    if (strcmp(action, "export") == 0)
        answer = wisdom_text(state, handle);
    else if (strcmp(action, "import") == 0 && argument)
        status = tess_wisdom_import(handle, argument);
    else if (strcmp(action, "load") == 0)
        status = tess_wisdom_load(handle, argument);
    else if (strcmp(action, "save") == 0)
        status = tess_wisdom_save(handle, argument);
    else if (strcmp(action, "forget") == 0)
        tess_wisdom_forget(handle);
    else
        PyErr_Format(PyExc_ValueError, "action is '%s', it is one of: export, import, load, save, forget", action);
    if (status != TESS_OK)
        tess_py_raise(state, status);
    else if (!answer && !PyErr_Occurred())
        answer = Py_NewRef(Py_None);
    Py_DECREF(context);
    return answer;
}

#define WITH_WORDS(function) (PyCFunction)(void (*)(void)) function
PyMethodDef tess_py_machine_methods[] = {
    {"devices", WITH_WORDS(devices), METH_VARARGS | METH_KEYWORDS,
     "devices(format='text')\n--\n\nA text about processor, caches, instruction sets and GPUs; format='json' gives a dict.\n\n"
     ">>> sorted(tessera.devices('json'))[:1]\n['cpu']\n"},
    {"strategies", WITH_WORDS(strategies), METH_VARARGS | METH_KEYWORDS,
     "strategies(operation=None)\n--\n\nThe rows of the strategy tables in the order in which selection tries them: a list of dicts with name, "
     "operation,\n"
     "idea, source, target, isas and usable.\n\n>>> 'transpose/reference' in [row['name'] for row in tessera.strategies('transpose')]\nTrue\n"},
    {"limits", WITH_WORDS(limits), METH_VARARGS | METH_KEYWORDS,
     "limits(seconds=1.0)\n--\n\nWhat this machine can do, measured now: bytes and floating-point operations a second, a dict."},
    {"set_threads", set_threads, METH_VARARGS,
     "set_threads(threads, /)\n--\n\nThreads that a call may use from now on; 0 asks for the default, the processors of this process. Calls that "
     "run\n"
     "and plans that exist keep theirs. Results never depend on it.\n\n>>> tessera.set_threads(1)\n>>> tessera.threads()\n1\n>>> "
     "tessera.set_threads(0)\n"},
    {"threads", threads_of, METH_NOARGS, "threads()\n--\n\nThreads that a call may use."},
    {"_wisdom", wisdom, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
