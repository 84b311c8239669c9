# SPDX-License-Identifier: Apache-2.0
"""NumPy's own tests of reductions, take, convolve, correlate and interp, with Tessera doing the work.

NumPy's methods and functions meet in a few names of numpy.core._methods and numpy.core.fromnumeric. These are replaced, before anything has used
them, by adapters over tess.py; what an adapter does not cover (object arrays, long double, dates, subclasses, where=, initial=) goes on to NumPy
and is counted. Then the installed test modules run. A test that fails must be in DIFFERENCES with its cause, and what is listed must fail."""
import functools
import os
import sys
import unittest
import warnings

import numpy as np
from numpy.core import _methods, fromnumeric

import tess
from suites import Outcomes, require, run_modules

DIRECTORY = os.path.dirname(np.__file__)
MODULES = ["core/tests/test_numeric.py", "core/tests/test_multiarray.py", "core/tests/test_item_selection.py", "core/tests/test_ufunc.py",
           "core/tests/test_regression.py", "lib/tests/test_nanfunctions.py", "lib/tests/test_function_base.py"]
# Slow, and about other things (matrix products, the buffer protocol, leaks, ...).
UNRELATED = " and ".join("not " + word for word in (
    "TestDot", "Matmul", "BufferProtocol", "huge", "test_count_nonzero_all", "TestLeaks", "TestClip", "TestCreation", "Alignment", "TestIO",
    "TestSort", "sort", "structarray_title", "matrix_multiply", "TestAsCArray", "TestPickling", "TestStringCompare", "TestRequire"))

# Test id -> why Tessera differs there.
_HALF_INFINITE = "from an infinite left neighbour NumPy interpolates a second time, from the right; Tessera's one fma gives NaN"
DIFFERENCES = {
    "test_function_base.py::TestInterp::test_non_finite_half_inf_f[real]": _HALF_INFINITE,
    "test_function_base.py::TestMedian::test_empty": "NumPy warns of the division 0 / 0 as well; Tessera has no floating-point warnings",
}

calls = {"tessera": 0, "numpy": 0}
ABSENT = (None, np._NoValue)
REDUCE = {"sum": np.add.reduce, "prod": np.multiply.reduce, "max": np.maximum.reduce, "min": np.minimum.reduce,
          "any": np.logical_or.reduce, "all": np.logical_and.reduce}


def plain(a):
    """The argument as an array that Tessera takes, or None."""
    if type(a) is not np.ndarray or a.dtype not in tess.NAME_OF or not a.dtype.isnative or a.ndim > 32:
        return None
    return a if all(s % a.itemsize == 0 for s in a.strides) else a.copy()


def axis_list(axis, ndim):
    if axis is None:
        return list(range(ndim))
    return list(np.core.numeric.normalize_axis_tuple(axis, ndim))


def delivered(result, out):
    calls["tessera"] += 1
    if out is not None:
        out[...] = result
        return out
    return result[()]


def tell(what, happened):
    """NumPy's floating-point warnings; Tessera has none."""
    answer = np.geterr()["over" if what == "overflow" else what]
    if happened and answer == "raise":
        raise FloatingPointError(f"{what} value encountered in reduce")
    if happened and answer == "warn":
        warnings.warn(f"{what} value encountered in reduce", RuntimeWarning, stacklevel=3)


def usable_out(out, shape):
    return out is None or (type(out) is np.ndarray and out.shape == shape and out.dtype in tess.NAME_OF)


def reduction(operation):
    original = REDUCE[operation]

    def call(a, axis=0, dtype=None, out=None, keepdims=False, initial=np._NoValue, where=True):
        out = out[0] if isinstance(out, tuple) else out
        x = plain(a)
        wanted = None if dtype is None else np.dtype(dtype)
        kept = keepdims is True or keepdims is False
        if x is None or (x.ndim == 0 and axis not in (None, ())) or initial is not np._NoValue or where is not True or not kept or (x.dtype.kind == "c" and operation in ("max", "min")) or \
                (wanted is not None and (wanted not in tess.NAME_OF or operation not in ("sum", "prod"))):
            calls["numpy"] += 1
            arguments = {} if where is True else {"where": where}
            return original(a, axis, dtype, out, keepdims, initial, **arguments)
        axes = axis_list(axis, x.ndim)
        shape = tess.reduced_shape(x.shape, axes, keepdims)
        if not usable_out(out, shape):
            calls["numpy"] += 1
            return original(a, axis, dtype, out, keepdims)
        kind = wanted
        if operation in ("sum", "prod"):
            if kind is None and out is not None:
                kind = out.dtype  # a ufunc computes in the output's type
            if kind is None:
                kind = {"b": np.dtype(int), "i": np.dtype(int), "u": np.dtype(np.uint)}.get(x.dtype.kind, x.dtype)
                kind = max(kind, x.dtype, key=lambda t: t.itemsize)
            if not np.can_cast(x.dtype, kind, "same_kind") or (out is not None and not np.can_cast(kind, out.dtype, "same_kind")):
                return original(a, axis, dtype, out, keepdims)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                x = x.astype(kind, copy=False)
            if kind.kind in "iub":  # Tessera sums in 64 bits and saturates; NumPy wraps in the type asked for
                wide = tess.reduce(operation, x, axes=axes, keepdims=keepdims)
                return delivered(wide != 0 if kind.kind == "b" else wide.astype(kind), out)
        else:
            kind = np.dtype(bool) if operation in ("any", "all") else x.dtype
        try:
            result = tess.reduce(operation, x, axes=axes, keepdims=keepdims, out_type=tess.NAME_OF[kind])
        except tess.TessError as error:
            if error.status == "EMPTY":
                raise ValueError(f"zero-size array to reduction operation {operation}imum which has no identity") from error
            raise
        if kind.kind == "f":
            tell("invalid", np.isnan(result).any() and not np.isnan(x).any())
            tell("overflow", np.isinf(result).any() and not np.isinf(x).any())
        return delivered(result, out)
    return call


def moments(operation, original):
    @functools.wraps(original)
    def call(a, axis=None, dtype=None, out=None, *rest, **options):
        keepdims, where, ddof = options.get("keepdims", False), options.get("where", True), options.get("ddof", 0)
        x = plain(a)
        if x is None or rest or where is not True or dtype is not None or not isinstance(ddof, (int, float)) or \
                (x.dtype.kind == "c" and operation != "mean") or (out is not None and not usable_out(out, tess.reduced_shape(
                    x.shape, axis_list(axis, x.ndim), keepdims))):
            calls["numpy"] += 1
            return original(a, axis, dtype, out, *rest, **options)
        axes = axis_list(axis, x.ndim)
        count = int(np.prod([x.shape[d] for d in axes], dtype=np.int64))
        if count - (ddof if operation != "mean" else 0) <= 0:
            warnings.warn("Mean of empty slice." if operation == "mean" else "Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=2)
        kind = np.dtype(np.float64) if x.dtype.kind in "iub" else x.dtype
        return delivered(tess.reduce(operation, x, axes=axes, keepdims=bool(keepdims), ddof=float(ddof), out_type=tess.NAME_OF[kind]), out)
    return call


def omitting(operation, original):
    """np.nansum and its like on plain arrays of floats: one reduction that omits NaN."""
    @functools.wraps(original)
    def call(a, *rest, **options):
        x = plain(a)
        axis, keepdims, ddof = (options.get(k, v) for k, v in (("axis", rest[0] if rest else None), ("keepdims", False), ("ddof", 0)))
        if x is None or x.dtype.kind != "f" or len(rest) > 1 or set(options) - {"axis", "keepdims", "ddof"} or x.size == 0 or \
                keepdims not in (True, False) or (axis is not None and not isinstance(axis, (int, tuple))) or \
                (operation.startswith("arg") and isinstance(axis, tuple)) or not isinstance(ddof, (int, float)):
            calls["numpy"] += 1
            return original(a, *rest, **options)
        axes = axis_list(axis, x.ndim)
        gone = np.logical_and.reduce(np.isnan(x), axis=tuple(axes))
        if gone.any() or (operation in ("var", "std") and (np.add.reduce(~np.isnan(x), axis=tuple(axes)) <= ddof).any()):
            if operation not in ("sum", "prod"):
                calls["numpy"] += 1
                return original(a, *rest, **options)  # a warning or an error, which is Python's affair
        kind = np.dtype(np.intp) if operation.startswith("arg") else x.dtype
        result = tess.reduce(operation, x, axes=axes, keepdims=bool(keepdims), nan="omit", ddof=float(ddof), out_type=tess.NAME_OF[kind])
        return delivered(result, None)
    return call


def arg(operation, original):
    @functools.wraps(original)
    def call(a, axis=None, out=None, *, keepdims=np._NoValue):
        x = plain(a)
        if x is None or out is not None or x.dtype.kind == "c" or not (axis is None or isinstance(axis, int)):
            calls["numpy"] += 1
            return original(a, axis, out, keepdims=keepdims)
        try:
            return delivered(tess.reduce(operation, x, axes=axis_list(axis, x.ndim), keepdims=keepdims is True), None)
        except tess.TessError as error:
            raise ValueError(f"attempt to get {operation} of an empty sequence") from error
    return call


def count_nonzero(a, axis=None, *, keepdims=False):
    x = plain(a)
    if x is None:
        calls["numpy"] += 1
        return originals["count_nonzero"](a, axis, keepdims=keepdims)
    result = delivered(tess.reduce("count_nonzero", x, axes=axis_list(axis, x.ndim), keepdims=keepdims), None)
    return int(result) if axis is None and not keepdims else result


def take(a, indices, axis=None, out=None, mode="raise"):
    x, index = plain(a), np.asarray(indices)
    known = x is not None and index.dtype.kind in "iu" and index.dtype in tess.NAME_OF and out is None and mode in ("raise", "clip", "wrap")
    if known and axis is None:
        x, axis = x.ravel(), 0
    if not known or not isinstance(axis, int) or not -x.ndim <= axis < x.ndim:
        calls["numpy"] += 1
        return originals["take"](a, indices, axis, out, mode)
    if mode == "raise":  # NumPy counts negative indices from the end: a wrap for those that are there
        n = x.shape[axis]
        inside = bool(((index >= -n) & (index < n)).all()) if index.dtype.kind == "i" else False
        mode = "wrap" if inside and index.size and n else "error"
    try:
        return delivered(tess.lookup(x, np.array(index), axis=axis, outside=mode), None)
    except tess.TessError as error:
        raise IndexError(str(error)) from error


def sliding(function, original):
    """np.convolve and np.correlate: both exchange their arguments when the second is longer, and differ from ours on even widths."""
    @functools.wraps(original)
    def call(a, v, mode="full" if function is tess.convolve else "valid"):
        x, w = np.asarray(a), np.asarray(v)
        kind = np.result_type(x, w)
        if x.ndim != 1 or w.ndim != 1 or not 0 < w.size <= x.size or kind not in tess.NAME_OF or kind.kind in "b" or \
                mode not in ("full", "same", "valid") or isinstance(a, np.ma.MaskedArray):
            calls["numpy"] += 1
            return original(a, v, mode)
        even = mode == "same" and w.size % 2 == 0 and function is tess.convolve
        wide = np.dtype(np.int64 if kind.kind == "i" else np.uint64) if kind.kind in "iu" else kind
        mask = w.astype(wide) if function is tess.convolve else w.astype(wide).conj()
        result = function(x.astype(wide), mask, extent=mode, origin=[-1] if even else None)
        return delivered(result.astype(kind), None)
    return call


def interp(x, xp, fp, left=None, right=None, period=None):
    grid, values = np.asarray(xp), np.asarray(fp)
    if period is not None or grid.ndim != 1 or grid.size == 0 or grid.shape != values.shape or grid.dtype.kind not in "iuf" or \
            values.dtype.kind not in "iuf" or not np.array_equal(grid, np.arange(grid.size)) or np.asarray(x).dtype.kind not in "iuf":
        calls["numpy"] += 1
        return originals["interp"](x, xp, fp, left, right, period)
    at, table = np.asarray(x, np.float64), values.astype(np.float64)
    result = tess.lookup(table, np.array(at), outside="clip", interpolation="linear")
    result = np.where(np.isnan(at), np.nan, result)
    result = np.where(at < 0, table[0] if left is None else left, result)
    result = np.where(at > grid.size - 1, table[-1] if right is None else right, result)
    return delivered(result, None)


originals = {name: getattr(np, name) for name in ("take", "count_nonzero", "interp", "argmin", "argmax", "convolve", "correlate")}


def replace():
    for operation, name in (("sum", "umr_sum"), ("prod", "umr_prod"), ("max", "umr_maximum"), ("min", "umr_minimum"), ("any", "umr_any"),
                            ("all", "umr_all")):
        setattr(_methods, name, reduction(operation))
    by_ufunc = {np.add: "umr_sum", np.multiply: "umr_prod", np.maximum: "umr_maximum", np.minimum: "umr_minimum", np.logical_or: "umr_any",
                np.logical_and: "umr_all"}
    wrap = fromnumeric._wrapreduction

    def _wrapreduction(obj, ufunc, method, axis, dtype, out, **options):
        if type(obj) is not np.ndarray or ufunc not in by_ufunc:
            return wrap(obj, ufunc, method, axis, dtype, out, **options)
        given = {k: v for k, v in options.items() if v is not np._NoValue}
        return getattr(_methods, by_ufunc[ufunc])(obj, axis, dtype, out, **given)
    fromnumeric._wrapreduction = _wrapreduction
    for name in ("mean", "var", "std"):
        setattr(_methods, "_" + name, moments(name, getattr(_methods, "_" + name)))
    for name in ("sum", "prod", "min", "max", "mean", "var", "std", "argmin", "argmax"):
        setattr(np, "nan" + name, omitting(name, getattr(np, "nan" + name)))
    for name in ("argmin", "argmax"):
        setattr(np, name, arg(name, originals[name]))
    np.take, np.count_nonzero, np.interp = (functools.wraps(originals[f.__name__])(f) for f in (take, count_nonzero, interp))
    np.convolve, np.correlate = sliding(tess.convolve, np.convolve), sliding(tess.correlate, np.correlate)


class NumpySuite(unittest.TestCase):
    def test_numpy(self):
        outcomes = Outcomes()
        replace()
        run_modules(DIRECTORY, MODULES, outcomes, ["-k", UNRELATED])
        print(f"NumPy {np.__version__}: {outcomes}; {calls['tessera']} calls by Tessera, {calls['numpy']} left to NumPy", file=sys.stderr)
        self.assertGreater(calls["tessera"], 1000)
        outcomes.compare(self, DIFFERENCES)


if __name__ == "__main__":
    require(DIRECTORY, MODULES)
    unittest.main()
