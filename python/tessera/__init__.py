# SPDX-License-Identifier: Apache-2.0
"""Tessera: correlate, reduce, transpose and look up arrays at the speed of memory, with the same bits everywhere.

    >>> import numpy, tessera
    >>> image = numpy.arange(12, dtype="f4").reshape(3, 4)
    >>> tessera.correlate(image, [[0, 1, 0], [1, -4, 1], [0, 1, 0]], boundary="reflect")
    array([[ 5.,  4.,  4.,  3.],
           [ 1.,  0.,  0., -1.],
           [-3., -4., -4., -5.]], dtype=float32)
    >>> tessera.sum(image, axis=0)
    array([12., 15., 18., 21.], dtype=float32)

Arrays are taken without a copy from everything with the buffer protocol, `__dlpack__` or `__cuda_array_interface__`, and a result is of the
kind that came in: NumPy's for NumPy's, a torch tensor for a torch tensor. Plain buffers (array.array, bytes, memoryview) give a tessera.Array, or a
Python number where all axes are reduced. tessera.ndimage stands in for scipy.ndimage's filters.
"""
from . import _tessera
from ._tessera import (Array, AxisError, EngineError, Plan, Profile, __version__, all, any, argmax, argmin, convolve, convolve_separable, correlate,
                       correlate_separable, count_nonzero, devices, limits, lookup, max, mean, min, norm, permute_dims, prod, set_threads, std,
                       strategies, sum, take, threads, transpose, var)
from ._functions import explain, interp, plan, profile, wisdom

__all__ = ["Array", "AxisError", "EngineError", "Plan", "Profile", "all", "any", "argmax", "argmin", "convolve", "convolve_separable", "correlate",
           "correlate_separable", "count_nonzero", "devices", "explain", "interp", "limits", "lookup", "max", "mean", "min", "ndimage", "norm",
           "permute_dims", "plan", "prod", "profile", "set_threads", "std", "strategies", "sum", "take", "threads", "transpose", "var", "wisdom"]


def __getattr__(name):
    if name == "ndimage":  # needs NumPy; the rest does not
        import importlib
        return importlib.import_module("tessera.ndimage")
    raise AttributeError(f"module 'tessera' has no attribute {name!r}")
