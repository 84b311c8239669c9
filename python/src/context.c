/* SPDX-License-Identifier: Apache-2.0
 * context.c - the library's context as a Python object, running work without the GIL, and the exceptions of statuses.
 *
 * A module has one current context; calls and plans hold a reference while they use it, so set_threads exchanges it at any time. Its progress
 * callback lets Ctrl-C end a long call. */
#include <string.h>
#include <time.h>

#include "module.h"

typedef struct context_object {
    PyObject ob_base;
    tess_context *handle;
} context_object;

/* The thread that runs handlers of signals, Python's main one, by its number. The others never take the GIL inside the library: at the end of the
 * interpreter a thread that asks for it is ended on the spot, with the library's work, which other threads share, on its stack. */
static _Atomic unsigned long main_thread;

static void after_fork(void) { main_thread = PyThread_get_thread_ident(); } /* as Python has it */
static void watch_forks(void) { pthread_atfork(NULL, NULL, after_fork); }

bool tess_py_find_main_thread(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
        return true; /* signals belong to the first interpreter */
    PyObject *threading = PyImport_ImportModule("threading");
    PyObject *thread = threading ? PyObject_CallMethod(threading, "main_thread", NULL) : NULL;
    PyObject *number = thread ? PyObject_GetAttrString(thread, "ident") : NULL;
    unsigned long ident = number ? PyLong_AsUnsignedLong(number) : 0;
    Py_XDECREF(threading);
    Py_XDECREF(thread);
    Py_XDECREF(number);
    if (PyErr_Occurred())
        return false;
    main_thread = ident;
    return pthread_once(&once, watch_forks) == 0;
}

/* The state of the main thread while it is inside the library without the GIL; NULL while it holds the GIL, and in other threads. */
static _Thread_local PyThreadState *waiting;
static _Thread_local struct timespec looked;

static int progress(void *unused, double fraction) {
    (void)unused, (void)fraction;
    enum { INTERVAL_NS = 50000000 };
    struct timespec now;
    if (!waiting)
        return 0;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if ((now.tv_sec - looked.tv_sec) * 1000000000L + (now.tv_nsec - looked.tv_nsec) < INTERVAL_NS)
        return 0;
    looked = now;
    PyThreadState *thread = waiting;
    waiting = NULL; /* a signal's handler may call the library itself, with the GIL held */
    PyEval_RestoreThread(thread);
    int stop = PyErr_CheckSignals();
    waiting = PyEval_SaveThread();
    return stop;
}

PyObject *tess_py_context_new(tess_py_state *state, int threads, PyObject *wisdom_from) {
    context_object *self = PyObject_New(context_object, (PyTypeObject *)state->context_type);
    if (!self)
        return NULL;
    self->handle = NULL;
    tess_context_options options = {.struct_size = sizeof options, .threads = threads, .progress = progress};
    tess_status status = tess_open(&self->handle, &options);
    if (status != TESS_OK) {
        Py_DECREF(self);
        return tess_py_raise(state, status);
    }
    size_t length = 0;
    tess_context *from = wisdom_from ? tess_py_context_handle(wisdom_from) : NULL;
    if (from && (tess_wisdom_export(from, NULL, 0, &length), length > 0)) { /* what was learnt stays; only a help */
        char *text = PyMem_Malloc(length + 1);
        if (text && tess_wisdom_export(from, text, length + 1, &length) == TESS_OK)
            (void)tess_wisdom_import(self->handle, text);
        PyMem_Free(text);
    }
    return (PyObject *)self;
}

tess_context *tess_py_context_handle(PyObject *context) { return ((context_object *)context)->handle; }

PyObject *tess_py_context_current(tess_py_state *state) {
#ifdef Py_GIL_DISABLED
    pthread_mutex_lock(&state->lock);
    PyObject *context = Py_NewRef(state->context);
    pthread_mutex_unlock(&state->lock);
    return context;
#else
    return Py_NewRef(state->context);
#endif
}

static void context_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    tess_close(((context_object *)object)->handle);
    PyObject_Free(object);
    Py_DECREF(type);
}

static PyType_Slot context_slots[] = {{Py_tp_dealloc, (void *)context_dealloc}, {0, NULL}};
PyType_Spec tess_py_context_spec = {"tessera._tessera.Context", sizeof(context_object), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, context_slots};

/* ---- Work ------------------------------------------------------------------------------------------------------ */

/* Takes over the caller's reference: none may be counted once the GIL is let go. */
static void begin(tess_py_work *work, PyObject *context, double elements) {
    /* Letting go of the GIL and taking it again costs about 100 ns, and far more where another thread grabs it: a few microseconds of work keep it. Python itself
     * lets a thread have it for 5 ms. */
    const double worth = 16384;
    work->context = context;
    work->handle = tess_py_context_handle(context);
    work->thread = NULL;
    if (elements < worth)
        return;
    clock_gettime(CLOCK_MONOTONIC, &looked);
    work->thread = PyEval_SaveThread();
    waiting = PyThread_get_thread_ident() == main_thread ? work->thread : NULL;
}

void tess_py_begin_on(tess_py_work *work, PyObject *context, double elements) { begin(work, Py_NewRef(context), elements); }

void tess_py_begin(tess_py_state *state, tess_py_work *work, double elements) { begin(work, tess_py_context_current(state), elements); }

void tess_py_end(tess_py_work *work) {
    if (work->thread) {
        waiting = NULL;
        PyEval_RestoreThread(work->thread);
    }
    Py_CLEAR(work->context);
}

PyObject *tess_py_raise(tess_py_state *state, tess_status status) {
    PyObject *kind = PyExc_ValueError;
    if (PyErr_Occurred()) /* cancelled by a signal handler that raised */
        return NULL;
    switch (status) {
    case TESS_ERR_TYPE: kind = PyExc_TypeError; break;
    case TESS_ERR_AXIS: kind = state->axis_error; break;
    case TESS_ERR_INDEX: kind = PyExc_IndexError; break;
    case TESS_ERR_MEMORY: kind = PyExc_MemoryError; break;
    case TESS_ERR_ENGINE:
    case TESS_ERR_DEVICE: kind = state->engine_error; break;
    case TESS_ERR_FILE: kind = PyExc_OSError; break;
    case TESS_ERR_CANCELLED:
    case TESS_ERR_INTERNAL: kind = PyExc_RuntimeError; break;
    default: break;
    }
    const char *sentence = tess_detail();
    PyErr_SetString(kind, *sentence ? sentence : tess_status_text(status));
    return NULL;
}

PyObject *tess_py_grown_text(tess_py_state *state, tess_status (*write)(void *from, char *text, size_t size, size_t *length), void *from) {
    size_t length = 0, size = 0;
    char *text = NULL;
    tess_status status = write(from, NULL, 0, &length);
    while ((status == TESS_OK || status == TESS_ERR_SIZE) && length >= size) {
        size = length + 1;
        PyMem_Free(text);
        if (!(text = PyMem_Malloc(size)))
            return PyErr_NoMemory();
        status = write(from, text, size, &length);
    }
    PyObject *answer = status == TESS_OK ? PyUnicode_FromStringAndSize(text, (Py_ssize_t)length) : tess_py_raise(state, status);
    PyMem_Free(text);
    return answer;
}

/* ---- What every call takes ------------------------------------------------------------------------------------- */

bool tess_py_call_make(tess_py_state *state, tess_py_call *call, PyObject *strategy, PyObject *report, const tess_py_array *like) {
    memset(&call->call, 0, sizeof call->call);
    call->report_dict = NULL;
    if (tess_py_given(strategy) && !(call->call.strategy = tess_py_text(strategy, "strategy")))
        return false;
    if (tess_py_given(report)) {
        if (!PyDict_Check(report)) {
            PyErr_SetString(PyExc_TypeError, "report is no dict that could be filled");
            return false;
        }
        call->report = (tess_report){.struct_size = sizeof call->report};
        call->report_dict = report;
        call->call.report = &call->report;
    }
    if (like && like->tensor.device.device_type == kDLCUDA) {
        void *stream = NULL;
        if (like->kind.exchange && like->kind.exchange->current_stream) {
            if (like->kind.exchange->current_stream(like->tensor.device.device_type, like->tensor.device.device_id, &stream) != 0)
                return false;
        } else {
            PyObject *number = PyObject_CallMethod(state->helpers, "stream", "O", like->object);
            stream = number ? PyLong_AsVoidPtr(number) : NULL;
            Py_XDECREF(number);
            if (PyErr_Occurred())
                return false;
        }
        call->call.stream = stream;
    }
    return true;
}

bool tess_py_call_finish(tess_py_call *call) {
    if (!call->report_dict)
        return true;
    const tess_report *r = &call->report;
    PyObject *filled = Py_BuildValue("{sssssisdsdsdsd}", "strategy", r->strategy, "isa", r->isa, "threads", r->threads, "seconds", r->seconds,
                                     "bytes", r->bytes, "flops", r->flops, "workspace", r->workspace);
    bool done = filled && PyDict_Update(call->report_dict, filled) == 0;
    Py_XDECREF(filled);
    return done;
}
