# SPDX-License-Identifier: Apache-2.0
"""map_coordinates of tessera.ndimage: all but the loop over the points, which is the extension's."""
import numpy as np

from . import _tessera
from ._ndsupport import known, make_output

MODES = ("constant", "grid-constant", "nearest", "reflect", "grid-mirror", "mirror", "wrap", "grid-wrap")  # as points.c numbers them
PART = 32768  # points that go together: so many coordinates and sums are in other types than the caller's at a time


def _store(total, output):
    """SciPy rounds halves away from zero here, and types end at their ends."""
    if output.dtype.kind in "iu":
        limits = np.iinfo(output.dtype)
        with np.errstate(invalid="ignore"):
            high = total >= float(limits.max)  # the next power of two for 64 bits
            output[...] = np.where(high, 0, np.maximum(np.trunc(total + np.copysign(0.5, total)), limits.min))
        output[high] = limits.max
    else:
        output[...] = np.trunc(total) if output.dtype.kind == "b" else total


def map_coordinates(input, coordinates, output=None, order=3, mode="constant", cval=0.0, prefilter=True):
    """The array at coordinates between its elements, as scipy.ndimage.map_coordinates, for the orders 0 (nearest) and 1 (linear).

    The default order is SciPy's, 3, which is not offered: give order=1 or 0. prefilter plays no part in these orders. A coordinate that is NaN lies
    outside and gives cval in every mode (along one element no coordinate is outside but of the constant modes), where SciPy gives what the machine makes of it.

    >>> ndimage.map_coordinates(numpy.arange(12.0).reshape(4, 3), [[0.5, 2], [0.5, 1]], order=1)
    array([2., 7.])
    """
    if not 0 <= order <= 5:
        raise RuntimeError("spline order not supported")
    if order > 1:
        raise NotImplementedError(f"order is {order}: Tessera interpolates with order 0 and 1")
    if mode not in MODES:
        raise RuntimeError("boundary mode not supported")
    input = np.asarray(input)
    coordinates = np.asarray(coordinates)
    if np.iscomplexobj(coordinates):
        raise TypeError("Complex type not supported")
    if input.ndim < 1 or coordinates.ndim < 2:
        raise RuntimeError("input and output rank must be > 0")
    if coordinates.shape[0] != input.ndim:
        raise RuntimeError("invalid shape for coordinate array")
    is_complex = input.dtype.kind == "c"
    given = output is not None and not isinstance(output, (type, np.dtype, str))
    output = make_output(output, input, coordinates.shape[1:], is_complex)
    if not input.size:
        _store(np.full(output.shape, cval, np.complex128 if is_complex else np.float64), output)
        return output
    apart = not given or (output.flags.c_contiguous and not any(np.may_share_memory(output, other) for other in (input, coordinates)))
    target = (output if apart else np.empty(output.shape, output.dtype)).reshape(-1)
    points = coordinates.reshape(input.ndim, -1)
    elements = known(input)
    if elements.dtype.char == "e":
        elements = elements.astype(np.float32)
    elements = np.ascontiguousarray(elements)
    fill = complex(cval) if is_complex else float(cval)
    dtype = np.dtype(np.complex128 if is_complex else np.float64)
    for first in range(0, target.size, PART):
        part = target[first:first + PART]
        total = part if part.dtype == dtype and part.dtype.isnative else np.empty(part.size, dtype)
        at = np.ascontiguousarray(points[:, first:first + PART], np.float64)
        _tessera._points(elements, at, total, order, MODES.index(mode), fill.real, fill.imag)
        if total is not part:
            _store(total, part)
    if not apart:
        output[...] = target.reshape(output.shape)
    return output
