/* SPDX-License-Identifier: Apache-2.0
 * module.c - the module tessera._tessera: its functions, classes and state.
 *
 * Initialised in two phases and without static Python objects, so that each interpreter has a module of its own. */
#include <string.h>

#include "module.h"

#define AXIS_DOC                                                                                                                      \
    "axis: None for all, an integer or several. dtype: the result's type. out: an array to write into. nan: 'propagate' or 'omit'.\n" \
    "offsets: segments [offsets[i], offsets[i+1]) along one axis. strategy: a row of tessera.strategies(). report: a dict to be filled.\n"
#define REDUCE_WORDS "x, axis=None, *, dtype=None, out=None, keepdims=False, nan='propagate', offsets=None, strategy=None, report=None"
#define FILTER_WORDS                                                                                                                         \
    "extent='same', *, axes=None, origin=0, boundary='zero', constant=0.0, dtype=None, out=None, compute=None, strategy=None, report=None, " \
    "accuracy='direct'"
#define FILTER_DOC                                                                                                                                \
    "extent: 'same', 'valid' or 'full'. boundary: 'zero', 'constant' (of the given value), 'nearest', 'reflect', 'mirror' or 'wrap'; what they\n" \
    "mean elsewhere is in docs/boundaries.md. axes: of x, the last ones by default. origin: an integer, or one an axis. A mask that is a list\n"  \
    "takes x's type where that is a float. dtype: the result's, by default NumPy's promotion of x and mask. compute: the type of the sums.\n"

/* name, function, code, signature, text */
#define ENTRIES(X)                                                                                                                                   \
    X(sum, tess_py_reduce, TESS_SUM, REDUCE_WORDS ", exact=False",                                                                                   \
      "The sum, with an error that grows with log n along every axis, and the same bits on every machine. Integers are summed in 64 bits.\n"         \
      "exact=True rounds once.\n" AXIS_DOC "\n>>> import array\n>>> tessera.sum(array.array('f', [1, 2, 3.5]))\n6.5\n"                               \
      ">>> ones = numpy.broadcast_to(numpy.float32(1), (2**24 + 8, 1))\n>>> tessera.sum(ones, axis=0)  # a running sum in float32 would stick at "   \
      "2**24\narray([16777224.], dtype=float32)\n")                                                                                                  \
    X(prod, tess_py_reduce, TESS_PROD, REDUCE_WORDS, "The product.\n" AXIS_DOC "\n>>> tessera.prod(numpy.arange(1, 6))\n120\n")                      \
    X(min, tess_py_reduce, TESS_MIN, REDUCE_WORDS,                                                                                                   \
      "The least element; -0 lies before +0.\n" AXIS_DOC "\n>>> tessera.min(numpy.array([3, 1, 2]))\n1\n")                                           \
    X(max, tess_py_reduce, TESS_MAX, REDUCE_WORDS,                                                                                                   \
      "The greatest element.\n" AXIS_DOC "\n>>> tessera.max(numpy.array([[1., 5.], [7., 2.]]), axis=0)\narray([7., 5.])\n")                          \
    X(mean, tess_py_reduce, TESS_MEAN, REDUCE_WORDS ", exact=False",                                                                                 \
      "The mean; of integers in float64.\n" AXIS_DOC "\n>>> tessera.mean(numpy.array([1, 2, 4, 5]))\n3.0\n")                                         \
    X(var, tess_py_reduce, TESS_VAR, REDUCE_WORDS ", exact=False, correction=0, ddof=None",                                                          \
      "The variance, in one pass over memory. The divisor is the number of elements less `correction` (NumPy's ddof).\n" AXIS_DOC                    \
      "\n>>> tessera.var(numpy.array([1., 2., 3., 4.]), correction=1)\n1.6666666666666667\n")                                                        \
    X(std, tess_py_reduce, TESS_STD, REDUCE_WORDS ", exact=False, correction=0, ddof=None",                                                          \
      "The standard deviation: the root of var.\n" AXIS_DOC "\n>>> tessera.std(numpy.array([1., 3.]))\n1.0\n")                                       \
    X(argmin, tess_py_reduce, TESS_ARGMIN, REDUCE_WORDS,                                                                                             \
      "The number of the first least element along the axes, in row-major order.\n" AXIS_DOC "\n>>> tessera.argmin(numpy.array([3, 1, 1]))\n1\n")    \
    X(argmax, tess_py_reduce, TESS_ARGMAX, REDUCE_WORDS,                                                                                             \
      "The number of the first greatest element along the axes, in row-major order.\n" AXIS_DOC "\n>>> tessera.argmax(numpy.array([3, 9, 9]))\n1\n") \
    X(any, tess_py_reduce, TESS_ANY, REDUCE_WORDS,                                                                                                   \
      "Whether some element is not zero.\n" AXIS_DOC "\n>>> tessera.any(numpy.zeros((2, 3)), axis=1)\narray([False, False])\n")                      \
    X(all, tess_py_reduce, TESS_ALL, REDUCE_WORDS, "Whether no element is zero.\n" AXIS_DOC "\n>>> bool(tessera.all(numpy.ones(3)))\nTrue\n")        \
    X(count_nonzero, tess_py_reduce, TESS_COUNT_NONZERO, REDUCE_WORDS,                                                                               \
      "How many elements are not zero.\n" AXIS_DOC "\n>>> tessera.count_nonzero(numpy.array([0., 2., -1.]))\n2\n")                                   \
    X(norm, tess_py_reduce, TESS_NORM2, REDUCE_WORDS ", ord=2",                                                                                      \
      "The norm of vectors: ord = 2, 1, 0 or inf. Matrices count as the vector of their elements (array API: vector_norm).\n" AXIS_DOC               \
      "\n>>> tessera.norm(numpy.array([3., 4.]))\n5.0\n")                                                                                            \
    X(transpose, tess_py_transpose, 0, "x, axes=None, *, out=None, strategy=None, report=None",                                                      \
      "The array with its axes in another order, as a new array (NumPy's transpose is a view). axes=None reverses them. out may be x itself\n"       \
      "where the library can do it in place.\n\n>>> tessera.transpose(numpy.array([[1, 2, 3], [4, 5, 6]]))\n"                                        \
      "array([[1, 4],\n       [2, 5],\n       [3, 6]])\n")                                                                                           \
    X(permute_dims, tess_py_transpose, 1, "x, axes, *, out=None, strategy=None, report=None",                                                        \
      "The array API's name for transpose, with the axes required.\n\n>>> tessera.permute_dims(numpy.zeros((2, 3, 4)), (2, 0, 1)).shape\n(4, 2, "    \
      "3)\n")                                                                                                                                        \
    X(take, tess_py_take, 0, "x, indices, axis=None, *, out=None, mode='raise', fill=0.0, strategy=None, report=None",                               \
      "The entries of x at the indices, along an axis or, with axis=None, of the flattened array. mode: 'raise' (an IndexError; negative\n"          \
      "indices count from the end), 'clip', 'wrap' or 'fill'.\n\n>>> tessera.take(numpy.array([10, 20, 30]), numpy.array([2, 0, -1]))\n"             \
      "array([30, 10, 30])\n")                                                                                                                       \
    X(lookup, tess_py_lookup, 0,                                                                                                                     \
      "table, index, *, axis=0, outside='error', fill=0.0, interpolation=None, positions=None, dtype=None, out=None, strategy=None, report=None",    \
      "The entries of the table at integer indices, or between entries at real coordinates. outside: 'error' (an IndexError), 'clip', 'wrap' or\n"   \
      "'fill'. interpolation: 'nearest', 'linear' (the default for real indices) or 'cubic'. positions: where the entries lie, numbers that do "     \
      "not\n"                                                                                                                                        \
      "decrease, for 'nearest' and 'linear'; without them at 0, 1, 2, ...\n\n"                                                                       \
      ">>> tessera.lookup(numpy.array([0., 10., 20.]), numpy.array([0.5, 1.75]))\narray([ 5. , 17.5])\n")                                            \
    X(correlate, tess_py_correlate, 0, "x, mask, " FILTER_WORDS,                                                                                     \
      "The correlation with a mask of any rank up to x's.\n" FILTER_DOC                                                                              \
      "\n>>> tessera.correlate(numpy.array([1., 2., 4.]), [1, 1, 1], boundary='nearest')\narray([ 4.,  7., 10.])\n")                                 \
    X(convolve, tess_py_correlate, 1, "x, mask, " FILTER_WORDS,                                                                                      \
      "The convolution with a mask of any rank up to x's: the mask is flipped on every axis. NumPy's default is extent='full'.\n" FILTER_DOC         \
      "\n>>> tessera.convolve(numpy.array([1., 2., 3.]), [0., 1., 0.5], 'full')\narray([0. , 1. , 2.5, 4. , 1.5])\n")                                \
    X(correlate_separable, tess_py_separable, 0, "x, masks, " FILTER_WORDS,                                                                          \
      "The correlation with a mask given as its factors: masks[k], of rank 1, runs along axes[k].\n" FILTER_DOC                                      \
      "\n>>> tessera.correlate_separable(numpy.ones((3, 3)), [[1, 2, 1], [1, 1, 1]])[1]\narray([ 8., 12.,  8.])\n")                                  \
    X(convolve_separable, tess_py_separable, 1, "x, masks, " FILTER_WORDS,                                                                           \
      "The convolution with a mask given as its factors: masks[k], of rank 1, runs along axes[k].\n" FILTER_DOC                                      \
      "\n>>> tessera.convolve_separable(numpy.eye(3), [[1, 2, 0], [1, 0, 0]])[0]\narray([1., 0., 0.])\n")

const tess_py_entry tess_py_entries[] = {
#define ENTRY(name, function, code, words, text) {#name, function, (int)(code)},
    ENTRIES(ENTRY)
#undef ENTRY
        {NULL, NULL, 0},
};
enum {
#define ENTRY(name, function, code, words, text) ENTRY_##name,
    ENTRIES(ENTRY)
#undef ENTRY
        ENTRY_COUNT
};
#define ENTRY(name, function, code, words, text)                                                                      \
    static PyObject *call_##name(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {      \
        return function(tess_py_state_of(module), &tess_py_entries[ENTRY_##name], args, nargs, kwnames, TESS_PY_RUN); \
    }
ENTRIES(ENTRY)
#undef ENTRY

/* _plan(name, *args, **words): what tessera.plan and tessera.explain stand on. */
static PyObject *plan(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
    if (nargs < 1 || !PyUnicode_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "plan() needs the name of a function first");
        return NULL;
    }
    for (const tess_py_entry *entry = tess_py_entries; entry->name; entry++)
        if (PyUnicode_CompareWithASCIIString(args[0], entry->name) == 0)
            return entry->function(tess_py_state_of(module), entry, args + 1, nargs - 1, kwnames, TESS_PY_PLAN);
    PyErr_Format(PyExc_ValueError, "%R cannot be planned: it is none of Tessera's operations", args[0]);
    return NULL;
}

static PyMethodDef methods[ENTRY_COUNT + 5] = {
#define ENTRY(name, function, code, words, text) \
    {#name, (PyCFunction)(void (*)(void))call_##name, METH_FASTCALL | METH_KEYWORDS, #name "(" words ")\n--\n\n" text},
    ENTRIES(ENTRY)
#undef ENTRY
        {"_profile", tess_py_profile, METH_VARARGS, NULL},
    {"_interp", (PyCFunction)(void (*)(void))tess_py_interp, METH_FASTCALL, NULL},
    {"_points", (PyCFunction)(void (*)(void))tess_py_points, METH_FASTCALL, NULL},
    {"_plan", (PyCFunction)(void (*)(void))plan, METH_FASTCALL | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL},
};

tess_py_state *tess_py_state_of(PyObject *module) { return PyModule_GetState(module); }

/* ---- Setting up ------------------------------------------------------------------------------------------------ */

static PyObject *add_class(PyObject *module, PyType_Spec *spec, const char *name) {
    PyObject *made = PyType_FromModuleAndSpec(module, spec, NULL);
    if (made && name && PyModule_AddObjectRef(module, name, made) < 0)
        Py_CLEAR(made);
    return made;
}

static PyObject *add_error(PyObject *module, const char *name, const char *doc, PyObject *bases) {
    char full[64];
    PyOS_snprintf(full, sizeof full, "tessera.%s", name);
    PyObject *made = bases ? PyErr_NewExceptionWithDoc(full, doc, bases, NULL) : NULL;
    if (made && PyModule_AddObjectRef(module, name, made) < 0)
        Py_CLEAR(made);
    return made;
}

static int module_exec(PyObject *module) {
    static const char *const names[N_COUNT] = {
#define TESS_PY_TEXT(name) #name,
        TESS_PY_NAMES(TESS_PY_TEXT)
#undef TESS_PY_TEXT
    };
    tess_py_state *state = tess_py_state_of(module);
    if (pthread_mutex_init(&state->lock, NULL) != 0) {
        PyErr_SetString(PyExc_RuntimeError, "a lock could not be made");
        return -1;
    }
    if (tess_version() != TESSERA_VERSION) {
        PyErr_Format(PyExc_ImportError, "the loaded library has the version %d, the module was built for %d", tess_version(), TESSERA_VERSION);
        return -1;
    }
    for (int k = 0; k < N_COUNT; k++)
        if (!(state->names[k] = PyUnicode_InternFromString(names[k])))
            return -1;
    PyObject *bases = PyTuple_Pack(2, PyExc_ValueError, PyExc_IndexError), *other = PyTuple_Pack(1, PyExc_RuntimeError);
    state->axis_error = add_error(module, "AxisError", "An axis does not exist or is named twice.", bases);
    state->engine_error =
        add_error(module, "EngineError", "The engine asked for is not there, or the array lives on a device that it cannot use.", other);
    Py_XDECREF(bases);
    Py_XDECREF(other);
    state->kinds = PyDict_New();
    state->array_type = add_class(module, &tess_py_array_spec, "Array");
    state->plan_type = add_class(module, &tess_py_plan_spec, "Plan");
    state->profile_type = add_class(module, &tess_py_profile_spec, "Profile");
    state->context_type = add_class(module, &tess_py_context_spec, NULL);
    if (!state->axis_error || !state->engine_error || !state->kinds || !state->array_type || !state->plan_type || !state->profile_type ||
        !state->context_type)
        return -1;
    if (!(state->helpers = PyImport_ImportModule("tessera._arrays")) || !(state->context = tess_py_context_new(state, 0, NULL)))
        return -1;
    if (!tess_py_find_main_thread() || PyModule_AddFunctions(module, tess_py_machine_methods) < 0)
        return -1;
    PyObject *version = PyUnicode_FromFormat("%d.%d.%d", TESSERA_VERSION_MAJOR, TESSERA_VERSION_MINOR, TESSERA_VERSION_PATCH);
    int added = version ? PyModule_AddObjectRef(module, "__version__", version) : -1;
    Py_XDECREF(version);
    return added;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
    tess_py_state *state = tess_py_state_of(module);
    Py_VISIT(state->array_type);
    Py_VISIT(state->plan_type);
    Py_VISIT(state->profile_type);
    Py_VISIT(state->context_type);
    Py_VISIT(state->axis_error);
    Py_VISIT(state->engine_error);
    Py_VISIT(state->kinds);
    Py_VISIT(state->helpers);
    Py_VISIT(state->context);
    Py_VISIT(state->numpy_empty);
    for (int t = 0; t < TESS_PY_TYPES; t++) {
        Py_VISIT(state->numpy_dtypes[t]);
        Py_VISIT(state->numpy_scalars[t]);
    }
    return 0;
}

static int module_clear(PyObject *module) {
    tess_py_state *state = tess_py_state_of(module);
    for (int k = 0; k < N_COUNT; k++)
        Py_CLEAR(state->names[k]);
    for (int t = 0; t < TESS_PY_TYPES; t++) {
        Py_CLEAR(state->numpy_dtypes[t]);
        Py_CLEAR(state->numpy_scalars[t]);
    }
    Py_CLEAR(state->numpy_empty);
    Py_CLEAR(state->helpers);
    Py_CLEAR(state->kinds);
    Py_CLEAR(state->context);
    Py_CLEAR(state->array_type);
    Py_CLEAR(state->plan_type);
    Py_CLEAR(state->profile_type);
    Py_CLEAR(state->context_type);
    Py_CLEAR(state->axis_error);
    Py_CLEAR(state->engine_error);
    return 0;
}

static void module_free(void *module) { module_clear(module); }

/* Slots 3 and 4 are newer than the limited API of 3.11, where they are refused: which table applies is decided when the module is loaded. */
enum { SLOT_INTERPRETERS = 3, SLOT_GIL = 4 };
static PyModuleDef_Slot slots_311[] = {{Py_mod_exec, (void *)module_exec}, {0, NULL}};
static PyModuleDef_Slot slots_312[] = {{Py_mod_exec, (void *)module_exec}, {SLOT_INTERPRETERS, (void *)2}, {0, NULL}}; /* each its own GIL */
#ifdef TESSERA_PYTHON_FULL_API
static PyModuleDef_Slot slots_313[] = {
    {Py_mod_exec, (void *)module_exec}, {SLOT_INTERPRETERS, (void *)2}, {SLOT_GIL, (void *)1}, {0, NULL}}; /* none needed */
#endif

static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "tessera._tessera",
    .m_doc = "The C side of the package tessera.",
    .m_size = sizeof(tess_py_state),
    .m_methods = methods,
    .m_slots = slots_311,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__tessera(void);
PyMODINIT_FUNC PyInit__tessera(void) {
    if (Py_Version >= 0x030c0000)
        definition.m_slots = slots_312;
#ifdef TESSERA_PYTHON_FULL_API
    if (Py_Version >= 0x030d0000)
        definition.m_slots = slots_313;
#endif
    return PyModuleDef_Init(&definition);
}
