# SPDX-License-Identifier: Apache-2.0
"""map_coordinates of tessera.ndimage: the corners around each point are looked up, and weighted for order 1."""
import itertools

import numpy as np

from . import _tessera
from ._ndsupport import known, make_output

MODES = ("constant", "grid-constant", "nearest", "reflect", "grid-mirror", "mirror", "wrap", "grid-wrap")


def _inside(x, n, mode):
    """Coordinates brought to the array, and whether they count as inside: the map of SciPy's mode."""
    if n <= 1 and mode not in ("constant", "grid-constant"):
        return np.zeros_like(x), np.ones(x.shape, bool)
    if mode == "constant":
        good = (x >= 0) & (x <= n - 1)
        return np.where(good, x, 0), good
    if mode == "grid-constant":
        good = (x > -1) & (x < n)
        return np.where(good, x, 0), good
    if mode == "nearest":
        x = np.clip(x, 0, n - 1)
    elif mode == "mirror":
        above = x > 0
        x = np.mod(x, 2 * (n - 1))
        x = np.where(x >= np.where(above, n, n - 1), 2 * (n - 1) - x, x)  # up to n from above: SciPy's nearest neighbour of n - 1/2 is n, which is n - 2
    elif mode in ("reflect", "grid-mirror"):
        x = np.mod(x + 0.5, 2 * n) - 0.5
        x = np.where(x > n - 0.5, 2 * n - 1 - x, x)
    elif mode == "wrap":
        turned = np.mod(x, n - 1)
        turned = np.where((x < 0) & (turned == 0), n - 1, turned)  # both ends are one place: from below it is the last element, from above the first
        x = np.where((x >= 0) & (x <= n - 1), x, turned)
    else:
        x = np.mod(x, n)
    return x, ~np.isnan(x)


def _neighbour(k, n, mode):
    """The index of a neighbour that may lie one beyond an end, and whether it is an element."""
    if mode in ("constant", "grid-constant"):
        good = (k >= 0) & (k < n)
        return np.where(good, k, 0), good
    if mode == "grid-wrap":
        return np.mod(k, n), None
    if mode == "mirror":
        return np.where(k > n - 1, max(n - 2, 0), np.abs(k)), None
    return np.clip(k, 0, n - 1), None


PART = 32768  # points that go through all steps together: calls of NumPy's cost little beside them, and what they take stays in the caches


class _Image:
    """What all parts of a call share. values: the elements as one axis; plain: of the type that is computed in, and finite."""

    def __init__(self, input, points, order, mode, cval):
        self.shape, self.order, self.mode, self.cval = input.shape, order, mode, cval
        self.dtype = np.complex128 if input.dtype.kind == "c" else np.float64
        self.values = np.ascontiguousarray(known(input)).reshape(-1)
        self.plain = False
        if order == 1 and self.values.size <= points:
            self.values = self.values.astype(self.dtype, copy=False)
            self.plain = bool(np.isfinite(self.values).all())

    def take(self, first, flat):
        return np.asarray(_tessera.take(self.values[first:], flat, 0)).astype(self.dtype, copy=False)

    def at(self, coordinates):
        """Of points anywhere: those beside the array are moved into it. Where no place within it has their neighbours they are looked up once more, by themselves."""
        apart = self.mode in ("grid-constant", "grid-wrap") or (self.mode == "mirror" and self.order == 0)
        moved, lost = list(coordinates), []
        for axis, (x, n) in enumerate(zip(coordinates, self.shape)):
            if x.min() >= 0 and x.max() <= n - 1:  # NaN: it is not
                continue
            beside = np.flatnonzero(~((x >= 0) & (x <= n - 1)))
            place, good = _inside(x[beside], n, self.mode)
            if self.mode == "mirror":
                place = np.where(place > n - 1, 2 * (n - 1) - place, place)
            moved[axis] = x.copy()
            moved[axis][beside] = np.where(good, np.clip(place, 0, n - 1), 0)
            lost.append(beside if apart else beside[~good])
        total = self.inside(moved)
        for beside in lost:
            total[beside] = self.beside([x[beside] for x in coordinates]) if apart else self.cval
        return total

    def inside(self, coordinates):
        """Of points from the first to the last element along every axis: all their neighbours are elements, by one index and the distances between them."""
        flat, shares, steps, step = None, [], [], self.values.size
        for x, n in zip(coordinates, self.shape):
            step //= n
            below = np.floor(x + 0.5 if self.order == 0 else x)
            if self.order == 1:
                np.minimum(below, max(n - 2, 0), out=below)
                share = x - below
                shares.append((1 - share, share) if n > 1 else (None,))
                steps.append((0, step) if n > 1 else (0,))
            flat = below if flat is None else flat * n + below
        flat = flat.astype(np.int64)
        if self.order == 0:
            return self.take(0, flat)
        total = np.zeros(len(flat), self.dtype)
        for corner, first in zip(itertools.product(*shares), itertools.product(*steps)):
            weight = None
            for share in corner:
                weight = share if weight is None else weight if share is None else weight * share
            got = self.take(sum(first), flat)
            if weight is None:
                total += got
            elif self.plain:
                total += np.multiply(weight, got, out=got)
            else:
                total += np.where(weight != 0, weight * got, 0)
        return total

    def beside(self, coordinates):
        """Of points anywhere, by the rules of the mode."""
        count = len(coordinates[0])
        inside, axes = np.ones(count, bool), []
        for x, n in zip(coordinates, self.shape):
            x, good = _inside(x, n, self.mode)
            x = np.where(good, x, 0)
            inside &= good
            below = np.floor(x + 0.5 if self.order == 0 else x).astype(np.int64)
            axes.append([(below, None)] if self.order == 0 else [(below, 1 - (x - below)), (below + 1, x - below)])
        total = np.zeros(count, self.dtype)
        for corner in itertools.product(*axes):
            flat, weight, element = np.zeros(count, np.int64), None, None
            for (k, share), n in zip(corner, self.shape):
                k, good = _neighbour(k, n, self.mode)
                flat = flat * n + k
                weight = share if weight is None else weight * share
                element = good if element is None else element & good if good is not None else element
            got = self.take(0, flat)
            if element is not None:
                got = np.where(element, got, self.cval)
            total = got if self.order == 0 else total + np.where(weight != 0, weight * got, 0)
        return np.where(inside, total, self.cval)


def _store(total, output):
    """SciPy rounds halves away from zero here, and types end at their ends."""
    if output.dtype.kind == "b":
        total = np.trunc(total)
    elif output.dtype.kind in "iu":
        limits = np.iinfo(output.dtype)
        high = total >= float(limits.max)  # the next power of two for 64 bits
        total = np.where(high, 0, np.maximum(np.trunc(total + np.copysign(0.5, total)), limits.min))
    output[...] = total
    if output.dtype.kind in "iu":
        output[high] = limits.max


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
    output = make_output(output, input, coordinates.shape[1:], is_complex)
    apart = output.flags.c_contiguous and not any(np.may_share_memory(output, other) for other in (input, coordinates))
    target = (output if apart else np.empty(output.shape, output.dtype)).reshape(-1)
    points = coordinates.reshape(input.ndim, -1)
    image = _Image(input, target.size, order, mode, cval if is_complex else float(cval))
    with np.errstate(invalid="ignore"):
        for first in range(0, target.size, PART):
            part = points[:, first:first + PART].astype(np.float64, copy=False)
            total = image.at(list(part)) if input.size else np.full(part.shape[1], image.cval, image.dtype)
            _store(total, target[first:first + PART])
    if not apart:
        output[...] = target.reshape(output.shape)
    return output
