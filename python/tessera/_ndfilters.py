# SPDX-License-Identifier: Apache-2.0
"""The filters of tessera.ndimage: correlations by masks that are given, Gaussian, uniform, and of differences."""
import operator

import numpy as np

from ._ndsupport import boundary, checked_axes, checked_axis, filtered, make_output, passes, sequence


def _as_array(value):
    """SciPy takes whatever NumPy can make an array of."""
    return np.asarray(value)


def _with_complex_value(input, output, masks, axes, mode, cval, origins):
    """A complex value outside is taken apart: the library's is real. Every part is a real filter with the real value that belongs to it."""
    parts = []
    for mask, sign in ((masks.real, 1), (masks.imag, -1)):
        for data, value in ((input.real, cval.real), (input.imag, cval.imag)):
            part = np.zeros(output.shape, np.float64)
            filtered(np.asarray(data, order="C"), part, np.asarray(mask, order="C"), axes, mode, value, origins)
            parts.append((part, sign))
    (rr, _), (ir, _), (ri, _), (ii, _) = parts  # data's part, mask's part
    output[...] = (rr - ii) + 1j * (ir + ri)
    return output


def _check_value(cval, input):
    if np.iscomplexobj(cval) and input.dtype.kind != "c":
        raise ValueError("Cannot provide a complex-valued cval when the input is real.")


def _run(input, weights, axes, output, mode, cval, origins):
    is_complex = input.dtype.kind == "c" or weights.dtype.kind == "c"
    output = make_output(output, input, is_complex=is_complex)
    if np.iscomplexobj(cval) and np.imag(cval) != 0:
        return _with_complex_value(input, output, weights, axes, mode, cval, origins)
    return filtered(input, output, weights, axes, mode, cval, origins)


def _centre(origin, width, flip):
    """The origin of the correlation that a convolution is, checked as SciPy does."""
    origin = operator.index(origin)
    if flip:
        origin = -origin - (width % 2 == 0)
    return origin


def _check_origin(origin, width, text):
    if not -(width // 2) <= origin <= (width - 1) // 2:
        raise ValueError(text)


def _one_axis(input, weights, axis, output, mode, cval, origin, flip):
    input = _as_array(input)
    weights = np.asarray(weights)
    _check_value(cval, input)
    if weights.ndim != 1 or weights.shape[0] < 1:
        raise RuntimeError("no filter weights given")
    if weights.dtype.kind not in "biufc":
        weights = weights.astype(np.float64)
    if flip:
        weights = weights[::-1]
    elif weights.dtype.kind == "c":
        weights = weights.conj()
    axis = checked_axis(axis, input.ndim)
    origin = _centre(origin, len(weights), flip)
    _check_origin(origin, len(weights), "Invalid origin; origin must satisfy -(len(weights) // 2) <= origin <= (len(weights)-1) // 2")
    return _run(input, weights, [axis], output, mode, cval, [origin])


def correlate1d(input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    """The correlation along one axis, as scipy.ndimage.correlate1d.

    >>> ndimage.correlate1d([2, 8, 0, 4, 1, 9, 9, 0], weights=[1, 3])
    array([ 8, 26,  8, 12,  7, 28, 36,  9])
    """
    return _one_axis(input, weights, axis, output, mode, cval, origin, False)


def convolve1d(input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    """The convolution along one axis, as scipy.ndimage.convolve1d.

    >>> ndimage.convolve1d([2, 8, 0, 4, 1, 9, 9, 0], weights=[1, 3])
    array([14, 24,  4, 13, 12, 36, 27,  0])
    """
    return _one_axis(input, weights, axis, output, mode, cval, origin, True)


def _all_axes(input, weights, output, mode, cval, origin, axes, flip):
    input = _as_array(input)
    weights = np.asarray(weights)
    _check_value(cval, input)
    axes = checked_axes(axes, input.ndim)
    if weights.ndim != len(axes) or weights.size == 0:
        if weights.ndim == input.ndim or axes != tuple(range(input.ndim)):
            raise RuntimeError(f"weights.ndim ({weights.ndim}) must match len(axes) ({len(axes)})" if weights.size else "filter weights array has incorrect shape.")
        raise RuntimeError("filter weights array has incorrect shape.")
    if weights.dtype.kind not in "biufc":
        weights = weights.astype(np.float64)
    if not isinstance(mode, str) and np.iterable(mode):
        raise RuntimeError("A sequence of modes is not supported")
    origins = sequence(origin, len(axes))
    if len(axes) < input.ndim:  # the axes of the weights follow those of the array; origins follow `axes`, unless those are all of the array's
        origins = [o for _, o in sorted(zip(axes, origins), key=operator.itemgetter(0))]
    axes = sorted(axes)
    if flip:
        weights = weights[(slice(None, None, -1),) * weights.ndim]
    elif weights.dtype.kind == "c":
        weights = weights.conj()
    origins = [_centre(o, n, flip) for o, n in zip(origins, weights.shape)]
    for o, n in zip(origins, weights.shape):
        _check_origin(o, n, "Invalid origin; origin must satisfy -(weights.shape[k] // 2) <= origin[k] <= (weights.shape[k]-1) // 2")
    return _run(input, weights, axes, output, mode, cval, origins)


def correlate(input, weights, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    """The correlation with a mask, as scipy.ndimage.correlate. No weight is dropped for being small.

    >>> ndimage.correlate(numpy.eye(3), [[0, 1, 0], [1, 1, 1], [0, 1, 0]], mode="constant")
    array([[1., 2., 0.],
           [2., 1., 2.],
           [0., 2., 1.]])
    """
    return _all_axes(input, weights, output, mode, cval, origin, axes, False)


def convolve(input, weights, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    """The convolution with a mask, as scipy.ndimage.convolve.

    >>> ndimage.convolve(numpy.eye(3), [[1, 0], [0, 2]], mode="constant")
    array([[3., 0., 0.],
           [0., 3., 0.],
           [0., 0., 2.]])
    """
    return _all_axes(input, weights, output, mode, cval, origin, axes, True)


# ---- Gaussian ---------------------------------------------------------------------------------------------------


def _gaussian(sigma, order, truncate, radius):
    """Samples of the Gaussian's derivative, to be correlated with. The derivatives are the Gaussian, normalised as it is sampled, times the
    probabilists' Hermite polynomials."""
    if order < 0:
        raise ValueError("order must be non-negative")
    sigma = float(sigma)
    if radius is None:
        radius = int(truncate * sigma + 0.5)
    if radius != int(radius) or radius < 0:
        raise ValueError("Radius must be a nonnegative integer.")
    x = np.arange(-int(radius), int(radius) + 1)
    bell = np.exp(-0.5 / (sigma * sigma) * x**2)
    bell /= bell.sum()
    if order == 0:
        return bell
    chosen = np.zeros(order + 1)
    chosen[order] = sigma**-order
    return bell * np.polynomial.hermite_e.hermeval(x / sigma, chosen)  # flipped: He_n has the parity of n, which cancels (-1)**n


def gaussian_filter1d(input, sigma, axis=-1, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None):
    """The Gaussian filter along one axis, or its derivative of the given order, as scipy.ndimage.gaussian_filter1d.

    >>> ndimage.gaussian_filter1d([1.0, 2.0, 3.0, 4.0, 5.0], 1).round(4)
    array([1.4271, 2.0678, 3.    , 3.9322, 4.5729])
    """
    return correlate1d(input, _gaussian(sigma, order, truncate, radius), axis, output, mode, cval, 0)


def gaussian_filter(input, sigma, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None, axes=None):
    """The Gaussian filter, or its derivatives, as scipy.ndimage.gaussian_filter.

    >>> ndimage.gaussian_filter(numpy.pad([[16.0]], 1), 1, mode="constant").round(2)
    array([[0.95, 1.56, 0.95],
           [1.56, 2.55, 1.56],
           [0.95, 1.56, 0.95]])
    """
    input = _as_array(input)
    output = make_output(output, input, is_complex=input.dtype.kind == "c")
    axes = checked_axes(axes, input.ndim)
    count = len(axes)
    lists = zip(axes, sequence(sigma, count), sequence(order, count), sequence(mode, count), sequence(radius, count))
    steps = [(a, _gaussian(s, o, truncate, r), 0, m) for a, s, o, m, r in lists if s > 1e-15]
    return _steps(input, output, steps, cval)


def _steps(input, output, steps, cval):
    if not steps:
        output[...] = input
        return output
    if np.iscomplexobj(cval) and np.imag(cval) != 0:
        for axis, weights, origin, mode in steps:
            _with_complex_value(input, output, weights, [axis], mode, cval, [origin])
            input = output
        return output
    return passes(input, output, steps, cval)


# ---- Uniform ----------------------------------------------------------------------------------------------------


def _window(size, origin, length, mode):
    """How often each neighbour counts in a window of `size`, as integers, and the origin of that list. A window that is longer than what can be told apart, which is
    the array again and again or the one value outside, is folded to that: it takes the array's memory and time, not the window's."""
    mode = boundary(mode)
    first = -(size // 2) - origin
    last = first + size - 1
    period = {"wrap": length, "reflect": 2 * length, "mirror": max(2 * length - 2, 1)}.get(mode)
    if period is None:  # "nearest": beyond the far end there is one value, whichever element is in the middle; "constant": so there is
        edge = max(length - 1, 0) if mode == "nearest" else length
        low, high = max(first, -edge), min(last, edge)
        counts = np.ones(high - low + 1, np.int64)
        counts[0] += low - first
        counts[-1] += last - high
    elif 0 < period < size:
        low, high = -(period // 2), -(period // 2) + period - 1
        counts = size // period + ((np.arange(low, high + 1) - first) % period < size % period).astype(np.int64)
    else:
        return np.ones(size, np.int64), origin
    return counts, -(len(counts) // 2) - low


def _uniform_whole(input, size, axis, output, mode, cval, origin):
    """One axis into an integer output."""
    counts, origin = _window(size, origin, input.shape[axis], mode)
    if input.dtype.kind in "biu" and output.dtype.kind in "biu" and input.dtype.itemsize < 8 and float(cval).is_integer():
        sums = np.zeros(input.shape, np.int64)  # exact, so that a quotient is cut where it is
        filtered(input, sums, [counts], [axis], mode, cval, [origin])
        quotient = np.abs(sums) // size
        output[...] = np.where(sums < 0, -quotient, quotient)
        return output
    return filtered(input, output, [counts * (1.0 / size)], [axis], mode, cval, [origin])


def _check_centre(size, origin):
    if not 0 <= size // 2 + origin < size:
        raise ValueError("invalid origin")


def uniform_filter1d(input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    """The mean of `size` neighbours along one axis, as scipy.ndimage.uniform_filter1d.

    >>> ndimage.uniform_filter1d([2, 8, 0, 4, 1, 9, 9, 0], size=3)
    array([4, 3, 4, 1, 4, 6, 6, 3])
    """
    axis = checked_axis(axis, np.ndim(input))
    if size < 1:
        raise RuntimeError("incorrect filter size")
    _check_centre(size, origin)
    return uniform_filter(input, [size], output, [mode], cval, [origin], axes=[axis])


def uniform_filter(input, size=3, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    """The mean of a box of neighbours, as scipy.ndimage.uniform_filter.

    >>> ndimage.uniform_filter(numpy.eye(4) * 9)[1]
    array([3., 3., 2., 1.])
    """
    input = _as_array(input)
    output = make_output(output, input, is_complex=input.dtype.kind == "c")
    axes = checked_axes(axes, input.ndim)
    lists = zip(axes, sequence(size, len(axes)), sequence(origin, len(axes)), sequence(mode, len(axes)))
    lists = [entry for entry in lists if entry[1] > 1]
    for _, width, centre, _ in lists:
        _check_centre(width, centre)
    if output.dtype.kind not in "fc":
        for axis, width, centre, way in lists:
            _uniform_whole(input, width, axis, output, way, cval, centre)
            input = output
        if not lists:
            output[...] = input
        return output
    steps = []
    for axis, width, centre, way in lists:
        counts, centre = _window(width, centre, input.shape[axis], way)
        steps.append((axis, counts * (1.0 / width), centre, way))
    return _steps(input, output, steps, cval)


# ---- Differences ------------------------------------------------------------------------------------------------


def _difference(input, axis, output, mode, cval, smoothing):
    input = _as_array(input)
    axis = checked_axis(axis, input.ndim)
    output = make_output(output, input, is_complex=input.dtype.kind == "c")
    modes = sequence(mode, input.ndim)
    steps = [(axis, np.array([-1, 0, 1]), 0, modes[axis])]
    steps += [(d, np.array(smoothing), 0, modes[d]) for d in range(input.ndim) if d != axis]
    return _steps(input, output, steps, cval)


def sobel(input, axis=-1, output=None, mode="reflect", cval=0.0):
    """Sobel's filter, as scipy.ndimage.sobel.

    >>> ndimage.sobel(numpy.arange(9.0).reshape(3, 3), axis=0)
    array([[12., 12., 12.],
           [24., 24., 24.],
           [12., 12., 12.]])
    """
    return _difference(input, axis, output, mode, cval, [1, 2, 1])


def prewitt(input, axis=-1, output=None, mode="reflect", cval=0.0):
    """Prewitt's filter, as scipy.ndimage.prewitt.

    >>> ndimage.prewitt(numpy.arange(9.0).reshape(3, 3))[1]
    array([3., 6., 3.])
    """
    return _difference(input, axis, output, mode, cval, [1, 1, 1])


def _sum_over_axes(input, function, output, mode, cval, axes, arguments, words, squared):
    """The sum over the axes of what `function` gives, or of its squares: (output, total), and total is None when there is no axis and output is finished.
    total is output itself unless that overlaps input."""
    input = _as_array(input)
    output = make_output(output, input, is_complex=input.dtype.kind == "c")
    axes = checked_axes(axes, input.ndim)
    if not axes:
        output[...] = input
        return output, None
    words = {} if words is None else words
    modes = sequence(mode, len(axes))
    total = np.zeros_like(output) if np.may_share_memory(input, output) else output
    function(input, axes[0], total, modes[0], cval, *arguments, **words)
    if squared:
        np.multiply(total, total, total)
    for axis, way in zip(axes[1:], modes[1:]):
        part = function(input, axis, output.dtype, way, cval, *arguments, **words)
        total += part * part if squared else part
    return output, total


def generic_laplace(input, derivative2, output=None, mode="reflect", cval=0.0, extra_arguments=(), extra_keywords=None, *, axes=None):
    """The sum over the axes of a second derivative that is given as a function, as scipy.ndimage.generic_laplace.

    >>> def second(x, axis, output, mode, cval):
    ...     return ndimage.correlate1d(x, [1, -2, 1], axis, output, mode, cval)
    >>> ndimage.generic_laplace(numpy.array([0., 1., 4., 9.]), second)
    array([ 1.,  2.,  2., -5.])
    """
    output, total = _sum_over_axes(input, derivative2, output, mode, cval, axes, extra_arguments, extra_keywords, squared=False)
    if total is not None and total is not output:
        output[...] = total
    return output


def laplace(input, output=None, mode="reflect", cval=0.0, *, axes=None):
    """The Laplacian by second differences, as scipy.ndimage.laplace.

    >>> ndimage.laplace(numpy.pad([[1.0]], 1), mode="constant")
    array([[ 0.,  1.,  0.],
           [ 1., -4.,  1.],
           [ 0.,  1.,  0.]])
    """
    def second(x, axis, out, way, value):
        return correlate1d(x, [1, -2, 1], axis, out, way, value, 0)
    return generic_laplace(input, second, output, mode, cval, axes=axes)


def _orders(axis, order, axes, ndim):
    """The order of the derivative on each filtered axis: on one of them."""
    return [order if a == axis else 0 for a in checked_axes(axes, ndim)]


def gaussian_laplace(input, sigma, output=None, mode="reflect", cval=0.0, *, axes=None, **kwargs):
    """The Laplacian by second derivatives of a Gaussian, as scipy.ndimage.gaussian_laplace.

    >>> ndimage.gaussian_laplace(numpy.pad([[100.0]], 2), 1)[2].round(1)
    array([ 10.9,   0. , -31.6,   0. ,  10.9])
    """
    input = _as_array(input)
    axes = checked_axes(axes, input.ndim)
    pairs = sorted(zip(axes, sequence(sigma, len(axes))))  # in whichever order they are given: integer outputs are cut after each axis
    across, widths = [a for a, _ in pairs], [s for _, s in pairs]

    def second(x, axis, out, way, value):
        return gaussian_filter(x, widths, _orders(axis, 2, across, x.ndim), out, way, value, axes=across, **kwargs)
    return generic_laplace(input, second, output, mode, cval, axes=axes)


def generic_gradient_magnitude(input, derivative, output=None, mode="reflect", cval=0.0, extra_arguments=(), extra_keywords=None, *, axes=None):
    """The root of the sum of squares of a derivative that is given as a function, as scipy.ndimage.generic_gradient_magnitude.

    >>> ndimage.generic_gradient_magnitude(numpy.outer([0., 3., 6.], [1, 1, 1]), ndimage.prewitt)[1, 1]
    18.0
    """
    output, total = _sum_over_axes(input, derivative, output, mode, cval, axes, extra_arguments, extra_keywords, squared=True)
    if total is not None:
        np.sqrt(total, output, casting="unsafe")
    return output


def gaussian_gradient_magnitude(input, sigma, output=None, mode="reflect", cval=0.0, *, axes=None, **kwargs):
    """The gradient's magnitude by derivatives of a Gaussian, as scipy.ndimage.gaussian_gradient_magnitude.

    >>> ndimage.gaussian_gradient_magnitude(numpy.outer(numpy.arange(9.0), numpy.ones(9)), 1)[4, 4].round(3)
    1.0
    """
    input = _as_array(input)

    def first(x, axis, out, way, value):
        return gaussian_filter(x, sigma, _orders(axis, 1, axes, x.ndim), out, way, value, axes=axes, **kwargs)
    return generic_gradient_magnitude(input, first, output, mode, cval, axes=axes)
