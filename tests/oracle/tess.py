# SPDX-License-Identifier: Apache-2.0
"""A thin ctypes binding of libtessera.so for the oracle tests: NumPy arrays of any strides go in as DLTensor views.

It is no product (the Python module is another thing): it offers every option of the C interface under the C interface's
names, adds no conversions and no defaults of its own, and turns a status into an exception that carries tess_detail().

The library is $TESSERA_LIBRARY, or build/libtessera.so of this tree. NumPy has no bfloat16: an array of uint16 wrapped
as Bits(array, "bf16") stands for one; to_bf16 and from_bf16 convert.
"""
import ctypes
import os
from ctypes import (POINTER, Structure, byref, c_bool, c_char, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint8,
                    c_uint16, c_uint64, c_void_p)

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
library = ctypes.CDLL(os.environ.get("TESSERA_LIBRARY", os.path.join(ROOT, "build", "libtessera.so")))

TYPES = ["bool", "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "bf16", "f32", "f64", "c64", "c128"]
INTEGERS = TYPES[1:9]
FLOATS = TYPES[9:13]
COMPLEX = TYPES[13:]
NUMPY = dict(zip(TYPES, map(np.dtype, ["?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "u2", "f4", "f8", "c8", "c16"])))
NAME_OF = {dtype: name for name, dtype in NUMPY.items() if name != "bf16"}
CODES = {"b": 6, "u": 1, "i": 0, "f": 2, "c": 5}

BOUNDARIES = ["zero", "constant", "nearest", "reflect", "mirror", "wrap"]
EXTENTS = ["same", "valid", "full"]
REDUCTIONS = ["sum", "prod", "min", "max", "mean", "var", "std", "argmin", "argmax", "any", "all", "count_nonzero", "norm1", "norm2",
              "norm_inf"]
OUTSIDE = ["error", "clip", "wrap", "fill"]
INTERPOLATIONS = ["none", "nearest", "linear", "cubic"]
ISAS = ["auto", "baseline", "avx2", "avx512", "neon"]


class DLDevice(Structure):
    _fields_ = [("device_type", c_int), ("device_id", c_int32)]


class DLDataType(Structure):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class DLTensor(Structure):
    _fields_ = [("data", c_void_p), ("device", DLDevice), ("ndim", c_int32), ("dtype", DLDataType), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


class Report(Structure):
    _fields_ = [("struct_size", c_size_t), ("strategy", c_char * 48), ("isa", c_char * 16), ("threads", c_int), ("seconds", c_double),
                ("bytes", c_double), ("flops", c_double), ("workspace", c_double)]


class Call(Structure):
    _fields_ = [("engine", c_int), ("strategy", c_char_p), ("workspace", c_void_p), ("workspace_size", c_size_t), ("stream", c_void_p),
                ("report", POINTER(Report))]


class CorrelateOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("axes", POINTER(c_int)), ("naxes", c_int), ("origin", POINTER(c_int64)), ("boundary", c_int),
                ("constant", c_double), ("extent", c_int), ("accuracy", c_int), ("compute", c_int), ("flip", c_bool), ("call", Call)]


class ReduceOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("axes", POINTER(c_int)), ("naxes", c_int), ("keepdims", c_bool), ("nan", c_int),
                ("ddof", c_double), ("exact", c_bool), ("offsets", POINTER(DLTensor)), ("call", Call)]


class TransposeOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("perm", POINTER(c_int)), ("nperm", c_int), ("call", Call)]


class LookupOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("axis", c_int), ("outside", c_int), ("fill", c_double), ("interpolation", c_int), ("call", Call)]


class ContextOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("threads", c_int), ("engine", c_int), ("isa", c_int), ("strategy", c_char_p),
                ("allocate", c_void_p), ("release", c_void_p), ("allocator_user", c_void_p), ("progress", c_void_p),
                ("progress_user", c_void_p)]


class StrategyInfo(Structure):
    _fields_ = [("name", c_char_p), ("operation", c_char_p), ("idea", c_char_p), ("source", c_char_p), ("target", c_char_p),
                ("isas", c_char_p), ("usable", c_bool)]


def _declare():
    tensor = POINTER(DLTensor)
    signatures = {
        "tess_version": (c_int, []),
        "tess_detail": (c_char_p, []),
        "tess_status_name": (c_char_p, [c_int]),
        "tess_status_text": (c_char_p, [c_int]),
        "tess_type_name": (c_char_p, [c_int]),
        "tess_type_named": (c_int, [c_char_p]),
        "tess_type_size": (c_size_t, [c_int]),
        "tess_type_of": (c_int, [DLDataType]),
        "tess_dl_type": (DLDataType, [c_int]),
        "tess_open": (c_int, [POINTER(c_void_p), POINTER(ContextOptions)]),
        "tess_close": (None, [c_void_p]),
        "tess_set_threads": (c_int, [c_void_p, c_int]),
        "tess_threads": (c_int, [c_void_p]),
        "tess_correlate": (c_int, [c_void_p, tensor, tensor, tensor, POINTER(CorrelateOptions)]),
        "tess_convolve": (c_int, [c_void_p, tensor, tensor, tensor, POINTER(CorrelateOptions)]),
        "tess_correlate_separable": (c_int, [c_void_p, tensor, POINTER(tensor), c_int, tensor, POINTER(CorrelateOptions)]),
        "tess_convolve_separable": (c_int, [c_void_p, tensor, POINTER(tensor), c_int, tensor, POINTER(CorrelateOptions)]),
        "tess_reduce": (c_int, [c_void_p, c_int, tensor, tensor, POINTER(ReduceOptions)]),
        "tess_reduction_name": (c_char_p, [c_int]),
        "tess_reduction_named": (c_bool, [c_char_p, POINTER(c_int)]),
        "tess_transpose": (c_int, [c_void_p, tensor, tensor, POINTER(TransposeOptions)]),
        "tess_lookup": (c_int, [c_void_p, tensor, tensor, tensor, POINTER(LookupOptions)]),
        "tess_plan_correlate": (c_int, [POINTER(c_void_p), c_void_p, tensor, POINTER(tensor), c_int, tensor, POINTER(CorrelateOptions)]),
        "tess_plan_reduce": (c_int, [POINTER(c_void_p), c_void_p, c_int, tensor, tensor, POINTER(ReduceOptions)]),
        "tess_plan_transpose": (c_int, [POINTER(c_void_p), c_void_p, tensor, tensor, POINTER(TransposeOptions)]),
        "tess_plan_lookup": (c_int, [POINTER(c_void_p), c_void_p, tensor, tensor, tensor, POINTER(LookupOptions)]),
        "tess_plan_free": (None, [c_void_p]),
        "tess_plan_workspace": (c_size_t, [c_void_p]),
        "tess_execute": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, POINTER(Call)]),
        "tess_explain": (c_int, [c_void_p, c_int, c_char_p, c_size_t, POINTER(c_size_t)]),
        "tess_strategy_count": (c_int, []),
        "tess_strategy_get": (c_bool, [c_int, POINTER(StrategyInfo)]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments


_declare()
TYPE_NUMBER = {name: library.tess_type_named(name.encode()) for name in TYPES}
STATUSES = {}
for _k in range(64):
    _name = library.tess_status_name(_k).decode()
    if _name != "?":
        STATUSES[_k] = _name.replace("TESS_ERR_", "")


class TessError(Exception):
    """status: "SHAPE"; detail: the library's sentence."""

    def __init__(self, status):
        self.status = STATUSES.get(status, str(status))
        self.detail = library.tess_detail().decode()
        super().__init__(f"{self.status}: {self.detail}")


def check(status):
    if status != 0:
        raise TessError(status)


class Bits:
    """Another type over a NumPy array of the same element size: Bits(uint16 array, "bf16")."""

    def __init__(self, array, name):
        self.array, self.name = array, name
        self.shape, self.ndim = array.shape, array.ndim


def to_bf16(values):
    """float to bfloat16 bits as uint16: half to even, NaN canonical."""
    f = np.ascontiguousarray(values, np.float32)
    u = f.view(np.uint32).astype(np.uint64)
    rounded = ((u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(f), np.uint16(0x7FC0), rounded).reshape(np.shape(values))


def from_bf16(bits):
    wide = np.array(bits, np.uint16, ndmin=1).astype(np.uint32) << 16
    return wide.view(np.float32).reshape(np.shape(bits))


def type_of(array):
    return array.name if isinstance(array, Bits) else NAME_OF[array.dtype]


def view(array):
    """A DLTensor of the array. It keeps alive what it points to."""
    name = type_of(array)
    raw = array.array if isinstance(array, Bits) else array
    if not raw.dtype.isnative:
        raise TypeError("byte order")
    tensor = DLTensor()
    size = raw.dtype.itemsize
    strides = [s // size for s in raw.strides]
    if any(s % size for s, n in zip(raw.strides, raw.shape) if n > 1):
        raise TypeError("strides are not whole elements")
    tensor.data = raw.__array_interface__["data"][0] if raw.size else None
    tensor.device = DLDevice(1, 0)
    tensor.ndim = raw.ndim
    tensor.dtype = library.tess_dl_type(TYPE_NUMBER[name])
    tensor._shape = (c_int64 * raw.ndim)(*raw.shape)
    tensor._strides = (c_int64 * raw.ndim)(*strides)
    tensor.shape = ctypes.cast(tensor._shape, POINTER(c_int64))
    tensor.strides = ctypes.cast(tensor._strides, POINTER(c_int64))
    tensor._raw = raw
    return tensor


class Context:
    """with Context(threads=3, isa="avx2") as context: ..."""

    def __init__(self, threads=0, isa="auto", strategy=None):
        options = ContextOptions(struct_size=ctypes.sizeof(ContextOptions), threads=threads, isa=ISAS.index(isa),
                                 strategy=strategy and strategy.encode())
        self.handle = c_void_p()
        check(library.tess_open(byref(self.handle), byref(options)))

    def close(self):
        library.tess_close(self.handle)
        self.handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def strategies(operation=None):
    names = []
    for k in range(library.tess_strategy_count()):
        info = StrategyInfo()
        assert library.tess_strategy_get(k, byref(info))
        if operation in (None, info.operation.decode()):
            names.append(info.name.decode())
    return names


def usable_isas():
    names = []
    for name in ISAS[1:]:
        try:
            Context(threads=1, isa=name).close()
            names.append(name)
        except TessError as error:
            if error.status != "ENGINE":
                raise
    return names


def _handle(context):
    return context.handle if context is not None else None


def _ints(values, kind=c_int):
    return None if values is None else (kind * max(len(values), 1))(*values)


def _call(strategy, report):
    call = Call(strategy=strategy and strategy.encode())
    if report is not None:
        report.struct_size = ctypes.sizeof(Report)
        call.report = ctypes.pointer(report)
    return call


def new(shape, name):
    """An output full of a pattern, so that elements left unwritten are seen."""
    array = np.empty(shape, NUMPY[name])
    array.view(np.uint8 if array.ndim else None).fill(0xA5) if array.ndim and array.dtype != bool else array.fill(1)
    return Bits(array, "bf16") if name == "bf16" else array


def bare(array):
    return array.array if isinstance(array, Bits) else array


def _choice(names, value):
    return value if isinstance(value, int) else names.index(value)


def correlate_options(axes=None, origin=None, boundary="zero", constant=0.0, extent="same", accuracy="direct", compute=None, flip=False,
                      strategy=None, report=None):
    options = CorrelateOptions(struct_size=ctypes.sizeof(CorrelateOptions), constant=constant, flip=flip)
    options._keep = (_ints(axes), _ints(origin, c_int64))
    options.axes, options.origin = options._keep
    options.naxes = 0 if axes is None else len(axes)
    options.boundary = _choice(BOUNDARIES, boundary)
    options.extent = _choice(EXTENTS, extent)
    options.accuracy = _choice(["direct", "fast", "fft"], accuracy)
    options.compute = TYPE_NUMBER[compute] if compute else 0
    options.call = _call(strategy, report)
    return options


def filtered_shape(shape, widths, axes, extent):
    shape = list(shape)
    for axis, width in zip(axes, widths):
        n = shape[axis]
        shape[axis] = {"same": n, "valid": max(n - width + 1, 0), "full": n + width - 1}[extent]
    return tuple(shape)


def _filter(function, array, mask, out, out_type, context, options):
    if out is None:
        axes = options.pop("_axes", None)
        if axes is None:
            axes = options.get("axes")
        if axes is None:
            axes = range(array.ndim - mask.ndim, array.ndim)
        out = new(filtered_shape(array.shape, mask.shape, axes, options.get("extent", "same")), out_type or type_of(array))
    check(function(_handle(context), byref(view(array)), byref(view(mask)), byref(view(out)), byref(correlate_options(**options))))
    return out


def correlate(array, mask, out=None, out_type=None, context=None, **options):
    return _filter(library.tess_correlate, array, mask, out, out_type, context, options)


def convolve(array, mask, out=None, out_type=None, context=None, **options):
    return _filter(library.tess_convolve, array, mask, out, out_type, context, options)


def separable(array, masks, out=None, out_type=None, context=None, flip=False, **options):
    axes = options.get("axes")
    if axes is None:
        axes = list(range(array.ndim - len(masks), array.ndim))
    if out is None:
        out = new(filtered_shape(array.shape, [m.shape[0] for m in masks], axes, options.get("extent", "same")), out_type or type_of(array))
    views = [view(m) for m in masks]
    pointers = (POINTER(DLTensor) * len(views))(*[ctypes.pointer(v) for v in views])
    function = library.tess_convolve_separable if flip else library.tess_correlate_separable
    check(function(_handle(context), byref(view(array)), pointers, len(views), byref(view(out)), byref(correlate_options(**options))))
    return out


# What the header calls the natural result types; the interface leaves the choice to the caller.
def result_type(operation, name):
    if operation in ("argmin", "argmax", "count_nonzero"):
        return "i64"
    if operation in ("any", "all"):
        return "bool"
    if operation in ("min", "max"):
        return name
    if operation in ("var", "std", "norm2"):
        return "f64"
    if operation == "mean":
        return "f64" if name in ["bool"] + INTEGERS else name
    if operation in ("norm1", "norm_inf"):
        return {"c64": "f32", "c128": "f64"}.get(name, name if name in FLOATS else "u64")
    if name == "bool" or name in ("u8", "u16", "u32", "u64"):
        return "u64"
    return "i64" if name in INTEGERS else name


def reduced_shape(shape, axes, keepdims, segments=None):
    ndim = len(shape)
    axes = range(ndim) if axes is None else [a % ndim for a in axes]
    if segments is not None:
        return tuple(segments if d in axes else n for d, n in enumerate(shape))
    return tuple(1 if d in axes else n for d, n in enumerate(shape) if keepdims or d not in axes)


def reduce(operation, array, out=None, out_type=None, context=None, axes=None, keepdims=False, nan="propagate", ddof=0.0, exact=False,
           offsets=None, strategy=None, report=None):
    options = ReduceOptions(struct_size=ctypes.sizeof(ReduceOptions), keepdims=keepdims, ddof=ddof, exact=exact)
    options._axes = _ints(axes)
    options.axes = options._axes
    options.naxes = 0 if axes is None else len(axes)
    options.nan = _choice(["propagate", "omit"], nan)
    if offsets is not None:
        options._offsets = view(offsets)
        options.offsets = ctypes.pointer(options._offsets)
    options.call = _call(strategy, report)
    if out is None:
        segments = None if offsets is None else len(offsets) - 1
        out = new(reduced_shape(array.shape, axes, keepdims, segments), out_type or result_type(operation, type_of(array)))
    check(library.tess_reduce(_handle(context), _choice(REDUCTIONS, operation), byref(view(array)), byref(view(out)), byref(options)))
    return out


def transpose(array, perm=None, out=None, context=None, strategy=None, report=None):
    options = TransposeOptions(struct_size=ctypes.sizeof(TransposeOptions), nperm=0 if perm is None else len(perm))
    options._perm = _ints(perm)
    options.perm = options._perm
    options.call = _call(strategy, report)
    if out is None:
        order = range(array.ndim)[::-1] if perm is None else perm
        out = new([array.shape[p] for p in order], type_of(array))
    check(library.tess_transpose(_handle(context), byref(view(array)), byref(view(out)), byref(options)))
    return out


def lookup(table, index, out=None, out_type=None, context=None, axis=0, outside="error", fill=0.0, interpolation="none", strategy=None,
           report=None):
    options = LookupOptions(struct_size=ctypes.sizeof(LookupOptions), axis=axis, fill=fill)
    options.outside = _choice(OUTSIDE, outside)
    options.interpolation = _choice(INTERPOLATIONS, interpolation)
    options.call = _call(strategy, report)
    if out is None:
        at = axis % table.ndim
        out = new(table.shape[:at] + index.shape + table.shape[at + 1:], out_type or type_of(table))
    check(library.tess_lookup(_handle(context), byref(view(table)), byref(view(index)), byref(view(out)), byref(options)))
    return out
