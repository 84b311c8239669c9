/* SPDX-License-Identifier: Apache-2.0
 * plan.c - tessera.Plan: arguments checked and a strategy chosen once, to be called many times.
 *
 * A plan reads sizes, strides and types again at each call and compares them with the planned ones: memory of another form is refused. */
#include <string.h>

#include "module.h"

typedef struct form {
    tess_type type;
    int ndim;
    bool given; /* strides of the caller's; else compact */
    tess_py_kind kind;
    DLDevice device;
    int64_t shape[TESS_MAX_NDIM], strides[TESS_MAX_NDIM];
} form;

typedef struct plan_object {
    PyObject ob_base;
    tess_plan *plan;
    PyObject *context;
    const char *name;
    int inputs;
    bool out_needed, scalar;
    double elements;
    form in, second, out;
} plan_object;

static void record(form *f, const tess_py_array *array) {
    const DLTensor *t = &array->tensor;
    int64_t stride = 1;
    f->type = array->type;
    f->ndim = t->ndim;
    f->kind = array->kind;
    f->device = t->device;
    for (int d = t->ndim - 1; d >= 0; d--) {
        f->shape[d] = t->shape[d];
        f->strides[d] = t->strides ? t->strides[d] : stride;
        stride *= t->shape[d];
    }
}

PyObject *tess_py_plan_new(tess_py_state *state, tess_plan *plan, const char *name, PyObject *context, const tess_py_array *in,
                           const tess_py_array *second, const tess_py_result *out, bool out_given, bool scalar) {
    plan_object *self = PyObject_New(plan_object, (PyTypeObject *)state->plan_type);
    if (!self) {
        tess_plan_free(plan);
        return NULL;
    }
    self->plan = plan;
    self->context = Py_NewRef(context);
    self->name = name;
    self->inputs = second ? 2 : 1;
    self->scalar = scalar;
    record(&self->in, in);
    if (second)
        record(&self->second, second);
    record(&self->out, &out->array);
    self->out_needed = out_given && !tess_py_is_compact(&out->array.tensor);
    self->out.kind = in->kind;
    self->elements = (double)tess_py_count(&in->tensor) + (double)tess_py_count(&out->array.tensor);
    return (PyObject *)self;
}

static void plan_dealloc(PyObject *object) {
    plan_object *self = (plan_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    tess_plan_free(self->plan);
    Py_XDECREF(self->context);
    PyObject_Free(object);
    Py_DECREF(type);
}

static bool fits(const form *f, const tess_py_array *array, const char *name) {
    const DLTensor *t = &array->tensor;
    bool same = array->type == f->type && t->ndim == f->ndim, empty = false;
    for (int d = 0; same && d < t->ndim; d++) {
        same = t->shape[d] == f->shape[d];
        empty |= t->shape[d] == 0;
    }
    int64_t stride = 1;
    for (int d = t->ndim - 1; same && !empty && d >= 0; d--) {
        same = t->shape[d] == 1 || (t->strides ? t->strides[d] : stride) == f->strides[d];
        stride *= t->shape[d];
    }
    if (!same)
        PyErr_Format(PyExc_ValueError, "%s has another type, shape or strides than the array that the plan was made for", name);
    return same;
}

static tess_py_state *state_of(PyObject *object) { return PyType_GetModuleState(Py_TYPE(object)); }

static PyObject *run(plan_object *self, tess_py_state *state, PyObject *const *inputs, PyObject *out, PyObject *report) {
    tess_py_array in, second;
    tess_py_result result;
    tess_py_call call;
    PyObject *answer = NULL;
    const char *name = self->inputs == 2 ? "table" : "x";
    if (!tess_py_acquire(state, &in, inputs[0], name))
        return NULL;
    bool two = self->inputs == 2;
    if (two && !tess_py_acquire(state, &second, inputs[1], "index")) {
        tess_py_release(&in);
        return NULL;
    }
    if (!fits(&self->in, &in, name) || (two && !fits(&self->second, &second, "index")) || !tess_py_call_make(state, &call, NULL, report, &in))
        goto done;
    if (self->out_needed && !tess_py_given(out)) {
        PyErr_SetString(PyExc_TypeError, "out is needed: the plan was made for one with strides");
        goto done;
    }
    if (!tess_py_result_make(state, &result, out, &in, self->out.type, self->out.ndim, self->out.shape, self->scalar, true))
        goto done;
    if (fits(&self->out, &result.array, "out")) {
        tess_py_work work;
        tess_py_begin_on(&work, self->context, self->elements);
        tess_status status = tess_execute(self->plan, tess_py_first(&in.tensor), two ? tess_py_first(&second.tensor) : NULL,
                                          tess_py_first(&result.array.tensor), &call.call);
        tess_py_end(&work);
        if (status != TESS_OK)
            tess_py_raise(state, status);
        else if (tess_py_call_finish(&call))
            answer = tess_py_result_take(state, &result);
    }
    if (!answer)
        tess_py_result_drop(&result);
done:
    if (two)
        tess_py_release(&second);
    tess_py_release(&in);
    return answer;
}

static PyObject *plan_call(PyObject *object, PyObject *args, PyObject *words) {
    plan_object *self = (plan_object *)object;
    tess_py_state *state = state_of(object);
    PyObject *inputs[2] = {NULL, NULL}, *out = NULL, *report = NULL;
    Py_ssize_t count = PyTuple_Size(args), used = 0;
    if (count != self->inputs) {
        PyErr_Format(PyExc_TypeError, "a plan of %s takes %d arrays by position (%zd given)", self->name, self->inputs, count);
        return NULL;
    }
    for (Py_ssize_t k = 0; k < count; k++)
        inputs[k] = PyTuple_GetItem(args, k);
    if (words) {
        out = PyDict_GetItemWithError(words, state->names[N_out]);
        report = PyDict_GetItemWithError(words, state->names[N_report]);
        used = (out != NULL) + (report != NULL);
        if (PyErr_Occurred())
            return NULL;
        if (PyDict_Size(words) != used) {
            PyErr_SetString(PyExc_TypeError, "a plan takes the named arguments out and report");
            return NULL;
        }
    }
    return run(self, state, inputs, out, report);
}

static tess_status explain_text(void *plan, char *text, size_t size, size_t *length) { return tess_explain(plan, TESS_TEXT, text, size, length); }
static tess_status explain_json(void *plan, char *text, size_t size, size_t *length) { return tess_explain(plan, TESS_JSON, text, size, length); }

static PyObject *plan_explain(PyObject *object, PyObject *args, PyObject *words) {
    static char *names[] = {"format", NULL};
    const char *format = "text";
    plan_object *self = (plan_object *)object;
    tess_py_state *state = state_of(object);
    if (!PyArg_ParseTupleAndKeywords(args, words, "|s:explain", names, &format))
        return NULL;
    bool json = strcmp(format, "json") == 0;
    if (!json && strcmp(format, "text") != 0) {
        PyErr_Format(PyExc_ValueError, "format is '%s', it is one of: text, json", format);
        return NULL;
    }
    PyObject *text = tess_py_grown_text(state, json ? explain_json : explain_text, self->plan), *answer = text;
    if (text && json) {
        answer = PyObject_CallMethod(state->helpers, "from_json", "O", text);
        Py_DECREF(text);
    }
    return answer;
}

static PyObject *plan_tune(PyObject *object, PyObject *args, PyObject *words) {
    static char *names[] = {"seconds", NULL};
    double seconds = 1;
    plan_object *self = (plan_object *)object;
    if (!PyArg_ParseTupleAndKeywords(args, words, "|d:tune", names, &seconds))
        return NULL;
    tess_py_work work;
    tess_py_begin_on(&work, self->context, 1e9);
    tess_status status = tess_tune(self->plan, seconds);
    tess_py_end(&work);
    if (status != TESS_OK)
        return tess_py_raise(state_of(object), status);
    return Py_NewRef(Py_None);
}

static PyObject *plan_workspace(PyObject *object, void *unused) {
    (void)unused;
    return PyLong_FromSize_t(tess_plan_workspace(((plan_object *)object)->plan));
}

static PyObject *plan_operation(PyObject *object, void *unused) {
    (void)unused;
    return PyUnicode_FromString(((plan_object *)object)->name);
}

static PyObject *plan_shape(PyObject *object, void *unused) {
    (void)unused;
    const form *out = &((plan_object *)object)->out;
    return tess_py_shape(out->ndim, out->shape);
}

static PyObject *plan_dtype(PyObject *object, void *unused) {
    (void)unused;
    return PyUnicode_FromString(tess_py_dtype_name(((plan_object *)object)->out.type));
}

static PyObject *plan_repr(PyObject *object) {
    plan_object *self = (plan_object *)object;
    PyObject *shape = plan_shape(object, NULL);
    PyObject *text = shape ? PyUnicode_FromFormat("<tessera.Plan of %s, result %s %R>", self->name, tess_py_dtype_name(self->out.type), shape) : NULL;
    Py_XDECREF(shape);
    return text;
}

static PyMethodDef plan_methods[] = {
    {"explain", (PyCFunction)(void (*)(void))plan_explain, METH_VARARGS | METH_KEYWORDS,
     "explain(format='text')\n--\n\nWhat the plan will do and why: the strategy, and what every other one lost by. format='json' gives a dict."},
    {"tune", (PyCFunction)(void (*)(void))plan_tune, METH_VARARGS | METH_KEYWORDS,
     "tune(seconds=1.0)\n--\n\nTimes every strategy that can run this plan and remembers the times; plans and calls made later take the fastest.\n"
     "Results never change by it."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef plan_getset[] = {
    {"operation", plan_operation, NULL, "The name of the planned function.", NULL},
    {"shape", plan_shape, NULL, "The sizes of the result.", NULL},
    {"dtype", plan_dtype, NULL, "The element type of the result.", NULL},
    {"workspace", plan_workspace, NULL, "Scratch bytes that a call needs.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot plan_slots[] = {
    {Py_tp_dealloc, (void *)plan_dealloc},
    {Py_tp_call, (void *)plan_call},
    {Py_tp_repr, (void *)plan_repr},
    {Py_tp_methods, plan_methods},
    {Py_tp_getset, plan_getset},
    {Py_tp_doc, "A planned call, made by tessera.plan. Call it with arrays of the planned types, shapes and strides, and out= if you like."},
    {0, NULL},
};
PyType_Spec tess_py_plan_spec = {"tessera.Plan", sizeof(plan_object), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, plan_slots};
