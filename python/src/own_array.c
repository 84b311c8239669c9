/* SPDX-License-Identifier: Apache-2.0
 * own_array.c - tessera.Array: the results for callers that came with plain buffers, and what other libraries adopt by DLPack.
 *
 * The memory is a block with a count of its own, so that a DLPack consumer can let go of it on any thread, with or without an interpreter. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "module.h"

typedef struct block {
    _Atomic long holders;
    int64_t shape[TESS_MAX_NDIM], strides[TESS_MAX_NDIM];
    char *data;
} block;

typedef struct own_array {
    PyObject ob_base;
    tess_type type;
    Py_ssize_t bytes;
    DLTensor tensor; /* shape and strides point into the block */
    Py_ssize_t buffer_shape[TESS_MAX_NDIM], buffer_strides[TESS_MAX_NDIM];
    block *block;
} own_array;

static block *block_make(size_t bytes) {
    enum { ALIGNMENT = 64, HUGE_FROM = 4 << 20, HUGE_ALIGNMENT = 2 << 20 };
    size_t alignment = bytes >= HUGE_FROM ? HUGE_ALIGNMENT : ALIGNMENT;
    block *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    if (bytes > SIZE_MAX - alignment || !(made->data = aligned_alloc(alignment, (bytes / alignment + 1) * alignment))) {
        free(made);
        return NULL;
    }
#if defined(__linux__)
    if (bytes >= HUGE_FROM)
        madvise(made->data, bytes, MADV_HUGEPAGE); /* fewer page faults; only a hint */
#endif
    atomic_init(&made->holders, 1);
    return made;
}

static void block_let_go(block *held) {
    if (held && atomic_fetch_sub(&held->holders, 1) == 1) {
        free(held->data);
        free(held);
    }
}

PyObject *tess_py_array_new(tess_py_state *state, tess_type type, int ndim, const int64_t *shape, DLTensor **tensor) {
    int64_t bytes = (int64_t)tess_type_size(type);
    bool empty = false;
    for (int d = 0; d < ndim; d++) {
        empty |= shape[d] == 0;
        if (shape[d] > 0 && __builtin_mul_overflow(bytes, shape[d], &bytes)) {
            PyErr_SetString(PyExc_ValueError, "the result has more than 2^63 bytes");
            return NULL;
        }
    }
    bytes = empty ? 0 : bytes;
    own_array *self = PyObject_New(own_array, (PyTypeObject *)state->array_type);
    if (!self)
        return NULL;
    self->type = type;
    self->bytes = (Py_ssize_t)bytes;
    self->block = block_make((size_t)bytes);
    if (!self->block) {
        Py_DECREF(self);
        PyErr_Format(PyExc_MemoryError, "%lld bytes for the result could not be allocated", (long long)bytes);
        return NULL;
    }
    int64_t stride = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        self->block->shape[d] = shape[d];
        self->block->strides[d] = stride;
        self->buffer_shape[d] = (Py_ssize_t)shape[d];
        self->buffer_strides[d] = (Py_ssize_t)(stride * (int64_t)tess_type_size(type));
        stride *= shape[d] ? shape[d] : 1;
    }
    self->tensor = tess_view(self->block->data, type, ndim, self->block->shape, self->block->strides);
    if (tensor)
        *tensor = &self->tensor;
    return (PyObject *)self;
}

static void array_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    block_let_go(((own_array *)object)->block);
    PyObject_Free(object);
    Py_DECREF(type);
}

/* ---- The buffer protocol --------------------------------------------------------------------------------------- */

static const char *const formats[TESS_PY_TYPES] = {NULL, "?", "B", "b", "H", "h", "I", "i", "Q", "q", "e", NULL, "f", "d", "Zf", "Zd"};

/* First axis fastest too: at most one axis has more than one element. */
static bool fortran(const own_array *self) {
    int longer = 0;
    for (int d = 0; d < self->tensor.ndim; d++)
        longer += self->buffer_shape[d] > 1;
    return longer <= 1 || self->bytes == 0;
}

static int array_getbuffer(PyObject *object, Py_buffer *view, int flags) {
    own_array *self = (own_array *)object;
    view->obj = NULL;
    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !fortran(self)) {
        PyErr_SetString(PyExc_BufferError, "a tessera.Array lies with its last axis fastest");
        return -1;
    }
    if (!formats[self->type]) {
        PyErr_Format(PyExc_BufferError, "%s has no buffer format: use DLPack", tess_py_dtype_name(self->type));
        return -1;
    }
    view->buf = self->tensor.data;
    view->len = self->bytes;
    view->readonly = 0;
    view->itemsize = (Py_ssize_t)tess_type_size(self->type);
    view->format = (flags & PyBUF_FORMAT) ? (char *)(uintptr_t)formats[self->type] : NULL;
    view->ndim = self->tensor.ndim;
    view->shape = (flags & PyBUF_ND) ? self->buffer_shape : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? self->buffer_strides : NULL;
    view->suboffsets = NULL;
    view->internal = NULL;
    view->obj = Py_NewRef(object);
    return 0;
}

/* ---- DLPack ---------------------------------------------------------------------------------------------------- */

static void managed_delete(DLManagedTensor *managed) {
    block_let_go(managed->manager_ctx);
    free(managed);
}
static void versioned_delete(DLManagedTensorVersioned *managed) {
    block_let_go(managed->manager_ctx);
    free(managed);
}
/* Capsules that nobody consumed keep their first name. */
static void managed_capsule_delete(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, "dltensor"))
        managed_delete(PyCapsule_GetPointer(capsule, "dltensor"));
}
static void versioned_capsule_delete(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, "dltensor_versioned"))
        versioned_delete(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
}

/* Two integers; what is not given leaves them as they are. */
static bool read_pair(PyObject *value, const char *name, int *first, int *second) {
    if (!tess_py_given(value))
        return true;
    if (!PyTuple_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s is %R, a tuple of two integers is needed", name, value);
        return false;
    }
    return PyArg_ParseTuple(value, "ii", first, second);
}

static PyObject *array_dlpack(PyObject *object, PyObject *args, PyObject *words) {
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *stream = NULL, *version = NULL, *device = NULL, *copy = NULL, *capsule = NULL;
    own_array *self = (own_array *)object;
    if (!PyArg_ParseTupleAndKeywords(args, words, "|$OOOO:__dlpack__", names, &stream, &version, &device, &copy))
        return NULL;
    int major = 0, minor = 0, type = kDLCPU, id = 0;
    if (!read_pair(version, "max_version", &major, &minor) || !read_pair(device, "dl_device", &type, &id))
        return NULL;
    if (tess_py_given(stream) || type != kDLCPU || (tess_py_given(copy) && PyObject_IsTrue(copy))) {
        PyErr_SetString(PyExc_BufferError, "a tessera.Array lies in the CPU's memory and is exported without a copy or a stream");
        return NULL;
    }
    if (major >= 1) {
        DLManagedTensorVersioned *managed = calloc(1, sizeof *managed);
        if (!managed)
            return PyErr_NoMemory();
        *managed = (DLManagedTensorVersioned){{1, 1}, self->block, versioned_delete, 0, self->tensor};
        atomic_fetch_add(&self->block->holders, 1);
        if (!(capsule = PyCapsule_New(managed, "dltensor_versioned", versioned_capsule_delete)))
            versioned_delete(managed);
    } else {
        DLManagedTensor *managed = calloc(1, sizeof *managed);
        if (!managed)
            return PyErr_NoMemory();
        *managed = (DLManagedTensor){self->tensor, self->block, managed_delete};
        atomic_fetch_add(&self->block->holders, 1);
        if (!(capsule = PyCapsule_New(managed, "dltensor", managed_capsule_delete)))
            managed_delete(managed);
    }
    return capsule;
}

static PyObject *array_dlpack_device(PyObject *self, PyObject *none) {
    (void)self, (void)none;
    return Py_BuildValue("(ii)", kDLCPU, 0);
}

/* ---- As numbers ------------------------------------------------------------------------------------------------ */

static PyObject *to_list(const own_array *self, int axis, const char *data) {
    if (axis == self->tensor.ndim)
        return tess_py_number(self->type, data);
    PyObject *list = PyList_New(self->buffer_shape[axis]);
    for (Py_ssize_t k = 0; list && k < self->buffer_shape[axis]; k++) {
        PyObject *item = to_list(self, axis + 1, data + k * self->buffer_strides[axis]);
        if (!item || PyList_SetItem(list, k, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *array_tolist(PyObject *object, PyObject *none) {
    (void)none;
    own_array *self = (own_array *)object;
    return to_list(self, 0, self->tensor.data);
}

static PyObject *array_shape(PyObject *object, void *unused) {
    (void)unused;
    own_array *self = (own_array *)object;
    return tess_py_shape(self->tensor.ndim, self->tensor.shape);
}
static PyObject *array_ndim(PyObject *object, void *unused) {
    (void)unused;
    return PyLong_FromLong(((own_array *)object)->tensor.ndim);
}
static PyObject *array_size(PyObject *object, void *unused) {
    (void)unused;
    return PyLong_FromLongLong(tess_py_count(&((own_array *)object)->tensor));
}
static PyObject *array_nbytes(PyObject *object, void *unused) {
    (void)unused;
    return PyLong_FromSsize_t(((own_array *)object)->bytes);
}
static PyObject *array_dtype(PyObject *object, void *unused) {
    (void)unused;
    return PyUnicode_FromString(tess_py_dtype_name(((own_array *)object)->type));
}

static PyObject *array_repr(PyObject *object) {
    enum { SHOWN = 64 };
    own_array *self = (own_array *)object;
    PyObject *shape = array_shape(object, NULL), *values = NULL, *text = NULL;
    const char *dtype = tess_py_dtype_name(self->type);
    if (shape && tess_py_count(&self->tensor) <= SHOWN && (values = to_list(self, 0, self->tensor.data)))
        text = PyUnicode_FromFormat("tessera.Array(%R, dtype='%s')", values, dtype);
    else if (shape && !PyErr_Occurred())
        text = PyUnicode_FromFormat("tessera.Array(shape=%R, dtype='%s')", shape, dtype);
    Py_XDECREF(shape);
    Py_XDECREF(values);
    return text;
}

static Py_ssize_t array_length(PyObject *object) {
    own_array *self = (own_array *)object;
    if (self->tensor.ndim > 0)
        return self->buffer_shape[0];
    PyErr_SetString(PyExc_TypeError, "a 0-d tessera.Array has no length");
    return -1;
}

static PyMethodDef array_methods[] = {
    {"tolist", array_tolist, METH_NOARGS, "tolist()\n--\n\nThe elements as nested lists of Python numbers; a 0-d array gives its number."},
    {"__dlpack__", (PyCFunction)(void (*)(void))array_dlpack, METH_VARARGS | METH_KEYWORDS,
     "__dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\nA DLPack capsule that shares the memory."},
    {"__dlpack_device__", array_dlpack_device, METH_NOARGS, "__dlpack_device__()\n--\n\n(1, 0): the CPU."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef array_getset[] = {
    {"shape", array_shape, NULL, "The sizes, a tuple.", NULL},
    {"ndim", array_ndim, NULL, "The number of axes.", NULL},
    {"size", array_size, NULL, "The number of elements.", NULL},
    {"nbytes", array_nbytes, NULL, "The bytes of the elements.", NULL},
    {"dtype", array_dtype, NULL, "The element type by NumPy's name.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot array_slots[] = {
    {Py_tp_dealloc, (void *)array_dealloc},
    {Py_tp_repr, (void *)array_repr},
    {Py_tp_methods, array_methods},
    {Py_tp_getset, array_getset},
    {Py_mp_length, (void *)array_length},
    {Py_bf_getbuffer, (void *)array_getbuffer},
    {Py_tp_doc, "An array that Tessera made: memory with the buffer protocol (memoryview, numpy.asarray) and DLPack (torch.from_dlpack)."},
    {0, NULL},
};
PyType_Spec tess_py_array_spec = {"tessera.Array", sizeof(own_array), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, array_slots};
