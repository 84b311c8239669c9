/* SPDX-License-Identifier: Apache-2.0
 * array.c - Python objects as views of the library: buffers, DLPack, __cuda_array_interface__.
 *
 * NumPy's arrays are read as they lie (numpy.c). For others the buffer protocol is tried first: it is the fastest, and it is the one that says whether memory may be written. Then DLPack, by the C table
 * of the type where there is one, else by a capsule; then the CUDA array interface. */
#include <stdlib.h>
#include <string.h>

#include "module.h"

int64_t tess_py_count(const DLTensor *tensor) {
    int64_t count = 1;
    for (int d = 0; d < tensor->ndim; d++)
        count *= tensor->shape[d];
    return count;
}

void *tess_py_first(const DLTensor *tensor) { return tensor->data ? (char *)tensor->data + tensor->byte_offset : NULL; }

bool tess_py_is_compact(const DLTensor *tensor) {
    int64_t stride = 1;
    for (int d = tensor->ndim - 1; tensor->strides && d >= 0; d--) {
        if (tensor->shape[d] != 1 && tensor->strides[d] != stride)
            return tess_py_count(tensor) == 0;
        stride *= tensor->shape[d];
    }
    return true;
}

/* ---- Buffers --------------------------------------------------------------------------------------------------- */

/* The element type of a buffer's format; tess_no_type when it is none of ours. *foreign: another byte order. */
static tess_type type_of_format(const char *format, Py_ssize_t size, bool *foreign) {
    static const char integers[] = "bBhHiIlLqQnN";
    *foreign = false;
    if (!format)
        return size == 1 ? tess_u8 : tess_no_type;
    if (*format == '>' || *format == '!')
        *foreign = size > 1;
    if (strchr("@=<>!^", *format) && *format)
        format++;
    char code = *format;
    if (code == 'Z' && format[1] && !format[2])
        return format[1] == 'f' ? tess_c64 : format[1] == 'd' ? tess_c128 : tess_no_type;
    if (!code || format[1])
        return tess_no_type;
    switch (code) {
    case '?': return tess_bool;
    case 'c': return tess_u8;
    case 'e': return tess_f16;
    case 'f': return tess_f32;
    case 'd': return tess_f64;
    default: break;
    }
    if (!strchr(integers, code))
        return tess_no_type;
    bool is_unsigned = code >= 'A' && code <= 'Z';
    switch (size) {
    case 1: return is_unsigned ? tess_u8 : tess_i8;
    case 2: return is_unsigned ? tess_u16 : tess_i16;
    case 4: return is_unsigned ? tess_u32 : tess_i32;
    case 8: return is_unsigned ? tess_u64 : tess_i64;
    default: return tess_no_type;
    }
}

static bool set_type(tess_py_array *array, tess_type type) {
    array->type = type;
    array->tensor.dtype = tess_dl_type(type);
    return true;
}

/* A compact copy, for strides that are not whole elements. */
static bool copy_buffer(tess_py_array *array, const char *name) {
    Py_buffer *view = &array->buffer;
    array->copy = malloc(view->len > 0 ? (size_t)view->len : 1);
    if (!array->copy) {
        PyErr_Format(PyExc_MemoryError, "%s: a compact copy of %zd bytes could not be allocated", name, view->len);
        return false;
    }
    if (PyBuffer_ToContiguous(array->copy, view, view->len, 'C') < 0)
        return false;
    array->tensor.data = array->copy;
    array->tensor.strides = NULL;
    return true;
}

/* type: the type when the buffer's format does not tell it (bfloat16 seen as uint16). */
static bool view_buffer(tess_py_array *array, const char *name, tess_type type) {
    const Py_buffer *view = &array->buffer;
    bool foreign = false, whole = true;
    tess_type found = type_of_format(view->format, view->itemsize, &foreign);
    if (found == tess_no_type || (Py_ssize_t)tess_type_size(found) != view->itemsize) {
        PyErr_Format(PyExc_TypeError, "%s has elements of the format \"%s\", which Tessera does not know", name, view->format ? view->format : "B");
        return false;
    }
    if (foreign) {
        PyErr_Format(PyExc_TypeError, "%s has elements of the other byte order (format \"%s\"): convert it to the machine's first", name,
                     view->format);
        return false;
    }
    if (view->ndim > TESS_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "%s has %d axes, the limit is %d", name, view->ndim, TESS_MAX_NDIM);
        return false;
    }
    set_type(array, type != tess_no_type ? type : found);
    DLTensor *tensor = &array->tensor;
    tensor->data = view->buf;
    tensor->device = (DLDevice){kDLCPU, 0};
    tensor->ndim = view->ndim;
    tensor->byte_offset = 0;
    tensor->shape = array->shape;
    tensor->strides = view->strides ? array->strides : NULL;
    array->readonly = view->readonly;
    bool empty = view->len == 0;
    if (view->ndim > 0 && !view->shape)
        array->shape[0] = view->len / view->itemsize;
    for (int d = 0; d < view->ndim && view->shape; d++) {
        array->shape[d] = view->shape[d];
        if (view->strides) {
            array->strides[d] = view->strides[d] / view->itemsize;
            whole &= view->shape[d] <= 1 || empty || view->strides[d] % view->itemsize == 0;
        }
    }
    if (view->suboffsets)
        for (int d = 0; d < view->ndim; d++)
            whole &= view->suboffsets[d] < 0;
    return whole || copy_buffer(array, name);
}

/* -1: an error is set. */
static int has_bfloat16(tess_py_state *state, PyObject *object) {
    PyObject *dtype = PyObject_GetAttr(object, state->names[N_dtype]);
    PyObject *name = dtype ? PyObject_GetAttr(dtype, state->names[N_name]) : NULL;
    int yes = name ? PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, "bfloat16") == 0 : -1;
    Py_XDECREF(dtype);
    Py_XDECREF(name);
    return yes;
}

/* 1: done, 0: not a buffer, -1: an error is set. */
static int acquire_buffer(tess_py_state *state, tess_py_array *array, PyObject *object, const char *name) {
    if (!PyObject_CheckBuffer(object))
        return 0;
    if (array->kind.date) {
        PyErr_Format(PyExc_TypeError, "%s is %R, a date or a span of time, which Tessera does not know", name, object);
        return -1;
    }
    if (PyObject_GetBuffer(object, &array->buffer, PyBUF_FULL_RO) == 0) {
        array->object = Py_NewRef(object);
        if (!view_buffer(array, name, tess_no_type))
            return -1;
        return array->kind.family != TESS_PY_NUMPY || tess_py_find_numpy(state, array->type) ? 1 : -1;
    }
    array->buffer.obj = NULL;
    if (PyErr_ExceptionMatches(PyExc_MemoryError))
        return -1;
    PyErr_Clear();
    if (array->kind.family != TESS_PY_NUMPY)
        return 0;
    int bfloat16 = has_bfloat16(state, object), got = -1;
    if (bfloat16 > 0) { /* NumPy has no buffer format for it: its bits have one */
        PyObject *bits = PyObject_CallMethod(object, "view", "s", "uint16");
        got = bits ? PyObject_GetBuffer(bits, &array->buffer, PyBUF_FULL_RO) : -1;
        Py_XDECREF(bits);       /* the buffer holds it */
    } else if (bfloat16 == 0) { /* dates: NumPy's DLPack would refuse them, too, in words of its own */
        PyObject *dtype = PyObject_GetAttr(object, state->names[N_dtype]);
        if (dtype)
            PyErr_Format(PyExc_TypeError, "%s has elements of the type %S, which Tessera does not know", name, dtype);
        Py_XDECREF(dtype);
    }
    if (got < 0)
        return -1;
    array->object = Py_NewRef(object);
    return view_buffer(array, name, tess_bf16) ? 1 : -1;
}

/* ---- DLPack ---------------------------------------------------------------------------------------------------- */

static bool check_dlpack(tess_py_array *array, const char *name) {
    if (array->tensor.ndim < 0 || array->tensor.ndim > TESS_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "%s has %d axes, the limit is %d", name, array->tensor.ndim, TESS_MAX_NDIM);
        return false;
    }
    array->type = tess_type_of(array->tensor.dtype);
    if (array->type == tess_no_type) {
        PyErr_Format(PyExc_TypeError, "%s has the DLPack type code %d with %d bits and %d lanes, which Tessera does not know", name,
                     array->tensor.dtype.code, array->tensor.dtype.bits, array->tensor.dtype.lanes);
        return false;
    }
    return true;
}

static bool take_capsule(tess_py_array *array, PyObject *capsule, const char *name) {
    if (PyCapsule_IsValid(capsule, "dltensor")) {
        array->managed = PyCapsule_GetPointer(capsule, "dltensor");
        array->tensor = array->managed->dl_tensor;
        return PyCapsule_SetName(capsule, "used_dltensor") == 0 && check_dlpack(array, name);
    }
    if (!PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        PyErr_Format(PyExc_TypeError, "%s: its __dlpack__ did not return a DLPack capsule", name);
        return false;
    }
    array->versioned = PyCapsule_GetPointer(capsule, "dltensor_versioned");
    if (PyCapsule_SetName(capsule, "used_dltensor_versioned") < 0)
        return false;
    if (array->versioned->version.major != 1) {
        PyErr_Format(PyExc_TypeError, "%s: its DLPack has the major version %u, Tessera knows 1", name, (unsigned)array->versioned->version.major);
        return false;
    }
    array->readonly = (array->versioned->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
    array->tensor = array->versioned->dl_tensor;
    return check_dlpack(array, name);
}

/* First without arguments, which every producer takes; a read-only array can only be told by the versioned form. */
static PyObject *export_capsule(tess_py_state *state, PyObject *export) {
    PyObject *capsule = PyObject_CallNoArgs(export);
    if (capsule || !PyErr_ExceptionMatches(PyExc_BufferError))
        return capsule;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *none = PyTuple_New(0), *words = Py_BuildValue("{O(ii)}", state->names[N_max_version], 1, 1);
    capsule = none && words ? PyObject_Call(export, none, words) : NULL;
    Py_XDECREF(none);
    Py_XDECREF(words);
    if (capsule) {
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
    } else {
        PyErr_Restore(type, value, trace); /* what the producer first said */
    }
    return capsule;
}

/* What torch says of a tensor by calling it; -1 with an error. */
static int torch_says(PyObject *object, PyObject *method) {
    PyObject *answer = PyObject_CallMethodObjArgs(object, method, NULL);
    int yes = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    return yes;
}

/* torch conjugates and negates lazily: a view has a mark, which DLPack does not carry (its C table never, __dlpack__ asks of conjugates only). Negated are views
 * of imaginary parts, of which no axis has neighbours beside each other: others are not asked, for a question costs as much as the rest of this file. */
static bool no_marks(tess_py_state *state, const tess_py_array *array, PyObject *object, const char *name) {
    if (array->kind.family != TESS_PY_TORCH)
        return true;
    const DLTensor *t = &array->tensor;
    bool complex = array->type == tess_c64 || array->type == tess_c128, beside = t->strides == NULL && t->ndim > 0;
    for (int d = 0; d < t->ndim && t->strides; d++)
        beside |= t->shape[d] > 1 && t->strides[d] == 1;
    int conjugated = complex ? torch_says(object, state->names[N_is_conj]) : 0;
    int negated = conjugated == 0 && (complex || !beside) ? torch_says(object, state->names[N_is_neg]) : 0;
    if (conjugated > 0 || negated > 0)
        PyErr_Format(PyExc_TypeError, "%s is a view that torch has not %s yet: give %s.%s()", name, conjugated ? "conjugated" : "negated", name,
                     conjugated ? "resolve_conj" : "resolve_neg");
    return conjugated == 0 && negated == 0;
}

static int acquire_dlpack(tess_py_state *state, tess_py_array *array, PyObject *object, const char *name) {
    const DLPackExchangeAPI *exchange = array->kind.exchange;
    if (exchange && exchange->view_of_object) {
        if (array->kind.family == TESS_PY_TORCH) { /* gradients would be lost unseen */
            PyObject *tracked = PyObject_GetAttr(object, state->names[N_requires_grad]);
            int yes = tracked ? PyObject_IsTrue(tracked) : -1;
            Py_XDECREF(tracked);
            if (yes > 0)
                PyErr_Format(PyExc_TypeError, "%s requires a gradient, which Tessera does not compute: give %s.detach()", name, name);
            if (yes)
                return -1;
        }
        if (exchange->view_of_object(object, &array->tensor) != 0)
            return -1;
        array->object = Py_NewRef(object);
        return check_dlpack(array, name) && no_marks(state, array, object, name) ? 1 : -1;
    }
    PyObject *export = PyObject_GetAttr(object, state->names[N___dlpack__]);
    if (!export) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError))
            return -1;
        PyErr_Clear();
        return 0;
    }
    PyObject *capsule = export_capsule(state, export);
    Py_DECREF(export);
    if (!capsule)
        return -1;
    array->object = Py_NewRef(object);
    bool taken = take_capsule(array, capsule, name) && no_marks(state, array, object, name);
    Py_DECREF(capsule);
    return taken ? 1 : -1;
}

/* ---- __cuda_array_interface__ ---------------------------------------------------------------------------------- */

static int acquire_cuda(tess_py_state *state, tess_py_array *array, PyObject *object, const char *name) {
    if (!PyObject_HasAttr(object, state->names[N___cuda_array_interface__]))
        return 0;
    /* the helper sorts the dictionary out: (pointer, readonly, typestr letter and size, shape, strides in bytes or None, card) */
    PyObject *parts = PyObject_CallMethod(state->helpers, "cuda_interface", "O", object), *shape, *strides;
    unsigned long long pointer;
    int readonly, letter, size, card;
    array->object = Py_NewRef(object);
    bool right = parts && PyArg_ParseTuple(parts, "KpCiOOi", &pointer, &readonly, &letter, &size, &shape, &strides, &card);
    if (right) {
        const char format[2] = {letter == 'b' ? '?' : letter == 'f' ? (size == 2 ? 'e' : size == 4 ? 'f' : 'd') : letter == 'u' ? 'B' : 'b', 0};
        bool foreign;
        tess_type type = letter == 'c' ? (size == 8 ? tess_c64 : tess_c128) : type_of_format(format, size, &foreign);
        int ndim = tess_py_ints(shape, "shape", array->shape, TESS_MAX_NDIM);
        bool strided = strides != Py_None;
        right = ndim >= 0 && (!strided || tess_py_ints(strides, "strides", array->strides, ndim) == ndim);
        for (int d = 0; d < ndim && strided && right; d++) {
            right = array->strides[d] % size == 0;
            array->strides[d] /= size;
        }
        if (!right && !PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "%s has strides that are not whole elements", name);
        set_type(array, type);
        array->readonly = readonly;
        array->tensor.data = (void *)(uintptr_t)pointer;
        array->tensor.device = (DLDevice){kDLCUDA, card};
        array->tensor.ndim = ndim;
        array->tensor.shape = array->shape;
        array->tensor.strides = strided ? array->strides : NULL;
    }
    Py_XDECREF(parts);
    return right ? 1 : -1;
}

/* ---- The ways in order ----------------------------------------------------------------------------------------- */

static bool is_list(PyObject *object) {
    return PyList_Check(object) || PyTuple_Check(object) || PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object);
}

static void reset(tess_py_array *array) { memset(array, 0, offsetof(tess_py_array, shape)); }

static bool acquire_list(tess_py_state *state, tess_py_array *array, PyObject *object, const char *name, const char *dtype) {
    PyObject *made = PyObject_CallMethod(state->helpers, "from_list", "Osz", object, name, dtype);
    bool done = made && tess_py_acquire(state, array, made, name);
    Py_XDECREF(made);
    if (done)
        array->from_list = true;
    return done;
}

/* Masked elements would be taken for numbers like all others. */
static bool no_masked(tess_py_state *state, const tess_py_array *array, PyObject *object, const char *name) {
    if (!array->kind.masked)
        return true;
    PyObject *mask = PyObject_GetAttr(object, state->names[N_mask]), *any = mask ? PyObject_CallMethod(mask, "any", NULL) : NULL;
    int yes = any ? PyObject_IsTrue(any) : -1;
    Py_XDECREF(mask);
    Py_XDECREF(any);
    if (yes > 0)
        PyErr_Format(PyExc_TypeError,
                     "%s has masked elements: give %s.filled(value), with NaNs and nan=\"omit\" where a reduction is to leave them out", name, name);
    return yes == 0;
}

bool tess_py_acquire(tess_py_state *state, tess_py_array *array, PyObject *object, const char *name) {
    reset(array);
    if (tess_py_numpy_view(state, array, object))
        return true;
    if (is_list(object))
        return acquire_list(state, array, object, name, NULL);
    int got = tess_py_kind_of(state, object, &array->kind) && no_masked(state, array, object, name) ? 0 : -1;
    if (got == 0)
        got = acquire_buffer(state, array, object, name);
    if (got == 0)
        got = acquire_dlpack(state, array, object, name);
    if (got == 0)
        got = acquire_cuda(state, array, object, name);
    if (got == 0)
        PyErr_Format(PyExc_TypeError, "%s is no array: it needs the buffer protocol, __dlpack__ or __cuda_array_interface__ (it is %R)", name,
                     (PyObject *)Py_TYPE(object));
    if (got != 1)
        tess_py_release(array);
    return got == 1;
}

static bool is_float(tess_type type) { return type >= tess_f16 && type <= tess_f64; }
static bool is_complex(tess_type type) { return type == tess_c64 || type == tess_c128; }

bool tess_py_acquire_weights(tess_py_state *state, tess_py_array *array, PyObject *object, const char *name, const tess_py_array *like) {
    if (!tess_py_acquire(state, array, object, name))
        return false;
    bool weak = array->from_list && (is_float(like->type) || is_complex(like->type)) && array->type != like->type &&
                !(is_complex(array->type) && is_float(like->type));
    if (!weak)
        return true;
    tess_type type = like->type == tess_bf16 ? tess_f32 : like->type;
    tess_py_release(array);
    return acquire_list(state, array, object, name, tess_py_dtype_name(type));
}

bool tess_py_acquire_out(tess_py_state *state, tess_py_array *array, PyObject *object, const char *name) {
    if (is_list(object)) {
        PyErr_Format(PyExc_TypeError, "%s is no array that could be written", name);
        return false;
    }
    if (!tess_py_acquire(state, array, object, name))
        return false;
    if (array->readonly || array->kind.family == TESS_PY_JAX)
        PyErr_Format(PyExc_ValueError, "%s is read-only", name);
    else if (array->copy)
        PyErr_Format(PyExc_ValueError, "%s has strides that are not whole elements", name);
    else
        return true;
    tess_py_release(array);
    return false;
}

/* A producer's deleter may run Python code, which must not see the error that the call is about to raise. */
static void delete_managed(tess_py_array *array) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (array->managed && array->managed->deleter)
        array->managed->deleter(array->managed);
    if (array->versioned && array->versioned->deleter)
        array->versioned->deleter(array->versioned);
    PyErr_Restore(type, value, trace);
}

void tess_py_release(tess_py_array *array) {
    if (array->buffer.obj)
        PyBuffer_Release(&array->buffer);
    if (array->managed || array->versioned)
        delete_managed(array);
    free(array->copy);
    Py_XDECREF(array->object);
    reset(array);
}
