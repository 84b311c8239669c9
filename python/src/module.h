/* SPDX-License-Identifier: Apache-2.0
 * module.h - what the files of the extension share.
 *
 * The extension sees Tessera through tessera.h alone and Python through the limited API of 3.11; free-threaded interpreters, for which there
 * is none yet, get a build without it. All state belongs to the module object: every interpreter has its own. */
#ifndef TESSERA_PYTHON_MODULE_H
#define TESSERA_PYTHON_MODULE_H

#ifndef TESSERA_PYTHON_FULL_API
#define Py_LIMITED_API 0x030b0000
#endif
#include <Python.h>
#include <pthread.h>

#include "dlpack.h"

/* ---- The words that calls are made with ------------------------------------------------------------------------ */

/* Parameters and attributes, interned once a module: N_axis is the index of "axis". */
#define TESS_PY_NAMES(X)         \
    X(accuracy)                  \
    X(axes)                      \
    X(axis)                      \
    X(boundary)                  \
    X(compute)                   \
    X(constant)                  \
    X(correction)                \
    X(ddof)                      \
    X(dtype)                     \
    X(exact)                     \
    X(extent)                    \
    X(fill)                      \
    X(index)                     \
    X(indices)                   \
    X(interpolation)             \
    X(is_conj)                   \
    X(is_neg)                    \
    X(keepdims)                  \
    X(mask)                      \
    X(masks)                     \
    X(mode)                      \
    X(name)                      \
    X(nan)                       \
    X(offsets)                   \
    X(ord)                       \
    X(origin)                    \
    X(out)                       \
    X(outside)                   \
    X(positions)                 \
    X(report)                    \
    X(requires_grad)             \
    X(strategy)                  \
    X(table)                     \
    X(x)                         \
    X(max_version)               \
    X(__cuda_array_interface__)  \
    X(__array_namespace__)       \
    X(__dlpack__)                \
    X(__dlpack_c_exchange_api__) \
    X(__mro__)                   \
    X(__module__)                \
    X(__name__)
enum {
#define TESS_PY_ENUM(name) N_##name,
    TESS_PY_NAMES(TESS_PY_ENUM)
#undef TESS_PY_ENUM
        N_COUNT
};

/* ---- State ----------------------------------------------------------------------------------------------------- */

#define TESS_PY_TYPES (tess_c128 + 1)

typedef struct tess_py_state {
    PyObject *names[N_COUNT];
    PyObject *array_type, *plan_type, *context_type, *profile_type; /* classes of ours */
    PyObject *axis_error, *engine_error;
    PyObject *kinds;                                                                    /* dict: type -> bytes of a tess_py_kind */
    PyObject *helpers;                                                                  /* the Python module tessera._arrays */
    PyObject *numpy_empty, *numpy_dtypes[TESS_PY_TYPES], *numpy_scalars[TESS_PY_TYPES]; /* found at first use */
    void *const *numpy_table;                                                           /* what extensions call; NULL: not known */
    PyObject *context;                                                                  /* the current context object; exchanged by set_threads */
    pthread_mutex_t lock;                                                               /* guards `context` where there is no GIL */
} tess_py_state;

tess_py_state *tess_py_state_of(PyObject *module);

/* ---- Arrays in ------------------------------------------------------------------------------------------------- */

typedef enum tess_py_family {
    TESS_PY_PLAIN = 0, /* a buffer: array.array, bytes, memoryview, tessera.Array. Results are tessera.Array */
    TESS_PY_NUMPY,
    TESS_PY_TORCH,
    TESS_PY_JAX,
    TESS_PY_CUPY,
    TESS_PY_OTHER /* has an __array_namespace__: results through its from_dlpack */
} tess_py_family;

typedef struct tess_py_kind {
    tess_py_family family;
    bool masked; /* a numpy.ma.MaskedArray */
    bool date;   /* a scalar numpy.datetime64 or timedelta64: its buffer is eight bytes, not a number */
    const DLPackExchangeAPI *exchange;
} tess_py_kind;

bool tess_py_kind_of(tess_py_state *state, PyObject *object, tess_py_kind *kind);

typedef struct tess_py_array {
    DLTensor tensor;
    tess_type type;
    tess_py_kind kind;
    bool readonly, from_list;
    PyObject *object; /* kept alive */
    Py_buffer buffer; /* .obj NULL: none */
    DLManagedTensor *managed;
    DLManagedTensorVersioned *versioned;
    void *copy;
    int64_t shape[TESS_MAX_NDIM], strides[TESS_MAX_NDIM]; /* only when tensor.shape points here */
} tess_py_array;

/* Views a Python object. name: what messages call it. Fills *array; false: an error is set and nothing needs a release. */
bool tess_py_acquire(tess_py_state *state, tess_py_array *array, PyObject *object, const char *name);
/* The same for a list or number of weights, which takes the type of `like` where that is a float (else as tess_py_acquire). */
bool tess_py_acquire_weights(tess_py_state *state, tess_py_array *array, PyObject *object, const char *name, const tess_py_array *like);
/* An array that may be written. */
bool tess_py_acquire_out(tess_py_state *state, tess_py_array *array, PyObject *object, const char *name);
void tess_py_release(tess_py_array *array);
/* A compact copy takes the place of what an array views in host memory. */
bool tess_py_copy(tess_py_state *state, tess_py_array *array);
int64_t tess_py_count(const DLTensor *tensor);
void *tess_py_first(const DLTensor *tensor);
/* Elements that lie compactly, last axis fastest. */
bool tess_py_is_compact(const DLTensor *tensor);

/* A dtype given as a name of NumPy's or Tessera's, a dtype of any library, or float, int, bool, complex. tess_no_type: an error is set. */
tess_type tess_py_dtype(tess_py_state *state, PyObject *object);
const char *tess_py_dtype_name(tess_type type); /* NumPy's: "float32" */
tess_type tess_py_promote(tess_type a, tess_type b);

/* ---- Arrays out ------------------------------------------------------------------------------------------------ */

typedef struct tess_py_result {
    tess_py_array array;
    PyObject *object; /* NULL: a scalar */
    PyObject *like;   /* borrowed: the array whose kind the result takes */
    _Alignas(16) char scalar[16];
} tess_py_result;

/* The array that a call writes: `out` when that is given, else a new one of the kind of `like`. scalar: a 0-d result is a number for those kinds
 * whose library has it so. with_data = false: a tensor without memory, for planning. */
bool tess_py_result_make(tess_py_state *state, tess_py_result *result, PyObject *out, const tess_py_array *like, tess_type type, int ndim,
                         const int64_t *shape, bool scalar, bool with_data);
/* The Python object, a new reference; releases the rest. */
PyObject *tess_py_result_take(tess_py_state *state, tess_py_result *result);
void tess_py_result_drop(tess_py_result *result);

/* numpy.c. Finds what NumPy has for a type: numpy_table, numpy_empty, numpy_dtypes[type], numpy_scalars[type]. false: an error is set. */
bool tess_py_find_numpy(tess_py_state *state, tess_type type);
/* Views an array of NumPy's own class, of whole elements of a type that was found. false, without an error: it is none. */
bool tess_py_numpy_view(const tess_py_state *state, tess_py_array *array, PyObject *object);
/* A compact array; *data: where its elements are. buffer: filled where they are only seen by that, to be released. */
PyObject *tess_py_numpy_new(tess_py_state *state, Py_buffer *buffer, tess_type type, int ndim, const int64_t *shape, void **data);
PyObject *tess_py_numpy_number(tess_py_state *state, tess_type type, void *element);

/* Sizes as a tuple. */
PyObject *tess_py_shape(int ndim, const int64_t *shape);
/* One element as a Python number. */
PyObject *tess_py_number(tess_type type, const void *element);

/* tessera.Array: memory of our own with the buffer protocol and DLPack. */
extern PyType_Spec tess_py_array_spec;
PyObject *tess_py_array_new(tess_py_state *state, tess_type type, int ndim, const int64_t *shape, DLTensor **tensor);

/* ---- Calls ----------------------------------------------------------------------------------------------------- */

/* What becomes of a call's arguments. */
typedef enum tess_py_mode { TESS_PY_RUN, TESS_PY_PLAN } tess_py_mode;

typedef struct tess_py_entry tess_py_entry;
typedef PyObject *tess_py_function(tess_py_state *state, const tess_py_entry *entry, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                                   tess_py_mode mode);
struct tess_py_entry {
    const char *name;
    tess_py_function *function;
    int code; /* a tess_reduction, or the function's own */
};
extern const tess_py_entry tess_py_entries[]; /* ends with a NULL name */
tess_py_function tess_py_reduce, tess_py_transpose, tess_py_take, tess_py_lookup, tess_py_correlate, tess_py_separable;

/* _interp(x, xp, fp, left, right): tessera.interp of NumPy's arrays of doubles as they are; NotImplemented for anything else. */
PyObject *tess_py_interp(PyObject *module, PyObject *const *args, Py_ssize_t nargs);

/* _points(elements, coordinates, sums, order, mode, fill.real, fill.imag): the loop of tessera.ndimage.map_coordinates (points.c). */
PyObject *tess_py_points(PyObject *module, PyObject *const *args, Py_ssize_t nargs);

/* Sorts a call's arguments into values[], one for each entry of `parameters` (indices of TESS_PY_NAMES), NULL where not given. The first
 * `required` must be there, the first `positional` may come without a name. */
typedef struct tess_py_signature {
    const char *function;
    const unsigned char *parameters;
    int count, required, positional;
} tess_py_signature;
bool tess_py_arguments(tess_py_state *state, const tess_py_signature *signature, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                       PyObject **values);
/* None counts as not given. */
static inline bool tess_py_given(const PyObject *value) { return value && value != Py_None; }
/* An integer, or a sequence of them: -1 with an error, else how many. */
int tess_py_ints(PyObject *value, const char *name, int64_t *ints, int limit);
/* The same for axes, of which the library sees whether an array has them: TESS_MAX_NDIM at most. */
int tess_py_axes(tess_py_state *state, PyObject *value, const char *name, int *axes);
/* The index of the word in a list that ends with NULL: false with an error that lists them. */
bool tess_py_word(PyObject *value, const char *name, const char *const *words, int *index);
bool tess_py_double(PyObject *value, const char *name, double *number);
bool tess_py_flag(PyObject *value, bool *flag);
/* A str's text, valid while the object lives. */
const char *tess_py_text(PyObject *value, const char *name);

/* The strategy, stream and report of a call. */
typedef struct tess_py_call {
    tess_call call;
    tess_report report;
    PyObject *report_dict;
} tess_py_call;
bool tess_py_call_make(tess_py_state *state, tess_py_call *call, PyObject *strategy, PyObject *report, const tess_py_array *like);
bool tess_py_call_finish(tess_py_call *call);

/* Raises the exception of a status with the library's sentence; always NULL. */
PyObject *tess_py_raise(tess_py_state *state, tess_status status);

/* A text of the library as a str. Other threads may lengthen it between the question for its length and the copy. */
PyObject *tess_py_grown_text(tess_py_state *state, tess_status (*write)(void *from, char *text, size_t size, size_t *length), void *from);

/* Around work in the library: begin releases the GIL where there is enough work, end takes it again. */
typedef struct tess_py_work {
    PyThreadState *thread;
    PyObject *context;
    tess_context *handle;
} tess_py_work;
void tess_py_begin(tess_py_state *state, tess_py_work *work, double elements);
void tess_py_begin_on(tess_py_work *work, PyObject *context, double elements);
void tess_py_end(tess_py_work *work);
/* For begin: what planning takes. For arrays on a device kernels may be compiled; else the caller says. */
static inline double tess_py_planning(const tess_py_array *like, double elements) {
    return like->tensor.device.device_type == kDLCPU ? elements : 1e9;
}

extern PyType_Spec tess_py_context_spec, tess_py_plan_spec, tess_py_profile_spec;
PyObject *tess_py_profile(PyObject *module, PyObject *args);
PyObject *tess_py_context_new(tess_py_state *state, int threads, PyObject *wisdom_from);
PyObject *tess_py_context_current(tess_py_state *state); /* new reference */
tess_context *tess_py_context_handle(PyObject *context);
/* Once a module, with the GIL: which thread looks for signals. false: an error is set. */
bool tess_py_find_main_thread(void);

/* A Plan object from a plan of the library; the plan is taken over, also on failure. `second`: of a lookup, else NULL. */
PyObject *tess_py_plan_new(tess_py_state *state, tess_plan *plan, const char *name, PyObject *context, const tess_py_array *in,
                           const tess_py_array *second, const tess_py_result *out, bool out_given, bool scalar);

extern PyMethodDef tess_py_machine_methods[]; /* devices, strategies, limits, threads, wisdom */

#endif
