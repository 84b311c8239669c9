# SPDX-License-Identifier: Apache-2.0
"""Measurements of tessera.ndimage over labels: elements are brought together by label and reduced in segments."""
import numpy as np

from . import _tessera


def _group(input, labels, index):
    """What is asked about: (values, None) for one group, or (values sorted by label, (offsets, place, found)) for an array of labels: place has, for
    each entry of index, the segment of its label."""
    input = _native(np.asarray(input))
    if not input.dtype.isnative:
        input = input.astype(input.dtype.newbyteorder("="))
    if labels is None:
        return input, None
    input, labels = np.broadcast_arrays(input, labels)
    if index is None:
        return input[labels > 0], None
    if np.isscalar(index) or np.ndim(index) == 0:
        return input[labels == index], None
    labels, index = labels.ravel(), np.asarray(index)
    order = np.argsort(labels, kind="stable")
    labels = labels[order]
    values = np.asarray(_tessera.take(input.ravel(), order, 0)) if order.size else input.ravel()
    distinct, first = np.unique(labels, return_index=True)
    offsets = np.append(first, labels.size).astype(np.int64)
    place = np.searchsorted(distinct, index.ravel())
    place[place == distinct.size] = 0
    found = distinct[place] == index.ravel() if distinct.size else np.zeros(index.size, bool)
    return values, (offsets, place, found.reshape(index.shape), index.shape)


def _wide(values):
    return values.astype(np.complex128 if values.dtype.kind == "c" else np.float64, copy=False)


def _native(values):
    return values if values.dtype.char not in "gG" else _wide(values)


def _reduced(function, values, groups, missing, dtype, **words):
    """One number a group, `missing` where a label does not occur."""
    offsets, place, found, shape = groups
    if offsets.size == 1:
        return np.full(shape, missing, dtype)
    segments = np.asarray(function(values, axis=0, offsets=offsets, dtype=np.dtype(dtype).name, **words))
    return np.where(found, segments[place].reshape(shape), np.asarray(missing, segments.dtype))


def _count(groups):
    offsets, place, found, shape = groups
    sizes = np.diff(offsets)
    return np.where(found, sizes[place].reshape(shape) if sizes.size else 0, 0)


def sum_labels(input, labels=None, index=None):
    """The sum of the elements with each label, as scipy.ndimage.sum_labels.

    >>> ndimage.sum_labels([1, 2, 3, 4], [1, 1, 2, 0], [1, 2, 5])
    array([3., 3., 0.])
    """
    values, groups = _group(input, labels, index)
    if groups is None:
        return np.asarray(_tessera.sum(values))[()]
    return _reduced(_tessera.sum, values, groups, 0, np.complex128 if values.dtype.kind == "c" else np.float64)


def sum(input, labels=None, index=None):
    """Another name of sum_labels, as scipy.ndimage.sum.

    >>> ndimage.sum([1.0, 2.0, 4.0], [1, 0, 1], 1)
    5.0
    """
    return sum_labels(input, labels, index)


def mean(input, labels=None, index=None):
    """The mean of the elements with each label, as scipy.ndimage.mean.

    >>> ndimage.mean([1, 2, 3, 4], [1, 1, 2, 0], [1, 2])
    array([1.5, 3. ])
    """
    values, groups = _group(input, labels, index)
    if groups is None:
        total = np.asarray(_tessera.sum(values))[()]
        with np.errstate(invalid="ignore", divide="ignore"):
            return total / np.float64(values.size)
    with np.errstate(invalid="ignore", divide="ignore"):
        return _reduced(_tessera.sum, values, groups, 0, np.complex128 if values.dtype.kind == "c" else np.float64) / _count(groups).astype(np.float64)


def variance(input, labels=None, index=None):
    """The variance of the elements with each label, as scipy.ndimage.variance.

    >>> ndimage.variance([1, 3, 5, 5], [1, 1, 2, 2], [1, 2])
    array([1., 0.])
    """
    values, groups = _group(input, labels, index)
    if values.dtype.kind == "c":  # of the real and of the imaginary parts together
        if groups is None:
            return np.complex128(variance(values.real) + variance(values.imag))
        return _variances(values.real, groups) + _variances(values.imag, groups)
    if groups is None:
        return np.asarray(_tessera.var(values, dtype="float64"))[()]
    return _variances(values, groups)


def _variances(values, groups):
    return _reduced(_tessera.var, np.ascontiguousarray(values), groups, np.nan, np.float64)


def standard_deviation(input, labels=None, index=None):
    """The root of the variance, as scipy.ndimage.standard_deviation.

    >>> ndimage.standard_deviation([1, 3, 5, 5], [1, 1, 2, 2], [1, 2])
    array([1., 0.])
    """
    return np.sqrt(variance(input, labels, index))


def _extreme(function, input, labels, index):
    values, groups = _group(input, labels, index)
    if values.dtype.kind == "c":  # ordered by real parts, then imaginary ones: not an order of Tessera's
        return _complex_extreme(function is _tessera.min, values, groups)
    if groups is None:
        return np.asarray(function(values))[()]
    return _reduced(function, values, groups, 0, values.dtype)


def _complex_extreme(least, values, groups):
    pick = np.min if least else np.max
    if groups is None:
        return pick(values)
    offsets, place, found, shape = groups
    segments = np.array([pick(values[a:b]) for a, b in zip(offsets[:-1], offsets[1:])] or [0], values.dtype)
    return np.where(found, segments[place].reshape(shape), np.asarray(0, values.dtype))


def minimum(input, labels=None, index=None):
    """The least element with each label, as scipy.ndimage.minimum.

    >>> ndimage.minimum([1, 2, 3, 4], [1, 1, 2, 0], [1, 2])
    array([1, 3])
    """
    return _extreme(_tessera.min, input, labels, index)


def maximum(input, labels=None, index=None):
    """The greatest element with each label, as scipy.ndimage.maximum.

    >>> ndimage.maximum([1, 2, 3, 4], [1, 1, 2, 0], [1, 2])
    array([2, 3])
    """
    return _extreme(_tessera.max, input, labels, index)
