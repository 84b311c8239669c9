# SPDX-License-Identifier: Apache-2.0
"""SciPy's own tests of scipy.ndimage, with Tessera doing the correlations.

The two C functions behind correlate, convolve, correlate1d, convolve1d, gaussian_filter, sobel, prewitt, laplace ... are replaced by an adapter over
tess.py, and complex cases go to Tessera whole instead of being taken apart. Every call is made twice, as a correlation and as the convolution that
is equal to it, and both must give the same bits. Then the installed test modules run. A test that fails must be in DIFFERENCES with its cause, and
what is listed there must fail: the list is exactly what differs."""
import os
import sys
import unittest
import warnings

import numpy as np
import scipy
from scipy import ndimage
from scipy.ndimage import _filters, _ni_support

import tess
from suites import Outcomes, require, run_modules

DIRECTORY = os.path.join(os.path.dirname(ndimage.__file__), "tests")
MODULES = ["test_filters.py", "test_datatypes.py", "test_measurements.py"]
BOUNDARY = {0: "nearest", 1: "wrap", 2: "reflect", 3: "mirror", 4: "constant", 5: "wrap", 6: "constant"}

# Test id -> why Tessera differs there.
DIFFERENCES = {
    "test_filters.py::test_gaussian_filter": "SciPy refuses float16 with a RuntimeError; Tessera filters it",
}

# What the adapter must do because the two interfaces differ by design (docs/boundaries.md, "Coming from SciPy"):
#   - SciPy turns masks to double and sums in double: compute = "f64" (c128).
#   - SciPy converts doubles to an integer output by C's cast; Tessera rounds half to even and saturates. The adapter asks for f64 and casts.
#   - Output and input may overlap in SciPy (it copies); Tessera refuses. The adapter computes into an array of its own.
#   - A constant of SciPy's may be complex; Tessera's is real. Those few calls stay with SciPy and are counted.
#   - long double and the like are not Tessera's types; those stay with SciPy too.
calls = {"tessera": 0, "scipy": 0}


def as_known(array):
    array = np.asarray(array)
    array = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    if array.dtype not in tess.NAME_OF:
        return None
    size = array.dtype.itemsize
    return array if all(s % size == 0 for s in array.strides) else array.copy()


def both_ways(array, weights, axes, origins, code, cval, kind):
    """The convolution's mask is flipped and its centre mirrored."""
    options = dict(axes=axes, boundary=BOUNDARY[code], constant=float(cval), compute="c128" if kind == "c" else "f64",
                   out_type="c128" if kind == "c" else "f64")
    result = tess.correlate(array, weights, origin=origins, **options)
    widths = weights.shape
    mirrored = [(w - 1) - w // 2 - o - w // 2 for w, o in zip(widths, origins)]
    again = tess.convolve(array, weights[tuple(slice(None, None, -1) for _ in widths)], origin=mirrored, **options)
    assert result.tobytes() == again.tobytes(), "correlate and the equal convolve differ"
    calls["tessera"] += 1
    return result


def put(output, result):
    """SciPy's conversion of a double to its output: truncation by C."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        output[...] = result


class Replaced:
    """scipy.ndimage._nd_image with two functions exchanged."""

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        return getattr(self._module, name)

    def correlate1d(self, array, weights, axis, output, mode, cval, origin):
        known = as_known(array)
        if known is None or known.dtype.kind == "c":
            calls["scipy"] += 1
            self._module.correlate1d(array, weights, axis, output, mode, cval, origin)
        else:
            put(output, both_ways(known, np.asarray(weights, np.float64), [axis], [origin], mode, cval, "f"))

    def correlate(self, array, weights, output, mode, cval, origins):
        known = as_known(array)
        if known is None or known.dtype.kind == "c":
            calls["scipy"] += 1
            self._module.correlate(array, weights, output, mode, cval, origins)
        else:
            put(output, both_ways(known, np.asarray(weights, np.float64), list(range(known.ndim)), list(origins), mode, cval, "f"))


original_complex = _filters._complex_via_real_components


def complex_whole(func, input, weights, output, cval, **options):
    known, mask = as_known(input), as_known(weights)
    one_axis = "axis" in options
    if known is None or mask is None or np.iscomplexobj(cval) or not isinstance(options["mode"], str) or mask.size == 0 or \
            mask.ndim != (1 if one_axis else known.ndim):
        calls["scipy"] += 1
        return original_complex(func, input, weights, output, cval, **options)
    code = _ni_support._extend_mode_to_code(options["mode"])
    axes = [options["axis"]] if one_axis else list(range(known.ndim))
    origins = _ni_support._normalize_sequence(options["origin"], len(axes))
    if options.get("convolution"):
        mask = mask[tuple([slice(None, None, -1)] * mask.ndim)]
        origins = [-o - (w % 2 == 0) for o, w in zip(origins, mask.shape)]
    put(output, both_ways(known, mask, axes, origins, code, cval, "c"))
    return output


class ScipySuite(unittest.TestCase):
    def test_scipy_ndimage(self):
        outcomes = Outcomes()
        try:
            _filters._nd_image = Replaced(_filters._nd_image)
            _filters._complex_via_real_components = complex_whole
            run_modules(DIRECTORY, MODULES, outcomes)
        finally:
            _filters._nd_image = _filters._nd_image._module
            _filters._complex_via_real_components = original_complex
        print(f"SciPy {scipy.__version__}: {outcomes}; {calls['tessera']} filters by Tessera, {calls['scipy']} left to SciPy", file=sys.stderr)
        self.assertGreater(calls["tessera"], 1000)
        outcomes.compare(self, DIFFERENCES)


if __name__ == "__main__":
    require(DIRECTORY, MODULES)
    unittest.main()
