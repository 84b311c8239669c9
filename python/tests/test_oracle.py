# SPDX-License-Identifier: Apache-2.0
"""Proves: the functions give what NumPy's of the same name give, over types, shapes, strides, read-only and broadcast arrays, axes and modes; and
tessera.ndimage what SciPy gives.

Tolerances. Numbers are multiples of 1/4 up to 100 in arrays of at most 7**3 elements, so sums of float32 and wider are exact, and those of float16 differ by
its rounding of the result. Products overflow or not alike, and round once a factor: 343 factors, (1 + u)**343 - 1 < 400 u. Means, variances and norms: a few
u, taken as 64 u of the largest intermediate value. Filters compare float64 sums of at most 27 taps: 27 u of the sum of moduli; float32: the same of its u."""
import inspect
import unittest
import warnings

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import ndimage

import tessera
import tessera.ndimage
from kinds import ALL, FLOATS, INTEGERS, REAL, arrays

U = {"e": 2.0**-11, "f": 2.0**-24, "d": 2.0**-53, "F": 2.0**-24, "D": 2.0**-53}


def axes_of(draw, ndim):
    kind = draw(st.sampled_from(["none", "one", "several"]))
    if kind == "none" or ndim == 0:
        return None
    if kind == "one":
        return draw(st.integers(-ndim, ndim - 1))
    chosen = draw(st.lists(st.integers(0, ndim - 1), unique=True))
    return tuple(a - ndim if draw(st.booleans()) else a for a in chosen)


def close(got, want, factor):
    got, want = np.asarray(got), np.asarray(want)
    unit = U.get(got.dtype.char, 0)
    with np.errstate(all="ignore"):
        slack = factor * unit * np.maximum(np.abs(want.astype(complex)), 1)
        return np.array_equal(got, want, equal_nan=got.dtype.kind in "fc") or bool(
            np.all((np.abs(got.astype(complex) - want.astype(complex)) <= slack) | (got == want) | (np.isnan(got) & np.isnan(want))))


class Reductions(unittest.TestCase):
    def check(self, name, x, axis, keepdims, want, factor=0, **words):
        got = getattr(tessera, name)(x, axis=axis, keepdims=keepdims, **words)
        self.assertEqual((got.dtype, got.shape), (want.dtype, want.shape), (name, x.dtype))
        self.assertTrue(close(got, want, factor), (name, x.dtype, got, want))
        self.assertIs(type(got) is np.ndarray, type(want) is np.ndarray, (name, got, want))

    @given(st.data())
    def test_against_numpy(self, data):
        x = data.draw(arrays())
        axis, keepdims = axes_of(data.draw, x.ndim), data.draw(st.booleans())
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wide = x.astype("f8") if x.dtype == np.float16 else x  # NumPy sums float16 in float16
            self.check("sum", x, axis, keepdims, np.sum(wide, axis=axis, keepdims=keepdims).astype(np.sum(np.zeros(0, x.dtype)).dtype)[()], 2)
            self.check("any", x, axis, keepdims, np.any(x, axis=axis, keepdims=keepdims))
            self.check("all", x, axis, keepdims, np.all(x, axis=axis, keepdims=keepdims))
            counted = np.count_nonzero(x, axis=axis, keepdims=True) if x.ndim else np.int64(bool(x))
            self.check("count_nonzero", x, axis, keepdims,
                       np.sum(x != 0, axis=axis, keepdims=keepdims, dtype=np.int64) if x.ndim else np.int64(counted))
            want = np.mean(wide, axis=axis, keepdims=keepdims)
            self.check("mean", x, axis, keepdims, want.astype("f2")[()] if x.dtype == np.float16 else want, 64)
            if x.dtype.kind != "c":
                correction = data.draw(st.sampled_from([0, 1, 0.5]))
                for name in ("var", "std"):
                    want = getattr(np, name)(wide.astype("f8"), axis=axis, keepdims=keepdims, ddof=correction)
                    want = want.astype(x.dtype if x.dtype.kind == "f" else "f8")[()]
                    # variances of up to 1e4: the float64 that NumPy computes in leaves 64 u of them
                    got = getattr(tessera, name)(x, axis=axis, keepdims=keepdims, correction=correction)
                    self.assertEqual((got.dtype, got.shape), (want.dtype, want.shape))
                    np.testing.assert_allclose(got, want, rtol=64 * U[got.dtype.char], atol=1e-6)
            reduced = np.prod([x.shape[a] for a in ([axis] if isinstance(axis, int) else range(x.ndim) if axis is None else axis)])
            if reduced > 0 and x.dtype.kind != "c":
                self.check("min", x, axis, keepdims, np.min(x, axis=axis, keepdims=keepdims))
                self.check("max", x, axis, keepdims, np.max(x, axis=axis, keepdims=keepdims))
                if axis is None or isinstance(axis, int):
                    for name in ("argmin", "argmax"):
                        self.check(name, x, axis, keepdims, getattr(np, name)(x, axis=axis, keepdims=keepdims))

    @given(st.data())
    def test_products_and_norms(self, data):
        x = data.draw(arrays(types=INTEGERS + FLOATS + ["c8", "c16"], values=5))
        axis = axes_of(data.draw, x.ndim)
        with np.errstate(all="ignore"):
            if x.dtype != np.float16:
                want, got = np.prod(x, axis=axis), tessera.prod(x, axis=axis)
                self.assertEqual((got.dtype, got.shape), (want.dtype, want.shape))
                if got.dtype.kind in "iu":
                    self.assertTrue(np.array_equal(got, want))
                elif got.dtype.kind == "f":
                    np.testing.assert_allclose(got, want, rtol=400 * U[got.dtype.char])
            modulus = np.abs(x.astype("c16"))
            for order, want in ((1, modulus.sum(axis=axis)), (2, np.sqrt((modulus**2).sum(axis=axis))), (0, (modulus != 0).sum(axis=axis)),
                                (np.inf, modulus.max(axis=axis, initial=0))):
                got = tessera.norm(x, axis=axis, ord=order)
                self.assertEqual(got.dtype.kind, "f")
                np.testing.assert_allclose(got, want, rtol=64 * U[got.dtype.char], err_msg=str((order, x.dtype)))

    @given(arrays(types=FLOATS, min_ndim=1, min_size=1), st.data())
    def test_nan(self, x, data):
        x = x.copy()
        x.flat[data.draw(st.integers(0, x.size - 1))] = np.nan
        self.assertTrue(np.isnan(tessera.sum(x)) and np.isnan(tessera.max(x)))
        wide = x.astype("f8")
        self.assertTrue(close(tessera.sum(x, nan="omit"), np.nansum(wide), 2))
        if x.size > 1:
            self.assertEqual(tessera.min(x, nan="omit"), np.nanmin(x))
            self.assertEqual(tessera.argmax(x, nan="omit"), np.nanargmax(x))

    @given(st.lists(st.integers(0, 9), max_size=6), arrays(types=["i4", "f8"], min_ndim=1, max_ndim=1, min_size=1))
    def test_segments(self, cuts, x):
        offsets = np.array(sorted(min(c, x.size) for c in [0] + cuts), np.int64)
        want = [x[a:b].sum() for a, b in zip(offsets[:-1], offsets[1:])]
        self.assertEqual(tessera.sum(x, axis=0, offsets=offsets).tolist(), want)


class Moves(unittest.TestCase):
    @given(arrays(max_ndim=4, max_size=5), st.data())
    def test_transpose(self, x, data):
        axes = data.draw(st.one_of(st.none(), st.permutations(range(x.ndim))))
        got = tessera.transpose(x, axes)
        self.assertTrue(np.array_equal(got, np.transpose(x, axes)) and got.dtype == x.dtype and got.flags.c_contiguous)

    @given(arrays(min_ndim=1, min_size=1), st.data())
    def test_take(self, x, data):
        axis = data.draw(st.one_of(st.none(), st.integers(-x.ndim, x.ndim - 1)))
        n = x.size if axis is None else x.shape[axis]
        mode = data.draw(st.sampled_from(["raise", "clip", "wrap"]))
        low, high = (-n, n - 1) if mode == "raise" else (-3 * n, 3 * n)
        shape = tuple(data.draw(st.lists(st.integers(0, 4), max_size=2)))
        index = np.random.default_rng(data.draw(st.integers(0, 99))).integers(low, high + 1, shape).astype(data.draw(st.sampled_from(["i2", "i8"])))
        got, want = tessera.take(x, index, axis, mode=mode), np.take(x, index, axis, mode=mode)
        self.assertTrue(np.array_equal(got, want) and got.dtype == want.dtype and got.shape == want.shape)
        if index.size:
            index.flat[-1] = n
            with self.assertRaises(IndexError):
                tessera.take(x, index, axis)

    @given(st.data())
    def test_interp(self, data):
        n = data.draw(st.integers(1, 9))
        random = np.random.default_rng(data.draw(st.integers(0, 9999)))
        xp = np.sort(random.integers(0, 50, n) * 0.5)
        fp = random.random(n) + (1j * random.random(n) if data.draw(st.booleans()) else 0)
        x = random.random((3, 4)) * 40 - 5
        words = data.draw(st.sampled_from([{}, {"left": -1.0}, {"right": 7.0, "left": 0.0}, {"period": 7.0}]))
        if "period" in words:
            xp = np.unique(xp % 7)
            fp = fp[:len(xp)]
        assume(len(set(xp)) == len(xp))
        # between neighbours at most 1 apart, part by part: three roundings of the share, one of the step and one of the sum here; five of NumPy's product and one of its sum
        np.testing.assert_allclose(tessera.interp(x, xp, fp, **words), np.interp(x, xp, fp, **words), atol=16 * 2.0**-53, rtol=0)

    def test_interp_of_many(self):
        """Tables from two points on, in and out of order, with ends, NaNs, strides, and columns behind the axis."""
        random = np.random.default_rng(5)
        for n in (2, 5, 16, 17, 100, 5000, 200000):
            for count in (1, 9, 1000, 30000):
                xp = np.sort(random.random(n)) ** random.choice([1, 9])
                fp, x = random.random(n), random.random(count) * 1.2 - 0.1
                x = np.sort(x) if random.random() < 0.5 else x
                for value in (np.nan, xp[0], xp[-1]):
                    x[random.integers(count)] = value
                for words in ({}, {"left": -2.0, "right": 3.0}, {"period": 0.7}):
                    got, want = tessera.interp(x, xp, fp, **words), np.interp(x, xp, fp, **words)
                    np.testing.assert_allclose(got, want, atol=16 * 2.0**-53, rtol=0, err_msg=f"{n} {count} {words}")
                many = tessera.interp(x[::-2], xp, np.stack([fp, -fp, 2 * fp], 1))
                np.testing.assert_allclose(many[:, 2], 2 * np.interp(x[::-2], xp, fp), atol=32 * 2.0**-53, rtol=0)
        with self.assertRaises(IndexError):
            tessera.lookup(fp, x, positions=xp)
        plan = tessera.plan(tessera.lookup, fp, x, positions=xp, outside="clip")
        np.testing.assert_array_equal(plan(fp, x), tessera.interp(x, xp, fp))

    def test_interp_of_equal_points(self):
        """Two points at one place are a step, of which the place itself has the later value; at the ends too, beyond which there is one value."""
        x, fp = np.arange(-6, 20) / 2, np.array([10.0, 20, 30, 40, 50, 60])
        for xp in ([0, 1, 2, 3, 4, 4], [0, 0, 2, 3, 3, 4], [4, 4, 4, 4, 4, 4], [0, 0, 0, 3, 3, 3]):
            for words in ({}, {"left": -1.0, "right": 7.0}):
                np.testing.assert_allclose(tessera.interp(x, xp, fp, **words), np.interp(x, xp, fp, **words), rtol=1e-14, err_msg=f"{xp} {words}")


class Filters(unittest.TestCase):
    @given(st.data())
    def test_convolve(self, data):
        x, mask = data.draw(arrays(types=REAL, min_ndim=1, max_ndim=1, min_size=1)), data.draw(arrays(types=REAL, min_ndim=1, max_ndim=1, min_size=1, values=9))
        got = tessera.convolve(x, mask, "full")
        kind = {x.dtype.kind, mask.dtype.kind}
        if kind <= set("biu"):
            want = np.convolve(x.astype("O"), mask.astype("O"), "full")
            limits = np.iinfo(got.dtype) if got.dtype.kind != "b" else None
            want = [bool(w) for w in want] if limits is None else [min(max(int(w), limits.min), limits.max) for w in want]
            self.assertEqual(got.tolist(), want)
            if {x.dtype.name, mask.dtype.name} != {"uint64", "int64"} and not ("uint64" in (x.dtype.name, mask.dtype.name) and "i" in kind):
                self.assertEqual(got.dtype, np.result_type(x, mask))
        else:
            self.assertEqual(got.dtype, np.result_type(x.dtype, mask.dtype))
            want = np.convolve(x.astype("f8"), mask.astype("f8"), "full")
            np.testing.assert_allclose(got, want, rtol=64 * U[got.dtype.char], atol=64 * U[got.dtype.char] * 7 * 900)

    @given(st.data())
    def test_ndimage(self, data):
        x = data.draw(arrays(types=["u1", "i2", "i4", "f4", "f8", "c16"], min_ndim=1, max_ndim=3, min_size=1))
        mode = data.draw(st.sampled_from(["reflect", "constant", "nearest", "mirror", "wrap", "grid-mirror", "grid-wrap", "grid-constant"]))
        output = data.draw(st.sampled_from([None, np.float64, np.int32])) if x.dtype.kind != "c" else None
        words = dict(mode=mode, cval=data.draw(st.sampled_from([0, 2.5])), output=output)
        axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
        widths = data.draw(st.lists(st.integers(1, 3), min_size=x.ndim, max_size=x.ndim))
        weights = np.random.default_rng(data.draw(st.integers(0, 99))).integers(-8, 9, widths) / data.draw(st.sampled_from([1, 4]))
        origin = [data.draw(st.integers(-(w // 2), (w - 1) // 2)) for w in widths]
        calls = [("correlate", (x, weights), {"origin": origin}), ("convolve", (x, weights), {}), ("correlate1d", (x, weights.ravel(), axis), {}),
                 ("convolve1d", (x, weights.ravel(), axis), {}), ("sobel", (x, axis), {}), ("prewitt", (x, axis), {}), ("laplace", (x,), {}),
                 ("uniform_filter", (x, widths), {}), ("uniform_filter1d", (x, widths[0], axis), {})]
        if not (output is np.int32 or x.dtype.kind in "iu" and output is None):  # those are cut, where rounding may fall to either side
            calls += [("gaussian_filter", (x, 0.8), {}), ("gaussian_filter1d", (x, 1.2, axis, 2), {}), ("gaussian_laplace", (x, 0.7), {}),
                      ("gaussian_gradient_magnitude", (x, 0.7), {})]
        for name, args, more in calls:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                want = getattr(ndimage, name)(*args, **words, **more)
                got = getattr(tessera.ndimage, name)(*args, **words, **more)
            self.assertEqual((got.dtype, got.shape), (want.dtype, want.shape), name)
            if got.dtype.kind in "iu":
                self.assertTrue(np.array_equal(got, want), (name, x.dtype, words, got, want))
            else:
                u = U[got.dtype.char]
                np.testing.assert_allclose(got, want, rtol=64 * u, atol=64 * u * 27 * 800, err_msg=name)

    def test_windows_beyond_the_array(self):
        """Folded to what can be told apart: SciPy's means, and no memory or time for the rest."""
        random = np.random.default_rng(11)
        for length in (1, 2, 7, 30):
            for x in (random.random(length), random.integers(0, 99, length).astype("i2"), random.integers(0, 99, (3, length)).astype("u1")):
                for mode in ("reflect", "constant", "nearest", "mirror", "wrap"):
                    for size, origin in ((length, 0), (2 * length, 0), (2 * length + 1, length), (9 * length + 4, -2), (40 * length + 3, 20 * length)):
                        words = dict(mode=mode, cval=5.0, origin=origin)
                        want, got = (module.uniform_filter1d(x, size, **words) for module in (ndimage, tessera.ndimage))
                        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12, err_msg=f"{x.dtype} {x.shape} {size} {words}")
        got = tessera.ndimage.uniform_filter(np.array([[1.0, 2.0], [3.0, 6.0]]), 10**9)
        np.testing.assert_allclose(got, 3.0, rtol=1e-8)

    @unittest.skipIf("axes" not in inspect.signature(ndimage.gaussian_laplace).parameters, "this SciPy has no axes there")
    def test_order_of_axes(self):
        x = np.random.default_rng(5).integers(-50, 100, (5, 6, 7)).astype("i2")
        for axes in ((0, 1, 2), (2, 1, 0), (-2, 0, 2)):
            want, got = (module.gaussian_laplace(x, 1.0, axes=axes) for module in (ndimage, tessera.ndimage))
            np.testing.assert_array_equal(got, want)

    @given(st.data())
    def test_measurements(self, data):
        x = data.draw(arrays(types=["u1", "i4", "f4", "f8"], min_ndim=1, min_size=1))
        labels = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 4, x.shape)
        index = data.draw(st.sampled_from([None, 2, [1, 3], [[0, 1], [7, 2]]]))
        for name in ("sum_labels", "mean", "minimum", "maximum", "variance", "standard_deviation"):
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                got, failed = None, None
                try:
                    want = getattr(ndimage, name)(x, labels, index)
                except ValueError as error:  # the least of nothing
                    failed = error
                if failed:
                    with self.assertRaises(ValueError):
                        getattr(tessera.ndimage, name)(x, labels, index)
                    continue
                got = getattr(tessera.ndimage, name)(x, labels, index)
            self.assertEqual(np.shape(got), np.shape(want), name)
            # without an array of labels SciPy sums float32 in float32: 343 elements, u = 2**-24
            np.testing.assert_allclose(got, want, rtol=1e-4 if x.dtype == np.float32 else 1e-12, atol=1e-2 if x.dtype == np.float32 else 1e-9, err_msg=name)

    def test_map_coordinates_of_many(self):
        """More points than go together, inside and beside the array, in every mode; into arrays of other types and layouts, and into the input."""
        random = np.random.default_rng(8)
        x = random.random((230, 231)) * 200
        where = random.random((2, 230, 231)) * 260 - 15
        where[:, :160] = np.clip(where[:, :160], 0, 229)  # the first parts lie inside
        where[1, 3] = 230  # on the last element
        for mode in tessera.ndimage.map_coordinates.__globals__["MODES"]:
            for order in (0, 1):
                for at in (where, np.clip(where, 0, 229.4)):
                    want, got = (module.map_coordinates(x, at, order=order, mode=mode, cval=3.0) for module in (ndimage, tessera.ndimage))
                    np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-9, err_msg=f"{mode} {order}")
        want = ndimage.map_coordinates(x, where, order=1, output=np.uint8)
        self.assertLessEqual(np.abs(want.astype(int) - tessera.ndimage.map_coordinates(x, where, order=1, output=np.uint8)).max(), 1)
        turned = np.zeros((231, 230)).T
        self.assertIs(tessera.ndimage.map_coordinates(x, where, output=turned, order=1), turned)
        same = x.copy()
        tessera.ndimage.map_coordinates(same, where, output=same, order=1)
        nearest = x.copy()
        tessera.ndimage.map_coordinates(nearest, where, output=nearest, order=0)
        np.testing.assert_array_equal(nearest, tessera.ndimage.map_coordinates(x, where, order=0))
        for got in (turned, same):
            np.testing.assert_array_equal(got, tessera.ndimage.map_coordinates(x, where, order=1))
        infinite = np.where(x > 199, np.inf, x)
        self.assertFalse(np.isnan(tessera.ndimage.map_coordinates(infinite, np.round(where), order=1)).any())  # a weight of 0 is no product

    @given(st.data())
    def test_map_coordinates(self, data):
        x = data.draw(arrays(types=["u1", "i4", "f4", "f8", "c16"], min_ndim=1, max_ndim=3, min_size=1))
        order = data.draw(st.integers(0, 1))
        mode = data.draw(st.sampled_from(tessera.ndimage.map_coordinates.__globals__["MODES"]))
        coordinates = np.random.default_rng(data.draw(st.integers(0, 999))).integers(-150, 250, (x.ndim, 5, 2)) / 16 + 1 / 64
        want = ndimage.map_coordinates(x, coordinates, order=order, mode=mode, cval=2.0)
        got = tessera.ndimage.map_coordinates(x, coordinates, order=order, mode=mode, cval=2.0)
        self.assertEqual((got.dtype, got.shape), (want.dtype, want.shape))
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-4, err_msg=f"{order} {mode} {x.shape}")

    def test_halfway_between_two(self):
        """Of two neighbours as near as each other SciPy's is taken, on the array and beyond it."""
        for n in (1, 2, 3, 6):
            x, coordinates = np.arange(1.0, n + 1), np.arange(-40, 41)[None] / 2
            for mode in tessera.ndimage.map_coordinates.__globals__["MODES"]:
                for order in (0, 1):
                    want, got = (module.map_coordinates(x, coordinates, order=order, mode=mode) for module in (ndimage, tessera.ndimage))
                    np.testing.assert_array_equal(got, want, err_msg=f"{n} {mode} {order}")

    @unittest.skipIf("axes" not in inspect.signature(ndimage.correlate).parameters, "this SciPy has no axes there")
    def test_axes_of_weights(self):
        """The weights' axes follow the array's, in whichever order axes are given."""
        x, weights = np.random.default_rng(7).integers(0, 100, (4, 5, 6)), np.random.default_rng(8).integers(-9, 9, (2, 3))
        for name in ("correlate", "convolve"):
            for array, axes in ((x, (2, 0)), (x, (0, 2)), (x, (-1, 1)), (x[0], (1, 0)), (x[0], (0, 1))):
                for origin in (0, (0, -1), (-1, 0)):
                    words = dict(axes=axes, origin=origin, mode="wrap")
                    try:
                        want = getattr(ndimage, name)(array, weights, **words)
                    except ValueError:
                        with self.assertRaises(ValueError, msg=str(words)):
                            getattr(tessera.ndimage, name)(array, weights, **words)
                    else:
                        np.testing.assert_array_equal(getattr(tessera.ndimage, name)(array, weights, **words), want, err_msg=f"{name} {words}")

    def test_nothing_and_less(self):
        for mode in ("nearest", "reflect", "wrap", "constant"):
            self.assertEqual(tessera.ndimage.uniform_filter(np.zeros((0, 3)), 8, mode=mode).shape, (0, 3))
        for module in (ndimage, tessera.ndimage):
            with self.assertRaises(ValueError):
                module.gaussian_filter1d(np.arange(9.0), -1)

    def test_long_double_labels(self):
        x, labels = np.array([5, -3, 2, 7, 7, 1], np.longdouble), np.array([0, 1, 1, 2, 2, 2])
        for name in ("minimum", "maximum"):
            np.testing.assert_array_equal(getattr(tessera.ndimage, name)(x, labels, [1, 2, 5]), getattr(ndimage, name)(x, labels, [1, 2, 5]))

    def test_other_byte_order(self):
        labels = np.array([0, 1, 1, 2, 2, 2])
        for kind in (">f4", ">i2", ">f8"):
            x = np.array([5, -3, 2, 7, 7, 1]).astype(kind)
            for name in ("sum_labels", "mean", "variance", "minimum", "maximum"):
                for more in ((), (labels,), (labels, [1, 2, 5])):
                    want, got = getattr(ndimage, name)(x, *more), getattr(tessera.ndimage, name)(x, *more)
                    np.testing.assert_allclose(got, want, rtol=1e-6, err_msg=f"{kind} {name} {more}")
                    self.assertEqual(np.asarray(got).dtype, np.asarray(want).dtype.newbyteorder("="), (kind, name, more))

    def test_ends_of_a_wrapped_array(self):
        """The last element and the first are one place there; which of them it is depends on the side, as in SciPy."""
        x = np.array([1.0, 20.0, 300.0, 4000.0])
        where = [[-9.0, -6.0, -3.0, 0.0, 3.0, 6.0, 9.0, -4.5, 4.5]]
        for order in (0, 1):
            want, got = (module.map_coordinates(x, where, order=order, mode="wrap") for module in (ndimage, tessera.ndimage))
            np.testing.assert_allclose(got, want)
        with self.assertRaises(RuntimeError):
            tessera.ndimage.map_coordinates(x, [1.0])

    def test_ends_of_types(self):
        for kind in ("i1", "i2", "i4", "i8", "u1", "u2"):
            for value in (1e30, -1e30, 300.7, -300.2, 40000.0):
                for cval in (value, 0.0):
                    words = dict(order=1, cval=cval, output=np.dtype(kind))
                    want, got = (module.map_coordinates(np.array([1.0, value]), [[0.0, 0.5, 1.0, 9.0]], **words) for module in (ndimage, tessera.ndimage))
                    np.testing.assert_array_equal(got, want, err_msg=f"{kind} {value} {cval}")

    def test_booleans_between(self):
        x = np.random.default_rng(5).integers(0, 2, (6, 7)).astype(bool)
        coordinates = np.random.default_rng(6).integers(-20, 120, (2, 200)) / 16
        for order in (0, 1):
            want = ndimage.map_coordinates(x, coordinates, order=order, cval=1)
            got = tessera.ndimage.map_coordinates(x, coordinates, order=order, cval=1)
            self.assertEqual(got.dtype, bool)
            np.testing.assert_array_equal(got, want)

    def test_no_axes(self):
        for x in (5.0, 3 - 2j):
            for weights in (np.array(2.0), np.array(1 + 3j)):
                for cval in (0.0, 1 + 2j) if np.iscomplexobj(x) else (0.0,):
                    for name in ("correlate", "convolve"):
                        want = getattr(ndimage, name)(np.array(x), weights, mode="constant", cval=cval)
                        got = getattr(tessera.ndimage, name)(np.array(x), weights, mode="constant", cval=cval)
                        self.assertEqual((got.dtype, got.shape, got[()]), (want.dtype, want.shape, want[()]), (name, x, cval))


class Types(unittest.TestCase):
    def test_promotion(self):
        for a in ALL:
            for b in ALL:
                got = tessera.correlate(np.ones(3, a), np.ones(1, b)).dtype
                want = np.result_type(a, b)
                if {np.dtype(a).kind, np.dtype(b).kind} == {"u", "i"} and want == np.float64:
                    want = np.dtype("i8")  # uint64 beside a signed type stays an integer
                self.assertEqual(got, want, (a, b))


if __name__ == "__main__":
    unittest.main()
