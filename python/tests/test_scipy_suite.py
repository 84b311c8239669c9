# SPDX-License-Identifier: Apache-2.0
"""SciPy's own tests of scipy.ndimage, run on tessera.ndimage.

The functions of tessera.ndimage take the places of SciPy's in the module, with sums in float64 as SciPy's; then the installed test modules run. A test
that fails must be in DIFFERENCES with its cause, and what is listed there must fail: the list is exactly what differs."""
import os
import sys
import unittest

import scipy
from scipy import ndimage

import tessera.ndimage

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "oracle"))
from suites import Outcomes, require, run_modules  # noqa: E402

DIRECTORY = os.path.join(os.path.dirname(ndimage.__file__), "tests")
MODULES = ["test_filters.py", "test_datatypes.py", "test_measurements.py"]
INTERPOLATION = "test_interpolation.py"
# Test id -> why Tessera differs there.
DIFFERENCES = {"test_filters.py::test_gaussian_filter": "SciPy refuses float16 with a RuntimeError; Tessera filters it"}
calls = {"tessera": 0, "scipy": 0}


def counted(name):
    ours, theirs = getattr(tessera.ndimage, name), getattr(ndimage, name)

    def call(*args, **words):
        if name == "map_coordinates" and words.get("order", args[3] if len(args) > 3 else 3) not in (0, 1):
            calls["scipy"] += 1
            return theirs(*args, **words)
        calls["tessera"] += 1
        return ours(*args, **words)
    return call


class ScipySuite(unittest.TestCase):
    def test_scipy_ndimage(self):
        names = [name for name in tessera.ndimage.__all__ if hasattr(ndimage, name)]
        self.assertGreaterEqual(len(names), 23)
        outcomes, kept = Outcomes(), {name: getattr(ndimage, name) for name in names}
        try:
            for name in names:
                setattr(ndimage, name, counted(name))
            with tessera.ndimage.accumulation("float64"):
                run_modules(DIRECTORY, MODULES, outcomes)
                run_modules(DIRECTORY, [INTERPOLATION], outcomes, ("-k", "map_coordinates"))
        finally:
            for name, value in kept.items():
                setattr(ndimage, name, value)
        print(f"SciPy {scipy.__version__}: {outcomes}; {calls['tessera']} calls by Tessera, {calls['scipy']} left to SciPy", file=sys.stderr)
        self.assertGreater(calls["tessera"], 1000)
        outcomes.compare(self, DIFFERENCES)


if __name__ == "__main__":
    require(DIRECTORY, MODULES + [INTERPOLATION])
    unittest.main()
