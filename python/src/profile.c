/* SPDX-License-Identifier: Apache-2.0
 * profile.c - tessera.profile and tessera.Profile: CUDA kernels on the virtual GPU, run on Python's arrays. */
#include <string.h>

#include "module.h"

typedef struct profile_object {
    PyObject ob_base;
    tess_profile *profile;
    PyObject *context; /* the library's profile needs it until it is freed */
} profile_object;

static tess_py_state *state_of(PyObject *object) { return PyType_GetModuleState(Py_TYPE(object)); }
static const tess_profile *profile_of(PyObject *object) { return ((profile_object *)object)->profile; }

static void profile_dealloc(PyObject *object) {
    profile_object *self = (profile_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    tess_profile_free(self->profile);
    Py_XDECREF(self->context);
    PyObject_Free(object);
    Py_DECREF(type);
}

/* The kernel may write its arrays: one that must not be written is passed as a copy. */
static bool protect(tess_py_state *state, tess_py_array *array, const char *name) {
    if (!array->readonly || array->copy)
        return true;
    if (array->tensor.device.device_type != kDLCPU) {
        PyErr_Format(PyExc_ValueError, "%s is read-only and lies on a device, where no copy of it is made", name);
        return false;
    }
    return tess_py_copy(state, array);
}

static bool acquire_all(tess_py_state *state, PyObject *list, tess_py_array *arrays, const DLTensor **views, Py_ssize_t count, Py_ssize_t *acquired) {
    char name[32];
    for (; *acquired < count; ++*acquired) {
        tess_py_array *array = &arrays[*acquired];
        PyOS_snprintf(name, sizeof name, "array %d", (int)*acquired);
        if (!tess_py_acquire(state, array, PyTuple_GetItem(list, *acquired), name))
            return false;
        views[*acquired] = &array->tensor;
        if (!array->readonly && array->copy) {
            PyErr_Format(PyExc_ValueError, "%s has strides that are not whole elements", name);
            ++*acquired;
            return false;
        }
        if (!protect(state, array, name)) {
            ++*acquired;
            return false;
        }
    }
    return true;
}

/* _profile(source, launch, arrays, name, options, fmad, check, threads, card, cards, seed, step_limit), all by position. */
PyObject *tess_py_profile(PyObject *module, PyObject *args) {
    enum { OPTIONS = 64 };
    tess_py_state *state = tess_py_state_of(module);
    const char *source, *launch, *words[OPTIONS];
    PyObject *list, *option_list;
    int fmad, check;
    unsigned long long seed, step_limit;
    tess_profile_options options = {.struct_size = sizeof options};
    if (!PyArg_ParseTuple(args, "ssO!zO!ppizzKK:profile", &source, &launch, &PyTuple_Type, &list, &options.name, &PyTuple_Type, &option_list, &fmad,
                          &check, &options.threads, &options.card, &options.cards, &seed, &step_limit))
        return NULL;
    Py_ssize_t count = PyTuple_Size(list), word_count = PyTuple_Size(option_list), acquired = 0;
    if (word_count > OPTIONS) {
        PyErr_Format(PyExc_ValueError, "options has %zd words, the limit is %d", word_count, (int)OPTIONS);
        return NULL;
    }
    for (Py_ssize_t k = 0; k < word_count; k++)
        if (!(words[k] = tess_py_text(PyTuple_GetItem(option_list, k), "options")))
            return NULL;
    options.compiler_options = words;
    options.compiler_option_count = (int)word_count;
    options.no_fmad = !fmad;
    options.no_check = !check;
    options.seed = seed;
    options.step_limit = step_limit;

    size_t room = (size_t)count + 1;
    tess_py_array *arrays = PyMem_Calloc(room, sizeof *arrays);
    const DLTensor **views = PyMem_Calloc(room, sizeof *views);
    profile_object *self = NULL;
    if (!arrays || !views) {
        PyErr_NoMemory();
    } else if (acquire_all(state, list, arrays, views, count, &acquired) &&
               (self = PyObject_New(profile_object, (PyTypeObject *)state->profile_type)) != NULL) {
        tess_py_work work;
        self->profile = NULL;
        self->context = tess_py_context_current(state);
        tess_py_begin_on(&work, self->context, 1e9);
        tess_status status = tess_profile_kernel(&self->profile, work.handle, source, launch, views, (int)count, &options);
        tess_py_end(&work);
        if (status != TESS_OK) {
            tess_py_raise(state, status);
            Py_CLEAR(self);
        }
    }
    while (acquired > 0)
        tess_py_release(&arrays[--acquired]);
    PyMem_Free(views);
    PyMem_Free(arrays);
    return (PyObject *)self;
}

static PyObject *text_of(PyObject *object, tess_format format) {
    tess_py_state *state = state_of(object);
    size_t length = 0;
    tess_status status = tess_profile_text(profile_of(object), format, NULL, 0, &length);
    if (status != TESS_OK && status != TESS_ERR_SIZE)
        return tess_py_raise(state, status);
    char *text = PyMem_Malloc(length + 1);
    if (!text)
        return PyErr_NoMemory();
    status = tess_profile_text(profile_of(object), format, text, length + 1, &length);
    PyObject *answer = status == TESS_OK ? PyUnicode_FromStringAndSize(text, (Py_ssize_t)length) : tess_py_raise(state, status);
    PyMem_Free(text);
    return answer;
}

static PyObject *profile_str(PyObject *object) { return text_of(object, TESS_TEXT); }
static PyObject *profile_html(PyObject *object, PyObject *none) {
    (void)none;
    return text_of(object, TESS_HTML);
}
/* A page inside a page: the frame keeps its styles from the notebook's. */
static PyObject *profile_notebook(PyObject *object, PyObject *none) {
    (void)none;
    PyObject *html = text_of(object, TESS_HTML);
    PyObject *framed = html ? PyObject_CallMethod(state_of(object)->helpers, "framed", "O", html) : NULL;
    Py_XDECREF(html);
    return framed;
}
static PyObject *profile_json(PyObject *object, PyObject *none) {
    (void)none;
    PyObject *text = text_of(object, TESS_JSON);
    PyObject *read = text ? PyObject_CallMethod(state_of(object)->helpers, "from_json", "O", text) : NULL;
    Py_XDECREF(text);
    return read;
}

static PyObject *profile_counter(PyObject *object, PyObject *name) {
    uint64_t value;
    const char *text = tess_py_text(name, "name");
    if (!text)
        return NULL;
    if (tess_profile_counter(profile_of(object), text, &value))
        return PyLong_FromUnsignedLongLong(value);
    PyErr_Format(PyExc_KeyError, "there is no counter '%s'; docs/counters.md names them", text);
    return NULL;
}

static PyObject *profile_outputs(PyObject *object, void *unused) {
    (void)unused;
    tess_profile_output output;
    PyObject *list = PyList_New(0);
    for (int k = 0; list && tess_profile_output_get(profile_of(object), k, &output); k++) {
        DLTensor *tensor;
        PyObject *array = tess_py_array_new(state_of(object), output.type, 1, &output.count, &tensor);
        if (array && output.count > 0)
            memcpy(tensor->data, output.data, (size_t)output.count * tess_type_size(output.type));
        if (!array || PyList_Append(list, array) < 0)
            Py_CLEAR(list);
        Py_XDECREF(array);
    }
    return list;
}

static PyObject *profile_faults(PyObject *object, void *unused) {
    (void)unused;
    const char *sentence;
    PyObject *list = PyList_New(0);
    for (int k = 0; list && (sentence = tess_profile_fault(profile_of(object), k)) != NULL; k++) {
        PyObject *text = PyUnicode_FromString(sentence);
        if (!text || PyList_Append(list, text) < 0)
            Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *profile_seconds(PyObject *object, void *unused) {
    (void)unused;
    return PyFloat_FromDouble(tess_profile_seconds(profile_of(object)));
}

static PyObject *profile_repr(PyObject *object) {
    char seconds[32];
    PyOS_snprintf(seconds, sizeof seconds, "%.3g", tess_profile_seconds(profile_of(object)) * 1e6);
    return PyUnicode_FromFormat("<tessera.Profile: %s microseconds predicted, %d faults>", seconds, tess_profile_faults(profile_of(object)));
}

static PyMethodDef profile_methods[] = {
    {"counter", profile_counter, METH_O, "counter(name, /)\n--\n\nA total by its name in docs/counters.md, such as 'global_ld_sectors'."},
    {"json", profile_json, METH_NOARGS, "json()\n--\n\nThe report as a dict, as docs/json.md describes it."},
    {"html", profile_html, METH_NOARGS, "html()\n--\n\nThe report as a self-contained HTML page."},
    {"_repr_html_", profile_notebook, METH_NOARGS, "_repr_html_()\n--\n\nWhat a notebook shows."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef profile_getset[] = {
    {"outputs", profile_outputs, NULL, "What the kernel could write, in the order of the arguments: a list of tessera.Array.", NULL},
    {"faults", profile_faults, NULL, "The mistakes that were found, a sentence each.", NULL},
    {"seconds", profile_seconds, NULL, "The time predicted on the card.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot profile_slots[] = {
    {Py_tp_dealloc, (void *)profile_dealloc},
    {Py_tp_repr, (void *)profile_repr},
    {Py_tp_str, (void *)profile_str},
    {Py_tp_methods, profile_methods},
    {Py_tp_getset, profile_getset},
    {Py_tp_doc, "What tessera.profile found: str() is the report, a notebook shows it as a page."},
    {0, NULL},
};
PyType_Spec tess_py_profile_spec = {"tessera.Profile", sizeof(profile_object), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, profile_slots};
