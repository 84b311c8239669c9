# SPDX-License-Identifier: Apache-2.0
"""Filters and measurements with the names, arguments, results and errors of scipy.ndimage, computed by Tessera.

    >>> import numpy, tessera.ndimage as ndimage
    >>> ndimage.uniform_filter(numpy.array([[0, 0, 9], [0, 9, 0], [9, 0, 0]], "f4"))
    array([[1., 3., 5.],
           [3., 3., 3.],
           [5., 3., 1.]], dtype=float32)

What differs: float32 and float16 are summed in float32 unless `accumulation("float64")` asks for SciPy's double; no weight is dropped for being
small (SciPy drops those up to 2.2e-16); float16 is taken; between the axes of a filter floats are not rounded to the output; and where an integer
output is cut, a sum that rounding left a hair below an integer counts as that integer; gaussian_gradient_magnitude with `axes`
leaves the other axes alone (SciPy 1.17 smooths along them too); complex elements are multiplied as such, so that an infinity or NaN in one part makes NaN
of both; window means do not carry a NaN or infinity on along the line, as SciPy's running sums do; minimum and
maximum over labels give NaN for a group that has one (SciPy's minimum does not); an output that overlaps the input is right in every function. Needs NumPy, not SciPy.
"""
from ._ndcoordinates import map_coordinates
from ._ndfilters import (convolve, convolve1d, correlate, correlate1d, gaussian_filter, gaussian_filter1d, gaussian_gradient_magnitude, gaussian_laplace,
                         generic_gradient_magnitude, generic_laplace, laplace, prewitt, sobel, uniform_filter, uniform_filter1d)
from ._ndmeasure import maximum, mean, minimum, standard_deviation, sum, sum_labels, variance
from ._ndsupport import accumulation

__all__ = ["accumulation", "convolve", "convolve1d", "correlate", "correlate1d", "gaussian_filter", "gaussian_filter1d", "gaussian_gradient_magnitude",
           "gaussian_laplace", "generic_gradient_magnitude", "generic_laplace", "laplace", "map_coordinates", "maximum", "mean", "minimum", "prewitt",
           "sobel", "standard_deviation", "sum", "sum_labels", "uniform_filter", "uniform_filter1d", "variance"]
