# SPDX-License-Identifier: Apache-2.0
"""What the functions of tessera.ndimage share: outputs, boundaries, the one way into the library, and what stands between its sums and SciPy's
outputs."""
import contextlib
import contextvars
import operator
import warnings

import numpy as np

from . import _tessera

BOUNDARIES = {"nearest": "nearest", "wrap": "wrap", "grid-wrap": "wrap", "reflect": "reflect", "grid-mirror": "reflect", "mirror": "mirror",
              "constant": "constant", "grid-constant": "constant"}
_accumulate = contextvars.ContextVar("tessera.ndimage.accumulation", default="native")


@contextlib.contextmanager
def accumulation(kind):
    """In which type float16 and float32 filters sum: "native" (float32, the default) or "float64", as SciPy always does.

    >>> x = numpy.float32([1e8, 1, -1e8])
    >>> ndimage.correlate1d(x, [1, 1, 1], mode="constant")[1]
    0.0
    >>> with ndimage.accumulation("float64"):
    ...     ndimage.correlate1d(x, [1, 1, 1], mode="constant")[1]
    1.0
    """
    if kind not in ("native", "float64"):
        raise ValueError(f"kind is {kind!r}, it is one of: native, float64")
    before = _accumulate.set(kind)
    try:
        yield
    finally:
        _accumulate.reset(before)


def boundary(mode):
    try:
        return BOUNDARIES[mode]
    except (KeyError, TypeError):
        raise RuntimeError("boundary mode not supported") from None


def sequence(value, length):
    """One entry an axis: a scalar counts for all."""
    if isinstance(value, str) or not np.iterable(value):
        return [value] * length
    value = list(value)
    if len(value) != length:
        raise RuntimeError("sequence argument must have length equal to input rank")
    return value


def checked_axes(axes, ndim):
    if axes is None:
        return tuple(range(ndim))
    axes = (axes,) if np.isscalar(axes) else tuple(axes)
    found = []
    for axis in axes:
        axis = operator.index(axis)
        if not -ndim <= axis < ndim:
            raise ValueError(f"specified axis: {axis} is out of range")
        found.append(axis % ndim)
    if len(set(found)) != len(found):
        raise ValueError("axes must be unique")
    return tuple(found)


def checked_axis(axis, ndim):
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise np.AxisError(axis, ndim) if hasattr(np, "AxisError") else np.exceptions.AxisError(axis, ndim)
    return axis % ndim


def make_output(output, input, shape=None, is_complex=False):
    """The array that SciPy's `output=` stands for: None, a type, a type's name or an array."""
    shape = input.shape if shape is None else shape
    if output is None:
        return np.zeros(shape, np.promote_types(input.dtype, np.complex64) if is_complex else input.dtype.newbyteorder("="))
    if isinstance(output, (type, np.dtype, str)):
        dtype = np.dtype(output)
        if is_complex and dtype.kind != "c":
            if isinstance(output, str):
                raise RuntimeError("output must have complex dtype")
            warnings.warn("promoting specified output dtype to complex", stacklevel=3)
            dtype = np.promote_types(dtype, np.complex64)
        if dtype.kind not in "biufc":
            raise RuntimeError("output must have numeric dtype")
        return np.zeros(shape, dtype)
    output = np.asarray(output)
    if output.shape != tuple(shape):
        raise RuntimeError("output shape not correct")
    if is_complex and output.dtype.kind != "c":
        raise RuntimeError("output must have complex dtype")
    return output


def known(array):
    """The array in a type and byte order of Tessera's: long double becomes double."""
    if array.dtype.kind not in "biufc":
        raise RuntimeError("data type not supported")
    dtype = np.dtype(np.complex128 if array.dtype.kind == "c" else np.float64) if array.dtype.char in "gG" else array.dtype.newbyteorder("=")
    return array if array.dtype == dtype and array.dtype.isnative else array.astype(dtype)


def cut(values):
    """Towards zero, as C converts - but a sum that rounding left a hair short of an integer counts as that integer."""
    with np.errstate(invalid="ignore"):
        near = np.rint(values)
        return np.where(np.abs(values - near) <= 2.0**-40 * np.maximum(np.abs(values), 1), near, np.trunc(values))


def store(values, output):
    """SciPy's conversion of a sum to the output: integers cut and wrapped around."""
    if output.dtype.kind in "biu" and values.dtype.kind == "f":
        values = cut(values)
        with np.errstate(invalid="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            large = values >= 2.0**63
            wrapped = values.astype(np.int64)
            values = np.where(large, values.astype(np.uint64), wrapped.astype(np.uint64)) if large.any() else wrapped
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        output[...] = values


def whole(weights, limit=2**31):
    """The weights as integers when they are, else None."""
    if weights.dtype.kind in "biu":
        return weights if weights.dtype.kind != "b" else weights.astype(np.uint8)
    if weights.dtype.kind == "f" and np.all(np.abs(weights) < limit) and np.all(weights == np.rint(weights)):
        return weights.astype(np.int64)
    return None


def filtered(input, output, masks, axes, mode, cval, origins):
    """Correlates `input` with one mask over `axes` (masks is an array), or with a list of 1-D masks, one for each axis, into `output`.

    Real sums run in float32 where input and output are float16 or float32, in integers where everything is whole, else in float64."""
    if output.size == 0:
        return output
    input = known(input)
    separable = isinstance(masks, list)
    weights = masks if separable else [masks]
    words = dict(axes=axes, origin=origins, boundary=boundary(mode), constant=float(np.real(cval)))
    function = _tessera.correlate_separable if separable else _tessera.correlate
    kinds = {input.dtype.kind} | {w.dtype.kind for w in weights}
    narrow = {np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.complex64)}
    single = input.dtype in narrow and output.dtype in narrow and _accumulate.get() == "native"
    exact = input.dtype.kind in "biu" and output.dtype.kind in "biu" and (words["boundary"] != "constant" or float(cval).is_integer())
    integers = [whole(w) for w in weights] if exact else [None]
    if "c" in kinds:
        weights = [w.astype((np.complex64 if single else np.complex128) if w.dtype.kind == "c" else (np.float32 if single else np.float64)) for w in weights]
        words["compute"] = "complex64" if single else "complex128"
    elif all(w is not None for w in integers):
        weights = [w.astype(np.int64) for w in integers]
    else:
        weights = [w.astype(np.float32 if single else np.float64) for w in weights]
        words["compute"] = "float32" if single else "float64"
    direct = output.dtype.kind in "fc" and output.dtype.char not in "gG" and output.dtype.isnative and output.flags.writeable and \
        not np.may_share_memory(input, output)
    given = weights if separable else weights[0]
    if direct:
        return function(input, given, out=output, **words)
    dtype = "int64" if "compute" not in words else "complex128" if "c" in kinds else "float64"
    store(function(input, given, dtype=dtype, **words), output)
    return output


def passes(input, output, steps, cval):
    """1-D correlations one after another: steps are (axis, weights, origin, mode). One call where nothing is rounded between them."""
    modes = {boundary(mode) for _, _, _, mode in steps}
    if output.dtype.kind in "fc" and len(modes) == 1:
        return filtered(input, output, [w for _, w, _, _ in steps], [a for a, _, _, _ in steps], steps[0][3], cval, [o for _, _, o, _ in steps])
    for axis, weights, origin, mode in steps:
        filtered(input, output, [weights], [axis], mode, cval, [origin])
        input = output
    return output
